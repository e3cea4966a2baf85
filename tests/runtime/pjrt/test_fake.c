/*
 * test_fake.c - the PJRT wrapper against a plugin that misbehaves on request:
 * refused loads, failing calls, donation, order of events, profiles, leaks.
 *
 * BENCH_TEST_FAKE and BENCH_TEST_NOTPLUGIN name the two shared objects.
 */
#include "tests/support/test_runtime.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static rt_plugin *plugin;
static rt_client *client;
static int64_t (*fake_live)(void);
static char folder[256];

/* Two arguments; the first is donated to the second result. */
static const char program[] =
    "module @jit_main {\n"
    "  func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 1 : i32}, %arg1: "
    "tensor<i32> {mhlo.sharding = \"{replicated}\"}) -> (tensor<4xcomplex<f32>> {jax.result_info "
    "= \"\"}, tensor<2x3xf32>) {\n"
    "    return %0, %1 : tensor<4xcomplex<f32>>, tensor<2x3xf32>\n"
    "  }\n"
    "}\n";
static const size_t program_size = sizeof program - 1;

static const char *fake_path(void)
{
    const char *path = getenv("BENCH_TEST_FAKE");
    return path ? path : "build/libpjrt_fake.so";
}

static const char *not_a_plugin_path(void)
{
    const char *path = getenv("BENCH_TEST_NOTPLUGIN");
    return path ? path : "build/libnot_a_plugin.so";
}

static void order(const char *orders)
{
    setenv("FAKE_PJRT", orders, 1);
}

static int group_setup(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test_fake.XXXXXX", parent ? parent : P_tmpdir);
    order("");
    bn_status st = {0};
    if (!mkdtemp(folder) || rt_plugin_load(fake_path(), &plugin, &st) != BN_OK) {
        print_error("%s\n", st.message);
        return -1;
    }
    void *library = dlopen(rt_plugin_describe(plugin)->path, RTLD_NOW | RTLD_NOLOAD);
    void *symbol = library ? dlsym(library, "FakePjrtLive") : NULL;
    memcpy(&fake_live, &symbol, sizeof fake_live);
    return symbol ? 0 : -1;
}

