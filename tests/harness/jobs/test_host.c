/* test_host.c - the machine, for records. */
#define _GNU_SOURCE
#include "harness/jobs/jobs.h"
#include "tests/support/test_runtime.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#define OTHER_CORES 3000 /* of the machine that the environment tells hwloc of */

static void the_machine_is_described(void **state)
{
    static const char *const texts[] = {"hostname", "kernel", "machine", "compiler",
                                        "bench_version"};
    json_t *json = job_host_describe();
    assert_non_null(json);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_true(json_string_length(json_object_get(json, texts[i])) > 0);
    assert_true(json_integer_value(json_object_get(json, "cores_online")) >= 1);
    assert_true(json_integer_value(json_object_get(json, "memory_bytes")) > 1 << 20);
    assert_non_null(json_object_get(json, "governor")); /* null where it cannot be read */
    json_t *topology = json_object_get(json, "topology");
    assert_non_null(strstr(json_string_value(json_object_get(topology, "summary")), "PU"));
    assert_non_null(strstr(json_string_value(json_object_get(topology, "xml")), "<topology"));
    const json_int_t units = json_integer_value(json_object_get(topology, "processing_units"));
    assert_true(units >= 1 && units < OTHER_CORES);
    json_decref(json);
}

/* Inherited ones. */
static void limits_of_a_process_are_recorded(void **state)
{
    cpu_set_t given, one;
    assert_int_equal(sched_getaffinity(0, sizeof given, &given), 0);
    json_t *before = job_process_describe();
    size_t core = 0;
    const int nice_before = getpriority(PRIO_PROCESS, 0);
    while (!CPU_ISSET(core, &given))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    const struct sched_param usual = {.sched_priority = 0};
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(sched_setscheduler(0, SCHED_BATCH, &usual), 0);
    assert_int_equal(setpriority(PRIO_PROCESS, 0, 19), 0);
    json_t *json = job_process_describe();
    const char *cores = json_string_value(json_object_get(json, "cores"));
    if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
        assert_true(cores && strtoul(cores, NULL, 10) == core && !strpbrk(cores, ",-"));
    assert_string_equal(json_string_value(json_object_get(json, "policy")), "batch");
    assert_int_equal(json_integer_value(json_object_get(json, "nice")), 19);
    assert_true(nice_before != 0 || !json_object_get(before, "nice"));
    json_decref(json);
    json_decref(before);
    assert_int_equal(sched_setaffinity(0, sizeof given, &given), 0);
}

static void memory_is_counted(void **state)
{
    const job_memory m = job_host_memory();
    assert_true(m.of_files > 0 && m.now > m.of_files && m.peak >= m.now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_is_described), cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(limits_of_a_process_are_recorded), /* last: its priority stays */
    };
    setenv("HWLOC_SYNTHETIC", "pack:3 core:500 pu:2", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
