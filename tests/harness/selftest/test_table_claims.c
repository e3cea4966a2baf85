/*
 * test_table_claims.c - what simulated speedup tables are judged by, and that the judge sees a
 * procedure that is wrong. Needs no plugin.
 */
#include "harness/selftest/claims_priv.h"
#include "tests/support/results_fixture.h"

#include <math.h>

/* Counts of 4,000 tables of ten ratios that nothing is wrong with. */
static selftest_claims good(void)
{
    return (selftest_claims){.ratios = 10,
                             .processes = 4,
                             .judged = true,
                             .tables = 4000,
                             .held = 38000,
                             .wrong = 180,
                             .claimed = 3600,
                             .promised = 3900,
                             .found = 3120};
}

static void each_fault_is_seen(void **state)
{
    (void)state;
    selftest_claims c = good();
    assert_int_equal(selftest_claims_judge(&c), 0);
    c.held = 36500; /* 91.25 % */
    assert_int_equal(selftest_claims_judge(&c), SELFTEST_CLAIMS_COVERAGE);
    c.held = 39300; /* 98.25 %: too wide, but for a drift that is hardly known */
    assert_int_equal(selftest_claims_judge(&c), SELFTEST_CLAIMS_COVERAGE);
    c.drift = 0.01;
    assert_int_equal(selftest_claims_judge(&c), 0);
    c = good();
    c.wrong = 300; /* 7.5 % */
    assert_int_equal(selftest_claims_judge(&c), SELFTEST_CLAIMS_WRONG);
    c = good();
    c.found = 2700; /* 69 % */
    assert_int_equal(selftest_claims_judge(&c), SELFTEST_CLAIMS_PROMISE);
    c.processes = 3;
    assert_int_equal(selftest_claims_judge(&c), 0);
    c = good();
    c.claimed = 1760; /* 44 %, but of ten rows */
    assert_int_equal(selftest_claims_judge(&c), 0);
    c.ratios = 34;
    c.held = 34 * 3800;
    assert_int_equal(selftest_claims_judge(&c), SELFTEST_CLAIMS_POWER);
    c.judged = false;
    assert_int_equal(selftest_claims_judge(&c), 0);
}

/* A run's drift that the table does not know of: intervals miss, and like ratios are claimed. */
static void a_drift_that_is_not_known_is_seen(void **state)
{
    (void)state;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 3);
    selftest_claims known = {.ratios = 4, .processes = 8, .drift = 0.02, .judged = true};
    for (int i = 0; i < 300; i++)
        selftest_claims_trial(&known, rng);
    assert_int_equal(selftest_claims_judge(&known), 0);
    assert_int_equal(known.tables, 300);
    /* A calibration of three runs knows it badly, and says so by its quantile: fewer claims. */
    selftest_claims few = known;
    few = (selftest_claims){.ratios = 4, .processes = 8, .drift = 0.02, .runs = 3, .judged = true};
    for (int i = 0; i < 300; i++)
        selftest_claims_trial(&few, rng);
    assert_true(few.claimed < known.claimed);
    assert_true(few.wrong <= 300 / 10);
    gsl_rng_free(rng);
}

/* The quick plan is a part of the whole one, and has the table that must claim 5 %. */
static void plans_have_the_tables(void **state)
{
    (void)state;
    static selftest_claims list[SELFTEST_MOST_CLAIMS];
    bool asked = false;
    const size_t quick = selftest_claims_plan(true, list), all = selftest_claims_plan(false, list);
    assert_true(quick > 0 && quick < all && all < SELFTEST_MOST_CLAIMS);
    for (size_t i = 0; i < all; i++)
        asked = asked || (list[i].ratios == 34 && list[i].processes == 4 && list[i].judged &&
                          list[i].rows == SELFTEST_ROWS_LN);
    assert_true(asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_seen),
        cmocka_unit_test(a_drift_that_is_not_known_is_seen),
        cmocka_unit_test(plans_have_the_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
