/*
 * cli_priv.h - what the files of this folder share: reading a command line (parse.c) and reading a
 * file of defaults (config.c); printing (print.c) and the pager (pager.c).
 */
#ifndef BENCH_HARNESS_CLI_PRIV_H
#define BENCH_HARNESS_CLI_PRIV_H

#include "harness/cli/cli.h"

#include <stdio.h>

/* The row of the option whose name is the first LENGTH bytes of NAME, of CALL's command; NULL where
 * the command has none, and *ANYWHERE then says whether another one has. */
const cli_option *cli_row(const cli_call *call, const char *name, size_t length, bool *anywhere);
/* BN_INVALID: the command has no such option, which stood behind HYPHENS. Says what may have been
 * meant. ANYWHERE: others have it. */
bn_code cli_refuse(const cli_call *call, const char *hyphens, const char *name, size_t length,
                   bool anywhere, bn_status *st);
/* Gives ROW the VALUE, which is not copied; NULL: a flag. */
BN_MUST_USE bn_code cli_take(const cli_call *call, const cli_option *row, const char *value,
                             bn_status *st);

/* PAGE, made plain, to TO; in BOLD headings, lines that dashes underline, stand out. (print.c) */
void cli_put_page(FILE *to, const char *page, bool bold);
/* "bench: TEXT" to standard error, with "bench:" in red on a terminal. (print.c) */
void cli_put_error(const char *text);
/* Whether STREAM is a terminal that takes colours, and the user does too: NO_COLOR is unset or
 * empty (no-color.org). (line.c) */
bool cli_colours(FILE *stream);
/* Columns of the terminal that STREAM is; 0: it is none, or says none. (line.c) */
size_t cli_columns(FILE *stream);
/* Whether --quiet was given. (line.c) */
bool cli_quiet(void);

#endif
