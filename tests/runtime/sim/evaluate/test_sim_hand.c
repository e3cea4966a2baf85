/*
 * test_sim_hand.c - the simulator's evaluator, op by op: small programs whose results
 * were worked out by hand from the StableHLO specification, and what is said of
 * programs that cannot be evaluated.
 */
#include "tests/support/sim_compare.h"
#include "tests/support/test_runtime.h"

#include <math.h>
#include <stdio.h>

/* ---- by hand ------------------------------------------------------------------------- */

#define MOST 24

/* @main of these lines gives %r; WANT are its elements (two for a complex one). */
typedef struct by_hand {
    const char *name, *type, *lines;
    int count;
    double want[MOST];
} by_hand;

#define UNARY_LINES(op, list, type)                                                                \
    DENSE("%x", list, type) "%r = stablehlo." op " %x : tensor<" type ">\n"
#define BINARY_LINES(op, left, right, type)                                                        \
    DENSE("%x", left, type)                                                                        \
    DENSE("%y", right, type) "%r = stablehlo." op " %x, %y : tensor<" type ">\n"

static const by_hand hands[] = {
    {"add wraps",
     "3xi8",
     BINARY_LINES("add", "[127, -128, 5]", "[1, -1, 6]", "3xi8"),
     3,
     {-128, 127, 11}},
    {"subtract wraps",
     "2xui32",
     BINARY_LINES("subtract", "[0, 7]", "[1, 3]", "2xui32"),
     2,
     {4294967295, 4}},
    {"multiply wraps",
     "2xi32",
     BINARY_LINES("multiply", "[65536, -3]", "[65536, 7]", "2xi32"),
     2,
     {0, -21}},
    {"divide",
     "5xi32",
     BINARY_LINES("divide", "[7, -7, 5, -2147483648, 0]", "[2, 2, 0, -1, 0]", "5xi32"),
     5,
     {3, -3, -1, -2147483648.0, -1}},
    {"divide unsigned",
     "2xui8",
     BINARY_LINES("divide", "[200, 9]", "[3, 0]", "2xui8"),
     2,
     {66, 255}},
    {"remainder",
     "5xi32",
     BINARY_LINES("remainder", "[7, -7, 5, -2147483648, 7]", "[3, 3, 0, -1, -3]", "5xi32"),
     5,
     {1, -1, 5, 0, 1}},
    {"remainder of floats",
     "3xf32",
     BINARY_LINES("remainder", "[5.5, -5.5, 3.0]", "[2.0, 2.0, -2.0]", "3xf32"),
     3,
     {1.5, -1.5, 1}},
    {"power",
     "5xi32",
     BINARY_LINES("power", "[2, -3, 2, -1, 1]", "[10, 3, -1, -3, -5]", "5xi32"),
     5,
     {1024, -27, 0, -1, 1}},
    {"maximum keeps NaN",
     "3xf32",
     BINARY_LINES("maximum", "[1.0, 0x7FC00000, 2.0]", "[3.0, 1.0, 0x7FC00000]", "3xf32"),
     3,
     {3, NAN, NAN}},
    {"minimum", "3xi8", BINARY_LINES("minimum", "[1, -5, 3]", "[2, 4, 3]", "3xi8"), 3, {1, -5, 3}},
    {"and of booleans",
     "4xi1",
     BINARY_LINES("and", "[true, true, false, false]", "[true, false, true, false]", "4xi1"),
     4,
     {1, 0, 0, 0}},
    {"add of booleans is or",
     "4xi1",
     BINARY_LINES("add", "[true, true, false, false]", "[true, false, true, false]", "4xi1"),
     4,
     {1, 1, 1, 0}},
    {"not", "2xi1", UNARY_LINES("not", "[true, false]", "2xi1"), 2, {0, 1}},
    {"not of bits", "2xui8", UNARY_LINES("not", "[0, 170]", "2xui8"), 2, {255, 85}},
    {"xor", "2xi32", BINARY_LINES("xor", "[12, -1]", "[10, 5]", "2xi32"), 2, {6, -6}},
    {"shift left",
     "4xi8",
     BINARY_LINES("shift_left", "[1, 3, 1, 1]", "[3, 7, 8, -1]", "4xi8"),
     4,
     {8, -128, 0, 0}},
    {"shift right, bits",
     "4xi8",
     BINARY_LINES("shift_right_logical", "[-128, -1, -1, 64]", "[7, 4, 8, 2]", "4xi8"),
     4,
     {1, 15, 0, 16}},
    {"shift right, sign",
     "4xi8",
     BINARY_LINES("shift_right_arithmetic", "[-128, -1, -9, 64]", "[7, 4, 100, 9]", "4xi8"),
     4,
     {-1, -1, -1, 0}},
    {"leading zeros",
     "3xi16",
     UNARY_LINES("count_leading_zeros", "[0, 1, -1]", "3xi16"),
     3,
     {16, 15, 0}},
    {"popcnt", "3xi8", UNARY_LINES("popcnt", "[0, 7, -1]", "3xi8"), 3, {0, 3, 8}},
    {"sign",
     "4xf32",
     UNARY_LINES("sign", "[-2.5, 0.0, 7.0, 0x7FC00000]", "4xf32"),
     4,
     {-1, 0, 1, NAN}},
    {"abs", "2xi32", UNARY_LINES("abs", "[-7, -2147483648]", "2xi32"), 2, {7, -2147483648.0}},
    {"round to even",
     "5xf32",
     UNARY_LINES("round_nearest_even", "[0.5, 1.5, 2.5, -0.5, 2.6]", "5xf32"),
     5,
     {0, 2, 2, 0, 3}},
    {"round away",
     "4xf32",
     UNARY_LINES("round_nearest_afz", "[0.5, 1.5, -2.5, 2.4]", "4xf32"),
     4,
     {1, 2, -3, 2}},
    {"bf16 rounds after each op",
     "2xbf16",
     BINARY_LINES("add", "[256.0, 1.0]", "[1.0, 0.00390625]", "2xbf16"),
     2,
     {256, 1}},
    {"f16 overflows",
     "2xf16",
     BINARY_LINES("add", "[65504.0, 2048.0]", "[32.0, 1.0]", "2xf16"),
     2,
     {INFINITY, 2048}},
    {"f16 has small numbers",
     "1xf16",
     BINARY_LINES("multiply", "[6.103515625e-05]", "[0.25]", "1xf16"),
     1,
     {0x1p-16}},
    {"complex product",
     "1xcomplex<f32>",
     BINARY_LINES("multiply", "[(1.0, 2.0)]", "[(3.0, -1.0)]", "1xcomplex<f32>"),
     2,
     {5, 5}},
    {"compare",
     "3xi1",
     DENSE("%x", "[1.0, 2.0, 0x7FC00000]", "3xf32")
         DENSE("%y", "[1.0, 1.0, 1.0]", "3xf32") "%r = stablehlo.compare LE, %x, %y : "
                                                 "(tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>\n",
     3,
     {1, 0, 0}},
    {"total order",
     "3xi1",
     DENSE("%x", "[-0.0, 0x7FC00000, 0xFFC00000]", "3xf32") DENSE(
         "%y", "[0.0, 0x7F800000, 0xFF800000]",
         "3xf32") "%r = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<3xf32>, tensor<3xf32>)"
                  " -> tensor<3xi1>\n",
     3,
     {1, 0, 1}},
    {"select by one",
     "2xi32",
     DENSE("%p", "false", "i1") DENSE("%x", "[1, 2]", "2xi32") DENSE(
         "%y", "[3, 4]", "2xi32") "%r = stablehlo.select %p, %x, %y : tensor<i1>, tensor<2xi32>\n",
     2,
     {3, 4}},
    {"clamp",
     "4xi32",
     DENSE("%a", "0", "i32") DENSE("%x", "[-5, 3, 9, 5]", "4xi32")
         DENSE("%b", "5",
               "i32") "%r = stablehlo.clamp %a, %x, %b : (tensor<i32>, tensor<4xi32>, tensor<i32>)"
                      " -> tensor<4xi32>\n",
     4,
     {0, 3, 5, 5}},
    {"convert holds the range",
     "4xi8",
     DENSE("%x", "[300.7, -300.0, 0x7FC00000, -2.9]",
           "4xf32") "%r = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi8>\n",
     4,
     {127, -128, 0, -2}},
    {"convert cuts bits",
     "3xi8",
     DENSE("%x", "[257, -129, 128]",
           "3xi32") "%r = stablehlo.convert %x : (tensor<3xi32>) -> tensor<3xi8>\n",
     3,
     {1, 127, -128}},
    {"convert rounds once",
     "2xbf16",
     /* In f32 the first would be half way, and go down to 1. */
     DENSE("%x", "[1.00390625000001, 1.0039062]",
           "2xf64") "%r = stablehlo.convert %x : (tensor<2xf64>) -> tensor<2xbf16>\n",
     2,
     {1.0078125, 1}},
    {"bitcast",
     "2xui32",
     DENSE("%x", "[1.0, -2.0]",
           "2xf32") "%r = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xui32>\n",
     2,
     {0x3f800000, 0xc0000000}},
    {"reduce_precision",
     "4xf32",
     DENSE("%x", "[1.1, 65520.0, 1.0e-9, -3.0]",
           "4xf32") "%r = stablehlo.reduce_precision %x, format = e5m2 : tensor<4xf32>\n",
     4,
     {1, INFINITY, 0, -3}},
    {"broadcast",
     "2x3xi32",
     DENSE("%x", "[[1], [2]]", "2x1xi32") "%r = stablehlo.broadcast_in_dim %x, dims = [0, 1] : "
                                          "(tensor<2x1xi32>) -> tensor<2x3xi32>\n",
     6,
     {1, 1, 1, 2, 2, 2}},
    {"transpose",
     "3x2xi32",
     DENSE("%x", "[[1, 2, 3], [4, 5, 6]]", "2x3xi32") "%r = stablehlo.transpose %x, dims = [1, 0] "
                                                      ": (tensor<2x3xi32>) -> tensor<3x2xi32>\n",
     6,
     {1, 4, 2, 5, 3, 6}},
    {"iota", "2x3xf32", "%r = stablehlo.iota dim = 1 : tensor<2x3xf32>\n", 6, {0, 1, 2, 0, 1, 2}},
    {"slice",
     "2xi32",
     DENSE("%x", "[0, 1, 2, 3, 4, 5]",
           "6xi32") "%r = stablehlo.slice %x [1:5:3] : (tensor<6xi32>) -> tensor<2xi32>\n",
     2,
     {1, 4}},
    {"pad cuts and spreads",
     "7xi32",
     DENSE("%x", "[1, 2, 3, 4]", "4xi32")
         DENSE("%v", "9", "i32") "%r = stablehlo.pad %x, %v, low = [-1], high = [1], interior = "
                                 "[1] : (tensor<4xi32>, "
                                 "tensor<i32>) -> tensor<7xi32>\n",
     7,
     {9, 2, 9, 3, 9, 4, 9}},
    {"reverse",
     "2x2xi32",
     DENSE("%x", "[[1, 2], [3, 4]]",
           "2x2xi32") "%r = stablehlo.reverse %x, dims = [1] : tensor<2x2xi32>\n",
     4,
     {2, 1, 4, 3}},
    {"concatenate",
     "2x3xi32",
     DENSE("%x", "[[1], [2]]", "2x1xi32")
         DENSE("%y", "[[3, 4], [5, 6]]", "2x2xi32") "%r = stablehlo.concatenate %x, %y, dim = 1 : "
                                                    "(tensor<2x1xi32>, tensor<2x2xi32>)"
                                                    " -> tensor<2x3xi32>\n",
     6,
     {1, 3, 4, 2, 5, 6}},
    {"dot",
     "2x2xi32",
     DENSE("%x", "[[1, 2, 3], [4, 5, 6]]", "2x3xi32")
         DENSE("%y", "[[1, 0], [0, 1], [2, 2]]",
               "3x2xi32") "%r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
                          "(tensor<2x3xi32>, "
                          "tensor<3x2xi32>) -> tensor<2x2xi32>\n",
     4,
     {7, 8, 16, 17}},
    {"dynamic slice is moved inside",
     "2xi32",
     DENSE("%x", "[0, 1, 2, 3]", "4xi32") DENSE(
         "%i", "7",
         "i32") "%r = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xi32>, tensor<i32>)"
                " -> tensor<2xi32>\n",
     2,
     {2, 3}},
    {"dynamic update slice is moved inside",
     "4xi32",
     DENSE("%x", "[0, 1, 2, 3]", "4xi32") DENSE("%u", "[8, 9]", "2xi32") DENSE(
         "%i", "-3",
         "i32") "%r = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xi32>, tensor<2xi32>, "
                "tensor<i32>) -> tensor<4xi32>\n",
     4,
     {8, 9, 2, 3}},
    {"reduce",
     "2xi32",
     DENSE("%x", "[[1, 2, 3], [4, 5, 6]]", "2x3xi32")
         DENSE("%z", "10", "i32") "%r = stablehlo.reduce(%x init: %z) applies stablehlo.add across "
                                  "dimensions = [1] : "
                                  "(tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>\n",
     2,
     {16, 25}},
    {"while",
     "i32",
     DENSE("%a", "0", "i32") DENSE("%b", "1", "i32") DENSE(
         "%n", "0",
         "i32") "%w:3 = stablehlo.while(%p = %n, %q = %a, %s = %b) : tensor<i32>, tensor<i32>, "
                "tensor<i32>\n"
                "cond { " DENSE("%l", "10",
                                "i32") "%c = stablehlo.compare LT, %p, %l : (tensor<i32>, "
                                       "tensor<i32>) -> tensor<i1>\n"
                                       "stablehlo.return %c : tensor<i1> } do {\n" DENSE(
                                           "%o", "1",
                                           "i32") "%p1 = stablehlo.add %p, %o : tensor<i32>\n"
                                                  "%s1 = stablehlo.add %q, %s : tensor<i32>\n"
                                                  "stablehlo.return %p1, %s, %s1 : tensor<i32>, "
                                                  "tensor<i32>, tensor<i32> }\n"
                                                  "%r = stablehlo.add %w#1, %a : tensor<i32>\n",
     1,
     {55}},
    {"case without a branch takes the last",
     "i32",
     DENSE("%i", "-1", "i32") "%r = \"stablehlo.case\"(%i) ({\n" DENSE(
         "%a", "1",
         "i32") "stablehlo.return %a : tensor<i32> }, {\n" DENSE("%b", "2",
                                                                 "i32") "stablehlo.return %b : "
                                                                        "tensor<i32> }) : "
                                                                        "(tensor<i32>) -> "
                                                                        "tensor<i32>\n",
     1,
     {2}},
    {"if",
     "i32",
     DENSE("%i", "true", "i1") "%r = \"stablehlo.if\"(%i) ({\n" DENSE(
         "%a", "1",
         "i32") "stablehlo.return %a : tensor<i32> }, {\n" DENSE("%b", "2",
                                                                 "i32") "stablehlo.return %b : "
                                                                        "tensor<i32> }) : "
                                                                        "(tensor<i1>) -> "
                                                                        "tensor<i32>\n",
     1,
     {1}},
};