static int group_teardown(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int setup(void **state)
{
    (void)state;
    order("");
    return rt_client_create(plugin, NULL, 0, &client, NULL) == BN_OK ? 0 : -1;
}

/* Whatever a test did, everything was given back: by our count and by the
 * plugin's. */
static int teardown(void **state)
{
    (void)state;
    order("");
    rt_client_destroy(client);
    client = NULL;
    assert_nothing_live();
    assert_int_equal(fake_live(), 0);
    return 0;
}

/* ---- loading ------------------------------------------------------------ */

/* A copy of the fake under another name is another plugin to the loader. */
static void copy_load(const char *orders, rt_plugin **copy, bn_code wanted, const char *text)
{
    static int serial;
    char path[300], *bytes = NULL;
    size_t size = 0;
    bn_status st = {0};
    snprintf(path, sizeof path, "%s/copy%d.so", folder, serial++);
    assert_ok(bn_file_read(fake_path(), &bytes, &size, &st), &st);
    assert_ok(bn_file_write_atomic(path, bytes, size, &st), &st);
    free(bytes);
    order(orders);
    if (wanted == BN_OK)
        assert_ok(rt_plugin_load(path, copy, &st), &st);
    else
        assert_fails(rt_plugin_load(path, copy, &st), wanted, text, &st);
    order("");
    unlink(path);
}

static void load_refuses_what_is_no_plugin(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_plugin *none = NULL;
    char path[300];
    snprintf(path, sizeof path, "%s/text.so", folder);
    assert_fails(rt_plugin_load(path, &none, &st), BN_NOT_FOUND, "text.so", &st);
    assert_ok(bn_file_write_atomic(path, "#!/bin/sh\n", 10, &st), &st);
    assert_fails(rt_plugin_load(path, &none, &st), BN_PLUGIN, "not a shared object", &st);
    assert_ok(bn_file_write_atomic(path, "", 0, &st), &st);
    assert_fails(rt_plugin_load(path, &none, &st), BN_PLUGIN, "not a shared object", &st);
    assert_ok(bn_file_write_atomic(path, "\177ELF and no more", 16, &st), &st);
    assert_fails(rt_plugin_load(path, &none, &st), BN_PLUGIN, "cannot be loaded", &st);
    unlink(path);
    assert_fails(rt_plugin_load(not_a_plugin_path(), &none, &st), BN_PLUGIN, "no GetPjrtApi", &st);
    copy_load("wrong_major", &none, BN_PLUGIN, "major version");
    copy_load("init_error", &none, BN_PLUGIN,
              "initialisation: the fake plugin does not want to start");
    assert_null(none);
}

static void load_gives_the_same_plugin_again(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_plugin *again = NULL;
    char roundabout[600];
    const char *path = rt_plugin_describe(plugin)->path;
    const char *slash = strrchr(path, '/');
    snprintf(roundabout, sizeof roundabout, "%.*s/./%s", (int)(slash - path), path, slash + 1);
    assert_ptr_equal(rt_client_plugin(client), plugin);
    assert_ok(rt_plugin_load(roundabout, &again, &st), &st);
    assert_ptr_equal(again, plugin);
}

static void plugin_is_described(void **state)
{
    (void)state;
    const rt_plugin_info *info = rt_plugin_describe(plugin);
    char digest[BN_SHA256_TEXT];
    bn_status st = {0};
    assert_ok(bn_file_sha256(fake_path(), digest, &st), &st);
    assert_string_equal(info->sha256, digest);
    assert_int_equal(info->path[0], '/');
    assert_int_equal(info->api_major, 0);
    assert_true(info->has_profiler);
    static const char *const texts[][2] = {
        {"maker", "bench"}, {"level", "-7"},  {"stablehlo_current_version", "1.2.3"},
        {"weight", "0.5"},  {"fake", "true"},
    };
    assert_int_equal(info->attribute_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(info->attributes[i].name, texts[i][0]);
        assert_string_equal(info->attributes[i].text, texts[i][1]);
    }
    assert_int_equal(info->attributes[2].kind, RT_ATTR_INTS);
    assert_int_equal(info->attributes[2].integer, 1);
}

static void old_plugin_lacks_entries_and_lives(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_plugin *old = NULL;
    rt_client *old_client = NULL;
    rt_executable *executable = NULL;
    rt_profiler *profiler = NULL;
    char *text = NULL;
    rt_executable_stats stats;
    copy_load("old_minor,no_profiler", &old, BN_OK, "");
    assert_int_equal(rt_plugin_describe(old)->api_minor, 40);
    assert_false(rt_plugin_describe(old)->has_profiler);
    assert_fails(rt_profiler_start(old, &profiler, &st), BN_NOT_SUPPORTED, "no profiler", &st);
    assert_ok(rt_client_create(old, NULL, 0, &old_client, &st), &st);
    assert_ok(rt_compile(old_client, program, program_size, NULL, &executable, &st), &st);
    rt_executable_describe(executable, &stats); /* its table ends before the memory figures */
    assert_int_equal(stats.argument_bytes, -1);
    assert_int_equal(stats.code_bytes, -1);
    assert_true(stats.flops == 1000);
    assert_ok(rt_executable_fingerprint(executable, &text, &st), &st);
    assert_string_equal(text, "old-style");
    free(text);
    rt_executable_destroy(executable);
    rt_client_destroy(old_client);
}

/* ---- client ------------------------------------------------------------- */

static void client_tells_its_devices(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_client *many = NULL;
    rt_device_memory memory;
    char text[] = "devices=3", unknown[] = "shape=round", none[] = "devices=0";
    rt_option option;
    assert_ok(rt_option_parse(text, &option, &st), &st);
    assert_ok(rt_client_create(plugin, &option, 1, &many, &st), &st);
    assert_string_equal(rt_client_platform(many), "fake");
    assert_string_equal(rt_client_platform_version(many), "fake 1");
    assert_int_equal(rt_client_device_count(many), 3);
    const rt_device_info *device = rt_client_device(many, 2);
    assert_int_equal(device->id, 12);
    assert_string_equal(device->kind, "fake device");
    assert_string_equal(device->description, ""); /* the fake has no such entry */
    assert_int_equal(device->memory_kind_count, 1);
    assert_string_equal(device->memory_kinds[0], "device");
    assert_null(rt_client_device(many, 3));
    assert_ok(rt_client_memory(many, 2, &memory, &st), &st);
    assert_int_equal(memory.bytes_in_use, 0);
    assert_int_equal(memory.bytes_limit, -1);
    assert_fails(rt_client_memory(many, 3, &memory, &st), BN_INVALID, "device 3 of 3", &st);

    rt_buffer *buffer = NULL;
    const int64_t dims[1] = {4};
    const float data[4] = {1, 2, 3, 4};
    assert_ok(rt_client_use_device(many, 2, &st), &st);
    assert_fails(rt_client_use_device(many, 3, &st), BN_INVALID, "device 3 of 3", &st);
    assert_ok(rt_buffer_from_host(many, data, RT_F32, dims, 1, &buffer, &st), &st);
    assert_ok(rt_client_memory(many, 2, &memory, &st), &st);
    assert_int_equal(memory.bytes_in_use, 16);
    rt_buffer_release(many, buffer);
    rt_client_destroy(many);

    assert_ok(rt_option_parse(unknown, &option, &st), &st);
    assert_fails(rt_client_create(plugin, &option, 1, &many, &st), BN_PLUGIN,
                 "creating a client: unknown client option", &st);
    assert_ok(rt_option_parse(none, &option, &st), &st);
    assert_fails(rt_client_create(plugin, &option, 1, &many, &st), BN_NOT_FOUND, "no device", &st);
    order("client_error,code=14");
    assert_fails(rt_client_create(plugin, NULL, 0, &many, &st), BN_PLUGIN, "not available", &st);
    rt_client_destroy(NULL);
}

static void options_are_parsed_by_their_form(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int kind;
        int64_t integer;
        float real;
    } rows[] = {
        {"a=1", RT_OPTION_INT, 1, 0},          {"a=-12", RT_OPTION_INT, -12, 0},
        {"a=true", RT_OPTION_BOOL, 1, 0},      {"a=false", RT_OPTION_BOOL, 0, 0},
        {"a=0.75", RT_OPTION_FLOAT, 0, 0.75f}, {"a=1e3", RT_OPTION_FLOAT, 0, 1000},
        {"a=", RT_OPTION_STRING, 0, 0},        {"a=b=c", RT_OPTION_STRING, 0, 0},
        {"a=1.2.3", RT_OPTION_STRING, 0, 0},   {"a=inf", RT_OPTION_STRING, 0, 0},
        {"a=0x10", RT_OPTION_STRING, 0, 0},    {"a=e", RT_OPTION_STRING, 0, 0},
        {"a= 1", RT_OPTION_STRING, 0, 0},      {"a=-", RT_OPTION_STRING, 0, 0},
    };
    bn_status st = {0};
    char text[64];
    rt_option option;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, "%s", rows[i].text);
        assert_ok(rt_option_parse(text, &option, &st), &st);
        assert_string_equal(option.name, "a");
        assert_int_equal(option.kind, rows[i].kind);
        assert_int_equal(option.integer, rows[i].integer);
        assert_true(option.real == rows[i].real);
        if (option.kind == RT_OPTION_STRING)
            assert_string_equal(option.string, rows[i].text + 2);
    }
    static const char *const bad[] = {"a", "=1", "", "a=99999999999999999999", "a=1e99"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(text, sizeof text, "%s", bad[i]);
        assert_fails(rt_option_parse(text, &option, &st), BN_INVALID, "option", &st);
    }
}

