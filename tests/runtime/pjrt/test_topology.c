/*
 * test_topology.c - what a plugin tells of devices that are not here and of programs compiled for
 * them, with a plugin that misbehaves on request.
 */
#include "tests/runtime/pjrt/fake_fixture.h"

#include "runtime/hlo/hlo.h"

static rt_topology *topology_of(const char *name, const rt_option *options, size_t count)
{
    bn_status st = {0};
    rt_topology *topology = NULL;
    assert_ok(rt_topology_create(plugin, name, options, count, &topology, &st), &st);
    return topology;
}

static rt_executable *compiled_for(rt_topology *topology)
{
    bn_status st = {0};
    rt_executable *executable = NULL;
    assert_ok(compile_text_for(topology, program, program_size, &executable, &st), &st);
    return executable;
}

static void topology_is_described(void **state)
{
    (void)state;
    rt_topology *topology = topology_of("fake:2", NULL, 0);
    const rt_topology_info *info = rt_topology_describe(topology);
    assert_string_equal(info->kind, "fake device");
    assert_int_equal(info->memory_bytes, 1000000);
    assert_int_equal(info->attribute_count, 1);
    assert_string_equal(info->attributes[0].name, "chips");
    assert_int_equal(info->device_attribute_count, 2);
    assert_string_equal(info->device_attributes[0].text, "0");
    rt_topology_destroy(topology);
}

static void topology_takes_options(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_topology *topology = NULL;
    rt_option option = {.name = "chip_config_name", .kind = RT_OPTION_STRING, .string = "megacore"};
    rt_topology_destroy(topology_of("fake:1", &option, 1));
    option.string = "gigacore";
    assert_fails(rt_topology_create(plugin, "fake:1", &option, 1, &topology, &st), BN_PLUGIN,
                 "topology 'fake:1': no such chip configuration", &st);
}

static void memory_of_host_and_device_is_reported(void **state)
{
    (void)state;
    rt_executable_stats stats;
    rt_topology *topology = topology_of("fake:1", NULL, 0);
    rt_executable *executable = compiled_for(topology);
    rt_executable_describe(executable, &stats);
    assert_int_equal(stats.host_temp_bytes, -1); /* an older plugin writes nothing there */
    assert_int_equal(stats.peak_bytes, -1);
    order("hlo");
    rt_executable_describe(executable, &stats);
    assert_int_equal(stats.temp_bytes, 5000);
    assert_int_equal(stats.host_temp_bytes, 600);
    assert_int_equal(stats.peak_bytes, 7000);
    rt_executable_destroy(executable);
    rt_topology_destroy(topology);
}

static void results_are_reported(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_result *list = NULL;
    rt_topology *topology = topology_of("fake:1", NULL, 0);
    rt_executable *executable = compiled_for(topology);
    assert_ok(rt_executable_results(executable, &list, &st), &st);
    assert_int_equal(list[0].dtype, BN_C64);
    assert_int_equal(list[0].rank, 1);
    assert_int_equal(list[0].bytes, 32);
    assert_string_equal(list[0].memory, "device");
    assert_int_equal(list[1].dtype, BN_F32);
    assert_int_equal(list[1].rank, 2);
    assert_int_equal(list[1].dims[1], 3);
    assert_int_equal(list[1].bytes, 24);
    free(list);
    rt_executable_destroy(executable);
    rt_topology_destroy(topology);
}

static void too_little_device_memory_is_reported(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = NULL;
    rt_topology *topology = topology_of("fake:1", NULL, 0);
    order("device_oom");
    assert_fails(compile_text_for(topology, program, program_size, &executable, &st),
                 BN_OUT_OF_MEMORY, "(70.63G) exceeds available HBM", &st);
    rt_topology_destroy(topology);
}

static void forms_of_programs_are_told_apart(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = NULL;
    rt_topology *topology = topology_of("fake:1", NULL, 0);
    rt_program one = {.format = "mlir", .code = program, .size = program_size};
    assert_ok(rt_topology_compile_program(topology, &one, NULL, &executable, &st), &st);
    rt_executable_destroy(executable);
    one.format = "executable";
    assert_fails(rt_topology_compile_program(topology, &one, NULL, &executable, &st),
                 BN_NOT_SUPPORTED, "executable", &st);
    one.size = 0;
    assert_fails(rt_topology_compile_program(topology, &one, NULL, &executable, &st), BN_INVALID,
                 "empty", &st);
    rt_topology_destroy(topology);
}

/* The plugin writes the program by hand; the reader reads it. */
static void optimized_program_is_read(void **state)
{
    (void)state;
    bn_status st = {0};
    char format[32];
    void *bytes = NULL;
    size_t size = 0;
    hlo_program *read = NULL;
    rt_topology *topology = topology_of("fake:1", NULL, 0);
    rt_executable *executable = compiled_for(topology);
    order("hlo");
    assert_ok(rt_executable_optimized(executable, format, &bytes, &size, &st), &st);
    assert_string_equal(format, "hlo");
    assert_ok(hlo_program_read(format, bytes, size, &read, &st), &st);
    const hlo_report *r = hlo_program_report(read);
    assert_true(r->cycles == 2 * 1000 + 500 + 2 * 100 + 8 * 50);
    assert_true(r->layout_cycles == 200);
    assert_int_equal(r->loops.count, 1);
    assert_true(r->loops.list[0].times == 8);
    assert_int_equal(r->collectives.count, 1);
    assert_int_equal(r->layout_count, 2);
    assert_string_equal(r->layouts[0], "{0}");
    assert_string_equal(r->layouts[1], "{1,0}");
    hlo_program_free(read);
    free(bytes);
    rt_executable_destroy(executable);
    rt_topology_destroy(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(topology_is_described),
        TEST(topology_takes_options),
        TEST(memory_of_host_and_device_is_reported),
        TEST(results_are_reported),
        TEST(too_little_device_memory_is_reported),
        TEST(forms_of_programs_are_told_apart),
        TEST(optimized_program_is_read),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
