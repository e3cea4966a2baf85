/*
 * test_sim.c - the simulated runtime as a device: memory and donation, values, what it
 * compiles and refuses, stored executables, faults, profiles.
 */
#include "tests/runtime/sim/sim_fixture.h"

static int teardown(void **state)
{
    (void)state;
    assert_nothing_live();
    return 0;
}

/* A program of one argument of 4 floats, to its double. */
#define DOUBLE(attributes)                                                                         \
    "module @jit_double {\n"                                                                       \
    "  func.func public @main(%a: tensor<4xf32>" attributes ") -> tensor<4xf32> {\n"               \
    "    %0 = stablehlo.add %a, %a : tensor<4xf32>\n"                                              \
    "    return %0 : tensor<4xf32>\n"                                                              \
    "  }\n"                                                                                        \
    "}\n"
static const char double_text[] = DOUBLE("");
static const char donate_text[] = DOUBLE(" {tf.aliasing_output = 0 : i32}");
static const char donor_text[] = DOUBLE(" {jax.buffer_donor = true}");

static rt_device_memory memory_of(const rt_client *client, size_t device)
{
    bn_status st = {0};
    rt_device_memory memory;
    assert_ok(rt_client_memory(client, device, &memory, &st), &st);
    return memory;
}

static uintptr_t address_of(rt_client *client, rt_buffer *buffer)
{
    bn_status st = {0};
    uintptr_t address = 0;
    assert_ok(rt_buffer_address(client, buffer, &address, &st), &st);
    return address;
}

