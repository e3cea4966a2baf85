/*
 * costs.c - costs of a node, an execution and an argument, of each row and of each front end.
 *
 * A row says what its step costs. The cost of an argument needs steps with few and with
 * many of them: each process draws a line through the rows of a front end, as studies do.
 */
#include "results/findings/costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const res_interval unknown = {(double)NAN, (double)NAN, (double)NAN};

/* ---- rows ------------------------------------------------------------------------------------ */

static double dispatch_of(const res_process *process)
{
    static const bn_part part = BN_PART_DISPATCH;
    return res_part_median(process->record, &part, 1);
}

/* OVER shared among COUNT; nothing where there is none. */
static res_over shared(res_over over, double count)
{
    const double each = count > 0 ? 1 / count : (double)NAN;
    over.value.estimate *= each;
    over.value.low *= each;
    over.value.high *= each;
    return over;
}

static void count_values(const res_record *record, res_cost *cost)
{
    cost->arguments = cost->results = 0;
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *x = &record->executions[i];
        cost->arguments += res_execution_times(x) * x->arguments;
        cost->results += res_execution_times(x) * x->results;
    }
}

/* PJRT times of all executions of a step; NaN where one of them is unknown. */
static double step_pjrt_of(const res_record *record)
{
    double sum = 0, executions = 0;
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *x = &record->executions[i];
        if (x->per_step > 0)
            sum += res_execution_times(x) * res_execution_pjrt_ns(x);
        executions += res_execution_times(x);
    }
    return executions > 0 ? sum : (double)NAN;
}

static void make_cost(const res_speedup_row *row, res_cost *cost)
{
    const res_pool *pool = &row->pool;
    const res_figures *f = &row->figures;
    double *over_device = bn_zalloc(3 * pool->count, sizeof *over_device);
    double *dispatch = over_device + pool->count, *over_pjrt = dispatch + pool->count;
    *cost = (res_cost){.row = row,
                       .nodes = f->nodes_per_step,
                       .executions = f->executions,
                       .trace = f->trace,
                       .node = shared(f->trace, f->nodes_per_step)};
    for (size_t i = 0; i < pool->count; i++) {
        const res_measures *m = &pool->list[i].measures;
        const bool like = strcmp(m->source, f->source) == 0;
        over_device[i] = like ? m->wall_ns - m->device_ns : (double)NAN;
        dispatch[i] = dispatch_of(&pool->list[i]);
        over_pjrt[i] = m->wall_ns - step_pjrt_of(pool->list[i].record);
        if (res_pool_counts(pool, i))
            count_values(pool->list[i].record, cost);
    }
    cost->dispatch = res_pool_over(pool, dispatch, false);
    cost->execution = shared(cost->dispatch, cost->executions);
    cost->over_device = res_pool_over(pool, over_device, true);
    cost->over_pjrt = res_pool_over(pool, over_pjrt, true);
    cost->over_device_refused = res_figures_remark(f) != RES_DEVICE_PLAIN;
    if (cost->over_device_refused || !isfinite(f->device.value.estimate))
        cost->over_device.value = unknown;
    free(over_device);
}

/* ---- front ends -------------------------------------------------------------------------------
 */

static bool same_fit(const res_record *a, const res_record *b)
{
    return res_same_block(a, b) && a->experiment.trace_cost_ns == b->experiment.trace_cost_ns &&
           strcmp(a->experiment.front_end, b->experiment.front_end) == 0 &&
           strcmp(a->experiment.mode, b->experiment.mode) == 0 &&
           strcmp(a->experiment.dispatch, b->experiment.dispatch) == 0;
}

/* The rows of a line, and room for a value of each process of each. */
typedef struct bundle {
    const res_cost **list;     /* [ROWS] */
    const res_process ***each; /* [row]: the processes of it that the fit is over; owned */
    size_t rows, processes;
    double *x;      /* [row] arguments and results of an execution */
    double *y;      /* [process][row] */
    double *of_one; /* [process] */
} bundle;

static void bundle_free(bundle *b)
{
    for (size_t i = 0; i < b->rows; i++)
        free(b->each[i]);
    free(b->each);
    free(b->list);
    free(b->x);
    free(b->y);
    free(b->of_one);
}

#define ANY_RUN SIZE_MAX

/* Puts the processes of POOL that count and are of RUN into LIST; returns how many. */
static size_t list_run(const res_pool *pool, size_t run, const res_process **list)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->count; i++)
        if (res_pool_counts(pool, i) && (run == ANY_RUN || pool->list[i].run == run))
            list[count++] = &pool->list[i];
    return count;
}

/* The same of the first process of each run. */
static size_t list_first(const res_pool *pool, const res_process **list)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->count; i++) {
        bool first = res_pool_counts(pool, i);
        for (size_t k = 0; k < count && first; k++)
            first = list[k]->run != pool->list[i].run;
        if (first)
            list[count++] = &pool->list[i];
    }
    return count;
}

/* The processes of ROW that a fit is over: the ones that count. Where each run is a value,
 * processes of several are no sample: then it is of the latest run that has RES_LEAST_PROCESSES, or
 * where none has, of one process of each run. Sets *COUNT. */
