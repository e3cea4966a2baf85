/*
 * test_recordings.c - what the reader makes of a recording: processes, programs, buffers and their
 * flow, the files of programs.
 */
#include "tests/results/recordings/recording_fixture.h"

#include "results/recordings/views.h"

static const rec_process *only(const rec_recording *r)
{
    assert_int_equal(r->process_count, 1);
    return &r->processes[0];
}

static void the_process_and_its_surroundings(void **state)
{
    (void)state;
    char folder[300];
    play p;
    play_begin(&p);
    tape_file(&p.tape)->lost = 7;
    tape_file(&p.tape)->stop = RECORD_LIMIT;
    play_text(&p, RECORD_TEXT_THREAD, 100, "MainThread\n");
    play_text(&p, RECORD_TEXT_ERROR, 0, "out of \xff memory");
    const play_program step = play_compile(&p, "jit_step", 5, 2, 1, 3 * MS);
    play_execute(&p, &step, (run){.call_ns = 50 * US, .device_ns = MS}, NULL);
    play_execute(&p, &step, (run){.call_ns = 50 * US, .device_ns = MS, .failed = true}, NULL);
    rec_recording *r = play_open(&p, folder, sizeof folder);
    const rec_process *q = only(r);
    assert_int_equal(q->pid, 100);
    assert_string_equal(q->folder, "100-1");
    assert_int_equal(q->lost, 7);
    assert_int_equal(q->stop, RECORD_LIMIT);
    assert_int_equal(q->skipped, 0);
    assert_string_equal(q->command[0], "python");
    assert_string_equal(q->command[1], "train.py");
    assert_null(q->command[2]);
    assert_string_equal(q->framework, "jax 0.10.2");
    assert_string_equal(q->errors[0], "out of ? memory");
    assert_int_equal(q->plugin_count, 1);
    assert_string_equal(q->plugins[0].platform, "cpu");
    assert_int_equal(q->plugins[0].minor, 81);
    assert_int_equal(q->device_count, PLAY_DEVICES);
    assert_int_equal(q->devices[3].id, 3);
    assert_int_equal(q->main_thread, 0);
    assert_string_equal(q->threads[0].name, "MainThread ");
    assert_int_equal(q->program_count, 1);
    const rec_program *program = &q->programs[0];
    assert_string_equal(program->hash, "00000000000000010000000000000005");
    assert_string_equal(program->options, "00000000000000020000000000000007");
    assert_string_equal(program->form, "mlir");
    assert_int_equal(program->results, 2);
    assert_near(program->flops, 1e6, 0);
    assert_true(isnan(program->bytes));
    assert_int_equal(program->temporary_bytes, 0);
    assert_int_equal(program->kernel_bytes, UINT64_MAX);
    assert_int_equal(program->compiles, 1);
    assert_int_equal(program->compile_ns, 3 * MS);
    assert_int_equal(program->executions, 2);
    assert_int_equal(q->execution_count, 2);
    assert_true(q->executions[1].failed);
    assert_int_equal(q->failures, 1);
    assert_int_equal(q->spans[0].complete_ns - q->spans[0].start_ns, MS);
    assert_int_equal(q->spans[1].complete_ns, 0);
    assert_ptr_equal(rec_process_find(r, 0), q);
    assert_ptr_equal(rec_process_find(r, 100), q);
    assert_null(rec_process_find(r, 101));
    rec_close(r);
}

