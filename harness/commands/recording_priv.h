/*
 * recording_priv.h - what commands on recordings share.
 */
#ifndef BENCH_HARNESS_RECORDING_H
#define BENCH_HARNESS_RECORDING_H

#include "harness/jobs/jobs.h"
#include "results/recordings/recordings.h"
#include "results/tables/tables.h"

/* Which steps of a recording are asked about. */
typedef struct command_stepping {
    job_recorded recorded; /* its process and its step's program */
    int64_t device;        /* its id; -1: the one with most executions */
} command_stepping;
/* The row of its device; those of job_recorded_table are the others. */
const cli_table *command_stepping_table(void);

/* Says on standard error what of RECORDING cannot be read; returns whether there is anything. */
bool command_say_damage(const rec_recording *recording);
/* Appends WORDS, sentences of a recording, for FORMAT, in lines as wide as narrow tables. */
void command_put_words(const char *words, res_format format, bn_text *out);

#endif
