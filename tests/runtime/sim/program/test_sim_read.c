/*
 * test_sim_read.c - StableHLO text as the simulator reads it: each op's forms, constants,
 * functions and regions, texts as JAX writes them, texts cut off, and our own lowering.
 */
#include "tests/runtime/sim/program/sim_program_fixture.h"

#include <math.h>

/* ---- the table ------------------------------------------------------------------------- */

static void check_ints(const sim_op *op, const char *name, const char *expected)
{
    char text[512] = "";
    const sim_attribute *a = sim_attribute_find(op, name);
    if (!a)
        fail_msg("%s has no %s", sim_op_name(op->opcode), name);
    for (size_t i = 0; a->ints && i < a->count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lld", i ? " " : "",
                 (long long)a->ints[i]);
    const char *found = a->ints ? text : a->word;
    if (strcmp(found, expected) != 0)
        fail_msg("%s: %s is '%s', not '%s'", sim_op_name(op->opcode), name, found, expected);
}

/* The same op in several forms, and attributes that each must have. */
typedef struct form_case {
    const char *arguments, *type;
    const char *forms[3];
    const char *attributes[18]; /* name, value, ... */
} form_case;

#define SCALARS "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
#define SUM                                                                                        \
    "({\n" SCALARS "%s = stablehlo.add %x, %y : tensor<f32>\nstablehlo.return %s : "               \
    "tensor<f32>\n})"

