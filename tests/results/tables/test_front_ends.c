/*
 * test_front_ends.c - the speedup table of steps that several front ends ran: they are ways to run
 * one step, next to modes, and bench's own lazy is what they are compared with. Needs no plugin.
 */
#include "tests/results/tables/tables_fixture.h"

/* A record of case C, run by FRONT_END of VERSION, of process P. */
static res_record *record_of(const char *front_end, const char *version, const fixture_case *c,
                             int p)
{
    fixture_case mine = *c;
    mine.wall_ns += mine.wall_ns / 100 * (uint64_t)p;
    res_record *record = fixture_record(&mine, 60);
    snprintf(record->experiment.front_end, sizeof record->experiment.front_end, "%s", front_end);
    fixture_group(record, "g-front", p + 1);
    if (strcmp(front_end, "bench") == 0)
        return record;
    record->executions[0].device_source = BN_DEVICE_TIME_EVENT;
    record->step_counters[BN_COUNTER_NODES_TRACED] = 7 * (int64_t)record->step_count;
    json_object_set_new(record->provenance, "front_end",
                        json_pack("{s:{s:s}, s:s, s:f}", "versions", front_end, version,
                                  "script_sha256", FIXTURE_DIGEST, "nodes_per_step", 7.0));
    return record;
}

static const fixture_case lazy = {"cpu", "resnet50", "train",  "lazy",   1,
                                  4,     2900000,    25000000, 19000000, 1309};
static const fixture_case capture = {"cpu", "resnet50", "train",  "capture", 1,
                                     4,     0,          20000000, 19000000,  0};
static const fixture_case foreign_lazy = {"cpu", "resnet50", "train",  "lazy",   1,
                                          4,     9000000,    35000000, 19000000, 0};
static const fixture_case foreign = {"cpu", "resnet50", "train",  "capture", 1,
                                     4,     90000,      21000000, 19000000,  0};

/* Four processes of each way; WITH_BENCH: bench's lazy and capture, too. */
static res_collection store_of(bool with_bench, const char *version)
{
    res_collection all = {.records = calloc(5 * PROCESSES, sizeof(res_record *))};
    assert_non_null(all.records);
    for (int p = 0; p < PROCESSES; p++) {
        if (with_bench) {
            all.records[all.count++] = record_of("bench", "", &lazy, p);
            all.records[all.count++] = record_of("bench", "", &capture, p);
        }
        all.records[all.count++] = record_of("jax", version, &foreign, p);
        all.records[all.count++] = record_of("pytorch-xla", version, &foreign_lazy, p);
        all.records[all.count++] = record_of("pytorch-xla", version, &foreign, p);
    }
    return all;
}

/* The row of FRONT_END in MODE, borrowed of ROWS. */
static const json_t *row_of(const json_t *rows, const char *front_end, const char *mode)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(json_string_value(json_object_get(row, "front_end")), front_end) == 0 &&
            strcmp(json_string_value(json_object_get(row, "mode")), mode) == 0)
            return row;
    }
    fail_msg("no row of %s %s", front_end, mode);
    return NULL;
}

static void each_is_compared_with_lazy_of_bench(void **state)
{
    (void)state;
    res_collection all = store_of(true, "1");
    json_t *means = NULL, *rows = speedup_rows(&all, &means);
    assert_int_equal(json_array_size(rows), 5);
    const json_t *base = row_of(rows, "bench", "lazy");
    assert_true(json_is_null(json_object_get(base, "speedup")));
    const json_t *jax = row_of(rows, "jax", "capture");
    assert_near(number(jax, "speedup"), 25.0 / 21, 0.02);
    assert_true(json_is_true(json_object_get(jax, "matched")));
    assert_true(number(jax, "nodes_per_step") == 7);
    assert_string_equal(json_string_value(json_object_get(jax, "device_time_source")), "event");
    assert_near(number(row_of(rows, "pytorch-xla", "lazy"), "speedup"), 25.0 / 35, 0.02);
    /* Of each way but the base. */
    assert_int_equal(json_array_size(means), 4);
    json_decref(rows);
    json_decref(means);

    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    assert_has(out.data, "framework");
    line_with(out.data, "bench        lazy", "baseline");
    line_with(out.data, "pytorch-xla  lazy", "slower");
    line_with(out.data, "train  jax capture", "(1 of 1)");
    assert_found(&all, "faster", 1, " jax capture: 1.19x ");
    /* How many graphs a mode of bench makes is no count of a framework's programs. */
    assert_has(line_with(out.data, "bench        lazy", "baseline"), "  lazy          1  ");
    assert_has(line_with(out.data, "pytorch-xla  lazy", "slower"), "  lazy          -  ");
    bn_text_free(&out);
    res_collection_free(&all);
}

