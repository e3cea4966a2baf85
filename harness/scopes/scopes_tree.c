/*
 * scopes_tree.c - lines as a tree of modules.
 */
#include "harness/scopes/scopes_priv.h"

#include <string.h>

/* NODE's child of LENGTH bytes of NAME and PHASE, a new one unless there is one. */
static scopes_node *child_of(scopes_node *node, const char *name, size_t length, tg_phase phase,
                             bn_arena *memory)
{
    for (scopes_node *c = node->first; c; c = c->next)
        if (c->phase == phase && strlen(c->name) == length && strncmp(c->name, name, length) == 0)
            return c;
    scopes_node *c = bn_arena_zalloc(memory, sizeof *c);
    char *own = bn_arena_zalloc(memory, length + 1);
    memcpy(own, name, length);
    c->name = own;
    c->phase = phase;
    if (node->last)
        node->last->next = c;
    else
        node->first = c;
    node->last = c;
    return c;
}

static void add(scopes_node *node, const scopes_line *line)
{
    for (int f = 0; f < SCOPES_FIGURES; f++)
        node->sum[f] += line->figure[f];
}

/* Levels of the tree: a plugin chooses the names, and walks of the tree are recursive. */
#define MOST_DEPTH 64

static void add_line(scopes_node *root, const scopes_line *line, bool phases, bn_arena *memory)
{
    const char *path = line->path[0] ? line->path : SCOPES_NOWHERE;
    scopes_node *node = root;
    add(root, line);
    for (int depth = 0; *path && depth < MOST_DEPTH; depth++) {
        const size_t length = strcspn(path, ".");
        node = child_of(node, path, length, TG_PHASE_COUNT, memory);
        add(node, line);
        path += length + (path[length] == '.');
    }
    if (phases) {
        const char *name = scopes_phase_name(line->phase);
        add(child_of(node, name, strlen(name), line->phase, memory), line);
    }
}

scopes_node *scopes_tree(const scopes_table *table, const char *root, bool phases, bn_arena *memory)
{
    scopes_node *node = bn_arena_zalloc(memory, sizeof *node);
    node->name = root;
    node->phase = TG_PHASE_COUNT;
    for (size_t i = 0; i < table->count; i++)
        add_line(node, &table->list[i], phases, memory);
    return node;
}
