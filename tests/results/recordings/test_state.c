/*
 * test_state.c - loops of many kinds, and what is a step in each: how many there are, by which
 * program, and of how many executions.
 */
#include "tests/results/recordings/recording_fixture.h"

static const run quick = {.call_ns = 20 * US, .device_ns = 200 * US};

/* A program whose results are f32[ROWS,64]. */
static play_program compile(play *p, const char *name, uint64_t rows, uint32_t results)
{
    static uint64_t hash = 100;
    p->dims[0] = rows;
    p->dims[1] = 64;
    return play_compile(p, name, hash++, results, 1, 10 * MS);
}

/* Executes PROGRAM on A and, unless it is 0, B; its first result. Both stay. */
static uint64_t call(play *p, const play_program *program, uint64_t a, uint64_t b)
{
    uint64_t arguments[2] = {a, b}, results[4] = {0};
    run r = quick;
    r.arguments = arguments;
    r.argument_count = b ? 2 : 1;
    play_execute(p, program, r, results);
    for (uint32_t i = 1; i < program->results; i++)
        play_destroy(p, results[i], 0);
    return results[0];
}

/* *STATE becomes what PROGRAM makes of it and of B, which may be 0. */
static void renew(play *p, const play_program *program, uint64_t *state, uint64_t b)
{
    const uint64_t before = *state;
    *state = call(p, program, before, b);
    play_destroy(p, before, 0);
}

/* Executes PROGRAM on A and B for nothing but its value. */
static void look(play *p, const play_program *program, uint64_t a, uint64_t b)
{
    play_destroy(p, call(p, program, a, b), 0);
    play_wait(p, 0, 0);
}

static uint64_t batch(play *p, uint64_t rows)
{
    p->dims[0] = rows;
    p->dims[1] = 64;
    play_work(p, 0, 50 * US);
    return play_send(p, 0, rows * 256, 5 * US);
}

typedef struct truth {
    size_t marks;
    const char *program;
    uint32_t executions;
    rec_found how;
} truth;

static found expect(play *p, truth t)
{
    found f = find(p, NULL);
    const rec_steps *s = f.steps;
    const char *name =
        s->mark_program == REC_NONE ? "" : s->process->programs[s->mark_program].name;
    if (s->marks != t.marks || strcmp(name, t.program) != 0 ||
        s->executions_per_step != t.executions || s->how != t.how)
        fail_msg("%zu steps of %u by %s (%s), not %zu of %u by %s (%s)", s->marks,
                 s->executions_per_step, name, rec_found_name(s->how), t.marks, t.executions,
                 t.program, rec_found_name(t.how));
    sums_hold(s);
    double all = 0;
    for (int i = 0; i < REC_RUN_PART_COUNT; i++) {
        assert_true(s->run.part_ns[i] >= 0);
        all += s->run.part_ns[i];
    }
    assert_near(all, (double)(s->run.end_ns - s->run.begin_ns), 10);
    return f;
}

static bool is_unclear(const found *f)
{
    return f->steps->unclear != REC_NONE;
}

/* ---- training ----------------------------------------------------------------------------- */

/* Four epochs of 25 steps that nothing awaits, then five evaluations each; more at the end. */
static void evaluations_between_epochs_are_no_steps(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program init = compile(&p, "jit_init", 64, 1);
    const play_program train = compile(&p, "jit_train", 64, 2);
    const play_program test = compile(&p, "jit_test", 1, 1);
    uint64_t w = call(&p, &init, batch(&p, 8), 0);
    for (int epoch = 0; epoch < 4; epoch++) {
        for (int i = 0; i < 25; i++)
            renew(&p, &train, &w, batch(&p, 8));
        play_wait(&p, 0, 0);
        for (int i = 0; i < 5; i++)
            look(&p, &test, w, batch(&p, 8));
    }
    for (int i = 0; i < 40; i++)
        look(&p, &test, w, batch(&p, 8));
    found f = expect(&p, (truth){100, "jit_train", 1, REC_FOUND_STATE});
    assert_int_equal(f.steps->unlike, 3);
    assert_true(f.steps->run.part_ns[REC_RUN_EVALUATION] > 2 * MS);
    assert_true(f.steps->run.part_ns[REC_RUN_END] > 5 * MS);
    assert_int_equal(f.steps->state_bytes, 64 * 64 * 4);
    assert_false(is_unclear(&f));
    lose(&f);
}

