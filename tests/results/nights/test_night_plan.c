/*
 * test_night_plan.c - what a night can claim, before it is measured: by hand. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/nights/nights.h"
#include "tests/support/test_runtime.h"

#define PROCESSES 4
#define STEPS     3

/* The logs of their medians: standard deviation sqrt(0.0002 / 3). */
static const double logs[PROCESSES] = {-0.01, 0, 0.01, 0};

typedef struct place {
    res_record *list[PROCESSES];
    res_collection before;
} place;

static int begin(void **state)
{
    place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    for (int i = 0; i < PROCESSES; i++) {
        p->list[i] = fixture_record(&fixture_lazy, STEPS);
        for (int k = 0; k < STEPS; k++)
            p->list[i]->wall_ns[k] = (uint64_t)llround(1e9 * exp(logs[i]));
    }
    p->before = (res_collection){.records = p->list, .count = PROCESSES};
    *state = p;
    return 0;
}

static int end(void **state)
{
    place *p = *state;
    for (int i = 0; i < PROCESSES; i++)
        res_record_free(p->list[i]);
    free(p);
    return 0;
}

static void assert_claims(const res_night_plan *plan, const char *name)
{
    assert_string_equal(res_night_claims_name(plan->claims), name);
}

static void without_a_baseline_or_with_the_same_build(void **state)
{
    const place *p = *state;
    const res_collection none = {0};
    res_night_ahead ahead = {.before = &none, .cells = 1, .repetitions = 8};
    res_night_plan plan = res_night_plan_make(&ahead);
    assert_claims(&plan, "no-baseline");
    assert_true(isnan(plan.detectable));
    ahead.before = &p->before;
    ahead.same = true;
    plan = res_night_plan_make(&ahead);
    assert_claims(&plan, "same-build");
    assert_true(isnan(plan.detectable));
}

static void pairs_by_hand(void **state)
{
    const place *p = *state;
    res_night_ahead ahead = {.before = &p->before, .control = true, .cells = 1, .repetitions = 8};
    res_night_plan plan = res_night_plan_make(&ahead);
    assert_claims(&plan, "pairs");
    assert_int_equal(plan.pairs, 8);
    assert_int_equal(plan.most, 8);
    assert_int_equal(plan.known, 1);
    /* 4 % over a family of 3: t(0.99333, 7) + t(0.9, 3) = 3.288321 + 1.637744, times the root of
     * two of the deviation over that of eight. */
    assert_near(res_wall_family(1), 3, 1e-12);
    assert_near(log1p(plan.detectable), 4.926065 * sqrt(0.0002 / 3) / 2, 1e-6);
    assert_near(plan.least, plan.detectable, 0);
    /* More pairs show less. */
    ahead.repetitions = 40;
    assert_true(res_night_plan_make(&ahead).detectable < plan.detectable);
    /* Another night's records of one process do not show how processes vary. */
    const res_collection one = {.records = p->before.records, .count = 1};
    ahead.before = &one;
    plan = res_night_plan_make(&ahead);
    assert_claims(&plan, "pairs");
    assert_true(isnan(plan.detectable) && plan.known == 0);
}

static void few_repetitions_claim_nothing(void **state)
{
    const place *p = *state;
    res_night_ahead ahead = {.before = &p->before, .control = true, .cells = 119, .repetitions = 4};
    res_night_plan plan = res_night_plan_make(&ahead);
    assert_claims(&plan, "few-pairs");
    assert_true(plan.pairs < plan.needed && isnan(plan.detectable));
    ahead.interim = true;
    plan = res_night_plan_make(&ahead);
    assert_claims(&plan, "further-pairs");
    assert_int_equal(plan.most, res_plan_last(RES_NIGHT_PLAN));
    /* Experiments that seem slower by half of 5 % are measured further, so no less is detectable.
     */
    assert_true(plan.detectable > 0.025);
}

/* Thirty nights of one series, without a control. */
static void nights_by_the_history(void **state)
{
    const place *p = *state;
    res_timeline series = {.experiment = &p->list[0]->experiment,
                           .simulated = p->list[0]->simulated};
    const res_history history = {.series = &series, .count = 1};
    const res_change_options options = res_change_defaults();
    res_origin origin = {"", "", "", ""};
    double values[30];
    uint64_t seed = 4;
    bn_status st = {0};
    res_night_ahead ahead = {.before = &p->before, .history = &history, .cells = 2};
    series.nights = calloc(30, sizeof *series.nights);
    assert_non_null(series.nights);
    for (size_t i = 0; i < 30; i++) {
        values[i] = 1e6 * exp(0.01 * fixture_normal(&seed));
        series.nights[i] = (res_night){.value = values[i],
                                       .low = (double)NAN,
                                       .high = (double)NAN,
                                       .source = "",
                                       .settings = "",
                                       .origin = &origin};
    }
    const size_t counts[] = {RES_LEVEL_NIGHTS, 30};
    for (size_t k = 0; k < 2; k++) {
        series.count = counts[k];
        assert_ok(res_timeline_divide(&series, &options, &st), &st);
        assert_int_equal(series.stretch_count, 1);
        const res_night_plan plan = res_night_plan_make(&ahead);
        assert_claims(&plan, k == 0 ? "few-nights" : "two-nights");
        if (k == 0)
            assert_true(isnan(plan.detectable));
        const res_latest_nights known = res_latest_nights_of(values, 30, 1, series.changes.rho);
        if (k == 1)
            assert_near(plan.detectable, res_latest_nights_mde(&known, 2, 0.005), 1e-12);
    }
    res_timeline_free(&series);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(without_a_baseline_or_with_the_same_build),
                                       TEST(pairs_by_hand), TEST(few_repetitions_claim_nothing),
                                       TEST(nights_by_the_history)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
