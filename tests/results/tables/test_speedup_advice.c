/*
 * test_speedup_advice.c - what the speedup table says where nothing was compared, or too little was
 * measured: it names an option only where that option would help.
 */
#include "tests/results/tables/tables_fixture.h"

/* No sentence of the table of ALL names the option. */
static void assert_no_processes(const res_collection *all)
{
    bn_text out = speedup_table(all, RES_TABLE_TEXT);
    assert_lacks(out.data, "--processes");
    bn_text_free(&out);
}

static void few_processes_make_no_claim(void **state)
{
    (void)state;
    res_collection all = like_modes(2);
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    line_with(out.data, "1.00x", "too few processes");
    bn_text_free(&out);
    assert_noted(&all, "few-processes", 2,
                 "--processes 4: resnet50 train lazy (2); resnet50 train capture (2).");
    assert_found(&all, "too few", 1, "--processes 4: resnet50 train capture.");
    res_collection_free(&all);
}

/* Steps of another program or another tool's measurements have no option of bench. */
static void what_was_not_measured_here_gets_no_option(void **state)
{
    (void)state;
    res_collection all = like_modes(2);
    for (size_t i = 0; i < all.count; i++)
        json_object_set_new(all.records[i]->provenance, "imported", json_object());
    assert_noted(&all, "few-processes-foreign", 2,
                 ": resnet50 train lazy (2); resnet50 train capture (2).");
    assert_found(&all, "too few", 1, ": resnet50 train capture.");
    assert_no_processes(&all);
    const res_collection one = {.records = all.records, .count = 1};
    strcpy(all.records[0]->experiment.mode, "recorded");
    json_object_del(all.records[0]->provenance, "imported");
    assert_noted(&one, "few-processes-foreign", 1, ": resnet50 train recorded (1).");
    assert_no_processes(&one);
    res_collection_free(&all);
}

/* Two runs of two processes each. */
static void two_imported_runs_get_no_option(void **state)
{
    (void)state;
    res_collection all = like_modes(4);
    for (size_t i = 0; i < all.count; i++)
        fixture_group(all.records[i], i < 4 ? "g" : "h", (int)(i % 4) / 2 + 1);
    assert_noted(&all, "two-runs", 2, " --processes 4: ");
    for (size_t i = 0; i < all.count; i++)
        json_object_set_new(all.records[i]->provenance, "imported", json_object());
    assert_noted(&all, "two-runs-foreign", 2, "");
    assert_no_processes(&all);
    res_collection_free(&all);
}

/* Why nothing was compared in the table of ALL. */
static void reason_is(const res_collection *all, const char *wanted)
{
    json_t *reason = finding_member(all, "nothing", "reason");
    assert_string_equal(json_string_value(reason), wanted);
    json_decref(reason);
}

static void without_another_mode_there_is_no_advice(void **state)
{
    (void)state;
    res_collection all = like_modes(4);
    for (size_t i = 0; i < all.count; i++)
        strcpy(all.records[i]->experiment.mode, "capture");
    reason_is(&all, "no base");
    res_collection_free(&all);
}

/* That no lazy succeeded is not true of lazy rows alone. */
static void lazy_rows_alone_are_said(void **state)
{
    (void)state;
    res_collection all = like_modes(4);
    for (size_t i = 0; i < all.count; i++)
        strcpy(all.records[i]->experiment.mode, "lazy");
    reason_is(&all, "all lazy");
    assert_found(&all, "nothing", 0, "--mode lazy,capture ");
    for (size_t i = 0; i < all.count; i++)
        be_failed(all.records[i], BN_TIMEOUT, "no step in a minute");
    reason_is(&all, "no base");
    res_collection_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_processes_make_no_claim),
        cmocka_unit_test(what_was_not_measured_here_gets_no_option),
        cmocka_unit_test(two_imported_runs_get_no_option),
        cmocka_unit_test(without_another_mode_there_is_no_advice),
        cmocka_unit_test(lazy_rows_alone_are_said),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
