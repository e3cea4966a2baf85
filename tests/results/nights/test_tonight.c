/*
 * test_tonight.c - verdicts of nights on simulated stores whose truth is known: how often a night
 * is taken for a build, and how soon a slower build is found. Seeded; nothing is measured.
 *
 * A night has an effect of its own on all that runs in it; some nights are under load, which slows
 * them down a lot and spreads their processes. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include <time.h>

#include "results/nights/nights.h"
#include "tests/support/test_runtime.h"

#define CELLS     4
#define PROCESSES 6
#define STEPS     9
#define NIGHTS    31
#define MOST      ((size_t)NIGHTS * CELLS * PROCESSES)
#define FROM_S    1735700400.0 /* 2025-01-01 03:00 UTC */

/* How nights differ. */
typedef struct world {
    double night, process; /* standard deviations of logs */
    double loads;          /* share of nights under load */
    bool new_builds;       /* each night has another file; else all have one */
    int step_at;           /* the night of the slower build; negative: none */
    double step;           /* 0.05: 5 % */
    double machine;        /* the same for the machine, from that night on */
    bool controls;         /* the build before can be measured again */
} world;

/* A store in memory, and that of its controls. */
typedef struct memory {
    res_index index;
    res_summary records[MOST];
    char ids[MOST][64];
} memory;

typedef struct place {
    world w;
    uint64_t seed;
    memory *store, *kept;
    res_experiment experiments[CELLS];
    const res_experiment *pointers[CELLS];
    res_origin builds[NIGHTS];
    /* By process, then cell: tonight, the night before, and that one's build again. */
    res_record *lists[3][CELLS * PROCESSES];
    res_collection tonight, before, again;
    /* [cause]: of the series that were found changed in the latest night. */
    size_t causes[RES_DRIFT_RECORDED_SAME + 1];
} place;

static void make_records(place *p, int list, res_collection *all)
{
    static const char *const models[] = {"resnet18", "bert"}, *const modes[] = {"lazy", "capture"};
    for (int i = 0; i < CELLS * PROCESSES; i++) {
        fixture_case c = fixture_lazy;
        c.graphs = 1;
        c.model = models[i % CELLS / 2];
        c.mode = modes[i % CELLS % 2];
        p->lists[list][i] = fixture_record(&c, STEPS);
        p->lists[list][i]->simulated = true;
        if (i < CELLS)
            p->experiments[i] = p->lists[list][i]->experiment;
    }
    *all = (res_collection){.records = p->lists[list], .count = CELLS * PROCESSES};
}

static memory *memory_new(place *p)
{
    memory *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->index =
        (res_index){.records = m->records, .experiments = p->pointers, .experiment_count = CELLS};
    return m;
}

static int begin(void **state)
{
    place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    res_store_begin();
    make_records(p, 0, &p->tonight);
    make_records(p, 1, &p->before);
    make_records(p, 2, &p->again);
    for (int i = 0; i < CELLS; i++)
        p->pointers[i] = &p->experiments[i];
    p->store = memory_new(p);
    p->kept = memory_new(p);
    *state = p;
    return 0;
}

static int end(void **state)
{
    place *p = *state;
    for (int list = 0; list < 3; list++)
        for (int i = 0; i < CELLS * PROCESSES; i++)
            res_record_free(p->lists[list][i]);
    free(p->store);
    free(p->kept);
    free(p);
    return 0;
}

