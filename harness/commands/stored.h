/*
 * stored.h - which records of a folder a command is asked about, and their series.
 */
#ifndef BENCH_HARNESS_STORED_H
#define BENCH_HARNESS_STORED_H

#include "harness/cli/cli.h"
#include "results/findings/findings.h"

/* Whether NAME is in LIST, words with commas between; NULL has all. */
bool command_listed(const char *list, const char *name);
/* Whether the options for stored records (--model, --mode, ...) ask for E; a runtime's path
 * may be given by its file's name. */
bool command_stored_wanted(const cli_options *options, const res_experiment *e);

/* Zero-initialise; release with command_series_free. */
typedef struct command_series {
    res_index index;
    res_history history;
} command_series;
/* The series that the options ask for, which may be none. */
BN_MUST_USE bn_code command_series_load(const cli_options *options, command_series *series, bn_status *st);
void command_series_free(command_series *series);

#endif
