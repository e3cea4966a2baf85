/*
 * copy.c - copies of buffers between a client's devices.
 *
 * Devices have no links of their own: a copy takes the time of a transfer to the host
 * and of one from there, in the queues of both.
 */
#include "runtime/base/base.h"
#include "runtime/sim/device/buffer.h"
#include "runtime/sim/device/client.h"
#include "runtime/sim/device/clock.h"
#include "runtime/sim/device/device.h"
#include "runtime/sim/device/entries.h"
#include "runtime/sim/device/error.h"
#include "runtime/sim/device/schedule.h"

#include <stdlib.h>

/* ---- values ----------------------------------------------------------------------------- */

/* Values that are still being computed are copied by the thread of the device that gets
 * them. Work that is queued there later then finds them. */
static void copy_later(const PJRT_Buffer *source, sim_memory *memory, sim_done *done)
{
    sim_work *work = bn_zalloc(1, sizeof *work);
    work->results = bn_alloc(sizeof *work->results);
    work->results[0] = sim_memory_retain(memory);
    work->result_count = 1;
    work->from = sim_memory_retain(source->memory);
    work->source = sim_done_retain(source->done);
    work->done = sim_done_retain(done);
    sim_device_submit(memory->device, work);
}

/* Under the lock. */
static bool copy_values(const PJRT_Buffer *source, sim_memory *memory, sim_done *done)
{
    memory->uncomputed = source->memory->uncomputed;
    if (!atomic_load(&source->done->settled)) {
        copy_later(source, memory, done);
        return true;
    }
    done->error = source->done->error;
    if (sim_memory_copy(memory, source->memory, &done->error) != SIM_OK)
        return false;
    atomic_store_explicit(&done->settled, true, memory_order_release);
    return true;
}

/* ---- copies ----------------------------------------------------------------------------- */

/* When the copy is there. Under the lock. */
static uint64_t copy_end(const PJRT_Buffer *source, PJRT_Device *to)
{
    PJRT_Client *client = to->client;
    int64_t bytes = source->memory->bytes;
    uint64_t now_ns = sim_now_ns(), from_ns = source->done->ready_ns;
    if (from_ns == SIM_NEVER)
        return SIM_NEVER;
    uint64_t host_ns = sim_transfer_schedule(client, &source->device->to_host_free_ns,
                                             from_ns > now_ns ? from_ns : now_ns, bytes,
                                             client->config.to_host_gbps);
    return sim_transfer_schedule(client, &to->to_device_free_ns, host_ns, bytes,
                                 client->config.to_device_gbps);
}

static PJRT_Error *copy(PJRT_Buffer *source, PJRT_Device *to, PJRT_Buffer **made)
{
    PJRT_Client *client = to->client;
    sim_status st = {.code = SIM_OK};
    if (!source->memory)
        return sim_error(SIM_INVALID_ARGUMENT, "the buffer has been deleted or donated");
    if (source->device->client != client)
        return sim_error(SIM_INVALID_ARGUMENT, "the copy is for another client's device");
    const sim_fault *fault = sim_fault_meet(client, SIM_AT_TRANSFER);
    if (fault)
        return sim_error(fault->code, "simulated fault: the transfer fails");
    sim_done *done = sim_done_new(client, 0, 0);
    sim_memory *memory = NULL;
    bool good = false;
    *made = NULL;
    pthread_mutex_lock(&client->lock);
    if (sim_memory_fits(to, source->memory->bytes, 0, "a copy", &st) == SIM_OK)
        memory = sim_memory_new(to, source->memory->bytes);
    if (memory) {
        done->device_ns = done->ready_ns = copy_end(source, to);
        good = copy_values(source, memory, done);
    }
    pthread_mutex_unlock(&client->lock);
    if (good)
        *made = sim_buffer_new(&source->type, &source->layout, to, memory, done);
    if (!*made && st.code == SIM_OK)
        sim_fail(&st, SIM_RESOURCE_EXHAUSTED, "no memory on the host for a copy");
    sim_memory_release(memory);
    sim_done_release(done);
    return sim_error_new(&st);
}

SIM_ENTRY(Buffer_CopyToMemory)
{
    return copy(args->buffer, args->dst_memory->device, &args->dst_buffer);
}

SIM_ENTRY(Buffer_CopyToDevice)
{
    if (args->buffer->device == args->dst_device)
        return sim_error(SIM_INVALID_ARGUMENT, "the buffer is on device %d already",
                         args->dst_device->description.id);
    return copy(args->buffer, args->dst_device, &args->dst_buffer);
}
