/*
 * test_segments.c - recordings whose middle was dropped: what is read of made folders, damaged ones
 * among them, and the steps on both sides of what is missing.
 */
#include "tests/results/recordings/recording_fixture.h"

enum { LOOPS = 40, MISSING = 25, EXECUTIONS = 100 };

/* The bytes of one file. */
typedef struct part {
    char *bytes;
    size_t size;
} part;

/* A long run in its files: events, events.1 (dropped: of it KEPT is what others need), events.2. */
typedef struct cut {
    char folder[300], process[340];
    part events, dropped, last, kept;
    record_kept head;
} cut;

static part cut_off(play *p, size_t from)
{
    const part made = {malloc(p->tape.bytes.length - from), p->tape.bytes.length - from};
    assert_non_null(made.bytes);
    memcpy(made.bytes, p->tape.bytes.data + from, made.size);
    return made;
}

static void put(const cut *c, const char *name, const void *bytes, size_t size)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", c->process, name);
    put_file(path, bytes, size);
}

static void gone(const cut *c, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", c->process, name);
    assert_int_equal(unlink(path), 0);
}

static void put_kept(const cut *c)
{
    char *all = malloc(sizeof c->head + c->kept.size);
    assert_non_null(all);
    memcpy(all, &c->head, sizeof c->head);
    memcpy(all + sizeof c->head, c->kept.bytes, c->kept.size);
    put(c, "kept", all, sizeof c->head + c->kept.size);
    free(all);
}

static void loops(play *p, const play_program *program, uint64_t state, int count)
{
    const run r = {
        .call_ns = 50 * US, .device_ns = 2 * MS, .arguments = &state, .argument_count = 1};
    for (int i = 0; i < count; i++) {
        play_execute(p, program, r, NULL);
        play_wait(p, 0, 0);
        play_work(p, 0, MS);
    }
}

/* LOOPS steps, a compile and MISSING steps that are dropped, and LOOPS of what was compiled. */
static cut cut_run(void)
{
    static play p;
    cut c = {.folder = ""};
    play_begin(&p);
    tape_file(&p.tape)->version = RECORD_VERSION_SEGMENTS;
    const play_program step = play_compile(&p, "jit_step", 12, 1, 1, MS);
    const uint64_t state = play_send(&p, 0, 1000, US);
    loops(&p, &step, state, LOOPS);
    c.events = cut_off(&p, 0);
    size_t at = p.tape.bytes.length;
    const uint64_t from = p.thread[0].now;
    const play_program again = play_compile(&p, "jit_step", 12, 1, 1, 10 * MS);
    c.kept = cut_off(&p, at);
    loops(&p, &step, state, MISSING);
    play_read_delay(&p, 0);
    c.dropped = cut_off(&p, at);
    c.head = (record_kept){.magic = RECORD_KEPT_MAGIC,
                           .version = RECORD_VERSION_SEGMENTS,
                           .slot = RECORD_SLOT,
                           .bytes = sizeof c.head + c.kept.size,
                           .first = 2,
                           .dropped = 3 * MISSING + 1,
                           .from_ns = from,
                           .to_ns = p.thread[0].now};
    at = p.tape.bytes.length;
    loops(&p, &again, state, LOOPS);
    c.last = cut_off(&p, at);
    bn_text_free(&p.tape.bytes);
    fixture_folder(c.folder, sizeof c.folder, "segments");
    snprintf(c.process, sizeof c.process, "%s/100-1", c.folder);
    assert_int_equal(mkdir(c.process, 0700), 0);
    put(&c, "events", c.events.bytes, c.events.size);
    put_kept(&c);
    put(&c, "events.2", c.last.bytes, c.last.size);
    return c;
}

static void cut_free(cut *c)
{
    free(c->events.bytes);
    free(c->dropped.bytes);
    free(c->last.bytes);
    free(c->kept.bytes);
}

