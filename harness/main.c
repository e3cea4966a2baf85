/* main.c - bench: the commands, one row each. */
#include "harness/campaign/campaign.h"
#include "harness/commands/commands.h"
#include "harness/selftest/selftest.h"
#include "harness/verify/verify.h"
#include "harness/worker/worker.h"

#include <stdio.h>
#include <string.h>

#ifndef BENCH_VERSION
#define BENCH_VERSION "unknown"
#endif

typedef struct command_row {
    const char *name, *usage, *summary;
    unsigned bit;
    const char *what; /* the word after the command, or NULL */
} command_row;

static const command_row commands[] = {
    {"run", "bench [run] [OPTIONS]",
     "run models in modes on runtimes, write a record of each, print the tables", CLI_CMD_RUN, NULL},
    {"table", "bench table [--store DIR] [--table NAME]",
     "tables of a folder of records: speedups, executions, ledgers, compilation, memory",
     CLI_CMD_TABLE, NULL},
    {"verify", "bench verify [OPTIONS]",
     "compare outputs, losses, gradients, parameters and statistics with PyTorch's values",
     CLI_CMD_VERIFY, NULL},
    {"list", "bench list models|modes|runtimes|ops", "what there is", CLI_CMD_LIST,
     "models|modes|runtimes|ops"},
    {"selftest", "bench selftest accuracy|statistics|host-cost",
     "is a device of known truth measured rightly; are comparisons right; our own cost of a step",
     CLI_CMD_SELFTEST, "accuracy|statistics|host-cost"},
    {"replay", "bench replay resnet50|models",
     "published cases on the simulated runtime, published and replayed values side by side",
     CLI_CMD_REPLAY, "resnet50|models"},
    {"suite", "bench suite NAME|FILE [OPTIONS]",
     "run what a file lists, each once; it resumes where it stopped, and can be split",
     CLI_CMD_SUITE, "smoke|reference|nightly|FILE.json"},
    {"export-weights", "bench export-weights --model NAME --output FILE",
     "write a model's initial parameters and running statistics as a safetensors file",
     CLI_CMD_EXPORT_WEIGHTS, NULL},
    {"nightly", "bench nightly --suite FILE --store DIR --report DIR",
     "run a suite, hold it against the last good night and the history, write one page",
     CLI_CMD_NIGHTLY, NULL},
    {"export", "bench export --to FORMAT [--store DIR] [--output FILE|DIR]",
     "write the records of a folder as files that other tools open", CLI_CMD_EXPORT, NULL},
    {"import", "bench import --from pytorch-xla [--store DIR] FILE...",
     "read others' results into a folder of records, so that they stand in the same tables",
     CLI_CMD_IMPORT, "files"},
    {"compare", "bench compare --runtime A --runtime B [--suite FILE] [OPTIONS]",
     "is runtime B slower than A, by how much, and where: fresh processes in pairs, or two stores",
     CLI_CMD_COMPARE, NULL},
    {"plot", "bench plot ledger|speedup|overhead|steps|distribution --output FILE.svg",
     "a picture of a folder of records, as SVG, PNG or gnuplot's script", CLI_CMD_PLOT,
     "ledger|speedup|overhead|steps|distribution"},
    {"report", "bench report --output FILE.html",
     "one page of a folder of records that needs nothing else: summary, tables, plots, provenance",
     CLI_CMD_REPORT, NULL},
    {"history", "bench history [--store DIR] [--model NAME] [--output FILE.svg]",
     "series over nights: where their level changed, and which builds were there", CLI_CMD_HISTORY,
     NULL},
};

/* What a worker process can be asked for. */
static const worker_job jobs[] = {
    {"measure", worker_job_measure},
    {"verify", verify_job},
    {"selftest", selftest_job},
    {NULL, NULL},
};

#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static const char exit_codes[] =
    "Exit codes: 0 all went well; 1 an experiment failed, verify or selftest did not pass, or a\n"
    "record of the store is damaged; 2 usage: unknown command, option, model or mode, weights\n"
    "that do not fit the model; 3 environment: no such plugin or not a plugin, store not\n"
    "writable, disk full, other file missing or damaged; 130 interrupted (records written so\n"
    "far are kept).\n";

static void print_help(const command_row *command)
{
    bn_text text = {0};
    bn_text_printf(&text, "%s\n\n%s\n\n", command->usage, command->summary);
    if (command->bit == CLI_CMD_RUN) {
        bn_text_puts(&text, "Commands (each has its own --help):\n");
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            bn_text_printf(&text, "  %s\n      %s\n", commands[i].usage, commands[i].summary);
        bn_text_puts(&text, "\nLists run all combinations, each in a process of its own.\n\n");
    }
    bn_text_puts(&text, "Options:\n");
    cli_options_help(command->bit, &text);
    bn_text_putc(&text, '\n');
    bn_text_puts(&text, command->bit == CLI_CMD_COMPARE   ? compare_help
                        : command->bit == CLI_CMD_NIGHTLY ? night_help
                                                         : exit_codes);
    fputs(text.data, stdout);
    bn_text_free(&text);
}

