/*
 * trace.c - the append-only trace: its life, appending nodes, assigning and reading.
 *
 * This is the path that runs for every op of every lazy step, so it allocates
 * from arenas only and touches each node once: resolve operands, infer the
 * type, join the hash (hash.c).
 */
#include "runtime/graph/trace_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD_BYTES     1024 /* how far ahead of appending memory is prefetched: some ten nodes */
#define INLINE_OPERANDS 8    /* resolved on the stack; nodes of more operands use the arena */

const tg_op tg_op_input = {.name = "input",
                           .stablehlo = "",
                           .family = "input",
                           .summary = "a variable's contents at the start of the step",
                           .results = 1,
                           .attribute_bytes = sizeof(tg_type)};

static tg_tensor *resolve(tg_trace *t, tg_tensor *tensor, const char *op);

static inline bool in_trace(const tg_trace *t, const tg_tensor *tensor)
{
    return tensor->trace == t && tensor->epoch == t->epoch;
}

/* ---- life of a trace ---------------------------------------------------- */

tg_trace *tg_trace_new(void)
{
    tg_trace *t = bn_zalloc(1, sizeof *t);
    t->arena = bn_arena_new(1u << 18);
    t->tensors = bn_arena_new(1u << 18);
    t->poison.kind = TG_KIND_POISON;
    t->poison.type.dtype = TG_F32;
    tg_trace_begin(t);
    return t;
}

void tg_trace_free(tg_trace *t)
{
    if (!t)
        return;
    if (!t->outer) /* a loop body is counted with its outer trace */
        tg_trace_keep_places(t, false);
    bn_arena_free(t->arena);
    bn_arena_free(t->tensors);
    if (!t->outer)
        tg_scope_clock_free(t->clock);
    for (size_t i = 0; i < t->body_made; i++)
        tg_trace_free(t->bodies[i]);
    free(t->bodies);
    free(t->regions);
    free(t->captured);
    free(t->bound);
    free(t->nodes);
    free(t->places);
    free(t->inputs);
    free(t->assigned);
    free(t);
}

void tg_trace_set_hooks(tg_trace *t, const tg_hooks *hooks)
{
    t->hooks = *hooks;
}

_Atomic int tg_places_kept;

void tg_trace_keep_places(tg_trace *t, bool keep)
{
    tg_places_kept += (int)keep - (int)t->keeps_places;
    t->keeps_places = keep;
}

void tg_trace_set_node_cost(tg_trace *t, uint64_t ns)
{
    t->node_cost_ns = ns;
}

void tg_trace_set_precision(tg_trace *t, tg_precision precision)
{
    t->precision = precision;
}

tg_precision tg_trace_precision(const tg_trace *t)
{
    return t->precision;
}

void tg_trace_begin(tg_trace *t)
{
    bn_arena_reset(t->arena);
    bn_arena_rewind(t->tensors); /* stale handles still point to tensors, of an older epoch */
    t->epoch++;
    t->status.code = BN_OK;
    t->phase = TG_PHASE_FORWARD;
    t->scope = NULL;
    tg_hash_begin(t);
    t->node_count = 0;
    t->value_count = 0;
    t->input_count = 0;
    t->assigned_count = 0;
    t->segment_first = 0;
    t->breaks = 0;
    t->placed = 0;
    t->body_count = t->region_count = t->captured_count = t->bound_count = 0;
    if (t->clock && !t->outer) {
        t->clock->count = 0;
        tg_clock_note(t);
    }
}

bn_code tg_trace_status(const tg_trace *t, bn_status *st)
{
    if (t->status.code != BN_OK && st)
        *st = t->status;
    return t->status.code;
}

size_t tg_trace_node_count(const tg_trace *t)
{
    return t->node_count;
}

size_t tg_trace_traced(const tg_trace *t)
{
    size_t count = t->node_count;
    for (size_t i = 0; i < t->body_count; i++)
        count += tg_trace_traced(t->bodies[i]);
    return count;
}

