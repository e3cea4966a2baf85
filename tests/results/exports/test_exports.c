/*
 * test_exports.c - records as others' files: every sample is in them, failures and
 * simulated devices are told, names are names. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include <unistd.h>

#include "results/exports/exports_priv.h"
#include "runtime/pjrt/xspace.pb-c.h"

#define STEPS 20

/* A good record, the same of a simulated and emulated device, and one that failed. */
static res_collection sample(void)
{
    static res_record *records[3];
    records[0] = fixture_record(&fixture_lazy, STEPS);
    records[1] = fixture_record(&fixture_lazy, STEPS);
    records[1]->simulated = true;
    records[1]->experiment.trace_cost_ns = 17000;
    records[2] = fixture_record(&fixture_lazy, 0);
    strcpy(records[2]->experiment.mode, "capture");
    records[2]->status = BN_OUT_OF_MEMORY;
    strcpy(records[2]->message, "no \"room\", none");
    json_object_set_new(json_object_get(records[0]->provenance, "runtime"), "label",
                        json_string("0123abcd"));
    return (res_collection){.records = records, .count = 3};
}

static void drop(res_collection *all)
{
    for (size_t i = 0; i < all->count; i++)
        res_record_free(all->records[i]);
}

static res_export made(const res_collection *all, const char *format)
{
    res_export export;
    bn_status st = {0};
    assert_int_equal(res_export_make(all, format, &export, &st), BN_OK);
    assert_true(export.count > 0);
    return export;
}

static const bn_text *file_with(const res_export *export, const char *end)
{
    for (size_t i = 0; i < export->count; i++) {
        const char *path = export->files[i].path;
        if (strlen(path) >= strlen(end) && strcmp(path + strlen(path) - strlen(end), end) == 0)
            return &export->files[i].bytes;
    }
    fail_msg("no file %s", end);
    return NULL;
}

