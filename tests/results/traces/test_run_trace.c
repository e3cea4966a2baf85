/*
 * test_run_trace.c - the timeline of a run as Chrome's trace events and as XSpace, from spans that
 * are made by hand. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/records/records.h"
#include "results/traces/traces.h"
#include "runtime/wire/xspace.pb-c.h"

#include <stdlib.h>

#define BASE 1000000u /* the first span */

/* ---- two rows ------------------------------------------------------------------------------- */

static void submit(bn_timeline *t, const char *name, uint64_t begin, uint64_t end, uint64_t done)
{
    bn_completion *completion = bn_timeline_call(t, BN_SPAN_EXECUTE, name, 0, begin, end);
    assert_non_null(completion);
    if (done)
        bn_completion_set(completion, done);
}

/* Two neighbouring steps of 100 us, two executions in each; a third later, whose second execution
 * nobody saw complete. */
static bn_timeline *make_row(const char *mode, int64_t process)
{
    bn_timeline *t = NULL;
    bn_status st = {0};
    if (bn_timeline_new(100, &t, &st) != BN_OK)
        fail_msg("%s", st.message);
    bn_timeline_about *about = bn_timeline_describe(t);
    snprintf(about->mode, sizeof about->mode, "%s", mode);
    snprintf(about->title, sizeof about->title, "net \"%s\"\n", mode);
    about->process = process;
    about->pid = 4000 + process;
    about->simulated = true;
    snprintf(about->device, sizeof about->device, process == 2 ? "simulated v4" : "v4");
    (void)bn_timeline_call(t, BN_SPAN_COMPILE, "step", 512, BASE, BASE + 50000);
    static const uint64_t begins[] = {100000, 200000, 900000};
    for (size_t i = 0; i < 3; i++) {
        const uint64_t at = BASE + begins[i];
        bn_timeline_step_begin(t, BN_STEP_MEASURED, i);
        bn_timeline_part(t, BN_PART_TRACE, at, at + 10000);
        bn_timeline_part(t, BN_PART_DISPATCH, at + 10000, at + 15000);
        submit(t, "forward", at + 10000, at + 12000, at + 40000);
        submit(t, "update", at + 12000, at + 15000, i < 2 ? at + 60000 : 0);
        bn_timeline_part(t, BN_PART_WAIT, at + 15000, at + 61000);
        (void)bn_timeline_call(t, BN_SPAN_TO_HOST, NULL, 4, at + 62000, at + 63000);
        bn_timeline_step_end(t, at, at + 100000);
    }
    (void)bn_timeline_call(t, BN_SPAN_PROFILED, "bench_step(1)", 0, BASE + 950000, BASE + 960000);
    return t;
}

/* ---- Chrome's events ----------------------------------------------------------------------------
 */

static char *written(bn_timeline **rows, size_t count, const char *name, size_t *size)
{
    char folder[300];
    char *data = NULL;
    bn_status st = {0};
    size_t left_out = 9;
    fixture_folder(folder, sizeof folder, "run-trace");
    const char *path = fixture_in(folder, name);
    if (res_trace_write_run(rows, count, path, false, &left_out, &st) != BN_OK)
        fail_msg("%s", st.message);
    assert_int_equal(left_out, 0);
    assert_int_equal(res_trace_write_run(rows, count, path, false, NULL, &st), BN_IO);
    assert_int_equal(bn_regular_read(path, &data, size, NULL), BN_OK);
    return data;
}

static json_t *trace_of(bn_timeline **rows, size_t count)
{
    size_t size = 0;
    json_t *trace = NULL;
    bn_status st = {0};
    char *data = written(rows, count, "run.json", &size);
    if (res_json_parse(data, size, &trace, &st) != BN_OK)
        fail_msg("%s", st.message);
    for (size_t i = 0; i < size; i++)
        assert_true((unsigned char)data[i] < 0x80);
    free(data);
    return trace;
}

static const char *text_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static double number_of(const json_t *event, const char *key)
{
    return json_number_value(json_object_get(event, key));
}

