/*
 * test_environments.c - records whose processes had other variables of the environment: which of
 * these keep them out of a pool. Needs no plugin.
 */
#include "tests/results/findings/pools_fixture.h"

/* Says that RECORD was measured with NAME set to VALUE. */
static void set_variable(res_record *record, const char *name, const char *value)
{
    json_t *runtime = json_object_get(record->provenance, "runtime");
    if (!json_object_get(runtime, "environment"))
        json_object_set_new(runtime, "environment", json_object());
    json_object_set_new(json_object_get(runtime, "environment"), name, json_string(value));
}

/* Flags of XLA, settings of malloc and preloaded libraries change what is measured. What the
 * simulated device is given is an axis of experiments, and older records do not list any. */
static void other_environments_are_left_out(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall = 1e6;
    set_variable(add(&s, "m", "lazy", &wall, 1), "XLA_FLAGS", "--xla_a=1");
    set_variable(add(&s, "m", "lazy", &wall, 1), "MALLOC_ARENA_MAX", "1");
    set_variable(add(&s, "m", "lazy", &wall, 1), "MALLOC_MMAP_MAX_", "1");
    set_variable(add(&s, "m", "lazy", &wall, 1), "LD_PRELOAD", "libjemalloc.so.2");
    set_variable(add(&s, "m", "lazy", &wall, 1), "LIBTPU_INIT_ARGS", "--a");
    set_variable(add(&s, "m", "lazy", &wall, 1), "GLIBC_TUNABLES", "glibc.malloc.check=3");
    set_variable(add(&s, "m", "lazy", &wall, 1), "PJRT_SIM", "device_us=1");
    add(&s, "m", "lazy", &wall, 1);
    res_speedup table = made(&s);
    const res_pool *pool = &table.rows[0].pool;
    assert_int_equal(pool->count, 2);
    assert_int_equal(pool->other_conditions, 6);
    assert_string_equal(pool->differing, "XLA_FLAGS, MALLOC_ variables, LD_PRELOAD, "
                                         "LIBTPU_INIT_ARGS, GLIBC_TUNABLES");
    res_speedup_free(&table);
    /* The latest one says which. */
    set_variable(s.records[7], "MALLOC_ARENA_MAX", "1");
    table = made(&s);
    assert_int_equal(table.rows[0].pool.count, 2);
    assert_int_equal(table.rows[0].pool.other_conditions, 6);
    res_speedup_free(&table);
    clear(&s);
}

/* So do variables that a recorded framework reads, but for what says where its plugin is. */
static void frameworks_with_other_variables_are_left_out(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall = 1e6;
    set_variable(add(&s, "m", "recorded", &wall, 1), "JAX_ENABLE_X64", "1");
    set_variable(add(&s, "m", "recorded", &wall, 1), "OMP_NUM_THREADS", "1");
    set_variable(add(&s, "m", "recorded", &wall, 1), "JAX_PLATFORMS", "cpu");
    set_variable(add(&s, "m", "recorded", &wall, 1), "PJRT_LIBRARY_PATH", "/a/plugin.so");
    add(&s, "m", "recorded", &wall, 1);
    res_speedup table = made(&s);
    const res_pool *pool = &table.rows[0].pool;
    assert_int_equal(pool->count, 3);
    assert_int_equal(pool->other_conditions, 2);
    assert_string_equal(pool->differing, "variables of the framework");
    res_speedup_free(&table);
    clear(&s);
}

static void set_part(res_record *record, const char *section, const char *member, json_t *value)
{
    if (!json_is_object(json_object_get(record->provenance, section)))
        json_object_set_new(record->provenance, section, json_object());
    json_object_set_new(json_object_get(record->provenance, section), member, value);
}

/* So do its cores and its priority. That its threads have other numbers says nothing. */
static void processes_that_had_less_are_left_out(void **state)
{
    (void)state;
    store s = {.count = 0};
    const double wall = 1e6;
    json_object_set_new(add(&s, "m", "lazy", &wall, 1)->provenance, "idle_cores",
                        json_string("awake"));
    set_part(add(&s, "m", "lazy", &wall, 1), "host", "cores_online", json_integer(3));
    set_part(add(&s, "m", "lazy", &wall, 1), "process", "core_count", json_integer(1));
    set_part(add(&s, "m", "lazy", &wall, 1), "process", "nice", json_integer(10));
    set_part(add(&s, "m", "lazy", &wall, 1), "process", "policy", json_string("batch"));
    set_part(add(&s, "m", "lazy", &wall, 1), "pinning", "host_cores", json_string("0"));
    for (int i = 0; i < 3; i++) {
        res_record *r = add(&s, "m", "lazy", &wall, 1);
        set_part(r, "process", "cores", json_string(i ? "1" : "0"));
        set_part(r, "pinning", "threads_moved", json_integer(i));
        set_part(r, "pinning", "moved_thread_ids", json_pack("[i]", 100 + i));
    }
    res_speedup table = made(&s);
    const res_pool *pool = &table.rows[0].pool;
    assert_int_equal(pool->count, 3);
    assert_int_equal(pool->other_conditions, 6);
    assert_string_equal(pool->differing,
                        "sleep of idle cores, cores, cores of the process, priority, pinning");
    char a[RES_MARK], b[RES_MARK], c[RES_MARK];
    res_conditions_mark(s.records[7], a);
    res_conditions_mark(s.records[8], b);
    res_conditions_mark(s.records[2], c);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    res_speedup_free(&table);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_that_had_less_are_left_out),
        cmocka_unit_test(other_environments_are_left_out),
        cmocka_unit_test(frameworks_with_other_variables_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
