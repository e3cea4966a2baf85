/*
 * export_xspace.c - a profile's log folder as xprof and TensorBoard read it:
 * plugins/profile/RUN/HOST.xplane.pb, a run a record, each an XSpace message (xspace.proto).
 *
 * The first plane is the host's; its lines are the steps, their ledgers and the executions
 * awaited alone. Lines begin at zero, as in profiles of OpenXLA's own: readers count picoseconds,
 * in which a time of day since 1970 overflows. A second plane, the session's, says when that zero
 * was.
 */
#include "results/exports/exports_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/exports/xspace.pb-c.h"

typedef Bench__Export__Space space_message;
typedef Bench__Export__Plane plane_message;
typedef Bench__Export__Line line_message;
typedef Bench__Export__Event event_message;
typedef Bench__Export__Stat stat_message;
typedef Bench__Export__Name name_message;
typedef Bench__Export__NameEntry entry_message;

/* Names of stats. */
enum { STAT_STEP = 1, STAT_RECORD, STAT_LABEL, STAT_BUILD, STAT_ABOUT, STAT_PROVENANCE, STAT_END };
static const char *const stat_names[] = {[STAT_STEP] = "step_num",
                                         [STAT_RECORD] = "bench_record",
                                         [STAT_LABEL] = "not_measured_on_hardware",
                                         [STAT_BUILD] = "plugin_sha256",
                                         [STAT_ABOUT] = "about",
                                         [STAT_PROVENANCE] = "provenance"};

/* Names of events by number: 1 warm-up, 2 step, then the parts, then the graphs. */
enum { NAME_WARMUP = 1, NAME_STEP, NAME_PARTS };
#define NAME_GRAPHS (NAME_PARTS + BN_PART_COUNT)

/* Of the host's plane: steps, ledger, executions. */
#define LINES 3

/* ---- messages ------------------------------------------------------------------------ */

/* The memory of a message being built. */
typedef struct builder {
    bn_arena *memory;
    bool failed;
} builder;

/* Zeros for COUNT items; NULL without memory. */
static void *take(builder *b, size_t count, size_t size)
{
    void *items = b->failed ? NULL : bn_arena_zalloc(b->memory, (count + 1) * size);
    b->failed = b->failed || !items;
    return items;
}

static char *take_text(builder *b, const char *text)
{
    char *copy = b->failed ? NULL : bn_arena_strdup(b->memory, text);
    b->failed = b->failed || !copy;
    return copy;
}

/* Adds ID with NAME to the COUNT entries of a plane's map. */
static void add_name(builder *b, entry_message **entries, size_t *count, int64_t id,
                     const char *name)
{
    entry_message *entry = take(b, 1, sizeof *entry);
    name_message *value = take(b, 1, sizeof *value);
    char *text = take_text(b, name);
    if (b->failed)
        return;
    bench__export__name__init(value);
    value->has_id = true;
    value->id = id;
    value->name = text;
    bench__export__name_entry__init(entry);
    entry->has_id = true;
    entry->id = id;
    entry->value = value;
    entries[(*count)++] = entry;
}

/* A stat without a value; NULL without memory. */
static stat_message *make_stat(builder *b, int64_t name)
{
    stat_message *stat = take(b, 1, sizeof *stat);
    if (!stat)
        return NULL;
    bench__export__stat__init(stat);
    stat->has_name_id = true;
    stat->name_id = name;
    return stat;
}

/* A plane with room for so many lines, names of events and stats; NULL without memory. */
static plane_message *make_plane(builder *b, int64_t id, const char *name, size_t lines,
                                 size_t events, size_t stats)
{
    plane_message *plane = take(b, 1, sizeof *plane);
    if (!plane)
        return NULL;
    bench__export__plane__init(plane);
    plane->has_id = true;
    plane->id = id;
    plane->name = take_text(b, name);
    plane->lines = take(b, lines, sizeof *plane->lines);
    plane->event_names = take(b, events, sizeof *plane->event_names);
    plane->stat_names = take(b, stats, sizeof *plane->stat_names);
    plane->stats = take(b, stats, sizeof *plane->stats);
    return b->failed ? NULL : plane;
}

/* Adds a line to the plane, with room for MOST events. Its name says where it was not measured on
 * hardware. */
