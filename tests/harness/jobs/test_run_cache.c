/*
 * test_run_cache.c - the folder of a run's executables: made for its user alone, removed with what
 * is in it, and done without where others may write or have its names. What a live run has is never
 * swept. Needs no plugin.
 */
#define _GNU_SOURCE
#include "harness/jobs/jobs.h"
#include "tests/support/results_fixture.h"
#include "tests/support/test_runtime.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A file system that keeps no permissions says of all its folders that anyone may write them. */
static bool others_may_write;

int fstat(int fd, struct stat *info)
{
    const int result = fstatat(fd, "", info, AT_EMPTY_PATH);
    if (result == 0 && others_may_write)
        info->st_mode |= S_IWGRP | S_IWOTH;
    return result;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void a_folder_of_ones_own(void **state)
{
    (void)state;
    char store[300], file[JOB_CACHE_PATH + 10], path[JOB_CACHE_PATH];
    job_cache cache;
    struct stat info;
    bn_status st = {.code = BN_OK};
    fixture_folder(store, sizeof store, "cache");
    assert_ok(job_cache_begin(store, &cache, &st), &st);
    assert_int_equal(stat(cache.path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    snprintf(path, sizeof path, "%s", cache.path);
    snprintf(file, sizeof file, "%s/one", path);
    assert_ok(bn_file_write_atomic(file, "x", 1, &st), &st);
    job_cache_end(&cache);
    assert_false(exists(path));
}

static void where_others_may_write_there_is_none(void **state)
{
    (void)state;
    char store[300];
    job_cache cache;
    bn_status st = {.code = BN_OK};
    fixture_folder(store, sizeof store, "cache");
    others_may_write = true;
    assert_ok(job_cache_begin(store, &cache, &st), &st);
    others_may_write = false;
    assert_string_equal(cache.path, "");
    assert_int_equal(rmdir(store), 0); /* it is empty */
    job_cache_end(&cache);
}

/* Neither another program's folder of the same name nor one that cannot be removed ends a run. */
static void a_name_that_is_taken_ends_no_run(void **state)
{
    (void)state;
    char store[300], inner[JOB_CACHE_PATH + 10], names[20][JOB_CACHE_PATH];
    job_cache cache;
    size_t taken = 0;
    bn_status st = {.code = BN_OK};
    fixture_folder(store, sizeof store, "cache");
    /* A folder within it stays, and so does the folder: until no name is left. */
    for (; taken < 20; taken++) {
        assert_ok(job_cache_begin(store, &cache, &st), &st);
        if (!cache.path[0])
            break;
        snprintf(names[taken], sizeof names[0], "%s", cache.path);
        for (size_t i = 0; i < taken; i++)
            assert_string_not_equal(names[i], names[taken]);
        snprintf(inner, sizeof inner, "%s/inner", cache.path);
        assert_int_equal(mkdir(inner, 0700), 0);
        job_cache_end(&cache);
        assert_true(exists(inner));
    }
    assert_in_range(taken, 2, 19);
    /* A leftover that can be removed gives its name back. */
    assert_int_equal(rmdir(inner), 0);
    assert_ok(job_cache_begin(store, &cache, &st), &st);
    assert_string_equal(cache.path, names[taken - 1]);
    job_cache_end(&cache);
}

/* A run in another container with our host's name and our store: we do not see its process. */
static void live_runs_are_not_swept(void **state)
{
    (void)state;
    char store[300], path[JOB_CACHE_PATH], unseen[JOB_CACHE_PATH], host[64] = "";
    int pipe_fd[2];
    fixture_folder(store, sizeof store, "cache");
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    assert_int_equal(pipe(pipe_fd), 0);
    const pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    const pid_t run = fork();
    if (run == 0) {
        job_cache cache;
        if (job_cache_begin(store, &cache, NULL) != BN_OK ||
            write(pipe_fd[1], cache.path, sizeof cache.path) != (ssize_t)sizeof cache.path)
            _exit(1);
        for (;;)
            pause();
    }
    close(pipe_fd[1]);
    for (size_t at = 0; at < sizeof path;) {
        const ssize_t got = read(pipe_fd[0], path + at, sizeof path - at);
        assert_true(got > 0);
        at += (size_t)got;
    }
    close(pipe_fd[0]);
    /* As if its number were another one. */
    snprintf(unseen, sizeof unseen, "%s/.executables-%ld-%s", store, (long)dead, host);
    assert_int_equal(rename(path, unseen), 0);
    job_cache_sweep_old(store);
    assert_true(exists(unseen));
    assert_int_equal(kill(run, SIGKILL), 0);
    assert_int_equal(waitpid(run, NULL, 0), run);
    job_cache_sweep_old(store);
    assert_false(exists(unseen));
}

/* A number is used again: ours was that of a run that is long gone, and ours alone now. */
static void what_had_our_number_before_us_is_swept(void **state)
{
    (void)state;
    char store[300], path[JOB_CACHE_PATH], file[JOB_CACHE_PATH + 10], host[64] = "";
    const struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    bn_status st = {.code = BN_OK};
    fixture_folder(store, sizeof store, "cache");
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    snprintf(path, sizeof path, "%s/.executables-%ld-%s", store, (long)getpid(), host);
    snprintf(file, sizeof file, "%s/one", path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_ok(bn_file_write_atomic(file, "x", 1, &st), &st);
    job_cache_sweep_old(store);
    assert_true(exists(file));
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    job_cache_sweep_old(store);
    assert_false(exists(path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_of_ones_own),
        cmocka_unit_test(where_others_may_write_there_is_none),
        cmocka_unit_test(a_name_that_is_taken_ends_no_run),
        cmocka_unit_test(live_runs_are_not_swept),
        cmocka_unit_test(what_had_our_number_before_us_is_swept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