/* One execution of one argument, its only result; waits when DONE is not wanted. */
static rt_buffer *result_of(rt_client *client, rt_executable *executable, rt_buffer *argument)
{
    bn_status st = {0};
    rt_buffer *result = NULL;
    assert_ok(rt_execute(executable, &argument, 1, NULL, 0, &result, NULL, &st), &st);
    (void)client;
    return result;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void memory_is_accounted_for(void **state)
{
    (void)state;
    rt_client *client = sim_client("values=none memory_bytes=100000");
    assert_int_equal(memory_of(client, 0).bytes_limit, 100000);
    assert_int_equal(memory_of(client, 0).bytes_in_use, 0);
    rt_executable *executable = sim_compile(client, double_text);
    rt_buffer *large = sim_floats(client, 10000, 0), *a = sim_floats(client, 4, 1);
    assert_int_equal(memory_of(client, 0).bytes_in_use, 40016);
    rt_buffer *b = result_of(client, executable, a);
    assert_int_equal(memory_of(client, 0).bytes_in_use, 40032);
    rt_buffer_release(client, large);
    assert_int_equal(memory_of(client, 0).bytes_in_use, 32);
    assert_int_equal(memory_of(client, 0).peak_bytes_in_use, 40032);
    rt_buffer_release(client, a);
    rt_buffer_release(client, b);
    assert_int_equal(memory_of(client, 0).bytes_in_use, 0);
    assert_int_equal(memory_of(client, 0).peak_bytes_in_use, 40032);
    rt_executable_destroy(executable);
    rt_client_destroy(client);
}

static void each_device_has_its_memory(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_client *client = sim_client("devices=2");
    rt_buffer *zero = sim_floats(client, 4, 0);
    assert_ok(rt_client_use_device(client, 1, &st), &st);
    rt_buffer *one = sim_floats(client, 8, 0);
    assert_int_equal(memory_of(client, 0).bytes_in_use, 16);
    assert_int_equal(memory_of(client, 1).bytes_in_use, 32);
    rt_buffer_release(client, zero);
    rt_buffer_release(client, one);
    rt_client_destroy(client);
}

static void out_of_memory_names_the_sizes(void **state)
{
    (void)state;
    bn_status st = {0};
    static const float data[300];
    const int64_t dims[1] = {300}, few[1] = {150};
    rt_client *client = sim_client("values=none memory_bytes=1000");
    rt_buffer *buffer = NULL, *half = NULL;
    assert_fails(rt_buffer_from_host(client, data, RT_F32, dims, 1, &buffer, &st), BN_OUT_OF_MEMORY,
                 "a buffer of 1200 bytes", &st);
    assert_null(buffer);
    assert_int_equal(memory_of(client, 0).bytes_in_use, 0);
    assert_ok(rt_buffer_from_host(client, data, RT_F32, few, 1, &half, &st), &st);
    assert_fails(rt_buffer_from_host(client, data, RT_F32, few, 1, &buffer, &st), BN_OUT_OF_MEMORY,
                 "600 of 1000 bytes are in use", &st);
    rt_buffer_release(client, half);

    /* Results count, and what fails takes nothing. */
    rt_executable *executable = sim_compile(client, double_text);
    rt_buffer *a = sim_floats(client, 4, 1), *result = NULL, *fill = sim_floats(client, 243, 0);
    assert_fails(rt_execute(executable, &a, 1, NULL, 0, &result, NULL, &st), BN_OUT_OF_MEMORY,
                 "results of 16 bytes", &st);
    assert_null(result);
    assert_false(rt_buffer_is_deleted(client, a));
    assert_int_equal(memory_of(client, 0).bytes_in_use, 988);
    rt_buffer_release(client, fill);
    result = result_of(client, executable, a);
    rt_buffer_release(client, result);
    rt_buffer_release(client, a);
    rt_executable_destroy(executable);
    rt_client_destroy(client);
}

/* The double of 4096 floats, of which 4 come back. */
static const char cut_text[] =
    "module @jit_cut {\n"
    "  func.func public @main(%a: tensor<4096xf32>) -> tensor<4xf32> {\n"
    "    %0 = stablehlo.add %a, %a : tensor<4096xf32>\n"
    "    %1 = stablehlo.slice %0 [0:4] : (tensor<4096xf32>) -> tensor<4xf32>\n"
    "    return %1 : tensor<4xf32>\n"
    "  }\n"
    "}\n";

/* What an execution needs beside its results is there for as long, and not after. */
static void temporaries_count_while_a_program_runs(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable_stats stats;
    char settings[80];
    rt_client *client = sim_client("values=none");
    rt_executable *cut = sim_compile(client, cut_text);
    rt_executable_describe(cut, &stats);
    const long long temp = (long long)stats.temp_bytes, least = 16384 + 16 + temp;
    assert_true(temp > 0 && temp <= 16384);
    rt_executable_destroy(cut);
    rt_client_destroy(client);
    for (int less = 0; less < 2; less++) {
        snprintf(settings, sizeof settings, "values=none memory_bytes=%lld", least - less);
        client = sim_client(settings);
        cut = sim_compile(client, cut_text);
        rt_buffer *large = sim_floats(client, 4096, 5), *four = NULL;
        bn_code code = rt_execute(cut, &large, 1, NULL, 0, &four, NULL, &st);
        assert_int_equal(code, less ? BN_OUT_OF_MEMORY : BN_OK);
        assert_int_equal(memory_of(client, 0).peak_bytes_in_use, less ? 16384 : least);
        assert_int_equal(memory_of(client, 0).bytes_in_use, less ? 16384 : 16400);
        rt_buffer_release(client, four);
        rt_buffer_release(client, large);
        rt_executable_destroy(cut);
        rt_client_destroy(client);
    }
    assert_non_null(strstr(st.message, "bytes of temporaries do not fit"));
}

static void donated_memory_becomes_the_results(void **state)
{
    (void)state;
    bn_status st = {0};
    static const char *const settings[] = {"values=none", "values=auto"};
    for (int way = 0; way < 2; way++) {
        rt_client *client = sim_client(settings[way]);
        rt_executable *executable = sim_compile(client, donate_text);
        rt_buffer *a = sim_floats(client, 4, 3), *result = NULL, *again = NULL;
        const int64_t keep[1] = {0};
        uintptr_t before = address_of(client, a);

        assert_ok(rt_execute(executable, &a, 1, keep, 1, &result, NULL, &st), &st);
        assert_true(address_of(client, result) != before);
        assert_false(rt_buffer_is_deleted(client, a));
        rt_buffer_release(client, result);

        result = result_of(client, executable, a);
        assert_int_equal(address_of(client, result), before);
        assert_true(rt_buffer_is_deleted(client, a));
        assert_int_equal(memory_of(client, 0).bytes_in_use, 16);
        assert_fails(rt_execute(executable, &a, 1, NULL, 0, &again, NULL, &st), BN_EXECUTE,
                     "argument 0 has been deleted or donated", &st);
        rt_buffer_release(client, a);
        assert_int_equal(memory_of(client, 0).bytes_in_use, 16);
        assert_true(sim_first(client, result, 4) == (way ? 6 : 0));
        rt_buffer_release(client, result);
        assert_int_equal(memory_of(client, 0).bytes_in_use, 0);
        rt_executable_destroy(executable);
        rt_client_destroy(client);
    }
}

/* Steps in flight that feed themselves: each reads what the one before left there. */
static void donation_goes_on_in_flight(void **state)
{
    (void)state;
    rt_client *client = sim_client("device_us=200");
    rt_executable *executable = sim_compile(client, donate_text);
    rt_buffer *a = sim_floats(client, 4, 1);
    uintptr_t address = address_of(client, a);
    for (int i = 0; i < 12; i++) {
        rt_buffer *next = result_of(client, executable, a);
        rt_buffer_release(client, a);
        a = next;
    }
    assert_true(sim_first(client, a, 4) == 4096);
    assert_int_equal(address_of(client, a), address);
    rt_buffer_release(client, a);
    rt_executable_destroy(executable);
    assert_int_equal(memory_of(client, 0).bytes_in_use, 0);
    assert_int_equal(memory_of(client, 0).peak_bytes_in_use, 16);
    rt_client_destroy(client);
}

/* A donor whose memory no result takes is gone, too. */
static void donors_are_consumed(void **state)
{
    (void)state;
    rt_client *client = sim_client("");
    rt_executable *executable = sim_compile(client, donor_text);
    rt_buffer *a = sim_floats(client, 4, 3), *result = result_of(client, executable, a);
    assert_true(rt_buffer_is_deleted(client, a));
    assert_true(sim_first(client, result, 4) == 6);
    assert_int_equal(memory_of(client, 0).bytes_in_use, 16);
    rt_buffer_release(client, a);
    rt_buffer_release(client, result);
    rt_executable_destroy(executable);
    rt_client_destroy(client);
}

static const char swap_text[] =
    "module @jit_swap {\n"
    "  func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 1 : i32}, "
    "%b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n"
    "    return %b, %a : tensor<4xf32>, tensor<4xf32>\n"
    "  }\n"
    "}\n";

static void a_donated_buffer_is_given_once(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_client *client = sim_client("");
    rt_executable *swap = sim_compile(client, swap_text);
    rt_buffer *a = sim_floats(client, 4, 3), *pair[2] = {a, a}, *results[2] = {NULL, NULL};
    const int64_t keep[1] = {0};
    assert_fails(rt_execute(swap, pair, 2, NULL, 0, results, NULL, &st), BN_EXECUTE,
                 "argument 1 is a donated buffer that is given twice", &st);
    assert_false(rt_buffer_is_deleted(client, a));
    assert_ok(rt_execute(swap, pair, 2, keep, 1, results, NULL, &st), &st);
    assert_true(sim_first(client, results[0], 4) == 3 && sim_first(client, results[1], 4) == 3);
    rt_buffer_release(client, results[0]);
    rt_buffer_release(client, results[1]);
    rt_buffer_release(client, a);
    rt_executable_destroy(swap);
    rt_client_destroy(client);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    bn_status st = {0};
    sim_adder a = sim_adder_new("devices=2");
    rt_buffer *result = NULL, *pair[2] = {a.arguments[0], NULL};
    rt_event *done = NULL;
    assert_fails(rt_execute(a.executable, a.arguments, 1, NULL, 0, &result, &done, &st), BN_EXECUTE,
                 "the program takes 2 arguments, 1 were given", &st);
    pair[1] = sim_floats(a.client, 5, 1);
    assert_fails(rt_execute(a.executable, pair, 2, NULL, 0, &result, &done, &st), BN_EXECUTE,
                 "argument 1 is of another type", &st);
    rt_buffer_release(a.client, pair[1]);
    assert_ok(rt_client_use_device(a.client, 1, &st), &st);
    pair[1] = sim_floats(a.client, 4, 1);
    assert_fails(rt_execute(a.executable, pair, 2, NULL, 0, &result, &done, &st), BN_EXECUTE,
                 "argument 1 lies on device 1", &st);
    rt_buffer_release(a.client, pair[1]);
    assert_null(result);
    assert_null(done);
    sim_adder_free(&a);
}

/* ---- values ---------------------------------------------------------------------------------- */

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
        /* What came from the host stays what it was. */
        assert_true(sim_first(a.client, a.arguments[1], 4) == 2);
        sim_adder_free(&a);
    }
}

