/*
 * test_moderate.c - borrowed variances, drifts, and what a next table would show, held against
 * values that scipy computed of the same formulas. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

static void assert_close(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance * fabs(wanted)))
        fail_msg("%.12g is not %.12g", value, wanted);
}

/* COUNT estimates of D + 1 values each, whose variances are S2. */
static void estimates(const double *s2, const double *d, size_t count, res_estimate *list)
{
    for (size_t i = 0; i < count; i++)
        list[i] = (res_estimate){0.01, sqrt(s2[i] / (d[i] + 1)), d[i], (size_t)d[i] + 1};
}

static double variance_of(const res_moderated *row)
{
    return row->error * row->error * (double)row->values;
}

#define ROWS 6
static const double worked_s2[ROWS] = {1e-4, 2e-4, 0.5e-4, 4e-4, 1.2e-4, 30e-4};
static const double worked_d[ROWS] = {3, 3, 3, 3, 3, 3};

static void worked(res_moderated *rows)
{
    res_estimate list[ROWS];
    estimates(worked_s2, worked_d, ROWS, list);
    res_moderate(list, ROWS, rows);
}

/* Six rows of four processes, of which the last is louder than the others by the F test. */
static void variances_are_borrowed(void **state)
{
    (void)state;
    static const double v[ROWS] = {0.000151147395477, 0.00019827768783,  0.000135315835364,
                                   0.000306003227943, 0.000159660087764, 0.003};
    static const double s0[ROWS] = {0.000224908136606, 0.000195793905012, 0.000258351606544,
                                    0.000170448494298, 0.000216854739404, 0.000113915000512};
    res_moderated rows[ROWS];
    worked(rows);
    for (size_t i = 0; i < ROWS; i++) {
        assert_close(variance_of(&rows[i]), v[i], 1e-9);
        assert_close(rows[i].freedom, i < 5 ? 4.040134522 : 3, 1e-8);
        assert_close(rows[i].prior_freedom, 2.08026904401, 1e-8);
        assert_close(rows[i].prior_variance, s0[i], 1e-9);
        assert_close(rows[i].own_freedom, 3, 0);
        assert_close(rows[i].mean, 0.01, 0);
    }
}

/* The last row has four processes that agree by chance: the others then predict nothing (0.39
 * degrees of freedom), but it counts for half of their median error. */
static void chance_agreement_is_lifted(void **state)
{
    (void)state;
    static const double s2[ROWS] = {1e-4, 2e-4, 0.5e-4, 4e-4, 1.2e-4, 1e-9};
    static const double v[ROWS] = {8.85559829499e-05, 0.000177054063581, 4.43112476239e-05,
                                   0.000354057720267, 0.00010625509064,  2.43513841988e-05};
    res_estimate list[ROWS];
    res_moderated rows[ROWS];
    estimates(s2, worked_d, ROWS, list);
    res_moderate(list, ROWS, rows);
    for (size_t i = 0; i < ROWS; i++) {
        assert_close(variance_of(&rows[i]), v[i], 1e-9);
        assert_close(rows[i].freedom, 3.19482492137, 1e-8);
        assert_close(rows[i].prior_freedom, 0.389649842737, 1e-8);
    }
    assert_close(res_moderated_mde(&rows[5], 1, 0.05 / 6), 0.0235297174937, 1e-6);
}

/* Rows of unequal numbers of processes. */
static void rows_may_differ_in_processes(void **state)
{
    (void)state;
    static const double s2[] = {1e-4, 2e-4, 0.5e-4, 4e-4, 1.2e-4}, d[] = {3, 7, 3, 15, 2};
    static const double v[] = {0.000164177105656, 0.000175664303884, 0.000180932671878, 0.0004,
                               0.000161761059675};
    static const double f[] = {8.72544838238, 11.8561137625, 8.72544838238, 15, 9.3179281212};
    static const double d0[] = {11.4508967648, 9.712227525, 11.4508967648, 9.28307594328,
                                14.6358562424};
    res_estimate list[5];
    res_moderated rows[5];
    estimates(s2, d, 5, list);
    res_moderate(list, 5, rows);
    for (size_t i = 0; i < 5; i++) {
        assert_close(variance_of(&rows[i]), v[i], 1e-9);
        assert_close(rows[i].freedom, f[i], 1e-8);
        assert_close(rows[i].prior_freedom, d0[i], 1e-8);
    }
}

