/*
 * versus_priv.h - what the tables of two runtimes share: table_versus.c is for people,
 * versus_export.c for programs.
 */
#ifndef BENCH_RESULTS_VERSUS_PRIV_H
#define BENCH_RESULTS_VERSUS_PRIV_H

#include "results/tables/tables_priv.h"

/* A record of A's or of B's runtime; NULL where no process was measured. */
const res_record *res_versus_example(const res_versus *versus, bool of_b);
/* The cause of a change, as a sentence without its full stop. */
const char *res_versus_blame(const res_attribution *why);
/* All figures in nanoseconds and bytes, as JSON, or as CSV with a line a cell. */
void res_versus_export(const res_versus *versus, res_format format, bn_text *out);

#endif
