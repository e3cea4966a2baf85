/*
 * rerun_priv.h - bench replay of a recording: processes on runtimes (rerun_command.c), and recorded
 * and replayed times side by side (rerun_table.c). harness/jobs/step.c makes the request.
 */
#ifndef BENCH_HARNESS_RERUN_PRIV_H
#define BENCH_HARNESS_RERUN_PRIV_H

#include "harness/replay/rerun.h"
#include "results/tables/tables.h"

/* The records of one runtime. */
typedef struct rerun_result {
    const job_experiment *experiment; /* of those back to back */
    res_record **queued, **awaited;   /* good and bad ones of all processes */
    size_t queued_count, awaited_count;
} rerun_result;

/* Prints all RESULTS beside what was recorded. */
void rerun_print(const job_step *step, const rerun_result *results, size_t count,
                 res_format format);

#endif
