/*
 * study.h - bench study: a sweep over one axis, measured as bench run measures, and the line that
 * fits its steps, in numbers and in words. Prefix study_.
 */
#ifndef BENCH_HARNESS_STUDY_H
#define BENCH_HARNESS_STUDY_H

#include "harness/jobs/jobs.h"

#define STUDY_NAMES "graphs|in-flight|batch|arguments|buckets|depth|trace-cost"

/* Options of bench study; borrowed while the command runs. */
typedef struct study_options {
    cli_output output;
    job_matrix matrix;   /* one value of each axis, but several of the swept one, or its usual one:
                            then the study takes its own; its modes are set */
    const char *picture; /* --output: file of a picture, too; NULL: none */
} study_options;

#endif
