/*
 * results_priv.h - what the files of results share and nobody else sees: the
 * field tables, which say once what a record keeps, and small summaries.
 */
#ifndef BENCH_RESULTS_PRIV_H
#define BENCH_RESULTS_PRIV_H

#include <gsl/gsl_rng.h>

#include "results/results.h"

/* ---- fields (fields.c) ------------------------------------------------- */

typedef enum res_kind {
    RES_KIND_TEXT,   /* char[SIZE] */
    RES_KIND_INT,    /* int */
    RES_KIND_I64,    /* int64_t */
    RES_KIND_AMOUNT, /* int64_t, below zero when unknown */
    RES_KIND_U64,    /* uint64_t */
    RES_KIND_REAL,   /* double, NaN when unknown */
    RES_KIND_BOOL,   /* bool */
    RES_KIND_SOURCE  /* bn_device_time_source, kept by name */
} res_kind;

/* One member of a struct, under the name it has in files and in JSON. */
typedef struct res_field {
    const char *name;
    res_kind kind;
    size_t offset, size;
} res_field;

/* Both end with a row whose NAME is NULL. */
extern const res_field res_experiment_fields[];
extern const res_field res_execution_fields[];

/* The device time source called NAME; BN_DEVICE_TIME_SOURCE_COUNT for none. */
bn_device_time_source res_source_from_name(const char *name);

/* ---- JSON (json.c) ------------------------------------------------------ */

/* New references. Text that is not UTF-8 has its bad bytes replaced by '?';
 * NaN and infinities become null. */
json_t *res_json_text(const char *text);
json_t *res_json_real(double value);

/* ---- summaries (record.c) ----------------------------------------------- */

/* Fills SERIES (step_count values) with the sum of PARTS over each step. */
void res_part_series(const res_record *record, const bn_part *parts, size_t part_count,
                     uint64_t *series);
/* False where nothing but the wall time is known: all of each step is in "other". */
bool res_has_ledger(const res_record *record);
/* Median PJRT time of one execution, NaN without samples. */
double res_execution_pjrt_ns(const res_execution *execution);

/* Arithmetic mean, NaN for none (stats.c). */
double res_mean(const uint64_t *values, size_t count);

/* ---- resampling (stats.c) ------------------------------------------------ */

/* A series prepared for resampling. */
typedef struct res_series {
    size_t count, block;
    double *sorted;
    uint32_t *rank;  /* [step]: place of the step's value in SORTED */
    uint32_t *drawn; /* [rank]: times drawn in this resample */
} res_series;

/* False without memory, S is then empty. COUNT is at least 1. */
bool res_series_make(res_series *s, const uint64_t *values, size_t count);
void res_series_free(res_series *s);
double res_series_median(const res_series *s);
/* Median of one resample of blocks of neighbours. */
double res_series_resample(res_series *s, gsl_rng *rng);
/* ESTIMATE between the 2.5 and 97.5 % quantiles of RESAMPLES, which are sorted. */
res_interval res_percentile_interval(double estimate, double *resamples, size_t count);

/* ---- tests by flipping signs (compare_flip.c) ------------------------------ */

/* Two-sided p of the mean of the differences D, by all 2^COUNT choices of their
 * signs or, beyond RES_EXACT_PAIRS, by seeded draws; 1 for none. Fails without
 * memory only. */
#define RES_EXACT_PAIRS 20
BN_MUST_USE bn_code res_flip_p(const double *d, size_t count, uint64_t seed, double *p,
                               bn_status *st);
/* The means from which res_flip_p cannot tell that of D at LEVEL lie from *LOW to
 * *HIGH. False where it can tell none, or beyond RES_SUBSET_PAIRS. */
#define RES_SUBSET_PAIRS 12
bool res_flip_bounds(const double *d, size_t count, double level, double *low, double *high);

/* ---- imports (import.c) ----------------------------------------------------- */

/* The records of pytorch/xla's lines DATA, added to ALL; FILE is for messages and
 * provenance. */
BN_MUST_USE bn_code res_import_lines(const char *file, const char *data, res_collection *all,
                                     bn_status *st);

/* Characters that are safe in a file name on any system. */
bool res_name_char_ok(char c);
/* This machine's name as it stands in ids: safe characters, at most 18. */
#define RES_HOST_TEXT 19
void res_host_name(char host[RES_HOST_TEXT]);

#endif
