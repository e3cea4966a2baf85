/*
 * resnet.c - residual networks, as torchvision builds them (He et al., Deep
 * Residual Learning for Image Recognition, 2016; the stride of a bottleneck
 * sits on its 3x3 convolution), and ResNeXt (Xie et al., Aggregated Residual
 * Transformations for Deep Neural Networks, 2017).
 */
#include "models/model_priv.h"

typedef struct resnet_config {
    bool bottleneck; /* blocks of 1x1, 3x3, 1x1 instead of two 3x3 */
    int blocks[4];   /* in layer1 to layer4 */
    int groups;      /* of a bottleneck's 3x3 */
    int group_width; /* channels a group in layer1 */
} resnet_config;

typedef struct resnet_block {
    const char *name;
    nn_conv conv1, conv2, conv3; /* conv3: bottlenecks */
    nn_norm bn1, bn2, bn3;
    bool bottleneck, projects; /* projects: the shortcut has downsample */
    nn_conv downsample_conv;
    nn_norm downsample_bn;
    tg_tensor *stage;
} resnet_block;

typedef struct resnet_layer {
    const char *name;
    resnet_block *blocks;
    int count;
    tg_tensor *stage;
} resnet_layer;

typedef struct resnet {
    model_layout layout;
    nn_classifier task;
    nn_conv conv1;
    nn_norm bn1;
    nn_pool maxpool;
    resnet_layer layers[4];
    nn_dense fc;
    struct {
        tg_tensor *conv1, *bn1, *maxpool, *avgpool, *fc;
    } stages;
} resnet;

/* ---- building ------------------------------------------------------------- */

static nn_image build_bottleneck(model *m, resnet_block *b, nn_image x, int level, int stride)
{
    const resnet_config *c = m->variant->config;
    const int divisor = m->variant->channel_divisor, planes = 64 << level;
    const int groups = c->groups > 1 ? c->groups / divisor : 1;
    const int width = planes * c->group_width / 64 * c->groups / divisor;
    const int out = planes * 4 / divisor;

    x = nn_conv2d_new(m, &b->conv1, "conv1", x, (nn_conv_spec){.out = width, .kernel = 1});
    x = nn_batch_norm2d_new(m, &b->bn1, "bn1", x, (nn_norm_spec){0});
    x = nn_conv2d_new(
        m, &b->conv2, "conv2", x,
        (nn_conv_spec){
            .out = width, .kernel = 3, .padding = 1, .stride = stride, .groups = groups});
    x = nn_batch_norm2d_new(m, &b->bn2, "bn2", x, (nn_norm_spec){0});
    x = nn_conv2d_new(m, &b->conv3, "conv3", x, (nn_conv_spec){.out = out, .kernel = 1});
    return nn_batch_norm2d_new(m, &b->bn3, "bn3", x, (nn_norm_spec){.residual = true});
}

static nn_image build_basic(model *m, resnet_block *b, nn_image x, int level, int stride)
{
    const int out = (64 << level) / m->variant->channel_divisor;
    x = nn_conv2d_new(m, &b->conv1, "conv1", x,
                      (nn_conv_spec){.out = out, .kernel = 3, .padding = 1, .stride = stride});
    x = nn_batch_norm2d_new(m, &b->bn1, "bn1", x, (nn_norm_spec){0});
    x = nn_conv2d_new(m, &b->conv2, "conv2", x,
                      (nn_conv_spec){.out = out, .kernel = 3, .padding = 1});
    return nn_batch_norm2d_new(m, &b->bn2, "bn2", x, (nn_norm_spec){.residual = true});
}

static nn_image build_block(model *m, resnet_block *b, int number, nn_image in, int level)
{
    const resnet_config *c = m->variant->config;
    const int stride = level > 0 && number == 0 ? 2 : 1;
    b->name = nn_index_name(m, number);
    b->bottleneck = c->bottleneck;

    nn_enter(m, b->name);
    nn_image out = c->bottleneck ? build_bottleneck(m, b, in, level, stride)
                                 : build_basic(m, b, in, level, stride);
    b->projects = stride > 1 || in.channels != out.channels;
    if (b->projects) {
        nn_enter(m, "downsample");
        nn_conv2d_new(m, &b->downsample_conv, "0", in,
                      (nn_conv_spec){.out = (int)out.channels, .kernel = 1, .stride = stride});
        nn_batch_norm2d_new(m, &b->downsample_bn, "1", out, (nn_norm_spec){0});
        nn_leave(m);
    }
    b->stage = nn_stage(m, NULL, out);
    nn_leave(m);
    return out;
}

