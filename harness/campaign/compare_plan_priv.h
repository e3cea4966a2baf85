/*
 * compare_plan_priv.h - the plan of a comparison (compare_plan.c), which compare_run.c carries out.
 */
#ifndef BENCH_HARNESS_COMPARE_PLAN_H
#define BENCH_HARNESS_COMPARE_PLAN_H

#include "harness/campaign/compare_priv.h"
#include "harness/campaign/suites_priv.h"

/* A row of the comparison: its experiment, and its order of pairs. */
typedef struct compare_row {
    size_t experiment;
    bool b_first[RES_MOST_PAIRS];
    size_t wanted;  /* pairs; the plan's are up to the first analysis, or of the first stage */
    size_t most;    /* pairs that the budget has time for */
    double pair_ns; /* the time of its first pair; 0: it had none */
} compare_row;

/* The experiments of a side's matrix or suite. */
typedef struct compare_found {
    job_experiment *list;
    res_experiment *resolved; /* with "the model's own" and the like filled in */
    bool *left_out;           /* by --filter and --exclude; NULL: none is */
    size_t count;
} compare_found;

/* An experiment that SIDE, 'A' or 'B', does not run. */
typedef struct compare_missing {
    const job_experiment *e;
    char side;
} compare_missing;

typedef struct compare_plan {
    compare_run *compare;
    /* Of orders, drawn anew for each comparison. The second process of a pair compiles small models
     * 3 % faster (210 pairs, two cores). In an order that was always the same, A first in 8 of 12
     * pairs, that made B's compile time too small in 20 of 20 comparisons of one build. */
    uint64_t order_seed;
    job_matrix sides[2]; /* of A and of B */
    compare_found found[2];
    job_experiment *list[2]; /* the same experiments, on A and on B */
    size_t experiments;
    compare_missing *missing;
    size_t missing_count;
    suite_spec suites[2];    /* that the lists are of, with --suite */
    compare_row *rows; /* one beside each of compare->versus.cells; missing ones want no pairs */
    char folder[2][2][4160]; /* [control][side]: of the records */
    json_t *request;         /* see job_matrix */
    char id[64];             /* of this comparison, in its records */
    size_t controls;
} compare_plan;

/* The interim analyses that decide the number of pairs; RES_PLAN_ONCE: verdicts do not. */
res_plan compare_plan_of(const compare_options *options);
/* The comparison in the record of process SIDE of pair NUMBER, from 1, of ROW (new
 * reference): provenance.comparison. A stored comparison is judged by it as it was planned. */
json_t *compare_plan_describe(const compare_plan *plan, size_t row, int side, size_t number);
/*
 * Makes the plan of COMPARE: all experiments that both runtimes can run, then the controls, spread
 * over them, then those that only one of them runs. COMPARE gets its store and a cell for each row,
 * and its fault where a side is to blame. Experiments that are left out are reported on standard
 * error. PLAN is all zero before. It points to COMPARE and into itself, so it must not move. End it
 * with compare_plan_free, also after a failure.
 */
BN_MUST_USE bn_code compare_plan_make(compare_run *compare, compare_plan *plan, bn_status *st);
void compare_plan_free(compare_plan *plan);

#endif
