/*
 * test_drift.c - parts of the interval of a ratio of one run besides the spread of its processes.
 * Needs no plugin.
 */
#include "tests/results/findings/pools_fixture.h"

/* Three processes of lazy and capture, whose ratios are RATIO times 1.01, 1 and 1 / 1.01. Of each
 * round of 1 ms something waited for STALLED_NS. */
static void add_busy(store *s, double ratio, uint64_t stalled_ns)
{
    for (int p = 0; p < 3; p++) {
        const double lazy[2] = {1e6, 1e6};
        const double one = 1e6 / (ratio * pow(1.01, p - 1)), capture[2] = {one, one};
        res_record *both[2] = {add_rounds(s, "m", "lazy", lazy, 2, p + 1),
                               add_rounds(s, "m", "capture", capture, 2, p + 1)};
        for (int i = 0; i < 2; i++)
            for (int r = 0; r < 2; r++)
                both[i]->rounds[r].stalled_ns = stalled_ns;
    }
}

/* The ratio of "capture" with its interval; the mean of the table has the same. */
static res_pool_ratio busy_ratio(double ratio, uint64_t stalled_ns)
{
    store s = {.count = 0};
    add_busy(&s, ratio, stalled_ns);
    res_speedup table = made(&s);
    res_pool_ratio found = row_of(&table, "m", "capture")->ratio;
    assert_int_equal(table.mean_count, 1);
    assert_near(table.means[0].mean.ratio.low, found.ratio.low, 1e-9);
    assert_near(table.means[0].mean.ratio.high, found.ratio.high, 1e-9);
    found.pairs = NULL;
    res_speedup_free(&table);
    clear(&s);
    return found;
}

/* Its own error is that of logs 0.00995 apart, over sqrt(3), with 2 degrees of freedom: Student's t
 * is 4.30265. Runs differ by a standard deviation of 1 %, on a busy machine of 4 %, whatever the
 * ratio is. The half-widths of the processes and of the drift, 1.96 times as much, add up as
 * squares. */
static void runs_differ_by_a_stated_drift(void **state)
{
    (void)state;
    const double own = log(1.01) / sqrt(3), t = 4.30265;
    for (int ratio = 1; ratio <= 2; ratio++) {
        const res_pool_ratio quiet = busy_ratio(ratio, 0), busy = busy_ratio(ratio, 900000);
        assert_false(quiet.busy);
        assert_near(quiet.log.drift.deviation, 0.01, 1e-12);
        assert_true(isinf(quiet.log.drift.freedom));
        assert_near(log(quiet.ratio.high / ratio), hypot(t * own, 1.959964 * 0.01), 1e-5);
        assert_true(busy.busy);
        assert_near(busy.log.drift.deviation, 0.04, 1e-12);
        assert_near(busy.ratio.estimate, ratio, 1e-5);
        assert_near(log(busy.ratio.high / ratio), hypot(t * own, 1.959964 * 0.04), 1e-5);
        assert_near(busy.own.error, own, 1e-6);
        assert_near(busy.log.freedom, 2, 1e-9);
    }
}

/* Records that say what 12 runs of this machine showed: Student's t of 11 degrees is 2.200985. That
 * of an idle machine says nothing of a busy one. */
static void records_have_their_machines_drift(void **state)
{
    (void)state;
    const double own = log(1.01) / sqrt(3), t = 4.30265;
    for (int busy = 0; busy < 2; busy++) {
        store s = {.count = 0};
        add_busy(&s, 2, busy ? 900000 : 0);
        for (size_t i = 0; i < s.count; i++)
            json_object_set_new(
                s.records[i]->provenance, "calibration",
                json_pack("{s:{s:f, s:i}}", "idle", "deviation", 0.004, "runs", 12));
        res_speedup table = made(&s);
        const res_pool_ratio *ratio = &row_of(&table, "m", "capture")->ratio;
        assert_near(log(ratio->ratio.high / 2),
                    busy ? hypot(t * own, 1.959964 * 0.04) : hypot(t * own, 2.200985 * 0.004),
                    1e-5);
        assert_near(table.means[0].mean.ratio.high, ratio->ratio.high, 1e-9);
        res_speedup_free(&table);
        clear(&s);
    }
}

