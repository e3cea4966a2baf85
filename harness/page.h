/*
 * page.h - the page of nightly, compare and report: comparisons as it tells them, series
 * drawn, and where it is written.
 */
#ifndef BENCH_HARNESS_PAGE_H
#define BENCH_HARNESS_PAGE_H

#include "harness/harness.h"
#include "plots/plot.h"

/* Pictures of series, and of comparisons: a page is to be read; the tables have all. */
#define HN_PAGE_FIGURES 24

/* Zero-initialise; release with hn_page_free. */
typedef struct hn_page {
    bn_arena *memory; /* of titles and causes */
    plot_comparison *comparisons;
    size_t comparison_count;
    plot pictures[2 * HN_PAGE_FIGURES];
    size_t picture_count;
    plot_figure figures[HN_PAGE_FIGURES];
    size_t figure_count;
    bn_text remarks; /* sentences, one a line */
    bn_text details; /* tables of the comparisons, as HTML */
} hn_page;
void hn_page_free(hn_page *page);

/* Takes up what VERSUS, judged, says of its cells; ON, a runtime's name, follows their titles
 * (NULL: none). What is not equivalent is drawn where there are pairs and room. LABELS name A
 * and B in the pictures. */
BN_MUST_USE bn_code hn_page_compared(hn_page *page, const res_versus *versus, const char *on,
                                     const char *const labels[2], bn_status *st);
/* Draws the series of HISTORY that have more than one night, those with changes first, as
 * long as there is room. */
BN_MUST_USE bn_code hn_page_history(hn_page *page, const res_history *history, bn_status *st);

/* Writes REPORT, with what PAGE has for it, to FILE. */
BN_MUST_USE bn_code hn_page_write(const hn_page *page, plot_report report, const char *file,
                                  bn_status *st);
/* The same as FOLDER/index.html; the folder is made. */
BN_MUST_USE bn_code hn_page_write_index(const hn_page *page, plot_report report, const char *folder,
                                        bn_status *st);

/* ---- series of a store (history.c) ----------------------------------------------- */

/* Zero-initialise; release with hn_series_free. */
typedef struct hn_series {
    res_index index;
    res_history history;
} hn_series;
/* The series that the options ask for, which may be none. */
BN_MUST_USE bn_code hn_series_load(const hn_options *options, hn_series *series, bn_status *st);
void hn_series_free(hn_series *series);

#endif
