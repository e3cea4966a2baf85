/*
 * test_history.c - the series that are made of a store's index: nights, gaps, and what changed
 * with a change. Needs no plugin.
 */
#include "tests/results/store_fixture.h"

#include "results/nights/nights.h"

static void make_history(const place *p, res_index *index, res_history *history)
{
    bn_status st = {0};
    const res_history_options o = res_history_defaults();
    load_with(p, NULL, index);
    assert_ok(res_history_make(index, &o, history, &st), &st);
}

static void nights_gather_processes_of_one_build(void **state)
{
    const place *p = *state;
    static const maker makers[] = {
        /* Across midnight; other seeds, another path. */
        {"20260101T230000.000000000Z-h-1-0", "aa", "h1", 1.0, BN_OK, 1},
        {"20260101T235900.000000000Z-h-1-1", "", "h1", 1.0, BN_CRASH, 1},
        {"20260102T003000.000000000Z-h-1-2", "aa", "h1", 1.4, BN_OK, 2},
        {"20260102T010000.000000000Z-h-1-3", "aa", "h1", 1.1, BN_OK, 3},
        /* Another build in the same hours. */
        {"20260102T011500.000000000Z-h-1-4", "bb", "h1", 2.0, BN_OK, 1},
        /* A night that failed, in two ways. */
        {"20260102T230000.000000000Z-h-1-5", "", "h1", 1, BN_CRASH, 1},
        {"20260102T233000.000000000Z-h-1-6", "", "h1", 1, BN_TIMEOUT, 1},
        /* A failure first, which learns its build. */
        {"20260103T230000.000000000Z-h-1-7", "", "h1", 1, BN_CRASH, 1},
        {"20260103T233000.000000000Z-h-1-8", "cc", "h2", 1.2, BN_OK, 1},
        {"timeless", "cc", "h2", 1.2, BN_OK, 1},
    };
    char path[600], runtime[32];
    res_index index;
    res_history history;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        snprintf(runtime, sizeof runtime, "/builds/%zu/plugin.so", i);
        write_with(p, &makers[i], runtime, path);
    }
    make_history(p, &index, &history);
    assert_int_equal(history.timeless, 1);
    assert_int_equal(history.count, 1);
    const res_timeline *series = &history.series[0];
    assert_int_equal(series->count, 4);
    const res_night *night = series->nights;
    assert_int_equal(night[0].processes, 3);
    assert_int_equal(night[0].failed, 1);
    assert_int_equal(night[0].status, BN_OK);
    /* 1, 1.4 and 1.1 of the second build's half; t(0.975, 2) = 4.3027 on their logs. */
    const double middle = cbrt(1.4 * 1.1) / 2 * night[1].value;
    assert_near(night[0].value, middle, 0.005 * middle);
    assert_near(log(night[0].high / night[0].value), 4.3027 * 0.17342 / sqrt(3), 0.01);
    assert_near(log(night[0].value / night[0].low), 4.3027 * 0.17342 / sqrt(3), 0.01);
    assert_string_equal(night[1].origin->sha256, fixture_digest("bb"));
    assert_int_equal(night[1].processes, 1);
    assert_true(isnan(night[1].low) && isnan(night[1].high));
    assert_true(isnan(night[2].value));
    assert_int_equal(night[2].failed, 2);
    assert_int_equal(night[2].status, BN_TIMEOUT);
    assert_string_equal(night[3].origin->sha256, fixture_digest("cc"));
    assert_int_equal(night[3].failed, 1);
    assert_int_equal(series->stretch_count, 1);
    assert_int_equal(series->stretches[0].gaps, 1);
    assert_int_equal(series->last, 3);
    res_history_free(&history);
    res_index_free(&index);
}

