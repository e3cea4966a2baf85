/*
 * test_record_preload.c - the recorder preloaded, as for plugins whose path a framework fixes: this
 * program runs itself with it.
 */
#define _GNU_SOURCE /* dladdr, RTLD_NEXT */

#include "tests/runtime/record/raw_fixture.h"

static bool is_recorders(void *symbol)
{
    Dl_info info;
    return symbol && dladdr(symbol, &info) && strstr(info.dli_fname, "libpjrt_record.so");
}

static get_api *entry_in(void *library)
{
    get_api *get = NULL;
    dlerror();
    void *symbol = dlsym(library, "GetPjrtApi");
    MUST(symbol && !dlerror());
    memcpy(&get, &symbol, sizeof get);
    return get;
}

/* Makes and destroys a client. */
static void use(const PJRT_Api *api)
{
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    MUST(!api->PJRT_Client_Create(&create));
    PJRT_Client_Destroy_Args destroy = {.struct_size = PJRT_Client_Destroy_Args_STRUCT_SIZE,
                                        .client = create.client};
    MUST(!api->PJRT_Client_Destroy(&destroy));
}

/* ---- what the preloaded process does ------------------------------------------------------------
 */

static int two_plugins(void)
{
    void *sim = dlopen(built("pjrt_sim"), RTLD_NOW | RTLD_LOCAL);
    void *fake = dlopen(built("pjrt_fake"), RTLD_NOW | RTLD_LOCAL);
    MUST(sim && fake);
    get_api *first = entry_in(sim), *second = entry_in(fake);
    MUST(first != second && first == entry_in(sim));
    MUST(first() && first() == first() && first() != second());
    use(first());
    use(second());
    return 0;
}

static void execute_often(const raw *r, int times)
{
    for (int i = 0; i < times; i++) {
        PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
        PJRT_Buffer *const *arguments = &r->argument, *result = NULL, **results = &result;
        PJRT_LoadedExecutable_Execute_Args args =
            ARGS(LoadedExecutable_Execute, .executable = r->executable, .options = &options,
                 .argument_lists = &arguments, .num_devices = 1, .num_args = 1,
                 .output_lists = &results);
        MUST(!r->api->PJRT_LoadedExecutable_Execute(&args));
        raw_event_end(r, raw_ready(r, result));
        buffer_free(r, result);
    }
}

/* The first has no profiler, and executes first. */
static int two_profilers(void)
{
    void *fake = dlopen(built("pjrt_fake"), RTLD_NOW | RTLD_LOCAL);
    void *sim = dlopen(built("pjrt_sim"), RTLD_NOW | RTLD_LOCAL);
    MUST(fake && sim);
    raw first = raw_new(entry_in(fake)()), second = raw_new(entry_in(sim)());
    execute_often(&first, RECORD_PROFILE_QUIET + 10);
    execute_often(&second, RECORD_PROFILE_QUIET + 10);
    raw_free(&first);
    raw_free(&second);
    return 0;
}

static int other_symbols(void)
{
    void *sim = dlopen(built("pjrt_sim"), RTLD_NOW | RTLD_LOCAL);
    void *nothing = dlopen(built("not_a_plugin"), RTLD_NOW | RTLD_LOCAL);
    MUST(sim && nothing);
    /* The C library's answers and errors. */
    MUST(!dlsym(sim, "no_such_symbol") && dlerror());
    MUST(!dlsym(nothing, "GetPjrtApi") && dlerror());
    MUST(!dlsym(RTLD_DEFAULT, "GetPjrtApi"));
    dlerror();
    MUST(dlsym(RTLD_DEFAULT, "strlen") && !dlerror());
    /* Behind this program comes the recorder, and not what is behind the recorder. */
    MUST(is_recorders(dlsym(RTLD_NEXT, "dlsym")));
    MUST(is_recorders(dlsym(RTLD_DEFAULT, "dlsym")));
    return 0;
}

/* Preloaded, and given as the plugin's path, and the plugin itself used, too. */
static int both_ways(void)
{
    setenv(RECORD_ENV_PLUGIN, built("pjrt_sim"), 1);
    void *recorder = dlopen(built("pjrt_record"), RTLD_NOW | RTLD_LOCAL);
    void *sim = dlopen(built("pjrt_sim"), RTLD_NOW | RTLD_LOCAL);
    MUST(recorder && sim);
    MUST(entry_in(recorder)() == entry_in(sim)());
    use(entry_in(recorder)());
    use(entry_in(sim)());
    return 0;
}

