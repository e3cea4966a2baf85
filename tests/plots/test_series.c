/*
 * test_series.c - pictures of plain series: distributions of two sides, lines, panels, and
 * histories with their changes.
 */
#include "tests/plots/plots_fixture.h"

static void distribution_has_every_step(void **state)
{
    (void)state;
    const uint64_t a1[] = {5000, 1000, 3000}, a2[] = {2000, 4000}, b1[] = {9000, 8000};
    const uint64_t *const sa[] = {a1, a2}, *const sb[] = {b1};
    const size_t ca[] = {3, 2}, cb[] = {2};
    const plot_side a = {sa, ca, 2, NULL}, b = {sb, cb, 1, NULL};
    const plot_words words = {"A and B", "known", "SIMULATED DEVICE"};
    plot p = {0};
    assert_int_equal(plot_distribution(&words, "old", &a, "new", &b, &p, NULL), BN_OK);
    char *left = block(&p, "a"), *right = block(&p, "b"), *processes = block(&p, "a_processes");
    assert_string_equal(left, "1000.0 0\n1000.0 0.200000\n2000.0 0.400000\n3000.0 0.600000\n"
                              "4000.0 0.800000\n5000.0 1.000000\n");
    assert_string_equal(right, "8000.0 0\n8000.0 0.500000\n9000.0 1.000000\n");
    assert_string_equal(processes, "3000.0 -0.090\n3000.0 -0.090\n");
    assert_has(p.script.data, "with steps");
    assert_has(p.description.data, "A: old, median of all 5 steps 3.00 µs (2 processes)");
    free(left);
    free(right);
    free(processes);
    plot_free(&p);
    const size_t empty[] = {0, 0};
    const plot_side nothing = {sa, empty, 2, NULL};
    bn_status st = {0};
    assert_int_equal(plot_distribution(&words, "old", &nothing, "new", &b, &p, &st), BN_NOT_FOUND);
    assert_null(p.script.data);
}

static void history_has_points_and_changes(void **state)
{
    (void)state;
    const plot_point points[] = {
        {1700000000, 10e6, 9e6, 11e6, "one"},
        {1700086400, 12e6, UNKNOWN, UNKNOWN, "two"},
        {1700172800, 20e6, 19e6, 21e6, "it's " HOSTILE},
        {1700259200, 22e6, 21e6, 23e6, NULL},
    };
    const size_t changes[] = {2};
    const plot_words words = {"history", NULL, NULL};
    plot p = {0};
    assert_int_equal(plot_history(&words, "median step", points, 4, changes, 1, &p, NULL), BN_OK);
    char *data = block(&p, "points"), *stretches = block(&p, "stretches");
    assert_string_equal(data, "1700000000 10000000.0 9000000.0 11000000.0\n"
                              "1700086400 12000000.0 12000000.0 12000000.0\n"
                              "1700172800 20000000.0 19000000.0 21000000.0\n"
                              "1700259200 22000000.0 21000000.0 23000000.0\n");
    assert_string_equal(stretches, "1700000000 11000000.0\n1700172800 11000000.0\n\n"
                                   "1700172800 21000000.0\n1700259200 21000000.0\n\n");
    assert_has(p.script.data, "\"it\\047s a\\047b\\042<i>&\\140touch x\\140\\100t");
    assert_has(p.description.data, "from 11.0 ms to 21.0 ms");
    free(data);
    free(stretches);
    plot_free(&p);
    const size_t wrong[][2] = {{0, 0}, {4, 0}, {2, 2}};
    for (size_t i = 0; i < 3; i++) {
        bn_status st = {0};
        assert_int_equal(
            plot_history(&words, "median step", points, 4, wrong[i], i == 2 ? 2 : 1, &p, &st),
            BN_INVALID);
    }
    const plot_point back[] = {points[1], points[0]};
    assert_int_equal(plot_history(&words, "median step", back, 2, NULL, 0, &p, NULL), BN_INVALID);
}

/* Nights without a value are left out, and changes move with it. */
static void timeline_skips_gaps(void **state)
{
    (void)state;
    const res_experiment what = {.model = "resnet18", .phase = "train", .mode = "lazy"};
    res_night nights[] = {{.time_s = 1700000000, .value = UNKNOWN},
                          {.time_s = 1700086400, .value = 3e6, .low = 2e6, .high = 4e6},
                          {.time_s = 1700172800, .value = UNKNOWN},
                          {.time_s = 1700259200, .value = 6e6, .low = 5e6, .high = 7e6}};
    res_origin origin = {.sha256 = "cafe", .label = "commit-7"};
    res_stretch stretches[] = {{.first = 0, .end = 3}, {.first = 3, .end = 4}};
    const res_timeline series = {.experiment = &what,
                                 .simulated = true,
                                 .nights = nights,
                                 .count = 4,
                                 .stretches = stretches,
                                 .stretch_count = 2};
    plot p = {0};
    for (int i = 0; i < 4; i++)
        nights[i].settings = "";
    nights[3].origin = &origin;
    assert_int_equal(plot_timeline(&series, RES_METRIC_DEVICE, &p, NULL), BN_OK);
    char *data = block(&p, "points"), *levels = block(&p, "stretches");
    assert_string_equal(data, "1700086400 3000000.0 2000000.0 4000000.0\n"
                              "1700259200 6000000.0 5000000.0 7000000.0\n");
    assert_string_equal(levels, "1700086400 3000000.0\n1700259200 3000000.0\n\n"
                                "1700259200 6000000.0\n1700259200 6000000.0\n\n");
    assert_has(p.script.data, "set ylabel 'device time of a step (ms)'");
    assert_has(p.script.data, "commit-7");
    assert_has(p.script.data, "SIMULATED DEVICE");
    free(data);
    free(levels);
    plot_free(&p);
}

