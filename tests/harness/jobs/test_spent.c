/* test_spent.c - where the time of workers went: sums, words, and what a worker may say wrongly. */
#include "harness/jobs/jobs.h"
#include "tests/support/test_runtime.h"

#include <string.h>

static void assert_words(const job_spent *spent, const char *wanted)
{
    bn_text text = {0};
    job_spent_words(spent, &text);
    assert_string_equal(text.data, wanted);
    bn_text_free(&text);
}

static void test_sums(void **state)
{
    job_spent group = {0}, all = {.processes = 1, .all_s = 1, .rounds_s = 0.5};
    json_t *told = json_pack("{sf sf sf si}", "start_s", 1.5, "compile_s", 0.25, "warmup_s", 0.5,
                             "rounds_s", 2);
    job_spent_add_worker(&group, told, 5);
    job_spent_add_worker(&group, told, 4);
    assert_words(&group, "2 processes in 9.0 s: start 3.0 s, compile 0.5 s, warm-up 1.0 s, "
                         "rounds 4.0 s, rest 0.5 s");
    job_spent_add(&all, &group);
    assert_words(&all, "3 processes in 10.0 s: start 3.0 s, compile 0.5 s, warm-up 1.0 s, "
                       "rounds 4.5 s, rest 1.0 s");
    json_decref(told);
}

static void test_worker_that_told_nothing(void **state)
{
    job_spent spent = {0};
    job_spent_add_worker(&spent, NULL, 3);
    assert_words(&spent, "1 process in 3.0 s: start 0.0 s, compile 0.0 s, warm-up 0.0 s, "
                         "rounds 0.0 s, rest 3.0 s");
}

static void test_worker_that_tells_nonsense(void **state)
{
    job_spent spent = {0};
    json_t *told = json_pack("{sf ss sf}", "start_s", -4.0, "compile_s", "two", "rounds_s", 7.0);
    job_spent_add_worker(&spent, told, 3);
    assert_words(&spent, "1 process in 3.0 s: start 0.0 s, compile 0.0 s, warm-up 0.0 s, "
                         "rounds 7.0 s, rest 0.0 s");
    json_decref(told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_worker_that_told_nothing),
        cmocka_unit_test(test_worker_that_tells_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
