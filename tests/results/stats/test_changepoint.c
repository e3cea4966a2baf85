/*
 * test_changepoint.c - change points of series whose changes are known: where they are
 * found, how large, and how often one is found that is none. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "tests/support/test_runtime.h"

#define MOST 1000

static res_changes find_with(const double *values, size_t count, const res_change_options *o)
{
    res_changes found;
    bn_status st = {0};
    assert_ok(res_changes_find(values, count, o, &found, &st), &st);
    return found;
}

static res_changes find(const double *values, size_t count)
{
    const res_change_options o = res_change_defaults();
    return find_with(values, count, &o);
}

/* ---- noise ---------------------------------------------------------------------- */

typedef enum noise { NORMAL, OUTLIERS, HEAVY_TAILS, TWO_MODES, NOISES } noise;
static const char *const noise_names[] = {"normal", "outliers", "heavy tails", "two modes"};

/* Of a log; a standard deviation of about 1 %, but for what the name says. */
static double draw(noise kind, uint64_t *seed)
{
    const double z = 0.01 * fixture_normal(seed), u = fixture_uniform(seed);
    double squares = 0;
    switch (kind) {
    case OUTLIERS:
        return u < 0.02 ? z + 0.05 + 0.5 * fixture_uniform(seed) : z;
    case HEAVY_TAILS: /* Student's t, three degrees of freedom */
        for (int i = 0; i < 3; i++)
            squares += pow(fixture_normal(seed), 2);
        return z / sqrt(squares / 3);
    case TWO_MODES:
        return u < 0.3 ? 0.03 + 0.2 * z : 0.2 * z;
    default:
        return z;
    }
}

/* COUNT nights about a millisecond; from AT on times RATIO. */
static void make(double *values, size_t count, noise kind, size_t at, double ratio, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = 1e6 * exp(draw(kind, seed)) * (i >= at ? ratio : 1);
}

/* ---- by hand ---------------------------------------------------------------------- */

static void a_clear_change_is_found_where_it_is(void **state)
{
    (void)state;
    double values[60];
    uint64_t seed = 5;
    make(values, 60, NORMAL, 37, 1.08, &seed);
    res_changes c = find(values, 60);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.list[0].at, 37);
    assert_true(c.list[0].ratio.low < 1.08 && 1.08 < c.list[0].ratio.high);
    assert_true(c.list[0].ratio.high - c.list[0].ratio.low < 0.03);
    assert_true(c.list[0].p < 1e-6);
    res_changes_free(&c);
    /* As a saving it is the inverse, and the unit does not matter. */
    for (int i = 0; i < 60; i++)
        values[i] = 1e-3 / values[i];
    c = find(values, 60);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.list[0].at, 37);
    assert_true(c.list[0].ratio.low < 1 / 1.08 && 1 / 1.08 < c.list[0].ratio.high);
    res_changes_free(&c);
}

static void missing_nights_are_passed_over(void **state)
{
    (void)state;
    static const double missing[] = {(double)NAN, 0, -1, (double)INFINITY};
    double values[60], holes[120];
    uint64_t seed = 5;
    make(values, 60, NORMAL, 37, 1.08, &seed);
    for (int i = 0; i < 60; i++) {
        holes[2 * i] = missing[i % 4];
        holes[2 * i + 1] = values[i];
    }
    res_changes plain = find(values, 60), c = find(holes, 120);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.list[0].at, 2 * 37 + 1);
    assert_true(c.list[0].ratio.estimate == plain.list[0].ratio.estimate);
    assert_true(c.latest_p == plain.latest_p);
    res_changes_free(&plain);
    res_changes_free(&c);
}

static void short_and_constant_series_have_none(void **state)
{
    (void)state;
    double values[50];
    const double step[] = {1, 1, 1, 9, 9, 9};
    for (size_t count = 0; count < 50; count++) {
        for (size_t i = 0; i < count; i++)
            values[i] = 25e6;
        res_changes c = find(values, count);
        assert_int_equal(c.count, 0);
        res_changes_free(&c);
    }
    /* Six nights are the fewest that can have one. */
    res_changes c = find(step, 5);
    assert_int_equal(c.count, 0);
    assert_true(isnan(c.latest_p) && isnan(c.mde));
    res_changes_free(&c);
    c = find(step, 6);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.list[0].at, 3);
    res_changes_free(&c);
}

