/*
 * golden.c - reads a file of golden values and checks its form once, so that comparisons need not
 * check members again.
 */
#include "harness/verify/golden_priv.h"
#include "models/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A member: its path, the format by which json_unpack takes it, and for numbers the least value.
 * "?" before the format: it may be missing; "*" after that: it is an array of such values.
 */
typedef struct form_member {
    const char *path, *format;
    double least;
} form_member;

#define ANY ((double)-INFINITY)

static const form_member members[] = {
    {"model", "s", ANY},
    {"variant", "s", ANY},
    {"seed", "I", 1},
    {"dims.batch", "I", 1},
    {"dims.image", "?I", 1},
    {"dims.seq", "?I", 1},
    {"param_count", "I", 1},
    {"optimizer.name", "s", ANY},
    {"optimizer.lr", "F", ANY},
    {"optimizer.weight_decay", "F", ANY},
    {"inputs", "*{*}", ANY}, /* input_members */
    {"tolerance.logits", "F", 0},
    {"tolerance.eval_scalars", "F", 0},
    {"tolerance.loss", "[FFF!]", ANY}, /* GOLDEN_STEPS of them, as of others below */
    {"tolerance.grad_l2_global", "[FFF!]", ANY},
    {"tolerance.grads_step0", "F", 0},
    {"tolerance.params", "F", 0},
    {"tolerance.param_l2", "F", 0},
    {"tolerance.param_change_l2", "F", 0},
    {"f64.eval.logits", "{*}", ANY}, /* output_members */
    {"f64.eval.stages", "{*}", ANY}, /* [shape, l2] */
    {"f64.eval.loss", "F", ANY},
    {"f64.decode", "?{*}", ANY}, /* decode_members */
    {"f64.train.loss", "[FFF!]", ANY},
    {"f64.train.grad_l2_global", "[FFF!]", ANY},
    {"f64.train.grads_step0", "{*}", ANY},        /* figure_members */
    {"f64.train.bn_after_step1", "?{*}", ANY},    /* statistic_members */
    {"f64.train.params_after_step3", "{*}", ANY}, /* figure_members */
    {"f64.train.param_l2_after_step3", "F", ANY},
    {"f64.train.param_change_l2_after_step3", "F", ANY},
    {NULL, NULL, 0},
};

static const form_member input_members[] = {
    {"name", "s", ANY},       {"rule", "s", ANY},       {"shape", "*I", 1},
    {"lo", "?F", ANY},        {"hi", "?F", ANY},        {"sum", "?F", ANY},
    {"elsewhere", "?F", ANY}, {"pad_value", "?F", ANY}, {"first4", "?*F", ANY},
    {"first8", "?*F", ANY},   {"lengths", "?*F", ANY},  {"only_where", "?s", ANY},
    {NULL, NULL, 0},
};

static const form_member output_members[] = {
    {"shape", "*I", 1},    {"first16", "*F", ANY}, {"last16", "*F", ANY}, {"mean", "F", ANY},
    {"std", "F", ANY},     {"l2", "F", ANY},       {"absmax", "F", ANY},  {"probe", "F", ANY},
    {"argmax", "*I", ANY}, {NULL, NULL, 0},
};

static const form_member decode_members[] = {{"prompt", "I", 1},
                                             {"context", "I", 2},
                                             {"tokens", "*[*]", ANY},
                                             {"logits", "*[IFF!]", ANY},
                                             {NULL, NULL, 0}};

static const form_member figure_members[] = {
    {"l2", "F", ANY}, {"probe", "F", ANY}, {NULL, NULL, 0}};
static const form_member statistic_members[] = {
    {"running_mean_l2", "F", ANY}, {"running_var_l2", "F", ANY}, {NULL, NULL, 0}};

