/*
 * suites_priv.h - suites: a file of matrices becomes a list of experiments, the list a plan that
 * has each experiment once a repetition.
 *
 *   suite_place.c   line and column of a member     suite_file.c    the file, validated
 *   suite_expand.c  matrices to experiments         suite_shard.c   the shard of a process
 *   suite_plan.c    repetitions, order              suite_stored.c  runs that the store has already
 *   suite_run.c     one after the other             suite.c         the command
 *   suite_owed.c    runs that other shards owe      suite_control.c another build as a control
 */
#ifndef BENCH_HARNESS_SUITE_H
#define BENCH_HARNESS_SUITE_H

#include "harness/campaign/campaign.h"
#include "harness/jobs/jobs.h"
#include "results/tables/tables.h"

/* ---- places (suite_place.c) ---------------------------------------------------- */

typedef struct suite_text {
    const char *file; /* as the user named it */
    const char *text; /* valid JSON, with a terminating zero */
} suite_text;

/* Fails with BN_INVALID: "FILE:LINE:COLUMN: POINTER: ...". The place is that of the value at
 * POINTER (a JSON pointer, RFC 6901), or with KEY that of its name. */
bn_code suite_fail(const suite_text *source, const char *pointer, bool key, bn_status *st,
                   const char *format, ...) BN_PRINTF(5, 6);
/* Writes to OUT, which may be POINTER, POINTER with one more part: NAME, escaped, or INDEX. */
#define SUITE_POINTER_TEXT 512
void suite_pointer(char out[SUITE_POINTER_TEXT], const char *pointer, const char *name);
void suite_pointer_at(char out[SUITE_POINTER_TEXT], const char *pointer, size_t index);

/* ---- members (suite_file.c) ------------------------------------------------------ */

typedef enum suite_kind {
    SUITE_AXIS, /* an axis of experiments: a list of values, or one of them */
    SUITE_NUMBER,
    SUITE_SPAN, /* seconds: a number, or a time with its unit as options take them */
    SUITE_TEXT,
    SUITE_WORDS /* a list of texts, or one of them */
} suite_kind;

/* The members of a matrix that replace models: the folder of a recording, whose step is run, or the
 * file of a program. */
#define SUITE_RECORDING "recording"
#define SUITE_PROGRAM   "program"

/* A member of "defaults", of a matrix or of an include. */
typedef struct suite_member {
    const char *name;
    suite_kind kind;
    const res_axis *axis; /* of SUITE_AXIS */
    const char *option;   /* its name in a record's experiment, and in messages */
    size_t offset;        /* of others, in suite_measure */
    double least, most;   /* of numbers */
    const char *words;    /* of texts: the choices, "a, b"; NULL: any */
    const char *with;     /* the member that it needs; NULL: none */
} suite_member;
/* Fills *MEMBER with member INDEX: first the axes, then how to measure. False after the last. */
bool suite_member_at(size_t index, suite_member *member);
/* The member called NAME; false where there is none. */
bool suite_member_of(const char *name, suite_member *member);
/* Reads VALUE of a SUITE_SPAN member, a number of seconds or text as "500ms"; false for others. */
bool suite_seconds(const json_t *value, double *seconds);
/* The work of MATRIX in place of models: SUITE_RECORDING, SUITE_PROGRAM; NULL: models. */
const char *suite_work_of(const json_t *matrix);
/* Whether AXIS applies to WORK, one of these two. */
bool suite_work_has(const char *work, res_axis_id axis);
/* Whether MEMBER takes a list of values, each of which makes an experiment. */
static inline bool suite_member_varies(const suite_member *member)
{
    return member->kind == SUITE_AXIS && !member->axis->single;
}

/* ---- suites ------------------------------------------------------------------------ */

/* A repetition is a process. As many as bench run takes, and intervals need three. */
#define SUITE_USUAL_REPETITIONS 4

/* The settings of a matrix. */
typedef struct suite_measure {
    job_matrix matrix;
    int64_t repetitions;
} suite_measure;

