/*
 * cost_fuse.c - ops become groups that each read memory once, compute and write once.
 *
 * The rule, one pass over the ops of a block in their order:
 *
 *  - Dots, convolutions, windows, sorts, scatters, transforms, random bits and ops that
 *    move data begin a group. So does a reduction, unless its operand is computed by an
 *    open group for it alone, element by element (no dot, convolution, window or other
 *    reduction): then it joins that group.
 *  - An element-wise op, and a call of a function that has nothing else, joins the
 *    latest group that computes one of its operands, if that group is open and computes
 *    as many elements; else it begins a group. Groups only depend on earlier groups, so
 *    none depends on itself.
 *  - Shape ops (broadcast, reshape, convert, iota) are computed where they are used, as
 *    often as needed: their users read what they were made of. A convert joins a group as
 *    an element-wise op does if it can. One whose value must be in memory is a group.
 *  - Sorts, scatters, transforms and custom calls are closed to element-wise ops; after
 *    a reduction only ops on its result can join. Nothing fuses across loops, branches and
 *    calls, or out of a block.
 *
 * A group's bytes: each value from outside once, and each of its values that something
 * outside uses once. A slice or gather reads what it takes, a dynamic_update_slice reads
 * and writes the part it changes; constants that are one number are not read.
 */
#include "runtime/sim/cost/weighing_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists --------------------------------------------------------------------------- */

static sim_fusion *add_group(sim_weighing *w, const sim_op *op, int block, double times)
{
    bn_grow(&w->groups, w->group_count + 1, &w->group_capacity, sizeof *w->groups);
    sim_fusion *g = &w->groups[w->group_count++];
    *g = (sim_fusion){.cost = {.anchor = op->opcode, .place = op->place, .times = times},
                      .block = block};
    return g;
}

static void add_read(sim_weighing *w, int group, int value, double bytes)
{
    bn_grow(&w->reads, w->read_count + 1, &w->read_capacity, sizeof *w->reads);
    w->reads[w->read_count++] = (sim_access){group, value, bytes};
}

static double bytes_of(const sim_weighing *w, int value)
{
    const sim_op *op = w->values[value].op;
    if (op && op->opcode == SIM_OP_CONSTANT)
        return (double)op->constant_bytes;
    return (double)sim_type_bytes(sim_weigh_type(w, value));
}

/* ---- reads ------------------------------------------------------------------------------ */

/* Bytes that OP reads of its operand INDEX, whose value in memory is ROOT. */
static double read_bytes(const sim_weighing *w, const sim_op *op, int index, int root)
{
    double all = bytes_of(w, root), taken;
    switch (op->opcode) {
    case SIM_OP_SLICE:
    case SIM_OP_DYNAMIC_SLICE:
    case SIM_OP_GATHER:
        taken = bytes_of(w, op->results[0]);
        return index == 0 && taken < all ? taken : all;
    case SIM_OP_DYNAMIC_UPDATE_SLICE:
        return index == 0 ? 0 : all;
    default:
        return all;
    }
}

static void read_operand(sim_weighing *w, const sim_op *op, int index, int group)
{
    int root = w->values[op->operands[index]].root;
    if (root < 0 || w->values[root].group == group)
        return;
    w->values[root].stored = true;
    add_read(w, group, root, read_bytes(w, op, index, root));
}

/* The operands of OP are read by GROUP, which computes its results. */
static void place(sim_weighing *w, const sim_op *op, int group)
{
    for (int i = 0; i < op->operand_count; i++)
        read_operand(w, op, i, group);
    for (int i = 0; i < op->result_count; i++) {
        w->values[op->results[i]].root = op->results[i];
        w->values[op->results[i]].group = group;
    }
}

/* ---- joining ---------------------------------------------------------------------------- */

/* The latest group that computes an operand; -1: none. */
static int latest_group(const sim_weighing *w, const sim_op *op)
{
    int latest = -1;
    for (int i = 0; i < op->operand_count; i++) {
        int root = w->values[op->operands[i]].root;
        int group = root < 0 ? -1 : w->values[root].group;
        latest = group > latest ? group : latest;
    }
    return latest;
}

