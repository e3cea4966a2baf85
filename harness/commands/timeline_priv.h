/* timeline_priv.h - the timeline of a run, for bench run --timeline. */
#ifndef BENCH_COMMANDS_TIMELINE_PRIV_H
#define BENCH_COMMANDS_TIMELINE_PRIV_H

#include "harness/jobs/jobs.h"

/* If MATRIX has a file for a timeline, makes *FOLDER (malloc), where workers leave theirs, and
 * names it in the COUNT experiments LIST; else *FOLDER is NULL. LIST's store exists. To be ended
 * also after a failure, once LIST is not used any more. */
BN_MUST_USE bn_code command_timeline_begin(const job_matrix *matrix, job_experiment *list,
                                           size_t count, char **folder, bn_status *st);
/* Writes the workers' timelines in FOLDER (NULL: nothing) to MATRIX' file, and notes behind PREFIX
 * how much of the run it has. */
BN_MUST_USE bn_code command_timeline_write(const job_matrix *matrix, const char *folder,
                                           const char *prefix, bn_status *st);
void command_timeline_end(char *folder); /* NULL allowed */

#endif
