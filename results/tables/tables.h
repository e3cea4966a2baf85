/*
 * tables.h - records and findings as tables: text, Markdown, CSV, JSON, LaTeX, HTML.
 *
 * Each function appends to OUT and marks it as failed where memory is missing. The same records
 * give the same bytes, in narrow text on terminals of the same width. Prefix res_.
 */
#ifndef BENCH_RESULTS_TABLES_H
#define BENCH_RESULTS_TABLES_H

#include "results/figures/figures.h"
#include "results/nights/nights.h"

/* ---- formats (format.c) --------------------------------------------------- */

typedef enum res_format {
    RES_TABLE_TEXT,
    RES_TABLE_MARKDOWN,
    RES_TABLE_CSV,
    RES_TABLE_JSON,
    RES_TABLE_LATEX, /* a fragment for \input that needs no package */
    RES_TABLE_HTML,  /* a fragment; res_put_page makes a page of it */
    RES_TABLE_NARROW /* text in res_narrow() columns: notes are wrapped, columns that a grid can
                        spare are left out until it fits, what then does not fit stands in parts,
                        and words that still do not in several lines; a word stays whole */
} res_format;
#define RES_NARROW       80
#define RES_NARROWEST    40
#define RES_FORMAT_NAMES "text, md, csv, json, latex, html, narrow"
static inline bool res_format_is_text(res_format format)
{
    return format == RES_TABLE_TEXT || format == RES_TABLE_NARROW;
}
/* Columns of narrow text: RES_NARROW, unless res_narrow_to set fewer; at
 * least RES_NARROWEST. 0: there is no terminal. */
size_t res_narrow(void);
void res_narrow_to(size_t columns);
/* A word of RES_FORMAT_NAMES. */
BN_MUST_USE bn_code res_format_parse(const char *name, res_format *format, bn_status *st);

/* A whole HTML page with TITLE around the fragments BODY. */
void res_put_page(bn_text *out, const char *title, const char *body);

/* TEXT as a field of a line of CSV (RFC 4180): in quotes where it needs them. */
void res_put_csv(bn_text *out, const char *text);

/* For jansson, of all JSON that leaves the program: enough digits for a tenth of a nanosecond in a
 * day, and no noise after them; signs beyond ASCII as \u1234, since some of them steer terminals
 * and JSON itself forbids only the oldest. */
#define RES_JSON_SHOWN (JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15))

/* The limits of intervals of times: for all tables and pages that have such (figures.c). */
extern const char res_times_note[];

/* ---- figures of a cell (figures.c) ------------------------------------------------ */

/* The form in which all tables of figures of cells show METRIC of FIGURES: only an overhead may be
 * BELOW or NOT_SIGNIFICANT, and is the latter where it was refused. */
res_difference_shown res_figures_show(const res_figures *figures, res_metric metric);
/* That in words, "13.7 ms", "< 1.2 ms", "unknown", "-", and its bounds, "[13.1, 14.2]" or "". */
res_figure res_figures_words(const res_figures *figures, res_metric metric);
res_figure res_figures_bounds(const res_figures *figures, res_metric metric);
/* The same of NIGHT of a series of METRIC. */
res_difference_shown res_night_shows(const res_night *night, res_metric metric);
res_figure res_night_words(const res_night *night, res_metric metric);
/* REMARK as a sentence without its full stop; "" for RES_DEVICE_PLAIN. */
const char *res_device_remark_words(res_device_remark remark);
/* Its name in the notes of JSON: "device-time-cut". */
const char *res_device_remark_name(res_device_remark remark);

/* Appends LINES of sentences for people that stand below tables. In Markdown each is escaped, for
 * names in them may be anybody's; in narrow text they are wrapped; else they stay as they are. */
void res_put_lines(bn_text *out, res_format format, const char *lines);
/* Appends LINES, which may be set in, and tables among them. In narrow text a line that is too wide
 * goes on below, two columns further in than it began; other lines stay as they are. */
void res_put_set_in(bn_text *out, res_format format, const char *lines);

/* ---- the machine (interference.c) -------------------------------------------------- */

/* Appends the sentence on interference by ALL; or at times, most for NAME, whose rounds BUSIEST is
 * of; or that it is unknown. Nothing on a quiet machine. BUSIEST may be NULL. */
void res_put_interference(const res_interference *all, const res_interference *busiest,
                          const char *name, bn_text *out);
/* The member "witness" of tables (new reference), docs/tables.md. BUSIEST and SENTENCE may be NULL.
 */
json_t *res_interference_to_json(const res_interference *interference, const char *busiest,
                                 const char *sentence);

/* ---- tables of records (table_*.c) -------------------------------------------- */

/* Ledger and summary of one record, for people or machines. */
void res_table_record(const res_record *record, res_format format, bn_text *out);

