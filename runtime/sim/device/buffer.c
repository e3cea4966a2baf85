/* buffer.c - buffers: transfers from and to the host, attributes. */
#include "runtime/sim/device/buffer.h"

#include "runtime/base/base.h"
#include "runtime/sim/device/client.h"
#include "runtime/sim/device/clock.h"
#include "runtime/sim/device/device.h"
#include "runtime/sim/device/entries.h"
#include "runtime/sim/device/error.h"
#include "runtime/sim/device/schedule.h"

#include <stdlib.h>
#include <string.h>

/* ---- buffers ---------------------------------------------------------------------------- */

PJRT_Buffer *sim_buffer_new(const sim_type *type, const sim_layout *layout, PJRT_Device *device,
                            sim_memory *memory, sim_done *done)
{
    PJRT_Buffer *buffer = bn_zalloc(1, sizeof *buffer);
    buffer->type = *type;
    buffer->layout = layout->rank == type->rank ? *layout : (sim_layout){0};
    for (int i = 0; i < type->rank; i++)
        buffer->order[i] = buffer->layout.rank ? buffer->layout.order[i] : type->rank - 1 - i;
    buffer->device = device;
    buffer->memory = sim_memory_retain(memory);
    buffer->done = sim_done_retain(done);
    return buffer;
}

void sim_buffer_free(PJRT_Buffer *buffer)
{
    if (!buffer)
        return;
    sim_memory_drop(buffer->memory);
    sim_done_release(buffer->done);
    free(buffer);
}

/* The layout that the caller ASKS for of a value of RANK dimensions, or else DEFAULTS. False for
 * what is no order of dimensions; tiles are passed over. */
static bool read_layout(const PJRT_Buffer_MemoryLayout *asks, int rank, const sim_layout *defaults,
                        sim_layout *layout)
{
    *layout = *defaults;
    if (!asks)
        return true;
    return asks->type == PJRT_Buffer_MemoryLayout_Type_Tiled &&
           asks->tiled.minor_to_major_size == (size_t)rank &&
           sim_layout_take(asks->tiled.minor_to_major, (size_t)rank, layout);
}

static PJRT_Error *no_layout(void)
{
    return sim_error(SIM_INVALID_ARGUMENT, "the layout is no order of the dimensions");
}

/* ---- from the host ---------------------------------------------------------------------- */

static PJRT_Error *host_type(const PJRT_Client_BufferFromHostBuffer_Args *args, sim_type *type)
{
    int64_t bytes;
    type->dtype = bn_dtype_numbered(args->type, false, BN_DTYPES_SIMULATED);
    if (args->num_dims > SIM_MAX_RANK || type->dtype == BN_DTYPES_SIMULATED)
        return sim_error(SIM_UNIMPLEMENTED, "rank %zu or element type %d", args->num_dims,
                         (int)args->type);
    type->rank = (int)args->num_dims;
    bytes = (int64_t)bn_dtype_bytes(type->dtype);
    for (int i = 0; i < type->rank; i++) {
        type->dims[i] = args->dims[i];
        if (args->dims[i] < 0 || __builtin_mul_overflow(bytes, args->dims[i], &bytes))
            return sim_error(SIM_INVALID_ARGUMENT, "dimension %d is %lld", i,
                             (long long)args->dims[i]);
    }
    if (args->num_byte_strides != 0 && args->num_byte_strides != args->num_dims)
        return sim_error(SIM_INVALID_ARGUMENT, "%zu strides for %zu dimensions",
                         args->num_byte_strides, args->num_dims);
    return NULL;
}

/* The device that gets the buffer: that of the memory, or the device, that the caller
 * names, else the first. */
static PJRT_Device *device_of(const PJRT_Client_BufferFromHostBuffer_Args *args)
{
    return args->memory ? args->memory->device
                        : (args->device ? args->device : args->client->devices[0]);
}

