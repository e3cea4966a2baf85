/*
 * test_doctor_words.c - what the doctor says to do: a remedy of the cause, which the run can take.
 * Needs no plugin.
 */
#include "tests/results/findings/doctor_fixture.h"

#include "results/tables/tables.h"

/* What the doctor says of S, in FORMAT; the caller frees it. */
static bn_text said(store *s, res_format format)
{
    const res_collection all = {.records = s->records, .count = s->count};
    bn_text out = {0};
    size_t count;
    res_table_doctor(&all, format, &out, &count);
    assert_false(out.failed);
    return out;
}

/* The doctor says WANTED of S, and UNWANTED not. S is cleared. */
static void says(store *s, const char *wanted, const char *unwanted)
{
    bn_text out = said(s, RES_TABLE_TEXT);
    if (!strstr(out.data, wanted) || strstr(out.data, unwanted))
        fail_msg("no \"%s\", or \"%s\", in:\n%s", wanted, unwanted, out.data);
    bn_text_free(&out);
    clear(s);
}

/* ---- compiles ---------------------------------------------------------------------------------
 */

/* Of the record's own advice nothing is said: anybody may have written it. */
static void the_remedy_is_that_of_the_cause(void **state)
{
    (void)state;
    planted p = healthy;
    store s = {.count = 0};
    p.once_ns[BN_PART_COMPILE] = 100000000;
    p.counters[BN_COUNTER_COMPILES] = 4;
    plant(&s, &p);
    explain(&s, json_pack("{ss si ss ss ss ss ss}", "rule", "scalar", "count", 3, "subject",
                          "learning_rate", "from", "0.01", "to", "0.009", "place", "models/x.c:9",
                          "advice", "foreign words"));
    says(&s,
         "scalar learning_rate: 0.01 -> 0.009, at models/x.c:9. The value is a constant of the "
         "graph: make it a variable that is written before the step.",
         "foreign words");
    plant(&s, &p);
    explain(&s, json_pack("{ss si ss}", "rule", "branch", "count", 3, "place", "models/x.c:9"));
    says(&s, "Compute both sides on the device and select", "keep shapes");
    plant(&s, &p);
    says(&s, "keep shapes, types and branches as they are. bench explain says what changed",
         "a variable that is written");
}

/* ---- the share of the device ------------------------------------------------------------------
 */

/* Where lengths vary, the device time is of one batch, so none is shown. */
static void no_share_is_shown_of_varying_lengths(void **state)
{
    (void)state;
    planted p = healthy;
    store s = {.count = 0};
    p.device_ns = 14e6;
    p.lengths = "varying";
    plant(&s, &p);
    bn_text out = said(&s, RES_TABLE_JSON);
    json_t *all = json_loads(out.data, 0, NULL);
    const json_t *one = json_array_get(json_object_get(all, "goodput"), 0);
    assert_true(json_is_null(json_object_get(one, "goodput")));
    assert_string_equal(json_string_value(json_object_get(one, "verdict")), "unknown");
    json_decref(all);
    bn_text_free(&out);
    says(&s, "What bounds them is not known: bert train capture", "device");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_remedy_is_that_of_the_cause),
        cmocka_unit_test(no_share_is_shown_of_varying_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
