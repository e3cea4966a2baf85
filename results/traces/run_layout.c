/*
 * run_layout.c - which slices the spans of a timeline are. An execution on the device begins with
 * its call, or when the one before it has ended, and ends when the plugin or the wait says so; the
 * profile's executions have a lane of their own.
 */
#include "results/traces/run_priv.h"

#include <stdio.h>
#include <string.h>

typedef struct walk {
    bn_timeline *row;
    run_visit *visit;
    void *context;
    uint64_t flow;         /* the last one */
    uint64_t busy_until;   /* of the device; 0: nothing ran before */
    bool watched;          /* the device, since then */
    uint64_t last_step_ns; /* the end of the step before */
} walk;

void res_run_lane_name(bn_timeline *row, run_lane lane, char *name, size_t size)
{
    const bn_timeline_about *about = bn_timeline_describe(row);
    static const char *const of_host[] = {[RUN_LANE_STEPS] = "steps",
                                          [RUN_LANE_PARTS] = "parts of the ledger",
                                          [RUN_LANE_CALLS] = "calls of the plugin",
                                          [RUN_LANE_ANNOTATIONS] = "annotations and scopes"};
    /* The simulated device says so itself; another one may stand for it. */
    const char *simulated =
        about->simulated && !strstr(about->device, "simulated") ? " (simulated)" : "";
    if (lane == RUN_LANE_DEVICE)
        snprintf(name, size, "device %s%s: executions", about->device, simulated);
    else if (lane == RUN_LANE_PROFILE)
        snprintf(name, size, "device %s%s: the plugin's profile", about->device, simulated);
    else
        snprintf(name, size, "host thread %lld: %s", (long long)about->thread, of_host[lane]);
}

const char *res_run_step_name(bn_step_kind kind)
{
    static const char *const names[BN_STEP_KINDS] = {[BN_STEP_WARMUP] = "warm-up step",
                                                     [BN_STEP_MEASURED] = "step",
                                                     [BN_STEP_PROFILED] = "profiled step"};
    return names[kind];
}

static run_lane lane_of(const bn_span *span)
{
    static const run_lane lanes[BN_SPAN_COUNT] = {[BN_SPAN_STEP] = RUN_LANE_STEPS,
                                                  [BN_SPAN_PART] = RUN_LANE_PARTS,
                                                  [BN_SPAN_ANNOTATION] = RUN_LANE_ANNOTATIONS,
                                                  [BN_SPAN_SCOPE] = RUN_LANE_ANNOTATIONS,
                                                  [BN_SPAN_EXECUTE] = RUN_LANE_CALLS,
                                                  [BN_SPAN_COMPILE] = RUN_LANE_CALLS,
                                                  [BN_SPAN_TO_DEVICE] = RUN_LANE_CALLS,
                                                  [BN_SPAN_TO_HOST] = RUN_LANE_CALLS,
                                                  [BN_SPAN_PROFILED] = RUN_LANE_PROFILE};
    return lanes[span->kind];
}

size_t res_run_lane_most(const bn_timeline *row, run_lane lane)
{
    size_t most = 0;
    for (size_t i = 0; i < bn_timeline_count(row); i++) {
        const bn_span *span = bn_timeline_at(row, i);
        /* Each execution may have a gap before it. */
        if (lane == RUN_LANE_DEVICE)
            most += span->kind == BN_SPAN_EXECUTE && bn_completion_time(&span->done) ? 2 : 0;
        else
            most += lane_of(span) == lane;
    }
    return most;
}

uint64_t res_run_first_ns(bn_timeline *const *rows, size_t count)
{
    uint64_t first = UINT64_MAX;
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < bn_timeline_count(rows[r]); i++)
            if (bn_timeline_at(rows[r], i)->begin_ns < first)
                first = bn_timeline_at(rows[r], i)->begin_ns;
    return first == UINT64_MAX ? 0 : first;
}

/* ---- slices --------------------------------------------------------------------------------- */

