/*
 * stats_priv.h - shared by the files of this folder: tests, nights that are cut.
 */
#ifndef BENCH_RESULTS_STATS_PRIV_H
#define BENCH_RESULTS_STATS_PRIV_H

#include "results/stats/stats.h"

/* ---- tests by Student's t (compare_family.c) ------------------------------- */

/* P(T > MEAN / ERROR) with DF degrees of freedom. Without any spread there is no doubt. */
double res_upper_tail(double mean, double error, double df);

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
