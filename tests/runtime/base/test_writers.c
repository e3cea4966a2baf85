/*
 * test_writers.c - whether the process is gone that wrote a file: numbers of processes are used
 * again, and who started after the file was last written did not write it. The files' times are set
 * here; the time of a file's last change cannot be.
 */
#define _GNU_SOURCE
#include "runtime/base/base.h"
#include "tests/support/ahead.h"
#include "tests/support/results_fixture.h"
#include "tests/support/test_runtime.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOUR_S 3600

static const struct timespec long_ago[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};

/* Whether the writer PID is gone of a file that was last written WRITTEN_S. */
static bool gone(long pid, time_t written_s)
{
    struct stat info = {0};
    info.st_mtime = written_s;
    return bn_writer_gone(pid, &info);
}

static void who_lives_is_not_gone(void **state)
{
    const time_t now = time(NULL);
    assert_false(gone(getpid(), now));
    assert_false(gone(getpid(), now + HOUR_S));
    /* The clock may have been set a little while it wrote. */
    assert_false(gone(getpid(), now - 30));
}

static void who_is_not_there_is_gone(void **state)
{
    const time_t now = time(NULL);
    const pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    assert_true(gone(dead, now));
    assert_true(gone(99999999, now));
    assert_true(gone(99999999999, now)); /* more than a number of a process can be */
    /* These are groups, or all. */
    assert_false(gone(0, 0));
    assert_false(gone(-1, 0));
}

/* A process takes the number of one that left a file, one minute ago or an hour. */
static void who_is_younger_than_the_file_did_not_write_it(void **state)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    const time_t before = time(NULL);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) != 0); /* until the test ends */
    }
    close(ends[0]);
    assert_true(child > 0);
    assert_true(gone(child, before - HOUR_S));
    assert_true(gone(child, before - 65));
    assert_false(gone(child, time(NULL)));
    assert_false(gone(child, time(NULL) - 30));
    close(ends[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* A program's name may be made to look like further fields. */
static void a_name_with_brackets_changes_nothing(void **state)
{
    char name[16] = "";
    const time_t now = time(NULL);
    assert_int_equal(prctl(PR_GET_NAME, name), 0);
    assert_int_equal(prctl(PR_SET_NAME, "a) S 1 (b) 2"), 0);
    assert_true(gone(getpid(), now - 24 * HOUR_S));
    assert_false(gone(getpid(), now));
    assert_int_equal(prctl(PR_SET_NAME, name), 0);
}

static void what_had_our_number_is_swept_and_ours_stays(void **state)
{
    char folder[300], name[64];
    bn_status st = {.code = BN_OK};
    int fd;
    fixture_folder(folder, sizeof folder, "test_writers");
    assert_ok(bn_private_folder(folder, &fd, &st), &st);
    snprintf(name, sizeof name, "index.tsv.%ld-0.tmp", (long)getpid());
    assert_ok(bn_private_write(fd, name, "half", 4, &st), &st);
    /* It is old, but we may have written it. */
    ahead_s = HOUR_S;
    bn_writers_sweep(fd, "index.tsv");
    ahead_s = 0;
    assert_int_equal(faccessat(fd, name, F_OK, 0), 0);
    assert_int_equal(utimensat(fd, name, long_ago, 0), 0);
    bn_writers_sweep(fd, "index.tsv");
    assert_int_equal(faccessat(fd, name, F_OK, 0), -1);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_lives_is_not_gone),
        cmocka_unit_test(who_is_not_there_is_gone),
        cmocka_unit_test(who_is_younger_than_the_file_did_not_write_it),
        cmocka_unit_test(a_name_with_brackets_changes_nothing),
        cmocka_unit_test(what_had_our_number_is_swept_and_ours_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