/* Another file of the same recorder is the plugin's path. */
static int another_copy(void)
{
    const char *path = getenv("TEST_RECORD_COPY");
    MUST(path);
    setenv(RECORD_ENV_PLUGIN, built("pjrt_sim"), 1);
    void *copy = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    MUST(copy);
    use(entry_in(copy)());
    return 0;
}

/* A plugin that its program closes stays where it is, so that no other one comes to its place. */
static int closed(void)
{
    void *sim = dlopen(built("pjrt_sim"), RTLD_NOW | RTLD_LOCAL);
    MUST(sim);
    get_api *get = entry_in(sim);
    use(get());
    MUST(dlclose(sim) == 0);
    MUST(dlopen(built("pjrt_sim"), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD));
    void *fake = dlopen(built("pjrt_fake"), RTLD_NOW | RTLD_LOCAL);
    MUST(fake && entry_in(fake) != get);
    use(entry_in(fake)());
    use(get());
    return 0;
}

static int not_wanted(void)
{
    void *sim = dlopen(built("pjrt_sim"), RTLD_NOW | RTLD_LOCAL);
    MUST(sim);
    void *symbol = dlsym(sim, "GetPjrtApi");
    Dl_info info;
    MUST(dladdr(symbol, &info) && strstr(info.dli_fname, "libpjrt_sim.so"));
    return 0;
}

static const struct {
    const char *name;
    int (*function)(void);
} ACTS[] = {{"two-plugins", two_plugins},     {"two-profilers", two_profilers},
            {"other-symbols", other_symbols}, {"both-ways", both_ways},
            {"another-copy", another_copy},   {"closed", closed},
            {"not-wanted", not_wanted}};

/* ---- the tests ---------------------------------------------------------------------------------
 */

static const char *this_act;
static char libraries[8200]; /* that are preloaded */

/* Puts into FILE the library of the sanitizer that is built in, which must come before all others:
 * "" where there is none, or where it is part of this program. False where nobody knows it. */
static bool find_sanitizer(char *file, size_t size)
{
    Dl_info its, ours;
    void *symbol = dlsym(RTLD_DEFAULT, RACES_SOUGHT ? "__tsan_init" : "__asan_init");
    dlerror();
    file[0] = '\0';
    if (!SANITIZED)
        return true;
    if (!symbol || !dladdr(symbol, &its) || !dladdr((const void *)ACTS, &ours))
        return false;
    if (its.dli_fbase == ours.dli_fbase)
        return true;
    return its.dli_fname && access(its.dli_fname, R_OK) == 0 &&
           snprintf(file, size, "%s", its.dli_fname) < (int)size;
}

static void runs_itself(const char *folder)
{
    if (folder)
        setenv(RECORD_ENV_FOLDER, folder, 1);
    else
        unsetenv(RECORD_ENV_FOLDER);
    unsetenv(RECORD_ENV_PLUGIN);
    /* Another copy of the recorder has the names of its globals, and their sizes. */
    const char *own = getenv("ASAN_OPTIONS");
    char options[4096];
    snprintf(options, sizeof options, "%s%sdetect_odr_violation=1", own ? own : "", own ? ":" : "");
    setenv("ASAN_OPTIONS", options, 1);
    setenv("LD_PRELOAD", libraries, 1);
    execl("/proc/self/exe", "test_record_preload", this_act, (char *)NULL);
    _exit(9);
}

static void preloaded(const char *act, const char *folder)
{
    char first[4096];
    if (!find_sanitizer(first, sizeof first)) {
        print_message("the sanitizer's library, which must come before the recorder, is nowhere\n");
        skip();
    }
    snprintf(libraries, sizeof libraries, "%s%s%s", first, first[0] ? ":" : "",
             built("pjrt_record"));
    this_act = act;
    in_child(runs_itself, folder);
}

