/*
 * config.c - a file of defaults: {"runtime": "cpu-xla", "store": "/data", "run": {"processes": 8}}.
 *
 * A default may name a plugin, which is code. So only a file that nobody else can write is read,
 * and none is looked for in the current folder.
 */
#include "harness/cli/cli_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES (1 << 20)

/* The path of the file; false: there is none to look for. *NAMED: BENCH_CONFIG has it. */
static bool config_path(char path[PATH_MAX], bool *named)
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

static bn_code read_file(const char *path, json_t **config, bn_status *st)
{
    struct stat info;
    char *text = NULL;
    size_t size = 0;
    int fd = -1;
    bn_code code = bn_regular_open(path, &fd, &size, st);
    if (code == BN_OK && fstat(fd, &info) != 0)
        code = bn_fail_errno(st, errno, "%s", path);
    if (code == BN_OK && info.st_uid != geteuid() && info.st_uid != 0)
        code = bn_fail(st, BN_INVALID, "it belongs to another user");
    if (code == BN_OK && (info.st_mode & (S_IWGRP | S_IWOTH)))
        code = bn_fail(st, BN_INVALID, "others may write it: chmod go-w");
    if (code == BN_OK && size > MOST_BYTES)
        code = bn_fail(st, BN_INVALID, "it is larger than %d bytes", MOST_BYTES);
    if (code == BN_OK)
        code = bn_regular_all(fd, path, size, &text, st);
    if (fd >= 0)
        close(fd);
    if (code == BN_OK && bn_json_depth(text, size) > BN_JSON_DEPTH)
        code = bn_fail(st, BN_FORMAT, "brackets are nested deeper than %d", BN_JSON_DEPTH);
    json_error_t error = {.text = ""};
    *config = code == BN_OK ? json_loadb(text, size, JSON_REJECT_DUPLICATES, &error) : NULL;
    if (code == BN_OK && !json_is_object(*config)) {
        json_decref(*config);
        *config = NULL;
        code = error.text[0] ? bn_fail(st, BN_FORMAT, "line %d: %s", error.line, error.text)
                             : bn_fail(st, BN_FORMAT, "it is JSON, but not an object");
    }
    free(text);
    return code;
}

/* Whether the object called NAME is of the lines that are spelled OLD: "graph" is of "graph diff",
 * too. */
static bool is_of_old(const cli_old *old, const char *name)
{
    const size_t first = strcspn(old->words, " ");
    return strcmp(old->words, name) == 0 ||
           (strlen(name) == first && strncmp(old->words, name, first) == 0);
}

/* Whether an object may be called NAME: as a command, or as one was called. */
static bool is_command(const cli_program *program, const char *name)
{
    bool is_one = false;
    for (const cli_command *const *one = program->commands; *one; one++)
        is_one = is_one || strcmp((*one)->name, name) == 0;
    for (const cli_old *old = program->old; old && old->words; old++)
        is_one = is_one || is_of_old(old, name);
    return is_one;
}

static bn_code check_commands(json_t *config, const cli_program *program, bn_status *st)
{
    const char *name;
    json_t *value;
    json_object_foreach(config, name, value)
    {
        if (json_is_object(value) && !is_command(program, name)) {
            bn_near near = bn_near_begin(name);
            for (const cli_command *const *one = program->commands; *one; one++)
                bn_near_try(&near, (*one)->name);
            return bn_fail_meant(st, BN_INVALID,
                                 (bn_meant){bn_near_best(&near), "See", "bench --help"},
                                 "\"%s\": there is no command %s", name, name);
        }
    }
    return BN_OK;
}

/* ST, of CONFIG's file. */
static bn_code fail_in(const cli_config *config, bn_status *st)
{
    return bn_context(st, "the file of defaults, %s", config->path);
}

bn_code cli_config_read(const cli_program *program, cli_config *config, bn_status *st)
{
    bool named;
    *config = (cli_config){0};
    if (!config_path(config->path, &named) || (!named && access(config->path, F_OK) != 0))
        return BN_OK;
    bn_code code = read_file(config->path, &config->options, st);
    if (code == BN_OK)
        code = check_commands(config->options, program, st);
    if (code == BN_OK)
        return BN_OK;
    json_decref(config->options);
    config->options = NULL;
    return fail_in(config, st);
}

/* VALUE as on the command line; NULL: it has no such form. */
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

/* Gives the option called NAME of CALL's command the VALUE. */
static bn_code apply_one(const cli_call *call, const char *name, const json_t *value, bn_status *st)
{
    const cli_option *row = cli_find(call->table, name, strlen(name));
    if (!row)
        return cli_refuse_option(call, "--", name, strlen(name), st);
    if (is_repeated(row))
        return bn_fail(st, BN_INVALID, "--%s can be repeated, so it takes no default", name);
    if (row->kind == CLI_FLAG && json_is_boolean(value))
        return json_is_true(value) ? cli_set_member(call, row, NULL, st) : BN_OK;
    const char *word = row->kind == CLI_FLAG ? NULL : word_of(value, call->memory);
    if (!word)
        return bn_fail(st, BN_INVALID, "\"%s\" takes %s", name,
                       row->kind == CLI_FLAG ? "true or false" : "a text or a number");
    return cli_set_member(call, row, word, st);
}

/* A default for all commands. It is skipped if this command does not have the option, has another
 * one of that name, or takes other values; an option that no command has is an error. Whether it
 * can be repeated is decided by the first command that has it. */
static bn_code apply_common(const cli_call *call, const char *name, const json_t *value,
                            bn_status *st)
{
    const cli_option *own = cli_find(call->table, name, strlen(name)), *first = NULL;
    const char *word = json_is_string(value) ? json_string_value(value) : "";
    bool of_others = false;
    for (const cli_command *const *one = call->program->commands; *one; one++) {
        const cli_option *row = cli_find(cli_rows(*one), name, strlen(name));
        first = first ? first : row;
        of_others = of_others || (row && row->choices && bn_is_choice(word, row->choices));
    }
    if (!first)
        return cli_refuse_option(call, "--", name, strlen(name), st);
    if (is_repeated(first))
        return bn_fail(st, BN_INVALID, "--%s can be repeated, so it takes no default", name);
    const bool misfits =
        own && own->choices && !own->open && of_others && !bn_is_choice(word, own->choices);
    return own && !own->apart && !is_repeated(own) && !misfits ? apply_one(call, name, value, st)
                                                               : BN_OK;
}

bn_code cli_config_apply(const cli_call *call, const cli_config *config, bn_status *st)
{
    const char *name;
    json_t *value;
    bn_code code = BN_OK;
    if (!config)
        return BN_OK;
    json_object_foreach(config->options, name, value)
    {
        if (code == BN_OK && !json_is_object(value))
            code = apply_common(call, name, value, st);
    }
    json_object_foreach(config->options, name, value)
    {
        const char *option;
        json_t *one;
        const bool meant = call->old ? is_of_old(call->old, name)
                                     : strcmp(name, call->command->name) == 0;
        if (!json_is_object(value) || !meant)
            continue;
        json_object_foreach(value, option, one)
        {
            const bool renamed =
                call->old && call->old->from && strcmp(call->old->from, option) == 0;
            if (code == BN_OK &&
                apply_one(call, renamed ? call->old->to : option, one, st) != BN_OK)
                code = bn_context(st, "\"%s\"", name);
        }
    }
    return code == BN_OK ? BN_OK : fail_in(config, st);
}
