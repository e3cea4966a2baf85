/*
 * test_modes.c - eager, lazy and capture on the default runtime: the same values, the same
 * errors.
 */
#include "tests/modes/fit_fixture.h"

static void lazy_compiles_once_and_follows_the_reference(void **state)
{
    (void)state;
    mode *m = mode_new("lazy", &(mode_options){0});
    fit f = fit_new(m);
    run_steps(m, &f, 4);
    const int64_t *c = mode_counters(m);
    assert_int_equal(f.calls, 4);
    assert_int_equal(c[BN_COUNTER_COMPILES], 1);
    assert_int_equal(c[BN_COUNTER_CACHE_HITS], 3);
    assert_int_equal(c[BN_COUNTER_EXECUTIONS], 4);
    assert_true(c[BN_COUNTER_NODES_TRACED] > 4 * 10);
    assert_float_equal(fit_outcome(m, &f).loss, reference_loss(4, 0.01), 1e-4);

    /* Another learning rate is another input, not another program. */
    fit_write(m, f.rate, 0.02, 0);
    run_steps(m, &f, 1);
    assert_int_equal(c[BN_COUNTER_COMPILES], 1);
    fit_free(m, &f);
    mode_destroy(m);
}

static void lazy_and_capture_agree_bit_for_bit(void **state)
{
    (void)state;
    mode *lazy = mode_new("lazy", &(mode_options){0});
    mode *capture = mode_new("capture", &(mode_options){0});
    fit a = fit_new(lazy), b = fit_new(capture);
    for (int i = 0; i < 3; i++) {
        run_steps(lazy, &a, 1);
        run_steps(capture, &b, 1);
        outcome x = fit_outcome(lazy, &a), y = fit_outcome(capture, &b);
        assert_memory_equal(&x, &y, sizeof x);
    }
    assert_int_equal(a.calls, 3);
    assert_int_equal(b.calls, 1);
    size_t la, lb;
    const char *ta = mode_execution_text(lazy, 0, &la), *tb = mode_execution_text(capture, 0, &lb);
    assert_true(la > 0);
    assert_int_equal(la, lb);
    assert_memory_equal(ta, tb, la);
    assert_non_null(strstr(ta, "tf.aliasing_output"));
    fit_free(lazy, &a);
    fit_free(capture, &b);
    mode_destroy(lazy);
    mode_destroy(capture);
}

static void eager_runs_every_op(void **state)
{
    (void)state;
    int64_t one, many;
    outcome lazy = run_three("lazy", &(mode_options){0}, &one);
    outcome eager = run_three("eager", &(mode_options){0}, &many);
    assert_true(many > 10 * one);
    for (int k = 0; k < N; k++)
        assert_float_equal(lazy.w[k], eager.w[k], 1e-5);
}

static void in_flight_steps_give_the_same_values(void **state)
{
    (void)state;
    int64_t executions;
    static const char *const names[] = {"eager", "lazy", "capture"};
    for (size_t i = 0; i < 3; i++) {
        outcome serial = run_three(names[i], &(mode_options){0}, &executions);
        outcome queued = run_three(names[i], &(mode_options){.in_flight = 3}, &executions);
        assert_memory_equal(&serial, &queued, sizeof serial);
    }
}

static void awaited_executions_give_the_same_values(void **state)
{
    (void)state;
    int64_t one, other;
    static const struct {
        const char *name;
        unsigned graphs;
    } ways[] = {{"eager", 1}, {"lazy", 1}, {"capture", 1}, {"capture", 3}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        outcome queued = run_three(ways[i].name, &(mode_options){.graphs = ways[i].graphs}, &one);
        outcome awaited = run_three(
            ways[i].name, &(mode_options){.graphs = ways[i].graphs, .awaited = true}, &other);
        assert_memory_equal(&queued, &awaited, sizeof queued);
        assert_int_equal(one, other);
    }
}

