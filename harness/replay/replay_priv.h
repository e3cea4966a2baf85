/*
 * replay_priv.h - bench replay of a recording: processes on runtimes (replay_command.c), times that
 * were estimated (replay_estimates.c), and recorded and replayed times side by side
 * (replay_table.c). harness/jobs/step.c makes the request.
 */
#ifndef BENCH_HARNESS_REPLAY_PRIV_H
#define BENCH_HARNESS_REPLAY_PRIV_H

#include "harness/replay/replay.h"
#include "results/tables/tables.h"

/* Variants of a step: the modes of recorded steps, in their order. */
enum { REPLAY_QUEUED, REPLAY_AWAITED, REPLAY_PACED, REPLAY_VARIANTS };

/* The records of one runtime. */
typedef struct replay_result {
    const job_experiment *experiment;  /* of those back to back */
    res_record **records[REPLAY_VARIANTS]; /* good and bad ones of all processes */
    size_t counts[REPLAY_VARIANTS];
} replay_result;

/* Has REQUEST, of a recorded step, state to a simulated device the times that the file PATH has of
 * its programs, as bench estimate printed them (replay_estimates.c). BN_INVALID: they are of
 * another step, some are missing, or they are of several topologies; BN_FORMAT, BN_IO. */
BN_MUST_USE bn_code replay_take_estimates(json_t *request, const char *path, bn_status *st);

/* Prints all RESULTS next to the recorded figures, as OUTPUT asks for. FORMAT is that of
 * cli_format. */
void replay_print(const job_step *step, const replay_result *results, size_t count,
                  res_format format, const cli_output *output);

#endif
