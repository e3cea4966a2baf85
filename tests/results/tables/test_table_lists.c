/*
 * test_table_lists.c - the tables of executions, ledgers, compilation and memory: their
 * figures are the records', in every format. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/tables/tables_priv.h"

enum { LAZY, CAPTURE, EAGER, LAZY_2, LAZY_3, RECORDS };
static res_record *records[RECORDS];

/* A process of lazy; the second program of all but the first process came from disk. */
static res_record *lazy(int process)
{
    fixture_case c = fixture_lazy;
    c.device_ns += 100000 * process;
    res_record *record = fixture_record(&c, 11);
    record->executions[1].from_disk = process > 0;
    record->counters[BN_COUNTER_DISK_HITS] = process > 0;
    json_object_set_new(record->provenance, "memory",
                        json_pack("{s:i, s:i}", "rss_bytes", 1048576, "peak_rss_bytes", 3145728));
    return record;
}

/* Three processes of lazy in two graphs, capture that failed, eager in 40 ops. */
static res_collection sample(void)
{
    static const fixture_case many = {.runtime = "cpu",
                                      .model = "resnet50",
                                      .phase = "train",
                                      .mode = "eager",
                                      .graphs = 40,
                                      .batch = 4,
                                      .trace_ns = 2900000,
                                      .wall_ns = 250000000,
                                      .device_ns = (double)NAN,
                                      .nodes = 1309};
    records[LAZY] = lazy(0);
    records[CAPTURE] = fixture_record(&fixture_lazy, 0);
    records[EAGER] = fixture_record(&many, 11);
    records[LAZY_2] = lazy(1);
    records[LAZY_3] = lazy(2);
    strcpy(records[CAPTURE]->experiment.mode, "capture");
    records[CAPTURE]->status = BN_TIMEOUT;
    for (size_t i = 0; i < 40; i++)
        records[EAGER]->executions[i].per_step = (int)i + 1;
    return (res_collection){.records = records, .count = RECORDS};
}

static bn_text table(const char *name, res_format format)
{
    res_collection all = sample();
    bn_text out = {0};
    bn_status st = {0};
    assert_int_equal(res_table_check(name, &st), BN_OK);
    res_table(name, &all, format, &out);
    assert_non_null(out.data);
    for (size_t i = 0; i < all.count; i++)
        res_record_free(records[i]);
    return out;
}

/* Row INDEX of MODE in the table NAME (new reference). */
static json_t *row(const char *name, const char *mode, size_t index)
{
    bn_text out = table(name, RES_TABLE_JSON);
    json_t *all = json_loads(out.data, 0, NULL), *one, *found = NULL;
    size_t i, seen = 0;
    assert_non_null(all);
    json_array_foreach(json_object_get(all, "rows"), i, one)
    {
        const char *its = json_string_value(json_object_get(one, "mode"));
        if (strcmp(its, mode) == 0 && seen++ == index)
            found = json_incref(one);
    }
    assert_non_null(found);
    json_decref(all);
    bn_text_free(&out);
    return found;
}

