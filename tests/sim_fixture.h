/*
<<<<<<< HEAD
 * sim_fixture.h - programs of the simulator for tests: from text, and of models' steps.
 */
#ifndef BENCH_SIM_FIXTURE_H
#define BENCH_SIM_FIXTURE_H

#include "runtime/sim/program.h"
#include "tests/model_fixture.h"

/* The program of TEXT, which must be readable; freed by the caller. */
static inline sim_program *read_program(const char *text)
{
    sim_status st = {.code = SIM_OK};
    sim_program *program = NULL;
    if (sim_program_read(text, strlen(text), &program, &st) != SIM_OK)
        fail_msg("%s", st.message);
    return program;
}

/* BODY as the statements of a function @main of ARGUMENTS that returns RESULT. */
static inline sim_program *read_body(const char *arguments, const char *body, const char *type)
{
    char text[8192];
    int length = snprintf(text, sizeof text,
                          "module {\nfunc.func @main(%s) -> %s {\n%s\nreturn %%r : %s\n}\n}\n",
                          arguments, type, body, type);
    assert_true(length < (int)sizeof text);
    return read_program(text);
}

/* Batch normalisation is several ops in a program; its work for each feature, which the
 * op table leaves out, is what those of one element a feature come to. */
static inline double norm_operations(const tg_graph *g)
{
    static const struct {
        const char *name;
        int operations;
    } norms[] = {{"batch_norm_training", 5}, {"batch_norm_inference", 3}, {"batch_norm_grad", 8}};
    double sum = 0;
    for (size_t n = g->first_node; n < g->end_node; n++) {
        const tg_node *node = tg_trace_node(g->trace, n);
        for (size_t i = 0; tg_node_has_op(node) && i < sizeof norms / sizeof *norms; i++)
            if (strcmp(tg_node_op_name(node), norms[i].name) == 0)
                sum += norms[i].operations *
                       (double)tg_type_elements(tg_tensor_type(tg_node_operand(node, 1)));
    }
    return sum;
}

/* A model's step: its program, what the graph says that it costs, and what batch
 * normalisation adds to that. */
static inline sim_program *step_program(const char *name, model_options options,
                                        tg_graph_cost *cost, double *norms)
{
    static const unsigned one[TG_PHASE_COUNT] = {0};
    bn_status st = {.code = BN_OK};
    bn_text text = {0};
    tg_trace *t = tg_trace_new();
    model *m = make_model(name, options);
    tg_graph *const *graphs;
    size_t count;
    tg_trace_begin(t);
    model_step(t, m);
    assert_int_equal(tg_trace_cut(t, one, NULL, &graphs, &count, &st), BN_OK);
    assert_int_equal(count, 1);
    assert_int_equal(tg_graph_lower(graphs[0], "step", &text, &st), BN_OK);
    tg_graph_measure(graphs[0], cost);
    *norms = norm_operations(graphs[0]);
    sim_program *program = read_program(text.data);
    bn_text_free(&text);
    model_free(m);
    tg_trace_free(t);
    return program;
=======
 * sim_fixture.h - clients of the simulated runtime by their settings, programs for
 * them, and what the plugin's profile says of the device's time.
 *
 * BENCH_TEST_BUILD names the folder with libpjrt_sim.so.
 */
#ifndef BENCH_TESTS_SIM_FIXTURE_H
#define BENCH_TESTS_SIM_FIXTURE_H

#include "tests/test_runtime.h"

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
    assert_ok(rt_plugin_load(path, &plugin, &st), &st);
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
    assert_ok(rt_compile(client, text, strlen(text), &options, &executable, &st), &st);
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
    assert_ok(rt_buffer_from_host(client, data, RT_F32, dims, 1, &buffer, &st), &st);
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
    bn_status st = {0};
    sim_adder a = {.client = client};
    assert_ok(rt_client_use_device(client, device, &st), &st);
    a.executable = sim_compile_on(client, SIM_ADD("jit_add"), (int)device);
    a.arguments[0] = sim_floats(client, 4, 1);
    a.arguments[1] = sim_floats(client, 4, 2);
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

/* One execution submitted; its result is given back at once, its event is the caller's. */
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

static inline rt_profiler *sim_profile_begin(const rt_client *client)
{
    bn_status st = {0};
    rt_profiler *profiler = NULL;
    assert_ok(rt_profiler_start(rt_client_plugin(client), &profiler, &st), &st);
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
>>>>>>> f9673080aabd5454e5e0b4a7c818b7d0a0e31f04
}

#endif
