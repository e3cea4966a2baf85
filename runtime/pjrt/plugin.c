/*
 * plugin.c - a shared object becomes a plugin: load, version check,
 * initialisation, attributes.
 *
 * Plugins stay loaded until the process ends: their libraries start threads
 * and register exit handlers that do not survive dlclose. Source: GetPjrtApi,
 * PJRT_Plugin_* in pjrt_c_api.h.
 */
#include "runtime/pjrt/pjrt_priv.h"
#include "runtime/profile/abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The process's loaded plugins. One lock guards the list. */
static pthread_mutex_t plugins_lock = PTHREAD_MUTEX_INITIALIZER;
static rt_plugin *plugins;

/* Loads the file at PATH, which must be the one of IDENTITY. */
static bn_code api_open(const char *path, const rt_identity *identity, const PJRT_Api **api,
                        bn_status *st)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        return bn_fail(st, BN_PLUGIN, "%s: cannot be loaded: %s", path,
                       reason ? reason : "no reason given");
    }
    /* Before anything of it is called. Its constructors have run. */
    bn_code code = rt_identity_check_loaded(path, library, identity, st);
    if (code != BN_OK)
        return code;
    const PJRT_Api *(*get_api)(void) = NULL;
    void *symbol = dlsym(library, "GetPjrtApi");
    if (!symbol) {
        dlclose(library); /* nothing of it has run yet but its constructors */
        return bn_fail(st, BN_PLUGIN, "%s: not a PJRT plugin: no GetPjrtApi", path);
    }
    memcpy(&get_api, &symbol, sizeof get_api); /* ISO C has no cast for this */
    *api = get_api();
    bn_surroundings_restore_floats("loading");
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

static void plugin_describe(rt_plugin *plugin, const char *path)
{
    rt_plugin_info *info = bn_arena_zalloc(plugin->arena, sizeof *info);
    plugin->info = info;
    info->path = bn_arena_strdup(plugin->arena, path);
    memcpy(info->sha256, plugin->identity.sha256, sizeof info->sha256);
    info->api_major = plugin->api->pjrt_api_version.major_version;
    info->api_minor = plugin->api->pjrt_api_version.minor_version;
    info->api_bytes = plugin->api->struct_size;
    info->has_profiler = plugin->profiler != NULL;

    PJRT_Plugin_Attributes_Args args = RT_ARGS(PJRT_Plugin_Attributes, .extension_start = NULL);
    if (RT_CALL(plugin, PJRT_Plugin_Attributes, &args, RT_STAGE_OTHER, NULL) != BN_OK)
        return; /* attributes are optional */
    info->attributes = rt_attributes_copy(plugin->arena, args.attributes, args.num_attributes);
    info->attribute_count = info->attributes ? args.num_attributes : 0;
}

/* Code of a file that is not the one which was asked for must not run. */
static bn_code check_digest(const char *path, const char *sha256, const char *wanted, bn_status *st)
{
    if (!wanted || strcmp(sha256, wanted) == 0)
        return BN_OK;
    return bn_fail(
        st, BN_CHANGED,
        "%s: the plugin's file was replaced: it has the digest %.12s, and %.12s was asked "
        "for",
        path, sha256, wanted);
}

/* Loads the plugin at the resolved PATH if it is WANTED; the list is locked. */
static bn_code plugin_open(const char *path, const char *wanted, rt_plugin **plugin, bn_status *st)
{
    rt_plugin *opened = bn_zalloc(1, sizeof *opened);
    opened->arena = bn_arena_new(4096);
    bn_code code = rt_identity_take(path, &opened->identity, st);
    if (code == BN_OK)
        code = check_digest(path, opened->identity.sha256, wanted, st);
    if (code == BN_OK)
        code = api_open(path, &opened->identity, &opened->api, st);
    if (code == BN_OK)
        code = rt_identity_check(path, &opened->identity, true, st);
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
    opened->profiler = rt_profiler_table_of(opened->api);
    plugin_describe(opened, path);
    opened->next = plugins;
    plugins = opened;
    *plugin = opened;
    return BN_OK;

out:
    bn_arena_free(opened->arena);
    free(opened);
    return code;
}

bn_code rt_plugin_load(const char *path, const char *sha256, rt_plugin **plugin, bn_status *st)
{
    char resolved[PATH_MAX];
    if (!realpath(path, resolved))
        return bn_fail_errno(st, errno, "%s", path);

    pthread_mutex_lock(&plugins_lock);
    bn_code code = BN_OK;
    rt_plugin *found = plugins;
    while (found && strcmp(found->info->path, resolved) != 0)
        found = found->next;
    if (!found) {
        bn_surroundings_keep();
        code = plugin_open(resolved, sha256, &found, st);
        const bn_code back = bn_surroundings_restore("loading", code == BN_OK ? st : NULL);
        code = code == BN_OK ? back : code;
    } else {
        code = check_digest(resolved, found->identity.sha256, sha256, st);
    }
    pthread_mutex_unlock(&plugins_lock);
    if (code == BN_OK)
        *plugin = found;
    return code;
}

const rt_plugin_info *rt_plugin_describe(const rt_plugin *plugin)
{
    return plugin->info;
}

bn_code rt_plugin_check_file(const rt_plugin *plugin, bn_status *st)
{
    return rt_identity_check(plugin->info->path, &plugin->identity, false, st);
}
