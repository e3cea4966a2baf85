/*
 * guard.c - the guards of a capture: checked before each replay, so one pass over the
 * variables and nothing more.
 */
#include "modes/guard_priv.h"

#include <stdlib.h>
#include <string.h>

bool mode_guards_begin(mode_guards *g, const mode_call *call)
{
    void *statics = malloc(call->static_bytes + 1);
    if (!statics)
        return false;
    if (call->static_bytes)
        memcpy(statics, call->statics, call->static_bytes);
    g->call = *call;
    g->call.statics = statics;
    return true;
}

void mode_guards_free(mode_guards *g)
{
    free(g->items);
    free(g->types);
    free((void *)(uintptr_t)g->call.statics);
    *g = (mode_guards){0};
}

bool mode_guards_add(mode_guards *g, tg_tensor *variable)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->items[i].variable == variable)
            return true;
    if (!bn_reserve(&g->items, g->count + 1, &g->capacity, sizeof *g->items) ||
        !bn_reserve(&g->types, g->count + 1, &g->type_capacity, sizeof *g->types))
        return false;
    g->types[g->count] = *tg_tensor_type(variable);
    g->items[g->count++] = (mode_guard){variable, tg_variable_version(variable)};
    return true;
}

/* ---- checking ------------------------------------------------------------------------ */

/* After a step of the device little is left in the host's caches, so that the
 * cost of a replay is the cost of fetching the variables. */
static void fetch_ahead(const mode_guards *g, size_t i)
{
    if (i + MODE_FETCH_AHEAD < g->count)
        __builtin_prefetch(g->items[i + MODE_FETCH_AHEAD].variable, 1);
}

static bool calls_match(const mode_call *a, const mode_call *b)
{
    return a->function == b->function && a->context == b->context &&
           a->static_bytes == b->static_bytes &&
           (b->static_bytes == 0 || memcmp(a->statics, b->statics, b->static_bytes) == 0);
}

/* The type was set anew: the guard holds if it is the same one as before. */
static bool guard_renew(mode_guards *g, size_t i)
{
    mode_guard *guard = &g->items[i];
    if (!tg_type_equal(&g->types[i], tg_tensor_type(guard->variable)))
        return false;
    guard->version = tg_variable_version(guard->variable);
    return true;
}

bool mode_guards_hold(mode_guards *g, const mode_call *call)
{
    if (!calls_match(&g->call, call))
        return false;
    for (size_t i = 0; i < g->count; i++) {
        fetch_ahead(g, i);
        if (g->items[i].version != tg_variable_version(g->items[i].variable) && !guard_renew(g, i))
            return false;
    }
    return true;
}

bool mode_guards_gather(mode_guards *g, const mode_call *call, void **data, const tg_tensor **empty)
{
    bool held = calls_match(&g->call, call);
    for (size_t i = 0; held && i < g->count; i++) {
        uint32_t version;
        fetch_ahead(g, i);
        data[i] = tg_variable_peek(g->items[i].variable, &version);
        if (!data[i])
            *empty = g->items[i].variable;
        if (version != g->items[i].version)
            held = guard_renew(g, i);
    }
    return held;
}
