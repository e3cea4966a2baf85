/*
 * nights_priv.h - bench selftest statistics: simulated series of nights whose truth is known, and
 * how often the history is right about them.
 */
#ifndef BENCH_HARNESS_SELFTEST_NIGHTS_H
#define BENCH_HARNESS_SELFTEST_NIGHTS_H

#include "harness/selftest/selftest_priv.h"
#include "results/stats/stats.h"
#include "results/tables/tables.h"

#include <gsl/gsl_rng.h>

/* Logs of nights vary by one standard deviation and have the correlation RHO^k over k nights. */
typedef enum selftest_night_noise {
    SELFTEST_NIGHTS_NORMAL,
    SELFTEST_NIGHTS_TAILS, /* Student's t of three degrees of freedom */
    SELFTEST_NIGHTS_HALF,  /* half of the variance is correlated, the other half is not */
    SELFTEST_NIGHTS_LOADS  /* one night in ten takes 10 to 49 % longer */
} selftest_night_noise;

/* Counts. */
typedef enum selftest_night_figure {
    SELFTEST_NIGHTS_FALSE,  /* series without a change in which one is found */
    SELFTEST_NIGHTS_FOUND,  /* series with a change in which it is found, to five nights */
    SELFTEST_NIGHTS_SOON,   /* found within DELAY nights, one of a family of series */
    SELFTEST_NIGHTS_MDE,    /* the smallest detectable change is planted, and found */
    SELFTEST_NIGHTS_ALARMS, /* night by night, a family without a change: series and nights that
                               show a new change for the worse */
    SELFTEST_NIGHTS_FIGURES
} selftest_night_figure;

/* The family of series of FIGURE's last rows. */
#define SELFTEST_NIGHTS_FAMILY 34

/* A figure of the table. */
typedef struct selftest_nights {
    selftest_night_figure figure;
    selftest_night_noise noise;
    double rho;
    double effect;           /* 0.05: 5 %; 0: none, or the smallest detectable one */
    size_t nights, delay;    /* of a series; see SOON */
    bool judged;             /* whether a bad share fails the selftest */
    size_t series, hits, of; /* simulated series; HITS of OF */
} selftest_nights;

/* Simulates one series for T, runs the history on it and adds the result to T. Fails as
 * res_changes_find does. */
BN_MUST_USE bn_code selftest_nights_trial(selftest_nights *t, gsl_rng *rng, bn_status *st);
/* Whether T is as it should be, or not judged. Bounds are those of selftest_share, as in
 * selftest_trials_judge: false changes at most 5 %, a change found at least in 95 %, the smallest
 * detectable change in 70 to 90 %. */
bool selftest_nights_pass(const selftest_nights *t);

#define SELFTEST_NIGHTS_MOST 96
/* Fills LIST with the figures of the table, before any trial; returns how many. */
size_t selftest_nights_plan(selftest_nights *list);
/* Runs the COUNT figures of LIST, few series of each if QUICK. BN_CANCELLED, and what
 * selftest_nights_trial says. */
BN_MUST_USE bn_code selftest_nights_run(bool quick, uint64_t seed, selftest_nights *list,
                                        size_t count, bn_status *st);
/* Appends the table; for people with words before and after it. */
void selftest_nights_write(const selftest_nights *list, size_t count, res_format format,
                           bn_text *out);
/* Appends an object for each figure to the array OUT. */
void selftest_nights_json(const selftest_nights *list, size_t count, json_t *out);

#endif
