/*
 * test_profile_spans.c - executions in profiles that are made here, in the form of an H100's:
 * kernels within scopes, and no line of executions. Also how long a message is. Lines of
 * executions: see tests/runtime/pjrt/test_execution.c and the simulated device.
 */
#include "runtime/profile/profile.h"
#include "runtime/wire/xspace.pb-c.h"
#include "tests/support/test_runtime.h"

#include <stdlib.h>

#define MOST_KERNELS 8
#define MOST_SCOPES  6

enum { MODULE = 1, SCOPE = 2, STEP = 3, OTHER = 4, STAT_NAMES = 4 };

/* A GPU's plane and that of its scopes. */
typedef struct profile {
    Bench__Trace__Event events[MOST_KERNELS], *event_list[MOST_KERNELS];
    Bench__Trace__Stat stats[MOST_KERNELS][2], *stat_list[MOST_KERNELS][2];
    Bench__Trace__Stat scopes[MOST_SCOPES], *scope_list[MOST_SCOPES];
    Bench__Trace__Name names[STAT_NAMES];
    Bench__Trace__NameEntry entries[STAT_NAMES], *entry_list[STAT_NAMES];
    Bench__Trace__Line lines[2], *line_list[2];
    Bench__Trace__Plane planes[2], *plane_list[2];
    Bench__Trace__Space space;
} profile;

static char gpu[] = "/device:GPU:0", callers[] = "/host:__ScopeRangeCallStack__",
            stream[] = "Stream #14(Compute)", modules[] = "XLA Modules", host[] = "/host:CPU";
static char module_stat[] = "hlo_module", scope_stat[] = "scope_range_id", step[] = "jit_step",
            other[] = "jit_other";

static void begin(profile *p)
{
    char *const words[STAT_NAMES] = {module_stat, scope_stat, step, other};
    bench__trace__space__init(&p->space);
    for (size_t i = 0; i < STAT_NAMES; i++) {
        bench__trace__name__init(&p->names[i]);
        bench__trace__name_entry__init(&p->entries[i]);
        p->names[i].id = p->entries[i].id = (int64_t)i + 1;
        p->names[i].name = words[i];
        p->entries[i].value = &p->names[i];
        p->entry_list[i] = &p->entries[i];
    }
    for (size_t i = 0; i < 2; i++) {
        bench__trace__line__init(&p->lines[i]);
        bench__trace__plane__init(&p->planes[i]);
        p->line_list[i] = &p->lines[i];
        p->plane_list[i] = &p->planes[i];
    }
    p->lines[0].name = stream;
    p->lines[0].start_ns = 1000;
    p->lines[0].events = p->event_list;
    p->lines[1].name = modules;
    p->planes[0].name = gpu;
    p->planes[0].n_lines = 1;
    p->planes[0].lines = p->line_list;
    p->planes[0].n_stat_names = STAT_NAMES;
    p->planes[0].stat_names = p->entry_list;
    p->planes[1].name = callers;
    p->planes[1].stats = p->scope_list;
    p->space.n_planes = 2;
    p->space.planes = p->plane_list;
}

/* Scope ID lies within AROUND. */
static void put_scope(profile *p, int64_t id, int64_t around)
{
    const size_t n = p->planes[1].n_stats++;
    bench__trace__stat__init(&p->scopes[n]);
    p->scopes[n].name_id = id;
    p->scopes[n].int_value = around;
    p->scopes[n].number_of_case = BENCH__TRACE__STAT__NUMBER_OF_INT_VALUE;
    p->scope_list[n] = &p->scopes[n];
}

/* A kernel of the program that the name STEP or OTHER says; 0: of none. SCOPE_ID 0: of no scope. */
static void put_kernel(profile *p, uint64_t module, int64_t scope_id, int64_t at_ns, int64_t ns)
{
    const size_t n = p->lines[0].n_events++;
    Bench__Trace__Event *e = &p->events[n];
    bench__trace__event__init(e);
    e->offset_ps = at_ns * 1000;
    e->duration_ps = ns * 1000;
    for (size_t i = 0; i < 2; i++) {
        bench__trace__stat__init(&p->stats[n][i]);
        p->stats[n][i].name_id = i ? SCOPE : MODULE;
        p->stat_list[n][i] = &p->stats[n][i];
    }
    p->stats[n][0].ref = module;
    p->stats[n][1].int_value = scope_id;
    p->stats[n][1].number_of_case = BENCH__TRACE__STAT__NUMBER_OF_INT_VALUE;
    e->stats = module ? &p->stat_list[n][0] : &p->stat_list[n][1];
    e->n_stats = (module ? 1u : 0u) + (scope_id || !module ? 1u : 0u);
    p->event_list[n] = e;
}

