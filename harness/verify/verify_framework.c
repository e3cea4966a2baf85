/*
 * verify_framework.c - in a worker: a framework's script computes what a file of golden values
 * describes, from our weights and our batch. The rules and tolerances are those for bench's own
 * steps. Scripts answer no probes of gradients, single parameters or stages: these are not
 * compared.
 */
#include "harness/verify/verify_framework_priv.h"
#include "harness/worker/worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Outputs that scripts report. */
#define OUTPUT "logits"

/* A comparison in progress. */
typedef struct verified {
    const golden_check *c;
    const json_t *root; /* the answer of the script */
    const char *name;   /* of the framework */
} verified;

static bn_code lacks(const verified *v, const char *name, bn_status *st)
{
    return bn_fail(st, BN_FORMAT, "the report of %s has no %s that fits the golden values", v->name,
                   name);
}

/* OBJECT's number NAME; NaN, which passes nowhere, for null. */
static bool number_of(const json_t *object, const char *name, double *number)
{
    const json_t *value = json_object_get(object, name);
    *number = json_is_number(value) ? json_number_value(value) : (double)NAN;
    return json_is_number(value) || json_is_null(value);
}

/* OBJECT's list NAME of COUNT numbers as doubles, for free; NULL where it is none. */
static double *numbers_of(const json_t *object, const char *name, size_t count)
{
    const json_t *list = json_object_get(object, name);
    if (json_array_size(list) != count)
        return NULL;
    double *numbers = bn_zalloc(count + 1, sizeof *numbers);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, i);
        numbers[i] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
    return numbers;
}

/* ---- evaluation --------------------------------------------------------------------------- */

static bn_code compare_output(const verified *v, bn_status *st)
{
    const json_t *got = json_object_get(v->root, OUTPUT);
    size_t ends, rows;
    golden_figures f = {.first = NULL};
    golden_output_counts(v->c->golden, OUTPUT, &ends, &rows);
    double *first = numbers_of(got, "first16", ends), *last = numbers_of(got, "last16", ends);
    double *argmax = numbers_of(got, "argmax", rows);
    const bool whole = first && last && argmax && number_of(got, "mean", &f.mean) &&
                       number_of(got, "std", &f.std) && number_of(got, "l2", &f.l2) &&
                       number_of(got, "absmax", &f.absmax) && number_of(got, "probe", &f.probe);
    f.first = first;
    f.last = last;
    f.argmax = argmax;
    if (whole)
        golden_compare_figures(v->c, OUTPUT, &f);
    free(first);
    free(last);
    free(argmax);
    return whole ? BN_OK : lacks(v, OUTPUT, st);
}

static bn_code compare_evaluation(const verified *v, bn_status *st)
{
    double parameters = 0, loss = 0;
    if (!number_of(v->root, "parameters", &parameters))
        return lacks(v, "parameters", st);
    golden_compare_parameter_count(v->c, isfinite(parameters) ? (int64_t)parameters : -1);
    if (!number_of(v->root, "evaluation_loss", &loss))
        return lacks(v, "evaluation_loss", st);
    golden_compare_eval_loss(v->c, loss);
    return compare_output(v, st);
}

/* ---- training ------------------------------------------------------------------------------- */

static bn_code compare_losses(const verified *v, bn_status *st)
{
    double *losses = numbers_of(v->root, "losses", GOLDEN_STEPS);
    double *norms = numbers_of(v->root, "gradient_l2", GOLDEN_STEPS);
    const bool whole = losses && norms;
    for (size_t i = 0; whole && i < GOLDEN_STEPS; i++)
        golden_compare_train_step(v->c, i, losses[i], norms[i]);
    free(losses);
    free(norms);
    return whole ? BN_OK : lacks(v, "losses and gradient_l2", st);
}

static bn_code compare_gradients(const verified *v, bn_status *st)
{
    const json_t *got = json_object_get(v->root, "gradient_norms");
    const char *name;
    json_t *want;
    json_object_foreach((json_t *)(uintptr_t)golden_at(v->c->golden, "f64.train.grads_step0"), name,
                        want)
    {
        double l2 = 0;
        if (!number_of(got, name, &l2))
            return bn_fail(st, BN_FORMAT, "the report of %s has no gradient norm of %s", v->name,
                           name);
        golden_compare_gradient_norm(v->c, name, l2);
    }
    return BN_OK;
}

