/*
 * test_record_calls.c - the recorder before the simulated runtime: what passes is unchanged, and
 * what is written of it is what passed.
 */
#include "tests/runtime/record/record_fixture.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- a whole little program ---------------------------------------------------------------------
 */

static void adds(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new("memory_bytes=123456", ADD);
    bn_status st = {0};
    rt_buffer *arguments[2] = {floats(&r, 1), floats(&r, 2)};
    rt_buffer *result = run(&r, arguments, 2);
    MUST(first_of(&r, result) == 3);
    /* The device's own answers pass, too. */
    rt_device_memory memory;
    MUST_DO(rt_client_memory(r.client, 0, &memory, &st), &st);
    MUST(memory.bytes_limit == 123456);
    MUST(strcmp(rt_client_platform(r.client), "sim") == 0);
    rt_buffer_release(r.client, result);
    rt_buffer_release(r.client, arguments[0]);
    rt_buffer_release(r.client, arguments[1]);
    runner_free(&r);
    MUST(rt_live().buffers == 0 && rt_live().events == 0 && rt_live().errors == 0);
}

/* Whether programs/HASH.FORM holds TEXT; HASH are two words. */
static void assert_kept(const recording *r, const uint64_t *hash, const char *form,
                        const char *text, size_t length)
{
    char path[9000], *bytes = NULL;
    size_t size = 0;
    bn_status st = {0};
    struct stat info;
    snprintf(path, sizeof path, "%s/programs/%016llx%016llx.%s", r->folder,
             (unsigned long long)hash[0], (unsigned long long)hash[1], form);
    assert_ok(bn_regular_read(path, &bytes, &size, &st), &st);
    XXH128_hash_t digest = XXH3_128bits(bytes, size);
    assert_true(digest.high64 == hash[0] && digest.low64 == hash[1]);
    if (text) {
        assert_int_equal(size, length);
        assert_memory_equal(bytes, text, length);
    }
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    free(bytes);
}

