/*
 * tables_priv.h - what the files of this folder share: the grid (grid*.c), figures of a cell
 * (figures.c), what stands around tables (format.c), and rows of figures that all formats share
 * (table_rows.c).
 */
#ifndef BENCH_RESULTS_TABLES_PRIV_H
#define BENCH_RESULTS_TABLES_PRIV_H

#include "results/tables/tables.h"

/* ---- grid: rows of cells, the same in every format (grid.c) ---------------- */

typedef struct res_grid {
    size_t columns;
    const char *align; /* a letter per column: 'l' or 'r', 'i' interval after a figure, 'b' as 'r',
                          and narrow text keeps it next to the column before it */
    size_t names;      /* columns that name a row, in each part of narrow text; 0: the first 'l' */
    bool plain;        /* all columns stay, and text has no line under the heading */
    const char *spare; /* a letter per column: narrow text does without 'a' first, then 'b'; '-':
                          the column stays. NULL: all stay */
    bn_text bytes;     /* the cells, each terminated */
    size_t *starts;    /* of each cell in BYTES */
    size_t count, capacity;
} res_grid;

/* A grid with as many columns as ALIGN has letters. The first row that is
 * filled is the heading. Release with res_grid_free. */
res_grid res_grid_make(const char *align);
void res_grid_free(res_grid *grid);
/* Adds the next cell, row by row. */
void res_grid_cell(res_grid *grid, const char *format, ...) BN_PRINTF(2, 3);
/* Adds a JSON value as a cell: text as it is, null as nothing. */
void res_grid_json(res_grid *grid, const json_t *value);
/* Adds COUNT empty cells. */
void res_grid_blank(res_grid *grid, size_t count);
/* Adds TEXT and COUNT - 1 empty cells that it may run over. */
void res_grid_spill(res_grid *grid, const char *text, size_t count);
/* Adds a row of names separated by '|', for headings. */
void res_grid_row(res_grid *grid, const char *cells);
/* Adds a line across the table, in text only. */
void res_grid_rule(res_grid *grid);

/* For renderers: a cell's text, whether it runs over those after it, whether a row is a
 * line, and the width of a column over ROWS rows, 0 where it is to be left out. */
const char *res_grid_at(const res_grid *grid, size_t row, size_t column);
bool res_grid_is_spill(const res_grid *grid, size_t row, size_t column);
bool res_grid_is_rule(const res_grid *grid, size_t row);
size_t res_grid_width(const res_grid *grid, size_t rows, size_t column);
/* Columns of the first LENGTH bytes of TEXT on a terminal: characters of UTF-8, not bytes. */
size_t res_bytes_columns(const char *text, size_t length);
/* Whether the cells of COLUMN are numbers. */
static inline bool res_grid_is_right(const res_grid *grid, size_t column)
{
    return grid->align[column] == 'r' || grid->align[column] == 'b';
}

/* Appends ROWS rows to OUT; columns of WIDTHS 0 are left out, but not in CSV (grid_text.c,
 * grid_markup.c). Text puts a cell that is wider than its column in several lines. */
typedef void res_grid_renderer(const res_grid *grid, size_t rows, const size_t *widths,
                               bn_text *out);
/* Columns that text of WIDTHS takes. */
size_t res_grid_total(const res_grid *grid, const size_t *widths);
res_grid_renderer res_grid_text, res_grid_markdown, res_grid_csv, res_grid_latex, res_grid_html;

/* Appends the table in any FORMAT but JSON. Columns in which no row has anything are left out, but
 * not in CSV (grid_render.c). */
void res_grid_render(const res_grid *grid, res_format format, bn_text *out);

/* Whether the column called HEADING is in what res_grid_render appends: narrow text may have no
 * room for it. */
bool res_grid_shows(const res_grid *grid, res_format format, const char *heading);

/* ---- figures of a cell (figures.c) ------------------------------------------- */

/* The suffix of RECORD's runtime: "", " (simulated)", " (simulated, opaque)" or " (simulated,
 * computing values)". */
const char *res_simulated_shown(const res_record *record);

/* res_time_difference of an overhead; RES_UNKNOWN_TEXT where it was REFUSED. */
res_figure res_time_refusable(res_interval ns, bool refused);

/* ---- around tables (format.c) ------------------------------------------------ */

/* TEXT with what FORMAT would take for markup of its own (LaTeX, HTML, Markdown) escaped. */
void res_put_escaped(bn_text *out, res_format format, const char *text);
/* A heading of LEVEL 1 or 2 and a plain paragraph, for all but CSV and JSON. */
void res_put_heading(bn_text *out, res_format format, int level, const char *title);
void res_put_note(bn_text *out, res_format format, const char *note);

