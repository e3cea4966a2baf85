/*
 * test_metrics_read.c - figures of metrics reports written and read, ours and PyTorch/XLA's; and
 * reports of others.
 */
#include "tests/results/metrics/metrics_fixture.h"

/* ---- figures -------------------------------------------------------------------------------- */

static void durations_are_written_and_read(void **state)
{
    (void)state;
    static const struct {
        double ns;
        const char *text;
    } cases[] = {
        {0, "000.000us"},
        {0.4, "000.000us"},
        {1, "000.001us"},
        {999, "000.999us"},
        {1000, "001.000us"},
        {999999.4, "999.999us"},
        {999999.6, "001ms000.000us"},
        {1e6, "001ms000.000us"},
        {45729020, "045ms729.020us"},
        {999999999, "999ms999.999us"},
        {1e9, "01s000ms000.000us"},
        {59999999999.6, "01m00s000ms000.000us"},
        {90e9, "01m30s000ms000.000us"},
        {201100200000, "03m21s100ms200.000us"},
        {3600e9, "01h00m00s000ms000.000us"},
        {86399999999999, "23h59m59s999ms999.999us"},
        {86400e9, "01d00h00m00s000ms000.000us"},
        {8640000e9, "100d00h00m00s000ms000.000us"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const res_metrics_figure figure = res_metrics_figure_of("ns", cases[i].ns);
        const char *at = figure.text, *unit;
        double value;
        assert_string_equal(figure.text, cases[i].text);
        assert_true(res_metrics_figure_read(&at, false, &value, &unit));
        assert_string_equal(unit, "ns");
        assert_string_equal(at, "");
        assert_near(value, round(cases[i].ns), 1e-3);
    }
    assert_string_equal(res_metrics_figure_of("ns", -5).text, "-5.00");
    assert_string_equal(res_metrics_figure_of("ns", 1e16).text, "1e+16");
    assert_string_equal(res_metrics_figure_of("bytes", 0).text, "0.00B");
    assert_string_equal(res_metrics_figure_of("bytes", 1536).text, "1.50KB");
    assert_string_equal(res_metrics_figure_of("bytes", 5e15).text, "4.44PB");
    assert_string_equal(res_metrics_figure_of("nodes", 654).text, "654.00");
}

static void figures_of_others_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
        const char *unit, *rest;
    } good[] = {
        {"10GB", 10737418240.0, "bytes", ""},
        {"12.50", 12.5, "", ""},
        {"001ms45.729us / second", 1045729, "ns", " / second"},
        {"01d01h01m01s01ms01.5us", 90061001001500.0, "ns", ""},
        {"16.8665 / second", 16.8665, "", " / second"},
        {"2ns", 2, "ns", ""},
    };
    static const char *const bad[] = {"",        "x",      "-1us",  "5s3KB", "5s3",
                                      "02s260m", "1us2ms", "1e999", "nan",   "us"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *at = good[i].text, *unit;
        double value;
        assert_true(res_metrics_figure_read(&at, false, &value, &unit));
        assert_near(value, good[i].value, good[i].value * 1e-12);
        assert_string_equal(unit, good[i].unit);
        assert_string_equal(at, good[i].rest);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = bad[i], *unit;
        double value;
        if (res_metrics_figure_read(&at, false, &value, &unit))
            fail_msg("'%s' is %g %s", bad[i], value, unit);
        assert_ptr_equal(at, bad[i]);
    }
}

/* PyTorch/XLA rounds each unit to the nearest, and writes what is left of the time all the same. */
static void rounded_units_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"002ms685.830us", 1685830},
        {"001ms485.830us", 1485830},
        {"02s700ms000.000us", 1700000000},
        {"02s1000ms600.000us", 1999600000},
        {"02m45s500ms600.000us", 105499600000},
        {"002ms1000.000us", 2000000},
        {"000.900us", 900},
        {"12.70", 12.7},
        {"1.50KB", 1536},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = cases[i].text, *unit;
        double value;
        assert_true(res_metrics_figure_read(&at, true, &value, &unit));
        assert_string_equal(at, "");
        assert_near(value, cases[i].value, 1e-3);
    }
}