static void head_names_the_process(const recording *r)
{
    logged t;
    char text[4096];
    struct stat info;
    assert_int_equal(r->head.parent, getpid());
    assert_int_equal(r->head.main_thread, r->head.pid);
    assert_int_equal(r->head.stop, RECORD_GOES_ON);
    assert_int_equal(r->head.lost, 0);
    assert_true(r->head.epoch_ns > UINT64_C(1500000000000000000));
    assert_int_equal(stat(r->folder, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_true(recording_text(r, RECORD_TEXT_COMMAND, 0, text, sizeof text));
    assert_non_null(strstr(text, "test_record_calls"));
    assert_true(recording_text(r, RECORD_TEXT_PLATFORM, 0, text, sizeof text));
    assert_string_equal(text, "sim");
    assert_true(recording_text(r, RECORD_TEXT_PLATFORM_VERSION, 0, text, sizeof text));
    assert_true(recording_text(r, RECORD_TEXT_THREAD, 0, text, sizeof text));
    recording_get(r, RECORD_PLUGIN, 0, &t);
    assert_non_null(strstr(words_text(&t, 0), "libpjrt_sim.so"));
    assert_int_equal(t.event.field[0], 0);
    assert_int_equal(t.event.field[1], PJRT_API_MAJOR);
    assert_int_equal(t.event.field[2], PJRT_API_MINOR);
    assert_int_equal(t.event.field[3], PJRT_Api_STRUCT_SIZE);
    assert_int_equal(recording_count(r, RECORD_PLUGIN), 1);
    recording_get(r, RECORD_DEVICE, 0, &t);
    assert_int_equal(t.event.field[1], 0);
    assert_int_equal(t.event.field[4], 123456);
    assert_true(t.bytes > 0);
}

/* The handle of the executable. */
static uint64_t compile_names_its_program(const recording *r)
{
    logged t, about;
    double flops, bytes;
    recording_get(r, RECORD_COMPILE, 0, &t);
    assert_int_equal(t.event.flags, 0);
    assert_true(t.event.field[0] > t.event.time);
    assert_true(t.event.field[2] > t.event.field[1]);
    assert_int_equal(t.event.field[4], RECORD_COMPILED);
    assert_int_equal(t.words[4], strlen(ADD));
    assert_string_equal(words_text(&t, 6), "mlir");
    assert_kept(r, t.words, "mlir", ADD, strlen(ADD));
    assert_kept(r, t.words + 2, "options", NULL, 0);
    recording_get(r, RECORD_EXECUTABLE, 0, &about);
    assert_true(about.at > t.at);
    assert_int_equal(about.event.field[0], t.event.field[3]);
    assert_int_equal(about.event.field[1], 1);
    memcpy(&flops, &about.event.field[2], sizeof flops);
    memcpy(&bytes, &about.event.field[3], sizeof bytes);
    assert_true(flops == 4 && bytes == 48);
    logged device;
    recording_get(r, RECORD_DEVICE, 0, &device);
    const uint64_t wanted[] = {1, device.event.field[0], PJRT_Buffer_Type_F32, 1,
                               4, strlen("jit_add")};
    assert_memory_equal(about.words, wanted, sizeof wanted);
    assert_string_equal(words_text(&about, 6), "jit_add");
    return t.event.field[3];
}

static void data_flows(const recording *r, uint64_t executable)
{
    logged a, b, run, complete, to_host, t;
    buffer_end ends[3];
    recording_get(r, RECORD_BUFFER, 0, &a);
    recording_get(r, RECORD_BUFFER, 1, &b);
    recording_get(r, RECORD_EXECUTE, 0, &run);
    assert_true(a.at < b.at && b.at < run.at);
    assert_int_equal(a.event.field[4], RECORD_FROM_HOST | (uint64_t)PJRT_Buffer_Type_F32 << 32);
    assert_int_equal(a.words[0], 16);
    assert_int_equal(a.words[1], 0);
    assert_int_equal(a.words[3], 4);
    assert_int_equal(a.bytes, 4 * sizeof a.words[0]);
    recording_get(r, RECORD_DEVICE, 0, &t);
    assert_int_equal(a.event.field[5], t.event.field[0]);

    /* The first ones are asked of: neither argument was taken. */
    assert_int_equal(run.event.flags & ~RECORD_ENDED, RECORD_ASKED);
    assert_int_equal(run.event.field[3], executable);
    assert_int_equal(run.event.field[5], 2 | (uint64_t)1 << 32);
    assert_int_equal(run.bytes, 8 * sizeof run.words[0]);
    assert_int_equal(run.words[7], 0);
    assert_int_equal(run.words[0], 1);
    assert_int_equal(run.words[4], a.event.field[3]);
    assert_int_equal(run.words[5], b.event.field[3]);
    assert_true(run.event.field[0] >= run.event.time);
    assert_true(run.event.field[2] >= run.event.field[1] && run.event.field[1] > 0);

    recording_get(r, RECORD_TO_HOST, 0, &to_host);
    assert_int_equal(to_host.event.field[3], run.words[6]);
    assert_int_equal(to_host.event.field[4], 16);
    bool ended = run.event.flags & RECORD_ENDED, copied = false;
    for (size_t i = 0; recording_find(r, RECORD_COMPLETE, i, &complete); i++) {
        assert_int_equal(complete.event.flags, 0);
        ended = ended || (complete.event.field[0] == run.event.field[4] && complete.at > run.at &&
                          complete.event.time >= run.event.time);
        copied = copied || complete.event.field[0] == to_host.event.field[5];
    }
    assert_true(ended && copied);
    assert_true(recording_count(r, RECORD_WAIT) >= 2);
    assert_int_equal(recording_ends(r, ends, 3), 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ends[i].flags, RECORD_UNASKED);
    assert_int_equal(ends[0].handle, run.words[6]);
    assert_int_equal(ends[1].handle, a.event.field[3]);
    assert_int_equal(ends[2].handle, b.event.field[3]);
    recording_get(r, RECORD_BUFFER_END, 0, &complete);
    recording_get(r, RECORD_EXECUTABLE_END, 0, &t);
    assert_int_equal(t.event.field[0], executable);
    assert_true(t.at > complete.at);
}

static void a_program_is_recorded_in_order(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(adds, folder);
    recording r = recording_in(folder);
    head_names_the_process(&r);
    data_flows(&r, compile_names_its_program(&r));
    recording_free(&r);
}

static void written_without_a_mapping_it_is_the_same(void **state)
{
    (void)state;
    const char *folder = new_folder();
    setenv("BENCH_RECORD_MAPPED", "0", 1);
    in_child(adds, folder);
    unsetenv("BENCH_RECORD_MAPPED");
    recording r = recording_in(folder);
    head_names_the_process(&r);
    data_flows(&r, compile_names_its_program(&r));
    recording_free(&r);
}

static void without_clocks_there_are_none(void **state)
{
    (void)state;
    const char *folder = new_folder();
    logged t;
    setenv(RECORD_ENV_CPU, "0", 1);
    in_child(adds, folder);
    unsetenv(RECORD_ENV_CPU);
    recording r = recording_in(folder);
    recording_get(&r, RECORD_EXECUTE, 0, &t);
    assert_int_equal(t.event.field[1], 0);
    assert_int_equal(t.event.field[2], 0);
    assert_true(t.event.field[0] > 0);
    recording_free(&r);
}

static void without_a_folder_nothing_is_written(void **state)
{
    (void)state;
    in_child(adds, NULL);
}

/* The fake plugin knows no option of XLA's for CPU, and says so. GIVEN: the caller gives another. */
static void make_client(const char *folder, bool given)
{
    void *library = dlopen(built("pjrt_record"), RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "GetPjrtApi") : NULL;
    const PJRT_Api *(*get)(void) = NULL;
    memcpy(&get, &symbol, sizeof get);
    MUST(get);
    set_recorder(folder, "pjrt_fake");
    const PJRT_Api *api = get();
    /* One that it does know stays, and is not taken for the other. */
    const PJRT_NamedValue one = {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                 .name = "devices",
                                 .name_size = strlen("devices"),
                                 .type = PJRT_NamedValue_kInt64,
                                 .int64_value = 2,
                                 .value_size = 1};
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE,
                                      .create_options = given ? &one : NULL,
                                      .num_options = given ? 1 : 0};
    PJRT_Error *error = api->PJRT_Client_Create(&create);
    MUST(error && create.create_options == (given ? &one : NULL) && create.num_options == given);
    PJRT_Error_GetCode_Args code = {.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE,
                                    .error = error};
    MUST(!api->PJRT_Error_GetCode(&code) && code.code == PJRT_Error_Code_INVALID_ARGUMENT);
    PJRT_Error_Destroy_Args destroy = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                       .error = error};
    api->PJRT_Error_Destroy(&destroy);
}

