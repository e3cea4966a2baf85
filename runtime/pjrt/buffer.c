/*
 * buffer.c - device buffers: to the device, back, type, readiness, release.
 *
 * Host data are always dense and row-major; a device may lay its copy out as
 * it likes, so the layout is stated when reading back. Source: PJRT_Buffer_*
 * and PJRT_Client_BufferFromHostBuffer in pjrt_c_api.h.
 */
#include "runtime/pjrt/pjrt_priv.h"

static const struct dtype_row {
    const char *text;
    size_t bytes;
    PJRT_Buffer_Type pjrt;
} dtype_rows[RT_DTYPE_COUNT] = {
#define X(dtype, text, bytes, pjrt) [dtype] = {text, bytes, PJRT_Buffer_Type_##pjrt},
    RT_DTYPES(X)
#undef X
};

size_t rt_dtype_bytes(rt_dtype dtype)
{
    return dtype_rows[dtype].bytes;
}

const char *rt_dtype_text(rt_dtype dtype)
{
    return dtype_rows[dtype].text;
}

PJRT_Buffer_Type rt_dtype_pjrt(rt_dtype dtype)
{
    return dtype_rows[dtype].pjrt;
}

rt_dtype rt_dtype_numbered(int64_t number)
{
    int dtype = 0;
    while (dtype < RT_DTYPE_COUNT && (int64_t)dtype_rows[dtype].pjrt != number)
        dtype++;
    return (rt_dtype)dtype;
}

static PJRT_Buffer *handle_of(rt_buffer *buffer)
{
    return (PJRT_Buffer *)buffer;
}

static bn_code from_host(rt_client *client, const void *data, rt_dtype dtype, const int64_t *dims,
                         size_t rank, PJRT_HostBufferSemantics semantics, rt_buffer **buffer,
                         rt_event **host_done, bn_status *st)
{
    static const int64_t no_dims[1] = {0};
    if ((unsigned)dtype >= RT_DTYPE_COUNT)
        return bn_fail(st, BN_INVALID, "unknown element type %d", (int)dtype);
    if (rank > RT_MAX_RANK)
        return bn_fail(st, BN_INVALID, "rank %zu, at most %d", rank, RT_MAX_RANK);
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return bn_fail(st, BN_INVALID, "dimension %zu is %lld", i, (long long)dims[i]);
    }
    PJRT_Client_BufferFromHostBuffer_Args args = RT_ARGS(
        PJRT_Client_BufferFromHostBuffer, .client = client->handle, .data = data,
        .type = rt_dtype_pjrt(dtype), .dims = rank > 0 ? dims : no_dims, .num_dims = rank,
        .host_buffer_semantics = semantics, .device = client->devices[client->device_in_use]);
    bn_code code =
        RT_CALL(client->plugin, PJRT_Client_BufferFromHostBuffer, &args, RT_STAGE_OTHER, st);
    if (code != BN_OK)
        return code;
    rt_live_add(RT_LIVE_BUFFER, 1);
    *buffer = (rt_buffer *)args.buffer;
    *host_done = (rt_event *)args.done_with_host_buffer;
    if (*host_done)
        rt_live_add(RT_LIVE_EVENT, 1);
    return BN_OK;
}

bn_code rt_buffer_from_host_async(rt_client *client, const void *data, rt_dtype dtype,
                                  const int64_t *dims, size_t rank, rt_buffer **buffer,
                                  rt_event **host_done, bn_status *st)
{
    return from_host(client, data, dtype, dims, rank,
                     PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes, buffer, host_done,
                     st);
}

bn_code rt_buffer_from_host(rt_client *client, const void *data, rt_dtype dtype,
                            const int64_t *dims, size_t rank, rt_buffer **buffer, bn_status *st)
{
    rt_event *host_done = NULL;
    rt_buffer *created = NULL;
    bn_code code =
        from_host(client, data, dtype, dims, rank,
                  PJRT_HostBufferSemantics_kImmutableOnlyDuringCall, &created, &host_done, st);
    if (code != BN_OK)
        return code;
    if (host_done)
        code = rt_event_await(client, host_done, st);
    rt_event_release(client, host_done);
    if (code != BN_OK) {
        rt_buffer_release(client, created);
        return code;
    }
    *buffer = created;
    return BN_OK;
}

