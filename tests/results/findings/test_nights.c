/*
 * test_nights.c - a night among the others: which records are the last good night, and what a
 * night is the first to show. Needs no plugin.
 */
#include "tests/results/store_fixture.h"

#include <sys/stat.h>

#include "results/findings/findings.h"

static const res_runs_of ours = {"plugin.so", NULL};

static void write_ours(const place *p, const char *id, const char *sha256, bn_code status)
{
    const maker m = {id, sha256, "h1", 1, status, 1};
    char path[600];
    write_with(p, &m, "/builds/1/plugin.so", path);
}

/* The ids of the last good night before the records of STORE from number FIRST on, as one text. */
static void last_night(const place *p, size_t first, double hours, const res_runs_of *runs,
                       bn_text *ids)
{
    res_index index;
    res_collection all;
    const res_summary *night[16];
    bn_status st = {0};
    load_with(p, NULL, &index);
    assert_ok(res_store_load(p->store, &all, &st), &st);
    const res_collection tonight = {.records = all.records + first, .count = all.count - first};
    const size_t count = res_last_good_night(&index, &tonight, runs, hours, night);
    bn_text_clear(ids);
    bn_text_puts(ids, "");
    for (size_t i = 0; i < count; i++)
        bn_text_printf(ids, "%.8s ", night[i]->id);
    res_collection_free(&all);
    res_index_free(&index);
}

static void the_last_good_night_is_of_one_build(void **state)
{
    const place *p = *state;
    bn_text ids = {0};
    write_ours(p, "20260101T020000.000000000Z-h-1-0", "bb", BN_OK);
    write_ours(p, "20260102T020000.000000000Z-h-1-0", "bb", BN_OK);
    write_ours(p, "20260102T030000.000000000Z-h-1-1", "aa", BN_OK);
    write_ours(p, "20260102T040000.000000000Z-h-1-2", "bb", BN_OK);
    write_ours(p, "20260103T020000.000000000Z-h-1-0", "cc", BN_CRASH);
    write_ours(p, "20260104T020000.000000000Z-h-1-0", "cc", BN_OK);
    last_night(p, 5, 12, &ours, &ids);
    assert_string_equal(ids.data, "20260102 20260102 ");
    last_night(p, 5, 48, &ours, &ids);
    assert_string_equal(ids.data, "20260101 20260102 20260102 ");
    /* Of a night that failed there is nothing to be compared. */
    const res_runs_of other = {"other.so", NULL}, told = {"plugin.so", "threads=4"};
    last_night(p, 5, 12, &other, &ids);
    assert_string_equal(ids.data, "");
    last_night(p, 5, 12, &told, &ids);
    assert_string_equal(ids.data, "");
    bn_text_free(&ids);
}

/* What another suite asks for on the same runtime is no night of ours. */
static void other_requests_are_no_night(void **state)
{
    const place *p = *state;
    bn_text ids = {0};
    const maker other = {"20260102T020000.000000000Z-h-1-0", "dd", "h1", 1, BN_OK, 99};
    char path[600];
    write_ours(p, "20260101T020000.000000000Z-h-1-0", "aa", BN_OK);
    write_with(p, &other, "/builds/1/plugin.so", path);
    write_ours(p, "20260103T020000.000000000Z-h-1-0", "bb", BN_OK);
    last_night(p, 2, 12, &ours, &ids);
    assert_string_equal(ids.data, "20260101 ");
    bn_text_free(&ids);
}

/* The nights up to UNTIL, slower from night 10 on; whether its last change was known before. */
static bool known_on(const place *p, int until, size_t *stretches)
{
    res_index index;
    res_history history;
    res_collection all;
    bool known = false;
    char id[64];
    bn_status st = {0};
    const res_history_options o = res_history_defaults();
    for (int day = 1; day <= until; day++) {
        const maker m = {id,    "aa", "h1", (day < 10 ? 1.0 : 1.1) * (1 + 0.002 * (day % 3)),
                         BN_OK, 1};
        char path[600];
        struct stat info;
        snprintf(id, sizeof id, "202601%02dT020000.000000000Z-h-1-0", day);
        snprintf(path, sizeof path, "%s/%s-resnet50-train-lazy.h5", p->store, id);
        if (stat(path, &info) != 0)
            write_with(p, &m, "cpu", path);
    }
    load_with(p, NULL, &index);
    assert_ok(res_store_load(p->store, &all, &st), &st);
    assert_ok(res_history_make(&index, &o, &history, &st), &st);
    const res_timeline *series = &history.series[0];
    assert_true(res_timeline_has(series, &all));
    *stretches = series->stretch_count;
    if (*stretches > 1)
        assert_ok(res_change_was_known(series, &series->stretches[*stretches - 1], &o.change,
                                       &known, &st),
                  &st);
    all.records[0]->simulated = true;
    const res_collection simulated = {.records = all.records, .count = 1};
    assert_false(res_timeline_has(series, &simulated));
    res_collection_free(&all);
    res_history_free(&history);
    res_index_free(&index);
    return known;
}

static void a_change_is_new_once(void **state)
{
    const place *p = *state;
    size_t stretches = 1;
    int day = 10;
    bool known = false;
    while (stretches == 1 && day < 20)
        known = known_on(p, day++, &stretches);
    assert_int_equal(stretches, 2);
    assert_false(known);
    assert_true(known_on(p, day, &stretches));
    assert_int_equal(stretches, 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_last_good_night_is_of_one_build),
        TEST(other_requests_are_no_night),
        TEST(a_change_is_new_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
