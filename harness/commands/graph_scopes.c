/*
 * graph_scopes.c - which scopes the statements of a graph are of, as its text says in their places.
 */
#include "harness/commands/graph_priv.h"

#include <string.h>

#define MOST_SCOPE 200 /* bytes of one that are shown */
#define MOST_PARTS 12  /* parts of a model that a line names */

/* The scope in the place of NODE, "backward/layer1.0.conv1" of
 * `"backward/layer1.0.conv1/convolution"`: what stands before the op. Empty: outside of all. */
static shlo_piece scope_of(const shlo_node *node)
{
    shlo_piece scope = node->place;
    if (scope.length == 0)
        return scope;
    const bool quoted = scope.at[0] == '"';
    scope.at += quoted;
    scope.length -= quoted;
    const char *quote = memchr(scope.at, '"', scope.length);
    scope.length = quote ? (size_t)(quote - scope.at) : scope.length;
    while (scope.length > 0 && scope.at[scope.length - 1] != '/')
        scope.length--;
    scope.length -= scope.length > 0;
    return scope;
}

/* The part of the model that SCOPE is in, without its phase: "layer1". */
static shlo_piece part_of(shlo_piece scope)
{
    for (size_t i = scope.length; i-- > 0;)
        if (scope.at[i] == '/') {
            scope.at += i + 1;
            scope.length -= i + 1;
            break;
        }
    const char *dot = scope.length ? memchr(scope.at, '.', scope.length) : NULL;
    scope.length = dot ? (size_t)(dot - scope.at) : scope.length;
    return scope;
}

/* The statements of each scope of G, or of each PART of the model: {NAME: count}, in the order of
 * the text (new reference). */
static json_t *count_scopes(const shlo_graph *g, bool parts)
{
    json_t *counts = json_object();
    for (size_t i = 0; i < g->node_count; i++) {
        bn_text name = {0};
        if (g->nodes[i].kind != SHLO_OP)
            continue;
        const shlo_piece scope = scope_of(&g->nodes[i]);
        if (scope.length > 0)
            shlo_piece_put(parts ? part_of(scope) : scope, MOST_SCOPE, &name);
        const char *key = name.data && !name.failed ? name.data : "";
        const json_int_t before = json_integer_value(json_object_get(counts, key));
        json_object_set_new(counts, key, json_integer(before + 1));
        bn_text_free(&name);
    }
    return counts;
}

json_t *command_scopes_json(const shlo_graph *graph)
{
    json_t *counts = count_scopes(graph, false), *list = json_array(), *count;
    const char *name;
    json_object_foreach(counts, name, count)
        json_array_append_new(list, json_pack("{ss sO}", "scope", name, "statements", count));
    json_decref(counts);
    return list;
}

void command_scopes_put(const shlo_graph *graph, bn_text *out)
{
    json_t *counts = count_scopes(graph, true), *count;
    const char *name;
    size_t shown = 0;
    json_object_foreach(counts, name, count)
    {
        if (shown++ < MOST_PARTS)
            bn_text_printf(out, "%s%s %lld", shown > 1 ? ", " : "", *name ? name : "(no scope)",
                           (long long)json_integer_value(count));
    }
    if (shown > MOST_PARTS)
        bn_text_printf(out, " and %zu more", shown - MOST_PARTS);
    json_decref(counts);
}
