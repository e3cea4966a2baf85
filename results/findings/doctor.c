/*
 * doctor.c - what keeps a step from being as fast as its device: rules, each with a threshold and
 * with what it costs a step.
 *
 * A rule complains where its cost is told to be above a part of the step: where there is an
 * interval, by its lower bound. The costs of two rules may overlap: steps in flight hide what a
 * capture would save.
 */
#include "results/findings/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *res_rule_name(res_rule rule)
{
    static const char *const names[] = {
        [RES_RULE_COMPILES] = "compiles", [RES_RULE_READS] = "reads",
        [RES_RULE_TRACING] = "tracing",   [RES_RULE_EXECUTIONS] = "executions",
        [RES_RULE_OVERHEAD] = "overhead", [RES_RULE_INPUT] = "input",
        [RES_RULE_RELEASE] = "release",   [RES_RULE_START] = "start"};
    return rule < RES_RULE_COUNT ? names[rule] : "";
}

/* ---- costs, of one process ------------------------------------------------------------------ */

/* Mean over all steps of PARTS together: what happens in few of them has no median. */
static double mean_of(const res_process *p, const bn_part *parts, size_t count)
{
    const res_record *r = p->record;
    double sum = 0;
    if (!r || r->step_count == 0 || !res_has_ledger(r))
        return NAN;
    for (size_t step = 0; step < r->step_count; step++)
        for (size_t i = 0; i < count; i++)
            sum += (double)r->part_ns[step * BN_PART_COUNT + (size_t)parts[i]];
    return sum / (double)r->step_count;
}

static double cost_of_compiles(const res_process *p, const void *context)
{
    static const bn_part parts[] = {BN_PART_LOWER, BN_PART_COMPILE};
    (void)context;
    return mean_of(p, parts, sizeof parts / sizeof *parts);
}

static double cost_of_release(const res_process *p, const void *context)
{
    static const bn_part part = BN_PART_RELEASE;
    (void)context;
    return mean_of(p, &part, 1);
}

static double median_of(const res_process *p, bn_part part)
{
    return p->record && res_has_ledger(p->record) ? res_part_median(p->record, &part, 1)
                                                  : (double)NAN;
}

static double cost_of_reads(const res_process *p, const void *context)
{
    (void)context;
    return median_of(p, BN_PART_READ);
}

static double cost_of_input(const res_process *p, const void *context)
{
    (void)context;
    return median_of(p, BN_PART_INPUT);
}

static double cost_of_tracing(const res_process *p, const void *context)
{
    (void)context;
    return p->measures.trace_ns;
}

/* What of a step's executions is no device time: the rest of their overheads passes while the
 * device works on another one. */
static double exposed(const res_process *p)
{
    static const bn_part parts[] = {BN_PART_BIND, BN_PART_DISPATCH, BN_PART_WAIT};
    return p->record && res_has_ledger(p->record)
               ? res_part_median(p->record, parts, sizeof parts / sizeof *parts) -
                     p->measures.device_ns
               : (double)NAN;
}

/* NaN where either is. */
static double lesser(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : fmin(a, b);
}

/* What one execution in place of all would save: the overheads of the others, as far as the device
 * waits for them. */
static double cost_of_executions(const res_process *p, const void *context)
{
    const double overhead_ns = p->measures.overhead_ns;
    (void)context;
    return lesser((p->measures.executions - 1) * overhead_ns, exposed(p) - overhead_ns);
}

static double cost_of_overhead(const res_process *p, const void *context)
{
    (void)context;
    return lesser(p->measures.overhead_ns, exposed(p));
}

static double cost_of_start(const res_process *p, const void *context)
{
    (void)context;
    return p->measures.compile_ns;
}

/* ---- where rules apply ------------------------------------------------------------------------
 */

static double a_step(const res_record *r, bn_counter counter)
{
    return r->step_count > 0 ? (double)r->step_counters[counter] / (double)r->step_count : 0;
}

static double programs_made(const res_speedup_row *row)
{
    return a_step(row->record, BN_COUNTER_COMPILES) + a_step(row->record, BN_COUNTER_DISK_HITS);
}

static double values_read(const res_speedup_row *row)
{
    return a_step(row->record, BN_COUNTER_TRANSFERS_TO_HOST);
}

static double nodes_traced(const res_speedup_row *row)
{
    return strcmp(row->record->experiment.mode, "lazy") == 0 ? row->figures.nodes_per_step : 0;
}

/* What a table refuses to show is no reason to complain either. */
static double executions_run(const res_speedup_row *row)
{
    const bool known = isfinite(row->figures.overhead.value.estimate);
    return known && row->figures.executions > 1 ? row->figures.executions : 0;
}

