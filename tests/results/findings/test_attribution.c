/*
 * test_attribution.c - two runtimes on hand-made records: which program ran, where the time went,
 * the family's verdicts with its control, pairs out of two stores. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/findings/findings.h"
#include "results/tables/tables.h"
#include "tests/support/test_runtime.h"

#define PAIRS 12
#define STEPS 21

/* ---- sides ------------------------------------------------------------------------- */

typedef struct sides {
    res_record *a[PAIRS], *b[PAIRS];
} sides;

/* Each process has a speed of its own, up to SPREAD off. */
static res_record *process(const fixture_case *c, double spread, uint64_t *seed)
{
    fixture_case own = *c;
    own.graphs = 1;
    own.wall_ns = (uint64_t)((double)c->wall_ns * (1 + spread * fixture_uniform(seed)));
    res_record *r = fixture_record(&own, STEPS);
    strcpy(r->executions[0].optimized, "aa");
    r->executions[0].optimized_instructions = 4254;
    return r;
}

static void make_sides(sides *s, const fixture_case *a, const fixture_case *b)
{
    uint64_t seed = 99;
    for (size_t i = 0; i < PAIRS; i++) {
        s->a[i] = process(a, 0.002, &seed);
        s->b[i] = process(b, 0.002, &seed);
    }
}

static void free_sides(sides *s)
{
    for (size_t i = 0; i < PAIRS; i++) {
        res_record_free(s->a[i]);
        res_record_free(s->b[i]);
    }
}

static void set_cell(res_compared *cell, const sides *s, bool control)
{
    *cell = (res_compared){.experiment = s->a[0]->experiment, .control = control, .pairs = PAIRS};
    for (size_t i = 0; i < PAIRS; i++) {
        cell->a[i] = s->a[i];
        cell->b[i] = s->b[i];
    }
}

static void judge(res_versus *v, res_compared *cells, size_t count, double threshold)
{
    bn_status st = {0};
    *v = (res_versus){
        .cells = cells, .count = count, .options = res_compare_defaults(), .threshold = threshold};
    assert_ok(res_versus_judge(v, &st), &st);
}

/* The attribution of the first PAIRS_OF pairs. */
static res_attribution attribute_some(const sides *s, size_t pairs_of)
{
    static res_compared cell;
    res_versus v;
    set_cell(&cell, s, false);
    cell.pairs = pairs_of;
    judge(&v, &cell, 1, 0);
    return cell.attribution;
}

static res_attribution attribute(const sides *s)
{
    return attribute_some(s, PAIRS);
}

/* ---- where the time went -------------------------------------------------------------- */

static void a_slower_device_is_named(void **state)
{
    (void)state;
    fixture_case slow = fixture_lazy;
    sides s;
    slow.wall_ns += 1250000;
    slow.device_ns += 1250000;
    make_sides(&s, &fixture_lazy, &slow);
    const res_attribution why = attribute(&s);
    assert_int_equal(why.program, RES_PROGRAM_SAME);
    assert_int_equal(why.place, RES_PLACE_DEVICE);
    assert_string_equal(res_place_name(&why), "device time");
    const res_difference *d = &why.quantity[RES_QUANTITY_DEVICE];
    assert_near(d->difference.estimate, 1250000, 1e-6);
    assert_true(d->moved);
    assert_near(d->a, 9e6, 1e-6);
    assert_near(d->b, 10.25e6, 1e-6);
    /* The fixture's PJRT time is the device time and 2 ms. */
    assert_near(why.quantity[RES_QUANTITY_OVERHEAD].a, 2e6, 1e-6);
    assert_false(why.quantity[RES_QUANTITY_OVERHEAD].moved);
    assert_true(why.part[BN_PART_WAIT].moved);
    assert_near(why.part[BN_PART_WAIT].difference.estimate, 1250000, 60000);
    assert_false(why.part[BN_PART_DISPATCH].moved);
    assert_near(why.quantity[RES_QUANTITY_COMPILE].a, 3240000000, 1e-3);
    assert_false(why.quantity[RES_QUANTITY_COMPILE].moved);
    assert_near(why.quantity[RES_QUANTITY_TEMP_BYTES].a, 51200000, 1e-6);
    assert_true(isnan(why.quantity[RES_QUANTITY_PEAK_BYTES].a));
    free_sides(&s);
}

static void a_dearer_execution_is_named(void **state)
{
    (void)state;
    fixture_case slow = fixture_lazy;
    sides s;
    slow.wall_ns += 400000;
    make_sides(&s, &fixture_lazy, &slow);
    for (size_t i = 0; i < PAIRS; i++)
        for (size_t k = 0; k < s.b[i]->executions[0].pjrt_count; k++)
            s.b[i]->executions[0].pjrt_ns[k] += 400000 + i;
    const res_attribution why = attribute(&s);
    assert_int_equal(why.place, RES_PLACE_OVERHEAD);
    assert_near(why.quantity[RES_QUANTITY_OVERHEAD].difference.estimate, 400005.5, 1e-3);
    free_sides(&s);
}

