/*
 * selftest.h - the program on trial: bench selftest, and published cases in bench replay.
 * Prefixes selftest_, replay_.
 */
#ifndef BENCH_HARNESS_SELFTEST_H
#define BENCH_HARNESS_SELFTEST_H

#include "harness/jobs/jobs.h"

/* Of both commands. */
typedef struct selftest_options {
    cli_output output;
    const job_matrix *matrix; /* models, runtimes and how to measure, for those that take them */
    bool quick;               /* a part of it only */
} selftest_options;

/* WHAT is the name of a selftest, or of a published case. Each returns the exit code. */
int selftest_command(const selftest_options *options, const char *what);
int replay_command(const selftest_options *options, const char *what);
/* The job "selftest" of a worker. */
BN_MUST_USE bn_code selftest_job(const json_t *request, bn_status *st);

#endif
