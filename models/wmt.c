/*
 * wmt.c - the base Transformer (Vaswani et al., Attention Is All You Need, 2017) as
 * fairseq's transformer_wmt_en_de builds it: an encoder and a decoder that share one
 * embedding with the output layer, sinusoids for positions, normalisation after each
 * sublayer, label smoothing. Sources and targets may differ in length.
 */
#include "models/model_priv.h"

#include <math.h>

#define PAD       1
#define FIRST_ID  4 /* below it are fairseq's special tokens */
#define EPSILON   1e-5
#define DROPOUT   0.1 /* embeddings, outputs of sublayers */
#define SMOOTHING 0.1

typedef struct wmt_config {
    int vocabulary, width, feed, heads, layers; /* layers: of encoder and decoder alike */
} wmt_config;

typedef struct wmt_attention {
    const char *name;
    nn_dense k_proj, v_proj, q_proj, out_proj;
    int64_t heads;
} wmt_attention;

typedef struct wmt_layer {
    const char *name;
    wmt_attention self_attn;
    nn_row_norm self_attn_layer_norm;
    wmt_attention encoder_attn; /* decoder */
    nn_row_norm encoder_attn_layer_norm;
    nn_dense fc1, fc2;
    nn_row_norm final_layer_norm;
    nn_drop drop;
    tg_tensor *stage;
} wmt_layer;

/* The encoder or the decoder. */
typedef struct wmt_stack {
    const char *name;
    tg_tensor *positions; /* f32 (longest row + 2, D) */
    nn_drop drop;
    wmt_layer *layers;
    int count;
} wmt_stack;

typedef struct wmt {
    tg_tensor *src_tokens;         /* i32 (B, S) */
    tg_tensor *prev_output_tokens; /* i32 (B, T) */
    tg_tensor *target;             /* i32 (B, T); NULL when no loss is wanted */
    tg_tensor *loss, *logits;      /* results, or NULL */
    nn_table embed_tokens;
    wmt_stack encoder, decoder;
    int64_t heads;
} wmt;

/* Properties of the rows of tokens that layers need. */
typedef struct wmt_tokens {
    tg_tensor *ids;       /* i32 (B, T) */
    tg_tensor *kept;      /* bool (B, T): no padding */
    tg_tensor *positions; /* i32 (B, T): from PAD + 1; PAD for padding */
} wmt_tokens;

/* ---- building ------------------------------------------------------------- */

static void build_attention(model *m, wmt_attention *a, const char *name)
{
    const wmt_config *c = m->variant->config;
    a->name = name;
    a->heads = c->heads;
    nn_enter(m, name);
    nn_linear_new(m, &a->k_proj, "k_proj", c->width, c->width, true);
    nn_linear_new(m, &a->v_proj, "v_proj", c->width, c->width, true);
    nn_linear_new(m, &a->q_proj, "q_proj", c->width, c->width, true);
    nn_linear_new(m, &a->out_proj, "out_proj", c->width, c->width, true);
    nn_leave(m);
}

static void build_layer(model *m, wmt_layer *layer, int number, bool decodes)
{
    const wmt_config *c = m->variant->config;
    layer->name = nn_index_name(m, number);
    nn_enter(m, layer->name);
    build_attention(m, &layer->self_attn, "self_attn");
    nn_layer_norm_new(m, &layer->self_attn_layer_norm, "self_attn_layer_norm", c->width, EPSILON);
    if (decodes) {
        build_attention(m, &layer->encoder_attn, "encoder_attn");
        nn_layer_norm_new(m, &layer->encoder_attn_layer_norm, "encoder_attn_layer_norm", c->width,
                          EPSILON);
    }
    nn_linear_new(m, &layer->fc1, "fc1", c->width, c->feed, true);
    nn_linear_new(m, &layer->fc2, "fc2", c->feed, c->width, true);
    nn_layer_norm_new(m, &layer->final_layer_norm, "final_layer_norm", c->width, EPSILON);
    nn_dropout_new(m, &layer->drop, DROPOUT);
    layer->stage = nn_token_stage(m, NULL, c->width);
    nn_leave(m);
}

