/*
 * test_sim_profile.c - profiles of the simulated device: names and times, one profile at a time.
 */
#include "tests/runtime/sim/device/sim_fixture.h"

#include <math.h>

static int teardown(void **state)
{
    (void)state;
    assert_nothing_live();
    return 0;
}

/* 64 x 64 floats. */
static rt_buffer *sim_matrix(rt_client *client)
{
    static const float zeros[64 * 64];
    const int64_t dims[2] = {64, 64};
    bn_status st = {0};
    rt_buffer *buffer = NULL;
    assert_ok(rt_buffer_from_host(client, zeros, BN_F32, dims, 2, &buffer, &st), &st);
    return buffer;
}

static const char double_text[] = SIM_DOUBLE("");

static void a_profile_has_names_and_times_of_each_device(void **state)
{
    (void)state;
    rt_client *client =
        sim_client("values=none devices=2 stated=jit_double:400;jit_add:150 launch_us=50");
    sim_adder a = sim_adder_on(client, 0), b = sim_adder_on(client, 1);
    rt_executable_destroy(b.executable);
    b.executable = sim_compile_on(client, double_text, 1);
    sim_run(&a, 2); /* before the profile */
    rt_profiler *profiler = sim_profile_begin(client);
    for (int i = 0; i < 4; i++) {
        rt_buffer *result = NULL;
        bn_status st = {0};
        rt_event_release(client, sim_submit(&a));
        assert_ok(rt_execute(b.executable, b.arguments, 1, NULL, 0, &result, NULL, &st), &st);
        assert_ok(rt_buffer_await(client, result, &st), &st);
        rt_buffer_release(client, result);
    }
    rt_device_span *spans = sim_profile_end(profiler, 8);
    sim_run(&a, 1); /* behind it */
    size_t count[2] = {0, 0};
    for (int i = 0; i < 8; i++) {
        bool add = strncmp(spans[i].name, "jit_add(", 8) == 0;
        assert_true(add || strncmp(spans[i].name, "jit_double(", 11) == 0);
        assert_int_equal(spans[i].duration_ns, add ? 150000 : 400000);
        count[add]++;
    }
    assert_int_equal(count[0], 4);
    assert_int_equal(count[1], 4);
    free(spans);
    sim_adder_drop(&a);
    sim_adder_drop(&b);
    rt_client_destroy(client);
}

static void profiles_are_taken_one_at_a_time(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_profiler *second = NULL;
    sim_adder a = sim_adder_new("device_us=10");
    free(sim_profile_end(sim_profile_begin(a.client), 0)); /* of nothing */
    rt_profiler *first = sim_profile_begin(a.client);
    sim_run(&a, 1);
    assert_int_not_equal(rt_profiler_start(rt_client_plugin(a.client), false, &second, &st), BN_OK);
    assert_non_null(strstr(st.message, "profile"));
    assert_null(second);
    sim_run(&a, 2); /* the one that was refused took nothing away */
    free(sim_profile_end(first, 3));
    free(sim_profile_end(sim_profile_begin(a.client), 0));
    sim_adder_free(&a);
}

/* A product, and an addition that is fused with it, in two scopes; two reductions. */
static const char placed_text[] =
    "module @placed {\n"
    "  func.func public @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<64x64xf32>, "
    "tensor<f32>) {\n"
    "    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, "
    "tensor<64x64xf32>) -> tensor<64x64xf32> loc(\"backward/layer1.fc/dot\")\n"
    "    %1 = stablehlo.add %0, %a : tensor<64x64xf32> loc(\"layer1.act/add\"(\"m.c\":7:1))\n"
    "    %2 = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %3 = stablehlo.reduce(%b init: %2) applies stablehlo.add across dimensions = [0, 1] : "
    "(tensor<64x64xf32>, tensor<f32>) -> tensor<f32> loc(#loc1)\n"
    "    return %1, %3 : tensor<64x64xf32>, tensor<f32>\n"
    "  }\n"
    "}\n"
    "#loc1 = loc(\"elsewhere\")\n";

static void a_profile_has_the_time_of_each_group(void **state)
{
    (void)state;
    enum { RUNS = 3 };
    rt_client *client = sim_client("values=none preset=cpu-2 launch_us=50");
    rt_executable *x = sim_compile(client, placed_text);
    rt_buffer *arguments[2] = {sim_matrix(client), sim_matrix(client)}, *results[2];
    rt_profiler *profiler = sim_profile_begin(client);
    bn_status st = {0};
    for (int i = 0; i < RUNS; i++) {
        const int64_t keep[2] = {0, 1};
        assert_ok(rt_execute(x, arguments, 2, keep, 2, results, NULL, &st), &st);
        rt_buffer_release(client, results[0]);
        rt_buffer_release(client, results[1]);
    }
    void *xspace = NULL;
    size_t size = 0, spans_count = 0, count = 0;
    rt_device_span *spans = NULL;
    rt_op_time *ops = NULL;
    bn_arena *arena = bn_arena_new(1024);
    assert_ok(rt_profiler_finish(profiler, &xspace, &size, &st), &st);
    assert_ok(rt_xspace_device_spans(xspace, size, &spans, &spans_count, &st), &st);
    assert_ok(rt_xspace_op_times(xspace, size, arena, &ops, &count, &st), &st);
    assert_int_equal(spans_count, RUNS);
    /* One group has the addition, too; an alias is no name. */
    assert_int_equal(count, 2);
    assert_string_equal(ops[0].name, "");
    assert_string_equal(ops[1].name, "backward/layer1.fc/dot");
    assert_int_equal(ops[0].events, RUNS);
    assert_int_equal(ops[1].events, RUNS);
    uint64_t all = 0;
    for (size_t i = 0; i < RUNS; i++)
        all += spans[i].duration_ns * 1000;
    assert_int_equal(ops[0].ps + ops[1].ps, all);
    /* 2 64^3 operations at 213 GFLOP/s against 16 KiB at 12 GB/s, and 1 us for each group. */
    const double product = 2.0 * 64 * 64 * 64 / 213 + 4096 / 20.0, read = 64 * 64 * 4 / 12.0;
    const double moved = 3 * read > product ? 3 * read : product;
    assert_true(fabs((double)ops[1].ps / RUNS / 1e3 - (moved + 1000)) < 10);
    assert_true(fabs((double)ops[0].ps / RUNS / 1e3 - (read + 1000)) < 10);
    free(spans);
    free(xspace);
    bn_arena_free(arena);
    rt_buffer_release(client, arguments[0]);
    rt_buffer_release(client, arguments[1]);
    rt_executable_destroy(x);
    rt_client_destroy(client);
}

int main(void)
{
#define T(test) cmocka_unit_test_teardown(test, teardown)
    const struct CMUnitTest tests[] = {
        T(a_profile_has_names_and_times_of_each_device),
        T(profiles_are_taken_one_at_a_time),
        T(a_profile_has_the_time_of_each_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
