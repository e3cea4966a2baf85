/*
 * lazy.c - every step is traced anew; at its end the trace's hash finds the
 * executable. A read in the middle of a step cuts the graph there.
 */
#include "modes/mode_priv.h"

/* Cuts the trace to compute VALUE, unless it has been computed; *CUT: whether it was cut. */
static bn_code cut_to_compute(mode *m, tg_tensor *value, bool *cut, bn_status *st)
{
    *cut = !tg_input_variable(value) && !tg_tensor_data(value);
    m->counters[BN_COUNTER_GRAPH_BREAKS] += *cut;
    return *cut ? mode_run_trace(m, value, NULL, NULL, st) : BN_OK;
}

static bn_code lazy_read(void *context, tg_trace *trace, tg_tensor *value, void *host, size_t size,
                         bn_status *st)
{
    mode *m = context;
    rt_buffer *buffer = NULL;
    bool cut;
    (void)trace;
    bn_code code = cut_to_compute(m, value, &cut, st);
    if (code == BN_OK)
        code = mode_buffer_of(value, &buffer, st);
    if (code == BN_OK)
        code = mode_read_buffer(m, buffer, host, size, st);
    if (code == BN_OK)
        mode_notify_traced_read(m, value, host, cut);
    return code;
}

static bn_code lazy_host(void *context, tg_trace *trace, tg_node *node, bn_status *st)
{
    bool cut;
    (void)trace;
    bn_code code = cut_to_compute(context, tg_node_operand(node, 0), &cut, st);
    return code == BN_OK ? mode_run_host_node(context, node, cut, st) : code;
}

static void lazy_set_hooks(mode *m)
{
    tg_trace_set_hooks(m->trace, &(tg_hooks){.context = m, .read = lazy_read, .host = lazy_host});
}

static int64_t cut_count(const mode *m)
{
    return m->counters[BN_COUNTER_GRAPH_BREAKS] + m->counters[BN_COUNTER_HOST_FALLBACKS];
}

static bn_code lazy_step(mode *m, const mode_call *call, bn_status *st)
{
    const int64_t before = cut_count(m);
    mode_clock(m, BN_PART_TRACE);
    tg_trace_begin(m->trace);
    call->function(m->trace, call->context);
    bn_code code = mode_run_trace(m, NULL, NULL, NULL, st);
    m->counters[BN_COUNTER_NODES_TRACED] += (int64_t)tg_trace_traced(m->trace);
    mode_clock(m, BN_PART_BIND);
    /* A value that a cut output may have been assigned to a variable afterwards. */
    if (code == BN_OK && cut_count(m) > before)
        code = mode_adopt_assigned(m, st);
    mode_clock(m, BN_PART_OTHER);
    return code;
}

const mode_kind mode_lazy = {
    .name = "lazy",
    .summary = "trace every step, look its hash up, dispatch",
    .set_hooks = lazy_set_hooks,
    .step = lazy_step,
};
