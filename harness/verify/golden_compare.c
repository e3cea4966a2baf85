/*
 * golden_compare.c - the rules of golden values: what each difference is divided by, and which
 * tolerance it must not exceed. They are those of the script that wrote the files
 * (tests/golden/make_golden.py). A tolerance came from float32 PyTorch by the same division, so it
 * means the same here.
 */
#include "harness/verify/golden_priv.h"
#include "models/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define QUANTITY_BYTES 256

static double number_at(const golden_check *c, const char *path)
{
    return json_number_value(golden_at(c->golden, path));
}

static double step_at(const golden_check *c, const char *path, size_t step)
{
    return json_number_value(json_array_get(golden_at(c->golden, path), step));
}

void golden_compare(const golden_check *c, const char *group, const char *quantity, double got,
                    double want, double scale, double tolerance)
{
    double difference = got == want ? 0 : fabs(got - want) / fabs(scale);
    /* Written this way, NaN does not pass. */
    bool pass = difference <= tolerance;
    json_array_append_new(c->rows,
                          json_pack("{ss ss so so so so sb}", "group", group, "quantity", quantity,
                                    "got", res_json_real(got), "want", res_json_real(want),
                                    "difference", res_json_real(difference), "tolerance",
                                    res_json_real(tolerance), "pass", pass));
}

/* ---- inputs --------------------------------------------------------------------- */

void golden_compare_input(const golden_check *c, const json_t *input, const double *values,
                          size_t count)
{
    static const char *const ends[] = {"first4", "first8"};
    const char *name = json_string_value(json_object_get(input, "name"));
    char quantity[QUANTITY_BYTES];
    const json_t *value;
    for (size_t e = 0; e < 2; e++) {
        const json_t *end = json_object_get(input, ends[e]);
        for (size_t i = 0; i < json_array_size(end) && i < count; i++) {
            snprintf(quantity, sizeof quantity, "inputs.%s.%s[%zu]", name, ends[e], i);
            /* The file has nine digits, which identify a float: both are compared as floats. */
            double want = (double)(float)json_number_value(json_array_get(end, i));
            golden_compare(c, "inputs", quantity, values[i], want, 0, 0);
        }
    }
    if ((value = json_object_get(input, "sum"))) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += values[i];
        snprintf(quantity, sizeof quantity, "inputs.%s.sum", name);
        golden_compare(c, "inputs", quantity, sum, json_number_value(value), 0, 0);
    }
}

void golden_compare_parameter_count(const golden_check *c, int64_t count)
{
    golden_compare(c, "inputs", "param_count", (double)count, number_at(c, "param_count"), 0, 0);
}

/* ---- evaluation ------------------------------------------------------------------- */

/* One output of evaluation, ours and the file's. */
typedef struct output {
    const char *name;
    const json_t *want;
    const golden_figures *got;
} output;

static double wanted(const output *o, const char *key)
{
    return json_number_value(json_object_get(o->want, key));
}

static void compare_ends(const golden_check *c, const output *o)
{
    const json_t *first = json_object_get(o->want, "first16");
    const json_t *last = json_object_get(o->want, "last16");
    const double absmax = wanted(o, "absmax"), tolerance = number_at(c, "tolerance.logits");
    const size_t n = json_array_size(first);
    char quantity[QUANTITY_BYTES];
    for (size_t i = 0; i < 2 * n; i++) {
        bool head = i < n;
        size_t k = head ? i : i - n;
        snprintf(quantity, sizeof quantity, "eval.%s.%s16[%zu]", o->name, head ? "first" : "last",
                 k);
        golden_compare(c, o->name, quantity, (head ? o->got->first : o->got->last)[k],
                       json_number_value(json_array_get(head ? first : last, k)), absmax,
                       tolerance);
    }
}

