/*
 * cost.c - weighs a program: its functions, each as often as it is called, with their
 * loops, branches and groups.
 *
 * A loop whose trip count is known from the text (cost_trips.c) counts its body that often and
 * its condition once more; any other counts once. Of the branches of an if or case each
 * counts as if it were as likely as the others.
 */
#include "runtime/sim/cost/weighing_priv.h"

#include <stdlib.h>
#include <string.h>

static size_t number_of(const sim_weighing *w, const sim_function *f)
{
    return (size_t)(f - w->program->functions);
}

/* ---- what is known before ------------------------------------------------------------- */

/* Notes which op gives each value, and how often it is used. */
static void note_block(sim_weighing *w, const sim_block *b)
{
    for (int i = 0; i < b->argument_count; i++)
        w->values[b->arguments[i]].root = b->arguments[i];
    for (int i = 0; i < b->op_count; i++) {
        const sim_op *op = &b->ops[i];
        for (int k = 0; k < op->operand_count; k++)
            w->values[op->operands[k]].uses++;
        for (int k = 0; k < op->result_count; k++)
            w->values[op->results[k]].op = op;
        for (int k = 0; k < op->region_count; k++)
            note_block(w, &op->regions[k]);
    }
    for (int i = 0; i < b->result_count; i++)
        w->values[b->results[i]].uses++;
}

/* Lists F behind all functions that it calls, and finds whether it is small. *COUNT
 * functions are listed. */
static void list_function(sim_weighing *w, const sim_function *f, int *count);

static void list_block(sim_weighing *w, const sim_block *b, int *count)
{
    for (int i = 0; i < b->op_count; i++) {
        if (b->ops[i].callee)
            list_function(w, b->ops[i].callee, count);
        for (int k = 0; k < b->ops[i].region_count; k++)
            list_block(w, &b->ops[i].regions[k], count);
    }
}

/* Whether calls of F are like one element-wise op, and what that costs. */
static void summarise(sim_weighing *w, const sim_function *f, sim_summary *s)
{
    sim_group cost = {0};
    s->small = f->body.result_count > 0;
    for (int i = 0; s->small && i < f->body.op_count; i++) {
        const sim_op *op = &f->body.ops[i];
        sim_cost_class class = sim_op_cost_class(op->opcode);
        const sim_summary *callee = op->callee ? &w->functions[number_of(w, op->callee)] : NULL;
        s->small = class == SIM_ELEMENTWISE || class == SIM_TRANSCENDENTAL || class == SIM_SHAPE ||
                   op->opcode == SIM_OP_CONSTANT || (callee && callee->small);
        if (s->small && !callee)
            sim_weigh_op(w, op, &cost, &s->transcendentals);
        for (int r = 0; s->small && callee && r < SIM_RATE_COUNT; r++)
            cost.vector_flops[r] += callee->vector_flops[r];
        s->transcendentals += s->small && callee ? callee->transcendentals : 0;
    }
    memcpy(s->vector_flops, cost.vector_flops, sizeof s->vector_flops);
}

static void list_function(sim_weighing *w, const sim_function *f, int *count)
{
    sim_summary *s = &w->functions[number_of(w, f)];
    if (s->listed)
        return;
    s->listed = true;
    list_block(w, &f->body, count);
    summarise(w, f, s);
    w->order[(*count)++] = (int)number_of(w, f);
}

/* ---- blocks ----------------------------------------------------------------------------- */

static void weigh_block(sim_weighing *w, const sim_block *b, double times);

static void weigh_control(sim_weighing *w, const sim_op *op, int block, double times)
{
    for (int i = 0; i < op->operand_count; i++)
        sim_fuse_store(w, op->operands[i], block, times);
    if (op->opcode == SIM_OP_WHILE) {
        double trips = sim_weigh_trips(w, op);
        w->unknown_loops += trips < 0;
        trips = trips < 0 ? 1 : trips;
        weigh_block(w, &op->regions[0], times * (trips + 1));
        weigh_block(w, &op->regions[1], times * trips);
    } else if (op->opcode == SIM_OP_CALL) {
        w->functions[number_of(w, op->callee)].times += times;
    } else {
        for (int k = 0; k < op->region_count; k++)
            weigh_block(w, &op->regions[k], times / op->region_count);
    }
    sim_fuse_wait(w, op, block);
}

static void weigh_block(sim_weighing *w, const sim_block *b, double times)
{
    int block = w->blocks++;
    for (int i = 0; i < b->op_count; i++) {
        const sim_op *op = &b->ops[i];
        bool control = sim_op_cost_class(op->opcode) == SIM_CONTROL;
        bool small = op->callee && w->functions[number_of(w, op->callee)].small;
        w->op_count += sim_op_cost_class(op->opcode) != SIM_FREE && (!control || small);
        if (control && !small)
            weigh_control(w, op, block, times);
        else
            sim_fuse_op(w, op, block, times);
    }
    for (int i = 0; i < b->result_count; i++)
        sim_fuse_store(w, b->results[i], block, times);
}

/* ---- all -------------------------------------------------------------------------------- */

static void open_weighing(sim_weighing *w, const sim_program *program)
{
    size_t values = (size_t)program->value_count + 1;
    size_t functions = (size_t)program->function_count + 1;
    *w = (sim_weighing){.program = program};
    w->values = bn_zalloc(values, sizeof *w->values);
    w->functions = bn_zalloc(functions, sizeof *w->functions);
    w->order = bn_zalloc(functions, sizeof *w->order);
    w->last = bn_zalloc(values, sizeof *w->last);
    w->depth = bn_zalloc(values, sizeof *w->depth);
    for (size_t v = 0; v < values; v++)
        w->values[v].root = w->values[v].group = -1;
    for (size_t f = 0; f < functions; f++)
        w->functions[f].peak = -1;
}

static void weigh(sim_weighing *w)
{
    int count = 0;
    for (int f = 0; f < w->program->function_count; f++)
        note_block(w, &w->program->functions[f].body);
    list_function(w, w->program->main, &count);
    w->functions[number_of(w, w->program->main)].times = 1;
    while (count-- > 0) {
        int f = w->order[count];
        if (w->functions[f].times > 0)
            weigh_block(w, &w->program->functions[f].body, w->functions[f].times);
    }
    sim_fuse_finish(w);
}

/* The groups of W, with sums over them. */
static void collect(const sim_weighing *w, sim_cost *cost)
{
    cost->groups = bn_alloc((w->group_count + 1) * sizeof *cost->groups);
    for (size_t i = 0; i < w->group_count; i++) {
        const sim_group *g = &w->groups[i].cost;
        if (w->groups[i].waits)
            continue;
        cost->groups[cost->group_count++] = *g;
        cost->bytes += g->bytes * g->times;
        for (int r = 0; r < SIM_RATE_COUNT; r++)
            cost->flops += (g->matrix_flops[r] + g->vector_flops[r]) * g->times;
    }
    cost->transcendentals = w->transcendentals;
    cost->op_count = w->op_count;
    cost->unknown_loops = w->unknown_loops;
}

void sim_program_cost(const sim_program *program, sim_cost *cost)
{
    sim_weighing w;
    *cost = (sim_cost){0};
    open_weighing(&w, program);
    weigh(&w);
    cost->peak_temp_bytes = sim_weigh_peak(&w, program->main);
    collect(&w, cost);
    free(w.values);
    free(w.functions);
    free(w.order);
    free(w.last);
    free(w.depth);
    free(w.groups);
    free(w.reads);
}

void sim_cost_free(sim_cost *cost)
{
    free(cost->groups);
    *cost = (sim_cost){0};
}
