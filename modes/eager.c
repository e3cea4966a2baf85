/*
 * eager.c - every op is an executable of its own, compiled once and executed as
 * soon as it is traced. Values live until the end of the step.
 */
#include "modes/mode_priv.h"

/* The buffers of NODE's distinct operands, in the order of tg_node_graph's inputs. */
static bn_code bind_operands(mode *m, const tg_node *node, bn_status *st)
{
    size_t count = tg_node_operand_count(node), used = 0;
    for (size_t i = 0; i < count; i++) {
        tg_tensor *operand = tg_node_operand(node, i);
        size_t earlier = 0;
        while (tg_node_operand(node, earlier) != operand)
            earlier++;
        if (earlier < i)
            continue;
        rt_buffer *buffer = NULL;
        bn_code code = mode_buffer_of(operand, &buffer, st);
        if (code != BN_OK)
            return code;
        m->arguments.items[used++] = buffer;
    }
    return BN_OK;
}

static bn_code eager_node(void *context, tg_trace *trace, tg_node *node, bn_status *st)
{
    mode *m = context;
    bn_part before = mode_clock(m, BN_PART_HASH);
    tg_hash key = tg_node_key(node);
    mode_clock(m, BN_PART_LOOKUP);
    mode_program *program = mode_program_find(m, key);
    bn_code code = BN_OK;
    if (program) {
        m->counters[BN_COUNTER_CACHE_HITS]++;
    } else {
        code = mode_program_get(m, tg_node_graph(trace, node), tg_node_op_name(node), true,
                                &program, st);
    }
    mode_clock(m, BN_PART_BIND);
    if (code == BN_OK) {
        mode_dispatch_reserve(m, program);
        code = bind_operands(m, node, st);
    }
    if (code == BN_OK)
        code = mode_dispatch(m, program, st);
    for (size_t r = 0; code == BN_OK && r < tg_node_result_count(node); r++) {
        tg_tensor_set_data(tg_node_result(node, r), m->results.items[r]);
        mode_list_push(&m->temporaries, m->results.items[r]);
    }
    mode_clock(m, before);
    return code;
}

static bn_code eager_read(void *context, tg_trace *trace, tg_tensor *value, void *host, size_t size,
                          bn_status *st)
{
    rt_buffer *buffer = NULL;
    (void)trace;
    bn_code code = mode_buffer_of(value, &buffer, st);
    if (code == BN_OK)
        code = mode_read_buffer(context, buffer, host, size, st);
    if (code == BN_OK)
        mode_notify_traced_read(context, value, host, false);
    return code;
}

static bn_code eager_host(void *context, tg_trace *trace, tg_node *node, bn_status *st)
{
    (void)trace;
    return mode_run_host_node(context, node, false, st);
}

/* Temporaries are the results of all nodes in order, so those of the forgotten nodes, which are the
 * last ones, are the tail of the list. */
static void eager_forget(void *context, tg_trace *trace, size_t first_node)
{
    mode *m = context;
    bn_part before = mode_clock(m, BN_PART_RELEASE);
    const size_t end = tg_trace_node_count(trace);
    size_t results = 0;
    for (size_t n = first_node; n < end; n++)
        if (tg_node_has_op(tg_trace_node(trace, n)))
            results += tg_node_result_count(tg_trace_node(trace, n));
    size_t kept = m->temporaries.count - results;
    for (size_t n = first_node; n < end; n++) {
        const tg_node *node = tg_trace_node(trace, n);
        for (size_t r = 0; tg_node_has_op(node) && r < tg_node_result_count(node); r++) {
            tg_tensor *value = tg_node_result(node, r);
            if (tg_trace_is_assigned(trace, value)) {
                m->temporaries.items[kept++] = tg_tensor_data(value);
            } else {
                rt_buffer_release(m->client, tg_tensor_data(value));
                tg_tensor_set_data(value, NULL);
            }
        }
    }
    m->temporaries.count = kept;
    mode_clock(m, before);
}

static void eager_set_hooks(mode *m)
{
    tg_trace_set_hooks(m->trace, &(tg_hooks){.context = m,
                                             .node = eager_node,
                                             .read = eager_read,
                                             .host = eager_host,
                                             .forget = eager_forget});
}

/* Copies SOURCE, on the device, to what becomes VARIABLE's contents. */
static bn_code run_copy(mode *m, tg_tensor *variable, rt_buffer *source, bn_status *st)
{
    const tg_type *type = tg_tensor_type(variable);
    tg_trace *scratch = tg_trace_new();
    tg_tensor *from = tg_variable_new("source", type), *to = tg_variable_new("copy", type);
    tg_graph *const *graphs;
    size_t count = 0;
    mode_program *program = NULL;
    const unsigned whole[TG_PHASE_COUNT] = {0};
    tg_assign(scratch, to, from);
    bn_code code = tg_trace_cut(scratch, whole, NULL, &graphs, &count, st);
    if (code == BN_OK)
        code = mode_program_get(m, graphs[0], "copy", true, &program, st);
    if (code == BN_OK) {
        mode_dispatch_reserve(m, program);
        m->arguments.items[0] = source;
        code = mode_dispatch(m, program, st);
    }
    if (code == BN_OK)
        mode_assign_at_commit(m, variable, m->results.items[0]);
    tg_trace_free(scratch);
    tg_variable_free(from);
    tg_variable_free(to);
    return code;
}

/* A value's buffer becomes the contents of the first variable that it was assigned to; other
 * variables, and those assigned another variable's contents, get copies. */
static bn_code assign_variables(mode *m, bn_status *st)
{
    bn_code code = BN_OK;
    size_t count = tg_trace_assigned_count(m->trace);
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        tg_tensor *value;
        tg_tensor *variable = tg_trace_assigned(m->trace, i, &value);
        tg_tensor *source = tg_input_variable(value);
        rt_buffer *buffer = tg_tensor_data(source ? source : value);
        size_t k = 0;
        while (k < m->buffers.count && m->buffers.items[k] != buffer)
            k++;
        if (source == variable)
            continue;
        if (source || k < m->buffers.count)
            code = run_copy(m, variable, buffer, st);
        else
            code = mode_adopt(m, variable, buffer, st);
    }
    return code;
}

static bn_code eager_step(mode *m, const mode_call *call, bn_status *st)
{
    mode_clock(m, BN_PART_TRACE);
    tg_trace_begin(m->trace);
    call->function(m->trace, call->context);
    m->counters[BN_COUNTER_NODES_TRACED] += (int64_t)tg_trace_traced(m->trace);
    mode_clock(m, BN_PART_BIND);
    bn_code code = tg_trace_status(m->trace, st);
    if (code == BN_OK)
        code = assign_variables(m, st);
    mode_clock(m, BN_PART_OTHER);
    return code;
}

const mode_kind mode_eager = {
    .name = "eager",
    .summary = "compile each op once, execute it at once",
    .by_op = true,
    .set_hooks = eager_set_hooks,
    .step = eager_step,
};
