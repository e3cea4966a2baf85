/*
 * plugin.c - a shared object becomes a plugin: load, version check,
 * initialisation, attributes.
 *
 * Plugins stay loaded until the process ends: their libraries start threads
 * and register exit handlers that do not survive dlclose. Source: GetPjrtApi,
 * PJRT_Plugin_* in pjrt_c_api.h.
 */
#include "runtime/pjrt/pjrt_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The process's loaded plugins. One lock guards the list and the digests that
 * are computed when first asked for. */
static pthread_mutex_t plugins_lock = PTHREAD_MUTEX_INITIALIZER;
static rt_plugin *plugins;

/* dlopen's own message for a text file or a core dump is of little help. */
static bn_code check_shared_object(const char *path, bn_status *st)
{
    static const unsigned char magic[4] = {0x7F, 'E', 'L', 'F'};
    unsigned char start[4] = {0};
    FILE *file = fopen(path, "rbe");
    if (!file)
        return bn_fail_errno(st, errno, "%s", path);
    size_t got = fread(start, 1, sizeof start, file);
    fclose(file);
    if (got != sizeof start || memcmp(start, magic, sizeof magic) != 0)
        return bn_fail(st, BN_PLUGIN, "%s: not a shared object", path);
    return BN_OK;
}

static bn_code api_open(const char *path, const PJRT_Api **api, bn_status *st)
{
    bn_code code = check_shared_object(path, st);
    if (code != BN_OK)
        return code;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        return bn_fail(st, BN_PLUGIN, "%s: cannot be loaded: %s", path,
                       reason ? reason : "no reason given");
    }
    const PJRT_Api *(*get_api)(void) = NULL;
    void *symbol = dlsym(library, "GetPjrtApi");
    if (!symbol) {
        dlclose(library); /* nothing of it has run yet but its constructors */
        return bn_fail(st, BN_PLUGIN, "%s: not a PJRT plugin: no GetPjrtApi", path);
    }
    memcpy(&get_api, &symbol, sizeof get_api); /* ISO C has no cast for this */
    *api = get_api();
    if (!*api)
        return bn_fail(st, BN_PLUGIN, "%s: GetPjrtApi gave no function table", path);
    if ((*api)->struct_size < offsetof(PJRT_Api, PJRT_Error_Destroy))
        return bn_fail(st, BN_PLUGIN, "%s: its function table has only %zu bytes", path,
                       (*api)->struct_size);
    int major = (*api)->pjrt_api_version.major_version;
    int minor = (*api)->pjrt_api_version.minor_version;
    if (major != PJRT_API_MAJOR)
        return bn_fail(st, BN_PLUGIN, "%s: PJRT API %d.%d, but major version %d is needed", path,
                       major, minor, PJRT_API_MAJOR);
    return BN_OK;
}

static bn_code plugin_initialize(rt_plugin *plugin, bn_status *st)
{
    /* Plugins older than this entry need no initialisation. */
    if (!RT_HAS(plugin, PJRT_Plugin_Initialize))
        return BN_OK;
    PJRT_Plugin_Initialize_Args args = RT_ARGS(PJRT_Plugin_Initialize, .extension_start = NULL);
    return RT_CALL(plugin, PJRT_Plugin_Initialize, &args, RT_STAGE_OTHER, st);
}

static bn_code plugin_describe(rt_plugin *plugin, const char *path, bn_status *st)
{
    rt_plugin_info *info = bn_arena_zalloc(plugin->arena, sizeof *info);
    if (!info)
        goto no_memory;
    plugin->info = info;
    info->path = bn_arena_strdup(plugin->arena, path);
    if (!info->path)
        goto no_memory;
    info->api_major = plugin->api->pjrt_api_version.major_version;
    info->api_minor = plugin->api->pjrt_api_version.minor_version;
    info->api_bytes = plugin->api->struct_size;
    info->has_profiler = plugin->profiler != NULL;

    PJRT_Plugin_Attributes_Args args = RT_ARGS(PJRT_Plugin_Attributes, .extension_start = NULL);
    if (RT_CALL(plugin, PJRT_Plugin_Attributes, &args, RT_STAGE_OTHER, NULL) != BN_OK)
        return BN_OK; /* attributes are optional */
    info->attributes = rt_attributes_copy(plugin->arena, args.attributes, args.num_attributes);
    if (!info->attributes && args.num_attributes > 0)
        goto no_memory;
    info->attribute_count = args.num_attributes;
    return BN_OK;

no_memory:
    return bn_fail(st, BN_OUT_OF_MEMORY, "no memory to describe the plugin");
}

/* Loads the plugin at the resolved PATH; the list is locked. */
static bn_code plugin_open(const char *path, rt_plugin **plugin, bn_status *st)
{
    rt_plugin *opened = calloc(1, sizeof *opened);
    bn_arena *arena = bn_arena_new(4096);
    bn_code code = BN_OK;
    if (!opened || !arena) {
        code = bn_fail(st, BN_OUT_OF_MEMORY, "%s: no memory to load it", path);
        goto out;
    }
    opened->arena = arena;
    code = api_open(path, &opened->api, st);
    if (code != BN_OK)
        goto out;
    code = plugin_initialize(opened, st);
    if (code != BN_OK) {
        bn_context(st, "%s: initialisation", path);
        code = BN_PLUGIN;
        if (st)
            st->code = code;
        goto out;
    }
    opened->profiler = rt_profiler_table_find(opened->api);
    code = plugin_describe(opened, path, st);
    if (code != BN_OK)
        goto out;
    opened->next = plugins;
    plugins = opened;
    *plugin = opened;
    return BN_OK;

out:
    bn_arena_free(arena);
    free(opened);
    return code;
}

bn_code rt_plugin_load(const char *path, rt_plugin **plugin, bn_status *st)
{
    char resolved[PATH_MAX];
    if (!realpath(path, resolved))
        return bn_fail_errno(st, errno, "%s", path);

    pthread_mutex_lock(&plugins_lock);
    bn_code code = BN_OK;
    rt_plugin *found = plugins;
    while (found && strcmp(found->info->path, resolved) != 0)
        found = found->next;
    if (!found)
        code = plugin_open(resolved, &found, st);
    pthread_mutex_unlock(&plugins_lock);
    if (code == BN_OK)
        *plugin = found;
    return code;
}

const rt_plugin_info *rt_plugin_describe(const rt_plugin *plugin)
{
    rt_plugin_info *info = plugin->info;
    pthread_mutex_lock(&plugins_lock);
    /* A file that went away since it was loaded leaves the digest empty. */
    if (info->sha256[0] == '\0' && bn_file_sha256(info->path, info->sha256, NULL) != BN_OK)
        info->sha256[0] = '\0';
    pthread_mutex_unlock(&plugins_lock);
    return info;
}
