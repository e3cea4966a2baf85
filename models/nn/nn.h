/*
 * nn.h - layers, losses and optimizers: what models are written in.
 *
 * A layer is a plain struct and two functions. NN_*_new runs once, when an
 * instance is built: it makes the layer's variables under the framework's names
 * and works out all that does not change (windows, constants, layout). The
 * other, named as PyTorch names the layer, runs in every step: it only appends
 * ops to the trace, allocates nothing and looks nothing up.
 *
 * Errors stick: to the instance while it is built (instance.h), to the trace in a step.
 *
 * Shapes in comments: B batch, H height, W width, C channels. They are written
 * for MODEL_NHWC; under MODEL_NCHW the same tensor is (B, C, H, W). T and S are
 * tokens a row, D width, N heads, E width of a head, V vocabulary. Layers of
 * language models read sizes off their operands: a batch may have another length
 * than the one before.
 *
 * Prefix nn_.
 */
#ifndef BENCH_MODELS_NN_H
#define BENCH_MODELS_NN_H

#include "models/nn/instance.h"
#include "runtime/graph/places.h"

/* ---- convolution (conv.c) --------------------------------------------- */

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

/* ---- batch normalisation (batch_norm.c) -------------------------------------- */

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

/* ---- pooling (pool.c) ---------------------------------------------------- */

typedef struct nn_pool {
    const char *name;
    tg_window window;
} nn_pool;

/* PADDING stands on both sides and is never the maximum. */
typedef struct nn_pool_spec {
    int kernel, stride, padding;
    bool ceil; /* a last window that reaches over the end counts (PyTorch's ceil_mode) */
} nn_pool_spec;
nn_image nn_max_pool2d_new(model *m, nn_pool *layer, const char *name, nn_image in,
                           nn_pool_spec spec);
/* (B, H, W, C) -> (B, H', W', C) */
tg_tensor *nn_max_pool2d(tg_trace *t, const nn_pool *layer, tg_tensor *x);

/* Means over BINS x BINS parts of the image, as PyTorch cuts it: (B, H, W, C) ->
 * (B, bins, bins, C). An image of that size is returned as it is. bf16 is summed in
 * f32. */
#define NN_MAX_BINS 8
typedef struct nn_adaptive_pool {
    const char *name;
    model_layout layout;
    int bins; /* a side */
} nn_adaptive_pool;
nn_image nn_adaptive_avg_pool2d_new(model *m, nn_adaptive_pool *layer, const char *name,
                                    nn_image in, int bins);
tg_tensor *nn_adaptive_avg_pool2d(tg_trace *t, const nn_adaptive_pool *layer, tg_tensor *x);
/* Mean over the image, (B, H, W, C) -> (B, 1, 1, C); bf16 is summed in f32. */
tg_tensor *nn_global_avg_pool2d(tg_trace *t, model_layout layout, tg_tensor *x);
/* (B, H, W, C) -> (B, C*H*W), elements in the framework's order. */
tg_tensor *nn_flatten(tg_trace *t, model_layout layout, tg_tensor *x);

/* ---- dense layers (dense.c) ------------------------------------------------ */

typedef struct nn_dense {
    const char *name;
    tg_tensor *weight; /* (out, in) */
    tg_tensor *bias;   /* (out), or NULL */
} nn_dense;

void nn_linear_new(model *m, nn_dense *layer, const char *name, int64_t in, int64_t out, bool bias);
/* (..., in) -> (..., out) */
tg_tensor *nn_linear(tg_trace *t, const nn_dense *layer, tg_tensor *x);
/* x W^T and x W^T + b without a layer: WEIGHT (out, in), BIAS (out) or NULL. */
tg_tensor *nn_project(tg_trace *t, tg_tensor *x, tg_tensor *weight, tg_tensor *bias);
/* X + VECTOR and X * VECTOR; VECTOR (D) lies along X's last dimension. */
tg_tensor *nn_add_vector(tg_trace *t, tg_tensor *x, tg_tensor *vector);
tg_tensor *nn_mul_vector(tg_trace *t, tg_tensor *x, tg_tensor *vector);

