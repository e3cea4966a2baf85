/*
 * backward.c - reverse-mode gradients, emitted into the same trace.
 *
 * One sweep forward marks the values that depend on what is differentiated, one
 * sweep back over the nodes calls each op's gradient rule (Griewank and
 * Walther, Evaluating Derivatives, 2008, section 3.2). The new nodes carry the
 * scope of the node whose gradient they compute.
 */
#include "runtime/graph/trace_priv.h"

#include <string.h>

#define MAX_NEEDS 64

/* Work space: ACTIVE and GRADS are indexed by value number. */
typedef struct sweep {
    tg_trace *t;
    size_t node_count; /* at the start: what is differentiated */
    uint32_t value_count;
    uint8_t *active;
    tg_tensor **grads;
} sweep;

static bool sweep_begin(sweep *s, tg_trace *t)
{
    *s = (sweep){.t = t, .node_count = t->node_count, .value_count = t->value_count};
    s->active = bn_arena_zalloc(t->arena, s->value_count + 1u);
    s->grads = bn_arena_zalloc(t->arena, (s->value_count + 1u) * sizeof(tg_tensor *));
    if (!s->active || !s->grads)
        tg_trace_fail(t, BN_OUT_OF_MEMORY, "backward: no memory");
    return s->active && s->grads;
}

static void mark_active(sweep *s)
{
    for (size_t n = 0; n < s->node_count; n++) {
        const tg_node *node = s->t->nodes[n];
        bool active = false;
        for (size_t k = 0; k < node->operand_count && !active; k++)
            active = s->active[node->operands[k]->id];
        for (size_t r = 0; active && r < node->result_count; r++)
            if (tg_dtype_is_float(node->results[r].type.dtype) && !node->results[r].constant)
                s->active[node->results[r].id] = 1;
    }
}

static void accumulate(sweep *s, const tg_tensor *value, tg_tensor *grad)
{
    tg_tensor **slot = &s->grads[value->id];
    *slot = *slot ? tg_add(s->t, *slot, grad) : grad;
}

static void differentiate(sweep *s, const tg_node *node)
{
    tg_tensor *gout[TG_MAX_RESULTS] = {NULL};
    bool reached = false, wanted = false;
    for (size_t r = 0; r < node->result_count; r++) {
        gout[r] = s->active[node->results[r].id] ? s->grads[node->results[r].id] : NULL;
        reached |= gout[r] != NULL;
    }
    if (!reached)
        return;
    bool few[MAX_NEEDS] = {false}, *need = few;
    tg_tensor *few_gin[MAX_NEEDS] = {NULL}, **gin = few_gin;
    if (node->operand_count > MAX_NEEDS) {
        need = bn_arena_zalloc(s->t->arena, node->operand_count * sizeof *need);
        gin = bn_arena_zalloc(s->t->arena, node->operand_count * sizeof(tg_tensor *));
        if (!need || !gin) {
            tg_trace_fail(s->t, BN_OUT_OF_MEMORY, "backward: no memory");
            return;
        }
    }
    for (size_t k = 0; k < node->operand_count; k++)
        wanted |= need[k] = s->active[node->operands[k]->id];
    if (!wanted)
        return;
    s->t->scope = node->scope;
    if (!node->op->grad) {
        tg_trace_fail(s->t, BN_NOT_SUPPORTED, "backward: %s is not differentiable", node->op->name);
        return;
    }
    node->op->grad(s->t, node, gout, need, gin);
    for (size_t k = 0; k < node->operand_count; k++)
        if (need[k] && gin[k])
            accumulate(s, node->operands[k], gin[k]);
}

tg_tensor *tg_stop_gradient(tg_trace *t, tg_tensor *x)
{
    tg_tensor *value = t->status.code == BN_OK ? tg_trace_resolve(t, x) : NULL;
    if (!value)
        return &t->poison;
    value->constant = true;
    return value;
}

/* Whether a gradient with respect to WRT means something; else an error is set. */
static bool is_differentiated(tg_trace *t, tg_tensor *wrt)
{
    const tg_tensor *value = tg_trace_resolve(t, wrt);
    if (!value)
        return false;
    if (tg_dtype_is_float(value->type.dtype))
        return true;
    bn_text type = {0};
    tg_type_write(&value->type, &type);
    tg_trace_fail(t, BN_INVALID, "backward: gradient with respect to %s, which is no float",
                  type.failed ? "a tensor" : type.data);
    bn_text_free(&type);
    return false;
}

void tg_backward(tg_trace *t, tg_tensor *loss, tg_tensor *const *wrt, size_t count,
                 tg_tensor **grads)
{
    for (size_t i = 0; i < count; i++)
        grads[i] = &t->poison;
    tg_tensor *end = t->status.code == BN_OK ? tg_trace_resolve(t, loss) : NULL;
    if (!end)
        return;
    if (end->type.rank != 0 || !tg_dtype_is_float(end->type.dtype)) {
        tg_trace_fail(t, BN_INVALID, "backward: the loss is not a floating-point scalar");
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (!is_differentiated(t, wrt[i]))
            return;
    sweep s;
    if (!sweep_begin(&s, t))
        return;
    for (size_t i = 0; i < count; i++)
        s.active[tg_trace_resolve(t, wrt[i])->id] = 1;
    mark_active(&s);
    const tg_scope *scope = t->scope;
    if (s.active[end->id])
        s.grads[end->id] = tg_scalar(t, end->type.dtype, 1.0);
    for (size_t n = end->node->index + 1u; n-- > 0 && t->status.code == BN_OK;)
        differentiate(&s, t->nodes[n]);
    t->scope = scope;
    for (size_t i = 0; i < count; i++) {
        tg_tensor *value = tg_trace_resolve(t, wrt[i]);
        if (!value)
            return;
        grads[i] = s.grads[value->id] ? s.grads[value->id] : tg_full(t, &value->type, 0.0);
    }
}
