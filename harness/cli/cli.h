/*
 * cli.h - the command line: exit codes, messages, the progress line, rows of options. It knows
 * no command and no experiment. Prefix cli_.
 */
#ifndef BENCH_HARNESS_CLI_H
#define BENCH_HARNESS_CLI_H

#include <jansson.h>
#include <limits.h>

#include "runtime/base/base.h"

/* ---- exit codes and messages (exit.c) ------------------------------------------ */

/* As --help, the manual page and docs/exit-codes.md list them. compare and nightly have their
 * own (compare_priv.h). A greater code is a worse end. */
typedef enum cli_exit {
    CLI_EXIT_OK = 0,
    CLI_EXIT_FAILED = 1,      /* an experiment failed, verify or selftest did not pass */
    CLI_EXIT_USAGE = 2,       /* unknown command, option, model, mode, ... */
    CLI_EXIT_ENVIRONMENT = 3, /* no such plugin, not a plugin, store not writable, disk full */
    CLI_EXIT_INTERRUPTED = 130
} cli_exit;

/* The exit code for a failure of CODE. */
cli_exit cli_exit_for(bn_code code);
/* Prints "bench: MESSAGE" on standard error; returns the exit code for ST's code. */
cli_exit cli_complain(const bn_status *st);
/* The same for the experiment called TITLE: "bench: TITLE: MESSAGE". Never CLI_EXIT_USAGE: the
 * words of the command were in order, so a request that a worker refuses is a failed experiment. */
cli_exit cli_complain_of(const char *title, const bn_status *st);

/* ---- the progress line (line.c) -------------------------------------------------- */

/* Leaves out the progress line and all notes from now on; warnings and errors stay. */
void cli_be_quiet(bool quiet);
/* Whether standard error is a terminal; whether standard output is one. */
bool cli_terminal(void);
bool cli_out_terminal(void);
/* Columns of the terminal that standard output is; 0: it is none, or says none. */
size_t cli_out_columns(void);
/* Shows TEXT, as bn_plain, in place of the line that is shown, cut to the terminal's width. */
void cli_line_show(const char *text);
/* Takes the line back. To be called before anything else is written to the terminal. */
void cli_line_clear(void);

/* ---- printing (print.c) ------------------------------------------------------------ */

/* All text is shown as bn_plain, since names and messages in it may come from outside. */
/* To standard output: a page, whose ends of lines stay. */
void cli_out(const char *format, ...) BN_PRINTF(1, 2);
/* The same with TEXT, which it frees. */
void cli_text(bn_text *text);
/* To standard output: a line; its end is added. On a terminal one that is wider than it goes on in
 * further lines, so that words stay whole; else there is one line. */
void cli_tell(const char *format, ...) BN_PRINTF(1, 2);
/* The same two to standard error; each line of the page is broken as a line is. */
void cli_err(const char *format, ...) BN_PRINTF(1, 2);
void cli_say(const char *format, ...) BN_PRINTF(1, 2);
/* A line to standard error that tells how a run goes: --quiet leaves it out. */
void cli_note(const char *format, ...) BN_PRINTF(1, 2);
/* The same with a command in it: on terminals, too, it stays one line, which can be copied. */
void cli_note_command(const char *format, ...) BN_PRINTF(1, 2);
/* Two such lines before the first of OF jobs: what they are, and behind "Ctrl-C " what happens
 * then, STOPPED. */
void cli_note_plan(size_t of, const char *stopped, const char *format, ...) BN_PRINTF(3, 4);
/* The same for a job that has ended, "JOB: WORDREST"; on a terminal WORD is green, or red where it
 * is not GOOD. */
void cli_note_end(const char *job, bool good, const char *word, const char *rest);
/* PAGE to standard output, as cli_out; on a terminal where cli_is_long says so, through the pager.
 * That is BENCH_PAGER, else PAGER, else less; empty or cat: none. (pager.c) */
void cli_show(const char *page);
/* The same with TEXT, which it frees; nothing of a text that failed. */
void cli_show_text(bn_text *text);
/* The same with a page of help: on a terminal that is narrower than it, paragraphs and the texts of
 * options keep to its width. */
void cli_show_help(const char *page);
/* Whether standard output is a terminal with a pager, and PAGE longer than its screen. */
bool cli_is_long(const char *page);
/* VALUE to standard output, in ASCII. */
void cli_json(const json_t *value);
/* BYTES as they are to standard output: files in the format of another tool, which has its own
 * escapes. */
void cli_bytes(const bn_text *bytes);
/* Whether all that was printed to standard output has arrived. */
BN_MUST_USE bool cli_flush(void);

/* The bytes of a character that was cut between two pieces of a stream; zero at first. */
typedef struct cli_rest {
    char bytes[4];
    size_t count;
} cli_rest;
/* LENGTH BYTES of what another program prints, a piece after the other, to standard error as
 * cli_err; LENGTH 0 ends the stream. */
void cli_pass(cli_rest *rest, const char *bytes, size_t length);

/* ---- values (list.c) -------------------------------------------------------------- */

