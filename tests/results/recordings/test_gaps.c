/*
 * test_gaps.c - whose the gaps of the device are: what the host did before each program of a step.
 */
#include "tests/results/recordings/recording_fixture.h"

#define LOOPS 40

/* The gap before program INDEX of the step has NS in PART. */
static void gap_is(const rec_steps *s, size_t index, rec_part part, double ns)
{
    const double got = s->programs[index].gap_ns[part];
    if (fabs(got - ns) > 3)
        fail_msg("before program %zu, %s: %.0f ns, not %.0f", index, rec_part_name(part), got, ns);
}

/* The programs of a step, one behind the other: each ends before the host goes on. */
typedef struct trio {
    play_program gradient, clip, update;
} trio;

static trio compile_trio(play *p)
{
    return (trio){play_compile(p, "jit_grad", 31, 1, 1, MS),
                  play_compile(p, "jit_clip", 32, 1, 1, MS),
                  play_compile(p, "jit_update", 33, 1, 1, MS)};
}

/* Between the programs: work and a read, then sleep; after the last one a batch is sent. */
static void play_trio(play *p)
{
    const trio t = compile_trio(p);
    const run r = {.call_ns = 50 * US, .device_ns = 2 * MS};
    uint64_t made;
    for (unsigned i = 0; i < LOOPS; i++) {
        play_execute(p, &t.gradient, r, &made);
        play_wait(p, 0, 0);
        play_work(p, 0, 200 * US);
        play_read(p, 0, made, 30 * US);
        play_destroy(p, made, 0);
        play_execute(p, &t.clip, r, NULL);
        play_wait(p, 0, 0);
        play_rest(p, 0, MS);
        play_execute(p, &t.update, r, NULL);
        play_wait(p, 0, 0);
        play_work(p, 0, 5 * MS);
        play_destroy(p, play_send(p, 0, 1000, 70 * US), 0);
    }
}

static void each_gap_is_what_comes_next_had_to_wait_for(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    play_trio(&p);
    found f = find(&p, NULL);
    const rec_steps *s = f.steps;
    sums_hold(s);
    assert_int_equal(s->program_count, 3);
    gap_is(s, 0, REC_PART_HOST, 5 * MS);
    gap_is(s, 0, REC_PART_TRANSFER, 70 * US);
    gap_is(s, 0, REC_PART_IDLE, 0);
    gap_is(s, 1, REC_PART_HOST, 200 * US);
    gap_is(s, 1, REC_PART_READ, 30 * US);
    gap_is(s, 1, REC_PART_TRANSFER, 0);
    gap_is(s, 2, REC_PART_IDLE, MS);
    gap_is(s, 2, REC_PART_HOST, 0);
    json_t *o = rec_steps_json(f.recording, s, &f.answer);
    const json_t *gap = json_object_get(json_array_get(json_object_get(o, "programs"), 2), "gap");
    assert_int_equal(json_object_size(gap), REC_PART_COUNT);
    assert_near(json_real_value(json_object_get(gap, "idle")), MS, 3);
    json_decref(o);
    lose(&f);
}

/* Another thread executes, and nobody reads the main thread's clock between its executions. */
static void gaps_are_known_without_clocks(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    p.no_clocks = true;
    const trio t = compile_trio(&p);
    const run r = {.thread = 1, .call_ns = 50 * US, .device_ns = 2 * MS};
    for (unsigned i = 0; i < LOOPS; i++) {
        play_execute(&p, &t.gradient, r, NULL);
        play_wait(&p, 1, 0);
        play_rest(&p, 1, 300 * US);
        play_execute(&p, &t.clip, r, NULL);
        play_execute(&p, &t.update, r, NULL);
        play_wait(&p, 1, 0);
        play_rest(&p, 1, 4 * MS);
    }
    found f = find(&p, NULL);
    sums_hold(f.steps);
    gap_is(f.steps, 0, REC_PART_HOST, 4 * MS);
    gap_is(f.steps, 1, REC_PART_HOST, 300 * US);
    gap_is(f.steps, 2, REC_PART_HOST, 0);
    lose(&f);
}

/* Steps have one to four acts before each update, and the host rests 1 ms before each act. */
static void steps_of_many_lengths_charge_each_program_its_own(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const trio t = compile_trio(&p);
    const run r = {.call_ns = 50 * US, .device_ns = 2 * MS};
    for (unsigned i = 0; i < LOOPS; i++) {
        for (unsigned act = 0; act < 1 + i % 4; act++) {
            play_rest(&p, 0, MS);
            play_execute(&p, &t.gradient, r, NULL);
            play_wait(&p, 0, 0);
        }
        play_work(&p, 0, 300 * US);
        play_execute(&p, &t.update, r, NULL);
        play_wait(&p, 0, 0);
    }
    found f = find(&p, "jit_update");
    sums_hold(f.steps);
    for (size_t i = 0; i < f.steps->program_count; i++) {
        const rec_step_program *program = &f.steps->programs[i];
        const bool act = strcmp(f.steps->process->programs[program->program].name, "jit_grad") == 0;
        gap_is(f.steps, i, REC_PART_IDLE, act ? program->times * (double)MS : 0);
        gap_is(f.steps, i, REC_PART_HOST, act ? 0 : 300 * US);
    }
    assert_int_equal(f.steps->program_count, 2);
    assert_near(rec_executions_mean(f.steps), 3.5, 0.2);
    lose(&f);
}

