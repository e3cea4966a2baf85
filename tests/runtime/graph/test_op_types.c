/*
 * test_op_types.c - what ops refuse, in which words, and the types that they
 * infer at the edges. Needs no plugin.
 */
#include "runtime/graph/graph_priv.h"
#include "tests/support/test_runtime.h"

#include <math.h>
#include <stdlib.h>

static tg_trace *t;
/* Named by dtype and dimensions. */
static tg_tensor *f23, *f32, *f3, *f0, *i23, *u23, *b23, *b32, *h23, *x4, *w4, *f111111;

static tg_tensor *variable(tg_dtype dtype, int32_t rank, const int64_t *dims)
{
    tg_type type = tg_type_make(dtype, rank, dims);
    return tg_variable_new("v", &type);
}

static int group_setup(void **state)
{
    t = tg_trace_new();
    f23 = variable(TG_F32, 2, TG_DIMS(2, 3));
    f32 = variable(TG_F32, 2, TG_DIMS(3, 2));
    f3 = variable(TG_F32, 1, TG_DIMS(3));
    f0 = variable(TG_F32, 0, TG_DIMS(0));
    i23 = variable(TG_I32, 2, TG_DIMS(2, 3));
    u23 = variable(TG_U8, 2, TG_DIMS(2, 3));
    b23 = variable(TG_BOOL, 2, TG_DIMS(2, 3));
    b32 = variable(TG_BOOL, 2, TG_DIMS(3, 2));
    h23 = variable(TG_BF16, 2, TG_DIMS(2, 3));
    x4 = variable(TG_F32, 4, TG_DIMS(2, 8, 8, 4));
    w4 = variable(TG_F32, 4, TG_DIMS(3, 3, 4, 6));
    f111111 = variable(TG_F32, 6, TG_DIMS(1, 1, 1, 1, 1, 1));
    return t ? 0 : -1;
}

static int group_teardown(void **state)
{
    tg_tensor *all[] = {f23, f32, f3, f0, i23, u23, b23, b32, h23, x4, w4, f111111};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tg_variable_free(all[i]);
    tg_trace_free(t);
    return 0;
}

/* EXPR, alone in a trace, must fail; the message has the op in front, and these IDENTIFIERS. */
#define assert_refused(identifiers, expr)                                                          \
    do {                                                                                           \
        bn_status st_ = {0};                                                                       \
        tg_trace_begin(t);                                                                         \
        tg_tensor *made_ = (expr);                                                                 \
        assert_fails(tg_trace_status(t, &st_), BN_INVALID, identifiers, &st_);                     \
        assert_int_equal(made_->kind, TG_KIND_POISON);                                             \
    } while (0)

/* EXPR, alone in a trace, must have the type that TEXT writes. */
#define assert_typed(text, expr)                                                                   \
    do {                                                                                           \
        bn_status st_ = {0};                                                                       \
        bn_text type_ = {0};                                                                       \
        tg_trace_begin(t);                                                                         \
        tg_tensor *made_ = (expr);                                                                 \
        assert_ok(tg_trace_status(t, &st_), &st_);                                                 \
        tg_type_write(tg_tensor_type(made_), &type_);                                              \
        assert_string_equal(type_.data, text);                                                     \
        bn_text_free(&type_);                                                                      \
    } while (0)

static void elementwise_ops_check_dtype_and_shape(void **state)
{
    assert_refused("exp:|tensor<2x3xi32>", tg_exp(t, i23));
    assert_refused("neg:|tensor<2x3xui8>", tg_neg(t, u23));
    assert_refused("not:|tensor<2x3xf32>", tg_not(t, f23));
    assert_refused("add:|tensor<2x3xf32>|tensor<3x2xf32>", tg_add(t, f23, f32));
    assert_refused("mul:|tensor<2x3xf32>|tensor<2x3xbf16>", tg_mul(t, f23, h23));
    assert_refused("add:|tensor<2x3xf32>|tensor<3xf32>", tg_add(t, f23, f3));
    assert_refused("erf:|tensor<2x3xi32>", tg_erf(t, i23));
    assert_refused("xor:|tensor<2x3xf32>", tg_xor(t, f23, f23));
    assert_refused("max:|tensor<2x3xi1>", tg_max(t, b23, b23));
    assert_refused("and:|tensor<2x3xf32>", tg_and(t, f23, f23));
    assert_refused("compare:|tensor<2x3xf32>|tensor<2x3xi32>", tg_compare(t, f23, i23, TG_LT));
    assert_refused("select:|tensor<2x3xi32>", tg_select(t, i23, f23, f23));
    assert_refused("select:|tensor<3x2xi1>|tensor<2x3xf32>", tg_select(t, b32, f23, f23));
    assert_typed("tensor<2x3xf32>", tg_sub(t, f0, f23));
    assert_typed("tensor<2x3xi1>", tg_compare(t, f23, f0, TG_NE));
    assert_typed("tensor<2x3xf32>", tg_select(t, b23, f0, f0));
    assert_typed("tensor<2x3xf16>", tg_convert(t, i23, TG_F16));
}