/* "name start+duration busy/kernels, ..." */
static const char *spans_of(const profile *p)
{
    static bn_text out;
    bn_status st = {0};
    const size_t size = bench__trace__space__get_packed_size(&p->space);
    uint8_t *packed = malloc(size + 1);
    rt_device_span *spans = NULL;
    size_t count = 0;
    assert_non_null(packed);
    bench__trace__space__pack(&p->space, packed);
    assert_ok(rt_xspace_device_spans(packed, size, &spans, &count, &st), &st);
    bn_text_clear(&out);
    for (size_t i = 0; i < count; i++)
        bn_text_printf(&out, "%s%s %llu+%llu %llu/%zu", i ? ", " : "", spans[i].name,
                       (unsigned long long)spans[i].start_ns,
                       (unsigned long long)spans[i].duration_ns,
                       (unsigned long long)spans[i].busy_ns, spans[i].kernels);
    free(packed);
    free(spans);
    return out.data ? out.data : "";
}

static void kernels_of_one_scope_are_one_execution(void **state)
{
    (void)state;
    profile p = {0};
    begin(&p);
    put_scope(&p, 12, 11); /* launches within the executions 11 and 21 */
    put_scope(&p, 13, 11);
    put_scope(&p, 22, 21);
    put_kernel(&p, STEP, 22, 500, 40); /* not in order */
    put_kernel(&p, STEP, 12, 100, 20);
    put_kernel(&p, STEP, 13, 110, 30); /* on another stream, while the one before runs */
    put_kernel(&p, STEP, 13, 170, 30);
    put_kernel(&p, OTHER, 31, 300, 7); /* a scope that lies in none */
    assert_string_equal(spans_of(&p),
                        "jit_step 1100+100 70/3, jit_other 1300+7 7/1, jit_step 1500+40 40/1");
}

static void programs_in_one_scope_stay_apart(void **state)
{
    (void)state;
    profile p = {0};
    begin(&p);
    put_kernel(&p, STEP, 5, 0, 10);
    put_kernel(&p, OTHER, 5, 20, 10);
    assert_string_equal(spans_of(&p), "jit_step 1000+10 10/1, jit_other 1020+10 10/1");
}

static void what_nobody_claims_is_left_out(void **state)
{
    (void)state;
    profile p = {0};
    begin(&p);
    put_kernel(&p, 0, 5, 0, 10);     /* of no program: a copy by the framework */
    put_kernel(&p, STEP, 0, 20, 10); /* in no scope */
    put_kernel(&p, 77, 5, 40, 10);   /* a name that is not there */
    put_kernel(&p, STEP, 6, 60, 10);
    p.events[3].occurrences = 3; /* a sum of many has no place in time */
    assert_string_equal(spans_of(&p), "");
    p.events[3].occurrences = 0;
    assert_string_equal(spans_of(&p), "jit_step 1060+10 10/1");
    p.planes[0].name = host;
    assert_string_equal(spans_of(&p), "");
}

static void a_line_of_executions_is_believed(void **state)
{
    (void)state;
    profile p = {0};
    begin(&p);
    put_kernel(&p, STEP, 5, 0, 10);
    p.planes[0].n_lines = 2;
    assert_string_equal(spans_of(&p), "");
}

static void circles_of_scopes_end(void **state)
{
    (void)state;
    profile p = {0};
    begin(&p);
    put_scope(&p, 1, 2);
    put_scope(&p, 2, 1);
    put_kernel(&p, STEP, 1, 0, 10);
    assert_string_equal(spans_of(&p), "jit_step 1000+10 10/1");
}

/* Four executions of a step of JAX on an H100, as XLA 0.11.2 reported them, 25 kernels in a CUDA
 * graph each. Their bytes were not made here. */
