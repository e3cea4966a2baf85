/*
 * test_sim_evaluate.c - the simulator's evaluator against the default runtime: ops
 * by type on made-up numbers, and texts of ops with regions, windows and places.
 */
#include "tests/support/device_fixture.h"
#include "tests/support/evaluator.h"
#include "tests/support/sim_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- against the runtime ---------------------------------------------------------------- */

/* Numbers for arguments: integers of LOW..HIGH (all bits with both 0), floats of -3..3. */
typedef struct filling {
    int64_t low, high;
    uint64_t state;
} filling;

/* Steele et al., Fast Splittable Pseudorandom Number Generators, 2014. */
static uint64_t next_bits(filling *f)
{
    uint64_t z = f->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double next_float(filling *f)
{
    return ((double)(next_bits(f) >> 11) * 0x1p-53 - 0.5) * 6;
}

static void fill_integers(filling *f, size_t bytes, char *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t value = next_bits(f);
        if (f->low || f->high)
            value = (uint64_t)f->low + value % (uint64_t)(f->high - f->low + 1);
        else if (value % 8 == 0) /* special ones, more often than chance has them */
            value = value >> 60 & 1 ? value >> 56 & 3 : UINT64_MAX << (bytes * 8 - 1);
        memcpy(to + (size_t)i * bytes, &value, bytes);
    }
}

static void fill_argument(filling *f, const sim_type *type, void *to)
{
    const size_t bytes = bn_dtype_bytes(type->dtype);
    const int64_t n = sim_type_elements(type);
    for (int64_t i = 0; i < n; i++) {
        if (type->dtype == BN_PRED)
            ((uint8_t *)to)[i] = next_bits(f) & 1;
        else if (type->dtype == BN_F32)
            ((float *)to)[i] = (float)next_float(f);
        else if (type->dtype == BN_F64)
            ((double *)to)[i] = next_float(f);
        else if (type->dtype == BN_F16 || type->dtype == BN_BF16)
            evaluator_pack(type->dtype == BN_F16 ? TG_F16 : TG_BF16, &(double){next_float(f)},
                           (uint16_t *)to + i, 1);
        else if (type->dtype == BN_C64)
            ((float *)to)[2 * i] = (float)next_float(f), ((float *)to)[2 * i + 1] = 0.7f;
        else if (type->dtype == BN_C128)
            ((double *)to)[2 * i] = next_float(f), ((double *)to)[2 * i + 1] = -0.7;
    }
    if (bn_dtype_class(type->dtype) == BN_SIGNED || bn_dtype_class(type->dtype) == BN_UNSIGNED)
        fill_integers(f, bytes, to, n);
}

/* Runs a module's TEXT on both sides with arguments made up. */
static void compare_text(const char *name, const char *text, int64_t low, int64_t high,
                         double factor)
{
    filling f = {low, high, 7};
    sim_program *p = sim_compare_read(name, text, strlen(text));
    const sim_block *body = &p->main->body;
    void **arguments = sim_compare_rooms(p, body->arguments, body->argument_count);
    for (int i = 0; i < body->argument_count; i++)
        fill_argument(&f, &p->types[body->arguments[i]], arguments[i]);
    sim_compare_run(client, name, text, strlen(text), arguments, factor);
    sim_compare_free(arguments, body->argument_count);
    sim_program_free(p);
}

/* Each op of OPS on two arguments (the first with UNARY) of N elements of TYPE. */
static void compare_ops(const char *const *ops, bool unary, const char *type, double factor)
{
    bn_text text = {0}, results = {0}, types = {0};
    bn_text_printf(&text, "func.func @main(%%x: tensor<200x%s>, %%y: tensor<200x%s>) -> (", type,
                   type);
    for (size_t i = 0; ops[i]; i++) {
        bn_text_printf(&results, "%s%%r%zu", i ? ", " : "", i);
        bn_text_printf(&types, "%stensor<200x%s>", i ? ", " : "", type);
    }
    bn_text_printf(&text, "%s) {\n", types.data);
    for (size_t i = 0; ops[i]; i++)
        bn_text_printf(&text, "%%r%zu = stablehlo.%s %%x%s : tensor<200x%s>\n", i, ops[i],
                       unary ? "" : ", %y", type);
    bn_text_printf(&text, "return %s : %s\n}\n", results.data, types.data);
    compare_text(type, text.data, 0, 0, factor);
    bn_text_free(&text);
    bn_text_free(&results);
    bn_text_free(&types);
}

