/*
 * test_profile_ops.c - times of ops in profiles that are made here: names, ops within ops, planes
 * and lines that do not count, kernels of a GPU.
 */
#include "runtime/profile/profile.h"
#include "runtime/wire/hlo.pb-c.h"
#include "runtime/wire/xspace.pb-c.h"
#include "tests/support/test_runtime.h"

#include <stdlib.h>

#define NAMES 4
#define MOST  8

/* A device's profile in the making: all parts in one block. Statistic 3 is tf_op, 9 the name
 * "shared/op". */
typedef struct profile {
    Bench__Trace__Event events[MOST], *event_list[MOST];
    Bench__Trace__Stat stats[NAMES + MOST], *stat_list[NAMES + MOST];
    Bench__Trace__Name names[NAMES];
    Bench__Trace__NameEntry entries[NAMES], *entry_list[NAMES];
    Bench__Trace__Name stat_names[2];
    Bench__Trace__NameEntry stat_entries[2], *stat_entry_list[2];
    Bench__Trace__Line line, *line_list[1];
    Bench__Trace__Plane plane, *plane_list[1];
    Bench__Trace__Space space;
    size_t count;
} profile;

static char shared_name[] = "shared/op", tf_op[] = "tf_op", ops_line[] = "XLA Ops",
            device[] = "/device:TPU:0";

static void begin(profile *p)
{
    bench__trace__space__init(&p->space);
    bench__trace__plane__init(&p->plane);
    bench__trace__line__init(&p->line);
    p->count = 0;
    for (size_t i = 0; i < 2; i++) {
        bench__trace__name__init(&p->stat_names[i]);
        bench__trace__name_entry__init(&p->stat_entries[i]);
        p->stat_names[i].name = i ? shared_name : tf_op;
        p->stat_names[i].id = p->stat_entries[i].id = i ? 9 : 3;
        p->stat_entries[i].value = &p->stat_names[i];
        p->stat_entry_list[i] = &p->stat_entries[i];
    }
    for (size_t i = 0; i < NAMES; i++) {
        bench__trace__name__init(&p->names[i]);
        bench__trace__name_entry__init(&p->entries[i]);
        p->names[i].id = p->entries[i].id = (int64_t)(NAMES - i);
        p->entries[i].value = &p->names[i];
        p->entry_list[i] = &p->entries[i];
    }
    p->line.name = ops_line;
    p->line.events = p->event_list;
    p->line_list[0] = &p->line;
    p->plane = (Bench__Trace__Plane){.base = p->plane.base,
                                     .name = device,
                                     .n_lines = 1,
                                     .lines = p->line_list,
                                     .n_event_names = NAMES,
                                     .event_names = p->entry_list,
                                     .n_stat_names = 2,
                                     .stat_names = p->stat_entry_list};
    p->plane_list[0] = &p->plane;
    p->space.planes = p->plane_list;
    p->space.n_planes = 1;
}

static Bench__Trace__Stat **set_stat(profile *p, size_t at, char *text, uint64_t ref)
{
    bench__trace__stat__init(&p->stats[at]);
    p->stats[at].name_id = 3;
    if (text)
        p->stats[at].text = text;
    p->stats[at].ref = ref;
    p->stat_list[at] = &p->stats[at];
    return &p->stat_list[at];
}

/* All events of the kind ID, 1 to NAMES, are of this op. */
static void name_kind(profile *p, int64_t id, char *text, uint64_t ref)
{
    Bench__Trace__Name *name = &p->names[NAMES - id];
    name->stats = set_stat(p, (size_t)(NAMES - id), text, ref);
    name->n_stats = 1;
}

static Bench__Trace__Event *add(profile *p, int64_t kind, int64_t offset, int64_t duration)
{
    Bench__Trace__Event *e = &p->events[p->count];
    bench__trace__event__init(e);
    e->name_id = kind;
    e->offset_ps = offset;
    e->duration_ps = duration;
    p->event_list[p->count++] = e;
    p->line.n_events = p->count;
    return e;
}

/* "name=ps/events ..." */
static const char *times(const profile *p)
{
    static bn_text out;
    bn_status st = {0};
    bn_arena *arena = bn_arena_new(1024);
    const size_t size = bench__trace__space__get_packed_size(&p->space);
    uint8_t *packed = malloc(size + 1);
    rt_op_time *list = NULL;
    size_t count = 0;
    assert_non_null(arena);
    assert_non_null(packed);
    bench__trace__space__pack(&p->space, packed);
    assert_ok(rt_xspace_op_times(packed, size, arena, &list, &count, &st), &st);
    bn_text_clear(&out);
    for (size_t i = 0; i < count; i++)
        bn_text_printf(&out, "%s%s=%llu/%zu", i ? " " : "", list[i].name,
                       (unsigned long long)list[i].ps, list[i].events);
    free(packed);
    bn_arena_free(arena);
    return out.data ? out.data : "";
}

