/*
 * test_stats.c - quantiles by hand, and how often the 95 % intervals hold the
 * truth on data whose truth is known. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include <time.h>

static int begin(void **state)
{
    (void)state;
    res_store_begin();
    return 0;
}

static void assert_close(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%.17g is not %.17g", value, wanted);
}

static void quantiles_match_hand_computed_ones(void **state)
{
    (void)state;
    const uint64_t values[] = {50, 10, 40, 20, 30};
    assert_close(res_quantile(values, 5, 0), 10);
    assert_close(res_quantile(values, 5, 0.1), 14);
    assert_close(res_quantile(values, 5, 0.5), 30);
    assert_close(res_quantile(values, 5, 0.9), 46);
    assert_close(res_quantile(values, 5, 1), 50);
    assert_close(res_quantile(values, 4, 0.5), 30); /* 10 20 40 50 */
    assert_close(res_quantile(values, 4, 0.25), 17.5);
    assert_close(res_quantile(values, 1, 0.9), 50);
    assert_true(isnan(res_quantile(values, 0, 0.5)));
    assert_true(isnan(res_quantile(NULL, 0, 0.5)));
    assert_int_equal(values[0], 50); /* left alone */
}

static void few_values_give_their_range(void **state)
{
    (void)state;
    const uint64_t values[] = {30, 10, 20};
    res_interval interval = res_median_interval(values, 2);
    assert_close(interval.estimate, 20);
    assert_close(interval.low, 10);
    assert_close(interval.high, 30);
    interval = res_median_interval(values, 1);
    assert_close(interval.low, 30);
    assert_close(interval.high, 30);
    interval = res_median_interval(values, 0);
    assert_true(isnan(interval.estimate) && isnan(interval.low) && isnan(interval.high));
    interval = res_median_interval(values, 3);
    assert_close(interval.estimate, 20);
    assert_true(interval.low >= 10 && interval.high <= 30 && interval.low < interval.high);
}

static void ratios_of_few_and_of_none(void **state)
{
    (void)state;
    const uint64_t a[] = {30, 60, 60, 90}, b[] = {10, 20}, zero[] = {0, 0, 0};
    res_interval ratio = res_ratio_interval(a, 4, b, 2);
    assert_close(ratio.estimate, 4);
    assert_close(ratio.low, 1.5);
    assert_close(ratio.high, 9);
    assert_true(isnan(res_ratio_interval(a, 0, b, 2).estimate));
    assert_true(isnan(res_ratio_interval(a, 4, b, 0).estimate));
    assert_true(isnan(res_ratio_interval(a, 4, zero, 3).estimate));
}

static void same_values_give_the_same_interval(void **state)
{
    (void)state;
    uint64_t values[100], seed = 5;
    for (size_t i = 0; i < 100; i++)
        values[i] = 1000 + (uint64_t)(500 * fixture_uniform(&seed));
    res_interval first = res_median_interval(values, 100);
    res_interval again = res_median_interval(values, 100);
    assert_memory_equal(&first, &again, sizeof first);
    assert_true(first.low < first.estimate && first.estimate < first.high);
    for (size_t i = 0; i < 100; i++)
        values[i] = 77;
    first = res_median_interval(values, 100);
    assert_close(first.low, 77);
    assert_close(first.high, 77);
}

/* Times around 1 ms with normal errors, correlated by PHI from step to step;
 * their median is 1 ms. */
static void simulate(uint64_t *values, size_t count, double phi, double scale_ns, uint64_t *seed)
{
    double error = fixture_normal(seed) / sqrt(1 - phi * phi);
    for (size_t i = 0; i < count; i++) {
        values[i] = (uint64_t)llround(1e6 + scale_ns * error);
        error = phi * error + fixture_normal(seed);
    }
}

#define TRIALS 400

/* Share of TRIALS whose interval holds the truth. */
static double coverage(size_t count, double phi)
{
    uint64_t seed = 20240601, values[400];
    int held = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        simulate(values, count, phi, 1e4, &seed);
        res_interval interval = res_median_interval(values, count);
        held += interval.low <= 1e6 && 1e6 <= interval.high;
    }
    return (double)held / TRIALS;
}

static double ratio_coverage(size_t count, double phi)
{
    uint64_t seed = 20240602, a[400], b[400];
    int held = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        simulate(a, count, phi, 1e4, &seed);
        simulate(b, count, phi, 3e4, &seed);
        res_interval interval = res_ratio_interval(a, count, b, count);
        held += interval.low <= 1 && 1 <= interval.high;
    }
    return (double)held / TRIALS;
}

static void assert_covers(const char *what, double share)
{
    print_message("# %s: %.1f %% of intervals hold the truth\n", what, 100 * share);
    assert_true(share >= 0.90 && share <= 0.99);
}

static void intervals_cover_independent_steps(void **state)
{
    (void)state;
    assert_covers("median, 30 steps", coverage(30, 0));
    assert_covers("median, 200 steps", coverage(200, 0));
    assert_covers("ratio, 200 steps", ratio_coverage(200, 0));
}

static void intervals_cover_correlated_steps(void **state)
{
    (void)state;
    assert_covers("median, 400 steps, AR(1) 0.3", coverage(400, 0.3));
    assert_covers("median, 400 steps, AR(1) 0.5", coverage(400, 0.5));
    assert_covers("ratio, 400 steps, AR(1) 0.3", ratio_coverage(400, 0.3));
}

static void intervals_are_quick(void **state)
{
    (void)state;
    static uint64_t values[5000];
    uint64_t seed = 3;
    simulate(values, 5000, 0.3, 1e4, &seed);
    clock_t start = clock();
    res_interval interval = res_median_interval(values, 5000);
    double ms = 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("# 2,000 resamples of 5,000 steps: %.0f ms\n", ms);
    assert_true(interval.low < interval.high);
    /* About 30 ms; ten times and more for slow machines and sanitizers. */
    assert_true(ms < 1000);
}

static void geometric_means_count_what_they_cover(void **state)
{
    (void)state;
    const double values[] = {2, (double)NAN, 8, 0, -1, (double)INFINITY};
    size_t covered = 99;
    assert_close(res_geometric_mean(values, 6, &covered), 4);
    assert_int_equal(covered, 2);
    assert_true(isnan(res_geometric_mean(values + 3, 3, &covered)));
    assert_int_equal(covered, 0);
    assert_true(isnan(res_geometric_mean(NULL, 0, NULL)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_match_hand_computed_ones),
        cmocka_unit_test(few_values_give_their_range),
        cmocka_unit_test(ratios_of_few_and_of_none),
        cmocka_unit_test(same_values_give_the_same_interval),
        cmocka_unit_test(intervals_cover_independent_steps),
        cmocka_unit_test(intervals_cover_correlated_steps),
        cmocka_unit_test(intervals_are_quick),
        cmocka_unit_test(geometric_means_count_what_they_cover),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
