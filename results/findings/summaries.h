/*
 * summaries.h - pools of what an index keeps of records, for figures over many nights.
 */
#ifndef BENCH_RESULTS_FINDINGS_SUMMARIES_H
#define BENCH_RESULTS_FINDINGS_SUMMARIES_H

#include "results/findings/findings.h"

/* A pool of what an index keeps of records (summaries.c). Its figures are those of the records. */
typedef struct res_summary_pool {
    res_pool pool;             /* its list is the caller's: no res_pool_free */
    const res_summary *latest; /* the latest that is good; NULL: none is, and the pool is empty */
} res_summary_pool;
/* Pools COUNT SUMMARIES, of one cell and way, as res_pool_make does. They are put in the order of
 * their ids. ROOM for COUNT processes must outlive POOL. */
void res_pool_summaries(const res_summary **summaries, size_t count,
                        const res_experiment *experiment, res_process *room,
                        res_summary_pool *pool);

#endif