/* Each step keeps a sum of four gradients, and renews the weights with it. */
static void accumulated_gradients_belong_to_the_update(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program init = compile(&p, "jit_init", 64, 1);
    const play_program zeros = compile(&p, "jit_zeros", 64, 1);
    const play_program gradient = compile(&p, "jit_gradient", 64, 1);
    const play_program update = compile(&p, "jit_update", 64, 1);
    uint64_t w = call(&p, &init, batch(&p, 8), 0);
    for (int i = 0; i < 30; i++) {
        uint64_t sum = call(&p, &zeros, batch(&p, 8), 0);
        for (int k = 0; k < 4; k++) {
            /* The sum is the older one of its type. */
            uint64_t arguments[3] = {w, sum, batch(&p, 8)}, made;
            run r = quick;
            r.arguments = arguments;
            r.argument_count = 3;
            play_execute(&p, &gradient, r, &made);
            play_destroy(&p, sum, 0);
            sum = made;
        }
        renew(&p, &update, &w, sum);
        play_destroy(&p, sum, 0);
        play_wait(&p, 0, 0);
    }
    found f = expect(&p, (truth){30, "jit_update", 6, REC_FOUND_STATE});
    lose(&f);
}

/* Two networks take turns, and each needs the other. */
static void both_networks_of_a_gan_are_a_step(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program init = compile(&p, "jit_init", 64, 1);
    const play_program fake = compile(&p, "jit_fake", 8, 1);
    const play_program critic = compile(&p, "jit_critic", 64, 1);
    const play_program other = compile(&p, "jit_init_other", 65, 1);
    const play_program generator = compile(&p, "jit_generator", 65, 1);
    uint64_t d = call(&p, &init, batch(&p, 8), 0), g = call(&p, &other, batch(&p, 8), 0);
    for (int i = 0; i < 40; i++) {
        const uint64_t made = call(&p, &fake, g, batch(&p, 8));
        renew(&p, &critic, &d, made);
        renew(&p, &generator, &g, d);
        play_wait(&p, 0, 0);
    }
    found f = expect(&p, (truth){40, "jit_generator", 3, REC_FOUND_STATE});
    assert_false(is_unclear(&f));
    lose(&f);
}

/* Every tenth step copies the weights, which each step reads: that may be a step of ten. */
static void a_target_network_is_unclear(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program init = compile(&p, "jit_init", 64, 1);
    const play_program learn = compile(&p, "jit_learn", 64, 1);
    const play_program sync = compile(&p, "jit_sync", 64, 1);
    uint64_t w = call(&p, &init, batch(&p, 8), 0), target = call(&p, &init, batch(&p, 8), 0);
    for (int i = 0; i < 100; i++) {
        uint64_t arguments[3] = {w, target, batch(&p, 8)}, made;
        run r = quick;
        r.arguments = arguments;
        r.argument_count = 3;
        play_execute(&p, &learn, r, &made);
        play_destroy(&p, w, 0);
        w = made;
        if (i % 10 == 9)
            renew(&p, &sync, &target, w);
        play_wait(&p, 0, 0);
    }
    found f = find(&p, NULL);
    assert_int_equal(f.steps->marks, 100);
    assert_true(is_unclear(&f));
    assert_string_equal(f.steps->process->programs[f.steps->unclear].name, "jit_sync");
    assert_near(f.steps->unclear_every, 10, 0.1);
    lose(&f);
}

/* An average of the weights is written, and nothing of the loop reads it. */
static void an_average_is_no_step(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program init = compile(&p, "jit_init", 64, 1);
    const play_program learn = compile(&p, "jit_learn", 64, 1);
    const play_program mean = compile(&p, "jit_mean", 64, 1);
    uint64_t w = call(&p, &init, batch(&p, 8), 0), average = call(&p, &init, batch(&p, 8), 0);
    for (int i = 0; i < 90; i++) {
        renew(&p, &learn, &w, batch(&p, 8));
        if (i % 3 == 2)
            renew(&p, &mean, &average, w);
        play_wait(&p, 0, 0);
    }
    found f = find(&p, NULL);
    assert_int_equal(f.steps->marks, 90);
    assert_string_equal(f.steps->process->programs[f.steps->mark_program].name, "jit_learn");
    assert_false(is_unclear(&f));
    lose(&f);
}

