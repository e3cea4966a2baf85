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

/* OWN with what a machine does to all of the ratios, which does not average out, and with what each
 * of them shares within its run alone, which does. */
static res_estimate mean_with_drift(res_estimate own, const res_pool_ratio *const *list,
                                    size_t count)
{
    double common = 0, shared = 0;
    for (size_t i = 0; i < count; i++) {
        common += list[i]->common;
        shared = hypot(shared, list[i]->shared);
    }
    return count > 0 ? res_with_drift(own, shared / (double)count, common / (double)count) : own;
}

res_ratio_mean res_ratio_mean_of(const res_pool_ratio *const *list, size_t count)
{
    const size_t pairs = shared_pairs(list, count);
    const res_estimate own =
        pairs > 0 ? mean_by_process(list, count, pairs) : mean_by_cell(list, count);
    const res_estimate log = mean_with_drift(own, list, count);
    res_ratio_mean mean = {.ratio = res_estimate_ratio(&log), .by_process = pairs > 0};
    count_processes(list, count, &mean);
    return mean;
}
