/*
 * metrics_priv.h - the metrics report that bench run writes.
 */
#ifndef BENCH_HARNESS_METRICS_H
#define BENCH_HARNESS_METRICS_H

#include "harness/jobs/jobs.h"
#include "results/records/records.h"

/* How bench run reports metrics, and its debug run. */
typedef struct command_metering {
    const char *file;    /* of the report; "-": standard output; NULL: there is none */
    int64_t every;       /* also written after so many processes; 0: at the end only */
    const char *debug;   /* folder for all reports of the run; NULL: there is none */
    int64_t debug_every; /* every so many-th measured step is shown there; at least 1 */
} command_metering;

/* BN_INVALID: OWN is incomplete or conflicts with OUTPUT. */
BN_MUST_USE bn_code command_metrics_check(const command_metering *own, const cli_output *output,
                                          bn_status *st);
/* Writes the report of the COUNT RECORDS to OWN's file, replacing it; nothing without a file. */
BN_MUST_USE bn_code command_metrics_write(const command_metering *own, res_record *const *records,
                                          size_t count, bn_status *st);

/* Shows the differences between the reports of A and B, each a folder of records, a record, or a
 * file with a report. *DAMAGED: some record could not be read. */
BN_MUST_USE bn_code command_metrics_diff(const char *a, const char *b, const cli_output *output,
                                         bool *damaged, bn_status *st);
/* Whether the file PATH has a metrics report. */
bool command_is_metrics(const char *path);

#endif