/* One experiment of a suite. */
typedef struct suite_item suite_item;
struct suite_item {
    job_experiment e;        /* as asked for */
    res_experiment resolved; /* e.what with "the model's own" and "auto" filled in */
    int repetitions;
    const char *plugin; /* the file of its plugin; "": known to its framework only */
    const char *sha256; /* of that file; "" likewise */
    char title[320];
    /* Its control: the same experiment on another build of the runtime, measured right before or
     * after each repetition; NULL: none. A control has none itself. */
    const suite_item *control;
    const suite_item *control_of; /* of a control: that one; NULL: it is none */
};

/* The digest that the file of ITEM's plugin must have; NULL: unknown. */
static inline const char *suite_planned(const suite_item *item)
{
    return item->sha256[0] ? item->sha256 : NULL;
}

/* A suite: its file, and the experiments made of it. */
typedef struct suite_spec {
    char *text; /* of the file */
    suite_text source;
    json_t *json;
    const char *name; /* points into JSON */
    uint64_t order_seed;
    bn_arena *arena;  /* memory of the items */
    json_t *echoes;   /* array: options of the items, as bench run would echo them */
    json_t *requests; /* array: of the recorded steps and the programs that items run */
    suite_item *items;
    size_t count, capacity;
    bn_text notes;             /* combinations that cannot be run, a line each */
    const char *control_store; /* of the controls' records; NULL: there are none */
} suite_spec;

/* Writes to PATH the file that WORD names: a path (with a slash, or ending in .json), or one of the
 * suites that come with bench. */
BN_MUST_USE bn_code suite_find(const char *word, char *path, size_t size, bn_status *st);
/* Reads and validates FILE; no items yet. Wrong contents are BN_INVALID with the place.
 * Ends with suite_close, also after a failure. */
BN_MUST_USE bn_code suite_open(const char *file, suite_spec *suite, bn_status *st);
/* suite_open with TEXT (copied) as the contents of FILE. */
BN_MUST_USE bn_code suite_parse(const char *file, const char *text, suite_spec *suite,
                                bn_status *st);
/* Fills in the items, each combination once, in the file's order. OPTIONS has the store, and
 * replacements of the file's settings (runtimes with their options, label, repetitions). Recordings
 * and programs are read, and the code of a recording's programs is checked: a fault of one ends the
 * suite before anything runs. */
BN_MUST_USE bn_code suite_expand(suite_spec *suite, const suite_options *options, bn_status *st);
void suite_close(suite_spec *suite);

/* ---- shards (suite_shard.c) ----------------------------------------------------------- */

typedef struct suite_shard {
    int index, of;    /* from 1; 1 of 1 is all */
    char source[128]; /* "--shard", "OMPI_COMM_WORLD_RANK", ...; "" when nothing is split */
} suite_shard;

/* WORD is --shard's value; NULL: the environment decides. */
BN_MUST_USE bn_code suite_shard_find(const char *word, suite_shard *shard, bn_status *st);
/* The shard of OF, from 1, that runs WHAT. Experiments that a table or a comparison compares
 * (modes, graphs, runtimes) and all repetitions are in one shard, hence on one machine. The answer
 * does not depend on the other experiments of the suite. A further shard takes its share from each
 * of the others and moves nothing else (rendezvous hashing: D. Thaler and C. Ravishankar, "Using
 * name-based mappings to increase hit rates", IEEE/ACM Transactions on Networking 6, 1998). */
int suite_shard_of(const res_experiment *what, int of);

/* ---- plans (suite_plan.c) ---------------------------------------------------------------- */

typedef enum suite_state { SUITE_OPEN, SUITE_DONE, SUITE_FAILED } suite_state;

/* One repetition of one item. */
typedef struct suite_run {
    const suite_item *item;
    int repetition; /* from 1 */
    char identity[BN_SHA256_TEXT];
    suite_state state;  /* in the store, before anything ran */
    bool last;          /* of those of its item that suite_to_run */
    bn_code failure;    /* of a failed one, the latest */
    res_record *record; /* the plan's: its latest good record, else its latest; NULL: none */
} suite_run;

/* What the summary of a suite counts. */
typedef struct suite_counts {
    size_t done, skipped, failed;
    size_t controls, failed_controls;
} suite_counts;

