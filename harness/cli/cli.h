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

/* Exit codes, as --help, the manual page and docs/exit-codes.md list them. compare and nightly have
 * their own (compare_priv.h). A greater code is a worse end. */
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
/* cli_complain for the experiment called TITLE: "bench: TITLE: MESSAGE". Never CLI_EXIT_USAGE: the
 * command line was valid, so a request that a worker refuses is a failed experiment. */
cli_exit cli_complain_of(const char *title, const bn_status *st);

/* ---- the progress line (line.c) -------------------------------------------------- */

/* Leaves out the progress line and all notes from now on; warnings and errors stay. */
void cli_be_quiet(bool quiet);
/* Whether standard error is a terminal; whether standard output is one. */
bool cli_terminal(void);
bool cli_out_terminal(void);
/* Columns of the terminal that standard output is; 0: it is none, or does not report them. */
size_t cli_out_columns(void);
/* Shows TEXT, as bn_plain, in place of the line that is shown, cut to the terminal's width. */
void cli_line_show(const char *text);
/* Takes the line back. To be called before anything else is written to the terminal. */
void cli_line_clear(void);

/* ---- printing (print.c) ------------------------------------------------------------ */

/* All text is shown as bn_plain, since names and messages in it may come from outside. */
/* To standard output: a page, whose ends of lines stay. */
void cli_out(const char *format, ...) BN_PRINTF(1, 2);
/* cli_out of TEXT, which it frees. */
void cli_text(bn_text *text);
/* To standard output: a line; its end is added. On a terminal one that is wider than it goes on in
 * further lines, so that words stay whole; else there is one line. */
void cli_tell(const char *format, ...) BN_PRINTF(1, 2);
/* To standard error: a page (cli_err), each line of which is broken as cli_tell does, and a line
 * (cli_say). */
void cli_err(const char *format, ...) BN_PRINTF(1, 2);
void cli_say(const char *format, ...) BN_PRINTF(1, 2);
/* A line to standard error about the progress of a run: --quiet leaves it out. */
void cli_note(const char *format, ...) BN_PRINTF(1, 2);
/* cli_note with a command in it: it stays one line on terminals, too, so that it can be copied. */
void cli_note_command(const char *format, ...) BN_PRINTF(1, 2);
/* Two cli_note lines before the first of OF jobs: what they are, and "Ctrl-C STOPPED", what an
 * interrupt does. */
void cli_note_plan(size_t of, const char *stopped, const char *format, ...) BN_PRINTF(3, 4);
/* cli_note of a job that has ended, "JOB: WORDREST"; on a terminal WORD is green, or red where it
 * is not GOOD. */
void cli_note_end(const char *job, bool good, const char *word, const char *rest);
/* PAGE to standard output, as cli_out; on a terminal where cli_is_long says so, through the pager.
 * That is BENCH_PAGER, else PAGER, else less; empty or cat: none. (pager.c) */
void cli_show(const char *page);
/* cli_show of TEXT, which it frees; prints nothing of a text that failed. */
void cli_show_text(bn_text *text);
/* cli_show of a page of help: its paragraphs and the texts of options are broken to the width of a
 * narrower terminal. */
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
#define CLI_MAX_ITEMS   48   /* of a list with commas */
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
 * False for anything else. (values.c) */
bool cli_span_read(const char *text, double unit_s, double *seconds);

/* ---- rows of options (rows.c) ----------------------------------------------------- */

/* The kind of an option's value, and the type of the member that holds it. */
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

typedef struct cli_option {
    const char *name;     /* without its two hyphens */
    const char *argument; /* its value in --help; NULL: a flag */
    cli_kind kind;
    size_t offset;        /* of its member in the struct of options */
    const char *fallback; /* its default, as on the command line; NULL: zero */
    double least, most;   /* of numbers; MOST, of whole numbers only, 0: no limit */
    const char *zero;     /* of CLI_NUMBERS: a word for 0; NULL: there is none */
    const char *text;     /* for --help */
    void (*more)(bn_text *out); /* appends the end of it, known as the program runs; NULL: none */
    /* Known values, "a, b", for completion and suggestions: constant, or appended to OUT as the
     * program runs. Neither: it takes any. */
    const char *choices;
    bool closed; /* of text: takes none but CHOICES, BN_INVALID when the line is read */
    void (*values)(bn_text *out);
    const char *also; /* names that other programs give it, "bs, batch-size" */
    uint32_t about;   /* its subjects, bits of the command's choice (cli_given) */
    bool open;        /* it takes other values than these, too, such as paths */
    bool single;      /* of CLI_NAMES and CLI_NUMBERS: takes one value */
    bool empty;       /* CLI_WORDS takes an empty word, too */
    bool apart;       /* a file's default for all commands does not apply to it */
} cli_option;

