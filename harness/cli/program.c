/*
 * program.c - a program's command line: old spellings, help and manual, running a command.
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

/* The old spelling that the ARGC words ARGV begin with; NULL: none. */
static const cli_old *old_spelling(const cli_program *program, int argc, char *const *argv)
{
    for (const cli_old *old = program->old; old && old->words; old++)
        if (cli_begins_with(old->words, argc, argv))
            return old;
    return NULL;
}

/* "--OPTION", with the REST of the word behind it, in MEMORY. */
static char *option_word(const char *option, const char *rest, bn_arena *memory)
{
    bn_text text = {0};
    bn_text_printf(&text, "--%s%s", option, rest);
    char *word = bn_arena_strdup(memory, text.data);
    bn_text_free(&text);
    return word;
}

/* The line ARGV, of *ARGC words, of which those from AT on begin with the spelling OLD, in the
 * present spelling, in MEMORY. Warns. */
static char **translate_old(const cli_program *program, const cli_old *old, int *argc, char **argv,
                            int at, bn_arena *memory)
{
    char **line = bn_arena_zalloc(memory, ((size_t)*argc + 6) * sizeof *line);
    int count = 0, named = 0;
    for (; count < at; count++)
        line[count] = argv[count];
    for (char *word = strtok(bn_arena_strdup(memory, old->instead), " "); word;
         word = strtok(NULL, " "))
        line[count++] = word;
    const cli_command *command = cli_command_of(program, count - at, line + at, &named);
    bool wanted = old->first != NULL, value = false;
    for (int i = at + cli_begins_with(old->words, *argc - at, argv + at); i < *argc; i++) {
        const char *word = argv[i];
        const size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
        const cli_option *row = length ? cli_find(cli_rows(command), word + 2, length) : NULL;
        if (wanted && !value && word[0] != '-') {
            line[count++] = option_word(old->first, "", memory);
            wanted = false;
        }
        const bool renamed = length && old->from && strlen(old->from) == length &&
                             strncmp(word + 2, old->from, length) == 0;
        line[count++] = renamed ? option_word(old->to, word + 2 + length, memory) : argv[i];
        value = row && row->kind != CLI_FLAG && !word[2 + length];
        wanted = wanted && strcmp(word, "-h") != 0 &&
                 !(row && (strcmp(row->name, "help") == 0 || strcmp(row->name, "version") == 0));
    }
    /* Without its word the command would be another one. */
    if (wanted && at == 1)
        line[count++] = option_word(old->first, "", memory);
    cli_say("bench: '%s' is now '%s%s%s'%s%s; the next version removes the old spelling",
            old->words, old->instead, old->first ? " --" : "", old->first ? old->first : "",
            old->to ? ", with --" : "", old->to ? old->to : "");
    *argc = count;
    return line;
}

/* ---- help and manual -------------------------------------------------------------------- */

/* COMMAND's words, "graphs|batch", and the second halves of names that begin with its own. */
static void put_needed(const cli_program *program, const cli_command *command, bn_text *out)
{
    const size_t length = strlen(command->name);
    bn_text_puts(out, command->words);
    for (const cli_command *const *one = program->commands; *one; one++)
        if (strncmp((*one)->name, command->name, length) == 0 && (*one)->name[length] == ' ')
            bn_text_printf(out, "|%s", (*one)->name + length + 1);
}

static bool is_in_section(const cli_command *command, const char *section)
{
    return command->section && section && strcmp(command->section, section) == 0;
}

static const char about_help[] = "print this list; help COMMAND: the options of one";

/* The commands in their sections, a line each. A section stands where its first command does. */
static void put_commands(const cli_program *program, bn_text *out)
{
    for (const cli_command *const *first = program->commands; *first; first++) {
        const char *section = (*first)->section;
        bool listed = !section;
        for (const cli_command *const *one = program->commands; one < first; one++)
            listed = listed || is_in_section(*one, section);
        if (listed)
            continue;
        bn_text_printf(out, "\n%s:\n", section);
        for (const cli_command *const *one = first; *one; one++)
            if (is_in_section(*one, section))
                bn_text_printf(out, "  %-11s %s\n", (*one)->name, (*one)->summary);
        if (is_in_section(*first, CLI_SECTION_HELP))
            bn_text_printf(out, "  %-11s %s\n", "help", about_help);
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
    bn_text_printf(&text, ".TP\n.B help\n%s.\n", about_help);
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
 * nightly have codes of their own: their 2 means slower, and git bisect takes 3 for a bad commit.
 */
static int error_code(const cli_command *command, int argc, char **argv, int code)
{
    return command && command->refused ? command->refused(argc, argv) : code;
}

/* Reports ST, an error in COMMAND's words; returns the exit code. */
static int refuse(const cli_command *command, int argc, char **argv, const bn_status *st)
{
    return error_code(command, argc, argv, (int)cli_complain(st));
}

/* The exit code of COMMAND, which returned CODE: output that cannot be written is an error, too. */
static int finish(const cli_command *command, int argc, char **argv, int code)
{
    if (cli_flush())
        return code;
    cli_say("bench: cannot write to standard output");
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

/* Reads the options of CALL's command, from the file of defaults and from ARGV. After a failure
 * ARGV is read once more without the file, since help and version must work with any file. */
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

/* Runs CALL's command with the COUNT words of LINE behind its name; NAMED: it was written. ARGV is
 * the whole line. */
static int run_command(cli_call *call, bool named, int count, char **line, int argc, char **argv)
{
    const cli_command *command = call->command;
    bn_status st = {.code = BN_OK};
    const cli_output *output =
        (const cli_output *)(const void *)((char *)call->options + command->output);
    bn_out_of_memory_exits(error_code(command, argc, argv, CLI_EXIT_ENVIRONMENT));
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
        bn_text needed = {0};
        put_needed(call->program, command, &needed);
        bn_fail(&st, BN_INVALID, "bench %s needs an argument: %s", command->name, needed.data);
        bn_text_free(&needed);
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
    const char *word = argc > 1 ? argv[1] : "-"; /* options only: the first command */
    /* --help COMMAND is the same as help COMMAND. */
    const bool asks_for_help =
        strcmp(word, "help") == 0 || ((strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) &&
                                      argc == 3 && argv[2][0] != '-');
    const int at = asks_for_help ? 2 : 1;
    const cli_old *old = argc > at ? old_spelling(program, argc - at, argv + at) : NULL;
    char **line = old ? translate_old(program, old, &argc, argv, at, memory) : argv;
    word = argc > 1 ? line[1] : "-";
    cli_call call = {
        .program = program, .command = program->commands[0], .old = old, .memory = memory};
    bn_status st = {.code = BN_OK};
    int named = 0, code;
    if (!asks_for_help && word[0] != '-')
        call.command = cli_command_of(program, argc - 1, line + 1, &named);
    if (asks_for_help) {
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
