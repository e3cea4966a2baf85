/*
 * test_record_donation.c - what is asked of a plugin and what is believed: donated arguments, ends
 * of executions, and rows of ends of buffers.
 */
#include "tests/runtime/record/record_fixture.h"

/* ---- a plugin that is watched -------------------------------------------------------------------
 */

static struct {
    PJRT_Buffer_IsDeleted *is_deleted; /* its own */
    unsigned asked;
    bool lies;
} plugin;

static PJRT_Error *counted_is_deleted(PJRT_Buffer_IsDeleted_Args *args)
{
    PJRT_Error *error = plugin.is_deleted(args);
    plugin.asked++;
    if (plugin.lies)
        args->is_deleted = !args->is_deleted;
    return error;
}

static runner watched_runner(const char *folder, const char *setting, const char *program)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(setting, program);
    PJRT_Api *table = table_of("pjrt_sim");
    plugin.is_deleted = table->PJRT_Buffer_IsDeleted;
    table->PJRT_Buffer_IsDeleted = counted_is_deleted;
    return r;
}

/* Doubles a new buffer, which is taken unless KEEP. */
static void donate_once(const runner *r, bool keep)
{
    bn_status st = {0};
    const int64_t first = 0;
    rt_buffer *argument = floats(r, 4), *result = NULL;
    MUST_DO(rt_execute(r->executable, &argument, 1, &first, keep ? 1 : 0, &result, NULL, &st), &st);
    MUST(first_of(r, result) == 8);
    MUST(rt_buffer_is_deleted(r->client, argument) == !keep);
    rt_buffer_release(r->client, argument);
    rt_buffer_release(r->client, result);
}

/* Whether the execution at INDEX was asked of, as a letter: 't' its argument was taken, 'k' it was
 * kept, '-' nobody asked. */
static char answer_of(const recording *r, size_t index)
{
    logged t;
    recording_get(r, RECORD_EXECUTE, index, &t);
    const size_t words = 6 + (uint32_t)(t.words[0] >> 32);
    if (!(t.event.flags & RECORD_ASKED)) {
        assert_int_equal(t.bytes, words * sizeof *t.words);
        return '-';
    }
    assert_int_equal(t.bytes, (words + 1) * sizeof *t.words);
    assert_true(t.words[words] <= 1);
    return t.words[words] ? 't' : 'k';
}

static void assert_answers(const recording *r, size_t from, const char *wanted)
{
    for (size_t i = 0; wanted[i]; i++)
        assert_int_equal(answer_of(r, from + i), wanted[i]);
}

/* ---- donation ---------------------------------------------------------------------------------
 */

enum { DONATIONS = 130 };

static void donates_often(const char *folder)
{
    runner r = watched_runner(folder, NULL, DONATE);
    for (int i = 0; i < DONATIONS; i++)
        donate_once(&r, false);
    runner_free(&r);
    /* Of six executions, and of some ends: each turn has two. */
    MUST(plugin.asked >= 6 && plugin.asked <= 6 + 2 * DONATIONS / 17 + 1);
}

static void a_few_are_asked_and_the_others_believed(void **state)
{
    (void)state;
    const char *folder = new_folder();
    buffer_end ends[2 * DONATIONS];
    in_child(donates_often, folder);
    recording r = recording_in(folder);
    assert_int_equal(recording_count(&r, RECORD_EXECUTE), DONATIONS);
    for (size_t i = 0; i < DONATIONS; i++)
        assert_int_equal(answer_of(&r, i), i < 4 || i == 64 || i == 125 ? 't' : '-');
    assert_int_equal(recording_ends(&r, ends, 2 * DONATIONS), 2 * DONATIONS);
    size_t asked = 0;
    for (size_t i = 0; i < 2 * DONATIONS; i++) {
        if (ends[i].flags == RECORD_UNASKED)
            continue;
        /* First the argument's, then the result's. */
        assert_int_equal(ends[i].flags, i % 2 == 0 ? RECORD_DELETED : 0);
        asked++;
    }
    assert_in_range(asked, 1, DONATIONS / 4);
    recording_free(&r);
}