bn_code rt_buffer_type(rt_client *client, rt_buffer *buffer, rt_dtype *dtype,
                       int64_t dims[RT_MAX_RANK], size_t *rank, bn_status *st)
{
    PJRT_Buffer_ElementType_Args type =
        RT_ARGS(PJRT_Buffer_ElementType, .buffer = handle_of(buffer));
    bn_code code = RT_CALL(client->plugin, PJRT_Buffer_ElementType, &type, RT_STAGE_OTHER, st);
    if (code != BN_OK)
        return code;
    const rt_dtype known = rt_dtype_numbered((int64_t)type.type);
    if (known == RT_DTYPE_COUNT)
        return bn_fail(st, BN_NOT_SUPPORTED, "buffer of element type %d of PJRT", (int)type.type);

    PJRT_Buffer_Dimensions_Args shape =
        RT_ARGS(PJRT_Buffer_Dimensions, .buffer = handle_of(buffer));
    code = RT_CALL(client->plugin, PJRT_Buffer_Dimensions, &shape, RT_STAGE_OTHER, st);
    if (code != BN_OK)
        return code;
    if (shape.num_dims > RT_MAX_RANK)
        return bn_fail(st, BN_NOT_SUPPORTED, "buffer of rank %zu, at most %d", shape.num_dims,
                       RT_MAX_RANK);
    *dtype = known;
    *rank = shape.num_dims;
    for (size_t i = 0; i < shape.num_dims; i++)
        dims[i] = shape.dims[i];
    return BN_OK;
}

/* Refuses to read into a place of another size than the buffer's contents;
 * RANK is the buffer's. */
static bn_code check_read(rt_client *client, rt_buffer *buffer, size_t size, size_t *rank,
                          bn_status *st)
{
    rt_dtype dtype;
    int64_t dims[RT_MAX_RANK];
    /* The plugin would read a donated buffer's type, but not its contents. */
    if (rt_buffer_is_deleted(client, buffer))
        return bn_fail(st, BN_INVALID, "the buffer was donated or deleted");
    bn_code code = rt_buffer_type(client, buffer, &dtype, dims, rank, st);
    if (code != BN_OK)
        return code;
    size_t bytes = rt_dtype_bytes(dtype);
    for (size_t i = 0; i < *rank; i++)
        bytes *= (size_t)dims[i];
    if (bytes != size)
        return bn_fail(st, BN_INVALID, "the buffer holds %zu bytes, the host expects %zu", bytes,
                       size);
    return BN_OK;
}

bn_code rt_buffer_to_host(rt_client *client, rt_buffer *buffer, void *data, size_t size,
                          bn_status *st)
{
    size_t rank = 0;
    bn_code code = check_read(client, buffer, size, &rank, st);
    if (code != BN_OK)
        return code;
    int64_t minor_to_major[RT_MAX_RANK] = {0};
    for (size_t i = 0; i < rank; i++)
        minor_to_major[i] = (int64_t)(rank - 1 - i);
    PJRT_Buffer_MemoryLayout layout = {
        .struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
        .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                  .minor_to_major = minor_to_major,
                  .minor_to_major_size = rank},
    };
    PJRT_Buffer_ToHostBuffer_Args args =
        RT_ARGS(PJRT_Buffer_ToHostBuffer, .src = handle_of(buffer), .host_layout = &layout,
                .dst = data, .dst_size = size);
    code = RT_CALL(client->plugin, PJRT_Buffer_ToHostBuffer, &args, RT_STAGE_EXECUTE, st);
    if (code != BN_OK)
        return code;
    rt_event *done = (rt_event *)args.event;
    if (!done)
        return BN_OK;
    rt_live_add(RT_LIVE_EVENT, 1);
    code = rt_event_await(client, done, st);
    rt_event_release(client, done);
    return code;
}