/* Without device times the ledger tells; bench's own parts, too. */
static void without_device_times_a_part_is_named(void **state)
{
    (void)state;
    fixture_case usual = fixture_lazy, slow;
    sides s;
    usual.device_ns = (double)NAN;
    slow = usual;
    slow.trace_ns += 1000000;
    slow.wall_ns += 1050000;
    make_sides(&s, &usual, &slow);
    const res_attribution why = attribute(&s);
    assert_int_equal(why.place, RES_PLACE_PART);
    assert_int_equal(why.place_part, BN_PART_TRACE);
    assert_string_equal(res_place_name(&why), "trace");
    assert_true(isnan(why.quantity[RES_QUANTITY_DEVICE].a));
    assert_false(why.quantity[RES_QUANTITY_DEVICE].moved);
    free_sides(&s);
}

/* Time that the host no longer waits, it spends in another call. */
static void time_that_changed_its_place_is_said(void **state)
{
    (void)state;
    fixture_case usual = fixture_lazy;
    sides s;
    usual.device_ns = (double)NAN;
    make_sides(&s, &usual, &usual);
    for (size_t i = 0; i < PAIRS; i++)
        for (size_t k = 0; k < STEPS; k++) {
            s.b[i]->part_ns[k * BN_PART_COUNT + BN_PART_WAIT] -= 3000000;
            s.b[i]->part_ns[k * BN_PART_COUNT + BN_PART_RELEASE] += 4000000;
            s.b[i]->wall_ns[k] += 1000000;
        }
    const res_attribution why = attribute(&s);
    assert_int_equal(why.place, RES_PLACE_PART);
    assert_int_equal(why.place_part, BN_PART_RELEASE);
    assert_true(why.shifted);
    assert_int_equal(why.shifted_from, BN_PART_WAIT);
    free_sides(&s);
}

static void of_like_sides_nothing_is_named(void **state)
{
    (void)state;
    sides s;
    make_sides(&s, &fixture_lazy, &fixture_lazy);
    const res_attribution why = attribute(&s);
    assert_int_equal(why.place, RES_PLACE_NONE);
    assert_string_equal(res_place_name(&why), "");
    for (int p = 0; p < BN_PART_COUNT; p++)
        assert_false(why.part[p].moved);
    free_sides(&s);
}

/* Student's t by hand: log ratios 1, 2, 3, 4: mean 2.5, sd 1.29099; t(0.975, 3) = 3.18245. */
static void a_difference_has_the_interval_of_students_t(void **state)
{
    (void)state;
    sides s;
    make_sides(&s, &fixture_lazy, &fixture_lazy);
    for (size_t i = 0; i < 4; i++) {
        s.a[i]->executions[0].compile_ns = 1000000000;
        s.b[i]->executions[0].compile_ns = (uint64_t)llround(1e9 * exp(1 + (double)i));
    }
    const res_attribution why = attribute_some(&s, 4);
    const res_difference *d = &why.quantity[RES_QUANTITY_COMPILE];
    const double half = 3.182446 * 1.290994 / 2;
    assert_near(d->a, 1e9, 1e-3);
    assert_near(d->b, 1e9 * exp(2.5), 5);
    assert_near(d->difference.estimate, d->b - d->a, 1e-3);
    assert_near((d->difference.high + d->a) / d->b / exp(half), 1, 1e-5);
    assert_near((d->difference.low + d->a) / d->b / exp(-half), 1, 1e-5);
    free_sides(&s);
}

/* ---- the figures of other tables --------------------------------------------------------- */

/* Three rounds of which the first has most steps: the median of all of them is its median, that of
 * rounds' medians is not. SECOND and THIRD: times of the other rounds over the first. GROUP: NULL,
 * or a pair's own. */
static void set_rounds(res_record *r, uint64_t wall_ns, double second, double third,
                       const char *group)
{
    static const uint64_t steps[] = {15, 3, 3};
    const double times[] = {1, second, third};
    bn_status st = {0};
    size_t step = 0;
    assert_ok(res_record_reserve_rounds(r, 3, &st), &st);
    for (size_t i = 0; i < 3; i++) {
        r->rounds[i] = (res_round){.steps = steps[i], .wall_ns = steps[i] * wall_ns};
        for (size_t k = 0; k < steps[i]; k++) {
            uint64_t *parts = r->part_ns + step * BN_PART_COUNT;
            r->wall_ns[step] = (uint64_t)((double)wall_ns * times[i]);
            parts[BN_PART_WAIT] = 0;
            uint64_t busy = 0;
            for (size_t p = 0; p < BN_PART_COUNT; p++)
                busy += parts[p];
            parts[BN_PART_WAIT] = r->wall_ns[step++] - busy;
        }
    }
    if (group)
        fixture_group(r, group, 1);
}