static const form_case form_cases[] = {
    {"%a: " F32_2X3,
     "tensor<2x3x4xf32>",
     {"%r = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (" F32_2X3 ") -> tensor<2x3x4xf32>",
      "%r = \"stablehlo.broadcast_in_dim\"(%a) <{broadcast_dimensions = array<i64: 0, 1>}> : "
      "(" F32_2X3 ") -> tensor<2x3x4xf32>",
      "%r = \"stablehlo.broadcast_in_dim\"(%a) {broadcast_dimensions = dense<[0, 1]> : "
      "tensor<2xi64>} : (" F32_2X3 ") -> tensor<2x3x4xf32> loc(\"x)\")"},
     {"broadcast_dimensions", "0 1"}},
    {"%a: " F32_2X3,
     "tensor<2x3xi1>",
     {"%r = stablehlo.compare GE, %a, %a, TOTALORDER : (" F32_2X3 ", " F32_2X3 ") -> "
      "tensor<2x3xi1>",
      "%r = \"stablehlo.compare\"(%a, %a) {comparison_direction = #stablehlo<comparison_direction "
      "GE>, compare_type = #stablehlo<comparison_type TOTALORDER>} : (" F32_2X3 ", " F32_2X3
      ") -> tensor<2x3xi1>"},
     {"comparison_direction", "GE", "compare_type", "TOTALORDER"}},
    {"%a: " F32_2X3,
     "tensor<4x3xf32>",
     {"%r = stablehlo.concatenate %a, %a, dim = 0 : (" F32_2X3 ", " F32_2X3 ") -> tensor<4x3xf32>",
      "%r = \"stablehlo.concatenate\"(%a, %a) <{dimension = 0 : i64}> : (" F32_2X3 ", " F32_2X3
      ") -> tensor<4x3xf32>"},
     {"dimension", "0"}},
    {"",
     "tensor<4xi32>",
     {"%r = stablehlo.iota dim = 0 : tensor<4xi32>",
      "%r = \"stablehlo.iota\"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>"},
     {"iota_dimension", "0"}},
    {"%a: tensor<1x8x8x4xf32>, %b: tensor<3x3x2x6xf32>",
     "tensor<1x4x5x6xf32>",
     {"%r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
      "window = {stride = [2, 1], pad = [[1, 1], [0, 1]], rhs_dilate = [1, 2]} "
      "{batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = "
      "[#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]} : (tensor<1x8x8x4xf32>, "
      "tensor<3x3x2x6xf32>) -> tensor<1x4x5x6xf32>",
      "%r = \"stablehlo.convolution\"(%a, %b) <{batch_group_count = 1 : i64, dimension_numbers = "
      "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, "
      "padding = dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>, rhs_dilation = array<i64: 1, 2>, "
      "window_strides = array<i64: 2, 1>}> : (tensor<1x8x8x4xf32>, tensor<3x3x2x6xf32>) -> "
      "tensor<1x4x5x6xf32>",
      "%r = \"stablehlo.convolution\"(%a, %b) <{batch_group_count = 1 : i64, dimension_numbers = "
      "#stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, "
      "input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, "
      "kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], "
      "output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, "
      "2]>, feature_group_count = 2 : i64, padding = dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>, "
      "rhs_dilation = array<i64: 1, 2>, window_strides = array<i64: 2, 1>}> : "
      "(tensor<1x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x4x5x6xf32>"},
     {"input_batch_dimension", "0", "input_feature_dimension", "3", "kernel_spatial_dimensions",
      "0 1", "output_spatial_dimensions", "1 2", "padding", "1 1 0 1", "lhs_dilation", "1 1",
      "rhs_dilation", "1 2", "window_reversal", "0 0", "feature_group_count", "2"}},
    {"%a: tensor<5x2x3xf32>, %b: tensor<5x3x4xf32>",
     "tensor<5x2x4xf32>",
     {"%r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], "
      "precision = [DEFAULT, DEFAULT] : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> "
      "tensor<5x2x4xf32>",
      "%r = \"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = "
      "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
      "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = "
      "[#stablehlo<precision DEFAULT>]}> : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> "
      "tensor<5x2x4xf32>"},
     {"lhs_batching_dimensions", "0", "rhs_batching_dimensions", "0", "lhs_contracting_dimensions",
      "2", "rhs_contracting_dimensions", "1"}},
    {"%a: tensor<4x8xcomplex<f32>>",
     "tensor<4x8xcomplex<f32>>",
     {"%r = stablehlo.fft %a, type = IFFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> "
      "tensor<4x8xcomplex<f32>>",
      "%r = \"stablehlo.fft\"(%a) <{fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type "
      "IFFT>}> : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>"},
     {"fft_type", "IFFT", "fft_length", "8"}},
    {"%a: " F32_2X3 ", %b: tensor<f32>",
     "tensor<5x4xf32>",
     {"%r = stablehlo.pad %a, %b, low = [1, 0], high = [1, -1], interior = [1, 1] : (" F32_2X3
      ", tensor<f32>) -> tensor<5x4xf32>",
      "%r = \"stablehlo.pad\"(%a, %b) <{edge_padding_high = array<i64: 1, -1>, edge_padding_low = "
      "array<i64: 1, 0>, interior_padding = array<i64: 1, 1>}> : (" F32_2X3
      ", tensor<f32>) -> tensor<5x4xf32>"},
     {"edge_padding_low", "1 0", "edge_padding_high", "1 -1", "interior_padding", "1 1"}},
    {"%a: " F32_2X3 ", %b: tensor<f32>",
     "tensor<2xf32>",
     {"%r = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] : (" F32_2X3
      ", tensor<f32>) -> tensor<2xf32>",
      "%r = stablehlo.reduce(%a init: %b) across dimensions = [1] : (" F32_2X3
      ", tensor<f32>) -> tensor<2xf32>\n reducer(%x: tensor<f32>, %y: tensor<f32>)  {\n"
      "%s = stablehlo.add %x, %y : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}",
      "%r = \"stablehlo.reduce\"(%a, %b) <{dimensions = array<i64: 1>}> " SUM " : (" F32_2X3
      ", tensor<f32>) -> tensor<2xf32>"},
     {"dimensions", "1"}},
    {"%a: " F32_2X3,
     F32_2X3,
     {"%r = stablehlo.reduce_precision %a, format = e5m10 : " F32_2X3,
      "%r = \"stablehlo.reduce_precision\"(%a) <{exponent_bits = 5 : i32, mantissa_bits = 10 : "
      "i32}> : (" F32_2X3 ") -> " F32_2X3},
     {"exponent_bits", "5", "mantissa_bits", "10"}},
    {"%a: tensor<8xf32>, %b: tensor<f32>",
     "tensor<4xf32>",
     {"%r = \"stablehlo.reduce_window\"(%a, %b) <{padding = dense<0> : tensor<1x2xi64>, "
      "window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> " SUM
      " : (tensor<8xf32>, tensor<f32>) -> tensor<4xf32>",
      "%r = \"stablehlo.reduce_window\"(%a, %b) " SUM " {window_dimensions = array<i64: 2>, "
      "window_strides = array<i64: 2>} : (tensor<8xf32>, tensor<f32>) -> tensor<4xf32>"},
     {"padding", "0 0", "base_dilations", "1", "window_dilations", "1", "window_strides", "2"}},
    {"%a: " F32_2X3,
     F32_2X3,
     {"%r = stablehlo.reverse %a, dims = [1] : " F32_2X3,
      "%r = \"stablehlo.reverse\"(%a) <{dimensions = array<i64: 1>}> : (" F32_2X3 ") -> " F32_2X3},
     {"dimensions", "1"}},
    {"%a: tensor<4x9xf32>",
     "tensor<2x3xf32>",
     {"%r = stablehlo.slice %a [1:3, 0:9:3] : (tensor<4x9xf32>) -> tensor<2x3xf32>",
      "%r = \"stablehlo.slice\"(%a) <{limit_indices = array<i64: 3, 9>, start_indices = array<i64: "
      "1, 0>, strides = array<i64: 1, 3>}> : (tensor<4x9xf32>) -> tensor<2x3xf32>"},
     {"start_indices", "1 0", "limit_indices", "3 9", "strides", "1 3"}},
    {"%a: tensor<4x9xf32>, %i: tensor<i32>",
     "tensor<1x9xf32>",
     {"%r = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 9] : (tensor<4x9xf32>, tensor<i32>, "
      "tensor<i32>) -> tensor<1x9xf32>",
      "%r = \"stablehlo.dynamic_slice\"(%a, %i, %i) <{slice_sizes = array<i64: 1, 9>}> : "
      "(tensor<4x9xf32>, tensor<i32>, tensor<i32>) -> tensor<1x9xf32>"},
     {"slice_sizes", "1 9"}},
    {"%a: " F32_2X3,
     "tensor<3x2xf32>",
     {"%r = stablehlo.transpose %a, dims = [1, 0] : (" F32_2X3 ") -> tensor<3x2xf32>",
      "%r = \"stablehlo.transpose\"(%a) <{permutation = array<i64: 1, 0>}> : (" F32_2X3
      ") -> tensor<3x2xf32>"},
     {"permutation", "1 0"}},
    {"%a: tensor<9x4xf32>, %i: tensor<5x1xi32>",
     "tensor<5x4xf32>",
     {"%r = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = "
      "[1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
      "indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<9x4xf32>, "
      "tensor<5x1xi32>) -> tensor<5x4xf32>"},
     {"offset_dims", "1", "collapsed_slice_dims", "0", "operand_batching_dims", "",
      "start_indices_batching_dims", "", "start_index_map", "0", "index_vector_dim", "1",
      "slice_sizes", "1 4"}},
    {"%a: tensor<9x4xf32>, %i: tensor<5x1xi32>, %u: tensor<5x4xf32>",
     "tensor<9x4xf32>",
     {"%r = \"stablehlo.scatter\"(%a, %i, %u) <{indices_are_sorted = false, "
      "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
      "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, "
      "unique_indices = false}> " SUM " : (tensor<9x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> "
      "tensor<9x4xf32>"},
     {"update_window_dims", "1", "inserted_window_dims", "0", "scatter_dims_to_operand_dims", "0",
      "index_vector_dim", "1", "input_batching_dims", ""}},
    {"%a: " F32_2X3,
     F32_2X3,
     {"%r = \"stablehlo.sort\"(%a) ({\n" SCALARS "%s = stablehlo.compare LT, %x, %y : "
      "(tensor<f32>, tensor<f32>) -> tensor<i1>\nstablehlo.return %s : tensor<i1>\n}) : (" F32_2X3
      ") -> " F32_2X3},
     {"dimension", "1", "is_stable", "0"}},
    {"%a: " F32_2X3,
     F32_2X3,
     {"%r = stablehlo.custom_call @Sharding(%a) {backend_config = \"\", operand_layouts = "
      "[dense<[1, 0]> : tensor<2xindex>], api_version = 2 : i32} : (" F32_2X3 ") -> " F32_2X3,
      "%r = \"stablehlo.custom_call\"(%a) <{call_target_name = \"Sharding\"}> : (" F32_2X3
      ") -> " F32_2X3},
     {"call_target_name", "Sharding"}},
};

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof form_cases / sizeof *form_cases; i++) {
        const form_case *c = &form_cases[i];
        for (int f = 0; f < 3 && c->forms[f]; f++) {
            sim_program *p = read_body(c->arguments, c->forms[f], c->type);
            for (int a = 0; a < 18 && c->attributes[a]; a += 2)
                check_ints(last_op(p), c->attributes[a], c->attributes[a + 1]);
            assert_int_equal(last_op(p)->line, 3);
            sim_program_free(p);
        }
    }
}

