/*
 * loop.c - several steps of a model as one loop on the device.
 *
 * The loop carries each variable that a step assigns, but for results: parameters, statistics,
 * state of the optimizer and of the generator of random bits. Iteration i takes slice i of each
 * input, and puts out slice i of each result. All else, as the learning rate, is the same in all
 * iterations. Which variables these are is found by tracing one step before inputs and results are
 * stacked, so nothing here knows what a step is for.
 */
#include "models/model_priv.h"

struct model_loop {
    tg_tensor **carried, **inputs, **results;
    size_t carried_count, input_count, result_count;
    model_one_step *one_step;
    tg_tensor **values; /* of the loop, in the step that is traced */
    tg_trace *found;    /* the trace of one step; variables may still refer to it */
};

/* ---- finding what a step takes and gives ------------------------------------------- */

static bn_code no_read(void *context, tg_trace *trace, tg_tensor *value, void *host, size_t size,
                       bn_status *st)
{
    (void)context, (void)trace, (void)value, (void)host, (void)size;
    return bn_fail(st, BN_INVALID, "the host reads a value within each step");
}

static bn_code no_host(void *context, tg_trace *trace, tg_node *node, bn_status *st)
{
    (void)context, (void)trace, (void)node;
    return bn_fail(st, BN_INVALID, "the host computes it within each step");
}

static tg_type stack_of(const tg_type *type, int steps)
{
    tg_type stack = {.rank = type->rank + 1, .dtype = type->dtype};
    stack.dims[0] = steps;
    for (int i = 0; i < type->rank && i + 1 < TG_MAX_RANK; i++)
        stack.dims[i + 1] = type->dims[i];
    return stack;
}

/* Files the variables of the step that T has in L. */
static void list_variables(const tg_trace *t, const model *m, model_loop *l)
{
    for (size_t i = 0; i < tg_trace_assigned_count(t); i++) {
        tg_tensor *value, *assigned = tg_trace_assigned(t, i, &value);
        size_t k = 0;
        while (k < m->variable_count && m->variables[k].tensor != assigned)
            k++;
        if (k < m->variable_count && m->variables[k].role == MODEL_RESULT)
            l->results[l->result_count++] = assigned;
        else
            l->carried[l->carried_count++] = assigned;
    }
    for (size_t i = 0; i < m->variable_count; i++)
        if (m->variables[i].role == MODEL_INPUT && tg_trace_value(t, m->variables[i].tensor))
            l->inputs[l->input_count++] = m->variables[i].tensor;
}

static bool is_listed(tg_tensor *const *list, size_t count, const tg_tensor *tensor)
{
    size_t i = 0;
    while (i < count && list[i] != tensor)
        i++;
    return i < count;
}

/* Gives inputs and results their stacked types. */
static bn_code stack_variables(model *m, const model_loop *l, bn_status *st)
{
    for (size_t i = 0; i < m->variable_count; i++) {
        model_variable *v = &m->variables[i];
        const tg_type *type = tg_tensor_type(v->tensor);
        if (v->role != MODEL_INPUT && !is_listed(l->results, l->result_count, v->tensor))
            continue;
        if (type->rank == TG_MAX_RANK)
            return bn_fail(st, BN_INVALID, "steps per execution: %s has no dimension left",
                           v->name);
        v->steps = m->options.steps;
        if (v->layer > 0) /* of a tensor that has been stacked */
            continue;
        const tg_type stack = stack_of(type, v->steps);
        tg_variable_retype(v->tensor, &stack);
    }
    return BN_OK;
}

bn_code model_loop_new(model *m, model_one_step *one_step, bn_status *st)
{
    model_loop *l = nn_alloc(m, 1, sizeof *l);
    tg_trace *t = l->found = tg_trace_new();
    m->loop = l;
    l->one_step = one_step;
    tg_trace_set_hooks(t, &(tg_hooks){.read = no_read, .host = no_host});
    l->carried = nn_alloc(m, m->variable_count, sizeof(tg_tensor *));
    l->inputs = nn_alloc(m, m->variable_count, sizeof(tg_tensor *));
    l->results = nn_alloc(m, m->variable_count, sizeof(tg_tensor *));
    l->values = nn_alloc(m, m->variable_count, sizeof(tg_tensor *));
    one_step(t, m);
    bn_code code = tg_trace_status(t, st);
    if (code != BN_OK)
        return bn_context(st, "steps per execution");
    list_variables(t, m, l);
    return stack_variables(m, l, st);
}

void model_loop_free(model_loop *l)
{
    if (l)
        tg_trace_free(l->found);
}

/* ---- the steps ------------------------------------------------------------------------ */

/* One step, whose variables are bound to what the iteration carries and to its slices. */
static void one_iteration(tg_trace *body, void *context, tg_tensor *const *carried,
                          tg_tensor *const *slices, tg_tensor **next, tg_tensor **out)
{
    const model *m = context;
    const model_loop *l = m->loop;
    for (size_t i = 0; i < l->carried_count; i++)
        tg_bind(body, l->carried[i], carried[i]);
    for (size_t i = 0; i < l->input_count; i++)
        tg_bind(body, l->inputs[i], slices[i]);
    for (size_t i = 0; i < l->result_count; i++) {
        const tg_type *stack = tg_tensor_type(l->results[i]);
        const tg_type type = tg_type_make(stack->dtype, stack->rank - 1, stack->dims + 1);
        tg_bind(body, l->results[i], tg_full(body, &type, 0.0)); /* until the step assigns it */
    }
    l->one_step(body, m);
    for (size_t i = 0; i < l->carried_count; i++)
        next[i] = tg_trace_value(body, l->carried[i]);
    for (size_t i = 0; i < l->result_count; i++)
        out[i] = tg_trace_value(body, l->results[i]);
}

void model_loop_step(tg_trace *t, const model *m)
{
    const model_loop *l = m->loop;
    const size_t count = l->carried_count + l->result_count;
    const tg_loop loop = {.length = m->options.steps,
                          .carried = l->carried,
                          .stacked = l->inputs,
                          .carried_count = l->carried_count,
                          .stacked_count = l->input_count,
                          .outs = l->result_count,
                          .body = one_iteration,
                          .context = (void *)(uintptr_t)m};
    tg_scan(t, &loop, l->values);
    for (size_t i = 0; i < count; i++)
        tg_assign(t, i < l->carried_count ? l->carried[i] : l->results[i - l->carried_count],
                  l->values[i]);
}