/* Whether the table of a store, whose jax has another device time, claims a difference of that. */
static bool claims_device(bool with_bench)
{
    res_collection all = store_of(with_bench, "1");
    for (size_t i = 0; i < all.count; i++) {
        res_execution *x = &all.records[i]->executions[0];
        if (strcmp(all.records[i]->experiment.front_end, "jax") == 0)
            x->device_ns *= 0.5;
    }
    const bool claimed = sentences(&all, "findings", "kind", "faster", 1, "device time ") > 0;
    res_collection_free(&all);
    return claimed;
}

static void device_times_between_completions_are_compared_with_their_like(void **state)
{
    (void)state;
    assert_true(claims_device(false));
    assert_false(claims_device(true));
}

static void without_it_the_first_row_is_the_base(void **state)
{
    (void)state;
    res_collection all = store_of(false, "1");
    json_t *means = NULL, *rows = speedup_rows(&all, &means);
    const json_t *other = row_of(rows, "jax", "capture");
    assert_true(json_is_null(json_object_get(row_of(rows, "pytorch-xla", "lazy"), "speedup")));
    assert_near(number(other, "speedup"), 35.0 / 21, 0.02);
    for (size_t i = 0; i < json_array_size(means); i++)
        assert_true(number(json_array_get(means, i), "covered") == 0);
    json_decref(rows);
    json_decref(means);
    bn_text out = speedup_table(&all, RES_TABLE_TEXT);
    line_with(out.data, "pytorch-xla  lazy", "base");
    bn_text_free(&out);
    assert_found(&all, "faster", 1, " pytorch-xla lazy [");
    res_collection_free(&all);
}

/* One front end alone has no baseline, and neither has a recording. */
static void nothing_else_is_a_base(void **state)
{
    (void)state;
    res_collection all = store_of(false, "1");
    for (size_t i = 0; i < all.count; i++)
        snprintf(all.records[i]->experiment.mode, sizeof all.records[i]->experiment.mode,
                 "recorded");
    json_t *rows = speedup_rows(&all, NULL);
    for (size_t i = 0; i < json_array_size(rows); i++)
        assert_true(json_is_null(json_object_get(json_array_get(rows, i), "speedup")));
    json_decref(rows);
    res_collection_free(&all);

    all = (res_collection){.records = calloc(2 * PROCESSES, sizeof(res_record *))};
    for (int p = 0; p < PROCESSES; p++) {
        all.records[all.count++] = record_of("pytorch-xla", "1", &foreign_lazy, p);
        all.records[all.count++] = record_of("pytorch-xla", "1", &foreign, p);
    }
    rows = speedup_rows(&all, NULL);
    for (size_t i = 0; i < json_array_size(rows); i++)
        assert_true(json_is_null(json_object_get(json_array_get(rows, i), "speedup")));
    json_decref(rows);
    res_collection_free(&all);
}

/* Of one front end the versions must be alike; of two they need not. */
static void versions_are_conditions(void **state)
{
    (void)state;
    char differing[RES_DIFFERING] = "";
    res_record *ours = record_of("bench", "", &lazy, 0), *jax = record_of("jax", "1", &foreign, 0);
    res_record *later = record_of("jax", "2", &foreign, 1);
    res_record *other = record_of("pytorch-xla", "2", &foreign, 1);
    char a[RES_MARK], b[RES_MARK];
    assert_true(res_same_conditions(ours, jax, differing, sizeof differing));
    assert_true(res_same_conditions(jax, other, differing, sizeof differing));
    assert_false(res_same_conditions(jax, later, differing, sizeof differing));
    assert_string_equal(differing, "versions of the framework");
    res_conditions_mark(jax, a);
    res_conditions_mark(later, b);
    assert_string_not_equal(a, b);
    /* The machine is the same, and half of the digits are of it alone. */
    assert_string_not_equal(res_mark_front_end(a), res_mark_front_end(b));
    assert_memory_equal(a, b, (size_t)(res_mark_front_end(a) - a));
    res_conditions_mark(ours, b);
    assert_memory_equal(a, b, (size_t)(res_mark_front_end(a) - a));
    assert_string_equal(res_mark_front_end(""), "");
    res_record_free(ours);
    res_record_free(jax);
    res_record_free(later);
    res_record_free(other);
}

