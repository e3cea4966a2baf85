/*
 * cli.h - the command line: exit codes, messages, options. Prefix cli_.
 */
#ifndef BENCH_HARNESS_CLI_H
#define BENCH_HARNESS_CLI_H

#include <jansson.h>

#include "runtime/base/base.h"

/* ---- exit codes (documented in --help and the man page) ------------------- */

typedef enum cli_exit {
    CLI_EXIT_OK = 0,
    CLI_EXIT_FAILED = 1,      /* an experiment failed, verify or selftest did not pass */
    CLI_EXIT_USAGE = 2,       /* unknown command, option, model, mode, ... */
    CLI_EXIT_ENVIRONMENT = 3, /* no such plugin, not a plugin, store not writable, disk full */
    CLI_EXIT_INTERRUPTED = 130
} cli_exit;

/* The exit code for a failure of CODE. */
cli_exit cli_exit_for(bn_code code);
/* "bench: MESSAGE" on standard error; returns the exit code for ST's code. */
cli_exit cli_complain(const bn_status *st);

/* ---- the progress line (line.c) --------------------------------------------- */

/* Whether standard error is a terminal. */
bool cli_terminal(void);
/* Shows TEXT in place of the line that is shown; cuts it, in place, to the terminal's width. */
void cli_line_show(char *text);
/* Takes the line back, so that other output can be written. */
void cli_line_clear(void);

/* ---- values (list.c) -------------------------------------------------------- */

#define CLI_MAX_REPEATS 32   /* of an option NAME=VALUE */
#define CLI_MAX_PATHS   4096 /* files given by repeating one option */
#define CLI_MAX_ITEMS   64   /* of a list with commas */
#define CLI_ITEM_BYTES  256

/* One of a list's values: as it was written (NULL: it was not), and of a number what it is. */
typedef struct cli_value {
    const char *word;
    int64_t number;
} cli_value;

typedef struct cli_list {
    size_t count;
    cli_value value[CLI_MAX_ITEMS];
} cli_list;

/* What an option was given, each time; LIST ends with NULL and is NULL for none. */
typedef struct cli_words {
    size_t count;
    const char **list;
} cli_words;

/* "a,b,c", of --OPTION, into LIST; the words lie in MEMORY. */
BN_MUST_USE bn_code cli_list_parse(const char *option, const char *text, bn_arena *memory,
                                   cli_list *list, bn_status *st);
/* LIST is the one value WORD. */
void cli_list_set(cli_list *list, const char *word);
/* The values with commas between. */
void cli_list_put(const cli_list *list, bn_text *out);
/* Whether LIST has WORD. */
bool cli_list_has(const cli_list *list, const char *word);

/* ---- options (options.c): rows, and what is read off them --------------------- */

typedef enum cli_kind {
    CLI_TEXT,    /* const char * */
    CLI_NUMBER,  /* int64_t */
    CLI_REAL,    /* double */
    CLI_SHARE,   /* double: "3%" or "0.03" */
    CLI_SPAN,    /* double, seconds: "90s", "10m", "2h" */
    CLI_FLAG,    /* bool */
    CLI_PAIRS,   /* const char *[CLI_MAX_REPEATS + 1]: NAME=VALUE, each time one; ends with NULL */
    CLI_WORDS,   /* cli_words: any text, each time one */
    CLI_NAMES,   /* cli_list, of words */
    CLI_NUMBERS, /* cli_list, of whole numbers */
} cli_kind;

/* An option. Several rows may have one name, for different commands. */
typedef struct cli_option {
    const char *name, *argument;
    cli_kind kind;
    size_t offset;        /* in the struct of options */
    const char *fallback; /* the value where it is not given; NULL: zero */
    uint32_t commands;    /* that take it, as bits */
    double least, most;   /* of numbers; MOST 0: no limit */
    const char *text;     /* for --help */
    bool single;          /* of CLI_NAMES and CLI_NUMBERS: takes one value */
    bool marked;          /* cli_call.marked tells the first of these that was given */
} cli_option;

typedef struct cli_table {
    const cli_option *rows;
    size_t count;
} cli_table;

/* A command line on its way into a struct of options. */
typedef struct cli_call {
    const cli_table *table;
    uint32_t command; /* one bit */
    void *options;    /* zero; filled with defaults, then with what was given */
    bn_arena *memory; /* of lists; outlives the options */
    const char **words;
    int most_words, word_count; /* of what is no option */
    const char *marked;         /* the first marked option that was given, or NULL */
} cli_call;

/* Defaults, the command's own last, then ARGV. BN_INVALID for what the command does not take. */
BN_MUST_USE bn_code cli_parse(cli_call *call, int argc, char **argv, bn_status *st);
/* The options that COMMAND takes, as help text; all of them as roff. */
void cli_help(const cli_table *table, uint32_t command, bn_text *out);
void cli_man(const cli_table *table, bn_text *out);
/* {"model": "resnet50", ...}: the options of COMMAND as they stand in OPTIONS (new reference). */
json_t *cli_echo(const cli_table *table, uint32_t command, const void *options);

/* What most commands are told of their output. */
typedef struct cli_output {
    const char *format; /* text, md, csv, json, latex, html */
    bool verbose;
} cli_output;

#endif
