/*
 * estimate_facts.c - published clocks of devices, and times that were measured on them. A clock or
 * a time without a source is not here.
 */
#include "harness/estimate/estimate_priv.h"
#include "models/model.h"

#include <string.h>

/* A compiler counts in cycles and states no clock. The peak rates that Google publishes agree with
 * these: a matrix unit of 128 x 128 does 32768 operations a cycle, so the 4, 8, 4 and 8 units of a
 * chip of v3, v4, v5e and v5p do 123, 275, 197 and 459 TFLOPS, as cloud.google.com/tpu/docs/v3, v4,
 * v5e and v5p say. */
static const struct {
    const char *generation; /* the part of a topology's name before the colon */
    double ghz;
    const char *source;
} clocks[] = {
    {"v2", 0.70,
     "T. Norrie et al., The Design Process for Google's Training Chips: TPUv2 and TPUv3, IEEE "
     "Micro 41(2), 2021, page 61"},
    {"v3", 0.94,
     "T. Norrie et al., The Design Process for Google's Training Chips: TPUv2 and TPUv3, IEEE "
     "Micro 41(2), 2021, page 61"},
    {"v4", 1.05,
     "N. P. Jouppi et al., TPU v4: An Optically Reconfigurable Supercomputer for Machine Learning "
     "with Hardware Support for Embeddings, ISCA 2023, arxiv.org/abs/2304.01433"},
    {"v5e", 1.50,
     "J. Austin et al., How to Scale Your Model, 2025, part 2: "
     "jax-ml.github.io/scaling-book/tpus"},
    {"v5p", 1.75,
     "J. Austin et al., How to Scale Your Model, 2025, part 2, about 1.75 GHz, in the quiz on the "
     "vector unit: jax-ml.github.io/scaling-book/tpus"},
};

/* pytorch/xla's issue 4475, "TPU dynamo speed up on Training analysis". It says neither the batch
 * nor the element type, nor how a chip's two cores make one device: those are our reading. Its
 * fifth graph, the update, took 0.289 ms. At v4's 1228 GB/s, weights, gradients and momenta of
 * ResNet50 take 0.42 ms to read and write, and without momenta 0.25 ms. So that update had no
 * momentum, and no estimate of ours is next to it. */
static const char resnet50[] =
    "github.com/pytorch/xla/issues/4475, January 2023, measured on one device of TPU v4; batch 32, "
    "f32 and megacore are our reading";

/* A comment of 27 October 2022 on PyTorch's pull request that brought its compiler to XLA: seconds
 * of one inference, traced lazily and compiled once, of which the shorter is taken. Batches are
 * those that TorchBench had for inference; timm_vision_transformer is left out, since it had 8
 * and 32. */
static const char inference[] =
    "github.com/pytorch/pytorch/pull/87741, October 2022, time of a call on one device of TPU v4, "
    "the host's work included; TorchBench's batch, f32 and megacore are our reading";

/* TorchBench's BERT_pytorch passes the encoder to a runner (get_module, which
 * benchmarks/dynamo/torchbench.py of PyTorch calls), without the heads that predict words and
 * sentences. */
static const char encoder[] =
    "github.com/pytorch/pytorch/pull/87741, October 2022, time of a call on one device of TPU v4, "
    "the host's work included; TorchBench's get_module returns the encoder without its heads, so "
    "only the scope bert counts; TorchBench's batch, f32 and megacore are our reading";

/* 7 hours for 90 epochs of 99 % of 1281167 images, 1024 a step: 111476 steps. The comment in the
 * configuration says 6 to 7. */
static const char vit_s16[] =
    "github.com/google-research/big_vision, configs/vit_s16_i1k.py: at most 7 hours for 111476 "
    "steps of 1024 images on 8 cores of TPU v3, with input, all-reduce and evaluation; one core's "
    "128 images and f32 are our reading";

#define V4 "v4:1x1x1/megacore"

