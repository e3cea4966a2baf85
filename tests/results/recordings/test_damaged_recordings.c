/*
 * test_damaged_recordings.c - recordings that are damaged, unfinished, or made to do harm.
 */
#include "tests/results/recordings/recording_fixture.h"

#include <time.h>

#include "results/complaints/complaints.h"

#define LOOPS 12

/* A small recording: a loop of one program, with transfers, copies, waits and ends. */
static void play_small(play *p)
{
    uint64_t state, sent;
    play_begin(p);
    const play_program init = play_compile(p, "init", 3, 1, 1, MS);
    const play_program step = play_compile(p, "step", 4, 2, 2, MS);
    play_execute(p, &init, (run){.call_ns = US, .device_ns = US}, &state);
    for (int i = 0; i < LOOPS; i++) {
        uint64_t arguments[2], results[2];
        sent = play_send(p, 0, 24, 10 * US);
        play_feed(p, 0, i % 2 ? sent : 0, 24, 5 * US);
        arguments[0] = state;
        arguments[1] = sent;
        /* Every third as version 1 had it, on two devices; the others are asked of, or believed. */
        const uint64_t keep[1] = {1};
        play_execute(p, &step,
                     (run){.thread = i % 2,
                           .call_ns = 20 * US,
                           .device_ns = MS,
                           .devices = i % 3 ? 1 : 2,
                           .arguments = arguments,
                           .argument_count = 2,
                           .ended = i % 4 == 1,
                           .asked = i % 3 == 1,
                           .taken = 1,
                           .keep = keep,
                           .keep_count = i % 3 ? 1 : 0},
                     results);
        play_destroy(p, state, i % 3 ? RECORD_UNASKED : RECORD_DELETED);
        play_destroy(p, sent, i % 3 ? RECORD_UNASKED : 0);
        state = results[0];
        play_read(p, 0, results[1], 10 * US);
        play_destroy(p, results[1], 0);
        play_await(p, 0, 0);
        p->thread[1].now = p->thread[0].now;
        play_work(p, 0, 300 * US);
    }
}

/* Looks at all that a recording says: nothing of it may lead out of an array. */
static void walk(const rec_recording *r)
{
    for (size_t i = 0; i < r->process_count; i++) {
        const rec_process *p = &r->processes[i];
        bn_text text = {0};
        for (size_t k = 0; k < p->execution_count; k++) {
            const rec_execution *e = &p->executions[k];
            assert_true(e->executable < p->executable_count && e->program < p->program_count);
            assert_true(k == 0 || e[-1].begin_ns <= e->begin_ns);
            assert_true(e->spans + e->devices <= p->span_count);
            for (uint32_t d = 0; d < e->devices; d++) {
                for (uint32_t a = 0; a < e->arguments; a++) {
                    const uint32_t b = rec_argument(p, e, d, a);
                    assert_true(b == REC_NONE || b < p->buffer_count);
                }
                for (uint32_t a = 0; a < e->results; a++) {
                    const uint32_t b = rec_result(p, e, d, a);
                    assert_true(b == REC_NONE || b < p->buffer_count);
                }
            }
        }
        for (size_t k = 0; k < p->buffer_count; k++) {
            const rec_buffer *b = &p->buffers[k];
            assert_true(b->type == REC_NONE || b->type < p->type_count);
            assert_true(b->last_use == REC_NONE || b->last_use < p->execution_count);
            assert_true(b->maker == REC_NONE ||
                        b->maker <
                            (b->origin == REC_FROM_CALL ? p->call_count : p->execution_count));
            rec_type_put(p, b->type, &text);
            bn_text_clear(&text);
        }
        for (size_t k = 0; k < p->call_count; k++)
            assert_true(p->calls[k].begin_ns <= p->calls[k].end_ns);
        bn_text_free(&text);
    }
}

static void try_complaints(const rec_recording *r)
{
    bn_status st = {0};
    rec_steps *steps = NULL;
    rec_checkup checkup;
    const rec_options o = {.device = -1};
    if (rec_check_steps(r, &o, &steps, &st) != BN_OK)
        return;
    assert_ok(rec_check(steps, &checkup, &st), &st);
    json_t *json = rec_checkup_json(r, &checkup);
    assert_non_null(json);
    json_decref(json);
    rec_checkup_free(&checkup);
    rec_steps_free(steps);
}

/* Opens the recording whose only events are SIZE bytes at BYTES, and asks it all there is to ask.
 */
