/*
 * test_pjrt.c - the PJRT wrapper against a real plugin: the default runtime,
 * XLA for CPU. A machine without it fails: it is part of the set-up.
 *
 * BENCH_TEST_RUNTIME names another runtime or plugin to test.
 */
#include "tests/support/plugin_handles.h"
#include "tests/support/test_runtime.h"

#include <stdio.h>
#include <stdlib.h>

static rt_plugin *plugin;
static rt_client *client;

static const char add_text[] =
    "module @jit_add {\n"
    "  func.func public @main(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
    "    %0 = stablehlo.add %a, %b : tensor<2x2xf32>\n"
    "    return %0 : tensor<2x2xf32>\n"
    "  }\n"
    "}\n";

static const char matmul_text[] =
    "module @jit_matmul {\n"
    "  func.func public @main(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>)"
    " -> (tensor<2x2xf32>, tensor<2x3xf32>) {\n"
    "    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
    " : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>\n"
    "    return %0, %a : tensor<2x2xf32>, tensor<2x3xf32>\n"
    "  }\n"
    "}\n";

static const char donate_text[] =
    "module @jit_donate {\n"
    "  func.func public @main(%a: tensor<64x64xf32> {tf.aliasing_output = 0 : i32},"
    " %b: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
    "    %0 = stablehlo.add %a, %b : tensor<64x64xf32>\n"
    "    return %0 : tensor<64x64xf32>\n"
    "  }\n"
    "}\n";

static const char bad_text[] =
    "module @jit_bad {\n"
    "  func.func public @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
    "    %0 = stablehlo.no_such_op %a : tensor<2x2xf32>\n"
    "    return %0 : tensor<2x2xf32>\n"
    "  }\n"
    "}\n";

static rt_option one_device(void)
{
    return (rt_option){.name = "cpu_device_count", .kind = RT_OPTION_INT, .integer = 1};
}

static int group_setup(void **state)
{
    (void)state;
    const char *name = getenv("BENCH_TEST_RUNTIME");
    char path[4096];
    bn_status st = {0};
    rt_option option = one_device();
    if (rt_plugin_find(name ? name : "cpu", path, sizeof path, &st) != BN_OK ||
        rt_plugin_load(path, NULL, &plugin, &st) != BN_OK ||
        rt_client_create(plugin, &option, 1, &client, &st) != BN_OK) {
        print_error("%s\n", st.message);
        return -1;
    }
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    rt_client_destroy(client);
    rt_live_counts live = rt_live();
    return live.clients == 0 ? 0 : -1;
}

/* Each test gives everything back but the client. */
static int teardown(void **state)
{
    (void)state;
    rt_live_counts live = rt_live();
    assert_int_equal(live.clients, 1);
    assert_int_equal(live.executables, 0);
    assert_int_equal(live.buffers, 0);
    assert_int_equal(live.events, 0);
    assert_int_equal(live.errors, 0);
    assert_int_equal(live.topologies, 0);
    return 0;
}

static rt_executable *compiled(const char *text)
{
    bn_status st = {0};
    rt_executable *executable = NULL;
    assert_ok(compile_text(client, text, strlen(text), NULL, &executable, &st), &st);
    return executable;
}

static rt_buffer *floats(const float *data, int64_t rows, int64_t columns)
{
    bn_status st = {0};
    rt_buffer *buffer = NULL;
    const int64_t dims[2] = {rows, columns};
    assert_ok(rt_buffer_from_host(client, data, BN_F32, dims, 2, &buffer, &st), &st);
    return buffer;
}

static void plugin_and_client_are_described(void **state)
{
    (void)state;
    const rt_plugin_info *info = rt_plugin_describe(plugin);
    assert_int_equal(info->api_major, 0);
    assert_true(info->api_minor >= 60);
    assert_int_equal(strlen(info->sha256), BN_SHA256_TEXT - 1);
    bool has_version = false;
    for (size_t i = 0; i < info->attribute_count; i++)
        has_version |= strcmp(info->attributes[i].name, "stablehlo_current_version") == 0;
    assert_true(has_version);
    assert_string_equal(rt_client_platform(client), "cpu");
    assert_int_equal(rt_client_device_count(client), 1);
    const rt_device_info *device = rt_client_device(client, 0);
    assert_string_equal(device->kind, "cpu");
    assert_true(strlen(device->description) > 0);
    assert_true(device->memory_kind_count > 0);
}

