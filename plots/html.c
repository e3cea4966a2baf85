/*
 * html.c - text in HTML, and pictures inside a page.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Length of the UTF-8 sequence at TEXT; 0 where there is none. */
static size_t sequence(const unsigned char *text)
{
    const size_t length = text[0] < 0x80                      ? 1
                          : text[0] >= 0xC2 && text[0] < 0xE0 ? 2
                          : (text[0] & 0xF0) == 0xE0          ? 3
                          : text[0] >= 0xF0 && text[0] < 0xF5 ? 4
                                                              : 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

void plot_html_text(bn_text *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        const size_t length = sequence(at);
        if (*at == '&')
            bn_text_puts(out, "&amp;");
        else if (*at == '<')
            bn_text_puts(out, "&lt;");
        else if (*at == '>')
            bn_text_puts(out, "&gt;");
        else if (*at == '"')
            bn_text_puts(out, "&quot;");
        else if (*at == '\'')
            bn_text_puts(out, "&#39;");
        else if (length == 0 || (*at < ' ' && *at != '\n') || *at == 127)
            bn_text_putc(out, '?');
        else
            bn_text_append(out, (const char *)at, length);
        at += length ? length : 1;
    }
}

void plot_html_printf(bn_text *out, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    plot_html_text(out, text);
}

/* ---- tables ----------------------------------------------------------------------- */

void plot_table_begin(bn_text *out, const char *caption, const char *columns)
{
    bn_text_puts(
        out, "<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\">\n<caption><span>");
    plot_html_text(out, caption);
    bn_text_puts(out, "</span></caption>\n<thead><tr>");
    while (*columns) {
        const size_t length = strcspn(columns, "|");
        const bool number = *columns == '#';
        bn_text_puts(out, number ? "<th scope=\"col\" class=\"number\"><button>"
                                 : "<th scope=\"col\"><button>");
        bn_text_append(out, columns + number, length - number);
        bn_text_puts(out, "</button></th>");
        columns += length;
        columns += *columns == '|';
    }
    bn_text_puts(out, "</tr></thead>\n<tbody>\n");
}

void plot_table_end(bn_text *out)
{
    bn_text_puts(out, "</tbody>\n</table></div>\n");
}

void plot_cell(bn_text *out, const char *text)
{
    bn_text_puts(out, strlen(text) > 36 ? "<td class=\"long\">" : "<td>");
    plot_html_text(out, text);
    bn_text_puts(out, "</td>");
}

void plot_cell_number(bn_text *out, double value, const char *text)
{
    if (!isfinite(value)) {
        bn_text_puts(out, "<td class=\"number\"></td>");
        return;
    }
    bn_text_printf(out, "<td class=\"number\" data-value=\"%.9g\">", value);
    plot_html_text(out, text);
    bn_text_puts(out, "</td>");
}

/* ---- pictures --------------------------------------------------------------------- */

typedef struct swap {
    const char *from, *to;
} swap;

/* Colours of ours, which the page's style sets for light and dark; and ids, which are
 * gnuplot's own in each picture and would be the same in all. */
static const swap swaps[] = {
    {PLOT_INK, "var(--ink)"},     {PLOT_SOFT, "var(--soft)"},   {PLOT_GRID, "var(--grid)"},
    {PLOT_SHADE, "var(--shade)"}, {PLOT_PAPER, "var(--paper)"}, {PLOT_QUIET, "var(--quiet)"},
};

/* Gnuplot writes a colour as #rrggbb or rgb(27,  31,  36), by where it stands. */
static size_t colour_at(const char *at, unsigned *rgb)
{
    unsigned r, g, b;
    int used = 0;
    if (*at == '#' && sscanf(at, "#%6x%n", rgb, &used) == 1 && used == 7)
        return 7;
    if (*at == 'r' && sscanf(at, "rgb(%u,%u,%u)%n", &r, &g, &b, &used) == 3 && used > 0) {
        *rgb = r << 16 | g << 8 | b;
        return (size_t)used;
    }
    return 0;
}

static const char *page_colour(unsigned rgb)
{
    for (size_t i = 0; i < sizeof swaps / sizeof *swaps; i++) {
        unsigned ours = 0;
        if (sscanf(swaps[i].from, "#%x", &ours) == 1 && ours == rgb)
            return swaps[i].to;
    }
    return NULL;
}

/* The names of the references and ids that follow here, each ends where a name of ours
 * is put in. */
static size_t reference_at(const char *at)
{
    static const char *const before[] = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (strncmp(at, before[i], strlen(before[i])) == 0)
            return strlen(before[i]);
    return 0;
}

/* In markup, never in the text between. */
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

/* From the end of the first tag of the SVG: a tag of our own comes before. */
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
        bn_text_puts(out, "<figure>\n<div class=\"picture\" tabindex=\"0\">");
        if (!put_svg(p, svg.data, number, out))
            code = bn_fail(st, BN_EXECUTE, "gnuplot drew something that is no SVG");
        bn_text_puts(out, "</div>\n<figcaption>");
        plot_html_text(out, caption);
        bn_text_puts(out, "</figcaption>\n</figure>\n");
    }
    bn_text_free(&svg);
    return code;
}
