/*
 * run_priv.h - what bench run knows of the groups that it will measure, and says before it does
 * (run_plan.c).
 */
#ifndef BENCH_HARNESS_RUN_H
#define BENCH_HARNESS_RUN_H

#include "harness/jobs/jobs.h"

/* Experiments that are measured together. */
typedef struct command_group {
    job_group group;
    job_experiment *list;
    size_t count;
    bool failed[JOB_MOST_MEMBERS]; /* they are not tried again in further processes */
} command_group;

/* Workers that the COUNT GROUPS take, as far as it is known. */
size_t command_group_workers(const command_group *groups, size_t count);
/* Says what the COUNT GROUPS, of EXPERIMENTS in all, will run, for how long, where their records
 * go, and whether the machine is busy. How long is known where records of the store say how long
 * the same took on this machine, which it then reads. QUIET: says nothing, and reads nothing. */
void command_tell_plan(const command_group *groups, size_t count, size_t experiments, bool quiet);

#endif
