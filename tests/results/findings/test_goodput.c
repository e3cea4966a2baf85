/*
 * test_goodput.c - where the wall time of processes went: classes of planted phases and ledgers,
 * and the table of them. Needs no plugin.
 */
#include "results/findings/goodput.h"
#include "results/tables/tables.h"
#include "tests/results/findings/pools_fixture.h"

#define MS 1000000.0
enum { STEPS = 20 };

/* A step of 10 ms: 2 of input, 1 of tracing, 6.5 around executions, 0.5 in no part. */
static void plant_steps(res_record *r)
{
    for (size_t step = 0; step < STEPS; step++) {
        uint64_t *parts = r->part_ns + step * BN_PART_COUNT;
        memset(parts, 0, BN_PART_COUNT * sizeof *parts);
        parts[BN_PART_INPUT] = 2000000;
        parts[BN_PART_TRACE] = 700000;
        parts[BN_PART_HASH] = 200000;
        parts[BN_PART_LOOKUP] = 100000;
        parts[BN_PART_BIND] = 100000;
        parts[BN_PART_DISPATCH] = 300000;
        parts[BN_PART_RELEASE] = 50000;
        parts[BN_PART_WAIT] = 6000000;
        parts[BN_PART_READ] = 50000;
        parts[BN_PART_OTHER] = 500000;
        r->wall_ns[step] = 10000000;
    }
}

/* Of a process of 1 s, of which 200 ms were for others: 50 ms of the own 800 are in no phase. */
static json_t *phases(void)
{
    return json_pack("{sI sI sI sI sI sI sI}", "wall_ns", (json_int_t)1000000000, "others_ns",
                     (json_int_t)200000000, "initialization_ns", (json_int_t)100000000,
                     "preparation_ns", (json_int_t)50000000, "compile_ns", (json_int_t)150000000,
                     "warmup_ns", (json_int_t)100000000, "measuring_ns", (json_int_t)350000000);
}

/* One execution a step, of DEVICE_NS. */
static res_record *process_of(store *s, double device_ns, int process)
{
    const fixture_case c = {"cpu", "bert", "train", "lazy", 1, 1, 1000, 10000000, device_ns, 10};
    res_record *r = fixture_record(&c, STEPS);
    plant_steps(r);
    json_object_set_new(r->provenance, "phases", phases());
    fixture_group(r, "group", process);
    s->records[s->count++] = r;
    return r;
}

static void assert_sums(const res_goodput_process *p)
{
    double sum = 0;
    for (int i = 0; i < RES_GOODPUT_CLASS_COUNT; i++) {
        assert_true(p->ns[i] >= 0);
        sum += p->ns[i];
    }
    assert_near(sum, p->wall_ns, 1);
}

/* The goodput of a record whose device time is DEVICE_NS a step; CHANGE may change it before. */
static res_goodput_process of_one(double device_ns, void (*change)(res_record *))
{
    store s = {.count = 0};
    res_goodput_process p;
    res_record *r = process_of(&s, device_ns, 1);
    if (change)
        change(r);
    assert_true(res_goodput_of_record(r, device_ns, &p));
    assert_sums(&p);
    clear(&s);
    return p;
}

/* ---- one process ----------------------------------------------------------------------- */

static void test_every_class(void **state)
{
    const res_goodput_process p = of_one(5 * MS, NULL);
    assert_near(p.wall_ns, 800 * MS, 1);
    assert_near(p.steps_ns, 200 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_PRODUCTIVE], STEPS * 5 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_INITIALIZATION], 100 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_PREPARATION], 50 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_COMPILE], 150 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_WARMUP], 100 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_INPUT], STEPS * 2 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_TRACING], STEPS * 1 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_OVERHEAD], STEPS * 1.5 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_IDLE], STEPS * 0.5 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_MEASURING], 150 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_REST], 50 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_UNATTRIBUTED], 0, 0);
}

