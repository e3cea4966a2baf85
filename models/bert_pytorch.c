/*
 * bert_pytorch.c - codertimo's BERT as TorchBench runs it: norms before each part and
 * none at the end, sinusoids for places, a norm of its own, and two heads that end in
 * log softmax: the masked tokens, and whether the second sentence follows the first.
 *
 * The source keeps the pad's rows out of training. Here nothing need be done: no query
 * sees a pad's key and no loss counts its row, so its embedding gets no gradient.
 */
#include "models/model_priv.h"

#include <math.h>

#define NORM_EPSILON 1e-6
#define DROPOUT      0.1
#define PAD          0    /* also the label that no loss counts */
#define SPECIAL      5    /* numbers that are no words; PAD is the first */
#define POSITIONS    512  /* rows of the source's table */
#define HIDDEN       -1e9 /* score of a key that no query may see */

typedef struct codertimo_config {
    int vocabulary, width, layers, heads;
} codertimo_config;

/* The norm before one part of a block. */
typedef struct sublayer {
    const char *name;
    nn_row_norm norm;
} sublayer;

typedef struct codertimo_block {
    const char *name;
    nn_dense linear_layers[3], output_linear; /* of q, k, v */
    nn_dense w_1, w_2;
    sublayer input, output; /* attention, feed-forward */
    tg_tensor *stage;
} codertimo_block;

typedef struct codertimo {
    const codertimo_config *config;
    tg_tensor *input_ids, *segment_label; /* i32 (B, T) */
    tg_tensor *bert_label, *is_next;      /* i32 (B, T), (B); NULL when no loss is wanted */
    tg_tensor *loss, *logits, *next_sentence;
    nn_table token, segment;
    tg_tensor *places; /* f32 (1, POSITIONS, D) */
    nn_drop drop;
    codertimo_block *blocks;
    nn_dense next_linear, mask_linear;
} codertimo;

/* ---- building ------------------------------------------------------------- */

static tg_tensor *tokens(model *m, const char *name, model_fill fill, double low, double high)
{
    return nn_tokens(m,
                     &(model_variable){.name = name,
                                       .fill = fill,
                                       .fill_low = low,
                                       .fill_high = high,
                                       .mask = {.padded = true, .pad_value = PAD}},
                     true);
}

static void build_batch(model *m, codertimo *net)
{
    const model_options *o = &m->options;
    const int vocabulary = net->config->vocabulary;
    if (o->seq > POSITIONS)
        nn_fail(m, BN_INVALID, "option seq: %d is more than the %d positions that the model has",
                o->seq, POSITIONS);
    net->input_ids = tokens(m, "input_ids", MODEL_FILL_IDS, SPECIAL, vocabulary);
    net->segment_label = tokens(m, "segment_label", MODEL_FILL_HALF, 1, 2);
    if (nn_wants_loss(m)) {
        net->bert_label = nn_tokens(
            m,
            &(model_variable){
                .name = "bert_label",
                .fill = MODEL_FILL_IDS,
                .fill_low = SPECIAL,
                .fill_high = vocabulary,
                .mask = {.sparse = true, .elsewhere = PAD, .padded = true, .pad_value = PAD}},
            true);
        net->is_next = nn_row_labels(m, "is_next", MODEL_FILL_CONSTANT, 1, 1);
    }
    net->loss = nn_loss_result(m);
    if (nn_wants_outputs(m)) {
        net->logits = nn_result(m, "logits", o->dtype, 3, TG_DIMS(o->batch, o->seq, vocabulary));
        net->next_sentence = nn_result(m, "next_sentence", o->dtype, 2, TG_DIMS(o->batch, 2));
    }
}

/* Columns 2k and 2k + 1 hold sine and cosine of position * 10000^(-2k / D). */
static double sinusoid(const model_variable *v, int64_t index)
{
    const int64_t width = v->shape.dims[2];
    const int64_t position = index / width, column = index % width;
    const double rate = exp((double)(column - column % 2) * -(log(10000.0) / (double)width));
    const double angle = (double)position * rate;
    return column % 2 ? cos(angle) : sin(angle);
}

static void build_embedding(model *m, codertimo *net)
{
    const int64_t width = net->config->width;
    nn_enter(m, "embedding");
    nn_embedding_new(m, &net->token, "token", net->config->vocabulary, width);
    nn_enter(m, "position");
    net->places = nn_buffer(m, "pe", 3, TG_DIMS(1, POSITIONS, width), sinusoid);
    nn_leave(m);
    nn_embedding_new(m, &net->segment, "segment", 3, width);
    nn_dropout_new(m, &net->drop, DROPOUT);
    nn_leave(m);
}

