/*
 * test_speedup_findings.c - what the speedup table says of rows that it cannot compare: those that
 * failed, those without lazy, and those whose device time was refused; and of steps of several
 * lengths. Needs no plugin.
 */
#include "tests/results/tables/tables_fixture.h"

enum { INFER_LAZY = 4, INFER_CAPTURE = 5 };

/* The rows of the finding KIND in the table of ALL; 0: there is none. */
static size_t rows_of_kind(const res_collection *all, const char *kind)
{
    bn_text out = {0};
    res_table_speedup(all, RES_TABLE_JSON, &out);
    json_t *root = json_loads(out.data, 0, NULL), *one;
    size_t index, rows = 0;
    json_array_foreach(json_object_get(root, "findings"), index, one)
    {
        if (strcmp(json_string_value(json_object_get(one, "kind")), kind) == 0)
            rows += json_array_size(json_object_get(one, "rows"));
    }
    json_decref(root);
    bn_text_free(&out);
    return rows;
}

static void rows_that_failed_are_named(void **state)
{
    (void)state;
    res_collection all = sample_store();
    assert_found(&all, "failed", 1, ": bert train capture, on cpu (out-of-memory).");
    assert_int_equal(rows_of_kind(&all, "no base"), 0);
    assert_int_equal(rows_of_kind(&all, "device not told"), 0);
    res_collection_free(&all);
}

/* Lazy of one cell failed: the other mode of that cell has no baseline. */
static void a_row_without_lazy_is_named(void **state)
{
    (void)state;
    res_collection all = sample_store();
    for (int p = 0; p < PROCESSES; p++)
        be_failed(all.records[at(INFER_LAZY, p)], BN_TIMEOUT, "no step in a minute");
    assert_found(&all, "no base", 1, ": resnet50 infer capture, on cpu.");
    assert_found(&all, "failed", 2,
                 ": bert train capture, on cpu (out-of-memory); resnet50 infer lazy, on cpu "
                 "(timeout).");
    assert_int_equal(count_of(&all, "findings", "kind", "nothing"), 0);
    /* Where no row has a lazy beside it, one sentence says so of all. */
    const res_collection alone = {.records = all.records + INFER_LAZY, .count = 2};
    json_t *reason = finding_member(&alone, "nothing", "reason");
    assert_string_equal(json_string_value(reason), "no base");
    json_decref(reason);
    assert_found(&alone, "failed", 1, " infer lazy (timeout).");
    assert_int_equal(rows_of_kind(&alone, "no base"), 0);
    res_collection_free(&all);
}

/* The probes of lazy say a PJRT time below the device time, in all processes. */
static void a_refused_device_time_says_what_would_tell_it(void **state)
{
    (void)state;
    res_collection all = sample_store();
    for (int p = 0; p < PROCESSES; p++)
        all.records[at(RESNET_LAZY, p)]->executions[0].overhead_ns = -5e6 - 1e3 * p;
    assert_found(&all, "device not told", 1, ": resnet50 train lazy, on cpu (");
    assert_found(&all, "device not told", 1, "(--processes 8)");
    res_collection_free(&all);
}

static void be_unavailable(res_execution *x, const char *note)
{
    x->device_ns = x->device_low_ns = x->device_high_ns = UNKNOWN;
    x->device_source = BN_DEVICE_TIME_UNAVAILABLE;
    snprintf(x->device_note, sizeof x->device_note, "%s", note);
}

/* Long steps are probed if one asks for it; who asked for no device time needs no advice. */
static void an_unprobed_device_time_says_the_option(void **state)
{
    (void)state;
    res_collection all = sample_store();
    for (int p = 0; p < PROCESSES; p++) {
        be_unavailable(&all.records[at(RESNET_LAZY, p)]->executions[0],
                       "not probed, since a step takes over a second; --device-time slope does it");
        be_unavailable(&all.records[at(RESNET_CAPTURE, p)]->executions[0], "not asked for");
    }
    assert_found(&all, "device not told", 1, ": resnet50 train lazy, on cpu (not probed");
    assert_found(&all, "device not told", 1, " --device-time slope ");
    assert_int_equal(rows_of_kind(&all, "device not told"), 1);
    res_collection_free(&all);
}

/* Six of ten steps take half as long as the others: half of the median is not half of the mean. */
static void steps_of_several_lengths_are_named(void **state)
{
    (void)state;
    const double round_ns[] = {20e6, 20e6, 20e6};
    res_collection all = {.records = calloc(2 * PROCESSES, sizeof(res_record *))};
    assert_non_null(all.records);
    for (int p = 0; p < PROCESSES; p++)
        for (int i = 0; i < 2; i++) {
            res_record *r =
                fixture_rounds(&cases[i ? RESNET_CAPTURE : RESNET_LAZY], round_ns, 3, 10);
            for (size_t step = 0; i == 1 && step < r->step_count; step++)
                r->wall_ns[step] = step % 10 < 6 ? 10000000 : 20000000;
            fixture_group(r, "g", p + 1);
            all.records[all.count++] = r;
        }
    assert_noted(&all, "several-lengths", 1, ": resnet50 train capture (2.0");
    res_collection_free(&all);
}

/* One process of lazy failed: the other way's time is of four, and the ratio of three. */
static void a_ratio_of_fewer_processes_is_named(void **state)
{
    (void)state;
    res_collection all = sample_store();
    assert_int_equal(count_of(&all, "noted", "id", "ratio-of-some"), 0);
    be_failed(all.records[at(INFER_LAZY, 2)], BN_TIMEOUT, "no step in a minute");
    assert_noted(&all, "ratio-of-some", 1, ": resnet50 infer capture, on cpu (3 ");
    res_collection_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_failed_are_named),
        cmocka_unit_test(a_row_without_lazy_is_named),
        cmocka_unit_test(a_refused_device_time_says_what_would_tell_it),
        cmocka_unit_test(an_unprobed_device_time_says_the_option),
        cmocka_unit_test(steps_of_several_lengths_are_named),
        cmocka_unit_test(a_ratio_of_fewer_processes_is_named),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
