/*
 * test_compare_plan.c - the planned interim analyses: their shares of the level, what they spend by
 * Student's t, intervals at one, and values that are constant. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include <gsl/gsl_cdf.h>

#include "results/stats/stats_priv.h"
#include "tests/support/test_runtime.h"

static void plans_are_in_order_and_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < RES_PLAN_COUNT; i++) {
        const res_plan plan = (res_plan)i;
        size_t pairs = 0, next;
        bn_text name = {0};
        while ((next = res_plan_next(plan, pairs)) > 0) {
            assert_true(next > pairs);
            assert_true(res_plan_share(plan, pairs + 1) == res_plan_share(plan, next));
            bn_text_printf(&name, "%s%zu", pairs ? "," : "", next);
            pairs = next;
        }
        assert_int_equal(pairs, res_plan_last(plan));
        /* More than all take the share of the last. */
        assert_true(res_plan_share(plan, 60) == res_plan_share(plan, pairs));
        assert_string_equal(res_plan_name(plan), pairs ? name.data : "once");
        assert_int_equal(res_plan_named(res_plan_name(plan)), plan);
        bn_text_free(&name);
    }
    assert_int_equal(res_plan_named("6"), RES_PLAN_COUNT);
    assert_int_equal(res_plan_named(""), RES_PLAN_COUNT);
    assert_true(res_plan_share(RES_PLAN_ONCE, 5) == 1);
    assert_true(res_plan_share(RES_PLAN_USUAL, 13) == 0.5);
}

/* ---- what is spent ------------------------------------------------------------------------- */

/* The smallest p over its share at any analysis of PLAN. */
static double least_p(res_plan plan, const double *d)
{
    double least = 1;
    for (size_t n = res_plan_next(plan, 0); n > 0; n = res_plan_next(plan, n)) {
        double p;
        res_mean_difference(d, n, &p);
        least = fmin(least, p / res_plan_share(plan, n));
    }
    return least;
}

/* The shares of the new plans add up to 1, so no more than the level is spent, and the analyses
 * overlap too little to lose much of it. */
static void no_more_than_the_level_is_spent(void **state)
{
    (void)state;
    enum { TRIALS = 40000 };
    for (int plan = RES_PLAN_USUAL; plan <= RES_PLAN_TWELVE; plan++) {
        const double levels[] = {0.04, 0.004};
        size_t told[2] = {0};
        uint64_t seed = 20261;
        double shares = 0;
        for (size_t n = 0; (n = res_plan_next((res_plan)plan, n)) > 0;)
            shares += res_plan_share((res_plan)plan, n);
        assert_near(shares, 1, 1e-12);
        for (size_t i = 0; i < TRIALS; i++) {
            double d[RES_MOST_PAIRS];
            for (size_t k = 0; k < res_plan_last((res_plan)plan); k++)
                d[k] = fixture_normal(&seed);
            for (size_t k = 0; k < 2; k++)
                told[k] += least_p((res_plan)plan, d) <= levels[k];
        }
        for (size_t k = 0; k < 2; k++) {
            const double spent = (double)told[k] / TRIALS, error = sqrt(levels[k] / TRIALS);
            print_message("# %s, of %g: %.3f\n", res_plan_name((res_plan)plan), levels[k],
                          spent / levels[k]);
            assert_true(spent < levels[k] + 4 * error);
            assert_true(spent > 0.8 * levels[k] - 4 * error);
        }
    }
}

/* ---- comparisons at an interim analysis ---------------------------------------------------- */

static res_comparison values(const double *a, const double *b, size_t pairs, double unit,
                             res_plan plan)
{
    res_comparison c;
    bn_status st = {0};
    res_compare_options o = res_compare_defaults();
    const res_values v = {a, b, pairs, unit};
    o.plan = plan;
    assert_ok(res_compare(&v, &o, &c, &st), &st);
    return c;
}

static const double hundreds[12] = {100, 101, 99, 100, 102, 98, 100, 101, 99, 100, 101, 99};
static const double tens_more[12] = {110, 111, 109, 112, 112, 109, 110, 110, 109, 111, 110, 110};

static void an_analysis_has_its_share_of_the_level(void **state)
{
    (void)state;
    for (size_t n = 6; n <= 12; n += 6) {
        const double share = res_plan_share(RES_PLAN_USUAL, n), df = (double)n - 1;
        const res_comparison once = values(hundreds, tens_more, n, 0, RES_PLAN_ONCE);
        const res_comparison early = values(hundreds, tens_more, n, 0, RES_PLAN_USUAL);
        assert_true(once.share == 1 && early.share == share);
        assert_near(early.level, 0.04 * share, 1e-12);
        assert_near(early.ratio.estimate, once.ratio.estimate, 1e-12);
        assert_near(early.p, early.p_once / share, 1e-12);
        assert_int_equal(early.verdict, RES_SLOWER);
        const double half = gsl_cdf_tdist_Qinv(0.025 * share, df) * early.error;
        assert_near(log(early.ratio.high), log(early.ratio.estimate) + half, 1e-12);
        assert_true(early.ratio.low < once.ratio.low && early.ratio.high > once.ratio.high);
    }
}

/* ---- values -----------------------------------------------------------------------------------
 */

