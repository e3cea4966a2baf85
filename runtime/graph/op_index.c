/*
 * op_index.c - places that are data: rows by number (embedding lookup and its
 * gradient), and parts of a tensor whose start is computed on the device.
 *
 * StableHLO moves a number outside the tensor to the nearest place where it
 * takes (gather, dynamic_slice) and drops what it would add there (scatter).
 * Gradients follow the same rules, so each rule says what it does at the edges.
 */
#include "runtime/graph/op_priv.h"

/* ---- type rules -------------------------------------------------------------- */

/* Rows of X and their numbers. Eight bits are too few to name rows, and the
 * gradients need X's size as a number of the same dtype. */
static bn_code check_rows(const tg_type *x, const tg_type *ids, bn_status *st)
{
    if (x->rank == 0 || x->dims[0] == 0)
        return tg_type_fail(st, "wants rows, got", x);
    if (tg_dtype_is_float(ids->dtype) || tg_dtype_bytes(ids->dtype) < 4)
        return tg_type_fail(st, "wants row numbers of 32 or 64 bits, got", ids);
    if (ids->rank + x->rank - 1 > TG_MAX_RANK)
        return tg_type_fail_pair(st, "too many dimensions in the result", x, ids);
    return BN_OK;
}

/* A row of X for each of IDS: (N, rest...) and S give (S..., rest...). */
static tg_type rows_type(const tg_type *x, const tg_type *ids)
{
    tg_type type = tg_type_make(x->dtype, ids->rank, ids->dims);
    for (int32_t i = 1; i < x->rank; i++)
        type.dims[type.rank++] = x->dims[i];
    return type;
}

static bn_code infer_gather_rows(const tg_node *node, bn_status *st)
{
    const tg_type *x = tg_operand_type(node, 0), *ids = tg_operand_type(node, 1);
    bn_code code = check_rows(x, ids, st);
    if (code == BN_OK)
        node->results[0].type = rows_type(x, ids);
    return code;
}

static bn_code infer_scatter_add_rows(const tg_node *node, bn_status *st)
{
    const tg_type *x = tg_operand_type(node, 0), *ids = tg_operand_type(node, 1);
    const tg_type *updates = tg_operand_type(node, 2);
    if (x->dtype == TG_BOOL)
        return tg_type_fail(st, "wants numbers, got", x);
    bn_code code = check_rows(x, ids, st);
    if (code != BN_OK)
        return code;
    tg_type rows = rows_type(x, ids);
    if (!tg_type_equal(&rows, updates))
        return tg_type_fail_pair(st, "rows and updates differ", &rows, updates);
    node->results[0].type = *x;
    return BN_OK;
}

/* Operands from FIRST are X's starts: one integer scalar a dimension, all of one
 * dtype (StableHLO specification, dynamic_slice, C2 and C3). */
static bn_code check_starts(const tg_node *node, size_t first, bn_status *st)
{
    const tg_type *x = tg_operand_type(node, 0);
    if (node->operand_count != first + (size_t)x->rank)
        return bn_fail(st, BN_INVALID, "%zu starts for a tensor of rank %d",
                       node->operand_count - first, x->rank);
    for (size_t i = first; i < node->operand_count; i++) {
        const tg_type *start = tg_operand_type(node, i);
        if (start->rank != 0 || start->dtype == TG_BOOL || tg_dtype_is_float(start->dtype))
            return tg_type_fail(st, "wants integer scalars as starts, got", start);
        if (start->dtype != tg_operand_type(node, first)->dtype)
            return tg_type_fail_pair(st, "starts differ", tg_operand_type(node, first), start);
    }
    return BN_OK;
}

static bn_code infer_dynamic_slice(const tg_node *node, bn_status *st)
{
    const tg_list_attributes *sizes = node->attributes;
    const tg_type *x = tg_operand_type(node, 0);
    bn_code code = check_starts(node, 1, st);
    for (int32_t i = 0; code == BN_OK && i < x->rank; i++)
        if (sizes->at[i] < 0 || sizes->at[i] > x->dims[i])
            code = bn_fail(st, BN_INVALID, "%lld elements of dimension %d of size %lld",
                           (long long)sizes->at[i], i, (long long)x->dims[i]);
    node->results[0].type = tg_type_make(x->dtype, x->rank, sizes->at);
    return code;
}

static bn_code infer_dynamic_update_slice(const tg_node *node, bn_status *st)
{
    const tg_type *x = tg_operand_type(node, 0), *update = tg_operand_type(node, 1);
    bool fits = update->dtype == x->dtype && update->rank == x->rank;
    for (int32_t i = 0; fits && i < x->rank; i++)
        fits = update->dims[i] <= x->dims[i];
    if (!fits)
        return tg_type_fail_pair(st, "the update is no part of the operand", x, update);
    node->results[0].type = *x;
    return check_starts(node, 2, st);
}

