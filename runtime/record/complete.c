/*
 * complete.c - ends of executions and transfers: callbacks of the plugin's events.
 *
 * A callback gets one pointer and must not allocate. For events of the caller that pointer is
 * no address but the number, device and plugin themselves. Events of ours must be destroyed, and
 * frameworks do that in the callback, so that is what plugins are used to: those get a note out of
 * a store without locks. Where it is empty, the event is destroyed as soon as it is watched.
 */
#include "runtime/record/record_priv.h"

/* ---- number, device and plugin in one pointer -------------------------------------------------
 */

enum { PLUGIN_BITS = 3, DEVICE_BITS = 9 };
_Static_assert(RECORD_PLUGINS <= 1 << PLUGIN_BITS, "each plugin's number fits");
_Static_assert(RECORD_DEVICES <= 1 << DEVICE_BITS, "each device's index fits");
_Static_assert(sizeof(void *) == 8, "a number of 52 bits fits");

static uint64_t packed(const record_plugin *p, uint64_t number, unsigned device)
{
    return number << (PLUGIN_BITS + DEVICE_BITS) | (uint64_t)device << PLUGIN_BITS |
           record_plugin_number(p);
}

static record_plugin *plugin_of(uint64_t pack)
{
    return &record_plugins[pack & ((1 << PLUGIN_BITS) - 1)];
}

static void put_complete(uint64_t pack, PJRT_Error *error)
{
    record_plugin *p = plugin_of(pack);
    record_event event = {.kind = RECORD_COMPLETE, .time = record_now()};
    if (!record_succeeded(p, error))
        event.flags = RECORD_FAILED;
    event.field[0] = pack >> (PLUGIN_BITS + DEVICE_BITS);
    event.field[1] = pack >> PLUGIN_BITS & ((1 << DEVICE_BITS) - 1);
    record_put(p, event, NULL, 0);
}

/* ---- notes ---------------------------------------------------------------------------------- */

enum { NOTES = 1 << 14 };
typedef struct note {
    PJRT_Event *event;
    uint64_t pack;
    _Atomic uint32_t next; /* of the free notes: index + 1, 0: none */
} note;
static note notes[NOTES];
/* Of the free ones the first: index + 1 in the low half, and in the high half a count of changes,
 * by which a thread sees that others were here meanwhile. */
static _Atomic uint64_t free_notes;
static _Atomic uint32_t fresh_notes; /* those from here on were never used */

static uint64_t changed(uint64_t seen, uint32_t first)
{
    return ((seen >> 32) + 1) << 32 | first;
}

static note *note_take(void)
{
    uint64_t seen = atomic_load(&free_notes);
    while ((uint32_t)seen != 0) {
        note *n = &notes[(uint32_t)seen - 1];
        if (atomic_compare_exchange_weak(&free_notes, &seen, changed(seen, atomic_load(&n->next))))
            return n;
    }
    if (atomic_load_explicit(&fresh_notes, memory_order_relaxed) >= NOTES)
        return NULL;
    uint32_t index = atomic_fetch_add(&fresh_notes, 1);
    return index < NOTES ? &notes[index] : NULL;
}

static void note_give(note *n)
{
    uint64_t seen = atomic_load(&free_notes);
    do
        atomic_store(&n->next, (uint32_t)seen);
    while (!atomic_compare_exchange_weak(&free_notes, &seen,
                                         changed(seen, (uint32_t)(n - notes) + 1)));
}

/* ---- callbacks ------------------------------------------------------------------------------ */

void record_event_destroy(record_plugin *p, PJRT_Event *event)
{
    RECORD_ARGS(Event_Destroy, args, .event = event);
    if (RECORD_HAS(p, Event_Destroy))
        record_succeeded(p, p->api->PJRT_Event_Destroy(&args));
}

bool record_has_fired(record_plugin *p, PJRT_Event *event)
{
    RECORD_ARGS(Event_IsReady, ready, .event = event);
    RECORD_ARGS(Event_Error, error, .event = event);
    return RECORD_HAS(p, Event_IsReady) && RECORD_HAS(p, Event_Error) &&
           record_succeeded(p, p->api->PJRT_Event_IsReady(&ready)) && ready.is_ready &&
           record_succeeded(p, p->api->PJRT_Event_Error(&error));
}

static void ready_theirs(PJRT_Error *error, void *argument)
{
    put_complete((uint64_t)(uintptr_t)argument, error);
}

static void ready_ours(PJRT_Error *error, void *argument)
{
    note *n = argument;
    put_complete(n->pack, error);
    record_event_destroy(plugin_of(n->pack), n->event);
    note_give(n);
}

bool record_watch(record_plugin *p, PJRT_Event *event, uint64_t number, unsigned device, bool ours)
{
    uint64_t pack = packed(p, number, device);
    note *n = ours ? note_take() : NULL;
    if (n) {
        n->event = event;
        n->pack = pack;
    }
    RECORD_ARGS(Event_OnReady, args, .event = event, .callback = n ? ready_ours : ready_theirs,
                .user_arg = n ? (void *)n : (void *)(uintptr_t)pack);
    bool watched = p->has_on_ready && record_succeeded(p, p->api->PJRT_Event_OnReady(&args));
    if (ours && (!watched || !n))
        record_event_destroy(p, event);
    if (n && !watched)
        note_give(n);
    return watched;
}