static bn_code try_bytes(const char *folder, const char *bytes, size_t size, uint64_t *skipped)
{
    bn_status st = {0};
    rec_recording *r = NULL;
    rec_steps *steps = NULL;
    const rec_options o = {.device = -1, .keep_warmup = true};
    char path[400];
    snprintf(path, sizeof path, "%s/100-1/events", folder);
    /* A new file: some file systems write one that is cut and written again to the disk at once. */
    unlink(path);
    put_file(path, bytes, size);
    const bn_code code = rec_open(folder, &r, &st);
    assert_int_equal(code, st.code);
    if (code != BN_OK)
        return code;
    walk(r);
    *skipped = r->processes[0].skipped;
    if (rec_steps_find(r, &o, &steps, &st) == BN_OK) {
        const rec_answer a = rec_answer_make(steps);
        json_t *json = rec_steps_json(r, steps, &a);
        assert_non_null(json);
        json_decref(json);
        rec_steps_free(steps);
    }
    try_complaints(r);
    rec_close(r);
    return code;
}

/* A recording in a folder, and its bytes. */
typedef struct harmed {
    char folder[300];
    char *bytes;
    size_t size;
} harmed;

static harmed begin_harm(void)
{
    harmed h;
    play p;
    play_small(&p);
    fixture_folder(h.folder, sizeof h.folder, "harmed");
    h.size = p.tape.bytes.length;
    h.bytes = malloc(h.size + 4096);
    assert_non_null(h.bytes);
    memcpy(h.bytes, p.tape.bytes.data, h.size);
    tape_write(&p.tape, h.folder, "100-1");
    return h;
}

static void cut_anywhere_the_rest_is_read(void **state)
{
    (void)state;
    harmed h = begin_harm();
    uint64_t skipped = 0;
    assert_int_equal(try_bytes(h.folder, h.bytes, h.size, &skipped), BN_OK);
    assert_int_equal(skipped, 0);
    for (size_t size = 0; size < h.size; size += size < 512 ? 1 : 23) {
        const bn_code code = try_bytes(h.folder, h.bytes, size, &skipped);
        assert_int_equal(code, size < RECORD_SLOT ? BN_FORMAT : BN_OK);
        /* Of an event that was cut its first slots only. */
        assert_true(size < RECORD_SLOT || skipped < 20);
        assert_true(size < RECORD_SLOT || size % RECORD_SLOT == 0 || skipped > 0);
    }
    free(h.bytes);
}

static void unfinished_slots_are_skipped(void **state)
{
    (void)state;
    harmed h = begin_harm();
    uint64_t skipped = 0;
    const size_t slots = h.size / RECORD_SLOT;
    /* A writer that was killed has not set the first 8 bytes. */
    for (size_t i = 1; i < slots; i++) {
        char kept[8];
        memcpy(kept, h.bytes + i * RECORD_SLOT, sizeof kept);
        memset(h.bytes + i * RECORD_SLOT, 0, sizeof kept);
        assert_int_equal(try_bytes(h.folder, h.bytes, h.size, &skipped), BN_OK);
        assert_in_range(skipped, 1, 20);
        memcpy(h.bytes + i * RECORD_SLOT, kept, sizeof kept);
    }
    /* Slots that were taken and not written, in the middle; the end of the file as it was made. */
    memset(h.bytes + 20 * RECORD_SLOT, 0, 5 * RECORD_SLOT);
    memset(h.bytes + h.size, 0, 4096);
    assert_int_equal(try_bytes(h.folder, h.bytes, h.size + 4096, &skipped), BN_OK);
    assert_in_range(skipped, 5, 30);
    free(h.bytes);
}

/* A newer recorder may have kinds of events that this bench does not know. */
static void events_of_other_kinds_are_counted(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {RECORD_KINDS, RECORD_KINDS + 1, 0xFF};
    harmed h = begin_harm();
    const size_t slots = h.size / RECORD_SLOT;
    uint64_t skipped = 0;
    for (size_t i = 1; i < slots; i++) {
        record_event *event = (record_event *)(void *)(h.bytes + i * RECORD_SLOT);
        const uint8_t kept = event->kind;
        for (size_t k = 0; k < sizeof kinds && kept != RECORD_MORE; k++) {
            event->kind = kinds[k];
            assert_int_equal(try_bytes(h.folder, h.bytes, h.size, &skipped), BN_OK);
            /* The event, its further slots, and what cannot be without it. */
            assert_true(skipped >= 1 + (uint64_t)event->more);
        }
        event->kind = kept;
    }
    free(h.bytes);
}

