/*
 * frontends.h - frameworks (front ends other than bench) that trace and dispatch the steps of our
 * models themselves, under the recorder: their table, the places of their scripts and Pythons, a
 * script's request and report (docs/frontends.md). And programs of theirs as text.
 *
 * Only frontend_versions and frontend_program_text start a process. A script's report is foreign:
 * each member is checked. Prefix frontend_.
 */
#ifndef BENCH_HARNESS_FRONTENDS_H
#define BENCH_HARNESS_FRONTENDS_H

#include <limits.h>

#include <jansson.h>

#include "results/records/records.h"
#include "runtime/base/base.h"

/* ---- the table (table.c) ---------------------------------------------------------------- */

/* A front end. Strings are literals. */
typedef struct frontend_info {
    const char *name;      /* in the axis "front_end"; its folder in contrib/frontends */
    const char *framework; /* for people */
    const char *modes;     /* words with commas between, the usual one first */
    const char *trains;    /* those of them that only train */
    const char *decodes;   /* those of them that have the phase decode; NULL: none */
    const char *summary;
    const char *models; /* where its definitions of our models are from */
    const char *values; /* how weights and inputs get in */
} frontend_info;

/* Row INDEX, from 0; NULL after the last. bench itself has none. */
const frontend_info *frontend_at(size_t index);
/* The row called NAME; NULL: bench itself, or unknown. */
const frontend_info *frontend_named(const char *name);
/* Whether ROW has MODE for PHASE (NULL: for any). */
bool frontend_has_mode(const frontend_info *row, const char *mode, const char *phase);

/* ---- places (place.c) -------------------------------------------------------------------- */

/* The files that run a front end. */
typedef struct frontend_place {
    char script[PATH_MAX];
    char python[PATH_MAX]; /* a path, or a name for PATH */
    bool bundled; /* the script is installed with bench: others must not be able to write it */
} frontend_place;

#define FRONTEND_RUN "run.py" /* the script that measures a model */
/*
 * Finds ROW's SCRIPT, such as FRONTEND_RUN: in the folder that BENCH_FRONTENDS names, or next to
 * bench; and its Python: what BENCH_FRONTEND_PYTHON_<NAME> names, or the virtual environment that
 * `make frontends` made. BN_NOT_FOUND says which is missing or belongs to another user, and the
 * command that installs it; BN_INVALID: others may write it.
 */
BN_MUST_USE bn_code frontend_find(const frontend_info *row, const char *script,
                                  frontend_place *place, bn_status *st);
#define FRONTEND_PINNED "requirements.txt" /* next to the script */
/* The packages that `make frontends` installs for the front end at PLACE, "NAME==VERSION" each: the
 * lines of its FRONTEND_PINNED (new reference; empty where there is none). */
json_t *frontend_pinned(const frontend_place *place);
/* "make frontends FRONTENDS=jax" */
void frontend_command(const frontend_info *row, char *text, size_t size);

/* ---- versions (versions.c) ------------------------------------------------------------------ */

/* Asks PLACE's Python for the versions of the packages that PINNED names: {"NAME": "VERSION"} of
 * those that it has (new reference); NULL where it gives no answer. Starts a Python, for at most 30
 * s, unless PINNED names none. */
json_t *frontend_versions(const frontend_place *place, const json_t *pinned);
/* Appends which of VERSIONS are not the pinned ones, "jax 0.9.0 where 0.10.2 is pinned, ...";
 * nothing where all are. Returns how many packages of PINNED are not in VERSIONS. */
size_t frontend_put_unpinned(const json_t *pinned, const json_t *versions, bn_text *out);
/* Appends the command by which PLACE's Python gets the pinned versions. */
void frontend_put_pin_command(const frontend_place *place, bn_text *out);

/* ---- the modules of a script (files.c) ----------------------------------------------------- */

/* The modules that a script can import, as they were when they were hashed. */
typedef struct frontend_files frontend_files;

