/*
 * export_bench.c - the formats of general benchmark tools: google/benchmark's JSON
 * (read by its tools/compare.py), the text of Go's benchmarks (benchstat) and
 * hyperfine's --export-json (read by its scripts).
 */
#include "results/exports/exports_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Definition of the processor's time, in both formats that have one. */
static const char cpu_time_note[] =
    "cpu_time (hyperfine: user) is the wall time minus the ledger's part wait: the time in which "
    "the host's thread was busy; results without a ledger have the wall time there";

/* Definition of the formats' median. */
static const char median_note[] =
    "as in all tables of bench: the mean of the middle half of the medians of rounds (up to six "
    "rounds: their median), or of a result without rounds the median of its steps";

/* ---- google/benchmark ----------------------------------------------------------------- */

/* The members of google/benchmark's own context, then ours. */
static json_t *context_json(const res_collection *all)
{
    const res_record *last = all->count > 0 ? all->records[all->count - 1] : NULL;
    json_t *context = json_object();
    json_t *cores = last ? res_provenance(last, RES_PROV_HOST_CORES) : NULL;
    char date[32] = "";
    bool simulated = false;
    if (last)
        res_export_date(last, date);
    for (size_t i = 0; i < all->count; i++)
        simulated = simulated || all->records[i]->simulated;
    json_object_set_new(context, "date", json_string(date));
    json_object_set(context, "host_name", last ? res_provenance(last, RES_PROV_HOST_NAME) : NULL);
    json_object_set_new(context, "executable", json_string("bench"));
    json_object_set_new(context, "num_cpus", cores ? json_incref(cores) : json_integer(0));
    json_object_set_new(context, "caches", json_array());
    json_object_set_new(context, "json_schema_version", json_integer(1));
    json_object_set_new(context, "cpu_time", json_string(cpu_time_note));
    json_object_set_new(context, "median", json_string(median_note));
    json_object_set_new(context, "holds_simulated_results", json_boolean(simulated));
    json_object_set_new(context, "records", res_export_context(all));
    return context;
}

/* The first members of every entry of RECORD. */
static json_t *entry_json(const res_record *record, const char *name, size_t family)
{
    bn_text label = {0};
    res_export_label(record, &label);
    json_t *entry = json_pack("{s:s, s:I, s:i, s:s, s:I, s:i}", "name", name, "family_index",
                              (json_int_t)family, "per_family_instance_index", 0, "run_name", name,
                              "repetitions", (json_int_t)record->step_count, "threads", 1);
    if (label.length > 0)
        json_object_set_new(entry, "label", json_string(label.data));
    json_object_set_new(entry, "record", json_string(record->id));
    bn_text_free(&label);
    return entry;
}

static void set_times(json_t *entry, double real_ns, double busy_ns)
{
    json_object_set_new(entry, "real_time", json_real(real_ns));
    json_object_set_new(entry, "cpu_time", json_real(busy_ns));
    json_object_set_new(entry, "time_unit", json_string("ns"));
}

/* LEDGER: the record has one. To ask that for each step would be to look at all steps each time. */
static json_t *step_json(const res_record *record, const char *name, size_t family, size_t step,
                         bool ledger)
{
    json_t *entry = entry_json(record, name, family);
    json_object_set_new(entry, "run_type", json_string("iteration"));
    json_object_set_new(entry, "repetition_index", json_integer((json_int_t)step));
    json_object_set_new(entry, "iterations", json_integer(1));
    set_times(entry, (double)record->wall_ns[step], (double)res_export_busy_ns(record, step));
    for (int p = 0; p < BN_PART_COUNT && ledger; p++) {
        char key[64];
        snprintf(key, sizeof key, "%s_ns", bn_part_name((bn_part)p));
        json_object_set_new(
            entry, key,
            json_integer((json_int_t)record->part_ns[step * BN_PART_COUNT + (size_t)p]));
    }
    return entry;
}

static json_t *aggregate_json(const res_record *record, const char *name, size_t family,
                              const char *aggregate, double real_ns, double busy_ns)
{
    json_t *entry = entry_json(record, name, family);
    bn_text full = {0};
    bn_text_printf(&full, "%s_%s", name, aggregate);
    json_object_set_new(entry, "name", json_string(full.data));
    json_object_set_new(entry, "run_type", json_string("aggregate"));
    json_object_set_new(entry, "aggregate_name", json_string(aggregate));
    json_object_set_new(entry, "aggregate_unit", json_string("time"));
    json_object_set_new(entry, "iterations", json_integer((json_int_t)record->step_count));
    set_times(entry, real_ns, busy_ns);
    bn_text_free(&full);
    return entry;
}

