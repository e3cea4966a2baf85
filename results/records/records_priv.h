/*
 * records_priv.h - what the files of this folder share: names of records and files, lines of
 * imports. The store's layers are in store_priv.h, the index's in index_priv.h.
 */
#ifndef BENCH_RESULTS_RECORDS_PRIV_H
#define BENCH_RESULTS_RECORDS_PRIV_H

#include <sys/stat.h>

#include "results/records/records.h"

/* ---- names (names.c) --------------------------------------------------------- */

/* Name of the index in the store's folder. */
#define RES_INDEX_FILE "index.tsv"

/* A new id, which no other process and no other call makes. */
void res_id_make(char id[RES_TEXT]);
/* Whether ID is fit for a file name. */
bool res_id_names_a_file(const char *id);

/* The name of RECORD's file in a store, and of the file in which this process writes it. */
void res_put_record_name(bn_text *name, const res_record *record);
void res_put_temporary_name(bn_text *name, const res_record *record);
/* How the names of records of EXPERIMENT end, and of others with its model, phase and mode. */
void res_put_record_end(bn_text *name, const res_experiment *experiment);
/* Whether NAME ends in END and has more before it. */
bool res_name_ends(const char *name, const char *end);
/* The process that left the temporary file NAME; 0 where NAME is no temporary file of this
 * machine. */
long res_temporary_process(const char *name);

/* ---- what a file's bytes prove (store_file.c) ----------------------------------------- */

/* Proof of damage: only this process's own look at the bytes is one. */
typedef struct res_proof {
    res_fault fault;
    bool proven;         /* FAULT is what the bytes of the file say, all of which were read */
    struct stat as_read; /* the file, if PROVEN */
} res_proof;

/* res_store_read_foreign; after a failure PROOF says whether another try would fail as well. */
BN_MUST_USE bn_code res_foreign_read(const char *path, res_record **record, res_proof *proof,
                                     bn_status *st);

/* ---- what is in range (check.c) ------------------------------------------------ */

/* No time of ours is longer: 2^53 ns are 104 days, and exact in a double. */
#define RES_MOST_NS (UINT64_C(1) << 53)
/* Whether TEXT is a SHA-256, or "". */
bool res_is_digest(const char *text);
/* Whether NS is a time that can be added up and printed: at most 104 days, from LEAST on; or NaN,
 * which is unknown. */
bool res_time_fits(double ns, double least);

/* ---- imports (import.c) ------------------------------------------------------ */

/* The records of pytorch/xla's lines DATA into ALL, which is empty; FILE is for messages and
 * provenance. After a failure ALL holds the records of the lines before. */
BN_MUST_USE bn_code res_import_lines(const char *file, const char *data, res_collection *all,
                                     bn_status *st);

#endif
