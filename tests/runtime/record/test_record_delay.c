/*
 * test_record_delay.c - how long a thread was ready and did not run, as the kernel says it; marks.
 */
#define _GNU_SOURCE /* sched_setaffinity */

#include "tests/runtime/record/record_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { ROUNDS = 150, HOGS = 2, THREADS = 80 };
/* Readings of clocks and of delays are left out where a thread was off the CPU for less. */
#define UNREAD_NS UINT64_C(100000)

/* The calling thread's run delay; false: this kernel does not say. */
static bool delay_of_thread(uint64_t *delay)
{
    unsigned long long number[3] = {0};
    FILE *f = fopen("/proc/thread-self/schedstat", "r");
    const int got = f ? fscanf(f, "%llu %llu %llu", &number[0], &number[1], &number[2]) : 0;
    if (f)
        fclose(f);
    *delay = number[1];
    return got == 3 && number[2] > 0;
}

/* Processes that keep the calling thread's core busy. */
static bool start_hogs(pid_t *hogs)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    const int core = sched_getcpu();
    if (core < 0)
        return false;
    CPU_SET((unsigned)core, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        return false;
    for (int i = 0; i < HOGS; i++) {
        hogs[i] = fork();
        MUST(hogs[i] >= 0);
        if (hogs[i] == 0) {
            alarm(120);
            for (volatile unsigned n = 0;; n++)
                continue;
        }
    }
    return true;
}

static void end_hogs(const pid_t *hogs)
{
    for (int i = 0; i < HOGS; i++) {
        kill(hogs[i], SIGKILL);
        waitpid(hogs[i], NULL, 0);
    }
}

/* What the child saw, for its parent. */
typedef struct witness {
    uint64_t before, after; /* the delay, before and after the last call */
} witness;

static void put_witness(const char *folder, const witness *w)
{
    char path[8192];
    snprintf(path, sizeof path, "%s.witness", folder);
    FILE *f = fopen(path, "wb");
    MUST(f && fwrite(w, sizeof *w, 1, f) == 1 && fclose(f) == 0);
}

static witness witness_of(const char *folder)
{
    char path[8192];
    witness w;
    snprintf(path, sizeof path, "%s.witness", folder);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(&w, sizeof w, 1, f), 1);
    fclose(f);
    return w;
}

static void work_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    const long long end = t.tv_sec * 1000000000ll + t.tv_nsec + 1000000;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while (t.tv_sec * 1000000000ll + t.tv_nsec < end);
}

/* Takes the recorder's descriptors away, as programs do that close all. */
static void close_all(void)
{
    for (int fd = 3; fd < 256; fd++)
        close(fd);
}

static void shares_its_core(const char *folder)
{
    pid_t hogs[HOGS];
    witness w;
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    MUST(start_hogs(hogs));
    for (int i = 0; i < ROUNDS; i++) {
        if (i == ROUNDS / 2)
            close_all();
        work_ms();
        MUST(delay_of_thread(&w.before));
        add_often(&r, 1, false);
        MUST(delay_of_thread(&w.after));
    }
    end_hogs(hogs);
    put_witness(folder, &w);
    _exit(0);
}

static void the_delay_is_the_kernels(void **state)
{
    (void)state;
    uint64_t delay;
    if (!delay_of_thread(&delay))
        skip();
    const char *folder = new_folder();
    in_child(shares_its_core, folder);
    recording r = recording_in(folder);
    const witness w = witness_of(folder);
    logged t;
    size_t at = 0, count = 0;
    uint64_t total = 0, read_at = 0, first = 0;
    while (recording_next(&r, &at, &t)) {
        if (t.event.kind != RECORD_DELAY)
            continue;
        assert_int_equal(t.event.thread, r.head.main_thread);
        assert_true(count == 0 ? t.event.field[1] == 0 : t.event.field[1] >= read_at);
        assert_true(count == 0 || t.event.field[0] > total);
        first = count++ == 0 ? t.event.field[0] : first;
        total = t.event.field[0];
        read_at = t.event.time;
    }
    /* The hogs had the core at times, and each reading was the kernel's sum. */
    assert_true(count > 1 && total > first);
    assert_true(total <= w.after);
    assert_true(total + UNREAD_NS >= w.before);
    recording_free(&r);
}

