/*
 * region.c - bodies of loops: traces of their own, which live as long as the step and are used
 * again by the next one; variables bound to slices; the table of regions.
 *
 * A body's use of values of the outer trace is resolved in trace.c (capture_outer), since every
 * operand may be such a value.
 */
#include "runtime/graph/op_attributes.h"
#include "runtime/graph/trace_priv.h"

tg_trace *tg_body_open(tg_trace *t)
{
    if (t->body_count == t->body_made) {
        bn_grow(&t->bodies, t->body_made + 1, &t->body_capacity, sizeof *t->bodies);
        t->bodies[t->body_made++] = tg_trace_new();
    }
    tg_trace *body = t->bodies[t->body_count++];
    tg_trace_begin(body);
    body->outer = t;
    body->node_cost_ns = t->node_cost_ns;
    body->timeline = t->timeline;
    body->precision = t->precision;
    body->keeps_places = t->keeps_places;
    body->scope = t->scope;
    body->clock = t->clock;
    tg_trace_phase(body, t->phase);
    return body;
}

void tg_bind(tg_trace *body, tg_tensor *variable, tg_tensor *value)
{
    tg_tensor *now = body->status.code == BN_OK ? tg_trace_resolve(body, value) : NULL;
    if (!now)
        return;
    if (variable->kind != TG_KIND_VARIABLE || !body->outer ||
        (variable->trace == body && variable->epoch == body->epoch)) {
        tg_trace_fail(body, BN_INVALID,
                      "an iteration of a loop binds variables, each of them once");
        return;
    }
    bn_grow(&body->bound, body->bound_count + 1, &body->bound_capacity, sizeof *body->bound);
    tg_variable *v = (tg_variable *)variable;
    body->bound[body->bound_count++] = (tg_bound){.variable = v,
                                                  .type = variable->type,
                                                  .trace = variable->trace,
                                                  .epoch = variable->epoch,
                                                  .input = v->input,
                                                  .entry = v->entry,
                                                  .current = v->current,
                                                  .assigned = v->assigned};
    variable->type = now->type;
    variable->trace = body;
    variable->epoch = body->epoch;
    v->entry = v->current = now;
    v->assigned = false;
}

void tg_body_close(tg_trace *body)
{
    while (body->bound_count > 0) {
        const tg_bound *b = &body->bound[--body->bound_count];
        tg_variable *v = b->variable;
        v->head.type = b->type;
        v->head.trace = b->trace;
        v->head.epoch = b->epoch;
        v->input = b->input;
        v->entry = b->entry;
        v->current = b->current;
        v->assigned = b->assigned;
    }
    tg_scope_changed(body->outer);
}

bool tg_body_check(tg_trace *body)
{
    if (body->status.code != BN_OK && body->outer->status.code == BN_OK)
        body->outer->status = body->status;
    return body->outer->status.code == BN_OK;
}

/* The hash of GRAPH: of its whole trace so far, and of which values are inputs and outputs. */
static tg_hash region_hash(const tg_graph *g)
{
    const uint32_t head[2] = {(uint32_t)g->input_count, (uint32_t)g->output_count};
    tg_hash h = tg_hash_absorb(tg_trace_hash(g->trace), head, sizeof head);
    for (size_t i = 0; i < g->input_count; i++)
        h = tg_hash_absorb(h, &g->inputs[i]->id, sizeof g->inputs[i]->id);
    for (size_t i = 0; i < g->output_count; i++)
        h = tg_hash_absorb(h, &g->outputs[i]->id, sizeof g->outputs[i]->id);
    return h;
}

tg_node *tg_region_append(tg_trace *t, const tg_op *op, const tg_loop_plan *p)
{
    tg_graph graph = {.trace = p->body,
                      .inputs = p->in,
                      .outputs = p->out,
                      .input_count = p->carried + p->stacked + p->captured,
                      .output_count = p->carried + p->outs,
                      .end_node = p->body->node_count};
    graph.hash = region_hash(&graph);
    const size_t number = t->region_count++;
    bn_grow(&t->regions, number + 1, &t->region_capacity, sizeof *t->regions);
    t->regions[number] = bn_arena_alloc(t->arena, sizeof **t->regions);
    *t->regions[number] = (tg_region){.body = p->body, .graph = graph, .derived = p->derived};
    const tg_scan_attributes a = {.length = p->length,
                                  .reverse = p->reverse,
                                  .remat = p->remat,
                                  .offload = p->offload,
                                  .saves = (int64_t)p->saves,
                                  .restores = (int64_t)p->restores,
                                  .carried = (int64_t)p->carried,
                                  .stacked = (int64_t)p->stacked,
                                  .outs = (int64_t)p->outs,
                                  .region = (int64_t)number,
                                  .hash_low = (int64_t)graph.hash.low,
                                  .hash_high = (int64_t)graph.hash.high};
    tg_tensor *first = tg_emit_many(t, op, &a, p->operands, graph.input_count, graph.output_count);
    return first->kind == TG_KIND_VALUE ? first->node : NULL;
}

tg_region *tg_node_region(const tg_node *node)
{
    if (node->op->results >= 0)
        return NULL;
    const tg_scan_attributes *a = node->attributes;
    return node->results[0].trace->regions[a->region];
}
