/*
 * test_table_speedup.c - the speedup table of known processes: its figures, what is left out, and
 * what it says in words. Needs no plugin.
 */
#include "tests/results/tables/tables_fixture.h"

/* ---- speedups ------------------------------------------------------------------- */

static void speedup_table_has_the_fields_shape(void **state)
{
    (void)state;
    res_collection all = sample_store();
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    const char *simulated = strstr(out.data, "runtime sim (simulated, computing values)");
    assert_non_null(simulated);
    assert_has(out.data, "runtime cpu, build 5feceb66ffc8: full, image 64, f32, nhwc, serial\n");
    line_with(out.data, "bert      train  batch 8", "lazy");
    line_with(out.data, "capture       1", "failed: out-of-memory");
    line_with(out.data, "4   1309  3.05 ms   2.00 ms  19.0 ms", "baseline");
    line_with(out.data, "unknown", "0.17x [0.16, 0.17]  slower");
    line_with(out.data, "unknown", "1.25x [");
    line_with(out.data, "another text", "0.81x [");
    line_with(out.data, "train  capture       1", "(1 of 2)          4");
    line_with(out.data, "train  eager         1", "0.17x [0.16, 0.17] (1 of 2)");
    line_with(out.data, "infer  capture       1", "1.2");
    line_with(simulated, "train  capture       1", "(1 of 1)");
    assert_has(out.data, "Source of device times: slope.");
    bn_text_free(&out);

    out = speedup_table(&all, RES_TABLE_MARKDOWN);
    line_with(out.data, "| resnet50 | infer | batch 4 | capture | 1 |", "1.20x");
    bn_text_free(&out);
    res_collection_free(&all);
}

static void speedups_are_ratios_of_medians(void **state)
{
    (void)state;
    res_collection all = sample_store();
    json_t *means = NULL, *rows = speedup_rows(&all, &means);
    assert_int_equal(json_array_size(rows), CASES);
    assert_int_equal(json_array_size(means), 5);
    const json_t *lazy = json_array_get(rows, 3), *capture = json_array_get(rows, 4);
    assert_string_equal(json_string_value(json_object_get(capture, "mode")), "capture");
    const double ratio = number(lazy, "wall_ns") / number(capture, "wall_ns");
    assert_true(fabs(number(capture, "speedup") - ratio) < 1e-9);
    assert_true(number(capture, "speedup_low") < ratio && ratio < number(capture, "speedup_high"));
    assert_true(number(capture, "processes") == 4 && number(capture, "steps") == 240);
    for (int p = 0; p < PROCESSES; p++)
        assert_has(json_string_value(json_object_get(capture, "records")),
                   all.records[at(RESNET_CAPTURE, p)]->id);
    assert_true(json_is_true(json_object_get(capture, "told")));
    assert_true(json_is_true(json_object_get(capture, "matched")));
    assert_string_equal(json_string_value(json_object_get(capture, "program")), "not told");
    assert_true(json_is_null(json_object_get(lazy, "told")));
    assert_true(json_is_null(json_object_get(lazy, "speedup")));
    assert_true(number(lazy, "trace_ns") == 2900000 + 145000 + 1800);
    assert_true(number(lazy, "nodes_per_step") == 1309);
    assert_true(number(lazy, "overhead_per_execution_ns") == 2000000);
    assert_true(number(lazy, "device_per_step_ns") == 19000000);
    const json_t *five = json_array_get(rows, 5);
    assert_true(number(five, "executions_per_step") == 5);
    assert_true(number(five, "device_per_step_ns") == 5 * 4500000);
    assert_true(number(five, "overhead_per_execution_ns") == 2000000);
    assert_true(number(five, "compile_ns") == 5 * 3244100000.0);
    const json_t *failed = json_array_get(rows, 1);
    assert_string_equal(json_string_value(json_object_get(failed, "status")), "out-of-memory");
    assert_true(json_is_null(json_object_get(failed, "wall_ns")));
    json_decref(means);
    json_decref(rows);
    res_collection_free(&all);
}

