/*
 * test_sim_opaque.c - programs that the simulated device cannot read: what is stated of them is
 * what they are.
 */
#include "sim_fixture.h"

#include <math.h>

static const char code[] = "ML\xefR\x0dStableHLO";

/* Compiles SIZE bytes of BYTES in FORMAT with the flags WORDS, which end with NULL. */
static bn_code compile(rt_client *client, const char *format, const char *bytes, size_t size,
                       const char *const *words, rt_executable **executable, bn_status *st)
{
    size_t count = 0;
    while (words[count])
        count++;
    const rt_program program = {.format = format, .code = bytes, .size = size};
    const rt_compile_options options = {.flags = words, .flag_count = count};
    return rt_compile_program(client, &program, &options, executable, st);
}

static const char *const stated[] = {"opaque_arguments=f32[4];s32[2,3]",
                                     "opaque_results=f32[4];pred[];c64[2];bf16[3]",
                                     "opaque_aliases=0:0",
                                     "opaque_device_us=1500",
                                     "opaque_name=jit step",
                                     NULL};

static void opaque_programs_are_what_is_stated(void **state)
{
    (void)state;
    bn_status st = {0};
    for (int hlo = 0; hlo < 2; hlo++) {
        rt_client *client = sim_client("preset=tpu-v4 values=auto");
        rt_executable *x = NULL;
        rt_buffer *arguments[2], *results[4];
        rt_event *done = NULL;
        rt_executable_stats stats;
        const int32_t whole[6] = {1, 2, 3, 4, 5, 6};
        const int64_t dims[2] = {2, 3};
        assert_ok(compile(client, hlo ? "hlo" : "mlir", code, sizeof code, stated, &x, &st), &st);
        rt_executable_describe(x, &stats);
        assert_true(stats.simulated_opaque == 1 && stats.simulated_values == 0);
        assert_true(fabs(stats.optimal_seconds - 1.5e-3) < 1e-9);
        assert_int_equal(rt_executable_result_count(x), 4);
        arguments[0] = sim_floats(client, 4, 1);
        assert_ok(rt_buffer_from_host(client, whole, BN_S32, dims, 2, &arguments[1], &st), &st);
        const uint64_t begin = bn_now_ns();
        assert_ok(rt_execute(x, arguments, 2, NULL, 0, results, &done, &st), &st);
        assert_ok(rt_event_await(client, done, &st), &st);
        assert_true(bn_now_ns() - begin >= 1500000);
        rt_event_release(client, done);
        assert_true(rt_buffer_is_deleted(client, arguments[0]));
        assert_false(rt_buffer_is_deleted(client, arguments[1]));
        assert_true(sim_first(client, results[0], 4) == 0);
        rt_dtype dtype;
        int64_t found[RT_MAX_RANK];
        size_t rank;
        assert_ok(rt_buffer_type(client, results[2], &dtype, found, &rank, &st), &st);
        assert_true(dtype == BN_C64 && rank == 1 && found[0] == 2);
        for (int i = 0; i < 4; i++)
            rt_buffer_release(client, results[i]);
        /* Arguments are checked as those of any program. */
        assert_fails(rt_execute(x, arguments, 1, NULL, 0, results, NULL, &st), BN_EXECUTE,
                     "takes 2 arguments", &st);
        for (int i = 0; i < 2; i++)
            rt_buffer_release(client, arguments[i]);
        rt_executable_destroy(x);
        rt_client_destroy(client);
    }
}

