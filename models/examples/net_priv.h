/*
 * net_priv.h - the two small networks that the examples share.
 */
#ifndef BENCH_MODELS_EXAMPLES_NET_PRIV_H
#define BENCH_MODELS_EXAMPLES_NET_PRIV_H

#include "models/examples/examples.h"

#define EXAMPLE_WIDTH   32
#define EXAMPLE_TOKENS  128 /* of the vocabulary; 0 is padding */
#define EXAMPLE_CLASSES 4

/* Members of the rows of all examples on sentences; each may add more. */
#define EXAMPLE_OF_SENTENCES                                                                       \
    .source = "bench", .family = "example", .batch = 4, .golden_batch = 4, .optimizer = MODEL_SGD, \
    .weights = MODEL_FILL_W3
/* The same of sentences of 24 tokens, whose batches differ in values. */
#define EXAMPLE_OF_BATCHES                                                                         \
    EXAMPLE_OF_SENTENCES, .full = {.seq = 24, .learning_rate = 1e-2},                              \
                          .example = &(const model_example)                                        \
    {                                                                                              \
        .batches_differ = true                                                                     \
    }

/* A classifier of rows, or of sentences: what an example does not need stays NULL. */
typedef struct example_net {
    nn_classifier task;
    tg_tensor *input;  /* (B, WIDTH) */
    tg_tensor *tokens; /* i32 (B, T) */
    nn_table embedding;
    nn_dense hidden, classifier;
} example_net;

/* Builds the classifier of rows; a model_row.build. */
void example_rows_build(model *m);
/* Builds the classifier of sentences. */
void example_sentences_build(model *m);
/* X (B, WIDTH) -> logits (B, CLASSES) -> the loss, or NULL; TARGETS may be NULL. */
tg_tensor *example_end(tg_trace *t, const example_net *net, tg_tensor *x, tg_tensor *targets);
/* The forward pass of the classifier of rows. */
tg_tensor *example_rows_forward(tg_trace *t, const void *network);
/* Mean over the tokens, X (B, T, WIDTH) -> (B, WIDTH). */
tg_tensor *example_mean(tg_trace *t, tg_tensor *x);

extern const model_row example_branch, example_select, example_shapes;
extern const model_row example_loss_read, example_loss_logged, example_host_op, example_mask;
extern const model_row example_train_eval, example_train, example_scalar, example_argument;
extern const model_row example_equal, example_identity, example_dtype, example_one_dtype;

#endif
