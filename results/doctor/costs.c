/*
 * costs.c - what rules are made of: costs of one process, and what the steps of a row do.
 */
#include "results/doctor/doctor_priv.h"

#include <math.h>
#include <string.h>

/* ---- costs of one process ---------------------------------------------------------------------
 */

double res_cost_mean(const res_process *p, const bn_part *parts, size_t count)
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

double res_cost_mean_wall(const res_process *p)
{
    const res_record *r = p->record;
    double sum = 0;
    if (!r || r->step_count == 0)
        return (double)NAN;
    for (size_t step = 0; step < r->step_count; step++)
        sum += (double)r->wall_ns[step];
    return sum / (double)r->step_count;
}

double res_cost_median(const res_process *p, const bn_part *parts, size_t count)
{
    return p->record && res_has_ledger(p->record) ? res_part_median(p->record, parts, count)
                                                  : (double)NAN;
}

double res_cost_device(const res_process *p)
{
    return p->record ? res_device_of_steps(&p->record->experiment, p->measures.device_ns)
                     : (double)NAN;
}

double res_cost_device_of_row(const res_speedup_row *row)
{
    return res_device_of_steps(&row->record->experiment, row->figures.device.value.estimate);
}

bool res_cost_in_flight(const res_process *p)
{
    return p->record && p->record->experiment.in_flight > 1;
}

bool res_cost_hides(const res_process *p)
{
    return p->record && res_hides_tracing(&p->record->experiment);
}

double res_cost_exposed(const res_process *p, bn_part other)
{
    const bn_part parts[] = {BN_PART_BIND, BN_PART_DISPATCH, BN_PART_WAIT, other};
    const size_t count = sizeof parts / sizeof *parts - (other == BN_PART_WAIT);
    return res_cost_median(p, parts, count) - res_cost_device(p);
}

double res_cost_lesser(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : fmin(a, b);
}

double res_cost_behind_executions(const res_process *p, bn_part part, double own_ns)
{
    const res_measures *m = &p->measures;
    if (res_cost_hides(p) || isnan(m->overhead_ns) || isnan(res_cost_device(p)))
        return res_not_hidden(p, own_ns);
    return res_cost_lesser(own_ns, res_cost_exposed(p, part) - m->executions * m->overhead_ns);
}

double res_cost_breaks(const res_process *p)
{
    static const bn_part read = BN_PART_READ;
    const res_measures *m = &p->measures;
    const double own_ns = res_cost_median(p, &read, 1);
    if (!p->record || res_cost_hides(p) || isnan(m->overhead_ns) || isnan(res_cost_device(p)))
        return res_not_hidden(p, own_ns);
    const double more = fmin(res_counter_a_step(p->record, BN_COUNTER_GRAPH_BREAKS),
                             res_executions_added(p->record));
    return res_cost_lesser(own_ns + more * m->overhead_ns,
                           res_cost_exposed(p, read) - (m->executions - more) * m->overhead_ns);
}

double res_cost_share_of_ops(const res_process *p, bn_counter transfers)
{
    double ops = p->record ? res_counter_a_step(p->record, BN_COUNTER_HOST_FALLBACKS) : 0;
    double others = p->record ? fmax(0, res_counter_a_step(p->record, transfers) - ops) : 0;
    /* The median step lacks what few steps do. */
    if (round(ops) + round(others) > 0) {
        ops = round(ops);
        others = round(others);
    }
    return ops > 0 ? ops / (ops + others) : 0;
}

/* ---- what the steps of a row do -----------------------------------------------------------------
 */

double res_step_programs(const res_speedup_row *row)
{
    return res_counter_a_step(row->record, BN_COUNTER_COMPILES) +
           res_counter_a_step(row->record, BN_COUNTER_DISK_HITS);
}

double res_step_host_ops(const res_speedup_row *row)
{
    return res_counter_a_step(row->record, BN_COUNTER_HOST_FALLBACKS);
}

double res_step_reads(const res_speedup_row *row)
{
    return res_counter_a_step(row->record, BN_COUNTER_TRANSFERS_TO_HOST) -
           res_counter_a_step(row->record, BN_COUNTER_HOST_FALLBACKS);
}

bool res_step_alone(const res_speedup_row *row)
{
    return res_step_reads(row) + res_step_host_ops(row) > 0.5;
}

bool res_step_sends_ahead(const res_record *r)
{
    return strcmp(r->experiment.input, "prefetch") == 0;
}

bool res_always_hides(const res_speedup_row *row)
{
    (void)row;
    return true;
}
