/*
 * attention.c - examples over attention: what it does where queries and keys are the same tensor is
 * one matrix product in place of two. Older versions of PyTorch asked that of the values
 * ("torch.equal(query, key)"), which are on the device; later ones ask whether it is the same
 * object, which the host knows.
 */
#include "models/examples/net_priv.h"
#include "runtime/graph/scopes.h"

#include <math.h>

enum { LAYERS = 2, HEADS = 4 };

typedef struct attention_layer {
    const char *name;
    nn_dense in_proj, out_proj; /* rows of in_proj: of q, of k, of v */
} attention_layer;

typedef struct attention_net {
    nn_classifier task;
    tg_tensor *tokens; /* i32 (B, T) */
    nn_table embedding;
    attention_layer layers[LAYERS];
    nn_dense classifier;
} attention_net;

static void build(model *m)
{
    static const char *const names[LAYERS] = {"0", "1"};
    attention_net *net = nn_alloc(m, 1, sizeof *net);
    const model_variable ids = {.name = "tokens",
                                .fill = MODEL_FILL_IDS,
                                .fill_high = EXAMPLE_TOKENS,
                                .length = MODEL_LENGTH_SOURCE};
    m->network = net;
    net->tokens = nn_tokens(m, &ids, false);
    nn_row_classifier_new(m, &net->task, EXAMPLE_CLASSES);
    nn_embedding_new(m, &net->embedding, "embedding", EXAMPLE_TOKENS, EXAMPLE_WIDTH);
    for (int i = 0; i < LAYERS; i++) {
        attention_layer *layer = &net->layers[i];
        layer->name = names[i];
        nn_enter(m, names[i]);
        nn_linear_new(m, &layer->in_proj, "in_proj", EXAMPLE_WIDTH, 3L * EXAMPLE_WIDTH, true);
        nn_linear_new(m, &layer->out_proj, "out_proj", EXAMPLE_WIDTH, EXAMPLE_WIDTH, true);
        nn_leave(m);
    }
    nn_linear_new(m, &net->classifier, "classifier", EXAMPLE_WIDTH, EXAMPLE_CLASSES, true);
}

/* "torch.equal(query, key)": the device compares, and the host waits for its word. */
static bool are_equal(tg_trace *t, tg_tensor *query, tg_tensor *key)
{
    int32_t equal = 0;
    tg_tensor *same = tg_convert(t, tg_compare(t, query, key, TG_EQ), TG_I32); /* (B, T, D) */
    tg_tensor *differ = tg_sub(t, tg_scalar(t, TG_I32, 1.0), same);
    tg_read(t, tg_reduce_max(t, differ, 1u << 0 | 1u << 1 | 1u << 2), &equal, sizeof equal);
    return equal == 0;
}

/* X (B, *, D) to COUNT of q, k and v, from FIRST on: (B, *, COUNT D). */
static tg_tensor *project(tg_trace *t, const attention_layer *layer, tg_tensor *x, int first,
                          int count)
{
    const int64_t width = EXAMPLE_WIDTH;
    return nn_project(t, x, nn_slice(t, layer->in_proj.weight, 0, first * width, count * width),
                      nn_slice(t, layer->in_proj.bias, 0, first * width, count * width));
}

/* Attention of QUERY to KEY, both (B, T, D). With EQUAL they are one, and so is the product. */
static tg_tensor *attend(tg_trace *t, const attention_layer *layer, tg_tensor *query,
                         tg_tensor *key, bool equal)
{
    const int64_t width = EXAMPLE_WIDTH;
    const nn_attend how = {.scale = 1.0 / sqrt((double)EXAMPLE_WIDTH / HEADS)};
    tg_tensor *q, *both; /* (B, T, D), (B, T, 2 D) */
    if (equal) {
        tg_tensor *all = project(t, layer, query, 0, 3); /* (B, T, 3 D) */
        q = nn_slice(t, all, 2, 0, width);
        both = nn_slice(t, all, 2, width, 2 * width);
    } else {
        q = project(t, layer, query, 0, 1);
        both = project(t, layer, key, 1, 2);
    }
    tg_tensor *k = nn_split_heads(t, nn_slice(t, both, 2, 0, width), HEADS);
    tg_tensor *v = nn_split_heads(t, nn_slice(t, both, 2, width, width), HEADS);
    tg_tensor *x = nn_attention(t, nn_split_heads(t, q, HEADS), k, v, &how);
    return nn_linear(t, &layer->out_proj, nn_join_heads(t, x));
}

/* ASKS: the device is asked whether queries and keys are equal. */
static tg_tensor *forward(tg_trace *t, const attention_net *net, bool asks)
{
    tg_tensor *targets = nn_classifier_targets(t, &net->task);
    tg_tensor *x = nn_embedding(t, &net->embedding, net->tokens); /* (B, T, D) */
    for (int i = 0; i < LAYERS; i++) {
        tg_tensor *query = x, *key = x;
        tg_scope_push(t, net->layers[i].name);
        tg_annotate_begin(t, "multi-head attention");
        x = attend(t, &net->layers[i], query, key, asks ? are_equal(t, query, key) : query == key);
        tg_annotate_end(t);
        tg_scope_pop(t);
    }
    x = nn_linear(t, &net->classifier, example_mean(t, x));
    return nn_classifier_end(t, &net->task, x, targets);
}

static tg_tensor *equal_forward(tg_trace *t, const void *network)
{
    return forward(t, network, true);
}

static tg_tensor *identity_forward(tg_trace *t, const void *network)
{
    return forward(t, network, false);
}

const model_row example_equal = {
    EXAMPLE_OF_BATCHES,
    .name = "example_equal",
    .summary = "attention that asks the device whether queries and keys are equal",
    .build = build,
    .forward = equal_forward,
};

const model_row example_identity = {
    EXAMPLE_OF_BATCHES,
    .name = "example_identity",
    .summary = "the same attention, which asks the host whether they are one tensor",
    .build = build,
    .forward = identity_forward,
};
