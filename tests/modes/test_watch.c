/*
 * test_watch.c - ops that the host computes, in each mode; and a watcher's notifications: graphs,
 * reads, guards that fail, with their places.
 */
#define _GNU_SOURCE
#include "tests/modes/fit_fixture.h"

#include "modes/watch.h"
#include "runtime/graph/places.h"

#include <stdio.h>
#include <string.h>

/* ---- a step with an op of the host --------------------------------------------------- */

#define FEW 6

/* Finds where x is above a half; of the first FEW positions and x, computed on the device, makes
 * chosen = x[positions], or x[0] where there are fewer, and adds 0.25 to x. */
typedef struct finder {
    tg_tensor *x, *positions, *chosen;
    bool direct; /* look into the variable itself, which needs no graph before */
    int calls;
} finder;

static int find_line; /* of the call */

static void find_step(tg_trace *t, void *context)
{
    finder *f = context;
    f->calls++;
    tg_tensor *half = tg_scalar(t, TG_F32, 0.5);
    tg_tensor *seen = f->direct ? f->x : tg_convert(t, tg_compare(t, f->x, half, TG_GT), TG_F32);
    tg_scope_push(t, "find");
    find_line = __LINE__ + 1;
    tg_tensor *positions = tg_nonzero(t, seen, FEW);
    tg_scope_pop(t);
    tg_assign(t, f->positions, positions);
    tg_assign(t, f->chosen, tg_gather_rows(t, f->x, positions));
    tg_assign(t, f->x, tg_add(t, f->x, tg_scalar(t, TG_F32, 0.25)));
}

static finder finder_new(mode *m, bool direct)
{
    static const int64_t few = FEW;
    static const float x[4] = {0.0f, 0.4f, -0.0f, 0.6f};
    const int64_t four = 4;
    const tg_type reals = tg_type_make(TG_F32, 1, &four), whole = tg_type_make(TG_I32, 1, &few);
    bn_status st = {0};
    finder f = {.x = tg_variable_new("x", &reals),
                .positions = tg_variable_new("positions", &whole),
                .chosen = vector_named("chosen", FEW),
                .direct = direct};
    assert_ok(mode_write(m, f.x, x, &st), &st);
    return f;
}

static void finder_free(mode *m, finder *f)
{
    tg_tensor *all[] = {f->x, f->positions, f->chosen};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mode_clear(m, all[i]);
        tg_variable_free(all[i]);
    }
}

/* Runs a step, and compares positions and chosen values. */
static void expect(mode *m, finder *f, const int32_t positions[FEW], const float chosen[FEW])
{
    const mode_call call = {.function = find_step, .context = f};
    int32_t got[FEW];
    float values[FEW];
    bn_status st = {0};
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_ok(mode_read(m, f->positions, got, sizeof got, &st), &st);
    assert_ok(mode_read(m, f->chosen, values, sizeof values, &st), &st);
    for (int i = 0; i < FEW; i++) {
        assert_int_equal(got[i], positions[i]);
        assert_float_equal(values[i], chosen[i], 1e-6);
    }
}

static void run_finder(const char *name, int calls)
{
    mode *m = mode_new(name, &(mode_options){0});
    finder f = finder_new(m, false);
    const int64_t *c = mode_counters(m);
    expect(m, &f, (int32_t[]){3, -1, -1, -1, -1, -1}, (float[]){.6f, 0, 0, 0, 0, 0});
    expect(m, &f, (int32_t[]){1, 3, -1, -1, -1, -1}, (float[]){.65f, .85f, .25f, .25f, .25f, .25f});
    const int64_t compiles = c[BN_COUNTER_COMPILES], before = c[BN_COUNTER_TRANSFERS_TO_HOST];
    expect(m, &f, (int32_t[]){1, 3, -1, -1, -1, -1}, (float[]){.9f, 1.1f, .5f, .5f, .5f, .5f});
    expect(m, &f, (int32_t[]){0, 1, 2, 3, -1, -1}, (float[]){.75f, 1.15f, .75f, 1.35f, .75f, .75f});
    assert_int_equal(c[BN_COUNTER_HOST_FALLBACKS], 4);
    assert_int_equal(c[BN_COUNTER_COMPILES], compiles); /* other values, the same graphs */
    assert_int_equal(c[BN_COUNTER_TRANSFERS_TO_HOST], before + 6); /* four are of this test */
    assert_int_equal(c[BN_COUNTER_GUARD_MISSES], 0);
    assert_int_equal(f.calls, calls);
    finder_free(m, &f);
    mode_destroy(m);
}

