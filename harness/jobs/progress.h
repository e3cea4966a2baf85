/* progress.h - the supervisor's one line of progress. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include "harness/jobs/jobs.h"

void job_progress_begin(const job_order *job);
/* A worker told its stage; OF 0 means that it has no count. */
void job_progress_stage(const job_order *job, const char *stage, int64_t done, int64_t of);
void job_progress_end(const job_order *job, const job_outcome *outcome);

/* How long the next job and all after it will take, in seconds, for the time that is left;
 * a negative JOB_S: not known. Holds for one job. */
void job_progress_expect(double job_s, double after_s);

#endif
