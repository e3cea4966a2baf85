/*
 * test_profiles.c - the file of a recorded process's profile: figures of programs, and files that
 * tell nothing. Kernels: see tests/runtime/profile/test_profile_spans.c.
 */
#define _GNU_SOURCE
#include "results/profiles/profiles.h"
#include "runtime/record/format.h"
#include "runtime/wire/xspace.pb-c.h"
#include "tests/support/test_runtime.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST 8

/* A device's line of executions in the making. */
typedef struct making {
    Bench__Trace__Event events[MOST], *event_list[MOST];
    Bench__Trace__Name names[MOST];
    Bench__Trace__NameEntry entries[MOST], *entry_list[MOST];
    Bench__Trace__Line line, *line_list[1];
    Bench__Trace__Plane plane, *plane_list[1];
    Bench__Trace__Space space;
} making;

static void begin(making *m)
{
    static char modules[] = "XLA Modules", device[] = "/device:TPU:0";
    bench__trace__space__init(&m->space);
    bench__trace__plane__init(&m->plane);
    bench__trace__line__init(&m->line);
    m->line.name = modules;
    m->line.events = m->event_list;
    m->line_list[0] = &m->line;
    m->plane.name = device;
    m->plane.n_lines = 1;
    m->plane.lines = m->line_list;
    m->plane.event_names = m->entry_list;
    m->plane_list[0] = &m->plane;
    m->space.n_planes = 1;
    m->space.planes = m->plane_list;
}

/* An execution of NAME, which took NS. */
static void add(making *m, char *name, int64_t ns)
{
    const size_t n = m->line.n_events++;
    bench__trace__event__init(&m->events[n]);
    bench__trace__name__init(&m->names[n]);
    bench__trace__name_entry__init(&m->entries[n]);
    m->events[n].name_id = m->names[n].id = m->entries[n].id = (int64_t)n + 1;
    m->events[n].offset_ps = (int64_t)n * 1000000;
    m->events[n].duration_ps = ns * 1000;
    m->names[n].name = name;
    m->entries[n].value = &m->names[n];
    m->event_list[n] = &m->events[n];
    m->entry_list[n] = &m->entries[n];
    m->plane.n_event_names = m->line.n_events;
}

static record_profile head_of(size_t size)
{
    return (record_profile){.magic = RECORD_PROFILE_MAGIC,
                            .version = RECORD_VERSION,
                            .plugin = 1,
                            .begin_ns = 100,
                            .started_ns = 200,
                            .stop_ns = 800,
                            .end_ns = 900,
                            .size = size,
                            .executions = 7};
}

/* Reads a file of HEAD and SIZE BYTES, of which LESS are cut off. */
static bn_code read_file(const record_profile *head, const void *bytes, size_t size, size_t less,
                         rec_profile *profile, bn_status *st)
{
    char path[] = "/tmp/test_profiles.XXXXXX";
    assert_non_null(mkdtemp(path));
    const int folder = open(path, O_RDONLY | O_DIRECTORY);
    const int fd = openat(folder, "profile", O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, head, sizeof *head), sizeof *head);
    assert_int_equal(write(fd, bytes, size), size);
    assert_int_equal(ftruncate(fd, (off_t)(sizeof *head + size - less)), 0);
    close(fd);
    const bn_code code = rec_profile_read(folder, profile, st);
    unlinkat(folder, "profile", 0);
    close(folder);
    rmdir(path);
    return code;
}

static rec_profile read_back(const record_profile *head, const void *bytes, size_t size)
{
    bn_status st = {0};
    rec_profile profile;
    assert_ok(read_file(head, bytes, size, 0, &profile, &st), &st);
    return profile;
}

static rec_profile profile_of(const making *m)
{
    const size_t size = bench__trace__space__get_packed_size(&m->space);
    uint8_t *packed = malloc(size + 1);
    assert_non_null(packed);
    bench__trace__space__pack(&m->space, packed);
    const record_profile head = head_of(size);
    const rec_profile profile = read_back(&head, packed, size);
    free(packed);
    return profile;
}

static void programs_have_medians_over_their_executions(void **state)
{
    (void)state;
    making m = {0};
    char step[] = "jit_step(7)", same[] = "jit_step(9f)", other[] = "jit(other)";
    begin(&m);
    add(&m, step, 300);
    add(&m, other, 50);
    add(&m, same, 100);
    add(&m, step, 200);
    rec_profile p = profile_of(&m);
    assert_true(p.asked);
    assert_string_equal(p.why, "");
    assert_int_equal(p.asked_for, 7);
    assert_int_equal(p.executions, 4);
    assert_int_equal(p.plugin, 1);
    assert_int_equal(p.begin_ns, 100);
    assert_int_equal(p.end_ns, 900);
    assert_int_equal(p.program_count, 2);
    const rec_profile_program *program = rec_profile_find(&p, "jit_step");
    assert_non_null(program);
    assert_int_equal(program->executions, 3);
    assert_true(program->busy_ns == 200 && program->low_ns == 100 && program->high_ns == 300);
    assert_true(program->span_ns == 200 && program->kernels == 0);
    assert_non_null(rec_profile_find(&p, "jit(other)")); /* no number */
    assert_null(rec_profile_find(&p, "jit_ste"));
    rec_profile_free(&p);
}

