/*
 * test_scopes.c - what a trace knows of scopes: the time of each, and which nodes and costs are
 * its. Needs no plugin.
 */
#include "tests/runtime/graph/trace_fixture.h"
#include "runtime/graph/scopes.h"

#include <string.h>

static const char *path_of(const tg_scope *scope)
{
    static bn_text path;
    bn_text_clear(&path);
    tg_scope_write(scope, &path);
    return path.data ? path.data : "";
}

static void begin(fixture *f)
{
    tg_trace_time_scopes(f->t, true);
    tg_trace_begin(f->t);
}

/* The stretches follow each other without a gap; their paths, with spaces between. */
static const char *paths(fixture *f, uint64_t *sum_ns)
{
    static bn_text all;
    const tg_stretch *list;
    const size_t count = tg_trace_stretches(f->t, &list);
    bn_text_clear(&all);
    *sum_ns = 0;
    for (size_t i = 0; i < count; i++) {
        const char *path = path_of(list[i].scope);
        bn_text_printf(&all, "%s%s", i ? " " : "", path[0] ? path : "-");
        if (i > 0)
            assert_int_equal(list[i - 1].begin_ns + list[i - 1].duration_ns, list[i].begin_ns);
        *sum_ns += list[i].duration_ns;
    }
    return all.data ? all.data : "";
}

static void each_scope_has_its_time(void **state)
{
    fixture *f = *state;
    uint64_t sum;
    const uint64_t start = bn_now_ns();
    begin(f);
    tg_add(f->t, f->a, f->b);
    tg_scope_push(f->t, "layer1");
    tg_scope_push(f->t, "conv"); /* nothing was traced since: layer1 alone has no stretch */
    tg_trace_set_node_cost(f->t, 2000000);
    tg_tensor *x = tg_add(f->t, f->a, f->b);
    tg_trace_set_node_cost(f->t, 0);
    tg_scope_pop(f->t);
    tg_scope_push(f->t, "bn");
    tg_mul(f->t, x, x);
    tg_scope_pop(f->t);
    tg_add(f->t, x, x);
    tg_scope_pop(f->t);
    assert_string_equal(paths(f, &sum), "- layer1.conv layer1.bn layer1 -");
    const tg_stretch *list;
    assert_int_equal(tg_trace_stretches(f->t, &list), 5);
    assert_true(list[0].begin_ns >= start && list[0].begin_ns + sum <= bn_now_ns());
    assert_true(list[1].duration_ns >= 2000000);
    /* The last stretch is longer when it is read again. */
    uint64_t later;
    paths(f, &later);
    assert_true(later >= sum);
}

static void phases_end_a_stretch(void **state)
{
    fixture *f = *state;
    begin(f);
    tg_scope_push(f->t, "head");
    tg_tensor *loss = tg_reduce_sum(f->t, tg_mul(f->t, f->a, f->b), 3), *grad;
    tg_scope_pop(f->t);
    tg_trace_phase(f->t, TG_PHASE_BACKWARD);
    tg_backward(f->t, loss, &f->a, 1, &grad);
    assert_sound(f->t);
    const tg_stretch *list;
    const size_t count = tg_trace_stretches(f->t, &list);
    bool backward = false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(path_of(list[i].scope), "head") == 0)
            backward = backward || list[i].phase == TG_PHASE_BACKWARD;
    assert_int_equal(list[0].phase, TG_PHASE_FORWARD);
    assert_string_equal(path_of(list[0].scope), "head"); /* nothing was traced before it */
    assert_true(backward);                               /* a gradient has its node's scope */
}

static void without_a_clock_nothing_is_kept(void **state)
{
    fixture *f = *state;
    const tg_stretch *list;
    uint64_t sum;
    tg_scope_push(f->t, "a");
    tg_add(f->t, f->a, f->b);
    assert_int_equal(tg_trace_stretches(f->t, &list), 0);
    begin(f);
    tg_add(f->t, f->a, f->b);
    assert_string_equal(paths(f, &sum), "-");
    tg_trace_begin(f->t); /* anew */
    assert_string_equal(paths(f, &sum), "-");
    tg_trace_time_scopes(f->t, false);
    assert_int_equal(tg_trace_stretches(f->t, &list), 0);
    tg_trace_begin(f->t);
    tg_scope_push(f->t, "b");
    tg_add(f->t, f->a, f->b);
    assert_int_equal(tg_trace_stretches(f->t, &list), 0);
}

