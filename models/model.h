/*
 * model.h - reference models: what the harness asks of one.
 *
 * A model is a row of the table (models/table.c) and a file that builds it. An
 * instance owns its variables: parameters and statistics under the framework's
 * names, optimizer state, inputs, hyper-parameters, results. Its step function
 * is the same C code for every mode. Models know runtime/graph and nothing of
 * modes or plugins. Prefix model_; layers are in nn.h.
 */
#ifndef BENCH_MODELS_MODEL_H
#define BENCH_MODELS_MODEL_H

#include "runtime/graph/graph.h"

typedef struct model model;

typedef enum model_layout { MODEL_NHWC, MODEL_NCHW } model_layout;

typedef enum model_optimizer {
    MODEL_OPTIMIZER_DEFAULT, /* the one that the model is trained with */
    MODEL_SGD,               /* with momentum */
    MODEL_ADAMW
} model_optimizer;

typedef struct model_options {
    bool small;                /* the reduced variant of the golden data */
    bool train;                /* a training step; else inference */
    bool pad;                  /* rows end in padding (model_padded_length); language models */
    bool no_dropout;           /* training as if every dropout had probability 0 */
    int batch;                 /* 0: the model's default */
    int image;                 /* pixels a side; 0: the model's default */
    int seq;                   /* tokens a row; 0: the model's default */
    tg_dtype dtype;            /* TG_F32 or TG_BF16: parameters and arithmetic */
    model_layout layout;       /* of images inside the model */
    uint64_t seed;             /* of weights and inputs; 0: 1, the golden data's */
    model_optimizer optimizer; /* of a training step */
    double learning_rate;      /* 0: the model's default, or the optimizer's */
    bool keep_gradients;       /* gradients as results, for verification; training only */
    bool keep_stages;          /* outputs of the inner modules as results */
} model_options;

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
    MODEL_STATE,     /* of the optimizer, of the generator of random bits */
    MODEL_INPUT,     /* a batch's tensor */
    MODEL_SCALAR,    /* learning rate: an input that changes without recompiling */
    MODEL_RESULT,    /* "loss", "logits", "grad/<parameter>", "stage/<module>" */
    MODEL_ROLE_COUNT
} model_role;

/* How initial contents are made (models/init.c; the rule of the golden data). */
typedef enum model_fill {
    MODEL_FILL_ZERO,
    MODEL_FILL_CONSTANT, /* FILL_LOW */
    MODEL_FILL_W6,       /* v * sqrt(6 / fan) */
    MODEL_FILL_W3,
    MODEL_FILL_EMBEDDING,
    MODEL_FILL_POSITION,
    MODEL_FILL_NORM,
    MODEL_FILL_NORM_RESIDUAL,
    MODEL_FILL_BIAS,
    MODEL_FILL_MEAN,
    MODEL_FILL_VARIANCE,
    MODEL_FILL_UNIT,  /* v, in [-1, 1) */
    MODEL_FILL_IDS,   /* FILL_LOW + floor(u * (FILL_HIGH - FILL_LOW)) */
    MODEL_FILL_HALF,  /* FILL_LOW in the first half of a row, FILL_HIGH in the rest */
    MODEL_FILL_TABLE, /* TABLE(VARIABLE, index), which may look at FILL_LOW and FILL_HIGH */
    MODEL_FILL_SEED,  /* the seed, then zeros: a generator's state */
    MODEL_FILL_COUNT
} model_fill;

typedef struct model_variable model_variable;

/* What a (batch, tokens) input holds at some positions in place of its fill. */
typedef struct model_mask {
    bool sparse; /* only positions t with t % 7 == 3 keep the fill, others are ELSEWHERE */
    bool padded; /* positions from the row's length on are PAD_VALUE */
    double elsewhere, pad_value;
    const int32_t *lengths; /* [row]; NULL: model_padded_length */
} model_mask;

/* Dimension 1 of a variable, in a model whose batches vary in length. */
typedef enum model_length {
    MODEL_LENGTH_FIXED,
    MODEL_LENGTH_SOURCE, /* the longest source row of the batch */
    MODEL_LENGTH_TARGET, /* the longest target row */
    MODEL_LENGTH_COUNT
} model_length;