/* Element-wise ops of the table are read in both forms. */
static void test_elementwise(void **state)
{
    (void)state;
    for (int code = 0; code < SIM_OP_COUNT; code++) {
        sim_cost_class class = sim_op_cost_class((sim_opcode)code);
        int count = sim_op_operands((sim_opcode)code);
        const char *name = sim_op_name((sim_opcode)code);
        bool other = code == SIM_OP_COMPARE || code == SIM_OP_SELECT || code == SIM_OP_COMPLEX ||
                     code == SIM_OP_IS_FINITE || code == SIM_OP_REDUCE_PRECISION;
        bool plain = (class == SIM_ELEMENTWISE || class == SIM_TRANSCENDENTAL) && !other;
        bool integers = code == SIM_OP_AND || code == SIM_OP_OR || code == SIM_OP_XOR ||
                        code == SIM_OP_NOT || code == SIM_OP_POPCNT ||
                        code == SIM_OP_COUNT_LEADING_ZEROS || strncmp(name, "shift", 5) == 0;
        const char *type = integers ? "tensor<2xi32>" : "tensor<2xf32>";
        const char *dialect = code == SIM_OP_ERF ? "chlo" : "stablehlo";
        for (int generic = 0; plain && generic < 2; generic++) {
            char body[256] = "", argument[64];
            int used = snprintf(body, sizeof body, generic ? "%%r = \"%s.%s\"(" : "%%r = %s.%s ",
                                dialect, name);
            for (int i = 0; i < count; i++)
                used += snprintf(body + used, sizeof body - (size_t)used, "%s%%a", i ? ", " : "");
            used += snprintf(body + used, sizeof body - (size_t)used, generic ? ") : (" : " : ");
            for (int i = 0; generic && i < count; i++)
                used +=
                    snprintf(body + used, sizeof body - (size_t)used, "%s%s", i ? ", " : "", type);
            snprintf(body + used, sizeof body - (size_t)used, generic ? ") -> %s" : "%s", type);
            snprintf(argument, sizeof argument, "%%a: %s", type);
            sim_program *p = read_body(argument, body, type);
            assert_int_equal(last_op(p)->opcode, code);
            assert_int_equal(last_op(p)->operand_count, count);
            sim_program_free(p);
        }
    }
}

