/*
 * test_stored_comparison.c - a verdict on a stored comparison is the verdict that it had: sessions
 * of several shapes, judged as bench compare does while it measures, and again out of their
 * records. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/findings/findings.h"
#include "tests/support/test_runtime.h"

#define STEPS 5
#define CELLS 6
#define MOST  (CELLS * 24 + 24)

/* A session: experiments, then controls of the first ones, then those that B lacks. */
typedef struct shape {
    const char *name;
    res_plan plan;
    size_t experiments, controls, missing;
    size_t pairs[CELLS];  /* of experiments, then controls; 0: ended before a first pair */
    double slower[CELLS]; /* by how much B is */
    double spread;
    double slow;  /* share of B's processes that takes half as long again */
    bool torn;    /* A has a process of one pair more in the first experiment, and in its control */
    bool earlier; /* an earlier comparison went to the same folders */
    bool swapped; /* A and B were given the other way round: judged without the controls */
} shape;

typedef struct place {
    res_record *records[4][MOST]; /* a, b, control-a, control-b */
    size_t count[4];
    res_compared cells[CELLS];
    res_versus live, stored;
    uint64_t seed;
} place;

static res_record *process(place *p, const shape *s, size_t cell, int side, size_t pair,
                           int session)
{
    const bool control = cell >= s->experiments;
    fixture_case own = fixture_lazy;
    own.graphs = 1;
    own.batch = (int)(control ? cell - s->experiments : cell) + 1;
    own.wall_ns = (uint64_t)(20e6 * exp(s->spread * fixture_normal(&p->seed)) *
                             (side && !control ? 1 + s->slower[cell] : 1));
    if (side && !control && fixture_uniform(&p->seed) < s->slow)
        own.wall_ns = own.wall_ns * 3 / 2;
    res_record *r = fixture_record(&own, STEPS);
    r->executions[0].device_ns = (double)NAN;
    r->executions[0].device_source = BN_DEVICE_TIME_UNAVAILABLE;
    const size_t cells = s->experiments + s->controls + s->missing;
    json_object_set_new(r->provenance, "comparison",
                        json_pack("{ss ss ss sb sI sI sI sI}", "id", session ? "second" : "first",
                                  "plan", res_plan_name(s->plan), "side", side ? "B" : "A",
                                  "control", (int)control, "pair", (json_int_t)pair + 1, "cells",
                                  (json_int_t)cells, "controls", (json_int_t)s->controls, "missing",
                                  (json_int_t)s->missing));
    const int list = 2 * control + side;
    /* In order of time, and B first in every other pair. */
    snprintf(r->id, sizeof r->id, "20260101T0%d%02zu%02zu.%09d-h-1-0", session, pair, cell,
             (int)(pair % 2) ^ side);
    p->records[list][p->count[list]++] = r;
    return r;
}

static void measure(place *p, const shape *s, int session)
{
    p->live.count = s->experiments + s->controls + s->missing;
    for (size_t c = 0; c < s->experiments + s->controls; c++) {
        res_compared *cell = &p->cells[c];
        *cell = (res_compared){.plan = s->plan, .control = c >= s->experiments};
        for (size_t i = 0; i < s->pairs[c]; i++) {
            cell->a[cell->pairs] = process(p, s, c, 0, i, session);
            cell->b[cell->pairs++] = process(p, s, c, 1, i, session);
            cell->experiment = cell->a[0]->experiment;
        }
        if (s->torn && (c == 0 || c == s->experiments))
            (void)process(p, s, c, 0, s->pairs[c], session);
    }
    for (size_t i = 0; i < s->missing; i++) {
        res_compared *cell = &p->cells[s->experiments + s->controls + i];
        *cell = (res_compared){
            .plan = s->plan, .failed = 'B', .missing = true, .failure = BN_NOT_FOUND};
        cell->experiment.batch = 100 + (int)i;
    }
}

