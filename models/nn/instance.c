/*
 * instance.c - what layers share while an instance is built: module paths,
 * memory, variables, stages.
 */
#include "models/nn/instance.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void nn_fail(model *m, bn_code code, const char *format, ...)
{
    char message[512];
    va_list args;
    if (m->status.code != BN_OK)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    bn_fail(&m->status, code, "%s", message);
    if (m->path[0])
        bn_context(&m->status, "%s", m->path);
}

void nn_enter(model *m, const char *name)
{
    size_t used = strlen(m->path);
    int wrote = snprintf(m->path + used, sizeof m->path - used, "%s%s", used ? "." : "", name);
    if (wrote < 0 || (size_t)wrote >= sizeof m->path - used)
        nn_fail(m, BN_INVALID, "module %s is nested too deeply", name);
}

void nn_leave(model *m)
{
    char *dot = strrchr(m->path, '.');
    *(dot ? dot : m->path) = '\0';
}

int nn_depth(const model *m)
{
    return m->options.depth ? m->options.depth : m->variant->depth;
}

int nn_step_tokens(const model *m)
{
    return m->options.decode ? 1 : m->options.seq;
}

void *nn_alloc(model *m, size_t count, size_t size)
{
    return bn_arena_zalloc(m->arena, count * size);
}

const char *nn_index_name(model *m, int index)
{
    char text[16];
    snprintf(text, sizeof text, "%d", index);
    return bn_arena_strdup(m->arena, text);
}

/* ---- variables ------------------------------------------------------------- */

/* The type that V has on the device. An all-zero permutation becomes the identity. */
static tg_type device_type(model_variable *v)
{
    bool given = false;
    for (int i = 0; i < v->shape.rank; i++)
        given |= v->permutation[i] != 0;
    tg_type type = {.rank = v->shape.rank, .dtype = v->shape.dtype};
    for (int i = 0; i < v->shape.rank; i++) {
        if (!given)
            v->permutation[i] = i;
        type.dims[i] = v->shape.dims[v->permutation[i]];
    }
    return type;
}

/* LAYERS tensors of TYPE, one behind the other. */
static tg_type stack_type(const tg_type *type, int layers)
{
    tg_type stack = {.rank = type->rank + 1, .dtype = type->dtype};
    stack.dims[0] = layers;
    for (int i = 0; i < type->rank && i + 1 < TG_MAX_RANK; i++)
        stack.dims[i + 1] = type->dims[i];
    return stack;
}

/* The tensor that the first layer made where this one makes V; NULL after putting an error
 * on M. */
static tg_tensor *stack_of(model *m, const model_variable *v)
{
    size_t i = m->stack.next;
    while (i < m->variable_count && (!m->variables[i].layers || m->variables[i].layer > 0))
        i++;
    if (i == m->variable_count || !tg_type_equal(&m->variables[i].shape, &v->shape)) {
        nn_fail(m, BN_INVALID, "option scan: the layers differ in %s", v->name);
        return NULL;
    }
    m->stack.next = i + 1;
    return m->variables[i].tensor;
}

tg_tensor *nn_variable(model *m, const model_variable *spec)
{
    char name[2 * MODEL_PATH_BYTES];
    bool in_module = spec->role == MODEL_PARAMETER || spec->role == MODEL_STATISTIC ||
                     spec->role == MODEL_BUFFER;
    if (m->status.code != BN_OK)
        return NULL;
    snprintf(name, sizeof name, "%s%s%s", in_module ? m->path : "",
             in_module && m->path[0] ? "." : "", spec->name);

    model_variable v = *spec;
    tg_type type = device_type(&v);
    v.name = bn_arena_strdup(m->arena, name);
    if (m->stack.count && (in_module || v.role == MODEL_RESULT)) {
        v.layer = m->stack.number;
        v.layers = m->stack.count;
        v.tensor = v.layer ? stack_of(m, &v) : NULL;
    }
    if (m->status.code != BN_OK)
        return NULL;
    if (v.layers)
        type = stack_type(&type, v.layers);
    if (!v.tensor)
        v.tensor = tg_variable_new(v.name, &type);
    bn_grow(&m->variables, m->variable_count + 1, &m->variable_capacity, sizeof *spec);
    m->variables[m->variable_count++] = v;
    return v.tensor;
}

