/*
 * sentences.c - examples over sentences: a branch that depends on a value, as translation models
 * have it in their padding mask, and batches of changing length.
 */
#include "models/examples/net_priv.h"

/* X (B, T, D) without the rows of padding. */
static tg_tensor *without_padding(tg_trace *t, tg_tensor *x, tg_tensor *is_padding)
{
    static const int map[] = {0, 1};
    const tg_type type = *tg_tensor_type(x);
    tg_tensor *wide = tg_broadcast(t, is_padding, type.rank, type.dims, map);
    return tg_select(t, wide, tg_scalar(t, type.dtype, 0.0), x);
}

/* "if mask.any():", which saves the mask where no row is padded, and costs a graph break. */
static tg_tensor *branch_forward(tg_trace *t, const void *network)
{
    const example_net *net = network;
    tg_tensor *targets = nn_classifier_targets(t, &net->task);
    tg_tensor *x = nn_embedding(t, &net->embedding, net->tokens); /* (B, T, D) */
    int32_t any;
    tg_scope_push(t, "mask");
    tg_tensor *is_padding = tg_compare(t, net->tokens, tg_scalar(t, TG_I32, 0.0), TG_EQ);
    tg_tensor *has_padding = tg_reduce_max(t, tg_convert(t, is_padding, TG_I32), 1u << 0 | 1u << 1);
    tg_read(t, has_padding, &any, sizeof any);
    if (any)
        x = without_padding(t, x, is_padding);
    tg_scope_pop(t);
    return example_end(t, net, example_mean(t, x), targets);
}

/* The same without the question: where no row is padded, the mask changes nothing. */
static tg_tensor *select_forward(tg_trace *t, const void *network)
{
    const example_net *net = network;
    tg_tensor *targets = nn_classifier_targets(t, &net->task);
    tg_tensor *x = nn_embedding(t, &net->embedding, net->tokens); /* (B, T, D) */
    tg_scope_push(t, "mask");
    tg_tensor *is_padding = tg_compare(t, net->tokens, tg_scalar(t, TG_I32, 0.0), TG_EQ);
    x = without_padding(t, x, is_padding);
    tg_scope_pop(t);
    return example_end(t, net, example_mean(t, x), targets);
}

static tg_tensor *shapes_forward(tg_trace *t, const void *network)
{
    const example_net *net = network;
    tg_tensor *targets = nn_classifier_targets(t, &net->task);
    tg_tensor *x = nn_embedding(t, &net->embedding, net->tokens); /* (B, T, D) */
    return example_end(t, net, example_mean(t, x), targets);
}

const model_row example_branch = {
    EXAMPLE_OF_BATCHES,
    .name = "example_branch",
    .summary = "a branch that depends on a value: is there padding?",
    .build = example_sentences_build,
    .forward = branch_forward,
};

const model_row example_select = {
    EXAMPLE_OF_BATCHES,
    .name = "example_select",
    .summary = "the same mask without a branch",
    .build = example_sentences_build,
    .forward = select_forward,
};

const model_row example_shapes = {
    EXAMPLE_OF_SENTENCES,
    .name = "example_shapes",
    .summary = "batches of changing length",
    .varies = true,
    .full = {.seq = 32, .learning_rate = 1e-2},
    .build = example_sentences_build,
    .forward = shapes_forward,
    .example = &(const model_example){.varying = true},
};
