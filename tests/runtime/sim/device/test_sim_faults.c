/*
 * test_sim_faults.c - faults of the simulated device, as a caller of the plugin sees them.
 */
#include "tests/runtime/sim/device/sim_fixture.h"

static int teardown(void **state)
{
    (void)state;
    assert_nothing_live();
    return 0;
}

static const char double_text[] = SIM_DOUBLE("");

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
        assert_int_equal(sim_memory_of(a.client, 0).bytes_in_use, 32);
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
    assert_fails(compile_text(client, double_text, size, NULL, &executable, &st), BN_COMPILE,
                 "simulated fault: the compilation fails", &st);
    assert_fails(compile_text(client, double_text, size, NULL, &executable, &st), BN_OUT_OF_MEMORY,
                 "simulated fault: out of memory while compiling", &st);
    rt_executable_destroy(sim_compile(client, double_text));
    for (int i = 0; i < 2; i++)
        assert_fails(rt_buffer_from_host(client, &one, BN_F32, dims, 1, &buffer, &st), BN_PLUGIN,
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
    assert_false(event_is_ready(a.client, never));
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
            rt_buffer *result = sim_result_of(client, executable, a);
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

int main(void)
{
#define T(test) cmocka_unit_test_teardown(test, teardown)
    const struct CMUnitTest tests[] = {
        T(faults_hit_the_call_they_name),
        T(compiles_transfers_and_clients_fail),
        T(an_event_with_an_error_spoils_what_depends_on_it),
        T(an_event_that_never_fires_is_not_ready),
        T(a_wrong_number_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
