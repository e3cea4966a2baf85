/*
 * test_steps.c - steps of recordings whose truth is known: how many there are, where their time
 * went, and what follows from it.
 */
#include "tests/results/recordings/recording_fixture.h"

#define LOOPS 40

static void part_is(const rec_steps *s, rec_part part, double ns, double tolerance)
{
    const double median = rec_steps_part(s, part).median_ns;
    if (fabs(median - ns) > tolerance)
        fail_msg("%s: %.0f ns, not %.0f", rec_part_name(part), median, ns);
}

static void says(const found *f, const char *text)
{
    bn_text out = {0};
    rec_answer_put(f->steps, &f->answer, &out);
    if (!out.data || !strstr(out.data, text))
        fail_msg("'%s' is not in: %s", text, out.data ? out.data : "");
    bn_text_free(&out);
}

/* ---- a loop of one program that is awaited outside of calls, as JAX does ---------------- */

typedef struct loop {
    uint64_t work_ns, sleep_ns; /* after the wait */
    uint64_t device_ns, call_ns;
    unsigned read_every; /* 0: each step is awaited */
    unsigned steps;      /* 0: LOOPS */
    uint64_t read_ns;    /* a result is copied, when the device has ended */
    unsigned slow_every; /* so many steps the host sleeps for 5 ms more; 0: never */
} loop;

/* Initialisation of many programs, then LOOPS steps of one that donates its state. */
static void play_loop(play *p, const loop *l)
{
    const play_program init = play_compile(p, "init", 11, 1, 1, 30 * MS);
    const play_program step = play_compile(p, "jit_step", 12, 3, 1, 200 * MS);
    const play_program show = play_compile(p, "jit_show", 13, 1, 1, 9 * MS);
    uint64_t state[3], made[1];
    const run first = {.call_ns = 20 * US, .device_ns = 30 * US};
    for (int i = 0; i < 3; i++) {
        play_execute(p, &init, first, made);
        state[i] = made[0];
    }
    for (unsigned i = 0; i < (l->steps ? l->steps : LOOPS); i++) {
        uint64_t arguments[4] = {state[0], state[1], 0, 0};
        play_destroy(p, state[2], 0);
        play_work(p, 0, 40 * US);
        arguments[2] = play_send(p, 0, 1000, 20 * US);
        const run r = {.call_ns = l->call_ns,
                       .device_ns = l->device_ns,
                       .arguments = arguments,
                       .argument_count = 2,
                       .donate = true};
        play_execute(p, &step, r, state);
        play_destroy(p, arguments[2], 0);
        if (l->read_every && i % l->read_every == l->read_every - 1) {
            const run look = {.call_ns = 10 * US,
                              .device_ns = 5 * US,
                              .arguments = &state[2],
                              .argument_count = 1};
            play_execute(p, &show, look, NULL);
            play_wait(p, 0, 0);
        } else if (!l->read_every) {
            play_wait(p, 0, 0);
        }
        if (l->read_ns)
            play_read(p, 0, state[0], l->read_ns);
        play_work(p, 0, l->work_ns);
        play_rest(p, 0, l->sleep_ns);
        if (l->slow_every && i % l->slow_every == l->slow_every - 1)
            play_rest(p, 0, 5 * MS);
    }
}

static void a_fused_step_is_device_bound(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    play_loop(&p, &(loop){.call_ns = 50 * US, .device_ns = 2800 * US});
    found f = find(&p, NULL);
    const rec_steps *s = f.steps;
    sums_hold(s);
    assert_in_range(s->count, LOOPS - 3, LOOPS - 1);
    assert_int_equal(s->executions_per_step, 1);
    assert_int_equal(s->program_count, 1);
    assert_string_equal(s->process->programs[s->programs[0].program].name, "jit_step");
    assert_near(rec_steps_wall(s).median_ns, 2860 * US, 1);
    part_is(s, REC_PART_HOST, 40 * US, 1);
    part_is(s, REC_PART_DISPATCH, 50 * US, 1);
    part_is(s, REC_PART_TRANSFER, 20 * US, 1);
    part_is(s, REC_PART_WAIT, 2750 * US, 1);
    part_is(s, REC_PART_IDLE, 0, 1);
    part_is(s, REC_PART_COMPILE, 0, 0);
    assert_near(rec_steps_busy(s).median_ns, 2800 * US, 1);
    assert_near(rec_steps_gap(s, REC_PART_HOST).median_ns, 40 * US, 1);
    assert_near(rec_steps_gap(s, REC_PART_TRANSFER).median_ns, 20 * US, 1);
    assert_near(s->programs[0].device_ns, 2800 * US, 1);
    assert_near(s->programs[0].call_ns, 50 * US, 1);
    assert_near(s->programs[0].gap_before_ns, 60 * US, 1);
    assert_int_equal(s->programs[0].arguments, 2);
    assert_int_equal(s->programs[0].results, 3);
    assert_int_equal(s->programs[0].donated, 2);
    assert_int_equal(f.answer.verdict, REC_DEVICE_BOUND);
    assert_near(f.answer.ahead_share, 0, 1e-9);
    assert_near(f.answer.no_gaps_ns.estimate, 2800 * US, 1);
    assert_true(isnan(f.answer.fused_ns.estimate));
    says(&f, "Device-bound");
    says(&f, "does not overlap");
    lose(&f);
}

