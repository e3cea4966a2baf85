/*
 * nn_pool.c - max pooling, mean over the image, flattening.
 */
#include "models/model_priv.h"

/* Dimensions of height and width under a layout. */
static int height_of(model_layout layout)
{
    return layout == MODEL_NHWC ? 1 : 2;
}

nn_image nn_max_pool2d_new(model *m, nn_pool *layer, const char *name, nn_image in, int kernel,
                           int stride, int padding)
{
    int64_t rooms[2] = {in.height + 2 * (int64_t)padding - kernel,
                        in.width + 2 * (int64_t)padding - kernel};
    nn_enter(m, name);
    if (rooms[0] < 0 || rooms[1] < 0)
        nn_fail(m, BN_INVALID,
                "option image: %d is too small, a window of %d meets an image of %lldx%lld",
                m->options.image, kernel, (long long)in.height, (long long)in.width);
    nn_leave(m);

    *layer = (nn_pool){.name = name};
    for (int i = 0; i < 4; i++)
        layer->window.size[i] = layer->window.stride[i] = 1;
    for (int i = height_of(m->options.layout), end = i + 2; i < end; i++) {
        layer->window.size[i] = kernel;
        layer->window.stride[i] = stride;
        layer->window.pad_low[i] = layer->window.pad_high[i] = padding;
    }
    return (nn_image){in.channels, rooms[0] / stride + 1, rooms[1] / stride + 1};
}

tg_tensor *nn_max_pool2d(tg_trace *t, const nn_pool *layer, tg_tensor *x)
{
    tg_scope_push(t, layer->name);
    x = tg_window_max(t, x, &layer->window); /* (B, H', W', C) */
    tg_scope_pop(t);
    return x;
}

tg_tensor *nn_global_avg_pool2d(tg_trace *t, model_layout layout, tg_tensor *x)
{
    const int height = height_of(layout), width = height + 1;
    tg_type type = *tg_tensor_type(x); /* (B, H, W, C) */
    double pixels = (double)type.dims[height] * (double)type.dims[width];
    type.dims[height] = type.dims[width] = 1;

    if (type.dtype != TG_F32)
        x = tg_convert(t, x, TG_F32);
    x = tg_reduce_sum(t, x, 1u << height | 1u << width); /* (B, C) */
    x = tg_mul(t, x, tg_scalar(t, TG_F32, 1.0 / pixels));
    if (type.dtype != TG_F32)
        x = tg_convert(t, x, type.dtype);
    return tg_reshape(t, x, type.rank, type.dims); /* (B, 1, 1, C) */
}

tg_tensor *nn_flatten(tg_trace *t, model_layout layout, tg_tensor *x)
{
    const int height = height_of(layout), width = height + 1;
    const tg_type *type = tg_tensor_type(x);
    const int64_t dims[2] = {type->dims[0], type->dims[1] * type->dims[2] * type->dims[3]};
    if (layout == MODEL_NHWC && (type->dims[height] > 1 || type->dims[width] > 1))
        x = tg_transpose(t, x, (int[]){0, 3, 1, 2}); /* (B, C, H, W) */
    return tg_reshape(t, x, 2, dims);                /* (B, C*H*W) */
}