/* fairseq's sinusoids: sines in the first half of a row, cosines in the second, of
 * the position times 10000^(-k / (half - 1)); zeros for padding. */
static double sinusoid(const model_variable *variable, int64_t index)
{
    const int64_t width = variable->shape.dims[1], half = width / 2;
    const int64_t position = index / width, column = index % width;
    if (position == PAD)
        return 0.0;
    const double k = (double)(column % half);
    const double angle = (double)position * exp(k * -(log(10000.0) / (double)(half - 1)));
    return column < half ? sin(angle) : cos(angle);
}

/* Builds STACK within the module in force, where the encoder has its embedding already. */
static void build_stack(model *m, wmt_stack *stack, bool decodes)
{
    const wmt_config *c = m->variant->config;
    nn_enter(m, "embed_positions");
    stack->positions =
        nn_buffer(m, "weights", 2, TG_DIMS(m->options.seq + PAD + 1, c->width), sinusoid);
    nn_leave(m);
    nn_dropout_new(m, &stack->drop, DROPOUT);
    stack->count = c->layers;
    stack->layers = nn_alloc(m, (size_t)c->layers, sizeof *stack->layers);
    nn_enter(m, "layers");
    for (int i = 0; i < stack->count; i++)
        build_layer(m, &stack->layers[i], i, decodes);
    nn_leave(m);
}

static tg_tensor *new_tokens(model *m, const char *name, int vocabulary, model_length length)
{
    return nn_tokens(m,
                     &(model_variable){.name = name,
                                       .fill = MODEL_FILL_IDS,
                                       .fill_low = FIRST_ID,
                                       .fill_high = vocabulary,
                                       .mask = {.padded = true, .pad_value = PAD},
                                       .length = length},
                     false);
}

static void wmt_build(model *m)
{
    const wmt_config *c = m->variant->config;
    const model_options *o = &m->options;
    wmt *net = nn_alloc(m, 1, sizeof *net);
    m->network = net;
    net->heads = c->heads;
    net->src_tokens = new_tokens(m, "src_tokens", c->vocabulary, MODEL_LENGTH_SOURCE);
    net->prev_output_tokens =
        new_tokens(m, "prev_output_tokens", c->vocabulary, MODEL_LENGTH_TARGET);
    if (nn_wants_loss(m))
        net->target = new_tokens(m, "target", c->vocabulary, MODEL_LENGTH_TARGET);
    net->loss = nn_loss_result(m);
    if (nn_wants_outputs(m))
        net->logits = nn_variable(
            m, &(model_variable){
                   .name = "logits",
                   .role = MODEL_RESULT,
                   .length = MODEL_LENGTH_TARGET,
                   .shape = tg_type_make(o->dtype, 3, TG_DIMS(o->batch, o->seq, c->vocabulary))});

    net->encoder.name = "encoder";
    nn_enter(m, net->encoder.name);
    nn_embedding_new(m, &net->embed_tokens, "embed_tokens", c->vocabulary, c->width);
    build_stack(m, &net->encoder, false);
    nn_leave(m);
    net->decoder.name = "decoder";
    nn_enter(m, net->decoder.name);
    build_stack(m, &net->decoder, true);
    nn_leave(m);
}

/* ---- a step ----------------------------------------------------------------- */

/* Runs in phase TG_PHASE_INPUT. */
static wmt_tokens prepare(tg_trace *t, tg_tensor *ids)
{
    tg_phase before = tg_trace_phase(t, TG_PHASE_INPUT);
    wmt_tokens tokens = {.ids = ids, .kept = nn_token_mask(t, ids, PAD)};
    tg_tensor *one = tg_convert(t, tokens.kept, TG_I32);     /* (B, T): 1, padding 0 */
    tg_tensor *count = tg_mul(t, tg_cumsum(t, one, 1), one); /* (B, T): from 1, padding 0 */
    tokens.positions = tg_add(t, count, tg_scalar(t, TG_I32, PAD));
    tg_trace_phase(t, before);
    return tokens;
}

