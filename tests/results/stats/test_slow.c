/*
 * test_slow.c - slow processes: which are found, by hand and by simulation, and the test of their
 * numbers. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/stats/stats.h"
#include "tests/support/test_runtime.h"

static res_slow slow[2], fast[2];

/* Of sides that differ by the log ratios D: A is constant where D is above 0, B below. */
static void find(const double *d, size_t pairs)
{
    double a[RES_MOST_PAIRS], b[RES_MOST_PAIRS];
    for (size_t i = 0; i < pairs; i++) {
        a[i] = d[i] > 0 ? 1e6 : 1e6 * exp(-d[i]);
        b[i] = a[i] * exp(d[i]);
    }
    res_slow_find(&(res_values){a, b, pairs, 0}, d, slow, fast);
    assert_int_equal(fast[0].count + fast[1].count, 0);
}

static void slow_processes_are_counted_by_side(void **state)
{
    (void)state;
    /* Median 0.0035; four of six lie within 0.003, so 5 S = 5 * 0.003 / 1.349 * 2 = 0.022, and 10 %
     * are more. */
    double d[6] = {0.001, 0.002, 0.003, 0.004, 0.2, -0.3};
    find(d, 6);
    assert_int_equal(slow[0].count, 1);
    assert_int_equal(slow[1].count, 1);
    assert_int_equal(slow[0].pairs, 1 << 5);
    assert_int_equal(slow[1].pairs, 1 << 4);
    assert_near(slow[0].factor, exp(0.3025), 1e-9);
    assert_near(slow[1].factor, exp(0.1975), 1e-9);
    /* Less than 10 %, or five are too few: nothing is known. */
    d[4] = 0.09;
    d[5] = 0.0045;
    find(d, 6);
    assert_int_equal(slow[0].count + slow[1].count, 0);
    assert_true(isnan(slow[0].factor) && isnan(slow[1].factor));
    d[4] = 0.5;
    find(d, 5);
    assert_int_equal(slow[0].count + slow[1].count, 0);
    /* Wide noise: 5 S is 5 * 0.12 / 1.349 * 2. */
    const double wide[6] = {0, 0.04, 0.08, 0.12, 0.5, -0.4};
    find(wide, 6);
    assert_int_equal(slow[0].count + slow[1].count, 0);
    const double wider[6] = {0, 0.04, 0.08, 0.12, 1, -0.4};
    find(wider, 6);
    assert_int_equal(slow[1].count, 1);
    assert_int_equal(slow[0].count, 0);
}

/* The level of a process, by whether it is slow. */
#define LEVEL(slow) ((slow) ? 1500.0 : 1000.0)

/* SLOW_A and SLOW_B: a bit each, the pairs whose process is slow; the machine drifts by 2 %. */
static void of_levels(unsigned slow_a, unsigned slow_b, size_t pairs, double unit)
{
    double a[RES_MOST_PAIRS], b[RES_MOST_PAIRS], d[RES_MOST_PAIRS];
    for (size_t i = 0; i < pairs; i++) {
        const double drift = 1 + 0.02 * (double)(i % 3);
        a[i] = LEVEL(slow_a >> i & 1) * drift;
        b[i] = LEVEL(slow_b >> i & 1) * drift;
        d[i] = unit > 0 ? (b[i] - a[i]) / unit : log(b[i] / a[i]);
    }
    res_slow_find(&(res_values){a, b, pairs, unit}, d, slow, fast);
}

