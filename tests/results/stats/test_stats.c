/*
 * test_stats.c - quantiles, means and medians by hand. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

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
    assert_int_equal(values[0], 50); /* unchanged */
}

static void means_and_medians_by_hand(void **state)
{
    (void)state;
    const uint64_t values[] = {2, 4, 9};
    double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2};
    assert_close(res_mean(values, 3), 5);
    assert_close(res_deviation(values, 3), sqrt(13));
    assert_close(res_median(odd, 3), 3);
    assert_close(res_median(even, 4), 2.5);
    assert_true(odd[0] <= odd[1] && odd[1] <= odd[2]);
    assert_true(isnan(res_mean(values, 0)) && isnan(res_deviation(values, 1)));
    assert_true(isnan(res_median(odd, 0)));
}

/* Up to six values it is their median; of eight the mean of four. */
static void the_middle_half_has_a_mean(void **state)
{
    (void)state;
    double one[] = {7}, two[] = {1, 4}, three[] = {100, 1, 3}, six[] = {1, 60, 2, 4, 5, 9};
    double eight[] = {1000, 1, 4, 2, 3, 7, 6, -1000};
    assert_close(res_middle_mean(one, 1), 7);
    assert_close(res_middle_mean(two, 2), 2.5);
    assert_close(res_middle_mean(three, 3), 3);
    assert_close(res_middle_mean(six, 6), 4.5);
    assert_close(res_middle_mean(eight, 8), (2 + 3 + 4 + 6) / 4.0);
    assert_true(isnan(res_middle_mean(one, 0)));
}

/* A tenth is left out at each end; of three to nine values one. */
static void the_ends_are_trimmed(void **state)
{
    (void)state;
    double one[] = {7}, two[] = {1, 4}, three[] = {100, 1, 3}, five[] = {1, 60, 2, 4, 6};
    double twenty[20];
    for (int i = 0; i < 20; i++)
        twenty[i] = i < 2 ? -1e6 : i < 18 ? 10 + i % 2 : 1e6;
    assert_close(res_trimmed_mean(one, 1), 7);
    assert_close(res_trimmed_mean(two, 2), 2.5);
    assert_close(res_trimmed_mean(three, 3), 3);
    assert_close(res_trimmed_mean(five, 5), 4);
    assert_close(res_trimmed_mean(twenty, 20), 10.5);
    assert_true(isnan(res_trimmed_mean(one, 0)));
}

/* Of values at two levels the median is one level or the other; this follows their shares. */
static void the_middle_half_follows_the_shares_of_two_levels(void **state)
{
    (void)state;
    double values[20];
    for (int high = 8; high <= 12; high++) {
        for (int i = 0; i < 20; i++)
            values[i] = i < high ? 2 : 1;
        assert_close(res_middle_mean(values, 20), 1 + (high - 5) / 10.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_match_hand_computed_ones),
        cmocka_unit_test(means_and_medians_by_hand),
        cmocka_unit_test(the_middle_half_has_a_mean),
        cmocka_unit_test(the_ends_are_trimmed),
        cmocka_unit_test(the_middle_half_follows_the_shares_of_two_levels),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
