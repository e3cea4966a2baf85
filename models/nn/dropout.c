/*
 * dropout.c - dropout (Srivastava et al., 2014) by a counter-based generator.
 */
#include "models/nn/nn.h"

#include <math.h>

/* The instance's generator: a key and a counter. */
static tg_tensor *generator(model *m)
{
    if (!m->generator)
        m->generator =
            nn_variable(m, &(model_variable){.name = "generator",
                                             .role = MODEL_STATE,
                                             .fill = MODEL_FILL_SEED,
                                             .shape = tg_type_make(TG_U64, 1, TG_DIMS(2))});
    return m->generator;
}

void nn_dropout_new(model *m, nn_drop *layer, double p)
{
    const bool drops = m->options.train && !m->options.no_dropout && p > 0;
    *layer = (nn_drop){.generator = drops ? generator(m) : NULL, .p = p};
}

tg_tensor *nn_dropout(tg_trace *t, const nn_drop *layer, tg_tensor *x)
{
    if (!layer || !layer->generator)
        return x;
    const tg_type type = *tg_tensor_type(x);
    const tg_type bits_type = tg_type_make(TG_U32, type.rank, type.dims);
    tg_tensor *next;
    tg_scope_push(t, "dropout");
    tg_tensor *bits = tg_random_bits(t, layer->generator, &bits_type, &next);
    tg_assign(t, layer->generator, next);
    /* Elements whose bits are below p * 2^32 are dropped: exact to 2^-32. */
    tg_tensor *edge = tg_scalar(t, TG_U32, floor(layer->p * 0x1p32));
    tg_tensor *kept = tg_compare(t, bits, edge, TG_GE);
    tg_tensor *scaled = tg_mul(t, x, tg_scalar(t, type.dtype, 1.0 / (1.0 - layer->p)));
    x = tg_select(t, kept, scaled, tg_scalar(t, type.dtype, 0.0));
    tg_scope_pop(t);
    return x;
}
