/*
 * export_pytorch.c - results as PyTorch's own benchmark jobs write them: the JSON lines of
 * pytorch/xla's benchmarks (read by its aggregate.py and result_analyzer.py), the metrics of
 * pytorch/benchmark's user benchmarks (read by its regression_detector.py), and the records
 * of PyTorch's benchmark database, version 3 (read by pytorch/test-infra's
 * upload_benchmark_results.py), which hold samples.
 */
#include "results/exports/exports_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The model's name, with all members that the format has no fields for: two experiments never share
 * one. */
static void put_model(const res_record *record, bn_text *name)
{
    json_t *members = res_export_members(record), *value;
    const char *key;
    bn_text_puts(name, record->experiment.model);
    json_object_foreach(members, key, value)
    {
        if (strcmp(key, "batch") == 0 || strcmp(key, "runtime") == 0 ||
            (strcmp(key, "graphs") == 0 && json_integer_value(value) == 1) ||
            (strcmp(key, "variant") == 0 && strcmp(json_string_value(value), "full") == 0))
            continue;
        bn_text_printf(name, "/%s:", key);
        if (json_is_string(value))
            bn_text_puts(name, json_string_value(value));
        else
            bn_text_int(name, json_integer_value(value));
    }
    if (record->simulated)
        bn_text_puts(name, "/simulated");
    json_decref(members);
}

static const char *platform(const res_record *record)
{
    const char *name = res_export_platform(record);
    return name[0] != '\0' ? name : record->experiment.runtime;
}

static bool is_training(const res_record *record)
{
    return strcmp(record->experiment.phase, "train") == 0;
}

/* What these formats call the record's phase; they have no word for decode, which is no other
 * evaluation. */
static const char *test_of(const res_record *record)
{
    const bool decode = strcmp(record->experiment.phase, "decode") == 0;
    return decode ? "decode" : is_training(record) ? "train" : "eval";
}

/* The end of the build that begins at FIRST of COUNT keys. */
static size_t build_end(const res_export_key *keys, size_t first, size_t count)
{
    size_t end = first + 1;
    while (end < count && strcmp(keys[end].commit, keys[first].commit) == 0)
        end++;
    return end;
}

/* ---- pytorch/xla ------------------------------------------------------------------------ */

/* Sets "xla" and "dynamo", which stand for the mode in that format. Capture is what dynamo does,
 * and a program is a captured graph. Eager runs op by op on the runtime, for which
 * the format has no value: no tracer at all comes nearest. Imports may have inductor. A recording
 * has its own member for captured graphs. */
static void set_mode(json_t *e, const res_record *record)
{
    const char *mode = record->experiment.mode;
    const char *way = res_provenance_text(record, RES_PROV_RECORDING_WAY);
    const bool inductor = strcmp(mode, "inductor") == 0;
    const bool captured = strcmp(mode, "capture") == 0 || strcmp(mode, "program") == 0 ||
                          (strcmp(mode, "recorded") == 0 && strcmp(way, "captured") == 0);
    json_object_set_new(e, "xla",
                        inductor || strcmp(mode, "eager") == 0 ? json_null() : json_string("PJRT"));
    json_object_set_new(e, "dynamo",
                        inductor   ? json_string("inductor")
                        : captured ? json_string("openxla")
                                   : json_null());
}

static json_t *xla_experiment_json(const res_record *record)
{
    const char *device = res_export_device(record);
    bn_text label = {0};
    res_export_label(record, &label);
    json_t *e = json_object();
    json_object_set_new(e, "experiment_name", json_string("bench"));
    json_object_set_new(e, "accelerator", res_json_text(platform(record)));
    json_object_set_new(e, "accelerator_model", res_json_text(device));
    set_mode(e, record);
    json_object_set_new(e, "xla_flags",
                        record->experiment.settings[0] != '\0'
                            ? res_json_text(record->experiment.settings)
                            : json_null());
    json_object_set_new(e, "torch_xla2", json_null());
    json_object_set_new(e, "test", json_string(test_of(record)));
    const int batch = record->experiment.batch;
    json_object_set_new(e, "batch_size", batch > 0 ? json_integer(batch) : json_null());
    json_object_set_new(e, "enable_functionalization", json_null());
    json_object_set_new(e, "not_measured_on_hardware", json_string(label.data));
    bn_text_free(&label);
    return e;
}

