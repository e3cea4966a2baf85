/*
 * experiment.h - one experiment, ready for a worker, and its checks before a worker starts.
 */
#ifndef BENCH_HARNESS_JOBS_EXPERIMENT_H
#define BENCH_HARNESS_JOBS_EXPERIMENT_H

#include "harness/jobs/matrix.h"
#include "models/model.h"
#include "models/weights/weights.h"

/* ---- experiments (experiment.c) ---------------------------------------------------- */

/* How files of timelines end that workers leave for the parent (bn_timeline_read). */
#define JOB_TIMELINE_END ".timeline"

/* One experiment, ready for a worker. All that it points to is borrowed: from its matrix, or
 * from the JSON that it was read from. */
typedef struct job_experiment {
    res_experiment what;
    job_measure how;
    bool compile_anew; /* compile also what CACHE_DIR has, and keep it there */
    json_t *echo;      /* the options as given; or NULL */
    json_t *program;   /* what job_matrix_request made; NULL: a model is run */
    json_t *suite;     /* which suite and repetition this is, for the record; or NULL */
    json_t *comparison; /* which pair of which bench compare, for the record; or NULL */
} job_experiment;

/* Makes *LIST (malloc) of all combinations of MATRIX' values. Combinations that cannot be run
 * (several graphs in a mode that does not cut) are left out, and NOTES says so, a line each. With a
 * request, only the axes of programs or of recorded steps count; a step's modes stand side by side.
 * BN_INVALID for a value that does not exist, and where nothing is left. */
BN_MUST_USE bn_code job_matrix_expand(const job_matrix *matrix, job_experiment **list,
                                      size_t *count, bn_text *notes, bn_status *st);
/* Replaces "the model's own" and "auto" in WHAT by what FILLED, a model's options, has. */
void job_experiment_fill(const model_options *filled, res_experiment *what);
/* job_experiment_fill with the options of E's model, which it makes: WHAT becomes what E's
 * record will say, so that a failed experiment is in the same cell of a table as a successful
 * one. It is as in E where there is no such model, and for programs and recorded steps. */
void job_experiment_resolve(const job_experiment *e, res_experiment *what);
/* Forms of an optimized program: the plugins' name, and the ending of files of bench run
 * --graph-report. The last row, whose format is "", is for any other. */
typedef struct job_program_form {
    const char *format, *ending;
} job_program_form;
#define JOB_PROGRAM_FORMS 4
extern const job_program_form job_program_forms[JOB_PROGRAM_FORMS];
/* The name of the file with the optimized program of X, in FORM. Both digests are in it, since one
 * text becomes a program of its own on each runtime. */
#define JOB_PROGRAM_NAME 128
void job_program_name(const res_execution *x, const job_program_form *form,
                      char name[JOB_PROGRAM_NAME]);
/* "resnet50 train lazy b1 f32 on cpu" */
void job_experiment_title(const job_experiment *e, char *text, size_t size);
/* E for a worker (new reference), and back. JSON must outlive *E. */
json_t *job_experiment_to_json(const job_experiment *e);
BN_MUST_USE bn_code job_experiment_from_json(const json_t *json, job_experiment *e, bn_status *st);

/* ---- frameworks (framework.c) ---------------------------------------------------------------- */

/* Whether a framework runs E's steps, and not bench. */
bool job_is_framework(const res_experiment *w);
/* Whether FRONT_END, bench or another, has the mode NAME for PHASE (NULL: for any). */
bool job_front_end_has_mode(const char *front_end, const char *name, const char *phase);
/* Value INDEX, from 0, of the axis mode or front_end, into WORD; false after the last. Modes that
 * only frameworks have come after bench's own. */
bool job_mode_name(size_t index, char word[RES_TEXT]);
/* Whether NAME is a mode of bench in which each op is a program, so that a step has no graphs. */
bool job_mode_by_op(const char *name);
bool job_front_end_name(size_t index, char word[RES_TEXT]);
/* Why W's front end cannot run it, into TEXT; false where it can. Of bench only the mode is
 * checked. */
bool job_framework_refuses(const job_matrix *matrix, const res_experiment *w, char *text,
                           size_t size);

/* ---- defaults of a runtime (runtime_defaults.c) ------------------------------------------------
 */

/* PATH is the runtime's file, or its name before that is known. */

/* Whether NAME, a runtime's name or path, looks like the simulated one. A loaded plugin says so
 * itself (worker_session_simulated). */
bool job_simulated_name(const char *name);
/* The options of W's model on the runtime at PATH. */
model_options job_model_options(const res_experiment *w, const char *path);
/* Whether two processes may hold the device of RUNTIME at the same time, by its name: a CPU, or a
 * simulated one. Plugins of accelerators reserve the device, or its memory. */
bool job_shares_device(const char *runtime, const char *path);
/* The NAME=VALUE that the client of RUNTIME gets unless the user gave one; NULL: none. */
const char *job_usual_option(const char *runtime, const char *path);

/* ---- before any worker starts (ready.c) ------------------------------------------------ */

/* Makes the folder STORE if need be, and removes files of dead workers in it. */
BN_MUST_USE bn_code job_store_ready(const char *store, bn_status *st);
/* Names the COUNT damaged files LIST of a store on standard error. */
void job_say_damaged(const res_damaged *list, size_t count);
/* Finds the file of RUNTIME and writes its name to PATH. */
BN_MUST_USE bn_code job_runtime_ready(const char *runtime, char *path, size_t size, bn_status *st);
/* Finds the file of the plugin that W's steps run on: a framework may have its own
 * (interposer.c). PATH is "" where the file is known only after the run (res_plugin_unforeseen). */
BN_MUST_USE bn_code job_plugin_find(const res_experiment *w, char path[PATH_MAX], bn_status *st);
/* Checks the front end, --pin, --idle-cores and --cache-dir of E, unless they are those of LAST,
 * which may be NULL. Warns once of a front end with other than the pinned versions. */
BN_MUST_USE bn_code job_words_check(const job_experiment *e, const job_experiment *last,
                                    bn_status *st);
/* job_store_ready, job_plugin_find and job_words_check for all of LIST, which has one store and
 * is not empty; and checks --weights, as far as that needs no runtime. */
BN_MUST_USE bn_code job_experiments_check(const job_experiment *list, size_t count, bn_status *st);
/* Maps FILE and finds in it all variables of INSTANCE; used in workers, too. */
BN_MUST_USE bn_code job_weights_open(const char *file, const model *instance,
                                     model_weights **weights, bn_status *st);

#endif
