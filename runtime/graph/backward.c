/*
 * backward.c - reverse-mode gradients, emitted into the same trace.
 *
 * One sweep forward marks the values that depend on what is differentiated, one
 * sweep back over the nodes calls each op's gradient rule (Griewank and
 * Walther, Evaluating Derivatives, 2008, section 3.2). The new nodes carry the
 * scope of the node whose gradient they compute.
 *
 * The gradient of a loop is a loop in the other direction, at the end of the file.
 */
#include "runtime/graph/op_attributes.h"
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

static void sweep_begin(sweep *s, tg_trace *t)
{
    *s = (sweep){.t = t, .node_count = t->node_count, .value_count = t->value_count};
    s->active = bn_arena_zalloc(t->arena, s->value_count + 1u);
    s->grads = bn_arena_zalloc(t->arena, (s->value_count + 1u) * sizeof(tg_tensor *));
}

static void mark_active(sweep *s)
{
    for (size_t n = 0; n < s->node_count; n++) {
        const tg_node *node = s->t->nodes[n];
        bool active = false;
        for (size_t k = 0; k < node->operand_count && !active; k++)
            active = s->active[node->operands[k]->id];
        for (size_t r = 0; active && r < node->result_count; r++)
            if (bn_dtype_is_float(node->results[r].type.dtype) && !node->results[r].constant)
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
    tg_tensor *few_gout[TG_MAX_RESULTS] = {NULL}, **gout = few_gout;
    bool reached = false, wanted = false;
    if (node->result_count > TG_MAX_RESULTS)
        gout = bn_arena_zalloc(s->t->arena, node->result_count * sizeof(tg_tensor *));
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
    }
    for (size_t k = 0; k < node->operand_count; k++)
        wanted |= need[k] = s->active[node->operands[k]->id];
    if (!wanted)
        return;
    tg_scope_enter(s->t, node->scope);
    if (!node->op->grad) {
        tg_trace_fail(s->t, BN_NOT_SUPPORTED, "backward: %s is not differentiable", node->op->name);
        return;
    }
    node->op->grad(s->t, node, gout, need, gin);
    for (size_t k = 0; k < node->operand_count; k++)
        if (need[k] && gin[k])
            accumulate(s, node->operands[k], gin[k]);
    tg_place_nodes(s->t, tg_node_place(node));
}

/* Differentiates the nodes before END, the last one first. */
static void sweep_back(sweep *s, size_t end)
{
    const tg_scope *scope = s->t->scope;
    for (size_t n = end; n-- > 0 && s->t->status.code == BN_OK;)
        differentiate(s, s->t->nodes[n]);
    tg_scope_enter(s->t, scope);
}

