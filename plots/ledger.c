/*
 * ledger.c - the parts of the mean step: a stacked bar a mode.
 *
 * Bars of one model share a scale, on which its longest step is 100 %, so that models that differ a
 * thousandfold fit in one picture. Bars show means over all processes, because means add up; tables
 * show medians. The subtitle says so.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH      980
#define ROW        24
#define GAP        10
#define FOOT       62
#define FIGURES    96    /* column of the times, at the right */
#define LEAST_PART 0.005 /* parts that are smaller in all bars are drawn as one */

/* Parts that stand side by side differ in lightness and hatching as well as in hue. */
static const plot_fill fills[BN_PART_COUNT] = {
    [BN_PART_INPUT] = {PLOT_SKY, 0},       [BN_PART_TRACE] = {PLOT_ORANGE, 4},
    [BN_PART_HASH] = {PLOT_YELLOW, 7},     [BN_PART_LOOKUP] = {PLOT_YELLOW, 2},
    [BN_PART_LOWER] = {PLOT_VERMILION, 0}, [BN_PART_COMPILE] = {PLOT_VERMILION, 1},
    [BN_PART_BIND] = {PLOT_GREEN, 6},      [BN_PART_DISPATCH] = {PLOT_BLUE, 0},
    [BN_PART_RELEASE] = {PLOT_PURPLE, 5},  [BN_PART_WAIT] = {PLOT_QUIET, 0},
    [BN_PART_READ] = {PLOT_SKY, 1},        [BN_PART_OTHER] = {PLOT_INK, 0},
};
static const plot_fill rest_fill = {"#b4bcc5", 1};

/* Bars of a row: mean of each part, the last one of those too small to see. */
typedef struct bars {
    double part_ns[BN_PART_COUNT + 1], wall_ns;
} bars;

typedef struct drawing {
    const plot_rows *rows;
    bars *bars;
    double *scale_ns; /* [row]: longest step of its cell */
    bool shown[BN_PART_COUNT + 1];
    bool headed; /* labels stand above their rows, since they are long */
} drawing;

/* LEDGERS are those of all rows. Imported records have none: their step is all in one part. */
static void fill_bars(const plot_row *row, const json_t *ledgers, bars *b)
{
    b->wall_ns = plot_row_real(row, "wall_ns") * plot_row_real(row, "mean_over_median");
    b->part_ns[BN_PART_OTHER] = b->wall_ns;
    for (size_t i = 0; i < json_array_size(ledgers); i++) {
        const json_t *ledger = json_array_get(ledgers, i);
        if (!plot_is_of(ledger, row))
            continue;
        for (int part = 0; part < BN_PART_COUNT; part++) {
            char name[64];
            snprintf(name, sizeof name, "%s_mean_ns", bn_part_name((bn_part)part));
            b->part_ns[part] = plot_real(ledger, name);
        }
        b->wall_ns = plot_real(ledger, "wall_mean_ns");
    }
}

static void fill(drawing *d, const json_t *ledgers)
{
    const plot_rows *rows = d->rows;
    for (size_t i = 0; i < rows->count; i++)
        if (plot_row_good(&rows->rows[i]))
            fill_bars(&rows->rows[i], ledgers, &d->bars[i]);
    for (size_t i = 0; i < rows->count; i++)
        for (size_t j = 0; j < rows->count; j++)
            if (rows->rows[j].cell == rows->rows[i].cell)
                d->scale_ns[i] = fmax(d->scale_ns[i], d->bars[j].wall_ns);
    for (size_t i = 0; i < rows->count; i++)
        for (int part = 0; part < BN_PART_COUNT; part++)
            if (d->bars[i].part_ns[part] > LEAST_PART * d->scale_ns[i])
                d->shown[part] = true;
    for (size_t i = 0; i < rows->count; i++)
        for (int part = 0; part < BN_PART_COUNT; part++)
            d->bars[i].part_ns[BN_PART_COUNT] += d->shown[part] ? 0 : d->bars[i].part_ns[part];
    for (int part = 0; part < BN_PART_COUNT; part++)
        d->shown[BN_PART_COUNT] = d->shown[BN_PART_COUNT] || !d->shown[part];
}

