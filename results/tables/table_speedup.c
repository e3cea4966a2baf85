/*
 * table_speedup.c - the speedup table in all formats.
 */
#include "results/tables/tables_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text and markdown ------------------------------------------------------ */

/* The axes that differ between rows of the block from FIRST to END. */
static res_axis_set varying(const res_speedup *speedup, size_t first, size_t end)
{
    res_axis_set mask = 0;
    const res_experiment *head = &speedup->rows[first].record->experiment;
    for (size_t i = first + 1; i < end; i++)
        mask |= res_setup_difference(head, &speedup->rows[i].record->experiment);
    return mask;
}

/* Puts the build of all rows, "several builds", or nothing when it is unknown: experiments that
 * failed early do not know theirs. */
static void put_build(const res_speedup *speedup, size_t first, size_t end, bn_text *title)
{
    const char *build = "";
    for (size_t i = first; i < end; i++) {
        const char *other = res_plugin_sha256(speedup->rows[i].record);
        if (build[0] != '\0' && other[0] != '\0' && strcmp(build, other) != 0) {
            bn_text_puts(title, ", several builds");
            return;
        }
        build = other[0] != '\0' ? other : build;
    }
    if (build[0] != '\0')
        bn_text_printf(title, ", build %.12s", build);
}

static void block_heading(const res_speedup *speedup, size_t first, size_t end, res_axis_set shared,
                          res_format format, bn_text *out)
{
    const res_record *record = speedup->rows[first].record;
    bn_text title = {0}, setup = {0};
    bn_text_printf(&title, "runtime %s%s", record->experiment.runtime,
                   record->simulated ? " (simulated)" : "");
    put_build(speedup, first, end, &title);
    res_setup_text(&record->experiment, shared, &setup);
    if (setup.length > 0)
        bn_text_printf(&title, ": %s", setup.data);
    if (title.data)
        res_put_heading(out, format, 2, title.data);
    out->failed = out->failed || title.failed || setup.failed;
    bn_text_free(&setup);
    bn_text_free(&title);
}

/* The source of all device times from FIRST to END; NULL when there are several, "" when no row has
 * a device time. */
static const char *shared_source(const res_speedup *speedup, size_t first, size_t end)
{
    const char *source = "";
    for (size_t i = first; i < end; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        if (!isfinite(row->measures.device_ns))
            continue;
        if (source[0] != '\0' && strcmp(source, row->measures.source) != 0)
            return NULL;
        source = row->measures.source;
    }
    return source;
}

static void put_names(res_grid *grid, const res_speedup_row *row, res_axis_set mask, bool repeat)
{
    const res_experiment *experiment = &row->record->experiment;
    bool named = repeat || row->first_of_cell;
    bn_text setup = {0};
    if (named)
        res_setup_text(experiment, mask, &setup);
    res_grid_cell(grid, "%s", named ? experiment->model : "");
    res_grid_cell(grid, "%s", named ? experiment->phase : "");
    res_grid_cell(grid, "%s", setup.data ? setup.data : "");
    res_grid_cell(grid, "%s", experiment->mode);
    res_grid_graphs(grid, experiment);
    grid->failed = grid->failed || setup.failed;
    bn_text_free(&setup);
}

static void put_speedup(res_grid *grid, const res_speedup_row *row)
{
    if (row->base || row->other_build) {
        res_grid_cell(grid, "%s", row->base ? "base" : "-");
        res_grid_cell(grid, "%s", row->base ? "" : "other build");
        return;
    }
    res_grid_cell(grid, "%s", res_ratio(row->speedup.estimate).text);
    res_grid_cell(grid, "%s", res_ratio_range(row->speedup.low, row->speedup.high).text);
}

/* The first five cells are names; a failed row has its class in all others. */
#define BLOCK_ALIGN "llllrrrrrlrirri"
#define BLOCK_HEADING                                                                              \
    "model|phase|setup|mode|graphs|nodes|trace|overhead|device|source|wall|95 %|compile|vs lazy|"  \
    "95 %"

