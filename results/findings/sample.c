/*
 * sample.c - which runs the processes of a pool are of, and their values as the sample of an
 * estimate.
 */
#include "results/findings/findings_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs ------------------------------------------------------------------------------ */

/* Ids are in order of time, so that few processes of other runs stand between those of one. */
#define MOST_BETWEEN 256

/* Runs that begin within RES_LEVEL_S of the first of them are one.
 * Processes of one run have the same group. Records without one ran alone. */
static void number_runs(res_pool *pool)
{
    double began_s = (double)NAN;
    for (size_t i = 0; i < pool->count; i++) {
        res_process *process = &pool->list[i];
        const size_t least = i > MOST_BETWEEN ? i - MOST_BETWEEN : 0;
        size_t k = process->group[0] ? i : least;
        while (k > least && strcmp(pool->list[k - 1].group, process->group) != 0)
            k--;
        if (k > least) {
            process->run = pool->list[k - 1].run;
        } else if (process->began_s - began_s < RES_LEVEL_S) {
            process->run = pool->run_count - 1;
        } else {
            process->run = pool->run_count++;
            began_s = process->began_s;
        }
    }
}

bool res_pool_counts(const res_pool *pool, size_t i)
{
    return res_runs_have(&pool->runs, pool->list[i].run);
}

size_t res_pool_looks(const res_pool *pool, const bool *of)
{
    size_t looks = 0;
    for (size_t i = 0; i < pool->count; i++) {
        const res_process *p = &pool->list[i];
        const size_t least = i > MOST_BETWEEN ? i - MOST_BETWEEN : 0;
        bool known = of && !of[i];
        for (size_t k = i; k-- > least && !known;)
            known = (!of || of[k]) && strcmp(pool->list[k].group, p->group) == 0 &&
                    (p->group[0] || pool->list[k].run == p->run);
        looks += !known;
    }
    return looks;
}

void res_pool_settle(res_pool *pool)
{
    size_t *run = bn_zalloc(pool->count, sizeof *run);
    pool->run_count = pool->counted = 0;
    number_runs(pool);
    for (size_t i = 0; i < pool->count; i++)
        run[i] = pool->list[i].run;
    pool->runs = res_runs_choose(run, pool->count);
    for (size_t i = 0; i < pool->count; i++)
        pool->counted += res_pool_counts(pool, i);
    if (pool->run_count > 1 && !pool->runs.means)
        pool->run_count = 1;
    free(run);
}

/* ---- the sample ------------------------------------------------------------------------ */

res_sample res_sample_begin(size_t most)
{
    return (res_sample){.values = bn_zalloc(most, sizeof(double)),
                        .run = bn_zalloc(most, sizeof(size_t))};
}

void res_sample_end(res_sample *s)
{
    free(s->values);
    free(s->run);
}

void res_sample_add(res_sample *s, double value, const res_process *process)
{
    s->values[s->count] = value;
    s->run[s->count++] = process->run;
}

res_estimate res_sample_estimate(res_sample *s)
{
    const res_runs runs = res_runs_choose(s->run, s->count);
    size_t known = 0;
    for (size_t i = 0; i < s->count; i++)
        if (isfinite(s->values[i]) && res_runs_have(&runs, s->run[i])) {
            s->values[known] = s->values[i];
            s->run[known++] = s->run[i];
        }
    s->processes = known;
    s->of_runs = runs.means;
    s->count = res_runs_sample(&runs, s->values, s->run, known);
    return res_estimate_of(s->values, s->count);
}
