/*
 * compare_family.c - comparisons that are judged together: the choice of the test, Holm's
 * adjustment, equivalence, the verdict; and the number of pairs needed.
 *
 * Differences are tested by Student's t on all pairs, which long tails make conservative (Y.
 * Benjamini, "Is the t test really conservative when the parent distribution is long-tailed?", JASA
 * 78, 1983), from RES_CLAIM_PAIRS pairs on. The choice of the test depends on the number of pairs,
 * never on p.
 *
 * With interim analyses, p is divided by the analysis' share of the level (compare_plan.c). Such
 * a p, taken at the analysis at which a comparison ends, is at most X with a probability of at most
 * X. So Holm's adjustment of these keeps the level of a family over all its analyses, whichever
 * of its comparisons end earlier than others (Y. Ye, A. Li, L. Liu and B. Yao, "A group sequential
 * Holm procedure with multiple primary endpoints", Statistics in Medicine 32, 2013). p at the last
 * analysis is used, and no smaller one before it, so that verdict and interval are of the same
 * pairs.
 */
#include "results/stats/stats_priv.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#define POWER 0.8

const char *res_verdict_name(res_verdict verdict)
{
    static const char *const names[] = {"faster", "slower", "equivalent", "uneven", "undecided"};
    return names[verdict];
}

static double freedom(const res_comparison *c)
{
    return (double)c->pairs - 1;
}

double res_upper_tail(double mean, double error, double df)
{
    if (error > 0)
        return gsl_cdf_tdist_Q(mean / error, df);
    return mean > 0 ? 0 : mean < 0 ? 1 : 0.5;
}

/* ---- families ------------------------------------------------------------------- */

void res_holm(const double *p, const double *weight, size_t count, double *adjusted)
{
    size_t *order = bn_zalloc(count, sizeof *order);
    double *each = bn_zalloc(count, sizeof *each);
    for (size_t i = 0; i < count; i++)
        each[i] = p[i] / (weight ? weight[i] : 1);
    gsl_sort_index(order, each, 1, count);
    /* From the largest one back: the weights of all that are not smaller. */
    double left = 0, largest = 0;
    for (size_t i = count; i-- > 0;) {
        left += weight ? weight[order[i]] : 1;
        adjusted[order[i]] = left * each[order[i]];
    }
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, adjusted[order[i]]);
        adjusted[order[i]] = fmin(largest, 1);
    }
    free(order);
    free(each);
}

/* The largest chance that each of two like sides has one value in all its PAIRS processes, and the
 * other side another one: that of two values that are as likely. */
static double chance_alike(size_t pairs)
{
    return 2 * pow(0.25, (double)pairs);
}

static res_test choose_test(const res_comparison *c)
{
    return c->pairs < RES_CLAIM_PAIRS ? RES_TEST_NONE
           : c->constant              ? RES_TEST_CONSTANT
                                      : RES_TEST_T;
}

/* The smallest mean log ratio that the comparison's test would find significant at its level. */
static double critical(const res_comparison *c)
{
    if (c->test == RES_TEST_NONE)
        return (double)INFINITY;
    return gsl_cdf_tdist_Qinv(c->level / 2, freedom(c)) * c->error;
}

/*
 * P of the comparison's test at its interim analysis, where one alone would say P.
 *
 * Where each side has one value in all its processes there is no spread to judge a difference by,
 * but a bound on how often like sides would appear so. Sides that do after many pairs did at each
 * analysis before, so interim analyses do not add to it.
 */
static double of_analysis(const res_comparison *c, double p)
{
    if (c->test == RES_TEST_NONE)
        return 1;
    if (c->test == RES_TEST_CONSTANT)
        return fmin(fmax(p, chance_alike(c->pairs)), 1);
    return fmin(p / c->share, 1);
}

/* Whether a side has two speeds. */
static bool has_slow(const res_comparison *c)
{
    return c->slow[0].count + c->slow[1].count + c->fast[0].count + c->fast[1].count > 0;
}