static void sums_and_products_are_right(void **state)
{
    (void)state;
    bn_status st = {0};
    const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1};
    float sum[4], product[4], copy[6];
    rt_buffer *arguments[2], *results[2];
    rt_event *done = NULL;

    rt_executable *executable = compiled(add_text);
    assert_int_equal(rt_executable_result_count(executable), 1);
    arguments[0] = floats(a, 2, 2);
    arguments[1] = floats(b, 2, 2);
    assert_ok(rt_execute(executable, arguments, 2, NULL, 0, results, &done, &st), &st);
    assert_ok(rt_event_await(client, done, &st), &st);
    rt_event_release(client, done);
    assert_ok(rt_buffer_to_host(client, results[0], sum, sizeof sum, &st), &st);
    assert_true(sum[0] == 2 && sum[1] == 2 && sum[2] == 3 && sum[3] == 5);
    rt_buffer_release(client, results[0]);
    rt_buffer_release(client, arguments[0]);
    rt_buffer_release(client, arguments[1]);
    rt_executable_destroy(executable);

    executable = compiled(matmul_text);
    assert_int_equal(rt_executable_result_count(executable), 2);
    arguments[0] = floats(a, 2, 3);
    arguments[1] = floats(b, 3, 2);
    assert_ok(rt_execute(executable, arguments, 2, NULL, 0, results, NULL, &st), &st);
    assert_ok(rt_buffer_await(client, results[0], &st), &st);
    assert_ok(rt_buffer_to_host(client, results[0], product, sizeof product, &st), &st);
    assert_true(product[0] == 4 && product[1] == 5 && product[2] == 10 && product[3] == 11);
    assert_ok(rt_buffer_to_host(client, results[1], copy, sizeof copy, &st), &st);
    assert_memory_equal(copy, a, sizeof a);
    for (int i = 0; i < 2; i++) {
        rt_buffer_release(client, results[i]);
        rt_buffer_release(client, arguments[i]);
    }
    rt_executable_destroy(executable);
}

static void every_element_type_goes_there_and_back(void **state)
{
    (void)state;
    bn_status st = {0};
    const int64_t dims[3] = {2, 1, 3};
    unsigned char data[96], back[96];
    for (int i = 0; i < RT_DTYPE_COUNT; i++) {
        rt_dtype dtype = (rt_dtype)i, reported_type;
        int64_t reported_dims[RT_MAX_RANK];
        size_t rank = 0, size = 6 * bn_dtype_bytes(dtype);
        for (size_t j = 0; j < size; j++)
            data[j] = dtype == BN_PRED ? j % 2 : (unsigned char)(j * 7 + 1);
        memset(back, 0, sizeof back);
        rt_buffer *buffer = NULL;
        assert_ok(rt_buffer_from_host(client, data, dtype, dims, 3, &buffer, &st), &st);
        assert_ok(rt_buffer_type(client, buffer, &reported_type, reported_dims, &rank, &st), &st);
        assert_int_equal(reported_type, dtype);
        assert_int_equal(rank, 3);
        assert_memory_equal(reported_dims, dims, sizeof dims);
        assert_ok(rt_buffer_to_host(client, buffer, back, size, &st), &st);
        assert_memory_equal(back, data, size);
        rt_buffer_release(client, buffer);

        /* And the compiler reads the name we give it. */
        char text[400];
        snprintf(text, sizeof text,
                 "func.func public @main(%%a: tensor<2x%s>) -> tensor<2x%s> {\n"
                 "  return %%a : tensor<2x%s>\n"
                 "}\n",
                 bn_dtype_text(dtype), bn_dtype_text(dtype), bn_dtype_text(dtype));
        rt_executable_destroy(compiled(text));
    }
}

