/*
 * device.c - a device: its thread, its life, its attributes and memory statistics.
 */
#include "runtime/sim/device/device.h"

#include "runtime/base/base.h"
#include "runtime/sim/device/client.h"
#include "runtime/sim/device/entries.h"
#include "runtime/sim/device/error.h"
#include "runtime/sim/device/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How often a callback is looked at whose values are still being computed. */
#define POLL_NS 1000000

/* ---- the thread ------------------------------------------------------------------------- */

void sim_device_submit(PJRT_Device *device, sim_work *work)
{
    work->next = NULL;
    if (device->last)
        device->last->next = work;
    else
        device->first = work;
    device->last = work;
    pthread_cond_signal(&device->wake);
}

/* Adds CALLBACK to those that the thread calls, in the order of their times. Under the lock. */
static void add_callback(PJRT_Device *device, sim_callback *callback)
{
    sim_callback **at = &device->callbacks;
    while (*at && (*at)->done->ready_ns <= callback->done->ready_ns)
        at = &(*at)->next;
    callback->next = *at;
    *at = callback;
    pthread_cond_signal(&device->wake);
}

/* Takes out the first callback whose event has fired; without one, *WHEN is when to look again. */
static sim_callback *callback_due(PJRT_Device *device, uint64_t *when)
{
    *when = SIM_NEVER;
    uint64_t now = sim_now_ns();
    for (sim_callback **at = &device->callbacks; *at; at = &(*at)->next) {
        sim_callback *callback = *at;
        bool settled = atomic_load(&callback->done->settled);
        if (settled && callback->done->ready_ns <= now) {
            *at = callback->next;
            return callback;
        }
        uint64_t then = settled ? callback->done->ready_ns : now + POLL_NS;
        if (then < *when)
            *when = then;
    }
    return NULL;
}

static void wait_for_work(PJRT_Device *device, uint64_t when)
{
    const uint64_t wake = when - SIM_SPIN_NS;
    struct timespec at = {(time_t)(wake / UINT64_C(1000000000)),
                          (long)(wake % UINT64_C(1000000000))};
    if (when == SIM_NEVER) {
        pthread_cond_wait(&device->wake, &device->client->lock);
    } else if (wake > sim_now_ns()) {
        pthread_cond_timedwait(&device->wake, &device->client->lock, &at);
    } else {
        pthread_mutex_unlock(&device->client->lock);
        sim_wait_until(when);
        pthread_mutex_lock(&device->client->lock);
    }
}

static void *run(void *argument)
{
    PJRT_Device *device = argument;
    PJRT_Client *client = device->client;
    pthread_mutex_lock(&client->lock);
    while (true) {
        uint64_t when = SIM_NEVER;
        sim_callback *callback = callback_due(device, &when);
        sim_work *work = callback ? NULL : device->first;
        if (work) {
            device->first = work->next;
            device->last = work->next ? device->last : NULL;
            pthread_mutex_unlock(&client->lock);
            sim_work_perform(work);
            pthread_mutex_lock(&client->lock);
        } else if (callback) {
            pthread_mutex_unlock(&client->lock);
            callback->call(sim_error_new(&callback->done->error), callback->argument);
            sim_done_release(callback->done);
            free(callback);
            pthread_mutex_lock(&client->lock);
        } else if (device->stop && when == SIM_NEVER) {
            break;
        } else {
            wait_for_work(device, when);
        }
    }
    pthread_mutex_unlock(&client->lock);
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------- */

void sim_description_fill(PJRT_DeviceDescription *d, const sim_config *config, int id)
{
    d->id = id;
    snprintf(d->kind, sizeof d->kind, "%s", config->kind);
    snprintf(d->text, sizeof d->text, "%s %d", d->kind, id);
    /* JAX does not read booleans here, so it is a number. */
    d->attributes[0] = (PJRT_NamedValue){SIM_NAMED("simulated", kInt64, 1), .int64_value = 1};
    d->attributes[1] = (PJRT_NamedValue){SIM_NAMED("preset", kString, strlen(config->preset)),
                                         .string_value = config->preset};
    d->attributes[2] = (PJRT_NamedValue){SIM_NAMED("memory_bytes", kInt64, 1),
                                         .int64_value = config->memory_bytes};
}

bool sim_device_start(PJRT_Device *device, PJRT_Client *client, int id)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&device->wake, &clock);
    pthread_condattr_destroy(&clock);
    device->client = client;
    device->memory.id = id;
    device->memory.device = device;
    device->memories[0] = &device->memory;
    for (uint64_t i = 0; i < SIM_STREAM_COUNT; i++)
        device->random[i] = sim_random_begin(client->seed, 1 + (uint64_t)id * SIM_STREAM_COUNT + i);
    sim_schedule_begin(device);
    device->next_address = 0x100000000u;
    sim_description_fill(&device->description, &client->config, id);
    snprintf(device->memory.text, sizeof device->memory.text, "memory of device %d", id);
    device->started = pthread_create(&device->thread, NULL, run, device) == 0;
    return device->started;
}