/* sqrt(D) times the embedding, plus sinusoids: (B, T) -> (B, T, D). */
static tg_tensor *embed(tg_trace *t, const wmt_stack *stack, const nn_table *table,
                        const wmt_tokens *tokens)
{
    tg_tensor *x = nn_embedding(t, table, tokens->ids); /* (B, T, D) */
    const tg_type type = *tg_tensor_type(x);
    x = tg_mul(t, x, tg_scalar(t, type.dtype, sqrt((double)type.dims[2])));
    tg_scope_push(t, "embed_positions");
    tg_tensor *waves = tg_gather_rows(t, stack->positions, tokens->positions); /* (B, T, D) */
    waves = nn_convert(t, waves, type.dtype);
    tg_scope_pop(t);
    return nn_dropout(t, &stack->drop, tg_add(t, x, waves));
}

/* Attention of queries of X (B, T, D) to keys and values of MEMORY (B, S, D), under MASK
 * (B, N, T, S). It scales the queries, not the scores. */
static tg_tensor *attention(tg_trace *t, const wmt_attention *a, tg_tensor *x, tg_tensor *memory,
                            tg_tensor *mask)
{
    const tg_type type = *tg_tensor_type(x);
    const double scale = 1.0 / sqrt((double)type.dims[2] / (double)a->heads);
    tg_scope_push(t, a->name);
    tg_tensor *q = tg_mul(t, nn_linear(t, &a->q_proj, x), tg_scalar(t, type.dtype, scale));
    tg_tensor *k = nn_split_heads(t, nn_linear(t, &a->k_proj, memory), a->heads);
    tg_tensor *v = nn_split_heads(t, nn_linear(t, &a->v_proj, memory), a->heads);
    q = nn_split_heads(t, q, a->heads); /* (B, T, N, E); k and v (B, S, N, E) */
    const nn_attend how = {.scale = 1.0, .hidden = -INFINITY, .mask = mask};
    x = nn_linear(t, &a->out_proj, nn_join_heads(t, nn_attention(t, q, k, v, &how)));
    tg_scope_pop(t);
    return x; /* (B, T, D) */
}

/* The end of each sublayer: norm(x + dropout(y)). */
static tg_tensor *join(tg_trace *t, const wmt_layer *layer, const nn_row_norm *norm, tg_tensor *x,
                       tg_tensor *y)
{
    return nn_layer_norm(t, norm, tg_add(t, x, nn_dropout(t, &layer->drop, y)));
}

/* MEMORY (B, S, D) with MEMORY_MASK in the decoder, else NULL. */
static tg_tensor *layer_step(tg_trace *t, const wmt_layer *layer, tg_tensor *x, tg_tensor *mask,
                             tg_tensor *memory, tg_tensor *memory_mask)
{
    tg_scope_push(t, layer->name);
    tg_tensor *y = attention(t, &layer->self_attn, x, x, mask);
    x = join(t, layer, &layer->self_attn_layer_norm, x, y); /* (B, T, D) */
    if (memory) {
        y = attention(t, &layer->encoder_attn, x, memory, memory_mask);
        x = join(t, layer, &layer->encoder_attn_layer_norm, x, y);
    }
    y = nn_relu(t, nn_linear(t, &layer->fc1, x)); /* (B, T, F) */
    y = nn_linear(t, &layer->fc2, y);
    x = join(t, layer, &layer->final_layer_norm, x, y);
    tg_scope_pop(t);
    return nn_keep(t, layer->stage, x);
}

static tg_tensor *layers_step(tg_trace *t, const wmt_stack *stack, tg_tensor *x, tg_tensor *mask,
                              tg_tensor *memory, tg_tensor *memory_mask)
{
    tg_scope_push(t, "layers");
    for (int i = 0; i < stack->count; i++)
        x = layer_step(t, &stack->layers[i], x, mask, memory, memory_mask);
    tg_scope_pop(t);
    return x;
}

