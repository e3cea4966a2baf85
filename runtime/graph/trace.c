/*
 * trace.c - variables, values, and the append-only trace.
 *
 * This is the path that runs for every op of every lazy step, so it allocates
 * from arenas only and touches each node once: resolve operands, infer the
 * type, join the hash. Each node leaves a record, its op's name, attributes and
 * operands' numbers, which say everything about the node that a program can
 * depend on; records are chained through XXH3 (128 bits) a page at a time.
 */
#define XXH_INLINE_ALL
#include "runtime/graph/trace_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define RECORD_BYTES 512
#define AHEAD_BYTES  1024

bool tg_grow(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    size_t larger = *capacity ? *capacity * 2 : 256;
    void *old, *grown;
    memcpy(&old, items, sizeof old);
    grown = realloc(old, larger * size);
    if (!grown)
        return false;
    memcpy(items, &grown, sizeof grown);
    *capacity = larger;
    return true;
}

/* ---- variables ---------------------------------------------------------- */

tg_tensor *tg_variable_new(const char *name, const tg_type *type)
{
    size_t length = strlen(name);
    tg_variable *v = calloc(1, sizeof *v + length + 1);
    if (!v)
        return NULL;
    v->head.type = *type;
    v->head.kind = TG_KIND_VARIABLE;
    memcpy(v->name, name, length + 1);
    return &v->head;
}

void tg_variable_free(tg_tensor *variable)
{
    free(variable);
}

void tg_variable_retype(tg_tensor *variable, const tg_type *type)
{
    variable->type = *type;
    variable->version++;
}

uint32_t tg_variable_version(const tg_tensor *variable)
{
    return variable->version;
}

void *tg_variable_peek(const tg_tensor *variable, uint32_t *version)
{
    *version = variable->version;
    return variable->data;
}

void *tg_variable_exchange(tg_tensor *variable, void *data)
{
    void *old = variable->data;
    variable->data = data;
    return old;
}

const tg_type *tg_tensor_type(const tg_tensor *tensor)
{
    return &tensor->type;
}

const char *tg_tensor_name(const tg_tensor *tensor)
{
    return tensor->kind == TG_KIND_VARIABLE ? ((const tg_variable *)tensor)->name : "";
}

void *tg_tensor_data(const tg_tensor *tensor)
{
    return tensor->data;
}

void tg_tensor_set_data(tg_tensor *tensor, void *data)
{
    tensor->data = data;
}

static inline bool in_trace(const tg_trace *t, const tg_tensor *tensor)
{
    return tensor->trace == t && tensor->epoch == t->epoch;
}

/* ---- hash ----------------------------------------------------------------- */

tg_hash tg_hash_absorb(tg_hash hash, const void *bytes, size_t size)
{
    char record[RECORD_BYTES];
    const char *next = bytes;
    do {
        size_t room = sizeof record - sizeof hash;
        size_t take = size < room ? size : room;
        memcpy(record, &hash, sizeof hash);
        memcpy(record + sizeof hash, next, take);
        XXH128_hash_t h = XXH3_128bits(record, sizeof hash + take);
        hash = (tg_hash){h.low64, h.high64};
        next += take;
        size -= take;
    } while (size > 0);
    return hash;
}

/* What is written down and not yet hashed starts with the hash so far. */
static void record_begin(tg_trace *t, tg_hash hash)
{
    t->hash = hash;
    memcpy(t->record, &hash, sizeof hash);
    t->record_used = sizeof hash;
}

tg_hash tg_trace_hash(const tg_trace *t)
{
    if (t->record_used == sizeof t->hash)
        return t->hash;
    XXH128_hash_t h = XXH3_128bits(t->record, t->record_used);
    return (tg_hash){h.low64, h.high64};
}

/* Room for SIZE bytes of the record; what was there before is hashed when it
 * does not fit. NULL when it never will. */
static char *record_room(tg_trace *t, size_t size)
{
    if (t->record_used + size > sizeof t->record)
        record_begin(t, tg_trace_hash(t));
    if (t->record_used + size > sizeof t->record)
        return NULL;
    char *at = t->record + t->record_used;
    t->record_used += size;
    return at;
}

static void record_mark(tg_trace *t, uint32_t mark)
{
    memcpy(record_room(t, sizeof mark), &mark, sizeof mark);
}

/* One record per node: op, number of operands, attributes, operands' numbers.
 * Records are hashed together when the page is full. */
static void hash_node(tg_trace *t, const tg_node *node)
{
    const tg_op *op = node->op;
    uint32_t count = node->operand_count;
    size_t size = sizeof op->name + sizeof count + op->attribute_bytes + count * sizeof(uint32_t);
    char *at = record_room(t, size), *large = NULL;
    if (!at) {
        at = large = bn_arena_alloc(t->arena, size);
        if (!large) {
            tg_trace_fail(t, BN_OUT_OF_MEMORY, "no memory for a node of %u operands", count);
            return;
        }
    }
    memcpy(at, op->name, sizeof op->name);
    at += sizeof op->name;
    memcpy(at, &count, sizeof count);
    at += sizeof count;
    if (op->attribute_bytes)
        memcpy(at, node->attributes, op->attribute_bytes);
    at += op->attribute_bytes;
    for (uint32_t i = 0; i < count; i++, at += sizeof(uint32_t))
        memcpy(at, &node->operands[i]->id, sizeof(uint32_t));
    if (large)
        record_begin(t, tg_hash_absorb(t->hash, large, size));
}