static rec_recording *opened(const cut *c)
{
    bn_status st = {0};
    rec_recording *r = NULL;
    assert_ok(rec_open(c->folder, &r, &st), &st);
    assert_int_equal(r->damaged_count, 0);
    return r;
}

static void refused(const cut *c, bn_code code, const char *word)
{
    bn_status st = {0};
    rec_recording *r = NULL;
    assert_fails(rec_open(c->folder, &r, &st), code, word, &st);
}

/* ---- whole ones -------------------------------------------------------------------------------
 */

static void steps_are_on_both_sides(void **state)
{
    (void)state;
    cut c = cut_run();
    rec_recording *r = opened(&c);
    const rec_process *p = &r->processes[0];
    assert_true(p->dropped.any);
    assert_int_equal(p->dropped.events, 3 * MISSING + 1);
    assert_int_equal(p->execution_count, 2 * LOOPS);
    assert_int_equal(p->skipped, 0);
    assert_false(p->partial);
    assert_int_equal(p->bytes, c.events.size + sizeof c.head + c.kept.size + c.last.size);
    const rec_pause *pause = &p->pauses[p->dropped.pause];
    assert_true(pause->from_ns < c.head.to_ns && pause->to_ns >= c.head.to_ns);
    /* What was compiled meanwhile is known, and buffers are not. */
    const rec_execution *last = &p->executions[2 * LOOPS - 1];
    assert_int_equal(p->programs[last->program].compiles, 2);
    assert_true(p->executables[last->executable].compile != REC_NONE);
    assert_int_equal(p->buffers[rec_argument(p, last, 0, 0)].origin, REC_FROM_NOWHERE);
    rec_steps *s = play_steps(r, "jit_step");
    sums_hold(s);
    size_t before = 0, behind = 0;
    for (size_t i = 0; i < s->count; i++) {
        before += s->list[i].begin_ns + s->list[i].wall_ns <= pause->from_ns;
        behind += s->list[i].begin_ns >= pause->to_ns;
        assert_true(s->list[i].wall_ns < 4 * MS);
    }
    assert_int_equal(before + behind, s->count);
    assert_true(before > LOOPS / 2 && behind > LOOPS / 2);
    /* The missing time is no step's, and nothing else's. */
    double sum = 0;
    for (int k = 0; k < REC_RUN_PART_COUNT; k++)
        sum += s->run.part_ns[k];
    assert_near(sum, (double)(s->run.end_ns - s->run.begin_ns), 1);
    assert_true(s->run.part_ns[REC_RUN_UNRECORDED] > MISSING * 3 * MS - 15 * MS);
    assert_true(s->run.part_ns[REC_RUN_OTHER] < 5 * MS);
    const rec_answer answer = rec_answer_make(s);
    json_t *o = rec_steps_json(r, s, &answer);
    const json_t *dropped = json_object_get(json_object_get(o, "process"), "dropped");
    assert_int_equal(json_integer_value(json_object_get(dropped, "events")), 3 * MISSING + 1);
    assert_int_equal(json_integer_value(json_object_get(dropped, "from_ns")),
                     pause->from_ns - p->begin_ns);
    json_decref(o);
    rec_steps_free(s);
    rec_close(r);
    cut_free(&c);
}

/* Killed between the append to "kept" and its head; between the head and the removal; before it
 * had a head. */
static void what_a_kill_leaves_is_consistent(void **state)
{
    (void)state;
    cut c = cut_run();
    c.head.first = 1;
    c.head.bytes = sizeof c.head;
    put_kept(&c);
    put(&c, "events.1", c.dropped.bytes, c.dropped.size);
    rec_recording *r = opened(&c);
    assert_false(r->processes[0].dropped.any);
    assert_int_equal(r->processes[0].execution_count, 2 * LOOPS + MISSING);
    assert_int_equal(r->processes[0].pause_count, 0);
    rec_close(r);
    put(&c, "kept", "", 0);
    r = opened(&c);
    assert_int_equal(r->processes[0].execution_count, 2 * LOOPS + MISSING);
    rec_close(r);
    c.head.first = 2;
    c.head.bytes = sizeof c.head + c.kept.size;
    put_kept(&c);
    r = opened(&c);
    assert_true(r->processes[0].dropped.any);
    assert_int_equal(r->processes[0].execution_count, 2 * LOOPS);
    rec_close(r);
    cut_free(&c);
}

