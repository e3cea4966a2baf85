/*
 * speedup_export.c - the speedup table for programs: JSON, and CSV with a line a row.
 */
#include "results/tables/speedup_priv.h"

#include <string.h>

/* Sets what both a row and a mean say of the runtime and the mode. */
static void set_names(json_t *object, const char *kind, const res_record *record)
{
    const res_experiment *experiment = &record->experiment;
    json_object_set_new(object, "kind", json_string(kind));
    json_object_set_new(object, "runtime", res_json_text(experiment->runtime));
    json_object_set_new(object, "simulated", json_boolean(record->simulated));
    json_object_set_new(object, "phase", res_json_text(experiment->phase));
    json_object_set_new(object, "mode", res_json_text(experiment->mode));
    json_object_set_new(object, "front_end", res_json_text(experiment->front_end));
    json_object_set_new(object, "graphs", json_integer(experiment->graphs));
    json_object_set_new(object, "dispatch", json_string(experiment->dispatch));
    json_object_set_new(object, "steps_per_execution",
                        json_integer(experiment->steps_per_execution));
}

/* Runtime, mode and graphs have columns of their own. */
static bool has_column(const res_axis *axis)
{
    return axis->role == RES_ROLE_CELL || axis->role == RES_ROLE_SETUP ||
           (axis->role == RES_ROLE_WAY && axis->id != RES_AXIS_MODE && axis->id != RES_AXIS_GRAPHS);
}

void res_json_identity(json_t *object, const char *kind, const res_record *record)
{
    set_names(object, kind, record);
    json_object_set_new(object, "plugin_sha256", json_string(res_plugin_sha256(record)));
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (has_column(&res_axes[i]))
            json_object_set_new(object, res_axes[i].field.name,
                                res_axis_to_json(&res_axes[i], &record->experiment));
    json_object_set_new(object, "values", json_string(record->values));
    json_object_set_new(object, "id", res_json_text(record->id));
    json_object_set_new(object, "status", json_string(bn_code_name(record->status)));
    json_object_set_new(object, "message", res_json_text(record->message));
    json_object_set_new(object, "steps", json_integer((json_int_t)record->step_count));
}

json_t *res_row_of(const char *kind, const res_speedup_row *of, json_t *rows)
{
    json_t *row = json_object();
    res_json_identity(row, kind, of->record);
    json_object_set_new(row, "processes", json_integer((json_int_t)of->pool.counted));
    json_object_set_new(row, "runs", json_integer((json_int_t)of->pool.run_count));
    json_object_set_new(row, "left_out_failed", json_integer((json_int_t)of->pool.failed));
    json_array_append_new(rows, row);
    return row;
}

/* All steps of the pool's processes that count; a failed record's own. */
static json_int_t steps_of(const res_speedup_row *row)
{
    size_t steps = row->pool.count > 0 ? 0 : row->record->step_count;
    for (size_t i = 0; i < row->pool.count; i++)
        steps += res_pool_counts(&row->pool, i) ? row->pool.list[i].record->step_count : 0;
    return (json_int_t)steps;
}

static void set_pool(json_t *object, const res_speedup_row *row)
{
    bn_text ids = {0};
    for (size_t i = 0; i < row->pool.count; i++)
        if (res_pool_counts(&row->pool, i))
            bn_text_printf(&ids, "%s%s", ids.length > 0 ? " " : "", row->pool.list[i].record->id);
    json_object_set_new(object, "steps", json_integer(steps_of(row)));
    json_object_set_new(object, "processes", json_integer((json_int_t)row->pool.counted));
    json_object_set_new(object, "runs", json_integer((json_int_t)row->pool.run_count));
    json_object_set_new(object, "left_out_other_run",
                        json_integer((json_int_t)(row->pool.count - row->pool.counted)));
    json_object_set_new(object, "records", res_json_text(ids.data ? ids.data : ""));
    bn_text_free(&ids);
    json_object_set_new(object, "left_out_failed", json_integer((json_int_t)row->pool.failed));
    json_object_set_new(object, "left_out_other_builds",
                        json_integer((json_int_t)row->pool.other_builds));
    json_object_set_new(object, "left_out_other_conditions",
                        json_integer((json_int_t)row->pool.other_conditions));
}

