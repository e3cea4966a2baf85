/*
 * bert_priv.h - BERT's encoder, which models with heads of their own share.
 */
#ifndef BENCH_MODELS_BERT_PRIV_H
#define BENCH_MODELS_BERT_PRIV_H

#include "models/model_priv.h"

typedef struct bert_config {
    int vocabulary, positions; /* POSITIONS bounds a row's tokens */
    int width, layers, heads;
    int hidden; /* width inside the feed-forward part */
} bert_config;

/* The published base model, and the reduced one of the golden data. */
extern const bert_config model_bert_config_base, model_bert_config_small;

typedef struct bert_layer {
    const char *name;
    nn_dense query, key, value, output; /* of attention */
    nn_row_norm attention_norm;
    nn_dense intermediate, dense; /* feed-forward: to HIDDEN and back */
    nn_row_norm norm;
    tg_tensor *stage;
} bert_layer;

typedef struct bert_encoder {
    const bert_config *config;
    tg_tensor *input_ids, *token_type_ids, *attention_mask; /* i32 (B, T) */
    nn_table words, positions, token_types;
    nn_row_norm norm;
    nn_drop drop;
    bert_layer *layers;
    nn_layers stack;
    tg_tensor *stage; /* of the embeddings */
} bert_encoder;

/* Makes the encoder's inputs, before any other variable of M. */
void model_bert_inputs(model *m, bert_encoder *bert, const bert_config *config);
/* Then makes the module "bert" within the module in force: embeddings and layers, no
 * pooler. */
void model_bert_new(model *m, bert_encoder *bert);
/* The tokens that attention may see: bool (B, T). */
tg_tensor *model_bert_keys(tg_trace *t, const bert_encoder *bert);
/* Encodes the batch into (B, T, width); KEYS are model_bert_keys. */
tg_tensor *model_bert_encode(tg_trace *t, const bert_encoder *bert, tg_tensor *keys);

#endif
