/*
 * jobs.h - the parent's half of measuring: experiments out of lists of values, one worker
 * process for each, what became of it, and the record that is kept.
 *
 * The parent never loads a plugin: a plugin can end or hang its process. A job goes to the
 * worker as one JSON object on its standard input; what the worker says comes back as JSON
 * lines on descriptor 3. The vocabulary of experiments is the worker's, too. Prefix job_.
 */
#ifndef BENCH_HARNESS_JOBS_H
#define BENCH_HARNESS_JOBS_H

#include <jansson.h>
#include <sys/types.h>

#include "harness/cli/cli.h"
#include "models/model.h"
#include "models/weights/weights.h"
#include "modes/mode.h"
#include "results/records/records.h"

/* ---- matrices (matrix.c) --------------------------------------------------------- */

/* What is to be measured and how: a list of values for each axis. Command line, suite and
 * comparison fill it; what it points to is theirs and outlives it. */
typedef struct job_matrix {
    cli_list axis[RES_AXIS_COUNT]; /* none of an axis: its usual value */
    /* A StableHLO text in place of models; NULL: models are run. */
    const char *program;
    cli_words inputs; /* its arguments' files; without a program at most one, the axis "input" */
    cli_words outputs, checks; /* where its results go; what they must be */
    double rtol, atol;         /* of checks: |got - want| <= atol + rtol |want| */
    const char *runtime_option[CLI_MAX_REPEATS + 1];
    const char *xla_flag[CLI_MAX_REPEATS + 1];
    const char *label, *pin, *cache_dir, *store;
    const char *device_time; /* "auto", "slope", "none" */
    const char *weights;     /* safetensors file; NULL: the rule */
    int64_t steps, warmup;
    double min_time, timeout; /* seconds */
    json_t *echo;             /* borrowed: the options as given, for the records; may be NULL */
} job_matrix;

/* Value INDEX that AXIS takes, into WORD; false after the last, and where values are open. */
bool job_axis_value(res_axis_id axis, size_t index, char word[RES_TEXT]);
/* Whether AXIS takes WORD; if not, KNOWN says what it takes. */
bool job_axis_takes(res_axis_id axis, const char *word, bn_text *known);
/* WORD, or NUMBER of an axis of numbers, as the one value of AXIS. */
void job_matrix_set(job_matrix *matrix, res_axis_id axis, const char *word);
void job_matrix_set_number(job_matrix *matrix, res_axis_id axis, int64_t number);
/* After the command line was read: --input is a list of the axis, or the program's files. */
BN_MUST_USE bn_code job_matrix_finish(job_matrix *matrix, bn_arena *memory, bn_status *st);

/* ---- experiments (experiment.c) ------------------------------------------------------- */

/* One experiment, ready for a worker. Strings are owned by the options. */
typedef struct job_experiment {
    res_experiment what;
    const char *runtime_option[CLI_MAX_REPEATS + 1];
    const char *xla_flag[CLI_MAX_REPEATS + 1];
    const char *label, *pin, *cache_dir, *store;
    const char *device_time; /* "auto": the profiler where there is one; "slope"; "none" */
    const char *weights;     /* file of the initial ones; NULL: by the rule */
    int64_t steps, warmup;   /* at least so many measured; at most so many before */
    double min_time, timeout;
    json_t *echo;    /* borrowed: the options as given */
    json_t *program; /* borrowed: what job_program_request made; NULL: a model is run */
    json_t *suite;   /* borrowed: for which suite and repetition, for the record; or NULL */
} job_experiment;

/* All combinations of MATRIX' lists (malloc). Those that cannot be (more graphs in a mode that
 * does not cut) are left out and named in NOTES. Unknown names are BN_INVALID with a list of
 * what exists; so is an empty result. */
BN_MUST_USE bn_code job_matrix_expand(const job_matrix *matrix, job_experiment **list,
                                      size_t *count, bn_text *notes, bn_status *st);
/* Fills in what a model's options say of "the model's own" and "auto". */
void job_experiment_fill(const model_options *filled, res_experiment *what);
/* The same without a worker: fills in what it would have for "the model's own" and "auto", so that
 * what failed belongs to the same cell of a table as what did not. */
void job_experiment_resolve(res_experiment *what);
/* "resnet50 train lazy b1 f32 on cpu" */
void job_experiment_title(const job_experiment *e, char *text, size_t size);
json_t *job_experiment_to_json(const job_experiment *e);
/* Strings point into JSON, which must outlive *E. */
BN_MUST_USE bn_code job_experiment_from_json(const json_t *json, job_experiment *e, bn_status *st);

/* ---- supervisor (parent) ------------------------------------------------------ */

/* What a worker is asked to do: {"job": "measure"|"verify"|"selftest", ...}. */
typedef struct job_order {
    json_t *request; /* borrowed */
    const char *title;
    size_t number, of; /* experiment 3 of 12, for the progress line */
    double timeout;    /* seconds; 0: none */
    bool verbose;      /* pass the worker's standard error through */
} job_order;

