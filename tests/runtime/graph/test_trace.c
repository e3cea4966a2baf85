/*
 * test_trace.c - traces: sticky errors, life of values, the scalar memo, the text
 * of a graph, memory. Needs no plugin.
 */
#include "tests/runtime/graph/trace_fixture.h"

#include <malloc.h>
#include <math.h>

/* ---- errors -------------------------------------------------------------------------- */

static void the_first_error_stays(void **state)
{
    fixture *f = *state;
    bn_status st = {0};
    tg_scope_push(f->t, "layer1");
    tg_scope_push(f->t, "conv2");
    tg_tensor *bad = tg_add(f->t, f->a, f->c);
    tg_scope_pop(f->t);
    tg_scope_pop(f->t);
    assert_non_null(bad);
    assert_int_equal(tg_trace_status(f->t, &st), BN_INVALID);
    assert_true(has_identifiers(st.message, "layer1.conv2: add:|tensor<2x3xf32>|tensor<3x2xf32>"));

    /* After an error, ops do nothing, whatever their arguments. */
    size_t nodes = tg_trace_node_count(f->t);
    tg_tensor *more = tg_exp(f->t, tg_mul(f->t, bad, f->b)), *mean, *variance, *grad;
    more = tg_reshape(f->t, tg_transpose(f->t, more, NULL), 1, TG_DIMS(6));
    more = tg_batch_norm_training(f->t, more, f->a, f->b, 0, 0, &mean, &variance);
    more = tg_convert(f->t, tg_scalar(f->t, TG_F32, 1234.5), TG_F32);
    tg_assign(f->t, f->b, more);
    tg_backward(f->t, mean, &f->a, 1, &grad);
    assert_non_null(grad);
    assert_int_equal(tg_trace_node_count(f->t), nodes);
    assert_int_equal(tg_trace_assigned_count(f->t), 0);
    tg_trace_fail(f->t, BN_NOT_FOUND, "another one");
    assert_fails(tg_trace_status(f->t, &st), BN_INVALID, "layer1.conv2: add", &st);
    float host[6] = {1, 1, 1, 1, 1, 1};
    tg_read(f->t, f->a, host, sizeof host);
    assert_true(host[0] == 0 && host[5] == 0);

    static const unsigned one_group[TG_PHASE_COUNT] = {0};
    tg_graph *const *graphs;
    size_t count;
    assert_fails(tg_trace_cut(f->t, one_group, NULL, &graphs, &count, &st), BN_INVALID,
                 "layer1.conv2: add", &st);
    tg_trace_begin(f->t);
    assert_sound(f->t);
    tg_add(f->t, f->a, f->b);
    assert_sound(f->t);
}

static void models_put_their_own_errors(void **state)
{
    fixture *f = *state;
    bn_status st = {0};
    tg_scope_push(f->t, "head");
    tg_trace_fail(f->t, BN_NOT_SUPPORTED, "%d classes", 7);
    assert_int_equal(tg_trace_status(f->t, &st), BN_NOT_SUPPORTED);
    assert_string_equal(st.message, "head: 7 classes");
}

static void dead_values_are_found(void **state)
{
    fixture *f = *state;
    bn_status st = {0};
    tg_tensor *value = tg_exp(f->t, tg_add(f->t, f->a, f->b));
    assert_sound(f->t);
    tg_trace_begin(f->t);
    tg_neg(f->t, value);
    assert_fails(tg_trace_status(f->t, &st), BN_INVALID, "neg:", &st);
    /* Calls that may return their operand look at it too. */
    tg_trace_begin(f->t);
    assert_ptr_equal(tg_convert(f->t, value, TG_F32), &f->t->poison);
    assert_fails(tg_trace_status(f->t, &st), BN_INVALID, "a tensor:", &st);
    /* A value of another trace is no better. */
    tg_trace *other = tg_trace_new();
    tg_tensor *theirs = tg_exp(other, f->a);
    tg_trace_begin(f->t);
    tg_neg(f->t, theirs);
    assert_fails(tg_trace_status(f->t, &st), BN_INVALID, "neg:", &st);
    tg_trace_free(other);
}

static void reading_needs_a_runtime_and_the_size(void **state)
{
    fixture *f = *state;
    bn_status st = {0};
    float host[6];
    tg_read(f->t, f->a, host, sizeof host);
    assert_fails(tg_trace_status(f->t, &st), BN_NOT_SUPPORTED, "read:", &st);
    tg_trace_begin(f->t);
    tg_read(f->t, f->a, host, 8);
    assert_fails(tg_trace_status(f->t, &st), BN_INVALID, "read:|8|24", &st);
}

