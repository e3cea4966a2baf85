/*
 * test_compare.c - comparisons of two sides: p values and intervals by hand, the rules of the
 * verdict, what is refused. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/stats/stats_priv.h"
#include "tests/support/test_runtime.h"

#define MOST 70

/* ---- sides of one step a process ------------------------------------------------- */

typedef struct sides {
    uint64_t steps[2][MOST];
    const uint64_t *series[2][MOST];
    size_t counts[MOST];
    res_side a, b;
} sides;

/* Pairs whose log ratios are D, to a nanosecond in a second. */
static void make_sides(sides *s, const double *d, size_t pairs)
{
    for (size_t i = 0; i < pairs; i++) {
        s->steps[0][i] = 1000000000;
        s->steps[1][i] = (uint64_t)llround(1e9 * exp(d[i]));
        s->series[0][i] = &s->steps[0][i];
        s->series[1][i] = &s->steps[1][i];
        s->counts[i] = 1;
    }
    s->a = (res_side){s->series[0], s->counts, pairs, NULL};
    s->b = (res_side){s->series[1], s->counts, pairs, NULL};
}

static res_comparison compare(const double *d, size_t pairs)
{
    static sides s;
    res_comparison c;
    bn_status st = {0};
    const res_compare_options o = res_compare_defaults();
    make_sides(&s, d, pairs);
    assert_ok(res_compare(&s.a, &s.b, &o, &c, &st), &st);
    return c;
}

/* ---- flips of signs ---------------------------------------------------------------- */

static double flip_p(const double *d, size_t count)
{
    return res_flip_p(d, count, 7);
}

static void flips_match_hand_counted_ones(void **state)
{
    (void)state;
    /* +-6 of 8 choices. */
    assert_near(flip_p((double[]){1, 2, 3}, 3), 2.0 / 8, 1e-12);
    /* The sum is zero: nothing is less extreme. */
    assert_near(flip_p((double[]){1, 2, -3}, 3), 1, 1e-12);
    /* Sums of 13 and 15 from choices that flip nothing, or the 1. */
    assert_near(flip_p((double[]){5, 4, 3, 2, -1}, 5), 4.0 / 32, 1e-12);
    /* Five of 32 choices give 3, one gives 5, and their mirrors. */
    assert_near(flip_p((double[]){1, 1, 1, 1, -1}, 5), 12.0 / 32, 1e-12);
    /* The same in tenths, which binary numbers only come near. */
    assert_near(flip_p((double[]){0.1, 0.1, 0.1, 0.1, -0.1}, 5), 12.0 / 32, 1e-12);
    assert_near(flip_p((double[]){-4}, 1), 1, 1e-12);
    assert_near(flip_p(NULL, 0), 1, 1e-12);
}

static void drawn_flips_come_near_all_flips(void **state)
{
    (void)state;
    double d[RES_EXACT_PAIRS + 1] = {0};
    uint64_t seed = 11;
    for (size_t i = 0; i < RES_EXACT_PAIRS; i++)
        d[i] = 0.3 + fixture_normal(&seed);
    const double exact = flip_p(d, RES_EXACT_PAIRS);
    /* A zero more changes nothing but that choices are drawn. */
    const double drawn = flip_p(d, RES_EXACT_PAIRS + 1);
    assert_true(exact > 0.001 && exact < 0.5);
    assert_near(drawn, exact, 4 * sqrt(exact / 20000));
    assert_true(flip_p(d, RES_EXACT_PAIRS + 1) == drawn);
    for (size_t i = 0; i <= RES_EXACT_PAIRS; i++)
        d[i] = 1;
    assert_true(flip_p(d, RES_EXACT_PAIRS + 1) > 0 && flip_p(d, RES_EXACT_PAIRS + 1) < 1e-3);
}

