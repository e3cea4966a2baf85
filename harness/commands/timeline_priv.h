/* timeline_priv.h - the timeline of a run, for bench run --timeline. */
#ifndef BENCH_COMMANDS_TIMELINE_PRIV_H
#define BENCH_COMMANDS_TIMELINE_PRIV_H

#include "harness/jobs/jobs.h"

/* Makes *FOLDER (malloc), where workers leave their timelines, and tells the COUNT experiments LIST
 * of it, if MATRIX has a file for them; else it is NULL. LIST's store is there. To be ended also
 * after a failure, when nothing looks at LIST any more. */
BN_MUST_USE bn_code command_timeline_begin(const job_matrix *matrix, job_experiment *list,
                                           size_t count, char **folder, bn_status *st);
/* Writes what workers left in FOLDER (NULL: nothing) to MATRIX' file, and notes what is in it,
 * behind PREFIX. */
BN_MUST_USE bn_code command_timeline_write(const job_matrix *matrix, const char *folder,
                                           const char *prefix, bn_status *st);
void command_timeline_end(char *folder); /* NULL allowed */

#endif