/* Sixteen moves of an environment, whose state is another one, then four updates. */
static void a_rollout_and_its_updates_are_a_step(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program init = compile(&p, "jit_init", 640, 1);
    const play_program reset = compile(&p, "jit_reset", 4, 1);
    const play_program move = compile(&p, "jit_move", 4, 1);
    const play_program learn = compile(&p, "jit_learn", 640, 1);
    uint64_t w = call(&p, &init, batch(&p, 8), 0), world = call(&p, &reset, batch(&p, 8), 0);
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 16; k++)
            renew(&p, &move, &world, w);
        for (int k = 0; k < 4; k++)
            renew(&p, &learn, &w, world);
        play_wait(&p, 0, 0);
    }
    found f = expect(&p, (truth){20, "jit_learn", 20, REC_FOUND_STATE});
    lose(&f);
}

/* The same without a state of the rollout: it makes a batch of which several updates learn. */
static void a_program_that_feeds_several_updates_makes_a_round(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program init = compile(&p, "jit_init", 64, 1);
    const play_program rollout = compile(&p, "jit_rollout", 8, 1);
    const play_program learn = compile(&p, "jit_learn", 64, 1);
    uint64_t w = call(&p, &init, batch(&p, 8), 0);
    for (int i = 0; i < 25; i++) {
        const uint64_t seen = call(&p, &rollout, w, batch(&p, 8));
        for (int k = 0; k < 4; k++)
            renew(&p, &learn, &w, seen);
        play_wait(&p, 0, 0);
    }
    found f = expect(&p, (truth){25, "jit_learn", 5, REC_FOUND_STATE});
    lose(&f);
}

/* A set-up that renews much for long, and a small model. */
static void a_long_set_up_is_no_loop(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program fill = compile(&p, "jit_fill", 4096, 1);
    const play_program add = compile(&p, "jit_add", 4096, 1);
    uint64_t data = call(&p, &fill, batch(&p, 8), 0);
    for (int i = 0; i < 4; i++) {
        play_work(&p, 0, 500 * MS);
        renew(&p, &add, &data, 0);
    }
    const play_program init = compile(&p, "jit_init", 64, 1);
    const play_program train = compile(&p, "jit_train", 64, 1);
    uint64_t w = call(&p, &init, batch(&p, 8), 0);
    for (int i = 0; i < 60; i++) {
        renew(&p, &train, &w, batch(&p, 8));
        play_wait(&p, 0, 0);
    }
    found f = expect(&p, (truth){60, "jit_train", 1, REC_FOUND_STATE});
    lose(&f);
}

/* PyTorch/XLA numbers its graphs, and each length of a batch has its own. */
static void numbered_graphs_are_variants(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    static const char *const names[] = {"SyncTensorsGraph.102", "SyncTensorsGraph.151",
                                        "SyncTensorsGraph.155"};
    play_program lengths[3];
    for (int i = 0; i < 3; i++)
        lengths[i] = compile(&p, names[i], 64, 1);
    const play_program init = compile(&p, "SyncTensorsGraph.7", 64, 1);
    uint64_t w = call(&p, &init, batch(&p, 8), 0);
    for (uint64_t i = 0; i < 61; i++) {
        renew(&p, &lengths[i * i % 3], &w, batch(&p, 8 + i * i % 3));
        play_wait(&p, 0, 0);
    }
    found f = find(&p, NULL);
    assert_int_equal(f.steps->marks, 61);
    assert_int_equal(f.steps->how, REC_FOUND_STATE);
    /* Lengths 0 and 1 occur. They are one row. */
    assert_int_equal(f.steps->program_count, 1);
    assert_int_equal(f.steps->programs[0].variants, 2);
    assert_near(f.steps->programs[0].times, 1, 1e-9);
    lose(&f);
}

/* ---- without training --------------------------------------------------------------------- */

