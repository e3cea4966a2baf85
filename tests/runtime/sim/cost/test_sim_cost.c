/*
 * test_sim_cost.c - what the simulator says that programs cost: operations and bytes by
 * hand, loops, groups, and whole steps against bench's own op table.
 */
#include "runtime/sim/cost/cost.h"
#include "tests/runtime/sim/program/sim_program_fixture.h"

#include <math.h>

static sim_cost cost_of(const sim_program *program)
{
    sim_cost cost;
    sim_program_cost(program, &cost);
    return cost;
}

/* The cost of one statement. */
static sim_cost cost_of_body(const char *arguments, const char *body, const char *type)
{
    sim_program *program = read_body(arguments, body, type);
    sim_cost cost = cost_of(program);
    sim_program_free(program);
    return cost;
}

static void check_body(const char *arguments, const char *body, const char *type, double flops,
                       double bytes, size_t groups)
{
    sim_cost cost = cost_of_body(arguments, body, type);
    if (cost.flops != flops || cost.bytes != bytes || cost.group_count != groups)
        fail_msg("%.80s: %.0f operations, %.0f bytes, %zu groups; not %.0f, %.0f, %zu", body,
                 cost.flops, cost.bytes, cost.group_count, flops, bytes, groups);
    sim_cost_free(&cost);
}

/* ---- operations by hand ------------------------------------------------------------- */

static void test_dot(void **state)
{
    (void)state;
    check_body("%a: tensor<4x8xf32>, %b: tensor<8x3xf32>",
               "%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
               "(tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>",
               "tensor<4x3xf32>", 2 * 4 * 8 * 3, 4 * (4 * 8 + 8 * 3 + 4 * 3), 1);
    check_body("%a: tensor<5x4x8xbf16>, %b: tensor<5x8x3xbf16>",
               "%r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], "
               "contracting_dims = [2] x [1] : (tensor<5x4x8xbf16>, tensor<5x8x3xbf16>) -> "
               "tensor<5x4x3xbf16>",
               "tensor<5x4x3xbf16>", 2 * 5 * 4 * 8 * 3, 2 * (5 * 4 * 8 + 5 * 8 * 3 + 5 * 4 * 3), 1);
}

/* An input of 1 x 9 x 9 x FEATURES and a window of 3 x 3, with ATTRIBUTES of the window. */
static void check_convolution(const char *window, const char *kernel, const char *result,
                              int groups, double flops)
{
    char body[1024], arguments[256];
    snprintf(arguments, sizeof arguments, "%%a: tensor<1x9x9x4xf32>, %%b: %s", kernel);
    snprintf(body, sizeof body,
             "%%r = stablehlo.convolution(%%a, %%b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->"
             "[b, 0, 1, f], window = {%s} {batch_group_count = 1 : i64, feature_group_count = %d "
             ": i64} : (tensor<1x9x9x4xf32>, %s) -> %s",
             window, groups, kernel, result);
    sim_cost cost = cost_of_body(arguments, body, result);
    if (cost.flops != flops)
        fail_msg("{%s}: %.0f operations, not %.0f", window, cost.flops, flops);
    assert_true(cost.groups[0].matrix_flops[SIM_RATE_F32] == flops);
    sim_cost_free(&cost);
}

static void test_convolution(void **state)
{
    (void)state;
    check_convolution("", "tensor<3x3x4x6xf32>", "tensor<1x7x7x6xf32>", 1,
                      2.0 * 7 * 7 * 6 * 3 * 3 * 4);
    check_convolution("stride = [2, 2], pad = [[1, 1], [1, 1]]", "tensor<3x3x4x6xf32>",
                      "tensor<1x5x5x6xf32>", 1, 2.0 * 5 * 5 * 6 * 3 * 3 * 4);
    check_convolution("pad = [[1, 1], [1, 1]]", "tensor<3x3x1x8xf32>", "tensor<1x9x9x8xf32>", 4,
                      2.0 * 9 * 9 * 8 * 3 * 3 * 1);
    check_convolution("rhs_dilate = [2, 2]", "tensor<3x3x4x6xf32>", "tensor<1x5x5x6xf32>", 1,
                      2.0 * 5 * 5 * 6 * 3 * 3 * 4);
    /* Holes of the input are not multiplied. */
    check_convolution("lhs_dilate = [2, 2]", "tensor<3x3x4x6xf32>", "tensor<1x15x15x6xf32>", 1,
                      2.0 * 9 * 9 * 6 * 3 * 3 * 4);
}

