/*
 * test_line.c - straight lines over processes: exact ones, how often intervals hold the truth, when
 * a line is found not to fit, and where lines meet. Needs no plugin.
 */
#include "results/studies/studies.h"
#include "tests/support/results_fixture.h"

#define MOST_PROCESSES 16
#define POINTS         4

static const double at[POINTS] = {1, 2, 3, 5};

/* Fits PROCESSES rows Y of COUNT points at X. To be freed. */
static res_line fit(const double *x, const double *y, size_t count, size_t processes)
{
    res_line line;
    bn_status st = {0};
    const res_sweep sweep = {x, y, count, processes};
    if (res_line_fit(&sweep, &line, &st) != BN_OK)
        fail_msg("%s", st.message);
    return line;
}

static void an_exact_line_comes_back(void **state)
{
    (void)state;
    double y[3 * POINTS];
    for (size_t p = 0; p < 3; p++)
        for (size_t i = 0; i < POINTS; i++)
            y[p * POINTS + i] = 10 + (double)p + 2 * at[i];
    res_line line = fit(at, y, POINTS, 3);
    assert_near(line.base.mean, 11, 1e-9);
    assert_near(line.slope.mean, 2, 1e-9);
    assert_near(line.process_base[2], 12, 1e-9);
    assert_near(line.base.error, 1 / sqrt(3), 1e-9);
    assert_near(res_line_at(&line, 10), 31, 1e-9);
    assert_int_equal(line.verdict, RES_FIT_HOLDS);
    assert_near(line.off, 0, 1e-9);
    res_line_free(&line);
}

/* Differences are shares of each value: of plain ones, the line would pass at 0.67 where x is 0. */
static void large_values_do_not_outweigh_small_ones(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2}, y[] = {1, 100, 201};
    res_line line = fit(x, y, 3, 1);
    assert_near(line.base.mean, 1, 0.01);
    res_line_free(&line);
}

static void values_of_zero_are_weighed_alike(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2}, y[] = {0, 1, 2};
    res_line line = fit(x, y, 3, 1);
    assert_near(line.base.mean, 0, 1e-12);
    assert_near(line.slope.mean, 1, 1e-12);
    res_line_free(&line);
}

