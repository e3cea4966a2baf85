/*
 * test_training.c - what training does between steps: dropout's masks, batches of
 * varying length, both optimizers. Values against PyTorch are bench verify's.
 */
#define _GNU_SOURCE
#include "tests/support/plugin_leaks.h"
#include "tests/support/client_fixture.h"

#include "models/model_priv.h"
#include "modes/mode.h"

#include <math.h>
#include <stdlib.h>

#define STEPS 4

/* ---- a model at work -------------------------------------------------------------- */

typedef struct work {
    model *m;
    mode *way;
    mode_call call;
} work;

static void put(const work *w, const model_variable *v, uint64_t seed)
{
    bn_status st = {0};
    void *host = malloc((size_t)tg_type_bytes(tg_tensor_type(v->tensor)));
    assert_ok(model_initial(v, seed, host, &st), &st);
    assert_ok(mode_write(w->way, v->tensor, host, &st), &st);
    free(host);
}

/* All variables but results as they are before the first step. */
static void fill(const work *w)
{
    size_t count;
    const model_variable *v = model_variables(w->m, &count);
    for (size_t i = 0; i < count; i++)
        if (v[i].role != MODEL_RESULT)
            put(w, &v[i], model_get_options(w->m)->seed);
}

static work begin(const char *name, const char *way, model_options options)
{
    bn_status st = {0};
    work w = {0};
    options.small = true;
    options.dtype = options.dtype ? options.dtype : TG_F32;
    assert_ok(model_new(name, &options, &w.m, &st), &st);
    assert_ok(mode_create(way, client, &(mode_options){0}, &w.way, &st), &st);
    fill(&w);
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

static double step(work *w)
{
    bn_status st = {0};
    float loss;
    assert_ok(mode_step(w->way, &w->call, NULL, &st), &st);
    assert_ok(mode_drain(w->way, &st), &st);
    assert_ok(mode_read(w->way, model_find(w->m, "loss")->tensor, &loss, sizeof loss, &st), &st);
    assert_true(isfinite(loss));
    return (double)loss;
}

/* ---- dropout ------------------------------------------------------------------------- */

/* Losses of steps from the beginning that change no parameter: what differs is the masks. */
static void losses_at_rest(work *w, double losses[STEPS])
{
    bn_status st = {0};
    const float rest = 0;
    fill(w);
    assert_ok(mode_write(w->way, model_find(w->m, "learning_rate")->tensor, &rest, &st), &st);
    for (int i = 0; i < STEPS; i++)
        losses[i] = step(w);
    assert_int_equal(mode_counters(w->way)[BN_COUNTER_COMPILES], 1);
}

static void check_masks(const char *name, const char *way)
{
    double on[STEPS], again[STEPS], off[STEPS];
    work w = begin(name, way, (model_options){.train = true, .batch = 2});
    losses_at_rest(&w, on);
    losses_at_rest(&w, again);
    end(&w);
    w = begin(name, way, (model_options){.train = true, .batch = 2, .no_dropout = true});
    losses_at_rest(&w, off);
    end(&w);
    for (int i = 0; i < STEPS; i++) {
        assert_true(on[i] == again[i]); /* the same seed, the same masks */
        assert_true(off[i] == off[0]);
        assert_true(on[i] != off[i]);
        for (int k = 0; k < i; k++)
            assert_true(on[i] != on[k]); /* no mask comes twice */
    }
}

static void masks_differ_and_nothing_recompiles(void **state)
{
    (void)state;
    check_masks("gpt2", "lazy");
    check_masks("vgg16", "capture");
}

/* The share of zeros, and that the rest is scaled so that the mean stays. */
static void dropout_step(tg_trace *t, void *context)
{
    tg_tensor **v = context; /* input, result */
    const nn_drop drop = {.generator = v[2], .p = 0.3};
    tg_assign(t, v[1], nn_dropout(t, &drop, v[0]));
}

static void dropout_drops_its_share(void **state)
{
    (void)state;
    enum { N = 100000 };
    bn_status st = {0};
    mode *way;
    const tg_type type = tg_type_make(TG_F32, 1, TG_DIMS(N));
    const tg_type pair = tg_type_make(TG_U64, 1, TG_DIMS(2));
    tg_tensor *v[] = {tg_variable_new("x", &type), tg_variable_new("y", &type),
                      tg_variable_new("generator", &pair)};
    float *x = malloc(N * sizeof *x);
    const uint64_t seed[2] = {7, 0};
    for (int i = 0; i < N; i++)
        x[i] = 1;
    assert_ok(mode_create("lazy", client, &(mode_options){0}, &way, &st), &st);
    assert_ok(mode_write(way, v[0], x, &st), &st);
    assert_ok(mode_write(way, v[2], seed, &st), &st);
    assert_ok(mode_step(way, &(mode_call){.function = dropout_step, .context = v}, NULL, &st), &st);
    assert_ok(mode_read(way, v[1], x, N * sizeof *x, &st), &st);
    int zeros = 0;
    for (int i = 0; i < N; i++) {
        zeros += x[i] == 0;
        assert_true(x[i] == 0 || fabs((double)x[i] - 1 / 0.7) < 1e-6);
    }
    /* Six standard deviations of a binomial count: one failure in 10^8 seeds. */
    assert_true(fabs(zeros - 0.3 * N) < 6 * sqrt(N * 0.3 * 0.7));
    for (int i = 0; i < 3; i++) {
        mode_clear(way, v[i]);
        tg_variable_free(v[i]);
    }
    free(x);
    mode_destroy(way);
}

/* ---- optimizers ------------------------------------------------------------------------- */

static void both_optimizers_train(void **state)
{
    (void)state;
    static const model_optimizer kinds[] = {MODEL_SGD, MODEL_ADAMW};
    static const tg_dtype dtypes[] = {TG_F32, TG_BF16};
    for (int k = 0; k < 2; k++)
        for (int d = 0; d < 2; d++) {
            work w = begin("llama", "lazy",
                           (model_options){.train = true,
                                           .batch = 2,
                                           .optimizer = kinds[k],
                                           .dtype = dtypes[d],
                                           .learning_rate = k ? 1e-3 : 1e-2});
            double first = step(&w), last = first;
            for (int i = 0; i < 10; i++)
                last = step(&w);
            assert_true(last < first - 0.1);
            assert_int_equal(model_find(w.m, "optimizer_step") != NULL, k);
            assert_int_equal(mode_counters(w.way)[BN_COUNTER_COMPILES], 1);
            end(&w);
        }
}

/* ---- varying lengths ---------------------------------------------------------------------- */

static void draw(work *w, uint64_t number, int buckets)
{
    bn_status st = {0};
    size_t count;
    const model_variable *v = model_variables(w->m, &count);
    for (size_t i = 0; i < count; i++)
        if (v[i].length != MODEL_LENGTH_FIXED)
            mode_clear(w->way, v[i].tensor);
    assert_ok(model_draw_batch(w->m, number, buckets, &st), &st);
    for (size_t i = 0; i < count; i++)
        if (v[i].role == MODEL_INPUT)
            put(w, &v[i], 1 + number);
}

static int64_t tokens_of(const work *w, const char *name)
{
    return tg_tensor_type(model_find(w->m, name)->tensor)->dims[1];
}

/* Copies rows of FROM's input NAME into TO's longer rows, padded. */
static void widen(const work *from, const work *to, const char *name)
{
    bn_status st = {0};
    const model_variable *narrow = model_find(from->m, name), *wide = model_find(to->m, name);
    const int64_t rows = narrow->shape.dims[0], tokens = narrow->shape.dims[1];
    const int64_t room = wide->shape.dims[1];
    int32_t *short_rows = malloc((size_t)(rows * tokens) * sizeof *short_rows);
    int32_t *long_rows = malloc((size_t)(rows * room) * sizeof *long_rows);
    assert_ok(model_initial(narrow, 1, short_rows, &st), &st);
    for (int64_t i = 0; i < rows * room; i++)
        long_rows[i] = i % room < tokens ? short_rows[i / room * tokens + i % room]
                                         : (int32_t)wide->mask.pad_value;
    assert_ok(mode_write(to->way, wide->tensor, long_rows, &st), &st);
    free(short_rows);
    free(long_rows);
}

/* The loss leaves padding out, so more of it changes nothing. */
static void padding_to_a_bucket_keeps_the_loss(void **state)
{
    (void)state;
    const model_options o = {.train = true, .batch = 3, .no_dropout = true};
    work plain = begin("transformer_wmt_en_de", "lazy", o);
    work padded = begin("transformer_wmt_en_de", "lazy", o);
    draw(&plain, 0, 0);
    draw(&padded, 0, 1);
    assert_int_equal(tokens_of(&padded, "src_tokens"), 16);
    assert_int_equal(tokens_of(&padded, "target"), 16);
    assert_true(tokens_of(&plain, "src_tokens") < 16 || tokens_of(&plain, "target") < 16);
    widen(&plain, &padded, "src_tokens");
    widen(&plain, &padded, "prev_output_tokens");
    widen(&plain, &padded, "target");
    assert_true(fabs(step(&plain) - step(&padded)) < 1e-5);
    end(&plain);
    end(&padded);
}

static int64_t compiles_of(const char *way, int buckets, int batches)
{
    bn_status st = {0};
    work w = begin("transformer_wmt_en_de", way, (model_options){.batch = 2});
    for (int number = 0; number < batches; number++) {
        draw(&w, (uint64_t)number, buckets);
        assert_ok(mode_step(w.way, &w.call, NULL, &st), &st);
    }
    const int64_t compiles = mode_counters(w.way)[BN_COUNTER_COMPILES];
    end(&w);
    return compiles;
}

/* A length not seen before is a program more; buckets bound them. */
static void buckets_bound_the_compiles(void **state)
{
    (void)state;
    assert_true(compiles_of("lazy", 0, 4) > 2);
    assert_true(compiles_of("capture", 0, 4) > 2);
    assert_in_range(compiles_of("capture", 3, 12), 2, 3);
    assert_int_equal(compiles_of("lazy", 1, 5), 1);
}

/* Same number, same batch; lengths within their bounds. */
static void batches_are_drawn_by_their_number(void **state)
{
    (void)state;
    bn_status st = {0};
    model *m;
    model_options o = {.batch = 8, .dtype = TG_F32, .train = true};
    assert_ok(model_new("transformer_wmt_en_de", &o, &m, &st), &st);
    double total = 0;
    for (uint64_t number = 0; number < 200; number++) {
        assert_ok(model_draw_batch(m, number, 0, &st), &st);
        const model_variable *source = model_find(m, "src_tokens");
        int32_t longest = 0;
        for (int row = 0; row < 8; row++) {
            assert_in_range(source->mask.lengths[row], 4, 32);
            total += source->mask.lengths[row];
            if (source->mask.lengths[row] > longest)
                longest = source->mask.lengths[row];
        }
        assert_int_equal(source->shape.dims[1], longest);
        const int64_t before = longest;
        assert_ok(model_draw_batch(m, number + 1, 0, &st), &st);
        assert_ok(model_draw_batch(m, number, 0, &st), &st);
        assert_int_equal(model_find(m, "src_tokens")->shape.dims[1], before);
    }
    /* The mean of the documented distribution, cut off at 32, is near 17.3. */
    assert_true(fabs(total / 1600 - 17.3) < 1);
    model_free(m);
    o.batch = 2;
    assert_ok(model_new("gpt2", &o, &m, &st), &st);
    assert_fails(model_draw_batch(m, 0, 0, &st), BN_INVALID, "one length", &st);
    model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_differ_and_nothing_recompiles),
        cmocka_unit_test(dropout_drops_its_share),
        cmocka_unit_test(both_optimizers_train),
        cmocka_unit_test(padding_to_a_bucket_keeps_the_loss),
        cmocka_unit_test(buckets_bound_the_compiles),
        cmocka_unit_test(batches_are_drawn_by_their_number),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
