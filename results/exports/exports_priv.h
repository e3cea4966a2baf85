/*
 * exports_priv.h - shared by the writers of exports. A format is a row in export_table.c and a
 * writer in one of the other files.
 */
#ifndef BENCH_RESULTS_EXPORTS_PRIV_H
#define BENCH_RESULTS_EXPORTS_PRIV_H

#include "results/exports/exports.h"
#include "results/tables/tables.h"

/* ---- writers (export_*.c) ---------------------------------------------------- */

/* A format of exports: its name, whether it is a folder, and what appends its files. Its file
 * defines it, export_table.c has a row. */
typedef struct res_export_format {
    const char *name;
    bool folder;
    void (*write)(const res_collection *all, res_export *export);
} res_export_format;

/* ---- files (export_files.c) -------------------------------------------------- */

/* Adds a file to EXPORT, with a name by the printf FORMAT, and returns its contents, to be filled;
 * valid until the next call. */
bn_text *res_export_add(res_export *export, const char *format, ...) BN_PRINTF(2, 3);
/* Puts VALUE, which is released, into FILE: with line breaks, or compact on a line. */
void res_export_put(bn_text *file, json_t *value);
void res_export_put_line(bn_text *file, json_t *value);

/* ---- names of records (export_record.c) ---------------------------------------- */

/* Puts a name of the experiment that holds in any store:
 * "resnet18/train/capture/graphs:1/batch:4/...". Members are as in the experiment; those that are
 * zero, empty or usual are left out. The runtime is named by the last component of its path, so
 * that two builds of it have the same names; "simulated" comes last. PAIR stands between a member's
 * name and value. There are no blanks. */
void res_export_name(const res_record *record, char pair, bn_text *name);
/* Ends NAME with digits of WHOLE's SHA-256, and cuts it before them: at most MOST bytes in all. For
 * names that are cut or lose characters, so that two of them stay different. */
#define RES_NAME_DIGITS 8
void res_export_digits(bn_text *name, size_t most, const char *whole);
/* Puts TEXT as a part of a file's name: letters, digits and the signs of KEPT stay, others become
 * '_', as does a dot at the beginning. Where anything but a sign of LOST became another, or more
 * than MOST bytes were needed, digits of TEXT's SHA-256 end it. An empty TEXT is "_". */
void res_export_put_safe(bn_text *out, const char *text, const char *kept, const char *lost,
                         size_t most);
/* The members behind model, phase and mode as {"graphs": 1, ...} (new reference). */
json_t *res_export_members(const res_record *record);
/* Puts "simulated", "emulated front end of 17000 ns a node", both, or "". */
void res_export_label(const res_record *record, bn_text *label);

/* ---- where it comes from ------------------------------------------------------- */

/* The runtime's platform and its kind of device; of an import what its line says; or "". */
const char *res_export_platform(const res_record *record);
const char *res_export_device(const res_record *record);
/* The build as the hex digits of a commit: the label if it is one, else the first 40 digits of the
 * library's SHA-256, else 40 zeros. */
#define RES_COMMIT_TEXT 41
void res_export_commit(const res_record *record, char commit[RES_COMMIT_TEXT]);
/* Seconds since 1970, UTC, at which the record was made; 0 where its id does not say. */
double res_export_time(const res_record *record);
/* res_export_time as "2026-11-21T06:16:05+00:00". */
void res_export_date(const res_record *record, char date[32]);

/* Records, sorted so that groups stand together: by machine, build and name, or by build alone.
 * Within a group they are in the store's order. */
typedef struct res_export_key {
    const res_record *record;
    char *machine; /* as put_machine of export_record.c; "" by build alone, the same for name */
    char commit[RES_COMMIT_TEXT];
    char *name; /* both are owned */
} res_export_key;
/* One key for each record of ALL; NULL where ALL is empty. */
res_export_key *res_export_keys(const res_collection *all, bool by_build);
void res_export_keys_free(res_export_key *keys, size_t count);
/* The wall time of a step, in ns, that the speedup table would have for RECORD's experiment: of all
 * its processes in ALL. NaN for a failure. */
double res_export_wall_ns(const res_collection *all, const res_record *record);

/* Provenance without the topology's XML, which is as large as all the rest (new reference). */
json_t *res_export_provenance(const res_record *record);
/* {"id": provenance and status, ...} of all records (new reference). */
json_t *res_export_context(const res_collection *all);
/* Adds {"name", "id", "status", "message"} of RECORD to LIST, if it failed. */
void res_export_add_failure(const res_record *record, json_t *list);
/* The failures of all records (new reference). */
json_t *res_export_failures(const res_collection *all);

/* Nanoseconds of STEP in which the host's thread did not wait; the wall time where nothing else is
 * known. */
uint64_t res_export_busy_ns(const res_record *record, size_t step);

#endif