/* Sending, for 20 us, and reading back are parts of their own. */
static void both_directions_are_separated(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    play_loop(&p, &(loop){.call_ns = 50 * US, .device_ns = 2800 * US, .read_ns = 700 * US});
    found f = find(&p, NULL);
    sums_hold(f.steps);
    part_is(f.steps, REC_PART_TRANSFER, 20 * US, 1);
    part_is(f.steps, REC_PART_READ, 700 * US, 1);
    part_is(f.steps, REC_PART_WAIT, 2750 * US, 1);
    assert_near(rec_steps_gap(f.steps, REC_PART_READ).median_ns, 700 * US, 1);
    assert_near(f.answer.host_only_ns.estimate, 810 * US, 1);
    says(&f, "700 us in reads");
    lose(&f);
}

static void work_and_sleep_are_separated(void **state)
{
    (void)state;
    const loop loops[] = {
        {.work_ns = 5 * MS, .call_ns = 50 * US, .device_ns = 2800 * US},
        {.sleep_ns = 5 * MS, .call_ns = 50 * US, .device_ns = 2800 * US},
        {.work_ns = 3 * MS, .sleep_ns = 2 * MS, .call_ns = 50 * US, .device_ns = 2800 * US}};
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        play p;
        play_begin(&p);
        play_loop(&p, &loops[i]);
        found f = find(&p, NULL);
        sums_hold(f.steps);
        assert_near(rec_steps_wall(f.steps).median_ns, 7860 * US, 1);
        part_is(f.steps, REC_PART_HOST, 40 * US + (double)loops[i].work_ns, 1);
        part_is(f.steps, REC_PART_IDLE, (double)loops[i].sleep_ns, 1);
        part_is(f.steps, REC_PART_WAIT, 2750 * US, 1);
        assert_int_equal(f.answer.verdict, REC_HOST_BOUND);
        assert_int_equal(f.answer.gap_part,
                         loops[i].work_ns > loops[i].sleep_ns ? REC_PART_HOST : REC_PART_IDLE);
        assert_near(f.answer.no_gaps_ns.estimate, 2800 * US, 1);
        says(&f, "Host-bound");
        lose(&f);
    }
}

static void without_clocks_the_rest_is_host_work(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    p.no_clocks = true;
    play_loop(&p, &(loop){.sleep_ns = 5 * MS, .call_ns = 50 * US, .device_ns = 2800 * US});
    found f = find(&p, NULL);
    sums_hold(f.steps);
    assert_false(f.steps->cpu_clocks);
    assert_int_equal(f.steps->thread_count, 1);
    assert_true(isnan(f.steps->threads[0].host_work.mean_ns));
    assert_near(f.steps->threads[0].dispatch.median_ns, 50 * US, 1);
    part_is(f.steps, REC_PART_HOST, 5040 * US, 50 * US);
    part_is(f.steps, REC_PART_IDLE, 0, 0);
    says(&f, "CPU clocks");
    lose(&f);
}

static void without_completions_there_is_no_verdict(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    p.no_completions = true;
    play_loop(&p, &(loop){.call_ns = 50 * US, .device_ns = 2800 * US});
    found f = find(&p, NULL);
    sums_hold(f.steps);
    assert_int_equal(f.answer.verdict, REC_UNKNOWN);
    assert_true(isnan(f.answer.busy_share));
    assert_true(isnan(f.steps->programs[0].device_ns));
    says(&f, "no verdict");
    json_t *o = rec_steps_json(f.recording, f.steps, &f.answer);
    assert_true(json_is_null(json_object_get(o, "device_busy")));
    json_decref(o);
    lose(&f);
}

