/*
 * host.c - ops that the device cannot compute: their operand is read, the host computes, the result
 * is sent. Frameworks call it a fallback.
 */
#include "modes/mode_priv.h"

#include <stdlib.h>
#include <string.h>

bn_code mode_buffer_of(const tg_tensor *value, rt_buffer **buffer, bn_status *st)
{
    const tg_tensor *variable = tg_input_variable(value);
    *buffer = tg_tensor_data(variable ? variable : value);
    if (*buffer)
        return BN_OK;
    if (variable)
        return bn_fail(st, BN_INVALID, "%s has no contents; write it before the first step",
                       tg_tensor_name(variable));
    return bn_fail(st, BN_INVALID, "a value has no buffer: it was forgotten, or never computed");
}

/* Sends HOST as a buffer of the step's temporaries. */
static bn_code send(mode *m, const tg_host_op *op, const void *host, rt_buffer **result,
                    bn_status *st)
{
    rt_event *sent = NULL;
    bn_code code = mode_upload(m, &op->out, host, result, &sent, st);
    if (code != BN_OK)
        return code;
    mode_list_push(&m->temporaries, *result);
    if (sent)
        code = rt_event_await(m->client, sent, st);
    rt_event_release(m->client, sent);
    return code;
}

static void count_op(mode *m, const char *name)
{
    size_t i = 0;
    while (i < m->host_op_count && strcmp(m->host_counts[i].op, name) != 0)
        i++;
    if (i == m->host_op_count) {
        bn_grow(&m->host_counts, i + 1, &m->host_op_room, sizeof *m->host_counts);
        m->host_counts[m->host_op_count++] = (mode_host_count){.op = name};
    }
    m->host_counts[i].count++;
    m->counters[BN_COUNTER_HOST_FALLBACKS]++;
}

const mode_host_count *mode_host_counts(const mode *m, size_t *count)
{
    *count = m->host_op_count;
    return m->host_counts;
}

bn_code mode_run_host(mode *m, const tg_host_op *op, rt_buffer *x, const mode_where *where,
                      bool breaks, rt_buffer **result, bn_status *st)
{
    const size_t in = (size_t)tg_type_bytes(&op->in), out = (size_t)tg_type_bytes(&op->out);
    const size_t result_at = (in + 15) & ~(size_t)15; /* aligned for any element */
    char *host = malloc(result_at + out + 1);
    if (!host)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory to compute %s", op->name);
    count_op(m, op->name);
    const uint64_t read_begin_ns = bn_now_ns();
    bn_code code = mode_read_buffer(m, x, host, in, st);
    const bn_part before = mode_clock(m, BN_PART_INPUT);
    const uint64_t compute_begin_ns = bn_now_ns();
    if (code == BN_OK)
        op->compute(&op->in, host, &op->out, host + result_at);
    const uint64_t send_begin_ns = bn_now_ns();
    if (code == BN_OK)
        code = send(m, op, host + result_at, result, st);
    const uint64_t end_ns = bn_now_ns();
    mode_clock(m, before);
    free(host);
    if (code == BN_OK)
        mode_notify_host(m, &(mode_host_event){.where = *where,
                                            .op = op->name,
                                            .in = op->in,
                                            .out = op->out,
                                            .read_ns = compute_begin_ns - read_begin_ns,
                                            .compute_ns = send_begin_ns - compute_begin_ns,
                                            .send_ns = end_ns - send_begin_ns,
                                            .breaks = breaks});
    return code == BN_OK ? BN_OK : bn_context(st, "computing %s on the host", op->name);
}

bn_code mode_run_host_node(mode *m, const tg_node *node, bool breaks, bn_status *st)
{
    const tg_host_op op = tg_node_host_op(node);
    bn_text scope = {0};
    const mode_where where = mode_traced_where(m, &scope);
    rt_buffer *x = NULL, *result = NULL;
    bn_code code = mode_buffer_of(tg_node_operand(node, 0), &x, st);
    if (code == BN_OK)
        code = mode_run_host(m, &op, x, &where, breaks, &result, st);
    if (code == BN_OK)
        tg_tensor_set_data(tg_node_result(node, 0), result);
    bn_text_free(&scope);
    return code;
}
