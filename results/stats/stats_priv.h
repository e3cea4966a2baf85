/*
 * stats_priv.h - shared by the files of this folder: resampling, tests, nights that are cut.
 */
#ifndef BENCH_RESULTS_STATS_PRIV_H
#define BENCH_RESULTS_STATS_PRIV_H

#include <gsl/gsl_rng.h>

#include "results/stats/stats.h"

/* ---- resampling (stats.c) ------------------------------------------------ */

/* A generator, for gsl_rng_free. */
gsl_rng *res_rng_new(uint64_t seed);

/* A series prepared for resampling. */
typedef struct res_series {
    size_t count, block;
    double *sorted;
    uint32_t *rank;  /* [step]: place of the step's value in SORTED */
    uint32_t *drawn; /* [rank]: times drawn in this resample */
} res_series;

/* COUNT is from 1 to UINT32_MAX. */
void res_series_make(res_series *s, const uint64_t *values, size_t count);
void res_series_free(res_series *s);
double res_series_median(const res_series *s);
/* Median of one resample of blocks of neighbours. */
double res_series_resample(res_series *s, gsl_rng *rng);
/* ESTIMATE between the 2.5 and 97.5 % quantiles of RESAMPLES, which are sorted. */
res_interval res_percentile_interval(double estimate, double *resamples, size_t count);

/* ---- tests by Student's t (compare_family.c) ------------------------------- */

/* Two pairs, one each way round, give no spread. */
#define RES_FEWEST_PAIRS 3
/* P(T > MEAN / ERROR) with DF degrees of freedom. Without any spread there is no doubt. */
double res_upper_tail(double mean, double error, double df);

/* ---- tests by flipping signs (compare_flip.c) ------------------------------ */

/* Two-sided p of the mean of the differences D, by all 2^COUNT choices of their
 * signs or, beyond RES_EXACT_PAIRS, by seeded draws; 1 for none. */
#define RES_EXACT_PAIRS 20
double res_flip_p(const double *d, size_t count, uint64_t seed);
/* The interval of means from which that of D does not differ significantly at LEVEL by res_flip_p.
 * False where no difference of so few pairs is significant, or beyond RES_SUBSET_PAIRS. */
#define RES_SUBSET_PAIRS 12
bool res_flip_bounds(const double *d, size_t count, double level, double *low, double *high);

/* ---- nights (between.c) ----------------------------------------------------- */

/* No measurement repeats better than this: the least standard deviation of a log. */
#define RES_LEAST_DEVIATION 0.001
/* Copies COUNT logs X, at least one, to CUT: those that lie too many robust standard deviations
 * (1.4826 times the median distance from the median) off their median are moved to that distance,
 * so that a night under load does not count for what it is not. Too many are three, and sqrt((1 +
 * RHO) / (1 - RHO)) times as many where nights are alike: a few neighbours lie closer together than
 * nights do. ROOM is for COUNT values. */
void res_cut_nights(const double *x, size_t count, double rho, double *room, double *cut);

#endif
