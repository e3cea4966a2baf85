/*
 * index_priv.h - the parts of the index: lines of summaries (index_line.c), and the folder that
 * they are kept in step with (listing.c).
 */
#ifndef BENCH_RESULTS_INDEX_PRIV_H
#define BENCH_RESULTS_INDEX_PRIV_H

#include <sys/types.h>

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
/* The experiments in order of their numbers, in the arena. */
const res_experiment **res_pools_experiments(const res_pools *pools);

/* The names of the columns, with a newline. */
void res_line_heads(bn_text *out);
/* The line of RECORD in FILE, with a newline. */
void res_line_write(const res_record *record, const char *file, int64_t size, int64_t mtime_ns,
                    bn_text *out);

/* Appends TEXT as it stands in a column. */
void res_line_put_text(bn_text *out, const char *text);

/* The columns that show whether a line still describes its file. */
typedef struct res_line_key {
    const char *file; /* not terminated */
    size_t file_length;
    int64_t size, mtime_ns;
} res_line_key;
/* False where LINE, which ends with a newline, does not begin with these columns. */
bool res_line_key_parse(const char *line, res_line_key *key);

/* The line of LENGTH bytes, newline included, as a summary without its FILE. BN_FORMAT
 * for a line that res_line_write did not write. */
BN_MUST_USE bn_code res_line_parse(const char *line, size_t length, res_pools *pools,
                                   res_summary *summary, bn_status *st);

/* ---- the folder and its index (listing.c) ----------------------------------------- */

/* A record's file as it is now. */
typedef struct res_file {
    const char *name, *key; /* KEY: as it stands in lines */
    int64_t size, mtime_ns;
    int64_t written_ns; /* as res_summary has it */
} res_file;

/* The files of a store, in order of their keys, with the index as it was and as it will be. */
typedef struct res_listing {
    const char *store;
    bn_arena *memory; /* borrowed */
    uid_t owner;      /* of the folder */
    res_file *files;
    size_t count;
    char *old;          /* the index as it was, terminated; NULL: none that can be used */
    bn_status distrust; /* why the index that is there is not believed */
    const char *line;   /* in OLD: the first line that was not passed yet */
    size_t old_lines;   /* that were passed */
    bn_text body;       /* the index as it will be, without its first line */
    size_t lines, kept;
    bool found_damaged; /* a file that was not known to be damaged is */
} res_listing;

/* Lists the records of STORE; names go into MEMORY. ANEW: whatever the index says. Errors as
 * opendir has them; release with res_listing_end, also after a failure. */
BN_MUST_USE bn_code res_listing_begin(res_listing *l, const char *store, bool anew,
                                      bn_arena *memory, bn_status *st);
void res_listing_end(res_listing *l);
/* STORE/NAME, for free. */
char *res_listing_path(const res_listing *l, const res_file *file);

/* Appends FILE and WHY it cannot be read to *LIST, of *COUNT and *ROOM. */
void res_listing_report(const res_listing *l, const res_file *file, res_fault fault,
                        const bn_status *why, res_damaged **list, size_t *count, size_t *room);

/* A record that was read, and the file that it is in. */
typedef struct res_found {
    const char *id, *file; /* FILE: its name */
    const char *copy_of;   /* the file that has the same record; NULL: this one counts */
    size_t at;             /* of listing.c: its place in the list */
} res_found;
/* Marks the copies in LIST, of COUNT records in order of their files, and reports them as
 * res_listing_report does. A record counts once, whatever names its file has: the file that is
 * called by the record's id stands, else the first. */
void res_listing_report_copies(const res_listing *l, res_found *list, size_t count,
                               res_damaged **damaged, size_t *damaged_count, size_t *room);

/* The old line, of *LENGTH bytes with its newline, that describes FILE as it is now; NULL: there is
 * none. Files must be asked for in their order. */
const char *res_listing_line(res_listing *l, const res_file *file, size_t *length);
/* Whether the LENGTH bytes of LINE, which ends with a newline, are of a damaged file; FAULT and WHY
 * then say what is wrong, and that it was found before. */
bool res_listing_damaged(const char *line, size_t length, res_fault *fault, bn_status *why);

/* Adds LINE to the new index; KEPT: it stood in the old one. */
void res_listing_put(res_listing *l, const char *line, size_t length, bool kept);
/* Adds a line on FILE, which could not be read because of WHY, if PROOF is one, and of the file
 * that was listed: another may have had its name for a moment. */
void res_listing_put_damaged(res_listing *l, const res_file *file, const res_proof *proof,
                             const bn_status *why);
/* Writes the new index, unless it is the old one or empty. ST says why it cannot, and, where there
 * is one that is not believed, why not. */
void res_listing_save(res_listing *l, bn_status *st);

#endif
