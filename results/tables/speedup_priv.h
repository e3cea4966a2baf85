/*
 * speedup_priv.h - what the forms of the speedup table share: table_speedup.c is for people,
 * speedup_export.c for programs, speedup_words.c and speedup_findings.c make the sentences of both.
 */
#ifndef BENCH_RESULTS_SPEEDUP_PRIV_H
#define BENCH_RESULTS_SPEEDUP_PRIV_H

#include "results/tables/tables_priv.h"

/* The axes in which the rows from FIRST up to END differ. */
res_axis_set res_speedup_varying(const res_speedup *speedup, size_t first, size_t end);
/* "bert infer capture, batch 4, on cpu": what distinguishes ROW from the table's others. */
void res_speedup_name(const res_speedup *speedup, const res_speedup_row *row, bn_text *out);
/* Rows that one sentence is about; begins as zero. */
typedef struct res_named {
    bn_text text;
    size_t count;
    json_t *ids;
} res_named;
/* Adds ROW with DETAIL, "(34 %)" say. */
void res_speedup_name_row(const res_speedup *speedup, const res_speedup_row *row, res_named *list,
                          const char *detail, ...) BN_PRINTF(4, 5);
/* Appends the names, of many the first; releases LIST. */
void res_speedup_put_named(res_named *list, bn_text *out);
/* "faster", "slower", "not significant", "too few processes"; "" for a row without a ratio. */
const char *res_speedup_verdict(const res_speedup_row *row);
/* The content of a column that a narrow table has no room for, of the rows from FIRST up to END:
 * "HEAD: 4 in each row.", or "HEAD: 4, but: bert infer lazy (3).", by WORD of each row; rows of
 * which it is "" are left out. Nothing where it is "" of all. */
typedef const char *res_speedup_word(const res_speedup_row *row, char room[32]);
void res_speedup_put_column(const res_speedup *speedup, size_t first, size_t end, const char *head,
                            res_speedup_word *word, bn_text *out);
/* Whether bench measured ROW itself: it was neither recorded nor imported, so options of bench run
 * help. */
bool res_speedup_is_ours(const res_speedup_row *row);
/* The class of the failure of ROW, which has no good process: "timeout". */
const char *res_speedup_failure(const res_speedup_row *row);
/* "Interference: ...", of the whole table or else of its worst row; or that it is unknown; or
 * nothing. */
void res_speedup_busy(const res_speedup *speedup, bn_text *out);
/* Notes on the figures: sentences that name rows (an array as of res_add_note; new reference). */
json_t *res_speedup_notes(const res_speedup *speedup);
/* Adds to NOTES one that names the rows of which some processes failed, if there are any. */
void res_speedup_note_failed(const res_speedup *speedup, json_t *notes);
/* Findings, inconclusive ones included: objects {"kind", "sentence", "rows": ids}, some with more
 * members (docs/tables.md; an array, new reference). */
json_t *res_speedup_findings(const res_speedup *speedup);
/* All figures in nanoseconds, as JSON, or as CSV with a line a row. */
void res_speedup_export(const res_speedup *speedup, res_format format, bn_text *out);

#endif
