/*
 * campaign.h - what runs many experiments: suites, comparisons of two runtimes, nights.
 * Each command returns its exit code. Prefixes suite_, compare_, night_.
 */
#ifndef BENCH_HARNESS_CAMPAIGN_H
#define BENCH_HARNESS_CAMPAIGN_H

#include "harness/cli/cli.h"

int suite_command(const cli_options *options, const char *what);
int compare_command(const cli_options *options);
int night_command(const cli_options *options);
/* Exit codes and examples of bench compare, for its --help. */
extern const char compare_help[];
extern const char night_help[]; /* its exit codes */
/* The exit code of bench compare (and nightly) for words it does not understand: its 2 means
 * slower. */
int compare_usage(bool bisect);

#endif
