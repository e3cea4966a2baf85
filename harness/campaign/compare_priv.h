/*
 * compare_priv.h - bench compare: measuring pairs of processes (compare_plan.c, compare_run.c,
 * compare_pair.c), and the command, which also compares two stores (compare.c).
 */
#ifndef BENCH_HARNESS_COMPARE_H
#define BENCH_HARNESS_COMPARE_H

#include "harness/campaign/campaign.h"

/* As cli_command.refused, of bench compare and bench nightly: to these two, 2 means slower. With
 * --bisect the code is git bisect's. */
int compare_refused(int argc, char **argv);
#define COMPARE_FAIL_TEXT                                                                          \
    "B counts as slower only if it is slower by more than this, and as equivalent if it differs "  \
    "by less: 3%. With 0 anything slower counts, and a difference below 3 % is equivalent"
#include "results/findings/findings.h"

/* Exit codes of compare and nightly: 2 means slower, so errors are 1. `git bisect run` takes 125
 * for a commit that cannot be judged, and ends at 128 and more. */
enum {
    COMPARE_FINE = 0,
    COMPARE_ERROR = 1,
    COMPARE_SLOWER = 2,
    COMPARE_INCONCLUSIVE = 4, /* no slowdown found, but one would have been missed */
    COMPARE_SKIP = 125,
    COMPARE_ABORT = 128
};

/* Two processes that are measured together (compare_pair.c). */
typedef struct compare_pair {
    job_experiment side[2];
    bool b_first;  /* B's process starts first */
    bool turns;    /* both live at the same time, and rounds are turns */
    uint64_t seed; /* of the turns */
    const char *title;
    size_t number, of; /* of A's process or B's, the first of the two */
    bool verbose, more; /* as in job_order; MORE pairs come before the next interim analysis */
    char *build[2]; /* sha256 of each side's plugin (BN_SHA256_TEXT); "": this pair sets it */
    bool refused;   /* out: a side's runtime refused the user's options; it has no record */
} compare_pair;
/* Measures PAIR; RECORDS[side] are the caller's. Returns 0, or the letter of the side whose process
 * FAILED; the other one may still have a record. Where a side ran another build than its first one
 * that is BN_CHANGED, and both keep their records. */
char compare_run_pair(compare_pair *pair, res_record *records[2], bn_status *failed);

/* A comparison at work. */
typedef struct compare_run {
    const compare_options *options;
    const char *runtime[2], *label[2]; /* "A" and "B"; NULL: not given */
    res_versus versus;
    res_record **records; /* measured; owned */
    size_t record_count, record_capacity;
    char store[4096]; /* of the records */
    char fault;       /* 'A' or 'B': the side that cannot be run; 0: none, or both */
} compare_run;

/* Measures pairs until the stop rule, the user or a failure ends it. COMPARE has all measured pairs
 * in any case. */
BN_MUST_USE bn_code compare_measure(compare_run *compare, bn_status *st);

#endif
