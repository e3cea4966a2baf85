/* op_table.c - all op rows in one list, and the input pseudo-op. */
#include "runtime/graph/op_priv.h"

#include <string.h>

const tg_op tg_op_input = {.name = "input",
                           .stablehlo = "",
                           .family = "input",
                           .summary = "a variable's contents at the start of the step",
                           .results = 1,
                           .attribute_bytes = sizeof(tg_type)};

static const tg_op *const *const families[] = {
    tg_ops_elementwise, tg_ops_constant, tg_ops_shape,  tg_ops_slice,
    tg_ops_index,       tg_ops_sort,     tg_ops_reduce, tg_ops_dot,
    tg_ops_convolution, tg_ops_window,   tg_ops_norm,   tg_ops_random,
};

const tg_op *tg_op_at(size_t index)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (size_t i = 0; families[f][i]; i++)
            if (index-- == 0)
                return families[f][i];
    return NULL;
}

const tg_op *tg_op_find(const char *name)
{
    const tg_op *op;
    for (size_t i = 0; (op = tg_op_at(i)); i++)
        if (strcmp(op->name, name) == 0)
            return op;
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

bn_code tg_op_fail_type(bn_status *st, const char *what, const tg_type *type)
{
    bn_text text = {0};
    tg_type_write(type, &text);
    bn_fail(st, BN_INVALID, "%s %s", what, text.failed ? "another type" : text.data);
    bn_text_free(&text);
    return BN_INVALID;
}

bn_code tg_op_fail_types(bn_status *st, const char *what, const tg_type *a, const tg_type *b)
{
    bn_text text = {0};
    tg_type_write(a, &text);
    bn_text_puts(&text, " and ");
    tg_type_write(b, &text);
    bn_fail(st, BN_INVALID, "%s: %s", what, text.failed ? "no memory to say more" : text.data);
    bn_text_free(&text);
    return BN_INVALID;
}
