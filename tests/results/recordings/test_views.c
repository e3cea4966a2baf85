/*
 * test_views.c - steps of a recording as a record and as a timeline: a process is made by hand, so
 * that all figures are known. Needs no plugin and no recorder.
 */
#include "runtime/wire/xspace.pb-c.h"
#include "tests/results/recordings/made_fixture.h"

/* ---- as a record ------------------------------------------------------------------------------
 */

static void what_ran_is_what_was_recorded(void **state)
{
    (void)state;
    made *m = make();
    const rec_naming naming = {0};
    res_record *record = record_of(m, &naming);
    const res_experiment *e = &record->experiment;
    assert_string_equal(e->model, "train");
    assert_string_equal(e->phase, "step");
    assert_string_equal(e->mode, "recorded");
    assert_string_equal(e->front_end, "jax 0.10.2");
    assert_string_equal(e->runtime, "cpu-xla");
    /* Values that a recording lacks stay unset. */
    assert_string_equal(e->dtype, "");
    assert_int_equal(e->batch, 0);
    assert_int_equal(e->graphs, 0);
    assert_int_equal(e->in_flight, 0);
    assert_false(record->simulated);
    assert_string_equal(res_plugin_sha256(record), FIXTURE_DIGEST);
    assert_string_equal(res_provenance_text(record, RES_PROV_HOST_NAME), "h");
    const json_t *recording = json_object_get(record->provenance, "recording");
    assert_int_equal(json_integer_value(json_object_get(recording, "executions_per_step")), 2);
    /* The first steady step began 100 ms after the file was made. */
    assert_int_equal(strncmp(record->id, "20261123T034640.600000000Z-recording-", 37), 0);
    res_record_free(record);
    drop(m);
}

static const char *recorder_sha256(const res_record *record)
{
    const json_t *recording = json_object_get(record->provenance, "recording");
    return json_string_value(json_object_get(recording, "recorder_sha256"));
}

/* The recorder is in the path that is timed: which one it was is said, and where nobody knows there
 * is no record. */
static void the_recorder_is_one_that_is_known(void **state)
{
    (void)state;
    made *m = make();
    bn_status st = {0};
    const rec_naming naming = {0};
    /* Older recorders did not name themselves. */
    res_record *record = record_of(m, &naming);
    assert_string_equal(recorder_sha256(record), "");
    res_record_free(record);
    json_object_set_new(m->recording.about, "recorder",
                        json_pack("{s:s, s:s}", "path", "/b/libpjrt_record.so", "sha256",
                                  fixture_digest("0a")));
    json_object_set_new(m->recording.about, "changed", json_pack("[s]", "/b/another.so"));
    record = record_of(m, &naming);
    assert_string_equal(recorder_sha256(record), fixture_digest("0a"));
    assert_string_equal(res_plugin_sha256(record), FIXTURE_DIGEST);
    res_record_free(record);
    json_object_set_new(m->recording.about, "changed", json_pack("[s]", "/b/libpjrt_record.so"));
    assert_int_equal(rec_record_make(&m->recording, &m->steps, &naming, &record, &st), BN_CHANGED);
    assert_non_null(strstr(st.message, "/b/libpjrt_record.so was replaced"));
    assert_null(record);
    drop(m);
}

static void assert_way(const made *m, const char *mode, const char *way)
{
    const rec_naming naming = {.mode = mode};
    res_record *record = record_of(m, &naming);
    const json_t *recording = json_object_get(record->provenance, "recording");
    assert_string_equal(json_string_value(json_object_get(recording, "way")), way);
    res_record_free(record);
}

/* Whether steps were captured is said where it is known, and nowhere else. */
static void the_way_is_stated_where_it_is_known(void **state)
{
    (void)state;
    static const char *const torch[] = {"torch 2.9.0", "torch_xla 2.9.0", NULL};
    made *m = make();
    /* JAX, in two programs: jit captured both, or each is one of the ops of a step. */
    assert_way(m, NULL, "unknown");
    m->of_step[0].times = 12;
    assert_way(m, NULL, "unknown");
    /* One that does nearly all. */
    m->of_step[0].times = 1;
    m->of_step[1].device_ns = m->of_step[1].device_share_ns = 1e5;
    assert_way(m, NULL, "captured");
    /* By their calls, where no completions are known. */
    m->of_step[0].device_ns = m->of_step[0].device_share_ns = (double)NAN;
    m->of_step[1].device_ns = m->of_step[1].device_share_ns = (double)NAN;
    m->of_step[0].call_ns = m->of_step[1].call_ns = 1e6;
    assert_way(m, NULL, "unknown");
    /* A front end's mode tells. */
    assert_way(m, "capture", "captured");
    assert_way(m, "parts", "captured");
    assert_way(m, "eager", "eager");
    m->process.frameworks = torch;
    assert_way(m, "lazy", "lazy");
    assert_way(m, "dynamo-step", "captured");
    m->of_step[0].device_ns = m->of_step[0].device_share_ns = 3e6;
    assert_way(m, NULL, "unknown");
    drop(m);
}