/* ---- programs ----------------------------------------------------------- */

static rt_executable *compiled(void)
{
    bn_status st = {0};
    rt_executable *executable = NULL;
    assert_ok(rt_compile(client, program, program_size, NULL, &executable, &st), &st);
    return executable;
}

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

static void compile_errors_are_told(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = NULL;
    const char *flags[] = {"xla_no_value"};
    rt_compile_options options = {.device = 1};
    assert_fails(rt_compile(client, "", 0, NULL, &executable, &st), BN_INVALID, "empty", &st);
    assert_fails(rt_compile(client, "module", 6, NULL, &executable, &st), BN_COMPILE,
                 "-:1:1: error: no function @main", &st);
    assert_fails(rt_compile(client, program, program_size, &options, &executable, &st), BN_INVALID,
                 "device 1 of 1", &st);
    options = (rt_compile_options){.flags = flags, .flag_count = 1};
    assert_fails(rt_compile(client, program, program_size, &options, &executable, &st), BN_INVALID,
                 "xla_no_value", &st);

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
        assert_fails(rt_compile(client, program, program_size, NULL, &executable, &st),
                     rows[i].wanted, "-:3:7: error: the fake compiler refuses", &st);
    }
    assert_int_equal(rt_compile(client, program, program_size, NULL, &executable, NULL),
                     BN_COMPILE);
}

