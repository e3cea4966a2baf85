/*
 * cli_priv.h - what reading a command line (parse.c) and reading a file of defaults (config.c)
 * share.
 */
#ifndef BENCH_HARNESS_CLI_PRIV_H
#define BENCH_HARNESS_CLI_PRIV_H

#include "harness/cli/cli.h"

/* The row of the option whose name is the first LENGTH bytes of NAME, of CALL's command; NULL where
 * the command has none, and *ANYWHERE then says whether another one has. */
const cli_option *cli_row(const cli_call *call, const char *name, size_t length, bool *anywhere);
/* Gives ROW the VALUE, which is not copied; NULL: a flag. */
BN_MUST_USE bn_code cli_take(const cli_call *call, const cli_option *row, const char *value,
                             bn_status *st);

#endif