static void scalars_and_empty_buffers_work(void **state)
{
    (void)state;
    bn_status st = {0};
    const double pi = 3.14159;
    const int64_t none[2] = {0, 7};
    double back = 0;
    rt_buffer *buffer = NULL;
    rt_event *host_done = NULL;
    assert_ok(rt_buffer_from_host(client, &pi, BN_F64, NULL, 0, &buffer, &st), &st);
    assert_ok(rt_buffer_to_host(client, buffer, &back, sizeof back, &st), &st);
    assert_true(back == pi);
    rt_buffer_release(client, buffer);
    assert_ok(rt_buffer_from_host(client, &pi, BN_F64, none, 2, &buffer, &st), &st);
    assert_ok(rt_buffer_to_host(client, buffer, &back, 0, &st), &st);
    rt_buffer_release(client, buffer);

    static float large[1 << 18];
    const int64_t dims[1] = {1 << 18};
    float *copy = malloc(sizeof large);
    assert_non_null(copy);
    for (size_t i = 0; i < 1 << 18; i++)
        large[i] = (float)i;
    assert_ok(rt_buffer_from_host_async(client, large, BN_F32, dims, 1, &buffer, &host_done, &st),
              &st);
    assert_ok(rt_event_await(client, host_done, &st), &st);
    rt_event_release(client, host_done);
    assert_ok(rt_buffer_to_host(client, buffer, copy, sizeof large, &st), &st);
    assert_memory_equal(copy, large, sizeof large);
    free(copy);
    rt_buffer_release(client, buffer);
}

static void donated_arguments_become_results(void **state)
{
    (void)state;
    bn_status st = {0};
    static float a[64 * 64], back[64 * 64];
    for (size_t i = 0; i < 64 * 64; i++)
        a[i] = (float)i;
    const int64_t keep[1] = {0};
    rt_executable *executable = compiled(donate_text);
    rt_buffer *arguments[2] = {floats(a, 64, 64), floats(a, 64, 64)}, *result = NULL;
    uintptr_t before = 0, after = 0;
    assert_ok(rt_buffer_address(client, arguments[0], &before, &st), &st);

    /* Kept for this call: another address, and the argument lives. */
    assert_ok(rt_execute(executable, arguments, 2, keep, 1, &result, NULL, &st), &st);
    assert_ok(rt_buffer_await(client, result, &st), &st);
    assert_ok(rt_buffer_address(client, result, &after, &st), &st);
    assert_true(before != after);
    assert_false(rt_buffer_is_deleted(client, arguments[0]));
    rt_buffer_release(client, result);

    assert_ok(rt_execute(executable, arguments, 2, NULL, 0, &result, NULL, &st), &st);
    assert_true(rt_buffer_is_deleted(client, arguments[0]));
    assert_false(rt_buffer_is_deleted(client, arguments[1]));
    assert_ok(rt_buffer_to_host(client, result, back, sizeof back, &st), &st);
    assert_true(back[1] == 2 && back[64 * 64 - 1] == 2 * (64 * 64 - 1));
    assert_ok(rt_buffer_address(client, result, &after, &st), &st);
    assert_int_equal(before, after);

    assert_fails(rt_buffer_to_host(client, arguments[0], back, sizeof back, &st), BN_INVALID,
                 "donated or deleted", &st);
    rt_buffer *none = NULL;
    assert_fails(rt_execute(executable, arguments, 2, NULL, 0, &none, NULL, &st), BN_EXECUTE, "",
                 &st);
    assert_null(none);
    rt_buffer_release(client, result);
    rt_buffer_release(client, arguments[0]);
    rt_buffer_release(client, arguments[1]);
    rt_executable_destroy(executable);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    bn_status st = {0};
    const float a[6] = {1, 2, 3, 4, 5, 6};
    rt_executable *executable = compiled(add_text);
    rt_buffer *arguments[2] = {floats(a, 2, 2), floats(a, 2, 3)}, *result = NULL;
    rt_event *done = NULL;
    assert_fails(rt_execute(executable, arguments, 1, NULL, 0, &result, &done, &st), BN_EXECUTE,
                 "expected 2", &st);
    assert_fails(rt_execute(executable, arguments, 2, NULL, 0, &result, &done, &st), BN_EXECUTE, "",
                 &st);
    assert_null(result);
    assert_null(done);
    rt_buffer_release(client, arguments[0]);
    rt_buffer_release(client, arguments[1]);
    rt_executable_destroy(executable);
}