static void lines_have_points_and_a_fit(void **state)
{
    (void)state;
    const double x[] = {1, 5}, same[] = {2, 2};
    const res_interval y[] = {{3e6, 2.5e6, 3.5e6}, {11e6, UNKNOWN, UNKNOWN}};
    const plot_series list[] = {{"step of capture", x, y, 2, 1e6, 2e6},
                                {"step of " HOSTILE, x, y, 1, 3e6, 0}};
    const plot_series still[] = {{"step", same, y, 2, 1e6, 0}};
    const plot_words words = {"graphs", NULL, "SIMULATED DEVICE"};
    plot p = {0};
    assert_int_equal(plot_lines(&words, "executions of a step", list, 2, &p, NULL), BN_OK);
    char *first = block(&p, "series0"), *second = block(&p, "series1");
    assert_string_equal(first, "1 3000000.0 2500000.0 3500000.0\n"
                               "5 11000000.0 11000000.0 11000000.0\n");
    assert_string_equal(second, "1 3000000.0 2500000.0 3500000.0\n");
    assert_has(p.script.data, "(1000000+2000000*x)/1e+06 with lines");
    assert_has(p.script.data, "set xlabel \"executions of a step\"");
    assert_has(p.script.data, "step of a\\047b\\042<i>&\\140touch x\\140\\100t");
    assert_has(p.description.data, "step of capture: 1.00 ms, and 2.00 ms for each.");
    free(first);
    free(second);
    plot_free(&p);
    bn_status st = {0};
    assert_int_equal(plot_lines(&words, "x", still, 1, &p, &st), BN_NOT_FOUND);
    assert_int_equal(plot_lines(&words, "x", still, 0, &p, &st), BN_NOT_FOUND);
    assert_null(p.script.data);
}

static void panels_have_each_figure(void **state)
{
    (void)state;
    const double x[] = {4, 8}, still[] = {4, 4};
    const char *const series[] = {"unrolled", "scanned " HOSTILE};
    const double text[] = {100, 200, 50, 50}, time[] = {1.5, UNKNOWN, 2.5, 5},
                 none[] = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
    const plot_panel panels[] = {
        {"text (kB)", text}, {"nothing", none}, {"estimated Mcycles", time}};
    const plot_words words = {"What grows", "llama", "ESTIMATED"};
    plot p = {0};
    assert_int_equal(plot_panels(&words, "layers", series, 2, x, 2, panels, 3, &p, NULL), BN_OK);
    char *first = block(&p, "panel0_1"), *second = block(&p, "panel2_0");
    assert_string_equal(first, "4 50\n8 50\nNaN NaN\n");
    assert_string_equal(second, "4 1.5\n\nNaN NaN\n");
    assert_null(strstr(p.script.data, "panel1_0"));
    assert_has(p.script.data, "set xtics (4, 8)");
    assert_has(p.script.data, "set yrange [0:216]");
    assert_has(p.script.data, "scanned a\\047b\\042<i>&\\140touch x\\140\\100t");
    assert_has(p.script.data, "ESTIMATED");
    assert_has(p.description.data, "text (kB): unrolled 100 to 200, scanned");
    assert_has(p.description.data, "estimated Mcycles: unrolled 1.5 to 1.5,");
    free(first);
    free(second);
    plot_free(&p);
    bn_status st = {0};
    assert_int_equal(plot_panels(&words, "layers", series, 2, still, 2, panels, 3, &p, &st),
                     BN_NOT_FOUND);
    assert_int_equal(plot_panels(&words, "layers", series, 2, x, 1, panels, 3, &p, &st),
                     BN_NOT_FOUND);
    assert_int_equal(plot_panels(&words, "layers", series, 2, x, 2, panels + 1, 1, &p, &st),
                     BN_NOT_FOUND);
    assert_null(p.script.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distribution_has_every_step),
        cmocka_unit_test(history_has_points_and_changes),
        cmocka_unit_test(timeline_skips_gaps),
        cmocka_unit_test(lines_have_points_and_a_fit),
        cmocka_unit_test(panels_have_each_figure),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