void tg_gradients(tg_trace *t, size_t end, tg_tensor *const *outputs, tg_tensor *const *seeds,
                  size_t count, tg_tensor *const *wrt, size_t wrt_count, tg_tensor **grads)
{
    sweep s;
    memset(grads, 0, wrt_count * sizeof *grads);
    if (t->status.code != BN_OK)
        return;
    sweep_begin(&s, t);
    for (size_t i = 0; i < wrt_count; i++)
        if (wrt[i])
            s.active[wrt[i]->id] = 1;
    mark_active(&s);
    for (size_t k = 0; k < count; k++)
        if (seeds[k] && s.active[outputs[k]->id])
            accumulate(&s, outputs[k], seeds[k]);
    sweep_back(&s, end);
    for (size_t i = 0; i < wrt_count; i++)
        grads[i] = wrt[i] ? s.grads[wrt[i]->id] : NULL;
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
    if (bn_dtype_is_float(value->type.dtype))
        return true;
    bn_text type = {0};
    tg_type_write(&value->type, &type);
    tg_trace_fail(t, BN_INVALID, "backward: gradient with respect to %s, which is no float",
                  type.data);
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
    if (end->type.rank != 0 || !bn_dtype_is_float(end->type.dtype)) {
        tg_trace_fail(t, BN_INVALID, "backward: the loss is not a floating-point scalar");
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (!is_differentiated(t, wrt[i]))
            return;
    sweep s;
    sweep_begin(&s, t);
    for (size_t i = 0; i < count; i++)
        s.active[tg_trace_resolve(t, wrt[i])->id] = 1;
    mark_active(&s);
    if (s.active[end->id])
        s.grads[end->id] = tg_scalar(t, end->type.dtype, 1.0);
    sweep_back(&s, end->node->index + 1u);
    for (size_t i = 0; i < count; i++) {
        tg_tensor *value = tg_trace_resolve(t, wrt[i]);
        if (!value)
            return;
        grads[i] = s.grads[value->id] ? s.grads[value->id] : tg_full(t, &value->type, 0.0);
    }
}

/* ---- loops --------------------------------------------------------------------------- */

/*
 * A loop's body is differentiated in place: the gradient's nodes are appended to the body's trace.
 * The backward body is the part of that trace which its results need, down to values that it takes
 * as inputs: the forward body's inputs, and values that this saved.
 */
typedef struct gradient {
    tg_trace *t;
    const tg_node *node;
    const tg_scan_attributes *a;
    tg_region *region;
    tg_trace *body;
    tg_tensor *const *gout;
    tg_tensor **wrt;   /* [operand] in the body, where its gradient is wanted */
    tg_tensor **grads; /* [operand] in the body */
    tg_tensor **sums;  /* [operand] captured: sum over the iterations before */
    tg_tensor **seeds; /* [result] in the body: the gradient that reaches it */
    tg_tensor **saved; /* in the body */
    size_t saved_count;
    bool *used;        /* [operand] an input of the backward body, too */
    int32_t *input_of; /* [value of the body] 1 + operand; 0: none */
    uint8_t *seen;     /* [value of the body] */
    uint8_t *needed;   /* [node of the body] by the backward body */
    tg_loop_plan back;
} gradient;

static void gradient_begin(gradient *g)
{
    bn_arena *arena = g->t->arena;
    const size_t operands = g->node->operand_count + 1u, results = g->node->result_count + 1u;
    g->wrt = bn_arena_zalloc(arena, operands * sizeof *g->wrt);
    g->grads = bn_arena_zalloc(arena, operands * sizeof *g->grads);
    g->sums = bn_arena_zalloc(arena, operands * sizeof *g->sums);
    g->used = bn_arena_zalloc(arena, operands * sizeof *g->used);
    g->seeds = bn_arena_zalloc(arena, results * sizeof *g->seeds);
    g->back.out = bn_arena_zalloc(arena, operands * sizeof *g->back.out);
}

/* Carried values get a gradient in any case: iterations pass it on even where none comes in. */
static bool differentiate_body(gradient *g, const bool *need)
{
    const tg_graph *f = &g->region->graph;
    const size_t carried = (size_t)g->a->carried;
    tg_trace_phase(g->body, g->t->phase);
    for (size_t r = 0; r < f->output_count; r++) {
        const tg_type type = f->outputs[r]->type;
        if (bn_dtype_is_float(type.dtype) && (r < carried || g->gout[r]))
            g->seeds[r] = tg_body_input(g->body, &type);
    }
    for (size_t k = 0; k < f->input_count; k++)
        if (bn_dtype_is_float(f->inputs[k]->type.dtype) && (k < carried || need[k]))
            g->wrt[k] = f->inputs[k];
    if (tg_body_check(g->body))
        tg_gradients(g->body, f->end_node, f->outputs, g->seeds, f->output_count, g->wrt,
                     f->input_count, g->grads);
    return tg_body_check(g->body);
}

/* Results of the backward body: gradients of carried values; sums of the gradients of captured
 * values; and for stacks the gradients of slices. */
static bool plan_results(gradient *g)
{
    const size_t carried = (size_t)g->a->carried, captured = carried + (size_t)g->a->stacked;
    tg_loop_plan *p = &g->back;
    for (size_t k = 0; k < carried; k++)
        if (g->wrt[k])
            p->out[p->carried++] =
                g->grads[k] ? g->grads[k] : tg_full(g->body, &g->wrt[k]->type, 0.0);
    for (size_t k = captured; k < g->node->operand_count; k++)
        if (g->grads[k]) {
            const tg_type type = g->grads[k]->type;
            g->sums[k] = tg_body_input(g->body, &type);
            p->out[p->carried++] = tg_add(g->body, g->sums[k], g->grads[k]);
        }
    for (size_t k = carried; k < captured; k++)
        if (g->grads[k])
            p->out[p->carried + p->outs++] = g->grads[k];
    return tg_body_check(g->body);
}

/* Whether the backward body recomputes NODE's values: as the loop's tg_remat says, and in any case
 * where that takes no arithmetic and its operands are no larger. */
static bool recomputes(const gradient *g, const tg_node *node)
{
    const char *family = node->op->family;
    if (node->operand_count == 0)
        return tg_node_has_op(node);
    if (g->a->remat == TG_REMAT_LAYER)
        return true;
    if (g->a->remat == TG_REMAT_DOTS)
        return strcmp(family, "dot") != 0 && strcmp(family, "convolution") != 0;
    return strcmp(family, "shape") == 0 ||
           (strcmp(node->op->name, "convert") == 0 &&
            tg_type_bytes(&node->results[0].type) >= tg_type_bytes(tg_operand_type(node, 0)));
}

/* The backward body uses VALUE: recomputes it, takes it as an input, or has it saved. */
static void use(gradient *g, tg_tensor *value)
{
    const tg_node *node = value->node;
    if (g->seen[value->id])
        return;
    g->seen[value->id] = 1;
    const int32_t input = g->input_of[value->id];
    if (node->index >= g->region->graph.end_node || (!input && recomputes(g, node)))
        g->needed[node->index] = 1;
    else if (input > g->a->carried)
        g->used[input - 1] = true;
    else
        g->saved[g->saved_count++] = value;
}

static void find_saved(gradient *g)
{
    const tg_graph *f = &g->region->graph;
    bn_arena *arena = g->t->arena;
    const size_t values = g->body->value_count + 1u;
    g->input_of = bn_arena_zalloc(arena, values * sizeof *g->input_of);
    g->seen = bn_arena_zalloc(arena, values);
    g->needed = bn_arena_zalloc(arena, g->body->node_count + 1);
    g->saved = bn_arena_alloc(arena, values * sizeof *g->saved);
    for (size_t k = 0; k < f->input_count; k++)
        g->input_of[f->inputs[k]->id] = (int32_t)k + 1;
    for (size_t i = 0; i < g->back.carried + g->back.outs; i++)
        use(g, g->back.out[i]);
    for (size_t n = g->body->node_count; n-- > 0;)
        for (size_t k = 0; g->needed[n] && k < g->body->nodes[n]->operand_count; k++)
            use(g, g->body->nodes[n]->operands[k]);
}

/* A second loop over the same body, which also returns the saved values; in the text both are one
 * loop (lower.c). NULL after putting an error on the trace. */
static const tg_node *append_saving(gradient *g)
{
    const tg_graph *f = &g->region->graph;
    tg_loop_plan p = {.body = g->body,
                      .in = f->inputs,
                      .operands = g->node->operands,
                      .carried = (size_t)g->a->carried,
                      .stacked = (size_t)g->a->stacked,
                      .captured = f->input_count - (size_t)(g->a->carried + g->a->stacked),
                      .outs = (size_t)g->a->outs + g->saved_count,
                      .saves = g->saved_count,
                      .length = g->a->length,
                      .reverse = g->a->reverse != 0,
                      .remat = (tg_remat)g->a->remat,
                      .offload = g->a->offload != 0,
                      .derived = true};
    if (g->saved_count == 0)
        return g->node;
    p.out = bn_arena_alloc(g->t->arena, (p.carried + p.outs) * sizeof *p.out);
    memcpy(p.out, f->outputs, f->output_count * sizeof *p.out);
    memcpy(p.out + f->output_count, g->saved, g->saved_count * sizeof *p.out);
    const tg_phase phase = tg_trace_phase(g->t, (tg_phase)g->node->phase);
    tg_node *node = tg_region_append(g->t, g->node->op, &p);
    tg_trace_phase(g->t, phase);
    if (node)
        g->region->extended = node;
    return node;
}

static void add_input(tg_loop_plan *p, size_t *count, tg_tensor *in, tg_tensor *operand)
{
    p->in[*count] = in;
    p->operands[(*count)++] = operand;
}

/* Inputs of the backward body; SAVING returns the saved values. */
static bool plan_inputs(gradient *g, const tg_node *saving)
{
    const tg_graph *f = &g->region->graph;
    const size_t carried = (size_t)g->a->carried, captured = carried + (size_t)g->a->stacked;
    tg_loop_plan *p = &g->back;
    size_t n = 0;
    const size_t most = f->output_count + 2 * f->input_count + g->saved_count + 1;
    p->in = bn_arena_alloc(g->t->arena, most * sizeof *p->in);
    p->operands = bn_arena_alloc(g->t->arena, most * sizeof *p->operands);
    for (size_t k = 0; k < carried; k++)
        if (g->wrt[k])
            add_input(p, &n, g->seeds[k],
                      g->gout[k] ? g->gout[k] : tg_full(g->t, &g->wrt[k]->type, 0.0));
    for (size_t k = captured; k < f->input_count; k++)
        if (g->sums[k])
            add_input(p, &n, g->sums[k], tg_full(g->t, &g->wrt[k]->type, 0.0));
    for (size_t r = carried; r < f->output_count; r++)
        if (g->seeds[r])
            add_input(p, &n, g->seeds[r], g->gout[r]);
    for (size_t k = carried; k < captured; k++)
        if (g->used[k])
            add_input(p, &n, f->inputs[k], g->node->operands[k]);
    for (size_t i = 0; i < g->saved_count; i++)
        add_input(p, &n, g->saved[i], saving->results + f->output_count + i);
    p->stacked = n - p->carried;
    p->restores = g->saved_count;
    for (size_t k = captured; k < f->input_count; k++)
        if (g->used[k])
            add_input(p, &n, f->inputs[k], g->node->operands[k]);
    p->captured = n - p->carried - p->stacked;
    return g->t->status.code == BN_OK;
}

/* The results of BACK, in the order of plan_results. */
static void assign_gradients(const gradient *g, const tg_node *back, tg_tensor **gin)
{
    const size_t carried = (size_t)g->a->carried, captured = carried + (size_t)g->a->stacked;
    size_t n = 0;
    for (size_t k = 0; k < carried; k++)
        if (g->wrt[k])
            gin[k] = back->results + n++;
    for (size_t k = captured; k < g->node->operand_count; k++)
        if (g->grads[k])
            gin[k] = back->results + n++;
    for (size_t k = carried; k < captured; k++)
        if (g->grads[k])
            gin[k] = back->results + n++;
}

void tg_loop_gradient(tg_trace *t, const tg_node *node, tg_tensor *const *gout, const bool *need,
                      tg_tensor **gin)
{
    gradient g = {
        .t = t, .node = node, .a = node->attributes, .region = tg_node_region(node), .gout = gout};
    if (g.region->derived) {
        tg_trace_fail(t, BN_NOT_SUPPORTED, "backward: the gradient of a loop's gradient");
        return;
    }
    g.body = g.region->body;
    g.back = (tg_loop_plan){.body = g.body,
                            .length = g.a->length,
                            .remat = (tg_remat)g.a->remat,
                            .reverse = g.a->reverse == 0,
                            .offload = g.a->offload != 0,
                            .derived = true};
    gradient_begin(&g);
    if (!differentiate_body(&g, need) || !plan_results(&g))
        return;
    if (g.back.carried + g.back.outs == 0)
        return;
    find_saved(&g);
    const tg_node *saving = append_saving(&g);
    if (!saving || !plan_inputs(&g, saving))
        return;
    const tg_node *back = tg_region_append(t, node->op, &g.back);
    if (back)
        assign_gradients(&g, back, gin);
    tg_scope_changed(t);
}
