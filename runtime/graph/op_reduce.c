/*
 * op_reduce.c - reductions over dimensions: sum, maximum, minimum.
 *
 * One rule serves the three rows; the row's reducer names the StableHLO op that
 * combines two elements and its neutral element, which window reductions share.
 */
#include "runtime/graph/op_priv.h"

#include <math.h>

/* ---- type rules (StableHLO specification, reduce, C4 and C7) -------------------- */

static bn_code infer_reduce(const tg_node *node, bn_status *st)
{
    const tg_axes_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0);
    tg_type *out = &node->results[0].type;
    if (x->dtype == TG_BOOL)
        return tg_type_fail(st, "wants numbers, got", x);
    if (a->axes >> x->rank)
        return bn_fail(st, BN_INVALID, "axes 0x%llx name a dimension past rank %d",
                       (unsigned long long)a->axes, x->rank);
    out->dtype = x->dtype;
    for (int32_t i = 0; i < x->rank; i++)
        if (!(a->axes >> i & 1))
            out->dims[out->rank++] = x->dims[i];
    return BN_OK;
}

/* ---- lowering ---------------------------------------------------------------- */

/* Smallest or largest integer of DTYPE, in text because a double lacks the
 * largest i64. */
static const char *limit_text(tg_dtype dtype, bool largest)
{
    static const char *const limits[TG_DTYPE_COUNT][2] = {
        [TG_BOOL] = {"false", "true"},
        [TG_I8] = {"-128", "127"},
        [TG_I32] = {"-2147483648", "2147483647"},
        [TG_I64] = {"-9223372036854775808", "9223372036854775807"},
        [TG_U8] = {"0", "255"},
        [TG_U32] = {"0", "4294967295"},
        [TG_U64] = {"0", "18446744073709551615"},
    };
    return limits[dtype][largest];
}

unsigned tg_op_write_neutral(tg_lowering *l, const tg_node *node, tg_reducer reducer,
                             tg_dtype dtype)
{
    bn_text *out = tg_lowering_text(l);
    unsigned name = tg_lowering_fresh(l);
    tg_type scalar = {.dtype = dtype};
    bn_text_puts(out, "    ");
    tg_lowering_extra(l, name);
    bn_text_puts(out, " = stablehlo.constant dense<");
    if (reducer == TG_REDUCER_SUM)
        tg_lowering_literal(l, dtype, 0.0);
    else if (bn_dtype_is_float(dtype))
        tg_lowering_literal(l, dtype, reducer == TG_REDUCER_MAX ? -INFINITY : INFINITY);
    else
        bn_text_puts(out, limit_text(dtype, reducer == TG_REDUCER_MIN));
    bn_text_puts(out, "> : ");
    tg_type_write(&scalar, out);
    tg_lowering_end(l, node);
    return name;
}

/* A statement that gives VALUE through a barrier; returns its extra name. */
static unsigned write_barrier(tg_lowering *l, const tg_node *node, const tg_tensor *value)
{
    bn_text *out = tg_lowering_text(l);
    unsigned name = tg_lowering_fresh(l);
    bn_text_puts(out, "    ");
    tg_lowering_extra(l, name);
    bn_text_puts(out, " = stablehlo.optimization_barrier ");
    tg_lowering_value(l, value);
    bn_text_puts(out, " : ");
    tg_type_write(&value->type, out);
    tg_lowering_end(l, node);
    return name;
}

static void lower_reduce(tg_lowering *l, const tg_node *node, tg_reducer reducer,
                         const char *combine)
{
    const tg_axes_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0);
    tg_type scalar = {.dtype = x->dtype};
    int64_t list[TG_MAX_RANK];
    size_t count = tg_op_axes((unsigned)a->axes, x->rank, list);
    bn_text *out = tg_lowering_text(l);
    unsigned init = tg_op_write_neutral(l, node, reducer, x->dtype);
    unsigned behind = a->apart ? write_barrier(l, node, node->operands[0]) : 0;
    tg_lowering_define(l, node);
    bn_text_puts(out, "stablehlo.reduce(");
    if (a->apart)
        tg_lowering_extra(l, behind);
    else
        tg_lowering_value(l, node->operands[0]);
    bn_text_puts(out, " init: ");
    tg_lowering_extra(l, init);
    bn_text_puts(out, ") applies stablehlo.");
    bn_text_puts(out, combine);
    bn_text_puts(out, " across dimensions = ");
    tg_lowering_ints(l, list, count);
    bn_text_puts(out, " : (");
    tg_type_write(x, out);
    bn_text_puts(out, ", ");
    tg_type_write(&scalar, out);
    bn_text_puts(out, ") -> ");
    tg_type_write(&node->results[0].type, out);
}

