/*
 * test_fused.c - windows of a lazy trace: the same values as in lazy mode whatever the step does in
 * their middle, and no execution or compilation more than the windows.
 */
#include "tests/modes/fit_fixture.h"

#include "runtime/graph/graph.h"

#define WINDOW 4

static mode *fused_new(size_t window)
{
    return mode_new("fused", &(mode_options){.window = window});
}

static int64_t counter(const mode *m, bn_counter which)
{
    return mode_counters(m)[which];
}

/* One step; the number of executions of it. */
static int64_t executions_of_step(mode *m, mode_function *function, void *context)
{
    bn_status st = {0};
    const int64_t before = counter(m, BN_COUNTER_EXECUTIONS);
    assert_ok(mode_step(m, &(mode_call){.function = function, .context = context}, NULL, &st), &st);
    assert_ok(mode_drain(m, &st), &st);
    return counter(m, BN_COUNTER_EXECUTIONS) - before;
}

/* ---- a steady step ------------------------------------------------------------------- */

static void two_steps_teach_and_the_third_runs_windows(void **state)
{
    (void)state;
    mode *lazy = mode_new("lazy", &(mode_options){0}), *m = fused_new(WINDOW);
    fit a = fit_new(lazy), b = fit_new(m);
    int64_t executions[6];
    for (int i = 0; i < 6; i++) {
        run_steps(lazy, &a, 1);
        executions[i] = executions_of_step(m, fit_step, &b);
        const outcome x = fit_outcome(lazy, &a), y = fit_outcome(m, &b);
        for (int k = 0; k < N; k++)
            assert_float_equal(x.w[k], y.w[k], 1e-6);
        assert_float_equal(x.loss, y.loss, 1e-4 * x.loss);
    }
    assert_int_equal(executions[0], 1);
    assert_int_equal(executions[1], 1);
    assert_true(executions[2] > 1);
    assert_int_equal(executions[3], executions[2]);
    assert_int_equal(executions[5], executions[2]);
    assert_int_equal(counter(m, BN_COUNTER_COMPILES), 1 + executions[2]);
    assert_int_equal(counter(m, BN_COUNTER_GRAPH_BREAKS), 0);
    assert_int_equal(b.calls, 6); /* each step is traced */
    fit_free(lazy, &a);
    fit_free(m, &b);
    mode_destroy(lazy);
    mode_destroy(m);
}

static const char *text_of(mode *m, const char *label)
{
    size_t length;
    for (size_t i = 0; i < mode_execution_count(m); i++)
        if (strcmp(mode_execution_at(m, i)->label, label) == 0)
            return mode_execution_text(m, i, &length);
    return NULL;
}

/* Momentum and weights get new contents in the last window, and the loss before. */
static void only_the_last_window_donates(void **state)
{
    (void)state;
    mode *m = fused_new(WINDOW);
    fit f = fit_new(m);
    run_steps(m, &f, 3);
    size_t last = 0, donated[16] = {0};
    for (size_t w = 0; w < 16; w++) {
        char label[32];
        snprintf(label, sizeof label, "window %zu", w + 1);
        const char *text = text_of(m, label); /* NULL also of one that makes nothing */
        last = text ? w : last;
        while (text && (text = strstr(text, "tf.aliasing_output"))) {
            donated[w]++;
            text++;
        }
    }
    assert_true(last > 0);
    for (size_t w = 0; w < 16; w++)
        assert_int_equal(donated[w], w == last ? 2 : 0);
    fit_free(m, &f);
    mode_destroy(m);
}

static void a_window_of_the_whole_step_is_lazy(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1000};
    for (size_t i = 0; i < 2; i++) {
        mode *m = fused_new(sizes[i]);
        fit f = fit_new(m);
        run_steps(m, &f, 5);
        assert_int_equal(counter(m, BN_COUNTER_EXECUTIONS), 5);
        assert_int_equal(counter(m, BN_COUNTER_COMPILES), 1);
        fit_free(m, &f);
        mode_destroy(m);
    }
}

