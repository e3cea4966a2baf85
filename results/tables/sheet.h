/*
 * sheet.h - a table of cells that are texts already, in every format but JSON.
 */
#ifndef BENCH_HARNESS_SHEET_H
#define BENCH_HARNESS_SHEET_H

#include <jansson.h>

#include "results/tables/tables.h"

#define RES_SHEET_COLUMNS 16

typedef struct res_sheet_column {
    const char *head;
    bool right; /* numbers */
} res_sheet_column;

/* ROWS: an array of arrays of strings, a string a column; at most
 * RES_SHEET_COLUMNS. FORMAT is not RES_TABLE_JSON. */
void res_sheet_write(const res_sheet_column *columns, size_t count, const json_t *rows, res_format format,
                    bn_text *out);

/* A further cell of ROW, of at most 199 bytes. */
void res_sheet_put(json_t *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
