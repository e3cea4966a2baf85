/*
 * compare_family.c - comparisons that are judged together: the choice of the test, Holm's
 * adjustment, equivalence, the verdict; and the number of pairs needed.
 *
 * Wherever the number of pairs can reach the corrected level, differences are tested by flipped
 * signs (compare_flip.c), which assume only that like sides are as likely to differ either way.
 * Fewer pairs are judged by Student's t, which long tails make conservative (Y. Benjamini, "Is the
 * t test really conservative when the parent distribution is long-tailed?", JASA 78, 1983), down to
 * a number of pairs that choose_test explains. Below that nothing is significant. The choice
 * depends on the numbers of pairs and comparisons, never on p.
 *
 * With interim analyses, p is divided by the analysis' share of the level (compare_interim.c). Such
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
    static const char *const names[] = {"faster", "slower", "equivalent", "undecided"};
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

size_t res_fewest_pairs(double level, double family)
{
    const double share = level / fmax(family, 1);
    return (size_t)fmax(ceil(log2(2 / share) - 1e-9), 1);
}

/* Chance that all of PAIRS differences, except at most LEFT_OUT, go one way, when each does so in a
 * quarter of the cases. This is also the largest chance that each of two like sides has one value
 * in all its processes, and the other side another one: that of two values that are as likely. */
static double chance_alike(size_t pairs, size_t left_out)
{
    return 2 * gsl_cdf_binomial_P((unsigned)left_out, 0.75, (unsigned)pairs);
}

/*
 * Uses flips of signs where they can reach the level. Student's t takes pairs that agree for
 * certain. But processes may have two speeds by chance, fast and slow (by a layout of memory, say),
 * and then a quarter of the pairs differs one way. So t is used only where the chance that all
 * pairs do, or all but those that were left out, takes no more than its share of the false alarms
 * that are allowed. Pairs that all agree after many analyses did so at each one before: this
 * chance is taken once, so the analysis' share of the level does not matter to it.
 */
#define ALIKE_SHARE 0.25
static res_test choose_test(const res_comparison *c, double level)
{
    if (c->pairs < RES_FEWEST_PAIRS)
        return RES_TEST_NONE;
    if (c->constant)
        return RES_TEST_CONSTANT;
    if (c->pairs >= res_fewest_pairs(level * c->share, c->family))
        return RES_TEST_FLIP;
    return chance_alike(c->pairs + c->disturbed, c->disturbed) <= ALIKE_SHARE * level / c->family
               ? RES_TEST_T
               : RES_TEST_NONE;
}

size_t res_least_pairs(double level, double family)
{
    size_t pairs = RES_FEWEST_PAIRS;
    while (chance_alike(pairs, 0) > ALIKE_SHARE * level / fmax(family, 1))
        pairs++;
    return pairs;
}

/* The smallest mean log ratio that the comparison's test would find significant at its level. */
static double critical(const res_comparison *c)
{
    double low, high;
    if (c->test == RES_TEST_NONE)
        return (double)INFINITY;
    /* With more pairs than there are bounds for, flips agree with t. */
    if (c->test == RES_TEST_FLIP && res_flip_bounds(c->log_ratio, c->pairs, c->level, &low, &high))
        return (high - low) / 2;
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
        return fmin(fmax(p, chance_alike(c->pairs, 0)), 1);
    return fmin(p / c->share, 1);
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
 * and Biopharmaceutics 15, 1987): the larger p.
 */
static void size_up(res_comparison *c, double weights, const res_compare_options *o)
{
    const double delta = log1p(c->delta);
    const double mean = fabs(gsl_stats_mean(c->log_ratio, 1, c->pairs));
    c->family = weights / c->weight;
    c->level = o->level * c->share / c->family;
    c->test = choose_test(c, o->level);
    c->p = of_analysis(c, c->test == RES_TEST_FLIP ? c->p_flip : c->p_t);
    c->critical = critical(c);
    c->mde = (double)INFINITY;
    c->p_equivalent = 1;
    if (c->test == RES_TEST_NONE)
        return;
    c->mde = expm1(c->critical + gsl_cdf_tdist_Pinv(POWER, freedom(c)) * c->error);
    c->p_equivalent = of_analysis(c, res_upper_tail(delta - mean, c->error, freedom(c)));
}

/* A difference that is significant by flips may lie within Student's interval: no row claims both.
 */
static res_verdict judge(const res_comparison *c, double level)
{
    if (c->p_holm <= level && (c->ratio.low > 1 || c->ratio.high < 1))
        return c->ratio.estimate < 1 ? RES_FASTER : RES_SLOWER;
    return c->p_equivalent_holm <= level ? RES_EQUIVALENT : RES_UNDECIDED;
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
    if (c->pairs < RES_FEWEST_PAIRS || !(precision > 0))
        return 0;
    const double spread = c->error * sqrt((double)c->pairs);
    const double wanted = pow(gsl_cdf_tdist_Qinv(0.025, freedom(c)) * spread / log1p(precision), 2);
    return wanted < 2 ? 2 : wanted < 1e9 ? (size_t)ceil(wanted) : (size_t)1e9;
}
