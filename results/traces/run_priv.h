/*
 * run_priv.h - the timeline of a run as lanes of slices, which both formats write.
 */
#ifndef BENCH_RESULTS_TRACES_RUN_PRIV_H
#define BENCH_RESULTS_TRACES_RUN_PRIV_H

#include "results/traces/traces.h"

/* The lanes of a row, from 1; slices of a lane follow each other or lie within each other. */
typedef enum run_lane {
    RUN_LANE_STEPS = 1,
    RUN_LANE_PARTS,
    RUN_LANE_CALLS,
    RUN_LANE_ANNOTATIONS,
    RUN_LANE_DEVICE,
    RUN_LANE_PROFILE,
    RUN_LANE_END
} run_lane;
/* The name of LANE of ROW. */
void res_run_lane_name(bn_timeline *row, run_lane lane, char *name, size_t size);
/* The name of a step of KIND, without its number. */
const char *res_run_step_name(bn_step_kind kind);

/* A slice of a lane. */
typedef struct run_slice {
    run_lane lane;
    const char *name; /* not quoted */
    uint64_t begin_ns, end_ns;
    const bn_span *span;     /* NULL: a gap between executions */
    const uint64_t *part_ns; /* of a step, [BN_PART_COUNT]: the sum of its parts */
    uint64_t flow;           /* of a call that submits, and of its execution: the same, from 1 */
} run_slice;
typedef void run_visit(void *context, const run_slice *slice);
/* Calls VISIT for each slice of ROW; those of a lane come in the order of their beginnings, those
 * around others first. */
void res_run_walk(bn_timeline *row, run_visit *visit, void *context);
/* How many slices LANE has at most; in a row of no spans 0. */
size_t res_run_lane_most(const bn_timeline *row, run_lane lane);

/* The first time of all spans of the COUNT ROWS; 0 without any. */
uint64_t res_run_first_ns(bn_timeline *const *rows, size_t count);

/* Appends the COUNT ROWS as XSpace (run_xspace.c). */
void res_run_xspace(bn_timeline *const *rows, size_t count, bn_text *out);

#endif
