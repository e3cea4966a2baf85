/*
 * capture.c - the step is traced once and replayed.
 *
 * Where the step function reads a value, the host code after the read may depend
 * on it: a graph break. Replay checks the guards, runs the graphs of a node of the
 * tree (capture_priv.h) and follows the branch of the value read. Captures of
 * different guards live side by side.
 *
 * The first run traces and executes at once, as lazy mode does, and records the
 * graphs that it ran. Graphs before a read donate nothing, and nothing is
 * committed before the step's end. So when a value has no branch yet, the step
 * is simply run again from its start, tracing.
 */
#include "modes/capture_priv.h"

#include <stdlib.h>
#include <string.h>

/* Branches are selected by the bytes of a value that was read. An op of the host has one branch,
 * whose key has no bytes. */
#define NO_KEY ""

/* The capture being recorded, while the step function runs. */
typedef struct recorder {
    mode *m;
    mode_capture *capture;
    capture_node *node;
    mode_list values; /* [slot] value of the trace */
} recorder;

static void capture_end(mode *m)
{
    for (mode_capture *c = m->own, *next; c; c = next) {
        next = c->next;
        mode_capture_free(c);
    }
}

/* ---- recording -------------------------------------------------------------------- */

/* Gives VALUE the next slot. */
static void push_slot(recorder *r, tg_tensor *value)
{
    mode_list_push(&r->values, value);
    if (r->values.count > r->capture->slot_count)
        r->capture->slot_count = r->values.count;
}

/* VALUE's variable, or its slot. */
static bn_code find_source(const recorder *r, tg_tensor *value, capture_source *source,
                           bn_status *st)
{
    *source = (capture_source){.variable = tg_input_variable(value)};
    if (source->variable)
        return BN_OK;
    for (; source->slot < r->values.count; source->slot++)
        if (r->values.items[source->slot] == value)
            return BN_OK;
    return bn_fail(st, BN_INVALID, "a graph takes a value that no earlier graph outputs");
}

/* Appends GRAPH to the node in hand, and guards the variables that it takes. */
static bn_code append_graph(recorder *r, const tg_graph *graph, mode_program *program,
                            bn_status *st)
{
    capture_graph *g = bn_zalloc(1, sizeof *g);
    g->program = mode_program_retain(program);
    g->first_slot = r->values.count;
    g->inputs = bn_zalloc(graph->input_count, sizeof *g->inputs);
    g->targets = bn_zalloc(graph->output_count, sizeof *g->targets);
    if (r->node->last_graph)
        r->node->last_graph->next = g;
    else
        r->node->graphs = g;
    r->node->last_graph = g;
    for (size_t i = 0; i < graph->input_count; i++) {
        bn_code code = find_source(r, graph->inputs[i], &g->inputs[i], st);
        if (code != BN_OK)
            return code;
        if (g->inputs[i].variable)
            mode_guards_add(&r->capture->guards, g->inputs[i].variable);
    }
    for (size_t o = 0; o < graph->output_count; o++)
        g->targets[o] = graph->target[o];
    return BN_OK;
}

/* A graph of the trace has run. A node that was recorded before has it already. */
static bn_code record_graph(void *context, const tg_graph *graph, mode_program *program,
                            bn_status *st)
{
    recorder *r = context;
    bn_code code = r->node->recorded ? BN_OK : append_graph(r, graph, program, st);
    for (size_t o = 0; code == BN_OK && o < graph->output_count; o++)
        push_slot(r, graph->outputs[o]);
    return code;
}

/* The step breaks at VALUE. Cuts the trace to compute it, unless it has been computed; *CUT:
 * whether it was cut. */
static bn_code record_break(recorder *r, tg_tensor *value, bool *cut, bn_status *st)
{
    r->m->counters[BN_COUNTER_GRAPH_BREAKS]++;
    *cut = !tg_input_variable(value) && !tg_tensor_data(value);
    return *cut ? mode_run_trace(r->m, value, record_graph, r, st) : BN_OK;
}

/* The node in hand ends at VALUE, which OP takes (NULL: which is read). */
static bn_code record_end(recorder *r, tg_tensor *value, const tg_host_op *op, bn_status *st)
{
    capture_node *node = r->node;
    bn_text scope = {0};
    const mode_where where = mode_traced_where(r->m, &scope);
    bn_code code = find_source(r, value, &node->read, st);
    mode_capture_node_set_location(node, &where);
    node->read_type = *tg_tensor_type(value);
    node->key_bytes = op ? 0 : (size_t)tg_type_bytes(&node->read_type);
    if (op)
        node->host = *op;
    node->host_slot = r->values.count;
    node->breaks = node->recorded = true;
    bn_text_free(&scope);
    return code;
}