typedef struct cli_table {
    const cli_option *rows;
    size_t count;
} cli_table;

/* Rows that several commands share, of a struct that is a member of the command's own: those that
 * are about ABOUT, and those of the bits ROWS, in the table's order; where both are 0, all. Never
 * those of the bits WITHOUT. */
typedef struct cli_group {
    const cli_table *(*table)(void);
    size_t offset; /* of that member */
    uint32_t about;
    uint64_t rows, without;
} cli_group;

/* Appends the known values of ROW, "a, b"; nothing if it takes any. */
void cli_values(const cli_option *row, bn_text *out);

/* ---- commands (program.c) ----------------------------------------------------------- */

struct cli_call;

/* A part that structs of several commands have, with what is done for it in each. */
typedef struct cli_part {
    /* Fills what has no option, before defaults are; MEMORY outlives PART. */
    void (*prepare)(void *part, bn_arena *memory);
    /* Called when all was read, before the command's own check. */
    bn_code (*check)(void *part, const struct cli_call *call, bn_status *st);
} cli_part;

/* The section of commands that are about bench itself, beside bench help, which is no row. */
#define CLI_SECTION_HELP "Help"

/* A command with its options. Rows of its own come first in --help, and stand in place of shared
 * ones of the same name. */
#define CLI_MOST_GROUPS 8
typedef struct cli_command {
    const char *name;    /* "run", or two words, "study scopes" */
    const char *usage, *summary;
    const char *section; /* of the first help; NULL: not listed there */
    const char *also;    /* names of other programs for it, "ls, show" */
    const char *words;   /* the words that it needs, "DIR", "graphs|batch"; NULL: none */
    int most_words;      /* 0: none */
    bool optional;       /* the words can be left out */
    bool rest;           /* the words are another program's command line, options included */
    const char *bare;    /* the option whose value a word beyond these is; NULL: none */
    size_t size;         /* of its struct of options */
    size_t output;       /* offset of the cli_output in it */
    const cli_option *rows;
    size_t row_count;
    cli_group groups[CLI_MOST_GROUPS]; /* ends with a table NULL */
    /* A part of the struct that other commands have, too; NULL: none. */
    const cli_part *part;
    size_t part_at; /* its offset */
    /* Checks, after the line was read, whether options fit together. May be NULL. */
    bn_code (*check)(void *options, const struct cli_call *call, bn_status *st);
    /* Returns the exit code. */
    int (*run)(void *options, const struct cli_call *call);
    /* The exit code for usage errors and for output that cannot be written; NULL: the usual ones.
     * ARGV is the whole command line. */
    int (*refused)(int argc, char **argv);
    const char *help; /* exit codes and examples of its own; NULL: the usual exit codes */
} cli_command;

/* The rows of COMMAND, own and shared, made once. (rows.c) */
const cli_table *cli_rows(const cli_command *command);

/* An old spelling: for one version it runs the new one, with a warning. */
typedef struct cli_old {
    const char *words, *instead; /* the first one or two words, "graph diff"; "diff" */
    const char *from, *to;       /* an option that has another name now, "output"; NULL: none */
    const char *first; /* the option that the first further word is the value of now; NULL: none */
} cli_old;

/* A program's command line. The first command is run where none is named; both lists end with a
 * row of NULL. */
typedef struct cli_program {
    const char *version;
    const cli_command *const *commands;
    const cli_old *old;
    void (*begin)(void); /* called right before a command runs; may be NULL */
    /* The value of some option that other programs call WORD; NULL: none. The member may be NULL.
     */
    const char *(*synonym)(const char *word);
    const char *title, *about;    /* of the manual: "where the time ..."; a paragraph */
    void (*manual)(bn_text *out); /* appends the end of the manual, as roff */
} cli_program;

/* Reads the command line and runs its command; returns the exit code. */
int cli_main(const cli_program *program, int argc, char **argv);

/* ---- reading a command line (parse.c) ----------------------------------------------- */

/* A command line as it is read. The caller fills the first part. */
typedef struct cli_call {
    const cli_program *program;
    const cli_command *command;
    const cli_old *old; /* the spelling of the line; NULL: the present one */
    void *options;    /* the command's struct, all zero at first */
    bn_arena *memory; /* for lists; outlives OPTIONS */
    const cli_table *table; /* the command's rows, own and shared */
    const char **words;     /* the command's words; ends with NULL */
    int word_count;
    const cli_option **given; /* the rows that were given, in order */
    size_t given_count;
    bn_text replaced; /* note on lists that were given again; the caller frees it */
} cli_call;

/* The user's file of defaults. */
typedef struct cli_config {
    json_t *options;     /* its object, owned; NULL: there is no file */
    char path[PATH_MAX]; /* where it was read */
} cli_config;