/* The loss is read in every tenth step. */
static const loop pipelined = {.call_ns = 50 * US,
                               .device_ns = 2800 * US,
                               .work_ns = 400 * US,
                               .read_every = 10,
                               .steps = 100};

static void a_pipelined_loop_overlaps(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    play_loop(&p, &pipelined);
    found f = find(&p, NULL);
    const rec_steps *s = f.steps;
    sums_hold(s);
    /* Reading the loss now and then is no step of ten. */
    assert_int_equal(s->executions_per_step, 1);
    assert_in_range(s->count, 50, 99);
    assert_true(s->by_completion);
    assert_int_equal(s->marks, 100);
    assert_true(f.answer.ahead_share > 0.8);
    assert_true(f.answer.busy_share > 0.9);
    assert_int_equal(f.answer.verdict, REC_DEVICE_BOUND);
    /* Ten steps are submitted in less time than the device takes for two: single walls are no
     * step's time. */
    assert_near(rec_steps_wall(s).mean_ns, 2846500, 10 * US);
    assert_near(f.answer.wall_ns.estimate, 2846500, 10 * US);
    assert_near(rec_steps_part(s, REC_PART_HOST).mean_ns, 440 * US, 5 * US);
    says(&f, "overlaps the device");
    lose(&f);
}

/* Then nobody knows whether the host is ahead. */
static void without_completions_a_step_is_a_mean(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    p.no_completions = true;
    play_loop(&p, &pipelined);
    found f = find(&p, NULL);
    assert_int_equal(f.steps->cycle, f.steps->count / 30);
    assert_false(f.steps->by_completion);
    assert_near(f.answer.wall_ns.estimate, 2846500, 300 * US);
    lose(&f);
}

/* Each step takes 10 ms and waits for its loss, and some write a checkpoint for 5 ms. Slow walls
 * come again and again, and each one is what its step takes. */
static void a_slow_step_now_and_then_is_no_cycle(void **state)
{
    (void)state;
    static const unsigned every[] = {10, 5};
    for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
        play p;
        play_begin(&p);
        play_loop(&p, &(loop){.call_ns = 50 * US,
                              .device_ns = 9 * MS,
                              .work_ns = 940 * US,
                              .slow_every = every[i],
                              .steps = 100});
        found f = find(&p, NULL);
        sums_hold(f.steps);
        assert_int_equal(f.steps->cycle, 1);
        assert_near(f.answer.ahead_share, 0, 1e-9);
        assert_near(rec_steps_wall(f.steps).median_ns, 10 * MS, 1);
        /* A tenth of slow ones is just not in it, a fifth is. */
        assert_near(rec_steps_wall(f.steps).p90_ns, every[i] == 10 ? 10 * MS : 15 * MS, 1);
        lose(&f);
    }
}

/* Whatever the recorder did not write is said. */
static void what_was_not_recorded_is_said(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    tape_file(&p.tape)->lost = 3;
    tape_file(&p.tape)->unseen = 1;
    play_loop(&p, &(loop){.call_ns = 50 * US, .device_ns = 2800 * US});
    found f = find(&p, NULL);
    says(&f, "3 events ");
    says(&f, " 1 further plugin ");
    json_t *o = rec_steps_json(f.recording, f.steps, &f.answer);
    json_t *process = json_object_get(o, "process");
    assert_int_equal(json_integer_value(json_object_get(process, "lost")), 3);
    assert_int_equal(json_integer_value(json_object_get(process, "plugins_unseen")), 1);
    json_decref(o);
    lose(&f);
}

/* ---- several programs ------------------------------------------------------------------- */

