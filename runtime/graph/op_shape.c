/*
 * op_shape.c - ops that put all elements into another shape or order: reshape,
 * transpose, broadcast, reverse; then those that take part of a tensor or put parts together:
 * slice, pad, concatenate, of which each one's gradient is another one. None of them counts FLOPs.
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
    return same ? tg_value_or_poison(t, x) : tg_emit(t, &op_reshape, &attributes, &x, 1);
}

tg_tensor *tg_transpose(tg_trace *t, tg_tensor *x, const int *permutation)
{
    tg_list_attributes attributes = {.rank = x->type.rank};
    bool same = true;
    for (int32_t i = 0; i < x->type.rank; i++) {
        attributes.at[i] = permutation[i];
        same = same && permutation[i] == i;
    }
    return same ? tg_value_or_poison(t, x) : tg_emit(t, &op_transpose, &attributes, &x, 1);
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

/* ---- parts: type rules (StableHLO specification, the op of the same name) ------------- */

/* slice (C3-C5). */
static bn_code infer_slice(const tg_node *node, bn_status *st)
{
    const tg_slice_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0);
    tg_type *out = &node->results[0].type;
    out->dtype = x->dtype;
    out->rank = x->rank;
    for (int32_t i = 0; i < x->rank; i++) {
        if (a->stride[i] < 1)
            return bn_fail(st, BN_INVALID, "stride %lld of dimension %d", (long long)a->stride[i],
                           i);
        if (a->start[i] < 0 || a->start[i] > a->limit[i] || a->limit[i] > x->dims[i])
            return bn_fail(st, BN_INVALID, "%lld up to %lld of dimension %d of size %lld",
                           (long long)a->start[i], (long long)a->limit[i], i,
                           (long long)x->dims[i]);
        out->dims[i] = (a->limit[i] - a->start[i] + a->stride[i] - 1) / a->stride[i];
    }
    return BN_OK;
}

/* pad (C1, C3, C4). */
static bn_code infer_pad(const tg_node *node, bn_status *st)
{
    const tg_pad_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0), *value = tg_operand_type(node, 1);
    tg_type *out = &node->results[0].type;
    if (value->rank != 0 || value->dtype != x->dtype)
        return tg_type_fail_pair(st, "wants a scalar of the operand's element type", x, value);
    out->dtype = x->dtype;
    out->rank = x->rank;
    for (int32_t i = 0; i < x->rank; i++) {
        if (a->interior[i] < 0)
            return bn_fail(st, BN_INVALID, "interior padding %lld of dimension %d",
                           (long long)a->interior[i], i);
        out->dims[i] = tg_op_dilated(x->dims[i], a->interior[i] + 1) + a->low[i] + a->high[i];
        if (out->dims[i] < 0)
            return bn_fail(st, BN_INVALID, "dimension %d of size %lld is cropped to %lld", i,
                           (long long)x->dims[i], (long long)out->dims[i]);
    }
    return BN_OK;
}

/* concatenate (C1-C6). */
static bn_code infer_concatenate(const tg_node *node, bn_status *st)
{
    const tg_concatenate_attributes *a = node->attributes;
    if (node->operand_count == 0)
        return bn_fail(st, BN_INVALID, "no operands");
    tg_type *out = &node->results[0].type;
    *out = *tg_operand_type(node, 0);
    if (a->dim < 0 || a->dim >= out->rank)
        return bn_fail(st, BN_INVALID, "dimension %lld of tensors of rank %d", (long long)a->dim,
                       out->rank);
    for (size_t k = 1; k < node->operand_count; k++) {
        const tg_type *x = tg_operand_type(node, k);
        bool fits = x->dtype == out->dtype && x->rank == out->rank;
        for (int32_t i = 0; fits && i < x->rank; i++)
            fits = i == a->dim || x->dims[i] == out->dims[i];
        if (!fits)
            return tg_type_fail_pair(st, "parts differ elsewhere than along the dimension",
                                     tg_operand_type(node, 0), x);
        out->dims[a->dim] += x->dims[a->dim];
    }
    return BN_OK;
}

/* ---- parts: lowering ---------------------------------------------------------------- */

static void lower_slice(tg_lowering *l, const tg_node *node)
{
    const tg_slice_attributes *a = node->attributes;
    bn_text *out = tg_lowering_text(l);
    tg_lowering_head(l, node);
    bn_text_puts(out, " [");
    for (int32_t i = 0; i < node->results[0].type.rank; i++) {
        if (i)
            bn_text_puts(out, ", ");
        bn_text_int(out, a->start[i]);
        bn_text_putc(out, ':');
        bn_text_int(out, a->limit[i]);
        bn_text_putc(out, ':');
        bn_text_int(out, a->stride[i]);
    }
    bn_text_putc(out, ']');
    tg_lowering_signature(l, node);
}

static void lower_pad(tg_lowering *l, const tg_node *node)
{
    const tg_pad_attributes *a = node->attributes;
    size_t rank = (size_t)node->results[0].type.rank;
    tg_lowering_head(l, node);
    tg_lowering_list(l, ", low = ", a->low, rank);
    tg_lowering_list(l, ", high = ", a->high, rank);
    tg_lowering_list(l, ", interior = ", a->interior, rank);
    tg_lowering_signature(l, node);
}

static void lower_concatenate(tg_lowering *l, const tg_node *node)
{
    const tg_concatenate_attributes *a = node->attributes;
    tg_lowering_head(l, node);
    bn_text_puts(tg_lowering_text(l), ", dim = ");
    bn_text_int(tg_lowering_text(l), a->dim);
    tg_lowering_signature(l, node);
}

