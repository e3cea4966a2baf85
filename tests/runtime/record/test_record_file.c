/*
 * test_record_file.c - the file of a recorded process: its limits, a disk that is full, processes
 * that are killed or fork, threads, and descriptors that the program closes.
 */
#define _GNU_SOURCE /* pthread_setname_np */

#include "tests/runtime/record/record_fixture.h"

#include <pthread.h>
#include <sys/resource.h>

/* ---- limits of the disk (test_record_segments.c has the recorder's own) ------------------------
 */

static void adds_on_a_full_disk(const char *folder)
{
    /* Too little for the second chunk. Whoever writes beyond it gets a deadly signal. */
    const struct rlimit most = {.rlim_cur = 3 << 19, .rlim_max = 3 << 19};
    MUST(setrlimit(RLIMIT_FSIZE, &most) == 0);
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    add_often(&r, 2 * CHUNK_SLOTS / LEAST_SLOTS, true);
    runner_free(&r);
}

static void a_full_disk_ends_the_recording(void **state)
{
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        const char *folder = new_folder();
        setenv("BENCH_RECORD_MAPPED", mapped ? "1" : "0", 1);
        in_child(adds_on_a_full_disk, folder);
        unsetenv("BENCH_RECORD_MAPPED");
        recording r = recording_in(folder);
        assert_int_equal(r.head.stop, RECORD_DISK_FULL);
        assert_true(r.head.lost > 0);
        recording_executions(&r, 1000);
        recording_free(&r);
    }
}

static void has_no_disk(const char *folder)
{
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    MUST(setrlimit(RLIMIT_FSIZE, &none) == 0);
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    add_often(&r, 3, true);
    runner_free(&r);
}

static void has_no_folder(const char *folder)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/no/such/folder", folder);
    set_recorder(path, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    add_often(&r, 3, true);
    runner_free(&r);
}

static void limits_itself_later(const char *folder)
{
    const struct rlimit little = {.rlim_cur = 1 << 16, .rlim_max = 1 << 16};
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    add_often(&r, 10, true);
    MUST(setrlimit(RLIMIT_FSIZE, &little) == 0);
    add_often(&r, CHUNK_SLOTS / LEAST_SLOTS + 100, true);
    runner_free(&r);
}

/* Where events are written by system calls, the next one beyond it would be a deadly signal. */
static void a_limit_may_be_set_while_it_records(void **state)
{
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        const char *folder = new_folder();
        setenv("BENCH_RECORD_MAPPED", mapped ? "1" : "0", 1);
        in_child(limits_itself_later, folder);
        unsetenv("BENCH_RECORD_MAPPED");
        recording r = recording_in(folder);
        assert_int_equal(r.head.stop, RECORD_DISK_FULL);
        recording_executions(&r, 10);
        recording_free(&r);
    }
}

static void where_nothing_can_be_written_the_program_runs(void **state)
{
    (void)state;
    in_child(has_no_disk, new_folder());
    in_child(has_no_folder, new_folder());
}

static void adds_for_long(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    add_often(&r, 6 * CHUNK_SLOTS / LEAST_SLOTS, true);
    runner_free(&r);
}

/* Several chunks, the first of which have left the process's memory. */
static void long_recordings_are_whole(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(adds_for_long, folder);
    recording r = recording_in(folder);
    assert_int_equal(r.head.stop, RECORD_GOES_ON);
    assert_int_equal(r.head.lost, 0);
    assert_true(r.count > 6 * CHUNK_SLOTS);
    recording_executions(&r, 6 * CHUNK_SLOTS / LEAST_SLOTS);
    assert_int_equal(recording_count(&r, RECORD_EXECUTE), 6 * CHUNK_SLOTS / LEAST_SLOTS);
    assert_int_equal(recording_ends(&r, NULL, 0), 6 * CHUNK_SLOTS / LEAST_SLOTS + 2);
    recording_free(&r);
}

/* ---- kills and forks ----------------------------------------------------------------------------
 */

static void adds_for_ever(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    for (;;)
        add_often(&r, 100, true);
}