/* The device works for 9 ms, and 6.5 are around executions: 2.5 of the host's 3.5 ms are hidden. */
static void test_hidden_host_work_is_no_loss(void **state)
{
    const res_goodput_process p = of_one(9 * MS, NULL);
    assert_near(p.ns[RES_GOODPUT_PRODUCTIVE], STEPS * 9 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_INPUT], STEPS * 2 * MS / 3.5, 1);
    assert_near(p.ns[RES_GOODPUT_TRACING], STEPS * 1 * MS / 3.5, 1);
    assert_near(p.ns[RES_GOODPUT_IDLE], STEPS * 0.5 * MS / 3.5, 1);
    assert_near(p.ns[RES_GOODPUT_OVERHEAD], 0, 0);
}

static void test_device_time_is_at_most_the_steps(void **state)
{
    const res_goodput_process p = of_one(12 * MS, NULL);
    assert_near(p.ns[RES_GOODPUT_PRODUCTIVE], STEPS * 10 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_INPUT], 0, 1e-3);
}

/* Compiles of measured steps are compiles. */
static void move_to_compile(res_record *r)
{
    r->part_ns[BN_PART_INPUT] = 0;
    r->part_ns[BN_PART_LOWER] = 500000;
    r->part_ns[BN_PART_COMPILE] = 1500000;
}

static void test_compiles_of_steps(void **state)
{
    const res_goodput_process p = of_one(5 * MS, move_to_compile);
    assert_near(p.ns[RES_GOODPUT_COMPILE], 152 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_INPUT], (STEPS - 1) * 2 * MS, 1);
}

static void test_unknown_device_time(void **state)
{
    const res_goodput_process p = of_one((double)NAN, NULL);
    assert_near(p.ns[RES_GOODPUT_PRODUCTIVE], 0, 0);
    assert_near(p.ns[RES_GOODPUT_OVERHEAD], 0, 0);
    assert_near(p.ns[RES_GOODPUT_UNATTRIBUTED], STEPS * 6.5 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_TRACING], STEPS * 1 * MS, 1);
}

/* ---- recordings ---------------------------------------------------------------------------- */

static void record_steps(res_record *r)
{
    json_t *p = json_object_get(r->provenance, "phases");
    json_object_set_new(p, "steps",
                        json_pack("{si si si si si si si}", "wall_ns", 300000000, "device_ns",
                                  180000000, "input_ns", 10000000, "tracing_ns", 60000000,
                                  "compile_ns", 0, "overhead_ns", 20000000, "idle_ns", 30000000));
}

static void test_steps_of_a_recording(void **state)
{
    const res_goodput_process p = of_one((double)NAN, record_steps);
    assert_near(p.ns[RES_GOODPUT_PRODUCTIVE], 180 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_TRACING], 60 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_INPUT], 10 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_OVERHEAD], 20 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_IDLE], 30 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_MEASURING], 50 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_UNATTRIBUTED], 0, 0);
}

static void record_without_completions(res_record *r)
{
    record_steps(r);
    json_object_set_new(json_object_get(json_object_get(r->provenance, "phases"), "steps"),
                        "device_ns", json_null());
}

static void test_recording_without_completions(void **state)
{
    const res_goodput_process p = of_one((double)NAN, record_without_completions);
    assert_near(p.ns[RES_GOODPUT_UNATTRIBUTED], 300 * MS, 1);
    assert_near(p.ns[RES_GOODPUT_PRODUCTIVE], 0, 0);
}

/* ---- what cannot be ---------------------------------------------------------------------- */

static void set_phase(res_record *r, const char *name, json_t *value)
{
    json_object_set_new(json_object_get(r->provenance, "phases"), name, value);
}