static void costs_by_roofline(void **state)
{
    (void)state;
    bn_status st = {0};
    static const char *const words[] = {"opaque_arguments=", "opaque_results=f32[4]",
                                        "opaque_flops=275e9", "opaque_bytes=0", NULL};
    static const char *const nothing[] = {"opaque_results=", "opaque_device_us=0", NULL};
    rt_client *client = sim_client("preset=tpu-v4 efficiency=1 group_us=0");
    rt_executable *x = NULL;
    rt_executable_stats stats;
    assert_ok(compile(client, "mlir", code, sizeof code, words, &x, &st), &st);
    rt_executable_describe(x, &stats);
    assert_true(fabs(stats.optimal_seconds - 1e-3) < 2e-5);
    assert_true(fabs(stats.flops - 275e9) < 1e6);
    rt_executable_destroy(x);
    /* No arguments, no results. */
    assert_ok(compile(client, "mlir", code, sizeof code, nothing, &x, &st), &st);
    assert_int_equal(rt_executable_result_count(x), 0);
    rt_executable_destroy(x);
    rt_client_destroy(client);
}

/* A text that can be read is run as it stands; one that cannot is opaque. */
static void texts_are_read_first(void **state)
{
    (void)state;
    bn_status st = {0};
    static const char *const words[] = {"opaque_arguments=f32[4]", "opaque_results=f32[4]",
                                        "opaque_device_us=7", NULL};
    static const char unknown[] = "module @f { func.func public @main(%a: tensor<4xf32>) -> "
                                  "tensor<4xf32> { %0 = \"other.op\"(%a) : (tensor<4xf32>) -> "
                                  "tensor<4xf32> return %0 : tensor<4xf32> } }";
    static const char text[] = SIM_DOUBLE("");
    rt_client *client = sim_client("");
    rt_executable *x = NULL;
    rt_executable_stats stats;
    assert_ok(compile(client, "mlir", text, sizeof text - 1, words, &x, &st), &st);
    rt_executable_describe(x, &stats);
    assert_true(stats.simulated_opaque == 0 && stats.simulated_values == 1);
    rt_executable_destroy(x);
    assert_ok(compile(client, "mlir", unknown, sizeof unknown - 1, words, &x, &st), &st);
    rt_executable_describe(x, &stats);
    assert_true(stats.simulated_opaque == 1 && stats.simulated_values == 0);
    rt_executable_destroy(x);
    rt_client_destroy(client);
}

static void what_is_stated_amiss_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *words[6];
        bn_code code;
        const char *part;
    } rows[] = {
        {{NULL}, BN_NOT_SUPPORTED, "state by compile options what it is: opaque_arguments"},
        {{"opaque_device_us=3"}, BN_COMPILE, "wants opaque_results"},
        {{"opaque_results=f32[4]"}, BN_COMPILE, "and what it costs"},
        {{"opaque_results=f32[4]", "opaque_flops=3"}, BN_COMPILE, "and what it costs"},
        {{"opaque_results=f32[4]", "opaque_device_us=-3"}, BN_COMPILE, "wants a number from 0"},
        {{"opaque_results=f32[4]", "opaque_device_us=soon"}, BN_COMPILE, "wants a number from 0"},
        {{"opaque_results=f32[4]", "opaque_device_us=nan"}, BN_COMPILE, "wants a number from 0"},
        {{"opaque_results=f31[4]", "opaque_device_us=3"}, BN_COMPILE, "opaque_results: type 0"},
        {{"opaque_results=f32[4],f32[2]", "opaque_device_us=3"}, BN_COMPILE, "type 0"},
        {{"opaque_results=f32[4];f32[", "opaque_device_us=3"}, BN_COMPILE, "type 1"},
        {{"opaque_results=f32[-4]", "opaque_device_us=3"}, BN_COMPILE, "type 0"},
        {{"opaque_results=f32[4]", "opaque_device_us=3", "opaque_aliases=0:0"},
         BN_COMPILE,
         "of the 0 arguments"},
        {{"opaque_arguments=f32[4]", "opaque_results=f32[4]", "opaque_device_us=3",
          "opaque_aliases=0"},
         BN_COMPILE,
         "argument:result"},
        {{"opaque_arguments=f32[4]", "opaque_results=f32[4]", "opaque_device_us=3",
          "opaque_aliases=0:9"},
         BN_COMPILE,
         ""},
    };
    rt_client *client = sim_client("");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bn_status st = {0};
        rt_executable *x = NULL;
        assert_fails(compile(client, "mlir", code, sizeof code, rows[i].words, &x, &st),
                     rows[i].code, rows[i].part, &st);
        assert_null(x);
    }
    bn_status st = {0};
    rt_executable *x = NULL;
    assert_fails(compile(client, "wasm", code, sizeof code, rows[0].words, &x, &st),
                 BN_NOT_SUPPORTED, "wanted as mlir", &st);
    rt_client_destroy(client);
}

