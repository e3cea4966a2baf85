/*
 * test_profile_ops.c - times of ops in profiles that are made here: names, ops within ops, planes
 * and lines that do not count.
 */
#include "runtime/profile/profile.h"
#include "runtime/profile/xspace.pb-c.h"
#include "tests/support/test_runtime.h"

#include <stdlib.h>

#define NAMES 4
#define MOST  8

/* A device's profile in the making: all parts in one block. Statistic 3 is tf_op, 9 the name
 * "shared/op". */
typedef struct profile {
    Rt__Profile__Event events[MOST], *event_list[MOST];
    Rt__Profile__Stat stats[NAMES + MOST], *stat_list[NAMES + MOST];
    Rt__Profile__EventName names[NAMES];
    Rt__Profile__EventNameEntry entries[NAMES], *entry_list[NAMES];
    Rt__Profile__StatName stat_names[2];
    Rt__Profile__StatNameEntry stat_entries[2], *stat_entry_list[2];
    Rt__Profile__Line line, *line_list[1];
    Rt__Profile__Plane plane, *plane_list[1];
    Rt__Profile__Space space;
    size_t count;
} profile;

static char shared_name[] = "shared/op", tf_op[] = "tf_op", ops_line[] = "XLA Ops",
            device[] = "/device:TPU:0";

static void begin(profile *p)
{
    rt__profile__space__init(&p->space);
    rt__profile__plane__init(&p->plane);
    rt__profile__line__init(&p->line);
    p->count = 0;
    for (size_t i = 0; i < 2; i++) {
        rt__profile__stat_name__init(&p->stat_names[i]);
        rt__profile__stat_name_entry__init(&p->stat_entries[i]);
        p->stat_names[i].name = i ? shared_name : tf_op;
        p->stat_names[i].id = p->stat_entries[i].id = i ? 9 : 3;
        p->stat_entries[i].value = &p->stat_names[i];
        p->stat_entry_list[i] = &p->stat_entries[i];
    }
    for (size_t i = 0; i < NAMES; i++) {
        rt__profile__event_name__init(&p->names[i]);
        rt__profile__event_name_entry__init(&p->entries[i]);
        p->names[i].id = p->entries[i].id = (int64_t)(NAMES - i);
        p->entries[i].value = &p->names[i];
        p->entry_list[i] = &p->entries[i];
    }
    p->line.name = ops_line;
    p->line.events = p->event_list;
    p->line_list[0] = &p->line;
    p->plane = (Rt__Profile__Plane){.base = p->plane.base,
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

static Rt__Profile__Stat **set_stat(profile *p, size_t at, char *text, uint64_t ref)
{
    rt__profile__stat__init(&p->stats[at]);
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
    Rt__Profile__EventName *name = &p->names[NAMES - id];
    name->stats = set_stat(p, (size_t)(NAMES - id), text, ref);
    name->n_stats = 1;
}

static Rt__Profile__Event *add(profile *p, int64_t kind, int64_t offset, int64_t duration)
{
    Rt__Profile__Event *e = &p->events[p->count];
    rt__profile__event__init(e);
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
    const size_t size = rt__profile__space__get_packed_size(&p->space);
    uint8_t *packed = malloc(size + 1);
    rt_op_time *list = NULL;
    size_t count = 0;
    assert_non_null(arena);
    assert_non_null(packed);
    rt__profile__space__pack(&p->space, packed);
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
    Rt__Profile__Event *event = add(&p, 1, 200, 7);
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
        cmocka_unit_test(foreign_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
