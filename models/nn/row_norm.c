/*
 * row_norm.c - normalisation over the last dimension, in f32.
 */
#include "models/nn/nn.h"

tg_tensor *nn_row_mean(tg_trace *t, tg_tensor *x)
{
    const tg_type type = *tg_tensor_type(x); /* (..., D) */
    const int last = type.rank - 1;
    static const int others[TG_MAX_RANK] = {0, 1, 2, 3, 4, 5};
    tg_tensor *mean = tg_reduce_sum(t, x, 1u << last); /* (...) */
    mean = tg_mul(t, mean, tg_scalar(t, type.dtype, 1.0 / (double)type.dims[last]));
    return tg_broadcast(t, mean, type.rank, type.dims, others);
}

/* x / sqrt(mean of squares + epsilon); X is f32. */
static tg_tensor *divide_by_size(tg_trace *t, tg_tensor *x, double epsilon)
{
    tg_tensor *square = nn_row_mean(t, tg_mul(t, x, x)); /* (..., D) */
    return tg_mul(t, x, tg_rsqrt(t, tg_add(t, square, tg_scalar(t, TG_F32, epsilon))));
}

void nn_layer_norm_new(model *m, nn_row_norm *layer, const char *name, int64_t width,
                       double epsilon)
{
    nn_enter(m, name);
    *layer = (nn_row_norm){.name = name, .epsilon = epsilon};
    layer->weight = nn_parameter(m, "weight", MODEL_FILL_NORM, 1, &width);
    layer->bias = nn_parameter(m, "bias", MODEL_FILL_BIAS, 1, &width);
    nn_leave(m);
}

tg_tensor *nn_layer_norm(tg_trace *t, const nn_row_norm *layer, tg_tensor *x)
{
    const tg_dtype dtype = tg_tensor_type(x)->dtype;
    tg_scope_push(t, layer->name);
    x = nn_convert(t, x, TG_F32); /* (..., D) */
    x = divide_by_size(t, tg_sub(t, x, nn_row_mean(t, x)), layer->epsilon);
    x = nn_mul_vector(t, x, nn_convert(t, layer->weight, TG_F32));
    x = nn_add_vector(t, x, nn_convert(t, layer->bias, TG_F32));
    x = nn_convert(t, x, dtype);
    tg_scope_pop(t);
    return x;
}

void nn_rms_norm_new(model *m, nn_row_norm *layer, const char *name, int64_t width, double epsilon)
{
    nn_enter(m, name);
    *layer = (nn_row_norm){.name = name, .epsilon = epsilon};
    layer->weight = nn_parameter(m, "weight", MODEL_FILL_NORM, 1, &width);
    nn_leave(m);
}

tg_tensor *nn_rms_norm(tg_trace *t, const nn_row_norm *layer, tg_tensor *x)
{
    const tg_dtype dtype = tg_tensor_type(x)->dtype;
    tg_scope_push(t, layer->name);
    x = divide_by_size(t, nn_convert(t, x, TG_F32), layer->epsilon); /* (..., D) */
    x = nn_mul_vector(t, nn_convert(t, x, dtype), layer->weight);
    tg_scope_pop(t);
    return x;
}
