/*
 * mnasnet.c - MnasNet-B1, as torchvision builds it (Tan et al., MnasNet:
 * Platform-Aware Neural Architecture Search for Mobile, 2019).
 */
#include "models/model_priv.h"

#define MOMENTUM 3e-4 /* of running statistics: 1 - 0.9997 */

typedef struct mnasnet_block {
    const char *name;
    nn_sequence layers;
    bool adds; /* its input to its output */
} mnasnet_block;

typedef struct mnasnet {
    model_layout layout;
    nn_classifier task;
    nn_sequence layers, classifier;
} mnasnet;

/* (B, H, W, in) -> (B, H', W', out), halved where the stride is 2 */
static tg_tensor *block_step(tg_trace *t, const void *layer, tg_tensor *x)
{
    const mnasnet_block *b = layer;
    tg_scope_push(t, b->name);
    tg_tensor *y = nn_sequential(t, &b->layers, x);
    if (b->adds)
        y = tg_add(t, y, x);
    tg_scope_pop(t);
    return y;
}

/* ---- building ------------------------------------------------------------- */

/* Three modules: convolution, batch normalisation, ReLU. */
static nn_image append_unit(model *m, nn_sequence *s, nn_image x, nn_conv_spec conv)
{
    x = nn_append_conv2d(m, s, x, conv);
    x = nn_append_batch_norm2d(m, s, x, (nn_norm_spec){.momentum = MOMENTUM});
    return nn_append_relu(m, s, x);
}

/* KERNEL on each channel alone, then 1x1 to OUT channels without an activation. */
static nn_image append_separable(model *m, nn_sequence *s, nn_image x, int out, int kernel,
                                 int stride, bool residual)
{
    x = append_unit(m, s, x,
                    (nn_conv_spec){.out = (int)x.channels,
                                   .kernel = kernel,
                                   .padding = kernel / 2,
                                   .stride = stride,
                                   .groups = (int)x.channels});
    x = nn_append_conv2d(m, s, x, (nn_conv_spec){.out = out, .kernel = 1});
    return nn_append_batch_norm2d(m, s, x,
                                  (nn_norm_spec){.residual = residual, .momentum = MOMENTUM});
}

static nn_image append_block(model *m, nn_sequence *s, nn_image in, int expansion, int out,
                             int kernel, int stride)
{
    mnasnet_block *b = nn_alloc(m, 1, sizeof *b);
    b->name = nn_next_name(m, s);
    b->adds = stride == 1 && in.channels == out;

    nn_enter(m, b->name);
    nn_sequence_begin(m, &b->layers, "layers", false);
    nn_image x = append_unit(m, &b->layers, in,
                             (nn_conv_spec){.out = (int)in.channels * expansion, .kernel = 1});
    x = append_separable(m, &b->layers, x, out, kernel, stride, b->adds);
    nn_sequence_end(m, &b->layers, x);
    nn_leave(m);
    return nn_append(m, s, block_step, b, x);
}

static nn_image append_stacks(model *m, nn_sequence *s, nn_image x)
{
    /* The first block of a stack has the stride. */
    static const struct {
        int expansion, channels, kernel, stride, repeats;
    } stacks[] = {
        {3, 24, 3, 2, 3}, {3, 40, 5, 2, 3},  {6, 80, 5, 2, 3},
        {6, 96, 3, 1, 2}, {6, 192, 5, 2, 4}, {6, 320, 3, 1, 1},
    };
    for (size_t k = 0; k < sizeof stacks / sizeof *stacks; k++) {
        nn_sequence *stack = nn_sequence_begin_inner(m, s);
        if (!stack)
            return x;
        const int out = stacks[k].channels / m->variant->channel_divisor;
        for (int i = 0; i < stacks[k].repeats; i++)
            x = append_block(m, stack, x, stacks[k].expansion, out, stacks[k].kernel,
                             i ? 1 : stacks[k].stride);
        x = nn_append_sequence(m, s, stack, x);
    }
    return x;
}

static nn_image build_layers(model *m, nn_sequence *s, nn_image x)
{
    const int divisor = m->variant->channel_divisor;
    nn_sequence_begin(m, s, "layers", true);
    x = append_unit(m, s, x,
                    (nn_conv_spec){.out = 32 / divisor, .kernel = 3, .padding = 1, .stride = 2});
    x = append_separable(m, s, x, 16 / divisor, 3, 1, false);
    x = append_stacks(m, s, x);
    x = append_unit(m, s, x, (nn_conv_spec){.out = 1280 / divisor, .kernel = 1});
    return nn_sequence_end(m, s, x);
}

static void mnasnet_build(model *m)
{
    mnasnet *net = nn_alloc(m, 1, sizeof *net);
    m->network = net;
    net->layout = m->options.layout;

    nn_image x = {3, m->options.image, m->options.image};
    nn_classifier_new(m, &net->task, x, m->variant->classes);
    x = build_layers(m, &net->layers, x);
    nn_sequence_begin(m, &net->classifier, "classifier", true);
    x = nn_append_dropout(m, &net->classifier, (nn_image){.channels = x.channels}, 0.2);
    x = nn_append_linear(m, &net->classifier, x, m->variant->classes);
    nn_sequence_end(m, &net->classifier, x);
}

/* ---- a step ----------------------------------------------------------------- */

/* Sizes are those of the published model at 224 pixels. */
static tg_tensor *mnasnet_forward(tg_trace *t, const void *network)
{
    const mnasnet *net = network;
    tg_tensor *targets = nn_classifier_targets(t, &net->task); /* (B, 1000) */

    tg_tensor *x = net->task.images;             /* (B, 224, 224, 3) */
    x = nn_sequential(t, &net->layers, x);       /* (B, 7, 7, 1280) */
    x = nn_global_avg_pool2d(t, net->layout, x); /* (B, 1, 1, 1280) */
    x = nn_flatten(t, net->layout, x);           /* (B, 1280) */
    x = nn_sequential(t, &net->classifier, x);   /* (B, 1000) */
    return nn_classifier_end(t, &net->task, x, targets);
}

/* ---- the row -------------------------------------------------------------------- */

const model_row model_mnasnet1_0 = {
    .name = "mnasnet1_0",
    .summary = "inverted residuals found by search for mobile devices, ImageNet classes",
    .source = "torchvision.models.mnasnet1_0",
    .family = "cnn",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_SGD,
    .weights = MODEL_FILL_W6,
    .full = {.channel_divisor = 1, .classes = 1000, .image = 224, .learning_rate = 0.001},
    .small = {.channel_divisor = 4, .classes = 10, .image = 64, .learning_rate = 0.001},
    .build = mnasnet_build,
    .forward = mnasnet_forward,
};
