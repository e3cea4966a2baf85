/* table_lists.c - the tables other than the speedup table: executions, ledger, goodput, compile,
 * memory. They have its rows, and their figures are of the same processes; what is no time is of
 * the latest. */
#include "results/findings/goodput.h"
#include "results/tables/speedup_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *amount(int64_t bytes)
{
    return bytes >= 0 ? json_integer(bytes) : json_null();
}

/* ---- executions ------------------------------------------------------------------- */

static const char *refusal_words(res_refusal refusal)
{
    return refusal == RES_REFUSED_DEVICE
               ? "the device time came out above the PJRT time"
               : "the device time was cut at the step, into which the overhead does not fit";
}

static void execution_row(const res_speedup_row *of, const res_execution *x, json_t *rows)
{
    json_t *row = res_row_of("execution", of, rows);
    json_object_set_new(row, "graph", res_json_text(x->graph));
    json_object_set_new(row, "per_step", res_execution_times_json(x));
    json_object_set_new(row, "graph_nodes", json_integer(x->nodes));
    json_object_set_new(row, "arguments", json_integer(x->arguments));
    json_object_set_new(row, "results", json_integer(x->results));
    json_object_set_new(row, "pjrt_samples", json_integer((json_int_t)x->pjrt_count));
    const res_execution_figures f = res_pool_execution(&of->pool, &of->figures, x);
    res_json_interval(row, "pjrt", f.pjrt.value);
    res_json_interval(row, "device", f.device.value);
    res_json_interval(row, "overhead", f.overhead.value);
    json_object_set_new(row, "overhead_refused", json_boolean(f.refusal != RES_REFUSED_NOTHING));
    json_object_set_new(row, "device_processes", json_integer((json_int_t)f.device.processes));
    json_object_set_new(row, "compile_ns", res_json_real(f.compile.value.estimate));
    json_object_set_new(row, "null_share", res_json_real(f.null.value.estimate));
    json_object_set_new(row, "null_low_share", res_json_real(f.null.value.low));
    json_object_set_new(row, "null_high_share", res_json_real(f.null.value.high));
    json_object_set_new(row, "device_time_source",
                        json_string(bn_device_time_source_name(f.source)));
    json_object_set_new(row, "device_note",
                        res_json_text(f.refusal == RES_REFUSED_NOTHING ? x->device_note
                                                                       : refusal_words(f.refusal)));
}

static void compile_row(const res_speedup_row *of, const res_execution *x, json_t *rows)
{
    json_t *row = res_row_of("compile", of, rows);
    json_object_set_new(row, "graph", res_json_text(x->graph));
    json_object_set_new(row, "graph_nodes", json_integer(x->nodes));
    const res_execution_figures f = res_pool_execution(&of->pool, &of->figures, x);
    char cache[64] = "compiled";
    if (f.compile.processes == 0)
        snprintf(cache, sizeof cache, "from disk");
    else if (f.compile.processes < of->pool.counted)
        snprintf(cache, sizeof cache, "compiled in %zu of %zu", f.compile.processes,
                 of->pool.counted);
    json_object_set_new(row, "cache", json_string(cache));
    json_object_set_new(row, "lower_ns", res_json_real(f.lower.value.estimate));
    json_object_set_new(row, "compile_ns", res_json_real(f.compile.value.estimate));
    json_object_set_new(row, "program_bytes", amount(x->text_bytes > 0 ? x->text_bytes : -1));
    json_object_set_new(row, "code_bytes", amount(x->code_bytes));
    json_object_set_new(row, "flops", res_json_real(x->flops));
    json_object_set_new(row, "memory_traffic_bytes", res_json_real(x->bytes));
    static const bn_counter counters[] = {BN_COUNTER_COMPILES, BN_COUNTER_CACHE_HITS,
                                          BN_COUNTER_DISK_HITS, BN_COUNTER_DISK_REJECTS};
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        json_object_set_new(row, bn_counter_name(counters[i]),
                            json_integer(of->record->counters[counters[i]]));
    json_object_set_new(row, "fingerprint", res_json_text(x->fingerprint));
}