static void opaque_programs_are_not_stored(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_client *client = sim_client("");
    rt_executable *x = NULL;
    void *bytes = NULL;
    size_t size = 0;
    char format[32];
    assert_ok(compile(client, "mlir", code, sizeof code, stated, &x, &st), &st);
    assert_fails(rt_executable_serialize(x, &bytes, &size, &st), BN_NOT_SUPPORTED, "opaque", &st);
    assert_fails(rt_executable_optimized(x, format, &bytes, &size, &st), BN_NOT_SUPPORTED, "opaque",
                 &st);
    rt_executable_destroy(x);
    rt_client_destroy(client);
}

/* Compile options of others are accepted: their device is moved, their flags are ignored. */
static void foreign_options_go_along(void **state)
{
    (void)state;
    bn_status st = {0};
    /* executable_build_options {device_ordinal: 1, num_replicas: 1, num_partitions: 1,
     * device_assignment {1, 1, {device 1}}}, env_option_overrides {"a": "b"} */
    static const char theirs[] = {0x1a, 0x10, 0x08, 1,    0x20, 1,    0x28, 1,  0x4a, 0x08,
                                  0x08, 1,    0x10, 1,    0x1a, 0x02, 0x08, 1,  0x3a, 0x08,
                                  0x0a, 1,    'a',  0x12, 0x03, 0x0a, 1,    'b'};
    size_t count = 0;
    while (stated[count])
        count++;
    const rt_compile_options own = {.flags = stated, .flag_count = count};
    rt_program program = {.format = "hlo",
                          .code = code,
                          .size = sizeof code,
                          .options = theirs,
                          .options_size = sizeof theirs};
    rt_client *client = sim_client("");
    rt_executable *x = NULL;
    assert_ok(rt_compile_program(client, &program, &own, &x, &st), &st);
    assert_int_equal(rt_executable_result_count(x), 4);
    rt_executable_destroy(x);
    /* Two replicas, of which one is run: on devices 1 and 2 of a client that has one. */
    static const char two[] = {0x1a, 0x10, 0x20, 2,    0x28, 1,    0x4a, 0x0a, 0x08,
                               2,    0x10, 1,    0x1a, 0x04, 0x0a, 2,    1,    2};
    program.options = two;
    program.options_size = sizeof two;
    assert_true(two[1] == (char)(sizeof two - 2));
    assert_ok(rt_compile_program(client, &program, &own, &x, &st), &st);
    rt_executable_destroy(x);
    static const char parted[] = {0x1a, 0x04, 0x20, 1, 0x28, 2};
    program.options = parted;
    program.options_size = sizeof parted;
    x = NULL;
    assert_fails(rt_compile_program(client, &program, &own, &x, &st), BN_NOT_SUPPORTED,
                 "2 partitions", &st);
    static const char broken[] = {0x1a, 0x70, 0x20};
    program.options = broken;
    program.options_size = sizeof broken;
    assert_fails(rt_compile_program(client, &program, &own, &x, &st), BN_FORMAT,
                 "no CompileOptionsProto", &st);
    rt_client_destroy(client);
}

static int nothing_lives(void **state)
{
    (void)state;
    assert_nothing_live();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opaque_programs_are_what_is_stated),
        cmocka_unit_test(costs_by_roofline),
        cmocka_unit_test(texts_are_read_first),
        cmocka_unit_test(what_is_stated_amiss_is_refused),
        cmocka_unit_test(opaque_programs_are_not_stored),
        cmocka_unit_test(foreign_options_go_along),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_lives);
}
