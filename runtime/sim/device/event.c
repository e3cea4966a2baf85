/* event.c - ends of things, and those who wait for them. device.c calls back for events. */
#include "runtime/sim/device/event.h"

#include "runtime/base/base.h"
#include "runtime/sim/device/client.h"
#include "runtime/sim/device/entries.h"
#include "runtime/sim/device/error.h"

#include <stdlib.h>

sim_done *sim_done_new(PJRT_Client *client, uint64_t device_ns, uint64_t ready_ns)
{
    sim_done *done = bn_zalloc(1, sizeof *done);
    atomic_init(&done->references, 1);
    atomic_init(&done->settled, false);
    done->client = client;
    done->device_ns = device_ns;
    done->ready_ns = ready_ns;
    return done;
}

sim_done *sim_done_retain(sim_done *done)
{
    atomic_fetch_add(&done->references, 1);
    return done;
}

void sim_done_release(sim_done *done)
{
    if (done && atomic_fetch_sub(&done->references, 1) == 1)
        free(done);
}

bool sim_done_is_ready(const sim_done *done)
{
    return atomic_load(&done->settled) && sim_now_ns() >= done->ready_ns;
}

void sim_done_await(sim_done *done)
{
    PJRT_Client *client = done->client;
    if (!atomic_load_explicit(&done->settled, memory_order_acquire)) {
        pthread_mutex_lock(&client->lock);
        while (!atomic_load(&done->settled))
            pthread_cond_wait(&client->settled, &client->lock);
        pthread_mutex_unlock(&client->lock);
    }
    /* An event that never fires blocks its waiter for ever, as a hung device does. */
    while (done->ready_ns == SIM_NEVER)
        sim_wait_until(sim_now_ns() + UINT64_C(3600000000000));
    if (sim_now_ns() >= done->ready_ns)
        return;
    uint64_t late_ns = sim_wait_until(done->ready_ns) - done->ready_ns;
    pthread_mutex_lock(&client->lock);
    sim_lateness_add(&client->await_late, late_ns);
    pthread_mutex_unlock(&client->lock);
}

/* ---- events ----------------------------------------------------------------------------- */

PJRT_Event *sim_event_new(sim_done *done)
{
    PJRT_Event *event = bn_alloc(sizeof *event);
    event->done = sim_done_retain(done);
    return event;
}

SIM_ENTRY(Event_Destroy)
{
    sim_done_release(args->event->done);
    free(args->event);
    return NULL;
}

SIM_ENTRY(Event_IsReady)
{
    args->is_ready = sim_done_is_ready(args->event->done);
    return NULL;
}

SIM_ENTRY(Event_Error)
{
    if (!sim_done_is_ready(args->event->done))
        return sim_error(SIM_FAILED_PRECONDITION, "the event has not fired yet");
    return sim_error_new(&args->event->done->error);
}

SIM_ENTRY(Event_Await)
{
    sim_done_await(args->event->done);
    return sim_error_new(&args->event->done->error);
}
