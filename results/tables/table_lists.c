/* table_lists.c - the tables beside the speedup table: executions, ledger, compile, memory. They
 * are of the records that the speedup table shows. */
#include "results/tables/tables_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds RECORD's rows to ROWS. */
typedef void list_rows(const res_record *record, json_t *rows);

static json_t *row_of(const char *kind, const res_record *record, json_t *rows)
{
    json_t *row = json_object();
    res_json_identity(row, kind, record);
    json_array_append_new(rows, row);
    return row;
}

static json_t *amount(int64_t bytes)
{
    return bytes >= 0 ? json_integer(bytes) : json_null();
}

/* ---- executions ------------------------------------------------------------------- */

static void execution_row(const res_record *record, const res_execution *x, json_t *rows)
{
    json_t *row = row_of("execution", record, rows);
    json_object_set_new(row, "graph", res_json_text(x->graph));
    json_object_set_new(row, "per_step", json_integer(x->per_step));
    json_object_set_new(row, "nodes", json_integer(x->nodes));
    json_object_set_new(row, "arguments", json_integer(x->arguments));
    json_object_set_new(row, "results", json_integer(x->results));
    json_object_set_new(row, "pjrt_samples", json_integer((json_int_t)x->pjrt_count));
    res_json_interval(row, "pjrt", res_median_interval(x->pjrt_ns, x->pjrt_count));
    const bool known = x->device_source != BN_DEVICE_TIME_UNAVAILABLE;
    const res_interval none = {(double)NAN, (double)NAN, (double)NAN};
    const res_interval device = {x->device_ns, x->device_low_ns, x->device_high_ns};
    res_json_interval(row, "device", known ? device : none);
    res_json_interval(row, "overhead", res_execution_overhead(x));
    json_object_set_new(row, "device_time_source",
                        json_string(bn_device_time_source_name(x->device_source)));
    json_object_set_new(row, "device_note", res_json_text(x->device_note));
}

static void compile_row(const res_record *record, const res_execution *x, json_t *rows)
{
    json_t *row = row_of("compile", record, rows);
    json_object_set_new(row, "graph", res_json_text(x->graph));
    json_object_set_new(row, "nodes", json_integer(x->nodes));
    json_object_set_new(row, "cache", json_string(x->from_disk ? "from disk" : "compiled"));
    json_object_set_new(row, "lower_ns",
                        x->from_disk ? json_null() : json_integer((json_int_t)x->lower_ns));
    json_object_set_new(row, "compile_ns",
                        x->from_disk ? json_null() : json_integer((json_int_t)x->compile_ns));
    json_object_set_new(row, "program_bytes", amount(x->text_bytes > 0 ? x->text_bytes : -1));
    json_object_set_new(row, "code_bytes", amount(x->code_bytes));
    json_object_set_new(row, "flops", res_json_real(x->flops));
    json_object_set_new(row, "memory_traffic_bytes", res_json_real(x->bytes));
    static const bn_counter counters[] = {BN_COUNTER_COMPILES, BN_COUNTER_CACHE_HITS,
                                          BN_COUNTER_DISK_HITS, BN_COUNTER_DISK_REJECTS};
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        json_object_set_new(row, bn_counter_name(counters[i]),
                            json_integer(record->counters[counters[i]]));
    json_object_set_new(row, "fingerprint", res_json_text(x->fingerprint));
}

static void memory_row(const res_record *record, const res_execution *x, json_t *rows)
{
    const json_t *memory = json_object_get(record->provenance, "memory");
    const json_t *rss = json_object_get(memory, "rss_bytes");
    const json_t *peak = json_object_get(memory, "peak_rss_bytes");
    json_t *row = row_of("memory", record, rows);
    json_object_set_new(row, "graph", res_json_text(x->graph));
    json_object_set_new(row, "argument_bytes", amount(x->argument_bytes));
    json_object_set_new(row, "result_bytes", amount(x->result_bytes));
    json_object_set_new(row, "temp_bytes", amount(x->temp_bytes));
    json_object_set_new(row, "code_bytes", amount(x->code_bytes));
    json_object_set_new(row, "host_rss_bytes", amount(rss ? json_integer_value(rss) : -1));
    json_object_set_new(row, "host_peak_rss_bytes", amount(peak ? json_integer_value(peak) : -1));
}

static void each_execution(const res_record *record, json_t *rows,
                           void (*put)(const res_record *, const res_execution *, json_t *))
{
    const res_execution **list = res_rank_executions(record);
    for (size_t i = 0; list && i < record->execution_count; i++)
        put(record, list[i], rows);
    free(list);
}

static void list_executions(const res_record *record, json_t *rows)
{
    each_execution(record, rows, execution_row);
}

static void list_compile(const res_record *record, json_t *rows)
{
    each_execution(record, rows, compile_row);
}

static void list_memory(const res_record *record, json_t *rows)
{
    each_execution(record, rows, memory_row);
}

/* ---- ledger ----------------------------------------------------------------------- */

static void list_ledger(const res_record *record, json_t *rows)
{
    uint64_t *series = calloc(record->step_count + 1, sizeof *series);
    if (!series || record->step_count == 0 || !res_has_ledger(record)) {
        free(series);
        return;
    }
    json_t *row = row_of("ledger", record, rows);
    double sum = 0, mean_sum = 0;
    char key[64];
    for (int p = 0; p < BN_PART_COUNT; p++) {
        const bn_part part = (bn_part)p;
        res_part_series(record, &part, 1, series);
        const double median = res_quantile(series, record->step_count, 0.5);
        const double mean = res_mean(series, record->step_count);
        sum += median;
        mean_sum += mean;
        snprintf(key, sizeof key, "%s_ns", bn_part_name(part));
        json_object_set_new(row, key, res_json_real(median));
        snprintf(key, sizeof key, "%s_mean_ns", bn_part_name(part));
        json_object_set_new(row, key, res_json_real(mean));
    }
    json_object_set_new(row, "sum_ns", res_json_real(sum));
    json_object_set_new(row, "sum_mean_ns", res_json_real(mean_sum));
    res_json_interval(row, "wall", res_median_interval(record->wall_ns, record->step_count));
    json_object_set_new(row, "wall_mean_ns",
                        res_json_real(res_mean(record->wall_ns, record->step_count)));
    free(series);
}