static void test_others(void **state)
{
    (void)state;
    check_body("%a: tensor<4x8xf32>",
               "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
               "%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] "
               ": (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>",
               "tensor<4xf32>", 32, 4 * (32 + 4), 1);
    check_body("%a: tensor<8xf32>, %z: tensor<f32>",
               "%r = \"stablehlo.reduce_window\"(%a, %z) ({\n^bb0(%x: tensor<f32>, %y: "
               "tensor<f32>):\n%s = stablehlo.maximum %x, %y : tensor<f32>\nstablehlo.return %s : "
               "tensor<f32>\n}) {window_dimensions = array<i64: 3>, window_strides = array<i64: "
               "2>} : (tensor<8xf32>, tensor<f32>) -> tensor<3xf32>",
               "tensor<3xf32>", 3 * 3, 4 * (8 + 1 + 3), 1);
    check_body("%a: tensor<2x8xf32>",
               "%r = \"stablehlo.sort\"(%a) ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n%s = "
               "stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
               "stablehlo.return %s : tensor<i1>\n}) {dimension = 1 : i64} : (tensor<2x8xf32>) -> "
               "tensor<2x8xf32>",
               "tensor<2x8xf32>", 2 * 8 * 3, 4 * (16 + 16), 1);
    check_body("%a: tensor<4x32xcomplex<f32>>",
               "%r = stablehlo.fft %a, type = FFT, length = [32] : (tensor<4x32xcomplex<f32>>) -> "
               "tensor<4x32xcomplex<f32>>",
               "tensor<4x32xcomplex<f32>>", 5 * 4 * 32 * 5, 8 * 256, 1);
    check_body("%a: tensor<100x7xf32>, %i: tensor<5x1xi32>",
               "%r = \"stablehlo.gather\"(%a, %i) {dimension_numbers = "
               "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map "
               "= [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 7>} : "
               "(tensor<100x7xf32>, tensor<5x1xi32>) -> tensor<5x7xf32>",
               "tensor<5x7xf32>", 0, 4 * (35 + 5 + 35), 1);
}

/* ---- groups --------------------------------------------------------------------------- */

static void test_fusion(void **state)
{
    (void)state;
    /* Product, bias, tanh: one group; the broadcast is read as what it is made of. */
    check_body("%a: tensor<4x8xf32>, %b: tensor<8x3xf32>, %c: tensor<3xf32>",
               "%p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
               "(tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>\n"
               "%w = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<3xf32>) -> "
               "tensor<4x3xf32>\n%s = stablehlo.add %p, %w : tensor<4x3xf32>\n"
               "%r = stablehlo.tanh %s : tensor<4x3xf32>",
               "tensor<4x3xf32>", 2 * 4 * 8 * 3 + 12 + 12, 4 * (32 + 24 + 3 + 12), 1);
    /* Squares only the sum needs are not written. */
    check_body("%a: tensor<4x8xf32>",
               "%z = stablehlo.constant dense<0.0> : tensor<f32>\n%s = stablehlo.multiply %a, %a : "
               "tensor<4x8xf32>\n%r = stablehlo.reduce(%s init: %z) applies stablehlo.add across "
               "dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>",
               "tensor<4xf32>", 32 + 32, 4 * (32 + 4), 1);
    /* Softmax's division needs the whole sum, so it is a group of its own, and the
     * exponentials, which both use, are written and read twice. */
    check_body("%a: tensor<4x8xf32>",
               "%z = stablehlo.constant dense<0.0> : tensor<f32>\n%e = stablehlo.exponential %a : "
               "tensor<4x8xf32>\n%s = stablehlo.reduce(%e init: %z) applies stablehlo.add across "
               "dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>\n%w = "
               "stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>\n"
               "%r = stablehlo.divide %e, %w : tensor<4x8xf32>",
               "tensor<4x8xf32>", 32 + 32 + 32, 4 * (32 + 32 + 32 + 4 + 32 + 4 + 32), 3);
    /* An update in place moves its part only. */
    check_body("%a: tensor<100xf32>, %u: tensor<2xf32>, %i: tensor<i32>",
               "%r = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<100xf32>, tensor<2xf32>, "
               "tensor<i32>) -> tensor<100xf32>",
               "tensor<100xf32>", 0, 4 * (2 + 1 + 2), 1);
}

