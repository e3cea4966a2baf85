/*
 * speedup.c - which records face each other in the speedup table, and what is
 * computed from them.
 *
 * A cell is what two modes may be compared in: runtime, model, phase and
 * set-up. It has one row a mode and number of graphs: the newest good record,
 * or the newest failure where none is good. The base of a cell is lazy with the
 * fewest graphs.
 */
#include "results/findings/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *res_plugin_sha256(const res_record *record)
{
    const json_t *runtime = json_object_get(record->provenance, "runtime");
    const char *sha256 = json_string_value(json_object_get(runtime, "sha256"));
    return sha256 ? sha256 : "";
}

static bool usable(const res_record *record)
{
    return record->status == BN_OK && record->step_count > 0;
}

bool res_same_block(const res_record *a, const res_record *b)
{
    return a->simulated == b->simulated &&
           strcmp(a->experiment.runtime, b->experiment.runtime) == 0;
}

static bool same_cell(const res_record *a, const res_record *b)
{
    const res_experiment *left = &a->experiment, *right = &b->experiment;
    return res_same_block(a, b) && strcmp(left->model, right->model) == 0 &&
           strcmp(left->phase, right->phase) == 0 && res_setup_difference(left, right) == 0;
}

static bool same_way(const res_experiment *a, const res_experiment *b)
{
    return strcmp(a->mode, b->mode) == 0 && a->graphs == b->graphs;
}

/* The order of the table; rows of a block, and of a cell, stand together. */
static int row_order(const void *a, const void *b)
{
    const res_record *x = ((const res_speedup_row *)a)->record;
    const res_record *y = ((const res_speedup_row *)b)->record;
    return x->simulated != y->simulated ? x->simulated - y->simulated
                                        : res_experiment_order(&x->experiment, &y->experiment);
}

/* One row for each cell, mode and number of graphs. */
static void pick(const res_collection *all, res_speedup *speedup)
{
    for (size_t i = 0; i < all->count; i++) {
        const res_record *record = all->records[i];
        size_t row = 0;
        while (row < speedup->count &&
               !(same_way(&speedup->rows[row].record->experiment, &record->experiment) &&
                 same_cell(speedup->rows[row].record, record)))
            row++;
        if (row == speedup->count) {
            speedup->rows[speedup->count++].record = record;
            continue;
        }
        const res_record *held = speedup->rows[row].record;
        bool newer = strcmp(record->id, held->id) > 0;
        if (usable(record) != usable(held) ? usable(record) : newer)
            speedup->rows[row].record = record;
    }
}

static double trace_ns(const res_record *record)
{
    static const bn_part parts[] = {BN_PART_TRACE, BN_PART_HASH, BN_PART_LOOKUP};
    if (!res_has_ledger(record))
        return (double)NAN;
    uint64_t *series = calloc(record->step_count, sizeof *series);
    if (!series)
        return (double)NAN;
    res_part_series(record, parts, 3, series);
    double median = res_quantile(series, record->step_count, 0.5);
    free(series);
    return median;
}

/* Device time and overhead of a step's executions; NaN as soon as one of them
 * is unknown, for a sum of some is no sum. */
static void sum_executions(const res_record *record, res_speedup_row *row)
{
    double overhead_ns = 0, half_squared = 0;
    row->device_ns = row->executions > 0 ? 0 : (double)NAN;
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *execution = &record->executions[i];
        const char *source = bn_device_time_source_name(execution->device_source);
        bool known = execution->device_source != BN_DEVICE_TIME_UNAVAILABLE;
        row->device_ns += execution->per_step * (known ? execution->device_ns : (double)NAN);
        res_interval overhead = res_execution_overhead(execution);
        double half = execution->per_step * (overhead.high - overhead.low) / 2;
        overhead_ns += execution->per_step * overhead.estimate;
        half_squared += half * half;
        row->source = !row->source || strcmp(row->source, source) == 0 ? source : "mixed";
        if (!execution->from_disk)
            row->compile_ns += (double)execution->lower_ns + (double)execution->compile_ns;
    }
    if (!row->source)
        row->source = bn_device_time_source_name(BN_DEVICE_TIME_UNAVAILABLE);
    double n = row->executions > 0 ? row->executions : (double)NAN;
    double half = sqrt(half_squared) / n, mean = overhead_ns / n;
    row->overhead = (res_interval){mean, mean - half, mean + half};
}

void res_speedup_measure(res_speedup_row *row)
{
    const res_record *record = row->record;
    const res_interval none = {(double)NAN, (double)NAN, (double)NAN};
    row->wall = row->speedup = none;
    row->nodes_per_step = row->trace_ns = (double)NAN;
    if (!usable(record)) {
        row->overhead = none;
        row->device_ns = row->compile_ns = row->executions = (double)NAN;
        row->source = bn_device_time_source_name(BN_DEVICE_TIME_UNAVAILABLE);
        return;
    }
    for (size_t i = 0; i < record->execution_count; i++)
        row->executions += record->executions[i].per_step;
    sum_executions(record, row);
    row->trace_ns = trace_ns(record);
    /* Records of others' results count and compile nothing. */
    if (record->execution_count > 0)
        row->nodes_per_step =
            (double)record->step_counters[BN_COUNTER_NODES_TRACED] / (double)record->step_count;
    else
        row->compile_ns = (double)NAN;
    row->wall = res_median_interval(record->wall_ns, record->step_count);
}

