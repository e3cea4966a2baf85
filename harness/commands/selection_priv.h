/*
 * selection_priv.h - which records of a folder a command is asked about, and their series.
 */
#ifndef BENCH_HARNESS_SELECTION_H
#define BENCH_HARNESS_SELECTION_H

#include "harness/commands/commands.h"
#include "results/nights/nights.h"

/* Whether SELECTION asks for E. The name of a runtime's file stands for its path. */
bool command_selected(const command_selection *selection, const res_experiment *e);

/* Zero at first; release with command_history_free. */
typedef struct command_history_data {
    res_index index;
    res_history history;
} command_history_data;
/* The series of the records that SELECTION asks for; there may be none. To be freed also after a
 * failure. */
BN_MUST_USE bn_code command_history_load(const command_selection *selection,
                                         const command_series *series, command_history_data *data,
                                         bn_status *st);
void command_history_free(command_history_data *data);

#endif