/* ---- life of a trace ---------------------------------------------------- */

tg_trace *tg_trace_new(void)
{
    tg_trace *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->arena = bn_arena_new(1u << 18);
    t->tensors = bn_arena_new(1u << 18);
    if (!t->arena || !t->tensors) {
        tg_trace_free(t);
        return NULL;
    }
    t->poison.kind = TG_KIND_POISON;
    t->poison.type.dtype = TG_F32;
    tg_trace_begin(t);
    return t;
}

void tg_trace_free(tg_trace *t)
{
    if (!t)
        return;
    bn_arena_free(t->arena);
    bn_arena_free(t->tensors);
    free(t->nodes);
    free(t->inputs);
    free(t->assigned);
    free(t);
}

void tg_trace_set_hooks(tg_trace *t, const tg_hooks *hooks)
{
    t->hooks = *hooks;
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
    bn_arena_rewind(t->tensors); /* stale handles are looked at, not followed */
    t->epoch++;
    t->status.code = BN_OK;
    t->phase = TG_PHASE_FORWARD;
    t->scope = NULL;
    record_begin(t, (tg_hash){0, 0});
    t->node_count = 0;
    t->value_count = 0;
    t->input_count = 0;
    t->assigned_count = 0;
    t->segment_first = 0;
    t->breaks = 0;
}

bn_code tg_trace_status(const tg_trace *t, bn_status *st)
{
    if (t->status.code != BN_OK && st)
        *st = t->status;
    return t->status.code;
}

void tg_trace_fail(tg_trace *t, bn_code code, const char *format, ...)
{
    if (t->status.code != BN_OK)
        return;
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    bn_fail(&t->status, code, "%s", message);

    bn_text path = {0};
    tg_scope_write(t->scope, &path);
    if (path.length && !path.failed)
        bn_context(&t->status, "%s", path.data);
    bn_text_free(&path);
}

size_t tg_trace_node_count(const tg_trace *t)
{
    return t->node_count;
}

tg_phase tg_trace_phase(tg_trace *t, tg_phase phase)
{
    tg_phase before = t->phase;
    if (phase != before) {
        /* Phases decide where a step is cut, so they belong to its structure. */
        record_mark(t, (uint32_t)phase);
        t->phase = phase;
    }
    return before;
}

void tg_scope_push(tg_trace *t, const char *name)
{
    tg_scope *scope = bn_arena_alloc(t->arena, sizeof *scope);
    if (!scope) {
        tg_trace_fail(t, BN_OUT_OF_MEMORY, "no memory for scope %s", name);
        return;
    }
    *scope = (tg_scope){t->scope, name};
    t->scope = scope;
}

void tg_scope_pop(tg_trace *t)
{
    if (t->scope)
        t->scope = t->scope->parent;
}

void tg_scope_write(const tg_scope *scope, bn_text *out)
{
    if (!scope)
        return;
    if (scope->parent) {
        tg_scope_write(scope->parent, out);
        bn_text_putc(out, '.');
    }
    bn_text_puts(out, scope->name);
}

/* ---- appending -------------------------------------------------------------- */

/* A node with room for its operands and results, appended but not yet typed. */
/* A front end that costs more than ours, emulated. */
static void wait_busily(uint64_t ns)
{
    for (uint64_t end = bn_now_ns() + ns; bn_now_ns() < end;)
        continue;
}

static tg_node *node_append(tg_trace *t, const tg_op *op, const void *attributes, size_t operands)
{
    size_t results = (size_t)op->results;
    size_t bytes = sizeof(tg_node) + operands * sizeof(tg_tensor *) + op->attribute_bytes;
    tg_node *node = bn_arena_alloc(t->arena, bytes);
    tg_tensor *values = bn_arena_alloc(t->tensors, results * sizeof *values);
    if (!node || !values ||
        !tg_grow(&t->nodes, t->node_count, &t->node_capacity, sizeof *t->nodes)) {
        tg_trace_fail(t, BN_OUT_OF_MEMORY, "no memory for node %zu", t->node_count);
        return NULL;
    }
    /* A step of the device leaves the host's caches cold; both arenas are written
     * in order, so the next lines can be asked for in time. */
    __builtin_prefetch((char *)node + AHEAD_BYTES, 1);
    __builtin_prefetch((char *)node + AHEAD_BYTES + 64, 1);
    __builtin_prefetch((char *)values + AHEAD_BYTES, 1);
    __builtin_prefetch((char *)values + AHEAD_BYTES + 64, 1);
    *node = (tg_node){.op = op,
                      .operands = (tg_tensor **)(node + 1),
                      .results = values,
                      .scope = t->scope,
                      .index = (uint32_t)t->node_count,
                      .operand_count = (uint16_t)operands,
                      .result_count = (uint8_t)results,
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
                                .result = (uint8_t)i,
                                .node = node};
    t->nodes[t->node_count++] = node;
    if (t->node_cost_ns)
        wait_busily(t->node_cost_ns);
    return node;
}