/* Warm-up comes first, as there: the first time includes the compiles. */
static json_t *xla_metrics_json(const res_record *record)
{
    if (!res_record_good(record)) {
        bn_text why = {0};
        bn_text_printf(&why, "%s: %s", bn_code_name(record->status), record->message);
        json_t *metrics = json_pack("{s:o}", "error", res_json_text(why.data));
        bn_text_free(&why);
        return metrics;
    }
    json_t *total = json_array(), *per = json_array();
    for (size_t i = 0; i < record->warmup_count; i++)
        json_array_append_new(total, json_real((double)record->warmup_wall_ns[i] / 1e9));
    for (size_t i = 0; i < record->step_count; i++)
        json_array_append_new(total, json_real((double)record->wall_ns[i] / 1e9));
    json_array_extend(per, total);
    return json_pack("{s:o, s:o}", "total_time", total, "per_iter_time", per);
}

/* Adds the line of RECORD. Records that are compared there have one time, that of the run:
 * TIME_S. */
static void put_xla_line(const res_record *record, double time_s, bn_text *out)
{
    bn_text model = {0};
    put_model(record, &model);
    json_t *line = json_object();
    json_object_set_new(line, "model",
                        json_pack("{s:s, s:s}", "suite_name",
                                  record->simulated ? "bench (simulated)" : "bench", "model_name",
                                  model.data));
    json_object_set_new(line, "experiment", xla_experiment_json(record));
    json_object_set_new(line, "repeat",
                        json_integer((json_int_t)(record->warmup_count + record->step_count)));
    json_object_set_new(line, "iterations_per_run", json_integer(1));
    json_object_set_new(line, "metrics", xla_metrics_json(record));
    json_object_set_new(line, "outputs_file", json_null());
    json_object_set_new(line, "timestamp", json_real(time_s));
    json_object_set_new(line, "bench",
                        json_pack("{s:s, s:I, s:b, s:o, s:o}", "id", record->id, "warmup_steps",
                                  (json_int_t)record->warmup_count, "simulated",
                                  (int)record->simulated, "experiment",
                                  res_experiment_to_json(&record->experiment), "provenance",
                                  res_export_provenance(record)));
    res_export_put_line(out, line);
    bn_text_free(&model);
}

static void write_pytorch_xla(const res_collection *all, res_export *export)
{
    res_export_key *keys = res_export_keys(all, true);
    if (!keys)
        return;
    bn_text *out = res_export_add(export, "%s", "");
    for (size_t first = 0, end; first < all->count; first = end) {
        end = build_end(keys, first, all->count);
        /* Within a build, records are in the order of their ids: the last is the latest. */
        const double time_s = res_export_time(keys[end - 1].record);
        for (size_t i = first; i < end; i++)
            put_xla_line(keys[i].record, time_s, out);
    }
    res_export_keys_free(keys, all->count);
}

const res_export_format res_export_pytorch_xla = {"pytorch-xla", false, write_pytorch_xla};

/* ---- pytorch/benchmark --------------------------------------------------------------------- */

/* "model=..., test=..., device=..., bs=..., extra_args=[...], metric=latencies", as
 * userbenchmark/test_bench writes and takes apart; latencies are in milliseconds there. */
static void set_latency(const res_collection *all, const res_record *record, json_t *metrics)
{
    bn_text key = {0};
    char batch[24] = "None";
    if (record->experiment.batch > 0)
        snprintf(batch, sizeof batch, "%d", record->experiment.batch);
    bn_text_puts(&key, "model=");
    put_model(record, &key);
    bn_text_printf(&key, ", test=%s, device=%s, bs=%s, extra_args=['%s'], metric=latencies",
                   test_of(record), platform(record), batch, record->experiment.mode);
    /* The detector takes text for a failure. */
    json_object_set_new(metrics, key.data,
                        res_record_good(record)
                            ? res_json_real(res_export_wall_ns(all, record) / 1e6)
                            : json_string(bn_code_name(record->status)));
    bn_text_free(&key);
}