/* Middle of row I, in pixels from the first. */
static double row_y(const drawing *d, size_t i)
{
    const double cells = (double)d->rows->rows[i].cell, heads = d->headed ? cells + 1 : 0;
    return ((double)i + heads) * ROW + cells * GAP + ROW / 2.0;
}

/* Puts the data of each part: x y left right top bottom, and the mean in ns. */
static void put_data(plot *p, const drawing *d)
{
    for (int part = 0; part <= BN_PART_COUNT; part++) {
        if (!d->shown[part])
            continue;
        bn_text_printf(&p->script, "$part%d << EOD\n", part);
        for (size_t i = 0; i < d->rows->count; i++) {
            const bars *b = &d->bars[i];
            double before = 0, y = row_y(d, i);
            if (!plot_row_good(&d->rows->rows[i]))
                continue;
            for (int earlier = 0; earlier < part; earlier++)
                before += d->shown[earlier] ? b->part_ns[earlier] : 0;
            const double left = 100 * before / d->scale_ns[i],
                         right = 100 * (before + b->part_ns[part]) / d->scale_ns[i];
            bn_text_printf(&p->script, "%.4f %.1f %.4f %.4f %.1f %.1f %.1f\n", left, y, left, right,
                           y - ROW * 0.38, y + ROW * 0.38, b->part_ns[part]);
        }
        plot_data_end(p);
    }
}

static void put_labels(plot *p, const drawing *d, double left, double top)
{
    plot_text_at(p, "mean step", WIDTH - 16, top - 10, "right", "soft");
    for (size_t i = 0; i < d->rows->count; i++) {
        const plot_row *row = &d->rows->rows[i];
        double y = top + row_y(d, i);
        if (i == 0 || row->cell != row[-1].cell)
            plot_text_at(p, row->label, 16, y - (d->headed ? ROW : 0), "left", "strong");
        plot_text_at(p, row->way, left - 8, y, "right", "");
        if (plot_row_good(row)) {
            plot_text_at(p, plot_time_text(d->bars[i].wall_ns).text, WIDTH - 16, y, "right", "");
        } else {
            char failed[64];
            snprintf(failed, sizeof failed, "failed: %s", bn_code_name(row->record->status));
            plot_text_at(p, failed, left + 8, y, "left", "soft");
        }
    }
}

/* Draws boxes in lines below each other, or with DRAW false only measures them; returns the y after
 * them. */
static double legend(plot *p, const drawing *d, double y, bool draw)
{
    plot scratch = {.width = WIDTH, .height = 100};
    double x = 16;
    for (int part = 0; part <= BN_PART_COUNT; part++) {
        char text[200] = "smaller parts (";
        if (!d->shown[part])
            continue;
        for (int other = 0; part == BN_PART_COUNT && other < BN_PART_COUNT; other++)
            if (!d->shown[other])
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                         text[strlen(text) - 1] == '(' ? "" : ", ", bn_part_name((bn_part)other));
        snprintf(text + strlen(text), sizeof text - strlen(text), ")");
        const char *name = part < BN_PART_COUNT ? bn_part_name((bn_part)part) : text;
        if (x > 16 && x + 44 + plot_text_width(name, 12) > WIDTH - 16) {
            x = 16;
            y += 22;
        }
        x = plot_legend_box(draw ? p : &scratch, part < BN_PART_COUNT ? fills[part] : rest_fill,
                            name, x, y);
    }
    plot_free(&scratch);
    return y + 20;
}