typedef struct suite_plan {
    suite_run *runs; /* in the order in which they are to be run */
    size_t count;
    res_collection stored; /* the runs' records, and files that cannot be read */
    size_t left;           /* set by suite_run_plan: runs that have no record */
    suite_counts counts;   /* likewise */
} suite_plan;

/*
 * The runs of SUITE that belong to SHARD and that OPTIONS do not filter out: first all
 * first repetitions, then all second ones, each round in an order of its own drawn from the
 * suite's order_seed, experiments of one group (job_same_group) together: a repetition is a
 * process that measures a group. So a drift of the machine hits all experiments alike, and a suite
 * that was stopped has whole rounds. The items must have their runtime's SHA-256. A store that does
 * not exist yet is empty. Ends with suite_plan_free, also after a failure.
 */
BN_MUST_USE bn_code suite_plan_make(const suite_spec *suite, const suite_options *options,
                                    const suite_shard *shard, suite_plan *plan, bn_status *st);
void suite_plan_free(suite_plan *plan);
/* Whether RUN is still to run; a failed one if OPTIONS retry it. */
bool suite_to_run(const suite_options *options, const suite_run *run);
/* Marks the runs of PLAN that STORE has a record of, and reads that record; PLAN has room for one
 * of each run. Records with wrong dates (res_misdated) only count as PLAN's misdates. Only records
 * that match by the store's index, which is updated, are opened. A STORE that does not exist yet is
 * empty. */
BN_MUST_USE bn_code suite_plan_look_up(suite_plan *plan, const char *store, bn_status *st);
/* Whether TITLE passes --filter and --exclude. */
bool suite_wanted(const char *title, const suite_options *options);

/* Runs the open runs (with --retry-failed also failed ones), and prints the table and the summary.
 */
cli_exit suite_run_plan(const suite_spec *suite, const suite_options *options,
                        const suite_shard *shard, res_format format, suite_plan *plan);

/* ---- runs that are owed (suite_owed.c) -------------------------------------------------- */

/* Runs that the whole suite lacks once a process of any shard has ended. */
typedef struct suite_owed {
    bool asked;           /* the suite is split, or --shard was given; else all below is unknown */
    bn_status why;        /* the store could not be read; BN_OK: it could */
    suite_plan whole;     /* all runs of the suite, and their records in the store */
    size_t count, failed; /* runs without a record; with one of a failure only */
    int shards;
} suite_owed;

/* Fills OWED by the store of OPTIONS as it is now. Ends with suite_owed_free, which SUITE
 * outlives. */
void suite_owed_find(const suite_spec *suite, const suite_options *options,
                     const suite_shard *shard, suite_owed *owed);
/* {known, processes, of, failed, shards, experiments, message} of docs/suites.md (new reference).
 */
json_t *suite_owed_to_json(const suite_owed *owed);
/* Reports it on standard error after a run that ended with CODE, unless that is a failure itself.
 * Returns CODE, or after --shard none a failure where runs are owed, or that is unknown. */
cli_exit suite_owed_say(const suite_owed *owed, const suite_spec *suite,
                        const suite_options *options, cli_exit code);
void suite_owed_free(suite_owed *owed);

/* The end of a suite. */
typedef struct suite_end {
    bool whole;                         /* each of its runs has a record, if only of a failure */
    char (*identities)[BN_SHA256_TEXT]; /* of all its runs, done before or now; to be freed */
    size_t count;
    suite_counts counts;
} suite_end;
/* Gives ITEM a control on FILE, a build with the digest SHA256, whose records go to STORE, one for
 * all controls of SUITE. STORE outlives SUITE, the others are copied. A FILE whose name is too long
 * for an experiment is BN_INVALID. */
BN_MUST_USE bn_code suite_add_control(suite_spec *suite, suite_item *item, const char *file,
                                      const char *sha256, const char *store, bn_status *st);

/* Called once the experiments of a suite and their runtimes' files are known. */
typedef struct suite_visitor {
    bn_code (*visit)(void *context, suite_spec *suite, bn_status *st);
    void *context;
} suite_visitor;
/* suite_command for another command, which fills END as well. Failures of controls are no failures
 * of the suite. VISITOR may be NULL. */
int suite_to_end(const suite_options *options, const char *what, const suite_visitor *visitor,
                 suite_end *end);

#endif