/* Waits until the one process in FOLDER has written SLOTS of them. */
static void wait_for_slots(const char *folder, size_t slots)
{
    char path[8192], events[8300];
    const struct timespec nap = {.tv_nsec = 1000000};
    uint64_t word = 0;
    while (processes(folder, 0, path, sizeof path) == 0)
        nanosleep(&nap, NULL);
    snprintf(events, sizeof events, "%s/events", path);
    int fd = -1;
    while ((fd = open(events, O_RDONLY)) < 0)
        nanosleep(&nap, NULL);
    while (pread(fd, &word, sizeof word, (off_t)(slots * RECORD_SLOT)) != sizeof word || word == 0)
        nanosleep(&nap, NULL);
    close(fd);
}

enum { KILLS = 10 };

static void what_was_killed_can_be_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < KILLS; i++) {
        const char *folder = new_folder();
        pid_t child = start_child(adds_for_ever, folder);
        wait_for_slots(folder, 500 + 997 * i);
        kill(child, SIGKILL);
        int status = end_of(child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        recording r = recording_in(folder);
        assert_int_equal(r.head.stop, RECORD_GOES_ON);
        recording_executions(&r, (500 + 997 * i) / 8);
        assert_int_equal(recording_count(&r, RECORD_COMPILE), 1);
        recording_free(&r);
    }
}

static void forks(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    add_often(&r, 5, true);
    pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        /* The parent's runner is of no use here: its threads are gone. */
        runner mine = runner_new(NULL, ADD);
        add_often(&mine, 7, true);
        runner_free(&mine);
        _exit(0);
    }
    int status = -1;
    MUST(waitpid(child, &status, 0) == child && status == 0);
    /* One that only releases what it inherited, as a collector of garbage does, has no file. */
    rt_buffer *buffer = floats(&r, 1);
    pid_t idle = fork();
    MUST(idle >= 0);
    if (idle == 0) {
        rt_buffer_release(r.client, buffer);
        rt_executable_destroy(r.executable);
        _exit(0);
    }
    MUST(waitpid(idle, &status, 0) == idle && status == 0);
    rt_buffer_release(r.client, buffer);
    add_often(&r, 4, true);
    runner_free(&r);
}

static void forked_processes_have_files_of_their_own(void **state)
{
    (void)state;
    if (RACES_SOUGHT)
        skip();
    const char *folder = new_folder();
    char path[9000];
    in_child(forks, folder);
    assert_int_equal(processes(folder, 0, NULL, 0), 2);
    uint32_t pids[2], parents[2];
    size_t counts[2];
    for (size_t i = 0; i < 2; i++) {
        logged t;
        processes(folder, i, path, sizeof path);
        recording r = recording_of(path);
        pids[i] = r.head.pid;
        parents[i] = r.head.parent;
        counts[i] = recording_count(&r, RECORD_EXECUTE);
        assert_int_equal(recording_count(&r, RECORD_PLUGIN), 1);
        assert_int_equal(recording_count(&r, RECORD_COMPILE), 1);
        recording_get(&r, RECORD_EXECUTE, 0, &t);
        assert_int_equal(t.event.thread, r.head.pid);
        /* Numbers begin anew; the transfers of two arguments come first. */
        assert_true(t.event.field[4] <= 3);
        snprintf(path, sizeof path, "%s/programs", r.folder);
        assert_int_equal(processes(path, 0, NULL, 0), 2);
        recording_free(&r);
    }
    size_t child = parents[0] == pids[1] ? 0 : 1;
    assert_int_equal(parents[child], pids[1 - child]);
    assert_int_equal(counts[child], 7);
    assert_int_equal(counts[1 - child], 9);
}

/* ---- forks where nothing is recorded ----------------------------------------------------------
 */

static PJRT_LoadedExecutable_Destroy *end_executable;

static PJRT_Error *plugin_ends(PJRT_LoadedExecutable_Destroy_Args *args)
{
    (void)args;
    return NULL;
}

static void end_one(void)
{
    static char some[8];
    PJRT_LoadedExecutable_Destroy_Args args = {.struct_size =
                                                   PJRT_LoadedExecutable_Destroy_Args_STRUCT_SIZE,
                                               .executable = (PJRT_LoadedExecutable *)(void *)some};
    MUST(!end_executable(&args));
}

static void *ends_for_ever(void *unused)
{
    (void)unused;
    for (;;)
        end_one();
    return NULL;
}

