/*
 * test_complaints.c - each rule on recordings: it finds what was planted, says where and what it
 * costs, and is silent about what is healthy. Host and device are played, so the truth is exact.
 */
#include "tests/results/complaints/complaints_fixture.h"

enum { LOOPS = 40 };

/* A loop of one program, jit_step, that the host awaits outside of calls. */
typedef struct loop {
    uint64_t call_ns, device_ns;
    uint64_t work_ns, sleep_ns, send_ns, read_ns; /* in each step */
    uint64_t compile_ns;
    int executions;   /* of jit_part a step, in addition; each awaited in its call */
    bool ahead;       /* the host never waits, but for a full queue of one step */
    bool kept;        /* the state is destroyed, not donated */
    bool other_input; /* besides the state it gets a buffer, which is destroyed */
    bool managed;     /* a manager of transfers sends, nobody knows into which buffer */
    bool in_place;    /* the host waits for the second result and reads it where it is */
} loop;

static const loop healthy = {.call_ns = 40 * US, .device_ns = 2800 * US, .work_ns = 30 * US};

/* A step; STATE goes from one to the next. */
static void play_step(play *p, const loop *l, const play_program *step, const play_program *part,
                      uint64_t *state)
{
    uint64_t made[2] = {0}, arguments[2] = {*state, 0};
    play_work(p, 0, l->work_ns);
    if (l->send_ns && l->managed)
        play_feed(p, 0, 0, 6 << 20, l->send_ns);
    else if (l->send_ns)
        play_destroy(p, play_send(p, 0, 6 << 20, l->send_ns), 0);
    if (l->other_input)
        arguments[1] = play_send(p, 0, 1000, US);
    const run r = {.call_ns = l->call_ns,
                   .device_ns = l->device_ns,
                   .arguments = arguments,
                   .argument_count = l->other_input ? 2 : 1,
                   .donate = !l->kept,
                   .asked = true,
                   .taken = l->kept ? 0 : 3};
    const uint64_t before = p->device_free[0];
    play_execute(p, step, r, made);
    if (l->kept)
        play_destroy(p, *state, 0);
    if (l->kept && l->other_input)
        play_destroy(p, arguments[1], 0);
    for (int i = 0; i < l->executions; i++) {
        play_wait(p, 0, 0);
        play_execute(p, part, (run){.call_ns = 100 * US, .device_ns = 100 * US}, NULL);
    }
    if (l->ahead && p->thread[0].now < before)
        p->thread[0].now = before;
    if (l->in_place)
        play_read_in_place(p, 0, 0, made[1]);
    else if (!l->ahead)
        play_wait(p, 0, 0);
    if (l->read_ns)
        play_read(p, 0, made[1], l->read_ns);
    play_rest(p, 0, l->sleep_ns);
    play_destroy(p, made[1], 0);
    *state = made[0];
}

static void play_loops(play *p, const loop *l, int loops)
{
    const play_program init = play_compile(p, "jit_init", 11, 1, 1, 10 * MS);
    const uint64_t ns = l->compile_ns ? l->compile_ns : 200 * MS;
    const play_program step = play_compile(p, "jit_step", 12, 2, 1, ns);
    const play_program part = play_compile(p, "jit_part", 13, 1, 1, MS);
    uint64_t state;
    play_execute(p, &init, (run){.call_ns = 20 * US, .device_ns = 30 * US}, &state);
    play_wait(p, 0, 0);
    for (int i = 0; i < loops; i++)
        play_step(p, l, &step, &part, &state);
}

static void play_loop(play *p, const loop *l)
{
    play_loops(p, l, LOOPS);
}

/* ---- asking ------------------------------------------------------------------------------------
 */

static seen see_loop(const loop *l)
{
    static play p;
    play_begin(&p);
    play_loop(&p, l);
    return see(&p);
}

/* ---- what is healthy ---------------------------------------------------------------------------
 */

static void healthy_recordings_draw_no_complaint(void **state)
{
    (void)state;
    loop cases[4] = {healthy, healthy, healthy, healthy};
    cases[1].ahead = true;
    cases[1].work_ns = 2 * MS;
    cases[2].ahead = true;
    cases[2].read_ns = 20 * US;
    cases[3].executions = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seen s = see_loop(&cases[i]);
        says(&s, "device-bound");
        assert_int_equal(s.checkup.count, 0);
        forget(&s);
    }
}

