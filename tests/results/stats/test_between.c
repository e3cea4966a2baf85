/*
 * test_between.c - the latest nights against their level: by hand, and how often nights of one
 * level are taken for others. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/stats/stats.h"

/* Logs -2, 0, 2 % twice and twice: mean 0, squares 4 * (0.02)^2 over 5 degrees. */
static const double logs[] = {-0.02, 0, 0.02, -0.02, 0, 0.02};

static void make(double *values, const double *more, size_t count)
{
    for (size_t i = 0; i < 6; i++)
        values[i] = 1e6 * exp(logs[i]);
    for (size_t i = 0; i < count; i++)
        values[6 + i] = 1e6 * exp(more[i]);
}

static void the_formula_by_hand(void **state)
{
    (void)state;
    double values[8];
    const double more[] = {0.05, 0.07};
    const double s = sqrt(4 * 0.0004 / 5);
    make(values, more, 2);
    res_latest_nights two = res_latest_nights_of(values, 8, 2, 0),
                      one = res_latest_nights_of(values, 7, 1, 0);
    assert_int_equal(two.nights, 6);
    assert_near(two.deviation, s, 1e-9);
    assert_near(two.ratio.estimate, exp(0.06), 1e-9);
    /* t(0.975, 5) = 2.5706 */
    assert_near(log(two.ratio.high), 0.06 + 2.570582 * s * sqrt(1.0 / 2 + 1.0 / 6), 1e-6);
    assert_near(log(one.ratio.low), 0.05 - 2.570582 * s * sqrt(1 + 1.0 / 6), 1e-6);
    /* t = 0.06 / (s sqrt(2/3)) = 4.108 has p 0.0093 at 5 degrees. */
    assert_near(two.p, 0.0093, 1e-3);
    assert_true(two.each && one.each);
    /* t(0.995, 5) + t(0.8, 5) = 4.0321 + 0.9195 */
    assert_near(log1p(res_latest_nights_mde(&two, 2, 0.01)), 4.9516 * s * sqrt(2.0 / 3), 1e-5);
}

/* With a correlation of 0.2: g(2) = 1.2, g(6) = 1.395840, 6 * 0.8 / 1.2 - 1 = 3 degrees. */
static void the_formula_with_correlation_by_hand(void **state)
{
    (void)state;
    double values[8];
    const double more[] = {0.05, 0.07};
    const double s = sqrt(4 * 0.0004 / 5), error = s * sqrt(1.2 / 2 + 1.395840000 / 6);
    make(values, more, 2);
    const res_latest_nights two = res_latest_nights_of(values, 8, 2, 0.2);
    assert_near(two.rho, 0.2, 0);
    assert_near(two.freedom, 3, 1e-9);
    assert_near(two.deviation, s, 1e-9);
    /* t(0.975, 3) = 3.182446 */
    assert_near(log(two.ratio.high), 0.06 + 3.182446 * error, 1e-6);
    /* t(0.995, 3) + t(0.8, 3) = 5.840909 + 0.978472 */
    assert_near(log1p(res_latest_nights_mde(&two, 2, 0.01)), 6.819381 * error, 1e-5);
}

static void both_nights_must_be_out(void **state)
{
    (void)state;
    double values[8];
    const double one_bad[] = {0.30, 0.001}, carried[] = {0.30, 0.05}, across[] = {0.30, -0.05};
    make(values, one_bad, 2);
    assert_false(res_latest_nights_of(values, 8, 2, 0).each);
    make(values, carried, 2);
    assert_false(res_latest_nights_of(values, 8, 2, 0).each);
    make(values, across, 2);
    assert_false(res_latest_nights_of(values, 8, 2, 0).each);
}

static void too_few_nights_say_nothing(void **state)
{
    (void)state;
    double values[8];
    const double more[] = {0.5, 0.5};
    make(values, more, 2);
    values[2] = (double)NAN; /* a missing night */
    const res_latest_nights known = res_latest_nights_of(values, 8, 2, 0);
    assert_int_equal(known.nights, 0);
    assert_true(known.p == 1 && !known.each && isnan(known.ratio.estimate));
    assert_true(isinf(res_latest_nights_mde(&known, 2, 0.05)));
    assert_int_equal(res_latest_nights_of(values, 0, 1, 0).nights, 0);
}

/* One night under load does not hide what comes after it. */
static void a_night_under_load_is_cut(void **state)
{
    (void)state;
    double values[32];
    uint64_t seed = 4;
    for (int i = 0; i < 32; i++)
        values[i] = 1e6 * exp(0.01 * fixture_normal(&seed) + (i == 9 ? 0.85 : 0));
    const res_latest_nights known = res_latest_nights_of(values, 32, 1, 0);
    assert_true(known.deviation < 0.02);
}

/* Share of 1 % tests that two nights of the level fail, from LEVEL nights. */
static double false_share(size_t level)
{
    uint64_t seed = 11;
    double values[32];
    int wrong = 0;
    const int trials = 20000;
    for (int t = 0; t < trials; t++) {
        for (size_t i = 0; i < level + 2; i++)
            values[i] = exp(0.01 * fixture_normal(&seed));
        const res_latest_nights known = res_latest_nights_of(values, level + 2, 2, 0);
        wrong += known.p <= 0.01 && known.each;
    }
    return (double)wrong / trials;
}

static void nights_of_the_level_are_seldom_out(void **state)
{
    (void)state;
    const size_t levels[] = {RES_LEVEL_NIGHTS, 12, 30};
    for (size_t i = 0; i < 3; i++) {
        const double share = false_share(levels[i]);
        print_message("# from %zu nights: %.2f %% at 1 %%\n", levels[i], 100 * share);
        assert_true(share <= 0.015);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_formula_by_hand),
        cmocka_unit_test(the_formula_with_correlation_by_hand),
        cmocka_unit_test(both_nights_must_be_out),
        cmocka_unit_test(too_few_nights_say_nothing),
        cmocka_unit_test(a_night_under_load_is_cut),
        cmocka_unit_test(nights_of_the_level_are_seldom_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
