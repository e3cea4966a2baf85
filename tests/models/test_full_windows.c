/*
 * test_full_windows.c - windows of a traced step give what the whole step gives: every model, in
 * training, inference and decoding, with windows of 64 and 512 nodes.
 *
 * XLA fuses other ops where a border forbids a fusion, so values differ by rounding. After the steps
 * here parameters differ from those of lazy mode by 1e-4 of their norm at most, and so do results.
 *
 *   BENCH_TEST_MODEL=NAME   of that model only
 *
 * needs: half an hour
 */
#include "tests/support/client_fixture.h"

#include "models/model.h"
#include "modes/mode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS     5 /* the third one is the first with windows */
#define TOLERANCE 1e-4

typedef struct work {
    model *m;
    mode *way;
} work;

static work begin(const model_info *info, model_options options, const char *way, size_t window)
{
    work w = {0};
    bn_status st = {0};
    size_t count;
    options.small = info->has_small;
    options.batch = 2;
    options.dtype = TG_F32;
    assert_ok(model_new(info->name, &options, &w.m, &st), &st);
    assert_ok(mode_create(way, client, &(mode_options){.window = window}, &w.way, &st), &st);
    const model_variable *v = model_variables(w.m, &count);
    for (size_t i = 0; i < count; i++) {
        void *host = malloc((size_t)tg_type_bytes(tg_tensor_type(v[i].tensor)) + 1);
        assert_ok(model_initial(&v[i], 1, host, &st), &st);
        if (v[i].role != MODEL_RESULT)
            assert_ok(mode_write(w.way, v[i].tensor, host, &st), &st);
        free(host);
    }
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

static void run(work *w)
{
    bn_status st = {0};
    const mode_call call = {.function = model_step, .context = w->m};
    for (int i = 0; i < STEPS; i++)
        assert_ok(mode_step(w->way, &call, NULL, &st), &st);
    assert_ok(mode_drain(w->way, &st), &st);
}

/* The contents of VARIABLE as doubles; owned by the caller. */
static double *contents(const work *w, const model_variable *v, size_t *count)
{
    const tg_type *type = tg_tensor_type(v->tensor);
    const size_t bytes = (size_t)tg_type_bytes(type);
    bn_status st = {0};
    void *host = malloc(bytes + 1);
    assert_ok(mode_read(w->way, v->tensor, host, bytes, &st), &st);
    *count = type->dtype == TG_U64 ? bytes / 8 : bytes / 4;
    double *values = malloc((*count + 1) * sizeof *values);
    for (size_t i = 0; i < *count; i++)
        values[i] = type->dtype == TG_F32   ? (double)((float *)host)[i]
                    : type->dtype == TG_I32 ? (double)((int32_t *)host)[i]
                                            : (double)((uint64_t *)host)[i];
    free(host);
    return values;
}

static double norm(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (a[i] - (b ? b[i] : 0)) * (a[i] - (b ? b[i] : 0));
    return sqrt(sum);
}

static void assert_alike(const work *lazy, const work *fused, const char *what)
{
    size_t count, n;
    const model_variable *v = model_variables(lazy->m, &count);
    const model_variable *u = model_variables(fused->m, &count);
    for (size_t i = 0; i < count; i++) {
        double *a = contents(lazy, &v[i], &n), *b = contents(fused, &u[i], &n);
        const double scale = norm(a, NULL, n), difference = norm(a, b, n);
        if (!(difference <= TOLERANCE * scale + 1e-7))
            fail_msg("%s: %s differs by %g of its norm", what, tg_tensor_name(v[i].tensor),
                     difference / scale);
        free(a);
        free(b);
    }
}

static void compare(const model_info *info, model_options options, const char *phase)
{
    static const size_t windows[] = {64, 512};
    work lazy = begin(info, options, "lazy", 0);
    run(&lazy);
    for (size_t k = 0; k < 2; k++) {
        char what[128];
        work fused = begin(info, options, "fused", windows[k]);
        run(&fused);
        const size_t ran = mode_window(fused.way).windows;
        snprintf(what, sizeof what, "%s %s, %zu nodes a window, %zu windows", info->name, phase,
                 windows[k], ran);
        print_message("# %s\n", what);
        assert_alike(&lazy, &fused, what);
        if (windows[k] == 64 && options.train)
            assert_true(ran > 1);
        end(&fused);
    }
    end(&lazy);
}

static void every_model(const model_options *options, const char *phase)
{
    model_info info;
    const char *only = getenv("BENCH_TEST_MODEL");
    for (size_t i = 0; model_describe(i, &info); i++) {
        model *m = NULL;
        bn_status st = {0};
        model_options own = *options;
        own.small = info.has_small;
        if (only && strcmp(only, info.name) != 0)
            continue;
        /* Not every model decodes. */
        if (model_new(info.name, &own, &m, &st) == BN_OK) {
            model_free(m);
            compare(&info, *options, phase);
        } else {
            assert_true(options->decode);
        }
    }
}

static void training(void **state)
{
    (void)state;
    every_model(&(model_options){.train = true, .dtype = TG_F32}, "train");
}

static void inference(void **state)
{
    (void)state;
    every_model(&(model_options){.dtype = TG_F32}, "infer");
}

static void decoding(void **state)
{
    (void)state;
    every_model(&(model_options){.decode = true, .dtype = TG_F32}, "decode");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training),
        cmocka_unit_test(inference),
        cmocka_unit_test(decoding),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
