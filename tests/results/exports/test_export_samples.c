/*
 * test_export_samples.c - every sample on its own: CSV, timelines and profiles. Needs no plugin.
 */
#include "tests/results/exports/exports_fixture.h"

#include <time.h>

#include "runtime/wire/xspace.pb-c.h"

static void csv_has_a_row_a_sample(void **state)
{
    (void)state;
    res_collection all = sample();
    res_export export = made(&all, "csv");
    const char *text = file_with(&export, "")->data;
    /* Warm-up, steps, two executions of 21; the failure has its warm-up and executions. */
    assert_int_equal(lines_of(text), 1 + 3 * (5 + 2 * 21) + 2 * STEPS);
    assert_non_null(strstr(text, "out-of-memory,\"no \"\"room\"\", none\",warmup,,0,"));
    assert_non_null(strstr(text, ",execution,backward,20,"));
    res_export_free(&export);
    drop(&all);
}

static void chrome_trace_parts_fill_their_step(void **state)
{
    (void)state;
    res_collection all = sample();
    res_export export = made(&all, "chrome-trace");
    json_t *json = json_of(file_with(&export, "")), *event;
    double steps = 0, parts = 0;
    size_t index, step_events = 0, executions = 0;
    json_array_foreach(json_object_get(json, "traceEvents"), index, event)
    {
        if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0)
            continue;
        const char *name = json_string_value(json_object_get(event, "name"));
        const json_int_t lane = json_integer_value(json_object_get(event, "tid"));
        const double us = json_number_value(json_object_get(event, "dur"));
        step_events += strncmp(name, "step ", 5) == 0;
        steps += strncmp(name, "step ", 5) == 0 ? us : 0;
        parts += lane == 2 ? us : 0;
        executions += lane == 3;
    }
    assert_int_equal(step_events, 2 * STEPS);
    assert_true(fabs(steps - parts) < 0.01);
    assert_int_equal(executions, 2 * 2 * 21);
    json_decref(json);
    res_export_free(&export);
    drop(&all);
}

/* Readers warn of metadata that they do not know. */
static void chrome_trace_says_only_what_viewers_know(void **state)
{
    (void)state;
    res_collection all = sample();
    for (size_t first = 0; first <= 2; first += 2) {
        const res_collection some = {.records = all.records + first, .count = 3 - first};
        res_export export = made(&some, "chrome-trace");
        json_t *json = json_of(file_with(&export, "")), *event;
        json_t *events = json_object_get(json, "traceEvents");
        size_t i;
        assert_int_equal(json_array_size(events) > 0, first == 0);
        json_array_foreach(events, i, event)
        {
            const char *phase = json_string_value(json_object_get(event, "ph"));
            const char *name = json_string_value(json_object_get(event, "name"));
            assert_true(strcmp(phase, "X") == 0 || strcmp(name, "process_name") == 0 ||
                        strcmp(name, "thread_name") == 0);
        }
        json_decref(json);
        res_export_free(&export);
    }
    drop(&all);
}

/* Read by the program's own reader of profiles, whose code protoc-c made. */
static void xspace_is_a_profile(void **state)
{
    (void)state;
    res_collection all = sample();
    res_export export = made(&all, "xspace");
    assert_int_equal(export.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const bn_text *bytes = &export.files[i].bytes;
        Bench__Trace__Space *space = bench__trace__space__unpack(
            NULL, bytes->length, (const uint8_t *)(const void *)bytes->data);
        assert_non_null(space);
        assert_int_equal(space->n_planes, 2);
        assert_string_equal(space->planes[1]->name, "Task Environment");
        const Bench__Trace__Plane *plane = space->planes[0];
        assert_string_equal(plane->name, "/host:CPU");
        assert_int_equal(plane->n_lines, 3);
        assert_int_equal(plane->lines[0]->n_events, 5 + STEPS);
        assert_string_equal(plane->lines[0]->name,
                            i == 0 ? "bench steps" : "bench steps (simulated)");
        const Bench__Trace__Event *last = plane->lines[0]->events[5 + STEPS - 1];
        assert_int_equal(last->duration_ps, all.records[i]->wall_ns[STEPS - 1] * 1000);
        int64_t parts = 0, steps = 0;
        for (size_t e = 0; e < plane->lines[1]->n_events; e++)
            parts += plane->lines[1]->events[e]->duration_ps;
        for (size_t e = 5; e < plane->lines[0]->n_events; e++)
            steps += plane->lines[0]->events[e]->duration_ps;
        assert_int_equal(parts, steps);
        assert_int_equal(plane->lines[2]->n_events, 2 * 21);
        bench__trace__space__free_unpacked(space, NULL);
    }
    res_export_free(&export);
    drop(&all);
}

/* Readers count nanoseconds since 1970: of a year before that a profile says nothing. */
static void xspace_says_no_time_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        size_t names;
    } cases[] = {{"20261125T120000.000000000Z-h-1-1", 2}, {"00010101T000000.000000000Z-h-1-1", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        res_collection all = sample();
        strcpy(all.records[0]->id, cases[i].id);
        res_export export = made(&all, "xspace");
        const bn_text *bytes = &export.files[0].bytes;
        Bench__Trace__Space *space = bench__trace__space__unpack(
            NULL, bytes->length, (const uint8_t *)(const void *)bytes->data);
        assert_non_null(space);
        assert_int_equal(space->planes[1]->n_stat_names, cases[i].names);
        bench__trace__space__free_unpacked(space, NULL);
        res_export_free(&export);
        drop(&all);
    }
}

/* Of an import nothing is known but the wall times, and there may be many. */
static void many_steps_without_a_ledger_take_no_time(void **state)
{
    (void)state;
    enum { MANY = 50000 };
    static const char *const formats[] = {"google-benchmark", "benchstat", "chrome-trace"};
    res_record *record = fixture_record(&fixture_lazy, MANY);
    for (size_t i = 0; i < (size_t)MANY * BN_PART_COUNT; i++)
        record->part_ns[i] = i % BN_PART_COUNT == BN_PART_OTHER ? 1000000 : 0;
    const res_collection all = {.records = &record, .count = 1};
    const clock_t begin = clock();
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        res_export export = made(&all, formats[i]);
        assert_null(strstr(file_with(&export, "")->data, bn_part_name(BN_PART_LOOKUP)));
        res_export_free(&export);
    }
    assert_true(clock() - begin < 30 * CLOCKS_PER_SEC);
    res_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_has_a_row_a_sample),
        cmocka_unit_test(chrome_trace_parts_fill_their_step),
        cmocka_unit_test(chrome_trace_says_only_what_viewers_know),
        cmocka_unit_test(xspace_is_a_profile),
        cmocka_unit_test(xspace_says_no_time_that_cannot_be),
        cmocka_unit_test(many_steps_without_a_ledger_take_no_time),
    };
    res_store_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