static void means_are_geometric(void **state)
{
    (void)state;
    res_collection all = sample_store();
    /* bert captures after all. */
    for (int p = 0; p < PROCESSES; p++) {
        res_record_free(all.records[at(BERT_CAPTURE, p)]);
        all.records[at(BERT_CAPTURE, p)] = process_of(BERT_CAPTURE, p);
    }
    json_t *means = NULL, *rows = speedup_rows(&all, &means);
    const json_t *mean = json_array_get(means, 1);
    assert_string_equal(json_string_value(json_object_get(mean, "mode")), "capture");
    assert_true(number(mean, "covered") == 2 && number(mean, "cells") == 2);
    double product =
        number(json_array_get(rows, 1), "speedup") * number(json_array_get(rows, 4), "speedup");
    assert_true(fabs(number(mean, "speedup") - sqrt(product)) < 1e-9);
    assert_true(number(mean, "speedup_low") < sqrt(product));
    assert_true(number(mean, "speedup_high") > sqrt(product));
    assert_true(json_is_true(json_object_get(mean, "by_process")));
    assert_true(number(mean, "processes") == 4);
    json_decref(means);
    json_decref(rows);
    res_collection_free(&all);
}

static void the_latest_good_record_names_a_pool(void **state)
{
    (void)state;
    res_collection all = sample_store();
    res_record *newer = process_of(RESNET_CAPTURE, 0);
    res_record *broken = process_of(RESNET_CAPTURE, 1);
    be_failed(broken, BN_CRASH, "signal 11");
    all.records[all.count++] = newer;
    all.records[all.count++] = broken;
    json_t *rows = speedup_rows(&all, NULL);
    const json_t *capture = json_array_get(rows, 4);
    assert_int_equal(json_array_size(rows), CASES);
    assert_string_equal(json_string_value(json_object_get(capture, "id")), newer->id);
    assert_true(number(capture, "processes") == 5 && number(capture, "left_out_failed") == 1);
    json_decref(rows);

    /* Another set-up is another cell, which has no lazy record. */
    newer->experiment.in_flight = 4;
    rows = speedup_rows(&all, NULL);
    assert_int_equal(json_array_size(rows), CASES + 1);
    json_decref(rows);
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    line_with(out.data, "batch 4, 4 in flight", "capture");
    bn_text_free(&out);
    res_collection_free(&all);
}

static void be_of_build(res_record *record, const char *sha256)
{
    json_t *runtime = json_object_get(record->provenance, "runtime");
    assert_int_equal(json_object_set_new(runtime, "sha256", json_string(sha256)), 0);
}

static void builds_are_not_mixed(void **state)
{
    (void)state;
    res_collection all = sample_store();
    /* An older build is left out, and counted. */
    be_of_build(all.records[at(RESNET_CAPTURE, 0)], "6b86b273ff34");
    assert_noted(&all, "other-builds", 1, ": resnet50 train capture, on cpu (1).");
    json_t *rows = speedup_rows(&all, NULL);
    assert_true(number(json_array_get(rows, 4), "processes") == 3);
    assert_true(number(json_array_get(rows, 4), "left_out_other_builds") == 1);
    json_decref(rows);
    /* Nothing is said of two builds. */
    for (int p = 0; p < PROCESSES; p++)
        be_of_build(all.records[at(RESNET_CAPTURE, p)], "6b86b273ff34");
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    assert_lacks(out.data, "runtime cpu, build ");
    line_with(out.data, "20.8 ms", "other build");
    bn_text_free(&out);
    assert_found(&all, "other build", 1, ": resnet50 train capture, on cpu.");
    rows = speedup_rows(&all, NULL);
    assert_true(json_is_null(json_object_get(json_array_get(rows, 4), "speedup")));
    assert_true(json_is_true(json_object_get(json_array_get(rows, 4), "lazy_is_other_build")));
    json_decref(rows);
    res_collection_free(&all);
}

static void conditions_are_not_mixed(void **state)
{
    (void)state;
    res_collection all = sample_store();
    for (int p = 2; p < PROCESSES; p++)
        json_object_set_new(all.records[at(RESNET_CAPTURE, p)]->provenance, "pinning",
                            json_pack("{ss}", "pin", "cores"));
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    line_with(out.data, "21.0 ms", "other conditions");
    bn_text_free(&out);
    assert_noted(&all, "other-conditions", 1, ": resnet50 train capture, on cpu (2: pinning).");
    assert_found(&all, "other conditions", 1, ": resnet50 train capture, on cpu (pinning).");
    res_collection_free(&all);
}

