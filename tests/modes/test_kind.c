/*
 * test_kind.c - what the engine promises a mode_kind and asks of it: when each callback is
 * called, what it finds, and what becomes of a step that fails.
 */
#include "tests/modes/fit_fixture.h"

#include "modes/mode_priv.h"

/* Calls that the kind under test received, and how its next step is to end. */
static struct {
    int hooks, steps, ends, begun, submitted;
    bn_code answer, begin_answer, submitted_answer;
    tg_tensor *variable;
    unsigned repeat; /* of the last step: its probe */
    bool empty_lists;
} seen;

static void kind_set_hooks(mode *m)
{
    assert_non_null(m->trace);
    seen.hooks++;
}

/* As lazy mode without hooks, and an answer on request once all is dispatched. */
static bn_code kind_step(mode *m, const mode_call *call, bn_status *st)
{
    seen.steps++;
    seen.repeat = m->probe_repeat;
    seen.empty_lists = m->targets.count + m->buffers.count + m->temporaries.count +
                           m->retired.count + m->events.count ==
                       0;
    assert_int_equal(mode_clock(m, BN_PART_TRACE), BN_PART_OTHER);
    tg_trace_begin(m->trace);
    call->function(m->trace, call->context);
    bn_code code = mode_run_trace(m, NULL, NULL, NULL, st);
    mode_clock(m, BN_PART_OTHER);
    if (code == BN_OK && seen.answer != BN_OK)
        code = bn_fail(st, seen.answer, "as ordered");
    return code;
}

static void kind_end(mode *m)
{
    assert_ptr_equal(m->own, &seen);
    seen.ends++;
}

static const mode_kind kind = {
    .name = "tested",
    .summary = "counts its calls",
    .set_hooks = kind_set_hooks,
    .step = kind_step,
    .end = kind_end,
};

static mode *kind_new(void)
{
    mode *m = NULL;
    bn_status st = {0};
    const float zero = 0;
    memset(&seen, 0, sizeof seen);
    assert_ok(mode_create_kind(&kind, client, &(mode_options){0}, &m, &st), &st);
    m->own = &seen;
    seen.variable = vector_named("count", 0);
    assert_ok(mode_write(m, seen.variable, &zero, &st), &st);
    return m;
}

static double count_of(mode *m)
{
    float value = -1;
    bn_status st = {0};
    assert_ok(mode_read(m, seen.variable, &value, sizeof value, &st), &st);
    return (double)value;
}

static void kind_free(mode *m)
{
    mode_clear(m, seen.variable);
    tg_variable_free(seen.variable);
    mode_destroy(m);
    assert_int_equal(seen.ends, 1);
}

static void callbacks_come_when_the_contract_says(void **state)
{
    (void)state;
    mode *m = kind_new();
    bn_status st = {0};
    const mode_call call = {.function = add_step, .context = seen.variable};
    uint64_t lower_ns[3];
    assert_int_equal(seen.hooks, 1);
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_true(seen.empty_lists);
    assert_int_equal(seen.repeat, 0);
    assert_ok(mode_step_probe(m, &call, 2, MODE_PROBE_QUEUED, &st), &st);
    assert_true(seen.empty_lists);
    assert_int_equal(seen.repeat, 2);
    assert_int_equal(seen.steps, 2);
    assert_true(count_of(m) == 4); /* a probe's repetitions count, too, and one more */
    /* The trace is used for something else, and hooks are hung anew; no step is run. */
    assert_ok(mode_time_lowering(m, &call, 3, lower_ns, NULL, &st), &st);
    assert_int_equal(seen.hooks, 2);
    assert_int_equal(seen.steps, 2);
    assert_int_equal(seen.ends, 0);
    kind_free(m);
}

