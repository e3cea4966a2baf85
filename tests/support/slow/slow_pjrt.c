/*
 * slow_pjrt.c - a plugin that is another plugin, but slower by what was asked for. It loads the
 * library in SLOW_PJRT_PLUGIN and hands out its table, in which an execution first keeps the
 * processor busy for SLOW_PJRT_NS nanoseconds. Tests plant a difference of a known size with it.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pjrt_c_api.h"

static PJRT_LoadedExecutable_Execute *execute;
static int64_t slow_ns;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static PJRT_Error *slow_execute(PJRT_LoadedExecutable_Execute_Args *args)
{
    const int64_t end = now_ns() + slow_ns;
    while (now_ns() < end) {
    }
    return execute(args);
}

/* The table of the plugin at PATH; NULL, with a line on standard error, where there is none. */
static const PJRT_Api *table_of(const char *path)
{
    /* ISO C has no conversion from an object's address to a function's. */
    const PJRT_Api *(*get)(void) = NULL;
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = library ? dlsym(library, "GetPjrtApi") : NULL;
    if (!symbol) {
        fprintf(stderr, "slow_pjrt: SLOW_PJRT_PLUGIN is not a plugin: %s\n", path ? path : "");
        return NULL;
    }
    memcpy(&get, &symbol, sizeof get);
    return get();
}

__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);
const PJRT_Api *GetPjrtApi(void)
{
    static PJRT_Api *mine;
    const char *ns = getenv("SLOW_PJRT_NS");
    if (mine)
        return mine;
    const PJRT_Api *theirs = table_of(getenv("SLOW_PJRT_PLUGIN"));
    if (!theirs)
        return NULL;
    /* Theirs may be longer or shorter than the table that this file knows. */
    mine = malloc(theirs->struct_size);
    if (!mine)
        return NULL;
    memcpy(mine, theirs, theirs->struct_size);
    execute = theirs->PJRT_LoadedExecutable_Execute;
    slow_ns = ns ? strtoll(ns, NULL, 10) : 0;
    mine->PJRT_LoadedExecutable_Execute = slow_execute;
    return mine;
}