/* The framework's note on the statistic KEY, which it computes by a rule of its own; NULL: none. */
static const char *deviation_of(const verified *v, const char *key)
{
    const json_t *list = json_object_get(v->root, "deviations");
    const size_t length = strlen(key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (text && strncmp(text, key, length) == 0 && strncmp(text + length, ": ", 2) == 0)
            return text;
    }
    return NULL;
}

/* Shows the last comparison with the framework's note, and does not count it as failed. */
static void excuse_last(const verified *v, const char *deviation)
{
    json_t *last = json_array_get(v->c->rows, json_array_size(v->c->rows) - 1);
    json_object_set_new(last, "deviation", res_json_text(deviation));
    json_object_set_new(last, "pass", json_true());
}

static bn_code compare_statistics(const verified *v, bn_status *st)
{
    static const char *const keys[] = {"running_mean", "running_var"};
    const json_t *got = json_object_get(v->root, "statistic_norms_after_step_1");
    const char *module;
    json_t *figures;
    json_object_foreach((json_t *)(uintptr_t)golden_at(v->c->golden, "f64.train.bn_after_step1"),
                        module, figures)
    {
        for (size_t i = 0; i < 2; i++) {
            char name[256], key[64];
            double l2 = 0;
            snprintf(name, sizeof name, "%s.%s", module, keys[i]);
            snprintf(key, sizeof key, "%s_l2", keys[i]);
            if (!number_of(got, name, &l2))
                return bn_fail(st, BN_FORMAT, "the report of %s has no norm of %s", v->name, name);
            golden_compare_statistic(v->c, module, key, l2);
            const char *deviation = deviation_of(v, keys[i]);
            if (deviation && isfinite(l2))
                excuse_last(v, deviation);
        }
    }
    return BN_OK;
}

static bn_code compare_training(const verified *v, bn_status *st)
{
    double l2 = 0, change = 0;
    bn_code code = compare_losses(v, st);
    if (code == BN_OK)
        code = compare_gradients(v, st);
    if (code == BN_OK)
        code = compare_statistics(v, st);
    if (code != BN_OK)
        return code;
    if (!number_of(v->root, "parameter_l2_after_step_3", &l2) ||
        !number_of(v->root, "parameter_change_l2_after_step_3", &change))
        return lacks(v, "parameter_l2_after_step_3", st);
    golden_compare_all_parameters(v->c, l2, change);
    return BN_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Checks that our model of E computes what the file describes: the script gets its weights and
 * batch. */
static bn_code check_model(const golden_check *c, const job_experiment *e, bn_status *st)
{
    model_options o = job_model_options(&e->what, e->what.runtime);
    model *instance = NULL;
    o.train = false;
    o.no_dropout = true;
    o.keep_stages = true;
    bn_code code = model_new(e->what.model, &o, &instance, st);
    if (code == BN_OK)
        code = golden_supports(c->golden, instance, st);
    model_free(instance);
    return code;
}

bn_code verify_framework(const golden_check *c, job_experiment *e, const char *scratch,
                         bn_status *st)
{
    const worker_framework_options options = {
        .scratch = scratch, .values = true, .learning_rate = c->golden->learning_rate};
    worker_framework *run = NULL;
    if (!scratch || !scratch[0])
        return bn_fail(st, BN_FORMAT, "the worker's request names no scratch folder");
    snprintf(e->what.phase, sizeof e->what.phase, "train");
    bn_code code = check_model(c, e, st);
    if (code == BN_OK)
        code = worker_framework_run(e, &options, &run, st);
    if (code == BN_OK) {
        const verified v = {c, worker_framework_report(run)->root, e->what.front_end};
        code = compare_evaluation(&v, st);
        if (code == BN_OK)
            code = compare_training(&v, st);
    }
    worker_framework_free(run);
    return code;
}
