/*
 * cli_priv.h - what the files of this folder share: rows, reading a command line and a file of
 * defaults; printing (print.c) and the pager (pager.c).
 */
#ifndef BENCH_HARNESS_CLI_PRIV_H
#define BENCH_HARNESS_CLI_PRIV_H

#include "harness/cli/cli.h"

#include <stdio.h>

/* Row of TABLE whose name is the first LENGTH bytes of NAME; NULL: none. */
const cli_option *cli_find(const cli_table *table, const char *name, size_t length);
/* Whether ROW takes several values with commas between. */
bool cli_is_list(const cli_option *row);
/* The member of ROW in OPTIONS. */
static inline void *cli_member(const void *options, const cli_option *row)
{
    return (char *)(uintptr_t)options + row->offset;
}
/* Gives ROW the VALUE, which is not copied; NULL: a flag. (values.c) */
BN_MUST_USE bn_code cli_take(const cli_call *call, const cli_option *row, const char *value,
                             bn_status *st);

/* Fills CALL's options with what CONFIG, NULL for nothing, says of all commands and of CALL's. An
 * option that can be repeated has no default there. (config.c) */
BN_MUST_USE bn_code cli_config_apply(const cli_call *call, const cli_config *config, bn_status *st);

/* Gives ROW the VALUE, as one option of the line. (values.c) */
BN_MUST_USE bn_code cli_give(cli_call *call, const cli_option *row, const char *value,
                             bn_status *st);
/* The second words that COMMAND takes as they stand, "models, ops" of "models|ops"; empty where
 * there is none. (rows.c) */
bn_text cli_second_words(const cli_command *command);

/* How many words ARGV, of ARGC words, begins with that are NAME, one or two; 0: it does not. */
int cli_begins_with(const char *name, int argc, char *const *argv);
/* The command that ARGV begins with, of ARGC words, and of how many, into WORDS; NULL: none of
 * PROGRAM's. (rows.c) */
const cli_command *cli_command_of(const cli_program *program, int argc, char *const *argv,
                                  int *words);

/* BN_INVALID: the command has no option NAME of LENGTH letters, which stood behind HYPHENS. Says
 * what may have been meant. (guess.c) */
bn_code cli_refuse_option(const cli_call *call, const char *hyphens, const char *name,
                          size_t length, bn_status *st);
/* WORD stands where an option is meant, behind the option BEFORE, or NULL; all options were read.
 * Gives it to the command's bare one, or refuses it with what may have been meant. */
BN_MUST_USE bn_code cli_accept_bare(cli_call *call, const char *word, const cli_option *before,
                                    bn_status *st);
/* BN_INVALID: there is no command WORD. */
bn_code cli_refuse_command(const cli_program *program, const char *word, bn_status *st);

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