static void compare_argmax(const golden_check *c, const output *o)
{
    const json_t *argmax = json_object_get(o->want, "argmax");
    const size_t rows = json_array_size(argmax);
    char quantity[QUANTITY_BYTES];
    for (size_t r = 0; r < rows; r++) {
        snprintf(quantity, sizeof quantity, "eval.%s.argmax[%zu]", o->name, r);
        golden_compare(c, "argmax", quantity, o->got->argmax[r],
                       json_number_value(json_array_get(argmax, r)), 0, 0);
    }
}

/* Mean, deviation, norm, largest and probe. */
static void compare_scalars(const golden_check *c, const output *o)
{
    const double absmax = wanted(o, "absmax"), l2 = wanted(o, "l2");
    const golden_figures *got = o->got;
    char quantity[QUANTITY_BYTES];
    const struct {
        const char *key;
        double got, scale;
    } scalars[] = {
        {"mean", got->mean, absmax},     {"std", got->std, wanted(o, "std")}, {"l2", got->l2, l2},
        {"absmax", got->absmax, absmax}, {"probe", got->probe, l2},
    };
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        snprintf(quantity, sizeof quantity, "eval.%s.%s", o->name, scalars[i].key);
        golden_compare(c, "eval scalars", quantity, scalars[i].got, wanted(o, scalars[i].key),
                       scalars[i].scale, number_at(c, "tolerance.eval_scalars"));
    }
}

static const json_t *wanted_output(const golden_check *c, const char *name)
{
    return json_object_get(golden_at(c->golden, "f64.eval"), name);
}

void golden_output_counts(const golden_file *golden, const char *name, size_t *ends, size_t *rows)
{
    const json_t *want = json_object_get(golden_at(golden, "f64.eval"), name);
    *ends = json_array_size(json_object_get(want, "first16"));
    *rows = json_array_size(json_object_get(want, "argmax"));
}

void golden_compare_figures(const golden_check *c, const char *name, const golden_figures *figures)
{
    const output o = {name, wanted_output(c, name), figures};
    compare_ends(c, &o);
    compare_scalars(c, &o);
    compare_argmax(c, &o);
}

/* The index of the largest of each of ROWS rows of VALUES, for free. */
static double *argmax_of(const double *values, size_t count, size_t rows)
{
    double *argmax = bn_zalloc(rows + 1, sizeof *argmax);
    const size_t width = rows ? count / rows : 0;
    for (size_t r = 0; r < rows; r++) {
        const double *row = values + r * width;
        size_t best = 0;
        for (size_t i = 1; i < width; i++)
            if (row[i] > row[best])
                best = i;
        argmax[r] = (double)best;
    }
    return argmax;
}

void golden_compare_output(const golden_check *c, const char *name, const double *values,
                           size_t count)
{
    size_t ends, rows;
    golden_output_counts(c->golden, name, &ends, &rows);
    double sum = 0, squares = 0, most = 0, *argmax = argmax_of(values, count, rows);
    for (size_t i = 0; i < count; i++) {
        const double size = fabs(values[i]);
        sum += values[i];
        most = size > most || isnan(size) ? size : most;
    }
    const double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    const golden_figures figures = {.first = values,
                                    .last = values + (count - ends),
                                    .mean = mean,
                                    .std = sqrt(squares / (double)count),
                                    .l2 = golden_norm(values, count),
                                    .absmax = most,
                                    .probe = golden_probe(name, c->golden->seed, values, count),
                                    .argmax = argmax};
    golden_compare_figures(c, name, &figures);
    free(argmax);
}

/* The files have no tolerance for it. It is a loss before any update, so step 0's applies. */
void golden_compare_eval_loss(const golden_check *c, double loss)
{
    double want = number_at(c, "f64.eval.loss");
    golden_compare(c, "loss", "eval.loss", loss, want, want, step_at(c, "tolerance.loss", 0));
}

void golden_compare_stage(const golden_check *c, const char *module, double l2)
{
    const json_t *stage = json_object_get(golden_at(c->golden, "f64.eval.stages"), module);
    const double want = json_number_value(json_array_get(stage, 1));
    char quantity[QUANTITY_BYTES];
    snprintf(quantity, sizeof quantity, "eval.stages.%s", module);
    golden_compare(c, "stages", quantity, l2, want, want, number_at(c, "tolerance.eval_scalars"));
}

