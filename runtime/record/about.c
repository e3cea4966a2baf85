/*
 * about.c - who was recorded: the command line, names of threads, and frameworks with their
 * versions. Written once each, so it may take its time.
 */
#define _GNU_SOURCE /* O_CLOEXEC in fopen's mode */

#include "runtime/record/record_priv.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

enum { TEXT_MOST = 4096, COMMAND_MOST = 1 << 16, ARGUMENTS_MOST = 1024, SITE_MOST = 2048 };

void record_text(enum record_text what, uint64_t of, uint32_t thread, const char *text,
                 size_t length)
{
    record_place place;
    if (length > TEXT_MOST)
        length = TEXT_MOST;
    struct iovec part = {.iov_base = (void *)(uintptr_t)text, .iov_len = length};
    record_event event = {.kind = RECORD_TEXT, .thread = thread, .time = record_now()};
    event.field[0] = what;
    event.field[1] = of;
    if (record_take(length, &place))
        record_fill(&place, event, &part, 1);
}

void record_about_process(uint32_t thread)
{
    char *line = malloc(COMMAND_MOST);
    FILE *from = line ? fopen("/proc/self/cmdline", "re") : NULL;
    size_t length = from ? fread(line, 1, COMMAND_MOST, from) : 0;
    uint64_t argument = 0;
    for (size_t at = 0; at < length && argument < ARGUMENTS_MOST; argument++) {
        size_t n = strnlen(line + at, length - at);
        record_text(RECORD_TEXT_COMMAND, argument, thread, line + at, n);
        at += n + 1;
    }
    if (from)
        fclose(from);
    free(line);
}

void record_about_thread(uint32_t thread)
{
    char name[32] = "";
    if (prctl(PR_GET_NAME, name) == 0)
        record_text(RECORD_TEXT_THREAD, thread, thread, name, strnlen(name, sizeof name));
}

/* ---- frameworks ----------------------------------------------------------------------------- */

/* A library that tells by its path that a framework is loaded: what stands before MARK is the
 * folder that names the versions of PACKAGES. */
static const struct framework {
    const char *mark;
    const char *packages[2];
} FRAMEWORKS[] = {
    {"/jaxlib/", {"jax", "jaxlib"}},
    {"/torch_xla/", {"torch", "torch_xla"}},
    {"/_XLAC.", {"torch", "torch_xla"}},
};
enum { FRAMEWORK_COUNT = sizeof FRAMEWORKS / sizeof *FRAMEWORKS };

/* "jaxlib-0.10.2.dist-info": the version of PACKAGE, and its *LENGTH; NULL for others. */
static const char *version_in(const char *name, const char *package, size_t *length)
{
    static const char end[] = ".dist-info";
    size_t head = strlen(package), all = strlen(name);
    if (all <= head + sizeof end || strncmp(name, package, head) != 0 || name[head] != '-' ||
        strcmp(name + all - (sizeof end - 1), end) != 0)
        return NULL;
    *length = all - (sizeof end - 1) - head - 1;
    return name + head + 1;
}

/* "jax 0.10.2" for each of the framework's packages in the folder SITE. */
static void put_versions(const struct framework *f, const char *site, unsigned plugin,
                         uint32_t thread)
{
    DIR *folder = opendir(site);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        for (int i = 0; i < 2; i++) {
            char text[512];
            size_t length = 0;
            const char *version = version_in(entry->d_name, f->packages[i], &length);
            if (!version)
                continue;
            int n = snprintf(text, sizeof text, "%s %.*s", f->packages[i], (int)length, version);
            if (n > 0 && (size_t)n < sizeof text)
                record_text(RECORD_TEXT_FRAMEWORK, plugin, thread, text, (size_t)n);
        }
    if (folder)
        closedir(folder);
}

/* SITES gets the folder of each framework that LINE of the map of memory is a library of. */
static void look_at(const char *line, char (*sites)[SITE_MOST])
{
    const char *path = strchr(line, '/');
    for (int i = 0; path && i < FRAMEWORK_COUNT; i++) {
        const char *mark = strstr(path, FRAMEWORKS[i].mark);
        if (mark && !*sites[i] && mark - path < SITE_MOST)
            snprintf(sites[i], SITE_MOST, "%.*s", (int)(mark - path), path);
    }
}

void record_about_frameworks(unsigned plugin, uint32_t thread)
{
    static _Atomic unsigned written_to;
    if (atomic_exchange(&written_to, record_file_number()) == record_file_number())
        return;
    char(*sites)[SITE_MOST] = calloc(FRAMEWORK_COUNT, sizeof *sites), *line = NULL;
    FILE *map = sites ? fopen("/proc/self/maps", "re") : NULL;
    size_t capacity = 0;
    while (map && getline(&line, &capacity, map) > 0)
        look_at(line, sites);
    for (int i = 0; sites && i < FRAMEWORK_COUNT; i++) {
        /* Two marks may tell of one framework. */
        bool same = i > 0 && strcmp(sites[i], sites[i - 1]) == 0;
        if (*sites[i] && !same)
            put_versions(&FRAMEWORKS[i], sites[i], plugin, thread);
    }
    if (map)
        fclose(map);
    free(line);
    free(sites);
}
