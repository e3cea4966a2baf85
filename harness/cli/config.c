/*
 * config.c - a file of defaults: {"runtime": "cpu-xla", "store": "/data", "run": {"processes": 8}}.
 *
 * A default may name a plugin, which is code. So the file is the user's own, in a folder of the
 * user's, and never one that lies in the current folder.
 */
#include "harness/cli/cli_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES (1 << 20)

/* Where the file is; false where there is none to look for. *NAMED: the user said where. */
static bool place_of(char path[PATH_MAX], bool *named)
{
    const char *given = getenv("BENCH_CONFIG"), *folder = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    *named = given != NULL;
    if (given)
        return snprintf(path, PATH_MAX, "%s", given) < PATH_MAX && *given;
    if (folder && folder[0] == '/')
        return snprintf(path, PATH_MAX, "%s/bench/bench.json", folder) < PATH_MAX;
    return home && home[0] == '/' &&
           snprintf(path, PATH_MAX, "%s/.config/bench/bench.json", home) < PATH_MAX;
}

/* Nobody else may put a plugin's path into it. */
static bn_code check_owner(const struct stat *info, bn_status *st)
{
    if (info->st_uid != geteuid() && info->st_uid != 0)
        return bn_fail(st, BN_INVALID, "it belongs to another user");
    if (info->st_mode & (S_IWGRP | S_IWOTH))
        return bn_fail(st, BN_INVALID, "others may write it: chmod go-w");
    return BN_OK;
}

static bn_code read_file(const char *path, json_t **config, bn_status *st)
{
    struct stat info;
    char *text = NULL;
    size_t size = 0;
    int fd = -1;
    bn_code code = bn_regular_open(path, &fd, &size, st);
    if (code == BN_OK && fstat(fd, &info) != 0)
        code = bn_fail_errno(st, errno, "%s", path);
    if (code == BN_OK)
        code = check_owner(&info, st);
    if (code == BN_OK && size > MOST_BYTES)
        code = bn_fail(st, BN_INVALID, "it is larger than %d bytes", MOST_BYTES);
    if (code == BN_OK)
        code = bn_regular_all(fd, path, size, &text, st);
    if (fd >= 0)
        close(fd);
    if (code == BN_OK && bn_json_depth(text, size) > BN_JSON_DEPTH)
        code = bn_fail(st, BN_FORMAT, "brackets within brackets, too deep");
    json_error_t error = {.text = ""};
    *config = code == BN_OK ? json_loadb(text, size, JSON_REJECT_DUPLICATES, &error) : NULL;
    if (code == BN_OK && !json_is_object(*config)) {
        json_decref(*config);
        *config = NULL;
        code = bn_fail(st, BN_FORMAT, "line %d: it is no JSON object: %s", error.line, error.text);
    }
    free(text);
    return code;
}

/* An object holds the options of a command. */
static bn_code check_commands(json_t *config, const char *const *commands, bn_status *st)
{
    const char *name;
    json_t *value;
    json_object_foreach(config, name, value)
    {
        bn_near near = bn_near_begin(name);
        size_t i = 0;
        if (!json_is_object(value))
            continue;
        for (; commands[i] && strcmp(commands[i], name) != 0; i++)
            bn_near_try(&near, commands[i]);
        if (!commands[i])
            return bn_fail_meant(st, BN_INVALID,
                                 (bn_meant){bn_near_best(&near), "See", "bench --help"},
                                 "\"%s\": there is no command %s", name, name);
    }
    return BN_OK;
}

/* ST, of CONFIG's file. */
static bn_code fail_in(const cli_config *config, bn_status *st)
{
    return bn_context(st, "the file of defaults, %s", config->path);
}

bn_code cli_config_read(const char *const *commands, cli_config *config, bn_status *st)
{
    bool named;
    *config = (cli_config){0};
    if (!place_of(config->path, &named) || (!named && access(config->path, F_OK) != 0))
        return BN_OK;
    bn_code code = read_file(config->path, &config->options, st);
    if (code == BN_OK)
        code = check_commands(config->options, commands, st);
    if (code == BN_OK)
        return BN_OK;
    json_decref(config->options);
    config->options = NULL;
    return fail_in(config, st);
}

/* VALUE as one would write it on the command line; NULL where it has no such form. */
static const char *word_of(const json_t *value, bn_arena *memory)
{
    char number[64];
    if (json_is_string(value))
        return bn_arena_strdup(memory, json_string_value(value));
    if (json_is_integer(value))
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(number, sizeof number, "%.17g", json_real_value(value));
    else
        return NULL;
    return bn_arena_strdup(memory, number);
}

static bool is_repeated(const cli_option *row)
{
    return row->kind == CLI_PAIRS || row->kind == CLI_WORDS;
}

static bn_code apply_one(const cli_call *call, const char *name, const json_t *value, bn_status *st)
{
    bool anywhere = false;
    const cli_option *row = cli_row(call, name, strlen(name), &anywhere);
    if (!row)
        return cli_refuse(call, "--", name, strlen(name), anywhere, st);
    if (is_repeated(row))
        return bn_fail(st, BN_INVALID, "--%s can be repeated, and has no default", name);
    if (row->kind == CLI_FLAG && json_is_boolean(value))
        return json_is_true(value) ? cli_take(call, row, NULL, st) : BN_OK;
    const char *word = row->kind == CLI_FLAG ? NULL : word_of(value, call->memory);
    if (!word)
        return bn_fail(st, BN_INVALID, "\"%s\" wants %s", name,
                       row->kind == CLI_FLAG ? "true or false" : "a text or a number");
    return cli_take(call, row, word, st);
}

/* Whether another command's row of OWN's name has VALUE, which OWN has not. */
static bool is_of_others(const cli_table *table, const cli_option *own, const json_t *value)
{
    const char *word = json_is_string(value) ? json_string_value(value) : "";
    if (!own->takes || bn_is_choice(word, own->takes))
        return false;
    for (size_t i = 0; i < table->count; i++) {
        const cli_option *row = &table->rows[i];
        if (strcmp(row->name, own->name) == 0 && row->takes && bn_is_choice(word, row->takes))
            return true;
    }
    return false;
}

/* NAME stands for all commands: it is skipped where this one cannot have it, means something else
 * by it or has no such value, but not where none can have it. */
static bn_code apply_common(const cli_call *call, const char *name, const json_t *value,
                            bn_status *st)
{
    const cli_call any = {.table = call->table, .command = UINT32_MAX};
    const size_t length = strlen(name);
    bool anywhere = false;
    const cli_option *first = cli_row(&any, name, length, &anywhere);
    const cli_option *own = cli_row(call, name, length, &anywhere);
    if (!first || is_repeated(first))
        return apply_one(&any, name, value, st);
    const bool meant =
        own && !own->apart && !is_repeated(own) && !is_of_others(call->table, own, value);
    return meant ? apply_one(call, name, value, st) : BN_OK;
}

bn_code cli_config_apply(const cli_call *call, const cli_config *config, const char *name,
                         bn_status *st)
{
    const char *option;
    json_t *value;
    bn_code code = BN_OK;
    if (!config)
        return BN_OK;
    json_object_foreach(config->options, option, value)
    {
        if (code == BN_OK && !json_is_object(value))
            code = apply_common(call, option, value, st);
    }
    json_object_foreach(json_object_get(config->options, name), option, value)
    {
        if (code == BN_OK && apply_one(call, option, value, st) != BN_OK)
            code = bn_context(st, "\"%s\"", name);
    }
    return code == BN_OK ? BN_OK : fail_in(config, st);
}
