/*
 * worker.h - the child's half of measuring: a runtime, on it a model or a program in a mode, the
 * measuring loop, device time, and the wire to the parent. Prefix worker_.
 *
 * A worker has one thread of its own; none of these may be called from others.
 */
#ifndef BENCH_HARNESS_WORKER_H
#define BENCH_HARNESS_WORKER_H

#include "harness/cores/cores.h"
#include "harness/frontends/frontends.h"
#include "harness/jobs/jobs.h"
#include "modes/mode.h"
#include "runtime/pjrt/pjrt.h"

/* ---- the process (worker.c) ---------------------------------------------------------- */

/* A job of workers. */
typedef struct worker_job {
    const char *name; /* of the request's member "job" */
    /* Called once, with the whole request. Sends its result with worker_send_result on success;
     * else it fills ST, and worker_main sends that. Before it returns, it releases all handles of
     * the plugin. */
    bn_code (*run)(const json_t *request, bn_status *st);
} worker_job;
/* Main of a worker: reads the request from standard input and runs the row of JOBS that it names.
 * JOBS ends with a row without a name. Returns the exit code. */
int worker_main(const worker_job *jobs);

/* ---- the wire to the parent (wire.c) --------------------------------------------------- */

/* The job is at STAGE, DONE OF so many; OF 0: the stage has no count. Cheap enough for the pauses
 * between measured steps: of one stage most calls send nothing. */
void worker_send_progress(const char *stage, int64_t done, int64_t of);
/* Reports that this process waits for its turn, and waits until the parent gives it. BN_CANCELLED
 * where it never will. Only for requests whose parent gives turns (job_supervise_pair). */
BN_MUST_USE bn_code worker_await_turn(bn_status *st);
/* Has the parent show TEXT to the user; no failure. */
void worker_send_notice(const char *text);
/* A later result replaces an earlier one. Steals RESULT. */
void worker_send_result(json_t *result);
void worker_send_failure(const bn_status *st);
/* {"class": ..., "message": ...} (new reference): ST for the parent. */
json_t *worker_failure_to_json(const bn_status *st);

/* ---- sessions (session.c): a runtime, a model and a mode in a worker ------------------ */

typedef struct worker_feed worker_feed;
typedef struct worker_program worker_program;
typedef struct worker_recorded worker_recorded;

typedef struct worker_session {
    const job_experiment *experiment; /* borrowed */
    rt_plugin *plugin;
    rt_client *client;
    model *instance;
    mode *mode;
    mode_call call;            /* the model's step */
    worker_program *program;   /* in place of the model; or NULL */
    worker_recorded *recorded; /* a recorded step in its place; or NULL */
    worker_feed *feed;         /* of batches; NULL: the one batch that was written stays */
    json_t *weights;           /* file of the initial weights, for the record; NULL: the rule */
    json_t *process;           /* job_process_describe before it was pinned */
    json_t *environment; /* worker_environment before the plugin was loaded */
    cores_pinning *pinning;
    int idle;        /* as cores_idle_begin set it */
    bool shared;     /* plugin, client, environment, pinning and idle are another session's */
    char path[4096]; /* of the plugin */
} worker_session;

typedef struct worker_session_options {
    bool keep_gradients, keep_stages; /* as variables that can be read (model_options) */
    bool no_dropout;                  /* overrides the experiment */
    tg_precision precision;           /* of products */
} worker_session_options;

/* Pins, loads the runtime and makes its client; there is no model yet. The session ends with
 * worker_session_end, also after a failure of this or of any call below. */
BN_MUST_USE bn_code worker_session_begin(worker_session *s, const job_experiment *e, bn_status *st);
/* In place of worker_session_begin: S gets plugin, client and pinning of OTHER, which must outlive
 * it. E asks for the same runtime with the same options. */
void worker_session_share(worker_session *s, const worker_session *other, const job_experiment *e);
/* Makes model and mode and writes every variable's initial contents. May be called again, on the
 * same client, after worker_session_drop_model. */
BN_MUST_USE bn_code worker_session_model(worker_session *s, const worker_session_options *options,
                                         bn_status *st);
/* Runs and watches at most STEPS steps of the session's model, which has run none before: at least
 * two, and no more once SECONDS are over. *LISTS (new reference) is of cause_lists. */
BN_MUST_USE bn_code worker_session_explain(worker_session *s, int64_t steps, double seconds,
                                           json_t **lists, bn_status *st);
/* Releases all handles of the plugin but the client. */
void worker_session_drop_model(worker_session *s);
void worker_session_end(worker_session *s);
/* The runtime's part of the provenance (new reference). */
json_t *worker_session_describe(const worker_session *s);

/* ---- values of a simulated device (values.c) ------------------------------------------------ */

/* Whether the session's device is simulated, by its plugin. */
bool worker_session_simulated(const worker_session *s);
/* Whether the device cannot read a program that the session has executed, and uses the stated cost.
 */
bool worker_session_opaque(const worker_session *s);
/* BN_NOT_SUPPORTED where the device gives zeros in place of values of a program that the session
 * has executed. To be called before values are read. */
BN_MUST_USE bn_code worker_session_has_values(const worker_session *s, bn_status *st);

/* ---- batches (feed.c) -------------------------------------------------------------------- */

