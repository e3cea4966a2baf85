/* metrics_priv.h - what the files of this folder share: figures as PyTorch/XLA writes them. */
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
 * rounds each unit of a time to the nearest, and then writes what is left of it all the same: 1.7 ms
 * are "002ms700.000us". */
bool res_metrics_figure_read(const char **at, bool rounded, double *value, const char **unit);

/* The name of COUNTER in reports. */
const char *res_metrics_counter(bn_counter counter);

#endif
