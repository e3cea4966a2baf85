/*
 * golden_model.c - whether a model of ours computes what a file of golden values
 * describes. Asked before anything runs, so that "not supported" is never shown
 * as a wrong result.
 */
#include "harness/golden.h"

#include <stdio.h>
#include <string.h>

/* Of models/table.c's optimizers. */
#define MOMENTUM 0.9

static void write_shape(const json_t *shape, bn_text *out)
{
    for (size_t i = 0; i < json_array_size(shape); i++)
        bn_text_printf(out, "%s%lld", i ? "x" : "",
                       (long long)json_integer_value(json_array_get(shape, i)));
}

/* SHAPE, called WHAT, must be that of the variable NAME. */
static bn_code check_shape(const model *m, const char *name, const char *what, const json_t *shape,
                           bn_status *st)
{
    const model_variable *v = model_find(m, name);
    if (!v)
        return bn_fail(st, BN_NOT_SUPPORTED, "the model has no %s", what);
    bool same = json_array_size(shape) == (size_t)v->shape.rank;
    for (int i = 0; same && i < v->shape.rank; i++)
        same = json_integer_value(json_array_get(shape, (size_t)i)) == v->shape.dims[i];
    if (same)
        return BN_OK;
    bn_text theirs = {0}, ours = {0};
    write_shape(shape, &theirs);
    tg_type_write(&v->shape, &ours);
    bn_fail(st, BN_NOT_SUPPORTED, "%s has shape %s in the file, and is %s in the model", what,
            theirs.failed || !theirs.data ? "another" : theirs.data,
            ours.failed || !ours.data ? "another" : ours.data);
    bn_text_free(&theirs);
    bn_text_free(&ours);
    return BN_NOT_SUPPORTED;
}

static bn_code check_input(const model *m, const json_t *input, bn_status *st)
{
    const char *name = json_string_value(json_object_get(input, "name"));
    const char *rule = json_string_value(json_object_get(input, "rule"));
    const model_variable *v = model_find(m, name);
    char what[128];
    snprintf(what, sizeof what, "input %s", name);
    if (v && v->role != MODEL_INPUT)
        return bn_fail(st, BN_NOT_SUPPORTED, "%s is no input of the model", name);
    bn_code code = check_shape(m, name, what, json_object_get(input, "shape"), st);
    if (code != BN_OK)
        return code;
    if (json_object_get(input, "only_where") || json_object_get(input, "pad_value"))
        return bn_fail(st, BN_NOT_SUPPORTED, "%s is padded or masked", what);
    bool ids = strcmp(rule, "ids") == 0 && v->fill == MODEL_FILL_IDS;
    if (!ids && !(strcmp(rule, "image") == 0 && v->fill == MODEL_FILL_UNIT))
        return bn_fail(st, BN_NOT_SUPPORTED, "%s is made by rule '%s'", what, rule);
    double low = json_number_value(json_object_get(input, "lo"));
    double high = json_number_value(json_object_get(input, "hi"));
    if (ids && (low != v->fill_low || high != v->fill_high))
        return bn_fail(st, BN_NOT_SUPPORTED, "%s runs from %g to %g, in the model from %g to %g",
                       what, low, high, v->fill_low, v->fill_high);
    return BN_OK;
}

static bn_code check_optimizer(const hn_golden *g, bn_status *st)
{
    const char *name = json_string_value(hn_golden_at(g, "optimizer.name"));
    double momentum = json_number_value(hn_golden_at(g, "optimizer.momentum"));
    double decay = json_number_value(hn_golden_at(g, "optimizer.weight_decay"));
    if (strcmp(name, "SGD") != 0 || momentum != MOMENTUM || decay != 0)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "optimizer %s, momentum %g, weight decay %g; the model has SGD, %g, 0", name,
                       momentum, decay, MOMENTUM);
    return BN_OK;
}

/* Parameters and statistics that the file tells of must be there to be read. */
static bn_code check_names(const hn_golden *g, const model *m, const char *path, model_role role,
                           const char *const *suffixes, bn_status *st)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)hn_golden_at(g, path), key, value)
    {
        for (const char *const *suffix = suffixes; *suffix; suffix++) {
            char name[256];
            snprintf(name, sizeof name, "%s%s", key, *suffix);
            const model_variable *v = model_find(m, name);
            if (!v || v->role != role)
                return bn_fail(st, BN_NOT_SUPPORTED, "the model has no %s (%s)", name, path + 4);
        }
    }
    return BN_OK;
}

static bn_code check_evaluation(const hn_golden *g, const model *m, bn_status *st)
{
    static const char *const known[] = {"logits", "stages", "loss", "extra", NULL};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)hn_golden_at(g, "f64.eval"), key, value)
    {
        size_t k = 0;
        while (known[k] && strcmp(known[k], key) != 0)
            k++;
        if (!known[k])
            return bn_fail(st, BN_NOT_SUPPORTED, "the model has no output %s", key);
    }
    bn_code code =
        check_shape(m, "logits", "output logits", hn_golden_at(g, "f64.eval.logits.shape"), st);
    json_object_foreach((json_t *)(uintptr_t)hn_golden_at(g, "f64.eval.stages"), key, value)
    {
        char name[256], what[256];
        snprintf(name, sizeof name, "stage/%s", key);
        snprintf(what, sizeof what, "stage %s", key);
        if (code == BN_OK)
            code = check_shape(m, name, what, json_array_get(value, 0), st);
    }
    return code;
}

bn_code hn_golden_supports(const hn_golden *g, const model *m, bn_status *st)
{
    static const char *const self[] = {"", NULL};
    static const char *const running[] = {".running_mean", ".running_var", NULL};
    const json_t *inputs = hn_golden_at(g, "inputs");
    bn_code code = check_optimizer(g, st);
    for (size_t i = 0; code == BN_OK && i < json_array_size(inputs); i++)
        code = check_input(m, json_array_get(inputs, i), st);
    if (code == BN_OK)
        code = check_evaluation(g, m, st);
    if (code == BN_OK)
        code = check_names(g, m, "f64.train.grads_step0", MODEL_PARAMETER, self, st);
    if (code == BN_OK)
        code = check_names(g, m, "f64.train.params_after_step3", MODEL_PARAMETER, self, st);
    if (code == BN_OK)
        code = check_names(g, m, "f64.train.bn_after_step1", MODEL_STATISTIC, running, st);
    return code;
}
