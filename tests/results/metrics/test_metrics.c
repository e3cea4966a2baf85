/*
 * test_metrics.c - the metrics report: its layout as scripts read it, what is in it and what is
 * not, reports read back, and what differs between two.
 */
#include "tests/results/metrics/metrics_fixture.h"

#include <regex.h>

static int begin(void **state)
{
    (void)state;
    res_store_begin();
    return 0;
}

/* ---- the layout ----------------------------------------------------------------------------- */

#define WORD    "([^[:space:]]+)"
#define BLANKS  "[[:space:]]+"
#define MATCHES 13

/* The word that group GROUP of MATCH is, in a static buffer. */
static const char *group_of(const char *text, const regmatch_t *match, size_t group)
{
    static char words[4][100];
    static unsigned next;
    char *word = words[next++ % 4];
    const regmatch_t *m = &match[group];
    snprintf(word, sizeof words[0], "%.*s", (int)(m->rm_eo - m->rm_so), text + m->rm_so);
    return word;
}

/* As torch_xla's readers find metrics: between the accumulator and the percentiles there may be
 * lines, but no capital P, and each metric must have all nine percentiles. */
static void scripts_can_read_the_layout(void **state)
{
    (void)state;
    res_record *record = fixture_record(&fixture_lazy, 40);
    json_t *metrics = made_of(&record, 1);
    bn_text text = {0};
    regex_t metric_rule, counter_rule;
    regmatch_t match[MATCHES];
    size_t found = 0;
    bool traced = false;
    assert_int_equal(regcomp(&metric_rule,
                             "Metric: " WORD BLANKS "TotalSamples: ([0-9]+)" BLANKS
                             "Accumulator: " WORD "[^P]+Percentiles: 1%=" WORD "; 5%=" WORD
                             "; 10%=" WORD "; 20%=" WORD "; 50%=" WORD "; 80%=" WORD "; 90%=" WORD
                             "; 95%=" WORD "; 99%=" WORD,
                             REG_EXTENDED),
                     0);
    assert_int_equal(
        regcomp(&counter_rule, "Counter: " WORD BLANKS "Value: ([0-9]+)", REG_EXTENDED), 0);
    res_metrics_put(metrics, false, &text);
    const char *at = text.data;
    for (; regexec(&metric_rule, at, MATCHES, match, 0) == 0; at += match[0].rm_eo) {
        found++;
        if (strcmp(group_of(at, match, 1), "trace") != 0)
            continue;
        traced = true;
        assert_string_equal(group_of(at, match, 2), "40");
        assert_string_equal(group_of(at, match, 3), "116ms000.000us");
        for (size_t i = 4; i < MATCHES; i++)
            assert_string_equal(group_of(at, match, i), "002ms900.000us");
    }
    assert_true(traced);
    assert_int_equal(found, json_object_size(json_object_get(report_at(metrics, 0), "metrics")));
    for (at = text.data, found = 0; regexec(&counter_rule, at, 3, match, 0) == 0;
         at += match[0].rm_eo) {
        found++;
        assert_int_equal(atoll(group_of(at, match, 2)),
                         (int)number(counter(metrics, group_of(at, match, 1)), "value"));
    }
    assert_int_equal(found, 3);
    assert_non_null(strstr(text.data, "\n  ValueRate: 01s000ms000.000us / second\n"));
    regfree(&metric_rule);
    regfree(&counter_rule);
    bn_text_free(&text);
    json_decref(metrics);
    res_record_free(record);
}

/* ---- what is in a report --------------------------------------------------------------------- */

