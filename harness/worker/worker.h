/*
 * worker.h - the child's half of measuring: a runtime, on it a model or a program in a mode,
 * the measuring loop, device time, and the line to the parent. Prefix worker_.
 */
#ifndef BENCH_HARNESS_WORKER_H
#define BENCH_HARNESS_WORKER_H

#include "harness/jobs/jobs.h"
#include "modes/mode.h"
#include "runtime/pjrt/pjrt.h"

/* ---- worker (child) --------------------------------------------------------------- */

/* The worker's end of the report line. */
void worker_send_progress(const char *stage, int64_t done, int64_t of);
void worker_send_result(json_t *result); /* steals RESULT */
void worker_send_failure(const bn_status *st);
/* A job that a worker can be asked for: reads REQUEST, reports the result. */
typedef struct worker_job {
    const char *name; /* of the request's member "job" */
    bn_code (*run)(const json_t *request, bn_status *st);
} worker_job;
/* Main of a worker: reads the request, runs the one of JOBS that it names, reports. JOBS ends
 * with a row without a name. Returns the exit code. */
int worker_main(const worker_job *jobs);
/* The job "measure". */
BN_MUST_USE bn_code worker_job_measure(const json_t *request, bn_status *st);

/* ---- pinning (pinning.c) --------------------------------------------------------- */

/* Where threads may run, by --pin: "none", "host" (host thread on one core, the
 * runtime on the others), "all" (everything on the cores given to the process,
 * host thread on the first) or a list of cores "0,2-3" for everything. */
typedef struct worker_pinning worker_pinning;
/* Before the plugin is loaded: its threads inherit this mask. */
BN_MUST_USE bn_code worker_pin_begin(const char *pin, worker_pinning **pinning, bn_status *st);
/* After the client was made: the host thread takes its own core. */
BN_MUST_USE bn_code worker_pin_host_thread(worker_pinning *pinning, bn_status *st);
/* What was done (new reference), for the record. NULL allowed in all three. */
json_t *worker_pinning_to_json(const worker_pinning *pinning);
void worker_pinning_free(worker_pinning *pinning);

/* ---- session (session.c): a runtime, a model and a mode in a worker ------------------ */

typedef struct worker_feed worker_feed;
typedef struct worker_program worker_program;

typedef struct worker_session {
    const job_experiment *experiment;
    rt_plugin *plugin;
    rt_client *client;
    model *instance;
    mode *mode;
    mode_call call;          /* the model's step */
    worker_program *program; /* in place of the model; NULL: a model is run */
    worker_feed *feed;       /* of batches; NULL: the one batch that was written stays */
    json_t *weights;         /* where they came from, for the record; NULL: the rule */
    worker_pinning *pinning;
    char path[4096]; /* of the plugin */
} worker_session;

typedef struct worker_session_options {
    bool keep_gradients, keep_stages, no_dropout;
    tg_precision precision;
} worker_session_options;

/* Loads the runtime only. */
BN_MUST_USE bn_code worker_session_begin(worker_session *s, const job_experiment *e, bn_status *st);
/* Makes model and mode and writes every variable's initial contents. May be
 * called again after worker_session_drop_model, on the same client. */
BN_MUST_USE bn_code worker_session_model(worker_session *s, const worker_session_options *options,
                                         bn_status *st);
void worker_session_drop_model(worker_session *s);
void worker_session_end(worker_session *s);
/* The runtime's part of the provenance (new reference). */
json_t *worker_session_describe(const worker_session *s);
/* Whether the session's plugin says that its device is simulated. */
bool worker_session_simulated(const worker_session *s);
/* BN_NOT_SUPPORTED where a simulated device gives zeros in place of the values of what
 * the session has executed: whoever looks at values asks first. */
BN_MUST_USE bn_code worker_session_has_values(const worker_session *s, bn_status *st);
/* The feed that the experiment asks for (--input, --lengths, --buckets), or NULL for
 * fixed batches of one length; takes over what the inputs hold. To be freed before
 * the model. */
BN_MUST_USE bn_code worker_feed_new(worker_session *s, worker_feed **feed, bn_status *st);
void worker_feed_free(worker_feed *feed); /* NULL allowed */
const mode_feed *worker_feed_hooks(const worker_feed *feed);
/* Stays with one batch from here on. */
void worker_feed_hold(worker_feed *feed);

/* {"path": ..., "sha256": ..., ...}: FILE, opened as WEIGHTS (new reference). */
json_t *worker_weights_to_json(const char *file, const model_weights *weights);

/* Compiles the program, runs it once, writes and compares its results. A difference is
 * BN_WRONG_RESULT. */
BN_MUST_USE bn_code worker_session_program(worker_session *s, bn_status *st);
json_t *worker_program_to_json(const worker_program *program); /* new reference */
void worker_program_free(worker_program *program);             /* NULL allowed */

/* ---- measuring ------------------------------------------------------------------------ */

/* Warm-up is over when the last WORKER_WARM_WINDOW steps compiled nothing and their
 * times show no trend (Mann-Kendall, two-sided 5 %). */
#define WORKER_WARM_WINDOW 8
bool worker_warm(const uint64_t *wall_ns, const int64_t *compiles, size_t count);

/* Runs the whole experiment on an open session and fills RECORD. */
BN_MUST_USE bn_code worker_measure(worker_session *s, res_record *record, bn_status *st);

/* Figures of executions, after the measured steps (variables are not
 * meaningful afterwards). Fills RECORD's executions. */
BN_MUST_USE bn_code worker_measure_executions(worker_session *s, res_record *record, bn_status *st);

/* What the plugin's profiler says of STEPS further steps, for the executions of RECORD;
 * a profiler that is missing or fails leaves the figures that are there. */
void worker_measure_profile(worker_session *s, size_t steps, res_record *record);

/* A line through times over repeats: Theil-Sen slope with a bootstrap interval
 * over the rounds. TIME_NS[round * repeats + i] was taken with REPEAT[i]. */
typedef struct worker_slope {
    double slope_ns, low_ns, high_ns;
    double intercept_ns;
} worker_slope;
worker_slope worker_slope_fit(const unsigned *repeat, size_t repeats, const double *time_ns,
                              size_t rounds);

#endif