static const res_process **processes_of(const res_speedup_row *row, size_t *count)
{
    const res_pool *pool = &row->pool;
    const res_process **list = bn_zalloc(pool->count, sizeof *list);
    *count = 0;
    for (size_t run = pool->run_count; pool->runs.means && run-- > 0;)
        if ((*count = list_run(pool, run, list)) >= RES_LEAST_PROCESSES)
            return list;
    *count = pool->runs.means ? list_first(pool, list) : list_run(pool, ANY_RUN, list);
    return list;
}

/* The rows that are like EXAMPLE. */
static void bundle_make(const res_costs *costs, const res_record *example, bundle *b)
{
    *b = (bundle){.list = bn_zalloc(costs->count, sizeof(const res_cost *)),
                  .each = bn_zalloc(costs->count, sizeof(const res_process **)),
                  .processes = SIZE_MAX};
    for (size_t i = 0; i < costs->count; i++) {
        size_t processes;
        if (!same_fit(costs->list[i].row->record, example))
            continue;
        b->list[b->rows] = &costs->list[i];
        b->each[b->rows++] = processes_of(costs->list[i].row, &processes);
        b->processes = processes < b->processes ? processes : b->processes;
    }
    b->x = bn_zalloc(b->rows, sizeof *b->x);
    b->y = bn_zalloc(b->rows * b->processes, sizeof *b->y);
    b->of_one = bn_zalloc(b->processes, sizeof *b->of_one);
}

/* Each process says the mean over the rows that trace, of the log. */
static res_interval node_of(const bundle *b, size_t *traced)
{
    *traced = 0;
    for (size_t p = 0; p < b->processes; p++) {
        double sum = 0;
        *traced = 0;
        for (size_t i = 0; i < b->rows; i++) {
            const double nodes = b->list[i]->nodes;
            const double ns = b->each[i][p]->measures.trace_ns;
            if (nodes > 0 && ns > 0) {
                sum += log(ns / nodes);
                ++*traced;
            }
        }
        b->of_one[p] = *traced > 0 ? sum / (double)*traced : (double)NAN;
    }
    const res_estimate over = res_estimate_of(b->of_one, b->processes);
    return *traced > 0 ? res_estimate_ratio(&over) : unknown;
}

/* Puts the rows that execute into X and Y, as a sweep; returns how many there are. */
static size_t put_points(bundle *b)
{
    size_t points = 0;
    for (size_t i = 0; i < b->rows; i++)
        if (b->list[i]->executions > 0)
            b->x[points++] = (b->list[i]->arguments + b->list[i]->results) / b->list[i]->executions;
    for (size_t p = 0; p < b->processes; p++)
        for (size_t i = 0, at = 0; i < b->rows; i++)
            if (b->list[i]->executions > 0)
                b->y[p * points + at++] = dispatch_of(b->each[i][p]) / b->list[i]->executions;
    return points;
}

/* Fits a line to the rows of FIT; its verdict stays unknown where none can be drawn. */
static void draw_line(bundle *b, res_cost_fit *fit)
{
    const size_t points = put_points(b);
    const res_sweep sweep = {.x = b->x, .y = b->y, .points = points, .processes = b->processes};
    bool vary = false, known = true;
    res_line line = {0};
    for (size_t i = 1; i < points; i++)
        vary = vary || b->x[i] != b->x[0];
    for (size_t i = 0; i < points * b->processes; i++)
        known = known && isfinite(b->y[i]);
    if (vary && known && res_line_fit(&sweep, &line, NULL) == BN_OK) {
        fit->execution = res_estimate_interval(&line.base);
        fit->value = res_estimate_interval(&line.slope);
        fit->verdict = line.verdict;
        fit->off = points > 2 ? line.off : (double)NAN;
    }
    res_line_free(&line);
}

static void make_fit(const res_costs *costs, const res_record *example, res_cost_fit *fit)
{
    bundle b;
    *fit = (res_cost_fit){.example = example,
                          .node = unknown,
                          .execution = unknown,
                          .value = unknown,
                          .verdict = RES_FIT_UNKNOWN,
                          .off = (double)NAN};
    bundle_make(costs, example, &b);
    fit->rows = b.rows;
    fit->processes = b.processes;
    fit->node = node_of(&b, &fit->traced);
    draw_line(&b, fit);
    bundle_free(&b);
}

void res_costs_make(const res_speedup *speedup, res_costs *costs)
{
    *costs = (res_costs){.list = bn_zalloc(speedup->count, sizeof *costs->list),
                         .fits = bn_zalloc(speedup->count, sizeof *costs->fits)};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        if (row->record->status == BN_OK && row->pool.counted > 0 && res_has_ledger(row->record))
            make_cost(row, &costs->list[costs->count++]);
    }
    for (size_t i = 0; i < costs->count; i++) {
        const res_record *record = costs->list[i].row->record;
        size_t before = 0;
        while (before < i && !same_fit(costs->list[before].row->record, record))
            before++;
        if (before == i)
            make_fit(costs, record, &costs->fits[costs->fit_count++]);
    }
}

void res_costs_free(res_costs *costs)
{
    free(costs->list);
    free(costs->fits);
    *costs = (res_costs){NULL, 0, NULL, 0};
}