static double elements_of(const sim_weighing *w, const sim_op *op)
{
    if (op->result_count == 0)
        return 0;
    return (double)sim_type_elements(sim_weigh_type(w, op->results[0]));
}

static bool can_join(const sim_weighing *w, int group, int block, double elements)
{
    const sim_fusion *g = group < 0 ? NULL : &w->groups[group];
    return g && g->open && g->block == block && g->elements == elements;
}

/* Whether group GROUP computes VALUE, and nothing but the op that takes it uses it. */
static bool alone(const sim_weighing *w, int value, int group)
{
    while (value >= 0 && w->values[value].uses == 1) {
        const sim_value *v = &w->values[value];
        if (v->root == value)
            return v->group == group;
        value = v->op ? v->op->operands[0] : -1;
    }
    return false;
}

static int begin(sim_weighing *w, const sim_op *op, int block, double times, bool open)
{
    sim_fusion *g = add_group(w, op, block, times);
    g->elements = elements_of(w, op);
    g->open = open;
    return (int)(w->group_count - 1);
}

static void fuse_elementwise(sim_weighing *w, const sim_op *op, int block, double times)
{
    int group = latest_group(w, op);
    if (!can_join(w, group, block, elements_of(w, op)))
        group = begin(w, op, block, times, true);
    if (group < 0)
        return;
    place(w, op, group);
    sim_group *cost = &w->groups[group].cost;
    if (op->opcode != SIM_OP_CALL) {
        double transcendentals = 0;
        sim_weigh_op(w, op, cost, &transcendentals);
        w->transcendentals += transcendentals * times;
        return;
    }
    const sim_summary *f = &w->functions[op->callee - w->program->functions];
    for (int r = 0; r < SIM_RATE_COUNT; r++)
        cost->vector_flops[r] += f->vector_flops[r];
    w->transcendentals += f->transcendentals * times;
}

/* A value of another shape or type is made of ROOT wherever it is used. */
static void fuse_shape(sim_weighing *w, const sim_op *op, int block, double times)
{
    sim_value *v = &w->values[op->results[0]];
    if (op->operand_count == 0) {
        v->root = -1; /* iota: out of nothing */
        return;
    }
    int group = latest_group(w, op);
    if (op->opcode == SIM_OP_CONVERT && can_join(w, group, block, elements_of(w, op)))
        fuse_elementwise(w, op, block, times);
    else
        v->root = w->values[op->operands[0]].root;
}

/* Whether a group around such an op computes its elements one by one, in any order. */
static bool is_loop(sim_opcode anchor)
{
    sim_cost_class class = sim_op_cost_class(anchor);
    return class == SIM_ELEMENTWISE || class == SIM_TRANSCENDENTAL || class == SIM_SHAPE ||
           class == SIM_DATA || class == SIM_CONTROL;
}

static void fuse_reduction(sim_weighing *w, const sim_op *op, int block, double times)
{
    int group = latest_group(w, op);
    double elements = (double)sim_type_elements(sim_weigh_type(w, op->operands[0]));
    bool joins = can_join(w, group, block, elements) && is_loop(w->groups[group].cost.anchor);
    for (int i = 0; joins && i < op->operand_count / 2; i++)
        joins = alone(w, op->operands[i], group);
    if (!joins)
        group = begin(w, op, block, times, true);
    if (group < 0)
        return;
    place(w, op, group);
    sim_fusion *g = &w->groups[group];
    double transcendentals = 0;
    g->elements = elements_of(w, op);
    g->cost.anchor = op->opcode;
    g->cost.place = op->place;
    sim_weigh_op(w, op, &g->cost, &transcendentals);
}

