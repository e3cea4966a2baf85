/*
 * bert.c - BERT, as Hugging Face builds it (Devlin et al., BERT: Pre-training of Deep
 * Bidirectional Transformers, 2019): the encoder, with norms after each part, and the
 * model that predicts masked tokens, its decoder tied to the table of words.
 *
 * Frameworks keep the pad's embedding out of training. Here nothing need be done: no
 * query sees a pad's key and no loss counts its row, so its embedding gets no gradient.
 */
#include "models/bert_priv.h"

#include <float.h>
#include <math.h>

#define NORM_EPSILON 1e-12
#define PAD          0
#define TOKEN_TYPES  2
#define DROPOUT      0.1    /* wherever the encoder has one */
#define IGNORED      (-100) /* the label of a row that no loss counts */

const bert_config model_bert_config_base = {
    .vocabulary = 30522, .positions = 512, .width = 768, .layers = 12, .heads = 12, .hidden = 3072};
const bert_config model_bert_config_small = {
    .vocabulary = 512, .positions = 64, .width = 64, .layers = 2, .heads = 4, .hidden = 128};

/* ---- building the encoder --------------------------------------------------- */

void model_bert_inputs(model *m, bert_encoder *bert, const bert_config *config)
{
    bert->config = config;
    if (m->options.seq > config->positions)
        nn_fail(m, BN_INVALID, "option seq: %d is more than the %d positions that the model has",
                m->options.seq, config->positions);
    bert->input_ids = nn_tokens(m,
                                &(model_variable){.name = "input_ids",
                                                  .fill = MODEL_FILL_IDS,
                                                  .fill_low = PAD + 1,
                                                  .fill_high = config->vocabulary,
                                                  .mask = {.padded = true, .pad_value = PAD}},
                                false);
    bert->token_type_ids = nn_tokens(
        m,
        &(model_variable){
            .name = "token_type_ids", .fill = MODEL_FILL_HALF, .fill_low = 0, .fill_high = 1},
        false);
    bert->attention_mask = nn_tokens(m,
                                     &(model_variable){.name = "attention_mask",
                                                       .fill = MODEL_FILL_CONSTANT,
                                                       .fill_low = 1,
                                                       .mask = {.padded = true, .pad_value = 0}},
                                     false);
}

static void build_embeddings(model *m, bert_encoder *bert)
{
    const bert_config *c = bert->config;
    nn_enter(m, "embeddings");
    nn_embedding_new(m, &bert->words, "word_embeddings", c->vocabulary, c->width);
    nn_embedding_new(m, &bert->positions, "position_embeddings", c->positions, c->width);
    nn_embedding_new(m, &bert->token_types, "token_type_embeddings", TOKEN_TYPES, c->width);
    nn_layer_norm_new(m, &bert->norm, "LayerNorm", c->width, NORM_EPSILON);
    nn_dropout_new(m, &bert->drop, DROPOUT);
    bert->stage = nn_token_stage(m, NULL, c->width);
    nn_leave(m);
}

static void build_layer(model *m, bert_layer *layer, int number, const bert_config *c)
{
    layer->name = nn_layer_enter(m, number, c->layers);
    nn_enter(m, "attention");
    nn_enter(m, "self");
    nn_linear_new(m, &layer->query, "query", c->width, c->width, true);
    nn_linear_new(m, &layer->key, "key", c->width, c->width, true);
    nn_linear_new(m, &layer->value, "value", c->width, c->width, true);
    nn_leave(m);
    nn_enter(m, "output");
    nn_linear_new(m, &layer->output, "dense", c->width, c->width, true);
    nn_layer_norm_new(m, &layer->attention_norm, "LayerNorm", c->width, NORM_EPSILON);
    nn_leave(m);
    nn_leave(m);
    nn_enter(m, "intermediate");
    nn_linear_new(m, &layer->intermediate, "dense", c->width, c->hidden, true);
    nn_leave(m);
    nn_enter(m, "output");
    nn_linear_new(m, &layer->dense, "dense", c->hidden, c->width, true);
    nn_layer_norm_new(m, &layer->norm, "LayerNorm", c->width, NORM_EPSILON);
    nn_leave(m);
    layer->stage = nn_token_stage(m, NULL, c->width);
    nn_layer_leave(m);
}