/* Tokens of row ROW that are not padding, of TOKENS: TOKENS - (ROW % 3) *
 * floor(TOKENS / 4). */
int64_t model_padded_length(int64_t row, int64_t tokens);

/* One variable of an instance. SHAPE is the framework's; device dimension i is
 * framework dimension PERMUTATION[i]. */
struct model_variable {
    tg_tensor *tensor;
    const char *name;
    model_role role;
    model_fill fill;
    double fill_low, fill_high;
    double (*table)(const model_variable *variable, int64_t index); /* MODEL_FILL_TABLE */
    model_mask mask;
    model_length length; /* what dimension 1 is, where batches vary */
    tg_type shape;
    int permutation[TG_MAX_RANK];
};

/* What `bench list models` prints; INDEX from 0 until false. */
typedef struct model_info {
    const char *name, *summary, *source, *family;
    int default_batch, default_image, default_seq; /* image or seq is 0: the model has none */
    int golden_batch;                              /* of the golden data */
    bool pads;                                     /* takes the option pad */
    bool has_small;                                /* there is a reduced variant */
    bool varies;                                   /* batches may differ in length */
} model_info;
bool model_describe(size_t index, model_info *info);

/* An instance of the model called NAME. BN_NOT_FOUND lists the names known;
 * BN_INVALID names the option that it cannot honour. */
BN_MUST_USE bn_code model_new(const char *name, const model_options *options, model **instance,
                              bn_status *st);
void model_free(model *instance); /* NULL allowed; device data must be gone */

const model_options *model_get_options(const model *instance); /* defaults filled in */
const model_variable *model_variables(const model *instance, size_t *count);
/* The variable called NAME, or NULL. */
const model_variable *model_find(const model *instance, const char *name);
/* Elements of all parameters; tied ones count once. */
int64_t model_parameter_elements(const model *instance);
/*
 * Multiply-adds of one forward pass of INSTANCE's batch in matrix products and
 * convolutions, what the field calls MACs (half of what PyTorch's flop counter
 * says). Traced, not executed. What a static shape computes and a framework's
 * dynamic one skips (experts that no token chose) is not counted.
 */
BN_MUST_USE bn_code model_forward_macs(model *instance, double *macs, bn_status *st);

/* Other names that files give parameter NAME ("tied" tensors); INDEX from 0,
 * NULL after the last. */
const char *model_alias(const model *instance, const char *name, size_t index);

/*
 * Gives the inputs and results of INSTANCE, a model that varies, the shapes of batch
 * NUMBER of its seed, and the inputs their rows' lengths; model_initial then makes
 * contents, under whatever seed it is given. The variables concerned must hold no
 * data. With BUCKETS above 0 both dimensions are the smallest of that many lengths,
 * evenly spaced up to the option seq, that holds the batch.
 *
 * A source row has round(exp(N(ln(seq / 2), 1/2))) tokens, its target row that times
 * exp(N(0, 0.15)), both brought into 4 to seq (or 1 to seq where seq is under 4):
 * lengths of sentences are about log-normal (Williams, Biometrika 31, 1940). The
 * median and the spreads are ours.
 */
BN_MUST_USE bn_code model_draw_batch(model *instance, uint64_t number, int buckets, bn_status *st);

/*
 * The step function: traces one step of INSTANCE (a model *), its phases
 * included. Allocates nothing and looks nothing up. Only shapes, dtypes, layout
 * and what is kept decide what it traces: never the seed or the learning rate.
 */
void model_step(tg_trace *trace, void *instance);

/*
 * Initial contents of VARIABLE by the counter rule, in the device's shape and
 * dtype: HOST has room for tg_type_bytes of the tensor's type. Deterministic in
 * name, seed and shape. BN_NOT_SUPPORTED for dtypes other than f32, bf16, i32 and
 * u64, which no model has.
 */
BN_MUST_USE bn_code model_initial(const model_variable *variable, uint64_t seed, void *host,
                                  bn_status *st);
/* Element INDEX of the rule's u, in [0, 1), for tensor NAME. */
double model_unit(const char *name, uint64_t seed, uint64_t index);
/* Device contents HOST (the tensor's type) as doubles in the framework's shape
 * and order; VALUES has room for all elements. */
void model_to_framework(const model_variable *variable, const void *host, double *values);

#endif
