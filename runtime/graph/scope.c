/*
 * scope.c - the scopes of a trace: names of what is being traced, in errors, too; how long each
 * took; and annotations for a timeline.
 */
#include "runtime/graph/trace_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void tg_scope_write(const tg_scope *scope, bn_text *out)
{
    if (!scope)
        return;
    if (scope->parent) {
        tg_scope_write(scope->parent, out);
        bn_text_putc(out, '.');
    }
    bn_text_puts(out, scope->name);
}

void tg_trace_scope(const tg_trace *t, bn_text *out)
{
    tg_scope_write(t->scope, out);
}

void tg_trace_fail(tg_trace *t, bn_code code, const char *format, ...)
{
    if (t->status.code != BN_OK)
        return;
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    bn_fail(&t->status, code, "%s", message);

    bn_text path = {0};
    tg_scope_write(t->scope, &path);
    if (path.length)
        bn_context(&t->status, "%s", path.data);
    bn_text_free(&path);
}

void tg_scope_push(tg_trace *t, const char *name)
{
    tg_scope *scope = bn_arena_alloc(t->arena, sizeof *scope);
    *scope = (tg_scope){t->scope, name};
    tg_scope_enter(t, scope);
    if (t->timeline)
        bn_timeline_open(t->timeline, BN_SPAN_SCOPE, name);
}

void tg_scope_pop(tg_trace *t)
{
    if (!t->scope)
        return;
    tg_scope_enter(t, t->scope->parent);
    if (t->timeline)
        bn_timeline_close(t->timeline, BN_SPAN_SCOPE);
}

/* ---- time of scopes ------------------------------------------------------------ */

void tg_scope_clock_free(tg_scope_clock *clock)
{
    if (clock)
        free(clock->list);
    free(clock);
}

void tg_trace_time_scopes(tg_trace *t, bool on)
{
    if (on && !t->clock)
        t->clock = bn_zalloc(1, sizeof *t->clock);
    if (!on) {
        tg_scope_clock_free(t->clock);
        t->clock = NULL;
    }
}

/* A stretch without nodes becomes part of the next one: layers that follow each other leave a scope
 * and enter another, and the clock is read once. */
void tg_clock_note(tg_trace *t)
{
    tg_scope_clock *c = t->clock;
    if (c->count && c->trace == t && c->nodes == t->node_count) {
        c->list[c->count - 1].scope = t->scope;
        c->list[c->count - 1].phase = t->phase;
        return;
    }
    bn_grow(&c->list, c->count + 1, &c->capacity, sizeof *c->list);
    const uint64_t now = bn_now_ns();
    if (c->count)
        c->list[c->count - 1].duration_ns = now - c->list[c->count - 1].begin_ns;
    c->list[c->count++] = (tg_stretch){.scope = t->scope, .phase = t->phase, .begin_ns = now};
    c->trace = t;
    c->nodes = t->node_count;
}

size_t tg_trace_stretches(tg_trace *t, const tg_stretch **list)
{
    tg_scope_clock *c = t->clock;
    *list = c ? c->list : NULL;
    if (!c || !c->count)
        return 0;
    c->list[c->count - 1].duration_ns = bn_now_ns() - c->list[c->count - 1].begin_ns;
    return c->count;
}

/* ---- annotations ----------------------------------------------------------------- */

void tg_trace_set_timeline(tg_trace *t, bn_timeline *timeline)
{
    t->timeline = timeline;
}

void tg_annotate_begin(tg_trace *t, const char *name)
{
    if (t->timeline)
        bn_timeline_open(t->timeline, BN_SPAN_ANNOTATION, name);
}

void tg_annotate_end(tg_trace *t)
{
    if (t->timeline)
        bn_timeline_close(t->timeline, BN_SPAN_ANNOTATION);
}
