/*
 * nn.h - layers, losses and optimizers: what models are written in.
 *
 * A layer is a plain struct and two functions. NN_*_new runs once, when an
 * instance is built: it makes the layer's variables under the framework's names
 * and works out all that does not change (windows, constants, layout). The
 * other, named as PyTorch names the layer, runs in every step: it only appends
 * ops to the trace, allocates nothing and looks nothing up.
 *
 * While building, errors stick to the model as errors of ops stick to a trace:
 * the first one is kept, with the path of the layer, and the rest does nothing.
 * Strings given as names must be literals or live as long as the instance.
 *
 * Shapes in comments: B batch, H height, W width, C channels. They are written
 * for MODEL_NHWC; under MODEL_NCHW the same tensor is (B, C, H, W).
 *
 * Prefix nn_.
 */
#ifndef BENCH_MODELS_NN_H
#define BENCH_MODELS_NN_H

#include "models/model.h"

/* ---- building ----------------------------------------------------------- */

/* An image between two layers, without the batch. */
typedef struct nn_image {
    int64_t channels, height, width;
} nn_image;

/* Names what follows "NAME." within the enclosing module, until nn_leave. */
void nn_enter(model *m, const char *name);
void nn_leave(model *m);

/* Memory of the instance, zeroed; NULL after putting an error on M. */
void *nn_alloc(model *m, size_t count, size_t size);
/* A copy of TEXT that lives as long as the instance; "" without memory. */
const char *nn_name(model *m, const char *text);
/* Puts an error on M, after the path in force; the first one stays. */
void nn_fail(model *m, bn_code code, const char *format, ...) BN_PRINTF(3, 4);

/*
 * Adds a variable to M. SPEC has role, fill and the framework's shape, an
 * all-zero permutation meaning none, and a name: parameters and statistics are
 * named within the enclosing module, all others as they are. Returns the
 * variable, or NULL after putting an error on M.
 */
tg_tensor *nn_variable(model *m, const model_variable *spec);
/* A parameter in the model's dtype, laid out as the framework has it. */
tg_tensor *nn_parameter(model *m, const char *name, model_fill fill, int32_t rank,
                        const int64_t *dims);

/*
 * The output of the module NAME (NULL: the enclosing one) as result
 * "stage/<path>"; NULL, which nn_keep skips, unless stages are asked for.
 * nn_stage is for images, nn_row_stage for (B, COUNT).
 */
tg_tensor *nn_stage(model *m, const char *name, nn_image image);
tg_tensor *nn_row_stage(model *m, const char *name, int64_t count);
/* Makes X the contents of the result VARIABLE (NULL allowed); returns X. */
tg_tensor *nn_keep(tg_trace *t, tg_tensor *variable, tg_tensor *x);

/* ---- convolution (nn_conv.c) --------------------------------------------- */

typedef struct nn_conv_spec {
    int out; /* channels */
    int kernel, padding;
    int stride, dilation, groups; /* 0 means 1 */
    bool bias;
} nn_conv_spec;

typedef struct nn_conv {
    const char *name;
    tg_tensor *weight; /* framework (out, in/groups, kh, kw); NHWC keeps (kh, kw, in/groups, out) */
    tg_tensor *bias;   /* (out), or NULL */
    tg_conv_dims dims;
} nn_conv;

nn_image nn_conv2d_new(model *m, nn_conv *layer, const char *name, nn_image in, nn_conv_spec spec);
/* (B, H, W, in) -> (B, H', W', out) */
tg_tensor *nn_conv2d(tg_trace *t, const nn_conv *layer, tg_tensor *x);

/* ---- batch normalisation (nn_norm.c) -------------------------------------- */

typedef struct nn_norm_spec {
    bool residual;   /* the last one of a residual branch: weights near 1/4 */
    double epsilon;  /* 0 means 1e-5 */
    double momentum; /* share of the new batch in the running statistics; 0 means 0.1 */
} nn_norm_spec;

/*
 * All (C). WEIGHT and BIAS have the model's dtype. The running statistics are
 * f32 in every model, and so is the arithmetic: a bf16 input is converted, and
 * the result converted back.
 */
typedef struct nn_norm {
    const char *name;
    tg_tensor *weight, *bias;
    tg_tensor *running_mean, *running_variance;
    double epsilon;
    double keep;           /* 1 - momentum */
    double mean_share;     /* momentum */
    double variance_share; /* momentum * n / (n - 1): the unbiased variance of n values */
    int feature;           /* dimension of channels */
    bool train;
} nn_norm;

