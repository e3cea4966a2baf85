/*
 * test_record_profile.c - the plugin's profiler under the recorder: when it begins and ends,
 * plugins that have none or refuse, threads, forks, and a recording that ends while it runs. Which
 * steps bench steps leaves out: see check_record_profile.sh.
 */
#include "runtime/profile/profile.h"
#include "tests/runtime/record/record_fixture.h"

#include <pthread.h>
#include <sys/resource.h>

enum { QUIET = RECORD_PROFILE_QUIET, SEEN = 10, THREADS = 4 };

/* The file "profile" of the one process recorded into FOLDER, *BYTES behind its head (malloc);
 * false: there is none. */
static bool profile_in(const char *folder, record_profile *head, char **bytes)
{
    char path[8300], process[8192], *all = NULL;
    size_t size = 0;
    bn_status st = {0};
    assert_int_equal(processes(folder, 0, process, sizeof process), 1);
    snprintf(path, sizeof path, "%s/profile", process);
    if (access(path, F_OK) != 0)
        return false;
    assert_ok(bn_regular_read(path, &all, &size, &st), &st);
    assert_true(size >= sizeof *head);
    memcpy(head, all, sizeof *head);
    assert_string_equal(head->magic, RECORD_PROFILE_MAGIC);
    assert_int_equal(head->version, RECORD_VERSION);
    assert_int_equal(head->size, size - sizeof *head);
    *bytes = malloc(head->size + 1);
    assert_non_null(*bytes);
    memcpy(*bytes, all + sizeof *head, head->size);
    free(all);
    return true;
}

/* How many executions the profile in FOLDER tells; REASON: why it must have no bytes. */
static size_t spans_in(const char *folder, enum record_no_profile reason)
{
    record_profile head;
    char *bytes = NULL;
    rt_device_span *spans = NULL;
    size_t count = 0;
    bn_status st = {0};
    assert_true(profile_in(folder, &head, &bytes));
    assert_int_equal(head.why, reason);
    assert_true(head.begin_ns > 0 && head.end_ns >= head.begin_ns);
    if (reason == RECORD_PROFILED) {
        assert_true(head.started_ns >= head.begin_ns && head.stop_ns >= head.started_ns);
        assert_ok(rt_xspace_device_spans(bytes, head.size, &spans, &count, &st), &st);
    } else {
        assert_int_equal(head.size, 0);
    }
    free(spans);
    free(bytes);
    return count;
}

static size_t executions;
static rlim_t file_bytes; /* 0: files may be as long as they become */

/* The fake plugin computes nothing, so nobody looks at results. */
static void run_often(const runner *r, size_t count)
{
    rt_buffer *arguments[2] = {floats(r, 1), floats(r, 2)};
    for (size_t i = 0; i < count; i++)
        rt_buffer_release(r->client, run(r, arguments, 2));
    rt_buffer_release(r->client, arguments[0]);
    rt_buffer_release(r->client, arguments[1]);
}

static void adds(const char *folder)
{
    const struct rlimit most = {.rlim_cur = file_bytes, .rlim_max = file_bytes};
    MUST(file_bytes == 0 || setrlimit(RLIMIT_FSIZE, &most) == 0);
    set_recorder(folder, "pjrt_fake");
    runner r = runner_new(NULL, ADD);
    run_often(&r, executions);
    runner_free(&r);
}

/* Into a new folder, with ORDERS to the fake plugin. */
static const char *recorded(size_t count, const char *orders)
{
    char number[16];
    const char *folder = new_folder();
    executions = count;
    snprintf(number, sizeof number, "%d", SEEN);
    setenv(RECORD_ENV_PROFILE, number, 1);
    setenv("FAKE_PJRT", orders, 1);
    in_child(adds, folder);
    unsetenv("FAKE_PJRT");
    unsetenv(RECORD_ENV_PROFILE);
    return folder;
}

