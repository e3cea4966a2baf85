/*
 * pool.c - the processes that measured one cell in one way, and what they say together.
 *
 * Each good record is of one process, however it came to be measured: as one of the processes of a
 * run, as a repetition of a suite, or alone. Records are pooled where they are of one build of the
 * runtime and of like conditions: those of the latest. Every figure of a cell is made here, so
 * tables, pictures, pages and exports cannot differ.
 */
#include "results/findings/findings_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells ----------------------------------------------------------------------------- */

static bool same_cell_asked(const res_experiment *a, const res_experiment *b)
{
    return strcmp(a->runtime, b->runtime) == 0 && strcmp(a->model, b->model) == 0 &&
           strcmp(a->phase, b->phase) == 0 && res_setup_difference(a, b) == 0;
}

bool res_same_way_asked(const res_experiment *a, const res_experiment *b)
{
    return res_is_one_way(a, b) && same_cell_asked(a, b);
}

bool res_same_block(const res_record *a, const res_record *b)
{
    return a->simulated == b->simulated &&
           strcmp(a->experiment.runtime, b->experiment.runtime) == 0;
}

bool res_same_cell(const res_record *a, const res_record *b)
{
    return a->simulated == b->simulated && same_cell_asked(&a->experiment, &b->experiment);
}

bool res_same_way(const res_record *a, const res_record *b)
{
    return a->simulated == b->simulated && res_same_way_asked(&a->experiment, &b->experiment);
}

/* ---- builds ------------------------------------------------------------------------- */

/* Imported records may not name their build. Those count as one build, and tables note it:
 * otherwise each of them would be a pool of its own. */
static bool same_build(const res_record *a, const res_record *b)
{
    return a == b || strcmp(res_plugin_sha256(a), res_plugin_sha256(b)) == 0;
}

/* ---- processes -------------------------------------------------------------------------- */

static void add_process(res_pool *pool, const res_record *record)
{
    res_process *process = &pool->list[pool->count++];
    *process = (res_process){.record = record,
                             .measures = res_record_measures(record),
                             .group = res_group_id(record),
                             .began_s = res_id_time(record->id)};
    if (record->round_count == 0)
        return;
    process->round_ns = bn_zalloc(record->round_count, sizeof *process->round_ns);
    res_round_means(record, process->round_ns);
}

/* The latest good record of the latest build, or its latest failure. */
static const res_record *latest_of(const res_record *const *records, size_t count)
{
    res_latest latest = {.build = NULL};
    for (size_t i = 0; i < count; i++)
        res_latest_build(&latest, records[i]->id, res_plugin_sha256(records[i]));
    for (size_t i = 0; i < count; i++)
        if (res_latest_has(&latest, res_plugin_sha256(records[i])))
            res_latest_record(&latest, records[i], records[i]->id, res_record_good(records[i]));
    return latest.record;
}

static int by_id(const void *a, const void *b)
{
    return res_id_order(((const res_process *)a)->record->id, ((const res_process *)b)->record->id);
}

static void sort_and_settle(res_pool *pool)
{
    qsort(pool->list, pool->count, sizeof *pool->list, by_id);
    res_pool_settle(pool);
}

/* Pools RECORDS that are of LATEST's build and conditions. */
static void make_pool(const res_record *latest, const res_record *const *records, size_t count,
                      res_pool *pool)
{
    *pool = (res_pool){.latest = latest,
                       .experiment = &latest->experiment,
                       .list = bn_zalloc(count, sizeof *pool->list)};
    for (size_t i = 0; i < count; i++) {
        const res_record *record = records[i];
        if (!res_record_good(record))
            pool->failed++;
        else if (!same_build(record, latest))
            pool->other_builds++;
        else if (!res_same_conditions(record, latest, pool->differing, sizeof pool->differing))
            pool->other_conditions++;
        else
            add_process(pool, record);
    }
    sort_and_settle(pool);
}

void res_pool_all(const res_record *const *records, size_t count, res_pool *pool)
{
    *pool = (res_pool){.latest = latest_of(records, count),
                       .list = bn_zalloc(count, sizeof *pool->list)};
    pool->experiment = pool->latest ? &pool->latest->experiment : NULL;
    for (size_t i = 0; i < count; i++)
        add_process(pool, records[i]);
    sort_and_settle(pool);
}

void res_pool_make(const res_record *const *records, size_t count, res_pool *pool)
{
    make_pool(latest_of(records, count), records, count, pool);
}