static void put_figures(res_grid *grid, const res_speedup_row *row, bool name_source)
{
    if (!res_record_good(row->record)) {
        char text[64];
        snprintf(text, sizeof text, "failed: %s",
                 row->record->status != BN_OK ? bn_code_name(row->record->status) : "no steps");
        res_grid_spill(grid, text, strlen(BLOCK_ALIGN) - 5);
        return;
    }
    if (isfinite(row->measures.nodes_per_step))
        res_grid_cell(grid, "%.10g", row->measures.nodes_per_step);
    else
        res_grid_cell(grid, "-");
    res_grid_cell(grid, "%s", res_time(row->measures.trace_ns).text);
    res_grid_cell(grid, "%s", res_time_difference(row->measures.overhead).text);
    res_grid_cell(grid, "%s", res_time(row->measures.device_ns).text);
    res_grid_cell(grid, "%s",
                  !name_source                        ? ""
                  : isfinite(row->measures.device_ns) ? row->measures.source
                                                      : "-");
    res_grid_cell(grid, "%s", res_time(row->measures.wall.estimate).text);
    res_grid_cell(
        grid, "%s",
        res_time_range(row->measures.wall.estimate, row->measures.wall.low, row->measures.wall.high)
            .text);
    res_grid_cell(grid, "%s", res_time(row->measures.compile_ns).text);
    put_speedup(grid, row);
}

static void put_means(const res_speedup *speedup, const res_record *block, res_format format,
                      bn_text *out)
{
    res_grid grid = res_grid_make("llrri");
    bool any = false;
    res_grid_row(&grid, "phase|mode|graphs|geometric mean vs lazy|cells");
    for (size_t i = 0; i < speedup->mean_count; i++) {
        const res_speedup_mean *mean = &speedup->means[i];
        const res_experiment *example = &mean->example->experiment;
        if (!res_same_block(mean->example, block))
            continue;
        any = true;
        res_grid_cell(&grid, "%s", example->phase);
        res_grid_cell(&grid, "%s", example->mode);
        res_grid_graphs(&grid, example);
        res_grid_cell(&grid, "%s", res_ratio(mean->speedup).text);
        res_grid_cell(&grid, "(%zu of %zu)", mean->covered, mean->cells);
    }
    if (any) {
        bn_text_putc(out, '\n');
        res_grid_render(&grid, format, out);
    }
    res_grid_free(&grid);
}

static void put_block(const res_speedup *speedup, size_t first, size_t end, res_format format,
                      bn_text *out)
{
    res_axis_set mask = varying(speedup, first, end);
    const char *source = shared_source(speedup, first, end);
    block_heading(speedup, first, end, res_setup_all() & ~mask, format, out);
    res_grid grid = res_grid_make(BLOCK_ALIGN);
    res_grid_row(&grid, BLOCK_HEADING);
    for (size_t i = first; i < end; i++) {
        put_names(&grid, &speedup->rows[i], mask, format != RES_TABLE_TEXT);
        put_figures(&grid, &speedup->rows[i], source == NULL);
    }
    res_grid_render(&grid, format, out);
    res_grid_free(&grid);
    if (source) {
        char text[64];
        snprintf(text, sizeof text, "Source of device times: %s.",
                 source[0] != '\0' ? source : "unavailable");
        bn_text_putc(out, '\n');
        res_put_note(out, format, text);
    }
    put_means(speedup, speedup->rows[first].record, format, out);
}

static void put_legend(res_format format, bn_text *out)
{
    static const char *const lines[] = {
        "nodes: traced in a step.  trace: trace, hash and lookup of a step.",
        "overhead: PJRT time less device time of one execution; \"<\": not told from zero.",
        "device: of a step.",
        "wall: median step, with its 95 % interval.  compile: lowering and compile calls.",
        "vs lazy: wall of lazy with the fewest graphs over this wall, with its 95 % interval.",
        "Geometric means: (cells that have a value, of all cells of the phase).",
    };
    bn_text_putc(out, '\n');
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        res_put_note(out, format, lines[i]);
}

static void put_blocks(const res_speedup *speedup, res_format format, bn_text *out)
{
    res_put_heading(out, format, 1, "Speedup over lazy tracing");
    if (speedup->count == 0) {
        res_put_note(out, format, "No records.");
        return;
    }
    for (size_t first = 0, end; first < speedup->count; first = end) {
        end = first + 1;
        while (end < speedup->count && !speedup->rows[end].first_of_block)
            end++;
        put_block(speedup, first, end, format, out);
    }
    put_legend(format, out);
}

/* ---- JSON and CSV ------------------------------------------------------------- */

