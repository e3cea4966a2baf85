/*
 * history.c - a series over time: values with intervals, the median of each stretch
 * between change points, and the build that was new at each of them.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH         980
#define BODY          330
#define FOOT          50
/* With more points than these, intervals are a band. */
#define MOST_WHISKERS 150

/* The name of each metric at the axis. */
static const char *const axes[RES_METRIC_COUNT] = {
    [RES_METRIC_WALL] = "median step",
    [RES_METRIC_DEVICE] = "device time of a step",
    [RES_METRIC_OVERHEAD] = "overhead of an execution",
    [RES_METRIC_TRACE] = "tracing of a step",
    [RES_METRIC_COMPILE] = "compilation of all graphs",
};

typedef struct series {
    const plot_point *points;
    size_t count;
    const size_t *changes;
    size_t change_count;
} series;

/* Puts seconds, value, low, high in ns; without an interval, the value alone. */
static void put_data(plot *p, const series *s)
{
    bn_text_puts(&p->script, "$points << EOD\n");
    for (size_t i = 0; i < s->count; i++) {
        const plot_point *point = &s->points[i];
        const bool known = isfinite(point->low) && isfinite(point->high);
        bn_text_printf(&p->script, "%.0f %.1f %.1f %.1f\n", point->time_s, point->value,
                       known ? point->low : point->value, known ? point->high : point->value);
    }
    plot_data_end(p);
}

static double median(const series *s, size_t from, size_t to, double *scratch)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        scratch[n++] = s->points[i].value;
    return res_median(scratch, n);
}

/* Puts a line for each stretch, with an empty line between, and words for each change. */
static void put_stretches(plot *p, const series *s, double *scratch)
{
    double before = (double)NAN;
    bn_text_puts(&p->script, "$stretches << EOD\n");
    for (size_t stretch = 0; stretch <= s->change_count; stretch++) {
        const size_t from = stretch ? s->changes[stretch - 1] : 0;
        const size_t to = stretch < s->change_count ? s->changes[stretch] : s->count;
        const double level = median(s, from, to, scratch);
        bn_text_printf(&p->script, "%.0f %.1f\n%.0f %.1f\n\n", s->points[from].time_s, level,
                       s->points[to < s->count ? to : to - 1].time_s, level);
        if (stretch)
            bn_text_printf(&p->description, " Change at point %zu (%s): from %s to %s.", from + 1,
                           s->points[from].label ? s->points[from].label : "",
                           plot_time_text(before).text, plot_time_text(level).text);
        before = level;
    }
    plot_data_end(p);
}

/* Labels of neighbouring changes stand one below the other; near the right edge they are
 * right-aligned. */
static void put_changes(plot *p, const series *s)
{
    const double first = s->points[0].time_s, last = s->points[s->count - 1].time_s;
    for (size_t i = 0; i < s->change_count; i++) {
        const plot_point *point = &s->points[s->changes[i]];
        const bool late = last > first && (point->time_s - first) / (last - first) > 0.8;
        bn_text_printf(
            &p->script,
            "set arrow from %.0f, graph 0 to %.0f, graph 1 nohead linewidth 1.4 dashtype "
            "'-' linecolor rgb '" PLOT_VERMILION "'\nset label ",
            point->time_s, point->time_s);
        plot_quote(&p->script, point->label && point->label[0] ? point->label : "change");
        bn_text_printf(&p->script,
                       " at %.0f, graph %.3f %s offset %s,0 font 'sans-serif,11' textcolor rgb "
                       "'" PLOT_INK "'\n",
                       point->time_s, 0.97 - 0.06 * (double)(i % 4), late ? "right" : "left",
                       late ? "-0.6" : "0.6");
    }
}

static void put_axes(plot *p, const char *value, const series *s, plot_unit unit)
{
    double least = (double)INFINITY, most = 0;
    for (size_t i = 0; i < s->count; i++) {
        const plot_point *point = &s->points[i];
        least = fmin(least, fmin(point->value, point->low));
        most = fmax(most, fmax(point->value, point->high));
    }
    const double first = s->points[0].time_s, last = s->points[s->count - 1].time_s;
    const double pad = (most - least) * 0.06 + most * 0.01, aside = (last - first) * 0.02 + 5;
    /* Leaves room for the labels of changes above the values. */
    const double room = s->change_count ? (most - least) * 0.3 + most * 0.02 : 0;
    bn_text_printf(&p->script,
                   "set xdata time\nset timefmt '%%s'\nset format x '%s'\nset xtics rotate by 0 "
                   "autofreq\nset xrange ['%.0f':'%.0f']\nset yrange [%.7g:%.7g]\n"
                   "set grid ytics\nset ylabel '%s (%s)' textcolor rgb '" PLOT_INK
                   "' font 'sans-serif,12'\nset xlabel 'time of the run (UTC)' textcolor rgb "
                   "'" PLOT_INK "' font 'sans-serif,12'\n",
                   last - first > 4 * 86400  ? "%Y-%m-%d"
                   : last - first > 4 * 3600 ? "%m-%d %H:%M"
                                             : "%H:%M:%S",
                   first - aside, last + aside, (least - pad) / unit.ns,
                   (most + pad + room) / unit.ns, value, unit.name);
}

