/*
 * mobilenet.c - MobileNetV2, as torchvision builds it (Sandler et al., MobileNetV2:
 * Inverted Residuals and Linear Bottlenecks, 2018).
 */
#include "models/model_priv.h"

/* REPEATS blocks with CHANNELS each; the first one has STRIDE. Inside, each is EXPANSION
 * times as wide. */
typedef struct mobilenet_stack {
    int expansion, channels, repeats, stride;
} mobilenet_stack;

typedef struct mobilenet_config {
    mobilenet_stack stacks[8]; /* ended by no repeats */
} mobilenet_config;

typedef struct mobilenet_block {
    const char *name;
    nn_sequence conv;
    bool adds; /* its input to its output */
} mobilenet_block;

typedef struct mobilenet {
    model_layout layout;
    nn_classifier task;
    nn_sequence features, classifier;
} mobilenet;

/* (B, H, W, in) -> (B, H', W', out), halved where the stride is 2 */
static tg_tensor *block_step(tg_trace *t, const void *layer, tg_tensor *x)
{
    const mobilenet_block *b = layer;
    tg_scope_push(t, b->name);
    tg_tensor *y = nn_sequential(t, &b->conv, x);
    if (b->adds)
        y = tg_add(t, x, y);
    tg_scope_pop(t);
    return y;
}

/* ---- building ------------------------------------------------------------- */

/* Convolution, batch normalisation and ReLU6 as one module. */
static nn_image append_unit(model *m, nn_sequence *s, nn_image x, nn_conv_spec conv)
{
    nn_sequence *unit = nn_sequence_begin_inner(m, s);
    if (!unit)
        return x;
    x = nn_append_conv2d(m, unit, x, conv);
    x = nn_append_batch_norm2d(m, unit, x, (nn_norm_spec){0});
    x = nn_append_relu6(m, unit, x);
    return nn_append_sequence(m, s, unit, x);
}

static nn_image append_block(model *m, nn_sequence *features, nn_image in, int expansion, int out,
                             int stride)
{
    const int width = (int)in.channels * expansion;
    mobilenet_block *b = nn_alloc(m, 1, sizeof *b);
    b->name = nn_next_name(m, features);
    b->adds = stride == 1 && in.channels == out;

    nn_image x = in;
    nn_enter(m, b->name);
    nn_sequence_begin(m, &b->conv, "conv", false);
    if (expansion > 1)
        x = append_unit(m, &b->conv, x, (nn_conv_spec){.out = width, .kernel = 1});
    x = append_unit(
        m, &b->conv, x,
        (nn_conv_spec){.out = width, .kernel = 3, .padding = 1, .stride = stride, .groups = width});
    x = nn_append_conv2d(m, &b->conv, x, (nn_conv_spec){.out = out, .kernel = 1});
    x = nn_append_batch_norm2d(m, &b->conv, x, (nn_norm_spec){.residual = b->adds});
    nn_sequence_end(m, &b->conv, x);
    nn_leave(m);
    return nn_append(m, features, block_step, b, x);
}

static nn_image build_features(model *m, nn_sequence *s, nn_image x)
{
    const mobilenet_config *c = m->variant->config;
    const int divisor = m->variant->channel_divisor;
    nn_sequence_begin(m, s, "features", true);
    x = append_unit(m, s, x,
                    (nn_conv_spec){.out = 32 / divisor, .kernel = 3, .padding = 1, .stride = 2});
    for (const mobilenet_stack *k = c->stacks; k->repeats; k++)
        for (int i = 0; i < k->repeats; i++)
            x = append_block(m, s, x, k->expansion, k->channels / divisor, i ? 1 : k->stride);
    x = append_unit(m, s, x, (nn_conv_spec){.out = 1280 / divisor, .kernel = 1});
    return nn_sequence_end(m, s, x);
}

static void mobilenet_build(model *m)
{
    mobilenet *net = nn_alloc(m, 1, sizeof *net);
    m->network = net;
    net->layout = m->options.layout;

    nn_image x = {3, m->options.image, m->options.image};
    nn_classifier_new(m, &net->task, x, m->variant->classes);
    x = build_features(m, &net->features, x);
    nn_sequence_begin(m, &net->classifier, "classifier", true);
    x = nn_append_dropout(m, &net->classifier, (nn_image){.channels = x.channels}, 0.2);
    x = nn_append_linear(m, &net->classifier, x, m->variant->classes);
    nn_sequence_end(m, &net->classifier, x);
}

/* ---- a step ----------------------------------------------------------------- */

/* Sizes are those of the published model at 224 pixels. */
static tg_tensor *mobilenet_forward(tg_trace *t, const void *network)
{
    const mobilenet *net = network;
    tg_tensor *targets = nn_classifier_targets(t, &net->task); /* (B, 1000) */

    tg_tensor *x = net->task.images;             /* (B, 224, 224, 3) */
    x = nn_sequential(t, &net->features, x);     /* (B, 7, 7, 1280) */
    x = nn_global_avg_pool2d(t, net->layout, x); /* (B, 1, 1, 1280) */
    x = nn_flatten(t, net->layout, x);           /* (B, 1280) */
    x = nn_sequential(t, &net->classifier, x);   /* (B, 1000) */
    return nn_classifier_end(t, &net->task, x, targets);
}

/* ---- the row -------------------------------------------------------------------- */

static const mobilenet_config published = {{{1, 16, 1, 1},
                                            {6, 24, 2, 2},
                                            {6, 32, 3, 2},
                                            {6, 64, 4, 2},
                                            {6, 96, 3, 1},
                                            {6, 160, 3, 2},
                                            {6, 320, 1, 1}}};
static const mobilenet_config reduced = {
    {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 2, 2}, {6, 64, 1, 2}}};

const model_row model_mobilenet_v2 = {
    .name = "mobilenet_v2",
    .summary = "inverted residuals with depthwise convolutions, ImageNet classes",
    .source = "torchvision.models.mobilenet_v2",
    .family = "cnn",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_SGD,
    .weights = MODEL_FILL_W6,
    .full = {.channel_divisor = 1,
             .classes = 1000,
             .image = 224,
             .learning_rate = 0.001,
             .config = &published},
    .small = {.channel_divisor = 8,
              .classes = 10,
              .image = 64,
              .learning_rate = 0.01,
              .config = &reduced},
    .build = mobilenet_build,
    .forward = mobilenet_forward,
};