static void constants_check_type_and_range(void **state)
{
    tg_type negative = tg_type_make(TG_F32, 1, TG_DIMS(-1)), wide = {.rank = 7, .dtype = TG_F32};
    tg_type plain = tg_type_make(TG_F32, 2, TG_DIMS(2, 3));
    tg_type flags = tg_type_make(TG_BOOL, 1, TG_DIMS(3));
    assert_refused("constant:|0|-1", tg_full(t, &negative, 0));
    assert_refused("constant:|7|0..6", tg_full(t, &wide, 0));
    assert_refused("constant:|128|i8", tg_scalar(t, TG_I8, 128));
    assert_refused("constant:|-1|ui32", tg_scalar(t, TG_U32, -1));
    assert_refused("constant:|1.84467e+19|ui64", tg_scalar(t, TG_U64, 0x1p64));
    assert_refused("constant:|9.22337e+18|i64", tg_scalar(t, TG_I64, 0x1p63));
    assert_refused("i32", tg_scalar(t, TG_I32, NAN));
    assert_refused("constant:|inf|i64", tg_scalar(t, TG_I64, INFINITY));
    assert_refused("iota:|2|2", tg_iota(t, &plain, 2));
    assert_refused("iota:|tensor<3xi1>", tg_iota(t, &flags, 0));
    assert_typed("tensor<ui64>", tg_scalar(t, TG_U64, 0x1p63));
    assert_typed("tensor<i64>", tg_scalar(t, TG_I64, -0x1p63));
    assert_typed("tensor<2x3xf32>", tg_full(t, &plain, NAN));
}

static void shapes_must_fit(void **state)
{
    assert_refused("reshape:|tensor<2x3xf32>|tensor<7xf32>", tg_reshape(t, f23, 1, TG_DIMS(7)));
    assert_refused("reshape:|1|-3", tg_reshape(t, f23, 2, TG_DIMS(2, -3)));
    assert_refused("reshape:|7|0..6", tg_reshape(t, f23, 7, TG_DIMS(2, 3, 1, 1, 1, 1, 1)));
    assert_refused("transpose:|1|0", tg_transpose(t, f23, (const int[]){0, 0}));
    assert_refused("transpose:|0|2", tg_transpose(t, f23, (const int[]){2, 1}));
    assert_refused("broadcast:|0|3|4", tg_broadcast(t, f3, 2, TG_DIMS(4, 3), (const int[]){0}));
    assert_refused("broadcast:|1|0|2", tg_broadcast(t, f23, 2, TG_DIMS(3, 2), (const int[]){1, 0}));
    assert_refused("broadcast:|0|2", /* no such dimension */
                   tg_broadcast(t, f3, 2, TG_DIMS(4, 3), (const int[]){2}));
    assert_refused("reverse:|0x4|2", tg_reverse(t, f23, 4));
    assert_typed("tensor<6x1xf32>", tg_reshape(t, f23, 2, TG_DIMS(6, 1)));
    assert_typed("tensor<3x2xi1>", tg_transpose(t, b23, (const int[]){1, 0}));
    assert_typed("tensor<1x1x1x1x1x1xf32>", tg_reshape(t, f111111, 6, TG_DIMS(1, 1, 1, 1, 1, 1)));
}