static void compare(res_speedup_row *row, const res_record *base)
{
    if (!base || base == row->record || !usable(base) || !usable(row->record))
        return;
    if (strcmp(res_plugin_sha256(base), res_plugin_sha256(row->record)) != 0) {
        row->other_build = true;
        return;
    }
    row->speedup = res_ratio_interval(base->wall_ns, base->step_count, row->record->wall_ns,
                                      row->record->step_count);
}

/* Cells stand together: marks where they begin and compares within them. */
static void compare_cells(res_speedup *speedup)
{
    const res_record *base = NULL;
    for (size_t i = 0; i < speedup->count; i++) {
        res_speedup_row *row = &speedup->rows[i];
        const res_record *before = i > 0 ? speedup->rows[i - 1].record : NULL;
        row->first_of_block = !before || !res_same_block(before, row->record);
        row->first_of_cell = !before || !same_cell(before, row->record);
        if (row->first_of_cell) {
            base = NULL;
            for (size_t j = i; !base && j < speedup->count; j++) {
                const res_record *other = speedup->rows[j].record;
                if (!same_cell(other, row->record))
                    break;
                if (strcmp(other->experiment.mode, "lazy") == 0)
                    base = other;
            }
        }
        res_speedup_measure(row);
        row->base = row->record == base;
        compare(row, base);
    }
}

static bool same_mean(const res_record *a, const res_record *b)
{
    return res_same_block(a, b) && strcmp(a->experiment.phase, b->experiment.phase) == 0;
}

/* By block, phase, mode and graphs. */
static int mean_order(const void *a, const void *b)
{
    static const res_axis_id by[] = {RES_AXIS_RUNTIME, RES_AXIS_PHASE, RES_AXIS_MODE,
                                     RES_AXIS_GRAPHS};
    const res_record *x = ((const res_speedup_mean *)a)->example;
    const res_record *y = ((const res_speedup_mean *)b)->example;
    int order = x->simulated - y->simulated;
    for (size_t i = 0; i < sizeof by / sizeof *by && order == 0; i++)
        order = res_axis_order(&res_axes[by[i]], &x->experiment, &y->experiment);
    return order;
}

/* Geometric mean over the cells of EXAMPLE's block and phase that have its mode
 * and graphs. VALUES is room for a value per row. */
static res_speedup_mean mean_of(const res_speedup *speedup, const res_record *example,
                                double *values)
{
    res_speedup_mean mean = {.example = example};
    size_t count = 0;
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        if (!same_mean(row->record, example))
            continue;
        mean.cells += row->first_of_cell;
        if (same_way(&row->record->experiment, &example->experiment))
            values[count++] = row->speedup.estimate;
    }
    mean.speedup = res_geometric_mean(values, count, &mean.covered);
    return mean;
}

/* A mean for each phase, mode and number of graphs that anything was compared
 * in or should have been. */
static void take_means(res_speedup *speedup, double *values)
{
    for (size_t i = 0; i < speedup->count; i++) {
        const res_record *record = speedup->rows[i].record;
        bool known = strcmp(record->experiment.mode, "lazy") == 0;
        for (size_t j = 0; !known && j < speedup->mean_count; j++)
            known = same_mean(speedup->means[j].example, record) &&
                    same_way(&speedup->means[j].example->experiment, &record->experiment);
        /* A program of its own has no lazy cell to be compared with. */
        known = known || strcmp(record->experiment.phase, "program") == 0;
        if (!known)
            speedup->means[speedup->mean_count++] = mean_of(speedup, record, values);
    }
    qsort(speedup->means, speedup->mean_count, sizeof *speedup->means, mean_order);
}

bool res_speedup_make(const res_collection *all, res_speedup *speedup)
{
    *speedup = (res_speedup){0};
    double *values = calloc(all->count + 1, sizeof *values);
    speedup->rows = calloc(all->count + 1, sizeof *speedup->rows);
    speedup->means = calloc(all->count + 1, sizeof *speedup->means);
    if (!values || !speedup->rows || !speedup->means) {
        free(values);
        res_speedup_free(speedup);
        return false;
    }
    pick(all, speedup);
    qsort(speedup->rows, speedup->count, sizeof *speedup->rows, row_order);
    compare_cells(speedup);
    take_means(speedup, values);
    free(values);
    return true;
}

void res_speedup_free(res_speedup *speedup)
{
    free(speedup->rows);
    free(speedup->means);
    *speedup = (res_speedup){0};
}
