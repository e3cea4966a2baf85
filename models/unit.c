/*
 * unit.c - UniT's path for pairs of sentences (Hu and Singh, UniT: Multimodal
 * Multitask Learning with a Unified Transformer, 2021): BERT's encoder; DETR's decoder
 * over learned queries (Carion et al., 2020), with norms after each part; a classifier
 * of the mean over the queries.
 */
#include "models/bert_priv.h"

#include <float.h>
#include <math.h>

#define NORM_EPSILON 1e-5
#define DROPOUT      0.1
#define CLASSES      2

typedef struct unit_config {
    const bert_config *bert;
    int queries, layers, heads, hidden; /* of the decoder */
} unit_config;

/* Attention with one matrix for q, k and v, as torch.nn.MultiheadAttention has it. */
typedef struct packed_attention {
    const char *name;
    tg_tensor *weight, *bias; /* (3 D, D), (3 D): rows of q, of k, of v */
    nn_dense out_proj;
} packed_attention;

typedef struct decoder_layer {
    const char *name;
    packed_attention self_attn, multihead_attn; /* the other is over the encoder's tokens */
    nn_dense linear1, linear2;
    nn_row_norm norm1, norm2, norm3;
    tg_tensor *stage;
} decoder_layer;

typedef struct unit {
    const unit_config *config;
    nn_classifier task;
    bert_encoder bert;
    nn_table queries; /* (25, D) */
    nn_drop drop;
    decoder_layer *layers;
    nn_row_norm norm;
    nn_dense classifier;
    tg_tensor *stage; /* of the norm */
} unit;

/* ---- building ------------------------------------------------------------- */

static void build_attention(model *m, packed_attention *a, const char *name, int64_t width)
{
    a->name = name;
    nn_enter(m, name);
    a->weight = nn_parameter(m, "in_proj_weight", m->row->weights, 2, TG_DIMS(3 * width, width));
    a->bias = nn_parameter(m, "in_proj_bias", MODEL_FILL_BIAS, 1, TG_DIMS(3 * width));
    nn_linear_new(m, &a->out_proj, "out_proj", width, width, true);
    nn_leave(m);
}

static void build_layer(model *m, decoder_layer *layer, int number, const unit_config *c)
{
    const int64_t width = c->bert->width;
    layer->name = nn_index_name(m, number);
    nn_enter(m, layer->name);
    build_attention(m, &layer->self_attn, "self_attn", width);
    build_attention(m, &layer->multihead_attn, "multihead_attn", width);
    nn_linear_new(m, &layer->linear1, "linear1", width, c->hidden, true);
    nn_linear_new(m, &layer->linear2, "linear2", c->hidden, width, true);
    nn_layer_norm_new(m, &layer->norm1, "norm1", width, NORM_EPSILON);
    nn_layer_norm_new(m, &layer->norm2, "norm2", width, NORM_EPSILON);
    nn_layer_norm_new(m, &layer->norm3, "norm3", width, NORM_EPSILON);
    layer->stage = nn_plain_stage(m, NULL, 3, TG_DIMS(m->options.batch, c->queries, width));
    nn_leave(m);
}

static void unit_build(model *m)
{
    const unit_config *c = m->variant->config;
    const int64_t width = c->bert->width;
    unit *net = nn_alloc(m, 1, sizeof *net);
    m->network = net;
    net->config = c;
    net->layers = nn_alloc(m, (size_t)c->layers, sizeof *net->layers);

    model_bert_inputs(m, &net->bert, c->bert);
    nn_row_classifier_new(m, &net->task, CLASSES);
    model_bert_new(m, &net->bert);
    nn_embedding_new(m, &net->queries, "query_embed", c->queries, width);
    nn_dropout_new(m, &net->drop, DROPOUT);
    nn_enter(m, "decoder");
    nn_enter(m, "layers");
    for (int i = 0; i < c->layers; i++)
        build_layer(m, &net->layers[i], i, c);
    nn_leave(m);
    nn_layer_norm_new(m, &net->norm, "norm", width, NORM_EPSILON);
    net->stage = nn_plain_stage(m, "norm", 3, TG_DIMS(m->options.batch, c->queries, width));
    nn_leave(m);
    nn_linear_new(m, &net->classifier, "classifier", width, CLASSES, true);
}

/* ---- a step ----------------------------------------------------------------- */

/* Shared by all layers of a step. T queries, S tokens, D their width. */
typedef struct decoding {
    const unit *net;
    tg_tensor *places; /* (B, T, D): the learned queries */
    tg_tensor *memory; /* (B, S, D) */
    nn_attend among_queries, over_tokens;
} decoding;

/* Projects X (B, *, D) to COUNT of q, k and v, from FIRST on: (B, *, COUNT D). */
static tg_tensor *project(tg_trace *t, const packed_attention *a, tg_tensor *x, int first,
                          int count)
{
    const int64_t width = tg_tensor_type(x)->dims[2];
    tg_tensor *weight = nn_slice(t, a->weight, 0, first * width, count * width);
    tg_tensor *bias = nn_slice(t, a->bias, 0, first * width, count * width);
    return nn_project(t, x, weight, bias);
}

/* Q, K, V (B, *, D) -> (B, T, D) */
static tg_tensor *attend(tg_trace *t, const packed_attention *a, const decoding *d, tg_tensor *q,
                         tg_tensor *k, tg_tensor *v, const nn_attend *how)
{
    const int64_t heads = d->net->config->heads;
    tg_tensor *x = nn_attention(t, nn_split_heads(t, q, heads), nn_split_heads(t, k, heads),
                                nn_split_heads(t, v, heads), how); /* (B, T, N, E) */
    return nn_linear(t, &a->out_proj, nn_join_heads(t, x));
}

