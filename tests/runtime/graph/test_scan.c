/*
 * test_scan.c - loops over stacked layers against the same layers one by one: values, gradients,
 * what they cost, how they are cut, hashed and refused. Needs no plugin.
 */
#include "runtime/graph/trace_priv.h"
#include "tests/support/evaluator.h"
#include "tests/support/test_runtime.h"

#include <math.h>
#include <stdlib.h>

/* X (2, 3), W (depth, 3, 3), GAIN (3), COUNT (): layers move COUNT on, as dropout does. */
typedef struct fixture {
    tg_trace *t;
    tg_tensor *x, *w, *gain, *count;
    int64_t depth;
    bool reverse, offload;
    tg_remat remat;
    double shift; /* in each layer */
} fixture;

static tg_tensor *variable(const char *name, int32_t rank, const int64_t *dims)
{
    const tg_type type = tg_type_make(TG_F32, rank, dims);
    tg_tensor *v = tg_variable_new(name, &type);
    assert_non_null(v);
    return v;
}

static void set_depth(fixture *f, int64_t depth)
{
    const tg_type type = tg_type_make(TG_F32, 3, TG_DIMS(depth, 3, 3));
    tg_variable_retype(f->w, &type);
    f->depth = depth;
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->t = tg_trace_new();
    f->x = variable("x", 2, TG_DIMS(2, 3));
    f->w = variable("w", 3, TG_DIMS(3, 3, 3));
    f->gain = variable("gain", 1, TG_DIMS(3));
    f->count = variable("count", 0, NULL);
    f->depth = 3;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    tg_variable_free(f->x);
    tg_variable_free(f->w);
    tg_variable_free(f->gain);
    tg_variable_free(f->count);
    tg_trace_free(f->t);
    free(f);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void assert_sound(const fixture *f)
{
    bn_status st = {0};
    assert_ok(tg_trace_status(f->t, &st), &st);
}

/* ---- the layers ----------------------------------------------------------------------- */

/* x + count' * gain * tanh(x w + shift), and count' = count + 1. */
static tg_tensor *layer(tg_trace *t, const fixture *f, tg_tensor *x, tg_tensor *w)
{
    static const int along = 1;
    const tg_type type = *tg_tensor_type(x);
    tg_tensor *count = tg_add(t, f->count, tg_scalar(t, TG_F32, 1.0));
    tg_assign(t, f->count, count);
    tg_tensor *y = tg_add(t, tg_matmul(t, x, w), tg_scalar(t, TG_F32, f->shift));
    y = tg_mul(t, tg_tanh(t, y), tg_broadcast(t, f->gain, 2, type.dims, &along));
    return tg_add(t, x, tg_mul(t, y, count));
}

/* The loss of the last X and of all. */
static tg_tensor *loss_of(tg_trace *t, tg_tensor *last, tg_tensor *sum_of_all)
{
    return tg_add(t, tg_reduce_sum(t, tg_mul(t, last, last), 3), sum_of_all);
}

static tg_tensor *one_by_one(const fixture *f)
{
    static const int64_t ones[] = {1, 1, 1};
    tg_tensor *x = f->x, *sum = tg_scalar(f->t, TG_F32, 0.0);
    for (int64_t i = 0; i < f->depth; i++) {
        const int64_t at = f->reverse ? f->depth - 1 - i : i;
        tg_tensor *w = tg_slice(f->t, f->w, TG_DIMS(at, 0, 0), TG_DIMS(at + 1, 3, 3), ones);
        x = layer(f->t, f, x, tg_reshape(f->t, w, 2, TG_DIMS(3, 3)));
        sum = tg_add(f->t, sum, tg_reduce_sum(f->t, x, 3));
    }
    return loss_of(f->t, x, sum);
}

static void layer_body(tg_trace *inner, void *context, tg_tensor *const *carried,
                       tg_tensor *const *slices, tg_tensor **next, tg_tensor **out)
{
    const fixture *f = context;
    tg_bind(inner, f->w, slices[0]);
    tg_bind(inner, f->count, carried[1]);
    next[0] = out[0] = layer(inner, f, carried[0], f->w);
    next[1] = tg_trace_value(inner, f->count);
}

static tg_loop loop_of(fixture *f, tg_tensor **carried)
{
    carried[0] = f->x;
    carried[1] = f->count;
    return (tg_loop){.length = f->depth,
                     .reverse = f->reverse,
                     .remat = f->remat,
                     .offload = f->offload,
                     .carried = carried,
                     .stacked = &f->w,
                     .carried_count = 2,
                     .stacked_count = 1,
                     .outs = 1,
                     .body = layer_body,
                     .context = f};
}

static tg_tensor *scanned(fixture *f)
{
    tg_tensor *carried[2], *results[3];
    const tg_loop loop = loop_of(f, carried);
    tg_scan(f->t, &loop, results);
    tg_assign(f->t, f->count, results[1]);
    return loss_of(f->t, results[0], tg_reduce_sum(f->t, results[2], 7));
}

/* ---- values and gradients --------------------------------------------------------------- */

#define MOST (1 + 1 + 6 + 3 + 54)

static void fill(evaluation *e, const tg_tensor *v, double first)
{
    double contents[54];
    for (int i = 0; i < 54; i++)
        contents[i] = sin(first + i);
    evaluation_set(e, v, contents);
}

/* Loss, count, and the gradients of x, gain and w in GOT. */
static void evaluate(const fixture *f, tg_tensor *loss, double *got)
{
    tg_tensor *wrt[] = {f->x, f->gain, f->w}, *values[5];
    const double start = 0.25;
    values[0] = loss;
    values[1] = tg_trace_value(f->t, f->count);
    tg_backward(f->t, loss, wrt, 3, values + 2);
    assert_sound(f);
    evaluation *e = evaluation_new(f->t, false);
    assert_non_null(e);
    fill(e, f->x, 1);
    fill(e, f->gain, 2);
    fill(e, f->w, 3);
    evaluation_set(e, f->count, &start);
    assert_null(evaluation_run(e));
    memset(got, 0, MOST * sizeof *got);
    for (size_t i = 0; i < 5; i++) {
        const size_t count = (size_t)tg_type_elements(tg_tensor_type(values[i]));
        memcpy(got, evaluation_value(e, values[i]), count * sizeof *got);
        got += count;
    }
    evaluation_free(e);
}

static void a_loop_computes_what_its_rounds_do(void **state)
{
    static const int64_t depths[] = {1, 3, 6};
    fixture *f = *state;
    for (size_t i = 0; i < 18; i++) {
        double apart[MOST], loop[MOST];
        set_depth(f, depths[i / 2 % 3]);
        f->reverse = i % 2;
        f->remat = (tg_remat)(i / 6);
        f->offload = i % 4 > 1;
        tg_trace_begin(f->t);
        evaluate(f, one_by_one(f), apart);
        tg_trace_begin(f->t);
        evaluate(f, scanned(f), loop);
        assert_true(fabs(apart[0]) > 0.1 && fabs(apart[2]) > 1e-3 && fabs(apart[8]) > 1e-3);
        for (size_t k = 0; k < MOST; k++)
            if (!(fabs(loop[k] - apart[k]) <= 1e-12 * (1 + fabs(apart[k]))))
                fail_msg("depth %d: number %zu is %.17g, one by one %.17g", (int)f->depth, k,
                         loop[k], apart[k]);
    }
}

/* ---- text, cost, graphs --------------------------------------------------------------------- */

static const unsigned whole[TG_PHASE_COUNT] = {0};

/* A training step with the loop. */
static void step(fixture *f, bool loop)
{
    tg_tensor *wrt[] = {f->w, f->x}, *grads[2];
    tg_trace_begin(f->t);
    tg_tensor *loss = loop ? scanned(f) : one_by_one(f);
    tg_trace_phase(f->t, TG_PHASE_BACKWARD);
    tg_backward(f->t, loss, wrt, 2, grads);
    tg_trace_phase(f->t, TG_PHASE_UPDATE);
    tg_assign(f->t, f->w, tg_sub(f->t, f->w, grads[0]));
    tg_assign(f->t, f->x, tg_sub(f->t, f->x, grads[1]));
    assert_sound(f);
}

static void lower(const tg_graph *graph, bn_text *text)
{
    bn_text_clear(text);
    tg_graph_lower(graph, "step", text);
}

static size_t loops_in(const char *text)
{
    size_t count = 0;
    for (; (text = strstr(text, "\"stablehlo.while\"")); text++)
        count++;
    return count;
}

/* The loop that saves what the gradient needs takes the place of the first one. */
static void text_and_trace_do_not_grow_with_the_rounds(void **state)
{
    fixture *f = *state;
    bn_text text = {0};
    size_t nodes[2], traced[2], length[2], count;
    for (int i = 0; i < 2; i++) {
        bn_status st = {0};
        tg_graph *const *graphs;
        set_depth(f, i ? 6 : 2);
        step(f, true);
        assert_ok(tg_trace_cut(f->t, whole, NULL, &graphs, &count, &st), &st);
        assert_int_equal(count, 1);
        lower(graphs[0], &text);
        assert_int_equal(loops_in(text.data), 2);
        nodes[i] = tg_trace_node_count(f->t);
        traced[i] = tg_trace_traced(f->t);
        length[i] = text.length;
    }
    assert_int_equal(nodes[0], nodes[1]);
    assert_int_equal(traced[0], traced[1]);
    assert_int_equal(length[0], length[1]);
    assert_true(traced[0] > nodes[0] + 10);
    bn_text_free(&text);
}

static void a_loop_costs_what_its_rounds_do(void **state)
{
    fixture *f = *state;
    tg_graph_cost cost[2];
    for (int i = 0; i < 2; i++) {
        bn_status st = {0};
        tg_graph *const *graphs;
        size_t count;
        step(f, i == 1);
        assert_ok(tg_trace_cut(f->t, whole, NULL, &graphs, &count, &st), &st);
        tg_graph_measure(graphs[0], &cost[i]);
    }
    assert_true(cost[0].macs > 0);
    assert_true(cost[0].macs == cost[1].macs);
    assert_true(fabs(cost[1].flops / cost[0].flops - 1) < 0.3);
    assert_true(cost[1].nodes < cost[0].nodes);
}

/* The gradient's inputs come from the forward graph, and no graph runs the loop twice. */
static void phases_have_a_loop_each(void **state)
{
    static const unsigned three[TG_PHASE_COUNT] = {[TG_PHASE_BACKWARD] = 1, [TG_PHASE_UPDATE] = 2};
    fixture *f = *state;
    bn_status st = {0};
    bn_text text = {0};
    tg_graph *const *graphs;
    size_t count;
    step(f, true);
    assert_ok(tg_trace_cut(f->t, three, NULL, &graphs, &count, &st), &st);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++) {
        lower(graphs[i], &text);
        assert_int_equal(loops_in(text.data), i < 2 ? 1 : 0);
    }
    assert_true(graphs[0]->output_count > 1);
    bn_text_free(&text);
}