tg_phase tg_trace_phase(tg_trace *t, tg_phase phase)
{
    tg_phase before = t->phase;
    if (phase != before) {
        /* Phases decide where a step is cut, so they belong to its structure. */
        tg_hash_mark(t, (uint32_t)phase);
        t->phase = phase;
        tg_scope_changed(t);
    }
    return before;
}

/* ---- appending -------------------------------------------------------------- */

/* The host's caches are cold after it waited for the device. Both arenas are written in order, so
 * the lines to be written next are known. */
static void fetch_ahead(const void *node, const void *values)
{
    __builtin_prefetch((const char *)node + AHEAD_BYTES, 1);
    __builtin_prefetch((const char *)node + AHEAD_BYTES + 64, 1);
    __builtin_prefetch((const char *)values + AHEAD_BYTES, 1);
    __builtin_prefetch((const char *)values + AHEAD_BYTES + 64, 1);
}

/* A node with room for its operands and results, appended but not yet typed. */
static tg_node *node_append(tg_trace *t, const tg_op *op, const void *attributes, size_t operands,
                            size_t results)
{
    size_t bytes = sizeof(tg_node) + operands * sizeof(tg_tensor *) + op->attribute_bytes;
    tg_node *node = bn_arena_alloc(t->arena, bytes);
    tg_tensor *values = bn_arena_alloc(t->tensors, results * sizeof *values);
    bn_grow(&t->nodes, t->node_count + 1, &t->node_capacity, sizeof *t->nodes);
    fetch_ahead(node, values);
    *node = (tg_node){.op = op,
                      .operands = (tg_tensor **)(node + 1),
                      .results = values,
                      .scope = t->scope,
                      .index = (uint32_t)t->node_count,
                      .operand_count = (uint16_t)operands,
                      .result_count = (uint16_t)results,
                      .phase = (uint8_t)t->phase};
    if (op->attribute_bytes) {
        node->attributes = node->operands + operands;
        memcpy(node->operands + operands, attributes, op->attribute_bytes);
    }
    for (size_t i = 0; i < results; i++)
        values[i] = (tg_tensor){.trace = t,
                                .epoch = t->epoch,
                                .id = t->value_count++,
                                .kind = TG_KIND_VALUE,
                                .result = (uint16_t)i,
                                .node = node};
    t->nodes[t->node_count++] = node;
    /* Emulates a framework whose tracing is slower. */
    if (t->node_cost_ns)
        bn_wait_busily(t->node_cost_ns);
    return node;
}

/* First use of a variable in this trace: its entry value joins the inputs. */
static tg_tensor *variable_enter(tg_trace *t, tg_variable *v)
{
    tg_node *node = node_append(t, &tg_op_input, &v->head.type, 0, 1);
    node->variable = v;
    node->results[0].type = v->head.type;
    tg_hash_node(t, node);
    bn_grow(&t->inputs, t->input_count + 1, &t->input_capacity, sizeof *t->inputs);
    v->input = (uint32_t)t->input_count;
    t->inputs[t->input_count++] = node->results;
    v->entry = node->results;
    return v->entry;
}

tg_tensor *tg_body_input(tg_trace *body, const tg_type *type)
{
    if (body->status.code != BN_OK)
        return &body->poison;
    tg_node *node = node_append(body, &tg_op_input, type, 0, 1);
    node->results[0].type = *type;
    tg_hash_node(body, node);
    return node->results;
}

/* TENSOR of the outer trace as an input of the loop body T, made at first use. */
static tg_tensor *capture_outer(tg_trace *t, tg_tensor *tensor, const char *op)
{
    tg_tensor *outer = resolve(t->outer, tensor, op);
    if (!outer) {
        if (t->status.code == BN_OK)
            t->status = t->outer->status;
        return NULL;
    }
    for (size_t i = 0; i < t->captured_count; i++)
        if (t->captured[i].outer == outer)
            return t->captured[i].inner;
    tg_tensor *inner = tg_body_input(t, &outer->type);
    if (inner->kind != TG_KIND_VALUE)
        return NULL;
    bn_grow(&t->captured, t->captured_count + 1, &t->captured_capacity, sizeof *t->captured);
    t->captured[t->captured_count++] = (tg_capture){outer, inner};
    return inner;
}