static void memory_row(const res_speedup_row *of, const res_execution *x, json_t *rows)
{
    json_t *row = res_row_of("memory", of, rows);
    json_object_set_new(row, "graph", res_json_text(x->graph));
    json_object_set_new(row, "argument_bytes", amount(x->argument_bytes));
    json_object_set_new(row, "result_bytes", amount(x->result_bytes));
    json_object_set_new(row, "temp_bytes", amount(x->temp_bytes));
    json_object_set_new(row, "code_bytes", amount(x->code_bytes));
    json_object_set_new(row, "host_rss_bytes",
                        amount(res_provenance_integer(of->record, RES_PROV_MEMORY_RSS, -1)));
    json_object_set_new(row, "host_peak_rss_bytes",
                        amount(res_provenance_integer(of->record, RES_PROV_MEMORY_PEAK, -1)));
}

static void each_execution(const res_speedup_row *of, json_t *rows,
                           void (*put)(const res_speedup_row *, const res_execution *, json_t *))
{
    const res_execution **list = res_rank_executions(of->record);
    for (size_t i = 0; i < of->record->execution_count; i++)
        put(of, list[i], rows);
    free(list);
}

static void list_executions(const res_speedup_row *of, json_t *rows)
{
    each_execution(of, rows, execution_row);
}

static void list_compile(const res_speedup_row *of, json_t *rows)
{
    each_execution(of, rows, compile_row);
}

static void list_memory(const res_speedup_row *of, json_t *rows)
{
    each_execution(of, rows, memory_row);
}

/* ---- ledger ----------------------------------------------------------------------- */

/* Over the processes of POOL: the plain mean of their medians of PART, or of their means. Plain, as
 * a part may take no time at all. */
static double over_part(const res_pool *pool, bn_part part, bool of_means, double *room)
{
    for (size_t i = 0; i < pool->count; i++) {
        const res_record *record = pool->list[i].record;
        double sum = 0;
        for (size_t step = 0; of_means && step < record->step_count; step++)
            sum += (double)record->part_ns[step * BN_PART_COUNT + (size_t)part];
        room[i] = of_means ? sum / (double)record->step_count : res_part_median(record, &part, 1);
    }
    return res_pool_over(pool, room, true).value.estimate;
}

static double mean_wall(const res_pool *pool, double *room)
{
    for (size_t i = 0; i < pool->count; i++)
        room[i] = res_mean(pool->list[i].record->wall_ns, pool->list[i].record->step_count);
    return res_pool_over(pool, room, true).value.estimate;
}

static void list_ledger(const res_speedup_row *of, json_t *rows)
{
    if (of->pool.count == 0 || !res_has_ledger(of->record))
        return;
    double *room = bn_zalloc(of->pool.count, sizeof *room);
    json_t *row = res_row_of("ledger", of, rows);
    double sum = 0, mean_sum = 0;
    char key[64];
    for (int p = 0; p < BN_PART_COUNT; p++) {
        const bn_part part = (bn_part)p;
        const double median = over_part(&of->pool, part, false, room);
        const double mean = over_part(&of->pool, part, true, room);
        sum += median;
        mean_sum += mean;
        snprintf(key, sizeof key, "%s_ns", bn_part_name(part));
        json_object_set_new(row, key, res_json_real(median));
        snprintf(key, sizeof key, "%s_mean_ns", bn_part_name(part));
        json_object_set_new(row, key, res_json_real(mean));
    }
    for (size_t i = 0; i < of->pool.count; i++)
        room[i] = res_trace_hidden(&of->pool.list[i]);
    json_object_set_new(row, "trace_hidden_ns",
                        res_json_real(res_pool_over(&of->pool, room, true).value.estimate));
    json_object_set_new(row, "sum_ns", res_json_real(sum));
    json_object_set_new(row, "sum_mean_ns", res_json_real(mean_sum));
    res_json_interval(row, "wall", of->figures.wall.value);
    json_object_set_new(row, "wall_mean_ns", res_json_real(mean_wall(&of->pool, room)));
    free(room);
}

