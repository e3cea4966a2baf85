/*
 * selftest.h - bench on trial: bench selftest, and published cases in bench replay. Prefixes
 * selftest_, published_.
 */
#ifndef BENCH_HARNESS_SELFTEST_H
#define BENCH_HARNESS_SELFTEST_H

#include "harness/jobs/jobs.h"

#define SELFTEST_MOST_LOAD 64 /* busy loops during a selftest */

/* Options of both commands; borrowed while they run. */
typedef struct selftest_options {
    cli_output output;
    const job_matrix *matrix; /* models, runtimes, seed, timeout: each trial takes what it needs */
    bool quick;               /* a part of the trial only; not of replay */
    /* Whether models and a seed were given; else MATRIX has those of bench run. */
    bool models_given, seed_given;
    /* Options of coverage. */
    int64_t tables, load; /* of each case, 0: not given; busy loops beside it */
    const char *file;     /* for its raw values; NULL: none */
} selftest_options;

/* Whether WHAT is the name of a published case. */
bool published_is_case(const char *what);
/* WHAT is the name of a published case. Returns the exit code. */
int published_run(const selftest_options *options, const char *what);
/* The job "selftest" (worker_job.run): host cost, of the request's experiment. */
BN_MUST_USE bn_code selftest_job(const json_t *request, bn_status *st);
/* The job "timeline-cost": steps of the request's experiment with and without a timeline. */
BN_MUST_USE bn_code selftest_timeline_job(const json_t *request, bn_status *st);

#endif