/* The feed of the session's experiment (--input, --lengths, --buckets); NULL: one fixed batch. From
 * here on it owns the inputs' contents. To be freed before model and mode. */
BN_MUST_USE bn_code worker_feed_new(worker_session *s, worker_feed **feed, bn_status *st);
void worker_feed_free(worker_feed *feed); /* NULL allowed */
/* For mode_call; NULL for NULL. */
const mode_feed *worker_feed_hooks(const worker_feed *feed);
/* A record's "batches" (new reference), see docs/json-record.md; NULL: all have one shape, or FEED
 * is NULL. It draws them again, so no step may follow. */
json_t *worker_feed_to_json(worker_feed *feed);
/* Repeats the next batch from here on. NULL allowed. */
void worker_feed_hold(worker_feed *feed);

/* ---- programs that others wrote (program.c) ------------------------------------------------- */

/* Options of every mode of E's session: steps in flight, the cache, flags of the compiler. They
 * point into E. */
mode_options worker_mode_options(const job_experiment *e);
/* In place of worker_session_model: compiles the experiment's program, runs it once, writes its
 * results and compares them. A difference is BN_WRONG_RESULT. */
BN_MUST_USE bn_code worker_session_program(worker_session *s, bn_status *st);
/* A record's "program" (new reference): the request; and, as "declared", the form, the source of
 * the types ("compiled": checked with the executable; "program"; "unchecked": only the user), and
 * that of the number of devices. */
json_t *worker_program_to_json(const worker_session *s, const worker_program *program);
void worker_program_free(worker_program *program); /* NULL allowed */

/* ---- steps that were recorded (recorded.c) --------------------------------------------------- */

/* In place of worker_session_model: reads and compiles the programs of the experiment's step, which
 * job_step_read made, makes up its inputs, and makes the experiment's mode. On a simulated device,
 * programs that it cannot read get the cost that the request states. BN_NOT_SUPPORTED: that cost
 * was not recorded. */
BN_MUST_USE bn_code worker_session_recorded(worker_session *s, bn_status *st);
json_t *worker_recorded_to_json(const worker_session *s); /* new reference */
void worker_recorded_free(worker_recorded *recorded);     /* NULL allowed */

/* ---- measuring (measure.c) ------------------------------------------------------------------ */

/* The job "measure": the request's "experiments", all of one runtime, measured together in this
 * process, and the record of each into its store. The result is {"members": [...]}, for each
 * experiment {"record": PATH} or {"class", "message"}. Where they do not fit into memory together,
 * the job fails with BN_OUT_OF_MEMORY. "group", if any, goes into the records' provenance; "seed"
 * is of the orders, 0: the clock. */
BN_MUST_USE bn_code worker_job_measure(const json_t *request, bn_status *st);

/* Whether warm-up is over after COUNT steps: the last WORKER_WARM_WINDOW steps, fewer where they
 * are long, compiled nothing, and their times show no trend (Mann-Kendall, two-sided 5 %). Two
 * steps, of over a second, can show none. */
#define WORKER_WARM_WINDOW           8
#define WORKER_WARM_WINDOW_LONG      5
#define WORKER_WARM_WINDOW_VERY_LONG 2
#define WORKER_LONG_STEP_NS          100000000u
#define WORKER_VERY_LONG_STEP_NS     1000000000u
bool worker_warm(const uint64_t *wall_ns, const int64_t *compiles, size_t count);

/* ---- frameworks (framework.c, framework_record.c) -------------------------------------------- */

/* A framework's script that ran a model of ours under the recorder. */
typedef struct worker_framework worker_framework;

typedef struct worker_framework_options {
    const char *scratch;  /* a folder for all files; the caller removes it */
    bool values;          /* values in place of times: no dropout */
    double learning_rate; /* 0: the model's own */
} worker_framework_options;

/* Runs E, an experiment of a framework, and reads the script's report. Where a signal ended the
 * script this process ends, too. *FRAMEWORK is to be freed also after a failure. */
BN_MUST_USE bn_code worker_framework_run(const job_experiment *e,
                                         const worker_framework_options *options,
                                         worker_framework **framework, bn_status *st);
const frontend_report *worker_framework_report(const worker_framework *framework);
void worker_framework_free(worker_framework *framework); /* NULL allowed */

/* The job "framework": runs the one experiment of the request's "experiments" with files in the
 * folder "scratch", and writes its record into the store. The result is that of the job "measure".
 */
BN_MUST_USE bn_code worker_job_framework(const json_t *request, bn_status *st);

/* The environment of the plugin and its process (new reference), for the record. */
json_t *worker_environment(void);

/* ---- changes of the plugin in this process (surroundings.c) ------------------------------ */

/* After steps: bn_surroundings_restore, and the same of the libraries that bench shares with the
 * plugin. */
BN_MUST_USE bn_code worker_surroundings_restore(const char *when, bn_status *st);
/* Changes found so far (new reference), for the record; NULL: none. */
json_t *worker_surroundings_to_json(void);

/* ---- executions (device_profile.c) ----------------------------------------------------------- */

/* Runs STEPS further steps under the plugin's profiler and fills in the device times of RECORD's
 * executions. Where the profiler is missing or fails, RECORD stays as it is. */
void worker_measure_profile(worker_session *s, size_t steps, res_record *record);

#endif
