/*
 * test_compare.c - comparisons of two sides: p values and intervals by hand, the rules of the
 * verdict, what is refused. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include <gsl/gsl_cdf.h>

#include "results/stats/stats_priv.h"
#include "tests/support/test_runtime.h"

/* ---- sides ------------------------------------------------------------------------ */

/* Compares pairs whose log ratios are D. */
static res_comparison compare_sides(const double *d, size_t pairs, bool of_a)
{
    double a[RES_MOST_PAIRS], b[RES_MOST_PAIRS];
    res_comparison c;
    bn_status st = {0};
    const res_compare_options o = res_compare_defaults();
    const res_values v = {a, b, pairs, 0};
    for (size_t i = 0; i < pairs; i++) {
        const double still_side = 1e9 + (double)i;
        a[i] = of_a ? still_side * exp(-d[i]) : still_side;
        b[i] = of_a ? still_side : still_side * exp(d[i]);
    }
    assert_ok(res_compare(&v, &o, &c, &st), &st);
    return c;
}

/* Log ratios D, of which B makes all; or A does. */
static res_comparison compare(const double *d, size_t pairs)
{
    return compare_sides(d, pairs, false);
}

static res_comparison compare_by_a(const double *d, size_t pairs)
{
    return compare_sides(d, pairs, true);
}

/* ---- figures -------------------------------------------------------------------------- */

static void holm_adjusts_step_by_step(void **state)
{
    (void)state;
    const double p[] = {0.01, 0.04, 0.03, 0.005}, wanted[] = {0.03, 0.06, 0.06, 0.02};
    double adjusted[4];
    res_holm(p, NULL, 4, adjusted);
    for (size_t i = 0; i < 4; i++)
        assert_near(adjusted[i], wanted[i], 1e-12);
    const double large[] = {0.6, 0.7};
    res_holm(large, NULL, 2, adjusted);
    assert_near(adjusted[0], 1, 1e-12);
    assert_near(adjusted[1], 1, 1e-12);
    res_holm(NULL, NULL, 0, NULL);
    /* By hand: p over weights is 0.01, 0.005, 0.03, 0.0025; the weights left are 8, 4, 3, 1. */
    const double weight[] = {1, 1, 2, 4}, each[] = {0.01, 0.005, 0.06, 0.01};
    const double weighted[] = {0.03, 0.02, 0.06, 0.02};
    res_holm(each, weight, 4, adjusted);
    for (size_t i = 0; i < 4; i++)
        assert_near(adjusted[i], weighted[i], 1e-12);
}

static void figures_of_six_pairs_by_hand(void **state)
{
    (void)state;
    const res_comparison c = compare((double[]){0.1, 0.2, 0.3, 0.4, 0.5, 0.75}, 6);
    /* Of a sum of 2.25 and squares of 1.1125: sqrt((1.1125 - 6 * 0.375^2) / 5) / sqrt(6). */
    const double error = 0.0946484725, t = 2.5705818356, t80 = 0.9195437803;
    const double t4 = gsl_cdf_tdist_Qinv(0.02, 5);
    assert_int_equal(c.pairs, 6);
    assert_near(c.ratio.estimate, exp(0.375), 1e-8);
    assert_near(c.median, exp(0.35), 1e-8);
    assert_near(c.error, error, 1e-8);
    assert_near(c.ratio.low, exp(0.375 - t * error), 1e-7);
    assert_near(c.ratio.high, exp(0.375 + t * error), 1e-7);
    assert_near(c.p_once, 2 * gsl_cdf_tdist_Q(0.375 / error, 5), 1e-9);
    assert_int_equal(c.test, RES_TEST_T);
    assert_near(c.p, c.p_once, 0);
    assert_near(c.critical, t4 * error, 1e-7);
    assert_near(c.mde, expm1((t4 + t80) * error), 1e-6);
    assert_near(res_power(&c, c.mde), 0.8, 1e-9);
    /* (2.5705818 * 0.2318405 / log(1.1))^2 = 39.1 */
    assert_int_equal(res_pairs_wanted(&c, 0.1), 40);
    assert_int_equal(res_pairs_wanted(&c, 100), 2);
}

static void orders_are_by_coins(void **state)
{
    (void)state;
    size_t first = 0, alike = 0, all = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        bool many[10], again[10], longer[24];
        res_order(seed, 10, many);
        res_order(seed, 10, again);
        res_order(seed, 24, longer);
        assert_memory_equal(many, again, sizeof many);
        assert_memory_equal(many, longer, sizeof many);
        first += many[0];
        alike += many[0] == many[1];
        for (size_t i = 0; i < 10; i++)
            all += many[i];
    }
    /* 5 standard deviations: 15.8 and 50. */
    assert_in_range(first, 420, 580);
    assert_in_range(alike, 420, 580);
    assert_in_range(all, 4750, 5250);
}

/* ---- verdicts -------------------------------------------------------------------------- */