static void programs_are_executions(void **state)
{
    (void)state;
    made *m = make();
    const rec_naming naming = {0};
    res_record *record = record_of(m, &naming);
    assert_int_equal(record->execution_count, PROGRAMS);
    const res_execution *x = record->executions;
    assert_string_equal(x[0].graph, "gradient");
    assert_string_equal(x[1].graph, "update");
    assert_int_equal(strspn(x[0].fingerprint, "a"), 32);
    assert_int_equal(x[0].per_step, 1);
    assert_int_equal(x[0].arguments, 3);
    assert_int_equal(x[0].compile_ns, 30 * MS);
    assert_int_equal(x[0].temp_bytes, -1);
    assert_int_equal(x[0].code_bytes, 77);
    assert_int_equal(x[0].device_source, BN_DEVICE_TIME_EVENT);
    assert_near(x[1].device_ns, 2e6, 0);
    assert_int_equal(x[0].pjrt_count, STEPS);
    assert_int_equal(x[0].pjrt_ns[0], 3 * MS);
    assert_int_equal(x[1].pjrt_ns[STEPS - 1], 2 * MS);
    const res_measures measures = res_record_measures(record);
    assert_near(measures.device_ns, 5e6, 1);
    assert_near(measures.executions, 2, 0);
    assert_true(isnan(measures.nodes_per_step));
    assert_string_equal(measures.source, "event");
    res_record_free(record);

    m->of_step[1].device_ns = m->of_step[1].device_share_ns = (double)NAN;
    record = record_of(m, &naming);
    assert_int_equal(record->executions[1].device_source, BN_DEVICE_TIME_UNAVAILABLE);
    assert_true(isnan(res_record_measures(record).device_ns));
    res_record_free(record);

    /* An execution that did not end has no time, and neither has a program outside the steps. */
    m->spans[0].complete_ns = 0;
    m->steps.program_count = 1;
    m->row_of[1] = REC_NONE;
    record = record_of(m, &naming);
    assert_int_equal(record->execution_count, 1);
    assert_int_equal(record->executions[0].pjrt_count, STEPS - 1);
    assert_int_equal(record->executions[0].pjrt_ns[STEPS - 2], 3 * MS);
    res_record_free(record);
    drop(m);
}

static void the_same_steps_have_the_same_id(void **state)
{
    (void)state;
    made *m = make();
    const rec_naming naming = {0}, other = {.model = "other"};
    res_record *a = record_of(m, &naming), *b = record_of(m, &naming), *c = record_of(m, &other);
    assert_string_equal(a->id, b->id);
    assert_string_not_equal(a->id, c->id);
    res_record_free(a);
    res_record_free(b);
    res_record_free(c);
    drop(m);
}

/* A store takes it and gives it back; readers of before refuse what they would mix up. */
static void a_store_keeps_it(void **state)
{
    (void)state;
    made *m = make();
    char folder[300];
    bn_status st = {0};
    res_collection all;
    const rec_naming naming = {.model = "a/b", .phase = "train"};
    res_record *record = record_of(m, &naming);
    fixture_folder(folder, sizeof folder, "views");
    assert_int_equal(res_store_write(folder, record, NULL, 0, &st), BN_OK);
    assert_int_equal(res_store_write(folder, record, NULL, 0, &st), BN_INVALID);
    assert_int_equal(res_store_load(folder, &all, &st), BN_OK);
    assert_int_equal(all.count, 1);
    assert_memory_equal(&all.records[0]->experiment, &record->experiment,
                        sizeof record->experiment);
    assert_int_equal(all.records[0]->executions[1].pjrt_count, STEPS);
    res_collection_free(&all);
    res_record_free(record);
    drop(m);
}