static void flips_bound_the_mean_where_they_begin_to_tell(void **state)
{
    (void)state;
    double low, high;
    /* Means of subsets: 1 1.5 2 3 3.5 4 6. */
    assert_true(res_flip_bounds((double[]){1, 2, 6}, 3, 0.5, &low, &high));
    assert_near(low, 1.5, 1e-12);
    assert_near(high, 4, 1e-12);
    assert_true(res_flip_bounds((double[]){1, 2, 3}, 3, 0.25, &low, &high));
    assert_near(low, 1, 1e-12);
    assert_near(high, 3, 1e-12);
    assert_false(res_flip_bounds((double[]){1, 2, 3}, 3, 0.05, &low, &high));
    uint64_t seed = 3;
    for (int trial = 0; trial < 50; trial++) {
        double d[10], inside[10], outside[10];
        for (size_t i = 0; i < 10; i++)
            d[i] = fixture_normal(&seed);
        assert_true(res_flip_bounds(d, 10, 0.02, &low, &high));
        for (int side = 0; side < 2; side++) {
            const double bound = side ? high : low, step = side ? 1e-6 : -1e-6;
            for (size_t i = 0; i < 10; i++) {
                inside[i] = d[i] - (bound - step);
                outside[i] = d[i] - (bound + step);
            }
            assert_true(flip_p(inside, 10) > 0.02);
            assert_true(flip_p(outside, 10) <= 0.02);
        }
    }
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

static void figures_of_four_pairs_by_hand(void **state)
{
    (void)state;
    const res_comparison c = compare((double[]){0.1, 0.2, 0.3, 0.4}, 4);
    /* Standard deviation 0.1290994 / sqrt(4) * sqrt(3 / 2). */
    const double error = 0.0790569415, t = 3.1824463053, t80 = 0.9784723124;
    assert_int_equal(c.pairs, 4);
    assert_near(c.ratio.estimate, exp(0.25), 1e-8);
    assert_near(c.error, error, 1e-8);
    assert_near(c.ratio.low, exp(0.25 - t * error), 1e-7);
    assert_near(c.ratio.high, exp(0.25 + t * error), 1e-7);
    assert_near(c.p_flip, 2.0 / 16, 1e-12);
    /* Of t = sqrt(10) with three degrees of freedom. */
    assert_near(c.p_t, 0.0507819, 1e-6);
    assert_int_equal(c.test, RES_TEST_T);
    assert_near(c.critical, t * error, 1e-7);
    assert_near(c.mde, expm1((t + t80) * error), 1e-6);
    assert_near(res_power(&c, c.mde), 0.8, 1e-9);
    /* (3.1824463 * 0.1581139 / log(1.1))^2 = 27.9 */
    assert_int_equal(res_pairs_wanted(&c, 0.1), 28);
    assert_int_equal(res_pairs_wanted(&c, 100), 2);
}

static void ten_pairs_are_judged_by_flips(void **state)
{
    (void)state;
    const double d[] = {0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.10};
    const res_comparison c = compare(d, 10);
    assert_int_equal(c.test, RES_TEST_FLIP);
    assert_near(c.p, 2.0 / 1024, 1e-12);
    assert_near(c.error, 0.0302765035 / sqrt(10) * sqrt(9.0 / 8), 1e-8);
    double low, high;
    assert_true(res_flip_bounds(c.log_ratio, 10, 0.05, &low, &high));
    assert_near(c.critical, (high - low) / 2, 1e-12);
    assert_true(log(c.ratio.low) <= low && log(c.ratio.high) >= high);
    assert_int_equal(c.verdict, RES_SLOWER);
    assert_string_equal(res_verdict_name(c.verdict), "slower");
}

static void the_fewest_pairs_for_a_level(void **state)
{
    (void)state;
    assert_int_equal(res_fewest_pairs(0.05, 1), 6);  /* 2 / 64 */
    assert_int_equal(res_fewest_pairs(0.05, 6), 8);  /* 2 / 256 = 0.0078 */
    assert_int_equal(res_fewest_pairs(0.05, 10), 9); /* 2 / 512 = 0.0039 */
    assert_int_equal(res_fewest_pairs(0.125, 1), 4); /* 2 / 16, exactly */
    assert_int_equal(res_fewest_pairs(0.05, 0), 6);
}

static void orders_are_by_halves_or_by_coins(void **state)
{
    (void)state;
    size_t first = 0, unlike = 0, fifth = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        bool few[6], odd[5], many[10], again[10], interim[12];
        res_order(seed, 6, false, few);
        res_order(seed, 5, false, odd);
        res_order(seed, 10, false, many);
        res_order(seed, 10, false, again);
        res_order(seed, 12, true, interim);
        assert_memory_equal(many, again, sizeof many);
        assert_int_equal(few[0] + few[1] + few[2] + few[3] + few[4] + few[5], 3);
        assert_in_range(odd[0] + odd[1] + odd[2] + odd[3] + odd[4], 2, 3);
        /* With interim analyses the first four are balanced, and then coins decide. */
        assert_int_equal(interim[0] + interim[1] + interim[2] + interim[3], 2);
        first += few[0];
        fifth += interim[4];
        for (size_t i = 0; i < 10; i++)
            unlike += many[i];
    }
    /* 5 standard deviations: 15.8 and 50. */
    assert_in_range(first, 420, 580);
    assert_in_range(fifth, 420, 580);
    assert_in_range(unlike, 4750, 5250);
}