/* Executions begin each 1000 ns from 0 on by the profile's clock. */
/* An op has no executions, and its name is that of its location. */
static void ops_are_summed_by_name(void **state)
{
    static char ops[] = "XLA Ops", tf_op[] = "tf_op", dot[] = "fusion.1", name[] = "a/\x1b/dot";
    Bench__Trace__Line line, *lines[2];
    Bench__Trace__Event event[2], *events[2];
    Bench__Trace__Stat stat, *stats[] = {&stat};
    Bench__Trace__Name stat_name;
    Bench__Trace__NameEntry stat_entry, *stat_entries[] = {&stat_entry};
    static making m;
    (void)state;
    begin(&m);
    add(&m, (char *)"jit_step(7)", 3000);
    add(&m, dot, 0); /* gives the name; the event goes to the other line */
    m.line.n_events = 1;
    bench__trace__line__init(&line);
    bench__trace__stat__init(&stat);
    bench__trace__name__init(&stat_name);
    bench__trace__name_entry__init(&stat_entry);
    stat_name.name = tf_op;
    stat_name.id = stat_entry.id = stat.name_id = 3;
    stat_entry.value = &stat_name;
    stat.text = name;
    m.names[1].stats = stats;
    m.names[1].n_stats = 1;
    m.plane.stat_names = stat_entries;
    m.plane.n_stat_names = 1;
    for (int i = 0; i < 2; i++) {
        bench__trace__event__init(&event[i]);
        event[i].name_id = 2;
        event[i].offset_ps = i * 1000000;
        event[i].duration_ps = 500000;
        events[i] = &event[i];
    }
    line.name = ops;
    line.events = events;
    line.n_events = 2;
    lines[0] = &m.line;
    lines[1] = &line;
    m.plane.lines = lines;
    m.plane.n_lines = 2;
    rec_profile profile = profile_of(&m);
    assert_int_equal(profile.program_count, 1);
    assert_int_equal(profile.op_count, 1);
    assert_true(profile.ops[0].ns == 1000);
    assert_true(bn_is_plain(profile.ops[0].name) && strstr(profile.ops[0].name, "dot"));
    rec_profile_free(&profile);
}

static void the_clock_is_one_of_two(void **state)
{
    (void)state;
    making m = {0};
    char step[] = "jit_step(7)", other[] = "jit_other(8)";
    int64_t offset = -1;
    begin(&m);
    m.line.start_ns = 5000000300;
    add(&m, step, 300);
    add(&m, other, 50);
    rec_profile p = profile_of(&m);
    assert_int_equal(p.span_count, 2);
    assert_int_equal(p.spans[0].start_ns, 5000000300);
    assert_int_equal(p.spans[0].duration_ns, 300);
    assert_string_equal(p.programs[p.spans[1].program].name, "jit_other");
    assert_false(rec_profile_clock(&p, 1000, 5000001000, &offset)); /* the second behind the end */
    p.end_ns = 2000;
    assert_true(rec_profile_clock(&p, 1000, 5000001000, &offset));
    assert_int_equal(offset, -5000000000);
    assert_false(rec_profile_clock(&p, 1000, 6000001000, &offset));
    p.begin_ns = 5000000000;
    p.end_ns = 5000002000;
    assert_true(rec_profile_clock(&p, 1000, 6000001000, &offset));
    assert_int_equal(offset, 0);
    rec_profile_free(&p);
    assert_false(rec_profile_clock(&p, 1000, 1000, &offset));
}

static void names_become_plain(void **state)
{
    (void)state;
    making m = {0};
    char evil[] = "a\x1b[31m\nb";
    begin(&m);
    add(&m, evil, 5);
    rec_profile p = profile_of(&m);
    assert_int_equal(p.program_count, 1);
    assert_true(bn_is_plain(p.programs[0].name));
    rec_profile_free(&p);
}

