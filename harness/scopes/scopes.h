/*
 * scopes.h - bench study scopes: what each part of a model (its module path, layer1.0.conv1) adds to a
 * step: nodes, tracing time, FLOPs, device time. Prefix scopes_.
 */
#ifndef BENCH_HARNESS_SCOPES_H
#define BENCH_HARNESS_SCOPES_H

#include "harness/jobs/jobs.h"

/* The figures that --weight can name. */
#define SCOPES_WEIGHTS "nodes, trace, flops, estimated, measured"
/* What --preset can name: the simulated device has these and says so itself, but is not asked while
 * a shell waits for words to complete. */
#define SCOPES_PRESETS                                                                             \
    "none, ideal, tpu-v4, tpu-v5e, tpu-v5p, tpu-v6e, h100, cpu-2, cpu-2-shared, tpu-v4-2023"

/* What is to be looked at; borrowed while the command runs. */
typedef struct scopes_options {
    cli_output output;
    job_matrix matrix; /* one value of each axis */
    const char *preset;       /* of the simulated device that estimates; "none": no estimate */
    int64_t levels;           /* of the tree; 0: all */
    double least;       /* branches that have a smaller share of every figure stand together */
    const char *weight; /* figure of stacks and flame graphs; NULL: the device's time */
    cli_words files;    /* stacks (.folded) and flame graphs (.svg, .png, .gp) */
} scopes_options;

/* Appends to OUT the tree that bench study scopes prints of E, whose steps are those that run under the
 * plugin's profiler, as text; no device time is estimated. job_supervise_begin was called; a worker
 * runs as ORDER says, whose request is not looked at. Its failures are those of this call, as is a
 * step that reads a value (BN_NOT_SUPPORTED). */
BN_MUST_USE bn_code scopes_report_put(const job_experiment *e, const job_order *order, bn_text *out,
                                      bn_status *st);
/* The job "scopes" (worker_job.run): runs the request's "experiment" under the plugin's profiler.
 * On a GPU it runs without CUDA graphs. The result is {"steps", "simulated", "graphs_off",
 * "device_ns", "ops": [{"name", "ns", "events"}]}, times of a step, or {"why"} where the plugin
 * does not tell. */
BN_MUST_USE bn_code scopes_job(const json_t *request, bn_status *st);

#endif
