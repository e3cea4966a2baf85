/*
 * test_process.c - estimates from processes: by hand, and how often their intervals hold the truth
 * of simulated processes. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

static void assert_close(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-6 * fabs(wanted)))
        fail_msg("%.12g is not %.12g", value, wanted);
}

/* 1, 2, 3, 4: sd sqrt(5/3), error 0.6454972, t(0.975, 3) = 3.1824463. */
static void an_interval_by_hand(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4};
    const res_estimate e = res_estimate_of(values, 4);
    const res_interval interval = res_estimate_interval(&e);
    assert_close(e.mean, 2.5);
    assert_close(e.error, 0.6454972244);
    assert_close(e.freedom, 3);
    assert_close(interval.low, 2.5 - 2.0542602567);
    assert_close(interval.high, 2.5 + 2.0542602567);
    assert_close(res_estimate_ratio(&e).high, exp(2.5 + 2.0542602567));
    /* t = 3.8729833, 3 degrees of freedom. */
    assert_close(res_estimate_p(&e), 0.0304662917);
}

/* The sample that COUNT VALUES of the runs RUN make. */
static size_t sample_of(double *values, size_t *run, size_t count)
{
    const res_runs runs = res_runs_choose(run, count);
    return res_runs_sample(&runs, values, run, count);
}

/* One run is its processes; of two one stands alone, if it is three; of more, each is a value. */
static void runs_are_what_differs(void **state)
{
    (void)state;
    double one[] = {1, 2, 3, 4};
    size_t first[] = {7, 7, 7, 7};
    assert_int_equal(sample_of(one, first, 4), 4);
    double two[] = {1, 2, 9, 3, 11, 10};
    size_t both[] = {0, 0, 1, 0, 1, 1};
    assert_int_equal(sample_of(two, both, 6), 3);
    assert_close(two[0] + two[1] + two[2], 30);
    double three[] = {1, 3, 10, 20, 30, 7};
    size_t runs[] = {0, 0, 2, 2, 2, 5};
    assert_int_equal(sample_of(three, runs, 6), 3);
    assert_close(three[0], 2);
    assert_close(three[1], 20);
    assert_close(three[2], 7);
    assert_int_equal(sample_of(three, runs, 0), 0);
}

/* Values of two runs are no sample of processes: the earlier run stands where the later one is too
 * small, and two small ones are two values. */
static void two_runs_are_never_mixed(void **state)
{
    (void)state;
    double small[] = {1, 2, 9, 3, 11};
    size_t late[] = {0, 0, 1, 0, 1};
    assert_int_equal(sample_of(small, late, 5), 3);
    assert_close(small[0] + small[1] + small[2], 6);
    double few[] = {1, 2, 9, 11};
    size_t each[] = {0, 0, 1, 1};
    const res_runs runs = res_runs_choose(each, 4);
    assert_true(runs.means && res_runs_have(&runs, 0) && res_runs_have(&runs, 1));
    assert_int_equal(res_runs_sample(&runs, few, each, 4), 2);
    assert_close(few[0], 1.5);
    assert_close(few[1], 10);
    const res_estimate e = res_estimate_of(few, 2);
    assert_true(isnan(e.error) && e.values == 2);
}

static void fewer_than_three_have_no_interval(void **state)
{
    (void)state;
    const double values[] = {1, 3};
    for (size_t count = 0; count < 3; count++) {
        const res_estimate e = res_estimate_of(values, count);
        const res_interval interval = res_estimate_interval(&e);
        assert_true(count == 0 ? isnan(interval.estimate) : interval.estimate >= 1);
        assert_true(isnan(interval.low) && isnan(interval.high));
        assert_close(res_estimate_p(&e), 1);
        assert_false(res_excludes(interval, -1e9));
    }
}

/* a: 10, 12, 14 (error^2 4/3, 2 degrees); b: 1, 2, 3, 4, 5 (error^2 1/2, 4 degrees). The
 * difference: 9, error^2 11/6, degrees (11/6)^2 / ((4/3)^2 / 2 + (1/2)^2 / 4) = 3.532847. */
static void welch_by_hand(void **state)
{
    (void)state;
    const double a[] = {10, 12, 14}, b[] = {1, 2, 3, 4, 5}, weights[] = {1, -1};
    const res_estimate both[] = {res_estimate_of(a, 3), res_estimate_of(b, 5)};
    const res_estimate less = res_estimate_sum(both, weights, 2);
    assert_close(less.mean, 9);
    assert_close(less.error, sqrt(11.0 / 6));
    assert_close(less.freedom, 3.5328467153);
    assert_int_equal(less.values, 3);
    const res_estimate lacking[] = {res_estimate_of(a, 3), res_estimate_of(b, 2)};
    const res_estimate no = res_estimate_sum(lacking, weights, 2);
    assert_close(no.mean, 10.5);
    assert_true(isnan(no.error) && isnan(res_estimate_half(&no, 0.05)));
    assert_close(res_estimate_p(&no), 1);
    assert_true(isnan(res_estimate_sum(NULL, NULL, 0).mean));
}

