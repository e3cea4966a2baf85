/*
 * gpt2.c - GPT-2 (Radford et al., Language Models are Unsupervised Multitask
 * Learners, 2019), as Hugging Face transformers builds it: learned positions,
 * normalisation before each sublayer, and the embedding as the output layer.
 */
#include "models/model_priv.h"

#include <math.h>

#define EPSILON 1e-5
#define DROPOUT 0.1 /* embeddings, attention weights, outputs of sublayers */

typedef struct gpt2_config {
    int vocabulary, positions, width, heads;
} gpt2_config;

/* Hugging Face's Conv1D: a linear layer whose weight is (in, out). */
typedef struct gpt2_conv1d {
    const char *name;
    tg_tensor *weight, *bias;
} gpt2_conv1d;

typedef struct gpt2_block {
    const char *name;
    nn_row_norm ln_1, ln_2;
    struct {
        gpt2_conv1d c_attn, c_proj;
        nn_drop attn_dropout, resid_dropout;
        nn_cache cache;
        int64_t heads;
    } attn;
    struct {
        gpt2_conv1d c_fc, c_proj;
        nn_drop dropout;
    } mlp;
    tg_tensor *stage;
} gpt2_block;

typedef struct gpt2 {
    nn_causal task;
    nn_table wte, wpe;
    nn_drop drop;
    gpt2_block *h;
    nn_layers layers;
    int heads;
    nn_row_norm ln_f;
    struct {
        tg_tensor *wte, *ln_f;
    } stages;
} gpt2;

/* ---- building ------------------------------------------------------------- */

static void conv1d_new(model *m, gpt2_conv1d *layer, const char *name, int64_t in, int64_t out)
{
    nn_enter(m, name);
    layer->name = name;
    layer->weight = nn_parameter(m, "weight", m->row->weights, 2, TG_DIMS(in, out));
    layer->bias = nn_parameter(m, "bias", MODEL_FILL_BIAS, 1, &out);
    nn_leave(m);
}

static void build_block(model *m, gpt2_block *b, int number, int depth)
{
    const gpt2_config *c = m->variant->config;
    const int64_t width = c->width;
    b->attn.heads = c->heads;
    b->name = nn_layer_enter(m, number, depth);
    nn_layer_norm_new(m, &b->ln_1, "ln_1", width, EPSILON);
    nn_enter(m, "attn");
    conv1d_new(m, &b->attn.c_attn, "c_attn", width, 3 * width);
    conv1d_new(m, &b->attn.c_proj, "c_proj", width, width);
    nn_dropout_new(m, &b->attn.attn_dropout, DROPOUT);
    nn_dropout_new(m, &b->attn.resid_dropout, DROPOUT);
    nn_cache_new(m, &b->attn.cache, c->heads, width / c->heads);
    nn_leave(m);
    nn_layer_norm_new(m, &b->ln_2, "ln_2", width, EPSILON);
    nn_enter(m, "mlp");
    conv1d_new(m, &b->mlp.c_fc, "c_fc", width, 4 * width);
    conv1d_new(m, &b->mlp.c_proj, "c_proj", 4 * width, width);
    nn_dropout_new(m, &b->mlp.dropout, DROPOUT);
    nn_leave(m);
    b->stage = nn_token_stage(m, NULL, width);
    nn_layer_leave(m);
}

static void gpt2_build(model *m)
{
    const gpt2_config *c = m->variant->config;
    gpt2 *net = nn_alloc(m, 1, sizeof *net);
    m->network = net;
    const int last = m->options.decode ? m->options.context : m->options.seq;
    if (last > c->positions) {
        nn_fail(m, BN_INVALID, "option %s: %d tokens, but there are only %d positions",
                m->options.decode ? "context" : "seq", last, c->positions);
        return;
    }
    nn_causal_new(m, &net->task, c->vocabulary);
    nn_enter(m, "transformer");
    nn_embedding_new(m, &net->wte, "wte", c->vocabulary, c->width);
    net->stages.wte = nn_token_stage(m, "wte", c->width);
    nn_embedding_new(m, &net->wpe, "wpe", c->positions, c->width);
    nn_dropout_new(m, &net->drop, DROPOUT);
    nn_enter(m, "h");
    const int depth = nn_depth(m);
    net->heads = c->heads;
    net->h = nn_alloc(m, (size_t)depth, sizeof *net->h);
    for (int i = 0; i < depth; i++)
        build_block(m, &net->h[i], i, depth);
    nn_layers_new(m, &net->layers, depth);
    nn_leave(m);
    nn_layer_norm_new(m, &net->ln_f, "ln_f", c->width, EPSILON);
    net->stages.ln_f = nn_token_stage(m, "ln_f", c->width);
    nn_leave(m);
}

/* ---- a step ----------------------------------------------------------------- */

/* Sizes are those of the published model, T tokens a row. */

/* Shared by all blocks of a step. */
typedef struct gpt2_shared {
    const gpt2 *net;
    tg_tensor *mask; /* (B, 12, T, T); with decode that of nn_decode_seen */
} gpt2_shared;

static tg_tensor *conv1d(tg_trace *t, const gpt2_conv1d *layer, tg_tensor *x)
{
    tg_scope_push(t, layer->name);
    x = nn_add_vector(t, tg_matmul(t, x, layer->weight), layer->bias);
    tg_scope_pop(t);
    return x;
}

/* X (B, T, 2304) holds three parts side by side: PART, split into heads. */
static tg_tensor *heads_of_part(tg_trace *t, tg_tensor *x, int64_t part, int64_t heads)
{
    const int64_t width = tg_tensor_type(x)->dims[2] / 3;
    x = nn_slice(t, x, 2, part * width, width); /* (B, T, 768) */
    return nn_split_heads(t, x, heads);        /* (B, T, 12, 64) */
}