static res_figures table_of(res_record *const *records)
{
    res_pool pool;
    res_pool_make((const res_record *const *)records, PAIRS, &pool);
    assert_int_equal(pool.count, PAIRS);
    const res_figures figures = res_pool_figures(&pool);
    res_pool_free(&pool);
    return figures;
}

static void assert_adds_up(const res_difference *d, double a, double b)
{
    assert_near(d->a, a, 1e-6);
    assert_near(d->b, b, 1e-6);
    assert_near(d->difference.estimate, b - a, 1e-6);
    assert_true(d->difference.low <= b - a && b - a <= d->difference.high);
}

static void assert_note(const res_versus *v, const char *note, bool there)
{
    bn_text text = {0};
    res_table_versus(v, RES_TABLE_TEXT, &text);
    assert_int_equal(strstr(text.data, note) != NULL, there);
    bn_text_free(&text);
}

static void judge_all(res_versus *v, res_compared *cell)
{
    bn_status st = {0};
    *v = (res_versus){
        .cells = cell, .count = 1, .options = res_compare_defaults(), .all_measures = true};
    assert_ok(res_versus_judge(v, &st), &st);
}

static void a_side_is_what_tables_say_of_it(void **state)
{
    (void)state;
    static res_compared cell;
    res_versus v;
    for (int turns = 0; turns < 2; turns++) {
        sides s;
        uint64_t seed = 7;
        make_sides(&s, &fixture_lazy, &fixture_lazy);
        for (size_t i = 0; i < PAIRS; i++) {
            char group[24];
            snprintf(group, sizeof group, "pair-%zu", i);
            const uint64_t wall = (uint64_t)(20e6 * (1 + 0.02 * fixture_uniform(&seed)));
            /* More than a step takes, by noise: cut in all tables. */
            s.a[i]->executions[0].device_ns = 30e6 * exp(-1.2 + 0.216 * (double)i);
            s.b[i]->executions[0].device_ns = 33e6 * exp(-1.2 + 0.216 * (double)(PAIRS - 1 - i));
            /* Indistinguishable from zero: any other overhead contradicts a cut device time. */
            s.a[i]->executions[0].overhead_ns = s.b[i]->executions[0].overhead_ns =
                i % 2 ? 1e5 : -1e5;
            const double slower = 1.3 + 0.3 * fixture_uniform(&seed);
            set_rounds(s.a[i], wall, slower, slower, turns ? group : NULL);
            set_rounds(s.b[i], wall + 900000, slower, 0.9, turns ? group : NULL);
        }
        const res_figures a = table_of(s.a), b = table_of(s.b);
        set_cell(&cell, &s, false);
        judge_all(&v, &cell);
        const res_attribution *why = &cell.attribution;
        assert_true(a.device_scale < 1 && b.device_scale < 1);
        assert_adds_up(&why->quantity[RES_QUANTITY_WALL], a.wall.value.estimate,
                       b.wall.value.estimate);
        assert_adds_up(&why->quantity[RES_QUANTITY_DEVICE], a.device.value.estimate,
                       b.device.value.estimate);
        const double columns = b.wall.value.estimate / a.wall.value.estimate;
        assert_int_equal(fabs(columns - cell.comparison.ratio.estimate) > 1e-9, turns);
        assert_int_equal(cell.turns, turns);
        assert_note(&v, "B / A is over pairs", turns);
        assert_note(&v, "interleaved, round by round", turns);
        assert_note(&v, "A device time above the wall time", true);
        /* A part as in the table of ledgers: a plain mean. */
        const bn_part part = BN_PART_WAIT;
        double mean = 0;
        for (size_t i = 0; i < PAIRS; i++)
            mean += res_part_median(s.a[i], &part, 1) / PAIRS;
        assert_near(why->part[part].a, mean, 1e-3);
        free_sides(&s);
    }
}

/* ---- which program --------------------------------------------------------------------- */

