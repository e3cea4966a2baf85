/*
 * client.h - a client: its settings, its devices, what it counted, and the lock.
 *
 * One lock a client guards schedules, queues, counters and figures of memory. The comment
 * of a function says whether its caller holds the lock ("under the lock") or must not.
 * Events, executables and memory are counted references.
 */
#ifndef BENCH_RUNTIME_SIM_CLIENT_H
#define BENCH_RUNTIME_SIM_CLIENT_H

#include "runtime/sim/device/api.h"
#include "runtime/sim/device/clock.h"
#include "runtime/sim/device/config.h"

#include <pthread.h>
#include <stdatomic.h>

#define SIM_MAX_DEVICES 64

/* The sequences of a client's seed (sim_random_begin): its own, then these for each device. */
#define SIM_STREAM_CLIENT 0
typedef enum sim_stream {
    SIM_STREAM_TIMES,
    SIM_STREAM_CALLS,
    SIM_STREAM_WANDER,
    SIM_STREAM_BURSTS,
    SIM_STREAM_COUNT
} sim_stream;

struct PJRT_Client {
    sim_config config;
    pthread_mutex_t lock;
    pthread_cond_t settled; /* the end of something on a device has become final */
    PJRT_Device *devices[SIM_MAX_DEVICES];
    PJRT_Memory *memories[SIM_MAX_DEVICES];
    PJRT_TopologyDescription *topology; /* made when asked for */
    char platform_version[128];
    uint64_t seed;         /* of all its disturbances, made of the settings seed and process */
    double process_factor; /* on all its device times, by process_sd */
    atomic_uint_fast64_t calls[SIM_AT_COUNT]; /* of each place where faults happen */
    uint64_t executions; /* Execute calls that came as far as their arguments */
    uint64_t late_values;
    sim_lateness await_late, execute_late;
};

/* Counts a call at AT; the fault that it meets, or NULL. A hang or an abort happens here
 * (fault.c). Any thread, without the lock. */
const sim_fault *sim_fault_meet(PJRT_Client *client, sim_fault_at at);

void sim_topology_free(PJRT_TopologyDescription *topology); /* topology.c; NULL allowed */

#endif