static void each_missing_profile_has_its_reason(void **state)
{
    (void)state;
    static const uint32_t reasons[] = {RECORD_NO_PROFILER,
                                       RECORD_PROFILER_REFUSED,
                                       RECORD_PROFILE_LOST,
                                       RECORD_PROFILE_RUNS,
                                       RECORD_PROFILE_NO_ROOM,
                                       RECORD_PROFILE_UNWRITTEN,
                                       77};
    enum { REASONS = sizeof reasons / sizeof *reasons };
    char why[REASONS][sizeof((rec_profile *)0)->why];
    for (size_t i = 0; i < REASONS; i++) {
        record_profile head = head_of(0);
        head.why = reasons[i];
        rec_profile p = read_back(&head, "", 0);
        snprintf(why[i], sizeof why[i], "%s", p.why);
        assert_string_not_equal(why[i], "");
        for (size_t other = 0; other < i; other++)
            assert_string_not_equal(why[i], why[other]);
        assert_int_equal(p.program_count, 0);
        /* Where it ran, the program was slowed down all the same. */
        const bool ran = reasons[i] != RECORD_NO_PROFILER && reasons[i] != RECORD_PROFILER_REFUSED;
        assert_true(p.begin_ns == (ran ? 100 : 0) && p.end_ns == (ran ? 900 : 0));
        rec_profile_free(&p);
    }
    making m = {0};
    begin(&m);
    rec_profile p = profile_of(&m);
    assert_string_not_equal(p.why, "");
    rec_profile_free(&p);
}

/* Behind a good head it costs the profile only: which steps the profiler slowed down is known. */
static void damage_is_said(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        record_profile head = head_of(3);
        head.size += i == 0;
        rec_profile p = read_back(&head, "\xff\xff\xff", 3);
        assert_string_not_equal(p.why, "");
        assert_true(p.begin_ns == 100 && p.end_ns == 900);
        rec_profile_free(&p);
    }
}

static void a_damaged_head_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        record_profile head = head_of(3);
        bn_status st = {0};
        rec_profile p;
        head.magic[0] ^= i == 0;
        head.version += i == 1;
        head.end_ns -= i == 2 ? 801 : 0;
        const size_t less = i == 3 ? 4 : i == 4 ? 3 + sizeof head : 0;
        assert_int_equal(read_file(&head, "\xff\xff\xff", 3, less, &p, &st), BN_FORMAT);
        assert_non_null(strstr(st.message, "profile: "));
    }
}

static void no_execution_is_longer_than_the_profile(void **state)
{
    (void)state;
    making m = {0};
    char step[] = "jit_step(7)";
    begin(&m);
    add(&m, step, 10000000800); /* it may go on for ten seconds */
    rec_profile p = profile_of(&m);
    assert_string_equal(p.why, "");
    rec_profile_free(&p);
    add(&m, step, 10000000801);
    p = profile_of(&m);
    assert_string_not_equal(p.why, "");
    assert_int_equal(p.program_count, 0);
    rec_profile_free(&p);
}

/* Takes the kernel away that began last. */
static void lose_last_kernel(Bench__Trace__Space *space)
{
    Bench__Trace__Line *line = NULL;
    size_t at = 0;
    int64_t last = -1;
    for (size_t i = 0; i < space->n_planes; i++)
        for (size_t j = 0; j < space->planes[i]->n_lines; j++) {
            Bench__Trace__Line *here = space->planes[i]->lines[j];
            for (size_t k = 0;
                 strncmp(space->planes[i]->name, "/device:", 8) == 0 && k < here->n_events; k++)
                if (here->start_ns + here->events[k]->offset_ps / 1000 > last) {
                    last = here->start_ns + here->events[k]->offset_ps / 1000;
                    line = here;
                    at = k;
                }
        }
    assert_non_null(line);
    bench__trace__event__free_unpacked(line->events[at], NULL);
    line->events[at] = line->events[--line->n_events];
}

/* Four executions of 25 kernels on an H100, and the same where the profiler was stopped in the last
 * one. */
static void an_execution_that_was_cut_does_not_count(void **state)
{
    (void)state;
    bn_status st = {0};
    char *bytes = NULL;
    size_t size = 0;
    assert_ok(bn_regular_read("tests/fuzz/corpus/xspace/h100", &bytes, &size, &st), &st);
    record_profile head = head_of(size);
    head.stop_ns = head.end_ns = 1000000000;
    rec_profile p = read_back(&head, bytes, size);
    assert_string_equal(p.why, "");
    assert_int_equal(p.executions, 4);
    rec_profile_free(&p);
    Bench__Trace__Space *space = bench__trace__space__unpack(NULL, size, (const uint8_t *)bytes);
    if (!space)
        space = bench__trace__space__unpack(NULL, size - 1, (const uint8_t *)bytes);
    assert_non_null(space);
    lose_last_kernel(space);
    head.size = bench__trace__space__pack(space, (uint8_t *)bytes);
    p = read_back(&head, bytes, head.size);
    assert_int_equal(p.executions, 3);
    assert_true(p.programs[0].kernels == 25);
    rec_profile_free(&p);
    bench__trace__space__free_unpacked(space, NULL);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_have_medians_over_their_executions),
        cmocka_unit_test(ops_are_summed_by_name),
        cmocka_unit_test(the_clock_is_one_of_two),
        cmocka_unit_test(names_become_plain),
        cmocka_unit_test(each_missing_profile_has_its_reason),
        cmocka_unit_test(damage_is_said),
        cmocka_unit_test(a_damaged_head_is_refused),
        cmocka_unit_test(no_execution_is_longer_than_the_profile),
        cmocka_unit_test(an_execution_that_was_cut_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