static void sources_are_named_when_they_differ(void **state)
{
    (void)state;
    res_collection all = sample_store();
    for (int p = 0; p < PROCESSES; p++) {
        all.records[at(RESNET_LAZY, p)]->executions[0].device_source = BN_DEVICE_TIME_PROFILER;
        all.records[at(RESNET_CAPTURE_5, p)]->executions[2].device_source = BN_DEVICE_TIME_EVENT;
    }
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    line_with(out.data, "lazy          1          4   1309  3.05 ms   2.00 ms  19.0 ms",
              "profiler");
    line_with(out.data, "22.5 ms", "mixed");
    bn_text_free(&out);
    /* A sum with an unknown term is unknown; the others tell theirs. */
    res_record *five = all.records[at(RESNET_CAPTURE_5, 3)];
    five->executions[2].device_source = BN_DEVICE_TIME_UNAVAILABLE;
    json_t *rows = speedup_rows(&all, NULL);
    assert_true(number(json_array_get(rows, 5), "device_processes") == 3);
    json_decref(rows);
    assert_noted(&all, "device-time-of-some", 1,
                 "resnet50 train capture in 5 graphs, on cpu (3 of 4).");
    for (int p = 0; p < PROCESSES; p++)
        all.records[at(RESNET_CAPTURE_5, p)]->executions[2].device_source =
            BN_DEVICE_TIME_UNAVAILABLE;
    rows = speedup_rows(&all, NULL);
    assert_true(json_is_null(json_object_get(json_array_get(rows, 5), "device_per_step_ns")));
    json_decref(rows);
    res_collection_free(&all);
}

/* ---- in words -------------------------------------------------------------------------- */

static void the_table_ends_with_what_was_found(void **state)
{
    (void)state;
    res_collection all = sample_store();
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    const char *found = strstr(out.data, "\nFindings\n");
    assert_non_null(found);
    assert_has(found, "resnet50 train capture in 5 graphs, on cpu: ");
    assert_lacks(out.data, "Interference");
    bn_text_free(&out);
    assert_found(&all, "faster", 1, "resnet50 train capture, on cpu: 1.25x");
    assert_found(&all, "faster", 1, "tracing 3.04 ms");
    assert_found(&all, "slower", 1, "resnet50 train capture in 5 graphs, on cpu: ");
    assert_found(&all, "slower", 1, "1.24x");
    assert_found(&all, "slower", 1, " 4 executions ");
    assert_found(&all, "slower", 1, " 8.00 ms ");
    assert_int_equal(count_of(&all, "findings", "kind", "no difference"), 0);
    bn_text json = speedup_table(&all, RES_TABLE_JSON);
    json_t *root = json_loads(json.data, 0, NULL);
    const json_t *first = json_array_get(json_object_get(root, "findings"), 0);
    assert_int_equal(json_array_size(json_object_get(root, "findings")), 6); /* one failed */
    assert_string_equal(json_string_value(json_object_get(first, "kind")), "slower");
    assert_int_equal(json_array_size(json_object_get(first, "rows")), 1);
    assert_has(json_string_value(json_object_get(first, "sentence")), "resnet50 train eager");
    json_decref(root);
    bn_text_free(&json);
    res_collection_free(&all);
}

static void like_modes_have_no_significant_difference(void **state)
{
    (void)state;
    res_collection all = like_modes(4);
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    line_with(out.data, "1.00x [0.98, 1.02]", "not significant");
    bn_text_free(&out);
    assert_found(&all, "no difference", 1, ": resnet50 train capture 1.00x [0.98, 1.02] (");
    json_t *rows = speedup_rows(&all, NULL);
    const json_t *row = json_array_get(rows, 1);
    assert_true(json_is_false(json_object_get(row, "told")));
    /* The stated drift of 1 % alone is 2.8 %: z(0.025) + z(0.2). */
    assert_true(number(row, "mde") > number(row, "mde_twice"));
    assert_true(number(row, "mde_twice") > 0.028 && number(row, "mde") < 0.04);
    assert_near(number(row, "speedup_drift"), 0.01, 1e-12);
    assert_true(json_is_false(json_object_get(row, "calibrated")));
    assert_true(number(row, "looks") == 1);
    json_decref(rows);
    res_collection_free(&all);
}

