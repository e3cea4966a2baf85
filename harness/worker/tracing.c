/*
 * tracing.c - the scope in which most of a step is traced, for the doctor. The step is traced again
 * after everything is measured, on a trace of its own, without a runtime.
 */
#include "harness/worker/measure_priv.h"
#include "runtime/graph/scopes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACES      5 /* the first one warms caches, and does not count */
#define MOST_SCOPES 4096
#define LEAST_SHARE 0.5 /* of a scope that is named in place of the one around it */

/* A scope, with those inside it. */
typedef struct place {
    char name[200]; /* "encoder.layer.*": numbers are stars */
    double cost;
    int depth;
    json_t *seen; /* the scopes that it stands for */
} place;

typedef struct places {
    place *list;
    size_t count;
    double sum;
} places;

/* Copies PATH's first DEPTH components into NAME, with numbers as stars, and as they are into OWN.
 * False: it has fewer, or they are too long. */
static bool take(const char *path, int depth, char *name, char *own, size_t size)
{
    size_t n = 0, o = 0;
    for (int i = 0; i < depth; i++) {
        const size_t length = strcspn(path, ".");
        const bool number = length > 0 && strspn(path, "0123456789") == length;
        if (length == 0 || n + length + 2 >= size || o + length + 2 >= size)
            return false;
        if (i > 0)
            name[n++] = own[o++] = '.';
        memcpy(own + o, path, length);
        o += length;
        memcpy(name + n, number ? "*" : path, number ? 1 : length);
        n += number ? 1 : length;
        path += length + (path[length] == '.');
    }
    name[n] = own[o] = '\0';
    return true;
}

static place *place_of(places *p, const char *name, int depth)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->list[i].name, name) == 0)
            return &p->list[i];
    if (p->count == MOST_SCOPES)
        return NULL;
    place *one = &p->list[p->count++];
    snprintf(one->name, sizeof one->name, "%s", name);
    one->depth = depth;
    one->seen = json_object();
    return one;
}

/* Adds COST to SCOPE and to all around it. */
static void add(places *p, const tg_scope *scope, double cost)
{
    bn_text path = {0};
    char name[200], own[200];
    tg_scope_write(scope, &path);
    p->sum += cost;
    for (int depth = 1; path.data && take(path.data, depth, name, own, sizeof name); depth++) {
        place *one = place_of(p, name, depth);
        if (!one)
            break;
        one->cost += cost;
        json_object_set_new(one->seen, own, json_true());
    }
    bn_text_free(&path);
}

static void add_node(void *context, const tg_node *node)
{
    if (tg_node_has_op(node))
        add(context, tg_node_scope(node), 1);
}

static void add_stretches(places *p, tg_trace *t)
{
    const tg_stretch *list;
    const size_t count = tg_trace_stretches(t, &list);
    for (size_t i = 0; i < count; i++)
        add(p, list[i].scope, (double)list[i].duration_ns);
}

/* The innermost scope that has half of all; else the one with most. */
static const place *largest(const places *p)
{
    const place *best = NULL;
    for (size_t i = 0; i < p->count; i++) {
        const place *one = &p->list[i];
        const bool half = one->cost >= LEAST_SHARE * p->sum;
        const bool best_half = best && best->cost >= LEAST_SHARE * p->sum;
        if (!best || (half && (!best_half || one->depth > best->depth)) ||
            (!half && !best_half && one->depth == 1 && one->cost > best->cost))
            best = one;
    }
    return best;
}

json_t *worker_tracing_to_json(const worker_session *s)
{
    places p = {.list = bn_zalloc(MOST_SCOPES, sizeof *p.list)};
    bn_status ignored = {.code = BN_OK};
    tg_trace *t = tg_trace_new();
    bn_code code = BN_OK;
    const bool by_op = job_mode_by_op(s->experiment->what.mode);
    tg_trace_set_node_cost(t, (uint64_t)s->experiment->what.trace_cost_ns);
    tg_trace_time_scopes(t, true);
    for (int i = 0; i < TRACES && code == BN_OK; i++) {
        tg_trace_begin(t);
        s->call.function(t, s->call.context);
        code = tg_trace_status(t, &ignored);
        if (code == BN_OK && !by_op && i > 0)
            add_stretches(&p, t);
    }
    if (code == BN_OK && by_op)
        tg_trace_visit(t, add_node, &p);
    const place *most = code == BN_OK && p.sum > 0 ? largest(&p) : NULL;
    json_t *object =
        most ? json_pack("{so sf sI}", "scope", res_json_text(most->name), "share",
                         most->cost / p.sum, "times", (json_int_t)json_object_size(most->seen))
             : NULL;
    for (size_t i = 0; i < p.count; i++)
        json_decref(p.list[i].seen);
    free(p.list);
    tg_trace_free(t);
    return object;
}
