/*
 * test_dispatch.c - whether the device waits for the host to hand something over, or for what was
 * submitted: what calls, completions and a profile show of it, and what they do not. And whether
 * the host runs ahead.
 */
#include "tests/results/recordings/recording_fixture.h"

enum { LOOPS = 40 };

static void says(const found *f, const char *text)
{
    bn_text out = {0};
    rec_answer_put(f->steps, &f->answer, &out);
    if (!out.data || !strstr(out.data, text))
        fail_msg("'%s' is not in: %s", text, out.data ? out.data : "");
    bn_text_free(&out);
}

static void is(const found *f, rec_verdict verdict)
{
    bn_text out = {0};
    rec_answer_put(f->steps, &f->answer, &out);
    if (f->answer.verdict != verdict)
        fail_msg("it is not %s: %s", rec_verdict_name(verdict), out.data ? out.data : "");
    bn_text_free(&out);
}

static found find_steps(unsigned count, run r, uint64_t work_ns)
{
    static play p;
    play_begin(&p);
    play_awaited(&p, LOOPS, count, r, work_ns);
    found f = find(&p, NULL);
    sums_hold(f.steps);
    assert_int_equal(f.steps->executions_per_step, count);
    return f;
}

/* The same steps where a profiler has reported that kernels run for so long in each. */
static void profile(found *f, uint64_t ns)
{
    const double kernels = (double)ns;
    f->steps->kernels_ns = (res_interval){kernels, kernels, kernels};
    f->answer = rec_answer_make(f->steps);
}

/* JAX on a CPU waits for a buffer and reads it where it is; nobody calls PJRT_Event_Await. */
static void gaps_in_reads_in_place_are_waits_by_name(void **state)
{
    (void)state;
    static play p;
    uint64_t made = 0;
    play_begin(&p);
    const play_program step = play_compile(&p, "jit_step", 20, 1, 1, MS);
    for (int i = 0; i < LOOPS; i++) {
        play_execute(&p, &step, (run){.call_ns = 20 * US, .device_ns = MS}, &made);
        play_wait(&p, 0, 0);
        record_event e = play_call(&p, 0, RECORD_TO_HOST, 300 * US);
        e.flags = RECORD_IN_PLACE;
        e.field[3] = made;
        tape_put(&p.tape, e, NULL);
        play_destroy(&p, made, 0);
    }
    found f = find(&p, NULL);
    assert_near(rec_steps_gap(f.steps, REC_PART_WAIT).median_ns, 300 * US, 1);
    says(&f, "300 us in waits (Event_Await, or a value that is read where it is)");
    lose(&f);
}

/* The ends of three short executions are reported at once, as JAX reports those of an update op by
 * op: the first one has all the time. Each has a third of it, and not the none that is their
 * median. */
static void ends_reported_together_are_shared(void **state)
{
    (void)state;
    static play p;
    play_begin(&p);
    const play_program step = play_compile(&p, "jit_step", 20, 1, 1, MS);
    const play_program update = play_compile(&p, "jit_subtract", 21, 1, 1, MS);
    for (int i = 0; i < LOOPS; i++) {
        play_execute(&p, &step, (run){.call_ns = 10 * US, .device_ns = MS}, NULL);
        for (int k = 0; k < 3; k++)
            play_execute(&p, &update, (run){.call_ns = 10 * US, .device_ns = k ? 0 : 300 * US},
                         NULL);
        play_wait(&p, 0, 0);
    }
    found f = find(&p, NULL);
    const rec_step_program *row = &f.steps->programs[1];
    assert_int_equal(f.steps->program_count, 2);
    assert_near(row->times, 3, 0);
    assert_near(row->device_ns, 0, 0);
    assert_near(row->device_step_ns, 300 * US, 1);
    assert_near(rec_step_program_device_ns(row), 100 * US, 1);
    assert_near(rec_step_program_device_ns(&f.steps->programs[0]), MS, 1);
    lose(&f);
}

/* ---- calls that return before their executions have ended ------------------------------------ */

static const run long_call = {.call_ns = 2 * MS, .launch_ns = 2 * MS, .device_ns = 100 * US};

static void few_long_calls_have_a_fixed_cost(void **state)
{
    (void)state;
    found f = find_steps(3, long_call, 30 * US);
    assert_near(f.answer.wall_ns.estimate, 6130 * US, 1);
    assert_true(f.answer.overhead_known);
    assert_near(f.answer.overhead_ns.estimate, 2 * MS, 1);
    assert_near(f.answer.fused_ns.estimate, 2130 * US, 1);
    /* The device's 100 us hide behind the next call, and that much of it behind them. */
    assert_near(f.answer.calls_ns, 5800 * US, 1);
    assert_false(f.answer.dispatch_profiled);
    is(&f, REC_DISPATCH_BOUND);
    says(&f, "Dispatch-bound: the device works 100 % of the time");
    says(&f, " 5.80 ms a step are in Execute calls");
    says(&f, " 3 executions a step");
    lose(&f);
}

