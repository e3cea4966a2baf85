/*
 * op_attributes.h - what a node of each op carries besides its operands, for the
 * family files and for readers of nodes (the evaluator of the tests).
 *
 * Attributes are hashed as bytes: structs of only int32_t or only int64_t
 * fields, so without padding, and lists are 0 past what their counts cover.
 */
#ifndef BENCH_OP_ATTRIBUTES_H
#define BENCH_OP_ATTRIBUTES_H

#include "runtime/graph/graph.h"

/* compare */
typedef struct tg_compare_attributes {
    int32_t direction; /* tg_direction */
} tg_compare_attributes;

/* convert */
typedef struct tg_convert_attributes {
    int32_t dtype; /* tg_dtype of the result */
} tg_convert_attributes;

/* constant */
typedef struct tg_constant_attributes {
    tg_type type;
    int64_t bits; /* of the value as a double */
} tg_constant_attributes;

/* iota */
typedef struct tg_iota_attributes {
    tg_type type;
    int64_t dim;
} tg_iota_attributes;

/* reshape: the new dimensions; transpose: the permutation */
typedef struct tg_list_attributes {
    int64_t rank; /* of the result */
    int64_t at[TG_MAX_RANK];
} tg_list_attributes;

/* broadcast */
typedef struct tg_broadcast_attributes {
    int64_t rank; /* of the result */
    int64_t dims[TG_MAX_RANK];
    int64_t map[TG_MAX_RANK]; /* [operand dimension] */
} tg_broadcast_attributes;

/* reverse, reduce_* */
typedef struct tg_axes_attributes {
    int64_t axes;  /* bit i for dimension i */
    int64_t apart; /* reduce_sum: 1 where the compiler is not to merge what made the operand */
} tg_axes_attributes;

/* dynamic_update_slice */
typedef struct tg_update_attributes {
    int64_t apart; /* 1 where the compiler is not to merge it into what takes the result */
} tg_update_attributes;

/* slice */
typedef struct tg_slice_attributes {
    int64_t start[TG_MAX_RANK], limit[TG_MAX_RANK], stride[TG_MAX_RANK];
} tg_slice_attributes;

/* pad */
typedef struct tg_pad_attributes {
    int64_t low[TG_MAX_RANK], high[TG_MAX_RANK], interior[TG_MAX_RANK];
} tg_pad_attributes;

/* concatenate */
typedef struct tg_concatenate_attributes {
    int64_t dim;
} tg_concatenate_attributes;

/* top_k */
typedef struct tg_top_k_attributes {
    int64_t k;
} tg_top_k_attributes;

/* random_bits */
typedef struct tg_random_attributes {
    tg_type type; /* of the bits */
} tg_random_attributes;

/* dot */
typedef struct tg_dot_attributes {
    tg_dot_dims dims;
    int32_t precision; /* tg_precision */
} tg_dot_attributes;

/* convolution */
typedef struct tg_conv_attributes {
    tg_conv_dims dims;
    int32_t precision; /* tg_precision */
} tg_conv_attributes;

/* window_*, select_and_scatter */
typedef struct tg_window_attributes {
    tg_window window;
} tg_window_attributes;

/* batch_norm_* */
typedef struct tg_norm_attributes {
    int64_t epsilon; /* bits of the double */
    int64_t feature;
} tg_norm_attributes;

/* scan. REGION is the number of the body among the trace's regions, HASH its hash. Values saved for
 * the gradient are the last SAVES outs of a forward loop, and the last RESTORES stacks of a
 * backward one. */
typedef struct tg_scan_attributes {
    int64_t length, reverse;
    int64_t remat, offload; /* tg_remat; 1: saved floats are in the host's memory */
    int64_t saves, restores;
    int64_t carried, stacked,
        outs; /* operands: carried, stacked, captured; results: carried, outs */
    int64_t region, hash_low, hash_high;
} tg_scan_attributes;

#endif
