/*
 * test_export_tools.c - records as files of other benchmark tools: every sample is in them,
 * failures and simulated devices are named. Needs no plugin.
 */
#include "tests/results/exports/exports_fixture.h"

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

/* A runtime's texts have several lines. */
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
        /* As in the speedup table: the mean log of two processes, which have no interval. */
        const double said = json_real_value(json_array_get(json_array_get(row, 0), 0));
        const double first = res_record_measures(all.records[0]).wall_ns;
        const double second = res_record_measures(all.records[1]).wall_ns;
        assert_near(said * 1e9, sqrt(first * second), 1);
        assert_true(json_is_null(json_array_get(json_array_get(row, 5), 0)));
        assert_true(json_is_null(json_array_get(json_array_get(row, 6), 0)));
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

/* Files are named by 8 digits of a commit, which two commits may share. */
static void asv_gives_each_build_a_file(void **state)
{
    (void)state;
    static const char whole[] = "0123abcd00112233445566778899aabbccddeeff";
    res_collection all = sample();
    all.records[1]->simulated = false;
    json_object_set_new(json_object_get(all.records[1]->provenance, "runtime"), "label",
                        json_string(whole));
    res_export export = made(&all, "asv");
    json_t *one = json_of(file_with(&export, "/0123abcd-bench.json"));
    json_t *other =
        json_of(file_with(&export, "/0123abcd00112233445566778899aabbccddeeff-bench.json"));
    assert_string_equal(json_string_value(json_object_get(one, "commit_hash")), "0123abcd");
    assert_string_equal(json_string_value(json_object_get(other, "commit_hash")), whole);
    json_decref(one);
    json_decref(other);
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

/* The one aggregate of google/benchmark's NAME that is a median, in ns. */
static double aggregate_median(const res_export *export)
{
    json_t *json = json_of(file_with(export, "")), *entry;
    size_t index, found = 0;
    double median = 0;
    json_array_foreach(json_object_get(json, "benchmarks"), index, entry)
    {
        const char *kind = json_string_value(json_object_get(entry, "aggregate_name"));
        if (!kind || strcmp(kind, "median") != 0)
            continue;
        found++;
        median = json_real_value(json_object_get(entry, "real_time"));
    }
    assert_int_equal(found, 1);
    json_decref(json);
    return median;
}

/* Long rounds of few steps: the median of all steps is another figure. */
static void medians_are_those_of_tables(void **state)
{
    (void)state;
    static const size_t steps[] = {14, 3, 3};
    res_collection all = sample();
    const res_collection one = {.records = all.records, .count = 1};
    res_record *record = all.records[0];
    assert_int_equal(res_record_reserve_rounds(record, 3, NULL), BN_OK);
    for (size_t i = 0, step = 0; i < 3; step += steps[i++]) {
        record->rounds[i] = (res_round){.steps = steps[i], .wall_ns = 1};
        for (size_t k = 0; i > 0 && k < steps[i]; k++)
            record->wall_ns[step + k] += 20000000;
    }
    const double wanted = res_record_measures(record).wall_ns;
    assert_true(wanted > 1.5 * res_quantile(record->wall_ns, STEPS, 0.5));
    res_export export = made(&one, "google-benchmark");
    assert_near(aggregate_median(&export), wanted, 1e-3);
    res_export_free(&export);
    export = made(&one, "hyperfine");
    json_t *json = json_of(file_with(&export, ""));
    const json_t *result = json_array_get(json_object_get(json, "results"), 0);
    assert_near(json_real_value(json_object_get(result, "median")) * 1e9, wanted, 1e-3);
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

/* ---- the table's figures ------------------------------------------------------------------ */

/* Processes of one experiment: of RUNS runs of three processes each, and one more of the first run
 * that was measured on another machine, which no table pools with them. */
static size_t fill_runs(res_record **records, size_t runs)
{
    size_t count = 0;
    for (size_t run = 0; run < runs; run++)
        for (size_t i = 0; i < 3 + (run == 0); i++) {
            fixture_case c = fixture_lazy;
            char group[16];
            c.graphs = 1;
            c.wall_ns = 20000000 + 3000000 * run + 400000 * i;
            c.device_ns = 15e6 + 1e6 * (double)run + 1e5 * (double)i;
            snprintf(group, sizeof group, "run-%zu", run);
            res_record *r = fixture_record(&c, STEPS);
            snprintf(r->id, sizeof r->id, "20260101T0%zu0%zu00.000000000Z-h-1-0", run, i);
            fixture_group(r, group, (int)i + 1);
            json_object_set_new(r->provenance, "runtime",
                                json_pack("{ss ss ss}", "sha256", FIXTURE_DIGEST, "platform",
                                          "cuda", "label", "0123abcd"));
            json_object_set_new(r->provenance, "host", json_pack("{ss}", "hostname", "h"));
            if (i == 3)
                json_object_set_new(r->provenance, "pinning", json_pack("{ss}", "pin", "all"));
            json_object_set_new(r->provenance, "memory",
                                json_pack("{sI sI}", "peak_rss_bytes",
                                          (json_int_t)((2 + run + i) << 28), "file_rss_bytes",
                                          (json_int_t)1 << 28));
            records[count++] = r;
        }
    return count;
}

/* The one result of the one commit of EXPORT. */
static json_t *asv_row(const res_collection *all)
{
    res_export export = made(all, "asv");
    json_t *commit = json_of(file_with(&export, "/0123abcd-bench.json"));
    json_t *results = json_object_get(commit, "results");
    assert_int_equal(json_object_size(results), 1);
    json_t *row = json_incref(json_object_iter_value(json_object_iter(results)));
    json_decref(commit);
    res_export_free(&export);
    return row;
}

static double cell(const json_t *row, size_t column)
{
    return json_real_value(json_array_get(json_array_get(row, column), 0)) * 1e9;
}

/* exp of the mean of LOGS less and plus T times its error. */
static void bounds(const double *logs, size_t count, double t, double *low, double *high)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += logs[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (logs[i] - mean) * (logs[i] - mean);
    const double half = t * sqrt(squares / (double)(count - 1) / (double)count);
    *low = exp(mean - half);
    *high = exp(mean + half);
}

static void baseline_is(const res_collection *all, const char *metric, const char *key,
                        double wanted)
{
    res_export export = made(all, "xla");
    json_t *baseline = json_of(file_with(&export, "baseline.yml"));
    assert_int_equal(json_object_size(baseline), 1);
    const json_t *metrics = json_object_iter_value(json_object_iter(baseline));
    assert_near(json_real_value(json_object_get(json_object_get(metrics, metric), key)), wanted,
                1e-6 * wanted);
    json_decref(baseline);
    res_export_free(&export);
}

/* results.json of one process and the baseline of it alone are judged against each other. */
static void results_of_a_process_are_its_baseline(void **state)
{
    (void)state;
    res_record *records[10];
    res_collection all = {.records = records, .count = fill_runs(records, 1)};
    const res_collection one = {.records = records, .count = 1};
    records[0]->executions[0].device_ns = 1e9; /* cut at the step by both */
    res_export export = made(&one, "xla");
    json_t *results = json_of(file_with(&export, "/results.json"));
    json_t *metrics = json_object_get(results, "metrics");
    static const struct {
        const char *metric, *key;
    } judged[] = {{"WALL_TIME", "baseline_ms"},
                  {"GPU_DEVICE_TIME", "baseline_ms"},
                  {"PEAK_CPU_MEMORY", "baseline_gb"}};
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
        const json_t *metric = json_object_get(metrics, judged[i].metric);
        assert_non_null(metric);
        baseline_is(&one, judged[i].metric, judged[i].key,
                    json_real_value(json_object_get(metric, "value")));
    }
    json_decref(results);
    res_export_free(&export);
    drop(&all);
}

/* Of two runs the table has the processes of the later one, of three the mean of each. */
static void results_are_those_of_the_table(void **state)
{
    (void)state;
    for (size_t runs = 2; runs <= 3; runs++) {
        res_record *records[10];
        res_collection all = {.records = records, .count = fill_runs(records, runs)};
        res_speedup table;
        res_speedup_make(&all, &table);
        assert_int_equal(table.count, 1);
        const res_figures *f = &table.rows[0].figures;
        json_t *row = asv_row(&all);
        assert_near(cell(row, 0), f->wall.value.estimate, 1e-3);
        double logs[9], means[3] = {0}, low, high;
        for (size_t i = 0, k = 0; i < all.count; i++)
            if (i != 3)
                logs[k++] = log(res_record_measures(records[i]).wall_ns);
        for (size_t i = 0; i < 3 * runs; i++)
            means[i / 3] += logs[i] / 3;
        /* t(0.995, 2) = 9.92484. */
        bounds(runs == 2 ? logs + 3 : means, 3, 9.92484, &low, &high);
        assert_near(cell(row, 5) / low, 1, 1e-6);
        assert_near(cell(row, 6) / high, 1, 1e-6);
        /* Without the process under other conditions. */
        assert_int_equal(json_array_size(json_array_get(json_array_get(row, 11), 0)),
                         3 * runs * STEPS);
        json_decref(row);
        baseline_is(&all, "WALL_TIME", "baseline_ms", f->wall.value.estimate / 1e6);
        baseline_is(&all, "GPU_DEVICE_TIME", "baseline_ms", f->device.value.estimate / 1e6);
        /* Without pages of files: 1, 2, 3 quarters of a gigabyte, and one more in later runs. */
        baseline_is(&all, "PEAK_CPU_MEMORY", "baseline_gb", 0.75);
        res_speedup_free(&table);
        drop(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(google_benchmark_has_a_repetition_a_step),
        cmocka_unit_test(benchstat_has_a_line_a_step),
        cmocka_unit_test(benchstat_has_a_message_in_one_line),
        cmocka_unit_test(asv_joins_the_samples_of_one_build),
        cmocka_unit_test(asv_gives_each_build_a_file),
        cmocka_unit_test(hyperfine_has_all_times),
        cmocka_unit_test(medians_are_those_of_tables),
        cmocka_unit_test(pytorch_xla_has_warm_up_and_steps_in_one_list),
        cmocka_unit_test(pytorch_xla_has_modes_as_imports_read_them),
        cmocka_unit_test(pytorch_benchmark_has_metrics_and_samples),
        cmocka_unit_test(xla_has_results_and_a_baseline),
        cmocka_unit_test(results_of_a_process_are_its_baseline),
        cmocka_unit_test(results_are_those_of_the_table),
    };
    res_store_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