static void print_man(void)
{
    bn_text text = {0};
    bn_text_puts(&text, ".TH BENCH 1\n.SH NAME\nbench \\- lazy tracing against captured graphs "
                        "on PJRT runtimes, measured\n.SH SYNOPSIS\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        bn_text_printf(&text, ".B %s\n.br\n", commands[i].usage);
    bn_text_puts(&text,
                 ".SH DESCRIPTION\nRuns reference models step by step in eager, lazy and capture "
                 "mode on a runtime with the PJRT C API, accounts for the time of every step, "
                 "and keeps one HDF5 file an experiment.\n.SH COMMANDS\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        bn_text_printf(&text, ".TP\n.B %s\n%s.\n", commands[i].name, commands[i].summary);
    bn_text_puts(&text, ".SH OPTIONS\n");
    cli_options_man(&text);
    bn_text_puts(
        &text, ".SH EXIT STATUS\n.TP\n.B 0\nall went well\n.TP\n.B 1\nan experiment failed, verify "
               "or selftest did not pass, or a record of the store is damaged\n.TP\n.B 2\nusage, "
               "or weights that do not fit the model\n"
               ".TP\n.B 3\nenvironment: plugin missing or not a plugin, store not writable, "
               "disk full, other file damaged\n"
               ".TP\n.B 130\ninterrupted; records written so far are kept\n"
               ".P\n.B bench compare\nends with 0 nothing slower, 1 error, 2 slower; bench "
               "compare \\-\\-help has more, and the codes for git bisect\n"
               ".SH ENVIRONMENT\n.TP\n.B PJRT_NAMES_AND_LIBRARY_PATHS\nname:path,... of "
               "plugins\n.TP\n.B TPU_LIBRARY_PATH\nplugin of the runtime tpu\n.TP\n.B "
               "BENCH_RUNTIMES\nfolder of unpacked runtimes, searched first\n");
    fputs(text.data, stdout);
    bn_text_free(&text);
}

static const command_row *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/* WORDS: what followed the command, ended by NULL. */
static int dispatch(const command_row *command, const cli_options *o, const char *const *words)
{
    const char *what = words[0];
    switch (command->bit) {
    case CLI_CMD_TABLE:
        return command_table(o);
    case CLI_CMD_VERIFY:
        return verify_command(o);
    case CLI_CMD_LIST:
        return command_list(o, what);
    case CLI_CMD_SELFTEST:
        return selftest_command(o, what);
    case CLI_CMD_REPLAY:
        return replay_command(o, what);
    case CLI_CMD_COMPARE:
        return compare_command(o);
    case CLI_CMD_SUITE:
        return suite_command(o, what);
    case CLI_CMD_EXPORT_WEIGHTS:
        return command_export_weights(o);
    case CLI_CMD_EXPORT:
        return command_export(o);
    case CLI_CMD_IMPORT:
        return command_import(o, words);
    case CLI_CMD_PLOT:
        return command_plot(o, what);
    case CLI_CMD_REPORT:
        return command_report(o);
    case CLI_CMD_NIGHTLY:
        return night_command(o);
    case CLI_CMD_HISTORY:
        return command_history(o);
    default:
        return command_run(o);
    }
}

/* The exit code of COMMAND for an error that is CODE for most: compare and nightly say with
 * 2 that something is slower, and git bisect takes 3 for a bad commit. */
static int error_of(const command_row *command, bool bisect, int code)
{
    const bool judges = command && (command->bit & (CLI_CMD_COMPARE | CLI_CMD_NIGHTLY));
    return judges ? compare_usage(bisect) : code;
}

/* Words that COMMAND does not understand. */
static int refuse(const command_row *command, int argc, char **argv, const bn_status *st)
{
    const int code = (int)cli_complain(st);
    bool bisect = false;
    /* What was not understood may stand before it. */
    for (int i = 1; i < argc; i++)
        bisect = bisect || strcmp(argv[i], "--bisect") == 0;
    return error_of(command, bisect, code);
}

/* Output that did not reach its reader is an error like any other. */
static int finish(const command_row *command, bool bisect, int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fputs("bench: standard output could not be written\n", stderr);
    return code == CLI_EXIT_OK ? error_of(command, bisect, CLI_EXIT_ENVIRONMENT) : code;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--worker") == 0)
        return worker_main(jobs);
    const command_row *command = &commands[0];
    int first = 1, words = 0;
    if (argc > 1 && argv[1][0] != '-') {
        command = find_command(argv[1]);
        first = 2;
    }
    bn_status st = {.code = BN_OK};
    cli_options options;
    const char *word[CLI_MAX_PATHS + 1] = {NULL};
    if (!command) {
        bn_fail(&st, BN_INVALID, "there is no command %s; see bench --help", argv[1]);
        return refuse(command, argc, argv, &st);
    }
    const int most = command->bit == CLI_CMD_IMPORT ? CLI_MAX_PATHS : 1;
    if (cli_options_parse(command->bit, argc - first, argv + first, &options, word, most, &words,
                         &st) != BN_OK)
        return refuse(command, argc, argv, &st);
    if (options.help) {
        print_help(command);
        return finish(command, false, CLI_EXIT_OK);
    }
    if (options.man || options.version) {
        if (options.man)
            print_man();
        else
            puts("bench " BENCH_VERSION);
        return finish(command, false, CLI_EXIT_OK);
    }
    if ((words > 0) != (command->what != NULL)) {
        if (command->what)
            bn_fail(&st, BN_INVALID, "bench %s needs a word: %s", command->name, command->what);
        else
            bn_fail(&st, BN_INVALID, "'%s' is one word too many; see --help", word[0]);
        return refuse(command, argc, argv, &st);
    }
    res_store_begin();
    return finish(command, options.bisect, dispatch(command, &options, word));
}
