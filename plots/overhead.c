/*
 * overhead.c - the overhead of an execution (PJRT time minus device time), over the number of
 * its arguments and over the graphs of a step.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 980
#define PANEL 330
#define FOOT  62

/* One execution, or the mean of a step's. */
typedef struct dot {
    size_t series;
    double x;
    res_interval ns; /* without bounds where there are too few processes */
} dot;

typedef struct dots {
    dot *list;
    size_t count, room;
} dots;

/* A cell in one mode, whatever the number of graphs. */
typedef struct drawn {
    const char *label; /* of the row, borrowed */
    res_way_words way;
    char name[300];
    size_t cell, mode; /* numbers of its label and its way, from 0 */
} drawn;

typedef struct drawing {
    dots arguments, graphs;
    drawn *list;
    size_t series_count, cells, modes;
    double least_ns, most_ns;
    int most_graphs;
} drawing;

static size_t series_of(drawing *d, const plot_row *row)
{
    drawn one = {.label = row->label,
                 .way = res_way_of(&row->record->experiment),
                 .cell = d->cells,
                 .mode = d->modes};
    for (size_t i = 0; i < d->series_count; i++) {
        const bool same_cell = strcmp(d->list[i].label, one.label) == 0;
        const bool same_way = strcmp(d->list[i].way.text, one.way.text) == 0;
        if (same_cell && same_way)
            return i;
        if (same_cell)
            one.cell = d->list[i].cell;
        if (same_way)
            one.mode = d->list[i].mode;
    }
    d->cells += one.cell == d->cells;
    d->modes += one.mode == d->modes;
    snprintf(one.name, sizeof one.name, "%.*s, %s", BN_FIT(one.label, 200), one.way.text);
    d->list[d->series_count] = one;
    return d->series_count++;
}

/* Colours are of cells and markers of modes if there are enough of both; otherwise each series has
 * the next pair of them. */
static bool paired(const drawing *d)
{
    return d->cells <= PLOT_COLOURS && d->modes <= PLOT_MARKERS;
}

static const char *colour_of(const drawing *d, size_t number)
{
    return plot_series_colour(paired(d) ? d->list[number].cell : number);
}

static int marker_of(const drawing *d, size_t number)
{
    return plot_series_marker(paired(d) ? d->list[number].mode : number);
}

/* Records of two stores may have one id, and rows of one id share its executions, so the number of
 * dots is not known beforehand. */
static void add(drawing *d, dots *to, size_t series, double x, res_interval ns)
{
    bn_grow(&to->list, to->count + 1, &to->room, sizeof *to->list);
    to->list[to->count++] = (dot){series, x, ns};
    d->least_ns = fmin(d->least_ns, fmin(ns.estimate, ns.low));
    d->most_ns = fmax(d->most_ns, fmax(ns.estimate, ns.high));
}

static res_interval overhead_of(const json_t *object, const char *name)
{
    return (res_interval){plot_real(object, name), plot_real(object, "overhead_low_ns"),
                          plot_real(object, "overhead_high_ns")};
}

/* EXECUTIONS are those of all rows. */
static void add_row(drawing *d, const plot_row *row, const json_t *executions)
{
    const res_record *record = row->record;
    const res_interval mean = overhead_of(row->figures, "overhead_per_execution_ns");
    for (size_t i = 0; i < json_array_size(executions); i++) {
        const json_t *x = json_array_get(executions, i);
        const res_interval ns = overhead_of(x, "overhead_ns");
        if (plot_is_of(x, row) && isfinite(ns.estimate))
            add(d, &d->arguments, series_of(d, row), plot_real(x, "arguments"), ns);
    }
    if (!isfinite(mean.estimate) || record->experiment.graphs < 1)
        return;
    add(d, &d->graphs, series_of(d, row), record->experiment.graphs, mean);
    if (record->experiment.graphs > d->most_graphs)
        d->most_graphs = record->experiment.graphs;
}

/* ---- the picture ------------------------------------------------------------------------ */

/* Puts two blocks of data for each series, first those that are significant: x, overhead, low, high
 * in ns. Without bounds the marker has no bar. */
static void put_data(plot *p, const drawing *d, const dots *of, const char *name, bool shift)
{
    for (size_t s = 0; s < 2 * d->series_count; s++) {
        bn_text_printf(&p->script, "$%s%zu << EOD\n", name, s);
        for (size_t i = 0; i < of->count; i++) {
            const dot *one = &of->list[i];
            const double aside = ((double)(s / 2) + 0.5) / (double)d->series_count - 0.5;
            const bool significant = res_difference_shows(one->ns) == RES_DIFFERENCE_SIGNIFICANT;
            const bool bar = isfinite(one->ns.low) && isfinite(one->ns.high);
            if (one->series == s / 2 && significant == (s % 2 == 0))
                bn_text_printf(&p->script, "%.4f %.1f %.1f %.1f\n",
                               shift ? one->x + 0.5 * aside : fmax(one->x, 0.5), one->ns.estimate,
                               bar ? one->ns.low : one->ns.estimate,
                               bar ? one->ns.high : one->ns.estimate);
        }
        bn_text_puts(&p->script, "NaN NaN NaN NaN\n");
        plot_data_end(p);
    }
}