/*
 * Hashes the files of PLACE's script: all whose names end in .py, .pyc or .so, in the folder
 * "common" next to the script's own, then in its own, with the folders in them; names that begin
 * with a dot are none, nor is what lies in __pycache__.
 * The digest is of these, in the order of their paths (part by part): of each its path from its
 * folder's name on, a zero byte, its size as a decimal number, a zero byte, its contents. To be
 * freed. BN_INVALID: they are too many, or one that is installed with bench can be written by
 * others.
 */
BN_MUST_USE bn_code frontend_files_hash(const frontend_place *place, frontend_files **files,
                                        bn_status *st);
const char *frontend_files_sha256(const frontend_files *files);
/* BN_CHANGED where one was written, replaced, renamed, added or removed since: a script that ran
 * meanwhile may have read either. */
BN_MUST_USE bn_code frontend_files_check(const frontend_files *files, bn_status *st);
void frontend_files_free(frontend_files *files); /* NULL allowed */

/* ---- a script's request (request.c) -------------------------------------------------------- */

typedef struct frontend_request {
    const res_experiment *what; /* resolved: with the model's own batch and sizes in it */
    const char *optimizer;      /* "sgd", "adamw" */
    double learning_rate;
    bool dropout;
    int64_t steps, warmup; /* the fewest measured steps; the most before them */
    double min_time;       /* seconds to measure at least; the later of the two counts */
    bool values;           /* values in place of times */
    const char *weights, *inputs, *report; /* paths */
} frontend_request;
/* The object that REQUEST.json is (new reference); NULL where a text is not UTF-8. */
json_t *frontend_request_to_json(const frontend_request *request);

/* ---- its report (report.c) ----------------------------------------------------------------- */

#define FRONTEND_LOSSES      3 /* of the first steps */
#define FRONTEND_MOST_STEPS  10000000
#define FRONTEND_MOST_ANSWER ((size_t)1 << 30) /* bytes of a report */
#define FRONTEND_TEXT        1000

typedef struct frontend_report {
    json_t *root; /* the whole answer; owned */
    /* The members below have been checked. Texts are of ROOT. */
    const char *what, *framework;
    double losses[FRONTEND_LOSSES];
    size_t loss_count;
    /* Of times: */
    uint64_t first_start_ns, last_end_ns; /* CLOCK_MONOTONIC */
    size_t steps;                         /* that were measured */
    double own_median_ns;                 /* of them, by the script's own clock */
    int64_t warmup_steps;
    double nodes_per_step, trace_ns_per_step; /* as the framework reports them; NaN: it does not */
} frontend_report;

/*
 * Reads the report at PATH, which answers REQUEST of ROW. A failure that the script reports becomes
 * the status: BN_NOT_FOUND, with the command that installs it, where the framework is not
 * installed, BN_NOT_SUPPORTED, BN_WRONG_RESULT (values that are not finite or do not fit) and
 * BN_EXECUTE (the rest). BN_FORMAT: the report is not one, or answers another request. To be freed
 * also after a failure.
 */
BN_MUST_USE bn_code frontend_report_read(const char *path, const frontend_info *row,
                                         const frontend_request *request, frontend_report *report,
                                         bn_status *st);
/* frontend_report_read of the SIZE bytes of TEXT. */
BN_MUST_USE bn_code frontend_report_parse(const char *text, size_t size, const frontend_info *row,
                                          const frontend_request *request, frontend_report *report,
                                          bn_status *st);
void frontend_report_free(frontend_report *report);
/* The members that a record keeps under "front_end" (new reference). */
json_t *frontend_report_provenance(const frontend_report *report);

/* ---- programs as text (text.c) ------------------------------------------------------------- */

/*
 * The SIZE bytes of a binary program at CODE, StableHLO byte code or a serialized HloModuleProto,
 * as StableHLO text into *TEXT (malloc, terminated by a zero byte that *LENGTH does not count), of
 * at most MOST bytes. JAX's libraries read it, in a process of its own with limits of memory and
 * time: a program is foreign, and may crash them. BN_NOT_FOUND: JAX is not installed, and the
 * message says how to; BN_TIMEOUT: it took too long; BN_FORMAT: JAX cannot read the program.
 */
BN_MUST_USE bn_code frontend_program_text(const void *code, size_t size, size_t most, char **text,
                                          size_t *length, bn_status *st);

#endif
