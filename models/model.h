/*
 * model.h - reference models: what their users ask of one.
 *
 * A model is a row of the table (models/table.c) and a file that builds it. An
 * instance owns its variables: parameters and statistics under the framework's
 * names, optimizer state, inputs, hyper-parameters, results. Its step function
 * is the same C code for every mode. Models know runtime/graph and nothing of
 * modes or plugins.
 *
 * An instance is for one thread at a time. Options, roles and variables are in
 * models/nn/vocabulary.h, layers in models/nn/nn.h, files of weights in
 * models/weights/weights.h. Prefix model_.
 */
#ifndef BENCH_MODELS_MODEL_H
#define BENCH_MODELS_MODEL_H

#include "models/nn/vocabulary.h"

/* ---- the table of models ------------------------------------------------------- */

/* A row of `bench list models`. Strings are literals. */
typedef struct model_info {
    const char *name, *summary, *source, *family;
    int default_batch, default_image, default_seq; /* image or seq is 0: the model has none */
    int small_image, small_seq;                    /* of the reduced variant */
    model_optimizer optimizer;                     /* that it is trained with */
    int depth, small_depth;                        /* layers of a decoder; 0: none to choose */
    int golden_batch;                              /* of the golden data */
    bool pads;                                     /* takes the option pad */
    bool has_small;                                /* there is a reduced variant */
    bool varies;                                   /* batches may differ in length */
    bool scans;                                    /* takes the option scan */
    bool decodes;                                  /* takes the option decode */
    bool example;                                  /* no reference model */
    bool always_varies;                            /* an example whose batches do so */
} model_info;
/* Describes model INDEX, from 0; false after the last. */
bool model_describe(size_t index, model_info *info);

/* The same of the examples (models/examples), which are models in all else. */
bool model_describe_example(size_t index, model_info *info);
/* Describes the model or example called NAME; false where there is none. */
bool model_describe_named(const char *name, model_info *info);

/* ---- instances (model.c) -------------------------------------------------------- */

/* Builds the model called NAME into *INSTANCE, which the caller frees. BN_NOT_FOUND
 * lists the names known; BN_INVALID names the option that it cannot honour. */
BN_MUST_USE bn_code model_new(const char *name, const model_options *options, model **instance,
                              bn_status *st);
void model_free(model *instance); /* NULL allowed; device data must be gone */

const model_options *model_get_options(const model *instance); /* defaults filled in */
/* All variables, in the order of model_role (vocabulary.h). */
const model_variable *model_variables(const model *instance, size_t *count);
/* The variable called NAME, or NULL. */
const model_variable *model_find(const model *instance, const char *name);
/* Elements of all parameters; tied ones count once. */
int64_t model_parameter_elements(const model *instance);
/* Other names that files give parameter NAME ("tied" tensors); INDEX from 0,
 * NULL after the last. */
const char *model_alias(const model *instance, const char *name, size_t index);
/*
 * Multiply-adds of one forward pass of INSTANCE's batch in matrix products and
 * convolutions, what the field calls MACs (half of what PyTorch's flop counter
 * says). Traced, not executed. What a static shape computes and a framework's
 * dynamic one skips (experts that no token chose) is not counted. BN_NOT_SUPPORTED for
 * an instance of several steps a call.
 */
BN_MUST_USE bn_code model_forward_macs(model *instance, double *macs, bn_status *st);

/*
 * Bytes that one step of INSTANCE, which decodes, has to read: at least the WEIGHTS that its
 * batch's tokens need, and the CACHE, all of it, as the step's shapes do not grow. Of a table that
 * is only looked up by rows, one row a token of the batch; of a mixture, the experts that the batch
 * chooses at most. 0 without the option decode. Over the device's bandwidth it is a bound on the
 * time of a step.
 */
typedef struct model_bytes {
    int64_t weights, cache;
} model_bytes;
model_bytes model_decode_bytes(const model *instance);

/*
 * The step function: traces one step of INSTANCE (a model *) on TRACE, all phases of
 * it, or as many as the option steps says, as one loop over slices of its inputs
 * (loop.c). It leaves the trace in the phase that it found. Allocates nothing and looks
 * nothing up. Errors stick to the trace. Only shapes, dtypes, layout and what is kept
 * decide what it traces: never the seed or the learning rate.
 */
void model_step(tg_trace *trace, void *instance);

/* ---- what an example's steps take of the host (model.c) ------------------------------ */

/* Whether steps take different batches in turns, also where these lie on the device. */
bool model_batches_differ(const model *instance);
/* Whether some batches have floats of another dtype. */
bool model_dtypes_differ(const model *instance);
/* Gives the inputs of INSTANCE, whose dtypes differ, those of batch NUMBER, from 0. Not to be called
 * while they hold contents. */
void model_draw_dtype(model *instance, uint64_t number);
/* Sets the host's arguments of step STEP, from 0. To be called before the step. */
void model_advance(model *instance, uint64_t step);
/* That, *BYTES of it, for mode_call.statics; owned by the instance. NULL: there is none. */
const void *model_statics(const model *instance, size_t *bytes);
/* The argument that byte OFFSET of STATICS belongs to: its name, static, and its value. False where
 * there is none. */
bool model_static_value(const model *instance, const void *statics, size_t offset,
                        const char **name, double *value);
/* From which step on, counted from 1, and then every how many the variable "loss" is read, which
 * holds that of the step before; 0: it is not. */
int model_log_every(const model *instance);
/* Whether the variable "learning_rate" has to be written before step STEP, and with what. */
bool model_scheduled_rate(const model *instance, uint64_t step, float *rate);

/* ---- batches of varying length (lengths.c) ---------------------------------------- */

/*
 * Gives the inputs and results of INSTANCE, a model that varies, the shapes of batch
 * NUMBER of its seed, and the inputs their rows' lengths; model_initial then makes
 * contents, under whatever seed it is given. The variables concerned must hold no
 * data. With BUCKETS above 0 both dimensions are the smallest of that many lengths,
 * evenly spaced up to the option seq, that holds the batch. BN_INVALID where the model
 * does not vary.
 *
 * A source row has round(exp(N(ln(seq / 2), 1/2))) tokens, its target row that times
 * exp(N(0, 0.15)), both brought into 4 to seq (or 1 to seq where seq is under 4):
 * lengths of sentences are about log-normal (Williams, Biometrika 31, 1940). The
 * median and the spreads are ours.
 */
BN_MUST_USE bn_code model_draw_batch(model *instance, uint64_t number, int buckets, bn_status *st);

/* ---- contents of variables (init.c) -------------------------------------------------- */

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
/* Tokens of row ROW that are not padding, of TOKENS, under the option pad: TOKENS -
 * (ROW % 3) * floor(TOKENS / 4). */
int64_t model_padded_length(int64_t row, int64_t tokens);
/* Device contents HOST (the tensor's type) as doubles in the framework's shape
 * and order; VALUES has room for all elements. */
void model_to_framework(const model_variable *variable, const void *host, double *values);

/*
 * Order of a variable's elements: the device's dimensions with the framework's
 * strides, in elements; a scalar has one dimension of 1. Who walks it takes one run of
 * the innermost dimension after the other. Begin with AT all zero and FIRST 0, the
 * framework's index of the run's first element; model_order_next moves AT to the next
 * run and returns its first element's index.
 */
typedef struct model_order {
    int rank;
    int64_t dims[TG_MAX_RANK], strides[TG_MAX_RANK];
    int64_t elements;
} model_order;

model_order model_order_of(const model_variable *variable);
int64_t model_order_next(const model_order *order, int64_t at[TG_MAX_RANK], int64_t first);

#endif
