/* samples_contract.c - samples of dot, convolution and batch normalisation. */
#include "tests/support/samples.h"

/* ---- dot ----------------------------------------------------------------------------- */

static tg_tensor *dot(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    tg_trace_set_precision(t, s->precision);
    tg_tensor *y = tg_dot(t, x[0], x[1], &s->dot);
    tg_trace_set_precision(t, TG_PRECISION_DEFAULT);
    return y;
}

static tg_tensor *matmul(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_matmul(t, x[0], x[1]);
}

#define TWO(a, b) .count = 2, .in = {{a, 0, 0, false}, {b, 0, 0, false}}
#define MATMUL(dtype_)                                                                             \
    {                                                                                              \
        .op = "dot", TWO(TYPE(dtype_, 2, 3, 4), TYPE(dtype_, 2, 4, 5)), .flops = 2 * 3 * 4 * 5,    \
        .build = matmul                                                                            \
    }

/* ---- convolution ----------------------------------------------------------------------- */

static tg_tensor *convolution(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    tg_trace_set_precision(t, s->precision);
    tg_tensor *y = tg_convolution(t, x[0], x[1], &s->conv);
    tg_trace_set_precision(t, TG_PRECISION_DEFAULT);
    return y;
}

#define CONV(x, w, flops_)                                                                         \
    .op = "convolution", .count = 2, .in = {{x, 0, 0, false}, {w, 0, 0, false}}, .flops = flops_,  \
    .build = convolution
/* (N, H, W, C) with (H, W, I, O), and (N, C, H, W) with (O, I, H, W). */
#define NHWC                              .lhs = {0, 3, 1, 2}, .rhs = {2, 3, 0, 1}, .out = {0, 3, 1, 2}
#define NCHW                              .lhs = {0, 1, 2, 3}, .rhs = {1, 0, 2, 3}, .out = {0, 1, 2, 3}
#define STRIDE(h, w)                      .stride = {h, w}
#define PAD(h_low, h_high, w_low, w_high) .pad_low = {h_low, w_low}, .pad_high = {h_high, w_high}
#define DILATE(lhs_, rhs_)                .lhs_dilation = {lhs_, lhs_}, .rhs_dilation = {rhs_, rhs_}
#define GROUPS(feature_, batch_)          .groups = feature_, .batch_groups = batch_

#define CONV_3X3(dtype_, precision_)                                                               \
    {                                                                                              \
        CONV(TYPE(dtype_, 4, 2, 5, 4, 3), TYPE(dtype_, 4, 3, 3, 3, 2), 2 * (2 * 5 * 4 * 2) * 27),  \
            .conv = {NHWC, STRIDE(1, 1), PAD(1, 1, 1, 1), DILATE(1, 1), GROUPS(1, 1)},             \
            .precision = precision_                                                                \
    }

/* ---- batch normalisation ----------------------------------------------------------------- */

static tg_tensor *training(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    tg_tensor *mean, *variance;
    return tg_batch_norm_training(t, x[0], x[1], x[2], s->value, s->number, &mean, &variance);
}

static tg_tensor *inference(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_batch_norm_inference(t, x[0], x[1], x[2], x[3], x[4], s->value, s->number);
}

/* Operands: x, scale, mean, variance, gradient of the output. */
static tg_tensor *norm_grad(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    tg_tensor *scale, *offset;
    return tg_batch_norm_grad(t, x[0], x[1], x[2], x[3], x[4], s->value, s->number, &scale,
                              &offset);
}

#define PARAMETER(dtype_)                                                                          \
    {                                                                                              \
        TYPE(dtype_, 1, 3), 0.5, 2, false                                                          \
    }
#define NHWC_X(dtype_)                                                                             \
    {                                                                                              \
        TYPE(dtype_, 4, 2, 4, 3, 3), 0, 0, false                                                   \
    }
#define NCHW_X(dtype_)                                                                             \
    {                                                                                              \
        TYPE(dtype_, 4, 2, 3, 4, 3), 0, 0, false                                                   \
    }
