/*
 * test_dates.c - records whose dates are wrong. Needs no plugin.
 */
#define _GNU_SOURCE
#include "tests/results/store_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "results/findings/findings.h"

/* Times of files that an archive set do not make dates wrong, whether they are from before there
 * was this program or merely from before the records. */
static void old_files_do_not_make_dates_wrong(void **state)
{
    const place *p = *state;
    const int64_t times_s[] = {0, 315532800, 1767225600}; /* 1970, 1980, 2026-01-01 */
    const maker made = {"20260102T020000.000000000Z-h-1-0", "aa", "h1", 1, BN_OK, 1};
    char path[600];
    res_index index;
    res_summary image = {.id = "20260102T020000.000000000Z-h-1-0"};
    write_with(p, &made, "a.so", path);
    for (size_t i = 0; i < sizeof times_s / sizeof *times_s; i++) {
        const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = times_s[i]}};
        load_with(p, NULL, &index);
        snprintf(path, sizeof path, "%s/%s", p->store, index.records[0].file);
        res_index_free(&index);
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
        load_with(p, NULL, &index);
        assert_int_equal(index.records[0].mtime_ns, times_s[i] * 1000000000);
        assert_false(res_misdated(&index.records[0], (double)INFINITY));
        res_index_free(&index);
    }
    /* An image of a file system has old times only. */
    image.written_ns = 315532800 * INT64_C(1000000000);
    assert_false(res_misdated(&image, (double)INFINITY));
    assert_true(res_misdated(&image, res_id_time("20260101T020000.000000000Z")));
    /* A file of 2025 has no record of 2026. */
    image.written_ns = 1735689600 * INT64_C(1000000000);
    assert_true(res_misdated(&image, (double)INFINITY));
}

/* Records that stay when a store is read whole keep their order, and dropped ones are counted. */
static void misdated_records_are_dropped(void **state)
{
    const place *p = *state;
    const char *const ids[] = {
        "20260102T020000.000000000Z-h-1-0", "29990101T020000.000000000Z-h-1-0",
        "20260103T020000.000000000Z-h-1-0", "29980101T020000.000000000Z-h-1-0",
        "20260104T020000.000000000Z-h-1-0",
    };
    char path[600];
    res_collection all;
    bn_status st = {.code = BN_OK};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        write_with(p, &(maker){ids[i], "aa", "h1", 1, BN_OK, 1}, "a.so", path);
    assert_ok(res_store_load(p->store, &all, &st), &st);
    assert_int_equal(all.count, 5);
    res_misdates_drop(&all, (double)INFINITY);
    assert_int_equal(all.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(all.records[i]->id, ids[2 * i]);
    assert_int_equal(all.misdates.count, 2);
    assert_true(all.misdates.first_s == res_id_time(ids[3]));
    assert_true(all.misdates.last_s == res_id_time(ids[1]));
    res_collection_free(&all);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(old_files_do_not_make_dates_wrong),
        TEST(misdated_records_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
