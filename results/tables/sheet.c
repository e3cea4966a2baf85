/* sheet.c - tables of texts: aligned, Markdown, CSV; others by results' own grid. */
#include "results/tables/sheet.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *cell(const json_t *row, size_t column)
{
    const char *text = json_string_value(json_array_get(row, column));
    return text ? text : "";
}

static void csv_cell(const char *text, bn_text *out)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        bn_text_puts(out, text);
        return;
    }
    bn_text_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            bn_text_putc(out, '"');
        bn_text_putc(out, *text);
    }
    bn_text_putc(out, '"');
}

static void pad(bn_text *out, size_t count)
{
    while (count-- > 0)
        bn_text_putc(out, ' ');
}

/* ROW may be NULL: the heads. */
static void write_row(const res_sheet_column *columns, size_t count, const json_t *row,
                      const size_t *width, res_format format, bn_text *out)
{
    const bool markdown = format == RES_TABLE_MARKDOWN;
    for (size_t i = 0; i < count; i++) {
        const char *text = row ? cell(row, i) : columns[i].head;
        if (format == RES_TABLE_CSV) {
            if (i)
                bn_text_putc(out, ',');
            csv_cell(text, out);
            continue;
        }
        const size_t space = width[i] - strlen(text);
        bn_text_puts(out, markdown ? "| " : i ? "  " : "");
        if (columns[i].right)
            pad(out, space);
        bn_text_puts(out, text);
        if (!columns[i].right)
            pad(out, space);
        if (markdown)
            bn_text_putc(out, ' ');
    }
    /* Nothing trails at the end of a line. */
    while (format == RES_TABLE_TEXT && !out->failed && out->data[out->length - 1] == ' ')
        out->length--;
    bn_text_puts(out, markdown ? "|\n" : "\n");
}

/* The heads as a row before ROWS, for the grid of results. */
static void write_grid(const res_sheet_column *columns, size_t count, const json_t *rows,
                       res_format format, bn_text *out)
{
    char align[RES_SHEET_COLUMNS + 1] = "";
    json_t *all = json_array(), *heads = json_array();
    for (size_t i = 0; i < count; i++) {
        align[i] = columns[i].right ? 'r' : 'l';
        json_array_append_new(heads, json_string(columns[i].head));
    }
    json_array_append_new(all, heads);
    for (size_t r = 0; r < json_array_size(rows); r++)
        json_array_append(all, json_array_get(rows, r));
    res_table_sheet(align, all, format, out);
    json_decref(all);
}

void res_sheet_write(const res_sheet_column *columns, size_t count, const json_t *rows, res_format format,
                    bn_text *out)
{
    size_t width[RES_SHEET_COLUMNS] = {0}, lines = json_array_size(rows);
    if (format == RES_TABLE_LATEX || format == RES_TABLE_HTML) {
        write_grid(columns, count, rows, format, out);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        width[i] = strlen(columns[i].head);
        for (size_t r = 0; r < lines; r++) {
            size_t length = strlen(cell(json_array_get(rows, r), i));
            width[i] = length > width[i] ? length : width[i];
        }
    }
    write_row(columns, count, NULL, width, format, out);
    if (format == RES_TABLE_MARKDOWN) {
        for (size_t i = 0; i < count; i++) {
            bn_text_putc(out, '|');
            for (size_t k = 0; k < width[i] + 2; k++)
                bn_text_putc(out, columns[i].right && k == width[i] + 1 ? ':' : '-');
        }
        bn_text_puts(out, "|\n");
    }
    for (size_t r = 0; r < lines; r++)
        write_row(columns, count, json_array_get(rows, r), width, format, out);
}

void res_sheet_put(json_t *row, const char *format, ...)
{
    char text[200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    json_array_append_new(row, json_string(text));
}
