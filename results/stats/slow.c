/*
 * slow.c - processes that took much longer than the others of their side, and whether B has more of
 * them than A.
 *
 * A process is slow where its pair's log ratio lies off the median by more than 5 robust standard
 * deviations and by more than 10 %: upwards B's process is, downwards A's. But where B's process is
 * above the median of B's by less than a quarter of what A's is below that of A's, A's process is
 * fast (and likewise downwards): the others of a side of which more than half is slow. What disturbs
 * both processes of a pair blurs that: if it varies by 10 %, 3 % of processes that are slow by 30 %
 * are taken for fast ones of the other side. The robust deviation
 * is that of the shortest interval which holds more than half of the pairs (P. J. Rousseeuw and A.
 * M. Leroy, "A robust version of scale based on the shortest half", Statistica Neerlandica 42,
 * 1988), which a third of slow processes does not widen. It is the interval's width over 1.349,
 * that of a normal distribution's half, and N / (N - 3) wider: few pairs agree by luck. Of sets of
 * normal noise, 0.6 to 1.9 % show a slow process that is none; of t noise with three degrees of
 * freedom and 3 % of spread 16 %. Of the slow ones, where a fifth is, 6 pairs show 72 % and 12
 * pairs 95 %.
 */
#include "results/stats/stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

/* From where on a process is slow: by simulation of processes of 1 and 3 % of spread. */
#define DEVIATIONS 5.0
#define LEAST      0.1
/* Width of the middle half of a normal distribution, in standard deviations. */
#define HALF_WIDTH 1.349
/* How many times as far as the other side rose a process has to have fallen to be fast. */
#define FELL_ALONE 4.0

static double robust_deviation(const double *sorted, size_t count)
{
    const size_t most = count / 2 + 1;
    double shortest = (double)INFINITY;
    for (size_t i = 0; i + most <= count; i++)
        shortest = fmin(shortest, sorted[i + most - 1] - sorted[i]);
    return shortest / HALF_WIDTH * (double)count / ((double)count - 3);
}

/* The deviation of X[I] from the median of its COUNT values, SORTED: a difference of logarithms, or
 * a share of UNIT if that is above 0. */
static double off_median(const double *x, size_t i, const double *sorted, size_t count, double unit)
{
    const double median = gsl_stats_median_from_sorted_data(sorted, 1, count);
    return unit > 0 ? (x[i] - median) / unit : log(x[i] / median);
}

static void add(res_slow *slow, size_t pair, double off)
{
    slow->pairs |= (uint64_t)1 << pair;
    slow->factor = (slow->count ? slow->factor : 0) + off;
    slow->count++;
}

static void end(res_slow *slow)
{
    if (slow->count > 0)
        slow->factor = exp(slow->factor / (double)slow->count);
}

void res_slow_find(const res_values *v, const double *d, res_slow slow[2], res_slow fast[2])
{
    double sorted[3][RES_MOST_PAIRS];
    const double *const of[3] = {v->a, v->b, d};
    slow[0] = slow[1] = fast[0] = fast[1] = (res_slow){.factor = (double)NAN};
    if (v->pairs < RES_CLAIM_PAIRS || v->pairs > RES_MOST_PAIRS)
        return;
    for (int k = 0; k < 3; k++) {
        memcpy(sorted[k], of[k], v->pairs * sizeof **sorted);
        gsl_sort(sorted[k], 1, v->pairs);
    }
    const double median = gsl_stats_median_from_sorted_data(sorted[2], 1, v->pairs);
    const double limit = fmax(DEVIATIONS * robust_deviation(sorted[2], v->pairs), log1p(LEAST));
    for (size_t i = 0; i < v->pairs; i++) {
        const double off = fabs(d[i] - median);
        if (off <= limit)
            continue;
        const int side = d[i] > median;
        const double rose = off_median(of[side], i, sorted[side], v->pairs, v->unit),
                     fell = -off_median(of[!side], i, sorted[!side], v->pairs, v->unit);
        if (rose < fell / FELL_ALONE)
            add(&fast[!side], i, -off);
        else
            add(&slow[side], i, off);
    }
    for (int side = 0; side < 2; side++) {
        end(&slow[side]);
        end(&fast[side]);
    }
}

double res_slow_not_excluded(size_t count)
{
    return count ? 1 - pow(0.05, 1 / (double)count) : 1;
}

void res_slow_add(res_slow_counts *counts, const res_comparison *c, const res_comparison *another,
                  bool control)
{
    if (c->pairs < RES_CLAIM_PAIRS)
        return;
    for (int side = 0; side < 2; side++) {
        const uint64_t slow = c->slow[side].pairs | (another ? another->slow[side].pairs : 0);
        counts->slow[control ? 0 : side] += (size_t)__builtin_popcountll(slow);
        counts->of[control ? 0 : side] += c->pairs;
    }
}

double res_slow_p(const res_slow_counts *counts)
{
    const size_t slow = counts->slow[0] + counts->slow[1], of = counts->of[0] + counts->of[1];
    if (counts->slow[1] == 0)
        return 1;
    return gsl_cdf_hypergeometric_Q((unsigned)counts->slow[1] - 1, (unsigned)slow,
                                    (unsigned)(of - slow), (unsigned)counts->of[1]);
}