void res_pool_like(const res_collection *all, const res_record *like, res_pool *pool)
{
    const res_record **records = bn_zalloc(all->count, sizeof(const res_record *));
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (res_same_way(all->records[i], like))
            records[count++] = all->records[i];
    make_pool(like, records, count, pool);
    res_pool_add_unread(pool, all);
    free(records);
}

void res_pool_add_unread(res_pool *pool, const res_collection *all)
{
    for (size_t i = 0; i < all->unread_count; i++) {
        const res_unread *unread = &all->unread[i];
        if (unread->simulated == pool->latest->simulated &&
            res_same_way_asked(&unread->experiment, &pool->latest->experiment)) {
            pool->other_builds += unread->good;
            pool->failed += unread->failed;
        }
    }
}

void res_pool_free(res_pool *pool)
{
    for (size_t i = 0; pool->list && i < pool->count; i++)
        free(pool->list[i].round_ns);
    free(pool->list);
    *pool = (res_pool){0};
}

/* ---- figures ------------------------------------------------------------------------------- */

static const res_over none = {{(double)NAN, (double)NAN, (double)NAN}, 0, 0};

/* Of times: by their logs, but by the times themselves where one of them is nothing. */
res_over res_pool_over(const res_pool *pool, const double *values, bool difference)
{
    res_sample s = res_sample_begin(pool->count);
    bool positive = !difference;
    for (size_t i = 0; i < pool->count; i++) {
        positive = positive && !(values[i] <= 0 && res_pool_counts(pool, i));
        res_sample_add(&s, values[i], &pool->list[i]);
    }
    for (size_t i = 0; positive && i < s.count; i++)
        s.values[i] = log(s.values[i]);
    const res_estimate over = res_sample_estimate(&s);
    const res_over out = {positive ? res_estimate_ratio(&over) : res_estimate_interval(&over),
                          s.processes, s.count};
    res_sample_end(&s);
    return out;
}

/* That of VALUES; a figure that most processes do not know is none: those that do may differ
 * from the rest. */
static res_over of_most(const res_pool *pool, const double *values, bool difference)
{
    res_over over = res_pool_over(pool, values, difference);
    if (2 * over.processes < pool->counted)
        over.value = none.value;
    return over;
}

static double at_most(double value, double limit)
{
    return value > limit ? limit : value;
}

/* Makes DEVICE the share SCALE of itself; nothing of it is then above WALL, the time of the step
 * that it is part of. A bound that is unknown stays so. */
static void cut_device(res_interval *device, double scale, const res_interval *wall)
{
    *device = (res_interval){at_most(device->estimate * scale, wall->estimate),
                             at_most(device->low * scale, wall->low),
                             at_most(device->high * scale, wall->high)};
}

/* A step that waits for its own executions takes at least as long as these. Device time by probes
 * is of other executions than the steps, so that noise may turn the two around: what cannot be is
 * cut off. Returns by what factor DEVICE has to become less: 1 where nothing has to be cut, NaN for
 * none, where it is above the wall time by more than both intervals. */
static double scale_within(const res_interval *device, const res_interval *wall)
{
    if (!(device->estimate > wall->estimate))
        return 1;
    return device->low > wall->high ? (double)NAN : wall->estimate / device->estimate;
}

/* Leaves out contradictions. An overhead that is significantly below zero means that the device
 * time is above the PJRT time that it is part of. One that is significantly above zero does not
 * fit into the step, where the device time had to be cut down to that: CUT. */
static res_refusal refuse(res_over *device, res_over *overhead, bool cut)
{
    const res_interval *o = &overhead->value;
    res_refusal refusal = RES_REFUSED_NOTHING;
    if (o->high < 0)
        refusal = RES_REFUSED_DEVICE;
    else if (cut && (isnan(o->low) ? o->estimate > 0 : o->low > 0))
        refusal = RES_REFUSED_OVERHEAD;
    if (refusal == RES_REFUSED_DEVICE)
        device->value = none.value;
    if (refusal != RES_REFUSED_NOTHING)
        overhead->value = none.value;
    return refusal;
}

static bool has_one_length(const res_experiment *experiment)
{
    return strcmp(experiment->lengths, "varying") != 0 || experiment->buckets == 1;
}

double res_device_of_steps(const res_experiment *experiment, double device_ns)
{
    return has_one_length(experiment) ? device_ns : (double)NAN;
}

