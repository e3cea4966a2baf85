/*
 * grid_render.c - a grid in any format, and sheets, which are grids of texts.
 */
#include "results/tables/tables_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static res_grid_renderer *const renderers[] = {
    [RES_TABLE_TEXT] = res_grid_text,
    [RES_TABLE_MARKDOWN] = res_grid_markdown,
    [RES_TABLE_CSV] = res_grid_csv,
    [RES_TABLE_JSON] = NULL, /* JSON is made of values, not of cells */
    [RES_TABLE_LATEX] = res_grid_latex,
    [RES_TABLE_HTML] = res_grid_html,
    [RES_TABLE_NARROW] = res_grid_text,
};

/* Leaves columns out, in the order that the grid says, until the text fits. */
static void narrow(const res_grid *grid, size_t *widths)
{
    for (char next = 'a'; grid->spare && next <= 'z'; next++) {
        if (res_grid_total(grid, widths) <= res_narrow())
            return;
        for (size_t column = 0; column < grid->columns; column++)
            if (grid->spare[column] == next)
                widths[column] = 0;
    }
}

#define LEAST_WORDS 12 /* columns of words get no narrower */

/* How wide the column of words COLUMN has to be: its longest word, with what stands before it. */
static size_t least_of(const res_grid *grid, size_t rows, size_t column)
{
    size_t least = LEAST_WORDS;
    for (size_t row = 0; row < rows; row++) {
        if (res_grid_is_rule(grid, row) || res_grid_is_spill(grid, row, column))
            continue;
        for (const char *at = res_grid_at(grid, row, column); *at;) {
            const size_t blanks = strspn(at, " "), length = blanks + strcspn(at + blanks, " ");
            const size_t wide = res_bytes_columns(at, length);
            least = wide > least ? wide : least;
            at += length + strspn(at + length, " ");
        }
    }
    return least;
}

/* Makes the widest columns of words narrower until the text fits, or none can be: cells then have
 * several lines. */
static void squeeze(const res_grid *grid, size_t rows, size_t *widths)
{
    size_t *least = bn_zalloc(grid->columns, sizeof *least);
    for (size_t column = 0; column < grid->columns; column++)
        least[column] = grid->align[column] == 'l' ? least_of(grid, rows, column) : SIZE_MAX;
    while (res_grid_total(grid, widths) > res_narrow()) {
        size_t widest = grid->columns;
        for (size_t column = 0; column < grid->columns; column++)
            if (widths[column] > least[column] &&
                (widest == grid->columns || widths[column] > widths[widest]))
                widest = column;
        if (widest == grid->columns)
            break;
        widths[widest]--;
    }
    free(least);
}

static size_t names_of(const res_grid *grid)
{
    return grid->names ? grid->names : strspn(grid->align, "l");
}

/* Text that still does not fit stands in parts, one below the other: the columns that name a row,
 * and as many of the others as have room. Nothing is left out, and a figure keeps its interval, or
 * what else stands next to it. */
static void text_in_parts(const res_grid *grid, size_t rows, const size_t *widths, bn_text *out)
{
    const size_t names = names_of(grid);
    size_t *some = bn_zalloc(grid->columns, sizeof *some);
    for (size_t next = names; next < grid->columns;) {
        const size_t first = next;
        for (size_t column = 0; column < grid->columns; column++)
            some[column] = column < names ? widths[column] : 0;
        while (next < grid->columns) {
            const size_t end = next + 1 + strspn(grid->align + next + 1, "ib");
            for (size_t column = next; column < end; column++)
                some[column] = widths[column];
            if (next > first && res_grid_total(grid, some) > res_narrow()) {
                for (size_t column = next; column < end; column++)
                    some[column] = 0;
                break;
            }
            next = end;
        }
        bn_text_puts(out, first > names ? "\n" : "");
        squeeze(grid, rows, some);
        res_grid_text(grid, rows, some, out);
    }
    free(some);
}

static size_t widest_of(const char *text)
{
    size_t widest = 0;
    while (text && *text) {
        const size_t length = strcspn(text, "\n"), wide = res_bytes_columns(text, length);
        widest = wide > widest ? wide : widest;
        text += length + (text[length] != '\0');
    }
    return widest;
}

/* The first ROWS of GRID with a number before each. */
static void add_numbered(const res_grid *grid, size_t rows, res_grid *to)
{
    size_t number = 0;
    for (size_t row = 0; row < rows; row++) {
        if (res_grid_is_rule(grid, row)) {
            res_grid_rule(to);
            continue;
        }
        if (row == 0)
            res_grid_cell(to, "#");
        else
            res_grid_cell(to, "%zu", ++number);
        for (size_t column = 0; column < grid->columns; column++) {
            const char *cell = res_grid_at(grid, row, column);
            if (res_grid_is_spill(grid, row, column))
                res_grid_spill(to, cell, 1);
            else
                res_grid_cell(to, "%s", cell);
        }
    }
}