static void results_of_valueless_arguments_are_valueless(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_client *client = sim_client("evaluate_limit=1000");
    rt_executable *cut = sim_compile(client, cut_text), *add = sim_compile(client, SIM_ADD("add"));
    assert_true(values_of(cut) == 0 && values_of(add) == 1);
    rt_buffer *large = sim_floats(client, 4096, 5), *four = result_of(client, cut, large),
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
    first = result_of(client, endless, a);
    assert_fails(rt_buffer_to_host(client, first, back, sizeof back, &st), BN_TIMEOUT, "", &st);
    rt_buffer_release(client, first);
    rt_buffer_release(client, a);
    rt_executable_destroy(endless);
    rt_executable_destroy(twice);
    rt_client_destroy(client);
}

/* ---- compiling ----------------------------------------------------------------------------------
 */

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
        bn_code code = rt_compile(client, text, strlen(text), NULL, &executable, &st);
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
    assert_fails(rt_compile(client, "ML\xefR\x0d\x01", 6, NULL, &executable, &st), BN_NOT_SUPPORTED,
                 "MLIR byte code is not read: give the program as StableHLO text", &st);
    assert_fails(
        rt_compile(client, double_text, sizeof double_text - 1, &options, &executable, &st),
        BN_COMPILE, "the simulated compiler takes no options", &st);
    options = (rt_compile_options){.device = 1};
    assert_int_not_equal(
        rt_compile(client, double_text, sizeof double_text - 1, &options, &executable, NULL),
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
    assert_ok(rt_client_use_device(client, 1, &st), &st);
    rt_buffer *a = sim_floats(client, 4, 21), *result = result_of(client, again, a);
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
    assert_non_null(strstr(st.message, "not a stored executable"));
    assert_null(again);
    free(bytes);
    rt_client_destroy(client);
    rt_client_destroy(narrow);
}

