/*
 * squeezenet.c - SqueezeNet 1.1, as torchvision builds it (Iandola et al.,
 * SqueezeNet, 2016). No dense layer: the last convolution has a channel a class.
 */
#include "models/model_priv.h"

/* 1x1 to few channels, then 1x1 and 3x3 side by side to many. */
typedef struct fire {
    const char *name;
    nn_conv squeeze, expand1x1, expand3x3;
    int feature; /* dimension of channels */
} fire;

typedef struct squeezenet {
    model_layout layout;
    nn_classifier task;
    nn_sequence features, classifier;
} squeezenet;

/* H and W are those of the image that comes in; expand gives as many channels each. */
static tg_tensor *fire_step(tg_trace *t, const void *layer, tg_tensor *x)
{
    const fire *f = layer;
    tg_tensor *parts[2];
    tg_scope_push(t, f->name);
    x = nn_relu(t, nn_conv2d(t, &f->squeeze, x));          /* (B, H, W, squeeze) */
    parts[0] = nn_relu(t, nn_conv2d(t, &f->expand1x1, x)); /* (B, H, W, expand) */
    parts[1] = nn_relu(t, nn_conv2d(t, &f->expand3x3, x));
    x = tg_concatenate(t, parts, 2, f->feature); /* (B, H, W, 2 expand) */
    tg_scope_pop(t);
    return x;
}

/* ---- building ------------------------------------------------------------- */

static nn_image append_fire(model *m, nn_sequence *s, nn_image x, int squeeze, int expand)
{
    const int divisor = m->variant->channel_divisor;
    const nn_conv_spec few = {.out = squeeze / divisor, .kernel = 1, .bias = true};
    const nn_conv_spec many = {.out = expand / divisor, .kernel = 1, .bias = true};
    nn_conv_spec wide = many;
    wide.kernel = 3;
    wide.padding = 1;
    fire *f = nn_alloc(m, 1, sizeof *f);
    f->name = nn_next_name(m, s);
    f->feature = m->options.layout == MODEL_NHWC ? 3 : 1;
    nn_enter(m, f->name);
    x = nn_conv2d_new(m, &f->squeeze, "squeeze", x, few);
    nn_conv2d_new(m, &f->expand1x1, "expand1x1", x, many);
    x = nn_conv2d_new(m, &f->expand3x3, "expand3x3", x, wide);
    nn_leave(m);
    x.channels *= 2;
    return nn_append(m, s, fire_step, f, x);
}

static nn_image build_features(model *m, nn_sequence *s, nn_image x)
{
    static const struct {
        bool pools; /* before it */
        int squeeze, expand;
    } fires[] = {
        {true, 16, 64},  {false, 16, 64},  {true, 32, 128},  {false, 32, 128},
        {true, 48, 192}, {false, 48, 192}, {false, 64, 256}, {false, 64, 256},
    };
    const nn_pool_spec pool = {.kernel = 3, .stride = 2, .ceil = true};
    const int stem = 64 / m->variant->channel_divisor;
    nn_sequence_begin(m, s, "features", true);
    x = nn_append_conv2d(m, s, x,
                         (nn_conv_spec){.out = stem, .kernel = 3, .stride = 2, .bias = true});
    x = nn_append_relu(m, s, x);
    for (size_t i = 0; i < sizeof fires / sizeof *fires; i++) {
        if (fires[i].pools)
            x = nn_append_max_pool2d(m, s, x, pool);
        x = append_fire(m, s, x, fires[i].squeeze, fires[i].expand);
    }
    return nn_sequence_end(m, s, x);
}

static void build_classifier(model *m, nn_sequence *s, nn_image x)
{
    nn_sequence_begin(m, s, "classifier", true);
    x = nn_append_dropout(m, s, x, 0.5);
    x = nn_append_conv2d(m, s, x,
                         (nn_conv_spec){.out = m->variant->classes, .kernel = 1, .bias = true});
    x = nn_append_relu(m, s, x);
    x = nn_append_adaptive_avg_pool2d(m, s, x, 1);
    nn_sequence_end(m, s, x);
}

static void squeezenet_build(model *m)
{
    squeezenet *net = nn_alloc(m, 1, sizeof *net);
    m->network = net;
    net->layout = m->options.layout;

    nn_image x = {3, m->options.image, m->options.image};
    nn_classifier_new(m, &net->task, x, m->variant->classes);
    x = build_features(m, &net->features, x);
    build_classifier(m, &net->classifier, x);
}

/* ---- a step ----------------------------------------------------------------- */

/* Sizes are those of the published model at 224 pixels. */
static tg_tensor *squeezenet_forward(tg_trace *t, const void *network)
{
    const squeezenet *net = network;
    tg_tensor *targets = nn_classifier_targets(t, &net->task); /* (B, 1000) */

    tg_tensor *x = net->task.images;           /* (B, 224, 224, 3) */
    x = nn_sequential(t, &net->features, x);   /* (B, 13, 13, 512) */
    x = nn_sequential(t, &net->classifier, x); /* (B, 1, 1, 1000) */
    x = nn_flatten(t, net->layout, x);         /* (B, 1000) */
    return nn_classifier_end(t, &net->task, x, targets);
}

/* ---- the row -------------------------------------------------------------------- */

const model_row model_squeezenet1_1 = {
    .name = "squeezenet1_1",
    .summary = "convolutions squeezed to few channels and expanded, ImageNet classes",
    .source = "torchvision.models.squeezenet1_1",
    .family = "cnn",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_SGD,
    .weights = MODEL_FILL_W6,
    .full = {.channel_divisor = 1, .classes = 1000, .image = 224, .learning_rate = 0.001},
    .small = {.channel_divisor = 8, .classes = 10, .image = 64, .learning_rate = 0.001},
    .build = squeezenet_build,
    .forward = squeezenet_forward,
};