/* Steps in flight hide it. */
static double is_awaited(const res_speedup_row *row)
{
    return isfinite(row->figures.overhead.value.estimate) && row->record->experiment.in_flight <= 1;
}

static double always(const res_speedup_row *row)
{
    (void)row;
    return 1;
}

static double slow_releases(const res_speedup_row *row)
{
    return a_step(row->record, BN_COUNTER_SLOW_RELEASES);
}

static double is_compiled(const res_speedup_row *row)
{
    return row->figures.compile.processes > 0;
}

/* A row of rules. */
typedef struct rule {
    res_process_value *cost;
    double (*count)(const res_speedup_row *row); /* 0: the rule does not apply */
    double least_share;                          /* of the step */
    double least_ns;
} rule;

static const rule rules[RES_RULE_COUNT] = {
    [RES_RULE_COMPILES] = {cost_of_compiles, programs_made, RES_DOCTOR_COMPILES, 0},
    [RES_RULE_READS] = {cost_of_reads, values_read, RES_DOCTOR_SHARE, 0},
    [RES_RULE_TRACING] = {cost_of_tracing, nodes_traced, RES_DOCTOR_SHARE, 0},
    [RES_RULE_EXECUTIONS] = {cost_of_executions, executions_run, RES_DOCTOR_SHARE, 0},
    [RES_RULE_OVERHEAD] = {cost_of_overhead, is_awaited, RES_DOCTOR_OVERHEAD, 0},
    [RES_RULE_INPUT] = {cost_of_input, always, RES_DOCTOR_SHARE, 0},
    [RES_RULE_RELEASE] = {cost_of_release, slow_releases, RES_DOCTOR_SHARE, 0},
    [RES_RULE_START] = {cost_of_start, is_compiled, 0, RES_DOCTOR_START_NS},
};

/* ---- complaints -------------------------------------------------------------------------------
 */

/* What steps in flight would hide of COST behind the device; NaN where that is not known. */
static double hidden(const res_speedup_row *row, double cost_ns)
{
    const double device_ns = row->figures.device.value.estimate;
    const bool waits = row->record->experiment.in_flight <= 1;
    return waits && isfinite(device_ns) ? fmin(cost_ns, device_ns) : (double)NAN;
}

/* Whether RULE complains of row INDEX; then *OUT says how. */
static bool complains(const res_speedup *speedup, size_t index, res_rule number, res_complaint *out)
{
    const res_speedup_row *row = &speedup->rows[index];
    const rule *r = &rules[number];
    const double wall_ns = row->figures.wall.value.estimate, count = r->count(row);
    if (!(count > 0) || !(wall_ns > 0))
        return false;
    const res_estimate cost = res_pool_estimate(&row->pool, r->cost, NULL);
    const res_interval ns = res_estimate_interval(&cost);
    const double surely = isfinite(ns.low) ? ns.low : ns.estimate;
    /* The median step compiles nothing. */
    const double whole_ns = number == RES_RULE_COMPILES ? wall_ns + ns.estimate : wall_ns;
    if (!(surely > 0) || surely < r->least_share * whole_ns || surely < r->least_ns)
        return false;
    *out = (res_complaint){.rule = number,
                           .row = index,
                           .cost_ns = ns,
                           .share = number == RES_RULE_START ? (double)NAN : ns.estimate / whole_ns,
                           .count = count,
                           .hidden_ns =
                               number == RES_RULE_TRACING ? hidden(row, ns.estimate) : (double)NAN};
    return true;
}

/* The most costly first; what a start costs, last. */
static int order(const void *a, const void *b)
{
    const res_complaint *left = a, *right = b;
    const bool l = left->rule == RES_RULE_START, r = right->rule == RES_RULE_START;
    if (l != r)
        return l - r;
    return (left->cost_ns.estimate < right->cost_ns.estimate) -
           (left->cost_ns.estimate > right->cost_ns.estimate);
}

bool res_doctor(const res_speedup *speedup, res_complaint **list, size_t *count)
{
    res_complaint *all = calloc(speedup->count * RES_RULE_COUNT + 1, sizeof *all);
    *list = all;
    *count = 0;
    if (!all)
        return false;
    for (size_t i = 0; i < speedup->count; i++)
        for (int r = 0; r < RES_RULE_COUNT && speedup->rows[i].pool.count > 0; r++)
            *count += complains(speedup, i, (res_rule)r, &all[*count]);
    qsort(all, *count, sizeof *all, order);
    return true;
}
