/* metrics_priv.h - shared by the files of this folder: figures as PyTorch/XLA writes them, and
 * lines of reports. */
#ifndef BENCH_RESULTS_METRICS_PRIV_H
#define BENCH_RESULTS_METRICS_PRIV_H

#include "results/metrics/metrics.h"

#define RES_METRICS_NS    "ns"
#define RES_METRICS_BYTES "bytes"
#define RES_METRICS_NODES "nodes"

/* A figure by value: res_metrics_figure_of(unit, value).text in a printf argument. */
typedef struct res_metrics_figure {
    char text[64];
} res_metrics_figure;

/* VALUE of UNIT. Nanoseconds: "03m21s100ms200.000us", from the largest unit that there is one of,
 * each as wide as it can be; 104 days and more, and what is below zero, are plain numbers. Bytes:
 * "1.50KB", by 1024. Of any other unit: two decimals. */
res_metrics_figure res_metrics_figure_of(const char *unit, double value);

/* Reads such a figure, or a plain number, from AT, which moves behind it. UNIT is static and "" for
 * a plain number. False where there is none; AT then stays. ROUNDED: PyTorch/XLA wrote it, which
 * rounds each unit of a time to the nearest, and then writes the rest all the same: 1.7 ms are
 * "002ms700.000us". */
bool res_metrics_figure_read(const char **at, bool rounded, double *value, const char **unit);

/* Lines, or metrics and counters, that were left out, and the line of the first. */
typedef struct res_metrics_left {
    size_t count, first;
} res_metrics_left;

/* A metric or a counter of a text, with those of its figures that there are. */
typedef struct res_metrics_entry {
    json_t *object;
    char *name;      /* plain */
    char *title;     /* of the report that begins with it, where TITLED */
    bool titled;     /* the text says that a report begins here */
    bool of_counter; /* else a metric */
    bool ours;       /* the report is bench's */
    size_t line;     /* its number in the text, from 1 */
} res_metrics_entry;

typedef struct res_metrics_lines {
    res_metrics_entry *entries;
    size_t count;
    res_metrics_left skipped;    /* lines of no report */
    res_metrics_left unknown;    /* lines among figures that are none that we know */
    res_metrics_left incomplete; /* metrics and counters of which the text has only a part */
    size_t behind;  /* the first line of no report that has an entry behind other words; else 0 */
    size_t unended; /* the last line, where it is a figure without the line's end; else 0 */
} res_metrics_lines;

/* Reads the LENGTH bytes of TEXT line by line. BN_FORMAT, which names the line, where one of a
 * report cannot be read; LINES then is empty. */
bn_code res_metrics_lines_read(const char *text, size_t length, res_metrics_lines *lines,
                               bn_status *st);
void res_metrics_entry_free(res_metrics_entry *entry);
void res_metrics_lines_free(res_metrics_lines *lines);

/* Appends a line, which begins with HEAD, for each kind of lines that READING says were left out.
 */
void res_metrics_left_put(const json_t *reading, const char *head, bn_text *out);

/* The name of COUNTER in reports. */
const char *res_metrics_counter(bn_counter counter);

#endif