static void compile_errors_have_a_place(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = NULL;
    assert_fails(compile_text(client, bad_text, strlen(bad_text), NULL, &executable, &st),
                 BN_COMPILE, ":3:10", &st);
    assert_fails(compile_text(client, "nonsense", 8, NULL, &executable, &st), BN_COMPILE, ":1:1",
                 &st);
}

static void compile_flags_reach_the_compiler(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = NULL;
    const char *flags[] = {"--xla_cpu_enable_fast_math=true",
                           "xla_cpu_parallel_codegen_split_count=1"};
    rt_compile_options options = {.flags = flags, .flag_count = 2};
    assert_ok(compile_text(client, add_text, strlen(add_text), &options, &executable, &st), &st);
    rt_executable_destroy(executable);
    flags[1] = "xla_dump_to="; /* an empty value is a value */
    assert_ok(compile_text(client, add_text, strlen(add_text), &options, &executable, &st), &st);
    rt_executable_destroy(executable);
    flags[1] = "xla_no_such_flag=1";
    assert_fails(compile_text(client, add_text, strlen(add_text), &options, &executable, &st),
                 BN_COMPILE, "xla_no_such_flag", &st);
    flags[1] = "xla_cpu_parallel_codegen_split_count=many";
    assert_fails(compile_text(client, add_text, strlen(add_text), &options, &executable, &st),
                 BN_COMPILE, "many", &st);
}

static void executables_are_stored_and_loaded(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = compiled(donate_text), *again = NULL;
    void *bytes = NULL;
    size_t size = 0;
    assert_ok(rt_executable_serialize(executable, &bytes, &size, &st), &st);
    rt_executable_destroy(executable);
    assert_true(size > 100);
    assert_ok(rt_executable_load(client, bytes, size, &again, &st), &st);

    static float a[64 * 64], back[64 * 64];
    a[5] = 2.5f;
    rt_buffer *arguments[2] = {floats(a, 64, 64), floats(a, 64, 64)}, *result = NULL;
    assert_ok(rt_execute(again, arguments, 2, NULL, 0, &result, NULL, &st), &st);
    assert_true(rt_buffer_is_deleted(client, arguments[0])); /* donation is stored, too */
    assert_ok(rt_buffer_to_host(client, result, back, sizeof back, &st), &st);
    assert_true(back[5] == 5);
    rt_buffer_release(client, result);
    rt_buffer_release(client, arguments[0]);
    rt_buffer_release(client, arguments[1]);
    rt_executable_destroy(again);

    assert_int_not_equal(rt_executable_load(client, bytes, size / 2, &again, &st), BN_OK);
    assert_true(strlen(st.message) > 0);
    free(bytes);
}

static void executables_are_described(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = compiled(matmul_text);
    rt_executable_stats stats;
    char *fingerprint = NULL, format[32];
    void *bytes = NULL;
    size_t size = 0;
    rt_executable_describe(executable, &stats);
    assert_int_equal(stats.argument_bytes, 48);
    assert_true(stats.result_bytes >= 40);
    assert_int_equal(stats.alias_bytes, 0);
    assert_true(stats.temp_bytes >= 0);
    assert_true(stats.flops == -1 || stats.flops == 24); /* not every build counts */
    assert_ok(rt_executable_fingerprint(executable, &fingerprint, &st), &st);
    assert_true(strlen(fingerprint) > 0);
    free(fingerprint);
    assert_ok(rt_executable_optimized(executable, format, &bytes, &size, &st), &st);
    assert_string_equal(format, "hlo_with_config");
    assert_true(size > 0);
    free(bytes);
    rt_executable_destroy(executable);

    executable = compiled(donate_text);
    rt_executable_describe(executable, &stats);
    assert_int_equal(stats.alias_bytes, 64 * 64 * 4);
    rt_executable_destroy(executable);
}

