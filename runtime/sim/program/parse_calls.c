/* parse_calls.c - finds the functions that calls name, and refuses calls that do not fit
 * their function or that could go on for ever. */
#include "runtime/sim/program/parse_op.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    const sim_function *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* The functions by name; NULL after an error. */
static const sim_function **sort_functions(sim_reader *r, const sim_function *functions,
                                           size_t count)
{
    const sim_function **sorted = bn_alloc(count * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &functions[i];
    qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0) {
            sim_reader_fail(r, r->lex.text, SIM_INVALID_ARGUMENT, "two functions are called @%.*s",
                            BN_FIT(sorted[i]->name, 60));
            free(sorted);
            return NULL;
        }
    return sorted;
}

static bool same_types(const sim_reader *r, const int *values, const int *others, int count)
{
    for (int i = 0; i < count; i++)
        if (!sim_type_equals(sim_reader_type(r, values[i]), sim_reader_type(r, others[i])))
            return false;
    return true;
}

static bool resolve(sim_reader *r, sim_op *op, const sim_function **sorted, size_t count)
{
    const sim_function key = {.name = (const char *)(const void *)op->callee}, *pointer = &key;
    const sim_function **found = bsearch(&pointer, sorted, count, sizeof *sorted, by_name);
    op->callee = found ? *found : NULL;
    if (!found) {
        sim_reader_fail(r, r->lex.text, SIM_INVALID_ARGUMENT,
                        "line %d calls @%.*s, which is missing", op->line,
                        BN_FIT(key.name, 60));
        return false;
    }
    const sim_block *body = &(*found)->body;
    if (op->operand_count != body->argument_count || op->result_count != body->result_count ||
        !same_types(r, op->operands, body->arguments, op->operand_count) ||
        !same_types(r, op->results, body->results, op->result_count)) {
        sim_reader_fail(r, r->lex.text, SIM_INVALID_ARGUMENT,
                        "line %d calls @%.*s with other types than it has", op->line,
                        BN_FIT(key.name, 60));
        return false;
    }
    return true;
}

/* ---- nesting ---------------------------------------------------------------------------- */

static int block_depth(const sim_block *block, const sim_function *functions, int *depth,
                       int above);

/* How deep calls nest below function F; over SIM_MAX_DEPTH: too deep, or a cycle.
 * DEPTH[f] is 0 until it is known. */
static int function_depth(const sim_function *f, const sim_function *functions, int *depth,
                          int above)
{
    int *own = &depth[f - functions];
    if (above > SIM_MAX_DEPTH)
        return SIM_MAX_DEPTH + 1;
    if (*own == 0)
        *own = 1 + block_depth(&f->body, functions, depth, above + 1);
    return *own;
}

static int block_depth(const sim_block *block, const sim_function *functions, int *depth, int above)
{
    int deepest = 0;
    for (int i = 0; i < block->op_count && deepest <= SIM_MAX_DEPTH; i++) {
        const sim_op *op = &block->ops[i];
        int below = 0;
        if (op->callee)
            below = function_depth(op->callee, functions, depth, above);
        for (int k = 0; k < op->region_count; k++) {
            int inside = block_depth(&op->regions[k], functions, depth, above);
            below = inside > below ? inside : below;
        }
        deepest = below > deepest ? below : deepest;
    }
    return deepest;
}

static void check_nesting(sim_reader *r, const sim_function *functions, size_t count)
{
    int *depth = bn_zalloc(count, sizeof *depth);
    for (size_t i = 0; i < count; i++)
        if (function_depth(&functions[i], functions, depth, 0) > SIM_MAX_DEPTH) {
            sim_reader_fail(r, r->lex.text, SIM_UNIMPLEMENTED,
                            "calls in @%.*s nest deeper than %d, or for ever",
                            BN_FIT(functions[i].name, 60), SIM_MAX_DEPTH);
            break;
        }
    free(depth);
}

bool sim_check_calls(sim_reader *r, sim_function *functions, size_t count)
{
    const sim_function **sorted = sort_functions(r, functions, count);
    sim_op *const *calls = r->calls.items;
    for (size_t i = 0; sorted && i < r->calls.count; i++)
        if (!resolve(r, calls[i], sorted, count))
            break;
    free(sorted);
    if (r->code == SIM_OK)
        check_nesting(r, functions, count);
    return r->code == SIM_OK;
}
