/*
 * compare_flip.c - the permutation test of paired differences: if the sides were alike, each
 * difference would be as likely to have the other sign.
 *
 * R. A. Fisher, "The Design of Experiments" (1935), section 21. For few pairs, all choices of signs
 * are tried, in the order of a Gray code, one flip a choice. For many pairs, a sample of choices
 * is tried, and the observed one is added, so that p is never zero (B. Phipson and G. K. Smyth,
 * "Permutation p-values should never be zero", 2010). N pairs give a p of at least 2 / 2^N.
 */
#include "results/stats/stats_priv.h"

#include <gsl/gsl_sort.h>
#include <math.h>

#define DRAWS 19999

/* The sum of the same numbers in another order differs by less than this share of their absolute
 * sum. */
#define ROUNDING 1e-11

static double absolute_sum(const double *d, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += fabs(d[i]);
    return sum;
}

static double plain_sum(const double *d, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += d[i];
    return sum;
}

/* The sign of the last difference stays: the other half of the choices mirrors
 * this one, and the test has two sides. */
static double exact_p(const double *d, size_t count)
{
    const double least = fabs(plain_sum(d, count)) - ROUNDING * absolute_sum(d, count);
    const uint32_t choices = (uint32_t)1 << (count - 1);
    double sum = plain_sum(d, count);
    uint32_t flipped = 0, extreme = 1;
    for (uint32_t i = 1; i < choices; i++) {
        const int place = __builtin_ctz(i);
        flipped ^= (uint32_t)1 << place;
        sum += (flipped >> place & 1 ? -2 : 2) * d[place];
        extreme += fabs(sum) >= least;
    }
    return (double)extreme / (double)choices;
}

static double drawn_p(const double *d, size_t count, gsl_rng *rng)
{
    const double least = fabs(plain_sum(d, count)) - ROUNDING * absolute_sum(d, count);
    size_t extreme = 1;
    for (size_t draw = 0; draw < DRAWS; draw++) {
        double sum = 0;
        unsigned long bits = 0;
        for (size_t i = 0; i < count; i++) {
            /* This generator gives 32 bits a number. */
            bits = i % 32 == 0 ? gsl_rng_get(rng) : bits >> 1;
            sum += bits & 1 ? d[i] : -d[i];
        }
        extreme += fabs(sum) >= least;
    }
    return (double)extreme / (DRAWS + 1);
}

double res_flip_p(const double *d, size_t count, uint64_t seed)
{
    if (count <= RES_EXACT_PAIRS)
        return count == 0 ? 1 : exact_p(d, count);
    gsl_rng *rng = res_rng_new(seed);
    const double p = drawn_p(d, count, rng);
    gsl_rng_free(rng);
    return p;
}

/* Flipping the differences of a subset makes the sum no smaller where the subset's own sum is not
 * above zero. So as many choices count against D as subsets have means not above zero: the K-th
 * smallest mean of a subset is how far D can be shifted down and still differ significantly (J. A.
 * Hartigan, "Using subsample values as typical values", JASA 64, 1969). The same holds upwards. */
bool res_flip_bounds(const double *d, size_t count, double level, double *low, double *high)
{
    if (count == 0 || count > RES_SUBSET_PAIRS)
        return false;
    const uint32_t subsets = (uint32_t)1 << count;
    const size_t extreme = (size_t)(level * (double)(subsets / 2) * (1 + 1e-12));
    if (extreme == 0)
        return false;
    double *means = bn_zalloc((size_t)subsets + 2 * extreme, sizeof *means);
    double *lowest = means + subsets, *highest = lowest + extreme, sum = 0;
    uint32_t chosen = 0;
    for (uint32_t i = 1; i < subsets; i++) {
        const int place = __builtin_ctz(i);
        chosen ^= (uint32_t)1 << place;
        sum += chosen >> place & 1 ? d[place] : -d[place];
        means[i - 1] = sum / __builtin_popcount(chosen);
    }
    gsl_sort_smallest(lowest, extreme, means, 1, subsets - 1);
    gsl_sort_largest(highest, extreme, means, 1, subsets - 1);
    *low = lowest[extreme - 1];
    *high = highest[extreme - 1];
    free(means);
    return true;
}
