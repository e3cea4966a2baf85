/*
 * lazy.c - every step is traced anew; at its end the trace's hash finds the
 * executable. A read in the middle of a step cuts the graph there.
 */
#include "modes/mode_priv.h"

static bn_code lazy_read(void *context, tg_trace *trace, tg_tensor *value, void *host, size_t size,
                         bn_status *st)
{
    mode *m = context;
    tg_tensor *variable = tg_input_variable(value);
    bn_code code = BN_OK;
    (void)trace;
    if (!variable && !tg_tensor_data(value)) {
        m->counters[BN_COUNTER_GRAPH_BREAKS]++;
        code = mode_run_trace(m, value, NULL, NULL, st);
    }
    rt_buffer *buffer = tg_tensor_data(variable ? variable : value);
    if (code == BN_OK && !buffer)
        code = bn_fail(st, BN_INVALID, "%s has no contents", tg_tensor_name(variable));
    return code == BN_OK ? mode_read_buffer(m, buffer, host, size, st) : code;
}

static void lazy_set_hooks(mode *m)
{
    tg_trace_set_hooks(m->trace, &(tg_hooks){.context = m, .read = lazy_read});
}

static bn_code lazy_step(mode *m, const mode_call *call, bn_status *st)
{
    int64_t breaks = m->counters[BN_COUNTER_GRAPH_BREAKS];
    mode_clock(m, BN_PART_TRACE);
    tg_trace_begin(m->trace);
    call->function(m->trace, call->context);
    bn_code code = mode_run_trace(m, NULL, NULL, NULL, st);
    m->counters[BN_COUNTER_NODES_TRACED] += (int64_t)tg_trace_traced(m->trace);
    mode_clock(m, BN_PART_BIND);
    if (code == BN_OK && m->counters[BN_COUNTER_GRAPH_BREAKS] > breaks)
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