static void fuse_anchor(sim_weighing *w, const sim_op *op, int block, double times)
{
    sim_cost_class class = sim_op_cost_class(op->opcode);
    bool closed = class == SIM_SORT || class == SIM_SCATTER || class == SIM_FFT ||
                  op->opcode == SIM_OP_CUSTOM_CALL || op->opcode == SIM_OP_DYNAMIC_UPDATE_SLICE;
    int group = begin(w, op, block, times, !closed);
    double transcendentals = 0;
    if (group < 0)
        return;
    place(w, op, group);
    sim_weigh_op(w, op, &w->groups[group].cost, &transcendentals);
}

/* ---- free ops --------------------------------------------------------------------------- */

static void pass_free(sim_weighing *w, const sim_op *op)
{
    if (op->opcode == SIM_OP_OPTIMIZATION_BARRIER) {
        for (int i = 0; i < op->result_count; i++)
            w->values[op->results[i]].root = w->values[op->operands[i]].root;
        return;
    }
    int value = op->results[0];
    bool number = op->constant_bytes == bn_dtype_bytes(sim_weigh_type(w, value)->dtype);
    w->values[value].root = number ? -1 : value;
}

void sim_fuse_wait(sim_weighing *w, const sim_op *op, int block)
{
    sim_fusion *g = add_group(w, op, block, 0);
    g->waits = true;
    for (int i = 0; i < op->result_count; i++) {
        w->values[op->results[i]].root = op->results[i];
        w->values[op->results[i]].group = (int)(w->group_count - 1);
        w->values[op->results[i]].stored = true;
    }
}

void sim_fuse_store(sim_weighing *w, int value, int block, double times)
{
    sim_value *v = &w->values[value];
    int at = value;
    /* The same bytes under another shape are in memory with them. */
    while (w->values[at].root != at && w->values[at].op &&
           (w->values[at].op->opcode == SIM_OP_RESHAPE ||
            w->values[at].op->opcode == SIM_OP_BITCAST_CONVERT ||
            w->values[at].op->opcode == SIM_OP_OPTIMIZATION_BARRIER)) {
        const sim_op *op = w->values[at].op;
        at = op->operands[at - op->results[0]];
    }
    if (w->values[at].root == at) {
        w->values[at].stored = true;
        return;
    }
    if (!w->values[at].op || w->values[at].op->opcode == SIM_OP_CONSTANT)
        return;
    int root = v->root, group = begin(w, w->values[at].op, block, times, true);
    if (group < 0)
        return;
    if (root >= 0) {
        w->values[root].stored = true;
        add_read(w, group, root, bytes_of(w, root));
    }
    w->values[at].root = at;
    w->values[at].group = group;
    w->values[at].stored = true;
    v->root = at;
}

void sim_fuse_op(sim_weighing *w, const sim_op *op, int block, double times)
{
    switch (sim_op_cost_class(op->opcode)) {
    case SIM_FREE:
        pass_free(w, op);
        return;
    case SIM_CONTROL: /* a call of a small function */
    case SIM_ELEMENTWISE:
    case SIM_TRANSCENDENTAL:
        fuse_elementwise(w, op, block, times);
        return;
    case SIM_SHAPE:
        fuse_shape(w, op, block, times);
        return;
    case SIM_REDUCTION:
        fuse_reduction(w, op, block, times);
        return;
    default:
        fuse_anchor(w, op, block, times);
    }
}

/* ---- bytes ------------------------------------------------------------------------------ */

static int by_group(const void *a, const void *b)
{
    const sim_access *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

void sim_fuse_finish(sim_weighing *w)
{
    if (w->read_count)
        qsort(w->reads, w->read_count, sizeof *w->reads, by_group);
    for (size_t i = 0; i < w->read_count; i++) {
        const sim_access *read = &w->reads[i];
        if (i == 0 || read->group != read[-1].group || read->value != read[-1].value)
            w->groups[read->group].cost.bytes += read->bytes;
    }
    for (int v = 0; v < w->program->value_count; v++) {
        const sim_value *value = &w->values[v];
        if (!value->stored || value->group < 0 || value->root != v)
            continue;
        bool part = value->op && value->op->opcode == SIM_OP_DYNAMIC_UPDATE_SLICE;
        w->groups[value->group].cost.bytes += bytes_of(w, part ? value->op->operands[1] : v);
    }
}