bn_code rt_buffer_await(rt_client *client, rt_buffer *buffer, bn_status *st)
{
    PJRT_Buffer_ReadyEvent_Args args = RT_ARGS(PJRT_Buffer_ReadyEvent, .buffer = handle_of(buffer));
    bn_code code = RT_CALL(client->plugin, PJRT_Buffer_ReadyEvent, &args, RT_STAGE_EXECUTE, st);
    if (code != BN_OK)
        return code;
    rt_event *ready = (rt_event *)args.event;
    rt_live_add(RT_LIVE_EVENT, 1);
    code = rt_event_await(client, ready, st);
    rt_event_release(client, ready);
    return code;
}

bool rt_buffer_is_deleted(rt_client *client, rt_buffer *buffer)
{
    PJRT_Buffer_IsDeleted_Args args = RT_ARGS(PJRT_Buffer_IsDeleted, .buffer = handle_of(buffer));
    return RT_CALL(client->plugin, PJRT_Buffer_IsDeleted, &args, RT_STAGE_OTHER, NULL) == BN_OK &&
           args.is_deleted;
}

bn_code rt_buffer_layout(rt_client *client, rt_buffer *buffer, bn_text *out, bool *by_rows,
                         bn_status *st)
{
    PJRT_Buffer_GetMemoryLayout_Args args =
        RT_ARGS(PJRT_Buffer_GetMemoryLayout, .buffer = handle_of(buffer));
    bn_code code = RT_CALL(client->plugin, PJRT_Buffer_GetMemoryLayout, &args, RT_STAGE_OTHER, st);
    *by_rows = true;
    if (code != BN_OK)
        return code;
    const PJRT_Buffer_MemoryLayout_Tiled *tiled = &args.layout.tiled;
    const size_t rank = tiled->minor_to_major_size;
    if (args.layout.type != PJRT_Buffer_MemoryLayout_Type_Tiled || rank > RT_MAX_RANK)
        return bn_fail(st, BN_NOT_SUPPORTED, "the plugin tells no order of a buffer's dimensions");
    if (rank == 0)
        return BN_OK;
    if (!bn_text_layout(out, tiled->minor_to_major, rank))
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "the plugin tells an order of dimensions that is none");
    for (size_t i = 0; i < rank; i++)
        *by_rows = *by_rows && tiled->minor_to_major[i] == (int64_t)(rank - 1 - i);
    const int64_t *sizes = tiled->tile_dims;
    for (size_t t = 0; t < tiled->num_tiles; sizes += tiled->tile_dim_sizes[t++])
        bn_text_tile(out, t, sizes, tiled->tile_dim_sizes[t]);
    bn_text_putc(out, '}');
    return out->failed ? bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a layout") : BN_OK;
}

bn_code rt_buffer_address(rt_client *client, rt_buffer *buffer, uintptr_t *address, bn_status *st)
{
    PJRT_Buffer_UnsafePointer_Args args =
        RT_ARGS(PJRT_Buffer_UnsafePointer, .buffer = handle_of(buffer));
    bn_code code = RT_CALL(client->plugin, PJRT_Buffer_UnsafePointer, &args, RT_STAGE_OTHER, st);
    if (code == BN_OK)
        *address = args.buffer_pointer;
    return code;
}

void rt_buffer_release(rt_client *client, rt_buffer *buffer)
{
    if (!buffer)
        return;
    PJRT_Buffer_Destroy_Args args = RT_ARGS(PJRT_Buffer_Destroy, .buffer = handle_of(buffer));
    if (RT_CALL(client->plugin, PJRT_Buffer_Destroy, &args, RT_STAGE_OTHER, NULL) == BN_OK)
        rt_live_add(RT_LIVE_BUFFER, -1);
}