/* Event NTH of PHASE called NAME on row PROCESS; it must be there. */
static const json_t *find(const json_t *trace, const char *phase, const char *name, int process,
                          size_t nth)
{
    const json_t *events = json_object_get(trace, "traceEvents");
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (strcmp(text_of(event, "ph"), phase) == 0 && strcmp(text_of(event, "name"), name) == 0 &&
            (int)number_of(event, "pid") == process && nth-- == 0)
            return event;
    }
    fail_msg("no event %s %s", phase, name);
    return NULL;
}

static void check_slice(const json_t *event, int lane, double us, double duration)
{
    assert_int_equal((int)number_of(event, "tid"), lane);
    assert_near(number_of(event, "ts"), us, 1e-6);
    assert_near(number_of(event, "dur"), duration, 1e-6);
}

static void times_are_those_of_the_spans(void **state)
{
    (void)state;
    bn_timeline *row = make_row("lazy", 3);
    json_t *trace = trace_of(&row, 1);
    check_slice(find(trace, "X", "compile", 1, 0), 3, 0, 50);
    check_slice(find(trace, "X", "step 1", 1, 0), 1, 200, 100);
    check_slice(find(trace, "X", "trace", 1, 1), 2, 200, 10);
    /* The update begins on the device when the forward pass has ended. */
    check_slice(find(trace, "X", "forward", 1, 0), 3, 110, 2);
    check_slice(find(trace, "X", "forward", 1, 1), 5, 110, 30);
    check_slice(find(trace, "X", "update", 1, 1), 5, 140, 20);
    /* Between neighbouring steps nothing ran; of what was before the third nobody knows. */
    check_slice(find(trace, "X", "gap", 1, 0), 5, 160, 50);
    check_slice(find(trace, "X", "forward", 1, 5), 5, 910, 30);
    check_slice(find(trace, "X", "bench_step(1)", 1, 0), 6, 950, 10);
    check_slice(find(trace, "X", "to host", 1, 2), 3, 962, 1);
    const json_t *args = json_object_get(find(trace, "X", "step 0", 1, 0), "args");
    assert_int_equal(number_of(args, "trace_ns"), 10000);
    assert_int_equal(number_of(args, "other_ns"), 100000 - 61000);
    json_decref(trace);
    bn_timeline_free(row);
}

/* Steps in flight: an execution of a later step was submitted before the one of an earlier step
 * ended, whether or not the steps between are shown. */
static void executions_do_not_overlap(void **state)
{
    (void)state;
    bn_timeline *t = NULL;
    bn_status st = {0};
    assert_int_equal(bn_timeline_new(100, &t, &st), BN_OK);
    bn_timeline_step_begin(t, BN_STEP_MEASURED, 0);
    submit(t, "a", BASE, BASE + 1000, BASE + 90000);
    bn_timeline_step_end(t, BASE, BASE + 2000);
    bn_timeline_step_begin(t, BN_STEP_MEASURED, 7);
    submit(t, "b", BASE + 50000, BASE + 51000, BASE + 120000);
    submit(t, "c", BASE + 60000, BASE + 61000, BASE + 110000); /* reported in another order */
    submit(t, "d", BASE + 130000, BASE + 131000, BASE + 140000);
    bn_timeline_step_end(t, BASE + 50000, BASE + 150000);
    json_t *trace = trace_of(&t, 1);
    check_slice(find(trace, "X", "a", 1, 1), 5, 0, 90);
    check_slice(find(trace, "X", "b", 1, 1), 5, 90, 30);
    check_slice(find(trace, "X", "c", 1, 1), 5, 120, 0);
    check_slice(find(trace, "X", "gap", 1, 0), 5, 120, 10);
    check_slice(find(trace, "X", "d", 1, 1), 5, 130, 10);
    json_decref(trace);
    bn_timeline_free(t);
}

/* The device may have been busy with what nobody saw complete. */
static void no_gap_is_made_up(void **state)
{
    (void)state;
    bn_timeline *t = NULL;
    bn_status st = {0};
    assert_int_equal(bn_timeline_new(100, &t, &st), BN_OK);
    bn_timeline_step_begin(t, BN_STEP_MEASURED, 0);
    submit(t, "a", BASE, BASE + 1000, BASE + 20000);
    submit(t, "b", BASE + 30000, BASE + 31000, 0);
    submit(t, "c", BASE + 60000, BASE + 61000, BASE + 70000);
    submit(t, "d", BASE + 80000, BASE + 81000, BASE + 90000);
    bn_timeline_step_end(t, BASE, BASE + 100000);
    json_t *trace = trace_of(&t, 1);
    check_slice(find(trace, "X", "c", 1, 1), 5, 60, 10);
    check_slice(find(trace, "X", "gap", 1, 0), 5, 70, 10);
    check_slice(find(trace, "X", "d", 1, 1), 5, 80, 10);
    json_decref(trace);
    bn_timeline_free(t);
}

