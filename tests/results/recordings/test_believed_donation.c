/*
 * test_believed_donation.c - what a recording says of donated arguments: known of some executions,
 * believed of the others, and sometimes wrong.
 */
#include "tests/results/recordings/recording_fixture.h"

/* The one process; *R is for rec_close. */
static const rec_process *open_play(play *p, rec_recording **r)
{
    bn_status st = {0};
    char folder[300];
    fixture_folder(folder, sizeof folder, "believed");
    tape_write(&p->tape, folder, "100-1");
    assert_ok(rec_open(folder, r, &st), &st);
    assert_int_equal((*r)->process_count, 1);
    assert_int_equal((*r)->processes[0].skipped, 0);
    return &(*r)->processes[0];
}

/* A buffer that was sent, executed on as R says, and destroyed with FLAGS. */
static void turn(play *p, const play_program *program, run r, uint8_t flags)
{
    uint64_t argument = play_send(p, 0, 24, US), result;
    r.call_ns = 10 * US;
    r.device_ns = US;
    r.arguments = &argument;
    r.argument_count = 1;
    play_execute(p, program, r, &result);
    play_destroy(p, argument, flags);
    play_destroy(p, result, RECORD_UNASKED);
}

/* The argument of the execution at INDEX. */
static const rec_buffer *argument_of(const rec_process *p, uint32_t index)
{
    const uint32_t buffer = rec_argument(p, &p->executions[index], 0, 0);
    assert_true(buffer < p->buffer_count);
    assert_int_equal(rec_donated(p, index, buffer), p->buffers[buffer].fate == REC_DONATED);
    return &p->buffers[buffer];
}

/* A letter for each execution: 't' its argument was taken, 'k' kept, '?' unknown; a capital one
 * where its fate says that it was donated. */
static void assert_taken(const rec_process *p, const char *wanted)
{
    assert_int_equal(p->execution_count, strlen(wanted));
    for (uint32_t i = 0; wanted[i]; i++) {
        const rec_buffer *b = argument_of(p, i);
        const char *letters = b->fate == REC_DONATED ? "!KT" : "?kt";
        assert_int_equal(letters[b->taken], wanted[i]);
    }
}

static void the_last_answer_is_believed(void **state)
{
    (void)state;
    play p;
    rec_recording *r = NULL;
    play_begin(&p);
    const play_program one = play_compile(&p, "one", 5, 1, 1, MS);
    const play_program other = play_compile(&p, "other", 6, 1, 1, MS);
    const run asked = {.asked = true, .taken = 1}, kept = {.asked = true}, plain = {.ended = true};
    turn(&p, &one, plain, RECORD_UNASKED); /* before anything is known */
    turn(&p, &one, asked, RECORD_UNASKED);
    turn(&p, &one, plain, RECORD_UNASKED);
    turn(&p, &other, plain, RECORD_UNASKED);
    turn(&p, &other, kept, RECORD_UNASKED);
    turn(&p, &other, plain, RECORD_UNASKED);
    turn(&p, &one, plain, RECORD_UNASKED);
    turn(&p, &one, (run){.failed = true}, RECORD_UNASKED);
    const rec_process *q = open_play(&p, &r);
    assert_taken(q, "?TT?kkT?");
    assert_int_equal(q->misbelieved, 0);
    /* Its end is the call's. */
    assert_int_equal(q->spans[0].complete_ns, q->executions[0].end_ns);
    assert_true(q->completions);
    assert_int_equal(q->spans[7].complete_ns, 0);
    rec_close(r);
}

/* Other inputs to keep, in any order; other counts. */
static void only_like_executions_are_believed(void **state)
{
    (void)state;
    play p;
    rec_recording *r = NULL;
    const uint64_t first[2] = {0, 5}, again[2] = {5, 0}, other[2] = {0, 6};
    play_begin(&p);
    const play_program one = play_compile(&p, "one", 5, 1, 2, MS);
    run x = {.asked = true, .taken = 1, .keep = first, .keep_count = 2};
    turn(&p, &one, x, RECORD_UNASKED);
    x.asked = false;
    x.keep = again;
    turn(&p, &one, x, RECORD_UNASKED);
    x.keep = other;
    turn(&p, &one, x, RECORD_UNASKED);
    x.keep_count = 0;
    turn(&p, &one, x, RECORD_UNASKED);
    x.keep = first;
    x.keep_count = 2;
    x.devices = 2;
    turn(&p, &one, x, RECORD_UNASKED);
    x.devices = 1;
    turn(&p, &one, x, RECORD_UNASKED);
    const rec_process *q = open_play(&p, &r);
    /* Indices beyond the arguments are no inputs, so those of OTHER are FIRST's. */
    assert_taken(q, "TTT??T");
    rec_close(r);
}

static void what_was_asked_of_a_buffer_counts(void **state)
{
    (void)state;
    play p;
    rec_recording *r = NULL;
    play_begin(&p);
    const play_program one = play_compile(&p, "one", 5, 1, 1, MS);
    const run asked = {.asked = true, .taken = 1}, plain = {0};
    turn(&p, &one, asked, RECORD_UNASKED);
    turn(&p, &one, plain, RECORD_DELETED); /* as believed */
    turn(&p, &one, plain, 0);              /* not: it was there until its end */
    turn(&p, &one, asked, 0);
    turn(&p, &one, plain, RECORD_UNASKED);
    const rec_process *q = open_play(&p, &r);
    assert_taken(q, "TTttT");
    assert_int_equal(q->misbelieved, 2);
    rec_close(r);
}