static void makes_a_client(const char *folder)
{
    make_client(folder, false);
}

static void makes_a_client_with_options(const char *folder)
{
    make_client(folder, true);
}

/* A recording that does not begin must not change how many devices a program has. */
static void clients_get_their_devices_recorded_or_not(void **state)
{
    (void)state;
    setenv(RECORD_ENV_CPU_DEVICES, "1", 1);
    in_child(makes_a_client, new_folder());
    in_child(makes_a_client, NULL);
    in_child(makes_a_client_with_options, new_folder());
    unsetenv(RECORD_ENV_CPU_DEVICES);
}

/* ---- donation, failures ------------------------------------------------------------------------
 */

static void donates(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, DONATE);
    bn_status st = {0};
    const int64_t keep[1] = {0};
    rt_buffer *argument = floats(&r, 4), *kept = NULL;
    rt_event *done = NULL;
    MUST_DO(rt_execute(r.executable, &argument, 1, keep, 1, &kept, &done, &st), &st);
    MUST_DO(rt_event_await(r.client, done, &st), &st);
    rt_event_release(r.client, done);
    rt_buffer *result = run(&r, &argument, 1);
    MUST(first_of(&r, result) == 8);
    MUST(rt_buffer_is_deleted(r.client, argument));
    rt_buffer_release(r.client, argument);
    rt_buffer_release(r.client, kept);
    rt_buffer_release(r.client, result);
    runner_free(&r);
}

