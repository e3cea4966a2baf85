/*
 * test_sim_memory.c - memory of the simulated devices: what is accounted for, what does
 * not fit, donation, and much of it in flight.
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
static const char donor_text[] = SIM_DOUBLE(" {jax.buffer_donor = true}");

static void memory_is_accounted_for(void **state)
{
    (void)state;
    rt_client *client = sim_client("values=none memory_bytes=100000");
    assert_int_equal(sim_memory_of(client, 0).bytes_limit, 100000);
    assert_int_equal(sim_memory_of(client, 0).bytes_in_use, 0);
    rt_executable *executable = sim_compile(client, double_text);
    rt_buffer *large = sim_floats(client, 10000, 0), *a = sim_floats(client, 4, 1);
    assert_int_equal(sim_memory_of(client, 0).bytes_in_use, 40016);
    rt_buffer *b = sim_result_of(client, executable, a);
    assert_int_equal(sim_memory_of(client, 0).bytes_in_use, 40032);
    rt_buffer_release(client, large);
    assert_int_equal(sim_memory_of(client, 0).bytes_in_use, 32);
    assert_int_equal(sim_memory_of(client, 0).peak_bytes_in_use, 40032);
    rt_buffer_release(client, a);
    rt_buffer_release(client, b);
    assert_int_equal(sim_memory_of(client, 0).bytes_in_use, 0);
    assert_int_equal(sim_memory_of(client, 0).peak_bytes_in_use, 40032);
    rt_executable_destroy(executable);
    rt_client_destroy(client);
}

static void each_device_has_its_memory(void **state)
{
    (void)state;
    rt_client *client = sim_client("devices=2");
    rt_buffer *zero = sim_floats(client, 4, 0);
    rt_client second = client_on(client, 1);
    rt_buffer *one = sim_floats(&second, 8, 0);
    assert_int_equal(sim_memory_of(client, 0).bytes_in_use, 16);
    assert_int_equal(sim_memory_of(client, 1).bytes_in_use, 32);
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
    assert_fails(rt_buffer_from_host(client, data, BN_F32, dims, 1, &buffer, &st), BN_OUT_OF_MEMORY,
                 "a buffer of 1200 bytes", &st);
    assert_null(buffer);
    assert_int_equal(sim_memory_of(client, 0).bytes_in_use, 0);
    assert_ok(rt_buffer_from_host(client, data, BN_F32, few, 1, &half, &st), &st);
    assert_fails(rt_buffer_from_host(client, data, BN_F32, few, 1, &buffer, &st), BN_OUT_OF_MEMORY,
                 "600 of 1000 bytes are in use", &st);
    rt_buffer_release(client, half);

    /* Results count, and what fails takes nothing. */
    rt_executable *executable = sim_compile(client, double_text);
    rt_buffer *a = sim_floats(client, 4, 1), *result = NULL, *fill = sim_floats(client, 243, 0);
    assert_fails(rt_execute(executable, &a, 1, NULL, 0, &result, NULL, &st), BN_OUT_OF_MEMORY,
                 "results of 16 bytes", &st);
    assert_null(result);
    assert_false(rt_buffer_is_deleted(client, a));
    assert_int_equal(sim_memory_of(client, 0).bytes_in_use, 988);
    rt_buffer_release(client, fill);
    result = sim_result_of(client, executable, a);
    rt_buffer_release(client, result);
    rt_buffer_release(client, a);
    rt_executable_destroy(executable);
    rt_client_destroy(client);
}

