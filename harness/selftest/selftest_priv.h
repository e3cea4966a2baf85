/* selftest_priv.h - the selftests, rows of selftest_command.c. */
#ifndef BENCH_HARNESS_SELFTEST_PRIV_H
#define BENCH_HARNESS_SELFTEST_PRIV_H

#include "harness/selftest/selftest.h"

/* Each prints its table and returns the exit code. */
int selftest_accuracy(const selftest_options *options);
int selftest_host_cost(const selftest_options *options);
int selftest_statistics(const selftest_options *options);

#endif
