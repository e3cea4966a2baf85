/*
 * timeline.c - spans of time in memory that was made before. timeline_file.c writes and reads them.
 */
#include "runtime/base/timeline_priv.h"

#include <stdlib.h>
#include <string.h>

bn_code bn_timeline_new(size_t most, bn_timeline **timeline, bn_status *st)
{
    bn_timeline *t = calloc(1, sizeof *t);
    bn_span *spans =
        t && most < SIZE_MAX / sizeof *spans ? malloc((most + 1) * sizeof *spans) : NULL;
    if (!spans) {
        free(t);
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a timeline of %zu spans", most);
    }
    memset(spans, 0, (most + 1) * sizeof *spans);
    t->spans = spans;
    t->most = most;
    t->name_count = NAME_FIRST;
    memcpy(t->names[NAME_OTHERS], "(others)", sizeof "(others)");
    *timeline = t;
    return BN_OK;
}

void bn_timeline_free(bn_timeline *t)
{
    if (!t)
        return;
    free(t->spans);
    free(t);
}

bn_timeline_about *bn_timeline_describe(bn_timeline *t)
{
    return &t->about;
}

/* ---- spans ------------------------------------------------------------------------------ */

/* A new span, all zeros but for its kind and times; NULL where there is no room, and then there is
 * none for what follows either. */
static bn_span *next_span(bn_timeline *t, bn_span_kind kind, uint64_t begin_ns, uint64_t end_ns)
{
    if (t->count >= t->most) {
        t->about.full = true;
        return NULL;
    }
    bn_span *span = &t->spans[t->count];
    span->kind = (uint16_t)kind;
    span->begin_ns = begin_ns;
    span->end_ns = end_ns;
    /* A signal's handler may look from here on. */
    __atomic_store_n(&t->count, t->count + 1, __ATOMIC_RELEASE);
    return span;
}

/* FNV-1a, 32 bits (Fowler, Noll, Vo). */
static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

/* The number of NAME, which may be new. */
static uint16_t name_of(bn_timeline *t, const char *name)
{
    const size_t length = name ? bn_utf8_fit(name, BN_TIMELINE_NAME - 1) : 0;
    if (length == 0)
        return NAME_NONE;
    size_t slot = hash_of(name, length) % NAME_SLOTS;
    for (; t->slots[slot] != 0; slot = (slot + 1) % NAME_SLOTS) {
        const char *known = t->names[t->slots[slot]];
        if (strncmp(known, name, length) == 0 && known[length] == '\0')
            return t->slots[slot];
    }
    if (t->name_count >= BN_TIMELINE_NAMES)
        return NAME_OTHERS;
    memcpy(t->names[t->name_count], name, length);
    t->slots[slot] = (uint16_t)t->name_count;
    return (uint16_t)t->name_count++;
}

/* ---- steps -------------------------------------------------------------------------------- */

bool bn_timeline_wants(const bn_timeline *t, uint64_t number)
{
    const uint64_t every = (uint64_t)t->about.every;
    return !t->about.full &&
           (number < (uint64_t)t->about.first || (every > 0 && number % every == 0));
}

void bn_timeline_step_begin(bn_timeline *t, bn_step_kind kind, uint64_t number)
{
    /* Executions of earlier steps were awaited in steps that were not noted. */
    if (kind != t->step_kind || number != t->step_number + 1)
        t->first_open = t->count;
    t->step_kind = kind;
    t->step_number = number;
    t->step_first = t->count;
    t->step_depth = t->depth;
    t->last_part = NONE;
}

static void close_at(bn_timeline *t, uint64_t now)
{
    const size_t index = t->open[--t->depth];
    if (index < t->count)
        t->spans[index].end_ns = now;
}

void bn_timeline_step_end(bn_timeline *t, uint64_t begin_ns, uint64_t end_ns)
{
    while (t->depth > t->step_depth)
        close_at(t, end_ns);
    bn_span *span = next_span(t, BN_SPAN_STEP, begin_ns, end_ns);
    t->last_part = NONE;
    if (span) {
        span->what = (uint16_t)t->step_kind;
        span->value = t->step_number;
        t->about.steps_shown += t->step_kind == BN_STEP_MEASURED;
        return;
    }
    /* Executions may still write when they completed, so these spans are never used again. */
    t->count = t->most = t->step_first;
}

void bn_timeline_part(bn_timeline *t, bn_part part, uint64_t begin_ns, uint64_t end_ns)
{
    if (begin_ns == end_ns || part == BN_PART_OTHER)
        return;
    bn_span *last = t->last_part != NONE ? &t->spans[t->last_part] : NULL;
    if (last && last->what == (uint16_t)part && last->end_ns == begin_ns) {
        last->end_ns = end_ns;
        return;
    }
    const size_t index = t->count;
    bn_span *span = next_span(t, BN_SPAN_PART, begin_ns, end_ns);
    if (!span)
        return;
    span->what = (uint16_t)part;
    t->last_part = index;
}

/* ---- calls and completions ------------------------------------------------------------------ */

bn_completion *bn_timeline_call(bn_timeline *t, bn_span_kind kind, const char *name, uint64_t value,
                                uint64_t begin_ns, uint64_t end_ns)
{
    bn_span *span = next_span(t, kind, begin_ns, end_ns);
    if (!span)
        return NULL;
    span->name = name_of(t, name);
    span->value = value;
    return &span->done;
}

void bn_completion_set(bn_completion *done, uint64_t at_ns)
{
    uint64_t none = 0;
    __atomic_compare_exchange_n(&done->at_ns, &none, at_ns, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
}

uint64_t bn_completion_time(const bn_completion *done)
{
    return __atomic_load_n(&done->at_ns, __ATOMIC_ACQUIRE);
}

void bn_timeline_completed(bn_timeline *t, const void *handle, uint64_t at_ns)
{
    while (t->first_open < t->count && !t->spans[t->first_open].done.handle)
        t->first_open++;
    for (size_t i = t->first_open; i < t->count; i++) {
        bn_completion *done = &t->spans[i].done;
        if (done->handle != handle)
            continue;
        done->handle = NULL;
        bn_completion_set(done, at_ns);
        return;
    }
}

/* ---- annotations --------------------------------------------------------------------------- */

void bn_timeline_open(bn_timeline *t, bn_span_kind kind, const char *name)
{
    if (t->depth == BN_TIMELINE_OPEN) {
        t->too_deep++;
        return;
    }
    const size_t index = t->count;
    bn_span *span = next_span(t, kind, bn_now_ns(), 0);
    if (span)
        span->name = name_of(t, name);
    t->open[t->depth] = span ? index : NONE;
    t->open_kind[t->depth++] = kind;
}

void bn_timeline_close(bn_timeline *t, bn_span_kind kind)
{
    size_t at = t->depth;
    if (t->too_deep > 0) {
        t->too_deep--;
        return;
    }
    while (at > 0 && t->open_kind[at - 1] != kind)
        at--;
    if (at == 0)
        return;
    const uint64_t now = bn_now_ns();
    while (t->depth >= at)
        close_at(t, now);
}

/* ---- looking ----------------------------------------------------------------------------------
 */

size_t bn_timeline_count(const bn_timeline *t)
{
    return t->count;
}

const bn_span *bn_timeline_at(const bn_timeline *t, size_t index)
{
    return &t->spans[index];
}

const char *bn_timeline_name(const bn_timeline *t, const bn_span *span)
{
    return t->names[span->name];
}
