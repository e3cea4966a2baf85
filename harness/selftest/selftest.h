/*
 * selftest.h - the program on trial: bench selftest, and published cases in bench replay.
 * Prefixes selftest_, replay_.
 */
#ifndef BENCH_HARNESS_SELFTEST_H
#define BENCH_HARNESS_SELFTEST_H

#include "harness/cli/cli.h"

int selftest_command(const cli_options *options, const char *what);
int replay_command(const cli_options *options, const char *what);
/* The job "selftest" of a worker. */
BN_MUST_USE bn_code selftest_job(const json_t *request, bn_status *st);

#endif