/* ---- descriptors ------------------------------------------------------------------------------
 */

static size_t descriptors(void)
{
    return processes("/proc/self/fd", 0, NULL, 0);
}

static runner shared;

static void *adds(void *unused)
{
    (void)unused;
    add_often(&shared, 2, true);
    return NULL;
}

static void ends_threads(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    shared = runner_new(NULL, ADD);
    add_often(&shared, 2, true);
    const size_t before = descriptors();
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        MUST(pthread_create(&thread, NULL, adds, NULL) == 0);
        MUST(pthread_join(thread, NULL) == 0);
    }
    /* That of the main thread, which each of them reads, is theirs, too. */
    MUST(descriptors() <= before + 2);
    runner_free(&shared);
}

static void threads_leave_no_descriptors(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(ends_threads, folder);
    recording r = recording_in(folder);
    uint64_t delay;
    /* Each thread read its own once at least. */
    if (delay_of_thread(&delay))
        assert_true(recording_count(&r, RECORD_DELAY) >= THREADS);
    recording_free(&r);
}

static void has_no_clocks(const char *folder)
{
    setenv(RECORD_ENV_CPU, "0", 1);
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    add_often(&r, 3, true);
    runner_free(&r);
}

static void without_clocks_there_is_none(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(has_no_clocks, folder);
    recording r = recording_in(folder);
    assert_int_equal(recording_count(&r, RECORD_DELAY), 0);
    recording_free(&r);
}

/* ---- marks ------------------------------------------------------------------------------------
 */

typedef int marker(int what, const char *name, int64_t number);

static marker *marker_of_recorder(void)
{
    marker *mark = NULL;
    void *library = dlopen(built("pjrt_record"), RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "record_mark") : NULL;
    memcpy(&mark, &symbol, sizeof mark);
    MUST(mark);
    return mark;
}

static void makes_marks(const char *folder)
{
    char longest[1000];
    set_recorder(folder, "pjrt_sim");
    marker *mark = marker_of_recorder();
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    /* Before any plugin. */
    MUST(mark(RECORD_PHASE_BEGINS, "train", 0) == 0);
    runner r = runner_new(NULL, ADD);
    MUST(mark(RECORD_STEP_BEGINS, "", -1) == 0);
    add_often(&r, 1, true);
    MUST(mark(RECORD_STEP_ENDS, longest, INT64_MAX) == 0);
    MUST(mark(4, "x", 0) == 1);
    MUST(mark(-1, "x", 0) == 1);
    MUST(mark(RECORD_STEP_BEGINS, NULL, 0) == 1);
    runner_free(&r);
}

static void marks_are_written(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(makes_marks, folder);
    recording r = recording_in(folder);
    logged t, execution;
    assert_int_equal(recording_count(&r, RECORD_MARK), 3);
    recording_get(&r, RECORD_EXECUTE, 0, &execution);
    recording_get(&r, RECORD_MARK, 0, &t);
    assert_int_equal(t.event.field[0], RECORD_PHASE_BEGINS);
    assert_string_equal(words_text(&t, 0), "train");
    recording_get(&r, RECORD_MARK, 1, &t);
    assert_int_equal((int64_t)t.event.field[1], -1);
    assert_int_equal(t.bytes, 0);
    assert_true(t.event.time <= execution.event.time && t.at < execution.at);
    recording_get(&r, RECORD_MARK, 2, &t);
    assert_int_equal(t.event.field[1], INT64_MAX);
    assert_int_equal(t.bytes, RECORD_MARK_MOST);
    assert_int_equal(t.event.thread, r.head.main_thread);
    assert_int_equal(r.head.lost, 0);
    recording_free(&r);
}

static void marks_nowhere(const char *folder)
{
    set_recorder(NULL, "pjrt_sim");
    MUST(marker_of_recorder()(RECORD_STEP_BEGINS, "x", 0) == 1);
    MUST(processes(folder, 0, NULL, 0) == 0);
}

static void without_a_folder_nothing_is_marked(void **state)
{
    (void)state;
    in_child(marks_nowhere, new_folder());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_delay_is_the_kernels),
        cmocka_unit_test(threads_leave_no_descriptors),
        cmocka_unit_test(without_clocks_there_is_none),
        cmocka_unit_test(marks_are_written),
        cmocka_unit_test(without_a_folder_nothing_is_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