static void integers_are_as_on_the_device(void **state)
{
    static const char *const types[] = {"i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"};
    static const char *const binary[] = {"add",
                                         "subtract",
                                         "multiply",
                                         "divide",
                                         "remainder",
                                         "maximum",
                                         "minimum",
                                         "and",
                                         "or",
                                         "xor",
                                         "shift_left",
                                         "shift_right_logical",
                                         "shift_right_arithmetic",
                                         NULL};
    static const char *const unary[] = {"not", "popcnt", "count_leading_zeros", NULL};
    static const char *const of_signed[] = {"abs", "negate", "sign", NULL};
    static const char *const booleans[] = {"add", "multiply", "maximum", "minimum",
                                           "and", "or",       "xor",     NULL};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        compare_ops(binary, false, types[i], 0);
        compare_ops(unary, true, types[i], 0);
        if (types[i][0] == 'i')
            compare_ops(of_signed, true, types[i], 0);
    }
    compare_ops(booleans, false, "i1", 0);
    static const char *const powers =
        "func.func @main(%x: tensor<200xi32>, %y: tensor<200xi32>) -> tensor<200xi32> {\n"
        "%r = stablehlo.power %x, %y : tensor<200xi32>\nreturn %r : tensor<200xi32>\n}\n";
    compare_text("powers", powers, -3, 9, 0);
}

static void floats_are_as_on_the_device(void **state)
{
    static const char *const types[] = {"f16", "bf16", "f32", "f64"};
    static const char *const binary[] = {"add",     "subtract", "multiply", "divide", "remainder",
                                         "maximum", "minimum",  "power",    "atan2",  NULL};
    static const char *const unary[] = {"abs",
                                        "negate",
                                        "sign",
                                        "cbrt",
                                        "ceil",
                                        "floor",
                                        "round_nearest_afz",
                                        "round_nearest_even",
                                        "cosine",
                                        "sine",
                                        "tan",
                                        "tanh",
                                        "exponential",
                                        "exponential_minus_one",
                                        "log",
                                        "log_plus_one",
                                        "logistic",
                                        "sqrt",
                                        "rsqrt",
                                        NULL};
    static const char *const complexes[] = {"add", "subtract", "multiply", "divide", "power", NULL};
    static const char *const complex[] = {"negate",
                                          "sign",
                                          "cosine",
                                          "sine",
                                          "tanh",
                                          "exponential",
                                          "exponential_minus_one",
                                          "log",
                                          "log_plus_one",
                                          "logistic",
                                          "sqrt",
                                          "rsqrt",
                                          NULL};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        compare_ops(binary, false, types[i], 2);
        compare_ops(unary, true, types[i], 2);
    }
    compare_ops(complexes, false, "complex<f32>", 2);
    compare_ops(complex, true, "complex<f32>", 2);
    compare_ops(complexes, false, "complex<f64>", 100);
    compare_ops(complex, true, "complex<f64>", 100);
}