static json_t *json_of(const bn_text *bytes)
{
    json_error_t error;
    json_t *json = json_loadb(bytes->data, bytes->length, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("not JSON: %s at %d", error.text, error.position);
    return json;
}

static size_t lines_of(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

/* ---- names --------------------------------------------------------------------------- */

static void names_are_the_same_for_two_builds_and_tell_devices_apart(void **state)
{
    (void)state;
    res_collection all = sample();
    bn_text name = {0}, other = {0};
    strcpy(all.records[0]->experiment.runtime, "/builds/a/plugin one.so");
    res_export_name(all.records[0], ':', &name);
    assert_string_equal(name.data, "resnet50/train/lazy/variant:full/graphs:2/batch:4/image:64/"
                                   "dtype:f32/layout:nhwc/runtime:plugin_one.so");
    strcpy(all.records[0]->experiment.runtime, "/builds/b/plugin one.so");
    res_export_name(all.records[0], ':', &other);
    assert_string_equal(name.data, other.data);
    bn_text_clear(&name);
    res_export_name(all.records[1], '=', &name);
    assert_non_null(strstr(name.data, "/trace_cost_ns=17000/"));
    assert_string_equal(strrchr(name.data, '/'), "/simulated");
    bn_text_clear(&name);
    res_export_label(all.records[1], &name);
    assert_string_equal(name.data, "simulated, emulated front end of 17000 ns a node");

    char commit[RES_COMMIT_TEXT];
    res_export_commit(all.records[0], commit);
    assert_string_equal(commit, "0123abcd");
    res_export_commit(all.records[1], commit);
    assert_string_equal(commit, "5feceb66ffc86f38d952786c");
    bn_text_free(&name);
    bn_text_free(&other);
    drop(&all);
}

static void names_have_no_blanks_of_any_alphabet(void **state)
{
    (void)state;
    res_collection all = sample();
    bn_text name = {0};
    strcpy(all.records[0]->experiment.model, "a\tb\xc2\xa0"
                                             "c\xe2\x80\x89"
                                             "d\xe2\x80\xa8"
                                             "e\xc3\xa9\xe2\x80\x94");
    res_export_name(all.records[0], ':', &name);
    /* What is no blank stays, in as many bytes. */
    assert_int_equal(strncmp(name.data, "a_b__c___d___e\xc3\xa9\xe2\x80\x94/train/", 26), 0);
    bn_text_free(&name);
    drop(&all);
}

/* Settings may be as long as flags of a compiler are; two of them differ in one character. */
static void give_long_settings(res_collection *all)
{
    for (size_t i = 0; i < 2; i++) {
        res_experiment *e = &all->records[i]->experiment;
        memset(e->settings, 'x', sizeof e->settings - 1);
        e->settings[sizeof e->settings - 2] = i == 0 ? '=' : '_';
        e->trace_cost_ns = 0;
        all->records[i]->simulated = false;
    }
}

static void names_of_files_are_short_and_stay_two(void **state)
{
    (void)state;
    res_collection all = sample();
    give_long_settings(&all);
    res_export xla = made(&all, "xla"), asv = made(&all, "asv");
    json_t *baseline = json_of(file_with(&xla, "baseline.yml")), *value;
    json_t *list = json_of(file_with(&asv, "results/benchmarks.json"));
    const char *name;
    assert_int_equal(json_object_size(baseline), 2);
    json_object_foreach(baseline, name, value)
    {
        assert_int_equal(strlen(name), 160);
    }
    assert_int_equal(json_object_size(list), 4); /* the failure and the version */
    json_object_foreach(list, name, value)
    {
        assert_true(strlen(name) <= 200);
    }
    json_decref(baseline);
    json_decref(list);
    res_export_free(&xla);
    res_export_free(&asv);
    drop(&all);
}

/* "a=1" and "a_1" are letters, digits and underscores alike, and not one baseline. */
static void ids_of_xla_tell_characters_apart(void **state)
{
    (void)state;
    res_collection all = sample();
    give_long_settings(&all);
    strcpy(all.records[0]->experiment.settings, "a=1");
    strcpy(all.records[1]->experiment.settings, "a_1");
    res_export xla = made(&all, "xla");
    json_t *baseline = json_of(file_with(&xla, "baseline.yml"));
    assert_int_equal(json_object_size(baseline), 2);
    assert_non_null(json_object_get(baseline, "resnet50_train_lazy_variant_full_graphs_2_batch_4_"
                                              "image_64_dtype_f32_layout_nhwc_settings_a_1_"
                                              "runtime_cpu"));
    json_decref(baseline);
    res_export_free(&xla);
    drop(&all);
}

static void times_are_those_of_ids(void **state)
{
    (void)state;
    res_collection all = sample();
    char date[32];
    strcpy(all.records[0]->id, "20261121T061605.250000000Z-vm-1-0");
    assert_true(res_export_time(all.records[0]) == 1795241765.25);
    res_export_date(all.records[0], date);
    assert_string_equal(date, "2026-11-21T06:16:05+00:00");
    strcpy(all.records[0]->id, "odd");
    assert_true(res_export_time(all.records[0]) == 0);
    drop(&all);
}

/* ---- samples ------------------------------------------------------------------------- */

static void google_benchmark_has_a_repetition_a_step(void **state)
{
    (void)state;
    res_collection all = sample();
    res_export export = made(&all, "google-benchmark");
    json_t *json = json_of(file_with(&export, "")), *entry;
    size_t index, iterations = 0;
    json_array_foreach(json_object_get(json, "benchmarks"), index, entry)
    {
        const char *kind = json_string_value(json_object_get(entry, "run_type"));
        if (strcmp(kind, "iteration") != 0)
            continue;
        const res_record *record = all.records[iterations / STEPS];
        const size_t step = iterations++ % STEPS;
        assert_int_equal(json_integer_value(json_object_get(entry, "repetition_index")), step);
        assert_true(json_real_value(json_object_get(entry, "real_time")) ==
                    (double)record->wall_ns[step]);
        assert_true(
            json_real_value(json_object_get(entry, "cpu_time")) ==
            (double)(record->wall_ns[step] - record->part_ns[step * BN_PART_COUNT + BN_PART_WAIT]));
        assert_int_equal(json_integer_value(json_object_get(entry, "trace_ns")), 2900000);
        assert_int_equal(json_object_get(entry, "label") != NULL, record->simulated);
    }
    assert_int_equal(iterations, 2 * STEPS);
    json_t *failure = json_array_get(json_object_get(json, "failures"), 0);
    assert_string_equal(json_string_value(json_object_get(failure, "status")), "out-of-memory");
    json_t *records = json_object_get(json_object_get(json, "context"), "records");
    assert_int_equal(json_object_size(records), 3);
    json_decref(json);
    res_export_free(&export);
    drop(&all);
}

static void benchstat_has_a_line_a_step(void **state)
{
    (void)state;
    res_collection all = sample();
    res_export export = made(&all, "benchstat");
    const char *text = file_with(&export, "")->data;
    char want[200];
    size_t lines = 0;
    for (const char *at = text; (at = strstr(at, "\nBenchmarkResnet50/train/lazy/")); at++)
        lines++;
    assert_int_equal(lines, 2 * STEPS);
    snprintf(want, sizeof want, " 1 %llu ns/op 150000 input-ns/op 2900000 trace-ns/op",
             (unsigned long long)all.records[1]->wall_ns[STEPS - 1]);
    assert_non_null(strstr(text, want));
    assert_non_null(strstr(text, "\nnot-measured-on-hardware: simulated, emulated"));
    assert_non_null(strstr(text, "\n# failed: resnet50/train/capture"));
    res_export_free(&export);
    drop(&all);
}

/* What a runtime says has lines of its own. */
static void benchstat_has_a_message_in_one_line(void **state)
{
    (void)state;
    res_collection all = sample();
    strcpy(all.records[2]->message, "broken:\nBenchmarkX 1 5 ns/op\r\ncpu: none");
    json_object_set_new(json_object_get(all.records[0]->provenance, "runtime"), "label",
                        json_string("two\nlines: here"));
    res_export export = made(&all, "benchstat");
    const char *text = file_with(&export, "")->data;
    assert_non_null(strstr(text, ": broken: BenchmarkX 1 5 ns/op  cpu: none\n"));
    assert_non_null(strstr(text, " label two lines: here\n"));
    res_export_free(&export);
    drop(&all);
}

static void asv_joins_the_samples_of_one_build(void **state)
{
    (void)state;
    res_collection all = sample();
    /* Two records of one experiment and one build, one of another build. */
    all.records[1]->simulated = false;
    all.records[1]->experiment.trace_cost_ns = 0;
    json_object_set_new(json_object_get(all.records[1]->provenance, "runtime"), "label",
                        json_string("0123abcd"));
    res_export export = made(&all, "asv");
    json_t *commit = json_of(file_with(&export, "/0123abcd-bench.json"));
    json_t *columns = json_object_get(commit, "result_columns"), *row;
    const char *name;
    assert_int_equal(json_array_size(columns), 13);
    assert_int_equal(json_object_size(json_object_get(commit, "results")), 1);
    json_object_foreach(json_object_get(commit, "results"), name, row)
    {
        assert_string_equal(name, "resnet50.train.lazy.variant=full.graphs=2.batch=4.image=64."
                                  "dtype=f32.layout=nhwc.runtime=cpu");
        json_t *samples = json_array_get(json_array_get(row, 11), 0);
        assert_int_equal(json_array_size(samples), 2 * STEPS);
        assert_true(fabs(json_real_value(json_array_get(samples, 3)) * 1e9 -
                         (double)all.records[0]->wall_ns[3]) < 1);
        double low = json_real_value(json_array_get(json_array_get(row, 5), 0));
        double median = json_real_value(json_array_get(json_array_get(row, 0), 0));
        double high = json_real_value(json_array_get(json_array_get(row, 6), 0));
        assert_true(low < median && median < high);
    }
    json_t *other = json_of(file_with(&export, "/5feceb66-bench.json"));
    json_object_foreach(json_object_get(other, "results"), name, row)
    {
        assert_true(json_is_null(json_array_get(json_array_get(row, 0), 0)));
    }
    json_t *list = json_of(file_with(&export, "results/benchmarks.json"));
    assert_int_equal(json_object_size(list), 3); /* two benchmarks and the version */
    json_decref(json_of(file_with(&export, "/machine.json")));
    json_decref(list);
    json_decref(other);
    json_decref(commit);
    res_export_free(&export);
    drop(&all);
}

static void hyperfine_has_all_times(void **state)
{
    (void)state;
    res_collection all = sample();
    res_export export = made(&all, "hyperfine");
    json_t *json = json_of(file_with(&export, ""));
    json_t *results = json_object_get(json, "results");
    assert_int_equal(json_array_size(results), 2);
    json_t *second = json_array_get(results, 1), *times = json_object_get(second, "times");
    assert_int_equal(json_array_size(times), STEPS);
    assert_true(fabs(json_real_value(json_array_get(times, 5)) * 1e9 -
                     (double)all.records[1]->wall_ns[5]) < 1);
    json_t *simulated = json_object_get(json_object_get(second, "parameters"), "simulated");
    assert_string_equal(json_string_value(simulated), "true");
    json_decref(json);
    res_export_free(&export);
    drop(&all);
}

static void pytorch_xla_has_warm_up_and_steps_in_one_list(void **state)
{
    (void)state;
    res_collection all = sample();
    res_export export = made(&all, "pytorch-xla");
    const char *text = file_with(&export, "")->data;
    assert_int_equal(lines_of(text), 3);
    json_t *line = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
    json_t *metrics = json_object_get(line, "metrics");
    json_t *times = json_object_get(metrics, "total_time");
    assert_int_equal(json_array_size(times), 5 + STEPS);
    assert_true(fabs(json_real_value(json_array_get(times, 0)) * 1e9 -
                     (double)all.records[0]->warmup_wall_ns[0]) < 1000);
    json_t *experiment = json_object_get(line, "experiment");
    assert_true(json_is_null(json_object_get(experiment, "dynamo")));
    assert_string_equal(json_string_value(json_object_get(experiment, "xla")), "PJRT");
    assert_non_null(strstr(text, "\"dynamo\": \"openxla\""));
    assert_non_null(strstr(text, "\"error\": \"out-of-memory: no \\\"room\\\", none\""));
    assert_non_null(strstr(text, "bench (simulated)"));
    json_decref(line);
    res_export_free(&export);
    drop(&all);
}

/* Each mode is what an import reads as that mode; a line's own words come back. */
static void pytorch_xla_has_modes_as_imports_read_them(void **state)
{
    (void)state;
    static const struct {
        const char *mode, *xla, *dynamo;
    } modes[] = {{"lazy", "PJRT", NULL},
                 {"capture", "PJRT", "openxla"},
                 {"eager", NULL, NULL},
                 {"inductor", NULL, "inductor"},
                 {"program", "PJRT", "openxla"}};
    res_collection all = sample();
    json_object_del(all.records[0]->provenance, "runtime");
    json_object_set_new(all.records[0]->provenance, "imported",
                        json_pack("{s:{s:{s:s, s:s}}}", "line", "experiment", "accelerator", "cuda",
                                  "accelerator_model", "a card"));
    all.count = 1;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        strcpy(all.records[0]->experiment.mode, modes[i].mode);
        res_export export = made(&all, "pytorch-xla");
        json_t *line = json_of(file_with(&export, ""));
        json_t *e = json_object_get(line, "experiment");
        const char *xla = json_string_value(json_object_get(e, "xla"));
        const char *dynamo = json_string_value(json_object_get(e, "dynamo"));
        assert_string_equal(xla ? xla : "", modes[i].xla ? modes[i].xla : "");
        assert_string_equal(dynamo ? dynamo : "", modes[i].dynamo ? modes[i].dynamo : "");
        assert_string_equal(json_string_value(json_object_get(e, "accelerator")), "cuda");
        assert_string_equal(json_string_value(json_object_get(e, "accelerator_model")), "a card");
        json_decref(line);
        res_export_free(&export);
    }
    all.count = 3;
    drop(&all);
}

static void pytorch_benchmark_has_metrics_and_samples(void **state)
{
    (void)state;
    res_collection all = sample();
    res_export export = made(&all, "pytorch-benchmark");
    const bn_text *database = file_with(&export, "database/bench.json");
    /* For each good record the steps and two executions. */
    assert_int_equal(lines_of(database->data), 2 * 3);
    json_t *line = json_loads(database->data, JSON_DISABLE_EOF_CHECK, NULL);
    json_t *metric = json_object_get(line, "metric");
    assert_int_equal(json_array_size(json_object_get(metric, "benchmark_values")), STEPS);
    size_t metrics_files = 0;
    for (size_t i = 0; i < export.count; i++) {
        if (!strstr(export.files[i].path, "/metrics-"))
            continue;
        json_t *file = json_of(&export.files[i].bytes), *value;
        const char *key;
        metrics_files++;
        json_object_foreach(json_object_get(file, "metrics"), key, value)
        {
            assert_non_null(strstr(key, ", metric=latencies"));
            assert_int_equal(json_is_string(value), strstr(key, "'capture'") != NULL);
        }
        json_decref(file);
    }
    assert_int_equal(metrics_files, 2);
    json_decref(line);
    res_export_free(&export);
    drop(&all);
}

static void xla_has_results_and_a_baseline(void **state)
{
    (void)state;
    res_collection all = sample();
    res_export export = made(&all, "xla");
    json_t *baseline = json_of(file_with(&export, "baseline.yml")), *metrics;
    const char *config;
    size_t good = 0, failed = 0;
    assert_int_equal(json_object_size(baseline), 2);
    for (size_t i = 0; i + 1 < export.count; i++) {
        json_t *results = json_of(&export.files[i].bytes);
        const char *status = json_string_value(json_object_get(results, "run_status"));
        json_t *wall = json_object_get(json_object_get(results, "metrics"), "WALL_TIME");
        good += strcmp(status, "SUCCESS") == 0 &&
                json_array_size(json_object_get(wall, "samples")) == STEPS;
        failed += strcmp(status, "FAILURE") == 0 && !wall;
        json_decref(results);
    }
    assert_int_equal(good, 2);
    assert_int_equal(failed, 1);
    json_object_foreach(baseline, config, metrics)
    {
        double ms =
            json_real_value(json_object_get(json_object_get(metrics, "WALL_TIME"), "baseline_ms"));
        assert_true(ms > 24 && ms < 28);
        for (const char *c = config; *c != '\0'; c++)
            assert_true(*c == '_' || (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
                        (*c >= 'A' && *c <= 'Z'));
    }
    json_decref(baseline);
    res_export_free(&export);
    drop(&all);
}

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

/* Read by the program's own reader of profiles, whose code protoc-c made. */
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

static void xspace_is_a_profile(void **state)
{
    (void)state;
    res_collection all = sample();
    res_export export = made(&all, "xspace");
    assert_int_equal(export.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const bn_text *bytes = &export.files[i].bytes;
        Rt__Profile__Space *space = rt__profile__space__unpack(
            NULL, bytes->length, (const uint8_t *)(const void *)bytes->data);
        assert_non_null(space);
        assert_int_equal(space->n_planes, 2);
        assert_string_equal(space->planes[1]->name, "Task Environment");
        const Rt__Profile__Plane *plane = space->planes[0];
        assert_string_equal(plane->name, "/host:CPU");
        assert_int_equal(plane->n_lines, 3);
        assert_int_equal(plane->lines[0]->n_events, 5 + STEPS);
        assert_string_equal(plane->lines[0]->name,
                            i == 0 ? "bench steps" : "bench steps (simulated)");
        const Rt__Profile__Event *last = plane->lines[0]->events[5 + STEPS - 1];
        assert_int_equal(last->duration_ps, all.records[i]->wall_ns[STEPS - 1] * 1000);
        int64_t parts = 0, steps = 0;
        for (size_t e = 0; e < plane->lines[1]->n_events; e++)
            parts += plane->lines[1]->events[e]->duration_ps;
        for (size_t e = 5; e < plane->lines[0]->n_events; e++)
            steps += plane->lines[0]->events[e]->duration_ps;
        assert_int_equal(parts, steps);
        assert_int_equal(plane->lines[2]->n_events, 2 * 21);
        rt__profile__space__free_unpacked(space, NULL);
    }
    res_export_free(&export);
    drop(&all);
}

/* ---- files ---------------------------------------------------------------------------- */

static void exports_never_overwrite(void **state)
{
    (void)state;
    char folder[512], output[600];
    bn_status st = {0};
    res_collection all = sample();
    fixture_folder(folder, sizeof folder, "exports");
    snprintf(output, sizeof output, "%s/a.json", folder);
    res_export file = made(&all, "hyperfine"), tree = made(&all, "asv");
    assert_int_equal(res_export_write(&file, output, &st), BN_OK);
    assert_int_equal(res_export_write(&file, output, &st), BN_INVALID);
    assert_non_null(strstr(st.message, "is there already"));
    snprintf(output, sizeof output, "%s/tree/deep", folder);
    assert_int_equal(res_export_write(&tree, output, &st), BN_OK);
    /* One file that is there and the whole folder is left alone. */
    snprintf(output, sizeof output, "%s/tree/deep/results/benchmarks.json", folder);
    assert_int_equal(unlink(output), 0);
    snprintf(output, sizeof output, "%s/tree/deep", folder);
    assert_int_equal(res_export_write(&tree, output, &st), BN_INVALID);
    snprintf(output, sizeof output, "%s/tree/deep/results/benchmarks.json", folder);
    assert_int_not_equal(access(output, F_OK), 0);
    res_export_free(&file);
    res_export_free(&tree);
    drop(&all);
}

static void formats_and_empty_stores_are_refused(void **state)
{
    (void)state;
    bn_status st = {0};
    res_export export;
    res_collection all = sample(), none = {0};
    assert_int_equal(res_export_make(&all, "xml", &export, &st), BN_INVALID);
    assert_non_null(strstr(st.message, "google-benchmark, benchstat, asv"));
    res_export_free(&export);
    assert_int_equal(res_export_make(&none, "xspace", &export, &st), BN_INVALID);
    assert_non_null(strstr(st.message, "no record that xspace could show"));
    res_export_free(&export);
    drop(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_the_same_for_two_builds_and_tell_devices_apart),
        cmocka_unit_test(names_have_no_blanks_of_any_alphabet),
        cmocka_unit_test(names_of_files_are_short_and_stay_two),
        cmocka_unit_test(ids_of_xla_tell_characters_apart),
        cmocka_unit_test(times_are_those_of_ids),
        cmocka_unit_test(google_benchmark_has_a_repetition_a_step),
        cmocka_unit_test(benchstat_has_a_line_a_step),
        cmocka_unit_test(benchstat_has_a_message_in_one_line),
        cmocka_unit_test(asv_joins_the_samples_of_one_build),
        cmocka_unit_test(hyperfine_has_all_times),
        cmocka_unit_test(pytorch_xla_has_warm_up_and_steps_in_one_list),
        cmocka_unit_test(pytorch_xla_has_modes_as_imports_read_them),
        cmocka_unit_test(pytorch_benchmark_has_metrics_and_samples),
        cmocka_unit_test(xla_has_results_and_a_baseline),
        cmocka_unit_test(csv_has_a_row_a_sample),
        cmocka_unit_test(chrome_trace_parts_fill_their_step),
        cmocka_unit_test(chrome_trace_says_only_what_viewers_know),
        cmocka_unit_test(xspace_is_a_profile),
        cmocka_unit_test(exports_never_overwrite),
        cmocka_unit_test(formats_and_empty_stores_are_refused),
    };
    res_store_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
