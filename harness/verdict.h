/* verdict.h - what the end of a worker means. */
#ifndef BENCH_VERDICT_H
#define BENCH_VERDICT_H

#include "harness/harness.h"

/* The last of what a worker wrote to its standard error: a ring. */
#define HN_NOISE_BYTES 65536
typedef struct hn_noise {
    char bytes[HN_NOISE_BYTES];
    size_t written; /* in all */
} hn_noise;

void hn_noise_add(hn_noise *noise, const char *bytes, size_t size);
/* The last line that looks like an error, else the last with text, "" for
 * silence; printable and valid UTF-8. */
void hn_noise_last_words(const hn_noise *noise, char *text, size_t size);

/* Processes that the kernel has killed for want of memory, here as far as that
 * can be told apart, else on the machine; -1 unknown. */
int64_t hn_oom_kills(void);

/* How a worker ended. */
typedef struct hn_ending {
    int wait_status;
    bool failed;               /* it reported so: OUTCOME has class and message */
    bool cancelled, timed_out; /* we stopped it */
    bool killed;               /* by us, with SIGKILL */
    bool out_of_memory;        /* the kernel killed for memory meanwhile */
    double timeout;
    const char *stage; /* "" before the first */
    const hn_noise *noise;
} hn_ending;

/* Fills status and message of OUTCOME. */
void hn_judge(const hn_ending *ending, hn_outcome *outcome);

#endif
