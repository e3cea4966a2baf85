/*
 * test_sim_refused.c - StableHLO text that the simulator refuses, what it then says, and
 * the ops that it reads as several.
 */
#include "tests/runtime/sim/program/sim_program_fixture.h"

static void check_refused(const char *text, size_t length, sim_code code, const char *message)
{
    sim_status st = {.code = SIM_OK};
    sim_program *p = (sim_program *)&st;
    assert_int_equal(sim_program_read(text, length, &p, &st), code);
    assert_null(p);
    if (!strstr(st.message, message))
        fail_msg("'%s' does not say '%s'", st.message, message);
}

/* BODY, whose first statement is line 3 of its text. */
static void check_body(const char *body, sim_code code, const char *message)
{
    char text[4096];
    int length = snprintf(text, sizeof text,
                          "module {\nfunc.func @main(%%a: " F32_2X3 ") -> " F32_2X3
                          " {\n%s\nreturn %%a : " F32_2X3 "\n}\n}\n",
                          body);
    check_refused(text, (size_t)length, code, message);
}

/* Ops that become several: the last of them gives the value, and no op of another name is
 * left in the program. */
static void test_expanded(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int ops;
        sim_opcode last;
    } cases[] = {
        {"%r = chlo.square %a : " F32_2X3 " -> " F32_2X3, 1, SIM_OP_MULTIPLY},
        {"%r = chlo.erfc %a : " F32_2X3 " -> " F32_2X3, 3, SIM_OP_SUBTRACT},
        {"%r = chlo.erf_inv %a : " F32_2X3 " -> " F32_2X3, 62, SIM_OP_SELECT},
        {"%r = \"stablehlo.batch_norm_inference\"(%a, %p, %p, %p, %p) {epsilon = 1.0e-05 : f32, "
         "feature_index = 1 : i64} : (" F32_2X3 ", tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, "
         "tensor<3xf32>) -> " F32_2X3,
         10, SIM_OP_ADD},
        {"%r, %m, %v = \"stablehlo.batch_norm_training\"(%a, %p, %p) {epsilon = 1.0e-05 : f32, "
         "feature_index = 1 : i64} : (" F32_2X3 ", tensor<3xf32>, tensor<3xf32>) -> (" F32_2X3
         ", tensor<3xf32>, tensor<3xf32>)",
         20, SIM_OP_ADD},
        {"%r:3 = \"stablehlo.batch_norm_grad\"(%a, %p, %p, %p, %a) {epsilon = 1.0e-05 : f32, "
         "feature_index = 1 : i64} : (" F32_2X3
         ", tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, " F32_2X3 ") -> (" F32_2X3
         ", tensor<3xf32>, tensor<3xf32>)\n%s = stablehlo.negate %r#2 : "
         "tensor<3xf32>",
         25, SIM_OP_NEGATE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        bool several = strstr(cases[i].body, "%r:3") != NULL;
        snprintf(text, sizeof text,
                 "func.func @main(%%a: " F32_2X3 ", %%p: tensor<3xf32>) -> " F32_2X3
                 " {\n%s\nreturn %s : " F32_2X3 "\n}",
                 cases[i].body, several ? "%r#0" : "%r");
        sim_program *p = read_program(text);
        assert_int_equal(p->main->body.op_count, cases[i].ops);
        assert_int_equal(last_op(p)->opcode, cases[i].last);
        for (int k = 0; k < p->main->body.op_count; k++)
            assert_int_equal(p->main->body.ops[k].line, several && k + 1 == cases[i].ops ? 3 : 2);
        sim_program_free(p);
    }
    check_body("%0 = stablehlo.convert %a : (" F32_2X3 ") -> tensor<2x3xf64>\n%1 = chlo.erf_inv "
               "%0 : tensor<2x3xf64> -> tensor<2x3xf64>",
               SIM_UNIMPLEMENTED, "4:6: chlo.erf_inv is simulated of f32");
    check_body("%0:2 = chlo.top_k(%a, k = 4) : " F32_2X3 " -> (tensor<2x4xf32>, tensor<2x4xi32>)",
               SIM_INVALID_ARGUMENT, "top_k: types do not fit");
}