static void failed_steps_are_dropped(void **state)
{
    (void)state;
    mode *m = kind_new();
    bn_status st = {0};
    const mode_call call = {.function = add_step, .context = seen.variable};
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    const int64_t buffers = rt_live().buffers;
    const float two = 2;
    seen.answer = BN_TIMEOUT;
    assert_fails(mode_step(m, &call, NULL, &st), BN_TIMEOUT, "tested step 2: as ordered", &st);
    /* The execution had consumed the variable, so it is empty; nothing else was kept. */
    assert_null(tg_tensor_data(seen.variable));
    assert_int_equal(rt_live().buffers, buffers - 1);
    assert_int_equal(rt_live().events, 0);
    seen.answer = BN_OK;
    assert_ok(mode_write(m, seen.variable, &two, &st), &st);
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_true(seen.empty_lists);
    assert_true(count_of(m) == 3);
    kind_free(m);
}

static bn_code feed_begin(void *context, mode *m, bn_status *st)
{
    seen.begun++;
    assert_ptr_equal(context, &seen);
    assert_int_equal(m->part, BN_PART_INPUT);
    assert_int_equal(seen.begun, seen.steps + 1);
    return seen.begin_answer ? bn_fail(st, seen.begin_answer, "no batch") : BN_OK;
}

static bn_code feed_submitted(void *context, mode *m, bn_status *st)
{
    seen.submitted++;
    assert_int_equal(m->part, BN_PART_INPUT);
    assert_int_equal(m->targets.count, 0); /* committed */
    assert_int_equal(m->events.count, 1);  /* and not awaited */
    return seen.submitted_answer ? bn_fail(st, seen.submitted_answer, "no next batch") : BN_OK;
}

static void feeds_stand_around_the_step(void **state)
{
    (void)state;
    mode *m = kind_new();
    bn_status st = {0};
    const mode_feed feed = {&seen, feed_begin, feed_submitted};
    const mode_call call = {.function = add_step, .context = seen.variable, .feed = &feed};
    bn_ledger ledger;
    assert_ok(mode_step(m, &call, &ledger, &st), &st);
    assert_int_equal(seen.submitted, 1);
    assert_true(ledger.part_ns[BN_PART_INPUT] > 0);
    /* Where the batch is missing, no step is run and the variable keeps its contents. */
    seen.begin_answer = BN_IO;
    assert_fails(mode_step(m, &call, NULL, &st), BN_IO, "tested step 2: no batch", &st);
    assert_int_equal(seen.steps, 1);
    assert_true(count_of(m) == 1);
    seen.begin_answer = BN_OK;
    seen.begun = seen.steps;
    /* Where only the next one is missing, the step's results stand. */
    seen.submitted_answer = BN_IO;
    assert_fails(mode_step(m, &call, NULL, &st), BN_IO, "tested step 3: no next batch", &st);
    assert_true(count_of(m) == 2);
    assert_int_equal(rt_live().events, 0);
    kind_free(m);
}

static void modes_are_rows_of_the_table(void **state)
{
    (void)state;
    static const mode_info rows[] = {
        {.name = "eager", .by_op = true},
        {.name = "lazy"},
        {.name = "fused", .windows = true},
        {.name = "capture", .cuts_graphs = true}};
    mode_info info, named;
    mode *none;
    bn_status st = {0};
    size_t row = 0;
    for (; mode_describe(row, &info); row++) {
        /* Each has a name of its own. */
        assert_true(mode_describe_named(info.name, &named));
        assert_ptr_equal(named.summary, info.summary);
        assert_true(strlen(info.summary) > 0);
    }
    assert_false(mode_describe(SIZE_MAX, &info));
    assert_false(mode_describe_named("fast", &info));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(mode_describe_named(rows[i].name, &info));
        assert_int_equal(info.cuts_graphs, rows[i].cuts_graphs);
        assert_int_equal(info.by_op, rows[i].by_op);
        assert_int_equal(info.windows, rows[i].windows);
    }
    assert_fails(mode_create("fast", client, &(mode_options){0}, &none, &st), BN_NOT_FOUND,
                 "fast|eager|lazy|capture", &st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callbacks_come_when_the_contract_says),
        cmocka_unit_test(failed_steps_are_dropped),
        cmocka_unit_test(feeds_stand_around_the_step),
        cmocka_unit_test(modes_are_rows_of_the_table),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
