/*
 * distribution.c - step times of two sides: the share of steps up to each time, over
 * all processes of a side, and below it the figure of each process in tables. Shares
 * show every step: unlike a density they need no choice of a width.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH       980
#define BODY        360
#define FOOT        56
/* A curve of more points is drawn by its quantiles. */
#define MOST_POINTS 500
/* Steps beyond this quantile are counted, not drawn: one would squeeze all the others. */
#define SHOWN       0.995

typedef struct side {
    const char *name, *label, *colour;
    bool dash;
    double strip; /* y of the processes */
    uint64_t *all;
    size_t count;
    double median;
} side;

static int by_time(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void pool(const plot_side *from, side *s)
{
    size_t count = 0;
    for (size_t i = 0; i < from->processes; i++)
        count += from->counts[i];
    s->all = bn_zalloc(count + 1, sizeof *s->all);
    for (size_t i = 0; i < from->processes; i++) {
        memcpy(s->all + s->count, from->series[i], from->counts[i] * sizeof *s->all);
        s->count += from->counts[i];
    }
    qsort(s->all, s->count, sizeof *s->all, by_time);
    s->median = res_quantile(s->all, s->count, 0.5);
}

/* Puts times in ns and the share of steps up to each. */
static void put_data(plot *p, const side *s, const plot_side *from)
{
    const size_t points = s->count < MOST_POINTS ? s->count : MOST_POINTS;
    bn_text_printf(&p->script, "$%s << EOD\n%.1f 0\n", s->name, (double)s->all[0]);
    for (size_t i = 1; i <= points; i++) {
        const size_t upto = i * s->count / points;
        bn_text_printf(&p->script, "%.1f %.6f\n", (double)s->all[upto - 1],
                       (double)upto / (double)s->count);
    }
    plot_data_end(p);
    bn_text_printf(&p->script, "$%s_processes << EOD\n", s->name);
    for (size_t i = 0; i < from->processes; i++)
        if (from->counts[i] > 0)
            bn_text_printf(&p->script, "%.1f %.3f\n",
                           from->values ? from->values[i]
                                        : res_quantile(from->series[i], from->counts[i], 0.5),
                           s->strip);
    plot_data_end(p);
}

/* Puts numbers on a logarithmic scale: some eight at even steps where it is short, else at 1, 2 and
 * 5 of each power of ten. */
static void put_tics(plot *p, double least, double most)
{
    static const double nice[] = {1, 2, 5, 10};
    const bool even = most < 4 * least;
    const double rough = even ? (most - least) / 8 : least;
    const double power = pow(10, floor(log10(rough)));
    size_t which = 0, count = 0;
    while (even && which < 3 && nice[which] * power < rough)
        which++;
    const double step = nice[which] * power;
    bn_text_puts(&p->script, "set xtics (");
    for (size_t i = 0; i < 40; i++) {
        const double at = even ? (ceil(least / step) + (double)i) * step
                               : nice[i % 3] * power * pow(10, (double)(i / 3));
        if (at >= least && at <= most)
            bn_text_printf(&p->script, "%s'%.6g' %.9g", count++ ? ", " : "", at, at);
    }
    bn_text_puts(&p->script, ")\n");
}

static void put_axes(plot *p, const side *a, const side *b, plot_unit unit, double *most_ns)
{
    const double least = fmax(fmin((double)a->all[0], (double)b->all[0]), 1);
    const double last = fmax((double)a->all[a->count - 1], (double)b->all[b->count - 1]);
    const double shown =
        fmax(res_quantile(a->all, a->count, SHOWN), res_quantile(b->all, b->count, SHOWN));
    /* The scale is logarithmic: a distance is a ratio everywhere, and a long tail leaves the rest
     * its room. If the longest step is hardly beyond the rest, it is drawn, too. */
    *most_ns = log(last / least) <= 1.6 * log(shown / least) ? last : fmax(shown, least);
    const double pad = fmax(pow(*most_ns / least, 0.03), 1.005);
    const double from = least / pad / unit.ns, to = *most_ns * pad / unit.ns;
    bn_text_printf(&p->script,
                   "set logscale x\nunset mxtics\nset xrange [%.7g:%.7g]\n"
                   "set yrange [-0.24:1.02]\nset grid xtics ytics\n"
                   "set ytics ('0 %%%%' 0, '25 %%%%' 0.25, '50 %%%%' 0.5, '75 %%%%' 0.75, '100 "
                   "%%%%' 1, 'A' -0.09, 'B' -0.17)\n"
                   "set xlabel 'wall time of a step (%s), logarithmic' textcolor rgb '" PLOT_INK
                   "' font 'sans-serif,12'\n"
                   "set ylabel 'share of steps up to this time' textcolor rgb '" PLOT_INK
                   "' font 'sans-serif,12'\n",
                   from, to, unit.name);
    put_tics(p, from, to);
}

static size_t beyond(const side *s, double most_ns)
{
    size_t n = 0;
    while (n < s->count && (double)s->all[s->count - 1 - n] > most_ns)
        n++;
    return n;
}

static void put_side(plot *p, const side *s, double unit_ns, bool first)
{
    bn_text_printf(&p->script,
                   "%s \\\n    $%s using ($1/%g):2 with steps linewidth 2.2 dashtype %s linecolor "
                   "rgb '%s', \\\n    $%s_processes using ($1/%g):2 with points pointtype %d "
                   "pointsize 1 linecolor rgb '%s'",
                   first ? "plot" : ",", s->name, unit_ns, s->dash ? "'-'" : "solid", s->colour,
                   s->name, unit_ns, s->dash ? 4 : 7, s->colour);
}

static void put_median(plot *p, const side *s, double unit_ns)
{
    bn_text_printf(&p->script,
                   "set arrow from %.7g,%.3f to %.7g,0.5 nohead linewidth 1 dashtype 3 linecolor "
                   "rgb '%s'\n",
                   s->median / unit_ns, s->strip, s->median / unit_ns, s->colour);
}

static double legend(plot *p, const side *s, const plot_side *from, double x, double y)
{
    char text[300];
    /* The median of the drawn steps, which need not be the tables' mean over processes. */
    snprintf(text, sizeof text, "%s: %.*s, median of all %zu steps %s (%zu process%s)",
             s->dash ? "B" : "A", BN_FIT(s->label, 120), s->count, plot_time_text(s->median).text,
             from->processes, from->processes == 1 ? "" : "es");
    bn_text_printf(&p->description, " %s.", text);
    return plot_legend_line(p, s->dash, s->colour, text, x, y);
}

static void put_plot(plot *p, const plot_words *words, const plot_side *from_a, const side *a,
                     const plot_side *from_b, const side *b)
{
    const plot_unit unit = plot_time_unit(fmax(a->median, b->median));
    const double head = plot_begin(p, words, WIDTH, BODY + FOOT + 56);
    double most_ns;
    bn_text_printf(&p->description, "Shares of steps up to each time. %s. %s.", words->title,
                   words->subtitle);
    legend(p, a, from_a, 16, head + 6);
    legend(p, b, from_b, 16, head + 26);
    plot_margins(p, 84, WIDTH - 24, head + 50, head + 50 + BODY);
    put_axes(p, a, b, unit, &most_ns);
    const size_t out_a = beyond(a, most_ns), out_b = beyond(b, most_ns);
    if (out_a + out_b > 0) {
        char text[100];
        snprintf(text, sizeof text, "slower and not shown: %zu of A, %zu of B", out_a, out_b);
        plot_text_at(p, text, WIDTH - 16, head + 26, "right", "soft");
    }
    const bool said = from_a->values && from_b->values;
    plot_text_at(p,
                 said ? "below: each process, as in tables" : "below: the median of each process",
                 WIDTH - 16, head + 6, "right", "soft");
    put_median(p, a, unit.ns);
    put_median(p, b, unit.ns);
    put_data(p, a, from_a);
    put_data(p, b, from_b);
    put_side(p, a, unit.ns, true);
    put_side(p, b, unit.ns, false);
    bn_text_putc(&p->script, '\n');
}

bn_code plot_distribution(const plot_words *words, const char *label_a, const plot_side *a,
                          const char *label_b, const plot_side *b, plot *p, bn_status *st)
{
    side left = {.name = "a", .label = label_a, .colour = PLOT_BLUE, .dash = false, .strip = -0.09};
    side right = {
        .name = "b", .label = label_b, .colour = PLOT_VERMILION, .dash = true, .strip = -0.17};
    const plot_words whole = {words->title ? words->title : "",
                              words->subtitle ? words->subtitle : "", words->badge};
    bn_code code = BN_OK;
    *p = (plot){0};
    pool(a, &left);
    pool(b, &right);
    if (left.count == 0 || right.count == 0)
        code = bn_fail(st, BN_NOT_FOUND, "distribution: a side without steps");
    else
        put_plot(p, &whole, a, &left, b, &right);
    free(left.all);
    free(right.all);
    return code;
}

/* ---- of a store ------------------------------------------------------------------------ */

typedef struct store_side {
    const uint64_t **series;
    size_t *counts;
    double *values;
    plot_side side;
} store_side;

/* Fills S with the processes that the figures of LIKE's row are of. */
static void gather(const res_collection *all, const res_record *like, store_side *s)
{
    res_pool pool;
    res_pool_like(all, like, &pool);
    s->series = bn_zalloc(pool.count + 1, sizeof *s->series);
    s->counts = bn_zalloc(pool.count + 1, sizeof *s->counts);
    s->values = bn_zalloc(pool.count + 1, sizeof *s->values);
    for (size_t i = 0; i < pool.count; i++)
        if (res_pool_counts(&pool, i)) {
            s->series[s->side.processes] = pool.list[i].record->wall_ns;
            s->values[s->side.processes] = pool.list[i].measures.wall_ns;
            s->counts[s->side.processes++] = pool.list[i].record->step_count;
        }
    s->side.series = s->series;
    s->side.counts = s->counts;
    s->side.values = s->values;
    res_pool_free(&pool);
}

static void store_side_free(store_side *s)
{
    free(s->series);
    free(s->counts);
    free(s->values);
}

static bool eager(const plot_row *row)
{
    return strcmp(row->record->experiment.mode, "eager") == 0;
}

/* Finds the first two good rows of one cell, with eager only where EAGER_TOO. */
static bool find_pair(const plot_rows *rows, bool eager_too, const plot_row **a, const plot_row **b)
{
    for (size_t i = 0; i < rows->count; i++)
        for (size_t j = i + 1; j < rows->count; j++)
            if (rows->rows[i].cell == rows->rows[j].cell && plot_row_good(&rows->rows[i]) &&
                plot_row_good(&rows->rows[j]) &&
                (eager_too || !(eager(&rows->rows[i]) || eager(&rows->rows[j])))) {
                *a = &rows->rows[i];
                *b = &rows->rows[j];
                return true;
            }
    return false;
}

static bn_code draw_pair(const res_collection *all, const plot_rows *rows, const plot_row *a,
                         const plot_row *b, plot *p, bn_status *st)
{
    store_side left = {0}, right = {0};
    bn_text title = {0};
    bn_text_printf(&title, "Step times: %s, %s (A) and %s (B)", a->label, a->way, b->way);
    const char *badge = plot_badge(a->record->simulated, &a->record->experiment);
    const plot_words words = {title.data, rows->common, badge};
    gather(all, a->record, &left);
    gather(all, b->record, &right);
    const bn_code code = plot_distribution(&words, a->way, &left.side, b->way, &right.side, p, st);
    bn_text_free(&title);
    store_side_free(&left);
    store_side_free(&right);
    return code;
}

bn_code plot_distribution_of_store(const res_collection *all, plot *p, bn_status *st)
{
    plot_rows rows;
    const plot_row *a = NULL, *b = NULL;
    *p = (plot){0};
    bn_code code;
    plot_rows_make(all, &rows);
    if (find_pair(&rows, false, &a, &b) || find_pair(&rows, true, &a, &b))
        code = draw_pair(all, &rows, a, b, p, st);
    else
        code = bn_fail(st, BN_NOT_FOUND,
                       "distribution: no model here succeeded in two modes or numbers of graphs");
    plot_rows_free(&rows);
    return code;
}

const plot_kind plot_kind_distribution = {"distribution", plot_distribution_of_store};
