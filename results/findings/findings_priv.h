/*
 * findings_priv.h - what the files of this folder share.
 */
#ifndef BENCH_RESULTS_FINDINGS_PRIV_H
#define BENCH_RESULTS_FINDINGS_PRIV_H

#include "results/findings/findings.h"

/* ---- the latest build (latest_build.c) ------------------------------------------------------ */

/* The rule by which figures are of one build: that of the latest record that names one, good or
 * failed, since good records of an older build say nothing of a build that fails. A record that
 * names no build may be of it. First res_latest_build for each record, in any order, then
 * res_latest_has; and res_latest_record for those that it has. */
typedef struct res_latest {
    const char *build, *build_id; /* NULL: no record names a build */
    const void *record;           /* the latest good one, or the latest failure; NULL: none yet */
    const char *record_id;
    bool good;
} res_latest;
void res_latest_build(res_latest *latest, const char *id, const char *build);
bool res_latest_has(const res_latest *latest, const char *build);
void res_latest_record(res_latest *latest, const void *record, const char *id, bool good);

/* ---- processes (pool.c) ------------------------------------------------------------------ */

/* Pools all of the COUNT RECORDS, which are good and outlive POOL, whatever their builds and
 * conditions: those of a side of a comparison. */
void res_pool_all(const res_record *const *records, size_t count, res_pool *pool);

/* ---- the sample of an estimate (sample.c) --------------------------------------------- */

/* Values of processes, and the runs that they are of. */
typedef struct res_sample {
    double *values;
    size_t *run;
    size_t count;
    /* After res_sample_estimate: */
    size_t processes; /* that the estimate is of */
    bool of_runs;     /* its values are means of runs */
} res_sample;
/* An empty one with room for MOST values. */
res_sample res_sample_begin(size_t most);
void res_sample_end(res_sample *sample);
/* Adds VALUE of PROCESS, which may be NaN: unknown. */
void res_sample_add(res_sample *sample, double value, const res_process *process);
/* The estimate of the values that are known; VALUES and COUNT are then what it is of. Which runs
 * count (res_runs_choose) depends on the processes alone: all figures of a pool are of the same
 * ones, whatever each of them knows. */
res_estimate res_sample_estimate(res_sample *sample);

/* ---- ratios (ratio.c, ratio_mean.c) ------------------------------------------------------ */

/* Lets the COUNT ratios LIST of one table borrow their variances from each other: those of
 * processes, and apart from them those of runs. Ratios of unmatched processes and those without
 * spread stay as they are. */
void res_ratios_moderate(res_pool_ratio *const *list, size_t count);
/* Of the COUNT ratios LIST, whose logs are known. */
res_ratio_mean res_ratio_mean_of(const res_pool_ratio *const *list, size_t count);

/* ---- a cell of a comparison -------------------------------------------------------------- */

/* VERSUS' options with the interim analyses of CELL. */
res_compare_options res_compared_options(const res_versus *versus, const res_compared *cell);
/* Compares all measures of CELL but the wall time, each alone (judged.c). BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code res_judge_further(const res_versus *versus, res_compared *cell, bn_status *st);
/* Attributes the difference of CELL, all of whose measures were compared (attribute.c). */
void res_attribute(const res_compared *cell, res_attribution *attribution);

/* ---- device times (quantity.c) --------------------------------------------------------------- */

/* Whether the device times of A and B can be compared: those between completions, of recordings,
 * have the start of an execution in them, others have not. */
bool res_figures_alike(const res_figures *a, const res_figures *b);

#endif
