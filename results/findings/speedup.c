/*
 * speedup.c - which records the speedup table compares, and what it computes from them.
 *
 * Modes are compared within a cell: one runtime, model, phase and set-up. A cell has one row a mode
 * and number of graphs: the newest good record, or the newest failure where none is good. The base
 * of a cell is lazy with the fewest graphs.
 */
#include "results/findings/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool res_same_block(const res_record *a, const res_record *b)
{
    return a->simulated == b->simulated &&
           strcmp(a->experiment.runtime, b->experiment.runtime) == 0;
}

bool res_same_cell(const res_record *a, const res_record *b)
{
    const res_experiment *left = &a->experiment, *right = &b->experiment;
    return res_same_block(a, b) && strcmp(left->model, right->model) == 0 &&
           strcmp(left->phase, right->phase) == 0 && res_setup_difference(left, right) == 0;
}

static bool same_way(const res_experiment *a, const res_experiment *b)
{
    return strcmp(a->mode, b->mode) == 0 && a->graphs == b->graphs;
}

/* The order of the table: rows of a block stand together, and so do rows of a cell. */
static int row_order(const void *a, const void *b)
{
    const res_record *x = ((const res_speedup_row *)a)->record;
    const res_record *y = ((const res_speedup_row *)b)->record;
    return x->simulated != y->simulated ? x->simulated - y->simulated
                                        : res_experiment_order(&x->experiment, &y->experiment);
}

/* Picks one row for each cell, mode and number of graphs. */
static void pick(const res_collection *all, res_speedup *speedup)
{
    for (size_t i = 0; i < all->count; i++) {
        const res_record *record = all->records[i];
        size_t row = 0;
        while (row < speedup->count &&
               !(same_way(&speedup->rows[row].record->experiment, &record->experiment) &&
                 res_same_cell(speedup->rows[row].record, record)))
            row++;
        if (row == speedup->count) {
            speedup->rows[speedup->count++].record = record;
            continue;
        }
        const res_record *held = speedup->rows[row].record;
        bool newer = strcmp(record->id, held->id) > 0;
        if (res_record_good(record) != res_record_good(held) ? res_record_good(record) : newer)
            speedup->rows[row].record = record;
    }
}

static void compare(res_speedup_row *row, const res_record *base)
{
    row->speedup = (res_interval){(double)NAN, (double)NAN, (double)NAN};
    if (!base || base == row->record || !res_record_good(base) || !res_record_good(row->record))
        return;
    if (strcmp(res_plugin_sha256(base), res_plugin_sha256(row->record)) != 0) {
        row->other_build = true;
        return;
    }
    row->speedup = res_ratio_interval(base->wall_ns, base->step_count, row->record->wall_ns,
                                      row->record->step_count);
}

/* The first lazy row of the cell that begins at FIRST, or NULL; rows of a cell stand together. */
static const res_record *base_of(const res_speedup *speedup, size_t first)
{
    const res_record *head = speedup->rows[first].record;
    for (size_t i = first; i < speedup->count; i++) {
        const res_record *record = speedup->rows[i].record;
        if (!res_same_cell(record, head))
            break;
        if (strcmp(record->experiment.mode, "lazy") == 0)
            return record;
    }
    return NULL;
}

/* Marks where cells and blocks begin, and compares within each cell. */
static void compare_cells(res_speedup *speedup)
{
    const res_record *base = NULL;
    for (size_t i = 0; i < speedup->count; i++) {
        res_speedup_row *row = &speedup->rows[i];
        const res_record *before = i > 0 ? speedup->rows[i - 1].record : NULL;
        row->first_of_block = !before || !res_same_block(before, row->record);
        row->first_of_cell = !before || !res_same_cell(before, row->record);
        if (row->first_of_cell)
            base = base_of(speedup, i);
        row->measures = res_record_measures(row->record);
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

/* Makes a mean for each phase, mode and number of graphs in which something was compared or should
 * have been. */
static void take_means(res_speedup *speedup, double *values)
{
    for (size_t i = 0; i < speedup->count; i++) {
        const res_record *record = speedup->rows[i].record;
        bool known = strcmp(record->experiment.mode, "lazy") == 0;
        for (size_t j = 0; !known && j < speedup->mean_count; j++)
            known = same_mean(speedup->means[j].example, record) &&
                    same_way(&speedup->means[j].example->experiment, &record->experiment);
        /* A program that others wrote has no lazy cell to be compared with. */
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
