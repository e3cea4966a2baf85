/*
 * kernels.c - executions out of the kernels of a GPU's profile.
 *
 * XLA's GPU profiler reports kernels and copies, each with the program that it is of (the statistic
 * hlo_module) and the scope in which the host launched it (scope_range_id). The plane
 * "/host:__ScopeRangeCallStack__" has the scope around each scope. XLA opens one for each execution
 * of a program, so kernels with the same outermost scope are of one execution. Source:
 * xla/backends/profiler/gpu/cupti_collector.cc of openxla/xla, and a profile of an H100.
 */
#include "runtime/profile/profile_priv.h"

#include <stdlib.h>
#include <string.h>

#define SCOPES  "/host:__ScopeRangeCallStack__"
#define DEEPEST 64 /* scopes within scopes; more is a circle */

typedef struct scope {
    int64_t id, around;
} scope;

typedef struct kernel {
    const char *module;
    int64_t root; /* the outermost scope around it */
    size_t plane;
    uint64_t begin_ns, end_ns;
} kernel;

typedef struct reading {
    scope *scopes; /* by id */
    size_t scope_count, scope_room;
    kernel *kernels;
    size_t kernel_count, kernel_room;
    rt_names stats; /* of the plane in hand */
} reading;

/* ---- scopes --------------------------------------------------------------------------- */

static int by_id(const void *left, const void *right)
{
    const scope *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static bool read_scopes(reading *r, const Bench__Trace__Plane *plane)
{
    if (!bn_reserve(&r->scopes, r->scope_count + plane->n_stats, &r->scope_room, sizeof *r->scopes))
        return false;
    for (size_t i = 0; i < plane->n_stats; i++)
        r->scopes[r->scope_count++] = (scope){plane->stats[i]->name_id, plane->stats[i]->int_value};
    return true;
}

static int64_t outermost(const reading *r, int64_t id)
{
    for (int depth = 0; depth < DEEPEST && r->scope_count > 0; depth++) {
        const scope key = {.id = id};
        const scope *found = bsearch(&key, r->scopes, r->scope_count, sizeof key, by_id);
        if (!found || found->around == 0)
            break;
        id = found->around;
    }
    return id;
}

/* ---- kernels -------------------------------------------------------------------------- */

/* Numbers of a plane's statistics. */
typedef struct plane_words {
    int64_t module, scope;
} plane_words;

/* Whether EVENT is a kernel of an execution; fills K. */
static bool read_kernel(const reading *r, const Bench__Trace__Event *event,
                        const plane_words *words, kernel *k)
{
    int64_t id = 0;
    k->module = "";
    for (size_t i = 0; i < event->n_stats; i++) {
        if (event->stats[i]->name_id == words->module)
            k->module = rt_xspace_names_text(&r->stats, event->stats[i]);
        else if (event->stats[i]->name_id == words->scope)
            id = event->stats[i]->int_value;
    }
    if (!k->module[0] || id == 0 || event->occurrences > 0)
        return false;
    k->root = outermost(r, id);
    return true;
}

static bool read_line(reading *r, size_t number, const Bench__Trace__Line *line,
                      const plane_words *words)
{
    if (!bn_reserve(&r->kernels, r->kernel_count + line->n_events, &r->kernel_room,
                    sizeof *r->kernels))
        return false;
    const uint64_t start_ns = rt_xspace_unsigned(line->start_ns);
    for (size_t i = 0; i < line->n_events; i++) {
        const Bench__Trace__Event *event = line->events[i];
        const uint64_t offset_ps = rt_xspace_unsigned(event->offset_ps);
        const uint64_t duration_ps = rt_xspace_unsigned(event->duration_ps);
        kernel k = {.plane = number, .begin_ns = start_ns + offset_ps / 1000};
        k.end_ns = k.begin_ns + duration_ps / 1000;
        if (read_kernel(r, event, words, &k))
            r->kernels[r->kernel_count++] = k;
    }
    return true;
}

static bool read_plane(reading *r, const Bench__Trace__Plane *plane, size_t number)
{
    const plane_words words = {.module = rt_xspace_stat_id(plane, "hlo_module"),
                               .scope = rt_xspace_stat_id(plane, "scope_range_id")};
    if (words.module == RT_NO_STAT || words.scope == RT_NO_STAT ||
        rt_xspace_has_line(plane, "XLA Modules"))
        return true;
    if (!rt_xspace_names_make(&r->stats, plane->stat_names, plane->n_stat_names))
        return false;
    for (size_t i = 0; i < plane->n_lines; i++)
        if (!read_line(r, number, plane->lines[i], &words))
            return false;
    return true;
}

/* ---- executions ----------------------------------------------------------------------- */

/* Kernels of one execution stand together, in order of their begin. */
static int by_execution(const void *left, const void *right)
{
    const kernel *a = left, *b = right;
    if (a->plane != b->plane)
        return a->plane < b->plane ? -1 : 1;
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    const int names = rt_names_compare(a->module, b->module);
    if (names != 0)
        return names;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static bool same_execution(const kernel *a, const kernel *b)
{
    return a->plane == b->plane && a->root == b->root &&
           rt_names_compare(a->module, b->module) == 0;
}

/* The execution of the COUNT kernels from FIRST on, which are sorted by their begin. */
static rt_device_span execution_of(const kernel *first, size_t count)
{
    rt_device_span span = {.plane = first->plane, .start_ns = first->begin_ns, .kernels = count};
    uint64_t end_ns = first->begin_ns;
    strncpy(span.name, first->module, sizeof span.name - 1);
    for (size_t i = 0; i < count; i++) {
        const uint64_t begin_ns = first[i].begin_ns > end_ns ? first[i].begin_ns : end_ns;
        if (first[i].end_ns > begin_ns) {
            span.busy_ns += first[i].end_ns - begin_ns;
            end_ns = first[i].end_ns;
        }
    }
    span.duration_ns = end_ns - span.start_ns;
    return span;
}

static bool add_executions(const reading *r, rt_device_span **spans, size_t *count)
{
    size_t room = *count;
    for (size_t i = 0, n = 0; i < r->kernel_count; i += n) {
        for (n = 1; i + n < r->kernel_count; n++)
            if (!same_execution(&r->kernels[i], &r->kernels[i + n]))
                break;
        if (!bn_reserve(spans, *count + 1, &room, sizeof **spans))
            return false;
        (*spans)[(*count)++] = execution_of(&r->kernels[i], n);
    }
    return true;
}

bn_code rt_xspace_kernel_spans(const Bench__Trace__Space *space, rt_device_span **spans,
                               size_t *count, bn_status *st)
{
    reading r = {0};
    bool room = true;
    for (size_t i = 0; room && i < space->n_planes; i++)
        if (strcmp(space->planes[i]->name, SCOPES) == 0)
            room = read_scopes(&r, space->planes[i]);
    if (r.scope_count > 0)
        qsort(r.scopes, r.scope_count, sizeof *r.scopes, by_id);
    for (size_t i = 0; room && i < space->n_planes; i++)
        if (rt_xspace_is_device(space->planes[i]))
            room = read_plane(&r, space->planes[i], i);
    if (r.kernel_count > 0)
        qsort(r.kernels, r.kernel_count, sizeof *r.kernels, by_execution);
    room = room && add_executions(&r, spans, count);
    free(r.scopes);
    free(r.kernels);
    rt_xspace_names_free(&r.stats);
    return room ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the kernels of a profile");
}