double res_not_hidden(const res_process *p, double own_ns)
{
    static const bn_part part = BN_PART_WAIT;
    const double wall_ns = p->measures.wall_ns;
    const double device_ns =
        p->record ? res_device_of_steps(&p->record->experiment, p->measures.device_ns) : (double)NAN;
    if (isnan(device_ns))
        return own_ns;
    const double wait_ns =
        res_has_ledger(p->record) ? res_part_median(p->record, &part, 1) : (double)NAN;
    const double left_ns = wall_ns - fmax(device_ns, wall_ns - own_ns - wait_ns);
    return isnan(own_ns) || isnan(left_ns) ? (double)NAN : fmin(own_ns, left_ns);
}

double res_trace_hidden(const res_process *p)
{
    const double own_ns = p->measures.trace_ns;
    if (!p->record || !res_hides_tracing(&p->record->experiment))
        return 0;
    if (isnan(res_device_of_steps(&p->record->experiment, p->measures.device_ns)))
        return (double)NAN;
    return own_ns - fmax(0, res_not_hidden(p, own_ns));
}

/* Whether each step of EXPERIMENT takes at least the device time of SOURCE. By probes: where it
 * waits for its executions, on a batch as long as that of the probes. By a recording always: its
 * executions came one after another in the steps. But their times are medians of programs, whose
 * sum may be above a step. Executions that a profiler saw may have run side by side. */
static bool steps_contain(const res_experiment *experiment, const char *source)
{
    if (strcmp(source, bn_device_time_source_name(BN_DEVICE_TIME_EVENT)) == 0)
        return true;
    return strcmp(source, bn_device_time_source_name(BN_DEVICE_TIME_SLOPE)) == 0 &&
           experiment->in_flight <= 1 && has_one_length(experiment);
}

/* The source of the latest process that has a device time: only like times are pooled. */
static const char *source_of(const res_pool *pool)
{
    for (size_t i = pool->count; i-- > 0;)
        if (res_pool_counts(pool, i) && isfinite(pool->list[i].measures.device_ns))
            return pool->list[i].measures.source;
    return bn_device_time_source_name(BN_DEVICE_TIME_UNAVAILABLE);
}

res_figures res_pool_figures(const res_pool *pool)
{
    const double nan = (double)NAN;
    res_figures f = {.wall = none,
                     .trace = none,
                     .device = none,
                     .overhead = none,
                     .device_scale = 1,
                     .compile = none,
                     .executions = nan,
                     .nodes_per_step = nan,
                     .source = source_of(pool)};
    const size_t n = pool->count;
    if (n == 0)
        return f;
    double *room = bn_zalloc(n, 5 * sizeof *room);
    for (size_t i = 0; i < n; i++) {
        const res_measures *m = &pool->list[i].measures;
        const bool like = strcmp(m->source, f.source) == 0;
        room[i] = m->wall_ns;
        room[n + i] = m->trace_ns;
        room[2 * n + i] = like ? m->device_ns : nan;
        room[3 * n + i] = like ? m->overhead_ns : nan;
        room[4 * n + i] = m->compile_ns;
        if (res_pool_counts(pool, i)) {
            f.executions = m->executions;
            f.nodes_per_step = m->nodes_per_step;
        }
    }
    f.wall = res_pool_over(pool, room, false);
    f.trace = res_pool_over(pool, room + n, false);
    f.device = of_most(pool, room + 2 * n, false);
    if (steps_contain(pool->experiment, f.source))
        f.device_scale = scale_within(&f.device.value, &f.wall.value);
    if (f.device_scale != 1)
        cut_device(&f.device.value, f.device_scale, &f.wall.value);
    f.overhead = of_most(pool, room + 3 * n, true);
    f.refusal = refuse(&f.device, &f.overhead, f.device_scale != 1);
    f.compile = res_pool_over(pool, room + 4 * n, false);
    free(room);
    return f;
}

res_device_remark res_figures_remark(const res_figures *f)
{
    if (f->refusal == RES_REFUSED_DEVICE)
        return RES_DEVICE_CONTRARY;
    if (f->device_scale == 1)
        return RES_DEVICE_PLAIN;
    if (isnan(f->device.value.estimate))
        return RES_DEVICE_FAR;
    return f->refusal == RES_REFUSED_OVERHEAD ? RES_DEVICE_CUT_OVERHEAD : RES_DEVICE_CUT;
}

/* ---- executions ------------------------------------------------------------------------------ */

