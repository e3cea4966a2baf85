/*
 * op_priv.h - what family files share: their lists, and the messages of type
 * rules.
 */
#ifndef BENCH_OP_PRIV_H
#define BENCH_OP_PRIV_H

#include "runtime/graph/trace_priv.h"

/* Each family's rows, ended by NULL. */
extern const tg_op *const tg_ops_elementwise[]; /* op_elementwise.c */
extern const tg_op *const tg_ops_constant[];    /* op_constant.c */
extern const tg_op *const tg_ops_shape[];       /* op_shape.c */
extern const tg_op *const tg_ops_reduce[];      /* op_reduce.c */
extern const tg_op *const tg_ops_dot[];         /* op_dot.c */
extern const tg_op *const tg_ops_convolution[]; /* op_convolution.c */
extern const tg_op *const tg_ops_window[];      /* op_window.c */
extern const tg_op *const tg_ops_norm[];        /* op_norm.c */

/* BN_INVALID with "WHAT tensor<...>". */
bn_code tg_op_fail_type(bn_status *st, const char *what, const tg_type *type);
/* BN_INVALID with "WHAT: tensor<...> and tensor<...>". */
bn_code tg_op_fail_types(bn_status *st, const char *what, const tg_type *a, const tg_type *b);

#endif
