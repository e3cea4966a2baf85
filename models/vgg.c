/*
 * vgg.c - VGG without batch normalisation, as torchvision builds it (Simonyan and
 * Zisserman, Very Deep Convolutional Networks, 2015).
 */
#include "models/model_priv.h"

#define POOL (-1)

/* Output channels of the 3x3 convolutions, POOL between blocks, ended by 0. */
typedef struct vgg_config {
    int features[20];
} vgg_config;

typedef struct vgg {
    model_layout layout;
    nn_classifier task;
    nn_sequence features, classifier;
    nn_adaptive_pool avgpool;
    tg_tensor *avgpool_stage;
} vgg;

/* ---- building ------------------------------------------------------------- */

static nn_image build_features(model *m, nn_sequence *s, nn_image x)
{
    const vgg_config *c = m->variant->config;
    nn_sequence_begin(m, s, "features", true);
    for (const int *out = c->features; *out; out++) {
        if (*out == POOL) {
            x = nn_append_max_pool2d(m, s, x, (nn_pool_spec){.kernel = 2, .stride = 2});
            continue;
        }
        x = nn_append_conv2d(m, s, x,
                             (nn_conv_spec){.out = *out / m->variant->channel_divisor,
                                            .kernel = 3,
                                            .padding = 1,
                                            .bias = true});
        x = nn_append_relu(m, s, x);
    }
    return nn_sequence_end(m, s, x);
}

static void build_classifier(model *m, nn_sequence *s, nn_image x)
{
    nn_sequence_begin(m, s, "classifier", true);
    for (int i = 0; i < 2; i++) {
        x = nn_append_linear(m, s, x, 4096 / m->variant->channel_divisor);
        x = nn_append_relu(m, s, x);
        x = nn_append_dropout(m, s, x, 0.5);
    }
    x = nn_append_linear(m, s, x, m->variant->classes);
    nn_sequence_end(m, s, x);
}

static void vgg_build(model *m)
{
    vgg *net = nn_alloc(m, 1, sizeof *net);
    m->network = net;
    net->layout = m->options.layout;

    nn_image x = {3, m->options.image, m->options.image};
    nn_classifier_new(m, &net->task, x, m->variant->classes);
    x = build_features(m, &net->features, x);
    x = nn_adaptive_avg_pool2d_new(m, &net->avgpool, "avgpool", x, 7);
    net->avgpool_stage = nn_stage(m, "avgpool", x);
    build_classifier(m, &net->classifier, (nn_image){.channels = x.channels * x.height * x.width});
}

/* ---- a step ----------------------------------------------------------------- */

/* Sizes are those of the published model at 224 pixels. */
static tg_tensor *vgg_forward(tg_trace *t, const void *network)
{
    const vgg *net = network;
    tg_tensor *targets = nn_classifier_targets(t, &net->task); /* (B, 1000) */

    tg_tensor *x = net->task.images;                 /* (B, 224, 224, 3) */
    x = nn_sequential(t, &net->features, x);         /* (B, 7, 7, 512) */
    x = nn_adaptive_avg_pool2d(t, &net->avgpool, x); /* (B, 7, 7, 512) */
    nn_keep(t, net->avgpool_stage, x);
    x = nn_flatten(t, net->layout, x);         /* (B, 25088) */
    x = nn_sequential(t, &net->classifier, x); /* (B, 1000) */
    return nn_classifier_end(t, &net->task, x, targets);
}

/* ---- rows --------------------------------------------------------------------- */

static const vgg_config configuration_d = {{64, 64, POOL, 128, 128, POOL, 256, 256, 256, POOL, 512,
                                            512, 512, POOL, 512, 512, 512, POOL, 0}};
static const vgg_config one_a_block = {{64, POOL, 128, POOL, 256, POOL, 512, POOL, 512, POOL, 0}};

const model_row model_vgg16 = {
    .name = "vgg16",
    .summary = "plain convolutional network of 16 layers, ImageNet classes",
    .source = "torchvision.models.vgg16",
    .family = "cnn",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_SGD,
    .weights = MODEL_FILL_W6,
    .full = {.channel_divisor = 1,
             .classes = 1000,
             .image = 224,
             .learning_rate = 0.0001,
             .config = &configuration_d},
    .small = {.channel_divisor = 8,
              .classes = 10,
              .image = 64,
              .learning_rate = 0.0001,
              .config = &one_a_block},
    .build = vgg_build,
    .forward = vgg_forward,
};
