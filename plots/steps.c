/*
 * steps.c - the wall time of each step of an experiment, a panel each: warm-up shaded,
 * steps that compiled marked, the median of the measured ones as a line.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH       980
#define PANEL       150
#define PANEL_ROOM  226 /* with its title and axis */
/* Longer series are drawn as the least and the greatest of stretches: nothing that
 * sticks out is lost. */
#define MOST_POINTS 400

static void put_point(plot *p, double x, uint64_t ns, double unit_ns)
{
    bn_text_printf(&p->script, "%.0f %.7g\n", x, (double)ns / unit_ns);
}

/* Step X of the first measured one is 1; COUNT values from FIRST_X. */
static void put_values(plot *p, const uint64_t *ns, size_t count, double first_x, double unit_ns)
{
    const size_t stretch = count > MOST_POINTS ? (2 * count + MOST_POINTS - 1) / MOST_POINTS : 1;
    for (size_t from = 0; from < count; from += stretch) {
        size_t least = from, most = from;
        for (size_t i = from; i < from + stretch && i < count; i++) {
            least = ns[i] < ns[least] ? i : least;
            most = ns[i] > ns[most] ? i : most;
        }
        const size_t early = least < most ? least : most, late = least < most ? most : least;
        put_point(p, first_x + (double)early, ns[early], unit_ns);
        if (late != early)
            put_point(p, first_x + (double)late, ns[late], unit_ns);
    }
}

