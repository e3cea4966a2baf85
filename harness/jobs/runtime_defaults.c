/*
 * runtime_defaults.c - defaults of a runtime, by its name, and the options of an experiment's model
 * on it.
 */
#include "harness/jobs/jobs.h"

#include <string.h>

/* Defaults of a runtime. XLA for CPU makes four devices by default; a step uses one. */
typedef struct runtime_default {
    const char *part; /* of the runtime's name, or of its file's name */
    const char *option;
    model_layout layout;
    bool shares; /* two processes may hold its device at the same time, with all its memory */
} runtime_default;

static const runtime_default defaults[] = {
    {"cpu", "cpu_device_count=1", MODEL_NHWC, true},
    {"cuda", NULL, MODEL_NHWC, false},
    {"tpu", NULL, MODEL_NHWC, false},
};

static const runtime_default *default_of(const char *runtime, const char *path)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (strstr(bn_base_name(runtime), defaults[i].part) ||
            strstr(bn_base_name(path), defaults[i].part))
            return &defaults[i];
    return NULL;
}

const char *job_usual_option(const char *runtime, const char *path)
{
    const runtime_default *row = default_of(runtime, path);
    return row ? row->option : NULL;
}

bool job_shares_device(const char *runtime, const char *path)
{
    const runtime_default *row = default_of(runtime, path);
    return job_simulated_name(runtime) || job_simulated_name(path) || (row && row->shares);
}

bool job_simulated_name(const char *name)
{
    return strcmp(name, "sim") == 0 || strcmp(bn_base_name(name), "libpjrt_sim.so") == 0;
}

model_options job_model_options(const res_experiment *w, const char *path)
{
    /* Steps without a gradient save nothing: bench verify has some in addition to those of
     * training. */
    const bool train = strcmp(w->phase, "train") == 0;
    const bool offload = train && strcmp(w->offload, "activations") == 0;
    const tg_remat remat = !train                           ? TG_REMAT_NONE
                           : strcmp(w->remat, "layer") == 0 ? TG_REMAT_LAYER
                           : strcmp(w->remat, "dots") == 0  ? TG_REMAT_DOTS
                                                            : TG_REMAT_NONE;
    const runtime_default *row = default_of(w->runtime, path);
    const model_layout layout = strcmp(w->layout, "nchw") == 0   ? MODEL_NCHW
                                : strcmp(w->layout, "nhwc") == 0 ? MODEL_NHWC
                                : row                            ? row->layout
                                                                 : MODEL_NHWC;
    return (model_options){
        .small = strncmp(w->variant, "small", 5) == 0,
        .pad = strstr(w->variant, "_pad") != NULL,
        .train = train,
        .decode = strcmp(w->phase, "decode") == 0,
        .no_dropout = strcmp(w->dropout, "off") == 0,
        .optimizer = strcmp(w->optimizer, "sgd") == 0     ? MODEL_SGD
                     : strcmp(w->optimizer, "adamw") == 0 ? MODEL_ADAMW
                                                          : MODEL_OPTIMIZER_DEFAULT,
        .batch = w->batch,
        .image = w->image,
        .seq = w->seq,
        .context = w->context,
        .depth = w->depth,
        .scan = strcmp(w->scan, "on") == 0,
        .remat = remat,
        .offload = offload,
        .steps = w->steps_per_execution,
        .dtype = bn_dtype_named(w->dtype, strlen(w->dtype), false, TG_DTYPE_COUNT),
        .layout = layout,
        .seed = w->seed};
}
