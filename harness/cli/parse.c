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
        if (!grown)
            return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for options");
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
    void *at = (char *)call->options + row->offset;
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

const cli_option *cli_row(const cli_call *call, const char *name, size_t length, bool *anywhere)
{
    for (size_t i = 0; i < call->table->count; i++) {
        const cli_option *row = &call->table->rows[i];
        if (strlen(row->name) != length || strncmp(row->name, name, length) != 0)
            continue;
        *anywhere = true;
        if (row->commands & call->command)
            return row;
    }
    return NULL;
}

static void note_given(cli_call *call, const cli_option *row)
{
    if (row->marked && !call->marked)
        call->marked = row->name;
    if (row->modelled && !call->modelled)
        call->modelled = row->name;
    if (row->programmed && !call->programmed)
        call->programmed = row->name;
    if (row->paired && !call->paired)
        call->paired = row->name;
    if ((row->recorded & call->command) && !call->recorded)
        call->recorded = row->name;
}

bn_code cli_refuse(const cli_call *call, const char *hyphens, const char *name, size_t length,
                   bool anywhere, bn_status *st)
{
    const char *instead = call->instead ? call->instead(call->command, name, length) : NULL;
    bool taken = false;
    if (instead && strncmp(instead, "--", 2) == 0) {
        if (cli_row(call, instead + 2, strcspn(instead + 2, " "), &taken))
            return bn_fail_meant(st, BN_INVALID, (bn_meant){instead, "See", "--help"},
                                 "there is no option %s%.*s", hyphens, (int)length, name);
    } else if (instead) {
        return bn_fail(st, BN_INVALID, "this command does not take --%.*s; %s does that",
                       (int)length, name, instead);
    }
    if (anywhere)
        return bn_fail(st, BN_INVALID, "this command does not take --%.*s; see --help", (int)length,
                       name);
    char word[64], option[BN_NEAR_LETTERS + 2];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    bn_near near = bn_near_begin(word);
    for (size_t i = 0; i < call->table->count; i++)
        if (call->table->rows[i].commands & call->command)
            bn_near_try(&near, call->table->rows[i].name);
    const char *best = bn_near_best(&near);
    snprintf(option, sizeof option, "--%s", best ? best : "");
    return bn_fail_meant(st, BN_INVALID, (bn_meant){best ? option : NULL, "See", "--help"},
                         "there is no option %s%.*s", hyphens, (int)length, name);
}

/* Whether WORD is an option of the command, and so no value of the one before it. */
static bool is_option(const cli_call *call, const char *word)
{
    bool anywhere = false;
    return strncmp(word, "--", 2) == 0 &&
           cli_row(call, word + 2, strcspn(word + 2, "="), &anywhere) != NULL;
}

static bool was_given(const char *name, int argc, char **argv)
{
    const size_t length = strlen(name);
    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "--", 2) == 0 && strncmp(argv[i] + 2, name, length) == 0 &&
            (argv[i][2 + length] == '\0' || argv[i][2 + length] == '='))
            return true;
    return false;
}

/* Whether ROW takes several values with commas between. */
static bool is_list(const cli_option *row)
{
    return (row->kind == CLI_NAMES || row->kind == CLI_NUMBERS) && !row->single;
}

/* Gives VALUE to ROW. AGAIN: the line has it already. A list is then replaced, so that a script can
 * end with its user's options; whoever meant both is told. */
static bn_code take_value(cli_call *call, const cli_option *row, const char *value, bool again,
                          bn_status *st)
{
    bn_text before = {0};
    if (again && is_list(row))
        cli_list_put((const cli_list *)((char *)call->options + row->offset), &before);
    const bn_code code = cli_take(call, row, value, st);
    if (code == BN_OK && before.data && strcmp(before.data, value) != 0)
        bn_text_printf(&call->replaced,
                       "%s--%s is given again, so %s replaces %s (both: --%s %s,%s)",
                       call->replaced.length ? "; " : "", row->name, value, before.data, row->name,
                       before.data, value);
    bn_text_free(&before);
    return code;
}

static bn_code parse_one(cli_call *call, int argc, char **argv, int *i, bn_status *st)
{
    const char *letter = of_letter(argv[*i]), *name = letter ? letter : argv[*i] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    bool anywhere = false;
    const cli_option *row = cli_row(call, name, length, &anywhere);
    if (!row)
        return cli_refuse(call, "--", name, length, anywhere, st);
    note_given(call, row);
    call->last = row;
    if (row->kind == CLI_FLAG) {
        if (equals)
            return bn_fail(st, BN_INVALID, "--%s takes no value", row->name);
        return cli_take(call, row, NULL, st);
    }
    const bool again = was_given(row->name, *i, argv);
    if (equals)
        return take_value(call, row, equals + 1, again, st);
    if (*i + 1 >= argc || is_option(call, argv[*i + 1]))
        return bn_fail(st, BN_INVALID, "--%s needs a value: %s", row->name, row->argument);
    return take_value(call, row, argv[++*i], again, st);
}

/* Refuses WORD, which may be meant for the option ROW with VALUE, "" for none; ROW NULL: for no
 * option. */
