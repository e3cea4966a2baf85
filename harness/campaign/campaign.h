/*
 * campaign.h - what runs many experiments: suites, comparisons of two runtimes, nights.
 * Each command returns its exit code. Prefixes suite_, compare_, night_.
 */
#ifndef BENCH_HARNESS_CAMPAIGN_H
#define BENCH_HARNESS_CAMPAIGN_H

#include "harness/jobs/jobs.h"

/* ---- bench suite ------------------------------------------------------------------ */

typedef struct suite_options {
    cli_output output;
    const char *store;
    /* In place of what the file names: none, NULL and 0 leave the file's. The runtimes' options
     * and flags are NULL-ended; NULL: none. */
    cli_list runtimes;
    const char *const *runtime_option, *const *xla_flag;
    const char *label; /* "": the file's */
    int64_t repetitions;
    const char *shard;          /* "I/N", "none"; NULL: what the environment says */
    cli_words filter, exclude;  /* patterns of titles */
    bool retry_failed, dry_run; /* repeat what failed; run nothing */
    const job_matrix *usual;    /* what bench run measures when nothing is said */
    /* What the record of an experiment says it was asked for: MATRIX as the options of bench
     * run (new reference). */
    json_t *(*echo)(const job_matrix *matrix);
} suite_options;

/* Runs suite WHAT, a name or a file. */
int suite_command(const suite_options *options, const char *what);

/* ---- bench compare ---------------------------------------------------------------- */

typedef struct compare_options {
    cli_output output;
    const job_matrix *matrix;           /* what is measured, but for runtimes, labels and store */
    cli_words runtimes, labels, stores; /* given twice, for A and B, or as told in compare.c */
    /* Of one side alone; NULL-ended. */
    const char *const *a_option, *const *b_option, *const *a_flag, *const *b_flag;
    int64_t pairs, control;
    double precision, budget, fail_if_slower; /* shares, and seconds */
    bool bisect;
    const char *suite;           /* in place of MATRIX; NULL: none */
    const suite_options *suites; /* how a suite is expanded and filtered */
    const char *conflict;        /* the first option given that a suite speaks for, or NULL */
    const char *report;          /* folder of the page, or NULL */
} compare_options;

int compare_command(const compare_options *options);
/* Exit codes and examples, for --help. */
extern const char compare_help[];
/* The exit code of bench compare, and of nightly, for words that they do not understand:
 * their 2 means slower. BISECT: the codes are git bisect's. */
int compare_usage(bool bisect);

/* ---- bench nightly ---------------------------------------------------------------- */

typedef struct night_options {
    const suite_options *suites; /* how the suite is run; its store is the nights' */
    const char *suite, *report;  /* what to run; folder of the page; NULL: not given */
    double night_hours, fail_if_slower;
} night_options;

int night_command(const night_options *options);
extern const char night_help[]; /* its exit codes */

#endif
