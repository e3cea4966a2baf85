/*
 * calls_buffer.c - buffers that no execution makes, and ends of buffers.
 */
#include "runtime/record/record_priv.h"

/* ---- what a buffer is -------------------------------------------------------------------------
 */

/* A buffer that a call has made. */
typedef struct made {
    PJRT_Buffer *buffer;
    enum record_buffer how;
    PJRT_Buffer_Type type;
    const int64_t *dims;
    size_t rank;
    PJRT_Device *device; /* NULL: the plugin is asked */
    PJRT_Buffer *of;     /* of which it is a copy */
    PJRT_Event *event;   /* the caller's, which fires when the transfer has ended, or NULL */
} made;

static uint64_t bytes_of(record_plugin *p, const made *m)
{
    uint64_t bytes;
    if (record_array_bytes(m->type, m->dims, m->rank, &bytes))
        return bytes;
    RECORD_ARGS(Buffer_OnDeviceSizeInBytes, args, .buffer = m->buffer);
    if (!RECORD_HAS(p, Buffer_OnDeviceSizeInBytes) ||
        !record_succeeded(p, p->api->PJRT_Buffer_OnDeviceSizeInBytes(&args)))
        return 0;
    return args.on_device_size_in_bytes;
}

static PJRT_Device *device_of(record_plugin *p, PJRT_Buffer *buffer)
{
    RECORD_ARGS(Buffer_Device, args, .buffer = buffer);
    if (!RECORD_HAS(p, Buffer_Device) || !record_succeeded(p, p->api->PJRT_Buffer_Device(&args)))
        return NULL;
    return args.device;
}

/* Type and shape, where the call did not tell them. */
static void ask_shape(record_plugin *p, made *m)
{
    RECORD_ARGS(Buffer_ElementType, type, .buffer = m->buffer);
    RECORD_ARGS(Buffer_Dimensions, dims, .buffer = m->buffer);
    if (RECORD_HAS(p, Buffer_ElementType) &&
        record_succeeded(p, p->api->PJRT_Buffer_ElementType(&type)))
        m->type = type.type;
    if (RECORD_HAS(p, Buffer_Dimensions) &&
        record_succeeded(p, p->api->PJRT_Buffer_Dimensions(&dims))) {
        m->rank = record_list_length(p, "dimensions of a buffer", dims.num_dims, RECORD_MOST_RANK,
                                     dims.dims);
        m->dims = dims.dims;
    }
}

static void put_made(record_plugin *p, made *m, const record_span *span, PJRT_Error *error)
{
    record_event event = record_span_event(RECORD_BUFFER, span);
    uint64_t words[3] = {0};
    event.flags = record_failure(p, error);
    if (!error) {
        event.field[3] = (uint64_t)(uintptr_t)m->buffer;
        event.field[5] = (uint64_t)(uintptr_t)(m->device ? m->device : device_of(p, m->buffer));
        words[0] = bytes_of(p, m);
        words[1] = (uint64_t)(uintptr_t)m->of;
        words[2] = record_transfer_number(p, m->event);
    }
    event.field[4] = (uint64_t)m->how | (uint64_t)m->type << 32;
    const struct iovec parts[2] = {
        {.iov_base = words, .iov_len = sizeof words},
        {.iov_base = (void *)(uintptr_t)m->dims, .iov_len = m->rank * sizeof *m->dims},
    };
    record_put(p, event, parts, 2);
    if (words[2])
        record_watch(p, m->event, words[2], 0, false);
}

/* ---- calls that make buffers ------------------------------------------------------------------
 */

/* With these semantics the event fires when the buffer is released: it is no transfer's end.
 */
static bool shares_memory(PJRT_HostBufferSemantics semantics)
{
    return semantics == PJRT_HostBufferSemantics_kImmutableZeroCopy ||
           semantics == PJRT_HostBufferSemantics_kMutableZeroCopy;
}