static res_collection list_of(place *p, int list)
{
    return (res_collection){.records = p->records[list], .count = p->count[list]};
}

/* Judges the records of P as bench compare --store X/a --store X/b does. */
static void judge_stored(place *p, bool swapped, bool controls)
{
    const res_choice choice[2] = {{.store = "a"}, {.store = "b"}};
    const res_collection a = list_of(p, swapped), b = list_of(p, !swapped), of_a = list_of(p, 2),
                         of_b = list_of(p, 3);
    bn_status st = {0};
    res_versus_begin(&p->stored, 0);
    p->stored.all_measures = true;
    p->stored.whole = true;
    assert_ok(res_versus_pair(&a, &b, choice, &p->stored, &st), &st);
    if (controls)
        res_versus_pair_controls(&of_a, &of_b, &p->stored);
    assert_ok(res_versus_judge(&p->stored, &st), &st);
}

static const res_compared *like(const res_versus *versus, const res_compared *cell)
{
    for (size_t i = 0; i < versus->count; i++)
        if (versus->cells[i].control == cell->control &&
            res_same_request(&versus->cells[i].experiment, &cell->experiment))
            return &versus->cells[i];
    return NULL;
}

static void assert_same(const res_versus *live, const res_versus *stored)
{
    const res_versus_sum x = res_versus_add_up(live), y = res_versus_add_up(stored);
    assert_int_equal(live->family, stored->family);
    assert_memory_equal(&live->slow, &stored->slow, sizeof live->slow);
    assert_int_equal(live->b_slow, stored->b_slow);
    assert_int_equal(x.slower, y.slower);
    assert_int_equal(x.faster, y.faster);
    assert_int_equal(x.equivalent, y.equivalent);
    assert_int_equal(x.uneven, y.uneven);
    assert_int_equal(x.undecided, y.undecided);
    assert_int_equal(x.inconclusive, y.inconclusive);
    assert_int_equal(x.missing, y.missing);
    assert_int_equal(x.unmeasured, y.unmeasured);
    assert_int_equal(x.alarms, y.alarms);
    assert_int_equal(x.open, y.open);
    for (size_t i = 0; i < live->count; i++) {
        const res_compared *cell = &live->cells[i], *twin = like(stored, cell);
        if (cell->pairs == 0)
            continue;
        assert_non_null(twin);
        assert_int_equal(cell->pairs, twin->pairs);
        for (int m = 0; m < RES_MEASURE_COUNT; m++) {
            const res_comparison *c = res_compared_measure(cell, (res_measure)m),
                                 *d = res_compared_measure(twin, (res_measure)m);
            assert_int_equal(c != NULL, d != NULL);
            if (!c)
                continue;
            assert_string_equal(res_verdict_name(c->verdict), res_verdict_name(d->verdict));
            assert_true(c->p_holm == d->p_holm && c->share == d->share && c->level == d->level);
            assert_true(c->ratio.low == d->ratio.low || isnan(c->ratio.low));
            assert_true(c->p_equivalent_holm == d->p_equivalent_holm);
        }
    }
}

static void begin(place *p, const shape *s, uint64_t seed)
{
    bn_status st = {0};
    memset(p, 0, sizeof *p);
    p->seed = seed;
    if (s->earlier) {
        shape other = *s;
        for (size_t i = 0; i < CELLS; i++)
            other.slower[i] = 0.5;
        measure(p, &other, 0);
    }
    res_versus_begin(&p->live, 0);
    p->live.all_measures = true;
    p->live.cells = p->cells;
    measure(p, s, 1);
    assert_ok(res_versus_judge(&p->live, &st), &st);
}

static void end(place *p)
{
    p->live.cells = NULL;
    res_versus_free(&p->live);
    res_versus_free(&p->stored);
    for (int list = 0; list < 4; list++)
        for (size_t i = 0; i < p->count[list]; i++)
            res_record_free(p->records[list][i]);
}

