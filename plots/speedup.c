/*
 * speedup.c - bars from 1: how much shorter a step is than the lazy step of the same
 * model and setup, with 95 % intervals over processes. The scale is logarithmic, so that twice as
 * fast and twice as slow are equally long. Eager steps are so much longer that next to their bars
 * the others could not be read: where there are others the scale is theirs, and a bar that leaves
 * it ends in an arrow. Its figure stands at the right, as all others do.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH   980
#define ROW     24
#define GAP     10
#define FOOT    62
#define FIGURES 230 /* column of the ratios, at the right */

enum { EAGER, CAPTURE, CUT, OTHER, MEAN, KINDS };
static const struct {
    const char *name;
    plot_fill fill;
} kinds[KINDS] = {
    {"eager", {PLOT_ORANGE, 4}},
    {"capture", {PLOT_BLUE, 0}},
    {"capture in several graphs", {PLOT_SKY, 5}},
    {"others", {"#8c959f", 2}},
    {"geometric mean", {PLOT_INK, 0}},
};

/* A line of the picture. */
typedef struct bar {
    const char *label, *way; /* LABEL: of the cell; empty but in its first line */
    char mean_label[96], mean_way[96];
    int kind;
    bool eager; /* its own figure, or the mean of such */
    double y, speedup, low, high;
    bool not_significant;
    const char *failed; /* class, else NULL */
} bar;

typedef struct drawing {
    bar *bars;
    size_t count;
    double least, most, labels, ways; /* LEAST and MOST: the ends of the scale */
    bool headed;                      /* labels stand above their rows, since they are long */
    bool beyond;                      /* some bar leaves the scale */
} drawing;

static int kind_of(const res_experiment *e)
{
    if (strcmp(e->mode, "eager") == 0)
        return EAGER;
    if (strcmp(e->mode, "capture") == 0)
        return e->graphs > 1 ? CUT : CAPTURE;
    return OTHER;
}

static bool has_ratio(const bar *b)
{
    return !b->failed && b->speedup > 0 && isfinite(b->speedup);
}

static bool any_ratio(const drawing *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (has_ratio(&d->bars[i]))
            return true;
    return false;
}

static bool leaves(const drawing *d, const bar *b)
{
    return has_ratio(b) && (b->speedup < d->least || b->speedup > d->most);
}

static void measure(drawing *d)
{
    bool others = false;
    for (size_t i = 0; i < d->count; i++) {
        const bar *b = &d->bars[i];
        others = others || (has_ratio(b) && !b->eager);
        d->labels = fmax(d->labels, plot_text_width(b->label, 12) * 1.08);
        d->ways = fmax(d->ways, plot_text_width(b->way, 12));
    }
    d->least = d->most = 1;
    for (size_t i = 0; i < d->count; i++) {
        const bar *b = &d->bars[i];
        const double values[] = {b->speedup, b->low, b->high};
        for (size_t v = 0; v < 3 && has_ratio(b) && !(others && b->eager); v++) {
            if (!(values[v] > 0) || !isfinite(values[v]))
                continue;
            d->least = fmin(d->least, values[v]);
            d->most = fmax(d->most, values[v]);
        }
    }
    d->least /= 1.06;
    d->most *= 1.06;
    for (size_t i = 0; i < d->count; i++)
        d->beyond = d->beyond || leaves(d, &d->bars[i]);
}

/* Adds rows with a ratio, and failures; the baseline of a cell is neither. */
static void add_rows(drawing *d, const plot_rows *rows)
{
    size_t cell = SIZE_MAX;
    double y = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const plot_row *row = &rows->rows[i];
        bar *b = &d->bars[d->count];
        const bool failed = row->record->status != BN_OK;
        b->speedup = plot_row_real(row, "speedup");
        b->low = plot_row_real(row, "speedup_low");
        b->high = plot_row_real(row, "speedup_high");
        b->not_significant =
            isfinite(b->low) && json_is_false(json_object_get(row->figures, "told"));
        if (!failed && !isfinite(b->speedup))
            continue;
        b->failed = failed ? bn_code_name(row->record->status) : NULL;
        b->label = row->cell != cell ? row->label : "";
        b->way = row->way;
        b->kind = kind_of(&row->record->experiment);
        b->eager = b->kind == EAGER;
        y += row->cell != cell ? (d->count ? GAP : 0) + (d->headed ? ROW : 0) : 0;
        b->y = y + ROW / 2.0;
        y += ROW;
        cell = row->cell;
        d->count++;
    }
}

