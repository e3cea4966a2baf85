/*
 * test_executable.c - programs compiled, described, stored and loaded, for devices and for a
 * topology, and errors of the compiler, with a plugin that misbehaves on request.
 */
#include "tests/runtime/pjrt/fake_fixture.h"

/* ---- programs ----------------------------------------------------------- */

static void executable_is_described(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = compiled();
    rt_executable_stats stats;
    char *text = NULL, format[32];
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(rt_executable_result_count(executable), 2);
    rt_executable_describe(executable, &stats);
    assert_int_equal(stats.code_bytes, 77);
    assert_int_equal(stats.argument_bytes, 28);
    assert_int_equal(stats.result_bytes, 56);
    assert_int_equal(stats.peak_bytes, -1); /* the plugin did not write it */
    assert_true(stats.flops == 1000);
    assert_true(stats.bytes_accessed == -1); /* it said not-a-number */
    assert_true(stats.optimal_seconds == -1);
    assert_ok(rt_executable_fingerprint(executable, &text, &st), &st);
    assert_string_equal(text, "007f10"); /* bytes, not text */
    free(text);
    assert_ok(rt_executable_optimized(executable, format, &bytes, &size, &st), &st);
    assert_string_equal(format, "mlir");
    assert_int_equal(size, program_size);
    assert_memory_equal(bytes, program, size);
    free(bytes);
    rt_executable_destroy(executable);
    rt_executable_destroy(NULL);
}

static void executable_is_stored_and_loaded(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = compiled(), *again = NULL;
    void *bytes = NULL;
    size_t size = 0;
    assert_ok(rt_executable_serialize(executable, &bytes, &size, &st), &st);
    rt_executable_destroy(executable);
    assert_ok(rt_executable_load(client, bytes, size, &again, &st), &st);
    assert_int_equal(rt_executable_result_count(again), 2);
    rt_executable_destroy(again);
    ((char *)bytes)[0] ^= 1;
    assert_fails(rt_executable_load(client, bytes, size, &again, &st), BN_COMPILE,
                 "loading a stored executable: not an executable", &st);
    assert_fails(rt_executable_load(client, bytes, 0, &again, &st), BN_INVALID, "no bytes", &st);
    free(bytes);
}

static void compile_errors_are_reported(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = NULL;
    const char *flags[] = {"xla_no_value"};
    rt_compile_options options = {.device = 1};
    assert_fails(compile_text(client, "", 0, NULL, &executable, &st), BN_INVALID, "empty", &st);
    assert_fails(compile_text(client, "module", 6, NULL, &executable, &st), BN_COMPILE,
                 "-:1:1: error: no function @main", &st);
    assert_fails(compile_text(client, program, program_size, &options, &executable, &st),
                 BN_INVALID, "device 1 of 1", &st);
    options = (rt_compile_options){.flags = flags, .flag_count = 1};
    assert_fails(compile_text(client, program, program_size, &options, &executable, &st),
                 BN_INVALID, "xla_no_value", &st);

    static const struct {
        const char *orders;
        bn_code wanted;
    } rows[] = {
        {"compile_error", BN_COMPILE},
        {"compile_error,code=1", BN_CANCELLED},
        {"compile_error,code=3", BN_COMPILE},
        {"compile_error,code=4", BN_TIMEOUT},
        {"compile_error,code=8", BN_OUT_OF_MEMORY},
        {"compile_error,code=12", BN_NOT_SUPPORTED},
        {"compile_error,code=99", BN_COMPILE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        order(rows[i].orders);
        /* The message came in two lines and with a tabulator. */
        assert_fails(compile_text(client, program, program_size, NULL, &executable, &st),
                     rows[i].wanted, "-:3:7: error: the fake compiler refuses", &st);
    }
    assert_int_equal(compile_text(client, program, program_size, NULL, &executable, NULL),
                     BN_COMPILE);
}

/* ---- topology ----------------------------------------------------------- */

static void topology_compiles_without_a_device(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_topology *topology = NULL;
    rt_executable *executable = NULL;
    rt_executable_stats stats;
    rt_buffer *results[2] = {NULL, NULL};
    assert_fails(rt_topology_create(plugin, "", NULL, 0, &topology, &st), BN_INVALID, "name", &st);
    assert_fails(rt_topology_create(plugin, "v9", NULL, 0, &topology, &st), BN_PLUGIN,
                 "topology 'v9': no such topology", &st);
    assert_ok(rt_topology_create(plugin, "fake:4", NULL, 0, &topology, &st), &st);
    assert_string_equal(rt_topology_platform(topology), "fake");
    assert_int_equal(rt_topology_device_count(topology), 4);
    assert_fails(compile_text_for(topology, "x", 1, &executable, &st), BN_COMPILE, "@main", &st);
    assert_ok(compile_text_for(topology, program, program_size, &executable, &st), &st);
    rt_executable_describe(executable, &stats);
    assert_int_equal(stats.argument_bytes, 28);
    assert_fails(rt_execute(executable, NULL, 0, NULL, 0, results, NULL, &st), BN_INVALID,
                 "topology", &st);
    rt_executable_destroy(executable);
    rt_topology_destroy(topology);
    rt_topology_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(executable_is_described),
        TEST(executable_is_stored_and_loaded),
        TEST(compile_errors_are_reported),
        TEST(topology_compiles_without_a_device),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
