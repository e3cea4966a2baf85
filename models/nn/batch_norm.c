/*
 * batch_norm.c - batch normalisation of images.
 *
 * Training normalises by the biased variance of the batch, and the running
 * variance takes the unbiased one, so a channel needs at least two values.
 */
#include "models/nn/nn.h"

static tg_tensor *statistic(model *m, const char *name, model_fill fill, int64_t channels)
{
    return nn_variable(m, &(model_variable){.name = name,
                                            .role = MODEL_STATISTIC,
                                            .fill = fill,
                                            .shape = tg_type_make(TG_F32, 1, &channels)});
}

nn_image nn_batch_norm2d_new(model *m, nn_norm *layer, const char *name, nn_image in,
                             nn_norm_spec spec)
{
    double momentum = spec.momentum != 0 ? spec.momentum : 0.1;
    double values = (double)m->options.batch * (double)in.height * (double)in.width;
    nn_enter(m, name);
    if (m->options.train && values < 2)
        nn_fail(m, BN_INVALID,
                "options batch and image: %d of %d pixels leave one value a channel, and "
                "training needs two",
                m->options.batch, m->options.image);
    *layer = (nn_norm){
        .name = name,
        .epsilon = spec.epsilon != 0 ? spec.epsilon : 1e-5,
        .keep = 1.0 - momentum,
        .mean_share = momentum,
        .variance_share = momentum * values / (values - 1.0),
        .feature = m->options.layout == MODEL_NHWC ? 3 : 1,
        .train = m->options.train,
    };
    const model_fill fill = spec.residual ? MODEL_FILL_NORM_RESIDUAL : MODEL_FILL_NORM;
    layer->weight = nn_parameter(m, "weight", fill, 1, &in.channels);
    layer->bias = nn_parameter(m, "bias", MODEL_FILL_BIAS, 1, &in.channels);
    layer->running_mean = statistic(m, "running_mean", MODEL_FILL_MEAN, in.channels);
    layer->running_variance = statistic(m, "running_var", MODEL_FILL_VARIANCE, in.channels);
    nn_leave(m);
    return in;
}

/* running = keep * running + share * batch, all (C) */
static void update_running(tg_trace *t, tg_tensor *running, tg_tensor *batch, double keep,
                           double share)
{
    tg_tensor *old = tg_mul(t, running, tg_scalar(t, TG_F32, keep));
    tg_tensor *new = tg_mul(t, batch, tg_scalar(t, TG_F32, share));
    tg_assign(t, running, tg_add(t, old, new));
}

tg_tensor *nn_batch_norm2d(tg_trace *t, const nn_norm *layer, tg_tensor *x)
{
    const tg_dtype dtype = tg_tensor_type(x)->dtype;
    tg_tensor *mean, *variance; /* (C) of the batch */
    tg_scope_push(t, layer->name);
    tg_tensor *scale = nn_convert(t, layer->weight, TG_F32); /* (C) */
    tg_tensor *offset = nn_convert(t, layer->bias, TG_F32);  /* (C) */
    x = nn_convert(t, x, TG_F32);                            /* (B, H, W, C) */
    if (layer->train) {
        x = tg_batch_norm_training(t, x, scale, offset, layer->epsilon, layer->feature, &mean,
                                   &variance);
        tg_phase before = tg_trace_phase(t, TG_PHASE_STATISTICS);
        update_running(t, layer->running_mean, mean, layer->keep, layer->mean_share);
        update_running(t, layer->running_variance, variance, layer->keep, layer->variance_share);
        tg_trace_phase(t, before);
    } else {
        x = tg_batch_norm_inference(t, x, scale, offset, layer->running_mean,
                                    layer->running_variance, layer->epsilon, layer->feature);
    }
    x = nn_convert(t, x, dtype);
    tg_scope_pop(t);
    return x;
}
