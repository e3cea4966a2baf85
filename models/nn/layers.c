/*
 * layers.c - like layers one after the other: each by itself, or as one loop over stacked
 * parameters, whose trace and text do not grow with the number of layers.
 */
#include "models/nn/nn.h"

/* ---- building ------------------------------------------------------------- */

const char *nn_layer_enter(model *m, int number, int count)
{
    const char *name = nn_index_name(m, number);
    nn_enter(m, name);
    if (!m->options.scan)
        return name;
    if (number == 0)
        m->stack.first = m->variable_count;
    m->stack.next = m->stack.first;
    m->stack.number = number;
    m->stack.count = count;
    return "*"; /* one trace stands for all layers */
}

void nn_layer_leave(model *m)
{
    m->stack.count = 0;
    nn_leave(m);
}

void nn_layers_new(model *m, nn_layers *layers, int count)
{
    *layers = (nn_layers){.count = count,
                          .generator = m->generator,
                          .remat = m->options.remat,
                          .offload = m->options.offload};
    if (!m->options.scan)
        return;
    layers->stacks = nn_alloc(m, m->variable_count, sizeof(tg_tensor *));
    for (size_t i = m->stack.first; i < m->variable_count; i++) {
        const model_variable *v = &m->variables[i];
        if (!v->layers || v->layer > 0)
            continue;
        if (v->role == MODEL_PARAMETER)
            layers->stacks[layers->stack_count++] = v->tensor;
        else if (v->role == MODEL_RESULT && layers->stage_count < NN_LAYER_STAGES)
            layers->stages[layers->stage_count++] = v->tensor;
        else
            nn_fail(m, BN_NOT_SUPPORTED, "option scan: %s cannot be stacked", v->name);
    }
}

/* ---- a step ----------------------------------------------------------------- */

typedef struct looping {
    const nn_layers *layers;
    nn_layer *step;
    const void *context;
} looping;

/* The body of the loop: the first layer, whose variables are bound to slices of the stacks. */
static void layer_body(tg_trace *body, void *context, tg_tensor *const *carried,
                       tg_tensor *const *slices, tg_tensor **next, tg_tensor **out)
{
    const looping *l = context;
    const nn_layers *layers = l->layers;
    for (size_t i = 0; i < layers->stack_count; i++)
        tg_bind(body, layers->stacks[i], slices[i]);
    if (layers->generator)
        tg_bind(body, layers->generator, carried[1]);
    for (size_t i = 0; i < layers->stage_count; i++) {
        const tg_type *stack = tg_tensor_type(layers->stages[i]);
        const tg_type type = tg_type_make(stack->dtype, stack->rank - 1, stack->dims + 1);
        tg_bind(body, layers->stages[i], tg_full(body, &type, 0.0)); /* until the layer keeps it */
    }
    next[0] = l->step(body, l->context, 0, carried[0]);
    if (layers->generator)
        next[1] = tg_trace_value(body, layers->generator);
    for (size_t i = 0; i < layers->stage_count; i++)
        out[i] = tg_trace_value(body, layers->stages[i]);
}

static tg_tensor *loop_over(tg_trace *t, looping *l, tg_tensor *x)
{
    const nn_layers *layers = l->layers;
    tg_tensor *const carried[] = {x, layers->generator};
    tg_tensor *results[2 + NN_LAYER_STAGES];
    const tg_loop loop = {.length = layers->count,
                          .remat = layers->remat,
                          .offload = layers->offload,
                          .carried = carried,
                          .stacked = layers->stacks,
                          .carried_count = layers->generator ? 2 : 1,
                          .stacked_count = layers->stack_count,
                          .outs = layers->stage_count,
                          .body = layer_body,
                          .context = l};
    tg_scan(t, &loop, results);
    if (layers->generator)
        tg_assign(t, layers->generator, results[1]);
    for (size_t i = 0; i < layers->stage_count; i++)
        tg_assign(t, layers->stages[i], results[loop.carried_count + i]);
    return results[0];
}

tg_tensor *nn_run_layers(tg_trace *t, const nn_layers *layers, nn_layer *step, const void *context,
                         tg_tensor *x)
{
    looping l = {layers, step, context};
    if (layers->stacks)
        return loop_over(t, &l, x);
    for (int i = 0; i < layers->count; i++)
        x = step(t, context, i, x);
    return x;
}
