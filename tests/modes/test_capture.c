/*
 * test_capture.c - capture: cut into graphs, guards, graph breaks.
 */
#include "tests/modes/fit_fixture.h"

static void capture_cuts_a_step_into_graphs(void **state)
{
    (void)state;
    int64_t executions;
    outcome whole = run_three("capture", &(mode_options){.graphs = 1}, &executions);
    assert_int_equal(executions, 3);
    static const struct {
        unsigned graphs;
        int64_t executions;
    } cuts[] = {{2, 6}, {3, 9}, {5, 12}}; /* nothing is in phase statistics */
    for (size_t i = 0; i < 3; i++) {
        outcome o = run_three("capture", &(mode_options){.graphs = cuts[i].graphs}, &executions);
        assert_int_equal(executions, cuts[i].executions);
        assert_float_equal(o.loss, whole.loss, 1e-5);
        for (int k = 0; k < N; k++)
            assert_float_equal(o.w[k], whole.w[k], 1e-5);
    }
}

static void guards_notice_statics_and_shapes(void **state)
{
    (void)state;
    mode *m = mode_new("capture", &(mode_options){0});
    fit f = fit_new(m);
    bn_status st = {0};
    const int64_t *c = mode_counters(m);
    int variant = 1;
    mode_call call = {fit_step, &f, &variant, sizeof variant, NULL};
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_int_equal(c[BN_COUNTER_GUARD_MISSES], 0);
    variant = 2;
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_int_equal(c[BN_COUNTER_GUARD_MISSES], 1);
    assert_int_equal(c[BN_COUNTER_COMPILES], 1); /* same program, found by hash */
    variant = 1;
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_int_equal(c[BN_COUNTER_GUARD_MISSES], 1); /* the first capture still stands */
    assert_int_equal(f.calls, 2);

    tg_tensor *all[] = {f.w, f.momentum, f.input, f.target};
    tg_type shorter = tg_type_make(TG_F32, 1, TG_DIMS(8));
    for (size_t i = 0; i < 4; i++) {
        mode_clear(m, all[i]);
        tg_variable_retype(all[i], &shorter);
        fit_write(m, all[i], 0.1, 0.1);
    }
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_int_equal(c[BN_COUNTER_GUARD_MISSES], 2);
    assert_int_equal(c[BN_COUNTER_COMPILES], 2);
    assert_int_equal(f.calls, 3);
    fit_free(m, &f);
    mode_destroy(m);
}

/* Losses of SIX steps of a function that branches on its loss. */
static void run_branching(const char *name, float losses[6], int64_t counters[3], int *calls)
{
    mode *m = mode_new(name, &(mode_options){0});
    fit f = fit_new(m);
    bn_status st = {0};
    f.branch = true;
    f.threshold = reference_loss(1, 0.01) * 0.9; /* passed in the third step */
    for (int i = 0; i < 6; i++) {
        if (i == 3) { /* back to the start: values seen before */
            fit_write(m, f.w, 0.5, 0.01);
            fit_write(m, f.momentum, 0, 0);
        }
        run_steps(m, &f, 1);
        losses[i] = fit_outcome(m, &f).loss;
    }
    assert_ok(mode_drain(m, &st), &st);
    counters[0] = mode_counters(m)[BN_COUNTER_GRAPH_BREAKS];
    counters[1] = mode_counters(m)[BN_COUNTER_GUARD_MISSES];
    counters[2] = mode_counters(m)[BN_COUNTER_COMPILES];
    *calls = f.calls;
    fit_free(m, &f);
    mode_destroy(m);
}

static void graph_breaks_follow_the_value_read(void **state)
{
    (void)state;
    float eager[6], lazy[6], capture[6];
    int64_t c[3];
    int calls;
    run_branching("eager", eager, c, &calls);
    assert_int_equal(calls, 6);
    run_branching("lazy", lazy, c, &calls);
    assert_int_equal(c[0], 6);
    assert_int_equal(calls, 6);
    assert_true(c[2] >= 3); /* up to the read, and two endings */
    run_branching("capture", capture, c, &calls);
    assert_int_equal(calls, 3); /* one for each loss seen; the second three are replays */
    assert_int_equal(c[1], 2);
    for (int i = 0; i < 6; i++) {
        assert_float_equal(lazy[i], eager[i], 1e-4);
        assert_float_equal(capture[i], lazy[i], 1e-4);
    }
    assert_float_equal(capture[0], capture[3], 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capture_cuts_a_step_into_graphs),
        cmocka_unit_test(guards_notice_statics_and_shapes),
        cmocka_unit_test(graph_breaks_follow_the_value_read),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