/* Three rows have nothing to borrow from: Student's t of each. */
static void few_rows_stand_alone(void **state)
{
    (void)state;
    res_estimate list[3];
    res_moderated rows[3];
    estimates(worked_s2, worked_d, 3, list);
    res_moderate(list, 3, rows);
    for (size_t i = 0; i < 3; i++) {
        assert_close(rows[i].error, list[i].error, 0);
        assert_close(rows[i].freedom, 3, 0);
        assert_true(rows[i].prior_freedom == 0);
        assert_close(res_moderated_p(&rows[i]), res_estimate_p(&list[i]), 1e-12);
        assert_close(res_moderated_half(&rows[i], 0.05), res_estimate_half(&list[i], 0.05), 1e-12);
    }
}

static res_moderated row_of(double mean, double error, double freedom, res_run_drift drift)
{
    const res_estimate own = {mean, error, freedom, 4};
    return res_moderated_alone(&own, drift);
}

/* Both parts of a half-width are taken at the level that is judged; p is where it ends at 0. */
static void a_drift_widens_at_each_level(void **state)
{
    (void)state;
    const res_run_drift stated = {0.01, (double)INFINITY}, found = {0.01, 11};
    res_moderated row = row_of(0.03, 0.004, 3, stated);
    assert_close(res_moderated_half(&row, 0.05), 0.0233707790595, 1e-9);
    const res_interval interval = res_moderated_ratio(&row);
    assert_close(interval.low, exp(0.03 - 0.0233707790595), 1e-9);
    assert_close(interval.high, exp(0.03 + 0.0233707790595), 1e-9);
    row = row_of(-0.05, 0.004, 3, found);
    assert_close(res_moderated_half(&row, 0.05 / 34), 0.0618624172788, 1e-9);
    assert_close(res_moderated_p(&row), 0.00351994065943, 1e-6);
    row = row_of(0.03, 0.004, 5.5, stated);
    assert_close(res_moderated_p(&row), 0.0100219693797, 1e-6);
}

/* A claim and its interval are one statistic. */
static void an_interval_excludes_zero_where_p_is_small(void **state)
{
    (void)state;
    for (double mean = 0.001; mean < 0.1; mean += 0.0007) {
        const res_moderated row = row_of(mean, 0.004, 3, (res_run_drift){0.01, 11});
        assert_int_equal(res_moderated_p(&row) <= 0.05, res_excludes(res_moderated_ratio(&row), 1));
    }
}

/* Without spread the drift alone decides, and without a drift nothing is in doubt; without an error
 * nothing is known. */
static void edges_have_an_answer(void **state)
{
    (void)state;
    const res_run_drift none = {0, 0}, stated = {0.01, (double)INFINITY};
    res_moderated row = row_of(0.02, 0, 3, stated);
    assert_close(res_moderated_half(&row, 0.05), 0.01959963984540, 1e-9);
    assert_close(res_moderated_p(&row), 0.0455002638964, 1e-6);
    row = row_of(0.02, 0, 3, none);
    assert_true(res_moderated_p(&row) == 0);
    row = row_of(0, 0, 3, none);
    assert_true(res_moderated_p(&row) == 1);
    row = row_of(2, 0.001, 3, stated);
    assert_true(res_moderated_p(&row) <= 1e-4);
    row = row_of(0.02, (double)NAN, 0, stated);
    assert_true(res_moderated_p(&row) == 1 && isnan(res_moderated_half(&row, 0.05)));
    assert_true(isnan(res_moderated_mde(&row, 1, 0.05)));
    row = row_of(0.02, 0.001, 3, none);
    assert_true(isnan(res_moderated_mde(&row, 0.1, 0.05)));
}

