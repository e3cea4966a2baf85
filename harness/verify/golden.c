/*
 * golden.c - reads a file of golden values and checks its form once, so that comparisons need not
 * check members again.
 */
#include "harness/verify/golden_priv.h"
#include "models/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind {
    STRING,
    COUNT, /* whole number from 1 */
    SIZE,  /* a count; may be missing */
    NUMBER,
    TOLERANCE, /* number from 0 */
    PAIR,      /* array of two numbers */
    SHAPE,     /* array of counts */
    STEPS,     /* array of GOLDEN_STEPS numbers */
    ENDS,      /* array of numbers: the first or last of an output */
    ARGMAX,    /* array of whole numbers, one for each row of an output */
    INPUTS,    /* array of objects: fault_of_input */
    OUTPUT,    /* object: output_members */
    STAGES,    /* object of [shape, number] */
    FIGURES,   /* object of objects with l2 and probe */
    STATISTICS /* object of pairs of running_mean_l2, running_var_l2; may be missing */
} kind;

typedef struct form_member {
    const char *path;
    kind kind;
} form_member;

static const form_member members[] = {
    {"model", STRING},
    {"variant", STRING},
    {"seed", COUNT},
    {"dims.batch", COUNT},
    {"dims.image", SIZE},
    {"dims.seq", SIZE},
    {"param_count", COUNT},
    {"optimizer.name", STRING},
    {"optimizer.lr", NUMBER},
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
    {"f64.eval.logits", OUTPUT},
    {"f64.eval.stages", STAGES},
    {"f64.eval.loss", NUMBER},
    {"f64.train.loss", STEPS},
    {"f64.train.grad_l2_global", STEPS},
    {"f64.train.grads_step0", FIGURES},
    {"f64.train.bn_after_step1", STATISTICS},
    {"f64.train.params_after_step3", FIGURES},
    {"f64.train.param_l2_after_step3", NUMBER},
    {"f64.train.param_change_l2_after_step3", NUMBER},
    {NULL, STRING},
};

/* Of each output. The shape is first, for others are checked by it. */
static const form_member output_members[] = {
    {"shape", SHAPE}, {"first16", ENDS},  {"last16", ENDS},  {"mean", NUMBER},   {"std", NUMBER},
    {"l2", NUMBER},   {"absmax", NUMBER}, {"probe", NUMBER}, {"argmax", ARGMAX}, {NULL, STRING},
};

/* Of the optimizers that our models have; members of others are not checked. */
static const struct {
    const char *name;
    model_optimizer kind;
    form_member members[3];
} optimizers[] = {
    {"SGD", MODEL_SGD, {{"optimizer.momentum", NUMBER}, {NULL, STRING}}},
    {"AdamW", MODEL_ADAMW, {{"optimizer.betas", PAIR}, {"optimizer.eps", NUMBER}, {NULL, STRING}}},
};
#define OPTIMIZERS (sizeof optimizers / sizeof *optimizers)

static const json_t *value_at(const json_t *at, const char *path)
{
    while (at && *path) {
        size_t length = strcspn(path, ".");
        at = json_object_getn(at, path, length);
        path += length + (path[length] == '.');
    }
    return at;
}

const json_t *golden_at(const golden_file *golden, const char *path)
{
    return value_at(golden->root, path);
}

const json_t *golden_output(const golden_file *golden, size_t index, const char **name)
{
    static const char *const others[] = {"stages", "loss", "extra"};
    const json_t *eval = golden_at(golden, "f64.eval");
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)eval, *name, value)
    {
        bool output = true;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            output = output && strcmp(*name, others[i]) != 0;
        if (output && index-- == 0)
            return value;
    }
    return NULL;
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