static void it_begins_when_nothing_compiles_and_ends_after_so_many(void **state)
{
    (void)state;
    record_profile head;
    char *bytes = NULL;
    /* Ended by the execution behind the last one that it is to see. */
    assert_int_equal(spans_in(recorded(QUIET + SEEN + 1, ""), RECORD_PROFILED), SEEN);
    assert_int_equal(spans_in(recorded(200, "collect_at_once,collect_one_more"), RECORD_PROFILED),
                     SEEN);
    /* The head says so where nothing ends it. */
    assert_int_equal(spans_in(recorded(QUIET + SEEN, ""), RECORD_PROFILE_RUNS), 0);
    assert_false(profile_in(recorded(QUIET, ""), &head, &bytes));
}

static void a_plugin_may_have_none_or_refuse(void **state)
{
    (void)state;
    spans_in(recorded(200, "no_profiler"), RECORD_NO_PROFILER);
    spans_in(recorded(200, "profiler_error"), RECORD_PROFILER_REFUSED);
    spans_in(recorded(200, "collect_grows"), RECORD_PROFILE_LOST);
}

static void nobody_asked(void **state)
{
    (void)state;
    static const char *const numbers[] = {"0", "-3", "much", "99999999999"};
    record_profile head;
    char *bytes = NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *folder = new_folder();
        executions = 2 * QUIET;
        setenv(RECORD_ENV_PROFILE, numbers[i], 1);
        in_child(adds, folder);
        unsetenv(RECORD_ENV_PROFILE);
        assert_false(profile_in(folder, &head, &bytes));
    }
}

/* ---- what else goes on ------------------------------------------------------------------------
 */

static void *add_in_thread(void *of)
{
    add_often(of, executions, true);
    return NULL;
}

static void adds_in_threads(const char *folder)
{
    pthread_t threads[THREADS];
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new("seed=1", ADD);
    for (size_t i = 0; i < THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, add_in_thread, &r) == 0);
    for (size_t i = 0; i < THREADS; i++)
        MUST(pthread_join(threads[i], NULL) == 0);
    runner_free(&r);
}

/* Executions that the profiler in FOLDER may have seen: other threads begin any number of them
 * while one starts or stops it. So only the test above holds that it ends in time. */
static size_t touching(const recording *r, const char *folder)
{
    /* Transfers have numbers, too. */
    static uint64_t begun[4000], ended[4000];
    const size_t most = sizeof begun / sizeof *begun;
    size_t at = 0, out = 0;
    record_profile head;
    char *bytes = NULL;
    logged t;
    assert_true(profile_in(folder, &head, &bytes));
    free(bytes);
    while (recording_next(r, &at, &t)) {
        const bool executes = t.event.kind == RECORD_EXECUTE;
        const uint64_t number = t.event.field[executes ? 4 : 0];
        if (!executes && t.event.kind != RECORD_COMPLETE)
            continue;
        assert_in_range(number, 1, most - 1);
        if (executes)
            begun[number] = t.event.time;
        if (!executes || t.event.flags & RECORD_ENDED)
            ended[number] = executes ? t.event.field[0] : t.event.time;
    }
    for (size_t i = 1; i < most; i++) {
        if (begun[i] == 0)
            continue;
        assert_true(ended[i] >= begun[i]);
        out += begun[i] <= head.end_ns && ended[i] >= head.begin_ns;
    }
    return out;
}

static void threads_go_on_while_one_starts_and_stops_it(void **state)
{
    (void)state;
    if (RACES_SOUGHT)
        skip(); /* threads that begin behind a fork */
    const char *folder = new_folder();
    /* Enough for one thread to begin it and to end it, where the others are done by then. */
    executions = QUIET + 40 + 10;
    setenv(RECORD_ENV_PROFILE, "40", 1);
    in_child(adds_in_threads, folder);
    unsetenv(RECORD_ENV_PROFILE);
    recording r = recording_in(folder);
    /* Each other thread may have had one that had not ended when it was to stop. */
    assert_in_range(spans_in(folder, RECORD_PROFILED), 40 - (THREADS - 1), touching(&r, folder));
    assert_int_equal(recording_count(&r, RECORD_EXECUTE), THREADS * executions);
    assert_int_equal(r.head.lost, 0);
    recording_free(&r);
}

