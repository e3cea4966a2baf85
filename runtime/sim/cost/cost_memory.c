/*
 * cost_memory.c - the most bytes of values alive at once. A value lives from the op that
 * gives it to the last op that uses it; a use inside of a loop or branch is a use by that
 * loop or branch. Only values that groups store count. Arguments and results of the
 * function do not count, nor do constants, which belong to the program.
 */
#include "runtime/sim/cost/weighing_priv.h"

#include <stdlib.h>

#define MAX_DEPTH 256 /* regions in regions, which the reader bounds */

typedef struct lives {
    sim_weighing *w;
    int index[MAX_DEPTH]; /* of the op that is being looked at, in each block around it */
} lives;

static void use(lives *l, int value)
{
    int root = l->w->values[value].root;
    if (root >= 0)
        l->w->last[root] = l->index[l->w->depth[root]];
}

/* Notes for each value where it is used last. */
static void note_uses(lives *l, const sim_block *b, int depth)
{
    for (int i = 0; i < b->argument_count; i++)
        l->w->depth[b->arguments[i]] = depth;
    for (int i = 0; i < b->op_count; i++) {
        const sim_op *op = &b->ops[i];
        l->index[depth] = i;
        for (int k = 0; k < op->result_count; k++) {
            l->w->depth[op->results[k]] = depth;
            l->w->last[op->results[k]] = i;
        }
        for (int k = 0; k < op->operand_count; k++)
            use(l, op->operands[k]);
        bool control = sim_op_cost_class(op->opcode) == SIM_CONTROL;
        for (int k = 0; control && depth + 1 < MAX_DEPTH && k < op->region_count; k++)
            note_uses(l, &op->regions[k], depth + 1);
    }
    l->index[depth] = b->op_count; /* what is returned stays */
    for (int i = 0; i < b->result_count; i++)
        use(l, b->results[i]);
}

static bool counts(const lives *l, int value)
{
    const sim_value *v = &l->w->values[value];
    return v->stored && v->root == value && v->group >= 0;
}

static int64_t bytes_of(const lives *l, int value)
{
    return sim_type_bytes(sim_weigh_type(l->w, value));
}

static int64_t block_peak(lives *l, const sim_block *b);

/* Bytes that OP needs besides the values around it. */
static int64_t inner_peak(lives *l, const sim_op *op)
{
    int64_t most = 0;
    if (sim_op_cost_class(op->opcode) != SIM_CONTROL)
        return 0;
    if (op->callee)
        most = sim_weigh_peak(l->w, op->callee);
    for (int k = 0; k < op->region_count; k++) {
        int64_t inside = block_peak(l, &op->regions[k]);
        most = inside > most ? inside : most;
    }
    return most;
}

/* Values that B returns, whose last use is at its end, count for the op around B. */
static int64_t block_peak(lives *l, const sim_block *b)
{
    int64_t live = 0, peak = 0;
    int64_t *freed = bn_zalloc((size_t)b->op_count + 1, sizeof *freed);
    for (int i = 0; i < b->op_count; i++) {
        const sim_op *op = &b->ops[i];
        for (int k = 0; k < op->result_count; k++) {
            int value = op->results[k];
            if (!counts(l, value) || l->w->last[value] == b->op_count)
                continue;
            live += bytes_of(l, value);
            freed[l->w->last[value]] += bytes_of(l, value);
        }
        int64_t now = live + inner_peak(l, op);
        peak = now > peak ? now : peak;
        live -= freed[i];
    }
    free(freed);
    return peak;
}

int64_t sim_weigh_peak(sim_weighing *w, const sim_function *f)
{
    sim_summary *summary = &w->functions[f - w->program->functions];
    if (summary->peak >= 0)
        return summary->peak;
    lives l = {.w = w};
    note_uses(&l, &f->body, 0);
    return summary->peak = block_peak(&l, &f->body);
}