/* How many programs step I of the warm-up compiled; -1 where the record does not say. */
static json_int_t warmup_compiles(const res_record *record, size_t i)
{
    const json_t *list = json_object_get(json_object_get(record->provenance, "warmup"), "compiles");
    const json_t *value = json_array_get(list, i);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static void put_compiles(plot *p, const res_record *record, double unit_ns)
{
    const double first = 1 - (double)record->warmup_count;
    for (size_t i = 0; i < record->warmup_count; i++)
        if (warmup_compiles(record, i) > 0)
            put_point(p, first + (double)i, record->warmup_wall_ns[i], unit_ns);
    for (size_t i = 0; i < record->step_count; i++)
        if (record->part_ns[i * BN_PART_COUNT + BN_PART_COMPILE] > 0)
            put_point(p, 1 + (double)i, record->wall_ns[i], unit_ns);
    bn_text_puts(&p->script, "NaN NaN\n");
}

typedef struct span {
    double least, most;
} span;

static span span_of(const res_record *record)
{
    span s = {(double)INFINITY, 0};
    for (size_t i = 0; i < record->warmup_count; i++) {
        s.least = fmin(s.least, (double)record->warmup_wall_ns[i]);
        s.most = fmax(s.most, (double)record->warmup_wall_ns[i]);
    }
    for (size_t i = 0; i < record->step_count; i++) {
        s.least = fmin(s.least, (double)record->wall_ns[i]);
        s.most = fmax(s.most, (double)record->wall_ns[i]);
    }
    s.least = fmax(s.least, 1);
    return s;
}

static void put_data(plot *p, const res_record *record, size_t n, double unit_ns)
{
    bn_text_printf(&p->script, "$warmup%zu << EOD\n", n);
    put_values(p, record->warmup_wall_ns, record->warmup_count, 1 - (double)record->warmup_count,
               unit_ns);
    bn_text_puts(&p->script, "NaN NaN\n");
    plot_data_end(p);
    bn_text_printf(&p->script, "$steps%zu << EOD\n", n);
    put_values(p, record->wall_ns, record->step_count, 1, unit_ns);
    plot_data_end(p);
    bn_text_printf(&p->script, "$compiles%zu << EOD\n", n);
    put_compiles(p, record, unit_ns);
    plot_data_end(p);
}

static void put_axes(plot *p, const res_record *record, span s, double unit_ns)
{
    const bool log_scale = s.most > 5 * s.least;
    const double pad = (s.most - s.least) * 0.08 + s.least * 0.01;
    const double low = log_scale ? s.least / 1.3 : s.least - pad;
    const double high = log_scale ? s.most * 1.6 : s.most + pad;
    bn_text_puts(&p->script, log_scale ? "set logscale y\n" : "unset logscale y\n");
    bn_text_printf(&p->script, "set yrange [%.7g:%.7g]\nset xrange [%.1f:%.1f]\n", low / unit_ns,
                   high / unit_ns, 0.5 - (double)record->warmup_count,
                   (double)record->step_count + 0.5);
    bn_text_puts(&p->script, "set format y '%g'\n");
    if (record->warmup_count > 0)
        bn_text_puts(&p->script,
                     "set object rectangle from graph 0, graph 0 to first 0.5, graph 1 behind "
                     "fillcolor rgb '" PLOT_SHADE "' fillstyle solid 1 noborder\n");
}

/* Values are written in the panel's unit. */
static void put_panel(plot *p, const plot_row *row, size_t n, const double at[4])
{
    const res_record *record = row->record;
    const span s = span_of(record);
    const double median = res_quantile(record->wall_ns, record->step_count, 0.5);
    const plot_unit unit = plot_time_unit(median);
    const double size = record->step_count + record->warmup_count > 120 ? 0.35 : 0.6;
    char label[64];
    bn_text title = {0};
    plot_margins(p, at[0], at[2], at[1], at[3]);
    plot_row_title(row, &title);
    plot_text_at(p, title.data ? title.data : "", at[0] - 60, at[1] - 14, "left", "strong");
    p->script.failed = p->script.failed || title.failed;
    snprintf(label, sizeof label, "median %s", plot_time_text(median).text);
    plot_text_at(p, label, at[2], at[1] - 14, "right", "");
    bn_text_printf(&p->description, " %s: %s, %zu steps after %zu of warm-up.",
                   title.data ? title.data : "", label, record->step_count, record->warmup_count);
    bn_text_free(&title);
    put_axes(p, record, s, unit.ns);
    bn_text_printf(&p->script,
                   "set ylabel 'step (%s)' textcolor rgb '" PLOT_INK "' font 'sans-serif,12'\n",
                   unit.name);
    put_data(p, record, n, unit.ns);
    bn_text_printf(
        &p->script,
        "plot $warmup%zu using 1:2 with linespoints pointtype 6 pointsize %.2f linewidth "
        "1 linecolor rgb '" PLOT_SOFT "', \\\n    $steps%zu using 1:2 with linespoints "
        "pointtype 7 pointsize %.2f linewidth 1 linecolor rgb '" PLOT_BLUE
        "', \\\n    [0.5:*] %.7g with lines linewidth 1.6 dashtype 2 linecolor rgb '" PLOT_INK
        "', \\\n    $compiles%zu using 1:2 with points pointtype 11 pointsize 1.2 "
        "linecolor rgb '" PLOT_VERMILION "'\nunset label\nunset object\nunset arrow\n",
        n, size, n, size, median / unit.ns, n);
}

static void put_head(plot *p, double y, size_t left_out, bool unknown)
{
    double x = plot_legend_box(p, (plot_fill){PLOT_SHADE, 0}, "warm-up", 16, y);
    x = plot_legend_marker(p, 11, PLOT_VERMILION, "step that compiled", x, y);
    x = plot_legend_marker(p, 7, PLOT_BLUE, "measured step", x, y);
    x = plot_legend_line(p, 2, PLOT_INK, "median of the measured steps", x, y);
    char text[120] = "";
    if (left_out > 0)
        snprintf(text, sizeof text, "%zu more experiments are not shown", left_out);
    else if (unknown)
        snprintf(text, sizeof text, "older records do not say which steps of warm-up compiled");
    plot_text_at(p, text, WIDTH - 16, y, "right", "soft");
    if (text[0])
        bn_text_printf(&p->description, " %s.", text);
}

/* Whether some record that is shown does not say where its warm-up compiled. */
static bool some_unknown(const plot_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        if (plot_row_good(&rows->rows[i]) && rows->rows[i].record->warmup_count > 0 &&
            warmup_compiles(rows->rows[i].record, 0) < 0)
            return true;
    return false;
}

static void put_plot(plot *p, const plot_rows *rows, size_t good)
{
    const size_t shown = good < PLOT_MOST_PANELS ? good : PLOT_MOST_PANELS;
    const size_t columns = shown > 3 ? 2 : 1, lines = (shown + columns - 1) / columns;
    const plot_words words = {"Step time over steps, the first measured one is step 1",
                              rows->common, rows->badge};
    const double head = plot_begin(p, &words, WIDTH, (int)(lines * PANEL_ROOM) + 34);
    const double room = WIDTH / (double)columns;
    size_t n = 0;
    bn_text_printf(&p->description, "Wall time of each step. %s.", rows->common);
    put_head(p, head + 8, good - shown, some_unknown(rows));
    bn_text_puts(&p->script, "set multiplot\nset xlabel 'step' textcolor rgb '" PLOT_INK
                             "' font 'sans-serif,12' offset 0,0.4\nset ytics autofreq\n");
    for (size_t i = 0; i < rows->count && n < shown; i++) {
        if (!plot_row_good(&rows->rows[i]))
            continue;
        const double left = (double)(n % columns) * room,
                     top = head + 56 + (double)(n / columns) * PANEL_ROOM;
        const double at[] = {left + 78, top, left + room - 20, top + PANEL};
        put_panel(p, &rows->rows[i], n, at);
        n++;
    }
    bn_text_puts(&p->script, "unset multiplot\n");
}

bn_code plot_steps(const res_collection *all, plot *p, bn_status *st)
{
    plot_rows rows;
    size_t good = 0;
    bn_code code = plot_rows_make(all, &rows, st);
    *p = (plot){0};
    if (code != BN_OK)
        return code;
    for (size_t i = 0; i < rows.count; i++)
        good += plot_row_good(&rows.rows[i]);
    if (good > 0)
        put_plot(p, &rows, good);
    else
        code = bn_fail(st, BN_NOT_FOUND, "steps: no experiment here succeeded");
    plot_rows_free(&rows);
    return plot_finish(p, code, st);
}
