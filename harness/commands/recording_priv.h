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

/* What bench steps says: which steps they are, its tables as HTML, what their columns mean;
 * the device time by layer, as HTML. */
typedef struct command_steps_texts {
    const char *head, *tables, *legend, *layers;
} command_steps_texts;
/* Writes STEPS as a page into FOLDER, which is made: index.html, and a timeline next to it. Files
 * of an earlier page are replaced. (steps_page.c) */
BN_MUST_USE bn_code command_steps_page(const rec_steps *steps, const command_steps_texts *texts,
                                       const char *folder, bn_status *st);
/* Says the answer of the recording PATH on standard error, and writes its page into FOLDER.
 * BN_NOT_FOUND: it has no steps. */
BN_MUST_USE bn_code command_recording_page(const char *path, const char *folder, bn_status *st);

#endif
