/*
 * figures.h - figures for people: times, ratios, sizes and amounts with three digits and a unit, as
 * all tables and sentences show them. Prefix res_.
 */
#ifndef BENCH_RESULTS_FIGURES_H
#define BENCH_RESULTS_FIGURES_H

#include "results/stats/stats.h"

/* A short text by value: res_time(ns).text in a printf argument. */
typedef struct res_figure {
    char text[64];
} res_figure;

/* Three significant digits and a unit that suits: "812 ns", "13.7 ms"; "-" for
 * NaN. */
res_figure res_time(double ns);
/* Low and high in the unit and decimals of the estimate: "[13.1, 14.2]"; empty
 * when there are none. */
res_figure res_time_range(double estimate_ns, double low_ns, double high_ns);
/* Nanoseconds as microseconds or milliseconds with decimals that keep columns
 * comparable; SCALE_NS is the largest value of the column. */
res_figure res_time_aligned(double ns, double scale_ns);
const char *res_time_aligned_unit(double scale_ns);
/* "1.46x", "-" for NaN; "[1.41, 1.51]", "" without bounds; and of a ratio without an interval. */
res_figure res_ratio(res_interval ratio);
res_figure res_ratio_range(res_interval ratio);
res_figure res_ratio_alone(double ratio);
/* Decimals of RATIO and its bounds, whose texts are "1.46x [1.41, 1.51]": two for what is near 1,
 * and as many more, up to four, as an interval without 1 needs to be seen as one. */
int res_ratio_decimals(res_interval ratio);
/* "+0.3 % [-1.0, +1.6]"; without the bracket where there are no bounds. */
res_figure res_share(res_interval share);
/* A part of a whole, 0 to 1: "49.8 %", "< 0.1 %" for what is less, "unknown" for NaN; its bounds:
 * "[48.1, 51.5]". */
res_figure res_percent(double share);
res_figure res_percent_range(double low, double high);
/* A change, from its ratio: "+5.1 %" for 1.051, "" for NaN; its bounds: "[+4.2, +6.0]". */
res_figure res_change_shown(double ratio);
res_figure res_change_range(res_interval ratio);
/* "97.5 KiB"; "-" below zero. */
res_figure res_size(int64_t bytes);
/* "4.09 G", "-" when not positive. */
res_figure res_amount(double amount);

/* ---- differences of times ----------------------------------------------------------------------
 */

/* The form in which to show a difference of two measured times, such as an overhead, in tables,
 * pictures and pages alike. */
typedef enum res_difference_shown {
    RES_DIFFERENCE_UNKNOWN,     /* there is none */
    RES_DIFFERENCE_SIGNIFICANT, /* the estimate with its sign: significant (res_excludes), or there
                                   is no interval */
    RES_DIFFERENCE_BELOW,       /* the upper bound, after "<": zero is within the interval */
    RES_DIFFERENCE_REFUSED      /* RES_UNKNOWN_TEXT: it contradicts other figures */
} res_difference_shown;
res_difference_shown res_difference_shows(res_interval ns);
#define RES_UNKNOWN_TEXT "unknown"
/* A difference of two measured times as res_difference_shows says: "1.1 ms", "-0.2 ms", "< 1.2 ms",
 * "-". */
res_figure res_time_difference(res_interval ns);
/* The bounds of a difference in the unit and decimals of the figure that res_time_difference shows:
 * "[-0.42, 1.06]" next to "< 1.06 ms". */
res_figure res_time_difference_range(res_interval ns);

#endif