static tg_tensor *attention(tg_trace *t, const gpt2_block *b, tg_tensor *x, const gpt2_shared *s)
{
    tg_scope_push(t, "attn");
    x = conv1d(t, &b->attn.c_attn, x); /* (B, T, 2304) */
    tg_tensor *q = heads_of_part(t, x, 0, b->attn.heads);
    tg_tensor *k = heads_of_part(t, x, 1, b->attn.heads);
    tg_tensor *v = heads_of_part(t, x, 2, b->attn.heads); /* (B, T, 12, 64) */
    const nn_attend how = {.scale = 1.0 / sqrt((double)tg_tensor_type(q)->dims[3]),
                           .hidden = -INFINITY,
                           .mask = s->mask,
                           .drop = &b->attn.attn_dropout};
    x = b->attn.cache.keys ? nn_attention_cached(t, q, k, v, &b->attn.cache, &s->net->task.decode,
                                                 s->mask, how.scale)
                           : nn_attention(t, q, k, v, &how);
    x = nn_join_heads(t, x); /* (B, T, 768) */
    x = conv1d(t, &b->attn.c_proj, x);
    x = nn_dropout(t, &b->attn.resid_dropout, x);
    tg_scope_pop(t);
    return x;
}

static tg_tensor *feed_forward(tg_trace *t, const gpt2_block *b, tg_tensor *x)
{
    tg_scope_push(t, "mlp");
    x = nn_gelu_tanh(t, conv1d(t, &b->mlp.c_fc, x)); /* (B, T, 3072) */
    x = conv1d(t, &b->mlp.c_proj, x);                /* (B, T, 768) */
    x = nn_dropout(t, &b->mlp.dropout, x);
    tg_scope_pop(t);
    return x;
}

/* CONTEXT is a gpt2_shared. */
static tg_tensor *block_step(tg_trace *t, const void *context, int number, tg_tensor *x)
{
    const gpt2_shared *s = context;
    const gpt2_block *b = &s->net->h[number];
    tg_scope_push(t, b->name);
    x = tg_add(t, x, attention(t, b, nn_layer_norm(t, &b->ln_1, x), s));
    x = tg_add(t, x, feed_forward(t, b, nn_layer_norm(t, &b->ln_2, x)));
    tg_scope_pop(t);
    return nn_keep(t, b->stage, x);
}

/* The vectors of positions 0 to T - 1, or of the one that DECODE is at, for each row. */
static tg_tensor *positions(tg_trace *t, const nn_table *wpe, const nn_decode *decode,
                            int64_t batch, int64_t tokens)
{
    static const int map[] = {1, 2};
    const int64_t width = tg_tensor_type(wpe->weight)->dims[1];
    tg_scope_push(t, wpe->name);
    tg_tensor *x = decode->position ? nn_decode_row(t, decode, wpe->weight) /* (T, 768) */
                                    : nn_slice(t, wpe->weight, 0, 0, tokens);
    x = tg_broadcast(t, x, 3, TG_DIMS(batch, tokens, width), map); /* (B, T, 768) */
    tg_scope_pop(t);
    return x;
}

static tg_tensor *gpt2_forward(tg_trace *t, const void *network)
{
    const gpt2 *net = network;
    const nn_decode *decode = &net->task.decode;
    tg_tensor *ids = nn_causal_tokens(t, &net->task);
    const tg_type *type = tg_tensor_type(ids);
    const int64_t batch = type->dims[0], tokens = type->dims[1];

    tg_scope_push(t, "transformer");
    tg_tensor *x = nn_embedding(t, &net->wte, ids); /* (B, T, 768) */
    nn_keep(t, net->stages.wte, x);
    x = tg_add(t, x, positions(t, &net->wpe, decode, batch, tokens));
    x = nn_dropout(t, &net->drop, x);
    tg_scope_push(t, "h");
    const gpt2_shared shared = {net, decode->position
                                         ? nn_decode_seen(t, decode, batch, net->heads, 1)
                                         : nn_mask_causal(t, batch, net->heads, tokens)};
    x = nn_run_layers(t, &net->layers, block_step, &shared, x); /* (B, T, 768) */
    tg_scope_pop(t);
    x = nn_layer_norm(t, &net->ln_f, x);
    nn_keep(t, net->stages.ln_f, x);
    tg_scope_pop(t);

    tg_scope_push(t, "lm_head");
    x = nn_project(t, x, net->wte.weight, NULL); /* (B, T, 50257) */
    tg_scope_pop(t);
    return nn_causal_end(t, &net->task, x);
}

/* ---- rows --------------------------------------------------------------------- */

static const gpt2_config published = {50257, 1024, 768, 12};
static const gpt2_config reduced = {512, 64, 64, 4};
static const model_tied tied[] = {{"lm_head.weight", "transformer.wte.weight"}, {NULL, NULL}};

const model_row model_gpt2 = {
    .name = "gpt2",
    .summary = "GPT-2 of 12 layers, a causal language model",
    .source = "transformers.GPT2LMHeadModel",
    .family = "transformer",
    .batch = 1,
    .golden_batch = 1,
    .optimizer = MODEL_ADAMW,
    .weights = MODEL_FILL_W3,
    .scans = true,
    .decodes = true,
    .tied = tied,
    .full = {.seq = 64, .depth = 12, .learning_rate = 1e-4, .config = &published},
    .small = {.seq = 16, .depth = 2, .learning_rate = 1e-4, .config = &reduced},
    .build = gpt2_build,
    .forward = gpt2_forward,
};