static void names_come_from_events_and_from_their_kind(void **state)
{
    (void)state;
    profile p;
    char of_kind[] = "layer1/dot", own[] = "backward/layer1/dot";
    begin(&p);
    name_kind(&p, 1, of_kind, 0);
    name_kind(&p, 2, NULL, 9);
    add(&p, 1, 0, 100);
    add(&p, 2, 100, 20); /* its name is that of statistic 9 */
    Bench__Trace__Event *event = add(&p, 1, 200, 7);
    event->stats = set_stat(&p, NAMES, own, 0);
    event->n_stats = 1;
    add(&p, 3, 300, 5);  /* a kind without a statistic */
    add(&p, 77, 400, 1); /* a kind that is not there */
    add(&p, 1, 500, 50);
    assert_string_equal(times(&p), "=6/2 backward/layer1/dot=7/1 layer1/dot=150/2 shared/op=20/1");
}

static void what_lies_within_an_op_is_not_counted_twice(void **state)
{
    (void)state;
    profile p;
    char loop[] = "loop/while", round[] = "loop/inner/add";
    begin(&p);
    name_kind(&p, 1, loop, 0);
    name_kind(&p, 2, round, 0);
    add(&p, 2, 110, 40); /* not in order */
    add(&p, 2, 150, 30);
    add(&p, 1, 100, 100);
    add(&p, 2, 200, 10); /* behind the loop */
    assert_string_equal(times(&p), "loop/inner/add=80/3 loop/while=30/1");
}

static void other_lines_and_planes_do_not_count(void **state)
{
    (void)state;
    profile p;
    char host[] = "/host:CPU", modules[] = "XLA Modules";
    begin(&p);
    add(&p, 1, 0, 100);
    assert_string_equal(times(&p), "=100/1");
    p.plane.name = host;
    assert_string_equal(times(&p), "");
    p.plane.name = device;
    p.line.name = modules;
    assert_string_equal(times(&p), "");
    p.line.name = ops_line;
    p.events[0].occurrences = 5; /* a sum of many has no place in time */
    assert_string_equal(times(&p), "");
}

/* ---- kernels ---- */

/* The program jit_step(7) with two instructions, one of which has an op, into BYTES. */
static size_t put_program(uint8_t bytes[256])
{
    char add[] = "add.1", copy[] = "copy.2", op[] = "layer1/add";
    Hlo__Wire__Metadata metadata = HLO__WIRE__METADATA__INIT;
    Hlo__Wire__Instruction instructions[2] = {HLO__WIRE__INSTRUCTION__INIT,
                                              HLO__WIRE__INSTRUCTION__INIT};
    Hlo__Wire__Instruction *list[2] = {&instructions[0], &instructions[1]};
    Hlo__Wire__Computation computation = HLO__WIRE__COMPUTATION__INIT, *computations[1];
    Hlo__Wire__Module module = HLO__WIRE__MODULE__INIT;
    Hlo__Wire__Configured program = HLO__WIRE__CONFIGURED__INIT;
    metadata.op_name = op;
    instructions[0].name = add;
    instructions[0].metadata = &metadata;
    instructions[1].name = copy;
    computation.instructions = list;
    computation.n_instructions = 2;
    computations[0] = &computation;
    module.computations = computations;
    module.n_computations = 1;
    program.module = &module;
    assert_true(hlo__wire__configured__get_packed_size(&program) <= 256);
    return hlo__wire__configured__pack(&program, bytes);
}

/* A GPU's plane in place of P's, with kernels of INSTRUCTIONS (text), each of its own ps, and a
 * plane with the programs. */
typedef struct gpu {
    Bench__Trace__Stat stats[MOST][3], *stat_list[MOST][3], program;
    Bench__Trace__Stat *program_list[1];
    Bench__Trace__Name names[3];
    Bench__Trace__NameEntry entries[3], *entry_list[3];
    Bench__Trace__Name program_name;
    Bench__Trace__NameEntry program_entry, *program_entry_list[1];
    Bench__Trace__Plane metadata, *planes[2];
    uint8_t bytes[256];
} gpu;

