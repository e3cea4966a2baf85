/*
 * estimate_cache.c - results of earlier compilations. A compilation takes minutes and gives the
 * same each time, so its result is kept under all that it depends on: plugin, topology, options,
 * the environment that compilers read, text.
 *
 * An entry is {"key": ..., "result": ...}, and its name the SHA-256 of the key. The key inside
 * reveals an entry that was copied to another's name.
 */
#include "harness/estimate/estimate_priv.h"
#include "runtime/pjrt/pjrt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION "bench-estimate 3\n" /* changes with the results of estimate_job.c */

/* Appends a line of WORD, with its length: no word can pass for two lines. Where its VALUE names a
 * file, the file's contents count as well. */
static void put_word(bn_text *key, const char *kind, const char *word, const char *value)
{
    char digest[BN_SHA256_TEXT];
    rt_named_contents(value, digest);
    bn_text_printf(key, "%s %zu %s %s\n", kind, strlen(word), word, digest);
}

/* A LIST of NAME=VALUE. */
static void put_list(bn_text *key, const char *kind, const char *const *list)
{
    for (; list && *list; list++) {
        const char *equals = strchr(*list, '=');
        put_word(key, kind, *list, equals ? equals + 1 : "");
    }
}

/* The text of KEY, and its entry's name. False without a digest. */
static bool text_of(const estimate_key *key, bn_text *text, char name[BN_SHA256_TEXT + 8])
{
    char program[BN_SHA256_TEXT], digest[BN_SHA256_TEXT];
    const char *variable, *value;
    if (key->text)
        bn_sha256(key->text, key->length, program);
    else
        snprintf(program, sizeof program, "%s", key->digest);
    bn_text_printf(text, VERSION "plugin %s\ntopology %s\n", key->sha256, key->topology);
    put_list(text, "option", key->option);
    put_list(text, "flag", key->flag);
    for (size_t i = 0; rt_environment(i, &variable, &value); i++)
        if (value && *value)
            put_word(text, variable, value, value);
    if (key->format && strcmp(key->format, "mlir") != 0)
        put_word(text, "format", key->format, "");
    bn_text_printf(text, "program %s\n", program);
    if (!program[0])
        return false;
    bn_sha256(text->data, text->length, digest);
    snprintf(name, BN_SHA256_TEXT + 8, "%s.json", digest);
    return digest[0] != '\0';
}

json_t *estimate_cache_get(int folder, const estimate_key *key)
{
    char name[BN_SHA256_TEXT + 8], *data = NULL;
    size_t size = 0;
    bn_text text = {0};
    bn_status st = {.code = BN_OK};
    bn_code code = BN_NOT_FOUND;
    json_t *entry = NULL, *result = NULL;
    if (folder >= 0 && text_of(key, &text, name))
        code = bn_private_read(folder, name, &data, &size, &st);
    if (code == BN_OK && (code = res_json_parse(data, size, &entry, &st)) != BN_OK)
        bn_context(&st, "%s", name);
    if (code == BN_OK) {
        const char *own = json_string_value(json_object_get(entry, "key"));
        json_t *found = json_object_get(entry, "result");
        if (own && strcmp(own, text.data) == 0 && estimate_sound(found))
            result = json_incref(found);
        else
            code = bn_fail(&st, BN_FORMAT, "%s: damaged, or of another program or settings", name);
    }
    if (code != BN_OK && code != BN_NOT_FOUND)
        cli_say("bench: --cache-dir: the program is compiled again: %s", st.message);
    json_decref(entry);
    free(data);
    bn_text_free(&text);
    return result;
}

void estimate_cache_put(int folder, const estimate_key *key, const json_t *result)
{
    char name[BN_SHA256_TEXT + 8];
    bn_text text = {0};
    bn_status st = {.code = BN_OK};
    if (folder >= 0 && text_of(key, &text, name)) {
        json_t *entry = json_pack("{so sO}", "key", res_json_text(text.data), "result", result);
        char *data = json_dumps(entry, JSON_COMPACT | RES_JSON_SHOWN);
        if (bn_private_write(folder, name, data, strlen(data), &st) != BN_OK)
            cli_say("bench: --cache-dir: the result is not kept: %s", st.message);
        free(data);
        json_decref(entry);
    }
    bn_text_free(&text);
}