static void the_host_computes_in_each_mode(void **state)
{
    (void)state;
    run_finder("eager", 4);
    run_finder("lazy", 4);
    run_finder("capture", 1);
}

/* Minus zero is zero; a variable is looked into as it is. */
static void the_host_looks_into_variables(void **state)
{
    static const char *const modes[] = {"eager", "lazy", "capture"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        mode *m = mode_new(modes[i], &(mode_options){0});
        finder f = finder_new(m, true);
        expect(m, &f, (int32_t[]){1, 3, -1, -1, -1, -1}, (float[]){.4f, .6f, 0, 0, 0, 0});
        expect(m, &f, (int32_t[]){0, 1, 2, 3, -1, -1},
               (float[]){.25f, .65f, .25f, .85f, .25f, .25f});
        finder_free(m, &f);
        mode_destroy(m);
    }
}

static void without_a_host_it_is_an_error(void **state)
{
    const int64_t four = 4;
    const tg_type type = tg_type_make(TG_F32, 1, &four);
    (void)state;
    tg_trace *t = tg_trace_new();
    tg_tensor *x = tg_variable_new("x", &type);
    bn_status st = {0};
    tg_nonzero(t, x, 4);
    assert_int_equal(tg_trace_status(t, &st), BN_NOT_SUPPORTED);
    assert_non_null(strstr(st.message, "nonzero:"));
    tg_trace_begin(t);
    tg_nonzero(t, x, -1);
    st = (bn_status){0};
    assert_int_equal(tg_trace_status(t, &st), BN_INVALID);
    tg_variable_free(x);
    tg_trace_free(t);
}

/* ---- a watcher's notifications --------------------------------------------------------- */

/* Calls of the watcher in the current step. */
typedef struct heard {
    int graphs, anew, reads, breaks, hosts, misses;
    bool placed; /* each read and op of the host stood where it does */
    mode_miss_event miss;
    double value, missed; /* read, and without a branch */
    char op[32], text[64];
} heard;

static bool is_here(const mode_where *where, const char *scope)
{
    const char *file = where->place.file;
    return file && strstr(file, "test_watch.c") && where->place.line == find_line &&
           strcmp(where->scope, scope) == 0;
}

static void hear_graph(void *context, const mode_graph_event *event)
{
    heard *h = context;
    h->graphs++;
    h->anew += event->anew;
    /* Lowering writes places while somebody watches. */
    char *name = memmem(event->text, event->length, "test_watch.c\":", 14);
    h->placed = h->placed && name != NULL;
}

static void hear_read(void *context, const mode_read_event *event)
{
    heard *h = context;
    float value;
    assert_int_equal(tg_type_bytes(&event->type), sizeof value);
    memcpy(&value, event->value, sizeof value);
    h->value = (double)value;
    h->reads++;
    h->breaks += event->breaks;
    h->placed = h->placed && is_here(&event->where, "look");
}

static void hear_host(void *context, const mode_host_event *event)
{
    heard *h = context;
    h->hosts++;
    h->breaks += event->breaks;
    snprintf(h->op, sizeof h->op, "%s", event->op);
    h->placed = h->placed && is_here(&event->where, "find");
    assert_int_equal(event->in.dims[0], 4);
    assert_int_equal(event->out.dims[0], FEW);
}

static void hear_miss(void *context, const mode_miss_event *event)
{
    heard *h = context;
    h->misses++;
    h->miss = *event;
    if (event->miss == MODE_MISS_VALUE) {
        float value;
        memcpy(&value, event->read->value, sizeof value);
        h->missed = (double)value;
    }
}

static void listen(mode *m, heard *h)
{
    mode_watch(m, &(mode_watcher){.context = h,
                                  .graph = hear_graph,
                                  .read = hear_read,
                                  .host = hear_host,
                                  .miss = hear_miss});
}

static void ops_of_the_host_are_notified(void **state)
{
    static const char *const modes[] = {"lazy", "capture"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        mode *m = mode_new(modes[i], &(mode_options){0});
        finder f = finder_new(m, false);
        const mode_call call = {.function = find_step, .context = &f};
        bn_status st = {0};
        heard h = {.placed = true};
        listen(m, &h);
        for (int step = 0; step < 3; step++)
            assert_ok(mode_step(m, &call, NULL, &st), &st);
        assert_int_equal(h.hosts, 3);
        assert_int_equal(h.breaks, 3);
        assert_string_equal(h.op, "nonzero");
        assert_int_equal(h.anew, 2);
        assert_int_equal(h.graphs, i == 0 ? 6 : 2); /* replays tell none */
        assert_true(h.placed);
        mode_watch(m, NULL);
        assert_ok(mode_step(m, &call, NULL, &st), &st);
        assert_int_equal(h.hosts, 3);
        finder_free(m, &f);
        mode_destroy(m);
    }
}