/* X in DTYPE; returns X itself where that is its dtype. */
tg_tensor *nn_convert(tg_trace *t, tg_tensor *x, tg_dtype dtype);
/* COUNT elements of X from FIRST on along dimension DIM. */
tg_tensor *nn_slice(tg_trace *t, tg_tensor *x, int dim, int64_t first, int64_t count);

/* A table (rows, width) looked up by tokens. */
typedef struct nn_table {
    const char *name;
    tg_tensor *weight;
} nn_table;
void nn_embedding_new(model *m, nn_table *layer, const char *name, int64_t rows, int64_t width);
/* i32 (B, T) -> (B, T, width) */
tg_tensor *nn_embedding(tg_trace *t, const nn_table *layer, tg_tensor *tokens);

tg_tensor *nn_relu(tg_trace *t, tg_tensor *x);      /* max(x, 0) */
tg_tensor *nn_relu6(tg_trace *t, tg_tensor *x);     /* min(max(x, 0), 6) */
tg_tensor *nn_gelu(tg_trace *t, tg_tensor *x);      /* x / 2 (1 + erf(x / sqrt 2)) */
tg_tensor *nn_gelu_tanh(tg_trace *t, tg_tensor *x); /* the approximation by tanh */
tg_tensor *nn_silu(tg_trace *t, tg_tensor *x);      /* x / (1 + e^-x) */

/* ---- dropout (dropout.c) ------------------------------------------------------ */

/*
 * In training: zeroes each element with probability P and divides the others by
 * 1 - P. In inference, and under the option no_dropout: returns X. The mask is made
 * of random bits. Their state is the instance's variable "generator", which each
 * dropout moves on: every step has masks of its own and needs no compilation.
 */
typedef struct nn_drop {
    tg_tensor *generator; /* NULL: nothing is dropped */
    double p;
} nn_drop;
void nn_dropout_new(model *m, nn_drop *layer, double p);
tg_tensor *nn_dropout(tg_trace *t, const nn_drop *layer, tg_tensor *x);

/* ---- sequences (sequence.c) ---------------------------------------------------- */

/*
 * Modules "0", "1", ... of the module NAME, each fed by the one before, as
 * PyTorch's Sequential. Between nn_sequence_begin and nn_sequence_end an nn_append_*
 * makes the next one from IN, its input image, and returns its output image; an image of height 0
 * stands for rows (B, channels). With STAGES the
 * outputs of its modules, and its own, are stages. Items live as long as the instance.
 */
typedef struct nn_item nn_item;
typedef struct nn_sequence {
    const char *name;
    nn_item *first, *last;
    int count;
    bool stages;
    tg_tensor *stage;
} nn_sequence;

void nn_sequence_begin(model *m, nn_sequence *s, const char *name, bool stages);
nn_image nn_sequence_end(model *m, nn_sequence *s, nn_image out); /* returns OUT */
/* One module after the other on X, in the module's scope. */
tg_tensor *nn_sequential(tg_trace *t, const nn_sequence *s, tg_tensor *x);

nn_image nn_append_conv2d(model *m, nn_sequence *s, nn_image in, nn_conv_spec spec);
nn_image nn_append_batch_norm2d(model *m, nn_sequence *s, nn_image in, nn_norm_spec spec);
nn_image nn_append_relu(model *m, nn_sequence *s, nn_image in);
nn_image nn_append_relu6(model *m, nn_sequence *s, nn_image in);
nn_image nn_append_max_pool2d(model *m, nn_sequence *s, nn_image in, nn_pool_spec spec);
nn_image nn_append_adaptive_avg_pool2d(model *m, nn_sequence *s, nn_image in, int bins);
nn_image nn_append_dropout(model *m, nn_sequence *s, nn_image in, double p);
/* With bias; takes rows and puts out rows. */
nn_image nn_append_linear(model *m, nn_sequence *s, nn_image in, int64_t out);
/* A sequence as the next module of S: begun by nn_sequence_begin_inner, ended and appended by
 * nn_append_sequence. */
nn_sequence *nn_sequence_begin_inner(model *m, const nn_sequence *s);
nn_image nn_append_sequence(model *m, nn_sequence *s, nn_sequence *inner, nn_image out);

/*
 * The step of a module: appends to T the ops that make the module's output out of X, and
 * returns it. X and the output have the model's dtype and the shapes of the images that
 * nn_append_* was given. LAYER is the one that the module was appended with; it is only read.
 * Opens the module's scope itself. Called in every step: allocates nothing and looks
 * nothing up. Errors stick to T.
 */
