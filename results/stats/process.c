/*
 * process.c - estimates from values of processes.
 *
 * A process is the unit: its steps agree with each other far better than with those of another
 * process, so an interval from the steps of one says little about the next. The same holds for
 * runs: processes of one run agree better than those of two, because the machine's speed drifts.
 * The mean of K processes has Student's t interval with K - 1 degrees of freedom; where differences
 * of such means are taken, their variances add, and the degrees of freedom are those of B. L.
 * Welch, "The generalization of Student's problem when several different population variances are
 * involved", Biometrika 34 (1947), and F. E. Satterthwaite, "An Approximate Distribution of
 * Estimates of Variance Components", Biometrics Bulletin 2 (1946).
 */
#include "results/stats/stats_priv.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* A series that stays like itself for longer is worth next to nothing anyway. */
#define MOST_LAGS 200

static const res_estimate unknown = {(double)NAN, (double)NAN, 0, 0};

res_estimate res_estimate_of(const double *values, size_t count)
{
    res_estimate out = unknown;
    out.values = count;
    if (count > 0)
        out.mean = gsl_stats_mean(values, 1, count);
    if (count < RES_LEAST_PROCESSES)
        return out;
    out.error = gsl_stats_sd(values, 1, count) / sqrt((double)count);
    out.freedom = (double)count - 1;
    return out;
}

/* Sorts both by RUN, which is nearly in order already. */
static void sort_by_run(double *values, size_t *run, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const double value = values[i];
        const size_t of = run[i];
        size_t at = i;
        for (; at > 0 && run[at - 1] > of; at--) {
            values[at] = values[at - 1];
            run[at] = run[at - 1];
        }
        values[at] = value;
        run[at] = of;
    }
}

/* Puts the mean of each run in place of its values, which stand together; returns how many runs
 * there are. */
static size_t means_of_runs(double *values, size_t *run, size_t count)
{
    size_t runs = 0;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && run[end] == run[first];)
            end++;
        const double mean = gsl_stats_mean(values + first, 1, end - first);
        const size_t of = run[first];
        values[runs] = mean;
        run[runs++] = of;
    }
    return runs;
}

res_runs res_runs_choose(const size_t *run, size_t count)
{
    res_runs out = {.alone = SIZE_MAX};
    size_t first = SIZE_MAX, last = 0, of_first = 0, of_last = 0;
    for (size_t i = 0; i < count; i++) {
        first = run[i] < first ? run[i] : first;
        last = run[i] > last ? run[i] : last;
    }
    for (size_t i = 0; i < count; i++) {
        of_first += run[i] == first;
        of_last += run[i] == last;
    }
    if (first >= last)
        return out;
    if (of_first + of_last == count && of_last >= RES_LEAST_PROCESSES)
        out.alone = last;
    else if (of_first + of_last == count && of_first >= RES_LEAST_PROCESSES)
        out.alone = first;
    else
        out.means = true;
    return out;
}

bool res_runs_have(const res_runs *runs, size_t run)
{
    return runs->alone == SIZE_MAX || run == runs->alone;
}

size_t res_runs_sample(const res_runs *runs, double *values, size_t *run, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (res_runs_have(runs, run[i])) {
            values[kept] = values[i];
            run[kept++] = run[i];
        }
    if (!runs->means)
        return kept;
    sort_by_run(values, run, kept);
    return means_of_runs(values, run, kept);
}

res_estimate res_estimate_sum(const res_estimate *list, const double *weights, size_t count)
{
    res_estimate out = {0, 0, 0, 0};
    double fourth = 0, least = (double)INFINITY;
    if (count == 0)
        return unknown;
    for (size_t i = 0; i < count; i++) {
        const double variance = pow(weights[i] * list[i].error, 2);
        out.mean += weights[i] * list[i].mean;
        out.error += variance;
        fourth += variance * variance / list[i].freedom;
        least = fmin(least, list[i].freedom);
        if (i == 0 || list[i].values < out.values)
            out.values = list[i].values;
    }
    /* No spread at all: 0 / 0. */
    out.freedom = fourth > 0 ? out.error * out.error / fourth : least;
    out.error = sqrt(out.error);
    if (isnan(out.error))
        out.freedom = 0;
    return out;
}

double res_estimate_half(const res_estimate *estimate, double level)
{
    return isfinite(estimate->error) && estimate->freedom > 0
               ? gsl_cdf_tdist_Qinv(level / 2, estimate->freedom) * estimate->error
               : (double)NAN;
}

res_interval res_estimate_interval(const res_estimate *estimate)
{
    const double half = res_estimate_half(estimate, 0.05), mean = estimate->mean;
    return (res_interval){mean, mean - half, mean + half};
}

res_interval res_estimate_ratio(const res_estimate *logs)
{
    const res_interval interval = res_estimate_interval(logs);
    return (res_interval){exp(interval.estimate), exp(interval.low), exp(interval.high)};
}

double res_estimate_p(const res_estimate *estimate)
{
    const double mean = fabs(estimate->mean), error = estimate->error;
    if (!isfinite(mean) || !isfinite(error) || !(estimate->freedom > 0))
        return 1;
    if (!(error > 0))
        return mean > 0 ? 0 : 1;
    return 2 * gsl_cdf_tdist_Q(mean / error, estimate->freedom);
}

bool res_excludes(res_interval interval, double value)
{
    return interval.low > value || interval.high < value;
}

/*
 * Sums correlations of neighbours while pairs of them are positive (C. J. Geyer, "Practical Markov
 * Chain Monte Carlo", Statistical Science 7, 1992, section 3.3).
 */
double res_independent_samples(const double *values, size_t count)
{
    const double n = (double)count;
    if (count < 4)
        return n;
    const double mean = gsl_stats_mean(values, 1, count);
    double variance = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        variance += (values[i] - mean) * (values[i] - mean);
    if (!(variance > 0))
        return n;
    for (size_t lag = 1; lag + 1 < count / 2 && lag < MOST_LAGS; lag += 2) {
        double pair = 0;
        for (size_t further = lag; further < lag + 2; further++)
            for (size_t i = 0; i + further < count; i++)
                pair += (values[i] - mean) * (values[i + further] - mean) / variance;
        if (pair <= 0)
            break;
        sum += pair;
    }
    return fmin(n, n / (1 + 2 * sum));
}
