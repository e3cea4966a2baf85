/*
 * run_xspace.c - the timelines of a run as an XSpace message: a plane of the host, which has the
 * lanes of all rows, and of each row one of its device, where there is something to show. xprof
 * shows one host, and devices by the names that it knows. All lines count from the first span; the
 * plane "Task Environment", as in OpenXLA's own profiles, is not written, since the monotonic clock
 * knows no date.
 */
#include "results/traces/run_priv.h"
#include "results/traces/xspace.h"

#include <stdio.h>
#include <string.h>

/* Names of events by number: kinds of steps, gaps, parts, kinds of calls, the timeline's own. */
enum { NAME_STEPS = 1, NAME_GAP = NAME_STEPS + BN_STEP_KINDS, NAME_PARTS };
#define NAME_KINDS (NAME_PARTS + BN_PART_COUNT)
#define NAME_OWN   (NAME_KINDS + BN_SPAN_COUNT)
#define NAME_COUNT (NAME_OWN + BN_TIMELINE_NAMES)
enum { STAT_STEP = 1, STAT_BYTES, STAT_COUNT };

/* A row that becomes lines and a plane. */
typedef struct row_planes {
    res_xspace *b;
    bn_timeline *row;
    bool alone;        /* the only one */
    size_t first_name; /* of its names: each row has numbers of its own */
    uint64_t from_ns;
    Bench__Trace__Line *lines[RUN_LANE_END]; /* NULL: it is empty */
    Bench__Trace__Plane *plane_of[RUN_LANE_END];
    bool named[2][NAME_COUNT]; /* of the host's plane, of the device's */
} row_planes;

static bool on_device(run_lane lane)
{
    return lane == RUN_LANE_DEVICE || lane == RUN_LANE_PROFILE;
}

static size_t number_of(const run_slice *s)
{
    if (!s->span)
        return NAME_GAP;
    switch ((bn_span_kind)s->span->kind) {
    case BN_SPAN_STEP:
        return (size_t)NAME_STEPS + s->span->what;
    case BN_SPAN_PART:
        return (size_t)NAME_PARTS + s->span->what;
    case BN_SPAN_COMPILE:
    case BN_SPAN_TO_DEVICE:
    case BN_SPAN_TO_HOST:
        return (size_t)NAME_KINDS + s->span->kind;
    default:
        return (size_t)NAME_OWN + s->span->name;
    }
}

static void add_slice(void *context, const run_slice *s)
{
    row_planes *p = context;
    Bench__Trace__Line *line = p->lines[s->lane];
    Bench__Trace__Plane *plane = p->plane_of[s->lane];
    if (!line)
        return;
    const size_t number = number_of(s);
    bool *named = &p->named[on_device(s->lane)][number];
    const size_t id = p->first_name + number;
    const bool step = s->span && s->span->kind == BN_SPAN_STEP;
    if (!*named)
        res_xspace_add_name(p->b, plane->event_names, &plane->n_event_names, (int64_t)id,
                            step ? res_run_step_name((bn_step_kind)s->span->what) : s->name);
    *named = true;
    Bench__Trace__Event *event =
        res_xspace_add_event(p->b, line, id, s->begin_ns - p->from_ns, s->end_ns - s->begin_ns);
    if (!s->span)
        return;
    if (step)
        res_xspace_set_stat(p->b, event, STAT_STEP, (int64_t)s->span->value);
    else if (s->span->value > 0)
        res_xspace_set_stat(p->b, event, STAT_BYTES, (int64_t)s->span->value);
}

static void add_lines(row_planes *p, Bench__Trace__Plane *plane, bool device)
{
    const bn_timeline_about *about = bn_timeline_describe(p->row);
    char name[1000], lane_name[600];
    for (run_lane lane = RUN_LANE_STEPS; lane < RUN_LANE_END; lane++) {
        const size_t most = res_run_lane_most(p->row, lane);
        if (most == 0 || on_device(lane) != device)
            continue;
        res_run_lane_name(p->row, lane, lane_name, sizeof lane_name);
        if (p->alone || device)
            snprintf(name, sizeof name, "%s", lane_name);
        else
            snprintf(name, sizeof name, "%.*s, process %lld, %s", BN_FIT(about->mode, 300),
                     (long long)about->process, lane_name);
        p->plane_of[lane] = plane;
        p->lines[lane] = res_xspace_add_line(p->b, plane, name, most);
    }
}

/* A plane with room for the lines of COUNT rows. */
static Bench__Trace__Plane *make_plane(res_xspace *b, size_t number, const char *name, size_t count)
{
    Bench__Trace__Plane *plane = res_xspace_make_plane(
        b, (int64_t)number, name, count * RUN_LANE_END, count * NAME_COUNT, STAT_COUNT);
    res_xspace_add_name(b, plane->stat_names, &plane->n_stat_names, STAT_STEP, "step_num");
    res_xspace_add_name(b, plane->stat_names, &plane->n_stat_names, STAT_BYTES, "bytes");
    return plane;
}

/* Row INDEX of COUNT: its lines in the first of PLANES, and its device's plane behind all N. */
static void add_row(res_xspace *b, bn_timeline *const *rows, size_t index, size_t count,
                    Bench__Trace__Plane **planes, size_t *n)
{
    row_planes *p = res_xspace_take(b, 1, sizeof *p);
    bn_timeline *row = rows[index];
    const bn_timeline_about *about = bn_timeline_describe(row);
    char device[400];
    *p = (row_planes){.b = b,
                      .row = row,
                      .alone = count == 1,
                      .first_name = index * NAME_COUNT,
                      .from_ns = res_run_first_ns(rows, count)};
    add_lines(p, planes[0], false);
    if (res_run_lane_most(row, RUN_LANE_DEVICE) + res_run_lane_most(row, RUN_LANE_PROFILE) > 0) {
        snprintf(device, sizeof device, "/device:CUSTOM:%zu %.*s, process %lld", index,
                 BN_FIT(about->mode, 300), (long long)about->process);
        planes[*n] = make_plane(b, *n + 1, device, 1);
        add_lines(p, planes[(*n)++], true);
    }
    res_run_walk(row, add_slice, p);
}

void res_run_xspace(bn_timeline *const *rows, size_t count, bn_text *out)
{
    res_xspace b = {.memory = bn_arena_new(1 << 16)};
    Bench__Trace__Space space = BENCH__TRACE__SPACE__INIT;
    Bench__Trace__Plane **planes = res_xspace_take(&b, count + 1, sizeof(Bench__Trace__Plane *));
    char **hosts = res_xspace_take(&b, 1, sizeof(char *));
    planes[space.n_planes++] = make_plane(&b, 1, "/host:CPU", count);
    for (size_t i = 0; i < count; i++)
        add_row(&b, rows, i, count, planes, &space.n_planes);
    hosts[0] = bn_arena_strdup(b.memory, "bench");
    space.planes = planes;
    space.hosts = hosts;
    space.n_hosts = 1;
    res_xspace_pack(&space, out);
    bn_arena_free(b.memory);
}
