/*
 * plugin.c - the plugins that the recorder stands before, and the table that each caller gets: the
 * plugin's own, with some pointers replaced.
 *
 * Nothing that PJRT hands out is wrapped, so a replaced function must know its plugin by itself:
 * there is one of each for each place of record_plugins.
 */
#include "runtime/record/record_priv.h"

#include <stdlib.h>

/* ---- one function for each plugin and call ------------------------------------------------------
 */

#define PLACES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
_Static_assert(RECORD_PLUGINS == 8, "as many as PLACES has");

typedef void any_function(void);
typedef struct replacement {
    size_t offset; /* in the table */
    int minor;     /* the version that it came with, where the header may not know it */
    any_function *function;
} replacement;

#define THUNK(n, name)                                                                             \
    static PJRT_Error *name##_##n(PJRT_##name##_Args *args)                                        \
    {                                                                                              \
        return record_##name(&record_plugins[n], args);                                            \
    }
#define ROW(n, name) {offsetof(PJRT_Api, PJRT_##name), 0, (any_function *)name##_##n},
#define LATER_THUNK(n, name, type, place, minor)                                                   \
    static PJRT_Error *name##_##n(type *args)                                                      \
    {                                                                                              \
        return record_##name(&record_plugins[n], args);                                            \
    }
#define LATER_ROW(n, name, type, place, minor)                                                     \
    {RECORD_LATER_OFFSET(place), minor, (any_function *)name##_##n},
#define REPLACEMENTS(n)                                                                            \
    RECORD_CALLS(THUNK, n)                                                                         \
    RECORD_LATER_CALLS(LATER_THUNK, n)                                                             \
    static const replacement replacements_##n[] = {RECORD_CALLS(ROW, n)                            \
                                                       RECORD_LATER_CALLS(LATER_ROW, n)};          \
    static const PJRT_Api *get_##n(void)                                                           \
    {                                                                                              \
        return record_plugin_table(&record_plugins[n]);                                            \
    }
PLACES(REPLACEMENTS)

#define ONE(n) replacements_##n,
static const replacement *const REPLACED[RECORD_PLUGINS] = {PLACES(ONE)};
#undef ONE
#define ONE(n) get_##n,
static record_get *const GETTERS[RECORD_PLUGINS] = {PLACES(ONE)};
#undef ONE
enum { REPLACED_COUNT = sizeof replacements_0 / sizeof *replacements_0 };

/* ---- tables --------------------------------------------------------------------------------- */

/* A table whose head is not like this header's is not touched. */
static bool is_understood(const PJRT_Api *api)
{
    return api->struct_size >= offsetof(PJRT_Api, PJRT_Error_GetCode) &&
           api->struct_size <= 64 * sizeof(PJRT_Api) &&
           api->pjrt_api_version.major_version == PJRT_API_MAJOR && api->PJRT_Error_Destroy &&
           api->PJRT_Error_Message;
}

/* A copy of the plugin's table, however long that is, with the replaced pointers. It is never
 * freed: callers keep it. NULL without memory. */
static PJRT_Api *table_new(const record_plugin *p)
{
    const replacement *rows = REPLACED[record_plugin_number(p)];
    size_t size = p->api->struct_size;
    char *table = malloc(size > sizeof(PJRT_Api) ? size : sizeof(PJRT_Api));
    if (!table)
        return NULL;
    memcpy(table, p->api, size);
    for (int i = 0; i < REPLACED_COUNT; i++) {
        any_function *there = NULL;
        if (rows[i].offset + sizeof there > size ||
            rows[i].minor > p->api->pjrt_api_version.minor_version)
            continue;
        memcpy(&there, table + rows[i].offset, sizeof there);
        if (there)
            memcpy(table + rows[i].offset, &rows[i].function, sizeof rows[i].function);
    }
    return (PJRT_Api *)(void *)table;
}

const PJRT_Api *record_plugin_table(record_plugin *p)
{
    const PJRT_Api *ours = atomic_load(&p->ours);
    if (ours)
        return ours;
    record_get *get = atomic_load(&p->get);
    const PJRT_Api *api = get();
    record_settings();
    record_profile_settings();
    record_gate_settings();
    if (!api || !is_understood(api)) {
        if (api && !atomic_exchange(&p->unseen, true))
            record_plugin_unseen();
        return api;
    }
    record_lock(RECORD_LOCK_PLUGINS);
    ours = atomic_load(&p->ours);
    if (!ours) {
        p->api = api;
        p->has_on_ready = RECORD_HAS(p, Event_OnReady);
        ours = table_new(p);
        atomic_store(&p->ours, ours);
    }
    record_unlock(RECORD_LOCK_PLUGINS);
    return ours ? ours : api;
}

/* Whether GET is of a plugin for which there is no place, and which was not counted yet. Under the
 * lock. As many plugins are distinguished as there are slots. */
static bool is_another(record_get *get)
{
    static record_get *beyond[RECORD_PLUGINS];
    for (int i = 0; i < RECORD_PLUGINS; i++) {
        if (beyond[i] == get)
            return false;
        if (!beyond[i]) {
            beyond[i] = get;
            return true;
        }
    }
    return false;
}

record_plugin *record_plugin_of(record_get *get)
{
    record_plugin *found = NULL;
    record_lock(RECORD_LOCK_PLUGINS);
    for (int i = 0; !found && i < RECORD_PLUGINS; i++) {
        record_get *there = atomic_load(&record_plugins[i].get);
        if (there && there != get)
            continue;
        found = &record_plugins[i];
        atomic_store(&found->get, get);
    }
    bool uncounted = !found && is_another(get);
    record_unlock(RECORD_LOCK_PLUGINS);
    if (uncounted)
        record_plugin_unseen();
    return found;
}

record_get *record_plugin_getter(const record_plugin *p)
{
    return GETTERS[record_plugin_number(p)];
}
