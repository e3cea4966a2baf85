/*
 * bound.c - the bound of a step: the device, or the wait of the device that takes longest.
 *
 * Shares are formed within a process and then pooled, so that the device time of some processes
 * never stands over the wall time of others. A bound needs an interval that allows it. A recording
 * describes its own steps, each of them: it needs none.
 */
#include "results/doctor/doctor_priv.h"

#include <math.h>
#include <string.h>

const char *res_bound_name(res_bound bound)
{
    static const char *const names[RES_BOUND_COUNT] = {
        [RES_BOUND_UNKNOWN] = "unknown",         [RES_BOUND_DEVICE] = "device-bound",
        [RES_BOUND_COMPILE] = "compile-bound",   [RES_BOUND_TRACING] = "tracing-bound",
        [RES_BOUND_DISPATCH] = "dispatch-bound", [RES_BOUND_INPUT] = "input-bound",
        [RES_BOUND_READ] = "read-bound"};
    return names[bound];
}

const char *res_bound_reason_name(res_bound_reason reason)
{
    static const char *const names[] = {[RES_BOUND_KNOWN] = "",
                                        [RES_BOUND_NO_DEVICE] = "no device time",
                                        [RES_BOUND_TOO_FEW] = "too few processes",
                                        [RES_BOUND_WIDE] = "wide interval",
                                        [RES_BOUND_CLOSE] = "close causes",
                                        [RES_BOUND_VALUES] = "values computed",
                                        [RES_BOUND_NO_CAUSE] = "no cause"};
    return names[reason];
}

/* A wait of the device. */
typedef struct wait {
    res_bound bound;
    double (*cost)(const res_process *process);
} wait;

/* Calls of the plugin, handles that go back to it, and what it takes beyond the device's work. */
static double cost_of_dispatch(const res_process *p)
{
    return res_cost_exposed(p, BN_PART_RELEASE);
}

/* Values read, or computed by the host. */
static double cost_of_values(const res_process *p)
{
    return res_rule_reads.cost(p) + res_rule_fallbacks.cost(p);
}

/* Programs written, looked for and made, in the mean step. */
static double cost_of_programs(const res_process *p)
{
    static const bn_part parts[] = {BN_PART_LOOKUP, BN_PART_LOWER, BN_PART_COMPILE};
    return res_cost_mean(p, parts, sizeof parts / sizeof *parts);
}

/* ---- shares, each of one process --------------------------------------------------------------
 */

/* Of the device; CONTEXT: the row's figures, whose device time may have been cut at the step. */
static double device_share(const res_process *p, const void *context)
{
    const res_figures *f = context;
    const bool like = strcmp(p->measures.source, f->source) == 0;
    return like ? fmin(1, f->device_scale * res_cost_device(p) / p->measures.wall_ns)
                : (double)NAN;
}

/* Of the wait CONTEXT. */
static double wait_share(const res_process *p, const void *context)
{
    const wait *w = context;
    return w->cost(p) / p->measures.wall_ns;
}

/* Of the wait CONTEXT[0], less that of CONTEXT[1]. */
static double lead_share(const res_process *p, const void *context)
{
    const wait *w = context;
    return wait_share(p, &w[0]) - wait_share(p, &w[1]);
}

/* Of what a mean step takes to make programs, less that of the device, or where that is unknown,
 * less half of the step. */
static double programs_lead(const res_process *p, const void *context)
{
    const double device_ns = res_cost_device(p), mean_ns = res_cost_mean_wall(p);
    (void)context;
    return (cost_of_programs(p) - (isfinite(device_ns) ? device_ns : mean_ns / 2)) / mean_ns;
}

/* ---- bounds -----------------------------------------------------------------------------------
 */

