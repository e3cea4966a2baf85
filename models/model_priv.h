/*
 * model_priv.h - an instance from the inside, and the rows of the table.
 */
#ifndef BENCH_MODEL_PRIV_H
#define BENCH_MODEL_PRIV_H

#include "models/nn/nn.h"

/* What differs between the published model and the reduced one. */
typedef struct model_variant {
    int channel_divisor;  /* of all channel counts; image models */
    int classes, image;   /* image models; IMAGE is 0 for others */
    int seq;              /* tokens a row; 0 for image models */
    double learning_rate; /* of the model's own optimizer */
    const void *config;   /* the family's own */
} model_variant;

/* A second name under which a file may hold a parameter. */
typedef struct model_tied {
    const char *alias, *name;
} model_tied;

/*
 * A model. BUILD makes layers and inputs and sets m->network; errors stick to M.
 * FORWARD traces a step up to the loss and assigns its results; it returns the
 * loss, which it may leave out (NULL) in inference.
 */
typedef struct model_row {
    const char *name, *summary, *source, *family;
    int batch, golden_batch;   /* the default; that of the golden data */
    model_optimizer optimizer; /* MODEL_SGD or MODEL_ADAMW */
    model_fill weights;        /* of matrices and kernels: MODEL_FILL_W6 or MODEL_FILL_W3 */
    bool pads;                 /* takes the option pad */
    bool varies;               /* its step traces rows of whatever length they have */
    const model_tied *tied;    /* ended by a NULL alias; may be NULL */
    model_variant full, small; /* NULL config is allowed; no small one: learning_rate 0 */
    void (*build)(model *m);
    tg_tensor *(*forward)(tg_trace *t, const void *network);
    /* Multiply-adds that FORWARD traces and a dynamic shape would skip; may be NULL. */
    double (*idle_macs)(const model *m);
} model_row;

/* Row INDEX, or NULL after the last one. */
const model_row *model_row_at(size_t index); /* table.c */
extern const model_row model_resnet18, model_resnet50, model_resnext50_32x4d;
extern const model_row model_vgg16, model_alexnet, model_mobilenet_v2, model_mnasnet1_0;
extern const model_row model_squeezenet1_1;
extern const model_row model_vit_small_patch16_224, model_vit_base_patch16_224;
extern const model_row model_bert, model_bert_pytorch, model_unit_qnli;
extern const model_row model_transformer_wmt_en_de, model_gpt2, model_llama, model_mixtral;

#define MODEL_PATH_BYTES 128

struct model {
    const model_row *row;
    const model_variant *variant;
    model_options options;       /* defaults filled in */
    bn_status status;            /* while building */
    bn_arena *arena;             /* names, layers */
    char path[MODEL_PATH_BYTES]; /* "layer1.0", while building */

    model_variable *variables;
    size_t variable_count, variable_capacity;

    void *network;                        /* the family's layers */
    int32_t *lengths[MODEL_LENGTH_COUNT]; /* [row] of the batch drawn last */
    tg_tensor *generator;                 /* state of the random bits, made at first use */
    nn_optimizer optimizer;               /* training */
    tg_tensor **gradients;                /* [parameter] of the step in hand */
    tg_tensor **kept_gradients;           /* [parameter] results; NULL: not asked for */
};

/*
 * Order of a variable's elements (init.c): the device's dimensions with the
 * framework's strides; at least one of them. Runs of the innermost dimension are
 * walked with AT all zero and FIRST 0 at the start: model_order_next moves AT to
 * the next run and returns the framework's index of its first element.
 */
typedef struct model_order {
    int rank;
    int64_t dims[TG_MAX_RANK], strides[TG_MAX_RANK];
    int64_t elements;
} model_order;

model_order model_order_of(const model_variable *variable);
int64_t model_order_next(const model_order *order, int64_t at[TG_MAX_RANK], int64_t first);

#endif
