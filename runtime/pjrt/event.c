/*
 * event.c - events: await, watch, release.
 *
 * Time stamps are taken around rt_event_await: a plugin's OnReady callback can
 * come milliseconds after the wait has returned. Only timelines use it, for what
 * completes while the host does something else.
 */
#include "runtime/pjrt/pjrt_priv.h"

bn_code rt_event_await(rt_client *client, rt_event *event, bn_status *st)
{
    PJRT_Event_Await_Args args = RT_ARGS(PJRT_Event_Await, .event = (PJRT_Event *)event);
    return RT_CALL(client->plugin, PJRT_Event_Await, &args, RT_STAGE_EXECUTE, st);
}

void rt_event_release(rt_client *client, rt_event *event)
{
    if (!event)
        return;
    PJRT_Event_Destroy_Args args = RT_ARGS(PJRT_Event_Destroy, .event = (PJRT_Event *)event);
    if (RT_CALL(client->plugin, PJRT_Event_Destroy, &args, RT_STAGE_OTHER, NULL) == BN_OK)
        rt_live_add(RT_LIVE_EVENT, -1);
}

/* The plugin's callback, on a thread of its own or in the call that asked for it. */
static void fired(PJRT_Error *error, void *argument)
{
    bn_completion *done = argument;
    const rt_plugin *plugin = done->owner;
    bn_completion_set(done, bn_now_ns());
    /* rt_event_await reports the failure. */
    if (error)
        (void)(rt_error_take(plugin, error, RT_STAGE_EXECUTE, NULL) == BN_OK);
}

bn_code rt_event_watch(rt_client *client, rt_event *event, bn_completion *done, bn_status *st)
{
    PJRT_Event_OnReady_Args args = RT_ARGS(PJRT_Event_OnReady, .event = (PJRT_Event *)event,
                                           .callback = fired, .user_arg = done);
    done->owner = client->plugin;
    return RT_CALL(client->plugin, PJRT_Event_OnReady, &args, RT_STAGE_OTHER, st);
}
