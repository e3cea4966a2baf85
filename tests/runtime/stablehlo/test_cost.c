/*
 * test_cost.c - what statements compute and move, and how often they run.
 */
#include "runtime/stablehlo/stablehlo.h"
#include "tests/support/test_runtime.h"

#include <math.h>
#include <string.h>

static shlo_graph *read_text(const char *text)
{
    bn_status st = {0};
    shlo_graph *graph = NULL;
    if (shlo_graph_read(text, strlen(text), &graph, &st) != BN_OK)
        fail_msg("%s", st.message);
    return graph;
}

/* The cost of the first statement of OP in a function of BODY. */
static shlo_cost cost_of(const char *op, const char *body)
{
    bn_text text = {0};
    shlo_cost cost = {(double)NAN, (double)NAN};
    bn_text_printf(&text,
                   "module @m {\n  func.func public @main(%%a: tensor<4x8xf32>, %%b: "
                   "tensor<8x16xf32>, %%i: tensor<2x9x9x3xf32>, %%k: tensor<3x3x3x5xf32>, %%n: "
                   "tensor<i32>) -> () {\n%s\n    return\n  }\n}\n",
                   body);
    shlo_graph *g = read_text(text.data);
    for (uint32_t i = 0; i < g->node_count && isnan(cost.flops); i++)
        if (g->nodes[i].kind == SHLO_OP && g->ops[g->nodes[i].op].length == strlen(op) &&
            memcmp(g->ops[g->nodes[i].op].at, op, strlen(op)) == 0)
            cost = shlo_node_cost(g, i);
    shlo_graph_free(g);
    bn_text_free(&text);
    return cost;
}

static void costs(const char *op, const char *body, double flops, double bytes)
{
    const shlo_cost cost = cost_of(op, body);
    if (cost.flops != flops || cost.bytes != bytes)
        fail_msg("%s: %.0f FLOPs and %.0f bytes, not %.0f and %.0f", op, cost.flops, cost.bytes,
                 flops, bytes);
}

static void statements_cost_what_their_types_say(void **state)
{
    (void)state;
    costs("stablehlo.dot_general",
          "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, "
          "tensor<8x16xf32>) -> tensor<4x16xf32>",
          2 * 4 * 16 * 8, 4 * (32 + 128 + 64));
    costs("stablehlo.convolution",
          "%0 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, "
          "f], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : "
          "i64} : (tensor<2x9x9x3xf32>, tensor<3x3x3x5xf32>) -> tensor<2x7x7x5xf32>",
          2.0 * 490 * 27, 4 * (486 + 135 + 490));
    costs("stablehlo.add", "%0 = stablehlo.add %a, %a : tensor<4x8xf32>", 32, 128);
    costs("stablehlo.convert", "%0 = stablehlo.convert %a : (tensor<4x8xf32>) -> tensor<4x8xbf16>",
          32, 64);
    costs("stablehlo.compare",
          "%0 = stablehlo.compare LT, %a, %a, FLOAT : (tensor<4x8xf32>, tensor<4x8xf32>) -> "
          "tensor<4x8xi1>",
          32, 32);
    costs("stablehlo.transpose",
          "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>", 0,
          256);
    costs("stablehlo.reshape", "%0 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<32xf32>", 0,
          0);
    costs("stablehlo.constant",
          "%0 = stablehlo.constant dense<\" : tensor<9xf32>\"> : tensor<4xf32>", 0, 0);
    costs("stablehlo.complex", "%0 = stablehlo.complex %a, %a : tensor<4x8xcomplex<f32>>", 32, 256);
    costs("stablehlo.add", "%0 = stablehlo.add %a, %a : tensor<?x8xf32>", 0, 0);
}

/* Sums of what was met. */
typedef struct sums {
    double flops, times;
    size_t calls;
} sums;

static void sum_up(void *with, const shlo_graph *g, const shlo_met *met)
{
    sums *s = with;
    const shlo_cost cost = shlo_node_cost(g, met->node);
    s->flops += met->times * cost.flops;
    s->times = met->times > s->times ? met->times : s->times;
    s->calls = met->call_count > s->calls ? met->call_count : s->calls;
}

static void calls_and_loops_run_as_often_as_they_say(void **state)
{
    static const char text[] =
        "module @m {\n"
        "  func.func public @main(%a: tensor<10xf32>) -> tensor<10xf32> {\n"
        "    %c = stablehlo.constant dense<0> : tensor<i32>\n"
        "    %0:2 = stablehlo.while(%x = %a, %i = %c) : tensor<10xf32>, tensor<i32>\n"
        "    cond {\n"
        "      %n = stablehlo.constant dense<7> : tensor<i32>\n"
        "      %t = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> "
        "tensor<i1>\n"
        "      stablehlo.return %t : tensor<i1>\n"
        "    } do {\n"
        "      %y = func.call @f(%x) : (tensor<10xf32>) -> tensor<10xf32>\n"
        "      stablehlo.return %y, %i : tensor<10xf32>, tensor<i32>\n"
        "    }\n"
        "    return %0#0 : tensor<10xf32>\n"
        "  }\n"
        "  func.func private @f(%a: tensor<10xf32>) -> tensor<10xf32> {\n"
        "    %0 = stablehlo.multiply %a, %a : tensor<10xf32>\n"
        "    return %0 : tensor<10xf32>\n"
        "  }\n"
        "  func.func private @unused(%a: tensor<10xf32>) -> tensor<10xf32> {\n"
        "    %0 = stablehlo.multiply %a, %a : tensor<10xf32>\n"
        "    return %0 : tensor<10xf32>\n"
        "  }\n"
        "}\n";
    size_t unknown = 9;
    sums s = {0};
    (void)state;
    shlo_graph *g = read_text(text);
    assert_true(shlo_walk(g, sum_up, &s, &unknown));
    assert_int_equal(unknown, 0);
    assert_true(s.times == 7 && s.calls == 1);
    assert_true(s.flops == 7 * 10 + 7); /* the comparison runs 7 times, too */
    shlo_graph_free(g);
}

static void what_has_no_end_is_cut(void **state)
{
    static const char circle[] = "module @m {\n"
                                 "  func.func public @main() -> () {\n"
                                 "    call @main() : () -> ()\n"
                                 "    return\n"
                                 "  }\n"
                                 "}\n";
    static const char none[] = "module @m {\n  func.func public @f() -> () {\n    return\n  }\n}\n";
    size_t unknown;
    sums s = {0};
    (void)state;
    shlo_graph *g = read_text(circle);
    assert_false(shlo_walk(g, sum_up, &s, &unknown));
    shlo_graph_free(g);
    g = read_text(none);
    assert_false(shlo_walk(g, sum_up, &s, &unknown));
    shlo_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_cost_what_their_types_say),
        cmocka_unit_test(calls_and_loops_run_as_often_as_they_say),
        cmocka_unit_test(what_has_no_end_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
