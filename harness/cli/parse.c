/*
 * parse.c - a command line, by the rows of a table, into a struct of options.
 */
#include "harness/cli/cli_priv.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ------------------------------------------------------------------------ */

/* The whole number that TEXT is, in the row's range. */
static bool is_number(const cli_option *row, const char *text, int64_t *number)
{
    char *end;
    errno = 0;
    const long long n = strtoll(text, &end, 10);
    *number = n;
    return !errno && !*end && end != text && (double)n >= row->least &&
           (row->most == 0 || (double)n <= row->most);
}

/* "from 1", "from 0 to 1000". */
static const char *range_of(const cli_option *row, char text[64])
{
    if (row->most > 0)
        snprintf(text, 64, "from %.0f to %.0f", row->least, row->most);
    else
        snprintf(text, 64, "from %.0f", row->least);
    return text;
}

static bn_code set_number(const cli_option *row, const char *value, int64_t *out, bn_status *st)
{
    if (is_number(row, value, out))
        return BN_OK;
    char range[64];
    return bn_fail(st, BN_INVALID, "--%s takes a whole number %s, not '%s'", row->name,
                   range_of(row, range), value);
}

static bn_code set_real(const cli_option *row, const char *value, double *out, bn_status *st)
{
    char *end;
    errno = 0;
    double n = strtod(value, &end);
    if (errno || *end || end == value || !isfinite(n) || n < row->least)
        return bn_fail(st, BN_INVALID, "--%s takes a number from %g, not '%s'", row->name,
                       row->least, value);
    *out = n;
    return BN_OK;
}

