/*
 * test_sim_profile.c - profiles of the simulated device: names and times, one profile at a time.
 */
#include "tests/runtime/sim/device/sim_fixture.h"

static int teardown(void **state)
{
    (void)state;
    assert_nothing_live();
    return 0;
}

static const char double_text[] = SIM_DOUBLE("");

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

int main(void)
{
#define T(test) cmocka_unit_test_teardown(test, teardown)
    const struct CMUnitTest tests[] = {
        T(a_profile_has_names_and_times_of_each_device),
        T(profiles_are_taken_one_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