/* ---- faults
 * -------------------------------------------------------------------------------------- */

static void faults_hit_the_call_they_name(void **state)
{
    (void)state;
    static const struct {
        const char *fault;
        bn_code code;
        const char *text;
    } rows[] = {
        {"faults=execute:2:fail", BN_EXECUTE, "simulated fault: the call to execute fails"},
        {"faults=execute:2:fail:8", BN_OUT_OF_MEMORY, "simulated fault"},
        {"faults=execute:2:fail:12", BN_NOT_SUPPORTED, "simulated fault"},
        {"faults=execute:9:fail;execute:2:oom", BN_OUT_OF_MEMORY, "results of 16 bytes, 32 of"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bn_status st = {0};
        sim_adder a = sim_adder_new(rows[i].fault);
        rt_buffer *result = NULL;
        sim_run(&a, 1);
        assert_fails(rt_execute(a.executable, a.arguments, 2, NULL, 0, &result, NULL, &st),
                     rows[i].code, rows[i].text, &st);
        assert_null(result);
        sim_run(&a, 3);
        assert_int_equal(memory_of(a.client, 0).bytes_in_use, 32);
        sim_adder_free(&a);
    }
}

static void compiles_transfers_and_clients_fail(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = NULL;
    rt_buffer *buffer = NULL;
    rt_client *client = sim_client("faults=compile:2:fail:9;compile:3:oom;transfer:*:fail:14");
    const size_t size = sizeof double_text - 1;
    const int64_t dims[1] = {1};
    const float one = 1;
    rt_executable_destroy(sim_compile(client, double_text));
    assert_fails(rt_compile(client, double_text, size, NULL, &executable, &st), BN_COMPILE,
                 "simulated fault: the compilation fails", &st);
    assert_fails(rt_compile(client, double_text, size, NULL, &executable, &st), BN_OUT_OF_MEMORY,
                 "simulated fault: out of memory while compiling", &st);
    rt_executable_destroy(sim_compile(client, double_text));
    for (int i = 0; i < 2; i++)
        assert_fails(rt_buffer_from_host(client, &one, RT_F32, dims, 1, &buffer, &st), BN_PLUGIN,
                     "simulated fault: the transfer fails", &st);
    rt_client_destroy(client);
    client = NULL;
    assert_fails(sim_try(sim_plugin(), "faults=client:1:fail:14", &client, &st), BN_PLUGIN,
                 "simulated fault: the client is not made", &st);
    assert_null(client);
    rt_client_destroy(sim_client("faults=client:2:fail"));
}

/* The event tells, and what depends on the execution fails; what does not goes on. */
static void an_event_with_an_error_spoils_what_depends_on_it(void **state)
{
    (void)state;
    static const char *const settings[] = {"faults=execute:2:event:10 device_us=2000",
                                           "faults=execute:2:event:10 values=none device_us=2000"};
    for (int way = 0; way < 2; way++) {
        bn_status st = {0};
        float back[4];
        sim_adder a = sim_adder_new(settings[way]);
        rt_event *done = NULL;
        rt_buffer *pair[2] = {NULL, a.arguments[1]}, *next = NULL;
        sim_run(&a, 1);
        assert_ok(rt_execute(a.executable, a.arguments, 2, NULL, 0, pair, &done, &st), &st);
        pair[1] = a.arguments[1];
        assert_fails(rt_execute(a.executable, pair, 2, NULL, 0, &next, NULL, &st), BN_EXECUTE,
                     "simulated fault: the execution fails", &st);
        assert_fails(rt_event_await(a.client, done, &st), BN_EXECUTE, "simulated fault", &st);
        rt_event_release(a.client, done);
        assert_int_not_equal(rt_buffer_to_host(a.client, pair[0], back, sizeof back, NULL), BN_OK);
        assert_int_not_equal(rt_buffer_await(a.client, pair[0], NULL), BN_OK);
        rt_buffer_release(a.client, pair[0]);
        sim_run(&a, 2);
        sim_adder_free(&a);
    }
}

static void an_event_that_never_fires_is_not_ready(void **state)
{
    (void)state;
    sim_adder a = sim_adder_new("faults=execute:1:never");
    rt_event *never = sim_submit(&a);
    sim_run(&a, 3);
    assert_false(rt_event_is_ready(a.client, never));
    rt_event_release(a.client, never);
    sim_adder_free(&a); /* nor does the client's end wait for it */
}

/* A wrong number, with values and without; -0.5 is what a simple x - 1 of -x misses. */
static void a_wrong_number_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        float right;
    } rows[] = {{"faults=execute:2:wrong", -0.5f}, {"faults=execute:2:wrong values=none", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rt_client *client = sim_client(rows[i].settings);
        rt_executable *executable = sim_compile(client, double_text);
        rt_buffer *a = sim_floats(client, 4, -0.25f);
        for (int call = 1; call <= 3; call++) {
            bn_status st = {0};
            float back[4];
            rt_buffer *result = result_of(client, executable, a);
            assert_ok(rt_buffer_to_host(client, result, back, sizeof back, &st), &st);
            assert_true((back[0] == rows[i].right) == (call != 2));
            for (int other = 1; other < 4; other++)
                assert_true(back[other] == rows[i].right);
            rt_buffer_release(client, result);
        }
        rt_buffer_release(client, a);
        rt_executable_destroy(executable);
        rt_client_destroy(client);
    }
}

