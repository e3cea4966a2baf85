/*
 * panels.c - several figures over a swept value, a small picture each, with the same series in
 * all, to see which grow with it.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>

#define WIDTH   980
#define COLUMNS 3
#define ROOM    230 /* of a panel, with its title */
#define PANEL   160
#define FOOT    30

typedef struct picture {
    plot *p;
    const char *const *series;
    size_t series_count;
    const double *x;
    size_t points;
    const plot_panel *panels;
    size_t panel_count;
} picture;

/* Value I of SERIES in PANEL. */
static double value(const picture *d, const plot_panel *panel, size_t series, size_t i)
{
    return panel->y[series * d->points + i];
}

static bool is_known(const picture *d, const plot_panel *panel)
{
    for (size_t i = 0; i < d->series_count * d->points; i++)
        if (isfinite(panel->y[i]))
            return true;
    return false;
}

/* A block of data of each series; where nothing is known the line is broken. */
static void put_data(const picture *d, size_t number)
{
    for (size_t s = 0; s < d->series_count; s++) {
        bn_text_printf(&d->p->script, "$panel%zu_%zu << EOD\n", number, s);
        for (size_t i = 0; i < d->points; i++) {
            const double y = value(d, &d->panels[number], s, i);
            if (isfinite(y))
                bn_text_printf(&d->p->script, "%.6g %.9g\n", d->x[i], y);
            else
                bn_text_puts(&d->p->script, "\n");
        }
        /* A block of empty lines only is an error to gnuplot. */
        bn_text_puts(&d->p->script, "NaN NaN\n");
        plot_data_end(d->p);
    }
}

static void put_axes(const picture *d, const plot_panel *panel)
{
    double most = 0;
    for (size_t i = 0; i < d->series_count * d->points; i++)
        most = isfinite(panel->y[i]) ? fmax(most, panel->y[i]) : most;
    const double last = d->x[d->points - 1], aside = (last - d->x[0]) * 0.06;
    bn_text_printf(&d->p->script,
                   "set xrange [%.6g:%.6g]\nset yrange [0:%.9g]\nset format y '%%g'\n",
                   d->x[0] - aside, last + aside, most > 0 ? most * 1.08 : 1);
    bn_text_puts(&d->p->script, "set xtics (");
    for (size_t i = 0; i < d->points; i++)
        bn_text_printf(&d->p->script, "%s%.6g", i ? ", " : "", d->x[i]);
    bn_text_puts(&d->p->script, ")\n");
}

static void put_series(const picture *d, size_t number)
{
    bn_text_puts(&d->p->script, "plot");
    for (size_t s = 0; s < d->series_count; s++)
        bn_text_printf(&d->p->script,
                       "%s \\\n    $panel%zu_%zu using 1:2 with linespoints pointtype %d pointsize "
                       "0.8 linewidth 1.6 linecolor rgb '%s'",
                       s ? "," : "", number, s, plot_series_marker(s), plot_series_colour(s));
    bn_text_puts(&d->p->script, "\nunset label\nunset object\n");
}

/* "compilation (CPU s): scan off 3.1 to 40.2, scan on 2.9 to 3;" */
static void describe(const picture *d, const plot_panel *panel)
{
    bn_text *out = &d->p->description;
    bn_text_printf(out, " %s:", panel->name);
    for (size_t s = 0; s < d->series_count; s++) {
        double first = (double)NAN, last = (double)NAN;
        for (size_t i = 0; i < d->points; i++) {
            const double y = value(d, panel, s, i);
            first = isfinite(first) ? first : y;
            last = isfinite(y) ? y : last;
        }
        bn_text_printf(out, "%s %s", s ? "," : "", d->series[s]);
        if (isfinite(first))
            bn_text_printf(out, " %.4g to %.4g", first, last);
        else
            bn_text_puts(out, " unknown");
    }
    bn_text_putc(out, ';');
}

static void put_panel(const picture *d, size_t number, size_t place, double head)
{
    const double room = WIDTH / (double)COLUMNS, left = (double)(place % COLUMNS) * room,
                 top = head + 34 + (double)(place / COLUMNS) * ROOM;
    plot_margins(d->p, left + 62, left + room - 16, top, top + PANEL);
    plot_text_at(d->p, d->panels[number].name, left + 16, top - 16, "left", "strong");
    describe(d, &d->panels[number]);
    put_data(d, number);
    put_axes(d, &d->panels[number]);
    put_series(d, number);
}

bn_code plot_panels(const plot_words *words, const char *across, const char *const *series,
                    size_t series_count, const double *x, size_t points, const plot_panel *panels,
                    size_t panel_count, plot *p, bn_status *st)
{
    const picture d = {p, series, series_count, x, points, panels, panel_count};
    size_t shown = 0, place = 0;
    double at = 16;
    *p = (plot){0};
    for (size_t i = 0; i < panel_count; i++)
        shown += is_known(&d, &panels[i]);
    if (points < 2 || !(x[points - 1] > x[0]) || shown == 0)
        return bn_fail(st, BN_NOT_FOUND, "a picture needs two values of %s with figures", across);
    const size_t lines = (shown + COLUMNS - 1) / COLUMNS;
    const double head = plot_begin(p, words, WIDTH, (int)(lines * ROOM) + FOOT) + 8;
    bn_text_printf(&p->description, "%s, over %s.", words->title ? words->title : "", across);
    for (size_t s = 0; s < series_count; s++)
        at = plot_legend_marker(p, plot_series_marker(s), plot_series_colour(s), series[s], at,
                                head);
    bn_text_puts(&p->script, "set multiplot\nset xlabel ");
    plot_quote(&p->script, across);
    bn_text_puts(&p->script, " textcolor rgb '" PLOT_INK "' font 'sans-serif,12' offset 0,0.4\n");
    for (size_t i = 0; i < panel_count; i++)
        if (is_known(&d, &panels[i]))
            put_panel(&d, i, place++, head);
    bn_text_puts(&p->script, "unset multiplot\n");
    return BN_OK;
}
