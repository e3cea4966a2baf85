/*
 * instance.h - an instance of a model from the inside: the row that it is built by, its
 * members, and what layers and models do to it while they build it (instance.c).
 *
 * While building, errors stick to the instance as errors of ops stick to a trace:
 * the first one is kept, with the path of the layer, and the rest does nothing.
 * Strings given as names must be literals or live as long as the instance. Rooms above
 * include nn.h, which has this. Prefix nn_; types that models fill in: model_.
 */
#ifndef BENCH_MODELS_NN_INSTANCE_H
#define BENCH_MODELS_NN_INSTANCE_H

#include "models/nn/vocabulary.h"

/* ---- a model's row ------------------------------------------------------------ */

/* The published model or the reduced one. */
typedef struct model_variant {
    int channel_divisor;  /* of all channel counts; image models */
    int classes, image;   /* image models; IMAGE is 0 for others */
    int seq;              /* tokens a row; 0 for image models */
    int depth;            /* layers of a decoder; 0: there are none to choose */
    double learning_rate; /* of the model's own optimizer */
    const void *config;   /* the family's own */
} model_variant;

/* A second name under which a file may hold a parameter. */
typedef struct model_tied {
    const char *alias, *name;
} model_tied;

/* An argument of the host that a step depends on, in addition to its variables: an int32_t or,
 * REAL, a float at OFFSET. */
typedef struct model_static {
    const char *name;
    size_t offset;
    bool real;
} model_static;

/* Properties of an example that reference models do not have (models/examples). Absent is 0 or
 * NULL. */
typedef struct model_example {
    bool batches_differ;         /* steps take different ones in turns, whatever the options say */
    int other_dtype_every;       /* so many batches: floats come in another dtype; 0: never */
    bool varying;                /* its batches vary in length whatever the options say */
    const model_static *statics; /* ended by a NULL name */
    size_t static_bytes;
    void (*advance)(void *statics, uint64_t step);        /* STATICS for step STEP, from 0 */
    bool (*trains)(const void *statics);                  /* whether this step of training trains */
    tg_tensor *(*rate)(tg_trace *t, const void *statics); /* in place of the variable */
    double (*rate_at)(uint64_t step); /* what the variable "learning_rate" holds in step STEP */
    int log_every; /* steps from one reading of the loss, behind its step, to the next; 0: never */
    void (*after)(tg_trace *t, tg_tensor *loss); /* at the end of a step that has a loss */
} model_example;

/* A model: what the table says of it, and how an instance of it is built and stepped.
 * Rows are constants. */
typedef struct model_row {
    const char *name, *summary, *source, *family;
    int batch, golden_batch;   /* the default; that of the golden data */
    model_optimizer optimizer; /* MODEL_SGD or MODEL_ADAMW */
    model_fill weights;        /* of matrices and kernels: MODEL_FILL_W6 or MODEL_FILL_W3 */
    bool pads;                 /* takes the option pad */
    bool varies;               /* FORWARD traces rows of whatever length the inputs have */
    bool scans;                /* takes the option scan: FORWARD uses nn_run_layers */
    bool decodes; /* takes the option decode: FORWARD then traces one token of each row */
    const model_tied *tied;    /* ended by a NULL alias; may be NULL */
    model_variant full, small; /* NULL config is allowed; no small one: learning_rate 0 */
    /*
     * Builds M, once. Options are checked and defaults filled in; M has no variables yet.
     * Makes inputs, results and layers in the order of model_role's comment, sets
     * m->network to what FORWARD is given (memory of nn_alloc), and leaves every module
     * that it enters. The optimizer's variables are not its business. An error sticks to
     * M (nn_fail); after one, BUILD may go on or return, but must not use a NULL.
     */
    void (*build)(model *m);
    /*
     * Traces the forward pass of one step on T, up to the loss, and assigns its results:
     * those of loss, logits and stages that BUILD made. T is in phase TG_PHASE_FORWARD
     * and is left so. NETWORK is as BUILD left it and stays so. Returns the loss, an f32
     * scalar of T, or NULL where nn_wants_loss is false. Batch and tokens a row are read
     * off the inputs' types, never off options: batches may vary. Called in every step:
     * allocates nothing, and looks nothing up. Errors stick to T.
     */
    tg_tensor *(*forward)(tg_trace *t, const void *network);
    /*
     * Multiply-adds that FORWARD traces for M's batch and that a framework with dynamic
     * shapes skips: model_forward_macs takes them off. Cannot fail. NULL: there are none.
     */
    double (*idle_macs)(const model *m);
    /*
     * Elements of M's parameters that a step of decode traces and that no token of its batch
     * needs, whatever it chooses: model_decode_bytes takes them off. Cannot fail. NULL: there are
     * none.
     */
    int64_t (*idle_elements)(const model *m);
    const model_example *example; /* NULL: a reference model */
} model_row;

