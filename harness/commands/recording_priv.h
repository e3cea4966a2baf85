/*
 * recording_priv.h - shared by commands on recordings.
 */
#ifndef BENCH_HARNESS_RECORDING_H
#define BENCH_HARNESS_RECORDING_H

#include "harness/jobs/jobs.h"
#include "results/recordings/recordings.h"
#include "results/tables/tables.h"

/* Selects steps of a recording. */
typedef struct command_stepping {
    job_recorded recorded; /* its process and its step's program */
    int64_t device;        /* its id; -1: the one with the most executions */
} command_stepping;
/* The row of the device; the others are those of job_recorded_table. */
const cli_table *command_stepping_table(void);

/* Reports on standard error what of RECORDING cannot be read; true: something cannot. */
bool command_say_damage(const rec_recording *recording);
/* Appends WORDS, sentences of a recording, for FORMAT, in lines as wide as narrow tables. */
void command_put_words(const char *words, res_format format, bn_text *out);

#endif