/* ---- what is saved ------------------------------------------------------------------------- */

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)); text++)
        count++;
    return count;
}

/* Values that an iteration saves, and the products and barriers of the backward one. */
typedef struct saving {
    size_t saved, products, barriers, to_host, back;
    double macs, offloaded;
} saving;

static saving saving_of(fixture *f, tg_remat remat, bool offload)
{
    bn_status st = {0};
    bn_text text = {0};
    tg_graph *const *graphs;
    tg_graph_cost cost;
    size_t count;
    f->remat = remat;
    f->offload = offload;
    step(f, true);
    assert_ok(tg_trace_cut(f->t, whole, NULL, &graphs, &count, &st), &st);
    lower(graphs[0], &text);
    tg_graph_measure(graphs[0], &cost);
    assert_int_equal(loops_in(text.data), 2);
    char *second = strstr(text.data, "\"stablehlo.while\"");
    second = strstr(second + 1, "\"stablehlo.while\"");
    saving s = {.products = count_of(second, "stablehlo.dot_general"),
                .barriers = count_of(second, "stablehlo.optimization_barrier"),
                .back = count_of(second, "_xla_buffer_placement = \"device\""),
                .macs = cost.macs,
                .offloaded = cost.offloaded};
    *second = '\0';
    assert_int_equal(count_of(text.data, "stablehlo.optimization_barrier"), 0);
    assert_int_equal(count_of(text.data, "stablehlo.dot_general"), 1);
    s.saved = count_of(text.data, "dynamic_update_slice") - 1; /* the layer fills one, too */
    s.to_host = count_of(text.data, "_xla_buffer_placement = \"pinned_host\"");
    bn_text_free(&text);
    return s;
}

