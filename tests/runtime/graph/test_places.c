/*
 * test_places.c - which line made a node: of ops, of gradients, of loops; and nothing of it where
 * nobody asked.
 */
#include "tests/runtime/graph/trace_fixture.h"

#include "runtime/graph/places.h"

#include <stdio.h>
#include <string.h>

static void assert_line(const tg_tensor *value, int line)
{
    const tg_place place = tg_node_place(value->node);
    assert_non_null(place.file);
    assert_non_null(strstr(place.file, "test_places.c"));
    assert_int_equal(place.line, line);
}

static void each_op_has_its_line(void **state)
{
    fixture *f = *state;
    tg_trace_keep_places(f->t, true);
    tg_trace_begin(f->t);
    tg_tensor *sum = tg_add(f->t, f->a, f->b);
    const int line = __LINE__ - 1;
    tg_tensor *power = tg_exp(f->t, f->a), *outer = tg_mul(f->t, sum, tg_neg(f->t, power));
    assert_line(sum, line);
    assert_line(power, line + 2);
    assert_line(outer, line + 2);
    assert_line(outer->node->operands[1], line + 2);
    /* A variable's entry value stands where it was used first. */
    assert_line(sum->node->operands[0], line);
    assert_sound(f->t);
}

static void gradients_stand_where_their_op_does(void **state)
{
    fixture *f = *state;
    tg_tensor *grad;
    tg_trace_keep_places(f->t, true);
    tg_trace_begin(f->t);
    tg_tensor *e = tg_exp(f->t, f->a);
    const int line = __LINE__ - 1;
    tg_tensor *loss = tg_reduce_sum(f->t, tg_mul(f->t, e, f->b), 3u);
    tg_backward(f->t, loss, &f->a, 1, &grad);
    assert_sound(f->t);
    assert_line(grad, line); /* d exp(a) */
    for (size_t n = 0; n < tg_trace_node_count(f->t); n++)
        assert_non_null(tg_node_place(tg_trace_node(f->t, n)).file);
}

static void double_it(tg_trace *round, void *context, tg_tensor *const *carried,
                      tg_tensor *const *slices, tg_tensor **next, tg_tensor **out)
{
    (void)context, (void)slices, (void)out;
    next[0] = tg_add(round, carried[0], carried[0]);
    assert_line(next[0], __LINE__ - 1);
}

static void rounds_of_loops_have_lines(void **state)
{
    fixture *f = *state;
    tg_tensor *carried = f->a, *result;
    tg_trace_keep_places(f->t, true);
    tg_trace_begin(f->t);
    tg_scan(f->t,
            &(tg_loop){.length = 3, .carried = &carried, .carried_count = 1, .body = double_it},
            &result);
    assert_sound(f->t);
    assert_non_null(tg_node_place(result->node).file);
}

static void texts_say_the_lines_only_where_asked(void **state)
{
    fixture *f = *state;
    static const unsigned whole[TG_PHASE_COUNT] = {0};
    tg_graph *const *graphs;
    size_t count;
    bn_status st = {0};
    tg_hash hashes[2];
    for (int keep = 0; keep < 2; keep++) {
        bn_text text = {0};
        tg_trace_keep_places(f->t, keep);
        tg_trace_begin(f->t);
        tg_scope_push(f->t, "layer");
        tg_assign(f->t, f->a, tg_add(f->t, f->a, f->b));
        const int line = __LINE__ - 1;
        tg_scope_pop(f->t);
        assert_ok(tg_trace_cut(f->t, whole, NULL, &graphs, &count, &st), &st);
        hashes[keep] = graphs[0]->hash;
        tg_graph_lower(graphs[0], "m", &text);
        char wanted[200] = "loc(\"layer/add\")\n";
        if (keep)
            snprintf(wanted, sizeof wanted, "loc(\"layer/add\"(\"%s\":%d:1))", __FILE__, line);
        if (!strstr(text.data, wanted))
            fail_msg("%s is not in %s", wanted, text.data);
        bn_text_free(&text);
    }
    assert_true(tg_hash_equal(hashes[0], hashes[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_op_has_its_line),
        TEST(gradients_stand_where_their_op_does),
        TEST(rounds_of_loops_have_lines),
        TEST(texts_say_the_lines_only_where_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