/* ---- executions --------------------------------------------------------- */

static void arguments_make(rt_buffer *arguments[2])
{
    static const float data[6] = {1, 2, 3, 4, 5, 6};
    static const int32_t number = 7;
    static const int64_t dims[2] = {2, 3};
    bn_status st = {0};
    assert_ok(rt_buffer_from_host(client, data, RT_F32, dims, 2, &arguments[0], &st), &st);
    assert_ok(rt_buffer_from_host(client, &number, RT_S32, NULL, 0, &arguments[1], &st), &st);
}

static void release_two(rt_buffer *buffers[2])
{
    rt_buffer_release(client, buffers[0]);
    rt_buffer_release(client, buffers[1]);
}

static void execution_consumes_what_is_donated(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = compiled();
    rt_buffer *arguments[2], *results[2];
    rt_event *done = NULL;
    uintptr_t before = 0, after = 0;
    float data[6];
    rt_dtype dtype;
    int64_t dims[RT_MAX_RANK];
    size_t rank = 0;
    arguments_make(arguments);
    assert_ok(rt_buffer_address(client, arguments[0], &before, &st), &st);
    assert_ok(rt_execute(executable, arguments, 2, NULL, 0, results, &done, &st), &st);
    assert_ok(rt_event_await(client, done, &st), &st);
    assert_true(rt_event_is_ready(client, done));
    rt_event_release(client, done);
    assert_true(rt_buffer_is_deleted(client, arguments[0]));
    assert_false(rt_buffer_is_deleted(client, arguments[1]));
    assert_ok(rt_buffer_address(client, results[1], &after, &st), &st);
    assert_int_equal(before, after);
    assert_ok(rt_buffer_type(client, results[0], &dtype, dims, &rank, &st), &st);
    assert_int_equal(dtype, RT_C64);
    assert_int_equal(rank, 1);
    assert_int_equal(dims[0], 4);
    assert_ok(rt_buffer_to_host(client, results[1], data, sizeof data, &st), &st);
    assert_true(data[5] == 0);
    assert_fails(rt_buffer_to_host(client, results[1], data, 4, &st), BN_INVALID,
                 "holds 24 bytes, the host expects 4", &st);
    assert_fails(rt_buffer_to_host(client, arguments[0], data, sizeof data, &st), BN_INVALID,
                 "donated", &st);
    assert_fails(rt_buffer_await(client, arguments[0], &st), BN_EXECUTE, "donated", &st);
    /* A donated handle is no argument any more. */
    release_two(results);
    assert_fails(rt_execute(executable, arguments, 2, NULL, 0, results, NULL, &st), BN_EXECUTE,
                 "deleted or donated", &st);
    assert_null(results[0]);
    assert_null(results[1]);
    release_two(arguments);
    rt_executable_destroy(executable);
}

static void execution_keeps_what_it_is_told(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = compiled();
    rt_buffer *arguments[2], *results[2];
    const int64_t keep[1] = {0};
    float data[6];
    arguments_make(arguments);
    assert_ok(rt_execute(executable, arguments, 2, keep, 1, results, NULL, &st), &st);
    assert_false(rt_buffer_is_deleted(client, arguments[0]));
    assert_ok(rt_buffer_to_host(client, arguments[0], data, sizeof data, &st), &st);
    assert_true(data[5] == 6);
    release_two(results);
    release_two(arguments);
    rt_executable_destroy(executable);
}

