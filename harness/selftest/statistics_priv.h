/*
 * statistics_priv.h - bench selftest statistics: simulated sessions whose truth is known, and
 * whether a statistical procedure is right about them often enough.
 */
#ifndef BENCH_HARNESS_STATISTICS_H
#define BENCH_HARNESS_STATISTICS_H

#include <gsl/gsl_rng.h>

#include "results/stats/stats.h"

/* ---- sessions (simulate.c) ---------------------------------------------------- */

#define SELFTEST_SIM_STEPS 20 /* of each process */

/* Disturbances of a machine and its processes. Sizes are differences of logarithms: 0.01 is about
 * 1 %. */
typedef struct selftest_scenario {
    const char *name, *what;
    double step;         /* standard deviation of a step */
    double process;      /* of a process: layout of memory, placement of threads */
    double modes;        /* half of the processes, by chance, are so much slower */
    double drift;        /* the machine ends slower by up to so much */
    double outliers;     /* at most this share of the steps takes 2 to 10 times as long */
    double disturbed;    /* this share of the processes takes 1.1 to 2 times as long */
    double periodic;     /* a wave of this height; its period is 4 steps to 4 processes */
    double wander, keep; /* the machine's speed is AR(1): its deviation, the share kept a step */
    /* How many points more families than 5 % may have a false alarm, and how many fewer intervals
     * than 95 % may hold the truth. */
    double more_alarms, fewer_held;
} selftest_scenario;

/* Ended by a row without a name. */
extern const selftest_scenario selftest_scenarios[];

/* Two sides of PAIRS processes, each with the median of SELFTEST_SIM_STEPS steps, in ns. */
typedef struct selftest_session_sim {
    size_t pairs;
    double median[2][RES_MOST_PAIRS];
} selftest_session_sim;

/* Sets in B_FIRST in which of PAIRS pairs B runs first, as res_order does. */
typedef void selftest_order(uint64_t seed, size_t pairs, bool *b_first);

/* Fills OUT with a session in which both sides are the same program. */
void selftest_simulate(const selftest_scenario *scenario, size_t pairs, selftest_order *order,
                       gsl_rng *rng, selftest_session_sim *out);
/* Makes OUT of IN, with B's steps FACTOR times as long. */
void selftest_sim_slow(const selftest_session_sim *in, double factor, selftest_session_sim *out);

/* ---- trials and judgement (statistics.c) ------------------------------------------- */

/* The procedure on trial. Each member has the contract of its namesake in stats.h: res_order,
 * res_compare, res_compare_family. Tests have others. */
typedef struct selftest_procedure {
    selftest_order *order;
    bn_code (*compare)(const res_values *values, const res_compare_options *options,
                       res_comparison *comparison, bn_status *st);
    void (*family)(res_comparison *list, size_t count, const res_compare_options *options);
} selftest_procedure;
extern const selftest_procedure selftest_our_procedure;

/* The most comparisons that are judged together; the first is the one that is slowed. */
#define SELFTEST_SIM_MOST 32

/* Slowdowns that are injected. */
#define SELFTEST_SIM_EFFECTS 3
extern const double selftest_sim_effects[SELFTEST_SIM_EFFECTS];

/* Counts over TRIALS families. The caller sets scenario, pairs, plan and family; the rest is
 * zero at first. */
typedef struct selftest_trials {
    const selftest_scenario *scenario;
    size_t pairs, family;
    res_plan plan; /* each ends at the first interim analysis that decides it; PAIRS are at most */
    size_t trials;
    size_t alarms;         /* families of like sides in which a difference was claimed */
    size_t held;           /* the first's interval of the ratio contains the truth */
    size_t equivalent;     /* the first, of like sides, is called equivalent */
    size_t used;           /* pairs of the first, of like sides */
    /* Of the first, slowed by each effect: */
    size_t found[SELFTEST_SIM_EFFECTS];
    size_t held_slowed[SELFTEST_SIM_EFFECTS];
    size_t used_slowed[SELFTEST_SIM_EFFECTS];
    double predicted[SELFTEST_SIM_EFFECTS]; /* sums of res_power; not with interim analyses */
    size_t wrongly_equivalent;              /* the largest effect is called equivalent */
    size_t promised;                        /* a minimum detectable effect was named */
    size_t mde_found;                       /* it was injected, and found */
    double mde;                             /* sum of log(1 + it) */
} selftest_trials;

/* Simulates one family, runs PROCEDURE on it, and adds the result to T. */
BN_MUST_USE bn_code selftest_trial(selftest_trials *t, const selftest_procedure *procedure,
                                   gsl_rng *rng, bn_status *st);

/* A share with its exact 95 % interval (C. J. Clopper and E. S. Pearson, "The use
 * of confidence or fiducial limits illustrated in the case of the binomial",
 * Biometrika 26, 1934). */
res_interval selftest_share(size_t hits, size_t of);

/* The smallest share of intervals that contain the truth: of like sides and of slowed ones. */
size_t selftest_least_held(const selftest_trials *t);

/* Faults of a procedure. Bounds are those of selftest_share: a procedure that errs by exactly as
 * much as it may passes with 97.5 %. */
typedef enum selftest_fault {
    /* The lower bound of the families with false alarms is above 5 %, or the scenario's level. */
    SELFTEST_FAULT_ALARMS = 1,
    /* The upper bound of the intervals that contain the truth is below 95 %, or the scenario's
     * level, of like sides or of slowed ones. */
    SELFTEST_FAULT_COVERAGE = 2,
    /* The minimum detectable effect is found too rarely or too often: its share's interval lies
     * outside of 70 to 90 %. Not with interim analyses, which detect less than all pairs. */
    SELFTEST_FAULT_MDE = 4,
    /* An effect is found more than 15 points less often than predicted. (The prediction comes from
     * the spread of few pairs, which six know to a third.) Not with interim analyses. */
    SELFTEST_FAULT_POWER = 8,
    /* The lower bound of those wrongly called equivalent is above 5 %; or, in the quiet scenario,
     * less than 90 % of like sides are called equivalent, where pairs suffice for that. */
    SELFTEST_FAULT_EQUIVALENT = 16
} selftest_fault;
/* The faults of T, as bits of selftest_fault; 0: it passes. */
unsigned selftest_trials_judge(const selftest_trials *t);

#endif
