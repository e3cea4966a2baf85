/*
 * tensor.c - what a tensor is: element type and shape; and of variables, which outlive
 * traces, their name and device data.
 */
#include "runtime/graph/trace_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- types ---------------------------------------------------------------------- */

tg_type tg_type_make(tg_dtype dtype, int32_t rank, const int64_t *dims)
{
    tg_type type = {.rank = rank, .dtype = dtype};
    for (int32_t i = 0; i < rank && i < TG_MAX_RANK; i++)
        type.dims[i] = dims[i];
    return type;
}

bool tg_type_equal(const tg_type *a, const tg_type *b)
{
    if (a->rank != b->rank || a->dtype != b->dtype)
        return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
}

int64_t tg_type_elements(const tg_type *type)
{
    int64_t n = 1;
    for (int32_t i = 0; i < type->rank; i++)
        n *= type->dims[i];
    return n;
}

int64_t tg_type_bytes(const tg_type *type)
{
    return tg_type_elements(type) * (int64_t)bn_dtype_bytes(type->dtype);
}

void tg_type_write(const tg_type *type, bn_text *out)
{
    bn_text_puts(out, "tensor<");
    for (int32_t i = 0; i < type->rank; i++) {
        bn_text_int(out, type->dims[i]);
        bn_text_putc(out, 'x');
    }
    bn_text_puts(out, bn_dtype_text(type->dtype));
    bn_text_putc(out, '>');
}

bn_code tg_shape_check(int64_t rank, const int64_t *dims, bn_status *st)
{
    if (rank < 0 || rank > TG_MAX_RANK)
        return bn_fail(st, BN_INVALID, "rank %lld is not in 0..%d", (long long)rank, TG_MAX_RANK);
    for (int64_t i = 0; i < rank; i++)
        if (dims[i] < 0)
            return bn_fail(st, BN_INVALID, "dimension %lld has size %lld", (long long)i,
                           (long long)dims[i]);
    return BN_OK;
}

bn_code tg_type_fail(bn_status *st, const char *what, const tg_type *type)
{
    bn_text text = {0};
    tg_type_write(type, &text);
    bn_fail(st, BN_INVALID, "%s %s", what, text.data);
    bn_text_free(&text);
    return BN_INVALID;
}

bn_code tg_type_fail_pair(bn_status *st, const char *what, const tg_type *a, const tg_type *b)
{
    bn_text text = {0};
    tg_type_write(a, &text);
    bn_text_puts(&text, " and ");
    tg_type_write(b, &text);
    bn_fail(st, BN_INVALID, "%s: %s", what, text.data);
    bn_text_free(&text);
    return BN_INVALID;
}

/* ---- tensors -------------------------------------------------------------------- */

tg_tensor *tg_variable_new(const char *name, const tg_type *type)
{
    size_t length = strlen(name);
    tg_variable *v = bn_zalloc(1, sizeof *v + length + 1);
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

/* ---- nodes, seen by modes ------------------------------------------------------ */

const tg_scope *tg_node_scope(const tg_node *node)
{
    return node->scope;
}

tg_phase tg_node_phase(const tg_node *node)
{
    return (tg_phase)node->phase;
}

const char *tg_node_op_name(const tg_node *node)
{
    return node->op->name;
}

bool tg_node_has_op(const tg_node *node)
{
    return node->op->infer != NULL;
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

/* ---- which line of the source made them ------------------------------------------- */

/* A table next to the nodes, so that a trace without source locations costs nothing. */

/* Nodes without a place get PLACE. */
void tg_place_nodes(tg_trace *t, tg_place place)
{
    if (!t->keeps_places)
        return;
    bn_grow(&t->places, t->node_count, &t->place_capacity, sizeof *t->places);
    while (t->placed < t->node_count)
        t->places[t->placed++] = place;
}

void tg_place_rest(tg_trace *t, const char *file, int line)
{
    tg_place_nodes(t, (tg_place){file, line});
}

void tg_place_value(const tg_tensor *value, const char *file, int line)
{
    /* A value's trace is the one that the caller has. */
    if (value->kind == TG_KIND_VALUE)
        tg_place_rest((tg_trace *)(uintptr_t)value->trace, file, line);
}

void tg_place_next(tg_trace *t, const char *file, int line)
{
    t->next_place = (tg_place){file, line};
}

tg_place tg_trace_next_place(const tg_trace *t)
{
    return t->keeps_places ? t->next_place : (tg_place){NULL, 0};
}

tg_place tg_node_place(const tg_node *node)
{
    const tg_trace *t = node->results->trace;
    return node->index < t->placed ? t->places[node->index] : (tg_place){NULL, 0};
}

tg_place tg_value_place(const tg_tensor *value)
{
    return value->kind == TG_KIND_VALUE ? tg_node_place(value->node) : (tg_place){NULL, 0};
}