/* Further runs of two like modes: GROUP names the run of the processes of BEGIN. */
static void rename_run(res_collection *all, size_t begin, const char *group)
{
    for (size_t i = begin; i < begin + 8; i++)
        fixture_group(all->records[i], group, (int)(i - begin) / 2 + 1);
}

/* Three runs of four processes of two like modes. */
static res_collection three_runs(void)
{
    res_collection all = {.records = calloc(24 + 1, sizeof(res_record *)), .count = 24};
    assert_non_null(all.records);
    for (size_t run = 0; run < 3; run++) {
        const char group[] = {'r', (char)('0' + run), '\0'};
        res_collection four = like_modes(4);
        memcpy(all.records + 8 * run, four.records, 8 * sizeof(res_record *));
        free(four.records);
        rename_run(&all, 8 * run, group);
    }
    /* The runs lie apart. */
    for (size_t i = 0; i < 8; i += 2)
        for (size_t step = 0; step < all.records[i]->step_count; step++)
            all.records[i]->wall_ns[step] += 200000;
    return all;
}

/* The legend, the note, the advice and the means speak of runs. */
static void runs_are_said_where_they_are_the_values(void **state)
{
    (void)state;
    res_collection all = three_runs();
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    line_with(out.data, "(1 of 1)", "12");
    bn_text_free(&out);
    assert_noted(&all, "runs-are-values", 2, ": resnet50 train lazy (12 ");
    json_t *means = NULL, *rows = speedup_rows(&all, &means);
    assert_true(number(json_array_get(rows, 1), "runs") == 3);
    assert_true(number(json_array_get(rows, 1), "processes") == 12);
    assert_true(json_is_true(json_object_get(json_array_get(rows, 1), "judged")));
    assert_true(number(json_array_get(rows, 1), "looks") == 3);
    assert_true(json_is_null(json_object_get(json_array_get(rows, 1), "calibrated")));
    assert_true(number(json_array_get(means, 0), "runs") == 3);
    assert_true(number(json_array_get(means, 0), "processes") == 12);
    assert_true(json_is_false(json_object_get(json_array_get(means, 0), "judged")));
    json_decref(means);
    json_decref(rows);
    res_collection_free(&all);
}

static void of_two_runs_the_later_one_stands(void **state)
{
    (void)state;
    res_collection all = three_runs();
    all.count = 16;
    assert_noted(&all, "other-run", 2, ": resnet50 train lazy (4); resnet50 train capture (4).");
    json_t *rows = speedup_rows(&all, NULL);
    assert_true(number(json_array_get(rows, 0), "runs") == 1);
    assert_true(number(json_array_get(rows, 0), "left_out_other_run") == 4);
    const char *ids = json_string_value(json_object_get(json_array_get(rows, 0), "records"));
    assert_lacks(ids, all.records[0]->id);
    assert_has(ids, all.records[8]->id);
    json_decref(rows);
    all.count = 24;
    res_collection_free(&all);
}

/* A figure that contradicts the rest is not shown, and the note names the row. */
static void contradictions_are_not_reported(void **state)
{
    (void)state;
    res_collection all = like_modes(4);
    for (size_t i = 0; i < all.count; i++) {
        res_execution *x = &all.records[i]->executions[0];
        x->device_ns = i % 2 ? 10e6 + 0.25e6 * (double)(i / 2) : 5e6;
        x->overhead_ns = (i % 2 ? 1 : -1) * (1e6 + 1e4 * (double)i);
    }
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    assert_noted(&all, "device-time-above-pjrt", 1, ": resnet50 train lazy.");
    assert_noted(&all, "device-time-cut-overhead-unknown", 1, ": resnet50 train capture.");
    line_with(out.data, "lazy          1          4", "unknown        - ");
    line_with(out.data, "capture       1          4", "unknown  10.");
    bn_text_free(&out);
    json_t *rows = speedup_rows(&all, NULL);
    for (size_t i = 0; i < 2; i++) {
        const json_t *row = json_array_get(rows, i);
        assert_true(json_is_true(json_object_get(row, "overhead_refused")));
        assert_true(json_is_null(json_object_get(row, "overhead_per_execution_ns")));
    }
    json_decref(rows);
    res_collection_free(&all);
}