/* The optimizers that our models have; members of others are not checked. */
static const struct {
    const char *name;
    model_optimizer kind;
    form_member members[3];
} optimizers[] = {
    {"SGD", MODEL_SGD, {{"optimizer.momentum", "F", ANY}}},
    {"AdamW", MODEL_ADAMW, {{"optimizer.betas", "[FF!]", ANY}, {"optimizer.eps", "F", ANY}}},
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

static bn_code check_value(const json_t *value, const char *format, double least, bn_status *st)
{
    json_t *v = (json_t *)(uintptr_t)value, *item;
    json_error_t error;
    size_t i;
    const bool optional = *format == '?', list = format[optional] == '*';
    if (!v)
        return optional ? BN_OK : bn_fail(st, BN_FORMAT, "missing");
    const char *whole = list ? "[*]" : format + optional;
    if (json_unpack_ex(v, &error, JSON_VALIDATE_ONLY, whole) != 0)
        return bn_fail(st, BN_FORMAT, "%s", error.text);
    if (json_is_number(v) && json_number_value(v) < least)
        return bn_fail(st, BN_FORMAT, "%g, want %g or more", json_number_value(v), least);
    json_array_foreach(list ? v : NULL, i, item)
    {
        if (check_value(item, format + optional + 1, least, st) != BN_OK)
            return bn_context(st, "item %zu", i);
    }
    return BN_OK;
}

/* Checks that WHOLE has what TABLE lists. */
static bn_code check_members(const json_t *whole, const form_member *table, bn_status *st)
{
    for (const form_member *m = table; m->path; m++)
        if (check_value(value_at(whole, m->path), m->format, m->least, st) != BN_OK)
            return bn_context(st, "%s", m->path);
    return BN_OK;
}

/* Checks each member of the object at PATH by TABLE. */
static bn_code check_each(const golden_file *g, const char *path, const form_member *table,
                          bn_status *st)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)golden_at(g, path), key, value)
    {
        if (check_members(value, table, st) != BN_OK)
            return bn_context(st, "%s: %s", path, key);
    }
    return BN_OK;
}

static bn_code check_inputs(const golden_file *g, bn_status *st)
{
    json_t *input;
    size_t i;
    json_array_foreach(golden_at(g, "inputs"), i, input)
    {
        bn_code code = check_members(input, input_members, st);
        if (code == BN_OK && json_object_get(input, "only_where") &&
            !json_object_get(input, "elsewhere"))
            code = bn_fail(st, BN_FORMAT, "only_where needs elsewhere");
        if (code == BN_OK &&
            !json_object_get(input, "pad_value") != !json_object_get(input, "lengths"))
            code = bn_fail(st, BN_FORMAT, "pad_value and lengths need each other");
        if (code != BN_OK)
            return bn_context(st, "inputs: item %zu", i);
    }
    return BN_OK;
}

/* Checks an output: as many values at each end as its shape has, GOLDEN_ENDS at most, and an argmax
 * for each row. */
static bn_code check_output(const json_t *output, bn_status *st)
{
    if (check_members(output, output_members, st) != BN_OK)
        return st->code;
    json_t *size;
    size_t i, count = 1, row = 1;
    json_array_foreach(json_object_get(output, "shape"), i, size)
    {
        row = (size_t)json_integer_value(size);
        count *= row;
    }
    const size_t ends = count < GOLDEN_ENDS ? count : GOLDEN_ENDS;
    const struct {
        const char *name;
        size_t count;
    } lists[] = {{"first16", ends}, {"last16", ends}, {"argmax", count / row}};
    for (i = 0; i < sizeof lists / sizeof *lists; i++) {
        const size_t have = json_array_size(json_object_get(output, lists[i].name));
        if (have != lists[i].count)
            return bn_fail(st, BN_FORMAT, "%s: %zu numbers, want %zu", lists[i].name, have,
                           lists[i].count);
    }
    return BN_OK;
}

/* Checks the decoding, where there is one: of each row the tokens chosen from the prompt's last one
 * to the end of the context, and logits of ascending positions within it. */
