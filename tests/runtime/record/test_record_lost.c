/*
 * test_record_lost.c - nothing is lost silently: calls and plugins that the recorder only forwards
 * are counted in the head of the file.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "tests/runtime/record/raw_fixture.h"

#include <sys/mman.h>

enum { OVERSIZE = 264, MANY = 129, PLUGINS = 8 };

static raw recorded_raw(const char *folder)
{
    void *handle;
    set_recorder(folder, "pjrt_fake");
    return raw_new(entry_of(built("pjrt_record"), &handle)());
}

/* Executes on DEVICES devices, of which the fake plugin knows the first, with a struct of SIZE. */
static void execute(const raw *r, size_t devices, size_t size)
{
    static char args_bytes[OVERSIZE];
    PJRT_LoadedExecutable_Execute_Args *args = (void *)args_bytes;
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_Buffer *const list[1] = {r->argument}, *const * lists[MANY];
    PJRT_Buffer *results[1] = {NULL}, **result_lists[MANY];
    for (size_t i = 0; i < MANY; i++) {
        lists[i] = list;
        result_lists[i] = results;
    }
    memset(args_bytes, 0, sizeof args_bytes);
    args->struct_size = size;
    args->executable = r->executable;
    args->options = &options;
    args->argument_lists = lists;
    args->num_devices = devices;
    args->num_args = 1;
    args->output_lists = result_lists;
    MUST(!r->api->PJRT_LoadedExecutable_Execute(args) && results[0]);
    buffer_free(r, results[0]);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void executes_what_is_not_understood(const char *folder)
{
    raw r = recorded_raw(folder);
    execute(&r, 1, PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE);
    execute(&r, MANY, PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE);
    execute(&r, 1, OVERSIZE);
    /* No size that could be true: the fake plugin does not look at it. */
    PJRT_Buffer_Destroy_Args end = {.struct_size = 1, .buffer = raw_floats(&r)};
    MUST(!r.api->PJRT_Buffer_Destroy(&end));
    raw_free(&r);
}

static void forwarded_calls_count_as_lost(void **state)
{
    (void)state;
    static const char *const mapped[] = {"1", "0"};
    for (size_t i = 0; i < 2; i++) {
        const char *folder = new_folder();
        setenv("BENCH_RECORD_MAPPED", mapped[i], 1);
        in_child(executes_what_is_not_understood, folder);
        recording r = recording_in(folder);
        assert_int_equal(recording_count(&r, RECORD_EXECUTE), 1);
        assert_int_equal(r.head.lost, 3);
        assert_int_equal(r.head.stop, RECORD_GOES_ON);
        recording_free(&r);
    }
    unsetenv("BENCH_RECORD_MAPPED");
    /* Where nothing is recorded there is nothing to count. */
    in_child(executes_what_is_not_understood, NULL);
}

static PJRT_Error *ends_anything(PJRT_LoadedExecutable_Destroy_Args *args)
{
    (void)args;
    return NULL;
}

/* The struct is its size alone, and behind it there is no memory. */
static void ends_with_a_size_alone(const char *folder)
{
    raw r = recorded_raw(folder);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0);
    size_t *args = (size_t *)(void *)(pages + page - sizeof *args);
    *args = sizeof *args;
    table_of("pjrt_fake")->PJRT_LoadedExecutable_Destroy = ends_anything;
    MUST(!r.api->PJRT_LoadedExecutable_Destroy((void *)args));
}

static void behind_a_size_that_cannot_be_true_nothing_is_read(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(ends_with_a_size_alone, folder);
    recording r = recording_in(folder);
    assert_int_equal(r.head.lost, 1);
    recording_free(&r);
}

/* ---- plugins --------------------------------------------------------------------------------- */

static char copies[4096];

/* Another file with the fake plugin, so another plugin. */
static void copy_plugin(int number)
{
    char path[8192], *bytes = NULL;
    size_t size = 0;
    bn_status st = {0};
    snprintf(path, sizeof path, "%s/%d.so", copies, number);
    MUST_DO(bn_regular_read(built("pjrt_fake"), &bytes, &size, &st), &st);
    MUST_DO(bn_file_write_atomic(path, bytes, size, &st), &st);
    free(bytes);
    setenv(RECORD_ENV_PLUGIN, path, 1);
}

static void use_recorded(void)
{
    void *handle;
    const PJRT_Api *api = entry_of(built("pjrt_record"), &handle)();
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    MUST(!api->PJRT_Client_Create(&create));
    PJRT_Client_Destroy_Args destroy = {.struct_size = PJRT_Client_Destroy_Args_STRUCT_SIZE,
                                        .client = create.client};
    MUST(!api->PJRT_Client_Destroy(&destroy));
}

static void uses_ten_plugins(const char *folder)
{
    setenv(RECORD_ENV_FOLDER, folder, 1);
    for (int i = 0; i < PLUGINS + 2; i++) {
        copy_plugin(i);
        use_recorded();
        use_recorded(); /* it is counted once */
    }
}

static void plugins_beyond_the_eighth_are_counted(void **state)
{
    (void)state;
    const char *folder;
    snprintf(copies, sizeof copies, "%s", new_folder());
    folder = new_folder();
    in_child(uses_ten_plugins, folder);
    recording r = recording_in(folder);
    assert_int_equal(recording_count(&r, RECORD_PLUGIN), PLUGINS);
    assert_int_equal(r.head.unseen, 2);
    assert_int_equal(r.head.lost, 0);
    recording_free(&r);
}

/* The first plugin is of another major version; there is no file yet. */
static void uses_two_majors(const char *folder)
{
    void *handle;
    setenv(RECORD_ENV_FOLDER, folder, 1);
    setenv("FAKE_PJRT", "wrong_major", 1);
    copy_plugin(0);
    (void)entry_of(built("pjrt_record"), &handle)();
    (void)entry_of(built("pjrt_record"), &handle)();
    unsetenv("FAKE_PJRT");
    copy_plugin(1);
    use_recorded();
}

static void a_plugin_of_another_major_is_counted(void **state)
{
    (void)state;
    const char *folder;
    snprintf(copies, sizeof copies, "%s", new_folder());
    folder = new_folder();
    in_child(uses_two_majors, folder);
    recording r = recording_in(folder);
    assert_int_equal(recording_count(&r, RECORD_PLUGIN), 1);
    assert_int_equal(r.head.unseen, 1);
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forwarded_calls_count_as_lost),
        cmocka_unit_test(behind_a_size_that_cannot_be_true_nothing_is_read),
        cmocka_unit_test(plugins_beyond_the_eighth_are_counted),
        cmocka_unit_test(a_plugin_of_another_major_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
