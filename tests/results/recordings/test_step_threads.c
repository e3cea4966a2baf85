/*
 * test_step_threads.c - steps in which several threads of the host take part: whose time the ledger
 * is of, and what each thread did. And steps on several devices.
 */
#include "tests/results/recordings/recording_fixture.h"

#define LOOPS 40

static void part_is(const rec_steps *s, rec_part part, double ns, double tolerance)
{
    const double median = rec_steps_part(s, part).median_ns;
    if (fabs(median - ns) > tolerance)
        fail_msg("%s: %.0f ns, not %.0f", rec_part_name(part), median, ns);
}

/* Row INDEX of the threads, in the median step. The first step may be another one. */
static void thread_is(const rec_steps *s, size_t index, uint32_t thread, double executions,
                      double host_work, double dispatch)
{
    const rec_step_thread *t = &s->threads[index];
    assert_int_equal(t->thread, thread);
    assert_near(t->executions, executions, 1.0 / LOOPS + 1e-9);
    assert_near(t->host_work.median_ns, host_work, 2);
    assert_near(t->dispatch.median_ns, dispatch, 2);
}

/* ---- PyTorch/XLA: one thread traces, another executes ----------------------------------- */

static void a_tracing_and_an_executing_thread(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program step = play_compile(&p, "SyncTensorsGraph.7", 41, 1, 1, 300 * MS);
    uint64_t now_state;
    play_execute(&p, &step, (run){.call_ns = 20 * US, .device_ns = 20 * US}, &now_state);
    play_wait(&p, 0, 0);
    for (unsigned i = 0; i < LOOPS; i++) {
        /* The main thread traces for 17 ms and sleeps for 3, then the other one executes. */
        play_work(&p, 0, 17 * MS);
        play_rest(&p, 0, 3 * MS);
        p.thread[1].now = p.thread[0].now;
        play_work(&p, 1, 500 * US);
        p.thread[0].now = p.thread[1].now;
        play_execute(&p, &step,
                     (run){.thread = 1,
                           .call_ns = MS,
                           .device_ns = 4 * MS,
                           .arguments = &now_state,
                           .argument_count = 1,
                           .donate = true},
                     &now_state);
        p.thread[0].now = p.thread[1].now;
        play_wait(&p, 0, 0);
    }
    found f = find(&p, NULL);
    const rec_steps *s = f.steps;
    sums_hold(s);
    assert_int_equal(s->executions_per_step, 1);
    assert_int_equal(s->main_thread, s->process->main_thread);
    assert_int_not_equal(s->dispatch_thread, s->main_thread);
    assert_near(rec_steps_wall(s).median_ns, 24500 * US, 1);
    part_is(s, REC_PART_HOST, 17500 * US, 2);
    part_is(s, REC_PART_DISPATCH, MS, 2);
    part_is(s, REC_PART_WAIT, 3 * MS, 2);
    part_is(s, REC_PART_IDLE, 3 * MS, 2);
    assert_int_equal(f.answer.verdict, REC_HOST_BOUND);
    /* The ledger's host work, by thread: who traces, and who dispatches. */
    assert_int_equal(s->thread_count, 2);
    thread_is(s, 0, s->main_thread, 0, 17 * MS, 0);
    thread_is(s, 1, s->dispatch_thread, 1, 500 * US, MS);
    json_t *o = rec_steps_json(f.recording, s, &f.answer), *list = json_object_get(o, "threads");
    assert_int_equal(json_array_size(list), 2);
    assert_true(json_is_true(json_object_get(json_array_get(list, 0), "ledger")));
    json_t *other = json_array_get(list, 1), *work = json_object_get(other, "host_work");
    assert_true(json_is_false(json_object_get(other, "ledger")));
    assert_int_equal(json_integer_value(json_object_get(other, "number")), 101);
    assert_near(json_real_value(json_object_get(work, "median_ns")), 500 * US, 2);
    json_decref(o);
    lose(&f);
}

/* Calls of a thread that executes nothing, within and between calls of others. */
static void threads_that_only_transfer_are_reported(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program step = play_compile(&p, "jit_step", 42, 1, 1, 100 * MS);
    for (unsigned i = 0; i < LOOPS; i++) {
        p.thread[2].now = p.thread[0].now;
        play_execute(&p, &step, (run){.call_ns = 50 * US, .device_ns = 3 * MS}, NULL);
        play_destroy(&p, play_send(&p, 2, 1000, 200 * US), 0);
        play_work(&p, 2, 700 * US);
        play_wait(&p, 0, 0);
        play_work(&p, 0, MS);
    }
    found f = find(&p, NULL);
    sums_hold(f.steps);
    assert_int_equal(f.steps->thread_count, 2);
    thread_is(f.steps, 0, f.steps->main_thread, 1, MS, 50 * US);
    thread_is(f.steps, 1, f.steps->threads[1].thread, 0, 700 * US, 0);
    assert_near(f.steps->threads[0].executions, 1, 1e-9);
    assert_near(f.steps->threads[0].host_work.mean_ns, MS, 2);
    assert_near(f.steps->threads[1].calls.median_ns, 200 * US, 2);
    lose(&f);
}

/* Thread 1 compiles for 300 ms, while thread 0 runs steps of 20 ms. */
static void steps_during_a_compilation_are_left_out(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program step = play_compile(&p, "jit_step", 43, 1, 1, 100 * MS);
    for (unsigned i = 0; i < 60; i++) {
        play_execute(&p, &step, (run){.call_ns = 50 * US, .device_ns = 19 * MS}, NULL);
        play_wait(&p, 0, 0);
        if (i == 30) {
            const play_thread stepping = p.thread[0];
            p.thread[0] = p.thread[1];
            p.thread[0].now = stepping.now;
            (void)play_compile(&p, "other", 44, 1, 1, 300 * MS);
            p.thread[1] = p.thread[0];
            p.thread[0] = stepping;
        }
        play_work(&p, 0, MS);
    }
    found f = find(&p, NULL);
    sums_hold(f.steps);
    assert_int_equal(f.steps->found, 59);
    /* It begins 19 ms behind the begin of step 30 and ends 319 ms behind it, within step 45. */
    assert_int_equal(f.steps->with_compiles, 16);
    assert_int_equal(f.steps->compile_ns, 300 * MS);
    assert_int_equal(f.steps->count, 43);
    lose(&f);
}

