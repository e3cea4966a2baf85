/*
 * test_full_loop.c - four steps of each model's training in one program are four single steps.
 *
 * needs: nothing
 */
#define _GNU_SOURCE
#include "tests/models/loop_fixture.h"

static void training_is_that_of_single_steps(void **state)
{
    (void)state;
    model_info info;
    for (size_t i = 0; model_describe(i, &info); i++) {
        /* One bias of the vits has that of the keys as a part, whose gradient is only rounding. */
        const bool part = strncmp(info.name, "vit", 3) == 0;
        const model_options o = {.no_dropout = true,
                                 .optimizer = part ? MODEL_SGD : MODEL_OPTIMIZER_DEFAULT};
        if (info.has_small)
            check_training(info.name, i % 2 ? "capture" : "lazy", o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_is_that_of_single_steps),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
