/*
 * golden_model.c - whether a model of ours computes what a file of golden values describes. This is
 * checked before anything runs, so that "not supported" is never shown as a wrong result.
 */
#include "harness/verify/golden_priv.h"
#include "models/model.h"
#include "results/records/records.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The optimizers of models/nn/optimizer.c; NaN: any value. */
static const struct {
    const char *name;
    model_optimizer kind;
    struct {
        const char *path;
        double value;
    } members[5];
} optimizers[] = {
    {"SGD", MODEL_SGD, {{"lr", (double)NAN}, {"momentum", 0.9}, {"weight_decay", 0}}},
    {"AdamW",
     MODEL_ADAMW,
     {{"lr", (double)NAN},
      {"betas.0", 0.9},
      {"betas.1", 0.999},
      {"eps", 1e-8},
      {"weight_decay", 0.01}}},
};

static void write_shape(const json_t *shape, bn_text *out)
{
    for (size_t i = 0; i < json_array_size(shape); i++)
        bn_text_printf(out, "%s%lld", i ? "x" : "",
                       (long long)json_integer_value(json_array_get(shape, i)));
}

/* Checks that the variable NAME, which messages call WHAT, has SHAPE. */
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
            theirs.data ? theirs.data : "scalar", ours.data);
    bn_text_free(&theirs);
    bn_text_free(&ours);
    return BN_NOT_SUPPORTED;
}

/* ---- inputs ------------------------------------------------------------------ */

/* The file's rules, and the fill of ours that computes each. */
static const struct {
    const char *rule;
    model_fill fill;
    bool low, high; /* has lo, has hi */
} rules[] = {
    {"image", MODEL_FILL_UNIT, false, false},       {"ids", MODEL_FILL_IDS, true, true},
    {"half", MODEL_FILL_HALF, true, true},          {"const", MODEL_FILL_CONSTANT, true, false},
    {"lengths", MODEL_FILL_CONSTANT, false, false},
};

static double input_number(const json_t *input, const char *key)
{
    return json_number_value(json_object_get(input, key));
}

static bn_code check_rule(const model_variable *v, const char *what, const json_t *input,
                          bn_status *st)
{
    const char *rule = json_string_value(json_object_get(input, "rule"));
    size_t k = 0;
    while (k < sizeof rules / sizeof *rules && strcmp(rules[k].rule, rule) != 0)
        k++;
    if (k == sizeof rules / sizeof *rules || v->fill != rules[k].fill)
        return bn_fail(st, BN_NOT_SUPPORTED, "%s is made by rule '%s'", what, rule);
    const double low = rules[k].low ? input_number(input, "lo") : 1;
    const double high = input_number(input, "hi");
    if (v->fill == MODEL_FILL_CONSTANT && low != v->fill_low)
        return bn_fail(st, BN_NOT_SUPPORTED, "%s is %g, in the model %g", what, low, v->fill_low);
    if (rules[k].high && (low != v->fill_low || high != v->fill_high))
        return bn_fail(st, BN_NOT_SUPPORTED, "%s runs from %g to %g, in the model from %g to %g",
                       what, low, high, v->fill_low, v->fill_high);
    return BN_OK;
}

/* Checks that the file's lengths of rows are those of model_padded_length. */
static bn_code check_lengths(const model_variable *v, const char *what, const json_t *lengths,
                             bn_status *st)
{
    bool same = json_array_size(lengths) == (size_t)v->shape.dims[0];
    for (size_t row = 0; same && row < json_array_size(lengths); row++)
        same = json_number_value(json_array_get(lengths, row)) ==
               (double)model_padded_length((int64_t)row, v->shape.dims[1]);
    return same ? BN_OK
                : bn_fail(st, BN_NOT_SUPPORTED,
                          "%s has lengths other than T - (row %% 3) * floor(T / 4)", what);
}

static bn_code check_mask(const model_variable *v, const char *what, const json_t *input,
                          bn_status *st)
{
    const char *where = json_string_value(json_object_get(input, "only_where"));
    const bool padded = json_object_get(input, "pad_value") != NULL;
    if (where && strcmp(where, "t % 7 == 3") != 0)
        return bn_fail(st, BN_NOT_SUPPORTED, "%s is kept only where %s", what, where);
    if (!where != !v->mask.sparse ||
        (where && input_number(input, "elsewhere") != v->mask.elsewhere))
        return bn_fail(st, BN_NOT_SUPPORTED, "%s is kept at other positions in the model", what);
    if (padded != v->mask.padded ||
        (padded && input_number(input, "pad_value") != v->mask.pad_value))
        return bn_fail(st, BN_NOT_SUPPORTED, "%s is padded differently in the model", what);
    return padded ? check_lengths(v, what, json_object_get(input, "lengths"), st) : BN_OK;
}