/* ---- parts: gradients ----------------------------------------------------------------- */

/* Back to where the elements were, zeros elsewhere. */
GRADIENT(grad_slice)
{
    (void)need;
    const tg_slice_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0), *y = &node->results[0].type;
    int64_t high[TG_MAX_RANK] = {0}, interior[TG_MAX_RANK] = {0};
    for (int32_t i = 0; i < x->rank; i++) {
        interior[i] = a->stride[i] - 1;
        high[i] = x->dims[i] - a->start[i] - tg_op_dilated(y->dims[i], a->stride[i]);
    }
    gin[0] = tg_pad(t, gout[0], tg_scalar(t, x->dtype, 0.0), a->start, high, interior);
}

/* X gets the elements at its places, zero for cropped ones. VALUE gets the sum
 * over the padding, by a mask: the total less X's part would cancel. */
GRADIENT(grad_pad)
{
    const tg_pad_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0), *y = &node->results[0].type;
    tg_tensor *zero = tg_scalar(t, x->dtype, 0.0);
    if (need[0]) {
        int64_t low[TG_MAX_RANK] = {0}, high[TG_MAX_RANK] = {0}, none[TG_MAX_RANK] = {0};
        int64_t limit[TG_MAX_RANK] = {0}, stride[TG_MAX_RANK] = {0};
        bool strided = false;
        for (int32_t i = 0; i < x->rank; i++) {
            low[i] = -a->low[i];
            high[i] = -a->high[i];
            stride[i] = a->interior[i] + 1;
            limit[i] = tg_op_dilated(x->dims[i], stride[i]);
            strided |= stride[i] > 1;
        }
        tg_tensor *cropped = tg_pad(t, gout[0], zero, low, high, none);
        gin[0] = strided ? tg_slice(t, cropped, none, limit, stride) : cropped;
    }
    if (need[1]) {
        tg_tensor *mask = tg_pad(t, tg_full(t, x, 0.0), tg_scalar(t, x->dtype, 1.0), a->low,
                                 a->high, a->interior);
        gin[1] = tg_reduce_sum(t, tg_mul(t, gout[0], mask), (1u << y->rank) - 1u);
    }
}

GRADIENT(grad_concatenate)
{
    const tg_concatenate_attributes *a = node->attributes;
    int64_t start[TG_MAX_RANK] = {0}, limit[TG_MAX_RANK] = {0}, stride[TG_MAX_RANK];
    for (int32_t i = 0; i < TG_MAX_RANK; i++)
        stride[i] = 1;
    for (size_t k = 0; k < node->operand_count; k++) {
        const tg_type *x = tg_operand_type(node, k);
        for (int32_t i = 0; i < x->rank; i++)
            limit[i] = start[i] + x->dims[i];
        if (need[k])
            gin[k] = tg_slice(t, gout[0], start, limit, stride);
        start[a->dim] = limit[a->dim];
    }
}

/* ---- parts: rows ---------------------------------------------------------------------- */

#undef FAMILY
#define FAMILY "slice"

static const tg_op op_slice = {
    "slice",     "slice",     FAMILY,     "every stride-th element from start to limit",
    1,           1,           1,          sizeof(tg_slice_attributes),
    infer_slice, lower_slice, grad_slice, tg_op_no_flops};
static const tg_op op_pad = {
    "pad",     "pad",     FAMILY,   "elements put around and between, or cropped",
    2,         2,         1,        sizeof(tg_pad_attributes),
    infer_pad, lower_pad, grad_pad, tg_op_no_flops};
static const tg_op op_concatenate = {"concatenate",
                                     "concatenate",
                                     FAMILY,
                                     "parts one after the other",
                                     1,
                                     -1,
                                     1,
                                     sizeof(tg_concatenate_attributes),
                                     infer_concatenate,
                                     lower_concatenate,
                                     grad_concatenate,
                                     tg_op_no_flops};

const tg_op *const tg_ops_slice[] = {&op_slice, &op_pad, &op_concatenate, NULL};

/* ---- parts: public calls ------------------------------------------------------------------ */

tg_tensor *tg_slice(tg_trace *t, tg_tensor *x, const int64_t *start, const int64_t *limit,
                    const int64_t *stride)
{
    tg_slice_attributes attributes = {{0}, {0}, {0}};
    for (int32_t i = 0; i < x->type.rank; i++) {
        attributes.start[i] = start[i];
        attributes.limit[i] = limit[i];
        attributes.stride[i] = stride[i];
    }
    return tg_emit(t, &op_slice, &attributes, &x, 1);
}

tg_tensor *tg_pad(tg_trace *t, tg_tensor *x, tg_tensor *value, const int64_t *low,
                  const int64_t *high, const int64_t *interior)
{
    tg_tensor *operands[] = {x, value};
    tg_pad_attributes attributes = {{0}, {0}, {0}};
    for (int32_t i = 0; i < x->type.rank; i++) {
        attributes.low[i] = low[i];
        attributes.high[i] = high[i];
        attributes.interior[i] = interior[i];
    }
    return tg_emit(t, &op_pad, &attributes, operands, 2);
}

tg_tensor *tg_concatenate(tg_trace *t, tg_tensor *const *parts, size_t count, int dim)
{
    tg_concatenate_attributes attributes = {dim};
    return tg_emit(t, &op_concatenate, &attributes, parts, count);
}
