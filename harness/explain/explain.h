/*
 * explain.h - bench explain: what a model's first steps compile, what would have them compiled or
 * captured anew, and why that happened; where graphs break, values are read, and the host computes.
 * Prefix explain_.
 */
#ifndef BENCH_HARNESS_EXPLAIN_H
#define BENCH_HARNESS_EXPLAIN_H

#include "harness/jobs/jobs.h"

/* What is to be explained; borrowed while the command runs. */
typedef struct explain_options {
    cli_output output;
    job_matrix matrix; /* of one experiment, lazy or capture; its STEPS are run */
} explain_options;

/* Appends to OUT what bench explain says of the first E->steps steps of E, an experiment of bench's
 * own in lazy mode or capture, as text. They run in a worker, as ORDER says, whose request is not
 * looked at; job_supervise_begin was called. The failures of steps and worker are those of this
 * call. */
BN_MUST_USE bn_code explain_report(const job_experiment *e, const job_order *order, bn_text *out,
                                   bn_status *st);
/* The job "explain" (worker_job.run): runs the request's "experiment" and answers with the
 * explanation, an object as docs/explain.md has it. */
BN_MUST_USE bn_code explain_job(const json_t *request, bn_status *st);

#endif
