/*
 * export_xla.c - results.json as OpenXLA's benchmark workflow writes it
 * (.github/workflows/benchmarks/run_benchmark.sh), one a record in a folder of its own, and a
 * baseline.yml of the latest records, by which its compare_with_baseline.py can judge another
 * export.
 */
#include "results/exports/exports_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The threshold of XLA's own baselines: 30 %. */
#define THRESHOLD 0.30

/* A folder has the id as its name, and most file systems allow 255 bytes. */
#define LONGEST_ID 160

/* An id of letters, digits and underscores, as theirs are. */
static void put_config(const res_record *record, bn_text *id)
{
    bn_text name = {0};
    /* Slashes separate the parts of each name: they are no loss. All else counts, or "a=1" and
     * "a_1" would share a baseline. */
    res_export_name(record, '_', &name);
    res_export_put_safe(id, name.data, "_", "/", LONGEST_ID);
    bn_text_free(&name);
}

static json_t *milliseconds(double ns)
{
    return json_pack("{s:o, s:s}", "value", res_json_real(ns / 1e6), "unit", "ms");
}

/* Whether the workflow calls PLATFORM a GPU. */
static bool is_gpu(const char *platform)
{
    static const char *const names[] = {"cuda", "rocm", "gpu", "sycl"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(platform, names[i]) == 0)
            return true;
    return false;
}

/* Peak memory of RECORD's process, as in all comparisons; NaN: unknown. */
static double peak_gb(const res_record *record)
{
    return res_quantity_of(record, RES_QUANTITY_HOST_BYTES) / 1073741824.0;
}

static json_t *metrics_json(const res_record *record)
{
    json_t *metrics = json_object();
    if (!res_record_good(record))
        return metrics;
    json_t *wall = milliseconds(res_step_median(record, record->wall_ns));
    json_t *samples = json_array();
    for (size_t i = 0; i < record->step_count; i++)
        json_array_append_new(samples, json_real((double)record->wall_ns[i] / 1e6));
    json_object_set_new(wall, "samples", samples);
    json_object_set_new(metrics, "WALL_TIME", wall);
    const double device = res_record_figures(record).device.value.estimate;
    if (isfinite(device))
        json_object_set_new(metrics,
                            is_gpu(res_export_platform(record)) ? "GPU_DEVICE_TIME" : "DEVICE_TIME",
                            milliseconds(device));
    const double peak = peak_gb(record);
    if (isfinite(peak))
        json_object_set_new(metrics, "PEAK_CPU_MEMORY",
                            json_pack("{s:f, s:s}", "value", peak, "unit", "GB"));
    return metrics;
}

static json_t *results_json(const res_record *record, const char *config)
{
    char commit[RES_COMMIT_TEXT];
    bn_text label = {0}, why = {0};
    const bool good = res_record_good(record);
    const char *platform = res_export_platform(record);
    res_export_commit(record, commit);
    res_export_label(record, &label);
    if (!good)
        bn_text_printf(&why, "%s: %s", bn_code_name(record->status), record->message);
    json_t *object = json_object();
    json_object_set_new(object, "benchmark_name", res_json_text(record->experiment.model));
    json_object_set_new(object, "config_id", json_string(config));
    json_object_set_new(object, "hardware_category",
                        res_json_text(record->simulated ? "SIMULATED" : platform));
    json_object_set_new(object, "run_status", json_string(good ? "SUCCESS" : "FAILURE"));
    json_object_set_new(object, "error_message", res_json_text(why.data ? why.data : ""));
    json_object_set_new(object, "commit_sha", json_string(commit));
    json_object_set_new(object, "workflow_run_id", json_string(record->id));
    json_object_set_new(object, "metrics", metrics_json(record));
    json_object_set_new(object, "not_measured_on_hardware", json_string(label.data));
    json_object_set_new(object, "provenance", res_export_provenance(record));
    bn_text_free(&label);
    bn_text_free(&why);
    return object;
}

static double peak_memory(const res_process *process, const void *context)
{
    (void)context;
    return peak_gb(process->record);
}

static void put_baseline(json_t *baseline, const char *metric, const char *key, double value)
{
    if (isfinite(value))
        json_object_set_new(baseline, metric,
                            json_pack("{s:f, s:f}", key, value, "threshold", THRESHOLD));
}

/* {"WALL_TIME": {"baseline_ms": ..., "threshold": ...}, ...}: the metrics that the script knows, as
 * tables have them, of all processes of RECORD's experiment. */
static json_t *baseline_json(const res_collection *all, const res_record *record)
{
    json_t *baseline = json_object();
    res_pool pool;
    res_pool_like(all, record, &pool);
    const res_figures figures = res_pool_figures(&pool);
    put_baseline(baseline, "WALL_TIME", "baseline_ms", figures.wall.value.estimate / 1e6);
    if (is_gpu(res_export_platform(record)))
        put_baseline(baseline, "GPU_DEVICE_TIME", "baseline_ms",
                     figures.device.value.estimate / 1e6);
    put_baseline(baseline, "PEAK_CPU_MEMORY", "baseline_gb",
                 res_pool_estimate(&pool, peak_memory, NULL).mean);
    res_pool_free(&pool);
    return baseline;
}

static void write_xla(const res_collection *all, res_export *export)
{
    json_t *baselines = json_object();
    for (size_t i = 0; i < all->count; i++) {
        const res_record *record = all->records[i];
        bn_text config = {0};
        put_config(record, &config);
        res_export_put(res_export_add(export, "%s/%s/results.json", config.data, record->id),
                       results_json(record, config.data));
        /* Records are in the order of their ids, so the latest stays. */
        if (res_record_good(record))
            json_object_set_new(baselines, config.data, baseline_json(all, record));
        bn_text_free(&config);
    }
    /* JSON is YAML, too. */
    if (json_object_size(baselines) > 0)
        res_export_put(res_export_add(export, "baseline.yml"), baselines);
    else
        json_decref(baselines);
}

const res_export_format res_export_xla = {"xla", true, write_xla};
