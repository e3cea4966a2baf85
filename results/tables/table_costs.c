/*
 * table_costs.c - host costs by framework: of a node, an execution, an argument.
 */
#include "results/findings/costs.h"
#include "results/tables/tables_priv.h"

#include <math.h>
#include <stdlib.h>

/* ---- rows ------------------------------------------------------------------------------------ */

/* A mean count of the processes: an integer where they agree. */
static json_t *mean_count(double count)
{
    return isfinite(count) && count == floor(count) ? json_integer((json_int_t)count)
                                                    : res_json_real(count);
}

static json_t *rows_of(const res_cost *cost)
{
    json_t *rows = json_array(), *row = res_row_of("costs", cost->row, rows);
    json_object_set_new(row, "nodes", mean_count(cost->nodes));
    res_json_interval(row, "trace", cost->trace.value);
    res_json_interval(row, "node", cost->node.value);
    json_object_set_new(row, "executions", mean_count(cost->executions));
    json_object_set_new(row, "arguments", mean_count(cost->arguments));
    json_object_set_new(row, "results", mean_count(cost->results));
    res_json_interval(row, "dispatch", cost->dispatch.value);
    res_json_interval(row, "execution", cost->execution.value);
    res_json_interval(row, "over_device", cost->over_device.value);
    json_object_set_new(row, "over_device_refused", json_boolean(cost->over_device_refused));
    res_json_interval(row, "over_pjrt", cost->over_pjrt.value);
    json_object_set_new(row, "device_time_source", json_string(cost->row->figures.source));
    res_json_interval(row, "wall", cost->row->figures.wall.value);
    return rows;
}

static const res_column columns[] = {{"nodes", "nodes", RES_CELL_COUNT, false},
                                     {"trace", "trace", RES_CELL_TIME, false},
                                     {"node", "a node", RES_CELL_TIME, false},
                                     {"node", "95 %", RES_CELL_RANGE, false},
                                     {"executions", "executions", RES_CELL_COUNT, false},
                                     {"arguments", "args", RES_CELL_COUNT, false},
                                     {"results", "results", RES_CELL_COUNT, false},
                                     {"dispatch", "dispatch", RES_CELL_TIME, false},
                                     {"execution", "an execution", RES_CELL_TIME, false},
                                     {"execution", "95 %", RES_CELL_RANGE, false},
                                     {"over_device", "over device", RES_CELL_DIFFERENCE, false},
                                     {"over_device", "95 %", RES_CELL_BOUNDS, false},
                                     {"over_pjrt", "over PJRT", RES_CELL_DIFFERENCE, false},
                                     {"over_pjrt", "95 %", RES_CELL_BOUNDS, false},
                                     {"device_time_source", "source", RES_CELL_TEXT, false},
                                     {"wall", "wall", RES_CELL_TIME, false},
                                     {"processes", "processes", RES_CELL_COUNT, true},
                                     {NULL, NULL, RES_CELL_TEXT, false}};

static const char *const notes[] = {
    "a node: trace, hash and lookup of a step, shared among the nodes that it traces. Each front "
    "end has nodes of its own.",
    "dispatch: the plugin's execute calls, submit to return; an execution: its share. A runtime "
    "that computes in the call has device work in it.",
    "over device: wall time minus device time, by process; \"<\": indistinguishable from zero.",
    "over PJRT: wall time minus the PJRT times, submit to ready, of a step's executions. source: "
    "of "
    "the device time. Where sources differ, compare over PJRT: device times of source event "
    "include "
    "the start of each execution, so over device lacks it.",
    res_times_note,
    NULL};

/* ---- frameworks ------------------------------------------------------------------------------ */

static json_t *fit_json(const res_cost_fit *fit)
{
    const res_experiment *e = &fit->example->experiment;
    json_t *object = json_object();
    json_object_set_new(object, "runtime", res_json_text(e->runtime));
    json_object_set_new(object, "simulated", json_boolean(fit->example->simulated));
    json_object_set_new(object, "front_end", res_json_text(e->front_end));
    json_object_set_new(object, "mode", res_json_text(e->mode));
    json_object_set_new(object, "dispatch", json_string(e->dispatch));
    json_object_set_new(object, "trace_cost_ns", json_integer(e->trace_cost_ns));
    json_object_set_new(object, "rows", json_integer((json_int_t)fit->rows));
    json_object_set_new(object, "rows_traced", json_integer((json_int_t)fit->traced));
    json_object_set_new(object, "processes", json_integer((json_int_t)fit->processes));
    res_json_interval(object, "node", fit->node);
    res_json_interval(object, "execution", fit->execution);
    res_json_interval(object, "value", fit->value);
    json_object_set_new(object, "law", json_string(res_fit_name(fit->verdict)));
    json_object_set_new(object, "off_share", res_json_real(fit->off));
    return object;
}