tg_tensor *nn_parameter(model *m, const char *name, model_fill fill, int32_t rank,
                        const int64_t *dims)
{
    return nn_variable(m, &(model_variable){.name = name,
                                            .role = MODEL_PARAMETER,
                                            .fill = fill,
                                            .shape = tg_type_make(m->options.dtype, rank, dims)});
}

tg_tensor *nn_buffer(model *m, const char *name, int32_t rank, const int64_t *dims,
                     model_table *table)
{
    return nn_variable(m, &(model_variable){.name = name,
                                            .role = MODEL_BUFFER,
                                            .fill = MODEL_FILL_TABLE,
                                            .table = table,
                                            .shape = tg_type_make(TG_F32, rank, dims)});
}

/* ---- what a step takes and gives ---------------------------------------------- */

bool nn_wants_loss(const model *m)
{
    return m->options.train || (m->options.keep_stages && !m->options.decode);
}

bool nn_wants_outputs(const model *m)
{
    return !m->options.train || m->options.keep_stages || m->options.keep_gradients;
}

tg_tensor *nn_result(model *m, const char *name, tg_dtype dtype, int32_t rank, const int64_t *dims)
{
    return nn_variable(m, &(model_variable){.name = name,
                                            .role = MODEL_RESULT,
                                            .fill = MODEL_FILL_ZERO,
                                            .shape = tg_type_make(dtype, rank, dims)});
}

tg_tensor *nn_loss_result(model *m)
{
    return nn_wants_loss(m) ? nn_result(m, "loss", TG_F32, 0, NULL) : NULL;
}

tg_tensor *nn_tokens(model *m, const model_variable *spec, bool always_padded)
{
    model_variable v = *spec;
    v.role = MODEL_INPUT;
    v.mask.padded = v.mask.padded && (always_padded || m->options.pad);
    v.shape = tg_type_make(TG_I32, 2, TG_DIMS(m->options.batch, m->options.seq));
    return nn_variable(m, &v);
}

tg_tensor *nn_row_labels(model *m, const char *name, model_fill fill, double low, double high)
{
    return nn_variable(
        m, &(model_variable){.name = name,
                             .role = MODEL_INPUT,
                             .fill = fill,
                             .fill_low = low,
                             .fill_high = high,
                             .shape = tg_type_make(TG_I32, 1, TG_DIMS(m->options.batch))});
}

/* ---- stages ----------------------------------------------------------------- */

static tg_tensor *stage(model *m, const char *name, model_variable v)
{
    char path[2 * MODEL_PATH_BYTES];
    if (!m->options.keep_stages)
        return NULL;
    snprintf(path, sizeof path, "stage/%s%s%s", m->path, name && m->path[0] ? "." : "",
             name ? name : "");
    v.name = path;
    v.role = MODEL_RESULT;
    return nn_variable(m, &v);
}

tg_tensor *nn_stage(model *m, const char *name, nn_image image)
{
    const int64_t *dims = TG_DIMS(m->options.batch, image.channels, image.height, image.width);
    model_variable v = {.shape = tg_type_make(m->options.dtype, 4, dims)};
    if (m->options.layout == MODEL_NHWC)
        memcpy(v.permutation, (int[]){0, 2, 3, 1}, 4 * sizeof(int));
    return stage(m, name, v);
}

tg_tensor *nn_plain_stage(model *m, const char *name, int32_t rank, const int64_t *dims)
{
    return stage(m, name, (model_variable){.shape = tg_type_make(m->options.dtype, rank, dims)});
}

tg_tensor *nn_token_stage(model *m, const char *name, int64_t width)
{
    return nn_plain_stage(m, name, 3, TG_DIMS(m->options.batch, nn_step_tokens(m), width));
}

tg_tensor *nn_keep(tg_trace *t, tg_tensor *variable, tg_tensor *x)
{
    if (variable)
        tg_assign(t, variable, x);
    return x;
}