nn_image nn_batch_norm2d_new(model *m, nn_norm *layer, const char *name, nn_image in,
                             nn_norm_spec spec);
/* (B, H, W, C) -> (B, H, W, C). In training normalises by the batch and updates
 * the running statistics, these in phase TG_PHASE_STATISTICS. */
tg_tensor *nn_batch_norm2d(tg_trace *t, const nn_norm *layer, tg_tensor *x);

/* ---- pooling (nn_pool.c) ---------------------------------------------------- */

typedef struct nn_pool {
    const char *name;
    tg_window window;
} nn_pool;

/* KERNEL, STRIDE and PADDING on both sides; padding never wins. */
nn_image nn_max_pool2d_new(model *m, nn_pool *layer, const char *name, nn_image in, int kernel,
                           int stride, int padding);
/* (B, H, W, C) -> (B, H', W', C) */
tg_tensor *nn_max_pool2d(tg_trace *t, const nn_pool *layer, tg_tensor *x);

/* Mean over the image, (B, H, W, C) -> (B, 1, 1, C); bf16 is summed in f32. */
tg_tensor *nn_global_avg_pool2d(tg_trace *t, model_layout layout, tg_tensor *x);
/* (B, H, W, C) -> (B, C*H*W), elements in the framework's order. */
tg_tensor *nn_flatten(tg_trace *t, model_layout layout, tg_tensor *x);

/* ---- dense layers (nn_dense.c) ------------------------------------------------ */

typedef struct nn_dense {
    const char *name;
    tg_tensor *weight; /* (out, in) */
    tg_tensor *bias;   /* (out), or NULL */
} nn_dense;

void nn_linear_new(model *m, nn_dense *layer, const char *name, int64_t in, int64_t out, bool bias);
/* (B, in) -> (B, out) */
tg_tensor *nn_linear(tg_trace *t, const nn_dense *layer, tg_tensor *x);

/* max(x, 0) */
tg_tensor *nn_relu(tg_trace *t, tg_tensor *x);

/* ---- losses (loss.c) ------------------------------------------------------------ */

/* (B, K) -> (B, K): logarithm of the softmax of each row; bf16 becomes f32. */
tg_tensor *nn_log_softmax(tg_trace *t, tg_tensor *logits);
/* Mean over rows of -log softmax at the target; TARGETS is one-hot, f32 (B, K). */
tg_tensor *nn_cross_entropy(tg_trace *t, tg_tensor *logits, tg_tensor *targets);
/* Integer LABELS (B) -> f32 (B, CLASSES), one 1 a row. */
tg_tensor *nn_one_hot(tg_trace *t, tg_tensor *labels, int64_t classes);

/* Image classification: the batch's tensors and the results of a step. */
typedef struct nn_classifier {
    tg_tensor *images; /* "input", framework (B, 3, H, W) */
    tg_tensor *labels; /* "labels", i32 (B); NULL when no loss is wanted */
    tg_tensor *logits; /* result (B, classes) in the model's dtype, or NULL */
    tg_tensor *loss;   /* result, f32 scalar, or NULL */
    int64_t classes;
} nn_classifier;

void nn_classifier_new(model *m, nn_classifier *task, nn_image image, int64_t classes);
/* In phase TG_PHASE_INPUT: one-hot targets of the batch; NULL without labels. */
tg_tensor *nn_classifier_targets(tg_trace *t, const nn_classifier *task);
/* Ends the forward pass: assigns the results; returns the loss, or NULL. */
tg_tensor *nn_classifier_end(tg_trace *t, const nn_classifier *task, tg_tensor *logits,
                             tg_tensor *targets);

/* ---- optimizers (optimizer.c) ------------------------------------------------------ */

/* Stochastic gradient descent with momentum, as PyTorch's SGD:
 * b = momentum * b + g;  p = p - rate * b. */
typedef struct nn_sgd {
    tg_tensor **parameters;
    tg_tensor **momenta;
    size_t count;
    tg_tensor *rate; /* "learning_rate", f32 scalar variable */
    double momentum;
    tg_dtype dtype; /* of parameters and momenta */
} nn_sgd;

/* Over all parameters that M has so far; momenta start at zero. */
void nn_sgd_new(model *m, nn_sgd *optimizer, double rate, double momentum);
/* GRADIENTS has one tensor a parameter. In phase TG_PHASE_UPDATE. */
void nn_sgd_step(tg_trace *t, const nn_sgd *optimizer, tg_tensor *const *gradients);

#endif
