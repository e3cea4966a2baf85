/*
 * test_claims.c - how often the intervals and claims of a table are right on simulated processes,
 * and what a table says it found. Needs no plugin.
 */
#include "tests/results/findings/pools_fixture.h"

/* ---- simulated tables -------------------------------------------------------------------------
 */

/*
 * A table of CELLS, each of K processes in groups: a process has a factor of its own that both
 * modes share, and one of SD for each mode; so have rounds, of 1 %. RATIO is the truth of cell 0,
 * others have none.
 */
static void simulate(store *s, size_t cells, int k, double sd, double ratio, uint64_t *seed)
{
    for (size_t cell = 0; cell < cells; cell++) {
        const char model[] = {(char)('a' + cell), '\0'};
        for (int p = 1; p <= k; p++) {
            const double shared = exp(0.2 * fixture_normal(seed));
            const double own[] = {exp(sd * fixture_normal(seed)), exp(sd * fixture_normal(seed))};
            double lazy[3], capture[3];
            for (int i = 0; i < 3; i++) {
                lazy[i] = 1e7 * shared * own[0] * exp(0.01 * fixture_normal(seed));
                capture[i] = 1e7 * shared * own[1] * exp(0.01 * fixture_normal(seed)) /
                             (cell == 0 ? ratio : 1);
            }
            /* Nothing else drifts, as on a simulated device. */
            add_rounds(s, model, "lazy", lazy, 3, p)->simulated = true;
            add_rounds(s, model, "capture", capture, 3, p)->simulated = true;
        }
    }
}

/* How often four processes' intervals hold the truth of the ratio and of the wall time. */
static void coverage(double sd, double *ratio, double *wall)
{
    enum { TRIALS = 1500 };
    uint64_t seed = 2024;
    int held = 0, held_wall = 0;
    store s = {.count = 0};
    for (int trial = 0; trial < TRIALS; trial++) {
        simulate(&s, 1, 4, sd, 1.25, &seed);
        res_speedup table = made(&s);
        const res_speedup_row *row = row_of(&table, "a", "capture");
        held += !res_excludes(row->ratio.ratio, 1.25);
        held_wall += !res_excludes(row->figures.wall.value, 8e6);
        res_speedup_free(&table);
        clear(&s);
    }
    *ratio = (double)held / TRIALS;
    *wall = (double)held_wall / TRIALS;
}

/* The Monte Carlo error of a share of 95 % is 0.56 %: three of them. */
static void intervals_of_four_processes_hold_the_truth(void **state)
{
    (void)state;
    const double sds[] = {0.03, 0.1};
    for (int i = 0; i < 2; i++) {
        double ratio, wall;
        coverage(sds[i], &ratio, &wall);
        print_message("# process sd %.0f %%: ratio %.1f %%, wall %.1f %% of intervals\n",
                      100 * sds[i], 100 * ratio, 100 * wall);
        assert_near(ratio, 0.95, 0.017);
        assert_near(wall, 0.95, 0.017);
    }
}

/* Of tables in which nothing differs at most 5 % claim any difference, of whatever row. */
static void tables_of_like_modes_claim_nothing(void **state)
{
    (void)state;
    enum { TRIALS = 400 };
    uint64_t seed = 31;
    int alarms = 0, found = 0;
    store s = {.count = 0};
    for (int trial = 0; trial < TRIALS; trial++) {
        simulate(&s, 6, 4, 0.03, trial % 2 ? 1 : 1.6, &seed);
        res_speedup table = made(&s);
        int claims = 0;
        for (size_t i = 0; i < table.count; i++)
            claims += table.rows[i].significant &&
                      (trial % 2 || table.rows[i].record->experiment.model[0] != 'a');
        found += row_of(&table, "a", "capture")->significant && trial % 2 == 0;
        alarms += claims > 0;
        assert_int_equal(table.ratios, 6);
        res_speedup_free(&table);
        clear(&s);
    }
    print_message("# %d of %d tables with a false claim, %d of %d true ones significant\n", alarms,
                  TRIALS, found, TRIALS / 2);
    /* 5 % of 400 are 20; three standard errors are 13. */
    assert_in_range(alarms, 1, 33);
    assert_in_range(found, TRIALS / 2 * 95 / 100, TRIALS / 2);
}

