/* selftest_priv.h - the selftests, rows of selftest_command.c. */
#ifndef BENCH_HARNESS_SELFTEST_PRIV_H
#define BENCH_HARNESS_SELFTEST_PRIV_H

#include "harness/selftest/selftest.h"

#include <sys/types.h>

/* Each prints its table and returns the exit code. */
int selftest_accuracy(const selftest_options *options);
int selftest_coverage_command(const selftest_options *options);
int selftest_host_cost(const selftest_options *options);
int selftest_statistics(const selftest_options *options);
int selftest_timeline_cost(const selftest_options *options);

/* ---- folders and loads (place.c) ------------------------------------------------- */

#define SELFTEST_FOLDER 96
/* Makes an empty folder for the selftest NAME where temporary files go. BN_IO, BN_INVALID. */
BN_MUST_USE bn_code selftest_folder_make(const char *name, char path[SELFTEST_FOLDER],
                                         bn_status *st);
/* Removes it and all that is in it. */
void selftest_folder_remove(const char *path);

/* Processes that keep cores busy. They end with bench at the latest. */
typedef struct selftest_load {
    pid_t pids[SELFTEST_MOST_LOAD];
    size_t count;
} selftest_load;
/* Starts COUNT of them, at most SELFTEST_MOST_LOAD; none is left where one cannot be started. */
BN_MUST_USE bn_code selftest_load_begin(selftest_load *load, size_t count, bn_status *st);
void selftest_load_end(selftest_load *load);

#endif
