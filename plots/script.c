/*
 * script.c - pieces of gnuplot scripts: text that is only text, places in pixels,
 * the frame that all pictures have, fills.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TITLE_SIZE 16
#define TEXT_SIZE  12
#define MARGIN     16

void plot_free(plot *p)
{
    bn_text_free(&p->script);
    bn_text_free(&p->description);
    *p = (plot){0};
}

/* ---- series ---------------------------------------------------------------------- */

const char *plot_series_colour(size_t number)
{
    static const char *const colours[] = {PLOT_BLUE, PLOT_VERMILION, PLOT_GREEN, PLOT_PURPLE,
                                          PLOT_INK,  PLOT_ORANGE,    PLOT_SKY};
    _Static_assert(sizeof colours / sizeof *colours == PLOT_COLOURS,
                   "PLOT_COLOURS is the number of colours");
    return colours[number % PLOT_COLOURS];
}

/* These are filled markers; the number of each hollow one is one less. Five shapes and seven
 * colours make 35 pairs. */
int plot_series_marker(size_t number)
{
    static const int markers[] = {7, 5, 9, 13, 11};
    _Static_assert(sizeof markers / sizeof *markers == PLOT_MARKERS,
                   "PLOT_MARKERS is the number of markers");
    return markers[number % PLOT_MARKERS];
}

/* ---- text ------------------------------------------------------------------------- */

/* The string stands in double quotes, with a number for each character that gnuplot could interpret
 * there (commands in back quotes, macros, escapes). Single quotes cannot hold a text that begins
 * with one. */
void plot_quote(bn_text *out, const char *text)
{
    const char *shown;
    size_t length;
    bn_text_putc(out, '"');
    while (text && *text) {
        text += bn_plain_next(text, &shown, &length);
        if (strchr("\"'`\\@$#;!{}~^", *shown))
            bn_text_printf(out, "\\%03o", (unsigned char)*shown);
        else
            bn_text_append(out, shown, length);
    }
    bn_text_putc(out, '"');
}

/* Widths of common sans-serif fonts in three classes, rather too wide; continuation bytes have no
 * width. */
double plot_text_width(const char *text, double size)
{
    double width = 0;
    for (; *text; text++) {
        if (((unsigned char)*text & 0xC0) == 0x80)
            continue;
        width += strchr(" ijlIf.,:;'|()[]t", *text) ? 0.38 : strchr("mwMW%@", *text) ? 0.95 : 0.62;
    }
    return width * size;
}

plot_unit plot_time_unit(double largest_ns)
{
    if (largest_ns < 1e3)
        return (plot_unit){1, "ns"};
    if (largest_ns < 1e6)
        return (plot_unit){1e3, "µs"};
    if (largest_ns < 1e9)
        return (plot_unit){1e6, "ms"};
    return (plot_unit){1e9, "s"};
}

plot_figure_text plot_time_text(double ns)
{
    plot_figure_text figure = {"-"};
    if (!isfinite(ns))
        return figure;
    plot_unit unit = plot_time_unit(fabs(ns) * 1.0005);
    double scaled = ns / unit.ns, size = fabs(scaled);
    int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
    snprintf(figure.text, sizeof figure.text, "%.*f %s", unit.ns > 1 ? decimals : 0, scaled,
             unit.name);
    return figure;
}

plot_figure_text plot_difference_text(res_interval ns)
{
    if (res_difference_shows(ns) != RES_DIFFERENCE_BELOW)
        return plot_time_text(ns.estimate);
    plot_figure_text figure;
    snprintf(figure.text, sizeof figure.text, "< %.28s", plot_time_text(ns.high).text);
    return figure;
}

plot_figure_text plot_id_time(const char *id)
{
    plot_figure_text figure;
    if (strspn(id, "0123456789T") >= 15 && id[8] == 'T')
        snprintf(figure.text, sizeof figure.text, "%.4s-%.2s-%.2s %.2s:%.2s:%.2s", id, id + 4,
                 id + 6, id + 9, id + 11, id + 13);
    else
        snprintf(figure.text, sizeof figure.text, "%.20s", id);
    return figure;
}

/* ---- places ------------------------------------------------------------------------ */