PJRT_Error *record_Client_BufferFromHostBuffer(record_plugin *p,
                                               PJRT_Client_BufferFromHostBuffer_Args *caller)
{
    RECORD_CALL(p, Client_BufferFromHostBuffer, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Client_BufferFromHostBuffer(args);
    record_end(&span);
    record_narrow(caller, args);
    made m = {.buffer = args->buffer,
              .how = RECORD_FROM_HOST,
              .type = args->type,
              .dims = args->dims,
              .rank = args->num_dims,
              .device = args->memory ? NULL : args->device,
              .event =
                  shares_memory(args->host_buffer_semantics) ? NULL : args->done_with_host_buffer};
    put_made(p, &m, &span, error);
    return error;
}

PJRT_Error *
record_Client_CreateUninitializedBuffer(record_plugin *p,
                                        PJRT_Client_CreateUninitializedBuffer_Args *caller)
{
    RECORD_CALL(p, Client_CreateUninitializedBuffer, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Client_CreateUninitializedBuffer(args);
    record_end(&span);
    record_narrow(caller, args);
    made m = {.buffer = args->buffer,
              .how = RECORD_UNINITIALIZED,
              .type = args->shape_element_type,
              .dims = args->shape_dims,
              .rank = args->shape_num_dims,
              .device = args->memory ? NULL : args->device};
    put_made(p, &m, &span, error);
    return error;
}

PJRT_Error *
record_Client_CreateViewOfDeviceBuffer(record_plugin *p,
                                       PJRT_Client_CreateViewOfDeviceBuffer_Args *caller)
{
    RECORD_CALL(p, Client_CreateViewOfDeviceBuffer, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Client_CreateViewOfDeviceBuffer(args);
    record_end(&span);
    record_narrow(caller, args);
    made m = {.buffer = args->buffer,
              .how = RECORD_VIEW,
              .type = args->element_type,
              .dims = args->dims,
              .rank = args->num_dims,
              .device = args->memory ? NULL : args->device};
    put_made(p, &m, &span, error);
    return error;
}

PJRT_Error *record_Client_CreateAliasBuffer(record_plugin *p,
                                            PJRT_Client_CreateAliasBuffer_Args *caller)
{
    RECORD_CALL(p, Client_CreateAliasBuffer, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Client_CreateAliasBuffer(args);
    record_end(&span);
    record_narrow(caller, args);
    made m = {.buffer = args->alias_buffer,
              .how = RECORD_ALIAS,
              .type = args->shape_element_type,
              .dims = args->shape_dims,
              .rank = args->shape_num_dims};
    put_made(p, &m, &span, error);
    return error;
}

PJRT_Error *record_AsyncHostToDeviceTransferManager_RetrieveBuffer(
    record_plugin *p, PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args *caller)
{
    RECORD_CALL(p, AsyncHostToDeviceTransferManager_RetrieveBuffer, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer(args);
    record_end(&span);
    record_narrow(caller, args);
    made m = {.buffer = args->buffer_out, .how = RECORD_UNINITIALIZED};
    if (!error)
        ask_shape(p, &m);
    put_made(p, &m, &span, error);
    return error;
}

PJRT_Error *record_Buffer_CopyToDevice(record_plugin *p, PJRT_Buffer_CopyToDevice_Args *caller)
{
    RECORD_CALL(p, Buffer_CopyToDevice, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Buffer_CopyToDevice(args);
    record_end(&span);
    record_narrow(caller, args);
    made m = {.buffer = args->dst_buffer,
              .how = RECORD_COPY,
              .device = args->dst_device,
              .of = args->buffer};
    if (!error)
        ask_shape(p, &m);
    put_made(p, &m, &span, error);
    return error;
}

PJRT_Error *record_Buffer_CopyToMemory(record_plugin *p, PJRT_Buffer_CopyToMemory_Args *caller)
{
    RECORD_CALL(p, Buffer_CopyToMemory, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Buffer_CopyToMemory(args);
    record_end(&span);
    record_narrow(caller, args);
    made m = {.buffer = args->dst_buffer, .how = RECORD_COPY, .of = args->buffer};
    if (!error)
        ask_shape(p, &m);
    put_made(p, &m, &span, error);
    return error;
}

/* ---- ends ----------------------------------------------------------------------------------- */

/* The fate of its memory is in the executions' events, see format.h. Most ends come in a row: they
 * are written first, because there are hundreds for one execution. */
PJRT_Error *record_Buffer_Destroy(record_plugin *p, PJRT_Buffer_Destroy_Args *caller)
{
    if (caller->struct_size >= PJRT_Buffer_Destroy_Args_STRUCT_SIZE && caller->buffer &&
        record_gate_open() && record_put_end_again(caller->buffer))
        return p->api->PJRT_Buffer_Destroy(caller);
    RECORD_CALL(p, Buffer_Destroy, caller, args);
    if (args->buffer)
        record_put_end(p, args->buffer, RECORD_UNASKED);
    PJRT_Error *error = p->api->PJRT_Buffer_Destroy(args);
    record_narrow(caller, args);
    return error;
}

static uint8_t memory_flags(const record_plugin *p, PJRT_Buffer *buffer)
{
    if (!RECORD_HAS(p, Buffer_IsDeleted))
        return RECORD_UNASKED;
    return record_is_deleted(p, buffer) ? RECORD_DELETED : 0;
}

PJRT_Error *record_Buffer_Delete(record_plugin *p, PJRT_Buffer_Delete_Args *caller)
{
    RECORD_CALL(p, Buffer_Delete, caller, args);
    if (args->buffer)
        record_put_end(p, args->buffer,
                       (uint8_t)(RECORD_ONLY_MEMORY | memory_flags(p, args->buffer)));
    PJRT_Error *error = p->api->PJRT_Buffer_Delete(args);
    record_narrow(caller, args);
    return error;
}
