/*
 * plot_priv.h - shared by the files of plots: pieces of gnuplot scripts (script.c), the rows of a
 * store that are drawn (rows.c), HTML (html.c), pictures in it (figure.c), parts of the page
 * (report*.c).
 */
#ifndef BENCH_PLOTS_PLOT_PRIV_H
#define BENCH_PLOTS_PLOT_PRIV_H

#include "plots/plot.h"

/* ---- pieces of scripts (script.c) ------------------------------------------- */

/* Colours that the page replaces by its own, for light and dark. */
#define PLOT_INK   "#1b1f24" /* text, axes, borders */
#define PLOT_SOFT  "#57606a" /* second text */
#define PLOT_GRID  "#d0d7de"
#define PLOT_SHADE "#eef1f4" /* behind the part that does not count */
#define PLOT_QUIET "#dfe3e8" /* a large part of little interest */
#define PLOT_PAPER "#ffffff"

#define PLOT_BLACK     "#000000"
#define PLOT_ORANGE    "#E69F00"
#define PLOT_SKY       "#56B4E9"
#define PLOT_GREEN     "#009E73"
#define PLOT_YELLOW    "#F0E442"
#define PLOT_BLUE      "#0072B2"
#define PLOT_VERMILION "#D55E00"
#define PLOT_PURPLE    "#CC79A7"

/* A fill: a colour, and a hatching of gnuplot's over it (0: none). */
typedef struct plot_fill {
    const char *colour;
    int pattern;
} plot_fill;

/* Colour and filled marker of series NUMBER; the number of the hollow marker is one less. They
 * repeat after so many. */
#define PLOT_COLOURS 7
#define PLOT_MARKERS 5
const char *plot_series_colour(size_t number);
int plot_series_marker(size_t number);

/* Puts TEXT as a string of gnuplot's that is nothing but text: gnuplot finds neither commands nor
 * formats in it. Control characters become '?'. */
void plot_quote(bn_text *out, const char *text);
/* About how wide TEXT is at SIZE, in pixels. */
double plot_text_width(const char *text, double size);

/* Begins P: size, title, subtitle (wrapped), badge, axes in the style of all pictures. HEIGHT is
 * that of the rest; the head is added to it. Returns the pixels that the head takes from the
 * top. */
double plot_begin(plot *p, const plot_words *words, int width, int height);
/* Everything is placed in pixels from the top left. STYLE is title, strong, soft, front (above what
 * is drawn of data) or "". */
void plot_margins(plot *p, double left, double right, double top, double bottom);
void plot_text_at(plot *p, const char *text, double x, double y, const char *align,
                  const char *style);
/* Draws a box of FILL with TEXT to its right; returns the x after it. */
double plot_legend_box(plot *p, plot_fill fill, const char *text, double x, double y);
double plot_legend_marker(plot *p, int marker, const char *colour, const char *text, double x,
                          double y);
double plot_legend_line(plot *p, bool dash, const char *colour, const char *text, double x,
                        double y);
/* Puts ", $NAME ..." with its hatching: bars of six columns x y left right top bottom. The FIRST
 * has no comma. */
void plot_bars(plot *p, const char *name, plot_fill fill, bool first);
/* Ends the block of data that "$NAME << EOD" began. */
void plot_data_end(plot *p);

/* A unit of time that suits LARGEST_NS. */
typedef struct plot_unit {
    double ns;
    const char *name;
} plot_unit;
plot_unit plot_time_unit(double largest_ns);
/* Three digits and the unit: "13.7 ms"; "-" for NaN. */
typedef struct plot_figure_text {
    char text[32];
} plot_figure_text;
plot_figure_text plot_time_text(double ns);
/* A difference of measured times, as tables show it (res_difference_shows): "1.10 ms", "< 1.20 ms",
 * RES_UNKNOWN_TEXT, "-". */
plot_figure_text plot_difference_text(res_interval ns);

