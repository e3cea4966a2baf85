/*
 * test_nights.c - a night among the others: which records are the last good night, and what a
 * night is the first to show. Needs no plugin.
 */
#include "tests/results/store_fixture.h"

#include "results/nights/nights.h"

static const res_runs_of ours = {"plugin.so", NULL, NULL, false};

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
    const res_collection records = {.records = all.records + first, .count = all.count - first};
    const res_experiment *asked[16];
    for (size_t i = 0; i < records.count; i++)
        asked[i] = &records.records[i]->experiment;
    const res_night_of tonight = {.asked = asked,
                                  .asked_count = records.count,
                                  .records = &records,
                                  .hours = hours,
                                  .now_s = res_id_time(all.records[all.count - 1]->id)};
    const size_t count = res_last_good_night(&index, &tonight, runs, night);
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
    const res_runs_of other = {"other.so", NULL, NULL, false},
                      with_settings = {"plugin.so", "threads=4", NULL, false},
                      labelled = {"plugin.so", NULL, "x", false};
    last_night(p, 5, 12, &other, &ids);
    assert_string_equal(ids.data, "");
    last_night(p, 5, 12, &with_settings, &ids);
    assert_string_equal(ids.data, "");
    last_night(p, 5, 12, &labelled, &ids);
    assert_string_equal(ids.data, "");
    bn_text_free(&ids);
}

/* Ids decide which record is the latest, not names of files: a copy of an old record under a late
 * name hides no night, and neither does an id without a time. */
static void names_of_files_say_nothing_of_dates(void **state)
{
    const place *p = *state;
    char *data = NULL, path[600];
    size_t size = 0;
    bn_status st = {0};
    res_index index;
    const res_summary *night[8];
    const res_origin *builds[8];
    const double now_s = res_id_time("20260110T000000.000000000Z");
    write_ours(p, "20260101T020000.000000000Z-h-1-0", "aa", BN_OK);
    write_ours(p, "20260102T020000.000000000Z-h-1-0", "bb", BN_OK);
    write_ours(p, "20260102T020001.000000000Z-h-1-1", "bb", BN_OK);
    load_with(p, NULL, &index);
    snprintf(path, sizeof path, "%s/%s", p->store, index.records[0].file);
    res_index_free(&index);
    assert_ok(bn_regular_read(path, &data, &size, &st), &st);
    snprintf(path, sizeof path, "%s/zzz.h5", p->store);
    assert_ok(bn_file_write_atomic(path, data, size, &st), &st);
    free(data);
    write_ours(p, "z", "cc", BN_OK);
    load_with(p, NULL, &index);
    /* The copy is no record of its own. */
    assert_int_equal(index.count, 4);
    assert_int_equal(index.damaged_count, 1);
    const res_experiment *asked[] = {index.experiments[0]};
    const res_night_of tonight = {.asked = asked, .asked_count = 1, .hours = 12, .now_s = now_s};
    assert_int_equal(res_last_good_night(&index, &tonight, &ours, night), 2);
    assert_string_equal(night[0]->id, "20260102T020000.000000000Z-h-1-0");
    assert_string_equal(night[1]->id, "20260102T020001.000000000Z-h-1-1");
    assert_int_equal(res_latest_builds(&index, 1, now_s, builds), 1);
    assert_string_equal(builds[0]->sha256, fixture_digest("bb"));
    assert_int_equal(res_latest_builds(&index, 4, now_s, builds), 2);
    res_index_free(&index);
}

/* Neither is what ran on it later: what bench import took this evening of the same build, say. */
static void later_records_are_no_part_of_it(void **state)
{
    const place *p = *state;
    const maker later = {"20260102T200000.000000000Z-h-1-0", "aa", "h1", 1, BN_OK, 99};
    bn_text ids = {0};
    char path[600];
    write_ours(p, "20260101T200000.000000000Z-h-1-0", "aa", BN_OK);
    write_with(p, &later, "/builds/1/plugin.so", path);
    write_ours(p, "20260103T020000.000000000Z-h-1-0", "bb", BN_OK);
    last_night(p, 2, 48, &ours, &ids);
    assert_string_equal(ids.data, "20260101 ");
    bn_text_free(&ids);
}

/* Records of another suite on the same runtime are no night of ours. */
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

