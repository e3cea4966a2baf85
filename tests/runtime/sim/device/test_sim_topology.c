/*
 * test_sim_topology.c - the simulated runtime's topologies: programs compiled without a
 * device tell the model's time, which is the time that a device then takes.
 */
#include "tests/runtime/sim/device/sim_fixture.h"

#include <math.h>

#define BIG                                                                                        \
    "module @big {\n"                                                                              \
    "  func.func public @main(%a: tensor<512x512xf32>) -> tensor<512x512xf32> {\n"                 \
    "    %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : "                       \
    "(tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>\n"                          \
    "    return %0 : tensor<512x512xf32>\n"                                                        \
    "  }\n"                                                                                        \
    "}\n"

/* 2 * 512^3 operations at 275 TFLOP/s are less than 2 * 512^2 * 4 bytes at 1228 GB/s. */
static const double big_seconds = 2.0 * 512 * 512 * 4 / 1228e9 + 0.5e-6;

static void a_preset_compiles_without_a_device(void **state)
{
    bn_status st = {0};
    rt_topology *topology = NULL;
    rt_executable *executable = NULL;
    rt_executable_stats stats;
    assert_ok(rt_topology_create(sim_plugin(), "tpu-v4", NULL, 0, &topology, &st), &st);
    assert_string_equal(rt_topology_platform(topology), "sim");
    assert_int_equal(rt_topology_device_count(topology), 1);
    assert_ok(compile_text_for(topology, BIG, strlen(BIG), &executable, &st), &st);
    rt_executable_describe(executable, &stats);
    assert_true(stats.flops == 2.0 * 512 * 512 * 512);
    assert_true(fabs(stats.optimal_seconds / big_seconds - 1) < 1e-3);
    rt_executable_destroy(executable);
    rt_topology_destroy(topology);
}

static void the_device_takes_the_time_that_the_topology_tells(void **state)
{
    bn_status st = {0};
    rt_client *client = sim_client("preset=tpu-v4");
    rt_executable *executable = sim_compile(client, BIG);
    const int64_t dims[2] = {512, 512};
    float *zeros = calloc(512 * 512, sizeof *zeros);
    rt_buffer *argument = NULL, *result = NULL;
    rt_event *done = NULL;
    assert_non_null(zeros);
    assert_ok(rt_buffer_from_host(client, zeros, BN_F32, dims, 2, &argument, &st), &st);
    rt_profiler *profiler = sim_profile_begin(client);
    assert_ok(rt_execute(executable, &argument, 1, NULL, 0, &result, &done, &st), &st);
    assert_ok(rt_event_await(client, done, &st), &st);
    rt_device_span *spans = sim_profile_end(profiler, 1);
    assert_true(fabs((double)spans[0].duration_ns - 1e9 * big_seconds) < 2);
    free(spans);
    rt_event_release(client, done);
    rt_buffer_release(client, result);
    rt_buffer_release(client, argument);
    rt_executable_destroy(executable);
    rt_client_destroy(client);
    free(zeros);
}

static void settings_go_on_top_of_the_preset(void **state)
{
    bn_status st = {0};
    rt_topology *topology = NULL;
    rt_option devices = {.name = "devices", .kind = RT_OPTION_INT, .integer = 3};
    assert_ok(rt_topology_create(sim_plugin(), "h100", &devices, 1, &topology, &st), &st);
    assert_int_equal(rt_topology_device_count(topology), 3);
    rt_topology_destroy(topology);
}

static void what_is_no_preset_or_no_program_is_refused(void **state)
{
    bn_status st = {0};
    rt_topology *topology = NULL;
    rt_executable *executable = NULL;
    assert_int_not_equal(rt_topology_create(sim_plugin(), "v9:1x1", NULL, 0, &topology, &st),
                         BN_OK);
    assert_non_null(strstr(st.message, "'v9:1x1'"));
    assert_non_null(strstr(st.message, "tpu-v4"));
    st = (bn_status){0};
    assert_ok(rt_topology_create(sim_plugin(), "tpu-v5e", NULL, 0, &topology, &st), &st);
    assert_int_equal(compile_text_for(topology, "no", 2, &executable, &st), BN_COMPILE);
    rt_topology_destroy(topology);
}

static int nothing_live(void **state)
{
    assert_nothing_live();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_preset_compiles_without_a_device, nothing_live),
        cmocka_unit_test_teardown(the_device_takes_the_time_that_the_topology_tells, nothing_live),
        cmocka_unit_test_teardown(settings_go_on_top_of_the_preset, nothing_live),
        cmocka_unit_test_teardown(what_is_no_preset_or_no_program_is_refused, nothing_live),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