static void what_is_no_sweep_is_refused(void **state)
{
    (void)state;
    const double same[] = {3, 3}, two[] = {1, 2};
    const res_sweep wrong[] = {{same, two, 2, 1}, {two, two, 1, 1}, {two, two, 2, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        res_line line;
        bn_status st = {0};
        assert_int_equal(res_line_fit(&wrong[i], &line, &st), BN_INVALID);
        res_line_free(&line);
    }
}

static void fewer_than_three_processes_have_no_interval(void **state)
{
    (void)state;
    const double y[] = {1, 2, 4, 5, 1.1, 2.2, 3.9, 5};
    res_line line = fit(at, y, POINTS, 2);
    assert_true(isfinite(line.slope.mean));
    assert_true(isnan(res_estimate_interval(&line.slope).low));
    assert_int_equal(line.verdict, RES_FIT_UNKNOWN);
    assert_true(line.p == 1);
    res_line_free(&line);
}

static void two_points_are_always_on_a_line(void **state)
{
    (void)state;
    const double y[] = {1, 2, 1.1, 2.2, 0.9, 2.1};
    res_line line = fit(at, y, 2, 3);
    assert_int_equal(line.verdict, RES_FIT_UNKNOWN);
    assert_true(isfinite(res_estimate_interval(&line.slope).low));
    res_line_free(&line);
}

/* A line of a known base and slope, in processes that differ by SPREAD and whose points vary by
 * NOISE, both shares; BEND is added to the last point. */
static res_line simulate(uint64_t *random, size_t processes, double base, double slope, double bend)
{
    double y[MOST_PROCESSES * POINTS];
    for (size_t p = 0; p < processes; p++) {
        const double own = exp(0.02 * fixture_normal(random));
        for (size_t i = 0; i < POINTS; i++) {
            const double on_line = base + slope * at[i] + (i == POINTS - 1 ? bend : 0);
            y[p * POINTS + i] = on_line * own * exp(0.01 * fixture_normal(random));
        }
    }
    return fit(at, y, POINTS, processes);
}

static bool holds(const res_estimate *e, double truth)
{
    const res_interval interval = res_estimate_interval(e);
    return interval.low <= truth && truth <= interval.high;
}

/* 95 % intervals of 1,000 studies hold the truth 950 times, with a standard deviation of 7. */
static void intervals_hold_the_truth_as_often_as_they_say(void **state)
{
    (void)state;
    uint64_t random = 20260923;
    static const size_t processes[] = {4, 16};
    for (size_t k = 0; k < 2; k++) {
        int base = 0, slope = 0, fails = 0;
        for (int i = 0; i < 1000; i++) {
            res_line line = simulate(&random, processes[k], 100, 30, 0);
            base += holds(&line.base, 100);
            slope += holds(&line.slope, 30);
            fails += line.verdict == RES_FIT_FAILS;
            res_line_free(&line);
        }
        if (base < 925 || base > 975 || slope < 925 || slope > 975 || fails > 65)
            fail_msg("of 1,000 studies of %zu processes: base %d, slope %d, the fit fails in %d",
                     processes[k], base, slope, fails);
    }
}

/* A tenth of a step more at the end is found; a five hundredth is nothing to speak of. */
static void a_bend_is_reported(void **state)
{
    (void)state;
    uint64_t random = 11;
    int large = 0, small = 0;
    for (int i = 0; i < 200; i++) {
        res_line line = simulate(&random, 8, 100, 30, 25);
        large += line.verdict == RES_FIT_FAILS && fabs(line.off) > RES_FIT_SLACK;
        res_line_free(&line);
        line = simulate(&random, 8, 100, 30, 0.5);
        small += line.verdict == RES_FIT_FAILS;
        res_line_free(&line);
    }
    if (large < 190 || small > 20)
        fail_msg("bends of 10 %% found %d times of 200, of 0.2 %% %d times", large, small);
}

/* u = -10, -12, -14 and v = 2: at 6, and Student's t of u over 2: 4.302653 * 1.154701 / 2. */
static void a_crossing_by_hand(void **state)
{
    (void)state;
    const double u[] = {-10, -12, -14}, v[] = {2, 2, 2}, either[] = {-1, 1, 0.1};
    const res_interval x = res_crossing(u, v, 3);
    assert_near(x.estimate, 6, 1e-9);
    assert_near(x.low, 6 - 2.4841377, 1e-6);
    assert_near(x.high, 6 + 2.4841377, 1e-6);
    const res_interval none = res_crossing(u, either, 3);
    assert_true(isfinite(none.estimate) && isnan(none.low) && isnan(none.high));
    assert_true(isnan(res_crossing(u, v, 2).low));
    assert_true(isnan(res_crossing(u, v, 0).estimate));
}

/* u and v of one process go together: the crossing of (100 + 30 x) k with 400 k is 10 in each. */
static void what_goes_together_cancels(void **state)
{
    (void)state;
    const double share[] = {0.8, 1.0, 1.3};
    double u[3], v[3];
    for (size_t i = 0; i < 3; i++) {
        u[i] = (100 - 400) * share[i];
        v[i] = 30 * share[i];
    }
    const res_interval x = res_crossing(u, v, 3);
    assert_near(x.low, 10, 1e-5);
    assert_near(x.high, 10, 1e-5);
}

static void crossings_hold_the_truth_as_often_as_they_say(void **state)
{
    (void)state;
    uint64_t random = 4711;
    int held = 0, bounded = 0;
    for (int i = 0; i < 1000; i++) {
        double u[6], v[6];
        for (size_t p = 0; p < 6; p++) {
            u[p] = -12 + 2 * fixture_normal(&random);
            v[p] = 3 + fixture_normal(&random);
        }
        const res_interval x = res_crossing(u, v, 6);
        bounded += isfinite(x.low);
        /* Without bounds nothing is claimed. */
        held += !isfinite(x.low) || (x.low <= 4 && 4 <= x.high);
    }
    if (held < 925 || held > 985 || bounded < 900)
        fail_msg("of 1,000 crossings %d hold the truth, %d have bounds", held, bounded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exact_line_comes_back),
        cmocka_unit_test(large_values_do_not_outweigh_small_ones),
        cmocka_unit_test(values_of_zero_are_weighed_alike),
        cmocka_unit_test(what_is_no_sweep_is_refused),
        cmocka_unit_test(fewer_than_three_processes_have_no_interval),
        cmocka_unit_test(two_points_are_always_on_a_line),
        cmocka_unit_test(intervals_hold_the_truth_as_often_as_they_say),
        cmocka_unit_test(a_bend_is_reported),
        cmocka_unit_test(a_crossing_by_hand),
        cmocka_unit_test(what_goes_together_cancels),
        cmocka_unit_test(crossings_hold_the_truth_as_often_as_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