/* ---- verdicts -------------------------------------------------------------------------- */

static const double still[8] = {0.004, -0.003, 0.002, -0.004, 0.001, -0.002, 0.003, -0.001};

static res_verdict verdict_of(double shift, double scale)
{
    double d[8];
    for (size_t i = 0; i < 8; i++)
        d[i] = shift + scale * still[i];
    return compare(d, 8).verdict;
}

static void verdicts_follow_p_then_equivalence(void **state)
{
    (void)state;
    assert_int_equal(verdict_of(0.05, 1), RES_SLOWER);
    assert_int_equal(verdict_of(-0.05, 1), RES_FASTER);
    assert_int_equal(verdict_of(0, 1), RES_EQUIVALENT);
    assert_int_equal(verdict_of(0, 20), RES_UNDECIDED);
    /* A difference is claimed though it is within 3 %; the interval says so. */
    assert_int_equal(verdict_of(0.01, 1), RES_SLOWER);
}

/* All eight pairs lie on one side, some of them far out: flips tell that, and Student's interval
 * holds 1. */
static void values_within_the_interval_are_not_significant(void **state)
{
    (void)state;
    const double d[8] = {0.01, 0.01, 0.01, 0.01, 0.05, 0.1, 0.3, 0.4};
    const res_comparison c = compare(d, 8);
    assert_int_equal(c.pairs, 8);
    assert_int_equal(c.test, RES_TEST_FLIP);
    assert_near(c.p, 2.0 / 256, 1e-12);
    assert_true(c.ratio.low < 1 && c.ratio.high > 1);
    assert_int_equal(c.verdict, RES_UNDECIDED);
}

static void a_family_asks_for_more(void **state)
{
    (void)state;
    res_comparison list[12];
    const res_compare_options o = res_compare_defaults();
    const double d[6] = {0.03, 0.06, 0.03, 0.09, 0.06, 0.03};
    list[0] = compare(d, 6);
    assert_int_equal(list[0].test, RES_TEST_FLIP);
    assert_int_equal(list[0].verdict, RES_SLOWER);
    const double alone = list[0].mde;
    for (size_t i = 1; i < 12; i++)
        list[i] = compare(still, 8);
    res_compare_family(list, 12, &o);
    /* Flips of six pairs cannot reach 0.05 / 12; t of 4.8 does not either. */
    assert_int_equal(list[0].test, RES_TEST_T);
    assert_near(list[0].level, 0.05 / 12, 1e-12);
    assert_near(list[0].p_holm, 12 * list[0].p_t, 1e-12);
    assert_int_equal(list[0].verdict, RES_UNDECIDED);
    assert_true(list[0].mde > alone);
    assert_int_equal(list[1].verdict, RES_EQUIVALENT);
    /* Four pairs can claim something alone, and nothing in such a family. */
    list[2] = compare((double[]){0.2, 0.2, 0.2, 0.200001}, 4);
    assert_int_equal(list[2].verdict, RES_SLOWER);
    res_compare_family(list, 12, &o);
    assert_int_equal(list[2].test, RES_TEST_NONE);
    assert_int_equal(list[2].verdict, RES_UNDECIDED);
    assert_true(isinf(list[2].mde) && res_power(&list[2], 1) == 0);
    res_compare_family(NULL, 0, &o);
}

