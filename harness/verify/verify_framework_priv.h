/*
 * verify_framework_priv.h - golden values of a framework's script, in a worker.
 */
#ifndef BENCH_HARNESS_VERIFY_FRAMEWORK_H
#define BENCH_HARNESS_VERIFY_FRAMEWORK_H

#include "harness/jobs/jobs.h"
#include "harness/verify/golden_priv.h"

/* Runs the script of E's framework on the inputs of C's file, with files in the folder SCRATCH,
 * and compares its answer. E was configured by the file (golden_configure). */
BN_MUST_USE bn_code verify_framework(const golden_check *c, job_experiment *e, const char *scratch,
                                     bn_status *st);

#endif
