/*
 * op_table.c - all op rows in one list, on top of the families: nothing below calls it, for a
 * node knows its own row.
 */
#include "runtime/graph/op_priv.h"

static const tg_op *const *const families[] = {
    tg_ops_unary,  tg_ops_elementwise, tg_ops_constant, tg_ops_shape, tg_ops_slice,
    tg_ops_index,  tg_ops_sort,        tg_ops_reduce,   tg_ops_dot,   tg_ops_convolution,
    tg_ops_window, tg_ops_norm,        tg_ops_random,   tg_ops_loop,
};

const tg_op *tg_op_at(size_t index)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (size_t i = 0; families[f][i]; i++)
            if (index-- == 0)
                return families[f][i];
    return NULL;
}

bool tg_op_describe(size_t index, tg_op_info *info)
{
    const tg_op *op = tg_op_at(index);
    if (!op)
        return false;
    *info = (tg_op_info){.name = op->name,
                         .stablehlo = op->stablehlo,
                         .family = op->family,
                         .summary = op->summary,
                         .min_operands = op->min_operands,
                         .max_operands = op->max_operands,
                         .results = op->results,
                         .differentiable = op->grad != NULL};
    return true;
}
