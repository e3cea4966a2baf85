/* verdict.h - what the end of a worker means. */
#ifndef BENCH_VERDICT_H
#define BENCH_VERDICT_H

#include "harness/jobs/jobs.h"

/* The last of what a worker wrote to its standard error: a ring. */
#define JOB_NOISE_BYTES 65536
typedef struct job_noise {
    char bytes[JOB_NOISE_BYTES];
    size_t written; /* in all */
} job_noise;

void job_noise_add(job_noise *noise, const char *bytes, size_t size);
/* The last line that looks like an error, else the last with text, "" for
 * silence; printable and valid UTF-8. */
void job_noise_last_words(const job_noise *noise, char *text, size_t size);

/* Processes that the kernel has killed for want of memory, here as far as that
 * can be told apart, else on the machine; -1 unknown. */
int64_t job_oom_kills(void);

/* How a worker ended. */
typedef struct job_ending {
    int wait_status;
    bool failed;               /* it reported so: OUTCOME has class and message */
    bool cancelled, timed_out; /* we stopped it */
    bool killed;               /* by us, with SIGKILL */
    bool out_of_memory;        /* the kernel killed for memory meanwhile */
    double timeout;
    const char *stage; /* "" before the first */
    const job_noise *noise;
} job_ending;

/* Fills status and message of OUTCOME. */
void job_ending_explain(const job_ending *ending, job_outcome *outcome);

#endif