/* Each mode of each process is fast or slow, 5 % apart. Four processes then agree by chance in 8 of
 * 1,000 ratios, and of 20 ratios some would be claimed in 15 of 100 tables if their spread were
 * believed, in 14 if it only borrowed from the others. */
static void chance_agreement_is_no_claim(void **state)
{
    (void)state;
    enum { TRIALS = 200, CELLS = 20 };
    uint64_t seed = 77;
    int alarms = 0;
    store s = {.count = 0};
    for (int trial = 0; trial < TRIALS; trial++) {
        for (int cell = 0; cell < CELLS; cell++) {
            const char model[] = {(char)('a' + cell), '\0'};
            for (int p = 1; p <= 4; p++)
                for (int mode = 0; mode < 2; mode++) {
                    const double wall = 1e7 * (fixture_normal(&seed) > 0 ? 1.05 : 1) *
                                        exp(0.0002 * fixture_normal(&seed));
                    add_rounds(&s, model, mode ? "capture" : "lazy", &wall, 1, p);
                }
        }
        res_speedup table = made(&s);
        int claims = 0;
        for (size_t i = 0; i < table.count; i++)
            claims += table.rows[i].significant;
        alarms += claims > 0;
        res_speedup_free(&table);
        clear(&s);
    }
    print_message("# %d of %d tables with a false claim\n", alarms, TRIALS);
    /* 5 % of 200 are 10; two standard errors are 6. */
    assert_in_range(alarms, 0, 16);
}

/* RUNS runs of four processes: 3 % between these, 6 % between runs. */
static void add_runs(store *s, int runs, uint64_t *seed)
{
    for (int run = 0; run < runs; run++) {
        const char group[] = {'r', (char)('0' + run), '\0'};
        const double of_run = exp(0.06 * fixture_normal(seed));
        for (int p = 1; p <= 4; p++) {
            const double wall = 1e7 * of_run * exp(0.03 * fixture_normal(seed));
            fixture_group(add_rounds(s, "m", "lazy", &wall, 1, p), group, p);
        }
    }
}

static void runs_of_other_days_are_a_value_each(void **state)
{
    (void)state;
    enum { TRIALS = 1000 };
    uint64_t seed = 5;
    int held = 0;
    store s = {.count = 0};
    for (int trial = 0; trial < TRIALS; trial++) {
        add_runs(&s, 4, &seed);
        res_speedup table = made(&s);
        const res_over *wall = &table.rows[0].figures.wall;
        held += !res_excludes(wall->value, 1e7);
        assert_int_equal(wall->processes, 16);
        assert_int_equal(wall->values, 4);
        assert_int_equal(table.rows[0].pool.run_count, 4);
        res_speedup_free(&table);
        clear(&s);
    }
    print_message("# %d of %d intervals hold the truth\n", held, TRIALS);
    assert_in_range(held, 930, 970);
    /* Two do not tell how they differ: the later one alone. */
    add_runs(&s, 2, &seed);
    res_speedup table = made(&s);
    double sum = 0;
    for (int i = 4; i < 8; i++)
        sum += log((double)s.records[i]->wall_ns[0]) / 4;
    assert_near(log(table.rows[0].figures.wall.value.estimate), sum, 1e-9);
    assert_int_equal(table.rows[0].figures.wall.processes, 4);
    assert_int_equal(table.rows[0].pool.count, 8);
    res_speedup_free(&table);
    clear(&s);
}

/* Three runs of four processes each in both modes: what would tell more is runs, and the mean of
 * the cells is of twelve processes. */