/* The table's "witness" in JSON; to be released by the caller. */
static json_t *interference_of(const res_collection *all)
{
    json_t *root = table_json("speedup", all);
    json_t *interference = json_incref(json_object_get(root, "witness"));
    json_decref(root);
    return interference;
}

/* 80 % of the time something waited: the first line says so. */
static void a_busy_machine_is_said_first(void **state)
{
    (void)state;
    res_collection all = like_modes(4);
    for (size_t i = 0; i < all.count; i++) {
        res_record *record = all.records[i];
        assert_int_equal(res_record_reserve_rounds(record, 1, NULL), BN_OK);
        record->rounds[0] = (res_round){record->step_count, 0, 1000000000, 25, 800000000, 0};
    }
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    const char *said = strstr(out.data, "\n\nInterference: "),
               *table = strstr(out.data, "runtime cpu");
    assert_true(said && table && said < table);
    assert_has(said, " 80 % ");
    assert_has(said, " 25 ");
    bn_text_free(&out);
    json_t *interference = interference_of(&all);
    assert_true(json_is_true(json_object_get(interference, "busy")));
    assert_near(number(interference, "stalled_share"), 0.8, 1e-9);
    assert_near(number(interference, "switches_per_s"), 25, 1e-9);
    json_decref(interference);
    res_collection_free(&all);
}

/* Time that a hypervisor took from the cores is reported, though no thread waited for one. */
static void cores_that_were_apart_are_said(void **state)
{
    (void)state;
    res_collection all = like_modes(4);
    for (size_t i = 0; i < all.count; i++)
        json_object_set_new(all.records[i]->provenance, "nearness",
                            json_pack("{si si si}", "rounds", 50, "apart", 10, "repeated", 26));
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    assert_has(out.data, "\n\nInterference: ");
    assert_has(out.data, " 20 % ");
    bn_text_free(&out);
    json_t *interference = interference_of(&all);
    assert_near(number(interference, "apart_share"), 0.2, 1e-9);
    assert_near(number(interference, "rounds_repeated"), 26.0 * (double)all.count, 1e-9);
    json_decref(interference);
    res_collection_free(&all);
}

/* The lazy row met a busy machine, the table as a whole did not; then no round can tell. */
static void the_worst_row_and_the_undecided_are_named(void **state)
{
    (void)state;
    res_collection all = like_modes(4);
    for (size_t i = 0; i < all.count; i++) {
        res_record *record = all.records[i];
        assert_int_equal(res_record_reserve_rounds(record, 1, NULL), BN_OK);
        record->rounds[0] =
            (res_round){record->step_count, 0, 1000000000, 5, i % 2 ? 0 : 600000000, 0};
    }
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    line_with(out.data, " resnet50 train lazy: ", " 60 % ");
    bn_text_free(&out);
    json_t *interference = interference_of(&all);
    assert_true(json_is_false(json_object_get(interference, "busy")));
    assert_string_equal(json_string_value(json_object_get(interference, "busiest")),
                        all.records[6]->id);
    json_decref(interference);
    for (size_t i = 0; i < all.count; i++)
        all.records[i]->rounds[0].stalled_ns = RES_UNKNOWN;
    out = speedup_table(&all, RES_TABLE_TEXT);
    const char *said = strstr(out.data, "/proc/pressure/cpu");
    assert_non_null(said);
    assert_lacks(said + 10, "/proc/pressure/cpu");
    bn_text_free(&out);
    interference = interference_of(&all);
    assert_true(json_is_null(json_object_get(interference, "busy")));
    assert_true(json_is_null(json_object_get(interference, "busiest")));
    json_decref(interference);
    res_collection_free(&all);
}

