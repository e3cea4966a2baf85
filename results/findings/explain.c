/*
 * explain.c - what a speedup table found: which ways of running a step differ from lazy, what the
 * differences come from, and which comparisons are inconclusive.
 *
 * A cause is named where it is significantly different from zero over all causes that were looked
 * at, and holds a part of the difference that is worth a word. Device time and overhead see what
 * the host only waits for. So where the device time is known, or the overhead differs
 * significantly, the ledger's waiting and dispatching are no causes of their own.
 */
#include "results/findings/findings_priv.h"

#include <math.h>
#include <string.h>

#define LEVEL       0.05
/* Of the step's difference: smaller causes are not worth a word. */
#define LEAST_SHARE 0.1

const char *res_finding_name(res_finding_kind kind)
{
    static const char *const names[] = {"faster",           "slower",  "no difference",
                                        "too few",          "apart",   "other build",
                                        "other conditions", "no base", "failed"};
    return names[kind];
}

/* ---- causes ----------------------------------------------------------------------------- */

static double trace_of(const res_process *p, const void *context)
{
    (void)context;
    return p->measures.trace_ns;
}

static double device_of(const res_process *p, const void *context)
{
    (void)context;
    return p->measures.device_ns;
}

static double overhead_of(const res_process *p, const void *context)
{
    (void)context;
    return p->measures.executions * p->measures.overhead_ns;
}

static double part_of(const res_process *p, const void *context)
{
    return res_has_ledger(p->record) ? res_part_median(p->record, context, 1) : (double)NAN;
}

/* Whether PART is looked at; BELOW: what the plugin and the device do is a cause already, or known
 * not to be one. */
static bool is_own_cause(bn_part part, bool below)
{
    const bool traced = part == BN_PART_TRACE || part == BN_PART_HASH || part == BN_PART_LOOKUP;
    const bool waiting = part == BN_PART_WAIT || part == BN_PART_DISPATCH;
    return !traced && !(waiting && below);
}

/* Whether SAVED is significantly different from zero over all causes that are looked at. */
static bool is_significant(const res_estimate *saved)
{
    return res_estimate_p(saved) <= LEVEL / BN_PART_COUNT;
}

/* Adds a significant and large cause; the largest stay, in order. */
static void consider(res_finding *finding, res_cause_kind kind, bn_part part,
                     const res_estimate *saved)
{
    const double least = LEAST_SHARE * fabs(finding->saved_ns);
    if (!(fabs(saved->mean) >= least) || !is_significant(saved))
        return;
    res_cause cause = {kind, part, res_estimate_interval(saved)};
    for (size_t i = 0; i < finding->cause_count; i++) {
        res_cause *held = &finding->causes[i];
        if (fabs(cause.saved_ns.estimate) > fabs(held->saved_ns.estimate)) {
            const res_cause smaller = *held;
            *held = cause;
            cause = smaller;
        }
    }
    if (finding->cause_count < RES_MOST_CAUSES)
        finding->causes[finding->cause_count++] = cause;
}

/* A figure that the table refuses to show is no cause either, nor one that it cut. */
static void find_causes(const res_speedup_row *base_row, const res_speedup_row *row,
                        res_finding *finding)
{
    const res_pool *base = &base_row->pool, *other = &row->pool;
    const res_figures *a = &base_row->figures, *b = &row->figures;
    const bool device_known = isfinite(a->device.value.estimate) && a->device_scale == 1 &&
                              isfinite(b->device.value.estimate) && b->device_scale == 1 &&
                              res_figures_alike(a, b);
    const bool overhead_known =
        isfinite(a->overhead.value.estimate) && isfinite(b->overhead.value.estimate);
    const res_estimate trace = res_pool_difference(base, other, trace_of, NULL);
    const res_estimate overhead = res_pool_difference(base, other, overhead_of, NULL);
    const res_estimate device = res_pool_difference(base, other, device_of, NULL);
    consider(finding, RES_CAUSE_TRACING, BN_PART_TRACE, &trace);
    if (overhead_known)
        consider(finding, RES_CAUSE_OVERHEAD, BN_PART_DISPATCH, &overhead);
    if (device_known)
        consider(finding, RES_CAUSE_DEVICE, BN_PART_WAIT, &device);
    const bool below = device_known || (overhead_known && is_significant(&overhead));
    for (int p = 0; p < BN_PART_COUNT; p++) {
        const bn_part part = (bn_part)p;
        if (!is_own_cause(part, below))
            continue;
        const res_estimate saved = res_pool_difference(base, other, part_of, &part);
        consider(finding, RES_CAUSE_PART, part, &saved);
    }
}