/* Gnuplot counts from the bottom left, in fractions of the whole. */
static double fraction_x(const plot *p, double x)
{
    return x / p->width;
}

static double fraction_y(const plot *p, double y)
{
    return 1 - y / p->height;
}

void plot_margins(plot *p, double left, double right, double top, double bottom)
{
    bn_text_printf(&p->script, "set lmargin at screen %.6f\nset rmargin at screen %.6f\n",
                   fraction_x(p, left), fraction_x(p, right));
    bn_text_printf(&p->script, "set tmargin at screen %.6f\nset bmargin at screen %.6f\n",
                   fraction_y(p, top), fraction_y(p, bottom));
}

void plot_text_at(plot *p, const char *text, double x, double y, const char *align,
                  const char *style)
{
    const bool title = strcmp(style, "title") == 0, strong = strcmp(style, "strong") == 0;
    bn_text_puts(&p->script, "set label ");
    plot_quote(&p->script, text);
    bn_text_printf(
        &p->script, " at screen %.6f,%.6f %s%s font 'sans-serif%s,%d' textcolor rgb '%s'\n",
        fraction_x(p, x), fraction_y(p, y), align, strcmp(style, "front") == 0 ? " front" : "",
        title || strong ? ":Bold" : "", title ? TITLE_SIZE : TEXT_SIZE,
        strcmp(style, "soft") == 0 ? PLOT_SOFT : PLOT_INK);
}

static void box(plot *p, const double at[4], const char *fill)
{
    bn_text_printf(&p->script,
                   "set object rectangle from screen %.6f,%.6f to screen %.6f,%.6f %s\n",
                   fraction_x(p, at[0]), fraction_y(p, at[1]), fraction_x(p, at[2]),
                   fraction_y(p, at[3]), fill);
}

double plot_legend_box(plot *p, plot_fill fill, const char *text, double x, double y)
{
    const double at[] = {x, y + 6, x + 20, y - 7};
    char style[128];
    snprintf(style, sizeof style,
             "fillcolor rgb '%s' fillstyle solid 1 border linecolor rgb '" PLOT_INK "'",
             fill.colour);
    box(p, at, style);
    if (fill.pattern) {
        snprintf(style, sizeof style,
                 "fillcolor rgb '" PLOT_INK "' fillstyle transparent pattern %d border linecolor "
                 "rgb '" PLOT_INK "'",
                 fill.pattern);
        box(p, at, style);
    }
    plot_text_at(p, text, x + 26, y, "left", "");
    return x + 26 + plot_text_width(text, TEXT_SIZE) + 18;
}

double plot_legend_marker(plot *p, int marker, const char *colour, const char *text, double x,
                          double y)
{
    bn_text_printf(&p->script,
                   "set label '' at screen %.6f,%.6f point pointtype %d pointsize 1 linecolor rgb "
                   "'%s'\n",
                   fraction_x(p, x + 8), fraction_y(p, y), marker, colour);
    plot_text_at(p, text, x + 20, y, "left", "");
    return x + 20 + plot_text_width(text, TEXT_SIZE) + 18;
}

double plot_legend_line(plot *p, bool dash, const char *colour, const char *text, double x,
                        double y)
{
    bn_text_printf(&p->script,
                   "set arrow from screen %.6f,%.6f to screen %.6f,%.6f nohead front linewidth 2 "
                   "dashtype %s linecolor rgb '%s'\n",
                   fraction_x(p, x), fraction_y(p, y), fraction_x(p, x + 26), fraction_y(p, y),
                   dash ? "'-'" : "solid", colour);
    plot_text_at(p, text, x + 32, y, "left", "");
    return x + 32 + plot_text_width(text, TEXT_SIZE) + 18;
}

/* ---- the frame ------------------------------------------------------------------------- */

/* The style of lines of the head. */
typedef struct head_lines {
    const char *style;
    double size, step; /* of letters, and from line to line, in pixels */
} head_lines;
/* Bold letters are wider. */
static const head_lines titles = {"title", TITLE_SIZE * 1.08, 22}, subtitles = {"soft", TEXT_SIZE, 18};