static void no_field_leads_astray(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, 0xFF, 0xFFFFFFFF, 0x100000001, UINT64_MAX, 1ull << 63};
    harmed h = begin_harm();
    uint64_t skipped = 0;
    for (size_t at = RECORD_SLOT; at + 8 <= h.size; at += 8) {
        char kept[8];
        memcpy(kept, h.bytes + at, sizeof kept);
        for (size_t i = at / 8 % 3; i < sizeof values / sizeof *values; i += 3) {
            memcpy(h.bytes + at, &values[i], sizeof values[i]);
            assert_int_equal(try_bytes(h.folder, h.bytes, h.size, &skipped), BN_OK);
        }
        memcpy(h.bytes + at, kept, sizeof kept);
    }
    free(h.bytes);
}

static void headers_are_checked(void **state)
{
    (void)state;
    bn_status st = {0};
    harmed h = begin_harm();
    record_file *file = (record_file *)(void *)h.bytes;
    uint64_t skipped;
    rec_recording *r = NULL;
    file->version = RECORD_VERSION_SEGMENTS + 1;
    assert_int_equal(try_bytes(h.folder, h.bytes, h.size, &skipped), BN_NOT_SUPPORTED);
    assert_fails(rec_open(h.folder, &r, &st), BN_NOT_SUPPORTED, "version 4", &st);
    file->version = 0;
    assert_int_equal(try_bytes(h.folder, h.bytes, h.size, &skipped), BN_FORMAT);
    file->version = RECORD_VERSION;
    file->slot = 32;
    assert_int_equal(try_bytes(h.folder, h.bytes, h.size, &skipped), BN_FORMAT);
    file->slot = RECORD_SLOT;
    file->magic[0] = 'x';
    assert_int_equal(try_bytes(h.folder, h.bytes, h.size, &skipped), BN_FORMAT);
    file->magic[0] = 'b';
    file->stop = 99;
    assert_int_equal(try_bytes(h.folder, h.bytes, h.size, &skipped), BN_OK);
    free(h.bytes);
}

/* ---- events made to take memory or time ---------------------------------------------------------
 */

static void huge_counts_take_no_memory(void **state)
{
    (void)state;
    char folder[300];
    play p;
    words w = {.size = 0};
    play_begin(&p);
    const play_program one = play_compile(&p, "one", 3, 1, 1, MS);
    record_event e = {.kind = RECORD_EXECUTE, .thread = 100, .time = p.thread[0].now};
    e.field[0] = e.time + 1;
    e.field[3] = one.handle;
    /* 4 billion devices without a handle; devices, arguments and results whose product is small
     * only where it overflows; more inputs that are kept than words. */
    static const uint64_t counts[][2] = {{0xFFFFFFFF, 0},
                                         {0x80000000, 0x00000001FFFFFFFF},
                                         {0x10000, 0xFFFF0000FFFF0000},
                                         {0xFFFFFFFF00000001, 0},
                                         {0, 0}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        w.size = 0;
        words_add(&w, counts[i][0]);
        words_add(&w, 0);
        words_add(&w, 0);
        words_add(&w, 0);
        e.field[5] = counts[i][1];
        tape_put(&p.tape, e, &w);
    }
    /* Results and ranks of an executable, the length of its name. */
    record_event x = {.kind = RECORD_EXECUTABLE, .field = {one.handle + 9, 0xFFFFFFF0}};
    w.size = 0;
    words_add(&w, UINT64_MAX);
    tape_put(&p.tape, x, &w);
    w.size = 0;
    words_add(&w, 0);
    words_add(&w, 11);
    words_add(&w, UINT64_MAX / 4);
    x.field[1] = 1;
    tape_put(&p.tape, x, &w);
    w.size = 0;
    words_add(&w, 0);
    words_add(&w, UINT64_MAX);
    x.field[1] = 0;
    tape_put(&p.tape, x, &w);
    /* Numbers of plugins, devices and completions. */
    tape_put(&p.tape, (record_event){.kind = RECORD_PLUGIN, .field = {UINT64_MAX}}, NULL);
    play_text(&p, RECORD_TEXT_PLATFORM, 1u << 30, "x");
    play_text(&p, RECORD_TEXT_COMMAND, 1u << 30, "x");
    tape_put(&p.tape, (record_event){.kind = RECORD_COMPLETE, .field = {1, UINT64_MAX}}, NULL);
    rec_recording *r = play_open(&p, folder, sizeof folder);
    walk(r);
    assert_int_equal(r->processes[0].execution_count, 0);
    assert_true(r->processes[0].skipped >= 12);
    rec_close(r);
}

