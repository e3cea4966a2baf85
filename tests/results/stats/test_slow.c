/*
 * test_slow.c - slow processes: which are found, by hand and by simulation, and the test of their
 * numbers. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/stats/stats.h"
#include "tests/support/test_runtime.h"

static void slow_processes_are_counted_by_side(void **state)
{
    (void)state;
    res_slow slow[2];
    /* Median 0.0035; four of six lie within 0.003, so 5 S = 5 * 0.003 / 1.349 * 2 = 0.022, and 10 %
     * are more. */
    double d[6] = {0.001, 0.002, 0.003, 0.004, 0.2, -0.3};
    res_slow_find(d, 6, slow);
    assert_int_equal(slow[0].count, 1);
    assert_int_equal(slow[1].count, 1);
    assert_int_equal(slow[0].pairs, 1 << 5);
    assert_int_equal(slow[1].pairs, 1 << 4);
    assert_near(slow[0].factor, exp(0.3025), 1e-9);
    assert_near(slow[1].factor, exp(0.1975), 1e-9);
    /* Less than 10 %, or five are too few: nothing is known. */
    d[4] = 0.09;
    d[5] = 0.0045;
    res_slow_find(d, 6, slow);
    assert_int_equal(slow[0].count + slow[1].count, 0);
    assert_true(isnan(slow[0].factor) && isnan(slow[1].factor));
    d[4] = 0.5;
    res_slow_find(d, 5, slow);
    assert_int_equal(slow[0].count + slow[1].count, 0);
    /* Wide noise: 5 S is 5 * 0.12 / 1.349 * 2. */
    const double wide[6] = {0, 0.04, 0.08, 0.12, 0.5, -0.4};
    res_slow_find(wide, 6, slow);
    assert_int_equal(slow[0].count + slow[1].count, 0);
    const double wider[6] = {0, 0.04, 0.08, 0.12, 1, -0.4};
    res_slow_find(wider, 6, slow);
    assert_int_equal(slow[1].count, 1);
    assert_int_equal(slow[0].count, 0);
}

/* claims of which simulation: SD of a process, SHARE of B's slow by half. */
static double found(size_t pairs, double sd, double share, uint64_t *seed)
{
    enum { SETS = 4000 };
    size_t planted = 0, found = 0, sets = 0;
    for (size_t i = 0; i < SETS; i++) {
        double d[RES_MOST_PAIRS];
        res_slow slow[2];
        for (size_t k = 0; k < pairs; k++) {
            const bool is_slow = fixture_uniform(seed) < share;
            d[k] = sd * (fixture_normal(seed) - fixture_normal(seed)) + (is_slow ? log(1.5) : 0);
            planted += is_slow;
        }
        res_slow_find(d, pairs, slow);
        found += slow[1].count;
        sets += slow[0].count + slow[1].count > 0;
    }
    return share > 0 ? (double)found / (double)planted : (double)sets / SETS;
}

static void the_detector_is_as_good_as_its_file_says(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (size_t pairs = 6; pairs <= 24; pairs *= 2) {
        const double quiet = found(pairs, 0.01, 0, &seed), noisy = found(pairs, 0.03, 0, &seed);
        print_message("# %zu pairs: false in %.2f and %.2f %% of sets\n", pairs, 100 * quiet,
                      100 * noisy);
        assert_true(quiet < 0.005 && noisy < 0.025);
    }
    const double six = found(6, 0.01, 0.2, &seed), twelve = found(12, 0.01, 0.2, &seed);
    print_message("# a fifth is slow: %.0f and %.0f %% of them are found\n", 100 * six,
                  100 * twelve);
    assert_true(six > 0.68 && six < 0.76);
    assert_true(twelve > 0.93 && twelve < 0.97);
}

static void numbers_are_tested_exactly(void **state)
{
    (void)state;
    /* Of 8 processes 4 are B's: all 3 slow ones are, in 4 of 56 cases. */
    res_slow_counts n = {{0, 3}, {4, 4}};
    assert_near(res_slow_p(&n), 4.0 / 56, 1e-12);
    n = (res_slow_counts){{1, 2}, {4, 4}};
    assert_near(res_slow_p(&n), 0.5, 1e-12);
    n = (res_slow_counts){{3, 0}, {4, 4}};
    assert_near(res_slow_p(&n), 1, 0);
    n = (res_slow_counts){{0, 9}, {168, 144}};
    assert_true(res_slow_p(&n) < 0.001);
    assert_near(res_slow_p(&(res_slow_counts){{0, 0}, {0, 0}}), 1, 0);
}

static void controls_count_as_a(void **state)
{
    (void)state;
    res_slow_counts n = {{0, 0}, {0, 0}};
    res_comparison c = {.pairs = 12, .slow = {{1, 2, 1.5}, {3, 7, 1.5}}};
    const res_comparison device = {.pairs = 12, .slow = {{0, 0, 1}, {2, 5, 1.5}}},
                         others = {.pairs = 12, .slow = {{1, 4, 1.5}, {1, 8, 1.5}}};
    res_slow_add(&n, &c, &device, false);
    assert_int_equal(n.slow[0], 1);
    assert_int_equal(n.slow[1], 3);
    assert_int_equal(n.of[0], 12);
    assert_int_equal(n.of[1], 12);
    res_slow_add(&n, &c, NULL, true);
    assert_int_equal(n.slow[0], 5);
    assert_int_equal(n.slow[1], 3);
    assert_int_equal(n.of[0], 36);
    assert_int_equal(n.of[1], 12);
    c.pairs = 5;
    res_slow_add(&n, &c, NULL, false);
    assert_int_equal(n.of[0], 36);
    /* By either measure, and once where by both. */
    n = (res_slow_counts){{0, 0}, {0, 0}};
    c.pairs = 12;
    res_slow_add(&n, &c, &others, false);
    assert_int_equal(n.slow[0], 2);
    assert_int_equal(n.slow[1], 4);
}

static void what_is_not_excluded(void **state)
{
    (void)state;
    assert_near(res_slow_not_excluded(12), 0.2209, 1e-4);
    assert_near(res_slow_not_excluded(24), 0.1174, 1e-4);
    assert_near(res_slow_not_excluded(0), 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_processes_are_counted_by_side),
        cmocka_unit_test(the_detector_is_as_good_as_its_file_says),
        cmocka_unit_test(numbers_are_tested_exactly),
        cmocka_unit_test(controls_count_as_a),
        cmocka_unit_test(what_is_not_excluded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
