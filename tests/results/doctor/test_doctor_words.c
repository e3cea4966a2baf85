/*
 * test_doctor_words.c - what the doctor says to do: a remedy of the cause, which the run can take.
 * Needs no plugin.
 */
#include "tests/results/doctor/doctor_fixture.h"

#include "results/tables/tables.h"

/* The doctor's output on S, in FORMAT; the caller frees it. */
static bn_text said(store *s, res_format format)
{
    const res_collection all = {.records = s->records, .count = s->count};
    bn_text out = {0};
    size_t count;
    res_table_doctor(&all, format, &out, &count);
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
    says(&s, "scalar learning_rate: 0.01 -> 0.009, at models/x.c:9. ", "foreign words");
    plant(&s, &p);
    explain(&s, json_pack("{ss si ss}", "rule", "branch", "count", 3, "place", "models/x.c:9"));
    says(&s, res_remedy_for("branch"), "bench explain");
    plant(&s, &p);
    says(&s, "bench explain", res_remedy_for("scalar"));
}

/* ---- reads ------------------------------------------------------------------------------------
 */

/* Steps that read a value, at line 26 of a scope "mask", as far as they tell. */
static store reading(void)
{
    planted p = healthy;
    store s = {.count = 0};
    p.device_ns = 8e6;
    p.part_ns[BN_PART_READ] = 900000;
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = STEPS;
    plant(&s, &p);
    explain(&s, json_pack("{ss si ss ss}", "rule", "read", "count", 10, "place", "models/x.c:26",
                          "scope", "mask"));
    return s;
}

/* The explanation of S tells of RULE, too, once at PLACE of SCOPE. */
static void explain_more(store *s, const char *rule, const char *place, const char *scope)
{
    json_t *explanation = json_object_get(s->records[0]->provenance, "explanation");
    json_array_append_new(
        json_object_get(explanation, "complaints"),
        json_pack("{ss si ss ss}", "rule", rule, "count", 1, "place", place, "scope", scope));
}

static void a_value_that_chooses_a_branch_wants_a_select(void **state)
{
    const char *select = res_remedy_for("branch");
    (void)state;
    store s = reading();
    says(&s, "models/x.c:26 (mask). Read values", select);
    s = reading();
    explain_more(&s, "branch", "models/x.c:26", "mask");
    says(&s, select, " values in some steps");
    /* Another read chooses it. */
    s = reading();
    explain_more(&s, "branch", "models/x.c:26", "layer");
    says(&s, "(mask). Read values in some steps only", "both sides");
    s = reading();
    explain_more(&s, "branch", "models/x.c:62", "mask");
    says(&s, "(mask). Read values in some steps only", "both sides");
    /* One of two reads. */
    s = reading();
    explain_more(&s, "branch", "models/x.c:26", "mask");
    explain_more(&s, "read", "models/x.c:40", "log");
    says(&s, select, "Read values");
    s = reading();
    explain_more(&s, "branch", "models/x.c:26", "mask");
    explain_more(&s, "read", "models/x.c:40", "log");
    says(&s, "(mask) and 1 more", "Read values");
}

/* ---- front ends -------------------------------------------------------------------------------
 */

/* FRONT_END ran the steps of S, and tells that it traced NODES in each. */
static void run_by(store *s, const char *front_end, int nodes)
{
    for (size_t i = 0; i < s->count; i++) {
        res_record *r = s->records[i];
        snprintf(r->experiment.front_end, sizeof r->experiment.front_end, "%s", front_end);
        r->step_counters[BN_COUNTER_NODES_TRACED] = nodes * STEPS;
        json_object_set_new(r->provenance, "front_end",
                            json_pack("{s:f}", "nodes_per_step", (double)nodes));
    }
}

/* Steps in MODE of 10 ms, of which FRONT_END spends 4 ms to trace NODES. */
static store traced_by(const char *front_end, const char *mode, int nodes)
{
    planted p = healthy;
    store s = {.count = 0};
    p.mode = mode;
    p.device_ns = 9.5e6;
    p.part_ns[BN_PART_HASH] = 0;
    p.part_ns[BN_PART_TRACE] = 4000000;
    plant(&s, &p);
    run_by(&s, front_end, nodes);
    return s;
}

/* PyTorch/XLA traces each step in its capture, too. It takes no --in-flight. */
static void a_traced_step_of_pytorch_xla_wants_dynamo(void **state)
{
    (void)state;
    store s = traced_by("pytorch-xla", "lazy", 100);
    says(&s, "(--mode dynamo-step,", "--mode capture");
    s = traced_by("pytorch-xla", "lazy", 100);
    says(&s, "100 nodes takes 4.02 ms", "--in-flight");
    s = traced_by("pytorch-xla", "capture", 100);
    says(&s, "(--mode dynamo-step,", "guards");
    s = traced_by("pytorch-xla", "lazy", 100);
    for (size_t i = 0; i < s.count; i++)
        strcpy(s.records[i]->experiment.phase, "infer");
    says(&s, "(--mode dynamo,", "dynamo-step");
    /* JAX does not trace again what it has captured. */
    s = traced_by("jax", "capture", 0);
    says(&s, "device-bound: ", "1. ");
}