static void so_has_one_call_that_bounds_the_step(void **state)
{
    (void)state;
    const run r = {.call_ns = 800 * US, .launch_ns = 800 * US, .device_ns = 400 * US};
    found f = find_steps(1, r, 30 * US);
    is(&f, REC_DISPATCH_BOUND);
    assert_near(f.answer.calls_ns, 800 * US, 1);
    says(&f, "800 us a step are in Execute calls");
    says(&f, " 1 execution a step");
    says(&f, " at most 1.20 ms");
    lose(&f);
}

static void calls_that_are_a_small_part_bound_nothing(void **state)
{
    (void)state;
    const run r = {.call_ns = 100 * US, .launch_ns = 100 * US, .device_ns = 2 * MS};
    found f = find_steps(1, r, 30 * US);
    is(&f, REC_DEVICE_BOUND);
    says(&f, "Device-bound");
    lose(&f);
}

/* ---- programs that run within their calls ------------------------------------------------ */

/* Ends are reported as by version 2, and as by version 1: by a callback, a little after the return.
 */
static void calls_that_run_programs_tell_no_fixed_cost(void **state)
{
    (void)state;
    const run runs[] = {{.call_ns = 900 * US, .device_ns = 900 * US, .ended = true},
                        {.call_ns = 900 * US, .device_ns = 902 * US}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        found f = find_steps(3, runs[i], 30 * US);
        assert_false(f.answer.overhead_known);
        assert_true(isnan(f.answer.fused_ns.estimate));
        assert_near(f.answer.calls_ns, 0, 1e-9);
        is(&f, REC_DEVICE_BOUND);
        says(&f, "a step are in Execute calls");
        assert_false(f.answer.overhead_known);
        lose(&f);
    }
}

/* ---- with a profile ---------------------------------------------------------------------- */

static void a_profile_leaves_a_step_dispatch_bound(void **state)
{
    (void)state;
    found f = find_steps(3, long_call, 30 * US);
    profile(&f, 300 * US);
    is(&f, REC_DISPATCH_BOUND);
    assert_true(f.answer.dispatch_profiled);
    assert_near(f.answer.host_gap_ns, 30 * US, 1);
    assert_near(f.answer.dispatch_gap_ns, 5800 * US, 1);
    assert_near(f.answer.calls_ns, 0, 1e-9);
    says(&f, "Dispatch-bound: the device works 5 % of the time and waits 5.83 ms a step: 5.80 ms ");
    says(&f, "For 30.0 us ");
    lose(&f);
}

static void a_profile_shows_that_the_device_works_in_calls(void **state)
{
    (void)state;
    found f = find_steps(3, long_call, 30 * US);
    profile(&f, 6 * MS);
    is(&f, REC_DEVICE_BOUND);
    assert_near(f.answer.dispatch_gap_ns, 100 * US, 1);
    says(&f, "Device-bound");
    lose(&f);
}

/* The same gap between completions, and the same times of the device by them. */
static void a_profile_separates_gaps_of_dispatch_from_those_of_the_host(void **state)
{
    (void)state;
    const run r = {.call_ns = 50 * US, .launch_ns = 50 * US, .device_ns = 400 * US};
    found f = find_steps(1, r, 300 * US);
    is(&f, REC_HOST_BOUND);
    assert_near(f.answer.host_gap_ns, 300 * US, 1);
    assert_near(f.answer.calls_ns, 50 * US, 1);
    profile(&f, 380 * US);
    is(&f, REC_HOST_BOUND);
    assert_near(f.answer.dispatch_gap_ns, 70 * US, 1);
    says(&f, "Host-bound: the device works 51 % of the time and waits 370 us a step: 300 us ");
    says(&f, ", 70.0 us ");
    profile(&f, 20 * US);
    is(&f, REC_DISPATCH_BOUND);
    assert_near(f.answer.host_gap_ns, 300 * US, 1);
    assert_near(f.answer.dispatch_gap_ns, 430 * US, 1);
    lose(&f);
}

/* The host is ahead, and the device does nothing between what is queued. */
static void gaps_between_queued_executions_are_of_dispatch(void **state)
{
    (void)state;
    found f = find_steps(6, (run){.call_ns = 10 * US, .device_ns = MS}, 30 * US);
    is(&f, REC_DEVICE_BOUND);
    profile(&f, 3 * MS);
    is(&f, REC_DISPATCH_BOUND);
    assert_near(f.answer.host_gap_ns, 30 * US, 1);
    assert_near(f.answer.dispatch_gap_ns, 3 * MS, 1);
    lose(&f);
}

