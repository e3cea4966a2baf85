/* test_measure.c - the warm-up rule and the plan of rounds. */
#include "harness/worker/measure_priv.h"
#include "tests/support/test_runtime.h"

static void warm_up_ends_by_rule(void **state)
{
    (void)state;
    uint64_t falling[] = {900, 800, 700, 600, 500, 400, 300, 200, 100, 90};
    uint64_t steady[] = {900, 500, 101, 99, 100, 102, 98, 101, 100, 99};
    int64_t none[10] = {0}, late[10] = {0};
    late[5] = 1;
    assert_false(worker_warm(steady, none, WORKER_WARM_WINDOW - 1));
    assert_false(worker_warm(falling, none, 10));
    assert_true(worker_warm(steady, none, 10));
    assert_false(worker_warm(steady, late, 10));
}

/* Two steps of over a second say enough, one after short steps may be a stall. */
static void very_long_steps_warm_up_soon(void **state)
{
    (void)state;
    const uint64_t s = 1000000000u, ms = 1000000u;
    const uint64_t slow[] = {30 * s, 3 * s, 2 * s}, stall[] = {30 * s, 10 * ms, 3 * s};
    const uint64_t tail[] = {30 * s, 3 * s, 10 * ms};
    const int64_t first[] = {1, 0, 0}, second[] = {1, 1, 0};
    assert_false(worker_warm(slow, first, 2));
    assert_true(worker_warm(slow, first, 3));
    assert_false(worker_warm(slow, second, 3));
    assert_false(worker_warm(stall, first, 3));
    assert_false(worker_warm(tail, first, 3));
}

static void rounds_fit_the_slowest_and_give_each_its_time(void **state)
{
    (void)state;
    size_t steps[2];
    /* 20 ms and 1 ms: 20 rounds, and as many steps in each as a second needs. */
    assert_int_equal(worker_plan_rounds((const double[]){20e6, 1e6}, 2, 1, 5, steps), 20);
    assert_int_equal(steps[0], 3);
    assert_int_equal(steps[1], 50);
    /* 100 ms: ten rounds of one step. */
    assert_int_equal(worker_plan_rounds((const double[]){100e6, 1e6}, 2, 1, 5, steps), 10);
    assert_int_equal(steps[0], 1);
    assert_int_equal(steps[1], 100);
    /* 5 ms and 1 ms: 50 rounds, so that each keeps four steps; short steps have 100. */
    assert_int_equal(worker_plan_rounds((const double[]){5e6, 1e6}, 2, 1, 5, steps), 50);
    assert_int_equal(steps[0], 4);
    assert_int_equal(steps[1], 20);
    assert_int_equal(worker_plan_rounds((const double[]){1e5, 1e5}, 2, 1, 5, steps), 100);
    assert_int_equal(steps[0], 100);
    /* Over a second: five rounds of one step. */
    assert_int_equal(worker_plan_rounds((const double[]){3e9}, 1, 1, 5, steps), 5);
    assert_int_equal(steps[0], 1);
    /* No time asked for: the steps that were asked for. */
    assert_int_equal(worker_plan_rounds((const double[]){1e6}, 1, 0, 3, steps), 3);
    assert_int_equal(steps[0], 1);
    assert_int_equal(worker_plan_rounds((const double[]){1e6}, 1, 0, 40, steps), 5);
    assert_int_equal(steps[0], 8);
    /* Steps of a microsecond do not need a list without end. */
    assert_int_equal(worker_plan_rounds((const double[]){1e3}, 1, 100, 5, steps), 100);
    assert_true(steps[0] * 100 <= 200000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warm_up_ends_by_rule),
        cmocka_unit_test(very_long_steps_warm_up_soon),
        cmocka_unit_test(rounds_fit_the_slowest_and_give_each_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
