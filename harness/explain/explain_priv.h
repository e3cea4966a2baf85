/*
 * explain_priv.h - an explanation: the command makes it in a worker, and prints it.
 *
 *   explain_command.c   the command, in the parent    explain_job.c   the steps, in a worker
 *   explain_words.c     an explanation for people
 */
#ifndef BENCH_HARNESS_EXPLAIN_PRIV_H
#define BENCH_HARNESS_EXPLAIN_PRIV_H

#include "harness/explain/explain.h"
#include "results/tables/tables.h"

/* Appends EXPLANATION, called TITLE, as text of FORMAT. VERBOSE: all guards. */
void explain_put(const json_t *explanation, const char *title, bool verbose, res_format format,
                 bn_text *out);

#endif
