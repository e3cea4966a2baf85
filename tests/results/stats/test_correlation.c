/*
 * test_correlation.c - the lag-1 correlation of nights and what their number is worth, by hand and
 * of series whose correlation is known. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/stats/stats.h"

static const double logs[16] = {0.010,  0.013,  0.002,  -0.004, 0.001, 0.012,  0.018,  0.009,
                                -0.003, -0.011, -0.006, 0.004,  0.007, -0.002, -0.009, 0.003};

/* D_3 / D_1 = 3.150166, so that r = 1.049247; (16 r + 30 * 0.3) / 46 + 0.5 / sqrt(46). */
static void the_estimate_by_hand(void **state)
{
    (void)state;
    double x[16];
    assert_near(res_nights_correlation(logs, 16), 0.634328558, 1e-8);
    /* A step of 30 % leaves one of the lag-1 differences out and three of the others: 2.427081. */
    for (size_t i = 0; i < 16; i++)
        x[i] = logs[i] + (i >= 8 ? 0.3 : 0);
    assert_near(res_nights_correlation(x, 16), 0.545902414, 1e-8);
}

static void few_and_equal_nights(void **state)
{
    (void)state;
    double x[40] = {0};
    assert_near(res_nights_correlation(logs, 11), 0.3, 0);
    assert_near(res_nights_correlation(x, 0), 0.3, 0);
    /* They never differ: r is 0. 9 / 70 + 0.5 / sqrt(70). */
    assert_near(res_nights_correlation(x, 40), 0.188332, 1e-6);
}

static void nights_are_worth_fewer(void **state)
{
    (void)state;
    assert_near(res_nights_factor(0, 9), 1, 1e-12);
    assert_near(res_nights_factor(0.5, 1), 1, 1e-12);
    assert_near(res_nights_factor(0.5, 2), 1.5, 1e-12);
    assert_near(res_nights_factor(0.5, 4), 2.0625, 1e-12);
    assert_near(res_nights_factor(0.3, 7), 1.682254, 1e-6);
    assert_near(res_nights_worth(0.6, 40), 10, 1e-12);
    assert_near(res_nights_freedom(0.6, 40, 2), 8, 1e-12);
    assert_near(res_nights_freedom(0.6, 6, 2), 1, 0);
}

/* The mean over series of 365 nights: half a standard error, 0.025, is added on purpose. */
static void the_estimate_is_near_the_truth(void **state)
{
    (void)state;
    static const double truth[] = {0, 0.2, 0.4, 0.6};
    uint64_t seed = 21;
    for (size_t k = 0; k < 4; k++) {
        double sum = 0, x[365];
        for (int trial = 0; trial < 100; trial++) {
            double night = fixture_normal(&seed);
            for (size_t i = 0; i < 365; i++) {
                night = truth[k] * night + sqrt(1 - truth[k] * truth[k]) * fixture_normal(&seed);
                x[i] = 0.01 * night + (i >= 200 ? 0.05 : 0);
            }
            sum += res_nights_correlation(x, 365);
        }
        print_message("# %.1f: %.3f\n", truth[k], sum / 100);
        assert_true(sum / 100 > truth[k] && sum / 100 < truth[k] + 0.08);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_estimate_by_hand),
        cmocka_unit_test(few_and_equal_nights),
        cmocka_unit_test(nights_are_worth_fewer),
        cmocka_unit_test(the_estimate_is_near_the_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
