/*
 * stats.c - order statistics and resampling, on GSL.
 *
 * Step times of one process are correlated, so a resample is made of blocks of
 * neighbours: the moving-block bootstrap of H. R. Kuensch, "The jackknife and
 * the bootstrap for general stationary observations", Annals of Statistics 17
 * (1989), with blocks of about n^(1/3) steps, the order that he finds best.
 * Intervals are percentile intervals (B. Efron and R. J. Tibshirani, "An
 * Introduction to the Bootstrap", 1993, chapter 13).
 *
 * A resample's median is found by counting ranks: the values are ranked once,
 * then each resample only increments n small counters and walks to the middle,
 * which is exact and needs no sorting.
 */
#include "results/stats/stats_priv.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double res_mean(const uint64_t *values, size_t count)
{
    long double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (long double)values[i];
    return count > 0 ? (double)(sum / (long double)count) : (double)NAN;
}

double res_deviation(const uint64_t *values, size_t count)
{
    double mean = res_mean(values, count), sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += ((double)values[i] - mean) * ((double)values[i] - mean);
    return count > 1 ? sqrt(sum / (double)(count - 1)) : (double)NAN;
}

double res_median(double *values, size_t count)
{
    if (count == 0)
        return (double)NAN;
    gsl_sort(values, 1, count);
    return gsl_stats_median_from_sorted_data(values, 1, count);
}

res_interval res_median_interval(double *values, size_t count)
{
    const double half = 1.96 * sqrt((double)count) / 2, middle = (double)count / 2;
    const double first = floor(middle - half), last = ceil(middle + half);
    const double median = res_median(values, count);
    if (count == 0)
        return (res_interval){median, median, median};
    return (res_interval){median, values[first < 1 ? 0 : (size_t)first - 1],
                          values[last >= (double)count ? count - 1 : (size_t)last]};
}

double res_middle_mean(double *values, size_t count)
{
    const size_t out = (count + 3) / 4;
    if (count <= 2 * out)
        return res_median(values, count);
    gsl_sort(values, 1, count);
    return gsl_stats_mean(values + out, 1, count - 2 * out);
}

double res_trimmed_mean(double *values, size_t count)
{
    const size_t out = count >= 3 && count < 10 ? 1 : count / 10;
    if (count == 0)
        return (double)NAN;
    gsl_sort(values, 1, count);
    return gsl_stats_mean(values + out, 1, count - 2 * out);
}

double res_quantile(const uint64_t *values, size_t count, double q)
{
    if (count == 0)
        return (double)NAN;
    double *sorted = bn_zalloc(count, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (double)values[i];
    gsl_sort(sorted, 1, count);
    const double value = gsl_stats_quantile_from_sorted_data(sorted, 1, count, q);
    free(sorted);
    return value;
}

void res_series_free(res_series *s)
{
    free(s->sorted);
    free(s->rank);
    free(s->drawn);
    *s = (res_series){0};
}

gsl_rng *res_rng_new(uint64_t seed)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (!rng)
        bn_out_of_memory(sizeof *rng);
    gsl_rng_set(rng, (unsigned long)seed);
    return rng;
}

void res_series_make(res_series *s, const uint64_t *values, size_t count)
{
    size_t *order = bn_zalloc(count, sizeof *order);
    *s = (res_series){.count = count,
                      .block = (size_t)lround(cbrt((double)count)),
                      .sorted = bn_zalloc(count, sizeof *s->sorted),
                      .rank = bn_zalloc(count, sizeof *s->rank),
                      .drawn = bn_zalloc(count, sizeof *s->drawn)};
    for (size_t i = 0; i < count; i++)
        s->sorted[i] = (double)values[i];
    gsl_sort_index(order, s->sorted, 1, count);
    for (size_t i = 0; i < count; i++)
        s->rank[order[i]] = (uint32_t)i;
    gsl_sort(s->sorted, 1, count);
    free(order);
}

/* Median of COUNT drawn values: the mean of the middle two, which are one and
 * the same for an odd count. */
static double drawn_median(const res_series *s)
{
    size_t low_place = (s->count - 1) / 2, high_place = s->count / 2;
    size_t rank = 0, below = s->drawn[0];
    while (below <= low_place)
        below += s->drawn[++rank];
    double low = s->sorted[rank];
    while (below <= high_place)
        below += s->drawn[++rank];
    return (low + s->sorted[rank]) / 2;
}

double res_series_resample(res_series *s, gsl_rng *rng)
{
    memset(s->drawn, 0, s->count * sizeof *s->drawn);
    for (size_t left = s->count; left > 0;) {
        size_t start = gsl_rng_uniform_int(rng, s->count - s->block + 1);
        size_t length = s->block < left ? s->block : left;
        for (size_t i = 0; i < length; i++)
            s->drawn[s->rank[start + i]]++;
        left -= length;
    }
    return drawn_median(s);
}

double res_series_median(const res_series *s)
{
    return gsl_stats_median_from_sorted_data(s->sorted, 1, s->count);
}

res_interval res_percentile_interval(double estimate, double *resamples, size_t count)
{
    gsl_sort(resamples, 1, count);
    return (res_interval){
        .estimate = estimate,
        .low = gsl_stats_quantile_from_sorted_data(resamples, 1, count, 0.025),
        .high = gsl_stats_quantile_from_sorted_data(resamples, 1, count, 0.975),
    };
}