static PJRT_Buffer *from_host(PJRT_Client_BufferFromHostBuffer_Args *args, const sim_type *type,
                              const sim_layout *layout, sim_memory *memory, uint64_t now_ns,
                              sim_status *st)
{
    PJRT_Client *client = args->client;
    PJRT_Device *device = memory->device;
    memory->data = malloc((size_t)memory->bytes + 1);
    if (!memory->data) {
        sim_fail(st, SIM_RESOURCE_EXHAUSTED, "no memory on the host for a buffer");
        return NULL;
    }
    sim_host_read(memory->data, args->data, type,
                  args->num_byte_strides ? args->byte_strides : NULL);
    pthread_mutex_lock(&client->lock);
    uint64_t end_ns = sim_transfer_schedule(client, &device->to_device_free_ns, now_ns,
                                            memory->bytes, client->config.to_device_gbps);
    pthread_mutex_unlock(&client->lock);
    sim_done *done = sim_done_new(client, end_ns, end_ns);
    atomic_store(&done->settled, true);
    PJRT_Buffer *buffer = sim_buffer_new(type, layout, device, memory, done);
    args->done_with_host_buffer = sim_event_new(done);
    sim_done_release(done);
    return buffer;
}

SIM_ENTRY(Client_BufferFromHostBuffer)
{
    PJRT_Client *client = args->client;
    uint64_t now_ns = sim_now_ns();
    sim_type type;
    sim_status st = {.code = SIM_OK};
    sim_layout layout;
    PJRT_Error *error = host_type(args, &type);
    if (error)
        return error;
    if (!read_layout(args->device_layout, type.rank, &(sim_layout){0}, &layout))
        return no_layout();
    const sim_fault *fault = sim_fault_meet(client, SIM_AT_TRANSFER);
    if (fault)
        return sim_error(fault->code, "simulated fault: the transfer fails");
    PJRT_Device *device = device_of(args);
    int64_t bytes = sim_type_bytes(&type);
    pthread_mutex_lock(&client->lock);
    sim_memory *memory = NULL;
    if (sim_memory_fits(device, bytes, 0, "a buffer", &st) == SIM_OK)
        memory = sim_memory_new(device, bytes);
    pthread_mutex_unlock(&client->lock);
    args->buffer = memory ? from_host(args, &type, &layout, memory, now_ns, &st) : NULL;
    sim_memory_release(memory);
    return sim_error_new(&st);
}

/* ---- to the host ------------------------------------------------------------------------ */

static PJRT_Error *deleted(void)
{
    return sim_error(SIM_INVALID_ARGUMENT, "the buffer has been deleted or donated");
}

/* Values that are still being computed are copied by the device's thread, which works in
 * the order of submission. */
static void copy_later(PJRT_Buffer_ToHostBuffer_Args *args, const sim_layout *layout,
                       sim_done *done)
{
    sim_work *work = bn_zalloc(1, sizeof *work);
    work->to = args->dst;
    work->type = args->src->type;
    work->layout = *layout;
    work->from = sim_memory_retain(args->src->memory);
    work->source = sim_done_retain(args->src->done);
    work->done = sim_done_retain(done);
    sim_device_submit(args->src->device, work);
}

static void copy_now(const PJRT_Buffer_ToHostBuffer_Args *args, const sim_layout *layout,
                     sim_done *done)
{
    const sim_memory *memory = args->src->memory;
    if (memory->data)
        sim_host_write(args->dst, memory->data, &args->src->type, layout);
    else
        memset(args->dst, 0, (size_t)memory->bytes);
    done->error = args->src->done->error;
    atomic_store_explicit(&done->settled, true, memory_order_release);
}

