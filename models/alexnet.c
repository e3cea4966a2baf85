/*
 * alexnet.c - AlexNet, as torchvision builds it (Krizhevsky, One Weird Trick for
 * Parallelizing Convolutional Neural Networks, 2014: one tower).
 */
#include "models/model_priv.h"

typedef struct alexnet {
    model_layout layout;
    nn_classifier task;
    nn_sequence features, classifier;
    nn_adaptive_pool avgpool;
    tg_tensor *avgpool_stage;
} alexnet;

/* ---- building ------------------------------------------------------------- */

static nn_image build_features(model *m, nn_sequence *s, nn_image x)
{
    static const struct {
        nn_conv_spec conv;
        bool pools;
    } stack[] = {
        {{.out = 64, .kernel = 11, .stride = 4, .padding = 2}, true},
        {{.out = 192, .kernel = 5, .padding = 2}, true},
        {{.out = 384, .kernel = 3, .padding = 1}, false},
        {{.out = 256, .kernel = 3, .padding = 1}, false},
        {{.out = 256, .kernel = 3, .padding = 1}, true},
    };
    nn_sequence_begin(m, s, "features", true);
    for (size_t i = 0; i < sizeof stack / sizeof *stack; i++) {
        nn_conv_spec conv = stack[i].conv;
        conv.out /= m->variant->channel_divisor;
        conv.bias = true;
        x = nn_append_conv2d(m, s, x, conv);
        x = nn_append_relu(m, s, x);
        if (stack[i].pools)
            x = nn_append_max_pool2d(m, s, x, (nn_pool_spec){.kernel = 3, .stride = 2});
    }
    return nn_sequence_end(m, s, x);
}

static void build_classifier(model *m, nn_sequence *s, nn_image x)
{
    nn_sequence_begin(m, s, "classifier", true);
    for (int i = 0; i < 2; i++) {
        x = nn_append_dropout(m, s, x, 0.5);
        x = nn_append_linear(m, s, x, 4096 / m->variant->channel_divisor);
        x = nn_append_relu(m, s, x);
    }
    x = nn_append_linear(m, s, x, m->variant->classes);
    nn_sequence_end(m, s, x);
}

static void alexnet_build(model *m)
{
    alexnet *net = nn_alloc(m, 1, sizeof *net);
    m->network = net;
    net->layout = m->options.layout;

    nn_image x = {3, m->options.image, m->options.image};
    nn_classifier_new(m, &net->task, x, m->variant->classes);
    x = build_features(m, &net->features, x);
    x = nn_adaptive_avg_pool2d_new(m, &net->avgpool, "avgpool", x, 6);
    net->avgpool_stage = nn_stage(m, "avgpool", x);
    build_classifier(m, &net->classifier, (nn_image){.channels = x.channels * x.height * x.width});
}

/* ---- a step ----------------------------------------------------------------- */

/* Sizes are those of the published model at 224 pixels. */
static tg_tensor *alexnet_forward(tg_trace *t, const void *network)
{
    const alexnet *net = network;
    tg_tensor *targets = nn_classifier_targets(t, &net->task); /* (B, 1000) */

    tg_tensor *x = net->task.images;                 /* (B, 224, 224, 3) */
    x = nn_sequential(t, &net->features, x);         /* (B, 6, 6, 256) */
    x = nn_adaptive_avg_pool2d(t, &net->avgpool, x); /* (B, 6, 6, 256) */
    nn_keep(t, net->avgpool_stage, x);
    x = nn_flatten(t, net->layout, x);         /* (B, 9216) */
    x = nn_sequential(t, &net->classifier, x); /* (B, 1000) */
    return nn_classifier_end(t, &net->task, x, targets);
}

/* ---- the row -------------------------------------------------------------------- */

const model_row model_alexnet = {
    .name = "alexnet",
    .summary = "five convolutions and three dense layers, ImageNet classes",
    .source = "torchvision.models.alexnet",
    .family = "cnn",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_SGD,
    .weights = MODEL_FILL_W6,
    .full = {.channel_divisor = 1, .classes = 1000, .image = 224, .learning_rate = 0.0001},
    .small = {.channel_divisor = 8, .classes = 10, .image = 96, .learning_rate = 0.0001},
    .build = alexnet_build,
    .forward = alexnet_forward,
};