static void slices_stay_inside(void **state)
{
    const int64_t zero[] = {0, 0}, ones[] = {1, 1}, whole[] = {2, 3};
    assert_refused("slice:|0|4|1|3", tg_slice(t, f23, zero, TG_DIMS(2, 4), ones));
    assert_refused("slice:|2|1|0|2", tg_slice(t, f23, TG_DIMS(2, 0), TG_DIMS(1, 3), ones));
    assert_refused("slice:|-1|2|0", tg_slice(t, f23, TG_DIMS(-1, 0), whole, ones));
    assert_refused("slice:|0|1", tg_slice(t, f23, zero, whole, TG_DIMS(1, 0)));
    assert_refused("pad:|tensor<2x3xf32>|tensor<3xf32>", tg_pad(t, f23, f3, zero, zero, zero));
    assert_refused("pad:", /* of another dtype */
                   tg_pad(t, h23, f0, zero, zero, zero));
    assert_refused("pad:|-1|0", tg_pad(t, f23, f0, zero, zero, TG_DIMS(-1, 0)));
    assert_refused("pad:|1|3|-1", tg_pad(t, f23, f0, TG_DIMS(0, -2), TG_DIMS(0, -2), zero));
    assert_refused("concatenate:|tensor<2x3xf32>|tensor<3x2xf32>",
                   tg_concatenate(t, (tg_tensor *const[]){f23, f32}, 2, 0));
    assert_refused("concatenate:|2|2", tg_concatenate(t, (tg_tensor *const[]){f23, f23}, 2, 2));
    assert_refused("concatenate:", /* in dtype */
                   tg_concatenate(t, (tg_tensor *const[]){f23, h23}, 2, 0));
    assert_refused("concatenate:", tg_concatenate(t, &f23, 0, 0));
    assert_typed("tensor<0x3xf32>", tg_slice(t, f23, TG_DIMS(1, 0), TG_DIMS(1, 3), ones));
    assert_typed("tensor<3x5xf32>", tg_pad(t, f23, f0, TG_DIMS(0, -1), TG_DIMS(0, 1), ones));
}

static void places_are_integers(void **state)
{
    tg_tensor *const one[] = {f3, f0}, *zero = tg_variable_new("zero", &(tg_type){.dtype = TG_I32});
    tg_tensor *const starts[] = {zero, zero}, *const mixed[] = {zero, f0};
    assert_refused("gather_rows:|tensor<2x3xui8>", tg_gather_rows(t, f32, u23));
    assert_refused("gather_rows:|tensor<3xf32>", tg_gather_rows(t, f32, f3));
    assert_refused("gather_rows:|tensor<f32>", tg_gather_rows(t, f0, i23));
    assert_refused("gather_rows:|tensor<1x1x1x1x1x1xf32>|tensor<2x3xi32>",
                   tg_gather_rows(t, f111111, i23));
    assert_refused("scatter_add_rows:|tensor<2x3x2xf32>|tensor<2x3xf32>",
                   tg_scatter_add_rows(t, f32, i23, f23));
    assert_refused("scatter_add_rows:|tensor<2x3xi1>", tg_scatter_add_rows(t, b23, i23, b23));
    assert_refused("dynamic_slice:|tensor<3xf32>", tg_dynamic_slice(t, f23, one, TG_DIMS(1, 1)));
    assert_refused("dynamic_slice:|tensor<f32>", tg_dynamic_slice(t, f23, mixed, TG_DIMS(1, 1)));
    assert_refused("dynamic_slice:|4|1|3", tg_dynamic_slice(t, f23, starts, TG_DIMS(1, 4)));
    assert_refused("dynamic_update_slice:|tensor<2x3xf32>|tensor<3x2xf32>",
                   tg_dynamic_update_slice(t, f23, f32, starts));
    assert_typed("tensor<2x3x2xf32>", tg_gather_rows(t, f32, i23));
    assert_typed("tensor<2x3x4x8x4xf32>",
                 tg_dynamic_slice(t, tg_gather_rows(t, x4, i23),
                                  (tg_tensor *const[]){zero, zero, zero, zero, zero},
                                  TG_DIMS(2, 3, 4, 8, 4)));
    assert_typed("tensor<2x3xf32>", tg_dynamic_update_slice(t, f23, f23, starts));
    tg_variable_free(zero);
}

static void the_largest_are_there(void **state)
{
    tg_tensor *where;
    assert_refused("top_k:|4|1|3", tg_top_k(t, f23, 4, &where));
    assert_int_equal(where->kind, TG_KIND_POISON);
    assert_refused("top_k:|-1|1", tg_top_k(t, f23, -1, &where));
    assert_refused("top_k:|tensor<f32>", tg_top_k(t, f0, 0, &where));
    assert_refused("top_k:|tensor<2x3xi1>", tg_top_k(t, b23, 1, &where));
    assert_typed("tensor<2x2xf32>", tg_top_k(t, f23, 2, &where));
    assert_int_equal(tg_tensor_type(where)->dtype, TG_I32);
}

