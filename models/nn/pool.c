/*
 * pool.c - max pooling, means over parts of the image or all of it, flattening.
 */
#include "models/nn/nn.h"

/* The dimension of the height; the width's is the next one. */
static int height_axis(model_layout layout)
{
    return layout == MODEL_NHWC ? 1 : 2;
}

/* ---- windows ---------------------------------------------------------------- */

/* Windows along a side of IN elements; 0 or less: the side is too short for one. With S->ceil the
 * last window may end after the padding. As in PyTorch, it must begin within the image or the
 * padding before it. */
static int64_t window_count(int64_t in, const nn_pool_spec *s)
{
    const int64_t room = in + 2 * (int64_t)s->padding - s->kernel + (s->ceil ? s->stride - 1 : 0);
    const int64_t count = room < 0 ? 0 : room / s->stride + 1;
    return s->ceil && (count - 1) * s->stride >= in + s->padding ? count - 1 : count;
}

nn_image nn_max_pool2d_new(model *m, nn_pool *layer, const char *name, nn_image in, nn_pool_spec s)
{
    const int64_t sides[2] = {in.height, in.width};
    const int64_t counts[2] = {window_count(in.height, &s), window_count(in.width, &s)};
    nn_enter(m, name);
    if (counts[0] < 1 || counts[1] < 1)
        nn_fail(m, BN_INVALID,
                "option image: %d is too small: a pooling window of %d gets an image of %lldx%lld",
                m->options.image, s.kernel, (long long)in.height, (long long)in.width);
    nn_leave(m);

    *layer = (nn_pool){.name = name};
    for (int i = 0; i < 4; i++)
        layer->window.size[i] = layer->window.stride[i] = 1;
    for (int side = 0; side < 2; side++) {
        const int i = height_axis(m->options.layout) + side;
        const int64_t end = (counts[side] - 1) * s.stride + s.kernel; /* of the last window */
        const int64_t over = end - s.padding - sides[side];
        layer->window.size[i] = s.kernel;
        layer->window.stride[i] = s.stride;
        layer->window.pad_low[i] = s.padding;
        layer->window.pad_high[i] = over > s.padding ? (int32_t)over : s.padding;
    }
    return (nn_image){in.channels, counts[0], counts[1]};
}

tg_tensor *nn_max_pool2d(tg_trace *t, const nn_pool *layer, tg_tensor *x)
{
    tg_scope_push(t, layer->name);
    x = tg_window_max(t, x, &layer->window); /* (B, H', W', C) */
    tg_scope_pop(t);
    return x;
}

/* ---- means -------------------------------------------------------------------- */

nn_image nn_adaptive_avg_pool2d_new(model *m, nn_adaptive_pool *layer, const char *name,
                                    nn_image in, int bins)
{
    nn_enter(m, name);
    if (bins < 1 || bins > NN_MAX_BINS)
        nn_fail(m, BN_INVALID, "%d bins are not 1 to %d", bins, NN_MAX_BINS);
    nn_leave(m);
    *layer = (nn_adaptive_pool){.name = name, .layout = m->options.layout, .bins = bins};
    return (nn_image){in.channels, bins, bins};
}

/* Means of X over AXIS; the result lacks that dimension. */
static tg_tensor *mean_over(tg_trace *t, tg_tensor *x, int axis)
{
    const double count = (double)tg_tensor_type(x)->dims[axis];
    x = tg_reduce_sum(t, x, 1u << axis);
    return tg_mul(t, x, tg_scalar(t, TG_F32, 1.0 / count));
}

/* Means of neighbours along AXIS where bins are equally long: (.., I, ..) ->
 * (.., BINS, I / BINS, ..) -> (.., BINS, ..) */
static tg_tensor *equal_bins(tg_trace *t, tg_tensor *x, int axis, int bins)
{
    const tg_type *type = tg_tensor_type(x);
    int64_t dims[TG_MAX_RANK];
    for (int i = 0; i < type->rank; i++)
        dims[i < axis ? i : i + 1] = type->dims[i];
    dims[axis] = bins;
    dims[axis + 1] = type->dims[axis] / bins;
    return mean_over(t, tg_reshape(t, x, type->rank + 1, dims), axis + 1);
}

