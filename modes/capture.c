/*
 * capture.c - the step is traced once and replayed.
 *
 * A capture is a tree. Each node holds the graphs of one stretch of the step;
 * where the step function read a value, the node has a branch for each value
 * seen, since the host code after the read may depend on it (a graph break).
 * Replay checks the guards, runs the graphs of a node and follows the branch of
 * the value read. Captures of different guards live side by side.
 *
 * The first run traces and executes at once, as lazy mode does, and writes down
 * what it ran. A stretch that ends in a read donates nothing and nothing is
 * committed before the step's end, so when a new value asks for a new branch
 * the step can simply be run again from its start.
 */
#include "modes/guard_priv.h"
#include "modes/mode_priv.h"

#include <stdlib.h>
#include <string.h>

/* Where a graph's input comes from: a variable, or slot SLOT. */
typedef struct capture_source {
    tg_tensor *variable;
    size_t slot;
} capture_source;

typedef struct capture_graph {
    mode_program *program;
    capture_source *inputs;
    tg_tensor **targets; /* [output] variable, or NULL */
    size_t first_slot;   /* results go to slots from here */
    struct capture_graph *next;
} capture_graph;

typedef struct capture_node capture_node;

typedef struct capture_branch {
    void *value;
    capture_node *node;
    struct capture_branch *next;
} capture_branch;

/* A variable that takes over a slot at the end of the step. */
typedef struct capture_move {
    tg_tensor *variable;
    size_t slot;
    struct capture_move *next;
} capture_move;

struct capture_node {
    capture_graph *graphs, *last_graph;
    bool recorded;
    bool breaks; /* ends in a read */
    capture_source read;
    size_t read_bytes;
    capture_branch *branches;
    capture_move *moves;
};

/* What one set of guards has recorded; m->own is the list of all. */
typedef struct mode_capture {
    mode_guards guards;
    capture_node *root;
    bool whole; /* one graph from variables to variables: replayed the short way */
    size_t slot_count;
    mode_list slots; /* results of a replay, by slot */
    struct mode_capture *next;
} mode_capture;

/* The capture being written, while the step function runs. */
typedef struct recorder {
    mode *m;
    mode_capture *capture;
    capture_node *node;
    mode_list values; /* [slot] value of the trace */
} recorder;

/* ---- freeing ------------------------------------------------------------------ */

static void node_clear(capture_node *node)
{
    while (node->graphs) {
        capture_graph *g = node->graphs;
        node->graphs = g->next;
        mode_program_release(g->program);
        free(g->inputs);
        free(g->targets);
        free(g);
    }
    node->last_graph = NULL;
    while (node->moves) {
        capture_move *move = node->moves;
        node->moves = move->next;
        free(move);
    }
}

static void node_free(capture_node *node)
{
    if (!node)
        return;
    node_clear(node);
    while (node->branches) {
        capture_branch *b = node->branches;
        node->branches = b->next;
        node_free(b->node);
        free(b->value);
        free(b);
    }
    free(node);
}

static void capture_free(mode_capture *c)
{
    if (!c)
        return;
    node_free(c->root);
    mode_guards_free(&c->guards);
    mode_list_free(&c->slots);
    free(c);
}

static void capture_end(mode *m)
{
    for (mode_capture *c = m->own, *next; c; c = next) {
        next = c->next;
        capture_free(c);
    }
}

static mode_capture *capture_new(const mode_call *call)
{
    mode_capture *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->root = calloc(1, sizeof *c->root);
    if (!mode_guards_begin(&c->guards, call) || !c->root) {
        capture_free(c);
        return NULL;
    }
    return c;
}

/* ---- recording -------------------------------------------------------------------- */

/* The slot of a value that an earlier graph put out; slots of a path are
 * numbered from 0 in order of execution. */
static bn_code find_source(const recorder *r, tg_tensor *value, capture_source *source,
                           bn_status *st)
{
    source->variable = tg_input_variable(value);
    for (source->slot = 0; !source->variable; source->slot++) {
        if (source->slot == r->values.count)
            return bn_fail(st, BN_INVALID, "a graph takes a value that no graph put out");
        if (r->values.items[source->slot] == value)
            return BN_OK;
    }
    return BN_OK;
}

