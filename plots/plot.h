/*
 * plot.h - pictures of records, and the page that holds them.
 *
 * A plot is a gnuplot script with its data inside: a function of records, made without gnuplot.
 * plot_render lets gnuplot draw it, as a child process. Colours are those of M. Okabe and K. Ito
 * ("Color Universal Design", 2008), which colour-blind readers can distinguish; patterns, markers
 * and line styles repeat them for print in black and white. A picture has a badge where figures
 * come from a simulated device or an emulated front end. Nothing here prints. Prefix plot_.
 */
#ifndef BENCH_PLOTS_PLOT_H
#define BENCH_PLOTS_PLOT_H

#include "results/tables/tables.h"

/* Zero-initialise, release with plot_free. */
/* The figures of a table or picture over processes and steps: means of parts add up to a
 * step, medians need not. NONE: neither, or it says for itself. */
typedef enum plot_statistic { PLOT_NONE, PLOT_MEDIANS, PLOT_MEANS } plot_statistic;

typedef struct plot {
    bn_text script;      /* gnuplot's commands and data, all but the terminal's */
    bn_text description; /* in words, for screen readers */
    int width, height;   /* pixels of an SVG; a PNG has twice as many each way */
    plot_statistic statistic;
} plot;
void plot_free(plot *p);

typedef enum plot_format { PLOT_SVG, PLOT_PNG, PLOT_SCRIPT } plot_format;
/* By the ending of PATH: .svg, .png, .gp; else BN_INVALID. */
BN_MUST_USE bn_code plot_format_parse(const char *path, plot_format *format, bn_status *st);

/* Appends the picture to OUT. BN_NOT_FOUND without a gnuplot in PATH; BN_EXECUTE
 * where it fails, with its message; BN_TIMEOUT after two minutes. */
BN_MUST_USE bn_code plot_render(const plot *p, plot_format format, bn_text *out, bn_status *st);

/* ---- of a store ---------------------------------------------------------------- */

/* Each fills P from the latest good records of each experiment in ALL. BN_NOT_FOUND where ALL has
 * nothing to draw; the message names the records it needs. */

/* A stacked bar a mode: the parts of the mean step, next to the others of its model. */
BN_MUST_USE bn_code plot_ledger(const res_collection *all, plot *p, bn_status *st);
/* Bars of speedup over lazy from 1, with 95 % intervals and geometric means. */
BN_MUST_USE bn_code plot_speedup(const res_collection *all, plot *p, bn_status *st);
/* PJRT time minus device time of each execution, over its arguments and over the graphs of a
 * step. */
BN_MUST_USE bn_code plot_overhead(const res_collection *all, plot *p, bn_status *st);
/* Wall time of each step of at most PLOT_MOST_PANELS experiments: warm-up shaded,
 * compiles marked. */
#define PLOT_MOST_PANELS 8
BN_MUST_USE bn_code plot_steps(const res_collection *all, plot *p, bn_status *st);
/* Step times of one model in two modes, or with two numbers of graphs: A and B are the first two
 * that ALL has of its first model. Each has the processes that its row in the tables is of. */
BN_MUST_USE bn_code plot_distribution_of_store(const res_collection *all, plot *p, bn_status *st);

/* Such a picture by its name. Its file defines plot_kind_NAME, kinds.c has a row. */
typedef struct plot_kind {
    const char *name;
    bn_code (*make)(const res_collection *all, plot *p, bn_status *st);
} plot_kind;
/* Appends the names, "a, b". */
void plot_kind_names(bn_text *out);
BN_MUST_USE bn_code plot_kind_find(const char *name, const plot_kind **kind, bn_status *st);

/* ---- of plain series -------------------------------------------------------------- */

/* Words of a picture; NULL is empty. BADGE stands out: "SIMULATED". */
typedef struct plot_words {
    const char *title, *subtitle, *badge;
} plot_words;

/* The badge that a picture of one experiment must have, or NULL. */
const char *plot_badge(bool simulated, const res_experiment *experiment);

/* The processes of one side. */
typedef struct plot_side {
    const uint64_t *const *series; /* [process][step], ns */
    const size_t *counts;          /* [process]: steps */
    size_t processes;
    /* [process]: its value, above zero; NULL: the median of its steps, which is not that of its
     * rounds' medians */
    const double *values;
} plot_side;

