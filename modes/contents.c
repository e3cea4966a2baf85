/*
 * contents.c - what variables hold on the device: written, sent ahead, placed, read, freed.
 */
#include "modes/mode_priv.h"

#include <string.h>

bn_code mode_write(mode *m, tg_tensor *variable, const void *host, bn_status *st)
{
    const tg_type *type = tg_tensor_type(variable);
    rt_buffer *buffer = NULL;
    bn_code code = rt_buffer_from_host(m->client, host, type->dtype, type->dims, (size_t)type->rank,
                                       &buffer, st);
    if (code != BN_OK)
        return bn_context(st, "writing %s", tg_tensor_name(variable));
    m->counters[BN_COUNTER_TRANSFERS_TO_DEVICE]++;
    mode_clear(m, variable);
    tg_tensor_set_data(variable, buffer);
    return BN_OK;
}

bn_code mode_upload(mode *m, const tg_type *type, const void *host, rt_buffer **buffer,
                    rt_event **host_done, bn_status *st)
{
    const uint64_t begin_ns = m->timeline ? bn_now_ns() : 0;
    m->counters[BN_COUNTER_TRANSFERS_TO_DEVICE]++;
    bn_code code = rt_buffer_from_host_async(m->client, host, type->dtype, type->dims,
                                             (size_t)type->rank, buffer, host_done, st);
    if (m->timeline)
        (void)bn_timeline_call(m->timeline, BN_SPAN_TO_DEVICE, NULL, (uint64_t)tg_type_bytes(type),
                               begin_ns, bn_now_ns());
    return code;
}

void mode_place(mode *m, tg_tensor *variable, rt_buffer *buffer)
{
    void *old = tg_tensor_data(variable);
    if (old)
        mode_list_push(&m->retired, old);
    tg_tensor_set_data(variable, buffer);
}

bn_code mode_read_buffer(mode *m, rt_buffer *buffer, void *host, size_t size, bn_status *st)
{
    bn_part before = mode_clock(m, BN_PART_READ);
    const uint64_t begin_ns = m->part_since;
    m->counters[BN_COUNTER_TRANSFERS_TO_HOST]++;
    bn_code code = rt_buffer_to_host(m->client, buffer, host, size, st);
    mode_clock(m, before);
    if (m->timeline)
        (void)bn_timeline_call(m->timeline, BN_SPAN_TO_HOST, NULL, size, begin_ns, m->part_since);
    return code;
}

bn_code mode_read(mode *m, const tg_tensor *variable, void *host, size_t size, bn_status *st)
{
    rt_buffer *buffer = tg_tensor_data(variable);
    bn_code code;
    if (!buffer)
        code = bn_fail(st, BN_INVALID, "it has no contents");
    else if ((int64_t)size != tg_type_bytes(tg_tensor_type(variable)))
        code = bn_fail(st, BN_INVALID, "its contents are not %zu bytes", size);
    else
        code = mode_read_buffer(m, buffer, host, size, st);
    return code == BN_OK ? BN_OK : bn_context(st, "reading %s", tg_tensor_name(variable));
}

void mode_clear(mode *m, tg_tensor *variable)
{
    rt_buffer_release(m->client, tg_tensor_data(variable));
    tg_tensor_set_data(variable, NULL);
}