static const shape shapes[] = {
    {"one and its control", RES_PLAN_USUAL, 1, 1, 0, {12, 12}, {-0.013}, .spread = 0.01},
    {"decided after unlike numbers of pairs",
     RES_PLAN_USUAL,
     3,
     2,
     0,
     {6, 12, 24, 24, 24},
     {0.2, 0, 0.01},
     .spread = 0.015},
    {"judged once, without a control", RES_PLAN_ONCE, 2, 0, 0, {8, 8}, {0.03, 0}, .spread = 0.02},
    {"twelve at most", RES_PLAN_TWELVE, 2, 1, 0, {6, 12, 12}, {0.1, 0}, .spread = 0.02},
    {"some that B lacks", RES_PLAN_USUAL, 2, 1, 2, {12, 12, 12}, {0.02, 0}, .spread = 0.01},
    {"ended by the clock",
     RES_PLAN_USUAL,
     3,
     1,
     0,
     {9, 8, 0, 9},
     {0.03, 0.03, 0},
     .spread = 0.01,
     .torn = true},
    {"not the first in its folders",
     RES_PLAN_USUAL,
     1,
     1,
     0,
     {12, 12},
     {0.015},
     .spread = 0.01,
     .earlier = true},
    {"slow processes", RES_PLAN_USUAL, 3, 1, 0, {24, 24, 24, 24}, {0}, .spread = 0.01, .slow = 0.2},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static void stored_ones_have_the_verdict_that_they_had(void **state)
{
    place *p = *state;
    for (size_t i = 0; i < SHAPES; i++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            begin(p, &shapes[i], seed);
            judge_stored(p, false, true);
            assert_same(&p->live, &p->stored);
            end(p);
        }
}

/* The control was part of the family: without its records what was undecided stays undecided. */
static void lost_controls_decide_nothing(void **state)
{
    place *p = *state;
    size_t differ = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const shape *s = &shapes[0];
        begin(p, s, seed);
        const res_comparison live = p->live.cells[0].comparison;
        for (int swapped = 0; swapped < 2; swapped++) {
            judge_stored(p, swapped, swapped);
            const res_comparison *stored = &p->stored.cells[0].comparison;
            assert_int_equal(p->stored.count, 1);
            assert_true(p->stored.family <= p->live.family);
            assert_true(stored->p_holm >= live.p_holm - 1e-12);
            assert_true(stored->verdict == RES_UNDECIDED || swapped ||
                        stored->verdict == live.verdict);
            /* As before they were part of it. */
            p->stored.planned = 0;
            bn_status st = {0};
            assert_ok(res_versus_judge(&p->stored, &st), &st);
            differ += live.verdict == RES_UNDECIDED && stored->verdict != RES_UNDECIDED;
            res_versus_free(&p->stored);
        }
        end(p);
    }
    print_message("# a family without its control decides %zu of 120 more\n", differ);
    assert_true(differ > 0);
}

/* A record's claim on its session is a number that anybody may have written. */
static void sessions_of_impossible_sizes_are_judged(void **state)
{
    place *p = *state;
    static const json_int_t sizes[] = {-1, INT32_MAX - 1, INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        begin(p, &shapes[0], 1);
        for (int list = 0; list < 4; list++)
            for (size_t k = 0; k < p->count[list]; k++)
                json_object_set_new(json_object_get(p->records[list][k]->provenance, "comparison"),
                                    "cells", json_integer(sizes[i]));
        judge_stored(p, false, true);
        assert_int_equal(p->stored.count, 2);
        end(p);
    }
}

static int make(void **state)
{
    *state = calloc(1, sizeof(place));
    return *state ? 0 : -1;
}

static int unmake(void **state)
{
    free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_ones_have_the_verdict_that_they_had),
        cmocka_unit_test(lost_controls_decide_nothing),
        cmocka_unit_test(sessions_of_impossible_sizes_are_judged),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
