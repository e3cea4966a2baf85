/*
 * test_sim_events.c - events of the simulated runtime through the plugin's own table:
 * callbacks and errors, which bench does not ask for but frameworks do.
 */
#include "tests/runtime/sim/device/sim_api_fixture.h"

#include <stdatomic.h>

static int teardown(void **state)
{
    (void)state;
    assert_nothing_live();
    return 0;
}

/* The calls of a callback. */
typedef struct seen {
    atomic_int calls;
    int order; /* of all callbacks of the test, from 1 */
    uint64_t at_ns;
    int code; /* 0: no error */
} seen;

static atomic_int callbacks;

static void note(PJRT_Error *error, void *argument)
{
    seen *s = argument;
    s->at_ns = bn_now_ns();
    s->order = atomic_fetch_add(&callbacks, 1) + 1;
    s->code = 0;
    if (error) {
        PJRT_Error_GetCode_Args code = {.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE,
                                        .error = error};
        PJRT_Error_Destroy_Args destroy = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                           .error = error};
        assert_null(api->PJRT_Error_GetCode(&code));
        s->code = (int)code.code;
        api->PJRT_Error_Destroy(&destroy);
    }
    atomic_fetch_add(&s->calls, 1);
}

/* The handle is the plugin's own object. */
static void on_ready(rt_event *event, seen *s)
{
    PJRT_Event_OnReady_Args args = {.struct_size = PJRT_Event_OnReady_Args_STRUCT_SIZE,
                                    .event = (PJRT_Event *)event,
                                    .callback = note,
                                    .user_arg = s};
    assert_null(api->PJRT_Event_OnReady(&args));
}

static void wait_for(const seen *s)
{
    uint64_t begin = bn_now_ns();
    while (atomic_load(&s->calls) == 0 && bn_now_ns() - begin < UINT64_C(20000000000))
        continue;
    assert_int_equal(atomic_load(&s->calls), 1);
}

static void callbacks_come_in_order_and_not_before_their_time(void **state)
{
    (void)state;
    enum { COUNT = 5 };
    static const char *const settings[] = {"device_us=3000 completion_us=500 values=none",
                                           "device_us=3000 completion_us=500"};
    for (int way = 0; way < 2; way++) {
        sim_adder a = sim_adder_new(settings[way]);
        seen s[COUNT] = {0};
        rt_event *done[COUNT];
        uint64_t begin = bn_now_ns();
        atomic_store(&callbacks, 0);
        for (int i = 0; i < COUNT; i++)
            done[i] = sim_submit(&a);
        for (int i = COUNT - 1; i >= 0; i--)
            on_ready(done[i], &s[i]);
        for (int i = 0; i < COUNT; i++)
            rt_event_release(a.client, done[i]); /* callbacks outlive their handle */
        wait_for(&s[COUNT - 1]);
        for (int i = 0; i < COUNT; i++) {
            assert_int_equal(atomic_load(&s[i].calls), 1);
            assert_int_equal(s[i].code, 0);
            assert_int_equal(s[i].order, i + 1);
            assert_true(s[i].at_ns - begin >= (uint64_t)(i + 1) * 3000000 + 500000);
        }
        sim_adder_free(&a);
    }
}

static void a_callback_of_what_is_done_comes_at_once(void **state)
{
    (void)state;
    bn_status st = {0};
    sim_adder a = sim_adder_new("");
    seen s = {0};
    rt_event *done = sim_submit(&a);
    assert_ok(rt_event_await(a.client, done, &st), &st);
    on_ready(done, &s);
    assert_int_equal(atomic_load(&s.calls), 1);
    rt_event_release(a.client, done);
    sim_adder_free(&a);
}

static void errors_reach_callbacks_and_the_event(void **state)
{
    (void)state;
    sim_adder a = sim_adder_new("device_us=2000 faults=execute:1:event:10 values=none");
    seen early = {0}, late = {0};
    rt_event *done = sim_submit(&a);
    PJRT_Event_Error_Args args = {.struct_size = PJRT_Event_Error_Args_STRUCT_SIZE,
                                  .event = (PJRT_Event *)done};
    on_ready(done, &early);
    wait_for(&early);
    assert_int_equal(early.code, 10);
    on_ready(done, &late);
    assert_int_equal(late.code, 10);
    PJRT_Error *error = api->PJRT_Event_Error(&args);
    assert_non_null(error);
    PJRT_Error_Destroy_Args destroy = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                       .error = error};
    api->PJRT_Error_Destroy(&destroy);
    rt_event_release(a.client, done);
    sim_adder_free(&a);
}

/* The client's end drops it, and calls back for all that is still to fire. */
static void what_never_fires_does_not_call_back(void **state)
{
    (void)state;
    sim_adder a = sim_adder_new("device_us=2000 faults=execute:1:never values=none");
    seen never = {0}, second = {0};
    rt_event *done = sim_submit(&a);
    on_ready(done, &never);
    rt_event_release(a.client, done);
    done = sim_submit(&a);
    on_ready(done, &second);
    rt_event_release(a.client, done);
    sim_adder_free(&a);
    assert_int_equal(atomic_load(&never.calls), 0);
    assert_int_equal(atomic_load(&second.calls), 1);
}

static void each_device_calls_back(void **state)
{
    (void)state;
    enum { DEVICES = 4 };
    rt_client *client = sim_client("devices=4 device_us=1500");
    sim_adder a[DEVICES];
    seen s[DEVICES] = {0};
    for (size_t i = 0; i < DEVICES; i++) {
        a[i] = sim_adder_on(client, i);
        rt_event *done = sim_submit(&a[i]);
        on_ready(done, &s[i]);
        rt_event_release(client, done);
    }
    for (size_t i = 0; i < DEVICES; i++) {
        wait_for(&s[i]);
        sim_adder_drop(&a[i]);
    }
    rt_client_destroy(client);
}

int main(void)
{
#define T(test) cmocka_unit_test_teardown(test, teardown)
    const struct CMUnitTest tests[] = {
        T(callbacks_come_in_order_and_not_before_their_time),
        T(a_callback_of_what_is_done_comes_at_once),
        T(errors_reach_callbacks_and_the_event),
        T(what_never_fires_does_not_call_back),
        T(each_device_calls_back),
    };
    return cmocka_run_group_tests(tests, sim_api_setup, NULL);
}
