/*
 * test_selftest_nights.c - the judgement of the history's part of bench selftest statistics: it
 * passes ours and fails shares that are wrong. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "harness/selftest/nights_priv.h"

static void shares_are_judged(void **state)
{
    (void)state;
    selftest_nights t = {.figure = SELFTEST_NIGHTS_FALSE, .judged = true, .of = 1000};
    t.hits = 60; /* Clopper-Pearson: 4.6 to 7.7 % */
    assert_true(selftest_nights_pass(&t));
    t.hits = 80; /* 6.4 to 9.9 % */
    assert_false(selftest_nights_pass(&t));
    t.judged = false;
    assert_true(selftest_nights_pass(&t));
    t = (selftest_nights){.figure = SELFTEST_NIGHTS_FOUND, .judged = true, .of = 1000, .hits = 940};
    assert_true(selftest_nights_pass(&t)); /* to 95.4 % */
    t.hits = 920;                          /* to 93.6 % */
    assert_false(selftest_nights_pass(&t));
    t = (selftest_nights){.figure = SELFTEST_NIGHTS_MDE, .judged = true, .of = 1000, .hits = 650};
    assert_false(selftest_nights_pass(&t)); /* to 68.0 % */
    t.hits = 800;
    assert_true(selftest_nights_pass(&t));
    t.hits = 930; /* from 91.2 % */
    assert_false(selftest_nights_pass(&t));
}

static void the_plan_has_what_it_must_show(void **state)
{
    (void)state;
    selftest_nights list[SELFTEST_NIGHTS_MOST];
    const size_t count = selftest_nights_plan(list);
    size_t year = 0;
    assert_true(count <= SELFTEST_NIGHTS_MOST);
    for (size_t i = 0; i < count; i++)
        year += list[i].figure == SELFTEST_NIGHTS_FALSE && list[i].nights == 365 && list[i].judged;
    assert_int_equal(year, 4);
}

/* The same seed gives the same counts, and each figure counts what it says. */
static void trials_are_counted(void **state)
{
    (void)state;
    for (int figure = 0; figure < SELFTEST_NIGHTS_FIGURES; figure++) {
        selftest_nights two[2];
        for (int k = 0; k < 2; k++) {
            bn_status st = {0};
            gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
            assert_non_null(rng);
            two[k] = (selftest_nights){.figure = (selftest_night_figure)figure,
                                       .rho = 0.4,
                                       .nights = 300,
                                       .delay = 10,
                                       .effect = 0.3};
            for (int i = 0; i < 4; i++)
                assert_int_equal(selftest_nights_trial(&two[k], rng, &st), BN_OK);
            gsl_rng_free(rng);
        }
        assert_memory_equal(&two[0], &two[1], sizeof two[0]);
        assert_int_equal(two[0].series, 4);
        assert_true(two[0].hits <= two[0].of);
        if (figure == SELFTEST_NIGHTS_FOUND || figure == SELFTEST_NIGHTS_SOON)
            assert_int_equal(two[0].hits, 4); /* 30 % cannot be missed */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_judged),
        cmocka_unit_test(the_plan_has_what_it_must_show),
        cmocka_unit_test(trials_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
