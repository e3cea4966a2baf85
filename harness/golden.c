/*
 * golden.c - reads a file of golden values and checks its form once, so that
 * whoever compares can take members as they are.
 */
#include "harness/golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind {
    STRING,
    COUNT, /* whole number from 1 */
    NUMBER,
    TOLERANCE, /* number from 0 */
    SHAPE,     /* array of counts */
    STEPS,     /* array of HN_GOLDEN_STEPS numbers */
    ENDS,      /* array of numbers: the first or last of the logits */
    ARGMAX,    /* array of whole numbers: one a row of the logits */
    INPUTS,    /* array of objects with name, shape, rule */
    STAGES,    /* object of [shape, number] */
    FIGURES,   /* object of objects with l2 and probe */
    STATISTICS /* object of pairs of running_mean_l2, running_var_l2; may be missing */
} kind;

static const struct {
    const char *path;
    kind kind;
} members[] = {
    {"model", STRING},
    {"variant", STRING},
    {"seed", COUNT},
    {"dims.batch", COUNT},
    {"dims.image", COUNT},
    {"param_count", COUNT},
    {"optimizer.name", STRING},
    {"optimizer.lr", NUMBER},
    {"optimizer.momentum", NUMBER},
    {"optimizer.weight_decay", NUMBER},
    {"inputs", INPUTS},
    {"tolerance.logits", TOLERANCE},
    {"tolerance.eval_scalars", TOLERANCE},
    {"tolerance.loss", STEPS},
    {"tolerance.grad_l2_global", STEPS},
    {"tolerance.grads_step0", TOLERANCE},
    {"tolerance.params", TOLERANCE},
    {"tolerance.param_l2", TOLERANCE},
    {"tolerance.param_change_l2", TOLERANCE},
    {"f64.eval.logits.shape", SHAPE},
    {"f64.eval.logits.first16", ENDS},
    {"f64.eval.logits.last16", ENDS},
    {"f64.eval.logits.mean", NUMBER},
    {"f64.eval.logits.std", NUMBER},
    {"f64.eval.logits.l2", NUMBER},
    {"f64.eval.logits.absmax", NUMBER},
    {"f64.eval.logits.probe", NUMBER},
    {"f64.eval.logits.argmax", ARGMAX},
    {"f64.eval.stages", STAGES},
    {"f64.eval.loss", NUMBER},
    {"f64.train.loss", STEPS},
    {"f64.train.grad_l2_global", STEPS},
    {"f64.train.grads_step0", FIGURES},
    {"f64.train.bn_after_step1", STATISTICS},
    {"f64.train.params_after_step3", FIGURES},
    {"f64.train.param_l2_after_step3", NUMBER},
    {"f64.train.param_change_l2_after_step3", NUMBER},
};

const json_t *hn_golden_at(const hn_golden *golden, const char *path)
{
    const json_t *at = golden->root;
    while (at && *path) {
        size_t length = strcspn(path, ".");
        at = json_object_getn(at, path, length);
        path += length + (path[length] == '.');
    }
    return at;
}

/* ---- form --------------------------------------------------------------------- */

static bool is_count(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) > 0;
}

static bool is_array_of(const json_t *value, size_t count, bool (*good)(const json_t *))
{
    if (!json_is_array(value) || json_array_size(value) != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!good(json_array_get(value, i)))
            return false;
    return true;
}

static bool is_number(const json_t *value)
{
    return json_is_number(value);
}

static bool is_whole(const json_t *value)
{
    return json_is_integer(value);
}

static bool is_shape(const json_t *value)
{
    return json_array_size(value) <= TG_MAX_RANK &&
           is_array_of(value, json_array_size(value), is_count);
}

static bool is_input(const json_t *value)
{
    const json_t *sum = json_object_get(value, "sum");
    static const char *const ends[] = {"first4", "first8"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *end = json_object_get(value, ends[i]);
        if (end && !is_array_of(end, json_array_size(end), is_number))
            return false;
    }
    return json_is_string(json_object_get(value, "name")) &&
           json_is_string(json_object_get(value, "rule")) &&
           is_shape(json_object_get(value, "shape")) && (!sum || json_is_number(sum));
}

static bool is_object_of(const json_t *value, bool (*good)(const json_t *))
{
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        if (!good(member))
            return false;
    }
    return json_is_object(value);
}

static bool is_stage(const json_t *value)
{
    return json_array_size(value) == 2 && is_shape(json_array_get(value, 0)) &&
           json_is_number(json_array_get(value, 1));
}

static bool is_figure(const json_t *value)
{
    return json_is_number(json_object_get(value, "l2")) &&
           json_is_number(json_object_get(value, "probe"));
}

static bool is_statistic(const json_t *value)
{
    return json_is_number(json_object_get(value, "running_mean_l2")) &&
           json_is_number(json_object_get(value, "running_var_l2"));
}

