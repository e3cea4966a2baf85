/*
 * test_run_cache.c - the folder of a run's executables: made for its user alone, removed with what
 * is in it, and done without where others may write. Needs no plugin.
 */
#define _GNU_SOURCE
#include "harness/jobs/jobs.h"
#include "tests/support/results_fixture.h"
#include "tests/support/test_runtime.h"

#include <fcntl.h>
#include <sys/stat.h>
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

static void a_folder_of_ones_own(void **state)
{
    (void)state;
    char store[300], path[JOB_CACHE_PATH], file[JOB_CACHE_PATH + 10];
    struct stat info;
    bn_status st = {.code = BN_OK};
    fixture_folder(store, sizeof store, "cache");
    assert_ok(job_cache_begin(store, path, &st), &st);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    snprintf(file, sizeof file, "%s/one", path);
    assert_ok(bn_file_write_atomic(file, "x", 1, &st), &st);
    job_cache_end(path);
    assert_int_equal(stat(path, &info), -1);
}

static void where_others_may_write_there_is_none(void **state)
{
    (void)state;
    char store[300], path[JOB_CACHE_PATH];
    bn_status st = {.code = BN_OK};
    fixture_folder(store, sizeof store, "cache");
    others_may_write = true;
    assert_ok(job_cache_begin(store, path, &st), &st);
    others_may_write = false;
    assert_string_equal(path, "");
    assert_int_equal(rmdir(store), 0); /* it is empty */
    job_cache_end(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_of_ones_own),
        cmocka_unit_test(where_others_may_write_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
