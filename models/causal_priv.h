/*
 * causal_priv.h - what causal language models share: the batch and the results of
 * a step (causal.c), and the decoder of llama and its relatives (decoder.c).
 *
 * Shapes: B batch, T tokens, D width, N heads of queries, K heads of keys and
 * values, E width of a head, F width of a feed-forward, V vocabulary.
 */
#ifndef BENCH_CAUSAL_PRIV_H
#define BENCH_CAUSAL_PRIV_H

#include "models/nn/nn.h"

/* ---- the task ------------------------------------------------------------ */

typedef struct causal_task {
    tg_tensor *tokens; /* "input_ids", i32 (B, T) */
    tg_tensor *labels; /* "labels", i32 (B, T); NULL when no loss is wanted */
    tg_tensor *loss;   /* result, f32 scalar, or NULL */
    tg_tensor *logits; /* result (B, T, V) in the model's dtype, or NULL */
} causal_task;

void model_causal_new(model *m, causal_task *task, int vocabulary);
/* Ends the forward pass: assigns the results; returns the mean cross-entropy over
 * the positions whose label is not -100, or NULL. Labels are not shifted. */
tg_tensor *model_causal_end(tg_trace *t, const causal_task *task, tg_tensor *logits);

/* ---- the decoder ----------------------------------------------------------- */

typedef struct decoder_config {
    int vocabulary, width, layers;
    int heads, key_heads; /* each head of keys serves heads / key_heads of queries */
    int feed;             /* width of a feed-forward */
    int experts, chosen;  /* of a mixture; 0 for others */
    double epsilon;       /* of norms */
    double theta;         /* rotary embedding: of the slowest angle */
} decoder_config;

/* A layer's feed-forward. BUILD makes its parameters within the layer and returns
 * what STEP, (B, T, D) -> (B, T, D), is given back; NULL after an error. */
typedef struct decoder_feed {
    void *(*build)(model *m, const decoder_config *config);
    tg_tensor *(*step)(tg_trace *t, const void *layer, tg_tensor *x);
} decoder_feed;

/* The whole model around FEED: a row's build, with a decoder_config as the
 * variant's, and its forward. FEED is static. */
void model_decoder_build(model *m, const decoder_feed *feed);
tg_tensor *model_decoder_forward(tg_trace *t, const void *network);

/* SwiGLU (Shazeer, GLU Variants Improve Transformer, 2020):
 * (silu(x gate) * (x up)) down, (..., D) -> (..., D). */
tg_tensor *model_decoder_swiglu(tg_trace *t, const nn_dense *gate, const nn_dense *up,
                                const nn_dense *down, tg_tensor *x);

#endif