/* ---- decoding ----------------------------------------------------------------------- */

int golden_decode_steps(const golden_file *golden)
{
    return (int)json_integer_value(golden_at(golden, "f64.decode.context"));
}

int golden_decode_prompt(const golden_file *golden)
{
    return (int)json_integer_value(golden_at(golden, "f64.decode.prompt"));
}

void golden_compare_decode(const golden_check *c, int position, const double *logits, size_t count,
                           const double *chosen)
{
    const int first =
        golden_decode_prompt(c->golden) - 1; /* the position that chooses the first token */
    const double tolerance = number_at(c, "tolerance.eval_scalars");
    char quantity[QUANTITY_BYTES];
    json_t *row;
    size_t i;
    json_array_foreach(golden_at(c->golden, "f64.decode.logits"), i, row)
    {
        if (json_integer_value(json_array_get(row, 0)) != position)
            continue;
        const double l2 = json_number_value(json_array_get(row, 1));
        snprintf(quantity, sizeof quantity, "decode.logits.l2[%d]", position);
        golden_compare(c, "decode", quantity, golden_norm(logits, count), l2, l2, tolerance);
        snprintf(quantity, sizeof quantity, "decode.logits.probe[%d]", position);
        golden_compare(c, "decode", quantity,
                       golden_probe("logits", c->golden->seed, logits, count),
                       json_number_value(json_array_get(row, 2)), l2, tolerance);
    }
    json_array_foreach(golden_at(c->golden, "f64.decode.tokens"), i, row)
    {
        if (position < first)
            break;
        snprintf(quantity, sizeof quantity, "decode.tokens[%zu][%d]", i, position - first);
        golden_compare(c, "decode tokens", quantity, chosen[i],
                       json_number_value(json_array_get(row, (size_t)(position - first))), 0, 0);
    }
}

/* ---- training ----------------------------------------------------------------------- */

void golden_compare_train_step(const golden_check *c, size_t step, double loss, double gradient_l2)
{
    char quantity[QUANTITY_BYTES];
    double want = step_at(c, "f64.train.loss", step);
    snprintf(quantity, sizeof quantity, "train.loss[%zu]", step);
    golden_compare(c, "loss", quantity, loss, want, want, step_at(c, "tolerance.loss", step));
    want = step_at(c, "f64.train.grad_l2_global", step);
    snprintf(quantity, sizeof quantity, "train.grad_l2_global[%zu]", step);
    golden_compare(c, "gradient l2", quantity, gradient_l2, want, want,
                   step_at(c, "tolerance.grad_l2_global", step));
}

/* FIGURE of tensor NAME: "l2" or "probe". */
static void compare_figure(const golden_check *c, const char *member, const char *name,
                           const char *figure, double got, double scale, const char *tolerance)
{
    char path[QUANTITY_BYTES], quantity[QUANTITY_BYTES];
    snprintf(path, sizeof path, "f64.train.%s", member);
    const json_t *want = json_object_get(golden_at(c->golden, path), name);
    snprintf(quantity, sizeof quantity, "train.%s.%s.%s", member, name, figure);
    golden_compare(c, member, quantity, got, json_number_value(json_object_get(want, figure)),
                   scale, number_at(c, tolerance));
}

static void compare_pair(const golden_check *c, const char *member, const char *name, double l2,
                         double probe, double scale, const char *tolerance)
{
    compare_figure(c, member, name, "l2", l2, scale, tolerance);
    compare_figure(c, member, name, "probe", probe, scale, tolerance);
}

static double reference_l2(const golden_check *c, const char *path, const char *name)
{
    const json_t *figure = json_object_get(golden_at(c->golden, path), name);
    return figure ? json_number_value(json_object_get(figure, "l2")) : (double)NAN;
}

/* For a gradient that is nearly zero the scale is that of the whole gradient: its own size is
 * rounding noise. */