static bn_code check_input(const model *m, const json_t *input, bn_status *st)
{
    const char *name = json_string_value(json_object_get(input, "name"));
    const model_variable *v = model_find(m, name);
    char what[128];
    snprintf(what, sizeof what, "input %s", name);
    if (v && v->role != MODEL_INPUT)
        return bn_fail(st, BN_NOT_SUPPORTED, "%s is no input of the model", name);
    bn_code code = check_shape(m, name, what, json_object_get(input, "shape"), st);
    if (code == BN_OK)
        code = check_rule(v, what, input, st);
    if (code == BN_OK)
        code = check_mask(v, what, input, st);
    return code;
}

/* Checks that file and model have the same inputs. */
static bn_code check_inputs(const golden_file *g, const model *m, bn_status *st)
{
    const json_t *inputs = golden_at(g, "inputs");
    size_t count;
    const model_variable *v = model_variables(m, &count);
    bn_code code = BN_OK;
    for (size_t i = 0; code == BN_OK && i < json_array_size(inputs); i++)
        code = check_input(m, json_array_get(inputs, i), st);
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        bool listed = v[i].role != MODEL_INPUT;
        for (size_t k = 0; !listed && k < json_array_size(inputs); k++)
            listed =
                strcmp(v[i].name,
                       json_string_value(json_object_get(json_array_get(inputs, k), "name"))) == 0;
        if (!listed)
            code =
                bn_fail(st, BN_NOT_SUPPORTED, "the model's input %s is not in the file", v[i].name);
    }
    return code;
}

/* ---- the optimizer -------------------------------------------------------------- */

/* Whether optimizer O has a member KEY; if so *VALUE is its value. */
static bool has_member(size_t o, const char *key, double *value)
{
    for (size_t i = 0; i < 5 && optimizers[o].members[i].path; i++)
        if (strcmp(optimizers[o].members[i].path, key) == 0) {
            *value = optimizers[o].members[i].value;
            return true;
        }
    return false;
}

/* Checks a setting of the file's optimizer. One without a row is a setting that models ignore. */
static bn_code check_setting(size_t o, const char *key, const json_t *value, bn_status *st)
{
    double want = 0;
    if (!has_member(o, key, &want))
        return bn_fail(st, BN_NOT_SUPPORTED, "optimizer %s with %s", optimizers[o].name, key);
    if (!isnan(want) && json_number_value(value) != want)
        return bn_fail(st, BN_NOT_SUPPORTED, "optimizer %s, %s %g; the model has %g",
                       optimizers[o].name, key, json_number_value(value), want);
    return BN_OK;
}

static bn_code check_optimizer(const golden_file *g, const model *m, bn_status *st)
{
    const json_t *settings = golden_at(g, "optimizer");
    const char *name = json_string_value(json_object_get(settings, "name")), *key;
    json_t *value;
    size_t o = 0;
    while (o < 2 && optimizers[o].kind != g->optimizer)
        o++;
    if (o == 2 || model_get_options(m)->optimizer != g->optimizer)
        return bn_fail(st, BN_NOT_SUPPORTED, "optimizer %s; models have SGD and AdamW", name);
    json_object_foreach((json_t *)(uintptr_t)settings, key, value)
    {
        bn_code code = BN_OK;
        if (json_is_array(value)) {
            char path[64];
            for (size_t i = 0; code == BN_OK && i < json_array_size(value); i++) {
                snprintf(path, sizeof path, "%s.%zu", key, i);
                code = check_setting(o, path, json_array_get(value, i), st);
            }
        } else if (strcmp(key, "name") != 0) {
            code = check_setting(o, key, value, st);
        }
        if (code != BN_OK)
            return code;
    }
    return BN_OK;
}

/* ---- names and shapes ------------------------------------------------------------ */

/* Checks that the model has each variable that the file names at PATH, with each of SUFFIXES. */
static bn_code check_names(const golden_file *g, const model *m, const char *path, model_role role,
                           const char *const *suffixes, bn_status *st)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)golden_at(g, path), key, value)
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