/* Writes record I of ALL into M, as a summary of BUILD that ran SECONDS after FROM_S. */
static void add(memory *m, const res_record *r, int i, const res_origin *build, double seconds)
{
    const time_t time_s = (time_t)(FROM_S + seconds) + i;
    char stamp[32];
    struct tm utc;
    assert_true(m->index.count < MOST);
    res_summary *s = &m->records[m->index.count];
    assert_non_null(gmtime_r(&time_s, &utc));
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &utc);
    snprintf(m->ids[m->index.count], sizeof m->ids[0], "%s.%09dZ-h-1-%d.h5", stamp, i, i);
    *s = (res_summary){.file = m->ids[m->index.count],
                       .written_ns = (int64_t)time_s * 1000000000,
                       .experiment = (size_t)i % CELLS,
                       .origin = build,
                       .simulated = true,
                       .steps = STEPS,
                       .source = bn_device_time_source_name(BN_DEVICE_TIME_UNAVAILABLE)};
    snprintf(s->id, sizeof s->id, "%s.%09dZ-h-1-%d", stamp, i, i);
    s->wall_ns = res_quantile(r->wall_ns, r->step_count, 0.5);
    m->index.count++;
}

/* Fills ALL with a build's processes in a night that slows all down by EFFECT, whose processes
 * spread by SPREAD. */
static void run(place *p, res_collection *all, double effect, double spread, double step)
{
    for (size_t i = 0; i < all->count; i++) {
        const double ns = 1e7 * (double)(1 + i % CELLS) *
                          exp(effect + spread * fixture_normal(&p->seed)) * (1 + step);
        for (size_t k = 0; k < STEPS; k++)
            all->records[i]->wall_ns[k] = (uint64_t)(ns * exp(0.002 * fixture_normal(&p->seed)));
    }
}

/* The outcome of a night. */
typedef struct outcome {
    bool found, undecided;
    double mde;
} outcome;

static void judge_sides(const place *p, int night, const res_history *history, outcome *o)
{
    const world *w = &p->w;
    const bool same = night > 0 && !w->new_builds && night != w->step_at;
    const res_collection none = {0};
    const res_tonight tonight = {.records = &p->tonight,
                                 .control = w->controls && !same && night ? &p->again : &none,
                                 .before = night ? &p->before : &none,
                                 .same = same,
                                 .history = history};
    res_tonight_verdict v;
    bn_status st = {0};
    assert_ok(res_tonight_judge(&tonight, &v, &st), &st);
    assert_int_equal(v.cells, CELLS);
    if (same)
        assert_int_equal(v.slower + v.inconclusive, 0);
    o->found = v.slower > 0;
    o->undecided = v.inconclusive > 0;
    o->mde = fmax(v.mde, v.hidden);
    res_tonight_free(&v);
}

static bool judge_series(place *p, const res_history *history, const res_history *controls,
                         const res_change_options *change)
{
    const res_drift_options options = {
        .change = *change, .controls = controls, .night_hours = 12, .family = CELLS};
    bool found = false;
    memset(p->causes, 0, sizeof p->causes);
    for (size_t i = 0; i < history->count; i++) {
        res_drift drift;
        bn_status st = {0};
        assert_ok(res_series_tonight(&history->series[i], &options, &drift, &st), &st);
        if (p->w.step_at < 0 && !p->w.new_builds && drift.found)
            assert_int_equal(drift.cause, RES_DRIFT_SAME);
        p->causes[drift.cause] += drift.found;
        found = found || (drift.found && drift.ratio.low > 1 && res_drift_counts(drift.cause));
    }
    return found;
}

static outcome judge(place *p, int night)
{
    res_history history, controls;
    res_history_options o = res_history_defaults();
    bn_status st = {0};
    outcome out = {0};
    o.change.level /= CELLS;
    assert_ok(res_history_make(&p->store->index, &o, &history, &st), &st);
    assert_ok(res_history_make(&p->kept->index, &o, &controls, &st), &st);
    assert_int_equal(history.count, CELLS);
    judge_sides(p, night, &history, &out);
    out.found = judge_series(p, &history, &controls, &o.change) || out.found;
    res_history_free(&history);
    res_history_free(&controls);
    return out;
}

static void begin_world(place *p, const world *w, uint64_t seed)
{
    p->w = *w;
    p->seed = seed * 0x9E3779B97F4A7C15u + 1;
    p->store->index.count = p->kept->index.count = 0;
    for (int i = 0; i < 16; i++)
        fixture_uniform(&p->seed);
    for (int i = 0; i < NIGHTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "build %d",
                 w->new_builds ? i : w->step_at >= 0 && i >= w->step_at);
        p->builds[i] = (res_origin){.host = "h"};
        bn_sha256(name, strlen(name), p->builds[i].sha256);
    }
}

