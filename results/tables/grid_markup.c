/*
 * grid_markup.c - grids and their surroundings in LaTeX and HTML, and what is escaped in Markdown.
 *
 * LaTeX is a plain tabular to be \input into a document: it needs no package, so
 * none has to be asked for. HTML is a fragment of tables, headings and
 * paragraphs; res_put_page makes a whole page around it.
 */
#include "results/tables/tables_priv.h"

#include <string.h>

static void put_html(bn_text *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            bn_text_puts(out, "&amp;");
            break;
        case '<':
            bn_text_puts(out, "&lt;");
            break;
        case '>':
            bn_text_puts(out, "&gt;");
            break;
        case '"':
            bn_text_puts(out, "&quot;");
            break;
        default:
            /* Other control characters may not stand in a page at all. */
            bn_text_putc(out, (unsigned char)*text < ' ' ? ' ' : *text);
        }
    }
}

/* What LaTeX reads otherwise; "<" and ">" are other signs in its first fonts, and two
 * dashes would become one. A bracket after a line's end is an argument of that end. */
static void put_latex(bn_text *out, const char *text)
{
    static const struct {
        char plain;
        const char *latex;
    } signs[] = {
        {'\\', "\\textbackslash{}"},
        {'~', "\\textasciitilde{}"},
        {'^', "\\textasciicircum{}"},
        {'<', "\\textless{}"},
        {'>', "\\textgreater{}"},
        {'|', "\\textbar{}"},
        {'-', "-{}"},
        {'[', "{[}"},
        {']', "{]}"},
        {'#', "\\#"},
        {'$', "\\$"},
        {'%', "\\%"},
        {'&', "\\&"},
        {'_', "\\_"},
        {'{', "\\{"},
        {'}', "\\}"},
        {'"', "{''}"},
    };
    for (; *text != '\0'; text++) {
        size_t i = 0;
        while (i < sizeof signs / sizeof *signs && signs[i].plain != *text)
            i++;
        if (i < sizeof signs / sizeof *signs)
            bn_text_puts(out, signs[i].latex);
        else
            bn_text_putc(out, (unsigned char)*text < ' ' ? ' ' : *text);
    }
}

/* A runtime's message may have lines, tags and marks of its own. */
static void put_markdown(bn_text *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("\\`*<|", *text))
            bn_text_putc(out, '\\');
        bn_text_putc(out, *text == '\n' ? ' ' : *text);
    }
}

void res_put_escaped(bn_text *out, res_format format, const char *text)
{
    if (format == RES_TABLE_HTML)
        put_html(out, text);
    else if (format == RES_TABLE_MARKDOWN)
        put_markdown(out, text);
    else if (format == RES_TABLE_LATEX)
        put_latex(out, text);
    else
        bn_text_puts(out, text);
}

/* Shown columns from COLUMN on. */
static size_t shown_from(const res_grid *grid, const size_t *widths, size_t column)
{
    size_t shown = 0;
    for (; column < grid->columns; column++)
        shown += widths[column] > 0;
    return shown;
}

/* ---- LaTeX ------------------------------------------------------------------- */

static void latex_row(const res_grid *grid, size_t row, const size_t *widths, bn_text *out)
{
    bool first = true;
    for (size_t column = 0; column < grid->columns; column++) {
        if (widths[column] == 0)
            continue;
        bn_text_puts(out, first ? "" : " & ");
        first = false;
        if (res_grid_is_spill(grid, row, column)) {
            bn_text_printf(out, "\\multicolumn{%zu}{l}{", shown_from(grid, widths, column));
            put_latex(out, res_grid_at(grid, row, column));
            bn_text_putc(out, '}');
            break;
        }
        put_latex(out, res_grid_at(grid, row, column));
    }
    bn_text_puts(out, " \\\\\n");
}

void res_grid_latex(const res_grid *grid, size_t rows, const size_t *widths, bn_text *out)
{
    /* A tabular without columns is none. */
    if (shown_from(grid, widths, 0) == 0)
        return;
    bn_text_puts(out, "\\begin{tabular}{");
    for (size_t column = 0; column < grid->columns; column++) {
        if (widths[column] > 0)
            bn_text_putc(out, grid->align[column] == 'r' ? 'r' : 'l');
    }
    bn_text_puts(out, "}\n\\hline\n");
    for (size_t row = 0; row < rows; row++) {
        if (!res_grid_is_rule(grid, row))
            latex_row(grid, row, widths, out);
        if (res_grid_is_rule(grid, row) || row == 0)
            bn_text_puts(out, "\\hline\n");
    }
    bn_text_puts(out, "\\hline\n\\end{tabular}\n");
}

/* ---- HTML ---------------------------------------------------------------------- */

static void html_row(const res_grid *grid, size_t row, const size_t *widths, bn_text *out)
{
    const char *tag = row == 0 ? "th" : "td";
    bn_text_puts(out, "<tr>");
    for (size_t column = 0; column < grid->columns; column++) {
        if (widths[column] == 0)
            continue;
        bool spill = res_grid_is_spill(grid, row, column);
        bn_text_printf(out, "<%s", tag);
        if (row == 0)
            bn_text_puts(out, " scope=\"col\"");
        if (spill)
            bn_text_printf(out, " colspan=\"%zu\"", shown_from(grid, widths, column));
        else if (grid->align[column] == 'r')
            bn_text_puts(out, " class=\"r\"");
        bn_text_putc(out, '>');
        put_html(out, res_grid_at(grid, row, column));
        bn_text_printf(out, "</%s>", tag);
        if (spill)
            break;
    }
    bn_text_puts(out, "</tr>\n");
}

void res_grid_html(const res_grid *grid, size_t rows, const size_t *widths, bn_text *out)
{
    if (shown_from(grid, widths, 0) == 0)
        return;
    bn_text_puts(out, "<table>\n<thead>\n");
    for (size_t row = 0; row < rows; row++) {
        if (!res_grid_is_rule(grid, row))
            html_row(grid, row, widths, out);
        if (row == 0)
            bn_text_puts(out, "</thead>\n<tbody>\n");
        else if (res_grid_is_rule(grid, row) && row + 1 < rows)
            bn_text_puts(out, "</tbody>\n<tbody>\n");
    }
    bn_text_puts(out, "</tbody>\n</table>\n");
}

void res_put_page(bn_text *out, const char *title, const char *body)
{
    static const char style[] =
        "body{font:15px/1.4 system-ui,sans-serif;margin:2em;color:#111;background:#fff}\n"
        "table{border-collapse:collapse;margin:.7em 0;font-variant-numeric:tabular-nums}\n"
        "th,td{padding:.15em .6em;text-align:left;white-space:nowrap}\n"
        "thead{border-bottom:1px solid #888}\n"
        "tbody+tbody{border-top:1px solid #888}\n"
        "h1{font-size:1.5em}h2{font-size:1.15em}p{margin:.25em 0}\n"
        ".r{text-align:right}\n"
        "@media(prefers-color-scheme:dark){body{color:#eee;background:#111}}\n";
    bn_text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    put_html(out, title);
    bn_text_printf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", style);
    bn_text_puts(out, body);
    bn_text_puts(out, "</body>\n</html>\n");
}
