/*
 * vocabulary.h - what an instance of a model is asked for, and what it consists of:
 * options and variables. Layers, models and their users share these words.
 *
 * Users include models/model.h, which has them from here. They see an instance from
 * the outside; layers and models see it from the inside (instance.h). Prefix model_.
 */
#ifndef BENCH_MODELS_NN_VOCABULARY_H
#define BENCH_MODELS_NN_VOCABULARY_H

#include "runtime/graph/graph.h"

typedef struct model model;

/* ---- options ----------------------------------------------------------------- */

typedef enum model_layout { MODEL_NHWC, MODEL_NCHW } model_layout;

typedef enum model_optimizer {
    MODEL_OPTIMIZER_DEFAULT, /* the one that the model is trained with */
    MODEL_SGD,               /* with momentum */
    MODEL_ADAMW
} model_optimizer;

typedef struct model_options {
    bool small;                /* the reduced variant of the golden data */
    bool train;                /* a training step; else inference */
    bool decode;               /* a step of inference that decodes one token of each row */
    bool pad;                  /* rows end in padding (model_padded_length); language models */
    bool no_dropout;           /* training as if every dropout had probability 0 */
    int batch;                 /* 0: the model's default */
    int image;                 /* pixels a side; 0: the model's default */
    int seq;                   /* tokens a row; 0: the model's default. With decode: of the prompt,
                                * by default half the context */
    int context;               /* with decode: positions of the cache; 0: the model's default seq */
    int depth;                 /* layers of a decoder; 0: the model's own number */
    bool scan;                 /* like layers as one loop over stacked parameters */
    tg_remat remat;            /* with scan, training: what the loop saves for its gradient */
    bool offload;              /* with scan, training: and that on the host */
    int steps;                 /* steps that one call of the step function traces; 0: 1 */
    tg_dtype dtype;            /* TG_F32 or TG_BF16: parameters and arithmetic */
    model_layout layout;       /* of images inside the model */
    uint64_t seed;             /* of weights and inputs; 0: 1, the golden data's */
    model_optimizer optimizer; /* of a training step */
    double learning_rate;      /* 0: the model's default, or the optimizer's */
    bool keep_gradients;       /* gradients as results, for verification; training only */
    bool keep_stages;          /* outputs of the inner modules as results */
} model_options;

/* ---- variables --------------------------------------------------------------- */

/*
 * Variables of an instance, in this order where they exist:
 *
 *   <inputs>         as the model's source names them; images in the model's
 *                    dtype, tokens i32; those of the loss ("labels", "target",
 *                    ...) only in training, and in inference with keep_stages
 *   loss             f32 result; where there are labels
 *   logits           result in the model's dtype (further outputs by their names);
 *                    in inference, and in training with keep_gradients or
 *                    keep_stages
 *   position, next_token, cache/<module>.keys, cache/<module>.values
 *                    with decode: the state of decoding (nn/nn.h); the caches
 *                    after the parameters of their modules
 *   <parameters and statistics, as the framework orders them>, parameters in
 *                    the model's dtype, statistics in f32; among them buffers:
 *                    tables that the framework computes and does not store
 *   stage/<module>   results in the model's dtype, with keep_stages; each after
 *                    the variables of its module
 *   generator        u64 (2), before the first layer that drops out
 *   momentum/<parameter>, or exp_avg/<parameter> and exp_avg_sq/<parameter>
 *                    (f32) and optimizer_step (f32); learning_rate (f32)
 *                    in training
 *   grad/<parameter> results in the parameter's dtype, with keep_gradients
 */
typedef enum model_role {
    MODEL_PARAMETER,
    MODEL_STATISTIC, /* running mean and variance */
    MODEL_BUFFER,    /* a table that never changes */
    MODEL_STATE,     /* of the optimizer, of the generator of random bits, of decoding */
    MODEL_INPUT,     /* a batch's tensor */
    MODEL_SCALAR,    /* learning rate: an input that changes without recompiling */
    MODEL_RESULT,    /* "loss", "logits", "grad/<parameter>", "stage/<module>" */
    MODEL_ROLE_COUNT
} model_role;

/* How initial contents are made (models/init.c; the rule of the golden data): from u in
 * [0, 1) or v in [-1, 1), which the rule draws for each element. */
typedef enum model_fill {
    MODEL_FILL_ZERO,
    MODEL_FILL_CONSTANT, /* FILL_LOW */
    MODEL_FILL_W6,       /* v * sqrt(6 / fan) */
    MODEL_FILL_W3,       /* v * sqrt(3 / fan) */
    MODEL_FILL_EMBEDDING,
    MODEL_FILL_POSITION,
    MODEL_FILL_NORM,
    MODEL_FILL_NORM_RESIDUAL,
    MODEL_FILL_BIAS,
    MODEL_FILL_MEAN,
    MODEL_FILL_VARIANCE,
    MODEL_FILL_UNIT,  /* v */
    MODEL_FILL_IDS,   /* FILL_LOW + floor(u * (FILL_HIGH - FILL_LOW)) */
    MODEL_FILL_HALF,  /* FILL_LOW in the first half of a row, FILL_HIGH in the rest */
    MODEL_FILL_TABLE, /* what TABLE gives */
    MODEL_FILL_SEED,  /* the seed, then zeros: a generator's state */
    MODEL_FILL_COUNT
} model_fill;

/* Contents of a (batch, tokens) input at some positions, in place of its fill. */
typedef struct model_mask {
    bool sparse; /* only positions t with t % 7 == 3 keep the fill, others are ELSEWHERE */
    bool padded; /* positions from the row's length on are PAD_VALUE */
    double elsewhere, pad_value;
    const int32_t *lengths; /* [row], the instance's; NULL: model_padded_length */
} model_mask;

/* Dimension 1 of a variable, in a model whose batches vary in length. */
typedef enum model_length {
    MODEL_LENGTH_FIXED,
    MODEL_LENGTH_SOURCE, /* the longest source row of the batch */
    MODEL_LENGTH_TARGET, /* the longest target row */
    MODEL_LENGTH_COUNT
} model_length;

typedef struct model_variable model_variable;

/*
 * A table's contents: the value of element INDEX (row-major in the framework's SHAPE)
 * of VARIABLE. It may depend on the variable's shape, FILL_LOW and FILL_HIGH and on
 * nothing else. It is called once for each element, in any order, whenever contents
 * are made, and cannot fail. The caller rounds the value to the variable's dtype.
 */
typedef double model_table(const model_variable *variable, int64_t index);

/*
 * One variable of an instance. SHAPE is the framework's; device dimension i is
 * framework dimension PERMUTATION[i]. The instance owns TENSOR and NAME.
 *
 * Under the option scan like layers share a tensor: TENSOR has LAYERS parts of this shape,
 * one behind the other, and part LAYER is this variable. LAYERS 0: TENSOR is this one alone.
 *
 * Under the option steps inputs and results have a slice for each step: TENSOR is a stack of STEPS
 * tensors that are as just said. STEPS 0: it is not stacked.
 */
struct model_variable {
    tg_tensor *tensor;
    const char *name;
    model_role role;
    model_fill fill;
    double fill_low, fill_high;
    model_table *table; /* MODEL_FILL_TABLE; else NULL */
    model_mask mask;
    model_length length; /* what dimension 1 is, where batches vary */
    int layer, layers;
    int steps;
    tg_type shape;
    int permutation[TG_MAX_RANK];
};

#endif
