/*
 * explain.h - bench explain: graphs that a model's first steps compile, causes of later compiles
 * and captures, graph breaks, reads and ops of the host. Prefix explain_.
 */
#ifndef BENCH_HARNESS_EXPLAIN_H
#define BENCH_HARNESS_EXPLAIN_H

#include "harness/jobs/jobs.h"

/* Options of bench explain; borrowed while the command runs. */
typedef struct explain_options {
    cli_output output;
    job_matrix matrix; /* of one experiment, lazy or capture; its STEPS are run */
} explain_options;

/* Runs the steps in a worker and prints what happened; returns the exit code, which is
 * CLI_EXIT_OK also where there are findings. */
/* Appends to OUT bench explain's text of the first E->steps steps of E, an experiment of bench's
 * own in lazy mode or capture. They run in a worker by ORDER, whose request is ignored;
 * job_supervise_begin was called. Fails as the steps and the worker do. */
BN_MUST_USE bn_code explain_report(const job_experiment *e, const job_order *order, bn_text *out,
                                   bn_status *st);
/* The job "explain" (worker_job.run): runs the request's "experiment" and answers with the
 * explanation, an object as docs/explain.md has it. */
BN_MUST_USE bn_code explain_job(const json_t *request, bn_status *st);

#endif
