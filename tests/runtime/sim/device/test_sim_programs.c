/*
 * test_sim_programs.c - programs on the simulated device: when their values are computed,
 * what is refused when they are compiled, what executables tell, and stored ones.
 */
#include "tests/runtime/sim/device/sim_fixture.h"

static int teardown(void **state)
{
    (void)state;
    assert_nothing_live();
    return 0;
}

static const char double_text[] = SIM_DOUBLE("");
static const char donate_text[] = SIM_DOUBLE(" {tf.aliasing_output = 0 : i32}");

/* ---- values ----------------------------------------------------------------------------- */

static double values_of(const rt_executable *executable)
{
    rt_executable_stats stats;
    rt_executable_describe(executable, &stats);
    return stats.simulated_values;
}

static void values_are_computed_or_zeros(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        float values, result;
    } rows[] = {
        {"", 1, 3},
        {"device_us=3000", 1, 3},
        {"values=none", 0, 0},
        {"evaluate_limit=1", 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bn_status st = {0};
        sim_adder a = sim_adder_new(rows[i].settings);
        rt_buffer *result = NULL;
        assert_true(values_of(a.executable) == rows[i].values);
        assert_ok(rt_execute(a.executable, a.arguments, 2, NULL, 0, &result, NULL, &st), &st);
        assert_true(sim_first(a.client, result, 4) == rows[i].result);
        rt_buffer_release(a.client, result);
        /* The argument that came from the host is unchanged. */
        assert_true(sim_first(a.client, a.arguments[1], 4) == 2);
        sim_adder_free(&a);
    }
}

static void results_of_valueless_arguments_are_valueless(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_client *client = sim_client("evaluate_limit=1000");
    rt_executable *cut = sim_compile(client, SIM_CUT), *add = sim_compile(client, SIM_ADD("add"));
    assert_true(values_of(cut) == 0 && values_of(add) == 1);
    rt_buffer *large = sim_floats(client, 4096, 5), *four = sim_result_of(client, cut, large),
              *pair[2] = {sim_floats(client, 4, 1), four}, *sum = NULL;
    assert_true(sim_first(client, four, 4) == 0);
    assert_ok(rt_execute(add, pair, 2, NULL, 0, &sum, NULL, &st), &st);
    assert_true(sim_first(client, sum, 4) == 0);
    rt_buffer_release(client, sum);
    pair[1] = pair[0];
    assert_ok(rt_execute(add, pair, 2, NULL, 0, &sum, NULL, &st), &st);
    assert_true(sim_first(client, sum, 4) == 2);
    rt_buffer_release(client, sum);
    rt_buffer_release(client, pair[0]);
    rt_buffer_release(client, four);
    rt_buffer_release(client, large);
    rt_executable_destroy(cut);
    rt_executable_destroy(add);
    rt_client_destroy(client);
}

static const char endless_text[] =
    "module @jit_endless {\n"
    "  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
    "    %0 = stablehlo.while(%x = %a) : tensor<4xf32>\n"
    "    cond {\n"
    "      %c = stablehlo.constant dense<true> : tensor<i1>\n"
    "      stablehlo.return %c : tensor<i1>\n"
    "    } do {\n"
    "      stablehlo.return %x : tensor<4xf32>\n"
    "    }\n"
    "    return %0 : tensor<4xf32>\n"
    "  }\n"
    "}\n";

/* The error comes out of everything that depends on it, whenever that was asked for. */
static void values_that_cannot_be_computed_are_errors(void **state)
{
    (void)state;
    bn_status st = {0};
    float back[4];
    rt_client *client = sim_client("evaluate_limit=20000");
    rt_executable *endless = sim_compile(client, endless_text),
                  *twice = sim_compile(client, double_text);
    rt_buffer *a = sim_floats(client, 4, 1), *first = NULL, *second = NULL;
    rt_event *done[2];
    assert_ok(rt_execute(endless, &a, 1, NULL, 0, &first, &done[0], &st), &st);
    bn_code code = rt_execute(twice, &first, 1, NULL, 0, &second, &done[1], &st);
    assert_true(code == BN_OK || code == BN_TIMEOUT);
    if (code == BN_OK) {
        assert_fails(rt_event_await(client, done[1], &st), BN_EXECUTE, "could not be computed",
                     &st);
        rt_event_release(client, done[1]);
        rt_buffer_release(client, second);
    }
    assert_fails(rt_event_await(client, done[0], &st), BN_TIMEOUT, "", &st);
    rt_event_release(client, done[0]);
    assert_fails(rt_buffer_to_host(client, first, back, sizeof back, &st), BN_TIMEOUT, "", &st);
    assert_fails(rt_execute(twice, &first, 1, NULL, 0, &second, NULL, &st), BN_TIMEOUT, "", &st);
    rt_buffer_release(client, first);
    /* Asked for while the loop still runs. */
    first = sim_result_of(client, endless, a);
    assert_fails(rt_buffer_to_host(client, first, back, sizeof back, &st), BN_TIMEOUT, "", &st);
    rt_buffer_release(client, first);
    rt_buffer_release(client, a);
    rt_executable_destroy(endless);
    rt_executable_destroy(twice);
    rt_client_destroy(client);
}

/* ---- compiling -------------------------------------------------------------------------- */

