/*
 * test_full_loop.c - four steps of each model's training in one program are four single steps.
 */
#define _GNU_SOURCE
#include "tests/models/loop_fixture.h"

static void training_is_that_of_single_steps(void **state)
{
    (void)state;
    model_info info;
    for (size_t i = 0; model_describe(i, &info); i++)
        if (info.has_small)
            check_training(info.name, i % 2 ? "capture" : "lazy",
                           (model_options){.no_dropout = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_is_that_of_single_steps),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
