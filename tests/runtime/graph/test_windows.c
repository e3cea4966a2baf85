/*
 * test_windows.c - a trace as windows: where they end, what passes between them, what they donate.
 * Needs no plugin.
 */
#include "runtime/graph/trace_priv.h"
#include "tests/support/test_runtime.h"

#include <stdlib.h>

#define LAYERS 6
#define WIDE   64

typedef struct fixture {
    tg_trace *t;
    tg_tensor *x, *w[LAYERS], *momentum[LAYERS], *loss;
} fixture;

static tg_tensor *variable(const char *name, int32_t rank)
{
    const tg_type type = tg_type_make(TG_F32, rank, TG_DIMS(WIDE, WIDE));
    return tg_variable_new(name, &type);
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->t = tg_trace_new();
    f->x = variable("x", 2);
    f->loss = variable("loss", 0);
    for (int i = 0; i < LAYERS; i++) {
        f->w[i] = variable("w", 2);
        f->momentum[i] = variable("momentum", 2);
    }
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    tg_variable_free(f->x);
    tg_variable_free(f->loss);
    for (int i = 0; i < LAYERS; i++) {
        tg_variable_free(f->w[i]);
        tg_variable_free(f->momentum[i]);
    }
    tg_trace_free(f->t);
    free(f);
    return 0;
}

/* GELU by tanh: seven values of the size of X, all of which its gradient uses. */
static tg_tensor *gelu(tg_trace *t, tg_tensor *x)
{
    tg_tensor *cube = tg_mul(t, tg_mul(t, x, x), x);
    tg_tensor *inner = tg_add(t, x, tg_mul(t, cube, tg_scalar(t, TG_F32, 0.044715)));
    tg_tensor *bent = tg_tanh(t, tg_mul(t, inner, tg_scalar(t, TG_F32, 0.79788)));
    tg_tensor *half = tg_mul(t, x, tg_scalar(t, TG_F32, 0.5));
    return tg_mul(t, half, tg_add(t, bent, tg_scalar(t, TG_F32, 1.0)));
}

/* Layers of a product and GELU, their gradients, momentum. */
static void trace_step(fixture *f)
{
    tg_trace *t = f->t;
    tg_tensor *y = f->x, *grads[LAYERS];
    tg_trace_begin(t);
    for (int i = 0; i < LAYERS; i++)
        y = gelu(t, tg_matmul(t, y, f->w[i]));
    tg_tensor *loss = tg_reduce_sum(t, tg_mul(t, y, y), 3u);
    tg_assign(t, f->loss, loss);
    tg_backward(t, loss, f->w, LAYERS, grads);
    for (int i = 0; i < LAYERS; i++) {
        tg_tensor *b = tg_add(t, tg_mul(t, f->momentum[i], tg_scalar(t, TG_F32, 0.9)), grads[i]);
        tg_assign(t, f->momentum[i], b);
        tg_assign(t, f->w[i], tg_sub(t, f->w[i], tg_mul(t, b, tg_scalar(t, TG_F32, 0.1))));
    }
}

static bool has(tg_tensor *const *list, size_t count, const tg_tensor *value)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == value)
            return true;
    return false;
}

/* Each input is a variable's contents or an earlier window's output, and each value is put out once. */
static void assert_flow(fixture *f, const tg_windows *w)
{
    tg_tensor *made[512];
    size_t count = 0;
    for (size_t i = 0; i < tg_windows_count(w); i++) {
        const tg_graph *g = tg_windows_graph(f->t, w, i);
        assert_non_null(g);
        for (size_t k = 0; k < g->input_count; k++)
            assert_true(tg_input_variable(g->inputs[k]) || has(made, count, g->inputs[k]));
        for (size_t k = 0; k < g->output_count; k++) {
            assert_false(has(made, count, g->outputs[k]));
            made[count++] = g->outputs[k];
        }
    }
    for (size_t i = 0; i < tg_trace_assigned_count(f->t); i++) {
        tg_tensor *value;
        (void)tg_trace_assigned(f->t, i, &value);
        assert_true(has(made, count, value));
    }
}