static void put_kernel(profile *p, gpu *g, char *module, int64_t number, char *instruction,
                       int64_t ps)
{
    const size_t n = p->count;
    Bench__Trace__Event *event = add(p, 1, (int64_t)n * 100, ps);
    for (size_t i = 0; i < 3; i++) {
        bench__trace__stat__init(&g->stats[n][i]);
        g->stats[n][i].name_id = (int64_t)i + 1;
        g->stat_list[n][i] = &g->stats[n][i];
    }
    g->stats[n][0].text = module;
    g->stats[n][1].int_value = number;
    g->stats[n][1].number_of_case = BENCH__TRACE__STAT__NUMBER_OF_INT_VALUE;
    g->stats[n][2].text = instruction;
    event->stats = g->stat_list[n];
    event->n_stats = 3;
}

static void begin_gpu(profile *p, gpu *g)
{
    static char stream[] = "Stream #1(Compute)", host[] = "/host:metadata", name[] = "jit_step(7)";
    static char words[3][16] = {"hlo_module", "program_id", "hlo_op"};
    begin(p);
    p->line.name = stream;
    for (size_t i = 0; i < 3; i++) {
        bench__trace__name__init(&g->names[i]);
        bench__trace__name_entry__init(&g->entries[i]);
        g->names[i].name = words[i];
        g->names[i].id = g->entries[i].id = (int64_t)i + 1;
        g->entries[i].value = &g->names[i];
        g->entry_list[i] = &g->entries[i];
    }
    p->plane.stat_names = g->entry_list;
    p->plane.n_stat_names = 3;
    bench__trace__stat__init(&g->program);
    bench__trace__name__init(&g->program_name);
    bench__trace__name_entry__init(&g->program_entry);
    bench__trace__plane__init(&g->metadata);
    g->program.data.data = g->bytes;
    g->program.data.len = put_program(g->bytes);
    g->program_list[0] = &g->program;
    g->program_name.name = name;
    g->program_name.stats = g->program_list;
    g->program_name.n_stats = 1;
    g->program_entry.value = &g->program_name;
    g->program_entry_list[0] = &g->program_entry;
    g->metadata.name = host;
    g->metadata.event_names = g->program_entry_list;
    g->metadata.n_event_names = 1;
    g->planes[0] = &p->plane;
    g->planes[1] = &g->metadata;
    p->space.planes = g->planes;
    p->space.n_planes = 2;
}

static void kernels_have_the_op_of_their_instruction(void **state)
{
    (void)state;
    profile p;
    gpu g = {0};
    char step[] = "jit_step", none[] = "", add_1[] = "add.1", copy[] = "copy.2", odd[] = "odd";
    begin_gpu(&p, &g);
    put_kernel(&p, &g, step, 7, add_1, 100);
    put_kernel(&p, &g, step, 7, add_1, 20);
    put_kernel(&p, &g, step, 7, copy, 3);  /* an instruction without an op */
    put_kernel(&p, &g, step, 8, add_1, 4); /* another program of that name */
    put_kernel(&p, &g, step, 7, odd, 5);   /* an instruction that is not there */
    put_kernel(&p, &g, none, 7, add_1, 9); /* of no program */
    assert_string_equal(times(&p), "=12/3 layer1/add=120/2");
    g.bytes[0] = 0xff; /* a program that cannot be read has no names */
    assert_string_equal(times(&p), "=132/5");
}

static void sums_do_not_wrap(void **state)
{
    (void)state;
    profile p;
    char of_kind[] = "op";
    begin(&p);
    name_kind(&p, 1, of_kind, 0);
    add(&p, 1, 0, INT64_MAX);
    Bench__Trace__Plane *planes[] = {&p.plane, &p.plane, &p.plane};
    p.space.planes = planes;
    p.space.n_planes = 3;
    assert_string_equal(times(&p), "op=18446744073709551615/3");
}

static void foreign_bytes_are_refused(void **state)
{
    (void)state;
    bn_status st = {0};
    bn_arena *arena = bn_arena_new(1024);
    rt_op_time *list = NULL;
    size_t count = 7;
    assert_fails(rt_xspace_op_times("\xff\xff\xff", 3, arena, &list, &count, &st), BN_FORMAT,
                 "XSpace", &st);
    assert_ok(rt_xspace_op_times("", 0, arena, &list, &count, &st), &st);
    assert_int_equal(count, 0);
    bn_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_come_from_events_and_from_their_kind),
        cmocka_unit_test(what_lies_within_an_op_is_not_counted_twice),
        cmocka_unit_test(other_lines_and_planes_do_not_count),
        cmocka_unit_test(kernels_have_the_op_of_their_instruction),
        cmocka_unit_test(sums_do_not_wrap),
        cmocka_unit_test(foreign_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