static bn_code check_decode(const golden_file *g, bn_status *st)
{
    const json_t *decode = golden_at(g, "f64.decode");
    const json_int_t context = json_integer_value(json_object_get(decode, "context"));
    const json_int_t batch = json_integer_value(golden_at(g, "dims.batch"));
    const json_int_t prompt = json_integer_value(json_object_get(decode, "prompt"));
    const json_t *tokens = json_object_get(decode, "tokens");
    json_t *item;
    json_int_t last = -1;
    size_t i;
    if (!decode)
        return BN_OK;
    if (check_members(decode, decode_members, st) != BN_OK)
        return st->code;
    if (prompt >= context || context > INT32_MAX)
        return bn_fail(st, BN_FORMAT, "context: want more than the prompt, and 31 bits");
    if ((json_int_t)json_array_size(tokens) != batch)
        return bn_fail(st, BN_FORMAT, "tokens: want a list for each row of the batch");
    json_array_foreach(tokens, i, item)
    {
        if ((json_int_t)json_array_size(item) != context - prompt + 1)
            return bn_fail(st, BN_FORMAT, "tokens: item %zu: want %lld numbers", i,
                           (long long)(context - prompt + 1));
        if (check_value(item, "*I", 0, st) != BN_OK)
            return bn_context(st, "tokens: item %zu", i);
    }
    json_array_foreach(json_object_get(decode, "logits"), i, item)
    {
        const json_int_t at = json_integer_value(json_array_get(item, 0));
        if (at <= last || at >= context)
            return bn_fail(st, BN_FORMAT, "logits: item %zu: want ascending positions below %lld",
                           i, (long long)context);
        last = at;
    }
    return BN_OK;
}

static bn_code check_form(const golden_file *g, bn_status *st)
{
    const char *key, *optimizer;
    const json_t *output;
    json_t *stage;
    if (check_members(g->root, members, st) != BN_OK || check_inputs(g, st) != BN_OK ||
        check_each(g, "f64.train.grads_step0", figure_members, st) != BN_OK ||
        check_each(g, "f64.train.params_after_step3", figure_members, st) != BN_OK ||
        check_each(g, "f64.train.bn_after_step1", statistic_members, st) != BN_OK)
        return st->code;
    if (check_decode(g, st) != BN_OK)
        return bn_context(st, "f64.decode");
    for (size_t i = 0; (output = golden_output(g, i, &key)); i++)
        if (check_output(output, st) != BN_OK)
            return bn_context(st, "f64.eval.%s", key);
    json_object_foreach((json_t *)(uintptr_t)golden_at(g, "f64.eval.stages"), key, stage)
    {
        if (check_value(stage, "[[*]F!]", ANY, st) != BN_OK ||
            check_value(json_array_get(stage, 0), "*I", 1, st) != BN_OK)
            return bn_context(st, "f64.eval.stages: %s", key);
    }
    optimizer = json_string_value(golden_at(g, "optimizer.name"));
    for (size_t i = 0; i < OPTIMIZERS; i++)
        if (strcmp(optimizer, optimizers[i].name) == 0 &&
            check_members(g->root, optimizers[i].members, st) != BN_OK)
            return st->code;
    if (golden_at(g, "f64.train.bn_after_step1") &&
        check_value(golden_at(g, "tolerance.bn"), "F", ANY, st) != BN_OK)
        return bn_context(st, "tolerance.bn");
    return BN_OK;
}

/* ---- reading ------------------------------------------------------------------- */

/* Reads dims.KEY. Where the file leaves it out, it is the last dimension of the first input of
 * RANK, an image (rank 4) or tokens (rank 2); 0 where there is none. */
static bn_code read_size(const golden_file *g, const char *key, size_t rank, int *size,
                         bn_status *st)
{
    const json_t *inputs = golden_at(g, "inputs");
    const json_t *value = json_object_get(golden_at(g, "dims"), key);
    for (size_t i = 0; rank && !value && i < json_array_size(inputs); i++) {
        const json_t *shape = json_object_get(json_array_get(inputs, i), "shape");
        if (json_array_size(shape) == rank)
            value = json_array_get(shape, rank - 1);
    }
    if (json_integer_value(value) > INT32_MAX)
        return bn_fail(st, BN_FORMAT, "dims.%s: want a number of 31 bits", key);
    *size = (int)json_integer_value(value);
    return BN_OK;
}

static bn_code read_members(golden_file *g, bn_status *st)
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
    bn_code code = read_size(g, "batch", 0, &g->batch, st);
    if (code == BN_OK)
        code = read_size(g, "image", 4, &g->image, st);
    if (code == BN_OK)
        code = read_size(g, "seq", 2, &g->seq, st);
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
    bn_code code = check_form(golden, st);
    if (code == BN_OK)
        code = read_members(golden, st);
    if (code == BN_OK)
        return BN_OK;
    golden_free(golden);
    return bn_context(st, "%s", name);
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
