/*
 * optimizer.c - parameter updates.
 */
#include "models/model_priv.h"

#include <stdio.h>

void nn_sgd_new(model *m, nn_sgd *o, double rate, double momentum)
{
    size_t count = 0;
    for (size_t i = 0; i < m->variable_count; i++)
        count += m->variables[i].role == MODEL_PARAMETER;
    *o = (nn_sgd){.momentum = momentum, .dtype = m->options.dtype};
    o->parameters = nn_alloc(m, count, sizeof(tg_tensor *));
    o->momenta = nn_alloc(m, count, sizeof(tg_tensor *));
    const size_t made = m->variable_count;
    for (size_t i = 0; i < made && m->status.code == BN_OK; i++) {
        model_variable momentum_of = m->variables[i];
        char name[2 * MODEL_PATH_BYTES + 16];
        if (momentum_of.role != MODEL_PARAMETER)
            continue;
        o->parameters[o->count] = momentum_of.tensor;
        snprintf(name, sizeof name, "momentum/%s", momentum_of.name);
        momentum_of.name = name;
        momentum_of.role = MODEL_OPTIMIZER;
        momentum_of.fill = MODEL_FILL_ZERO;
        o->momenta[o->count++] = nn_variable(m, &momentum_of);
    }
    o->rate = nn_variable(m, &(model_variable){.name = "learning_rate",
                                               .role = MODEL_SCALAR,
                                               .fill = MODEL_FILL_CONSTANT,
                                               .fill_low = rate,
                                               .shape = {.rank = 0, .dtype = TG_F32}});
}

void nn_sgd_step(tg_trace *t, const nn_sgd *o, tg_tensor *const *gradients)
{
    tg_phase before = tg_trace_phase(t, TG_PHASE_UPDATE);
    tg_scope_push(t, "sgd");
    tg_tensor *momentum = tg_scalar(t, o->dtype, o->momentum);
    tg_tensor *rate = o->dtype == TG_F32 ? o->rate : tg_convert(t, o->rate, o->dtype);
    for (size_t i = 0; i < o->count; i++) {
        tg_tensor *p = o->parameters[i], *b = o->momenta[i];
        tg_tensor *velocity = tg_add(t, tg_mul(t, momentum, b), gradients[i]);
        tg_assign(t, b, velocity);
        tg_assign(t, p, tg_sub(t, p, tg_mul(t, rate, velocity)));
    }
    tg_scope_pop(t);
    tg_trace_phase(t, before);
}
