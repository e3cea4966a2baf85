/*
 * buckets.c - the cost of padding rows of varying lengths to a number of lengths.
 */
#include "results/studies/studies.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* The probability that the longest row of a batch has at most TOKENS tokens: lengths are rounded,
 * and rows are independent. */
static double at_most(const res_padding *p, double tokens)
{
    if (tokens >= p->most)
        return 1;
    if (tokens < RES_LEAST_TOKENS)
        return 0;
    const double median = RES_MEDIAN_SHARE * p->most;
    return pow(gsl_cdf_ugaussian_P(log((tokens + 0.5) / median) / RES_LENGTH_SPREAD), p->rows);
}

/* Adds a program of LENGTH that a step needs with the probability SHARE to COST. */
static void add(const res_padding *p, double length, double share, res_padding_cost *cost)
{
    /* A bucket is compiled once, at the first of the run's steps that needs it. */
    const double needed = -expm1(p->steps * log1p(-fmin(share, 1)));
    cost->programs += needed;
    /* The line may cross zero below the lengths that were measured; no compilation does. */
    cost->compile_ns += needed * fmax(0, p->compile_base_ns + p->compile_token_ns * length);
    cost->length += share * length;
}

res_padding_cost res_padding_of(const res_padding *p, int buckets)
{
    res_padding_cost cost = {0};
    const int count = buckets > 0 ? buckets : (int)p->most;
    double below = 0;
    for (int i = 1; i <= count; i++) {
        /* The length that this bucket pads to. */
        const double bound = ceil(p->most * i / count), share = at_most(p, bound);
        if (share > below)
            add(p, bound, share - below, &cost);
        below = fmax(share, below);
    }
    cost.total_ns = cost.compile_ns + p->steps * (p->step_base_ns + p->step_token_ns * cost.length);
    return cost;
}

double res_padding_waste(const res_padding *p, int buckets)
{
    const double padded = res_padding_of(p, buckets).length, exact = res_padding_of(p, 0).length;
    return p->steps * p->step_token_ns * (padded - exact);
}

int res_padding_best(const res_padding *p)
{
    const int most = p->most < RES_MOST_BUCKETS ? (int)p->most : RES_MOST_BUCKETS;
    int best = 1;
    double least = (double)INFINITY;
    for (int k = 1; k <= most; k++) {
        const double total = res_padding_of(p, k).total_ns;
        if (total < least) {
            least = total;
            best = k;
        }
    }
    return best;
}
