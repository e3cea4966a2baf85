/*
 * ops.c - times of ops out of a plugin's profile.
 *
 * XLA's profilers put the ops of a device on the line "XLA Ops". The statistic tf_op of an event,
 * or of all events of its name, is the op_name of the instruction: what loc("...") of the program
 * text said. On a GPU there is no such line: kernels have the name of their instruction (hlo_op),
 * and the program, which says the op's (places.c). Source: xplane.proto of openxla/xla, and
 * GetStatTypeStr and the names of lines in tsl/profiler/utils/xplane_schema.cc.
 */
#include "runtime/profile/profile_priv.h"

#include <stdlib.h>
#include <string.h>

typedef Bench__Trace__Plane plane_message;
typedef Bench__Trace__Line line_message;
typedef Bench__Trace__Event event_message;
typedef Bench__Trace__NameEntry name_entry;

/* Events of a profile, and room for the largest of its lines. */
typedef struct gathering {
    const rt_places *places;
    rt_op_time *list; /* an entry an event */
    size_t count;
    const event_message **line;
    size_t *open; /* events that the one in hand may lie within, as numbers in LIST */
    uint64_t *end_ps;
    const name_entry **kinds; /* of the plane in hand, by number */
    size_t kind_count;
    rt_names stats; /* likewise */
} gathering;

/* ---- names ---------------------------------------------------------------------------- */

static int by_id(const void *left, const void *right)
{
    const name_entry *const *a = left, *const *b = right;
    return ((*a)->id > (*b)->id) - ((*a)->id < (*b)->id);
}

static int id_and_entry(const void *key, const void *member)
{
    const int64_t *id = key;
    const name_entry *const *entry = member;
    return (*id > (*entry)->id) - (*id < (*entry)->id);
}

/* The text of the first of COUNT STATS whose name is TF_OP; "" without one. */
static const char *text_of(const gathering *g, int64_t tf_op, Bench__Trace__Stat *const *stats,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (stats[i]->name_id == tf_op)
            return rt_xspace_names_text(&g->stats, stats[i]);
    return "";
}

static const char *op_of(const gathering *g, int64_t tf_op, const event_message *event)
{
    const char *own = text_of(g, tf_op, event->stats, event->n_stats);
    if (own[0] || !g->kind_count)
        return own;
    const name_entry *const *entry =
        bsearch(&event->name_id, g->kinds, g->kind_count, sizeof *g->kinds, id_and_entry);
    if (!entry || !(*entry)->value)
        return "";
    return text_of(g, tf_op, (*entry)->value->stats, (*entry)->value->n_stats);
}

/* ---- events --------------------------------------------------------------------------- */

/* By begin; of those that begin together, the longer first: it holds the others. */
static int by_begin(const void *left, const void *right)
{
    const event_message *const *a = left, *const *b = right;
    const uint64_t x = rt_xspace_unsigned((*a)->offset_ps), y = rt_xspace_unsigned((*b)->offset_ps);
    if (x != y)
        return x < y ? -1 : 1;
    const uint64_t m = rt_xspace_unsigned((*a)->duration_ps),
                   n = rt_xspace_unsigned((*b)->duration_ps);
    return m > n ? -1 : m < n;
}

static void add_line(gathering *g, int64_t tf_op, const line_message *line)
{
    size_t count = 0, depth = 0;
    for (size_t i = 0; i < line->n_events; i++)
        if (line->events[i]->occurrences <= 0) /* a sum of many has no place in time */
            g->line[count++] = line->events[i];
    if (count)
        qsort(g->line, count, sizeof *g->line, by_begin);
    for (size_t i = 0; i < count; i++) {
        const uint64_t begin = rt_xspace_unsigned(g->line[i]->offset_ps);
        const uint64_t duration = rt_xspace_unsigned(g->line[i]->duration_ps);
        while (depth > 0 && g->end_ps[depth - 1] <= begin)
            depth--;
        if (depth > 0) {
            uint64_t *around = &g->list[g->open[depth - 1]].ps;
            /* Above 0: the loop before saw to that. */
            const uint64_t left = g->end_ps[depth - 1] - begin;
            const uint64_t within = duration < left ? duration : left;
            *around -= within < *around ? within : *around;
        }
        g->open[depth] = g->count;
        g->end_ps[depth++] = begin + duration;
        g->list[g->count++] =
            (rt_op_time){.name = op_of(g, tf_op, g->line[i]), .ps = duration, .events = 1};
    }
}

/* Numbers of the statistics of kernels on a plane. */
typedef struct kernel_stats {
    int64_t module, number, instruction;
} kernel_stats;

