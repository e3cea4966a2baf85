/*
 * sim_fixture.h - clients of the simulated runtime by their settings, programs for
 * them, and what the plugin's profile says of the device's time.
 *
 * BENCH_TEST_BUILD names the folder with libpjrt_sim.so.
 */
#ifndef BENCH_TESTS_SIM_FIXTURE_H
#define BENCH_TESTS_SIM_FIXTURE_H

#include "runtime/profile/profile.h"
#include "tests/support/plugin_handles.h"
#include "tests/support/test_runtime.h"

#include <stdio.h>
#include <stdlib.h>

static inline void sim_path(char *path, size_t size)
{
    const char *build = getenv("BENCH_TEST_BUILD");
    snprintf(path, size, "%s/libpjrt_sim.so", build ? build : "build");
}

static inline rt_plugin *sim_plugin(void)
{
    char path[4096];
    bn_status st = {0};
    rt_plugin *plugin = NULL;
    sim_path(path, sizeof path);
    assert_ok(rt_plugin_load(path, NULL, &plugin, &st), &st);
    return plugin;
}

/* SETTINGS: "name=value name=value", given as the client's options. */
static inline bn_code sim_try(rt_plugin *plugin, const char *settings, rt_client **client,
                              bn_status *st)
{
    char text[1024], *rest = text;
    rt_option options[32];
    size_t count = 0;
    snprintf(text, sizeof text, "%s", settings);
    for (char *word; (word = strsep(&rest, " "));) {
        if (!*word)
            continue;
        assert_true(count < sizeof options / sizeof *options);
        bn_code code = rt_option_parse(word, &options[count++], st);
        if (code != BN_OK)
            return code;
    }
    return rt_client_create(plugin, options, count, client, st);
}

static inline rt_client *sim_client(const char *settings)
{
    bn_status st = {0};
    rt_client *client = NULL;
    assert_ok(sim_try(sim_plugin(), settings, &client, &st), &st);
    return client;
}

static inline rt_executable *sim_compile_on(rt_client *client, const char *text, int device)
{
    bn_status st = {0};
    rt_executable *executable = NULL;
    rt_compile_options options = {.device = device};
    assert_ok(compile_text(client, text, strlen(text), &options, &executable, &st), &st);
    return executable;
}

static inline rt_executable *sim_compile(rt_client *client, const char *text)
{
    return sim_compile_on(client, text, 0);
}

/* COUNT floats, each VALUE. */
static inline rt_buffer *sim_floats(rt_client *client, size_t count, float value)
{
    bn_status st = {0};
    rt_buffer *buffer = NULL;
    const int64_t dims[1] = {(int64_t)count};
    float *data = malloc((count + 1) * sizeof *data);
    assert_non_null(data);
    for (size_t i = 0; i < count; i++)
        data[i] = value;
    assert_ok(rt_buffer_from_host(client, data, BN_F32, dims, 1, &buffer, &st), &st);
    free(data);
    return buffer;
}

/* The first of the buffer's COUNT floats. */
static inline float sim_first(rt_client *client, rt_buffer *buffer, size_t count)
{
    bn_status st = {0};
    float first, *data = malloc((count + 1) * sizeof *data);
    assert_non_null(data);
    data[0] = -77;
    assert_ok(rt_buffer_to_host(client, buffer, data, count * sizeof *data, &st), &st);
    first = data[0];
    free(data);
    return first;
}

/* x and y of 4 floats, to x + y, in a module of this NAME. */
#define SIM_ADD(name)                                                                              \
    "module @" name " {\n"                                                                         \
    "  func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {\n"          \
    "    %0 = stablehlo.add %a, %b : tensor<4xf32>\n"                                              \
    "    return %0 : tensor<4xf32>\n"                                                              \
    "  }\n"                                                                                        \
    "}\n"

/* A client with x + y compiled on a device, and its arguments, 1 and 2 each. */
typedef struct sim_adder {
    rt_client *client;
    rt_executable *executable;
    rt_buffer *arguments[2];
} sim_adder;

static inline sim_adder sim_adder_on(rt_client *client, size_t device)
{
    sim_adder a = {.client = client};
    rt_client there = client_on(client, device);
    a.executable = sim_compile_on(client, SIM_ADD("jit_add"), (int)device);
    a.arguments[0] = sim_floats(&there, 4, 1);
    a.arguments[1] = sim_floats(&there, 4, 2);
    return a;
}

static inline sim_adder sim_adder_new(const char *settings)
{
    return sim_adder_on(sim_client(settings), 0);
}

