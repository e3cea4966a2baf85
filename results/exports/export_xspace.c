/*
 * export_xspace.c - a profile's log folder as xprof and TensorBoard read it:
 * plugins/profile/RUN/HOST.xplane.pb, a run a record, each an XSpace message of OpenXLA's
 * tsl/profiler/protobuf/xplane.proto, whose field numbers these are. The first plane is the
 * host's; its lines are the steps, their ledgers and the executions awaited alone. They begin
 * at zero, as in profiles of OpenXLA's own: readers count picoseconds, in which a time of day
 * since 1970 overflows. When it was stands in a plane of the session.
 */
#include "results/exports/exports_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, BYTES = 2 };
enum { SPACE_PLANES = 1, SPACE_WARNINGS = 3, SPACE_HOSTS = 4 };
enum { PLANE_ID = 1, PLANE_NAME, PLANE_LINES, PLANE_EVENTS, PLANE_STAT_NAMES, PLANE_STATS };
enum { LINE_ID = 1, LINE_NAME = 2, LINE_EVENTS = 4, LINE_DISPLAY_NAME = 11 };
enum { EVENT_NAME_ID = 1, EVENT_OFFSET_PS, EVENT_DURATION_PS, EVENT_STATS };
enum { STAT_NAME_ID = 1, STAT_UINT = 3, STAT_INT = 4, STAT_TEXT = 5 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2, NAMED_ID = 1, NAMED_NAME = 2 };

/* Names of stats. */
enum { STAT_STEP = 1, STAT_RECORD, STAT_LABEL, STAT_BUILD, STAT_ABOUT, STAT_PROVENANCE, STAT_END };
static const char *const stat_names[] = {[STAT_STEP] = "step_num",
                                         [STAT_RECORD] = "bench_record",
                                         [STAT_LABEL] = "not_measured_on_hardware",
                                         [STAT_BUILD] = "plugin_sha256",
                                         [STAT_ABOUT] = "about",
                                         [STAT_PROVENANCE] = "provenance"};

/* ---- protobuf's wire format ------------------------------------------------------------- */

static void put_varint(bn_text *out, uint64_t value)
{
    while (value >= 0x80) {
        bn_text_putc(out, (char)(value | 0x80));
        value >>= 7;
    }
    bn_text_putc(out, (char)value);
}

static void put_number(bn_text *out, unsigned field, uint64_t value)
{
    put_varint(out, (field << 3) | VARINT);
    put_varint(out, value);
}

static void put_bytes(bn_text *out, unsigned field, const char *bytes, size_t length)
{
    put_varint(out, (field << 3) | BYTES);
    put_varint(out, length);
    if (length > 0)
        bn_text_append(out, bytes, length);
}

static void put_text(bn_text *out, unsigned field, const char *text)
{
    put_bytes(out, field, text, strlen(text));
}

/* MESSAGE as a member, and empties it. */
static void put_message(bn_text *out, unsigned field, bn_text *message)
{
    out->failed = out->failed || message->failed;
    put_bytes(out, field, message->data, message->length);
    bn_text_clear(message);
}

/* ---- the plane ------------------------------------------------------------------------------ */

/* Names of events by number: 1 warm-up, 2 step, then the parts, then the graphs. */
enum { NAME_WARMUP = 1, NAME_STEP, NAME_PARTS };
#define NAME_GRAPHS (NAME_PARTS + BN_PART_COUNT)

/* An entry of the map from numbers to names: FIELD of the plane. */
static void put_named(bn_text *plane, unsigned field, uint64_t id, const char *name)
{
    bn_text value = {0}, entry = {0};
    put_number(&value, NAMED_ID, id);
    put_text(&value, NAMED_NAME, name);
    put_number(&entry, ENTRY_KEY, id);
    put_message(&entry, ENTRY_VALUE, &value);
    put_message(plane, field, &entry);
    bn_text_free(&value);
    bn_text_free(&entry);
}

static void put_event(bn_text *line, uint64_t name, uint64_t start_ns, uint64_t duration_ns,
                      int64_t step)
{
    bn_text event = {0}, stat = {0};
    put_number(&event, EVENT_NAME_ID, name);
    put_number(&event, EVENT_OFFSET_PS, start_ns * 1000);
    put_number(&event, EVENT_DURATION_PS, duration_ns * 1000);
    if (step >= 0) {
        put_number(&stat, STAT_NAME_ID, STAT_STEP);
        put_number(&stat, STAT_INT, (uint64_t)step);
        put_message(&event, EVENT_STATS, &stat);
    }
    put_message(line, LINE_EVENTS, &event);
    bn_text_free(&event);
    bn_text_free(&stat);
}

/* The line NAME of RECORD, which says there, too, where it was not measured. */
static void begin_line(const res_record *record, bn_text *line, uint64_t id, const char *what)
{
    char name[96];
    snprintf(name, sizeof name, "bench %s%s", what, record->simulated ? " (simulated)" : "");
    put_number(line, LINE_ID, id);
    put_text(line, LINE_NAME, name);
    put_text(line, LINE_DISPLAY_NAME, name);
}

