/*
 * test_execution.c - executions with a plugin that misbehaves on request: donation, order of
 * events, errors, transfers, profiles.
 */
#include "runtime/profile/profile.h"
#include "tests/runtime/pjrt/fake_fixture.h"

#include <signal.h>
#include <sys/wait.h>

/* ---- executions --------------------------------------------------------- */

static void arguments_make(rt_buffer *arguments[2])
{
    static const float data[6] = {1, 2, 3, 4, 5, 6};
    static const int32_t number = 7;
    static const int64_t dims[2] = {2, 3};
    bn_status st = {0};
    assert_ok(rt_buffer_from_host(client, data, BN_F32, dims, 2, &arguments[0], &st), &st);
    assert_ok(rt_buffer_from_host(client, &number, BN_S32, NULL, 0, &arguments[1], &st), &st);
}

static void release_two(rt_buffer *buffers[2])
{
    rt_buffer_release(client, buffers[0]);
    rt_buffer_release(client, buffers[1]);
}

static void execution_consumes_what_is_donated(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = compiled();
    rt_buffer *arguments[2], *results[2];
    rt_event *done = NULL;
    uintptr_t before = 0, after = 0;
    float data[6];
    rt_dtype dtype;
    int64_t dims[RT_MAX_RANK];
    size_t rank = 0;
    arguments_make(arguments);
    assert_ok(rt_buffer_address(client, arguments[0], &before, &st), &st);
    assert_ok(rt_execute(executable, arguments, 2, NULL, 0, results, &done, &st), &st);
    assert_ok(rt_event_await(client, done, &st), &st);
    assert_true(event_is_ready(client, done));
    rt_event_release(client, done);
    assert_true(rt_buffer_is_deleted(client, arguments[0]));
    assert_false(rt_buffer_is_deleted(client, arguments[1]));
    assert_ok(rt_buffer_address(client, results[1], &after, &st), &st);
    assert_int_equal(before, after);
    assert_ok(rt_buffer_type(client, results[0], &dtype, dims, &rank, &st), &st);
    assert_int_equal(dtype, BN_C64);
    assert_int_equal(rank, 1);
    assert_int_equal(dims[0], 4);
    assert_ok(rt_buffer_to_host(client, results[1], data, sizeof data, &st), &st);
    assert_true(data[5] == 0);
    assert_fails(rt_buffer_to_host(client, results[1], data, 4, &st), BN_INVALID, "24|4", &st);
    assert_fails(rt_buffer_to_host(client, arguments[0], data, sizeof data, &st), BN_INVALID,
                 "donated", &st);
    assert_fails(rt_buffer_await(client, arguments[0], &st), BN_EXECUTE, "donated", &st);
    /* A donated handle is no argument any more. */
    release_two(results);
    assert_fails(rt_execute(executable, arguments, 2, NULL, 0, results, NULL, &st), BN_EXECUTE,
                 "deleted or donated", &st);
    assert_null(results[0]);
    assert_null(results[1]);
    release_two(arguments);
    rt_executable_destroy(executable);
}

static void execution_keeps_the_arguments_it_must(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = compiled();
    rt_buffer *arguments[2], *results[2];
    const int64_t keep[1] = {0};
    float data[6];
    arguments_make(arguments);
    assert_ok(rt_execute(executable, arguments, 2, keep, 1, results, NULL, &st), &st);
    assert_false(rt_buffer_is_deleted(client, arguments[0]));
    assert_ok(rt_buffer_to_host(client, arguments[0], data, sizeof data, &st), &st);
    assert_true(data[5] == 6);
    release_two(results);
    release_two(arguments);
    rt_executable_destroy(executable);
}

