/*
 * compare_priv.h - the two ways of bench compare: measuring pairs of processes
 * (compare_plan.c, compare_run.c, compare_pair.c), and what both share (compare.c).
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
    COMPARE_UNTOLD = 4, /* nothing slower was found, but it could hide */
    COMPARE_SKIP = 125,
    COMPARE_ABORT = 128
};

/* Two processes that are measured side by side (compare_pair.c). */
typedef struct compare_pair {
    job_experiment side[2];
    bool b_first;  /* B's process starts first */
    bool turns;    /* both live at the same time, and rounds are turns */
    uint64_t seed; /* of the turns */
    const char *title;
    size_t number, of; /* of A's process or B's, the first of the two */
    bool verbose, more; /* as job_order has them; MORE pairs come before the next look */
    char *build[2]; /* sha256 of each side's plugin (BN_SHA256_TEXT); "": this pair sets it */
} compare_pair;
/* Measures PAIR; RECORDS[side] are the caller's. Where a process fails FAILED says why, and the
 * letter of its side is returned; else 0. A process that ended well before keeps its record. Where
 * a side ran another build than its first one that is BN_CHANGED, and both keep their records. */
char compare_run_pair(const compare_pair *pair, res_record *records[2], bn_status *failed);

/* What a comparison has so far. */
typedef struct compare_run {
    const compare_options *options;
    const char *runtime[2], *label[2]; /* "A" and "B"; NULL: not given */
    res_versus versus;
    res_record **records; /* all that were measured; owned */
    size_t record_count, record_capacity;
    char store[4096]; /* where they went */
    char fault;       /* 'A' or 'B': the side that cannot be run; 0: none, or both */
} compare_run;

/* Measures pairs until the stop rule or the user ends it, or nothing can go on. What was measured
 * is in COMPARE in any case. */
BN_MUST_USE bn_code compare_measure(compare_run *compare, bn_status *st);

#endif
