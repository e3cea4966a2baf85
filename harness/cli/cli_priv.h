/*
 * cli_priv.h - shared by the files of this folder: rows, reading a command line and a file of
 * defaults, printing.
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
/* Sets the member of ROW in CALL's options to VALUE, which is not copied; NULL: a flag. (values.c)
 */
BN_MUST_USE bn_code cli_set_member(const cli_call *call, const cli_option *row, const char *value,
                                   bn_status *st);

/* Sets CALL's options to the defaults that CONFIG, which may be NULL, has for all commands, then to
 * those for CALL's. Options that can be repeated have none. (config.c) */
BN_MUST_USE bn_code cli_config_apply(const cli_call *call, const cli_config *config, bn_status *st);

/* cli_set_member for an option on the command line, which counts as given. (values.c) */
BN_MUST_USE bn_code cli_give_option(cli_call *call, const cli_option *row, const char *value,
                                    bn_status *st);
/* The literal second words of COMMAND, "models, ops" of "models|ops"; empty: none. (rows.c) */
bn_text cli_second_words(const cli_command *command);

/* The number of words in NAME, one or two, if ARGV, of ARGC words, begins with them; else 0. */
int cli_begins_with(const char *name, int argc, char *const *argv);
/* PROGRAM's command whose name ARGV, of ARGC words, begins with, and the number of its words into
 * WORDS; NULL: none. (rows.c) */
const cli_command *cli_command_of(const cli_program *program, int argc, char *const *argv,
                                  int *words);

/* BN_INVALID: the command has no option NAME of LENGTH letters, written behind HYPHENS; suggests
 * another. (guess.c) */
bn_code cli_refuse_option(const cli_call *call, const char *hyphens, const char *name,
                          size_t length, bn_status *st);
/* WORD has no option name; BEFORE, or NULL, is the option before it. Gives it to the command's bare
 * option, or refuses it with a suggestion. To be called once all options were read. */
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
/* Columns of the terminal that STREAM is; 0: it is none, or does not report them. (line.c) */
size_t cli_columns(FILE *stream);
/* Whether --quiet was given. (line.c) */
bool cli_quiet(void);

#endif
