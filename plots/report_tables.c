/*
 * report_tables.c - the page's tables: speedups, ledgers, executions, compiling. Their
 * figures are those of the tables' JSON; NaN, which is null there, is an empty cell.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Steps of more executions are not listed; eager has hundreds. */
#define MOST_EXECUTIONS 12

static void time_cell(bn_text *out, double ns)
{
    plot_cell_number(out, ns, plot_time_text(ns).text);
}

static void interval_cell(bn_text *out, double low_ns, double high_ns)
{
    char text[80];
    snprintf(text, sizeof text, "%s to %s", plot_time_text(low_ns).text,
             plot_time_text(high_ns).text);
    plot_cell_number(out, isfinite(high_ns) ? low_ns : (double)NAN, text);
}

/* An overhead of ROW; the word of tables where it was refused. */
static void overhead_cell(bn_text *out, const json_t *row, res_interval ns)
{
    if (json_is_true(json_object_get(row, "overhead_refused")))
        bn_text_puts(out, "<td class=\"number\">" RES_UNKNOWN_TEXT "</td>");
    else
        plot_cell_number(out, ns.estimate, plot_difference_text(ns).text);
}

static void count_cell(bn_text *out, double count)
{
    char text[32];
    snprintf(text, sizeof text, "%.10g", count);
    plot_cell_number(out, count, text);
}

static void bytes_cell(bn_text *out, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    char text[32];
    double scaled = bytes;
    size_t unit = 0;
    for (; scaled >= 1023.5 && unit < 3; unit++)
        scaled /= 1024;
    snprintf(text, sizeof text, "%.*f %s", unit && scaled < 99.95 ? 1 : 0, scaled, units[unit]);
    plot_cell_number(out, bytes, text);
}

static void name_cells(const plot_row *row, bn_text *out)
{
    bn_text_puts(out, "<tr>");
    plot_cell(out, row->label);
    plot_cell(out, row->way);
}

/* ---- speedup -------------------------------------------------------------------------- */

/* The verdict as in the table's column "difference". */
static const char *verdict(const plot_row *row)
{
    const json_t *significant = json_object_get(row->figures, "told");
    if (!json_is_boolean(significant))
        return "";
    if (!isfinite(plot_row_real(row, "speedup_low")))
        return json_is_true(json_object_get(row->figures, "apart")) ? "measured apart"
                                                                    : "too few processes";
    if (json_is_false(significant))
        return "no significant difference";
    return plot_row_real(row, "speedup") > 1 ? "faster" : "slower";
}

static void ratio_cells(double ratio, double low, double high, bn_text *out)
{
    char text[64];
    const int decimals = res_ratio_decimals((res_interval){ratio, low, high});
    snprintf(text, sizeof text, "%.*fx", decimals, ratio);
    plot_cell_number(out, ratio, text);
    snprintf(text, sizeof text, "%.*f to %.*f", decimals, low, decimals, high);
    plot_cell_number(out, low, text);
}

static void speedup_row(const plot_row *row, bn_text *out)
{
    const char *program = json_string_value(json_object_get(row->figures, "program"));
    name_cells(row, out);
    if (row->record->status != BN_OK) {
        bn_text_puts(out, "<td class=\"bad\">failed: ");
        plot_html_text(out, bn_code_name(row->record->status));
        bn_text_puts(out, "</td>");
        for (int rest = 0; rest < 11; rest++)
            plot_cell(out, "");
        bn_text_puts(out, "</tr>\n");
        return;
    }
    count_cell(out, plot_row_real(row, "processes"));
    time_cell(out, plot_row_real(row, "wall_ns"));
    interval_cell(out, plot_row_real(row, "wall_low_ns"), plot_row_real(row, "wall_high_ns"));
    plot_cell(out, program ? program : "");
    ratio_cells(plot_row_real(row, "speedup"), plot_row_real(row, "speedup_low"),
                plot_row_real(row, "speedup_high"), out);
    plot_cell(out, verdict(row));
    time_cell(out, plot_row_real(row, "trace_ns"));
    overhead_cell(out, row->figures,
                  (res_interval){plot_row_real(row, "overhead_per_execution_ns"),
                                 plot_row_real(row, "overhead_low_ns"),
                                 plot_row_real(row, "overhead_high_ns")});
    time_cell(out, plot_row_real(row, "device_per_step_ns"));
    plot_cell(out, json_string_value(json_object_get(row->figures, "device_time_source")));
    time_cell(out, plot_row_real(row, "compile_ns"));
    bn_text_puts(out, "</tr>\n");
}

