/*
 * busy.c - when the device of the steps worked.
 */
#include "results/complaints/complaints_priv.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
    const struct rec_busy_span *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                              : (x->to > y->to) - (x->to < y->to);
}

/* The spans of all executions of the steps' device that are known to have ended. */
static bool collect(const rec_steps *s, rec_busy *busy)
{
    const rec_process *p = s->process;
    size_t room = 0;
    for (size_t i = 0; i < s->order_count; i++) {
        const rec_execution *e = &p->executions[s->order[i]];
        for (uint32_t d = 0; d < e->devices; d++) {
            const rec_span *span = &p->spans[e->spans + d];
            if (span->complete_ns <= span->start_ns)
                continue;
            if (!bn_reserve(&busy->list, busy->count + 1, &room, sizeof *busy->list))
                return false;
            busy->list[busy->count++] =
                (struct rec_busy_span){span->start_ns, span->complete_ns, 0};
        }
    }
    return true;
}

bool rec_busy_make(const rec_steps *steps, rec_busy *busy)
{
    size_t kept = 0;
    *busy = (rec_busy){0};
    if (!collect(steps, busy))
        return false;
    if (busy->count)
        qsort(busy->list, busy->count, sizeof *busy->list, by_start);
    for (size_t i = 0; i < busy->count; i++) {
        const struct rec_busy_span next = busy->list[i];
        struct rec_busy_span *last = kept ? &busy->list[kept - 1] : NULL;
        if (last && next.from <= last->to)
            last->to = next.to > last->to ? next.to : last->to;
        else
            busy->list[kept++] = next;
    }
    busy->count = kept;
    for (size_t i = 1; i < kept; i++) {
        const struct rec_busy_span *before = &busy->list[i - 1];
        busy->list[i].before = before->before + (before->to - before->from);
    }
    return true;
}

/* How long it had worked until TIME. */
static uint64_t worked_until(const rec_busy *busy, uint64_t time)
{
    size_t low = 0, high = busy->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (busy->list[middle].from <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    const struct rec_busy_span *span = &busy->list[low - 1];
    return span->before + (time < span->to ? time : span->to) - span->from;
}

double rec_idle_between(const rec_busy *busy, uint64_t from, uint64_t to)
{
    if (to <= from)
        return 0;
    return (double)(to - from - (worked_until(busy, to) - worked_until(busy, from)));
}