static nn_image build_layer(model *m, resnet_layer *layer, nn_image x, int level)
{
    static const char *const names[4] = {"layer1", "layer2", "layer3", "layer4"};
    const resnet_config *c = m->variant->config;
    layer->name = names[level];
    layer->count = c->blocks[level];
    layer->blocks = nn_alloc(m, (size_t)layer->count, sizeof *layer->blocks);
    nn_enter(m, layer->name);
    for (int i = 0; i < layer->count; i++)
        x = build_block(m, &layer->blocks[i], i, x, level);
    layer->stage = nn_stage(m, NULL, x);
    nn_leave(m);
    return x;
}

static void resnet_build(model *m)
{
    const int stem = 64 / m->variant->channel_divisor, classes = m->variant->classes;
    resnet *net = nn_alloc(m, 1, sizeof *net);
    m->network = net;
    net->layout = m->options.layout;

    nn_image x = {3, m->options.image, m->options.image};
    nn_classifier_new(m, &net->task, x, classes);
    x = nn_conv2d_new(m, &net->conv1, "conv1", x,
                      (nn_conv_spec){.out = stem, .kernel = 7, .padding = 3, .stride = 2});
    net->stages.conv1 = nn_stage(m, "conv1", x);
    x = nn_batch_norm2d_new(m, &net->bn1, "bn1", x, (nn_norm_spec){0});
    net->stages.bn1 = nn_stage(m, "bn1", x);
    x = nn_max_pool2d_new(m, &net->maxpool, "maxpool", x,
                          (nn_pool_spec){.kernel = 3, .stride = 2, .padding = 1});
    net->stages.maxpool = nn_stage(m, "maxpool", x);
    for (int level = 0; level < 4; level++)
        x = build_layer(m, &net->layers[level], x, level);
    net->stages.avgpool = nn_stage(m, "avgpool", (nn_image){x.channels, 1, 1});
    nn_linear_new(m, &net->fc, "fc", x.channels, classes, true);
    net->stages.fc = nn_plain_stage(m, "fc", 2, TG_DIMS(m->options.batch, classes));
}

/* ---- a step ----------------------------------------------------------------- */

/* H' and W' are H and W, halved where a layer begins with a stride of 2. */
static tg_tensor *block_step(tg_trace *t, const resnet_block *b, tg_tensor *x)
{
    tg_tensor *shortcut = x; /* (B, H, W, in) */
    tg_scope_push(t, b->name);
    x = nn_conv2d(t, &b->conv1, x); /* (B, H, W, width), basic: (B, H', W', out) */
    x = nn_batch_norm2d(t, &b->bn1, x);
    x = nn_relu(t, x);
    x = nn_conv2d(t, &b->conv2, x); /* (B, H', W', width), basic: (B, H', W', out) */
    x = nn_batch_norm2d(t, &b->bn2, x);
    if (b->bottleneck) {
        x = nn_relu(t, x);
        x = nn_conv2d(t, &b->conv3, x); /* (B, H', W', out) */
        x = nn_batch_norm2d(t, &b->bn3, x);
    }
    if (b->projects) {
        tg_scope_push(t, "downsample");
        shortcut = nn_conv2d(t, &b->downsample_conv, shortcut); /* (B, H', W', out) */
        shortcut = nn_batch_norm2d(t, &b->downsample_bn, shortcut);
        tg_scope_pop(t);
    }
    x = nn_relu(t, tg_add(t, x, shortcut)); /* (B, H', W', out) */
    tg_scope_pop(t);
    return nn_keep(t, b->stage, x);
}

static tg_tensor *layer_step(tg_trace *t, const resnet_layer *layer, tg_tensor *x)
{
    tg_scope_push(t, layer->name);
    for (int i = 0; i < layer->count; i++)
        x = block_step(t, &layer->blocks[i], x);
    tg_scope_pop(t);
    return nn_keep(t, layer->stage, x);
}

