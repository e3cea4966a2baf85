/*
 * test_speedup_advice.c - what the speedup table says where nothing was compared, or too little was
 * measured: it names an option only where that option would help.
 */
#include "tests/results/tables/tables_fixture.h"

static void few_processes_make_no_claim(void **state)
{
    (void)state;
    res_collection all = like_modes(2);
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    line_with(out.data, "1.00x", "too few processes");
    assert_has(out.data, "--processes 4: resnet50 train lazy (2); resnet50 train capture (2).");
    assert_has(out.data, "--processes 4: resnet50 train capture.");
    bn_text_free(&out);
    res_collection_free(&all);
}

/* Steps of another program or another tool's measurements have no option of bench. */
static void what_was_not_measured_here_gets_no_option(void **state)
{
    (void)state;
    res_collection all = like_modes(2);
    for (size_t i = 0; i < all.count; i++)
        json_object_set_new(all.records[i]->provenance, "imported", json_object());
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    assert_has(out.data, "import more: resnet50 train lazy (2); resnet50 train capture (2).");
    assert_has(out.data, "import more: resnet50 train capture.");
    assert_lacks(out.data, "--processes");
    bn_text_free(&out);
    const res_collection one = {.records = all.records, .count = 1};
    strcpy(all.records[0]->experiment.mode, "recorded");
    json_object_del(all.records[0]->provenance, "imported");
    out = speedup_table(&one, RES_TABLE_TEXT);
    assert_has(out.data, "import more: resnet50 train recorded (1).");
    assert_lacks(out.data, "--processes");
    bn_text_free(&out);
    res_collection_free(&all);
}

/* Two runs of two processes each. */
static void two_imported_runs_get_no_option(void **state)
{
    (void)state;
    res_collection all = like_modes(4);
    for (size_t i = 0; i < all.count; i++)
        fixture_group(all.records[i], i < 4 ? "g" : "h", (int)(i % 4) / 2 + 1);
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    assert_has(out.data, "two runs of fewer than three processes each; use --processes 4: ");
    bn_text_free(&out);
    for (size_t i = 0; i < all.count; i++)
        json_object_set_new(all.records[i]->provenance, "imported", json_object());
    out = speedup_table(&all, RES_TABLE_TEXT);
    assert_has(out.data, "two runs of fewer than three processes each; record or import more: ");
    assert_lacks(out.data, "--processes");
    bn_text_free(&out);
    res_collection_free(&all);
}

static void without_another_mode_there_is_no_advice(void **state)
{
    (void)state;
    res_collection all = like_modes(4);
    for (size_t i = 0; i < all.count; i++)
        strcpy(all.records[i]->experiment.mode, "capture");
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    assert_has(out.data, "Nothing was compared: no row ");
    bn_text_free(&out);
    res_collection_free(&all);
}

/* That no lazy succeeded is not true of lazy rows alone. */
static void lazy_rows_alone_are_said(void **state)
{
    (void)state;
    res_collection all = like_modes(4);
    for (size_t i = 0; i < all.count; i++)
        strcpy(all.records[i]->experiment.mode, "lazy");
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    assert_has(out.data, "Nothing was compared: all rows are lazy; --mode lazy,capture ");
    bn_text_free(&out);
    for (size_t i = 0; i < all.count; i++)
        be_failed(all.records[i], BN_TIMEOUT, "no step in a minute");
    out = speedup_table(&all, RES_TABLE_TEXT);
    assert_has(out.data, "Nothing was compared: no row ");
    bn_text_free(&out);
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
