/*
 * live.c - counts of the plugin's handles that this process holds.
 *
 * Relaxed atomics: the counts are compared when all work is done, they order
 * nothing.
 */
#include "runtime/pjrt/pjrt_priv.h"

#include <stdatomic.h>

static _Atomic int64_t live[RT_LIVE_KIND_COUNT];

void rt_live_add(enum rt_live_kind kind, int64_t change)
{
    atomic_fetch_add_explicit(&live[kind], change, memory_order_relaxed);
}

static int64_t live_get(enum rt_live_kind kind)
{
    return atomic_load_explicit(&live[kind], memory_order_relaxed);
}

rt_live_counts rt_live(void)
{
    return (rt_live_counts){
        .clients = live_get(RT_LIVE_CLIENT),
        .executables = live_get(RT_LIVE_EXECUTABLE),
        .buffers = live_get(RT_LIVE_BUFFER),
        .events = live_get(RT_LIVE_EVENT),
        .errors = live_get(RT_LIVE_ERROR),
        .topologies = live_get(RT_LIVE_TOPOLOGY),
    };
}