/* ---- lowering ---------------------------------------------------------------- */

/* "NAME = [2, 3]": where the dimensions of a row lie among COUNT others. */
static void write_row_dims(tg_lowering *l, const char *name, int32_t first, int32_t rank)
{
    int64_t dims[TG_MAX_RANK] = {0};
    for (int32_t i = 0; i < rank; i++)
        dims[i] = first + i;
    tg_lowering_list(l, name, dims, (size_t)rank);
}

static void lower_gather_rows(tg_lowering *l, const tg_node *node)
{
    const tg_type *x = tg_operand_type(node, 0), *ids = tg_operand_type(node, 1);
    tg_lowering_generic_head(l, node);
    write_row_dims(l, " {dimension_numbers = #stablehlo.gather<offset_dims = ", ids->rank,
                   x->rank - 1);
    tg_lowering_printf(l,
                       ", collapsed_slice_dims = [0], start_index_map = [0], "
                       "index_vector_dim = %d>, slice_sizes = array<i64: 1",
                       ids->rank);
    for (int32_t i = 1; i < x->rank; i++)
        tg_lowering_printf(l, ", %lld", (long long)x->dims[i]);
    bn_text_puts(tg_lowering_text(l), ">}");
    tg_lowering_signature(l, node);
}

static void lower_scatter_add_rows(tg_lowering *l, const tg_node *node)
{
    const tg_type *x = tg_operand_type(node, 0), *ids = tg_operand_type(node, 1);
    const char *d = tg_dtype_text(x->dtype);
    tg_lowering_generic_head(l, node);
    tg_lowering_printf(l, " ({\n    ^bb0(%%a: tensor<%s>, %%b: tensor<%s>):\n", d, d);
    tg_lowering_printf(l, "      %%c = stablehlo.add %%a, %%b : tensor<%s>\n", d);
    tg_lowering_printf(l, "      stablehlo.return %%c : tensor<%s>\n    })", d);
    write_row_dims(l, " {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = ",
                   ids->rank, x->rank - 1);
    tg_lowering_printf(l,
                       ", inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
                       "index_vector_dim = %d>}",
                       ids->rank);
    tg_lowering_signature(l, node);
}

static void lower_dynamic_slice(tg_lowering *l, const tg_node *node)
{
    const tg_type *y = &node->results[0].type;
    tg_lowering_head(l, node);
    tg_lowering_list(l, ", sizes = ", y->dims, (size_t)y->rank);
    tg_lowering_signature(l, node);
}

static void lower_dynamic_update_slice(tg_lowering *l, const tg_node *node)
{
    tg_lowering_head(l, node);
    tg_lowering_signature(l, node);
}

/* ---- gradients ----------------------------------------------------------------- */

/* Every row gets the sum of what was made of it; a number outside took the first
 * or the last row. */
GRADIENT(grad_gather_rows)
{
    (void)need;
    const tg_type *x = tg_operand_type(node, 0), *ids = tg_operand_type(node, 1);
    tg_tensor *last = tg_scalar(t, ids->dtype, (double)(x->dims[0] - 1));
    tg_tensor *taken = tg_min(t, node->operands[1], last);
    if (!tg_dtype_is_unsigned(ids->dtype))
        taken = tg_max(t, taken, tg_scalar(t, ids->dtype, 0.0));
    gin[0] = tg_scatter_add_rows(t, tg_full(t, x, 0.0), taken, gout[0]);
}

/* G where the row number is one of X's, zero where the update was dropped. */
static tg_tensor *where_added(tg_trace *t, const tg_node *node, tg_tensor *g)
{
    const tg_type *x = tg_operand_type(node, 0), *ids = tg_operand_type(node, 1);
    tg_tensor *end = tg_scalar(t, ids->dtype, (double)x->dims[0]);
    tg_tensor *inside = tg_compare(t, node->operands[1], end, TG_LT);
    if (!tg_dtype_is_unsigned(ids->dtype)) {
        tg_tensor *zero = tg_scalar(t, ids->dtype, 0.0);
        inside = tg_and(t, inside, tg_compare(t, node->operands[1], zero, TG_GE));
    }
    int map[TG_MAX_RANK] = {0};
    for (int32_t i = 0; i < ids->rank; i++)
        map[i] = i;
    inside = tg_broadcast(t, inside, g->type.rank, g->type.dims, map);
    return tg_select(t, inside, g, tg_scalar(t, x->dtype, 0.0));
}

