/*
 * optimizer.c - parameter updates.
 */
#include "models/nn/nn.h"

#include <math.h>
#include <stdio.h>

#define MOMENTUM     0.9
#define BETA_1       0.9
#define BETA_2       0.999
#define EPSILON      1e-8
#define WEIGHT_DECAY 0.01

/* State "PREFIX/<parameter>" in DTYPE, laid out as the parameter; STACK is that of the first
 * layer, where like layers are stacked. */
static tg_tensor *state_of(model *m, model_variable v, const char *prefix, tg_dtype dtype,
                           tg_tensor *stack)
{
    char name[2 * MODEL_PATH_BYTES + 16];
    snprintf(name, sizeof name, "%s/%s", prefix, v.name);
    v.name = name;
    v.role = MODEL_STATE;
    v.fill = MODEL_FILL_ZERO;
    v.shape.dtype = dtype;
    v.tensor = stack;
    return nn_variable(m, &v);
}

static tg_tensor *scalar_variable(model *m, const char *name, model_role role, double value)
{
    return nn_variable(m, &(model_variable){.name = name,
                                            .role = role,
                                            .fill = MODEL_FILL_CONSTANT,
                                            .fill_low = value,
                                            .shape = {.rank = 0, .dtype = TG_F32}});
}

void nn_optimizer_new(model *m, nn_optimizer *o, model_optimizer kind, double rate)
{
    size_t count = 0;
    for (size_t i = 0; i < m->variable_count; i++)
        count += m->variables[i].role == MODEL_PARAMETER && m->variables[i].layer == 0;
    *o = (nn_optimizer){.kind = kind, .dtype = m->options.dtype};
    o->parameters = nn_alloc(m, count, sizeof(tg_tensor *));
    o->first = nn_alloc(m, count, sizeof(tg_tensor *));
    o->second = nn_alloc(m, count, sizeof(tg_tensor *));
    const size_t made = m->variable_count;
    for (size_t i = 0; i < made && m->status.code == BN_OK; i++) {
        const model_variable v = m->variables[i];
        if (v.role != MODEL_PARAMETER)
            continue;
        size_t k = 0;
        while (k < o->count && o->parameters[k] != v.tensor)
            k++;
        o->parameters[k] = v.tensor;
        if (kind == MODEL_ADAMW) {
            o->first[k] = state_of(m, v, "exp_avg", TG_F32, o->first[k]);
            o->second[k] = state_of(m, v, "exp_avg_sq", TG_F32, o->second[k]);
        } else {
            o->first[k] = state_of(m, v, "momentum", o->dtype, o->first[k]);
        }
        o->count += k == o->count;
    }
    if (kind == MODEL_ADAMW)
        o->step = scalar_variable(m, "optimizer_step", MODEL_STATE, 0);
    o->rate = scalar_variable(m, "learning_rate", MODEL_SCALAR, rate);
}

static void sgd(tg_trace *t, const nn_optimizer *o, tg_tensor *const *gradients)
{
    tg_tensor *momentum = tg_scalar(t, o->dtype, MOMENTUM);
    tg_tensor *rate = nn_convert(t, o->rate, o->dtype);
    for (size_t i = 0; i < o->count; i++) {
        const size_t first_node = tg_trace_node_count(t);
        tg_tensor *p = o->parameters[i], *b = o->first[i];
        tg_tensor *velocity = tg_add(t, tg_mul(t, momentum, b), gradients[i]);
        tg_assign(t, b, velocity);
        tg_assign(t, p, tg_sub(t, p, tg_mul(t, rate, velocity)));
        tg_forget(t, first_node);
    }
}

/* Scalars that all parameters of one AdamW step share. */
typedef struct adamw_step {
    tg_tensor *keep_1, *take_1, *keep_2, *take_2; /* beta_1, 1 - beta_1, beta_2, 1 - beta_2 */
    tg_tensor *shrink;                            /* 1 - rate * weight decay */
    tg_tensor *rate;                              /* rate / (1 - beta_1^t) */
    tg_tensor *scale;                             /* 1 / sqrt(1 - beta_2^t) */
    tg_tensor *epsilon;
} adamw_step;

/* 1 - BETA^t, exact where BETA^t is near 1. */
static tg_tensor *bias_correction(tg_trace *t, tg_tensor *step, double beta)
{
    return tg_neg(t, tg_expm1(t, tg_mul(t, step, tg_scalar(t, TG_F32, log(beta)))));
}

static adamw_step adamw_begin(tg_trace *t, const nn_optimizer *o)
{
    tg_tensor *one = tg_scalar(t, TG_F32, 1.0);
    tg_tensor *step = tg_add(t, o->step, one);
    tg_assign(t, o->step, step);
    tg_tensor *decay = tg_mul(t, o->rate, tg_scalar(t, TG_F32, WEIGHT_DECAY));
    return (adamw_step){
        .keep_1 = tg_scalar(t, TG_F32, BETA_1),
        .take_1 = tg_scalar(t, TG_F32, 1.0 - BETA_1),
        .keep_2 = tg_scalar(t, TG_F32, BETA_2),
        .take_2 = tg_scalar(t, TG_F32, 1.0 - BETA_2),
        .shrink = tg_sub(t, one, decay),
        .rate = tg_div(t, o->rate, bias_correction(t, step, BETA_1)),
        .scale = tg_rsqrt(t, bias_correction(t, step, BETA_2)),
        .epsilon = tg_scalar(t, TG_F32, EPSILON),
    };
}

static void adamw(tg_trace *t, const nn_optimizer *o, tg_tensor *const *gradients)
{
    const adamw_step s = adamw_begin(t, o);
    for (size_t i = 0; i < o->count; i++) {
        const size_t first_node = tg_trace_node_count(t);
        tg_tensor *g = nn_convert(t, gradients[i], TG_F32);
        tg_tensor *p = nn_convert(t, o->parameters[i], TG_F32);
        tg_tensor *mean = tg_add(t, tg_mul(t, s.keep_1, o->first[i]), tg_mul(t, s.take_1, g));
        tg_tensor *square =
            tg_add(t, tg_mul(t, s.keep_2, o->second[i]), tg_mul(t, s.take_2, tg_mul(t, g, g)));
        tg_tensor *size = tg_add(t, tg_mul(t, tg_sqrt(t, square), s.scale), s.epsilon);
        p = tg_sub(t, tg_mul(t, p, s.shrink), tg_div(t, tg_mul(t, s.rate, mean), size));
        tg_assign(t, o->first[i], mean);
        tg_assign(t, o->second[i], square);
        tg_assign(t, o->parameters[i], nn_convert(t, p, o->dtype));
        tg_forget(t, first_node);
    }
}

void nn_optimizer_step(tg_trace *t, const nn_optimizer *o, tg_tensor *const *gradients)
{
    tg_phase before = tg_trace_phase(t, TG_PHASE_UPDATE);
    tg_scope_push(t, o->kind == MODEL_ADAMW ? "adamw" : "sgd");
    if (o->kind == MODEL_ADAMW)
        adamw(t, o, gradients);
    else
        sgd(t, o, gradients);
    tg_scope_pop(t);
    tg_trace_phase(t, before);
}