static void put_means(const plot_rows *rows, bn_text *out)
{
    size_t index;
    json_t *mean;
    plot_table_begin(
        out, PLOT_NONE,
        "Geometric means of the speedups over lazy, of the cells that have one. They are not "
        "tested for significance.",
        "runtime|phase|mode|#graphs|#speedup|#95 %|cells");
    json_array_foreach((json_t *)(uintptr_t)rows->means, index, mean)
    {
        char text[48];
        bn_text_puts(out, "<tr>");
        plot_cell(out, json_string_value(json_object_get(mean, "runtime")));
        plot_cell(out, json_string_value(json_object_get(mean, "phase")));
        char way[PLOT_STRATEGY_BYTES];
        plot_mean_strategy(mean, way);
        plot_cell(out, way);
        count_cell(out, plot_real(mean, "graphs"));
        ratio_cells(plot_real(mean, "speedup"), plot_real(mean, "speedup_low"),
                    plot_real(mean, "speedup_high"), out);
        snprintf(text, sizeof text, "%.0f of %.0f", plot_real(mean, "covered"),
                 plot_real(mean, "cells"));
        plot_cell(out, text);
        bn_text_puts(out, "</tr>\n");
    }
    plot_table_end(out);
}

/* Sentences of the table, as paragraphs. */
static void put_sentences(const json_t *list, bn_text *out)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const json_t *text = json_is_object(one) ? json_object_get(one, "sentence") : one;
        bn_text_puts(out, "<p>");
        plot_html_text(out, json_string_value(text) ? json_string_value(text) : "");
        bn_text_puts(out, "</p>\n");
    }
}

void plot_report_found(const plot_rows *rows, bn_text *out)
{
    const json_t *findings = json_object_get(rows->table, "findings");
    if (json_array_size(findings) == 0)
        return;
    bn_text_puts(out, "<h3 data-part=\"found\">What was found</h3>\n");
    put_sentences(findings, out);
}

static void put_speedups(const plot_rows *rows, bool found, bn_text *out)
{
    const json_t *interference =
        json_object_get(json_object_get(rows->table, "witness"), "sentence");
    bn_text_puts(out, "<h3>Speedup over lazy</h3>\n");
    if (json_is_string(interference)) {
        bn_text_puts(out, "<p class=\"bad\">");
        plot_html_text(out, json_string_value(interference));
        bn_text_puts(out, "</p>\n");
    }
    plot_table_begin(
        out, PLOT_MEDIANS,
        "The median step of a round, averaged over rounds and processes; the trimmed mean step of "
        "lazy over that of this row, significance at 5 % family-wise over the table; overhead of "
        "an execution: PJRT time minus device time, \"<\": "
        "indistinguishable from zero. Intervals are over processes, or over the means of "
        "runs where there are several.",
        "experiment|mode|#processes|#step|#95 %|program|#speedup|#95 %|difference|"
        "#trace|#overhead|#device|source|#compile");
    for (size_t i = 0; i < rows->count; i++)
        speedup_row(&rows->rows[i], out);
    plot_table_end(out);
    put_sentences(json_object_get(rows->table, "notes"), out);
    if (json_array_size(rows->means) > 0)
        put_means(rows, out);
    if (found)
        plot_report_found(rows, out);
}

/* ---- ledger --------------------------------------------------------------------------- */

/* Marks parts that took time in some row. */
static void parts_that_are(const json_t *ledgers, bool present[BN_PART_COUNT])
{
    for (size_t i = 0; i < json_array_size(ledgers); i++)
        for (int part = 0; part < BN_PART_COUNT; part++) {
            char name[64];
            snprintf(name, sizeof name, "%s_mean_ns", bn_part_name((bn_part)part));
            present[part] = present[part] || plot_real(json_array_get(ledgers, i), name) > 0;
        }
}

static void ledger_row(const plot_row *row, const json_t *ledger, const bool present[BN_PART_COUNT],
                       bn_text *out)
{
    name_cells(row, out);
    for (int part = 0; part < BN_PART_COUNT; part++) {
        char name[64];
        snprintf(name, sizeof name, "%s_ns", bn_part_name((bn_part)part));
        if (present[part])
            time_cell(out, plot_real(ledger, name));
    }
    time_cell(out, plot_real(ledger, "wall_ns"));
    bn_text_puts(out, "</tr>\n");
}

