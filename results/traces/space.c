/*
 * space.c - an XSpace message of slices that come in any order: they are kept, and sorted at the
 * end, since a line's events lie in it by their time.
 */
#define _GNU_SOURCE
#include "results/traces/space_priv.h"
#include "results/traces/xspace.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PROCESSES = 8, STAT_STEP = 1, STAT_COUNT };

typedef struct slice {
    uint64_t process, lane;
    uint64_t begin_ns, end_ns;
    uint64_t number; /* of a step; UINT64_MAX: it is none */
    uint32_t name;
} slice;

/* A name of slices, by its JSON. */
typedef struct name {
    const char *quoted;
    uint32_t id; /* from 1 */
} name;

/* The name of a line. */
typedef struct line {
    uint64_t process, lane;
    const char *name;
} line;

struct res_space {
    res_xspace b;
    struct {
        uint64_t process;
        const char *plane;
    } planes[MOST_PROCESSES];
    size_t plane_count;
    void *names; /* a tree of tsearch */
    const char **texts;
    slice *slices;
    line *lines;
    size_t name_count, name_room, slice_count, slice_room, line_count, line_room;
    bool full;
};

res_space *res_space_new(void)
{
    res_space *s = bn_zalloc(1, sizeof *s);
    s->b.memory = bn_arena_new(1 << 16);
    return s;
}

/* The arena has the names. */
static void keep(void *item)
{
    (void)item;
}

void res_space_free(res_space *s)
{
    if (!s)
        return;
    tdestroy(s->names, keep);
    free(s->texts);
    free(s->slices);
    free(s->lines);
    bn_arena_free(s->b.memory);
    free(s);
}

void res_space_plane(res_space *s, uint64_t process, const char *plane)
{
    if (s->plane_count == MOST_PROCESSES)
        return;
    s->planes[s->plane_count].process = process;
    s->planes[s->plane_count++].plane = plane;
}

static const char *plane_of(const res_space *s, uint64_t process)
{
    for (size_t i = 0; i < s->plane_count; i++)
        if (s->planes[i].process == process)
            return s->planes[i].plane;
    return NULL;
}

void res_space_line(res_space *s, uint64_t process, uint64_t lane, const char *text)
{
    bn_grow(&s->lines, s->line_count + 1, &s->line_room, sizeof *s->lines);
    s->lines[s->line_count++] = (line){process, lane, bn_arena_strdup(s->b.memory, text)};
}

/* ---- slices ---------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(((const name *)a)->quoted, ((const name *)b)->quoted);
}

/* Gives the new name OWN its number, and the text that it stands for. */
static void add_name(res_space *s, name *own)
{
    bn_grow(&s->texts, s->name_count + 1, &s->name_room, sizeof *s->texts);
    /* Callers quoted it: it is not foreign. */
    json_t *text = json_loads(own->quoted, JSON_DECODE_ANY, NULL);
    const char *plain = json_is_string(text) ? json_string_value(text) : own->quoted;
    s->texts[s->name_count++] = bn_arena_strdup(s->b.memory, plain);
    own->id = (uint32_t)s->name_count;
    json_decref(text);
}

/* The number of the name QUOTED. */
static uint32_t number_of(res_space *s, const char *quoted)
{
    const name key = {quoted, 0};
    name **found = (name **)tfind(&key, &s->names, by_text);
    if (found)
        return (*found)->id;
    name *own = res_xspace_take(&s->b, 1, sizeof *own);
    own->quoted = bn_arena_strdup(s->b.memory, quoted);
    if (!tsearch(own, &s->names, by_text))
        bn_out_of_memory(sizeof *own);
    add_name(s, own);
    return own->id;
}

void res_space_slice(res_space *s, const char *quoted, uint64_t process, uint64_t lane,
                     uint64_t begin_ns, uint64_t end_ns)
{
    s->full = s->full || s->slice_count >= RES_TRACE_MOST_SPANS;
    if (s->full || !plane_of(s, process))
        return;
    const uint32_t id = number_of(s, quoted);
    bn_grow(&s->slices, s->slice_count + 1, &s->slice_room, sizeof *s->slices);
    s->slices[s->slice_count++] = (slice){process, lane, begin_ns, end_ns, UINT64_MAX, id};
}

void res_space_number(res_space *s, uint64_t number)
{
    if (s->slice_count > 0)
        s->slices[s->slice_count - 1].number = number;
}

