/*
 * op_shape.c - ops that put all elements into another shape or order: reshape,
 * transpose, broadcast, reverse. None of them counts FLOPs.
 *
 * Attributes are lists of int64_t, one entry a dimension; entries past the rank
 * are 0, because attributes are hashed as bytes.
 */
#include "runtime/graph/op_priv.h"

/* ---- type rules (StableHLO specification, the op of the same name) ------------- */

/* reshape (C2): as many elements as before. */
static bn_code infer_reshape(const tg_node *node, bn_status *st)
{
    const tg_list_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0);
    bn_code code = tg_shape_check(a->rank, a->at, st);
    if (code != BN_OK)
        return code;
    tg_type *out = &node->results[0].type;
    *out = tg_type_make(x->dtype, (int32_t)a->rank, a->at);
    return tg_type_elements(out) == tg_type_elements(x)
               ? BN_OK
               : tg_type_fail_pair(st, "numbers of elements differ", x, out);
}

/* transpose (C2, C3): the permutation names every dimension once. */
static bn_code infer_transpose(const tg_node *node, bn_status *st)
{
    const tg_list_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0);
    tg_type *out = &node->results[0].type;
    unsigned seen = 0;
    out->dtype = x->dtype;
    out->rank = x->rank;
    for (int32_t i = 0; i < x->rank; i++) {
        int64_t from = a->at[i];
        if (from < 0 || from >= x->rank || seen >> from & 1u)
            return bn_fail(st, BN_INVALID, "not a permutation: entry %d is %lld", i,
                           (long long)from);
        seen |= 1u << from;
        out->dims[i] = x->dims[from];
    }
    return BN_OK;
}

/* broadcast_in_dim (C3-C5); that the mapping ascends is our rule. */
static bn_code infer_broadcast(const tg_node *node, bn_status *st)
{
    const tg_broadcast_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0);
    bn_code code = tg_shape_check(a->rank, a->dims, st);
    if (code != BN_OK)
        return code;
    for (int32_t i = 0; i < x->rank; i++) {
        int64_t to = a->map[i];
        if (to < 0 || to >= a->rank || (i > 0 && to <= a->map[i - 1]))
            return bn_fail(st, BN_INVALID,
                           "dimension %d maps to %lld: not ascending below rank %lld", i,
                           (long long)to, (long long)a->rank);
        if (x->dims[i] != 1 && x->dims[i] != a->dims[to])
            return bn_fail(st, BN_INVALID, "dimension %d of size %lld does not stretch to %lld", i,
                           (long long)x->dims[i], (long long)a->dims[to]);
    }
    node->results[0].type = tg_type_make(x->dtype, (int32_t)a->rank, a->dims);
    return BN_OK;
}

static bn_code infer_reverse(const tg_node *node, bn_status *st)
{
    const tg_axes_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0);
    if (a->axes >> x->rank)
        return bn_fail(st, BN_INVALID, "axes 0x%llx name a dimension past rank %d",
                       (unsigned long long)a->axes, x->rank);
    node->results[0].type = *x;
    return BN_OK;
}

/* ---- lowering ---------------------------------------------------------------- */

static void lower_reshape(tg_lowering *l, const tg_node *node)
{
    tg_lowering_head(l, node);
    tg_lowering_signature(l, node);
}

static void lower_transpose(tg_lowering *l, const tg_node *node)
{
    const tg_list_attributes *a = node->attributes;
    tg_lowering_head(l, node);
    tg_lowering_list(l, ", dims = ", a->at, (size_t)a->rank);
    tg_lowering_signature(l, node);
}

static void lower_broadcast(tg_lowering *l, const tg_node *node)
{
    const tg_broadcast_attributes *a = node->attributes;
    tg_lowering_head(l, node);
    tg_lowering_list(l, ", dims = ", a->map, (size_t)tg_operand_type(node, 0)->rank);
    tg_lowering_signature(l, node);
}

static void lower_reverse(tg_lowering *l, const tg_node *node)
{
    const tg_axes_attributes *a = node->attributes;
    int64_t list[TG_MAX_RANK];
    size_t count = tg_op_axes((unsigned)a->axes, node->results[0].type.rank, list);
    tg_lowering_head(l, node);
    tg_lowering_list(l, ", dims = ", list, count);
    bn_text_puts(tg_lowering_text(l), " : ");
    tg_lowering_type(l, &node->results[0].type);
}

/* ---- gradients ----------------------------------------------------------------- */

GRADIENT(grad_reshape)
{
    (void)need;
    const tg_type *x = tg_operand_type(node, 0);
    gin[0] = tg_reshape(t, gout[0], x->rank, x->dims);
}