static double gradient_scale(const golden_check *c, const char *name)
{
    const double own = reference_l2(c, "f64.train.grads_step0", name);
    const double least = 1e-3 * step_at(c, "f64.train.grad_l2_global", 0);
    return own > least ? own : least;
}

void golden_compare_gradient(const golden_check *c, const char *name, double l2, double probe)
{
    compare_pair(c, "grads_step0", name, l2, probe, gradient_scale(c, name),
                 "tolerance.grads_step0");
}

void golden_compare_gradient_norm(const golden_check *c, const char *name, double l2)
{
    compare_figure(c, "grads_step0", name, "l2", l2, gradient_scale(c, name),
                   "tolerance.grads_step0");
}

/* A parameter whose true gradient is zero is left out: an optimizer may move it by noise. */
void golden_compare_parameter(const golden_check *c, const char *name, double l2, double probe)
{
    double gradient = reference_l2(c, "f64.train.grads_step0", name);
    if (gradient < 1e-6 * step_at(c, "f64.train.grad_l2_global", 0))
        return;
    compare_pair(c, "params_after_step3", name, l2, probe,
                 reference_l2(c, "f64.train.params_after_step3", name), "tolerance.params");
}

void golden_compare_looped(const golden_check *c, const char *name, const double got[2],
                           const double want[2])
{
    static const char *const figures[] = {"l2", "probe"};
    char quantity[QUANTITY_BYTES];
    /* As above: where there is no gradient but noise, AdamW makes full updates of it. */
    if (json_object_get(golden_at(c->golden, "f64.train.grads_step0"), name) &&
        reference_l2(c, "f64.train.grads_step0", name) <
            1e-6 * step_at(c, "f64.train.grad_l2_global", 0))
        return;
    for (size_t i = 0; i < 2; i++) {
        snprintf(quantity, sizeof quantity, "loop.%s.%s", name, figures[i]);
        golden_compare(c, "loop", quantity, got[i], want[i], want[0],
                       number_at(c, "tolerance.params"));
    }
}

void golden_compare_looped_all(const golden_check *c, double got, double want)
{
    golden_compare(c, "loop", "loop.param_l2", got, want, want, number_at(c, "tolerance.param_l2"));
}

void golden_compare_looped_loss(const golden_check *c, size_t step, double got, double want)
{
    char quantity[QUANTITY_BYTES];
    snprintf(quantity, sizeof quantity, "loop.loss[%zu]", step);
    golden_compare(c, "loop", quantity, got, want, want, step_at(c, "tolerance.loss", 0));
}

void golden_compare_all_parameters(const golden_check *c, double l2, double change_l2)
{
    double want = number_at(c, "f64.train.param_l2_after_step3");
    golden_compare(c, "parameters l2", "train.param_l2_after_step3", l2, want, want,
                   number_at(c, "tolerance.param_l2"));
    want = number_at(c, "f64.train.param_change_l2_after_step3");
    golden_compare(c, "parameters change", "train.param_change_l2_after_step3", change_l2, want,
                   want, number_at(c, "tolerance.param_change_l2"));
}

void golden_compare_statistic(const golden_check *c, const char *module, const char *key, double l2)
{
    const json_t *figures =
        json_object_get(golden_at(c->golden, "f64.train.bn_after_step1"), module);
    const double want = json_number_value(json_object_get(figures, key));
    char quantity[QUANTITY_BYTES];
    snprintf(quantity, sizeof quantity, "train.bn_after_step1.%s.%s", module, key);
    golden_compare(c, "bn_after_step1", quantity, l2, want, want, number_at(c, "tolerance.bn"));
}

/* ---- sums ------------------------------------------------------------------------------ */

double golden_norm(const double *values, size_t count)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += values[i] * values[i];
    return sqrt(squares);
}

double golden_probe(const char *name, uint64_t seed, const double *values, size_t count)
{
    char key[QUANTITY_BYTES];
    double sum = 0;
    snprintf(key, sizeof key, "probe/%s", name);
    for (size_t i = 0; i < count; i++)
        sum += values[i] * (2 * model_unit(key, seed, i) - 1);
    return sum;
}