/* The same where the names of a row leave no room next to them: they are parts, too, and a number
 * says which row it is. */
static void text_by_number(const res_grid *grid, size_t rows, const size_t *widths, bn_text *out)
{
    char *align = bn_alloc(grid->columns + 2);
    size_t *numbered = bn_zalloc(grid->columns + 1, sizeof *numbered);
    align[0] = 'r';
    memcpy(align + 1, grid->align, grid->columns + 1);
    res_grid own = res_grid_make(align);
    own.names = 1;
    own.plain = grid->plain;
    add_numbered(grid, rows, &own);
    memcpy(numbered + 1, widths, grid->columns * sizeof *widths);
    numbered[0] = res_grid_width(&own, rows, 0);
    text_in_parts(&own, rows, numbered, out);
    res_grid_free(&own);
    free(align);
    free(numbered);
}

/* The parts that fit, or else those that are less wide. */
static void put_parts(const res_grid *grid, size_t rows, const size_t *widths, bn_text *out)
{
    bn_text named = {0}, numbered = {0};
    text_in_parts(grid, rows, widths, &named);
    const size_t wide = widest_of(named.data);
    if (wide > res_narrow())
        text_by_number(grid, rows, widths, &numbered);
    const bool fits = !numbered.data || widest_of(numbered.data) >= wide;
    bn_text_puts(out, fits && named.data ? named.data : numbered.data ? numbered.data : "");
    bn_text_free(&named);
    bn_text_free(&numbered);
}

static size_t rows_of(const res_grid *grid)
{
    return grid->columns > 0 ? grid->count / grid->columns : 0;
}

/* The widths of the columns in FORMAT, for free. */
static size_t *widths_in(const res_grid *grid, res_format format)
{
    const size_t rows = rows_of(grid);
    size_t *widths = bn_zalloc(grid->columns, sizeof *widths);
    for (size_t column = 0; rows > 0 && column < grid->columns; column++)
        widths[column] = res_grid_width(grid, rows, column);
    if (format == RES_TABLE_NARROW)
        narrow(grid, widths);
    return widths;
}

bool res_grid_shows(const res_grid *grid, res_format format, const char *heading)
{
    size_t *widths = widths_in(grid, format);
    bool shown = false;
    for (size_t column = 0; grid->count > 0 && column < grid->columns; column++)
        shown = shown || (widths[column] > 0 && strcmp(res_grid_at(grid, 0, column), heading) == 0);
    free(widths);
    return shown;
}

void res_grid_render(const res_grid *grid, res_format format, bn_text *out)
{
    const size_t rows = rows_of(grid);
    size_t *widths = widths_in(grid, format);
    if (format == RES_TABLE_NARROW && res_grid_total(grid, widths) > res_narrow() &&
        grid->align[names_of(grid)]) {
        put_parts(grid, rows, widths, out);
    } else {
        if (format == RES_TABLE_NARROW)
            squeeze(grid, rows, widths);
        renderers[format](grid, rows, widths, out);
    }
    free(widths);
}

/* ---- sheets ------------------------------------------------------------------------- */

/* The alignment of COLUMN, see res_grid. */
static char align_of(const res_sheet_column *column)
{
    const char *head = column->head;
    if (!column->right)
        return 'l';
    return strcmp(head, "95 %") == 0 || strcmp(head, "share") == 0 || strcmp(head, "error") == 0
               ? 'b'
               : 'r';
}

void res_sheet_write_named(const res_sheet_column *columns, size_t count, size_t names,
                           const json_t *rows, res_format format, bn_text *out)
{
    char align[RES_SHEET_COLUMNS + 1] = "";
    for (size_t i = 0; i < count; i++)
        align[i] = align_of(&columns[i]);
    res_grid grid = res_grid_make(align);
    grid.names = names;
    grid.plain = true;
    for (size_t i = 0; i < count; i++)
        res_grid_cell(&grid, "%s", columns[i].head);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (json_array_size(row) == 1 && count > 1) {
            res_grid_spill(&grid, json_string_value(json_array_get(row, 0)), count);
            continue;
        }
        for (size_t column = 0; column < count; column++)
            res_grid_json(&grid, json_array_get(row, column));
    }
    res_grid_render(&grid, format, out);
    res_grid_free(&grid);
}

void res_sheet_write(const res_sheet_column *columns, size_t count, const json_t *rows,
                     res_format format, bn_text *out)
{
    res_sheet_write_named(columns, count, 0, rows, format, out);
}

void res_sheet_put(json_t *row, const char *format, ...)
{
    char text[200];
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    /* Half a character is no text for JSON. */
    if (length >= (int)sizeof text)
        text[bn_utf8_fit(text, sizeof text - 4)] = '\0';
    json_array_append_new(row, res_json_text(text));
}