/* NULL, or what is wrong with one of the inputs. */
static const char *fault_of_input(const json_t *value)
{
    static const char *const numbers[] = {"lo", "hi", "elsewhere", "pad_value", "sum"};
    static const char *const lists[] = {"first4", "first8", "lengths"};
    const json_t *shape = json_object_get(value, "shape"), *where, *member;
    if (!json_is_string(json_object_get(value, "name")) ||
        !json_is_string(json_object_get(value, "rule")) || !shape || !is_shape(shape))
        return "want objects with name, shape and rule";
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if ((member = json_object_get(value, numbers[i])) && !json_is_number(member))
            return "want numbers for lo, hi, elsewhere, pad_value and sum";
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if ((member = json_object_get(value, lists[i])) &&
            !is_array_of(member, json_array_size(member), is_number))
            return "want arrays of numbers for first4, first8 and lengths";
    where = json_object_get(value, "only_where");
    if (where && (!json_is_string(where) || !json_object_get(value, "elsewhere")))
        return "want a text for only_where, and elsewhere beside it";
    if (!json_object_get(value, "pad_value") != !json_object_get(value, "lengths"))
        return "want pad_value and lengths together";
    return NULL;
}

static const char *fault_of_inputs(const json_t *value)
{
    const char *fault = json_is_array(value) ? NULL : "want an array of inputs";
    for (size_t i = 0; !fault && i < json_array_size(value); i++)
        fault = fault_of_input(json_array_get(value, i));
    return fault;
}

/* The number of elements of an output; *ROW: of a row of it. */
static size_t output_size(const json_t *output, size_t *row)
{
    const json_t *shape = json_object_get(output, "shape");
    size_t count = 1, rank = json_array_size(shape);
    *row = 1;
    for (size_t i = 0; i < rank; i++) {
        *row = (size_t)json_integer_value(json_array_get(shape, i));
        count *= *row;
    }
    return count;
}