static void conversions_are_as_on_the_device(void **state)
{
    static const char *const types[] = {"i1",   "i8",   "i16", "i32",  "i64", "ui8", "ui16",
                                        "ui32", "ui64", "f16", "bf16", "f32", "f64"};
    const size_t n = sizeof types / sizeof *types;
    for (size_t from = 0; from < n; from++) {
        bn_text text = {0}, results = {0}, names = {0};
        for (size_t to = 0; to < n; to++) {
            bn_text_printf(&results, "%stensor<50x%s>", to ? ", " : "", types[to]);
            bn_text_printf(&names, "%s%%r%zu", to ? ", " : "", to);
        }
        bn_text_printf(&text, "func.func @main(%%x: tensor<50x%s>) -> (%s) {\n", types[from],
                       results.data);
        for (size_t to = 0; to < n; to++)
            bn_text_printf(&text,
                           "%%r%zu = stablehlo.convert %%x : (tensor<50x%s>) -> tensor<50x%s>\n",
                           to, types[from], types[to]);
        bn_text_printf(&text, "return %s : %s\n}\n", names.data, results.data);
        compare_text(types[from], text.data, 0, 0, 0);
        bn_text_free(&text);
        bn_text_free(&results);
        bn_text_free(&names);
    }
}

/* ---- texts ------------------------------------------------------------------------------- */

typedef struct shown {
    const char *name;
    int64_t low, high; /* of integer arguments */
    const char *text;
} shown;

/* One op of two scalars. */
#define REGION(op, T)                                                                              \
    "{\n^bb0(%a: tensor<" T ">, %b: tensor<" T ">):\n"                                             \
    "%s = stablehlo." op " %a, %b : tensor<" T ">\nstablehlo.return %s : tensor<" T ">\n}"

