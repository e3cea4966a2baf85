/* ending_priv.h - how a worker ended: the class of its failure, a message, and stray processes. */
#ifndef BENCH_HARNESS_ENDING_H
#define BENCH_HARNESS_ENDING_H

#include "harness/jobs/jobs.h"

/* The last bytes that a worker wrote to its standard output and error: a ring. Zero at first. */
#define JOB_NOISE_BYTES 65536
typedef struct job_noise {
    char bytes[JOB_NOISE_BYTES];
    size_t written; /* in all */
} job_noise;

void job_noise_add(job_noise *noise, const char *bytes, size_t size);
/* Writes to TEXT the last line that looks like an error; without one the last line with text, and
 * "" where there was none. TEXT is printable and valid UTF-8. */
void job_noise_last_words(const job_noise *noise, char *text, size_t size);

/* Processes that the kernel has killed for want of memory: of our control group where it counts
 * them, else of the machine; -1: unknown. */
int64_t job_oom_kills(void);

/* The last words of a worker that could not be started begin so. */
#define JOB_NO_START "error: the worker could not start: "

/* How a worker ended. */
typedef struct job_ending {
    int wait_status;
    bool failed;               /* it reported so: the outcome has class and message already */
    bool cancelled, timed_out; /* we stopped it */
    bool killed;               /* by us, with SIGKILL */
    bool out_of_memory;        /* the kernel killed some process for memory meanwhile */
    double timeout;            /* seconds */
    const char *stage;         /* the last that it reported; "": none */
    const job_noise *noise;
} job_ending;

/* The class of the failure that a worker names in OBJECT; BN_CODE_COUNT: none, or an unknown one: a
 * plugin shares the worker's memory. */
bn_code job_class_of(const json_t *object);
/* Fills status and message of OUTCOME, whose result is there already. */
void job_ending_explain(const job_ending *ending, job_outcome *outcome);

#define JOB_SWEEP_MS 5 /* between two searches for processes that have to end */

/* ---- strays (strays.c) ---------------------------------------------------------------------- */

/* The mark of one worker's strays, and the process that ends them where we are killed. */
typedef struct job_strays {
    char mark[64]; /* "NAME=VALUE" in the environment of all processes that the worker starts */
    pid_t watcher; /* a child of ours */
    int lifeline;  /* it lives until this is closed; -1: there is none */
} job_strays;

/* Before a worker is started: sets a mark for it in the environment. */
void job_strays_mark(job_strays *s);
/* Once it is: starts its watcher, which must not delay it. There is none where no further process
 * or pipe can be made. */
void job_strays_watch(job_strays *s);
/* Ends the children of ours that the worker of S started, and reaps all children that have ended
 * but KEPT, which is another worker's, or 0. It searches ROUNDS times at most, JOB_SWEEP_MS apart.
 */
void job_strays_sweep(const job_strays *s, pid_t kept, int rounds);
/* After that: the watcher ends. Nothing where there is none. */
void job_strays_end(job_strays *s);

#endif