/* A comparison of four times the weight is judged as in a family of (4 + 11) / 4. */
static void weights_share_the_level(void **state)
{
    (void)state;
    res_comparison list[12];
    const res_compare_options o = res_compare_defaults();
    const double d[8] = {0.03, 0.06, 0.03, 0.09, 0.06, 0.03, 0.04, 0.05};
    for (size_t i = 0; i < 12; i++)
        list[i] = compare(i ? still : d, 8);
    res_compare_family(list, 12, &o);
    const double alike = list[0].mde;
    list[0].weight = 4;
    res_compare_family(list, 12, &o);
    assert_near(list[0].family, 15.0 / 4, 1e-12);
    assert_near(list[0].level, 0.05 * 4 / 15, 1e-12);
    assert_near(list[1].level, 0.05 / 15, 1e-12);
    assert_near(list[0].p_holm, 15.0 / 4 * list[0].p, 1e-12);
    assert_true(list[0].mde < alike);
}

static void equivalence_needs_a_narrow_interval(void **state)
{
    (void)state;
    /* Two one-sided tests at 5 % are the 90 % interval within +-3 %: its half is
     * 1.894579 standard errors of eight pairs. */
    double d[8];
    const double sd = 0.00292770021884, limit = log1p(0.03) / (1.8945786 * sd * sqrt(7.0 / 48));
    for (int wide = 0; wide < 2; wide++) {
        for (size_t i = 0; i < 8; i++)
            d[i] = still[i] * limit * (wide ? 1.01 : 0.99);
        const res_comparison c = compare(d, 8);
        assert_near(c.error, limit * (wide ? 1.01 : 0.99) * sd * sqrt(7.0 / 48), 1e-8);
        assert_int_equal(c.verdict, wide ? RES_UNDECIDED : RES_EQUIVALENT);
    }
}

static void a_disturbed_pair_is_left_out(void **state)
{
    (void)state;
    double d[10] = {0.021, 0.019, 0.02, 0.7, 0.018, 0.022, 0.023, 0.017, 0.0205, 0.0195};
    res_comparison c = compare(d, 10);
    assert_int_equal(c.disturbed, 1);
    assert_int_equal(c.pairs, 9);
    assert_near(c.ratio.estimate, exp(0.02), 1e-8);
    assert_int_equal(c.verdict, RES_SLOWER);
    /* Three of ten are no exceptions. */
    d[0] = d[1] = -0.7;
    c = compare(d, 10);
    assert_int_equal(c.disturbed, 0);
    assert_int_equal(c.verdict, RES_UNDECIDED);
    /* Of five, nobody can say. */
    c = compare(d + 3, 5);
    assert_int_equal(c.disturbed, 0);
}

/* ---- what is refused, and what says little ---------------------------------------------- */

static void refuses(const sides *s, const char *text)
{
    res_comparison c;
    bn_status st;
    const res_compare_options o = res_compare_defaults();
    assert_fails(res_compare(&s->a, &s->b, &o, &c, &st), BN_INVALID, text, &st);
}

