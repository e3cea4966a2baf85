/*
 * verdicts_priv.h - bench selftest statistics: simulated comparisons of processes in numbers, some
 * of which are slow, with the product's own plan, test, detector and count.
 */
#ifndef BENCH_HARNESS_VERDICTS_H
#define BENCH_HARNESS_VERDICTS_H

#include <gsl/gsl_rng.h>

#include "results/tables/tables.h"

/* Noise of the log of a process, of standard deviation about 1. */
typedef enum selftest_draw {
    SELFTEST_DRAW_NORMAL,
    SELFTEST_DRAW_T3,    /* Student's t of 3 degrees of freedom: heavy tails */
    SELFTEST_DRAW_SPEEDS /* fast or slow by 5 standard deviations, and a fifth of one besides */
} selftest_draw;

/* The most experiments of a simulated comparison. */
#define SELFTEST_MOST_EXPERIMENTS 6

/* Comparisons of one kind, each of EXPERIMENTS that are alike and a control. The caller sets the
 * first members; the counts are zero at first. */
typedef struct selftest_verdicts {
    selftest_draw draw;
    double spread;  /* standard deviation of a process' log */
    double slow[2]; /* share of A's and of B's processes that take half as long again */
    double effect;  /* B's others are so much slower */
    size_t experiments;
    res_plan plan;
    size_t pairs; /* at most */
    size_t comparisons;
    size_t of[RES_UNDECIDED + 1]; /* experiments by their verdicts */
    size_t used;                  /* pairs of experiments */
    size_t b_slow;                /* comparisons in which B is said to have slow processes */
    size_t claims;                /* with any claim: that, or an experiment slower or faster */
    size_t passed;                /* all experiments equivalent, and no such claim: exit code 0 */
    size_t hidden; /* experiments called equivalent although a process was seen to be slow */
} selftest_verdicts;

/* Simulates one comparison and adds it to V. */
BN_MUST_USE bn_code selftest_verdicts_trial(selftest_verdicts *v, gsl_rng *rng, bn_status *st);

/* Whether both sides are alike. */
bool selftest_verdicts_alike(const selftest_verdicts *v);

typedef enum selftest_verdicts_fault {
    SELFTEST_VERDICTS_HIDDEN = 1, /* any experiment is equivalent with a process seen to be slow */
    /* Like sides: the lower bound of the comparisons whose B "has slow processes" is above 1.5 % */
    SELFTEST_VERDICTS_SLOW = 2,
    /* Like sides: the lower bound of those with any claim is above 5 % */
    SELFTEST_VERDICTS_CLAIMS = 4,
    /* Like sides, quiet and none slow: less than 95 % of the experiments are equivalent */
    SELFTEST_VERDICTS_EQUIVALENT = 8
} selftest_verdicts_fault;
/* The faults of V, as bits; 0: it passes. */
unsigned selftest_verdicts_judge(const selftest_verdicts *v);

/* ---- all of them (selftest_verdicts.c) ---------------------------------------------------- */

#define SELFTEST_MOST_VERDICTS 64
/* Fills LIST with the kinds of comparisons; returns how many. QUICK: some of them. */
size_t selftest_verdicts_plan(bool quick, selftest_verdicts *list);
/* Simulates them. BN_CANCELLED. */
BN_MUST_USE bn_code selftest_verdicts_run(selftest_verdicts *list, size_t count, bool quick,
                                          uint64_t seed, bn_status *st);
void selftest_verdicts_put(const selftest_verdicts *list, size_t count, res_format format,
                           bn_text *out);
/* Appends an object for each to the array ALL. */
void selftest_verdicts_json(const selftest_verdicts *list, size_t count, json_t *all);

#endif