static void put_steps(const res_record *record, bn_text *plane)
{
    bn_text steps = {0}, ledger = {0};
    uint64_t now = 0;
    begin_line(record, &steps, 1, "steps");
    begin_line(record, &ledger, 2, "ledger");
    for (size_t i = 0; i < record->warmup_count; i++) {
        put_event(&steps, NAME_WARMUP, now, record->warmup_wall_ns[i], -1);
        now += record->warmup_wall_ns[i];
    }
    for (size_t i = 0; i < record->step_count; i++) {
        uint64_t part_start = now;
        put_event(&steps, NAME_STEP, now, record->wall_ns[i], (int64_t)i);
        for (size_t p = 0; p < BN_PART_COUNT && res_has_ledger(record); p++) {
            uint64_t part_ns = record->part_ns[i * BN_PART_COUNT + p];
            if (part_ns > 0)
                put_event(&ledger, NAME_PARTS + p, part_start, part_ns, -1);
            part_start += part_ns;
        }
        now += record->wall_ns[i];
    }
    put_message(plane, PLANE_LINES, &steps);
    put_message(plane, PLANE_LINES, &ledger);
    bn_text_free(&steps);
    bn_text_free(&ledger);
}

static void put_executions(const res_record *record, bn_text *plane)
{
    bn_text line = {0};
    uint64_t now = 0;
    begin_line(record, &line, 3, "executions alone");
    for (size_t x = 0; x < record->execution_count; x++) {
        const res_execution *execution = &record->executions[x];
        put_named(plane, PLANE_EVENTS, NAME_GRAPHS + x, execution->graph);
        for (size_t i = 0; i < execution->pjrt_count; i++) {
            put_event(&line, NAME_GRAPHS + x, now, execution->pjrt_ns[i], -1);
            now += execution->pjrt_ns[i];
        }
    }
    put_message(plane, PLANE_LINES, &line);
    bn_text_free(&line);
}

static void put_stat(bn_text *plane, uint64_t name, const char *text)
{
    bn_text stat = {0};
    put_named(plane, PLANE_STAT_NAMES, name, stat_names[name]);
    put_number(&stat, STAT_NAME_ID, name);
    put_text(&stat, STAT_TEXT, text);
    put_message(plane, PLANE_STATS, &stat);
    bn_text_free(&stat);
}

static void put_stats(const res_record *record, bn_text *plane)
{
    bn_text label = {0};
    json_t *provenance = res_export_provenance(record);
    char *text = provenance ? json_dumps(provenance, JSON_COMPACT) : NULL;
    res_export_label(record, &label);
    put_named(plane, PLANE_STAT_NAMES, STAT_STEP, stat_names[STAT_STEP]);
    put_stat(plane, STAT_RECORD, record->id);
    put_stat(plane, STAT_LABEL, label.data ? label.data : "");
    put_stat(plane, STAT_BUILD, res_plugin_sha256(record));
    put_stat(plane, STAT_ABOUT,
             "durations are measured; starts are not: parts stand in the ledger's order");
    put_stat(plane, STAT_PROVENANCE, text ? text : "");
    free(text);
    json_decref(provenance);
    bn_text_free(&label);
}

/* The longest of the lines. */
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

/* The plane that says when all others' zero was. */
static void put_session(const res_record *record, bn_text *space)
{
    const uint64_t start_ns = (uint64_t)(res_export_time(record) * 1e9);
    const uint64_t times[] = {start_ns, start_ns + length_ns(record)};
    static const char *const names[] = {"profile_start_time", "profile_stop_time"};
    bn_text plane = {0}, stat = {0};
    put_number(&plane, PLANE_ID, 2);
    put_text(&plane, PLANE_NAME, "Task Environment");
    for (size_t i = 0; i < 2 && start_ns > 0; i++) {
        put_named(&plane, PLANE_STAT_NAMES, i + 1, names[i]);
        put_number(&stat, STAT_NAME_ID, i + 1);
        put_number(&stat, STAT_UINT, times[i]);
        put_message(&plane, PLANE_STATS, &stat);
    }
    put_message(space, SPACE_PLANES, &plane);
    bn_text_free(&plane);
    bn_text_free(&stat);
}

static void put_record(const res_record *record, res_export *export)
{
    bn_text plane = {0}, name = {0}, label = {0};
    res_export_name(record, ':', &name);
    res_export_label(record, &label);
    put_number(&plane, PLANE_ID, 1);
    put_text(&plane, PLANE_NAME, "/host:CPU");
    put_named(&plane, PLANE_EVENTS, NAME_WARMUP, "warm-up step");
    put_named(&plane, PLANE_EVENTS, NAME_STEP, "step");
    for (size_t p = 0; p < BN_PART_COUNT; p++)
        put_named(&plane, PLANE_EVENTS, NAME_PARTS + p, bn_part_name((bn_part)p));
    put_steps(record, &plane);
    put_executions(record, &plane);
    put_stats(record, &plane);

    bn_text *out = res_export_add(export, "plugins/profile/%s/bench.xplane.pb", record->id);
    put_message(out, SPACE_PLANES, &plane);
    put_session(record, out);
    if (label.length > 0)
        put_text(out, SPACE_WARNINGS, label.data);
    put_text(out, SPACE_HOSTS, name.data ? name.data : "");
    bn_text_free(&plane);
    bn_text_free(&name);
    bn_text_free(&label);
}

void res_export_xspace(const res_collection *all, res_export *export)
{
    for (size_t i = 0; i < all->count; i++)
        if (res_export_good(all->records[i]))
            put_record(all->records[i], export);
}