/* Adds ENTRY, which is released, to the list at the end of OUT. */
static void put_entry(bn_text *out, json_t *entry)
{
    char *text = json_dumps(entry, RES_JSON_SHOWN);
    /* There are many steps: each becomes text at once, without a tree of all. */
    bn_text_puts(out, out->length > 0 && out->data[out->length - 1] == '[' ? "\n" : ",\n");
    bn_text_puts(out, text);
    free(text);
    json_decref(entry);
}

static void put_record(const res_record *record, size_t family, bn_text *out)
{
    const size_t count = record->step_count;
    const bool ledger = res_has_ledger(record);
    bn_text name = {0};
    uint64_t *busy = bn_zalloc(count, sizeof *busy);
    const uint64_t *wall = record->wall_ns;
    res_export_name(record, ':', &name);
    for (size_t i = 0; i < count; i++) {
        busy[i] = res_export_busy_ns(record, i);
        put_entry(out, step_json(record, name.data, family, i, ledger));
    }
    put_entry(out, aggregate_json(record, name.data, family, "mean", res_mean(wall, count),
                                  res_mean(busy, count)));
    put_entry(out, aggregate_json(record, name.data, family, "median",
                                  res_step_median(record, wall), res_step_median(record, busy)));
    if (count > 1)
        put_entry(out, aggregate_json(record, name.data, family, "stddev",
                                      res_deviation(wall, count), res_deviation(busy, count)));
    free(busy);
    bn_text_free(&name);
}

/* Adds VALUE, which is released, as the member NAME to the object at the end of OUT. */
static void put_member(bn_text *out, const char *name, json_t *value)
{
    char *text = json_dumps(value, RES_JSON_SHOWN);
    bn_text_printf(out, "\"%s\": %s,\n", name, text);
    free(text);
    json_decref(value);
}

/* Each step is an entry, a repetition of its benchmark, so that compare.py's U test has all of
 * them. Failures stand apart: the tool wants a time of each entry. */
static void write_google_benchmark(const res_collection *all, res_export *export)
{
    bn_text *out = res_export_add(export, "%s", "");
    bn_text_puts(out, "{\n");
    put_member(out, "context", context_json(all));
    put_member(out, "failures", res_export_failures(all));
    bn_text_puts(out, "\"benchmarks\": [");
    for (size_t i = 0; i < all->count; i++)
        if (res_record_good(all->records[i]))
            put_record(all->records[i], i, out);
    bn_text_puts(out, "\n]\n}\n");
}

const res_export_format res_export_google_benchmark = {"google-benchmark", false,
                                                       write_google_benchmark};

/* ---- benchstat -------------------------------------------------------------------------- */

/* Adds a configuration line. Without a value it takes the key back. */
static void config_line(bn_text *out, const char *key, const char *value)
{
    bn_text_printf(out, "%s:%s", key, value[0] != '\0' ? " " : "");
    bn_text_plain(out, value);
    bn_text_putc(out, '\n');
}

/* Adds lines that benchstat skips: the build, and the failure. A runtime's message may have several
 * lines, which must not become results. */
static void comment_lines(bn_text *out, const res_record *record)
{
    bn_text name = {0};
    bn_text_printf(out, "# %s %s sha256 ", record->id, bn_code_name(record->status));
    bn_text_plain(out, res_plugin_sha256(record));
    bn_text_puts(out, " label ");
    bn_text_plain(out, res_provenance_text(record, RES_PROV_RUNTIME_LABEL));
    bn_text_putc(out, '\n');
    if (res_record_good(record))
        return;
    res_export_name(record, '=', &name);
    bn_text_printf(out, "# failed: %s: ", name.data);
    bn_text_plain(out, record->message);
    bn_text_putc(out, '\n');
    bn_text_free(&name);
}