static void test_calls(void **state)
{
    (void)state;
    /* A function of element-wise ops fuses like one op. */
    sim_program *small = read_program(
        "module {\nfunc.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
        "%0 = stablehlo.negate %a : tensor<8xf32>\n"
        "%1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>\n"
        "%2 = call @f(%1) : (tensor<8xf32>) -> tensor<8xf32>\nreturn %2 : tensor<8xf32>\n}\n"
        "func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
        "%0 = stablehlo.add %a, %a : tensor<8xf32>\n%1 = stablehlo.sine %0 : tensor<8xf32>\n"
        "return %1 : tensor<8xf32>\n}\n}\n");
    sim_cost cost = cost_of(small);
    assert_int_equal(cost.group_count, 1);
    assert_true(cost.flops == 8 * 5 && cost.transcendentals == 16 && cost.bytes == 64);
    sim_cost_free(&cost);
    sim_program_free(small);
    /* Another is counted each time that it is called. */
    sim_program *large = read_program(
        "module {\nfunc.func public @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
        "%1 = call @f(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
        "%2 = call @f(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>\nreturn %2 : tensor<4x4xf32>\n}\n"
        "func.func private @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
        "%0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, "
        "tensor<4x4xf32>) -> tensor<4x4xf32>\nreturn %0 : tensor<4x4xf32>\n}\n}\n");
    cost = cost_of(large);
    assert_int_equal(cost.group_count, 1);
    assert_true(cost.groups[0].times == 2 && cost.flops == 2 * 2 * 64);
    assert_true(cost.op_count == 1);
    sim_cost_free(&cost);
    sim_program_free(large);
}

/* ---- loops ------------------------------------------------------------------------------ */

/* A loop from START while "i DIRECTION bound", which takes STEP: its body has one product
 * of 10 elements. */
static sim_cost loop_cost(const char *start, const char *direction, const char *bound,
                          const char *change)
{
    char body[2048];
    snprintf(body, sizeof body,
             "%%s = stablehlo.constant dense<%s> : tensor<i32>\n"
             "%%l:2 = stablehlo.while(%%i = %%s, %%x = %%a) : tensor<i32>, tensor<10xf32>\n"
             "cond {\n%%b = stablehlo.constant dense<%s> : tensor<i32>\n"
             "%%c = stablehlo.compare %s, %%i, %%b, SIGNED : (tensor<i32>, tensor<i32>) -> "
             "tensor<i1>\nstablehlo.return %%c : tensor<i1>\n} do {\n"
             "%%d = stablehlo.constant dense<%s> : tensor<i32>\n"
             "%%n = stablehlo.add %%i, %%d : tensor<i32>\n"
             "%%y = stablehlo.multiply %%x, %%x : tensor<10xf32>\n"
             "stablehlo.return %%n, %%y : tensor<i32>, tensor<10xf32>\n}\n"
             "%%r = stablehlo.reshape %%l#1 : (tensor<10xf32>) -> tensor<10xf32>",
             start, bound, direction, change);
    return cost_of_body("%a: tensor<10xf32>", body, "tensor<10xf32>");
}

static void check_loop(const char *start, const char *direction, const char *bound,
                       const char *change, double trips)
{
    sim_cost cost = loop_cost(start, direction, bound, change);
    bool known = trips >= 0;
    assert_int_equal(cost.unknown_loops, !known);
    trips = known ? trips : 1;
    /* The body's product and count, and a comparison more than trips. */
    if (cost.flops != trips * 11 + trips + 1)
        fail_msg("from %s %s %s by %s: %.0f operations, not those of %.0f trips", start, direction,
                 bound, change, cost.flops, trips);
    sim_cost_free(&cost);
}

