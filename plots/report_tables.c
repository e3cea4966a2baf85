/*
 * report_tables.c - the page's tables: speedups, ledgers, executions, compiling. Their
 * figures are those of the JSON of results; NaN, which is null there, is an empty cell.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Steps of more executions are not listed; eager has hundreds. */
#define MOST_EXECUTIONS 12

static double real(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

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

static void speedup_row(const plot_row *row, bn_text *out)
{
    char text[64];
    const double ratio = plot_row_real(row, "speedup"), low = plot_row_real(row, "speedup_low"),
                 high = plot_row_real(row, "speedup_high");
    name_cells(row, out);
    if (row->record->status != BN_OK) {
        bn_text_puts(out, "<td class=\"bad\">failed: ");
        plot_html_text(out, bn_code_name(row->record->status));
        bn_text_puts(out, "</td>");
        for (int rest = 0; rest < 8; rest++)
            plot_cell(out, "");
        bn_text_puts(out, "</tr>\n");
        return;
    }
    time_cell(out, plot_row_real(row, "wall_ns"));
    interval_cell(out, plot_row_real(row, "wall_low_ns"), plot_row_real(row, "wall_high_ns"));
    snprintf(text, sizeof text, "%.2fx", ratio);
    plot_cell_number(out, ratio, text);
    snprintf(text, sizeof text, "%.2f to %.2f", low, high);
    plot_cell_number(out, low, text);
    time_cell(out, plot_row_real(row, "trace_ns"));
    time_cell(out, plot_row_real(row, "overhead_per_execution_ns"));
    time_cell(out, plot_row_real(row, "device_per_step_ns"));
    plot_cell(out, json_string_value(json_object_get(row->figures, "device_time_source")));
    time_cell(out, plot_row_real(row, "compile_ns"));
    bn_text_puts(out, "</tr>\n");
}

static void put_means(const plot_rows *rows, bn_text *out)
{
    size_t index;
    json_t *mean;
    plot_table_begin(out, "Geometric means of the speedups over lazy, of the cells that have one.",
                     "runtime|phase|mode|#graphs|#speedup|cells");
    json_array_foreach((json_t *)(uintptr_t)rows->means, index, mean)
    {
        char text[48];
        const double ratio = real(mean, "speedup");
        bn_text_puts(out, "<tr>");
        plot_cell(out, json_string_value(json_object_get(mean, "runtime")));
        plot_cell(out, json_string_value(json_object_get(mean, "phase")));
        plot_cell(out, json_string_value(json_object_get(mean, "mode")));
        count_cell(out, real(mean, "graphs"));
        snprintf(text, sizeof text, "%.2fx", ratio);
        plot_cell_number(out, ratio, text);
        snprintf(text, sizeof text, "%.0f of %.0f", real(mean, "covered"), real(mean, "cells"));
        plot_cell(out, text);
        bn_text_puts(out, "</tr>\n");
    }
    plot_table_end(out);
}

static void put_speedups(const plot_rows *rows, bn_text *out)
{
    bn_text_puts(out, "<h3>Speedup over lazy</h3>\n");
    plot_table_begin(out,
                     "Median step with its 95 % interval; lazy step over this step; overhead of an "
                     "execution: PJRT time less device time. Intervals are of one process each.",
                     "experiment|mode|#step|#95 %|#speedup|#95 %|#trace|#overhead|#device|source|"
                     "#compile");
    for (size_t i = 0; i < rows->count; i++)
        speedup_row(&rows->rows[i], out);
    plot_table_end(out);
    if (json_array_size(rows->means) > 0)
        put_means(rows, out);
}

/* ---- ledger --------------------------------------------------------------------------- */

/* Marks parts that took time in some row. */
static void parts_that_are(const plot_rows *rows, bool present[BN_PART_COUNT])
{
    for (size_t i = 0; i < rows->count; i++) {
        const res_record *record = rows->rows[i].record;
        for (size_t at = 0; at < record->step_count * BN_PART_COUNT; at++)
            present[at % BN_PART_COUNT] = present[at % BN_PART_COUNT] || record->part_ns[at] > 0;
    }
}

static void ledger_row(const plot_row *row, const bool present[BN_PART_COUNT], bn_text *out)
{
    json_t *record = res_record_to_json(row->record);
    const json_t *ledger = json_object_get(record, "ledger");
    name_cells(row, out);
    for (int part = 0; part < BN_PART_COUNT; part++)
        if (present[part])
            time_cell(out, real(json_object_get(ledger, bn_part_name((bn_part)part)), "median_ns"));
    time_cell(out, real(json_object_get(ledger, "wall"), "median_ns"));
    bn_text_puts(out, "</tr>\n");
    json_decref(record);
}

static void put_ledgers(const plot_rows *rows, bn_text *out)
{
    bool present[BN_PART_COUNT] = {false};
    bn_text columns = {0};
    parts_that_are(rows, present);
    bn_text_puts(&columns, "experiment|mode");
    for (int part = 0; part < BN_PART_COUNT; part++)
        if (present[part])
            bn_text_printf(&columns, "|#%s", bn_part_name((bn_part)part));
    bn_text_puts(&columns, "|#wall");
    bn_text_puts(out, "<h3>Ledger of a step</h3>\n");
    plot_table_begin(out,
                     "Median time of each part of a step; parts that took no time in any are left "
                     "out. Medians need not add up; the pictures show means, which do.",
                     columns.data ? columns.data : "");
    out->failed = out->failed || columns.failed;
    bn_text_free(&columns);
    for (size_t i = 0; i < rows->count; i++)
        if (plot_row_good(&rows->rows[i]))
            ledger_row(&rows->rows[i], present, out);
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

static void execution_row(const plot_row *row, const json_t *execution, bn_text *out)
{
    const double overhead = real(execution, "overhead_ns"),
                 low = real(execution, "overhead_low_ns"),
                 high = real(execution, "overhead_high_ns");
    name_cells(row, out);
    plot_cell(out, json_string_value(json_object_get(execution, "graph")));
    count_cell(out, real(execution, "per_step"));
    count_cell(out, real(execution, "arguments"));
    count_cell(out, real(execution, "results"));
    time_cell(out, real(execution, "pjrt_ns"));
    time_cell(out, real(execution, "device_ns"));
    time_cell(out, overhead);
    interval_cell(out, low, high);
    plot_cell(out, json_string_value(json_object_get(execution, "device_time_source")));
    time_cell(out, real(execution, "compile_ns"));
    bytes_cell(out, real(execution, "argument_bytes"));
    bytes_cell(out, real(execution, "temp_bytes"));
    bn_text_puts(out, "</tr>\n");
}

static void put_executions(const plot_rows *rows, bn_text *out)
{
    bn_text_puts(out, "<h3>Executions</h3>\n");
    plot_table_begin(
        out,
        "One execution submitted alone (PJRT time, median), the device's part, the rest "
        "(overhead) with its 95 % interval; compiling and memory. Steps of more than "
        "twelve graphs (eager) are left out: bench table shows them.",
        "experiment|mode|graph|#a step|#arguments|#results|#PJRT|#device|#overhead|"
        "#95 %|source|#compile|#argument memory|#temporary memory");
    for (size_t i = 0; i < rows->count; i++) {
        const plot_row *row = &rows->rows[i];
        size_t index;
        json_t *execution;
        if (!plot_row_good(row) || row->record->execution_count > MOST_EXECUTIONS)
            continue;
        json_t *record = res_record_to_json(row->record);
        json_array_foreach(json_object_get(record, "executions"), index, execution)
        {
            execution_row(row, execution, out);
        }
        json_decref(record);
    }
    plot_table_end(out);
}

void plot_report_tables(const plot_rows *rows, bn_text *out)
{
    bn_text_puts(out, "<section aria-labelledby=\"tables\">\n<h2 id=\"tables\">Tables</h2>\n"
                      "<p class=\"soft\">A click on a column's name sorts by it.");
    if (rows->common[0]) {
        bn_text_puts(out, " All rows: ");
        plot_html_text(out, rows->common);
        bn_text_puts(out, ".");
    }
    bn_text_puts(out, "</p>\n");
    put_speedups(rows, out);
    put_ledgers(rows, out);
    put_executions(rows, out);
    bn_text_puts(out, "</section>\n");
}
