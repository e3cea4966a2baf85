/*
 * options.h - all options of the command line: where their values lie (options.c says how they
 * are called), and the commands as bits.
 */
#ifndef BENCH_HARNESS_OPTIONS_H
#define BENCH_HARNESS_OPTIONS_H

#include "harness/campaign/campaign.h"
#include "harness/commands/commands.h"
#include "harness/selftest/selftest.h"
#include "harness/verify/verify.h"

typedef struct options {
    bool help, man, version;
    cli_output output;
    job_matrix matrix; /* of run, verify, list, selftest, export-weights, compare */
    job_matrix usual;  /* what bench run measures when nothing is said */
    const char *file;  /* --output; NULL: not given */
    const char *store; /* of commands that read or fill one */
    /* Of stored records. */
    command_selection selection;
    command_series series;
    const char *title, *table, *to, *from;
    /* Of campaigns and trials. */
    suite_options suite;
    const char *suite_option[CLI_MAX_REPEATS + 1], *suite_flag[CLI_MAX_REPEATS + 1];
    compare_options compare;
    const char *a_option[CLI_MAX_REPEATS + 1], *b_option[CLI_MAX_REPEATS + 1];
    const char *a_flag[CLI_MAX_REPEATS + 1], *b_flag[CLI_MAX_REPEATS + 1];
    double fail_if_slower;
    const char *suite_name, *report; /* --suite and --report; NULL: not given */
    const char *golden;
    bool all, quick;
    const char *what; /* the first option given that a suite speaks for, or NULL */
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
    OPTION_NIGHTLY = 1 << 14
};

/* The rows: one for each axis that a command takes, then the others. */
const cli_table *options_table(void);
/* Fills O with COMMAND's defaults and ARGV; what is no option goes to WORDS, at most MOST. Lists
 * lie in MEMORY, which outlives O. BN_INVALID for what the command does not take. */
BN_MUST_USE bn_code options_parse(uint32_t command, int argc, char **argv, bn_arena *memory,
                                  options *o, const char **words, int most, int *count,
                                  bn_status *st);
/* O's options of a suite, for the commands that run one; they point into O. */
suite_options options_suites(const options *o);

#endif
