/*
 * test_further.c - nights of a large suite on simulated series: four pairs tell nothing in a family
 * of hundreds, so what looks slower gets further pairs. How often a slower build is found, how
 * often one that is not, and whether what a night says it would have seen is what it sees. And how
 * the cells of a night are counted. Seeded; nothing is measured. Needs no plugin. Ten or five
 * nights of each kind; test_full_further.c has four times as many.
 */
#include "tests/support/results_fixture.h"

#include "results/nights/further_priv.h"
#include "tests/support/test_runtime.h"

#define CELLS 119 /* as many as the suite "nightly" has */
#define FIRST 4   /* its repetitions */
#define MOST  12  /* of RES_NIGHT_PLAN */
#define STEPS 3
#ifndef TIMES
#define TIMES 1 /* test_full_further.c has more nights */
#endif

/* All pairs that a night could run: by process, then cell. */
typedef struct place {
    res_record *lists[2][MOST * CELLS], *taken[2][MOST * CELLS];
    res_record *then[CELLS];
    size_t cells, given[CELLS];
    uint64_t seed;
} place;

static res_record *make(size_t cell, size_t process, const char *runtime)
{
    fixture_case c = fixture_lazy;
    c.runtime = runtime;
    c.graphs = 1;
    c.batch = (int)cell + 1;
    res_record *r = fixture_record(&c, STEPS);
    r->simulated = true;
    r->executions[0].device_source = BN_DEVICE_TIME_PROFILER;
    r->executions[0].overhead_ns = 2e6;
    snprintf(r->id, sizeof r->id, "20260101T03%02zu%02zu.%09zuZ-h-%s-0", process, cell % 60, cell,
             runtime);
    return r;
}

static int begin(void **state)
{
    place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    res_store_begin();
    for (size_t i = 0; i < CELLS; i++)
        p->then[i] = make(i, 0, "new");
    for (size_t i = 0; i < MOST * CELLS; i++) {
        p->lists[0][i] = make(i % CELLS, i / CELLS, "old");
        p->lists[1][i] = make(i % CELLS, i / CELLS, "new");
    }
    *state = p;
    return 0;
}

static int end(void **state)
{
    place *p = *state;
    for (size_t i = 0; i < CELLS; i++)
        res_record_free(p->then[i]);
    for (size_t i = 0; i < MOST * CELLS; i++) {
        res_record_free(p->lists[0][i]);
        res_record_free(p->lists[1][i]);
    }
    free(p);
    return 0;
}

/* How tonight's build differs, and how much processes do. */
typedef struct world {
    size_t cells, slow; /* so many of them are slower */
    double spread, wall, device;
} world;

/* Lets all pairs of a night of W happen. */
static void happen(place *p, const world *w, uint64_t seed)
{
    p->seed = seed * 0x9E3779B97F4A7C15u + 1;
    p->cells = w->cells;
    for (int i = 0; i < 16; i++)
        fixture_uniform(&p->seed);
    for (size_t i = 0; i < MOST * CELLS; i++)
        for (int side = 0; side < 2; side++) {
            res_record *r = p->lists[side][i];
            const bool slow = side == 1 && i % CELLS < w->slow;
            const double ns = 1e7 * exp(w->spread * fixture_normal(&p->seed));
            for (size_t k = 0; k < STEPS; k++)
                r->wall_ns[k] = (uint64_t)(ns * (slow ? 1 + w->wall : 1)) + k;
            r->executions[0].device_ns =
                5e6 * exp(w->spread * fixture_normal(&p->seed)) * (side == 1 ? 1 + w->device : 1);
        }
}

/* The records of the pairs that each cell was given. */
static res_collection taken(place *p, int side)
{
    res_collection all = {.records = p->taken[side]};
    for (size_t i = 0; i < MOST * CELLS; i++)
        if (i % CELLS < p->cells && i / CELLS < p->given[i % CELLS])
            all.records[all.count++] = p->lists[side][i];
    return all;
}

static void judge(place *p, bool interim, res_tonight_verdict *v)
{
    const res_collection again = taken(p, 0), records = taken(p, 1),
                         before = {.records = p->then, .count = p->cells};
    const res_tonight tonight = {
        .records = &records, .control = &again, .before = &before, .interim = interim};
    bn_status st = {0};
    assert_ok(res_tonight_judge(&tonight, v, &st), &st);
    assert_int_equal(v->basis, RES_BASIS_CONTROL);
    assert_int_equal(v->cells, p->cells);
}