static void keeps_sometimes(const char *folder)
{
    runner r = watched_runner(folder, NULL, DONATE);
    for (int i = 0; i < 14; i++)
        donate_once(&r, i == 6 || i >= 12);
    runner_free(&r);
}

static void other_inputs_to_keep_are_asked_of_anew(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(keeps_sometimes, folder);
    recording r = recording_in(folder);
    assert_answers(&r, 0, "tttt--ktttt-kk");
    recording_free(&r);
}

static void changes_its_mind(const char *folder)
{
    runner r = watched_runner(folder, NULL, DONATE);
    for (int i = 0; i < 72; i++) {
        plugin.lies = i >= 10;
        donate_once(&r, false);
    }
    runner_free(&r);
}

static void a_wrong_belief_is_found_out(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(changes_its_mind, folder);
    recording r = recording_in(folder);
    assert_answers(&r, 0, "tttt------");
    assert_answers(&r, 60, "----kkkk----");
    recording_free(&r);
}

static void changes_it_each_time(const char *folder)
{
    runner r = watched_runner(folder, NULL, DONATE);
    for (int i = 0; i < 20; i++) {
        plugin.lies = i % 2;
        donate_once(&r, false);
    }
    runner_free(&r);
}

static void without_agreement_all_are_asked(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(changes_it_each_time, folder);
    recording r = recording_in(folder);
    assert_answers(&r, 0, "tktktktktktktktktktk");
    recording_free(&r);
}

static void has_nothing_to_ask(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, DONATE);
    table_of("pjrt_sim")->PJRT_Buffer_IsDeleted = NULL;
    for (int i = 0; i < 40; i++)
        donate_once(&r, false);
    runner_free(&r);
}

static void a_plugin_that_cannot_tell_is_not_asked(void **state)
{
    (void)state;
    const char *folder = new_folder();
    buffer_end ends[80];
    in_child(has_nothing_to_ask, folder);
    recording r = recording_in(folder);
    for (size_t i = 0; i < 40; i++)
        assert_int_equal(answer_of(&r, i), '-');
    assert_int_equal(recording_ends(&r, ends, 80), 80);
    for (size_t i = 0; i < 80; i++)
        assert_int_equal(ends[i].flags, RECORD_UNASKED);
    recording_free(&r);
}

/* ---- ends of executions ------------------------------------------------------------------------
 */

static PJRT_Error *always_ready(PJRT_Event_IsReady_Args *args)
{
    args->is_ready = true;
    return NULL;
}

static PJRT_Error *never_an_error(PJRT_Event_Error_Args *args)
{
    (void)args;
    return NULL;
}

static PJRT_TopologyDescription_Serialize *refuses;

static PJRT_Error *always_an_error(PJRT_Event_Error_Args *args)
{
    (void)args;
    return refuses(NULL);
}

enum { ADDITIONS = 10 };

static void ends_within_the_call(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new("device_us=2000", ADD);
    PJRT_Api *table = table_of("pjrt_sim");
    table->PJRT_Event_IsReady = always_ready;
    table->PJRT_Event_Error = never_an_error;
    /* The recorder's events, and the caller's own. */
    add_often(&r, ADDITIONS, false);
    add_often(&r, ADDITIONS, true);
    runner_free(&r);
    MUST(rt_live().events == 0);
}

/* Events that say that they have fired, and with an error. */
static void ends_with_an_error(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new("device_us=2000", ADD);
    PJRT_Api *table = table_of("pjrt_sim");
    refuses = table->PJRT_TopologyDescription_Serialize;
    table->PJRT_Event_IsReady = always_ready;
    table->PJRT_Event_Error = always_an_error;
    add_often(&r, ADDITIONS, false);
    runner_free(&r);
}