/* Sizes are those of the published models at 224 pixels, E = 1 for basic
 * blocks and 4 for bottlenecks. */
static tg_tensor *resnet_forward(tg_trace *t, const void *network)
{
    const resnet *net = network;
    tg_tensor *targets = nn_classifier_targets(t, &net->task); /* (B, 1000) */

    tg_tensor *x = net->task.images;  /* (B, 224, 224, 3) */
    x = nn_conv2d(t, &net->conv1, x); /* (B, 112, 112, 64) */
    nn_keep(t, net->stages.conv1, x);
    x = nn_batch_norm2d(t, &net->bn1, x);
    nn_keep(t, net->stages.bn1, x);
    x = nn_relu(t, x);
    x = nn_max_pool2d(t, &net->maxpool, x); /* (B, 56, 56, 64) */
    nn_keep(t, net->stages.maxpool, x);

    x = layer_step(t, &net->layers[0], x); /* (B, 56, 56, 64 E) */
    x = layer_step(t, &net->layers[1], x); /* (B, 28, 28, 128 E) */
    x = layer_step(t, &net->layers[2], x); /* (B, 14, 14, 256 E) */
    x = layer_step(t, &net->layers[3], x); /* (B, 7, 7, 512 E) */

    tg_scope_push(t, "avgpool");
    x = nn_global_avg_pool2d(t, net->layout, x); /* (B, 1, 1, 512 E) */
    tg_scope_pop(t);
    nn_keep(t, net->stages.avgpool, x);
    x = nn_flatten(t, net->layout, x); /* (B, 512 E) */
    x = nn_linear(t, &net->fc, x);     /* (B, 1000) */
    nn_keep(t, net->stages.fc, x);
    return nn_classifier_end(t, &net->task, x, targets);
}

/* ---- rows --------------------------------------------------------------------- */

static const resnet_config basic_2222 = {false, {2, 2, 2, 2}, 1, 64};
static const resnet_config basic_1111 = {false, {1, 1, 1, 1}, 1, 64};
static const resnet_config bottleneck_3463 = {true, {3, 4, 6, 3}, 1, 64};
static const resnet_config bottleneck_1111 = {true, {1, 1, 1, 1}, 1, 64};
static const resnet_config grouped_3463 = {true, {3, 4, 6, 3}, 32, 4};
static const resnet_config grouped_1111 = {true, {1, 1, 1, 1}, 32, 4};

#define PUBLISHED .channel_divisor = 1, .classes = 1000, .image = 224
#define REDUCED   .channel_divisor = 8, .classes = 10, .image = 64

const model_row model_resnet18 = {
    .name = "resnet18",
    .summary = "residual network of 18 layers, ImageNet classes",
    .source = "torchvision.models.resnet18",
    .family = "cnn",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_SGD,
    .weights = MODEL_FILL_W6,
    .full = {PUBLISHED, .learning_rate = 0.01, .config = &basic_2222},
    .small = {REDUCED, .learning_rate = 0.01, .config = &basic_1111},
    .build = resnet_build,
    .forward = resnet_forward,
};

const model_row model_resnet50 = {
    .name = "resnet50",
    .summary = "residual network of 50 layers with bottlenecks, ImageNet classes",
    .source = "torchvision.models.resnet50",
    .family = "cnn",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_SGD,
    .weights = MODEL_FILL_W6,
    .full = {PUBLISHED, .learning_rate = 0.001, .config = &bottleneck_3463},
    .small = {REDUCED, .learning_rate = 0.01, .config = &bottleneck_1111},
    .build = resnet_build,
    .forward = resnet_forward,
};

const model_row model_resnext50_32x4d = {
    .name = "resnext50_32x4d",
    .summary = "residual network of 50 layers, 32 groups of 4 channels, ImageNet classes",
    .source = "torchvision.models.resnext50_32x4d",
    .family = "cnn",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_SGD,
    .weights = MODEL_FILL_W6,
    .full = {PUBLISHED, .learning_rate = 0.001, .config = &grouped_3463},
    .small = {REDUCED, .learning_rate = 0.01, .config = &grouped_1111},
    .build = resnet_build,
    .forward = resnet_forward,
};