static void what_is_used_again_was_not_taken(void **state)
{
    (void)state;
    play p;
    rec_recording *r = NULL;
    uint64_t result;
    play_begin(&p);
    const play_program one = play_compile(&p, "one", 5, 1, 1, MS);
    const run asked = {.asked = true, .taken = 1};
    turn(&p, &one, asked, RECORD_UNASKED);
    const uint64_t argument = play_send(&p, 0, 24, US);
    const run x = {.call_ns = US, .device_ns = US, .arguments = &argument, .argument_count = 1};
    play_execute(&p, &one, x, &result);
    play_execute(&p, &one, x, &result);
    play_destroy(&p, argument, RECORD_UNASKED);
    const rec_process *q = open_play(&p, &r);
    assert_int_equal(q->misbelieved, 1);
    const uint32_t buffer = rec_argument(q, &q->executions[1], 0, 0);
    assert_false(rec_donated(q, 1, buffer));
    assert_true(rec_donated(q, 2, buffer));
    rec_close(r);
}

static void another_answer_shows_that_a_belief_was_wrong(void **state)
{
    (void)state;
    play p;
    rec_recording *r = NULL;
    bn_status st = {0};
    rec_steps *steps = NULL;
    play_begin(&p);
    const play_program one = play_compile(&p, "one", 5, 1, 1, MS);
    /* While all are asked of, nothing is believed. */
    turn(&p, &one, (run){.asked = true}, RECORD_UNASKED);
    turn(&p, &one, (run){.asked = true, .taken = 1}, RECORD_UNASKED);
    for (int i = 0; i < 8; i++)
        turn(&p, &one, (run){0}, RECORD_UNASKED);
    turn(&p, &one, (run){.asked = true}, RECORD_UNASKED);
    const rec_process *q = open_play(&p, &r);
    assert_taken(q, "kTTTTTTTTTk");
    assert_int_equal(q->misbelieved, 1);
    const rec_options o = {.device = -1, .keep_warmup = true};
    assert_ok(rec_steps_find(r, &o, &steps, &st), &st);
    const rec_answer a = rec_answer_make(steps);
    json_t *json = rec_steps_json(r, steps, &a);
    assert_int_equal(json_integer_value(
                         json_object_get(json_object_get(json, "process"), "donation_misbelieved")),
                     1);
    bn_text said = {0};
    rec_answer_put(steps, &a, &said);
    assert_non_null(strstr(said.data, " 1 time:"));
    bn_text_free(&said);
    json_decref(json);
    rec_steps_free(steps);
    rec_close(r);
}

/* As version 1 had them: each end was asked of. */
static void without_answers_the_ends_tell(void **state)
{
    (void)state;
    play p;
    rec_recording *r = NULL;
    play_begin(&p);
    tape_file(&p.tape)->version = 1;
    const play_program one = play_compile(&p, "one", 5, 1, 1, MS);
    turn(&p, &one, (run){0}, RECORD_DELETED);
    turn(&p, &one, (run){0}, 0);
    const rec_process *q = open_play(&p, &r);
    assert_taken(q, "!?");
    assert_int_equal(q->misbelieved, 0);
    rec_close(r);
}

/* A row of ends goes on in words, up to the first that is empty. */
static void ends_go_on_in_words(void **state)
{
    (void)state;
    play p;
    rec_recording *r = NULL;
    uint64_t made[16];
    words w = {.size = 0};
    play_begin(&p);
    const play_program many = play_compile(&p, "many", 5, 16, 1, MS);
    play_execute(&p, &many, (run){.call_ns = US, .device_ns = US}, made);
    record_event e = {.kind = RECORD_BUFFER_END, .flags = RECORD_UNASKED, .time = p.thread[0].now};
    memcpy(e.field, made, sizeof e.field);
    for (size_t i = 6; i < 14; i++)
        words_add(&w, i < 10 ? made[i] : 0);
    words_add(&w, made[15]); /* behind the end */
    tape_put(&p.tape, e, &w);
    /* Not full: its words are none. */
    e.field[0] = made[10];
    e.field[1] = 0;
    w.size = 0;
    words_add(&w, made[11]);
    tape_put(&p.tape, e, &w);
    const rec_process *q = open_play(&p, &r);
    assert_int_equal(q->strays, 0);
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(q->buffers[i].fate, i <= 10 ? REC_DESTROYED : REC_LIVES);
    rec_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_answer_is_believed),
        cmocka_unit_test(only_like_executions_are_believed),
        cmocka_unit_test(what_was_asked_of_a_buffer_counts),
        cmocka_unit_test(what_is_used_again_was_not_taken),
        cmocka_unit_test(another_answer_shows_that_a_belief_was_wrong),
        cmocka_unit_test(without_answers_the_ends_tell),
        cmocka_unit_test(ends_go_on_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
