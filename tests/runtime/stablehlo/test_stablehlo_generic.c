/* test_stablehlo_generic.c - programs in MLIR's generic form and in the usual one are the same, op
 * by op and as a whole; differences are found across the forms; and unreadable forms are refused.
 */
#include "tests/runtime/stablehlo/stablehlo_fixture.h"

#define F "tensor<4x4xf32>"
#define S "tensor<f32>"

/* An op in its usual form, in generic form, and what of the latter may change into what. */
static const struct {
    const char *usual, *generic, *from, *to;
} ops[] = {
    {"stablehlo.add %a, %b : " F, "\"stablehlo.add\"(%a, %b) : (" F ", " F ") -> " F, "add",
     "subtract"},
    {"stablehlo.add %a, %b {k = 1 : i32, \"x.y\" = \"z\"} : " F,
     "\"stablehlo.add\"(%a, %b) {k = 1 : i32, x.y = \"z\"} : (" F ", " F ") -> " F, "k = 1",
     "k = 2"},
    {"stablehlo.exponential %a : " F,
     "\"stablehlo.exponential\"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = "
     "#stablehlo.result_accuracy_mode<DEFAULT>>}> : (" F ") -> " F,
     "DEFAULT", "HIGHEST"},
    {"stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>",
     "\"stablehlo.constant\"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>",
     "1.0, 2", "1.5, 2"},
    {"stablehlo.constant {k = 1 : i32} dense<1> : tensor<i32>",
     "\"stablehlo.constant\"() <{value = dense<1> : tensor<i32>}> {k = 1 : i32} : () -> "
     "tensor<i32>",
     "k = 1", "k = 2"},
    {"stablehlo.compare LT, %a, %b, FLOAT : (" F ", " F ") -> tensor<4x4xi1>",
     "\"stablehlo.compare\"(%a, %b) <{compare_type = #stablehlo<comparison_type FLOAT>, "
     "comparison_direction = #stablehlo<comparison_direction LT>}> : (" F ", " F
     ") -> tensor<4x4xi1>",
     "n LT", "n LE"},
    {"stablehlo.broadcast_in_dim %s, dims = [] : (" S ") -> " F,
     "\"stablehlo.broadcast_in_dim\"(%s) <{broadcast_dimensions = array<i64>}> : (" S ") -> " F,
     "array<i64>", "array<i64: 0>"},
    {"stablehlo.transpose %a, dims = [1, 0] : (" F ") -> " F,
     "\"stablehlo.transpose\"(%a) <{permutation = array<i64: 1, 0>}> : (" F ") -> " F, "1, 0",
     "0, 1"},
    {"stablehlo.reverse %a, dims = [0] : " F,
     "\"stablehlo.reverse\"(%a) <{dimensions = array<i64: 0>}> : (" F ") -> " F, ": 0", ": 1"},
    {"stablehlo.concatenate %a, %b, dim = 0 : (" F ", " F ") -> tensor<8x4xf32>",
     "\"stablehlo.concatenate\"(%a, %b) <{dimension = 0 : i64}> : (" F ", " F
     ") -> tensor<8x4xf32>",
     "= 0", "= 1"},
    {"stablehlo.slice %a [0:4:2, 1:3] : (" F ") -> tensor<2x2xf32>",
     "\"stablehlo.slice\"(%a) <{limit_indices = array<i64: 4, 3>, start_indices = array<i64: 0, "
     "1>, "
     "strides = array<i64: 2, 1>}> : (" F ") -> tensor<2x2xf32>",
     "2, 1", "2, 2"},
    {"stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 2] : (" F
     ", tensor<i32>, tensor<i32>) -> tensor<2x2xf32>",
     "\"stablehlo.dynamic_slice\"(%a, %i, %i) <{slice_sizes = array<i64: 2, 2>}> : (" F
     ", tensor<i32>, tensor<i32>) -> tensor<2x2xf32>",
     "(%a, %i, %i)", "(%b, %i, %i)"},
    {"stablehlo.pad %a, %s, low = [-1, 0], high = [0, 2], interior = [1, 0] : (" F ", " S
     ") -> tensor<6x6xf32>",
     "\"stablehlo.pad\"(%a, %s) <{edge_padding_high = array<i64: 0, 2>, edge_padding_low = "
     "array<i64: -1, 0>, interior_padding = array<i64: 1, 0>}> : (" F ", " S ") -> tensor<6x6xf32>",
     "-1", "1"},
    {"stablehlo.iota dim = 1 : tensor<2x3xi32>",
     "\"stablehlo.iota\"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xi32>", "= 1", "= 0"},
    {"stablehlo.select %p, %a, %b : tensor<i1>, " F,
     "\"stablehlo.select\"(%p, %a, %b) : (tensor<i1>, " F ", " F ") -> " F, "%a, %b", "%b, %a"},
    {"stablehlo.dot_general %a, %b, batching_dims = [0] x [1], contracting_dims = [1] x [0], "
     "precision = [HIGH, DEFAULT] : (" F ", " F ") -> tensor<4xf32>",
     "\"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<"
     "lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = "
     "[1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGH>, "
     "#stablehlo<precision DEFAULT>]}> : (" F ", " F ") -> tensor<4xf32>",
     "HIGH", "HIGHEST"},
    {"stablehlo.dot_general %a, %b, contracting_dims = [] x [] : (" F ", " F
     ") -> tensor<4x4x4x4xf32>",
     "\"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<>}> : (" F ", " F
     ") -> tensor<4x4x4x4xf32>",
     "dot<>", "dot<lhs_contracting_dimensions = [0]>"},
    {"stablehlo.convolution(%c, %d) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window "
     "= "
     "{stride = [2, 1], pad = [[1, 1], [1, 1]], reverse = [false, true]} {batch_group_count = 1 : "
     "i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> "
     "tensor<1x4x8x4xf32>",
     "\"stablehlo.convolution\"(%c, %d) <{batch_group_count = 1 : i64, dimension_numbers = "
     "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, "
     "padding = dense<1> : tensor<2x2xi64>, window_reversal = array<i1: false, true>, "
     "window_strides = array<i64: 2, 1>}> : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> "
     "tensor<1x4x8x4xf32>",
     "dense<1>", "dense<[[1, 1], [1, 0]]>"},
    {"stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1] : (" F ", " S
     ") -> tensor<4xf32>",
     "\"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 1>}> ({\n"
     "    ^bb0(%x: " S ", %y: " S "):\n"
     "      %z = \"stablehlo.add\"(%x, %y) : (" S ", " S ") -> " S "\n"
     "      \"stablehlo.return\"(%z) : (" S ") -> ()\n"
     "    }) : (" F ", " S ") -> tensor<4xf32>",
     "\"stablehlo.add\"(%x, %y)", "\"stablehlo.maximum\"(%x, %y)"},
    {"stablehlo.reduce(%a init: %s) across dimensions = [1] : (" F ", " S ") -> tensor<4xf32>\n"
     "     reducer(%x: " S ", %y: " S ") {\n"
     "      %z = stablehlo.subtract %y, %x : " S "\n"
     "      stablehlo.return %z : " S "\n    }",
     "\"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 1>}> ({\n"
     "    ^bb0(%x: " S ", %y: " S "):\n"
     "      %z = \"stablehlo.subtract\"(%y, %x) : (" S ", " S ") -> " S "\n"
     "      \"stablehlo.return\"(%z) : (" S ") -> ()\n"
     "    }) : (" F ", " S ") -> tensor<4xf32>",
     "(%y, %x)", "(%x, %y)"},
    {"stablehlo.while(%x = %i, %y = %a) : tensor<i32>, " F " attributes {k = 1 : i32}\n"
     "    cond {\n      stablehlo.return %p : tensor<i1>\n    } do {\n"
     "      %z = stablehlo.add %y, %b : " F "\n      stablehlo.return %x, %z : tensor<i32>, " F
     "\n    }",
     "\"stablehlo.while\"(%i, %a) ({\n    ^bb0(%x: tensor<i32>, %y: " F "):\n"
     "      \"stablehlo.return\"(%p) : (tensor<i1>) -> ()\n    }, {\n"
     "    ^bb0(%v: tensor<i32>, %w: " F "):\n"
     "      %z = \"stablehlo.add\"(%w, %b) : (" F ", " F ") -> " F "\n"
     "      \"stablehlo.return\"(%v, %z) : (tensor<i32>, " F ") -> ()\n"
     "    }) {k = 1 : i32} : (tensor<i32>, " F ") -> (tensor<i32>, " F ")",
     "(%w, %b)", "(%w, %w)"},
    {"call @g(%a) : (" F ") -> " F, "\"func.call\"(%a) <{callee = @g}> : (" F ") -> " F, "@g",
     "@h"},
    {"stablehlo.custom_call @f(%a) {backend_config = \"\", has_side_effect = true} : (" F ") -> " F,
     "\"stablehlo.custom_call\"(%a) <{api_version = 1 : i32, backend_config = \"\", "
     "call_target_name = \"f\", called_computations = [], has_side_effect = true}> : (" F ") -> " F,
     "= 1 : i32", "= 2 : i32"},
    {"stablehlo.fft %a, type = RFFT, length = [4] : (" F ") -> tensor<4x3xcomplex<f32>>",
     "\"stablehlo.fft\"(%a) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type RFFT>}> : "
     "(" F ") -> tensor<4x3xcomplex<f32>>",
     "RFFT", "FFT"},
    {"stablehlo.reduce_precision %a, format = e5m10 : " F,
     "\"stablehlo.reduce_precision\"(%a) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : "
     "(" F ") -> " F,
     "= 10", "= 7"},
    {"stablehlo.cholesky %a, lower = true : " F,
     "\"stablehlo.cholesky\"(%a) <{lower = true}> : (" F ") -> " F, "true", "false"},
    {"stablehlo.convert %a : (" F ") -> tensor<4x4xbf16>",
     "\"stablehlo.convert\"(%a) : (" F ") -> tensor<4x4xbf16>", "bf16", "f16"},
    {"sdy.sharding_constraint %a <@m, [{}, {}]> : " F,
     "\"sdy.sharding_constraint\"(%a) <{sharding = #sdy.sharding<@m, [{}, {}]>}> : (" F ") -> " F,
     "@m", "@n"},
};