static void put_series(plot *p, const drawing *d, const char *name, double unit_ns)
{
    bn_text_puts(&p->script, "plot 0 with lines linewidth 1 linecolor rgb '" PLOT_SOFT "'");
    for (size_t s = 0; s < 2 * d->series_count; s++)
        bn_text_printf(&p->script,
                       ", \\\n    $%s%zu using 1:($2/%g):($3/%g):($4/%g) with yerrorbars pointtype "
                       "%d pointsize 0.9 linewidth 1.3 linecolor rgb '%s'",
                       name, s, unit_ns, unit_ns, unit_ns, marker_of(d, s / 2) - (int)(s % 2),
                       colour_of(d, s / 2));
    bn_text_putc(&p->script, '\n');
}

static double legend(plot *p, const drawing *d, double y, bool draw)
{
    plot scratch = {.width = WIDTH, .height = 100};
    double x = 16;
    for (size_t s = 0; s < d->series_count; s++) {
        if (x > 16 && x + 40 + plot_text_width(d->list[s].name, 12) > WIDTH - 16) {
            x = 16;
            y += 20;
        }
        x = plot_legend_marker(draw ? p : &scratch, marker_of(d, s), colour_of(d, s),
                               d->list[s].name, x, y);
    }
    plot_free(&scratch);
    return y + 20;
}

static void axis_label(plot *p, const char *axis, const char *text)
{
    bn_text_printf(&p->script, "set %slabel ", axis);
    plot_quote(&p->script, text);
    bn_text_puts(&p->script, " textcolor rgb '" PLOT_INK "' font 'sans-serif,12'\n");
}

static void put_panels(plot *p, const drawing *d, double top)
{
    const plot_unit unit = plot_time_unit(d->most_ns);
    const bool both = d->most_graphs > 1;
    const double bottom = top + PANEL, middle = both ? WIDTH * 0.56 : WIDTH - 24;
    /* Where all are the same the axis has a length still. */
    const double pad = fmax((d->most_ns - d->least_ns) * 0.05, 1);
    char text[96];
    snprintf(text, sizeof text, "overhead of one execution (%s)", unit.name);
    axis_label(p, "y", text);
    bn_text_printf(&p->script, "set yrange [%.6g:%.6g]\nset multiplot\n",
                   (d->least_ns - (d->least_ns < 0 ? pad : 0)) / unit.ns,
                   (d->most_ns + pad) / unit.ns);
    plot_margins(p, 76, middle, top, bottom);
    axis_label(p, "x", "arguments of the execution (logarithmic)");
    bn_text_puts(
        &p->script,
        "set logscale x\nset xrange [0.7:*]\nset xtics (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, "
        "2000, 5000)\n");
    put_data(p, d, &d->arguments, "arguments", false);
    put_series(p, d, "arguments", unit.ns);
    if (both) {
        /* Labels and boxes of the whole picture are drawn once. */
        bn_text_puts(&p->script, "unset label\nunset object\nunset logscale x\nunset ylabel\n");
        plot_margins(p, middle + 70, WIDTH - 24, top, bottom);
        axis_label(p, "x", "graphs that a step is cut into");
        bn_text_printf(&p->script, "set xrange [0.4:%d.6]\nset xtics (1, 2, 3, 5)\n",
                       d->most_graphs);
        put_data(p, d, &d->graphs, "graphs", true);
        put_series(p, d, "graphs", unit.ns);
    }
    bn_text_puts(&p->script, "unset multiplot\n");
}

static void put_plot(plot *p, const drawing *d, const plot_rows *rows)
{
    char subtitle[1400];
    snprintf(
        subtitle, sizeof subtitle,
        "%.*s%sBars: 95 %% intervals over processes. Hollow markers: indistinguishable from zero.",
        BN_FIT(rows->common, 1100), rows->common[0] ? ". " : "");
    const plot_words words = {"Overhead of an execution: PJRT time minus device time", subtitle,
                              rows->badge};
    const double keys = legend(p, d, 0, false);
    const double head = plot_begin(p, &words, WIDTH, (int)keys + PANEL + FOOT + 8);
    legend(p, d, head + 6, true);
    put_panels(p, d, head + keys + 4);
    bn_text_printf(&p->description, "Overhead of one execution against its arguments%s. %s",
                   d->most_graphs > 1 ? " and against the graphs of a step" : "", subtitle);
    for (size_t i = 0; i < d->graphs.count && i < 40; i++) {
        const dot *one = &d->graphs.list[i];
        bn_text_printf(&p->description, " %s in %.0f graph%s: %s.", d->list[one->series].name,
                       one->x, one->x > 1 ? "s" : "", plot_difference_text(one->ns).text);
    }
}

bn_code plot_overhead(const res_collection *all, plot *p, bn_status *st)
{
    plot_rows rows;
    bn_code code = BN_OK;
    *p = (plot){0};
    plot_rows_make(all, &rows);
    json_t *list = plot_rows_list(&rows, "executions");
    drawing d = {.list = bn_zalloc(rows.count + 1, sizeof *d.list)};
    for (size_t i = 0; i < rows.count; i++)
        if (plot_row_good(&rows.rows[i]))
            add_row(&d, &rows.rows[i], list);
    if (d.arguments.count == 0)
        code = bn_fail(st, BN_NOT_FOUND,
                       "overhead: no execution here has both a PJRT time and a device time");
    else
        put_plot(p, &d, &rows);
    free(d.graphs.list);
    free(d.arguments.list);
    free(d.list);
    json_decref(list);
    plot_rows_free(&rows);
    return code;
}

const plot_kind plot_kind_overhead = {"overhead", plot_overhead};