/* ---- constants -------------------------------------------------------------------------- */

/* ELEMENTS of TYPE are the BYTES at EXPECTED. */
static void check_constant(const char *elements, const char *type, const void *expected,
                           size_t bytes)
{
    char body[512];
    snprintf(body, sizeof body, "%%r = stablehlo.constant dense<%s> : %s", elements, type);
    sim_program *p = read_body("", body, type);
    if (last_op(p)->constant_bytes != bytes || memcmp(last_op(p)->constant, expected, bytes) != 0)
        fail_msg("dense<%s> : %s", elements, type);
    sim_program_free(p);
}

#define CONSTANT(elements, type, ...)                                                              \
    check_constant(elements, type, __VA_ARGS__, sizeof(__VA_ARGS__))

static void test_constants(void **state)
{
    (void)state;
    CONSTANT("1.5", "tensor<4x4xf32>", (float[]){1.5f});
    CONSTANT("[[1.0, -2.0], [3.0e-05, 4.0]]", "tensor<2x2xf32>", (float[]){1, -2, 3e-5f, 4});
    CONSTANT("0xFF800000", "tensor<f32>", (float[]){-INFINITY});
    CONSTANT("0x7F80", "tensor<bf16>", (uint16_t[]){0x7f80});
    CONSTANT("[1.0, 0.333333343, 1.00390625, 3.4e38, 1.0e-40]", "tensor<5xbf16>",
             (uint16_t[]){0x3f80, 0x3eab, 0x3f80, 0x7f80, 0x0001});
    CONSTANT("[1.0, 65504.0, 65520.0, 6.0e-8, 0.1, -0.0]", "tensor<6xf16>",
             (uint16_t[]){0x3c00, 0x7bff, 0x7c00, 0x0001, 0x2e66, 0x8000});
    CONSTANT("1.4142135623730951", "tensor<f64>", (double[]){1.4142135623730951});
    CONSTANT("\"0x0000803F000000C0\"", "tensor<2xf32>", (float[]){1, -2});
    CONSTANT("\"0x0000803F\"", "tensor<200xf32>", (float[]){1});
    CONSTANT("\"0x0B\"", "tensor<5xi1>", (bool[]){1, 1, 0, 1, 0});
    CONSTANT("[true, false]", "tensor<2xi1>", (bool[]){1, 0});
    CONSTANT("true", "tensor<3xi1>", (bool[]){1});
    CONSTANT("[-128, 127]", "tensor<2xi8>", (int8_t[]){-128, 127});
    CONSTANT("-9223372036854775808", "tensor<i64>", (int64_t[]){INT64_MIN});
    CONSTANT("18446744073709551615", "tensor<ui64>", (uint64_t[]){UINT64_MAX});
    CONSTANT("(1.0,-2.0)", "tensor<complex<f32>>", (float[]){1, -2});
    CONSTANT("[(1.0, 2.0), (3.0, 0x7FF0000000000000)]", "tensor<2xcomplex<f64>>",
             (double[]){1, 2, 3, INFINITY});
    check_constant("", "tensor<0xf32>", "", 0);
    check_constant("[]", "tensor<0xf32>", "", 0);
}

