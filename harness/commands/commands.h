/*
 * commands.h - commands that read, list, draw or copy, and bench run. Each takes the options
 * of the command line and returns the exit code. Prefix command_.
 */
#ifndef BENCH_HARNESS_COMMANDS_H
#define BENCH_HARNESS_COMMANDS_H

#include "harness/cli/cli.h"

int command_run(const cli_options *options);
int command_table(const cli_options *options);
int command_export(const cli_options *options);
/* FILES ends with NULL. */
int command_import(const cli_options *options, const char *const *files);
int command_list(const cli_options *options, const char *what);
int command_export_weights(const cli_options *options);
int command_plot(const cli_options *options, const char *what);
int command_report(const cli_options *options);
int command_history(const cli_options *options);

#endif
