/*
 * fit_fixture.h - a step small enough to follow by hand, on the default runtime: w is fitted to
 * a target by SGD with momentum.
 */
#ifndef BENCH_TESTS_FIT_FIXTURE_H
#define BENCH_TESTS_FIT_FIXTURE_H

#include "tests/support/client_fixture.h"

#include "modes/mode.h"

#define N 64

/* ---- the model ----------------------------------------------------------------- */

typedef struct fit {
    tg_tensor *w, *momentum, *input, *target, *rate, *loss;
    bool branch;      /* read the loss and choose by it */
    double threshold; /* of that choice */
    int calls;
} fit;

static inline tg_tensor *vector_named(const char *name, int64_t n)
{
    tg_type type = n ? tg_type_make(TG_F32, 1, &n) : tg_type_make(TG_F32, 0, NULL);
    return tg_variable_new(name, &type);
}

static tg_tensor *fit_loss(tg_trace *t, const fit *f, tg_tensor **error)
{
    tg_trace_phase(t, TG_PHASE_INPUT);
    tg_tensor *x = tg_mul(t, f->input, tg_scalar(t, TG_F32, 2.0)); /* (N) */
    tg_trace_phase(t, TG_PHASE_FORWARD);
    *error = tg_sub(t, tg_mul(t, f->w, x), f->target); /* (N) */
    return tg_reduce_sum(t, tg_mul(t, *error, *error), 1u);
}

static void fit_step(tg_trace *t, void *context)
{
    fit *f = context;
    tg_tensor *error, *gradient;
    f->calls++;
    tg_tensor *loss = fit_loss(t, f, &error);
    tg_assign(t, f->loss, loss);
    tg_tensor *rate = f->rate;
    if (f->branch) {
        float value;
        tg_read(t, loss, &value, sizeof value);
        if ((double)value > f->threshold)
            rate = tg_mul(t, rate, tg_scalar(t, TG_F32, 0.5));
    }
    tg_trace_phase(t, TG_PHASE_BACKWARD);
    tg_backward(t, loss, &f->w, 1, &gradient);
    tg_trace_phase(t, TG_PHASE_UPDATE);
    tg_tensor *b = tg_add(t, tg_mul(t, f->momentum, tg_scalar(t, TG_F32, 0.9)), gradient);
    tg_assign(t, f->momentum, b);
    tg_assign(t, f->w, tg_sub(t, f->w, tg_mul(t, b, rate)));
}

static void fit_write(mode *m, tg_tensor *v, double base, double step)
{
    float host[N];
    bn_status st = {0};
    for (int i = 0; i < N; i++)
        host[i] = (float)(base + step * i);
    assert_ok(mode_write(m, v, host, &st), &st);
}

static inline fit fit_new(mode *m)
{
    fit f = {.w = vector_named("w", N),
             .momentum = vector_named("momentum", N),
             .input = vector_named("input", N),
             .target = vector_named("target", N),
             .rate = vector_named("rate", 0),
             .loss = vector_named("loss", 0)};
    fit_write(m, f.w, 0.5, 0.01);
    fit_write(m, f.momentum, 0, 0);
    fit_write(m, f.input, 1.0, -0.02);
    fit_write(m, f.target, -1.0, 0.03);
    fit_write(m, f.rate, 0.01, 0);
    return f;
}

static inline void fit_free(mode *m, fit *f)
{
    tg_tensor *all[] = {f->w, f->momentum, f->input, f->target, f->rate, f->loss};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mode_clear(m, all[i]);
        tg_variable_free(all[i]);
    }
}

static inline void run_steps(mode *m, fit *f, int steps)
{
    bn_status st = {0};
    for (int i = 0; i < steps; i++)
        assert_ok(mode_step(m, &(mode_call){.function = fit_step, .context = f}, NULL, &st), &st);
    assert_ok(mode_drain(m, &st), &st);
}

/* The result of three steps. */
typedef struct outcome {
    float w[N], loss;
} outcome;

static inline outcome fit_outcome(mode *m, const fit *f)
{
    outcome o;
    bn_status st = {0};
    assert_ok(mode_read(m, f->w, o.w, sizeof o.w, &st), &st);
    assert_ok(mode_read(m, f->loss, &o.loss, sizeof o.loss, &st), &st);
    return o;
}

static inline mode *mode_new(const char *name, const mode_options *options)
{
    mode *m = NULL;
    bn_status st = {0};
    assert_ok(mode_create(name, client, options, &m, &st), &st);
    return m;
}

/* The same arithmetic on the host, in double. */
static inline double reference_loss(int steps, double rate)
{
    double w[N], b[N] = {0}, loss = 0;
    for (int i = 0; i < N; i++)
        w[i] = 0.5 + 0.01 * i;
    for (int s = 0; s < steps; s++) {
        loss = 0;
        for (int i = 0; i < N; i++) {
            double x = 2 * (1.0 - 0.02 * i), e = w[i] * x - (-1.0 + 0.03 * i);
            loss += e * e;
            b[i] = 0.9 * b[i] + 2 * e * x;
            w[i] -= rate * b[i];
        }
    }
    return loss;
}

static inline outcome run_three(const char *name, const mode_options *options, int64_t *executions)
{
    mode *m = mode_new(name, options);
    fit f = fit_new(m);
    run_steps(m, &f, 3);
    outcome o = fit_outcome(m, &f);
    *executions = mode_counters(m)[BN_COUNTER_EXECUTIONS];
    fit_free(m, &f);
    mode_destroy(m);
    return o;
}

/* Adds 1 to the variable CONTEXT. */
static inline void add_step(tg_trace *t, void *context)
{
    tg_tensor *v = context;
    tg_assign(t, v, tg_add(t, v, tg_scalar(t, TG_F32, 1.0)));
}

#endif