typedef struct job_outcome {
    bn_code status;     /* of the job; BN_CRASH, BN_TIMEOUT, BN_CANCELLED, ... */
    char message[1024]; /* why it failed, with the last line the worker said */
    pid_t pid;          /* of the worker, which is gone */
    json_t *result;     /* what the worker reported, or NULL; owned by the caller */
} job_outcome;

/* Starts catching SIGINT and SIGTERM (and ignores SIGPIPE, SIGXFSZ). */
void job_supervise_begin(void);
/* True once the user asked to stop; jobs then end with BN_CANCELLED. */
bool job_interrupted(void);
/*
 * Runs JOB in a worker process of its own group and waits for it, showing
 * progress on standard error (one line that is rewritten on a terminal, plain
 * lines else). Never leaves a process behind. A crash, abort, kill, hang or
 * lack of memory of the worker is an OUTCOME, not an error of this call.
 */
BN_MUST_USE bn_code job_supervise(const job_order *job, job_outcome *outcome, bn_status *st);

/* Machine: hostname, kernel, processor, cores, governor, memory, load, hwloc
 * topology (summary and XML), compiler, bench version (new reference). */
json_t *job_host_describe(void);
/* Bytes of memory used now and at most (VmRSS, VmHWM); -1 unknown. */
void job_host_memory(int64_t *now, int64_t *peak);

/* ---- what an experiment asks of a runtime and a model ------------------------------- */

/* Whether a runtime called NAME, or at that path, is the simulated one, as far as a
 * name tells; a loaded plugin says so itself. */
bool job_simulated_name(const char *name);
/* What W asks of its model on the runtime whose plugin is PATH. */
model_options job_model_options(const res_experiment *w, const char *path);
/* The option of the client that RUNTIME, whose plugin is PATH, is usually given; NULL: none. */
const char *job_usual_option(const char *runtime, const char *path);

/* ---- progress (progress.c): one line that is rewritten, or a line a stage where it is piped -- */

void job_progress_begin(const job_order *job);
/* A worker told its stage; OF 0 means that it has no count. */
void job_progress_stage(const job_order *job, const char *stage, int64_t done, int64_t of);
void job_progress_end(const job_order *job, const job_outcome *outcome);
/* How long the next job and all after it will take, in seconds, for the time that is left;
 * a negative JOB_S: not known. Holds for one job. */
void job_progress_expect(double job_s, double after_s);

/* ---- weights (weights.c) ---------------------------------------------------------------- */

/* Maps FILE and finds in it all that the INSTANCE needs; the message says which
 * option is at fault. */
BN_MUST_USE bn_code job_weights_open(const char *file, const model *instance,
                                     model_weights **weights, bn_status *st);
/* Whether --weights fits each of the experiments, as far as that can be told
 * without a runtime. */
BN_MUST_USE bn_code job_weights_check(const job_experiment *list, size_t count, bn_status *st);

/* ---- programs that others wrote (program.c) ----------------------------------------------- */

/* What MATRIX asks of its program, as a worker takes it (new reference, also
 * where the text is refused). */
BN_MUST_USE bn_code job_program_request(const job_matrix *matrix, json_t **request, bn_status *st);
/* The text that a request names, and its arguments. */
typedef struct job_program_text {
    char *text;
    size_t length;
    mode_argument *arguments;
    size_t count;
    size_t inputs; /* arguments that come from files: all or none */
} job_program_text;
/* Reads it; to be freed also after a failure. */
BN_MUST_USE bn_code job_program_read(const json_t *request, job_program_text *program,
                                     bn_status *st);
void job_program_text_free(job_program_text *program);
/* What a record says of REQUEST in place of a model. */
void job_program_describe(const json_t *request, res_experiment *what);

/* What can be told before any worker starts: the store, which is made and tidied up, each
 * runtime's file, the file of weights. */
BN_MUST_USE bn_code job_experiments_check(const job_experiment *list, size_t count, bn_status *st);

/* Measures E in a worker and reads the record that it wrote, for commands that run
 * experiments of their own (bench run keeps failures as records). JOB says how: its
 * request is not looked at. The worker's failure becomes the status. */
BN_MUST_USE bn_code job_measure_in_worker(const job_experiment *e, const job_order *job,
                                          res_record **record, bn_status *st);

/* What became of an experiment that was run to be kept. */
typedef struct job_kept {
    res_record *record; /* as it is in the store; a failure's, too; NULL: there is none */
    bn_status failure;  /* BN_CANCELLED: the user stopped it, and there is no record */
    bn_status store;    /* why the store takes no records any more, or BN_OK */
} job_kept;
/* Measures E in a worker, and makes a record of a failure. Prints nothing but progress;
 * JOB's request is not looked at. KEPT->record is the caller's. */
void job_measure_and_keep(const job_experiment *e, const job_order *job, job_kept *kept);
/* What can be told before any worker starts: E's store, which is made and tidied up; the
 * runtime's file, whose name goes to PATH. */
BN_MUST_USE bn_code job_store_ready(const char *store, bn_status *st);
BN_MUST_USE bn_code job_runtime_ready(const char *runtime, char *path, size_t size, bn_status *st);

#endif
