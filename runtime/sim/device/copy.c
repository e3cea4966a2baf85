/*
 * copy.c - copies of buffers between a client's devices, and how bytes lie, in a buffer
 * and on the host.
 *
 * Devices have no links of their own: a copy takes the time of a transfer to the host
 * and of one from there, in the queues of both.
 */
#include "runtime/sim/device/sim_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- values ----------------------------------------------------------------------------- */

sim_code sim_memory_copy(sim_memory *to, const sim_memory *from, sim_status *st)
{
    to->failed = from->failed;
    if (!from->data)
        return SIM_OK;
    to->data = malloc((size_t)from->bytes + 1);
    if (!to->data) {
        to->failed = true;
        return sim_fail(st, SIM_RESOURCE_EXHAUSTED, "no memory on the host for a copy");
    }
    memcpy(to->data, from->data, (size_t)from->bytes);
    return SIM_OK;
}

/* What is still computed is copied by the thread of the device that gets it: whatever
 * is queued there later then finds it. */
static bool copy_later(const PJRT_Buffer *source, sim_memory *memory, sim_done *done)
{
    sim_work *work = calloc(1, sizeof *work);
    sim_memory **results = malloc(sizeof(sim_memory *));
    if (!work || !results) {
        free(work);
        free(results);
        return false;
    }
    results[0] = sim_memory_retain(memory);
    work->results = results;
    work->result_count = 1;
    work->from = sim_memory_retain(source->memory);
    work->source = sim_done_retain(source->done);
    work->done = sim_done_retain(done);
    sim_device_submit(memory->device, work);
    return true;
}

/* Under the lock. */
static bool copy_values(const PJRT_Buffer *source, sim_memory *memory, sim_done *done)
{
    memory->valueless = source->memory->valueless;
    if (!atomic_load(&source->done->settled))
        return copy_later(source, memory, done);
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
    if (done && sim_memory_fits(to, source->memory->bytes, 0, "a copy", &st) == SIM_OK)
        memory = sim_memory_new(to, source->memory->bytes);
    if (memory) {
        done->device_ns = done->ready_ns = copy_end(source, to);
        good = copy_values(source, memory, done);
    }
    pthread_mutex_unlock(&client->lock);
    if (good)
        *made = sim_buffer_new(&source->type, to, memory, done);
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

/* ---- layout ----------------------------------------------------------------------------- */

static bool is_dense(const sim_type *type, const int64_t *strides)
{
    int64_t dense = (int64_t)sim_dtype_bytes(type->dtype);
    for (int d = type->rank - 1; d >= 0; d--) {
        if (type->dims[d] > 1 && strides[d] != dense)
            return false;
        dense *= type->dims[d];
    }
    return true;
}

void sim_host_read(unsigned char *to, const void *data, const sim_type *type,
                   const int64_t *strides)
{
    const unsigned char *from = data;
    size_t size = sim_dtype_bytes(type->dtype);
    int64_t at[SIM_MAX_RANK] = {0}, elements = sim_type_elements(type);
    if (!strides || elements == 0 || is_dense(type, strides)) {
        memcpy(to, from, (size_t)elements * size);
        return;
    }
    for (int64_t i = 0; i < elements; i++, to += size) {
        memcpy(to, from, size);
        /* To the next element, as an odometer counts. */
        for (int d = type->rank - 1; d >= 0; d--) {
            from += strides[d];
            if (++at[d] < type->dims[d])
                break;
            from -= strides[d] * at[d];
            at[d] = 0;
        }
    }
}

/* Dense and row-major, without tiles: the last dimension is the most minor one. */
SIM_ENTRY(Buffer_GetMemoryLayout)
{
    static const int64_t last_first[] = {31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21,
                                         20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10,
                                         9,  8,  7,  6,  5,  4,  3,  2,  1,  0};
    static const size_t count = sizeof last_first / sizeof *last_first;
    _Static_assert(sizeof last_first / sizeof *last_first >= SIM_MAX_RANK,
                   "each rank has a layout");
    size_t rank = (size_t)args->buffer->type.rank;
    args->layout = (PJRT_Buffer_MemoryLayout){
        .struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
        .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                  .minor_to_major = last_first + count - rank,
                  .minor_to_major_size = rank},
    };
    return NULL;
}