void model_bert_new(model *m, bert_encoder *bert)
{
    const bert_config *c = bert->config;
    bert->layers = nn_alloc(m, (size_t)c->layers, sizeof *bert->layers);
    nn_enter(m, "bert");
    build_embeddings(m, bert);
    nn_enter(m, "encoder");
    nn_enter(m, "layer");
    for (int i = 0; i < c->layers; i++)
        build_layer(m, &bert->layers[i], i, c);
    nn_layers_new(m, &bert->stack, c->layers);
    nn_leave(m);
    nn_leave(m);
    nn_leave(m);
}

/* ---- the encoder's step -------------------------------------------------------- */

/* T tokens, D the model's width, F the feed-forward part's. */
static tg_tensor *embed(tg_trace *t, const bert_encoder *bert)
{
    static const int map[] = {1, 2};
    tg_scope_push(t, "embeddings");
    tg_tensor *x = nn_embedding(t, &bert->words, bert->input_ids); /* (B, T, D) */
    x = tg_add(t, x, nn_embedding(t, &bert->token_types, bert->token_type_ids));
    const tg_type type = *tg_tensor_type(x);
    tg_tensor *places = nn_slice(t, bert->positions.weight, 0, 0, type.dims[1]); /* (T, D) */
    x = tg_add(t, x, tg_broadcast(t, places, 3, type.dims, map));
    x = nn_dropout(t, &bert->drop, nn_layer_norm(t, &bert->norm, x));
    tg_scope_pop(t);
    return nn_keep(t, bert->stage, x);
}

static tg_tensor *attend(tg_trace *t, const bert_layer *layer, tg_tensor *x, int64_t heads,
                         const nn_attend *how)
{
    tg_scope_push(t, "self");
    tg_tensor *q = nn_split_heads(t, nn_linear(t, &layer->query, x), heads); /* (B, T, N, E) */
    tg_tensor *k = nn_split_heads(t, nn_linear(t, &layer->key, x), heads);
    tg_tensor *v = nn_split_heads(t, nn_linear(t, &layer->value, x), heads);
    x = nn_join_heads(t, nn_attention(t, q, k, v, how)); /* (B, T, D) */
    tg_scope_pop(t);
    return x;
}

/* The end of both parts of a layer: the norm of X + dropout(DENSE(Y)). */
static tg_tensor *add_and_norm(tg_trace *t, const nn_dense *dense, const nn_row_norm *norm,
                               const nn_drop *drop, tg_tensor *x, tg_tensor *y)
{
    tg_scope_push(t, "output");
    y = nn_dropout(t, drop, nn_linear(t, dense, y));
    x = nn_layer_norm(t, norm, tg_add(t, y, x));
    tg_scope_pop(t);
    return x;
}

/* Shared by all layers of a step. */
typedef struct bert_shared {
    const bert_encoder *bert;
    nn_attend how;
} bert_shared;

/* CONTEXT is a bert_shared. */
static tg_tensor *layer_step(tg_trace *t, const void *context, int number, tg_tensor *x)
{
    const bert_shared *s = context;
    const bert_encoder *bert = s->bert;
    const bert_layer *layer = &bert->layers[number];
    tg_scope_push(t, layer->name);
    tg_scope_push(t, "attention");
    tg_tensor *y = attend(t, layer, x, bert->config->heads, &s->how); /* (B, T, D) */
    x = add_and_norm(t, &layer->output, &layer->attention_norm, &bert->drop, x, y);
    tg_scope_pop(t);
    tg_scope_push(t, "intermediate");
    y = nn_gelu(t, nn_linear(t, &layer->intermediate, x)); /* (B, T, F) */
    tg_scope_pop(t);
    x = add_and_norm(t, &layer->dense, &layer->norm, &bert->drop, x, y); /* (B, T, D) */
    tg_scope_pop(t);
    return nn_keep(t, layer->stage, x);
}

tg_tensor *model_bert_keys(tg_trace *t, const bert_encoder *bert)
{
    return nn_token_mask(t, bert->attention_mask, 0);
}

tg_tensor *model_bert_encode(tg_trace *t, const bert_encoder *bert, tg_tensor *keys)
{
    const bert_config *c = bert->config;
    tg_scope_push(t, "bert");
    tg_tensor *x = embed(t, bert);
    const bert_shared shared = {
        .bert = bert,
        .how = {.scale = 1.0 / sqrt((double)c->width / c->heads),
                .hidden = -(double)FLT_MAX,
                .mask = nn_mask_keys(t, keys, c->heads, tg_tensor_type(x)->dims[1]),
                .drop = &bert->drop},
    };
    tg_scope_push(t, "encoder");
    tg_scope_push(t, "layer");
    x = nn_run_layers(t, &bert->stack, layer_step, &shared, x);
    tg_scope_pop(t);
    tg_scope_pop(t);
    tg_scope_pop(t);
    return x;
}