/* The kernels of LINE, those of no program left out. They do not lie within each other. */
static void add_kernels(gathering *g, const kernel_stats *ids, const line_message *line)
{
    for (size_t i = 0; i < line->n_events; i++) {
        const event_message *event = line->events[i];
        const char *module = text_of(g, ids->module, event->stats, event->n_stats);
        int64_t number = 0;
        for (size_t k = 0; k < event->n_stats; k++)
            if (event->stats[k]->name_id == ids->number)
                number = event->stats[k]->int_value;
        if (!module[0] || event->occurrences > 0)
            continue;
        const char *instruction = text_of(g, ids->instruction, event->stats, event->n_stats);
        g->list[g->count++] =
            (rt_op_time){.name = rt_xspace_place(g->places, module, number, instruction),
                         .ps = rt_xspace_unsigned(event->duration_ps),
                         .events = 1};
    }
}

static bool add_plane(gathering *g, const plane_message *plane)
{
    const int64_t tf_op = rt_xspace_stat_id(plane, "tf_op");
    const kernel_stats kernels = {rt_xspace_stat_id(plane, "hlo_module"),
                                  rt_xspace_stat_id(plane, "program_id"),
                                  rt_xspace_stat_id(plane, "hlo_op")};
    const bool by_kernels = !rt_xspace_has_line(plane, "XLA Ops") && kernels.module != RT_NO_STAT &&
                            kernels.instruction != RT_NO_STAT;
    if (!rt_xspace_names_make(&g->stats, plane->stat_names, plane->n_stat_names))
        return false;
    g->kind_count = plane->n_event_names;
    for (size_t i = 0; i < g->kind_count; i++)
        g->kinds[i] = plane->event_names[i];
    if (g->kind_count)
        qsort(g->kinds, g->kind_count, sizeof *g->kinds, by_id);
    for (size_t i = 0; i < plane->n_lines; i++)
        if (strcmp(plane->lines[i]->name, "XLA Ops") == 0)
            add_line(g, tf_op, plane->lines[i]);
        else if (by_kernels)
            add_kernels(g, &kernels, plane->lines[i]);
    return true;
}

/* Room for all events of SPACE; false without memory. */
static bool make_room(gathering *g, const Bench__Trace__Space *space)
{
    size_t events = 0, longest = 0, kinds = 0;
    for (size_t i = 0; i < space->n_planes; i++) {
        const plane_message *plane = space->planes[i];
        kinds = plane->n_event_names > kinds ? plane->n_event_names : kinds;
        for (size_t j = 0; j < plane->n_lines; j++) {
            events += plane->lines[j]->n_events;
            longest = plane->lines[j]->n_events > longest ? plane->lines[j]->n_events : longest;
        }
    }
    g->list = malloc((events + 1) * sizeof *g->list);
    g->line = malloc((longest + 1) * sizeof *g->line);
    g->open = malloc((longest + 1) * sizeof *g->open);
    g->end_ps = malloc((longest + 1) * sizeof *g->end_ps);
    g->kinds = malloc((kinds + 1) * sizeof *g->kinds);
    return g->list && g->line && g->open && g->end_ps && g->kinds;
}

static int by_name(const void *left, const void *right)
{
    const rt_op_time *a = left, *b = right;
    return rt_names_compare(a->name, b->name);
}

/* The sum, or as much as there can be. */
static uint64_t sum_of(uint64_t a, uint64_t b)
{
    return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* Adds up what has one name, into ARENA. */
static void merge(gathering *g, bn_arena *arena, rt_op_time **list, size_t *count)
{
    size_t n = 0;
    if (g->count)
        qsort(g->list, g->count, sizeof *g->list, by_name);
    for (size_t i = 0; i < g->count; i++) {
        if (n > 0 && rt_names_compare(g->list[n - 1].name, g->list[i].name) == 0) {
            g->list[n - 1].ps = sum_of(g->list[n - 1].ps, g->list[i].ps);
            g->list[n - 1].events++;
        } else {
            g->list[n++] = g->list[i];
        }
    }
    *list = bn_arena_alloc(arena, (n + 1) * sizeof **list);
    for (size_t i = 0; i < n; i++) {
        (*list)[i] = g->list[i];
        (*list)[i].name = bn_arena_strdup(arena, g->list[i].name);
    }
    *count = n;
}

bn_code rt_xspace_op_times(const void *xspace, size_t size, bn_arena *arena, rt_op_time **list,
                           size_t *count, bn_status *st)
{
    rt_xspace x;
    rt_places places;
    gathering g = {.places = &places};
    bn_code code = rt_xspace_unpack(xspace, size, &x, st);
    if (code != BN_OK)
        return code;
    bool room = rt_xspace_places_make(&x, &places) && make_room(&g, x.space);
    for (size_t i = 0; room && i < x.space->n_planes; i++)
        if (rt_xspace_is_device(x.space->planes[i]))
            room = add_plane(&g, x.space->planes[i]);
    if (x.refused)
        code = bn_fail(st, BN_FORMAT, "a profile whose programs take too much memory");
    else if (!room)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the ops of a profile");
    else
        merge(&g, arena, list, count);
    free(g.list);
    free(g.line);
    free(g.open);
    free(g.end_ps);
    free(g.kinds);
    rt_xspace_names_free(&g.stats);
    rt_xspace_places_free(&x, &places);
    rt_xspace_free(&x);
    return code;
}
