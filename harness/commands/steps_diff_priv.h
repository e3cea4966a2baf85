/*
 * steps_diff_priv.h - the steps of two recordings next to each other, for bench diff.
 */
#ifndef BENCH_HARNESS_STEPS_DIFF_H
#define BENCH_HARNESS_STEPS_DIFF_H

#include "results/complaints/differences.h"
#include "results/tables/tables.h"

/* Appends the answer, in formats with sentences, and the tables of parts, programs and findings.
 * PATHS: of A and B. */
void command_steps_diff_put(const rec_differences *differences, const char *const paths[2],
                            res_format format, bn_text *out);
/* The same where a recording has no steps: WHY. */
void command_steps_diff_none(const char *const paths[2], const char *why, res_format format,
                             bn_text *out);

#endif
