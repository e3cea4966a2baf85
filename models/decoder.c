/*
 * decoder.c - the decoder of llama and its relatives, as Hugging Face transformers
 * builds it (Touvron et al., LLaMA, 2023): RMS norms before each sublayer, rotary
 * embedding, heads of keys and values that serve several of queries, an output
 * layer of its own. Each model says what the feed-forward of its layers is.
 */
#include "models/decoder_priv.h"

#include <math.h>

typedef struct decoder_layer {
    const char *name;
    struct {
        nn_dense q_proj, k_proj, v_proj, o_proj;
        nn_cache cache;
    } self_attn;
    void *feed;
    nn_row_norm input_layernorm, post_attention_layernorm;
    tg_tensor *stage;
} decoder_layer;

typedef struct decoder {
    nn_causal task;
    const decoder_config *config;
    const decoder_feed *feed;
    nn_table embed_tokens;
    decoder_layer *layers;
    nn_layers stack;
    nn_row_norm norm;
    tg_tensor *inv_freq; /* f32 (E / 2) */
    nn_dense lm_head;
    struct {
        tg_tensor *embed_tokens, *norm;
    } stages;
} decoder;

/* Shared by all layers of a step. */
typedef struct decoder_shared {
    const decoder *net;
    tg_tensor *cosines, *sines; /* f32 (T, E) */
    tg_tensor *mask;            /* bool (B, N, T, T); with decode that of nn_decode_seen */
} decoder_shared;

/* ---- building ------------------------------------------------------------- */

static void build_attention(model *m, decoder_layer *layer)
{
    const decoder_config *c = m->variant->config;
    const int64_t width = c->width, keys = width / c->heads * c->key_heads;
    nn_enter(m, "self_attn");
    nn_linear_new(m, &layer->self_attn.q_proj, "q_proj", width, width, false);
    nn_linear_new(m, &layer->self_attn.k_proj, "k_proj", width, keys, false);
    nn_linear_new(m, &layer->self_attn.v_proj, "v_proj", width, keys, false);
    nn_linear_new(m, &layer->self_attn.o_proj, "o_proj", width, width, false);
    nn_cache_new(m, &layer->self_attn.cache, c->key_heads, width / c->heads);
    nn_leave(m);
}

static void build_layer(model *m, decoder *net, int number, int depth)
{
    const decoder_config *c = net->config;
    decoder_layer *layer = &net->layers[number];
    layer->name = nn_layer_enter(m, number, depth);
    build_attention(m, layer);
    layer->feed = net->feed->build(m, c);
    nn_rms_norm_new(m, &layer->input_layernorm, "input_layernorm", c->width, c->epsilon);
    nn_rms_norm_new(m, &layer->post_attention_layernorm, "post_attention_layernorm", c->width,
                    c->epsilon);
    layer->stage = nn_token_stage(m, NULL, c->width);
    nn_layer_leave(m);
}

/* theta^(-2i / E): the angle that pair I of a head turns by from one token to the
 * next (Su et al., RoFormer, 2021, section 3.2.2). */
static double inverse_frequency(const model_variable *variable, int64_t index)
{
    return pow(variable->fill_low, -(double)index / (double)variable->shape.dims[0]);
}

static tg_tensor *build_rotary(model *m, const decoder_config *c)
{
    const int64_t pairs = c->width / c->heads / 2;
    nn_enter(m, "rotary_emb");
    tg_tensor *table = nn_variable(m, &(model_variable){.name = "inv_freq",
                                                        .role = MODEL_BUFFER,
                                                        .fill = MODEL_FILL_TABLE,
                                                        .fill_low = c->theta,
                                                        .table = inverse_frequency,
                                                        .shape = tg_type_make(TG_F32, 1, &pairs)});
    nn_leave(m);
    return table;
}

