/*
 * test_interim.c - the planned interim analyses: their shares of the level against the recursion
 * that they come from, the level that they spend by Student's t, intervals at one, and values that
 * are constant. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

#include "results/stats/stats_priv.h"
#include "tests/support/test_runtime.h"

typedef struct plan {
    res_interim interim;
    double level; /* at which its shares are computed */
    size_t count, pairs[6];
} plan;
static const plan plans[] = {{RES_INTERIM_USUAL, 0.05, 6, {4, 5, 6, 8, 10, 12}},
                             {RES_INTERIM_SHORT, 0.01, 6, {4, 6, 8, 12, 18, 24}}};
#define PLANS (sizeof plans / sizeof *plans)

static void interim_analyses_are_in_order(void **state)
{
    (void)state;
    for (size_t k = 0; k < PLANS; k++) {
        const plan *p = &plans[k];
        size_t pairs = 0;
        for (size_t i = 0; i < p->count; i++) {
            pairs = res_next_interim(p->interim, pairs);
            assert_int_equal(pairs, p->pairs[i]);
        }
        assert_int_equal(pairs, p->interim);
        assert_int_equal(res_next_interim(p->interim, pairs), 0);
        assert_int_equal(res_next_interim(p->interim, 7), 8);
        /* An end between two analyses takes the share of the later one; more than all, the last. */
        assert_true(res_interim_share(p->interim, 7) == res_interim_share(p->interim, 8));
        assert_true(res_interim_share(p->interim, 1) == res_interim_share(p->interim, 4));
        assert_true(res_interim_share(p->interim, 60) == res_interim_share(p->interim, p->interim));
    }
    assert_int_equal(res_next_interim(RES_INTERIM_NONE, 0), 0);
    assert_true(res_interim_share(RES_INTERIM_NONE, 5) == 1);
}

/* ---- where the shares come from ---------------------------------------------------------- */

#define GRID 401

/* The sum of N normal values that has not left its bounds at an analysis: its density on a grid
 * between them. */
typedef struct walk {
    double bound, step, density[GRID];
} walk;

static double simpson(size_t i)
{
    return (i == 0 || i == GRID - 1 ? 1 : i % 2 ? 4 : 2) / 3.0;
}

/* How often the walk is beyond +-BOUND after MORE values. */
static double leaves(const walk *w, double more, double bound)
{
    double sum = 0;
    for (size_t i = 0; i < GRID; i++) {
        const double at = -w->bound + (double)i * w->step;
        sum += simpson(i) * w->step * w->density[i] *
               (gsl_cdf_ugaussian_Q((bound - at) / sqrt(more)) +
                gsl_cdf_ugaussian_Q((bound + at) / sqrt(more)));
    }
    return sum;
}

static void go_on(walk *w, double more, double bound)
{
    walk next = {.bound = bound, .step = 2 * bound / (GRID - 1)};
    for (size_t i = 0; i < GRID; i++)
        for (size_t k = 0; k < GRID; k++)
            next.density[i] += simpson(k) * w->step * w->density[k] *
                               gsl_ran_gaussian_pdf((-bound + (double)i * next.step) -
                                                        (-w->bound + (double)k * w->step),
                                                    sqrt(more));
    *w = next;
}

