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

#include "runtime/graph.h"

typedef struct model model;

typedef enum model_layout { MODEL_NHWC, MODEL_NCHW } model_layout;

typedef struct model_options {
    bool small;           /* the reduced variant of the golden data */
    bool train;           /* a training step; else inference */
    int batch;            /* 0: the model's default, 1 for image models */
    int image;            /* pixels a side; 0: the model's default */
    tg_dtype dtype;       /* TG_F32 or TG_BF16: parameters and arithmetic */
    model_layout layout;  /* of images inside the model */
    uint64_t seed;        /* of weights and inputs; 0: 1, the golden data's */
    double learning_rate; /* 0: the model's default */
    bool keep_gradients;  /* gradients as results, for verification; training only */
    bool keep_stages;     /* outputs of the inner modules as results */
} model_options;

/*
 * Variables of an instance, in this order where they exist:
 *
 *   input            images, in the model's dtype
 *   labels           i32; in training, and in inference with keep_stages
 *   loss             f32 result; where there are labels
 *   logits           result in the model's dtype; in inference, and in training
 *                    with keep_gradients or keep_stages
 *   <parameters and statistics, as the framework orders them>, parameters in
 *                    the model's dtype, statistics in f32
 *   stage/<module>   results in the model's dtype, with keep_stages; each after
 *                    the variables of its module
 *   momentum/<parameter>, learning_rate (f32)   in training
 *   grad/<parameter> results in the parameter's dtype, with keep_gradients
 */
typedef enum model_role {
    MODEL_PARAMETER,
    MODEL_STATISTIC, /* running mean and variance */
    MODEL_OPTIMIZER, /* momentum */
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
    MODEL_FILL_UNIT, /* v, in [-1, 1) */
    MODEL_FILL_IDS,  /* FILL_LOW + floor(u * (FILL_HIGH - FILL_LOW)) */
    MODEL_FILL_COUNT
} model_fill;

/* One variable of an instance. SHAPE is the framework's; device dimension i is
 * framework dimension PERMUTATION[i]. */
typedef struct model_variable {
    tg_tensor *tensor;
    const char *name;
    model_role role;
    model_fill fill;
    double fill_low, fill_high;
    tg_type shape;
    int permutation[TG_MAX_RANK];
} model_variable;

/* What `bench list models` prints; INDEX from 0 until false. */
typedef struct model_info {
    const char *name, *summary, *source, *family;
    int default_batch, default_image;
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
/* Elements of all parameters. */
int64_t model_parameter_elements(const model *instance);

/*
 * The step function: traces one step of INSTANCE (a model *), its phases
 * included. Allocates nothing and looks nothing up. Only shapes, dtypes, layout
 * and what is kept decide what it traces: never the seed or the learning rate.
 */
void model_step(tg_trace *trace, void *instance);

/*
 * Initial contents of VARIABLE by the counter rule, in the device's shape and
 * dtype: HOST has room for tg_type_bytes of the tensor's type. Deterministic in
 * name, seed and shape. BN_NOT_SUPPORTED for dtypes other than f32, bf16 and i32,
 * which no model has.
 */
BN_MUST_USE bn_code model_initial(const model_variable *variable, uint64_t seed, void *host,
                                  bn_status *st);
/* Element INDEX of the rule's u, in [0, 1), for tensor NAME. */
double model_unit(const char *name, uint64_t seed, uint64_t index);
/* Device contents HOST (the tensor's type) as doubles in the framework's shape
 * and order; VALUES has room for all elements. */
void model_to_framework(const model_variable *variable, const void *host, double *values);

#endif