static double figure(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_non_null(value);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static void executions_have_all_three_times(void **state)
{
    (void)state;
    json_t *lazy = row("executions", "lazy", 1), *eager = row("executions", "eager", 0);
    assert_string_equal(json_string_value(json_object_get(lazy, "graph")), "backward");
    /* 11.0, 11.1 and 11.2 ms; t(0.975, 2) = 4.3027. */
    assert_near(figure(lazy, "pjrt_ns"), cbrt(11.0 * 11.1 * 11.2) * 1e6, 1);
    assert_near(figure(lazy, "pjrt_low_ns"), 11.1e6 - 4.3027 * 0.1e6 / sqrt(3), 3e3);
    assert_near(figure(lazy, "pjrt_high_ns"), 11.1e6 + 4.3027 * 0.1e6 / sqrt(3), 3e3);
    assert_near(figure(lazy, "device_ns"), cbrt(9.0 * 9.1 * 9.2) * 1e6, 1);
    assert_true(figure(lazy, "device_low_ns") < 9e6 && figure(lazy, "device_high_ns") > 9.2e6);
    assert_true(figure(lazy, "processes") == 3 && figure(lazy, "device_processes") == 3);
    /* All three say the same. */
    assert_near(figure(lazy, "overhead_ns"), 2e6, 1);
    assert_near(figure(lazy, "overhead_low_ns"), 2e6, 1);
    const char *source = json_string_value(json_object_get(lazy, "device_time_source"));
    assert_string_equal(source, "slope");
    /* The dearest of many first; no device time is none. */
    assert_true(figure(eager, "per_step") == 40);
    assert_true(isnan(figure(eager, "device_ns")) && isnan(figure(eager, "overhead_ns")));
    json_decref(lazy);
    json_decref(eager);
}

/* An overhead of 318 us within [-425, 1060], say: it is indistinguishable from zero, and the bound
 * is of milliseconds. Its range is of the same unit. */
static void ranges_have_the_unit_of_their_figure(void **state)
{
    (void)state;
    const res_interval below = {318e3, -425e3, 1060e3}, above = {204e3, 101e3, 306e3},
                       single = {-83e6, (double)NAN, (double)NAN};
    assert_string_equal(res_time_difference(below).text, "< 1.06 ms");
    assert_string_equal(res_time_difference_range(below).text, "[-0.42, 1.06]");
    assert_string_equal(res_time_difference(above).text, "204 us");
    assert_string_equal(res_time_difference_range(above).text, "[101, 306]");
    assert_string_equal(res_time_difference(single).text, "-83.0 ms");
    assert_string_equal(res_time_difference_range(single).text, "");
    /* In the table. */
    res_collection all = sample();
    static const double overheads[] = {-300e3, 500e3, 300e3};
    static const size_t of[] = {LAZY, LAZY_2, LAZY_3};
    for (size_t i = 0; i < 3; i++) {
        res_execution *x = &records[of[i]]->executions[1];
        x->overhead_ns = overheads[i];
        x->overhead_low_ns = x->overhead_high_ns = 0;
    }
    bn_text out = {0};
    res_table("executions", &all, RES_TABLE_TEXT, &out);
    /* -0.3, 0.5 and 0.3: the mean is 0.167 ms, the half-width 1.034 ms. */
    assert_non_null(strstr(out.data, "< 1.20 ms [-0.87, 1.20]"));
    bn_text_free(&out);
    for (size_t i = 0; i < all.count; i++)
        res_record_free(records[i]);
}

/* Times drift from hour to hour: tables with intervals of times have one note on it. */
static void intervals_of_times_have_their_caveat(void **state)
{
    (void)state;
    static const char *const names[] = {"speedup", "executions", "ledger"};
    for (size_t i = 0; i < 3; i++) {
        bn_text out = table(names[i], RES_TABLE_TEXT);
        assert_non_null(strstr(out.data, res_times_note));
        bn_text_free(&out);
    }
}

static void people_see_the_dearest_and_how_many_more(void **state)
{
    (void)state;
    bn_text out = table("executions", RES_TABLE_TEXT);
    assert_non_null(strstr(out.data, "and 28 more: see --format csv"));
    assert_non_null(strstr(out.data, "failed: timeout"));
    assert_non_null(strstr(out.data, "All rows: full, batch 4, image 64, f32, nhwc, serial"));
    size_t lines = 0;
    for (const char *at = out.data; (at = strstr(at, "ms [")) != NULL; at++)
        lines++;
    assert_int_equal(lines, 2 * 3); /* two graphs; eager is of one process */
    bn_text_free(&out);
    out = table("executions", RES_TABLE_CSV);
    lines = 0;
    for (const char *c = out.data; *c != '\0'; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 1 + 2 + 40 + 1); /* and what failed */
    bn_text_free(&out);
}

/* A recording says nothing of the setup. */
static void nothing_is_said_of_an_unknown_setup(void **state)
{
    (void)state;
    res_record *record = fixture_record(&fixture_lazy, 11);
    bn_text out = {0};
    record->experiment = (res_experiment){.phase = "step"};
    strcpy(record->experiment.model, "train");
    strcpy(record->experiment.mode, "recorded");
    strcpy(record->experiment.runtime, "cpu");
    res_collection all = {.records = &record, .count = 1};
    res_table("executions", &all, RES_TABLE_TEXT, &out);
    assert_non_null(strstr(out.data, "backward"));
    assert_null(strstr(out.data, "All rows"));
    bn_text_free(&out);
    res_record_free(record);
}

static void ledgers_add_up_by_their_means(void **state)
{
    (void)state;
    json_t *lazy = row("ledger", "lazy", 0);
    double means = 0, medians = 0;
    for (int p = 0; p < BN_PART_COUNT; p++) {
        char key[64];
        snprintf(key, sizeof key, "%s_ns", bn_part_name((bn_part)p));
        medians += figure(lazy, key);
        snprintf(key, sizeof key, "%s_mean_ns", bn_part_name((bn_part)p));
        means += figure(lazy, key);
    }
    assert_true(figure(lazy, "trace_ns") == 2900000);
    assert_true(fabs(means - figure(lazy, "wall_mean_ns")) < 1);
    assert_true(fabs(means - figure(lazy, "sum_mean_ns")) < 1);
    assert_true(fabs(medians - figure(lazy, "sum_ns")) < 1);
    json_decref(lazy);
    /* No step compiled: that part has no column. */
    bn_text out = table("ledger", RES_TABLE_TEXT);
    assert_non_null(strstr(out.data, "dispatch"));
    assert_null(strstr(out.data, "compile "));
    bn_text_free(&out);
}

static void compilation_and_memory_are_the_compilers(void **state)
{
    (void)state;
    json_t *first = row("compile", "lazy", 0), *second = row("compile", "lazy", 1);
    assert_true(figure(first, "compile_ns") == 3240000000.0);
    assert_true(figure(first, "program_bytes") == 402118);
    assert_true(figure(first, "graph_nodes") > 0);
    assert_null(json_object_get(first, "nodes"));
    assert_string_equal(json_string_value(json_object_get(first, "cache")), "compiled");
    assert_string_equal(json_string_value(json_object_get(second, "cache")), "compiled in 1 of 3");
    assert_true(isnan(figure(second, "code_bytes")));
    assert_true(figure(second, "disk_hits") == 1);
    json_decref(first);
    json_decref(second);
    first = row("memory", "lazy", 0);
    assert_true(figure(first, "temp_bytes") == 51200000);
    assert_true(figure(first, "host_peak_rss_bytes") == 3145728);
    json_decref(first);
    /* "nodes" alone are those that a step traces, in all tables. */
    bn_text out = table("compile", RES_TABLE_TEXT);
    assert_non_null(strstr(out.data, "  graph nodes  "));
    bn_text_free(&out);
    out = table("memory", RES_TABLE_TEXT);
    const char *said = strstr(out.data, "3.00 MiB");
    assert_non_null(said);
    assert_null(strstr(said + 1, "3.00 MiB")); /* a record's, so in one of its rows */
    bn_text_free(&out);
}

static void names_and_empty_stores(void **state)
{
    (void)state;
    static const char *const names[] = {"speedup", "executions", "ledger", "compile", "memory"};
    bn_status st = {0};
    res_collection none = {0};
    for (size_t i = 0; i < 5; i++) {
        for (int format = RES_TABLE_TEXT; format <= RES_TABLE_HTML; format++) {
            bn_text out = {0};
            res_table(names[i], &none, (res_format)format, &out);
            if (format != RES_TABLE_CSV && format != RES_TABLE_JSON)
                assert_non_null(strstr(out.data, "No records."));
            bn_text_free(&out);
        }
    }
    assert_int_equal(res_table_check("ledgers", &st), BN_INVALID);
}

/* A failed experiment has a row without figures, and is counted with good processes, in each table.
 */
static void failures_are_in_every_table(void **state)
{
    (void)state;
    static const char *const names[] = {"executions", "ledger", "compile", "memory", "goodput"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int partial = 0; partial < 2; partial++) {
            res_collection all = sample();
            bn_text json = {0}, text = {0}, csv = {0};
            records[LAZY_2]->status = partial ? BN_CRASH : BN_OK;
            res_table(names[i], &all, RES_TABLE_JSON, &json);
            res_table(names[i], &all, RES_TABLE_CSV, &csv);
            res_table(names[i], &all, RES_TABLE_TEXT, &text);
            json_t *parsed = json_loads(json.data, 0, NULL), *row;
            const json_t *rows = json_object_get(parsed, "rows");
            const size_t members = json_object_size(json_array_get(rows, 0));
            size_t k, failed = 0;
            json_array_foreach(rows, k, row)
            {
                const char *mode = json_string_value(json_object_get(row, "mode"));
                const char *status = json_string_value(json_object_get(row, "status"));
                const json_int_t left_out =
                    json_integer_value(json_object_get(row, "left_out_failed"));
                const bool none = strcmp(mode, "capture") == 0;
                assert_int_equal(json_object_size(row), members);
                assert_string_equal(status, none ? "timeout" : "ok");
                assert_int_equal(left_out, none || (partial && strcmp(mode, "lazy") == 0));
                failed += none;
            }
            assert_int_equal(failed, 1);
            assert_non_null(strstr(csv.data, ",timeout,"));
            assert_int_equal(strstr(text.data, "(1 of 3)") != NULL, partial);
            json_decref(parsed);
            bn_text_free(&json);
            bn_text_free(&csv);
            bn_text_free(&text);
            for (k = 0; k < all.count; k++)
                res_record_free(records[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(executions_have_all_three_times),
        cmocka_unit_test(ranges_have_the_unit_of_their_figure),
        cmocka_unit_test(intervals_of_times_have_their_caveat),
        cmocka_unit_test(people_see_the_dearest_and_how_many_more),
        cmocka_unit_test(failures_are_in_every_table),
        cmocka_unit_test(nothing_is_said_of_an_unknown_setup),
        cmocka_unit_test(ledgers_add_up_by_their_means),
        cmocka_unit_test(compilation_and_memory_are_the_compilers),
        cmocka_unit_test(names_and_empty_stores),
    };
    res_store_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
