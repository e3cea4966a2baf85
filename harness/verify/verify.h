/*
 * verify.h - bench verify: our models against the golden values of PyTorch. Prefixes verify_,
 * golden_.
 */
#ifndef BENCH_HARNESS_VERIFY_H
#define BENCH_HARNESS_VERIFY_H

#include "harness/jobs/jobs.h"

/* Options of bench verify; borrowed while the command runs. */
typedef struct verify_options {
    cli_output output;
    /* Runtimes, modes, models and variants; a variant is the name of a golden file's. Batch, sizes,
     * seed and optimizer come from the file. */
    job_matrix matrix;
    const char *golden; /* folder of golden values; "": the one that comes with bench */
    bool all;           /* every entry of the folder */
} verify_options;

/* The job "verify" (worker_job.run): the request's "entry" is the path of a golden file. */
BN_MUST_USE bn_code verify_job(const json_t *request, bn_status *st);

#endif
