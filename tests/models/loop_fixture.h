/*
 * loop_fixture.h - several steps of a model in one program, beside as many programs of one step.
 */
#ifndef BENCH_LOOP_FIXTURE_H
#define BENCH_LOOP_FIXTURE_H

#include "tests/support/client_fixture.h"
#include "tests/support/plugin_leaks.h"

#include "models/model_priv.h"
#include "modes/mode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 4

typedef struct work {
    model *m;
    mode *way;
    mode_call call;
} work;

/* Contents of V for STEP: of an input another batch each, as the worker's feed makes them. */
static uint64_t seed_at(const model_variable *v, int step)
{
    return v->role == MODEL_INPUT ? 1 + (uint64_t)step : 1;
}

/* Writes the initial contents; inputs those of the steps from STEP on. */
static void fill(const work *w, int step, bool only_inputs)
{
    bn_status st = {0};
    size_t count;
    const model_variable *v = model_variables(w->m, &count);
    for (size_t i = 0; i < count; i++) {
        if (v[i].role == MODEL_RESULT || v[i].layer > 0 ||
            (only_inputs && v[i].role != MODEL_INPUT))
            continue;
        char *host = malloc((size_t)tg_type_bytes(tg_tensor_type(v[i].tensor)));
        const size_t part = (size_t)tg_type_bytes(&v[i].shape);
        for (size_t k = i; k < count; k++)
            if (v[k].tensor == v[i].tensor)
                assert_ok(model_initial(&v[k], 1, host + (size_t)v[k].layer * part, &st), &st);
        for (int k = 0; k < v[i].steps; k++)
            assert_ok(model_initial(&v[i], seed_at(&v[i], step + k), host + (size_t)k * part, &st),
                      &st);
        if (v[i].role == MODEL_INPUT && v[i].steps == 0)
            assert_ok(model_initial(&v[i], seed_at(&v[i], step), host, &st), &st);
        assert_ok(mode_write(w->way, v[i].tensor, host, &st), &st);
        free(host);
    }
}

static work begin(const char *name, const char *way, model_options options)
{
    bn_status st = {0};
    work w = {0};
    model_info info;
    assert_true(model_describe_named(name, &info));
    options.small = info.has_small;
    options.dtype = TG_F32;
    assert_ok(model_new(name, &options, &w.m, &st), &st);
    const mode_options exact = {.precision = TG_PRECISION_HIGHEST};
    assert_ok(mode_create(way, client, &exact, &w.way, &st), &st);
    fill(&w, 0, false);
    w.call = (mode_call){.function = model_step, .context = w.m};
    return w;
}

static void end(work *w)
{
    size_t count;
    const model_variable *v = model_variables(w->m, &count);
    for (size_t i = 0; i < count; i++)
        mode_clear(w->way, v[i].tensor);
    mode_destroy(w->way);
    model_free(w->m);
}

/* Runs CALLS calls of A_CALL steps; the values of the result NAME, in doubles, behind RESULTS. */
static void run(work *w, int calls, int a_call, const char *name, double *results)
{
    bn_status st = {0};
    const model_variable *v = model_find(w->m, name);
    const size_t elements = (size_t)tg_type_elements(&v->shape);
    const size_t bytes = (size_t)tg_type_bytes(tg_tensor_type(v->tensor));
    char *host = malloc(bytes);
    for (int i = 0; i < calls; i++) {
        fill(w, i * a_call, true);
        assert_ok(mode_step(w->way, &w->call, NULL, &st), &st);
        assert_ok(mode_drain(w->way, &st), &st);
        assert_ok(mode_read(w->way, v->tensor, host, bytes, &st), &st);
        for (int k = 0; k < a_call; k++, results += elements)
            model_to_framework(v, host + (size_t)k * bytes / (size_t)a_call, results);
    }
    free(host);
}

/* Contents of V, a caller-owned block. */
static double *contents(const work *w, const model_variable *v)
{
    bn_status st = {0};
    const size_t bytes = (size_t)tg_type_bytes(tg_tensor_type(v->tensor));
    char *host = malloc(bytes);
    double *values = malloc((size_t)tg_type_elements(&v->shape) * sizeof *values);
    assert_ok(mode_read(w->way, v->tensor, host, bytes, &st), &st);
    model_to_framework(v, host + (size_t)v->layer * (size_t)tg_type_bytes(&v->shape), values);
    free(host);
    return values;
}

static double norm(const double *values, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += values[i] * values[i];
    return sqrt(sum);
}

/* The norm of V's gradient in the last step of W, or of all gradients for NULL. */
static double gradient(const work *w, const model_variable *v)
{
    size_t count;
    const model_variable *list = model_variables(w->m, &count);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(list[i].name, "grad/", 5) != 0 || (v && strcmp(list[i].name + 5, v->name) != 0))
            continue;
        double *values = contents(w, &list[i]);
        sum += pow(norm(values, tg_type_elements(&list[i].shape)), 2);
        free(values);
    }
    return sqrt(sum);
}

/* Compares parameters and statistics after the steps. Where a gradient is only rounding, AdamW
 * makes full updates of it: the rule of the golden values leaves these parameters out, too. */
static void compare_state(const char *name, const work *loop, const work *one, double tolerance)
{
    size_t count, compared = 0;
    const model_variable *v = model_variables(loop->m, &count);
    const double all = gradient(one, NULL);
    for (size_t i = 0; i < count; i++) {
        if (v[i].role != MODEL_PARAMETER && v[i].role != MODEL_STATISTIC)
            continue;
        if (v[i].role == MODEL_PARAMETER && gradient(one, &v[i]) < 1e-6 * all)
            continue;
        const int64_t elements = tg_type_elements(&v[i].shape);
        double *a = contents(loop, &v[i]), *b = contents(one, model_find(one->m, v[i].name));
        const double scale = norm(b, elements);
        for (int64_t k = 0; k < elements; k++)
            a[k] -= b[k];
        if (!(norm(a, elements) <= tolerance * scale))
            fail_msg("%s: %s is off by %g", name, v[i].name, norm(a, elements) / scale);
        compared++;
        free(a);
        free(b);
    }
    assert_true(compared > 0);
}

/* Tolerances of the golden values of PyTorch (tests/golden), but for models whose own is larger. */
static double tolerance_of(const char *name)
{
    return strcmp(name, "mnasnet1_0") == 0 ? 2e-4 : 1e-5;
}

static void check_training(const char *name, const char *way, model_options options)
{
    double single[STEPS], looped[STEPS];
    model_info info;
    assert_true(model_describe_named(name, &info));
    options.batch = info.golden_batch;
    options.train = true;
    model_options watched = options;
    watched.keep_gradients = true;
    work one = begin(name, "lazy", watched);
    run(&one, STEPS, 1, "loss", single);
    options.steps = STEPS;
    work loop = begin(name, way, options);
    run(&loop, 1, STEPS, "loss", looped);
    for (int i = 0; i < STEPS; i++)
        if (!(fabs(looped[i] - single[i]) <= tolerance_of(name) * fabs(single[i])))
            fail_msg("%s %s: loss %d is %.9g, not %.9g", name, way, i, looped[i], single[i]);
    assert_true(single[1] != single[0]);
    compare_state(name, &loop, &one, tolerance_of(name));
    /* Nothing is compiled again. */
    run(&loop, 1, STEPS, "loss", looped);
    assert_int_equal(mode_counters(loop.way)[BN_COUNTER_COMPILES], 1);
    assert_int_equal(mode_counters(loop.way)[BN_COUNTER_EXECUTIONS], 2);
    end(&one);
    end(&loop);
}

#endif
