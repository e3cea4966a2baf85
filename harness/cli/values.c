/*
 * values.c - values of options, by their rows, into a struct of options.
 */
#include "harness/cli/cli_priv.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ------------------------------------------------------------------------ */

/* Reads TEXT into *NUMBER; false where it is no whole number in the row's range. */
static bool is_number(const cli_option *row, const char *text, int64_t *number)
{
    char *end;
    errno = 0;
    const bool is_word = row->zero && strcmp(text, row->zero) == 0;
    const long long n = is_word ? 0 : strtoll(text, &end, 10);
    *number = n;
    if (is_word)
        return true;
    return !errno && !*end && end != text && (double)n >= row->least &&
           (row->most == 0 || (double)n <= row->most);
}

/* "from 1", "from 0 to 1000", "from 0 to 1000 or auto". */
static const char *range_of(const cli_option *row, char text[64])
{
    const char *word = row->zero ? row->zero : "", *or_else = row->zero ? " or " : "";
    if (row->most > 0)
        snprintf(text, 64, "from %.0f to %.0f%s%s", row->least, row->most, or_else, word);
    else
        snprintf(text, 64, "from %.0f%s%s", row->least, or_else, word);
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

bn_code cli_set_member(const cli_call *call, const cli_option *row, const char *value,
                       bn_status *st)
{
    void *at = cli_member(call->options, row);
    /* Words travel to workers and into records as JSON. */
    json_t *utf8 = value ? json_string(value) : NULL;
    if (value && !utf8)
        return bn_fail(st, BN_INVALID, "--%s takes text in UTF-8", row->name);
    json_decref(utf8);
    switch (row->kind) {
    case CLI_TEXT:
        if (row->closed && value && !bn_is_choice(value, row->choices)) {
            char option[64];
            snprintf(option, sizeof option, "--%s", row->name);
            return bn_fail_choice(st, option, value, row->choices);
        }
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

/* ---- options given ------------------------------------------------------------------------ */

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

/* A list that is given again replaces the earlier one, so that a script can append its user's
 * options; a note names both, in case both were meant. */
bn_code cli_give_option(cli_call *call, const cli_option *row, const char *value, bn_status *st)
{
    bn_text before = {0};
    if (cli_is_list(row) && cli_was_given(call, row->name))
        cli_list_put(cli_member(call->options, row), &before);
    const bn_code code = cli_set_member(call, row, value, st);
    if (code == BN_OK && before.data && strcmp(before.data, value) != 0)
        bn_text_printf(&call->replaced,
                       "%s--%s is given again, so %s replaces %s (both: --%s %s,%s)",
                       call->replaced.length ? "; " : "", row->name, value, before.data, row->name,
                       before.data, value);
    bn_text_free(&before);
    call->given[call->given_count++] = row;
    return code;
}