/* ---- functions, regions, JAX ------------------------------------------------------------ */

/* Locations, attributes of arguments, calls, loops, branches: as JAX prints them. */
static const char jax_text[] =
    "#loc = loc(unknown)\n"
    "#loc1 = loc(\"p['w']\")\n"
    "module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @mesh = <[\"a\"=1]>\n"
    "  func.func public @main(%arg0: tensor<4x4xf32> {mhlo.sharding = \"{replicated}\", "
    "tf.aliasing_output = 1 : i32} loc(\"p['w']\"), %arg1: tensor<i32> {jax.buffer_donor = true}) "
    "-> (tensor<i32> {jax.result_info = \"result[0]\"}, tensor<4x4xf32>) {\n"
    "    %c = stablehlo.constant dense<0> : tensor<i32> loc(#loc2)\n"
    "    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, "
    "tensor<4x4xf32> attributes {mhlo.frontend_attributes = {}}\n"
    "    cond {\n"
    "      %c_1 = stablehlo.constant dense<10> : tensor<i32>\n"
    "      %3 = stablehlo.compare LT, %iterArg, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> "
    "tensor<i1>\n"
    "      stablehlo.return %3 : tensor<i1> loc(#loc)\n"
    "    } do {\n"
    "      %3 = func.call @body(%iterArg_0) : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
    "      %c_1 = stablehlo.constant dense<1> : tensor<i32>\n"
    "      %4 = stablehlo.add %iterArg, %c_1 : tensor<i32>\n"
    "      stablehlo.return %4, %3 : tensor<i32>, tensor<4x4xf32>\n"
    "    } loc(callsite(#loc1 at #loc))\n"
    "    // a branch takes values from around it\n"
    "    %1 = \"stablehlo.case\"(%arg1) ({\n"
    "      stablehlo.return %0#1 : tensor<4x4xf32>\n"
    "    }, {\n"
    "      %3 = stablehlo.negate %0#1 : tensor<4x4xf32>\n"
    "      stablehlo.return %3 : tensor<4x4xf32>\n"
    "    }) : (tensor<i32>) -> tensor<4x4xf32>\n"
    "    %values, %indices = chlo.top_k(%1, k = 4) : tensor<4x4xf32> -> (tensor<4x4xf32>, "
    "tensor<4x4xi32>)\n"
    "    %2 = chlo.square %values : tensor<4x4xf32> -> tensor<4x4xf32>\n"
    "    return %0#0, %2 : tensor<i32>, tensor<4x4xf32> loc(#loc)\n"
    "  } loc(#loc)\n"
    "  func.func private @body(%arg0: tensor<4x4xf32> loc(unknown)) -> tensor<4x4xf32> {\n"
    "    %0 = stablehlo.sine %arg0 : tensor<4x4xf32>\n"
    "    return %0 : tensor<4x4xf32>\n"
    "  } loc(#loc)\n"
    "} loc(#loc)\n"
    "#loc2 = loc(\"f.py\":5:22 to :30)\n";