/* The time with which an id begins, "2025-01-31 23:59:59", or the id's beginning. */
plot_figure_text plot_id_time(const char *id);

/* ---- rows of a store (rows.c) ----------------------------------------------------- */

/* A row of the speedup table. */
typedef struct plot_row {
    const res_record *record;
    const json_t *figures;   /* its figures in the table's JSON, borrowed */
    size_t cell;             /* rows of one number may be compared */
    char *label;             /* of the cell: "resnet50 train, batch 8" */
    char way[RES_TEXT + 40]; /* "capture, 3 graphs", "jax capture" */
} plot_row;

typedef struct plot_rows {
    plot_row *rows;
    size_t count, cells;
    const json_t *means; /* the table's geometric means, borrowed */
    char *common;        /* what all rows have in common, as text */
    const char *badge;   /* "SIMULATED", "EMULATED" or NULL */
    json_t *table;
    const res_collection *all; /* borrowed */
} plot_rows;
/* The strategy that the geometric mean MEAN of the table is of: "capture", "jax capture". */
#define PLOT_STRATEGY_BYTES RES_WAY_BYTES
void plot_mean_strategy(const json_t *mean, char text[PLOT_STRATEGY_BYTES]);

void plot_rows_make(const res_collection *all, plot_rows *rows);
void plot_rows_free(plot_rows *rows);
/* The rows of the table NAME ("ledger", "executions") of the same records: objects with the figures
 * of all processes (new reference). plot_is_of finds the row of one. */
json_t *plot_rows_list(const plot_rows *rows, const char *name);
bool plot_is_of(const json_t *object, const plot_row *row);
/* OBJECT's number NAME; NaN for null. */
double plot_real(const json_t *object, const char *name);
/* Width of the widest label. Labels wider than PLOT_LABEL_COLUMN stand above their rows. */
#define PLOT_LABEL_COLUMN 240
double plot_labels_width(const plot_rows *rows);
/* A number of the row's JSON; NaN for null. */
double plot_row_real(const plot_row *row, const char *name);
bool plot_row_good(const plot_row *row);
size_t plot_rows_good(const plot_rows *rows); /* how many are */
/* "resnet50 train, batch 8, lazy". */
void plot_row_title(const plot_row *row, bn_text *out);

/* ---- HTML (html.c) -------------------------------------------------------------- */

void plot_html_printf(bn_text *out, const char *format, ...) BN_PRINTF(2, 3);
/* Appends data-statistic="medians" or "means", or nothing. */
void plot_html_statistic(bn_text *out, plot_statistic statistic);
/* Appends the same in words, to a caption. */
void plot_html_statistic_words(bn_text *out, plot_statistic statistic);
/* Begins a table that readers can sort, and says which STATISTIC it shows. Columns are separated by
 * '|'; '#' before a name marks a column of numbers. Rows are "<tr>", cells, "</tr>". */
void plot_table_begin(bn_text *out, plot_statistic statistic, const char *caption,
                      const char *columns);
void plot_table_end(bn_text *out);
void plot_cell(bn_text *out, const char *text);
/* Rows are sorted by VALUE and show TEXT; NaN is an empty cell. */
void plot_cell_number(bn_text *out, double value, const char *text);

/* ---- parts of the page (report*.c) ------------------------------------------------- */

/* The page's script (report_assets.c). */
extern const char plot_report_script[];
/* NUMBER counts the pictures of the page. */
BN_MUST_USE bn_code plot_report_summary(const plot_report *report, const plot_rows *rows,
                                        size_t *number, bn_text *out, bn_status *st);
/* FOUND: with the sentences on findings, which the summary has otherwise. */
void plot_report_tables(const plot_rows *rows, bool found, bn_text *out);
/* Findings against lazy; nothing where there are none. */
void plot_report_found(const plot_rows *rows, bn_text *out);
void plot_report_provenance(const plot_report *report, bn_text *out);

#endif
