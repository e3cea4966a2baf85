/* test_measure.c - the warm-up rule and the slope. */
#include "harness/worker/worker.h"
#include "tests/support/test_runtime.h"

#include <math.h>

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

static void the_slope_finds_device_time(void **state)
{
    (void)state;
    const unsigned repeat[] = {1, 2, 3, 4, 6};
    double times[16 * 5];
    uint64_t x = 12345;
    for (size_t r = 0; r < 16; r++)
        for (size_t i = 0; i < 5; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            double jitter = (double)(x >> 40) / (1 << 24) * 2e4; /* up to 20 us, one-sided */
            times[r * 5 + i] = 3e6 + 17.85e6 * repeat[i] + jitter;
        }
    times[7] += 40e6; /* an interruption must not tilt the line */
    worker_slope fit = worker_slope_fit(repeat, 5, times, 16);
    assert_true(fabs(fit.slope_ns - 17.85e6) < 1e4);
    assert_true(fit.low_ns <= fit.slope_ns && fit.slope_ns <= fit.high_ns);
    assert_true(fit.high_ns - fit.low_ns < 2e4);
    assert_true(fabs(fit.intercept_ns - 3e6) < 3e4);
    assert_true(isnan(worker_slope_fit(repeat, 1, times, 16).slope_ns));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warm_up_ends_by_rule),
        cmocka_unit_test(the_slope_finds_device_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
