/* selftest_priv.h - the trials, each of which is a row of selftest_command.c. */
#ifndef BENCH_HARNESS_SELFTEST_PRIV_H
#define BENCH_HARNESS_SELFTEST_PRIV_H

#include "harness/selftest/selftest.h"

int selftest_statistics(const selftest_options *options);
int selftest_accuracy(const selftest_options *options);

#endif