typedef tg_tensor *nn_module(tg_trace *t, const void *layer, tg_tensor *x);
/* A module of the model's own as the next one of S. LAYER, which must live as long as the
 * instance, was built under the name that nn_next_name gave; FORWARD puts out OUT. */
const char *nn_next_name(model *m, const nn_sequence *s);
nn_image nn_append(model *m, nn_sequence *s, nn_module *forward, const void *layer, nn_image out);

/* ---- like layers (layers.c) ------------------------------------------------------- */

/*
 * Layers "0", "1", ... that differ in their parameters only, each fed by the one before. Where
 * the model is built, each layer stands between nn_layer_enter, which returns what its scope
 * is called, and nn_layer_leave; nn_layers_new follows the last one. In a step nn_run_layers
 * runs them: one by one, or, under the option scan, as one loop (tg_scan), where parameters
 * and stages of all layers are stacked, each layer under names of its own.
 *
 * Dropout moves the generator on from layer to layer in the same order in both.
 */
#define NN_LAYER_STAGES 4
typedef struct nn_layers {
    int count;
    tg_tensor **stacks; /* parameters; NULL: one by one */
    size_t stack_count;
    tg_tensor *stages[NN_LAYER_STAGES];
    size_t stage_count;
    tg_tensor *generator; /* or NULL */
    tg_remat remat;       /* of the loop, as OFFLOAD */
    bool offload;
} nn_layers;

const char *nn_layer_enter(model *m, int number, int count);
void nn_layer_leave(model *m);
void nn_layers_new(model *m, nn_layers *layers, int count);

/* Traces layer NUMBER on X and returns what it puts out, of X's type. CONTEXT is the caller's
 * of nn_run_layers. T may be the body of a loop, in which layer 0 stands for all: it assigns only
 * the layer's stages and, by dropout, the generator. */
typedef tg_tensor *nn_layer(tg_trace *t, const void *context, int number, tg_tensor *x);
tg_tensor *nn_run_layers(tg_trace *t, const nn_layers *layers, nn_layer *step, const void *context,
                         tg_tensor *x);

/* ---- normalisation of rows (row_norm.c) --------------------------------------- */

/* Both normalise in f32 whatever the model's dtype. */
typedef struct nn_row_norm {
    const char *name;
    tg_tensor *weight, *bias; /* (D); RMS norms have no bias */
    double epsilon;
} nn_row_norm;
/* (x - mean) / sqrt(biased variance + epsilon) * weight + bias over the last dimension. */
void nn_layer_norm_new(model *m, nn_row_norm *layer, const char *name, int64_t width,
                       double epsilon);
tg_tensor *nn_layer_norm(tg_trace *t, const nn_row_norm *layer, tg_tensor *x);
/* x / sqrt(mean of squares + epsilon) * weight (Zhang and Sennrich, 2019); the product
 * with the weight is in the model's dtype. */
void nn_rms_norm_new(model *m, nn_row_norm *layer, const char *name, int64_t width, double epsilon);
tg_tensor *nn_rms_norm(tg_trace *t, const nn_row_norm *layer, tg_tensor *x);
/* Mean over the last dimension of X (f32), broadcast to X's shape. */
tg_tensor *nn_row_mean(tg_trace *t, tg_tensor *x);

/* ---- attention (attention.c) ------------------------------------------------------ */

/* (B, T, N * E) -> (B, T, N, E) and back. */
tg_tensor *nn_split_heads(tg_trace *t, tg_tensor *x, int64_t heads);
tg_tensor *nn_join_heads(tg_trace *t, tg_tensor *x);
/* Masks, bool (B, N, T, S): true where a query sees a key. */
/* Each query sees the keys where KEYS, bool (B, S), is true. */
tg_tensor *nn_mask_keys(tg_trace *t, tg_tensor *keys, int64_t heads, int64_t queries);
/* Each query sees the keys of its own and of earlier tokens. */
tg_tensor *nn_mask_causal(tg_trace *t, int64_t batch, int64_t heads, int64_t tokens);
/* bool (B, T): true for tokens that are not PAD. */
tg_tensor *nn_token_mask(tg_trace *t, tg_tensor *tokens, int pad);

