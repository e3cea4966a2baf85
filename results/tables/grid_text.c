/*
 * grid_text.c - grids as aligned text, Markdown and CSV.
 */
#include "results/tables/tables_priv.h"

#include <string.h>

static void fill(bn_text *out, char c, size_t count)
{
    while (count-- > 0)
        bn_text_putc(out, c);
}

/* Pads CELL to WIDTH columns of the terminal. */
static void put_padded(bn_text *out, const char *cell, size_t width, bool right)
{
    size_t used = res_text_columns(cell), space = width > used ? width - used : 0;
    if (right)
        fill(out, ' ', space);
    bn_text_puts(out, cell);
    if (!right)
        fill(out, ' ', space);
}

static void trim_line(bn_text *out)
{
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    bn_text_putc(out, '\n');
}

/* Spaces before a column. An interval stands close to its figure. */
static size_t gap_before(const res_grid *grid, size_t column)
{
    return column == 0 ? 0 : grid->align[column] == 'i' ? 1 : 2;
}

static void text_row(const res_grid *grid, size_t row, const size_t *widths, bn_text *out)
{
    for (size_t column = 0; column < grid->columns; column++) {
        if (widths[column] == 0)
            continue;
        fill(out, ' ', gap_before(grid, column));
        put_padded(out, res_grid_at(grid, row, column), widths[column],
                   grid->align[column] == 'r' && !res_grid_is_spill(grid, row, column));
        if (res_grid_is_spill(grid, row, column))
            break;
    }
    trim_line(out);
}

size_t res_grid_total(const res_grid *grid, const size_t *widths)
{
    size_t total = 0;
    for (size_t column = 0; column < grid->columns; column++)
        total += widths[column] > 0 ? widths[column] + gap_before(grid, column) : 0;
    return total;
}

void res_grid_text(const res_grid *grid, size_t rows, const size_t *widths, bn_text *out)
{
    const size_t total = res_grid_total(grid, widths);
    for (size_t row = 0; row < rows; row++) {
        if (!res_grid_is_rule(grid, row))
            text_row(grid, row, widths, out);
        if (res_grid_is_rule(grid, row) || (row == 0 && !grid->plain)) {
            fill(out, '-', total);
            bn_text_putc(out, '\n');
        }
    }
}

void res_grid_markdown(const res_grid *grid, size_t rows, const size_t *widths, bn_text *out)
{
    for (size_t row = 0; row < rows; row++) {
        if (res_grid_is_rule(grid, row))
            continue;
        for (size_t column = 0; column < grid->columns; column++) {
            if (widths[column] == 0)
                continue;
            bn_text_puts(out, "| ");
            res_put_escaped(out, RES_TABLE_MARKDOWN, res_grid_at(grid, row, column));
            bn_text_putc(out, ' ');
        }
        bn_text_puts(out, "|\n");
        for (size_t column = 0; row == 0 && column < grid->columns; column++) {
            if (widths[column] > 0)
                bn_text_puts(out, grid->align[column] == 'r' ? "| ---: " : "| :--- ");
        }
        if (row == 0)
            bn_text_puts(out, "|\n");
    }
}

/* Lines end with a plain newline. */
void res_grid_csv(const res_grid *grid, size_t rows, const size_t *widths, bn_text *out)
{
    (void)widths;
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; !res_grid_is_rule(grid, row) && column < grid->columns; column++) {
            res_put_csv(out, res_grid_at(grid, row, column));
            bn_text_putc(out, column + 1 < grid->columns ? ',' : '\n');
        }
    }
}
