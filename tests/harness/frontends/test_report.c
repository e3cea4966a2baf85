/*
 * test_report.c - the table of front ends, what a script is asked, and what of its answer is
 * believed.
 */
#include "harness/frontends/frontends.h"
#include "tests/support/test_runtime.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static res_experiment asked_for(void)
{
    res_experiment e;
    res_experiment_usual(&e);
    strcpy(e.model, "resnet18");
    strcpy(e.mode, "capture");
    strcpy(e.front_end, "jax");
    e.batch = 2;
    return e;
}

#define ANSWER                                                                                     \
    "{\"front_end\": \"jax\", \"framework\": \"JAX\", \"versions\": {\"jax\": \"0.1\"}, "          \
    "\"python\": \"3.11\", \"flags\": {}, "                                                        \
    "\"model\": \"resnet18\", \"phase\": \"train\", \"mode\": \"capture\", \"what\": \"one "       \
    "jit\", "                                                                                      \
    "\"losses\": [2.5, 2.4, 2.3], \"warmup_steps\": 3, \"nodes_per_step\": null, "                 \
    "\"trace_ns_per_step\": 12.5, \"measured\": {\"first_start_ns\": 1000, "                       \
    "\"last_end_ns\": 2000, \"wall_ns\": [300, 310, 320]}}"

/* Parses the answer with OLD replaced by NEW. */
static bn_code parse(const char *old, const char *new, bool values, frontend_report *report,
                     bn_status *st)
{
    const res_experiment what = asked_for();
    const frontend_request request = {.what = &what, .values = values};
    bn_text text = {0};
    const char *at = old ? strstr(ANSWER, old) : NULL;
    assert_true(!old || at);
    if (at)
        bn_text_printf(&text, "%.*s%s%s", (int)(at - ANSWER), ANSWER, new, at + strlen(old));
    else
        bn_text_puts(&text, ANSWER);
    bn_code code =
        frontend_report_parse(text.data, text.length, frontend_named("jax"), &request, report, st);
    bn_text_free(&text);
    return code;
}

static void each_row_has_a_folder(void **state)
{
    (void)state;
    const frontend_info *row;
    for (size_t i = 0; (row = frontend_at(i)); i++) {
        char command[128], mode[RES_TEXT];
        assert_ptr_equal(frontend_named(row->name), row);
        frontend_command(row, command, sizeof command);
        assert_non_null(strstr(command, row->name));
        for (size_t m = 0; res_axis_word(row->modes, m, mode); m++) {
            assert_true(strlen(mode) < sizeof((res_experiment *)NULL)->mode);
            assert_true(frontend_has_mode(row, mode, "train"));
        }
    }
    assert_null(frontend_named("bench"));
    assert_true(frontend_has_mode(frontend_named("jax"), "parts", NULL));
    assert_false(frontend_has_mode(frontend_named("jax"), "parts", "infer"));
    assert_false(frontend_has_mode(frontend_named("jax"), "lazy", NULL));
    assert_true(frontend_has_mode(frontend_named("jax"), "capture", "decode"));
    assert_false(frontend_has_mode(frontend_named("jax"), "parts", "decode"));
    assert_false(frontend_has_mode(frontend_named("pytorch-xla"), "lazy", "decode"));
}

static void requests_have_each_member(void **state)
{
    (void)state;
    const res_experiment what = asked_for();
    const frontend_request request = {.what = &what,
                                      .optimizer = "sgd",
                                      .learning_rate = 0.01,
                                      .dropout = true,
                                      .steps = 6,
                                      .warmup = 60,
                                      .min_time = 1.5,
                                      .weights = "/w",
                                      .inputs = "/i",
                                      .report = "/r"};
    json_t *json = frontend_request_to_json(&request);
    assert_non_null(json);
    assert_int_equal(json_object_size(json), 20);
    assert_int_equal(json_integer_value(json_object_get(json, "context")), 0);
    assert_int_equal(json_integer_value(json_object_get(json, "batch")), 2);
    assert_true(json_is_true(json_object_get(json, "dropout")));
    assert_true(json_is_false(json_object_get(json, "values")));
    assert_string_equal(json_string_value(json_object_get(json, "mode")), "capture");
    json_decref(json);
}

static void a_whole_answer_is_taken(void **state)
{
    (void)state;
    frontend_report report;
    bn_status st = {0};
    assert_ok(parse(NULL, NULL, false, &report, &st), &st);
    assert_int_equal(report.loss_count, 3);
    assert_true(report.losses[2] == 2.3);
    assert_int_equal(report.first_start_ns, 1000);
    assert_int_equal(report.last_end_ns, 2000);
    assert_int_equal(report.steps, 3);
    assert_true(report.own_median_ns == 310);
    assert_int_equal(report.warmup_steps, 3);
    assert_true(isnan(report.nodes_per_step) && report.trace_ns_per_step == 12.5);
    json_t *kept = frontend_report_provenance(&report);
    assert_true(json_is_null(json_object_get(kept, "nodes_per_step")));
    assert_string_equal(json_string_value(json_object_get(kept, "what")), "one jit");
    assert_int_equal(json_integer_value(json_object_get(kept, "measured_steps")), 3);
    json_decref(kept);
    frontend_report_free(&report);
}

