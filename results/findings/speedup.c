/*
 * speedup.c - which records the speedup table compares, and what it computes from them.
 *
 * Ways to run a step are compared within a cell: one runtime, model, phase and set-up. A cell has
 * one row a way (front end, mode, graphs, dispatch): the pool of its good records, or the latest
 * failure where none is good. The baseline of a cell is bench's lazy with the fewest graphs.
 * Without it, a cell of several front ends takes its first row: each of them is a way to run the
 * same step.
 *
 * A table holds many ratios, so differences are claimed over all of them together (S. Holm, "A
 * simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6,
 * 1979): the probability that any of them is wrong is at most 5 %.
 */
#include "results/findings/findings_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.05

static bool is_own_lazy(const res_experiment *e)
{
    return strcmp(e->mode, "lazy") == 0 && res_is_ours(e);
}

bool res_is_lazy(const res_experiment *e)
{
    return is_own_lazy(e) && !res_is_looped(e);
}

/* The order of the table: rows of a block stand together, and so do rows of a cell. */
static int row_order(const void *a, const void *b)
{
    const res_record *x = ((const res_speedup_row *)a)->record;
    const res_record *y = ((const res_speedup_row *)b)->record;
    return x->simulated != y->simulated ? x->simulated - y->simulated
                                        : res_experiment_order(&x->experiment, &y->experiment);
}

/* Finds the row of each record, into WHERE; new rows have it as their record. */
static void sort_into_rows(const res_collection *all, res_speedup *speedup, size_t *where)
{
    for (size_t i = 0; i < all->count; i++) {
        const res_record *record = all->records[i];
        size_t row = 0;
        while (row < speedup->count && !res_same_way(speedup->rows[row].record, record))
            row++;
        if (row == speedup->count)
            speedup->rows[speedup->count++].record = record;
        where[i] = row;
    }
}

static void make_row(const res_collection *all, const res_record *const *records, size_t count,
                     res_speedup_row *row)
{
    res_pool_make(records, count, &row->pool);
    res_pool_add_unread(&row->pool, all);
    row->record = row->pool.latest;
    row->figures = res_pool_figures(&row->pool);
    row->remarks = res_pool_remarks(&row->pool);
    res_interference_add(&row->interference, &row->pool);
}

/* Makes a row for each cell, mode and number of graphs. */
static void make_rows(const res_collection *all, res_speedup *speedup)
{
    size_t *where = bn_zalloc(all->count, sizeof *where);
    const res_record **records = bn_zalloc(all->count, sizeof(const res_record *));
    sort_into_rows(all, speedup, where);
    for (size_t row = 0; row < speedup->count; row++) {
        size_t count = 0;
        for (size_t i = 0; i < all->count; i++)
            if (where[i] == row)
                records[count++] = all->records[i];
        make_row(all, records, count, &speedup->rows[row]);
        res_interference_add(&speedup->interference, &speedup->rows[row].pool);
    }
    free(records);
    free(where);
}

/* ---- comparing ----------------------------------------------------------------------- */

static res_program programs_of(const res_pool *base, const res_pool *other)
{
    const res_record **list = bn_zalloc(base->count + other->count, sizeof(const res_record *));
    for (size_t i = 0; i < base->count; i++)
        list[i] = base->list[i].record;
    for (size_t i = 0; i < other->count; i++)
        list[base->count + i] = other->list[i].record;
    const res_program program =
        res_compare_programs(list, base->count, list + base->count, other->count);
    free(list);
    return program;
}

static void compare(res_speedup_row *row, const res_speedup_row *base)
{
    const double nan = (double)NAN;
    row->ratio = (res_pool_ratio){.ratio = {nan, nan, nan}, .p = 1};
    row->p_holm = 1;
    if (!base || base == row || base->pool.count == 0 || row->pool.count == 0)
        return;
    row->other_build = strcmp(res_plugin_sha256(base->record), res_plugin_sha256(row->record)) != 0;
    if (row->other_build || !res_same_conditions(base->record, row->record, row->other_conditions,
                                                 sizeof row->other_conditions))
        return;
    row->compared = true;
    row->program = programs_of(&base->pool, &row->pool);
    res_pool_ratio_make(&base->pool, &row->pool, &row->ratio);
}

