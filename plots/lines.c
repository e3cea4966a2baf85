/*
 * lines.c - points over a swept value, with their intervals, and the straight line fitted to each
 * series.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>

#define WIDTH 820
#define BODY  360
#define FOOT  60

typedef struct range {
    double least_x, most_x, least_y, most_y;
} range;

static range range_of(const plot_series *list, size_t count)
{
    range r = {(double)INFINITY, -(double)INFINITY, 0, 0};
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < list[s].count; i++) {
            const res_interval *y = &list[s].y[i];
            r.least_x = fmin(r.least_x, list[s].x[i]);
            r.most_x = fmax(r.most_x, list[s].x[i]);
            /* fmin and fmax pass over a bound that is unknown. */
            r.least_y = fmin(r.least_y, fmin(y->estimate, y->low));
            r.most_y = fmax(r.most_y, fmax(y->estimate, y->high));
        }
    return r;
}

static void put_data(plot *p, const plot_series *series, size_t number)
{
    bn_text_printf(&p->script, "$series%zu << EOD\n", number);
    for (size_t i = 0; i < series->count; i++) {
        const res_interval *y = &series->y[i];
        const bool known = isfinite(y->low) && isfinite(y->high);
        bn_text_printf(&p->script, "%.6g %.1f %.1f %.1f\n", series->x[i], y->estimate,
                       known ? y->low : y->estimate, known ? y->high : y->estimate);
    }
    plot_data_end(p);
}

static void put_axes(plot *p, const char *across, const range *r, plot_unit unit)
{
    const double aside = fmax((r->most_x - r->least_x) * 0.05, 1e-9);
    const double pad = fmax((r->most_y - r->least_y) * 0.06, 1);
    bn_text_printf(&p->script, "set xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\nset grid ytics\n",
                   r->least_x - aside, r->most_x + aside,
                   (r->least_y - (r->least_y < 0 ? pad : 0)) / unit.ns,
                   (r->most_y + pad) / unit.ns);
    bn_text_puts(&p->script, "set xlabel ");
    plot_quote(&p->script, across);
    bn_text_printf(&p->script,
                   " textcolor rgb '" PLOT_INK "' font 'sans-serif,12'\nset ylabel 'time (%s)' "
                   "textcolor rgb '" PLOT_INK "' font 'sans-serif,12'\n",
                   unit.name);
}

static void put_series(plot *p, const plot_series *list, size_t count, plot_unit unit)
{
    bn_text_puts(&p->script, "plot");
    for (size_t s = 0; s < count; s++)
        bn_text_printf(&p->script,
                       "%s \\\n    $series%zu using 1:($2/%g):($3/%g):($4/%g) with yerrorbars "
                       "pointtype %d pointsize 0.9 linewidth 1.3 linecolor rgb '%s', \\\n    "
                       "(%.9g+%.9g*x)/%g with lines linewidth 1.6 linecolor rgb '%s'",
                       s ? "," : "", s, unit.ns, unit.ns, unit.ns, plot_series_marker(s),
                       plot_series_colour(s), list[s].base, list[s].slope, unit.ns,
                       plot_series_colour(s));
    bn_text_putc(&p->script, '\n');
}

bn_code plot_lines(const plot_words *words, const char *across, const plot_series *list,
                   size_t count, plot *p, bn_status *st)
{
    *p = (plot){0};
    const range r = range_of(list, count);
    if (!(r.most_x > r.least_x))
        return bn_fail(st, BN_NOT_FOUND, "lines: no series has two points");
    const plot_unit unit = plot_time_unit(r.most_y);
    const double head = plot_begin(p, words, WIDTH, BODY + FOOT + 36);
    double x = 16;
    bn_text_printf(&p->description, "%s over %s.", words->title ? words->title : "", across);
    for (size_t s = 0; s < count; s++) {
        x = plot_legend_marker(p, plot_series_marker(s), plot_series_colour(s), list[s].name, x,
                               head + 6);
        bn_text_printf(&p->description, " %s: %s, and %s for each.", list[s].name,
                       plot_time_text(list[s].base).text, plot_time_text(list[s].slope).text);
    }
    plot_margins(p, 84, WIDTH - 24, head + 30, head + 30 + BODY);
    put_axes(p, across, &r, unit);
    for (size_t s = 0; s < count; s++)
        put_data(p, &list[s], s);
    put_series(p, list, count, unit);
    return BN_OK;
}