/* Lets NIGHT happen. */
static void pass(place *p, int night)
{
    const world *w = &p->w;
    const bool load = fixture_uniform(&p->seed) < w->loads;
    const double effect = w->night * fixture_normal(&p->seed) +
                          (load ? 0.4 + 0.5 * fixture_uniform(&p->seed) : 0) +
                          (w->step_at >= 0 && night >= w->step_at ? w->machine : 0);
    const double spread = load ? fmax(w->process, 0.1) : w->process;
    const bool slow = w->step_at >= 0 && night >= w->step_at;
    const bool slow_before = w->step_at >= 0 && night - 1 >= w->step_at;
    for (size_t i = 0; i < p->before.count; i++)
        memcpy(p->before.records[i]->wall_ns, p->tonight.records[i]->wall_ns,
               STEPS * sizeof(uint64_t));
    run(p, &p->tonight, effect, spread, slow ? w->step : 0);
    run(p, &p->again, effect, spread, slow_before ? w->step : 0);
    const bool other =
        night > 0 && strcmp(p->builds[night].sha256, p->builds[night - 1].sha256) != 0;
    for (int i = 0; i < CELLS * PROCESSES; i++) {
        add(p->store, p->tonight.records[i], i, &p->builds[night], 86400.0 * night);
        if (other && w->controls)
            add(p->kept, p->again.records[i], i, &p->builds[night - 1], 86400.0 * night + 40);
    }
}

/* ---- how often ---------------------------------------------------------------------- */

typedef struct rates {
    double found, undecided; /* shares of nights */
    double within_two;    /* share of stores whose step was found on its night or the next */
    double mde;           /* median of the largest in a night */
} rates;

/* TRIALS stores of NIGHTS nights; where there is a step, it is looked for on its two nights. */
static rates try(place *p, const char *name, const world *w, int trials)
{
    rates r = {0};
    size_t nights = 0;
    double *mde = calloc((size_t)trials * NIGHTS, sizeof *mde);
    assert_non_null(mde);
    for (int t = 0; t < trials; t++) {
        bool soon = false;
        begin_world(p, w, (uint64_t)t + 1);
        const int last = w->step_at >= 0 ? w->step_at + 2 : NIGHTS;
        for (int night = 0; night < last; night++) {
            pass(p, night);
            if (night == 0 || (w->step_at >= 0 && night < w->step_at))
                continue;
            const outcome o = judge(p, night);
            r.found += o.found;
            r.undecided += !o.found && o.undecided;
            soon = soon || o.found;
            mde[nights++] = o.mde;
        }
        r.within_two += soon;
    }
    r.found /= (double)nights;
    r.undecided /= (double)nights;
    r.within_two /= trials;
    size_t known = 0;
    for (size_t i = 0; i < nights; i++)
        if (!isnan(mde[i]))
            mde[known++] = fmin(mde[i], 9.99);
    r.mde = res_median(mde, known);
    free(mde);
    print_message("# %s: %d stores, %zu nights: found %.1f %%, inconclusive %.1f %%", name, trials,
                  nights, 100 * r.found, 100 * r.undecided);
    if (w->step_at >= 0)
        print_message(", within two nights %.1f %%", 100 * r.within_two);
    if (isfinite(r.mde))
        print_message("; MDE %.1f %%", 100 * r.mde);
    print_message("\n");
    return r;
}

/* One file each night: whatever differs is the machine, and no night alarms. */
static void nights_of_one_build_never_alarm(void **state)
{
    const world quiet = {.night = 0.01, .process = 0.01, .step_at = -1, .controls = true};
    const world cpu = {
        .night = 0.05, .process = 0.03, .loads = 0.12, .step_at = -1, .controls = true};
    assert_true(try(*state, "one build, nights of 1 %", &quiet, 6).found == 0);
    assert_true(try(*state, "one build, nights of 5 %, some under load", &cpu, 6).found == 0);
}

