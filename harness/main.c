/* main.c - bench: the commands, one row each. */
#include "harness/harness.h"

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
     "run models in modes on runtimes, write a record of each, print the tables", HN_CMD_RUN, NULL},
    {"table", "bench table [--store DIR]", "the speedup table of a folder of records", HN_CMD_TABLE,
     NULL},
    {"verify", "bench verify [OPTIONS]",
     "compare outputs, losses, gradients, parameters and statistics with PyTorch's values",
     HN_CMD_VERIFY, NULL},
    {"list", "bench list models|modes|runtimes|ops", "what there is", HN_CMD_LIST,
     "models|modes|runtimes|ops"},
    {"selftest", "bench selftest accuracy|statistics|host-cost",
     "is a device of known truth measured rightly; are comparisons right; our own cost of a step",
     HN_CMD_SELFTEST, "accuracy|statistics|host-cost"},
    {"replay", "bench replay resnet50|models",
     "published cases on the simulated runtime, published and replayed values side by side",
     HN_CMD_REPLAY, "resnet50|models"},
    {"suite", "bench suite NAME|FILE [OPTIONS]",
     "run what a file lists, each once; it resumes where it stopped, and can be split",
     HN_CMD_SUITE, "smoke|reference|nightly|FILE.json"},
    {"export-weights", "bench export-weights --model NAME --output FILE",
     "write a model's initial parameters and running statistics as a safetensors file",
     HN_CMD_EXPORT_WEIGHTS, NULL},
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
    if (command->bit == HN_CMD_RUN) {
        bn_text_puts(&text, "Commands (each has its own --help):\n");
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            bn_text_printf(&text, "  %s\n      %s\n", commands[i].usage, commands[i].summary);
        bn_text_puts(&text, "\nLists run all combinations, each in a process of its own.\n\n");
    }
    bn_text_puts(&text, "Options:\n");
    hn_options_help(command->bit, &text);
    bn_text_putc(&text, '\n');
    bn_text_puts(&text, exit_codes);
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
    hn_options_man(&text);
    bn_text_puts(
        &text, ".SH EXIT STATUS\n.TP\n.B 0\nall went well\n.TP\n.B 1\nan experiment failed, verify "
               "or selftest did not pass, or a record of the store is damaged\n.TP\n.B 2\nusage, "
               "or weights that do not fit the model\n"
               ".TP\n.B 3\nenvironment: plugin missing or not a plugin, store not writable, "
               "disk full, other file damaged\n"
               ".TP\n.B 130\ninterrupted; records written so far are kept\n"
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

static int dispatch(const command_row *command, const hn_options *o, const char *what)
{
    switch (command->bit) {
    case HN_CMD_TABLE:
        return hn_command_table(o);
    case HN_CMD_VERIFY:
        return hn_command_verify(o);
    case HN_CMD_LIST:
        return hn_command_list(o, what);
    case HN_CMD_SELFTEST:
        return hn_command_selftest(o, what);
    case HN_CMD_REPLAY:
        return hn_command_replay(o, what);
    case HN_CMD_SUITE:
        return hn_command_suite(o, what);
    case HN_CMD_EXPORT_WEIGHTS:
        return hn_command_export_weights(o);
    default:
        return hn_command_run(o);
    }
}

/* Output that did not reach its reader is an error like any other. */
static int finish(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fputs("bench: standard output could not be written\n", stderr);
    return code == HN_EXIT_OK ? HN_EXIT_ENVIRONMENT : code;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--worker") == 0)
        return hn_worker_main();
    const command_row *command = &commands[0];
    int first = 1, words = 0;
    if (argc > 1 && argv[1][0] != '-') {
        command = find_command(argv[1]);
        first = 2;
    }
    bn_status st = {.code = BN_OK};
    hn_options options;
    const char *word[1] = {NULL};
    if (!command) {
        bn_fail(&st, BN_INVALID, "there is no command %s; see bench --help", argv[1]);
        return (int)hn_complain(&st);
    }
    if (hn_options_parse(command->bit, argc - first, argv + first, &options, word, 1, &words,
                         &st) != BN_OK)
        return (int)hn_complain(&st);
    if (options.help) {
        print_help(command);
        return finish(HN_EXIT_OK);
    }
    if (options.man || options.version) {
        if (options.man)
            print_man();
        else
            puts("bench " BENCH_VERSION);
        return finish(HN_EXIT_OK);
    }
    if ((words == 1) != (command->what != NULL)) {
        if (command->what)
            bn_fail(&st, BN_INVALID, "bench %s needs a word: %s", command->name, command->what);
        else
            bn_fail(&st, BN_INVALID, "'%s' is one word too many; see --help", word[0]);
        return (int)hn_complain(&st);
    }
    res_store_begin();
    return finish(dispatch(command, &options, word[0]));
}