static void holes_end_a_file(void **state)
{
    (void)state;
    bn_status st = {0};
    rec_recording *r = NULL;
    char path[400];
    harmed h = begin_harm();
    snprintf(path, sizeof path, "%s/100-1/events", h.folder);
    /* A terabyte that takes no disk, and an event at its end. */
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    assert_ok(rec_open(h.folder, &r, &st), &st);
    assert_int_equal(r->processes[0].skipped, 0);
    assert_int_equal(r->processes[0].execution_count, LOOPS + 1);
    rec_close(r);
    free(h.bytes);
}

/* The most further slots that an event can have, and as many again whose numbers run on. */
static void the_longest_event_ends(void **state)
{
    (void)state;
    enum { MOST = UINT16_MAX };
    for (int again = 0; again < 2; again++) {
        bn_status st = {0};
        rec_recording *r = NULL;
        char path[400];
        harmed h = begin_harm();
        snprintf(path, sizeof path, "%s/100-1/events", h.folder);
        FILE *file = fopen(path, "ab");
        assert_non_null(file);
        const record_event e = {
            .kind = RECORD_TEXT, .more = MOST, .field = {RECORD_TEXT_ERROR, UINT64_MAX}};
        assert_int_equal(fwrite(&e, sizeof e, 1, file), 1);
        const uint32_t count = again ? 2 * (MOST + 1) : MOST;
        for (uint32_t i = 1; i <= count; i++) {
            record_more more = {.kind = RECORD_MORE, .index = (uint16_t)i};
            more.bytes = sizeof more.data;
            memset(more.data, 'x', sizeof more.data);
            assert_int_equal(fwrite(&more, sizeof more, 1, file), 1);
        }
        assert_int_equal(fclose(file), 0);
        assert_ok(rec_open(h.folder, &r, &st), &st);
        walk(r);
        assert_int_equal(r->processes[0].execution_count, LOOPS + 1);
        /* The event itself may not fit its kind; its slots belong to it in any case. */
        const uint64_t skipped = r->processes[0].skipped;
        assert_true(again ? skipped >= MOST && skipped <= MOST + 3 : skipped <= 1);
        rec_close(r);
        free(h.bytes);
    }
}

/* ---- what looks alike ----------------------------------------------------------------------- */

/* Where XXH3 without a seed finds this number at the beginning of 32 bytes, it does not look at the
 * next one: dimensions of one hash, as many as anybody likes. */
#define BLIND UINT64_C(0xBE4BA423396CFEB8)

/* A buffer of a type of its own, whose hash is that of all others. */
static void put_blind(play *p, words *w, uint64_t i)
{
    record_event e = {.kind = RECORD_BUFFER, .thread = 100, .time = p->thread[0].now};
    e.field[0] = e.time + 1;
    e.field[3] = 0x100000000 + 64 * i;
    e.field[4] = RECORD_FROM_HOST | (uint64_t)11 << 32;
    w->size = 0;
    words_add(w, 24);
    words_add(w, 0);
    words_add(w, 0);
    words_add(w, BLIND);
    words_add(w, i);
    words_add(w, 2);
    words_add(w, 3);
    tape_put(&p->tape, e, w);
}

/* The plugin's description of the executable HANDLE: called NAME, with a result f32[SIZE]. */
static void put_said(play *p, words *w, uint64_t handle, const char *name, uint64_t size)
{
    w->size = 0;
    words_add(w, 0);
    words_add(w, 11);
    words_add(w, 1);
    words_add(w, size);
    words_add(w, strlen(name));
    words_text(w, name);
    tape_put(&p->tape, (record_event){.kind = RECORD_EXECUTABLE, .field = {handle, 1}}, w);
}

/* A program of one code and one set of options, in a form of its own. */
static void put_form(play *p, words *w, uint64_t i)
{
    char form[16];
    record_event e = {.kind = RECORD_COMPILE, .thread = 100, .time = p->thread[0].now};
    e.field[0] = e.time + 1;
    e.field[3] = 0x400000000 + 64 * i;
    w->size = 0;
    for (uint64_t k = 0; k < 6; k++)
        words_add(w, k + 1);
    snprintf(form, sizeof form, "%08x", (unsigned)i);
    words_text(w, form);
    tape_put(&p->tape, e, w);
}

/* Types and programs that differ in one thing only, chosen so that tables of them would be lists:
 * to read them takes as long as to read any others. */