static void build_sublayer(model *m, sublayer *part, const char *name, int64_t width)
{
    nn_row_norm *norm = &part->norm;
    *part = (sublayer){.name = name, .norm = {.name = "norm", .epsilon = NORM_EPSILON}};
    nn_enter(m, name);
    nn_enter(m, norm->name);
    norm->weight = nn_parameter(m, "a_2", MODEL_FILL_NORM, 1, &width);
    norm->bias = nn_parameter(m, "b_2", MODEL_FILL_BIAS, 1, &width);
    nn_leave(m);
    nn_leave(m);
}

static void build_block(model *m, codertimo_block *b, int number, int64_t width)
{
    static const char *const names[3] = {"0", "1", "2"};
    b->name = nn_index_name(m, number);
    nn_enter(m, b->name);
    nn_enter(m, "attention");
    nn_enter(m, "linear_layers");
    for (int i = 0; i < 3; i++)
        nn_linear_new(m, &b->linear_layers[i], names[i], width, width, true);
    nn_leave(m);
    nn_linear_new(m, &b->output_linear, "output_linear", width, width, true);
    nn_leave(m);
    nn_enter(m, "feed_forward");
    nn_linear_new(m, &b->w_1, "w_1", width, 4 * width, true);
    nn_linear_new(m, &b->w_2, "w_2", 4 * width, width, true);
    nn_leave(m);
    build_sublayer(m, &b->input, "input_sublayer", width);
    build_sublayer(m, &b->output, "output_sublayer", width);
    b->stage = nn_token_stage(m, NULL, width);
    nn_leave(m);
}

static void codertimo_build(model *m)
{
    const codertimo_config *c = m->variant->config;
    codertimo *net = nn_alloc(m, 1, sizeof *net);
    m->network = net;
    net->config = c;
    net->blocks = nn_alloc(m, (size_t)c->layers, sizeof *net->blocks);

    build_batch(m, net);
    nn_enter(m, "bert");
    build_embedding(m, net);
    nn_enter(m, "transformer_blocks");
    for (int i = 0; i < c->layers; i++)
        build_block(m, &net->blocks[i], i, c->width);
    nn_leave(m);
    nn_leave(m);
    nn_enter(m, "next_sentence");
    nn_linear_new(m, &net->next_linear, "linear", c->width, 2, true);
    nn_leave(m);
    nn_enter(m, "mask_lm");
    nn_linear_new(m, &net->mask_linear, "linear", c->width, c->vocabulary, true);
    nn_leave(m);
}

/* ---- a step ----------------------------------------------------------------- */

/* T tokens, D their width. */
static tg_tensor *embed(tg_trace *t, const codertimo *net)
{
    static const int map[] = {0, 1, 2};
    tg_scope_push(t, "embedding");
    tg_tensor *x = nn_embedding(t, &net->token, net->input_ids); /* (B, T, D) */
    const tg_type type = *tg_tensor_type(x);
    tg_tensor *places = nn_convert(t, nn_slice(t, net->places, 1, 0, type.dims[1]), type.dtype);
    x = tg_add(t, x, tg_broadcast(t, places, 3, type.dims, map));
    x = tg_add(t, x, nn_embedding(t, &net->segment, net->segment_label));
    x = nn_dropout(t, &net->drop, x);
    tg_scope_pop(t);
    return x;
}

/* weight * (x - mean) / (s + epsilon) + bias in f32, where s is the unbiased standard
 * deviation of a row. */
static tg_tensor *norm_step(tg_trace *t, const sublayer *part, tg_tensor *x)
{
    static const int rows[] = {0, 1};
    const nn_row_norm *norm = &part->norm;
    const tg_type type = *tg_tensor_type(x); /* (B, T, D) */
    tg_scope_push(t, part->name);
    tg_scope_push(t, norm->name);
    x = nn_convert(t, x, TG_F32);
    x = tg_sub(t, x, nn_row_mean(t, x));
    tg_tensor *s = tg_reduce_sum(t, tg_mul(t, x, x), 1u << 2); /* (B, T) */
    s = tg_sqrt(t, tg_mul(t, s, tg_scalar(t, TG_F32, 1.0 / (double)(type.dims[2] - 1))));
    s = tg_add(t, s, tg_scalar(t, TG_F32, norm->epsilon));
    x = nn_mul_vector(t, x, nn_convert(t, norm->weight, TG_F32));
    x = tg_div(t, x, tg_broadcast(t, s, 3, type.dims, rows));
    x = nn_convert(t, nn_add_vector(t, x, nn_convert(t, norm->bias, TG_F32)), type.dtype);
    tg_scope_pop(t);
    tg_scope_pop(t);
    return x;
}