static void execution_errors_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *orders;
        bn_code wanted;
    } rows[] = {
        {"execute_error", BN_EXECUTE},
        {"oom", BN_OUT_OF_MEMORY},
        {"execute_error,code=12", BN_NOT_SUPPORTED},
        {"execute_error,code=4", BN_TIMEOUT},
    };
    bn_status st = {0};
    rt_executable *executable = compiled();
    rt_buffer *arguments[2], *results[2], *none = NULL;
    rt_event *done = NULL;
    float data[6];
    const float number = 1;
    arguments_make(arguments);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        order(rows[i].orders);
        assert_fails(rt_execute(executable, arguments, 2, NULL, 0, results, &done, &st),
                     rows[i].wanted, "", &st);
        assert_null(results[1]);
        assert_null(done);
    }
    order("");
    assert_fails(rt_execute(executable, arguments, 1, NULL, 0, results, &done, &st), BN_EXECUTE,
                 "number of arguments", &st);
    order("transfer_error,code=8");
    assert_fails(rt_buffer_from_host(client, &number, RT_F32, NULL, 0, &none, &st),
                 BN_OUT_OF_MEMORY, "takes no data", &st);

    /* An error that only the event knows; so do the results. */
    order("event_error,code=8");
    assert_ok(rt_execute(executable, arguments, 2, NULL, 0, results, &done, &st), &st);
    order("");
    assert_fails(rt_event_await(client, done, &st), BN_OUT_OF_MEMORY, "while it executed", &st);
    assert_fails(rt_buffer_await(client, results[0], &st), BN_OUT_OF_MEMORY, "", &st);
    assert_fails(rt_buffer_to_host(client, results[1], data, sizeof data, &st), BN_OUT_OF_MEMORY,
                 "", &st);
    rt_event_release(client, done);
    release_two(results);
    release_two(arguments);
    rt_executable_destroy(executable);
}

static void events_fire_in_order(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = compiled();
    rt_buffer *arguments[2], *results[3][2];
    rt_event *done[3];
    const int64_t keep[1] = {0};
    arguments_make(arguments);
    order("delay_us=20000");
    uint64_t start = bn_now_ns();
    for (int i = 0; i < 3; i++)
        assert_ok(rt_execute(executable, arguments, 2, keep, 1, results[i], &done[i], &st), &st);
    /* Only lower bounds: a busy machine may be late, never early. */
    for (int i = 0; i < 3; i++) {
        assert_ok(rt_event_await(client, done[i], &st), &st);
        assert_true(bn_now_ns() - start >= (uint64_t)(i + 1) * 20000000);
        assert_true(rt_event_is_ready(client, done[0]));
        release_two(results[i]);
    }
    for (int i = 0; i < 3; i++)
        rt_event_release(client, done[i]);
    order("never_ready");
    assert_ok(rt_execute(executable, arguments, 2, keep, 1, results[0], &done[0], &st), &st);
    assert_false(rt_event_is_ready(client, done[0]));
    rt_event_release(client, done[0]);
    rt_event_release(client, NULL);
    release_two(results[0]);
    release_two(arguments);
    rt_executable_destroy(executable);
}

/* A plugin that ends or blocks its process does so in ours too: that is why
 * experiments run in workers. Here it proves that the orders work. */
static void hang_and_abort_are_the_plugins(void **state)
{
    (void)state;
    static const struct {
        const char *orders;
        int signal;
    } rows[] = {{"abort", SIGABRT}, {"hang", SIGALRM}};
    rt_executable *executable = compiled();
    rt_buffer *arguments[2], *results[2];
    arguments_make(arguments);
    for (size_t i = 0; i < 2; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGABRT, SIG_DFL);
            alarm(1);
            order(rows[i].orders);
            bn_code code = rt_execute(executable, arguments, 2, NULL, 0, results, NULL, NULL);
            _exit(code == BN_OK ? 0 : 1);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), rows[i].signal);
    }
    release_two(arguments);
    rt_executable_destroy(executable);
}

