/*
 * rerun_priv.h - bench replay of a recording: processes on runtimes (rerun_command.c), times that
 * were estimated (rerun_estimates.c), and recorded and replayed times side by side (rerun_table.c).
 * harness/jobs/step.c makes the request.
 */
#ifndef BENCH_HARNESS_RERUN_PRIV_H
#define BENCH_HARNESS_RERUN_PRIV_H

#include "harness/replay/rerun.h"
#include "results/tables/tables.h"

/* The ways in which a step is measured: the modes of recorded steps, in their order. */
typedef enum rerun_way { RERUN_QUEUED, RERUN_AWAITED, RERUN_PACED, RERUN_WAYS } rerun_way;

/* The records of one runtime. */
typedef struct rerun_result {
    const job_experiment *experiment; /* of those back to back */
    res_record **records[RERUN_WAYS]; /* good and bad ones of all processes */
    size_t counts[RERUN_WAYS];
} rerun_result;

/* Has REQUEST, of a recorded step, state to a simulated device the times that the file PATH has of
 * its programs, as bench estimate printed them (rerun_estimates.c). BN_INVALID: they are of another
 * step, some are missing, or they are of several topologies; BN_FORMAT, BN_IO. */
BN_MUST_USE bn_code rerun_take_estimates(json_t *request, const char *path, bn_status *st);

/* Prints all RESULTS beside what was recorded, as OUTPUT asks for. FORMAT is that of cli_format. */
void rerun_print(const job_step *step, const rerun_result *results, size_t count, res_format format,
                 const cli_output *output);

#endif
