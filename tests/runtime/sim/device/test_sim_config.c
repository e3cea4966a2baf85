/*
 * test_sim_config.c - the simulated runtime's settings: options, environment, file and
 * presets, which goes before which, what is refused and how; and plugins that say they
 * are of another time (PJRT_SIM_API).
 */
#include "tests/runtime/sim/device/sim_fixture.h"

#include <unistd.h>

/* The plugin's own, for the names of presets. */
#include "runtime/sim/device/config.h"

static char folder[256];

static int group_setup(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test_sim.XXXXXX", parent ? parent : P_tmpdir);
    return mkdtemp(folder) ? 0 : -1;
}

static int group_teardown(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int teardown(void **state)
{
    (void)state;
    unsetenv("PJRT_SIM");
    unsetenv("PJRT_SIM_CONFIG");
    unsetenv("PJRT_SIM_API");
    assert_nothing_live();
    return 0;
}

static const char *attribute(const rt_client *client, const char *name)
{
    const rt_device_info *info = rt_client_device(client, 0);
    for (size_t i = 0; i < info->attribute_count; i++)
        if (strcmp(info->attributes[i].name, name) == 0)
            return info->attributes[i].text;
    return "";
}

static void write_file(char path[300], const char *name, const char *text)
{
    bn_status st = {0};
    snprintf(path, 300, "%s/%s", folder, name);
    assert_ok(bn_file_write_atomic(path, text, strlen(text), &st), &st);
}

/* ---- where settings come from ------------------------------------------------------------ */

static void the_plugin_says_that_it_simulates(void **state)
{
    (void)state;
    const rt_plugin_info *info = rt_plugin_describe(sim_plugin());
    assert_string_equal(info->attributes[0].name, "simulated");
    assert_string_equal(info->attributes[0].text, "true");
    assert_true(info->has_profiler);
    rt_client *client = sim_client("kind=thing devices=3");
    assert_string_equal(rt_client_platform(client), "sim");
    assert_non_null(strstr(rt_client_platform_version(client), "simulated, preset ideal"));
    assert_string_equal(attribute(client, "simulated"), "1");
    assert_int_equal(rt_client_device_count(client), 3);
    for (size_t i = 0; i < 3; i++) {
        const rt_device_info *device = rt_client_device(client, i);
        assert_int_equal(device->id, i);
        assert_string_equal(device->kind, "thing");
        assert_int_equal(device->memory_kind_count, 1);
        assert_string_equal(device->memory_kinds[0], "device");
    }
    rt_client_destroy(client);
}

static void each_preset_loads(void **state)
{
    (void)state;
    const sim_preset *preset;
    size_t count = 0;
    for (; (preset = sim_preset_at(count)); count++) {
        char settings[64];
        snprintf(settings, sizeof settings, "preset=%s devices=2", preset->name);
        rt_client *client = sim_client(settings);
        assert_string_equal(attribute(client, "preset"), preset->name);
        assert_int_equal(rt_client_device_count(client), 2);
        assert_non_null(strstr(rt_client_device(client, 0)->kind, "simulated"));
        assert_true(strlen(preset->source) > 20);
        rt_client_destroy(client);
    }
    assert_true(count >= 8);
}

/* Option before environment before file before preset, one by one; and a preset does
 * not undo single settings of its own source, wherever it stands. */
static void later_sources_go_before_earlier_ones(void **state)
{
    (void)state;
    static const struct {
        const char *json, *environment, *options, *preset, *memory, *kind;
    } rows[] = {
        {"{}", "", "", "ideal", "17179869184", "simulated device"},
        {"{\"preset\": \"h100\"}", "", "", "h100", "85899345920", "simulated H100 SXM"},
        {"{\"kind\": \"file\", \"memory_bytes\": 1000, \"preset\": \"h100\"}", "", "", "h100",
         "1000", "file"},
        {"{\"kind\": \"file\", \"memory_bytes\": 1000}", "memory_bytes=2000", "", "ideal", "2000",
         "file"},
        {"{\"kind\": \"file\"}", "memory_bytes=2000,kind=environment,preset=h100", "", "h100",
         "2000", "environment"},
        {"{\"memory_bytes\": 1e3}", "memory_bytes=2000,kind=environment", "memory_bytes=3000",
         "ideal", "3000", "environment"},
        {"{}", "kind=environment", "memory_bytes=3000 preset=tpu-v4 kind=option", "tpu-v4", "3000",
         "option"},
        {"{}", "kind=environment", "preset=tpu-v4", "tpu-v4", "34359738368", "simulated TPU v4"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[300];
        write_file(path, "settings.json", rows[i].json);
        setenv("PJRT_SIM_CONFIG", path, 1);
        setenv("PJRT_SIM", rows[i].environment, 1);
        rt_client *client = sim_client(rows[i].options);
        assert_string_equal(attribute(client, "preset"), rows[i].preset);
        assert_string_equal(attribute(client, "memory_bytes"), rows[i].memory);
        assert_string_equal(rt_client_device(client, 0)->kind, rows[i].kind);
        rt_client_destroy(client);
        unlink(path);
    }
}

static void a_file_is_an_option_too(void **state)
{
    (void)state;
    char path[300], other[300], settings[700];
    write_file(other, "other.json", "{\"kind\": \"other\", \"blocking\": true}");
    snprintf(settings, sizeof settings, "{\"memory_bytes\": 4096, \"config\": \"%s\"}", other);
    write_file(path, "settings.json", settings);
    snprintf(settings, sizeof settings, "config=%s", path);
    rt_client *client = sim_client(settings);
    assert_string_equal(attribute(client, "memory_bytes"), "4096");
    assert_string_equal(rt_client_device(client, 0)->kind, "other");
    rt_client_destroy(client);
    unlink(path);
    unlink(other);
}

static void options_of_each_kind_are_settings(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_option options[] = {
        {.name = "device_us", .kind = RT_OPTION_FLOAT, .real = 2.5f},
        {.name = "memory_bytes", .kind = RT_OPTION_INT, .integer = INT64_C(1) << 40},
        {.name = "blocking", .kind = RT_OPTION_BOOL, .integer = 1},
        {.name = "kind", .kind = RT_OPTION_STRING, .string = "two words"},
        {.name = "launch_us", .kind = RT_OPTION_STRING, .string = "1e2"},
    };
    rt_client *client = NULL;
    assert_ok(rt_client_create(sim_plugin(), options, 5, &client, &st), &st);
    assert_string_equal(attribute(client, "memory_bytes"), "1099511627776");
    assert_string_equal(rt_client_device(client, 0)->kind, "two words");
    sim_adder a = sim_adder_on(client, 0);
    rt_profiler *profiler = sim_profile_begin(client);
    rt_event *done = sim_submit(&a);
    assert_true(event_is_ready(client, done)); /* blocking */
    sim_await(&a, done);
    rt_device_span *spans = sim_profile_end(profiler, 1);
    assert_int_equal(spans[0].duration_ns, 2500);
    free(spans);
    sim_adder_free(&a);
}

/* ---- what is refused -------------------------------------------------------------------- */

#define SIXTY_FOUR "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg"

static void bad_settings_are_refused(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"devise_us=5",
         "no setting devise_us; did you mean device_us? runtime/sim/README.md lists"},
        {"colour=5", ", faults, report"}, /* to the last one */
        {"colour=5", "there is no setting colour; there are preset, config, kind"},
        {"preset=tpu-v9", "no preset tpu-v9; did you mean tpu-v4? There are ideal, tpu-v4, "},
        {"preset=tpu-v9", ", tpu-v4-2023"},
        {"devices=0", "devices=0: wants a number from 1 to 64"},
        {"devices=65", "from 1 to 64"},
        {"devices=1.5", "from 1 to 64"},
        {"device_us=fast", "device_us=fast: wants a number from -1 to 1e+09"},
        {"device_us=5us", "device_us=5us"},
        {"device_us=", "device_us="},
        {"execute_us=-1", "execute_us=-1: wants a number from 0"},
        {"execute_us=nan", "execute_us=nan"},
        {"f32_gflops=0", "f32_gflops=0"},
        {"efficiency=0", "efficiency=0: wants a number from 1e-06"},
        {"blocking=yes", "blocking=yes: wants true or false"},
        {"values=some", "values=some: wants auto or none"},
        {"kind=" SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR, "wants a shorter text"},
        {"stated=step", "stated=step: wants module:device_us or module:device_us:overhead_us"},
        {"stated=step:4:", "stated=step:4:"},
        {"stated=step:4:-1", "stated=step:4:-1"},
        {"stated=step:4:5:6", "stated=step:4:5:6"},
        {"stated=step:-4", "stated=step:-4"},
        {"stated=step:4us", "stated=step:4us"},
        {"interference_us=5", "interference_us=5: wants less than interference_period_us"},
        {"interference_us=5 interference_period_us=5", "interference_period_us, which is 5"},
        {"seed=-2", "seed=-2: wants a number from -1"},
        {"seed=0.5", "seed=0.5"},
        {"process=-1", "process=-1: wants a number from 0"},
        {"process_sd=-0.5", "process_sd=-0.5: wants a number from 0 to 10"},
        {"wander_sd=11", "wander_sd=11"},
        {"wander_executions=0.5", "wander_executions=0.5: wants a number from 1"},
        {"burst_rate=5", "burst_rate=5 and burst_us=0: wants both above 0 or none"},
        {"burst_us=5", "burst_rate=0 and burst_us=5: wants both above 0 or none"},
        {"burst_rate=1000000 burst_us=1", "burst_rate=1000000: wants a number from 0 to 100000"},
        {"faults=execute", "client|compile|execute|transfer:NUMBER:"},
        {"faults=execute:1:explode", "fail|oom|hang|abort|never|event|wrong[:CODE]"},
        {"faults=devices:1:fail", "client|compile|execute|transfer:NUMBER:"},
        {"faults=execute:0:fail", "'0' is not 1, 2, ... or *"},
        {"faults=execute:-1:fail", "'-1' is not 1, 2, ... or *"},
        {"faults=execute:1:fail:17", "code '17' is not 1 to 16"},
        {"faults=execute:1:fail:13:2", "client|compile|execute|transfer:NUMBER:"},
        {"faults=compile:1:never", "only an execution can be 'never'"},
        {"faults=a;b;c", "faults: wants"},
        {"config=/no/such/file.json", "/no/such/file.json"},
        {"config=/dev/null", "/dev/null: not a regular file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bn_status st = {0};
        rt_client *client = NULL;
        assert_fails(sim_try(sim_plugin(), rows[i][0], &client, &st), BN_INVALID, rows[i][1], &st);
        assert_null(client);
    }
}

/* The same words whichever way a setting came. */
static void bad_environment_and_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *environment, *text;
    } rows[] = {
        {"{}", "device_us", "'device_us': wants name=value"},
        {"{}", "device_us=5,,kind=x", "'': wants name=value"},
        {"{}", "device_us=5,devise=1", "there is no setting devise"},
        {"{\"device_us\": \"x\"}", "", "device_us=x: wants a number"},
        {"{\"device_us\": [1]}", "", "device_us: wants a number, a text or a truth value"},
        {"{\"device_us\": null}", "", "device_us: wants a number, a text or a truth value"},
        {"{\"devise\": 1}", "", "there is no setting devise"},
        {"{\"preset\": 5}", "", "there is no preset 5"},
        {"[1]", "", "settings.json: wants a JSON object"},
        {"{\"device_us\": 1, \"device_us\": 2}", "", "settings.json:1:"},
        {"{\n\"device_us\" 1}", "", "settings.json:2:"},
        {"", "", "settings.json:1:"},
        {"{\"config\": \"%s\"}", "", "refer to each other"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bn_status st = {0};
        rt_client *client = NULL;
        char path[300], json[600];
        snprintf(path, sizeof path, "%s/settings.json", folder);
        const char *itself = strstr(rows[i].json, "%s");
        if (itself)
            snprintf(json, sizeof json, "%.*s%s%s", (int)(itself - rows[i].json), rows[i].json,
                     path, itself + 2);
        else
            snprintf(json, sizeof json, "%s", rows[i].json);
        write_file(path, "settings.json", json);
        setenv("PJRT_SIM_CONFIG", path, 1);
        setenv("PJRT_SIM", rows[i].environment, 1);
        assert_fails(sim_try(sim_plugin(), "", &client, &st), BN_INVALID, rows[i].text, &st);
        unlink(path);
    }
}