/* ---- masked tokens ---------------------------------------------------------------- */

typedef struct masked_bert {
    bert_encoder bert;
    tg_tensor *labels, *loss; /* NULL when no loss is wanted */
    tg_tensor *logits;        /* result, or NULL */
    tg_tensor *bias;          /* of the decoder, (V) */
    nn_dense dense;           /* cls.predictions.transform */
    nn_row_norm norm;
    tg_tensor *stage;
} masked_bert;

static void build_predictions(model *m, masked_bert *net)
{
    const bert_config *c = net->bert.config;
    nn_enter(m, "cls");
    nn_enter(m, "predictions");
    net->bias = nn_parameter(m, "bias", MODEL_FILL_BIAS, 1, TG_DIMS(c->vocabulary));
    nn_enter(m, "transform");
    nn_linear_new(m, &net->dense, "dense", c->width, c->width, true);
    nn_layer_norm_new(m, &net->norm, "LayerNorm", c->width, NORM_EPSILON);
    net->stage = nn_token_stage(m, NULL, c->width);
    nn_leave(m);
    nn_leave(m);
    nn_leave(m);
}

static void bert_build(model *m)
{
    const bert_config *c = m->variant->config;
    const model_options *o = &m->options;
    masked_bert *net = nn_alloc(m, 1, sizeof *net);
    m->network = net;
    model_bert_inputs(m, &net->bert, c);
    if (nn_wants_loss(m))
        net->labels = nn_tokens(m,
                                &(model_variable){.name = "labels",
                                                  .fill = MODEL_FILL_IDS,
                                                  .fill_high = c->vocabulary,
                                                  .mask = {.padded = true, .pad_value = IGNORED}},
                                false);
    net->loss = nn_loss_result(m);
    if (nn_wants_outputs(m))
        net->logits = nn_result(m, "logits", o->dtype, 3, TG_DIMS(o->batch, o->seq, c->vocabulary));
    model_bert_new(m, &net->bert);
    build_predictions(m, net);
}

/* (B, T, D) -> logits (B, T, V) */
static tg_tensor *predict(tg_trace *t, const masked_bert *net, tg_tensor *x)
{
    tg_scope_push(t, "cls");
    tg_scope_push(t, "predictions");
    tg_scope_push(t, "transform");
    x = nn_layer_norm(t, &net->norm, nn_gelu(t, nn_linear(t, &net->dense, x)));
    tg_scope_pop(t);
    nn_keep(t, net->stage, x);
    tg_scope_push(t, "decoder");
    x = nn_project(t, x, net->bert.words.weight, net->bias);
    tg_scope_pop(t);
    tg_scope_pop(t);
    tg_scope_pop(t);
    return x;
}

static tg_tensor *bert_forward(tg_trace *t, const void *network)
{
    const masked_bert *net = network;
    tg_tensor *x = model_bert_encode(t, &net->bert, model_bert_keys(t, &net->bert)); /* (B, T, D) */
    x = nn_keep(t, net->logits, predict(t, net, x));                                 /* (B, T, V) */
    if (!net->labels)
        return NULL;
    tg_scope_push(t, "loss");
    tg_tensor *loss = nn_token_loss(t, nn_log_softmax(t, x), net->labels, IGNORED, 0.0);
    tg_scope_pop(t);
    return nn_keep(t, net->loss, loss);
}

/* ---- row ----------------------------------------------------------------------------- */

static const model_tied bert_tied[] = {
    {"cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"},
    {"cls.predictions.decoder.bias", "cls.predictions.bias"},
    {NULL, NULL},
};

const model_row model_bert = {
    .name = "bert",
    .summary = "BERT base that predicts masked tokens",
    .source = "transformers.BertForMaskedLM",
    .family = "transformer",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_ADAMW,
    .weights = MODEL_FILL_W3,
    .pads = true,
    .scans = true,
    .tied = bert_tied,
    .full = {.seq = 128, .learning_rate = 1e-4, .config = &model_bert_config_base},
    .small = {.seq = 16, .learning_rate = 1e-4, .config = &model_bert_config_small},
    .build = bert_build,
    .forward = bert_forward,
};