static void set_figures(json_t *object, const res_figures *f)
{
    json_object_set_new(object, "nodes_per_step", res_json_real(f->nodes_per_step));
    json_object_set_new(object, "executions_per_step", res_json_real(f->executions));
    json_object_set_new(object, "trace_ns", res_json_real(f->trace.value.estimate));
    json_object_set_new(object, "overhead_per_execution_ns",
                        res_json_real(f->overhead.value.estimate));
    json_object_set_new(object, "overhead_low_ns", res_json_real(f->overhead.value.low));
    json_object_set_new(object, "overhead_high_ns", res_json_real(f->overhead.value.high));
    json_object_set_new(object, "device_per_step_ns", res_json_real(f->device.value.estimate));
    json_object_set_new(object, "device_low_ns", res_json_real(f->device.value.low));
    json_object_set_new(object, "device_high_ns", res_json_real(f->device.value.high));
    json_object_set_new(object, "device_processes", json_integer((json_int_t)f->device.processes));
    json_object_set_new(object, "device_cut", json_boolean(f->device_scale != 1));
    json_object_set_new(object, "overhead_refused",
                        json_boolean(f->refusal != RES_REFUSED_NOTHING));
    json_object_set_new(object, "device_time_source", json_string(f->source));
    res_json_interval(object, "wall", f->wall.value);
    json_object_set_new(object, "compile_ns", res_json_real(f->compile.value.estimate));
    json_object_set_new(object, "compile_processes",
                        json_integer((json_int_t)f->compile.processes));
}

static void set_remarks(json_t *object, const res_remarks *r)
{
    json_object_set_new(object, "mean_over_median", res_json_real(1 + r->excess));
    json_object_set_new(object, "p90_ns", res_json_real(r->p90_ns));
    json_object_set_new(object, "samples_per_process", res_json_real(r->samples));
    json_object_set_new(object, "independent_samples_per_process", res_json_real(r->independent));
    json_object_set_new(object, "warmups_not_stationary", json_integer((json_int_t)r->unsettled));
}

static void set_speedup(json_t *object, const res_speedup *speedup, const res_speedup_row *row)
{
    const res_run_drift *drift = &row->ratio.log.drift;
    const res_interval ratio = row->ratio.ratio;
    json_object_set_new(object, "speedup", res_json_real(ratio.estimate));
    json_object_set_new(object, "speedup_low", res_json_real(ratio.low));
    json_object_set_new(object, "speedup_high", res_json_real(ratio.high));
    json_object_set_new(object, "speedup_drift", res_json_real(drift->deviation));
    json_object_set_new(object, "calibrated",
                        drift->deviation > 0 ? json_boolean(isfinite(drift->freedom))
                                             : json_null());
    json_object_set_new(object, "matched",
                        row->compared ? json_boolean(row->ratio.matching == RES_MATCHED)
                                      : json_null());
    json_object_set_new(object, "apart",
                        row->compared ? json_boolean(row->ratio.apart) : json_null());
    json_object_set_new(object, "partial",
                        row->compared ? json_boolean(row->ratio.partial) : json_null());
    json_object_set_new(object, "p_holm", row->compared ? res_json_real(row->p_holm) : json_null());
    json_object_set_new(object, "mde", res_json_real(res_speedup_mde(speedup, row, 1)));
    json_object_set_new(object, "mde_twice", res_json_real(res_speedup_mde(speedup, row, 2)));
    json_object_set_new(object, "looks",
                        row->compared ? json_integer((json_int_t)row->ratio.looks) : json_null());
    json_object_set_new(object, "judged", json_boolean(row->ratio.log.freedom > 0));
    json_object_set_new(object, "told",
                        row->compared ? json_boolean(row->significant) : json_null());
    json_object_set_new(object, "program",
                        row->compared ? json_string(res_program_name(row->program)) : json_null());
    json_object_set_new(object, "lazy_is_other_build", json_boolean(row->other_build));
    json_object_set_new(object, "lazy_other_conditions", res_json_text(row->other_conditions));
}