static void test_loops(void **state)
{
    (void)state;
    check_loop("0", "LT", "7", "1", 7);
    check_loop("2", "LE", "7", "2", 3);
    check_loop("9", "GT", "-1", "-3", 4);
    check_loop("9", "GE", "0", "-3", 4);
    check_loop("0", "NE", "6", "2", 3);
    check_loop("5", "LT", "5", "1", 0);
    check_loop("0", "LT", "7", "-1", -1); /* for ever, as far as the text tells */
    check_loop("0", "NE", "7", "2", -1);
    check_loop("0", "LT", "7", "0", -1);
}

/* As JAX writes scan: the count is one of several values, and the body calls a function
 * that passes unchanged values on. */
static void test_scan(void **state)
{
    (void)state;
    sim_program *p = read_program(
        "module @jit_f {\n  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
        "    %c = stablehlo.constant dense<0> : tensor<i32>\n"
        "    %c_0 = stablehlo.constant dense<12> : tensor<i32>\n"
        "    %0:3 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %c, %iterArg_2 = %c_0) : "
        "tensor<4xf32>, tensor<i32>, tensor<i32>\n    cond {\n"
        "      %1 = stablehlo.compare GT, %iterArg_2, %iterArg_1, SIGNED : (tensor<i32>, "
        "tensor<i32>) -> tensor<i1>\n      stablehlo.return %1 : tensor<i1>\n    } do {\n"
        "      %1:2 = func.call @None(%iterArg, %iterArg_1) : (tensor<4xf32>, tensor<i32>) -> "
        "(tensor<4xf32>, tensor<i32>)\n"
        "      stablehlo.return %1#0, %1#1, %iterArg_2 : tensor<4xf32>, tensor<i32>, tensor<i32>\n"
        "    }\n    return %0#0 : tensor<4xf32>\n  }\n"
        "  func.func private @None(%arg0: tensor<4xf32>, %arg1: tensor<i32>) -> (tensor<4xf32>, "
        "tensor<i32>) {\n    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<4xf32>\n"
        "    %c = stablehlo.constant dense<1> : tensor<i32>\n"
        "    %1 = stablehlo.add %arg1, %c : tensor<i32>\n"
        "    return %0, %1 : tensor<4xf32>, tensor<i32>\n  }\n}\n");
    sim_cost cost = cost_of(p);
    assert_int_equal(cost.unknown_loops, 0);
    assert_true(cost.flops == 12 + 13);                      /* sums and comparisons */
    assert_true(cost.bytes == 12 * (32 + 8) + 13 * (8 + 1)); /* and what they move */
    sim_cost_free(&cost);
    sim_program_free(p);
}

/* ---- memory ----------------------------------------------------------------------------- */

static void test_peak(void **state)
{
    (void)state;
    /* Two transposed copies live at once; the result is not theirs to count. */
    sim_cost cost = cost_of_body(
        "%a: tensor<10x10xf32>",
        "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<10x10xf32>) -> tensor<10x10xf32>\n"
        "%1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<10x10xf32>) -> tensor<10x10xf32>\n"
        "%2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<10x10xf32>) -> tensor<10x10xf32>\n"
        "%r = stablehlo.transpose %2, dims = [1, 0] : (tensor<10x10xf32>) -> tensor<10x10xf32>",
        "tensor<10x10xf32>");
    assert_int_equal(cost.peak_temp_bytes, 800);
    sim_cost_free(&cost);
}

/* ---- whole steps ------------------------------------------------------------------------ */

/* Operations that the simulator counts and the op table does not: random bits, and a sort's
 * repeated comparisons of an element. */
