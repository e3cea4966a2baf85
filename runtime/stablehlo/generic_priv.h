/*
 * generic_priv.h - statements in MLIR's generic form and in the usual one, for the files that read
 * them: both say the same of the same op (generic.c).
 *
 *   "stablehlo.transpose"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> ...
 *   stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> ...
 */
#ifndef BENCH_RUNTIME_GENERIC_PRIV_H
#define BENCH_RUNTIME_GENERIC_PRIV_H

#include "runtime/stablehlo/stablehlo_priv.h"

/* An entry of a dictionary, "key = value". */
typedef struct shlo_entry_text {
    shlo_token key;
    uint64_t name;      /* the key's hash, without quotes */
    shlo_scanner value; /* at what stands behind "=" */
    uint64_t hash;      /* of the value */
} shlo_entry_text;

/* The next entry of the dictionary that S stands in, behind its bracket; false at its end. */
bool shlo_next_entry(shlo_scanner *s, shlo_entry_text *entry);
/* The sum of the entries' hashes, whatever their order; 0: there are none. S is moved behind them.
 */
uint64_t shlo_dictionary(shlo_scanner *s);
/* The inside of the dictionary <{...}> or {...} that TOKEN opens in a text that ends at END. */
shlo_scanner shlo_inside(const shlo_token *token, const char *end);

/* Behind the bracket that closes the one that token AT is; at most TO. */
size_t shlo_behind_bracket(const shlo_token *t, size_t at, size_t to);

/* A statement's tokens: its op, the colon before its types, what follows these, the end. */
typedef struct shlo_statement {
    const shlo_token *t;
    size_t op, colon, behind_types, count;
    shlo_piece name;
} shlo_statement;

/* Hash of a statement's attributes, the same in either form, into *SUM. APPLIES: the hash of the op
 * that a reduction applies, or 0. False: it is not in generic form, and how its op is written is
 * not known. SCRATCH's text is replaced. */
bool shlo_says(const shlo_statement *statement, bn_text *scratch, uint64_t *sum, uint64_t *applies);

/* One name for each op: "return" is func.return. */
uint64_t shlo_op_hash(shlo_piece name);
static inline bool shlo_is_called(shlo_piece name, const char *word)
{
    return name.length == strlen(word) && memcmp(name.at, word, name.length) == 0;
}

#endif