/* ---- the tables --------------------------------------------------------------------- */

typedef struct list_table {
    const char *name, *title;
    list_rows *rows;
    const res_column *columns;
    const char *notes[4];
} list_table;

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
    {"overhead", "95 %", RES_CELL_RANGE, false},
    {"device_time_source", "source", RES_CELL_TEXT, false},
    {NULL, NULL, RES_CELL_TEXT, false}};

#define X(upper, lower, text) {#lower, #lower, RES_CELL_PART, false},
static const res_column ledger_columns[] = {BN_LEDGER_PARTS(X){"sum", "sum", RES_CELL_TIME, false},
                                            {"wall", "wall", RES_CELL_TIME, false},
                                            {"wall", "95 %", RES_CELL_RANGE, false},
                                            {"sum_mean", "sum of means", RES_CELL_TIME, false},
                                            {"wall_mean", "mean wall", RES_CELL_TIME, false},
                                            {NULL, NULL, RES_CELL_TEXT, false}};
#undef X

static const res_column compile_columns[] = {
    {"graph", "graph", RES_CELL_TEXT, false},         {"nodes", "nodes", RES_CELL_COUNT, false},
    {"lower", "lowering", RES_CELL_TIME, false},      {"compile", "compile", RES_CELL_TIME, false},
    {"program", "program", RES_CELL_SIZE, false},     {"code", "code", RES_CELL_SIZE, false},
    {"flops", "FLOP", RES_CELL_AMOUNT, false},        {"cache", "cache", RES_CELL_TEXT, false},
    {"compiles", "compiles", RES_CELL_COUNT, true},   {"cache_hits", "hits", RES_CELL_COUNT, true},
    {"disk_hits", "from disk", RES_CELL_COUNT, true}, {NULL, NULL, RES_CELL_TEXT, false}};

static const res_column memory_columns[] = {
    {"graph", "graph", RES_CELL_TEXT, false},       {"argument", "arguments", RES_CELL_SIZE, false},
    {"result", "results", RES_CELL_SIZE, false},    {"temp", "temporary", RES_CELL_SIZE, false},
    {"code", "code", RES_CELL_SIZE, false},         {"host_rss", "host RSS", RES_CELL_SIZE, true},
    {"host_peak_rss", "peak", RES_CELL_SIZE, true}, {NULL, NULL, RES_CELL_TEXT, false}};

static const list_table tables[] = {
    {"executions",
     "Executions",
     list_executions,
     execution_columns,
     {"PJRT: submit to ready, one execution awaited alone, median. device: by its source. "
      "overhead: PJRT less device; \"<\": not told from zero."}},
    {"ledger",
     "Ledger of a step",
     list_ledger,
     ledger_columns,
     {"Parts: medians over the steps; each nanosecond is in one part only, so means add up to "
      "the mean wall time, medians need not.",
      "sum: of the medians; an empty part is zero."}},
    {"compile",
     "Compilation",
     list_compile,
     compile_columns,
     {"lowering, compile: of the first compile; program: StableHLO text; code: the compiler's "
      "figure. compiles, hits, from disk: of the whole experiment."}},
    {"memory",
     "Memory",
     list_memory,
     memory_columns,
     {"arguments, results, temporary, code: the compiler's figures of one execution. host RSS: "
      "of the worker's process after the experiment, with the plugin in it."}},
};
#define TABLES (sizeof tables / sizeof *tables)

static bool put_list(const list_table *table, const res_collection *all, res_format format,
                     bn_text *out)
{
    res_speedup speedup;
    if (!res_speedup_make(all, &speedup))
        return false;
    res_row_group *groups = calloc(speedup.count + 1, sizeof *groups);
    for (size_t i = 0; groups && i < speedup.count; i++) {
        groups[i] = (res_row_group){speedup.rows[i].record, json_array()};
        if (groups[i].record->status == BN_OK)
            table->rows(groups[i].record, groups[i].rows);
    }
    if (groups)
        res_put_groups(table->title, groups, speedup.count, table->columns, RES_MOST_ROWS,
                       table->notes, format, out);
    for (size_t i = 0; groups && i < speedup.count; i++)
        json_decref(groups[i].rows);
    bool made = groups != NULL;
    free(groups);
    res_speedup_free(&speedup);
    return made;
}

static const list_table *find(const char *name)
{
    for (size_t i = 0; i < TABLES; i++)
        if (strcmp(tables[i].name, name) == 0)
            return &tables[i];
    return NULL;
}

bn_code res_table_check(const char *name, bn_status *st)
{
    if (strcmp(name, "speedup") == 0 || find(name))
        return BN_OK;
    return bn_fail(st, BN_INVALID,
                   "table \"%s\" is not one of speedup, executions, ledger, compile, memory", name);
}

void res_table(const char *name, const res_collection *all, res_format format, bn_text *out)
{
    const list_table *table = find(name);
    if (!table)
        res_table_speedup(all, format, out);
    else if (!put_list(table, all, format, out))
        out->failed = true;
}
