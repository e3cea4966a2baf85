/*
 * verify.c - in a worker: one entry of golden values in one mode, computed with full float32
 * products and compared number by number.
 *
 * Evaluation and training have a model of their own each, one after the other. The device only runs
 * the step that bench run measures. Norms and probes are summed here, in double, over contents in
 * the framework's order.
 */
#include "harness/verify/verify.h"
#include "harness/verify/golden_priv.h"
#include "harness/verify/verify_framework_priv.h"
#include "harness/worker/worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The second step's result is compared: where the mode captures it is a replay, where it traces a
 * cache hit. */
#define EVAL_STEPS 2

typedef struct verifier {
    worker_session session;
    job_experiment experiment;
    golden_file golden;
    golden_check check;
    /* Room for the largest variable so far: its contents as on the device, the same in the
     * framework's order, and the initial ones in that order. */
    size_t bytes, elements;
    void *host;
    double *values, *initial;
} verifier;

/* ---- contents --------------------------------------------------------------------- */

static bn_code make_room(verifier *v, const model_variable *variable, bn_status *st)
{
    const size_t bytes = (size_t)tg_type_bytes(tg_tensor_type(variable->tensor));
    const size_t elements = (size_t)tg_type_elements(&variable->shape);
    if (bytes <= v->bytes && elements <= v->elements)
        return BN_OK;
    free(v->host);
    free(v->values);
    free(v->initial);
    v->bytes = bytes > v->bytes ? bytes : v->bytes;
    v->elements = elements > v->elements ? elements : v->elements;
    v->host = malloc(v->bytes);
    v->values = malloc(v->elements * sizeof *v->values);
    v->initial = malloc(v->elements * sizeof *v->initial);
    if (v->host && v->values && v->initial)
        return BN_OK;
    v->bytes = v->elements = 0;
    return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu elements of %s", elements,
                   variable->name);
}

/* Reads VARIABLE's contents into v->values. */
static bn_code read_values(verifier *v, const model_variable *variable, size_t *count,
                           bn_status *st)
{
    bn_code code = make_room(v, variable, st);
    if (code == BN_OK)
        code = mode_read(v->session.mode, variable->tensor, v->host,
                         (size_t)tg_type_bytes(tg_tensor_type(variable->tensor)), st);
    if (code != BN_OK)
        return bn_context(st, "reading %s", variable->name);
    const size_t part = (size_t)tg_type_bytes(&variable->shape); /* of a stack of layers */
    const char *host = (const char *)v->host + (size_t)variable->layer * part;
    model_to_framework(variable, host, v->values);
    *count = (size_t)tg_type_elements(&variable->shape);
    return BN_OK;
}

/* Puts VARIABLE's contents before the first step into v->initial. */
static bn_code initial_values(verifier *v, const model_variable *variable, size_t *count,
                              bn_status *st)
{
    bn_code code = make_room(v, variable, st);
    if (code == BN_OK)
        code = model_initial(variable, v->golden.seed, v->host, st);
    if (code != BN_OK)
        return code;
    model_to_framework(variable, v->host, v->initial);
    *count = (size_t)tg_type_elements(&variable->shape);
    return BN_OK;
}

static bn_code read_scalar(verifier *v, const char *name, double *value, bn_status *st)
{
    size_t count;
    bn_code code = read_values(v, model_find(v->session.instance, name), &count, st);
    if (code == BN_OK)
        *value = v->values[0];
    return code;
}

static bn_code read_norm(verifier *v, const char *prefix, const char *name, double *l2,
                         bn_status *st)
{
    char full[512];
    size_t count;
    snprintf(full, sizeof full, "%s%s", prefix, name);
    bn_code code = read_values(v, model_find(v->session.instance, full), &count, st);
    if (code == BN_OK)
        *l2 = golden_norm(v->values, count);
    return code;
}

/* ---- evaluation ----------------------------------------------------------------------- */

static bn_code check_inputs(verifier *v, bn_status *st)
{
    const json_t *inputs = golden_at(&v->golden, "inputs");
    bn_code code = golden_supports(&v->golden, v->session.instance, st);
    for (size_t i = 0; code == BN_OK && i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        const char *name = json_string_value(json_object_get(input, "name"));
        size_t count;
        code = initial_values(v, model_find(v->session.instance, name), &count, st);
        if (code == BN_OK)
            golden_compare_input(&v->check, input, v->initial, count);
    }
    if (code == BN_OK)
        golden_compare_parameter_count(&v->check, model_parameter_elements(v->session.instance));
    return code;
}

static bn_code compare_outputs(verifier *v, bn_status *st)
{
    const char *name;
    size_t count;
    for (size_t i = 0; golden_output(&v->golden, i, &name); i++) {
        if (read_values(v, model_find(v->session.instance, name), &count, st) != BN_OK)
            return st->code;
        golden_compare_output(&v->check, name, v->values, count);
    }
    return BN_OK;
}