static void any_window_gives_the_same_values(void **state)
{
    (void)state;
    for (size_t window = 1; window < 24; window = 2 * window + 1)
        for (int flight = 0; flight < 2; flight++) {
            const mode_options options = {.window = window, .in_flight = flight ? 3 : 1};
            mode *m = mode_new("fused", &options);
            fit f = fit_new(m);
            run_steps(m, &f, 7);
            assert_float_equal(fit_outcome(m, &f).loss, reference_loss(7, 0.01), 1e-4);
            fit_free(m, &f);
            mode_destroy(m);
        }
}

static void awaited_windows_give_the_same_values(void **state)
{
    (void)state;
    mode *m = mode_new("fused", &(mode_options){.window = WINDOW, .awaited = true});
    fit f = fit_new(m);
    run_steps(m, &f, 7);
    assert_float_equal(fit_outcome(m, &f).loss, reference_loss(7, 0.01), 1e-4);
    fit_free(m, &f);
    mode_destroy(m);
}

static void a_probe_runs_each_window(void **state)
{
    (void)state;
    mode *m = fused_new(WINDOW);
    fit f = fit_new(m);
    bn_status st = {0};
    run_steps(m, &f, 4);
    assert_ok(mode_step_probe(m, &(mode_call){.function = fit_step, .context = &f}, 3,
                              MODE_PROBE_QUEUED, &st),
              &st);
    size_t probed = 0;
    for (size_t i = 0; i < mode_execution_count(m); i++)
        probed += mode_execution_at(m, i)->pjrt_ns > 0;
    assert_int_equal(probed, executions_of_step(m, fit_step, &f));
    fit_free(m, &f);
    mode_destroy(m);
}

/* ---- steps that change ------------------------------------------------------------------ */

typedef struct changing {
    tg_tensor *x, *y, *z;
    int middle, end; /* ops in the middle, at the end */
    bool late_use;   /* the old contents of X are used at the end */
} changing;

/* Many small ops: x, y and z get new contents, which depend on how many there are. */
static void changing_step(tg_trace *t, void *context)
{
    const changing *c = context;
    tg_tensor *one = tg_scalar(t, TG_F32, 1.0);
    tg_tensor *old = tg_mul(t, c->x, tg_scalar(t, TG_F32, 1.0)), *sum = old;
    for (int i = 0; i < 6; i++)
        sum = tg_add(t, tg_mul(t, sum, tg_scalar(t, TG_F32, 0.5)), tg_reduce_max(t, sum, 1u));
    tg_tensor *kept = tg_sin(t, sum);
    tg_assign(t, c->x, tg_add(t, sum, one));
    for (int i = 0; i < c->middle; i++)
        sum = tg_add(t, tg_sub(t, sum, tg_reduce_max(t, sum, 1u)), c->y);
    tg_assign(t, c->y, sum);
    for (int i = 0; i < c->end; i++)
        sum = tg_sub(t, sum, one);
    if (c->late_use)
        sum = tg_add(t, tg_add(t, sum, old), kept);
    tg_assign(t, c->z, tg_mul(t, sum, tg_cos(t, c->z)));
}

static changing changing_new(mode *m)
{
    changing c = {.x = vector_named("x", N), .y = vector_named("y", N), .z = vector_named("z", N)};
    fit_write(m, c.x, 0.5, 0.01);
    fit_write(m, c.y, 0.25, -0.01);
    fit_write(m, c.z, 0.125, 0.02);
    return c;
}

static void changing_free(mode *m, changing *c)
{
    tg_tensor *all[] = {c->x, c->y, c->z};
    for (size_t i = 0; i < 3; i++) {
        mode_clear(m, all[i]);
        tg_variable_free(all[i]);
    }
}

static void assert_same(mode *a, tg_tensor *x, mode *b, tg_tensor *y)
{
    float left[N], right[N];
    bn_status st = {0};
    assert_ok(mode_read(a, x, left, sizeof left, &st), &st);
    assert_ok(mode_read(b, y, right, sizeof right, &st), &st);
    for (int k = 0; k < N; k++)
        assert_float_equal(left[k], right[k], 1e-5);
}