/* More than half of a side may be slow: that does not make processes of the other side slow. */
static void a_side_of_two_speeds_is_its_own(void **state)
{
    (void)state;
    static const struct {
        unsigned slow_a, slow_b;
        size_t pairs, found_a, found_b, fast_a, fast_b;
    } cases[] = {
        {0, 0x007, 12, 0, 3, 0, 0}, {0x007, 0, 12, 3, 0, 0, 0},     {0, 0x07f, 12, 0, 0, 0, 5},
        {0x07f, 0, 12, 0, 0, 5, 0}, {0, 0x7ff, 12, 0, 0, 0, 1},     {0, 0xfff, 12, 0, 0, 0, 0},
        {0, 0x1f, 6, 0, 0, 0, 1},   {0x003, 0x030, 12, 2, 2, 0, 0}, {0xff0, 0x001, 12, 0, 1, 3, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int unit = 0; unit <= 1000; unit += 1000) {
            of_levels(cases[i].slow_a, cases[i].slow_b, cases[i].pairs, unit);
            print_message("# case %zu, unit %d\n", i, unit);
            assert_int_equal(slow[0].count, cases[i].found_a);
            assert_int_equal(slow[1].count, cases[i].found_b);
            assert_int_equal(fast[0].count, cases[i].fast_a);
            assert_int_equal(fast[1].count, cases[i].fast_b);
            for (int side = 0; side < 2; side++) {
                assert_true(isnan(slow[side].factor) == (slow[side].count == 0));
                assert_true(isnan(fast[side].factor) == (fast[side].count == 0));
                assert_true(!(slow[side].factor < 1.4) && !(fast[side].factor > 0.7));
            }
        }
}

/* What disturbs both processes of a pair alike seldom makes a slow one of B a fast one of A. */
static void a_disturbed_machine_seldom_moves_a_slow_process(void **state)
{
    (void)state;
    enum { SETS = 4000, PAIRS = 12 };
    uint64_t seed = 7;
    size_t found = 0, moved = 0;
    for (size_t i = 0; i < SETS; i++) {
        double d[PAIRS], a[PAIRS], b[PAIRS];
        for (size_t k = 0; k < PAIRS; k++) {
            const double machine = exp(0.1 * fixture_normal(&seed));
            a[k] = machine * exp(0.01 * fixture_normal(&seed));
            b[k] = machine * exp(0.01 * fixture_normal(&seed)) * (k < 2 ? 1.3 : 1);
            d[k] = log(b[k] / a[k]);
        }
        res_slow_find(&(res_values){a, b, PAIRS, 0}, d, slow, fast);
        found += slow[1].count;
        moved += fast[0].count;
        assert_int_equal(slow[0].count + fast[1].count, 0);
    }
    print_message("# %.2f %% of slow processes are taken for fast ones of the other side\n",
                  100 * (double)moved / (double)(found + moved));
    assert_true(found + moved > SETS * 2 * 0.99 && (double)moved < 0.045 * (double)(found + moved));
}

/* The share of slow processes that are found, or of sets with one where none is slow. SD: of a
 * process. SHARE of B's take half as long again. */
static double found(size_t pairs, double sd, double share, uint64_t *seed)
{
    enum { SETS = 4000 };
    size_t planted = 0, found = 0, sets = 0;
    for (size_t i = 0; i < SETS; i++) {
        double d[RES_MOST_PAIRS], a[RES_MOST_PAIRS], b[RES_MOST_PAIRS];
        for (size_t k = 0; k < pairs; k++) {
            const bool is_slow = fixture_uniform(seed) < share;
            a[k] = exp(sd * fixture_normal(seed));
            b[k] = exp(sd * fixture_normal(seed)) * (is_slow ? 1.5 : 1);
            d[k] = log(b[k] / a[k]);
            planted += is_slow;
        }
        res_slow_find(&(res_values){a, b, pairs, 0}, d, slow, fast);
        found += slow[1].count;
        sets += slow[0].count + slow[1].count + fast[0].count + fast[1].count > 0;
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
        cmocka_unit_test(a_side_of_two_speeds_is_its_own),
        cmocka_unit_test(a_disturbed_machine_seldom_moves_a_slow_process),
        cmocka_unit_test(the_detector_is_as_good_as_its_file_says),
        cmocka_unit_test(numbers_are_tested_exactly),
        cmocka_unit_test(controls_count_as_a),
        cmocka_unit_test(what_is_not_excluded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