static void unknown_client_options_are_clean(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_client *another = NULL;
    rt_option options[2] = {one_device(),
                            {.name = "no_such_option", .kind = RT_OPTION_BOOL, .integer = 1}};
    /* Some builds refuse, some ignore. An option of the wrong kind is not tried:
     * it ends the process on two of three builds. */
    bn_code code = rt_client_create(plugin, options, 2, &another, &st);
    if (code == BN_OK)
        rt_client_destroy(another);
    else
        assert_non_null(strstr(st.message, "no_such_option"));
}

static void several_devices_take_programs(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_client *many = NULL;
    rt_option option = one_device();
    option.integer = 3;
    assert_ok(rt_client_create(plugin, &option, 1, &many, &st), &st);
    assert_int_equal(rt_client_device_count(many), 3);
    rt_compile_options options = {.device = 2};
    rt_executable *executable = NULL;
    const int64_t dims[2] = {2, 2};
    const float a[4] = {1, 2, 3, 4};
    float sum[4];
    rt_buffer *argument = NULL, *result = NULL;
    assert_ok(compile_text(many, add_text, strlen(add_text), &options, &executable, &st), &st);
    rt_client third = client_on(many, 2);
    assert_ok(rt_buffer_from_host(&third, a, BN_F32, dims, 2, &argument, &st), &st);
    rt_buffer *arguments[2] = {argument, argument};
    assert_ok(rt_execute(executable, arguments, 2, NULL, 0, &result, NULL, &st), &st);
    assert_ok(rt_buffer_to_host(many, result, sum, sizeof sum, &st), &st);
    assert_true(sum[3] == 8);
    rt_buffer_release(many, result);
    rt_buffer_release(many, argument);

    /* A buffer on another device than the program's is refused. */
    assert_ok(rt_buffer_from_host(many, a, BN_F32, dims, 2, &argument, &st), &st);
    arguments[0] = arguments[1] = argument;
    assert_fails(rt_execute(executable, arguments, 2, NULL, 0, &result, NULL, &st), BN_EXECUTE, "",
                 &st);
    rt_buffer_release(many, argument);
    rt_executable_destroy(executable);
    rt_client_destroy(many);
}

static void what_a_cpu_lacks_is_said(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_topology *topology = NULL;
    rt_device_memory memory;
    rt_profiler *profiler = NULL;
    if (rt_topology_create(plugin, "cpu", NULL, 0, &topology, &st) == BN_OK) {
        assert_true(rt_topology_device_count(topology) > 0);
        rt_topology_destroy(topology);
    } else {
        assert_int_equal(st.code, BN_NOT_SUPPORTED);
        assert_non_null(strstr(st.message, "topology 'cpu'"));
    }
    st = (bn_status){0};
    if (rt_client_memory(client, 0, &memory, &st) != BN_OK)
        assert_int_equal(st.code, BN_NOT_SUPPORTED);
    if (!rt_plugin_describe(plugin)->has_profiler)
        assert_fails(rt_profiler_start(plugin, false, &profiler, &st), BN_NOT_SUPPORTED, "profiler",
                     &st);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(plugin_and_client_are_described),
        TEST(sums_and_products_are_right),
        TEST(every_element_type_goes_there_and_back),
        TEST(scalars_and_empty_buffers_work),
        TEST(donated_arguments_become_results),
        TEST(wrong_arguments_are_refused),
        TEST(compile_errors_have_a_place),
        TEST(compile_flags_reach_the_compiler),
        TEST(executables_are_stored_and_loaded),
        TEST(executables_are_described),
        TEST(unknown_client_options_are_clean),
        TEST(several_devices_take_programs),
        TEST(what_a_cpu_lacks_is_said),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
