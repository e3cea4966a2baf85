/*
 * evaluate.c - runs a program on the host: what is asked before a run, and the run of @main.
 */
#include "runtime/sim/evaluate/evaluate.h"

#include "runtime/base/base.h"
#include "runtime/sim/evaluate/evaluate_rules.h"

#include <stdlib.h>
#include <string.h>

/* ---- before a run ------------------------------------------------------------------------ */

static sim_code check_block(const sim_program *p, const sim_block *block, int depth, sim_status *st)
{
    if (depth > SIM_MAX_BLOCKS)
        return sim_fail(st, SIM_UNIMPLEMENTED, "regions are more than %d deep", SIM_MAX_BLOCKS);
    for (int i = 0; i < block->op_count; i++) {
        const sim_op *op = &block->ops[i];
        sim_code code = sim_can_any(p, op, st);
        for (int r = 0; r < op->region_count && code == SIM_OK; r++)
            code = check_block(p, &op->regions[r], depth + 1, st);
        if (code != SIM_OK)
            return code;
    }
    return SIM_OK;
}

sim_code sim_program_can_evaluate(const sim_program *program, sim_status *st)
{
    for (int i = 0; i < program->function_count; i++)
        if (check_block(program, &program->functions[i].body, 0, st) != SIM_OK)
            return st->code;
    return SIM_OK;
}

/* ---- a run ------------------------------------------------------------------------------ */

static sim_code run_main(sim_run *run, const void *const *arguments, void *const *results)
{
    const sim_program *p = run->program;
    const sim_block *body = &p->main->body;
    void *memory;
    for (int i = 0; i < body->argument_count; i++)
        run->values[body->arguments[i]] = (void *)(uintptr_t)arguments[i];
    sim_code code = sim_block_begin(run, body, &memory);
    if (code != SIM_OK)
        return code;
    run->active[p->main - p->functions] = true;
    code = sim_block_run(run, body);
    for (int i = 0; i < body->result_count && code == SIM_OK; i++)
        memcpy(results[i], run->values[body->results[i]],
               (size_t)sim_type_bytes(&p->types[body->results[i]]));
    sim_block_end(run, memory);
    return code;
}

sim_code sim_program_evaluate(const sim_program *program, const void *const *arguments,
                              void *const *results, double limit, sim_status *st)
{
    sim_run run = {.program = program, .rule = sim_rule_any, .limit = limit, .st = st};
    sim_code code = sim_program_can_evaluate(program, st);
    if (code != SIM_OK)
        return code;
    run.values = bn_zalloc((size_t)program->value_count, sizeof *run.values);
    run.active = bn_zalloc((size_t)program->function_count, sizeof *run.active);
    code = run_main(&run, arguments, results);
    free(run.values);
    free(run.active);
    return code;
}
