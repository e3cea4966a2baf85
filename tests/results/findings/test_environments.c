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
 * simulated device is told is an axis of experiments, and older records do not tell any. */
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
    /* The newest one says which. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_environments_are_left_out),
        cmocka_unit_test(frameworks_with_other_variables_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
