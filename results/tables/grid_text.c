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

/* Pads LENGTH bytes of TEXT to WIDTH columns of the terminal. */
static void put_padded(bn_text *out, const char *text, size_t length, size_t width, bool right)
{
    size_t used = res_bytes_columns(text, length), space = width > used ? width - used : 0;
    if (right)
        fill(out, ' ', space);
    bn_text_append(out, text, length);
    if (!right)
        fill(out, ' ', space);
}

/* Bytes at the beginning of TEXT that stand in a line of WIDTH columns: whole words, at least one.
 */
static size_t line_of(const char *text, size_t width)
{
    const size_t indent = strspn(text, " ");
    size_t columns = 0, fits = 0, at = 0;
    for (; text[at]; at++) {
        if (text[at] == ' ' && at > indent) {
            if (columns > width)
                break;
            fits = at;
        }
        columns += ((unsigned char)text[at] & 0xC0) != 0x80;
    }
    return columns <= width || fits == 0 ? at : fits;
}

/* Line NUMBER, from 0, of CELL in a column of WIDTH, and its bytes in *LENGTH; NULL: there is none.
 */
static const char *line_at(const char *cell, size_t width, size_t number, size_t *length)
{
    *length = line_of(cell, width);
    for (; number > 0; number--) {
        cell += *length;
        cell += strspn(cell, " ");
        if (!*cell)
            return NULL;
        *length = line_of(cell, width);
    }
    return cell;
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

/* How many lines ROW takes. */
static size_t lines_of(const res_grid *grid, size_t row, const size_t *widths)
{
    size_t most = 1, length;
    for (size_t column = 0; column < grid->columns; column++) {
        if (widths[column] == 0 || res_grid_is_spill(grid, row, column))
            continue;
        while (line_at(res_grid_at(grid, row, column), widths[column], most, &length))
            most++;
    }
    return most;
}

/* Line NUMBER of ROW. */
static void text_line(const res_grid *grid, size_t row, const size_t *widths, size_t number,
                      bn_text *out)
{
    for (size_t column = 0; column < grid->columns; column++) {
        const char *cell = res_grid_at(grid, row, column);
        size_t length = 0;
        if (widths[column] == 0)
            continue;
        fill(out, ' ', gap_before(grid, column));
        if (res_grid_is_spill(grid, row, column)) {
            bn_text_puts(out, number == 0 ? cell : "");
            break;
        }
        const char *line = line_at(cell, widths[column], number, &length);
        put_padded(out, line ? line : "", line ? length : 0, widths[column],
                   res_grid_is_right(grid, column));
    }
    trim_line(out);
}

static void text_row(const res_grid *grid, size_t row, const size_t *widths, bn_text *out)
{
    const size_t lines = lines_of(grid, row, widths);
    for (size_t number = 0; number < lines; number++)
        text_line(grid, row, widths, number, out);
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
                bn_text_puts(out, res_grid_is_right(grid, column) ? "| ---: " : "| :--- ");
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