/* The format's demands on each event; slices of a lane are disjoint or nested. */
static void events_follow_the_rules(void **state)
{
    (void)state;
    bn_timeline *rows[] = {make_row("lazy", 1), make_row("capture", 1)};
    json_t *trace = trace_of(rows, 2);
    const json_t *events = json_object_get(trace, "traceEvents");
    double last[3][8] = {{0}};
    size_t slices = 0, flows = 0, gaps = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char phase = text_of(event, "ph")[0];
        const int process = (int)number_of(event, "pid"), lane = (int)number_of(event, "tid");
        assert_non_null(strchr("XMsf", phase));
        assert_true(process >= 1 && process <= 2 && lane >= 0 && lane < 8);
        if (phase == 'M')
            continue;
        assert_true(number_of(event, "ts") >= 0);
        if (phase == 'X') {
            assert_true(number_of(event, "dur") >= 0);
            assert_true(number_of(event, "ts") >= last[process][lane]); /* in the order of time */
            last[process][lane] = number_of(event, "ts");
            slices++;
            gaps += strcmp(text_of(event, "name"), "gap") == 0;
        }
        flows += phase == 's';
    }
    assert_int_equal(flows, 2 * 5); /* but for the one that nobody saw complete */
    assert_int_equal(gaps, 2);
    assert_true(slices > 2 * 25);
    json_decref(trace);
    bn_timeline_free(rows[0]);
    bn_timeline_free(rows[1]);
}

/* Each flow leaves within a call and comes to the execution on the device, in the same row; its
 * number is its own. */
static void flows_connect(void **state)
{
    (void)state;
    bn_timeline *rows[] = {make_row("lazy", 1), make_row("lazy", 2)};
    json_t *trace = trace_of(rows, 2);
    const json_t *events = json_object_get(trace, "traceEvents");
    bool seen[64] = {false};
    for (int process = 1; process <= 2; process++)
        for (size_t n = 0; n < 5; n++) {
            const json_t *from = find(trace, "s", "dispatch", process, n);
            const json_t *to = find(trace, "f", "dispatch", process, n);
            const size_t id = (size_t)number_of(from, "id");
            assert_int_equal(id, (size_t)number_of(to, "id"));
            assert_true(id > 0 && id < 64 && !seen[id]);
            seen[id] = true;
            assert_string_equal(text_of(to, "bp"), "e");
            assert_string_equal(text_of(from, "cat"), text_of(to, "cat"));
            assert_true(number_of(to, "ts") >= number_of(from, "ts"));
            size_t ends = 0;
            for (size_t i = 0; i < json_array_size(events); i++) {
                const json_t *e = json_array_get(events, i);
                if (text_of(e, "ph")[0] != 'X' || (int)number_of(e, "pid") != process)
                    continue;
                ends +=
                    (int)number_of(e, "tid") == 3 && number_of(e, "ts") == number_of(from, "ts");
                ends += (int)number_of(e, "tid") == 5 && number_of(e, "ts") == number_of(to, "ts");
            }
            assert_int_equal(ends, 2);
        }
    json_decref(trace);
    bn_timeline_free(rows[0]);
    bn_timeline_free(rows[1]);
}

static void rows_say_what_they_are(void **state)
{
    (void)state;
    bn_timeline *rows[] = {make_row("lazy", 1), make_row("capture", 2)};
    json_t *trace = trace_of(rows, 2);
    const json_t *name = json_object_get(find(trace, "M", "process_name", 2, 0), "args");
    assert_non_null(strstr(text_of(name, "name"), "capture, process 2 (pid 4002)"));
    const json_t *lane = json_object_get(find(trace, "M", "thread_name", 1, 3), "args");
    assert_string_equal(text_of(lane, "name"), "device v4 (simulated): executions");
    lane = json_object_get(find(trace, "M", "thread_name", 2, 3), "args");
    assert_string_equal(text_of(lane, "name"), "device simulated v4: executions");
    const json_t *about = json_object_get(json_object_get(trace, "otherData"), "rows");
    assert_int_equal(json_array_size(about), 2);
    assert_string_equal(text_of(json_array_get(about, 1), "mode"), "capture");
    assert_int_equal(number_of(json_array_get(about, 1), "steps_shown"), 3);
    json_decref(trace);
    bn_timeline_free(rows[0]);
    bn_timeline_free(rows[1]);
}

