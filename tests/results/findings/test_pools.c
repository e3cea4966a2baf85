/*
 * test_pools.c - what processes say together: figures by hand, and which records count. Needs no
 * plugin.
 */
#include "tests/results/findings/pools_fixture.h"

/* ---- by hand ------------------------------------------------------------------------ */

/* Three processes. Ratios of rounds are 2, 4, 2 (median 2), then 1, 1, 8 (1), then 4 throughout. */
static void a_pair_says_the_median_of_its_rounds(void **state)
{
    (void)state;
    const double lazy[3][3] = {{2e6, 8e6, 4e6}, {3e6, 4e6, 8e6}, {4e6, 8e6, 8e6}};
    const double capture[3][3] = {{1e6, 2e6, 2e6}, {3e6, 4e6, 1e6}, {1e6, 2e6, 2e6}};
    store s = {.count = 0};
    for (int p = 0; p < 3; p++) {
        add_rounds(&s, "m", "lazy", lazy[p], 3, p + 1);
        add_rounds(&s, "m", "capture", capture[p], 3, p + 1);
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    assert_int_equal(row->ratio.matching, RES_MATCHED);
    assert_int_equal(row->ratio.pair_count, 3);
    /* Logs of 2, 1, 4: mean log 2, sd log 2; t(0.975, 2) = 4.302653. And the drift: test_drift.c. */
    const double half = hypot(4.302653 * log(2) * sqrt(1.0 / 3), 1.96 * 0.01);
    assert_near(row->ratio.ratio.estimate, 2, 1e-9);
    assert_near(log(row->ratio.ratio.high), log(2) + half, 1e-3);
    assert_near(log(row->ratio.ratio.low), log(2) - half, 1e-3);
    /* Walls: medians 2, 3 and 2 ms. */
    assert_near(row->figures.wall.value.estimate, cbrt(12) * 1e6, 1);
    assert_int_equal(row->figures.wall.processes, 3);
    assert_int_equal(row->pool.count, 3);
    assert_false(row->significant);
    res_speedup_free(&table);
    clear(&s);
}

/* Records that share no group are two samples: Welch's of medians 4, 8, 16 and 1, 2, 4 ms. */
static void separate_runs_are_two_samples(void **state)
{
    (void)state;
    store s = {.count = 0};
    for (int p = 0; p < 3; p++) {
        const double slow = 4e6 * (1 << p), fast = 1e6 * (1 << p);
        add(&s, "m", "lazy", &slow, 1);
        add(&s, "m", "capture", &fast, 1);
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    assert_int_equal(row->ratio.matching, RES_UNMATCHED);
    assert_near(row->ratio.ratio.estimate, 4, 1e-6);
    /* Error sqrt(2) log 2 / sqrt(3), 4 degrees of freedom: t = 2.776445. */
    assert_near(log(row->ratio.ratio.high), log(4) + 2.776445 * log(2) * sqrt(2.0 / 3), 1e-5);
    res_speedup_free(&table);
    clear(&s);
}

/* Where one of a pair has no rounds its median stands for all of them. */
static void pairs_without_rounds_are_ratios_of_medians(void **state)
{
    (void)state;
    const double lazy[] = {2e6, 6e6, 10e6}, capture[] = {1e6, 2e6, 9e6};
    store s = {.count = 0};
    for (int p = 1; p <= 3; p++) {
        fixture_group(add(&s, "m", "lazy", lazy, 3), "m", p);
        add_rounds(&s, "m", "capture", capture, 3, p);
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    assert_int_equal(row->ratio.matching, RES_MATCHED);
    assert_near(row->ratio.ratio.estimate, 3, 1e-9);
    res_speedup_free(&table);
    clear(&s);
}

static void two_processes_have_no_interval_and_no_claim(void **state)
{
    (void)state;
    const double lazy = 9e6, capture = 1e6;
    store s = {.count = 0};
    for (int p = 1; p <= 2; p++) {
        add_rounds(&s, "m", "lazy", &lazy, 1, p);
        add_rounds(&s, "m", "capture", &capture, 1, p);
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    assert_near(row->ratio.ratio.estimate, 9, 1e-9);
    assert_true(isnan(row->ratio.ratio.low) && isnan(row->figures.wall.value.high));
    assert_true(row->compared && !row->significant);
    assert_int_equal(table.ratios, 0);
    res_finding list[4];
    assert_int_equal(res_speedup_explain(&table, list), 1);
    assert_int_equal(list[0].kind, RES_FINDING_TOO_FEW);
    res_speedup_free(&table);
    clear(&s);
}

/* ---- which records count ---------------------------------------------------------------- */

static void all_thirty_repetitions_count(void **state)
{
    (void)state;
    store s = {.count = 0};
    uint64_t seed = 4;
    double sum = 0;
    for (int i = 0; i < 30; i++) {
        const double lazy = 5e6 * exp(0.05 * fixture_normal(&seed));
        const double capture = 4e6 * exp(0.05 * fixture_normal(&seed));
        sum += log((double)llround(capture)) / 30;
        add(&s, "m", "lazy", &lazy, 1);
        add(&s, "m", "capture", &capture, 1);
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    assert_int_equal(row->pool.count, 30);
    assert_near(row->figures.wall.value.estimate, exp(sum), 1e-3);
    assert_true(row->ratio.log.freedom > 50);
    assert_true(row->significant);
    /* Of 30 processes with a deviation of 5 %. */
    assert_near(log(row->ratio.ratio.high / row->ratio.ratio.low) / 2, 2 * 0.05 * sqrt(2.0 / 30),
                0.008);
    res_speedup_free(&table);
    clear(&s);
}

/* The same repetitions as processes of one group, of which some were measured later under the same
 * name: one run. */
static void grouped_repetitions_are_one_run(void **state)
{
    (void)state;
    store s = {.count = 0};
    uint64_t seed = 9;
    for (int p = 1; p <= 30; p++) {
        const double wall = 5e6 * exp(0.05 * fixture_normal(&seed));
        add_rounds(&s, "m", "lazy", &wall, 1, p);
    }
    res_speedup table = made(&s);
    assert_int_equal(table.rows[0].pool.counted, 30);
    assert_int_equal(table.rows[0].pool.run_count, 1);
    assert_int_equal(table.rows[0].figures.wall.values, 30);
    res_speedup_free(&table);
    clear(&s);
}

/* Two processes in a later run: the earlier four stand, in all figures, though the later ones alone
 * know the device time. Two in each: no interval. */
static void a_run_that_is_too_small_does_not_count(void **state)
{
    (void)state;
    const double wall[] = {10e6, 11e6, 12e6, 13e6, 30e6, 31e6};
    store s = {.count = 0};
    for (int p = 0; p < 6; p++) {
        res_record *record = add_rounds(&s, "m", "lazy", &wall[p], 1, 0);
        fixture_group(record, p < 4 ? "first" : "second", p % 4 + 1);
        record->executions[0].device_ns = p < 4 ? (double)NAN : 9e6;
        if (p >= 4)
            record->executions[0].device_source = BN_DEVICE_TIME_SLOPE;
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = &table.rows[0];
    assert_int_equal(row->pool.count, 6);
    assert_int_equal(row->pool.counted, 4);
    assert_near(log(row->figures.wall.value.estimate), log(10e6 * 11e6 * 12e6 * 13e6) / 4, 1e-9);
    assert_int_equal(row->figures.trace.processes, 4);
    assert_int_equal(row->figures.compile.processes, 4);
    assert_int_equal(row->figures.device.processes, 0);
    assert_true(isnan(row->figures.device.value.estimate));
    res_speedup_free(&table);
    for (size_t i = 0; i < 2; i++)
        res_record_free(s.records[i]);
    memmove(s.records, s.records + 2, 4 * sizeof *s.records);
    s.count = 4;
    table = made(&s);
    row = &table.rows[0];
    assert_int_equal(row->pool.counted, 4);
    assert_int_equal(row->pool.run_count, 2);
    assert_near(log(row->figures.wall.value.estimate), log(12e6 * 13e6 * 30e6 * 31e6) / 4, 1e-9);
    assert_true(isnan(row->figures.wall.value.low));
    res_speedup_free(&table);
    clear(&s);
}

static void set(res_record *record, const char *section, const char *member, const char *value)
{
    json_t *object = json_object_get(record->provenance, section);
    if (!json_is_object(object)) {
        object = json_object();
        json_object_set_new(record->provenance, section, object);
    }
    json_object_set_new(object, member, json_string(value));
}

static void other_builds_and_conditions_are_left_out(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall = 1e6;
    set(add(&s, "m", "lazy", &wall, 1), "runtime", "sha256", "older");
    set(add(&s, "m", "lazy", &wall, 1), "host", "hostname", "elsewhere");
    set(add(&s, "m", "lazy", &wall, 1), "pinning", "pin", "cores");
    json_object_set_new(add(&s, "m", "lazy", &wall, 1)->provenance, "idle_cores",
                        json_string("awake"));
    add(&s, "m", "lazy", &wall, 1)->status = BN_CRASH;
    add(&s, "m", "lazy", &wall, 1);
    add(&s, "m", "lazy", &wall, 1);
    res_speedup table = made(&s);
    const res_pool *pool = &table.rows[0].pool;
    assert_int_equal(table.count, 1);
    assert_int_equal(pool->count, 2);
    assert_int_equal(pool->failed, 1);
    assert_int_equal(pool->other_builds, 1);
    assert_int_equal(pool->other_conditions, 3);
    assert_string_equal(pool->differing, "host, pinning, sleep of idle cores");
    assert_ptr_equal(pool->latest, s.records[6]);
    res_speedup_free(&table);
    /* Records that do not tell their builds count as of one. Those that do are of others. */
    for (size_t i = 1; i < s.count; i++)
        json_object_del(s.records[i]->provenance, "runtime");
    table = made(&s);
    assert_int_equal(table.rows[0].pool.count, 2);
    assert_int_equal(table.rows[0].pool.other_builds, 1);
    res_speedup_free(&table);
    json_object_del(s.records[0]->provenance, "runtime");
    table = made(&s);
    assert_int_equal(table.rows[0].pool.count, 3);
    assert_int_equal(table.rows[0].pool.other_builds, 0);
    res_speedup_free(&table);
    clear(&s);
}

static void figures_are_of_the_processes_that_know_them(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall = 20e6;
    for (int p = 1; p <= 4; p++) {
        res_record *record = add_rounds(&s, "m", "lazy", &wall, 1, p);
        res_execution *x = &record->executions[0];
        x->from_disk = p > 1;
        x->device_source = p > 2 ? BN_DEVICE_TIME_SLOPE : BN_DEVICE_TIME_UNAVAILABLE;
        x->device_ns = 7e6;
        x->overhead_ns = p > 2 ? (p - 2) * 1e6 : (double)NAN;
    }
    res_speedup table = made(&s);
    const res_figures *f = &table.rows[0].figures;
    assert_int_equal(f->compile.processes, 1);
    assert_near(f->compile.value.estimate, 3244100000.0, 1);
    assert_int_equal(f->device.processes, 2);
    assert_near(f->device.value.estimate, 7e6, 1);
    assert_near(f->overhead.value.estimate, 1.5e6, 1); /* the plain mean */
    assert_true(isnan(f->overhead.value.low));
    assert_string_equal(f->source, "slope");
    /* The one graph of the step says the same, whichever process is asked. */
    for (int p = 0; p < 4; p++) {
        const res_execution_figures x =
            res_pool_execution(&table.rows[0].pool, f, &s.records[p]->executions[0]);
        assert_int_equal(x.source, BN_DEVICE_TIME_SLOPE);
        assert_near(x.device.value.estimate, f->device.value.estimate, 1e-6);
        assert_near(x.overhead.value.estimate, f->overhead.value.estimate, 1e-6);
        assert_int_equal(x.compile.processes, 1);
    }
    res_speedup_free(&table);
    /* A minority says nothing. */
    s.records[2]->executions[0].device_source = BN_DEVICE_TIME_UNAVAILABLE;
    table = made(&s);
    assert_int_equal(table.rows[0].figures.device.processes, 1);
    assert_true(isnan(table.rows[0].figures.device.value.estimate));
    res_speedup_free(&table);
    clear(&s);
}

/* Device times of 21, 19 and 22 ms in steps of 20 ms: the mean is cut off at the step, for that
 * is what the device time is part of. Steps that overlap may be shorter. */
static void a_device_time_is_within_its_step(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall = 20e6, device[] = {21e6, 19e6, 22e6};
    for (int p = 1; p <= 3; p++) {
        res_execution *x = &add_rounds(&s, "m", "lazy", &wall, 1, p)->executions[0];
        x->device_source = BN_DEVICE_TIME_SLOPE;
        x->device_ns = device[p - 1];
        x->overhead_ns = (p - 2) * 1e3; /* none that is significant */
    }
    res_speedup table = made(&s);
    const res_interval cut = table.rows[0].figures.device.value;
    assert_near(cut.estimate, table.rows[0].figures.wall.value.estimate, 1e-3);
    assert_true(cut.low < 18e6);
    assert_near(cut.high, table.rows[0].figures.wall.value.high, 1e-3);
    assert_near(res_pool_execution(&table.rows[0].pool, &table.rows[0].figures,
                                   &s.records[0]->executions[0])
                    .device.value.estimate,
                cut.estimate, 1e-3);
    res_speedup_free(&table);
    for (size_t i = 0; i < s.count; i++)
        s.records[i]->experiment.in_flight = 2;
    table = made(&s);
    assert_true(table.rows[0].figures.device.value.estimate > 20.5e6);
    res_speedup_free(&table);
    /* But steps of a recording contain what was recorded of them. */
    for (size_t i = 0; i < s.count; i++) {
        s.records[i]->executions[0].device_source = BN_DEVICE_TIME_EVENT;
        s.records[i]->executions[0].overhead_ns = (double)NAN;
    }
    table = made(&s);
    assert_near(table.rows[0].figures.device.value.estimate,
                table.rows[0].figures.wall.value.estimate, 1e-3);
    assert_int_equal(table.rows[0].figures.refusal, RES_REFUSED_NOTHING);
    res_speedup_free(&table);
    for (size_t i = 0; i < s.count; i++)
        s.records[i]->executions[0].device_source = BN_DEVICE_TIME_SLOPE;
    /* All are far above: that is no device time. */
    for (size_t i = 0; i < s.count; i++) {
        s.records[i]->experiment.in_flight = 1;
        s.records[i]->executions[0].device_ns = 30e6 + (double)i * 1e4;
    }
    table = made(&s);
    assert_true(isnan(table.rows[0].figures.device.value.estimate));
    res_speedup_free(&table);
    clear(&s);
}

/* The bounds of what is cut off are those of the share that is left, and none is above the step's:
 * the one graph of a step says the same. */
static void a_cut_is_the_same_in_each_table(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall[] = {19e6, 20e6, 21e6}, device[] = {21e6, 24e6, 22e6};
    for (int p = 0; p < 3; p++) {
        res_execution *x = &add_rounds(&s, "m", "lazy", &wall[p], 1, p + 1)->executions[0];
        x->device_source = BN_DEVICE_TIME_SLOPE;
        x->device_ns = device[p];
        x->overhead_ns = 1e6 + 1e4 * p; /* which does not fit into the step any more */
    }
    res_speedup table = made(&s);
    const res_figures *f = &table.rows[0].figures;
    const double logs[] = {log(21e6), log(24e6), log(22e6)};
    const res_estimate uncut = res_estimate_of(logs, 3);
    const res_interval raw = res_estimate_ratio(&uncut);
    assert_near(f->device_scale, f->wall.value.estimate / raw.estimate, 1e-12);
    assert_near(f->device.value.low, raw.low * f->device_scale, 1e-3);
    assert_true(raw.low > f->device.value.low && raw.high * f->device_scale > f->wall.value.high);
    assert_near(f->device.value.high, f->wall.value.high, 1e-3);
    assert_int_equal(f->refusal, RES_REFUSED_OVERHEAD);
    assert_true(isnan(f->overhead.value.estimate));
    const res_execution_figures x =
        res_pool_execution(&table.rows[0].pool, f, &s.records[0]->executions[0]);
    assert_near(x.device.value.estimate, f->device.value.estimate, 1e-6);
    assert_near(x.device.value.low, f->device.value.low, 1e-6);
    assert_near(x.device.value.high, f->device.value.high, 1e-6);
    assert_int_equal(x.refusal, RES_REFUSED_OVERHEAD);
    res_speedup_free(&table);
    /* Too few tell the device time for bounds: those of the wall time are not its own. */
    s.records[0]->executions[0].device_source = BN_DEVICE_TIME_UNAVAILABLE;
    table = made(&s);
    assert_near(table.rows[0].figures.device.value.estimate,
                table.rows[0].figures.wall.value.estimate, 1e-3);
    assert_true(isnan(table.rows[0].figures.device.value.low));
    assert_true(isnan(table.rows[0].figures.device.value.high));
    res_speedup_free(&table);
    clear(&s);
}

/* Overheads of -1 ms in each process: the device time is above the PJRT time that it is part of. */
static void an_overhead_below_zero_is_refused(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall = 20e6;
    for (int p = 1; p <= 3; p++) {
        res_execution *x = &add_rounds(&s, "m", "lazy", &wall, 1, p)->executions[0];
        x->device_source = BN_DEVICE_TIME_SLOPE;
        x->device_ns = 12e6;
        x->overhead_ns = -1e6 - 1e4 * p;
    }
    res_speedup table = made(&s);
    const res_figures *f = &table.rows[0].figures;
    assert_int_equal(f->refusal, RES_REFUSED_DEVICE);
    assert_true(isnan(f->overhead.value.estimate) && isnan(f->device.value.estimate));
    const res_execution_figures x =
        res_pool_execution(&table.rows[0].pool, f, &s.records[0]->executions[0]);
    assert_int_equal(x.refusal, RES_REFUSED_DEVICE);
    assert_true(isnan(x.device.value.estimate));
    res_speedup_free(&table);
    /* Noise that may be zero is no contradiction. */
    s.records[0]->executions[0].overhead_ns = 1e6;
    table = made(&s);
    assert_int_equal(table.rows[0].figures.refusal, RES_REFUSED_NOTHING);
    assert_near(table.rows[0].figures.device.value.estimate, 12e6, 1);
    res_speedup_free(&table);
    clear(&s);
}

/* ---- annotations of a figure --------------------------------------------------------------- */

static void the_machine_is_busy_above_a_share(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall[] = {1e6, 1e6};
    res_record *record = add_rounds(&s, "m", "lazy", wall, 2, 1);
    json_object_set_new(record->provenance, "host", json_pack("{si}", "cores_online", 2));
    record->rounds[0].stalled_ns = 400000;
    record->rounds[1].stalled_ns = RES_UNKNOWN;
    record->rounds[1].stolen_ns = 80000;
    record->rounds[0].stolen_ns = RES_UNKNOWN;
    res_speedup table = made(&s);
    const res_interference *w = &table.interference;
    assert_int_equal(w->rounds, 2);
    assert_near(w->stalled_ns / w->stalled_of_ns, 0.4, 1e-9);
    assert_near(w->stolen_ns / w->stolen_of_ns, 0.04, 1e-9);
    assert_true(res_interference_busy(w));
    res_speedup_free(&table);
    record->rounds[0].stalled_ns = 340000;
    record->rounds[1].stolen_ns = 30000;
    table = made(&s);
    assert_false(res_interference_busy(&table.interference));
    res_speedup_free(&table);
    static const struct {
        int rounds, apart;
        bool busy;
    } rows[] = {{100, 5, false}, {100, 6, true}, {0, 0, false}, {-4, 9, false}, {2, 9, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_object_set_new(record->provenance, "nearness",
                            json_pack("{si si si}", "rounds", rows[i].rounds, "apart",
                                      rows[i].apart, "repeated", 3));
        table = made(&s);
        assert_int_equal(res_interference_busy(&table.interference), rows[i].busy);
        assert_true(table.interference.apart <= table.interference.apart_of);
        res_speedup_free(&table);
    }
    clear(&s);
    /* Threads of the runtime that wait for each other: no other program used much. */
    res_interference stalled = {.stalled_ns = 50, .stalled_of_ns = 100};
    assert_true(res_interference_busy(&stalled));
    stalled.others_of_ns = 100;
    assert_false(res_interference_busy(&stalled));
    stalled.others_ns = 11;
    assert_true(res_interference_busy(&stalled));
    const res_interference nothing = {0};
    assert_false(res_interference_busy(&nothing));
}

/* A table of a quiet row and of one that met a busy machine is not busy as a whole: the row is
 * named. */
static void one_row_may_have_met_a_busy_machine(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall[] = {1e6, 1e6, 1e6, 1e6};
    add_rounds(&s, "quiet", "lazy", wall, 4, 1);
    res_record *busy = add_rounds(&s, "busy", "lazy", wall, 1, 1);
    busy->rounds[0].stalled_ns = 900000;
    add_rounds(&s, "worse", "lazy", wall, 1, 1)->rounds[0].stalled_ns = 950000;
    res_speedup table = made(&s);
    assert_false(res_interference_busy(&table.interference));
    assert_true(res_interference_busy(&row_of(&table, "busy", "lazy")->interference));
    assert_ptr_equal(res_speedup_busiest(&table), row_of(&table, "worse", "lazy"));
    assert_false(res_interference_unknown(&table.interference));
    res_speedup_free(&table);
    busy->rounds[0].stalled_ns = s.records[2]->rounds[0].stalled_ns = 0;
    table = made(&s);
    assert_null(res_speedup_busiest(&table));
    res_speedup_free(&table);
    /* No round says what waited. */
    for (size_t i = 0; i < s.count; i++)
        for (size_t r = 0; r < s.records[i]->round_count; r++)
            s.records[i]->rounds[r].stalled_ns = RES_UNKNOWN;
    table = made(&s);
    assert_true(res_interference_unknown(&table.interference));
    res_speedup_free(&table);
    clear(&s);
    const res_interference nothing = {0};
    assert_false(res_interference_unknown(&nothing));
}

/* The number of a duet: of three rounds that both have, the median of log(B / A). */
static void turns_of_two_records_have_one_ratio(void **state)
{
    (void)state;
    store s = {.count = 0};
    /* B over A: 2, 1/4, 8, and a round that A does not have. */
    const double a[] = {1e6, 8e6, 1e6}, b[] = {2e6, 2e6, 8e6, 1e9};
    const res_record *left = add_rounds(&s, "m", "lazy", a, 3, 1);
    res_record *right = add_rounds(&s, "m", "lazy", b, 4, 1);
    assert_near(res_turns_log_ratio(left, right), log(2), 1e-9);
    assert_near(res_turns_log_ratio(right, left), -log(2), 1e-9);
    /* Not of processes that took no turns with each other. */
    fixture_group(right, "m", 2);
    assert_true(isnan(res_turns_log_ratio(left, right)));
    fixture_group(right, "other", 1);
    assert_true(isnan(res_turns_log_ratio(left, right)));
    assert_true(isnan(res_turns_log_ratio(left, add(&s, "m", "lazy", a, 3))));
    clear(&s);
}

/* Of two runs the later one counts, if it has enough processes; of three all do. */
static void figures_are_of_the_processes_that_count(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall = 1e6;
    res_pool pool;
    for (int i = 0; i < 9; i++) {
        res_record *record = add(&s, "m", "lazy", &wall, 1);
        fixture_group(record, i < 3 ? "first" : i < 6 ? "second" : "third", i % 3 + 1);
    }
    const res_record *const *records = (const res_record *const *)s.records;
    /* Two runs: the later one, or the earlier where that has too few. Three: all. */
    static const struct {
        size_t of, first, end;
    } rows[] = {{6, 3, 6}, {5, 0, 3}, {9, 0, 9}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        res_pool_make(records, rows[k].of, &pool);
        assert_int_equal(pool.count, rows[k].of);
        for (size_t i = 0; i < pool.count; i++)
            assert_int_equal(res_pool_counts(&pool, i), i >= rows[k].first && i < rows[k].end);
        assert_int_equal(res_pool_figures(&pool).wall.processes, rows[k].end - rows[k].first);
        res_pool_free(&pool);
    }
    clear(&s);
}

static void remarks_are_medians_over_processes(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double far[] = {1e6, 1e6, 1e6, 1e6, 6e6}, near[] = {1e6, 1e6, 1e6, 1e6, 1.5e6};
    add(&s, "m", "lazy", far, 5)->warmup_stationary = false;
    add(&s, "m", "lazy", far, 5);
    add(&s, "m", "lazy", near, 5);
    res_speedup table = made(&s);
    const res_remarks *r = &table.rows[0].remarks;
    assert_near(r->excess, 1, 1e-9);
    assert_near(r->p90_ns, 4e6, 1);
    assert_int_equal(r->unsettled, 1);
    assert_near(r->samples, 5, 0);
    res_speedup_free(&table);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_says_the_median_of_its_rounds),
        cmocka_unit_test(turns_of_two_records_have_one_ratio),
        cmocka_unit_test(figures_are_of_the_processes_that_count),
        cmocka_unit_test(one_row_may_have_met_a_busy_machine),
        cmocka_unit_test(separate_runs_are_two_samples),
        cmocka_unit_test(pairs_without_rounds_are_ratios_of_medians),
        cmocka_unit_test(two_processes_have_no_interval_and_no_claim),
        cmocka_unit_test(all_thirty_repetitions_count),
        cmocka_unit_test(grouped_repetitions_are_one_run),
        cmocka_unit_test(a_run_that_is_too_small_does_not_count),
        cmocka_unit_test(other_builds_and_conditions_are_left_out),
        cmocka_unit_test(figures_are_of_the_processes_that_know_them),
        cmocka_unit_test(a_device_time_is_within_its_step),
        cmocka_unit_test(a_cut_is_the_same_in_each_table),
        cmocka_unit_test(an_overhead_below_zero_is_refused),
        cmocka_unit_test(the_machine_is_busy_above_a_share),
        cmocka_unit_test(remarks_are_medians_over_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
