/*
 * disk.c - executables on disk, so that a second process need not compile.
 *
 * One file per program, named by the SHA-256 of everything it depends on: the
 * StableHLO text, the plugin's own SHA-256, flags and device. Files appear by
 * rename, so concurrent writers cannot harm each other: the last one wins and
 * all wrote the same. A file is checked before the plugin sees it.
 *
 * Layout: MAGIC, 64 hex digits of the payload's SHA-256, newline, payload.
 */
#include "modes/mode_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC       "bench-executable 1\n"
#define MAGIC_BYTES (sizeof MAGIC - 1)
#define HEAD_BYTES  (MAGIC_BYTES + BN_SHA256_TEXT)

static bool entry_path(const mode *m, const char *text, size_t length, char *path, size_t size)
{
    char digest[BN_SHA256_TEXT];
    bn_text key = {0};
    const rt_plugin_info *plugin = rt_plugin_describe(rt_client_plugin(m->client));
    bn_text_printf(&key, "plugin %s\n%s", plugin->sha256, m->cache_salt);
    bn_text_append(&key, text, length);
    bool made = !key.failed;
    if (made) {
        bn_sha256(key.data, key.length, digest);
        made = (size_t)snprintf(path, size, "%s/%s.exe", m->cache_dir, digest) < size;
    }
    bn_text_free(&key);
    return made;
}

static bool is_whole(const char *data, size_t size)
{
    char digest[BN_SHA256_TEXT];
    if (size <= HEAD_BYTES || memcmp(data, MAGIC, MAGIC_BYTES) != 0)
        return false;
    bn_sha256(data + HEAD_BYTES, size - HEAD_BYTES, digest);
    return memcmp(data + MAGIC_BYTES, digest, BN_SHA256_TEXT - 1) == 0;
}

rt_executable *mode_disk_load(mode *m, const char *text, size_t length)
{
    char path[4096];
    char *data = NULL;
    size_t size = 0;
    rt_executable *executable = NULL;
    bn_status st = {.code = BN_OK};
    if (!m->cache_dir || m->options.compile_anew || !entry_path(m, text, length, path, sizeof path))
        return NULL;
    bn_code code = bn_file_read(path, &data, &size, &st);
    if (code == BN_NOT_FOUND)
        return NULL;
    if (code == BN_OK && !is_whole(data, size))
        code = BN_FORMAT;
    if (code == BN_OK)
        code =
            rt_executable_load(m->client, data + HEAD_BYTES, size - HEAD_BYTES, &executable, &st);
    if (code != BN_OK)
        m->counters[BN_COUNTER_DISK_REJECTS]++;
    free(data);
    return code == BN_OK ? executable : NULL;
}

void mode_disk_store(mode *m, const char *text, size_t length, const rt_executable *executable)
{
    char path[4096], digest[BN_SHA256_TEXT];
    void *bytes = NULL;
    size_t size = 0;
    bn_status st = {.code = BN_OK};
    bn_text file = {0};
    if (!m->cache_dir || !entry_path(m, text, length, path, sizeof path) ||
        rt_executable_serialize(executable, &bytes, &size, &st) != BN_OK)
        return;
    bn_sha256(bytes, size, digest);
    bn_text_puts(&file, MAGIC);
    bn_text_puts(&file, digest);
    bn_text_putc(&file, '\n');
    bn_text_append(&file, bytes, size);
    if (file.failed || bn_file_write_atomic(path, file.data, file.length, &st) != BN_OK)
        m->counters[BN_COUNTER_DISK_REJECTS]++;
    bn_text_free(&file);
    free(bytes);
}