static void describe(plot *p, const drawing *d)
{
    bn_text_printf(&p->description, "Stacked bars of the mean step's parts. %s.",
                   d->rows->common[0] ? d->rows->common : "Several runtimes");
    for (size_t i = 0; i < d->rows->count && i < 40; i++) {
        const plot_row *row = &d->rows->rows[i];
        int largest = 0;
        if (!plot_row_good(row))
            continue;
        for (int part = 1; part < BN_PART_COUNT; part++)
            if (d->bars[i].part_ns[part] > d->bars[i].part_ns[largest])
                largest = part;
        bn_text_printf(&p->description, " %s %s: %s, most of it %s (%.0f %%).", row->label,
                       row->way, plot_time_text(d->bars[i].wall_ns).text,
                       bn_part_name((bn_part)largest),
                       100 * d->bars[i].part_ns[largest] / d->bars[i].wall_ns);
    }
}

static void put_plot(plot *p, const drawing *d)
{
    const plot_rows *rows = d->rows;
    double ways = 0;
    for (size_t i = 0; i < rows->count; i++)
        ways = fmax(ways, plot_text_width(rows->rows[i].way, 12));
    const double body = row_y(d, rows->count - 1) + ROW / 2.0 + 2;
    const double left = 16 + (d->headed ? 24 : plot_labels_width(rows) + 14) + ways + 8;
    const double keys = legend(p, d, 0, false) + 18;
    char subtitle[1400];
    snprintf(subtitle, sizeof subtitle,
             "%.*s%sMeans, since medians of parts do not add up to a step; tables show medians.",
             BN_FIT(rows->common, 1100), rows->common[0] ? ". " : "");
    const plot_words words = {"Where a step's time goes: mean step by part", subtitle, rows->badge};
    const double head = plot_begin(p, &words, WIDTH, (int)(keys + body + FOOT + 4));
    p->statistic = PLOT_MEANS;
    legend(p, d, head + 8, true);
    const double top = head + keys + 4;
    plot_margins(p, left, WIDTH - FIGURES, top, top + body);
    put_labels(p, d, left, top);
    bn_text_printf(&p->script,
                   "set xrange [0:100]\nset yrange [%.1f:0]\nunset ytics\nset border 1\n"
                   "set grid xtics\nset xtics 0,20,100\n"
                   "set xlabel 'share of the longest step of the same model and setup (%%)' "
                   "textcolor rgb '" PLOT_INK "' font 'sans-serif,12'\n",
                   body);
    put_data(p, d);
    bn_text_puts(&p->script, "plot");
    bool first = true;
    for (int part = 0; part <= BN_PART_COUNT; part++) {
        char name[16];
        snprintf(name, sizeof name, "part%d", part);
        if (d->shown[part])
            plot_bars(p, name, part < BN_PART_COUNT ? fills[part] : rest_fill, first);
        first = first && !d->shown[part];
    }
    bn_text_putc(&p->script, '\n');
    describe(p, d);
}

bn_code plot_ledger(const res_collection *all, plot *p, bn_status *st)
{
    plot_rows rows;
    bn_code code = BN_OK;
    plot_rows_make(all, &rows);
    drawing d = {.rows = &rows,
                 .bars = bn_zalloc(rows.count + 1, sizeof *d.bars),
                 .scale_ns = bn_zalloc(rows.count + 1, sizeof *d.scale_ns)};
    json_t *ledgers = plot_rows_list(&rows, "ledger");
    d.headed = plot_labels_width(&rows) > PLOT_LABEL_COLUMN;
    *p = (plot){0};
    if (plot_rows_good(&rows) == 0) {
        code = bn_fail(st, BN_NOT_FOUND, "ledger: no experiment here succeeded");
    } else {
        fill(&d, ledgers);
        put_plot(p, &d);
    }
    free(d.scale_ns);
    free(d.bars);
    json_decref(ledgers);
    plot_rows_free(&rows);
    return code;
}

const plot_kind plot_kind_ledger = {"ledger", plot_ledger};