static void runs_are_the_values_of_ratios_and_means(void **state)
{
    (void)state;
    uint64_t seed = 41;
    store s = {.count = 0};
    for (int run = 0; run < 3; run++) {
        const char group[] = {'r', (char)('0' + run), '\0'};
        for (int p = 1; p <= 4; p++)
            for (int mode = 0; mode < 2; mode++) {
                const double wall = 1e7 * exp(0.03 * fixture_normal(&seed));
                fixture_group(add_rounds(&s, "m", mode ? "capture" : "lazy", &wall, 1, p), group,
                              p);
            }
    }
    res_speedup table = made(&s);
    const res_pool_ratio *ratio = &row_of(&table, "m", "capture")->ratio;
    assert_int_equal(ratio->matching, RES_MATCHED);
    assert_true(ratio->of_runs);
    assert_int_equal(ratio->processes, 12);
    assert_int_equal(ratio->pair_count, 3);
    assert_int_equal(table.means[0].mean.processes, 12);
    assert_int_equal(table.means[0].mean.runs, 3);
    res_finding list[2];
    assert_int_equal(res_speedup_explain(&table, list), 1);
    assert_int_equal(list[0].kind, RES_FINDING_NO_DIFFERENCE);
    /* Six runs: the runs show their drift, and nothing is added. */
    assert_true(ratio->log.drift.deviation == 0);
    assert_near(list[0].mde_twice, res_moderated_mde(&ratio->log, 2, 0.05), 1e-12);
    assert_true(list[0].mde_twice < list[0].mde / 2);
    res_speedup_free(&table);
    clear(&s);
}

static void claims_are_holms(void **state)
{
    (void)state;
    store s = {.count = 0};
    uint64_t seed = 12;
    double p[6], adjusted[6];
    size_t count = 0;
    simulate(&s, 6, 4, 0.05, 1.2, &seed);
    res_speedup table = made(&s);
    res_estimate own[6];
    res_moderated rows[6];
    for (size_t i = 0; i < table.count; i++)
        if (table.rows[i].compared)
            own[count++] = table.rows[i].ratio.own;
    assert_int_equal(count, 6);
    res_moderate(own, 6, rows);
    for (size_t i = 0; i < 6; i++)
        p[i] = res_moderated_p(&rows[i]);
    res_holm(p, NULL, count, adjusted);
    count = 0;
    for (size_t i = 0; i < table.count; i++) {
        const res_speedup_row *row = &table.rows[i];
        if (!row->compared)
            continue;
        assert_near(row->p_holm, adjusted[count], 1e-12);
        assert_int_equal(row->significant, adjusted[count] <= 0.05);
        assert_true(row->p_holm >= row->ratio.p);
        count++;
    }
    res_speedup_free(&table);
    clear(&s);
}

/* ---- means -------------------------------------------------------------------------------------
 */

/* Two cells of three processes: ratios 1, 2, 4 and 4, 2, 1. Each process says 2: no spread. */
static void means_are_of_processes_first(void **state)
{
    (void)state;
    store s = {.count = 0};
    for (int p = 0; p < 3; p++) {
        const double base = 8e6, up = 8e6 / (1 << p), down = 8e6 / (1 << (2 - p));
        add_rounds(&s, "a", "lazy", &base, 1, p + 1);
        add_rounds(&s, "a", "capture", &up, 1, p + 1);
        add_rounds(&s, "b", "lazy", &base, 1, p + 1);
        add_rounds(&s, "b", "capture", &down, 1, p + 1);
    }
    res_speedup table = made(&s);
    assert_int_equal(table.mean_count, 1);
    assert_true(table.means[0].mean.by_process);
    assert_near(table.means[0].mean.ratio.estimate, 2, 1e-9);
    /* The processes agree, and both ratios drift by 0.01 together. */
    const double half = 1.959964 * 0.01;
    assert_near(table.means[0].mean.ratio.low, 2 * exp(-half), 1e-6);
    res_speedup_free(&table);
    /* A process more of one cell: they do not match, and the variances add up. */
    const double base = 8e6, more = 4e6;
    add_rounds(&s, "b", "lazy", &base, 1, 4);
    add_rounds(&s, "b", "capture", &more, 1, 4);
    table = made(&s);
    assert_false(table.means[0].mean.by_process);
    assert_int_equal(table.means[0].mean.processes, 3);
    assert_int_equal(table.means[0].mean.runs, 1);
    assert_near(table.means[0].mean.ratio.estimate, 2, 1e-9);
    /* Errors log 2 / sqrt(3) and log 2 sqrt(2/3) / 2. */
    const double error = log(2) * sqrt(1.0 / 3 + 1.0 / 6) / 2;
    assert_true(log(table.means[0].mean.ratio.high / 2) > 2.5 * error);
    assert_true(log(table.means[0].mean.ratio.high / 2) < 3.5 * error);
    res_speedup_free(&table);
    clear(&s);
}