/* ---- reports ------------------------------------------------------------------------------ */

static json_t *read_text(const char *text)
{
    json_t *metrics = NULL;
    bn_status st = {0};
    if (res_metrics_read(text, strlen(text), &metrics, &st) != BN_OK)
        fail_msg("%s in:\n%s", st.message, text);
    return metrics;
}

static const json_t *metric_of(const json_t *metrics, size_t report, const char *name)
{
    return json_object_get(json_object_get(report_at(metrics, report), "metrics"), name);
}

static const json_t *counter_of(const json_t *metrics, size_t report, const char *name)
{
    return json_object_get(json_object_get(report_at(metrics, report), "counters"), name);
}

/* How much of KIND is left out, and where it begins. */
static void assert_left(const json_t *metrics, const char *kind, int count, int first)
{
    const json_t *left = json_object_get(json_object_get(metrics, "reading"), kind);
    assert_int_equal(json_integer_value(json_object_get(left, "count")), count);
    assert_int_equal(json_integer_value(json_object_get(left, "first_line")), first);
}

static void reports_of_others_are_read(void **state)
{
    (void)state;
    json_t *metrics = read_text("\xef\xbb\xbf"
                                "Metric: CompileTime\r\n"
                                "  TotalSamples: 2\r\n"
                                "  Accumulator: 02s300ms004.005us\n"
                                "  ValueRate: 024ms258.635us / second\n"
                                "  Rate: 16.8665 / second\n"
                                "  Percentiles: 1%=001ms000.000us; 50%=02s000ms000.000us\n"
                                "Metric: OutboundData\n"
                                "  TotalSamples: 3\n"
                                "  Accumulator: 1.50KB\n"
                                "Counter: aten::nonzero\n"
                                "  Value: 33\n"
                                "loss 0.5\n"
                                "  Value: 7\n");
    assert_int_equal(reports_of(metrics), 1);
    const json_t *compile = metric(metrics, "CompileTime");
    assert_near(number(compile, "samples"), 2, 0);
    assert_near(number(compile, "sum"), 2300004005.0, 1e-3);
    assert_near(number(compile, "sum_per_second"), 24258635, 1e-3);
    assert_near(number(compile, "samples_per_second"), 16.8665, 0);
    assert_near(percentile(compile, "50"), 2e9, 0);
    assert_int_equal(json_object_size(json_object_get(compile, "percentiles")), 2);
    assert_near(number(metric(metrics, "OutboundData"), "sum"), 1536, 0);
    assert_near(number(counter(metrics, "aten::nonzero"), "value"), 33, 0);
    assert_left(metrics, "skipped", 2, 12);
    json_decref(metrics);
}

/* Until 2019 the sum of a metric was called "Counter"; later, metrics of the server had a mean; of
 * no samples there is no number. Blanks may be lost or more on the way into a file. */