#define ARGUMENTS                                                                                  \
    "%a: " F ", %b: " F ", %c: tensor<1x8x8x3xf32>, %d: tensor<3x3x3x4xf32>, %s: " S               \
    ", %p: tensor<i1>, %i: tensor<i32>"
#define TYPES F ", " F ", tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>, " S ", tensor<i1>, tensor<i32>"

/* OP within a program; GENERIC: all of it. The caller frees it. */
static char *program(const char *op, bool generic)
{
    bn_text out = {0};
    const bool loop = strstr(op, "while") != NULL;
    bn_text_puts(&out,
                 generic ? "\"builtin.module\"() <{sym_name = \"x\"}> ({\n  \"func.func\"() "
                           "<{arg_attrs = [{}, {jax.buffer_donor = true}, {}, {}, {}, {}, {}], "
                           "function_type = (" TYPES ") -> (" F ", " F "), res_attrs = [{}, "
                           "{k = \"r\"}], sym_name = \"main\", sym_visibility = \"public\"}> "
                           "({\n  ^bb0(" ARGUMENTS "):\n"
                         : "module @y attributes {mhlo.num_replicas = 1 : i32} {\n"
                           "  func.func public @main(%a: " F ", %b: " F
                           " {jax.buffer_donor = true}, %c: tensor<1x8x8x3xf32>, %d: "
                           "tensor<3x3x3x4xf32>, %s: " S ", %p: tensor<i1>, %i: tensor<i32>) -> (" F
                           ", " F " {k = \"r\"}) attributes {u = 1 : i32} {\n");
    bn_text_printf(&out, "    %%0%s = %s\n", loop ? ":2" : "", op);
    bn_text_puts(&out, generic ? "    \"func.return\"(%a, %b) : (" F ", " F
                                 ") -> ()\n  }) {u = 1 : "
                                 "i32} : () -> ()\n}) {mhlo.num_replicas = 1 : i32} : () -> ()\n"
                               : "    return %a, %b : " F ", " F "\n  }\n}\n");
    return out.data;
}