/* The bound at which the walk leaves with the probability P after MORE values. */
static double bound_of(const walk *w, double more, double p)
{
    double low = 0, high = 60;
    for (int i = 0; i < 50; i++) {
        const double middle = (low + high) / 2;
        if (leaves(w, more, middle) > p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void check_shares(const plan *p)
{
    const double level = p->level;
    walk w = {0};
    double spent = 0;
    for (size_t i = 0; i < p->count; i++) {
        const double n = (double)p->pairs[i], more = i ? n - (double)p->pairs[i - 1] : n;
        const double share = level * pow(n / (double)p->interim, 1.5) - spent;
        double bound = sqrt(n) * gsl_cdf_ugaussian_Qinv(share / 2);
        if (i > 0) {
            bound = bound_of(&w, more, share);
            go_on(&w, more, bound);
        } else {
            w = (walk){.bound = bound, .step = 2 * bound / (GRID - 1)};
            for (size_t k = 0; k < GRID; k++)
                w.density[k] = gsl_ran_gaussian_pdf(-bound + (double)k * w.step, sqrt(n));
        }
        spent += share;
        assert_near(res_interim_share(p->interim, p->pairs[i]),
                    2 * gsl_cdf_ugaussian_Q(bound / sqrt(n)) / level, 0.001);
    }
    assert_near(spent, level, 1e-12);
}

static void shares_are_those_of_the_spending_function(void **state)
{
    (void)state;
    for (size_t k = 0; k < PLANS; k++)
        check_shares(&plans[k]);
}

/* ---- what is spent ------------------------------------------------------------------------- */

/* Of N normal values, by Student's t on the error of comparisons. */
static double p_of(const double *d, size_t n)
{
    double p;
    res_mean_difference(d, n, &p);
    return p;
}

/* The smallest p over its share at any analysis. */
static double least_p(const plan *p, const double *d)
{
    double least = 1;
    for (size_t i = 0; i < p->count; i++)
        least = fmin(least, p_of(d, p->pairs[i]) / res_interim_share(p->interim, p->pairs[i]));
    return least;
}

static void check_spent(const plan *given)
{
    const double levels[] = {0.05, 0.01, 0.002};
    enum { TRIALS = 60000 };
    size_t told[3] = {0};
    uint64_t seed = 20261;
    for (size_t i = 0; i < TRIALS; i++) {
        double d[RES_MOST_PAIRS];
        for (size_t k = 0; k < given->interim; k++)
            d[k] = fixture_normal(&seed);
        const double p = least_p(given, d);
        for (size_t k = 0; k < 3; k++)
            told[k] += p <= levels[k];
    }
    for (size_t k = 0; k < 3; k++) {
        const double spent = (double)told[k] / TRIALS, error = sqrt(levels[k] / TRIALS);
        print_message("# to %d, of %g: %.3f\n", (int)given->interim, levels[k], spent / levels[k]);
        /* No more, and not much less: four standard errors. */
        assert_true(spent < levels[k] + 4 * error);
        assert_true(spent > 0.8 * levels[k] - 4 * error);
    }
}

static void no_more_than_the_level_is_spent(void **state)
{
    (void)state;
    for (size_t k = 0; k < PLANS; k++)
        check_spent(&plans[k]);
}

/* ---- comparisons at an interim analysis ---------------------------------------------------- */

static res_comparison values(const double *a, const double *b, size_t pairs, double unit,
                             res_interim interim)
{
    res_comparison c;
    bn_status st = {0};
    res_compare_options o = res_compare_defaults();
    const res_values v = {a, b, pairs, unit};
    o.interim = interim;
    assert_ok(res_compare_values(&v, &o, &c, &st), &st);
    return c;
}

static const double hundreds[12] = {100, 101, 99, 100, 102, 98, 100, 101, 99, 100, 101, 99};
static const double tens_more[12] = {110, 111, 109, 112, 112, 109, 110, 110, 109, 111, 110, 110};

static void a_look_has_its_share_of_the_level(void **state)
{
    (void)state;
    for (size_t i = 0; i < plans[0].count; i++) {
        const size_t n = plans[0].pairs[i];
        const double share = res_interim_share(RES_INTERIM_USUAL, n), df = (double)n - 1;
        const res_comparison once = values(hundreds, tens_more, n, 0, RES_INTERIM_NONE);
        const res_comparison early = values(hundreds, tens_more, n, 0, RES_INTERIM_USUAL);
        assert_true(once.share == 1 && early.share == share);
        assert_near(early.level, 0.05 * share, 1e-12);
        assert_near(early.ratio.estimate, once.ratio.estimate, 1e-12);
        assert_near(early.p,
                    fmin((early.test == RES_TEST_FLIP ? early.p_flip : early.p_t) / share, 1),
                    1e-12);
        assert_int_equal(early.verdict, RES_SLOWER);
        const double half = gsl_cdf_tdist_Qinv(0.025 * share, df) * early.error;
        assert_true(log(early.ratio.high) >= log(early.ratio.estimate) + half - 1e-12);
        assert_true(early.ratio.low < once.ratio.low && early.ratio.high > once.ratio.high);
    }
    /* Four pairs cannot flip signs at 0.05 * 0.192, twelve can. */
    assert_int_equal(values(hundreds, tens_more, 4, 0, RES_INTERIM_USUAL).test, RES_TEST_T);
    assert_int_equal(values(hundreds, tens_more, 12, 0, RES_INTERIM_USUAL).test, RES_TEST_FLIP);
}

/* ---- values -----------------------------------------------------------------------------------
 */

static void constant_values_are_judged_by_their_number(void **state)
{
    (void)state;
    const double a[12] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
    const double b[12] = {6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6};
    /* Two values by halves: all of A one and all of B the other, in 2 of 4^N cases. */
    res_comparison c = values(a, b, 3, 0, RES_INTERIM_USUAL);
    assert_int_equal(c.test, RES_TEST_CONSTANT);
    assert_near(c.p, 2.0 / 64, 1e-12);
    assert_int_equal(c.verdict, RES_SLOWER);
    assert_near(c.ratio.low, 1.2, 1e-12);
    assert_near(c.ratio.high, 1.2, 1e-12);
    c = values(b, a, 12, 0, RES_INTERIM_USUAL);
    assert_near(c.p, 2 / pow(4, 12), 1e-12);
    assert_int_equal(c.verdict, RES_FASTER);
    c = values(a, b, 2, 0, RES_INTERIM_USUAL);
    assert_int_equal(c.test, RES_TEST_NONE);
    assert_int_equal(c.verdict, RES_UNDECIDED);
    /* One value that differs, and the spread is judged. */
    const double almost[4] = {6, 6, 6, 6.1};
    assert_int_equal(values(a, almost, 4, 0, RES_INTERIM_USUAL).test, RES_TEST_T);
}

/* Judges FAMILY quantities whose like sides have one of two values in each process, with interim
 * analyses. Returns whether any difference was claimed. */
#define FAMILY 6
static bool claims_of_two_values(const double *weight, uint64_t *seed)
{
    double side[FAMILY][2][RES_INTERIM_USUAL];
    res_comparison list[FAMILY] = {{.pairs = 0}};
    bn_status st = {0};
    res_compare_options o = res_compare_defaults();
    o.interim = RES_INTERIM_USUAL;
    for (size_t i = 0; i < FAMILY; i++)
        for (size_t k = 0; k < 2 * RES_INTERIM_USUAL; k++)
            side[i][k % 2][k / 2] = fixture_uniform(seed) < 0.5 ? 100 : 103;
    const size_t first = res_next_interim(o.interim, 0);
    for (size_t n = first; n > 0; n = res_next_interim(o.interim, n)) {
        for (size_t i = 0; i < FAMILY; i++) {
            const res_values v = {side[i][0], side[i][1], n, 0};
            if (n == first || list[i].verdict == RES_UNDECIDED)
                assert_ok(res_compare_values(&v, &o, &list[i], &st), &st);
            list[i].weight = weight[i];
        }
        res_compare_family(list, FAMILY, &o);
    }
    for (size_t i = 0; i < FAMILY; i++)
        if (list[i].verdict == RES_SLOWER || list[i].verdict == RES_FASTER)
            return true;
    return false;
}

/* The worst case of RES_TEST_CONSTANT: six quantities, four pairs, 2 / 256 each. */
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
        assert_true((double)claimed / FAMILIES < 0.05 + 2.5 * sqrt(0.05 / FAMILIES));
    }
}

static void shares_of_a_unit_have_either_sign(void **state)
{
    (void)state;
    const double a[6] = {-1, 0, 1, -1, 0, 1}, more[6] = {2, 3, 4, 2, 3.1, 4};
    const res_comparison c = values(a, more, 6, 100, RES_INTERIM_NONE),
                         back = values(more, a, 6, 100, RES_INTERIM_NONE);
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
    assert_fails(res_compare_values(&v, &o, &c, &st), BN_INVALID, "2 and 0 of pair 1", &st);
    v = (res_values){unknown, good, 2, 10};
    assert_fails(res_compare_values(&v, &o, &c, &st), BN_INVALID, "nan and 2 of pair 1", &st);
    v = (res_values){good, good, 0, 0};
    assert_fails(res_compare_values(&v, &o, &c, &st), BN_INVALID, "0 pairs", &st);
    v.pairs = RES_MOST_PAIRS + 1;
    assert_fails(res_compare_values(&v, &o, &c, &st), BN_INVALID, "65 pairs", &st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interim_analyses_are_in_order),
        cmocka_unit_test(shares_are_those_of_the_spending_function),
        cmocka_unit_test(no_more_than_the_level_is_spent),
        cmocka_unit_test(a_look_has_its_share_of_the_level),
        cmocka_unit_test(constant_values_are_judged_by_their_number),
        cmocka_unit_test(two_values_by_chance_are_claimed_no_more_than_the_level),
        cmocka_unit_test(shares_of_a_unit_have_either_sign),
        cmocka_unit_test(values_that_cannot_be_compared_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