static void parts_add_up_to_the_steps(void **state)
{
    (void)state;
    res_record *record = fixture_record(&fixture_lazy, 40);
    json_t *metrics = made_of(&record, 1);
    const char *name;
    json_t *item;
    double sum = 0;
    json_object_foreach(json_object_get(report_at(metrics, 0), "metrics"), name, item)
    {
        if (strcmp(name, "StepTime") != 0 && strcmp(name, "CompileTime") != 0 &&
            strcmp(name, "ExecuteTime") != 0 && strcmp(name, "TensorsGraphSize") != 0)
            sum += number(item, "sum");
    }
    assert_near(sum, number(metric(metrics, "StepTime"), "sum"), 1e-3);
    assert_near(number(metric(metrics, "StepTime"), "sum_per_second"), 1e9, 1);
    assert_near(number(metric(metrics, "CompileTime"), "sum"), 2 * 3.24e9, 1);
    assert_near(number(metric(metrics, "CompileTime"), "samples"), 2, 0);
    assert_near(number(metric(metrics, "ExecuteTime"), "samples"), 42, 0);
    assert_near(percentile(metric(metrics, "TensorsGraphSize"), "99"), 654, 0);
    assert_near(number(counter(metrics, "MarkStep"), "value"), 45, 0);
    assert_near(number(counter(metrics, "MarkStep"), "measured_steps"), 40, 0);
    assert_near(number(counter(metrics, "UncachedCompile"), "value"), 2, 0);
    json_decref(metrics);
    res_record_free(record);
}

/* The sample at place floor(p n), never one in between. */
static void percentiles_are_samples(void **state)
{
    (void)state;
    static const char *const names[] = {"1", "5", "10", "20", "50", "80", "90", "95", "99"};
    res_record *record = fixture_record(&fixture_lazy, 1);
    res_execution *x = &record->executions[0];
    record->executions[1].pjrt_count = 0;
    free(x->pjrt_ns);
    x->pjrt_ns = calloc(100, sizeof *x->pjrt_ns);
    assert_non_null(x->pjrt_ns);
    x->pjrt_count = 100;
    for (size_t i = 0; i < 100; i++)
        x->pjrt_ns[i] = (100 - i) * 1000;
    json_t *metrics = made_of(&record, 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_near(percentile(metric(metrics, "ExecuteTime"), names[i]),
                    (atof(names[i]) + 1) * 1000, 0);
        assert_near(percentile(metric(metrics, "StepTime"), names[i]), (double)record->wall_ns[0],
                    0);
    }
    json_decref(metrics);
    res_record_free(record);
}

static void what_was_not_recorded_is_not_there(void **state)
{
    (void)state;
    res_record *record = fixture_record(&fixture_lazy, 10);
    json_t *metrics = made_of(&record, 1);
    /* Nothing was sent in a step: the input part is no transfer. */
    assert_non_null(metric(metrics, "input"));
    assert_null(metric(metrics, "TransferToDeviceTime"));
    assert_null(metric(metrics, "compile"));
    assert_null(counter(metrics, "GuardMiss"));
    json_decref(metrics);

    record->step_counters[BN_COUNTER_TRANSFERS_TO_DEVICE] = 10;
    record->executions[0].from_disk = true;
    record->executions[1].compile_ns = 0;
    strcpy(record->experiment.mode, "eager");
    record->part_ns[3 * BN_PART_COUNT + BN_PART_TRACE] = 0;
    metrics = made_of(&record, 1);
    assert_null(metric(metrics, "input"));
    assert_near(number(metric(metrics, "TransferToDeviceTime"), "sum"), 10 * 150000, 0);
    assert_null(metric(metrics, "CompileTime"));
    assert_null(metric(metrics, "TensorsGraphSize"));
    assert_near(number(metric(metrics, "trace"), "samples"), 9, 0);
    json_decref(metrics);

    /* An import knows the wall times. */
    for (size_t i = 0; i < 10 * BN_PART_COUNT; i++)
        record->part_ns[i] = i % BN_PART_COUNT == BN_PART_OTHER ? 7 : 0;
    assert_int_equal(res_record_reserve_executions(record, 0, NULL), BN_OK);
    memset(record->counters, 0, sizeof record->counters);
    metrics = made_of(&record, 1);
    assert_int_equal(json_object_size(json_object_get(report_at(metrics, 0), "metrics")), 1);
    assert_non_null(metric(metrics, "StepTime"));
    assert_int_equal(json_object_size(json_object_get(report_at(metrics, 0), "counters")), 0);
    json_decref(metrics);

    record->status = BN_CRASH;
    metrics = made_of(&record, 1);
    bn_text text = {0};
    res_metrics_put(metrics, false, &text);
    assert_int_equal(reports_of(metrics), 0);
    assert_string_equal(text.data, "# no report: no process has succeeded\n");
    bn_text_free(&text);
    json_decref(metrics);
    res_record_free(record);
}

