/*
 * exports.h - records as files that other tools open. Prefix res_export.
 */
#ifndef BENCH_RESULTS_EXPORTS_H
#define BENCH_RESULTS_EXPORTS_H

#include "results/records/records.h"

/* ---- exports -------------------------------------------------------------- */

/* Records become files that other tools open, with every sample where the format can hold samples.
 * Simulated and emulated results say so in their names. Failures, and whatever else a format has no
 * place for, stand under a member of their own, or are left out and counted where the format has no
 * members; each writer says which. */

/* The formats, for help and messages. */
void res_export_names(bn_text *out);

typedef struct res_export_file {
    char *path;    /* in the folder of the export; "" for a format of one file */
    bn_text bytes; /* not text for xspace */
} res_export_file;

typedef struct res_export {
    res_export_file *files;
    size_t count, capacity;
    size_t left_out; /* failed records that the format has no place for */
    bool folder;     /* the format is a folder of files */
} res_export;

/* BN_INVALID for an unknown FORMAT. */
BN_MUST_USE bn_code res_export_check(const char *format, bn_status *st);

/* Makes the files of ALL in FORMAT. *EXPORT is to be released in any case. BN_INVALID for an
 * unknown format, and for one that cannot show any of the records. */
BN_MUST_USE bn_code res_export_make(const res_collection *all, const char *format,
                                    res_export *export, bn_status *st);
void res_export_free(res_export *export);
/* Writes the file, or the folder, OUTPUT. A file that is there stays (BN_INVALID), unless REPLACE;
 * then each is replaced whole, other files of the folder stay, and a failure leaves what was
 * written. */
BN_MUST_USE bn_code res_export_write(const res_export *export, const char *output, bool replace,
                                     bn_status *st);

#endif