#define CLI_MAX_REPEATS 32   /* of an option NAME=VALUE */
#define CLI_MAX_PATHS   4096 /* files given by repeating one option */
#define CLI_MAX_ITEMS   64   /* of a list with commas */
#define CLI_ITEM_BYTES  256  /* of an item, its terminating zero included */

/* A value of a list. */
typedef struct cli_value {
    const char *word; /* as it was written; NULL: the program set NUMBER itself */
    int64_t number;   /* of lists of numbers */
} cli_value;

typedef struct cli_list {
    size_t count;
    cli_value value[CLI_MAX_ITEMS];
} cli_list;

/* All that a repeated option was given; LIST ends with NULL, and is NULL where COUNT is 0. */
typedef struct cli_words {
    size_t count;
    const char **list;
} cli_words;

/* Splits TEXT, "a,b,c", into words of LIST; numbers are not read. The words lie in MEMORY.
 * BN_INVALID names OPTION. */
BN_MUST_USE bn_code cli_list_parse(const char *option, const char *text, bn_arena *memory,
                                   cli_list *list, bn_status *st);
/* Makes WORD, which is not copied, the one value of LIST. */
void cli_list_set(cli_list *list, const char *word);
/* Appends the values with commas between. */
void cli_list_put(const cli_list *list, bn_text *out);
/* Whether WORD is one of LIST's words. */
bool cli_list_has(const cli_list *list, const char *word);

/* Reads TEXT, "500ms", "90s", "10m" or "2h", into SECONDS; a number alone is of UNIT_S seconds.
 * False for anything else. (parse.c) */
bool cli_span_read(const char *text, double unit_s, double *seconds);

/* ---- rows of options -------------------------------------------------------------- */

/* What an option takes, and the type of the member that holds it. */
typedef enum cli_kind {
    CLI_TEXT,    /* const char * */
    CLI_NUMBER,  /* int64_t */
    CLI_REAL,    /* double */
    CLI_SHARE,   /* double below 1: "3%" or "0.03" */
    CLI_SPAN,    /* double, seconds: "90", "500ms", "90s", "10m", "2h" */
    CLI_HOURS,   /* double, hours: the same, but a number alone is hours */
    CLI_SIZE,    /* double, whole bytes: "512M", "2G", each unit 1024 of the one before */
    CLI_FLAG,    /* bool: takes no value */
    CLI_PAIRS,   /* const char *[CLI_MAX_REPEATS + 1]: repeated NAME=VALUE; ends with NULL */
    CLI_WORDS,   /* cli_words: repeated, any text that is not empty */
    CLI_NAMES,   /* cli_list, of words */
    CLI_NUMBERS, /* cli_list, of whole numbers */
} cli_kind;

/* An option. Several rows may share a name if no command takes two of them. */
typedef struct cli_option {
    const char *name;     /* without its two hyphens */
    const char *argument; /* its value in --help; NULL: a flag */
    cli_kind kind;
    size_t offset;        /* of its member in the struct of options */
    const char *fallback; /* the value where it is not given, as one would write it; NULL: zero */
    uint32_t commands;    /* the commands that take it, a bit each */
    double least, most;   /* of numbers; MOST, of whole numbers only, 0: no limit */
    const char *text;     /* for --help */
    bool single;          /* of CLI_NAMES and CLI_NUMBERS: takes one value */
    bool marked;          /* cli_call.marked names the first of these that was given */
    bool modelled;        /* cli_call.modelled does likewise: it says something of a model */
    bool programmed;      /* and cli_call.programmed: it says something of --program */
    bool paired;          /* and cli_call.paired: it says how pairs of processes are run */
    bool empty;           /* CLI_WORDS takes an empty word, too */
    bool apart;           /* what a file of defaults says for all commands is not meant for it */
    const char *takes;    /* "a, b": all values that it has, for such defaults; NULL: others, too */
    uint32_t recorded;    /* and cli_call.recorded: where it says something of a recording only */
} cli_option;

typedef struct cli_table {
    const cli_option *rows;
    size_t count;
} cli_table;

/* ---- reading a command line (parse.c) ----------------------------------------------- */

/* An option that a word which stands alone may be meant for. */
typedef struct cli_lone {
    size_t next;                /* where the next guess is looked for; 0 at first */
    const char *option;         /* its name, which lasts as long as the word */
    char meant[CLI_ITEM_BYTES]; /* the value that may be meant; "": the word itself */
    bool named;                 /* the word is its name, not its value */
    bool sure;                  /* it is clear, and the option takes the word */
    const char *second;         /* why the option, which has its value, takes no other; or NULL */
} cli_lone;