static void without_completions_a_profile_has_no_gaps(void **state)
{
    (void)state;
    static play p;
    play_begin(&p);
    p.no_completions = true;
    play_awaited(&p, LOOPS, 1, (run){.call_ns = 50 * US, .device_ns = 400 * US}, 300 * US);
    found f = find(&p, NULL);
    profile(&f, 20 * US);
    is(&f, REC_UNKNOWN);
    assert_true(isnan(f.answer.host_gap_ns) && isnan(f.answer.dispatch_gap_ns));
    says(&f, "no verdict");
    profile(&f, 740 * US);
    is(&f, REC_DEVICE_BOUND);
    lose(&f);
}

static void json_has_gaps_where_they_are_known(void **state)
{
    (void)state;
    found f = find_steps(3, long_call, 30 * US);
    json_t *o = rec_steps_json(f.recording, f.steps, &f.answer), *a = json_object_get(o, "answer");
    assert_near(json_number_value(json_object_get(a, "host_gaps_ns")), 30 * US, 1);
    assert_true(json_is_null(json_object_get(a, "dispatch_gaps_ns")));
    json_decref(o);
    profile(&f, 300 * US);
    o = rec_steps_json(f.recording, f.steps, &f.answer);
    a = json_object_get(o, "answer");
    assert_near(json_number_value(json_object_get(a, "dispatch_gaps_ns")), 5800 * US, 1);
    assert_string_equal(json_string_value(json_object_get(o, "verdict")), "dispatch-bound");
    json_decref(o);
    lose(&f);
}

/* ---- a host that runs ahead, or does not ------------------------------------------------ */

/* The host waits in every second step only: it submits two at once. Its walls are of 1.05 ms and of
 * 5.95; completions are 3 ms and 4 ms apart. */
static void waiting_in_every_second_step_is_running_ahead(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program step = play_compile(&p, "jit_step", 31, 1, 1, 90 * MS);
    for (unsigned i = 0; i < 100; i++) {
        play_execute(&p, &step, (run){.call_ns = 50 * US, .device_ns = 3 * MS}, NULL);
        if (i % 2)
            play_wait(&p, 0, 0);
        play_work(&p, 0, MS);
    }
    found f = find(&p, NULL);
    sums_hold(f.steps);
    assert_true(f.steps->by_completion);
    assert_near(rec_steps_wall(f.steps).mean_ns, 3500 * US, 20 * US);
    assert_near(f.answer.wall_ns.estimate, 3500 * US, 20 * US);
    lose(&f);
}

/* A step waits for its loss while the device updates for 3 ms, and every tenth one writes a
 * checkpoint. The next step begins before the update has ended, and is no further ahead for that:
 * walls are of 9 ms, 14 with the checkpoint, and 7 behind it, when the device is free. */
static void waiting_for_each_loss_is_no_cycle(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program gradient = play_compile(&p, "jit_grad", 31, 1, 1, 90 * MS);
    const play_program update = play_compile(&p, "jit_update", 32, 1, 1, 90 * MS);
    for (unsigned i = 0; i < 100; i++) {
        play_execute(&p, &gradient, (run){.call_ns = 50 * US, .device_ns = 6 * MS}, NULL);
        const uint64_t loss_ns = p.device_free[0];
        play_execute(&p, &update, (run){.call_ns = 50 * US, .device_ns = 3 * MS}, NULL);
        play_rest(&p, 0, loss_ns - p.thread[0].now);
        play_work(&p, 0, MS);
        play_rest(&p, 0, i % 10 == 9 ? 5 * MS : 0);
    }
    found f = find(&p, NULL);
    sums_hold(f.steps);
    assert_int_equal(f.steps->executions_per_step, 2);
    assert_true(f.answer.ahead_share > 0.8);
    assert_int_equal(f.steps->cycle, 1);
    assert_near(rec_steps_wall(f.steps).median_ns, 9 * MS, 1);
    lose(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_in_reads_in_place_are_waits_by_name),
        cmocka_unit_test(ends_reported_together_are_shared),
        cmocka_unit_test(few_long_calls_have_a_fixed_cost),
        cmocka_unit_test(so_has_one_call_that_bounds_the_step),
        cmocka_unit_test(calls_that_are_a_small_part_bound_nothing),
        cmocka_unit_test(calls_that_run_programs_tell_no_fixed_cost),
        cmocka_unit_test(a_profile_leaves_a_step_dispatch_bound),
        cmocka_unit_test(a_profile_shows_that_the_device_works_in_calls),
        cmocka_unit_test(a_profile_separates_gaps_of_dispatch_from_those_of_the_host),
        cmocka_unit_test(gaps_between_queued_executions_are_of_dispatch),
        cmocka_unit_test(without_completions_a_profile_has_no_gaps),
        cmocka_unit_test(json_has_gaps_where_they_are_known),
        cmocka_unit_test(waiting_in_every_second_step_is_running_ahead),
        cmocka_unit_test(waiting_for_each_loss_is_no_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