void model_decoder_build(model *m, const decoder_feed *feed)
{
    const decoder_config *c = m->variant->config;
    decoder *net = nn_alloc(m, 1, sizeof *net);
    m->network = net;
    net->config = c;
    net->feed = feed;

    nn_causal_new(m, &net->task, c->vocabulary);
    nn_enter(m, "model");
    nn_embedding_new(m, &net->embed_tokens, "embed_tokens", c->vocabulary, c->width);
    net->stages.embed_tokens = nn_token_stage(m, "embed_tokens", c->width);
    nn_enter(m, "layers");
    const int depth = nn_depth(m);
    net->layers = nn_alloc(m, (size_t)depth, sizeof *net->layers);
    for (int i = 0; i < depth; i++)
        build_layer(m, net, i, depth);
    nn_layers_new(m, &net->stack, depth);
    nn_leave(m);
    nn_rms_norm_new(m, &net->norm, "norm", c->width, c->epsilon);
    net->stages.norm = nn_token_stage(m, "norm", c->width);
    net->inv_freq = build_rotary(m, c);
    nn_leave(m);
    nn_linear_new(m, &net->lm_head, "lm_head", c->width, c->vocabulary, false);
}

/* ---- rotary embedding --------------------------------------------------------- */

/* Cosines and sines of position times frequency, f32 (T, E), of positions 0 to T - 1 or of the one
 * that a step of decode is at: the second half of a head turns with the first. No products of
 * matrices, so no multiply-adds. */
static void turn_angles(tg_trace *t, decoder_shared *s, int64_t tokens)
{
    static const int along = 1;
    tg_scope_push(t, "rotary_emb");
    const tg_type type =
        tg_type_make(TG_F32, 2, TG_DIMS(tokens, tg_tensor_type(s->net->inv_freq)->dims[0]));
    tg_tensor *frequencies = tg_broadcast(t, s->net->inv_freq, 2, type.dims, &along);
    tg_tensor *position = s->net->task.decode.position;
    position = position ? tg_convert(t, position, TG_F32) : tg_iota(t, &type, 0);
    tg_tensor *angles = tg_mul(t, position, frequencies); /* (T, E / 2) */
    angles = tg_concatenate(t, (tg_tensor *[]){angles, angles}, 2, 1);
    s->cosines = tg_cos(t, angles);
    s->sines = tg_sin(t, angles);
    tg_scope_pop(t);
}

/* Exchanges the halves of each head and negates the one that then comes first. */
static tg_tensor *rotate_half(tg_trace *t, tg_tensor *x)
{
    const int64_t half = tg_tensor_type(x)->dims[3] / 2; /* of E in (B, T, N, E) */
    tg_tensor *first = nn_slice(t, x, 3, 0, half);
    tg_tensor *second = nn_slice(t, x, 3, half, half);
    return tg_concatenate(t, (tg_tensor *[]){tg_neg(t, second), first}, 2, 3);
}

/* X (B, T, N, E) turned by the angles of its tokens, in f32. */
static tg_tensor *rotate(tg_trace *t, const decoder_shared *s, tg_tensor *x)
{
    static const int map[] = {1, 3};
    const tg_type type = *tg_tensor_type(x);
    x = nn_convert(t, x, TG_F32);
    tg_tensor *cosines = tg_broadcast(t, s->cosines, 4, type.dims, map);
    tg_tensor *sines = tg_broadcast(t, s->sines, 4, type.dims, map);
    x = tg_add(t, tg_mul(t, x, cosines), tg_mul(t, rotate_half(t, x), sines));
    return nn_convert(t, x, type.dtype);
}

/* ---- a step ----------------------------------------------------------------- */

/* Repeats each head of X for all heads of queries that it serves: (B, T, K, E) ->
 * (B, T, N, E). */
static tg_tensor *repeat_heads(tg_trace *t, tg_tensor *x, int64_t heads)
{
    static const int map[] = {0, 1, 2, 4};
    const int64_t *d = tg_tensor_type(x)->dims;
    const int64_t batch = d[0], tokens = d[1], groups = d[2], width = d[3];
    if (groups == heads)
        return x;
    x = tg_broadcast(t, x, 5, TG_DIMS(batch, tokens, groups, heads / groups, width), map);
    return tg_reshape(t, x, 4, TG_DIMS(batch, tokens, heads, width));
}

