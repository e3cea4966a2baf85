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

/* Has MATRIX write its graphs and its timeline into the folder that OWN names, unless it names
 * none. Whoever makes the graphs' folder makes that one. BN_INVALID where there is something in the
 * folder already, unless FORCE, or where MATRIX has a graph report or a timeline of its own. PATHS
 * are to be given to command_debug_end, also after a failure. */
BN_MUST_USE bn_code command_debug_begin(const command_metering *own, bool force, job_matrix *matrix,
                                        command_debug_paths *paths, bn_status *st);
/* Removes the reports of an earlier run from the folder: to be called once nothing can refuse the
 * run any more. */
BN_MUST_USE bn_code command_debug_clear(const command_metering *own, bn_status *st);
/* MATRIX has no such paths any more. */
void command_debug_end(const command_metering *own, job_matrix *matrix, command_debug_paths *paths);
/* What a run was asked for and gave, all borrowed. */
typedef struct command_debug_run {
    const job_experiment *list; /* what was asked for */
    size_t experiments;
    res_record **records;
    size_t count;
    const job_spent *spent; /* where the time went */
    bool interrupted;       /* the user ended the run */
} command_debug_run;

/* Writes the reports of RUN into it, over those that are there, and index.html. Two of them run
 * steps of their own in workers. The page says which parts the run gave nothing for; what cannot be
 * made or written is an error. */
BN_MUST_USE bn_code command_debug_write(const command_metering *own, const command_debug_run *run,
                                        bn_status *st);

/* ---- steps of their own (debug_explain.c) ---------------------------------------------- */

/* Appends what bench explain says of the first steps of each of the COUNT experiments LIST that
 * bench traces, or why that failed; and what bench study scopes says of each step, whatever the mode.
 * Nothing where there is none, or once the user asked to stop. */
void command_debug_explain(const job_experiment *list, size_t count, bn_text *out);
void command_debug_scopes(const job_experiment *list, size_t count, bn_text *out);

#endif