static const double still[12] = {0.004, -0.003, 0.002,  -0.004,  0.001,  -0.002,
                                 0.003, -0.001, 0.0025, -0.0025, 0.0015, -0.0015};

static res_verdict verdict_of(double shift, double scale, size_t pairs)
{
    double d[12];
    for (size_t i = 0; i < pairs; i++)
        d[i] = shift + scale * still[i];
    return compare(d, pairs).verdict;
}

static void verdicts_follow_p_then_equivalence(void **state)
{
    (void)state;
    assert_int_equal(verdict_of(0.05, 1, 12), RES_SLOWER);
    assert_int_equal(verdict_of(-0.05, 1, 12), RES_FASTER);
    assert_int_equal(verdict_of(0, 1, 12), RES_EQUIVALENT);
    assert_int_equal(verdict_of(0, 30, 12), RES_UNDECIDED);
    /* A difference is claimed though it is within 3 %; the interval says so. */
    assert_int_equal(verdict_of(0.01, 1, 12), RES_SLOWER);
    /* Fewer than six claim nothing, fewer than twelve are not equivalent. */
    assert_int_equal(verdict_of(0.05, 1, 5), RES_UNDECIDED);
    assert_int_equal(verdict_of(0.05, 1, 6), RES_SLOWER);
    assert_int_equal(verdict_of(0, 1, 11), RES_UNDECIDED);
}

/* All pairs are in the mean, and whatever it is, a slow process is told. */
static void nothing_is_left_out(void **state)
{
    (void)state;
    double d[12], sum = 0;
    for (size_t i = 0; i < 12; i++)
        sum += d[i] = still[i] + (i % 4 == 1 ? 0.4 : 0);
    res_comparison c = compare(d, 12);
    assert_int_equal(c.pairs, 12);
    assert_near(c.ratio.estimate, exp(sum / 12), 1e-9);
    assert_int_equal(c.slow[1].count, 3);
    assert_int_equal(c.slow[0].count, 0);
    assert_int_equal(c.verdict, RES_UNEVEN);
    /* One slow process, and a mean that is within 3 % for certain, are not equivalent. */
    for (size_t i = 0; i < 12; i++)
        d[i] = still[i] / 4 + (i == 5 ? 0.11 : 0);
    c = compare(d, 12);
    assert_true(c.ratio.high < 1.03 && c.ratio.low > 1 / 1.03);
    assert_int_equal(c.slow[1].count, 1);
    assert_int_equal(c.verdict, RES_UNEVEN);
    assert_near(c.p_equivalent, 1, 0);
    /* One fast process of B, or a slow one of A. */
    d[5] = -0.11;
    c = compare(d, 12);
    assert_int_equal(c.fast[1].count, 1);
    assert_int_equal(c.verdict, RES_UNEVEN);
    assert_near(c.p_equivalent, 1, 0);
    c = compare_by_a(d, 12);
    assert_int_equal(c.slow[0].count, 1);
    assert_int_equal(c.verdict, RES_UNEVEN);
    /* Where the mean decides, it does. */
    for (size_t i = 0; i < 12; i++)
        d[i] = 0.3 + still[i] + (i == 5 ? 0.4 : 0);
    c = compare(d, 12);
    assert_int_equal(c.slow[1].count, 1);
    assert_int_equal(c.verdict, RES_SLOWER);
    assert_string_equal(res_verdict_name(RES_UNEVEN), "uneven");
}

static void a_family_asks_for_more(void **state)
{
    (void)state;
    res_comparison list[12];
    const res_compare_options o = res_compare_defaults();
    const double d[6] = {0.03, 0.06, 0.03, 0.09, 0.06, 0.03};
    list[0] = compare(d, 6);
    assert_int_equal(list[0].verdict, RES_SLOWER);
    const double alone = list[0].mde;
    for (size_t i = 1; i < 12; i++)
        list[i] = compare(still, 12);
    res_compare_family(list, 12, &o);
    assert_near(list[0].level, 0.04 / 12, 1e-12);
    assert_near(list[0].p_holm, 12 * list[0].p_once, 1e-12);
    assert_int_equal(list[0].verdict, RES_UNDECIDED);
    assert_true(list[0].mde > alone);
    assert_int_equal(list[1].verdict, RES_EQUIVALENT);
    res_compare_family(NULL, 0, &o);
}

/* Members of which nothing is known take their part of the level, and claim nothing. One of the
 * weight of many is as many of them. */