/* ---- profiles
 * ------------------------------------------------------------------------------------- */

static void a_profile_has_names_and_times_of_each_device(void **state)
{
    (void)state;
    rt_client *client =
        sim_client("values=none devices=2 stated=jit_double:400;jit_add:150 launch_us=50");
    sim_adder a = sim_adder_on(client, 0), b = sim_adder_on(client, 1);
    rt_executable_destroy(b.executable);
    b.executable = sim_compile_on(client, double_text, 1);
    sim_run(&a, 2); /* before the profile */
    rt_profiler *profiler = sim_profile_begin(client);
    for (int i = 0; i < 4; i++) {
        rt_buffer *result = NULL;
        bn_status st = {0};
        rt_event_release(client, sim_submit(&a));
        assert_ok(rt_execute(b.executable, b.arguments, 1, NULL, 0, &result, NULL, &st), &st);
        assert_ok(rt_buffer_await(client, result, &st), &st);
        rt_buffer_release(client, result);
    }
    rt_device_span *spans = sim_profile_end(profiler, 8);
    sim_run(&a, 1); /* behind it */
    size_t count[2] = {0, 0};
    for (int i = 0; i < 8; i++) {
        bool add = strncmp(spans[i].name, "jit_add(", 8) == 0;
        assert_true(add || strncmp(spans[i].name, "jit_double(", 11) == 0);
        assert_int_equal(spans[i].duration_ns, add ? 150000 : 400000);
        count[add]++;
    }
    assert_int_equal(count[0], 4);
    assert_int_equal(count[1], 4);
    free(spans);
    sim_adder_drop(&a);
    sim_adder_drop(&b);
    rt_client_destroy(client);
}