/* A record of FRONT_END whose script listed one variable. */
static res_record *listed(const char *front_end, const char *name, const char *value)
{
    res_record *record = record_of(front_end, "1", &foreign, 0);
    json_object_set_new(json_object_get(record->provenance, "front_end"), "flags",
                        json_pack("{s:s}", name, value));
    return record;
}

/* Whether records of one front end whose scripts listed different values of NAME are comparable. */
static bool alike_whatever(const char *name)
{
    char differing[RES_DIFFERING] = "", a[RES_MARK], b[RES_MARK];
    res_record *none = record_of("jax", "1", &foreign, 0);
    res_record *one = listed("jax", name, "1"), *two = listed("jax", name, "2");
    res_record *other = listed("pytorch-xla", name, "3"), *same = listed("jax", name, "1");
    const bool alike = res_same_conditions(one, two, differing, sizeof differing);
    assert_string_equal(differing, alike ? "" : "variables of the framework");
    assert_int_equal(res_same_conditions(none, one, differing, sizeof differing), alike);
    assert_true(res_same_conditions(one, same, differing, sizeof differing));
    assert_true(res_same_conditions(one, other, differing, sizeof differing));
    res_conditions_mark(one, a);
    res_conditions_mark(two, b);
    assert_int_equal(strcmp(a, b) == 0, alike);
    /* Of the machine they say the same. */
    assert_memory_equal(a, b, (size_t)(res_mark_front_end(a) - a));
    res_conditions_mark(none, b);
    assert_int_equal(strcmp(a, b) == 0, alike);
    res_record_free(none);
    res_record_free(one);
    res_record_free(two);
    res_record_free(other);
    res_record_free(same);
    return alike;
}

/* The environment variables that a framework reads change its steps, except the plugin's path.
 * Older records list no variables, and equal those of today that have none to list. */
static void variables_of_a_framework_are_conditions(void **state)
{
    (void)state;
    static const char *const conditions[] = {
        "JAX_ENABLE_X64",  "MKL_NUM_THREADS",   "OMP_NUM_THREADS",       "PJRT_NPROC",
        "PTXLA_MAX_NODES", "PT_XLA_DEBUG",      "TF_CPP_MAX_VLOG_LEVEL", "TORCH_LOGS",
        "TORCHINDUCTOR_A", "TPU_MEGACORE",      "XLA_USE_BF16",          "NPROC",
        "KMP_AFFINITY",    "GOMP_CPU_AFFINITY", "DNNL_MAX_CPU_ISA"};
    static const char *const others[] = {"BENCH_RECORD_DIR",       "BENCH_RECORD_PLUGIN",
                                         "JAX_PLATFORMS",          "PJRT_DEVICE",
                                         "PJRT_LIBRARY_PATH",      "PJRT_NAMES_AND_LIBRARY_PATHS",
                                         "PTXLA_TPU_LIBRARY_PATH", "TF_CPP_MIN_LOG_LEVEL",
                                         "TPU_LIBRARY_PATH",       "PATH_OF_THIS_RUN"};
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (alike_whatever(conditions[i]))
            fail_msg("%s is no condition", conditions[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(alike_whatever(others[i]));
}

static void words_name_the_way(void **state)
{
    (void)state;
    res_experiment e;
    bn_text name = {0};
    res_experiment_usual(&e);
    strcpy(e.model, "bert");
    strcpy(e.mode, "capture");
    assert_string_equal(res_way_of(&e).text, "capture");
    strcpy(e.front_end, "jax");
    assert_string_equal(res_way_of(&e).text, "jax capture");
    res_experiment_name(&e, &name);
    assert_string_equal(name.data, "bert train jax capture");
    bn_text_free(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_compared_with_lazy_of_bench),
        cmocka_unit_test(device_times_between_completions_are_compared_with_their_like),
        cmocka_unit_test(without_it_the_first_row_is_the_base),
        cmocka_unit_test(nothing_else_is_a_base),
        cmocka_unit_test(versions_are_conditions),
        cmocka_unit_test(variables_of_a_framework_are_conditions),
        cmocka_unit_test(words_name_the_way),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