static void handles_are_followed_and_addresses_are_used_again(void **state)
{
    (void)state;
    char folder[300];
    play p;
    uint64_t first, second, third, sent;
    play_begin(&p);
    const play_program one = play_compile(&p, "one", 5, 1, 1, MS);
    const run r = {.call_ns = 10 * US, .device_ns = 20 * US};
    run takes = r;
    takes.argument_count = 1;
    play_execute(&p, &one, r, &first); /* buffer 0 */
    takes.arguments = &first;
    takes.donate = true;
    play_execute(&p, &one, takes, &second); /* buffer 1; 0 is donated to execution 1 */
    takes.arguments = &second;
    takes.donate = false;
    play_execute(&p, &one, takes, &third); /* buffer 2 at 0's address */
    assert_int_equal(third, first);
    play_destroy(&p, second, 0);
    play_destroy(&p, third, RECORD_ONLY_MEMORY);
    play_destroy(&p, third, RECORD_DELETED);
    sent = play_send(&p, 0, 24, 5 * US); /* buffer 3 at 2's address */
    assert_int_equal(sent, third);
    play_read(&p, 0, sent, 5 * US);
    const uint64_t unknown = 0xABCDEF00;
    takes.arguments = &unknown;
    play_execute(&p, &one, takes, &first); /* buffer 4 from nowhere, 5 */
    play_destroy(&p, 0x12345, 0);
    rec_recording *recording = play_open(&p, folder, sizeof folder);
    const rec_process *q = only(recording);
    assert_int_equal(q->buffer_count, 6);
    const rec_buffer *b = q->buffers;
    assert_int_equal(b[0].origin, REC_FROM_EXECUTION);
    assert_int_equal(b[0].maker, 0);
    assert_int_equal(b[0].result, 0);
    assert_int_equal(b[0].fate, REC_DONATED);
    assert_int_equal(b[0].last_use, 1);
    assert_true(rec_donated(q, 1, 0));
    assert_false(rec_donated(q, 0, 0));
    assert_int_equal(rec_argument(q, &q->executions[1], 0, 0), 0);
    assert_int_equal(rec_result(q, &q->executions[1], 0, 0), 1);
    assert_int_equal(rec_argument(q, &q->executions[1], 0, 1), REC_NONE);
    assert_int_equal(rec_argument(q, &q->executions[1], 1, 0), REC_NONE);
    assert_int_equal(b[1].fate, REC_DESTROYED);
    assert_int_equal(b[1].uses, 1);
    assert_int_equal(rec_argument(q, &q->executions[2], 0, 0), 1);
    assert_int_equal(rec_result(q, &q->executions[2], 0, 0), 2);
    /* Deleted first: its memory went to no execution. */
    assert_int_equal(b[2].fate, REC_DESTROYED);
    assert_int_equal(b[3].origin, REC_FROM_CALL);
    assert_int_equal(q->calls[b[3].maker].kind, REC_CALL_FROM_HOST);
    assert_int_equal(q->calls[b[3].maker].bytes, 24);
    assert_int_equal(q->calls[b[3].maker].buffer, 3);
    assert_int_equal(b[3].fate, REC_LIVES);
    assert_int_equal(b[4].origin, REC_FROM_NOWHERE);
    assert_int_equal(rec_argument(q, &q->executions[3], 0, 0), 4);
    assert_int_equal(q->strays, 1);
    bn_text type = {0};
    rec_type_put(q, b[0].type, &type);
    assert_string_equal(type.data, "f32[2,3]");
    assert_int_equal(rec_type_bytes(&q->types[b[0].type]), 24);
    bn_text_free(&type);
    rec_close(recording);
}

static void ends_share_a_slot(void **state)
{
    (void)state;
    char folder[300];
    play p;
    uint64_t made[4];
    play_begin(&p);
    const play_program four = play_compile(&p, "four", 5, 4, 1, MS);
    play_execute(&p, &four, (run){.call_ns = 10 * US, .device_ns = US}, made);
    tape_put(&p.tape,
             (record_event){.kind = RECORD_BUFFER_END,
                            .flags = RECORD_DELETED,
                            .time = p.thread[0].now,
                            .field = {made[2], made[0], made[3]}},
             NULL);
    rec_recording *r = play_open(&p, folder, sizeof folder);
    const rec_buffer *b = only(r)->buffers;
    assert_int_equal(b[0].fate, REC_DONATED);
    assert_int_equal(b[1].fate, REC_LIVES);
    assert_int_equal(b[2].fate, REC_DONATED);
    assert_int_equal(b[3].fate, REC_DONATED);
    assert_int_equal(only(r)->strays, 0);
    rec_close(r);
}