/* A gradient, run as FIRST, and an update op by op over LAYERS layers: 3 + 2 LAYERS executions. */
static void play_ops(play *p, unsigned layers, const run *first, run op)
{
    const play_program gradient = play_compile(p, "jit_grad", 21, layers + 1, 1, 90 * MS);
    const play_program loss = play_compile(p, "jit_loss", 22, 1, 1, 9 * MS);
    const play_program count = play_compile(p, "jit_count", 23, 1, 1, 9 * MS);
    const play_program multiply = play_compile(p, "jit_multiply", 24, 1, 1, 9 * MS);
    const play_program subtract = play_compile(p, "jit_subtract", 25, 1, 1, 9 * MS);
    uint64_t parameter[64], gradients[65];
    for (unsigned k = 0; k < layers; k++)
        play_execute(p, &count, op, &parameter[k]);
    for (unsigned i = 0; i < LOOPS; i++) {
        run r = *first;
        r.arguments = parameter;
        r.argument_count = layers;
        play_work(p, 0, 30 * US);
        play_execute(p, &gradient, r, gradients);
        r = op;
        r.arguments = &gradients[layers];
        r.argument_count = 1;
        play_execute(p, &loss, r, NULL);
        play_execute(p, &count, op, NULL);
        for (unsigned k = 0; k < layers; k++) {
            uint64_t product, both[2];
            r.arguments = &gradients[k];
            r.argument_count = 1;
            play_execute(p, &multiply, r, &product);
            both[0] = parameter[k];
            both[1] = product;
            r.arguments = both;
            r.argument_count = 2;
            play_execute(p, &subtract, r, &parameter[k]);
            play_destroy(p, both[0], 0);
            play_destroy(p, both[1], 0);
        }
        for (unsigned k = 0; k <= layers; k++)
            play_destroy(p, gradients[k], 0);
        play_wait(p, 0, 0);
        play_work(p, 0, 100 * US);
    }
}

static void two_programs_are_one_step(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program gradient = play_compile(&p, "jit_grad", 31, 1, 1, 90 * MS);
    const play_program update = play_compile(&p, "jit_update", 32, 1, 1, 90 * MS);
    uint64_t parameter, gradients;
    play_execute(&p, &update, (run){.call_ns = 20 * US, .device_ns = 20 * US}, &parameter);
    for (unsigned i = 0; i < LOOPS; i++) {
        run r = {.call_ns = 60 * US, .device_ns = 2 * MS};
        uint64_t both[2];
        play_work(&p, 0, 300 * US);
        r.arguments = &parameter;
        r.argument_count = 1;
        play_execute(&p, &gradient, r, &gradients);
        both[0] = parameter;
        both[1] = gradients;
        r.arguments = both;
        r.argument_count = 2;
        r.device_ns = MS;
        r.donate = true;
        play_execute(&p, &update, r, &parameter);
        play_await(&p, 0, 0);
    }
    found f = find(&p, NULL);
    const rec_steps *s = f.steps;
    sums_hold(s);
    assert_int_equal(s->executions_per_step, 2);
    assert_int_equal(s->program_count, 2);
    /* The step begins after the host's work, with the gradient. */
    assert_string_equal(s->process->programs[s->programs[0].program].name, "jit_grad");
    assert_near(s->programs[0].host_before_ns, 300 * US + 2880 * US, 3 * US);
    assert_near(rec_steps_wall(s).median_ns, 3300 * US, 1);
    part_is(s, REC_PART_HOST, 300 * US, 1);
    part_is(s, REC_PART_DISPATCH, 120 * US, 1);
    part_is(s, REC_PART_WAIT, 2880 * US, 1);
    assert_int_equal(s->programs[1].donated, 2);
    lose(&f);
}

static void an_update_op_by_op_is_no_step_of_its_own(void **state)
{
    (void)state;
    /* The gradient is most of the step, or next to nothing of it: then the device waits for what is
     * launched at each call's end. */
    static const run gradients[] = {
        {.call_ns = 60 * US, .device_ns = 2800 * US},
        {.call_ns = 60 * US, .device_ns = 60 * US, .launch_ns = 60 * US}};
    static const run ops[] = {{.call_ns = 40 * US, .device_ns = 40 * US},
                              {.call_ns = 40 * US, .device_ns = 15 * US, .launch_ns = 40 * US}};
    for (size_t i = 0; i < 2; i++) {
        play p;
        play_begin(&p);
        play_ops(&p, 40, &gradients[i], ops[i]);
        found f = find(&p, NULL);
        sums_hold(f.steps);
        assert_int_equal(f.steps->executions_per_step, 83);
        assert_int_equal(f.steps->program_count, 5);
        assert_string_equal(f.steps->process->programs[f.steps->programs[0].program].name,
                            "jit_grad");
        assert_near(f.steps->programs[3].times, 40, 1e-9);
        assert_near(f.answer.overhead_ns.estimate, 40 * US, 1);
        assert_near(f.answer.wall_ns.estimate - f.answer.fused_ns.estimate, 82 * 40 * US, 2);
        if (i == 1) {
            assert_int_equal(f.answer.verdict, REC_DISPATCH_BOUND);
            says(&f, "instead of 83 ");
        }
        lose(&f);
    }
}