static const char *name_of(const walk *w, const bn_span *span)
{
    const char *name = bn_timeline_name(w->row, span);
    switch ((bn_span_kind)span->kind) {
    case BN_SPAN_PART:
        return bn_part_name((bn_part)span->what);
    case BN_SPAN_COMPILE:
        return "compile";
    case BN_SPAN_TO_DEVICE:
        return "to device";
    case BN_SPAN_TO_HOST:
        return "to host";
    default:
        return *name ? name : "(no name)";
    }
}

static void visit_span(walk *w, const bn_span *span, uint64_t flow)
{
    const run_slice slice = {.lane = lane_of(span),
                             .name = name_of(w, span),
                             .begin_ns = span->begin_ns,
                             .end_ns = span->end_ns,
                             .span = span,
                             .flow = flow};
    w->visit(w->context, &slice);
}

/* A call that submits, the device's execution, and the gap before it, where it is known. */
static void visit_execution(walk *w, const bn_span *span)
{
    const uint64_t done = bn_completion_time(&span->done);
    if (done == 0) {
        visit_span(w, span, 0);
        /* The time of the execution is unknown. */
        w->watched = false;
        return;
    }
    run_slice slice = {.lane = RUN_LANE_DEVICE, .name = "gap"};
    visit_span(w, span, ++w->flow);
    const uint64_t start = span->begin_ns > w->busy_until ? span->begin_ns : w->busy_until;
    if (w->watched && w->busy_until > 0 && start > w->busy_until) {
        slice.begin_ns = w->busy_until;
        slice.end_ns = start;
        w->visit(w->context, &slice);
    }
    slice.name = name_of(w, span);
    slice.begin_ns = start;
    slice.end_ns = done > start ? done : start;
    slice.span = span;
    slice.flow = w->flow;
    w->visit(w->context, &slice);
    w->busy_until = slice.end_ns;
    w->watched = true;
}

static void visit_step(walk *w, const bn_span *span, const uint64_t *part_ns)
{
    char name[64];
    snprintf(name, sizeof name, "%s %llu", res_run_step_name((bn_step_kind)span->what),
             (unsigned long long)span->value);
    const run_slice slice = {.lane = RUN_LANE_STEPS,
                             .name = name,
                             .begin_ns = span->begin_ns,
                             .end_ns = span->end_ns,
                             .span = span,
                             .part_ns = part_ns};
    w->visit(w->context, &slice);
}

/* ---- steps ------------------------------------------------------------------------------------
 */

/* The spans from FROM to STEP, which is the span of their step; or to the end, where it was cut off
 * and STEP is the count. */
static void visit_until(walk *w, size_t from, size_t step)
{
    uint64_t part_ns[BN_PART_COUNT] = {0}, accounted = 0;
    const bn_span *whole = step < bn_timeline_count(w->row) ? bn_timeline_at(w->row, step) : NULL;
    /* Between steps that are not neighbours the device's work is unknown. */
    if (!whole || whole->begin_ns != w->last_step_ns)
        w->watched = false;
    for (size_t i = from; i < step; i++) {
        const bn_span *span = bn_timeline_at(w->row, i);
        if (span->kind == BN_SPAN_EXECUTE)
            visit_execution(w, span);
        else
            visit_span(w, span, 0);
        if (span->kind == BN_SPAN_PART && whole && span->begin_ns >= whole->begin_ns) {
            part_ns[span->what] += span->end_ns - span->begin_ns;
            accounted += span->end_ns - span->begin_ns;
        }
    }
    if (!whole)
        return;
    const uint64_t wall_ns = whole->end_ns - whole->begin_ns;
    part_ns[BN_PART_OTHER] = wall_ns > accounted ? wall_ns - accounted : 0;
    visit_step(w, whole, part_ns);
    w->last_step_ns = whole->end_ns;
}

void res_run_walk(bn_timeline *row, run_visit *visit, void *context)
{
    walk w = {.row = row, .visit = visit, .context = context};
    const size_t count = bn_timeline_count(row);
    size_t from = 0;
    for (size_t i = 0; i < count; i++)
        if (bn_timeline_at(row, i)->kind == BN_SPAN_STEP) {
            visit_until(&w, from, i);
            from = i + 1;
        }
    visit_until(&w, from, count);
}
