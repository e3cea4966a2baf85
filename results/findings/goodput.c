/*
 * goodput.c - where the wall time of processes went.
 *
 * A moment is productive while the device works on a measured step. What the host does meanwhile is
 * no loss: so in a step only as much of input, tracing, compiling and the rest is lost as there is
 * time without device work.
 */
#include "results/findings/goodput.h"
#include "results/findings/findings_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *res_goodput_name(res_goodput_class class)
{
    static const char *const names[] = {
#define X(upper, lower, badput) #lower,
        RES_GOODPUT_CLASSES(X)
#undef X
    };
    return names[class];
}

const char *res_goodput_badput(res_goodput_class class)
{
    static const char *const names[] = {
#define X(upper, lower, badput) #badput,
        RES_GOODPUT_CLASSES(X)
#undef X
    };
    return names[class];
}

/* ---- steps --------------------------------------------------------------------------------- */

/* The parts of the ledger and the class of each. Of those around executions, which are OVERHEAD,
 * the device time is taken off. */
static const struct {
    bn_part part;
    res_goodput_class class;
} parts[] = {
    {BN_PART_INPUT, RES_GOODPUT_INPUT},      {BN_PART_TRACE, RES_GOODPUT_TRACING},
    {BN_PART_HASH, RES_GOODPUT_TRACING},     {BN_PART_LOOKUP, RES_GOODPUT_TRACING},
    {BN_PART_LOWER, RES_GOODPUT_COMPILE},    {BN_PART_COMPILE, RES_GOODPUT_COMPILE},
    {BN_PART_BIND, RES_GOODPUT_OVERHEAD},    {BN_PART_DISPATCH, RES_GOODPUT_OVERHEAD},
    {BN_PART_RELEASE, RES_GOODPUT_OVERHEAD}, {BN_PART_WAIT, RES_GOODPUT_OVERHEAD},
    {BN_PART_READ, RES_GOODPUT_OVERHEAD},    {BN_PART_OTHER, RES_GOODPUT_IDLE},
};
#define PARTS (sizeof parts / sizeof *parts)

static double part_ns(const res_record *record, bn_part part)
{
    double sum = 0;
    for (size_t i = 0; i < record->step_count; i++)
        sum += (double)record->part_ns[i * BN_PART_COUNT + (size_t)part];
    return sum * res_steps_a_sample(record);
}

/* Puts the time of the ledger's parts of all steps into NS. */
static void add_ledger(const res_record *record, double ns[RES_GOODPUT_CLASS_COUNT])
{
    for (size_t i = 0; i < PARTS; i++)
        ns[parts[i].class] += part_ns(record, parts[i].part);
}

/* Makes DEVICE of the WALL time of steps productive. It is taken off what is around executions;
 * where it is more than that, the device worked while the host did the rest, and of all the rest
 * the same share is lost. */
static void take_off(double wall, double device, double ns[RES_GOODPUT_CLASS_COUNT])
{
    const double around = ns[RES_GOODPUT_OVERHEAD], host = wall - around;
    const double hidden = device > around ? device - around : 0;
    const double lost = host > 0 ? 1 - hidden / host : 1;
    for (int i = 0; i < RES_GOODPUT_CLASS_COUNT; i++)
        ns[i] *= lost;
    ns[RES_GOODPUT_OVERHEAD] = device > around ? 0 : around - device;
    ns[RES_GOODPUT_PRODUCTIVE] = device;
}

/* Of RECORD's measured steps, whose wall time is P's. A record without a ledger has all of it in
 * one part, of which it is unknown what it was. */
static void of_ledger(const res_record *record, const res_phases *p, double device_ns,
                      double ns[RES_GOODPUT_CLASS_COUNT])
{
    const double wall = p->steps.wall_ns, steps = res_steps_a_sample(record);
    const double device = device_ns * (double)record->step_count * steps;
    if (!res_has_ledger(record)) {
        ns[RES_GOODPUT_UNATTRIBUTED] = wall;
        return;
    }
    add_ledger(record, ns);
    if (isfinite(device)) {
        take_off(wall, fmin(device, wall), ns);
    } else {
        ns[RES_GOODPUT_UNATTRIBUTED] = ns[RES_GOODPUT_OVERHEAD];
        ns[RES_GOODPUT_OVERHEAD] = 0;
    }
}

/* Of the steps of a recording. */
static void of_recording(const res_phases *p, double ns[RES_GOODPUT_CLASS_COUNT])
{
    if (!isfinite(p->steps.device_ns)) {
        ns[RES_GOODPUT_UNATTRIBUTED] = p->steps.wall_ns;
        return;
    }
    ns[RES_GOODPUT_PRODUCTIVE] = p->steps.device_ns;
    ns[RES_GOODPUT_INPUT] = p->steps.input_ns;
    ns[RES_GOODPUT_TRACING] = p->steps.tracing_ns;
    ns[RES_GOODPUT_COMPILE] = p->steps.compile_ns;
    ns[RES_GOODPUT_OVERHEAD] = p->steps.overhead_ns;
    ns[RES_GOODPUT_IDLE] = p->steps.idle_ns;
}