/* What these functions work on. The caller fills the first half, cli_arguments the other. */
typedef struct cli_call {
    const cli_table *table;
    uint32_t command;   /* one bit */
    void *options;      /* the struct that the rows' offsets are of; all zero */
    bn_arena *memory;   /* for lists; outlives OPTIONS */
    const char **words; /* room for MOST_WORDS words that are no options */
    int most_words;
    bool rest; /* the first word, and whatever follows it, is another program's command line */
    /* Of each word beyond those: fills LONE with the next best guess; false after the last. NULL in
     * place of the function: such a word is one too many. */
    bool (*lone)(uint32_t command, const char *word, cli_lone *lone);
    /* What to do in place of giving OPTION, of LENGTH letters, to this command, which does not take
     * it: "bench scopes", or an option, "--batch"; NULL: not known. May be NULL. */
    const char *(*instead)(uint32_t command, const char *option, size_t length);
    /* Whether a word that stands alone may be meant for ROW beside the words before it; BN_INVALID
     * says why not. May be NULL. */
    bn_code (*allows)(const struct cli_call *call, const cli_option *row, bn_status *st);
    const cli_option *last;  /* the option that stands last so far */
    const cli_option *taken; /* what got its value from a word alone, the last one */
    int word_count;
    bn_text replaced; /* what lists that were given again have lost, for people; the caller frees */
    /* The first such option that was given, or NULL. */
    const char *marked, *modelled, *programmed, *paired, *recorded;
} cli_call;

/* Fills the options with the defaults of all commands, and then with the command's own. */
BN_MUST_USE bn_code cli_defaults(cli_call *call, bn_status *st);
/* The user's file of defaults. */
typedef struct cli_config {
    json_t *options;     /* its object, owned; NULL: there is no file */
    char path[PATH_MAX]; /* where it was read */
} cli_config;
/* Then with what CONFIG, NULL for nothing, says of all commands and of the one called NAME. An
 * option that can be repeated has no default there; of an option with several rows the first one
 * says whether it can. */
BN_MUST_USE bn_code cli_config_apply(const cli_call *call, const cli_config *config,
                                     const char *name, bn_status *st);
/* Then with ARGV, which starts behind the command. What stands behind "--" is words only. Strings
 * stay in ARGV and in the table. All three: BN_INVALID for whatever the command does not take; the
 * options are then filled in part. */
BN_MUST_USE bn_code cli_arguments(cli_call *call, int argc, char **argv, bn_status *st);

/* Reads into CONFIG the user's file of defaults: what BENCH_CONFIG names (empty: none), else
 * bench/bench.json in XDG_CONFIG_HOME or ~/.config. An object in it is called like one of COMMANDS,
 * which end with NULL. BN_INVALID for another one and for a file that others may write, BN_FORMAT
 * for one that is no JSON object; CONFIG's object is then NULL. (config.c) */
BN_MUST_USE bn_code cli_config_read(const char *const *commands, cli_config *config, bn_status *st);

/* ---- rows as text and JSON (help.c) -------------------------------------------------- */

/* Appends the options that COMMAND takes, as help text. */
void cli_help(const cli_table *table, uint32_t command, bn_text *out);
/* The same as roff. */
void cli_man(const cli_table *table, uint32_t command, bn_text *out);
/* {"model": "resnet50", ...}: the options of COMMAND as they stand in OPTIONS (new reference). */
json_t *cli_echo(const cli_table *table, uint32_t command, const void *options);

/* ---- completion (completion.c) -------------------------------------------------------- */

/* What a command line can hold. */
typedef struct cli_words_of {
    const cli_table *table;
    const struct cli_command {
        const char *name, *summary;
        const char *word; /* its second word, "models|ops", "DIR|models", "diff A B"; NULL: none */
        uint32_t bit;
    } * commands; /* the first is what bench alone runs */
    size_t command_count;
    /* Appends the values that ROW takes, "a, b, c", where they are few and known. */
    void (*values)(const cli_option *row, bn_text *out);
} cli_words_of;
/* Appends the script that completes bench's command lines in SHELL: bash, zsh or fish. BN_INVALID
 * for another one. */
BN_MUST_USE bn_code cli_completion(const char *shell, const cli_words_of *source, bn_text *out,
                                   bn_status *st);

/* ---- what most commands are told of their output --------------------------------------- */

typedef struct cli_output {
    const char *format; /* text, md, csv, json, latex, html, narrow; each command checks it */
    bool verbose;
    bool wide;  /* all columns, also on a terminal */
    bool quiet; /* see cli_be_quiet */
    bool force; /* files that are there are replaced */
} cli_output;
/* BN_INVALID where PATH, which OPTION names, is a file that is there already, unless OUTPUT says
 * that it is replaced, and where it is a device, a pipe or a socket. Commands that measure or
 * compile ask before they do, since what the file has cannot be made again. PATH may be NULL: the
 * option was not given. (new.c) */
BN_MUST_USE bn_code cli_check_new(const cli_output *output, const char *option, const char *path,
                                  bn_status *st);
/* Whether tables in text keep to a terminal's width: standard output is one, and the user asked for
 * neither all columns nor another format. (pager.c) */
bool cli_is_narrow(const cli_output *output);
/* The format that tables are printed in: OUTPUT's, or "narrow" where cli_is_narrow says so. */
const char *cli_format(const cli_output *output);
/* Of a page that keeps to the terminal's width, and the same with all columns, the one for
 * cli_show: WIDE where it goes through the pager, which moves sideways. WIDE may be empty. */
const bn_text *cli_page_of(const bn_text *narrow, const bn_text *wide);
/* Shows that one, unless it failed, and frees both. */
void cli_show_either(bn_text *narrow, bn_text *wide);

#endif
