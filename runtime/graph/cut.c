/*
 * cut.c - a trace becomes graphs.
 *
 * The common case, a whole step as one graph, needs no walk at all: inputs are
 * the entry values in order of first use, outputs the assigned values in order
 * of assignment. This is what a lazy step does every time. Cutting by phases or
 * at a read walks the nodes backwards, last graph first, so that each graph
 * learns which of its values later graphs add_output.
 */
#include "runtime/graph/trace_priv.h"

#include <string.h>

#define NOWHERE UINT32_MAX

tg_graph *tg_graph_new(tg_trace *t, size_t inputs, size_t outputs)
{
    tg_graph *g = bn_arena_zalloc(t->arena, sizeof *g);
    g->trace = t;
    g->end_node = t->node_count;
    g->inputs = bn_arena_alloc(t->arena, (inputs + 1) * sizeof *g->inputs);
    g->outputs = bn_arena_alloc(t->arena, (outputs + 1) * sizeof *g->outputs);
    g->target = bn_arena_zalloc(t->arena, (outputs + 1) * sizeof *g->target);
    g->donor = bn_arena_alloc(t->arena, (outputs + 1) * sizeof *g->donor);
    return g;
}

/* H with COUNT numbers joined, which VALUES' ids are, each with one of DONORS, unless that is NULL. */
static tg_hash absorb_values(tg_hash h, tg_tensor *const *values, const int32_t *donors,
                             size_t count)
{
    uint32_t chunk[64];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        chunk[n++] = values[i]->id;
        chunk[n++] = donors ? (uint32_t)donors[i] : 0;
        if (n == 64 || i + 1 == count) {
            h = tg_hash_absorb(h, chunk, n * sizeof *chunk);
            n = 0;
        }
    }
    return h;
}

void tg_graph_set_hash(tg_graph *g, bool with_inputs)
{
    uint32_t head[4] = {g->group, (uint32_t)g->input_count, (uint32_t)g->output_count,
                        (uint32_t)g->first_node};
    tg_hash h = tg_hash_absorb(tg_trace_hash(g->trace), head, sizeof head);
    h = absorb_values(h, g->outputs, g->donor, g->output_count);
    g->hash = with_inputs ? absorb_values(h, g->inputs, NULL, g->input_count) : h;
}

static bool is_unchanged(const tg_variable *v)
{
    return v->entry && v->current == v->entry;
}

static tg_graph *cut_whole(tg_trace *t)
{
    tg_graph *g = tg_graph_new(t, t->input_count, t->assigned_count);
    g->first_phase = 0;
    g->last_phase = TG_PHASE_COUNT - 1;
    g->input_count = t->input_count;
    memcpy(g->inputs, t->inputs, t->input_count * sizeof *g->inputs);
    for (size_t i = 0; i < t->assigned_count; i++) {
        tg_variable *v = t->assigned[i];
        if (is_unchanged(v))
            continue;
        g->target[g->output_count] = &v->head;
        g->donor[g->output_count] = v->entry ? (int32_t)v->input : -1;
        g->outputs[g->output_count++] = v->current;
    }
    tg_graph_set_hash(g, false);
    return g;
}

/* ---- several graphs ------------------------------------------------------- */

/* Work space of one cut. */
typedef struct cut {
    tg_trace *t;
    const unsigned *group_of_phase;
    uint32_t *output_group; /* [value] group of this cut that outputs it, or NOWHERE */
    uint32_t *last_user; /* [value] highest group that takes it as input, or NOWHERE */
    uint8_t *needed;     /* [node] by the graph in hand */
    uint8_t *is_input;   /* [value] of the graph in hand */
    tg_tensor **outputs; /* of all groups, in the order in which they were found */
    tg_tensor **target;  /* [output] the variable that it is assigned to, or NULL */
    uint32_t *made_by;   /* [output] the group that has it as a result */
    size_t output_count;
} cut;

static void cut_begin(cut *c)
{
    tg_trace *t = c->t;
    size_t values = t->value_count + 1u;
    c->output_group = bn_arena_alloc(t->arena, values * sizeof *c->output_group);
    c->last_user = bn_arena_alloc(t->arena, values * sizeof *c->last_user);
    c->is_input = bn_arena_alloc(t->arena, values);
    c->needed = bn_arena_alloc(t->arena, t->node_count + 1);
    c->outputs = bn_arena_alloc(t->arena, (values + t->assigned_count) * sizeof(tg_tensor *));
    c->target = bn_arena_zalloc(t->arena, (values + t->assigned_count) * sizeof(tg_tensor *));
    c->made_by = bn_arena_alloc(t->arena, (values + t->assigned_count) * sizeof *c->made_by);
    memset(c->output_group, 0xff, values * sizeof *c->output_group);
    memset(c->last_user, 0xff, values * sizeof *c->last_user);
}

