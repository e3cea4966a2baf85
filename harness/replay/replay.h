/*
 * replay.h - bench replay of a recording: the programs of a recorded step with the flow of values
 * between them, on any runtime, without the framework. Prefix replay_.
 */
#ifndef BENCH_HARNESS_REPLAY_H
#define BENCH_HARNESS_REPLAY_H

#include "harness/jobs/jobs.h"

/* Whether PATH names a recording, that is a folder or a path with a slash. */
bool replay_is_recording(const char *path);
/* Replays the recorded step that MATRIX names. With the file ESTIMATES, which may be NULL, its
 * programs take the times of that file on a simulated device. Returns the exit code. */
int replay_run(const job_matrix *matrix, const char *estimates, const cli_output *output);

#endif
