/*
 * metrics.h - metrics and counters of records: a report in the layout that readers of PyTorch/XLA's
 * metrics report know, and as JSON; such reports read back; and two of them compared.
 *
 * A metric is a series of samples that were all recorded; a series with gaps has no metric. Prefix
 * res_.
 *
 * All of it is JSON, which docs/metrics.md describes: {"kind": "metrics", "reports": [{"title",
 * "metrics": {NAME: {"unit", "samples", "sum", "percentiles", ...}}, "counters": {NAME: {"value",
 * ...}}}, ...]}. Members of a report that was read may be missing.
 */
#ifndef BENCH_RESULTS_METRICS_H
#define BENCH_RESULTS_METRICS_H

#include "results/tables/tables.h"

/* The reports of the COUNT RECORDS (new reference): one for each experiment, of all its processes
 * that succeeded, in the order in which they come. */
json_t *res_metrics_make(res_record *const *records, size_t count);

/* Appends METRICS as text, or as JSON in ASCII. The same METRICS give the same bytes. */
void res_metrics_put(const json_t *metrics, bool as_json, bn_text *out);

/* Reads the LENGTH bytes of TEXT: the output of res_metrics_put, or PyTorch/XLA's own reports of
 * any layout, among other lines or not (new reference). A text may have several; the second of one
 * title gets a title of its own. Names become plain. Its member "reading" counts the lines of no
 * report. BN_FORMAT where there is neither metric nor counter, or where a line of a report, which
 * is named, cannot be read. */
BN_MUST_USE bn_code res_metrics_read(const char *text, size_t length, json_t **metrics,
                                     bn_status *st);

/* The differences between A and B (new reference): {"kind": "metrics-diff", "pairs": [{"a", "b":
 * titles, "figures": [{"name", "figure", "unit", "a", "b", "difference", "ratio"}], "same"}],
 * "only_a", "only_b": titles, "reading_a", "reading_b": the lines that res_metrics_read left out,
 * or null}. Two documents of one report each are compared whatever their titles; of others, reports
 * of the same title. */
json_t *res_metrics_diff(const json_t *a, const json_t *b);
/* Appends DIFF as tables of text FORMAT. */
void res_metrics_diff_put(const json_t *diff, res_format format, bn_text *out);

#endif
