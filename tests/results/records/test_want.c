/*
 * test_want.c - no store loses a record to a reader that had no memory, time, right or luck. Some of
 * the moments at which it may fail; test_full_want.c tries all. Needs no plugin.
 */
#define _GNU_SOURCE
#include "tests/results/records/want_fixture.h"

#include "results/records/index_priv.h"
#include "tests/support/rights.h"

static void no_memory_at_some_moments(void **state)
{
    sweep_memory(*state, 97);
}

/* Ends with 0 if the line of RECORD is WHOLE. */
static int write_line_apart(const res_record *record, const char *whole)
{
    int status = -1;
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        bn_text line = {0};
        bn_out_of_memory_exits(ENDED);
        arm(NULL);
        armed = true;
        res_line_write(record, "file", 1, 2, &line);
        armed = false;
        _exit(strcmp(line.data, whole) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* A line is whole or not written: a median without memory is no unknown figure. */
static void no_line_lacks_a_figure(void **state)
{
    const place *p = *state;
    bn_status st = {.code = BN_OK};
    res_collection all;
    assert_ok(res_store_load(p->store, &all, &st), &st);
    for (size_t i = 0; i < all.count; i++) {
        bn_text whole = {0};
        res_line_write(all.records[i], "file", 1, 2, &whole);
        for (int for_ever = 0; for_ever < 2 && !SANITIZED; for_ever++) {
            size_t lines = 0;
            fault = (struct fault){.what = MEMORY, .whose = READER, .for_ever = for_ever};
            for (fault.at = 1, *failed = 1; *failed; fault.at++) {
                *failed = 0;
                const int status = write_line_apart(all.records[i], whole.data);
                assert_true(read_or_ended(status));
                lines += WEXITSTATUS(status) == 0;
            }
            assert_true(lines >= 1 && fault.at > 5);
        }
        bn_text_free(&whole);
    }
    res_collection_free(&all);
}

static void files_folders_and_processes_fail(void **state)
{
    sweep_errors(*state);
}

static void signals_at_some_moments(void **state)
{
    sweep_signals(*state, 257);
}

/* ---- limits ------------------------------------------------------------------------------- */

static void limit_memory(const void *megabytes)
{
    const rlim_t bytes = (rlim_t)*(const size_t *)megabytes << 20;
    const struct rlimit limit = {bytes, bytes};
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

/* As under ulimit -v: from less than the program has now to more than it ever takes. */
static void a_limit_of_memory_marks_nothing(void **state)
{
    const place *p = *state;
    char *wanted = whole_index(p);
    for (size_t megabytes = 1; megabytes <= 512 && !SANITIZED; megabytes += 1 + megabytes / 8) {
        unlink(p->index);
        assert_true(read_or_ended(read_apart(p, megabytes % 2, limit_memory, &megabytes)));
        assert_as_before(p, wanted);
    }
    free(wanted);
}

/* A limit of time that is all but used up when the store is read. */
static void limit_time(const void *what)
{
    (void)what;
    const struct rlimit limit = {1, 1};
    assert_int_equal(setrlimit(RLIMIT_CPU, &limit), 0);
    struct rusage used;
    do
        getrusage(RUSAGE_SELF, &used);
    while (used.ru_utime.tv_sec == 0 && used.ru_utime.tv_usec < 990000);
}

static void a_limit_of_time_marks_nothing(void **state)
{
    const place *p = *state;
    char *wanted = whole_index(p);
    unlink(p->index);
    (void)read_apart(p, true, limit_time, NULL); /* it may die of it */
    assert_as_before(p, wanted);
    free(wanted);
}

/* ---- rights ------------------------------------------------------------------------------- */

static void files_without_rights_are_no_damage(void **state)
{
    const place *p = *state;
    char *wanted = whole_index(p), path[600];
    for (int i = 0; i < 2; i++) {
        unlink(p->index);
        snprintf(path, sizeof path, "%s", p->store);
        if (i == 0) {
            res_index index;
            load_with(p, NULL, &index);
            snprintf(path, sizeof path, "%s/%s", p->store, index.records[1].file);
            res_index_free(&index);
            unlink(p->index);
        }
        struct stat info;
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(chmod(path, 0), 0);
        const int status = read_apart(p, true, give_up_rights, NULL);
        assert_int_equal(chmod(path, info.st_mode & 0777), 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_as_before(p, wanted);
    }
    free(wanted);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin_want, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_memory_at_some_moments),          TEST(no_line_lacks_a_figure),
        TEST(files_folders_and_processes_fail),   TEST(signals_at_some_moments),
        TEST(a_limit_of_memory_marks_nothing),    TEST(a_limit_of_time_marks_nothing),
        TEST(files_without_rights_are_no_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