static void windows_follow_each_other_and_cover_the_trace(void **state)
{
    fixture *f = *state;
    trace_step(f);
    const size_t nodes = tg_trace_node_count(f->t);
    for (size_t size = 1; size < nodes + 10; size += 7) {
        tg_windows *w = tg_windows_new(f->t, size, NULL, 0);
        size_t end = 0;
        for (size_t i = 0; i < tg_windows_count(w); i++) {
            const tg_window_info *info = tg_windows_at(w, i);
            assert_int_equal(info->first_node, end);
            assert_true(info->end_node > end);
            assert_true(!info->early || tg_node_has_op(tg_trace_node(f->t, info->end_node - 1)));
            assert_int_equal(info->early, i + 1 < tg_windows_count(w));
            end = info->end_node;
        }
        assert_int_equal(end, nodes);
        assert_true(tg_windows_fit(w, f->t));
        assert_flow(f, w);
        tg_windows_free(w);
    }
}

static void the_last_window_donates_all(void **state)
{
    fixture *f = *state;
    trace_step(f);
    tg_windows *w = tg_windows_new(f->t, 20, NULL, 0);
    const size_t count = tg_windows_count(w);
    assert_true(count > 2);
    for (size_t i = 0; i < count; i++) {
        const tg_graph *g = tg_windows_graph(f->t, w, i);
        size_t donated = 0;
        for (size_t o = 0; o < g->output_count; o++) {
            donated += g->donor[o] >= 0;
            assert_true(g->donor[o] < 0 ||
                        tg_input_variable(g->inputs[g->donor[o]]) == g->target[o]);
        }
        assert_int_equal(donated, i + 1 < count ? 0 : 2 * LAYERS);
    }
    tg_windows_free(w);
}

/* Of each GELU behind the border one value is kept, and not seven. */
static void what_fuses_is_made_anew(void **state)
{
    fixture *f = *state;
    const int64_t matrix = WIDE * WIDE * (int64_t)sizeof(float);
    trace_step(f);
    tg_windows *w = tg_windows_new(f->t, 45, NULL, 0);
    const tg_graph *first = tg_windows_graph(f->t, w, 0);
    size_t products = 0;
    for (size_t n = 0; n < first->end_node; n++) {
        const tg_node *node = tg_trace_node(f->t, n);
        products += tg_node_has_op(node) && strcmp(tg_node_op_name(node), "dot") == 0;
    }
    assert_true(products >= 2);
    assert_true(tg_windows_at(w, 0)->crossing_bytes <= (int64_t)products * matrix);
    tg_windows_free(w);
}

static void a_stop_ends_a_window_and_its_value_is_put_out(void **state)
{
    fixture *f = *state;
    trace_step(f);
    const size_t nodes = tg_trace_node_count(f->t);
    for (size_t at = 20; at < nodes; at += 13) {
        tg_node *node = tg_trace_node(f->t, at - 1);
        if (!tg_node_has_op(node))
            continue;
        const tg_stop stop = {at, tg_node_result(node, 0)};
        for (size_t size = 0; size < 40; size += 13) {
            tg_windows *w = tg_windows_new(f->t, size, &stop, 1);
            bool found = false;
            for (size_t i = 0; i < tg_windows_count(w); i++) {
                const tg_window_info *info = tg_windows_at(w, i);
                const tg_graph *g = tg_windows_graph(f->t, w, i);
                if (!info->stops)
                    continue;
                found = true;
                assert_int_equal(info->end_node, at);
                assert_true(info->early);
                assert_true(has(g->outputs, g->output_count, stop.value));
            }
            assert_true(found);
            assert_flow(f, w);
            tg_windows_free(w);
        }
    }
}

static void a_plan_holds_for_the_same_trace_only(void **state)
{
    fixture *f = *state;
    trace_step(f);
    const tg_hash hash = tg_trace_hash(f->t);
    tg_windows *w = tg_windows_new(f->t, 20, NULL, 0);
    trace_step(f);
    assert_true(tg_hash_equal(hash, tg_trace_hash(f->t)));
    assert_true(tg_windows_fit(w, f->t));
    tg_assign(f->t, f->x, tg_trace_value(f->t, f->w[0]));
    assert_false(tg_windows_fit(w, f->t));
    tg_trace_begin(f->t);
    assert_null(tg_windows_graph(f->t, w, 0));
    tg_windows_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(windows_follow_each_other_and_cover_the_trace, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_last_window_donates_all, setup, teardown),
        cmocka_unit_test_setup_teardown(what_fuses_is_made_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stop_ends_a_window_and_its_value_is_put_out, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_plan_holds_for_the_same_trace_only, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