static void test_jax(void **state)
{
    (void)state;
    sim_program *p = read_program(jax_text);
    const sim_block *body = &p->main->body;
    assert_string_equal(p->name, "jit_f");
    assert_string_equal(p->main->name, "main");
    assert_int_equal(p->function_count, 2);
    assert_int_equal(p->main->arguments[0].alias, 1);
    assert_false(p->main->arguments[0].donor);
    assert_int_equal(p->main->arguments[1].alias, -1);
    assert_true(p->main->arguments[1].donor);
    const sim_op *loop = &body->ops[1];
    assert_int_equal(loop->opcode, SIM_OP_WHILE);
    assert_int_equal(loop->line, 7);
    assert_int_equal(loop->region_count, 2);
    assert_int_equal(loop->regions[0].argument_count, 2);
    assert_int_not_equal(loop->regions[0].arguments[0], loop->regions[1].arguments[0]);
    assert_ptr_equal(loop->regions[1].ops[0].callee, &p->functions[1]);
    assert_int_equal(body->ops[2].opcode, SIM_OP_CASE);
    assert_int_equal(body->ops[2].regions[0].results[0], loop->results[1]);
    const sim_op *square = last_op(p);
    assert_int_equal(square->opcode, SIM_OP_MULTIPLY);
    assert_int_equal(square->operands[0], square->operands[1]);
    assert_int_equal(p->types[square->operands[0]].dtype, BN_F32);
    sim_program_free(p);
}

/* The generic form of everything. */
static void test_generic(void **state)
{
    (void)state;
    sim_program *p = read_program(
        "\"builtin.module\"() <{sym_name = \"m\"}> ({\n"
        "  \"func.func\"() <{arg_attrs = [{tf.aliasing_output = 0 : i32}], function_type = "
        "(tensor<2xf32>) -> tensor<2xf32>, sym_name = \"main\", sym_visibility = \"public\"}> ({\n"
        "  ^bb0(%arg0: tensor<2xf32>):\n"
        "    %0 = \"func.call\"(%arg0) <{callee = @g}> : (tensor<2xf32>) -> tensor<2xf32>\n"
        "    %1 = \"stablehlo.constant\"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> "
        "tensor<2xf32>\n"
        "    %2 = \"stablehlo.add\"(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n"
        "    \"func.return\"(%2) : (tensor<2xf32>) -> ()\n"
        "  }) : () -> ()\n"
        "  \"func.func\"() <{function_type = (tensor<2xf32>) -> (tensor<2xf32>), sym_name = "
        "\"g\", sym_visibility = \"private\"}> ({\n"
        "  ^bb0(%arg0: tensor<2xf32>):\n"
        "    \"func.return\"(%arg0) : (tensor<2xf32>) -> ()\n"
        "  }) : () -> ()\n"
        "}) {mhlo.num_replicas = 1 : i32} : () -> ()\n");
    assert_string_equal(p->name, "m");
    assert_int_equal(p->function_count, 2);
    assert_int_equal(p->main->arguments[0].alias, 0);
    assert_int_equal(p->main->body.ops[1].constant_bytes, 8);
    assert_ptr_equal(p->main->body.ops[0].callee, &p->functions[1]);
    sim_program_free(p);
}