static double other_operations(const sim_program *p, const sim_cost *cost)
{
    double sum = 0;
    for (size_t i = 0; i < cost->group_count; i++)
        if (cost->groups[i].anchor == SIM_OP_RNG_BIT_GENERATOR)
            sum += cost->groups[i].vector_flops[SIM_RATE_INT];
    for (int i = 0; i < p->main->body.op_count; i++) {
        const sim_op *op = &p->main->body.ops[i];
        if (op->opcode != SIM_OP_SORT)
            continue;
        const sim_type *x = &p->types[op->operands[0]];
        double length = (double)x->dims[sim_attribute_int(op, "dimension")];
        sum += (double)sim_type_elements(x) * (log2(length) - 1);
    }
    return sum;
}

static void compare_step(const char *name, bool small, bool train)
{
    tg_graph_cost own;
    double norms, matrix = 0;
    sim_program *p = step_program(name, (model_options){.small = small, .train = train, .batch = 2},
                                  &own, &norms);
    sim_cost cost = cost_of(p);
    for (size_t i = 0; i < cost.group_count; i++)
        for (int r = 0; r < SIM_RATE_COUNT; r++)
            matrix += cost.groups[i].matrix_flops[r];
    double expected = own.flops + norms + other_operations(p, &cost);
    if (cost.flops != expected || matrix != 2 * own.macs)
        fail_msg("%s %s: %.0f operations, %.0f of them in products; not %.0f and %.0f", name,
                 train ? "train" : "infer", cost.flops, matrix, expected, 2 * own.macs);
    /* Fusing saves groups and traffic, but not all of either. */
    print_message("%s %s: %.4g operations in %zu groups of %lld nodes, %.3g of %.3g bytes\n", name,
                  train ? "train" : "infer", cost.flops, cost.group_count, (long long)own.nodes,
                  cost.bytes, own.bytes);
    assert_in_range(cost.group_count, (size_t)own.nodes / 10, (size_t)own.nodes);
    assert_true(cost.bytes < own.bytes && cost.bytes > own.bytes / 10);
    assert_true(cost.peak_temp_bytes > 0 && (double)cost.peak_temp_bytes < cost.bytes);
    assert_int_equal(cost.unknown_loops, 0);
    sim_cost_free(&cost);
    sim_program_free(p);
}

/* Layers as a loop: what a round does counts as often as there are rounds. */
static void compare_loop(const char *name, bool train, tg_remat remat)
{
    tg_graph_cost own;
    double norms, matrix = 0;
    const model_options o = {
        .small = true, .train = train, .batch = 2, .scan = true, .remat = remat};
    sim_program *p = step_program(name, o, &own, &norms);
    sim_cost cost = cost_of(p);
    for (size_t i = 0; i < cost.group_count; i++)
        for (int r = 0; r < SIM_RATE_COUNT; r++)
            matrix += cost.groups[i].times * cost.groups[i].matrix_flops[r];
    assert_int_equal(cost.unknown_loops, 0);
    assert_true(own.macs > 0 && matrix == 2 * own.macs);
    /* Rounds are counted and places in stacks computed. */
    const double more = cost.flops - own.flops - norms;
    if (more < 0 || more > 0.01 * own.flops)
        fail_msg("%s: %.0f operations, not %.0f", name, cost.flops, own.flops);
    sim_cost_free(&cost);
    sim_program_free(p);
}

static void test_loops_of_layers(void **state)
{
    (void)state;
    for (int train = 0; train < 2; train++) {
        compare_loop("llama", train, TG_REMAT_NONE);
        compare_loop("vit_small_patch16_224", train, TG_REMAT_NONE);
    }
    compare_loop("llama", true, TG_REMAT_LAYER);
    compare_loop("llama", true, TG_REMAT_DOTS);
}

static void test_models(void **state)
{
    (void)state;
    model_case c;
    for (size_t i = 0; case_at(i, &c); i++)
        for (int train = 0; train < 2; train++)
            if (c.small || !c.info.has_small)
                compare_step(c.info.name, c.small, train);
    compare_step("resnet50", false, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dot),    cmocka_unit_test(test_convolution),
        cmocka_unit_test(test_others), cmocka_unit_test(test_fusion),
        cmocka_unit_test(test_calls),  cmocka_unit_test(test_loops),
        cmocka_unit_test(test_scan),   cmocka_unit_test(test_peak),
        cmocka_unit_test(test_models), cmocka_unit_test(test_loops_of_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
