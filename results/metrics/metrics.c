/*
 * metrics.c - reports of records: the processes of an experiment, pooled.
 *
 * Times are of the measured steps, but for compile times, which are of the whole process, as
 * counters are: most of what compiles does so before anything is measured.
 */
#include "results/metrics/metrics_priv.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The processes of one experiment. */
typedef struct pool {
    res_record **list;
    size_t count, steps;
    double wall_ns; /* of all their measured steps */
} pool;

typedef struct samples {
    double *list;
    size_t count, capacity;
} samples;

static void add(samples *s, double value)
{
    bn_grow(&s->list, s->count + 1, &s->capacity, sizeof *s->list);
    s->list[s->count++] = value;
}

/* ---- sources of samples ---------------------------------------------------------- */

/* Adds the samples of one record. */
typedef void collector(const res_record *record, bn_part part, samples *out);

/* The time is unknown of a graph that came from disk, and partly of an op in eager mode of which
 * some programs did. */
static void collect_compiles(const res_record *record, bn_part part, samples *out)
{
    (void)part;
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *x = &record->executions[i];
        if (!x->from_disk && x->compile_ns > 0)
            add(out, (double)x->compile_ns);
    }
}

static void collect_executions(const res_record *record, bn_part part, samples *out)
{
    (void)part;
    for (size_t i = 0; i < record->execution_count; i++)
        for (size_t k = 0; k < record->executions[i].pjrt_count; k++)
            add(out, (double)record->executions[i].pjrt_ns[k]);
}

/* In eager mode there are ops, and no graphs. */
static void collect_sizes(const res_record *record, bn_part part, samples *out)
{
    (void)part;
    if (strcmp(record->experiment.mode, "eager") == 0)
        return;
    for (size_t i = 0; i < record->execution_count; i++)
        if (record->executions[i].nodes > 0)
            add(out, (double)record->executions[i].nodes);
}

static void collect_steps(const res_record *record, bn_part part, samples *out)
{
    (void)part;
    for (size_t step = 0; step < record->step_count; step++)
        add(out, (double)record->wall_ns[step]);
}

/* The steps in which PART took time. */
static void collect_part(const res_record *record, bn_part part, samples *out)
{
    const bool ledger = res_has_ledger(record);
    for (size_t step = 0; step < record->step_count && ledger; step++) {
        const uint64_t ns = record->part_ns[step * BN_PART_COUNT + (size_t)part];
        if (ns > 0)
            add(out, (double)ns);
    }
}

/* Whether the input part is of batches that were sent. In older records of recordings it is of
 * transfers both ways, and where batches lie on the device it is of passing them on. An op of the
 * host computes in this part, too, and sends once. */
static bool sends(const res_record *record)
{
    return record->step_counters[BN_COUNTER_TRANSFERS_TO_DEVICE] >
           record->step_counters[BN_COUNTER_HOST_FALLBACKS];
}

static void collect_sent(const res_record *record, bn_part part, samples *out)
{
    if (sends(record))
        collect_part(record, part, out);
}

static void collect_unsent(const res_record *record, bn_part part, samples *out)
{
    if (!sends(record))
        collect_part(record, part, out);
}

/* ---- metrics ------------------------------------------------------------------------------ */

typedef struct metric_row {
    const char *name, *unit;
    collector *collect;
    bn_part part;
    bool rated; /* the samples are all that there were in the measured steps */
} metric_row;

static const metric_row rows[] = {
    {"CompileTime", RES_METRICS_NS, collect_compiles, BN_PART_COUNT, false},
    {"ExecuteTime", RES_METRICS_NS, collect_executions, BN_PART_COUNT, false},
    {"StepTime", RES_METRICS_NS, collect_steps, BN_PART_COUNT, true},
    {"TensorsGraphSize", RES_METRICS_NODES, collect_sizes, BN_PART_COUNT, false},
    {"TransferFromDeviceTime", RES_METRICS_NS, collect_part, BN_PART_READ, true},
    {"TransferToDeviceTime", RES_METRICS_NS, collect_sent, BN_PART_INPUT, true},
    {"input", RES_METRICS_NS, collect_unsent, BN_PART_INPUT, true},
    {"trace", RES_METRICS_NS, collect_part, BN_PART_TRACE, true},
    {"hash", RES_METRICS_NS, collect_part, BN_PART_HASH, true},
    {"lookup", RES_METRICS_NS, collect_part, BN_PART_LOOKUP, true},
    {"lower", RES_METRICS_NS, collect_part, BN_PART_LOWER, true},
    {"compile", RES_METRICS_NS, collect_part, BN_PART_COMPILE, true},
    {"bind", RES_METRICS_NS, collect_part, BN_PART_BIND, true},
    {"dispatch", RES_METRICS_NS, collect_part, BN_PART_DISPATCH, true},
    {"release", RES_METRICS_NS, collect_part, BN_PART_RELEASE, true},
    {"wait", RES_METRICS_NS, collect_part, BN_PART_WAIT, true},
    {"other", RES_METRICS_NS, collect_part, BN_PART_OTHER, true},
};

