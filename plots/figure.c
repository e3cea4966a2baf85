/* figure.c - pictures inside a page: SVG with the page's colours and with ids of its own, since
 * gnuplot uses the same ids in each picture. */
#include "plots/plot_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct swap {
    const char *from, *to;
} swap;

/* The page's style sets these colours for light and dark. */
static const swap swaps[] = {
    {PLOT_INK, "var(--ink)"},     {PLOT_SOFT, "var(--soft)"},   {PLOT_GRID, "var(--grid)"},
    {PLOT_SHADE, "var(--shade)"}, {PLOT_PAPER, "var(--paper)"}, {PLOT_QUIET, "var(--quiet)"},
};

/* Whether TEXT begins with six digits of a colour. Not by sscanf, which counts the rest of the
 * picture each time. */
static bool take_digits(const char *text, unsigned *rgb)
{
    static const char digits[] = "0123456789abcdef";
    *rgb = 0;
    for (int i = 0; i < 6; i++) {
        const char *digit = text[i] ? strchr(digits, tolower((unsigned char)text[i])) : NULL;
        if (!digit)
            return false;
        *rgb = *rgb << 4 | (unsigned)(digit - digits);
    }
    return true;
}

/* Gnuplot writes a colour as #rrggbb or as rgb(27, 31, 36), depending on the place. Returns its
 * length. */
static size_t colour_at(const char *at, unsigned *rgb)
{
    char *end;
    if (*at == '#')
        return take_digits(at + 1, rgb) ? 7 : 0;
    if (strncmp(at, "rgb(", 4) != 0)
        return 0;
    const char *next = at + 4;
    *rgb = 0;
    for (int i = 0; i < 3; i++) {
        *rgb = *rgb << 8 | (unsigned)(strtoul(next, &end, 10) & 0xff);
        if (end == next || *end != (i < 2 ? ',' : ')'))
            return 0;
        next = end + 1;
    }
    return (size_t)(next - at);
}

static const char *page_colour(unsigned rgb)
{
    for (size_t i = 0; i < sizeof swaps / sizeof *swaps; i++) {
        unsigned ours;
        if (take_digits(swaps[i].from + 1, &ours) && ours == rgb)
            return swaps[i].to;
    }
    return NULL;
}

/* If a reference or an id begins here, returns the length up to its name, where a prefix of ours is
 * put in. */
static size_t reference_at(const char *at)
{
    static const char *const before[] = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (strncmp(at, before[i], strlen(before[i])) == 0)
            return strlen(before[i]);
    return 0;
}

/* Swaps colours and ids in markup, never in the text between. */
static void put_markup(const char *tag, size_t length, size_t number, bn_text *out)
{
    for (size_t i = 0; i < length;) {
        unsigned rgb = 0;
        size_t used = colour_at(tag + i, &rgb);
        const char *colour = used ? page_colour(rgb) : NULL;
        if (colour) {
            bn_text_puts(out, colour);
        } else if ((used = reference_at(tag + i)) > 0) {
            bn_text_append(out, tag + i, used);
            bn_text_printf(out, "p%zu-", number);
        } else {
            used = 1;
            bn_text_putc(out, tag[i]);
        }
        i += used;
    }
}

/* Puts the SVG with a first tag of our own. */
static bool put_svg(const plot *p, const char *svg, size_t number, bn_text *out)
{
    const char *at = strstr(svg, "<svg");
    at = at ? strchr(at, '>') : NULL;
    if (!at)
        return false;
    bn_text_printf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" style=\"min-width:%dpx\">",
                   p->width, p->height, p->width * 7 / 10);
    for (at++; *at;) {
        const size_t text = strcspn(at, "<");
        bn_text_append(out, at, text);
        at += text;
        const char *end = strchr(at, '>');
        if (!*at || !end)
            break;
        put_markup(at, (size_t)(end - at) + 1, number, out);
        at = end + 1;
    }
    return true;
}

bn_code plot_html_figure(const plot *p, const char *caption, size_t number, bn_text *out,
                         bn_status *st)
{
    bn_text svg = {0};
    bn_code code = plot_render(p, PLOT_SVG, &svg, st);
    if (code == BN_OK) {
        bn_text_puts(out, "<figure");
        plot_html_statistic(out, p->statistic);
        bn_text_puts(out, ">\n<div class=\"picture\" tabindex=\"0\">");
        if (!put_svg(p, svg.data, number, out))
            code = bn_fail(st, BN_EXECUTE, "gnuplot drew something that is no SVG");
        bn_text_puts(out, "</div>\n<figcaption>");
        plot_html_text(out, caption);
        plot_html_statistic_words(out, p->statistic);
        bn_text_puts(out, "</figcaption>\n</figure>\n");
    }
    bn_text_free(&svg);
    return code;
}