static bn_code compare_stages(verifier *v, bn_status *st)
{
    const json_t *stages = golden_at(&v->golden, "f64.eval.stages");
    const char *module;
    json_t *stage;
    json_object_foreach((json_t *)(uintptr_t)stages, module, stage)
    {
        double l2 = 0;
        if (read_norm(v, "stage/", module, &l2, st) != BN_OK)
            return st->code;
        golden_compare_stage(&v->check, module, l2);
    }
    return BN_OK;
}

static bn_code evaluate(verifier *v, bn_status *st)
{
    const worker_session_options options = {
        .keep_stages = true, .no_dropout = true, .precision = TG_PRECISION_HIGHEST};
    worker_session *s = &v->session;
    double loss = 0;
    snprintf(v->experiment.what.phase, sizeof v->experiment.what.phase, "infer");
    bn_code code = worker_session_model(s, &options, st);
    if (code == BN_OK)
        code = check_inputs(v, st);
    for (int i = 0; code == BN_OK && i < EVAL_STEPS; i++) {
        worker_send_progress("evaluation", i, EVAL_STEPS);
        code = mode_step(s->mode, &s->call, NULL, st);
    }
    if (code == BN_OK)
        code = mode_drain(s->mode, st);
    if (code == BN_OK)
        code = worker_session_has_values(s, st);
    if (code == BN_OK)
        code = compare_outputs(v, st);
    if (code == BN_OK)
        code = compare_stages(v, st);
    if (code == BN_OK)
        code = read_scalar(v, "loss", &loss, st);
    if (code == BN_OK)
        golden_compare_eval_loss(&v->check, loss);
    worker_session_drop_model(s);
    return code == BN_OK ? BN_OK : bn_context(st, "evaluation");
}

/* ---- decoding --------------------------------------------------------------------------- */

/* Compares the step at POSITION, which has just run. CHOSEN has room for the rows' tokens. */
static bn_code compare_decoded(verifier *v, int position, double *chosen, bn_status *st)
{
    const model *m = v->session.instance;
    size_t count;
    bn_code code = read_values(v, model_find(m, "next_token"), &count, st);
    if (code != BN_OK)
        return code;
    memcpy(chosen, v->values, count * sizeof *chosen);
    code = read_values(v, model_find(m, "logits"), &count, st);
    if (code == BN_OK)
        golden_compare_decode(&v->check, position, v->values, count, chosen);
    return code;
}

/* Decodes all positions of the file's context from the batch's rows as the prompt. */
static bn_code decode(verifier *v, bn_status *st)
{
    const worker_session_options options = {.precision = TG_PRECISION_HIGHEST};
    const int steps = golden_decode_steps(&v->golden);
    worker_session *s = &v->session;
    res_experiment *what = &v->experiment.what;
    const res_experiment before = *what;
    if (steps == 0)
        return BN_OK;
    snprintf(what->phase, sizeof what->phase, "decode");
    snprintf(what->optimizer, sizeof what->optimizer, "default");
    snprintf(what->scan, sizeof what->scan, "off");
    what->context = steps;
    what->seq = golden_decode_prompt(&v->golden);
    double *chosen = bn_alloc((size_t)v->golden.batch * sizeof *chosen);
    bn_code code = worker_session_model(s, &options, st);
    for (int i = 0; code == BN_OK && i < steps; i++) {
        worker_send_progress("decoding", i, steps);
        code = mode_step(s->mode, &s->call, NULL, st);
        if (code == BN_OK)
            code = mode_drain(s->mode, st);
        if (code == BN_OK && i == 0)
            code = worker_session_has_values(s, st);
        if (code == BN_OK)
            code = compare_decoded(v, i, chosen, st);
    }
    free(chosen);
    worker_session_drop_model(s);
    *what = before;
    return code == BN_OK ? BN_OK : bn_context(st, "decoding");
}

/* ---- training --------------------------------------------------------------------------- */

/* Writes the file's learning rate in place of the model's own. */
static bn_code write_learning_rate(verifier *v, bn_status *st)
{
    const model_variable *rate = model_find(v->session.instance, "learning_rate");
    const float value = (float)v->golden.learning_rate;
    return mode_write(v->session.mode, rate->tensor, &value, st);
}