/* ---- what is left out ------------------------------------------------------------------- */

static void warm_up_and_compiles_are_left_out(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program step = play_compile(&p, "jit_step", 51, 1, 1, 100 * MS);
    const run r = {.call_ns = 50 * US, .device_ns = MS};
    for (unsigned i = 0; i < 60; i++) {
        play_execute(&p, &step, r, NULL);
        play_wait(&p, 0, 0);
        /* Slow at first; once something is compiled in the middle. */
        play_work(&p, 0, i < 6 ? (8 - i) * MS : MS + i % 3 * US);
        if (i == 2 || i == 30)
            (void)play_compile(&p, "other", 60 + i, 1, 1, 70 * MS);
    }
    found f = find(&p, NULL);
    assert_int_equal(f.steps->found, 59);
    assert_int_equal(f.steps->with_compiles, 2);
    assert_int_equal(f.steps->compile_ns, 140 * MS);
    assert_in_range(f.steps->warming, 4, 8);
    assert_near(rec_steps_wall(f.steps).p90_ns, 2 * MS, 10 * US);
    part_is(f.steps, REC_PART_COMPILE, 0, 0);
    lose(&f);
}

/* Evaluations stand between runs of steps, and at the end. */
static void evaluations_are_no_steps(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    const play_program step = play_compile(&p, "jit_step", 51, 1, 1, MS);
    const play_program look = play_compile(&p, "jit_look", 52, 1, 1, MS);
    for (unsigned i = 0; i < 120; i++) {
        const bool steps = i / 20 % 2 == 0;
        play_execute(&p, steps ? &step : &look,
                     (run){.call_ns = 50 * US, .device_ns = steps ? 3 * MS : MS}, NULL);
        play_wait(&p, 0, 0);
        play_work(&p, 0, 100 * US);
    }
    found f = find(&p, NULL);
    assert_string_equal(f.steps->process->programs[f.steps->programs[0].program].name, "jit_step");
    assert_int_equal(f.steps->executions_per_step, 1);
    assert_int_equal(f.steps->count, 57);
    assert_int_equal(f.steps->unlike, 2);
    assert_near(rec_steps_wall(f.steps).median_ns, 3100 * US, 1);
    lose(&f);
}

static void no_steps_is_an_error_that_helps(void **state)
{
    (void)state;
    bn_status st = {0};
    char folder[300];
    play p;
    uint64_t random = 5;
    play_program programs[8];
    rec_steps *steps = NULL;
    play_begin(&p);
    for (int i = 0; i < 8; i++) {
        char name[] = "jit_0";
        name[4] = (char)('0' + i);
        programs[i] = play_compile(&p, name, 70 + (uint64_t)i, 1, 1, MS);
    }
    for (int i = 0; i < 300; i++)
        play_execute(&p, &programs[(int)(8 * fixture_uniform(&random))],
                     (run){.call_ns = 50 * US, .device_ns = MS}, NULL);
    rec_recording *r = play_open(&p, folder, sizeof folder);
    rec_options o = {.device = -1};
    assert_fails(rec_steps_find(r, &o, &steps, &st), BN_NOT_FOUND, "--step-program: jit_", &st);
    assert_null(steps);
    o.step_program = "jit_9";
    assert_fails(rec_steps_find(r, &o, &steps, &st), BN_NOT_FOUND, "no program of this name", &st);
    o.step_program = "jit_3";
    assert_ok(rec_steps_find(r, &o, &steps, &st), &st);
    assert_true(steps->how == REC_FOUND_PROGRAM && steps->count > 10);
    sums_hold(steps);
    rec_steps_free(steps);
    /* Each of them. */
    o.step_program = "jit_*";
    assert_ok(rec_steps_find(r, &o, &steps, &st), &st);
    assert_int_equal(steps->executions_per_step, 1);
    assert_int_equal(steps->found, 299);
    rec_steps_free(steps);
    /* By the beginning of its hash. */
    o.step_program = "0000000000000001"
                     "0000000000000049";
    assert_ok(rec_steps_find(r, &o, &steps, &st), &st);
    assert_string_equal(steps->process->programs[steps->programs[0].program].name, "jit_3");
    rec_steps_free(steps);
    o = (rec_options){.device = 3};
    assert_fails(rec_steps_find(r, &o, &steps, &st), BN_NOT_FOUND, "device 3", &st);
    o = (rec_options){.device = -1, .pid = 7};
    assert_fails(rec_steps_find(r, &o, &steps, &st), BN_NOT_FOUND, "no process 7", &st);
    rec_close(r);
}

