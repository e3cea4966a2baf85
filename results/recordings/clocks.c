/*
 * clocks.c - the CPU time that a thread spent outside of its calls, at any moment.
 *
 * A thread's clock is known where a call of it begins and ends, and the main thread's also where
 * another thread begins an execution. Between two such points outside of calls it is taken to have
 * run evenly. What it ran within a call does not count.
 *
 * Of the rest of the time, in calls and outside of them, a thread may have been ready without
 * running. The kernel's sum of that is known where it was read.
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

/* ---- ready and not run -------------------------------------------------------------------- */

/* A time between two readings of the clock. */
typedef struct stretch {
    uint64_t begin, end;
    double off, ready; /* off the CPU; of that ready to run, as far as it is given to it */
    bool call;
} stretch;

typedef struct stretches {
    stretch *list;
    size_t count;
} stretches;

static void add_stretch(stretches *s, uint64_t begin, uint64_t end, uint64_t cpu, bool call)
{
    if (end > begin)
        s->list[s->count++] =
            (stretch){begin, end, end - begin > cpu ? (double)(end - begin - cpu) : 0, 0, call};
}

/* Cuts the time at all readings; as in join, those within another call say nothing. */
static bool cut(const readings *r, stretches *s)
{
    uint64_t end = 0, cpu = 0;
    s->list = malloc((2 * r->count + 1) * sizeof *s->list);
    for (size_t i = 0; s->list && i < r->count; i++) {
        const reading *at = &r->list[i];
        if (i > 0 && at->end <= end)
            continue;
        const bool nested = i > 0 && at->begin < end;
        if (i > 0 && !nested)
            add_stretch(s, end, at->begin, at->cpu_begin > cpu ? at->cpu_begin - cpu : 0, false);
        const uint64_t begin = nested ? end : at->begin, from = nested ? cpu : at->cpu_begin;
        add_stretch(s, begin, at->end, at->cpu_end > from ? at->cpu_end - from : 0, true);
        end = at->end;
        cpu = at->cpu_end;
    }
    return s->list != NULL;
}

/* How much of S, between FROM and TO, may still have been ready. */
static double room_in(const stretch *s, uint64_t from, uint64_t to)
{
    const uint64_t begin = from > s->begin ? from : s->begin, end = least(to, s->end);
    const double room =
        end > begin ? s->off * ((double)(end - begin) / (double)(s->end - s->begin)) : 0;
    return room < s->off - s->ready ? room : s->off - s->ready;
}

/* Gives NS to the stretches between FROM and TO, in proportion to their room; returns what they
 * cannot hold. *AT is the first one that may reach beyond FROM, and goes on. */
static double give(stretches *s, size_t *at, uint64_t from, uint64_t to, double ns)
{
    double room = 0;
    while (*at < s->count && s->list[*at].end <= from)
        (*at)++;
    for (size_t i = *at; i < s->count && s->list[i].begin < to; i++)
        room += room_in(&s->list[i], from, to);
    if (!(room > 0))
        return ns;
    const double share = ns < room ? ns / room : 1;
    for (size_t i = *at; i < s->count && s->list[i].begin < to; i++)
        s->list[i].ready += share * room_in(&s->list[i], from, to);
    return ns < room ? 0 : ns - room;
}

/* A moment between the events before and behind those that were dropped; UINT64_MAX: none were. */
static uint64_t in_dropped(const rec_process *p)
{
    if (!p->dropped.any)
        return UINT64_MAX;
    const rec_pause *pause = &p->pauses[p->dropped.pause];
    return pause->from_ns + (pause->to_ns - pause->from_ns) / 2;
}

/* Gives what the delay grew by from reading to reading. Several threads may have read it. What it
 * grew by over the moment DROPPED, of which readings are missing, nobody knows the time of. */
static void give_delays(const rec_delay *delays, size_t count, uint64_t dropped, stretches *s)
{
    double left = 0;
    size_t at = 0;
    for (size_t i = 1; i < count; i++) {
        const rec_delay *now = &delays[i], *before = &delays[i - 1];
        if (before->time_ns <= dropped && now->time_ns > dropped) {
            left = 0;
            continue;
        }
        const uint64_t from = now->from_ns > before->time_ns ? now->from_ns : before->time_ns;
        if (now->total_ns > before->total_ns)
            left += (double)(now->total_ns - before->total_ns);
        /* A thread that lost its core between its clock and this was read has that in what
         * follows. */
        left = give(s, &at, from, now->time_ns, left);
    }
}

static bool draw(const stretches *s, bool calls, rec_clock *line)
{
    double sum = 0;
    line->points = malloc((2 * s->count + 1) * sizeof *line->points);
    for (size_t i = 0; line->points && i < s->count; i++) {
        const stretch *at = &s->list[i];
        line->points[line->count++] = (struct rec_clock_point){at->begin, (uint64_t)sum};
        sum += calls || !at->call ? at->ready : 0;
        line->points[line->count++] = (struct rec_clock_point){at->end, (uint64_t)sum};
    }
    return line->points != NULL;
}

bn_code rec_ready_make(const rec_process *process, uint32_t thread, bool of_main, rec_ready *ready,
                       bn_status *st)
{
    readings r = {0};
    stretches s = {0};
    size_t first = 0, count = 0;
    *ready = (rec_ready){.known = false};
    while (first < process->delay_count && process->delays[first].thread != thread)
        first++;
    while (first + count < process->delay_count && process->delays[first + count].thread == thread)
        count++;
    bool made = collect(process, thread, of_main, &r) && cut(&r, &s);
    if (made) {
        give_delays(process->delays + first, count, in_dropped(process), &s);
        made = draw(&s, false, &ready->outside) && draw(&s, true, &ready->all);
    }
    ready->known = count > 0;
    free(r.list);
    free(s.list);
    return made ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the delays of threads");
}

void rec_ready_free(rec_ready *ready)
{
    rec_clock_free(&ready->outside);
    rec_clock_free(&ready->all);
}
