/*
 * test_night_folder.c - a night's records become the store's on a file system without second names:
 * they are copied, and a night that is killed is found whole.
 */
#define _GNU_SOURCE
#include "tests/support/test_runtime.h"

#include "harness/campaign/night_folder_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The errno of the fake linkat below, and the number of its calls. */
static int refusal, asked;
int linkat(int from, const char *name, int to, const char *other, int flags)
{
    asked++;
    errno = refusal;
    return -1;
}

static const char *const names[] = {"20260101T000000.000000000Z-h-1-1.h5",
                                    "20260101T000001.000000000Z-h-1-2.h5",
                                    "controls/20260101T000002.000000000Z-h-1-3.h5"};
enum { RECORDS = sizeof names / sizeof *names };

static char store[300];

static int begin(void **state)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(store, sizeof store, "%s/night-folder.XXXXXX", tmp ? tmp : "/tmp");
    asked = 0;
    return mkdtemp(store) ? 0 : -1;
}

static const char *below(const char *folder, const char *name, char path[600])
{
    snprintf(path, 600, "%s%s/%s", store, folder, name);
    return path;
}

static void write_night(const night_folder *t)
{
    bn_status st = {.code = BN_OK};
    char path[600];
    assert_ok(bn_make_folder(t->folder, &st), &st);
    assert_ok(bn_make_folder(t->controls, &st), &st);
    for (size_t i = 0; i < RECORDS; i++)
        assert_ok(bn_file_write_atomic(below("/tonight", names[i], path), names[i],
                                       strlen(names[i]), &st),
                  &st);
}

/* Whether record I is whole in FOLDER of the store. */
static bool has(const char *folder, size_t i)
{
    char path[600], *data = NULL;
    size_t size = 0;
    if (bn_regular_read(below(folder, names[i], path), &data, &size, NULL) != BN_OK)
        return false;
    const bool same = size == strlen(names[i]) && memcmp(data, names[i], size) == 0;
    free(data);
    return same;
}

static void share_by_copies(int error)
{
    night_folder t = {0};
    bn_status st = {.code = BN_OK};
    refusal = error;
    assert_ok(night_folder_begin(&t, store, 12, &st), &st);
    write_night(&t);
    assert_ok(night_folder_share(&t, &st), &st);
    assert_int_equal(asked, RECORDS);
    /* A night that is killed here shares again what is there already. */
    refusal = EEXIST;
    assert_ok(night_folder_share(&t, &st), &st);
    for (size_t i = 0; i < RECORDS; i++) {
        assert_true(has("", i));
        assert_true(has("/tonight", i));
    }
    assert_ok(night_folder_end(&t, &st), &st);
    for (size_t i = 0; i < RECORDS; i++) {
        assert_true(has("", i));
        assert_false(has("/tonight", i));
    }
    night_folder_close(&t);
}

static void without_second_names_records_are_copied(void **state)
{
    share_by_copies(EPERM);
}

static void a_file_with_too_many_names_is_copied(void **state)
{
    share_by_copies(EMLINK);
}

/* Another record of that name is not written over, and not taken for ours. */
static void another_record_of_that_name_stays(void **state)
{
    night_folder t = {0};
    bn_status st = {.code = BN_OK};
    char path[600], *data = NULL;
    size_t size = 0;
    assert_ok(night_folder_begin(&t, store, 12, &st), &st);
    write_night(&t);
    assert_ok(bn_file_write_atomic(below("", names[0], path), "other", 5, &st), &st);
    refusal = EEXIST;
    assert_fails(night_folder_share(&t, &st), BN_IO, "another", &st);
    assert_ok(bn_regular_read(path, &data, &size, &st), &st);
    assert_string_equal(data, "other");
    assert_true(has("/tonight", 0));
    free(data);
    night_folder_close(&t);
}

/* Errors other than a lack of hard links are errors, and nothing is copied. */
static void a_disk_that_fails_is_an_error(void **state)
{
    night_folder t = {0};
    bn_status st = {.code = BN_OK};
    assert_ok(night_folder_begin(&t, store, 12, &st), &st);
    write_night(&t);
    refusal = ENOSPC;
    assert_fails(night_folder_share(&t, &st), BN_IO, "to the store: disk full", &st);
    for (size_t i = 0; i < RECORDS; i++)
        assert_false(has("", i));
    night_folder_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_second_names_records_are_copied, begin),
        cmocka_unit_test_setup(a_file_with_too_many_names_is_copied, begin),
        cmocka_unit_test_setup(another_record_of_that_name_stays, begin),
        cmocka_unit_test_setup(a_disk_that_fails_is_an_error, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