/* Sets what both a row and a mean say of the runtime and the mode. */
static void set_names(json_t *object, const char *kind, const res_record *record)
{
    const res_experiment *experiment = &record->experiment;
    json_object_set_new(object, "kind", json_string(kind));
    json_object_set_new(object, "runtime", res_json_text(experiment->runtime));
    json_object_set_new(object, "simulated", json_boolean(record->simulated));
    json_object_set_new(object, "phase", res_json_text(experiment->phase));
    json_object_set_new(object, "mode", res_json_text(experiment->mode));
    json_object_set_new(object, "graphs", json_integer(experiment->graphs));
}

/* Blocks and ways are among the names of a row. */
static bool has_column(const res_axis *axis)
{
    return axis->role == RES_ROLE_CELL || axis->role == RES_ROLE_SETUP;
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

static json_t *row_json(const res_speedup_row *row)
{
    json_t *object = json_object();
    res_json_identity(object, "row", row->record);
    json_object_set_new(object, "nodes_per_step", res_json_real(row->measures.nodes_per_step));
    json_object_set_new(object, "executions_per_step", res_json_real(row->measures.executions));
    json_object_set_new(object, "trace_ns", res_json_real(row->measures.trace_ns));
    json_object_set_new(object, "overhead_per_execution_ns",
                        res_json_real(row->measures.overhead.estimate));
    json_object_set_new(object, "overhead_low_ns", res_json_real(row->measures.overhead.low));
    json_object_set_new(object, "overhead_high_ns", res_json_real(row->measures.overhead.high));
    json_object_set_new(object, "device_per_step_ns", res_json_real(row->measures.device_ns));
    json_object_set_new(object, "device_time_source", json_string(row->measures.source));
    json_object_set_new(object, "wall_ns", res_json_real(row->measures.wall.estimate));
    json_object_set_new(object, "wall_low_ns", res_json_real(row->measures.wall.low));
    json_object_set_new(object, "wall_high_ns", res_json_real(row->measures.wall.high));
    json_object_set_new(object, "compile_ns", res_json_real(row->measures.compile_ns));
    json_object_set_new(object, "speedup", res_json_real(row->speedup.estimate));
    json_object_set_new(object, "speedup_low", res_json_real(row->speedup.low));
    json_object_set_new(object, "speedup_high", res_json_real(row->speedup.high));
    json_object_set_new(object, "lazy_is_other_build", json_boolean(row->other_build));
    return object;
}

static json_t *mean_json(const res_speedup_mean *mean)
{
    json_t *object = json_object();
    set_names(object, "geometric-mean", mean->example);
    json_object_set_new(object, "speedup", res_json_real(mean->speedup));
    json_object_set_new(object, "covered", json_integer((json_int_t)mean->covered));
    json_object_set_new(object, "cells", json_integer((json_int_t)mean->cells));
    return object;
}

static json_t *speedup_json(const res_speedup *speedup)
{
    json_t *rows = json_array(), *means = json_array();
    for (size_t i = 0; i < speedup->count; i++)
        json_array_append_new(rows, row_json(&speedup->rows[i]));
    for (size_t i = 0; i < speedup->mean_count; i++)
        json_array_append_new(means, mean_json(&speedup->means[i]));
    return json_pack("{s:o, s:o}", "rows", rows, "geometric_means", means);
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
    "nodes_per_step",
    "executions_per_step",
    "trace_ns",
    "overhead_per_execution_ns",
    "overhead_low_ns",
    "overhead_high_ns",
    "device_per_step_ns",
    "device_time_source",
    "wall_ns",
    "wall_low_ns",
    "wall_high_ns",
    "compile_ns",
    "speedup",
    "speedup_low",
    "speedup_high",
    "lazy_is_other_build",
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

void res_table_speedup(const res_collection *all, res_format format, bn_text *out)
{
    res_speedup speedup;
    if (!res_speedup_make(all, &speedup)) {
        out->failed = true;
        return;
    }
    if (format == RES_TABLE_CSV || format == RES_TABLE_JSON) {
        json_t *object = speedup_json(&speedup);
        if (format == RES_TABLE_JSON)
            res_put_json(out, object);
        else
            put_csv(object, out);
        json_decref(object);
    } else {
        put_blocks(&speedup, format, out);
    }
    res_speedup_free(&speedup);
}
