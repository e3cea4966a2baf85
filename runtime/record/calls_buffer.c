/*
 * calls_buffer.c - buffers that no execution makes, transfers to the host, and ends of buffers.
 */
#include "runtime/record/record_priv.h"

/* ---- what a buffer is -------------------------------------------------------------------------
 */

/* Bits of an element; 0: the header does not know the type. */
static unsigned bits_of(PJRT_Buffer_Type type)
{
    switch (type) {
    case PJRT_Buffer_Type_S2:
    case PJRT_Buffer_Type_U2:
        return 2;
    case PJRT_Buffer_Type_S4:
    case PJRT_Buffer_Type_U4:
    case PJRT_Buffer_Type_F4E2M1FN:
        return 4;
    case PJRT_Buffer_Type_PRED:
    case PJRT_Buffer_Type_S8:
    case PJRT_Buffer_Type_U8:
    case PJRT_Buffer_Type_F8E5M2:
    case PJRT_Buffer_Type_F8E4M3FN:
    case PJRT_Buffer_Type_F8E4M3B11FNUZ:
    case PJRT_Buffer_Type_F8E5M2FNUZ:
    case PJRT_Buffer_Type_F8E4M3FNUZ:
    case PJRT_Buffer_Type_F8E4M3:
    case PJRT_Buffer_Type_F8E3M4:
    case PJRT_Buffer_Type_F8E8M0FNU:
        return 8;
    case PJRT_Buffer_Type_S16:
    case PJRT_Buffer_Type_U16:
    case PJRT_Buffer_Type_F16:
    case PJRT_Buffer_Type_BF16:
        return 16;
    case PJRT_Buffer_Type_S32:
    case PJRT_Buffer_Type_U32:
    case PJRT_Buffer_Type_F32:
        return 32;
    case PJRT_Buffer_Type_S64:
    case PJRT_Buffer_Type_U64:
    case PJRT_Buffer_Type_F64:
    case PJRT_Buffer_Type_C64:
        return 64;
    case PJRT_Buffer_Type_C128:
        return 128;
    case PJRT_Buffer_Type_INVALID:
    case PJRT_Buffer_Type_TOKEN:
    default:
        return 0;
    }
}

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
    uint64_t elements = 1, bits = bits_of(m->type);
    for (size_t i = 0; i < m->rank; i++)
        if (__builtin_mul_overflow(elements, (uint64_t)m->dims[i], &elements))
            return 0;
    if (bits > 0)
        return __builtin_mul_overflow(elements, bits, &elements) ? 0 : (elements + 7) / 8;
    RECORD_ARGS(Buffer_OnDeviceSizeInBytes, args, .buffer = m->buffer);
    if (!RECORD_HAS(p, Buffer_OnDeviceSizeInBytes) ||
        !record_good(p, p->api->PJRT_Buffer_OnDeviceSizeInBytes(&args)))
        return 0;
    return args.on_device_size_in_bytes;
}

static PJRT_Device *device_of(record_plugin *p, PJRT_Buffer *buffer)
{
    RECORD_ARGS(Buffer_Device, args, .buffer = buffer);
    if (!RECORD_HAS(p, Buffer_Device) || !record_good(p, p->api->PJRT_Buffer_Device(&args)))
        return NULL;
    return args.device;
}

/* Type and shape, where the call did not tell them. */
static void ask_shape(record_plugin *p, made *m)
{
    RECORD_ARGS(Buffer_ElementType, type, .buffer = m->buffer);
    RECORD_ARGS(Buffer_Dimensions, dims, .buffer = m->buffer);
    if (RECORD_HAS(p, Buffer_ElementType) && record_good(p, p->api->PJRT_Buffer_ElementType(&type)))
        m->type = type.type;
    if (RECORD_HAS(p, Buffer_Dimensions) && record_good(p, p->api->PJRT_Buffer_Dimensions(&dims))) {
        m->dims = dims.dims;
        m->rank = dims.num_dims;
    }
}

static record_event transfer_event(enum record_kind kind, const record_span *span)
{
    record_event event = {.kind = (uint8_t)kind, .time = span->begin};
    event.field[0] = span->end;
    event.field[1] = span->cpu_begin;
    event.field[2] = span->cpu_end;
    return event;
}

/* The number of a transfer that EVENT ends; 0 where its end cannot be seen. */
static uint64_t transfer_number(const record_plugin *p, const PJRT_Event *event)
{
    return event && p->has_on_ready ? record_next_number() : 0;
}

static void put_made(record_plugin *p, made *m, const record_span *span, PJRT_Error *error)
{
    record_event event = transfer_event(RECORD_BUFFER, span);
    uint64_t words[3] = {0};
    event.flags = record_failure(p, error);
    if (!error) {
        event.field[3] = (uint64_t)(uintptr_t)m->buffer;
        event.field[5] = (uint64_t)(uintptr_t)(m->device ? m->device : device_of(p, m->buffer));
        words[0] = bytes_of(p, m);
        words[1] = (uint64_t)(uintptr_t)m->of;
        words[2] = transfer_number(p, m->event);
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

/* With these semantics the event fires when the buffer is given back: it tells no transfer's end.
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
    made m = {.buffer = args->buffer_out, .how = RECORD_FROM_HOST};
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

/* ---- transfers to the host --------------------------------------------------------------------
 */

static void put_to_host(record_plugin *p, const record_span *span, PJRT_Error *error,
                        const PJRT_Buffer *buffer, uint64_t bytes, PJRT_Event *event)
{
    record_event put = transfer_event(RECORD_TO_HOST, span);
    put.flags = record_failure(p, error);
    put.field[3] = (uint64_t)(uintptr_t)buffer;
    put.field[4] = bytes;
    put.field[5] = error ? 0 : transfer_number(p, event);
    record_put(p, put, NULL, 0);
    if (put.field[5])
        record_watch(p, event, put.field[5], 0, false);
}

PJRT_Error *record_Buffer_ToHostBuffer(record_plugin *p, PJRT_Buffer_ToHostBuffer_Args *caller)
{
    RECORD_CALL(p, Buffer_ToHostBuffer, caller, args);
    bool asks = !args->dst; /* only for the size */
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Buffer_ToHostBuffer(args);
    record_end(&span);
    record_narrow(caller, args);
    if (!asks)
        put_to_host(p, &span, error, args->src, args->dst_size, args->event);
    return error;
}

PJRT_Error *record_Buffer_CopyRawToHost(record_plugin *p, PJRT_Buffer_CopyRawToHost_Args *caller)
{
    RECORD_CALL(p, Buffer_CopyRawToHost, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Buffer_CopyRawToHost(args);
    record_end(&span);
    record_narrow(caller, args);
    put_to_host(p, &span, error, args->buffer, (uint64_t)args->transfer_size, args->event);
    return error;
}

/* ---- ends ----------------------------------------------------------------------------------- */

/* What became of its memory is for the executions to tell, see format.h. Most ends come in a row:
 * they are put first, because there are hundreds for one execution. */
PJRT_Error *record_Buffer_Destroy(record_plugin *p, PJRT_Buffer_Destroy_Args *caller)
{
    if (caller->struct_size >= PJRT_Buffer_Destroy_Args_STRUCT_SIZE && caller->buffer &&
        record_put_end_again(caller->buffer))
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