/* Another file each night that is no slower: at most 5 % of nights by the controls' family, and 1 %
 * by the series'. */
static void equal_builds_seldom_alarm(void **state)
{
    const world with = {.night = 0.05,
                        .process = 0.01,
                        .loads = 0.1,
                        .new_builds = true,
                        .step_at = -1,
                        .controls = true};
    world without = with;
    without.controls = false;
    without.loads = 0;
    without.night = 0.01;
    assert_true(
        try(*state, "equal builds, controls, nights of 5 %, some under load", &with, 6).found <=
        0.06);
    assert_true(try(*state, "equal builds, records only, nights of 1 %", &without, 6).found <=
                0.03);
}

static void a_slower_build_is_found_within_two_nights(void **state)
{
    world w = {.night = 0.01,
               .process = 0.01,
               .new_builds = true,
               .step_at = 15,
               .step = 0.05,
               .controls = true};
    assert_true(try(*state, "5 % slower, controls, nights of 1 %", &w, 40).within_two >= 0.9);
    /* With a control it does not matter how nights differ, */
    w.night = 0.05;
    assert_true(try(*state, "5 % slower, controls, nights of 5 %", &w, 40).within_two >= 0.9);
    /* but under load processes differ by more than 5 %. */
    w.loads = 0.1;
    assert_true(
        try(*state, "5 % slower, controls, nights of 5 %, 1 of 10 under load", &w, 40).within_two >=
        0.8);
    w.loads = 0;
    w.night = 0.01;
    w.controls = false;
    /* Fifteen nights hardly show their correlation, so more than 5 % is needed. */
    w.step = 0.10;
    assert_true(try(*state, "10 % slower, records only, nights of 1 %", &w, 40).within_two >= 0.9);
}

/* The control of the night on which the machine changed was as slow as the build. */
static void a_slower_machine_is_no_build(void **state)
{
    place *p = *state;
    const world w = {.night = 0.005,
                     .process = 0.005,
                     .new_builds = true,
                     .step_at = 15,
                     .machine = 0.06,
                     .controls = true};
    size_t machine = 0;
    begin_world(p, &w, 5);
    for (int night = 0; night < 20; night++) {
        pass(p, night);
        if (night >= w.step_at)
            assert_false(judge(p, night).found);
        machine += p->causes[RES_DRIFT_MACHINE];
    }
    assert_true(machine > 0);
    assert_int_equal(p->causes[RES_DRIFT_BUILD] + p->causes[RES_DRIFT_OTHER], 0);
}

/* Where nights differ by more than what is hunted, records cannot tell, and it is said so. */
static void unknown_causes_are_stated(void **state)
{
    const world w = {
        .night = 0.05, .process = 0.01, .new_builds = true, .step_at = 15, .step = 0.05};
    const rates r = try(*state, "5 % slower, records only, nights of 5 %", &w, 20);
    assert_true(r.undecided >= 0.8);
    assert_true(r.mde > 0.1);
}

/* Until there are enough nights nobody knows how they differ. */
static void the_first_nights_cannot_tell(void **state)
{
    place *p = *state;
    const world w = {.night = 0.01, .process = 0.003, .new_builds = true, .step_at = -1};
    begin_world(p, &w, 7);
    for (int night = 0; night <= RES_LEVEL_NIGHTS; night++) {
        pass(p, night);
        const outcome o = judge(p, night);
        assert_false(o.found);
        if (night < RES_LEVEL_NIGHTS)
            assert_true(o.undecided && isinf(o.mde));
        else
            assert_true(isfinite(o.mde));
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nights_of_one_build_never_alarm),
        TEST(equal_builds_seldom_alarm),
        TEST(a_slower_build_is_found_within_two_nights),
        TEST(a_slower_machine_is_no_build),
        TEST(unknown_causes_are_stated),
        TEST(the_first_nights_cannot_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
