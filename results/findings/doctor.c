/*
 * doctor.c - what keeps a step from being as fast as its device: rules, each with a threshold and
 * its cost of a step.
 *
 * A rule is violated where its cost is significantly above a share of the step: where there is an
 * interval, by its lower bound. The costs of two rules may overlap: steps in flight hide what a
 * capture would save.
 */
#include "results/findings/doctor.h"
#include "results/findings/findings_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *res_rule_name(res_rule rule)
{
    static const char *const names[] = {[RES_RULE_COMPILES] = "compiles",
                                        [RES_RULE_READS] = "reads",
                                        [RES_RULE_FALLBACKS] = "fallbacks",
                                        [RES_RULE_TRACING] = "tracing",
                                        [RES_RULE_EXECUTIONS] = "executions",
                                        [RES_RULE_OVERHEAD] = "overhead",
                                        [RES_RULE_INPUT] = "input",
                                        [RES_RULE_PADDING] = "padding",
                                        [RES_RULE_RELEASE] = "release",
                                        [RES_RULE_TURNS] = "turns",
                                        [RES_RULE_START] = "start"};
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

/* The first process of a run compiles for the others, which load its programs: they know less of
 * the cost than it does. */
static bool compiled_nothing(const res_process *p)
{
    return p->record && p->record->step_counters[BN_COUNTER_COMPILES] == 0;
}

/* The mean step. CONTEXT, here and below: of processes that compiled, only. */
static double mean_wall(const res_process *p, const void *context)
{
    const res_record *r = p->record;
    double sum = 0;
    if (!r || r->step_count == 0 || (context && compiled_nothing(p)))
        return (double)NAN;
    for (size_t step = 0; step < r->step_count; step++)
        sum += (double)r->wall_ns[step];
    return sum / (double)r->step_count;
}

static double cost_of_compiles(const res_process *p, const void *context)
{
    static const bn_part parts[] = {BN_PART_LOWER, BN_PART_COMPILE};
    if (context && compiled_nothing(p))
        return (double)NAN;
    return mean_of(p, parts, sizeof parts / sizeof *parts);
}

/* Median over the steps of PARTS together. */
static double median_of(const res_process *p, const bn_part *parts, size_t count)
{
    return p->record && res_has_ledger(p->record) ? res_part_median(p->record, parts, count)
                                                  : (double)NAN;
}

/* Device time of a step of P; NaN where that is unknown of all steps. */
static double device_of(const res_process *p)
{
    return p->record ? res_device_of_steps(&p->record->experiment, p->measures.device_ns)
                     : (double)NAN;
}

static double device_of_row(const res_speedup_row *row)
{
    return res_device_of_steps(&row->record->experiment, row->figures.device.value.estimate);
}

static bool is_in_flight(const res_process *p)
{
    return p->record && p->record->experiment.in_flight > 1;
}

/* The time beyond the device's work of the parts in which a step calls the plugin and waits for it,
 * and of OTHER where it is one more. Where nothing is hidden these are the overheads of all
 * executions, and OTHER. */
static double exposed(const res_process *p, bn_part other)
{
    const bn_part parts[] = {BN_PART_BIND, BN_PART_DISPATCH, BN_PART_WAIT, other};
    const size_t count = sizeof parts / sizeof *parts - (other == BN_PART_WAIT);
    return median_of(p, parts, count) - device_of(p);
}

/* NaN where either is. */
static double lesser(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : fmin(a, b);
}

/* The saving of a step with others in flight without OWN_NS of the host: as far as the
 * device does not work meanwhile. */
static double not_hidden(const res_process *p, double own_ns)
{
    static const bn_part wait = BN_PART_WAIT;
    const double wall_ns = p->measures.wall_ns, device_ns = device_of(p);
    if (isnan(device_ns))
        return own_ns;
    return lesser(own_ns, wall_ns - fmax(device_ns, wall_ns - own_ns - median_of(p, &wait, 1)));
}

/* The same of OWN_NS in PART, which a step spends once its executions are submitted. */
static double behind_executions(const res_process *p, bn_part part, double own_ns)
{
    const res_measures *m = &p->measures;
    if (is_in_flight(p) || isnan(m->overhead_ns) || isnan(device_of(p)))
        return not_hidden(p, own_ns);
    return lesser(own_ns, exposed(p, part) - m->executions * m->overhead_ns);
}

static double cost_of_release(const res_process *p, const void *context)
{
    static const bn_part part = BN_PART_RELEASE;
    (void)context;
    return behind_executions(p, part, mean_of(p, &part, 1));
}

/* The cost of breaks of a step: the host takes values in READ, in which it waits for the device,
 * too, and there may be executions more. Where no device time is known, all of READ. */
static double cost_of_breaks(const res_process *p)
{
    static const bn_part read = BN_PART_READ;
    const res_measures *m = &p->measures;
    const double own_ns = median_of(p, &read, 1);
    if (!p->record || is_in_flight(p) || isnan(m->overhead_ns) || isnan(device_of(p)))
        return not_hidden(p, own_ns);
    const double more = fmin(res_counter_a_step(p->record, BN_COUNTER_GRAPH_BREAKS),
                             res_executions_added(p->record));
    return lesser(own_ns + more * m->overhead_ns,
                  exposed(p, read) - (m->executions - more) * m->overhead_ns);
}

/* The part of P's TRANSFERS that is of ops of the host, each of which reads once and sends once. It
 * is taken for their part of the time, which the ledger does not have. */
static double share_of_ops(const res_process *p, bn_counter transfers)
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

static double cost_of_reads(const res_process *p, const void *context)
{
    (void)context;
    return (1 - share_of_ops(p, BN_COUNTER_TRANSFERS_TO_HOST)) * cost_of_breaks(p);
}

static bool sends_ahead(const res_record *r)
{
    return strcmp(r->experiment.input, "prefetch") == 0;
}

/* An op of the host is a break that is read, and sent in INPUT. */
static double cost_of_fallbacks(const res_process *p, const void *context)
{
    static const bn_part input = BN_PART_INPUT;
    (void)context;
    return share_of_ops(p, BN_COUNTER_TRANSFERS_TO_HOST) * cost_of_breaks(p) +
           share_of_ops(p, BN_COUNTER_TRANSFERS_TO_DEVICE) * median_of(p, &input, 1);
}

static double cost_of_values(const res_process *p, const void *context)
{
    return cost_of_reads(p, context) + cost_of_fallbacks(p, context);
}

static double cost_of_input(const res_process *p, const void *context)
{
    static const bn_part part = BN_PART_INPUT;
    const double own_ns =
        (1 - share_of_ops(p, BN_COUNTER_TRANSFERS_TO_DEVICE)) * median_of(p, &part, 1);
    (void)context;
    return is_in_flight(p) || (p->record && sends_ahead(p->record))
               ? behind_executions(p, part, own_ns)
               : own_ns;
}

/* As if an execution took as long as it has positions. With steps in flight the device works for
 * the whole step, and the host waits for as long as its own work is shorter. So a step without
 * padding is shorter by the padding's share, and by no more than the wait; or, where a plugin
 * executes within its call, by the share of that. */
static double cost_of_padding(const res_process *p, const void *context)
{
    static const bn_part parts[] = {BN_PART_WAIT, BN_PART_DISPATCH};
    (void)context;
    if (!p->record)
        return (double)NAN;
    const int64_t *counters = p->record->step_counters;
    const double share =
        (double)counters[BN_COUNTER_POSITIONS_PADDED] / (double)counters[BN_COUNTER_POSITIONS];
    const double alone_ns = share * mean_of(p, parts, sizeof parts / sizeof *parts);
    return is_in_flight(p)
               ? lesser(share * mean_wall(p, NULL), fmax(mean_of(p, parts, 1), alone_ns))
               : alone_ns;
}

static double cost_of_tracing(const res_process *p, const void *context)
{
    const double own_ns = p->measures.trace_ns;
    (void)context;
    return is_in_flight(p) ? not_hidden(p, own_ns) : own_ns;
}

/* The saving of one execution instead of all: the overheads of the others, as far as the device
 * waits for them. */
static double cost_of_executions(const res_process *p, const void *context)
{
    const double overhead_ns = p->measures.overhead_ns;
    (void)context;
    return lesser((p->measures.executions - 1) * overhead_ns,
                  exposed(p, BN_PART_WAIT) - overhead_ns);
}

static double cost_of_overhead(const res_process *p, const void *context)
{
    (void)context;
    return lesser(p->measures.overhead_ns, exposed(p, BN_PART_WAIT));
}

/* The programs of a step of one turn are compiled for it alone, as far as is known, and so are the
 * others for the other turn: the lesser of both. A step with breaks runs several programs. */
static double cost_of_turns(const res_process *p, const void *context)
{
    const res_record *r = p->record;
    double run_ns = 0, rest_ns = 0;
    (void)context;
    for (size_t i = 0; r && i < r->execution_count; i++) {
        const res_execution *x = &r->executions[i];
        if (x->from_disk)
            return (double)NAN;
        *(x->per_step > 0 ? &run_ns : &rest_ns) += (double)(x->lower_ns + x->compile_ns);
    }
    return r ? fmin(run_ns, rest_ns) : (double)NAN;
}

static double cost_of_start(const res_process *p, const void *context)
{
    (void)context;
    return p->measures.compile_ns;
}

/* ---- where rules apply ------------------------------------------------------------------------
 */

static double programs_made(const res_speedup_row *row)
{
    return res_counter_a_step(row->record, BN_COUNTER_COMPILES) +
           res_counter_a_step(row->record, BN_COUNTER_DISK_HITS);
}

/* But for those of ops that the host computes. */
static double values_read(const res_speedup_row *row)
{
    return res_counter_a_step(row->record, BN_COUNTER_TRANSFERS_TO_HOST) -
           res_counter_a_step(row->record, BN_COUNTER_HOST_FALLBACKS);
}

static double ops_of_the_host(const res_speedup_row *row)
{
    return res_counter_a_step(row->record, BN_COUNTER_HOST_FALLBACKS);
}

/* A captured step is traced only where its guards fail. A framework reports by itself how many
 * nodes it traces in each step of a mode, if it does. */
static double nodes_traced(const res_speedup_row *row)
{
    const char *mode = row->record->experiment.mode;
    const bool again = !res_is_ours(&row->record->experiment) || strcmp(mode, "lazy") == 0 ||
                       (strcmp(mode, "capture") == 0 &&
                        res_counter_a_step(row->record, BN_COUNTER_GUARD_MISSES) > 0.5);
    return again ? row->figures.nodes_per_step : 0;
}

/* A figure that tables refuse is no finding either. */
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

/* Ops of the host send, too, in the same part. */
static double sends_batches(const res_speedup_row *row)
{
    const double ops = ops_of_the_host(row);
    return !(ops > 0) || res_counter_a_step(row->record, BN_COUNTER_TRANSFERS_TO_DEVICE) > ops;
}

static double padded_share(const res_speedup_row *row)
{
    const int64_t *counters = row->record->step_counters;
    return counters[BN_COUNTER_POSITIONS] > 0 ? (double)counters[BN_COUNTER_POSITIONS_PADDED] /
                                                    (double)counters[BN_COUNTER_POSITIONS]
                                              : 0;
}

static double slow_releases(const res_speedup_row *row)
{
    return res_counter_a_step(row->record, BN_COUNTER_SLOW_RELEASES);
}

static double is_compiled(const res_speedup_row *row)
{
    return row->figures.compile.processes > 0;
}

/* All programs, of steps that compile no further; 0 where the last step ran all of them. */
static double programs_in_turns(const res_speedup_row *row)
{
    const res_record *r = row->record;
    size_t more;
    if (programs_made(row) > 0 || !res_pool_why(&row->pool, RES_RULE_TURNS, &more))
        return 0;
    for (size_t i = 0; i < r->execution_count; i++)
        if (r->executions[i].per_step == 0)
            return (double)r->execution_count;
    return 0;
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
    [RES_RULE_FALLBACKS] = {cost_of_fallbacks, ops_of_the_host, RES_DOCTOR_SHARE, 0},
    [RES_RULE_TRACING] = {cost_of_tracing, nodes_traced, RES_DOCTOR_SHARE, 0},
    [RES_RULE_EXECUTIONS] = {cost_of_executions, executions_run, RES_DOCTOR_SHARE, 0},
    [RES_RULE_OVERHEAD] = {cost_of_overhead, is_awaited, RES_DOCTOR_OVERHEAD, 0},
    [RES_RULE_INPUT] = {cost_of_input, sends_batches, RES_DOCTOR_SHARE, 0},
    [RES_RULE_PADDING] = {cost_of_padding, padded_share, RES_DOCTOR_SHARE, 0},
    [RES_RULE_RELEASE] = {cost_of_release, slow_releases, RES_DOCTOR_SHARE, 0},
    [RES_RULE_TURNS] = {cost_of_turns, programs_in_turns, 0, RES_DOCTOR_TURNS_NS},
    [RES_RULE_START] = {cost_of_start, is_compiled, 0, RES_DOCTOR_START_NS},
};

/* ---- findings ---------------------------------------------------------------------------------
 */

/* Whether the host waits for the device in most steps, to read a value. Then no two are in flight.
 */
static bool reads_in_most(const res_speedup_row *row)
{
    return values_read(row) + ops_of_the_host(row) > 0.5;
}

/* The share of COST that steps in flight would hide behind the device, in ns; NaN where that is
 * unknown, or a framework does not take the option. */
static double hidden(const res_speedup_row *row, double cost_ns)
{
    const double device_ns = device_of_row(row);
    const bool may = res_is_ours(&row->record->experiment) &&
                     row->record->experiment.in_flight <= 1 && !reads_in_most(row);
    return may && isfinite(device_ns) ? fmin(cost_ns, device_ns) : (double)NAN;
}

/* The cost of rule NUMBER to the processes of ROW; *WHOLE_NS gets the step that it is a part of:
 * the median one, which may compile nothing, and of compiles the mean one. */
static res_estimate cost_of(const res_speedup_row *row, res_rule number, double *whole_ns)
{
    static const bool compiled = true;
    const res_estimate all = res_pool_estimate(&row->pool, rules[number].cost, NULL);
    *whole_ns = row->figures.wall.value.estimate;
    if (number != RES_RULE_COMPILES)
        return all;
    const res_estimate own = res_pool_estimate(&row->pool, rules[number].cost, &compiled);
    const bool known = isfinite(own.mean);
    *whole_ns = res_pool_estimate(&row->pool, mean_wall, known ? &compiled : NULL).mean;
    return known ? own : all;
}

/* Whether the cost of rule NUMBER to ROW is an upper bound. A read waits for the device, too, and
 * the device works meanwhile on what was submitted before. Without a device time it is unknown how
 * long.
 */
static bool is_bound(const res_speedup_row *row, res_rule number)
{
    const res_record *r = row->record;
    const bool reads = number == RES_RULE_READS || number == RES_RULE_FALLBACKS;
    const bool behind =
        number == RES_RULE_RELEASE || (number == RES_RULE_INPUT && sends_ahead(r)) ||
        (r->experiment.in_flight > 1 && (number == RES_RULE_INPUT || number == RES_RULE_TRACING));
    return (reads || behind) && !isfinite(device_of_row(row));
}

/* Whether rule NUMBER is about a start, and not about a step. */
static bool is_at_start(res_rule number)
{
    return number == RES_RULE_TURNS || number == RES_RULE_START;
}

/* The folder in which RECORD's run kept executables; "": it was given none, or a framework ran,
 * which uses none. */
static const char *folder_of(const res_record *record)
{
    return res_is_ours(&record->experiment) ? res_provenance_text(record, RES_PROV_OPTIONS_CACHE)
                                            : "";
}

/* Whether B, a later process of A's run, compiled again and found nothing of what A had compiled.
 */
static bool compiled_again(const res_process *a, const res_process *b)
{
    if (!a->record || !b->record || !a->group[0] || strcmp(a->group, b->group) != 0 ||
        !folder_of(b->record)[0])
        return false;
    const int64_t *first = a->record->counters, *then = b->record->counters;
    return res_group_process(a->record) < res_group_process(b->record) &&
           first[BN_COUNTER_COMPILES] > 0 && then[BN_COUNTER_COMPILES] > 0 &&
           then[BN_COUNTER_DISK_HITS] == 0;
}

static res_kept kept_of(const res_speedup_row *row)
{
    const res_pool *pool = &row->pool;
    if (!folder_of(row->record)[0])
        return RES_KEPT_NOT;
    for (size_t i = 0; i < pool->count; i++)
        for (size_t k = 0; k < pool->count; k++)
            if (compiled_again(&pool->list[i], &pool->list[k]))
                return RES_KEPT_NEVER;
    return RES_KEPT_FURTHER;
}

/* Whether row INDEX violates rule NUMBER; then *OUT is the finding. */
static bool is_violated(const res_speedup *speedup, size_t index, res_rule number,
                        res_doctor_finding *out)
{
    const res_speedup_row *row = &speedup->rows[index];
    const rule *r = &rules[number];
    const double count = r->count(row);
    double whole_ns = 0;
    if (!(count > 0))
        return false;
    const res_estimate cost = cost_of(row, number, &whole_ns);
    const res_interval ns = res_estimate_interval(&cost);
    const double surely = isfinite(ns.low) ? ns.low : ns.estimate;
    if (!(whole_ns > 0) || !(surely > 0) || surely < r->least_share * whole_ns ||
        surely < r->least_ns)
        return false;
    *out = (res_doctor_finding){.rule = number,
                                .row = index,
                                .cost_ns = ns,
                                .share = is_at_start(number) ? (double)NAN : ns.estimate / whole_ns,
                                .count = count,
                                .at_most = is_bound(row, number),
                                .alone = reads_in_most(row),
                                .kept = is_at_start(number) ? kept_of(row) : RES_KEPT_NOT,
                                .folder = folder_of(row->record),
                                .hidden_ns = number == RES_RULE_TRACING ? hidden(row, ns.estimate)
                                                                        : (double)NAN};
    out->why = res_pool_why(&row->pool, number, &out->more);
    out->branches = number == RES_RULE_READS && res_pool_branches(&row->pool, out->why);
    return true;
}

/* The most costly first; what starts cost, last. */
static int order(const void *a, const void *b)
{
    const res_doctor_finding *left = a, *right = b;
    const bool l = is_at_start(left->rule), r = is_at_start(right->rule);
    if (l != r)
        return l - r;
    return (left->cost_ns.estimate < right->cost_ns.estimate) -
           (left->cost_ns.estimate > right->cost_ns.estimate);
}

res_doctor_finding *res_doctor(const res_speedup *speedup, size_t *count)
{
    res_doctor_finding *all = bn_zalloc(speedup->count * RES_RULE_COUNT, sizeof *all);
    *count = 0;
    for (size_t i = 0; i < speedup->count; i++)
        for (int r = 0; r < RES_RULE_COUNT && speedup->rows[i].pool.count > 0; r++)
            *count += is_violated(speedup, i, (res_rule)r, &all[*count]);
    qsort(all, *count, sizeof *all, order);
    return all;
}

/* ---- what bounds a step -----------------------------------------------------------------------
 */

const char *res_bound_name(res_bound bound)
{
    static const char *const names[RES_BOUND_COUNT] = {
        [RES_BOUND_UNKNOWN] = "unknown",         [RES_BOUND_DEVICE] = "device-bound",
        [RES_BOUND_COMPILE] = "compile-bound",   [RES_BOUND_TRACING] = "tracing-bound",
        [RES_BOUND_DISPATCH] = "dispatch-bound", [RES_BOUND_INPUT] = "input-bound",
        [RES_BOUND_READ] = "read-bound"};
    return names[bound];
}

/* Calls of the plugin, handles that go back to it, and what it takes beyond the device's work. */
static double cost_of_dispatch(const res_process *p, const void *context)
{
    (void)context;
    return exposed(p, BN_PART_RELEASE);
}

/* Programs written, looked for and made, in the mean step. */
static double cost_of_programs(const res_process *p, const void *context)
{
    static const bn_part parts[] = {BN_PART_LOOKUP, BN_PART_LOWER, BN_PART_COMPILE};
    (void)context;
    return mean_of(p, parts, sizeof parts / sizeof *parts);
}

/* Whether the steps of ROW still make programs, and take longer for that than the device works;
 * where that is unknown, than for all else. */
static bool makes_programs(const res_speedup_row *row)
{
    const double device_ns = device_of_row(row);
    const double mean_ns = res_pool_estimate(&row->pool, mean_wall, NULL).mean;
    const double own_ns = res_pool_estimate(&row->pool, cost_of_programs, NULL).mean;
    return programs_made(row) > 0 && own_ns > (isfinite(device_ns) ? device_ns : mean_ns / 2);
}

/* The longest wait of the device, by the costs of the rules; *NS gets how long. Without a device
 * time it is unknown for how long a read only waits for the device. */
static res_bound longest(const res_speedup_row *row, double *ns)
{
    const bool known = isfinite(device_of_row(row));
    const struct {
        res_bound bound;
        res_process_value *cost;
        bool applies;
    } waits[] = {{RES_BOUND_TRACING, cost_of_tracing, true},
                 {RES_BOUND_DISPATCH, cost_of_dispatch, true},
                 {RES_BOUND_INPUT, cost_of_input, sends_batches(row) > 0},
                 {RES_BOUND_READ, cost_of_values, known}};
    res_bound bound = RES_BOUND_UNKNOWN;
    *ns = 0;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        if (!waits[i].applies)
            continue;
        const double own_ns = res_pool_estimate(&row->pool, waits[i].cost, NULL).mean;
        /* False where it is unknown. */
        if (own_ns > *ns) {
            *ns = own_ns;
            bound = waits[i].bound;
        }
    }
    return bound;
}

res_bound res_doctor_bound(const res_speedup_row *row, double *busy)
{
    const double wall_ns = row->figures.wall.value.estimate;
    const double share = device_of_row(row) / wall_ns;
    double ns = 0;
    if (busy)
        *busy = isfinite(share) ? share : (double)NAN;
    if (makes_programs(row))
        return RES_BOUND_COMPILE;
    if (share >= RES_DOCTOR_BUSY)
        return RES_BOUND_DEVICE;
    const res_bound bound = longest(row, &ns);
    return isfinite(share) || ns >= 0.5 * wall_ns ? bound : RES_BOUND_UNKNOWN;
}
