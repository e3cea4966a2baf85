/*
 * op_index.c - places that are data: rows by number (embedding lookup and its
 * gradient), parts of a tensor whose start is computed on the device; and the largest
 * elements with their places.
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
    if (bn_dtype_is_float(ids->dtype) || bn_dtype_bytes(ids->dtype) < 4)
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
        if (start->rank != 0 || start->dtype == TG_BOOL || bn_dtype_is_float(start->dtype))
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
    const char *d = bn_dtype_text(x->dtype);
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

/* The statement of the update, whose result the node then gives through a barrier. */
static void lower_update_apart(tg_lowering *l, const tg_node *node)
{
    bn_text *out = tg_lowering_text(l);
    const unsigned updated = tg_lowering_fresh(l);
    bn_text_puts(out, "    ");
    tg_lowering_extra(l, updated);
    bn_text_puts(out, " = stablehlo.dynamic_update_slice");
    for (size_t i = 0; i < node->operand_count; i++) {
        bn_text_puts(out, i ? ", " : " ");
        tg_lowering_value(l, node->operands[i]);
    }
    tg_lowering_signature(l, node);
    tg_lowering_end(l, node);
    tg_lowering_define(l, node);
    bn_text_puts(out, "stablehlo.optimization_barrier ");
    tg_lowering_extra(l, updated);
    bn_text_puts(out, " : ");
    tg_type_write(&node->results[0].type, out);
}

static void lower_dynamic_update_slice(tg_lowering *l, const tg_node *node)
{
    const tg_update_attributes *a = node->attributes;
    if (a->apart) {
        lower_update_apart(l, node);
        return;
    }
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
    if (!bn_dtype_is_unsigned(ids->dtype))
        taken = tg_max(t, taken, tg_scalar(t, ids->dtype, 0.0));
    gin[0] = tg_scatter_add_rows(t, tg_full(t, x, 0.0), taken, gout[0]);
}