static void layouts_of_all_years_are_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "Metric: InboundData\n  TotalSamples: 880\n  Counter: 3.50KB\n  Rate: 9.3 / second\n"
        "  Percentiles: 50%=4.00B\nCounter: Cached\n  Value: 1752\n",
        "    Metric: InboundData\n      TotalSamples: 880\n      Counter: 3.50KB\n"
        "      Percentiles: 50%=4.00B\n    Counter: Cached\n      Value: 1752\n",
        "Metric: InboundData\nTotalSamples: 880\nCounter: 3.50KB\nPercentiles: 50%=4.00B\n"
        "Counter: Cached\nValue: 1752\n",
        "Metric: InboundData\n\tTotalSamples: 880\n\tAccumulator: 3.50KB\n\tMean: 4.07B\n"
        "\tStdDev: 1.00B\n\tPercentiles: 25%=4.00B; 50%=4.00B\nCounter: Cached\n\tValue: 1752\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *metrics = read_text(texts[i]);
        const json_t *inbound = metric(metrics, "InboundData");
        assert_int_equal(reports_of(metrics), 1);
        assert_near(number(inbound, "samples"), 880, 0);
        assert_near(number(inbound, "sum"), 3584, 0);
        assert_near(percentile(inbound, "50"), 4, 0);
        assert_int_equal(json_object_size(json_object_get(report_at(metrics, 0), "counters")), 1);
        assert_near(number(counter(metrics, "Cached"), "value"), 1752, 0);
        assert_left(metrics, "skipped", 0, 0);
        assert_left(metrics, "unknown", 0, 0);
        assert_left(metrics, "incomplete", 0, 0);
        json_t *again = read_again(metrics, false), *diff = res_metrics_diff(metrics, again);
        const json_t *pair = json_array_get(json_object_get(diff, "pairs"), 0);
        assert_int_equal(json_array_size(json_object_get(pair, "figures")), 0);
        json_decref(diff);
        json_decref(again);
        json_decref(metrics);
    }
    json_t *metrics = read_text("Metric: Evict\n  TotalSamples: 0\n  Accumulator: nanB\n"
                                "  Mean: nanB\n  StdDev: nanB\n  Percentiles: \n"
                                "Metric: Loss\n  TotalSamples: 1\n  Accumulator: -2.50\n");
    assert_true(json_is_null(json_object_get(metric(metrics, "Evict"), "sum")));
    assert_near(number(metric(metrics, "Loss"), "sum"), -2.5, 0);
    assert_left(metrics, "incomplete", 0, 0);
    json_decref(metrics);
}

#define TIME(name, samples)                                                                        \
    "Metric: " name "\n  TotalSamples: " samples "\n  Accumulator: 001ms000.000us\n"
#define COUNT(name, value) "Counter: " name "\n  Value: " value "\n"