static bn_code check_evaluation(const golden_file *g, const model *m, bn_status *st)
{
    const char *key;
    const json_t *output;
    json_t *value;
    bn_code code = BN_OK;
    char name[256], what[256];
    for (size_t i = 0; code == BN_OK && (output = golden_output(g, i, &key)); i++) {
        snprintf(what, sizeof what, "output %s", key);
        code = check_shape(m, key, what, json_object_get(output, "shape"), st);
    }
    json_object_foreach((json_t *)(uintptr_t)golden_at(g, "f64.eval.stages"), key, value)
    {
        snprintf(name, sizeof name, "stage/%s", key);
        snprintf(what, sizeof what, "stage %s", key);
        if (code == BN_OK)
            code = check_shape(m, name, what, json_array_get(value, 0), st);
    }
    return code;
}

bn_code golden_supports(const golden_file *g, const model *m, bn_status *st)
{
    static const char *const self[] = {"", NULL};
    static const char *const running[] = {".running_mean", ".running_var", NULL};
    bn_code code = check_optimizer(g, m, st);
    if (code == BN_OK)
        code = check_inputs(g, m, st);
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

/* ---- which model ------------------------------------------------------------------- */

/* Sets *SAME if the model of options O has the file's number of parameters. */
static bn_code has_parameters(const golden_file *g, const model_options *o, bool *same,
                              bn_status *st)
{
    model *m = NULL;
    bn_code code = model_new(g->model, o, &m, st);
    if (code == BN_OK)
        *same = model_parameter_elements(m) == json_integer_value(golden_at(g, "param_count"));
    model_free(m);
    return code;
}

/* Sets *SMALL if the file is of the reduced model. */
static bn_code find_variant(const golden_file *g, const model_info *info, bool *small,
                            bn_status *st)
{
    static const char *const names[] = {"full", "small"};
    for (size_t i = 0; i < 2; i++)
        if (strncmp(g->variant, names[i], strlen(names[i])) == 0) {
            *small = i == 1;
            return BN_OK;
        }
    for (int i = 0; i <= (int)info->has_small; i++) {
        const model_options o = {
            .small = i == 1, .batch = g->batch, .image = g->image, .seq = g->seq, .dtype = TG_F32};
        bool same = false;
        bn_code code = has_parameters(g, &o, &same, st);
        *small = o.small;
        if (code != BN_OK || same)
            return code;
    }
    return bn_fail(st, BN_NOT_SUPPORTED, "variant %s: no %s has %lld parameters", g->variant,
                   g->model, (long long)json_integer_value(golden_at(g, "param_count")));
}

/* Checks that the model, SMALL or not, decodes as far as the file does. */
static bn_code check_decodes(const golden_file *g, bool small, bn_status *st)
{
    const model_options o = {.small = small,
                             .decode = true,
                             .batch = g->batch,
                             .seq = golden_decode_prompt(g),
                             .context = golden_decode_steps(g),
                             .dtype = TG_F32};
    model *m = NULL;
    if (o.context == 0 || model_new(g->model, &o, &m, st) == BN_OK) {
        model_free(m);
        return BN_OK;
    }
    st->code = BN_NOT_SUPPORTED;
    return bn_context(st, "f64.decode");
}

bn_code golden_configure(const golden_file *g, res_experiment *w, bn_status *st)
{
    model_info info;
    bool small = false;
    size_t i = 0;
    while (model_describe(i, &info) && strcmp(info.name, g->model) != 0)
        i++;
    if (!model_describe(i, &info))
        return bn_fail(st, BN_NOT_SUPPORTED, "there is no model %s", g->model);
    bn_code code = find_variant(g, &info, &small, st);
    if (code != BN_OK)
        return code;
    if (small && !info.has_small)
        return bn_fail(st, BN_NOT_SUPPORTED, "%s has no reduced variant", g->model);
    if (check_decodes(g, small, st) != BN_OK)
        return st->code;
    const int depth = small ? info.small_depth : info.depth;
    if (w->depth && w->depth != depth)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "the golden values are of %d layers, not of --depth %d", depth, w->depth);
    snprintf(w->model, sizeof w->model, "%s", g->model);
    snprintf(w->variant, sizeof w->variant, "%s%s", small ? "small" : "full",
             g->padded && info.pads ? "_pad" : "");
    snprintf(w->dtype, sizeof w->dtype, "f32");
    snprintf(w->dropout, sizeof w->dropout, "off");
    snprintf(w->optimizer, sizeof w->optimizer, "%s",
             g->optimizer == MODEL_ADAMW ? "adamw"
             : g->optimizer == MODEL_SGD ? "sgd"
                                         : "default");
    w->batch = g->batch;
    w->image = g->image;
    w->seq = g->seq;
    w->seed = g->seed;
    w->in_flight = 1;
    return BN_OK;
}
