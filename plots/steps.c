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
#define PANEL_ROOM  226 /* height of a panel with its title and axis */
/* Longer series are drawn by stretches, with the least and the greatest value of each: nothing that
 * sticks out is lost. */
#define MOST_POINTS 400
/* The warm-up takes this share of the width of the measured steps, which have 0 to 1, however long
 * either part is. */
#define WARMUP      0.22

typedef struct panel {
    const res_record *record;
    size_t number;
    plot_unit unit;
    double median_ns, low_ns, high_ns; /* LOW to HIGH: what lies beyond is drawn at the edge */
    bool log_scale;
} panel;

static double warmup_x(const panel *n, size_t i)
{
    return -WARMUP * (1 - ((double)i + 0.5) / (double)n->record->warmup_count);
}

static double step_x(const panel *n, size_t i)
{
    return ((double)i + 0.5) / (double)n->record->step_count;
}

/* Puts a step (the first measured one is 1), its place and its time. */
static void put_point(plot *p, const panel *n, double step, double x, uint64_t ns)
{
    bn_text_printf(&p->script, "%.0f %.6f %.7g\n", step, x, (double)ns / n->unit.ns);
}

static void put_steps(plot *p, const panel *n)
{
    const uint64_t *ns = n->record->wall_ns;
    const size_t count = n->record->step_count;
    const size_t stretch = count > MOST_POINTS ? (2 * count + MOST_POINTS - 1) / MOST_POINTS : 1;
    for (size_t from = 0; from < count; from += stretch) {
        size_t least = from, most = from;
        for (size_t i = from; i < from + stretch && i < count; i++) {
            least = ns[i] < ns[least] ? i : least;
            most = ns[i] > ns[most] ? i : most;
        }
        const size_t early = least < most ? least : most, late = least < most ? most : least;
        put_point(p, n, (double)early + 1, step_x(n, early), ns[early]);
        if (late != early)
            put_point(p, n, (double)late + 1, step_x(n, late), ns[late]);
    }
}

