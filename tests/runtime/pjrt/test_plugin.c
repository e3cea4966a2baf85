/*
 * test_plugin.c - plugins found by name, loaded or refused, and their clients, with a plugin
 * that misbehaves on request.
 *
 * BENCH_TEST_NOTPLUGIN names a shared object that is none.
 */
#include "tests/runtime/pjrt/fake_fixture.h"

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
    assert_fails(rt_plugin_find("min", path, sizeof path, &st), BN_NOT_FOUND, "; there is cpu",
                 &st);
    assert_fails(rt_plugin_find("", path, sizeof path, &st), BN_NOT_FOUND, "; there is cpu", &st);
    static const char *const odd[] = {"sim",        "sim:",       "sim=/x.so",
                                      " sim:/x.so", ":/x.so",     "other:/o.so,sim",
                                      "sim:x.so",   "sim:/x.so,:"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        setenv("PJRT_NAMES_AND_LIBRARY_PATHS", odd[i], 1);
        assert_fails(rt_plugin_find("sim", path, sizeof path, &st), BN_INVALID,
                     "PJRT_NAMES_AND_LIBRARY_PATHS: '", &st);
    }
    setenv("PJRT_NAMES_AND_LIBRARY_PATHS", ",sim:/x.so,,sim:/y.so,", 1);
    assert_ok(rt_plugin_find("sim", path, sizeof path, &st), &st);
    assert_string_equal(path, "/x.so");
    unsetenv("PJRT_NAMES_AND_LIBRARY_PATHS");
    setenv("TPU_LIBRARY_PATH", "/t/libtpu.so", 1);
    assert_ok(rt_plugin_find("tpu", path, sizeof path, &st), &st);
    assert_string_equal(path, "/t/libtpu.so");
    assert_fails(rt_plugin_find("tpu", small, sizeof small, &st), BN_INVALID, "too long", &st);
    setenv("TPU_LIBRARY_PATH", "libtpu.so", 1);
    assert_fails(rt_plugin_find("tpu", path, sizeof path, &st), BN_INVALID,
                 "TPU_LIBRARY_PATH|'libtpu.so'", &st);
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
    /* Below the current folder nothing is looked for, and nothing else in its place. */
    char before[300], overlong[5000];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    setenv("BENCH_RUNTIMES", ".", 1);
    assert_fails(rt_plugin_find("tpu", path, sizeof path, &st), BN_INVALID, "BENCH_RUNTIMES|'.'",
                 &st);
    assert_int_equal(chdir(before), 0);
    memset(overlong, '/', sizeof overlong - 1);
    overlong[sizeof overlong - 1] = '\0';
    setenv("BENCH_RUNTIMES", overlong, 1);
    assert_fails(rt_plugin_find("tpu", path, sizeof path, &st), BN_INVALID, "BENCH_RUNTIMES|4999",
                 &st);
    setenv("BENCH_RUNTIMES", "/nowhere", 1);
    setenv("VIRTUAL_ENV", "venv", 1);
    assert_fails(rt_plugin_find("tpu", path, sizeof path, &st), BN_INVALID, "VIRTUAL_ENV|'venv'",
                 &st);
    unsetenv("VIRTUAL_ENV");
    unsetenv("BENCH_RUNTIMES");
    unlink(wheel);
    for (int i = 0; i < 2; i++) {
        *strrchr(wheel, '/') = '\0';
        rmdir(wheel);
    }
}

/* ---- loading ------------------------------------------------------------ */

static const char *not_a_plugin_path(void)
{
    const char *path = getenv("BENCH_TEST_NOTPLUGIN");
    return path ? path : "build/libnot_a_plugin.so";
}

/* A copy of the fake under another name is another plugin to the loader. */
static void copy_load(const char *orders, rt_plugin **copy, bn_code wanted, const char *text)
{
    static int serial;
    char path[300], *bytes = NULL;
    size_t size = 0;
    bn_status st = {0};
    snprintf(path, sizeof path, "%s/copy%d.so", folder, serial++);
    assert_ok(bn_regular_read(fake_path(), &bytes, &size, &st), &st);
    assert_ok(bn_file_write_atomic(path, bytes, size, &st), &st);
    free(bytes);
    order(orders);
    if (wanted == BN_OK)
        assert_ok(rt_plugin_load(path, NULL, copy, &st), &st);
    else
        assert_fails(rt_plugin_load(path, NULL, copy, &st), wanted, text, &st);
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
    assert_fails(rt_plugin_load(path, NULL, &none, &st), BN_NOT_FOUND, "text.so", &st);
    assert_ok(bn_file_write_atomic(path, "#!/bin/sh\n", 10, &st), &st);
    assert_fails(rt_plugin_load(path, NULL, &none, &st), BN_PLUGIN, "not a shared object", &st);
    assert_ok(bn_file_write_atomic(path, "", 0, &st), &st);
    assert_fails(rt_plugin_load(path, NULL, &none, &st), BN_PLUGIN, "not a shared object", &st);
    assert_ok(bn_file_write_atomic(path, "\177ELF and no more", 16, &st), &st);
    assert_fails(rt_plugin_load(path, NULL, &none, &st), BN_PLUGIN, "cannot be loaded", &st);
    unlink(path);
    assert_fails(rt_plugin_load(not_a_plugin_path(), NULL, &none, &st), BN_PLUGIN, "no GetPjrtApi",
                 &st);
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
    assert_ok(rt_plugin_load(roundabout, NULL, &again, &st), &st);
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
    assert_fails(rt_profiler_start(old, false, &profiler, &st), BN_NOT_SUPPORTED, "no profiler",
                 &st);
    assert_ok(rt_client_create(old, NULL, 0, &old_client, &st), &st);
    assert_ok(compile_text(old_client, program, program_size, NULL, &executable, &st), &st);
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

static void client_reports_its_devices(void **state)
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
    rt_client third = client_on(many, 2);
    assert_ok(rt_buffer_from_host(&third, data, BN_F32, dims, 1, &buffer, &st), &st);
    assert_ok(rt_client_memory(many, 2, &memory, &st), &st);
    assert_int_equal(memory.bytes_in_use, 16);
    rt_buffer_release(many, buffer);
    rt_client_destroy(many);

    assert_ok(rt_option_parse(unknown, &option, &st), &st);
    assert_fails(rt_client_create(plugin, &option, 1, &many, &st), BN_INVALID,
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(load_refuses_what_is_no_plugin),
        TEST(load_gives_the_same_plugin_again),
        TEST(plugin_is_described),
        TEST(old_plugin_lacks_entries_and_lives),
        TEST(client_reports_its_devices),
        TEST(options_are_parsed_by_their_form),
        TEST(names_are_found),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