/* ---- overhead -------------------------------------------------------------------------------
 */

/* Steps of 10 ms of which 4 ms are the overhead of an execution, and that read READS values. */
static store with_overhead(int64_t reads)
{
    planted p = healthy;
    store s = {.count = 0};
    p.device_ns = 5e6;
    p.pjrt_more_ns = 4000000;
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = reads * STEPS;
    plant(&s, &p);
    return s;
}

static void steps_in_flight_are_advised_where_they_help(void **state)
{
    (void)state;
    store s = with_overhead(0);
    says(&s, "(--in-flight 2)", "hide nothing");
    s = with_overhead(1);
    says(&s, "(--batch)", "--in-flight");
    s = with_overhead(0);
    run_by(&s, "jax", 0);
    says(&s, "batch)", "--");
}

/* ---- starts -----------------------------------------------------------------------------------
 */

/* Four processes of a run, each of which takes 30 s to compile. FOLDER: --cache-dir; NULL: none. */
static store compiling(const char *folder)
{
    planted p = healthy;
    store s = {.count = 0};
    p.compile_ns = 30000000000;
    plant(&s, &p);
    for (size_t i = 0; i < s.count && folder; i++)
        json_object_set_new(s.records[i]->provenance, "options",
                            json_pack("{ss}", "cache-dir", folder));
    return s;
}

/* The processes behind the first loaded what it compiled. */
static void load(store *s)
{
    for (size_t i = 1; i < s->count; i++) {
        s->records[i]->executions[0].from_disk = true;
        s->records[i]->counters[BN_COUNTER_COMPILES] = 0;
        s->records[i]->counters[BN_COUNTER_DISK_HITS] = 1;
    }
}

static void a_folder_that_was_given_is_not_advised(void **state)
{
    (void)state;
    store s = compiling(NULL);
    load(&s);
    says(&s, " at each start. Keep the executables between starts (--cache-dir)", "first start");
    s = compiling("kept");
    load(&s);
    says(&s, " at the first start. Later starts load the executables from kept (--cache-dir)",
         "each start");
}

static void a_plugin_that_keeps_no_executables_is_reported(void **state)
{
    (void)state;
    store s = compiling("kept");
    says(&s, " at each start. Later processes loaded none from kept (--cache-dir)", "first start");
}

/* Whatever bench was given for its own steps. */
static void a_framework_has_a_cache_of_its_own(void **state)
{
    (void)state;
    store s = compiling("kept");
    run_by(&s, "jax", 0);
    says(&s, "(JAX_COMPILATION_CACHE_DIR", "--cache-dir");
    s = compiling(NULL);
    run_by(&s, "pytorch-xla", 0);
    says(&s, "(torch_xla.runtime.initialize_cache)", "--cache-dir");
}

/* ---- the share of the device ------------------------------------------------------------------
 */

/* Where lengths vary, the device time is of one batch, so none is shown. */
/* The first item of "goodput" in S, which is cleared; the caller's. */
static json_t *goodput_of(store *s)
{
    bn_text out = said(s, RES_TABLE_JSON);
    json_t *all = json_loads(out.data, 0, NULL);
    json_t *one = json_incref(json_array_get(json_object_get(all, "goodput"), 0));
    json_decref(all);
    bn_text_free(&out);
    clear(s);
    s->count = 0;
    return one;
}

static void no_share_is_shown_of_varying_lengths(void **state)
{
    (void)state;
    planted p = healthy;
    store s = {.count = 0};
    p.device_ns = 14e6;
    p.lengths = "varying";
    plant(&s, &p);
    json_t *one = goodput_of(&s);
    assert_true(json_is_null(json_object_get(one, "goodput")));
    assert_string_equal(json_string_value(json_object_get(one, "verdict")), "unknown");
    assert_string_equal(json_string_value(json_object_get(one, "verdict_reason")),
                        "no device time");
    json_decref(one);
    /* Of one bucket it is that of all, and no longer than the step. */
    p.device_ns = 10.1e6;
    p.buckets = 1;
    plant(&s, &p);
    one = goodput_of(&s);
    assert_string_equal(json_string_value(json_object_get(one, "verdict")), "device-bound");
    assert_string_equal(json_string_value(json_object_get(one, "verdict_reason")), "");
    assert_near(json_number_value(json_object_get(one, "goodput")), 1, 1e-9);
    assert_near(json_number_value(json_object_get(one, "goodput_high")), 1, 1e-9);
    json_decref(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_remedy_is_that_of_the_cause),
        cmocka_unit_test(a_value_that_chooses_a_branch_wants_a_select),
        cmocka_unit_test(a_traced_step_of_pytorch_xla_wants_dynamo),
        cmocka_unit_test(steps_in_flight_are_advised_where_they_help),
        cmocka_unit_test(a_folder_that_was_given_is_not_advised),
        cmocka_unit_test(a_plugin_that_keeps_no_executables_is_reported),
        cmocka_unit_test(a_framework_has_a_cache_of_its_own),
        cmocka_unit_test(no_share_is_shown_of_varying_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