/* ---- transfers ---------------------------------------------------------- */

static void transfers_check_their_arguments(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_buffer *buffer = NULL;
    rt_event *host_done = NULL;
    const int64_t negative[1] = {-1}, many[RT_MAX_RANK + 1] = {1}, none[2] = {0, 5};
    const char byte = 1;
    assert_fails(rt_buffer_from_host(client, &byte, RT_S8, many, RT_MAX_RANK + 1, &buffer, &st),
                 BN_INVALID, "rank 33, at most 32", &st);
    assert_fails(rt_buffer_from_host(client, &byte, RT_S8, negative, 1, &buffer, &st), BN_INVALID,
                 "dimension 0 is -1", &st);
    assert_fails(rt_buffer_from_host(client, &byte, RT_DTYPE_COUNT, many, 1, &buffer, &st),
                 BN_INVALID, "element type", &st);
    assert_ok(rt_buffer_from_host(client, &byte, RT_S8, none, 2, &buffer, &st), &st);
    assert_ok(rt_buffer_to_host(client, buffer, NULL, 0, &st), &st);
    rt_buffer_release(client, buffer);
    assert_ok(rt_buffer_from_host_async(client, &byte, RT_S8, many, 8, &buffer, &host_done, &st),
              &st);
    assert_ok(rt_event_await(client, host_done, &st), &st);
    rt_event_release(client, host_done);
    rt_buffer_release(client, buffer);
    rt_buffer_release(client, NULL);
}

/* ---- profiler ----------------------------------------------------------- */

static void profile_of(const char *orders)
{
    bn_status st = {0};
    rt_executable *executable = compiled();
    rt_buffer *arguments[2], *results[2];
    rt_profiler *profiler = NULL;
    rt_device_span *spans = NULL;
    const int64_t keep[1] = {0};
    void *xspace = NULL;
    size_t size = 0, count = 0;
    arguments_make(arguments);
    order(orders);
    assert_ok(rt_profiler_start(plugin, &profiler, &st), &st);
    for (int i = 0; i < 3; i++) {
        assert_ok(rt_execute(executable, arguments, 2, keep, 1, results, NULL, &st), &st);
        release_two(results);
    }
    assert_ok(rt_profiler_finish(profiler, &xspace, &size, &st), &st);
    assert_ok(rt_xspace_device_spans(xspace, size, &spans, &count, &st), &st);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(spans[i].name, "jit_main(7)");
        assert_int_equal(spans[i].duration_ns, 3000000);
    }
    /* One after the other, though the profile tells the latest first. */
    assert_true(spans[1].start_ns >= spans[0].start_ns + 3000000);
    assert_true(spans[2].start_ns >= spans[1].start_ns + 3000000);
    free(spans);
    /* A profile that was cut is told, or gives fewer spans; it never crashes. */
    for (size_t cut = 0; cut < size; cut++) {
        bn_code code = rt_xspace_device_spans(xspace, cut, &spans, &count, &st);
        if (code == BN_OK) {
            assert_true(count <= 3);
            free(spans);
        } else {
            assert_int_equal(code, BN_FORMAT);
        }
    }
    free(xspace);
    release_two(arguments);
    rt_executable_destroy(executable);
}

static void profiles_are_collected(void **state)
{
    (void)state;
    profile_of("delay_us=3000");
    profile_of("delay_us=3000,collect_at_once");
    bn_status st = {0};
    rt_profiler *profiler = NULL;
    order("profiler_error");
    assert_fails(rt_profiler_start(plugin, &profiler, &st), BN_PLUGIN,
                 "starting the profiler: the fake profiler is busy", &st);
    rt_device_span *spans = NULL;
    size_t count = 5;
    assert_ok(rt_xspace_device_spans("", 0, &spans, &count, &st), &st);
    assert_int_equal(count, 0);
    free(spans);
    assert_fails(rt_xspace_device_spans("\xff\xff\xff", 3, &spans, &count, &st), BN_FORMAT,
                 "XSpace", &st);
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
    assert_fails(rt_topology_compile(topology, "x", 1, NULL, &executable, &st), BN_COMPILE, "@main",
                 &st);
    assert_ok(rt_topology_compile(topology, program, program_size, NULL, &executable, &st), &st);
    rt_executable_describe(executable, &stats);
    assert_int_equal(stats.argument_bytes, 28);
    assert_fails(rt_execute(executable, NULL, 0, NULL, 0, results, NULL, &st), BN_INVALID,
                 "cannot be executed", &st);
    rt_executable_destroy(executable);
    rt_topology_destroy(topology);
    rt_topology_destroy(NULL);
}

