/*
 * op_sort.c - the largest elements along a dimension, and where they are.
 *
 * Written as a stable sort of pairs of element and position, then slices:
 * compilers know the pattern and select where that is cheaper.
 */
#include "runtime/graph/op_priv.h"

/* ---- type rules -------------------------------------------------------------- */

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

/* ---- lowering ---------------------------------------------------------------- */

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
    const char *d = tg_dtype_text(x->dtype);
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
                       tg_dtype_is_float(x->dtype) ? ", TOTALORDER" : "", d, d);
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

/* ---- gradients ----------------------------------------------------------------- */

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

/* Each element is looked at once; how often more is the compiler's affair. */
static double flops_top_k(const tg_node *node)
{
    return (double)tg_type_elements(tg_operand_type(node, 0));
}

/* ---- rows ---------------------------------------------------------------------- */

#define FAMILY "sort"

static const tg_op op_top_k = {
    "top_k",     "sort",      FAMILY,     "largest elements of the last dimension, and where",
    1,           1,           2,          sizeof(tg_top_k_attributes),
    infer_top_k, lower_top_k, grad_top_k, flops_top_k};

const tg_op *const tg_ops_sort[] = {&op_top_k, NULL};

/* ---- public calls ------------------------------------------------------------------ */

tg_tensor *tg_top_k(tg_trace *t, tg_tensor *x, int64_t k, tg_tensor **indices)
{
    tg_top_k_attributes attributes = {k};
    tg_tensor *values = tg_emit(t, &op_top_k, &attributes, &x, 1);
    *indices = tg_emit_result(values, 1);
    return values;
}
