/*
 * evaluate_run.c - what a run may cost, and blocks of ops.
 *
 * The results of a block's ops have one allocation. It lasts as long as the block runs,
 * or all the iterations of a loop's body: programs are small, and a region that runs once an
 * element must not allocate.
 */
#include "runtime/sim/evaluate/evaluate_run.h"

#include "runtime/sim/evaluate/evaluate_check.h"
#include "runtime/sim/evaluate/evaluate_walk.h"

#include <stdlib.h>

#define ALIGNMENT 64

/* ---- costs ------------------------------------------------------------------------------ */

sim_code sim_run_work(sim_run *run, double operations)
{
    run->work += operations;
    if (run->work <= run->limit)
        return SIM_OK;
    return sim_fail(run->st, SIM_DEADLINE_EXCEEDED,
                    "the program wants more than %.3g element operations", run->limit);
}

sim_code sim_run_memory(sim_run *run, int64_t size, void **memory)
{
    *memory = malloc((size_t)size + 1);
    if (*memory)
        return SIM_OK;
    return sim_fail(run->st, SIM_RESOURCE_EXHAUSTED, "no memory for %lld bytes of the program",
                    (long long)size);
}

/* ---- blocks ----------------------------------------------------------------------------- */

/* A constant that the program holds in full needs no memory of its own. */
static bool is_held(const sim_program *p, const sim_op *op)
{
    return op->opcode == SIM_OP_CONSTANT && op->constant &&
           (int64_t)op->constant_bytes == sim_type_bytes(sim_result_type(p, op, 0));
}

static sim_code block_size(sim_run *run, const sim_block *block, size_t *size)
{
    *size = 0;
    for (int i = 0; i < block->op_count; i++) {
        const sim_op *op = &block->ops[i];
        for (int r = 0; r < op->result_count && !is_held(run->program, op); r++) {
            uint64_t bytes = (uint64_t)sim_type_bytes(sim_result_type(run->program, op, r));
            if (bytes > UINT64_C(1) << 46 || *size > UINT64_C(1) << 46)
                return sim_refuse(op, run->st, SIM_RESOURCE_EXHAUSTED,
                                  "no memory for a result of %llu bytes",
                                  (unsigned long long)bytes);
            *size += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        }
    }
    return SIM_OK;
}

sim_code sim_block_begin(sim_run *run, const sim_block *block, void **memory)
{
    size_t size;
    *memory = NULL;
    if (run->depth >= SIM_MAX_BLOCKS)
        return sim_fail(run->st, SIM_UNIMPLEMENTED, "regions and calls are more than %d deep",
                        SIM_MAX_BLOCKS);
    if (block_size(run, block, &size) != SIM_OK)
        return run->st->code;
    *memory = aligned_alloc(ALIGNMENT, size + ALIGNMENT);
    if (!*memory)
        return sim_fail(run->st, SIM_RESOURCE_EXHAUSTED, "no memory for %zu bytes of the program",
                        size);
    char *at = *memory;
    for (int i = 0; i < block->op_count; i++) {
        const sim_op *op = &block->ops[i];
        if (is_held(run->program, op)) {
            run->values[op->results[0]] = (void *)(uintptr_t)op->constant;
            continue;
        }
        for (int r = 0; r < op->result_count; r++) {
            const sim_type *type = sim_result_type(run->program, op, r);
            run->values[op->results[r]] = at;
            at += ((size_t)sim_type_bytes(type) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            if (op->opcode == SIM_OP_CONSTANT)
                sim_fill(run->values[op->results[r]], op->constant, sim_type_elements(type),
                         bn_dtype_bytes(type->dtype));
        }
    }
    run->depth++;
    return SIM_OK;
}

void sim_block_end(sim_run *run, void *memory)
{
    free(memory);
    run->depth--;
}

sim_code sim_block_run(sim_run *run, const sim_block *block)
{
    for (int i = 0; i < block->op_count; i++) {
        const sim_op *op = &block->ops[i];
        double elements = 1;
        for (int r = 0; r < op->result_count; r++)
            elements += (double)sim_type_elements(sim_result_type(run->program, op, r));
        sim_code code = sim_run_work(run, elements);
        if (code == SIM_OK)
            code = run->rule(run, op);
        if (code != SIM_OK)
            return code;
    }
    return SIM_OK;
}
