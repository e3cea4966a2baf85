/*
 * evaluate.c - runs a program on the host: the table of rules, blocks, and what
 * is asked before a program is run. See evaluate_priv.h.
 *
 * Memory of a block's results is one allocation that lasts as long as the block
 * runs, or all the rounds of a loop's body: programs are small, and a region that
 * runs once an element must not allocate.
 */
#include "runtime/sim/evaluate/evaluate.h"

#include "runtime/sim/evaluate/evaluate_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks within blocks, over calls. */
#define MAX_DEPTH 200
#define ALIGNMENT 64

typedef struct rule_row {
    sim_rule *rule;
    sim_rule_check *check;
} rule_row;

/* The others are elementwise or none. */
static const rule_row rules[SIM_OP_COUNT] = {
#define X(op, name) [SIM_OP_##op] = {sim_rule_##name, sim_can_##name},
    SIM_RULES(X)
#undef X
};

static bool is_elementwise(sim_opcode opcode)
{
    return sim_kernel_find(opcode, SIM_F32) || sim_kernel_find(opcode, SIM_S32);
}

/* ---- failing ---------------------------------------------------------------------------- */

sim_code sim_refuse(const sim_op *op, sim_status *st, sim_code code, const char *format, ...)
{
    char message[384];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return sim_fail(st, code, "line %d: %s: %s", op->line, sim_op_name(op->opcode), message);
}

sim_code sim_work(sim_run *run, double operations)
{
    run->work += operations;
    if (run->work <= run->limit)
        return SIM_OK;
    return sim_fail(run->st, SIM_DEADLINE_EXCEEDED,
                    "the program wants more than %.3g element operations", run->limit);
}

sim_code sim_memory(sim_run *run, int64_t size, void **memory)
{
    *memory = malloc((size_t)size + 1);
    if (*memory)
        return SIM_OK;
    return sim_fail(run->st, SIM_RESOURCE_EXHAUSTED, "no memory for %lld bytes of the program",
                    (long long)size);
}

/* ---- types ------------------------------------------------------------------------------ */

void sim_strides(const sim_type *type, int64_t *strides)
{
    uint64_t stride = 1; /* wraps beside a dimension of 0, where no stride is used */
    for (int i = type->rank - 1; i >= 0; i--) {
        strides[i] = (int64_t)stride;
        stride *= (uint64_t)type->dims[i];
    }
}

bool sim_next_index(int64_t *index, const int64_t *dims, int rank)
{
    for (int i = rank - 1; i >= 0; i--) {
        if (++index[i] < dims[i])
            return true;
        index[i] = 0;
    }
    return false;
}

bool sim_in_list(const int64_t *list, size_t count, int64_t value)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == value)
            return true;
    return false;
}

const int64_t *sim_checked_ints(const sim_op *op, const char *name, size_t count, int64_t low,
                                int64_t high, sim_status *st)
{
    static const int64_t none[1] = {0};
    const sim_attribute *a = sim_attribute_find(op, name);
    if (!a || a->word || a->count != count) {
        sim_refuse(op, st, SIM_INVALID_ARGUMENT, "wants %zu numbers for %s", count, name);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (a->ints[i] < low || a->ints[i] > high) {
            sim_refuse(op, st, SIM_INVALID_ARGUMENT, "%s has %lld", name, (long long)a->ints[i]);
            return NULL;
        }
    return count > 0 ? a->ints : none;
}

const int64_t *sim_checked_dims(const sim_op *op, const char *name, int rank, size_t *count,
                                sim_status *st)
{
    const sim_attribute *a = sim_attribute_find(op, name);
    *count = a && !a->word ? a->count : 0;
    const int64_t *dims = sim_checked_ints(op, name, *count, 0, rank - 1, st);
    for (size_t i = 0; dims && i < *count; i++)
        if (sim_in_list(dims, i, dims[i])) {
            sim_refuse(op, st, SIM_INVALID_ARGUMENT, "%s names dimension %lld twice", name,
                       (long long)dims[i]);
            return NULL;
        }
    return dims;
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
    if (run->depth >= MAX_DEPTH)
        return sim_fail(run->st, SIM_UNIMPLEMENTED, "regions and calls are more than %d deep",
                        MAX_DEPTH);
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
                         sim_dtype_bytes(type->dtype));
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
        sim_rule *rule = rules[op->opcode].rule;
        sim_code code = sim_work(run, elements);
        if (code == SIM_OK)
            code = rule ? rule(run, op) : sim_rule_elementwise(run, op);
        if (code != SIM_OK)
            return code;
    }
    return SIM_OK;
}

/* ---- before a run ------------------------------------------------------------------------ */

static sim_code check_block(const sim_program *p, const sim_block *block, int depth, sim_status *st)
{
    if (depth > MAX_DEPTH)
        return sim_fail(st, SIM_UNIMPLEMENTED, "regions are more than %d deep", MAX_DEPTH);
    for (int i = 0; i < block->op_count; i++) {
        const sim_op *op = &block->ops[i];
        sim_rule_check *check = rules[op->opcode].check;
        if (!check && !is_elementwise(op->opcode))
            return sim_refuse(op, st, SIM_UNIMPLEMENTED, "the simulator cannot evaluate this op");
        sim_code code = check ? check(p, op, st) : sim_can_elementwise(p, op, st);
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
    sim_run run = {.program = program, .limit = limit, .st = st};
    sim_code code = sim_program_can_evaluate(program, st);
    if (code != SIM_OK)
        return code;
    run.values = calloc((size_t)program->value_count + 1, sizeof *run.values);
    run.active = calloc((size_t)program->function_count + 1, sizeof *run.active);
    if (run.values && run.active)
        code = run_main(&run, arguments, results);
    else
        code = sim_fail(st, SIM_RESOURCE_EXHAUSTED, "no memory to run the program");
    free(run.values);
    free(run.active);
    return code;
}