static void processes_of_an_experiment_are_pooled(void **state)
{
    (void)state;
    res_record *records[3];
    for (size_t i = 0; i < 3; i++)
        records[i] = fixture_record(&fixture_lazy, 10);
    strcpy(records[1]->experiment.mode, "capture");
    json_t *metrics = made_of(records, 3);
    assert_int_equal(reports_of(metrics), 2);
    assert_near(number(report_at(metrics, 0), "processes"), 2, 0);
    assert_near(number(report_at(metrics, 0), "steps"), 20, 0);
    assert_near(number(report_at(metrics, 1), "processes"), 1, 0);
    assert_near(number(metric(metrics, "StepTime"), "samples"), 20, 0);
    assert_near(number(metric(metrics, "StepTime"), "sum_per_second"), 1e9, 1);
    assert_near(number(counter(metrics, "UncachedCompile"), "value"), 4, 0);
    json_decref(metrics);
    for (size_t i = 0; i < 3; i++)
        res_record_free(records[i]);
}

/* Otherwise a difference would take one for the other. */
static void reports_of_two_layouts_have_two_titles(void **state)
{
    (void)state;
    res_record *records[2] = {fixture_record(&fixture_lazy, 10), fixture_record(&fixture_lazy, 10)};
    strcpy(records[1]->experiment.layout, "nchw");
    json_t *metrics = made_of(records, 2), *diff = res_metrics_diff(metrics, metrics);
    assert_int_equal(reports_of(metrics), 2);
    assert_int_equal(json_array_size(json_object_get(diff, "pairs")), 2);
    json_decref(diff);
    json_decref(metrics);
    res_record_free(records[0]);
    res_record_free(records[1]);
}

/* The set-up's words for what the title of a job leaves out, and a seed. */
static void a_title_says_what_jobs_do_not(void **state)
{
    (void)state;
    res_record *record = fixture_record(&fixture_lazy, 10);
    res_experiment *e = &record->experiment;
    for (int i = 0; i < 3; i++) {
        static const char *const ends[] = {", nhwc", ", nchw, jitter=0.1, seed 7", ""};
        strcpy(e->layout, i == 0 ? "nhwc" : i == 1 ? "nchw" : "");
        strcpy(e->settings, i == 1 ? "jitter=0.1" : "");
        e->seed = i == 1 ? 7 : 1;
        json_t *metrics = made_of(&record, 1);
        bn_text wanted = {0};
        res_experiment_title(e, &wanted);
        bn_text_puts(&wanted, ends[i]);
        assert_string_equal(json_string_value(json_object_get(report_at(metrics, 0), "title")),
                            wanted.data);
        bn_text_free(&wanted);
        json_decref(metrics);
    }
    res_record_free(record);
}

/* As PyTorch/XLA counts ops without a lowering. */
static void ops_of_the_host_are_counters(void **state)
{
    (void)state;
    res_record *list[2] = {fixture_record(&fixture_lazy, 5), fixture_record(&fixture_lazy, 5)};
    strcpy(list[1]->id, "20260102T020000.000000000Z-host-1-0");
    json_object_set_new(list[0]->provenance, "host_ops", json_pack("{si}", "nonzero", 30));
    json_object_set_new(list[1]->provenance, "host_ops",
                        json_pack("{si si}", "nonzero", 3, "unique", 2));
    json_t *metrics = made_of(list, 2);
    assert_near(number(counter(metrics, "aten::nonzero"), "value"), 33, 0);
    assert_near(number(counter(metrics, "aten::unique"), "value"), 2, 0);
    json_decref(metrics);
    res_record_free(list[0]);
    res_record_free(list[1]);
}

