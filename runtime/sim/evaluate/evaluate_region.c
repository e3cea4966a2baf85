/*
 * evaluate_region.c - regions that are run once an element: those of reduce,
 * reduce_window, select_and_scatter, scatter and sort.
 */
#include "runtime/sim/evaluate/evaluate_region.h"

#include "runtime/sim/evaluate/evaluate_check.h"

#include <string.h>

/* Results of a region, so operands that are reduced or sorted together. */
#define MAX_RESULTS 64

/* ---- recognising ------------------------------------------------------------------------ */

static int argument_number(const sim_block *block, int value)
{
    for (int i = 0; i < block->argument_count; i++)
        if (block->arguments[i] == value)
            return i;
    return -1;
}

/* One op of two arguments, which is the result. */
static void find_kernel(const sim_program *p, const sim_block *block, sim_region *region)
{
    const sim_op *op = block->ops;
    if (block->op_count != 1 || op->operand_count != 2 || op->result_count != 1 ||
        block->results[0] != op->results[0])
        return;
    region->left = argument_number(block, op->operands[0]);
    region->right = argument_number(block, op->operands[1]);
    if (region->left < 0 || region->right < 0)
        return;
    region->opcode = op->opcode;
    region->from = sim_operand_type(p, op, 0)->dtype;
    region->to = sim_result_type(p, op, 0)->dtype;
    region->kernel = op->opcode == SIM_OP_COMPARE
                         ? sim_kernel_compare(op, sim_wide(region->from))
                         : sim_kernel_find(op->opcode, sim_wide(region->from));
}

sim_code sim_region_begin(sim_run *run, const sim_block *block, sim_region *region)
{
    *region = (sim_region){.run = run, .block = block, .argument = -1};
    if (block->result_count == 1) {
        region->argument = argument_number(block, block->results[0]);
        find_kernel(run->program, block, region);
    }
    return sim_block_begin(run, block, &region->memory);
}

void sim_region_end(sim_region *region)
{
    sim_block_end(region->run, region->memory);
}

sim_kernel *sim_region_fold(const sim_region *region)
{
    if (!region->kernel || region->left == region->right)
        return NULL;
    switch (region->opcode) {
    case SIM_OP_ADD:
    case SIM_OP_MULTIPLY:
    case SIM_OP_MAXIMUM:
    case SIM_OP_MINIMUM:
    case SIM_OP_AND:
    case SIM_OP_OR:
    case SIM_OP_XOR:
        return region->kernel;
    default:
        return NULL;
    }
}

/* ---- running ---------------------------------------------------------------------------- */

sim_code sim_region_call(sim_region *region, void *const *arguments)
{
    if (region->kernel) {
        const void *in[2] = {arguments[region->left], arguments[region->right]};
        sim_apply(region->kernel, region->from, region->to, region->scratch, in, 2, 1);
        return SIM_OK;
    }
    for (int i = 0; i < region->block->argument_count; i++)
        region->run->values[region->block->arguments[i]] = arguments[i];
    return sim_block_run(region->run, region->block);
}

const void *sim_region_result(const sim_region *region, int i)
{
    return region->kernel ? region->scratch : region->run->values[region->block->results[i]];
}

sim_code sim_region_store(sim_region *region, void *const *arguments, void *const *targets)
{
    char results[MAX_RESULTS][SIM_ELEMENT]; /* a result may be an argument, and so a target */
    const int *values = region->block->results;
    const int count = region->block->result_count;
    const sim_type *types = region->run->program->types;
    if (sim_region_call(region, arguments) != SIM_OK)
        return region->run->st->code;
    for (int i = 0; i < count; i++)
        memcpy(results[i], sim_region_result(region, i), bn_dtype_bytes(types[values[i]].dtype));
    for (int i = 0; i < count; i++)
        memcpy(targets[i], results[i], bn_dtype_bytes(types[values[i]].dtype));
    return SIM_OK;
}

sim_code sim_region_combine(sim_region *region, void *acc, void *x, int64_t n)
{
    const size_t bytes =
        bn_dtype_bytes(region->run->program->types[region->block->results[0]].dtype);
    if (region->argument >= 0) {
        if (region->argument == 1)
            memcpy(acc, x, (size_t)n * bytes);
        return SIM_OK;
    }
    if (region->kernel) {
        const void *in[2] = {region->left == 0 ? acc : x, region->right == 0 ? acc : x};
        sim_apply(region->kernel, region->from, region->to, acc, in, 2, n);
        return SIM_OK;
    }
    sim_code code = SIM_OK;
    for (size_t i = 0; i < (size_t)n && code == SIM_OK; i++) {
        void *arguments[2] = {(char *)acc + i * bytes, (char *)x + i * bytes};
        code = sim_region_store(region, arguments, arguments);
    }
    return code;
}

/* ---- checking --------------------------------------------------------------------------- */

sim_code sim_can_region(const sim_op *op, int count, sim_status *st)
{
    if (count > MAX_RESULTS)
        return sim_refuse(op, st, SIM_UNIMPLEMENTED, "the simulator takes at most %d operands",
                          MAX_RESULTS);
    return SIM_OK;
}
