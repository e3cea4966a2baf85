/*
 * graph_priv.h - StableHLO texts as graphs, for bench graph diff and the graph report of a run.
 */
#ifndef BENCH_HARNESS_GRAPH_H
#define BENCH_HARNESS_GRAPH_H

#include "harness/commands/commands.h"
#include "runtime/stablehlo/stablehlo.h"

/* Reads the graph in the file PATH, which messages name. BN_FORMAT: it holds none. */
BN_MUST_USE bn_code command_graph_read(const char *path, shlo_graph **graph, bn_status *st);
/* PIECE, cut to MOST bytes, as a string (new reference). */
json_t *command_piece_json(shlo_piece piece, size_t most);
/* The scopes of GRAPH, [{"scope": "backward/layer1.0.conv1", "statements": 3}], in the order of the
 * text; "": outside of all (new reference). */
json_t *command_scopes_json(const shlo_graph *graph);
/* Appends "conv1 4, layer1 43": the statements of the parts of the model, in all phases. */
void command_scopes_put(const shlo_graph *graph, bn_text *out);
/* How many differences DIFF has, of which kinds, and the MOST first of them (new reference). */
json_t *command_diff_json(const shlo_diff *diff, size_t most);
/* Appends "3 changed, 1 added, 0 removed; 2 stand elsewhere". */
void command_diff_counts(const shlo_diff *diff, bn_text *out);
/* Appends a difference as lines that begin with INDENT: where it is, what it is, both statements.
 */
void command_difference_put(const shlo_diff *diff, const shlo_difference *difference,
                            const char *indent, bn_text *out);

#endif