/* An op of the host computes in the input part, and sends its result there. */
static void what_ops_of_the_host_send_is_no_batch(void **state)
{
    (void)state;
    res_record *record = fixture_record(&fixture_lazy, 10);
    record->step_counters[BN_COUNTER_HOST_FALLBACKS] = 10;
    record->step_counters[BN_COUNTER_TRANSFERS_TO_DEVICE] = 10;
    json_t *metrics = made_of(&record, 1);
    assert_near(number(metric(metrics, "input"), "sum"), 10 * 150000, 0);
    assert_null(metric(metrics, "TransferToDeviceTime"));
    json_decref(metrics);
    /* A batch with it. */
    record->step_counters[BN_COUNTER_TRANSFERS_TO_DEVICE] = 20;
    metrics = made_of(&record, 1);
    assert_null(metric(metrics, "input"));
    assert_near(number(metric(metrics, "TransferToDeviceTime"), "sum"), 10 * 150000, 0);
    json_decref(metrics);
    res_record_free(record);
}

/* By PyTorch/XLA's name; ops of the host, and what bench reads for the record, are not among them.
 */
static void values_that_steps_read_are_counted(void **state)
{
    (void)state;
    static const char name[] = "aten::_local_scalar_dense";
    res_record *list[2] = {fixture_record(&fixture_lazy, 5), fixture_record(&fixture_lazy, 5)};
    json_t *metrics = made_of(list, 2);
    assert_null(counter(metrics, name));
    json_decref(metrics);

    for (size_t i = 0; i < 2; i++) {
        list[i]->counters[BN_COUNTER_TRANSFERS_TO_HOST] = 11;
        list[i]->counters[BN_COUNTER_HOST_FALLBACKS] = 10;
        list[i]->step_counters[BN_COUNTER_TRANSFERS_TO_HOST] = 5;
        list[i]->step_counters[BN_COUNTER_HOST_FALLBACKS] = 5;
    }
    metrics = made_of(list, 2);
    assert_null(counter(metrics, name));
    assert_near(number(counter(metrics, "TransferFromDevice"), "value"), 22, 0);
    json_decref(metrics);

    /* Ten reads more, five of them in measured steps. The second record has no loss. */
    list[0]->counters[BN_COUNTER_TRANSFERS_TO_HOST] = 21;
    list[0]->step_counters[BN_COUNTER_TRANSFERS_TO_HOST] = 10;
    list[1]->counters[BN_COUNTER_TRANSFERS_TO_HOST] = 20;
    list[1]->step_counters[BN_COUNTER_TRANSFERS_TO_HOST] = 10;
    list[1]->loss = (double)NAN;
    metrics = made_of(list, 2);
    assert_near(number(counter(metrics, name), "value"), 20, 0);
    assert_near(number(counter(metrics, name), "measured_steps"), 10, 0);
    assert_near(number(counter(metrics, "HostFallback"), "value"), 20, 0);
    json_decref(metrics);
    res_record_free(list[0]);
    res_record_free(list[1]);
}

/* A record of others may count up to 2^53. */
static void sums_of_counters_have_an_end(void **state)
{
    (void)state;
    enum { MANY = 1025 };
    res_record *records[MANY], *one = fixture_record(&fixture_lazy, 3);
    one->counters[BN_COUNTER_COMPILES] = INT64_C(1) << 53;
    for (size_t i = 0; i < MANY; i++)
        records[i] = one;
    json_t *metrics = made_of(records, MANY);
    assert_int_equal(reports_of(metrics), 1);
    assert_near(number(report_at(metrics, 0), "processes"), MANY, 0);
    assert_near(number(counter(metrics, "UncachedCompile"), "value"), (double)INT64_MAX, 0);
    json_decref(metrics);
    res_record_free(one);
}

static void every_counter_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < BN_COUNTER_COUNT; i++) {
        assert_non_null(res_metrics_counter((bn_counter)i));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(res_metrics_counter((bn_counter)i),
                                    res_metrics_counter((bn_counter)k));
    }
}

/* ---- read back, and compared -------------------------------------------------------------------
 */

