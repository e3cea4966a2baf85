/*
 * program.c - a program's commands: which one a line names, its help, the manual, running it.
 */
#include "harness/cli/cli_priv.h"

#include <stdio.h>
#include <string.h>

static const char exit_codes[] =
    "Exit codes: 0 all went well; 1 an experiment failed, verify or selftest did not pass, or a\n"
    "record of the store is damaged; 2 usage: unknown command, option, model or mode, weights\n"
    "that do not fit the model; 3 environment: no such plugin or not a plugin, store not\n"
    "writable, disk full, other file missing or damaged; 130 interrupted (records written so\n"
    "far are kept).\n";

/* ---- old spellings ------------------------------------------------------------------------- */

/* Where ARGV begins with an old spelling, behind the program's name: warns, and returns the same
 * line in the new one, in MEMORY; else ARGV. */
static char **renewed(const cli_program *program, int *argc, char **argv, bn_arena *memory)
{
    for (const cli_old *old = program->old; old && old->words; old++) {
        const int words = cli_begins_with(old->words, *argc - 1, argv + 1);
        if (words == 0)
            continue;
        char **line = bn_arena_zalloc(memory, ((size_t)*argc + 3) * sizeof *line);
        int count = 0;
        line[count++] = argv[0];
        for (char *word = strtok(bn_arena_strdup(memory, old->instead), " "); word;
             word = strtok(NULL, " "))
            line[count++] = word;
        for (int i = 1 + words; i < *argc; i++) {
            const size_t length = old->from ? strlen(old->from) : 0;
            line[count] = argv[i];
            if (length && strncmp(argv[i], old->from, length) == 0 &&
                (argv[i][length] == '=' || !argv[i][length])) {
                bn_text option = {0};
                bn_text_printf(&option, "%s%s", old->to, argv[i] + length);
                line[count] = bn_arena_strdup(memory, option.data);
                bn_text_free(&option);
            }
            count++;
        }
        cli_say("bench: '%s' is now '%s'%s%s; the old spelling goes with the next version",
                old->words, old->instead, old->from ? ", with " : "", old->from ? old->to : "");
        *argc = count;
        return line;
    }
    return argv;
}

/* ---- help and manual -------------------------------------------------------------------- */

/* The commands in their sections, a line each. */
static void put_commands(const cli_program *program, bn_text *out)
{
    for (const cli_command *const *one = program->commands; *one; one++) {
        bool said = false;
        for (const cli_command *const *before = program->commands; before < one; before++)
            said = said || ((*before)->section && (*one)->section &&
                            strcmp((*before)->section, (*one)->section) == 0);
        if (said || !(*one)->section)
            continue;
        bn_text_printf(out, "\n%s:\n", (*one)->section);
        for (const cli_command *const *row = one; *row; row++)
            if ((*row)->section && strcmp((*row)->section, (*one)->section) == 0)
                bn_text_printf(out, "  %-11s %s\n", (*row)->name, (*row)->summary);
    }
}

static void print_first_help(const cli_program *program)
{
    bn_text text = {0};
    bn_text_printf(&text, "bench: %s\n\nusage: bench COMMAND [OPTIONS]; without COMMAND: %s\n",
                   program->title, program->commands[0]->name);
    put_commands(program, &text);
    bn_text_printf(&text, "\n'bench COMMAND --help' lists the options of a command; 'bench --man' "
                          "prints all.\n\n%s",
                   exit_codes);
    cli_show_help(text.data);
    bn_text_free(&text);
}

static void print_help(const cli_command *command)
{
    bn_text text = {0};
    bn_text_printf(&text, "%s\n\n%s\n\nOptions:\n", command->usage, command->summary);
    cli_help(cli_rows(command), &text);
    bn_text_printf(&text, "\n%s", command->help ? command->help : exit_codes);
    cli_show_help(text.data);
    bn_text_free(&text);
}

static void print_man(const cli_program *program)
{
    bn_text text = {0};
    bn_text_printf(&text, ".TH BENCH 1\n.SH NAME\nbench \\- %s\n.SH SYNOPSIS\n", program->title);
    for (const cli_command *const *one = program->commands; *one; one++)
        bn_text_printf(&text, ".B %s\n.br\n", (*one)->usage);
    bn_text_printf(&text, ".SH DESCRIPTION\n%s\n.SH COMMANDS\n", program->about);
    for (const cli_command *const *one = program->commands; *one; one++)
        bn_text_printf(&text, ".TP\n.B %s\n%s.\n", (*one)->name, (*one)->summary);
    for (const cli_command *const *one = program->commands; *one; one++) {
        bn_text_printf(&text, "%s.SS bench %s\n",
                       one == program->commands ? ".SH OPTIONS\n" : "", (*one)->name);
        cli_man(cli_rows(*one), &text);
    }
    if (program->manual)
        program->manual(&text);
    cli_text(&text);
}

/* ---- running --------------------------------------------------------------------------- */

/* The exit code of COMMAND, NULL for none, for an error whose usual code is CODE. Compare and
 * nightly have others: to them 2 means slower, and git bisect takes 3 for a bad commit. */