/* ---- the report ------------------------------------------------------------------------- */

static void a_report_is_written_at_the_end(void **state)
{
    (void)state;
    char settings[400], path[300], *text = NULL;
    size_t size = 0;
    bn_status st = {0};
    snprintf(path, sizeof path, "%s/report.json", folder);
    snprintf(settings, sizeof settings, "values=none device_us=20000 report=%s", path);
    sim_adder a = sim_adder_new(settings);
    for (int i = 0; i < 5; i++)
        sim_run(&a, 1);
    assert_int_not_equal(access(path, F_OK), 0);
    sim_adder_free(&a);
    assert_ok(bn_regular_read(path, &text, &size, &st), &st);
    assert_non_null(strstr(text, "{\"await_late\": {\"count\": 5, "));
    assert_non_null(strstr(text, "\"execute_late\": {\"count\": 5, "));
    assert_non_null(strstr(text, "\"late_values\": 0, \"seed\": "));
    assert_non_null(strstr(text, "\"process_factor\": 1}"));
    free(text);
    unlink(path);
}

/* Without a set seed the same disturbances can be drawn again. */
static void a_report_has_the_seed(void **state)
{
    (void)state;
    char settings[400], path[300], *text = NULL;
    size_t size = 0;
    bn_status st = {0};
    unsigned long long seed = 0;
    double factor = 0;
    snprintf(path, sizeof path, "%s/report.json", folder);
    snprintf(settings, sizeof settings,
             "values=none device_us=100 jitter=0.1 process_sd=0.2 process=3 report=%s", path);
    rt_device_span *spans = sim_spans(settings, 5);
    assert_ok(bn_regular_read(path, &text, &size, &st), &st);
    const char *said = strstr(text, "\"seed\"");
    assert_non_null(said);
    assert_int_equal(sscanf(said, "\"seed\": %llu, \"process_factor\": %lf", &seed, &factor), 2);
    assert_true(factor > 0 && factor != 1);
    snprintf(settings, sizeof settings,
             "values=none device_us=100 jitter=0.1 process_sd=0.2 process=3 seed=%llu", seed);
    rt_device_span *again = sim_spans(settings, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(spans[i].duration_ns, again[i].duration_ns);
    snprintf(settings, sizeof settings,
             "values=none device_us=100 process_sd=0.2 process=3 seed=%llu", seed);
    free(again);
    again = sim_spans(settings, 1);
    assert_int_equal(again->duration_ns, (uint64_t)(100000 * factor + 0.5));
    free(spans);
    free(again);
    free(text);
    unlink(path);
}

/* ---- plugins of another time ------------------------------------------------------------ */

/* A copy under another name is another plugin to the loader, which reads PJRT_SIM_API. */
static bn_code load_copy(const char *age, rt_plugin **copy, bn_status *st)
{
    static int serial;
    char from[4096], path[300], *bytes = NULL;
    size_t size = 0;
    sim_path(from, sizeof from);
    snprintf(path, sizeof path, "%s/copy%d.so", folder, serial++);
    assert_ok(bn_regular_read(from, &bytes, &size, st), st);
    assert_ok(bn_file_write_atomic(path, bytes, size, st), st);
    free(bytes);
    setenv("PJRT_SIM_API", age, 1);
    bn_code code = rt_plugin_load(path, NULL, copy, st);
    unlink(path);
    return code;
}

/* The basic operations of a plugin: compile, execute without donation, read back, profile. */
static void works(rt_plugin *plugin)
{
    bn_status st = {0};
    rt_client *client = NULL;
    assert_ok(sim_try(plugin, "device_us=150 values=none", &client, &st), &st);
    assert_int_equal(rt_client_device(client, 0)->id, 0);
    sim_adder a = sim_adder_on(client, 0);
    rt_profiler *profiler = sim_profile_begin(client);
    sim_run(&a, 3);
    rt_device_span *spans = sim_profile_end(profiler, 3);
    assert_int_equal(spans[2].duration_ns, 150000);
    free(spans);
    assert_int_equal(rt_executable_result_count(a.executable), 1);
    assert_true(sim_first(client, a.arguments[1], 4) == 2);
    sim_adder_free(&a);
}

static void an_older_plugin_does_what_it_can(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_plugin *plugin = NULL;
    rt_client *client = NULL;
    char *text = NULL;
    rt_executable_stats stats;
    assert_ok(load_copy("older", &plugin, &st), &st);
    assert_int_equal(rt_plugin_describe(plugin)->api_minor, 30);
    assert_true(rt_plugin_describe(plugin)->api_bytes <
                rt_plugin_describe(sim_plugin())->api_bytes);
    works(plugin);
    assert_ok(sim_try(plugin, "values=none", &client, &st), &st);
    rt_executable *executable = sim_compile(client, SIM_ADD("jit_add"));
    /* The table ends before the memory figures; the cost analysis is older. */
    rt_executable_describe(executable, &stats);
    assert_int_equal(stats.argument_bytes, -1);
    assert_int_equal(stats.temp_bytes, -1);
    assert_true(stats.simulated_values == 0);
    /* The fingerprint of the loaded executable is as old as the table. */
    assert_ok(rt_executable_fingerprint(executable, &text, &st), &st);
    assert_int_equal(strlen(text), 16);
    free(text);
    rt_executable_destroy(executable);
    rt_client_destroy(client);
}

static void a_newer_plugin_does_all(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_plugin *plugin = NULL;
    assert_ok(load_copy("newer", &plugin, &st), &st);
    assert_true(rt_plugin_describe(plugin)->api_bytes >
                rt_plugin_describe(sim_plugin())->api_bytes);
    assert_int_equal(rt_plugin_describe(plugin)->api_minor,
                     rt_plugin_describe(sim_plugin())->api_minor + 50);
    works(plugin);
}

static void another_age_is_refused(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_plugin *plugin = NULL;
    assert_fails(load_copy("oldest", &plugin, &st), BN_PLUGIN,
                 "PJRT_SIM_API=oldest: wants older or newer", &st);
    assert_null(plugin);
}

int main(void)
{
#define T(test) cmocka_unit_test_teardown(test, teardown)
    const struct CMUnitTest tests[] = {
        T(the_plugin_says_that_it_simulates),
        T(each_preset_loads),
        T(later_sources_go_before_earlier_ones),
        T(a_file_is_an_option_too),
        T(options_of_each_kind_are_settings),
        T(bad_settings_are_refused),
        T(bad_environment_and_files_are_refused),
        T(a_report_is_written_at_the_end),
        T(a_report_has_the_seed),
        T(an_older_plugin_does_what_it_can),
        T(a_newer_plugin_does_all),
        T(another_age_is_refused),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