/* Padding has a zero embedding, and no query sees it. */
static tg_tensor *encode(tg_trace *t, const wmt *net, const wmt_tokens *source)
{
    static const int rows[] = {0, 1};
    tg_scope_push(t, net->encoder.name);
    tg_tensor *x = embed(t, &net->encoder, &net->embed_tokens, source); /* (B, S, D) */
    const tg_type type = *tg_tensor_type(x);
    tg_tensor *kept = tg_broadcast(t, source->kept, 3, type.dims, rows);
    x = tg_select(t, kept, x, tg_scalar(t, type.dtype, 0.0));
    tg_tensor *mask = nn_mask_keys(t, source->kept, net->heads, type.dims[1]); /* (B, N, S, S) */
    x = layers_step(t, &net->encoder, x, mask, NULL, NULL);
    tg_scope_pop(t);
    return x;
}

/* Padding stands at the end of a row. Only padding sees it, and the loss leaves that out. */
static tg_tensor *decode(tg_trace *t, const wmt *net, const wmt_tokens *source,
                         const wmt_tokens *output, tg_tensor *memory)
{
    tg_scope_push(t, net->decoder.name);
    tg_tensor *x = embed(t, &net->decoder, &net->embed_tokens, output); /* (B, T, D) */
    const int64_t batch = tg_tensor_type(x)->dims[0], tokens = tg_tensor_type(x)->dims[1];
    tg_tensor *mask = nn_mask_causal(t, batch, net->heads, tokens);             /* (B, N, T, T) */
    tg_tensor *memory_mask = nn_mask_keys(t, source->kept, net->heads, tokens); /* (B, N, T, S) */
    x = layers_step(t, &net->decoder, x, mask, memory, memory_mask);
    tg_scope_push(t, "output_projection");
    x = nn_project(t, x, net->embed_tokens.weight, NULL); /* (B, T, V) */
    tg_scope_pop(t);
    tg_scope_pop(t);
    return x;
}

static tg_tensor *wmt_forward(tg_trace *t, const void *network)
{
    const wmt *net = network;
    const wmt_tokens source = prepare(t, net->src_tokens);
    const wmt_tokens output = prepare(t, net->prev_output_tokens);
    tg_tensor *memory = encode(t, net, &source);                  /* (B, S, D) */
    tg_tensor *logits = decode(t, net, &source, &output, memory); /* (B, T, V) */
    nn_keep(t, net->logits, logits);
    if (!net->target)
        return NULL;
    tg_scope_push(t, "loss");
    tg_tensor *loss = nn_token_loss(t, nn_log_softmax(t, logits), net->target, PAD, SMOOTHING);
    tg_scope_pop(t);
    return nn_keep(t, net->loss, loss);
}

/* ---- the row ------------------------------------------------------------------ */

static const wmt_config base = {32768, 512, 2048, 8, 6};
static const wmt_config reduced = {512, 64, 128, 4, 1};
static const model_tied tied[] = {
    {"decoder.embed_tokens.weight", "encoder.embed_tokens.weight"},
    {"decoder.output_projection.weight", "encoder.embed_tokens.weight"},
    {NULL, NULL}};

const model_row model_transformer_wmt_en_de = {
    .name = "transformer_wmt_en_de",
    .summary = "the base Transformer, English to German, with shared embeddings",
    .source = "fairseq transformer_wmt_en_de",
    .family = "transformer",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_ADAMW,
    .weights = MODEL_FILL_W3,
    .pads = true,
    .varies = true,
    .tied = tied,
    .full = {.seq = 32, .learning_rate = 1e-4, .config = &base},
    .small = {.seq = 16, .learning_rate = 1e-4, .config = &reduced},
    .build = wmt_build,
    .forward = wmt_forward,
};