static const struct {
    const char *model, *phase, *dtype, *topology;
    int batch, graphs;
    const char *label; /* NULL: the whole step */
    estimate_time time;
} times[] = {
    {"resnet50", "train", "f32", V4, 32, 1, NULL, {17.85, false, resnet50, NULL}},
    {"resnet50", "train", "f32", V4, 32, 5, "input", {0.083, false, resnet50, NULL}},
    {"resnet50", "train", "f32", V4, 32, 5, "forward", {9.6, false, resnet50, NULL}},
    {"resnet50", "train", "f32", V4, 32, 5, "statistics", {0.6, false, resnet50, NULL}},
    {"resnet50", "train", "f32", V4, 32, 5, "backward", {13.1, false, resnet50, NULL}},
    {"resnet50",
     "train",
     "f32",
     V4,
     32,
     5,
     NULL,
     {0.083 + 9.6 + 0.6 + 13.1 + 0.289, false, resnet50, NULL}},
    {"resnet50", "infer", "f32", V4, 32, 1, NULL, {13.89865, true, inference, NULL}},
    {"resnext50_32x4d", "infer", "f32", V4, 8, 1, NULL, {12.04363, true, inference, NULL}},
    {"alexnet", "infer", "f32", V4, 128, 1, NULL, {62.0243, true, inference, NULL}},
    {"mobilenet_v2", "infer", "f32", V4, 16, 1, NULL, {7.38665, true, inference, NULL}},
    {"mnasnet1_0", "infer", "f32", V4, 32, 1, NULL, {12.29267, true, inference, NULL}},
    {"squeezenet1_1", "infer", "f32", V4, 16, 1, NULL, {6.89901, true, inference, NULL}},
    {"vgg16", "infer", "f32", V4, 4, 1, NULL, {5.98695, true, inference, NULL}},
    {"bert_pytorch", "infer", "f32", V4, 16, 1, NULL, {4.30994, true, encoder, "bert"}},
    {"vit_small_patch16_224",
     "train",
     "f32",
     "v3:2x2",
     128,
     1,
     NULL,
     {7 * 3600e3 / 111476, true, vit_s16, NULL}},
};

double estimate_clock(const char *topology, const char **source)
{
    const size_t length = strcspn(topology, ":");
    *source = "";
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        if (strlen(clocks[i].generation) == length &&
            strncmp(clocks[i].generation, topology, length) == 0) {
            *source = clocks[i].source;
            return clocks[i].ghz;
        }
    return 0;
}

/* Whether images and rows have the published sizes; 0 is the model's own. */
static bool is_own_size(const res_experiment *what)
{
    return (what->image == 0 || what->image == 224) && (what->seq == 0 || what->seq == 128);
}

/* Whether WHAT trains as the model's source does. Its optimizer has two names: default, and its
 * own.
 */
static bool is_own_training(const res_experiment *what)
{
    const char *usual = res_axes[RES_AXIS_OPTIMIZER].usual;
    model_info info;
    return res_axis_is_usual(&res_axes[RES_AXIS_DROPOUT], what) &&
           model_describe_named(what->model, &info) &&
           (strcmp(what->optimizer, usual) == 0 ||
            strcmp(what->optimizer, info.optimizer == MODEL_ADAMW ? "adamw" : "sgd") == 0);
}

/* Whether WHAT's program is the published one: no loop over layers, no flags of the compiler. In
 * inference optimizer and dropout make no difference. */
static bool is_own_step(const res_experiment *what)
{
    static const res_axis_id usual[] = {RES_AXIS_SCAN, RES_AXIS_REMAT, RES_AXIS_OFFLOAD,
                                        RES_AXIS_SETTINGS};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (!res_axis_is_usual(&res_axes[usual[i]], what))
            return false;
    return strcmp(what->phase, "train") != 0 || is_own_training(what);
}

bool estimate_published(const res_experiment *what, const char *topology, const char *label,
                        estimate_time *found)
{
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (strcmp(times[i].model, what->model) == 0 && strcmp(what->variant, "full") == 0 &&
            strcmp(times[i].phase, what->phase) == 0 && strcmp(times[i].dtype, what->dtype) == 0 &&
            times[i].batch == what->batch && times[i].graphs == what->graphs && is_own_size(what) &&
            is_own_step(what) && strcmp(times[i].topology, topology) == 0 &&
            (label ? times[i].label && strcmp(times[i].label, label) == 0 : !times[i].label)) {
            *found = times[i].time;
            return true;
        }
    return false;
}