/* ---- an instance ----------------------------------------------------------------- */

#define MODEL_PATH_BYTES 128

/* The optimizer and its gradients: models/model.c's own. */
typedef struct model_training model_training;
/* Several steps as one loop: models/loop.c's own. */
typedef struct model_loop model_loop;

struct model {
    const model_row *row;
    const model_variant *variant; /* of the row */
    model_options options;        /* defaults filled in */
    bn_status status;             /* while building */
    bn_arena *arena;              /* names, layers */
    char path[MODEL_PATH_BYTES];  /* "layer1.0", while building */

    model_variable *variables;
    size_t variable_count, variable_capacity;
    tg_tensor *generator; /* state of the random bits, made at first use */
    struct {
        int number, count;  /* of the layer that is being built; COUNT 0: none is stacked */
        size_t first, next; /* variables: the first layer's first, and where to look on */
    } stack;

    /* Layers do not look at these. */
    void *network;                        /* the family's layers */
    int32_t *lengths[MODEL_LENGTH_COUNT]; /* [row] of the batch drawn last */
    model_training *training;             /* NULL in inference */
    model_loop *loop;                     /* NULL: a call of the step function is one step */
    void *statics;                        /* of an example that has some */
};

/* ---- building one -------------------------------------------------------------- */

/* Names what follows "NAME." within the enclosing module, until nn_leave. */
void nn_enter(model *m, const char *name);
void nn_leave(model *m);

/* Layers that M's decoder is to have. */
int nn_depth(const model *m);
/* Tokens of each row that a step computes: the option seq, or 1 with decode. */
int nn_step_tokens(const model *m);
/* Memory of the instance, zeroed. */
void *nn_alloc(model *m, size_t count, size_t size);
/* INDEX in decimal, which lives as long as the instance: what frameworks call the
 * modules of a list. */
const char *nn_index_name(model *m, int index);
/* Puts an error on M, after the path in force; the first one stays. */
void nn_fail(model *m, bn_code code, const char *format, ...) BN_PRINTF(3, 4);

/*
 * Adds a variable to M. SPEC has role, fill and the framework's shape, an
 * all-zero permutation meaning none, and a name: parameters, statistics and buffers
 * are named within the enclosing module, all others as they are. SPEC and its name
 * are copied; a tensor in it is shared, and was made for the first of LAYERS. Within layers
 * that are stacked what is named by the module, and results, are parts of one tensor.
 * Returns the tensor, or NULL after putting an error on M.
 */
tg_tensor *nn_variable(model *m, const model_variable *spec);
/* A parameter in the model's dtype, laid out as the framework has it. */
tg_tensor *nn_parameter(model *m, const char *name, model_fill fill, int32_t rank,
                        const int64_t *dims);
/* A table that never changes, f32, named within the enclosing module. */
tg_tensor *nn_buffer(model *m, const char *name, int32_t rank, const int64_t *dims,
                     model_table *table);

/* ---- what a step takes and gives ------------------------------------------------- */

/* Whether the step computes a loss, and whether it gives its outputs as results. */
bool nn_wants_loss(const model *m);
bool nn_wants_outputs(const model *m);
/* A result of the framework's shape DIMS. */
tg_tensor *nn_result(model *m, const char *name, tg_dtype dtype, int32_t rank, const int64_t *dims);
/* The scalar result "loss", or NULL when none is wanted. */
tg_tensor *nn_loss_result(model *m);
/* An i32 input (B, T) of tokens. SPEC has name, fill and mask; a mask's padding
 * is in force under the option pad only, unless ALWAYS_PADDED. */
tg_tensor *nn_tokens(model *m, const model_variable *spec, bool always_padded);
/* An i32 input (B). */
tg_tensor *nn_row_labels(model *m, const char *name, model_fill fill, double low, double high);

/* An image between two layers, without the batch. */
typedef struct nn_image {
    int64_t channels, height, width;
} nn_image;

/*
 * The output of the module NAME (NULL: the enclosing one) as result
 * "stage/<path>"; NULL, which nn_keep skips, unless stages are asked for.
 * nn_stage is for images, nn_plain_stage for what is laid out as in the framework,
 * nn_token_stage for (B, T, WIDTH).
 */
tg_tensor *nn_stage(model *m, const char *name, nn_image image);
tg_tensor *nn_plain_stage(model *m, const char *name, int32_t rank, const int64_t *dims);
tg_tensor *nn_token_stage(model *m, const char *name, int64_t width);
/* Makes X the contents of the result VARIABLE (NULL allowed); returns X. */
tg_tensor *nn_keep(tg_trace *t, tg_tensor *variable, tg_tensor *x);

#endif