/* At 5 % over six rows: of the same number of processes and of twice as many, with drifts of none,
 * a stated one and one of twelve runs. */
static void a_detectable_difference_is_of_a_next_table(void **state)
{
    (void)state;
    static const double wanted[2][2][3] = {{{0.0454711306857, 0.0583220681028, 0.0499120364542},
                                            {0.0242885165045, 0.0434524317854, 0.0318364449422}},
                                           {{0.343221548339, 0.345436759077, 0.343973788787},
                                            {0.133738807464, 0.138444061577, 0.135338871668}}};
    const res_run_drift drifts[3] = {{0, 0}, {0.01, (double)INFINITY}, {0.005, 11}};
    res_moderated rows[ROWS];
    worked(rows);
    for (int loud = 0; loud < 2; loud++)
        for (int times = 1; times <= 2; times++)
            for (int drift = 0; drift < 3; drift++) {
                res_moderated row = rows[loud ? 5 : 0];
                row.drift = drifts[drift];
                assert_close(res_moderated_mde(&row, times, 0.05 / 6),
                             wanted[loud][times - 1][drift], 1e-6);
            }
    const res_moderated alone = row_of(0, 0.005, 3, drifts[0]);
    assert_close(res_moderated_mde(&alone, 1, 0.05), 0.0288130049324, 1e-6);
}

/* Five runs of two ratios. */
static void a_calibration_has_a_drift(void **state)
{
    (void)state;
    static const double means[10] = {-0.00802, -0.01324, -0.00248, 0.0042,  0.01136,
                                     0.0011,   -0.00553, -0.00785, 0.00749, 0.01635};
    static const double errors[10] = {0.00327, 0.00177, 0.00204, 0.0046,  0.0032,
                                      0.00127, 0.00292, 0.00184, 0.00237, 0.00251};
    for (int loud = 0; loud < 2; loud++) {
        res_estimate ratios[10];
        for (size_t i = 0; i < 10; i++)
            ratios[i] = (res_estimate){means[i], (loud ? 3 : 1) * errors[i], 7, 8};
        static const size_t pair[10] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
        const res_run_drift drift = res_run_drift_of(ratios, pair, 10);
        /* The part that processes explain is subtracted, but never the part that five runs leave
         * open. */
        assert_close(drift.deviation, loud ? 0.00844902573113 : 0.00966810064077, 1e-9);
        assert_close(drift.freedom, 4, 0);
    }
}

/* A pair of three runs counts twice as much as one of two, and one of a single run not at all. */
static void pairs_of_a_calibration_may_have_other_runs(void **state)
{
    (void)state;
    static const double means[6] = {0.01, -0.01, 0.03, 0.5, 0.02, -0.02};
    static const size_t pair[6] = {0, 0, 0, 1, 4, 4};
    res_estimate ratios[6];
    for (size_t i = 0; i < 6; i++)
        ratios[i] = (res_estimate){means[i], 0.003, 7, 8};
    res_run_drift drift = res_run_drift_of(ratios, pair, 6);
    /* Variances 4e-4 and 8e-4, less 9e-6; but at least the whole, two degrees of freedom. */
    assert_close(drift.deviation, sqrt((2 * 4e-4 + 8e-4) / 3), 1e-12);
    assert_close(drift.freedom, 2, 0);
    drift = res_run_drift_of(&ratios[3], &pair[3], 1);
    assert_true(drift.deviation == 0 && drift.freedom == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variances_are_borrowed),
        cmocka_unit_test(chance_agreement_is_lifted),
        cmocka_unit_test(rows_may_differ_in_processes),
        cmocka_unit_test(few_rows_stand_alone),
        cmocka_unit_test(a_drift_widens_at_each_level),
        cmocka_unit_test(an_interval_excludes_zero_where_p_is_small),
        cmocka_unit_test(edges_have_an_answer),
        cmocka_unit_test(a_detectable_difference_is_of_a_next_table),
        cmocka_unit_test(a_calibration_has_a_drift),
        cmocka_unit_test(pairs_of_a_calibration_may_have_other_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
