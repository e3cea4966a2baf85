/*
 * test_hash.c - the hash of a trace and the keys of nodes: another program, another
 * hash; the same program, the same one. Needs no plugin.
 */
#include "tests/runtime/graph/trace_fixture.h"

typedef void program(tg_trace *t, const fixture *f);

static void plain(tg_trace *t, const fixture *f)
{
    tg_sub(t, tg_exp(t, f->a), f->b);
}

static void swapped(tg_trace *t, const fixture *f)
{
    tg_sub(t, f->b, tg_exp(t, f->a));
}

static void other_op(tg_trace *t, const fixture *f)
{
    tg_add(t, tg_exp(t, f->a), f->b);
}

static void one_more(tg_trace *t, const fixture *f)
{
    tg_neg(t, tg_sub(t, tg_exp(t, f->a), f->b));
}

static void same_operand(tg_trace *t, const fixture *f)
{
    tg_sub(t, tg_exp(t, f->a), f->a);
}

static void other_shape(tg_trace *t, const fixture *f)
{
    tg_sub(t, tg_exp(t, f->c), f->c);
}

static void in_phase(tg_trace *t, const fixture *f)
{
    tg_tensor *e = tg_exp(t, f->a);
    tg_trace_phase(t, TG_PHASE_UPDATE);
    tg_sub(t, e, f->b);
}

static void sum_rows(tg_trace *t, const fixture *f)
{
    tg_reduce_sum(t, f->a, 1);
}

static void sum_columns(tg_trace *t, const fixture *f)
{
    tg_reduce_sum(t, f->a, 2);
}

static void max_rows(tg_trace *t, const fixture *f)
{
    tg_reduce_max(t, f->a, 1);
}

static void constant_zero(tg_trace *t, const fixture *f)
{
    tg_mul(t, f->a, tg_scalar(t, TG_F32, 0.0));
}

static void constant_minus_zero(tg_trace *t, const fixture *f)
{
    tg_mul(t, f->a, tg_scalar(t, TG_F32, -0.0));
}

static void product_default(tg_trace *t, const fixture *f)
{
    tg_matmul(t, f->a, f->c);
}

static void product_highest(tg_trace *t, const fixture *f)
{
    tg_trace_set_precision(t, TG_PRECISION_HIGHEST);
    tg_matmul(t, f->a, f->c);
    tg_trace_set_precision(t, TG_PRECISION_DEFAULT);
}

static void less(tg_trace *t, const fixture *f)
{
    tg_compare(t, f->a, f->b, TG_LT);
}

static void greater(tg_trace *t, const fixture *f)
{
    tg_compare(t, f->a, f->b, TG_GT);
}

static void joined(tg_trace *t, const fixture *f)
{
    tg_concatenate(t, (tg_tensor *const[]){f->a, f->b}, 2, 0);
}

static void joined_twice(tg_trace *t, const fixture *f)
{
    tg_concatenate(t, (tg_tensor *const[]){f->a, f->b, f->b}, 3, 0);
}

static void programs_differ_in_their_hash(void **state)
{
    fixture *f = *state;
    program *const programs[] = {
        plain,           swapped,         other_op,    one_more, same_operand,  other_shape,
        in_phase,        sum_rows,        sum_columns, max_rows, constant_zero, constant_minus_zero,
        product_default, product_highest, less,        greater,  joined,        joined_twice,
    };
    enum { COUNT = sizeof programs / sizeof *programs };
    tg_hash hashes[COUNT];
    tg_trace *other = tg_trace_new();
    for (size_t i = 0; i < COUNT; i++) {
        tg_trace_begin(f->t);
        programs[i](f->t, f);
        assert_sound(f->t);
        hashes[i] = tg_trace_hash(f->t);
        /* The same again, in a trace that is at another epoch. */
        tg_trace_begin(other);
        programs[i](other, f);
        assert_true(tg_hash_equal(tg_trace_hash(other), hashes[i]));
        for (size_t k = 0; k < i; k++)
            if (tg_hash_equal(hashes[i], hashes[k]))
                fail_msg("programs %zu and %zu have one hash", k, i);
    }
    tg_trace_free(other);
}

/* Bytes past the rank or the counts in a caller's struct are not part of the program. */
static void rubbish_past_the_rank_does_not_count(void **state)
{
    fixture *f = *state;
    tg_hash hashes[2];
    for (int i = 0; i < 2; i++) {
        tg_type type = tg_type_make(TG_F32, 2, TG_DIMS(2, 3));
        tg_window w = {.size = {1, 2}, .stride = {1, 1}};
        tg_dot_dims d = {.contract_count = 1, .contract_a = {1}};
        type.dims[4] = w.size[3] = d.contract_b[2] = i * 77;
        tg_trace_begin(f->t);
        tg_add(f->t, tg_full(f->t, &type, 2), tg_iota(f->t, &type, 1));
        tg_window_sum(f->t, f->a, &w);
        tg_dot(f->t, f->a, f->c, &d);
        assert_sound(f->t);
        hashes[i] = tg_trace_hash(f->t);
    }
    assert_true(tg_hash_equal(hashes[0], hashes[1]));
}

static void keys_of_nodes_share_programs(void **state)
{
    fixture *f = *state;
    const tg_node *early = tg_add(f->t, f->a, f->b)->node;
    const tg_node *late = tg_add(f->t, tg_exp(f->t, f->b), f->a)->node;
    tg_node *twice = tg_add(f->t, f->a, f->a)->node;
    const tg_node *other = tg_add(f->t, f->c, f->c)->node;
    assert_true(tg_hash_equal(tg_node_key(early), tg_node_key(late)));
    assert_false(tg_hash_equal(tg_node_key(early), tg_node_key(twice)));
    assert_false(tg_hash_equal(tg_node_key(twice), tg_node_key(other)));

    bn_text text = {0};
    const tg_graph *graph = tg_node_graph(f->t, twice);
    assert_int_equal(graph->input_count, 1);
    assert_int_equal(graph->output_count, 1);
    tg_graph_lower(graph, "add", &text);
    assert_non_null(strstr(text.data, "main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>)"));
    assert_non_null(strstr(text.data, "stablehlo.add %arg0, %arg0 : tensor<2x3xf32>"));
    bn_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(programs_differ_in_their_hash),
        TEST(rubbish_past_the_rank_does_not_count),
        TEST(keys_of_nodes_share_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