static void execution_errors_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *orders;
        bn_code wanted;
    } rows[] = {
        {"execute_error", BN_EXECUTE},
        {"oom", BN_OUT_OF_MEMORY},
        {"execute_error,code=12", BN_NOT_SUPPORTED},
        {"execute_error,code=4", BN_TIMEOUT},
    };
    bn_status st = {0};
    rt_executable *executable = compiled();
    rt_buffer *arguments[2], *results[2], *none = NULL;
    rt_event *done = NULL;
    float data[6];
    const float number = 1;
    arguments_make(arguments);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        order(rows[i].orders);
        assert_fails(rt_execute(executable, arguments, 2, NULL, 0, results, &done, &st),
                     rows[i].wanted, "", &st);
        assert_null(results[1]);
        assert_null(done);
    }
    order("");
    assert_fails(rt_execute(executable, arguments, 1, NULL, 0, results, &done, &st), BN_EXECUTE,
                 "number of arguments", &st);
    order("transfer_error,code=8");
    assert_fails(rt_buffer_from_host(client, &number, BN_F32, NULL, 0, &none, &st),
                 BN_OUT_OF_MEMORY, "takes no data", &st);

    /* An error that only the event knows; so do the results. */
    order("event_error,code=8");
    assert_ok(rt_execute(executable, arguments, 2, NULL, 0, results, &done, &st), &st);
    order("");
    assert_fails(rt_event_await(client, done, &st), BN_OUT_OF_MEMORY, "while it executed", &st);
    assert_fails(rt_buffer_await(client, results[0], &st), BN_OUT_OF_MEMORY, "", &st);
    assert_fails(rt_buffer_to_host(client, results[1], data, sizeof data, &st), BN_OUT_OF_MEMORY,
                 "", &st);
    rt_event_release(client, done);
    release_two(results);
    release_two(arguments);
    rt_executable_destroy(executable);
}

static void events_fire_in_order(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_executable *executable = compiled();
    rt_buffer *arguments[2], *results[3][2];
    rt_event *done[3];
    const int64_t keep[1] = {0};
    arguments_make(arguments);
    order("delay_us=20000");
    uint64_t start = bn_now_ns();
    for (int i = 0; i < 3; i++)
        assert_ok(rt_execute(executable, arguments, 2, keep, 1, results[i], &done[i], &st), &st);
    /* Only lower bounds: a busy machine may be late, never early. */
    for (int i = 0; i < 3; i++) {
        assert_ok(rt_event_await(client, done[i], &st), &st);
        assert_true(bn_now_ns() - start >= (uint64_t)(i + 1) * 20000000);
        assert_true(event_is_ready(client, done[0]));
        release_two(results[i]);
    }
    for (int i = 0; i < 3; i++)
        rt_event_release(client, done[i]);
    order("never_ready");
    assert_ok(rt_execute(executable, arguments, 2, keep, 1, results[0], &done[0], &st), &st);
    assert_false(event_is_ready(client, done[0]));
    rt_event_release(client, done[0]);
    rt_event_release(client, NULL);
    release_two(results[0]);
    release_two(arguments);
    rt_executable_destroy(executable);
}

/* A plugin that ends or blocks its process does so in ours too: that is why
 * experiments run in workers. Here it proves that the orders work. */
static void hang_and_abort_are_the_plugins(void **state)
{
    (void)state;
    static const struct {
        const char *orders;
        int signal;
    } rows[] = {{"abort", SIGABRT}, {"hang", SIGALRM}};
    rt_executable *executable = compiled();
    rt_buffer *arguments[2], *results[2];
    arguments_make(arguments);
    for (size_t i = 0; i < 2; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGABRT, SIG_DFL);
            alarm(1);
            order(rows[i].orders);
            bn_code code = rt_execute(executable, arguments, 2, NULL, 0, results, NULL, NULL);
            _exit(code == BN_OK ? 0 : 1);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), rows[i].signal);
    }
    release_two(arguments);
    rt_executable_destroy(executable);
}

/* ---- transfers ---------------------------------------------------------- */