/* Compares loss and gradients of STEP, which has just run. */
static bn_code compare_step(verifier *v, size_t step, bn_status *st)
{
    const json_t *wanted = golden_at(&v->golden, "f64.train.grads_step0");
    size_t count, elements;
    double squares = 0, loss = 0;
    const model_variable *list = model_variables(v->session.instance, &count);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(list[i].name, "grad/", 5) != 0)
            continue;
        if (read_values(v, &list[i], &elements, st) != BN_OK)
            return st->code;
        const char *name = list[i].name + 5;
        double l2 = golden_norm(v->values, elements);
        squares += l2 * l2;
        if (step == 0 && json_object_get(wanted, name))
            golden_compare_gradient(&v->check, name, l2,
                                    golden_probe(name, v->golden.seed, v->values, elements));
    }
    bn_code code = read_scalar(v, "loss", &loss, st);
    if (code == BN_OK)
        golden_compare_train_step(&v->check, step, loss, sqrt(squares));
    return code;
}

static bn_code compare_statistics(verifier *v, bn_status *st)
{
    static const char *const keys[] = {"running_mean", "running_var"};
    const char *module;
    json_t *figures;
    json_object_foreach((json_t *)(uintptr_t)golden_at(&v->golden, "f64.train.bn_after_step1"),
                        module, figures)
    {
        char prefix[256], key[64];
        snprintf(prefix, sizeof prefix, "%s.", module);
        for (size_t i = 0; i < 2; i++) {
            double l2 = 0;
            if (read_norm(v, prefix, keys[i], &l2, st) != BN_OK)
                return st->code;
            snprintf(key, sizeof key, "%s_l2", keys[i]);
            golden_compare_statistic(&v->check, module, key, l2);
        }
    }
    return BN_OK;
}

static bn_code compare_parameters(verifier *v, bn_status *st)
{
    const json_t *wanted = golden_at(&v->golden, "f64.train.params_after_step3");
    size_t count, elements;
    double squares = 0, change = 0;
    const model_variable *list = model_variables(v->session.instance, &count);
    for (size_t i = 0; i < count; i++) {
        if (list[i].role != MODEL_PARAMETER)
            continue;
        if (initial_values(v, &list[i], &elements, st) != BN_OK ||
            read_values(v, &list[i], &elements, st) != BN_OK)
            return st->code;
        double l2 = golden_norm(v->values, elements);
        squares += l2 * l2;
        if (json_object_get(wanted, list[i].name))
            golden_compare_parameter(
                &v->check, list[i].name, l2,
                golden_probe(list[i].name, v->golden.seed, v->values, elements));
        for (size_t k = 0; k < elements; k++)
            v->initial[k] = v->values[k] - v->initial[k];
        l2 = golden_norm(v->initial, elements);
        change += l2 * l2;
    }
    golden_compare_all_parameters(&v->check, sqrt(squares), sqrt(change));
    return BN_OK;
}

static bn_code train(verifier *v, bn_status *st)
{
    const worker_session_options options = {
        .keep_gradients = true, .no_dropout = true, .precision = TG_PRECISION_HIGHEST};
    worker_session *s = &v->session;
    snprintf(v->experiment.what.phase, sizeof v->experiment.what.phase, "train");
    bn_code code = worker_session_model(s, &options, st);
    if (code == BN_OK)
        code = write_learning_rate(v, st);
    for (size_t i = 0; code == BN_OK && i < GOLDEN_STEPS; i++) {
        worker_send_progress("training", (int64_t)i, GOLDEN_STEPS);
        code = mode_step(s->mode, &s->call, NULL, st);
        if (code == BN_OK)
            code = mode_drain(s->mode, st);
        if (code == BN_OK)
            code = worker_session_has_values(s, st);
        if (code == BN_OK)
            code = compare_step(v, i, st);
        if (code == BN_OK && i == 0)
            code = compare_statistics(v, st);
    }
    if (code == BN_OK)
        code = compare_parameters(v, st);
    worker_session_drop_model(s);
    return code == BN_OK ? BN_OK : bn_context(st, "training");
}

/* ---- several steps in one program ------------------------------------------------------------ */

/* What STEPS steps of training leave: losses, norm and probe of each statistic and of the
 * parameters that the file names, and the sum of squares of all parameters. */
typedef struct after_steps {
    int steps;
    double *losses;       /* [STEPS] */
    double (*figures)[2]; /* [variable] */
    double squares;
} after_steps;

static bn_code read_losses(verifier *v, size_t at, size_t count, after_steps *after, bn_status *st)
{
    const model_variable *loss = model_find(v->session.instance, "loss");
    float *values = bn_zalloc(count, sizeof *values);
    bn_code code = mode_read(v->session.mode, loss->tensor, values, count * sizeof *values, st);
    for (size_t i = 0; i < count; i++)
        after->losses[at + i] = (double)values[i];
    free(values);
    return code;
}