/* ---- gaps of the device ------------------------------------------------------------------------
 */

static void host_work_is_priced_and_what_hides_of_it(void **state)
{
    (void)state;
    loop l = healthy;
    l.work_ns = 2 * MS;
    seen s = see_loop(&l);
    const rec_finding *c = complaint(&s, REC_RULE_HOST, 1);
    costs(c, 2e6, 1e3);
    /* With the host a step ahead, it and the device work side by side. */
    assert_near(c->hidden_ns, 2e6, 5e4);
    assert_near(c->share, 2.0 / 4.8, 0.01);
    says(&s, "1. host: ");
    says(&s, "takes 2.00 ms");
    says(&s, "before jit_step)");
    assert_near(c->hidden_ns, 2e6, 5e4);
    forget(&s);
    /* A host that is ahead already, and is slower than the device: nothing hides. */
    l.ahead = true;
    l.work_ns = 5 * MS;
    s = see_loop(&l);
    c = complaint(&s, REC_RULE_HOST, 1);
    costs(c, 5e6 - 28e5 + 4e4, 1e5);
    assert_true(isnan(c->hidden_ns) || c->hidden_ns < 1e5);
    forget(&s);
}

static void sleep_is_no_work(void **state)
{
    (void)state;
    loop l = healthy;
    l.sleep_ns = 5 * MS;
    seen s = see_loop(&l);
    const rec_finding *c = complaint(&s, REC_RULE_INPUT, 1);
    costs(c, 5e6, 1e3);
    /* A loader that takes longer than the rest of the step cannot hide behind it. */
    assert_near(c->hidden_ns, 2.83e6, 5e4);
    says(&s, "takes 5.00 ms");
    forget(&s);
}

static void without_clocks_sleep_may_be_work(void **state)
{
    (void)state;
    static play p;
    loop l = healthy;
    l.sleep_ns = 5 * MS;
    play_begin(&p);
    p.no_clocks = true;
    play_loop(&p, &l);
    seen s = see(&p);
    (void)complaint(&s, REC_RULE_HOST, 1);
    says(&s, "CPU clocks");
    forget(&s);
}

static void sends_are_priced_by_gaps(void **state)
{
    (void)state;
    loop l = healthy;
    l.send_ns = MS;
    seen s = see_loop(&l);
    const rec_finding *c = complaint(&s, REC_RULE_TRANSFERS, 1);
    costs(c, 1e6, 1e3);
    assert_near(c->bytes, 6 << 20, 1);
    says(&s, "6 MiB in 1 transfer");
    says(&s, " f32[2,3])");
    forget(&s);
    l.managed = true;
    s = see_loop(&l);
    c = complaint(&s, REC_RULE_TRANSFERS, 1);
    costs(c, 1e6, 1e3);
    assert_near(c->bytes, 6 << 20, 1);
    assert_int_equal(c->where.length, 0);
    forget(&s);
    l.managed = false;
    l.ahead = true;
    s = see_loop(&l);
    assert_int_equal(s.checkup.count, 0);
    forget(&s);
}

static void calls_of_one_execution(void **state)
{
    (void)state;
    loop l = healthy;
    l.call_ns = 4 * MS;
    seen s = see_loop(&l);
    const rec_finding *c = complaint(&s, REC_RULE_DISPATCH, 1);
    costs(c, 12e5, 1e3);
    assert_near(c->count, 1, 1e-9);
    forget(&s);
}

/* ---- reads and executions ----------------------------------------------------------------------
 */

static void reads_are_priced_by_what_they_hold_up(void **state)
{
    (void)state;
    loop l = healthy;
    l.work_ns = 1500 * US;
    l.read_ns = 100 * US;
    seen s = see_loop(&l);
    const rec_finding *c = complaint(&s, REC_RULE_READS, 2);
    /* Without the read the host would have been ahead: 4.4 ms become 2.8. */
    costs(c, 16e5, 5e4);
    assert_near(c->count, 1, 1e-9);
    says(&s, "1 value ");
    says(&s, "takes 1.60 ms");
    says(&s, "(f32[2,3], result 1 of jit_step)");
    assert_int_equal(s.checkup.list[0].rule, REC_RULE_READS);
    forget(&s);
}