static void a_real_profile_is_read(void **state)
{
    (void)state;
    static const uint64_t busy_ns[] = {64865, 65089, 64865, 65121};
    bn_status st = {0};
    char *bytes = NULL;
    size_t size = 0, count = 0;
    rt_device_span *spans = NULL;
    assert_ok(bn_regular_read("tests/fuzz/corpus/xspace/h100", &bytes, &size, &st), &st);
    assert_ok(rt_xspace_device_spans(bytes, size, &spans, &count, &st), &st);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(spans[i].name, "jit_bench_step");
        assert_int_equal(spans[i].kernels, 25);
        assert_int_equal(spans[i].busy_ns, busy_ns[i]);
        assert_in_range(spans[i].duration_ns, 67553, 68033);
    }
    free(spans);
    free(bytes);
}

/* How many spans SIZE bytes tell; -1: they are not a profile. */
static int spans_in(const void *bytes, size_t size)
{
    bn_status st = {0};
    rt_device_span *spans = NULL;
    size_t count = 0;
    const bn_code code = rt_xspace_device_spans(bytes, size, &spans, &count, &st);
    assert_true(code == BN_OK || code == BN_FORMAT);
    free(spans);
    return code == BN_OK ? (int)count : -1;
}

static void a_zero_too_many_is_no_field(void **state)
{
    (void)state;
    profile p = {0};
    begin(&p);
    put_kernel(&p, STEP, 5, 0, 10);
    const size_t size = bench__trace__space__get_packed_size(&p.space);
    uint8_t *packed = calloc(size + 2, 1);
    assert_non_null(packed);
    bench__trace__space__pack(&p.space, packed);
    assert_int_equal(spans_in(packed, size), 1);
    assert_int_equal(spans_in(packed, size + 1), 1);
    assert_int_equal(spans_in(packed, size + 2), -1); /* damage stays as it is */
    free(packed);
    assert_int_equal(spans_in("\x38\x00", 2), 0); /* field 7, whose value is 0 */
    assert_int_equal(spans_in("", 1), 0);
    assert_int_equal(spans_in("\xff", 1), -1);
    assert_int_equal(spans_in("", 0), 0);
}

/* Puts the number of a message's field and its length before the SIZE bytes at the END of a block;
 * returns how many these are then. */
static size_t wrap(uint8_t *end, size_t size, uint8_t field)
{
    uint8_t head[8];
    size_t n = 0;
    head[n++] = (uint8_t)(field << 3 | 2);
    for (size_t left = size; n < sizeof head; left >>= 7) {
        head[n++] = (uint8_t)((left & 127) | (left > 127 ? 128 : 0));
        if (left <= 127)
            break;
    }
    memcpy(end - size - n, head, n);
    return size + n;
}

/* Two bytes that say an event with nothing in it take 80 bytes of memory, and more to be read. */
static void small_bytes_that_take_much_memory_are_refused(void **state)
{
    (void)state;
    enum { EVENTS = 1000000, ROOM = 2 * EVENTS + 64 };
    bn_status st = {0};
    rt_device_span *spans = NULL;
    size_t count = 0, size = 2 * EVENTS;
    uint8_t *bytes = calloc(ROOM, 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < EVENTS; i++)
        bytes[ROOM - size + 2 * i] = 4 << 3 | 2;
    size = wrap(bytes + ROOM, size, 3); /* a line */
    size = wrap(bytes + ROOM, size, 1); /* a plane */
    assert_fails(rt_xspace_device_spans(bytes + ROOM - size, size, &spans, &count, &st), BN_FORMAT,
                 "too much memory", &st);
    free(bytes);
}

static void a_name_without_end_is_none(void **state)
{
    (void)state;
    static char name[6000];
    profile p = {0};
    memset(name, 'a', sizeof name - 1);
    begin(&p);
    put_kernel(&p, STEP, 5, 0, 10);
    p.names[STEP - 1].name = name;
    assert_string_equal(spans_of(&p), "");
    name[4096] = '\0';
    assert_true(strlen(spans_of(&p)) > 127);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_one_scope_are_one_execution),
        cmocka_unit_test(programs_in_one_scope_stay_apart),
        cmocka_unit_test(what_nobody_claims_is_left_out),
        cmocka_unit_test(a_line_of_executions_is_believed),
        cmocka_unit_test(circles_of_scopes_end),
        cmocka_unit_test(a_real_profile_is_read),
        cmocka_unit_test(a_zero_too_many_is_no_field),
        cmocka_unit_test(small_bytes_that_take_much_memory_are_refused),
        cmocka_unit_test(a_name_without_end_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