/* Fills OPTIONS with the command's defaults, with those of CONFIG, which may be NULL, and from
 * ARGV, which starts behind the command; then calls the command's check. After "--" there are words
 * only. Strings stay in ARGV and in the table. BN_INVALID: something that the command does not
 * take; the options are then filled in part. REPLACED is to be freed also after a failure. */
BN_MUST_USE bn_code cli_read(cli_call *call, const cli_config *config, int argc, char **argv,
                             bn_status *st);
/* cli_read for COMMAND without a program and a file of defaults; ARGC 0: its defaults. */
BN_MUST_USE bn_code cli_read_alone(const cli_command *command, int argc, char **argv,
                                   void *options, bn_arena *memory, cli_call *call, bn_status *st);
/* The name of the first option given that is about ABOUT; NULL: none. */
const char *cli_given(const cli_call *call, uint32_t about);
/* Whether the option called NAME was given. */
bool cli_was_given(const cli_call *call, const char *name);

/* Reads the user's file of defaults into CONFIG: the one that BENCH_CONFIG names (empty: none),
 * else bench/bench.json in XDG_CONFIG_HOME or ~/.config. Objects in it are named like PROGRAM's
 * commands. BN_INVALID: another name, or a file that others may write; BN_FORMAT: not a JSON
 * object. CONFIG's object is then NULL. (config.c) */
BN_MUST_USE bn_code cli_config_read(const cli_program *program, cli_config *config, bn_status *st);

/* ---- rows as text and JSON (help.c) -------------------------------------------------- */

/* Appends the options in TABLE as help text; as roff. */
void cli_help(const cli_table *table, bn_text *out);
void cli_man(const cli_table *table, bn_text *out);
/* {"model": "resnet50", ...}: the rows of TABLE as they stand in OPTIONS (new reference). */
json_t *cli_echo(const cli_table *table, const void *options);

/* ---- options of output, which most commands have ----------------------------------------- */

typedef struct cli_output {
    const char *format; /* text, md, csv, json, latex, html, narrow; each command checks it */
    bool verbose;
    bool wide;  /* all columns, also on a terminal */
    bool quiet; /* see cli_be_quiet */
    bool force; /* existing files are replaced */
    bool help, man, version; /* print this and do nothing else */
} cli_output;
/* The rows of a cli_output, by their bits. Commands that print fewer formats, or mean something
 * else by --verbose or --force, have rows of their own. (rows.c) */
enum {
    CLI_OUT_FORMAT = 1 << 0,
    CLI_OUT_WIDE = 1 << 1,
    CLI_OUT_VERBOSE = 1 << 2,
    CLI_OUT_FORCE = 1 << 3, /* of files that cannot be made again from records */
    CLI_OUT_QUIET = 1 << 4,
    CLI_OUT_HELP = 1 << 5,
    CLI_OUT_VERSION = 1 << 6,
    CLI_OUT_MAN = 1 << 7,
    CLI_OUT_EVERY = CLI_OUT_QUIET | CLI_OUT_HELP | CLI_OUT_VERSION,
    CLI_OUT_TABLES = CLI_OUT_EVERY | CLI_OUT_FORMAT | CLI_OUT_WIDE | CLI_OUT_VERBOSE
};
const cli_table *cli_output_table(void);
/* A command's own row of --format, for the member at OFFSET. */
#define CLI_FORMAT_ROW(at, names, says)                                                            \
    {                                                                                              \
        "format", "FORMAT", CLI_TEXT, (at), .fallback = "text", .choices = (names),                \
                                            .closed = true, .text = (says)                         \
    }
/* BN_INVALID: PATH, the value of OPTION, is a device, a pipe or a socket, or an existing file and
 * OUTPUT is without --force. Commands that measure or compile check that first, since the contents
 * of such files cannot be made again. PATH may be NULL: the option was not given. (new.c) */
BN_MUST_USE bn_code cli_check_new(const cli_output *output, const char *option, const char *path,
                                  bn_status *st);
/* Whether tables in text keep to a terminal's width: standard output is one, and the user asked for
 * neither all columns nor another format. (pager.c) */
bool cli_is_narrow(const cli_output *output);
/* The format that tables are printed in: OUTPUT's, or "narrow" where cli_is_narrow says so. */
const char *cli_format(const cli_output *output);
/* Chooses the page for cli_show: NARROW, which keeps to the terminal's width, or WIDE, with all
 * columns, where it goes through the pager, which can scroll sideways. WIDE may be empty. */
const bn_text *cli_page_of(const bn_text *narrow, const bn_text *wide);
/* Shows the page that cli_page_of chooses, unless it failed, and frees both. */
void cli_show_either(bn_text *narrow, bn_text *wide);

#endif
