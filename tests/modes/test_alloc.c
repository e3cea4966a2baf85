/*
 * test_alloc.c - a steady step allocates nothing of ours, and memory does not
 * grow over 200 steps; nor does one of which a timeline is made.
 *
 * The test brings its own malloc family, in front of the C library's, and looks
 * at who calls: callers inside this program's own text are our rooms (they are
 * linked statically); the plugin's calls come from its shared object.
 */
#define _GNU_SOURCE
#include "tests/support/client_fixture.h"
#include "tests/support/own_malloc.h"
#include "tests/support/plugin_leaks.h"

#include "models/model.h"
#include "modes/mode.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_bool watching;
static atomic_int ours, others;

#if OWN_MALLOC
extern const char __executable_start, etext;

static void count_caller(const void *caller)
{
    if (!atomic_load_explicit(&watching, memory_order_relaxed))
        return;
    const char *c = caller;
    atomic_fetch_add(c >= &__executable_start && c < &etext ? &ours : &others, 1);
}
#endif

/* Resident memory in kB. */
static long resident(void)
{
    long pages = 0, skip;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &skip, &pages), 2);
    fclose(f);
    return pages * 4;
}

static void write_all(mode *m, model *network)
{
    size_t count;
    bn_status st = {0};
    const model_variable *v = model_variables(network, &count);
    for (size_t i = 0; i < count; i++) {
        if (v[i].role == MODEL_RESULT)
            continue;
        void *host = malloc((size_t)tg_type_bytes(tg_tensor_type(v[i].tensor)) + 1);
        assert_non_null(host);
        assert_ok(model_initial(&v[i], 1, host, &st), &st);
        assert_ok(mode_write(m, v[i].tensor, host, &st), &st);
        free(host);
    }
}

/* Runs STEPS steady steps of M, which must allocate nothing of ours. */
static void watch(mode *m, const mode_call *call, const char *name, int steps)
{
    bn_status st = {0};
    for (int i = 0; i < 10; i++)
        assert_ok(mode_step(m, call, NULL, &st), &st);
    long before = resident();
    atomic_store(&ours, 0);
    atomic_store(&others, 0);
    atomic_store(&watching, true);
    bn_ledger ledger;
    for (int i = 0; i < steps; i++)
        assert_ok(mode_step(m, call, &ledger, &st), &st);
    atomic_store(&watching, false);
    long grown = resident() - before;
    assert_ok(mode_drain(m, &st), &st);
    print_message("%s: ours %d, the plugin's %d allocations, %ld kB more\n", name,
                  atomic_load(&ours), atomic_load(&others), grown);
    assert_int_equal(atomic_load(&ours), 0);
#if OWN_MALLOC
    assert_true(atomic_load(&others) > 0); /* the watch was on */
    assert_true(grown < 8 * 1024);
#endif
}

/* The plugin may write into them until its client is gone. */
static bn_timeline *timelines[16];
static size_t timeline_count;

static int end_of_all(void **state)
{
    const int code = group_teardown(state);
    while (timeline_count > 0)
        bn_timeline_free(timelines[--timeline_count]);
    return code;
}

/* The same of a few steps that are noted. */
static void watch_noted(mode *m, const mode_call *call, const char *name)
{
    bn_status st = {0};
    bn_timeline *t = NULL;
    assert_true(timeline_count < sizeof timelines / sizeof *timelines);
    assert_ok(bn_timeline_new(100000, &t, &st), &st);
    timelines[timeline_count++] = t;
    atomic_store(&ours, 0);
    atomic_store(&watching, true);
    for (uint64_t i = 0; i < 5; i++) {
        const uint64_t begin = bn_now_ns();
        bn_timeline_step_begin(t, BN_STEP_MEASURED, i);
        mode_set_timeline(m, t);
        assert_ok(mode_step(m, call, NULL, &st), &st);
        mode_set_timeline(m, NULL);
        bn_timeline_step_end(t, begin, bn_now_ns());
    }
    atomic_store(&watching, false);
    assert_ok(mode_drain(m, &st), &st);
    print_message("%s, noted: ours %d allocations, %zu spans\n", name, atomic_load(&ours),
                  bn_timeline_count(t));
    assert_int_equal(atomic_load(&ours), 0);
    assert_true(bn_timeline_count(t) > 5 * 3);
    assert_int_equal(bn_timeline_describe(t)->steps_shown, 5);
}

/* Compiling, which is not watched, would take most of the time: code need not be good, and modes
 * share it. */
