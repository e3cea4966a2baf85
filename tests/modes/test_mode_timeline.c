/*
 * test_mode_timeline.c - what modes note of their steps: parts to the nanosecond of the ledger,
 * calls, completions, scopes and annotations; and nothing where no timeline is wanted.
 */
#include "tests/modes/fit_fixture.h"
#include "runtime/graph/scopes.h"

#define MOST 10000

static void annotated_step(tg_trace *t, void *context)
{
    tg_annotate_begin(t, "the whole function");
    tg_scope_push(t, "block");
    fit_step(t, context);
    tg_scope_pop(t);
    tg_annotate_end(t);
}

/* A step of M that is noted; its ledger. */
static bn_ledger noted(mode *m, const mode_call *call, bn_timeline *t, uint64_t number)
{
    bn_ledger ledger;
    bn_status st = {0};
    const uint64_t begin = bn_now_ns();
    bn_timeline_step_begin(t, BN_STEP_MEASURED, number);
    mode_set_timeline(m, t);
    assert_ok(mode_step(m, call, &ledger, &st), &st);
    mode_set_timeline(m, NULL);
    bn_timeline_step_end(t, begin, bn_now_ns());
    return ledger;
}

/* The plugin may write into them until the client is gone. */
static bn_timeline *timelines[16];
static size_t timeline_count;

static bn_timeline *new_timeline(void)
{
    bn_timeline *t = NULL;
    bn_status st = {0};
    assert_true(timeline_count < sizeof timelines / sizeof *timelines);
    assert_ok(bn_timeline_new(MOST, &t, &st), &st);
    timelines[timeline_count++] = t;
    return t;
}

static int end_of_all(void **state)
{
    const int code = group_teardown(state);
    while (timeline_count > 0)
        bn_timeline_free(timelines[--timeline_count]);
    return code;
}

/* Spans of KIND from FROM on. */
static size_t count_of(const bn_timeline *t, size_t from, bn_span_kind kind)
{
    size_t count = 0;
    for (size_t i = from; i < bn_timeline_count(t); i++)
        count += bn_timeline_at(t, i)->kind == kind;
    return count;
}

/* The spans from FROM on are those of a step with LEDGER, and lie within it. */
static void check_step(const bn_timeline *t, size_t from, const bn_ledger *ledger)
{
    uint64_t part_ns[BN_PART_COUNT] = {0}, before = 0;
    const bn_span *step = bn_timeline_at(t, bn_timeline_count(t) - 1);
    assert_int_equal(step->kind, BN_SPAN_STEP);
    for (size_t i = from; i < bn_timeline_count(t); i++) {
        const bn_span *span = bn_timeline_at(t, i);
        assert_true(span->begin_ns >= step->begin_ns && span->end_ns <= step->end_ns);
        assert_true(span->end_ns >= span->begin_ns);
        if (span->kind != BN_SPAN_PART)
            continue;
        assert_true(span->begin_ns >= before); /* one after the other */
        before = span->end_ns;
        part_ns[span->what] += span->end_ns - span->begin_ns;
    }
    for (int p = 0; p < BN_PART_COUNT; p++)
        if (p != BN_PART_OTHER)
            assert_int_equal(part_ns[p], ledger->part_ns[p]);
}

static void steps_are_noted(void **state)
{
    (void)state;
    static const char *const names[] = {"eager", "lazy", "capture"};
    for (size_t i = 0; i < 3; i++) {
        mode *m = mode_new(names[i], &(mode_options){0});
        fit f = fit_new(m);
        bn_timeline *t = new_timeline();
        const mode_call call = {.function = annotated_step, .context = &f};
        for (uint64_t step = 0; step < 4; step++) {
            const size_t from = bn_timeline_count(t);
            const int64_t executions = mode_counters(m)[BN_COUNTER_EXECUTIONS];
            const int64_t compiles = mode_counters(m)[BN_COUNTER_COMPILES];
            const bn_ledger ledger = noted(m, &call, t, step);
            const bool traced = i < 2 || step == 0;
            check_step(t, from, &ledger);
            assert_int_equal(count_of(t, from, BN_SPAN_EXECUTE),
                             mode_counters(m)[BN_COUNTER_EXECUTIONS] - executions);
            assert_int_equal(count_of(t, from, BN_SPAN_COMPILE),
                             mode_counters(m)[BN_COUNTER_COMPILES] - compiles);
            assert_int_equal(step == 0, count_of(t, from, BN_SPAN_COMPILE) > 0);
            /* A replay calls no function. */
            assert_int_equal(count_of(t, from, BN_SPAN_ANNOTATION), traced);
            assert_int_equal(count_of(t, from, BN_SPAN_SCOPE) > 0, traced);
            /* A serial step has awaited all that it submitted. */
            for (size_t k = from; k < bn_timeline_count(t); k++) {
                const bn_span *span = bn_timeline_at(t, k);
                if (span->kind == BN_SPAN_EXECUTE)
                    assert_true(bn_completion_time(&span->done) > span->begin_ns);
            }
        }
        fit_free(m, &f);
        mode_destroy(m);
    }
}

