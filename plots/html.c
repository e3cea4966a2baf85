/*
 * html.c - text and tables in HTML.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void plot_html_text(bn_text *out, const char *text)
{
    const char *shown;
    size_t length;
    while (*text) {
        text += bn_plain_next(text, &shown, &length);
        if (*shown == '&')
            bn_text_puts(out, "&amp;");
        else if (*shown == '<')
            bn_text_puts(out, "&lt;");
        else if (*shown == '>')
            bn_text_puts(out, "&gt;");
        else if (*shown == '"')
            bn_text_puts(out, "&quot;");
        else if (*shown == '\'')
            bn_text_puts(out, "&#39;");
        else
            bn_text_append(out, shown, length);
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

void plot_html_statistic(bn_text *out, plot_statistic statistic)
{
    static const char *const names[] = {
        [PLOT_NONE] = "", [PLOT_MEDIANS] = "medians", [PLOT_MEANS] = "means"};
    if (statistic != PLOT_NONE)
        bn_text_printf(out, " data-statistic=\"%s\"", names[statistic]);
}

void plot_html_statistic_words(bn_text *out, plot_statistic statistic)
{
    static const char *const words[] = {
        [PLOT_NONE] = "",
        [PLOT_MEDIANS] = " Medians, which need not add up.",
        [PLOT_MEANS] = " Means, which add up.",
    };
    plot_html_text(out, words[statistic]);
}

void plot_table_begin(bn_text *out, plot_statistic statistic, const char *caption,
                      const char *columns)
{
    bn_text_puts(out, "<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\"");
    plot_html_statistic(out, statistic);
    bn_text_puts(out, ">\n<caption><span>");
    plot_html_text(out, caption);
    plot_html_statistic_words(out, statistic);
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