static void put_commands(plot *p, const series *s, plot_unit unit)
{
    bn_text_puts(&p->script, "plot");
    if (s->count > MOST_WHISKERS)
        bn_text_printf(&p->script,
                       " $points using 1:($3/%g):($4/%g) with filledcurves fillcolor rgb '" PLOT_SKY
                       "' fillstyle solid 0.45 noborder, \\\n   ",
                       unit.ns, unit.ns);
    else
        bn_text_printf(&p->script,
                       " $points using 1:($2/%g):($3/%g):($4/%g) with yerrorbars pointtype -1 "
                       "linewidth 1.2 linecolor rgb '" PLOT_BLUE "', \\\n   ",
                       unit.ns, unit.ns, unit.ns);
    bn_text_printf(&p->script,
                   " $points using 1:($2/%g) with points pointtype 7 pointsize %.2f linecolor rgb "
                   "'" PLOT_BLUE "', \\\n    $stretches using 1:($2/%g) with lines linewidth 2.4 "
                   "linecolor rgb '" PLOT_INK "'\n",
                   unit.ns, s->count > MOST_WHISKERS ? 0.35 : 0.7, unit.ns);
}

static void put_plot(plot *p, const plot_words *words, const char *value, const series *s,
                     double *scratch)
{
    const double typical = median(s, 0, s->count, scratch);
    const plot_unit unit = plot_time_unit(typical);
    const double head = plot_begin(p, words, WIDTH, BODY + FOOT + 36);
    double x = plot_legend_marker(p, 7, PLOT_BLUE, "one night, and its interval", 16, head + 6);
    x = plot_legend_line(p, false, PLOT_INK, "median between changes", x, head + 6);
    if (s->change_count)
        plot_legend_line(p, true, PLOT_VERMILION, "change, with the first build that has it", x,
                         head + 6);
    bn_text_printf(&p->description, "%s. %s. %zu nights, median %s.", words->title, words->subtitle,
                   s->count, plot_time_text(typical).text);
    plot_margins(p, 84, WIDTH - 44, head + 30, head + 30 + BODY);
    put_axes(p, value, s, unit);
    put_changes(p, s);
    put_data(p, s);
    put_stretches(p, s, scratch);
    put_commands(p, s, unit);
}

bn_code plot_history(const plot_words *words, const char *value, const plot_point *points,
                     size_t count, const size_t *changes, size_t change_count, plot *p,
                     bn_status *st)
{
    const series s = {points, count, changes, change_count};
    const plot_words whole = {words->title ? words->title : "",
                              words->subtitle ? words->subtitle : "", words->badge};
    *p = (plot){0};
    if (count == 0)
        return bn_fail(st, BN_NOT_FOUND, "history: a series without points");
    for (size_t i = 1; i < count; i++)
        if (points[i].time_s < points[i - 1].time_s)
            return bn_fail(st, BN_INVALID, "history: point %zu is earlier than the one before", i);
    for (size_t i = 0; i < change_count; i++)
        if (changes[i] == 0 || changes[i] >= count || (i > 0 && changes[i] <= changes[i - 1]))
            return bn_fail(st, BN_INVALID, "history: change point %zu is out of place", i);
    double *scratch = bn_zalloc(count, sizeof *scratch);
    put_plot(p, &whole, value, &s, scratch);
    free(scratch);
    return BN_OK;
}

/* ---- of a store ----------------------------------------------------------------------- */

static const char *build_of(const res_night *night)
{
    if (!night->origin)
        return "";
    return night->origin->label[0] ? night->origin->label : night->origin->sha256;
}

/* Collects the nights of T that have a value, and which of them begin a stretch. */
static void collect(const res_timeline *t, plot_point *points, size_t *changes, series *s)
{
    size_t stretch = 1;
    s->points = points;
    s->changes = changes;
    for (size_t i = 0; i < t->count; i++) {
        const res_night *night = &t->nights[i];
        if (!isfinite(night->value))
            continue;
        const char *label = build_of(night);
        if (stretch < t->stretch_count && i >= t->stretches[stretch].first) {
            const res_stretch *begun = &t->stretches[stretch];
            if (begun->other_settings)
                label = "other settings";
            else if (begun->other_front_end)
                label = "other framework";
            else if (begun->build_known && !begun->other_build)
                label = "same build";
            changes[s->change_count++] = s->count;
            stretch++;
        }
        points[s->count++] =
            (plot_point){night->time_s, night->value, night->low, night->high, label};
    }
}

bn_code plot_timeline(const res_timeline *timeline, res_metric metric, plot *p, bn_status *st)
{
    plot_point *points = bn_zalloc(timeline->count + 1, sizeof *points);
    size_t *changes = bn_zalloc(timeline->stretch_count + 1, sizeof *changes);
    series s = {0};
    bn_text title = {0}, subtitle = {0};
    *p = (plot){0};
    res_timeline_title(timeline, &title);
    bn_text_printf(&subtitle, "%s, night by night%s", axes[metric],
                   timeline->simulated ? "; simulated device" : "");
    if (timeline->insignificant > 0)
        bn_text_printf(&subtitle, "; %zu of %zu nights indistinguishable from zero",
                       timeline->insignificant, timeline->count);
    if (timeline->changes.nights >= 2 * RES_LEAST_NIGHTS) {
        bn_text_puts(&subtitle, "; ");
        res_put_correlation(&timeline->changes, &subtitle);
    }
    const plot_words words = {title.data, subtitle.data,
                              plot_badge(timeline->simulated, timeline->experiment)};
    collect(timeline, points, changes, &s);
    const bn_code code =
        plot_history(&words, axes[metric], s.points, s.count, s.changes, s.change_count, p, st);
    bn_text_free(&title);
    bn_text_free(&subtitle);
    free(points);
    free(changes);
    return code;
}
