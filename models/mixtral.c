/*
 * mixtral.c - Mixtral (Jiang et al., Mixtral of Experts, 2024), as Hugging Face
 * transformers builds it, in a size of its own: llama's decoder, whose feed-forward
 * is a mixture of experts of which each token is sent to the best two.
 *
 * Shapes must not depend on data here. So each expert computes all tokens; a token that
 * is not sent to it has the routing weight zero.
 */
#include "models/decoder_priv.h"

typedef struct mixtral_expert {
    const char *name;
    nn_dense w1, w2, w3; /* gate, down, up */
} mixtral_expert;

typedef struct mixtral_moe {
    nn_dense gate; /* the router */
    mixtral_expert *experts;
    int count, chosen;
} mixtral_moe;

/* ---- building ------------------------------------------------------------- */

/* Makes the experts in the framework's order: it fuses w1 with w3 of an expert, and
 * keeps all w2 together. */
static void build_experts(model *m, mixtral_moe *moe, const decoder_config *c)
{
    nn_enter(m, "experts");
    for (int i = 0; i < 2 * moe->count; i++) {
        mixtral_expert *expert = &moe->experts[i % moe->count];
        expert->name = nn_index_name(m, i % moe->count);
        nn_enter(m, expert->name);
        if (i < moe->count) {
            nn_linear_new(m, &expert->w1, "w1", c->width, c->feed, false);
            nn_linear_new(m, &expert->w3, "w3", c->width, c->feed, false);
        } else {
            nn_linear_new(m, &expert->w2, "w2", c->feed, c->width, false);
        }
        nn_leave(m);
    }
    nn_leave(m);
}

static void *build_moe(model *m, const decoder_config *c)
{
    mixtral_moe *moe = nn_alloc(m, 1, sizeof *moe);
    moe->count = c->experts;
    moe->chosen = c->chosen;
    moe->experts = nn_alloc(m, (size_t)c->experts, sizeof *moe->experts);
    nn_enter(m, "block_sparse_moe");
    nn_linear_new(m, &moe->gate, "gate", c->width, c->experts, false);
    build_experts(m, moe, c);
    nn_leave(m);
    return moe;
}

/* ---- a step ----------------------------------------------------------------- */

/* X's routing weights, f32 (B, T, experts): softmax over all experts; then the weights of
 * the chosen are divided by their sum, and the others are zero. */
static tg_tensor *route(tg_trace *t, const mixtral_moe *moe, tg_tensor *x)
{
    static const int by_token[] = {0, 1}, by_choice[] = {0, 1, 2};
    tg_tensor *shares = nn_softmax(t, nn_linear(t, &moe->gate, x)); /* (B, T, experts) */
    tg_tensor *experts, *best = tg_top_k(t, shares, moe->chosen, &experts);
    const tg_type chosen = *tg_tensor_type(best);     /* (B, T, chosen) */
    tg_tensor *sum = tg_reduce_sum(t, best, 1u << 2); /* (B, T) */
    best = tg_div(t, best, tg_broadcast(t, sum, 3, chosen.dims, by_token));

    tg_tensor *places = nn_one_hot(t, experts, moe->count); /* (B, T, chosen, experts) */
    best = tg_broadcast(t, best, 4, tg_tensor_type(places)->dims, by_choice);
    return tg_reduce_sum(t, tg_mul(t, best, places), 1u << 2);
}

/* WEIGHTS' column COLUMN along X's rows, in X's dtype and shape (B, T, D). */
static tg_tensor *weight_of(tg_trace *t, tg_tensor *weights, int64_t column, tg_tensor *x)
{
    static const int map[] = {0, 1};
    const tg_type type = *tg_tensor_type(x);
    const int64_t batch = type.dims[0], tokens = type.dims[1];
    tg_tensor *weight = nn_slice(t, weights, 2, column, 1);
    weight = tg_reshape(t, weight, 2, TG_DIMS(batch, tokens));
    weight = nn_convert(t, weight, type.dtype);
    return tg_broadcast(t, weight, 3, type.dims, map);
}

static tg_tensor *moe_step(tg_trace *t, const void *layer, tg_tensor *x)
{
    const mixtral_moe *moe = layer;
    tg_tensor *sum = NULL;
    tg_scope_push(t, "block_sparse_moe");
    tg_tensor *weights = route(t, moe, x); /* (B, T, experts) */
    tg_scope_push(t, "experts");
    for (int i = 0; i < moe->count; i++) {
        const mixtral_expert *expert = &moe->experts[i];
        tg_scope_push(t, expert->name);
        tg_tensor *y = model_decoder_swiglu(t, &expert->w1, &expert->w3, &expert->w2, x);
        y = tg_mul(t, y, weight_of(t, weights, i, y)); /* (B, T, D) */
        sum = sum ? tg_add(t, sum, y) : y;
        tg_scope_pop(t);
    }
    tg_scope_pop(t);
    tg_scope_pop(t);
    return sum; /* (B, T, D) */
}

static void mixtral_build(model *m)
{
    static const decoder_feed feed = {build_moe, moe_step};
    model_decoder_build(m, &feed);
}

/* Here each token goes through all experts; the framework sends it to the chosen ones. */
static double idle_macs(const model *m)
{
    const decoder_config *c = m->variant->config;
    const double tokens = (double)m->options.batch * nn_step_tokens(m) * nn_depth(m);
    return tokens * (c->experts - c->chosen) * 3.0 * c->width * c->feed;
}

/* The experts that a batch cannot choose: each row chooses CHOSEN of them. */
static int64_t idle_elements(const model *m)
{
    const decoder_config *c = m->variant->config;
    const int64_t most = (int64_t)m->options.batch * c->chosen;
    const int64_t idle = most < c->experts ? c->experts - most : 0;
    return idle * nn_depth(m) * 3 * c->width * c->feed;
}

/* ---- the row ------------------------------------------------------------------ */

static const decoder_config published = {.vocabulary = 1024,
                                         .width = 128,
                                         .heads = 4,
                                         .key_heads = 2,
                                         .feed = 256,
                                         .experts = 4,
                                         .chosen = 2,
                                         .epsilon = 1e-5,
                                         .theta = 1e6};

const model_row model_mixtral = {
    .name = "mixtral",
    .summary = "Mixtral in a small size: llama's decoder with the best two of four experts",
    .source = "transformers.MixtralForCausalLM",
    .family = "transformer",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_ADAMW,
    .weights = MODEL_FILL_W3,
    .scans = true,
    .decodes = true,
    .full = {.seq = 32, .depth = 2, .learning_rate = 1e-4, .config = &published},
    .build = mixtral_build,
    .forward = model_decoder_forward,
    .idle_macs = idle_macs,
    .idle_elements = idle_elements,
};
