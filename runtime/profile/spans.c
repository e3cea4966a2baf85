/*
 * spans.c - device executions out of a plugin's profile.
 *
 * A profile has a plane per device, a plane has lines; the line "XLA Modules" holds one event per
 * execution of a program. Where there is none, kernels.c looks for kernels. Nothing is guessed: a
 * profile without either gives no spans.
 */
#include "runtime/profile/profile_priv.h"

#include <stdlib.h>
#include <string.h>

/* Spans in the making. */
typedef struct reading {
    rt_device_span *list;
    size_t count, room;
    rt_names names; /* of the plane in hand */
} reading;

static bool add_line(reading *r, size_t plane, const Bench__Trace__Line *line)
{
    if (!bn_reserve(&r->list, r->count + line->n_events, &r->room, sizeof *r->list))
        return false;
    for (size_t i = 0; i < line->n_events; i++) {
        const Bench__Trace__Event *event = line->events[i];
        if (event->occurrences > 0) /* a sum of many has no place in time */
            continue;
        rt_device_span *span = &r->list[r->count++];
        memset(span, 0, sizeof *span);
        span->plane = plane;
        strncpy(span->name, rt_xspace_names_find(&r->names, event->name_id), sizeof span->name - 1);
        span->start_ns =
            rt_xspace_unsigned(line->start_ns) + rt_xspace_unsigned(event->offset_ps) / 1000;
        span->duration_ns = rt_xspace_unsigned(event->duration_ps) / 1000;
        span->busy_ns = span->duration_ns;
    }
    return true;
}

static bool add_plane(reading *r, size_t number, const Bench__Trace__Plane *plane)
{
    if (!rt_xspace_names_make(&r->names, plane->event_names, plane->n_event_names))
        return false;
    for (size_t i = 0; i < plane->n_lines; i++)
        if (strcmp(plane->lines[i]->name, "XLA Modules") == 0 &&
            !add_line(r, number, plane->lines[i]))
            return false;
    return true;
}

static bn_code space_spans(const Bench__Trace__Space *space, reading *r, bn_status *st)
{
    for (size_t i = 0; i < space->n_planes; i++)
        if (rt_xspace_is_device(space->planes[i]) && !add_plane(r, i, space->planes[i]))
            return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the executions of a profile");
    return rt_xspace_kernel_spans(space, &r->list, &r->count, st);
}

static int span_compare(const void *left, const void *right)
{
    const rt_device_span *a = left, *b = right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->duration_ns != b->duration_ns)
        return a->duration_ns < b->duration_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

bn_code rt_xspace_device_spans(const void *xspace, size_t size, rt_device_span **spans,
                               size_t *count, bn_status *st)
{
    rt_xspace x;
    reading r = {0};
    bn_code code = rt_xspace_unpack(xspace, size, &x, st);
    if (code == BN_OK)
        code = space_spans(x.space, &r, st);
    rt_xspace_free(&x);
    rt_xspace_names_free(&r.names);
    if (code != BN_OK) {
        free(r.list);
        return code;
    }
    if (r.count > 0)
        qsort(r.list, r.count, sizeof *r.list, span_compare);
    *spans = r.list;
    *count = r.count;
    return BN_OK;
}