/* Where nothing was noted there is a file of nothing. */
static void no_spans(void **state)
{
    (void)state;
    json_t *trace = trace_of(NULL, 0);
    assert_int_equal(json_array_size(json_object_get(trace, "traceEvents")), 0);
    json_decref(trace);
}

/* ---- XSpace
 * -------------------------------------------------------------------------------------- */

/* The name of event INDEX of LINE in PLANE. */
static const char *event_name(const Bench__Trace__Plane *plane, const Bench__Trace__Line *line,
                              size_t index)
{
    assert_true(index < line->n_events);
    for (size_t i = 0; i < plane->n_event_names; i++)
        if (plane->event_names[i]->id == line->events[index]->name_id)
            return plane->event_names[i]->value->name;
    fail_msg("an event without a name");
    return "";
}

static void as_a_profile(void **state)
{
    (void)state;
    bn_timeline *rows[] = {make_row("lazy", 1), make_row("capture", 2)};
    bn_timeline_step_begin(rows[1], BN_STEP_PROFILED, 0);
    bn_timeline_step_end(rows[1], BASE + 1000000, BASE + 1100000);
    bn_timeline_open(rows[0], BN_SPAN_ANNOTATION, "mine");
    bn_timeline_close(rows[0], BN_SPAN_ANNOTATION);
    size_t size = 0;
    char *data = written(rows, 2, "run.xplane.pb", &size);
    Bench__Trace__Space *space =
        bench__trace__space__unpack(NULL, size, (const uint8_t *)(const void *)data);
    assert_non_null(space);
    /* The host, and the device of each: by names that xprof shows. */
    assert_int_equal(space->n_planes, 3);
    assert_string_equal(space->planes[0]->name, "/host:CPU");
    assert_string_equal(space->planes[1]->name, "/device:CUSTOM:0 lazy, process 1");
    assert_string_equal(space->planes[2]->name, "/device:CUSTOM:1 capture, process 2");
    const Bench__Trace__Plane *host = space->planes[0];
    assert_int_equal(host->n_lines, 4 + 3); /* of the second nothing is annotated */
    assert_int_equal(strncmp(host->lines[4]->name, "capture, process 2, ", 20), 0);
    const Bench__Trace__Line *steps = host->lines[0];
    assert_int_equal(steps->n_events, 3);
    assert_int_equal(steps->events[1]->offset_ps, 200000000);
    assert_int_equal(steps->events[1]->duration_ps, 100000000);
    /* Each kind of step counts from 0. */
    assert_string_equal(event_name(host, steps, 2), "step");
    assert_string_equal(event_name(host, host->lines[4], 2), "step");
    assert_string_equal(event_name(host, host->lines[4], 3), "profiled step");
    bool mine = false;
    for (size_t i = 0; i < host->n_event_names; i++)
        mine = mine || (strcmp(host->event_names[i]->value->name, "mine") == 0 &&
                        host->event_names[i]->id == host->lines[3]->events[0]->name_id);
    assert_true(mine);
    const Bench__Trace__Plane *device = space->planes[1];
    assert_int_equal(device->n_lines, 2);
    assert_int_equal(device->lines[0]->n_events, 5 + 1);
    assert_int_equal(device->lines[1]->events[0]->duration_ps, 10000000);
    bench__trace__space__free_unpacked(space, NULL);
    free(data);
    bn_timeline_free(rows[0]);
    bn_timeline_free(rows[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_those_of_the_spans),
        cmocka_unit_test(events_follow_the_rules),
        cmocka_unit_test(executions_do_not_overlap),
        cmocka_unit_test(no_gap_is_made_up),
        cmocka_unit_test(flows_connect),
        cmocka_unit_test(rows_say_what_they_are),
        cmocka_unit_test(no_spans),
        cmocka_unit_test(as_a_profile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
