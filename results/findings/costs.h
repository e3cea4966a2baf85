/*
 * costs.h - what the host does for a step, shared among what the step has: traced nodes,
 * executions, their arguments and results. For a front end and mode, the same over all steps that
 * it ran. Prefix res_.
 */
#ifndef BENCH_RESULTS_FINDINGS_COSTS_H
#define BENCH_RESULTS_FINDINGS_COSTS_H

#include "results/findings/findings.h"
#include "results/studies/studies.h"

/* A row of the speedup table. All times in ns; figures are over the processes that count. */
typedef struct res_cost {
    const res_speedup_row *row;   /* borrowed */
    double nodes, executions;     /* of a step; of the latest process that counts */
    double arguments, results;    /* of all executions of a step together */
    res_over trace, node;         /* trace, hash and lookup of a step; of each traced node */
    res_over dispatch, execution; /* the plugin's execute calls of a step; of each */
    res_over over_device;         /* wall time minus device time of a step */
    /* Wall time minus the PJRT times of a step's executions. They have the start of an execution in
     * them, by any source; device times have it or not, by their source. */
    res_over over_pjrt;
    bool over_device_refused; /* the device time contradicts the rest */
} res_cost;

/* The rows of one runtime, front end, mode and emulated cost of a node. */
typedef struct res_cost_fit {
    const res_record *example; /* of the first of them; borrowed */
    size_t rows, traced;       /* how many; in how many of them nodes are traced in each step */
    size_t processes;          /* of each row; the fewest */
    res_interval node;         /* geometric mean over the rows that trace; NaN where none does */
    /* Dispatch of an execution over its arguments and results: the line's base and slope. NaN where
     * all rows have the same number. */
    res_interval execution, value;
    res_fit verdict; /* whether rows lie on the line */
    double off;  /* by how much the farthest does not, as a share; NaN: no line */
} res_cost_fit;

typedef struct res_costs {
    res_cost *list;
    size_t count;
    res_cost_fit *fits; /* in the order of their first rows */
    size_t fit_count;
} res_costs;

/* Of the rows of SPEEDUP, which must outlive COSTS, that have a good record with a ledger. */
void res_costs_make(const res_speedup *speedup, res_costs *costs);
void res_costs_free(res_costs *costs);

#endif
