/*
 * exports_priv.h - what the writers of exports share. A format is a row in export_table.c and a
 * writer in one of the other files.
 */
#ifndef BENCH_RESULTS_EXPORTS_PRIV_H
#define BENCH_RESULTS_EXPORTS_PRIV_H

#include "results/exports/exports.h"
#include "results/tables/tables.h"

/* ---- writers (export_*.c) ---------------------------------------------------- */

/* Adds files with what the format shows of ALL to EXPORT, which is empty but for its FOLDER.
 * Where ALL has nothing that the format could show, no file is added. Memory that is missing sets
 * EXPORT's FAILED, or that of a file's bytes. */
typedef void res_export_writer(const res_collection *all, res_export *export);
res_export_writer res_export_google_benchmark, res_export_benchstat, res_export_hyperfine,
    res_export_asv, res_export_pytorch_xla, res_export_pytorch_benchmark, res_export_xla,
    res_export_csv, res_export_chrome_trace, res_export_xspace;

/* ---- files (export_files.c) -------------------------------------------------- */

/* A new file of EXPORT called by the printf FORMAT, to be filled; never NULL: what cannot be kept
 * goes to a place that nobody reads. Valid until the next call. */
bn_text *res_export_add(res_export *export, const char *format, ...) BN_PRINTF(2, 3);
/* VALUE, which is released, as the file's whole contents: with line breaks, or compact on a
 * line. */
void res_export_put(bn_text *file, json_t *value);
void res_export_put_line(bn_text *file, json_t *value);

/* ---- what a record is called (export_record.c) --------------------------------- */

/*
 * What names an experiment in any store: "resnet18/train/capture/graphs:1/batch:4/...",
 * members as they are in the experiment, those that are zero, empty or usual left out; the
 * runtime by its last path component, so that two builds of it have the same names; last
 * "simulated", where the device is. PAIR stands between a member's name and value. No blanks.
 */
void res_export_name(const res_record *record, char pair, bn_text *name);
/* NAME, at most MOST bytes of it, and after it digits of WHOLE's SHA-256: for names that are cut
 * or lose characters, so that two of them stay two. */
#define RES_NAME_DIGITS 8
void res_export_digits(bn_text *name, size_t most, const char *whole);
/* TEXT with blanks for control characters: a message of several lines as one. */
void res_export_put_clean(bn_text *out, const char *text);
/* The members behind model, phase and mode as {"graphs": 1, ...} (new reference). */
json_t *res_export_members(const res_record *record);
/* "simulated", "emulated front end of 17000 ns a node", both, or "". */
void res_export_label(const res_record *record, bn_text *label);

/* ---- where it comes from ------------------------------------------------------- */

/* The runtime's platform and the kind of device that it names; of an import what its line says;
 * or "". */
const char *res_export_platform(const res_record *record);
const char *res_export_device(const res_record *record);
/* The build as hex digits of a commit: the label where it is such, else the first 40 digits of
 * the library's SHA-256, else 40 zeros. */
#define RES_COMMIT_TEXT 41
void res_export_commit(const res_record *record, char commit[RES_COMMIT_TEXT]);
/* Seconds since 1970, UTC, at which the record was made; 0 where its id does not say. */
double res_export_time(const res_record *record);
/* The same as "2026-11-21T06:16:05+00:00". */
void res_export_date(const res_record *record, char date[32]);

/* Records in groups that stand together: by machine, build and name, or by build alone; in a
 * group in the store's order. */
typedef struct res_export_key {
    const res_record *record;
    const char *machine; /* "" by build alone; the same for name */
    char commit[RES_COMMIT_TEXT];
    char *name; /* owned */
} res_export_key;
/* COUNT of ALL of them (malloc); NULL sets EXPORT's FAILED, or there are none. */
res_export_key *res_export_keys(const res_collection *all, bool by_build, res_export *export);
void res_export_keys_free(res_export_key *keys, size_t count);
/* The machine that RECORD is of, "unknown" where it does not say. */
const char *res_export_machine(const res_record *record);

/* Provenance, but for the topology's XML, which is as large as all the rest (new reference). */
json_t *res_export_provenance(const res_record *record);
/* {"id": provenance and status, ...}: of all records (new reference). */
json_t *res_export_context(const res_collection *all);
/* [{"name", "status", "message", "id"}, ...]: records without samples (new reference). */
json_t *res_export_failures(const res_collection *all);

/* Nanoseconds of STEP in which the host's thread did not wait; its wall time where nothing
 * but that is known. */
uint64_t res_export_busy_ns(const res_record *record, size_t step);
/* Sample standard deviation, NaN below two. */
double res_export_deviation(const uint64_t *values, size_t count);

#endif
