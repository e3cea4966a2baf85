/*
 * harness.h - the parts of the command-line program and how they meet.
 *
 *   main.c        commands          options.c    one table of options
 *   experiment.c  combinations      list.c export.c  commands that only read or copy
 *   supervisor.c  parent: one worker process a job, progress, Ctrl-C
 *   worker.c      child: session.c opens runtime, model and mode for
 *                 measure.c, verify.c and selftest.c
 *   feed.c        batches of a model, sent or lying on the device
 *   program.c npy.c arrays.c   a StableHLO text in place of a model
 *   device_time.c device_profile.c  slope and profiler  host.c pinning.c  provenance, cores
 *   suite*.c      matrices of experiments, resumed and split
 *   verdict.c     how a worker ended   verify*.c golden*.c  against PyTorch
 *   weights.c     --weights and export-weights
 *   history.c     series over nights
 *   selftest*.c   statistics.c simulate.c   the program on trial
 *   compare.c compare_run.c  two runtimes, measured in pairs or out of stores
 *   plots.c page.c  bench plot, bench report; what pages are put together from
 *   nightly.c tonight.c   the suite, the last good night, the history, one page
 *
 * The parent never loads a plugin: a plugin can end or hang its process. A job
 * goes to the worker as one JSON object on its standard input, reports come
 * back as JSON lines on descriptor 3. Only this room prints. Prefix hn_.
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <jansson.h>
#include <sys/types.h>

#include "models/model.h"
#include "models/weights.h"
#include "modes/mode.h"
#include "results/results.h"
#include "runtime/pjrt.h"

/* ---- exit codes (documented in --help and the man page) ------------------- */

typedef enum hn_exit {
    HN_EXIT_OK = 0,
    HN_EXIT_FAILED = 1,      /* an experiment failed, verify or selftest did not pass */
    HN_EXIT_USAGE = 2,       /* unknown command, option, model, mode, ... */
    HN_EXIT_ENVIRONMENT = 3, /* no such plugin, not a plugin, store not writable, disk full */
    HN_EXIT_INTERRUPTED = 130
} hn_exit;

/* The exit code for a failure of CODE. */
hn_exit hn_exit_for(bn_code code);
/* "bench: MESSAGE" on standard error; returns the exit code for ST's code. */
hn_exit hn_complain(const bn_status *st);

/* ---- options -------------------------------------------------------------- */

#define HN_MAX_REPEATS 32
#define HN_MAX_PATHS   4096 /* files given by repeating one option */

/* Values of the command line. Lists are comma-separated text as given. */
typedef struct hn_options {
    const char *model, *variant, *mode, *phase, *batch, *image, *seq, *dtype, *graphs, *layout,
        *runtime, *in_flight, *optimizer, *dropout, *lengths, *device_time;
    const char *program; /* NULL: models are run */
    const char *input[HN_MAX_PATHS + 1], *outputs[HN_MAX_PATHS + 1], *check[HN_MAX_PATHS + 1];
    double rtol, atol;
    const char *runtime_option[HN_MAX_REPEATS + 1]; /* NULL-ended */
    const char *xla_flag[HN_MAX_REPEATS + 1];
    const char *label, *pin, *cache_dir, *store, *format, *golden;
    const char *weights, *output;  /* NULL: not given */
    const char *table, *to, *from; /* of bench table, export, import */
    /* Of compare: what is given twice, and what is one side's alone. */
    const char *sides[HN_MAX_REPEATS + 1], *labels[HN_MAX_REPEATS + 1], *stores[HN_MAX_REPEATS + 1];
    const char *a_option[HN_MAX_REPEATS + 1], *b_option[HN_MAX_REPEATS + 1];
    const char *a_flag[HN_MAX_REPEATS + 1], *b_flag[HN_MAX_REPEATS + 1];
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
    const char *filter[HN_MAX_PATHS + 1], *exclude[HN_MAX_PATHS + 1];
    const char *suite_runtime, *shard; /* of a suite; NULL: not given */
    int64_t repetitions;               /* of a suite; 0: not given */
    bool retry_failed, dry_run;
    bool verbose, all, quick, reindex, help, man, version;
} hn_options;