static line_message *add_line(builder *b, plane_message *plane, const res_record *record,
                              const char *what, size_t most)
{
    char name[96];
    line_message *line = take(b, 1, sizeof *line);
    if (!line)
        return NULL;
    snprintf(name, sizeof name, "bench %s%s", what, record->simulated ? " (simulated)" : "");
    bench__export__line__init(line);
    line->has_id = true;
    line->id = (int64_t)plane->n_lines + 1;
    line->name = line->display_name = take_text(b, name);
    line->events = take(b, most, sizeof *line->events);
    plane->lines[plane->n_lines++] = line;
    return b->failed ? NULL : line;
}

/* Adds an event and returns it, without stats; NULL without memory. */
static event_message *add_event(builder *b, line_message *line, size_t name, uint64_t start_ns,
                                uint64_t duration_ns)
{
    event_message *event = take(b, 1, sizeof *event);
    if (!event)
        return NULL;
    bench__export__event__init(event);
    event->has_name_id = event->has_offset_ps = event->has_duration_ps = true;
    event->name_id = (int64_t)name;
    event->offset_ps = (int64_t)(start_ns * 1000);
    event->duration_ps = (int64_t)(duration_ns * 1000);
    line->events[line->n_events++] = event;
    return event;
}

/* ---- the host's plane ------------------------------------------------------------------ */

/* Adds a measured step, with its number. */
static void add_step(builder *b, line_message *line, uint64_t start_ns, uint64_t duration_ns,
                     size_t step)
{
    event_message *event = add_event(b, line, NAME_STEP, start_ns, duration_ns);
    stat_message *stat = make_stat(b, STAT_STEP);
    stat_message **stats = take(b, 1, sizeof(stat_message *));
    if (b->failed)
        return;
    stat->has_int_value = true;
    stat->int_value = (int64_t)step;
    stats[0] = stat;
    event->stats = stats;
    event->n_stats = 1;
}

static void add_steps(builder *b, plane_message *plane, const res_record *record)
{
    const bool ledger_known = res_has_ledger(record);
    const size_t parts = ledger_known ? record->step_count * BN_PART_COUNT : 0;
    uint64_t now = 0;
    line_message *steps =
        add_line(b, plane, record, "steps", record->warmup_count + record->step_count);
    line_message *ledger = add_line(b, plane, record, "ledger", parts);
    for (size_t i = 0; !b->failed && i < record->warmup_count; i++) {
        add_event(b, steps, NAME_WARMUP, now, record->warmup_wall_ns[i]);
        now += record->warmup_wall_ns[i];
    }
    for (size_t i = 0; !b->failed && i < record->step_count; i++) {
        uint64_t part_start = now;
        add_step(b, steps, now, record->wall_ns[i], i);
        for (size_t p = 0; p < BN_PART_COUNT && ledger_known; p++) {
            uint64_t part_ns = record->part_ns[i * BN_PART_COUNT + p];
            if (part_ns > 0)
                add_event(b, ledger, NAME_PARTS + p, part_start, part_ns);
            part_start += part_ns;
        }
        now += record->wall_ns[i];
    }
}

static void add_executions(builder *b, plane_message *plane, const res_record *record)
{
    uint64_t now = 0;
    size_t samples = 0;
    for (size_t x = 0; x < record->execution_count; x++)
        samples += record->executions[x].pjrt_count;
    line_message *line = add_line(b, plane, record, "executions alone", samples);
    for (size_t x = 0; !b->failed && x < record->execution_count; x++) {
        const res_execution *execution = &record->executions[x];
        add_name(b, plane->event_names, &plane->n_event_names, (int64_t)(NAME_GRAPHS + x),
                 execution->graph);
        for (size_t i = 0; i < execution->pjrt_count; i++) {
            add_event(b, line, NAME_GRAPHS + x, now, execution->pjrt_ns[i]);
            now += execution->pjrt_ns[i];
        }
    }
}

static void add_text(builder *b, plane_message *plane, int64_t name, const char *text)
{
    stat_message *stat = make_stat(b, name);
    char *copy = take_text(b, text);
    if (b->failed)
        return;
    stat->text = copy;
    plane->stats[plane->n_stats++] = stat;
    add_name(b, plane->stat_names, &plane->n_stat_names, name, stat_names[name]);
}

static void add_texts(builder *b, plane_message *plane, const res_record *record)
{
    bn_text label = {0};
    json_t *provenance = res_export_provenance(record);
    char *text = provenance ? json_dumps(provenance, JSON_COMPACT | RES_JSON_SHOWN) : NULL;
    res_export_label(record, &label);
    add_name(b, plane->stat_names, &plane->n_stat_names, STAT_STEP, stat_names[STAT_STEP]);
    add_text(b, plane, STAT_RECORD, record->id);
    add_text(b, plane, STAT_LABEL, label.data ? label.data : "");
    add_text(b, plane, STAT_BUILD, res_plugin_sha256(record));
    add_text(b, plane, STAT_ABOUT,
             "durations are measured; starts are not: parts stand in the ledger's order");
    add_text(b, plane, STAT_PROVENANCE, text ? text : "");
    free(text);
    json_decref(provenance);
    bn_text_free(&label);
}

