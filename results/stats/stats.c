/*
 * stats.c - means and order statistics, on GSL.
 */
#include "results/stats/stats_priv.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

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
