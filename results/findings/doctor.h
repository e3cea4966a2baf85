/*
 * doctor.h - what could be mended in the steps of records, and what that would save. Prefix res_.
 */
#ifndef BENCH_RESULTS_DOCTOR_H
#define BENCH_RESULTS_DOCTOR_H

#include "results/findings/findings.h"

typedef enum res_rule {
    RES_RULE_COMPILES,   /* measured steps still compile or load programs */
    RES_RULE_READS,      /* steps read values back to the host */
    RES_RULE_FALLBACKS,  /* the host computes ops of a step */
    RES_RULE_TRACING,    /* a lazy step is traced anew each time */
    RES_RULE_EXECUTIONS, /* a step is several executions, each with its overhead */
    RES_RULE_OVERHEAD,   /* the overhead of one execution is long beside what it computes */
    RES_RULE_INPUT,      /* steps wait for their batch */
    RES_RULE_PADDING,    /* the device computes positions that hold no token */
    RES_RULE_RELEASE,    /* the plugin takes long to take handles back */
    RES_RULE_START,      /* compiling takes long at each start */
    RES_RULE_COUNT
} res_rule;
const char *res_rule_name(res_rule rule); /* "compiles", "reads", ... */

/* Parts of the step above which a rule complains: most rules; steps that compile, of the mean step;
 * the overhead of one execution, which only a larger step or steps in flight can hide; a start. */
#define RES_DOCTOR_SHARE    0.05
#define RES_DOCTOR_COMPILES 0.01
#define RES_DOCTOR_OVERHEAD 0.25
#define RES_DOCTOR_START_NS 10e9

typedef struct res_complaint {
    res_rule rule;
    size_t row;           /* index into the table's rows */
    res_interval cost_ns; /* of a step; of RES_RULE_START: of each start */
    double share;         /* of the step; of RES_RULE_COMPILES: of the mean step; of START NaN */
    /* A step: programs made, values read, ops of the host, nodes traced, executions, slow releases;
     * of RES_RULE_PADDING the share of the positions; or 1. */
    double count;
    bool at_most;     /* the cost is at most COST_NS: of reads without a device time */
    double hidden_ns; /* of RES_RULE_TRACING: what steps in flight hide of it; NaN: unknown */
} res_complaint;

/* All complaints on the rows of SPEEDUP, the most costly first, those on starts last; *LIST is the
 * caller's (free). False without memory. */
bool res_doctor(const res_speedup *speedup, res_complaint **list, size_t *count);

#endif
