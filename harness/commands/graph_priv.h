/*
 * graph_priv.h - StableHLO texts as graphs, for bench diff and the graph report of a run.
 */
#ifndef BENCH_HARNESS_GRAPH_H
#define BENCH_HARNESS_GRAPH_H

#include "harness/jobs/jobs.h"
#include "results/tables/tables.h"
#include "runtime/stablehlo/stablehlo.h"

/* Whether the SIZE bytes at BYTES are taken for a program as text. */
bool command_graph_is_text(const char *bytes, size_t size);
/* Replaces the *SIZE bytes *BYTES (malloc), if they are byte code or HLO, by StableHLO text.
 * BN_NOT_FOUND: JAX's libraries are not installed; BN_TIMEOUT: they took too long; BN_FORMAT: they
 * cannot read the bytes, or these are too many. */
BN_MUST_USE bn_code command_graph_text(char **bytes, size_t *size, bn_status *st);
/* Differences between the programs of one name in the recordings PATH and OTHER; without OTHER,
 * between successive ones of PATH. *DIFFER: there are some. BN_FORMAT: some programs could not be
 * compared; the others were shown. */
BN_MUST_USE bn_code command_graph_recordings(const char *path, const char *other,
                                             const cli_output *output, bool *differ,
                                             bn_status *st);
/* PIECE, cut to MOST bytes, as a string (new reference). */
json_t *command_piece_json(shlo_piece piece, size_t most);
/* Counts of DIFF's differences by kind, and the first MOST of them (new reference). */
json_t *command_diff_json(const shlo_diff *diff, size_t most);
/* Appends WORDS by res_put_set_in, and frees them. */
void command_put_set_in(bn_text *words, res_format format, bn_text *out);
/* Appends "3 changed, 1 added, 0 removed; 2 the same in another order". */
void command_diff_counts(const shlo_diff *diff, bn_text *out);
/* Appends a difference as lines of a text FORMAT that begin with INDENT: location and kind, then
 * both statements, a line each. */
void command_difference_put(const shlo_diff *diff, const shlo_difference *difference,
                            const char *indent, res_format format, bn_text *out);

#endif
