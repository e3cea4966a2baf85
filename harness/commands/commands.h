/*
 * commands.h - commands that run, list, read, draw or copy. Each takes its own options and
 * returns the exit code. Prefix command_.
 */
#ifndef BENCH_HARNESS_COMMANDS_H
#define BENCH_HARNESS_COMMANDS_H

#include "harness/jobs/jobs.h"
#include "results/findings/findings.h"

/* bench run: measures each experiment of MATRIX, keeps a record of each, prints the tables. */
int command_run(const job_matrix *matrix, const cli_output *output);
/* bench list WHAT: models, modes, runtimes, ops. The network axes of MATRIX, and batch, image
 * and seq, say of which model of each kind. */
int command_list(const job_matrix *matrix, const cli_output *output, const char *what);
/* bench export-weights: the initial weights of MATRIX' one model into FILE; NULL: not given. */
int command_export_weights(const job_matrix *matrix, const cli_output *output, const char *file);

/* ---- of stored records ------------------------------------------------------------- */

/* bench table: TABLE of the folder STORE. */
int command_table(const char *store, const char *table, const cli_output *output);

/* bench export: the records of STORE in FORMAT, into FILE, a file or folder; NULL: standard
 * output. */
int command_export(const char *store, const char *format, const char *file);
/* bench import: FILES, which end with NULL, in FORMAT, into STORE. */
int command_import(const char *store, const char *format, const char *const *files);

/* Which records of a folder are asked about: of each axis some values; none: all. */
typedef struct command_selection {
    const char *store;
    cli_list axis[RES_AXIS_COUNT];
} command_selection;

/* How series over nights are made and told. */
typedef struct command_series {
    const char *metric;
    double night_hours, level, least_change;
    bool reindex;
} command_series;

/* bench plot WHAT, into FILE; NULL: not given. */
int command_plot(const command_selection *selection, const char *what, const char *file);
/* bench report: a page called TITLE into FILE; NULL: not given. */
int command_report(const command_selection *selection, const command_series *series,
                   const char *title, const char *file);
/* bench history; with FILE also a picture of the one series. */
int command_history(const command_selection *selection, const command_series *series,
                    const cli_output *output, const char *file);

#endif