static void programs_are_distinguished(void **state)
{
    (void)state;
    sides s;
    make_sides(&s, &fixture_lazy, &fixture_lazy);
    for (size_t i = 0; i < PAIRS; i++)
        strcpy(s.b[i]->executions[0].optimized, "bb");
    assert_int_equal(attribute(&s).program, RES_PROGRAM_COMPILED);

    strcpy(s.b[3]->executions[0].optimized, "cc");
    assert_int_equal(attribute(&s).program, RES_PROGRAM_UNSTEADY);

    for (size_t i = 0; i < PAIRS; i++)
        s.b[i]->executions[0].optimized[0] = '\0';
    assert_int_equal(attribute(&s).program, RES_PROGRAM_UNKNOWN);
    /* Programs that cannot be compared may still need different memory. */
    for (size_t i = 0; i < PAIRS; i++)
        s.b[i]->executions[0].temp_bytes += 64;
    assert_int_equal(attribute(&s).program, RES_PROGRAM_COMPILED);

    for (size_t i = 0; i < PAIRS; i++)
        strcpy(s.b[i]->executions[0].fingerprint, "another");
    assert_int_equal(attribute(&s).program, RES_PROGRAM_TEXT);
    free_sides(&s);
}

/* ---- the family -------------------------------------------------------------------------- */

static void verdicts_are_counted_controls_apart(void **state)
{
    (void)state;
    static res_compared cells[3];
    fixture_case slow = fixture_lazy;
    res_versus v;
    sides like, unlike;
    bn_text text = {0};
    slow.wall_ns += 1250000;
    make_sides(&like, &fixture_lazy, &fixture_lazy);
    make_sides(&unlike, &fixture_lazy, &slow);
    set_cell(&cells[0], &unlike, false);
    set_cell(&cells[1], &like, false);
    set_cell(&cells[2], &like, true);
    judge(&v, cells, 3, 0);
    res_versus_sum sum = res_versus_add_up(&v);
    assert_int_equal(sum.slower, 1);
    assert_int_equal(sum.equivalent, 1);
    assert_int_equal(sum.controls, 1);
    assert_int_equal(sum.alarms, 0);
    assert_false(sum.open);
    /* Corrected over the control as well. */
    assert_near(cells[0].comparison.level, 0.04 / 3, 1e-12);
    res_versus_summary(&v, &text);
    assert_non_null(strstr(text.data, "1 of 2 slower"));
    assert_non_null(strstr(text.data, "A/A control passed"));

    /* Slower, but not by what counts. */
    v.threshold = 0.1;
    sum = res_versus_add_up(&v);
    assert_int_equal(sum.slower, 0);
    assert_int_equal(sum.little, 1);

    set_cell(&cells[2], &unlike, true);
    judge(&v, cells, 3, 0);
    sum = res_versus_add_up(&v);
    assert_int_equal(sum.alarms, 1);
    assert_int_equal(sum.slower, 1);
    bn_text_clear(&text);
    res_versus_summary(&v, &text);
    assert_non_null(strstr(text.data, "A/A control failed"));
    bn_text_free(&text);
    free_sides(&like);
    free_sides(&unlike);
}

static void what_was_not_measured_stays_in_the_family(void **state)
{
    (void)state;
    static res_compared cells[3];
    res_versus v;
    sides like;
    bn_text text = {0};
    make_sides(&like, &fixture_lazy, &fixture_lazy);
    set_cell(&cells[0], &like, false);
    set_cell(&cells[1], &like, false);
    set_cell(&cells[2], &like, false);
    cells[0].pairs = 2;
    cells[1].pairs = 0;
    cells[2].pairs = 0;
    cells[2].failed = 'B';
    cells[2].failure = BN_CRASH;
    judge(&v, cells, 3, 0.03);
    const res_versus_sum sum = res_versus_add_up(&v);
    assert_int_equal(sum.undecided, 2);
    assert_int_equal(sum.failed, 1);
    assert_true(sum.open);
    assert_near(cells[0].comparison.level, 0.04 / 3, 1e-12);
    for (res_format f = RES_TABLE_TEXT; f <= RES_TABLE_JSON; f++) {
        bn_text_clear(&text);
        res_table_versus(&v, f, &text);
        assert_non_null(strstr(text.data, "crash"));
    }
    bn_text_clear(&text);
    res_table_versus(&v, RES_TABLE_JSON, &text);
    json_t *parsed = json_loads(text.data, 0, NULL);
    static const char *const outcomes[] = {"compared", "unmeasured", "failed"};
    for (size_t i = 0; i < 3; i++) {
        const json_t *cell = json_array_get(json_object_get(parsed, "cells"), i);
        const json_t *count = json_object_get(json_object_get(parsed, "counts"), outcomes[i]);
        assert_string_equal(json_string_value(json_object_get(cell, "outcome")), outcomes[i]);
        assert_int_equal(json_integer_value(count), 1);
    }
    json_decref(parsed);
    bn_text_free(&text);
    free_sides(&like);
}

/* A stored comparison has no cell of what was not measured, a live one a cell without pairs: both
 * leave the others as much of the level. */
