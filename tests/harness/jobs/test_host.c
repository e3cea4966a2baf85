/* test_host.c - what is told of the machine. */
#include "harness/jobs/jobs.h"
#include "tests/support/test_runtime.h"

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
    json_decref(json);
}

static void memory_is_counted(void **state)
{
    const job_memory m = job_host_memory();
    assert_true(m.of_files > 0 && m.now > m.of_files && m.peak >= m.now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_is_described),
        cmocka_unit_test(memory_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
