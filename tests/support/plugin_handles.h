/*
 * plugin_handles.h - what tests ask of a plugin beyond what bench does: events that are not
 * awaited, buffers on other devices than the first.
 */
#ifndef BENCH_TESTS_PLUGIN_HANDLES_H
#define BENCH_TESTS_PLUGIN_HANDLES_H

#include "runtime/pjrt/pjrt_priv.h"

static inline bool event_is_ready(rt_client *client, rt_event *event)
{
    PJRT_Event_IsReady_Args args = RT_ARGS(PJRT_Event_IsReady, .event = (PJRT_Event *)event);
    return RT_CALL(client->plugin, PJRT_Event_IsReady, &args, RT_STAGE_OTHER, NULL) == BN_OK &&
           args.is_ready;
}

/* CLIENT as it would be if device INDEX were its first, for buffers from the host. CLIENT owns all
 * that it holds. */
static inline rt_client client_on(const rt_client *client, size_t index)
{
    rt_client other = *client;
    other.devices += index;
    return other;
}

#endif