static void no_spread_has_a_point_for_an_interval(void **state)
{
    (void)state;
    const double same[] = {2, 2, 2}, zero[] = {0, 0, 0}, weights[] = {1, -1};
    const res_estimate e = res_estimate_of(same, 3), z = res_estimate_of(zero, 3);
    assert_close(res_estimate_interval(&e).low, 2);
    assert_true(res_estimate_p(&e) == 0 && res_estimate_p(&z) == 1);
    const res_estimate both[] = {e, e};
    const res_estimate less = res_estimate_sum(both, weights, 2);
    assert_true(less.mean == 0 && less.error == 0 && less.freedom == 2);
}

/* ---- significance ----------------------------------------------------------------- */

static void significant_means_that_the_bounds_exclude(void **state)
{
    (void)state;
    const double nan = (double)NAN;
    assert_true(res_excludes((res_interval){2, 1, 3}, 0));
    assert_true(res_excludes((res_interval){-2, -3, -1}, 0));
    assert_false(res_excludes((res_interval){2, -1, 5}, 0));
    assert_false(res_excludes((res_interval){2, 0, 5}, 0));
    assert_false(res_excludes((res_interval){2, nan, nan}, 0));
    assert_false(res_excludes((res_interval){nan, nan, nan}, 0));
}

/* ---- coverage ---------------------------------------------------------------------- */

/* How often 4 processes of a deviation of SD, and Welch's of 4 and 6, hold the truth. */
static void cover(double sd, double *one, double *two)
{
    enum { TRIALS = 4000 };
    const double weights[] = {1, -1};
    uint64_t seed = 77;
    int held = 0, held_both = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double a[4], b[6];
        for (int i = 0; i < 4; i++)
            a[i] = 0.2 + sd * fixture_normal(&seed);
        for (int i = 0; i < 6; i++)
            b[i] = 0.1 + 2 * sd * fixture_normal(&seed);
        const res_estimate both[] = {res_estimate_of(a, 4), res_estimate_of(b, 6)};
        const res_estimate less = res_estimate_sum(both, weights, 2);
        const res_interval x = res_estimate_interval(&both[0]), y = res_estimate_interval(&less);
        held += !res_excludes(x, 0.2);
        held_both += !res_excludes(y, 0.1);
    }
    *one = (double)held / TRIALS;
    *two = (double)held_both / TRIALS;
}

/* Three standard errors of the trials are 1 %; Welch's test is approximate. */
static void intervals_hold_the_truth(void **state)
{
    (void)state;
    double one, two;
    cover(0.03, &one, &two);
    assert_near(one, 0.95, 0.0105);
    assert_near(two, 0.95, 0.015);
}

/* ---- independence -------------------------------------------------------------------- */

/* An autoregressive series with PHI is worth n (1 - PHI) / (1 + PHI). */
static double worth(double phi, uint64_t *seed)
{
    enum { COUNT = 2000 };
    static double values[COUNT];
    double last = 0;
    for (int i = 0; i < COUNT; i++)
        values[i] = last = phi * last + fixture_normal(seed);
    return res_independent_samples(values, COUNT) / COUNT;
}

static void neighbours_that_are_alike_are_worth_less(void **state)
{
    (void)state;
    uint64_t seed = 9;
    const double same[] = {3, 3, 3, 3, 3, 3}, falling[] = {8, 7, 6, 5, 4, 3, 2, 1};
    const double turns[] = {1, 2, 1, 2, 1, 2, 1, 2};
    assert_near(worth(0, &seed), 1, 0.15);
    assert_near(worth(0.5, &seed), 1.0 / 3, 0.12);
    assert_near(worth(0.9, &seed), 1.0 / 19, 0.03);
    assert_true(res_independent_samples(same, 6) == 6);
    assert_true(res_independent_samples(falling, 8) < 4);
    assert_true(res_independent_samples(turns, 8) == 8);
    assert_true(res_independent_samples(NULL, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_by_hand),
        cmocka_unit_test(runs_are_what_differs),
        cmocka_unit_test(two_runs_are_never_mixed),
        cmocka_unit_test(fewer_than_three_have_no_interval),
        cmocka_unit_test(welch_by_hand),
        cmocka_unit_test(no_spread_has_a_point_for_an_interval),
        cmocka_unit_test(significant_means_that_the_bounds_exclude),
        cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(neighbours_that_are_alike_are_worth_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