SIM_ENTRY(Buffer_ToHostBuffer)
{
    const PJRT_Buffer *source = args->src;
    if (!source->memory)
        return deleted();
    size_t bytes = (size_t)source->memory->bytes;
    if (!args->dst) {
        args->dst_size = bytes;
        return NULL;
    }
    if (args->dst_size < bytes)
        return sim_error(SIM_INVALID_ARGUMENT, "%zu bytes do not hold the buffer's %zu",
                         args->dst_size, bytes);
    PJRT_Device *device = source->device;
    PJRT_Client *client = device->client;
    sim_layout layout;
    if (!read_layout(args->host_layout, source->type.rank, &source->layout, &layout))
        return no_layout();
    sim_done *done = sim_done_new(client, 0, 0);
    pthread_mutex_lock(&client->lock);
    uint64_t now_ns = sim_now_ns(), from_ns = source->done->ready_ns;
    from_ns = from_ns > now_ns ? from_ns : now_ns;
    done->ready_ns = from_ns == SIM_NEVER
                         ? SIM_NEVER
                         : sim_transfer_schedule(client, &device->to_host_free_ns, from_ns,
                                                 (int64_t)bytes, client->config.to_host_gbps);
    done->device_ns = done->ready_ns;
    if (atomic_load(&source->done->settled))
        copy_now(args, &layout, done);
    else
        copy_later(args, &layout, done);
    pthread_mutex_unlock(&client->lock);
    args->event = sim_event_new(done);
    sim_done_release(done);
    return NULL;
}

/* ---- attributes, and its end ------------------------------------------------------------ */

SIM_ENTRY(Buffer_Destroy)
{
    PJRT_Client *client = args->buffer->device->client;
    uint64_t begin_ns = sim_now_ns();
    sim_buffer_free(args->buffer);
    if (client->config.release_us > 0)
        sim_wait_until(begin_ns + sim_us_to_ns(client->config.release_us));
    return NULL;
}

SIM_ENTRY(Buffer_Delete)
{
    sim_memory *memory = args->buffer->memory;
    args->buffer->memory = NULL;
    sim_memory_drop(memory);
    return NULL;
}

SIM_ENTRY(Buffer_IsDeleted)
{
    args->is_deleted = args->buffer->memory == NULL;
    return NULL;
}

SIM_ENTRY(Buffer_ElementType)
{
    args->type = (PJRT_Buffer_Type)bn_dtypes[args->buffer->type.dtype].pjrt;
    return NULL;
}

SIM_ENTRY(Buffer_Dimensions)
{
    args->dims = args->buffer->type.dims;
    args->num_dims = (size_t)args->buffer->type.rank;
    return NULL;
}

SIM_ENTRY(Buffer_UnpaddedDimensions)
{
    args->unpadded_dims = args->buffer->type.dims;
    args->num_dims = (size_t)args->buffer->type.rank;
    return NULL;
}

SIM_ENTRY(Buffer_DynamicDimensionIndices)
{
    args->dynamic_dim_indices = NULL;
    args->num_dynamic_dims = 0;
    return NULL;
}

SIM_ENTRY(Buffer_OnDeviceSizeInBytes)
{
    args->on_device_size_in_bytes = (size_t)sim_type_bytes(&args->buffer->type);
    return NULL;
}

SIM_ENTRY(Buffer_Device)
{
    args->device = args->buffer->device;
    return NULL;
}

SIM_ENTRY(Buffer_Memory)
{
    args->memory = &args->buffer->device->memory;
    return NULL;
}

SIM_ENTRY(Buffer_IsOnCpu)
{
    args->is_on_cpu = false;
    return NULL;
}

SIM_ENTRY(Buffer_ReadyEvent)
{
    if (!args->buffer->memory)
        return deleted();
    args->event = sim_event_new(args->buffer->done);
    return NULL;
}

SIM_ENTRY(Buffer_UnsafePointer)
{
    if (!args->buffer->memory)
        return deleted();
    args->buffer_pointer = args->buffer->memory->address;
    return NULL;
}

/* Without tiles. */
SIM_ENTRY(Buffer_GetMemoryLayout)
{
    args->layout = (PJRT_Buffer_MemoryLayout){
        .struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
        .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                  .minor_to_major = args->buffer->order,
                  .minor_to_major_size = (size_t)args->buffer->type.rank},
    };
    return NULL;
}
