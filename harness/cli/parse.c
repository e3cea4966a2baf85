/*
 * parse.c - a command line, by the rows of its command, into a struct of options.
 */
#include "harness/cli/cli_priv.h"

#include <ctype.h>
#include <string.h>

/* The option that a single letter stands for; NULL: none. */
static const char *of_letter(const char *word)
{
    static const char *const letters[][2] = {{"-h", "help"}, {"-q", "quiet"}, {"-v", "verbose"}};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (strcmp(word, letters[i][0]) == 0)
            return letters[i][1];
    return NULL;
}

/* Whether WORD is an option of the command, so not the value of the option before it. */
static bool is_option(const cli_call *call, const char *word)
{
    return strncmp(word, "--", 2) == 0 &&
           cli_find(call->table, word + 2, strcspn(word + 2, "=")) != NULL;
}

/* Reads the option at ARGV[*I], and its value, which may be the next word. */
static bn_code read_option(cli_call *call, int argc, char **argv, int *i, bn_status *st)
{
    const char *letter = of_letter(argv[*i]), *name = letter ? letter : argv[*i] + 2;
    const char *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const cli_option *row = cli_find(call->table, name, length);
    if (!row)
        return cli_refuse_option(call, "--", name, length, st);
    if (row->kind == CLI_FLAG && equals)
        return bn_fail(st, BN_INVALID, "--%s takes no value", row->name);
    if (row->kind == CLI_FLAG)
        return cli_give_option(call, row, NULL, st);
    if (equals)
        return cli_give_option(call, row, equals + 1, st);
    if (*i + 1 >= argc || is_option(call, argv[*i + 1]))
        return bn_fail(st, BN_INVALID, "--%s needs a value: %s", row->name, row->argument);
    return cli_give_option(call, row, argv[++*i], st);
}

/* A word without an option name, and the option before it. */
typedef struct bare_word {
    const char *word;
    const cli_option *before;
} bare_word;

/* After "--", and after the first word of a command that runs a program, there are words only. Bare
 * words are accepted last, since that depends on the options given. */
static bn_code read_arguments(cli_call *call, int argc, char **argv, bn_status *st)
{
    bare_word *bare = bn_arena_alloc(call->memory, ((size_t)argc + 1) * sizeof *bare);
    size_t bare_count = 0;
    bn_code code = BN_OK;
    bool words_only = false;
    for (int i = 0; i < argc && code == BN_OK; i++) {
        const char *word = argv[i];
        const bool hyphens = strncmp(word, "--", 2) == 0;
        if (!words_only && hyphens && !word[2]) {
            words_only = true;
        } else if (!words_only && (hyphens || of_letter(word))) {
            code = read_option(call, argc, argv, &i, st);
        } else if (!words_only && word[0] == '-' && isalpha((unsigned char)word[1])) {
            code = cli_refuse_option(call, "-", word + 1, strcspn(word + 1, "="), st);
        } else if (call->word_count < call->command->most_words) {
            call->words[call->word_count++] = word;
            words_only = words_only || call->command->rest;
        } else {
            bare[bare_count++] = (bare_word){
                word, call->given_count ? call->given[call->given_count - 1] : NULL};
        }
    }
    for (size_t i = 0; i < bare_count && code == BN_OK; i++)
        code = cli_accept_bare(call, bare[i].word, bare[i].before, st);
    return code;
}

bn_code cli_read(cli_call *call, const cli_config *config, int argc, char **argv, bn_status *st)
{
    const cli_command *command = call->command;
    const size_t most_given = (size_t)argc + 1, most_words = (size_t)command->most_words;
    bn_code code = BN_OK;
    call->table = cli_rows(command);
    call->given = bn_arena_zalloc(call->memory, most_given * sizeof *call->given);
    call->words = bn_arena_zalloc(call->memory, (most_words + 1) * sizeof *call->words);
    void *part = command->part ? (char *)call->options + command->part_at : NULL;
    if (part)
        command->part->prepare(part, call->memory);
    for (size_t i = 0; i < call->table->count && code == BN_OK; i++)
        if (call->table->rows[i].fallback)
            code = cli_set_member(call, &call->table->rows[i], call->table->rows[i].fallback, st);
    if (code == BN_OK)
        code = cli_config_apply(call, config, st);
    if (code == BN_OK)
        code = read_arguments(call, argc, argv, st);
    if (code == BN_OK && part)
        code = command->part->check(part, call, st);
    if (code == BN_OK && command->check)
        code = command->check(call->options, call, st);
    return code;
}

bn_code cli_read_alone(const cli_command *command, int argc, char **argv, void *options,
                       bn_arena *memory, cli_call *call, bn_status *st)
{
    static const cli_command *commands[2];
    static const cli_program alone = {.commands = commands};
    *call = (cli_call){
        .program = &alone, .command = command, .options = options, .memory = memory};
    memset(options, 0, command->size);
    return cli_read(call, NULL, argc, argv, st);
}