/* ---- a process ----------------------------------------------------------------------------- */

bool res_goodput_of_record(const res_record *record, double device_ns, res_goodput_process *out)
{
    res_phases p;
    *out = (res_goodput_process){.wall_ns = 0};
    if (!res_record_phases(record, &p))
        return false;
    if (p.recorded)
        of_recording(&p, out->ns);
    else
        of_ledger(record, &p, device_ns, out->ns);
    out->wall_ns = p.wall_ns - p.others_ns;
    out->steps_ns = p.steps.wall_ns;
    out->ns[RES_GOODPUT_INITIALIZATION] += p.initialization_ns;
    out->ns[RES_GOODPUT_PREPARATION] += p.preparation_ns;
    out->ns[RES_GOODPUT_COMPILE] += p.compile_ns;
    out->ns[RES_GOODPUT_WARMUP] += p.warmup_ns;
    out->ns[RES_GOODPUT_MEASURING] += fmax(0, p.measuring_ns - p.steps.wall_ns);
    double rest = out->wall_ns;
    for (int i = 0; i < RES_GOODPUT_CLASS_COUNT; i++)
        rest -= out->ns[i];
    out->ns[RES_GOODPUT_REST] += fmax(0, rest);
    return out->wall_ns > 0;
}

/* ---- a row --------------------------------------------------------------------------------- */

/* Device time of a step of PROCESS; *BORROWED: the row's stands for it. */
static double device_of(const res_speedup_row *row, const res_process *process, bool *borrowed)
{
    const res_experiment *e = &row->record->experiment;
    const double of_row = res_device_of_steps(e, row->figures.device.value.estimate);
    const double own = process->measures.device_ns;
    *borrowed = false;
    if (!isfinite(of_row))
        return (double)NAN;
    *borrowed = !isfinite(own) || strcmp(process->measures.source, row->figures.source) != 0;
    return *borrowed ? of_row : own;
}

/* The interval of SHARE, which is the sum of PRODUCTIVE over that of WALL: by what each process has
 * more or less than its share (W. G. Cochran, "Sampling Techniques", 3rd edition, 1977, section
 * 6.4). PRODUCTIVE is NaN of processes that do not count, and changes. */
static res_interval interval_of(const res_pool *pool, double share, double mean_wall,
                                double *productive, const double *wall)
{
    for (size_t i = 0; i < pool->count; i++)
        productive[i] = (productive[i] - share * wall[i]) / mean_wall;
    const res_interval off = res_pool_over(pool, productive, true).value;
    res_interval out = {share, share + off.low - off.estimate, share + off.high - off.estimate};
    /* A bound that is unknown stays so. */
    out.low = out.low < 0 ? 0 : out.low;
    out.high = out.high > 1 ? 1 : out.high;
    return out;
}

/* Adds process INDEX of ROW to OUT; returns its productive time, NaN: its phases are unknown. */
static double add_process(const res_speedup_row *row, size_t index, double *wall, res_goodput *out)
{
    const res_process *process = &row->pool.list[index];
    res_goodput_process one;
    res_phases phases;
    bool borrowed;
    const double device_ns = device_of(row, process, &borrowed);
    if (!res_goodput_of_record(process->record, device_ns, &one) ||
        !res_record_phases(process->record, &phases)) {
        out->silent++;
        return (double)NAN;
    }
    out->borrowed += borrowed;
    out->sum.wall_ns += one.wall_ns;
    out->sum.steps_ns += one.steps_ns;
    out->others_ns += phases.others_ns;
    for (int i = 0; i < RES_GOODPUT_CLASS_COUNT; i++)
        out->sum.ns[i] += one.ns[i];
    out->processes++;
    *wall = one.wall_ns;
    return one.ns[RES_GOODPUT_PRODUCTIVE];
}

void res_goodput_make(const res_speedup_row *row, res_goodput *out)
{
    const res_pool *pool = &row->pool;
    const size_t count = pool->count;
    double *productive = bn_zalloc(2 * count, sizeof *productive), *wall = productive + count;
    *out = (res_goodput){.productive = {(double)NAN, (double)NAN, (double)NAN}};
    for (size_t i = 0; i < count; i++)
        productive[i] = res_pool_counts(pool, i) ? add_process(row, i, &wall[i], out) : (double)NAN;
    /* Where the device time of some is unknown, that of the row is not. */
    double *ns = out->sum.ns;
    if (ns[RES_GOODPUT_UNATTRIBUTED] > 0) {
        ns[RES_GOODPUT_UNATTRIBUTED] += ns[RES_GOODPUT_PRODUCTIVE] + ns[RES_GOODPUT_OVERHEAD];
        ns[RES_GOODPUT_PRODUCTIVE] = ns[RES_GOODPUT_OVERHEAD] = 0;
    }
    if (out->processes > 0 && out->sum.ns[RES_GOODPUT_UNATTRIBUTED] <= 0)
        out->productive = interval_of(pool, out->sum.ns[RES_GOODPUT_PRODUCTIVE] / out->sum.wall_ns,
                                      out->sum.wall_ns / (double)out->processes, productive, wall);
    free(productive);
}