static json_t *row_json(const res_speedup *speedup, const res_speedup_row *row)
{
    json_t *object = json_object();
    res_json_identity(object, "row", row->record);
    set_pool(object, row);
    set_figures(object, &row->figures);
    set_remarks(object, &row->remarks);
    set_speedup(object, speedup, row);
    return object;
}

static json_t *mean_json(const res_speedup_mean *mean)
{
    json_t *object = json_object();
    set_names(object, "geometric-mean", mean->example);
    json_object_set_new(object, "speedup", res_json_real(mean->mean.ratio.estimate));
    json_object_set_new(object, "speedup_low", res_json_real(mean->mean.ratio.low));
    json_object_set_new(object, "speedup_high", res_json_real(mean->mean.ratio.high));
    json_object_set_new(object, "judged", json_false());
    json_object_set_new(object, "processes", json_integer((json_int_t)mean->mean.processes));
    json_object_set_new(object, "runs", json_integer((json_int_t)mean->mean.runs));
    json_object_set_new(object, "by_process", json_boolean(mean->mean.by_process));
    json_object_set_new(object, "covered", json_integer((json_int_t)mean->covered));
    json_object_set_new(object, "cells", json_integer((json_int_t)mean->cells));
    return object;
}

static json_t *interference_json(const res_speedup *speedup)
{
    const res_speedup_row *busiest = res_speedup_busiest(speedup);
    bn_text sentence = {0};
    res_speedup_busy(speedup, &sentence);
    json_t *object = res_interference_to_json(&speedup->interference,
                                              busiest ? busiest->record->id : NULL, sentence.data);
    bn_text_free(&sentence);
    return object;
}

/* How differences are claimed, and of what: rare slow processes may not show in a few. */
static json_t *claims_json(const res_speedup *speedup)
{
    return json_pack("{s:f, s:I, s:s}", "level", 0.05, "family", (json_int_t)speedup->ratios, "of",
                     "typical process");
}

/* How many files of the store were left out, by what is wrong with them; of many, some are named.
 */
static json_t *left_out_json(const res_speedup *speedup)
{
    res_reported reported = {{0}};
    json_t *named = json_array();
    for (size_t i = 0; i < speedup->damaged_count; i++)
        if (res_damaged_reported(&reported, &speedup->damaged[i]))
            json_array_append_new(named, res_json_text(bn_base_name(speedup->damaged[i].path)));
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "unread",
                     (json_int_t)reported.count[RES_FAULT_UNREAD], "damaged",
                     (json_int_t)reported.count[RES_FAULT_DAMAGED], "no_records",
                     (json_int_t)reported.count[RES_FAULT_STRANGE], "copies",
                     (json_int_t)reported.count[RES_FAULT_COPY], "named", named);
}

static json_t *speedup_json(const res_speedup *speedup)
{
    json_t *object = json_object(), *rows = json_array(), *means = json_array();
    for (size_t i = 0; i < speedup->count; i++)
        json_array_append_new(rows, row_json(speedup, &speedup->rows[i]));
    for (size_t i = 0; i < speedup->mean_count; i++)
        json_array_append_new(means, mean_json(&speedup->means[i]));
    json_object_set_new(object, "rows", rows);
    json_object_set_new(object, "geometric_means", means);
    json_object_set_new(object, "claims", claims_json(speedup));
    json_object_set_new(object, "witness", interference_json(speedup));
    json_t *noted = res_speedup_notes(speedup), *notes = json_array(), *note;
    size_t index;
    json_array_foreach(noted, index, note)
    {
        json_array_append(notes, json_object_get(note, "text"));
    }
    json_object_set_new(object, "notes", notes);
    json_object_set_new(object, "noted", noted);
    json_object_set_new(object, "findings", res_speedup_findings(speedup));
    json_object_set_new(object, "files_left_out", left_out_json(speedup));
    return object;
}

