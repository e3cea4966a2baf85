/*
 * commands.h - commands that run, list, read, draw or copy: a row each, for main.c. A command's
 * options stand beside its code. Prefix command_.
 */
#ifndef BENCH_HARNESS_COMMANDS_H
#define BENCH_HARNESS_COMMANDS_H

#include "harness/jobs/jobs.h"

/* Of models and runtimes. */
extern const cli_command command_run, command_list, command_export_weights;
/* Of programs that are not ours. */
extern const cli_command command_record, command_steps, command_graph, command_diff;
/* Of stored records, which are a folder, --store. Damaged ones are named on standard error; the
 * others count. */
extern const cli_command command_table, command_doctor, command_metrics, command_report,
    command_history, command_export, command_import;

#endif