static void so_are_reads_in_place(void **state)
{
    (void)state;
    loop l = healthy;
    l.work_ns = 1500 * US;
    l.in_place = true;
    seen s = see_loop(&l);
    const rec_finding *c = complaint(&s, REC_RULE_READS, 2);
    /* The call waits for 2.8 ms: that is no work that could be done ahead. */
    costs(c, 15e5, 5e4);
    assert_near(c->count, 1, 1e-9);
    says(&s, "(f32[2,3], result 1 of jit_step)");
    assert_near(rec_steps_part(s.steps, REC_PART_WAIT).median_ns, 2760 * US, 50 * US);
    assert_near(rec_steps_part(s.steps, REC_PART_TRANSFER).median_ns, 0, US);
    forget(&s);
}

/* A host that sleeps for 5 ms in each step is no faster than that, however far it runs ahead. */
static void a_host_that_sleeps_is_no_faster_ahead(void **state)
{
    (void)state;
    loop l = healthy;
    l.sleep_ns = 5 * MS;
    l.read_ns = 100 * US;
    seen s = see_loop(&l);
    /* The device's 2.8 ms, and 0.1 ms of the read less 0.04 ms of the call. */
    costs(complaint(&s, REC_RULE_READS, 2), 286e4, 1e4);
    forget(&s);
}

static void executions_are_priced_by_fixed_cost(void **state)
{
    (void)state;
    loop l = healthy;
    l.executions = 19;
    l.call_ns = 100 * US;
    seen s = see_loop(&l);
    const rec_finding *c = complaint(&s, REC_RULE_EXECUTIONS, 1);
    costs(c, 19e5, 2e4);
    assert_near(c->count, 20, 1e-9);
    says(&s, "20 executions");
    says(&s, "takes 1.90 ms");
    says(&s, "(19 of them are jit_part)");
    forget(&s);
}

static void executions_that_hide_cost_nothing(void **state)
{
    (void)state;
    static play p;
    play_begin(&p);
    const play_program step = play_compile(&p, "jit_step", 12, 1, 1, MS);
    const play_program part = play_compile(&p, "jit_part", 13, 1, 1, MS);
    for (int i = 0; i < LOOPS; i++) {
        const uint64_t before = p.device_free[0];
        play_execute(&p, &step, (run){.call_ns = 100 * US, .device_ns = 3 * MS}, NULL);
        for (int k = 0; k < 9; k++)
            play_execute(&p, &part, (run){.call_ns = 100 * US, .device_ns = 200 * US}, NULL);
        if (p.thread[0].now < before)
            p.thread[0].now = before;
    }
    seen s = see(&p);
    assert_int_equal(s.steps->executions_per_step, 10);
    assert_int_equal(s.checkup.count, 0);
    forget(&s);
}

/* ---- compilations ------------------------------------------------------------------------------
 */

/* LOOPS steps; a new program of jit_step every EVERY steps to the end, or to step UNTIL. WIDE: for
 * a longer batch each time. */
static void play_lengths(play *p, int every, int until, bool wide)
{
    play_program step = {0};
    uint64_t hash = 50;
    for (int i = 0; i < LOOPS; i++) {
        p->dims[0] = 8;
        p->dims[1] = wide ? 64 + 8 * (uint64_t)(i / every) : 64;
        if (i % every == 0 && (i == 0 || i < until))
            step = play_compile(p, "jit_step", ++hash, 1, 1, 4 * MS);
        const uint64_t batch = play_send(p, 0, 2048, 5 * US);
        play_execute(
            p, &step,
            (run){
                .call_ns = 40 * US, .device_ns = 4 * MS, .arguments = &batch, .argument_count = 1},
            NULL);
        play_wait(p, 0, 0);
        play_destroy(p, batch, 0);
    }
}

static seen see_lengths(int every, int until, bool wide)
{
    static play p;
    play_begin(&p);
    play_lengths(&p, every, until, wide);
    return see(&p);
}