/* Bits of the commands that take an option. */
enum {
    HN_CMD_RUN = 1,
    HN_CMD_VERIFY = 2,
    HN_CMD_TABLE = 4,
    HN_CMD_LIST = 8,
    HN_CMD_SELFTEST = 16,
    HN_CMD_EXPORT_WEIGHTS = 32,
    HN_CMD_REPLAY = 64,
    HN_CMD_SUITE = 128,
    HN_CMD_COMPARE = 256,
    HN_CMD_EXPORT = 512,
    HN_CMD_IMPORT = 1024,
    HN_CMD_REPORT = 2048,
    HN_CMD_PLOT = 4096,
    HN_CMD_HISTORY = 8192,
    HN_CMD_NIGHTLY = 16384
};

/* Defaults, then ARGV; what is not an option goes to REST (at most MAX). */
BN_MUST_USE bn_code hn_options_parse(unsigned command, int argc, char **argv, hn_options *options,
                                     const char **rest, int max_rest, int *rest_count,
                                     bn_status *st);
/* The options that COMMAND takes, as help text and as roff. */
void hn_options_help(unsigned command, bn_text *out);
void hn_options_man(bn_text *out);
/* {"model": "resnet50", ...}: the options of COMMAND as they stand (new reference). */
json_t *hn_options_echo(unsigned command, const hn_options *options);

/* ---- experiments ------------------------------------------------------------ */

/* One experiment, ready for a worker. Strings are owned by the options. */
typedef struct hn_experiment {
    res_experiment what;
    const char *runtime_option[HN_MAX_REPEATS + 1];
    const char *xla_flag[HN_MAX_REPEATS + 1];
    const char *label, *pin, *cache_dir, *store;
    const char *device_time; /* "auto": the profiler where there is one; "slope"; "none" */
    const char *weights;     /* file of the initial ones; NULL: by the rule */
    int64_t steps, warmup;   /* at least so many measured; at most so many before */
    double min_time, timeout;
    json_t *echo;    /* borrowed: the options as given */
    json_t *program; /* borrowed: what hn_program_request made; NULL: a model is run */
    json_t *suite;   /* borrowed: for which suite and repetition, for the record; or NULL */
} hn_experiment;

/* All combinations of the lists in OPTIONS (malloc). Those that cannot be (more
 * graphs in a mode that does not cut) are left out and named in NOTES. Unknown
 * names are BN_INVALID with a list of what exists; so is an empty result. */
BN_MUST_USE bn_code hn_experiments_expand(const hn_options *options, hn_experiment **list,
                                          size_t *count, bn_text *notes, bn_status *st);
/* Fills in what the worker would have for "the model's own" and "auto", so that what
 * failed belongs to the same cell of a table as what did not. */
void hn_experiment_resolve(res_experiment *what);
/* "resnet50 train lazy b1 f32 on cpu" */
void hn_experiment_title(const hn_experiment *e, char *text, size_t size);
/* What --OPTION takes, name by name; NULL for options that take no names. */
typedef const char *(*hn_name_at)(size_t index);
hn_name_at hn_names_of(const char *option);
json_t *hn_experiment_to_json(const hn_experiment *e);
/* Strings point into JSON, which must outlive *E. */
BN_MUST_USE bn_code hn_experiment_from_json(const json_t *json, hn_experiment *e, bn_status *st);

/* ---- supervisor (parent) ------------------------------------------------------ */

/* What a worker is asked to do: {"job": "measure"|"verify"|"selftest", ...}. */
typedef struct hn_job {
    json_t *request; /* borrowed */
    const char *title;
    size_t number, of; /* experiment 3 of 12, for the progress line */
    double timeout;    /* seconds; 0: none */
    bool verbose;      /* pass the worker's standard error through */
} hn_job;