static void reductions_name_their_axes(void **state)
{
    assert_refused("reduce_sum:|0x5|2", tg_reduce_sum(t, f23, 5));
    assert_refused("reduce_max:|tensor<2x3xi1>", tg_reduce_max(t, b23, 1));
    assert_typed("tensor<3xi32>", tg_reduce_min(t, i23, 1));
    assert_typed("tensor<f32>", tg_reduce_sum(t, f0, 0));
}

static void products_pair_dimensions(void **state)
{
    const tg_dot_dims batch = {
        .batch_count = 1, .contract_count = 1, .contract_a = {1}, .contract_b = {1}};
    const tg_dot_dims twice = {.batch_count = 1, .contract_count = 1};
    const tg_dot_dims many = {.batch_count = 4, .contract_count = 3};
    const tg_dot_dims outer = {0};
    assert_refused("dot:|3|2", tg_matmul(t, f23, f23));
    assert_refused("dot:|2|3", tg_dot(t, f23, f32, &batch));
    assert_refused("dot:|0", tg_dot(t, f23, f23, &twice));
    assert_refused("dot:|-1|0", tg_matmul(t, f0, f23));
    assert_refused("dot:|0|0", tg_matmul(t, f23, f0));
    assert_refused("dot:|4|3", tg_dot(t, f23, f23, &many));
    assert_refused("dot:|tensor<2x3xf32>|tensor<2x3xbf16>", tg_matmul(t, f23, h23));
    assert_refused("dot:", tg_matmul(t, b23, b32));
    assert_refused("dot:", tg_dot(t, f111111, f3, &outer));
    assert_typed("tensor<2x2xf32>", tg_matmul(t, f23, f32));
    assert_typed("tensor<2x3x3xf32>", tg_dot(t, f23, f3, &outer));
}

/* Of x4 (N, H, W, C) with w4 (H, W, I, O): a good one to spoil. */
static tg_conv_dims good_conv(void)
{
    return (tg_conv_dims){.lhs = {0, 3, 1, 2},
                          .rhs = {2, 3, 0, 1},
                          .out = {0, 3, 1, 2},
                          .stride = {2, 1},
                          .pad_low = {1, 0},
                          .pad_high = {1, 0},
                          .lhs_dilation = {1, 1},
                          .rhs_dilation = {1, 2},
                          .groups = 1,
                          .batch_groups = 1};
}

static void convolutions_check_everything(void **state)
{
    tg_conv_dims d = good_conv();
    assert_typed("tensor<2x4x4x6xf32>", tg_convolution(t, x4, w4, &d));
    d.pad_low[1] = -3;
    assert_typed("tensor<2x4x1x6xf32>", tg_convolution(t, x4, w4, &d));
    d.pad_low[1] = -4;
    assert_typed("tensor<2x4x0x6xf32>", tg_convolution(t, x4, w4, &d));
    d = good_conv();
    d.rhs[3] = 2;
    assert_refused("convolution:", tg_convolution(t, x4, w4, &d));
    d = good_conv();
    d.out[0] = 7;
    assert_refused("convolution:", tg_convolution(t, x4, w4, &d));
    d = good_conv();
    d.stride[0] = 0;
    assert_refused("convolution:|0|1|1|1", tg_convolution(t, x4, w4, &d));
    d = good_conv();
    d.groups = 2;
    assert_refused("convolution:|4|4|2", tg_convolution(t, x4, w4, &d));
    d.batch_groups = 2;
    assert_refused("convolution:|2|2", tg_convolution(t, x4, w4, &d));
    d = good_conv();
    d.batch_groups = 4;
    assert_refused("convolution:|6|4", tg_convolution(t, x4, w4, &d));
    d.batch_groups = 3;
    assert_refused("convolution:|2|3", tg_convolution(t, x4, w4, &d));
    d.batch_groups = 2;
    assert_typed("tensor<1x4x4x6xf32>", tg_convolution(t, x4, w4, &d));
    assert_refused("convolution:|tensor<2x8x8x4xf32>|tensor<2x3xf32>",
                   tg_convolution(t, x4, f23, &d));
}