/* ---- the answer ------------------------------------------------------------------------- */

/* Steps that are alike over hundreds of them tell less than as many independent ones. */
static void intervals_know_that_neighbours_are_alike(void **state)
{
    (void)state;
    int missed = 0, tables = 60;
    for (int table = 0; table < tables; table++) {
        play p;
        uint64_t random = 77 + (uint64_t)table;
        double drift = 0;
        play_begin_at(&p, 100, 1000 * MS);
        const play_program step = play_compile(&p, "jit_step", 12, 1, 1, MS);
        for (unsigned i = 0; i < 400; i++) {
            drift = 0.7 * drift + fixture_normal(&random);
            play_execute(&p, &step, (run){.call_ns = 50 * US, .device_ns = MS}, NULL);
            play_wait(&p, 0, 0);
            play_work(&p, 0, (uint64_t)(MS + 20e3 * drift));
        }
        found f = find(&p, NULL);
        missed += f.answer.wall_ns.low > 2e6 || f.answer.wall_ns.high < 2e6;
        assert_true(isfinite(f.answer.wall_ns.low));
        lose(&f);
    }
    /* 5 % of 60 are 3; neighbours that counted as independent would miss some 25. */
    assert_in_range(missed, 0, 9);
}

static void json_has_what_programs_need(void **state)
{
    (void)state;
    play p;
    play_begin(&p);
    play_loop(&p, &(loop){.work_ns = MS, .call_ns = 50 * US, .device_ns = 2800 * US});
    found f = find(&p, NULL);
    json_t *o = rec_steps_json(f.recording, f.steps, &f.answer);
    json_t *ledger = json_object_get(o, "ledger");
    double sum = 0;
    const char *part;
    json_t *figure;
    assert_int_equal(json_integer_value(json_object_get(o, "steps")), f.steps->count);
    assert_int_equal(json_integer_value(json_object_get(o, "executions_per_step")), 1);
    assert_string_equal(json_string_value(json_object_get(o, "verdict")), "host-bound");
    assert_int_equal(json_object_size(ledger), REC_PART_COUNT);
    json_object_foreach(ledger, part, figure)
    {
        assert_true(json_is_real(json_object_get(figure, "median_ns")));
        assert_true(json_is_real(json_object_get(figure, "p10_ns")));
        assert_true(json_is_real(json_object_get(figure, "p90_ns")));
        sum += json_real_value(json_object_get(figure, "mean_ns"));
    }
    figure = json_object_get(o, "wall");
    assert_near(sum, json_real_value(json_object_get(figure, "mean_ns")), 1);
    json_t *program = json_array_get(json_object_get(o, "programs"), 0);
    assert_string_equal(json_string_value(json_object_get(program, "name")), "jit_step");
    assert_string_equal(json_string_value(json_object_get(program, "hash")),
                        "0000000000000001000000000000000c");
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(program, "result_types"), 0)), "f32[2,3]");
    json_t *process = json_object_get(o, "process");
    assert_string_equal(json_string_value(json_object_get(process, "framework")), "jax 0.10.2");
    json_decref(o);
    lose(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fused_step_is_device_bound),
        cmocka_unit_test(both_directions_are_separated),
        cmocka_unit_test(work_and_sleep_are_separated),
        cmocka_unit_test(without_clocks_the_rest_is_host_work),
        cmocka_unit_test(without_completions_there_is_no_verdict),
        cmocka_unit_test(a_pipelined_loop_overlaps),
        cmocka_unit_test(without_completions_a_step_is_a_mean),
        cmocka_unit_test(a_slow_step_now_and_then_is_no_cycle),
        cmocka_unit_test(what_was_not_recorded_is_said),
        cmocka_unit_test(two_programs_are_one_step),
        cmocka_unit_test(an_update_op_by_op_is_no_step_of_its_own),
        cmocka_unit_test(warm_up_and_compiles_are_left_out),
        cmocka_unit_test(evaluations_are_no_steps),
        cmocka_unit_test(no_steps_is_an_error_that_helps),
        cmocka_unit_test(intervals_know_that_neighbours_are_alike),
        cmocka_unit_test(json_has_what_programs_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