/* Elements of the logits, and of them a row. */
static size_t logits_size(const hn_golden *g, size_t *row)
{
    const json_t *shape = hn_golden_at(g, "f64.eval.logits.shape");
    size_t count = 1, rank = json_array_size(shape);
    *row = 1;
    for (size_t i = 0; i < rank; i++) {
        *row = (size_t)json_integer_value(json_array_get(shape, i));
        count *= *row;
    }
    return count;
}

/* The same question for values that hold others. */
static const char *fault_of_group(const hn_golden *g, const json_t *value, kind wanted)
{
    size_t row, count;
    switch (wanted) {
    case ENDS:
        count = logits_size(g, &row);
        count = count < HN_GOLDEN_ENDS ? count : HN_GOLDEN_ENDS;
        return is_array_of(value, count, is_number) ? NULL : "want 16 numbers, or all logits";
    case ARGMAX:
        count = logits_size(g, &row);
        return is_array_of(value, count / row, is_whole) ? NULL : "want an index for each row";
    case INPUTS:
        return is_array_of(value, json_array_size(value), is_input)
                   ? NULL
                   : "want objects with name, shape and rule";
    case STAGES:
        return is_object_of(value, is_stage) ? NULL : "want pairs of shape and l2";
    case FIGURES:
        return is_object_of(value, is_figure) ? NULL : "want pairs of l2 and probe";
    case STATISTICS:
        return !value || is_object_of(value, is_statistic)
                   ? NULL
                   : "want pairs of running_mean_l2 and running_var_l2";
    default:
        return "want another kind";
    }
}

/* NULL when VALUE is of the WANTED kind, else what was wanted. */
static const char *fault_of(const hn_golden *g, const json_t *value, kind wanted)
{
    switch (wanted) {
    case STRING:
        return json_is_string(value) ? NULL : "want a text";
    case COUNT:
        return is_count(value) ? NULL : "want a whole number from 1";
    case NUMBER:
        return json_is_number(value) ? NULL : "want a number";
    case TOLERANCE:
        return json_is_number(value) && json_number_value(value) >= 0 ? NULL
                                                                      : "want a number from 0";
    case SHAPE:
        return json_array_size(value) && is_shape(value) ? NULL : "want a shape";
    case STEPS:
        return is_array_of(value, HN_GOLDEN_STEPS, is_number) ? NULL : "want three numbers";
    default:
        return fault_of_group(g, value, wanted);
    }
}

static bn_code check_form(const char *name, const hn_golden *g, bn_status *st)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const json_t *value = hn_golden_at(g, members[i].path);
        const char *fault = fault_of(g, value, members[i].kind);
        if (fault)
            return bn_fail(st, BN_FORMAT, "%s: %s%s: %s", name, members[i].path,
                           value ? "" : " is missing", fault);
    }
    if (hn_golden_at(g, "f64.train.bn_after_step1") &&
        !json_is_number(hn_golden_at(g, "tolerance.bn")))
        return bn_fail(st, BN_FORMAT, "%s: tolerance.bn is missing: want a number", name);
    return BN_OK;
}

/* ---- reading ------------------------------------------------------------------- */

bn_code hn_golden_parse(const char *name, const char *text, size_t size, hn_golden *golden,
                        bn_status *st)
{
    json_error_t error;
    *golden = (hn_golden){.root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error)};
    if (!golden->root)
        return bn_fail(st, BN_FORMAT, "%s: line %d, column %d: %s", name, error.line, error.column,
                       error.text);
    bn_code code = check_form(name, golden, st);
    json_int_t batch = json_integer_value(hn_golden_at(golden, "dims.batch"));
    json_int_t image = json_integer_value(hn_golden_at(golden, "dims.image"));
    if (code == BN_OK && (batch > INT32_MAX || image > INT32_MAX))
        code = bn_fail(st, BN_FORMAT, "%s: dims: want numbers of 31 bits", name);
    if (code != BN_OK) {
        hn_golden_free(golden);
        return code;
    }
    golden->model = json_string_value(hn_golden_at(golden, "model"));
    golden->variant = json_string_value(hn_golden_at(golden, "variant"));
    golden->batch = (int)batch;
    golden->image = (int)image;
    golden->seed = (uint64_t)json_integer_value(hn_golden_at(golden, "seed"));
    golden->learning_rate = json_number_value(hn_golden_at(golden, "optimizer.lr"));
    return BN_OK;
}

bn_code hn_golden_read(const char *path, hn_golden *golden, bn_status *st)
{
    char *text = NULL;
    size_t size = 0;
    *golden = (hn_golden){0};
    bn_code code = bn_file_read(path, &text, &size, st);
    if (code == BN_OK)
        code = hn_golden_parse(path, text, size, golden, st);
    free(text);
    return code;
}

void hn_golden_free(hn_golden *golden)
{
    json_decref(golden->root);
    *golden = (hn_golden){0};
}