static void what_is_absent_weighs_as_what_was_not_measured(void **state)
{
    (void)state;
    static res_compared cells[2];
    res_versus v;
    sides like;
    bn_status st = {0};
    make_sides(&like, &fixture_lazy, &fixture_lazy);
    set_cell(&cells[0], &like, false);
    set_cell(&cells[1], &like, false);
    cells[1].pairs = 0;
    judge(&v, cells, 2, 0.03);
    v.all_measures = true;
    assert_ok(res_versus_judge(&v, &st), &st);
    const double level = cells[0].comparison.level;
    assert_true(level > 0 && level < 0.04);
    v.count = 1;
    v.planned = 2;
    assert_ok(res_versus_judge(&v, &st), &st);
    assert_near(cells[0].comparison.level, level, 1e-15);
    free_sides(&like);
}

/* A control with too few pairs to claim anything has not passed. */
static void a_control_of_few_pairs_shows_nothing(void **state)
{
    (void)state;
    static res_compared cells[2];
    res_versus v;
    sides like;
    make_sides(&like, &fixture_lazy, &fixture_lazy);
    for (size_t pairs = 0; pairs <= PAIRS; pairs += RES_CLAIM_PAIRS - 1) {
        set_cell(&cells[0], &like, false);
        set_cell(&cells[1], &like, true);
        cells[1].pairs = pairs;
        judge(&v, cells, 2, 0.03);
        assert_int_equal(res_versus_add_up(&v).mute_controls, pairs < RES_CLAIM_PAIRS);
        assert_int_equal(res_versus_add_up(&v).alarms, 0);
    }
    free_sides(&like);
}

/* ---- pairs out of stores ------------------------------------------------------------------- */

typedef struct shelf {
    res_record *records[16];
    res_collection all;
} shelf;

static void put(shelf *s, const fixture_case *c, const char *sha256, const char *label)
{
    res_record *r = fixture_record(c, STEPS);
    json_object_set_new(r->provenance, "runtime",
                        json_pack("{ss ss}", "sha256", sha256, "label", label));
    s->records[s->all.count++] = r;
    s->all.records = s->records;
}

static void clear(shelf *s)
{
    for (size_t i = 0; i < s->all.count; i++)
        res_record_free(s->records[i]);
    *s = (shelf){.all.count = 0};
}

static bn_code pair(const shelf *a, const shelf *b, const char *label, res_versus *v, bn_status *st)
{
    const res_choice choice[2] = {{"left", NULL, label}, {"right", NULL, NULL}};
    *v = (res_versus){.options = res_compare_defaults()};
    return res_versus_pair(&a->all, &b->all, choice, v, st);
}

static void records_are_paired_in_their_order(void **state)
{
    (void)state;
    shelf a = {.all.count = 0}, b = {.all.count = 0};
    fixture_case other = fixture_lazy, later = fixture_lazy;
    res_versus v;
    bn_status st = {0};
    other.batch = 8;
    later.runtime = "cpu-xla"; /* the same experiment on another runtime */
    for (int i = 0; i < 3; i++) {
        put(&a, &fixture_lazy, "aaa", "");
        put(&b, &later, "bbb", "");
    }
    put(&a, &other, "aaa", "");
    assert_ok(pair(&a, &b, NULL, &v, &st), &st);
    assert_int_equal(v.count, 1);
    assert_int_equal(v.cells[0].pairs, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(v.cells[0].a[i], a.records[i]);
        assert_ptr_equal(v.cells[0].b[i], b.records[i]);
    }
    assert_true(v.noted[RES_NOTE_UNPAIRED] && !v.noted[RES_NOTE_OLDER]);
    res_versus_free(&v);

    /* One of A more: the latest three, said in words. */
    put(&a, &fixture_lazy, "aaa", "");
    assert_ok(pair(&a, &b, NULL, &v, &st), &st);
    assert_int_equal(v.cells[0].pairs, 3);
    assert_ptr_equal(v.cells[0].a[0], a.records[1]);
    assert_ptr_equal(v.cells[0].a[2], a.records[4]);
    assert_true(v.noted[RES_NOTE_COUNTS]);
    res_versus_free(&v);
    clear(&a);
    clear(&b);
}

static void one_night_after_the_other_is_said(void **state)
{
    (void)state;
    shelf a = {.all.count = 0}, b = {.all.count = 0};
    res_versus v;
    bn_status st = {0};
    for (int i = 0; i < 2; i++)
        put(&a, &fixture_lazy, "aaa", "");
    for (int i = 0; i < 2; i++)
        put(&b, &fixture_lazy, "bbb", "");
    assert_ok(pair(&a, &b, NULL, &v, &st), &st);
    assert_true(v.noted[RES_NOTE_OLDER]);
    res_versus_free(&v);
    clear(&a);
    clear(&b);
}