/* ---- variables ------------------------------------------------------------------------ */

static void assignments_take_effect_at_once(void **state)
{
    fixture *f = *state;
    tg_tensor *value;
    tg_tensor *old = tg_convert(f->t, f->a, TG_F32); /* the value, not the variable */
    tg_tensor *same = tg_reshape(f->t, f->a, 2, TG_DIMS(2, 3));
    tg_tensor *doubled = tg_add(f->t, f->a, f->a);
    tg_assign(f->t, f->a, doubled);
    tg_tensor *product = tg_mul(f->t, f->a, old);
    assert_sound(f->t);
    assert_ptr_equal(old, same);
    assert_ptr_equal(tg_input_variable(old), f->a);
    assert_ptr_equal(product->node->operands[0], doubled);
    assert_ptr_equal(product->node->operands[1], old);
    assert_ptr_equal(tg_trace_value(f->t, f->a), doubled);
    assert_null(tg_trace_value(f->t, f->b));
    tg_assign(f->t, f->a, product);
    assert_int_equal(tg_trace_assigned_count(f->t), 1);
    assert_ptr_equal(tg_trace_assigned(f->t, 0, &value), f->a);
    assert_ptr_equal(value, product);

    bn_status st = {0};
    tg_assign(f->t, f->b, tg_transpose(f->t, f->a, (const int[]){1, 0}));
    assert_fails(tg_trace_status(f->t, &st), BN_INVALID,
                 "assign b:|tensor<3x2xf32>|tensor<2x3xf32>", &st);
    tg_trace_begin(f->t);
    tg_assign(f->t, tg_neg(f->t, f->a), f->b);
    assert_fails(tg_trace_status(f->t, &st), BN_INVALID, "assign:", &st);
}

static void a_variable_can_change_its_type_between_traces(void **state)
{
    fixture *f = *state;
    tg_hash before, after;
    tg_neg(f->t, f->a);
    before = tg_trace_hash(f->t);
    tg_type longer = tg_type_make(TG_F32, 2, TG_DIMS(4, 3));
    tg_variable_retype(f->a, &longer);
    tg_trace_begin(f->t);
    assert_int_equal(tg_tensor_type(tg_neg(f->t, f->a))->dims[0], 4);
    after = tg_trace_hash(f->t);
    assert_false(tg_hash_equal(before, after));
    assert_string_equal(tg_tensor_name(f->a), "a");
}

/* ---- scalars -------------------------------------------------------------------------- */

static void scalars_are_appended_once(void **state)
{
    fixture *f = *state;
    tg_tensor *half = tg_scalar(f->t, TG_F32, 0.5);
    assert_ptr_equal(tg_scalar(f->t, TG_F32, 0.5), half);
    assert_int_equal(tg_trace_node_count(f->t), 1);
    assert_ptr_not_equal(tg_scalar(f->t, TG_BF16, 0.5), half);
    assert_ptr_not_equal(tg_scalar(f->t, TG_F32, 0.25), half);
    assert_ptr_not_equal(tg_scalar(f->t, TG_F32, 0.0), tg_scalar(f->t, TG_F32, -0.0));
    assert_ptr_equal(tg_scalar(f->t, TG_F32, NAN), tg_scalar(f->t, TG_F32, NAN));
    tg_type type = {.dtype = TG_F32};
    assert_ptr_equal(tg_full(f->t, &type, 0.5), tg_scalar(f->t, TG_F32, 0.5));

    /* More than the memo holds: never another one's. */
    for (int i = 0; i < 500; i++) {
        const tg_tensor *made = tg_scalar(f->t, i % 2 ? TG_F32 : TG_I32, i % 100);
        double value;
        memcpy(&value, (const char *)made->node->attributes + sizeof(tg_type), sizeof value);
        assert_true(value == i % 100);
        assert_int_equal(made->type.dtype, i % 2 ? TG_F32 : TG_I32);
    }
    assert_sound(f->t);

    tg_trace_begin(f->t);
    tg_tensor *again = tg_scalar(f->t, TG_F32, 0.5);
    tg_mul(f->t, f->a, again);
    assert_sound(f->t);
    assert_int_equal(again->epoch, f->t->epoch);
    assert_int_equal(tg_trace_node_count(f->t), 3);
}

/* ---- text ------------------------------------------------------------------------------- */