static void doubtful_figures_are_named(void **state)
{
    (void)state;
    res_collection all = like_modes(4);
    for (size_t p = 0; p < 4; p++) {
        res_record *lazy = all.records[2 * p], *capture = all.records[2 * p + 1];
        for (size_t i = 0; i < 5; i++)
            lazy->wall_ns[i] *= 5;
        lazy->warmup_stationary = p > 0;
        /* Slower and slower. */
        for (size_t i = 0; i < capture->step_count; i++)
            capture->wall_ns[i] = 9000000 + 100000 * i;
    }
    assert_noted(&all, "mean-above-median", 1, ": resnet50 train lazy (");
    assert_noted(&all, "not-stationary", 1, ": resnet50 train lazy (1 of 4 ");
    assert_noted(&all, "correlated-steps", 2, "resnet50 train capture (20 ");
    res_collection_free(&all);
}

static void empty_stores_have_tables(void **state)
{
    (void)state;
    res_collection none = {0};
    bn_text out = speedup_table(&none, RES_TABLE_TEXT);
    assert_lacks(out.data, "Findings");
    bn_text_free(&out);
    json_t *rows = speedup_rows(&none, NULL);
    assert_int_equal(json_array_size(rows), 0);
    json_decref(rows);
    out = speedup_table(&none, RES_TABLE_CSV);
    assert_int_equal(strncmp(out.data, "kind,runtime,", 13), 0);
    bn_text_free(&out);
}

/* ---- in 80 columns -------------------------------------------------------------------------- */

/* The lines below the table at 80 columns, where processes and program have no room. */
static void a_narrow_table_says_processes_and_program(void **state)
{
    (void)state;
    res_collection all = sample_store();
    size_t kept = 0;
    for (size_t i = 0; i < all.count; i++) {
        res_record *r = all.records[i];
        const res_experiment *e = &r->experiment;
        if (strcmp(e->runtime, "cpu") != 0 || strcmp(e->model, "resnet50") != 0 ||
            i == at(RESNET_CAPTURE, 3))
            res_record_free(r);
        else
            all.records[kept++] = r;
    }
    all.count = kept;
    bn_text out = speedup_table(&all, RES_TABLE_NARROW);
    for (const char *line = out.data; *line; line += strcspn(line, "\n") + (*line != '\0'))
        assert_true(strcspn(line, "\n") <= RES_NARROW);
    const char *heading = line_with(out.data, "model ", "vs lazy");
    assert_lacks(heading, "processes");
    assert_lacks(heading, "program");
    line_with(out.data, "Processes: 4, ", "resnet50 train capture (3).");
    line_with(out.data, "Program, ", ": unknown, ");
    assert_has(out.data, "(another text).\n");
    bn_text_free(&out);
    /* A wide table has the columns. */
    out = speedup_table(&all, RES_TABLE_TEXT);
    assert_lacks(out.data, "Processes: 4");
    assert_lacks(out.data, "Program, ");
    bn_text_free(&out);
    res_collection_free(&all);
    all = like_modes(4);
    for (size_t i = 0; i < all.count; i++)
        memset(all.records[i]->executions[0].optimized, 'a', 32);
    out = speedup_table(&all, RES_TABLE_NARROW);
    assert_has(out.data, "\nProcesses: 4 ");
    line_with(out.data, "Program, ", ": same ");
    bn_text_free(&out);
    res_collection_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speedup_table_has_the_fields_shape),
        cmocka_unit_test(speedups_are_ratios_of_medians),
        cmocka_unit_test(means_are_geometric),
        cmocka_unit_test(the_latest_good_record_names_a_pool),
        cmocka_unit_test(builds_are_not_mixed),
        cmocka_unit_test(conditions_are_not_mixed),
        cmocka_unit_test(sources_are_named_when_they_differ),
        cmocka_unit_test(the_table_ends_with_what_was_found),
        cmocka_unit_test(like_modes_have_no_significant_difference),
        cmocka_unit_test(runs_are_said_where_they_are_the_values),
        cmocka_unit_test(of_two_runs_the_later_one_stands),
        cmocka_unit_test(contradictions_are_not_reported),
        cmocka_unit_test(a_busy_machine_is_said_first),
        cmocka_unit_test(cores_that_were_apart_are_said),
        cmocka_unit_test(the_worst_row_and_the_undecided_are_named),
        cmocka_unit_test(doubtful_figures_are_named),
        cmocka_unit_test(empty_stores_have_tables),
        cmocka_unit_test(a_narrow_table_says_processes_and_program),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
