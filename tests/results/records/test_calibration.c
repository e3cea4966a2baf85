/*
 * test_calibration.c - runs of bench calibrate in a store: what is kept, what they show of which
 * runtime and machine, and files that are none. Needs no plugin.
 */
#include "tests/results/store_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

static const char build[] = "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9";

static void folder_of(const char *store)
{
    char path[400];
    snprintf(path, sizeof path, "%s/" RES_CALIBRATION_FOLDER, store);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* By how much a process differs from the mean of its run; the square of the mean's error is a
 * seventh of the square of it. */
#define APART 1e-5

/* Adds COUNT runs whose three ratios all are +-1 % by turns: their variance is
 * 1e-4 COUNT / (COUNT - 1). */
static void add_runs(const char *store, const char *machine, bool busy, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        static const char *const pairs[] = {"a", "b", "c"};
        res_calibration_ratio ratios[3];
        double logs[8];
        for (size_t k = 0; k < 8; k++)
            logs[k] = (i % 2 ? 0.01 : -0.01) + (k % 2 ? APART : -APART);
        for (size_t k = 0; k < 3; k++)
            ratios[k] = (res_calibration_ratio){pairs[k], res_estimate_of(logs, 8)};
        const res_calibration_run run = {.began_s = 600.0 * (double)i + busy,
                                         .busy = busy,
                                         .sha256 = build,
                                         .machine = machine,
                                         .ratios = ratios,
                                         .count = 3};
        assert_int_equal(res_calibration_add(store, &run, NULL), BN_OK);
    }
}

static void runs_show_a_drift_of_their_machine(void **state)
{
    const char *store = ((const place *)*state)->store;
    json_t *runs;
    res_run_drift drift;
    assert_int_equal(res_calibration_read(store, &runs, NULL), BN_OK);
    assert_int_equal(json_array_size(runs), 0);
    json_decref(runs);
    add_runs(store, "here", false, 8);
    add_runs(store, "here", true, 7);
    add_runs(store, "there", false, 10);
    assert_int_equal(res_calibration_read(store, &runs, NULL), BN_OK);
    assert_int_equal(json_array_size(runs), 25);
    assert_int_equal(res_calibration_drift(runs, build, "here", false, &drift), 8);
    assert_near(drift.deviation, sqrt(1e-4 * 8 / 7 - APART * APART / 7), 1e-9);
    assert_near(drift.freedom, 7, 0);
    /* Seven do not know it. */
    assert_int_equal(res_calibration_drift(runs, build, "here", true, &drift), 7);
    assert_true(drift.deviation == 0);
    assert_int_equal(res_calibration_drift(runs, "another", "here", false, &drift), 0);
    /* They lie ten minutes apart, which is enough; one more just before the second does not. */
    assert_int_equal(res_calibration_near(runs, build, "here", false), 0);
    json_t *closer = json_deep_copy(json_array_get(runs, 1));
    json_object_set_new(closer, "began_s", json_real(599));
    json_array_append_new(runs, closer);
    assert_int_equal(res_calibration_near(runs, build, "here", false), 2);
    assert_int_equal(res_calibration_near(runs, build, "here", true), 0);
    assert_int_equal(res_calibration_near(runs, build, "there", false), 0);
    json_decref(runs);
    /* The same run again is one. */
    add_runs(store, "here", false, 1);
    assert_int_equal(res_calibration_read(store, &runs, NULL), BN_OK);
    assert_int_equal(json_array_size(runs), 25);
    json_decref(runs);
    json_t *summary = res_calibration_summary(store, build, "here");
    const json_t *idle = json_object_get(summary, "idle");
    assert_near(json_number_value(json_object_get(idle, "deviation")),
                sqrt(1e-4 * 8 / 7 - APART * APART / 7), 1e-9);
    assert_int_equal(json_integer_value(json_object_get(idle, "runs")), 8);
    assert_string_equal(json_string_value(json_object_get(summary, "machine")), "here");
    assert_null(json_object_get(summary, "busy"));
    json_decref(summary);
    assert_null(res_calibration_summary(store, build, "nowhere"));
    assert_null(res_calibration_summary(store, "", "here"));
}

/* A run that names one pair eight times is one run. */
static void runs_are_counted_and_not_their_ratios(void **state)
{
    (void)state;
    json_t *runs = json_array(), *ratios = json_array();
    res_run_drift drift;
    for (int i = 0; i < 8; i++)
        json_array_append_new(ratios, json_pack("{ss sf sf}", "pair", "a", "log",
                                                i % 2 ? 0.1 : -0.1, "error", 0.001));
    json_array_append_new(runs, json_pack("{sf ss ss sb so}", "began_s", 1.0, "runtime", build,
                                          "machine", "here", "busy", 0, "ratios", ratios));
    assert_int_equal(res_calibration_drift(runs, build, "here", false, &drift), 1);
    assert_true(drift.deviation == 0);
    json_decref(runs);
}

static void a_run_without_ratios_is_refused(void **state)
{
    const char *store = ((const place *)*state)->store;
    json_t *runs;
    double logs[3] = {1, 2, (double)NAN};
    res_calibration_ratio ratio = {"a", res_estimate_of(logs, 3)};
    res_calibration_run run = {.sha256 = build, .machine = "here", .ratios = &ratio, .count = 1};
    assert_int_equal(res_calibration_add(store, &run, NULL), BN_INVALID);
    ratio.log = res_estimate_of(logs, 2); /* no error */
    assert_int_equal(res_calibration_add(store, &run, NULL), BN_INVALID);
    run.count = 0;
    assert_int_equal(res_calibration_add(store, &run, NULL), BN_INVALID);
    assert_int_equal(res_calibration_read(store, &runs, NULL), BN_OK);
    assert_int_equal(json_array_size(runs), 0);
    json_decref(runs);
}

static void other_files_are_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "{}",
        "[1]",
        "[{\"runtime\": 1}]",
        "[{\"began_s\": 1, \"runtime\": \"a\", \"machine\": \"b\", \"busy\": false, \"ratios\": "
        "[{\"pair\": \"a\", \"log\": 1, \"error\": 0}]}]",
        "[{\"began_s\": 1, \"runtime\": \"a\", \"machine\": \"b\", \"busy\": false, \"ratios\": "
        "[{\"log\": 1, \"error\": 1}]}]",
        "[{\"began_s\": 1, \"runtime\": \"a\", \"machine\": \"b\", \"busy\": false, \"ratios\": "
        "[{\"pair\": \"a\", \"log\": -1e308, \"error\": 1}]}]",
        "[{\"began_s\": 1, \"runtime\": \"a\", \"machine\": \"b\", \"busy\": false, \"ratios\": "
        "[{\"pair\": \"a\", \"log\": 1, \"error\": 1e308}]}]"};
    const char *store = ((const place *)*state)->store;
    char path[400];
    folder_of(store);
    snprintf(path, sizeof path, "%s/" RES_CALIBRATION_FOLDER "/runs.json", store);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *runs;
        assert_int_equal(bn_file_write_own(path, texts[i], strlen(texts[i]), NULL), BN_OK);
        assert_int_equal(res_calibration_read(store, &runs, NULL), BN_FORMAT);
        assert_null(runs);
        assert_null(res_calibration_summary(store, "a", "b"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(runs_show_a_drift_of_their_machine, begin, end),
        cmocka_unit_test(runs_are_counted_and_not_their_ratios),
        cmocka_unit_test_setup_teardown(a_run_without_ratios_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(other_files_are_refused, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
