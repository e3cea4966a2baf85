/*
 * export_trace.c - every sample on its own: a tidy CSV, and the steps' ledgers as a
 * timeline in Chrome's trace event format (opens in Perfetto and chrome://tracing).
 */
#include "results/exports/exports_priv.h"
#include "results/traces/traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- CSV --------------------------------------------------------------------------------- */

/* Puts the cells with which all lines of RECORD begin, a comma after each; with NULL their
 * heads. */
static void csv_record(const res_record *record, bn_text *out)
{
    static const res_experiment nothing;
    const res_experiment *e = record ? &record->experiment : &nothing;
    json_t *members = res_experiment_to_json(e), *value;
    const char *key;
    json_object_foreach(members, key, value)
    {
        if (!record)
            bn_text_puts(out, key);
        else if (json_is_string(value))
            res_put_csv(out, json_string_value(value));
        else
            bn_text_int(out, json_integer_value(value));
        bn_text_putc(out, ',');
    }
    json_decref(members);
    if (!record) {
        bn_text_puts(out, "plugin_sha256,label,simulated,values,id,status,message,");
        return;
    }
    res_put_csv(out, res_plugin_sha256(record));
    bn_text_putc(out, ',');
    res_put_csv(out, res_provenance_text(record, RES_PROV_RUNTIME_LABEL));
    bn_text_puts(out, record->simulated ? ",true," : ",false,");
    res_put_csv(out, record->values);
    bn_text_putc(out, ',');
    res_put_csv(out, record->id);
    bn_text_printf(out, ",%s,", bn_code_name(record->status));
    res_put_csv(out, record->message);
    bn_text_putc(out, ',');
}

/* Adds a line: the kind of the sample, its number and wall time, and the ledger's parts if there
 * are any. */
static void csv_sample(const bn_text *start, const char *sample, const char *graph, size_t index,
                       uint64_t wall_ns, const uint64_t *parts, bn_text *out)
{
    bn_text_append(out, start->data, start->length);
    bn_text_printf(out, "%s,", sample);
    res_put_csv(out, graph);
    bn_text_printf(out, ",%zu,%llu", index, (unsigned long long)wall_ns);
    for (size_t p = 0; p < BN_PART_COUNT; p++) {
        bn_text_putc(out, ',');
        if (parts)
            bn_text_printf(out, "%llu", (unsigned long long)parts[p]);
    }
    bn_text_putc(out, '\n');
}

static void csv_samples(const res_record *record, bn_text *out)
{
    bn_text start = {0};
    const bool ledger = res_has_ledger(record);
    const size_t before = out->length;
    csv_record(record, &start);
    for (size_t i = 0; i < record->warmup_count; i++)
        csv_sample(&start, "warmup", "", i, record->warmup_wall_ns[i], NULL, out);
    for (size_t i = 0; i < record->step_count; i++)
        csv_sample(&start, "step", "", i, record->wall_ns[i],
                   ledger ? record->part_ns + i * BN_PART_COUNT : NULL, out);
    for (size_t x = 0; x < record->execution_count; x++) {
        const res_execution *execution = &record->executions[x];
        for (size_t i = 0; i < execution->pjrt_count; i++)
            csv_sample(&start, "execution", execution->graph, i, execution->pjrt_ns[i], NULL, out);
    }
    /* An experiment that failed before it had a sample still has a line. */
    if (out->length == before) {
        bn_text_append(out, start.data, start.length);
        bn_text_puts(out, "none,,,");
        for (size_t p = 0; p < BN_PART_COUNT; p++)
            bn_text_putc(out, ',');
        bn_text_putc(out, '\n');
    }
    bn_text_free(&start);
}