/* Goes on in the branch for VALUE. */
static bn_code record_branch(recorder *r, const void *value, bn_status *st)
{
    capture_node *next = mode_capture_node_branch(r->node, value);
    bn_code code = next ? BN_OK : mode_capture_node_add_branch(r->node, value, &next, st);
    if (code == BN_OK)
        r->node = next;
    return code;
}

static bn_code record_read(void *context, tg_trace *trace, tg_tensor *value, void *host,
                           size_t size, bn_status *st)
{
    recorder *r = context;
    rt_buffer *buffer = NULL;
    bool cut;
    (void)trace;
    bn_code code = record_break(r, value, &cut, st);
    if (code == BN_OK)
        code = mode_buffer_of(value, &buffer, st);
    if (code == BN_OK)
        code = mode_read_buffer(r->m, buffer, host, size, st);
    if (code == BN_OK && !r->node->recorded)
        code = record_end(r, value, NULL, st);
    if (code != BN_OK)
        return code;
    mode_notify_traced_read(r->m, value, host, cut);
    return record_branch(r, host, st);
}

static bn_code record_host(void *context, tg_trace *trace, tg_node *node, bn_status *st)
{
    recorder *r = context;
    const tg_host_op op = tg_node_host_op(node);
    tg_tensor *x = tg_node_operand(node, 0);
    bool cut;
    (void)trace;
    bn_code code = record_break(r, x, &cut, st);
    if (code == BN_OK)
        code = mode_run_host_node(r->m, node, cut, st);
    if (code == BN_OK && !r->node->recorded)
        code = record_end(r, x, &op, st);
    if (code != BN_OK)
        return code;
    push_slot(r, tg_node_result(node, 0));
    return record_branch(r, NO_KEY, st);
}

/* Records the variables that were assigned a value which an earlier cut had output: its buffer is
 * in a slot. */
static bn_code record_moves(recorder *r, bn_status *st)
{
    mode *m = r->m;
    bn_code code = BN_OK;
    size_t count = tg_trace_assigned_count(m->trace);
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        tg_tensor *value;
        tg_tensor *variable = tg_trace_assigned(m->trace, i, &value);
        if (!mode_wants_adoption(m, variable, value))
            continue;
        capture_source source;
        capture_move *move = bn_alloc(sizeof *move);
        move->next = r->node->moves;
        r->node->moves = move;
        code = find_source(r, value, &source, st);
        move->variable = variable;
        move->slot = source.slot;
    }
    return code;
}

static bn_code capture_run(mode *m, mode_capture *capture, const mode_call *call, bn_status *st)
{
    recorder r = {.m = m, .capture = capture, .node = capture->root};
    tg_trace_set_hooks(m->trace,
                       &(tg_hooks){.context = &r, .read = record_read, .host = record_host});
    mode_clock(m, BN_PART_TRACE);
    tg_trace_begin(m->trace);
    call->function(m->trace, call->context);
    bn_code code = mode_run_trace(m, NULL, record_graph, &r, st);
    m->counters[BN_COUNTER_NODES_TRACED] += (int64_t)tg_trace_traced(m->trace);
    mode_clock(m, BN_PART_BIND);
    const bool breaks = capture->root->breaks;
    if (code == BN_OK && breaks && !r.node->recorded)
        code = record_moves(&r, st);
    if (code == BN_OK && breaks)
        code = mode_adopt_assigned(m, st);
    if (code == BN_OK)
        r.node->recorded = true;
    else if (!r.node->recorded)
        mode_capture_node_clear(r.node); /* half recorded: the next run records it again */
    mode_list_free(&r.values);
    tg_trace_set_hooks(m->trace, &(tg_hooks){0});
    mode_clock(m, BN_PART_OTHER);
    return code;
}

/* ---- replay -------------------------------------------------------------------------- */