static void lower_reduce_sum(tg_lowering *l, const tg_node *node)
{
    lower_reduce(l, node, TG_REDUCER_SUM, "add");
}

static void lower_reduce_max(tg_lowering *l, const tg_node *node)
{
    lower_reduce(l, node, TG_REDUCER_MAX, "maximum");
}

static void lower_reduce_min(tg_lowering *l, const tg_node *node)
{
    lower_reduce(l, node, TG_REDUCER_MIN, "minimum");
}

/* ---- gradients ----------------------------------------------------------------- */

/* VALUE, of the result's shape, repeated along the reduced dimensions. */
static tg_tensor *spread(tg_trace *t, const tg_node *node, tg_tensor *value)
{
    const tg_axes_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0);
    int map[TG_MAX_RANK] = {0}, count = 0;
    if (a->axes == 0)
        return value;
    for (int32_t i = 0; i < x->rank; i++)
        if (!(a->axes >> i & 1))
            map[count++] = i;
    return tg_broadcast(t, value, x->rank, x->dims, map);
}

GRADIENT(grad_reduce_sum)
{
    (void)need;
    gin[0] = spread(t, node, gout[0]);
}

/* Every element equal to the extremum gets an even share (see graph.h). */
GRADIENT(grad_extremum)
{
    (void)need;
    const tg_axes_attributes *a = node->attributes;
    tg_dtype dtype = tg_operand_type(node, 0)->dtype;
    tg_tensor *zero = tg_scalar(t, dtype, 0.0), *one = tg_scalar(t, dtype, 1.0);
    tg_tensor *won = tg_compare(t, node->operands[0], spread(t, node, node->results), TG_EQ);
    tg_tensor *winners = tg_reduce_sum(t, tg_select(t, won, one, zero), (unsigned)a->axes);
    tg_tensor *share = tg_div(t, gout[0], winners);
    gin[0] = tg_select(t, won, spread(t, node, share), zero);
}

/* One operation for each element of the operand. */
static double flops_reduce(const tg_node *node)
{
    return (double)tg_type_elements(tg_operand_type(node, 0));
}

/* ---- rows ---------------------------------------------------------------------- */

#define FAMILY "reduction"

static const tg_op op_reduce_sum = {"reduce_sum",
                                    "reduce",
                                    FAMILY,
                                    "sum over dimensions",
                                    1,
                                    1,
                                    1,
                                    sizeof(tg_axes_attributes),
                                    infer_reduce,
                                    lower_reduce_sum,
                                    grad_reduce_sum,
                                    flops_reduce};
static const tg_op op_reduce_max = {"reduce_max",
                                    "reduce",
                                    FAMILY,
                                    "maximum over dimensions",
                                    1,
                                    1,
                                    1,
                                    sizeof(tg_axes_attributes),
                                    infer_reduce,
                                    lower_reduce_max,
                                    grad_extremum,
                                    flops_reduce};
static const tg_op op_reduce_min = {"reduce_min",
                                    "reduce",
                                    FAMILY,
                                    "minimum over dimensions",
                                    1,
                                    1,
                                    1,
                                    sizeof(tg_axes_attributes),
                                    infer_reduce,
                                    lower_reduce_min,
                                    grad_extremum,
                                    flops_reduce};

const tg_op *const tg_ops_reduce[] = {&op_reduce_sum, &op_reduce_max, &op_reduce_min, NULL};

/* ---- public calls ------------------------------------------------------------------ */

static tg_tensor *reduce(tg_trace *t, const tg_op *op, tg_tensor *x, unsigned axes)
{
    tg_axes_attributes attributes = {.axes = axes};
    return tg_emit(t, op, &attributes, &x, 1);
}

tg_tensor *tg_reduce_sum_apart(tg_trace *t, tg_tensor *x, unsigned axes)
{
    tg_axes_attributes attributes = {.axes = axes, .apart = 1};
    return tg_emit(t, &op_reduce_sum, &attributes, &x, 1);
}

tg_tensor *tg_reduce_sum(tg_trace *t, tg_tensor *x, unsigned axes)
{
    return reduce(t, &op_reduce_sum, x, axes);
}

tg_tensor *tg_reduce_max(tg_trace *t, tg_tensor *x, unsigned axes)
{
    return reduce(t, &op_reduce_max, x, axes);
}

tg_tensor *tg_reduce_min(tg_trace *t, tg_tensor *x, unsigned axes)
{
    return reduce(t, &op_reduce_min, x, axes);
}