/* A record dated years ahead is no night before any other. */
static void nights_of_the_future_are_left_out(void **state)
{
    const place *p = *state;
    bn_text ids = {0};
    res_index index;
    write_ours(p, "20260101T020000.000000000Z-h-1-0", "aa", BN_OK);
    write_ours(p, "20260102T020000.000000000Z-h-1-0", "bb", BN_OK);
    write_ours(p, "29990101T020000.000000000Z-h-1-0", "cc", BN_OK);
    load_with(p, NULL, &index);
    const double now_s = res_id_time("20260102T030000.000000000Z");
    res_misdates misdates = res_misdates_of(&index, now_s);
    assert_int_equal(misdates.count, 1);
    assert_true(misdates.first_s == res_id_time("29990101T020000.000000000Z"));
    /* Its file was written long before its date: that tells without a clock, too. */
    assert_int_equal(res_misdates_of(&index, (double)INFINITY).count, 1);
    /* To a clock that went back all is later. */
    misdates = res_misdates_of(&index, res_id_time("20200101T000000.000000000Z"));
    assert_int_equal(misdates.count, 3);
    res_put_misdates(&misdates, &ids);
    assert_non_null(strstr(ids.data, "3 records "));
    assert_non_null(strstr(ids.data, " 2026-01-01 02:00 to 2999-01-01 02:00 UTC"));
    const res_experiment *asked[] = {index.experiments[0]};
    const res_summary *night[4];
    const res_night_of tonight = {.asked = asked, .asked_count = 1, .hours = 12, .now_s = now_s};
    assert_int_equal(res_last_good_night(&index, &tonight, &ours, night), 1);
    assert_string_equal(night[0]->origin->sha256, fixture_digest("bb"));
    res_index_free(&index);
    bn_text_free(&ids);
}

/* A record of the front end FRONT_END on "cuda", whose plugin has SHA256. */
static void write_cuda(const place *p, const char *id, const char *sha256, const char *front_end)
{
    bn_status st = {0};
    char path[600];
    fixture_case c = fixture_lazy;
    c.runtime = "cuda";
    res_record *r = fixture_record(&c, 20);
    snprintf(r->id, sizeof r->id, "%s", id);
    snprintf(r->experiment.front_end, sizeof r->experiment.front_end, "%s", front_end);
    json_decref(r->provenance);
    r->provenance = json_pack("{s{ss}}", "runtime", "sha256", fixture_digest(sha256));
    assert_ok(res_store_write(p->store, r, path, sizeof path, &st), &st);
    res_record_free(r);
}

/* A plugin that a framework loaded under a runtime's name is no build of that runtime: it is
 * neither the last night's of bench's own steps, nor kept. */
static void plugins_of_frameworks_are_no_builds(void **state)
{
    const place *p = *state;
    const res_runs_of own = {"cuda", NULL, NULL, false}, theirs = {"cuda", NULL, NULL, true};
    const double now_s = res_id_time("20260110T000000.000000000Z");
    res_index index;
    const res_summary *night[4];
    const res_origin *builds[4];
    write_cuda(p, "20260101T020000.000000000Z-h-1-0", "aa", "bench");
    write_cuda(p, "20260101T020001.000000000Z-h-1-1", "bb", "jax");
    load_with(p, NULL, &index);
    assert_int_equal(index.experiment_count, 2);
    const res_experiment *asked[] = {index.experiments[0], index.experiments[1]};
    const res_night_of tonight = {.asked = asked, .asked_count = 2, .hours = 12, .now_s = now_s};
    assert_int_equal(res_last_good_night(&index, &tonight, &own, night), 1);
    assert_string_equal(night[0]->origin->sha256, fixture_digest("aa"));
    assert_int_equal(res_last_good_night(&index, &tonight, &theirs, night), 1);
    assert_string_equal(night[0]->origin->sha256, fixture_digest("bb"));
    assert_int_equal(res_latest_builds(&index, 4, now_s, builds), 1);
    assert_string_equal(builds[0]->sha256, fixture_digest("aa"));
    res_index_free(&index);
}

static void the_latest_builds_are_those_of_each_runtime(void **state)
{
    const place *p = *state;
    static const struct {
        const char *id, *sha256, *runtime;
        bn_code status;
    } rows[] = {
        {"20260101T020000.000000000Z-h-1-0", "a1", "/1/a.so", BN_OK},
        {"20260102T020000.000000000Z-h-1-0", "a2", "/2/a.so", BN_OK},
        {"20260103T020000.000000000Z-h-1-0", "b1", "b", BN_OK},
        {"20260104T020000.000000000Z-h-1-0", "a3", "/3/a.so", BN_OK},
        {"20260105T020000.000000000Z-h-1-0", "a2", "/2/a.so", BN_OK},
        {"20260106T020000.000000000Z-h-1-0", "a4", "/4/a.so", BN_CRASH},
        {"29990101T020000.000000000Z-h-1-0", "a5", "/5/a.so", BN_OK},
    };
    char path[600];
    res_index index;
    const res_origin *builds[8];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const maker m = {rows[i].id, rows[i].sha256, "h1", 1, rows[i].status, 1};
        write_with(p, &m, rows[i].runtime, path);
    }
    load_with(p, NULL, &index);
    assert_int_equal(res_latest_builds(&index, 2, (double)INFINITY, builds), 3);
    assert_string_equal(builds[0]->sha256, fixture_digest("a2"));
    assert_string_equal(builds[1]->sha256, fixture_digest("a3"));
    assert_string_equal(builds[2]->sha256, fixture_digest("b1"));
    assert_int_equal(res_latest_builds(&index, 0, (double)INFINITY, builds), 0);
    res_index_free(&index);
}

