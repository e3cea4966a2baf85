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

#include "results/traces/xspace.h"

typedef res_xspace builder;
typedef Bench__Trace__Space space_message;
typedef Bench__Trace__Plane plane_message;
typedef Bench__Trace__Line line_message;
typedef Bench__Trace__Event event_message;
typedef Bench__Trace__Stat stat_message;

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

/* Lines of the host's plane: steps, ledger, executions. */
#define LINES 3

/* Adds a line to the plane, with room for MOST events. Its name says where it was not measured on
 * hardware. */
static line_message *add_line(builder *b, plane_message *plane, const res_record *record,
                              const char *lane, size_t most)
{
    char name[96];
    snprintf(name, sizeof name, "bench %s%s", lane, record->simulated ? " (simulated)" : "");
    return res_xspace_add_line(b, plane, name, most);
}

/* ---- the host's plane ------------------------------------------------------------------ */

static void add_steps(builder *b, plane_message *plane, const res_record *record)
{
    const bool ledger_known = res_has_ledger(record);
    const size_t parts = ledger_known ? record->step_count * BN_PART_COUNT : 0;
    uint64_t now = 0;
    line_message *steps =
        add_line(b, plane, record, "steps", record->warmup_count + record->step_count);
    line_message *ledger = add_line(b, plane, record, "ledger", parts);
    for (size_t i = 0; i < record->warmup_count; i++) {
        res_xspace_add_event(b, steps, NAME_WARMUP, now, record->warmup_wall_ns[i]);
        now += record->warmup_wall_ns[i];
    }
    for (size_t i = 0; i < record->step_count; i++) {
        uint64_t part_start = now;
        event_message *step = res_xspace_add_event(b, steps, NAME_STEP, now, record->wall_ns[i]);
        res_xspace_set_stat(b, step, STAT_STEP, (int64_t)i);
        for (size_t p = 0; p < BN_PART_COUNT && ledger_known; p++) {
            uint64_t part_ns = record->part_ns[i * BN_PART_COUNT + p];
            if (part_ns > 0)
                res_xspace_add_event(b, ledger, NAME_PARTS + p, part_start, part_ns);
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
    for (size_t x = 0; x < record->execution_count; x++) {
        const res_execution *execution = &record->executions[x];
        res_xspace_add_name(b, plane->event_names, &plane->n_event_names,
                            (int64_t)(NAME_GRAPHS + x), execution->graph);
        for (size_t i = 0; i < execution->pjrt_count; i++) {
            res_xspace_add_event(b, line, NAME_GRAPHS + x, now, execution->pjrt_ns[i]);
            now += execution->pjrt_ns[i];
        }
    }
}

static void add_text(builder *b, plane_message *plane, int64_t name, const char *text)
{
    stat_message *stat = res_xspace_make_stat(b, name);
    stat->text = bn_arena_strdup(b->memory, text);
    plane->stats[plane->n_stats++] = stat;
    res_xspace_add_name(b, plane->stat_names, &plane->n_stat_names, name, stat_names[name]);
}

static void add_texts(builder *b, plane_message *plane, const res_record *record)
{
    bn_text label = {0};
    json_t *provenance = res_export_provenance(record);
    char *text = json_dumps(provenance, JSON_COMPACT | RES_JSON_SHOWN);
    res_export_label(record, &label);
    res_xspace_add_name(b, plane->stat_names, &plane->n_stat_names, STAT_STEP,
                        stat_names[STAT_STEP]);
    add_text(b, plane, STAT_RECORD, record->id);
    add_text(b, plane, STAT_LABEL, label.data);
    add_text(b, plane, STAT_BUILD, res_plugin_sha256(record));
    add_text(b, plane, STAT_ABOUT,
             "durations are measured; starts are not: parts stand in the ledger's order");
    add_text(b, plane, STAT_PROVENANCE, text);
    free(text);
    json_decref(provenance);
    bn_text_free(&label);
}

static plane_message *make_host(builder *b, const res_record *record)
{
    plane_message *plane = res_xspace_make_plane(b, 1, "/host:CPU", LINES,
                                                 NAME_GRAPHS + record->execution_count, STAT_END);
    res_xspace_add_name(b, plane->event_names, &plane->n_event_names, NAME_WARMUP, "warm-up step");
    res_xspace_add_name(b, plane->event_names, &plane->n_event_names, NAME_STEP, "step");
    for (int p = 0; p < BN_PART_COUNT; p++)
        res_xspace_add_name(b, plane->event_names, &plane->n_event_names, NAME_PARTS + p,
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
    /* Ids may have years whose nanoseconds since 1970 overflow. */
    const double time_s = res_export_time(record);
    const uint64_t start_ns = time_s > 0 && time_s < 1e10 ? (uint64_t)(time_s * 1e9) : 0;
    const uint64_t times[] = {start_ns, start_ns + length_ns(record)};
    plane_message *plane = res_xspace_make_plane(b, 2, "Task Environment", 0, 0, 2);
    for (int i = 0; i < 2 && start_ns > 0; i++) {
        stat_message *stat = res_xspace_make_stat(b, i + 1);
        stat->number_of_case = BENCH__TRACE__STAT__NUMBER_OF_UINT_VALUE;
        stat->uint_value = times[i];
        plane->stats[plane->n_stats++] = stat;
        res_xspace_add_name(b, plane->stat_names, &plane->n_stat_names, i + 1, names[i]);
    }
    return plane;
}

/* ---- files -------------------------------------------------------------------------------- */

static void put_space(builder *b, const res_record *record, bn_text *out)
{
    bn_text name = {0}, label = {0};
    plane_message *planes[] = {make_host(b, record), make_session(b, record)};
    space_message space = BENCH__TRACE__SPACE__INIT;
    res_export_name(record, ':', &name);
    res_export_label(record, &label);
    space.planes = planes;
    space.n_planes = 2;
    space.warnings = &label.data;
    space.n_warnings = label.length > 0 ? 1 : 0;
    space.hosts = &name.data;
    space.n_hosts = 1;
    res_xspace_pack(&space, out);
    bn_text_free(&name);
    bn_text_free(&label);
}

static void write_xspace(const res_collection *all, res_export *export)
{
    builder b = {.memory = bn_arena_new(1 << 16)};
    for (size_t i = 0; i < all->count; i++) {
        const res_record *record = all->records[i];
        if (!res_record_good(record)) {
            export->left_out++;
            continue;
        }
        bn_text *out = res_export_add(export, "plugins/profile/%s/bench.xplane.pb", record->id);
        bn_arena_reset(b.memory);
        put_space(&b, record, out);
    }
    bn_arena_free(b.memory);
}

const res_export_format res_export_xspace = {"xspace", true, write_xspace};
