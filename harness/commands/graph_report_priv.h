/*
 * graph_report_priv.h - the index of the graphs that a run compiled.
 */
#ifndef BENCH_HARNESS_GRAPH_REPORT_H
#define BENCH_HARNESS_GRAPH_REPORT_H

#include "harness/commands/graph_priv.h"

/* Writes index.txt and index.json into FOLDER, where the workers put the texts of the graphs of the
 * COUNT records: each graph once, with its inputs, outputs, aliases, memory and FLOPs; each
 * experiment's graphs, and how one differs from the one before it that does the same part of a
 * step. *MISSING: graphs whose text is not there, or is another. Graphs of other front ends are in
 * their recordings. */
BN_MUST_USE bn_code command_graph_report(const char *folder, res_record *const *records,
                                         size_t count, size_t *missing, bn_status *st);

#endif