static void nothing_is_lost_on_the_way(void **state)
{
    (void)state;
    res_record *records[2] = {fixture_record(&fixture_lazy, 30), fixture_record(&fixture_lazy, 30)};
    strcpy(records[1]->experiment.mode, "capture");
    json_t *metrics = made_of(records, 2);
    for (int as_json = 0; as_json < 2; as_json++) {
        json_t *again = read_again(metrics, as_json);
        json_t *diff = res_metrics_diff(metrics, again);
        const json_t *pairs = json_object_get(diff, "pairs");
        assert_int_equal(json_array_size(pairs), 2);
        for (size_t i = 0; i < 2; i++) {
            const json_t *pair = json_array_get(pairs, i);
            assert_int_equal(json_array_size(json_object_get(pair, "figures")), 0);
            /* Three of each metric, one of each counter. */
            assert_near(
                number(pair, "same"),
                3 * (double)json_object_size(json_object_get(report_at(metrics, i), "metrics")) + 3,
                0);
        }
        json_decref(diff);
        json_decref(again);
    }
    json_decref(metrics);
    res_record_free(records[0]);
    res_record_free(records[1]);
}

static const json_t *figure_of(const json_t *diff, const char *name, const char *figure)
{
    const json_t *figures =
        json_object_get(json_array_get(json_object_get(diff, "pairs"), 0), "figures");
    for (size_t i = 0; i < json_array_size(figures); i++) {
        const json_t *row = json_array_get(figures, i);
        if (strcmp(json_string_value(json_object_get(row, "name")), name) == 0 &&
            strcmp(json_string_value(json_object_get(row, "figure")), figure) == 0)
            return row;
    }
    return NULL;
}

static void differences_are_reported(void **state)
{
    (void)state;
    res_record *a = fixture_record(&fixture_lazy, 10), *b = fixture_record(&fixture_lazy, 10);
    strcpy(b->experiment.mode, "capture");
    b->counters[BN_COUNTER_COMPILES] = 5;
    b->counters[BN_COUNTER_GUARD_MISSES] = 3;
    b->executions[0].compile_ns += 1000000;
    for (size_t step = 0; step < 10; step++)
        b->part_ns[step * BN_PART_COUNT + BN_PART_TRACE] = 0;
    json_t *of_a = made_of(&a, 1), *of_b = made_of(&b, 1), *diff = res_metrics_diff(of_a, of_b);
    const json_t *row = figure_of(diff, "UncachedCompile", "value");
    assert_near(number(row, "a"), 2, 0);
    assert_near(number(row, "b"), 5, 0);
    assert_near(number(row, "difference"), 3, 0);
    assert_near(number(row, "ratio"), 2.5, 0);
    row = figure_of(diff, "GuardMiss", "value");
    assert_true(json_is_null(json_object_get(row, "a")));
    assert_true(json_is_null(json_object_get(row, "difference")));
    assert_near(number(row, "b"), 3, 0);
    assert_near(number(figure_of(diff, "CompileTime", "sum"), "difference"), 1e6, 0);
    assert_null(figure_of(diff, "CompileTime", "samples"));
    assert_true(json_is_null(json_object_get(figure_of(diff, "trace", "samples"), "b")));
    assert_null(figure_of(diff, "MarkStep", "value"));
    bn_text text = {0};
    res_metrics_diff_put(diff, RES_TABLE_TEXT, &text);
    assert_non_null(strstr(text.data, "A: resnet50"));
    assert_non_null(strstr(text.data, "+001ms000.000us"));
    assert_non_null(strstr(text.data, "2.500"));
    assert_non_null(strstr(text.data, "the same: "));
    bn_text_free(&text);
    json_decref(diff);

    /* Of several reports those of one title are a pair. */
    res_record *both[2] = {a, b};
    json_t *of_both = made_of(both, 2);
    diff = res_metrics_diff(of_both, of_b);
    assert_int_equal(json_array_size(json_object_get(diff, "pairs")), 1);
    assert_int_equal(json_array_size(json_object_get(diff, "only_a")), 1);
    assert_int_equal(json_array_size(json_object_get(diff, "only_b")), 0);
    assert_string_equal(json_string_value(json_array_get(json_object_get(diff, "only_a"), 0)),
                        json_string_value(json_object_get(report_at(of_a, 0), "title")));
    json_decref(diff);
    json_decref(of_both);
    json_decref(of_a);
    json_decref(of_b);
    res_record_free(a);
    res_record_free(b);
}

