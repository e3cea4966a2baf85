/*
 * test_pools.c - what processes say together: figures by hand, which records count, and how often
 * the intervals and claims of a table are right on simulated processes. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/findings/findings.h"

#define MOST 64

/* Records of a test, which frees them. */
typedef struct store {
    res_record *records[MOST];
    size_t count;
} store;

static res_record *add(store *s, const char *model, const char *mode, const double *round_ns,
                       size_t rounds)
{
    const fixture_case c = {"cpu", model, "infer", mode, 1, 1, 1000, 1000000, (double)NAN, 10};
    res_record *record = fixture_record(&c, rounds);
    assert_true(s->count < MOST);
    for (size_t i = 0; i < rounds; i++)
        record->wall_ns[i] = (uint64_t)llround(round_ns[i]);
    s->records[s->count++] = record;
    return record;
}

/* The same in rounds of one step, as PROCESS of a group; none for PROCESS 0. */
static res_record *add_rounds(store *s, const char *model, const char *mode, const double *round_ns,
                              size_t rounds, int process)
{
    res_record *record = add(s, model, mode, round_ns, rounds);
    assert_int_equal(res_record_reserve_rounds(record, rounds, NULL), BN_OK);
    for (size_t i = 0; i < rounds; i++)
        record->rounds[i] = (res_round){.steps = 1, .wall_ns = record->wall_ns[i]};
    if (process > 0)
        fixture_group(record, model, process);
    return record;
}

static res_speedup made(store *s)
{
    const res_collection all = {.records = s->records, .count = s->count};
    res_speedup table;
    assert_true(res_speedup_make(&all, &table));
    return table;
}

static void clear(store *s)
{
    for (size_t i = 0; i < s->count; i++)
        res_record_free(s->records[i]);
    s->count = 0;
}

/* Row of MODE of the cell MODEL. */
static const res_speedup_row *row_of(const res_speedup *table, const char *model, const char *mode)
{
    for (size_t i = 0; i < table->count; i++) {
        const res_experiment *e = &table->rows[i].record->experiment;
        if (strcmp(e->model, model) == 0 && strcmp(e->mode, mode) == 0)
            return &table->rows[i];
    }
    fail_msg("no row %s %s", model, mode);
    return NULL;
}

/* ---- by hand ------------------------------------------------------------------------ */