static void put_ledgers(const plot_rows *rows, bn_text *out)
{
    bool present[BN_PART_COUNT] = {false};
    bn_text columns = {0};
    json_t *ledgers = plot_rows_list(rows, "ledger");
    parts_that_are(ledgers, present);
    bn_text_puts(&columns, "experiment|mode");
    for (int part = 0; part < BN_PART_COUNT; part++)
        if (present[part])
            bn_text_printf(&columns, "|#%s", bn_part_name((bn_part)part));
    bn_text_puts(&columns, "|#wall");
    bn_text_puts(out, "<h3>Ledger of a step</h3>\n");
    plot_table_begin(out, PLOT_MEDIANS,
                     "Time of each part of a step, over the processes; parts that took no time in "
                     "any are left out. The pictures show means.",
                     columns.data);
    bn_text_free(&columns);
    for (size_t i = 0; i < rows->count; i++)
        for (size_t j = 0; j < json_array_size(ledgers); j++)
            if (plot_is_of(json_array_get(ledgers, j), &rows->rows[i]))
                ledger_row(&rows->rows[i], json_array_get(ledgers, j), present, out);
    json_decref(ledgers);
    plot_table_end(out);
    bn_text_puts(out, "<details><summary>What the parts are</summary>\n<dl>\n");
    for (int part = 0; part < BN_PART_COUNT; part++) {
        bn_text_printf(out, "<dt>%s</dt><dd>", bn_part_name((bn_part)part));
        plot_html_text(out, bn_part_text((bn_part)part));
        bn_text_puts(out, "</dd>\n");
    }
    bn_text_puts(out, "</dl>\n</details>\n");
}

/* ---- executions ------------------------------------------------------------------------- */

/* X has the figures of all processes, MORE is the record's. */
static void execution_row(const plot_row *row, const json_t *x, const res_execution *more,
                          bn_text *out)
{
    const res_interval overhead = {plot_real(x, "overhead_ns"), plot_real(x, "overhead_low_ns"),
                                   plot_real(x, "overhead_high_ns")};
    name_cells(row, out);
    plot_cell(out, more->graph);
    count_cell(out, more->per_step);
    count_cell(out, more->arguments);
    count_cell(out, more->results);
    time_cell(out, plot_real(x, "pjrt_ns"));
    time_cell(out, plot_real(x, "device_ns"));
    overhead_cell(out, x, overhead);
    interval_cell(out, overhead.low, overhead.high);
    plot_cell(out, json_string_value(json_object_get(x, "device_time_source")));
    time_cell(out, plot_real(x, "compile_ns"));
    bytes_cell(out, more->argument_bytes < 0 ? (double)NAN : (double)more->argument_bytes);
    bytes_cell(out, more->temp_bytes < 0 ? (double)NAN : (double)more->temp_bytes);
    bn_text_puts(out, "</tr>\n");
}

static void put_executions(const plot_rows *rows, bn_text *out)
{
    json_t *list = plot_rows_list(rows, "executions");
    bn_text_puts(out, "<h3>Executions</h3>\n");
    plot_table_begin(
        out, PLOT_MEDIANS,
        "One execution submitted alone (PJRT time), the device's part, the rest "
        "(overhead) with its 95 % interval over processes, \"<\": indistinguishable from zero; "
        "compiling and memory. Steps of more than twelve graphs (eager) are left out: bench table "
        "shows them.",
        "experiment|mode|graph|#a step|#arguments|#results|#PJRT|#device|#overhead|"
        "#95 %|source|#compile|#argument memory|#temporary memory");
    for (size_t i = 0; i < rows->count; i++) {
        const plot_row *row = &rows->rows[i];
        size_t next = 0;
        if (!plot_row_good(row) || row->record->execution_count > MOST_EXECUTIONS)
            continue;
        /* So few stand in the record's order. */
        for (size_t j = 0; j < json_array_size(list) && next < row->record->execution_count; j++)
            if (plot_is_of(json_array_get(list, j), row))
                execution_row(row, json_array_get(list, j), &row->record->executions[next++], out);
    }
    json_decref(list);
    plot_table_end(out);
}

void plot_report_tables(const plot_rows *rows, bool found, bn_text *out)
{
    bn_text_puts(out, "<section aria-labelledby=\"tables\">\n<h2 id=\"tables\">Tables</h2>\n"
                      "<p class=\"soft\">A click on a column's name sorts by it.");
    if (rows->common[0]) {
        bn_text_puts(out, " All rows: ");
        plot_html_text(out, rows->common);
        bn_text_puts(out, ".");
    }
    bn_text_printf(out, "</p>\n<p class=\"soft\">%s</p>\n", res_times_note);
    put_speedups(rows, found, out);
    put_ledgers(rows, out);
    put_executions(rows, out);
    bn_text_puts(out, "</section>\n");
}