static json_t *log_of(const char *sum)
{
    char text[200];
    json_t *metrics;
    bn_status st = {0};
    snprintf(text, sizeof text, "Metric: InboundData\n  TotalSamples: 7\n  Accumulator: %s\n", sum);
    assert_int_equal(res_metrics_read(text, strlen(text), &metrics, &st), BN_OK);
    return metrics;
}

/* A metric of one name may be bytes in one report and a time in the other. */
static void figures_of_two_units_have_no_difference(void **state)
{
    (void)state;
    json_t *bytes = log_of("1.50KB"), *time = log_of("001ms000.000us"), *plain = log_of("12.00");
    json_t *diff = res_metrics_diff(bytes, time);
    const json_t *row = figure_of(diff, "InboundData", "sum");
    assert_string_equal(json_string_value(json_object_get(row, "unit")), "bytes");
    assert_near(number(row, "a"), 1536, 0);
    assert_true(json_is_null(json_object_get(row, "b")));
    assert_true(json_is_null(json_object_get(row, "ratio")));
    const json_t *figures =
        json_object_get(json_array_get(json_object_get(diff, "pairs"), 0), "figures");
    /* Samples and sum of each. */
    assert_int_equal(json_array_size(figures), 4);
    row = json_array_get(figures, 3);
    assert_string_equal(json_string_value(json_object_get(row, "unit")), "ns");
    assert_near(number(row, "b"), 1000000, 0);
    json_decref(diff);

    diff = res_metrics_diff(bytes, plain);
    assert_near(number(figure_of(diff, "InboundData", "sum"), "b"), 12, 0);
    assert_null(figure_of(diff, "InboundData", "samples"));
    json_decref(diff);
    json_decref(bytes);
    json_decref(time);
    json_decref(plain);
}

/* Counters may be negative, and larger than what doubles tell apart. */
static void whole_numbers_are_compared_as_such(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b, *row;
    } cases[] = {{"9007199254740992", "9007199254740993", " 9007199254740993     +1 "},
                 {"7", "-7", " 7  -7    -14 "},
                 {"-7", "-7", NULL},
                 {"-9223372036854775808", "9223372036854775807", " +1.84467440737096e+19 "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *sides[2];
        bn_text out = {0};
        for (size_t side = 0; side < 2; side++) {
            char text[100];
            bn_status st = {0};
            snprintf(text, sizeof text, "Counter: c\n  Value: %s\n",
                     side ? cases[i].b : cases[i].a);
            assert_int_equal(res_metrics_read(text, strlen(text), &sides[side], &st), BN_OK);
        }
        json_t *diff = res_metrics_diff(sides[0], sides[1]);
        res_metrics_diff_put(diff, RES_TABLE_TEXT, &out);
        assert_int_equal(figure_of(diff, "c", "value") == NULL, cases[i].row == NULL);
        if (cases[i].row && !strstr(out.data, cases[i].row))
            fail_msg("%s", out.data);
        bn_text_free(&out);
        json_decref(diff);
        json_decref(sides[0]);
        json_decref(sides[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_can_read_the_layout),
        cmocka_unit_test(parts_add_up_to_the_steps),
        cmocka_unit_test(percentiles_are_samples),
        cmocka_unit_test(what_was_not_recorded_is_not_there),
        cmocka_unit_test(processes_of_an_experiment_are_pooled),
        cmocka_unit_test(reports_of_two_layouts_have_two_titles),
        cmocka_unit_test(a_title_says_what_jobs_do_not),
        cmocka_unit_test(ops_of_the_host_are_counters),
        cmocka_unit_test(what_ops_of_the_host_send_is_no_batch),
        cmocka_unit_test(values_that_steps_read_are_counted),
        cmocka_unit_test(sums_of_counters_have_an_end),
        cmocka_unit_test(every_counter_has_a_name),
        cmocka_unit_test(nothing_is_lost_on_the_way),
        cmocka_unit_test(differences_are_reported),
        cmocka_unit_test(figures_of_two_units_have_no_difference),
        cmocka_unit_test(whole_numbers_are_compared_as_such),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