static void what_looks_alike_takes_no_longer(void **state)
{
    (void)state;
    enum { MANY = 30000 };
    const uint64_t some[] = {BLIND, 1, 2, 3}, others[] = {BLIND, 9, 2, 3};
    static words w;
    char folder[300];
    play p;
    assert_true(XXH3_64bits(some, sizeof some) == XXH3_64bits(others, sizeof others));
    play_begin(&p);
    for (uint64_t i = 0; i < MANY; i++) {
        put_blind(&p, &w, i);
        /* One name, and results that differ. */
        put_said(&p, &w, 0x200000000 + 64 * i, "same", i);
        /* No name, and first what all others are. */
        put_said(&p, &w, 0x300000000 + 64 * i, "", 7);
        put_said(&p, &w, 0x300000000 + 64 * i, "", i);
        put_form(&p, &w, i);
    }
    const clock_t begin = clock();
    rec_recording *r = play_open(&p, folder, sizeof folder);
    assert_true(clock() - begin < 10 * CLOCKS_PER_SEC);
    const rec_process *q = &r->processes[0];
    assert_int_equal(q->skipped, 0);
    assert_int_equal(q->type_count, 2 * MANY);
    assert_int_equal(q->executable_count, 3 * MANY);
    /* Those without a name are one program, as it was first described. */
    const rec_executable *first = &q->executables[1], *last = &q->executables[3 * (MANY - 1) + 1];
    assert_int_equal(first->program, last->program);
    assert_int_not_equal(q->executables[0].program, q->executables[3].program);
    assert_int_not_equal(q->executables[2].program, q->executables[5].program);
    rec_close(r);
}

/* ---- folders ---------------------------------------------------------------------------- */

static void folders_are_not_believed(void **state)
{
    (void)state;
    bn_status st = {0};
    rec_recording *r = NULL;
    harmed h = begin_harm(), other = begin_harm();
    char path[400], to[400];
    assert_fails(rec_open(fixture_in(h.folder, "no"), &r, &st), BN_NOT_FOUND, "no", &st);
    snprintf(path, sizeof path, "%s/100-1/events", h.folder);
    assert_fails(rec_open(path, &r, &st), BN_NOT_FOUND, "not a folder", &st);
    assert_fails(rec_open(fixture_in(h.folder, "100-1/programs"), &r, &st), BN_NOT_FOUND,
                 "no recording", &st);
    /* A link in the place of events, or of the folder of a process, is not followed. */
    snprintf(to, sizeof to, "%s/100-1/events", other.folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(to, path), 0);
    assert_fails(rec_open(h.folder, &r, &st), BN_FORMAT, "link", &st);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(rec_open(h.folder, &r, &st), BN_FORMAT, "not a regular file", &st);
    snprintf(path, sizeof path, "%s/200-1", h.folder);
    snprintf(to, sizeof to, "%s/100-1", other.folder);
    assert_int_equal(symlink(to, path), 0);
    assert_fails(rec_open(h.folder, &r, &st), BN_FORMAT, "not ", &st);
    /* Next to a good process a damaged one is counted. */
    snprintf(path, sizeof path, "%s/300-1", other.folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/300-1/events", other.folder);
    put_file(path, "bad", 3);
    assert_ok(rec_open(other.folder, &r, &st), &st);
    assert_int_equal(r->process_count, 1);
    assert_int_equal(r->damaged_count, 1);
    assert_string_equal(r->damaged[0].name, "300-1");
    rec_close(r);
    free(h.bytes);
    free(other.bytes);
}

static void the_words_about_it_are_checked(void **state)
{
    (void)state;
    bn_status st = {0};
    rec_recording *r = NULL;
    harmed h = begin_harm();
    char deep[4000];
    const char *path = fixture_in(h.folder, "recording.json");
    memset(deep, '[', sizeof deep);
    put_file(path, deep, sizeof deep);
    assert_ok(rec_open(h.folder, &r, &st), &st);
    assert_null(r->about);
    assert_int_equal(r->about_fault.code, BN_FORMAT);
    rec_close(r);
    put_file(path, "[1]", 3);
    assert_ok(rec_open(h.folder, &r, &st), &st);
    assert_null(r->about);
    assert_int_equal(r->about_fault.code, BN_FORMAT);
    rec_close(r);
    free(h.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_anywhere_the_rest_is_read),
        cmocka_unit_test(unfinished_slots_are_skipped),
        cmocka_unit_test(events_of_other_kinds_are_counted),
        cmocka_unit_test(no_field_leads_astray),
        cmocka_unit_test(headers_are_checked),
        cmocka_unit_test(huge_counts_take_no_memory),
        cmocka_unit_test(holes_end_a_file),
        cmocka_unit_test(the_longest_event_ends),
        cmocka_unit_test(what_looks_alike_takes_no_longer),
        cmocka_unit_test(folders_are_not_believed),
        cmocka_unit_test(the_words_about_it_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