static void assert_elements(const char *name, const sim_type *type, const void *bytes, int count,
                            const double *want)
{
    double got[2 * MOST];
    assert_true(sim_type_elements(type) <= MOST);
    assert_int_equal(sim_compare_decode(type, bytes, got), count);
    for (int i = 0; i < count; i++)
        if (isnan(want[i]) ? !isnan(got[i]) : got[i] != want[i])
            fail_msg("%s: element %d is %.17g, want %.17g", name, i, got[i], want[i]);
}

static void results_are_those_by_hand(void **state)
{
    for (size_t i = 0; i < sizeof hands / sizeof *hands; i++) {
        const by_hand *h = &hands[i];
        char text[4096];
        int length = snprintf(text, sizeof text,
                              "module @m {\nfunc.func @main() -> tensor<%s> {\n%sreturn %%r : "
                              "tensor<%s>\n}\n}\n",
                              h->type, h->lines, h->type);
        assert_in_range(length, 1, sizeof text - 1);
        sim_program *p = sim_compare_read(h->name, text, (size_t)length);
        const sim_block *body = &p->main->body;
        void **results = sim_compare_rooms(p, body->results, 1);
        sim_compare_evaluate(h->name, p, NULL, results);
        assert_elements(h->name, &p->types[body->results[0]], results[0], h->count, h->want);
        sim_compare_free(results, 1);
        sim_program_free(p);
    }
}

