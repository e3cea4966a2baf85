/*
 * calls_transfer.c - transfers between the host and buffers that are there already: to the host,
 * and what a manager of asynchronous transfers sends to the device.
 */
#include "runtime/base/dtypes.h"
#include "runtime/record/record_priv.h"

/* ---- sizes ---------------------------------------------------------------------------------- */

/* Bits of an element; 0: the table does not know the type. */
static unsigned bits_of(PJRT_Buffer_Type type)
{
    static const uint8_t bits_of_types[] = {
#define X(name, text, hlo, bits, class, pjrt, xla) [PJRT_Buffer_Type_##name] = bits,
        BN_DTYPES(X)
#undef X
    };
    return (size_t)type < sizeof bits_of_types ? bits_of_types[type] : 0;
}

bool record_array_bytes(PJRT_Buffer_Type type, const int64_t *dims, size_t rank, uint64_t *bytes)
{
    const unsigned bits = bits_of(type);
    uint64_t product = bits;
    *bytes = 0;
    for (size_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(product, (uint64_t)dims[i], &product))
            return true;
    *bytes = product / 8 + (product % 8 != 0);
    return bits > 0;
}

/* ---- events --------------------------------------------------------------------------------- */

record_event record_span_event(enum record_kind kind, const record_span *span)
{
    record_event event = {.kind = (uint8_t)kind, .time = span->begin};
    event.field[0] = span->end;
    event.field[1] = span->cpu_begin;
    event.field[2] = span->cpu_end;
    return event;
}

uint64_t record_transfer_number(const record_plugin *p, const PJRT_Event *event)
{
    return event && p->has_on_ready ? record_next_number() : 0;
}

/* BYTES that went to the host out of BUFFER, or to the device into it (NULL: which one is not
 * known); EVENT tells their end. */
static void put_transfer(record_plugin *p, enum record_kind kind, const record_span *span,
                         PJRT_Error *error, const PJRT_Buffer *buffer, uint64_t bytes,
                         PJRT_Event *event)
{
    record_event put = record_span_event(kind, span);
    put.flags = record_failure(p, error);
    put.field[3] = (uint64_t)(uintptr_t)buffer;
    put.field[4] = bytes;
    put.field[5] = error ? 0 : record_transfer_number(p, event);
    record_put(p, put, NULL, 0);
    if (put.field[5])
        record_watch(p, event, put.field[5], 0, false);
}

/* ---- to the host ----------------------------------------------------------------------------- */

PJRT_Error *record_Buffer_ToHostBuffer(record_plugin *p, PJRT_Buffer_ToHostBuffer_Args *caller)
{
    RECORD_CALL(p, Buffer_ToHostBuffer, caller, args);
    bool asks = !args->dst; /* only for the size */
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Buffer_ToHostBuffer(args);
    record_end(&span);
    record_narrow(caller, args);
    if (!asks)
        put_transfer(p, RECORD_TO_HOST, &span, error, args->src, args->dst_size, args->event);
    return error;
}

PJRT_Error *record_Buffer_CopyRawToHost(record_plugin *p, PJRT_Buffer_CopyRawToHost_Args *caller)
{
    RECORD_CALL(p, Buffer_CopyRawToHost, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Buffer_CopyRawToHost(args);
    record_end(&span);
    record_narrow(caller, args);
    put_transfer(p, RECORD_TO_HOST, &span, error, args->buffer, (uint64_t)args->transfer_size,
                 args->event);
    return error;
}

/* Whether BUFFER lies in memory of the host, as the plugin says. */
static bool is_on_host(const record_plugin *p, PJRT_Buffer *buffer)
{
    RECORD_ARGS(Buffer_IsOnCpu, args, .buffer = buffer);
    return RECORD_HAS(p, Buffer_IsOnCpu) &&
           record_succeeded(p, p->api->PJRT_Buffer_IsOnCpu(&args)) && args.is_on_cpu;
}

/* Somebody asks that the buffer's memory stays. JAX does so on a CPU to read a value where it is;
 * XLA's plugins for CPUs may wait here until the buffer is ready. Memory of another device is
 * handed to another framework so (DLPack), and nothing is read. */
PJRT_Error *record_Buffer_IncreaseExternalReferenceCount(
    record_plugin *p, PJRT_Buffer_IncreaseExternalReferenceCount_Args *caller)
{
    RECORD_CALL(p, Buffer_IncreaseExternalReferenceCount, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Buffer_IncreaseExternalReferenceCount(args);
    record_end(&span);
    record_narrow(caller, args);
    if (!is_on_host(p, args->buffer))
        return error;
    record_event event = record_span_event(RECORD_TO_HOST, &span);
    event.flags = record_failure(p, error) | RECORD_IN_PLACE;
    event.field[3] = (uint64_t)(uintptr_t)args->buffer;
    record_put(p, event, NULL, 0);
    return error;
}

/* ---- to the device ----------------------------------------------------------------------------
 */

/* 0 where the shapes are longer structs than the header's: who knows where the second one begins.
 */
static uint64_t bytes_of_shapes(const PJRT_ShapeSpec *shapes, size_t count)
{
    uint64_t sum = 0, bytes;
    if (count > 0 && shapes[0].struct_size > sizeof *shapes)
        return 0;
    for (size_t i = 0; i < count; i++) {
        record_array_bytes(shapes[i].element_type, shapes[i].dims, shapes[i].num_dims, &bytes);
        sum += bytes;
    }
    return sum;
}

/* Buffers of the manager have no handles before they are retrieved. */
PJRT_Error *record_Client_CreateBuffersForAsyncHostToDevice(
    record_plugin *p, PJRT_Client_CreateBuffersForAsyncHostToDevice_Args *caller)
{
    RECORD_CALL(p, Client_CreateBuffersForAsyncHostToDevice, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Client_CreateBuffersForAsyncHostToDevice(args);
    record_end(&span);
    record_narrow(caller, args);
    record_event event = record_span_event(RECORD_BUFFER, &span);
    uint64_t words[3] = {bytes_of_shapes(args->shape_specs, args->num_shape_specs)};
    const struct iovec part = {.iov_base = words, .iov_len = sizeof words};
    event.flags = record_failure(p, error);
    event.field[4] = RECORD_UNINITIALIZED;
    record_put(p, event, &part, 1);
    return error;
}

PJRT_Error *record_AsyncHostToDeviceTransferManager_TransferData(
    record_plugin *p, PJRT_AsyncHostToDeviceTransferManager_TransferData_Args *caller)
{
    RECORD_CALL(p, AsyncHostToDeviceTransferManager_TransferData, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_AsyncHostToDeviceTransferManager_TransferData(args);
    record_end(&span);
    record_narrow(caller, args);
    put_transfer(p, RECORD_TO_DEVICE, &span, error, NULL, (uint64_t)args->transfer_size,
                 args->done_with_h2d_transfer);
    return error;
}

PJRT_Error *record_AsyncHostToDeviceTransferManager_TransferLiteral(record_plugin *p,
                                                                    record_literal_args *args)
{
    if (!record_gate_open() || !record_later_active(p, args->struct_size, sizeof *args))
        return record_forward_AsyncHostToDeviceTransferManager_TransferLiteral(p, args);
    uint64_t bytes;
    record_span span = record_begin();
    PJRT_Error *error = record_forward_AsyncHostToDeviceTransferManager_TransferLiteral(p, args);
    record_end(&span);
    record_array_bytes(args->shape_element_type, args->shape_dims, args->shape_num_dims, &bytes);
    put_transfer(p, RECORD_TO_DEVICE, &span, error, NULL, bytes, args->done_with_h2d_transfer);
    return error;
}
