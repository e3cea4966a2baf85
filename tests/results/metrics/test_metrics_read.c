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
    static const char *const bad[] = {"", "x", "-1us", "5s3KB", "5s3", "1e999", "nan", "us"};
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

/* A report as a program of PyTorch/XLA prints it, twice, between other lines. */
static void reports_of_others_are_read(void **state)
{
    (void)state;
    static const char log[] = "epoch 1\r\n"
                              "Metric: CompileTime\r\n"
                              "  TotalSamples: 1\r\n"
                              "Metric: CompileTime\n"
                              "  TotalSamples: 2\n"
                              "  Accumulator: 02s300ms004.005us\n"
                              "  ValueRate: 024ms258.635us / second\n"
                              "  Rate: 16.8665 / second\n"
                              "  Percentiles: 1%=001ms000.000us; 50%=02s000ms000.000us; oops\n"
                              "Metric: OutboundData\n"
                              "  Accumulator: 1.50KB\n"
                              "Counter: aten::nonzero\n"
                              "  Value: 33\n"
                              "loss 0.5";
    json_t *metrics;
    bn_status st = {0};
    assert_int_equal(res_metrics_read(log, sizeof log - 1, &metrics, &st), BN_OK);
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
    json_decref(metrics);
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

static void what_is_no_report_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "epoch 1\nloss 0.5\n",
                                      "  TotalSamples: 2\n",
                                      "Metric: \n",
                                      "{}",
                                      " {\"kind\": \"metrics\"}",
                                      "{\"kind\": \"metrics\", \"reports\": 3}",
                                      "{\"kind\": \"other\", \"reports\": []}",
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
        cmocka_unit_test(times_of_others_are_not_too_long),
        cmocka_unit_test(what_is_no_report_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
