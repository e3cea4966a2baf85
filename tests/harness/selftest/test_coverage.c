/*
 * test_coverage.c - bench selftest coverage: counts and verdicts, tables in numbers whose draws
 * are what was asked for, procedures that are wrong and are found out, and the busy loops. Needs
 * no plugin.
 */
#include "tests/support/results_fixture.h"

#include "harness/selftest/coverage_priv.h"
#include "tests/support/test_runtime.h"

#include <errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>

#define NOTHING ((double)NAN)

static const res_interval no_interval = {NOTHING, NOTHING, NOTHING};

/* ---- counts and verdicts -------------------------------------------------------------------- */

static void intervals_are_counted(void **state)
{
    (void)state;
    const res_interval list[] = {
        {1, 0.9, 1.1},                /* holds 1 */
        {1, 1, 1.21},                 /* a bound is the truth */
        {2, 1.5, 2.5},                /* too high */
        {1, NOTHING, NOTHING},        /* none */
        {0.5, 0.25, 0.81},            /* too low */
        {1, -(double)INFINITY, 1e99}, /* no bound below: none */
    };
    const double truths[] = {1, 1, 1, 1, 1, 1}, others[] = {2, 2, 2, 2, 0.25, 2};
    selftest_coverage c = selftest_coverage_count(list, truths, 6);
    assert_int_equal(c.tables, 4);
    assert_int_equal(c.without, 2);
    assert_int_equal(c.covered, 2);
    assert_near(c.share.estimate, 0.5, 1e-12);
    assert_true(c.share.low > 0.06 && c.share.low < 0.07);
    /* Of 1.1055, 1.1, 1.2910 and 1.8: the mean of the middle two. */
    assert_near(c.half_width, (sqrt(1.1 / 0.9) + sqrt(2.5 / 1.5)) / 2 - 1, 1e-12);
    c = selftest_coverage_count(list, others, 6);
    assert_int_equal(c.covered, 2); /* the third, and the fifth by its bound */
    c = selftest_coverage_count(list, truths, 0);
    assert_int_equal(c.tables, 0);
    assert_true(isnan(c.half_width) && isnan(c.share.estimate));
}

#define ANY NOTHING
static const selftest_demand real = {SELFTEST_LEAST_REAL, 1, ANY},
                             simulated = {SELFTEST_LEAST_SIMULATED, SELFTEST_MOST, ANY},
                             numbers = {SELFTEST_LEAST_NUMBERS, SELFTEST_MOST, ANY};

