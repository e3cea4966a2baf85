/*
 * disk.c - executables on disk, so that a second process need not compile.
 *
 * An executable is machine code that the plugin runs as it is. So the folder and its files must be
 * the user's alone, and an entry says inside what it is of: plugin, settings and program, each as a
 * SHA-256. An entry that was copied over another's name, or that another build wrote, does not
 * match what is asked for. Entries appear by rename, so concurrent writers cannot harm each other:
 * the last one wins and all wrote the same.
 *
 * Layout of an entry: MAGIC, a line each "plugin", "settings", "program" and "payload" with 64 hex
 * digits, then the payload. Its name is the SHA-256 of the first three lines.
 */
#include "modes/mode_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC     "bench-executable 2\n"
#define HEAD_SIZE 512
#define NAME_SIZE (BN_SHA256_TEXT + 4)

/* Head and file name of an entry. */
typedef struct entry {
    char head[HEAD_SIZE]; /* up to the line of the payload */
    char name[NAME_SIZE];
} entry;

static entry entry_of(const mode *m, const char *text, size_t length)
{
    entry e;
    char settings[BN_SHA256_TEXT], program[BN_SHA256_TEXT], name[BN_SHA256_TEXT];
    const rt_plugin_info *plugin = rt_plugin_describe(rt_client_plugin(m->client));
    bn_sha256(m->cache_salt, strlen(m->cache_salt), settings);
    bn_sha256(text, length, program);
    const int size = snprintf(e.head, sizeof e.head, MAGIC "plugin %s\nsettings %s\nprogram %s\n",
                              plugin->sha256, settings, program);
    bn_sha256(e.head, (size_t)size, name);
    snprintf(e.name, sizeof e.name, "%s.exe", name);
    return e;
}

/* The line of the payload, of SIZE bytes at DATA, behind E's head: into LINE. */
static size_t payload_line(const void *data, size_t size, char line[HEAD_SIZE])
{
    char digest[BN_SHA256_TEXT];
    bn_sha256(data, size, digest);
    return (size_t)snprintf(line, HEAD_SIZE, "payload %s\n", digest);
}

size_t mode_disk_payload(const char *head, const char *data, size_t size)
{
    char line[HEAD_SIZE];
    const size_t first = strlen(head), whole = first + strlen("payload \n") + BN_SHA256_TEXT - 1;
    if (size <= whole || memcmp(data, head, first) != 0)
        return 0;
    const size_t length = payload_line(data + whole, size - whole, line);
    return length == whole - first && memcmp(data + first, line, length) == 0 ? whole : 0;
}

/* Counts a reject. A damaged folder may hold thousands: why is kept of the first, and said once. */
static void reject(mode *m, const bn_status *why)
{
    m->counters[BN_COUNTER_DISK_REJECTS]++;
    if (m->disk_reject.code != BN_OK)
        return;
    m->disk_reject = *why;
    bn_context(&m->disk_reject, "%s", m->options.cache_dir);
}

const char *mode_disk_refusal(const mode *m)
{
    return m->disk_reject.code == BN_OK ? NULL : m->disk_reject.message;
}

rt_executable *mode_disk_load(mode *m, const char *text, size_t length)
{
    char *data = NULL;
    size_t size = 0, at = 0;
    rt_executable *executable = NULL;
    bn_status st = {.code = BN_OK};
    if (m->cache_folder < 0 || m->options.compile_anew)
        return NULL;
    const entry e = entry_of(m, text, length);
    bn_code code = bn_private_read(m->cache_folder, e.name, &data, &size, &st);
    if (code == BN_NOT_FOUND)
        return NULL;
    if (code == BN_OK && (at = mode_disk_payload(e.head, data, size)) == 0)
        code = bn_fail(&st, BN_FORMAT, "%s: damaged, or of another build, program or settings",
                       e.name);
    if (code == BN_OK) {
        code = rt_executable_load(m->client, data + at, size - at, &executable, &st);
        if (code != BN_OK)
            bn_context(&st, "%s: the plugin does not load it", e.name);
    }
    if (code != BN_OK)
        reject(m, &st);
    free(data);
    return code == BN_OK ? executable : NULL;
}

void mode_disk_store(mode *m, const char *text, size_t length, const rt_executable *executable)
{
    char line[HEAD_SIZE];
    void *bytes = NULL;
    size_t size = 0;
    bn_status st = {.code = BN_OK};
    bn_text file = {0};
    if (m->cache_folder < 0 || rt_executable_serialize(executable, &bytes, &size, &st) != BN_OK)
        return;
    const entry e = entry_of(m, text, length);
    payload_line(bytes, size, line);
    bn_text_puts(&file, e.head);
    bn_text_puts(&file, line);
    bn_text_append(&file, bytes, size);
    if (bn_private_write(m->cache_folder, e.name, file.data, file.length, &st) != BN_OK)
        m->counters[BN_COUNTER_DISK_REJECTS]++;
    bn_text_free(&file);
    free(bytes);
}