/* Several reports in a text are several, whatever stands between them. */
static void reports_of_a_log_are_not_mixed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int samples[2]; /* of Execute, in each report; 0: it has none */
    } cases[] = {
        {TIME("Execute", "1") COUNT("b", "1") TIME("Execute", "2") COUNT("b", "2"), {1, 2}},
        {TIME("Execute", "1") "step 2\n" TIME("Execute", "2"), {1, 2}},
        {TIME("Execute", "1") "warning\n" TIME("Trace", "9") COUNT("b", "1") TIME("Execute", "2")
             TIME("Trace", "9"),
         {1, 2}},
        /* Entries of the second one alone stand before those of both. */
        {TIME("Execute", "1") COUNT("b", "1") TIME("Compile", "9") TIME("Execute", "2"), {1, 2}},
        {COUNT("b", "1") TIME("Execute", "2") COUNT("a", "2") COUNT("b", "2"), {0, 2}},
        /* Two halves of one report, each with metrics and counters. */
        {TIME("Trace", "1") COUNT("b", "1") TIME("Execute", "1") COUNT("c", "1") TIME("Trace", "2")
             COUNT("b", "2") TIME("Execute", "2") COUNT("c", "2"),
         {1, 2}},
        /* The second one stands deeper. */
        {TIME("Execute", "1") COUNT("b", "1") "    Metric: Execute\n      TotalSamples: 2\n"
                                              "      Counter: 1us\n"
                                              "    Counter: b\n      Value: 2\n",
         {1, 2}},
        {"[MetricsData; step=1]\n" TIME("Execute", "1") "[MetricsData; step=2]\n" TIME(
             "Compile", "9") TIME("Execute", "2"),
         {1, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *metrics = read_text(cases[i].text);
        assert_int_equal(reports_of(metrics), 2);
        for (size_t k = 0; k < 2; k++) {
            const json_t *execute = metric_of(metrics, k, "Execute");
            const int samples = cases[i].samples[k];
            assert_true((execute != NULL) == (samples > 0));
            if (execute)
                assert_near(number(execute, "samples"), samples, 0);
            if (counter_of(metrics, k, "b"))
                assert_near(number(counter_of(metrics, k, "b"), "value"), (double)(k + 1), 0);
        }
        assert_null(metric_of(metrics, 0, "Compile"));
        assert_string_not_equal(json_string_value(json_object_get(report_at(metrics, 0), "title")),
                                json_string_value(json_object_get(report_at(metrics, 1), "title")));
        /* The second one is compared with the second one. */
        json_t *again = read_again(metrics, false), *diff = res_metrics_diff(metrics, again);
        assert_int_equal(json_array_size(json_object_get(diff, "pairs")), 2);
        assert_int_equal(json_array_size(json_object_get(diff, "only_a")), 0);
        json_decref(diff);
        json_decref(again);
        json_decref(metrics);
    }
}

static void what_is_left_out_is_counted(void **state)
{
    (void)state;
    json_t *metrics =
        read_text("epoch 1\n" TIME("Execute", "1") "  Quantum: 5\n"
                                                   "    warnings.warn(text)\n"
                                                   "Metric: accuracy\n"
                                                   "12%|#   \r100%|####\rCounter: b\n  Value: 3\n"
                                                   "Value: 4\nRate: 0.5 it/s\n"
                                                   "Metric: Compile\n  TotalSamples: 2\n");
    assert_left(metrics, "skipped", 5, 1);
    assert_left(metrics, "unknown", 2, 5);
    assert_left(metrics, "incomplete", 2, 7);
    assert_near(number(counter(metrics, "b"), "value"), 3, 0);
    assert_null(metric(metrics, "accuracy"));
    bn_text text = {0};
    json_t *diff = res_metrics_diff(metrics, metrics);
    res_metrics_diff_put(diff, RES_TABLE_TEXT, &text);
    assert_non_null(strstr(text.data, " A: 5 "));
    assert_non_null(strstr(text.data, " B: 2 "));
    assert_int_equal(json_integer_value(json_object_get(
                         json_object_get(json_object_get(diff, "reading_b"), "skipped"), "count")),
                     5);
    bn_text_free(&text);
    json_decref(diff);
    json_decref(metrics);

    /* Where the file ends amid a figure nobody knows how it went on. */
    metrics = read_text(COUNT("a", "1") "Counter: b\n  Value: 17");
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(metrics, "reading"), "unended_line")),
        4);
    json_decref(metrics);
    metrics = read_text(COUNT("a", "1") "done");
    assert_true(json_is_null(json_object_get(json_object_get(metrics, "reading"), "unended_line")));
    json_decref(metrics);
}

static void lines_that_cannot_be_read_are_named(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "TotalSamples: x",
        "TotalSamples: 2.5",
        "TotalSamples: 2 3",
        "TotalSamples: 99999999999999999999",
        "TotalSamples:",
        "Accumulator: 5s3",
        "Accumulator: 1ms oops",
        "Accumulator: 02s260m",
        "Accumulator: x",
        "Rate: 5 / minute",
        "Percentiles: 1%=1us; ",
        "Percentiles: 1%=1us; oops",
        "Percentiles: 1%=1us; 1%=2us",
        "Percentiles: 1=1us",
        "Percentiles: 1%=1us,5%=2us",
        "Accumulator: 1us\n  ValueRate: 1KB / second",
        "TotalSamples: 1\n  TotalSamples: 1",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[300], where[20];
        bn_status st = {0};
        json_t *metrics = NULL;
        snprintf(text, sizeof text, "log\nMetric: m\n  %s\nCounter: b\n  Value: 1\n", bad[i]);
        snprintf(where, sizeof where, "line %d:", strchr(bad[i], '\n') ? 4 : 3);
        if (res_metrics_read(text, strlen(text), &metrics, &st) != BN_FORMAT)
            fail_msg("'%s' is read", bad[i]);
        assert_null(metrics);
        assert_non_null(strstr(st.message, where));
    }
    static const char zero[] = "Counter: b\n  Value: 1\0002\n";
    bn_status st = {0};
    json_t *metrics = NULL;
    assert_int_equal(res_metrics_read(zero, sizeof zero - 1, &metrics, &st), BN_FORMAT);
    assert_non_null(strstr(st.message, "line 2:"));
}

