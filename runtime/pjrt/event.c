/*
 * event.c - events: wait, ask, give back.
 *
 * Time stamps are taken around rt_event_await: a plugin's OnReady callback can
 * come milliseconds after the wait has returned, so it is not used.
 */
#include "runtime/pjrt/pjrt_priv.h"

bn_code rt_event_await(rt_client *client, rt_event *event, bn_status *st)
{
    PJRT_Event_Await_Args args = RT_ARGS(PJRT_Event_Await, .event = (PJRT_Event *)event);
    return RT_CALL(client->plugin, PJRT_Event_Await, &args, RT_STAGE_EXECUTE, st);
}

bool rt_event_is_ready(rt_client *client, rt_event *event)
{
    PJRT_Event_IsReady_Args args = RT_ARGS(PJRT_Event_IsReady, .event = (PJRT_Event *)event);
    return RT_CALL(client->plugin, PJRT_Event_IsReady, &args, RT_STAGE_OTHER, NULL) == BN_OK &&
           args.is_ready;
}

void rt_event_release(rt_client *client, rt_event *event)
{
    if (!event)
        return;
    PJRT_Event_Destroy_Args args = RT_ARGS(PJRT_Event_Destroy, .event = (PJRT_Event *)event);
    if (RT_CALL(client->plugin, PJRT_Event_Destroy, &args, RT_STAGE_OTHER, NULL) == BN_OK)
        rt_live_add(RT_LIVE_EVENT, -1);
}