/* A buffer that has no bytes yet; without HANDLE several of a manager of transfers. */
static void play_make(play *p, uint64_t handle, uint64_t bytes)
{
    words w = {.size = 0};
    record_event e = play_call(p, 0, RECORD_BUFFER, US);
    e.field[3] = handle;
    e.field[4] = RECORD_UNINITIALIZED | (uint64_t)(handle ? 11 : 0) << 32;
    words_add(&w, bytes);
    words_add(&w, 0);
    words_add(&w, 0);
    tape_put(&p->tape, e, &w);
}

static void bytes_for_buffers_that_are_there_are_transfers(void **state)
{
    (void)state;
    char folder[300];
    play p;
    play_begin(&p);
    const uint64_t made = handle_take(&p);
    play_make(&p, 0, 116);
    play_feed(&p, 0, 0, 56, 3 * US);
    play_make(&p, made, 60);
    play_feed(&p, 0, made, 60, 5 * US);
    rec_recording *r = play_open(&p, folder, sizeof folder);
    const rec_process *q = only(r);
    static const rec_call_kind kinds[] = {REC_CALL_BUFFER, REC_CALL_FROM_HOST, REC_CALL_BUFFER,
                                          REC_CALL_FROM_HOST};
    static const uint64_t bytes[] = {116, 56, 60, 60};
    static const uint32_t buffers[] = {REC_NONE, REC_NONE, 0, 0};
    assert_int_equal(q->call_count, 4);
    assert_int_equal(q->buffer_count, 1);
    assert_int_equal(q->skipped, 0);
    for (uint32_t i = 0; i < 4; i++) {
        const rec_call *call = &q->calls[i];
        assert_int_equal(call->kind, kinds[i]);
        assert_int_equal(call->bytes, bytes[i]);
        assert_int_equal(call->buffer, buffers[i]);
        assert_int_equal(call->complete_ns, kinds[i] == REC_CALL_FROM_HOST ? call->end_ns : 0);
    }
    rec_close(r);
}

static void programs_are_one_by_what_they_are(void **state)
{
    (void)state;
    char folder[300];
    play p;
    play_begin(&p);
    /* Twice the same code, and three times code that was not kept, of two names. */
    const play_program a = play_compile(&p, "a", 5, 1, 1, MS);
    const play_program again = play_compile(&p, "a", 5, 1, 1, MS);
    const play_program x = play_compile(&p, "x", 0, 1, 1, MS);
    const play_program y = play_compile(&p, "y", 0, 1, 1, MS);
    const play_program like_x = play_compile(&p, "x", 0, 1, 1, MS);
    const play_program *all[] = {&a, &again, &x, &y, &like_x};
    for (size_t i = 0; i < 5; i++)
        play_execute(&p, all[i], (run){.call_ns = 10 * US, .device_ns = US}, NULL);
    /* An executable that nobody compiled. */
    const play_program lost = {0x77777, 0, 1, "lost"};
    play_execute(&p, &lost, (run){.call_ns = 10 * US, .device_ns = US}, NULL);
    /* Its address, after it ended. */
    tape_put(&p.tape, (record_event){.kind = RECORD_EXECUTABLE_END, .field = {a.handle}}, NULL);
    p.executable = a.handle;
    const play_program other = play_compile(&p, "other", 6, 1, 1, MS);
    assert_int_equal(other.handle, a.handle);
    play_execute(&p, &other, (run){.call_ns = 10 * US, .device_ns = US}, NULL);
    rec_recording *r = play_open(&p, folder, sizeof folder);
    const rec_process *q = only(r);
    const rec_execution *e = q->executions;
    assert_int_equal(e[0].program, e[1].program);
    assert_int_equal(q->programs[e[0].program].compiles, 2);
    assert_int_equal(q->programs[e[0].program].executions, 2);
    assert_string_equal(q->programs[e[2].program].name, "x");
    assert_string_equal(q->programs[e[2].program].hash, "");
    assert_int_equal(e[2].program, e[4].program);
    assert_int_not_equal(e[2].program, e[3].program);
    assert_int_equal(q->programs[e[2].program].compiles, 2);
    assert_string_equal(q->programs[e[5].program].name, "");
    assert_string_equal(q->programs[e[6].program].name, "other");
    assert_int_equal(q->calls[q->executables[1].compile].program, e[0].program);
    rec_close(r);
}