/* Puts TEXT in lines of at most WIDTH pixels, from Y, or without DRAW only measures it. Returns the
 * y after the lines. */
static double put_wrapped(plot *p, const head_lines *look, const char *text, double width, double y,
                          bool draw)
{
    bn_text line = {0};
    while (*text) {
        size_t word = strcspn(text, " ");
        bn_text longer = {0};
        bn_text_printf(&longer, "%s%s%.*s", line.length ? line.data : "", line.length ? " " : "",
                       (int)word, text);
        const bool full = line.length && plot_text_width(longer.data, look->size) > width;
        if (full) {
            if (draw)
                plot_text_at(p, line.data, MARGIN, y, "left", look->style);
            y += look->step;
            bn_text_clear(&line);
            bn_text_append(&line, text, word);
        } else {
            bn_text_clear(&line);
            bn_text_puts(&line, longer.data);
        }
        bn_text_free(&longer);
        text += word;
        text += *text == ' ';
    }
    if (line.length && draw)
        plot_text_at(p, line.data, MARGIN, y, "left", look->style);
    y += line.length ? look->step : 0;
    bn_text_free(&line);
    return y;
}

static double badge_width(const char *text)
{
    return plot_text_width(text, TEXT_SIZE) * 1.15 + 18;
}

static void badge(plot *p, const char *text)
{
    const double at[] = {p->width - MARGIN - badge_width(text), 33, p->width - MARGIN, 11};
    box(p, at,
        "fillcolor rgb '" PLOT_YELLOW "' fillstyle solid 1 border linecolor rgb '" PLOT_BLACK
        "' linewidth 1.5");
    /* The badge is black on yellow, whatever the page's ink is. */
    bn_text_puts(&p->script, "set label ");
    plot_quote(&p->script, text);
    bn_text_printf(&p->script,
                   " at screen %.6f,%.6f center front font 'sans-serif:Bold,%d' textcolor rgb "
                   "'" PLOT_BLACK "'\n",
                   fraction_x(p, (at[0] + at[2]) / 2), fraction_y(p, 22), TEXT_SIZE);
}

double plot_begin(plot *p, const plot_words *words, int width, int height)
{
    const char *title = words->title ? words->title : "";
    const char *subtitle = words->subtitle ? words->subtitle : "";
    const double whole = width - 2.0 * MARGIN;
    /* A title never runs under the badge. */
    const double room = whole - (words->badge ? badge_width(words->badge) + MARGIN : 0);
    *p = (plot){.width = width};
    const double below = fmax(put_wrapped(p, &titles, title, room, 22, false), 44) + 4;
    const double taken = put_wrapped(p, &subtitles, subtitle, whole, below, false);
    p->height = height + (int)taken;
    bn_text_puts(&p->script, "set encoding utf8\nset border 3 linecolor rgb '" PLOT_INK
                             "'\nset tics nomirror out scale 0.6 textcolor rgb '" PLOT_INK
                             "' font 'sans-serif,12'\nset key off\n"
                             "set grid linetype 1 linecolor rgb '" PLOT_GRID "' linewidth 0.7\n");
    put_wrapped(p, &titles, title, room, 22, true);
    put_wrapped(p, &subtitles, subtitle, whole, below, true);
    if (words->badge)
        badge(p, words->badge);
    return taken;
}

/* ---- bars -------------------------------------------------------------------------- */

void plot_bars(plot *p, const char *name, plot_fill fill, bool first)
{
    bn_text_printf(&p->script,
                   "%s \\\n    $%s using 1:2:3:4:5:6 with boxxyerror fillcolor rgb '%s' fillstyle "
                   "solid 1 border linecolor rgb '" PLOT_INK "' linewidth 0.6",
                   first ? "" : ",", name, fill.colour);
    if (fill.pattern)
        bn_text_printf(&p->script,
                       ", \\\n    $%s using 1:2:3:4:5:6 with boxxyerror fillcolor rgb '" PLOT_INK
                       "' fillstyle transparent pattern %d border linecolor rgb '" PLOT_INK
                       "' linewidth 0.6",
                       name, fill.pattern);
}

void plot_data_end(plot *p)
{
    bn_text_puts(&p->script, "EOD\n");
}
