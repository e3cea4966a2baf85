/*
 * options.h - all options of the command line: the struct that holds their values, and the commands
 * as bits. The rows are in options.c. Prefix options_.
 */
#ifndef BENCH_HARNESS_OPTIONS_H
#define BENCH_HARNESS_OPTIONS_H

#include "harness/campaign/campaign.h"
#include "harness/commands/commands.h"
#include "harness/estimate/estimate.h"
#include "harness/explain/explain.h"
#include "harness/replay/replay.h"
#include "harness/scopes/scopes.h"
#include "harness/selftest/selftest.h"
#include "harness/verify/verify.h"

typedef struct options {
    bool help, man, version;
    const char *replaced; /* what lists that were given again have lost, for people, or NULL */
    cli_output output;
    job_matrix matrix; /* of run, verify, list, selftest, export-weights, compare, replay; its
                          recorded step of import and steps, too */
    job_matrix usual;  /* the matrix of bench run with no options */
    const char *file;  /* --output; NULL: not given */
    const char *store; /* of commands on stores, suites and nights; run's is MATRIX' own */
    /* Of stored records. */
    command_selection selection;
    command_series series;
    command_metering metering; /* of run */
    const char *title, *table, *to;
    const char *site;      /* --site; NULL: not given */
    cli_words detailed;    /* ids of records */
    command_taking taking; /* of import, but for its store and what MATRIX has of it */
    command_recording recording;
    command_stepping stepping; /* of steps, but for what MATRIX has of it */
    /* Of campaigns and trials. */
    suite_options suite;
    const char *suite_option[CLI_MAX_REPEATS + 1], *suite_flag[CLI_MAX_REPEATS + 1];
    compare_options compare;
    const char *a_option[CLI_MAX_REPEATS + 1], *b_option[CLI_MAX_REPEATS + 1];
    const char *a_flag[CLI_MAX_REPEATS + 1], *b_flag[CLI_MAX_REPEATS + 1];
    double fail_if_slower;
    int64_t keep_builds;
    const char *suite_name, *report; /* --suite and --report; NULL: not given */
    const char *golden;
    bool all, quick;
    /* Of selftests. */
    cli_list trial_models, trial_seed; /* empty: not given */
    int64_t tables, load;
    /* Of estimates. */
    estimate_options estimate;
    const char *estimate_runtime;
    const char *topology_option[CLI_MAX_REPEATS + 1];
    scopes_options scopes;
    const char *what;   /* the first option given that cannot be given with a suite, or NULL */
    const char *paired; /* the first one given that says how pairs are run, or NULL */
} options;

/* The commands, as bits of the rows' member COMMANDS. */
enum {
    OPTION_RUN = 1 << 0,
    OPTION_VERIFY = 1 << 1,
    OPTION_TABLE = 1 << 2,
    OPTION_LIST = 1 << 3,
    OPTION_SELFTEST = 1 << 4,
    OPTION_WEIGHTS = 1 << 5,
    OPTION_REPLAY = 1 << 6,
    OPTION_SUITE = 1 << 7,
    OPTION_COMPARE = 1 << 8,
    OPTION_EXPORT = 1 << 9,
    OPTION_IMPORT = 1 << 10,
    OPTION_REPORT = 1 << 11,
    OPTION_PLOT = 1 << 12,
    OPTION_HISTORY = 1 << 13,
    OPTION_NIGHTLY = 1 << 14,
    OPTION_RECORD = 1 << 15,
    OPTION_STEPS = 1 << 16,
    OPTION_COMPLETION = 1 << 17,
    OPTION_ESTIMATE = 1 << 18,
    OPTION_PUBLISH = 1 << 19,
    OPTION_DOCTOR = 1 << 20,
    OPTION_METRICS = 1 << 21,
    OPTION_GRAPH = 1 << 22,
    OPTION_STUDY = 1 << 23,
    OPTION_EXPLAIN = 1 << 24,
    OPTION_SCOPES = 1 << 25
};

/* The rows: those of the axes, for what is measured and for what is asked about, then the others.
 */
const cli_table *options_table(void);
/* Fills O with COMMAND's defaults, what CONFIG (cli_config_read; NULL: nothing) says of the command
 * called NAME, and ARGV, which starts behind the command. Words that are no
 * options go to WORDS, which has room for MOST. Lists lie in MEMORY, which outlives O. BN_INVALID
 * for whatever the command does not take. */
BN_MUST_USE bn_code options_parse_with(uint32_t command, const char *name, const cli_config *config,
                                       int argc, char **argv, bn_arena *memory, options *o,
                                       const char **words, int most, int *count, bn_status *st);
/* The same without a file of defaults. */
BN_MUST_USE bn_code options_parse(uint32_t command, int argc, char **argv, bn_arena *memory,
                                  options *o, const char **words, int most, int *count,
                                  bn_status *st);
/* As cli_call.lone. */
bool options_lone(uint32_t command, const char *word, cli_lone *lone);
/* The command line that WORD, which is no command, may be meant for, into LINE; false: none. */
bool options_meant(const char *word, char *line, size_t size);
/* As cli_call.instead. */
const char *options_instead(uint32_t command, const char *option, size_t length);
/* Appends the values that ROW takes, "a, b, c", where they are few and known. */
void options_values(const cli_option *row, bn_text *out);
/* Appends the end of the manual: exit codes and environment, as roff. */
void options_man_end(bn_text *out);
/* O's options of a suite, for the commands that run or read one. They point into O. */
suite_options options_suites(const options *o);

#endif