/* Adds a file of the COUNT records from KEYS. They are of one build, since a file has one
 * environment. The processes of the latest record of each experiment stand in it. */
static void put_metrics(const res_collection *all, const res_export_key *keys, size_t count,
                        res_export *export)
{
    const res_record *last = keys[count - 1].record;
    json_t *metrics = json_object(), *failures = json_array();
    char date[32], stamp[15] = "";
    bool simulated = false;
    for (size_t i = 0; i < count; i++) {
        res_export_add_failure(keys[i].record, failures);
        simulated = simulated || keys[i].record->simulated;
        set_latency(all, keys[i].record, metrics);
    }
    res_export_date(last, date);
    size_t digits = 0;
    for (const char *c = date; *c != '\0' && *c != '+' && digits < sizeof stamp - 1; c++)
        if (*c >= '0' && *c <= '9')
            stamp[digits++] = *c;
    res_export_put(
        res_export_add(export, "userbenchmark/%.12s/metrics-%s.json", keys[0].commit, stamp),
        json_pack(
            "{s:s, s:{s:s, s:s, s:o, s:b}, s:o, s:o}", "name", "test_bench", "environ",
            "pytorch_git_version", keys[0].commit, "pytorch_version", "none: measured by bench",
            "runtime", res_json_text(res_provenance_text(last, RES_PROV_RUNTIME_VERSION)),
            "holds_simulated_results", (int)simulated, "metrics", metrics, "failures", failures));
}

static json_t *values_json(const uint64_t *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_real((double)values[i] / 1e6));
    return list;
}

static json_t *hud_json(const res_record *record, const char *metric, const char *graph,
                        json_t *values)
{
    const res_experiment *e = &record->experiment;
    bn_text label = {0}, model = {0};
    char commit[RES_COMMIT_TEXT];
    res_export_label(record, &label);
    put_model(record, &model);
    res_export_commit(record, commit);
    json_t *object = json_pack(
        "{s:{s:s, s:s, s:s, s:{s:s, s:s, s:s}}, s:{s:s, s:s, s:s, s:[s]}, s:{s:s, s:o, s:{s:s, "
        "s:s}}}",
        "benchmark", "name", "bench", "mode", is_training(record) ? "training" : "inference",
        "dtype", e->dtype, "extra_info", "record", record->id, "not_measured_on_hardware",
        label.data, "commit", commit, "model", "name", model.data, "type", "model", "backend",
        e->mode, "origins", "bench", "metric", "name", metric, "benchmark_values", values,
        "extra_info", "unit", "ms", "graph", graph);
    json_t *runner = json_pack("{s:s, s:s, s:s}", "type", e->runtime, "gpu_info",
                               res_export_device(record), "name", platform(record));
    json_object_set_new(object, "runners", json_pack("[o]", runner));
    bn_text_free(&label);
    bn_text_free(&model);
    return object;
}

static void put_hud(const res_collection *all, bn_text *out)
{
    for (size_t i = 0; i < all->count; i++) {
        const res_record *record = all->records[i];
        if (!res_record_good(record))
            continue;
        res_export_put_line(out, hud_json(record, "step_latency", "",
                                          values_json(record->wall_ns, record->step_count)));
        for (size_t x = 0; x < record->execution_count; x++) {
            const res_execution *execution = &record->executions[x];
            if (execution->pjrt_count > 0)
                res_export_put_line(
                    out, hud_json(record, "execution_latency", execution->graph,
                                  values_json(execution->pjrt_ns, execution->pjrt_count)));
        }
    }
}

static void write_pytorch_benchmark(const res_collection *all, res_export *export)
{
    res_export_key *keys = res_export_keys(all, true);
    if (!keys)
        return;
    for (size_t first = 0, end; first < all->count; first = end) {
        end = build_end(keys, first, all->count);
        put_metrics(all, keys + first, end - first, export);
    }
    put_hud(all, res_export_add(export, "database/bench.json"));
    res_export_keys_free(keys, all->count);
}

const res_export_format res_export_pytorch_benchmark = {"pytorch-benchmark", true,
                                                        write_pytorch_benchmark};