static void plugins_are_told_apart(void **state)
{
    (void)state;
    const char *folder = new_folder();
    char text[64];
    preloaded("two-plugins", folder);
    recording r = recording_in(folder);
    logged t;
    recording_get(&r, RECORD_PLUGIN, 0, &t);
    assert_int_equal(t.event.field[0], 0);
    assert_non_null(strstr(words_text(&t, 0), "libpjrt_sim.so"));
    recording_get(&r, RECORD_PLUGIN, 1, &t);
    assert_int_equal(t.event.field[0], 1);
    assert_non_null(strstr(words_text(&t, 0), "libpjrt_fake.so"));
    assert_int_equal(recording_count(&r, RECORD_PLUGIN), 2);
    assert_true(recording_text(&r, RECORD_TEXT_PLATFORM, 0, text, sizeof text));
    assert_string_equal(text, "sim");
    assert_true(recording_text(&r, RECORD_TEXT_PLATFORM, 1, text, sizeof text));
    assert_string_equal(text, "fake");
    recording_get(&r, RECORD_DEVICE, 1, &t);
    assert_int_equal(t.event.field[2], 1);
    recording_free(&r);
}

static void a_plugin_without_a_profiler_leaves_it_to_the_next(void **state)
{
    (void)state;
    record_profile head;
    char path[8300], process[8192], *bytes = NULL;
    size_t size = 0;
    bn_status st = {0};
    const char *folder = new_folder();
    setenv(RECORD_ENV_PROFILE, "5", 1);
    setenv("FAKE_PJRT", "no_profiler", 1);
    preloaded("two-profilers", folder);
    unsetenv("FAKE_PJRT");
    unsetenv(RECORD_ENV_PROFILE);
    assert_int_equal(processes(folder, 0, process, sizeof process), 1);
    snprintf(path, sizeof path, "%s/profile", process);
    assert_ok(bn_regular_read(path, &bytes, &size, &st), &st);
    assert_true(size >= sizeof head);
    memcpy(&head, bytes, sizeof head);
    free(bytes);
    assert_int_equal(head.why, RECORD_PROFILED);
    assert_int_equal(head.plugin, 1);
}

static void other_symbols_are_what_they_were(void **state)
{
    (void)state;
    const char *folder = new_folder();
    preloaded("other-symbols", folder);
    /* No plugin was used. */
    assert_int_equal(processes(folder, 0, NULL, 0), 0);
}

static void a_call_is_recorded_once(void **state)
{
    (void)state;
    char folder[4096], copy[8192], *bytes = NULL;
    size_t size = 0;
    bn_status st = {0};
    snprintf(folder, sizeof folder, "%s", new_folder());
    preloaded("both-ways", folder);
    recording r = recording_in(folder);
    assert_int_equal(recording_count(&r, RECORD_PLUGIN), 1);
    assert_int_equal(recording_count(&r, RECORD_DEVICE), 2); /* of two clients */
    recording_free(&r);

    snprintf(folder, sizeof folder, "%s", new_folder());
    snprintf(copy, sizeof copy, "%s.so", folder);
    assert_ok(bn_regular_read(built("pjrt_record"), &bytes, &size, &st), &st);
    assert_ok(bn_file_write_atomic(copy, bytes, size, &st), &st);
    free(bytes);
    setenv("TEST_RECORD_COPY", copy, 1);
    preloaded("another-copy", folder);
    unlink(copy);
    r = recording_in(folder);
    assert_int_equal(recording_count(&r, RECORD_DEVICE), 1);
    recording_free(&r);
}

static void a_closed_plugin_stays_loaded(void **state)
{
    (void)state;
    const char *folder = new_folder();
    preloaded("closed", folder);
    recording r = recording_in(folder);
    assert_int_equal(recording_count(&r, RECORD_PLUGIN), 2);
    recording_free(&r);
}

static void without_a_folder_it_stays_away(void **state)
{
    (void)state;
    preloaded("not-wanted", NULL);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof ACTS / sizeof *ACTS; i++)
        if (strcmp(argv[1], ACTS[i].name) == 0)
            return ACTS[i].function();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plugins_are_told_apart),
        cmocka_unit_test(a_plugin_without_a_profiler_leaves_it_to_the_next),
        cmocka_unit_test(other_symbols_are_what_they_were),
        cmocka_unit_test(a_call_is_recorded_once),
        cmocka_unit_test(a_closed_plugin_stays_loaded),
        cmocka_unit_test(without_a_folder_it_stays_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