static tg_tensor *attend(tg_trace *t, const codertimo_block *b, const codertimo *net, tg_tensor *x,
                         const nn_attend *how)
{
    tg_tensor *heads[3]; /* (B, T, N, E) */
    tg_scope_push(t, "attention");
    tg_scope_push(t, "linear_layers");
    for (int i = 0; i < 3; i++)
        heads[i] = nn_split_heads(t, nn_linear(t, &b->linear_layers[i], x), net->config->heads);
    tg_scope_pop(t);
    x = nn_attention(t, heads[0], heads[1], heads[2], how);
    x = nn_linear(t, &b->output_linear, nn_join_heads(t, x)); /* (B, T, D) */
    tg_scope_pop(t);
    return x;
}

static tg_tensor *feed_forward(tg_trace *t, const codertimo_block *b, const codertimo *net,
                               tg_tensor *x)
{
    tg_scope_push(t, "feed_forward");
    x = nn_gelu(t, nn_linear(t, &b->w_1, x)); /* (B, T, 4 D) */
    x = nn_linear(t, &b->w_2, nn_dropout(t, &net->drop, x));
    tg_scope_pop(t);
    return x;
}

static tg_tensor *block_step(tg_trace *t, const codertimo_block *b, const codertimo *net,
                             tg_tensor *x, const nn_attend *how)
{
    tg_scope_push(t, b->name);
    tg_tensor *y = attend(t, b, net, norm_step(t, &b->input, x), how); /* (B, T, D) */
    x = tg_add(t, x, nn_dropout(t, &net->drop, y));
    y = feed_forward(t, b, net, norm_step(t, &b->output, x));
    x = tg_add(t, x, nn_dropout(t, &net->drop, y));
    x = nn_dropout(t, &net->drop, x);
    tg_scope_pop(t);
    return nn_keep(t, b->stage, x);
}

static tg_tensor *encode(tg_trace *t, const codertimo *net)
{
    const codertimo_config *c = net->config;
    tg_scope_push(t, "bert");
    tg_tensor *x = embed(t, net); /* (B, T, D) */
    tg_tensor *keys = nn_token_mask(t, net->input_ids, PAD);
    const nn_attend how = {
        .scale = 1.0 / sqrt((double)c->width / c->heads),
        .hidden = HIDDEN,
        .mask = nn_mask_keys(t, keys, c->heads, tg_tensor_type(x)->dims[1]),
        .drop = &net->drop,
    };
    tg_scope_push(t, "transformer_blocks");
    for (int i = 0; i < c->layers; i++)
        x = block_step(t, &net->blocks[i], net, x, &how);
    tg_scope_pop(t);
    tg_scope_pop(t);
    return x;
}

/* Returns log softmax of LINEAR(X) in f32; RESULT, where wanted, gets it in X's dtype. */
static tg_tensor *head_step(tg_trace *t, const char *name, const nn_dense *linear, tg_tensor *x,
                            tg_tensor *result)
{
    const tg_dtype dtype = tg_tensor_type(x)->dtype;
    tg_scope_push(t, name);
    tg_tensor *logp = nn_log_softmax(t, nn_linear(t, linear, x));
    if (result)
        nn_keep(t, result, nn_convert(t, logp, dtype));
    tg_scope_pop(t);
    return logp;
}

static tg_tensor *codertimo_forward(tg_trace *t, const void *network)
{
    const codertimo *net = network;
    tg_tensor *x = encode(t, net); /* (B, T, D) */
    const int64_t *dims = tg_tensor_type(x)->dims;
    tg_tensor *first = /* (B, D) */
        tg_reshape(t, nn_slice(t, x, 1, 0, 1), 2, TG_DIMS(dims[0], dims[2]));
    tg_tensor *next = /* (B, 2) */
        head_step(t, "next_sentence", &net->next_linear, first, net->next_sentence);
    tg_tensor *words = /* (B, T, V) */
        head_step(t, "mask_lm", &net->mask_linear, x, net->logits);
    if (!net->bert_label)
        return NULL;
    tg_scope_push(t, "loss");
    tg_tensor *loss = tg_add(t, nn_token_loss(t, next, net->is_next, PAD, 0.0),
                             nn_token_loss(t, words, net->bert_label, PAD, 0.0));
    tg_scope_pop(t);
    return nn_keep(t, net->loss, loss);
}

/* ---- row -------------------------------------------------------------------- */

static const codertimo_config base = {.vocabulary = 20005, .width = 768, .layers = 12, .heads = 12};
static const codertimo_config reduced = {.vocabulary = 505, .width = 64, .layers = 2, .heads = 4};

const model_row model_bert_pytorch = {
    .name = "bert_pytorch",
    .summary = "codertimo's BERT: masked tokens and the next sentence",
    .source = "torchbenchmark BERT_pytorch",
    .family = "transformer",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_ADAMW,
    .weights = MODEL_FILL_W3,
    .full = {.seq = 128, .learning_rate = 1e-4, .config = &base},
    .small = {.seq = 16, .learning_rate = 1e-4, .config = &reduced},
    .build = codertimo_build,
    .forward = codertimo_forward,
};
