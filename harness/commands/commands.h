/*
 * commands.h - commands that run, list, read, draw or copy. Each takes its own options, prints
 * what it has to say, and returns the exit code (cli_exit). Prefix command_.
 */
#ifndef BENCH_HARNESS_COMMANDS_H
#define BENCH_HARNESS_COMMANDS_H

#include "harness/jobs/jobs.h"

/* ---- of models and runtimes ----------------------------------------------------------- */

/* How bench run reports metrics, and whether it reports all else. */
typedef struct command_metering {
    const char *file;    /* of the report; "-": standard output; NULL: there is none */
    int64_t every;       /* processes after which it is written, too; 0: at the end only */
    const char *debug;   /* folder for all reports of the run; NULL: there is none */
    int64_t debug_every; /* of the measured steps, which are shown there; at least 1 */
} command_metering;
/* bench run: measures each experiment of MATRIX, whose request it makes, keeps a record of each,
 * prints the tables, and writes the report that METERING asks for. */
int command_run(job_matrix *matrix, const cli_output *output, const command_metering *metering);
/* bench list WHAT: models, modes, front-ends, runtimes, ops. MATRIX' axes of the network, and
 * batch, image and seq, say which model of each kind the list of models describes. */
int command_list(const job_matrix *matrix, const cli_output *output, const char *what);
/* bench export-weights: writes the initial weights of MATRIX' one model into FILE, which must not
 * exist unless --force is given; NULL: not given, which is refused. */
int command_export_weights(const job_matrix *matrix, const cli_output *output, const char *file);

/* ---- of programs that are not ours ---------------------------------------------------- */

/* How bench record runs a program. */
typedef struct command_recording {
    const char *folder;  /* of the recording; NULL: a new one in ./recordings */
    const char *runtime; /* that is recorded: a name or path, or "auto" */
    double limit_bytes;  /* of each process's events and programs */
    int64_t profile;     /* executions that the plugin's profiler is to see; 0: none */
    bool verbose;        /* also say what the program's environment gets */
} command_recording;
/* bench record: runs WORDS, a program and its arguments that end with NULL, with the recorder
 * between it and the runtime. The exit code is the program's. */
int command_record(const command_recording *own, const char *const *words);
/* Examples and exit codes, for --help. */
extern const char command_record_help[];

/* What bench steps is told. */
typedef struct command_stepping {
    int64_t process;          /* 0: the one with most executions */
    int64_t device;           /* its id; -1: the one with most executions */
    const char *step_program; /* the first of a step; NULL: steps are looked for */
    const char *trace;        /* file of a timeline, too; NULL: none */
} command_stepping;
/* bench steps: the steps of the recording in FOLDER, where their time went, and what that says. */
int command_steps(const command_stepping *own, const cli_output *output, const char *folder);

/* bench graph WORDS. "text" and a file: the program in it as StableHLO text. "diff" and two files,
 * or a recording: what differs between two programs, or between those of one name; the exit code is
 * CLI_EXIT_FAILED where something does. */
int command_graph(const cli_output *output, const char *const *words);
/* Its words and exit codes, for --help. */
extern const char command_graph_help[];

/* ---- of stored records ------------------------------------------------------------------ */

/* STORE is a folder of records. Damaged ones are named on standard error; the others count. */

/* bench export: the records in FORMAT, into FILE, a file or a folder; NULL: standard output. What
 * is there is replaced by FORCE only. */
int command_export(const char *store, const char *format, const char *file, bool force);
/* What bench import is told. */
typedef struct command_taking {
    const char *store;
    const char *from; /* a format; NULL: recordings */
    /* Of recordings; NULL or 0: not given. */
    const char *model, *phase, *step_program;
    int64_t process;
} command_taking;
/* bench import: WORDS, which end with NULL, are files in a format of others, or the folders of
 * recordings, and become records of the store. */
int command_import(const command_taking *own, const char *const *words);

/* Which records of a store are asked about: for each axis some values; an empty list: all. */
typedef struct command_selection {
    const char *store;
    cli_list axis[RES_AXIS_COUNT];
} command_selection;
/* bench table: prints the table called TABLE of the newest records that SELECTION asks for. */
int command_table(const command_selection *selection, const char *table, const cli_output *output);
/* bench doctor: what could be mended in the newest runs that SELECTION asks for, or, where its
 * store is a recording, in the steps that STEPPING chooses of it; the most costly first.
 * CLI_EXIT_OK also where there are complaints. */
int command_doctor(const command_selection *selection, const command_stepping *stepping,
                   const cli_output *output);
/* bench metrics WORDS, which end with NULL: the report of a folder of records, of which SELECTION
 * chooses some, of a record, or of a file with a report; "diff" and two of these: what differs. */
int command_metrics(const command_selection *selection, const cli_output *output,
                    const char *const *words);

/* How series over nights are made. */
typedef struct command_series {
    const char *metric;  /* the name of a res_metric */
    double night_hours;  /* records of one build within so many hours are one night */
    double level;        /* probability of any false change point in a series */
    double least_change; /* a share: smaller changes are not shown */
    bool reindex;        /* read every record again, whatever the index says */
} command_series;

/* bench plot WHAT, into FILE; NULL: not given, which is refused. So for report. */
int command_plot(const command_selection *selection, const char *what, const cli_output *output,
                 const char *file);
/* bench report: a page called TITLE into FILE. */
int command_report(const command_selection *selection, const command_series *series,
                   const char *title, const cli_output *output, const char *file);
/* What bench publish is told. */
typedef struct command_publishing {
    const char *store, *folder; /* FOLDER NULL: not given, which is refused */
    const char *title;
    const char *const *asked; /* ids of records whose details are wanted */
    size_t asked_count;
    bool verbose; /* also say how many records were read */
} command_publishing;
/* bench publish: a site over the store; of SERIES, the hours of a night and whether the index is
 * made anew count. */
int command_publish(const command_publishing *own, const command_series *series);
/* bench history; with FILE, which may be NULL, also a picture of the one series. */
int command_history(const command_selection *selection, const command_series *series,
                    const cli_output *output, const char *file);

#endif
