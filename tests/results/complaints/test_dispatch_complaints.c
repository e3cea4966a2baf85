/*
 * test_dispatch_complaints.c - the cost of executions besides their work: few but long calls,
 * programs that run within their calls, and what a profile tells of both. Host and device are
 * played.
 */
#include "tests/results/complaints/complaints_fixture.h"

static const run long_call = {.call_ns = 2 * MS, .launch_ns = 2 * MS, .device_ns = 100 * US};
static const run other_call = {.call_ns = 800 * US, .launch_ns = 800 * US, .device_ns = 400 * US};

static seen see_steps(unsigned count, run r)
{
    static play p;
    play_begin(&p);
    play_awaited(&p, 40, count, r, 30 * US);
    return see(&p);
}

/* Asks once more, where a profiler has reported that kernels run for NS in each step. */
static void profile(seen *s, uint64_t ns)
{
    bn_status st = {0};
    const double kernels = (double)ns;
    rec_checkup_free(&s->checkup);
    s->steps->kernels_ns = (res_interval){kernels, kernels, kernels};
    assert_ok(rec_check(s->steps, &s->checkup, &st), &st);
}

/* ---- without a profile --------------------------------------------------------------------- */

static void few_long_calls_are_priced(void **state)
{
    (void)state;
    seen s = see_steps(3, long_call);
    const rec_finding *c = complaint(&s, REC_RULE_EXECUTIONS, 1);
    /* One call of 2 ms and 300 us of the device are left of 6.1 ms. */
    costs(c, 38e5, 1e3);
    assert_near(c->count, 3, 1e-9);
    says(&s, "3 executions");
    says(&s, "takes 3.80 ms");
    says(&s, "dispatch-bound");
    forget(&s);
}

static void one_long_call_may_be_waited_for(void **state)
{
    (void)state;
    seen s = see_steps(1, other_call);
    const rec_finding *c = complaint(&s, REC_RULE_DISPATCH, 1);
    costs(c, 8e5, 1e3);
    assert_true(c->at_most);
    says(&s, "takes up to 800 us");
    says(&s, " jit_a)");
    says(&s, "--profile");
    json_t *o = rec_checkup_json(s.recording, &s.checkup);
    const json_t *first = json_array_get(json_object_get(o, "complaints"), 0);
    assert_true(json_is_true(json_object_get(first, "at_most")));
    json_decref(o);
    forget(&s);
}

/* So short an execution computes nearly nothing: it counts as a whole, at most. Those that take the
 * device longer than five calls do work, and hide their calls. */
static void short_executions_count_as_a_whole(void **state)
{
    (void)state;
    seen s = see_steps(6, (run){.call_ns = 10 * US, .launch_ns = 10 * US, .device_ns = 30 * US});
    const rec_finding *c = complaint(&s, REC_RULE_EXECUTIONS, 2); /* and of the host's 30 us */
    costs(c, 150e3, 1e3); /* the first takes 40 us with its launch, and stays */
    assert_true(c->at_most);
    says(&s, "takes up to 150 us");
    says(&s, "--profile");
    profile(&s, 130 * US);
    c = complaint(&s, REC_RULE_EXECUTIONS, 2);
    costs(c, 60e3, 1e3);
    assert_false(c->at_most);
    forget(&s);
    s = see_steps(6, (run){.call_ns = 10 * US, .launch_ns = 10 * US, .device_ns = 60 * US});
    (void)complaint(&s, REC_RULE_HOST, 1);
    forget(&s);
}

/* The length of such a call is the device's time, however many there are. */
static void programs_that_run_within_their_calls_draw_none(void **state)
{
    (void)state;
    static const unsigned counts[] = {1, 3, 6};
    const run r = {.call_ns = 900 * US, .device_ns = 900 * US, .ended = true};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        seen s = see_steps(counts[i], r);
        assert_int_equal(s.checkup.count, 0);
        says(&s, "device-bound");
        says(&s, " Execute calls");
        forget(&s);
    }
}

/* ---- with one ------------------------------------------------------------------------------ */

static void a_profile_prices_a_call_that_is_waited_for(void **state)
{
    (void)state;
    seen s = see_steps(1, other_call);
    profile(&s, 350 * US);
    const rec_finding *c = complaint(&s, REC_RULE_DISPATCH, 1);
    costs(c, 85e4, 1e3);
    assert_false(c->at_most);
    says(&s, "takes 850 us");
    says(&s, "dispatch-bound: the device works for 28 %");
    profile(&s, 1150 * US);
    assert_int_equal(s.checkup.count, 0);
    says(&s, "device-bound: ");
    forget(&s);
}

/* Launches while the next execution is there already: no call is to blame. */
static void a_profile_prices_what_merging_does_not_save(void **state)
{
    (void)state;
    seen s = see_steps(3, (run){.call_ns = 50 * US, .launch_ns = 50 * US, .device_ns = 2 * MS});
    assert_int_equal(s.checkup.count, 0);
    profile(&s, 3 * MS);
    const rec_finding *c = complaint(&s, REC_RULE_DISPATCH, 1);
    costs(c, 305e4, 1e3);
    assert_near(c->count, 3, 1e-9);
    forget(&s);
}

/* Calls that launch kernels for as long as these run. */
static void kernels_that_run_during_calls_are_no_cost(void **state)
{
    (void)state;
    seen s = see_steps(3, (run){.call_ns = 2 * MS, .device_ns = 2100 * US});
    (void)complaint(&s, REC_RULE_EXECUTIONS, 1);
    profile(&s, 6200 * US);
    assert_int_equal(s.checkup.count, 0);
    says(&s, "device-bound: ");
    forget(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_long_calls_are_priced),
        cmocka_unit_test(one_long_call_may_be_waited_for),
        cmocka_unit_test(short_executions_count_as_a_whole),
        cmocka_unit_test(programs_that_run_within_their_calls_draw_none),
        cmocka_unit_test(a_profile_prices_a_call_that_is_waited_for),
        cmocka_unit_test(a_profile_prices_what_merging_does_not_save),
        cmocka_unit_test(kernels_that_run_during_calls_are_no_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
