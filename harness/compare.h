/*
 * compare.h - the two ways of bench compare: measuring pairs of processes
 * (compare_run.c), and what both share (compare.c).
 */
#ifndef BENCH_HARNESS_COMPARE_H
#define BENCH_HARNESS_COMPARE_H

#include "harness/harness.h"

/* Exit codes of its own: 2 means slower, so what is wrong is 1. `git bisect run` takes 125
 * for a commit that cannot be judged and ends at 128 and more. */
enum {
    HN_COMPARE_FINE = 0,
    HN_COMPARE_ERROR = 1,
    HN_COMPARE_SLOWER = 2,
    HN_COMPARE_SKIP = 125,
    HN_COMPARE_ABORT = 128
};

/* What a comparison has so far. */
typedef struct hn_compare {
    const hn_options *options;
    const char *runtime[2], *label[2]; /* "A" and "B"; NULL: not given */
    res_versus versus;
    res_record **records; /* that were measured, all of them */
    size_t record_count;
    char store[4096]; /* where they went */
    char fault;       /* the side that could not be begun with; 0: none, or both */
} hn_compare;

/* Measures pairs until the stop rule ends it, the user does, or nothing can go on; what
 * was measured stands in COMPARE in any case. */
BN_MUST_USE bn_code hn_compare_measure(hn_compare *compare, bn_status *st);

#endif