static const shown texts[] = {
    {"comparisons", -2, 2,
     "func.func @main(%x: tensor<40xf32>, %y: tensor<40xf32>, %u: tensor<40xui8>, %v: "
     "tensor<40xui8>, %s: tensor<40xi64>, %t: tensor<40xi64>) -> (tensor<40xi1>, tensor<40xi1>, "
     "tensor<40xi1>, tensor<40xi1>, tensor<40xi1>, tensor<40xi1>) {\n"
     "%0 = stablehlo.compare GT, %x, %y : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xi1>\n"
     "%1 = stablehlo.compare LE, %x, %y, TOTALORDER : (tensor<40xf32>, tensor<40xf32>) -> "
     "tensor<40xi1>\n"
     "%2 = stablehlo.compare LT, %u, %v, UNSIGNED : (tensor<40xui8>, tensor<40xui8>) -> "
     "tensor<40xi1>\n"
     "%3 = stablehlo.compare EQ, %s, %t, SIGNED : (tensor<40xi64>, tensor<40xi64>) -> "
     "tensor<40xi1>\n"
     "%4 = stablehlo.compare NE, %s, %t : (tensor<40xi64>, tensor<40xi64>) -> tensor<40xi1>\n"
     "%5 = stablehlo.compare GE, %0, %1 : (tensor<40xi1>, tensor<40xi1>) -> tensor<40xi1>\n"
     "return %0, %1, %2, %3, %4, %5 : tensor<40xi1>, tensor<40xi1>, tensor<40xi1>, "
     "tensor<40xi1>, tensor<40xi1>, tensor<40xi1>\n}\n"},
    {"random words", 0, 0,
     "func.func @main(%k: tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>, tensor<2xui64>, "
     "tensor<3x4x5xui32>, tensor<2xui64>, tensor<7xui64>, tensor<2xui64>, tensor<ui32>, "
     "tensor<2xui64>, tensor<6x3xi32>) {\n"
#define DRAW(state, into, type)                                                                    \
    into ", " into "b = stablehlo.rng_bit_generator " state                                        \
         ", algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<" type ">)\n"
     DRAW("%k", "%a", "3x5xui32") DRAW("%a", "%c", "3x4x5xui32") DRAW("%c", "%d", "7xui64")
         DRAW("%d", "%e", "ui32")
             DRAW("%e", "%f", "6x3xi32") "return %a, %ab, %c, %cb, %d, %db, %e, %eb, %f, %fb : "
                                         "tensor<2xui64>, tensor<3x5xui32>, "
                                         "tensor<2xui64>, tensor<3x4x5xui32>, tensor<2xui64>, "
                                         "tensor<7xui64>, tensor<2xui64>, "
                                         "tensor<ui32>, tensor<2xui64>, tensor<6x3xi32>\n}\n"},
    {"greatest and its place", 0, 9,
     "func.func @main(%x: tensor<4x50xf32>, %n: tensor<4x50xi32>) -> (tensor<4xf32>, "
     "tensor<4xi32>) {\n" DENSE("%l", "0xFF800000", "f32") DENSE(
         "%z", "0",
         "i32") "%r:2 = \"stablehlo.reduce\"(%x, %n, %l, %z) ({\n"
                "^bb0(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>):\n"
                "%g = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
                "%m = stablehlo.select %g, %a, %b : tensor<i1>, tensor<f32>\n"
                "%k = stablehlo.select %g, %i, %j : tensor<i1>, tensor<i32>\n"
                "stablehlo.return %m, %k : tensor<f32>, tensor<i32>\n"
                "}) {dimensions = array<i64: 1>} : (tensor<4x50xf32>, tensor<4x50xi32>, "
                "tensor<f32>, "
                "tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)\n"
                "return %r#0, %r#1 : tensor<4xf32>, tensor<4xi32>\n}\n"},
    {"sums and products over every axis", 1, 3,
     "func.func @main(%x: tensor<3x700x5xf32>, %y: tensor<2x3x4xi32>) -> (tensor<3x5xf32>, "
     "tensor<700xf32>, tensor<f32>, tensor<2x4xi32>, tensor<3x700x5xf32>) {\n" DENSE("%z", "0.0",
                                                                                     "f32")
         DENSE("%o", "1",
               "i32") "%0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions "
                      "= [1] : "
                      "(tensor<3x700x5xf32>, tensor<f32>) -> tensor<3x5xf32>\n"
                      "%1 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across "
                      "dimensions = [0, 2] : "
                      "(tensor<3x700x5xf32>, tensor<f32>) -> tensor<700xf32>\n"
                      "%2 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions "
                      "= [0, 1, 2] : "
                      "(tensor<3x700x5xf32>, tensor<f32>) -> tensor<f32>\n"
                      "%3 = stablehlo.reduce(%y init: %o) applies stablehlo.multiply across "
                      "dimensions = [1] : "
                      "(tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x4xi32>\n"
                      "%4 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions "
                      "= [] : "
                      "(tensor<3x700x5xf32>, tensor<f32>) -> tensor<3x700x5xf32>\n"
                      "return %0, %1, %2, %3, %4 : tensor<3x5xf32>, tensor<700xf32>, tensor<f32>, "
                      "tensor<2x4xi32>, tensor<3x700x5xf32>\n}\n"},
    {"sorts", -3, 3,
     "func.func @main(%x: tensor<5x33xf32>, %n: tensor<5x33xi32>) -> (tensor<5x33xf32>, "
     "tensor<5x33xi32>, tensor<5x33xi32>) {\n"
     "%r:2 = \"stablehlo.sort\"(%x, %n) ({\n"
     "^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):\n"
     "%e = stablehlo.compare EQ, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "%f = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
     "%g = stablehlo.compare LT, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "%s = stablehlo.select %e, %f, %g : tensor<i1>, tensor<i1>\n"
     "stablehlo.return %s : tensor<i1>\n}) {dimension = 1 : i64, is_stable = true} : "
     "(tensor<5x33xf32>, tensor<5x33xi32>) -> (tensor<5x33xf32>, tensor<5x33xi32>)\n"
     "%q = \"stablehlo.sort\"(%n) ({\n^bb0(%a: tensor<i32>, %b: tensor<i32>):\n"
     "%g = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "stablehlo.return %g : tensor<i1>\n}) {dimension = 0 : i64, is_stable = false} : "
     "(tensor<5x33xi32>) -> tensor<5x33xi32>\n"
     "return %r#0, %r#1, %q : tensor<5x33xf32>, tensor<5x33xi32>, tensor<5x33xi32>\n}\n"},
    {"gather with batches", -1, 8,
     "func.func @main(%x: tensor<3x6x7xf32>, %i: tensor<3x4x1xi32>, %j: tensor<2x5xi64>) -> "
     "(tensor<3x4x2x7xf32>, tensor<5x6x2xf32>) {\n"
     "%0 = \"stablehlo.gather\"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2, "
     "3], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], "
     "index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 7>, indices_are_sorted = false} : "
     "(tensor<3x6x7xf32>, tensor<3x4x1xi32>) -> tensor<3x4x2x7xf32>\n"
     "%1 = \"stablehlo.gather\"(%x, %j) {dimension_numbers = #stablehlo.gather<offset_dims = [1, "
     "2], collapsed_slice_dims = [0], start_index_map = [2, 0], index_vector_dim = 0>, "
     "slice_sizes = array<i64: 1, 6, 2>, indices_are_sorted = false} : (tensor<3x6x7xf32>, "
     "tensor<2x5xi64>) -> tensor<5x6x2xf32>\n"
     "return %0, %1 : tensor<3x4x2x7xf32>, tensor<5x6x2xf32>\n}\n"},
    {"scatters", -1, 8,
     "func.func @main(%x: tensor<3x6x7xf32>, %i: tensor<3x4x1xi32>, %u: tensor<3x4x7xf32>, %n: "
     "tensor<9xi32>, %j: tensor<12x1xi32>, %v: tensor<12xi32>, %h: tensor<9xf32>, %w: "
     "tensor<12xf32>) -> (tensor<3x6x7xf32>, tensor<9xi32>, tensor<9xi32>, tensor<9xf32>) {\n"
     "%0 = \"stablehlo.scatter\"(%x, %i, %u) (" REGION(
         "add",
         "f32") ") {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], "
                "inserted_window_dims = [1], input_batching_dims = [0], "
                "scatter_indices_batching_dims = "
                "[0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>} : "
                "(tensor<3x6x7xf32>, "
                "tensor<3x4x1xi32>, tensor<3x4x7xf32>) -> tensor<3x6x7xf32>\n"
                "%1 = \"stablehlo.scatter\"(%n, %j, %v) ({\n^bb0(%a: tensor<i32>, %b: "
                "tensor<i32>):\n"
                "stablehlo.return %b : tensor<i32>\n}) {scatter_dimension_numbers = "
                "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = "
                "[0], "
                "index_vector_dim = 1>} : (tensor<9xi32>, tensor<12x1xi32>, tensor<12xi32>) -> "
                "tensor<9xi32>\n"
                "%2:2 = \"stablehlo.scatter\"(%n, %h, %j, %v, %w) ({\n^bb0(%a: tensor<i32>, %b: "
                "tensor<f32>, %c: tensor<i32>, %d: tensor<f32>):\n"
                "%e = stablehlo.multiply %a, %c : tensor<i32>\n"
                "%f = stablehlo.subtract %b, %d : tensor<f32>\n"
                "stablehlo.return %e, %f : tensor<i32>, tensor<f32>\n}) {scatter_dimension_numbers "
                "= "
                "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = "
                "[0], "
                "index_vector_dim = 1>} : (tensor<9xi32>, tensor<9xf32>, tensor<12x1xi32>, "
                "tensor<12xi32>, "
                "tensor<12xf32>) -> (tensor<9xi32>, tensor<9xf32>)\n"
                "return %0, %1, %2#0, %2#1 : tensor<3x6x7xf32>, tensor<9xi32>, tensor<9xi32>, "
                "tensor<9xf32>\n}\n"},
    {"windows", -9, 9,
     "func.func @main(%x: tensor<2x9x8x3xf32>, %n: tensor<11xi32>, %d: tensor<2x4x4x3xf32>) -> "
     "(tensor<2x5x4x3xf32>, tensor<11xi32>, tensor<9xi32>, tensor<2x9x8x3xf32>) {\n" DENSE(
         "%l", "0xFF800000", "f32") DENSE("%f", "0.0", "f32")
         DENSE("%z", "0", "i32") "%0 = \"stablehlo.reduce_window\"(%x, %l) (" REGION(
             "maximum",
             "f32") ") {window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, "
                    "2, 2, 1>, "
                    "padding = dense<[[0, 0], [1, 1], [0, 0], [0, 0]]> : tensor<4x2xi64>} : "
                    "(tensor<2x9x8x3xf32>, tensor<f32>) -> tensor<2x5x4x3xf32>\n"
                    "%1 = \"stablehlo.reduce_window\"(%n, %z) (" REGION(
                        "add", "i32") ") {window_dimensions = array<i64: 11>, padding = "
                                      "dense<[[10, 0]]> : tensor<1x2xi64>} : "
                                      "(tensor<11xi32>, tensor<i32>) -> tensor<11xi32>\n"
                                      "%2 = \"stablehlo.reduce_window\"(%n, %z) ({\n^bb0(%a: "
                                      "tensor<i32>, %b: tensor<i32>):\n"
                                      "%s = stablehlo.add %b, %a : tensor<i32>\n%t = "
                                      "stablehlo.maximum %s, %a : tensor<i32>\n"
                                      "stablehlo.return %t : tensor<i32>\n}) {window_dimensions = "
                                      "array<i64: 3>, window_strides = "
                                      "array<i64: 2>, base_dilations = array<i64: 2>, "
                                      "window_dilations = array<i64: 2>, padding = "
                                      "dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<11xi32>, "
                                      "tensor<i32>) -> tensor<9xi32>\n"
                                      "%3 = \"stablehlo.select_and_scatter\"(%x, %d, %f) ({\n"
                                      "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
                                      "%g = stablehlo.compare GE, %a, %b : (tensor<f32>, "
                                      "tensor<f32>) -> tensor<i1>\n"
                                      "stablehlo.return %g : tensor<i1>\n}, " REGION(
                                          "add",
                                          "f32") ") {window_dimensions = array<i64: 1, 3, 2, 1>, "
                                                 "window_strides = array<i64: 1, 2, 2, 1>, "
                                                 "padding = dense<0> : tensor<4x2xi64>} : "
                                                 "(tensor<2x9x8x3xf32>, tensor<2x4x4x3xf32>, "
                                                 "tensor<f32>) -> tensor<2x9x8x3xf32>\n"
                                                 "return %0, %1, %2, %3 : tensor<2x5x4x3xf32>, "
                                                 "tensor<11xi32>, tensor<9xi32>, "
                                                 "tensor<2x9x8x3xf32>\n}\n"},
    {"convolutions", 0, 0,
     "func.func @main(%x: tensor<4x9x8x6xf32>, %k: tensor<3x2x3x10xf32>, %d: tensor<3x3x1x6xf32>, "
     "%b: tensor<2x2x6x10xf32>) -> (tensor<4x5x9x10xf32>, tensor<4x7x6x6xf32>, "
     "tensor<2x8x7x10xf32>) {\n"
     "%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
     "window = {stride = [2, 1], pad = [[1, 1], [2, 0]], rhs_dilate = [1, 1], reverse = [true, "
     "false]} {feature_group_count = 2 : i64, batch_group_count = 1 : i64} : "
     "(tensor<4x9x8x6xf32>, tensor<3x2x3x10xf32>) -> tensor<4x5x9x10xf32>\n"
     "%1 = stablehlo.convolution(%x, %d) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
     "window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {feature_group_count = 6 : i64, "
     "batch_group_count = 1 : i64} : (tensor<4x9x8x6xf32>, tensor<3x3x1x6xf32>) -> "
     "tensor<4x7x6x6xf32>\n"
     "%2 = stablehlo.convolution(%x, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
     "window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {feature_group_count = 1 : i64, "
     "batch_group_count = 2 : i64} : (tensor<4x9x8x6xf32>, tensor<2x2x6x10xf32>) -> "
     "tensor<2x8x7x10xf32>\n"
     "return %0, %1, %2 : tensor<4x5x9x10xf32>, tensor<4x7x6x6xf32>, tensor<2x8x7x10xf32>\n}\n"},
    {"products", -50, 50,
     "func.func @main(%x: tensor<3x5x40xf32>, %y: tensor<40x3x37xf32>, %h: tensor<7x64xbf16>, %g: "
     "tensor<64x5xbf16>, %n: tensor<4x6xi8>, %m: tensor<6x3xi8>) -> (tensor<3x5x37xf32>, "
     "tensor<7x5xbf16>, tensor<7x5xf32>, tensor<4x3xi32>) {\n"
     "%0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [1], contracting_dims = [2] x [0] : "
     "(tensor<3x5x40xf32>, tensor<40x3x37xf32>) -> tensor<3x5x37xf32>\n"
     "%1 = stablehlo.dot_general %h, %g, contracting_dims = [1] x [0] : (tensor<7x64xbf16>, "
     "tensor<64x5xbf16>) -> tensor<7x5xbf16>\n"
     "%2 = stablehlo.dot_general %h, %g, contracting_dims = [1] x [0] : (tensor<7x64xbf16>, "
     "tensor<64x5xbf16>) -> tensor<7x5xf32>\n"
     "%3 = stablehlo.dot_general %n, %m, contracting_dims = [1] x [0] : (tensor<4x6xi8>, "
     "tensor<6x3xi8>) -> tensor<4x3xi32>\n"
     "return %0, %1, %2, %3 : tensor<3x5x37xf32>, tensor<7x5xbf16>, tensor<7x5xf32>, "
     "tensor<4x3xi32>\n}\n"},
    {"a loop within a loop, and a call", 3, 6,
     "module @m {\nfunc.func private @twice(%v: tensor<4xf32>) -> tensor<4xf32> {\n"
     "%r = stablehlo.add %v, %v : tensor<4xf32>\nreturn %r : tensor<4xf32>\n}\n"
     "func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) "
     "{\n" DENSE("%z", "0", "i32") DENSE(
         "%o", "1",
         "i32") "%w:2 = stablehlo.while(%v = %x, %i = %z) : tensor<4xf32>, tensor<i32>\ncond {\n"
                "%c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
                "stablehlo.return %c : tensor<i1>\n} do {\n"
                "%q:2 = stablehlo.while(%u = %v, %j = %z) : tensor<4xf32>, tensor<i32>\ncond {\n"
                "%d = stablehlo.compare LT, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
                "stablehlo.return %d : tensor<i1>\n} do {\n"
                "%t = func.call @twice(%u) : (tensor<4xf32>) -> tensor<4xf32>\n"
                "%s = stablehlo.add %t, %x : tensor<4xf32>\n%k = stablehlo.add %j, %o : "
                "tensor<i32>\n"
                "stablehlo.return %s, %k : tensor<4xf32>, tensor<i32>\n}\n"
                "%l = stablehlo.add %i, %o : tensor<i32>\n"
                "stablehlo.return %q#0, %l : tensor<4xf32>, tensor<i32>\n}\n"
                "return %w#0, %w#1 : tensor<4xf32>, tensor<i32>\n}\n}\n"},
};

static void texts_are_as_on_the_device(void **state)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        compare_text(texts[i].name, texts[i].text, texts[i].low, texts[i].high, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_as_on_the_device),
        cmocka_unit_test(floats_are_as_on_the_device),
        cmocka_unit_test(conversions_are_as_on_the_device),
        cmocka_unit_test(texts_are_as_on_the_device),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