static void bad_sides_are_refused(void **state)
{
    (void)state;
    static sides s;
    const double d[MOST] = {0};
    make_sides(&s, d, 0);
    refuses(&s, "side A has no processes");
    make_sides(&s, d, 4);
    s.b.processes = 3;
    refuses(&s, "side A has 4 processes, side B 3");
    make_sides(&s, d, RES_MOST_PAIRS + 1);
    refuses(&s, "65 processes a side");
    make_sides(&s, d, 4);
    s.counts[2] = 0;
    refuses(&s, "process 2 of side A has no steps");
    make_sides(&s, d, 4);
    s.steps[1][1] = 0;
    refuses(&s, "step 0 of process 1 of side B took 0 ns");
    make_sides(&s, d, 4);
    res_comparison c;
    bn_status st;
    res_compare_options o = res_compare_defaults();
    o.level = 0;
    assert_fails(res_compare(&s.a, &s.b, &o, &c, &st), BN_INVALID, "level 0", &st);
    o = res_compare_defaults();
    o.delta = (double)NAN;
    assert_fails(res_compare(&s.a, &s.b, &o, &c, &st), BN_INVALID, "delta nan", &st);
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

static void a_clock_without_spread_is_taken_at_its_word(void **state)
{
    (void)state;
    double d[8] = {0};
    res_comparison c = compare(d, 8);
    assert_near(c.error, 0, 0);
    assert_int_equal(c.verdict, RES_EQUIVALENT);
    /* Six alike are no reason to leave out the others. */
    d[6] = d[7] = 0.01;
    assert_int_equal(compare(d, 8).disturbed, 0);
    for (size_t i = 0; i < 8; i++)
        d[i] = 0.1;
    c = compare(d, 8);
    assert_int_equal(c.verdict, RES_SLOWER);
    assert_near(c.p, 2.0 / 256, 1e-12);
}

static void steps_put_a_floor_under_the_error(void **state)
{
    (void)state;
    /* Four pairs of one and the same noisy process: pairs agree to the last bit, and
     * yet the medians are not known that well. */
    uint64_t noisy[50], seed = 5;
    const uint64_t *series[4];
    size_t counts[4];
    for (size_t i = 0; i < 50; i++)
        noisy[i] = (uint64_t)(1e6 * exp(0.1 * fixture_normal(&seed)));
    for (size_t i = 0; i < 4; i++) {
        series[i] = noisy;
        counts[i] = 50;
    }
    const res_side side = {series, counts, 4, NULL};
    const res_compare_options o = res_compare_defaults();
    res_comparison c;
    bn_status st = {0};
    assert_ok(res_compare(&side, &side, &o, &c, &st), &st);
    /* A median's error is 1.25 * 0.1 / sqrt(50); of the mean of four differences,
     * times sqrt(2 / 4). */
    assert_true(c.error > 0.5 * 0.0125 && c.error < 2 * 0.0125);
    assert_true(c.bootstrap.low < 1 && c.bootstrap.high > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flips_match_hand_counted_ones),
        cmocka_unit_test(drawn_flips_come_near_all_flips),
        cmocka_unit_test(flips_bound_the_mean_where_they_begin_to_tell),
        cmocka_unit_test(holm_adjusts_step_by_step),
        cmocka_unit_test(figures_of_four_pairs_by_hand),
        cmocka_unit_test(ten_pairs_are_judged_by_flips),
        cmocka_unit_test(the_fewest_pairs_for_a_level),
        cmocka_unit_test(orders_are_by_halves_or_by_coins),
        cmocka_unit_test(verdicts_follow_p_then_equivalence),
        cmocka_unit_test(values_within_the_interval_are_not_significant),
        cmocka_unit_test(a_family_asks_for_more),
        cmocka_unit_test(weights_share_the_level),
        cmocka_unit_test(equivalence_needs_a_narrow_interval),
        cmocka_unit_test(a_disturbed_pair_is_left_out),
        cmocka_unit_test(bad_sides_are_refused),
        cmocka_unit_test(few_pairs_say_nothing),
        cmocka_unit_test(a_clock_without_spread_is_taken_at_its_word),
        cmocka_unit_test(steps_put_a_floor_under_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