/* The drift in nights 1 to UNTIL of a series in MODE that is slower from night 10 on, when the
 * build changes, unless it stays the SAME. */
static res_drift drift_on(int until, const char *mode, bool same, bool *changed)
{
    static const res_origin builds[] = {{.sha256 = "aa"}, {.sha256 = "bb"}};
    static res_night nights[20];
    res_experiment experiment = {.seed = 1};
    const res_change_options change = res_change_defaults();
    const res_drift_options options = {.change = change, .night_hours = 12, .family = 1};
    double values[20];
    bn_status st = {0};
    res_drift drift;
    snprintf(experiment.mode, sizeof experiment.mode, "%s", mode);
    for (int i = 0; i < until; i++) {
        values[i] = 1e7 * (i < 9 ? 1.0 : 1.1) * (1 + 0.002 * (i % 3));
        nights[i] = (res_night){.time_s = 86400.0 * i,
                                .value = values[i],
                                .origin = &builds[!same && i >= 9],
                                .settings = ""};
    }
    res_changes changes;
    assert_ok(res_changes_find(values, (size_t)until, &change, &changes, &st), &st);
    res_stretch stretches[2] = {{.first = 0}, {.first = 0}};
    const bool two = changes.count > 0;
    if (two)
        stretches[1] = (res_stretch){.first = changes.list[0].at, .ratio = changes.list[0].ratio};
    const res_timeline series = {.experiment = &experiment,
                                 .nights = nights,
                                 .count = (size_t)until,
                                 .stretches = stretches,
                                 .stretch_count = two ? 2 : 1,
                                 .changes = changes,
                                 .last = (size_t)until - 1};
    assert_ok(res_series_tonight(&series, &options, &drift, &st), &st);
    res_changes_free(&changes);
    *changed = two;
    return drift;
}

/* Two nights or three show it; what more of them say is no news. */
static void a_change_is_new_once(void **state)
{
    (void)state;
    size_t found = 0;
    bool changed = false;
    for (int night = 9; night <= 16; night++) {
        const res_drift drift = drift_on(night, "lazy", false, &changed);
        found += drift.found;
        if (!drift.found)
            continue;
        assert_true(night == 11 || night == 12);
        assert_int_equal(drift.cause, RES_DRIFT_OTHER);
        assert_true(drift.ratio.low > 1);
    }
    assert_int_equal(found, 1);
    assert_true(changed);
}

/* The program that was recorded may have changed as well, and nobody knows: with another build a
 * change counts, as without a control, and with the same one it does not. */
static void what_was_recorded_may_have_changed_itself(void **state)
{
    (void)state;
    bool changed = false;
    size_t found[2] = {0, 0};
    for (int night = 9; night <= 16; night++) {
        const res_drift other = drift_on(night, "recorded", false, &changed),
                        same = drift_on(night, "recorded", true, &changed);
        found[0] += other.found;
        found[1] += same.found;
        if (other.found)
            assert_int_equal(other.cause, RES_DRIFT_RECORDED);
        if (same.found)
            assert_int_equal(same.cause, RES_DRIFT_RECORDED_SAME);
    }
    assert_int_equal(found[0], 1);
    assert_int_equal(found[1], 1);
    assert_true(res_drift_counts(RES_DRIFT_RECORDED));
    assert_false(res_drift_counts(RES_DRIFT_RECORDED_SAME));
    assert_false(res_drift_counts(RES_DRIFT_SAME) || res_drift_counts(RES_DRIFT_MACHINE));
    assert_string_equal(res_drift_cause_name(RES_DRIFT_RECORDED_SAME),
                        "the build is the same, so it is the recorded program or the machine");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_of_files_say_nothing_of_dates),
        TEST(the_last_good_night_is_of_one_build),
        TEST(later_records_are_no_part_of_it),
        TEST(other_requests_are_no_night),
        TEST(nights_of_the_future_are_left_out),
        TEST(the_latest_builds_are_those_of_each_runtime),
        TEST(plugins_of_frameworks_are_no_builds),
        cmocka_unit_test(a_change_is_new_once),
        cmocka_unit_test(what_was_recorded_may_have_changed_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