/* In a report without our first line 1.7 ms stand as PyTorch/XLA writes them; printed by bench, it
 * says the same. */
static void times_of_others_are_not_too_long(void **state)
{
    (void)state;
    static const char log[] = "Metric: ExecuteTime\n"
                              "  TotalSamples: 1\n"
                              "  Accumulator: 002ms700.000us\n"
                              "  ValueRate: 02s700ms000.000us / second\n"
                              "  Percentiles: 50%=002ms700.000us; 99%=002ms700.000us\n";
    json_t *metrics;
    bn_status st = {0};
    assert_int_equal(res_metrics_read(log, sizeof log - 1, &metrics, &st), BN_OK);
    json_t *again = read_again(metrics, false);
    json_t *const both[] = {metrics, again};
    for (size_t i = 0; i < 2; i++) {
        const json_t *execute = metric(both[i], "ExecuteTime");
        assert_near(number(execute, "sum"), 1700000, 1e-3);
        assert_near(number(execute, "sum_per_second"), 1.7e9, 1e-3);
        assert_near(percentile(execute, "50"), 1700000, 1e-3);
        assert_near(percentile(execute, "99"), 1700000, 1e-3);
    }
    json_decref(again);
    json_decref(metrics);
}

#define REPORT(members) "{\"kind\": \"metrics\", \"reports\": [{" members "}]}"

static void what_is_no_report_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "epoch 1\nloss 0.5\n",
        "  TotalSamples: 2\n",
        "Metric: \n",
        "{}",
        " {\"kind\": \"metrics\"}",
        "{\"kind\": \"metrics\", \"reports\": 3}",
        "{\"kind\": \"other\", \"reports\": []}",
        "{\"kind\": \"metrics\", \"reports\": [3]}",
        REPORT("\"metrics\": []"),
        REPORT("\"title\": 3"),
        REPORT("\"metrics\": {\"m\": {\"sum\": \"3\"}}"),
        REPORT("\"metrics\": {\"m\": {\"unit\": 3}}"),
        REPORT("\"metrics\": {\"m\": {\"percentiles\": {\"50\": []}}}"),
        REPORT("\"counters\": {\"m\": {\"value\": true}}"),
        REPORT("\"counters\": {\"m\": 3}"),
        REPORT("\"counters\": {\"m\": {\"value\": 1, \"last\": 2}}"),
        REPORT("\"metrics\": {\"m\": {\"sum\": 1, \"median\": 2}}"),
        REPORT("\"counters\": {}") " {}",
        "{\"kind\": "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bn_status st = {0};
        json_t *metrics = NULL;
        assert_int_equal(res_metrics_read(bad[i], strlen(bad[i]), &metrics, &st), BN_FORMAT);
        assert_null(metrics);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_written_and_read),
        cmocka_unit_test(figures_of_others_are_read),
        cmocka_unit_test(rounded_units_are_read),
        cmocka_unit_test(reports_of_others_are_read),
        cmocka_unit_test(layouts_of_all_years_are_read),
        cmocka_unit_test(reports_of_a_log_are_not_mixed),
        cmocka_unit_test(what_is_left_out_is_counted),
        cmocka_unit_test(lines_that_cannot_be_read_are_named),
        cmocka_unit_test(times_of_others_are_not_too_long),
        cmocka_unit_test(what_is_no_report_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