/* bench record's own file is foreign, too. */
static void foreign_words_about_a_recording(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{\"runtime\": 3, \"host\": [], \"plugins\": \"x\"}",
        "{\"runtime\": {\"name\": \"a\\u001b[2J\"}, \"plugins\": {\"/plugins/a cpu.so\": \"zz\"}}",
        "{\"host\": {\"hostname\": {\"a\": 1}, \"cpu\": 7}, \"environment\": []}"};
    const rec_naming naming = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made *m = make();
        bn_status st = {0};
        json_decref(m->recording.about);
        assert_int_equal(res_json_parse(cases[i], strlen(cases[i]), &m->recording.about, &st),
                         BN_OK);
        res_record *record = record_of(m, &naming);
        assert_string_equal(res_plugin_sha256(record), "");
        assert_true(bn_is_plain(record->experiment.runtime));
        res_record_free(record);
        drop(m);
    }
    made *m = make();
    json_decref(m->recording.about);
    m->recording.about = NULL;
    res_record *record = record_of(m, &naming);
    assert_string_equal(record->experiment.runtime, "a cpu.so");
    res_record_free(record);
    bn_status st = {0};
    m->steps.count = 0;
    assert_int_equal(rec_record_make(&m->recording, &m->steps, &naming, &record, &st), BN_FORMAT);
    drop(m);
}

/* ---- as a timeline ------------------------------------------------------------------------------
 */

/* The events of FILE with PHASE and, unless it is NULL, NAME. */
static size_t count_of(const json_t *trace, const char *phase, const char *name)
{
    const json_t *events = json_object_get(trace, "traceEvents");
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        count += strcmp(json_string_value(json_object_get(event, "ph")), phase) == 0 &&
                 (!name || strcmp(json_string_value(json_object_get(event, "name")), name) == 0);
    }
    return count;
}

/* The timeline of M with STEPS, NULL for none, as it stands in PATH, which is a file in a new
 * folder; a new reference. */
static json_t *timeline_of(const made *m, const rec_steps *steps, const char **path)
{
    char folder[300];
    bn_status st = {0};
    char *data = NULL;
    size_t size = 0;
    json_t *trace = NULL;
    fixture_folder(folder, sizeof folder, "timeline");
    *path = fixture_in(folder, "trace.json");
    assert_int_equal(rec_timeline_write(&m->process, steps, *path, false, &st), BN_OK);
    assert_int_equal(bn_regular_read(*path, &data, &size, &st), BN_OK);
    if (res_json_parse(data, size, &trace, &st) != BN_OK)
        fail_msg("%s", st.message);
    free(data);
    return trace;
}

static void the_timeline_has_all(void **state)
{
    (void)state;
    made *m = make();
    bn_status st = {0};
    const char *path;
    json_t *trace = timeline_of(m, &m->steps, &path);
    assert_int_equal(count_of(trace, "X", "gradient"), 2 * STEPS); /* call and execution */
    assert_int_equal(count_of(trace, "X", "update"), 2 * STEPS);
    /* The update begins as soon as the gradient ends; then 5 ms pass until the next. */
    assert_int_equal(count_of(trace, "X", "gap"), STEPS - 1);
    assert_int_equal(count_of(trace, "s", "dispatch"), EXECUTIONS);
    assert_int_equal(count_of(trace, "f", "dispatch"), EXECUTIONS);
    assert_int_equal(count_of(trace, "X", "to device"), 1);
    assert_int_equal(count_of(trace, "b", "to device"), 1);
    assert_int_equal(count_of(trace, "X", "compile"), 1);
    assert_int_equal(count_of(trace, "X", "step 9"), 1);
    /* The first event is the compile; all others are counted from it. */
    const json_t *events = json_object_get(trace, "traceEvents");
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *name = json_string_value(json_object_get(event, "name"));
        const double ts = json_number_value(json_object_get(event, "ts"));
        assert_true(ts >= 0 && ts < 1e6);
        if (strcmp(name, "compile") == 0)
            assert_near(ts, 0, 0);
        if (strcmp(name, "step 1") == 0)
            assert_near(ts, 80000, 1e-3);
    }
    json_decref(trace);
    assert_int_equal(rec_timeline_write(&m->process, NULL, path, false, &st), BN_INVALID);
    assert_int_equal(rec_timeline_write(&m->process, NULL, path, true, &st), BN_OK);
    drop(m);
}

/* Without completions or steps there is less, and still a timeline. */
static void a_timeline_of_little(void **state)
{
    (void)state;
    made *m = make();
    for (size_t i = 0; i < EXECUTIONS; i++)
        m->spans[i].complete_ns = 0;
    m->process.thread_count = m->process.device_count = m->process.program_count = 0;
    const char *path;
    json_t *trace = timeline_of(m, NULL, &path);
    assert_int_equal(count_of(trace, "X", "program"), EXECUTIONS);
    assert_int_equal(count_of(trace, "s", NULL), 0);
    json_decref(trace);
    drop(m);
}

