/*
 * debug_run_priv.h - the folder of bench run --debug-run: every report of one run, and a page that
 * leads through them.
 */
#ifndef BENCH_HARNESS_DEBUG_RUN_H
#define BENCH_HARNESS_DEBUG_RUN_H

#include "harness/commands/metrics_priv.h"
#include "harness/jobs/jobs.h"

/* The graphs' folder and the timeline in the folder of a debug run. */
#define COMMAND_DEBUG_GRAPHS   "graphs"
#define COMMAND_DEBUG_TIMELINE "timeline.json"

/* Paths that a matrix has while it runs. */
typedef struct command_debug_paths {
    bn_text graphs, timeline;
} command_debug_paths;

/* If OWN names a folder, has MATRIX write its graphs and its timeline into it; the folder itself is
 * made with the graphs'. BN_INVALID where it is not empty, unless FORCE, or where MATRIX has a
 * graph report or a timeline already. PATHS are to be passed to command_debug_end, also after a
 * failure. */
BN_MUST_USE bn_code command_debug_begin(const command_metering *own, bool force, job_matrix *matrix,
                                        command_debug_paths *paths, bn_status *st);
/* Removes the reports of an earlier run from the folder: to be called once all options were
 * checked.
 */
BN_MUST_USE bn_code command_debug_clear(const command_metering *own, bn_status *st);
/* Takes the paths out of MATRIX, and frees them. */
void command_debug_end(const command_metering *own, job_matrix *matrix, command_debug_paths *paths);

/* A run: its experiments and records, all borrowed. */
typedef struct command_debug_run {
    const job_experiment *list; /* requested */
    size_t experiments;
    res_record **records;
    size_t count;
    const job_spent *spent; /* where the time went */
    bool interrupted;       /* the user ended the run */
} command_debug_run;

/* Writes the reports of RUN into the folder of OWN, over existing ones, and index.html, which names
 * the reports that the run has no data for. Two of them run steps of their own in workers. */
BN_MUST_USE bn_code command_debug_write(const command_metering *own, const command_debug_run *run,
                                        bn_status *st);

/* ---- steps of their own (debug_explain.c) ---------------------------------------------- */

/* For the COUNT experiments LIST, as far as bench traces them and until the user interrupts:
 * appends the output of bench explain on the first steps of each, and of bench study scopes on
 * each different step; or why that failed. */
void command_debug_explain(const job_experiment *list, size_t count, bn_text *out);
void command_debug_scopes(const job_experiment *list, size_t count, bn_text *out);

#endif