/* Reads x's sum, and doubles x where that is above 1, else adds 1. */
static void look_step(tg_trace *t, void *context)
{
    finder *f = context;
    float sum;
    f->calls++;
    tg_tensor *all = tg_reduce_sum(t, f->x, 1u);
    tg_scope_push(t, "look");
    find_line = __LINE__ + 1;
    tg_read(t, all, &sum, sizeof sum);
    tg_scope_pop(t);
    tg_tensor *two = tg_scalar(t, TG_F32, 2.0), *one = tg_scalar(t, TG_F32, 1.0);
    tg_assign(t, f->x, sum > 1.5f ? tg_mul(t, f->x, two) : tg_add(t, f->x, one));
}

static void guards_that_fail_are_notified(void **state)
{
    (void)state;
    mode *m = mode_new("capture", &(mode_options){0});
    finder f = finder_new(m, false);
    int argument[2] = {5, 7};
    const mode_call call = {look_step, &f, argument, sizeof argument, NULL};
    bn_status st = {0};
    heard h = {.placed = true};
    listen(m, &h);
    assert_ok(mode_step(m, &call, NULL, &st), &st); /* the sum is 1 */
    assert_int_equal(h.misses, 0);
    assert_float_equal(h.value, 1, 1e-6);
    assert_ok(mode_step(m, &call, NULL, &st), &st); /* 5: read in the replay, then traced */
    assert_int_equal(h.misses, 1);
    assert_int_equal(h.miss.miss, MODE_MISS_VALUE);
    assert_int_equal(h.miss.branches, 1);
    assert_float_equal(h.missed, 5, 1e-6);
    assert_int_equal(h.reads, 3);
    assert_true(h.placed);

    argument[1] = 8;
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_int_equal(h.miss.miss, MODE_MISS_STATICS);
    assert_int_equal(h.miss.offset, sizeof(int));
    assert_int_equal(h.miss.guards, 1);

    const int64_t two = 2;
    const tg_type shorter = tg_type_make(TG_F32, 1, &two);
    mode_clear(m, f.x);
    tg_variable_retype(f.x, &shorter);
    assert_ok(mode_write(m, f.x, (float[]){1, 1}, &st), &st);
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_int_equal(h.miss.miss, MODE_MISS_TYPE);
    assert_ptr_equal(h.miss.variable, f.x);
    assert_int_equal(h.miss.type.dims[0], 4);
    assert_int_equal(h.miss.guards, 2);
    finder_free(m, &f);
    mode_destroy(m);
}

static void guards_are_described(void **state)
{
    (void)state;
    mode *m = mode_new("capture", &(mode_options){0});
    finder f = finder_new(m, false);
    int argument = 5;
    const mode_call call = {look_step, &f, &argument, sizeof argument, NULL};
    mode_guard_info info;
    bn_status st = {0};
    assert_false(mode_guard_describe(m, 0, 0, &info));
    for (int i = 0; i < 3; i++)
        assert_ok(mode_step(m, &call, NULL, &st), &st);
    static const mode_guard_kind kinds[] = {MODE_GUARD_CALL, MODE_GUARD_STATICS, MODE_GUARD_TYPE,
                                            MODE_GUARD_VALUE};
    for (size_t i = 0; i < 4; i++) {
        assert_true(mode_guard_describe(m, 0, i, &info));
        assert_int_equal(info.kind, kinds[i]);
    }
    assert_int_equal(info.branches, 3);
    assert_int_equal(info.bytes, sizeof(float));
    assert_string_equal(info.where.scope, "look");
    assert_false(mode_guard_describe(m, 0, 4, &info));
    assert_false(mode_guard_describe(m, 1, 0, &info));
    finder_free(m, &f);
    mode_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_computes_in_each_mode),
        cmocka_unit_test(the_host_looks_into_variables),
        cmocka_unit_test(without_a_host_it_is_an_error),
        cmocka_unit_test(ops_of_the_host_are_notified),
        cmocka_unit_test(guards_that_fail_are_notified),
        cmocka_unit_test(guards_are_described),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