static const char *const quick[] = {"xla_backend_optimization_level=0"};
static char executables[1024];

static int begin_all(void **state)
{
    const char *parent = getenv("TMPDIR");
    snprintf(executables, sizeof executables, "%s/alloc-XXXXXX", parent ? parent : "/tmp");
    assert_non_null(mkdtemp(executables));
    return group_setup(state);
}

static void run(const char *name, unsigned graphs, int in_flight, int steps)
{
    bn_status st = {0};
    model *network;
    mode *m;
    size_t count;
    char title[80];
    model_options o = {.small = true, .train = true, .dtype = TG_F32};
    mode_options way = {.graphs = graphs,
                        .in_flight = in_flight,
                        .cache_dir = executables,
                        .compile = {.flags = quick, .flag_count = 1}};
    assert_ok(model_new("resnet18", &o, &network, &st), &st);
    assert_ok(mode_create(name, client, &way, &m, &st), &st);
    write_all(m, network);
    mode_call call = {.function = model_step, .context = network};
    snprintf(title, sizeof title, "%s, %u graphs, in flight %d", name, graphs, in_flight);
    watch(m, &call, title, steps);
    watch_noted(m, &call, title);
    const model_variable *v = model_variables(network, &count);
    for (size_t i = 0; i < count; i++)
        mode_clear(m, v[i].tensor);
    mode_destroy(m);
    model_free(network);
}

static void lazy_steps_allocate_nothing(void **state)
{
    (void)state;
    run("lazy", 1, 1, 200);
    run("lazy", 1, 3, 50);
}

static void replays_allocate_nothing(void **state)
{
    (void)state;
    run("capture", 1, 1, 200);
    run("capture", 5, 1, 50);
    run("capture", 1, 3, 50);
}

/* An update, and a product that dies with the step. */
static void recorded_steps_allocate_nothing(void **state)
{
    (void)state;
    static const char update[] =
        "func.func @main(%a: tensor<64xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<64xf32>) "
        "-> tensor<64xf32> {\n  %r = stablehlo.add %a, %b : tensor<64xf32>\n"
        "  return %r : tensor<64xf32>\n}\n";
    static const char product[] =
        "func.func @main(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {\n"
        "  %r = stablehlo.multiply %a, %b : tensor<64xf32>\n  return %r : tensor<64xf32>\n}\n";
    static const float host[64] = {1};
    const mode_part parts[] = {
        {"product", {"mlir", product, sizeof product - 1, NULL, 0}, NULL, 0, 2, 1},
        {"update", {"mlir", update, sizeof update - 1, NULL, 0}, NULL, 0, 2, 1}};
    const mode_argument type = {.dtype = BN_F32, .rank = 1, .dims = {64}, .result = -1};
    const mode_input inputs[] = {{type, host, 3}, {type, host, MODE_NO_VALUE}};
    const size_t first[] = {0, 1}, second[] = {0, 2};
    const mode_run runs[] = {{.part = 0, .arguments = first, .alone_ns = 1000},
                             {.part = 1, .arguments = second, .waits = true}};
    const mode_sequence sequence = {parts, 2, inputs, 2, runs, 2};
    static const char *const names[] = {"recorded", "recorded, awaited", "recorded, paced"};
    for (int pace = MODE_QUEUED; pace <= MODE_PACED; pace++) {
        bn_status st = {0};
        mode *m;
        const mode_options way = {.in_flight = 1};
        assert_ok(mode_create_sequence(client, &way, &sequence, (mode_pace)pace, &m, &st), &st);
        watch(m, &(mode_call){0}, names[pace], 200);
        mode_destroy(m);
    }
}

static void eager_steps_allocate_nothing(void **state)
{
    (void)state;
    run("eager", 1, 1, 20);
}

#if OWN_MALLOC
static void the_watch_sees_our_own_calls(void **state)
{
    (void)state;
    atomic_store(&ours, 0);
    atomic_store(&watching, true);
    bn_arena *arena = bn_arena_new(64);
    atomic_store(&watching, false);
    assert_true(atomic_load(&ours) > 0);
    bn_arena_free(arena);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if OWN_MALLOC
        cmocka_unit_test(the_watch_sees_our_own_calls),
#endif
        cmocka_unit_test(lazy_steps_allocate_nothing),
        cmocka_unit_test(replays_allocate_nothing),
        cmocka_unit_test(eager_steps_allocate_nothing),
        cmocka_unit_test(recorded_steps_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, begin_all, end_of_all);
}