static bn_code refuse_lone(const cli_option *row, const char *value, const char *word,
                           bn_status *st)
{
    bn_text meant = {0};
    if (row)
        bn_text_printf(&meant, "--%s%s%s", row->name, value[0] ? " " : "", value);
    bn_fail_meant(st, BN_INVALID, (bn_meant){meant.data, "See", "--help"},
                  "'%s' is one word too many", word);
    bn_text_free(&meant);
    return BN_INVALID;
}

/* Refuses WORD, which may be a further value of the list ROW; ROW NULL: nobody knows what it is. */
static bn_code refuse_further(const cli_call *call, const cli_option *row, const char *word,
                              bn_status *st)
{
    bn_text values = {0};
    if (row) {
        cli_list_put((const cli_list *)((char *)call->options + row->offset), &values);
        bn_text_printf(&values, ",%s", word);
    }
    refuse_lone(values.data ? row : NULL, values.data, word, st);
    bn_text_free(&values);
    return BN_INVALID;
}

/* Whether WORD is a command, which stands first. ST then says so. */
static bool is_command(const cli_call *call, const char *word, bn_status *st)
{
    const char *instead = call->instead ? call->instead(call->command, word, strlen(word)) : NULL;
    if (!instead || instead[0] == '-')
        return false;
    bn_fail_meant(st, BN_INVALID, (bn_meant){instead, "See", "--help"},
                  "'%s' is one word too many", word);
    return true;
}

/* The option that the command's first word is, as in bench study batch, where WORD may be its
 * numbers, which were not given; else NULL. */
static const cli_option *numbers_of(const cli_call *call, const char *word, int argc, char **argv)
{
    const char *first = call->word_count > 0 ? call->words[0] : "";
    bool anywhere = false;
    const cli_option *row = cli_row(call, first, strlen(first), &anywhere);
    const bool fits = row && row->kind == CLI_NUMBERS && isdigit((unsigned char)word[0]);
    return fits && !was_given(first, argc, argv) ? row : NULL;
}

/* Word INDEX stands where an option is meant: gives it to that, where it is clear which. */
static bn_code take_lone(cli_call *call, int argc, char **argv, int index, bn_status *st)
{
    cli_lone lone = {0};
    const char *word = argv[index];
    const cli_option *swept = numbers_of(call, word, argc, argv);
    if (swept)
        return refuse_lone(swept, word, word, st);
    if (is_command(call, word, st))
        return st->code;
    /* A number behind numbers, or another value of an option before it. */
    const cli_option *list = NULL;
    if (isdigit((unsigned char)word[0]) && call->last && call->last->kind == CLI_NUMBERS &&
        is_list(call->last))
        list = call->last;
    while (!list && call->lone && call->lone(call->command, word, &lone)) {
        bool anywhere = false;
        const cli_option *row = cli_row(call, lone.option, strlen(lone.option), &anywhere);
        if (!row)
            continue;
        const bool before = row == call->taken || was_given(lone.option, index, argv);
        if (row->kind != CLI_WORDS && before && is_list(row))
            list = row;
        if (row->kind != CLI_WORDS && (before || was_given(lone.option, argc, argv))) {
            if (lone.second)
                return bn_fail(st, BN_INVALID, "'%s' is one word too many: %s", word, lone.second);
            continue;
        }
        if (call->allows && call->allows(call, row, st) != BN_OK)
            return st->code;
        const char *value = lone.named ? "" : lone.meant[0] ? lone.meant : word;
        if (!lone.sure)
            return refuse_lone(row, value, word, st);
        call->taken = row;
        note_given(call, row);
        return cli_take(call, row, word, st);
    }
    return refuse_further(call, list, word, st);
}

bn_code cli_defaults(cli_call *call, bn_status *st)
{
    const size_t count = call->table->count;
    bn_code code = BN_OK;
    /* The command's own last: several rows may fill one member. */
    for (size_t i = 0; i < 2 * count && code == BN_OK; i++) {
        const cli_option *row = &call->table->rows[i % count];
        if (row->fallback && (i < count || (row->commands & call->command)))
            code = cli_take(call, row, row->fallback, st);
    }
    return code;
}

bn_code cli_arguments(cli_call *call, int argc, char **argv, bn_status *st)
{
    bn_code code = BN_OK;
    bool words_only = false;
    call->word_count = 0;
    call->marked = call->modelled = call->programmed = call->paired = call->recorded = NULL;
    for (int i = 0; i < argc && code == BN_OK; i++) {
        const bool hyphens = strncmp(argv[i], "--", 2) == 0;
        if (!words_only && hyphens && !argv[i][2]) {
            words_only = true;
            continue;
        }
        if (!words_only && (hyphens || of_letter(argv[i]))) {
            code = parse_one(call, argc, argv, &i, st);
            continue;
        }
        if (!words_only && argv[i][0] == '-' && isalpha((unsigned char)argv[i][1])) {
            code = cli_refuse(call, "-", argv[i] + 1, strcspn(argv[i] + 1, "="), false, st);
            continue;
        }
        words_only = words_only || call->rest;
        if (call->word_count < call->most_words)
            call->words[call->word_count++] = argv[i];
        else
            code = take_lone(call, argc, argv, i, st);
    }
    return code;
}