/* Shares of steps up to each time, of A and of B, over all processes; below them a point for
 * each process. */
BN_MUST_USE bn_code plot_distribution(const plot_words *words, const char *label_a,
                                      const plot_side *a, const char *label_b, const plot_side *b,
                                      plot *p, bn_status *st);

typedef struct plot_point {
    double time_s;           /* since 1970, UTC */
    double value, low, high; /* ns; LOW and HIGH may be NaN */
    const char *label;       /* of the runtime's build; NULL or "": none */
} plot_point;

/* A series in order of time. VALUE names its values ("median step"). CHANGES are indices of
 * the first point after each change, ascending. Lines show the median of each stretch between
 * changes, labels the builds at them. */
BN_MUST_USE bn_code plot_history(const plot_words *words, const char *value,
                                 const plot_point *points, size_t count, const size_t *changes,
                                 size_t change_count, plot *p, bn_status *st);

/* Points of one series, in ns, whose bounds may be NaN, and the line base + slope x through them.
 */
typedef struct plot_series {
    const char *name;
    const double *x;
    const res_interval *y;
    size_t count;
    double base, slope;
} plot_series;
/* COUNT series over ACROSS, the name of X. BN_NOT_FOUND where X does not change. */
BN_MUST_USE bn_code plot_lines(const plot_words *words, const char *across, const plot_series *list,
                               size_t count, plot *p, bn_status *st);

/* A figure of several series over a swept value. */
typedef struct plot_panel {
    const char *name; /* with its unit: "text (kB)" */
    const double *y;  /* [series * points]; NaN: not known */
} plot_panel;
/* A small picture of each of the panels of which something is known: SERIES_COUNT series at POINTS
 * places X, ascending, of ACROSS. BN_NOT_FOUND where X does not change, or nothing is
 * known. */
BN_MUST_USE bn_code plot_panels(const plot_words *words, const char *across,
                                const char *const *series, size_t series_count, const double *x,
                                size_t points, const plot_panel *panels, size_t panel_count,
                                plot *p, bn_status *st);

/* A part of a whole: it stands on LEVEL, above the frame that it is part of. */
typedef struct plot_frame {
    const char *name;
    double begin, width; /* in the unit of the whole, which is the first frame, from 0 on LEVEL 0 */
    int level;
    int kind; /* its colour */
} plot_frame;
#define PLOT_MOST_KINDS 6
/* A flame graph of COUNT frames; KINDS, at most PLOT_MOST_KINDS, are the words of the legend.
 * Frames too narrow to be seen are left out. BN_NOT_FOUND where the whole has no width. */
BN_MUST_USE bn_code plot_flame(const plot_words *words, const char *const *kinds, size_t kind_count,
                               const plot_frame *list, size_t count, plot *p, bn_status *st);

/* The nights of TIMELINE that have a value of METRIC, with its change points. BN_NOT_FOUND where no
 * night has one. */
BN_MUST_USE bn_code plot_timeline(const res_timeline *timeline, res_metric metric, plot *p,
                                  bn_status *st);

/* ---- the page ------------------------------------------------------------------------ */

/* One comparison of B with A, as the page shows it. */
typedef struct plot_comparison {
    const char *title; /* of the cell: "resnet50 train lazy" */
    res_verdict verdict;
    bool little;              /* it is slower or faster, but below the threshold */
    const char *measure;      /* that the verdict is about: "device time" */
    bool of_step;             /* the ratio is a share of A's step: 1.05 is 5 % of it */
    res_interval ratio;       /* of B's over A's */
    double mde;               /* minimum detectable effect, 0.02 is 2 %; NaN or infinite: none */
    const char *attribution;  /* what changed with it, in words; NULL or "": unknown */
    const plot *distribution; /* of A and B, drawn next to it; NULL: none */
    /* Class and message of a comparison that failed, which has no verdict; NULL: it did not
     * fail. */
    const char *failure_class, *failure;
} plot_comparison;

/* A picture that the caller made. */
typedef struct plot_figure {
    const char *title;
    const plot *picture;
} plot_figure;