/* ---- findings -----------------------------------------------------------------------------------
 */

/* Capture saves 2 ms of 10, of which 1.5 ms are tracing; its device takes as long. */
static void causes_are_named_with_their_time(void **state)
{
    (void)state;
    store s = {.count = 0};
    for (int p = 1; p <= 4; p++) {
        const double lazy = 10e6 + 1000 * p, capture = 8e6 + 2000 * p;
        res_record *a = add_rounds(&s, "m", "lazy", &lazy, 1, p);
        res_record *b = add_rounds(&s, "m", "capture", &capture, 1, p);
        a->part_ns[BN_PART_TRACE] = 1500000 + (uint64_t)(100 * p);
        b->part_ns[BN_PART_TRACE] = 0;
        for (int i = 0; i < 2; i++) {
            res_execution *x = &(i ? a : b)->executions[0];
            x->device_source = BN_DEVICE_TIME_SLOPE;
            x->device_ns = 5e6 + 1000 * p;
            x->overhead_ns = 1e5 + (i ? 10 : -10) * p;
            strcpy(x->optimized, "0123");
        }
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    res_finding list[4];
    assert_int_equal(res_speedup_explain(&table, list), 1);
    assert_int_equal(list[0].kind, RES_FINDING_FASTER);
    assert_near(list[0].saved_ns, 2e6 - 2500, 1);
    assert_int_equal(list[0].cause_count, 1);
    assert_int_equal(list[0].causes[0].kind, RES_CAUSE_TRACING);
    assert_near(list[0].causes[0].saved_ns.estimate, 1500250, 1);
    assert_int_equal(row->program, RES_PROGRAM_SAME);
    res_speedup_free(&table);
    clear(&s);
}

/* Capture dispatches 1 ms less of 10 and waits 0.5 ms less. Its device times are above the steps,
 * so they are cut and no cause. What OVERHEAD says of it. */
typedef enum overhead_is { OVERHEAD_SIGNIFICANT, OVERHEAD_NOISY, OVERHEAD_UNKNOWN } overhead_is;

static void add_cut(store *s, overhead_is overhead)
{
    for (int p = 1; p <= 4; p++) {
        const double lazy = 10e6 + 1000 * p, capture = 9e6 + 2000 * p;
        res_record *both[2] = {add_rounds(s, "m", "lazy", &lazy, 1, p),
                               add_rounds(s, "m", "capture", &capture, 1, p)};
        for (int i = 0; i < 2; i++) {
            res_execution *x = &both[i]->executions[0];
            memset(both[i]->part_ns, 0, BN_PART_COUNT * sizeof *both[i]->part_ns);
            both[i]->part_ns[BN_PART_DISPATCH] = (uint64_t)(2000000 - 1000000 * i + 100 * p);
            both[i]->part_ns[BN_PART_WAIT] = (uint64_t)(4000000 - 500000 * i + 100 * p);
            x->device_source =
                overhead == OVERHEAD_UNKNOWN ? BN_DEVICE_TIME_UNAVAILABLE : BN_DEVICE_TIME_SLOPE;
            x->device_ns = 10.5e6 + 2e5 * p;
            /* Indistinguishable from zero, or a device time that is cut would refuse it. */
            x->overhead_ns = (p % 2 ? 3e6 : -2e6) - 1e6 * i + 10 * p * i;
            if (overhead == OVERHEAD_NOISY && i == 1)
                x->overhead_ns *= -1;
        }
    }
}

/* Overhead holds dispatch, and some of the waiting. Where it does not differ significantly they are
 * causes of their own. */
static void overhead_and_dispatch_are_one_cause(void **state)
{
    (void)state;
    for (overhead_is overhead = OVERHEAD_SIGNIFICANT; overhead <= OVERHEAD_UNKNOWN; overhead++) {
        store s = {.count = 0};
        add_cut(&s, overhead);
        res_speedup table = made(&s);
        const res_figures *f = &row_of(&table, "m", "capture")->figures;
        res_finding list[4];
        assert_int_equal(isfinite(f->overhead.value.estimate), overhead != OVERHEAD_UNKNOWN);
        assert_true(overhead == OVERHEAD_UNKNOWN || f->device_scale != 1);
        assert_int_equal(res_speedup_explain(&table, list), 1);
        const res_cause *causes = list[0].causes;
        assert_int_equal(list[0].cause_count, overhead == OVERHEAD_SIGNIFICANT ? 1 : 2);
        assert_int_equal(causes[0].kind,
                         overhead == OVERHEAD_SIGNIFICANT ? RES_CAUSE_OVERHEAD : RES_CAUSE_PART);
        assert_int_equal(causes[0].part, BN_PART_DISPATCH);
        assert_true(overhead == OVERHEAD_SIGNIFICANT || causes[1].part == BN_PART_WAIT);
        res_speedup_free(&table);
        clear(&s);
    }
}

/* Each row has its own, at the level of the whole family. */
static void the_detectable_effect_is_stated(void **state)
{
    (void)state;
    store s = {.count = 0};
    uint64_t seed = 8;
    simulate(&s, 2, 4, 0.05, 1, &seed);
    simulate(&s, 1, 4, 0.005, 1, &seed);
    for (size_t i = 0; i < s.count; i++) {
        s.records[i]->simulated = false;
        if (i >= 16)
            s.records[i]->experiment.model[0] = 'q';
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "a", "capture");
    const res_speedup_row *quiet = row_of(&table, "q", "capture");
    res_finding list[8];
    assert_int_equal(table.ratios, 3);
    assert_int_equal(res_speedup_explain(&table, list), 3);
    assert_int_equal(list[0].kind, RES_FINDING_NO_DIFFERENCE);
    assert_near(row->ratio.log.drift.deviation, 0.01, 1e-12);
    assert_near(list[0].mde, res_moderated_mde(&row->ratio.log, 1, 0.05 / 3), 1e-12);
    assert_near(list[0].mde_twice, res_moderated_mde(&row->ratio.log, 2, 0.05 / 3), 1e-12);
    /* No table finds a difference that the drift hides: z(0.05 / 6) + z(0.2) times 1 %. */
    assert_true(res_speedup_mde(&table, quiet, 1000) > 0.032);
    assert_true(res_speedup_mde(&table, quiet, 1000) < 0.035);
    assert_true(res_speedup_mde(&table, quiet, 1) < list[0].mde / 2);
    res_speedup_free(&table);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_of_four_processes_hold_the_truth),
        cmocka_unit_test(tables_of_like_modes_claim_nothing),
        cmocka_unit_test(chance_agreement_is_no_claim),
        cmocka_unit_test(runs_of_other_days_are_a_value_each),
        cmocka_unit_test(runs_are_the_values_of_ratios_and_means),
        cmocka_unit_test(claims_are_holms),
        cmocka_unit_test(means_are_of_processes_first),
        cmocka_unit_test(causes_are_named_with_their_time),
        cmocka_unit_test(overhead_and_dispatch_are_one_cause),
        cmocka_unit_test(the_detectable_effect_is_stated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
