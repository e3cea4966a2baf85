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

static void one_sentence_says_what_may_be_meant(void **state)
{
    (void)state;
    char text[80], little[12];
    bn_status st = {.code = BN_OK};
    bn_meant_put((bn_meant){"mode", "There is", "a or b"}, text, sizeof text);
    assert_string_equal(text, "; did you mean mode? There is a or b");
    bn_meant_put((bn_meant){NULL, "There is", "a or b"}, text, sizeof text);
    assert_string_equal(text, "; there is a or b");
    bn_meant_put((bn_meant){NULL, "See --help", ""}, text, sizeof text);
    assert_string_equal(text, "; see --help");
    bn_meant_put((bn_meant){"mode", "There is", "a or b"}, little, sizeof little);
    assert_string_equal(little, "; did you m");
    assert_int_equal(bn_fail_meant(&st, BN_NOT_FOUND, (bn_meant){"mode", "See", "--help"},
                                   "there is no %s", "mod"),
                     BN_NOT_FOUND);
    assert_int_equal(st.code, BN_NOT_FOUND);
    assert_string_equal(st.message, "there is no mod; did you mean mode? See --help");
    assert_int_equal(bn_fail_choice(&st, "list", "modls", "models or ops"), BN_INVALID);
    assert_string_equal(st.message,
                        "there is no list 'modls'; did you mean models? There is models or ops");
}

static const char *row_name(size_t i)
{
    static const char *const rows[] = {"models", "ops"};
    return i < 2 ? rows[i] : NULL;
}

static void a_row_is_found_by_its_name(void **state)
{
    (void)state;
    size_t row = 7;
    bn_status st = {.code = BN_OK};
    bn_text names = {0};
    bn_put_names(&names, row_name);
    assert_string_equal(names.data, "models, ops");
    bn_text_free(&names);
    assert_fails(bn_find_name("list", "modls", row_name, &row, &st), BN_INVALID,
                 "'modls'| models?|models, ops", &st);
    assert_int_equal(row, 7);
    assert_int_equal(bn_find_name("list", "ops", row_name, &row, &st), BN_OK);
    assert_int_equal(row, 1);
}

static void a_list_of_choices_is_read(void **state)
{
    (void)state;
    static const char *const lists[] = {"auto, slope or none", "auto,slope,none",
                                        "auto, slope, none"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        bn_near near = bn_near_begin("slop");
        bn_near_choices(&near, lists[i]);
        assert_string_equal(bn_near_best(&near), "slope");
        assert_true(bn_is_choice("auto", lists[i]) && bn_is_choice("none", lists[i]));
        assert_false(bn_is_choice("slop", lists[i]) || bn_is_choice("", lists[i]) ||
                     bn_is_choice("or", lists[i]));
    }
}

/* As the front ends of a store: each is a choice as a whole. */
static void a_choice_may_have_blanks_and_any_length(void **state)
{
    (void)state;
    static const char choices[] = "jax 0.10.2, bench, torch_xla 2.9 or a-name-of-more-letters-than-"
                                  "any-that-somebody-may-have-meant";
    assert_true(bn_is_choice("jax 0.10.2", choices) && bn_is_choice("bench", choices));
    assert_true(bn_is_choice("torch_xla 2.9", choices));
    assert_true(
        bn_is_choice("a-name-of-more-letters-than-any-that-somebody-may-have-meant", choices));
    assert_false(bn_is_choice("jax", choices) || bn_is_choice("0.10.2", choices) ||
                 bn_is_choice("jax 0.10.2, bench", choices) || bn_is_choice("", choices));
    assert_false(bn_is_choice("a-name-of-more-letters-than-any-that-somebody-m", choices));
    bn_near near = bn_near_begin("jax 0.10.1");
    bn_near_choices(&near, choices);
    assert_string_equal(bn_near_best(&near), "jax 0.10.2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_that_is_nearly_right_is_found),
        cmocka_unit_test(a_word_that_is_far_from_all_has_none),
        cmocka_unit_test(one_sentence_says_what_may_be_meant),
        cmocka_unit_test(a_row_is_found_by_its_name),
        cmocka_unit_test(a_list_of_choices_is_read),
        cmocka_unit_test(a_choice_may_have_blanks_and_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