static void transfers_check_their_arguments(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_buffer *buffer = NULL;
    rt_event *host_done = NULL;
    const int64_t negative[1] = {-1}, many[RT_MAX_RANK + 1] = {1}, none[2] = {0, 5};
    const char byte = 1;
    assert_fails(rt_buffer_from_host(client, &byte, BN_S8, many, RT_MAX_RANK + 1, &buffer, &st),
                 BN_INVALID, "33|32", &st);
    assert_fails(rt_buffer_from_host(client, &byte, BN_S8, negative, 1, &buffer, &st), BN_INVALID,
                 "dimension 0|-1", &st);
    assert_fails(rt_buffer_from_host(client, &byte, RT_DTYPE_COUNT, many, 1, &buffer, &st),
                 BN_INVALID, "element type", &st);
    assert_ok(rt_buffer_from_host(client, &byte, BN_S8, none, 2, &buffer, &st), &st);
    assert_ok(rt_buffer_to_host(client, buffer, NULL, 0, &st), &st);
    rt_buffer_release(client, buffer);
    assert_ok(rt_buffer_from_host_async(client, &byte, BN_S8, many, 8, &buffer, &host_done, &st),
              &st);
    assert_ok(rt_event_await(client, host_done, &st), &st);
    rt_event_release(client, host_done);
    rt_buffer_release(client, buffer);
    rt_buffer_release(client, NULL);
}

/* ---- profiler ----------------------------------------------------------- */

static void profile_of(const char *orders)
{
    bn_status st = {0};
    rt_executable *executable = compiled();
    rt_buffer *arguments[2], *results[2];
    rt_profiler *profiler = NULL;
    rt_device_span *spans = NULL;
    const int64_t keep[1] = {0};
    void *xspace = NULL;
    size_t size = 0, count = 0;
    arguments_make(arguments);
    order(orders);
    assert_ok(rt_profiler_start(plugin, true, &profiler, &st), &st);
    for (int i = 0; i < 3; i++) {
        assert_ok(rt_execute(executable, arguments, 2, keep, 1, results, NULL, &st), &st);
        release_two(results);
    }
    assert_ok(rt_profiler_finish(profiler, &xspace, &size, &st), &st);
    assert_ok(rt_xspace_device_spans(xspace, size, &spans, &count, &st), &st);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(spans[i].name, "jit_main(7)");
        assert_int_equal(spans[i].duration_ns, 3000000);
    }
    /* One after the other, though the profile tells the latest first. */
    assert_true(spans[1].start_ns >= spans[0].start_ns + 3000000);
    assert_true(spans[2].start_ns >= spans[1].start_ns + 3000000);
    free(spans);
    /* A profile that was cut is reported, or has fewer spans; it never crashes. */
    for (size_t cut = 0; cut < size; cut++) {
        bn_code code = rt_xspace_device_spans(xspace, cut, &spans, &count, &st);
        if (code == BN_OK) {
            assert_true(count <= 3);
            free(spans);
        } else {
            assert_int_equal(code, BN_FORMAT);
        }
    }
    free(xspace);
    release_two(arguments);
    rt_executable_destroy(executable);
}

static void profiles_are_collected(void **state)
{
    (void)state;
    profile_of("delay_us=3000");
    profile_of("delay_us=3000,collect_at_once");
    profile_of("delay_us=3000,collect_at_once,collect_one_more");
    bn_status st = {0};
    rt_profiler *profiler = NULL;
    order("collect_grows");
    assert_ok(rt_profiler_start(plugin, true, &profiler, &st), &st);
    void *xspace = NULL;
    size_t size = 0;
    assert_fails(rt_profiler_finish(profiler, &xspace, &size, &st), BN_PLUGIN, "profile", &st);
    order("profiler_error");
    assert_fails(rt_profiler_start(plugin, true, &profiler, &st), BN_PLUGIN,
                 "starting the profiler: the fake profiler is busy", &st);
    rt_device_span *spans = NULL;
    size_t count = 5;
    assert_ok(rt_xspace_device_spans("", 0, &spans, &count, &st), &st);
    assert_int_equal(count, 0);
    free(spans);
    assert_fails(rt_xspace_device_spans("\xff\xff\xff", 3, &spans, &count, &st), BN_FORMAT,
                 "XSpace", &st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(execution_consumes_what_is_donated),
        TEST(execution_keeps_the_arguments_it_must),
        TEST(execution_errors_are_reported),
        TEST(events_fire_in_order),
        TEST(hang_and_abort_are_the_plugins),
        TEST(transfers_check_their_arguments),
        TEST(profiles_are_collected),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