/* The speedup table: a row for each cell, mode and number of graphs, of all processes that can be
 * pooled (res_pool_make): figures with intervals over the processes, program, ratio to lazy, and
 * whether a difference is claimed. Failed cells show their class. First a line where the machine
 * was busy; below, geometric means, what must be said of rows, and what was found, in sentences. */
void res_table_speedup(const res_collection *all, res_format format, bn_text *out);

/* The table NAME of the rows that the speedup table has: "speedup" itself, "executions" (PJRT
 * time, device time, overhead, their intervals, null test), "ledger" (medians of the parts),
 * "goodput" (where all wall time of the processes went), "compile", "memory", "costs"
 * (res_table_costs), "published" (res_table_published); or "estimates", of ALL that are estimates
 * (res_table_estimates). Other names are BN_INVALID in res_table_check, which comes first. */
void res_table(const char *name, const res_collection *all, res_format format, bn_text *out);
/* Appends their names, "a, b"; names with what they show, "a; b (what)". */
void res_table_names(bn_text *out);
void res_table_summaries(bn_text *out);
BN_MUST_USE bn_code res_table_check(const char *name, bn_status *st);
#define RES_TABLE_ESTIMATES "estimates"

/* The host's costs of a step, by its nodes, executions and arguments, and its time over its device
 * time; then the same for each front end and mode over all rows. */
void res_table_costs(const res_collection *all, res_format format, bn_text *out);

/* Captured training steps of the models whose speedup over lazy steps was published, each over the
 * lazy step of its own front end, next to the published speedups; then geometric means. */
void res_table_published(const res_collection *all, res_format format, bn_text *out);

/* The estimates of the latest record of each experiment of ALL, whose records are estimates and
 * nothing else (results/records/estimates.h): a row a graph. The word "estimated" stands at each
 * figure. */
void res_table_estimates(const res_collection *all, res_format format, bn_text *out);

/* ---- what could be fixed (table_doctor.c) ---------------------------------------- */

/* The doctor's findings on the rows of ALL's speedup table, the most costly first: where, the cost
 * of a step, what to do. Text is in sentences; without findings it says so, and the device's share
 * of the steps. JSON: {"complaints": [...], "goodput": [...]}. *COUNT is of the findings. */
void res_table_doctor(const res_collection *all, res_format format, bn_text *out, size_t *count);
/* Appends the most costly of these findings, "resnet18 train lazy: tracing 1309 nodes takes 13.7 ms
 * a step, 35 % of it; 2 more findings"; nothing where there is none. */
void res_put_first_finding(const res_collection *all, bn_text *out);

/* ---- tables of findings (table_versus.c, table_history.c) ---------------------- */

/* Two runtimes: identity, verdicts, the control, the cause of each change, compile times and
 * memory. CSV has a line a cell, JSON has everything. */
void res_table_versus(const res_versus *versus, res_format format, bn_text *out);
/* The same for people, text, Markdown or HTML, without the last line, for callers that have
 * a summary of their own. */
void res_table_judged(const res_versus *versus, res_format format, bn_text *out);
/* Each series with its stretches and what changed between them. Text has a picture of blocks, JSON
 * has every night. */
void res_table_history(const res_history *history, res_format format, bn_text *out);

/* "resnet50 train lazy, 2 graphs: full, batch 4, f32, nhwc, serial, on cpu" */
void res_timeline_title(const res_timeline *series, bn_text *out);
/* "lag-1 correlation of nights: 0.31; 98 nights are worth 52" */
void res_put_correlation(const res_changes *changes, bn_text *out);
/* Other changes where STRETCH begins: "other build, other host". */
void res_stretch_cause(const res_stretch *stretch, bn_text *out);

/* ---- sheets: tables of texts (grid_render.c) ---------------------------------- */

#define RES_SHEET_COLUMNS 20

/* Narrow text keeps numbers called "95 %", "share" or "error" next to the column before them. */
typedef struct res_sheet_column {
    const char *head;
    bool right; /* its cells are numbers */
} res_sheet_column;

/* Writes ROWS, an array of arrays of texts, under the heads of COUNT columns, at most
 * RES_SHEET_COLUMNS, in any FORMAT but JSON. A row of one text runs over all columns. */
void res_sheet_write(const res_sheet_column *columns, size_t count, const json_t *rows,
                     res_format format, bn_text *out);
/* The same where the first NAMES columns say which row it is, in each part of narrow text; else the
 * first columns of words do. */
void res_sheet_write_named(const res_sheet_column *columns, size_t count, size_t names,
                           const json_t *rows, res_format format, bn_text *out);
/* Adds a cell of at most 199 bytes to ROW. */
void res_sheet_put(json_t *row, const char *format, ...) BN_PRINTF(2, 3);

#endif