GRADIENT(grad_transpose)
{
    (void)need;
    const tg_list_attributes *a = node->attributes;
    int inverse[TG_MAX_RANK] = {0};
    for (int i = 0; i < a->rank; i++)
        inverse[a->at[i]] = i;
    gin[0] = tg_transpose(t, gout[0], inverse);
}

/* Summed over the new dimensions and the stretched ones. */
GRADIENT(grad_broadcast)
{
    (void)need;
    const tg_broadcast_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0);
    unsigned summed = (1u << a->rank) - 1u;
    for (int32_t i = 0; i < x->rank; i++)
        if (x->dims[i] == a->dims[a->map[i]])
            summed &= ~(1u << a->map[i]);
    tg_tensor *sum = summed ? tg_reduce_sum(t, gout[0], summed) : gout[0];
    gin[0] = tg_reshape(t, sum, x->rank, x->dims);
}

GRADIENT(grad_reverse)
{
    (void)need;
    const tg_axes_attributes *a = node->attributes;
    gin[0] = tg_reverse(t, gout[0], (unsigned)a->axes);
}

/* ---- rows ---------------------------------------------------------------------- */

#define FAMILY "shape"

static const tg_op op_reshape = {"reshape",
                                 "reshape",
                                 FAMILY,
                                 "same elements, other dimensions",
                                 1,
                                 1,
                                 1,
                                 sizeof(tg_list_attributes),
                                 infer_reshape,
                                 lower_reshape,
                                 grad_reshape,
                                 tg_op_no_flops};
static const tg_op op_transpose = {"transpose",
                                   "transpose",
                                   FAMILY,
                                   "dimensions in another order",
                                   1,
                                   1,
                                   1,
                                   sizeof(tg_list_attributes),
                                   infer_transpose,
                                   lower_transpose,
                                   grad_transpose,
                                   tg_op_no_flops};
static const tg_op op_broadcast = {"broadcast",
                                   "broadcast_in_dim",
                                   FAMILY,
                                   "repeated along new dimensions and those of size 1",
                                   1,
                                   1,
                                   1,
                                   sizeof(tg_broadcast_attributes),
                                   infer_broadcast,
                                   lower_broadcast,
                                   grad_broadcast,
                                   tg_op_no_flops};
static const tg_op op_reverse = {"reverse",
                                 "reverse",
                                 FAMILY,
                                 "dimensions backwards",
                                 1,
                                 1,
                                 1,
                                 sizeof(tg_axes_attributes),
                                 infer_reverse,
                                 lower_reverse,
                                 grad_reverse,
                                 tg_op_no_flops};
const tg_op *const tg_ops_shape[] = {&op_reshape, &op_transpose, &op_broadcast, &op_reverse, NULL};

/* ---- public calls ------------------------------------------------------------------ */

tg_tensor *tg_reshape(tg_trace *t, tg_tensor *x, int32_t rank, const int64_t *dims)
{
    tg_list_attributes attributes = {.rank = rank};
    bool same = rank == x->type.rank;
    for (int32_t i = 0; i < rank && i < TG_MAX_RANK; i++) {
        attributes.at[i] = dims[i];
        same = same && dims[i] == x->type.dims[i];
    }
    return same ? tg_emit_unchanged(t, x) : tg_emit(t, &op_reshape, &attributes, &x, 1);
}

tg_tensor *tg_transpose(tg_trace *t, tg_tensor *x, const int *permutation)
{
    tg_list_attributes attributes = {.rank = x->type.rank};
    bool same = true;
    for (int32_t i = 0; i < x->type.rank; i++) {
        attributes.at[i] = permutation[i];
        same = same && permutation[i] == i;
    }
    return same ? tg_emit_unchanged(t, x) : tg_emit(t, &op_transpose, &attributes, &x, 1);
}

tg_tensor *tg_broadcast(tg_trace *t, tg_tensor *x, int32_t rank, const int64_t *dims,
                        const int *map)
{
    tg_broadcast_attributes attributes = {.rank = rank};
    for (int32_t i = 0; i < rank && i < TG_MAX_RANK; i++)
        attributes.dims[i] = dims[i];
    for (int32_t i = 0; i < x->type.rank; i++)
        attributes.map[i] = map[i];
    return tg_emit(t, &op_broadcast, &attributes, &x, 1);
}

tg_tensor *tg_reverse(tg_trace *t, tg_tensor *x, unsigned axes)
{
    tg_axes_attributes attributes = {.axes = axes};
    return tg_emit(t, &op_reverse, &attributes, &x, 1);
}