/* Programs that step I of the warm-up compiled; -1: unknown. */
static json_int_t warmup_compiles(const res_record *record, size_t i)
{
    const json_t *list = res_provenance(record, RES_PROV_WARMUP_COMPILES);
    const json_t *value = json_array_get(list, i);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static double warmup_step(const panel *n, size_t i)
{
    return 1 + (double)i - (double)n->record->warmup_count;
}

static void put_compiles(plot *p, const panel *n)
{
    const res_record *record = n->record;
    for (size_t i = 0; i < record->warmup_count; i++)
        if (warmup_compiles(record, i) > 0)
            put_point(p, n, warmup_step(n, i), warmup_x(n, i), record->warmup_wall_ns[i]);
    for (size_t i = 0; i < record->step_count; i++)
        if (record->part_ns[i * BN_PART_COUNT + BN_PART_COMPILE] > 0)
            put_point(p, n, 1 + (double)i, step_x(n, i), record->wall_ns[i]);
    bn_text_puts(&p->script, "NaN NaN NaN\n");
}

static void put_data(plot *p, const panel *n)
{
    const res_record *record = n->record;
    bn_text_printf(&p->script, "$warmup%zu << EOD\n", n->number);
    for (size_t i = 0; i < record->warmup_count; i++)
        put_point(p, n, warmup_step(n, i), warmup_x(n, i), record->warmup_wall_ns[i]);
    bn_text_puts(&p->script, "NaN NaN NaN\n");
    plot_data_end(p);
    bn_text_printf(&p->script, "$steps%zu << EOD\n", n->number);
    put_steps(p, n);
    plot_data_end(p);
    bn_text_printf(&p->script, "$compiles%zu << EOD\n", n->number);
    put_compiles(p, n);
    plot_data_end(p);
}

/* The scale is that of the measured steps and of the later warm-up. A first step takes a thousand
 * times longer and would make a flat line of the rest. */
static panel make_panel(const res_record *record, size_t number)
{
    panel n = {.record = record, .number = number, .low_ns = (double)INFINITY};
    n.median_ns = res_step_median(record, record->wall_ns);
    n.unit = plot_time_unit(n.median_ns);
    for (size_t i = 0; i < record->step_count; i++) {
        n.low_ns = fmin(n.low_ns, (double)record->wall_ns[i]);
        n.high_ns = fmax(n.high_ns, (double)record->wall_ns[i]);
    }
    const double limit = fmax(n.high_ns, 3 * n.median_ns);
    for (size_t i = 0; i < record->warmup_count; i++) {
        n.low_ns = fmin(n.low_ns, (double)record->warmup_wall_ns[i]);
        if ((double)record->warmup_wall_ns[i] <= limit)
            n.high_ns = fmax(n.high_ns, (double)record->warmup_wall_ns[i]);
    }
    n.low_ns = fmax(n.low_ns, 1);
    n.log_scale = n.high_ns > 8 * n.low_ns;
    const double pad = (n.high_ns - n.low_ns) * 0.1 + n.low_ns * 0.01;
    n.low_ns = n.log_scale ? n.low_ns / 1.25 : n.low_ns - pad;
    n.high_ns = n.log_scale ? n.high_ns * 1.5 : n.high_ns + pad;
    return n;
}

static void put_tics(plot *p, const panel *n)
{
    static const size_t firsts[] = {1, 2, 5};
    size_t step = 1, i = 0, ten = 1;
    while (n->record->step_count / step > 6) {
        i++;
        ten *= i % 3 == 0 ? 10 : 1;
        step = firsts[i % 3] * ten;
    }
    bn_text_puts(&p->script, "set xtics (");
    for (size_t at = step; at <= n->record->step_count; at += step)
        bn_text_printf(&p->script, "%s'%zu' %.6f", at > step ? ", " : "", at, step_x(n, at - 1));
    bn_text_puts(&p->script, ")\n");
}

/* A logarithmic scale has ticks at 1, 2 and 5 of each power of ten: gnuplot would put them at the
 * powers alone. */
static void put_time_tics(plot *p, const panel *n)
{
    static const int firsts[] = {1, 2, 5};
    const double high = n->high_ns / n->unit.ns;
    const char *separator = "set ytics (";
    if (!n->log_scale) {
        bn_text_puts(&p->script, "set ytics autofreq\n");
        return;
    }
    for (double ten = pow(10, floor(log10(n->low_ns / n->unit.ns))); ten < high; ten *= 10)
        for (size_t i = 0; i < 3; i++, separator = ", ")
            bn_text_printf(&p->script, "%s%g", separator, firsts[i] * ten);
    bn_text_puts(&p->script, ")\n");
}

static void put_axes(plot *p, const panel *n)
{
    const bool warm = n->record->warmup_count > 0;
    bn_text_puts(&p->script, n->log_scale ? "set logscale y\n" : "unset logscale y\n");
    bn_text_printf(&p->script,
                   "set yrange [%.7g:%.7g]\nset xrange [%.3f:1]\nset format y '%%g'\n"
                   "set ylabel 'step (%s%s)' textcolor rgb '" PLOT_INK "' font 'sans-serif,12'\n",
                   n->low_ns / n->unit.ns, n->high_ns / n->unit.ns, warm ? -WARMUP : 0.0,
                   n->unit.name, n->log_scale ? ", log" : "");
    put_tics(p, n);
    put_time_tics(p, n);
    if (warm)
        bn_text_printf(&p->script,
                       "set object rectangle from %.3f, graph 0 to 0, graph 1 behind fillcolor rgb "
                       "'" PLOT_SHADE "' fillstyle solid 1 noborder\n",
                       -WARMUP);
}

/* Says how long the longest step took of those that are drawn at the upper edge. */
static void put_off_scale(plot *p, const panel *n)
{
    const res_record *record = n->record;
    size_t longest = 0;
    for (size_t i = 0; i < record->warmup_count; i++)
        longest = record->warmup_wall_ns[i] > record->warmup_wall_ns[longest] ? i : longest;
    if (record->warmup_count == 0 || (double)record->warmup_wall_ns[longest] <= n->high_ns)
        return;
    bn_text_puts(&p->script, "set label ");
    plot_quote(&p->script, plot_time_text((double)record->warmup_wall_ns[longest]).text);
    bn_text_printf(
        &p->script,
        " at %.6f, graph 1 left offset 0.9,0.6 font 'sans-serif,11' textcolor rgb '" PLOT_INK "'\n",
        warmup_x(n, longest));
}

static void put_series(plot *p, const panel *n)
{
    const bool many = n->record->step_count > 120;
    const double edge = n->high_ns / n->unit.ns;
    bn_text_printf(
        &p->script,
        "edge(y) = y > %.7g ? %.7g : y\nplot $warmup%zu using 2:(edge($3)) with linespoints "
        "pointtype "
        "6 pointsize 0.6 linewidth 1 linecolor rgb '" PLOT_SOFT
        "', \\\n    $steps%zu using 2:3 with %s linewidth 1 "
        "linecolor rgb '" PLOT_BLUE "', \\\n    [0:1] %.7g with lines linewidth 1.6 dashtype '-' "
        "linecolor rgb '" PLOT_INK "', \\\n    $compiles%zu using 2:(edge($3)) with points "
        "pointtype 11 pointsize 1.3 linecolor rgb '" PLOT_VERMILION
        "'\nunset label\nunset object\nunset arrow\n",
        edge, edge, n->number, n->number, many ? "lines" : "linespoints pointtype 7 pointsize 0.6",
        n->median_ns / n->unit.ns, n->number);
}

static void put_panel(plot *p, const plot_row *row, size_t number, const double at[4])
{
    const panel n = make_panel(row->record, number);
    char label[64];
    bn_text title = {0};
    plot_margins(p, at[0], at[2], at[1], at[3]);
    plot_row_title(row, &title);
    plot_text_at(p, title.data, at[0] - 60, at[1] - 24, "left", "strong");
    snprintf(label, sizeof label, "median of this process %s", plot_time_text(n.median_ns).text);
    plot_text_at(p, label, at[2], at[1] - 24, "right", "");
    if (row->record->warmup_count > 0) {
        char warm[32];
        snprintf(warm, sizeof warm, "%zu steps", row->record->warmup_count);
        plot_text_at(p, warm, at[0] + (at[2] - at[0]) * WARMUP / (1 + WARMUP) / 2, at[3] + 15,
                     "center", "soft");
    }
    bn_text_printf(&p->description, " %s: %s, %zu steps after %zu of warm-up.", title.data, label,
                   row->record->step_count, row->record->warmup_count);
    bn_text_free(&title);
    put_axes(p, &n);
    put_off_scale(p, &n);
    put_data(p, &n);
    put_series(p, &n);
}

static void put_legend(plot *p, double y)
{
    double x = plot_legend_box(p, (plot_fill){PLOT_SHADE, 0}, "warm-up", 16, y);
    x = plot_legend_marker(p, 11, PLOT_VERMILION, "step that compiled, at the edge: off the scale",
                           x, y);
    x = plot_legend_marker(p, 7, PLOT_BLUE, "measured step", x, y);
    plot_legend_line(p, true, PLOT_INK, "median of the measured steps", x, y);
}

/* Whether it is unknown of some drawn record where its warm-up compiled. */
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
    char subtitle[1200], more[80] = "";
    if (good > shown)
        snprintf(more, sizeof more, ". %zu more experiments are not shown", good - shown);
    snprintf(subtitle, sizeof subtitle, "%.*s%s%s", BN_FIT(rows->common, 900), more,
             some_unknown(rows) ? ". Not all records say which steps of the warm-up compiled" : "");
    const plot_words words = {"Step time over steps, the first measured one is step 1", subtitle,
                              rows->badge};
    const double head = plot_begin(p, &words, WIDTH, (int)(lines * PANEL_ROOM) + 40);
    const double room = WIDTH / (double)columns;
    size_t n = 0;
    bn_text_printf(&p->description, "Wall time of each step. %s.", subtitle);
    put_legend(p, head + 8);
    bn_text_puts(&p->script, "set multiplot\nset xlabel 'step' textcolor rgb '" PLOT_INK
                             "' font 'sans-serif,12' offset 0,0.4\nset ytics autofreq\n");
    for (size_t i = 0; i < rows->count && n < shown; i++) {
        if (!plot_row_good(&rows->rows[i]))
            continue;
        const double left = (double)(n % columns) * room,
                     top = head + 62 + (double)(n / columns) * PANEL_ROOM;
        const double at[] = {left + 78, top, left + room - 20, top + PANEL};
        put_panel(p, &rows->rows[i], n, at);
        n++;
    }
    bn_text_puts(&p->script, "unset multiplot\n");
}

bn_code plot_steps(const res_collection *all, plot *p, bn_status *st)
{
    plot_rows rows;
    bn_code code = BN_OK;
    *p = (plot){0};
    plot_rows_make(all, &rows);
    const size_t good = plot_rows_good(&rows);
    if (good > 0)
        put_plot(p, &rows, good);
    else
        code = bn_fail(st, BN_NOT_FOUND, "steps: no experiment here succeeded");
    plot_rows_free(&rows);
    return code;
}

const plot_kind plot_kind_steps = {"steps", plot_steps};
