/*
 * xspace.c - an XSpace message, piece by piece.
 */
#include "results/traces/xspace.h"

void *res_xspace_take(res_xspace *b, size_t count, size_t size)
{
    return bn_arena_zalloc(b->memory, (count + 1) * size);
}

void res_xspace_add_name(res_xspace *b, Bench__Trace__NameEntry **entries, size_t *count,
                         int64_t id, const char *name)
{
    Bench__Trace__NameEntry *entry = res_xspace_take(b, 1, sizeof *entry);
    Bench__Trace__Name *value = res_xspace_take(b, 1, sizeof *value);
    bench__trace__name__init(value);
    value->id = id;
    value->name = bn_arena_strdup(b->memory, name);
    bench__trace__name_entry__init(entry);
    entry->id = id;
    entry->value = value;
    entries[(*count)++] = entry;
}

Bench__Trace__Stat *res_xspace_make_stat(res_xspace *b, int64_t name)
{
    Bench__Trace__Stat *stat = res_xspace_take(b, 1, sizeof *stat);
    bench__trace__stat__init(stat);
    stat->name_id = name;
    return stat;
}

Bench__Trace__Plane *res_xspace_make_plane(res_xspace *b, int64_t id, const char *name,
                                           size_t lines, size_t events, size_t stats)
{
    Bench__Trace__Plane *plane = res_xspace_take(b, 1, sizeof *plane);
    bench__trace__plane__init(plane);
    plane->id = id;
    plane->name = bn_arena_strdup(b->memory, name);
    plane->lines = res_xspace_take(b, lines, sizeof *plane->lines);
    plane->event_names = res_xspace_take(b, events, sizeof *plane->event_names);
    plane->stat_names = res_xspace_take(b, stats, sizeof *plane->stat_names);
    plane->stats = res_xspace_take(b, stats, sizeof *plane->stats);
    return plane;
}

Bench__Trace__Line *res_xspace_add_line(res_xspace *b, Bench__Trace__Plane *plane, const char *name,
                                        size_t most)
{
    Bench__Trace__Line *line = res_xspace_take(b, 1, sizeof *line);
    bench__trace__line__init(line);
    line->id = (int64_t)plane->n_lines + 1;
    line->name = line->display_name = bn_arena_strdup(b->memory, name);
    line->events = res_xspace_take(b, most, sizeof *line->events);
    plane->lines[plane->n_lines++] = line;
    return line;
}

Bench__Trace__Event *res_xspace_add_event(res_xspace *b, Bench__Trace__Line *line, size_t name,
                                          uint64_t start_ns, uint64_t duration_ns)
{
    Bench__Trace__Event *event = res_xspace_take(b, 1, sizeof *event);
    bench__trace__event__init(event);
    event->name_id = (int64_t)name;
    event->offset_ps = (int64_t)(start_ns * 1000);
    event->duration_ps = (int64_t)(duration_ns * 1000);
    line->events[line->n_events++] = event;
    return event;
}

void res_xspace_set_stat(res_xspace *b, Bench__Trace__Event *event, int64_t name, int64_t value)
{
    Bench__Trace__Stat *stat = res_xspace_make_stat(b, name);
    Bench__Trace__Stat **stats = res_xspace_take(b, 1, sizeof(Bench__Trace__Stat *));
    stat->number_of_case = BENCH__TRACE__STAT__NUMBER_OF_INT_VALUE;
    stat->int_value = value;
    stats[0] = stat;
    event->stats = stats;
    event->n_stats = 1;
}

/* A buffer for libprotobuf-c that appends to OUT. */
typedef struct sink {
    ProtobufCBuffer base;
    bn_text *out;
} sink;

static void append(ProtobufCBuffer *buffer, size_t length, const uint8_t *bytes)
{
    bn_text_append(((sink *)(void *)buffer)->out, (const char *)bytes, length);
}

void res_xspace_pack(const Bench__Trace__Space *space, bn_text *out)
{
    sink to = {.base = {.append = append}, .out = out};
    bench__trace__space__pack_to_buffer(space, &to.base);
}