/* Ten requests of thirty tokens, each with a cache of its own. */
static void a_cache_for_each_request_makes_tokens_steps(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program prefill = compile(&p, "jit_prefill", 64, 1);
    const play_program decode = compile(&p, "jit_decode", 64, 1);
    for (int i = 0; i < 10; i++) {
        uint64_t cache = call(&p, &prefill, batch(&p, 8), 0);
        for (int k = 0; k < 30; k++) {
            renew(&p, &decode, &cache, batch(&p, 1));
            play_wait(&p, 0, 0);
        }
        play_destroy(&p, cache, 0);
    }
    found f = expect(&p, (truth){300, "jit_decode", 1, REC_FOUND_STATE});
    lose(&f);
}

/* Each request has one of seven shapes. */
static void requests_are_found_by_name(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    play_program shapes[7];
    uint64_t random = 7;
    for (uint64_t i = 0; i < 7; i++)
        shapes[i] = compile(&p, "jit_forward", 8 + i, 1);
    for (int i = 0; i < 100; i++) {
        const uint64_t k = (uint64_t)(7 * fixture_uniform(&random));
        look(&p, &shapes[k], batch(&p, 8 + k), 0);
        play_rest(&p, 0, MS);
    }
    found f = expect(&p, (truth){100, "jit_forward", 1, REC_FOUND_NAME});
    assert_int_equal(f.steps->program_count, 1);
    assert_int_equal(f.steps->programs[0].variants, 7);
    lose(&f);
}

/* Twelve layers of three ops and one op more: the heaviest op is no request. */
static void requests_op_by_op_are_a_period(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program dot = compile(&p, "jit_dot", 8, 1), add = compile(&p, "jit_add", 8, 1);
    const play_program relu = compile(&p, "jit_relu", 8, 1), top = compile(&p, "jit_top", 1, 1);
    const play_program weights = compile(&p, "jit_weights", 64, 1);
    uint64_t w[12];
    for (int k = 0; k < 12; k++)
        w[k] = call(&p, &weights, batch(&p, 8), 0);
    for (int i = 0; i < 50; i++) {
        uint64_t x = batch(&p, 8);
        for (int k = 0; k < 12; k++) {
            const uint64_t y = call(&p, &dot, x, w[k]), z = call(&p, &add, y, w[k]);
            const uint64_t before = x;
            x = call(&p, &relu, z, 0);
            play_destroy(&p, before, 0);
            play_destroy(&p, y, 0);
            play_destroy(&p, z, 0);
        }
        look(&p, &top, x, 0);
        play_destroy(&p, x, 0);
    }
    found f = find(&p, NULL);
    assert_int_equal(f.steps->executions_per_step, 37);
    assert_int_equal(f.steps->marks, 50);
    lose(&f);
}

/* A key of eight bytes is renewed op by op while a model is evaluated. */
static void a_random_key_is_no_state_of_an_evaluation(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    p.dims[0] = 1;
    p.dims[1] = 2;
    const play_program seed = play_compile(&p, "jit_seed", 50, 1, 1, MS);
    const play_program split = play_compile(&p, "jit_split", 51, 1, 1, MS);
    const play_program init = compile(&p, "jit_init", 64, 1);
    const play_program train = compile(&p, "jit_train", 64, 1);
    uint64_t key, w = call(&p, &init, batch(&p, 8), 0);
    play_execute(&p, &seed, quick, &key);
    for (int i = 0; i < 30; i++) {
        renew(&p, &split, &key, 0);
        renew(&p, &train, &w, key);
        play_wait(&p, 0, 0);
    }
    for (int i = 0; i < 40; i++)
        renew(&p, &split, &key, 0);
    found f = expect(&p, (truth){30, "jit_train", 2, REC_FOUND_STATE});
    lose(&f);
}

/* ---- the program's own marks -------------------------------------------------------------- */

/* An epoch of twenty updates is one execution: only the program knows. Each epoch is marked as a
 * step of training, and evaluations as steps of another name. */