static void write_csv(const res_collection *all, res_export *export)
{
    bn_text *out = res_export_add(export, "%s", "");
    csv_record(NULL, out);
    bn_text_puts(out, "sample,graph,number,wall_ns");
    for (int p = 0; p < BN_PART_COUNT; p++)
        bn_text_printf(out, ",%s_ns", bn_part_name((bn_part)p));
    bn_text_putc(out, '\n');
    for (size_t i = 0; i < all->count; i++)
        csv_samples(all->records[i], out);
}

const res_export_format res_export_csv = {"csv", false, write_csv};

/* ---- trace events -------------------------------------------------------------------------- */

enum { LANE_STEPS = 1, LANE_LEDGER = 2, LANE_EXECUTIONS = 3 };

static void put_event(res_trace *out, const char *name, size_t process, int lane, uint64_t start_ns,
                      uint64_t duration_ns)
{
    char *quoted = res_trace_quote(name);
    res_trace_slice(out, quoted, process, (uint64_t)lane, start_ns, start_ns + duration_ns);
    bn_text_puts(&out->text, ",\"cat\":\"bench\"}");
    free(quoted);
}

static void put_steps(const res_record *record, size_t process, res_trace *out)
{
    const bool ledger = res_has_ledger(record);
    uint64_t now = 0;
    for (size_t i = 0; i < record->warmup_count; i++) {
        put_event(out, "warm-up step", process, LANE_STEPS, now, record->warmup_wall_ns[i]);
        now += record->warmup_wall_ns[i];
    }
    for (size_t i = 0; i < record->step_count; i++) {
        uint64_t part_start = now;
        char name[32];
        snprintf(name, sizeof name, "step %zu", i);
        put_event(out, name, process, LANE_STEPS, now, record->wall_ns[i]);
        for (size_t p = 0; p < BN_PART_COUNT && ledger; p++) {
            uint64_t part_ns = record->part_ns[i * BN_PART_COUNT + p];
            if (part_ns > 0)
                put_event(out, bn_part_name((bn_part)p), process, LANE_LEDGER, part_start, part_ns);
            part_start += part_ns;
        }
        now += record->wall_ns[i];
    }
}

static void put_executions(const res_record *record, size_t process, res_trace *out)
{
    uint64_t now = 0;
    for (size_t x = 0; x < record->execution_count; x++) {
        const res_execution *execution = &record->executions[x];
        for (size_t i = 0; i < execution->pjrt_count; i++) {
            put_event(out, execution->graph, process, LANE_EXECUTIONS, now, execution->pjrt_ns[i]);
            now += execution->pjrt_ns[i];
        }
    }
}

/* Each record is a process. The ledger has the duration of each part of a step, not its start:
 * parts stand in the ledger's order, and steps one after the other from zero. */
static void write_chrome_trace(const res_collection *all, res_export *export)
{
    static const char about[] =
        "Durations are measured; starts are not: parts stand in the ledger's order within their "
        "step, steps and executions one after the other from zero.";
    res_trace trace = {0};
    res_trace_head(&trace, json_pack("{s:s, s:o, s:o}", "about", about, "failures",
                                     res_export_failures(all), "records", res_export_context(all)));
    for (size_t i = 0; i < all->count; i++) {
        const res_record *record = all->records[i];
        bn_text name = {0};
        if (!res_record_good(record))
            continue;
        res_export_name(record, ':', &name);
        res_trace_name(&trace, "process_name", i + 1, 0, name.data);
        res_trace_name(&trace, "thread_name", i + 1, LANE_STEPS, "steps");
        res_trace_name(&trace, "thread_name", i + 1, LANE_LEDGER, "ledger");
        res_trace_name(&trace, "thread_name", i + 1, LANE_EXECUTIONS, "executions alone");
        put_steps(record, i + 1, &trace);
        put_executions(record, i + 1, &trace);
        bn_text_free(&name);
    }
    res_trace_tail(&trace);
    *res_export_add(export, "%s", "") = trace.text;
}

const res_export_format res_export_chrome_trace = {"chrome-trace", false, write_chrome_trace};
