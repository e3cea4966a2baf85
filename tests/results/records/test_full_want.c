/*
 * test_full_want.c - test_want.c at each moment at which memory may be refused, or a signal come.
 *
 * needs: nothing
 */
#define _GNU_SOURCE
#include "tests/results/records/want_fixture.h"

static void no_memory_at_each_moment(void **state)
{
    sweep_memory(*state, 1);
}

static void signals_at_many_moments(void **state)
{
    sweep_signals(*state, 7);
}

/* The sweep of errors is whole in test_want.c. */
static void errors_at_each_moment(void **state)
{
    sweep_errors(*state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin_want, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_memory_at_each_moment),
        TEST(signals_at_many_moments),
        TEST(errors_at_each_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
