/*
 * bert_priv.h - BERT's encoder, which models with heads of their own share.
 */
#ifndef BENCH_BERT_PRIV_H
#define BENCH_BERT_PRIV_H

#include "models/model_priv.h"

/* A dropout's probability, wherever the encoder has one. */
#define NN_BERT_DROPOUT 0.1

typedef struct nn_bert_config {
    int vocabulary, positions; /* POSITIONS bounds a row's tokens */
    int width, layers, heads;
    int hidden; /* width inside the feed-forward part */
} nn_bert_config;

/* The published base model, and the reduced one of the golden data. */
extern const nn_bert_config nn_bert_base, nn_bert_small;

typedef struct nn_bert_layer {
    const char *name;
    nn_dense query, key, value, output; /* of attention */
    nn_row_norm attention_norm;
    nn_dense intermediate, dense; /* feed-forward: to HIDDEN and back */
    nn_row_norm norm;
    tg_tensor *stage;
} nn_bert_layer;

typedef struct nn_bert {
    const nn_bert_config *config;
    tg_tensor *input_ids, *token_type_ids, *attention_mask; /* i32 (B, T) */
    nn_table words, positions, token_types;
    nn_row_norm norm;
    nn_drop drop;
    nn_bert_layer *layers;
    tg_tensor *stage; /* of the embeddings */
} nn_bert;

/* The inputs, first thing of all; then, where the module stands, the module "bert":
 * embeddings and layers, without a pooler. Width of both is CONFIG's. */
void nn_bert_inputs(model *m, nn_bert *bert, const nn_bert_config *config);
void nn_bert_new(model *m, nn_bert *bert);
/* bool (B, T): tokens that attention may see. */
tg_tensor *nn_bert_keys(tg_trace *t, const nn_bert *bert);
/* -> (B, T, width); KEYS are nn_bert_keys. */
tg_tensor *nn_bert_encode(tg_trace *t, const nn_bert *bert, tg_tensor *keys);

#endif