/*
 * Scaled dot-product attention (Vaswani et al., 2017): softmax(SCALE q k^T) v, where a
 * score that MASK hides is HIDDEN. Q (B, T, N, E), K and V (B, S, N, E); MASK as above
 * or NULL; DROP (NULL allowed) is applied to the weights. Returns (B, T, N, E). Softmax
 * is in f32.
 */
typedef struct nn_attend {
    double scale, hidden;
    tg_tensor *mask;
    const nn_drop *drop;
} nn_attend;
tg_tensor *nn_attention(tg_trace *t, tg_tensor *q, tg_tensor *k, tg_tensor *v,
                        const nn_attend *how);

/* ---- losses (loss.c) ------------------------------------------------------------ */

/* Along the last dimension; bf16 becomes f32. */
tg_tensor *nn_softmax(tg_trace *t, tg_tensor *x);
tg_tensor *nn_log_softmax(tg_trace *t, tg_tensor *x);
/* Mean over rows of -log softmax at the target; TARGETS is one-hot, f32 (B, K). */
tg_tensor *nn_cross_entropy(tg_trace *t, tg_tensor *logits, tg_tensor *targets);
/* Integer LABELS of any shape -> f32 (shape..., CLASSES), one 1 a row, or none for a
 * label that is no class. */
tg_tensor *nn_one_hot(tg_trace *t, tg_tensor *labels, int64_t classes);
/*
 * Mean over the rows whose label is not IGNORED of
 * (1 - smoothing) * -logp[label] + smoothing * mean over classes of -logp,
 * as PyTorch's cross_entropy. LOGP (..., V) f32, log softmax; LABELS i32 (...).
 */
tg_tensor *nn_token_loss(tg_trace *t, tg_tensor *logp, tg_tensor *labels, int ignored,
                         double smoothing);

/* ---- tasks: the two ends of a step (task.c) ----------------------------------------- */

/* Classification of rows. */
typedef struct nn_classifier {
    tg_tensor *images; /* "input", framework (B, 3, H, W); NULL: rows are no images */
    tg_tensor *labels; /* "labels", i32 (B); NULL when no loss is wanted */
    tg_tensor *logits; /* result (B, classes) in the model's dtype, or NULL */
    tg_tensor *loss;   /* result, f32 scalar, or NULL */
    int64_t classes;
} nn_classifier;

/* Makes the inputs and results of a classifier of images. */
void nn_classifier_new(model *m, nn_classifier *task, nn_image image, int64_t classes);
/* The same for rows that are no images: labels, loss and logits only. */
void nn_row_classifier_new(model *m, nn_classifier *task, int64_t classes);
/* One-hot targets of the batch, f32 (B, classes), made in phase TG_PHASE_INPUT; NULL
 * without labels. */
tg_tensor *nn_classifier_targets(tg_trace *t, const nn_classifier *task);
/* Ends the forward pass: LOGITS (B, classes), TARGETS as above. Assigns the results;
 * returns the loss, or NULL without targets. */
tg_tensor *nn_classifier_end(tg_trace *t, const nn_classifier *task, tg_tensor *logits,
                             tg_tensor *targets);

/*
 * Decoding, one token of each row a step, all of it on the device (decode.c). A step computes the
 * token at "position", of all rows the same: that of the prompt where it reaches so far, else
 * "next_token", which the step before chose, the one of the largest logit. So the first steps fill
 * the cache from the prompt, and no step needs a program of its own. After the last position of the
 * cache the next step is at the first one behind the prompt, so that any number of steps can run.
 *
 * The state is variables that each step assigns: position, next_token, and the layers' caches. All
 * that a step needs of the steps before is in them, so a loop over steps can bind them (tg_bind).
 */
typedef struct nn_decode {
    tg_tensor *position;   /* i32 scalar, from 0; NULL: no decoding */
    tg_tensor *next_token; /* i32 (B) */
    int64_t context;       /* positions of the cache, S */
} nn_decode;

/* Keys and values of all positions, in the model's dtype; those behind the position are not used.
 */
