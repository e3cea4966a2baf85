/*
 * ratio_mean.c - the geometric mean of the ratios of several cells.
 */
#include "results/findings/findings_priv.h"

#include <math.h>
#include <stdlib.h>

/* How many pairs each of the ratios has, of processes or of runs; 0 where some have others, or
 * none. */
static size_t shared_pairs(const res_pool_ratio *const *list, size_t count)
{
    const size_t pairs = count > 0 ? list[0]->pair_count : 0;
    for (size_t i = 1; i < count; i++)
        if (list[i]->pair_count != pairs || list[i]->of_runs != list[0]->of_runs)
            return 0;
    return pairs;
}

/* The least numbers of processes and runs of the ratios. */
static void count_processes(const res_pool_ratio *const *list, size_t count, res_ratio_mean *mean)
{
    for (size_t i = 0; i < count; i++) {
        const size_t runs = list[i]->of_runs ? list[i]->log.values : 1;
        mean->processes =
            i == 0 || list[i]->processes < mean->processes ? list[i]->processes : mean->processes;
        mean->runs = i == 0 || runs < mean->runs ? runs : mean->runs;
    }
}

/* The sample is the mean over the cells of each process. */
static res_estimate mean_by_process(const res_pool_ratio *const *list, size_t count, size_t pairs)
{
    double *room = bn_zalloc(pairs, sizeof *room);
    for (size_t p = 0; p < pairs; p++)
        for (size_t i = 0; i < count; i++)
            room[p] += list[i]->pairs[p] / (double)count;
    const res_estimate own = res_estimate_of(room, pairs);
    free(room);
    return own;
}

static res_estimate mean_by_cell(const res_pool_ratio *const *list, size_t count)
{
    double *weights = bn_zalloc(count, sizeof *weights);
    res_estimate *each = bn_zalloc(count, sizeof *each);
    for (size_t i = 0; i < count; i++) {
        weights[i] = 1 / (double)count;
        each[i] = list[i]->own;
    }
    const res_estimate own = res_estimate_sum(each, weights, count);
    free(each);
    free(weights);
    return own;
}

/* The drift of a mean: a machine does it to all of the ratios, so that it does not average out. */
static res_run_drift mean_drift(const res_pool_ratio *const *list, size_t count)
{
    res_run_drift drift = {0, (double)INFINITY};
    for (size_t i = 0; i < count; i++) {
        const res_run_drift *of = &list[i]->log.drift;
        drift.deviation += of->deviation / (double)count;
        if (of->deviation > 0)
            drift.freedom = fmin(drift.freedom, of->freedom);
    }
    return drift;
}

res_ratio_mean res_ratio_mean_of(const res_pool_ratio *const *list, size_t count)
{
    const size_t pairs = shared_pairs(list, count);
    const res_estimate own =
        pairs > 0 ? mean_by_process(list, count, pairs) : mean_by_cell(list, count);
    const res_moderated log = res_moderated_alone(&own, mean_drift(list, count));
    res_ratio_mean mean = {.ratio = res_moderated_ratio(&log), .by_process = pairs > 0};
    count_processes(list, count, &mean);
    return mean;
}