/* Runs the night as bench nightly does; returns how many cells got further pairs. */
static size_t pass(place *p, res_tonight_verdict *v)
{
    size_t reached = FIRST, further = 0;
    for (size_t i = 0; i < CELLS; i++)
        p->given[i] = FIRST;
    judge(p, true, v);
    for (size_t next; (next = res_tonight_next_interim(v, reached)) > 0; reached = next) {
        for (size_t i = 0; i < p->cells; i++)
            if (res_tonight_candidate(v, &p->lists[1][i]->experiment))
                p->given[i] = next;
        res_tonight_free(v);
        judge(p, true, v);
    }
    for (size_t i = 0; i < p->cells; i++)
        further += p->given[i] > FIRST;
    return further;
}

typedef struct rates {
    double alarms;  /* share of nights that find a cell slower which is not */
    double found;   /* share of the slower cells that are found */
    double further; /* share of cells that get further pairs */
    double mde;     /* mean of what the nights say that they see in all others */
    double undecided; /* share of cells */
} rates;

static rates try(place *p, const char *name, const world *w, int nights)
{
    rates r = {0};
    for (int night = 0; night < nights; night++) {
        res_tonight_verdict v;
        size_t right = 0, wrong = 0;
        happen(p, w, (uint64_t)night + 1);
        r.further += (double)pass(p, &v) / (double)w->cells;
        for (size_t i = 0; i < v.versus.count; i++) {
            const res_headline head = res_compared_headline(&v.versus, &v.versus.cells[i]);
            const bool slow = (size_t)v.versus.cells[i].experiment.batch <= w->slow;
            const bool found = head.verdict == RES_SLOWER && !head.little;
            right += found && slow;
            wrong += found && !slow;
        }
        assert_int_equal(v.slower, right + wrong);
        r.alarms += wrong > 0;
        r.found += w->slow ? (double)right / (double)w->slow : 0;
        r.undecided += (double)v.inconclusive / (double)w->cells;
        r.mde += fmax(v.mde, v.hidden);
        res_tonight_free(&v);
    }
    r.alarms /= nights;
    r.found /= nights;
    r.further /= nights;
    r.undecided /= nights;
    r.mde /= nights;
    print_message("# %s: %d nights: false alarms in %.1f %%, found %.1f %%, further pairs for "
                  "%.1f %% of cells, undecided %.1f %%, MDE %.1f %%\n",
                  name, nights, 100 * r.alarms, 100 * r.found, 100 * r.further, 100 * r.undecided,
                  100 * r.mde);
    return r;
}

/* ---- large families -------------------------------------------------------------------------- */

static void four_pairs_find_nothing(void **state)
{
    place *p = *state;
    const world w = {.cells = CELLS, .slow = CELLS - 1, .spread = 0.002, .wall = 0.5};
    res_tonight_verdict v;
    happen(p, &w, 1);
    for (size_t i = 0; i < CELLS; i++)
        p->given[i] = FIRST;
    judge(p, false, &v);
    assert_int_equal(v.slower, 0);
    assert_int_equal(v.inconclusive, CELLS);
    assert_int_equal(res_tonight_next_interim(&v, FIRST), 0);
    /* Wall time and device time of each cell. */
    assert_int_equal(v.versus.family, 2 * CELLS);
    assert_true(v.versus.notes.length > 0);
    res_tonight_free(&v);
    /* With interim analyses those that are slower look so, and are found. */
    assert_int_equal(pass(p, &v), CELLS - 1);
    assert_int_equal(v.slower, CELLS - 1);
    assert_int_equal(v.inconclusive, 0);
    assert_true(v.versus.noted[RES_NOTE_FURTHER]);
    res_tonight_free(&v);
}

static void nothing_is_found_where_nothing_changed(void **state)
{
    const world quiet = {.cells = CELLS, .spread = 0.005}, noisy = {.cells = CELLS, .spread = 0.04};
    const rates q = try(*state, "equal builds, processes of 0.5 %", &quiet, 10 * TIMES);
    assert_true(q.alarms <= 0.05);
    /* Few cells look slower by chance, and the night can say what it would have seen. */
    assert_true(q.further <= 0.1);
    assert_true(q.undecided <= 0.05);
    const rates n = try(*state, "equal builds, processes of 4 %", &noisy, 10 * TIMES);
    assert_true(n.alarms <= 0.05);
    assert_true(n.undecided >= 0.9);
}