/* ---- the message ---------------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By lines, and in a line by time, enclosing slices first. */
static int by_line(const void *a, const void *b)
{
    const slice *x = a, *y = b;
    int order = compare(x->process, y->process);
    order = order ? order : compare(x->lane, y->lane);
    order = order ? order : compare(x->begin_ns, y->begin_ns);
    return order ? order : compare(y->end_ns, x->end_ns);
}

static const char *line_name(const res_space *s, uint64_t process, uint64_t lane)
{
    const char *of_process = "";
    for (size_t i = 0; i < s->line_count; i++) {
        if (s->lines[i].process == process && s->lines[i].lane == lane)
            return s->lines[i].name;
        if (s->lines[i].process == process && s->lines[i].lane == 0)
            of_process = s->lines[i].name;
    }
    return of_process;
}

/* The index behind the slices of the line that begins at AT. */
static size_t behind_line(const res_space *s, size_t at)
{
    size_t to = at;
    while (to < s->slice_count && s->slices[to].process == s->slices[at].process &&
           s->slices[to].lane == s->slices[at].lane)
        to++;
    return to;
}

/* The slices from AT to before TO as a line of PLANE. */
static void add_line(res_space *s, Bench__Trace__Plane *plane, size_t at, size_t to,
                     uint64_t from_ns)
{
    Bench__Trace__Line *made = res_xspace_add_line(
        &s->b, plane, line_name(s, s->slices[at].process, s->slices[at].lane), to - at);
    for (; at < to; at++) {
        const slice *x = &s->slices[at];
        const uint64_t begin_ns = x->begin_ns > from_ns ? x->begin_ns - from_ns : 0;
        const uint64_t duration_ns = x->end_ns > x->begin_ns ? x->end_ns - x->begin_ns : 0;
        Bench__Trace__Event *event =
            res_xspace_add_event(&s->b, made, x->name, begin_ns, duration_ns);
        if (x->number != UINT64_MAX)
            res_xspace_set_stat(&s->b, event, STAT_STEP, (int64_t)x->number);
    }
}

/* The plane NAME with number ID, which has room for LINES lines. */
static Bench__Trace__Plane *make_plane(res_space *s, size_t id, const char *plane_name,
                                       size_t lines, uint64_t from_ns)
{
    Bench__Trace__Plane *plane =
        res_xspace_make_plane(&s->b, (int64_t)id, plane_name, lines, s->name_count, STAT_COUNT);
    res_xspace_add_name(&s->b, plane->stat_names, &plane->n_stat_names, STAT_STEP, "step_num");
    for (size_t i = 0; i < s->name_count; i++)
        res_xspace_add_name(&s->b, plane->event_names, &plane->n_event_names, (int64_t)i + 1,
                            s->texts[i]);
    for (size_t at = 0, to; at < s->slice_count; at = to) {
        to = behind_line(s, at);
        if (strcmp(plane_of(s, s->slices[at].process), plane_name) == 0)
            add_line(s, plane, at, to, from_ns);
    }
    return plane;
}

/* Whether the plane at INDEX is the first of its name. */
static bool is_first(const res_space *s, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(s->planes[i].plane, s->planes[index].plane) == 0)
            return false;
    return true;
}

bn_code res_space_put(res_space *s, uint64_t from_ns, bn_text *out, bn_status *st)
{
    Bench__Trace__Space space = BENCH__TRACE__SPACE__INIT;
    Bench__Trace__Plane *planes[MOST_PROCESSES];
    char host[] = "bench", *hosts[] = {host};
    size_t lines = 0;
    if (s->full)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "XSpace has room for %d slices only: give the timeline a name that does not "
                       "end in .pb",
                       RES_TRACE_MOST_SPANS);
    if (s->slice_count > 0)
        qsort(s->slices, s->slice_count, sizeof *s->slices, by_line);
    for (size_t at = 0; at < s->slice_count; at = behind_line(s, at))
        lines++;
    for (size_t i = 0; i < s->plane_count; i++) {
        if (!is_first(s, i))
            continue;
        planes[space.n_planes] =
            make_plane(s, space.n_planes + 1, s->planes[i].plane, lines, from_ns);
        space.n_planes += planes[space.n_planes]->n_lines > 0;
    }
    space.planes = planes;
    space.hosts = hosts;
    space.n_hosts = 1;
    res_xspace_pack(&space, out);
    return BN_OK;
}