/* Two operands of a reduction: pairs in the text, all first ones before all second ones in
 * the program. */
static void test_pairs(void **state)
{
    (void)state;
    sim_program *p = read_body(
        "%a: tensor<8xf32>, %b: tensor<8xi32>, %x: tensor<f32>, %y: tensor<i32>",
        "%0:2 = stablehlo.reduce(%a init: %x), (%b init: %y) across dimensions = [0] : "
        "(tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)\n"
        " reducer(%p: tensor<f32>, %q: tensor<f32>) (%s: tensor<i32>, %t: tensor<i32>)  {\n"
        "%m = stablehlo.maximum %p, %q : tensor<f32>\n%n = stablehlo.minimum %s, %t : "
        "tensor<i32>\nstablehlo.return %m, %n : tensor<f32>, tensor<i32>\n}\n"
        "%r = stablehlo.reshape %0#1 : (tensor<i32>) -> tensor<i32>",
        "tensor<i32>");
    const sim_op *op = &p->main->body.ops[0];
    const sim_block *region = &op->regions[0];
    assert_int_equal(op->operands[1], p->main->body.arguments[1]);
    assert_int_equal(op->operands[2], p->main->body.arguments[2]);
    assert_int_equal(p->types[region->arguments[1]].dtype, BN_S32);
    assert_int_equal(p->types[region->arguments[2]].dtype, BN_F32);
    assert_int_equal(region->ops[0].operands[1], region->arguments[2]);
    sim_program_free(p);
}

/* TEXT cut off anywhere is refused, not read past: a copy shows a sanitizer its end. */
static void check_cut_off(const char *text)
{
    sim_status st = {.code = SIM_OK};
    for (size_t length = 0; length < strlen(text); length++) {
        char *copy = malloc(length ? length : 1);
        sim_program *p = NULL;
        memcpy(copy, text, length);
        sim_code code = sim_program_read(copy, length, &p, &st);
        assert_true((code == SIM_OK) == (p != NULL));
        sim_program_free(p);
        free(copy);
    }
}

static void test_cut_off(void **state)
{
    (void)state;
    check_cut_off(jax_text);
    for (size_t i = 0; i < sizeof form_cases / sizeof *form_cases; i++)
        for (int f = 0; f < 3 && form_cases[i].forms[f]; f++) {
            char text[2048];
            snprintf(text, sizeof text, "func.func @main(%s) -> %s { %s", form_cases[i].arguments,
                     form_cases[i].type, form_cases[i].forms[f]);
            check_cut_off(text);
        }
}

/* ---- our own texts ---------------------------------------------------------------------- */

static void test_models(void **state)
{
    (void)state;
    model_case c;
    for (size_t i = 0; case_at(i, &c); i++)
        for (int train = 0; train < 2; train++) {
            tg_graph_cost cost;
            double norms;
            sim_program *p = step_program(
                c.info.name, (model_options){.small = c.small, .train = train}, &cost, &norms);
            assert_true(p->main->body.op_count >= cost.nodes);
            sim_program_free(p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),     cmocka_unit_test(test_elementwise),
        cmocka_unit_test(test_constants), cmocka_unit_test(test_jax),
        cmocka_unit_test(test_generic),   cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_cut_off),   cmocka_unit_test(test_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