/* fault_of for values that contain others. */
static const char *fault_of_group(const json_t *whole, const json_t *value, kind wanted)
{
    size_t row, count;
    switch (wanted) {
    case ENDS:
        count = output_size(whole, &row);
        count = count < GOLDEN_ENDS ? count : GOLDEN_ENDS;
        return is_array_of(value, count, is_number) ? NULL : "want 16 numbers, or all there are";
    case ARGMAX:
        count = output_size(whole, &row);
        return is_array_of(value, count / row, is_whole) ? NULL : "want an index for each row";
    case INPUTS:
        return fault_of_inputs(value);
    case OUTPUT:
        return json_is_object(value) ? NULL : "want an object";
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

/* NULL if VALUE, a member of WHOLE, is of the WANTED kind, else what was wanted. */
static const char *fault_of(const json_t *whole, const json_t *value, kind wanted)
{
    switch (wanted) {
    case STRING:
        return json_is_string(value) ? NULL : "want a text";
    case SIZE:
        if (!value)
            return NULL;
        /* FALLTHROUGH */
    case COUNT:
        return is_count(value) ? NULL : "want a whole number from 1";
    case NUMBER:
        return json_is_number(value) ? NULL : "want a number";
    case TOLERANCE:
        return json_is_number(value) && json_number_value(value) >= 0 ? NULL
                                                                      : "want a number from 0";
    case PAIR:
        return is_array_of(value, 2, is_number) ? NULL : "want two numbers";
    case SHAPE:
        return json_array_size(value) && is_shape(value) ? NULL : "want a shape";
    case STEPS:
        return is_array_of(value, GOLDEN_STEPS, is_number) ? NULL : "want three numbers";
    default:
        return fault_of_group(whole, value, wanted);
    }
}

/* Checks that WHOLE, which is at the path BEFORE in the file, has what TABLE lists. */
static bn_code check_members(const char *name, const char *before, const json_t *whole,
                             const form_member *table, bn_status *st)
{
    for (const form_member *m = table; m->path; m++) {
        const json_t *value = value_at(whole, m->path);
        const char *fault = fault_of(whole, value, m->kind);
        if (fault)
            return bn_fail(st, BN_FORMAT, "%s: %s%s%s: %s", name, before, m->path,
                           value ? "" : " is missing", fault);
    }
    return BN_OK;
}

static bn_code check_form(const char *name, const golden_file *g, bn_status *st)
{
    const char *key;
    const json_t *output;
    bn_code code = check_members(name, "", g->root, members, st);
    for (size_t i = 0; code == BN_OK && (output = golden_output(g, i, &key)); i++) {
        char before[256];
        snprintf(before, sizeof before, "f64.eval.%s.", key);
        code = check_members(name, before, output, output_members, st);
    }
    const char *optimizer = json_string_value(golden_at(g, "optimizer.name"));
    for (size_t i = 0; code == BN_OK && i < OPTIMIZERS; i++)
        if (strcmp(optimizer, optimizers[i].name) == 0)
            code = check_members(name, "", g->root, optimizers[i].members, st);
    if (code == BN_OK && golden_at(g, "f64.train.bn_after_step1") &&
        !json_is_number(golden_at(g, "tolerance.bn")))
        code = bn_fail(st, BN_FORMAT, "%s: tolerance.bn is missing: want a number", name);
    return code;
}

/* ---- reading ------------------------------------------------------------------- */

/* Reads dims.KEY. Where the file leaves it out, it is the last dimension of the first input of
 * RANK, an image (rank 4) or tokens (rank 2); 0 where there is none. */
static bn_code read_size(const char *name, const golden_file *g, const char *key, size_t rank,
                         int *size, bn_status *st)
{
    const json_t *inputs = golden_at(g, "inputs");
    const json_t *value = json_object_get(golden_at(g, "dims"), key);
    for (size_t i = 0; rank && !value && i < json_array_size(inputs); i++) {
        const json_t *shape = json_object_get(json_array_get(inputs, i), "shape");
        if (json_array_size(shape) == rank)
            value = json_array_get(shape, rank - 1);
    }
    if (json_integer_value(value) > INT32_MAX)
        return bn_fail(st, BN_FORMAT, "%s: dims: want numbers of 31 bits", name);
    *size = (int)json_integer_value(value);
    return BN_OK;
}

static bn_code read_members(const char *name, golden_file *g, bn_status *st)
{
    const json_t *inputs = golden_at(g, "inputs");
    const char *optimizer = json_string_value(golden_at(g, "optimizer.name"));
    g->model = json_string_value(golden_at(g, "model"));
    g->variant = json_string_value(golden_at(g, "variant"));
    g->seed = (uint64_t)json_integer_value(golden_at(g, "seed"));
    g->learning_rate = json_number_value(golden_at(g, "optimizer.lr"));
    for (size_t i = 0; i < OPTIMIZERS; i++)
        if (strcmp(optimizer, optimizers[i].name) == 0)
            g->optimizer = optimizers[i].kind;
    for (size_t i = 0; i < json_array_size(inputs); i++)
        g->padded = g->padded || json_object_get(json_array_get(inputs, i), "pad_value");
    bn_code code = read_size(name, g, "batch", 0, &g->batch, st);
    if (code == BN_OK)
        code = read_size(name, g, "image", 4, &g->image, st);
    if (code == BN_OK)
        code = read_size(name, g, "seq", 2, &g->seq, st);
    return code;
}

bn_code golden_parse(const char *name, const char *text, size_t size, golden_file *golden,
                     bn_status *st)
{
    json_error_t error;
    *golden = (golden_file){0};
    if (bn_json_depth(text, size) > BN_JSON_DEPTH)
        return bn_fail(st, BN_FORMAT, "%s: JSON that is more than %d levels deep", name,
                       BN_JSON_DEPTH);
    golden->root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!golden->root)
        return bn_fail(st, BN_FORMAT, "%s: line %d, column %d: %s", name, error.line, error.column,
                       error.text);
    bn_code code = check_form(name, golden, st);
    if (code == BN_OK)
        code = read_members(name, golden, st);
    if (code != BN_OK)
        golden_free(golden);
    return code;
}

bn_code golden_read(const char *path, golden_file *golden, bn_status *st)
{
    char *text = NULL;
    size_t size = 0;
    *golden = (golden_file){0};
    bn_code code = bn_regular_read(path, &text, &size, st);
    if (code == BN_OK)
        code = golden_parse(path, text, size, golden, st);
    free(text);
    return code;
}

void golden_free(golden_file *golden)
{
    json_decref(golden->root);
    *golden = (golden_file){0};
}