/* Nothing tells when the device worked. */
static void without_completions_no_gap_is_known(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    p.no_completions = true;
    play_trio(&p);
    found f = find(&p, NULL);
    json_t *o = rec_steps_json(f.recording, f.steps, &f.answer);
    json_t *programs = json_object_get(o, "programs");
    assert_true(json_is_null(json_object_get(json_array_get(programs, 0), "gap")));
    json_decref(o);
    lose(&f);
}

/* ---- what the host did before each execution ----------------------------------------------- */

static void before_is(const rec_steps *s, size_t place, double overlapped, double alone,
                      double idle, bool waits)
{
    const rec_before *before = &s->before[place];
    assert_near(before->overlapped_ns, overlapped, 3);
    assert_near(before->alone_ns, alone, 3);
    assert_near(before->idle_ns, idle, 3);
    assert_int_equal(before->waits, waits);
}

/* Calls are not in it, and waits for the device neither. */
static void work_and_rest_are_known_by_execution(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    play_trio(&p);
    found f = find(&p, NULL);
    assert_in_range(f.steps->before_steps, LOOPS / 2 - 2, LOOPS);
    before_is(f.steps, 0, 0, 5 * MS, 0, true);
    before_is(f.steps, 1, 0, 200 * US, 0, true);
    before_is(f.steps, 2, 0, 0, MS, true);
    lose(&f);
}

/* The host works while the device does, for 300 us; then it waits in a call, or outside of calls,
 * or not at all: before the second execution or before a next step. */
static void work_that_overlaps_the_device_comes_before_the_wait(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        play p;
        play_begin(&p);
        const trio t = compile_trio(&p);
        const run r = {.call_ns = 50 * US, .device_ns = 2 * MS};
        for (unsigned i = 0; i < LOOPS; i++) {
            play_execute(&p, &t.gradient, r, NULL);
            play_work(&p, 0, 300 * US);
            if (way == 0)
                play_await(&p, 0, 0);
            else if (way == 1)
                play_wait(&p, 0, 0);
            play_work(&p, 0, 100 * US);
            play_execute(&p, &t.update, r, NULL);
            play_work(&p, 0, 700 * US);
            play_wait(&p, 0, 0);
            play_work(&p, 0, 6 * MS);
        }
        found f = find(&p, NULL);
        sums_hold(f.steps);
        before_is(f.steps, 0, 700 * US, 6 * MS, 0, true);
        if (way < 2)
            before_is(f.steps, 1, 300 * US, 100 * US, 0, true);
        else
            before_is(f.steps, 1, 400 * US, 0, 0, false);
        lose(&f);
    }
}

/* It reads a value of the step before in each step: that is no wait for what it has just handed
 * over. */
static void a_host_that_runs_ahead_does_not_wait(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const trio t = compile_trio(&p);
    const run r = {.call_ns = 50 * US, .device_ns = 2 * MS};
    for (unsigned i = 0; i < LOOPS; i++) {
        const uint64_t before = p.device_free[0];
        play_execute(&p, &t.gradient, r, NULL);
        if (before > p.thread[0].now)
            p.thread[0].now = before;
        play_work(&p, 0, 400 * US);
    }
    found f = find(&p, NULL);
    sums_hold(f.steps);
    before_is(f.steps, 0, 400 * US, 0, 0, false);
    lose(&f);
}

/* One step in eight during which another program had the core is not what the host does. */
static void long_steps_tell_nothing(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const trio t = compile_trio(&p);
    const run r = {.call_ns = 50 * US, .device_ns = 2 * MS};
    for (unsigned i = 0; i < LOOPS; i++) {
        play_execute(&p, &t.gradient, r, NULL);
        play_wait(&p, 0, 0);
        play_work(&p, 0, MS);
        play_rest(&p, 0, i % 8 == 7 ? 30 * MS : 0);
    }
    found f = find(&p, NULL);
    before_is(f.steps, 0, 0, MS, 0, true);
    lose(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gap_is_what_comes_next_had_to_wait_for),
        cmocka_unit_test(gaps_are_known_without_clocks),
        cmocka_unit_test(steps_of_many_lengths_charge_each_program_its_own),
        cmocka_unit_test(without_completions_no_gap_is_known),
        cmocka_unit_test(work_and_rest_are_known_by_execution),
        cmocka_unit_test(work_that_overlaps_the_device_comes_before_the_wait),
        cmocka_unit_test(a_host_that_runs_ahead_does_not_wait),
        cmocka_unit_test(long_steps_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