static uint32_t group_of(const cut *c, const tg_node *node)
{
    return c->group_of_phase[node->phase];
}

static bool in_segment(const cut *c, const tg_node *node)
{
    return node->index >= c->t->segment_first;
}

/* Makes VALUE an output of GROUP, unless it is an input of the step or output already. */
static void add_output(cut *c, tg_tensor *value, uint32_t group)
{
    if (value->materialized || value->node->variable || c->output_group[value->id] != NOWHERE)
        return;
    c->output_group[value->id] = group;
    c->made_by[c->output_count] = group;
    c->outputs[c->output_count++] = value;
}

/* The group that outputs VALUE. A value of an earlier segment that was not output there is computed
 * again, by the last group. */
static uint32_t group_computing(const cut *c, const tg_tensor *value, uint32_t last)
{
    return in_segment(c, value->node) ? group_of(c, value->node) : last;
}

/* New contents of variables. Two variables with one value take an output each, since each owns its
 * memory; another variable's contents pass through the last group, which copies them. */
static void add_assigned_outputs(cut *c, uint32_t last)
{
    for (size_t i = 0; i < c->t->assigned_count; i++) {
        tg_variable *v = c->t->assigned[i];
        tg_tensor *value = v->current;
        const bool entry = value->node->variable != NULL;
        if (is_unchanged(v) || (value->materialized && !entry))
            continue;
        const uint32_t group = entry ? last : group_computing(c, value, last);
        if (!entry)
            c->output_group[value->id] = group;
        c->target[c->output_count] = &v->head;
        c->made_by[c->output_count] = group;
        c->outputs[c->output_count++] = value;
    }
}

/* VALUE is an input of GROUP. */
static void take_from_outside(cut *c, const tg_tensor *value, uint32_t group)
{
    c->is_input[value->id] = 1;
    if (c->last_user[value->id] == NOWHERE)
        c->last_user[value->id] = group; /* groups are visited from the last */
}

/* VALUE is an operand of a node of GROUP: makes it an input of the group or marks its node as
 * needed. BN_INVALID where a later phase computes it. */
static bn_code need_operand(cut *c, tg_tensor *value, uint32_t group, bn_status *st)
{
    tg_node *node = value->node;
    bool outside = false;
    if (value->materialized || node->variable) {
        outside = true;
    } else if (node->operand_count > 0 && in_segment(c, node) && group_of(c, node) != group) {
        /* Constants are made where they are used; all else crosses once. */
        if (group_of(c, node) > group)
            return bn_fail(st, BN_INVALID, "%s of a later phase is used in an earlier one",
                           node->op->name);
        add_output(c, value, group_of(c, node));
        outside = true;
    } else if (c->output_group[value->id] != NOWHERE && c->output_group[value->id] < group) {
        outside = true;
    }
    if (!outside) {
        c->needed[node->index] = 1;
        return BN_OK;
    }
    take_from_outside(c, value, group);
    return BN_OK;
}

/* Marks the nodes and inputs of GROUP. Later groups have been swept. */
static bn_code sweep_group(cut *c, uint32_t group, bn_status *st)
{
    tg_trace *t = c->t;
    memset(c->needed, 0, t->node_count);
    memset(c->is_input, 0, t->value_count);
    for (size_t i = 0; i < c->output_count; i++) {
        tg_tensor *value = c->outputs[i];
        if (c->made_by[i] == group && value->node->variable)
            take_from_outside(c, value, group);
        else if (c->made_by[i] == group)
            c->needed[value->node->index] = 1;
    }
    for (size_t n = t->node_count; n-- > 0;) {
        if (!c->needed[n])
            continue;
        for (size_t k = 0; k < t->nodes[n]->operand_count; k++)
            if (need_operand(c, t->nodes[n]->operands[k], group, st) != BN_OK)
                return BN_INVALID;
    }
    return BN_OK;
}

static tg_graph *build_group(const cut *c, uint32_t group)
{
    tg_trace *t = c->t;
    tg_graph *g = tg_graph_new(t, t->value_count, c->output_count);
    g->group = group;
    g->first_phase = TG_PHASE_COUNT;
    for (unsigned p = 0; p < TG_PHASE_COUNT; p++) {
        if (c->group_of_phase[p] != group)
            continue;
        if (g->first_phase == TG_PHASE_COUNT)
            g->first_phase = (tg_phase)p;
        g->last_phase = (tg_phase)p;
    }
    for (size_t n = 0; n < t->node_count; n++)
        for (size_t r = 0; r < t->nodes[n]->result_count; r++)
            if (c->is_input[t->nodes[n]->results[r].id])
                g->inputs[g->input_count++] = &t->nodes[n]->results[r];
    for (size_t i = 0; i < c->output_count; i++)
        if (c->made_by[i] == group) {
            g->donor[g->output_count] = -1;
            g->target[g->output_count] = c->target[i];
            g->outputs[g->output_count++] = c->outputs[i];
        }
    return g;
}