/* The gradient needs x, count + 1, tanh and what it is multiplied with; one product is of the
 * forward pass, two are of the gradient. */
static void what_is_not_saved_is_made_again(void **state)
{
    fixture *f = *state;
    const saving none = saving_of(f, TG_REMAT_NONE, false);
    const saving dots = saving_of(f, TG_REMAT_DOTS, false);
    const saving layer = saving_of(f, TG_REMAT_LAYER, false);
    assert_int_equal(none.products, 2);
    assert_int_equal(none.barriers, 0);
    assert_true(none.saved > 3);
    assert_int_equal(dots.saved, 3); /* x, count, the product */
    assert_int_equal(dots.products, 2);
    assert_int_equal(dots.barriers, 1);
    assert_int_equal(layer.saved, 2);
    assert_int_equal(layer.products, 3);
    assert_int_equal(layer.barriers, 1);
    assert_true(dots.macs == none.macs);
    assert_true(layer.macs * 3 == none.macs * 4);
    assert_int_equal(none.to_host + dots.to_host + layer.to_host, 0);
    assert_int_equal(none.back + dots.back + layer.back, 0);
    assert_true(none.offloaded + dots.offloaded + layer.offloaded == 0);
}

static void what_is_saved_goes_to_the_host_and_back(void **state)
{
    fixture *f = *state;
    for (int remat = TG_REMAT_NONE; remat <= TG_REMAT_LAYER; remat++) {
        const saving stays = saving_of(f, (tg_remat)remat, false);
        const saving goes = saving_of(f, (tg_remat)remat, true);
        assert_int_equal(goes.saved, stays.saved);
        assert_int_equal(goes.to_host, goes.saved);
        assert_int_equal(goes.back, goes.saved);
        assert_int_equal(goes.barriers, stays.barriers);
        assert_true(goes.macs == stays.macs);
    }
    /* x is (2, 3), count a scalar; three iterations. */
    assert_true(saving_of(f, TG_REMAT_LAYER, true).offloaded == 3 * (6 + 1) * 4);
}

