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

#endif
