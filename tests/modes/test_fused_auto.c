/*
 * test_fused_auto.c - how large windows are where nobody says it: the law against schedules made by
 * hand, and the choice by what was measured. Needs no plugin.
 */
#include "modes/fused_priv.h"
#include "tests/support/test_runtime.h"

/* One window is a step that is traced, submitted and done. */
static void the_law_is_the_schedule(void **state)
{
    (void)state;
    const fused_step_times slow = {.wall_ns = 3100, .trace_ns = 2000, .dispatch_ns = 100};
    assert_float_equal(mode_windows_law(&slow, 1), 3100, 1e-9);
    /* Traced at 600 and 1200 ..., at 2200 and 500 behind: the device waits for each half. */
    assert_float_equal(mode_windows_law(&slow, 2), 2200 + 500, 1e-9);
    assert_float_equal(mode_windows_law(&slow, 4), 2400 + 250, 1e-9);
    /* A device that is slower: the first window, then its own time. */
    const fused_step_times busy = {.wall_ns = 10100, .trace_ns = 2000, .dispatch_ns = 100};
    assert_float_equal(mode_windows_law(&busy, 4), 600 + 8000, 1e-9);
    /* Submitting takes longer than what it hides. */
    const fused_step_times dear = {.wall_ns = 2000, .trace_ns = 100, .dispatch_ns = 900};
    assert_true(mode_windows_law(&dear, 8) > 7000);
}

/* Gives C steps until it has decided, or MOST; a step of N windows takes WALL[N], 0: as the law says. */
static size_t choose(fused_choice *c, const fused_step_times *whole, size_t nodes,
                     double (*wall)(const fused_step_times *whole, size_t windows))
{
    size_t steps = 0;
    *c = (fused_choice){0};
    while (!c->done && steps < 100) {
        const size_t windows = c->nodes ? nodes / c->nodes : 1;
        fused_step_times step = *whole;
        step.wall_ns = windows == 1 ? whole->wall_ns : wall(whole, windows);
        (void)mode_choice_step(c, &step, nodes, windows);
        steps++;
    }
    return steps;
}

static double by_law(const fused_step_times *whole, size_t windows)
{
    return mode_windows_law(whole, windows);
}

/* Each border costs a tenth of the step. */
static double dear_borders(const fused_step_times *whole, size_t windows)
{
    return mode_windows_law(whole, windows) + 0.1 * whole->wall_ns * (double)(windows - 1);
}

static double worse(const fused_step_times *whole, size_t windows)
{
    (void)windows;
    return 0.99 * whole->wall_ns;
}

static void the_fastest_that_was_measured_is_taken(void **state)
{
    (void)state;
    const fused_step_times slow = {.wall_ns = 40e6, .trace_ns = 14e6, .dispatch_ns = 1e5};
    fused_choice free_borders, costly, none;
    assert_true(choose(&free_borders, &slow, 2048, by_law) < 45);
    assert_int_equal(free_borders.tries, 3);
    assert_int_equal(free_borders.nodes, free_borders.tried[0].nodes);
    for (size_t i = 0; i < 3; i++)
        assert_float_equal(free_borders.tried[i].measured_ns, free_borders.tried[i].predicted_ns,
                           40e3f);
    choose(&costly, &slow, 2048, dear_borders);
    assert_true(costly.nodes == 0 || costly.nodes == costly.tried[costly.tries - 1].nodes);
    /* One in a hundred is not worth it. */
    choose(&none, &slow, 2048, worse);
    assert_int_equal(none.nodes, 0);
    assert_true(none.done);
}

static void where_tracing_is_cheap_nothing_is_tried(void **state)
{
    (void)state;
    const fused_step_times quick = {.wall_ns = 40e6, .trace_ns = 1e5, .dispatch_ns = 1e5};
    fused_choice c;
    assert_true(choose(&c, &quick, 2048, by_law) < 12);
    assert_int_equal(c.tries, 0);
    assert_int_equal(c.nodes, 0);
}

static void steps_that_are_not_steady_do_not_count(void **state)
{
    (void)state;
    const fused_step_times step = {.wall_ns = 40e6, .trace_ns = 14e6, .dispatch_ns = 1e5};
    fused_choice c = {0};
    for (int i = 0; i < 50; i++) {
        for (int k = 0; k < 4; k++)
            assert_false(mode_choice_step(&c, &step, 2048, 1));
        mode_choice_again(&c);
    }
    assert_float_equal(c.whole.wall_ns, 0, 0);
    /* The end of the warm-up decides by what there is: nothing. */
    assert_false(mode_choice_end(&c));
    assert_true(c.done);
    assert_int_equal(c.nodes, 0);
}

static void the_end_takes_the_best_so_far(void **state)
{
    (void)state;
    const fused_step_times whole = {.wall_ns = 40e6, .trace_ns = 14e6, .dispatch_ns = 1e5};
    fused_choice c = {0};
    while (c.at == 0) {
        fused_step_times step = whole;
        step.wall_ns = c.nodes ? 30e6 : 40e6;
        (void)mode_choice_step(&c, &step, 2048, 2);
    }
    assert_true(c.nodes == c.tried[1].nodes); /* being tried, and not measured */
    assert_true(mode_choice_end(&c));
    assert_int_equal(c.nodes, c.tried[0].nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_law_is_the_schedule),
        cmocka_unit_test(the_fastest_that_was_measured_is_taken),
        cmocka_unit_test(where_tracing_is_cheap_nothing_is_tried),
        cmocka_unit_test(steps_that_are_not_steady_do_not_count),
        cmocka_unit_test(the_end_takes_the_best_so_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