typedef struct hn_outcome {
    bn_code status;     /* of the job; BN_CRASH, BN_TIMEOUT, BN_CANCELLED, ... */
    char message[1024]; /* why it failed, with the last line the worker said */
    pid_t pid;          /* of the worker, which is gone */
    json_t *result;     /* what the worker reported, or NULL; owned by the caller */
} hn_outcome;

/* Starts catching SIGINT and SIGTERM (and ignores SIGPIPE, SIGXFSZ). */
void hn_supervisor_begin(void);
/* True once the user asked to stop; jobs then end with BN_CANCELLED. */
bool hn_interrupted(void);
/*
 * Runs JOB in a worker process of its own group and waits for it, showing
 * progress on standard error (one line that is rewritten on a terminal, plain
 * lines else). Never leaves a process behind. A crash, abort, kill, hang or
 * lack of memory of the worker is an OUTCOME, not an error of this call.
 */
BN_MUST_USE bn_code hn_supervise(const hn_job *job, hn_outcome *outcome, bn_status *st);
/* Clears the progress line, so that other output can be written. */
void hn_progress_clear(void);

/* ---- worker (child) --------------------------------------------------------------- */

/* The worker's end of the report line. */
void hn_report_progress(const char *stage, int64_t done, int64_t of);
void hn_report_result(json_t *result); /* steals RESULT */
void hn_report_failure(const bn_status *st);
/* Main of a worker: reads the request, runs it, reports. Returns the exit code. */
int hn_worker_main(void);

/* ---- host (host.c) ----------------------------------------------------------------- */

/* Where threads may run, by --pin: "none", "host" (host thread on one core, the
 * runtime on the others), "all" (everything on the cores given to the process,
 * host thread on the first) or a list of cores "0,2-3" for everything. */
typedef struct hn_pinning hn_pinning;
/* Before the plugin is loaded: its threads inherit this mask. */
BN_MUST_USE bn_code hn_pin_begin(const char *pin, hn_pinning **pinning, bn_status *st);
/* After the client was made: the host thread takes its own core. */
BN_MUST_USE bn_code hn_pin_host_thread(hn_pinning *pinning, bn_status *st);
/* What was done (new reference), for the record. NULL allowed in all three. */
json_t *hn_pinning_to_json(const hn_pinning *pinning);
void hn_pinning_free(hn_pinning *pinning);

/* Machine: hostname, kernel, processor, cores, governor, memory, load, hwloc
 * topology (summary and XML), compiler, bench version (new reference). */
json_t *hn_host_describe(void);
/* Bytes of memory used now and at most (VmRSS, VmHWM); -1 unknown. */
void hn_host_memory(int64_t *now, int64_t *peak);

/* ---- session (session.c): a runtime, a model and a mode in a worker ------------------ */

typedef struct hn_feed hn_feed;
typedef struct hn_program hn_program;

typedef struct hn_session {
    const hn_experiment *experiment;
    rt_plugin *plugin;
    rt_client *client;
    model *instance;
    mode *mode;
    mode_call call;      /* the model's step */
    hn_program *program; /* in place of the model; NULL: a model is run */
    hn_feed *feed;       /* of batches; NULL: the one batch that was written stays */
    json_t *weights;     /* where they came from, for the record; NULL: the rule */
    hn_pinning *pinning;
    char path[4096]; /* of the plugin */
} hn_session;

typedef struct hn_session_options {
    bool keep_gradients, keep_stages, no_dropout;
    tg_precision precision;
} hn_session_options;

/* Loads the runtime only. */
BN_MUST_USE bn_code hn_session_begin(hn_session *s, const hn_experiment *e, bn_status *st);
/* Makes model and mode and writes every variable's initial contents. May be
 * called again after hn_session_drop_model, on the same client. */
BN_MUST_USE bn_code hn_session_model(hn_session *s, const hn_session_options *options,
                                     bn_status *st);