/* A graph of the trace has run: write it down, unless this stretch is known. */
static bn_code record_graph(void *context, const tg_graph *graph, mode_program *program,
                            bn_status *st)
{
    recorder *r = context;
    bn_code code = BN_OK;
    capture_graph *g = NULL;
    if (!r->node->recorded) {
        g = calloc(1, sizeof *g);
        if (!g)
            return bn_fail(st, BN_OUT_OF_MEMORY, "no memory to capture a graph");
        g->program = mode_program_retain(program);
        g->first_slot = r->values.count;
        g->inputs = calloc(graph->input_count + 1, sizeof *g->inputs);
        g->targets = calloc(graph->output_count + 1, sizeof *g->targets);
        if (r->node->last_graph)
            r->node->last_graph->next = g;
        else
            r->node->graphs = g;
        r->node->last_graph = g;
        if (!g->inputs || !g->targets)
            return bn_fail(st, BN_OUT_OF_MEMORY, "no memory to capture a graph");
    }
    for (size_t i = 0; g && code == BN_OK && i < graph->input_count; i++) {
        code = find_source(r, graph->inputs[i], &g->inputs[i], st);
        if (code == BN_OK && g->inputs[i].variable &&
            !mode_guards_add(&r->capture->guards, g->inputs[i].variable))
            code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for guards");
    }
    for (size_t o = 0; code == BN_OK && o < graph->output_count; o++) {
        if (g)
            g->targets[o] = graph->target[o];
        code = mode_list_push(&r->values, graph->outputs[o], st);
    }
    if (r->values.count > r->capture->slot_count)
        r->capture->slot_count = r->values.count;
    return code;
}

static capture_node *branch_find(const capture_node *node, const void *value)
{
    for (const capture_branch *b = node->branches; b; b = b->next)
        if (memcmp(b->value, value, node->read_bytes) == 0)
            return b->node;
    return NULL;
}

static bn_code branch_add(capture_node *node, const void *value, capture_node **child,
                          bn_status *st)
{
    capture_branch *b = calloc(1, sizeof *b);
    if (b) {
        b->value = malloc(node->read_bytes + 1);
        b->node = calloc(1, sizeof *b->node);
    }
    if (!b || !b->value || !b->node) {
        if (b) {
            free(b->value);
            free(b->node);
        }
        free(b);
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a branch");
    }
    memcpy(b->value, value, node->read_bytes);
    b->next = node->branches;
    node->branches = b;
    *child = b->node;
    return BN_OK;
}

static bn_code record_read(void *context, tg_trace *trace, tg_tensor *value, void *host,
                           size_t size, bn_status *st)
{
    recorder *r = context;
    mode *m = r->m;
    tg_tensor *variable = tg_input_variable(value);
    bn_code code = BN_OK;
    (void)trace;
    m->counters[BN_COUNTER_GRAPH_BREAKS]++;
    if (!variable && !tg_tensor_data(value))
        code = mode_run_trace(m, value, record_graph, r, st);
    rt_buffer *buffer = tg_tensor_data(variable ? variable : value);
    if (code == BN_OK && !buffer)
        code = bn_fail(st, BN_INVALID, "%s has no contents", tg_tensor_name(variable));
    if (code == BN_OK)
        code = mode_read_buffer(m, buffer, host, size, st);
    if (code == BN_OK && !r->node->recorded) {
        code = find_source(r, value, &r->node->read, st);
        r->node->read_bytes = size;
        r->node->breaks = r->node->recorded = true;
    }
    if (code != BN_OK)
        return code;
    capture_node *next = branch_find(r->node, host);
    if (!next)
        code = branch_add(r->node, host, &next, st);
    if (code == BN_OK)
        r->node = next;
    return code;
}

/* Values put out at a read and assigned after it move from their slots. */
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
        capture_move *move = calloc(1, sizeof *move);
        if (!move)
            return bn_fail(st, BN_OUT_OF_MEMORY, "no memory to capture");
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
    tg_trace_set_hooks(m->trace, &(tg_hooks){.context = &r, .read = record_read});
    mode_clock(m, BN_PART_TRACE);
    tg_trace_begin(m->trace);
    call->function(m->trace, call->context);
    bn_code code = mode_run_trace(m, NULL, record_graph, &r, st);
    m->counters[BN_COUNTER_NODES_TRACED] += (int64_t)tg_trace_traced(m->trace);
    mode_clock(m, BN_PART_BIND);
    bool cut = capture->root->breaks;
    if (code == BN_OK && cut && !r.node->recorded)
        code = record_moves(&r, st);
    if (code == BN_OK && cut)
        code = mode_adopt_assigned(m, st);
    if (code == BN_OK)
        r.node->recorded = true;
    else if (!r.node->recorded)
        node_clear(r.node); /* half written: the next run starts it anew */
    mode_list_free(&r.values);
    tg_trace_set_hooks(m->trace, &(tg_hooks){0});
    mode_clock(m, BN_PART_OTHER);
    return code;
}

/* ---- replay -------------------------------------------------------------------------- */

