/*
 * device.h - a device: its schedule, its memory's figures, its thread.
 *
 * The device's time is a schedule. When an execution is submitted, its start and end
 * follow from the model and from what is queued before it, so its event knows at once when
 * it will fire. A waiter sleeps until shortly before, and then spins: no thread has to
 * wake up in time for a time to be right. The device's thread does the rest: it computes
 * values, in order of submission, and calls back for events. Where values take longer than
 * the model says, the event fires when they are there, and the report counts it as late.
 */
#ifndef BENCH_RUNTIME_SIM_DEVICE_H
#define BENCH_RUNTIME_SIM_DEVICE_H

#include "runtime/sim/device/client.h"
#include "runtime/sim/device/clock.h"
#include "runtime/sim/device/config.h"
#include "runtime/sim/device/event.h"
#include "runtime/sim/device/work.h"

#include <pthread.h>

struct PJRT_Memory {
    int id;
    PJRT_Device *device;
    char text[64];
};

struct PJRT_DeviceDescription {
    int id;
    char kind[256], text[272];
    PJRT_NamedValue attributes[3];
};

/* A function to call when an event fires, as Event_OnReady was given it. The device's
 * thread calls it, without the lock, with the execution's error, which the function must
 * destroy, or NULL. An event that has fired already calls it at once, in the thread of
 * Event_OnReady. */
typedef struct sim_callback {
    PJRT_Event_OnReadyCallback call;
    void *argument;
    sim_done *done;
    struct sim_callback *next;
} sim_callback;

/* All but CLIENT, DESCRIPTION and MEMORY is under the client's lock. */
struct PJRT_Device {
    PJRT_Client *client;
    PJRT_DeviceDescription description;
    PJRT_Memory memory;
    PJRT_Memory *memories[1];
    /* The schedule: when the device, and each direction of its transfers, is free. */
    uint64_t free_ns, to_device_free_ns, to_host_free_ns;
    uint64_t executions;
    sim_random random[SIM_STREAM_COUNT];
    double wander;           /* logarithm of the factor by wander_sd, of the execution before */
    uint64_t until_burst_ns; /* work until the next burst */
    int64_t bytes_in_use, peak_bytes;
    uintptr_t next_address;
    /* The thread. */
    pthread_t thread;
    pthread_cond_t wake;
    bool started, stop;
    sim_work *first, *last;
    sim_callback *callbacks; /* in order of time */
};

/* Fills D for device ID. D points into CONFIG, which must stay. */
void sim_description_fill(PJRT_DeviceDescription *d, const sim_config *config, int id);
/* Fills the zeroed DEVICE and starts its thread; false when there is none. */
bool sim_device_start(PJRT_Device *device, PJRT_Client *client, int id);
/* Finishes what is queued and ends the thread. Callbacks of events that never fire are
 * dropped. Does nothing for a device that was not started. */
void sim_device_stop(PJRT_Device *device);
/* Queues WORK, which the device then owns. Under the lock. */
void sim_device_submit(PJRT_Device *device, sim_work *work);

#endif
