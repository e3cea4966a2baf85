/*
 * between.c - how far nights stray from their level, and whether the latest of them left it.
 */
#include "results/stats/stats_priv.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Robust standard deviations that a night may lie from the median. */
#define CUT   3.0
/* At which each of the latest nights alone is to lie out, one-sided. */
#define ALONE 0.05
/* Of the minimum detectable effect. */
#define POWER 0.8

void res_cut_nights(const double *x, size_t count, double rho, double *room, double *cut)
{
    memcpy(room, x, count * sizeof *room);
    gsl_sort(room, 1, count);
    const double centre = gsl_stats_median_from_sorted_data(room, 1, count);
    for (size_t i = 0; i < count; i++)
        room[i] = fabs(x[i] - centre);
    gsl_sort(room, 1, count);
    const double scale =
        fmax(1.4826 * gsl_stats_median_from_sorted_data(room, 1, count), RES_LEAST_DEVIATION);
    const double most = CUT * sqrt((1 + rho) / (1 - rho)) * scale;
    for (size_t i = 0; i < count; i++)
        cut[i] = fmin(fmax(x[i], centre - most), centre + most);
}

/* The variance of a mean of LATEST nights, in variances of a night. */
static double latest_part(double rho, size_t latest)
{
    return res_nights_factor(rho, (double)latest) / (double)latest;
}

/* Fills KNOWN, whose RHO is given, from COUNT logs X; ROOM is for twice as many. */
static void judge(const double *x, size_t count, size_t latest, double *room,
                  res_latest_nights *known)
{
    const size_t m = count - latest;
    const double rho = known->rho, of_level = res_nights_factor(rho, (double)m) / (double)m;
    double *cut = room + count;
    res_cut_nights(x, m, rho, room, cut);
    const double level = gsl_stats_mean(cut, 1, m);
    const double freedom = res_nights_freedom(rho, (double)m, 1);
    const double s = fmax(gsl_stats_sd(cut, 1, m), RES_LEAST_DEVIATION);
    const double off = gsl_stats_mean(x + m, 1, latest) - level;
    const double error = s * sqrt(latest_part(rho, latest) + of_level);
    const double half = error * gsl_cdf_tdist_Qinv(0.025, freedom);
    const double alone = s * sqrt(1 + of_level) * gsl_cdf_tdist_Qinv(ALONE, freedom);
    known->nights = m;
    known->deviation = s;
    known->freedom = freedom;
    known->ratio = (res_interval){exp(off), exp(off - half), exp(off + half)};
    known->p = 2 * gsl_cdf_tdist_Q(fabs(off) / error, freedom);
    known->each = true;
    for (size_t i = m; i < count; i++)
        known->each = known->each && copysign(1, off) * (x[i] - level) > fmax(alone, fabs(off) / 2);
}

res_latest_nights res_latest_nights_of(const double *values, size_t count, size_t latest,
                                       double rho)
{
    const double nan = (double)NAN;
    res_latest_nights known = {
        .rho = rho, .deviation = nan, .freedom = nan, .ratio = {nan, nan, nan}, .p = 1};
    double *room = bn_zalloc(3 * count, sizeof *room);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]) && values[i] > 0)
            room[n++] = log(values[i]);
    if (n >= latest + RES_LEVEL_NIGHTS)
        judge(room, n, latest, room + count, &known);
    free(room);
    return known;
}

double res_latest_nights_mde(const res_latest_nights *known, size_t latest, double level)
{
    if (known->nights == 0)
        return (double)INFINITY;
    const double error = known->deviation * sqrt(latest_part(known->rho, latest) +
                                                 latest_part(known->rho, known->nights));
    return expm1(error * (gsl_cdf_tdist_Qinv(level / 2, known->freedom) +
                          gsl_cdf_tdist_Pinv(POWER, known->freedom)));
}
