/*
 * html.c - text and tables in HTML.
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