void hn_session_drop_model(hn_session *s);
void hn_session_end(hn_session *s);
/* The runtime's part of the provenance (new reference). */
json_t *hn_session_describe(const hn_session *s);
/* Whether a runtime called NAME, or at that path, is the simulated one, as far as a
 * name tells; a loaded plugin says so itself. */
bool hn_simulated_name(const char *name);
/* Whether the session's plugin says that its device is simulated. */
bool hn_session_simulated(const hn_session *s);
/* BN_NOT_SUPPORTED where a simulated device gives zeros in place of the values of what
 * the session has executed: whoever looks at values asks first. */
BN_MUST_USE bn_code hn_session_has_values(const hn_session *s, bn_status *st);
/* What W asks of its model on the runtime whose plugin is PATH. */
model_options hn_model_options(const res_experiment *w, const char *path);
/* The layout that suits the runtime, for --layout auto. */
model_layout hn_layout_for_runtime(const char *runtime, const char *path);

/* The feed that the experiment asks for (--input, --lengths, --buckets), or NULL for
 * fixed batches of one length; takes over what the inputs hold. To be freed before
 * the model. */
BN_MUST_USE bn_code hn_feed_new(hn_session *s, hn_feed **feed, bn_status *st);
void hn_feed_free(hn_feed *feed); /* NULL allowed */
const mode_feed *hn_feed_hooks(const hn_feed *feed);
/* Stays with one batch from here on. */
void hn_feed_hold(hn_feed *feed);

/* ---- weights (weights.c) ---------------------------------------------------------------- */

/* Maps FILE and finds in it all that the INSTANCE needs; the message says which
 * option is at fault. */
BN_MUST_USE bn_code hn_weights_open(const char *file, const model *instance,
                                    model_weights **weights, bn_status *st);
/* Whether --weights fits each of the experiments, as far as that can be told
 * without a runtime. */
BN_MUST_USE bn_code hn_weights_check(const hn_experiment *list, size_t count, bn_status *st);
/* {"path": ..., "sha256": ..., ...}: FILE, opened as WEIGHTS (new reference). */
json_t *hn_weights_to_json(const char *file, const model_weights *weights);

/* ---- programs that others wrote (program.c) ----------------------------------------------- */

/* What --program and its options ask for, as a worker takes it (new reference, also
 * where the text is refused). */
BN_MUST_USE bn_code hn_program_request(const hn_options *options, json_t **request, bn_status *st);
/* What a record says of REQUEST in place of a model. */
void hn_program_describe(const json_t *request, res_experiment *what);
/* Compiles the program, runs it once, writes and compares its results. A difference is
 * BN_WRONG_RESULT. */
BN_MUST_USE bn_code hn_session_program(hn_session *s, bn_status *st);
json_t *hn_program_to_json(const hn_program *program); /* new reference */
void hn_program_free(hn_program *program);             /* NULL allowed */

/* ---- measuring ------------------------------------------------------------------------ */

/* Warm-up is over when the last HN_WARM_WINDOW steps compiled nothing and their
 * times show no trend (Mann-Kendall, two-sided 5 %). */
#define HN_WARM_WINDOW 8
bool hn_warm(const uint64_t *wall_ns, const int64_t *compiles, size_t count);

/* Runs the whole experiment on an open session and fills RECORD. */
BN_MUST_USE bn_code hn_measure(hn_session *s, res_record *record, bn_status *st);

/* Figures of executions, after the measured steps (variables are not
 * meaningful afterwards). Fills RECORD's executions. */
BN_MUST_USE bn_code hn_measure_executions(hn_session *s, res_record *record, bn_status *st);

/* What the plugin's profiler says of STEPS further steps, for the executions of RECORD;
 * a profiler that is missing or fails leaves the figures that are there. */
void hn_measure_profile(hn_session *s, size_t steps, res_record *record);

/* A line through times over repeats: Theil-Sen slope with a bootstrap interval
 * over the rounds. TIME_NS[round * repeats + i] was taken with REPEAT[i]. */
typedef struct hn_slope {
    double slope_ns, low_ns, high_ns;
    double intercept_ns;
} hn_slope;
hn_slope hn_slope_fit(const unsigned *repeat, size_t repeats, const double *time_ns, size_t rounds);