static void donation_shows(void **state)
{
    (void)state;
    const char *folder = new_folder();
    logged argument, kept, run;
    buffer_end ends[3];
    in_child(donates, folder);
    recording r = recording_in(folder);
    recording_get(&r, RECORD_BUFFER, 0, &argument);
    recording_get(&r, RECORD_EXECUTE, 0, &kept);
    recording_get(&r, RECORD_EXECUTE, 1, &run);
    assert_int_equal(kept.words[0], 1 | (uint64_t)1 << 32);
    assert_int_equal(kept.words[4], 0); /* the index */
    assert_int_equal(kept.words[5], argument.event.field[3]);
    assert_true(kept.event.flags & RECORD_ASKED);
    assert_int_equal(kept.bytes, 8 * sizeof kept.words[0]);
    assert_int_equal(kept.words[7], 0);
    assert_int_equal(run.words[0], 1);
    assert_int_equal(run.words[4], argument.event.field[3]);
    assert_int_equal(run.event.field[4] > kept.event.field[4], 1);
    assert_true(run.event.flags & RECORD_ASKED);
    assert_int_equal(run.bytes, 7 * sizeof run.words[0]);
    assert_int_equal(run.words[6], 1);
    assert_int_equal(recording_ends(&r, ends, 3), 3);
    assert_int_equal(ends[0].handle, argument.event.field[3]);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ends[i].flags, RECORD_UNASKED);
    recording_free(&r);
}

static void fails(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new("faults=execute:1:fail;execute:2:event:10", ADD);
    bn_status st = {0};
    rt_executable *none = NULL;
    rt_buffer *arguments[2] = {floats(&r, 1), floats(&r, 2)}, *result = NULL;
    rt_event *done = NULL;
    MUST(compile_text(r.client, "no program", 10, NULL, &none, &st) == BN_COMPILE);
    MUST(rt_execute(r.executable, arguments, 2, NULL, 0, &result, &done, &st) != BN_OK);
    MUST(!result && !done);
    MUST_DO(rt_execute(r.executable, arguments, 2, NULL, 0, &result, &done, &st), &st);
    MUST(rt_event_await(r.client, done, &st) != BN_OK);
    rt_event_release(r.client, done);
    rt_buffer_release(r.client, result);
    rt_buffer_release(r.client, arguments[0]);
    rt_buffer_release(r.client, arguments[1]);
    runner_free(&r);
    MUST(rt_live().errors == 0);
}

static void failures_are_recorded_and_returned(void **state)
{
    (void)state;
    const char *folder = new_folder();
    logged t, complete;
    char text[4096];
    in_child(fails, folder);
    recording r = recording_in(folder);
    recording_get(&r, RECORD_COMPILE, 1, &t);
    assert_int_equal(t.event.flags, RECORD_FAILED);
    assert_int_equal(t.event.field[3], 0);
    assert_kept(&r, t.words, "mlir", "no program", 10);
    recording_get(&r, RECORD_EXECUTE, 0, &t);
    assert_int_equal(t.event.flags, RECORD_FAILED);
    assert_int_equal(t.event.field[5], 2); /* no results */
    recording_get(&r, RECORD_EXECUTE, 1, &t);
    assert_int_equal(t.event.flags, RECORD_ASKED);
    bool failed = false;
    for (size_t i = 0; recording_find(&r, RECORD_COMPLETE, i, &complete); i++)
        failed = failed || (complete.event.field[0] == t.event.field[4] &&
                            complete.event.flags == RECORD_FAILED);
    assert_true(failed);
    failed = false;
    for (size_t i = 0; recording_find(&r, RECORD_WAIT, i, &t); i++)
        failed = failed || t.event.flags == RECORD_FAILED;
    assert_true(failed);
    assert_true(recording_text(&r, RECORD_TEXT_ERROR, 1, text, sizeof text));
    assert_non_null(strstr(text, "fault"));
    recording_free(&r);
}