static void executions_are_in_order_of_their_begin(void **state)
{
    (void)state;
    char folder[300];
    play p;
    uint64_t a, b;
    play_begin(&p);
    const play_program one = play_compile(&p, "one", 5, 1, 1, MS);
    /* The second thread's call ends first, and so is written first. */
    p.thread[1].now = p.thread[0].now + US;
    play_execute(&p, &one, (run){.thread = 1, .call_ns = 10 * US, .device_ns = US}, &b);
    play_execute(&p, &one, (run){.call_ns = 100 * US, .device_ns = US}, &a);
    rec_recording *r = play_open(&p, folder, sizeof folder);
    const rec_process *q = only(r);
    assert_int_equal(q->executions[0].thread, 0);
    assert_int_equal(q->executions[0].number, 2);
    assert_int_equal(q->executions[1].number, 1);
    assert_int_equal(rec_result(q, &q->executions[0], 0, 0), 1);
    assert_int_equal(q->buffers[1].maker, 0);
    assert_int_equal(q->buffers[0].maker, 1);
    assert_int_equal(q->spans[q->executions[0].spans].execution, 0);
    rec_close(r);
}

static void several_processes(void **state)
{
    (void)state;
    bn_status st = {0};
    char folder[300];
    rec_recording *r = NULL;
    fixture_folder(folder, sizeof folder, "recording");
    for (uint32_t i = 0; i < 3; i++) {
        char name[32];
        play p;
        play_begin_at(&p, 300 - 100 * i, (1000 + i) * MS);
        const play_program one = play_compile(&p, "one", 5, 1, 1, MS);
        for (uint32_t k = 0; k < 2 + i % 2 * 5; k++)
            play_execute(&p, &one, (run){.call_ns = 10 * US, .device_ns = US}, NULL);
        snprintf(name, sizeof name, "%u-1", 300 - 100 * i);
        tape_write(&p.tape, folder, name);
    }
    put_file(fixture_in(folder, "recording.json"), "{\"runtime\": \"cpu\"}", 18);
    put_file(fixture_in(folder, "stray"), "x", 1);
    assert_ok(rec_open(folder, &r, &st), &st);
    assert_int_equal(r->process_count, 3);
    assert_int_equal(r->processes[0].pid, 300);
    assert_int_equal(r->processes[2].pid, 100);
    assert_int_equal(r->processes[2].programs[0].process, 2);
    assert_int_equal(rec_process_find(r, 0)->pid, 200);
    assert_string_equal(json_string_value(json_object_get(r->about, "runtime")), "cpu");
    rec_close(r);
    /* The folder of one process. */
    assert_ok(rec_open(fixture_in(folder, "100-1"), &r, &st), &st);
    assert_int_equal(only(r)->pid, 100);
    assert_null(r->about);
    rec_close(r);
}

/* ---- files of programs ------------------------------------------------------------------ */

