/*
 * cli.h - the command line: exit codes, messages, options. Prefix cli_.
 */
#ifndef BENCH_HARNESS_CLI_H
#define BENCH_HARNESS_CLI_H

#include <jansson.h>

#include "runtime/base/base.h"

/* ---- exit codes (documented in --help and the man page) ------------------- */

typedef enum cli_exit {
    CLI_EXIT_OK = 0,
    CLI_EXIT_FAILED = 1,      /* an experiment failed, verify or selftest did not pass */
    CLI_EXIT_USAGE = 2,       /* unknown command, option, model, mode, ... */
    CLI_EXIT_ENVIRONMENT = 3, /* no such plugin, not a plugin, store not writable, disk full */
    CLI_EXIT_INTERRUPTED = 130
} cli_exit;

/* The exit code for a failure of CODE. */
cli_exit cli_exit_for(bn_code code);
/* "bench: MESSAGE" on standard error; returns the exit code for ST's code. */
cli_exit cli_complain(const bn_status *st);

/* ---- the progress line (line.c) --------------------------------------------- */

/* Whether standard error is a terminal. */
bool cli_terminal(void);
/* Shows TEXT in place of the line that is shown; cuts it, in place, to the terminal's width. */
void cli_line_show(char *text);
/* Takes the line back, so that other output can be written. */
void cli_line_clear(void);

/* ---- options -------------------------------------------------------------- */

#define CLI_MAX_REPEATS 32
#define CLI_MAX_PATHS   4096 /* files given by repeating one option */

/* Values of the command line. Lists are comma-separated text as given. */
typedef struct cli_options {
    const char *model, *variant, *mode, *phase, *batch, *image, *seq, *dtype, *graphs, *layout,
        *runtime, *in_flight, *optimizer, *dropout, *lengths, *device_time;
    const char *program; /* NULL: models are run */
    const char *input[CLI_MAX_PATHS + 1], *outputs[CLI_MAX_PATHS + 1], *check[CLI_MAX_PATHS + 1];
    double rtol, atol;
    const char *runtime_option[CLI_MAX_REPEATS + 1]; /* NULL-ended */
    const char *xla_flag[CLI_MAX_REPEATS + 1];
    const char *label, *pin, *cache_dir, *store, *format, *golden;
    const char *weights, *output;  /* NULL: not given */
    const char *table, *to, *from; /* of bench table, export, import */
    /* Of compare: what is given twice, and what is one side's alone. */
    const char *sides[CLI_MAX_REPEATS + 1], *labels[CLI_MAX_REPEATS + 1], *stores[CLI_MAX_REPEATS + 1];
    const char *a_option[CLI_MAX_REPEATS + 1], *b_option[CLI_MAX_REPEATS + 1];
    const char *a_flag[CLI_MAX_REPEATS + 1], *b_flag[CLI_MAX_REPEATS + 1];
    double precision, budget, fail_if_slower; /* shares, and seconds */
    int64_t pairs, control;
    bool bisect;
    /* Of stored records: lists, NULL is all. */
    const char *only_model, *only_mode, *only_phase, *only_runtime, *only_graphs, *only_batch;
    const char *title, *metric;
    const char *suite, *report; /* of nightly and compare; NULL: not given */
    const char *what;           /* the first option given that a suite would speak for, or NULL */
    int64_t steps, warmup, seed, buckets, trace_cost_ns;
    double min_time, timeout, level, least_change, night_hours;
    const char *filter[CLI_MAX_PATHS + 1], *exclude[CLI_MAX_PATHS + 1];
    const char *suite_runtime, *shard; /* of a suite; NULL: not given */
    int64_t repetitions;               /* of a suite; 0: not given */
    bool retry_failed, dry_run;
    bool verbose, all, quick, reindex, help, man, version;
} cli_options;

/* Bits of the commands that take an option. */
enum {
    CLI_CMD_RUN = 1,
    CLI_CMD_VERIFY = 2,
    CLI_CMD_TABLE = 4,
    CLI_CMD_LIST = 8,
    CLI_CMD_SELFTEST = 16,
    CLI_CMD_EXPORT_WEIGHTS = 32,
    CLI_CMD_REPLAY = 64,
    CLI_CMD_SUITE = 128,
    CLI_CMD_COMPARE = 256,
    CLI_CMD_EXPORT = 512,
    CLI_CMD_IMPORT = 1024,
    CLI_CMD_REPORT = 2048,
    CLI_CMD_PLOT = 4096,
    CLI_CMD_HISTORY = 8192,
    CLI_CMD_NIGHTLY = 16384
};

/* Defaults, then ARGV; what is not an option goes to REST (at most MAX). */
BN_MUST_USE bn_code cli_options_parse(unsigned command, int argc, char **argv, cli_options *options,
                                     const char **rest, int max_rest, int *rest_count,
                                     bn_status *st);
/* The options that COMMAND takes, as help text and as roff. */
void cli_options_help(unsigned command, bn_text *out);
void cli_options_man(bn_text *out);
/* {"model": "resnet50", ...}: the options of COMMAND as they stand (new reference). */
json_t *cli_options_echo(unsigned command, const cli_options *options);

#endif