/* Lazy and capture of one group each: two runs, whose times say nothing of how far runs differ. */
static void runs_apart_have_no_interval(void **state)
{
    (void)state;
    store s = {.count = 0};
    add_busy(&s, 2, 0);
    for (size_t i = 0; i < s.count; i++)
        if (strcmp(s.records[i]->experiment.mode, "capture") == 0)
            fixture_group(s.records[i], "another", (int)i / 2 + 1);
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    assert_int_equal(row->ratio.matching, RES_UNMATCHED);
    assert_true(row->ratio.apart && isnan(row->ratio.ratio.high) && !row->significant);
    assert_near(row->ratio.ratio.estimate, 2, 0.02);
    res_speedup_free(&table);
    clear(&s);
}

/* Three runs of lazy tell how far lazy's runs differ, and nothing of capture's one. */
static void one_run_against_three_has_no_interval(void **state)
{
    (void)state;
    store s = {.count = 0};
    for (int run = 0; run < 4; run++) {
        const char group[] = {'r', (char)('0' + run), '\0'};
        for (int p = 1; p <= 3; p++) {
            const double ns = 1e6 + 1e4 * run + 1e3 * p;
            fixture_group(add_rounds(&s, "m", run < 3 ? "lazy" : "capture", &ns, 1, p), group, p);
        }
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    assert_true(row_of(&table, "m", "lazy")->pool.runs.means && !row->pool.runs.means);
    assert_true(row->ratio.apart && isnan(row->ratio.ratio.high) && !row->significant);
    res_speedup_free(&table);
    clear(&s);
}

/* Lazy alone is measured again: its time is then of the later run, and the ratio of the earlier. */
static void a_ratio_may_be_of_some_of_the_processes(void **state)
{
    (void)state;
    store s = {.count = 0};
    add_busy(&s, 2, 0);
    res_speedup table = made(&s);
    assert_false(row_of(&table, "m", "capture")->ratio.partial);
    res_speedup_free(&table);
    for (int p = 0; p < 3; p++) {
        const double lazy[2] = {5e6, 5e6};
        fixture_group(add_rounds(&s, "m", "lazy", lazy, 2, p + 1), "later", p + 1);
    }
    table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    assert_near(row_of(&table, "m", "lazy")->figures.wall.value.estimate, 5e6, 1);
    assert_near(row->ratio.ratio.estimate, 2, 1e-3);
    assert_true(row->ratio.partial);
    res_speedup_free(&table);
    clear(&s);
}

/* The ratio of 2 in three runs that begin at these minutes of an hour. */
static res_pool_ratio ratio_of_runs(const int minutes[3], size_t *runs)
{
    store s = {.count = 0};
    for (int run = 0; run < 3; run++) {
        const char group[] = {'r', (char)('0' + run), '\0'};
        size_t i = s.count;
        add_busy(&s, 2, 0);
        for (const size_t first = i; i < s.count; i++) {
            char stamp[40];
            fixture_group(s.records[i], group, (int)(i - first) / 2 + 1);
            snprintf(stamp, sizeof stamp, "20260101T02%02d00", minutes[run] % 60);
            memcpy(s.records[i]->id, stamp, 15);
        }
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    res_pool_ratio found = row->ratio;
    *runs = row->pool.run_count;
    found.pairs = NULL;
    res_speedup_free(&table);
    clear(&s);
    return found;
}

/* A machine keeps to one level for ten minutes, so runs within these are one, and drift as one
 * does. Three that are further apart show it themselves. */
static void runs_within_minutes_are_one(void **state)
{
    (void)state;
    size_t runs;
    res_pool_ratio ratio = ratio_of_runs((const int[]){0, 5, 9}, &runs);
    assert_int_equal(runs, 1);
    assert_false(ratio.of_runs);
    assert_int_equal(ratio.processes, 9);
    assert_near(ratio.log.drift.deviation, 0.01, 1e-12);
    /* Each of them was an occasion to judge. */
    assert_int_equal(ratio.looks, 3);
    ratio = ratio_of_runs((const int[]){0, 10, 20}, &runs);
    assert_int_equal(runs, 3);
    assert_true(ratio.of_runs);
    assert_int_equal(ratio.log.values, 3);
    assert_near(ratio.log.drift.deviation, 0, 0);
    assert_int_equal(ratio.looks, 3);
    /* The second belongs to the first: two, of which the later one stands. */
    ratio = ratio_of_runs((const int[]){0, 9, 11}, &runs);
    assert_int_equal(runs, 1);
    assert_int_equal(ratio.processes, 3);
    assert_near(ratio.log.drift.deviation, 0.01, 1e-12);
}

/* Other programs that use half of the cores are seen where steps wait for a third of the time, and
 * where waiting is unknown; steps that wait for their own threads do not count. */
static void other_programs_make_it_busy(void **state)
{
    (void)state;
    const res_interference busy = {
        .others_ns = 47, .others_of_ns = 100, .stalled_ns = 30, .stalled_of_ns = 100};
    const res_interference unknown = {.others_ns = 47, .others_of_ns = 100};
    const res_interference alone = {
        .others_ns = 5, .others_of_ns = 100, .stalled_ns = 50, .stalled_of_ns = 100};
    const res_interference own = {.stalled_ns = 30, .stalled_of_ns = 100};
    const res_interference little = {
        .others_ns = 47, .others_of_ns = 100, .stalled_ns = 5, .stalled_of_ns = 100};
    assert_true(res_interference_busy(&busy));
    assert_true(res_interference_busy(&unknown));
    assert_false(res_interference_busy(&alone));
    assert_false(res_interference_busy(&own));
    assert_false(res_interference_busy(&little));
}

/* The drift of a simulated device, whose rounds waited for STALLED_NS, with a calibration or none.
 */
static res_run_drift simulated_drift(uint64_t stalled_ns, bool calibrated)
{
    store s = {.count = 0};
    add_busy(&s, 2, stalled_ns);
    for (size_t i = 0; i < s.count; i++) {
        s.records[i]->simulated = true;
        if (calibrated)
            json_object_set_new(s.records[i]->provenance, "calibration",
                                json_pack("{s:{s:f, s:i}, s:{s:f, s:i}}", "idle", "deviation",
                                          0.002, "runs", 9, "busy", "deviation", 0.03, "runs", 8));
    }
    res_speedup table = made(&s);
    const res_run_drift drift = row_of(&table, "m", "capture")->ratio.log.drift;
    res_speedup_free(&table);
    clear(&s);
    return drift;
}

/* A simulated device's times are drawn for each process, so nothing is assumed while the machine is
 * idle. Its host shares a busy machine. What was calibrated counts in both cases. */
static void a_simulated_device_has_the_drift_of_its_host(void **state)
{
    (void)state;
    assert_near(simulated_drift(0, false).deviation, 0, 0);
    assert_near(simulated_drift(900000, false).deviation, 0.04, 1e-12);
    assert_true(isinf(simulated_drift(900000, false).freedom));
    assert_near(simulated_drift(0, true).deviation, 0.002, 1e-12);
    assert_near(simulated_drift(0, true).freedom, 8, 0);
    assert_near(simulated_drift(900000, true).deviation, 0.03, 1e-12);
    assert_near(simulated_drift(900000, true).freedom, 7, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_differ_by_a_stated_drift),
        cmocka_unit_test(records_have_their_machines_drift),
        cmocka_unit_test(other_programs_make_it_busy),
        cmocka_unit_test(runs_apart_have_no_interval),
        cmocka_unit_test(one_run_against_three_has_no_interval),
        cmocka_unit_test(a_ratio_may_be_of_some_of_the_processes),
        cmocka_unit_test(runs_within_minutes_are_one),
        cmocka_unit_test(a_simulated_device_has_the_drift_of_its_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