/* First use of a variable in this trace: its entry value joins the inputs. */
static tg_tensor *variable_enter(tg_trace *t, tg_variable *v)
{
    if (!tg_grow(&t->inputs, t->input_count, &t->input_capacity, sizeof *t->inputs)) {
        tg_trace_fail(t, BN_OUT_OF_MEMORY, "no memory for input %zu", t->input_count);
        return NULL;
    }
    tg_node *node = node_append(t, &tg_op_input, &v->head.type, 0);
    if (!node)
        return NULL;
    node->variable = v;
    node->results[0].type = v->head.type;
    hash_node(t, node);
    v->input = (uint32_t)t->input_count;
    t->inputs[t->input_count++] = node->results;
    v->entry = node->results;
    return v->entry;
}

/* OP is for the message. */
static tg_tensor *resolve(tg_trace *t, tg_tensor *tensor, const char *op)
{
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
    tg_tensor *values[8], **resolved = values;
    if (t->status.code != BN_OK)
        return &t->poison;
    if (count > UINT16_MAX) {
        tg_trace_fail(t, BN_INVALID, "%s: %zu operands", op->name, count);
        return &t->poison;
    }
    if (count > 8 && !(resolved = bn_arena_alloc(t->arena, count * sizeof *resolved))) {
        tg_trace_fail(t, BN_OUT_OF_MEMORY, "%s: no memory for %zu operands", op->name, count);
        return &t->poison;
    }
    /* Operands first: a variable's entry node must precede the node that uses it. */
    for (size_t i = 0; i < count; i++)
        if (!(resolved[i] = resolve(t, operands[i], op->name)))
            return &t->poison;

    tg_node *node = node_append(t, op, attributes, count);
    if (!node)
        return &t->poison;
    memcpy(node->operands, resolved, count * sizeof *resolved);
    bn_status st = {.code = BN_OK};
    if (op->infer(node, &st) != BN_OK) {
        tg_trace_fail(t, st.code, "%s: %s", op->name, st.message);
        return &t->poison;
    }
    hash_node(t, node);
    if (t->hooks.node && t->hooks.node(t->hooks.context, t, node, &st) != BN_OK) {
        tg_trace_fail(t, st.code, "%s: %s", op->name, st.message);
        return &t->poison;
    }
    return node->results;
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
        tg_trace_fail(t, BN_INVALID, "assign %s: %s", v->name,
                      types.failed ? "types differ" : types.data);
        bn_text_free(&types);
        return;
    }
    if (!in_trace(t, variable)) {
        variable->trace = t;
        variable->epoch = t->epoch;
        v->entry = NULL;
        v->assigned = false;
    }
    v->current = now;
    if (v->assigned)
        return;
    if (!tg_grow(&t->assigned, t->assigned_count, &t->assigned_capacity, sizeof *t->assigned)) {
        tg_trace_fail(t, BN_OUT_OF_MEMORY, "assign %s: no memory", v->name);
        return;
    }
    v->assigned = true;
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
    /* What was assigned last is asked for first. */
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

void tg_hold(tg_trace *t, tg_tensor *value)
{
    tg_tensor *v = t->status.code == BN_OK ? tg_trace_resolve(t, value) : NULL;
    if (v && !v->held) {
        v->held = true;
        /* A held value is an output of its graph. */
        record_mark(t, v->id);
    }
}

/* ---- nodes, seen by modes ------------------------------------------------------ */

const char *tg_node_op_name(const tg_node *node)
{
    return node->op->name;
}

bool tg_node_has_op(const tg_node *node)
{
    return node->op != &tg_op_input;
}

size_t tg_node_operand_count(const tg_node *node)
{
    return node->operand_count;
}

tg_tensor *tg_node_operand(const tg_node *node, size_t index)
{
    return node->operands[index];
}

size_t tg_node_result_count(const tg_node *node)
{
    return node->result_count;
}

tg_tensor *tg_node_result(const tg_node *node, size_t index)
{
    return node->results + index;
}

tg_hash tg_node_key(const tg_node *node)
{
    /* Types instead of numbers: equal ops of different steps share a program. Which
     * operands are the same value matters, since a program takes each once. */
    tg_hash h = tg_hash_absorb((tg_hash){0, 0}, node->op->name, sizeof node->op->name);
    if (node->op->attribute_bytes)
        h = tg_hash_absorb(h, node->attributes, node->op->attribute_bytes);
    for (size_t i = 0; i < node->operand_count; i++) {
        int32_t same = 0;
        while (node->operands[same] != node->operands[i])
            same++;
        h = tg_hash_absorb(h, &node->operands[i]->type, sizeof(tg_type));
        h = tg_hash_absorb(h, &same, sizeof same);
    }
    return h;
}