static tg_tensor *self_attention(tg_trace *t, const packed_attention *a, const decoding *d,
                                 tg_tensor *x)
{
    tg_scope_push(t, a->name);
    tg_tensor *placed = tg_add(t, x, d->places); /* (B, T, D) */
    tg_tensor *q = project(t, a, placed, 0, 1), *k = project(t, a, placed, 1, 1);
    x = attend(t, a, d, q, k, project(t, a, x, 2, 1), &d->among_queries);
    tg_scope_pop(t);
    return x;
}

static tg_tensor *cross_attention(tg_trace *t, const packed_attention *a, const decoding *d,
                                  tg_tensor *x)
{
    const int64_t width = tg_tensor_type(x)->dims[2];
    tg_scope_push(t, a->name);
    tg_tensor *q = project(t, a, tg_add(t, x, d->places), 0, 1); /* (B, T, D) */
    tg_tensor *both = project(t, a, d->memory, 1, 2);            /* (B, S, 2 D) */
    tg_tensor *k = nn_slice(t, both, 2, 0, width), *v = nn_slice(t, both, 2, width, width);
    x = attend(t, a, d, q, k, v, &d->over_tokens);
    tg_scope_pop(t);
    return x;
}

static tg_tensor *add_and_norm(tg_trace *t, const decoding *d, const nn_row_norm *norm,
                               tg_tensor *x, tg_tensor *y)
{
    return nn_layer_norm(t, norm, tg_add(t, x, nn_dropout(t, &d->net->drop, y)));
}

static tg_tensor *layer_step(tg_trace *t, const decoder_layer *layer, const decoding *d,
                             tg_tensor *x)
{
    tg_scope_push(t, layer->name);
    tg_tensor *y = self_attention(t, &layer->self_attn, d, x); /* (B, T, D) */
    x = add_and_norm(t, d, &layer->norm1, x, y);
    y = cross_attention(t, &layer->multihead_attn, d, x);
    x = add_and_norm(t, d, &layer->norm2, x, y);
    y = nn_relu(t, nn_linear(t, &layer->linear1, x)); /* (B, T, hidden) */
    y = nn_linear(t, &layer->linear2, nn_dropout(t, &d->net->drop, y));
    x = add_and_norm(t, d, &layer->norm3, x, y);
    tg_scope_pop(t);
    return nn_keep(t, layer->stage, x);
}

/* MEMORY (B, S, D), KEYS bool (B, S) -> (B, T, D). The first layer starts from
 * zeros; every layer adds the learned queries. */
static tg_tensor *decode(tg_trace *t, const unit *net, tg_tensor *memory, tg_tensor *keys)
{
    static const int map[] = {1, 2};
    const unit_config *c = net->config;
    tg_type type = *tg_tensor_type(memory);
    type.dims[1] = c->queries;
    decoding d = {.net = net, .memory = memory};
    tg_scope_push(t, "decoder");
    d.places = tg_broadcast(t, net->queries.weight, 3, type.dims, map);
    d.among_queries = (nn_attend){.scale = 1.0 / sqrt((double)type.dims[2] / c->heads),
                                  .hidden = -(double)FLT_MAX,
                                  .drop = &net->drop};
    d.over_tokens = d.among_queries;
    d.over_tokens.mask = nn_mask_keys(t, keys, c->heads, c->queries);
    tg_tensor *x = tg_full(t, &type, 0.0);
    tg_scope_push(t, "layers");
    for (int i = 0; i < c->layers; i++)
        x = layer_step(t, &net->layers[i], &d, x);
    tg_scope_pop(t);
    x = nn_keep(t, net->stage, nn_layer_norm(t, &net->norm, x));
    tg_scope_pop(t);
    return x;
}

/* Mean over the queries, (B, T, D) -> (B, D); bf16 is summed in f32. */
static tg_tensor *mean_of_queries(tg_trace *t, tg_tensor *x)
{
    const tg_type type = *tg_tensor_type(x);
    x = tg_reduce_sum(t, nn_convert(t, x, TG_F32), 1u << 1);
    x = tg_mul(t, x, tg_scalar(t, TG_F32, 1.0 / (double)type.dims[1]));
    return nn_convert(t, x, type.dtype);
}

static tg_tensor *unit_forward(tg_trace *t, const void *network)
{
    const unit *net = network;
    tg_tensor *targets = nn_classifier_targets(t, &net->task); /* (B, 2) */
    tg_tensor *keys = model_bert_keys(t, &net->bert);          /* (B, S) */
    tg_tensor *x = model_bert_encode(t, &net->bert, keys);     /* (B, S, D) */
    x = mean_of_queries(t, decode(t, net, x, keys));           /* (B, D) */
    x = nn_linear(t, &net->classifier, x);                     /* (B, 2) */
    return nn_classifier_end(t, &net->task, x, targets);
}

/* ---- row -------------------------------------------------------------------- */

static const unit_config detr = {
    .bert = &model_bert_config_base, .queries = 25, .layers = 6, .heads = 8, .hidden = 2048};
static const unit_config detr_small = {
    .bert = &model_bert_config_small, .queries = 25, .layers = 2, .heads = 4, .hidden = 128};

const model_row model_unit_qnli = {
    .name = "unit_qnli",
    .summary = "UniT's BERT encoder and DETR decoder, two classes for a pair of sentences",
    .source = "mmf's UniT on QNLI, its text path",
    .family = "transformer",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_ADAMW,
    .weights = MODEL_FILL_W3,
    .pads = true,
    .full = {.seq = 128, .learning_rate = 1e-6, .config = &detr},
    .small = {.seq = 16, .learning_rate = 1e-4, .config = &detr_small},
    .build = unit_build,
    .forward = unit_forward,
};