/* The sample at each place of the sorted ones, as PyTorch/XLA takes it, without interpolation. */
static json_t *percentiles_json(const samples *s)
{
    static const struct {
        const char *name;
        size_t percent;
    } places[] = {{"1", 1},   {"5", 5},   {"10", 10}, {"20", 20}, {"50", 50},
                  {"80", 80}, {"90", 90}, {"95", 95}, {"99", 99}};
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        json_object_set_new(object, places[i].name,
                            res_json_real(s->list[s->count * places[i].percent / 100]));
    return object;
}

/* The metric of ROW, whose samples get sorted (new reference). */
static json_t *metric_json(const metric_row *row, samples *s, double wall_ns)
{
    json_t *object = json_object();
    double sum = 0;
    gsl_sort(s->list, 1, s->count);
    for (size_t i = 0; i < s->count; i++)
        sum += s->list[i];
    json_object_set_new(object, "unit", json_string(row->unit));
    json_object_set_new(object, "samples", json_integer((json_int_t)s->count));
    json_object_set_new(object, "sum", res_json_real(sum));
    if (row->rated) {
        json_object_set_new(object, "sum_per_second", res_json_real(sum / wall_ns * 1e9));
        json_object_set_new(object, "samples_per_second",
                            res_json_real((double)s->count / wall_ns * 1e9));
    }
    json_object_set_new(object, "percentiles", percentiles_json(s));
    return object;
}

static void put_metrics(const pool *p, json_t *metrics)
{
    samples s = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        s.count = 0;
        for (size_t k = 0; k < p->count; k++)
            rows[i].collect(p->list[k], rows[i].part, &s);
        if (s.count > 0)
            json_object_set_new(metrics, rows[i].name, metric_json(&rows[i], &s, p->wall_ns));
    }
    free(s.list);
}

/* ---- counters ------------------------------------------------------------------------------ */

const char *res_metrics_counter(bn_counter counter)
{
    static const char *const names[BN_COUNTER_COUNT] = {
        [BN_COUNTER_STEPS] = "MarkStep",
        [BN_COUNTER_NODES_TRACED] = "NodeTraced",
        [BN_COUNTER_COMPILES] = "UncachedCompile",
        [BN_COUNTER_CACHE_HITS] = "CachedCompile",
        [BN_COUNTER_DISK_HITS] = "PersistentCacheHit",
        [BN_COUNTER_DISK_REJECTS] = "PersistentCacheReject",
        [BN_COUNTER_CACHE_EVICTIONS] = "CacheEviction",
        [BN_COUNTER_CAPTURES] = "Capture",
        [BN_COUNTER_GUARD_MISSES] = "GuardMiss",
        [BN_COUNTER_GRAPH_BREAKS] = "GraphBreak",
        [BN_COUNTER_HOST_FALLBACKS] = "HostFallback",
        [BN_COUNTER_EXECUTIONS] = "Execute",
        [BN_COUNTER_TRANSFERS_TO_DEVICE] = "TransferToDevice",
        [BN_COUNTER_TRANSFERS_TO_HOST] = "TransferFromDevice",
        [BN_COUNTER_SLOW_RELEASES] = "SlowRelease",
        [BN_COUNTER_POSITIONS] = "Position",
        [BN_COUNTER_POSITIONS_PADDED] = "PaddedPosition",
    };
    return names[counter];
}

/* SUM and COUNT, which in records of others is up to 2^53; at most what there is room for. */
static json_int_t plus(json_int_t sum, int64_t count)
{
    return sum > INT64_MAX - count ? INT64_MAX : sum + count;
}

/* Adds the ops that the host computed, by name, as PyTorch/XLA counts ops without a lowering. */
static void put_host_ops(const pool *p, json_t *object)
{
    for (size_t i = 0; i < p->count; i++) {
        json_t *ops = res_provenance(p->list[i], RES_PROV_HOST_OPS), *count;
        const char *op;
        json_object_foreach(ops, op, count)
        {
            char name[64];
            snprintf(name, sizeof name, "aten::%s", op);
            json_t *counter = json_object_get(object, name);
            const json_int_t before = json_integer_value(json_object_get(counter, "value"));
            json_object_set_new(object, name,
                                json_pack("{sI sn}", "value",
                                          plus(before, json_integer_value(count)),
                                          "measured_steps"));
        }
    }
}

