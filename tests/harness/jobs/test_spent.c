/*
 * test_spent.c - where the time of workers went: sums, words, what a worker may say wrongly, and
 * how long a group will take by what its experiments spent before.
 */
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
    json_t *reported = json_pack("{sf sf sf si}", "start_s", 1.5, "compile_s", 0.25, "warmup_s",
                                 0.5, "rounds_s", 2);
    job_spent_add_worker(&group, reported, 5);
    job_spent_add_worker(&group, reported, 4);
    assert_words(&group, "2 processes in 9.0 s: start 3.0 s, compile 0.5 s, warm-up 1.0 s, "
                         "rounds 4.0 s, rest 0.5 s");
    job_spent_add(&all, &group);
    assert_words(&all, "3 processes in 10.0 s: start 3.0 s, compile 0.5 s, warm-up 1.0 s, "
                       "rounds 4.5 s, rest 1.0 s");
    json_decref(reported);
}

static void test_worker_that_sent_nothing(void **state)
{
    job_spent spent = {0};
    job_spent_add_worker(&spent, NULL, 3);
    assert_words(&spent, "1 process in 3.0 s: start 0.0 s, compile 0.0 s, warm-up 0.0 s, "
                         "rounds 0.0 s, rest 3.0 s");
}

static void test_worker_that_reports_nonsense(void **state)
{
    job_spent spent = {0};
    json_t *reported =
        json_pack("{sf ss sf}", "start_s", -4.0, "compile_s", "two", "rounds_s", 7.0);
    job_spent_add_worker(&spent, reported, 3);
    assert_words(&spent, "1 process in 3.0 s: start 0.0 s, compile 0.0 s, warm-up 0.0 s, "
                         "rounds 7.0 s, rest 0.0 s");
    json_decref(reported);
}

/* ---- what the same spent before ------------------------------------------------------------ */

/* Two experiments that measure 2 and 3 s in a process. */
static const job_experiment pair[] = {{.how.min_time = 2}, {.how.min_time = 3}};
static const job_before pair_before[] = {{{true, 3e9, 1e9}, {true, 1e9, 0.5e9}, false},
                                         {{true, 2e9, 1.5e9}, {true, 1e9, 0.5e9}, true}};

static double seconds_of_pair(const job_group *group, const job_before *before, bool *known)
{
    *known = true;
    return job_group_seconds(group, job_group_foreseen(group, before, 2), pair, before, 2, known);
}

static void test_what_is_for_all_is_spent_once_a_process(void **state)
{
    job_group group = {.processes = 4};
    bool known;
    assert_float_equal(seconds_of_pair(&group, pair_before, &known), 3 + 2 + 1.5 + 3 * 2.5, 1e-9);
    assert_true(known);
    group.separate = true;
    assert_float_equal(seconds_of_pair(&group, pair_before, &known), 4 + 3.5 + 3 * 3.0, 1e-9);
    assert_true(known);
}

static void test_unknown_times_are_the_least_measured(void **state)
{
    job_before before[] = {pair_before[0], pair_before[1]};
    job_group group = {.processes = 4};
    bool known;
    assert_float_equal(seconds_of_pair(&group, NULL, &known), 4 * 5, 1e-9);
    assert_false(known);
    before[1].further.known = false;
    assert_float_equal(seconds_of_pair(&group, before, &known), 4 * 5, 1e-9);
    assert_false(known);
    /* A single process needs no further one. */
    group.processes = 1;
    assert_float_equal(seconds_of_pair(&group, before, &known), 6.5, 1e-9);
    assert_true(known);
    before[0].first.known = false;
    assert_float_equal(seconds_of_pair(&group, before, &known), 5, 1e-9);
    assert_false(known);
}

static void test_short_steps_are_foreseen_where_all_are_short(void **state)
{
    job_before before[] = {pair_before[0], pair_before[1]};
    job_group group = {.processes = JOB_USUAL_PROCESSES, .usual = true};
    bool known;
    assert_int_equal(job_group_foreseen(&group, before, 2), JOB_USUAL_PROCESSES);
    before[0].is_short = true;
    assert_int_equal(job_group_foreseen(&group, before, 2), JOB_SHORT_PROCESSES);
    assert_float_equal(seconds_of_pair(&group, before, &known), 6.5 + 15 * 2.5, 1e-9);
    before[1].first.known = false;
    assert_int_equal(job_group_foreseen(&group, before, 2), JOB_USUAL_PROCESSES);
    assert_int_equal(job_group_foreseen(&group, NULL, 2), JOB_USUAL_PROCESSES);
    /* If they are short after all, all but the first measure a share: 1 + 15/8 is less than 4. */
    assert_float_equal(seconds_of_pair(&group, NULL, &known), 5 * (1 + 15.0 / JOB_SHORT_SHARE),
                       1e-9);
    /* A number of processes that was asked for is kept. */
    group.usual = false;
    before[1].first.known = true;
    assert_int_equal(job_group_foreseen(&group, before, 2), JOB_USUAL_PROCESSES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_worker_that_sent_nothing),
        cmocka_unit_test(test_worker_that_reports_nonsense),
        cmocka_unit_test(test_what_is_for_all_is_spent_once_a_process),
        cmocka_unit_test(test_unknown_times_are_the_least_measured),
        cmocka_unit_test(test_short_steps_are_foreseen_where_all_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