/* The interval of SHARE over ROW's processes. */
static res_interval interval_of(const res_speedup_row *row, res_process_value *share,
                                const void *context)
{
    const res_estimate over = res_pool_estimate(&row->pool, share, context);
    if (strcmp(row->record->experiment.mode, "recorded") == 0 && row->pool.counted == 1)
        return (res_interval){over.mean, over.mean, over.mean};
    return res_estimate_interval(&over);
}

static res_bound unknown(res_bound_found *found, res_bound_reason reason)
{
    found->reason = reason;
    return RES_BOUND_UNKNOWN;
}

/* The reason against a bound whose interval does not allow it: SHARE has none, or it is too wide.
 */
static res_bound_reason doubt(res_interval share)
{
    return isfinite(share.low) ? RES_BOUND_WIDE : RES_BOUND_TOO_FEW;
}

/* The longest wait of the device, by the costs of the rules. Without a device time it is unknown
 * for how long a read only waits for the device, and the longest must be half of the step. */
static res_bound longest(const res_speedup_row *row, res_bound_found *found)
{
    const bool known = isfinite(found->busy.estimate);
    const double least = known ? RES_DOCTOR_SHARE : 0.5;
    const struct {
        wait wait;
        bool applies;
    } waits[] = {
        {{RES_BOUND_TRACING, res_rule_tracing.cost}, true},
        {{RES_BOUND_DISPATCH, cost_of_dispatch}, true},
        {{RES_BOUND_INPUT, res_rule_input.cost}, res_rule_input.count(row) > 0},
        {{RES_BOUND_READ, cost_of_values}, known},
    };
    wait top[2] = {{RES_BOUND_UNKNOWN, NULL}, {RES_BOUND_UNKNOWN, NULL}};
    double share[2] = {0, 0};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        const wait w = waits[i].wait;
        const double own = waits[i].applies ? res_pool_estimate(&row->pool, wait_share, &w).mean : 0;
        const size_t at = own > share[0] ? 0 : 1;
        if (!(own > share[at])) /* or unknown */
            continue;
        if (at == 0) {
            top[1] = top[0];
            share[1] = share[0];
        }
        top[at] = w;
        share[at] = own;
    }
    if (!(share[0] >= least))
        return unknown(found, known ? RES_BOUND_NO_CAUSE : RES_BOUND_NO_DEVICE);
    const res_interval own = interval_of(row, wait_share, &top[0]);
    if (!(own.low >= least))
        return unknown(found, doubt(own));
    if (top[1].cost) {
        const res_interval lead = interval_of(row, lead_share, top);
        if (!(lead.low > 0))
            return unknown(found, isfinite(lead.low) ? RES_BOUND_CLOSE : RES_BOUND_TOO_FEW);
    }
    if (top[0].bound == RES_BOUND_DISPATCH && res_computes_values(row->record))
        return unknown(found, RES_BOUND_VALUES);
    return top[0].bound;
}

static res_bound bound_of(const res_speedup_row *row, res_bound_found *found)
{
    if (res_step_programs(row) > 0) {
        const res_interval lead = interval_of(row, programs_lead, NULL);
        if (lead.low > 0)
            return RES_BOUND_COMPILE;
        if (lead.estimate > 0)
            return unknown(found, doubt(lead));
    }
    if (found->busy.low >= RES_DOCTOR_BUSY)
        return RES_BOUND_DEVICE;
    if (isfinite(found->busy.estimate) && !(found->busy.high < RES_DOCTOR_BUSY))
        return unknown(found, doubt(found->busy));
    return longest(row, found);
}

res_bound_found res_doctor_bound(const res_speedup_row *row)
{
    res_bound_found found = {.busy = {(double)NAN, (double)NAN, (double)NAN},
                             .processes = row->pool.counted};
    if (row->pool.count == 0)
        return found;
    if (isfinite(res_cost_device_of_row(row))) {
        found.busy = interval_of(row, device_share, &row->figures);
        found.busy.high = fmin(found.busy.high, 1);
        found.device_processes = row->figures.device.processes;
    }
    found.bound = bound_of(row, &found);
    return found;
}