/* ---- as XSpace ----------------------------------------------------------------------------------
 */

/* The line of PLANE called NAME. */
static const Bench__Trace__Line *line_of(const Bench__Trace__Plane *plane, const char *name)
{
    for (size_t i = 0; i < plane->n_lines; i++)
        if (strcmp(plane->lines[i]->name, name) == 0)
            return plane->lines[i];
    fail_msg("%s has no line '%s'", plane->name, name);
    return NULL;
}

/* The events of LINE called NAME; the first of them into *FIRST. */
static size_t events_of(const Bench__Trace__Plane *plane, const Bench__Trace__Line *line,
                        const char *name, const Bench__Trace__Event **first)
{
    size_t count = 0;
    for (size_t i = 0; i < line->n_events; i++)
        for (size_t k = 0; k < plane->n_event_names; k++)
            if (plane->event_names[k]->id == line->events[i]->name_id &&
                strcmp(plane->event_names[k]->value->name, name) == 0 && count++ == 0)
                *first = line->events[i];
    return count;
}

/* The same lanes and times as in Chrome's events. */
static void a_file_that_ends_in_pb_is_xspace(void **state)
{
    (void)state;
    made *m = make();
    char folder[300], *data = NULL;
    bn_status st = {0};
    size_t size = 0;
    const Bench__Trace__Event *first = NULL;
    fixture_folder(folder, sizeof folder, "timeline");
    const char *path = fixture_in(folder, "trace.xplane.pb");
    m->programs[0].name = "gradient \"1\"";
    assert_int_equal(rec_timeline_write(&m->process, &m->steps, path, false, &st), BN_OK);
    assert_int_equal(bn_regular_read(path, &data, &size, &st), BN_OK);
    Bench__Trace__Space *space =
        bench__trace__space__unpack(NULL, size, (const uint8_t *)(const void *)data);
    assert_non_null(space);
    /* There is no profile. */
    assert_int_equal(space->n_planes, 2);
    const Bench__Trace__Plane *host = space->planes[0], *devices = space->planes[1];
    assert_string_equal(host->name, "/host:CPU");
    assert_string_equal(devices->name, "/device:CUSTOM:0 devices");
    assert_int_equal(devices->n_lines, 1);
    const Bench__Trace__Line *device = line_of(devices, "CPU_0");
    assert_int_equal(events_of(devices, device, "gradient \"1\"", &first), STEPS);
    assert_int_equal(events_of(devices, device, "update", &first), STEPS);
    assert_int_equal(events_of(devices, device, "gap", &first), STEPS - 1);
    assert_int_equal(first->duration_ps, 5 * (int64_t)MS * 1000);
    const Bench__Trace__Line *steps = line_of(host, "steady steps");
    assert_int_equal(events_of(host, steps, "step", &first), STEPS);
    assert_int_equal(first->offset_ps, 70 * (int64_t)MS * 1000);
    assert_int_equal(first->duration_ps, 10 * (int64_t)MS * 1000);
    assert_int_equal(steps->events[STEPS - 1]->n_stats, 1);
    assert_int_equal(steps->events[STEPS - 1]->stats[0]->int_value, STEPS - 1);
    size_t compiles = 0, calls = 0;
    for (size_t i = 0; i < host->n_lines; i++) {
        const Bench__Trace__Line *line = host->lines[i];
        compiles += events_of(host, line, "compile", &first);
        calls += events_of(host, line, "update", &first);
        /* Their order is that of time, though executions come before other calls. */
        for (size_t k = 1; k < line->n_events; k++)
            assert_true(line->events[k - 1]->offset_ps <= line->events[k]->offset_ps);
    }
    assert_int_equal(compiles, 1);
    assert_int_equal(calls, STEPS);
    bench__trace__space__free_unpacked(space, NULL);
    free(data);
    drop(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ran_is_what_was_recorded),
        cmocka_unit_test(the_recorder_is_one_that_is_known),
        cmocka_unit_test(the_way_is_stated_where_it_is_known),
        cmocka_unit_test(programs_are_executions),
        cmocka_unit_test(the_same_steps_have_the_same_id),
        cmocka_unit_test(a_store_keeps_it),
        cmocka_unit_test(foreign_words_about_a_recording),
        cmocka_unit_test(the_timeline_has_all),
        cmocka_unit_test(a_timeline_of_little),
        cmocka_unit_test(a_file_that_ends_in_pb_is_xspace),
    };
    res_store_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