static void marks_beat_guesses(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program init = compile(&p, "jit_init", 64, 1);
    const play_program train = compile(&p, "jit_train", 64, 1);
    const play_program test = compile(&p, "jit_test", 1, 1);
    uint64_t w = call(&p, &init, batch(&p, 8), 0);
    for (int i = 0; i < 40; i++) {
        play_mark(&p, 0, RECORD_STEP_BEGINS, "train", i);
        renew(&p, &train, &w, batch(&p, 8));
        renew(&p, &train, &w, batch(&p, 8));
        play_wait(&p, 0, 0);
        play_mark(&p, 0, RECORD_STEP_ENDS, "train", i);
        if (i % 10 == 9)
            for (int k = 0; k < 60; k++) {
                play_mark(&p, 0, RECORD_STEP_BEGINS, "eval", k);
                look(&p, &test, w, batch(&p, 8));
                play_mark(&p, 0, RECORD_STEP_ENDS, "eval", k);
            }
    }
    found f = find(&p, NULL);
    assert_int_equal(f.steps->how, REC_FOUND_MARKS);
    assert_int_equal(f.steps->marks, 40);
    assert_int_equal(f.steps->executions_per_step, 2);
    assert_int_equal(f.steps->unlike, 3);
    assert_string_equal(f.steps->mark_name, "train");
    assert_near(rec_steps_wall(f.steps).median_ns, 455 * US, 5 * US);
    assert_true(f.steps->run.part_ns[REC_RUN_EVALUATION] > 30 * MS);
    lose(&f);
}

/* Phases say what the time between steps was, whatever ran then. */
static void phases_are_no_steps(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program init = compile(&p, "jit_init", 64, 1);
    const play_program train = compile(&p, "jit_train", 64, 1);
    uint64_t w = call(&p, &init, batch(&p, 8), 0);
    for (int i = 0; i < 40; i++) {
        renew(&p, &train, &w, batch(&p, 8));
        play_wait(&p, 0, 0);
        if (i % 20 != 10)
            continue;
        play_mark(&p, 0, RECORD_PHASE_BEGINS, "checkpoint", i);
        play_rest(&p, 0, 50 * MS);
        play_mark(&p, 0, RECORD_PHASE_ENDS, "checkpoint", i);
    }
    found f = expect(&p, (truth){40, "jit_train", 1, REC_FOUND_STATE});
    assert_int_equal(f.steps->unlike, 2);
    assert_near(f.steps->run.part_ns[REC_RUN_CHECKPOINT], 100 * MS, MS);
    assert_true(rec_steps_wall(f.steps).p90_ns < MS);
    lose(&f);
}

/* A mark within each step, and one behind the last execution. */
static void marks_within_steps_are_no_others(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program init = compile(&p, "jit_init", 64, 1);
    const play_program train = compile(&p, "jit_train", 64, 1);
    uint64_t w = call(&p, &init, batch(&p, 8), 0);
    for (int i = 0; i < 30; i++) {
        play_mark(&p, 0, RECORD_STEP_BEGINS, "", i);
        play_work(&p, 0, 10 * US);
        if (i % 2)
            play_mark(&p, 0, RECORD_STEP_BEGINS, "loader", i);
        renew(&p, &train, &w, batch(&p, 8));
        play_wait(&p, 0, 0);
    }
    play_mark(&p, 0, RECORD_STEP_BEGINS, "", 30);
    found f = find(&p, NULL);
    assert_int_equal(f.steps->marks, 31);
    assert_string_equal(f.steps->mark_name, "");
    assert_int_equal(f.steps->executions_per_step, 1);
    assert_true(f.steps->count >= 20);
    lose(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluations_between_epochs_are_no_steps),
        cmocka_unit_test(accumulated_gradients_belong_to_the_update),
        cmocka_unit_test(both_networks_of_a_gan_are_a_step),
        cmocka_unit_test(a_target_network_is_unclear),
        cmocka_unit_test(an_average_is_no_step),
        cmocka_unit_test(a_rollout_and_its_updates_are_a_step),
        cmocka_unit_test(a_program_that_feeds_several_updates_makes_a_round),
        cmocka_unit_test(a_long_set_up_is_no_loop),
        cmocka_unit_test(numbered_graphs_are_variants),
        cmocka_unit_test(a_cache_for_each_request_makes_tokens_steps),
        cmocka_unit_test(requests_are_found_by_name),
        cmocka_unit_test(requests_op_by_op_are_a_period),
        cmocka_unit_test(a_random_key_is_no_state_of_an_evaluation),
        cmocka_unit_test(marks_beat_guesses),
        cmocka_unit_test(phases_are_no_steps),
        cmocka_unit_test(marks_within_steps_are_no_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
