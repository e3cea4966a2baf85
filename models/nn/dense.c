/*
 * dense.c - linear layers, embeddings, activations.
 */
#include "models/nn/nn.h"

#include <math.h>
#include <string.h>

/* ---- linear -------------------------------------------------------------- */

void nn_linear_new(model *m, nn_dense *layer, const char *name, int64_t in, int64_t out, bool bias)
{
    nn_enter(m, name);
    layer->name = name;
    layer->weight = nn_parameter(m, "weight", m->row->weights, 2, TG_DIMS(out, in));
    layer->bias = bias ? nn_parameter(m, "bias", MODEL_FILL_BIAS, 1, &out) : NULL;
    nn_leave(m);
}

/* VECTOR (D) as a tensor of X's shape (..., D). */
static tg_tensor *spread(tg_trace *t, tg_tensor *x, tg_tensor *vector)
{
    const tg_type *type = tg_tensor_type(x);
    const int last = type->rank - 1;
    return tg_broadcast(t, vector, type->rank, type->dims, &last);
}

tg_tensor *nn_add_vector(tg_trace *t, tg_tensor *x, tg_tensor *vector)
{
    return tg_add(t, x, spread(t, x, vector));
}

tg_tensor *nn_mul_vector(tg_trace *t, tg_tensor *x, tg_tensor *vector)
{
    return tg_mul(t, x, spread(t, x, vector));
}

tg_tensor *nn_project(tg_trace *t, tg_tensor *x, tg_tensor *weight, tg_tensor *bias)
{
    /* (..., in) x (out, in) -> (..., out): the weight stays as the framework has it. */
    tg_dot_dims dims = {.contract_count = 1, .contract_b = {1}};
    dims.contract_a[0] = tg_tensor_type(x)->rank - 1;
    x = tg_dot(t, x, weight, &dims);
    return bias ? nn_add_vector(t, x, bias) : x;
}

tg_tensor *nn_linear(tg_trace *t, const nn_dense *layer, tg_tensor *x)
{
    tg_scope_push(t, layer->name);
    x = nn_project(t, x, layer->weight, layer->bias);
    tg_scope_pop(t);
    return x;
}

tg_tensor *nn_convert(tg_trace *t, tg_tensor *x, tg_dtype dtype)
{
    return tg_tensor_type(x)->dtype == dtype ? x : tg_convert(t, x, dtype);
}

tg_tensor *nn_slice(tg_trace *t, tg_tensor *x, int dim, int64_t first, int64_t count)
{
    static const int64_t stride[TG_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    int64_t start[TG_MAX_RANK] = {0}, limit[TG_MAX_RANK];
    memcpy(limit, tg_tensor_type(x)->dims, sizeof limit);
    start[dim] = first;
    limit[dim] = first + count;
    return tg_slice(t, x, start, limit, stride);
}

/* ---- embedding ------------------------------------------------------------- */

void nn_embedding_new(model *m, nn_table *layer, const char *name, int64_t rows, int64_t width)
{
    nn_enter(m, name);
    layer->name = name;
    layer->weight = nn_parameter(m, "weight", MODEL_FILL_EMBEDDING, 2, TG_DIMS(rows, width));
    nn_leave(m);
}

tg_tensor *nn_embedding(tg_trace *t, const nn_table *layer, tg_tensor *tokens)
{
    tg_scope_push(t, layer->name);
    tg_tensor *x = tg_gather_rows(t, layer->weight, tokens); /* (B, T, width) */
    tg_scope_pop(t);
    return x;
}

/* ---- activations -------------------------------------------------------------- */

static tg_tensor *number(tg_trace *t, tg_tensor *x, double value)
{
    return tg_scalar(t, tg_tensor_type(x)->dtype, value);
}

tg_tensor *nn_relu(tg_trace *t, tg_tensor *x)
{
    return tg_max(t, x, number(t, x, 0.0));
}

tg_tensor *nn_relu6(tg_trace *t, tg_tensor *x)
{
    return tg_min(t, nn_relu(t, x), number(t, x, 6.0));
}

tg_tensor *nn_gelu(tg_trace *t, tg_tensor *x)
{
    tg_tensor *wave = tg_erf(t, tg_mul(t, x, number(t, x, M_SQRT1_2)));
    tg_tensor *share = tg_add(t, wave, number(t, x, 1.0));
    return tg_mul(t, tg_mul(t, x, number(t, x, 0.5)), share);
}

/* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel, 2016). */
tg_tensor *nn_gelu_tanh(tg_trace *t, tg_tensor *x)
{
    tg_tensor *cube = tg_mul(t, tg_mul(t, x, x), x);
    tg_tensor *inner = tg_add(t, x, tg_mul(t, cube, number(t, x, 0.044715)));
    tg_tensor *wave = tg_tanh(t, tg_mul(t, inner, number(t, x, M_2_SQRTPI * M_SQRT1_2)));
    tg_tensor *share = tg_add(t, wave, number(t, x, 1.0));
    return tg_mul(t, tg_mul(t, x, number(t, x, 0.5)), share);
}

tg_tensor *nn_silu(tg_trace *t, tg_tensor *x)
{
    return tg_mul(t, x, tg_logistic(t, x));
}