static tg_tensor *attention(tg_trace *t, const decoder_layer *layer, const decoder_shared *s,
                            tg_tensor *x)
{
    const decoder_config *c = s->net->config;
    tg_scope_push(t, "self_attn");
    tg_tensor *q = nn_split_heads(t, nn_linear(t, &layer->self_attn.q_proj, x), c->heads);
    tg_tensor *k = nn_split_heads(t, nn_linear(t, &layer->self_attn.k_proj, x), c->key_heads);
    tg_tensor *v = nn_split_heads(t, nn_linear(t, &layer->self_attn.v_proj, x), c->key_heads);
    q = rotate(t, s, q); /* (B, T, N, E) */
    k = rotate(t, s, k); /* (B, T, K, E) */
    const nn_attend how = {.scale = 1.0 / sqrt((double)tg_tensor_type(q)->dims[3]),
                           .hidden = -INFINITY,
                           .mask = s->mask};
    if (layer->self_attn.cache.keys)
        x = nn_attention_cached(t, q, k, v, &layer->self_attn.cache, &s->net->task.decode, s->mask,
                                how.scale);
    else
        x = nn_attention(t, q, repeat_heads(t, k, c->heads), repeat_heads(t, v, c->heads), &how);
    x = nn_join_heads(t, x); /* (B, T, D) */
    x = nn_linear(t, &layer->self_attn.o_proj, x);
    tg_scope_pop(t);
    return x;
}

tg_tensor *model_decoder_swiglu(tg_trace *t, const nn_dense *gate, const nn_dense *up,
                                const nn_dense *down, tg_tensor *x)
{
    tg_tensor *open = nn_silu(t, nn_linear(t, gate, x)); /* (..., F) */
    x = tg_mul(t, open, nn_linear(t, up, x));            /* (..., F) */
    return nn_linear(t, down, x);                        /* (..., D) */
}

/* CONTEXT is a decoder_shared. */
static tg_tensor *layer_step(tg_trace *t, const void *context, int number, tg_tensor *x)
{
    const decoder_shared *s = context;
    const decoder_layer *layer = &s->net->layers[number];
    tg_scope_push(t, layer->name);
    x = tg_add(t, x, attention(t, layer, s, nn_rms_norm(t, &layer->input_layernorm, x)));
    tg_tensor *fed = nn_rms_norm(t, &layer->post_attention_layernorm, x);
    x = tg_add(t, x, s->net->feed->step(t, layer->feed, fed)); /* (B, T, D) */
    tg_scope_pop(t);
    return nn_keep(t, layer->stage, x);
}

tg_tensor *model_decoder_forward(tg_trace *t, const void *network)
{
    const decoder *net = network;
    const decoder_config *c = net->config;
    const nn_decode *decode = &net->task.decode;
    tg_tensor *ids = nn_causal_tokens(t, &net->task);
    const tg_type *type = tg_tensor_type(ids);
    const int64_t batch = type->dims[0], tokens = type->dims[1];
    decoder_shared shared = {.net = net};

    tg_scope_push(t, "model");
    tg_tensor *x = nn_embedding(t, &net->embed_tokens, ids); /* (B, T, D) */
    nn_keep(t, net->stages.embed_tokens, x);
    turn_angles(t, &shared, tokens);
    shared.mask = decode->position
                      ? nn_decode_seen(t, decode, batch, c->key_heads, c->heads / c->key_heads)
                      : nn_mask_causal(t, batch, c->heads, tokens);
    tg_scope_push(t, "layers");
    x = nn_run_layers(t, &net->stack, layer_step, &shared, x); /* (B, T, D) */
    tg_scope_pop(t);
    x = nn_rms_norm(t, &net->norm, x);
    nn_keep(t, net->stages.norm, x);
    tg_scope_pop(t);
    return nn_causal_end(t, &net->task, nn_linear(t, &net->lm_head, x)); /* (B, T, V) */
}
