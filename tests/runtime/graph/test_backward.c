/*
 * test_backward.c - gradients as nodes: which ops they emit, where they end, and what
 * has none. Needs no plugin.
 */
#include "tests/runtime/graph/trace_fixture.h"

static size_t count_of(const tg_trace *t, const char *op)
{
    size_t count = 0;
    for (size_t n = 0; n < t->node_count; n++)
        count += strcmp(tg_node_op_name(t->nodes[n]), op) == 0;
    return count;
}

static void gradients_add_up(void **state)
{
    fixture *f = *state;
    tg_tensor *wrt[] = {f->a, f->b}, *grads[2];
    tg_scope_push(f->t, "layer");
    tg_tensor *three = tg_add(f->t, tg_exp(f->t, f->a), tg_mul(f->t, f->a, f->a));
    tg_tensor *loss = tg_reduce_sum(f->t, three, 3);
    tg_scope_pop(f->t);
    size_t adds = count_of(f->t, "add"), before = tg_trace_node_count(f->t);
    tg_backward(f->t, loss, wrt, 2, grads);
    assert_sound(f->t);
    /* a is used three times: two sums. */
    assert_int_equal(count_of(f->t, "add") - adds, 2);
    assert_string_equal(tg_node_op_name(grads[0]->node), "add");
    /* b is not used: zeros of its type. */
    assert_string_equal(tg_node_op_name(grads[1]->node), "constant");
    assert_true(tg_type_equal(tg_tensor_type(grads[1]), tg_tensor_type(f->b)));
    /* Nodes of the gradient stand in the scope of what they differentiate. */
    assert_string_equal(grads[0]->node->scope->name, "layer");
    assert_true(tg_trace_node_count(f->t) > before);
    assert_null(f->t->scope);
}

static void gradients_reach_values_and_the_loss(void **state)
{
    fixture *f = *state;
    tg_tensor *middle = tg_exp(f->t, f->a);
    tg_tensor *loss = tg_reduce_sum(f->t, middle, 3);
    tg_tensor *wrt[] = {middle, loss, f->a}, *grads[3];
    tg_backward(f->t, loss, wrt, 3, grads);
    assert_sound(f->t);
    assert_string_equal(tg_node_op_name(grads[0]->node), "broadcast");
    assert_string_equal(tg_node_op_name(grads[1]->node), "constant");
    assert_string_equal(tg_node_op_name(grads[2]->node), "mul");
    /* A second gradient in the same trace, of a gradient. */
    tg_tensor *second;
    tg_backward(f->t, tg_reduce_sum(f->t, grads[2], 3), &f->a, 1, &second);
    assert_sound(f->t);
    assert_true(tg_type_equal(tg_tensor_type(second), tg_tensor_type(f->a)));
}

/* Integers and bool end a path: nothing of theirs is differentiated. */
static void whole_numbers_end_a_path(void **state)
{
    fixture *f = *state;
    tg_tensor *index = tg_convert(f->t, f->a, TG_I32), *grad;
    tg_tensor *mask = tg_compare(f->t, f->a, f->b, TG_GT);
    tg_tensor *kept = tg_select(f->t, mask, tg_convert(f->t, index, TG_F32), f->b);
    tg_backward(f->t, tg_reduce_sum(f->t, kept, 3), &f->a, 1, &grad);
    assert_sound(f->t);
    assert_string_equal(tg_node_op_name(grad->node), "constant");
}

static void ops_without_a_gradient_are_named(void **state)
{
    fixture *f = *state;
    bn_status st = {0};
    tg_tensor *grad;
    const tg_window pairs = {.size = {1, 3}, .stride = {1, 3}};
    tg_tensor *source = tg_window_max(f->t, f->a, &pairs);
    tg_scope_push(f->t, "pool");
    tg_tensor *back = tg_select_and_scatter(f->t, f->b, source, &pairs);
    tg_scope_pop(f->t);
    tg_backward(f->t, tg_reduce_sum(f->t, back, 3), &f->a, 1, &grad);
    assert_fails(tg_trace_status(f->t, &st), BN_NOT_SUPPORTED, "pool: backward:|select_and_scatter",
                 &st);
    assert_non_null(grad);

    tg_type features = tg_type_make(TG_F32, 1, TG_DIMS(3));
    tg_tensor *scale = tg_variable_new("scale", &features), *mean, *variance;
    tg_trace_begin(f->t);
    tg_batch_norm_training(f->t, f->a, scale, scale, 0, 1, &mean, &variance);
    tg_backward(f->t, tg_reduce_sum(f->t, variance, 1), &f->a, 1, &grad);
    assert_fails(tg_trace_status(f->t, &st), BN_NOT_SUPPORTED,
                 "batch_norm_training is not differentiable through its mean and variance", &st);
    /* They may be used where nothing is differentiated. */
    tg_trace_begin(f->t);
    tg_tensor *y = tg_batch_norm_training(f->t, f->a, scale, scale, 0, 1, &mean, &variance);
    tg_add(f->t, mean, variance);
    tg_backward(f->t, tg_reduce_sum(f->t, y, 3), &f->a, 1, &grad);
    assert_sound(f->t);
    tg_variable_free(scale);
}

static void only_float_scalars_have_gradients(void **state)
{
    fixture *f = *state;
    bn_status st = {0};
    tg_tensor *grad;
    tg_backward(f->t, tg_exp(f->t, f->a), &f->a, 1, &grad);
    assert_fails(tg_trace_status(f->t, &st), BN_INVALID, "backward:|loss", &st);
    tg_trace_begin(f->t);
    tg_tensor *index = tg_convert(f->t, f->a, TG_I32);
    tg_tensor *loss = tg_reduce_sum(f->t, tg_convert(f->t, index, TG_F32), 3);
    tg_backward(f->t, loss, &index, 1, &grad);
    assert_fails(tg_trace_status(f->t, &st), BN_INVALID, "backward:|tensor<2x3xi32>", &st);
}

static void gradients_can_be_stopped(void **state)
{
    fixture *f = *state;
    tg_tensor *wrt[] = {f->a, f->b}, *grads[2];
    tg_tensor *target = tg_stop_gradient(f->t, tg_exp(f->t, f->a));
    tg_tensor *loss = tg_reduce_sum(f->t, tg_mul(f->t, target, f->b), 3);
    tg_backward(f->t, loss, wrt, 2, grads);
    assert_sound(f->t);
    assert_string_equal(tg_node_op_name(grads[0]->node), "constant");
    assert_string_equal(tg_node_op_name(grads[1]->node), "mul");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gradients_add_up),
        TEST(gradients_reach_values_and_the_loss),
        TEST(whole_numbers_end_a_path),
        TEST(ops_without_a_gradient_are_named),
        TEST(only_float_scalars_have_gradients),
        TEST(gradients_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