static void timing_changes_nothing_of_a_trace(void **state)
{
    fixture *f = *state;
    tg_hash hash[2];
    for (int timed = 0; timed < 2; timed++) {
        tg_trace_time_scopes(f->t, timed);
        tg_trace_begin(f->t);
        tg_scope_push(f->t, "a");
        tg_assign(f->t, f->b, tg_add(f->t, f->a, f->b));
        tg_scope_pop(f->t);
        hash[timed] = tg_trace_hash(f->t);
    }
    assert_true(tg_hash_equal(hash[0], hash[1]));
}

/* ---- nodes and costs ------------------------------------------------------------------ */

typedef struct sums {
    size_t nodes, inner;
    tg_graph_cost cost;
} sums;

static void count_node(void *context, const tg_node *node)
{
    sums *s = context;
    s->nodes++;
    s->inner += strcmp(path_of(tg_node_scope(node)), "loop.inner") == 0;
}

static void count_cost(void *context, const tg_node *node, const tg_graph_cost *cost)
{
    sums *s = context;
    s->inner += strcmp(path_of(tg_node_scope(node)), "loop.inner") == 0;
    s->cost.nodes += cost->nodes;
    s->cost.flops += cost->flops;
    s->cost.macs += cost->macs;
    s->cost.bytes += cost->bytes;
}

/* y tanh(w) is the next y. */
static void round_of(tg_trace *round, void *context, tg_tensor *const *carried,
                     tg_tensor *const *slices, tg_tensor **next, tg_tensor **out)
{
    (void)context;
    (void)out;
    tg_scope_push(round, "inner");
    next[0] = tg_mul(round, carried[0], tg_tanh(round, slices[0]));
    tg_scope_pop(round);
}

static void visits_add_up_to_the_whole(void **state)
{
    fixture *f = *state;
    static const unsigned one_group[TG_PHASE_COUNT];
    tg_graph *const *graphs;
    size_t count;
    uint64_t sum_ns;
    bn_status st = {0};
    const tg_type stack = tg_type_make(TG_F32, 3, TG_DIMS(5, 2, 3));
    tg_tensor *w = tg_variable_new("w", &stack);
    assert_non_null(w);
    begin(f);
    tg_add(f->t, f->a, f->a); /* no output needs it */
    tg_scope_push(f->t, "loop");
    const tg_loop loop = {.length = 5,
                          .carried = &f->a,
                          .stacked = &w,
                          .carried_count = 1,
                          .stacked_count = 1,
                          .body = round_of};
    tg_tensor *results[1];
    tg_scan(f->t, &loop, results);
    tg_scope_pop(f->t);
    tg_assign(f->t, f->b, results[0]);
    assert_sound(f->t);
    assert_non_null(strstr(paths(f, &sum_ns), "loop.inner"));
    assert_ok(tg_trace_cut(f->t, one_group, NULL, &graphs, &count, &st), &st);
    assert_int_equal(count, 1);
    tg_graph_cost whole;
    tg_graph_measure(graphs[0], &whole);
    sums traced = {0}, needed = {0};
    tg_trace_visit(f->t, count_node, &traced);
    tg_graph_visit(graphs[0], count_cost, &needed);
    assert_int_equal(traced.nodes, tg_trace_traced(f->t));
    assert_true(traced.inner >= 2);
    assert_int_equal(needed.inner, 2);
    assert_int_equal(needed.cost.nodes, whole.nodes);
    assert_true(needed.cost.flops == whole.flops && whole.flops == 5 * (6 + 6));
    assert_true(needed.cost.bytes == whole.bytes && needed.cost.macs == whole.macs);
    tg_variable_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_scope_has_its_time),         TEST(phases_end_a_stretch),
        TEST(without_a_clock_nothing_is_kept), TEST(timing_changes_nothing_of_a_trace),
        TEST(visits_add_up_to_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
