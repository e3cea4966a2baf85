/*
 * campaign.h - commands of many experiments: suites, comparisons of two runtimes, nights. Each
 * prints its results and returns its exit code. Options are borrowed while it runs. Prefixes
 * suite_, compare_, night_.
 */
#ifndef BENCH_HARNESS_CAMPAIGN_H
#define BENCH_HARNESS_CAMPAIGN_H

#include "harness/jobs/jobs.h"

/* ---- bench suite ------------------------------------------------------------------ */

/* The suites that come with bench. */
#define SUITE_NAMES "smoke, reference, nightly"

typedef struct suite_options {
    cli_output output;
    const char *store;
    const char *earlier; /* store of earlier runs, which say how long this one takes; NULL: STORE */
    /* These replace what the file says; empty lists, NULL, "" and 0 leave the file's. Options and
     * flags, which end with NULL, are of RUNTIMES and need them. */
    cli_list runtimes;
    const char *runtime_option[CLI_MAX_REPEATS + 1], *xla_flag[CLI_MAX_REPEATS + 1];
    const char *label;
    int64_t repetitions;
    const char *shard;         /* "I/N", "none"; NULL: what a launcher's environment says */
    cli_words filter, exclude; /* patterns of titles */
    bool retry_failed;         /* repeat experiments that failed before */
    bool dry_run;              /* list what would run, and run nothing */
    /* Called with PLACE before each process; NULL: never. Its failure ends the suite, as a store
     * does that takes no more records. */
    bn_code (*may_write)(void *place, bn_status *st);
    void *place;
} suite_options;

/* Rows of suite_options that suites, nights and comparisons share, by these bits: which runtimes,
 * their options and label; which titles; repetitions; the rest of bench suite's own. */
enum {
    SUITE_ROWS_RUNTIMES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3,
    SUITE_ROWS_TITLES = 1 << 4 | 1 << 5,
    SUITE_ROWS_REPEATED = 1 << 6 | 1 << 7,
    SUITE_ROWS_OWN = 1 << 8 | 1 << 9
};
const cli_table *suite_table(void);

/* ---- bench compare ---------------------------------------------------------------- */

typedef struct compare_options {
    cli_output output;
    const job_matrix *matrix; /* what is measured; its runtime, label and store are not looked at */
    cli_words runtimes, labels; /* each given twice, for A and for B, or once with a comma */
    cli_words stores; /* one: for the records; two, or one with a comma: nothing is run, and the
                         records of the two are compared */
    /* Options and flags of one side alone; each list ends with NULL. */
    const char *const *a_option, *const *b_option, *const *a_flag, *const *b_flag;
    int64_t pairs;               /* of processes; 0: until it is decided, by interim analyses */
    int64_t control;             /* experiments in which A is compared with itself, too */
    double precision;            /* share to which wall times are to be known; 0: not asked for */
    double budget;               /* seconds; 0: no limit */
    double fail_if_slower;       /* share; 0: anything slower counts */
    bool bisect;                 /* exit codes for git bisect run */
    const char *suite;           /* in place of MATRIX; NULL: none */
    const suite_options *suites; /* how a suite is expanded and filtered */
    const char *conflict;        /* an option given that fits no suite and no stores, or NULL */
    const char *paired;          /* one that says how pairs are run, and fits no stores, or NULL */
    const char *report;          /* folder of the page, or NULL */
} compare_options;

/* ---- bench nightly ---------------------------------------------------------------- */

typedef struct night_options {
    const suite_options *suites; /* how the suite is run; its store is the nights' */
    const char *suite;           /* what to run; NULL: not given, which is refused */
    const char *report;          /* folder of the page; the same */
    const char *site, *site_title; /* folder of a site over the store, NULL: none; its title */
    double night_hours;          /* records of one build within so many hours are one night */
    double fail_if_slower;       /* share, as for compare */
    int64_t keep_builds;         /* of each runtime, in the store; 0: none, and no controls */
} night_options;

#endif
