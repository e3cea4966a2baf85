/*
 * verify.h - bench verify: our models against the golden values of PyTorch. Prefixes verify_,
 * golden_.
 */
#ifndef BENCH_HARNESS_VERIFY_H
#define BENCH_HARNESS_VERIFY_H

#include "harness/jobs/jobs.h"

typedef struct verify_options {
    cli_output output;
    const job_matrix *matrix; /* runtimes, modes, models; of its variants names of golden files,
                                 too; a worker takes what the golden values fix from them */
    const char *golden;       /* folder of golden values; "": those that come with bench */
    bool all;                 /* every entry of the folder */
} verify_options;

/* Compares, prints the table; returns the exit code. */
int verify_command(const verify_options *options);
/* The job "verify" of a worker. */
BN_MUST_USE bn_code verify_job(const json_t *request, bn_status *st);

#endif