/* ---- hash ------------------------------------------------------------------------------------ */

static tg_hash hash_of(fixture *f)
{
    step(f, true);
    return tg_trace_hash(f->t);
}

static void the_hash_knows_the_rounds(void **state)
{
    fixture *f = *state;
    const tg_hash first = hash_of(f);
    assert_true(tg_hash_equal(hash_of(f), first));
    f->shift = 0.5;
    assert_false(tg_hash_equal(hash_of(f), first));
    f->shift = 0;
    f->reverse = true;
    assert_false(tg_hash_equal(hash_of(f), first));
    f->reverse = false;
    f->remat = TG_REMAT_LAYER;
    const tg_hash again = hash_of(f);
    assert_false(tg_hash_equal(again, first));
    f->offload = true;
    assert_false(tg_hash_equal(hash_of(f), again));
    assert_false(tg_hash_equal(hash_of(f), first));
    f->remat = TG_REMAT_NONE;
    f->offload = false;
    set_depth(f, 4);
    assert_false(tg_hash_equal(hash_of(f), first));
    set_depth(f, 3);
    assert_true(tg_hash_equal(hash_of(f), first));
}

/* ---- what is refused ----------------------------------------------------------------------------
 */

static void assigns_the_unbound(tg_trace *inner, void *context, tg_tensor *const *carried,
                                tg_tensor *const *slices, tg_tensor **next, tg_tensor **out)
{
    const fixture *f = context;
    layer_body(inner, context, carried, slices, next, out);
    tg_assign(inner, f->gain, tg_neg(inner, f->gain));
}