static void changes_tell_builds_and_hosts(void **state)
{
    const place *p = *state;
    char path[600], id[64];
    res_index index;
    res_history history;
    for (int day = 1; day <= 30; day++) {
        /* A failed night just before the change does not hide what was before. */
        const maker m = {id,
                         day < 15 ? "aa" : "bb",
                         day < 15 ? "h1" : "h2",
                         (day < 15 ? 1.0 : 1.1) * (1 + 0.002 * (day % 3)),
                         day == 14 ? BN_CRASH : BN_OK,
                         1};
        snprintf(id, sizeof id, "202601%02dT020000.000000000Z-h-1-0", day);
        write_with(p, &m, "cpu", path);
    }
    make_history(p, &index, &history);
    const res_timeline *series = &history.series[0];
    assert_int_equal(series->stretch_count, 2);
    const res_stretch *s = &series->stretches[1];
    assert_int_equal(s->first, 14);
    assert_int_equal(s->before, 12);
    assert_true(s->build_known && s->other_build && s->other_host);
    assert_true(s->ratio.low < 1.1 && 1.1 < s->ratio.high);
    assert_int_equal(series->stretches[0].gaps, 1);
    assert_int_equal(series->stretches[0].nights, 13);
    res_history_free(&history);
    res_index_free(&index);
}

/* A record of the simulated runtime with these SETTINGS, from a build of this LABEL. */
static void write_told(const place *p, const char *id, const char *settings, const char *label,
                       const char *sha256)
{
    fixture_case c = fixture_lazy;
    bn_status st = {0};
    char path[600];
    c.runtime = "sim";
    res_record *r = fixture_record(&c, 20);
    r->simulated = true;
    snprintf(r->id, sizeof r->id, "%s", id);
    snprintf(r->experiment.settings, sizeof r->experiment.settings, "%s", settings);
    json_decref(r->provenance);
    r->provenance =
        json_pack("{s{ss ss}}", "runtime", "sha256", fixture_digest(sha256), "label", label);
    assert_ok(res_store_write(p->store, r, path, sizeof path, &st), &st);
    res_record_free(r);
}

static void labels_and_files_of_one_night_are_entries(void **state)
{
    const place *p = *state;
    res_index index;
    res_history history;
    write_told(p, "20260101T020000.000000000Z-h-1-0", "", "x", "aa");
    write_told(p, "20260101T021000.000000000Z-h-1-1", "", "y", "aa");
    write_told(p, "20260101T022000.000000000Z-h-1-2", "", "x", "bb");
    write_told(p, "20260101T023000.000000000Z-h-1-3", "", "x", "aa");
    make_history(p, &index, &history);
    assert_int_equal(history.count, 1);
    assert_int_equal(history.series[0].count, 3);
    assert_int_equal(history.series[0].nights[0].processes, 2);
    assert_string_equal(history.series[0].nights[1].origin->label, "y");
    assert_string_equal(history.series[0].nights[2].origin->sha256, fixture_digest("bb"));
    res_history_free(&history);
    res_index_free(&index);
}

static void changed_settings_are_a_change_within_a_series(void **state)
{
    const place *p = *state;
    res_index index;
    res_history history;
    write_told(p, "20260101T020000.000000000Z-h-1-0", "device_us=20", "", "aa");
    write_told(p, "20260102T020000.000000000Z-h-1-0", "device_us=21", "", "aa");
    make_history(p, &index, &history);
    assert_int_equal(history.count, 1);
    assert_int_equal(history.series[0].count, 2);
    assert_true(history.series[0].any_settings);
    assert_string_equal(history.series[0].nights[1].settings, "device_us=21");
    res_history_free(&history);
    res_index_free(&index);
    /* Both in one night: a suite that asks for both, and two series. */
    write_told(p, "20260102T021000.000000000Z-h-1-1", "device_us=20", "", "aa");
    make_history(p, &index, &history);
    assert_int_equal(history.count, 2);
    assert_int_equal(history.series[0].count, 2);
    assert_int_equal(history.series[1].count, 1);
    assert_false(history.series[0].any_settings);
    res_history_free(&history);
    res_index_free(&index);
}

static void records_of_the_future_are_in_no_series(void **state)
{
    const place *p = *state;
    res_index index;
    res_history history;
    write_told(p, "20260101T020000.000000000Z-h-1-0", "", "", "aa");
    write_told(p, "29990101T020000.000000000Z-h-1-0", "", "", "aa");
    make_history(p, &index, &history);
    assert_int_equal(history.misdates.count, 1);
    assert_int_equal(history.series[0].count, 1);
    res_history_free(&history);
    res_index_free(&index);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nights_gather_processes_of_one_build),
        TEST(changes_tell_builds_and_hosts),
        TEST(labels_and_files_of_one_night_are_entries),
        TEST(changed_settings_are_a_change_within_a_series),
        TEST(records_of_the_future_are_in_no_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
