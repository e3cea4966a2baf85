/*
 * step_priv.h - the flow of values in a recorded step, and the host's work in between
 * (step_flow.c), for its request (step.c).
 */
#ifndef BENCH_HARNESS_STEP_PRIV_H
#define BENCH_HARNESS_STEP_PRIV_H

#include "harness/jobs/jobs.h"
#include "results/recordings/recordings.h"

#define JOB_FLOW_NONE SIZE_MAX

/* A buffer that is there before the step. */
typedef struct job_flow_input {
    uint32_t buffer;
    size_t run, argument; /* its first use */
    size_t from;          /* the result, counted over the step's runs, that it is in the next step;
                             JOB_FLOW_NONE: none */
} job_flow_input;

/* A step, and the one that followed. Values are numbered as in mode_sequence. */
typedef struct job_flow {
    const rec_process *process;
    const uint32_t *runs; /* executions of the step, [count]; those of the next follow them */
    size_t count;
    job_flow_input *inputs;
    size_t input_count;
    size_t *first_result; /* [run]: how many results are before its own */
    size_t result_count;
    int64_t *values; /* [buffer]: 1 + its input, or -1 - its result; 0: neither */
} job_flow;

/* Follows the values of COUNT executions RUNS, each on one device, which the next step's COUNT
 * follow. BN_FORMAT for arguments that the recording lacks, or that are made only after they are
 * taken. To be freed also after a failure. */
BN_MUST_USE bn_code job_flow_make(const rec_process *process, const uint32_t *runs, size_t count,
                                  job_flow *flow, bn_status *st);
void job_flow_free(job_flow *flow);
/* The number of the value that argument ARGUMENT of run RUN is. */
size_t job_flow_value(const job_flow *flow, size_t run, size_t argument);

/* Number of devices that the executions of one client need from the begin of the first of the COUNT
 * executions RUNS to that of the next step's first, RUNS[COUNT]. Those of other clients, as of a
 * CPU next to a GPU, do not count. *RUN is the first of RUNS that ran on several, or JOB_FLOW_NONE.
 */
size_t job_flow_devices(const rec_process *process, const uint32_t *runs, size_t count,
                        size_t *run);

/* Member "host" of the request (new reference), of a step of COUNT executions, by STEPS; sums into
 * STEP. */
json_t *job_step_host(const rec_steps *steps, size_t count, job_step *step);

#endif
