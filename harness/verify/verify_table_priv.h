/*
 * verify_table_priv.h - comparisons with golden values, as tables. A line is a row of
 * golden_priv.h with "runtime", "model", "variant" and "mode" added; one of a worker
 * that failed has the quantity "worker" and a "message", one that a framework computes differently
 * its "deviation".
 */
#ifndef BENCH_HARNESS_VERIFY_TABLE_H
#define BENCH_HARNESS_VERIFY_TABLE_H

#include <jansson.h>

#include "results/tables/tables.h"

/* Appends the table. LINES is an array in which the lines of one worker stand together. CSV and
 * JSON show all lines. Other formats show all with ALL, else those that failed and of each group of
 * quantities the worst. */
void verify_table(const json_t *lines, res_format format, bool all, bn_text *out);
/* "214 comparisons, 0 failed"; before it a line for each deviation of a framework. */
void verify_summary(const json_t *lines, bn_text *out);
size_t verify_failures(const json_t *lines);

#endif
