/*
 * test_window.c - steps between two moments that the program itself tells, with their number: what
 * comes before and after does not count, and a step's executions need not tell where it begins.
 */
#include "tests/results/recordings/recording_fixture.h"

#define STEPS 12
#define EACH  6 /* executions a step */

/* When the measured steps began and ended. */
typedef struct window {
    uint64_t from_ns, to_ns;
} window;

/* STEPS steps of EACH executions of one program, a rest between steps; before and after them
 * others. ODD: one execution more somewhere. */
static window play_steps_of(play *p, bool odd)
{
    const play_program op = play_compile(p, "op", 21, 1, 1, 10 * MS);
    const run r = {.call_ns = 20 * US, .device_ns = 100 * US};
    window w = {0, 0};
    for (int i = 0; i < 17; i++)
        play_execute(p, &op, r, NULL);
    play_wait(p, 0, 0);
    w.from_ns = p->thread[0].now;
    for (int step = 0; step < STEPS; step++) {
        play_work(p, 0, 50 * US);
        for (int i = 0; i < EACH + (odd && step == 5); i++)
            play_execute(p, &op, r, NULL);
        play_wait(p, 0, 0);
        play_rest(p, 0, 300 * US);
    }
    w.to_ns = p->thread[0].now;
    for (int i = 0; i < 23; i++)
        play_execute(p, &op, r, NULL);
    play_wait(p, 0, 0);
    return w;
}

static void given_steps_are_taken_as_given(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const window w = play_steps_of(&p, false);
    char folder[300];
    bn_status st = {0};
    rec_steps *steps = NULL;
    rec_recording *recording = play_open(&p, folder, sizeof folder);
    const rec_options options = {
        .device = -1, .keep_warmup = true, .from_ns = w.from_ns, .to_ns = w.to_ns, .steps = STEPS};
    assert_ok(rec_steps_find(recording, &options, &steps, &st), &st);
    sums_hold(steps);
    assert_int_equal(steps->executions_per_step, EACH);
    assert_int_equal(steps->order_count, STEPS * EACH);
    assert_int_equal(steps->found, STEPS - 1);
    assert_int_equal(steps->count, STEPS - 1);
    assert_int_equal(steps->list[0].begin_ns, w.from_ns + 50 * US);
    assert_near(rec_steps_wall(steps).median_ns, 50 * US + EACH * 100 * US + 300 * US, 21 * US);
    assert_near(steps->programs[0].times, EACH, 1e-9);
    rec_steps_free(steps);
    rec_close(recording);
}

static void a_number_that_does_not_fit_is_not_believed(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const window w = play_steps_of(&p, true);
    char folder[300];
    bn_status st = {0};
    rec_steps *steps = NULL;
    rec_recording *recording = play_open(&p, folder, sizeof folder);
    rec_options options = {.device = -1, .from_ns = w.from_ns, .to_ns = w.to_ns, .steps = STEPS};
    /* All executions are alike: each is a step as far as anybody can tell. */
    assert_ok(rec_steps_find(recording, &options, &steps, &st), &st);
    assert_int_equal(steps->executions_per_step, 1);
    rec_steps_free(steps);
    options.from_ns = w.to_ns + 1000 * MS;
    options.to_ns = w.to_ns + 2000 * MS;
    assert_int_equal(rec_steps_find(recording, &options, &steps, &st), BN_NOT_FOUND);
    rec_close(recording);
}

/* A gradient and the state's eight updates; one update is held up by as long as all others take
 * together. */
static void one_that_was_held_up_hides_no_steps(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program gradient = play_compile(&p, "gradient", 21, 1, 1, 10 * MS);
    const play_program update = play_compile(&p, "update", 22, 1, 1, 10 * MS);
    uint64_t both[2], w, slope;
    play_execute(&p, &update, (run){.call_ns = 20 * US, .device_ns = 100 * US}, &w);
    for (int step = 0; step < 40; step++) {
        run r = {.call_ns = 20 * US, .device_ns = 100 * US, .arguments = &w, .argument_count = 1};
        play_execute(&p, &gradient, r, &slope);
        r.arguments = both;
        r.argument_count = 2;
        for (int i = 0; i < 8; i++) {
            both[0] = w;
            both[1] = slope;
            r.device_ns = step == 30 && i == 3 ? 100 * MS : 100 * US;
            play_execute(&p, &update, r, &w);
        }
        play_wait(&p, 0, 0);
    }
    char folder[300];
    rec_recording *recording = play_open(&p, folder, sizeof folder);
    rec_steps *steps = play_steps(recording, NULL);
    sums_hold(steps);
    assert_int_equal(steps->executions_per_step, 9);
    rec_steps_free(steps);
    rec_close(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_steps_are_taken_as_given),
        cmocka_unit_test(a_number_that_does_not_fit_is_not_believed),
        cmocka_unit_test(one_that_was_held_up_hides_no_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
