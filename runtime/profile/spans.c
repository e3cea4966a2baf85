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

/* A plane's name table may hold thousands of names: its module events ask for
 * one of a handful, often the same as before. */
static const char *event_name(const Rt__Profile__Plane *plane, int64_t id)
{
    for (size_t i = 0; i < plane->n_event_names; i++) {
        const Rt__Profile__EventNameEntry *entry = plane->event_names[i];
        if (entry->id == id && entry->value)
            return entry->value->name;
    }
    return "";
}

/* Appends the events of LINE to SPANS, or counts them when SPANS is NULL. */
static size_t line_spans(const Rt__Profile__Plane *plane, const Rt__Profile__Line *line,
                         rt_device_span *spans)
{
    size_t count = 0;
    for (size_t i = 0; i < line->n_events; i++) {
        const Rt__Profile__Event *event = line->events[i];
        if (event->occurrences > 0) /* a sum of many has no place in time */
            continue;
        if (spans) {
            rt_device_span *span = &spans[count];
            memset(span, 0, sizeof *span);
            strncpy(span->name, event_name(plane, event->name_id), sizeof span->name - 1);
            span->start_ns =
                rt_xspace_unsigned(line->start_ns) + rt_xspace_unsigned(event->offset_ps) / 1000;
            span->duration_ns = rt_xspace_unsigned(event->duration_ps) / 1000;
            span->busy_ns = span->duration_ns;
        }
        count++;
    }
    return count;
}

static size_t space_spans(const Rt__Profile__Space *space, rt_device_span *spans)
{
    size_t count = 0;
    for (size_t i = 0; i < space->n_planes; i++) {
        const Rt__Profile__Plane *plane = space->planes[i];
        if (!rt_xspace_is_device(plane))
            continue;
        for (size_t j = 0; j < plane->n_lines; j++) {
            if (strcmp(plane->lines[j]->name, "XLA Modules") == 0)
                count += line_spans(plane, plane->lines[j], spans ? spans + count : NULL);
        }
    }
    return count;
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
    Rt__Profile__Space *space = rt_xspace_unpack(xspace, size, st);
    if (!space)
        return BN_FORMAT;
    bn_code code = BN_OK;
    size_t found = space_spans(space, NULL);
    rt_device_span *list = malloc((found + 1) * sizeof *list);
    if (!list) {
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu device spans", found);
        goto out;
    }
    space_spans(space, list);
    code = rt_xspace_kernel_spans(space, &list, &found, st);
    if (code != BN_OK) {
        free(list);
        goto out;
    }
    qsort(list, found, sizeof *list, span_compare);
    *spans = list;
    *count = found;
out:
    rt__profile__space__free_unpacked(space, NULL);
    return code;
}
