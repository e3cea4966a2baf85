/*
 * clocks.c - the CPU time that a thread spent outside of its calls, at any moment.
 *
 * A thread's clock is known where a call of it begins and ends, and the main thread's also where
 * another thread begins an execution. Between two such points outside of calls it is taken to have
 * run evenly. What it ran within a call does not count.
 */
#include "results/recordings/recordings_priv.h"

#include <stdlib.h>

/* A call, or a moment, at which the clock was read. */
typedef struct reading {
    uint64_t begin, end, cpu_begin, cpu_end;
} reading;

typedef struct readings {
    reading *list;
    size_t count, capacity;
} readings;

static bool add(readings *r, uint64_t begin, uint64_t end, uint64_t cpu_begin, uint64_t cpu_end)
{
    if (!bn_reserve(&r->list, r->count + 1, &r->capacity, sizeof *r->list))
        return false;
    r->list[r->count++] = (reading){begin, end, cpu_begin, cpu_end};
    return true;
}

static int by_begin(const void *a, const void *b)
{
    const reading *x = a, *y = b;
    /* A call before a moment at its begin. */
    return rec_order(x->begin, y->begin, y->end, x->end);
}

/* All readings of THREAD's clock, in order. */
static bool collect(const rec_process *p, uint32_t thread, bool of_main, readings *r)
{
    for (size_t i = 0; i < p->execution_count; i++) {
        const rec_execution *e = &p->executions[i];
        if (e->thread == thread) {
            if ((e->cpu_begin_ns || e->cpu_end_ns) &&
                !add(r, e->begin_ns, e->end_ns, e->cpu_begin_ns, e->cpu_end_ns))
                return false;
        } else if (of_main && e->main_cpu_ns) {
            if (!add(r, e->begin_ns, e->begin_ns, e->main_cpu_ns, e->main_cpu_ns))
                return false;
        }
    }
    for (size_t i = 0; i < p->call_count; i++) {
        const rec_call *c = &p->calls[i];
        if (c->thread == thread && (c->cpu_begin_ns || c->cpu_end_ns) &&
            !add(r, c->begin_ns, c->end_ns, c->cpu_begin_ns, c->cpu_end_ns))
            return false;
    }
    if (r->count)
        qsort(r->list, r->count, sizeof *r->list, by_begin);
    return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Makes points of readings. One within another call, as of a callback, says nothing of what is
 * outside. */
static bool join(const readings *r, rec_clock *clock)
{
    uint64_t outside = 0, end = 0, cpu = 0;
    clock->points = malloc((2 * r->count + 1) * sizeof *clock->points);
    if (!clock->points)
        return false;
    for (size_t i = 0; i < r->count; i++) {
        const reading *at = &r->list[i];
        if (i == 0 || at->begin >= end) {
            if (i > 0 && at->cpu_begin > cpu)
                outside += least(at->cpu_begin - cpu, at->begin - end);
            clock->points[clock->count].time = at->begin;
            clock->points[clock->count++].cpu = outside;
        } else if (at->end <= end) {
            continue;
        }
        end = at->end;
        cpu = at->cpu_end;
        clock->points[clock->count].time = end;
        clock->points[clock->count++].cpu = outside;
    }
    return true;
}

bn_code rec_clock_make(const rec_process *process, uint32_t thread, bool of_main, rec_clock *clock,
                       bn_status *st)
{
    readings r = {0};
    *clock = (rec_clock){0};
    const bool made = collect(process, thread, of_main, &r) && join(&r, clock);
    free(r.list);
    return made ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the clocks of threads");
}

void rec_clock_free(rec_clock *clock)
{
    free(clock->points);
    *clock = (rec_clock){0};
}

uint64_t rec_clock_at(rec_clock *clock, uint64_t time)
{
    const struct rec_clock_point *points = clock->points;
    if (clock->count == 0)
        return 0;
    while (clock->at + 1 < clock->count && points[clock->at + 1].time <= time)
        clock->at++;
    const struct rec_clock_point *from = &points[clock->at], *to = from + 1;
    if (time <= from->time || clock->at + 1 == clock->count || to->time <= from->time)
        return from->cpu;
    const double share = (double)(time - from->time) / (double)(to->time - from->time);
    return from->cpu + (uint64_t)(share * (double)(to->cpu - from->cpu));
}