static void put_time(json_t *row, res_interval ns)
{
    res_sheet_put(row, "%s", res_time(ns.estimate).text);
    res_sheet_put(row, "%s", res_time_range(ns.estimate, ns.low, ns.high).text);
}

static json_t *fit_cells(const res_cost_fit *fit)
{
    const res_experiment *e = &fit->example->experiment;
    const res_interval off = {fit->off, (double)NAN, (double)NAN};
    char emulated[64] = "";
    json_t *row = json_array();
    if (e->trace_cost_ns > 0)
        snprintf(emulated, sizeof emulated, ", %d ns a node emulated", e->trace_cost_ns);
    res_sheet_put(row, "%s%s", e->runtime, res_simulated_shown(fit->example));
    res_sheet_put(row, "%s%s", res_way_of(e).text, emulated);
    res_sheet_put(row, "%zu", fit->rows);
    put_time(row, fit->node);
    put_time(row, fit->execution);
    put_time(row, fit->value);
    res_sheet_put(row, "%s", res_fit_name(fit->verdict));
    res_sheet_put(row, "%s", isfinite(fit->off) ? res_share(off).text : "-");
    res_sheet_put(row, "%zu", fit->processes);
    return row;
}

static void put_fits(const res_costs *costs, res_format format, bn_text *out)
{
    static const res_sheet_column heads[] = {
        {"runtime", false}, {"mode", false},        {"rows", true},     {"a node", true},
        {"95 %", true},     {"an execution", true}, {"95 %", true},     {"an argument", true},
        {"95 %", true},     {"line", false},        {"farthest", true}, {"processes", true}};
    json_t *rows = json_array();
    for (size_t i = 0; i < costs->fit_count; i++)
        json_array_append_new(rows, fit_cells(&costs->fits[i]));
    bn_text_putc(out, '\n');
    res_put_heading(out, format, 2, "By framework and mode");
    res_sheet_write(heads, sizeof heads / sizeof *heads, rows, format, out);
    json_decref(rows);
    bn_text_putc(out, '\n');
    res_put_note(out, format, "a node: geometric mean over the rows that trace in each step.");
    res_put_note(out, format,
                 "an execution, an argument: intercept and slope of a line of dispatch over "
                 "arguments plus results, fitted for each process over its rows. \"-\": all rows "
                 "have the same number. line: whether it fits the rows; farthest: its largest "
                 "residual.");
    res_put_note(out, format,
                 "Where each run is one value, these figures are of the latest run of each row "
                 "with three processes, or else of one process of each run.");
}

/* ---- the table ------------------------------------------------------------------------------- */

static void put_json(const res_row_group *groups, const res_costs *costs, bn_text *out)
{
    json_t *rows = json_array(), *fits = json_array();
    for (size_t i = 0; i < costs->count; i++)
        json_array_extend(rows, groups[i].rows);
    for (size_t i = 0; i < costs->fit_count; i++)
        json_array_append_new(fits, fit_json(&costs->fits[i]));
    json_t *object = json_pack("{s:o, s:o}", "rows", rows, "front_ends", fits);
    res_put_json(out, object);
    json_decref(object);
}

static void put_costs(const res_costs *costs, res_format format, bn_text *out)
{
    res_row_group *groups = bn_zalloc(costs->count, sizeof *groups);
    for (size_t i = 0; i < costs->count; i++)
        groups[i] = (res_row_group){costs->list[i].row->record, rows_of(&costs->list[i])};
    if (format == RES_TABLE_JSON)
        put_json(groups, costs, out);
    else
        res_put_groups("Costs by framework", groups, costs->count, columns, RES_MOST_ROWS, notes,
                       format, out);
    if (format != RES_TABLE_JSON && format != RES_TABLE_CSV && costs->fit_count > 0)
        put_fits(costs, format, out);
    for (size_t i = 0; i < costs->count; i++)
        json_decref(groups[i].rows);
    free(groups);
}

void res_table_costs(const res_collection *all, res_format format, bn_text *out)
{
    res_speedup speedup;
    res_costs costs;
    res_speedup_make(all, &speedup);
    res_costs_make(&speedup, &costs);
    put_costs(&costs, format, out);
    res_costs_free(&costs);
    res_speedup_free(&speedup);
}

const res_table_kind res_table_of_costs = {
    "costs", "of a traced node, an execution, an argument, by framework", res_table_costs};