/* ---- commands ---------------------------------------------------------------------------- */

int hn_command_run(const hn_options *options);
int hn_command_verify(const hn_options *options);
int hn_command_table(const hn_options *options);
int hn_command_export(const hn_options *options);
/* FILES ends with NULL. */
int hn_command_import(const hn_options *options, const char *const *files);
int hn_command_list(const hn_options *options, const char *what);
int hn_command_selftest(const hn_options *options, const char *what);
int hn_selftest_statistics(const hn_options *options); /* selftest_statistics.c */
int hn_command_export_weights(const hn_options *options);
int hn_command_replay(const hn_options *options, const char *what);
int hn_command_compare(const hn_options *options);
/* Exit codes and examples of bench compare, for its --help. */
extern const char hn_compare_help[];
/* The exit code of bench compare (and nightly) for words it does not understand: its 2 means
 * slower. */
int hn_compare_usage(bool bisect);
int hn_command_plot(const hn_options *options, const char *what);
int hn_command_report(const hn_options *options);
int hn_command_history(const hn_options *options);
int hn_command_nightly(const hn_options *options);
extern const char hn_nightly_help[]; /* its exit codes */

/* Whether NAME is in LIST, words with commas between; NULL has all. */
bool hn_listed(const char *list, const char *name);
/* Whether the options for stored records (--model, --mode, ...) ask for E; a runtime's path
 * may be given by its file's name. */
bool hn_stored_wanted(const hn_options *options, const res_experiment *e);
int hn_command_suite(const hn_options *options, const char *what);
/* What became of a suite. */
typedef struct hn_suite_end {
    bool whole;                         /* each of its runs has a record, if only of a failure */
    char (*identities)[BN_SHA256_TEXT]; /* of all its runs, done before or now; to be freed */
    size_t count;
} hn_suite_end;
/* bench suite for another command; returns its exit code. */
int hn_suite_to_end(const hn_options *options, const char *what, hn_suite_end *end);
/* bench selftest accuracy, in the parent. */
int hn_selftest_accuracy(const hn_options *options);

/* What can be told before any worker starts: the store, which is made and tidied up, each
 * runtime's file, the file of weights. */
BN_MUST_USE bn_code hn_experiments_check(const hn_experiment *list, size_t count, bn_status *st);

/* Measures E in a worker and reads the record that it wrote, for commands that run
 * experiments of their own (bench run keeps failures as records). JOB says how: its
 * request is not looked at. The worker's failure becomes the status. */
BN_MUST_USE bn_code hn_measure_in_worker(const hn_experiment *e, const hn_job *job,
                                         res_record **record, bn_status *st);

/* What became of an experiment that was run to be kept. */
typedef struct hn_kept {
    res_record *record; /* as it is in the store; a failure's, too; NULL: there is none */
    bn_status failure;  /* BN_CANCELLED: the user stopped it, and there is no record */
    bn_status store;    /* why the store takes no records any more, or BN_OK */
} hn_kept;
/* Measures E in a worker, and makes a record of a failure. Prints nothing but progress;
 * JOB's request is not looked at. KEPT->record is the caller's. */
void hn_measure_and_keep(const hn_experiment *e, const hn_job *job, hn_kept *kept);
/* What can be told before any worker starts: E's store, which is made and tidied up; the
 * runtime's file, whose name goes to PATH. */
BN_MUST_USE bn_code hn_store_ready(const char *store, bn_status *st);
BN_MUST_USE bn_code hn_runtime_ready(const char *runtime, char *path, size_t size, bn_status *st);

/* Jobs in the worker: read REQUEST, report the result. */
BN_MUST_USE bn_code hn_job_measure(const json_t *request, bn_status *st);
BN_MUST_USE bn_code hn_job_verify(const json_t *request, bn_status *st);
BN_MUST_USE bn_code hn_job_selftest(const json_t *request, bn_status *st);

#endif