/* ---- goodput ---------------------------------------------------------------------- */

/* Sets KEY_ns and KEY_share of ROW, or with WHOLE, which is unknown, both to null. */
static void put_part(json_t *row, const char *key, double ns, double whole)
{
    char name[64];
    snprintf(name, sizeof name, "%s_ns", key);
    json_object_set_new(row, name, res_json_real(whole > 0 ? ns : (double)NAN));
    snprintf(name, sizeof name, "%s_share", key);
    json_object_set_new(row, name, res_json_real(whole > 0 ? ns / whole : (double)NAN));
}

/* The same shares by the names that ml-goodput-measurement has: sums of ours. */
static void put_badput(json_t *row, const res_goodput *g)
{
    char key[64];
    for (int c = 0; c < RES_GOODPUT_CLASS_COUNT; c++) {
        const char *name = res_goodput_badput((res_goodput_class)c);
        double sum = 0;
        for (int k = 0; k < RES_GOODPUT_CLASS_COUNT; k++)
            if (strcmp(res_goodput_badput((res_goodput_class)k), name) == 0)
                sum += g->sum.ns[k];
        snprintf(key, sizeof key, "%s_share", name);
        /* Unattributed time is a part of both. */
        const bool unknown = isnan(g->productive.estimate) &&
                             (strcmp(name, res_goodput_badput(RES_GOODPUT_PRODUCTIVE)) == 0 ||
                              strcmp(name, res_goodput_badput(RES_GOODPUT_UNATTRIBUTED)) == 0);
        json_object_set_new(
            row, key, res_json_real(g->processes && !unknown ? sum / g->sum.wall_ns : (double)NAN));
    }
}

static void list_goodput(const res_speedup_row *of, json_t *rows)
{
    res_goodput g;
    if (of->pool.count == 0)
        return;
    res_goodput_make(of, &g);
    json_t *row = res_row_of("goodput", of, rows);
    const double whole = g.processes > 0 ? g.sum.wall_ns : (double)NAN;
    json_object_set_new(row, "told", json_integer((json_int_t)g.processes));
    json_object_set_new(row, "device_of_others", json_integer((json_int_t)g.borrowed));
    json_object_set_new(row, "wall_ns", res_json_real(whole));
    json_object_set_new(row, "others_ns", res_json_real(whole > 0 ? g.others_ns : (double)NAN));
    for (int c = 0; c < RES_GOODPUT_CLASS_COUNT; c++) {
        const bool unknown = isnan(g.productive.estimate) &&
                             (c == RES_GOODPUT_PRODUCTIVE || c == RES_GOODPUT_OVERHEAD);
        put_part(row, res_goodput_name((res_goodput_class)c), g.sum.ns[c],
                 unknown ? (double)NAN : whole);
    }
    put_part(row, "steps", g.sum.steps_ns, whole);
    json_object_set_new(row, "productive_low_share", res_json_real(g.productive.low));
    json_object_set_new(row, "productive_high_share", res_json_real(g.productive.high));
    put_badput(row, &g);
}