static void hex_of(const char *bytes, size_t size, char text[RECORD_HASH_TEXT])
{
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
    snprintf(text, RECORD_HASH_TEXT, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

static void programs_are_read_and_checked(void **state)
{
    (void)state;
    static const char code[] = "module { func.func @main() }";
    bn_status st = {0};
    char folder[300], path[600], hash[RECORD_HASH_TEXT], *bytes = NULL;
    size_t size = 0;
    play p;
    play_begin(&p);
    (void)play_compile(&p, "a", 5, 1, 1, MS);
    rec_recording *r = play_open(&p, folder, sizeof folder);
    rec_program program = only(r)->programs[0];
    assert_fails(rec_program_read(r, &program, &bytes, &size, &st), BN_NOT_FOUND, program.hash,
                 &st);
    hex_of(code, sizeof code - 1, hash);
    snprintf(path, sizeof path, "%s/100-1/programs/%s.mlir", folder, hash);
    put_file(path, code, sizeof code - 1);
    memcpy(program.hash, hash, sizeof hash);
    assert_ok(rec_program_read(r, &program, &bytes, &size, &st), &st);
    assert_int_equal(size, sizeof code - 1);
    assert_memory_equal(bytes, code, size);
    free(bytes);
    put_file(path, "other", 5);
    assert_fails(rec_program_read(r, &program, &bytes, &size, &st), BN_FORMAT, "hash", &st);
    assert_null(bytes);
    /* No link, pipe or folder is taken for one. */
    assert_int_equal(unlink(path), 0);
    put_file(fixture_in(folder, "elsewhere"), code, sizeof code - 1);
    assert_int_equal(symlink(fixture_in(folder, "elsewhere"), path), 0);
    assert_fails(rec_program_read(r, &program, &bytes, &size, &st), BN_INVALID, "link", &st);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(rec_program_read(r, &program, &bytes, &size, &st), BN_INVALID, "regular", &st);
    /* Compile options. */
    snprintf(path, sizeof path, "%s/100-1/programs/%s.options", folder, hash);
    put_file(path, code, sizeof code - 1);
    memcpy(program.options, hash, sizeof hash);
    assert_ok(rec_options_read(r, &program, &bytes, &size, &st), &st);
    free(bytes);
    program.options[0] = '\0';
    assert_fails(rec_options_read(r, &program, &bytes, &size, &st), BN_NOT_FOUND, "not keep", &st);
    rec_close(r);
}

static void types_have_names_and_sizes(void **state)
{
    (void)state;
    const int64_t dims[] = {3, 5}, huge[] = {INT64_MAX, 4}, negative[] = {-1};
    assert_string_equal(rec_type_name(13), "bf16");
    assert_null(rec_type_name(0));
    assert_null(rec_type_name(-1));
    assert_null(rec_type_name(1000));
    assert_int_equal(rec_type_bytes(&(rec_type){13, 2, dims}), 30);
    assert_int_equal(rec_type_bytes(&(rec_type){21, 2, dims}), 8);
    assert_int_equal(rec_type_bytes(&(rec_type){11, 0, NULL}), 4);
    assert_int_equal(rec_type_bytes(&(rec_type){11, 2, huge}), 0);
    assert_int_equal(rec_type_bytes(&(rec_type){11, 1, negative}), 0);
    assert_int_equal(rec_type_bytes(&(rec_type){99, 2, dims}), 0);
}

/* Of what a device calls itself a timeline shows 400 bytes. A character that was cut would cost all
 * others that are not ASCII. */
static void long_names_are_cut_between_characters(void **state)
{
    (void)state;
    bn_status st = {0};
    char folder[300], text[500] = "x", *data = NULL;
    size_t size = 0, count = 0;
    play p;
    words w = {.size = 0};
    while (strlen(text) < sizeof text - 4)
        strcat(text, "\xc3\xb6");
    play_begin(&p);
    words_text(&w, text);
    tape_put(&p.tape,
             (record_event){.kind = RECORD_DEVICE, .field = {PLAY_DEVICE + 99, 99, 0, PLAY_CLIENT}},
             &w);
    rec_recording *r = play_open(&p, folder, sizeof folder);
    const char *path = fixture_in(folder, "trace.json");
    assert_ok(rec_timeline_write(only(r), NULL, path, false, &st), &st);
    assert_ok(bn_regular_read(path, &data, &size, &st), &st);
    /* As JSON has them in ASCII. */
    for (const char *at = data; (at = strstr(at, "\\u00")) != NULL; at++)
        count++;
    assert_int_equal(count, 199);
    free(data);
    rec_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_process_and_its_surroundings),
        cmocka_unit_test(handles_are_followed_and_addresses_are_used_again),
        cmocka_unit_test(ends_share_a_slot),
        cmocka_unit_test(bytes_for_buffers_that_are_there_are_transfers),
        cmocka_unit_test(programs_are_one_by_what_they_are),
        cmocka_unit_test(executions_are_in_order_of_their_begin),
        cmocka_unit_test(several_processes),
        cmocka_unit_test(programs_are_read_and_checked),
        cmocka_unit_test(types_have_names_and_sizes),
        cmocka_unit_test(long_names_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