/* ---- findings ------------------------------------------------------------------------------ */

/* Whether both ROW and its baseline are measured. */
static bool has_base(const res_speedup *speedup, const res_speedup_row *row)
{
    return row->pool.count > 0 && row->base_row < speedup->count &&
           speedup->rows[row->base_row].pool.count > 0;
}

/* A program that others wrote, or ran, is not to be compared with lazy. */
static bool wants_base(const res_experiment *e)
{
    return strcmp(e->phase, "program") != 0 && strcmp(e->mode, "recorded") != 0;
}

/* Whether a base is missed: rows of other cells have one. */
static bool misses_base(const res_speedup *speedup, const res_speedup_row *row)
{
    if (row->pool.count == 0 || has_base(speedup, row) || !wants_base(&row->record->experiment))
        return false;
    for (size_t i = 0; i < speedup->count; i++)
        if (!speedup->rows[i].base && has_base(speedup, &speedup->rows[i]))
            return true;
    return false;
}

bool res_device_refused(const res_speedup_row *row)
{
    const res_figures *f = &row->figures;
    bool probed = false;
    if (row->pool.count == 0 || isfinite(f->device.value.estimate))
        return false;
    for (size_t i = 0; i < row->record->execution_count; i++) {
        const res_execution *x = &row->record->executions[i];
        probed = probed || x->probe_count > 0 || strstr(x->device_note, RES_ASK_FOR_SLOPE);
    }
    return probed || f->device.processes > 0;
}

static res_finding_kind kind_of(const res_speedup *speedup, const res_speedup_row *row)
{
    if (row->pool.count == 0)
        return RES_FINDING_FAILED;
    if (!has_base(speedup, row))
        return RES_FINDING_NO_BASE;
    if (row->other_build)
        return RES_FINDING_OTHER_BUILD;
    if (!row->compared)
        return RES_FINDING_CONDITIONS;
    if (row->ratio.apart)
        return RES_FINDING_APART;
    if (!(row->ratio.log.freedom > 0))
        return RES_FINDING_TOO_FEW;
    if (!row->significant)
        return RES_FINDING_NO_DIFFERENCE;
    return row->ratio.log.mean > 0 ? RES_FINDING_FASTER : RES_FINDING_SLOWER;
}

static res_finding explain(const res_speedup *speedup, size_t index)
{
    const res_speedup_row *row = &speedup->rows[index], *base = &speedup->rows[row->base_row];
    res_finding finding = {.kind = kind_of(speedup, row), .row = index};
    if (finding.kind == RES_FINDING_FAILED || finding.kind == RES_FINDING_NO_BASE)
        return finding;
    /* By the ratio, so that the two never differ in their direction. */
    finding.saved_ns = -expm1(-row->ratio.log.mean) * base->figures.wall.value.estimate;
    finding.executions_added = row->figures.executions - base->figures.executions;
    if (row->significant)
        find_causes(base, row, &finding);
    if (finding.kind == RES_FINDING_NO_DIFFERENCE) {
        finding.mde = res_speedup_mde(speedup, row, 1);
        finding.mde_twice = res_speedup_mde(speedup, row, 2);
    }
    return finding;
}

size_t res_speedup_explain(const res_speedup *speedup, res_finding *list)
{
    size_t count = 0;
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        if (row->pool.count == 0 || misses_base(speedup, row) ||
            (!row->base && (row->compared || row->other_build || row->other_conditions[0])))
            list[count++] = explain(speedup, i);
    }
    return count;
}
