/*
 * decoder_priv.h - the decoder of llama and its relatives (decoder.c).
 *
 * Shapes: B batch, T tokens, D width, N heads of queries, K heads of keys and
 * values, E width of a head, F width of a feed-forward.
 */
#ifndef BENCH_MODELS_DECODER_PRIV_H
#define BENCH_MODELS_DECODER_PRIV_H

#include "models/model_priv.h"

typedef struct decoder_config {
    int vocabulary, width;
    int heads, key_heads; /* each head of keys serves heads / key_heads of queries */
    int feed;             /* width of a feed-forward */
    int experts, chosen;  /* of a mixture; 0 for others */
    double epsilon;       /* of norms */
    double theta;         /* rotary embedding: of the slowest angle */
} decoder_config;

/* The part of a layer between its second norm and the sum that ends it. */
typedef struct decoder_feed {
    /* Makes the parameters of one layer, within that layer's module; CONFIG is the
     * model's. Returns what STEP is given (memory of nn_alloc). */
    void *(*build)(model *m, const decoder_config *config);
    /* Traces LAYER, what BUILD returned, on X (B, T, D) and returns (B, T, D) in X's
     * dtype. Called once a layer in every step: allocates nothing. Errors stick to T. */
    tg_tensor *(*step)(tg_trace *t, const void *layer, tg_tensor *x);
} decoder_feed;

/*
 * The whole model around FEED, which must be a constant. model_decoder_build is the
 * work of a row's build: the variant's config is a decoder_config. model_decoder_forward
 * is a row's forward.
 */
void model_decoder_build(model *m, const decoder_feed *feed);
tg_tensor *model_decoder_forward(tg_trace *t, const void *network);

/* SwiGLU (Shazeer, GLU Variants Improve Transformer, 2020):
 * (silu(x gate) * (x up)) down, (..., D) -> (..., D). */
tg_tensor *model_decoder_swiglu(tg_trace *t, const nn_dense *gate, const nn_dense *up,
                                const nn_dense *down, tg_tensor *x);

#endif