/* PyTorch/XLA's name of a value that the host reads by itself, as item() does. */
#define READS "aten::_local_scalar_dense"

/* Reads by COUNTERS that are not of an op of the host. */
static int64_t values_read(const int64_t *counters)
{
    return counters[BN_COUNTER_TRANSFERS_TO_HOST] > counters[BN_COUNTER_HOST_FALLBACKS]
               ? counters[BN_COUNTER_TRANSFERS_TO_HOST] - counters[BN_COUNTER_HOST_FALLBACKS]
               : 0;
}

/* Adds the reads of values where measured steps have some. The one for a record's loss is bench's
 * own. */
static void put_reads(const pool *p, json_t *object)
{
    json_int_t value = 0, measured = 0;
    for (size_t i = 0; i < p->count; i++) {
        const res_record *r = p->list[i];
        const int64_t in_steps = values_read(r->step_counters);
        const int64_t all = values_read(r->counters) - (isfinite(r->loss) ? 1 : 0);
        value = plus(value, all > in_steps ? all : in_steps);
        measured = plus(measured, in_steps);
    }
    if (measured > 0)
        json_object_set_new(object, READS,
                            json_pack("{sI sI}", "value", value, "measured_steps", measured));
}

/* Zeros are left out: a record also has zero for counters that were not counted. */
static json_t *counters_json(const pool *p)
{
    json_t *object = json_object();
    for (int c = 0; c < BN_COUNTER_COUNT; c++) {
        json_int_t value = 0, measured = 0;
        for (size_t i = 0; i < p->count; i++) {
            value = plus(value, p->list[i]->counters[c]);
            measured = plus(measured, p->list[i]->step_counters[c]);
        }
        if (value > 0)
            json_object_set_new(object, res_metrics_counter((bn_counter)c),
                                json_pack("{sI sI}", "value", value, "measured_steps", measured));
    }
    put_reads(p, object);
    put_host_ops(p, object);
    return object;
}

/* ---- reports -------------------------------------------------------------------------------- */

/* Appends the title of E's report. Titles must differ, so it also has details of the set-up that
 * the title of a job lacks, and a seed that is not the usual one. */
static void put_title(const res_experiment *e, bn_text *out)
{
    const res_axis *seed = &res_axes[RES_AXIS_SEED];
    bn_text details = {0};
    res_setup_text(e, RES_AXIS_BIT(RES_AXIS_LAYOUT) | RES_AXIS_BIT(RES_AXIS_SETTINGS), &details);
    res_experiment_title(e, out);
    if (details.length > 0)
        bn_text_printf(out, ", %s", details.data);
    if (!res_axis_is_usual(seed, e)) {
        bn_text_puts(out, ", seed ");
        res_axis_put(seed, e, out);
    }
    bn_text_free(&details);
}

/* The report of P (new reference). */
static json_t *report_json(const pool *p)
{
    const res_record *first = p->list[0];
    json_t *metrics = json_object();
    bn_text title = {0};
    put_metrics(p, metrics);
    put_title(&first->experiment, &title);
    json_t *report = json_object();
    json_object_set_new(report, "title", res_json_text(title.data));
    json_object_set_new(report, "experiment", res_experiment_to_json(&first->experiment));
    json_object_set_new(report, "simulated", json_boolean(first->simulated));
    json_object_set_new(report, "processes", json_integer((json_int_t)p->count));
    json_object_set_new(report, "steps", json_integer((json_int_t)p->steps));
    json_object_set_new(report, "metrics", metrics);
    json_object_set_new(report, "counters", counters_json(p));
    bn_text_free(&title);
    return report;
}

static void add_process(pool *p, res_record *record)
{
    p->list[p->count++] = record;
    p->steps += record->step_count;
    for (size_t step = 0; step < record->step_count; step++)
        p->wall_ns += (double)record->wall_ns[step];
}

json_t *res_metrics_make(res_record *const *records, size_t count)
{
    json_t *reports = json_array();
    res_record **list = bn_zalloc(count, sizeof *list);
    bool *taken = bn_zalloc(count, sizeof *taken);
    for (size_t i = 0; i < count; i++) {
        pool p = {.list = list};
        if (taken[i] || !res_record_good(records[i]))
            continue;
        for (size_t k = i; k < count; k++) {
            if (taken[k] || !res_record_good(records[k]) ||
                !res_same_experiment(&records[i]->experiment, &records[k]->experiment))
                continue;
            add_process(&p, records[k]);
            taken[k] = true;
        }
        json_array_append_new(reports, report_json(&p));
    }
    free(list);
    free(taken);
    return json_pack("{ss so}", "kind", "metrics", "reports", reports);
}
