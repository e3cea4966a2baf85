/*
 * spans.c - stretches of time, and how much of another one they cover.
 */
#include "results/recordings/recordings_priv.h"

#include <stdlib.h>

bool rec_spans_add(rec_spans *spans, uint64_t from, uint64_t to)
{
    if (to <= from)
        return true;
    if (!bn_reserve(&spans->list, spans->count + 1, &spans->capacity, sizeof *spans->list))
        return false;
    spans->list[spans->count++] = (struct rec_stretch){from, to, 0};
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct rec_stretch *x = a, *y = b;
    return rec_order(x->from, y->from, x->to, y->to);
}

void rec_spans_merge(rec_spans *spans)
{
    size_t kept = 0;
    if (spans->count)
        qsort(spans->list, spans->count, sizeof *spans->list, by_start);
    for (size_t i = 0; i < spans->count; i++) {
        const struct rec_stretch next = spans->list[i];
        struct rec_stretch *last = kept ? &spans->list[kept - 1] : NULL;
        if (last && next.from <= last->to)
            last->to = next.to > last->to ? next.to : last->to;
        else
            spans->list[kept++] = next;
    }
    spans->count = kept;
    for (size_t i = 1; i < kept; i++) {
        const struct rec_stretch *before = &spans->list[i - 1];
        spans->list[i].before = before->before + (before->to - before->from);
    }
}

/* How much of the time until TIME they cover. */
static uint64_t covered_until(const rec_spans *spans, uint64_t time)
{
    size_t low = 0, high = spans->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (spans->list[middle].from <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    const struct rec_stretch *span = &spans->list[low - 1];
    return span->before + (time < span->to ? time : span->to) - span->from;
}

uint64_t rec_spans_covered(const rec_spans *spans, uint64_t from, uint64_t to)
{
    return to > from ? covered_until(spans, to) - covered_until(spans, from) : 0;
}

void rec_spans_free(rec_spans *spans)
{
    free(spans->list);
    *spans = (rec_spans){0};
}