/* ---- names -------------------------------------------------------------- */

static void names_are_found(void **state)
{
    (void)state;
    bn_status st = {0};
    char path[300], small[4];
    const char *source = NULL;
    assert_string_equal(rt_plugin_known(0, &source), "cpu");
    assert_non_null(source);
    size_t count = 0;
    while (rt_plugin_known(count, NULL))
        count++;
    assert_int_equal(count, 6);

    setenv("PJRT_NAMES_AND_LIBRARY_PATHS", "other:/x/o.so,mine:/y/m.so,cpu:/z/c.so", 1);
    assert_ok(rt_plugin_find("mine", path, sizeof path, &st), &st);
    assert_string_equal(path, "/y/m.so");
    assert_ok(rt_plugin_find("cpu", path, sizeof path, &st), &st);
    assert_string_equal(path, "/z/c.so");
    assert_fails(rt_plugin_find("min", path, sizeof path, &st), BN_NOT_FOUND, "known: cpu", &st);
    assert_fails(rt_plugin_find("", path, sizeof path, &st), BN_NOT_FOUND, "known: cpu", &st);
    unsetenv("PJRT_NAMES_AND_LIBRARY_PATHS");
    setenv("TPU_LIBRARY_PATH", "/t/libtpu.so", 1);
    assert_ok(rt_plugin_find("tpu", path, sizeof path, &st), &st);
    assert_string_equal(path, "/t/libtpu.so");
    assert_fails(rt_plugin_find("tpu", small, sizeof small, &st), BN_INVALID, "too long", &st);
    unsetenv("TPU_LIBRARY_PATH");
    assert_ok(rt_plugin_find(rt_plugin_describe(plugin)->path, path, sizeof path, &st), &st);
    assert_fails(rt_plugin_find("/no/such.so", path, sizeof path, &st), BN_NOT_FOUND, "/no/such.so",
                 &st);

    /* A folder of wheels of the user's own. */
    char wheel[600];
    snprintf(wheel, sizeof wheel, "%s/libtpu/libtpu", folder);
    assert_ok(bn_make_folder(wheel, &st), &st);
    strcat(wheel, "/libtpu.so");
    assert_ok(bn_file_write_atomic(wheel, "", 0, &st), &st);
    setenv("BENCH_RUNTIMES", folder, 1);
    assert_ok(rt_plugin_find("tpu", path, sizeof path, &st), &st);
    assert_string_equal(path, wheel);
    unsetenv("BENCH_RUNTIMES");
    unlink(wheel);
    for (int i = 0; i < 2; i++) {
        *strrchr(wheel, '/') = '\0';
        rmdir(wheel);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(load_refuses_what_is_no_plugin),
        TEST(load_gives_the_same_plugin_again),
        TEST(plugin_is_described),
        TEST(old_plugin_lacks_entries_and_lives),
        TEST(client_tells_its_devices),
        TEST(options_are_parsed_by_their_form),
        TEST(executable_is_described),
        TEST(executable_is_stored_and_loaded),
        TEST(compile_errors_are_told),
        TEST(execution_consumes_what_is_donated),
        TEST(execution_keeps_what_it_is_told),
        TEST(execution_errors_are_told),
        TEST(events_fire_in_order),
        TEST(hang_and_abort_are_the_plugins),
        TEST(transfers_check_their_arguments),
        TEST(profiles_are_collected),
        TEST(topology_compiles_without_a_device),
        TEST(names_are_found),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
