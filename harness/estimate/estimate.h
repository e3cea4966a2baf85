/*
 * estimate.h - bench estimate: a compiler's estimate of a step's time on a device that is not here.
 * Each graph of the step is compiled ahead of time, in a worker; nothing is executed. Prefix
 * estimate_.
 */
#ifndef BENCH_HARNESS_ESTIMATE_H
#define BENCH_HARNESS_ESTIMATE_H

#include "harness/jobs/jobs.h"

/* Options of bench estimate; borrowed while the command runs. */
typedef struct estimate_options {
    cli_output output;
    job_matrix matrix;
    cli_list topologies;       /* "v4:1x1x1", "v4:1x1x1/megacore" */
    const char *option[CLI_MAX_REPEATS + 1]; /* NAME=VALUE for the topology; ends with NULL */
    const char *cache_dir;     /* of what was compiled before; "": none */
    const char *into_sim;      /* file of settings for the simulated device; NULL: none */
    const char *store;         /* folder for a record of each step; NULL: none */
    const char *picture;       /* file for a picture over the number of layers; NULL: none */
    bool by_scope, check_published;
} estimate_options;

/* The job "estimate" (worker_job.run): compiles the request's "text" for its "topology". */
BN_MUST_USE bn_code estimate_job(const json_t *request, bn_status *st);

#endif