static void errors_are_reported_and_leave_the_state(void **state)
{
    (void)state;
    static const char *const names[] = {"eager", "lazy", "capture"};
    bn_status st = {0};
    for (size_t i = 0; i < 3; i++) {
        mode *m = mode_new(names[i], &(mode_options){0});
        tg_tensor *v = vector_named("empty", 2);
        mode_call call = {add_step, v, NULL, 0, NULL};
        assert_fails(mode_step(m, &call, NULL, &st), BN_INVALID, "empty", &st);
        const float one[2] = {1, 1};
        float got[2];
        assert_ok(mode_write(m, v, one, &st), &st);
        assert_ok(mode_step(m, &call, NULL, &st), &st);
        assert_ok(mode_read(m, v, got, sizeof got, &st), &st);
        assert_float_equal(got[1], 2, 0);
        mode_clear(m, v);
        tg_variable_free(v);
        mode_destroy(m);
    }
    mode *none;
    assert_fails(mode_create("fast", client, &(mode_options){0}, &none, &st), BN_NOT_FOUND, "fast",
                 &st);
    assert_fails(mode_create("lazy", client, &(mode_options){.graphs = 2}, &none, &st), BN_INVALID,
                 "capture", &st);
    assert_fails(mode_create("capture", client, &(mode_options){.graphs = 4}, &none, &st),
                 BN_INVALID, "1|2|3|5|4", &st);
}

/* ---- values that go to two places ---------------------------------------------------- */

static tg_tensor *pair[2];

static void share_step(tg_trace *t, void *context)
{
    tg_tensor *sum = tg_add(t, pair[0], pair[1]);
    (void)context;
    tg_assign(t, pair[0], sum);
    tg_assign(t, pair[1], sum);
}

static void swap_step(tg_trace *t, void *context)
{
    (void)context;
    tg_tensor *kept = tg_trace_value(t, pair[0]);
    if (!kept)
        kept = tg_add(t, pair[0], tg_scalar(t, TG_F32, 0.0));
    tg_assign(t, pair[0], pair[1]);
    tg_assign(t, pair[1], kept);
}

static void one_value_can_fill_two_variables(void **state)
{
    (void)state;
    static const char *const names[] = {"eager", "lazy", "capture"};
    bn_status st = {0};
    for (size_t i = 0; i < 3; i++) {
        mode *m = mode_new(names[i], &(mode_options){0});
        const float two = 2, three = 3;
        float a, b;
        pair[0] = vector_named("a", 0);
        pair[1] = vector_named("b", 0);
        assert_ok(mode_write(m, pair[0], &two, &st), &st);
        assert_ok(mode_write(m, pair[1], &three, &st), &st);
        for (int s = 0; s < 2; s++)
            assert_ok(mode_step(m, &(mode_call){.function = share_step}, NULL, &st), &st);
        assert_ok(mode_read(m, pair[0], &a, sizeof a, &st), &st);
        assert_ok(mode_read(m, pair[1], &b, sizeof b, &st), &st);
        assert_float_equal(a, 10, 0);
        assert_float_equal(b, 10, 0);
        assert_ok(mode_write(m, pair[0], &two, &st), &st);
        for (int s = 0; s < 3; s++)
            assert_ok(mode_step(m, &(mode_call){.function = swap_step}, NULL, &st), &st);
        assert_ok(mode_read(m, pair[0], &a, sizeof a, &st), &st);
        assert_ok(mode_read(m, pair[1], &b, sizeof b, &st), &st);
        assert_float_equal(a, 10, 0);
        assert_float_equal(b, 2, 0);
        for (int k = 0; k < 2; k++) {
            mode_clear(m, pair[k]);
            tg_variable_free(pair[k]);
        }
        mode_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lazy_compiles_once_and_follows_the_reference),
        cmocka_unit_test(lazy_and_capture_agree_bit_for_bit),
        cmocka_unit_test(eager_runs_every_op),
        cmocka_unit_test(in_flight_steps_give_the_same_values),
        cmocka_unit_test(awaited_executions_give_the_same_values),
        cmocka_unit_test(errors_are_reported_and_leave_the_state),
        cmocka_unit_test(one_value_can_fill_two_variables),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