static void forks_under_the_profiler(const char *folder)
{
    set_recorder(folder, "pjrt_fake");
    runner r = runner_new(NULL, ADD);
    run_often(&r, QUIET + 2);
    const pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        run_often(&r, 2 * QUIET);
        _exit(0);
    }
    int status = -1;
    MUST(waitpid(child, &status, 0) == child && status == 0);
    run_often(&r, SEEN);
    runner_free(&r);
}

static void the_child_of_a_fork_is_not_profiled(void **state)
{
    (void)state;
    char number[16];
    size_t profiles = 0;
    if (RACES_SOUGHT)
        skip(); /* likewise */
    const char *folder = new_folder();
    snprintf(number, sizeof number, "%d", SEEN);
    setenv(RECORD_ENV_PROFILE, number, 1);
    in_child(forks_under_the_profiler, folder);
    unsetenv(RECORD_ENV_PROFILE);
    assert_int_equal(processes(folder, 0, NULL, 0), 2);
    for (size_t i = 0; i < 2; i++) {
        char path[8300], process[8192];
        processes(folder, i, process, sizeof process);
        snprintf(path, sizeof path, "%s/profile", process);
        profiles += access(path, F_OK) == 0;
    }
    assert_int_equal(profiles, 1);
}

/* The disk has so little room that the recording ends while the profiler runs: it is stopped all
 * the same, or a second one could not begin. */
static void adds_on_a_full_disk(const char *folder)
{
    rt_profiler *profiler = NULL;
    rt_plugin *plugin = NULL;
    bn_status st = {0};
    void *xspace = NULL;
    size_t size = 0;
    /* Too little for the second chunk. */
    const struct rlimit most = {.rlim_cur = 3 << 19, .rlim_max = 3 << 19};
    MUST(setrlimit(RLIMIT_FSIZE, &most) == 0);
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new("seed=1", ADD);
    add_often(&r, 40000, true);
    MUST_DO(rt_plugin_load(built("pjrt_sim"), NULL, &plugin, &st), &st);
    MUST_DO(rt_profiler_start(plugin, false, &profiler, &st), &st);
    MUST_DO(rt_profiler_finish(profiler, &xspace, &size, &st), &st);
    free(xspace);
    runner_free(&r);
}

static void it_ends_where_the_recording_has_ended(void **state)
{
    (void)state;
    const char *folder = new_folder();
    setenv(RECORD_ENV_PROFILE, "30000", 1);
    in_child(adds_on_a_full_disk, folder);
    unsetenv(RECORD_ENV_PROFILE);
    recording r = recording_in(folder);
    assert_int_equal(r.head.stop, RECORD_DISK_FULL);
    recording_free(&r);
    assert_true(spans_in(folder, RECORD_PROFILED) > 0);
}

/* Nobody would read its profile. */
static void it_does_not_begin_after_the_recording_has_ended(void **state)
{
    (void)state;
    record_profile head;
    char *bytes = NULL;
    file_bytes = 8192;
    setenv("BENCH_RECORD_MAPPED", "0", 1);
    const char *folder = recorded(200, "");
    unsetenv("BENCH_RECORD_MAPPED");
    file_bytes = 0;
    recording r = recording_in(folder);
    assert_int_equal(r.head.stop, RECORD_DISK_FULL);
    recording_free(&r);
    assert_false(profile_in(folder, &head, &bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_begins_when_nothing_compiles_and_ends_after_so_many),
        cmocka_unit_test(a_plugin_may_have_none_or_refuse),
        cmocka_unit_test(nobody_asked),
        cmocka_unit_test(threads_go_on_while_one_starts_and_stops_it),
        cmocka_unit_test(the_child_of_a_fork_is_not_profiled),
        cmocka_unit_test(it_ends_where_the_recording_has_ended),
        cmocka_unit_test(it_does_not_begin_after_the_recording_has_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