/* ---- refusals --------------------------------------------------------------------------- */

static void assert_refused(const char *text, sim_code code, const char *message)
{
    sim_program *p = sim_compare_read(message, text, strlen(text));
    sim_status st = {0};
    if (sim_program_can_evaluate(p, &st) != code || !strstr(st.message, message))
        fail_msg("got %d \"%s\", want \"%s\"", st.code, st.message, message);
    sim_program_free(p);
}

static void what_cannot_be_evaluated_is_named(void **state)
{
    assert_refused("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n\n"
                   "%r = stablehlo.custom_call @there(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
                   "return %r : tensor<4xf32>\n}\n",
                   SIM_UNIMPLEMENTED,
                   "line 3: custom_call: the simulator cannot evaluate a call of there");
    assert_refused("func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {\n"
                   "%r = stablehlo.custom_call @annotate_device_placement(%x) : (tensor<4xf32>) "
                   "-> tensor<2xf32>\nreturn %r : tensor<2xf32>\n}\n",
                   SIM_INVALID_ARGUMENT, "line 2: custom_call: result 0 has another type");
    assert_refused("func.func @main(%x: tensor<2xui64>) -> tensor<4xui32> {\n"
                   "%s, %r = stablehlo.rng_bit_generator %x, algorithm = PHILOX : "
                   "(tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)\n"
                   "return %r : tensor<4xui32>\n}\n",
                   SIM_UNIMPLEMENTED, "line 2: rng_bit_generator: the simulator cannot");
}

static void a_loop_without_end_is_stopped(void **state)
{
    static const char text[] =
        "func.func @main(%x: tensor<i32>) -> tensor<i32> {\n"
        "%w = stablehlo.while(%v = %x) : tensor<i32>\ncond {\n" DENSE(
            "%c", "true",
            "i1") "stablehlo.return %c : tensor<i1>\n} do {\nstablehlo.return %v : tensor<i32>\n}\n"
                  "return %w : tensor<i32>\n}\n";
    sim_program *p = sim_compare_read("loop", text, strlen(text));
    const int32_t x = 1;
    int32_t result = 0;
    const void *arguments[1] = {&x};
    void *results[1] = {&result};
    sim_status st = {0};
    assert_int_equal(sim_program_evaluate(p, arguments, results, 1e5, &st), SIM_DEADLINE_EXCEEDED);
    assert_non_null(strstr(st.message, "more than 1e+05 element operations"));
    sim_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_by_hand),
        cmocka_unit_test(what_cannot_be_evaluated_is_named),
        cmocka_unit_test(a_loop_without_end_is_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