static int error_code(const cli_command *command, int argc, char **argv, int code)
{
    return command && command->refused ? command->refused(argc, argv) : code;
}

/* Says what is wrong with COMMAND's words; returns the exit code. */
static int refuse(const cli_command *command, int argc, char **argv, const bn_status *st)
{
    return error_code(command, argc, argv, (int)cli_complain(st));
}

/* Ends COMMAND, which gave CODE: output that cannot be written is an error, too. */
static int finish(const cli_command *command, int argc, char **argv, int code)
{
    if (cli_flush())
        return code;
    cli_say("bench: standard output could not be written");
    return code == CLI_EXIT_OK ? error_code(command, argc, argv, CLI_EXIT_ENVIRONMENT) : code;
}

/* bench help [COMMAND]: WORDS, of which there are COUNT, follow the word help. */
static int help(const cli_program *program, int count, char **words, int argc, char **argv)
{
    bn_status st = {.code = BN_OK};
    int named = 0;
    const cli_command *command = cli_command_of(program, count, words, &named);
    if (count > 0 && !command && strcmp(words[0], "help") != 0) {
        cli_refuse_command(program, words[0], &st);
        return refuse(NULL, argc, argv, &st);
    }
    if (count > 0 && !command)
        named = 1;
    if (count > named) {
        bn_fail(&st, BN_INVALID, "'%s' is one word too many: bench help takes one command",
                words[named]);
        return refuse(NULL, argc, argv, &st);
    }
    if (command)
        print_help(command);
    else
        print_first_help(program);
    return finish(command, argc, argv, CLI_EXIT_OK);
}

/* Reads the options of CALL's command, from the file of defaults and from ARGV. Help and version
 * are to be had whatever is wrong with the file. */
static bn_code read_line(cli_call *call, int argc, char **argv, bn_status *st)
{
    const cli_program *program = call->program;
    cli_config config;
    bn_code code = cli_config_read(program, &config, st);
    if (code == BN_OK)
        code = cli_read(call, &config, argc, argv, st);
    json_decref(config.options);
    if (code == BN_OK)
        return BN_OK;
    bn_status again = {.code = BN_OK};
    cli_call other = *call;
    other.options = bn_arena_zalloc(call->memory, call->command->size);
    other.given_count = 0;
    other.word_count = 0;
    other.replaced = (bn_text){0};
    const cli_output *output =
        (const cli_output *)(const void *)((char *)other.options + call->command->output);
    const bool read = cli_read(&other, NULL, argc, argv, &again) == BN_OK;
    bn_text_free(&other.replaced);
    if (!read || !(output->help || output->man || output->version))
        return code;
    memcpy(call->options, other.options, call->command->size);
    return BN_OK;
}

/* Runs CALL's command, whose words follow in LINE. NAMED: the line names it. */
static int run_command(cli_call *call, bool named, int count, char **line, int argc, char **argv)
{
    const cli_command *command = call->command;
    bn_status st = {.code = BN_OK};
    const cli_output *output =
        (const cli_output *)(const void *)((char *)call->options + command->output);
    if (read_line(call, count, line, &st) != BN_OK)
        return refuse(command, argc, argv, &st);
    if (output->help || output->man || output->version) {
        if (output->version)
            cli_tell("bench %s", call->program->version);
        else if (output->man)
            print_man(call->program);
        else if (named)
            print_help(command);
        else
            print_first_help(call->program);
        return finish(command, argc, argv, CLI_EXIT_OK);
    }
    if (command->words && !command->optional && call->word_count == 0) {
        bn_fail(&st, BN_INVALID, "bench %s needs an argument: %s", command->name, command->words);
        return refuse(command, argc, argv, &st);
    }
    cli_be_quiet(output->quiet);
    if (call->replaced.length)
        cli_note("bench: %s", call->replaced.data);
    if (call->program->begin)
        call->program->begin();
    return finish(command, argc, argv, command->run(call->options, call));
}

int cli_main(const cli_program *program, int argc, char **argv)
{
    bn_arena *memory = bn_arena_new(4096);
    char **line = renewed(program, &argc, argv, memory);
    const char *word = argc > 1 ? line[1] : "-";
    /* As help, --help and -h may stand before the command. */
    const bool asks = strcmp(word, "help") == 0 ||
                      ((strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) && argc == 3 &&
                       line[2][0] != '-');
    cli_call call = {.program = program, .command = program->commands[0], .memory = memory};
    bn_status st = {.code = BN_OK};
    int named = 0, code;
    if (!asks && word[0] != '-')
        call.command = cli_command_of(program, argc - 1, line + 1, &named);
    if (asks) {
        code = help(program, argc - 2, line + 2, argc, line);
    } else if (!call.command) {
        cli_refuse_command(program, word, &st);
        code = refuse(NULL, argc, line, &st);
    } else {
        call.options = bn_arena_zalloc(memory, call.command->size);
        code = run_command(&call, named > 0, argc - 1 - named, line + 1 + named, argc, line);
    }
    bn_text_free(&call.replaced);
    bn_arena_free(memory);
    return code;
}