static void profiles_are_taken_one_at_a_time(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_profiler *second = NULL;
    sim_adder a = sim_adder_new("device_us=10");
    free(sim_profile_end(sim_profile_begin(a.client), 0)); /* of nothing */
    rt_profiler *first = sim_profile_begin(a.client);
    sim_run(&a, 1);
    assert_int_not_equal(rt_profiler_start(rt_client_plugin(a.client), &second, &st), BN_OK);
    assert_non_null(strstr(st.message, "a profile is being taken"));
    assert_null(second);
    sim_run(&a, 2); /* the one that was refused took nothing away */
    free(sim_profile_end(first, 3));
    free(sim_profile_end(sim_profile_begin(a.client), 0));
    sim_adder_free(&a);
}

/* ---- many at once
 * ------------------------------------------------------------------------------------ */

/* Values in flight on several devices with copies between: what a race would break. */
static void much_in_flight_is_right(void **state)
{
    (void)state;
    enum { DEVICES = 3, STEPS = 60 };
    rt_client *client = sim_client("devices=3 device_us=20 completion_us=30");
    rt_executable *step[DEVICES];
    rt_buffer *at[DEVICES];
    for (int d = 0; d < DEVICES; d++) {
        bn_status st = {0};
        assert_ok(rt_client_use_device(client, (size_t)d, &st), &st);
        step[d] = sim_compile_on(client, donate_text, d);
        at[d] = sim_floats(client, 4, (float)(d + 1));
    }
    for (int i = 1; i <= STEPS; i++) {
        for (int d = 0; d < DEVICES; d++) {
            rt_buffer *next = result_of(client, step[d], at[d]);
            rt_buffer_release(client, at[d]);
            at[d] = next;
            if (i % 7 == d)
                assert_true(sim_first(client, at[d], 4) ==
                            (float)(d + 1) * (float)(UINT64_C(1) << i));
        }
    }
    for (int d = 0; d < DEVICES; d++) {
        rt_buffer_release(client, at[d]);
        rt_executable_destroy(step[d]);
    }
    rt_client_destroy(client);
}

int main(void)
{
#define T(test) cmocka_unit_test_teardown(test, teardown)
    const struct CMUnitTest tests[] = {
        T(memory_is_accounted_for),
        T(each_device_has_its_memory),
        T(out_of_memory_names_the_sizes),
        T(temporaries_count_while_a_program_runs),
        T(donated_memory_becomes_the_results),
        T(donation_goes_on_in_flight),
        T(donors_are_consumed),
        T(a_donated_buffer_is_given_once),
        T(wrong_arguments_are_refused),
        T(values_are_computed_or_zeros),
        T(results_of_valueless_arguments_are_valueless),
        T(values_that_cannot_be_computed_are_errors),
        T(bad_programs_are_refused_with_their_place),
        T(byte_code_and_flags_are_refused),
        T(executables_tell_of_themselves),
        T(executables_are_stored_and_loaded),
        T(faults_hit_the_call_they_name),
        T(compiles_transfers_and_clients_fail),
        T(an_event_with_an_error_spoils_what_depends_on_it),
        T(an_event_that_never_fires_is_not_ready),
        T(a_wrong_number_is_wrong),
        T(a_profile_has_names_and_times_of_each_device),
        T(profiles_are_taken_one_at_a_time),
        T(much_in_flight_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
