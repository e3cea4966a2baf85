/*
 * grid.c - a table of text cells, rendered as aligned text, markdown or CSV (LaTeX and
 * HTML: grid_markup.c).
 */
#include "results/tables/tables_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first cell of a row that is a rule. */
static const char rule_mark[] = "\001";
/* Starts a cell that may run over the empty ones after it. */
static const char spill_mark = '\002';

res_grid res_grid_make(const char *align)
{
    return (res_grid){.columns = strlen(align), .align = align};
}

void res_grid_free(res_grid *grid)
{
    bn_text_free(&grid->bytes);
    free(grid->starts);
    *grid = (res_grid){0};
}

static void add_cell(res_grid *grid, const char *text, size_t length)
{
    if (grid->count == grid->capacity) {
        size_t capacity = grid->capacity > 0 ? grid->capacity * 2 : 128;
        size_t *starts = realloc(grid->starts, capacity * sizeof *starts);
        if (!starts) {
            grid->failed = true;
            return;
        }
        grid->starts = starts;
        grid->capacity = capacity;
    }
    grid->starts[grid->count++] = grid->bytes.length;
    bn_text_append(&grid->bytes, text, length);
    bn_text_putc(&grid->bytes, '\0');
    grid->failed = grid->failed || grid->bytes.failed;
}

void res_grid_cell(res_grid *grid, const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0)
        length = 0;
    add_cell(grid, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

void res_grid_blank(res_grid *grid, size_t count)
{
    while (count-- > 0)
        add_cell(grid, "", 0);
}

void res_grid_spill(res_grid *grid, const char *text, size_t count)
{
    bn_text cell = {0};
    bn_text_putc(&cell, spill_mark);
    bn_text_puts(&cell, text);
    if (cell.data)
        add_cell(grid, cell.data, cell.length);
    grid->failed = grid->failed || cell.failed;
    bn_text_free(&cell);
    res_grid_blank(grid, count - 1);
}

void res_grid_json(res_grid *grid, const json_t *value)
{
    if (!value || json_is_null(value)) {
        add_cell(grid, "", 0);
    } else if (json_is_string(value)) {
        add_cell(grid, json_string_value(value), json_string_length(value));
    } else {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | RES_JSON_REALS);
        if (text)
            add_cell(grid, text, strlen(text));
        grid->failed = grid->failed || !text;
        free(text);
    }
}

void res_grid_row(res_grid *grid, const char *cells)
{
    for (size_t column = 0; column < grid->columns; column++) {
        size_t length = strcspn(cells, "|");
        add_cell(grid, cells, length);
        cells += length + (cells[length] == '|');
    }
}

void res_grid_rule(res_grid *grid)
{
    res_grid_row(grid, rule_mark);
}

static const char *raw_at(const res_grid *grid, size_t row, size_t column)
{
    return grid->bytes.data + grid->starts[row * grid->columns + column];
}

bool res_grid_is_spill(const res_grid *grid, size_t row, size_t column)
{
    return raw_at(grid, row, column)[0] == spill_mark;
}

const char *res_grid_at(const res_grid *grid, size_t row, size_t column)
{
    return raw_at(grid, row, column) + res_grid_is_spill(grid, row, column);
}

bool res_grid_is_rule(const res_grid *grid, size_t row)
{
    return strcmp(res_grid_at(grid, row, 0), rule_mark) == 0;
}

/* Columns on a terminal: UTF-8 characters, not bytes. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

/* Width of a column, 0 when no row but the heading has anything in it. */
static size_t column_width(const res_grid *grid, size_t rows, size_t column)
{
    size_t widest = 0;
    for (size_t row = 1; row < rows; row++) {
        /* A text that runs over others needs its column, not its own width. */
        size_t width = res_grid_is_rule(grid, row) ? 0
                       : res_grid_is_spill(grid, row, column)
                           ? 1
                           : width_of(res_grid_at(grid, row, column));
        widest = width > widest ? width : widest;
    }
    size_t heading = width_of(res_grid_at(grid, 0, column));
    return widest > 0 && heading > widest ? heading : widest;
}

static void fill(bn_text *out, char c, size_t count)
{
    while (count-- > 0)
        bn_text_putc(out, c);
}

/* CELL in WIDTH columns. */
static void put_padded(bn_text *out, const char *cell, size_t width, bool right)
{
    size_t used = width_of(cell), space = width > used ? width - used : 0;
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

/* Spaces before a column: an interval stands close to its figure. */
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

static void render_text(const res_grid *grid, size_t rows, const size_t *widths, bn_text *out)
{
    size_t total = 0;
    for (size_t column = 0; column < grid->columns; column++)
        total += widths[column] > 0 ? widths[column] + gap_before(grid, column) : 0;
    for (size_t row = 0; row < rows; row++) {
        if (!res_grid_is_rule(grid, row))
            text_row(grid, row, widths, out);
        if (res_grid_is_rule(grid, row) || row == 0) {
            fill(out, '-', total);
            bn_text_putc(out, '\n');
        }
    }
}

static void render_markdown(const res_grid *grid, size_t rows, const size_t *widths, bn_text *out)
{
    for (size_t row = 0; row < rows; row++) {
        if (res_grid_is_rule(grid, row))
            continue;
        for (size_t column = 0; column < grid->columns; column++) {
            if (widths[column] == 0)
                continue;
            bn_text_puts(out, "| ");
            for (const char *c = res_grid_at(grid, row, column); *c != '\0'; c++) {
                if (*c == '|')
                    bn_text_putc(out, '\\');
                bn_text_putc(out, *c == '\n' ? ' ' : *c);
            }
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

/* RFC 4180, with a plain newline. */
static void render_csv(const res_grid *grid, size_t rows, bn_text *out)
{
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; !res_grid_is_rule(grid, row) && column < grid->columns; column++) {
            const char *cell = res_grid_at(grid, row, column);
            bool quoted = strpbrk(cell, ",\"\r\n") != NULL;
            if (quoted)
                bn_text_putc(out, '"');
            for (; *cell != '\0'; cell++) {
                if (*cell == '"')
                    bn_text_putc(out, '"');
                bn_text_putc(out, *cell);
            }
            if (quoted)
                bn_text_putc(out, '"');
            bn_text_putc(out, column + 1 < grid->columns ? ',' : '\n');
        }
    }
}

void res_grid_render(const res_grid *grid, res_format format, bn_text *out)
{
    size_t rows = grid->columns > 0 ? grid->count / grid->columns : 0;
    size_t *widths = calloc(grid->columns + 1, sizeof *widths);
    if (grid->failed || !widths) {
        out->failed = true;
        free(widths);
        return;
    }
    for (size_t column = 0; rows > 0 && column < grid->columns; column++)
        widths[column] = column_width(grid, rows, column);
    if (format == RES_TABLE_CSV)
        render_csv(grid, rows, out);
    else if (format == RES_TABLE_MARKDOWN)
        render_markdown(grid, rows, widths, out);
    else if (format == RES_TABLE_LATEX)
        res_grid_latex(grid, rows, widths, out);
    else if (format == RES_TABLE_HTML)
        res_grid_html(grid, rows, widths, out);
    else
        render_text(grid, rows, widths, out);
    free(widths);
}

void res_table_sheet(const char *align, const json_t *rows, res_format format, bn_text *out)
{
    res_grid grid = res_grid_make(align);
    for (size_t row = 0; row < json_array_size(rows); row++)
        for (size_t column = 0; column < grid.columns; column++)
            res_grid_json(&grid, json_array_get(json_array_get(rows, row), column));
    res_grid_render(&grid, format, out);
    res_grid_free(&grid);
}