static void compiles_that_go_on_are_named_with_what_changed(void **state)
{
    (void)state;
    seen s = see_lengths(4, LOOPS, true);
    const rec_finding *c = complaint(&s, REC_RULE_COMPILES, 1);
    /* One of 4 ms in four steps. Of few there is a wide interval. */
    costs(c, 1e6, 1e3);
    assert_true(c->cost_ns.low < 0.6e6 && c->cost_ns.high > 1.5e6);
    assert_near(c->count, 0.25, 1e-9);
    says(&s, "of 5 of 5 ");
    says(&s, "jit_step, argument 0, is f32[8,");
    forget(&s);
}

/* Programs of one name that take other arguments are other programs. */
static void programs_of_one_name_are_compared_where_they_are_alike(void **state)
{
    (void)state;
    static play p;
    play_program step = {0};
    uint64_t sent[31];
    uint32_t count = 0;
    play_begin(&p);
    for (int i = 0; i < 20; i++) {
        /* 1, 3, 7, 15, 31: less than half of them were there before. */
        if (i % 4 == 0) {
            count = 2 * count + 1;
            step = play_compile(&p, "jit_step", (uint64_t)(50 + i), 1, 1, 4 * MS);
        }
        for (uint32_t k = 0; k < count; k++)
            sent[k] = play_send(&p, 0, 2048, US);
        play_execute(&p, &step,
                     (run){.call_ns = 40 * US,
                           .device_ns = 4 * MS,
                           .arguments = sent,
                           .argument_count = count},
                     NULL);
        play_wait(&p, 0, 0);
        for (uint32_t k = 0; k < count; k++)
            play_destroy(&p, sent[k], 0);
    }
    seen s = see(&p);
    const rec_finding *c = complaint(&s, REC_RULE_COMPILES, 1);
    assert_int_equal(c->where.length, 0);
    forget(&s);
}

/* A framework traces before it compiles. Of what passes then, sleep is none of it. */
static void work_before_a_compilation_is_part_of_it(void **state)
{
    (void)state;
    static play p;
    play_program step = {0};
    play_begin(&p);
    for (int i = 0; i < LOOPS; i++) {
        if (i % 4 == 0) {
            play_work(&p, 0, 3 * MS);
            play_rest(&p, 0, MS);
            step = play_compile(&p, "jit_step", 60 + (uint64_t)i, 1, 1, 4 * MS);
        }
        play_execute(&p, &step, (run){.call_ns = 40 * US, .device_ns = 4 * MS}, NULL);
        play_wait(&p, 0, 0);
    }
    seen s = see(&p);
    const rec_finding *c = complaint(&s, REC_RULE_COMPILES, 1);
    costs(c, (3 + 4) * 1e6 / 4, 5e4);
    forget(&s);
}

static void each_step_may_compile(void **state)
{
    (void)state;
    seen s = see_lengths(1, LOOPS, true);
    costs(complaint(&s, REC_RULE_COMPILES, 1), 4e6, 25e4);
    forget(&s);
}

static void a_value_in_the_program_is_no_shape(void **state)
{
    (void)state;
    seen s = see_lengths(4, LOOPS, false);
    (void)complaint(&s, REC_RULE_COMPILES, 1);
    says(&s, "of 5 of 5 arguments have the same types");
    forget(&s);
}

/* Two lengths are no sign of shapes that change. */
static void compiles_that_end_are_warmup(void **state)
{
    (void)state;
    seen s = see_lengths(LOOPS / 4, LOOPS / 2, true);
    assert_int_equal(s.checkup.count, 0);
    forget(&s);
}

/* As a program prepares its values: each is made by a small one of its own, which runs once. There
 * are more of these than steps, so half of all executions is among them. */
static void programs_that_run_once_before_the_steps_are_preparation(void **state)
{
    (void)state;
    static play p;
    play_begin(&p);
    for (uint64_t i = 0; i < 3 * LOOPS; i++) {
        const play_program one = play_compile(&p, "jit_fill", 100 + i, 1, 1, 20 * MS);
        play_execute(&p, &one, (run){.call_ns = 20 * US, .device_ns = 30 * US}, NULL);
    }
    play_loop(&p, &healthy);
    seen s = see(&p);
    assert_int_equal(s.steps->executions_per_step, 1);
    assert_int_equal(s.checkup.count, 0);
    forget(&s);
}