/* Bin i of O averages elements floor(i I / O) up to, not including,
 * ceil((i + 1) I / O): bins may differ in length, and share elements. */
static tg_tensor *uneven_bins(tg_trace *t, tg_tensor *x, int axis, int bins)
{
    tg_type one = *tg_tensor_type(x);
    const int64_t size = one.dims[axis];
    tg_tensor *parts[NN_MAX_BINS];
    one.dims[axis] = 1;
    for (int i = 0; i < bins; i++) {
        const int64_t first = i * size / bins, end = ((i + 1) * size + bins - 1) / bins;
        tg_tensor *bin = nn_slice(t, x, axis, first, end - first);
        parts[i] = tg_reshape(t, mean_over(t, bin, axis), one.rank, one.dims);
    }
    return tg_concatenate(t, parts, (size_t)bins, axis);
}

tg_tensor *nn_adaptive_avg_pool2d(tg_trace *t, const nn_adaptive_pool *layer, tg_tensor *x)
{
    const int height = height_axis(layer->layout), width = height + 1, bins = layer->bins;
    const tg_type type = *tg_tensor_type(x); /* (B, H, W, C) */
    if (type.dims[height] == bins && type.dims[width] == bins)
        return x;
    tg_scope_push(t, layer->name);
    if (bins == 1) {
        x = nn_global_avg_pool2d(t, layer->layout, x);
    } else {
        x = nn_convert(t, x, TG_F32);
        for (int axis = height; axis <= width; axis++)
            if (type.dims[axis] % bins)
                x = uneven_bins(t, x, axis, bins);
            else if (type.dims[axis] != bins)
                x = equal_bins(t, x, axis, bins);
        x = nn_convert(t, x, type.dtype);
    }
    tg_scope_pop(t);
    return x; /* (B, bins, bins, C) */
}

/*
 * XLA for CPU fuses a sum of f32 with all that leads to it: whole blocks of
 * convolutions, up to about a hundred instructions. Its library then allocates memory
 * for each of them in every step, and a step of ResNet-18 takes half as long again. So
 * f32 images are summed apart; other dtypes are not fused like that. The sum is a few
 * elements a channel, so the border costs no runtime much.
 */
tg_tensor *nn_global_avg_pool2d(tg_trace *t, model_layout layout, tg_tensor *x)
{
    const int height = height_axis(layout), width = height + 1;
    tg_type type = *tg_tensor_type(x); /* (B, H, W, C) */
    const double pixels = (double)type.dims[height] * (double)type.dims[width];
    const unsigned axes = 1u << height | 1u << width;
    type.dims[height] = type.dims[width] = 1;

    if (type.dtype != TG_F32)
        x = tg_reduce_sum(t, tg_convert(t, x, TG_F32), axes); /* (B, C) */
    else
        x = tg_reduce_sum_apart(t, x, axes);
    x = tg_mul(t, x, tg_scalar(t, TG_F32, 1.0 / pixels));
    x = nn_convert(t, x, type.dtype);
    return tg_reshape(t, x, type.rank, type.dims); /* (B, 1, 1, C) */
}

tg_tensor *nn_flatten(tg_trace *t, model_layout layout, tg_tensor *x)
{
    const int height = height_axis(layout), width = height + 1;
    const tg_type *type = tg_tensor_type(x);
    const int64_t dims[2] = {type->dims[0], type->dims[1] * type->dims[2] * type->dims[3]};
    if (layout == MODEL_NHWC && (type->dims[height] > 1 || type->dims[width] > 1))
        x = tg_transpose(t, x, (int[]){0, 3, 1, 2}); /* (B, C, H, W) */
    return tg_reshape(t, x, 2, dims);                /* (B, C*H*W) */
}