void sim_device_stop(PJRT_Device *device)
{
    if (!device->started)
        return;
    pthread_mutex_lock(&device->client->lock);
    device->stop = true;
    pthread_cond_signal(&device->wake);
    pthread_mutex_unlock(&device->client->lock);
    pthread_join(device->thread, NULL);
    while (device->callbacks) {
        sim_callback *callback = device->callbacks;
        device->callbacks = callback->next;
        sim_done_release(callback->done);
        free(callback);
    }
    pthread_cond_destroy(&device->wake);
}

/* ---- callbacks -------------------------------------------------------------------------- */

SIM_ENTRY(Event_OnReady)
{
    sim_done *done = args->event->done;
    if (sim_done_is_ready(done)) {
        args->callback(sim_error_new(&done->error), args->user_arg);
        return NULL;
    }
    sim_callback *callback = bn_alloc(sizeof *callback);
    *callback = (sim_callback){args->callback, args->user_arg, sim_done_retain(done), NULL};
    pthread_mutex_lock(&done->client->lock);
    /* The first device's thread calls those of all devices. */
    add_callback(done->client->devices[0], callback);
    pthread_mutex_unlock(&done->client->lock);
    return NULL;
}

/* ---- attributes and statistics ---------------------------------------------------------- */

SIM_ENTRY(DeviceDescription_Id)
{
    args->id = args->device_description->id;
    return NULL;
}

SIM_ENTRY(DeviceDescription_ProcessIndex)
{
    args->process_index = 0;
    return NULL;
}

SIM_ENTRY(DeviceDescription_Attributes)
{
    args->attributes = args->device_description->attributes;
    args->num_attributes = 3;
    return NULL;
}

SIM_ENTRY(DeviceDescription_Kind)
{
    args->device_kind = args->device_description->kind;
    args->device_kind_size = strlen(args->device_description->kind);
    return NULL;
}

SIM_ENTRY(DeviceDescription_DebugString)
{
    args->debug_string = args->device_description->text;
    args->debug_string_size = strlen(args->device_description->text);
    return NULL;
}

SIM_ENTRY(DeviceDescription_ToString)
{
    args->to_string = args->device_description->text;
    args->to_string_size = strlen(args->device_description->text);
    return NULL;
}

SIM_ENTRY(Device_GetDescription)
{
    args->device_description = &args->device->description;
    return NULL;
}

SIM_ENTRY(Device_IsAddressable)
{
    args->is_addressable = true;
    return NULL;
}

SIM_ENTRY(Device_LocalHardwareId)
{
    args->local_hardware_id = args->device->description.id;
    return NULL;
}

SIM_ENTRY(Device_AddressableMemories)
{
    args->device->memories[0] = &args->device->memory;
    args->memories = args->device->memories;
    args->num_memories = 1;
    return NULL;
}

SIM_ENTRY(Device_DefaultMemory)
{
    args->memory = &args->device->memory;
    return NULL;
}

SIM_ENTRY(Device_MemoryStats)
{
    PJRT_Device *device = args->device;
    pthread_mutex_lock(&device->client->lock);
    args->bytes_in_use = device->bytes_in_use;
    args->peak_bytes_in_use = device->peak_bytes;
    args->peak_bytes_in_use_is_set = true;
    args->bytes_limit = device->client->config.memory_bytes;
    args->bytes_limit_is_set = true;
    pthread_mutex_unlock(&device->client->lock);
    /* The caller may not have cleared what is not filled here. */
    args->num_allocs_is_set = args->largest_alloc_size_is_set = false;
    args->bytes_reserved_is_set = args->peak_bytes_reserved_is_set = false;
    args->bytes_reservable_limit_is_set = args->largest_free_block_bytes_is_set = false;
    /* Clients of an older time have no room for these. */
    if (args->struct_size >= PJRT_Device_MemoryStats_Args_STRUCT_SIZE)
        args->pool_bytes_is_set = args->peak_pool_bytes_is_set = false;
    return NULL;
}

SIM_ENTRY(Memory_Id)
{
    args->id = args->memory->id;
    return NULL;
}

SIM_ENTRY(Memory_Kind)
{
    args->kind = "device";
    args->kind_size = 6;
    return NULL;
}

SIM_ENTRY(Memory_Kind_Id)
{
    args->kind_id = 0;
    return NULL;
}

SIM_ENTRY(Memory_DebugString)
{
    args->debug_string = args->memory->text;
    args->debug_string_size = strlen(args->memory->text);
    return NULL;
}

SIM_ENTRY(Memory_ToString)
{
    args->to_string = args->memory->text;
    args->to_string_size = strlen(args->memory->text);
    return NULL;
}

SIM_ENTRY(Memory_AddressableByDevices)
{
    args->devices = &args->memory->device;
    args->num_devices = 1;
    return NULL;
}