/* The index of the baseline of the cell that begins at FIRST, or the table's count; rows of a cell
 * stand together. What was recorded elsewhere has no base: it is unknown whether it is the same
 * step. */
static size_t base_of(const res_speedup *speedup, size_t first)
{
    const res_record *head = speedup->rows[first].record;
    size_t good = speedup->count;
    bool several = false;
    for (size_t i = first; i < speedup->count; i++) {
        const res_record *record = speedup->rows[i].record;
        if (!res_same_cell(record, head))
            break;
        /* Of several steps a program only where no other is there: those come first. */
        if (is_own_lazy(&record->experiment))
            return i;
        if (strcmp(record->experiment.mode, "recorded") == 0)
            continue;
        several = several || strcmp(record->experiment.front_end, head->experiment.front_end) != 0;
        good = good == speedup->count && speedup->rows[i].pool.count > 0 ? i : good;
    }
    return several ? good : speedup->count;
}

/* Marks where cells and blocks begin, and compares within each cell. */
static void compare_cells(res_speedup *speedup)
{
    size_t base = speedup->count;
    for (size_t i = 0; i < speedup->count; i++) {
        res_speedup_row *row = &speedup->rows[i];
        const res_record *before = i > 0 ? speedup->rows[i - 1].record : NULL;
        row->first_of_block = !before || !res_same_block(before, row->record);
        row->first_of_cell = !before || !res_same_cell(before, row->record);
        if (row->first_of_cell)
            base = base_of(speedup, i);
        row->base_row = base;
        row->base = i == base;
        compare(row, base < speedup->count ? &speedup->rows[base] : NULL);
    }
}

static bool is_judged(const res_speedup_row *row)
{
    return row->ratio.log.freedom > 0;
}

static void moderate(res_speedup *speedup)
{
    res_pool_ratio **list = bn_zalloc(speedup->count, sizeof(res_pool_ratio *));
    for (size_t i = 0; i < speedup->count; i++)
        if (is_judged(&speedup->rows[i]))
            list[speedup->ratios++] = &speedup->rows[i].ratio;
    res_ratios_moderate(list, speedup->ratios);
    free(list);
}

/* Claims differences by Holm's procedure over all ratios that have an interval. */
static void judge(res_speedup *speedup)
{
    double *p = bn_zalloc(2 * speedup->count, sizeof *p), *adjusted = p + speedup->count;
    size_t next = 0;
    moderate(speedup);
    for (size_t i = 0; i < speedup->count; i++)
        if (is_judged(&speedup->rows[i]))
            p[next++] = speedup->rows[i].ratio.p;
    res_holm(p, NULL, speedup->ratios, adjusted);
    next = 0;
    for (size_t i = 0; i < speedup->count; i++) {
        res_speedup_row *row = &speedup->rows[i];
        if (is_judged(row))
            row->p_holm = adjusted[next++];
        row->significant = row->p_holm <= LEVEL;
    }
    free(p);
}

double res_speedup_mde(const res_speedup *speedup, const res_speedup_row *row, double times)
{
    return row->compared
               ? res_moderated_mde(&row->ratio.log, times, LEVEL / (double)speedup->ratios)
               : (double)NAN;
}

/* ---- means --------------------------------------------------------------------------- */

static bool same_mean(const res_record *a, const res_record *b)
{
    return res_same_block(a, b) && strcmp(a->experiment.phase, b->experiment.phase) == 0;
}

