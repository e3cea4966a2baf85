/*
 * buffer.c - device buffers: to the device, back, type, readiness, release.
 *
 * Host data are always dense and row-major; a device may lay its copy out as
 * it likes, so the layout is stated when reading back. Source: PJRT_Buffer_*
 * and PJRT_Client_BufferFromHostBuffer in pjrt_c_api.h.
 */
#include "runtime/pjrt/pjrt_priv.h"

#include <stdlib.h>
#include <string.h>

#define X(name, text, hlo, bits, class, pjrt, xla)                                                 \
    _Static_assert(PJRT_Buffer_Type_##name == (pjrt), "PJRT's number of " #name);
BN_DTYPES(X)
#undef X

static PJRT_Buffer *handle_of(rt_buffer *buffer)
{
    return (PJRT_Buffer *)buffer;
}

/* A layout without tiles, in the plugin's terms; ORDER outlives it. */
static PJRT_Buffer_MemoryLayout tiled(const int64_t *order, size_t rank)
{
    return (PJRT_Buffer_MemoryLayout){
        .struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
        .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                  .minor_to_major = order,
                  .minor_to_major_size = rank},
    };
}

/* Sends DATA, dense row-major. The device lays it out in ORDER; NULL: in its default layout. */
static bn_code from_host(rt_client *client, const void *data, rt_dtype dtype, const int64_t *dims,
                         size_t rank, const int64_t *order, PJRT_HostBufferSemantics semantics,
                         rt_buffer **buffer, rt_event **host_done, bn_status *st)
{
    static const int64_t no_dims[1] = {0};
    PJRT_Buffer_MemoryLayout layout = tiled(order, rank);
    if ((unsigned)dtype >= RT_DTYPE_COUNT)
        return bn_fail(st, BN_INVALID, "unknown element type %d", (int)dtype);
    if (rank > RT_MAX_RANK)
        return bn_fail(st, BN_INVALID, "rank %zu, at most %d", rank, RT_MAX_RANK);
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return bn_fail(st, BN_INVALID, "dimension %zu is %lld", i, (long long)dims[i]);
    }
    PJRT_Client_BufferFromHostBuffer_Args args =
        RT_ARGS(PJRT_Client_BufferFromHostBuffer, .client = client->handle, .data = data,
                .type = (PJRT_Buffer_Type)bn_dtypes[dtype].pjrt, .dims = rank > 0 ? dims : no_dims, .num_dims = rank,
                .host_buffer_semantics = semantics, .device = client->devices[0],
                .device_layout = order ? &layout : NULL);
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
    return from_host(client, data, dtype, dims, rank, NULL,
                     PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes, buffer, host_done,
                     st);
}