static void bad_programs_are_refused_with_their_place(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"nonsense", "1:1: "},
        {"module @m {\n  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
         "    %0 = stablehlo.no_such_op %a : tensor<4xf32>\n    return %0 : tensor<4xf32>\n  "
         "}\n}\n",
         "3:10: "},
        {"module @m {\n  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
         "    return %b : tensor<4xf32>\n  }\n}\n",
         "3:12: "},
        {"module @m {\n", "2:1: "},
        {" \n ", "2:2: "},
    };
    rt_client *client = sim_client("");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rt_executable *executable = NULL;
        bn_status st = {0};
        const char *text = rows[i][0];
        bn_code code = compile_text(client, text, strlen(text), NULL, &executable, &st);
        if ((code != BN_COMPILE && code != BN_NOT_SUPPORTED) || !strstr(st.message, rows[i][1]))
            fail_msg("row %zu: %s, %s; want %s", i, bn_code_name(code), st.message, rows[i][1]);
        assert_null(executable);
    }
    rt_client_destroy(client);
}

static void byte_code_and_flags_are_refused(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_client *client = sim_client("");
    rt_executable *executable = NULL;
    const char *flag = "xla_cpu_enable_fast_math=true";
    rt_compile_options options = {.flags = &flag, .flag_count = 1};
    assert_fails(compile_text(client, "ML\xefR\x0d\x01", 6, NULL, &executable, &st),
                 BN_NOT_SUPPORTED, "MLIR byte code is not read: give the program as StableHLO text",
                 &st);
    assert_fails(
        compile_text(client, double_text, sizeof double_text - 1, &options, &executable, &st),
        BN_COMPILE, "the simulated compiler takes no options", &st);
    options = (rt_compile_options){.device = 1};
    assert_int_not_equal(
        compile_text(client, double_text, sizeof double_text - 1, &options, &executable, NULL),
        BN_OK);
    assert_null(executable);
    rt_client_destroy(client);
}

static void executables_tell_of_themselves(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable_stats stats;
    char format[32], *print[2];
    void *bytes = NULL;
    size_t size = 0;
    rt_client *client = sim_client("device_us=250");
    rt_executable *one = sim_compile(client, donate_text), *two = sim_compile(client, double_text);
    rt_executable_describe(one, &stats);
    assert_int_equal(stats.argument_bytes, 16);
    assert_int_equal(stats.result_bytes, 16);
    assert_int_equal(stats.alias_bytes, 16);
    assert_true(stats.optimal_seconds > 249e-6 && stats.optimal_seconds < 251e-6);
    assert_int_equal(rt_executable_result_count(one), 1);
    assert_ok(rt_executable_optimized(one, format, &bytes, &size, &st), &st);
    assert_string_equal(format, "mlir");
    assert_int_equal(size, sizeof donate_text - 1);
    assert_memory_equal(bytes, donate_text, size);
    free(bytes);
    assert_ok(rt_executable_fingerprint(one, &print[0], &st), &st);
    assert_ok(rt_executable_fingerprint(two, &print[1], &st), &st);
    assert_string_not_equal(print[0], print[1]);
    rt_executable_destroy(two);
    two = sim_compile(client, donate_text);
    free(print[1]);
    assert_ok(rt_executable_fingerprint(two, &print[1], &st), &st);
    assert_string_equal(print[0], print[1]);
    free(print[0]);
    free(print[1]);
    rt_executable_destroy(one);
    rt_executable_destroy(two);
    rt_client_destroy(client);
}

/* On the device it was compiled for, too. */
static void executables_are_stored_and_loaded(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_client *client = sim_client("devices=2"), *narrow = sim_client("");
    rt_executable *again = NULL, *executable = sim_compile_on(client, double_text, 1);
    void *bytes = NULL;
    size_t size = 0;
    assert_ok(rt_executable_serialize(executable, &bytes, &size, &st), &st);
    rt_executable_destroy(executable);
    assert_ok(rt_executable_load(client, bytes, size, &again, &st), &st);
    rt_client second = client_on(client, 1);
    rt_buffer *a = sim_floats(&second, 4, 21), *result = sim_result_of(client, again, a);
    assert_true(sim_first(client, result, 4) == 42);
    rt_buffer_release(client, a);
    rt_buffer_release(client, result);
    rt_executable_destroy(again);
    again = NULL;
    assert_int_not_equal(rt_executable_load(narrow, bytes, size, &again, &st), BN_OK);
    assert_non_null(strstr(st.message, "device 1 of 1"));
    for (size_t less = 0; less < 40; less++)
        assert_int_not_equal(rt_executable_load(client, bytes, less, &again, NULL), BN_OK);
    ((char *)bytes)[3] ^= 1;
    st = (bn_status){0};
    assert_int_not_equal(rt_executable_load(client, bytes, size, &again, &st), BN_OK);
    assert_non_null(strstr(st.message, "stored"));
    assert_null(again);
    free(bytes);
    rt_client_destroy(client);
    rt_client_destroy(narrow);
}

int main(void)
{
#define T(test) cmocka_unit_test_teardown(test, teardown)
    const struct CMUnitTest tests[] = {
        T(values_are_computed_or_zeros),
        T(results_of_valueless_arguments_are_valueless),
        T(values_that_cannot_be_computed_are_errors),
        T(bad_programs_are_refused_with_their_place),
        T(byte_code_and_flags_are_refused),
        T(executables_tell_of_themselves),
        T(executables_are_stored_and_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