static void a_slower_build_is_found(void **state)
{
    const world w = {.cells = CELLS, .slow = 5, .spread = 0.01, .wall = 0.06},
                noisy = {.cells = CELLS, .slow = 5, .spread = 0.03, .wall = 0.2};
    const rates r = try(*state, "5 of 119 cells 6 % slower, processes of 1 %", &w, 5 * TIMES);
    assert_true(r.found >= 0.9);
    assert_true(r.alarms <= 0.05);
    assert_true(
        try(*state, "5 of 119 cells 20 % slower, processes of 3 %", &noisy, 5 * TIMES).found >=
        0.9);
}

/* The mean slowdown of the wall time that a night of equal builds, whose processes spread by
 * SPREAD, says it would have seen in the cells that it ended. */
static double said_to_be_seen(place *p, double spread)
{
    const world equal = {.cells = CELLS, .spread = spread};
    res_tonight_verdict v;
    double sum = 0;
    size_t count = 0;
    happen(p, &equal, 100);
    pass(p, &v);
    for (size_t i = 0; i < CELLS; i++) {
        const double seen = res_night_planned(&v.versus, &v.versus.cells[i], RES_MEASURE_WALL);
        if (isfinite(seen)) {
            sum += seen;
            count++;
        }
    }
    res_tonight_free(&v);
    assert_true(count > CELLS / 2);
    return sum / (double)count;
}

/* A slowdown of that size is found in four of five cells. */
static void what_a_night_says_it_sees_it_finds(void **state)
{
    world w = {.cells = CELLS, .slow = CELLS, .spread = 0.02};
    w.wall = said_to_be_seen(*state, w.spread);
    assert_true(
        try(*state, "all slower by what is said to be seen, processes of 2 %", &w, 1 + TIMES)
            .found >= 0.8);
}

/* ---- counting ----------------------------------------------------------------------------------
 */

/* A device time that is faster, or slower by little, does not decide the wall time. */
static void a_wall_time_stays_undecided_next_to_a_faster_device(void **state)
{
    place *p = *state;
    static const double changes[] = {-0.2, 0.005};
    for (size_t i = 0; i < 2; i++) {
        const world w = {.cells = 1, .spread = 0.3};
        res_tonight_verdict v;
        happen(p, &w, 5);
        p->given[0] = MOST;
        for (size_t k = 0; k < MOST; k++)
            for (int side = 0; side < 2; side++)
                p->lists[side][k * CELLS]->executions[0].device_ns =
                    5e6 * (side == 1 ? 1 + changes[i] : 1) + (double)k;
        judge(p, true, &v);
        const res_headline head = res_compared_headline(&v.versus, &v.versus.cells[0]);
        assert_int_equal(head.measure, RES_MEASURE_DEVICE);
        assert_int_equal(head.verdict, changes[i] < 0 ? RES_FASTER : RES_SLOWER);
        assert_int_equal(v.slower, 0);
        assert_int_equal(v.inconclusive, 1);
        assert_true(v.hidden > RES_NIGHT_MDE);
        assert_true(isnan(v.mde));
        res_tonight_free(&v);
    }
}

/* The machine's share is of the wall times that tables give: the mean of the processes' logs. */
static void the_machine_is_measured_as_tables_do(void **state)
{
    place *p = *state;
    res_tonight_verdict v;
    bn_status st = {0};
    res_record *now[3] = {p->lists[1][0], p->lists[1][CELLS], p->lists[1][2 * CELLS]};
    const res_collection before = {.records = p->then, .count = 1},
                         records = {.records = now, .count = 3};
    const res_tonight tonight = {
        .records = &records, .control = &records, .before = &before, .same = true};
    for (size_t k = 0; k < STEPS; k++) {
        p->then[0]->wall_ns[k] = now[0]->wall_ns[k] = now[1]->wall_ns[k] = 10000000;
        now[2]->wall_ns[k] = 20000000;
    }
    assert_ok(res_tonight_judge(&tonight, &v, &st), &st);
    assert_int_equal(v.machine_cells, 1);
    assert_near(v.machine, cbrt(2), 1e-9);
    res_tonight_free(&v);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(four_pairs_find_nothing),
        TEST(nothing_is_found_where_nothing_changed),
        TEST(a_slower_build_is_found),
        TEST(what_a_night_says_it_sees_it_finds),
        TEST(a_wall_time_stays_undecided_next_to_a_faster_device),
        TEST(the_machine_is_measured_as_tables_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
