/* event.h - completions on a device, and the events that report them. */
#ifndef BENCH_RUNTIME_SIM_EVENT_H
#define BENCH_RUNTIME_SIM_EVENT_H

#include "runtime/sim/device/api.h"
#include "runtime/sim/program/program.h"

#include <stdatomic.h>

/* The end of something on a device, shared by all that wait for it. Fields change under
 * the client's lock until SETTLED, and not after. */
typedef struct sim_done {
    atomic_int references;
    PJRT_Client *client;
    atomic_bool settled; /* READY_NS and ERROR are final */
    uint64_t device_ns;  /* the device is done with it */
    uint64_t ready_ns;   /* the host sees it */
    sim_status error;
} sim_done;

/* An end that is not settled, with one reference; NULL without memory. */
sim_done *sim_done_new(PJRT_Client *client, uint64_t device_ns, uint64_t ready_ns);
sim_done *sim_done_retain(sim_done *done);
void sim_done_release(sim_done *done); /* NULL allowed */
/* Whether its event has fired. Any thread. */
bool sim_done_is_ready(const sim_done *done);
/* Waits until its event fires, as Await does; for ever where that never happens. Not under
 * the lock. */
void sim_done_await(sim_done *done);

struct PJRT_Event {
    sim_done *done;
};

/* An event of DONE, with a reference of its own; NULL without memory. */
PJRT_Event *sim_event_new(sim_done *done);

#endif