/* Temporaries of an execution are allocated while it runs, and not after. */
static void temporaries_count_while_a_program_runs(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable_stats stats;
    char settings[80];
    rt_client *client = sim_client("values=none");
    rt_executable *cut = sim_compile(client, SIM_CUT);
    rt_executable_describe(cut, &stats);
    const long long temp = (long long)stats.temp_bytes, least = 16384 + 16 + temp;
    assert_true(temp > 0 && temp <= 16384);
    rt_executable_destroy(cut);
    rt_client_destroy(client);
    for (int less = 0; less < 2; less++) {
        snprintf(settings, sizeof settings, "values=none memory_bytes=%lld", least - less);
        client = sim_client(settings);
        cut = sim_compile(client, SIM_CUT);
        rt_buffer *large = sim_floats(client, 4096, 5), *four = NULL;
        bn_code code = rt_execute(cut, &large, 1, NULL, 0, &four, NULL, &st);
        assert_int_equal(code, less ? BN_OUT_OF_MEMORY : BN_OK);
        assert_int_equal(sim_memory_of(client, 0).peak_bytes_in_use, less ? 16384 : least);
        assert_int_equal(sim_memory_of(client, 0).bytes_in_use, less ? 16384 : 16400);
        rt_buffer_release(client, four);
        rt_buffer_release(client, large);
        rt_executable_destroy(cut);
        rt_client_destroy(client);
    }
    assert_non_null(strstr(st.message, "temporaries"));
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
        uintptr_t before = sim_address_of(client, a);

        assert_ok(rt_execute(executable, &a, 1, keep, 1, &result, NULL, &st), &st);
        assert_true(sim_address_of(client, result) != before);
        assert_false(rt_buffer_is_deleted(client, a));
        rt_buffer_release(client, result);

        result = sim_result_of(client, executable, a);
        assert_int_equal(sim_address_of(client, result), before);
        assert_true(rt_buffer_is_deleted(client, a));
        assert_int_equal(sim_memory_of(client, 0).bytes_in_use, 16);
        assert_fails(rt_execute(executable, &a, 1, NULL, 0, &again, NULL, &st), BN_EXECUTE,
                     "argument 0 has been deleted or donated", &st);
        rt_buffer_release(client, a);
        assert_int_equal(sim_memory_of(client, 0).bytes_in_use, 16);
        assert_true(sim_first(client, result, 4) == (way ? 6 : 0));
        rt_buffer_release(client, result);
        assert_int_equal(sim_memory_of(client, 0).bytes_in_use, 0);
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
    uintptr_t address = sim_address_of(client, a);
    for (int i = 0; i < 12; i++) {
        rt_buffer *next = sim_result_of(client, executable, a);
        rt_buffer_release(client, a);
        a = next;
    }
    assert_true(sim_first(client, a, 4) == 4096);
    assert_int_equal(sim_address_of(client, a), address);
    rt_buffer_release(client, a);
    rt_executable_destroy(executable);
    assert_int_equal(sim_memory_of(client, 0).bytes_in_use, 0);
    assert_int_equal(sim_memory_of(client, 0).peak_bytes_in_use, 16);
    rt_client_destroy(client);
}

/* A donor whose memory no result takes is gone, too. */
static void donors_are_consumed(void **state)
{
    (void)state;
    rt_client *client = sim_client("");
    rt_executable *executable = sim_compile(client, donor_text);
    rt_buffer *a = sim_floats(client, 4, 3), *result = sim_result_of(client, executable, a);
    assert_true(rt_buffer_is_deleted(client, a));
    assert_true(sim_first(client, result, 4) == 6);
    assert_int_equal(sim_memory_of(client, 0).bytes_in_use, 16);
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
    rt_client second = client_on(a.client, 1);
    pair[1] = sim_floats(&second, 4, 1);
    assert_fails(rt_execute(a.executable, pair, 2, NULL, 0, &result, &done, &st), BN_EXECUTE,
                 "argument 1 is on device 1", &st);
    rt_buffer_release(a.client, pair[1]);
    assert_null(result);
    assert_null(done);
    sim_adder_free(&a);
}
/* ---- many at once ----------------------------------------------------------------------- */

/* Values in flight on several devices with copies between: what a race would break. */
static void much_in_flight_is_right(void **state)
{
    (void)state;
    enum { DEVICES = 3, STEPS = 60 };
    rt_client *client = sim_client("devices=3 device_us=20 completion_us=30");
    rt_executable *step[DEVICES];
    rt_buffer *at[DEVICES];
    for (int d = 0; d < DEVICES; d++) {
        rt_client there = client_on(client, (size_t)d);
        step[d] = sim_compile_on(client, donate_text, d);
        at[d] = sim_floats(&there, 4, (float)(d + 1));
    }
    for (int i = 1; i <= STEPS; i++) {
        for (int d = 0; d < DEVICES; d++) {
            rt_buffer *next = sim_result_of(client, step[d], at[d]);
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
        T(much_in_flight_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