static void add_means(drawing *d, const plot_rows *rows)
{
    size_t index, before = d->count;
    json_t *mean;
    double y = d->bars[d->count - 1].y + ROW / 2.0 + GAP + (d->headed ? ROW : 0);
    json_array_foreach((json_t *)(uintptr_t)rows->means, index, mean)
    {
        bar *b = &d->bars[d->count];
        const json_t *value = json_object_get(mean, "speedup");
        const json_int_t graphs = json_integer_value(json_object_get(mean, "graphs"));
        const char *mode = json_string_value(json_object_get(mean, "mode"));
        if (!json_is_number(value))
            continue;
        b->speedup = json_number_value(value);
        b->low = plot_real(mean, "speedup_low");
        b->high = plot_real(mean, "speedup_high");
        b->kind = MEAN;
        b->eager = mode && strcmp(mode, "eager") == 0;
        snprintf(b->mean_label, sizeof b->mean_label, "%s",
                 d->count == before ? "geometric means" : "");
        char graphs_text[24] = "";
        if (graphs > 1)
            snprintf(graphs_text, sizeof graphs_text, ", %d graphs", (int)graphs);
        char way[PLOT_STRATEGY_BYTES];
        plot_mean_strategy(mean, way);
        snprintf(b->mean_way, sizeof b->mean_way, "%.16s %.28s%s (%d of %d)",
                 json_string_value(json_object_get(mean, "phase")), way, graphs_text,
                 (int)json_integer_value(json_object_get(mean, "covered")),
                 (int)json_integer_value(json_object_get(mean, "cells")));
        b->label = b->mean_label;
        b->way = b->mean_way;
        b->y = y + ROW / 2.0;
        y += ROW;
        d->count++;
    }
}

/* ---- the picture ---------------------------------------------------------------------- */

/* Puts familiar ticks, with room for their numbers, on a scale so many PIXELS wide. */
static void put_tics(plot *p, double least, double most, double pixels)
{
    static const double known[] = {1,    0.01, 0.1, 10,   100,  2, 0.5,  5,    0.2,  20,
                                   0.05, 50,   1.5, 0.75, 1.25, 3, 4,    0.25, 0.9,  1.1,
                                   0.8,  1.2,  0.7, 1.4,  0.6,  8, 0.95, 1.05, 1.15, 0.85};
    double placed[sizeof known / sizeof *known] = {0};
    size_t count = 0;
    const double apart = log(most / least) * 46 / pixels;
    bn_text_puts(&p->script, "set xtics (");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        bool room = known[i] >= least && known[i] <= most;
        for (size_t other = 0; other < count; other++)
            room = room && fabs(log(known[i] / placed[other])) >= apart;
        if (!room)
            continue;
        bn_text_printf(&p->script, "%s'%gx' %g", count ? ", " : "", known[i], known[i]);
        placed[count++] = known[i];
    }
    bn_text_puts(&p->script, ")\n");
}

/* x y left right top bottom, then the interval. */
static void put_data(plot *p, const drawing *d, bool present[KINDS])
{
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < d->count; i++) {
            const bar *b = &d->bars[i];
            if (b->kind != kind || b->failed)
                continue;
            if (!present[kind])
                bn_text_printf(&p->script, "$bars%d << EOD\n", kind);
            present[kind] = true;
            const double end = fmin(fmax(b->speedup, d->least), d->most);
            bn_text_printf(&p->script, "%.6g %.1f %.6g %.6g %.1f %.1f\n", end, b->y, fmin(1, end),
                           fmax(1, end), b->y - ROW * 0.36, b->y + ROW * 0.36);
        }
        if (present[kind])
            plot_data_end(p);
    }
    bn_text_puts(&p->script, "$intervals << EOD\n");
    for (size_t i = 0; i < d->count; i++)
        if (isfinite(d->bars[i].low) && isfinite(d->bars[i].high) && has_ratio(&d->bars[i]) &&
            !leaves(d, &d->bars[i]))
            bn_text_printf(&p->script, "%.6g %.1f %.6g %.6g\n", d->bars[i].speedup, d->bars[i].y,
                           d->bars[i].low, d->bars[i].high);
    bn_text_puts(&p->script, "NaN NaN NaN NaN\n");
    plot_data_end(p);
}

static void put_labels(plot *p, const drawing *d, double left, double top)
{
    plot_text_at(p, "speedup, 95 % interval (n.s.: not significant)", WIDTH - 16, top - 10, "right",
                 "soft");
    for (size_t i = 0; i < d->count; i++) {
        const bar *b = &d->bars[i];
        char text[96] = "";
        plot_text_at(p, b->label, 16, top + b->y - (d->headed ? ROW : 0), "left", "strong");
        plot_text_at(p, b->way, left - 8, top + b->y, "right", "");
        if (b->failed) {
            snprintf(text, sizeof text, "failed: %s", b->failed);
            plot_text_at(p, text, left + 8, top + b->y, "left", "soft");
            continue;
        }
        const int digits = res_ratio_decimals((res_interval){b->speedup, b->low, b->high});
        const char *claim = b->kind == MEAN ? " not tested" : b->not_significant ? " n.s." : "";
        if (isfinite(b->low))
            snprintf(text, sizeof text, "%.*fx [%.*f, %.*f]%s", digits, b->speedup, digits, b->low,
                     digits, b->high, claim);
        else
            snprintf(text, sizeof text, "%.*fx, no interval", digits, b->speedup);
        plot_text_at(p, text, WIDTH - 16, top + b->y, "right", "");
        bn_text_printf(&p->description, " %s %s: %s.", b->label, b->way, text);
    }
}

