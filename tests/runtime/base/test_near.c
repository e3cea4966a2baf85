/* test_near.c - which word somebody meant. Needs no plugin. */
#include "tests/support/test_runtime.h"

#include <string.h>

static const char *const words[] = {"model", "mode", "format", "resnet50", "resnet18", "compare",
                                    "cpu",   "cuda", "bf16",   "f32",      "min-time", "timeout"};

static const char *meant(const char *word, bn_near *near)
{
    *near = bn_near_begin(word);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        bn_near_try(near, words[i]);
    return bn_near_best(near);
}

static void a_word_that_is_nearly_right_is_found(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"ResNet50", "resnet50"}, {"resnet-50", "resnet50"}, {"Resnet_18", "resnet18"},
        {"compre", "compare"},    {"comapre", "compare"},    {"fromat", "format"},
        {"mintime", "min-time"},  {"time-out", "timeout"},   {"form", "format"},
        {"bf1", "bf16"},          {"fp32", "f32"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bn_near near;
        const char *best = meant(rows[i][0], &near);
        if (!best || strcmp(best, rows[i][1]) != 0)
            fail_msg("%s gives %s, not %s", rows[i][0], best ? best : "nothing", rows[i][1]);
    }
}

static void a_word_that_is_far_from_all_has_none(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "-",
        "xyz",
        "gradient",
        "zz",
        "vgg16bn",
        "a-word-that-has-many-more-letters-than-any-name-could-have"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bn_near near;
        const char *best = meant(rows[i], &near);
        if (best)
            fail_msg("%s gives %s", rows[i], best);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_that_is_nearly_right_is_found),
        cmocka_unit_test(a_word_that_is_far_from_all_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