static void windows_check_everything(void **state)
{
    tg_window w = {.size = {1, 2}, .stride = {1, 1}, .pad_high = {0, 1}};
    assert_typed("tensor<2x3xf32>", tg_window_max(t, f23, &w));
    assert_refused("select_and_scatter:|tensor<2x3xf32>|tensor<3x2xf32>",
                   tg_select_and_scatter(t, f23, f32, &w));
    assert_refused("window_sum:|tensor<2x3xi1>", tg_window_sum(t, b23, &w));
    assert_refused("window_max:|tensor<f32>", tg_window_max(t, f0, &w));
    assert_refused("cumsum:|2|2", tg_cumsum(t, f23, 2));
    assert_typed("tensor<2x3xi32>", tg_cumsum(t, i23, 1));
    w.size[1] = 0;
    assert_refused("window_max:|0|1|1", tg_window_max(t, f23, &w));
    w.size[1] = 5;
    assert_typed("tensor<2x0xf32>", tg_window_max(t, f23, &w));
    w.pad_low[0] = -1;
    assert_refused("window_max:|-1|0|0", tg_window_max(t, f23, &w));
}

static void normalisation_wants_an_element_a_feature(void **state)
{
    tg_tensor *a, *b;
    assert_refused("batch_norm_training:|tensor<3xf32>|tensor<2x3xf32>",
                   tg_batch_norm_training(t, f23, f3, f3, 0, 0, &a, &b));
    assert_refused("batch_norm_training:|2|2",
                   tg_batch_norm_training(t, f23, f3, f3, 0, 2, &a, &b));
    assert_refused("batch_norm_inference:|tensor<2x3xi32>",
                   tg_batch_norm_inference(t, i23, f3, f3, f3, f3, 0, 1));
    assert_refused("batch_norm_inference:", tg_batch_norm_inference(t, f23, f3, f3, f3, f23, 0, 1));
    assert_refused("batch_norm_grad:|tensor<2x3xf32>|tensor<3x2xf32>",
                   tg_batch_norm_grad(t, f23, f3, f3, f3, f32, 0, 1, &a, &b));
    assert_int_equal(a->kind, TG_KIND_POISON);
    assert_typed("tensor<2x3xf32>", tg_batch_norm_grad(t, f23, f3, f3, f3, f23, 0, 1, &a, &b));
    assert_true(tg_type_equal(tg_tensor_type(a), tg_tensor_type(f3)));
    assert_true(tg_type_equal(tg_tensor_type(b), tg_tensor_type(f3)));
}

static void random_bits_have_a_state(void **state)
{
    tg_type words = tg_type_make(TG_U64, 1, TG_DIMS(2)), bits = tg_type_make(TG_U32, 1, TG_DIMS(5));
    tg_type floats = tg_type_make(TG_F32, 1, TG_DIMS(5)),
            none = tg_type_make(TG_U32, 1, TG_DIMS(-5));
    tg_tensor *seed = tg_variable_new("seed", &words), *next;
    assert_refused("random_bits:|tensor<2xui64>|tensor<3xf32>",
                   tg_random_bits(t, f3, &bits, &next));
    assert_int_equal(next->kind, TG_KIND_POISON);
    assert_refused("random_bits:|ui32|ui64|tensor<5xf32>", tg_random_bits(t, seed, &floats, &next));
    assert_refused("random_bits:|0|-5", tg_random_bits(t, seed, &none, &next));
    assert_typed("tensor<5xui32>", tg_random_bits(t, seed, &bits, &next));
    assert_true(tg_type_equal(tg_tensor_type(next), &words));
    tg_variable_free(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise_ops_check_dtype_and_shape),
        cmocka_unit_test(constants_check_type_and_range),
        cmocka_unit_test(shapes_must_fit),
        cmocka_unit_test(slices_stay_inside),
        cmocka_unit_test(places_are_integers),
        cmocka_unit_test(the_largest_are_there),
        cmocka_unit_test(reductions_name_their_axes),
        cmocka_unit_test(products_pair_dimensions),
        cmocka_unit_test(convolutions_check_everything),
        cmocka_unit_test(windows_check_everything),
        cmocka_unit_test(normalisation_wants_an_element_a_feature),
        cmocka_unit_test(random_bits_have_a_state),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