/* Marks the ends of bars that leave the scale, dark on a light line, which shows on any bar. */
static void put_arrows(plot *p, const drawing *d)
{
    const double inside = pow(d->most / d->least, 0.03);
    for (size_t i = 0; i < d->count; i++) {
        const bar *b = &d->bars[i];
        if (!leaves(d, b))
            continue;
        const bool left = b->speedup < d->least;
        const double end = left ? d->least : d->most, from = left ? end * inside : end / inside;
        for (int on = 0; on < 2; on++)
            bn_text_printf(&p->script,
                           "set arrow from %.6g,%.1f to %.6g,%.1f head filled size screen "
                           "0.007,25 front linewidth %s linecolor rgb '%s'\n",
                           from, b->y, end, b->y, on ? "1.6" : "5", on ? PLOT_INK : PLOT_PAPER);
    }
}

static void put_commands(plot *p, const drawing *d, const bool present[KINDS], double body,
                         double pixels)
{
    bn_text_printf(&p->script,
                   "set logscale x\nset xrange [%.6g:%.6g]\nset yrange [%.1f:0]\nunset ytics\n"
                   "unset mxtics\nset border 1\nset grid xtics\n",
                   d->least, d->most, body);
    put_tics(p, d->least, d->most, pixels);
    put_arrows(p, d);
    bn_text_printf(
        &p->script,
        "set xlabel 'lazy step time over this step time; right of 1: faster than lazy' "
        "textcolor rgb '" PLOT_INK "' font 'sans-serif,12'\n"
        "set arrow from 1,0 to 1,%.1f nohead front linewidth 1.6 linecolor rgb '" PLOT_INK
        "'\nplot",
        body);
    bool first = true;
    for (int kind = 0; kind < KINDS; kind++) {
        char name[16];
        snprintf(name, sizeof name, "bars%d", kind);
        if (present[kind])
            plot_bars(p, name, kinds[kind].fill, first);
        first = first && !present[kind];
    }
    /* A narrow dark line on a wide light one shows on any bar. */
    bn_text_printf(&p->script,
                   "%s \\\n    $intervals using 1:2:3:4 with xerrorbars pointtype -1 linewidth 4 "
                   "linecolor rgb '" PLOT_PAPER "', \\\n    $intervals using 1:2:3:4 with "
                   "xerrorbars pointtype -1 linewidth 1.6 linecolor rgb '" PLOT_INK "'\n",
                   first ? "" : ",");
}

static void put_plot(plot *p, const drawing *d, const plot_rows *rows)
{
    char subtitle[1400];
    snprintf(subtitle, sizeof subtitle, "%.*s%s%s", BN_FIT(rows->common, 1100),
             rows->common[0] && d->beyond ? ". " : "",
             d->beyond ? "An arrow: the bar goes on beyond the scale." : "");
    const plot_words words = {"Speedup over lazy tracing, by model and mode", subtitle,
                              rows->badge};
    const double body = d->bars[d->count - 1].y + ROW / 2.0 + 2;
    const double head = plot_begin(p, &words, WIDTH, (int)body + FOOT + 44);
    const double left = 16 + (d->headed ? 24 : d->labels + 14) + d->ways + 8;
    const double top = head + 40;
    bool present[KINDS] = {false};
    double x = 16;
    plot_margins(p, left, WIDTH - FIGURES - 12, top, top + body);
    bn_text_printf(
        &p->description,
        "Bars of speedup over the lazy step; \"n.s.\": no significant difference; means are not "
        "tested. %s.",
        rows->common[0] ? rows->common : "Several runtimes");
    put_labels(p, d, left, top);
    put_data(p, d, present);
    for (int kind = 0; kind < KINDS; kind++)
        if (present[kind])
            x = plot_legend_box(p, kinds[kind].fill, kinds[kind].name, x, head + 8);
    put_commands(p, d, present, body, WIDTH - FIGURES - 12 - left);
}

bn_code plot_speedup(const res_collection *all, plot *p, bn_status *st)
{
    plot_rows rows;
    bn_code code = BN_OK;
    *p = (plot){0};
    plot_rows_make(all, &rows);
    drawing d = {.bars = bn_zalloc(rows.count + json_array_size(rows.means) + 1, sizeof *d.bars),
                 .headed = plot_labels_width(&rows) > PLOT_LABEL_COLUMN};
    add_rows(&d, &rows);
    if (any_ratio(&d)) {
        add_means(&d, &rows);
        measure(&d);
        put_plot(p, &d, &rows);
    } else {
        code = bn_fail(st, BN_NOT_FOUND,
                       "speedup: no model here has both a lazy and another mode that succeeded");
    }
    free(d.bars);
    plot_rows_free(&rows);
    return code;
}

const plot_kind plot_kind_speedup = {"speedup", plot_speedup};