/* The execution of RECORD that runs the same graph as LIKE, or NULL. */
static const res_execution *same_graph(const res_record *record, const res_execution *like)
{
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *x = &record->executions[i];
        if (strcmp(x->graph, like->graph) == 0 && strcmp(x->fingerprint, like->fingerprint) == 0)
            return x;
    }
    return NULL;
}

/* The source of the latest process that has a device time of the graph of LIKE. */
static bn_device_time_source source_of_graph(const res_pool *pool, const res_execution *like)
{
    for (size_t i = pool->count; i-- > 0;) {
        const res_execution *x =
            res_pool_counts(pool, i) ? same_graph(pool->list[i].record, like) : NULL;
        if (x && x->device_source != BN_DEVICE_TIME_UNAVAILABLE && isfinite(x->device_ns))
            return x->device_source;
    }
    return BN_DEVICE_TIME_UNAVAILABLE;
}

/* Whether device times of SOURCE are cut: the graphs of a STEP that was cut are cut alike. */
static bool is_cut(bn_device_time_source source, const res_figures *step)
{
    return (source == BN_DEVICE_TIME_SLOPE || source == BN_DEVICE_TIME_EVENT) &&
           step->device_scale != 1;
}

res_execution_figures res_pool_execution(const res_pool *pool, const res_figures *step,
                                         const res_execution *like)
{
    const double nan = (double)NAN;
    const bn_device_time_source source = source_of_graph(pool, like);
    res_execution_figures f = {none, none, none, none, none, none, source, RES_REFUSED_NOTHING};
    const size_t n = pool->count;
    double *room = bn_zalloc(n, 6 * sizeof *room);
    for (size_t i = 0; i < n; i++) {
        const res_execution *x = same_graph(pool->list[i].record, like);
        const bool known = x && source != BN_DEVICE_TIME_UNAVAILABLE && x->device_source == source;
        room[i] = x ? res_execution_pjrt_ns(x) : nan;
        room[n + i] = known ? x->device_ns : nan;
        room[2 * n + i] = known ? res_execution_overhead(x).estimate : nan;
        room[3 * n + i] = x ? res_probes_null(x->probes, x->probe_count) : nan;
        room[4 * n + i] = x && !x->from_disk ? (double)x->lower_ns : nan;
        room[5 * n + i] = x && !x->from_disk ? (double)x->compile_ns : nan;
    }
    f.pjrt = res_pool_over(pool, room, false);
    f.device = of_most(pool, room + n, false);
    const bool cut = is_cut(source, step);
    if (cut)
        cut_device(&f.device.value, step->device_scale, &step->wall.value);
    f.overhead = of_most(pool, room + 2 * n, true);
    f.refusal = refuse(&f.device, &f.overhead, cut);
    f.null = res_pool_over(pool, room + 3 * n, true);
    f.lower = res_pool_over(pool, room + 4 * n, false);
    f.compile = res_pool_over(pool, room + 5 * n, false);
    free(room);
    return f;
}

res_figures res_record_figures(const res_record *record)
{
    res_pool pool;
    res_pool_all(&record, 1, &pool);
    const res_figures figures = res_pool_figures(&pool);
    res_pool_free(&pool);
    return figures;
}

res_execution_shown res_record_execution(const res_figures *step, const res_execution *x)
{
    const double wall = step->wall.value.estimate;
    const res_interval limit = {wall, wall, wall};
    res_over device = {{x->device_ns, x->device_low_ns, x->device_high_ns}, 1, 1};
    /* A pool of one process, whose rounds are no sample, has the estimate only. */
    res_over overhead = none;
    res_interval within = res_execution_overhead(x);
    overhead.value.estimate = within.estimate;
    const bool cut = is_cut(x->device_source, step);
    if (cut)
        cut_device(&device.value, step->device_scale, &limit);
    const res_refusal refusal = refuse(&device, &overhead, cut);
    return (res_execution_shown){device.value, refusal == RES_REFUSED_NOTHING ? within : none.value,
                                 refusal};
}

/* ---- remarks -----------------------------------------------------------------------------------
 */

/* Median of the values that VALUE takes of each process that counts. */
static double over_pool(const res_pool *pool, double *room, double (*value)(const res_process *))
{
    size_t known = 0;
    for (size_t i = 0; i < pool->count; i++) {
        room[known] = res_pool_counts(pool, i) ? value(&pool->list[i]) : (double)NAN;
        known += isfinite(room[known]) ? 1 : 0;
    }
    return res_median(room, known);
}

static double excess_of(const res_process *p)
{
    return res_mean(p->record->wall_ns, p->record->step_count) / p->measures.wall_ns;
}

