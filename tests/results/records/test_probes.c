/*
 * test_probes.c - device time and overhead of executions whose truth is known, from rounds in
 * which they were queued and awaited. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#define MOST 200

/* An execution of DEVICE ns that costs OVERHEAD ns to await, submitted in SUBMIT ns. */
typedef struct truth {
    double device, overhead, submit;
    double noise; /* of a round's awaited and queued time, standard deviation as a share */
    double later, queueing; /* by how much the second half of the awaited, and the queue, are
                               slower */
} truth;

static void make(res_probe *probes, size_t count, const truth *t, uint64_t depth, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++) {
        const double d = (double)depth, half = floor(d / 2), lone = t->device + t->overhead;
        const double a = exp(t->noise * fixture_normal(seed));
        const double b = exp(t->noise * fixture_normal(seed));
        const double q = exp(t->noise * fixture_normal(seed)) * (1 + t->queueing);
        const double first = half * lone * a, second = (d - half) * lone * b * (1 + t->later);
        probes[i] = (res_probe){.round = i,
                                .depth = depth,
                                .awaited_ns = (uint64_t)(first + second),
                                .first_ns = (uint64_t)first,
                                .queued_ns = (uint64_t)(q * (t->overhead + d * t->device)),
                                .submit_ns = (uint64_t)(d * t->submit)};
    }
}

static void steady_figures_are_exact(void **state)
{
    (void)state;
    const truth t = {.device = 1e6, .overhead = 4e4, .submit = 1e4};
    const uint64_t depths[] = {2, 3, 6};
    for (size_t i = 0; i < 3; i++) {
        res_probe probes[5];
        uint64_t seed = 1;
        make(probes, 5, &t, depths[i], &seed);
        const res_probe_estimate e = res_probes_estimate(probes, 5);
        assert_string_equal(e.refusal, "");
        assert_int_equal(e.rounds, 5);
        assert_near(e.device.estimate, 1e6, 2);
        assert_near(e.device.low, 1e6, 2);
        assert_near(e.device.high, 1e6, 2);
        assert_near(e.overhead.estimate, 4e4, 2);
        assert_near(e.lone_ns, 1.04e6, 2);
        assert_near(e.null.estimate, 0, 1e-5);
    }
}

/* By hand: overheads (S - Q) / 5 are 20, 10, 30 us, lone times S / 6 are 100, 120, 110 us. */
static void medians_are_taken_by_round(void **state)
{
    (void)state;
    const res_probe probes[] = {
        {0, 6, 600000, 300000, 500000, 6000},
        {1, 6, 720000, 360000, 670000, 6000},
        {2, 6, 660000, 330000, 510000, 6000},
    };
    const res_probe_estimate e = res_probes_estimate(probes, 3);
    assert_near(e.overhead.estimate, 20000, 1e-6);
    assert_near(e.lone_ns, 110000, 1e-6);
    assert_near(e.device.estimate, 90000, 1e-6);
    /* Of three rounds, Student's t: 4.303 standard errors of 10 us / sqrt(3), 1.2533 times. */
    assert_near(e.overhead.low, 20000 - 31135, 3);
    assert_near(e.overhead.high, 20000 + 31135, 3);
}

/* Rounds that lack a half of the probe do not count, and the rest does. */
static void rounds_without_a_queue_do_not_count(void **state)
{
    (void)state;
    const truth t = {.device = 1e6, .overhead = 4e4};
    res_probe probes[7];
    uint64_t seed = 1;
    make(probes, 7, &t, 6, &seed);
    probes[0].queued_ns = 0;
    probes[2].awaited_ns = RES_UNKNOWN;
    probes[4].depth = 1;
    probes[6].submit_ns = RES_UNKNOWN;
    const res_probe_estimate e = res_probes_estimate(probes, 7);
    assert_int_equal(e.rounds, 4);
    assert_string_equal(e.refusal, "");
    assert_near(e.device.estimate, 1e6, 2);
    const res_probe_estimate few = res_probes_estimate(probes, 4);
    assert_int_equal(few.rounds, 2);
    assert_string_equal(few.refusal, "2 of at least 3 rounds");
    assert_true(isnan(few.device.estimate) && isnan(few.overhead.low) && isnan(few.null.high));
    assert_string_equal(res_probes_estimate(NULL, 0).refusal, "0 of at least 3 rounds");
}

static const char *refusal_of(const truth *t)
{
    static res_probe_estimate e;
    res_probe probes[20];
    uint64_t seed = 7;
    make(probes, 20, t, 6, &seed);
    e = res_probes_estimate(probes, 20);
    return e.refusal;
}