static void verdicts_go_by_the_binomial(void **state)
{
    (void)state;
    static const struct {
        const selftest_demand *demand;
        bool whole;
        size_t covered, of;
        selftest_coverage_verdict verdict;
    } rows[] = {
        /* A row of one case: what 95 of 100 cannot be. */
        {&numbers, false, 0, 0, SELFTEST_COVERAGE_NONE},
        {&numbers, false, 0, 2, SELFTEST_COVERAGE_NOT_REFUTED},
        {&numbers, false, 0, 3, SELFTEST_COVERAGE_NARROW},
        {&numbers, false, 4699, 5000, SELFTEST_COVERAGE_NARROW},
        {&numbers, false, 4700, 5000, SELFTEST_COVERAGE_HOLDS},
        {&numbers, false, 4850, 5000, SELFTEST_COVERAGE_HOLDS},
        {&numbers, false, 4886, 5000, SELFTEST_COVERAGE_NOT_REFUTED},
        {&numbers, false, 4887, 5000, SELFTEST_COVERAGE_WIDE},
        {&real, false, 32, 40, SELFTEST_COVERAGE_NARROW},
        {&real, false, 33, 40, SELFTEST_COVERAGE_NOT_REFUTED},
        {&real, false, 40, 40, SELFTEST_COVERAGE_NOT_REFUTED},
        {&real, false, 215, 240, SELFTEST_COVERAGE_NARROW},
        {&real, false, 216, 240, SELFTEST_COVERAGE_HOLDS},
        {&real, false, 240, 240, SELFTEST_COVERAGE_HOLDS},
        {&simulated, false, 240, 240, SELFTEST_COVERAGE_WIDE},
        /* All cases together: what is demanded. */
        {&real, true, 30, 40, SELFTEST_COVERAGE_NARROW},
        {&real, true, 33, 40, SELFTEST_COVERAGE_NOT_REFUTED},
        {&real, true, 108, 108, SELFTEST_COVERAGE_NOT_REFUTED},
        {&real, true, 109, 109, SELFTEST_COVERAGE_HOLDS},
        {&real, true, 198, 240, SELFTEST_COVERAGE_NARROW},
        {&real, true, 207, 240, SELFTEST_COVERAGE_NARROW},
        {&real, true, 208, 240, SELFTEST_COVERAGE_NOT_REFUTED},
        {&real, true, 215, 240, SELFTEST_COVERAGE_NOT_REFUTED},
        {&real, true, 216, 240, SELFTEST_COVERAGE_HOLDS},
        {&simulated, true, 106, 120, SELFTEST_COVERAGE_NARROW},
        {&simulated, true, 107, 120, SELFTEST_COVERAGE_NOT_REFUTED},
        {&simulated, true, 112, 120, SELFTEST_COVERAGE_HOLDS},
        {&simulated, true, 116, 120, SELFTEST_COVERAGE_HOLDS},
        {&simulated, true, 119, 120, SELFTEST_COVERAGE_NOT_REFUTED},
        {&simulated, true, 120, 120, SELFTEST_COVERAGE_WIDE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const selftest_coverage c = {.tables = rows[i].of, .covered = rows[i].covered};
        const selftest_coverage_verdict got =
            selftest_coverage_judge(&c, rows[i].demand, rows[i].whole);
        if (got != rows[i].verdict)
            fail_msg("%zu of %zu%s: %s, not %s", rows[i].covered, rows[i].of,
                     rows[i].whole ? " in all" : "", selftest_coverage_verdict_name(got),
                     selftest_coverage_verdict_name(rows[i].verdict));
    }
}

/* So many tables find out 80 of 100 where 90 are demanded, in 9 of 10 runs. */
static void enough_tables_tell_ninety_from_eighty(void **state)
{
    (void)state;
    const size_t enough = selftest_coverage_enough(SELFTEST_LEAST_REAL);
    const selftest_demand *demand = &real;
    double found = 0;
    assert_int_equal(enough, 109);
    for (size_t hits = 0; hits <= enough; hits++) {
        const selftest_coverage c = {.tables = enough, .covered = hits};
        if (selftest_coverage_judge(&c, demand, true) == SELFTEST_COVERAGE_NARROW)
            found += gsl_ran_binomial_pdf((unsigned)hits, 0.8, (unsigned)enough);
    }
    assert_true(found >= 0.9 && found < 0.92);
}

/* ---- rows that are made up ------------------------------------------------------------------ */

/* A row of a small model on a real runtime whose intervals hold COVERED of TABLES. */
static selftest_row row_of(size_t covered, size_t tables, double half_width)
{
    selftest_row row = {.name = "m small train on cpu",
                        .figure = "A/A",
                        .truth = 1,
                        .demand = {SELFTEST_LEAST_REAL, 1, SELFTEST_HALF_WIDTH_SMALL},
                        .count = tables};
    row.c = (selftest_coverage){.tables = tables, .covered = covered, .half_width = half_width};
    row.c.share = (res_interval){(double)covered / (double)tables, 0, 1};
    return row;
}

/* Whether the command passes. It judges so many rows, of which so many have each verdict, and says
 * so. */
static bool passes(const selftest_row *rows, size_t count, selftest_rows_sum wanted)
{
    char begin[64];
    bn_text said = {0};
    const selftest_rows_sum sum = selftest_rows_add_up(rows, count);
    assert_int_equal(sum.judged, wanted.judged);
    assert_memory_equal(sum.of, wanted.of, sizeof sum.of);
    assert_int_equal(sum.wide, wanted.wide);
    assert_int_equal(sum.unmeasured, wanted.unmeasured);
    selftest_rows_say(&sum, &said);
    snprintf(begin, sizeof begin, "%zu of %zu ", sum.of[SELFTEST_COVERAGE_HOLDS], sum.judged);
    assert_ptr_equal(strstr(said.data, begin), said.data);
    bn_text_free(&said);
    return sum.pass;
}

/* What `passes` wants: N rows judged, of them HOLD, OPEN (not refuted), NARROW, NONE and WIDE. */
#define SUM(n, hold, open, narrow, none, w)                                                        \
    ((selftest_rows_sum){.judged = (n),                                                            \
                         .of = {[SELFTEST_COVERAGE_HOLDS] = (hold),                                \
                                [SELFTEST_COVERAGE_NOT_REFUTED] = (open),                          \
                                [SELFTEST_COVERAGE_NARROW] = (narrow),                             \
                                [SELFTEST_COVERAGE_NONE] = (none)},                                \
                         .wide = (w)})

static void rows_fail_where_less_is_held_than_demanded(void **state)
{
    (void)state;
    /* Each of six cases may hold 33 of 40; all together may not. */
    selftest_row rows[7];
    for (size_t i = 0; i < 6; i++)
        rows[i] = row_of(33, 40, 0.02);
    rows[6] = row_of(198, 240, 0.02);
    rows[6].whole = true;
    assert_true(passes(rows, 6, SUM(6, 0, 6, 0, 0, 0)));
    assert_false(passes(rows, 7, SUM(7, 0, 6, 1, 0, 0)));
    rows[6].c.covered = 228;
    assert_true(passes(rows, 7, SUM(7, 1, 6, 0, 0, 0)));
    rows[0].c.covered = 32;
    assert_false(passes(rows, 7, SUM(7, 1, 5, 1, 0, 0)));
    /* Times of a real machine are not judged. */
    rows[0].drifts = true;
    assert_true(passes(rows, 7, SUM(6, 1, 5, 0, 0, 0)));
    rows[1].c = (selftest_coverage){.without = 40};
    assert_false(passes(rows, 7, SUM(6, 1, 4, 0, 1, 0)));
}

static void half_widths_have_a_verdict_of_their_own(void **state)
{
    (void)state;
    selftest_row row = row_of(120, 120, 0.031);
    assert_false(passes(&row, 1, SUM(1, 1, 0, 0, 0, 1)));
    bn_text table = {0};
    selftest_rows_table(&row, 1, RES_TABLE_TEXT, &table);
    assert_non_null(strstr(table.data, " demanded  verdict  half-width  at most\n"));
    assert_non_null(strstr(table.data, "        90  holds        3.10 %      3 %  wide\n"));
    bn_text_free(&table);
    json_t *json = selftest_row_json(&row);
    assert_string_equal(json_string_value(json_object_get(json, "verdict")), "holds");
    assert_string_equal(json_string_value(json_object_get(json, "half_width_verdict")), "wide");
    assert_near(json_number_value(json_object_get(json, "half_width_at_most")), 0.03, 1e-12);
    assert_near(json_number_value(json_object_get(json, "demanded_least")), 0.9, 1e-12);
    assert_true(json_is_null(json_object_get(json, "demanded_most")));
    assert_true(json_is_false(json_object_get(json, "pass")));
    json_decref(json);
    /* Others have 5 %; most tables have to have met a quiet machine; of few it says nothing. */
    row.demand.half_width = SELFTEST_HALF_WIDTH;
    assert_true(passes(&row, 1, SUM(1, 1, 0, 0, 0, 0)));
    row.demand.half_width = SELFTEST_HALF_WIDTH_SMALL;
    row.busy = 60;
    assert_false(passes(&row, 1, SUM(1, 1, 0, 0, 0, 1)));
    row.busy = 61;
    assert_true(passes(&row, 1, SUM(1, 1, 0, 0, 0, 0)));
    row = row_of(19, 19, 0.2);
    assert_true(passes(&row, 1, SUM(1, 0, 1, 0, 0, 0)));
    row = row_of(20, 20, 0.2);
    assert_false(passes(&row, 1, SUM(1, 0, 1, 0, 0, 1)));
}

/* ---- draws ------------------------------------------------------------------------------------
 */

enum { TABLES = 500, VALUES = TABLES * SELFTEST_TABLE_PROCESSES };

/* For each process: the logarithm of member M's first step over the usual one. */
static void first_steps(const selftest_table_scenario *scenario, double x[2][VALUES],
                        double last[VALUES])
{
    selftest_table_sim table;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    assert_non_null(rng);
    gsl_rng_set(rng, 11);
    for (size_t i = 0; i < VALUES; i++) {
        const size_t k = i % SELFTEST_TABLE_PROCESSES;
        if (k == 0)
            selftest_table_simulate(scenario, rng, &table);
        for (int m = 0; m < 2; m++)
            x[m][i] = log(table.step_ns[k][m][0][0] / 10e6);
        last[i] =
            log(table.step_ns[k][0][SELFTEST_TABLE_ROUNDS - 1][SELFTEST_TABLE_STEPS - 1] / 10e6);
    }
    gsl_rng_free(rng);
}

static void assert_deviation(const double *x, double deviation)
{
    assert_near(gsl_stats_mean(x, 1, VALUES), 0, 4 * deviation / sqrt(VALUES));
    assert_near(gsl_stats_sd(x, 1, VALUES), deviation, 4 * deviation / sqrt(2.0 * VALUES));
}

static void assert_correlation(const double *x, const double *y, double expected)
{
    assert_near(gsl_stats_correlation(x, 1, y, 1, VALUES), expected, 4 / sqrt(VALUES));
}

/* Each disturbance alone has its size, and is shared by whom it ought to be. */
static void draws_have_their_size(void **state)
{
    (void)state;
    static double x[2][VALUES], last[VALUES];
    const selftest_table_scenario process = {.process = 0.1}, member = {.member = 0.1},
                                  step = {.step = 0.1}, wander = {.wander = 0.1, .keep = 0.97},
                                  longer = {.longer = 6};
    first_steps(&process, x, last);
    assert_deviation(x[0], 0.1);
    assert_correlation(x[0], x[1], 1);
    assert_correlation(x[0], last, 1);
    first_steps(&member, x, last);
    assert_deviation(x[0], 0.1);
    assert_deviation(x[1], 0.1);
    assert_correlation(x[0], x[1], 0);
    assert_correlation(x[0], last, 1);
    first_steps(&step, x, last);
    assert_deviation(x[0], 0.1);
    assert_correlation(x[0], x[1], 0);
    assert_correlation(x[0], last, 0);
    first_steps(&wander, x, last);
    assert_deviation(x[0], 0.1);
    assert_deviation(last, 0.1);
    /* The other member's first step is 3 steps away, the last one 54 to 59. */
    assert_correlation(x[0], x[1], pow(0.97, 3));
    assert_correlation(x[0], last, pow(0.97, 57));
    first_steps(&longer, x, last);
    for (size_t i = 0; i < VALUES; i++)
        assert_true(x[0][i] == 0 && fabs(x[1][i] - log(6)) < 1e-12);
}

static void bursts_meet_steps_by_their_length(void **state)
{
    (void)state;
    const selftest_table_scenario s = {.longer = 6, .burst = 0.1, .burst_length = 0.5};
    selftest_table_sim table;
    double bursts[2] = {0, 0}, steps = 0;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    assert_non_null(rng);
    gsl_rng_set(rng, 12);
    for (size_t t = 0; t < 100; t++) {
        selftest_table_simulate(&s, rng, &table);
        for (size_t i = 0; i < SELFTEST_TABLE_PROCESSES * SELFTEST_TABLE_ROUNDS; i++)
            for (size_t n = 0; n < SELFTEST_TABLE_STEPS; n++, steps++)
                for (int m = 0; m < 2; m++) {
                    const double took =
                        table.step_ns[i / SELFTEST_TABLE_ROUNDS][m][i % SELFTEST_TABLE_ROUNDS][n];
                    const double more = (took / 10e6 - (m ? 6 : 1)) / 0.5;
                    assert_near(more, round(more), 1e-9);
                    bursts[m] += more;
                }
    }
    gsl_rng_free(rng);
    assert_near(bursts[0], 0.1 * steps, 4 * sqrt(0.1 * steps));
    assert_near(bursts[1], 0.6 * steps, 4 * sqrt(0.6 * steps));
}

static double median_of(const double *values, size_t count)
{
    double sorted[SELFTEST_TABLE_ROUNDS];
    memcpy(sorted, values, count * sizeof *sorted);
    return res_median(sorted, count);
}

/* exp of the mean of the LOGS of processes, by Student's t. */
static res_interval over_processes(const double *logs)
{
    const res_estimate mean = res_estimate_of(logs, SELFTEST_TABLE_PROCESSES);
    return res_estimate_ratio(&mean);
}

/* Sorts ROUNDS. */
static double middle_of(double rounds[SELFTEST_TABLE_ROUNDS])
{
    (void)res_median(rounds, SELFTEST_TABLE_ROUNDS);
    return (rounds[3] + rounds[4] + rounds[5] + rounds[6]) / 4;
}

/* A table's estimator, in a few lines. A round counts with its median step, a process with the
 * middle four of its ten rounds: of the time, and of the logarithm of the ratio. Over processes:
 * Student's t. */
static bn_code by_processes(const selftest_table_sim *table, selftest_table_figures *figures,
                            bn_status *st)
{
    double ratio[SELFTEST_TABLE_PROCESSES], wall[SELFTEST_TABLE_PROCESSES];
    (void)st;
    for (size_t k = 0; k < SELFTEST_TABLE_PROCESSES; k++) {
        double ratios[SELFTEST_TABLE_ROUNDS], walls[SELFTEST_TABLE_ROUNDS];
        for (size_t r = 0; r < SELFTEST_TABLE_ROUNDS; r++) {
            walls[r] = median_of(table->step_ns[k][1][r], SELFTEST_TABLE_STEPS);
            ratios[r] = log(median_of(table->step_ns[k][0][r], SELFTEST_TABLE_STEPS) / walls[r]);
        }
        ratio[k] = middle_of(ratios);
        wall[k] = log(middle_of(walls));
    }
    *figures =
        (selftest_table_figures){over_processes(ratio), over_processes(wall), no_interval, false};
    return BN_OK;
}

/* ---- procedures on trial -----------------------------------------------------------------------
 */

static const selftest_table_scenario *scenario(const char *name)
{
    const selftest_table_scenario *s = selftest_table_scenarios;
    while (strcmp(s->name, name) != 0)
        s++;
    return s;
}

static selftest_table_trial try(selftest_table_procedure *procedure, const char *name,
                                size_t tables, uint64_t seed)
{
    selftest_table_trial t = {.scenario = scenario(name), .tables = tables};
    bn_status st = {0};
    assert_ok(selftest_table_trial_run(&t, procedure, seed, &st), &st);
    print_message("# %s: ratio %.1f, wall %.1f of 100\n", name, 100 * t.ratio.share.estimate,
                  100 * t.wall.share.estimate);
    return t;
}

static bool not_refuted(const selftest_coverage *c)
{
    const selftest_coverage_verdict verdict = selftest_coverage_judge(c, &numbers, false);
    return verdict == SELFTEST_COVERAGE_HOLDS || verdict == SELFTEST_COVERAGE_NOT_REFUTED;
}

static void tables_hold_in_every_scenario(void **state)
{
    (void)state;
    for (const selftest_table_scenario *s = selftest_table_scenarios; s->name; s++) {
        const selftest_table_trial t = try(selftest_table_by_tables, s->name, 2000, 20261122);
        assert_true(not_refuted(&t.ratio) && not_refuted(&t.wall));
        assert_true(t.ratio.share.estimate > 0.93 && t.ratio.share.estimate < 0.97);
        assert_true(t.wall.share.estimate > 0.93 && t.wall.share.estimate < 0.97);
    }
    const selftest_table_trial t = try(selftest_table_by_tables, "quiet", 200, 5);
    const selftest_table_trial again = try(selftest_table_by_tables, "quiet", 200, 5);
    const selftest_table_trial other = try(selftest_table_by_tables, "quiet", 200, 6);
    assert_memory_equal(&t, &again, sizeof t);
    assert_true(t.ratio.half_width != other.ratio.half_width);
}

/* Interval times FACTOR, on the scale of logarithms. */
static res_interval stretched(res_interval v, double factor)
{
    const double half = factor * (log(v.high) - log(v.low)) / 2;
    return (res_interval){v.estimate, v.estimate * exp(-half), v.estimate * exp(half)};
}

/* As if the spread of four were known, not estimated: 1.96 in place of 3.18. */
static bn_code normal(const selftest_table_sim *table, selftest_table_figures *f, bn_status *st)
{
    bn_code code = by_processes(table, f, st);
    f->ratio = stretched(f->ratio, 1.959964 / 3.182446);
    f->wall = stretched(f->wall, 1.959964 / 3.182446);
    return code;
}

static bn_code timid(const selftest_table_sim *table, selftest_table_figures *f, bn_status *st)
{
    bn_code code = by_processes(table, f, st);
    f->ratio = stretched(f->ratio, 2);
    f->wall = stretched(f->wall, 2);
    return code;
}

/* As if the rounds of one process were processes: of the latest one alone. */
static bn_code one_process(const selftest_table_sim *table, selftest_table_figures *f,
                           bn_status *st)
{
    double ratios[SELFTEST_TABLE_ROUNDS], walls[SELFTEST_TABLE_ROUNDS];
    (void)st;
    for (size_t r = 0; r < SELFTEST_TABLE_ROUNDS; r++) {
        const size_t last = SELFTEST_TABLE_PROCESSES - 1;
        const double base = median_of(table->step_ns[last][0][r], SELFTEST_TABLE_STEPS);
        const double own = median_of(table->step_ns[last][1][r], SELFTEST_TABLE_STEPS);
        ratios[r] = log(base / own);
        walls[r] = log(own);
    }
    const res_estimate ratio = res_estimate_of(ratios, SELFTEST_TABLE_ROUNDS),
                       wall = res_estimate_of(walls, SELFTEST_TABLE_ROUNDS);
    *f = (selftest_table_figures){res_estimate_ratio(&ratio), res_estimate_ratio(&wall),
                                  no_interval, false};
    return BN_OK;
}

static bn_code silent(const selftest_table_sim *table, selftest_table_figures *f, bn_status *st)
{
    (void)table;
    (void)st;
    *f = (selftest_table_figures){no_interval, no_interval, no_interval, false};
    return BN_OK;
}

static void wrong_procedures_are_found_out(void **state)
{
    (void)state;
    selftest_table_trial t = try(normal, "process 3 %", 300, 1);
    assert_int_equal(selftest_coverage_judge(&t.ratio, &numbers, false), SELFTEST_COVERAGE_NARROW);
    assert_int_equal(selftest_coverage_judge(&t.wall, &numbers, false), SELFTEST_COVERAGE_NARROW);
    t = try(one_process, "process 3 %", 40, 1);
    assert_int_equal(selftest_coverage_judge(&t.ratio, &numbers, false), SELFTEST_COVERAGE_NARROW);
    assert_int_equal(selftest_coverage_judge(&t.wall, &numbers, false), SELFTEST_COVERAGE_NARROW);
    t = try(timid, "process 3 %", 1000, 1);
    assert_int_equal(selftest_coverage_judge(&t.ratio, &numbers, false), SELFTEST_COVERAGE_WIDE);
    t = try(silent, "quiet", 10, 1);
    assert_int_equal(selftest_coverage_judge(&t.ratio, &numbers, false), SELFTEST_COVERAGE_NONE);
    assert_int_equal(t.ratio.without, 10);
}

/* ---- tables of records ---------------------------------------------------------- */

static void assert_same(res_interval a, res_interval b)
{
    assert_near(a.estimate, b.estimate, 1e-6 * b.estimate);
    assert_near(a.low, b.low, 1e-6 * b.low);
    assert_near(a.high, b.high, 1e-6 * b.high);
}

/* The speedup table does what a table ought to do, and is read in the right place. */
static void tables_are_read_off(void **state)
{
    (void)state;
    bn_status st = {0};
    selftest_table_sim table;
    selftest_table_figures by_hand, read;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    assert_non_null(rng);
    gsl_rng_set(rng, 13);
    for (const selftest_table_scenario *s = selftest_table_scenarios; s->name; s++) {
        selftest_table_simulate(s, rng, &table);
        assert_ok(by_processes(&table, &by_hand, &st), &st);
        assert_ok(selftest_table_by_tables(&table, &read, &st), &st);
        assert_same(read.ratio, by_hand.ratio);
        assert_same(read.wall, by_hand.wall);
        assert_true(isnan(read.device.low));
    }
    gsl_rng_free(rng);
    res_record *none[1] = {NULL};
    selftest_figures_of(none, none, 1, &read);
    assert_true(isnan(read.ratio.estimate) && isnan(read.wall.low));
}

/* ---- folders and loads
 * ------------------------------------------------------------------------------ */

static void a_load_ends(void **state)
{
    (void)state;
    bn_status st = {0};
    selftest_load load, kept;
    assert_ok(selftest_load_begin(&load, 2, &st), &st);
    assert_int_equal(load.count, 2);
    kept = load;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(kill(kept.pids[i], 0), 0);
    selftest_load_end(&load);
    assert_int_equal(load.count, 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(kill(kept.pids[i], 0), -1);
        assert_int_equal(errno, ESRCH);
    }
    selftest_load_end(&load);
}

static void a_folder_goes_with_all_in_it(void **state)
{
    (void)state;
    bn_status st = {0};
    char folder[SELFTEST_FOLDER], file[SELFTEST_FOLDER + 16];
    assert_ok(selftest_folder_make("test", folder, &st), &st);
    assert_non_null(strstr(folder, "/bench-test."));
    snprintf(file, sizeof file, "%s/file", folder);
    assert_ok(bn_file_write_atomic(file, "x", 1, &st), &st);
    selftest_folder_remove(folder);
    assert_int_equal(access(folder, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_are_counted),
        cmocka_unit_test(verdicts_go_by_the_binomial),
        cmocka_unit_test(enough_tables_tell_ninety_from_eighty),
        cmocka_unit_test(rows_fail_where_less_is_held_than_demanded),
        cmocka_unit_test(half_widths_have_a_verdict_of_their_own),
        cmocka_unit_test(draws_have_their_size),
        cmocka_unit_test(bursts_meet_steps_by_their_length),
        cmocka_unit_test(tables_hold_in_every_scenario),
        cmocka_unit_test(wrong_procedures_are_found_out),
        cmocka_unit_test(tables_are_read_off),
        cmocka_unit_test(a_load_ends),
        cmocka_unit_test(a_folder_goes_with_all_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