static void the_text_is_stablehlo(void **state)
{
    fixture *f = *state;
    static const unsigned one_group[TG_PHASE_COUNT] = {0};
    tg_graph *const *graphs;
    size_t count;
    bn_status st = {0};
    bn_text text = {0};
    tg_scope_push(f->t, "fc");
    tg_tensor *y = tg_matmul(f->t, f->a, f->c); /* (2, 2) */
    tg_scope_pop(f->t);
    tg_exp(f->t, y); /* nobody needs it */
    tg_trace_phase(f->t, TG_PHASE_UPDATE);
    tg_tensor *kept = tg_add(f->t, f->c, tg_scalar(f->t, TG_F32, 0.5));
    tg_assign(f->t, f->c, tg_mul(f->t, kept, tg_reduce_max(f->t, y, 3)));
    assert_ok(tg_trace_cut(f->t, one_group, NULL, &graphs, &count, &st), &st);
    assert_int_equal(count, 1);
    tg_graph_lower(graphs[0], "step", &text);
    assert_string_equal(
        text.data,
        "module @step {\n"
        "  func.func public @main(%arg0: tensor<2x3xf32>, "
        "%arg1: tensor<3x2xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<3x2xf32>) {\n"
        "    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], "
        "precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3x2xf32>) -> "
        "tensor<2x2xf32> loc(\"fc/dot\")\n"
        "    %1 = stablehlo.constant dense<5.00000000000000000e-01> : tensor<f32> "
        "loc(\"update/constant\")\n"
        "    %x0 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<3x2xf32> "
        "loc(\"update/add\")\n"
        "    %2 = stablehlo.add %arg1, %x0 : tensor<3x2xf32> loc(\"update/add\")\n"
        "    %x1 = stablehlo.constant dense<0xFF800000> : tensor<f32> loc(\"update/reduce_max\")\n"
        "    %3 = stablehlo.reduce(%0 init: %x1) applies stablehlo.maximum across dimensions = "
        "[0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32> loc(\"update/reduce_max\")\n"
        "    %x2 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<3x2xf32> "
        "loc(\"update/mul\")\n"
        "    %4 = stablehlo.multiply %2, %x2 : tensor<3x2xf32> loc(\"update/mul\")\n"
        "    return %4 : tensor<3x2xf32>\n"
        "  }\n"
        "}\n");
    tg_graph_cost cost;
    tg_graph_measure(graphs[0], &cost);
    assert_int_equal(cost.nodes, 5);
    /* dot 2 x 2 x 2 x 3, add 6, reduce 4, mul 6 */
    assert_true(cost.flops == 24 + 6 + 4 + 6);
    /* Elements read and written: dot 6+6+4, constant 1, add 6+1+6, reduce 4+1, mul 6+1+6 */
    assert_true(cost.bytes == 4 * (16 + 1 + 13 + 5 + 13));
    bn_text_free(&text);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void one_step(const fixture *f)
{
    tg_tensor *grad, *x = f->a;
    tg_trace_begin(f->t);
    for (int i = 0; i < 50; i++)
        x = tg_add(f->t, tg_tanh(f->t, x), tg_scalar(f->t, TG_F32, i));
    tg_backward(f->t, tg_reduce_sum(f->t, x, 3), &f->a, 1, &grad);
    tg_assign(f->t, f->a, tg_sub(f->t, f->a, grad));
    static const unsigned groups[TG_PHASE_COUNT] = {0, 0, 0, 0, 1};
    tg_graph *const *graphs;
    size_t count;
    bn_status st = {0};
    assert_ok(tg_trace_cut(f->t, groups, NULL, &graphs, &count, &st), &st);
}

/* Sanitizers replace malloc and leave these figures at 0. */
static void many_steps_need_the_memory_of_a_few(void **state)
{
    const fixture *f = *state;
    for (int i = 0; i < 3; i++)
        one_step(f);
    struct mallinfo2 before = mallinfo2();
    for (int i = 0; i < 1000; i++)
        one_step(f);
    struct mallinfo2 after = mallinfo2();
    assert_int_equal(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_error_stays),
        TEST(models_put_their_own_errors),
        TEST(dead_values_are_found),
        TEST(reading_needs_a_runtime_and_the_size),
        TEST(assignments_take_effect_at_once),
        TEST(a_variable_can_change_its_type_between_traces),
        TEST(scalars_are_appended_once),
        TEST(the_text_is_stablehlo),
        TEST(many_steps_need_the_memory_of_a_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