static void what_is_absent_keeps_its_part(void **state)
{
    (void)state;
    res_comparison one[3], many[7];
    const res_compare_options o = res_compare_defaults();
    const double d[6] = {0.03, 0.06, 0.03, 0.09, 0.06, 0.03};
    one[0] = many[0] = compare(d, 6);
    one[1] = many[1] = compare(still, 12);
    one[2] = res_compare_nothing(5);
    for (size_t i = 2; i < 7; i++)
        many[i] = res_compare_nothing(1);
    res_compare_family(one, 3, &o);
    res_compare_family(many, 7, &o);
    for (size_t i = 0; i < 2; i++) {
        assert_near(one[i].p_holm, many[i].p_holm, 1e-15);
        assert_near(one[i].p_equivalent_holm, many[i].p_equivalent_holm, 1e-15);
        assert_near(one[i].mde, many[i].mde, 1e-12);
        assert_int_equal(one[i].verdict, many[i].verdict);
    }
    assert_near(one[0].p_holm, 7 * one[0].p_once, 1e-12);
    assert_int_equal(one[2].verdict, RES_UNDECIDED);
    assert_true(isinf(one[2].mde) && res_power(&one[2], 1) == 0);
}

/* A comparison of four times the weight is judged as in a family of (4 + 11) / 4. */
static void weights_share_the_level(void **state)
{
    (void)state;
    res_comparison list[12];
    const res_compare_options o = res_compare_defaults();
    const double d[8] = {0.03, 0.06, 0.03, 0.09, 0.06, 0.03, 0.04, 0.05};
    for (size_t i = 0; i < 12; i++)
        list[i] = i ? compare(still, 12) : compare(d, 8);
    res_compare_family(list, 12, &o);
    const double alike = list[0].mde;
    list[0].weight = 4;
    res_compare_family(list, 12, &o);
    assert_near(list[0].family, 15.0 / 4, 1e-12);
    assert_near(list[0].level, 0.04 * 4 / 15, 1e-12);
    assert_near(list[1].level, 0.04 / 15, 1e-12);
    assert_near(list[0].p_holm, 15.0 / 4 * list[0].p, 1e-12);
    assert_true(list[0].mde < alike);
}

static void equivalence_needs_a_narrow_interval(void **state)
{
    (void)state;
    /* Two one-sided tests at 4 % are the 92 % interval within +-3 %. */
    double d[12], squares = 0;
    for (size_t i = 0; i < 12; i++)
        squares += still[i] * still[i];
    const double error = sqrt(squares / 11 / 12);
    const double limit = log1p(0.03) / gsl_cdf_tdist_Qinv(0.04, 11) / error;
    for (int wide = 0; wide < 2; wide++) {
        for (size_t i = 0; i < 12; i++)
            d[i] = still[i] * limit * (wide ? 1.01 : 0.99);
        const res_comparison c = compare(d, 12);
        assert_near(c.error, limit * (wide ? 1.01 : 0.99) * error, 1e-9);
        assert_int_equal(c.verdict, wide ? RES_UNDECIDED : RES_EQUIVALENT);
    }
}

/* ---- what is refused, and what says little ---------------------------------------------- */

static void bad_options_are_refused(void **state)
{
    (void)state;
    const double value[2] = {1, 2};
    const res_values v = {value, value, 2, 0};
    res_comparison c;
    bn_status st;
    res_compare_options o = res_compare_defaults();
    o.level = 0;
    assert_fails(res_compare(&v, &o, &c, &st), BN_INVALID, "level 0", &st);
    o = res_compare_defaults();
    o.delta = (double)NAN;
    assert_fails(res_compare(&v, &o, &c, &st), BN_INVALID, "delta nan", &st);
}

static void few_pairs_say_nothing(void **state)
{
    (void)state;
    for (size_t pairs = 1; pairs <= 2; pairs++) {
        const res_comparison c = compare((double[]){0.5, 0.5}, pairs);
        assert_near(c.ratio.estimate, exp(0.5), 1e-8);
        assert_true(isnan(c.ratio.low) && isnan(c.ratio.high) && isnan(c.error));
        assert_int_equal(c.test, RES_TEST_NONE);
        assert_near(c.p, 1, 0);
        assert_true(isinf(c.mde));
        assert_int_equal(c.verdict, RES_UNDECIDED);
        assert_int_equal(res_pairs_wanted(&c, 0.01), 0);
    }
    /* Three have an interval; that they agree may be chance. */
    const res_comparison c = compare((double[]){0.5, 0.5, 0.501}, 3);
    assert_true(c.ratio.low > 1.6 && c.ratio.high < 1.7);
    assert_int_equal(c.test, RES_TEST_NONE);
    assert_int_equal(c.verdict, RES_UNDECIDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holm_adjusts_step_by_step),
        cmocka_unit_test(figures_of_six_pairs_by_hand),
        cmocka_unit_test(orders_are_by_coins),
        cmocka_unit_test(verdicts_follow_p_then_equivalence),
        cmocka_unit_test(nothing_is_left_out),
        cmocka_unit_test(a_family_asks_for_more),
        cmocka_unit_test(what_is_absent_keeps_its_part),
        cmocka_unit_test(weights_share_the_level),
        cmocka_unit_test(equivalence_needs_a_narrow_interval),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(few_pairs_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