static size_t ends_logged(const recording *r, uint64_t number)
{
    logged t;
    size_t count = 0;
    for (size_t i = 0; recording_find(r, RECORD_COMPLETE, i, &t); i++)
        count += t.event.field[0] == number;
    return count;
}

static void what_ended_within_the_call_needs_no_callback(void **state)
{
    (void)state;
    logged t;
    const char *folder = new_folder();
    in_child(ends_within_the_call, folder);
    recording r = recording_in(folder);
    assert_int_equal(recording_count(&r, RECORD_EXECUTE), 2 * ADDITIONS);
    for (size_t i = 0; i < 2 * ADDITIONS; i++) {
        recording_get(&r, RECORD_EXECUTE, i, &t);
        assert_true(t.event.flags & RECORD_ENDED);
        assert_int_equal(ends_logged(&r, t.event.field[4]), 0);
    }
    recording_free(&r);
    folder = new_folder();
    in_child(ends_with_an_error, folder);
    r = recording_in(folder);
    for (size_t i = 0; i < ADDITIONS; i++) {
        recording_get(&r, RECORD_EXECUTE, i, &t);
        assert_false(t.event.flags & RECORD_ENDED);
        assert_int_equal(ends_logged(&r, t.event.field[4]), 1);
    }
    recording_free(&r);
}

/* ---- rows of ends -----------------------------------------------------------------------------
 */

enum { ROW = 600 };

/* Results are kept, and then all end. */
static void ends_a_row(const char *folder)
{
    bn_status st = {0};
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    PJRT_Api *table = table_of("pjrt_sim");
    table->PJRT_Event_IsReady = always_ready;
    table->PJRT_Event_Error = never_an_error;
    rt_buffer *arguments[2] = {floats(&r, 1), floats(&r, 2)};
    rt_buffer **results = calloc(ROW, sizeof *results);
    MUST(results);
    for (size_t i = 0; i < ROW; i++)
        MUST_DO(rt_execute(r.executable, arguments, 2, NULL, 0, &results[i], NULL, &st), &st);
    for (size_t i = 0; i < ROW; i++)
        rt_buffer_release(r.client, results[i]);
    MUST(first_of(&r, arguments[0]) == 1);
    rt_buffer_release(r.client, arguments[0]);
    rt_buffer_release(r.client, arguments[1]);
    free(results);
    runner_free(&r);
}

static void a_long_row_of_ends_takes_few_slots(void **state)
{
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        const char *folder = new_folder();
        buffer_end *ends = calloc(ROW + 2, sizeof *ends);
        size_t at = 0, results = 0, longest = 0;
        logged t;
        setenv("BENCH_RECORD_MAPPED", mapped ? "1" : "0", 1);
        in_child(ends_a_row, folder);
        unsetenv("BENCH_RECORD_MAPPED");
        recording r = recording_in(folder);
        assert_non_null(ends);
        assert_int_equal(recording_ends(&r, ends, ROW + 2), ROW + 2);
        while (recording_next(&r, &at, &t)) {
            if (t.event.kind == RECORD_EXECUTE)
                assert_int_equal(ends[results++].handle, t.words[6]);
            if (t.event.kind == RECORD_BUFFER_END && t.event.more > longest)
                longest = t.event.more;
        }
        assert_int_equal(results, ROW);
        assert_int_equal(longest, mapped ? 8 : 0);
        free(ends);
        recording_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_are_asked_and_the_others_believed),
        cmocka_unit_test(other_inputs_to_keep_are_asked_of_anew),
        cmocka_unit_test(a_wrong_belief_is_found_out),
        cmocka_unit_test(without_agreement_all_are_asked),
        cmocka_unit_test(a_plugin_that_cannot_tell_is_not_asked),
        cmocka_unit_test(what_ended_within_the_call_needs_no_callback),
        cmocka_unit_test(a_long_row_of_ends_takes_few_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