/* Runs steps by SCHEDULE, "middle end late" for each, in lazy and fused mode. */
static void follow(const int schedule[][3], size_t count, size_t window)
{
    mode *lazy = mode_new("lazy", &(mode_options){0}), *m = fused_new(window);
    changing a = changing_new(lazy), b = changing_new(m);
    for (size_t i = 0; i < count; i++) {
        a.middle = b.middle = schedule[i][0];
        a.end = b.end = schedule[i][1];
        a.late_use = b.late_use = schedule[i][2];
        executions_of_step(lazy, changing_step, &a);
        executions_of_step(m, changing_step, &b);
        assert_same(lazy, a.x, m, b.x);
        assert_same(lazy, a.y, m, b.y);
        assert_same(lazy, a.z, m, b.z);
    }
    changing_free(lazy, &a);
    changing_free(m, &b);
    mode_destroy(lazy);
    mode_destroy(m);
}

static void a_trace_that_changes_falls_back_and_learns(void **state)
{
    (void)state;
    static const int late[][3] = {{3, 8, 0}, {3, 8, 0}, {3, 8, 0}, {3, 8, 0}, {3, 8, 1}, {3, 8, 1},
                                  {3, 8, 1}, {3, 8, 0}, {3, 8, 1}, {3, 8, 0}, {3, 8, 0}, {3, 8, 0}};
    static const int middle[][3] = {{3, 8, 0}, {3, 8, 0}, {3, 8, 0}, {5, 8, 0}, {3, 8, 0}, {5, 8, 0},
                                    {5, 8, 0}, {5, 8, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {9, 9, 1}};
    for (size_t window = 1; window < 14; window += 4) {
        follow(late, sizeof late / sizeof *late, window);
        follow(middle, sizeof middle / sizeof *middle, window);
    }
}

static void each_step_another_trace_is_lazy(void **state)
{
    (void)state;
    mode *m = fused_new(WINDOW);
    changing c = changing_new(m);
    for (int i = 0; i < 6; i++) {
        c.middle = i;
        assert_int_equal(executions_of_step(m, changing_step, &c), 1);
    }
    assert_int_equal(counter(m, BN_COUNTER_COMPILES), 6);
    changing_free(m, &c);
    mode_destroy(m);
}

/* Shapes that come in turns keep their plans. */
static void a_trace_that_comes_back_is_known(void **state)
{
    (void)state;
    mode *m = fused_new(WINDOW);
    changing c = changing_new(m);
    c.end = 6;
    for (int i = 0; i < 3; i++) {
        c.middle = i % 2 ? 5 : 0;
        for (int k = 0; k < 3; k++)
            executions_of_step(m, changing_step, &c);
    }
    const int64_t compiles = counter(m, BN_COUNTER_COMPILES);
    for (int i = 0; i < 3; i++) {
        c.middle = i % 2 ? 5 : 0;
        executions_of_step(m, changing_step, &c);
        assert_true(executions_of_step(m, changing_step, &c) > 1);
    }
    assert_true(counter(m, BN_COUNTER_COMPILES) <= compiles + 2);
    changing_free(m, &c);
    mode_destroy(m);
}

/* ---- reads and ops of the host ------------------------------------------------------------ */

static void a_read_in_a_window_gives_what_lazy_gives(void **state)
{
    (void)state;
    for (size_t window = 1; window < 12; window += 3) {
        mode *lazy = mode_new("lazy", &(mode_options){0}), *m = fused_new(window);
        fit a = fit_new(lazy), b = fit_new(m);
        a.branch = b.branch = true;
        /* The branch changes on the way. */
        a.threshold = b.threshold = 0.5 * (reference_loss(5, 0.01) + reference_loss(6, 0.01));
        for (int i = 0; i < 10; i++) {
            run_steps(lazy, &a, 1);
            run_steps(m, &b, 1);
            assert_same(lazy, a.w, m, b.w);
        }
        assert_int_equal(counter(m, BN_COUNTER_GRAPH_BREAKS), 10);
        fit_free(lazy, &a);
        fit_free(m, &b);
        mode_destroy(lazy);
        mode_destroy(m);
    }
}

typedef struct hosted {
    tg_tensor *x, *found, *sum;
} hosted;

static void hosted_step(tg_trace *t, void *context)
{
    const hosted *h = context;
    tg_tensor *zero = tg_full(t, tg_tensor_type(h->x), 0.0);
    tg_tensor *y = tg_add(t, h->x, tg_scalar(t, TG_F32, 0.0625));
    for (int i = 0; i < 4; i++)
        y = tg_mul(t, y, tg_scalar(t, TG_F32, -0.75));
    tg_tensor *positions = tg_nonzero(t, tg_convert(t, tg_compare(t, y, zero, TG_GT), TG_F32), 8);
    tg_assign(t, h->found, positions);
    tg_tensor *count = tg_convert(t, positions, TG_F32);
    for (int i = 0; i < 4; i++)
        count = tg_add(t, count, count);
    tg_assign(t, h->sum, tg_add(t, h->sum, tg_reduce_sum(t, count, 1u)));
    tg_assign(t, h->x, tg_sub(t, y, tg_scalar(t, TG_F32, 0.125)));
}

static void an_op_of_the_host_in_a_window_gives_what_lazy_gives(void **state)
{
    (void)state;
    bn_status st = {0};
    for (size_t window = 0; window < 9; window += 2) {
        mode *m[2] = {mode_new("lazy", &(mode_options){0}), fused_new(window)};
        float sum[2][6];
        for (int k = 0; k < 2; k++) {
            const tg_type type = tg_type_make(TG_I32, 1, TG_DIMS(8));
            const int32_t nothing[8] = {0};
            hosted h = {vector_named("x", N), tg_variable_new("found", &type), vector_named("sum", 0)};
            fit_write(m[k], h.x, -0.5, 0.02);
            fit_write(m[k], h.sum, 0, 0);
            assert_ok(mode_write(m[k], h.found, nothing, &st), &st);
            for (int s = 0; s < 6; s++) {
                executions_of_step(m[k], hosted_step, &h);
                assert_ok(mode_read(m[k], h.sum, &sum[k][s], sizeof(float), &st), &st);
            }
            assert_int_equal(counter(m[k], BN_COUNTER_HOST_FALLBACKS), 6);
            mode_clear(m[k], h.x);
            mode_clear(m[k], h.found);
            mode_clear(m[k], h.sum);
            tg_variable_free(h.x);
            tg_variable_free(h.found);
            tg_variable_free(h.sum);
        }
        for (int s = 0; s < 6; s++)
            assert_float_equal(sum[0][s], sum[1][s], 1e-4);
        mode_destroy(m[0]);
        mode_destroy(m[1]);
    }
}

/* ---- values that go to two places ----------------------------------------------------------- */

static tg_tensor *pair[2];

static void share_step(tg_trace *t, void *context)
{
    tg_tensor *sum = tg_add(t, pair[0], pair[1]);
    (void)context;
    tg_assign(t, pair[0], sum);
    tg_tensor *more = tg_add(t, sum, tg_scalar(t, TG_F32, 0.0));
    for (int i = 0; i < 5; i++)
        more = tg_mul(t, more, tg_scalar(t, TG_F32, 1.0));
    tg_assign(t, pair[1], sum);
}

static void swap_step(tg_trace *t, void *context)
{
    (void)context;
    tg_tensor *sum = tg_add(t, pair[0], pair[1]), *difference = tg_sub(t, pair[0], pair[1]);
    for (int i = 0; i < 5; i++)
        sum = tg_mul(t, sum, tg_scalar(t, TG_F32, 1.0));
    tg_tensor *kept = tg_mul(t, tg_add(t, sum, difference), tg_scalar(t, TG_F32, 0.5));
    tg_assign(t, pair[0], pair[1]); /* the contents of another variable */
    tg_assign(t, pair[1], kept);
}

static void values_can_fill_two_variables_and_go_round(void **state)
{
    (void)state;
    bn_status st = {0};
    for (size_t window = 1; window < 9; window += 3) {
        mode *m = fused_new(window);
        const float two = 2, three = 3;
        float a, b;
        pair[0] = vector_named("a", 0);
        pair[1] = vector_named("b", 0);
        assert_ok(mode_write(m, pair[0], &two, &st), &st);
        assert_ok(mode_write(m, pair[1], &three, &st), &st);
        for (int s = 0; s < 5; s++)
            executions_of_step(m, share_step, NULL);
        assert_ok(mode_read(m, pair[0], &a, sizeof a, &st), &st);
        assert_ok(mode_read(m, pair[1], &b, sizeof b, &st), &st);
        assert_float_equal(a, 80, 0);
        assert_float_equal(b, 80, 0);
        assert_ok(mode_write(m, pair[0], &two, &st), &st);
        for (int s = 0; s < 5; s++)
            executions_of_step(m, swap_step, NULL);
        assert_ok(mode_read(m, pair[0], &a, sizeof a, &st), &st);
        assert_ok(mode_read(m, pair[1], &b, sizeof b, &st), &st);
        assert_float_equal(a, 80, 0);
        assert_float_equal(b, 2, 0);
        for (int k = 0; k < 2; k++) {
            mode_clear(m, pair[k]);
            tg_variable_free(pair[k]);
        }
        mode_destroy(m);
    }
}

/* ---- failures ---------------------------------------------------------------------------------- */

typedef struct failing {
    changing c;
    bool fails;
} failing;

static void failing_step(tg_trace *t, void *context)
{
    failing *f = context;
    changing_step(t, &f->c);
    if (f->fails)
        tg_trace_fail(t, BN_INVALID, "the model's own");
}

static void a_failure_behind_windows_leaves_the_state(void **state)
{
    (void)state;
    bn_status st = {0};
    mode *lazy = mode_new("lazy", &(mode_options){0}), *m = fused_new(WINDOW);
    failing a = {.c = changing_new(lazy)}, b = {.c = changing_new(m)};
    a.c.middle = b.c.middle = 4;
    for (int i = 0; i < 8; i++) {
        b.fails = i == 4;
        const mode_call call = {.function = failing_step, .context = &b};
        if (b.fails) {
            assert_fails(mode_step(m, &call, NULL, &st), BN_INVALID, "the model's own", &st);
            st = (bn_status){0};
            continue;
        }
        assert_ok(mode_step(m, &call, NULL, &st), &st);
        executions_of_step(lazy, failing_step, &a);
        assert_same(lazy, a.c.x, m, b.c.x);
        assert_same(lazy, a.c.z, m, b.c.z);
    }
    changing_free(lazy, &a.c);
    changing_free(m, &b.c);
    mode_destroy(lazy);
    mode_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_steps_teach_and_the_third_runs_windows),
        cmocka_unit_test(only_the_last_window_donates),
        cmocka_unit_test(a_window_of_the_whole_step_is_lazy),
        cmocka_unit_test(any_window_gives_the_same_values),
        cmocka_unit_test(awaited_windows_give_the_same_values),
        cmocka_unit_test(a_probe_runs_each_window),
        cmocka_unit_test(a_trace_that_changes_falls_back_and_learns),
        cmocka_unit_test(each_step_another_trace_is_lazy),
        cmocka_unit_test(a_trace_that_comes_back_is_known),
        cmocka_unit_test(a_read_in_a_window_gives_what_lazy_gives),
        cmocka_unit_test(an_op_of_the_host_in_a_window_gives_what_lazy_gives),
        cmocka_unit_test(values_can_fill_two_variables_and_go_round),
        cmocka_unit_test(a_failure_behind_windows_leaves_the_state),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