static const res_column execution_columns[] = {
    {"graph", "graph", RES_CELL_TEXT, false},
    {"per_step", "a step", RES_CELL_COUNT, false},
    {"arguments", "args", RES_CELL_COUNT, false},
    {"results", "results", RES_CELL_COUNT, false},
    {"pjrt", "PJRT", RES_CELL_TIME, false},
    {"pjrt", "95 %", RES_CELL_RANGE, false},
    {"device", "device", RES_CELL_TIME, false},
    {"device", "95 %", RES_CELL_RANGE, false},
    {"overhead", "overhead", RES_CELL_DIFFERENCE, false},
    {"overhead", "95 %", RES_CELL_BOUNDS, false},
    {"null", "null test", RES_CELL_SHARE, false},
    {"processes", "processes", RES_CELL_COUNT, true},
    {"device_time_source", "source", RES_CELL_TEXT, false},
    {NULL, NULL, RES_CELL_TEXT, false}};

#define X(upper, lower, text) {#lower, #lower, RES_CELL_PART, false},
static const res_column ledger_columns[] = {BN_LEDGER_PARTS(X)
                                            {"trace_hidden", "of trace hidden", RES_CELL_PART, false},
                                            {"sum", "sum", RES_CELL_TIME, false},
                                            {"wall", "wall", RES_CELL_TIME, false},
                                            {"wall", "95 %", RES_CELL_RANGE, false},
                                            {"processes", "processes", RES_CELL_COUNT, true},
                                            {"sum_mean", "sum of means", RES_CELL_TIME, false},
                                            {"wall_mean", "mean wall", RES_CELL_TIME, false},
                                            {NULL, NULL, RES_CELL_TEXT, false}};
#undef X

static const res_column goodput_columns[] = {
    {"told", "processes", RES_CELL_COUNT, false},
    {"wall", "in all", RES_CELL_TIME, false},
    {"productive", "productive", RES_CELL_PERCENT, false},
    {"productive", "95 %", RES_CELL_PERCENTS, false},
    {"initialization", "initialization", RES_CELL_LOSS, false},
    {"preparation", "preparation", RES_CELL_LOSS, false},
    {"compile", "compile", RES_CELL_LOSS, false},
    {"warmup", "warm-up", RES_CELL_LOSS, false},
    {"input", "input", RES_CELL_LOSS, false},
    {"tracing", "tracing", RES_CELL_LOSS, false},
    {"overhead", "overhead", RES_CELL_LOSS, false},
    {"idle", "idle", RES_CELL_LOSS, false},
    {"measuring", "measuring", RES_CELL_LOSS, false},
    {"rest", "rest", RES_CELL_LOSS, false},
    {"untold", "unattributed", RES_CELL_LOSS, false},
    {NULL, NULL, RES_CELL_TEXT, false}};

static const res_column compile_columns[] = {{"graph", "graph", RES_CELL_TEXT, false},
                                             {"graph_nodes", "graph nodes", RES_CELL_COUNT, false},
                                             {"lower", "lowering", RES_CELL_TIME, false},
                                             {"compile", "compile", RES_CELL_TIME, false},
                                             {"program", "program", RES_CELL_SIZE, false},
                                             {"code", "code", RES_CELL_SIZE, false},
                                             {"flops", "FLOP", RES_CELL_AMOUNT, false},
                                             {"cache", "cache", RES_CELL_TEXT, false},
                                             {"compiles", "compiles", RES_CELL_COUNT, true},
                                             {"cache_hits", "hits", RES_CELL_COUNT, true},
                                             {"disk_hits", "from disk", RES_CELL_COUNT, true},
                                             {NULL, NULL, RES_CELL_TEXT, false}};

static const res_column memory_columns[] = {
    {"graph", "graph", RES_CELL_TEXT, false},       {"argument", "arguments", RES_CELL_SIZE, false},
    {"result", "results", RES_CELL_SIZE, false},    {"temp", "temporary", RES_CELL_SIZE, false},
    {"code", "code", RES_CELL_SIZE, false},         {"host_rss", "host RSS", RES_CELL_SIZE, true},
    {"host_peak_rss", "peak", RES_CELL_SIZE, true}, {NULL, NULL, RES_CELL_TEXT, false}};