static bn_code replay_graph(mode *m, const capture_graph *g, rt_buffer **slots, bn_status *st)
{
    mode_program *p = g->program;
    bn_code code = mode_dispatch_reserve(m, p, st);
    for (size_t i = 0; code == BN_OK && i < p->input_count; i++) {
        const capture_source *in = &g->inputs[i];
        void *data = in->variable ? tg_tensor_data(in->variable) : slots[in->slot];
        if (!data)
            return bn_fail(st, BN_INVALID, "%s has no contents; write it before the step",
                           in->variable ? tg_tensor_name(in->variable) : "an earlier graph");
        m->arguments.items[i] = data;
    }
    if (code == BN_OK)
        code = mode_dispatch(m, p, st);
    /* mode_dispatch_reserve made the room, so results cannot get lost here. */
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

/* Follows NODE's read; *NEXT is NULL when the value has not been seen. */
static bn_code replay_read(mode *m, const capture_node *node, rt_buffer **slots,
                           capture_node **next, bn_status *st)
{
    char few[64];
    char *value = node->read_bytes <= sizeof few ? few : malloc(node->read_bytes);
    if (!value)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory to read %zu bytes", node->read_bytes);
    rt_buffer *buffer =
        node->read.variable ? tg_tensor_data(node->read.variable) : slots[node->read.slot];
    m->counters[BN_COUNTER_GRAPH_BREAKS]++;
    bn_code code = mode_read_buffer(m, buffer, value, node->read_bytes, st);
    mode_clock(m, BN_PART_HASH);
    *next = code == BN_OK ? branch_find(node, value) : NULL;
    mode_clock(m, BN_PART_BIND);
    if (value != few)
        free(value);
    return code;
}

/* ---- replay of a whole step ------------------------------------------------------------ */

/*
 * Nearly every capture is one graph whose inputs and outputs are variables. Its
 * guards are its inputs, in order, so one pass checks and gathers; results go
 * straight to their variables, since there is no later graph to fail.
 */
static bool is_whole(const mode_capture *c)
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

/* Checks the guards and gathers the inputs; *HELD tells whether they hold. */
static bn_code gather_whole(mode *m, mode_capture *c, const mode_call *call, bool *held,
                            bn_status *st)
{
    bn_code code = mode_dispatch_reserve(m, c->root->graphs->program, st);
    const tg_tensor *empty = NULL;
    *held = code == BN_OK && mode_guards_gather(&c->guards, call, m->arguments.items, &empty);
    if (*held && empty)
        code = bn_fail(st, BN_INVALID, "%s has no contents; write it before the step",
                       tg_tensor_name(empty));
    return code;
}

static bn_code replay_whole(mode *m, const mode_capture *c, bn_status *st)
{
    const capture_graph *g = c->root->graphs;
    size_t count = g->program->output_count;
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
static bn_code replay(mode *m, mode_capture *c, bool *known, bn_status *st)
{
    mode_clock(m, BN_PART_BIND);
    bn_code code = mode_list_reserve(&c->slots, c->slot_count + 1, st);
    rt_buffer **slots = (rt_buffer **)c->slots.items;
    capture_node *node = c->root;
    *known = true;
    while (code == BN_OK) {
        for (const capture_graph *g = node->graphs; g && code == BN_OK; g = g->next)
            code = replay_graph(m, g, slots, st);
        if (code != BN_OK || !node->breaks)
            break;
        code = replay_read(m, node, slots, &node, st);
        if (code == BN_OK && (!node || !node->recorded)) {
            *known = false;
            return BN_OK;
        }
    }
    for (const capture_move *move = node ? node->moves : NULL; code == BN_OK && move;
         move = move->next)
        code = mode_adopt(m, move->variable, slots[move->slot], st);
    mode_clock(m, BN_PART_OTHER);
    return code;
}

static bn_code capture_first(mode *m, const mode_call *call, bn_status *st)
{
    if (m->own)
        m->counters[BN_COUNTER_GUARD_MISSES]++;
    m->counters[BN_COUNTER_CAPTURES]++;
    mode_capture *c = capture_new(call);
    if (!c)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a capture");
    bn_code code = capture_run(m, c, call, st);
    if (code != BN_OK) {
        capture_free(c);
        return code;
    }
    c->whole = is_whole(c);
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
        if (c->whole)
            code = gather_whole(m, c, call, &held, st);
        else
            held = mode_guards_hold(&c->guards, call);
        if (code != BN_OK)
            return code;
        if (held)
            break;
    }
    if (!c)
        return capture_first(m, call, st);
    if (c->whole)
        return replay_whole(m, c, st);
    code = replay(m, c, &known, st);
    if (code != BN_OK || known)
        return code;
    /* A branch not seen before: nothing is committed yet, so drop what ran and
     * run the step again, tracing. */
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
};
