/*
 * capture_tree.c - the contents of a capture: its guards and its tree. Guards are checked before
 * each replay, so the check is a single pass over the variables.
 */
#include "modes/capture_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- guards --------------------------------------------------------------------------- */

void mode_guards_begin(mode_guards *g, const mode_call *call)
{
    void *statics = bn_alloc(call->static_bytes);
    if (call->static_bytes)
        memcpy(statics, call->statics, call->static_bytes);
    g->call = *call;
    g->call.statics = statics;
}

void mode_guards_free(mode_guards *g)
{
    free(g->items);
    free(g->types);
    free((void *)(uintptr_t)g->call.statics);
    *g = (mode_guards){0};
}

void mode_guards_add(mode_guards *g, tg_tensor *variable)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->items[i].variable == variable)
            return;
    bn_grow(&g->items, g->count + 1, &g->capacity, sizeof *g->items);
    bn_grow(&g->types, g->count + 1, &g->type_capacity, sizeof *g->types);
    g->types[g->count] = *tg_tensor_type(variable);
    g->items[g->count++] = (mode_guard){variable, tg_variable_version(variable)};
}

/* ---- checking them -------------------------------------------------------------------- */

/* While the device works, the host's caches lose the variables: fetching them again is most of the
 * cost of a replay. */
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

/* Whether guard I holds after its variable's type was set: the type may still be the same one. */
static bool guard_recheck(mode_guards *g, size_t i)
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
        if (g->items[i].version != tg_variable_version(g->items[i].variable) &&
            !guard_recheck(g, i))
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
            held = guard_recheck(g, i);
    }
    return held;
}

/* ---- why they do not hold ---------------------------------------------------------------- */

static void explain_statics(const mode_call *was, const mode_call *now, mode_miss_event *miss)
{
    const char *a = was->statics, *b = now->statics;
    miss->miss = MODE_MISS_STATICS;
    miss->guards = 1;
    miss->was = a;
    miss->was_bytes = was->static_bytes;
    miss->now = b;
    miss->bytes = now->static_bytes;
    while (miss->offset < miss->was_bytes && miss->offset < miss->bytes &&
           a[miss->offset] == b[miss->offset])
        miss->offset++;
}

void mode_guards_explain(const mode_guards *g, const mode_call *call, mode_miss_event *miss)
{
    mode_call same = *call;
    same.statics = g->call.statics;
    same.static_bytes = g->call.static_bytes;
    if (!calls_match(&g->call, &same))
        return;
    if (!calls_match(&g->call, call)) {
        explain_statics(&g->call, call, miss);
        return;
    }
    const size_t before = 1 + (g->call.static_bytes > 0);
    for (size_t i = 0; i < g->count; i++)
        if (!tg_type_equal(&g->types[i], tg_tensor_type(g->items[i].variable))) {
            miss->miss = MODE_MISS_TYPE;
            miss->guards = before + i;
            miss->variable = g->items[i].variable;
            miss->type = g->types[i];
            return;
        }
}

/* ---- life of a tree ---------------------------------------------------------------------- */

void mode_capture_node_clear(capture_node *node)
{
    while (node->graphs) {
        capture_graph *g = node->graphs;
        node->graphs = g->next;
        mode_program_release(g->program);
        free(g->inputs);
        free(g->targets);
        free(g);
    }
    node->last_graph = NULL;
    while (node->moves) {
        capture_move *move = node->moves;
        node->moves = move->next;
        free(move);
    }
}

static void node_free(capture_node *node)
{
    if (!node)
        return;
    mode_capture_node_clear(node);
    while (node->branches) {
        capture_branch *b = node->branches;
        node->branches = b->next;
        node_free(b->node);
        free(b->value);
        free(b);
    }
    free((void *)(uintptr_t)node->where.scope);
    free(node);
}

void mode_capture_free(mode_capture *c)
{
    if (!c)
        return;
    node_free(c->root);
    mode_guards_free(&c->guards);
    mode_list_free(&c->slots);
    free(c);
}

mode_capture *mode_capture_new(const mode_call *call)
{
    mode_capture *c = bn_zalloc(1, sizeof *c);
    c->root = bn_zalloc(1, sizeof *c->root);
    mode_guards_begin(&c->guards, call);
    return c;
}

/* ---- branches -------------------------------------------------------------------- */

capture_node *mode_capture_node_branch(const capture_node *node, const void *value)
{
    for (const capture_branch *b = node->branches; b; b = b->next)
        if (memcmp(b->value, value, node->key_bytes) == 0)
            return b->node;
    return NULL;
}

bn_code mode_capture_node_add_branch(capture_node *node, const void *value, capture_node **child,
                                     bn_status *st)
{
    void *key = malloc(node->key_bytes + 1);
    if (!key)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a value of %zu bytes", node->key_bytes);
    memcpy(key, value, node->key_bytes);
    *child = bn_zalloc(1, sizeof **child);
    capture_branch *b = bn_alloc(sizeof *b);
    *b = (capture_branch){.value = key, .node = *child, .next = node->branches};
    node->branches = b;
    return BN_OK;
}

void mode_capture_node_set_location(capture_node *node, const mode_where *where)
{
    free((void *)(uintptr_t)node->where.scope);
    node->where = (mode_where){where->place, bn_strdup(where->scope)};
}

/* ---- guards, described --------------------------------------------------------------- */

/* Read number *INDEX of the subtree of NODE, in preorder. *INDEX is decremented by the reads that
 * were passed. */
static const capture_node *find_read(const capture_node *node, size_t *index)
{
    if (!node || !node->breaks)
        return NULL;
    if (!node->host.compute && (*index)-- == 0)
        return node;
    for (const capture_branch *b = node->branches; b; b = b->next) {
        const capture_node *found = find_read(b->node, index);
        if (found)
            return found;
    }
    return NULL;
}

static size_t branch_count(const capture_node *node)
{
    size_t count = 0;
    for (const capture_branch *b = node->branches; b; b = b->next)
        count++;
    return count;
}

bool mode_capture_guard(const mode *m, size_t capture, size_t index, mode_guard_info *info)
{
    const mode_capture *c = m->own;
    while (c && capture-- > 0)
        c = c->next;
    if (!c)
        return false;
    const mode_guards *g = &c->guards;
    const size_t calls = 1 + (g->call.static_bytes > 0);
    *info = (mode_guard_info){.kind = index == 0 ? MODE_GUARD_CALL : MODE_GUARD_STATICS,
                              .bytes = index == 0 ? 0 : g->call.static_bytes};
    if (index < calls)
        return true;
    if (index - calls < g->count) {
        info->kind = MODE_GUARD_TYPE;
        info->variable = g->items[index - calls].variable;
        info->type = g->types[index - calls];
        return true;
    }
    index -= calls + g->count;
    const capture_node *node = find_read(c->root, &index);
    if (!node)
        return false;
    *info = (mode_guard_info){.kind = MODE_GUARD_VALUE,
                              .bytes = node->key_bytes,
                              .type = node->read_type,
                              .where = node->where,
                              .branches = branch_count(node)};
    return true;
}
