/* progress.h - the supervisor's one line of progress. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include "harness/harness.h"

void hn_progress_begin(const hn_job *job);
/* A worker told its stage; OF 0 means that it has no count. */
void hn_progress_stage(const hn_job *job, const char *stage, int64_t done, int64_t of);
void hn_progress_end(const hn_job *job, const hn_outcome *outcome);

/* How long the next job and all after it will take, in seconds, for the time that is left;
 * a negative JOB_S: not known. Holds for one job. */
void hn_progress_expect(double job_s, double after_s);

#endif