/*
 * All that depends on the family, whose weights sum to WEIGHTS, but for Holm's adjustment.
 *
 * The minimum detectable effect (mde) is the test's critical mean plus the
 * quantile of Student's t that the power asks for, in standard errors (H. S.
 * Bloom, "Minimum detectable effects", Evaluation Review 19, 1995, with the
 * test's own critical value for his t). Were it added to this very experiment
 * without any other difference, the test would find it unless chance lay more
 * than that quantile below zero: with a probability of 80 %, however well or
 * badly the few pairs estimate their spread.
 *
 * Equivalence is two one-sided tests (D. J. Schuirmann, "A comparison of the two
 * one-sided tests procedure and the power approach", Journal of Pharmacokinetics
 * and Biopharmaceutics 15, 1987): the larger p. Few pairs and pairs with a slow process do not show
 * it, whatever their mean.
 */
static void size_up(res_comparison *c, double weights, const res_compare_options *o)
{
    const double delta = log1p(c->delta);
    const double mean = c->pairs ? fabs(gsl_stats_mean(c->log_ratio, 1, c->pairs)) : 0;
    c->family = weights / c->weight;
    c->level = o->level * c->share / c->family;
    c->test = choose_test(c);
    c->p = of_analysis(c, c->p_once);
    c->critical = critical(c);
    c->mde = (double)INFINITY;
    c->p_equivalent = 1;
    if (c->test == RES_TEST_NONE)
        return;
    c->mde = expm1(c->critical + gsl_cdf_tdist_Pinv(POWER, freedom(c)) * c->error);
    if (c->pairs >= RES_EQUIVALENT_PAIRS && !has_slow(c))
        c->p_equivalent = of_analysis(c, res_upper_tail(delta - mean, c->error, freedom(c)));
}

static res_verdict judge(const res_comparison *c, double level)
{
    if (c->p_holm <= level)
        return c->ratio.estimate < 1 ? RES_FASTER : RES_SLOWER;
    return c->p_equivalent_holm <= level ? RES_EQUIVALENT
           : has_slow(c)                 ? RES_UNEVEN
                                         : RES_UNDECIDED;
}

void res_compare_family(res_comparison *list, size_t count, const res_compare_options *options)
{
    double *p = bn_zalloc(5 * count, sizeof *p), weights = 0;
    double *equivalent = p + count, *p_holm = p + 2 * count, *equivalent_holm = p + 3 * count;
    double *weight = p + 4 * count;
    for (size_t i = 0; i < count; i++)
        weights += weight[i] = list[i].weight;
    for (size_t i = 0; i < count; i++) {
        size_up(&list[i], weights, options);
        p[i] = list[i].p;
        equivalent[i] = list[i].p_equivalent;
    }
    res_holm(p, weight, count, p_holm);
    res_holm(equivalent, weight, count, equivalent_holm);
    for (size_t i = 0; i < count; i++) {
        list[i].p_holm = p_holm[i];
        list[i].p_equivalent_holm = equivalent_holm[i];
        list[i].verdict = judge(&list[i], options->level);
    }
    free(p);
}

/* ---- how much is needed ---------------------------------------------------------- */

double res_power(const res_comparison *c, double effect)
{
    const double beyond = fabs(log1p(effect)) - c->critical;
    if (c->test == RES_TEST_NONE)
        return 0;
    return res_upper_tail(-beyond, c->error, freedom(c));
}

size_t res_pairs_wanted(const res_comparison *c, double precision)
{
    if (c->pairs < RES_LEAST_PROCESSES || !(precision > 0))
        return 0;
    const double spread = c->error * sqrt((double)c->pairs);
    const double wanted = pow(gsl_cdf_tdist_Qinv(0.025, freedom(c)) * spread / log1p(precision), 2);
    return wanted < 2 ? 2 : wanted < 1e9 ? (size_t)ceil(wanted) : (size_t)1e9;
}
