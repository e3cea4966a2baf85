/*
 * guess.c - words that the command does not take, and what may have been meant: words without an
 * option name, unknown options, unknown commands.
 */
#include "harness/cli/cli_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Whether LIST, "a, b", which may be NULL, has the LENGTH letters at WORD. */
static bool has_word(const char *list, const char *word, size_t length)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)length, word);
    return list && length < sizeof text && bn_is_choice(text, list);
}

/* Whether WORD is a known value of ROW, or for rows of lists a list of them. */
static bool is_value(const cli_option *row, const char *word)
{
    bn_text values = {0};
    bool all = true;
    cli_values(row, &values);
    for (const char *at = word; all && values.length && at;) {
        const size_t length = cli_is_list(row) ? strcspn(at, ",") : strlen(at);
        all = has_word(values.data, at, length);
        at = at[length] ? at + length + 1 : NULL;
    }
    all = all && values.length;
    bn_text_free(&values);
    return all;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The command that other programs call by the LENGTH letters at NAME; NULL: none. */
static const cli_command *command_also(const cli_program *program, const char *name, size_t length)
{
    for (const cli_command *const *one = program->commands; *one; one++)
        if (has_word((*one)->also, name, length))
            return *one;
    return NULL;
}

/* The command whose name is the word NAME. */
static const cli_command *command_named(const cli_program *program, const char *name)
{
    char *const line[] = {(char *)(uintptr_t)name};
    int words = 0;
    return cli_command_of(program, 1, line, &words);
}

/* "page.html" */
static bool is_file_name(const char *word)
{
    const char *dot = strrchr(word, '.');
    return dot && dot > word && isalpha((unsigned char)dot[1]) && !strchr(dot, '/');
}

/* Whether ROW, which may be NULL, can be given another value. */
static bool takes_more(const cli_call *call, const cli_option *row)
{
    return row && (row->kind == CLI_WORDS || !cli_was_given(call, row->name));
}

static const cli_option *row_named(const cli_call *call, const char *name)
{
    return name ? cli_find(call->table, name, strlen(name)) : NULL;
}

/* "--mode lazy"; "--mode lazy,capture" if lazy was given already. */
static void put_option(const cli_call *call, const cli_option *row, const char *value, bn_text *out)
{
    bn_text_printf(out, "--%s ", row->name);
    if (cli_is_list(row) && cli_was_given(call, row->name)) {
        cli_list_put(cli_member(call->options, row), out);
        bn_text_putc(out, ',');
    }
    bn_text_puts(out, value);
}

/* The one option that has the known value WORD; NULL: none or several have it, as "none". */
static const cli_option *option_of_value(const cli_call *call, const char *word)
{
    const cli_option *found = NULL, *bare = row_named(call, call->command->bare);
    if (strcmp(word, "all") == 0)
        return bare && cli_is_list(bare) ? bare : NULL;
    for (size_t i = 0; i < call->table->count && isalpha((unsigned char)word[0]); i++) {
        if (!is_value(&call->table->rows[i], word))
            continue;
        if (found)
            return NULL;
        found = &call->table->rows[i];
    }
    return found;
}

/* Into OUT: the option of CALL's command that WORD may be meant for, with its value. WORD is the
 * option's name, one of its values, a path for it, or nearly one of its values. False: none. */
static bool guess_option(const cli_call *call, const char *word, bn_text *out)
{
    const cli_option *row = row_named(call, word), *store = row_named(call, "store");
    const cli_option *runtime = row_named(call, "runtime"), *output = row_named(call, "output");
    const bool first = call->command == call->program->commands[0];
    if (row) {
        bn_text_printf(out, "--%s", row->name);
    } else if ((row = option_of_value(call, word)) && (takes_more(call, row) || cli_is_list(row))) {
        put_option(call, row, word, out);
    } else if (is_folder(word)) {
        if (takes_more(call, store))
            put_option(call, store, word, out);
        else if (output && strcmp(output->argument, "DIR") == 0 && takes_more(call, output))
            put_option(call, output, word, out);
    } else if (strchr(word, '/') && !is_file_name(bn_base_name(word))) {
        return false;
    } else if (strstr(word, ".so") && takes_more(call, runtime)) {
        put_option(call, runtime, word, out);
    } else if (is_file_name(word) && takes_more(call, output) && !first) {
        put_option(call, output, word, out);
    } else if (isalpha((unsigned char)word[0])) {
        const char *called = call->program->synonym ? call->program->synonym(word) : NULL;
        bn_near near = bn_near_begin(called ? called : word);
        for (size_t i = 0; i < call->table->count; i++) {
            bn_text values = {0};
            cli_values(&call->table->rows[i], &values);
            if (values.data)
                bn_near_choices(&near, values.data);
            bn_text_free(&values);
        }
        const char *best = bn_near_best(&near);
        row = best ? option_of_value(call, best) : NULL;
        if (row && (takes_more(call, row) || cli_is_list(row)))
            put_option(call, row, best, out);
    }
    return out->length > 0;
}

/* BN_INVALID: WORD is not expected; suggests MEANT, which it frees. */
static bn_code refuse_word(const char *word, bn_text *meant, bn_status *st)
{
    bn_fail_meant(st, BN_INVALID, (bn_meant){meant->data, "See", "--help"},
                  "'%s' is one word too many", word);
    bn_text_free(meant);
    return BN_INVALID;
}

/* Whether WORD can be a value of ROW, the command's bare option, as a path. */
static bool is_path_of(const cli_option *row, const char *word)
{
    const bool folder = is_folder(word);
    if (row->values || row->choices)
        return row->open && strchr(word, '/') && !folder;
    return folder || strchr(word, '/') != NULL;
}

bn_code cli_accept_bare(cli_call *call, const char *word, const cli_option *before, bn_status *st)
{
    const cli_option *bare = row_named(call, call->command->bare);
    const cli_option *numbers = call->word_count ? row_named(call, call->words[0]) : NULL;
    bn_text meant = {0};
    /* A number is meant for the list of numbers before it, else for the axis of a study. */
    if (before && before->kind == CLI_NUMBERS && cli_is_list(before))
        numbers = before;
    else if (numbers && (numbers->kind != CLI_NUMBERS || cli_was_given(call, numbers->name)))
        numbers = NULL;
    if (numbers && isdigit((unsigned char)word[0])) {
        put_option(call, numbers, word, &meant);
        return refuse_word(word, &meant, st);
    }
    if (call->command == call->program->commands[0] && command_named(call->program, word)) {
        bn_text_printf(&meant, "bench %s", word);
        return refuse_word(word, &meant, st);
    }
    const bool any = bare && (bare->open || (!bare->values && !bare->choices));
    if (takes_more(call, bare) && (is_value(bare, word) || (any && is_path_of(bare, word))))
        return cli_give_option(call, bare, word, st);
    if (guess_option(call, word, &meant))
        return refuse_word(word, &meant, st);
    if (takes_more(call, bare) && any)
        return cli_give_option(call, bare, word, st);
    if (bare && bare->kind == CLI_TEXT && cli_was_given(call, bare->name))
        return bn_fail(st, BN_INVALID, "'%s' is one word too many: --%s %s is given already", word,
                       bare->name, *(const char **)cli_member(call->options, bare));
    if (takes_more(call, bare))
        return bn_fail_meant(st, BN_INVALID, (bn_meant){NULL, "See", "--help"},
                             "'%s' is not a value of --%s, and a word alone is taken for one", word,
                             bare->name);
    return refuse_word(word, &meant, st);
}

/* The first commands that take the option NAME into OUT: "bench run, bench compare or others". */
static void put_takers(const cli_program *program, const char *name, size_t length, bn_text *out)
{
    const char *taker[4] = {NULL};
    size_t count = 0;
    for (const cli_command *const *one = program->commands; *one && count < 4; one++)
        if (cli_find(cli_rows(*one), name, length))
            taker[count++] = (*one)->name;
    for (size_t i = 0; i < count; i++) {
        const char *joint = i == 0 ? "" : i + 1 < count ? ", " : " or ";
        if (i < 3)
            bn_text_printf(out, "%sbench %s", joint, taker[i]);
        else
            bn_text_printf(out, "%sothers", joint);
    }
}

bn_code cli_refuse_option(const cli_call *call, const char *hyphens, const char *name,
                          size_t length, bn_status *st)
{
    const cli_program *program = call->program;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const cli_command *command = command_also(program, name, length);
    const cli_option *of_value = option_of_value(call, word);
    bn_text meant = {0}, takers = {0};
    put_takers(program, name, length, &takers);
    /* --table of bench run is bench table; --steps of bench table is not bench steps. */
    if (!command && (command = command_named(program, word)) && takers.length &&
        !cli_find(cli_rows(command), name, length))
        command = NULL;
    const cli_command *other = command != call->command ? command : NULL;
    if (cli_find(call->table, name, length)) /* behind one hyphen */
        bn_text_printf(&meant, "--%s", word);
    for (size_t i = 0; i < call->table->count && !meant.length; i++)
        if (has_word(call->table->rows[i].also, name, length))
            bn_text_printf(&meant, "--%s", call->table->rows[i].name);
    if (!meant.length && !command && !takers.length && of_value)
        put_option(call, of_value, word, &meant);
    if (!meant.length && !other && !takers.length) {
        bn_near near = bn_near_begin(word);
        for (size_t i = 0; i < call->table->count; i++)
            bn_near_try(&near, call->table->rows[i].name);
        const char *best = bn_near_best(&near);
        if (best)
            bn_text_printf(&meant, "--%s", best);
    }
    if (meant.length || (!other && !takers.length))
        bn_fail_meant(st, BN_INVALID, (bn_meant){meant.data, "See", "--help"},
                      "there is no option %s%s", hyphens, word);
    else if (other)
        bn_fail(st, BN_INVALID, "bench %s does not take --%s; bench %s does that",
                call->command->name, word, other->name);
    else
        bn_fail(st, BN_INVALID, "bench %s does not take --%s: leave it out, or give it to %s",
                call->command->name, word, takers.data);
    bn_text_free(&meant);
    bn_text_free(&takers);
    return BN_INVALID;
}

/* The first command whose bare option is a store's folder. */
static const cli_command *store_reader(const cli_program *program)
{
    for (const cli_command *const *one = program->commands; *one; one++)
        if ((*one)->bare && strcmp((*one)->bare, "store") == 0)
            return *one;
    return program->commands[0];
}

/* bn_near_try with two words, "list models". */
static void try_both(bn_near *near, const char *first, const char *second)
{
    bn_text both = {0};
    bn_text_printf(&both, "%s %s", first, second);
    bn_near_try(near, both.data);
    bn_text_free(&both);
}

/* Tries COMMAND's name with each of its literal second words. */
static void try_second_words(bn_near *near, const cli_command *command)
{
    bn_text words = cli_second_words(command);
    for (char *word = words.data ? strtok(words.data, ", ") : NULL; word; word = strtok(NULL, ", "))
        try_both(near, command->name, word);
    bn_text_free(&words);
}

/* Into OUT: the line whose second word, of today's spelling or of an old one, is nearly WORD. */
static void guess_second(const cli_program *program, const char *word, bn_text *out)
{
    bn_near near = bn_near_begin(word);
    for (const cli_old *old = program->old; old && old->words; old++)
        if (strchr(old->words, ' '))
            bn_near_try(&near, strchr(old->words, ' ') + 1);
    for (const cli_command *const *one = program->commands; *one; one++) {
        bn_text words = cli_second_words(*one);
        if (words.data)
            bn_near_choices(&near, words.data);
        bn_text_free(&words);
    }
    const char *best = bn_near_best(&near);
    for (const cli_old *old = program->old; best && old && old->words && !out->length; old++)
        if (strchr(old->words, ' ') && strcmp(strchr(old->words, ' ') + 1, best) == 0)
            bn_text_printf(out, "bench %s", old->instead);
    for (const cli_command *const *one = program->commands; best && *one; one++) {
        bn_text words = cli_second_words(*one);
        if (!out->length && words.data && bn_is_choice(best, words.data))
            bn_text_printf(out, "bench %s %s", (*one)->name, best);
        bn_text_free(&words);
    }
}

/* Into OUT: the command line that WORD, which is no command, may be meant for. WORD is another
 * program's name of a command, a command's second word, a folder of records, a value of the
 * first command's options, or nearly a second word. */
static void guess_line(const cli_program *program, const char *word, bn_text *out)
{
    const cli_command *first = program->commands[0];
    const cli_command *also = command_also(program, word, strlen(word));
    const cli_call run = {.program = program, .command = first, .table = cli_rows(first)};
    bn_text option = {0};
    const bool exact = option_of_value(&run, word) != NULL;
    if (also)
        bn_text_printf(out, "bench %s", also->name);
    for (const cli_command *const *one = program->commands; *one && !exact; one++) {
        bn_text words = cli_second_words(*one);
        if (!out->length && words.data && bn_is_choice(word, words.data))
            bn_text_printf(out, "bench %s %s", (*one)->name, word);
        bn_text_free(&words);
    }
    /* A folder that exists is read more often than added to. */
    if (!out->length && is_folder(word))
        bn_text_printf(out, "bench %s %s", store_reader(program)->name, word);
    if (!out->length && guess_option(&run, word, &option))
        bn_text_printf(out, "bench %s", option.data);
    bn_text_free(&option);
    if (!out->length)
        guess_second(program, word, out);
}

bn_code cli_refuse_command(const cli_program *program, const char *word, bn_status *st)
{
    bn_near near = bn_near_begin(word);
    bn_text line = {0};
    bn_near_try(&near, "help");
    for (const cli_command *const *one = program->commands; *one; one++)
        bn_near_try(&near, (*one)->name);
    for (const cli_command *const *one = program->commands; *one; one++)
        try_second_words(&near, *one);
    const char *best = bn_near_best(&near);
    if (!best)
        guess_line(program, word, &line);
    else if (strchr(best, ' '))
        bn_text_printf(&line, "bench %s", best);
    bn_fail_meant(st, BN_INVALID, (bn_meant){line.data ? line.data : best, "See", "bench --help"},
                  "there is no command %s", word);
    bn_text_free(&line);
    return BN_INVALID;
}