/* ---- devices ---------------------------------------------------------------------------- */

static void one_execution_on_two_devices(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program step = play_compile(&p, "pmapped", 81, 1, 2, 100 * MS);
    for (unsigned i = 0; i < LOOPS; i++) {
        play_work(&p, 0, 500 * US);
        play_execute(&p, &step, (run){.call_ns = 50 * US, .device_ns = 3 * MS, .devices = 2}, NULL);
        play_wait(&p, 0, 1);
    }
    found f = find(&p, NULL);
    sums_hold(f.steps);
    assert_int_equal(f.steps->executions_per_step, 1);
    assert_int_equal(f.steps->device, 0);
    assert_near(rec_steps_busy(f.steps).median_ns, 3 * MS, 1);
    /* The other device has the same steps. */
    bn_status st = {0};
    rec_steps *second = NULL;
    const rec_options o = {.device = 1};
    assert_ok(rec_steps_find(f.recording, &o, &second, &st), &st);
    assert_int_equal(second->device, 1);
    assert_int_equal(second->count, f.steps->count);
    assert_near(rec_steps_busy(second).median_ns, 3 * MS, 1);
    rec_steps_free(second);
    lose(&f);
}

static void each_device_has_steps_of_its_own(void **state)
{
    (void)state;
    bn_status st = {0};
    char folder[300];
    play p;
    rec_steps *steps = NULL;
    play_begin(&p);
    const play_program a = play_compile(&p, "a", 91, 1, 1, MS);
    const play_program b = play_compile(&p, "b", 92, 1, 1, MS);
    for (unsigned i = 0; i < LOOPS; i++) {
        play_execute(&p, &a, (run){.call_ns = 50 * US, .device_ns = MS}, NULL);
        if (i % 2)
            play_execute(&p, &b,
                         (run){.call_ns = 50 * US, .device_ns = MS, .device = 2, .on_device = true},
                         NULL);
        play_work(&p, 0, 2 * MS);
    }
    rec_recording *r = play_open(&p, folder, sizeof folder);
    rec_options o = {.device = 2};
    assert_ok(rec_steps_find(r, &o, &steps, &st), &st);
    sums_hold(steps);
    assert_int_equal(steps->device, 2);
    assert_string_equal(steps->process->programs[steps->programs[0].program].name, "b");
    assert_near(rec_steps_wall(steps).median_ns, 4150 * US, 1);
    rec_steps_free(steps);
    o.device = -1;
    assert_ok(rec_steps_find(r, &o, &steps, &st), &st);
    assert_int_equal(steps->device, 0);
    rec_steps_free(steps);
    rec_close(r);
}

/* Each step runs one program on device 1, and then one on devices 0 and 1 at once, which begins on
 * device 1 when the first has ended. */
static void an_execution_is_of_each_of_its_devices(void **state)
{
    (void)state;
    bn_status st = {0};
    char folder[300];
    play p;
    rec_steps *steps = NULL;
    play_begin(&p);
    const play_program own = play_compile(&p, "own", 93, 1, 1, MS);
    const play_program shared = play_compile(&p, "shared", 94, 1, 2, MS);
    for (unsigned i = 0; i < LOOPS; i++) {
        play_execute(&p, &own,
                     (run){.call_ns = 50 * US, .device_ns = MS, .device = 1, .on_device = true},
                     NULL);
        play_execute(&p, &shared, (run){.call_ns = 50 * US, .device_ns = 3 * MS, .devices = 2},
                     NULL);
        play_wait(&p, 0, 1);
        play_work(&p, 0, 500 * US);
    }
    rec_recording *r = play_open(&p, folder, sizeof folder);
    /* It has most executions, so that it is also the one without an option. */
    for (int64_t id = 1; id >= -1; id -= 2) {
        const rec_options o = {.device = id};
        assert_ok(rec_steps_find(r, &o, &steps, &st), &st);
        sums_hold(steps);
        assert_int_equal(steps->device, 1);
        assert_int_equal(steps->executions_per_step, 2);
        assert_near(rec_steps_wall(steps).median_ns, 4500 * US, 1);
        assert_near(rec_steps_busy(steps).median_ns, 4 * MS, 1);
        /* The device has ended 4 ms behind the step's begin. */
        assert_near(steps->programs[0].gap_before_ns, 500 * US, 1);
        assert_near(steps->programs[1].gap_before_ns, 0, 1);
        assert_near(steps->programs[1].behind_ns, 3900 * US, 1);
        rec_steps_free(steps);
    }
    const rec_options first = {.device = 0};
    assert_ok(rec_steps_find(r, &first, &steps, &st), &st);
    assert_int_equal(steps->executions_per_step, 1);
    assert_near(steps->programs[0].behind_ns, 2950 * US, 1);
    rec_steps_free(steps);
    rec_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tracing_and_an_executing_thread),
        cmocka_unit_test(threads_that_only_transfer_are_reported),
        cmocka_unit_test(steps_during_a_compilation_are_left_out),
        cmocka_unit_test(one_execution_on_two_devices),
        cmocka_unit_test(each_device_has_steps_of_its_own),
        cmocka_unit_test(an_execution_is_of_each_of_its_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
