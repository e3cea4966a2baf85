/*
 * test_delays.c - a host that is ready and does not run is neither at work nor asleep; marks, and
 * pauses of the recording.
 */
#include "tests/results/recordings/recording_fixture.h"

#define LOOPS 40

static void part_is(const rec_steps *s, rec_part part, double ns)
{
    const double got = rec_steps_part(s, part).median_ns;
    if (fabs(got - ns) > 3)
        fail_msg("%s: %.0f ns, not %.0f", rec_part_name(part), got, ns);
}

/* What the host does in a step besides its execution of 2 ms, which it awaits. */
typedef struct host {
    uint64_t work_ns, sleep_ns, preempted_ns;
    uint64_t late_ns;   /* preempted after the wait's end, within its call */
    uint64_t unread_ns; /* preempted between its clock and the reading of the delay */
    bool blind;         /* no delay is read */
} host;

static void play_host(play *p, const host *h)
{
    play_begin(p);
    const play_program step = play_compile(p, "jit_step", 12, 1, 1, MS);
    const run r = {.call_ns = 50 * US, .device_ns = 2 * MS};
    if (!h->blind)
        play_read_delay(p, 0);
    for (int i = 0; i < LOOPS; i++) {
        play_execute(p, &step, r, NULL);
        record_event e = play_waiting_call(p, 0, 0, RECORD_WAIT);
        play_preempt(p, 0, h->late_ns);
        e.field[0] = p->thread[0].now;
        tape_put(&p->tape, e, NULL);
        if (!h->blind) /* as the recorder does where a thread was off the CPU for long */
            play_read_delay(p, 0);
        play_work(p, 0, h->work_ns);
        play_rest(p, 0, h->sleep_ns);
        play_preempt(p, 0, h->preempted_ns);
        p->thread[0].delay += h->unread_ns;
        if (!h->blind)
            play_read_delay(p, 0);
        p->thread[0].now += h->unread_ns;
    }
}

static found find_host(const host *h)
{
    static play p;
    play_host(&p, h);
    found f = find(&p, NULL);
    sums_hold(f.steps);
    for (size_t i = 0; i < f.steps->count; i++)
        assert_true(f.steps->list[i].ready_ns >= f.steps->list[i].part_ns[REC_PART_READY] &&
                    f.steps->list[i].ready_ns <= f.steps->list[i].wall_ns);
    return f;
}

static void ready_is_neither_work_nor_sleep(void **state)
{
    (void)state;
    found f = find_host(&(host){.work_ns = MS, .sleep_ns = 3 * MS, .preempted_ns = 4 * MS});
    assert_true(f.steps->delays);
    part_is(f.steps, REC_PART_HOST, MS);
    part_is(f.steps, REC_PART_READY, 4 * MS);
    part_is(f.steps, REC_PART_IDLE, 3 * MS);
    assert_near(rec_steps_ready(f.steps).median_ns, 4 * MS, 3);
    /* No device worked meanwhile. */
    assert_near(rec_steps_gap(f.steps, REC_PART_READY).median_ns, 4 * MS, 3);
    lose(&f);
}

static void within_a_call_it_stays_the_calls(void **state)
{
    (void)state;
    found f = find_host(&(host){.work_ns = MS, .late_ns = 5 * MS});
    part_is(f.steps, REC_PART_READY, 0);
    part_is(f.steps, REC_PART_WAIT, 2 * MS - 50 * US + 5 * MS);
    assert_near(rec_steps_ready(f.steps).median_ns, 5 * MS, 3);
    lose(&f);
}

/* The core was lost behind the clock's reading and before the delay's: it is of the next time. */
static void what_an_interval_cannot_hold_is_of_the_next(void **state)
{
    (void)state;
    found f = find_host(&(host){.work_ns = MS, .preempted_ns = MS, .unread_ns = 3 * MS});
    const double ready = rec_steps_ready(f.steps).mean_ns;
    assert_near(ready, 4 * MS, 200 * US);
    part_is(f.steps, REC_PART_HOST, MS);
    lose(&f);
}

static void without_readings_it_is_unknown(void **state)
{
    (void)state;
    found f = find_host(
        &(host){.work_ns = MS, .sleep_ns = 3 * MS, .preempted_ns = 4 * MS, .blind = true});
    assert_false(f.steps->delays);
    part_is(f.steps, REC_PART_READY, 0);
    part_is(f.steps, REC_PART_IDLE, 7 * MS);
    json_t *o = rec_steps_json(f.recording, f.steps, &f.answer);
    assert_true(json_is_null(json_object_get(o, "ready")));
    json_decref(o);
    lose(&f);
}

/* No preemption is known to be none. */
static void none_is_not_unknown(void **state)
{
    (void)state;
    found f = find_host(&(host){.work_ns = MS, .sleep_ns = 3 * MS});
    assert_true(f.steps->delays);
    part_is(f.steps, REC_PART_READY, 0);
    part_is(f.steps, REC_PART_IDLE, 3 * MS);
    json_t *o = rec_steps_json(f.recording, f.steps, &f.answer);
    assert_near(json_number_value(json_object_get(json_object_get(o, "ready"), "mean_ns")), 0, 0);
    json_decref(o);
    lose(&f);
}

