/*
 * supervise.h - jobs in worker processes, and their progress.
 */
#ifndef BENCH_HARNESS_JOBS_SUPERVISE_H
#define BENCH_HARNESS_JOBS_SUPERVISE_H

#include <jansson.h>
#include <sys/types.h>

#include "runtime/base/base.h"

/* ---- one job in one worker (supervisor.c, ending.c) ------------------------------------- */


/* A worker's task. */
typedef struct job_order {
    json_t *request;   /* borrowed: {"job": NAME, ...}, NAME a row of the table in main.c; gets the
                          member JOB_BEGUN */
    const char *title; /* for people */
    size_t number, of; /* experiment 3 of 12, for the progress line */
    double timeout;    /* seconds; 0: none */
    bool verbose;      /* pass the worker's standard error through */
    bool more;         /* further processes of the same experiments follow */
} job_order;

/* The member of a request with the time of its worker's start, as bn_now_ns. */
#define JOB_BEGUN "begun_ns"

/* The stage of a worker that gives the runtime its options. */
#define JOB_LOADING "loading the runtime"

typedef struct job_outcome {
    bn_code status;     /* of the job; BN_CRASH, BN_TIMEOUT, BN_CANCELLED, ... */
    char message[1024]; /* why it failed, with the worker's last words; "" where it did not */
    pid_t pid;          /* of the worker, which is gone */
    bool usage;         /* the runtime refused the user's options: no experiment was begun */
    size_t unreadable;  /* lines of the worker that are no answers; a warning was shown */
    json_t *result;     /* the worker's last, or NULL; owned by the caller */
} job_outcome;

/* Catches SIGINT and SIGTERM from here on, and ignores SIGPIPE and SIGXFSZ. To be called before
 * the first job. */
void job_supervise_begin(void);
/* True once the user asked to stop. Jobs then end with BN_CANCELLED. */
bool job_interrupted(void);
/*
 * Runs JOB in a worker process of its own process group, shows its progress, and waits for its
 * end. No process of the group outlives the call. However the worker fails (crash, kill, hang,
 * lack of memory), that is an OUTCOME; only a worker that cannot be started is an error of this
 * call, and then OUTCOME has no result.
 */
BN_MUST_USE bn_code job_supervise(const job_order *job, job_outcome *outcome, bn_status *st);

/*
 * Runs two jobs "measure" whose requests have {"turns": true} in two workers that live at the same
 * time, and of which one at most runs (duet benchmarking: L. Bulej et al., "Duet benchmarking",
 * ICPE 2020). The second starts once the first has warmed up. Then each round is a turn of both,
 * in an order drawn with SEED. Where one fails, the other is cancelled. A job's timeout counts the
 * other's turns, too.
 */
BN_MUST_USE bn_code job_supervise_pair(const job_order jobs[2], uint64_t seed,
                                       job_outcome outcomes[2], bn_status *st);

/* ---- progress (progress.c) --------------------------------------------------------------- */

/* job_supervise calls these; a command that works without a worker calls them itself. */
void job_progress_begin(const job_order *job);
/* JOB is at STAGE, DONE OF so many; OF 0: the stage has no count. */
void job_progress_stage(const job_order *job, const char *stage, int64_t done, int64_t of);
/* The line of JOB, which has ended: "ok" or the class of its first failure, its time, and the time
 * left. A job that others follow has none unless it failed, is verbose, or a minute had none. */
void job_progress_end(const job_order *job, const job_outcome *outcome);
/* Before a job: how long it and all jobs after it will take, in seconds, for the time left that is
 * shown. A negative JOB_S: unknown. Holds for that job only. */
void job_progress_expect(double job_s, double after_s);

#endif
