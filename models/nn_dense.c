/*
 * nn_dense.c - linear layers and activations.
 */
#include "models/model_priv.h"

void nn_linear_new(model *m, nn_dense *layer, const char *name, int64_t in, int64_t out, bool bias)
{
    nn_enter(m, name);
    layer->name = name;
    layer->weight = nn_parameter(m, "weight", MODEL_FILL_W6, 2, TG_DIMS(out, in));
    layer->bias = bias ? nn_parameter(m, "bias", MODEL_FILL_BIAS, 1, &out) : NULL;
    nn_leave(m);
}

tg_tensor *nn_linear(tg_trace *t, const nn_dense *layer, tg_tensor *x)
{
    /* (B, in) x (out, in) -> (B, out): the weight stays as the framework has it. */
    static const tg_dot_dims dims = {.contract_count = 1, .contract_a = {1}, .contract_b = {1}};
    static const int columns = 1;
    tg_scope_push(t, layer->name);
    x = tg_dot(t, x, layer->weight, &dims);
    if (layer->bias) {
        const tg_type *type = tg_tensor_type(x);
        x = tg_add(t, x, tg_broadcast(t, layer->bias, type->rank, type->dims, &columns));
    }
    tg_scope_pop(t);
    return x;
}

tg_tensor *nn_relu(tg_trace *t, tg_tensor *x)
{
    return tg_max(t, x, tg_scalar(t, tg_tensor_type(x)->dtype, 0.0));
}