/* TENSOR as a value of T; NULL after putting an error on T, whose message names OP. */
static tg_tensor *resolve(tg_trace *t, tg_tensor *tensor, const char *op)
{
    if (t->outer && tensor->kind != TG_KIND_POISON && !in_trace(t, tensor))
        return capture_outer(t, tensor, op);
    if (tensor->kind == TG_KIND_VALUE) {
        if (in_trace(t, tensor))
            return tensor;
        tg_trace_fail(t, BN_INVALID,
                      "%s: value of an earlier trace; assign it to a variable to keep it", op);
        return NULL;
    }
    if (tensor->kind == TG_KIND_POISON)
        return NULL;
    tg_variable *v = (tg_variable *)tensor;
    if (!in_trace(t, tensor)) {
        tensor->trace = t;
        tensor->epoch = t->epoch;
        v->entry = v->current = NULL;
        v->assigned = false;
    }
    if (!v->current)
        v->current = variable_enter(t, v);
    return v->current;
}

tg_tensor *tg_trace_resolve(tg_trace *t, tg_tensor *tensor)
{
    return resolve(t, tensor, "a tensor");
}

tg_tensor *tg_trace_value(const tg_trace *t, const tg_tensor *tensor)
{
    if (!in_trace(t, tensor))
        return NULL;
    if (tensor->kind == TG_KIND_VARIABLE)
        return ((const tg_variable *)tensor)->current;
    return tensor->node->results + tensor->result;
}

tg_tensor *tg_emit(tg_trace *t, const tg_op *op, const void *attributes, tg_tensor *const *operands,
                   size_t count)
{
    return tg_emit_many(t, op, attributes, operands, count, (size_t)op->results);
}

/* Computes NODE on the host now. Later graphs take its result as an input. */
static bn_code run_on_host(tg_trace *t, tg_node *node, bn_status *st)
{
    if (!t->hooks.host || t->outer)
        return bn_fail(st, BN_NOT_SUPPORTED, "it is computed on the host, which is not possible %s",
                       t->outer ? "in a loop" : "in a trace without a runtime");
    bn_code code = t->hooks.host(t->hooks.context, t, node, st);
    node->results[0].materialized = true;
    t->breaks++;
    return code;
}

static bn_code call_hooks(tg_trace *t, tg_node *node, bn_status *st)
{
    if (!node->op->lower)
        return run_on_host(t, node, st);
    return t->hooks.node ? t->hooks.node(t->hooks.context, t, node, st) : BN_OK;
}

tg_tensor *tg_emit_many(tg_trace *t, const tg_op *op, const void *attributes,
                        tg_tensor *const *operands, size_t count, size_t results)
{
    tg_tensor *values[INLINE_OPERANDS], **resolved = values;
    if (t->status.code != BN_OK)
        return &t->poison;
    if (count > UINT16_MAX || results > UINT16_MAX) {
        tg_trace_fail(t, BN_INVALID, "%s: %zu operands, %zu results", op->name, count, results);
        return &t->poison;
    }
    if (count > INLINE_OPERANDS)
        resolved = bn_arena_alloc(t->arena, count * sizeof *resolved);
    /* Operands first: a variable's entry node must precede the node that uses it. */
    for (size_t i = 0; i < count; i++)
        if (!(resolved[i] = resolve(t, operands[i], op->name)))
            return &t->poison;

    tg_node *node = node_append(t, op, attributes, count, results);
    memcpy(node->operands, resolved, count * sizeof *resolved);
    bn_status st = {.code = BN_OK};
    if (op->infer(node, &st) != BN_OK) {
        tg_trace_fail(t, st.code, "%s: %s", op->name, st.message);
        return &t->poison;
    }
    tg_hash_node(t, node);
    if (call_hooks(t, node, &st) != BN_OK) {
        tg_trace_fail(t, st.code, "%s: %s", op->name, st.message);
        return &t->poison;
    }
    return node->results;
}

