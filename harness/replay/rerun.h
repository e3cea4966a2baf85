/*
 * rerun.h - bench replay of a recording: the programs of a recorded step with the flow of values
 * between them, on any runtime, without the framework. Prefix rerun_.
 */
#ifndef BENCH_HARNESS_RERUN_H
#define BENCH_HARNESS_RERUN_H

#include "harness/jobs/jobs.h"

/* Borrowed while the command runs. */
typedef struct rerun_options {
    cli_output output;
    const job_matrix *matrix; /* runtimes, processes, times, store: as of bench run */
    int64_t pid;              /* of the recorded process; 0: the one with most executions */
    const char *step_program; /* name or hash of a step's first program; NULL: found */
    const char *cost;         /* "recorded" or "roofline": see job_is_step */
    const char *name;         /* of the records' model; NULL: the recording's folder's */
} rerun_options;

/* Whether PATH is a folder, as recordings are, and no word for something else. */
bool rerun_is_recording(const char *path);
/* Replays the recording in the folder PATH. Returns the exit code. */
int rerun_command(const rerun_options *options, const char *path);

#endif