/* Notes are an array of objects {"id", "text", "rows"}: an identifier that stays, a sentence that
 * may change, and the ids of the records of the rows that it names. Adds one; takes over ROWS. */
void res_add_note(json_t *notes, const char *id, const char *text, json_t *rows);
/* The sentences of NOTES for people. */
void res_put_notes(bn_text *out, res_format format, const json_t *notes);

/* A JSON value at the end of OUT, indented, with a final newline. */
void res_put_json(bn_text *out, json_t *value);

/* Sets what machine formats say of a row's record, with KIND first (speedup_export.c). */
void res_json_identity(json_t *object, const char *kind, const res_record *record);
/* Appends to ROWS a row of KIND for OF, with its identity and how many processes and runs
 * count; borrowed. */
json_t *res_row_of(const char *kind, const res_speedup_row *of, json_t *rows);

/* ---- rows of figures (table_rows.c): one list for all formats ---------------- */

typedef enum res_cell_kind {
    RES_CELL_TEXT,
    RES_CELL_COUNT,
    RES_CELL_TIME,       /* KEY_ns */
    RES_CELL_PART,       /* the same, but nothing for zero */
    RES_CELL_RANGE,      /* the bounds KEY_low_ns and KEY_high_ns of KEY_ns */
    RES_CELL_DIFFERENCE, /* the three as a difference of measured times */
    RES_CELL_BOUNDS,     /* the bounds of RES_CELL_DIFFERENCE, in its unit */
    RES_CELL_SHARE,      /* KEY_share with its bounds KEY_low_share and KEY_high_share */
    RES_CELL_PERCENT,    /* KEY_share of a whole: "49.8 %" */
    RES_CELL_LOSS,       /* the same, but nothing for zero */
    RES_CELL_PERCENTS,   /* the bounds of RES_CELL_PERCENT */
    RES_CELL_RATIO,      /* KEY: "1.46x" */
    RES_CELL_RATIOS,     /* its bounds KEY_low and KEY_high */
    RES_CELL_SIZE,       /* KEY_bytes */
    RES_CELL_AMOUNT
} res_cell_kind;

/* A column for people; the last has no key. */
typedef struct res_column {
    const char *key, *head;
    res_cell_kind kind;
    bool once; /* of the whole record: in the first of its rows */
} res_column;

/* A step may have many executions, in eager mode one an op: tables list at most so many. */
#define RES_MOST_ROWS 12
/* RECORD's executions in the order of the step or, if they are more than RES_MOST_ROWS, the
 * costliest of a step first; for free. */
const res_execution **res_rank_executions(const res_record *record);
/* PJRT time of EXECUTION in a step, all its runs together; 0 where it is unknown. */
double res_step_pjrt_ns(const res_execution *execution);

/* Whether the axis is the number of graphs that a step was cut into: not of imported records, and
 * of other front ends than bench it is no count of their programs. */
bool res_graphs_known(const res_experiment *experiment);
/* The number of graphs, or "-". */
void res_grid_graphs(res_grid *grid, const res_experiment *experiment);
/* Sets the members KEY_ns, KEY_low_ns, KEY_high_ns of OBJECT. */
void res_json_interval(json_t *object, const char *key, res_interval ns);

/* One record's rows: objects with the same members in the same order. */
typedef struct res_row_group {
    const res_record *record;
    json_t *rows; /* owned; none: the record failed */
} res_row_group;

/* Puts COUNT groups under TITLE, then NOTES, which end with NULL. JSON and CSV have all members of
 * the rows. Other formats have COLUMNS after the names of the record, and at most MOST rows of a
 * group; they count the rest. */
void res_put_groups(const char *title, const res_row_group *groups, size_t count,
                    const res_column *columns, size_t most, const char *const *notes,
                    res_format format, bn_text *out);

/* ---- tables by name (table.c) ---------------------------------------------------------- */

/* A table: what help says of it, "" for nothing, and its function. Its file defines
 * res_table_of_NAME, table.c has a row. */
typedef struct res_table_kind {
    const char *name, *summary;
    void (*put)(const res_collection *all, res_format format, bn_text *out);
} res_table_kind;

/* A table that lists figures of each row of the speedup table (table_lists.c). */
typedef struct res_list_table {
    const char *title;
    void (*rows)(const struct res_speedup_row *of, json_t *rows); /* adds the rows of OF to ROWS */
    const res_column *columns;
    const char *notes[5];
} res_list_table;
void res_put_list(const res_list_table *table, const res_collection *all, res_format format,
                  bn_text *out);

#endif