#define TRAINING(x, dtype_, feature_)                                                              \
    {                                                                                              \
        .op = "batch_norm_training", .count = 3, .in = {x, PARAMETER(dtype_), PARAMETER(dtype_)},  \
        .flops = 7 * 72, .build = training, .value = 1e-3, .number = feature_                      \
    }
#define INFERENCE(x, dtype_, feature_)                                                             \
    {                                                                                              \
        .op = "batch_norm_inference", .count = 5,                                                  \
        .in = {x, PARAMETER(dtype_), PARAMETER(dtype_), PARAMETER(dtype_), PARAMETER(dtype_)},     \
        .flops = 3 * 72, .build = inference, .value = 1e-3, .number = feature_                     \
    }
#define NORM_GRAD(x, dtype_, feature_)                                                             \
    {                                                                                              \
        .op = "batch_norm_grad", .count = 5,                                                       \
        .in = {x, PARAMETER(dtype_), PARAMETER(dtype_), PARAMETER(dtype_), x}, .flops = 8 * 72,    \
        .build = norm_grad, .value = 1e-3, .number = feature_                                      \
    }

const sample samples_contract[] = {
    MATMUL(TG_F32),
    MATMUL(TG_BF16),
    MATMUL(TG_F16),
    MATMUL(TG_I32),
    {.op = "dot",
     TWO(TYPE(TG_F32, 3, 2, 3, 4), TYPE(TG_F32, 2, 4, 5)),
     .flops = 2 * 6 * 4 * 5,
     .build = matmul},
    {.op = "dot", TWO(TYPE(TG_F32, 1, 6), TYPE(TG_F32, 1, 6)), .flops = 12, .build = matmul},
    /* A transposed, then both; the gradient of B needs a transposition. */
    {.op = "dot",
     TWO(TYPE(TG_F32, 2, 4, 3), TYPE(TG_F32, 2, 4, 5)),
     .flops = 120,
     .build = dot,
     .dot = {.contract_count = 1},
     .precision = TG_PRECISION_HIGHEST},
    {.op = "dot",
     TWO(TYPE(TG_F32, 2, 4, 3), TYPE(TG_F32, 2, 5, 4)),
     .flops = 120,
     .build = dot,
     .dot = {.contract_count = 1, .contract_b = {1}},
     .precision = TG_PRECISION_HIGH},
    /* Batch dimensions in odd places. */
    {.op = "dot",
     TWO(TYPE(TG_F32, 3, 2, 3, 4), TYPE(TG_F32, 3, 5, 4, 2)),
     .flops = 2 * 2 * 3 * 4 * 5,
     .build = dot,
     .dot = {.batch_count = 1,
             .batch_b = {2},
             .contract_count = 1,
             .contract_a = {2},
             .contract_b = {1}}},
    {.op = "dot",
     TWO(TYPE(TG_F32, 4, 2, 3, 4, 5), TYPE(TG_F32, 4, 3, 6, 2, 5)),
     .flops = 2 * 2 * 3 * 4 * 6 * 5,
     .build = dot,
     .dot = {.batch_count = 2,
             .batch_a = {1, 0},
             .batch_b = {0, 2},
             .contract_count = 1,
             .contract_a = {3},
             .contract_b = {3}}},
    /* Attention, (B, H, T, C): scores of queries and keys, then weights and values. */
    {.op = "dot",
     TWO(TYPE(TG_F32, 4, 2, 3, 4, 5), TYPE(TG_F32, 4, 2, 3, 6, 5)),
     .flops = 2 * 2 * 3 * 4 * 6 * 5,
     .build = dot,
     .dot = {.batch_count = 2,
             .batch_a = {0, 1},
             .batch_b = {0, 1},
             .contract_count = 1,
             .contract_a = {3},
             .contract_b = {3}}},
    {.op = "dot",
     TWO(TYPE(TG_BF16, 4, 2, 3, 4, 6), TYPE(TG_BF16, 4, 2, 3, 6, 5)),
     .flops = 2 * 2 * 3 * 4 * 6 * 5,
     .build = dot,
     .dot = {.batch_count = 2,
             .batch_a = {0, 1},
             .batch_b = {0, 1},
             .contract_count = 1,
             .contract_a = {3},
             .contract_b = {2}}},
    /* Two contracted dimensions, paired crosswise; all of A's; none at all. */
    {.op = "dot",
     TWO(TYPE(TG_F32, 3, 2, 3, 4), TYPE(TG_F32, 3, 4, 5, 3)),
     .flops = 2 * 2 * 5 * 12,
     .build = dot,
     .dot = {.contract_count = 2, .contract_a = {1, 2}, .contract_b = {2, 0}}},
    {.op = "dot",
     TWO(TYPE(TG_F32, 2, 3, 4), TYPE(TG_F32, 3, 4, 5, 3)),
     .flops = 2 * 5 * 12,
     .build = dot,
     .dot = {.contract_count = 2, .contract_a = {1, 0}, .contract_b = {0, 2}}},
    {.op = "dot", TWO(TYPE(TG_F32, 1, 2), TYPE(TG_F32, 2, 3, 2)), .flops = 2 * 12, .build = dot},

    CONV_3X3(TG_F32, TG_PRECISION_DEFAULT),
    CONV_3X3(TG_F32, TG_PRECISION_HIGHEST),
    CONV_3X3(TG_BF16, TG_PRECISION_DEFAULT),
    CONV_3X3(TG_F16, TG_PRECISION_DEFAULT),
    CONV_3X3(TG_I32, TG_PRECISION_DEFAULT),
    {CONV(TYPE(TG_F32, 4, 2, 3, 6, 5), TYPE(TG_F32, 4, 4, 3, 3, 2), 2 * (2 * 4 * 3 * 4) * 18),
     .conv = {NCHW, STRIDE(2, 2), PAD(0, 1, 2, 1), DILATE(1, 1), GROUPS(1, 1)}},
    /* The gradient to the input has rows and columns that nothing reached. */
    {CONV(TYPE(TG_F32, 4, 2, 3, 6, 5), TYPE(TG_F32, 4, 2, 3, 1, 1), 2 * (2 * 2 * 3 * 3) * 3),
     .conv = {NCHW, STRIDE(2, 2), DILATE(1, 1), GROUPS(1, 1)}},
    {CONV(TYPE(TG_F32, 4, 1, 8, 7, 2), TYPE(TG_F32, 4, 3, 2, 2, 3), 2 * (1 * 2 * 3 * 3) * 12),
     .conv = {NHWC, STRIDE(4, 2), PAD(0, 0, 0, 0), DILATE(1, 1), GROUPS(1, 1)}},
    /* More padding than the kernel has room for: negative in the gradient. */
    {CONV(TYPE(TG_F32, 4, 1, 3, 3, 2), TYPE(TG_F32, 4, 2, 2, 2, 1), 2 * (1 * 8 * 6 * 1) * 8),
     .conv = {NHWC, STRIDE(1, 1), PAD(3, 3, 1, 3), DILATE(1, 1), GROUPS(1, 1)}},
    {CONV(TYPE(TG_F32, 4, 2, 4, 5, 5), TYPE(TG_F32, 4, 6, 2, 3, 3), 2 * (2 * 6 * 25) * 18),
     .conv = {NCHW, STRIDE(1, 1), PAD(1, 1, 1, 1), DILATE(1, 1), GROUPS(2, 1)}},
    {CONV(TYPE(TG_F32, 4, 2, 6, 5, 4), TYPE(TG_F32, 4, 3, 3, 2, 6), 2 * (2 * 3 * 3 * 6) * 18),
     .conv = {NHWC, STRIDE(2, 2), PAD(1, 1, 1, 1), DILATE(1, 1), GROUPS(2, 1)}},
    /* Each feature by itself. */
    {CONV(TYPE(TG_F32, 4, 1, 4, 4, 3), TYPE(TG_F32, 4, 3, 3, 1, 3), 2 * (16 * 3) * 9),
     .conv = {NHWC, STRIDE(1, 1), PAD(1, 1, 1, 1), DILATE(1, 1), GROUPS(3, 1)}},
    {CONV(TYPE(TG_F32, 4, 1, 7, 7, 2), TYPE(TG_F32, 4, 3, 3, 2, 2), 2 * (49 * 2) * 18),
     .conv = {NHWC, STRIDE(1, 1), PAD(2, 2, 2, 2), DILATE(1, 2), GROUPS(1, 1)}},
    /* A dilated operand counts its own elements: 3 x 4, not the 5 x 7 of the result. */
    {CONV(TYPE(TG_F32, 4, 1, 3, 4, 2), TYPE(TG_F32, 4, 3, 3, 2, 2), 2 * 2 * 2 * (3 * 3) * (4 * 3)),
     .conv = {NHWC, STRIDE(1, 1), PAD(1, 1, 1, 1), DILATE(2, 1), GROUPS(1, 1)}},
    {CONV(TYPE(TG_F32, 4, 1, 2, 6, 5), TYPE(TG_F32, 4, 2, 2, 2, 2), 2 * 2 * 2 * (6 * 2) * (5 * 2)),
     .conv = {NCHW, STRIDE(3, 3), PAD(-1, 2, -1, 2), DILATE(2, 2), GROUPS(1, 1)}},
    {CONV(TYPE(TG_F32, 4, 4, 5, 5, 3), TYPE(TG_F32, 4, 3, 3, 3, 4), 2 * (2 * 25 * 4) * 27),
     .conv = {NHWC, STRIDE(1, 1), PAD(1, 1, 1, 1), DILATE(1, 1), GROUPS(1, 2)}},
    {CONV(TYPE(TG_F32, 4, 6, 2, 5, 4), TYPE(TG_F32, 4, 3, 2, 2, 3), 2 * (2 * 3 * 2 * 1) * 12),
     .conv = {NCHW, STRIDE(2, 2), DILATE(1, 1), GROUPS(1, 3)}},
    /* Every list of dimension numbers another one. */
    {CONV(TYPE(TG_F32, 4, 4, 2, 5, 3), TYPE(TG_F32, 4, 2, 2, 3, 3), 2 * (3 * 2 * 5 * 2) * 18),
     .conv = {.lhs = {3, 1, 2, 0},
              .rhs = {0, 1, 3, 2},
              .out = {1, 2, 3, 0},
              STRIDE(1, 2),
              PAD(1, 1, 1, 0),
              DILATE(1, 1),
              GROUPS(1, 1)}},
    /* No window fits. */
    {CONV(TYPE(TG_F32, 4, 1, 2, 4, 1), TYPE(TG_F32, 4, 3, 3, 1, 1), 0),
     .conv = {NHWC, STRIDE(1, 1), DILATE(1, 1), GROUPS(1, 1)}},

    TRAINING(NHWC_X(TG_F32), TG_F32, 3),
    TRAINING(NCHW_X(TG_F32), TG_F32, 1),
    TRAINING(NHWC_X(TG_BF16), TG_BF16, 3),
    TRAINING(NCHW_X(TG_F16), TG_F16, 1),
    INFERENCE(NHWC_X(TG_F32), TG_F32, 3),
    INFERENCE(NCHW_X(TG_F32), TG_F32, 1),
    INFERENCE(NHWC_X(TG_BF16), TG_BF16, 3),
    NORM_GRAD(NHWC_X(TG_F32), TG_F32, 3),
    NORM_GRAD(NCHW_X(TG_F32), TG_F32, 1),
    NORM_GRAD(NCHW_X(TG_BF16), TG_BF16, 1),
    {.op = NULL},
};
