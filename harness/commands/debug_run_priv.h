/*
 * debug_run_priv.h - the folder of bench run --debug-run: every report of one run, and a page that
 * leads through them.
 */
#ifndef BENCH_HARNESS_DEBUG_RUN_H
#define BENCH_HARNESS_DEBUG_RUN_H

#include "harness/commands/commands.h"

/* The graphs' folder in that of a debug run. */
#define COMMAND_DEBUG_GRAPHS "graphs"

/* Has MATRIX write its graphs into the folder that OWN names, unless it names none: their path goes
 * to GRAPHS, which outlives MATRIX. Whoever makes that makes the folder. BN_INVALID where there is
 * something in the folder already, unless FORCE, or where MATRIX has a graph report of its own. */
BN_MUST_USE bn_code command_debug_begin(const command_metering *own, bool force, job_matrix *matrix,
                                        bn_text *graphs, bn_status *st);
/* Writes the reports of the COUNT records into it, over those that are there, and index.html. SPENT
 * says where the time went; INTERRUPTED: the user ended the run. A report that cannot be made is
 * left out, and the page says why; what cannot be written is an error. */
BN_MUST_USE bn_code command_debug_write(const command_metering *own, res_record **records,
                                        size_t count, const job_spent *spent, bool interrupted,
                                        bn_status *st);

#endif