/* G where the row number is one of X's, zero where the update was dropped. */
static tg_tensor *where_added(tg_trace *t, const tg_node *node, tg_tensor *g)
{
    const tg_type *x = tg_operand_type(node, 0), *ids = tg_operand_type(node, 1);
    tg_tensor *end = tg_scalar(t, ids->dtype, (double)x->dims[0]);
    tg_tensor *inside = tg_compare(t, node->operands[1], end, TG_LT);
    if (!bn_dtype_is_unsigned(ids->dtype)) {
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
                                              sizeof(tg_update_attributes),
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

static tg_tensor *emit_update(tg_trace *t, tg_tensor *x, tg_tensor *update,
                              tg_tensor *const *starts, bool apart)
{
    const tg_update_attributes attributes = {apart};
    tg_tensor *operands[2 + TG_MAX_RANK] = {x, update};
    for (int32_t i = 0; i < x->type.rank; i++)
        operands[2 + i] = starts[i];
    return tg_emit(t, &op_dynamic_update_slice, &attributes, operands, 2 + (size_t)x->type.rank);
}

tg_tensor *tg_dynamic_update_slice(tg_trace *t, tg_tensor *x, tg_tensor *update,
                                   tg_tensor *const *starts)
{
    return emit_update(t, x, update, starts, false);
}

tg_tensor *tg_dynamic_update_slice_apart(tg_trace *t, tg_tensor *x, tg_tensor *update,
                                         tg_tensor *const *starts)
{
    return emit_update(t, x, update, starts, true);
}

/* ---- the largest elements ------------------------------------------------------ */

/* Written as a stable sort of pairs of element and position, then slices: compilers know the
 * pattern and select where that is cheaper. */
static bn_code infer_top_k(const tg_node *node, bn_status *st)
{
    const tg_top_k_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0);
    tg_type *values = &node->results[0].type, *indices = &node->results[1].type;
    if (x->rank == 0 || x->dtype == TG_BOOL)
        return tg_type_fail(st, "wants numbers of rank 1 or more, got", x);
    int32_t last = x->rank - 1;
    if (a->k < 0 || a->k > x->dims[last])
        return bn_fail(st, BN_INVALID, "%lld elements of dimension %d of size %lld",
                       (long long)a->k, last, (long long)x->dims[last]);
    *values = *x;
    values->dims[last] = a->k;
    *indices = *values;
    indices->dtype = TG_I32;
    return BN_OK;
}

/* "    %x1 = stablehlo.iota ...": the positions along the last dimension. */
static unsigned write_positions(tg_lowering *l, const tg_node *node, const tg_type *type)
{
    unsigned name = tg_lowering_fresh(l);
    tg_lowering_printf(l, "    ");
    tg_lowering_extra(l, name);
    tg_lowering_printf(l, " = stablehlo.iota dim = %d : ", type->rank - 1);
    tg_lowering_type(l, type);
    tg_lowering_end(l, node);
    return name;
}

/* "    %x2:2 = "stablehlo.sort"(x, positions) ...": the larger element first, in
 * the total order that floats have; equal ones stay in order. */
static unsigned write_sort(tg_lowering *l, const tg_node *node, const tg_type *where,
                           unsigned positions)
{
    const tg_type *x = tg_operand_type(node, 0);
    const char *d = bn_dtype_text(x->dtype);
    unsigned name = tg_lowering_fresh(l);
    tg_lowering_printf(l, "    ");
    tg_lowering_extra(l, name);
    tg_lowering_printf(l, ":2 = \"stablehlo.sort\"(");
    tg_lowering_value(l, node->operands[0]);
    tg_lowering_printf(l, ", ");
    tg_lowering_extra(l, positions);
    tg_lowering_printf(l,
                       ") ({\n    ^bb0(%%a: tensor<%s>, %%b: tensor<%s>, %%c: tensor<i32>, "
                       "%%d: tensor<i32>):\n",
                       d, d);
    tg_lowering_printf(l,
                       "      %%e = stablehlo.compare GT, %%a, %%b%s : (tensor<%s>, tensor<%s>) -> "
                       "tensor<i1>\n",
                       bn_dtype_is_float(x->dtype) ? ", TOTALORDER" : "", d, d);
    tg_lowering_printf(l,
                       "      stablehlo.return %%e : tensor<i1>\n    }) {dimension = %d : i64, "
                       "is_stable = true} : (",
                       x->rank - 1);
    const tg_type *const types[] = {x, where, x, where};
    for (int i = 0; i < 4; i++) {
        tg_lowering_type(l, types[i]);
        tg_lowering_printf(l, "%s", i == 1 ? ") -> (" : i == 3 ? ")" : ", ");
    }
    tg_lowering_end(l, node);
    return name;
}

/* Result INDEX: the first places of what was sorted, SORTED of type WHOLE. */
static void write_first(tg_lowering *l, const tg_node *node, unsigned result, unsigned sorted,
                        const tg_type *whole)
{
    const tg_type *y = &node->results[result].type;
    tg_lowering_define_result(l, node, result);
    tg_lowering_printf(l, "stablehlo.slice ");
    tg_lowering_extra(l, sorted);
    tg_lowering_printf(l, "#%u [", result);
    for (int32_t i = 0; i < y->rank; i++)
        tg_lowering_printf(l, "%s0:%lld:1", i ? ", " : "", (long long)y->dims[i]);
    tg_lowering_printf(l, "] : (");
    tg_lowering_type(l, whole);
    tg_lowering_printf(l, ") -> ");
    tg_lowering_type(l, y);
}

static void lower_top_k(tg_lowering *l, const tg_node *node)
{
    const tg_type *x = tg_operand_type(node, 0);
    tg_type where = *x;
    where.dtype = TG_I32;
    unsigned sorted = write_sort(l, node, &where, write_positions(l, node, &where));
    write_first(l, node, 0, sorted, x);
    tg_lowering_end(l, node);
    write_first(l, node, 1, sorted, &where);
}

/* Each value's gradient to where it came from: (..., k) to (..., k, n), where all
 * places but one are zero, then summed over k. */
GRADIENT(grad_top_k)
{
    (void)need;
    const tg_type *x = tg_operand_type(node, 0), *y = &node->results[0].type;
    int32_t last = x->rank - 1;
    if (x->rank == TG_MAX_RANK) {
        tg_trace_fail(t, BN_NOT_SUPPORTED, "backward: %s of rank %d: the gradient needs one more",
                      node->op->name, x->rank);
        return;
    }
    tg_type wide = {.rank = x->rank + 1, .dtype = TG_I32};
    int map[TG_MAX_RANK] = {0};
    for (int32_t i = 0; i <= last; i++) {
        map[i] = i;
        wide.dims[i] = y->dims[i];
    }
    wide.dims[last + 1] = x->dims[last];
    tg_tensor *places = tg_broadcast(t, node->results + 1, wide.rank, wide.dims, map);
    tg_tensor *here = tg_compare(t, places, tg_iota(t, &wide, last + 1), TG_EQ);
    tg_tensor *grads = tg_broadcast(t, gout[0], wide.rank, wide.dims, map);
    tg_tensor *spread = tg_select(t, here, grads, tg_scalar(t, x->dtype, 0.0));
    gin[0] = tg_reduce_sum(t, spread, 1u << last);
}

/* One comparison an element; more are the compiler's choice. */
static double flops_top_k(const tg_node *node)
{
    return (double)tg_type_elements(tg_operand_type(node, 0));
}

#undef FAMILY
#define FAMILY "sort"

static const tg_op op_top_k = {
    "top_k",     "sort",      FAMILY,     "largest elements of the last dimension, and where",
    1,           1,           2,          sizeof(tg_top_k_attributes),
    infer_top_k, lower_top_k, grad_top_k, flops_top_k};

const tg_op *const tg_ops_sort[] = {&op_top_k, NULL};

tg_tensor *tg_top_k(tg_trace *t, tg_tensor *x, int64_t k, tg_tensor **indices)
{
    tg_top_k_attributes attributes = {k};
    tg_tensor *values = tg_emit(t, &op_top_k, &attributes, &x, 1);
    *indices = tg_emit_result(values, 1);
    return values;
}

/* ---- positions that the host finds --------------------------------------------------- */

/* No StableHLO op finds positions, so there is no lowering: the trace is cut there, the operand
 * read, the result sent back. Such a row is in no table, since all that stands there can be
 * compiled. */

/* Whether the element at X, of DTYPE, is not zero; minus zero is zero. */
static bool is_set(const unsigned char *x, tg_dtype dtype)
{
    const size_t bytes = bn_dtype_bytes(dtype);
    unsigned any = 0;
    for (size_t i = 0; i < bytes; i++)
        any |= bn_dtype_is_float(dtype) && i + 1 == bytes ? x[i] & 0x7fu : x[i];
    return any != 0;
}

static void compute_nonzero(const tg_type *in, const void *x, const tg_type *out, void *y)
{
    const int64_t elements = tg_type_elements(in), size = out->dims[0];
    const size_t bytes = bn_dtype_bytes(in->dtype);
    int32_t *positions = y;
    int64_t found = 0;
    for (int64_t i = 0; i < elements && found < size; i++)
        if (is_set((const unsigned char *)x + (size_t)i * bytes, in->dtype))
            positions[found++] = (int32_t)i;
    while (found < size)
        positions[found++] = -1;
}

static bn_code infer_nonzero(const tg_node *node, bn_status *st)
{
    const tg_type *size = node->attributes;
    if (tg_type_elements(tg_operand_type(node, 0)) > INT32_MAX)
        return tg_type_fail(st, "wants positions of 32 bits, got", tg_operand_type(node, 0));
    node->results[0].type = *size;
    return BN_OK;
}

static const tg_host_row nonzero = {.op = {.name = "nonzero",
                                           .stablehlo = "",
                                           .family = "host",
                                           .summary = "positions of the elements that are not zero",
                                           .min_operands = 1,
                                           .max_operands = 1,
                                           .results = 1,
                                           .attribute_bytes = sizeof(tg_type),
                                           .infer = infer_nonzero},
                                    .compute = compute_nonzero};

tg_tensor *tg_nonzero(tg_trace *t, tg_tensor *x, int64_t size)
{
    bn_status st = {.code = BN_OK};
    if (tg_shape_check(1, &size, &st) != BN_OK) {
        tg_trace_fail(t, st.code, "nonzero: %s", st.message);
        return &t->poison;
    }
    const tg_type type = tg_type_make(TG_I32, 1, &size);
    return tg_emit(t, &nonzero.op, &type, &x, 1);
}

tg_host_op tg_node_host_op(const tg_node *node)
{
    const tg_host_row *row = (const tg_host_row *)node->op; /* of which it is the first member */
    return (tg_host_op){.name = row->op.name,
                        .compute = row->compute,
                        .in = *tg_operand_type(node, 0),
                        .out = node->results[0].type};
}
