/*
 * vit.c - vision transformers, as timm builds them (Dosovitskiy et al., An Image is
 * Worth 16x16 Words, 2021): a class token before the patches, norms before
 * attention and feed-forward, no dropout.
 */
#include "models/model_priv.h"

#include <math.h>

#define NORM_EPSILON 1e-6

typedef struct vit_config {
    int patch; /* pixels a side */
    int width, depth, heads;
} vit_config;

typedef struct vit_block {
    const char *name;
    nn_row_norm norm1, norm2;
    nn_dense qkv, proj; /* qkv: rows of q, of k, of v */
    nn_dense fc1, fc2;
    nn_attend how;
    int64_t heads;
    tg_tensor *stage;
} vit_block;

typedef struct vit {
    model_layout layout;
    nn_classifier task;
    tg_tensor *class_token; /* (1, 1, D) */
    tg_tensor *positions;   /* (1, 1 + patches, D) */
    nn_conv patches;
    vit_block *blocks;
    nn_layers layers;
    nn_row_norm norm;
    nn_dense head;
    struct {
        tg_tensor *patch_embed, *norm, *head;
    } stages;
} vit;

/* ---- building ------------------------------------------------------------- */

/* Patches of an image. */
static int64_t count_patches(model *m, int patch)
{
    const int64_t side = m->options.image / patch;
    if (m->options.image % patch)
        nn_fail(m, BN_INVALID, "option image: %d is not a multiple of the patch size %d",
                m->options.image, patch);
    return side * side;
}

static void build_block(model *m, vit_block *b, int number, const vit_config *c, int64_t tokens)
{
    const int64_t width = c->width;
    b->name = nn_layer_enter(m, number, c->depth);
    b->heads = c->heads;
    b->how = (nn_attend){.scale = 1.0 / sqrt((double)c->width / c->heads)};
    nn_layer_norm_new(m, &b->norm1, "norm1", width, NORM_EPSILON);
    nn_enter(m, "attn");
    nn_linear_new(m, &b->qkv, "qkv", width, 3 * width, true);
    nn_linear_new(m, &b->proj, "proj", width, width, true);
    nn_leave(m);
    nn_layer_norm_new(m, &b->norm2, "norm2", width, NORM_EPSILON);
    nn_enter(m, "mlp");
    nn_linear_new(m, &b->fc1, "fc1", width, 4 * width, true);
    nn_linear_new(m, &b->fc2, "fc2", 4 * width, width, true);
    nn_leave(m);
    b->stage = nn_plain_stage(m, NULL, 3, TG_DIMS(m->options.batch, tokens, width));
    nn_layer_leave(m);
}

/* The class token, and the patches with their place in the image. */
static void build_embedding(model *m, vit *net, const vit_config *c, int64_t patches)
{
    const int64_t width = c->width;
    const nn_image image = {3, m->options.image, m->options.image};
    net->class_token = nn_parameter(m, "cls_token", MODEL_FILL_POSITION, 3, TG_DIMS(1, 1, width));
    net->positions =
        nn_parameter(m, "pos_embed", MODEL_FILL_POSITION, 3, TG_DIMS(1, 1 + patches, width));
    nn_enter(m, "patch_embed");
    nn_conv2d_new(
        m, &net->patches, "proj", image,
        (nn_conv_spec){.out = c->width, .kernel = c->patch, .stride = c->patch, .bias = true});
    net->stages.patch_embed = nn_plain_stage(m, NULL, 3, TG_DIMS(m->options.batch, patches, width));
    nn_leave(m);
}

static void vit_build(model *m)
{
    const vit_config *c = m->variant->config;
    const int batch = m->options.batch, classes = m->variant->classes;
    const int64_t patches = count_patches(m, c->patch);
    vit *net = nn_alloc(m, 1, sizeof *net);
    m->network = net;
    net->layout = m->options.layout;
    net->blocks = nn_alloc(m, (size_t)c->depth, sizeof *net->blocks);

    nn_classifier_new(m, &net->task, (nn_image){3, m->options.image, m->options.image}, classes);
    build_embedding(m, net, c, patches);
    nn_enter(m, "blocks");
    for (int i = 0; i < c->depth; i++)
        build_block(m, &net->blocks[i], i, c, 1 + patches);
    nn_layers_new(m, &net->layers, c->depth);
    nn_leave(m);
    nn_layer_norm_new(m, &net->norm, "norm", c->width, NORM_EPSILON);
    net->stages.norm = nn_plain_stage(m, "norm", 3, TG_DIMS(batch, 1 + patches, c->width));
    nn_linear_new(m, &net->head, "head", c->width, classes, true);
    net->stages.head = nn_plain_stage(m, "head", 2, TG_DIMS(batch, classes));
}

/* ---- a step ----------------------------------------------------------------- */

/* P patches, T = P + 1 tokens, D their width. Images (B, H, W, 3) -> (B, P, D), patches
 * row by row. */