/* Names the rows of which some processes failed. */
static void put_failed(const res_speedup *speedup, res_format format, bn_text *out)
{
    json_t *notes = json_array();
    res_speedup_note_failed(speedup, notes);
    res_put_notes(out, format, notes);
    json_decref(notes);
}

void res_put_list(const res_list_table *table, const res_collection *all, res_format format,
                  bn_text *out)
{
    const bool for_programs = format == RES_TABLE_JSON || format == RES_TABLE_CSV;
    res_speedup speedup;
    res_speedup_make(all, &speedup);
    res_row_group *groups = bn_zalloc(speedup.count, sizeof *groups);
    for (size_t i = 0; i < speedup.count; i++) {
        groups[i] = (res_row_group){speedup.rows[i].record, json_array()};
        if (groups[i].record->status == BN_OK)
            table->rows(&speedup.rows[i], groups[i].rows);
        else if (for_programs)
            (void)res_row_of("failure", &speedup.rows[i], groups[i].rows);
    }
    res_put_groups(table->title, groups, speedup.count, table->columns, RES_MOST_ROWS, table->notes,
                   format, out);
    if (!for_programs)
        put_failed(&speedup, format, out);
    for (size_t i = 0; i < speedup.count; i++)
        json_decref(groups[i].rows);
    free(groups);
    res_speedup_free(&speedup);
}

/* ---- the tables ------------------------------------------------------------------------- */

#define LIST_TABLE(NAME, SUMMARY, TITLE, ROWS, COLUMNS, ...)                                       \
    static void put_##NAME(const res_collection *all, res_format format, bn_text *out)             \
    {                                                                                              \
        static const res_list_table table = {TITLE, ROWS, COLUMNS, {__VA_ARGS__}};                 \
        res_put_list(&table, all, format, out);                                                    \
    }                                                                                              \
    const res_table_kind res_table_of_##NAME = {#NAME, SUMMARY, put_##NAME};

LIST_TABLE(
    executions, "PJRT time, device time, overhead", "Executions", list_executions,
    execution_columns,
    "PJRT: submit to ready, one execution awaited alone, median. device: by its source. "
    "overhead: PJRT minus device, round by round, so that medians need not add up; \"<\": "
    "indistinguishable from zero.",
    "null test: later half of the executions awaited one by one minus the earlier half, as a "
    "share of one execution; a difference from zero is disturbance.",
    "Intervals: 95 %, Student's t over the processes, or over the means of runs where there are "
    "several; fewer than three have none.",
    res_times_note)

LIST_TABLE(ledger, "medians of a step's parts", "Ledger of a step", list_ledger, ledger_columns,
           "Parts: medians over the steps, mean over the processes; each nanosecond is in one part "
           "only, "
           "so means add up to the mean wall time, medians need not.",
           "sum: of the medians; an empty part is zero.", res_times_note)

LIST_TABLE(
    goodput, "what of all wall time was device work of steps, and where the rest went", "Goodput",
    list_goodput, goodput_columns,
    "in all: wall time of the processes, without their work for other experiments. All shares "
    "are "
    "of it, and sum to 100 %.",
    "productive: device time of the measured steps, and nothing else. The rest is lost; in steps "
    "only the time for which the device waited.",
    "measuring: probes, discarded steps and figures. unattributed: device work and overhead "
    "together, where the device time is unknown.",
    "Interval: 95 %, Student's t over the processes, or over the means of runs where there are "
    "several; fewer than three have none. The first process of a run compiles, others load.")

LIST_TABLE(compile, "", "Compilation", list_compile, compile_columns,
           "lowering, compile: of the processes that compiled; program: StableHLO text; code: the "
           "compiler's "
           "figure. compiles, hits, from disk: of the whole experiment.")

LIST_TABLE(
    memory, "", "Memory", list_memory, memory_columns,
    "arguments, results, temporary, code: the compiler's figures of one execution. host RSS: "
    "of the latest worker process after the experiment, with the plugin in it.")