/* Three processes. Ratios of rounds are 2, 4, 2 (median 2), then 1, 1, 8 (1), then 4 throughout. */
static void a_pair_says_the_median_of_its_rounds(void **state)
{
    (void)state;
    const double lazy[3][3] = {{2e6, 8e6, 4e6}, {3e6, 4e6, 8e6}, {4e6, 8e6, 8e6}};
    const double capture[3][3] = {{1e6, 2e6, 2e6}, {3e6, 4e6, 1e6}, {1e6, 2e6, 2e6}};
    store s = {.count = 0};
    for (int p = 0; p < 3; p++) {
        add_rounds(&s, "m", "lazy", lazy[p], 3, p + 1);
        add_rounds(&s, "m", "capture", capture[p], 3, p + 1);
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    assert_int_equal(row->ratio.matching, RES_MATCHED);
    assert_int_equal(row->ratio.pair_count, 3);
    /* Logs of 2, 1, 4: mean log 2, sd log 2; t(0.975, 2) = 4.302653. */
    const double half = 4.302653 * log(2) / sqrt(3);
    assert_near(row->ratio.ratio.estimate, 2, 1e-9);
    assert_near(log(row->ratio.ratio.high), log(2) + half, 1e-6);
    assert_near(log(row->ratio.ratio.low), log(2) - half, 1e-6);
    /* Walls: medians 2, 3 and 2 ms. */
    assert_near(row->figures.wall.value.estimate, cbrt(12) * 1e6, 1);
    assert_int_equal(row->figures.wall.processes, 3);
    assert_int_equal(row->pool.count, 3);
    assert_false(row->told);
    res_speedup_free(&table);
    clear(&s);
}

/* Records that share no group are two samples: Welch's of medians 4, 8, 16 and 1, 2, 4 ms. */
static void separate_runs_are_two_samples(void **state)
{
    (void)state;
    store s = {.count = 0};
    for (int p = 0; p < 3; p++) {
        const double slow = 4e6 * (1 << p), fast = 1e6 * (1 << p);
        add(&s, "m", "lazy", &slow, 1);
        add(&s, "m", "capture", &fast, 1);
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    assert_int_equal(row->ratio.matching, RES_UNMATCHED);
    assert_near(row->ratio.ratio.estimate, 4, 1e-6);
    /* Error sqrt(2) log 2 / sqrt(3), 4 degrees of freedom: t = 2.776445. */
    assert_near(log(row->ratio.ratio.high), log(4) + 2.776445 * log(2) * sqrt(2.0 / 3), 1e-5);
    res_speedup_free(&table);
    clear(&s);
}

/* Where one of a pair has no rounds its median stands for all of them. */
static void pairs_without_rounds_are_ratios_of_medians(void **state)
{
    (void)state;
    const double lazy[] = {2e6, 6e6, 10e6}, capture[] = {1e6, 2e6, 9e6};
    store s = {.count = 0};
    for (int p = 1; p <= 3; p++) {
        fixture_group(add(&s, "m", "lazy", lazy, 3), "m", p);
        add_rounds(&s, "m", "capture", capture, 3, p);
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    assert_int_equal(row->ratio.matching, RES_MATCHED);
    assert_near(row->ratio.ratio.estimate, 3, 1e-9);
    res_speedup_free(&table);
    clear(&s);
}

static void two_processes_have_no_interval_and_no_claim(void **state)
{
    (void)state;
    const double lazy = 9e6, capture = 1e6;
    store s = {.count = 0};
    for (int p = 1; p <= 2; p++) {
        add_rounds(&s, "m", "lazy", &lazy, 1, p);
        add_rounds(&s, "m", "capture", &capture, 1, p);
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    assert_near(row->ratio.ratio.estimate, 9, 1e-9);
    assert_true(isnan(row->ratio.ratio.low) && isnan(row->figures.wall.value.high));
    assert_true(row->compared && !row->told);
    assert_int_equal(table.ratios, 0);
    res_finding list[4];
    assert_int_equal(res_speedup_explain(&table, list), 1);
    assert_int_equal(list[0].kind, RES_FINDING_TOO_FEW);
    res_speedup_free(&table);
    clear(&s);
}

/* ---- which records count ---------------------------------------------------------------- */

static void all_thirty_repetitions_count(void **state)
{
    (void)state;
    store s = {.count = 0};
    uint64_t seed = 4;
    double sum = 0;
    for (int i = 0; i < 30; i++) {
        const double lazy = 5e6 * exp(0.05 * fixture_normal(&seed));
        const double capture = 4e6 * exp(0.05 * fixture_normal(&seed));
        sum += log((double)llround(capture)) / 30;
        add(&s, "m", "lazy", &lazy, 1);
        add(&s, "m", "capture", &capture, 1);
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    assert_int_equal(row->pool.count, 30);
    assert_near(row->figures.wall.value.estimate, exp(sum), 1e-3);
    assert_true(row->ratio.log.freedom > 50);
    assert_true(row->told);
    /* Of 30 processes with a deviation of 5 %. */
    assert_near(log(row->ratio.ratio.high / row->ratio.ratio.low) / 2, 2 * 0.05 * sqrt(2.0 / 30),
                0.008);
    res_speedup_free(&table);
    clear(&s);
}

static void set(res_record *record, const char *section, const char *member, const char *value)
{
    json_t *object = json_object_get(record->provenance, section);
    if (!json_is_object(object)) {
        object = json_object();
        json_object_set_new(record->provenance, section, object);
    }
    json_object_set_new(object, member, json_string(value));
}

static void other_builds_and_conditions_are_left_out(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall = 1e6;
    set(add(&s, "m", "lazy", &wall, 1), "runtime", "sha256", "older");
    set(add(&s, "m", "lazy", &wall, 1), "host", "hostname", "elsewhere");
    set(add(&s, "m", "lazy", &wall, 1), "pinning", "pin", "cores");
    add(&s, "m", "lazy", &wall, 1)->status = BN_CRASH;
    add(&s, "m", "lazy", &wall, 1);
    add(&s, "m", "lazy", &wall, 1);
    res_speedup table = made(&s);
    const res_pool *pool = &table.rows[0].pool;
    assert_int_equal(table.count, 1);
    assert_int_equal(pool->count, 2);
    assert_int_equal(pool->failed, 1);
    assert_int_equal(pool->other_builds, 1);
    assert_int_equal(pool->other_conditions, 2);
    assert_string_equal(pool->differing, "host, pinning");
    assert_ptr_equal(pool->newest, s.records[5]);
    res_speedup_free(&table);
    /* Nobody knows the builds of records that do not tell: each is alone. */
    for (size_t i = 0; i < s.count; i++)
        json_object_del(s.records[i]->provenance, "runtime");
    table = made(&s);
    assert_int_equal(table.rows[0].pool.count, 1);
    res_speedup_free(&table);
    clear(&s);
}

static void figures_are_of_the_processes_that_know_them(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall = 20e6;
    for (int p = 1; p <= 4; p++) {
        res_record *record = add_rounds(&s, "m", "lazy", &wall, 1, p);
        res_execution *x = &record->executions[0];
        x->from_disk = p > 1;
        x->device_source = p > 2 ? BN_DEVICE_TIME_SLOPE : BN_DEVICE_TIME_UNAVAILABLE;
        x->device_ns = 7e6;
        x->overhead_ns = p > 2 ? (p - 2) * 1e6 : (double)NAN;
    }
    res_speedup table = made(&s);
    const res_figures *f = &table.rows[0].figures;
    assert_int_equal(f->compile.processes, 1);
    assert_near(f->compile.value.estimate, 3244100000.0, 1);
    assert_int_equal(f->device.processes, 2);
    assert_near(f->device.value.estimate, 7e6, 1);
    assert_near(f->overhead.value.estimate, 1.5e6, 1); /* the plain mean */
    assert_true(isnan(f->overhead.value.low));
    assert_string_equal(f->source, "slope");
    /* The one graph of the step says the same, whichever process is asked. */
    for (int p = 0; p < 4; p++) {
        const res_execution_figures x =
            res_pool_execution(&table.rows[0].pool, &s.records[p]->executions[0]);
        assert_int_equal(x.source, BN_DEVICE_TIME_SLOPE);
        assert_near(x.device.value.estimate, f->device.value.estimate, 1e-6);
        assert_near(x.overhead.value.estimate, f->overhead.value.estimate, 1e-6);
        assert_int_equal(x.compile.processes, 1);
    }
    res_speedup_free(&table);
    /* A minority says nothing. */
    s.records[2]->executions[0].device_source = BN_DEVICE_TIME_UNAVAILABLE;
    table = made(&s);
    assert_int_equal(table.rows[0].figures.device.processes, 1);
    assert_true(isnan(table.rows[0].figures.device.value.estimate));
    res_speedup_free(&table);
    clear(&s);
}

/* Device times of 21, 19 and 22 ms beside steps of 20 ms: the mean is cut off at the step, for that
 * is what the device time is part of. Steps that overlap may be shorter. */
static void a_device_time_is_within_its_step(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall = 20e6, device[] = {21e6, 19e6, 22e6};
    for (int p = 1; p <= 3; p++) {
        res_execution *x = &add_rounds(&s, "m", "lazy", &wall, 1, p)->executions[0];
        x->device_source = BN_DEVICE_TIME_SLOPE;
        x->device_ns = device[p - 1];
    }
    res_speedup table = made(&s);
    const res_interval cut = table.rows[0].figures.device.value;
    assert_near(cut.estimate, table.rows[0].figures.wall.value.estimate, 1e-3);
    assert_true(cut.low < 18e6);
    assert_near(cut.high, table.rows[0].figures.wall.value.high, 1e-3);
    res_speedup_free(&table);
    for (size_t i = 0; i < s.count; i++)
        s.records[i]->experiment.in_flight = 2;
    table = made(&s);
    assert_true(table.rows[0].figures.device.value.estimate > 20.5e6);
    res_speedup_free(&table);
    /* All are far above: that is no device time. */
    for (size_t i = 0; i < s.count; i++) {
        s.records[i]->experiment.in_flight = 1;
        s.records[i]->executions[0].device_ns = 30e6 + (double)i * 1e4;
    }
    table = made(&s);
    assert_true(isnan(table.rows[0].figures.device.value.estimate));
    res_speedup_free(&table);
    clear(&s);
}

/* ---- what stands beside a figure ------------------------------------------------------------ */

static void the_machine_is_busy_above_a_share(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall[] = {1e6, 1e6};
    res_record *record = add_rounds(&s, "m", "lazy", wall, 2, 1);
    json_object_set_new(record->provenance, "host", json_pack("{si}", "cores_online", 2));
    record->rounds[0].stalled_ns = 200000;
    record->rounds[1].stalled_ns = RES_UNTOLD;
    record->rounds[1].stolen_ns = 80000;
    record->rounds[0].stolen_ns = RES_UNTOLD;
    res_speedup table = made(&s);
    const res_witness *w = &table.witness;
    assert_int_equal(w->rounds, 2);
    assert_near(w->stalled_ns / w->stalled_of_ns, 0.2, 1e-9);
    assert_near(w->stolen_ns / w->stolen_of_ns, 0.04, 1e-9);
    assert_true(res_witness_busy(w));
    res_speedup_free(&table);
    record->rounds[0].stalled_ns = 140000;
    record->rounds[1].stolen_ns = 30000;
    table = made(&s);
    assert_false(res_witness_busy(&table.witness));
    res_speedup_free(&table);
    clear(&s);
    const res_witness nothing = {0};
    assert_false(res_witness_busy(&nothing));
}

static void remarks_are_medians_over_processes(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double far[] = {1e6, 1e6, 1e6, 1e6, 6e6}, near[] = {1e6, 1e6, 1e6, 1e6, 1.5e6};
    add(&s, "m", "lazy", far, 5)->warmup_stationary = false;
    add(&s, "m", "lazy", far, 5);
    add(&s, "m", "lazy", near, 5);
    res_speedup table = made(&s);
    const res_remarks *r = &table.rows[0].remarks;
    assert_near(r->excess, 1, 1e-9);
    assert_near(r->p90_ns, 4e6, 1);
    assert_int_equal(r->unsettled, 1);
    assert_near(r->samples, 5, 0);
    res_speedup_free(&table);
    clear(&s);
}

/* ---- simulated tables -------------------------------------------------------------------------
 */

/*
 * A table of CELLS, each of K processes in groups: a process has a factor of its own that both
 * modes share, and one of SD for each mode; so have rounds, of 1 %. RATIO is the truth of cell 0,
 * others have none.
 */
static void simulate(store *s, size_t cells, int k, double sd, double ratio, uint64_t *seed)
{
    for (size_t cell = 0; cell < cells; cell++) {
        const char model[] = {(char)('a' + cell), '\0'};
        for (int p = 1; p <= k; p++) {
            const double shared = exp(0.2 * fixture_normal(seed));
            const double own[] = {exp(sd * fixture_normal(seed)), exp(sd * fixture_normal(seed))};
            double lazy[3], capture[3];
            for (int i = 0; i < 3; i++) {
                lazy[i] = 1e7 * shared * own[0] * exp(0.01 * fixture_normal(seed));
                capture[i] = 1e7 * shared * own[1] * exp(0.01 * fixture_normal(seed)) /
                             (cell == 0 ? ratio : 1);
            }
            add_rounds(s, model, "lazy", lazy, 3, p);
            add_rounds(s, model, "capture", capture, 3, p);
        }
    }
}

/* How often four processes' intervals hold the truth of the ratio and of the wall time. */
static void coverage(double sd, double *ratio, double *wall)
{
    enum { TRIALS = 1500 };
    uint64_t seed = 2024;
    int held = 0, held_wall = 0;
    store s = {.count = 0};
    for (int trial = 0; trial < TRIALS; trial++) {
        simulate(&s, 1, 4, sd, 1.25, &seed);
        res_speedup table = made(&s);
        const res_speedup_row *row = row_of(&table, "a", "capture");
        held += !res_told_from(row->ratio.ratio, 1.25);
        held_wall += !res_told_from(row->figures.wall.value, 8e6);
        res_speedup_free(&table);
        clear(&s);
    }
    *ratio = (double)held / TRIALS;
    *wall = (double)held_wall / TRIALS;
}

/* The Monte Carlo error of a share of 95 % is 0.56 %: three of them. */
static void intervals_of_four_processes_hold_the_truth(void **state)
{
    (void)state;
    const double sds[] = {0.03, 0.1};
    for (int i = 0; i < 2; i++) {
        double ratio, wall;
        coverage(sds[i], &ratio, &wall);
        print_message("# process sd %.0f %%: ratio %.1f %%, wall %.1f %% of intervals\n",
                      100 * sds[i], 100 * ratio, 100 * wall);
        assert_near(ratio, 0.95, 0.017);
        assert_near(wall, 0.95, 0.017);
    }
}

/* Of tables in which nothing differs at most 5 % claim any difference, of whatever row. */
static void tables_of_like_modes_claim_nothing(void **state)
{
    (void)state;
    enum { TRIALS = 400 };
    uint64_t seed = 31;
    int alarms = 0, told = 0;
    store s = {.count = 0};
    for (int trial = 0; trial < TRIALS; trial++) {
        simulate(&s, 6, 4, 0.03, trial % 2 ? 1 : 1.6, &seed);
        res_speedup table = made(&s);
        int claims = 0;
        for (size_t i = 0; i < table.count; i++)
            claims += table.rows[i].told &&
                      (trial % 2 || table.rows[i].record->experiment.model[0] != 'a');
        told += row_of(&table, "a", "capture")->told && trial % 2 == 0;
        alarms += claims > 0;
        assert_int_equal(table.ratios, 6);
        res_speedup_free(&table);
        clear(&s);
    }
    print_message("# %d of %d tables with a false claim, %d of %d true ones told\n", alarms, TRIALS,
                  told, TRIALS / 2);
    /* 5 % of 400 are 20; three standard errors are 13. */
    assert_in_range(alarms, 1, 33);
    assert_in_range(told, TRIALS / 2 * 95 / 100, TRIALS / 2);
}

static void claims_are_holms(void **state)
{
    (void)state;
    store s = {.count = 0};
    uint64_t seed = 12;
    double p[6], adjusted[6];
    size_t count = 0;
    simulate(&s, 6, 4, 0.05, 1.2, &seed);
    res_speedup table = made(&s);
    for (size_t i = 0; i < table.count; i++)
        if (table.rows[i].compared)
            p[count++] = table.rows[i].ratio.p;
    assert_int_equal(count, 6);
    assert_int_equal(res_holm(p, count, adjusted, NULL), BN_OK);
    count = 0;
    for (size_t i = 0; i < table.count; i++) {
        const res_speedup_row *row = &table.rows[i];
        if (!row->compared)
            continue;
        assert_near(row->p_holm, adjusted[count], 1e-12);
        assert_int_equal(row->told, adjusted[count] <= 0.05);
        assert_true(row->p_holm >= row->ratio.p);
        count++;
    }
    res_speedup_free(&table);
    clear(&s);
}

/* ---- means -------------------------------------------------------------------------------------
 */

/* Two cells of three processes: ratios 1, 2, 4 and 4, 2, 1. Each process says 2: no spread. */
static void means_are_of_processes_first(void **state)
{
    (void)state;
    store s = {.count = 0};
    for (int p = 0; p < 3; p++) {
        const double base = 8e6, up = 8e6 / (1 << p), down = 8e6 / (1 << (2 - p));
        add_rounds(&s, "a", "lazy", &base, 1, p + 1);
        add_rounds(&s, "a", "capture", &up, 1, p + 1);
        add_rounds(&s, "b", "lazy", &base, 1, p + 1);
        add_rounds(&s, "b", "capture", &down, 1, p + 1);
    }
    res_speedup table = made(&s);
    assert_int_equal(table.mean_count, 1);
    assert_true(table.means[0].by_process);
    assert_near(table.means[0].speedup.estimate, 2, 1e-9);
    assert_near(table.means[0].speedup.low, 2, 1e-6);
    res_speedup_free(&table);
    /* A process more of one cell: they do not match, and the variances add up. */
    const double base = 8e6, more = 4e6;
    add_rounds(&s, "b", "lazy", &base, 1, 4);
    add_rounds(&s, "b", "capture", &more, 1, 4);
    table = made(&s);
    assert_false(table.means[0].by_process);
    assert_int_equal(table.means[0].processes, 3);
    assert_near(table.means[0].speedup.estimate, 2, 1e-9);
    /* Errors log 2 / sqrt(3) and log 2 sqrt(2/3) / 2, of two halves. */
    const double error = log(2) * sqrt(1.0 / 3 + 1.0 / 6) / 2;
    assert_true(log(table.means[0].speedup.high / 2) > 2.5 * error);
    assert_true(log(table.means[0].speedup.high / 2) < 3.5 * error);
    res_speedup_free(&table);
    clear(&s);
}

/* ---- findings -----------------------------------------------------------------------------------
 */

/* Capture saves 2 ms of 10, of which 1.5 ms are tracing; its device takes as long. */
static void causes_are_named_with_their_time(void **state)
{
    (void)state;
    store s = {.count = 0};
    for (int p = 1; p <= 4; p++) {
        const double lazy = 10e6 + 1000 * p, capture = 8e6 + 2000 * p;
        res_record *a = add_rounds(&s, "m", "lazy", &lazy, 1, p);
        res_record *b = add_rounds(&s, "m", "capture", &capture, 1, p);
        a->part_ns[BN_PART_TRACE] = 1500000 + (uint64_t)(100 * p);
        b->part_ns[BN_PART_TRACE] = 0;
        for (int i = 0; i < 2; i++) {
            res_execution *x = &(i ? a : b)->executions[0];
            x->device_source = BN_DEVICE_TIME_SLOPE;
            x->device_ns = 5e6 + 1000 * p;
            x->overhead_ns = 1e5 + (i ? 10 : -10) * p;
            strcpy(x->optimized, "0123");
        }
    }
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "m", "capture");
    res_finding list[4];
    assert_int_equal(res_speedup_explain(&table, list), 1);
    assert_int_equal(list[0].kind, RES_FINDING_FASTER);
    assert_near(list[0].saved_ns, 2e6 - 2500, 1);
    assert_int_equal(list[0].cause_count, 1);
    assert_int_equal(list[0].causes[0].kind, RES_CAUSE_TRACING);
    assert_near(list[0].causes[0].saved_ns.estimate, 1500250, 1);
    assert_int_equal(row->program, RES_PROGRAM_SAME);
    res_speedup_free(&table);
    clear(&s);
}

/* What would have been told is what the interval at the family's level leaves out. */
static void what_is_visible_is_said(void **state)
{
    (void)state;
    store s = {.count = 0};
    uint64_t seed = 8;
    simulate(&s, 1, 4, 0.05, 1, &seed);
    res_speedup table = made(&s);
    const res_speedup_row *row = row_of(&table, "a", "capture");
    res_finding list[2];
    assert_int_equal(res_speedup_explain(&table, list), 1);
    assert_int_equal(list[0].kind, RES_FINDING_NO_DIFFERENCE);
    assert_near(log1p(list[0].visible), 3.182446 * row->ratio.log.error, 1e-5);
    assert_int_equal(list[0].more_processes, 8);
    assert_near(log1p(list[0].visible_with_more), 2.364624 * row->ratio.log.error / sqrt(2), 1e-5);
    res_speedup_free(&table);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_says_the_median_of_its_rounds),
        cmocka_unit_test(separate_runs_are_two_samples),
        cmocka_unit_test(pairs_without_rounds_are_ratios_of_medians),
        cmocka_unit_test(two_processes_have_no_interval_and_no_claim),
        cmocka_unit_test(all_thirty_repetitions_count),
        cmocka_unit_test(other_builds_and_conditions_are_left_out),
        cmocka_unit_test(figures_are_of_the_processes_that_know_them),
        cmocka_unit_test(a_device_time_is_within_its_step),
        cmocka_unit_test(the_machine_is_busy_above_a_share),
        cmocka_unit_test(remarks_are_medians_over_processes),
        cmocka_unit_test(intervals_of_four_processes_hold_the_truth),
        cmocka_unit_test(tables_of_like_modes_claim_nothing),
        cmocka_unit_test(claims_are_holms),
        cmocka_unit_test(means_are_of_processes_first),
        cmocka_unit_test(causes_are_named_with_their_time),
        cmocka_unit_test(what_is_visible_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