static bn_code replay_graph(mode *m, const capture_graph *g, rt_buffer **slots, bn_status *st)
{
    mode_program *p = g->program;
    mode_dispatch_reserve(m, p);
    for (size_t i = 0; i < p->input_count; i++) {
        const capture_source *in = &g->inputs[i];
        void *data = in->variable ? tg_tensor_data(in->variable) : slots[in->slot];
        /* Slots are filled by earlier graphs, so only a variable can be empty. */
        if (!data)
            return bn_fail(st, BN_INVALID, "%s has no contents; write it before the step",
                           in->variable ? tg_tensor_name(in->variable) : "a slot");
        m->arguments.items[i] = data;
    }
    mode_list *lists[] = {&m->targets, &m->buffers, &m->temporaries};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        mode_list_reserve(lists[i], lists[i]->count + p->output_count);
    bn_code code = mode_dispatch(m, p, st);
    for (size_t o = 0; code == BN_OK && o < p->output_count; o++) {
        rt_buffer *buffer = m->results.items[o];
        slots[g->first_slot + o] = buffer;
        if (g->targets[o]) {
            m->targets.items[m->targets.count++] = g->targets[o];
            m->buffers.items[m->buffers.count++] = buffer;
        } else {
            m->temporaries.items[m->temporaries.count++] = buffer;
        }
    }
    return code;
}

static rt_buffer *break_buffer(const capture_node *node, rt_buffer **slots)
{
    return node->read.variable ? tg_tensor_data(node->read.variable) : slots[node->read.slot];
}

/* Notifies the watcher that NODE read VALUE, and of a miss where there is no branch NEXT. */
static void notify_replayed(const mode *m, const capture_node *node, const void *value,
                            const capture_node *next)
{
    const mode_read_event read = {node->where, node->read_type, value, node->graphs != NULL};
    mode_notify_read(m, &read.where, &read.type, value, read.breaks);
    if (next)
        return;
    mode_miss_event miss = {.miss = MODE_MISS_VALUE, .read = &read};
    for (const capture_branch *b = node->branches; b; b = b->next)
        miss.branches++;
    mode_notify_miss(m, &miss);
}

/* Reads NODE's value; *NEXT is its branch, NULL for a value that has none. */
static bn_code replay_read(mode *m, const capture_node *node, rt_buffer **slots,
                           capture_node **next, bn_status *st)
{
    char few[64];
    char *value = node->key_bytes <= sizeof few ? few : malloc(node->key_bytes);
    if (!value)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory to read %zu bytes", node->key_bytes);
    bn_code code = mode_read_buffer(m, break_buffer(node, slots), value, node->key_bytes, st);
    mode_clock(m, BN_PART_HASH);
    *next = code == BN_OK ? mode_capture_node_branch(node, value) : NULL;
    mode_clock(m, BN_PART_BIND);
    if (code == BN_OK)
        notify_replayed(m, node, value, *next);
    if (value != few)
        free(value);
    return code;
}

/* Computes NODE's op on the host again. */
static bn_code replay_host(mode *m, const capture_node *node, rt_buffer **slots,
                           capture_node **next, bn_status *st)
{
    *next = mode_capture_node_branch(node, NO_KEY);
    return mode_run_host(m, &node->host, break_buffer(node, slots), &node->where,
                         node->graphs != NULL, &slots[node->host_slot], st);
}

static bn_code replay_break(mode *m, const capture_node *node, rt_buffer **slots,
                            capture_node **next, bn_status *st)
{
    m->counters[BN_COUNTER_GRAPH_BREAKS]++;
    if (node->host.compute)
        return replay_host(m, node, slots, next, st);
    return replay_read(m, node, slots, next, st);
}

/* ---- replay of a single graph ---------------------------------------------------------- */

/*
 * Nearly every capture is one graph whose inputs and outputs are variables. Its
 * guards are its inputs, in order, so one pass checks guards and gathers arguments.
 * Results go straight to their variables, since no later graph can fail.
 */

static bool is_single_graph(const mode_capture *c)
{
    const capture_graph *g = c->root->graphs;
    if (!g || g->next || c->root->breaks || c->guards.count != g->program->input_count)
        return false;
    for (size_t i = 0; i < c->guards.count; i++)
        if (g->inputs[i].variable != c->guards.items[i].variable)
            return false;
    for (size_t o = 0; o < g->program->output_count; o++) {
        if (!g->targets[o])
            return false;
        for (size_t k = 0; k < o; k++)
            if (g->targets[k] == g->targets[o])
                return false;
    }
    return true;
}

