/*
 * context.c - contexts of executions live until the executions have ended.
 *
 * JAX hands its Python callbacks over in a context, which it destroys when the execution's call has
 * returned. Some plugins read it after that, where the execution waits for its arguments: then the
 * callbacks are not found, or the process crashes. So for a plugin that got handlers from us
 * (python.c) the end of a context waits for the executions that use it.
 */
#include "runtime/record/record_priv.h"

#include <stdlib.h>

/* A context in use. */
typedef struct hold {
    record_plugin *plugin;
    PJRT_ExecuteContext *context;
    size_t uses;    /* executions, one for each device, that have not ended */
    bool destroyed; /* by the caller */
    struct hold *next;
} hold;
static hold *holds; /* under the lock RECORD_LOCK_EXECUTABLES */

/* Under the lock: the link that leads to CONTEXT's hold, or to NULL. */
static hold **find(const record_plugin *p, const PJRT_ExecuteContext *context)
{
    hold **at = &holds;
    while (*at && ((*at)->plugin != p || (*at)->context != context))
        at = &(*at)->next;
    return at;
}

static hold *use(record_plugin *p, PJRT_ExecuteContext *context, size_t uses)
{
    hold *fresh = calloc(1, sizeof *fresh);
    record_lock(RECORD_LOCK_EXECUTABLES);
    hold **at = find(p, context), *h = *at;
    if (!h && fresh) {
        *fresh = (hold){.plugin = p, .context = context};
        h = *at = fresh;
        fresh = NULL;
    }
    if (h)
        h->uses += uses;
    record_unlock(RECORD_LOCK_EXECUTABLES);
    free(fresh);
    return h;
}

static void release(hold *h, size_t uses)
{
    record_lock(RECORD_LOCK_EXECUTABLES);
    h->uses -= uses;
    const bool last = h->uses == 0;
    if (last)
        *find(h->plugin, h->context) = h->next;
    record_unlock(RECORD_LOCK_EXECUTABLES);
    if (!last)
        return;
    RECORD_ARGS(ExecuteContext_Destroy, args, .context = h->context);
    if (h->destroyed)
        record_succeeded(h->plugin, h->plugin->api->PJRT_ExecuteContext_Destroy(&args));
    free(h);
}

static void ended(PJRT_Error *error, void *argument)
{
    hold *h = argument;
    record_succeeded(h->plugin, error);
    release(h, 1);
}

/* EVENT is of an execution that uses H. */
static void watch(record_plugin *p, PJRT_Event *event, hold *h)
{
    RECORD_ARGS(Event_OnReady, args, .event = event, .callback = ended, .user_arg = h);
    if (!event || !record_succeeded(p, p->api->PJRT_Event_OnReady(&args)))
        release(h, 1);
}

PJRT_Error *record_execute_with(record_plugin *p, PJRT_LoadedExecutable_Execute_Args *args)
{
    PJRT_Event *own[RECORD_DEVICES] = {NULL}, **given = args->device_complete_events;
    hold *h = args->num_devices <= RECORD_DEVICES && p->has_on_ready
                  ? use(p, args->options->context, args->num_devices)
                  : NULL;
    if (!h)
        return p->api->PJRT_LoadedExecutable_Execute(args);
    if (!given)
        args->device_complete_events = own;
    PJRT_Error *error = p->api->PJRT_LoadedExecutable_Execute(args);
    if (error)
        release(h, args->num_devices);
    for (size_t d = 0; !error && d < args->num_devices; d++) {
        PJRT_Event *event = args->device_complete_events[d];
        watch(p, event, h);
        if (!given && event)
            record_event_destroy(p, event);
    }
    args->device_complete_events = given;
    return error;
}

PJRT_Error *record_ExecuteContext_Destroy(record_plugin *p, PJRT_ExecuteContext_Destroy_Args *args)
{
    bool kept = false;
    if (args->struct_size >= PJRT_ExecuteContext_Destroy_Args_STRUCT_SIZE) {
        record_lock(RECORD_LOCK_EXECUTABLES);
        hold *h = *find(p, args->context);
        if (h)
            kept = h->destroyed = true;
        record_unlock(RECORD_LOCK_EXECUTABLES);
    }
    return kept ? NULL : p->api->PJRT_ExecuteContext_Destroy(args);
}
