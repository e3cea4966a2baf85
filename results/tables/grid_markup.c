/*
 * grid_markup.c - grids as LaTeX and HTML.
 *
 * LaTeX is a plain tabular: it needs no package, so that a document asks for none.
 */
#include "results/tables/tables_priv.h"

/* How many columns from COLUMN on are shown. */
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
            res_put_escaped(out, RES_TABLE_LATEX, res_grid_at(grid, row, column));
            bn_text_putc(out, '}');
            break;
        }
        res_put_escaped(out, RES_TABLE_LATEX, res_grid_at(grid, row, column));
    }
    bn_text_puts(out, " \\\\\n");
}

void res_grid_latex(const res_grid *grid, size_t rows, const size_t *widths, bn_text *out)
{
    /* LaTeX has no tabular without columns. */
    if (shown_from(grid, widths, 0) == 0)
        return;
    bn_text_puts(out, "\\begin{tabular}{");
    for (size_t column = 0; column < grid->columns; column++) {
        if (widths[column] > 0)
            bn_text_putc(out, res_grid_is_right(grid, column) ? 'r' : 'l');
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
        else if (res_grid_is_right(grid, column))
            bn_text_puts(out, " class=\"r\"");
        bn_text_putc(out, '>');
        res_put_escaped(out, RES_TABLE_HTML, res_grid_at(grid, row, column));
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
