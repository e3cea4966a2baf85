/*
 * model_priv.h - an instance from the inside, and the rows of the table.
 */
#ifndef BENCH_MODEL_PRIV_H
#define BENCH_MODEL_PRIV_H

#include "models/nn.h"

/* What differs between the published model and the reduced one. */
typedef struct model_variant {
    int channel_divisor; /* of all channel counts */
    int classes, image;
    double learning_rate, momentum;
    const void *config; /* the family's own */
} model_variant;

/*
 * A model. BUILD makes layers and inputs and sets m->network; errors stick to M.
 * FORWARD traces a step up to the loss and assigns its results; it returns the
 * loss, which it may leave out (NULL) in inference.
 */
typedef struct model_row {
    const char *name, *summary, *source, *family;
    int batch; /* the default */
    model_variant full, small;
    void (*build)(model *m);
    tg_tensor *(*forward)(tg_trace *t, const void *network);
    /* Names that the framework has for one tensor: the other name and ours in
     * turn, NULL-ended; NULL where nothing is tied. For weights in files. */
    const char *const *tied;
} model_row;

/* Row INDEX, or NULL after the last one. */
const model_row *model_row_at(size_t index);           /* table.c */
extern const model_row model_resnet18, model_resnet50; /* resnet.c */

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

    void *network;              /* the family's layers */
    nn_sgd optimizer;           /* training */
    tg_tensor **gradients;      /* [parameter] of the step in hand */
    tg_tensor **kept_gradients; /* [parameter] results; NULL: not asked for */
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