static void gives_another_type(tg_trace *inner, void *context, tg_tensor *const *carried,
                               tg_tensor *const *slices, tg_tensor **next, tg_tensor **out)
{
    layer_body(inner, context, carried, slices, next, out);
    next[1] = carried[0];
}

static void gives_nothing(tg_trace *inner, void *context, tg_tensor *const *carried,
                          tg_tensor *const *slices, tg_tensor **next, tg_tensor **out)
{
    (void)inner, (void)context, (void)slices, (void)out;
    next[0] = carried[0];
}

static void binds_twice(tg_trace *inner, void *context, tg_tensor *const *carried,
                        tg_tensor *const *slices, tg_tensor **next, tg_tensor **out)
{
    const fixture *f = context;
    layer_body(inner, context, carried, slices, next, out);
    tg_bind(inner, f->w, slices[0]);
}

static void assert_refused(fixture *f, const tg_loop *loop, const char *identifiers)
{
    tg_tensor *results[3];
    bn_status st = {0};
    tg_trace_begin(f->t);
    tg_scan(f->t, loop, results);
    assert_fails(tg_trace_status(f->t, &st), BN_INVALID, identifiers, &st);
    for (int i = 0; i < 3; i++)
        assert_int_equal(results[i]->kind, TG_KIND_POISON);
    /* Bound variables are themselves again. */
    assert_int_equal(tg_tensor_type(f->w)->rank, 3);
}

static void wrong_loops_are_refused(void **state)
{
    fixture *f = *state;
    tg_tensor *carried[2], *grad, *second;
    tg_loop loop = loop_of(f, carried);
    loop.length = 4;
    assert_refused(f, &loop, "scan:|tensor<3x3x3xf32>");
    loop.length = 0;
    assert_refused(f, &loop, "scan:|0");
    loop.length = 3;
    loop.body = assigns_the_unbound;
    assert_refused(f, &loop, "assign gain:");
    loop.body = gives_another_type;
    assert_refused(f, &loop, "scan:|tensor<f32>|tensor<2x3xf32>");
    loop.body = gives_nothing;
    assert_refused(f, &loop, "scan:|value 1");
    loop.body = binds_twice;
    assert_refused(f, &loop, "variables");

    bn_status st = {0};
    tg_trace_begin(f->t);
    tg_backward(f->t, scanned(f), &f->w, 1, &grad);
    assert_sound(f);
    tg_backward(f->t, tg_reduce_sum(f->t, tg_mul(f->t, grad, grad), 7), &f->x, 1, &second);
    assert_fails(tg_trace_status(f->t, &st), BN_NOT_SUPPORTED, "backward:|loop", &st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_loop_computes_what_its_rounds_do), TEST(text_and_trace_do_not_grow_with_the_rounds),
        TEST(a_loop_costs_what_its_rounds_do),    TEST(phases_have_a_loop_each),
        TEST(what_is_not_saved_is_made_again),    TEST(what_is_saved_goes_to_the_host_and_back),
        TEST(the_hash_knows_the_rounds),          TEST(wrong_loops_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