static void a_simulated_device_changes_without_noise(void **state)
{
    (void)state;
    double values[200];
    for (int i = 0; i < 200; i++)
        values[i] = i < 150 ? 1e6 : i < 190 ? 1.05e6 : 1e6;
    values[20] = 1.5e6; /* one night is no change */
    values[21] = 1.5e6; /* nor are two */
    res_changes c = find(values, 200);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.list[0].at, 150);
    assert_int_equal(c.list[1].at, 190);
    assert_true(fabs(c.list[0].ratio.estimate - 1.05) < 1e-3);
    res_changes_free(&c);
}

static void small_changes_are_left_out_on_request(void **state)
{
    (void)state;
    double values[400];
    uint64_t seed = 8;
    res_change_options o = res_change_defaults();
    make(values, 400, NORMAL, 200, 1.02, &seed);
    o.least_effect = 0.01;
    res_changes c = find_with(values, 400, &o);
    assert_int_equal(c.count, 1);
    res_changes_free(&c);
    o.least_effect = 0.03;
    c = find_with(values, 400, &o);
    assert_int_equal(c.count, 0);
    res_changes_free(&c);
}

/* A rise that was fixed cancels itself in the whole of a long series: windows are for
 * this, and a window as long as the series shows what is missed without them. */
static void windows_see_what_the_whole_hides(void **state)
{
    (void)state;
    double values[MOST];
    uint64_t seed = 31;
    res_change_options o = res_change_defaults();
    size_t with = 0, without = 0;
    for (int trial = 0; trial < 10; trial++) {
        make(values, MOST, NORMAL, 500, 1, &seed);
        for (int i = 500; i < 512; i++)
            values[i] *= 1.03;
        o.window = 50;
        res_changes c = find_with(values, MOST, &o);
        with += c.count == 2 && labs((long)c.list[0].at - 500) <= 2 &&
                labs((long)c.list[1].at - 512) <= 2;
        res_changes_free(&c);
        o.window = MOST;
        c = find_with(values, MOST, &o);
        without += c.count > 0;
        res_changes_free(&c);
    }
    assert_true(with >= 8);
    assert_true(without < with);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4, 5, 6};
    res_change_options o = res_change_defaults();
    res_changes found;
    bn_status st = {0};
    o.level = 1;
    assert_int_equal(res_changes_find(values, 6, &o, &found, &st), BN_INVALID);
    assert_non_null(strstr(st.message, "between 0 and 1"));
    o = res_change_defaults();
    o.least_effect = -1;
    assert_int_equal(res_changes_find(values, 6, &o, &found, &st), BN_INVALID);
}

/* ---- the latest nights --------------------------------------------------------------- */

static void the_latest_nights_are_suspects_until_they_are_a_change(void **state)
{
    (void)state;
    double values[MOST];
    uint64_t seed = 3;
    make(values, 100, NORMAL, 97, 1.08, &seed);
    const struct {
        size_t count, run, changes;
    } steps[] = {{97, 0, 0}, {98, 1, 0}, {99, 2, 0}, {100, 0, 1}};
    for (size_t i = 0; i < 4; i++) {
        res_changes c = find(values, steps[i].count);
        assert_int_equal(c.count, steps[i].changes);
        assert_int_equal(c.latest_run, steps[i].run);
        if (steps[i].changes == 0) {
            assert_true((c.latest_p < 0.01) == (steps[i].run > 0));
            assert_true(c.mde > 0.015 && c.mde < 0.05);
            assert_true(fabs(c.noise - 0.01) < 0.003);
        } else {
            assert_int_equal(c.list[0].at, 97);
            assert_true(isnan(c.latest_p));
        }
        res_changes_free(&c);
    }
}

/* ---- rates ----------------------------------------------------------------------------- */

