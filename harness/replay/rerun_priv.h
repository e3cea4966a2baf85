/*
 * rerun_priv.h - bench replay of a recording, from top to bottom:
 *
 *   rerun_command.c  processes on runtimes, and what is printed
 *   rerun_table.c    recorded and replayed times side by side
 *   rerun_step.c     the request for workers: programs, inputs, executions (harness/jobs/jobs.h)
 *   rerun_flow.c     which value goes where within a step and into the next one
 */
#ifndef BENCH_HARNESS_RERUN_PRIV_H
#define BENCH_HARNESS_RERUN_PRIV_H

#include "harness/replay/rerun.h"
#include "results/recordings/recordings.h"
#include "results/tables/tables.h"

/* ---- the flow of values (rerun_flow.c) --------------------------------------------------- */

#define RERUN_NONE SIZE_MAX

/* A buffer that is there before the step. */
typedef struct rerun_input {
    uint32_t buffer;
    size_t run, argument; /* its first use */
    size_t from;          /* the result, counted over the step's runs, that it is in the next step;
                             RERUN_NONE: none */
} rerun_input;

/* A step, and the one that followed. Values are numbers as in mode_sequence. */
typedef struct rerun_flow {
    const rec_process *process;
    const uint32_t *runs; /* executions of the step, [count]; those of the next follow them */
    size_t count;
    rerun_input *inputs;
    size_t input_count;
    size_t *first_result; /* [run]: how many results are before its own */
    size_t result_count;
    int64_t *values; /* [buffer]: 1 + its input, or -1 - its result; 0: neither */
} rerun_flow;

/* Follows the values of COUNT executions RUNS, behind which the next step's COUNT stand.
 * BN_NOT_SUPPORTED for executions on several devices, BN_FORMAT for arguments that the recording
 * lacks. To be freed also after a failure. */
BN_MUST_USE bn_code rerun_flow_make(const rec_process *process, const uint32_t *runs, size_t count,
                                    rerun_flow *flow, bn_status *st);
void rerun_flow_free(rerun_flow *flow);
/* The number of the value that argument ARGUMENT of run RUN is. */
size_t rerun_flow_value(const rerun_flow *flow, size_t run, size_t argument);

/* ---- the step (rerun_step.c) -------------------------------------------------------------- */

typedef struct rerun_step {
    json_t *request;
    char name[RES_TEXT], framework[RES_TEXT];
    uint32_t pid;
    size_t steady; /* steps that were recorded */
    size_t programs, executions, inputs, carried;
    double input_bytes;
    double wall_ns, device_ns; /* recorded medians; DEVICE_NS is NaN where it is not told */
} rerun_step;

/* Reads the recording PATH and makes the request of one of its steady steps. To be freed also after
 * a failure. */
BN_MUST_USE bn_code rerun_step_read(const char *path, const rerun_options *options,
                                    rerun_step *step, bn_status *st);
void rerun_step_free(rerun_step *step);

/* ---- what came of it (rerun_table.c) -------------------------------------------------------- */

/* The records of one runtime. */
typedef struct rerun_result {
    const job_experiment *experiment; /* of those back to back */
    res_record **queued, **awaited;   /* good and bad ones of all processes */
    size_t queued_count, awaited_count;
} rerun_result;

/* Prints all RESULTS beside what was recorded. */
void rerun_print(const rerun_step *step, const rerun_result *results, size_t count,
                 res_format format);

#endif
