/*
 * op_priv.h - what family files share: their lists, reducers, and the arithmetic of
 * windows.
 */
#ifndef BENCH_OP_PRIV_H
#define BENCH_OP_PRIV_H

#include "runtime/graph/op_attributes.h"
#include "runtime/graph/trace_priv.h"

/* Each family's rows, ended by NULL. */
extern const tg_op *const tg_ops_unary[];       /* op_unary.c */
extern const tg_op *const tg_ops_elementwise[]; /* op_elementwise.c */
extern const tg_op *const tg_ops_constant[];    /* op_constant.c */
extern const tg_op *const tg_ops_shape[];       /* op_shape.c */
extern const tg_op *const tg_ops_slice[];       /* op_shape.c */
extern const tg_op *const tg_ops_index[];       /* op_index.c */
extern const tg_op *const tg_ops_sort[];        /* op_index.c */
extern const tg_op *const tg_ops_reduce[];      /* op_reduce.c */
extern const tg_op *const tg_ops_dot[];         /* op_dot.c */
extern const tg_op *const tg_ops_convolution[]; /* op_convolution.c */
extern const tg_op *const tg_ops_window[];      /* op_window.c */
extern const tg_op *const tg_ops_norm[];        /* op_norm.c */
extern const tg_op *const tg_ops_random[];      /* op_constant.c */
extern const tg_op *const tg_ops_loop[];        /* op_scan.c */

/* The head of a gradient rule (tg_op.grad). */
#define GRADIENT(name)                                                                             \
    static void name(tg_trace *t, const tg_node *node, tg_tensor *const *gout, const bool *need,   \
                     tg_tensor **gin)

/* VALUE as a scalar of the dtype of NODE's result. */
static inline tg_tensor *tg_op_number_like(tg_trace *t, const tg_node *node, double value)
{
    return tg_scalar(t, node->results[0].type.dtype, value);
}

/* Writes the dimensions in the bit mask AXES to LIST, ascending; returns how many. */
static inline size_t tg_op_axes(unsigned axes, int32_t rank, int64_t *list)
{
    size_t count = 0;
    for (int32_t i = 0; i < rank; i++)
        if (axes >> i & 1u)
            list[count++] = i;
    return count;
}

/* DEFAULT, HIGH or HIGHEST, as StableHLO writes a tg_precision (op_dot.c). */
const char *tg_op_precision_text(int32_t precision);

/* How reductions and window reductions combine two elements. */
typedef enum tg_reducer { TG_REDUCER_SUM, TG_REDUCER_MAX, TG_REDUCER_MIN } tg_reducer;
/* Writes the reducer's neutral element of DTYPE as a constant statement before
 * that of NODE; returns its extra name (op_reduce.c). */
unsigned tg_op_write_neutral(tg_lowering *l, const tg_node *node, tg_reducer reducer,
                             tg_dtype dtype);

/* A dimension with DILATION - 1 zeros between its elements. */
static inline int64_t tg_op_dilated(int64_t size, int64_t dilation)
{
    return size > 0 ? (size - 1) * dilation + 1 : 0;
}

/* How often a window of SIZE fits into a dimension of PADDED elements; both are
 * already dilated. StableHLO specification, reduce_window (C15) and convolution
 * (C25): none where the window is larger. */
static inline int64_t tg_op_places(int64_t padded, int64_t size, int64_t stride)
{
    return padded <= 0 || size > padded ? 0 : (padded - size) / stride + 1;
}

#endif