tg_tensor *tg_value_or_poison(tg_trace *t, tg_tensor *x)
{
    tg_tensor *value = t->status.code == BN_OK ? tg_trace_resolve(t, x) : NULL;
    return value ? value : &t->poison;
}

tg_tensor *tg_emit_result(tg_tensor *first, unsigned index)
{
    return first->kind == TG_KIND_VALUE ? first->node->results + index : first;
}

/* ---- assignment, reading ------------------------------------------------------ */

void tg_assign(tg_trace *t, tg_tensor *variable, tg_tensor *value)
{
    if (t->status.code != BN_OK)
        return;
    tg_variable *v = (tg_variable *)variable;
    if (variable->kind != TG_KIND_VARIABLE) {
        tg_trace_fail(t, BN_INVALID, "assign: the target is not a variable");
        return;
    }
    tg_tensor *now = tg_trace_resolve(t, value);
    if (!now)
        return;
    if (!tg_type_equal(&variable->type, &now->type)) {
        bn_text types = {0};
        tg_type_write(&now->type, &types);
        bn_text_puts(&types, " to a variable of ");
        tg_type_write(&variable->type, &types);
        tg_trace_fail(t, BN_INVALID, "assign %s: %s", v->name, types.data);
        bn_text_free(&types);
        return;
    }
    if (!in_trace(t, variable)) {
        if (t->outer) {
            tg_trace_fail(t, BN_INVALID,
                          "assign %s: an iteration of a loop assigns variables that it binds only",
                          v->name);
            return;
        }
        variable->trace = t;
        variable->epoch = t->epoch;
        v->entry = NULL;
        v->assigned = false;
    }
    v->current = now;
    if (v->assigned)
        return;
    v->assigned = true;
    bn_grow(&t->assigned, t->assigned_count + 1, &t->assigned_capacity, sizeof *t->assigned);
    t->assigned[t->assigned_count++] = v;
}

size_t tg_trace_assigned_count(const tg_trace *t)
{
    return t->assigned_count;
}

tg_tensor *tg_trace_assigned(const tg_trace *t, size_t index, tg_tensor **value)
{
    *value = t->assigned[index]->current;
    return &t->assigned[index]->head;
}

bool tg_trace_is_assigned(const tg_trace *t, const tg_tensor *value)
{
    /* The latest assignments are asked for first. */
    for (size_t i = t->assigned_count; i-- > 0;)
        if (t->assigned[i]->current == value)
            return true;
    return false;
}

tg_node *tg_trace_node(const tg_trace *t, size_t index)
{
    return t->nodes[index];
}

void tg_forget(tg_trace *t, size_t first_node)
{
    if (t->status.code == BN_OK && t->hooks.forget)
        t->hooks.forget(t->hooks.context, t, first_node);
}

tg_tensor *tg_input_variable(const tg_tensor *input)
{
    return input->node && input->node->variable ? &input->node->variable->head : NULL;
}

void tg_read(tg_trace *t, tg_tensor *tensor, void *host, size_t size)
{
    memset(host, 0, size);
    if (t->status.code != BN_OK)
        return;
    tg_tensor *value = tg_trace_resolve(t, tensor);
    if (!value)
        return;
    bn_status st = {.code = BN_OK};
    if ((int64_t)size != tg_type_bytes(&value->type)) {
        tg_trace_fail(t, BN_INVALID, "read: %zu bytes of a tensor of %lld", size,
                      (long long)tg_type_bytes(&value->type));
    } else if (!t->hooks.read) {
        tg_trace_fail(t, BN_NOT_SUPPORTED, "read: this trace has no runtime behind it");
    } else if (t->hooks.read(t->hooks.context, t, value, host, size, &st) != BN_OK) {
        tg_trace_fail(t, st.code, "read: %s", st.message);
    }
}