static void long_compiles_at_the_start(void **state)
{
    (void)state;
    loop l = healthy;
    l.compile_ns = 12000000000u;
    seen s = see_loop(&l);
    const rec_finding *c = complaint(&s, REC_RULE_START, 1);
    costs(c, 12.011e9, 1e7);
    says(&s, "compiling takes 12.0 s ");
    assert_true(c->at_most);
    assert_true(c->programs == 3 && c->loaded == 0);
    forget(&s);
}

/* A program that loads executables has a cache, and needs no advice to have one. */
static void loads_at_the_start_are_no_compiles(void **state)
{
    (void)state;
    static play p;
    loop l = healthy;
    l.compile_ns = 12000000000u;
    play_begin(&p);
    p.loads = true;
    (void)play_compile(&p, "jit_kept", 10, 1, 1, 3000000000u);
    p.loads = false;
    play_work(&p, 0, 4000000000u);
    play_loop(&p, &l);
    seen s = see(&p);
    costs(complaint(&s, REC_RULE_START, 1), 15.011e9, 1e7);
    assert_near(complaint(&s, REC_RULE_START, 1)->before_ns, 4e9, 1e7);
    says(&s, " 15.0 s ");
    says(&s, "(1 of 4 programs ");
    says(&s, " 3.00 s)");
    forget(&s);
    play_begin(&p);
    p.loads = true;
    play_loop(&p, &l);
    s = see(&p);
    costs(complaint(&s, REC_RULE_START, 1), 12.011e9, 1e7);
    says(&s, "loading takes 12.0 s ");
    says(&s, "(3 of 3 programs ");
    forget(&s);
}

/* ---- donation ----------------------------------------------------------------------------------
 */

static void missed_donation_is_named_with_its_bytes(void **state)
{
    (void)state;
    static play p;
    loop l = healthy;
    l.kept = l.other_input = true;
    play_begin(&p);
    p.dims[0] = p.dims[1] = 1024;
    play_loop(&p, &l);
    seen s = see(&p);
    const rec_finding *c = complaint(&s, REC_RULE_DONATION, 1);
    /* Two results of the type, two arguments. */
    assert_near(c->count, 2, 1e-9);
    assert_near(c->bytes, 8 << 20, 1);
    assert_near(c->share, 1, 1e-9);
    assert_true(isnan(c->cost_ns.estimate));
    says(&s, "2 arguments ");
    says(&s, "takes 8 MiB ");
    says(&s, "argument 0 of jit_step, f32[1024,1024])");
    forget(&s);
}

/* Whether the advice of C names JAX's argument, where the process had loaded FRAMEWORK. */
static bool names_jax(const seen *s, const rec_finding *c, const char *framework)
{
    const char *const list[] = {framework, NULL};
    rec_process process = *s->steps->process;
    rec_steps steps = *s->steps;
    rec_checkup checkup = s->checkup;
    bn_text out = {0};
    process.frameworks = list;
    process.framework = framework;
    steps.process = &process;
    checkup.steps = &steps;
    rec_finding_advice(&checkup, c, &out);
    const bool named = strstr(out.data, "donate_argnums");
    bn_text_free(&out);
    return named;
}

static void advice_is_of_the_framework(void **state)
{
    (void)state;
    static play p;
    loop l = healthy;
    l.kept = l.other_input = true;
    play_begin(&p);
    p.dims[0] = p.dims[1] = 1024;
    play_loop(&p, &l);
    seen s = see(&p);
    const rec_finding *c = complaint(&s, REC_RULE_DONATION, 1);
    assert_true(names_jax(&s, c, "jax 0.10.2"));
    assert_false(names_jax(&s, c, "torch_xla 2.9.0"));
    assert_false(names_jax(&s, c, "other 1.0"));
    forget(&s);
}

/* Some of the steps are looked at, each once. */
static void missed_donation_of_few_steps_is_seen(void **state)
{
    (void)state;
    static play p;
    loop l = healthy;
    const rec_finding *missed = NULL;
    l.kept = true;
    play_begin(&p);
    p.dims[0] = p.dims[1] = 1024;
    play_loops(&p, &l, 4);
    seen s = see(&p);
    assert_true(s.steps->count > 0 && s.steps->count < 5);
    for (size_t i = 0; i < s.checkup.count; i++)
        if (s.checkup.list[i].rule == REC_RULE_DONATION)
            missed = &s.checkup.list[i];
    assert_non_null(missed);
    assert_near(missed->count, 1, 1e-9);
    assert_near(missed->bytes, 4 << 20, 1);
    forget(&s);
}

