/*
 * test_provenance.c - members of a provenance by their rows in provenance.def.
 */
#include "tests/support/results_fixture.h"

static void each_path_stands_once_and_texts_have_room(void **state)
{
    (void)state;
    for (int i = 0; i < RES_PROV_COUNT; i++) {
        const res_provenance_row *row = &res_provenance_rows[i];
        assert_non_null(row->path);
        /* check.c has room for so much. */
        assert_true(row->most < 4096);
        assert_true(row->most == 0 || row->kind == RES_PROV_KIND_TEXT);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(row->path, res_provenance_rows[k].path);
    }
}

static void members_of_another_kind_are_unknown(void **state)
{
    (void)state;
    res_record *r = res_record_new();
    json_decref(r->provenance);
    r->provenance = json_pack("{s{ss si} s{sI sf} s{s{s{ss}}} ss}", "host", "hostname", "h",
                              "cpu", 7, "memory", "rss_bytes", (json_int_t)5, "peak_rss_bytes",
                              1.5, "imported", "line", "experiment", "accelerator", "gpu",
                              "runtime", "no object");
    assert_string_equal(res_provenance_text(r, RES_PROV_HOST_NAME), "h");
    assert_string_equal(res_provenance_text(r, RES_PROV_HOST_CPU), "");
    assert_string_equal(res_provenance_text(r, RES_PROV_RUNTIME_DEVICE_KIND), "");
    assert_string_equal(res_provenance_text(r, RES_PROV_IMPORTED_PLATFORM), "gpu");
    assert_int_equal(res_provenance_integer(r, RES_PROV_MEMORY_RSS, -1), 5);
    assert_int_equal(res_provenance_integer(r, RES_PROV_MEMORY_PEAK, -1), -1);
    assert_int_equal(res_provenance_integer(r, RES_PROV_MEMORY_FILES, -1), -1);
    assert_true(res_provenance_number(r, RES_PROV_MEMORY_RSS) == 5);
    assert_true(isnan(res_provenance_number(r, RES_PROV_HOST_NAME)));
    assert_null(res_provenance(r, RES_PROV_OPTIONS));
    assert_ptr_equal(res_provenance(r, RES_PROV_HOST), json_object_get(r->provenance, "host"));
    res_record_free(r);
}

static void members_are_set_where_their_section_is(void **state)
{
    (void)state;
    res_record *r = res_record_new();
    res_provenance_set(r, RES_PROV_GROUP_PROCESS, json_integer(2)); /* no section: released */
    assert_int_equal(res_group_process(r), 0);
    res_provenance_set(r, RES_PROV_GROUP, json_object());
    res_provenance_set(r, RES_PROV_GROUP_PROCESS, json_integer(2));
    res_provenance_set(r, RES_PROV_GROUP_PROCESS, NULL);
    assert_int_equal(res_group_process(r), 2);
    json_t *wanted = json_pack("{s{si}}", "group", "process", 2);
    assert_true(json_equal(r->provenance, wanted));
    json_decref(wanted);
    res_record_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_path_stands_once_and_texts_have_room),
        cmocka_unit_test(members_of_another_kind_are_unknown),
        cmocka_unit_test(members_are_set_where_their_section_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