/* Reads parameters and statistics into AFTER, and compares them to WANTED unless it is NULL. */
static bn_code read_state(verifier *v, after_steps *after, const after_steps *wanted, bn_status *st)
{
    const json_t *named = golden_at(&v->golden, "f64.train.params_after_step3");
    size_t count, elements;
    const model_variable *list = model_variables(v->session.instance, &count);
    after->figures = bn_zalloc(count, sizeof *after->figures);
    for (size_t i = 0; i < count; i++) {
        const bool parameter = list[i].role == MODEL_PARAMETER;
        if (!parameter && list[i].role != MODEL_STATISTIC)
            continue;
        if (read_values(v, &list[i], &elements, st) != BN_OK)
            return st->code;
        double *figures = after->figures[i];
        figures[0] = golden_norm(v->values, elements);
        figures[1] = golden_probe(list[i].name, v->golden.seed, v->values, elements);
        after->squares += parameter ? figures[0] * figures[0] : 0;
        if (wanted && (!parameter || json_object_get(named, list[i].name)))
            golden_compare_looped(&v->check, list[i].name, figures, wanted->figures[i]);
    }
    if (wanted)
        golden_compare_looped_all(&v->check, sqrt(after->squares), sqrt(wanted->squares));
    return BN_OK;
}

/* Runs the steps, A_CALL of them in one program; with WANTED compares what they leave to it. */
static bn_code run_steps(verifier *v, int a_call, after_steps *after, const after_steps *wanted,
                         bn_status *st)
{
    const worker_session_options options = {.no_dropout = true, .precision = TG_PRECISION_HIGHEST};
    worker_session *s = &v->session;
    v->experiment.what.steps_per_execution = a_call;
    bn_code code = worker_session_model(s, &options, st);
    if (code == BN_OK)
        code = write_learning_rate(v, st);
    for (int i = 0; code == BN_OK && i < after->steps; i += a_call) {
        worker_send_progress("steps in one program", i, after->steps);
        code = mode_step(s->mode, &s->call, NULL, st);
        if (code == BN_OK)
            code = mode_drain(s->mode, st);
        if (code == BN_OK)
            code = read_losses(v, (size_t)i, (size_t)a_call, after, st);
    }
    if (code == BN_OK)
        code = read_state(v, after, wanted, st);
    for (int i = 0; code == BN_OK && wanted && i < after->steps; i++)
        golden_compare_looped_loss(&v->check, (size_t)i, after->losses[i], wanted->losses[i]);
    worker_session_drop_model(s);
    return code == BN_OK ? BN_OK : bn_context(st, "%d steps in one program", a_call);
}

/* Compares STEPS steps in one program with as many programs of one. */
static bn_code compare_loop(verifier *v, int steps, bn_status *st)
{
    after_steps single = {.steps = steps, .losses = bn_zalloc((size_t)steps, sizeof(double))};
    after_steps looped = {.steps = steps, .losses = bn_zalloc((size_t)steps, sizeof(double))};
    bn_code code = run_steps(v, 1, &single, NULL, st);
    if (code == BN_OK)
        code = run_steps(v, steps, &looped, &single, st);
    free(single.losses);
    free(single.figures);
    free(looped.losses);
    free(looped.figures);
    return code;
}

/* ---- job ------------------------------------------------------------------------------------ */

static bn_code verify_ours(verifier *v, bn_status *st)
{
    const int steps = v->experiment.what.steps_per_execution;
    bn_code code = worker_session_begin(&v->session, &v->experiment, st);
    /* PyTorch's values are of single steps. */
    v->experiment.what.steps_per_execution = 1;
    if (code == BN_OK)
        code = evaluate(v, st);
    if (code == BN_OK)
        code = decode(v, st);
    if (code == BN_OK)
        code = train(v, st);
    if (code == BN_OK && steps > 1)
        code = compare_loop(v, steps, st);
    return code == BN_OK ? rt_plugin_check_file(v->session.plugin, st) : code;
}

bn_code verify_job(const json_t *request, bn_status *st)
{
    const char *path = json_string_value(json_object_get(request, "entry"));
    verifier v = {.check.rows = json_array()};
    bn_code code = path ? BN_OK : bn_fail(st, BN_FORMAT, "the worker's request names no entry");
    if (code == BN_OK)
        code = job_experiment_from_json(json_object_get(request, "experiment"), &v.experiment, st);
    if (code == BN_OK)
        code = golden_read(path, &v.golden, st);
    if (code == BN_OK) {
        v.check.golden = &v.golden;
        code = golden_configure(&v.golden, &v.experiment.what, st);
    }
    if (code == BN_OK && job_is_framework(&v.experiment.what))
        code = verify_framework(&v.check, &v.experiment,
                                json_string_value(json_object_get(request, "scratch")), st);
    else if (code == BN_OK)
        code = verify_ours(&v, st);
    if (code == BN_OK)
        worker_send_result(json_pack("{sO}", "comparisons", v.check.rows));
    worker_session_end(&v.session);
    golden_free(&v.golden);
    json_decref(v.check.rows);
    free(v.host);
    free(v.values);
    free(v.initial);
    return code;
}