static void assert_refused(const shelf *a, const shelf *b, const char *label, const char *text)
{
    res_versus v;
    bn_status st = {0};
    assert_int_equal(pair(a, b, label, &v, &st), BN_INVALID);
    assert_non_null(strstr(st.message, text));
    res_versus_free(&v);
}

static void sides_that_are_none_are_refused(void **state)
{
    (void)state;
    shelf a = {.all.count = 0}, b = {.all.count = 0};
    fixture_case other = fixture_lazy;
    res_versus v;
    bn_status st = {0};
    other.batch = 8;
    put(&a, &fixture_lazy, "aaa", "one");
    put(&b, &other, "bbb", "");
    assert_refused(&a, &b, NULL, "share no experiment");
    assert_refused(&a, &b, "two", "no good records labelled two");
    put(&b, &fixture_lazy, "bbb", "");
    put(&a, &fixture_lazy, "ccc", "two");
    assert_refused(&a, &b, NULL, "--label chooses");
    assert_ok(pair(&a, &b, "two", &v, &st), &st);
    assert_ptr_equal(v.cells[0].a[0], a.records[1]);
    res_versus_free(&v);
    /* Under one label nothing chooses. */
    json_object_set_new(json_object_get(a.records[0]->provenance, "runtime"), "label",
                        json_string("two"));
    assert_refused(&a, &b, "two", "a folder of its own");
    json_object_set_new(json_object_get(a.records[0]->provenance, "runtime"), "label",
                        json_string("one"));
    a.records[1]->status = BN_CRASH;
    assert_refused(&a, &b, "two", "no good records");
    clear(&a);
    clear(&b);
}

/* Records of a whole comparison: batches 4, 8, ... are its cells. LETTERS has for each side the
 * outcomes of its records in their order: "g" a good process, "f" a failed one; "G" and "F"
 * are of another build. */
static void whole(const char *const letters[2], int batch, shelf shelves[2])
{
    for (int side = 0; side < 2; side++) {
        fixture_case c = fixture_lazy;
        c.batch = batch;
        for (const char *l = letters[side]; *l; l++) {
            const bool other = *l == 'G' || *l == 'F';
            put(&shelves[side], &c, other ? "ccc" : side ? "bbb" : "aaa", "");
            res_record *r = shelves[side].records[shelves[side].all.count - 1];
            r->status = *l == 'f' || *l == 'F' ? BN_OUT_OF_MEMORY : BN_OK;
        }
    }
}