/* Donates a variable's old contents to its new ones where the graph that computes these is the last
 * one to take the old contents. */
static void donate(const cut *c, tg_graph *g)
{
    for (size_t v = 0; v < c->t->assigned_count; v++) {
        const tg_variable *variable = c->t->assigned[v];
        if (!variable->entry || is_unchanged(variable) ||
            c->last_user[variable->entry->id] != g->group)
            continue;
        size_t in = 0, out = 0;
        while (in < g->input_count && g->inputs[in] != variable->entry)
            in++;
        while (out < g->output_count && g->target[out] != &variable->head)
            out++;
        if (in < g->input_count && out < g->output_count && g->donor[out] < 0)
            g->donor[out] = (int32_t)in;
    }
}

static uint32_t last_group(const unsigned group_of_phase[TG_PHASE_COUNT])
{
    uint32_t last = 0;
    for (unsigned p = 0; p < TG_PHASE_COUNT; p++)
        if (group_of_phase[p] > last)
            last = group_of_phase[p];
    return last;
}

static bn_code cut_groups(cut *c, tg_tensor *stop_at, tg_graph **graphs, size_t *count,
                          bn_status *st)
{
    const uint32_t last = last_group(c->group_of_phase);
    cut_begin(c);
    bn_code code = BN_OK;
    add_assigned_outputs(c, last);
    if (stop_at)
        add_output(c, stop_at, group_computing(c, stop_at, last));

    size_t made = 0;
    for (uint32_t group = last + 1; group-- > 0;) {
        code = sweep_group(c, group, st);
        if (code != BN_OK)
            return code;
        tg_graph *g = build_group(c, group);
        if (g->output_count == 0)
            continue;
        if (!stop_at && c->t->breaks == 0)
            donate(c, g);
        /* What ran before, and so what is taken from there, is not in the trace. */
        tg_graph_set_hash(g, c->t->breaks > 0);
        graphs[made++] = g;
    }
    for (size_t i = 0; i < made / 2; i++) {
        tg_graph *swap = graphs[i];
        graphs[i] = graphs[made - 1 - i];
        graphs[made - 1 - i] = swap;
    }
    for (size_t i = 0; i < c->output_count; i++)
        c->outputs[i]->materialized = true;
    *count = made;
    return BN_OK;
}

static bool one_group(const unsigned group_of_phase[TG_PHASE_COUNT])
{
    for (unsigned p = 1; p < TG_PHASE_COUNT; p++)
        if (group_of_phase[p] != group_of_phase[0])
            return false;
    return true;
}

bn_code tg_trace_cut(tg_trace *t, const unsigned group_of_phase[TG_PHASE_COUNT], tg_tensor *stop_at,
                     tg_graph *const **graphs, size_t *count, bn_status *st)
{
    if (t->status.code != BN_OK)
        return tg_trace_status(t, st);
    tg_graph **list =
        bn_arena_alloc(t->arena, (last_group(group_of_phase) + 1u) * sizeof(tg_graph *));

    if (!stop_at && t->breaks == 0 && one_group(group_of_phase)) {
        list[0] = cut_whole(t);
        *count = list[0]->output_count > 0;
    } else {
        cut c = {.t = t, .group_of_phase = group_of_phase};
        if (cut_groups(&c, stop_at, list, count, st) != BN_OK)
            return bn_context(st, "cutting the trace into graphs");
    }
    t->segment_first = t->node_count;
    t->breaks += stop_at != NULL;
    *graphs = list;
    return BN_OK;
}

void tg_trace_visit(const tg_trace *t, void (*visit)(void *context, const tg_node *node),
                    void *context)
{
    for (size_t i = 0; i < t->node_count; i++)
        visit(context, t->nodes[i]);
    for (size_t i = 0; i < t->body_count; i++)
        tg_trace_visit(t->bodies[i], visit, context);
}

const tg_graph *tg_node_graph(tg_trace *t, tg_node *node)
{
    tg_graph *g = tg_graph_new(t, node->operand_count, node->result_count);
    for (size_t i = 0; i < node->operand_count; i++) {
        size_t k = 0;
        while (k < g->input_count && g->inputs[k] != node->operands[i])
            k++;
        if (k == g->input_count)
            g->inputs[g->input_count++] = node->operands[i];
    }
    for (size_t i = 0; i < node->result_count; i++) {
        g->outputs[i] = node->results + i;
        g->donor[i] = -1;
    }
    g->output_count = node->result_count;
    g->first_node = node->index;
    g->end_node = node->index + 1u;
    g->first_phase = g->last_phase = (tg_phase)node->phase;
    g->hash = tg_node_key(node);
    return g;
}