static double p90_of(const res_process *p)
{
    return res_quantile(p->record->wall_ns, p->record->step_count, 0.9);
}

static double samples_of(const res_process *p)
{
    return (double)(p->round_ns ? p->record->round_count : p->record->step_count);
}

static double independent_of(const res_process *p)
{
    const size_t count = (size_t)samples_of(p);
    double *values = bn_zalloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = log(p->round_ns ? p->round_ns[i] : (double)p->record->wall_ns[i]);
    const double independent = res_independent_samples(values, count);
    free(values);
    return independent;
}

res_remarks res_pool_remarks(const res_pool *pool)
{
    res_remarks r = {.excess = (double)NAN, .p90_ns = (double)NAN};
    if (pool->count == 0)
        return r;
    double *room = bn_zalloc(pool->count, sizeof *room);
    r.excess = over_pool(pool, room, excess_of) - 1;
    r.p90_ns = over_pool(pool, room, p90_of);
    r.samples = over_pool(pool, room, samples_of);
    r.independent = over_pool(pool, room, independent_of);
    for (size_t i = 0; i < pool->count; i++)
        r.unsettled += res_pool_counts(pool, i) && pool->list[i].record->warmup_count > 0 &&
                       !pool->list[i].record->warmup_stationary;
    free(room);
    return r;
}

/* ---- interference --------------------------------------------------------------------------- */

static void add_known(uint64_t value, double of_ns, double *sum, double *sum_of)
{
    if (value == RES_UNKNOWN)
        return;
    *sum += (double)value;
    *sum_of += of_ns;
}

/* Totals over all rounds of a process: provenance.nearness and provenance.others. */
static void add_totals(res_interference *w, const res_record *record)
{
    const double rounds = fmax(res_provenance_number(record, RES_PROV_NEARNESS_ROUNDS), 0);
    const double of_ns = fmax(res_provenance_number(record, RES_PROV_OTHERS_OF), 0);
    w->apart_of += rounds;
    w->apart += fmin(fmax(res_provenance_number(record, RES_PROV_NEARNESS_APART), 0), rounds);
    w->repeated += fmax(res_provenance_number(record, RES_PROV_NEARNESS_REPEATED), 0);
    w->others_of_ns += of_ns;
    w->others_ns += fmin(fmax(res_provenance_number(record, RES_PROV_OTHERS_USED), 0), of_ns);
}

void res_interference_add(res_interference *w, const res_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++) {
        const res_record *record = pool->list[i].record;
        const int64_t cores = res_provenance_integer(record, RES_PROV_HOST_CORES, 0);
        if (res_pool_counts(pool, i))
            add_totals(w, record);
        for (size_t r = 0; res_pool_counts(pool, i) && r < record->round_count; r++) {
            const res_round *round = &record->rounds[r];
            const double wall_ns = (double)round->wall_ns;
            if (round->wall_ns == RES_UNKNOWN)
                continue;
            w->rounds++;
            add_known(round->stalled_ns, wall_ns, &w->stalled_ns, &w->stalled_of_ns);
            add_known(round->stolen_ns, wall_ns * (double)(cores > 0 ? cores : 1), &w->stolen_ns,
                      &w->stolen_of_ns);
            add_known(round->switches, wall_ns, &w->switches, &w->switches_of_ns);
        }
    }
}

void res_interference_add_record(res_interference *w, const res_record *record)
{
    res_pool pool;
    res_pool_make(&record, 1, &pool);
    res_interference_add(w, &pool);
    res_pool_free(&pool);
}

double res_interference_stalled(const res_interference *w)
{
    return w->stalled_of_ns > 0 ? w->stalled_ns / w->stalled_of_ns : 0;
}

bool res_interference_busy(const res_interference *w)
{
    const bool known = w->others_of_ns > 0;
    const bool contended = known && w->others_ns > RES_BUSY_OTHERS * w->others_of_ns;
    const double least = contended ? RES_BUSY_CONTENDED : RES_BUSY_STALLED;
    const bool waited = w->stalled_ns > least * w->stalled_of_ns;
    return (contended && (waited || !(w->stalled_of_ns > 0))) || (!known && waited) ||
           w->stolen_ns > RES_BUSY_STOLEN * w->stolen_of_ns ||
           w->apart > RES_BUSY_APART * w->apart_of;
}

bool res_interference_unknown(const res_interference *w)
{
    return w->rounds > 0 && !(w->stalled_of_ns > 0);
}