/* Columns of the CSV: NULL stands for the axes. */
static const char *const csv_columns[] = {
    "kind",
    "runtime",
    "plugin_sha256",
    "simulated",
    NULL,
    "values",
    "mode",
    "graphs",
    "id",
    "status",
    "message",
    "steps",
    "processes",
    "runs",
    "records",
    "left_out_failed",
    "left_out_other_builds",
    "left_out_other_conditions",
    "left_out_other_run",
    "nodes_per_step",
    "executions_per_step",
    "trace_ns",
    "overhead_per_execution_ns",
    "overhead_low_ns",
    "overhead_high_ns",
    "device_per_step_ns",
    "device_low_ns",
    "device_high_ns",
    "device_processes",
    "device_cut",
    "overhead_refused",
    "device_time_source",
    "wall_ns",
    "wall_low_ns",
    "wall_high_ns",
    "compile_ns",
    "compile_processes",
    "mean_over_median",
    "p90_ns",
    "samples_per_process",
    "independent_samples_per_process",
    "warmups_not_stationary",
    "speedup",
    "speedup_low",
    "speedup_high",
    "speedup_drift",
    "calibrated",
    "matched",
    "apart",
    "partial",
    "p_holm",
    "mde",
    "mde_twice",
    "looks",
    "judged",
    "told",
    "program",
    "lazy_is_other_build",
    "lazy_other_conditions",
    "by_process",
    "covered",
    "cells",
};
#define CSV_ROWS    (sizeof csv_columns / sizeof *csv_columns)
#define CSV_COLUMNS (CSV_ROWS - 1 + RES_AXIS_COUNT) /* at most */

/* The names of all columns; returns how many. */
static size_t column_names(const char *names[CSV_COLUMNS])
{
    size_t count = 0;
    for (size_t i = 0; i < CSV_ROWS; i++) {
        if (csv_columns[i])
            names[count++] = csv_columns[i];
        for (int a = 0; !csv_columns[i] && a < RES_AXIS_COUNT; a++)
            if (has_column(&res_axes[a]))
                names[count++] = res_axes[a].field.name;
    }
    return count;
}

/* A line per object of LIST, empty where it lacks a column. */
static void csv_lines(res_grid *grid, const char *const *names, size_t count, json_t *list)
{
    size_t index;
    json_t *object;
    json_array_foreach(list, index, object)
    {
        for (size_t column = 0; column < count; column++)
            res_grid_json(grid, json_object_get(object, names[column]));
    }
}

static void put_csv(json_t *speedup, bn_text *out)
{
    const char *names[CSV_COLUMNS];
    char align[CSV_COLUMNS + 1] = "";
    const size_t count = column_names(names);
    memset(align, 'l', count);
    res_grid grid = res_grid_make(align);
    for (size_t column = 0; column < count; column++)
        res_grid_cell(&grid, "%s", names[column]);
    csv_lines(&grid, names, count, json_object_get(speedup, "rows"));
    csv_lines(&grid, names, count, json_object_get(speedup, "geometric_means"));
    res_grid_render(&grid, RES_TABLE_CSV, out);
    res_grid_free(&grid);
}

void res_speedup_export(const res_speedup *speedup, res_format format, bn_text *out)
{
    json_t *object = speedup_json(speedup);
    if (format == RES_TABLE_JSON)
        res_put_json(out, object);
    else
        put_csv(object, out);
    json_decref(object);
}