static void constant_values_are_judged_by_their_number(void **state)
{
    (void)state;
    const double a[12] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
    const double b[12] = {6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6};
    /* Two values by halves: all of A one and all of B the other, in 2 of 4^N cases. */
    res_comparison c = values(a, b, 6, 0, RES_PLAN_USUAL);
    assert_int_equal(c.test, RES_TEST_CONSTANT);
    assert_near(c.p, 2.0 / 4096, 1e-12);
    assert_int_equal(c.verdict, RES_SLOWER);
    assert_near(c.ratio.low, 1.2, 1e-12);
    assert_near(c.ratio.high, 1.2, 1e-12);
    c = values(b, a, 12, 0, RES_PLAN_USUAL);
    assert_near(c.p, 2 / pow(4, 12), 1e-12);
    assert_int_equal(c.verdict, RES_FASTER);
    c = values(a, b, 5, 0, RES_PLAN_USUAL);
    assert_int_equal(c.test, RES_TEST_NONE);
    assert_int_equal(c.verdict, RES_UNDECIDED);
    /* One value that differs, and the spread is judged. */
    const double almost[6] = {6, 6, 6, 6, 6, 6.1};
    assert_int_equal(values(a, almost, 6, 0, RES_PLAN_USUAL).test, RES_TEST_T);
}

/* Judges FAMILY quantities whose like sides have one of two values in each process, with interim
 * analyses. Returns whether any difference was claimed. */
#define FAMILY 6
#define MOST   24
static bool claims_of_two_values(const double *weight, uint64_t *seed)
{
    double side[FAMILY][2][MOST];
    res_comparison list[FAMILY] = {{.pairs = 0}};
    bn_status st = {0};
    res_compare_options o = res_compare_defaults();
    o.plan = RES_PLAN_USUAL;
    for (size_t i = 0; i < FAMILY; i++)
        for (size_t k = 0; k < 2 * MOST; k++)
            side[i][k % 2][k / 2] = fixture_uniform(seed) < 0.5 ? 100 : 103;
    const size_t first = res_plan_next(o.plan, 0);
    for (size_t n = first; n > 0; n = res_plan_next(o.plan, n)) {
        for (size_t i = 0; i < FAMILY; i++) {
            const res_values v = {side[i][0], side[i][1], n, 0};
            if (n == first || list[i].verdict == RES_UNDECIDED)
                assert_ok(res_compare(&v, &o, &list[i], &st), &st);
            list[i].weight = weight[i];
        }
        res_compare_family(list, FAMILY, &o);
    }
    for (size_t i = 0; i < FAMILY; i++)
        if (list[i].verdict == RES_SLOWER || list[i].verdict == RES_FASTER)
            return true;
    return false;
}

/* The worst case of RES_TEST_CONSTANT, and of t. */
static void two_values_by_chance_are_claimed_no_more_than_the_level(void **state)
{
    (void)state;
    enum { FAMILIES = 4000 };
    static const double weights[2][FAMILY] = {{1, 1, 1, 1, 1, 1}, {4, 1, 1, 4, 1, 1}};
    uint64_t seed = 8;
    for (size_t k = 0; k < 2; k++) {
        size_t claimed = 0;
        for (size_t i = 0; i < FAMILIES; i++)
            claimed += claims_of_two_values(weights[k], &seed);
        print_message("# %zu of %d families\n", claimed, FAMILIES);
        /* Two and a half standard errors. */
        assert_true((double)claimed / FAMILIES < 0.04 + 2.5 * sqrt(0.04 / FAMILIES));
    }
}

static void shares_of_a_unit_have_either_sign(void **state)
{
    (void)state;
    const double a[6] = {-1, 0, 1, -1, 0, 1}, more[6] = {2, 3, 4, 2, 3.1, 4};
    const res_comparison c = values(a, more, 6, 100, RES_PLAN_ONCE),
                         back = values(more, a, 6, 100, RES_PLAN_ONCE);
    assert_near(c.ratio.estimate, 1.03017, 1e-4);
    assert_near(back.ratio.estimate, 1 / c.ratio.estimate, 1e-12);
    assert_near(back.p, c.p, 1e-12);
    assert_int_equal(c.verdict, RES_SLOWER);
    assert_int_equal(back.verdict, RES_FASTER);
}

static void values_that_cannot_be_compared_are_refused(void **state)
{
    (void)state;
    const double good[2] = {1, 2}, zero[2] = {1, 0}, unknown[2] = {1, (double)NAN};
    res_comparison c;
    bn_status st;
    const res_compare_options o = res_compare_defaults();
    res_values v = {good, zero, 2, 0};
    assert_fails(res_compare(&v, &o, &c, &st), BN_INVALID, "2 and 0 of pair 1", &st);
    v = (res_values){unknown, good, 2, 10};
    assert_fails(res_compare(&v, &o, &c, &st), BN_INVALID, "nan and 2 of pair 1", &st);
    v = (res_values){good, good, 0, 0};
    assert_fails(res_compare(&v, &o, &c, &st), BN_INVALID, "0 pairs", &st);
    v.pairs = RES_MOST_PAIRS + 1;
    assert_fails(res_compare(&v, &o, &c, &st), BN_INVALID, "65 pairs", &st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_in_order_and_have_names),
        cmocka_unit_test(no_more_than_the_level_is_spent),
        cmocka_unit_test(an_analysis_has_its_share_of_the_level),
        cmocka_unit_test(constant_values_are_judged_by_their_number),
        cmocka_unit_test(two_values_by_chance_are_claimed_no_more_than_the_level),
        cmocka_unit_test(shares_of_a_unit_have_either_sign),
        cmocka_unit_test(values_that_cannot_be_compared_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
