/*
 * summaries.c - pools of what an index keeps of records: figures over many nights, for which no
 * file of a record is opened. They are those of the records themselves: an index keeps all that
 * pool.c looks at.
 */
#include "results/findings/summaries.h"

#include "results/findings/findings_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_id(const void *a, const void *b)
{
    return res_id_order((*(const res_summary *const *)a)->id, (*(const res_summary *const *)b)->id);
}

static bool same_build(const res_summary *a, const res_summary *b)
{
    return a == b || strcmp(a->origin->sha256, b->origin->sha256) == 0;
}

static res_process process_of(const res_summary *s)
{
    return (res_process){.measures = {.nodes_per_step = (double)NAN,
                                      .trace_ns = s->trace_ns,
                                      .overhead_ns = s->overhead_ns,
                                      .device_ns = s->device_ns,
                                      .executions = (double)NAN,
                                      .compile_ns = s->compile_ns,
                                      .source = s->source,
                                      .wall_ns = s->wall_ns},
                         .group = s->group,
                         .began_s = res_id_time(s->id)};
}

void res_pool_summaries(const res_summary **summaries, size_t count, const res_experiment *e,
                        res_process *room, res_summary_pool *out)
{
    res_pool *pool = &out->pool;
    *out = (res_summary_pool){.pool = {.experiment = e, .list = room}};
    if (count > 1)
        qsort(summaries, count, sizeof *summaries, by_id);
    for (size_t i = count; i-- > 0 && !out->latest;)
        if (res_summary_good(summaries[i]))
            out->latest = summaries[i];
    for (size_t i = 0; i < count; i++) {
        const res_summary *s = summaries[i];
        if (!res_summary_good(s))
            pool->failed++;
        else if (!same_build(s, out->latest))
            pool->other_builds++;
        else if (strcmp(s->conditions, out->latest->conditions) != 0)
            pool->other_conditions++;
        else
            room[pool->count++] = process_of(s);
    }
    if (pool->count > 0)
        res_pool_settle(pool);
}