/* All but the client. */
static inline void sim_adder_drop(sim_adder *a)
{
    rt_buffer_release(a->client, a->arguments[0]);
    rt_buffer_release(a->client, a->arguments[1]);
    rt_executable_destroy(a->executable);
}

static inline void sim_adder_free(sim_adder *a)
{
    sim_adder_drop(a);
    rt_client_destroy(a->client);
}

/* One execution submitted; its result is released at once, its event is the caller's. */
static inline rt_event *sim_submit(sim_adder *a)
{
    bn_status st = {0};
    rt_buffer *result = NULL;
    rt_event *done = NULL;
    assert_ok(rt_execute(a->executable, a->arguments, 2, NULL, 0, &result, &done, &st), &st);
    rt_buffer_release(a->client, result);
    return done;
}

static inline void sim_await(sim_adder *a, rt_event *done)
{
    bn_status st = {0};
    assert_ok(rt_event_await(a->client, done, &st), &st);
    rt_event_release(a->client, done);
}

/* COUNT executions, all in flight; then waits for the last. */
static inline void sim_run(sim_adder *a, size_t count)
{
    rt_event *last = NULL;
    for (size_t i = 0; i < count; i++) {
        rt_event_release(a->client, last);
        last = sim_submit(a);
    }
    sim_await(a, last);
}

/* A program of one argument of 4 floats, to its double. */
#define SIM_DOUBLE(attributes)                                                                     \
    "module @jit_double {\n"                                                                       \
    "  func.func public @main(%a: tensor<4xf32>" attributes ") -> tensor<4xf32> {\n"               \
    "    %0 = stablehlo.add %a, %a : tensor<4xf32>\n"                                              \
    "    return %0 : tensor<4xf32>\n"                                                              \
    "  }\n"                                                                                        \
    "}\n"

/* The double of 4096 floats, of which 4 come back. */
#define SIM_CUT                                                                                    \
    "module @jit_cut {\n"                                                                          \
    "  func.func public @main(%a: tensor<4096xf32>) -> tensor<4xf32> {\n"                          \
    "    %0 = stablehlo.add %a, %a : tensor<4096xf32>\n"                                           \
    "    %1 = stablehlo.slice %0 [0:4] : (tensor<4096xf32>) -> tensor<4xf32>\n"                    \
    "    return %1 : tensor<4xf32>\n"                                                              \
    "  }\n"                                                                                        \
    "}\n"

static inline rt_device_memory sim_memory_of(const rt_client *client, size_t device)
{
    bn_status st = {0};
    rt_device_memory memory;
    assert_ok(rt_client_memory(client, device, &memory, &st), &st);
    return memory;
}

static inline uintptr_t sim_address_of(rt_client *client, rt_buffer *buffer)
{
    bn_status st = {0};
    uintptr_t address = 0;
    assert_ok(rt_buffer_address(client, buffer, &address, &st), &st);
    return address;
}

/* The only result of one execution with one argument. The execution may still run. */
static inline rt_buffer *sim_result_of(rt_client *client, rt_executable *executable,
                                       rt_buffer *argument)
{
    bn_status st = {0};
    rt_buffer *result = NULL;
    assert_ok(rt_execute(executable, &argument, 1, NULL, 0, &result, NULL, &st), &st);
    (void)client;
    return result;
}

static inline rt_profiler *sim_profile_begin(const rt_client *client)
{
    bn_status st = {0};
    rt_profiler *profiler = NULL;
    assert_ok(rt_profiler_start(rt_client_plugin(client), false, &profiler, &st), &st);
    return profiler;
}

/* COUNT spans (malloc), which is checked. */
static inline rt_device_span *sim_profile_end(rt_profiler *profiler, size_t count)
{
    bn_status st = {0};
    void *xspace = NULL;
    size_t size = 0, got = 0;
    rt_device_span *spans = NULL;
    assert_ok(rt_profiler_finish(profiler, &xspace, &size, &st), &st);
    assert_ok(rt_xspace_device_spans(xspace, size, &spans, &got, &st), &st);
    free(xspace);
    assert_int_equal(got, count);
    return spans;
}

/* Device spans of COUNT executions under SETTINGS. */
static inline rt_device_span *sim_spans(const char *settings, size_t count)
{
    sim_adder a = sim_adder_new(settings);
    rt_profiler *profiler = sim_profile_begin(a.client);
    sim_run(&a, count);
    rt_device_span *spans = sim_profile_end(profiler, count);
    sim_adder_free(&a);
    return spans;
}

#endif
