/*
 * evaluate_control.c - ops that run other blocks: while, if, case, call.
 */
#include "runtime/sim/evaluate/evaluate_rules.h"

#include <stdlib.h>
#include <string.h>

static size_t value_bytes(const sim_run *run, int value)
{
    return (size_t)sim_type_bytes(&run->program->types[value]);
}

/* Runs BLOCK, whose arguments are set, and brings its results to those of OP. */
static sim_code run_block(sim_run *run, const sim_op *op, const sim_block *block)
{
    void *memory;
    if (sim_block_begin(run, block, &memory) != SIM_OK)
        return run->st->code;
    sim_code code = sim_block_run(run, block);
    for (int i = 0; i < op->result_count && code == SIM_OK; i++)
        memcpy(sim_result(run, op, i), run->values[block->results[i]],
               value_bytes(run, op->results[i]));
    sim_block_end(run, memory);
    return code;
}

/* ---- branches --------------------------------------------------------------------------- */

sim_code sim_rule_if(sim_run *run, const sim_op *op)
{
    const uint8_t *which = sim_operand(run, op, 0);
    return run_block(run, op, &op->regions[*which ? 0 : 1]);
}

/* A number that has no branch takes the last one. */
sim_code sim_rule_case(sim_run *run, const sim_op *op)
{
    const int32_t which = *(const int32_t *)sim_operand(run, op, 0);
    const int last = op->region_count - 1;
    return run_block(run, op, &op->regions[which < 0 || which > last ? last : which]);
}

/* ---- calls ------------------------------------------------------------------------------ */

sim_code sim_rule_call(sim_run *run, const sim_op *op)
{
    const sim_function *f = op->callee;
    bool *active = &run->active[f - run->program->functions];
    if (*active)
        return sim_refuse(op, run->st, SIM_INVALID_ARGUMENT, "@%s calls itself", f->name);
    for (int i = 0; i < op->operand_count; i++)
        run->values[f->body.arguments[i]] = run->values[op->operands[i]];
    *active = true;
    sim_code code = run_block(run, op, &f->body);
    *active = false;
    return code;
}

/* ---- loops ------------------------------------------------------------------------------ */

/* The values that a loop carries: where each is now and will be next. Two rooms for each value
 * are used in turn, because an iteration's results are taken over while its arguments are still
 * read. */
typedef struct loop {
    void **now, **next, **room[2];
    void *memory;
} loop;

static sim_code loop_begin(sim_run *run, const sim_op *op, loop *l)
{
    const size_t n = (size_t)op->operand_count;
    const size_t align = 64;
    size_t size = 4 * n * sizeof(void *);
    for (size_t i = 0; i < n; i++)
        size += 2 * (value_bytes(run, op->operands[i]) + align);
    if (sim_run_memory(run, (int64_t)(size + align), &l->memory) != SIM_OK)
        return run->st->code;
    l->now = l->memory;
    l->next = l->now + n;
    l->room[0] = l->next + n;
    l->room[1] = l->room[0] + n;
    char *at = (char *)(l->room[1] + n);
    at += (align - (uintptr_t)at % align) % align;
    for (size_t i = 0; i < n; i++) {
        const size_t bytes = (value_bytes(run, op->operands[i]) + align - 1) / align * align;
        l->now[i] = run->values[op->operands[i]];
        l->room[0][i] = at;
        l->room[1][i] = at + bytes;
        at += 2 * bytes;
    }
    return SIM_OK;
}

static void loop_enter(sim_run *run, const loop *l, const sim_block *block)
{
    for (int i = 0; i < block->argument_count; i++)
        run->values[block->arguments[i]] = l->now[i];
}

/* Takes over the results of BODY. A value that it passes through stays where it is. */
static void loop_turn(sim_run *run, loop *l, const sim_block *body)
{
    for (int i = 0; i < body->result_count; i++) {
        void *given = run->values[body->results[i]];
        l->next[i] = l->now[i];
        if (given == l->now[i])
            continue;
        l->next[i] = l->room[l->room[0][i] == l->now[i]][i];
        memcpy(l->next[i], given, value_bytes(run, body->results[i]));
    }
    void **last = l->now;
    l->now = l->next;
    l->next = last;
}

static sim_code run_loop(sim_run *run, const sim_op *op, loop *l)
{
    const sim_block *condition = &op->regions[0], *body = &op->regions[1];
    sim_code code;
    for (;;) {
        loop_enter(run, l, condition);
        code = sim_block_run(run, condition);
        if (code != SIM_OK || !*(const uint8_t *)run->values[condition->results[0]])
            return code;
        loop_enter(run, l, body);
        code = sim_run_work(run, 1); /* so that an empty loop ends */
        if (code == SIM_OK)
            code = sim_block_run(run, body);
        if (code != SIM_OK)
            return code;
        loop_turn(run, l, body);
    }
}

sim_code sim_rule_while(sim_run *run, const sim_op *op)
{
    void *condition, *body;
    loop l;
    sim_code code = loop_begin(run, op, &l);
    if (code != SIM_OK)
        return code;
    code = sim_block_begin(run, &op->regions[0], &condition);
    if (code == SIM_OK) {
        code = sim_block_begin(run, &op->regions[1], &body);
        if (code == SIM_OK) {
            code = run_loop(run, op, &l);
            sim_block_end(run, body);
        }
        sim_block_end(run, condition);
    }
    for (int i = 0; i < op->result_count && code == SIM_OK; i++)
        memcpy(sim_result(run, op, i), l.now[i], value_bytes(run, op->results[i]));
    free(l.memory);
    return code;
}