static plane_message *make_host(builder *b, const res_record *record)
{
    plane_message *plane =
        make_plane(b, 1, "/host:CPU", LINES, NAME_GRAPHS + record->execution_count, STAT_END);
    if (!plane)
        return NULL;
    add_name(b, plane->event_names, &plane->n_event_names, NAME_WARMUP, "warm-up step");
    add_name(b, plane->event_names, &plane->n_event_names, NAME_STEP, "step");
    for (int p = 0; p < BN_PART_COUNT; p++)
        add_name(b, plane->event_names, &plane->n_event_names, NAME_PARTS + p,
                 bn_part_name((bn_part)p));
    add_steps(b, plane, record);
    add_executions(b, plane, record);
    add_texts(b, plane, record);
    return plane;
}

/* ---- the session's plane ----------------------------------------------------------------- */

/* The length of the longest line. */
static uint64_t length_ns(const res_record *record)
{
    uint64_t steps = 0, executions = 0;
    for (size_t i = 0; i < record->warmup_count; i++)
        steps += record->warmup_wall_ns[i];
    for (size_t i = 0; i < record->step_count; i++)
        steps += record->wall_ns[i];
    for (size_t x = 0; x < record->execution_count; x++)
        for (size_t i = 0; i < record->executions[x].pjrt_count; i++)
            executions += record->executions[x].pjrt_ns[i];
    return steps > executions ? steps : executions;
}

/* The plane that says when the zero of all lines was. */
static plane_message *make_session(builder *b, const res_record *record)
{
    static const char *const names[] = {"profile_start_time", "profile_stop_time"};
    const uint64_t start_ns = (uint64_t)(res_export_time(record) * 1e9);
    const uint64_t times[] = {start_ns, start_ns + length_ns(record)};
    plane_message *plane = make_plane(b, 2, "Task Environment", 0, 0, 2);
    for (int i = 0; plane && i < 2 && start_ns > 0; i++) {
        stat_message *stat = make_stat(b, i + 1);
        if (!stat)
            return NULL;
        stat->has_uint_value = true;
        stat->uint_value = times[i];
        plane->stats[plane->n_stats++] = stat;
        add_name(b, plane->stat_names, &plane->n_stat_names, i + 1, names[i]);
    }
    return plane;
}

/* ---- files -------------------------------------------------------------------------------- */

/* A buffer for libprotobuf-c that appends to OUT. */
typedef struct sink {
    ProtobufCBuffer base;
    bn_text *out;
} sink;

static void append(ProtobufCBuffer *buffer, size_t length, const uint8_t *bytes)
{
    bn_text_append(((sink *)(void *)buffer)->out, (const char *)bytes, length);
}

static void put_space(builder *b, const res_record *record, bn_text *out)
{
    bn_text name = {0}, label = {0};
    plane_message *planes[] = {make_host(b, record), make_session(b, record)};
    space_message space = BENCH__EXPORT__SPACE__INIT;
    sink to = {.base = {.append = append}, .out = out};
    res_export_name(record, ':', &name);
    res_export_label(record, &label);
    space.planes = planes;
    space.n_planes = 2;
    space.warnings = &label.data;
    space.n_warnings = label.length > 0 ? 1 : 0;
    space.hosts = &name.data;
    space.n_hosts = 1;
    out->failed = out->failed || b->failed || name.failed || label.failed;
    if (!out->failed)
        bench__export__space__pack_to_buffer(&space, &to.base);
    bn_text_free(&name);
    bn_text_free(&label);
}

void res_export_xspace(const res_collection *all, res_export *export)
{
    builder b = {.memory = bn_arena_new(1 << 16)};
    for (size_t i = 0; i < all->count; i++) {
        const res_record *record = all->records[i];
        if (!res_record_good(record))
            continue;
        bn_text *out = res_export_add(export, "plugins/profile/%s/bench.xplane.pb", record->id);
        b.failed = !b.memory;
        if (b.memory)
            bn_arena_reset(b.memory);
        put_space(&b, record, out);
    }
    bn_arena_free(b.memory);
}