/* The order of a lazy step: traced before it is submitted, submitted before it is awaited. */
static void parts_stand_in_the_order_of_time(void **state)
{
    (void)state;
    mode *m = mode_new("lazy", &(mode_options){0});
    fit f = fit_new(m);
    bn_timeline *t = new_timeline();
    run_steps(m, &f, 2);
    noted(m, &(mode_call){.function = fit_step, .context = &f}, t, 0);
    size_t seen = 0;
    static const bn_part order[] = {BN_PART_TRACE, BN_PART_HASH, BN_PART_DISPATCH, BN_PART_WAIT};
    for (size_t i = 0; i < bn_timeline_count(t) && seen < 4; i++) {
        const bn_span *span = bn_timeline_at(t, i);
        seen += span->kind == BN_SPAN_PART && span->what == (uint16_t)order[seen];
    }
    assert_int_equal(seen, 4);
    fit_free(m, &f);
    mode_destroy(m);
}

/* A value that is read in the middle of a step, and one that is sent. */
static void transfers_are_noted(void **state)
{
    (void)state;
    mode *m = mode_new("lazy", &(mode_options){0});
    fit f = fit_new(m);
    bn_timeline *t = new_timeline();
    bn_status st = {0};
    f.branch = true;
    noted(m, &(mode_call){.function = fit_step, .context = &f}, t, 0);
    assert_int_equal(count_of(t, 0, BN_SPAN_TO_HOST), 1);
    rt_buffer *buffer = NULL;
    rt_event *done = NULL;
    const float host[N] = {0};
    mode_set_timeline(m, t);
    assert_ok(mode_upload(m, tg_tensor_type(f.input), host, &buffer, &done, &st), &st);
    mode_set_timeline(m, NULL);
    const bn_span *sent = bn_timeline_at(t, bn_timeline_count(t) - 1);
    assert_int_equal(sent->kind, BN_SPAN_TO_DEVICE);
    assert_int_equal(sent->value, sizeof host);
    assert_ok(rt_event_await(client, done, &st), &st);
    rt_event_release(client, done);
    rt_buffer_release(client, buffer);
    fit_free(m, &f);
    mode_destroy(m);
}

/* Steps in flight complete later, and say when. */
static void completions_of_steps_in_flight(void **state)
{
    (void)state;
    mode *m = mode_new("capture", &(mode_options){.in_flight = 3});
    fit f = fit_new(m);
    bn_timeline *t = new_timeline();
    bn_status st = {0};
    for (uint64_t i = 0; i < 6; i++)
        noted(m, &(mode_call){.function = fit_step, .context = &f}, t, i);
    mode_set_timeline(m, t);
    assert_ok(mode_drain(m, &st), &st);
    mode_set_timeline(m, NULL);
    assert_int_equal(count_of(t, 0, BN_SPAN_EXECUTE), 6);
    for (size_t k = 0; k < bn_timeline_count(t); k++) {
        const bn_span *span = bn_timeline_at(t, k);
        if (span->kind == BN_SPAN_EXECUTE)
            assert_true(bn_completion_time(&span->done) > span->begin_ns);
    }
    fit_free(m, &f);
    mode_destroy(m);
}

/* Off: nothing is noted, by a mode that has noted before as by one that never has. */
static void without_one_nothing_is_noted(void **state)
{
    (void)state;
    mode *m = mode_new("lazy", &(mode_options){0});
    fit f = fit_new(m);
    bn_timeline *t = new_timeline();
    const mode_call call = {.function = annotated_step, .context = &f};
    bn_status st = {0};
    noted(m, &call, t, 0);
    const size_t before = bn_timeline_count(t);
    for (int i = 0; i < 3; i++)
        assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_ok(mode_step_probe(m, &call, 2, MODE_PROBE_QUEUED, &st), &st);
    assert_int_equal(bn_timeline_count(t), before);
    fit_free(m, &f);
    mode_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_noted),
        cmocka_unit_test(parts_stand_in_the_order_of_time),
        cmocka_unit_test(transfers_are_noted),
        cmocka_unit_test(completions_of_steps_in_flight),
        cmocka_unit_test(without_one_nothing_is_noted),
    };
    return cmocka_run_group_tests(tests, group_setup, end_of_all);
}
