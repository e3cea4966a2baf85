/*
 * export.c - a model's initial parameters and statistics, or its batch, as a safetensors
 * file.
 *
 * Wider types come first, so that each tensor starts at a multiple of its
 * elements' size, as the format's readers want it; within a type the order is
 * the framework's.
 */
#include "models/weights/safetensors_priv.h"
#include "models/weights/weights.h"

#include <stdlib.h>

struct model_export {
    const model *instance;
    model_file_writer *file;
    model_variable *variables; /* laid out as the framework has them */
    size_t count, done;
    void *host; /* one tensor */
    model_export_sums sums;
};

static model_file_dtype dtype_in_file(tg_dtype dtype)
{
    return dtype == TG_F32    ? MODEL_FILE_F32
           : dtype == TG_BF16 ? MODEL_FILE_BF16
           : dtype == TG_I32  ? MODEL_FILE_I32
                              : MODEL_FILE_DTYPE_COUNT;
}

/* Adds V, laid out as the framework has it. */
static void add(model_export *x, const model_variable *v)
{
    model_variable *mine = &x->variables[x->count++];
    *mine = *v;
    for (int i = 0; i < TG_MAX_RANK; i++)
        mine->permutation[i] = i;
    x->sums.elements += tg_type_elements(&v->shape);
}

static bool is_chosen(const model_variable *v, bool inputs)
{
    return inputs ? v->role == MODEL_INPUT
                  : v->role == MODEL_PARAMETER || v->role == MODEL_STATISTIC;
}

/* Chooses what is written, and its order. */
static bn_code choose(model_export *x, bool inputs, bn_status *st)
{
    size_t count;
    const model_variable *v = model_variables(x->instance, &count);
    x->variables = bn_zalloc(count, sizeof *x->variables);
    for (size_t width = 4; width >= 2; width -= 2)
        for (size_t i = 0; i < count; i++) {
            if (!is_chosen(&v[i], inputs))
                continue;
            if (dtype_in_file(v[i].shape.dtype) == MODEL_FILE_DTYPE_COUNT)
                return bn_fail(st, BN_NOT_SUPPORTED, "%s: %s is not written to files", v[i].name,
                               bn_dtype_text(v[i].shape.dtype));
            if (bn_dtype_bytes(v[i].shape.dtype) == width)
                add(x, &v[i]);
        }
    return BN_OK;
}

static bn_code create(model_export *x, const char *path, const char *const *metadata, bool replace,
                      bn_status *st)
{
    size_t most = 1;
    model_file_tensor *tensors = bn_zalloc(x->count, sizeof *tensors);
    for (size_t i = 0; i < x->count; i++) {
        const tg_type *shape = &x->variables[i].shape;
        tensors[i] = (model_file_tensor){.name = x->variables[i].name,
                                         .dtype = dtype_in_file(shape->dtype),
                                         .rank = (size_t)shape->rank,
                                         .dims = shape->dims,
                                         .bytes = (size_t)tg_type_bytes(shape)};
        most = tensors[i].bytes > most ? tensors[i].bytes : most;
    }
    x->host = malloc(most);
    bn_code code = x->host
                       ? model_file_create(path, tensors, x->count, metadata, replace, &x->file, st)
                       : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu bytes", most);
    free(tensors);
    return code;
}

static bn_code begin_export(const model *instance, const char *path, const char *const *metadata,
                            bool inputs, bool replace, model_export **out, bn_status *st)
{
    model_export *x = bn_zalloc(1, sizeof *x);
    x->instance = instance;
    bn_code code = choose(x, inputs, st);
    if (code == BN_OK)
        code = create(x, path, metadata, replace, st);
    if (code != BN_OK)
        model_export_abandon(x);
    else
        *out = x;
    return code;
}

bn_code model_export_begin(const model *instance, const char *path, const char *const *metadata,
                           bool replace, model_export **out, bn_status *st)
{
    return begin_export(instance, path, metadata, false, replace, out, st);
}

bn_code model_export_batch(const model *instance, const char *path, const char *const *metadata,
                           bool replace, model_export **out, bn_status *st)
{
    return begin_export(instance, path, metadata, true, replace, out, st);
}

bn_code model_export_next(model_export *x, bool *more, bn_status *st)
{
    *more = x->done < x->count;
    if (!*more)
        return BN_OK;
    const model_variable *v = &x->variables[x->done++];
    bn_code code = model_initial(v, model_get_options(x->instance)->seed, x->host, st);
    if (code == BN_OK)
        code = model_file_write(x->file, x->host, (size_t)tg_type_bytes(&v->shape), st);
    return code;
}

bn_code model_export_finish(model_export *x, model_export_sums *sums, bn_status *st)
{
    bn_code code = model_file_finish(x->file, &x->sums.bytes, st);
    x->file = NULL;
    x->sums.tensors = x->count;
    if (code == BN_OK)
        *sums = x->sums;
    model_export_abandon(x);
    return code;
}

void model_export_abandon(model_export *x)
{
    if (!x)
        return;
    model_file_abandon(x->file);
    free(x->variables);
    free(x->host);
    free(x);
}