/* A delay of more than all of the time is not believed beyond it. */
static void a_delay_beyond_the_time_is_bounded(void **state)
{
    (void)state;
    static play p;
    play_begin(&p);
    const play_program step = play_compile(&p, "jit_step", 12, 1, 1, MS);
    play_read_delay(&p, 0);
    for (int i = 0; i < LOOPS; i++) {
        play_execute(&p, &step, (run){.call_ns = 50 * US, .device_ns = 2 * MS}, NULL);
        play_wait(&p, 0, 0);
        p.thread[0].delay += 1000 * MS;
        play_read_delay(&p, 0);
    }
    found f = find(&p, NULL);
    sums_hold(f.steps);
    part_is(f.steps, REC_PART_READY, 1950 * US);
    part_is(f.steps, REC_PART_WAIT, 0);
    lose(&f);
}

/* ---- marks ------------------------------------------------------------------------------------
 */

static void marks_are_in_order_of_time(void **state)
{
    (void)state;
    static play p;
    char folder[300];
    play_begin(&p);
    play_mark(&p, 0, RECORD_PHASE_BEGINS, "train", -7);
    play_work(&p, 0, MS);
    play_mark(&p, 0, RECORD_STEP_BEGINS, "", 3);
    /* Another thread's came earlier, and was written later. */
    play_mark(&p, 1, RECORD_PHASE_BEGINS, "ev\x1b[1mal", 0);
    play_mark(&p, 1, RECORD_PHASE_ENDS + 1, "of a later version", 0);
    play_work(&p, 0, MS);
    play_mark(&p, 0, RECORD_STEP_ENDS, "", 3);
    play_mark(&p, 0, RECORD_PHASE_ENDS, "train", -7);
    rec_recording *r = play_open(&p, folder, sizeof folder);
    const rec_process *process = &r->processes[0];
    static const struct {
        int what;
        const char *name;
        int64_t number;
        uint32_t thread;
    } wanted[] = {{RECORD_PHASE_BEGINS, "train", -7, 100},
                  {RECORD_PHASE_BEGINS, NULL, 0, 101},
                  {RECORD_STEP_BEGINS, "", 3, 100},
                  {RECORD_STEP_ENDS, "", 3, 100},
                  {RECORD_PHASE_ENDS, "train", -7, 100}};
    assert_int_equal(process->mark_count, 5);
    for (size_t i = 0; i < 5; i++) {
        const rec_marker *mark = &process->marks[i];
        assert_int_equal(mark->what, wanted[i].what);
        assert_int_equal(mark->number, wanted[i].number);
        assert_int_equal(process->threads[mark->thread].number, wanted[i].thread);
        assert_true(bn_is_plain(mark->name));
        if (wanted[i].name)
            assert_string_equal(mark->name, wanted[i].name);
        assert_true(i == 0 || process->marks[i - 1].time_ns <= mark->time_ns);
    }
    assert_true(process->skipped > 0);
    rec_close(r);
}

/* ---- pauses -----------------------------------------------------------------------------------
 */

static void play_part(play *p, uint64_t opens)
{
    tape_put(&p->tape,
             (record_event){.kind = RECORD_PART,
                            .thread = p->thread[0].number,
                            .time = p->thread[0].now,
                            .field = {opens}},
             NULL);
}

/* The step of the pause is left out, and a handle from before it is another buffer behind. */
static void steps_of_a_pause_are_left_out(void **state)
{
    (void)state;
    static play p;
    play_begin(&p);
    play_part(&p, 1);
    const play_program step = play_compile(&p, "jit_step", 12, 1, 1, MS);
    const uint64_t kept = play_send(&p, 0, 1000, US);
    const run r = {
        .call_ns = 50 * US, .device_ns = 2 * MS, .arguments = &kept, .argument_count = 1};
    for (int i = 0; i < LOOPS; i++) {
        play_execute(&p, &step, r, NULL);
        play_wait(&p, 0, 0);
        play_work(&p, 0, MS);
        if (i == LOOPS / 2) {
            play_part(&p, 0);
            play_rest(&p, 0, 1000 * MS);
            play_part(&p, 1);
        }
    }
    play_part(&p, 0);
    found f = find(&p, NULL);
    const rec_process *process = f.steps->process;
    sums_hold(f.steps);
    assert_true(process->partial);
    assert_int_equal(process->pause_count, 2);
    assert_int_equal(process->pauses[0].to_ns - process->pauses[0].from_ns, 1000 * MS);
    assert_true(process->pauses[1].to_ns == UINT64_MAX);
    assert_int_equal(f.steps->paused, 1);
    for (size_t i = 0; i < f.steps->count; i++)
        assert_true(f.steps->list[i].wall_ns < 1000 * MS);
    const rec_execution *first = &process->executions[0], *last = &process->executions[LOOPS - 1];
    const uint32_t before = rec_argument(process, first, 0, 0);
    const uint32_t after = rec_argument(process, last, 0, 0);
    assert_true(before != after);
    assert_int_equal(process->buffers[before].fate, REC_REPLACED);
    assert_int_equal(process->buffers[after].origin, REC_FROM_NOWHERE);
    lose(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ready_is_neither_work_nor_sleep),
        cmocka_unit_test(within_a_call_it_stays_the_calls),
        cmocka_unit_test(what_an_interval_cannot_hold_is_of_the_next),
        cmocka_unit_test(without_readings_it_is_unknown),
        cmocka_unit_test(none_is_not_unknown),
        cmocka_unit_test(a_delay_beyond_the_time_is_bounded),
        cmocka_unit_test(marks_are_in_order_of_time),
        cmocka_unit_test(steps_of_a_pause_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