static tg_tensor *embed_patches(tg_trace *t, const vit *net)
{
    tg_scope_push(t, "patch_embed");
    tg_tensor *x = nn_conv2d(t, &net->patches, net->task.images); /* (B, H', W', D) */
    if (net->layout == MODEL_NCHW)
        x = tg_transpose(t, x, (int[]){0, 2, 3, 1});
    const tg_type *type = tg_tensor_type(x);
    x = tg_reshape(t, x, 3, TG_DIMS(type->dims[0], type->dims[1] * type->dims[2], type->dims[3]));
    tg_scope_pop(t);
    return nn_keep(t, net->stages.patch_embed, x);
}

/* (B, P, D) -> (B, T, D): the class token first, places added to all. */
static tg_tensor *add_class_and_places(tg_trace *t, const vit *net, tg_tensor *x)
{
    static const int map[] = {0, 1, 2};
    const int64_t batch = tg_tensor_type(x)->dims[0], width = tg_tensor_type(x)->dims[2];
    tg_tensor *first = tg_broadcast(t, net->class_token, 3, TG_DIMS(batch, 1, width), map);
    x = tg_concatenate(t, (tg_tensor *[]){first, x}, 2, 1);
    const tg_type type = *tg_tensor_type(x);
    return tg_add(t, x, tg_broadcast(t, net->positions, 3, type.dims, map));
}

static tg_tensor *attention(tg_trace *t, const vit_block *b, tg_tensor *x)
{
    const int64_t width = tg_tensor_type(x)->dims[2];
    tg_tensor *heads[3];
    tg_scope_push(t, "attn");
    x = nn_linear(t, &b->qkv, x); /* (B, T, 3 D) */
    for (int i = 0; i < 3; i++)   /* (B, T, N, D / N) */
        heads[i] = nn_split_heads(t, nn_slice(t, x, 2, i * width, width), b->heads);
    x = nn_attention(t, heads[0], heads[1], heads[2], &b->how);
    x = nn_linear(t, &b->proj, nn_join_heads(t, x)); /* (B, T, D) */
    tg_scope_pop(t);
    return x;
}

/* CONTEXT is the vit. */
static tg_tensor *block_step(tg_trace *t, const void *context, int number, tg_tensor *x)
{
    const vit_block *b = &((const vit *)context)->blocks[number];
    tg_scope_push(t, b->name);
    tg_tensor *y = attention(t, b, nn_layer_norm(t, &b->norm1, x)); /* (B, T, D) */
    x = tg_add(t, x, y);
    y = nn_layer_norm(t, &b->norm2, x);
    tg_scope_push(t, "mlp");
    y = nn_gelu(t, nn_linear(t, &b->fc1, y)); /* (B, T, 4 D) */
    y = nn_linear(t, &b->fc2, y);             /* (B, T, D) */
    tg_scope_pop(t);
    x = tg_add(t, x, y);
    tg_scope_pop(t);
    return nn_keep(t, b->stage, x);
}

/* Sizes are those of the published models at 224 pixels. */
static tg_tensor *vit_forward(tg_trace *t, const void *network)
{
    const vit *net = network;
    tg_tensor *targets = nn_classifier_targets(t, &net->task); /* (B, 1000) */

    tg_tensor *x = embed_patches(t, net); /* (B, 196, D) */
    x = add_class_and_places(t, net, x);  /* (B, 197, D) */
    tg_scope_push(t, "blocks");
    x = nn_run_layers(t, &net->layers, block_step, net, x);
    tg_scope_pop(t);
    x = nn_keep(t, net->stages.norm, nn_layer_norm(t, &net->norm, x));

    const int64_t batch = tg_tensor_type(x)->dims[0], width = tg_tensor_type(x)->dims[2];
    x = tg_reshape(t, nn_slice(t, x, 1, 0, 1), 2, TG_DIMS(batch, width)); /* the class token */
    x = nn_keep(t, net->stages.head, nn_linear(t, &net->head, x));       /* (B, 1000) */
    return nn_classifier_end(t, &net->task, x, targets);
}

/* ---- rows --------------------------------------------------------------------- */

static const vit_config small_16 = {.patch = 16, .width = 384, .depth = 12, .heads = 6};
static const vit_config base_16 = {.patch = 16, .width = 768, .depth = 12, .heads = 12};
static const vit_config reduced_8 = {.patch = 8, .width = 64, .depth = 2, .heads = 4};

const model_row model_vit_small_patch16_224 = {
    .name = "vit_small_patch16_224",
    .summary = "vision transformer of 12 blocks, 384 wide, ImageNet classes",
    .source = "timm vit_small_patch16_224",
    .family = "transformer",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_ADAMW,
    .weights = MODEL_FILL_W3,
    .scans = true,
    .full = {.classes = 1000, .image = 224, .learning_rate = 1e-4, .config = &small_16},
    .small = {.classes = 10, .image = 32, .learning_rate = 1e-4, .config = &reduced_8},
    .build = vit_build,
    .forward = vit_forward,
};

const model_row model_vit_base_patch16_224 = {
    .name = "vit_base_patch16_224",
    .summary = "vision transformer of 12 blocks, 768 wide, ImageNet classes",
    .source = "timm vit_base_patch16_224",
    .family = "transformer",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_ADAMW,
    .weights = MODEL_FILL_W3,
    .scans = true,
    .full = {.classes = 1000, .image = 224, .learning_rate = 1e-4, .config = &base_16},
    .build = vit_build,
    .forward = vit_forward,
};