GRADIENT(grad_scatter_add_rows)
{
    gin[0] = need[0] ? gout[0] : NULL;
    if (need[2])
        gin[2] = where_added(t, node, tg_gather_rows(t, gout[0], node->operands[1]));
}

/* The gradient moves a start inside as the op did, since the sizes are equal. */
GRADIENT(grad_dynamic_slice)
{
    (void)need;
    tg_tensor *zeros = tg_full(t, tg_operand_type(node, 0), 0.0);
    gin[0] = tg_dynamic_update_slice(t, zeros, gout[0], node->operands + 1);
}

GRADIENT(grad_dynamic_update_slice)
{
    const tg_type *update = tg_operand_type(node, 1);
    tg_tensor *const *starts = node->operands + 2;
    if (need[0])
        gin[0] = tg_dynamic_update_slice(t, gout[0], tg_full(t, update, 0.0), starts);
    if (need[1])
        gin[1] = tg_dynamic_slice(t, gout[0], starts, update->dims);
}

/* One addition for each element of the updates. */
static double flops_scatter_add_rows(const tg_node *node)
{
    return (double)tg_type_elements(tg_operand_type(node, 2));
}

/* ---- rows ---------------------------------------------------------------------- */

#define FAMILY "index"

static const tg_op op_gather_rows = {
    "gather_rows",     "gather",          FAMILY,           "rows of x by number", 2, 2, 1, 0,
    infer_gather_rows, lower_gather_rows, grad_gather_rows, tg_op_no_flops};
static const tg_op op_scatter_add_rows = {"scatter_add_rows",
                                          "scatter",
                                          FAMILY,
                                          "x with updates added to rows by number",
                                          3,
                                          3,
                                          1,
                                          0,
                                          infer_scatter_add_rows,
                                          lower_scatter_add_rows,
                                          grad_scatter_add_rows,
                                          flops_scatter_add_rows};
static const tg_op op_dynamic_slice = {"dynamic_slice",
                                       "dynamic_slice",
                                       FAMILY,
                                       "a part whose start is data",
                                       1,
                                       1 + TG_MAX_RANK,
                                       1,
                                       sizeof(tg_list_attributes),
                                       infer_dynamic_slice,
                                       lower_dynamic_slice,
                                       grad_dynamic_slice,
                                       tg_op_no_flops};
static const tg_op op_dynamic_update_slice = {"dynamic_update_slice",
                                              "dynamic_update_slice",
                                              FAMILY,
                                              "x with a part replaced whose start is data",
                                              2,
                                              2 + TG_MAX_RANK,
                                              1,
                                              0,
                                              infer_dynamic_update_slice,
                                              lower_dynamic_update_slice,
                                              grad_dynamic_update_slice,
                                              tg_op_no_flops};

const tg_op *const tg_ops_index[] = {&op_gather_rows, &op_scatter_add_rows, &op_dynamic_slice,
                                     &op_dynamic_update_slice, NULL};

/* ---- public calls ------------------------------------------------------------------ */

tg_tensor *tg_gather_rows(tg_trace *t, tg_tensor *x, tg_tensor *ids)
{
    tg_tensor *operands[] = {x, ids};
    return tg_emit(t, &op_gather_rows, NULL, operands, 2);
}

tg_tensor *tg_scatter_add_rows(tg_trace *t, tg_tensor *x, tg_tensor *ids, tg_tensor *updates)
{
    tg_tensor *operands[] = {x, ids, updates};
    return tg_emit(t, &op_scatter_add_rows, NULL, operands, 3);
}

tg_tensor *tg_dynamic_slice(tg_trace *t, tg_tensor *x, tg_tensor *const *starts,
                            const int64_t *sizes)
{
    tg_tensor *operands[1 + TG_MAX_RANK] = {x};
    tg_list_attributes attributes = {x->type.rank, {0}};
    for (int32_t i = 0; i < x->type.rank; i++) {
        operands[1 + i] = starts[i];
        attributes.at[i] = sizes[i];
    }
    return tg_emit(t, &op_dynamic_slice, &attributes, operands, 1 + (size_t)x->type.rank);
}

tg_tensor *tg_dynamic_update_slice(tg_trace *t, tg_tensor *x, tg_tensor *update,
                                   tg_tensor *const *starts)
{
    tg_tensor *operands[2 + TG_MAX_RANK] = {x, update};
    for (int32_t i = 0; i < x->type.rank; i++)
        operands[2 + i] = starts[i];
    return tg_emit(t, &op_dynamic_update_slice, NULL, operands, 2 + (size_t)x->type.rank);
}