/* Zeros at a border of files are room that no event fitted into. */
static void borders_of_files_may_be_empty(void **state)
{
    (void)state;
    static const char zeros[5 * RECORD_SLOT];
    cut c = cut_run();
    char *longer = malloc(c.events.size + sizeof zeros);
    assert_non_null(longer);
    memcpy(longer, c.events.bytes, c.events.size);
    memcpy(longer + c.events.size, zeros, sizeof zeros);
    put(&c, "events", longer, c.events.size + sizeof zeros);
    put(&c, "events.3", zeros, sizeof zeros);
    free(longer);
    longer = malloc(c.last.size + sizeof zeros);
    assert_non_null(longer);
    memcpy(longer, zeros, sizeof zeros);
    memcpy(longer + sizeof zeros, c.last.bytes, c.last.size);
    put(&c, "events.2", longer, c.last.size + sizeof zeros);
    rec_recording *r = opened(&c);
    assert_int_equal(r->processes[0].skipped, 0);
    assert_int_equal(r->processes[0].execution_count, 2 * LOOPS);
    rec_close(r);
    free(longer);
    cut_free(&c);
}

/* ---- damaged ones -------------------------------------------------------------------------------
 */

static void damage_is_an_error(void **state)
{
    (void)state;
    cut c = cut_run();
    const record_kept good = c.head;
    c.head.bytes += RECORD_SLOT;
    put_kept(&c);
    refused(&c, BN_FORMAT, "kept");
    c.head = good;
    c.head.bytes = 8;
    put_kept(&c);
    refused(&c, BN_FORMAT, "kept");
    c.head = good;
    c.head.magic[0] = 'x';
    put_kept(&c);
    refused(&c, BN_FORMAT, "kept");
    c.head = good;
    c.head.version = RECORD_VERSION_SEGMENTS + 1;
    put_kept(&c);
    refused(&c, BN_NOT_SUPPORTED, "kept");
    c.head = good;
    c.head.first = 0;
    put_kept(&c);
    refused(&c, BN_FORMAT, "kept");
    c.head = good;
    put_kept(&c);
    put(&c, "events.4", "", 0);
    refused(&c, BN_FORMAT, "events.3");
    gone(&c, "events.4");
    put(&c, "events.99", "", 0);
    refused(&c, BN_FORMAT, "segments");
    gone(&c, "events.99");
    gone(&c, "kept");
    refused(&c, BN_FORMAT, "events.1");
    put_kept(&c);
    char path[400], to[400];
    snprintf(path, sizeof path, "%s/events.2", c.process);
    snprintf(to, sizeof to, "%s/elsewhere", c.process);
    assert_int_equal(rename(path, to), 0);
    assert_int_equal(symlink("elsewhere", path), 0);
    refused(&c, BN_FORMAT, "link");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    refused(&c, BN_FORMAT, "regular");
    cut_free(&c);
}

static void cut_files_are_read_as_far_as_they_go(void **state)
{
    (void)state;
    cut c = cut_run();
    for (size_t size = 0; size < c.last.size; size += c.last.size / 37 + 1) {
        put(&c, "events.2", c.last.bytes, size);
        rec_recording *r = opened(&c);
        assert_true(r->processes[0].execution_count >= LOOPS);
        assert_true(r->processes[0].execution_count <= 2 * LOOPS);
        rec_close(r);
    }
    cut_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_on_both_sides),
        cmocka_unit_test(what_a_kill_leaves_is_consistent),
        cmocka_unit_test(borders_of_files_may_be_empty),
        cmocka_unit_test(damage_is_an_error),
        cmocka_unit_test(cut_files_are_read_as_far_as_they_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