static void test_refused(void **state)
{
    (void)state;
    const sim_code bad = SIM_INVALID_ARGUMENT, other = SIM_UNIMPLEMENTED;
    check_body("%0 = stablehlo.frobnicate %a : " F32_2X3, other,
               "3:6: op 'stablehlo.frobnicate' is not simulated");
    check_body("%0 = stablehlo.add %a, %b : " F32_2X3, bad, "3:24: %b is not defined here");
    check_body("%0 = stablehlo.add %a : " F32_2X3, bad, "3:6: add: 1 operands, not 2");
    check_body("%0 = stablehlo.add %a, %a : tensor<3xf32>", bad, "3:6: add: tensor<2x3xf32> where");
    check_body("%0 = stablehlo.add %a, %a", bad, "4:1: expected ':' and types, found 'return'");
    check_body("%a = stablehlo.add %a, %a : " F32_2X3, bad, "3:1: %a is defined twice");
    check_body("%0:2 = stablehlo.add %a, %a : " F32_2X3, bad, "2 results, but types of 1");
    check_body("%0:16777215 = stablehlo.add %a, %a : " F32_2X3, bad, "16777215 results");
    check_body("%0 = stablehlo.add %a#1, %a : " F32_2X3, bad, "%a has 1 results");
    check_body("%0 = stablehlo.negate %a : (tensor<3x2xf32>) -> tensor<3x2xf32>", bad,
               "3:29: operand 0 is tensor<2x3xf32>, not tensor<3x2xf32>");
    check_body("%0 = stablehlo.not %a : " F32_2X3, bad, "not: does not take tensor<2x3xf32>");
    check_body("%0 = stablehlo.constant dense<1.0> : tensor<?x3xf32>", other, "3:45: sizes");
    check_body("%0 = stablehlo.constant dense<1> : tensor<2xi4>", other, "element type 'i4'");
    check_body("%0 = stablehlo.constant dense<300> : tensor<ui8>", bad, "fits the type");
    check_body("%0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>", bad,
               "3:36: expected lists");
    check_body("%0 = stablehlo.constant dense<[1, 2, 3]> : tensor<2xi32>", bad, "expected lists");
    check_body("%0 = stablehlo.constant dense<[1, 2]> : tensor<99999999xi32>", bad, "fewer than");
    check_body("%0 = stablehlo.constant dense<1> : tensor<4611686018427387904x4xi32>", bad,
               "2^62 bytes");
    check_body("%0 = stablehlo.constant dense<1> : tensor<99999999999999999999xi32>", bad,
               "63 bits");
    check_body("%0 = stablehlo.constant dense_resource<x> : tensor<2xi32>", other, "outside");
    check_body("%0 = stablehlo.transpose %a, dims = [0, 0] : (" F32_2X3 ") -> " F32_2X3, bad,
               "not a permutation");
    check_body("%0 = stablehlo.transpose %a : (" F32_2X3 ") -> " F32_2X3, bad, "no attribute");
    check_body("%0 = stablehlo.reshape %a : (" F32_2X3 ") -> tensor<7xf32>", bad, "differ");
    check_body("%0 = stablehlo.slice %a [0:3, 0:3] : (" F32_2X3 ") -> tensor<3x3xf32>", bad,
               "range 0:3:1 of size 2");
    check_body("%0 = stablehlo.iota dim = 2 : tensor<2x2xi32>", bad, "dimension 2 of rank 2");
    check_body("%0 = stablehlo.tuple %a : tuple<" F32_2X3 ">", other, "type 'tuple'");
    check_body("%0 = call @g(%a) : (" F32_2X3 ") -> " F32_2X3, bad, "@g, which is missing");
    check_body("%0 = call @main(%a) : (" F32_2X3 ") -> " F32_2X3, other, "for ever");
    check_body("%0 = call @main(%a) : (" F32_2X3 ") -> tensor<f32>", bad, "other types");
    check_body("%0 = \"stablehlo.if\"(%a) ({}, {}) : (" F32_2X3 ") -> " F32_2X3, bad,
               "expected an op or return");
}

static void test_refused_modules(void **state)
{
    (void)state;
#define REFUSED(text, code, message) check_refused(text, sizeof(text) - 1, code, message)
    REFUSED("", SIM_INVALID_ARGUMENT, "1:1: expected a module, but the text ends");
    REFUSED("\0\xff{", SIM_INVALID_ARGUMENT, "1:1: ");
    REFUSED("\"builtin.module\"() {arg_attrs = [{}, {}]} ()", SIM_INVALID_ARGUMENT,
            "expected '{' of the body");
    REFUSED("HloModule f", SIM_INVALID_ARGUMENT, "expected func.func, found 'HloModule'");
    REFUSED("module {", SIM_INVALID_ARGUMENT, "text ends");
    REFUSED("module {\n}", SIM_INVALID_ARGUMENT, "no function @main");
    REFUSED("module {} module {}", SIM_INVALID_ARGUMENT, "1:11: expected the end of the text");
    REFUSED("func.func private @f(tensor<f32>)", SIM_INVALID_ARGUMENT, "an argument");
    REFUSED("func.func private @f()", SIM_UNIMPLEMENTED, "without a body");
    REFUSED("func.func @f() { return }\nfunc.func @f() { return }", SIM_INVALID_ARGUMENT,
            "two functions are called @f");
    REFUSED("func.func @f() -> tensor<f32> { return }", SIM_INVALID_ARGUMENT, "returns 0 values");
    REFUSED("func.func @f(%a: tensor<f32> {tf.aliasing_output = 0 : i32}) { return }",
            SIM_INVALID_ARGUMENT, "gives its memory to result 0");
    REFUSED("\"unclosed", SIM_INVALID_ARGUMENT, "1:1");
    REFUSED("module @\"a\x01\"\n (", SIM_INVALID_ARGUMENT, "2:2: expected '{' of the module");
    REFUSED("module @\"a\n\" {}", SIM_INVALID_ARGUMENT, "1:8: expected '{' of the module");
    REFUSED("\x01", SIM_INVALID_ARGUMENT, "found '?'"); /* messages are one line of text */
#undef REFUSED
}

/* Depth is bounded, however the text nests. */
static void test_depth(void **state)
{
    (void)state;
    bn_text text = {0};
    bn_text_puts(&text, "func.func @main(%a: tensor<i32>) {\n");
    for (int i = 0; i < 100000; i++)
        bn_text_puts(&text, "\"stablehlo.case\"(%a) ({\n");
    check_refused(text.data, strlen(text.data), SIM_UNIMPLEMENTED, "regions deeper than");
    bn_text_free(&text);
    text = (bn_text){0};
    bn_text_puts(&text, "func.func @main() { %0 = stablehlo.constant dense<");
    for (int i = 0; i < 100000; i++)
        bn_text_putc(&text, '[');
    bn_text_puts(&text, "> : tensor<2xf32>");
    check_refused(text.data, strlen(text.data), SIM_INVALID_ARGUMENT, "");
    bn_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expanded),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_modules),
        cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
