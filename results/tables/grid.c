/*
 * grid.c - a table of text cells: how they are kept and looked at. What it looks like is in
 * grid_text.c and grid_markup.c.
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
    bn_grow(&grid->starts, grid->count + 1, &grid->capacity, sizeof *grid->starts);
    grid->starts[grid->count++] = grid->bytes.length;
    bn_text_append(&grid->bytes, text, length);
    bn_text_putc(&grid->bytes, '\0');
}

/* Foreign text is made plain, so no cell can be taken for a mark either. */
static void add_plain(res_grid *grid, bool spill, const char *text)
{
    bn_text cell = {0};
    if (spill)
        bn_text_putc(&cell, spill_mark);
    bn_text_plain(&cell, text);
    add_cell(grid, cell.data ? cell.data : "", cell.length);
    bn_text_free(&cell);
}

void res_grid_cell(res_grid *grid, const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    if (vsnprintf(text, sizeof text, format, args) < 0)
        text[0] = '\0';
    va_end(args);
    text[bn_utf8_fit(text, sizeof text - 1)] = '\0';
    add_plain(grid, false, text);
}

void res_grid_blank(res_grid *grid, size_t count)
{
    while (count-- > 0)
        add_cell(grid, "", 0);
}

void res_grid_spill(res_grid *grid, const char *text, size_t count)
{
    add_plain(grid, true, text);
    res_grid_blank(grid, count - 1);
}

void res_grid_json(res_grid *grid, const json_t *value)
{
    if (!value || json_is_null(value)) {
        add_cell(grid, "", 0);
    } else if (json_is_string(value)) {
        add_plain(grid, false, json_string_value(value));
    } else {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | RES_JSON_SHOWN);
        add_cell(grid, text ? text : "", text ? strlen(text) : 0);
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

size_t res_bytes_columns(const char *text, size_t length)
{
    size_t width = 0;
    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)text[i] & 0xC0) != 0x80;
    return width;
}

static size_t text_columns(const char *text)
{
    return res_bytes_columns(text, strlen(text));
}

size_t res_grid_width(const res_grid *grid, size_t rows, size_t column)
{
    size_t widest = 0;
    for (size_t row = 1; row < rows; row++) {
        /* A text that runs over others needs its column, not its own width. */
        size_t width = res_grid_is_rule(grid, row) ? 0
                       : res_grid_is_spill(grid, row, column)
                           ? 1
                           : text_columns(res_grid_at(grid, row, column));
        widest = width > widest ? width : widest;
    }
    size_t heading = text_columns(res_grid_at(grid, 0, column));
    return (widest > 0 || grid->plain) && heading > widest ? heading : widest;
}