static void test_phases_that_cannot_be(void **state)
{
    static const struct {
        const char *name, *value;
    } wrong[] = {
        {"wall_ns", "-1"},        {"wall_ns", "\"long\""},       {"wall_ns", "null"},
        {"wall_ns", "900000000"}, {"others_ns", "300000000"},    {"preparation_ns", "-5"},
        {"compile_ns", "1e30"},   {"measuring_ns", "150000000"}, {"steps", "{\"wall_ns\": 5}"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        store s = {.count = 0};
        res_goodput_process p;
        res_record *r = process_of(&s, 5 * MS, 1);
        assert_true(res_goodput_of_record(r, 5 * MS, &p));
        set_phase(r, wrong[i].name, json_loads(wrong[i].value, JSON_DECODE_ANY, NULL));
        if (res_goodput_of_record(r, 5 * MS, &p))
            fail_msg("%s: %s was believed", wrong[i].name, wrong[i].value);
        clear(&s);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Three processes; the first compiled for 300 ms more. */
static void plant_three(store *s)
{
    for (int process = 1; process <= 3; process++) {
        res_record *r = process_of(s, 5 * MS, process);
        if (process > 1)
            continue;
        set_phase(r, "wall_ns", json_integer(1300000000));
        set_phase(r, "compile_ns", json_integer(450000000));
    }
}

static void test_a_row_is_the_sum_of_its_processes(void **state)
{
    store s = {.count = 0};
    res_goodput g;
    plant_three(&s);
    res_speedup table = made(&s);
    res_goodput_make(row_of(&table, "bert", "lazy"), &g);
    assert_int_equal(g.processes, 3);
    assert_int_equal(g.silent, 0);
    assert_sums(&g.sum);
    assert_near(g.sum.wall_ns, 2700 * MS, 1);
    assert_near(g.others_ns, 600 * MS, 1);
    assert_near(g.productive.estimate, 300.0 / 2700, 1e-9);
    /* Residuals -22.2, 11.1, 11.1 ms of a mean of 900 ms; their standard error is 11.1 ms, and t is
     * 4.303. */
    assert_near(g.productive.high - g.productive.estimate, 4.3027 * 11.1111 / 900, 1e-4);
    assert_near(g.productive.estimate - g.productive.low, 4.3027 * 11.1111 / 900, 1e-4);
    res_speedup_free(&table);
    clear(&s);
}

static void test_records_of_older_versions(void **state)
{
    store s = {.count = 0};
    res_goodput g;
    plant_three(&s);
    json_object_del(s.records[2]->provenance, "phases");
    res_speedup table = made(&s);
    res_goodput_make(row_of(&table, "bert", "lazy"), &g);
    assert_int_equal(g.processes, 2);
    assert_int_equal(g.silent, 1);
    assert_near(g.sum.wall_ns, 1900 * MS, 1);
    assert_true(isnan(g.productive.low));
    res_speedup_free(&table);
    clear(&s);
}

/* One process has no device time: the row's stands for it. */
static void test_a_borrowed_device_time(void **state)
{
    store s = {.count = 0};
    res_goodput g;
    plant_three(&s);
    s.records[1]->executions[0].device_ns = (double)NAN;
    s.records[1]->executions[0].device_source = BN_DEVICE_TIME_UNAVAILABLE;
    res_speedup table = made(&s);
    res_goodput_make(row_of(&table, "bert", "lazy"), &g);
    assert_int_equal(g.borrowed, 1);
    assert_near(g.sum.ns[RES_GOODPUT_PRODUCTIVE], 300 * MS, 1);
    res_speedup_free(&table);
    clear(&s);
}

/* Probes are of one length only. */
static void test_varying_lengths(void **state)
{
    store s = {.count = 0};
    res_goodput g;
    plant_three(&s);
    for (size_t i = 0; i < s.count; i++)
        strcpy(s.records[i]->experiment.lengths, "varying");
    res_speedup table = made(&s);
    res_goodput_make(row_of(&table, "bert", "lazy"), &g);
    assert_true(isnan(g.productive.estimate));
    assert_true(g.sum.ns[RES_GOODPUT_UNATTRIBUTED] > 0);
    assert_sums(&g.sum);
    res_speedup_free(&table);
    /* All batches are padded to that length. */
    for (size_t i = 0; i < s.count; i++)
        s.records[i]->experiment.buckets = 1;
    table = made(&s);
    res_goodput_make(row_of(&table, "bert", "lazy"), &g);
    assert_true(isfinite(g.productive.estimate));
    res_speedup_free(&table);
    clear(&s);
}

/* ---- the table --------------------------------------------------------------------------------
 */

static bn_text table_of(store *s, res_format format)
{
    const res_collection all = {.records = s->records, .count = s->count};
    bn_status st = {.code = BN_OK};
    bn_text out = {0};
    assert_int_equal(res_table_check("goodput", &st), BN_OK);
    res_table("goodput", &all, format, &out);
    return out;
}

static json_t *first_row(store *s, json_t **all)
{
    bn_text text = table_of(s, RES_TABLE_JSON);
    *all = json_loads(text.data, 0, NULL);
    bn_text_free(&text);
    assert_int_equal(json_array_size(json_object_get(*all, "rows")), 1);
    return json_array_get(json_object_get(*all, "rows"), 0);
}

static double share(const json_t *row, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "%s_share", name);
    assert_true(json_is_number(json_object_get(row, key)));
    return json_number_value(json_object_get(row, key));
}

static void test_shares_sum_to_one(void **state)
{
    static const char *const badput[] = {
        "GOODPUT",           "TPU_INITIALIZATION",   "TRAINING_PREP", "PROGRAM_STARTUP",
        "DATA_LOADING_SYNC", "CUSTOM_BADPUT_EVENTS", "OTHER"};
    store s = {.count = 0};
    json_t *all;
    plant_three(&s);
    json_t *row = first_row(&s, &all);
    double sum = 0, names = 0;
    for (int c = 0; c < RES_GOODPUT_CLASS_COUNT; c++)
        sum += share(row, res_goodput_name((res_goodput_class)c));
    for (size_t i = 0; i < sizeof badput / sizeof *badput; i++)
        names += share(row, badput[i]);
    assert_near(sum, 1, 1e-12);
    assert_near(names, 1, 1e-12);
    assert_near(share(row, "PROGRAM_STARTUP"), share(row, "compile") + share(row, "warmup"), 1e-12);
    assert_near(share(row, "steps"), 600.0 / 2700, 1e-9);
    json_decref(all);
    clear(&s);
}

static void test_not_known_is_not_zero(void **state)
{
    static const res_format formats[] = {RES_TABLE_TEXT, RES_TABLE_MARKDOWN, RES_TABLE_LATEX,
                                         RES_TABLE_HTML, RES_TABLE_NARROW};
    store s = {.count = 0};
    json_t *all;
    plant_three(&s);
    for (size_t i = 0; i < s.count; i++)
        json_object_del(s.records[i]->provenance, "phases");
    json_t *row = first_row(&s, &all);
    assert_int_equal(json_integer_value(json_object_get(row, "told")), 0);
    assert_true(json_is_null(json_object_get(row, "wall_ns")));
    for (int c = 0; c < RES_GOODPUT_CLASS_COUNT; c++) {
        char key[64];
        snprintf(key, sizeof key, "%s_share", res_goodput_name((res_goodput_class)c));
        assert_true(json_is_null(json_object_get(row, key)));
    }
    assert_true(json_is_null(json_object_get(row, "OTHER_share")));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        bn_text text = table_of(&s, formats[i]);
        assert_non_null(strstr(text.data, "unknown"));
        assert_null(strstr(text.data, "0.0 "));
        bn_text_free(&text);
    }
    json_decref(all);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_class),
        cmocka_unit_test(test_hidden_host_work_is_no_loss),
        cmocka_unit_test(test_device_time_is_at_most_the_steps),
        cmocka_unit_test(test_compiles_of_steps),
        cmocka_unit_test(test_unknown_device_time),
        cmocka_unit_test(test_steps_of_a_recording),
        cmocka_unit_test(test_recording_without_completions),
        cmocka_unit_test(test_phases_that_cannot_be),
        cmocka_unit_test(test_a_row_is_the_sum_of_its_processes),
        cmocka_unit_test(test_records_of_older_versions),
        cmocka_unit_test(test_a_borrowed_device_time),
        cmocka_unit_test(test_varying_lengths),
        cmocka_unit_test(test_shares_sum_to_one),
        cmocka_unit_test(test_not_known_is_not_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