typedef struct nn_cache {
    tg_tensor *keys, *values; /* (B, K, S, E), K heads; NULL: no decoding */
} nn_cache;
/* The state of decoding. */
void nn_decode_new(model *m, nn_decode *decode);
/* The step's token of each row, i32 (B, 1); PROMPT is i32 (B, P). */
tg_tensor *nn_decode_token(tg_trace *t, const nn_decode *decode, tg_tensor *prompt);
/* The row of TABLE (S, D) that belongs to the position, (1, D). */
tg_tensor *nn_decode_row(tg_trace *t, const nn_decode *decode, tg_tensor *table);
/* Ends the step: chooses the next token by LOGITS (B, 1, V), of equal ones the first, and moves the
 * position on. */
void nn_decode_end(tg_trace *t, const nn_decode *decode, tg_tensor *prompt, tg_tensor *logits);
/* The cache of the enclosing module, of HEADS heads of WIDTH; nothing without the option decode. */
void nn_cache_new(model *m, nn_cache *cache, int64_t heads, int64_t width);
/*
 * Attention of the step's token to all up to it. Q (B, 1, N, E), K and V (B, 1, K, E) of that
 * token, which are put into the cache; N is a multiple of K, each head of keys serves N / K of
 * queries. SEEN as of nn_decode_seen; SCALE as in nn_attend. Returns (B, 1, N, E). Softmax is in
 * f32.
 */
tg_tensor *nn_attention_cached(tg_trace *t, tg_tensor *q, tg_tensor *k, tg_tensor *v,
                               const nn_cache *cache, const nn_decode *decode, tg_tensor *seen,
                               double scale);
/* bool (B, K, G, S), for K heads of keys that serve G of queries: true up to the position. */
tg_tensor *nn_decode_seen(tg_trace *t, const nn_decode *decode, int64_t batch, int64_t heads,
                          int64_t served);

/* Causal language models: the next token of each position. */
typedef struct nn_causal {
    tg_tensor *tokens; /* "input_ids", i32 (B, T); with decode the prompt */
    tg_tensor *labels; /* "labels", i32 (B, T); NULL when no loss is wanted */
    tg_tensor *loss;   /* result, f32 scalar, or NULL */
    tg_tensor *logits; /* result (B, T, V) in the model's dtype, or NULL; with decode T is 1 */
    nn_decode decode;
} nn_causal;

/* Makes the inputs and results, and the state of decoding. */
void nn_causal_new(model *m, nn_causal *task, int vocabulary);
/* The tokens that the step computes, i32 (B, T): the input, with decode (B, 1). */
tg_tensor *nn_causal_tokens(tg_trace *t, const nn_causal *task);
/* Ends the forward pass: LOGITS (B, T, V). Assigns the results, with decode the next token and
 * position; returns the mean
 * cross-entropy over the positions whose label is not -100, or NULL without labels.
 * Labels are not shifted. */
tg_tensor *nn_causal_end(tg_trace *t, const nn_causal *task, tg_tensor *logits);

/* ---- optimizers (optimizer.c) ------------------------------------------------------ */

/*
 * SGD with momentum, as PyTorch's: b = 0.9 b + g;  p = p - rate b.
 * AdamW (Loshchilov and Hutter, 2019), as PyTorch's with betas 0.9 and 0.999,
 * epsilon 1e-8 and weight decay 0.01 on every parameter; moments and arithmetic
 * are f32 in every model.
 */
typedef struct nn_optimizer {
    model_optimizer kind;
    tg_tensor **parameters;
    tg_tensor **first;  /* [parameter] momentum, or mean of gradients */
    tg_tensor **second; /* [parameter] AdamW: mean of squared gradients */
    size_t count;
    tg_tensor *step; /* AdamW: updates so far, f32 scalar */
    tg_tensor *rate; /* "learning_rate", f32 scalar variable */
    tg_dtype dtype;  /* of parameters */
} nn_optimizer;

/* Makes the optimizer of all parameters that M has so far; its state starts at zero. */
void nn_optimizer_new(model *m, nn_optimizer *optimizer, model_optimizer kind, double rate);
/* Updates parameters and state, in phase TG_PHASE_UPDATE. GRADIENTS has one tensor a
 * parameter, of its type. */
void nn_optimizer_step(tg_trace *t, const nn_optimizer *optimizer, tg_tensor *const *gradients);

#endif
