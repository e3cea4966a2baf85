/*
 * slow.c - processes that took much longer than the others of their side, and whether B has more of
 * them than A.
 *
 * A process is slow where its pair's log ratio lies off the median by more than 5 robust standard
 * deviations and by more than 10 %: upwards B's process is, downwards A's. The robust deviation is
 * that of the shortest interval which holds more than half of the pairs (P. J. Rousseeuw and A. M.
 * Leroy, "A robust version of scale based on the shortest half", Statistica Neerlandica 42, 1988),
 * which a third of slow processes does not widen. It is the interval's width over 1.349, that of a
 * normal distribution's half, and N / (N - 3) wider: few pairs agree by luck. Of sets of normal
 * noise, 0.6 to 1.9 % show a slow process that is none; of t noise with three degrees of freedom
 * and 3 % of spread 16 %. Of the slow ones, where a fifth is, 6 pairs show 72 % and 12 pairs 95 %.
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

static double robust_deviation(const double *sorted, size_t count)
{
    const size_t most = count / 2 + 1;
    double shortest = (double)INFINITY;
    for (size_t i = 0; i + most <= count; i++)
        shortest = fmin(shortest, sorted[i + most - 1] - sorted[i]);
    return shortest / HALF_WIDTH * (double)count / ((double)count - 3);
}

void res_slow_find(const double *d, size_t count, res_slow slow[2])
{
    double sorted[RES_MOST_PAIRS], sum[2] = {0, 0};
    slow[0] = slow[1] = (res_slow){.factor = (double)NAN};
    if (count < RES_CLAIM_PAIRS || count > RES_MOST_PAIRS)
        return;
    memcpy(sorted, d, count * sizeof *d);
    gsl_sort(sorted, 1, count);
    const double median = gsl_stats_median_from_sorted_data(sorted, 1, count);
    const double limit = fmax(DEVIATIONS * robust_deviation(sorted, count), log1p(LEAST));
    for (size_t i = 0; i < count; i++) {
        const int side = d[i] > median;
        if (fabs(d[i] - median) > limit) {
            slow[side].count++;
            slow[side].pairs |= (uint64_t)1 << i;
            sum[side] += fabs(d[i] - median);
        }
    }
    for (int side = 0; side < 2; side++)
        if (slow[side].count > 0)
            slow[side].factor = exp(sum[side] / (double)slow[side].count);
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