/* Each is BN_FORMAT, and the message names the front end and the member. */
static void other_answers_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *old, *new, *says;
    } rows[] = {
        {"\"front_end\": \"jax\"", "\"front_end\": \"pytorch-xla\"", "front_end"},
        {"\"front_end\": \"jax\"", "\"front_end\": 7", "front_end"},
        {"\"model\": \"resnet18\"", "\"model\": \"resnet50\"", "resnet50"},
        {"\"phase\": \"train\"", "\"phase\": \"infer\"", "phase"},
        {"\"mode\": \"capture\"", "\"mode\": \"eager\"", "mode"},
        {"\"what\": \"one jit\", ", "", "what"},
        {"\"python\": \"3.11\"", "\"python\": \"\"", "python"},
        {"{\"jax\": \"0.1\"}", "{\"jax\": 1}", "versions"},
        {"{\"jax\": \"0.1\"}", "[]", "versions"},
        {"\"flags\": {}", "\"flags\": 3", "flags"},
        {"\"flags\": {}", "\"deviations\": 3, \"flags\": {}", "deviations"},
        {"\"flags\": {}", "\"deviations\": [\"no name\"], \"flags\": {}", "deviations"},
        {"\"model\"", "\"dropout\": true, \"model\"", "dropout"},
        {"[2.5, 2.4, 2.3]", "[2.5, 2.4, 2.3, 2.2]", "losses"},
        {"[2.5, 2.4, 2.3]", "[]", "losses"},
        {"[2.5, 2.4, 2.3]", "[\"a\"]", "losses"},
        {"\"nodes_per_step\": null", "\"nodes_per_step\": -1", "nodes_per_step"},
        {"\"nodes_per_step\": null", "\"nodes_per_step\": \"7\"", "nodes_per_step"},
        {"\"nodes_per_step\": null", "\"nodes_once\": -1", "nodes_once"},
        {"\"warmup_steps\": 3", "\"warmup_steps\": -3", "warmup_steps"},
        {"\"first_start_ns\": 1000", "\"first_start_ns\": 2000", "measured"},
        {"\"first_start_ns\": 1000", "\"first_start_ns\": -1", "first_start_ns"},
        {"[300, 310, 320]", "[300, 310, 520]", "wall_ns"},
        {"[300, 310, 320]", "[300, -310, 320]", "wall_ns"},
        {"[300, 310, 320]", "[300, 0.5]", "wall_ns"},
        {"[300, 310, 320]", "[]", "wall_ns"},
        {"\"what\"", "\"what\": \"two\", \"what\"", "not JSON"},
        {"{\"front_end\"", "[{\"front_end\"", "not JSON"},
        {"\"what\"", "\"error\": {}, \"what\"", "error"},
        {"\"what\"", "\"error\": {\"class\": \"odd\", \"message\": \"m\"}, \"what\"", "error"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        frontend_report report;
        bn_status st = {0};
        const bn_code code = parse(rows[i].old, rows[i].new, false, &report, &st);
        if (code != BN_FORMAT || !strstr(st.message, rows[i].says))
            fail_msg("%s: code %d, '%s'", rows[i].new, code, st.message);
        assert_non_null(strstr(st.message, "jax"));
        frontend_report_free(&report);
    }
}

static void failures_have_classes(void **state)
{
    (void)state;
    static const struct {
        const char *class;
        bn_code code;
    } rows[] = {{"not_installed", BN_NOT_FOUND},
                {"not_supported", BN_NOT_SUPPORTED},
                {"values", BN_WRONG_RESULT},
                {"runtime", BN_EXECUTE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        frontend_report report;
        bn_status st = {0};
        char text[128];
        snprintf(text, sizeof text,
                 "\"error\": {\"class\": \"%s\", \"message\": \"why\"}, \"what\"", rows[i].class);
        assert_int_equal(parse("\"what\"", text, false, &report, &st), rows[i].code);
        assert_non_null(strstr(st.message, "jax: why"));
        assert_int_equal(strstr(st.message, "make frontends") != NULL,
                         rows[i].code == BN_NOT_FOUND);
        frontend_report_free(&report);
    }
}

/* Where values are asked for there are no times. */
static void values_need_no_times(void **state)
{
    (void)state;
    frontend_report report;
    bn_status st = {0};
    assert_ok(parse("\"measured\"", "\"another\"", true, &report, &st), &st);
    assert_int_equal(report.steps, 0);
    frontend_report_free(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_has_a_folder),   cmocka_unit_test(requests_have_each_member),
        cmocka_unit_test(a_whole_answer_is_taken), cmocka_unit_test(other_answers_are_refused),
        cmocka_unit_test(failures_have_classes),   cmocka_unit_test(values_need_no_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