static void what_cannot_stand_is_refused(void **state)
{
    (void)state;
    const truth slow_host = {.device = 5e4, .overhead = 1e4, .submit = 4.5e4, .noise = 0.001};
    const truth queue_is_slower = {.device = 1e6, .overhead = 1e4, .noise = 0.001, .queueing = 0.1};
    const truth growing = {.device = 1e6, .overhead = 5e4, .noise = 0.001, .later = 0.1};
    const truth shrinking = {.device = 1e6, .overhead = 5e4, .noise = 0.001, .later = -0.1};
    const truth nothing = {.device = 100, .overhead = 1e5, .noise = 0.05};
    assert_non_null(strstr(refusal_of(&slow_host), "45.0 us"));
    assert_non_null(strstr(refusal_of(&queue_is_slower), "alone"));
    assert_non_null(strstr(refusal_of(&growing), "longer"));
    assert_non_null(strstr(refusal_of(&shrinking), "less"));
    assert_true(refusal_of(&nothing)[0] != '\0');
}

/* Five rounds on one side of the margin are no evidence yet (1 in 16), six are (1 in 32). */
static void few_rounds_cannot_refute_the_null(void **state)
{
    (void)state;
    const truth growing = {.device = 1e6, .overhead = 5e4, .later = 0.1};
    res_probe probes[6];
    uint64_t seed = 1;
    make(probes, 6, &growing, 6, &seed);
    assert_string_equal(res_probes_estimate(probes, 5).refusal, "");
    assert_non_null(strstr(res_probes_estimate(probes, 6).refusal, "longer"));
}

/* Refusals by chance would keep the processes whose overhead came out large, and so the mean of
 * those that are left would be too large. With five rounds of 5 % noise, it is off by half a
 * percent of an execution; were all refused that are negative by 5 %, it would be 2 %. */
static void refusals_do_not_choose_large_overheads(void **state)
{
    (void)state;
    uint64_t seed = 11;
    const truth t = {.device = 1e6, .overhead = 1e4, .noise = 0.05};
    double sum = 0;
    int kept = 0;
    for (int i = 0; i < 2000; i++) {
        res_probe probes[5];
        make(probes, 5, &t, 2, &seed);
        const res_probe_estimate e = res_probes_estimate(probes, 5);
        if (e.refusal[0])
            continue;
        kept++;
        sum += e.overhead.estimate;
    }
    assert_true(kept > 1850);
    assert_near(sum / kept, 1e4, 1e4);
}

/* An overhead of about nothing is no reason for a refusal: half of such estimates are negative. */
static void no_overhead_is_no_refusal(void **state)
{
    (void)state;
    uint64_t seed = 3;
    int refused = 0, negative = 0;
    for (int i = 0; i < 100; i++) {
        const truth t = {.device = 1e6, .noise = 0.01};
        res_probe probes[20];
        make(probes, 20, &t, 6, &seed);
        const res_probe_estimate e = res_probes_estimate(probes, 20);
        refused += e.refusal[0] != '\0';
        negative += e.overhead.estimate < 0;
    }
    assert_in_range(negative, 20, 80);
    assert_in_range(refused, 0, 10);
}

/* With noise of which all rounds have the same, the intervals hold the truth about as often as
 * they say: a percentile bootstrap of a median of 20 holds it some points less often. */
static void intervals_hold_the_truth(void **state)
{
    (void)state;
    enum { TRIALS = 300 };
    uint64_t seed = 11;
    int device = 0, overhead = 0, null = 0;
    for (int i = 0; i < TRIALS; i++) {
        const truth t = {.device = 1e6, .overhead = 1e5, .noise = 0.02};
        res_probe probes[20];
        make(probes, 20, &t, 6, &seed);
        const res_probe_estimate e = res_probes_estimate(probes, 20);
        device += e.device.low <= 1e6 && e.device.high >= 1e6;
        overhead += e.overhead.low <= 1e5 && e.overhead.high >= 1e5;
        null += e.null.low <= 0 && e.null.high >= 0;
    }
    assert_in_range(device, TRIALS * 88 / 100, TRIALS);
    assert_in_range(overhead, TRIALS * 88 / 100, TRIALS);
    assert_in_range(null, TRIALS * 88 / 100, TRIALS);
}

static void same_input_same_answer(void **state)
{
    (void)state;
    const truth t = {.device = 1e6, .overhead = 1e5, .noise = 0.05};
    res_probe probes[MOST];
    uint64_t seed = 5;
    make(probes, MOST, &t, 6, &seed);
    const res_probe_estimate a = res_probes_estimate(probes, MOST);
    const res_probe_estimate b = res_probes_estimate(probes, MOST);
    assert_memory_equal(&a.device, &b.device, sizeof a.device);
    assert_memory_equal(&a.overhead, &b.overhead, sizeof a.overhead);
    assert_true(res_probes_null(probes, MOST) == a.null.estimate);
    assert_true(isnan(res_probes_null(probes, 2)));
    assert_true(a.device.low < a.device.estimate && a.device.estimate < a.device.high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_figures_are_exact),
        cmocka_unit_test(medians_are_taken_by_round),
        cmocka_unit_test(rounds_without_a_queue_do_not_count),
        cmocka_unit_test(what_cannot_stand_is_refused),
        cmocka_unit_test(few_rounds_cannot_refute_the_null),
        cmocka_unit_test(refusals_do_not_choose_large_overheads),
        cmocka_unit_test(no_overhead_is_no_refusal),
        cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(same_input_same_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