/* ---- ends of executions ------------------------------------------------------------------------
 */

enum { IN_FLIGHT = 12 };

static void submits(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new("device_us=2000", ADD);
    add_often(&r, IN_FLIGHT, false);
    runner_free(&r);
}

/* The program did not ask for the ends, and each is recorded once. */
static void ends_are_recorded_once(void **state)
{
    (void)state;
    const char *folder = new_folder();
    logged run, complete;
    in_child(submits, folder);
    recording r = recording_in(folder);
    assert_int_equal(recording_count(&r, RECORD_EXECUTE), IN_FLIGHT);
    for (size_t i = 0; i < IN_FLIGHT; i++) {
        recording_get(&r, RECORD_EXECUTE, i, &run);
        /* The calling thread may have lost its core until the device had ended. */
        int ends = run.event.flags & RECORD_ENDED ? 1 : 0;
        if (ends)
            assert_true(run.event.field[0] >= run.event.time + 2000000);
        for (size_t c = 0; recording_find(&r, RECORD_COMPLETE, c, &complete); c++) {
            if (complete.event.field[0] != run.event.field[4])
                continue;
            ends++;
            assert_int_equal(complete.event.field[1], 0);
            assert_true(complete.event.time >= run.event.time + 2000000);
        }
        assert_int_equal(ends, 1);
    }
    recording_free(&r);
}

/* ---- executables out of files -------------------------------------------------------------------
 */

static void loads(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    bn_status st = {0};
    void *bytes = NULL;
    size_t size = 0;
    MUST_DO(rt_executable_serialize(r.executable, &bytes, &size, &st), &st);
    rt_executable_destroy(r.executable);
    MUST_DO(rt_executable_load(r.client, bytes, size, &r.executable, &st), &st);
    free(bytes);
    add_often(&r, 1, true);
    runner_free(&r);
}

static void loaded_executables_are_recorded(void **state)
{
    (void)state;
    const char *folder = new_folder();
    logged compile, t;
    in_child(loads, folder);
    recording r = recording_in(folder);
    recording_get(&r, RECORD_COMPILE, 1, &compile);
    assert_int_equal(compile.event.field[4], RECORD_DESERIALIZED);
    assert_string_equal(words_text(&compile, 6), "executable");
    assert_kept(&r, compile.words, "executable", NULL, 0);
    recording_get(&r, RECORD_EXECUTABLE, 1, &t);
    assert_int_equal(t.event.field[0], compile.event.field[3]);
    recording_get(&r, RECORD_EXECUTE, 0, &t);
    assert_int_equal(t.event.field[3], compile.event.field[3]);
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_recorded_in_order),
        cmocka_unit_test(written_without_a_mapping_it_is_the_same),
        cmocka_unit_test(without_clocks_there_are_none),
        cmocka_unit_test(without_a_folder_nothing_is_written),
        cmocka_unit_test(clients_get_their_devices_recorded_or_not),
        cmocka_unit_test(donation_shows),
        cmocka_unit_test(failures_are_recorded_and_returned),
        cmocka_unit_test(ends_are_recorded_once),
        cmocka_unit_test(loaded_executables_are_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