/* Checks the guards and gathers the arguments; *HELD: whether the guards hold. */
static bn_code check_single_graph(mode *m, mode_capture *c, const mode_call *call, bool *held,
                                  bn_status *st)
{
    const tg_tensor *empty = NULL;
    mode_dispatch_reserve(m, c->root->graphs->program);
    *held = mode_guards_gather(&c->guards, call, m->arguments.items, &empty);
    if (*held && empty)
        return bn_fail(st, BN_INVALID, "%s has no contents; write it before the step",
                       tg_tensor_name(empty));
    return BN_OK;
}

static bn_code replay_single_graph(mode *m, const mode_capture *c, bn_status *st)
{
    const capture_graph *g = c->root->graphs;
    size_t count = g->program->output_count;
    mode_list_reserve(&m->retired, m->retired.count + count);
    bn_code code = mode_dispatch(m, g->program, st);
    mode_clock(m, BN_PART_BIND);
    for (size_t o = 0; code == BN_OK && o < count; o++) {
        if (o + MODE_FETCH_AHEAD < count)
            __builtin_prefetch(g->targets[o + MODE_FETCH_AHEAD], 1);
        void *old = tg_variable_exchange(g->targets[o], m->results.items[o]);
        if (old)
            m->retired.items[m->retired.count++] = old;
    }
    mode_clock(m, BN_PART_OTHER);
    return code;
}

/* ---- replay of a tree --------------------------------------------------------------------- */

/* *KNOWN is false when the step took a branch that is not captured. */
static bn_code replay_tree(mode *m, mode_capture *c, bool *known, bn_status *st)
{
    mode_clock(m, BN_PART_BIND);
    mode_list_reserve(&c->slots, c->slot_count + 1);
    rt_buffer **slots = (rt_buffer **)c->slots.items;
    capture_node *node = c->root;
    *known = true;
    for (;;) {
        for (const capture_graph *g = node->graphs; g; g = g->next) {
            bn_code code = replay_graph(m, g, slots, st);
            if (code != BN_OK)
                return code;
        }
        if (!node->breaks)
            break;
        bn_code code = replay_break(m, node, slots, &node, st);
        if (code != BN_OK)
            return code;
        *known = node && node->recorded;
        if (!*known)
            return BN_OK;
    }
    for (const capture_move *move = node->moves; move; move = move->next) {
        bn_code code = mode_adopt(m, move->variable, slots[move->slot], st);
        if (code != BN_OK)
            return code;
    }
    mode_clock(m, BN_PART_OTHER);
    return BN_OK;
}

static bn_code capture_first(mode *m, const mode_call *call, bn_status *st)
{
    if (m->own) {
        const mode_capture *latest = m->own;
        mode_miss_event miss = {.miss = MODE_MISS_CALL};
        m->counters[BN_COUNTER_GUARD_MISSES]++;
        mode_guards_explain(&latest->guards, call, &miss);
        mode_notify_miss(m, &miss);
    }
    m->counters[BN_COUNTER_CAPTURES]++;
    mode_capture *c = mode_capture_new(call);
    bn_code code = capture_run(m, c, call, st);
    if (code != BN_OK) {
        mode_capture_free(c);
        return code;
    }
    c->single_graph = is_single_graph(c);
    c->next = m->own;
    m->own = c;
    return BN_OK;
}

static bn_code capture_step(mode *m, const mode_call *call, bn_status *st)
{
    bool known, held = false;
    bn_code code = BN_OK;
    mode_clock(m, BN_PART_HASH);
    mode_capture *c = m->own;
    for (; c; c = c->next) {
        if (c->single_graph)
            code = check_single_graph(m, c, call, &held, st);
        else
            held = mode_guards_hold(&c->guards, call);
        if (code != BN_OK)
            return code;
        if (held)
            break;
    }
    if (!c)
        return capture_first(m, call, st);
    if (c->single_graph)
        return replay_single_graph(m, c, st);
    code = replay_tree(m, c, &known, st);
    if (code != BN_OK || known)
        return code;
    /* Nothing is committed yet: drop the results and run the step again, tracing. */
    m->counters[BN_COUNTER_GUARD_MISSES]++;
    m->counters[BN_COUNTER_CAPTURES]++;
    mode_abandon(m);
    return capture_run(m, c, call, st);
}

const mode_kind mode_captured = {
    .name = "capture",
    .summary = "trace once, guard, replay as one graph or a few",
    .cuts_graphs = true,
    .step = capture_step,
    .end = capture_end,
    .guard = mode_capture_guard,
};