static void go_lines(const res_record *record, bn_text *out)
{
    const bool ledger = res_has_ledger(record);
    bn_text name = {0};
    res_export_name(record, '=', &name);
    /* A benchmark's name begins with a capital; parts after a slash are key=value. */
    if (name.data[0] >= 'a' && name.data[0] <= 'z')
        name.data[0] = (char)(name.data[0] - 'a' + 'A');
    for (size_t step = 0; step < record->step_count; step++) {
        bn_text_printf(out, "Benchmark%s 1 %llu ns/op", name.data,
                       (unsigned long long)record->wall_ns[step]);
        for (size_t p = 0; p < BN_PART_COUNT && ledger; p++)
            bn_text_printf(out, " %llu %s-ns/op",
                           (unsigned long long)record->part_ns[step * BN_PART_COUNT + p],
                           bn_part_name((bn_part)p));
        bn_text_putc(out, '\n');
    }
    bn_text_free(&name);
}

/* Writes lines of golang.org/x/perf/benchfmt. benchstat makes a table of each configuration, so
 * only what two runs of a comparison share is configuration. The build and the failures are lines
 * that it skips. */
static void write_benchstat(const res_collection *all, res_export *export)
{
    bn_text *out = res_export_add(export, "%s", "");
    for (size_t i = 0; i < all->count; i++) {
        const res_record *record = all->records[i];
        bn_text label = {0};
        comment_lines(out, record);
        if (!res_record_good(record))
            continue;
        res_export_label(record, &label);
        config_line(out, "cpu", res_provenance_text(record, RES_PROV_HOST_CPU));
        config_line(out, "platform", res_export_platform(record));
        config_line(out, "not-measured-on-hardware", label.data);
        go_lines(record, out);
        bn_text_free(&label);
    }
}

const res_export_format res_export_benchstat = {"benchstat", false, write_benchstat};

/* ---- hyperfine ----------------------------------------------------------------------------- */

static json_t *seconds(const uint64_t *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_real((double)values[i] / 1e9));
    return list;
}

static json_t *parameters_json(const res_record *record)
{
    json_t *members = res_export_members(record), *texts = json_object(), *value;
    const char *key;
    json_object_foreach(members, key, value)
    {
        char digits[24];
        snprintf(digits, sizeof digits, "%lld", (long long)json_integer_value(value));
        json_object_set_new(texts, key,
                            json_string(json_is_string(value) ? json_string_value(value) : digits));
    }
    json_object_set_new(texts, "simulated", json_string(record->simulated ? "true" : "false"));
    json_decref(members);
    return texts;
}

static json_t *result_json(const res_record *record)
{
    const size_t count = record->step_count;
    const uint64_t *wall = record->wall_ns;
    json_t *result = json_object(), *codes = json_array();
    bn_text name = {0};
    double busy = 0;
    for (size_t i = 0; i < count; i++) {
        busy += (double)res_export_busy_ns(record, i);
        json_array_append_new(codes, json_integer(0));
    }
    res_export_name(record, ':', &name);
    json_object_set_new(result, "command", json_string(name.data));
    json_object_set_new(result, "mean", res_json_real(res_mean(wall, count) / 1e9));
    json_object_set_new(result, "stddev", res_json_real(res_deviation(wall, count) / 1e9));
    json_object_set_new(result, "median", res_json_real(res_step_median(record, wall) / 1e9));
    json_object_set_new(result, "user", res_json_real(busy / (double)count / 1e9));
    json_object_set_new(result, "system", json_real(0));
    json_object_set_new(result, "min", res_json_real(res_quantile(wall, count, 0) / 1e9));
    json_object_set_new(result, "max", res_json_real(res_quantile(wall, count, 1) / 1e9));
    json_object_set_new(result, "times", seconds(wall, count));
    json_object_set_new(result, "exit_codes", codes);
    json_object_set_new(result, "parameters", parameters_json(record));
    json_object_set_new(result, "record", json_string(record->id));
    bn_text_free(&name);
    return result;
}

/* hyperfine times a command; here a step stands for a run of it. */
static void write_hyperfine(const res_collection *all, res_export *export)
{
    json_t *results = json_array();
    for (size_t i = 0; i < all->count; i++)
        if (res_record_good(all->records[i]))
            json_array_append_new(results, result_json(all->records[i]));
    res_export_put(res_export_add(export, "%s", ""),
                   json_pack("{s:o, s:s, s:s, s:o, s:o}", "results", results, "user_is",
                             cpu_time_note, "median_is", median_note, "failures",
                             res_export_failures(all), "records", res_export_context(all)));
}

const res_export_format res_export_hyperfine = {"hyperfine", false, write_hyperfine};
