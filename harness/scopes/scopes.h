/*
 * scopes.h - bench study scopes: nodes, tracing time, FLOPs and device time of a step by module path
 * (layer1.0.conv1). Prefix scopes_.
 */
#ifndef BENCH_HARNESS_SCOPES_H
#define BENCH_HARNESS_SCOPES_H

#include "harness/jobs/jobs.h"

/* The figures that --weight can name. */
#define SCOPES_WEIGHTS "nodes, trace, flops, estimated, measured"
/* Choices of --preset. The simulated device lists them itself, but is too slow to ask while a shell
 * completes words. */
#define SCOPES_PRESETS                                                                             \
    "none, ideal, tpu-v4, tpu-v5e, tpu-v5p, tpu-v6e, h100, cpu-2, cpu-2-shared, tpu-v4-2023"

/* Options of bench study scopes; borrowed while the command runs. */
typedef struct scopes_options {
    cli_output output;
    job_matrix matrix; /* one value of each axis */
    const char *preset;       /* of the simulated device that estimates; "none": no estimate */
    int64_t levels;           /* of the tree; 0: all */
    double least;       /* branches that have a smaller share of every figure stand together */
    const char *weight; /* figure of stacks and flame graphs; NULL: the device's time */
    cli_words files;    /* stacks (.folded) and flame graphs (.svg, .png, .gp) */
} scopes_options;

/* Traces the step, asks for device times, prints the tree, writes the files; returns the exit
 * code. */
/* Appends to OUT bench study scopes' tree of E as text, without estimates. E->steps run under the
 * plugin's profiler, in a worker by ORDER, whose request is ignored; job_supervise_begin was
 * called. Fails as the worker does, and for a step that reads a value (BN_NOT_SUPPORTED). */
BN_MUST_USE bn_code scopes_report_put(const job_experiment *e, const job_order *order, bn_text *out,
                                      bn_status *st);
/* The job "scopes" (worker_job.run): runs the request's "experiment" under the plugin's profiler.
 * On a GPU it runs without CUDA graphs. The result is {"steps", "simulated", "graphs_off",
 * "device_ns", "ops": [{"name", "ns", "events"}]}, times of a step, or {"why"} without a profile.
 */
BN_MUST_USE bn_code scopes_job(const json_t *request, bn_status *st);

#endif
