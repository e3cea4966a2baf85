/*
 * claims_priv.h - bench selftest statistics: simulated speedup tables in numbers, judged by the
 * procedure of the real ones.
 */
#ifndef BENCH_HARNESS_CLAIMS_H
#define BENCH_HARNESS_CLAIMS_H

#include <gsl/gsl_rng.h>

#include "results/tables/tables.h"

/* How far the rows of a table differ in their standard deviation between processes. */
typedef enum selftest_rows_shape {
    SELFTEST_ROWS_LN,  /* 1 % times exp of N(0, 0.5) */
    SELFTEST_ROWS_WIDE /* log-uniform, 0.3 to 5 % */
} selftest_rows_shape;

/* Noise of the processes of a row, of mean 0 and standard deviation about 1. */
typedef enum selftest_noise {
    SELFTEST_NOISE_NORMAL,
    SELFTEST_NOISE_T3,     /* Student's t of 3 degrees of freedom: heavy tails */
    SELFTEST_NOISE_SKEWED, /* exponential: one side alone has slow processes */
    SELFTEST_NOISE_SPEEDS  /* each side of a pair is fast or slow, and 1 % of that besides */
} selftest_noise;

/* Tables of one kind. The caller sets the first members; the counts are zero at first. */
typedef struct selftest_claims {
    selftest_rows_shape rows;
    selftest_noise noise;
    size_t ratios, processes; /* of each table, of each ratio */
    double drift;             /* standard deviation between runs that all ratios share */
    size_t runs; /* from which the table has it, as bench calibrate does; 0: it is known */
    bool judged; /* its faults count */
    size_t tables;
    size_t held;    /* 95 % intervals that hold the truth, of ratios that do not differ */
    size_t wrong;   /* tables of such ratios with any claim */
    size_t claimed; /* tables in which a difference of 5 % of the first ratio is claimed */
    /* Tables without a claim on the first ratio say what a further one would claim: */
    size_t promised, found; /* and did, where just that was there */
    double mde;             /* sum of log(1 + it) */
} selftest_claims;

/* Simulates one table, and a further one where the first claims nothing, and adds them to C. */
void selftest_claims_trial(selftest_claims *c, gsl_rng *rng);

typedef enum selftest_claims_fault {
    SELFTEST_CLAIMS_COVERAGE = 1, /* outside of 93 to 97 %; with a drift of 94 to 99 % */
    SELFTEST_CLAIMS_WRONG = 2,    /* any claim in more than 6 % */
    SELFTEST_CLAIMS_POWER = 4,    /* 5 % claimed in less than 80 %: 34 rows (ln) of 4 processes */
    /* The detectable difference is found outside of 75 to 85 %, from four processes on. */
    SELFTEST_CLAIMS_PROMISE = 8
} selftest_claims_fault;
/* The faults of C, as bits: where the whole 95 % interval of a share is beyond the limit. 0 where
 * it is not judged. */
unsigned selftest_claims_judge(const selftest_claims *c);

/* ---- all of them (selftest_claims.c) ---------------------------------------------------- */

#define SELFTEST_MOST_CLAIMS 128
/* Fills LIST with the kinds of tables; returns how many. QUICK: some of them. */
size_t selftest_claims_plan(bool quick, selftest_claims *list);
/* Simulates all of LIST by SEED. BN_CANCELLED. */
BN_MUST_USE bn_code selftest_claims_run(selftest_claims *list, size_t count, bool quick,
                                        uint64_t seed, bn_status *st);
void selftest_claims_put(const selftest_claims *list, size_t count, res_format format,
                         bn_text *out);
/* Appends an object for each of LIST to ALL. */
void selftest_claims_json(const selftest_claims *list, size_t count, json_t *all);

#endif
