/*
 * index_priv.h - the two halves of the index: lines of summaries (index_line.c), and
 * the folder that they are kept in step with (index.c).
 */
#ifndef BENCH_RESULTS_INDEX_PRIV_H
#define BENCH_RESULTS_INDEX_PRIV_H

#include "results/records/records_priv.h"

/* Objects that many records share. Each is kept once, under the text of its columns. */
typedef struct res_pool_entry {
    uint64_t hash;
    const char *text; /* in the arena; NULL: the place is free */
    size_t length;
    size_t number;      /* in order of arrival */
    const void *object; /* in the arena */
} res_pool_entry;

typedef struct res_pool {
    res_pool_entry *entries; /* by hash, open addressing */
    size_t capacity, count;
} res_pool;

typedef struct res_pools {
    res_pool experiments, origins;
    bn_arena *memory; /* borrowed */
} res_pools;

void res_pools_free(res_pools *pools);
/* The experiments in order of their numbers, in the arena; NULL without memory. */
const res_experiment **res_pools_experiments(const res_pools *pools);

/* The names of the columns, with a newline. */
void res_line_heads(bn_text *out);
/* The line of RECORD in FILE, with a newline. */
void res_line_write(const res_record *record, const char *file, int64_t size, int64_t mtime_ns,
                    bn_text *out);

/* The columns that tell whether a line still describes its file. */
typedef struct res_line_key {
    const char *file; /* not terminated */
    size_t file_length;
    int64_t size, mtime_ns;
} res_line_key;
/* False where LINE, which ends with a newline, does not begin with these columns. */
bool res_line_key_parse(const char *line, res_line_key *key);

/* The line of LENGTH bytes, newline included, as a summary without its FILE. BN_FORMAT
 * for a line that res_line_write did not write, BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code res_line_parse(const char *line, size_t length, res_pools *pools,
                                   res_summary *summary, bn_status *st);

#endif