static void each_experiment_is_in_the_verdict(void **state)
{
    (void)state;
    static const struct {
        const char *letters[2];
        size_t pairs;
        char failed;
        bool missing;
    } rows[] = {
        {{"gg", "gg"}, 2, 0, false},    {{"gg", "ff"}, 0, 'B', false},
        {{"ff", "gg"}, 0, 'A', false},  {{"ff", "ff"}, 0, 'B', false},
        {{"gg", "fg"}, 1, 0, false},    {{"gg", "gf"}, 1, 'B', false},
        {{"gfg", "gg"}, 2, 'A', false}, {{"gg", ""}, 0, 'B', true},
        {{"", "gg"}, 0, 'A', true},     {{"", "f"}, 0, 'B', false},
        {{"f", ""}, 0, 'A', false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        shelf shelves[2] = {{.all.count = 0}, {.all.count = 0}};
        const res_choice choice[2] = {{"left", NULL, NULL}, {"right", NULL, NULL}};
        res_versus v = {.options = res_compare_defaults(), .whole = true};
        bn_status st = {0};
        /* Another experiment, which is good on both sides, is compared all the same. */
        whole((const char *const[]){"g", "g"}, 8, shelves);
        whole(rows[i].letters, 4, shelves);
        assert_ok(res_versus_pair(&shelves[0].all, &shelves[1].all, choice, &v, &st), &st);
        assert_int_equal(v.count, 2);
        const res_compared *cell = &v.cells[v.cells[0].experiment.batch == 8 ? 1 : 0];
        if (cell->pairs != rows[i].pairs || cell->failed != rows[i].failed ||
            cell->missing != rows[i].missing)
            fail_msg("row %zu: %zu pairs, failed %d, missing %d", i, cell->pairs, cell->failed,
                     cell->missing);
        assert_true(!cell->failed || cell->missing || cell->failure == BN_OUT_OF_MEMORY);
        assert_ok(res_versus_judge(&v, &st), &st);
        const res_versus_sum sum = res_versus_add_up(&v);
        assert_int_equal(sum.failed, rows[i].failed && !rows[i].missing);
        assert_int_equal(sum.missing, rows[i].missing);
        bn_text text = {0};
        res_table_versus(&v, RES_TABLE_JSON, &text);
        json_t *parsed = json_loads(text.data, 0, NULL);
        const json_t *counts = json_object_get(parsed, "counts");
        assert_int_equal(json_integer_value(json_object_get(counts, "compared")),
                         rows[i].failed ? 1 : 2);
        assert_int_equal(json_integer_value(json_object_get(counts, "missing")), rows[i].missing);
        json_decref(parsed);
        for (res_format f = RES_TABLE_TEXT; f <= RES_TABLE_JSON; f++) {
            bn_text_clear(&text);
            res_table_versus(&v, f, &text);
            assert_true(!rows[i].failed ||
                        strstr(text.data, rows[i].missing ? "missing" : "out-of-memory"));
        }
        bn_text_free(&text);
        res_versus_free(&v);
        clear(&shelves[0]);
        clear(&shelves[1]);
    }
}

/* A repetition of a suite that failed is replaced by a good one of its number, not by the others,
 * and a note says so. STEPS: letters as above, each before the number of its repetition. */
static void repetitions_are_replaced_by_their_own(void **state)
{
    (void)state;
    static const struct {
        const char *steps;
        bool failed, noted;
    } rows[] = {
        {"g1g2g3", false, false},  {"f1g2g3", true, false},   {"f1g2g3g1", false, true},
        {"g1f2g3g2", false, true}, {"g1g2f3", true, false},   {"f1f1g1g2", false, true},
        {"f1g1f2", true, true},    {"g1f1g2g3", true, false}, {"f0g2g3", false, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        shelf shelves[2] = {{.all.count = 0}, {.all.count = 0}};
        const res_choice choice[2] = {{"left", NULL, NULL}, {"right", NULL, NULL}};
        res_versus v = {.options = res_compare_defaults(), .whole = true};
        bn_status st = {0};
        whole((const char *const[]){"ggg", ""}, 4, shelves);
        for (const char *l = rows[i].steps; *l; l += 2) {
            whole((const char *const[]){"", *l == 'f' ? "f" : "g"}, 4, shelves);
            const res_record *r = shelves[1].records[shelves[1].all.count - 1];
            json_object_set_new(r->provenance, "suite",
                                json_pack("{si}", "repetition", l[1] - '0'));
        }
        assert_ok(res_versus_pair(&shelves[0].all, &shelves[1].all, choice, &v, &st), &st);
        assert_int_equal(v.count, 1);
        const bool noted = v.noted[RES_NOTE_FIXED];
        if ((v.cells[0].failed == 'B') != rows[i].failed || noted != rows[i].noted)
            fail_msg("row %zu: failed %d, noted %d", i, v.cells[0].failed, noted);
        res_versus_free(&v);
        clear(&shelves[0]);
        clear(&shelves[1]);
    }
}

/* "compared", "failed" or "missing": what the JSON of V says of BATCH; "": nothing. */
static void outcome_of(const res_versus *v, int batch, char out[16])
{
    bn_text text = {0};
    size_t i;
    json_t *cell;
    res_table_versus(v, RES_TABLE_JSON, &text);
    json_t *parsed = json_loads(text.data, 0, NULL);
    out[0] = '\0';
    json_array_foreach(json_object_get(parsed, "cells"), i, cell)
    {
        const json_t *experiment = json_object_get(cell, "experiment");
        if (json_integer_value(json_object_get(experiment, "batch")) == batch)
            snprintf(out, 16, "%s", json_string_value(json_object_get(cell, "outcome")));
    }
    json_decref(parsed);
    bn_text_free(&text);
}

/* Good records of an older build say nothing of the latest one, which fails. */
static void the_latest_build_is_compared(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second; /* B's letters of batches 4 and 8, in the order of time */
        const char *outcomes[2];    /* NULL: refused */
    } rows[] = {
        {"ggF", "", {"failed", "missing"}},
        {"gF", "gF", {"failed", "failed"}},
        {"gg", "F", {"missing", "failed"}},
        {"gg", "ggF", {"missing", "failed"}},
        {"Fgg", "gg", {"compared", "compared"}},
        {"gFg", "gg", {"compared", "compared"}},
        {"ggFF", "gg", {"compared", "compared"}},
        {"F", "gg", {"missing", "compared"}},
        {"fF", "gg", {"failed", "compared"}},
        {"fF", "F", {"failed", "failed"}},
        {"GgF", "gg", {NULL}},
        {"g", "FG", {NULL}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        /* The same on either side. */
        for (int turned = 0; turned < 2; turned++) {
            shelf shelves[2] = {{.all.count = 0}, {.all.count = 0}};
            const char *const first[] = {turned ? rows[i].first : "gg",
                                         turned ? "gg" : rows[i].first};
            const char *const second[] = {turned ? rows[i].second : "gg",
                                          turned ? "gg" : rows[i].second};
            const res_choice choice[2] = {{"left", NULL, NULL}, {"right", NULL, NULL}};
            res_versus v = {.options = res_compare_defaults(), .whole = true};
            bn_status st = {0};
            whole(first, 4, shelves);
            whole(second, 8, shelves);
            const bn_code code = res_versus_pair(&shelves[0].all, &shelves[1].all, choice, &v, &st);
            assert_int_equal(code, rows[i].outcomes[0] ? BN_OK : BN_INVALID);
            if (code == BN_OK)
                assert_ok(res_versus_judge(&v, &st), &st);
            for (int k = 0; code == BN_OK && k < 2; k++) {
                char outcome[16];
                outcome_of(&v, k ? 8 : 4, outcome);
                if (strcmp(outcome, rows[i].outcomes[k]) != 0)
                    fail_msg("row %zu, turned %d: batch %d is %s", i, turned, k ? 8 : 4, outcome);
            }
            res_versus_free(&v);
            clear(&shelves[0]);
            clear(&shelves[1]);
        }
    }
}

/* A label says which build is asked for; one that does not tell its build may be of this one;
 * machines that differ are named. */
static void sides_are_separated(void **state)
{
    (void)state;
    shelf shelves[2] = {{.all.count = 0}, {.all.count = 0}};
    res_choice choice[2] = {{"left", NULL, NULL}, {"right", NULL, "good"}};
    res_versus v = {.options = res_compare_defaults(), .whole = true};
    bn_status st = {0};
    whole((const char *const[]){"gg", ""}, 4, shelves);
    put(&shelves[1], &fixture_lazy, "bbb", "good");
    put(&shelves[1], &fixture_lazy, "bbb", "good");
    put(&shelves[1], &fixture_lazy, "ccc", "bad");
    shelves[1].records[2]->status = BN_CRASH;
    json_object_set_new(shelves[1].records[1]->provenance, "host",
                        json_pack("{ss}", "kernel", "another"));
    assert_ok(res_versus_pair(&shelves[0].all, &shelves[1].all, choice, &v, &st), &st);
    assert_int_equal(v.count, 1);
    assert_int_equal(v.cells[0].failed, 0);
    assert_non_null(strstr(v.differing, "kernel"));
    assert_false(v.noted[RES_NOTE_COPIES]);
    res_versus_free(&v);
    json_object_del(shelves[1].records[2]->provenance, "runtime");
    choice[1].label = NULL;
    v = (res_versus){.options = res_compare_defaults(), .whole = true};
    assert_ok(res_versus_pair(&shelves[0].all, &shelves[1].all, choice, &v, &st), &st);
    assert_int_equal(v.cells[0].failed, 'B');
    res_versus_free(&v);
    /* Records of a folder that was copied are reported; if all are, nothing is compared. */
    put(&shelves[1], &fixture_lazy, "aaa", "good");
    res_record *both[] = {shelves[0].records[1], shelves[1].records[3]};
    res_collection copied = {.records = both, .count = 2};
    v = (res_versus){.options = res_compare_defaults(), .whole = true};
    assert_ok(res_versus_pair(&shelves[0].all, &copied, choice, &v, &st), &st);
    assert_true(v.noted[RES_NOTE_COPIES]);
    res_versus_free(&v);
    copied.count = 1;
    v = (res_versus){.options = res_compare_defaults(), .whole = true};
    assert_int_equal(res_versus_pair(&shelves[0].all, &copied, choice, &v, &st), BN_INVALID);
    res_versus_free(&v);
    clear(&shelves[0]);
    clear(&shelves[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slower_device_is_named),
        cmocka_unit_test(a_dearer_execution_is_named),
        cmocka_unit_test(without_device_times_a_part_is_named),
        cmocka_unit_test(time_that_changed_its_place_is_said),
        cmocka_unit_test(of_like_sides_nothing_is_named),
        cmocka_unit_test(a_difference_has_the_interval_of_students_t),
        cmocka_unit_test(a_side_is_what_tables_say_of_it),
        cmocka_unit_test(programs_are_distinguished),
        cmocka_unit_test(verdicts_are_counted_controls_apart),
        cmocka_unit_test(what_was_not_measured_stays_in_the_family),
        cmocka_unit_test(what_is_absent_weighs_as_what_was_not_measured),
        cmocka_unit_test(a_control_of_few_pairs_shows_nothing),
        cmocka_unit_test(records_are_paired_in_their_order),
        cmocka_unit_test(one_night_after_the_other_is_said),
        cmocka_unit_test(sides_that_are_none_are_refused),
        cmocka_unit_test(each_experiment_is_in_the_verdict),
        cmocka_unit_test(repetitions_are_replaced_by_their_own),
        cmocka_unit_test(the_latest_build_is_compared),
        cmocka_unit_test(sides_are_separated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