/* By block, phase and way. */
static int mean_order(const void *a, const void *b)
{
    static const res_axis_id by[] = {RES_AXIS_RUNTIME,
                                     RES_AXIS_PHASE,
                                     RES_AXIS_MODE,
                                     RES_AXIS_GRAPHS,
                                     RES_AXIS_FRONT_END,
                                     RES_AXIS_DISPATCH,
                                     RES_AXIS_STEPS_PER_EXECUTION};
    const res_record *x = ((const res_speedup_mean *)a)->example;
    const res_record *y = ((const res_speedup_mean *)b)->example;
    int order = x->simulated - y->simulated;
    for (size_t i = 0; i < sizeof by / sizeof *by && order == 0; i++)
        order = res_axis_order(&res_axes[by[i]], &x->experiment, &y->experiment);
    return order;
}

/* Whether ROW was compared with bench's lazy: a mean over different bases would be of nothing. */
static bool over_lazy(const res_speedup *speedup, const res_speedup_row *row)
{
    return row->compared && row->base_row < speedup->count &&
           res_is_lazy(&speedup->rows[row->base_row].record->experiment);
}

/* Geometric mean over the cells of EXAMPLE's block and phase that have its way. */
static void fill_mean(const res_speedup *speedup, const res_record *example, res_speedup_mean *mean)
{
    const res_pool_ratio **list = bn_zalloc(speedup->count, sizeof(const res_pool_ratio *));
    *mean = (res_speedup_mean){.example = example};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        if (!same_mean(row->record, example))
            continue;
        mean->cells += row->first_of_cell;
        if (res_is_one_way(&row->record->experiment, &example->experiment) &&
            over_lazy(speedup, row) && isfinite(row->ratio.log.mean))
            list[mean->covered++] = &row->ratio;
    }
    mean->mean = res_ratio_mean_of(list, mean->covered);
    free(list);
}

/* Makes a mean for each phase and way in which something was compared or should have been. */
static void make_means(res_speedup *speedup)
{
    for (size_t i = 0; i < speedup->count; i++) {
        const res_record *record = speedup->rows[i].record;
        bool known = speedup->rows[i].base || res_is_lazy(&record->experiment);
        for (size_t j = 0; !known && j < speedup->mean_count; j++)
            known = same_mean(speedup->means[j].example, record) &&
                    res_is_one_way(&speedup->means[j].example->experiment, &record->experiment);
        /* A program that others wrote, or ran, has no lazy cell to be compared with. */
        known = known || strcmp(record->experiment.phase, "program") == 0 ||
                strcmp(record->experiment.mode, "recorded") == 0;
        if (!known)
            fill_mean(speedup, record, &speedup->means[speedup->mean_count++]);
    }
    qsort(speedup->means, speedup->mean_count, sizeof *speedup->means, mean_order);
}

void res_speedup_make(const res_collection *all, res_speedup *speedup)
{
    *speedup = (res_speedup){
        .misdates = all->misdates, .damaged = all->damaged, .damaged_count = all->damaged_count};
    speedup->rows = bn_zalloc(all->count, sizeof *speedup->rows);
    speedup->means = bn_zalloc(all->count, sizeof *speedup->means);
    make_rows(all, speedup);
    qsort(speedup->rows, speedup->count, sizeof *speedup->rows, row_order);
    compare_cells(speedup);
    judge(speedup);
    make_means(speedup);
}

void res_speedup_free(res_speedup *speedup)
{
    for (size_t i = 0; i < speedup->count; i++) {
        res_pool_free(&speedup->rows[i].pool);
        res_pool_ratio_free(&speedup->rows[i].ratio);
    }
    free(speedup->rows);
    free(speedup->means);
    *speedup = (res_speedup){0};
}

const res_speedup_row *res_speedup_busiest(const res_speedup *speedup)
{
    const res_speedup_row *busiest = NULL;
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        if (res_interference_busy(&row->interference) &&
            (!busiest || res_interference_stalled(&row->interference) >
                             res_interference_stalled(&busiest->interference)))
            busiest = row;
    }
    return busiest;
}