/* How many differences two texts have, which are freed. */
static size_t differences(char *a, char *b)
{
    bn_status st = {0};
    shlo_graph *x = graph_of(a), *y = graph_of(b);
    shlo_diff *d;
    assert_ok(shlo_diff_make(x, y, &d, &st), &st);
    const size_t count = d->count;
    if (count == 0)
        assert_int_equal(d->moved, 0);
    shlo_diff_free(d);
    shlo_graph_free(x);
    shlo_graph_free(y);
    free(a);
    free(b);
    return count;
}

/* TEXT with TO in place of the first FROM; the caller frees it. */
static char *changed(const char *text, const char *from, const char *to)
{
    bn_text out = {0};
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("no %s in %s", from, text);
    bn_text_append(&out, text, (size_t)(at - text));
    bn_text_puts(&out, to);
    bn_text_puts(&out, at + strlen(from));
    return out.data;
}

static void each_op_says_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (differences(program(ops[i].usual, false), program(ops[i].generic, true)) != 0 ||
            differences(program(ops[i].generic, true), program(ops[i].usual, false)) != 0)
            fail_msg("%s differs in its generic form", ops[i].usual);
        /* Two equal programs have no differences. */
        assert_int_equal(differences(program(ops[i].usual, false), program(ops[i].usual, false)),
                         0);
    }
}

static void what_differs_is_found_across_the_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        char *other = changed(ops[i].generic, ops[i].from, ops[i].to);
        if (differences(program(ops[i].usual, false), program(other, true)) == 0)
            fail_msg("%s is the same as %s", ops[i].usual, other);
        if (differences(program(other, true), program(ops[i].generic, true)) == 0)
            fail_msg("%s is the same as before", other);
        free(other);
    }
}