/* The other thread may be anywhere in the recorder when this one forks. */
static void forks_often(const char *folder)
{
    pthread_t other;
    set_recorder(folder, "pjrt_sim");
    (void)recorded_client(NULL);
    table_of("pjrt_sim")->PJRT_LoadedExecutable_Destroy = plugin_ends;
    end_executable = table_of("pjrt_record")->PJRT_LoadedExecutable_Destroy;
    MUST(pthread_create(&other, NULL, ends_for_ever, NULL) == 0);
    for (int i = 0; i < 300; i++) {
        int status = -1;
        pid_t child = fork();
        MUST(child >= 0);
        if (child == 0) {
            alarm(20);
            end_one();
            _exit(0);
        }
        MUST(waitpid(child, &status, 0) == child && status == 0);
    }
}

static void locks_are_free_behind_a_fork(void **state)
{
    (void)state;
    if (RACES_SOUGHT)
        skip();
    in_child(forks_often, NULL);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, OF_EACH = 400 };

static void *adds_in_a_thread(void *argument)
{
    pthread_setname_np(pthread_self(), "adder");
    add_often(argument, OF_EACH, true);
    return NULL;
}

static void adds_in_threads(const char *folder)
{
    pthread_t threads[THREADS];
    runner runners[THREADS];
    set_recorder(folder, "pjrt_sim");
    for (int i = 0; i < THREADS; i++)
        runners[i] = runner_new(NULL, ADD);
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, adds_in_a_thread, &runners[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        runner_free(&runners[i]);
}

static void threads_are_told_apart(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(adds_in_threads, folder);
    recording r = recording_in(folder);
    uint32_t threads[THREADS];
    size_t counts[THREADS] = {0}, known = 0, at = 0, names = 0;
    char text[64];
    logged t;
    while (recording_next(&r, &at, &t)) {
        size_t i = 0;
        if (t.event.kind != RECORD_EXECUTE)
            continue;
        while (i < known && threads[i] != t.event.thread)
            i++;
        assert_true(i < THREADS);
        if (i == known)
            threads[known++] = t.event.thread;
        counts[i]++;
        /* Of another thread than the main one, the main one's clock is recorded. */
        assert_true(t.event.thread != r.head.main_thread && t.words[3] > 0);
    }
    assert_int_equal(known, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(counts[i], OF_EACH);
    for (size_t i = 0; recording_text(&r, RECORD_TEXT_THREAD, i, text, sizeof text); i++)
        names += strcmp(text, "adder") == 0;
    assert_int_equal(names, THREADS);
    assert_int_equal(r.head.lost, 0);
    recording_free(&r);
}

/* ---- the program's own descriptors -------------------------------------------------------------
 */

static void closes_all(const char *folder)
{
    char path[4200];
    int files[16];
    struct stat info;
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    add_often(&r, 5, true);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    for (int i = 0; i < 16; i++) {
        snprintf(path, sizeof path, "%s/.mine%d", folder, i);
        files[i] = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
        MUST(files[i] >= 0);
    }
    add_often(&r, 2 * CHUNK_SLOTS / LEAST_SLOTS, true);
    runner_free(&r);
    for (int i = 0; i < 16; i++)
        MUST(fstat(files[i], &info) == 0 && info.st_size == 0);
}

static void other_files_are_left_alone(void **state)
{
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        const char *folder = new_folder();
        setenv("BENCH_RECORD_MAPPED", mapped ? "1" : "0", 1);
        in_child(closes_all, folder);
        unsetenv("BENCH_RECORD_MAPPED");
        recording r = recording_in(folder);
        recording_executions(&r, 5);
        recording_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_ends_the_recording),
        cmocka_unit_test(a_limit_may_be_set_while_it_records),
        cmocka_unit_test(where_nothing_can_be_written_the_program_runs),
        cmocka_unit_test(long_recordings_are_whole),
        cmocka_unit_test(what_was_killed_can_be_read),
        cmocka_unit_test(forked_processes_have_files_of_their_own),
        cmocka_unit_test(locks_are_free_behind_a_fork),
        cmocka_unit_test(threads_are_told_apart),
        cmocka_unit_test(other_files_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