/* Fails where ALARMS of TRIALS are surely more than SHARE of them. */
static void assert_share(size_t alarms, size_t trials, double share, const char *what)
{
    const double wanted = share * (double)trials;
    if ((double)alarms > wanted + 3 * sqrt(wanted * (1 - share)))
        fail_msg("%s: %zu of %zu, more than %g", what, alarms, trials, share);
}

static void false_changes_keep_to_the_level(void **state)
{
    (void)state;
    static const struct {
        size_t nights, trials;
    } rows[] = {{6, 2000}, {10, 2000}, {30, 1000}, {100, 400}, {1000, 40}};
    res_change_options o = res_change_defaults();
    double values[MOST];
    uint64_t seed = 77;
    o.least_effect = 0;
    for (int kind = 0; kind < NOISES; kind++) {
        for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
            size_t alarms = 0;
            for (size_t i = 0; i < rows[row].trials; i++) {
                make(values, rows[row].nights, (noise)kind, 0, 1, &seed);
                res_changes c = find_with(values, rows[row].nights, &o);
                alarms += c.count > 0;
                res_changes_free(&c);
            }
            assert_share(alarms, rows[row].trials, o.level, noise_names[kind]);
        }
    }
}

static void changes_are_found_and_their_intervals_hold(void **state)
{
    (void)state;
    double values[300];
    uint64_t seed = 12;
    for (int kind = 0; kind < TWO_MODES; kind++) {
        size_t found = 0, near = 0, missed = 0, more = 0, trials = 200;
        for (size_t i = 0; i < trials; i++) {
            make(values, 300, (noise)kind, 170, 1.04, &seed);
            res_changes c = find(values, 300);
            more += c.count > 1;
            for (size_t k = 0; k < c.count; k++) {
                const long off = labs((long)c.list[k].at - 170);
                found += off <= 10;
                near += off <= 2;
                missed +=
                    off <= 10 && !(c.list[k].ratio.low <= 1.04 && 1.04 <= c.list[k].ratio.high);
            }
            res_changes_free(&c);
        }
        assert_true(found >= trials * 99 / 100);
        assert_true(near >= trials * 94 / 100);
        /* Cut tails narrow the interval a little: 7 in 100 in place of 5. */
        assert_share(missed, trials, 0.07, noise_names[kind]);
        assert_share(more, trials, 0.05, noise_names[kind]);
    }
}

/* The minimum detectable effect of RES_LEAST_NIGHTS nights more: found in about 4 of 5 cases. */
static void the_detectable_change_is_found_as_often_as_claimed(void **state)
{
    (void)state;
    static const size_t nights[] = {30, 100, 300};
    double values[MOST];
    uint64_t seed = 9;
    for (size_t row = 0; row < 3; row++) {
        size_t found = 0, trials = 0;
        while (trials < 300) {
            const size_t n = nights[row];
            make(values, n, NORMAL, 0, 1, &seed);
            res_changes c = find(values, n);
            const double mde = c.mde;
            res_changes_free(&c);
            if (isnan(mde))
                continue;
            make(values + n, RES_LEAST_NIGHTS, NORMAL, 0, 1 + mde, &seed);
            c = find(values, n + RES_LEAST_NIGHTS);
            found += c.count > 0 && c.list[c.count - 1].at + 2 >= n;
            trials++;
            res_changes_free(&c);
        }
        if (found < trials * 70 / 100 || found > trials * 92 / 100)
            fail_msg("%zu nights: %zu of %zu", nights[row], found, trials);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clear_change_is_found_where_it_is),
        cmocka_unit_test(missing_nights_are_passed_over),
        cmocka_unit_test(short_and_constant_series_have_none),
        cmocka_unit_test(a_simulated_device_changes_without_noise),
        cmocka_unit_test(small_changes_are_left_out_on_request),
        cmocka_unit_test(windows_see_what_the_whole_hides),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(the_latest_nights_are_suspects_until_they_are_a_change),
        cmocka_unit_test(false_changes_keep_to_the_level),
        cmocka_unit_test(changes_are_found_and_their_intervals_hold),
        cmocka_unit_test(the_detectable_change_is_found_as_often_as_claimed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