/* from_host, and waits until DATA is free again. */
static bn_code send(rt_client *client, const void *data, rt_dtype dtype, const int64_t *dims,
                    size_t rank, const int64_t *order, rt_buffer **buffer, bn_status *st)
{
    rt_event *host_done = NULL;
    rt_buffer *created = NULL;
    bn_code code =
        from_host(client, data, dtype, dims, rank, order,
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

bn_code rt_buffer_from_host(rt_client *client, const void *data, rt_dtype dtype,
                            const int64_t *dims, size_t rank, rt_buffer **buffer, bn_status *st)
{
    return send(client, data, dtype, dims, rank, NULL, buffer, st);
}

bn_code rt_buffer_type(rt_client *client, rt_buffer *buffer, rt_dtype *dtype,
                       int64_t dims[RT_MAX_RANK], size_t *rank, bn_status *st)
{
    PJRT_Buffer_ElementType_Args type =
        RT_ARGS(PJRT_Buffer_ElementType, .buffer = handle_of(buffer));
    bn_code code = RT_CALL(client->plugin, PJRT_Buffer_ElementType, &type, RT_STAGE_OTHER, st);
    if (code != BN_OK)
        return code;
    const rt_dtype known = bn_dtype_numbered((int64_t)type.type, false, RT_DTYPE_COUNT);
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
 * DTYPE, DIMS and RANK are the buffer's. */
static bn_code check_read(rt_client *client, rt_buffer *buffer, size_t size, rt_dtype *dtype,
                          int64_t dims[RT_MAX_RANK], size_t *rank, bn_status *st)
{
    /* The plugin would read a donated buffer's type, but not its contents. */
    if (rt_buffer_is_deleted(client, buffer))
        return bn_fail(st, BN_INVALID, "the buffer was donated or deleted");
    bn_code code = rt_buffer_type(client, buffer, dtype, dims, rank, st);
    if (code != BN_OK)
        return code;
    size_t bytes = bn_dtype_bytes(*dtype);
    for (size_t i = 0; i < *rank; i++)
        bytes *= (size_t)dims[i];
    if (bytes != size)
        return bn_fail(st, BN_INVALID, "the buffer holds %zu bytes, the host expects %zu", bytes,
                       size);
    return BN_OK;
}

/* Copies elements of ELEMENT bytes from FROM, dense row-major, to TO, where they lie by ORDER, the
 * most minor dimension first; or, with TO_ORDER false, the other way round. */
static void rearrange(void *to, const void *from, size_t element, const int64_t *dims, size_t rank,
                      const int64_t *order, bool to_order)
{
    size_t strides[RT_MAX_RANK], lies = 0, count = 1;
    int64_t at[RT_MAX_RANK] = {0};
    for (size_t i = 0; i < rank; i++) {
        strides[order[i]] = count;
        count *= (size_t)dims[order[i]];
    }
    for (size_t i = 0; i < count; i++) {
        const size_t source = to_order ? i : lies, target = to_order ? lies : i;
        memcpy((char *)to + target * element, (const char *)from + source * element, element);
        /* To the next element, as an odometer counts. */
        for (size_t d = rank; d-- > 0;) {
            lies += strides[d];
            if (++at[d] < dims[d])
                break;
            lies -= strides[d] * (size_t)dims[d];
            at[d] = 0;
        }
    }
}

/* Copies the buffer's SIZE bytes to DATA as they lie by ORDER, and waits. */
static bn_code fetch(rt_client *client, rt_buffer *buffer, const int64_t *order, size_t rank,
                     void *data, size_t size, bn_status *st)
{
    PJRT_Buffer_MemoryLayout layout = tiled(order, rank);
    PJRT_Buffer_ToHostBuffer_Args args =
        RT_ARGS(PJRT_Buffer_ToHostBuffer, .src = handle_of(buffer), .host_layout = &layout,
                .dst = data, .dst_size = size);
    bn_code code = RT_CALL(client->plugin, PJRT_Buffer_ToHostBuffer, &args, RT_STAGE_EXECUTE, st);
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

bn_code rt_buffer_to_host(rt_client *client, rt_buffer *buffer, void *data, size_t size,
                          bn_status *st)
{
    rt_dtype dtype;
    int64_t dims[RT_MAX_RANK], order[RT_MAX_RANK];
    size_t rank = 0;
    bn_code code = check_read(client, buffer, size, &dtype, dims, &rank, st);
    if (code != BN_OK)
        return code;
    /* Some plugins take no notice of the host's layout (XLA for CPU of 2025 does not): what does
     * not lie by rows is fetched as it lies, and put in order here. */
    const bool by_rows = rank < 2 || rt_buffer_order(client, buffer, order, rank, NULL) != BN_OK ||
                         rt_order_is_by_rows(order, rank);
    if (by_rows) {
        for (size_t i = 0; i < rank; i++)
            order[i] = (int64_t)(rank - 1 - i);
        return fetch(client, buffer, order, rank, data, size, st);
    }
    char *rearranged = malloc(size + 1);
    if (!rearranged)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a copy of %zu bytes", size);
    code = fetch(client, buffer, order, rank, rearranged, size, st);
    if (code == BN_OK)
        rearrange(data, rearranged, bn_dtype_bytes(dtype), dims, rank, order, false);
    free(rearranged);
    return code;
}

/* ---- layouts that are asked for ------------------------------------------ */

/* Whether BUFFER lies by ORDER, and its contents, as they lie, are the SIZE bytes LYING. */
static bn_code check_laid_out(rt_client *client, rt_buffer *buffer, const int64_t *order,
                              size_t rank, const void *rearranged, size_t size, bool *good,
                              bn_status *st)
{
    int64_t found[RT_MAX_RANK];
    *good = false;
    bn_code code = rt_buffer_order(client, buffer, found, rank, st);
    if (code != BN_OK || memcmp(found, order, rank * sizeof *order) != 0)
        return code;
    char *back = malloc(size + 1);
    if (!back)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a copy of %zu bytes", size);
    code = fetch(client, buffer, order, rank, back, size, st);
    *good = code == BN_OK && memcmp(back, rearranged, size) == 0;
    free(back);
    return code;
}

bn_code rt_buffer_from_host_laid_out(rt_client *client, const void *data, rt_dtype dtype,
                                     const int64_t *dims, size_t rank, const int64_t *order,
                                     rt_buffer **buffer, bn_status *st)
{
    if (rank < 2 || rt_order_is_by_rows(order, rank))
        return rt_buffer_from_host(client, data, dtype, dims, rank, buffer, st);
    size_t size = bn_dtype_bytes(dtype);
    for (size_t i = 0; i < rank; i++)
        size *= (size_t)dims[i];
    char *rearranged = malloc(size + 1);
    if (!rearranged)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a copy of %zu bytes", size);
    rearrange(rearranged, data, bn_dtype_bytes(dtype), dims, rank, order, true);
    bn_code code = BN_OK;
    bool good = false;
    /* Which of both a plugin does shows when the contents are read back. */
    for (rt_ordering tried = RT_ORDERING_REARRANGES;
         tried <= RT_ORDERING_COPIES && code == BN_OK && !good; tried++) {
        if (client->ordering && tried != client->ordering)
            continue;
        code = send(client, tried == RT_ORDERING_COPIES ? rearranged : data, dtype, dims, rank,
                    order, buffer, st);
        good = client->ordering != RT_ORDERING_UNKNOWN;
        if (code == BN_OK && !good) {
            code = check_laid_out(client, *buffer, order, rank, rearranged, size, &good, st);
            if (!good)
                rt_buffer_release(client, *buffer);
            else if (memcmp(data, rearranged, size) != 0) /* equal bytes tell nothing */
                client->ordering = tried;
        }
    }
    free(rearranged);
    if (code == BN_OK && !good) {
        bn_text text = {0};
        (void)bn_text_layout(&text, order, rank);
        code = bn_fail(st, BN_NOT_SUPPORTED,
                       "the plugin does not lay out an argument as the program takes it, %s}",
                       text.data);
        bn_text_free(&text);
    }
    if (code != BN_OK)
        *buffer = NULL;
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

/* The layout of BUFFER, as the plugin reports it. */
static bn_code layout_of(rt_client *client, rt_buffer *buffer,
                         PJRT_Buffer_MemoryLayout_Tiled *layout, bn_status *st)
{
    PJRT_Buffer_GetMemoryLayout_Args args =
        RT_ARGS(PJRT_Buffer_GetMemoryLayout, .buffer = handle_of(buffer));
    bn_code code = RT_CALL(client->plugin, PJRT_Buffer_GetMemoryLayout, &args, RT_STAGE_OTHER, st);
    *layout = args.layout.tiled;
    if (code != BN_OK)
        return code;
    if (args.layout.type != PJRT_Buffer_MemoryLayout_Type_Tiled ||
        layout->minor_to_major_size > RT_MAX_RANK)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "the plugin reports no order of a buffer's dimensions");
    return BN_OK;
}

bool rt_order_is_by_rows(const int64_t *order, size_t rank)
{
    for (size_t i = 0; i < rank; i++)
        if (order[i] != (int64_t)(rank - 1 - i))
            return false;
    return true;
}

bool rt_order_is_one(const int64_t *order, size_t rank)
{
    uint64_t seen = 0;
    for (size_t i = 0; i < rank; i++) {
        if (order[i] < 0 || (uint64_t)order[i] >= rank || seen >> order[i] & 1)
            return false;
        seen |= UINT64_C(1) << order[i];
    }
    return rank <= RT_MAX_RANK;
}

bn_code rt_buffer_order(rt_client *client, rt_buffer *buffer, int64_t *order, size_t rank,
                        bn_status *st)
{
    PJRT_Buffer_MemoryLayout_Tiled layout;
    bn_code code = layout_of(client, buffer, &layout, st);
    if (code == BN_OK &&
        (layout.minor_to_major_size != rank || !rt_order_is_one(layout.minor_to_major, rank)))
        code =
            bn_fail(st, BN_NOT_SUPPORTED, "the plugin reports an order of dimensions that is none");
    if (code == BN_OK && rank)
        memcpy(order, layout.minor_to_major, rank * sizeof *order);
    return code;
}

bn_code rt_buffer_layout(rt_client *client, rt_buffer *buffer, bn_text *out, bool *by_rows,
                         bn_status *st)
{
    PJRT_Buffer_MemoryLayout_Tiled layout;
    *by_rows = true;
    bn_code code = layout_of(client, buffer, &layout, st);
    const size_t rank = layout.minor_to_major_size;
    if (code != BN_OK || rank == 0)
        return code;
    if (!rt_order_is_one(layout.minor_to_major, rank))
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "the plugin reports an order of dimensions that is none");
    *by_rows = rt_order_is_by_rows(layout.minor_to_major, rank);
    (void)bn_text_layout(out, layout.minor_to_major, rank);
    const int64_t *sizes = layout.tile_dims;
    for (size_t t = 0; t < layout.num_tiles; sizes += layout.tile_dim_sizes[t++])
        bn_text_tile(out, t, sizes, layout.tile_dim_sizes[t]);
    bn_text_putc(out, '}');
    return BN_OK;
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