typedef struct plot_report {
    const char *title;
    const char *store;         /* where the records came from */
    const res_collection *all; /* what tables and pictures are of */
    /* All that follows may be left out. */
    const char *headline;         /* the verdict on all of it */
    res_verdict headline_verdict; /* its class: slower, undecided, ... */
    const char *side_a, *side_b;  /* of the comparisons: a build, a store, a date */
    const plot_comparison *comparisons;
    size_t comparison_count;
    const char *remarks;        /* sentences on the comparisons, one a line */
    const char *details;        /* tables of the comparisons, as HTML */
    const plot_figure *figures; /* further ones: history */
    size_t figure_count;
    const res_collection *estimates; /* for a table of their own */
} plot_report;

/*
 * Appends one HTML page that needs nothing else: summary first (from the
 * comparisons; without them failures and latest results), tables, pictures,
 * provenance. The same records give the same bytes. Without gnuplot it fails as
 * plot_render does.
 */
BN_MUST_USE bn_code plot_report_html(const plot_report *report, bn_text *out, bn_status *st);

/* ---- pages of comparisons and series (page.c) ------------------------------------ */

/* At most so many pictures of series, and as many of comparisons, so that the page can be read. The
 * tables have all, and a remark says how many have no picture. */
#define PLOT_PAGE_FIGURES 24

/* Zero-initialise; release with plot_page_free. */
typedef struct plot_page {
    bn_arena *memory; /* of titles and causes */
    plot_comparison *comparisons;
    size_t comparison_count, comparison_capacity;
    plot pictures[2 * PLOT_PAGE_FIGURES];
    size_t picture_count;
    plot_figure figures[PLOT_PAGE_FIGURES];
    size_t figure_count;
    size_t undrawn;  /* comparisons for whose picture there was no room */
    bn_text remarks; /* sentences, one a line */
    bn_text details; /* tables of the comparisons, as HTML */
} plot_page;
void plot_page_free(plot_page *page);

/* Adds the cells of VERSUS, which is judged. ON, a runtime's name, follows their
 * titles (NULL: none). A cell that is not equivalent is drawn where there are pairs and room.
 * LABELS name A and B in the pictures. */
BN_MUST_USE bn_code plot_page_compared(plot_page *page, const res_versus *versus, const char *on,
                                       const char *const labels[2], bn_status *st);
/* plot_page_compared without the summary sentence, for callers that add their own. */
BN_MUST_USE bn_code plot_page_judged(plot_page *page, const res_versus *versus, const char *on,
                                     const char *const labels[2], bn_status *st);
/* Adds sentences, one a line. */
void plot_page_remark(plot_page *page, const char *remark);
/* Adds pictures of the series of HISTORY that have more than one night and a record among NEW
 * (NULL: whatever records they have), those with changes first, as long as there is room. A remark
 * counts the others. */
BN_MUST_USE bn_code plot_page_history(plot_page *page, const res_history *history,
                                      const res_collection *new, bn_status *st);

/* Writes REPORT, with what PAGE has for it, to FILE, which is replaced. */
BN_MUST_USE bn_code plot_page_write(const plot_page *page, plot_report report, const char *file,
                                    bn_status *st);
/* plot_page_write to FOLDER/index.html; makes the folder. */
BN_MUST_USE bn_code plot_page_write_index(const plot_page *page, plot_report report,
                                          const char *folder, bn_status *st);

/* ---- pieces for pages of others ---------------------------------------------------- */

/* Puts TEXT as content or as an attribute's value in quotes. Bytes that are not UTF-8 and control
 * characters become '?'. */
void plot_html_text(bn_text *out, const char *text);
/* Puts the picture P as inline SVG in a figure; NUMBER makes its ids unique in the page. Fails as
 * plot_render. */
BN_MUST_USE bn_code plot_html_figure(const plot *p, const char *caption, size_t number,
                                     bn_text *out, bn_status *st);
/* Appends ["device kind", value] to PAIRS for each value in OBJECT that is no object itself, but
 * for the machine's topology. Names begin with PREFIX. */
void plot_flatten(const char *prefix, const json_t *object, json_t *pairs);
/* Puts the pictures of each runtime in ALL, real, simulated or emulated, with a heading; BRIEF:
 * with the last part of its path, and without pictures of single steps. *NUMBER is that of the next
 * figure of the page. Fails as plot_render. */
BN_MUST_USE bn_code plot_html_blocks(const res_collection *all, bool brief, size_t *number,
                                     bn_text *out, bn_status *st);
/* The page's style, in two parts: colours for light and dark, and the rest (report_assets.c). */
extern const char plot_report_colours[];
extern const char plot_report_style[];

#endif