static void donated_and_small_arguments_draw_none(void **state)
{
    (void)state;
    static play p;
    loop l = healthy;
    play_begin(&p);
    p.dims[0] = p.dims[1] = 1024;
    play_loop(&p, &l);
    seen s = see(&p);
    assert_int_equal(s.checkup.count, 0);
    forget(&s);
    l.kept = true;
    s = see_loop(&l);
    assert_int_equal(s.checkup.count, 0);
    forget(&s);
}

/* ---- what cannot be seen, and forms ------------------------------------------------------------
 */

static void without_completions_it_says_what_it_looked_at(void **state)
{
    (void)state;
    static play p;
    loop l = healthy;
    l.sleep_ns = 5 * MS;
    play_begin(&p);
    p.no_completions = true;
    play_loop(&p, &l);
    seen s = see(&p);
    assert_int_equal(s.checkup.count, 0);
    json_t *o = rec_checkup_json(s.recording, &s.checkup);
    assert_true(json_is_false(json_object_get(o, "completions")));
    json_decref(o);
    says(&s, "Completions ");
    forget(&s);
}

static void the_most_costly_comes_first(void **state)
{
    (void)state;
    loop l = healthy;
    l.sleep_ns = 3 * MS;
    l.work_ns = MS;
    seen s = see_loop(&l);
    (void)complaint(&s, REC_RULE_HOST, 2);
    assert_int_equal(s.checkup.list[0].rule, REC_RULE_INPUT);
    json_t *o = rec_checkup_json(s.recording, &s.checkup);
    assert_non_null(o);
    const json_t *list = json_object_get(o, "complaints");
    assert_int_equal(json_array_size(list), 2);
    const json_t *first = json_array_get(list, 0);
    assert_string_equal(json_string_value(json_object_get(first, "rule")), "input");
    assert_near(json_number_value(json_object_get(first, "cost_ns")), 3e6, 1e3);
    assert_true(json_is_null(json_object_get(first, "bytes")));
    assert_string_equal(json_string_value(json_object_get(o, "verdict")), "host-bound");
    json_decref(o);
    forget(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(healthy_recordings_draw_no_complaint),
        cmocka_unit_test(host_work_is_priced_and_what_hides_of_it),
        cmocka_unit_test(sleep_is_no_work),
        cmocka_unit_test(without_clocks_sleep_may_be_work),
        cmocka_unit_test(sends_are_priced_by_gaps),
        cmocka_unit_test(calls_of_one_execution),
        cmocka_unit_test(reads_are_priced_by_what_they_hold_up),
        cmocka_unit_test(so_are_reads_in_place),
        cmocka_unit_test(a_host_that_sleeps_is_no_faster_ahead),
        cmocka_unit_test(executions_are_priced_by_fixed_cost),
        cmocka_unit_test(executions_that_hide_cost_nothing),
        cmocka_unit_test(compiles_that_go_on_are_named_with_what_changed),
        cmocka_unit_test(work_before_a_compilation_is_part_of_it),
        cmocka_unit_test(each_step_may_compile),
        cmocka_unit_test(a_value_in_the_program_is_no_shape),
        cmocka_unit_test(compiles_that_end_are_warmup),
        cmocka_unit_test(programs_that_run_once_before_the_steps_are_preparation),
        cmocka_unit_test(long_compiles_at_the_start),
        cmocka_unit_test(loads_at_the_start_are_no_compiles),
        cmocka_unit_test(missed_donation_is_named_with_its_bytes),
        cmocka_unit_test(advice_is_of_the_framework),
        cmocka_unit_test(programs_of_one_name_are_compared_where_they_are_alike),
        cmocka_unit_test(missed_donation_of_few_steps_is_seen),
        cmocka_unit_test(donated_and_small_arguments_draw_none),
        cmocka_unit_test(without_completions_it_says_what_it_looked_at),
        cmocka_unit_test(the_most_costly_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