/* Attributes of a function, of its values and of the module. */
static void what_functions_say_is_compared(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"jax.buffer_donor = true", "jax.buffer_donor = false"},
                                          {"{}, {jax.buffer_donor", "{jax.buffer_donor"},
                                          {"k = \"r\"", "k = \"s\""},
                                          {"u = 1", "u = 2"},
                                          {"num_replicas = 1", "num_replicas = 2"},
                                          {"\"public\"", "\"private\""},
                                          {"-> (tensor<4x4xf32>", "-> (tensor<4x5xf32>"},
                                          {"%i: tensor<i32>", "%i: tensor<i64>"}};
    const char *op = ops[0].usual, *generic = ops[0].generic;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = program(generic, true);
        char *other = changed(text, rows[i][0], rows[i][1]);
        free(text);
        if (differences(program(op, false), other) == 0)
            fail_msg("%s for %s is no difference", rows[i][1], rows[i][0]);
    }
}

/* A training step that JAX wrote in both forms, and as older versions of MLIR did: what is said of
 * functions and ops behind them. */
static void a_whole_program_is_the_same(void **state)
{
    (void)state;
    char *seed;
    size_t size;
    bn_status st = {0};
    assert_ok(bn_regular_read("tests/fuzz/corpus/graph/forms-train", &seed, &size, &st), &st);
    const size_t first = strlen(seed);
    assert_true(first + 1 < size);
    shlo_graph *generic = graph_of(seed + first + 1);
    assert_int_equal(generic->of_kind[SHLO_FUNCTION], 9);
    assert_int_equal(generic->of_kind[SHLO_ARGUMENT], 19);
    shlo_graph_free(generic);
    char *usual = strdup(seed), *other = strdup(seed + first + 1);
    assert_non_null(usual);
    assert_non_null(other);
    assert_int_equal(differences(usual, other), 0);
    free(seed);
}

static void older_generic_texts_are_the_same(void **state)
{
    (void)state;
    static const char older[] =
        "\"builtin.module\"() ({\n"
        "  \"func.func\"() ({\n"
        "  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):\n"
        "    %0 = \"stablehlo.transpose\"(%a) {permutation = array<i64: 0>} : (tensor<2xf32>) -> "
        "tensor<2xf32>\n"
        "    \"func.return\"(%0) : (tensor<2xf32>) -> ()\n"
        "  }) {arg_attrs = [{}, {tf.aliasing_output = 0 : i32}], function_type = (tensor<2xf32>, "
        "tensor<2xf32>) -> tensor<2xf32>, sym_name = \"main\"} : () -> ()\n"
        "}) : () -> ()\n";
    static const char usual[] =
        "module {\n"
        "  func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> "
        "tensor<2xf32> {\n"
        "    %0 = stablehlo.transpose %a, dims = [0] : (tensor<2xf32>) -> tensor<2xf32>\n"
        "    return %0 : tensor<2xf32>\n"
        "  }\n"
        "}\n";
    assert_int_equal(differences(strdup(older), strdup(usual)), 0);
    assert_true(differences(changed(older, "output = 0", "output = 1"), strdup(usual)) > 0);
}

/* One graph has an op in a form that is not known, the other in generic form. */
static void unreadable_forms_are_refused(void **state)
{
    (void)state;
    bn_status st = {0};
    char *a = program("foo.bar %a by %b : " F, false);
    char *b = program("\"foo.bar\"(%a) <{by = 1 : i32}> : (" F ") -> " F, true);
    shlo_graph *x = graph_of(a), *y = graph_of(b);
    shlo_diff *d = (shlo_diff *)&st;
    assert_fails(shlo_diff_make(x, y, &d, &st), BN_NOT_SUPPORTED, "foo.bar", &st);
    assert_null(d);
    assert_fails(shlo_diff_make(y, x, &d, &st), BN_NOT_SUPPORTED, "foo.bar", &st);
    assert_ok(shlo_diff_make(x, x, &d, &st), &st);
    assert_int_equal(d->count, 0);
    shlo_diff_free(d);
    assert_ok(shlo_diff_make(y, y, &d, &st), &st);
    assert_int_equal(d->count, 0);
    shlo_diff_free(d);
    shlo_graph_free(x);
    shlo_graph_free(y);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_op_says_the_same),
        cmocka_unit_test(what_differs_is_found_across_the_forms),
        cmocka_unit_test(what_functions_say_is_compared),
        cmocka_unit_test(a_whole_program_is_the_same),
        cmocka_unit_test(older_generic_texts_are_the_same),
        cmocka_unit_test(unreadable_forms_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
