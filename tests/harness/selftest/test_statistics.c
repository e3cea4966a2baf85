/*
 * test_statistics.c - the judgement of bench selftest statistics: it passes our procedure and
 * fails procedures that are wrong. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "harness/selftest/statistics_priv.h"
#include "harness/selftest/verdicts_priv.h"
#include "tests/support/test_runtime.h"

/* ---- the procedure on trial --------------------------------------------------------------- */

static const selftest_scenario *scenario(const char *name)
{
    const selftest_scenario *s = selftest_scenarios;
    while (strcmp(s->name, name) != 0)
        s++;
    return s;
}

static selftest_trials try_design(const selftest_procedure *procedure, selftest_trials t,
                                  size_t families)
{
    bn_status st = {0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    assert_non_null(rng);
    gsl_rng_set(rng, 20261121);
    for (size_t i = 0; i < families; i++)
        assert_ok(selftest_trial(&t, procedure, rng, &st), &st);
    gsl_rng_free(rng);
    return t;
}

static selftest_trials try(const selftest_procedure *procedure, const char *name, size_t pairs,
                           size_t families)
{
    const selftest_trials t = {.scenario = scenario(name), .pairs = pairs, .family = 6};
    return try_design(procedure, t, families);
}

/* With interim analyses up to the last planned one. */
static selftest_trials interim(const selftest_procedure *procedure, const char *name, size_t family,
                               size_t families)
{
    const selftest_trials t = {
        .scenario = scenario(name), .pairs = 24, .family = family, .plan = RES_PLAN_USUAL};
    return try_design(procedure, t, families);
}

static void ours_passes_and_covers(void **state)
{
    (void)state;
    const selftest_trials t = try(&selftest_our_procedure, "jitter", 6, 300);
    const selftest_trials again = try(&selftest_our_procedure, "jitter", 6, 300);
    assert_memory_equal(&t, &again, sizeof t);
    assert_int_equal(selftest_trials_judge(&t), 0);
    print_message("# %zu alarms, %zu intervals of %zu hold\n", t.alarms, t.held, t.trials);
    assert_true(t.held >= 276); /* 92 % */
    assert_int_equal(t.trials, 300);
}

/* Each comparison for itself. */
static void without_holm(res_comparison *list, size_t count, const res_compare_options *o)
{
    for (size_t i = 0; i < count; i++)
        res_compare_family(&list[i], 1, o);
}

/* Intervals as if pairs were as many again. */
static bn_code narrow(const res_values *values, const res_compare_options *o, res_comparison *c,
                      bn_status *st)
{
    bn_code code = res_compare(values, o, c, st);
    c->ratio.low = c->ratio.estimate * sqrt(c->ratio.low / c->ratio.estimate);
    c->ratio.high = c->ratio.estimate * sqrt(c->ratio.high / c->ratio.estimate);
    return code;
}

static void by_interval(res_comparison *list, size_t count, const res_compare_options *o)
{
    res_compare_family(list, count, o);
    for (size_t i = 0; i < count; i++)
        list[i].verdict = list[i].ratio.low > 1    ? RES_SLOWER
                          : list[i].ratio.high < 1 ? RES_FASTER
                                                   : RES_UNDECIDED;
}

/* Promises twice what it sees, and takes silence for a proof. */
static void boastful(res_comparison *list, size_t count, const res_compare_options *o)
{
    res_compare_family(list, count, o);
    for (size_t i = 0; i < count; i++) {
        list[i].mde /= 2;
        list[i].critical /= 2;
        if (list[i].verdict == RES_UNDECIDED)
            list[i].verdict = RES_EQUIVALENT;
    }
}

static void fixed_order(uint64_t seed, size_t pairs, bool *b_first)
{
    (void)seed;
    for (size_t i = 0; i < pairs; i++)
        b_first[i] = i & 1;
}

static void wrong_procedures_fail(void **state)
{
    (void)state;
    const selftest_procedure alone = {res_order, res_compare, without_holm};
    selftest_trials t = try(&alone, "jitter", 10, 200);
    print_message("# without Holm: %zu of %zu families\n", t.alarms, t.trials);
    assert_int_equal(selftest_trials_judge(&t) & SELFTEST_FAULT_ALARMS, SELFTEST_FAULT_ALARMS);

    const selftest_procedure pot = {res_order, narrow, by_interval};
    t = try(&pot, "two modes", 10, 100);
    print_message("# intervals of half the width: %zu of %zu families\n", t.alarms, t.trials);
    assert_int_equal(selftest_trials_judge(&t) & (SELFTEST_FAULT_ALARMS | SELFTEST_FAULT_COVERAGE),
                     SELFTEST_FAULT_ALARMS | SELFTEST_FAULT_COVERAGE);

    const selftest_procedure abba = {fixed_order, res_compare, res_compare_family};
    t = try(&abba, "periodic", 10, 300);
    print_message("# ABBA with a periodic disturbance: %zu of %zu families\n", t.alarms, t.trials);
    assert_int_equal(selftest_trials_judge(&t) & SELFTEST_FAULT_ALARMS, SELFTEST_FAULT_ALARMS);

    const selftest_procedure proud = {res_order, res_compare, boastful};
    t = try(&proud, "wandering", 6, 200);
    assert_int_equal(selftest_trials_judge(&t),
                     SELFTEST_FAULT_MDE | SELFTEST_FAULT_POWER | SELFTEST_FAULT_EQUIVALENT);
}

/* Interim analyses save pairs, and lose little: the same effect is found with fewer. */
static void interim_analyses_find_as_much_with_fewer_pairs(void **state)
{
    (void)state;
    const selftest_trials early = interim(&selftest_our_procedure, "jitter", 1, 300);
    const selftest_trials fixed = {.scenario = scenario("jitter"), .pairs = 24, .family = 1};
    const selftest_trials all = try_design(&selftest_our_procedure, fixed, 100);
    const double used = (double)early.used_slowed[2] / 300;
    print_message("# 5 %% slower: %zu of 300 in %.2f pairs; %zu of 100 in 24\n", early.found[2],
                  used, all.found[2]);
    assert_int_equal(selftest_trials_judge(&early), 0);
    assert_true(early.found[2] >= 297 && all.found[2] == 100);
    assert_true(used >= 6 && used < 7.2);
    assert_int_equal(all.used_slowed[2], 24 * 100);
    /* Nothing is equivalent before 12 pairs. */
    assert_true(early.used >= 12 * (300 - early.alarms) && early.used < 14 * 300);
}

/* Interim analyses, each with the whole level, and the intervals of one alone. */
static bn_code as_if_once(const res_values *values, const res_compare_options *o, res_comparison *c,
                          bn_status *st)
{
    res_compare_options once = *o;
    once.plan = RES_PLAN_ONCE;
    return res_compare(values, &once, c, st);
}

static void analyses_that_take_the_whole_level_fail(void **state)
{
    (void)state;
    const selftest_procedure greedy = {res_order, as_if_once, res_compare_family};
    /* Where nothing is shown equivalent early, and all interim analyses are made. */
    selftest_trials t = interim(&greedy, "wandering", 1, 1500);
    print_message("# whole level at each analysis: %zu of %zu\n", t.alarms, t.trials);
    assert_int_equal(selftest_trials_judge(&t) & SELFTEST_FAULT_ALARMS, SELFTEST_FAULT_ALARMS);
    t = interim(&selftest_our_procedure, "wandering", 1, 400);
    assert_int_equal(selftest_trials_judge(&t), 0);
}

static void shares_have_exact_intervals(void **state)
{
    (void)state;
    res_interval share = selftest_share(0, 10);
    assert_near(share.low, 0, 0);
    assert_near(share.high, 0.3084971, 1e-6);
    share = selftest_share(5, 10);
    assert_near(share.low, 0.1870860, 1e-6);
    assert_near(share.high, 0.8129140, 1e-6);
    share = selftest_share(10, 10);
    assert_near(share.low, 0.6915029, 1e-6);
    assert_near(share.high, 1, 0);
    assert_true(isnan(selftest_share(0, 0).estimate));
}

static void each_fault_is_judged_by_its_bound(void **state)
{
    (void)state;
    const selftest_trials good = {.scenario = scenario("quiet"),
                                  .pairs = 12,
                                  .trials = 500,
                                  .alarms = 35,
                                  .held = 466,
                                  .held_slowed = {466, 466, 466},
                                  .equivalent = 450,
                                  .found = {100, 200, 300},
                                  .predicted = {174, 274, 374},
                                  .wrongly_equivalent = 35,
                                  .promised = 500,
                                  .mde_found = 350};
    assert_int_equal(selftest_trials_judge(&good), 0);
    selftest_trials t = good;
    t.alarms = 36; /* 7.2 % [5.1, 9.8] */
    assert_int_equal(selftest_trials_judge(&t), SELFTEST_FAULT_ALARMS);
    t = good;
    t.held = 460; /* 92 % [89.3, 94.2] */
    assert_int_equal(selftest_trials_judge(&t), SELFTEST_FAULT_COVERAGE);
    t = good;
    t.held_slowed[1] = 460;
    assert_int_equal(selftest_trials_judge(&t), SELFTEST_FAULT_COVERAGE);
    t = good;
    t.mde_found = 320; /* 64 % [59.6, 68.2] */
    assert_int_equal(selftest_trials_judge(&t), SELFTEST_FAULT_MDE);
    t.mde_found = 465; /* 93 % [90.4, 95.1] */
    assert_int_equal(selftest_trials_judge(&t), SELFTEST_FAULT_MDE);
    t = good;
    t.predicted[1] = 276;
    assert_int_equal(selftest_trials_judge(&t), SELFTEST_FAULT_POWER);
    t = good;
    t.wrongly_equivalent = 36;
    assert_int_equal(selftest_trials_judge(&t), SELFTEST_FAULT_EQUIVALENT);
    t = good;
    t.equivalent = 449;
    assert_int_equal(selftest_trials_judge(&t), SELFTEST_FAULT_EQUIVALENT);
    t = (selftest_trials){.scenario = scenario("jitter"), .pairs = 4};
    assert_true(selftest_trials_judge(&t) & SELFTEST_FAULT_ALARMS); /* nothing was tried */
}

/* ---- slow processes -------------------------------------------------------------------------- */

static selftest_verdicts verdicts(double slow_a, double slow_b, size_t experiments, size_t times)
{
    selftest_verdicts v = {.spread = 0.01,
                           .slow = {slow_a, slow_b},
                           .experiments = experiments,
                           .plan = RES_PLAN_USUAL,
                           .pairs = 24};
    bn_status st = {0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    assert_non_null(rng);
    gsl_rng_set(rng, 77);
    for (size_t i = 0; i < times; i++)
        assert_ok(selftest_verdicts_trial(&v, rng, &st), &st);
    gsl_rng_free(rng);
    return v;
}

/* Thresholds are three standard deviations of 400 away from what was simulated: 7 % equivalent, 71
 * % with B slow, 1.2 % of like sides. */
static void slow_processes_are_told_and_never_equivalent(void **state)
{
    (void)state;
    selftest_verdicts v = verdicts(0, 0, 1, 400);
    assert_int_equal(selftest_verdicts_judge(&v), 0);
    assert_true(v.of[RES_EQUIVALENT] >= 390 && v.of[RES_UNEVEN] == 0);
    assert_int_equal(v.passed, 400 - v.claims);
    v = verdicts(0, 0.2, 1, 400);
    assert_int_equal(selftest_verdicts_judge(&v), 0);
    print_message(
        "# a fifth of B: %zu equivalent, %zu uneven, %zu slower, %zu \"has slow\" of 400\n",
        v.of[RES_EQUIVALENT], v.of[RES_UNEVEN], v.of[RES_SLOWER], v.b_slow);
    assert_true(v.of[RES_EQUIVALENT] <= 44 && v.b_slow >= 256);
    assert_true(v.hidden == 0 && v.of[RES_FASTER] == 0);
    v = verdicts(0.2, 0.2, 1, 400);
    assert_int_equal(selftest_verdicts_judge(&v), 0);
    assert_true(v.b_slow <= 12);
}

static void faults_of_verdicts_are_judged_by_their_bounds(void **state)
{
    (void)state;
    const selftest_verdicts good = {.spread = 0.01,
                                    .experiments = 2,
                                    .pairs = 24,
                                    .comparisons = 1000,
                                    .of = {[RES_EQUIVALENT] = 1960, [RES_UNDECIDED] = 40},
                                    .b_slow = 22,
                                    .claims = 60};
    selftest_verdicts v = good;
    assert_int_equal(selftest_verdicts_judge(&v), 0);
    v.b_slow = 26; /* 2.6 % [1.7, 3.8] */
    assert_int_equal(selftest_verdicts_judge(&v), SELFTEST_VERDICTS_SLOW);
    v.slow[1] = 0.1;
    assert_int_equal(selftest_verdicts_judge(&v), 0);
    v.hidden = 1;
    assert_int_equal(selftest_verdicts_judge(&v), SELFTEST_VERDICTS_HIDDEN);
    v = good;
    v.claims = 70; /* 7 % [5.5, 8.8] */
    assert_int_equal(selftest_verdicts_judge(&v), SELFTEST_VERDICTS_CLAIMS);
    v = good;
    v.of[RES_EQUIVALENT] = 1870; /* 93.5 % [92.3, 94.5] */
    assert_int_equal(selftest_verdicts_judge(&v), SELFTEST_VERDICTS_EQUIVALENT);
    v = (selftest_verdicts){.experiments = 1};
    assert_int_equal(selftest_verdicts_judge(&v), SELFTEST_VERDICTS_HIDDEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ours_passes_and_covers),
        cmocka_unit_test(wrong_procedures_fail),
        cmocka_unit_test(interim_analyses_find_as_much_with_fewer_pairs),
        cmocka_unit_test(analyses_that_take_the_whole_level_fail),
        cmocka_unit_test(shares_have_exact_intervals),
        cmocka_unit_test(each_fault_is_judged_by_its_bound),
        cmocka_unit_test(slow_processes_are_told_and_never_equivalent),
        cmocka_unit_test(faults_of_verdicts_are_judged_by_their_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