/* A number and one of UNITS, a letter each; NUMBER times the unit's FACTOR. */
static bn_code set_scaled(const cli_option *row, const char *value, const char *units,
                          const double *factors, const char *wanted, double *out, bn_status *st)
{
    char *end;
    errno = 0;
    const double n = strtod(value, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (errno || end == value || !isfinite(n) || n < 0 || (*end && (!unit || end[1])))
        return bn_fail(st, BN_INVALID, "--%s takes %s, not '%s'", row->name, wanted, value);
    *out = unit ? n * factors[unit - units] : n;
    return BN_OK;
}

static bn_code set_share(const cli_option *row, const char *value, double *out, bn_status *st)
{
    static const double percent[] = {0.01};
    double share;
    bn_code code = set_scaled(row, value, "%", percent, "a share, 3% or 0.03", &share, st);
    /* "3" would be 300 %. */
    if (code == BN_OK && share >= 1)
        code = bn_fail(st, BN_INVALID, "--%s takes a share below 100%%, as 3%% or 0.03, not '%s'",
                       row->name, value);
    if (code == BN_OK)
        *out = share;
    return code;
}

bool cli_span_read(const char *text, double unit_s, double *seconds)
{
    const struct {
        const char *name;
        double seconds;
    } units[] = {{"", unit_s}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
    char *end;
    errno = 0;
    const double n = strtod(text, &end);
    const bool is_good = !errno && end != text && isfinite(n) && n >= 0;
    for (size_t i = 0; is_good && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0) {
            *seconds = n * units[i].seconds;
            return true;
        }
    return false;
}

static bn_code set_span(const cli_option *row, const char *value, double *out, bn_status *st)
{
    const double unit_s = row->kind == CLI_HOURS ? 3600 : 1;
    double seconds;
    if (!cli_span_read(value, unit_s, &seconds))
        return bn_fail(st, BN_INVALID, "--%s takes a time, %s, not '%s'", row->name,
                       row->kind == CLI_HOURS ? "12h, 90m or 12 for 12 hours"
                                              : "500ms, 90s, 10m or 2h",
                       value);
    *out = seconds / unit_s;
    return BN_OK;
}

static bn_code set_size(const cli_option *row, const char *value, double *out, bn_status *st)
{
    static const double bytes[] = {0x1p10, 0x1p20, 0x1p30, 0x1p40};
    double size;
    bn_code code = set_scaled(row, value, "KMGT", bytes, "a size, 512M or 2G", &size, st);
    if (code == BN_OK && (size < row->least || size > 0x1p62))
        code = bn_fail(st, BN_INVALID, "--%s takes a size from %.0f to 4194304T bytes, not '%s'",
                       row->name, row->least, value);
    if (code == BN_OK)
        *out = floor(size);
    return code;
}

static bn_code add_pair(const cli_option *row, const char *value, const char **list, bn_status *st)
{
    size_t n = 0;
    while (list[n])
        n++;
    if (n == CLI_MAX_REPEATS)
        return bn_fail(st, BN_INVALID, "--%s can be given %d times", row->name, CLI_MAX_REPEATS);
    if (!strchr(value, '='))
        return bn_fail(st, BN_INVALID, "--%s takes NAME=VALUE, not '%s'", row->name, value);
    list[n] = value;
    return BN_OK;
}

static bn_code add_word(const cli_option *row, const char *value, bn_arena *memory,
                        cli_words *words, bn_status *st)
{
    if (words->count == CLI_MAX_PATHS)
        return bn_fail(st, BN_INVALID, "--%s can be given %d times", row->name, CLI_MAX_PATHS);
    if (!value[0] && !row->empty)
        return bn_fail(st, BN_INVALID, "--%s is empty", row->name);
    /* Doubled when the count is a power of two; the list ends with NULL. */
    if ((words->count & (words->count - 1)) == 0) {
        const size_t room = words->count ? 2 * words->count : 1;
        const char **grown = bn_arena_zalloc(memory, (room + 1) * sizeof *grown);
        if (words->count)
            memcpy(grown, words->list, words->count * sizeof *grown);
        words->list = grown;
    }
    words->list[words->count++] = value;
    return BN_OK;
}

static bn_code set_list(const cli_option *row, const char *value, bn_arena *memory, cli_list *list,
                        bn_status *st)
{
    char range[64];
    bn_code code = cli_list_parse(row->name, value, memory, list, st);
    if (code == BN_OK && row->single && row->kind == CLI_NAMES && list->count != 1)
        return bn_fail(st, BN_INVALID, "--%s takes one %s", row->name, row->name);
    for (size_t i = 0; code == BN_OK && row->kind == CLI_NUMBERS && i < list->count; i++)
        if (!is_number(row, list->value[i].word, &list->value[i].number) ||
            (row->single && list->count != 1))
            code = bn_fail(st, BN_INVALID, "--%s takes %s %s, not '%s'", row->name,
                           row->single ? "a whole number" : "whole numbers", range_of(row, range),
                           row->single ? value : list->value[i].word);
    return code;
}

bn_code cli_take(const cli_call *call, const cli_option *row, const char *value, bn_status *st)
{
    void *at = cli_member(call->options, row);
    /* Words travel to workers and into records as JSON. */
    json_t *utf8 = value ? json_string(value) : NULL;
    if (value && !utf8)
        return bn_fail(st, BN_INVALID, "--%s takes text in UTF-8", row->name);
    json_decref(utf8);
    switch (row->kind) {
    case CLI_TEXT:
        *(const char **)at = value;
        return BN_OK;
    case CLI_NUMBER:
        return set_number(row, value, at, st);
    case CLI_REAL:
        return set_real(row, value, at, st);
    case CLI_FLAG:
        *(bool *)at = true;
        return BN_OK;
    case CLI_SHARE:
        return set_share(row, value, at, st);
    case CLI_SPAN:
    case CLI_HOURS:
        return set_span(row, value, at, st);
    case CLI_SIZE:
        return set_size(row, value, at, st);
    case CLI_PAIRS:
        return add_pair(row, value, at, st);
    case CLI_WORDS:
        return add_word(row, value, call->memory, at, st);
    case CLI_NAMES:
    case CLI_NUMBERS:
        return set_list(row, value, call->memory, at, st);
    }
    return BN_OK;
}

/* ---- the command line ----------------------------------------------------------------- */

/* The option that a single letter stands for; NULL: none. */
static const char *of_letter(const char *word)
{
    static const char *const letters[][2] = {{"-h", "help"}, {"-q", "quiet"}, {"-v", "verbose"}};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (strcmp(word, letters[i][0]) == 0)
            return letters[i][1];
    return NULL;
}

/* Whether WORD is an option of the command, and so no value of the one before it. */
static bool is_option(const cli_call *call, const char *word)
{
    return strncmp(word, "--", 2) == 0 &&
           cli_find(call->table, word + 2, strcspn(word + 2, "=")) != NULL;
}

bool cli_was_given(const cli_call *call, const char *name)
{
    for (size_t i = 0; i < call->given_count; i++)
        if (strcmp(call->given[i]->name, name) == 0)
            return true;
    return false;
}

const char *cli_given(const cli_call *call, uint32_t about)
{
    for (size_t i = 0; i < call->given_count; i++)
        if (call->given[i]->about & about)
            return call->given[i]->name;
    return NULL;
}

/* Gives VALUE to ROW. Where the line has it already, a list is replaced, so that a script can end
 * with its user's options; a note says so to those who meant both. */
bn_code cli_give(cli_call *call, const cli_option *row, const char *value, bn_status *st)
{
    bn_text before = {0};
    if (cli_is_list(row) && cli_was_given(call, row->name))
        cli_list_put(cli_member(call->options, row), &before);
    const bn_code code = cli_take(call, row, value, st);
    if (code == BN_OK && before.data && strcmp(before.data, value) != 0)
        bn_text_printf(&call->replaced,
                       "%s--%s is given again, so %s replaces %s (both: --%s %s,%s)",
                       call->replaced.length ? "; " : "", row->name, value, before.data, row->name,
                       before.data, value);
    bn_text_free(&before);
    call->given[call->given_count++] = row;
    return code;
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
        return cli_give(call, row, NULL, st);
    if (equals)
        return cli_give(call, row, equals + 1, st);
    if (*i + 1 >= argc || is_option(call, argv[*i + 1]))
        return bn_fail(st, BN_INVALID, "--%s needs a value: %s", row->name, row->argument);
    return cli_give(call, row, argv[++*i], st);
}

/* A word that stands where an option is meant, and the option before it. */
typedef struct bare_word {
    const char *word;
    const cli_option *before;
} bare_word;

/* What stands behind "--", and behind the first word of a command that runs a program, is words.
 * Bare words come last: then it is known which options are given. */
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
    if (command->prepare)
        command->prepare(call->options, call->memory);
    for (size_t i = 0; i < call->table->count && code == BN_OK; i++)
        if (call->table->rows[i].fallback)
            code = cli_take(call, &call->table->rows[i], call->table->rows[i].fallback, st);
    if (code == BN_OK)
        code = cli_config_apply(call, config, st);
    if (code == BN_OK)
        code = read_arguments(call, argc, argv, st);
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
