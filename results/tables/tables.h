/*
 * tables.h - records and findings as tables: text, Markdown, CSV, JSON, LaTeX, HTML.
 *
 * Tables are functions of records alone. Prefix res_.
 */
#ifndef BENCH_RESULTS_TABLES_H
#define BENCH_RESULTS_TABLES_H

#include "results/findings/findings.h"

/* ---- tables ------------------------------------------------------------ */

typedef enum res_format {
    RES_TABLE_TEXT,
    RES_TABLE_MARKDOWN,
    RES_TABLE_CSV,
    RES_TABLE_JSON,
    RES_TABLE_LATEX, /* a fragment for \input that needs no package */
    RES_TABLE_HTML   /* a fragment; res_put_page makes a page of it */
} res_format;
/* "text", "md", "csv", "json", "latex", "html". */
BN_MUST_USE bn_code res_format_parse(const char *name, res_format *format, bn_status *st);

/* A whole HTML page with TITLE around the fragments BODY. */
void res_put_page(bn_text *out, const char *title, const char *body);
/* ROWS, an array of arrays of texts, the first of them the heading, as a table in
 * FORMAT (not JSON); ALIGN has a letter a column, 'l' or 'r'. */
void res_table_sheet(const char *align, const json_t *rows, res_format format, bn_text *out);

/* Ledger and summary of one record, for people or machines. */
void res_table_record(const res_record *record, res_format format, bn_text *out);

/*
 * The speedup table: per runtime, model, variant, phase, batch and dtype one
 * row a mode (the newest good record of each cell): tracing, overhead per
 * execution, device and wall time with intervals, graphs a step, compile time,
 * speedup of capture over lazy with its interval; then the geometric mean and
 * how many cells it covers. Failed cells show their class.
 */
void res_table_speedup(const res_collection *all, res_format format, bn_text *out);

/*
 * The table NAME of the records that the speedup table shows: "speedup" itself,
 * "executions" (PJRT time, device time, overhead, their intervals), "ledger" (medians
 * of the parts), "compile", "memory". res_table_check: BN_INVALID for other names.
 */
void res_table(const char *name, const res_collection *all, res_format format, bn_text *out);
BN_MUST_USE bn_code res_table_check(const char *name, bn_status *st);

/* Two runtimes: who they are, verdicts, the control, what each change is due to, compile
 * times and memory. CSV is a line a cell, JSON has everything. */
void res_table_versus(const res_versus *versus, res_format format, bn_text *out);
/* Each series with its stretches and what changed between them; text has a picture of
 * blocks, JSON every night. */
void res_table_history(const res_history *history, res_format format, bn_text *out);

/* Enough digits for a tenth of a nanosecond in a day, and no noise after them. */
#define RES_JSON_REALS JSON_REAL_PRECISION(15)

#endif
