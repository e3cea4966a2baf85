/*
 * min_cut.c - which values of a network of values it costs least to keep, so that all that is wanted
 * can be made of them: a minimum cut by blocking flows (Dinic, Soviet Mathematics Doklady 11, 1970).
 *
 * A value is two vertices with an edge between that carries what it costs to keep. Values flow to what
 * is made of them without limit.
 */
#include "runtime/graph/min_cut.h"

#include <stdlib.h>
#include <string.h>

#define NO_EDGE UINT32_MAX

/* An edge and, at its number with the last bit flipped, the one back. */
typedef struct edge {
    uint32_t to, next;
    int64_t room;
} edge;

struct tg_cut_net {
    edge *edges;
    size_t edge_count, edge_room;
    uint32_t *first; /* [vertex] */
    uint32_t *at;    /* [vertex] edge that the search is at */
    uint32_t *level; /* [vertex] steps from the source, from 1; 0: not reached */
    uint32_t *queue;
    size_t values, vertices;
};

enum { SOURCE, SINK, VALUES };

static uint32_t enters(uint32_t value)
{
    return VALUES + 2 * value;
}

static uint32_t leaves(uint32_t value)
{
    return enters(value) + 1;
}

static void add_half(tg_cut_net *n, uint32_t from, uint32_t to, int64_t room)
{
    bn_grow(&n->edges, n->edge_count + 1, &n->edge_room, sizeof *n->edges);
    n->edges[n->edge_count] = (edge){to, n->first[from], room};
    n->first[from] = (uint32_t)n->edge_count++;
}

static void add_edge(tg_cut_net *n, uint32_t from, uint32_t to, int64_t room)
{
    add_half(n, from, to, room);
    add_half(n, to, from, 0);
}

tg_cut_net *tg_cut_new(size_t values)
{
    tg_cut_net *n = bn_zalloc(1, sizeof *n);
    n->values = values;
    n->vertices = VALUES + 2 * values;
    n->first = bn_alloc(n->vertices * sizeof *n->first);
    n->at = bn_zalloc(n->vertices, sizeof *n->at);
    n->level = bn_zalloc(n->vertices, sizeof *n->level);
    n->queue = bn_zalloc(n->vertices, sizeof *n->queue);
    memset(n->first, 0xff, n->vertices * sizeof *n->first);
    return n;
}

void tg_cut_free(tg_cut_net *n)
{
    if (!n)
        return;
    free(n->edges);
    free(n->first);
    free(n->at);
    free(n->level);
    free(n->queue);
    free(n);
}

void tg_cut_value(tg_cut_net *n, uint32_t value, int64_t cost)
{
    add_edge(n, enters(value), leaves(value), cost);
}

void tg_cut_made(tg_cut_net *n, uint32_t value)
{
    add_edge(n, SOURCE, enters(value), INT64_MAX);
}

void tg_cut_use(tg_cut_net *n, uint32_t value, uint32_t user)
{
    add_edge(n, leaves(value), enters(user), INT64_MAX);
}

void tg_cut_want(tg_cut_net *n, uint32_t value)
{
    add_edge(n, leaves(value), SINK, INT64_MAX);
}

/* Levels by breadth from the source; whether the sink has one. */
static bool find_levels(tg_cut_net *n)
{
    size_t head = 0, tail = 0;
    memset(n->level, 0, n->vertices * sizeof *n->level);
    n->level[SOURCE] = 1;
    n->queue[tail++] = SOURCE;
    while (head < tail) {
        const uint32_t from = n->queue[head++];
        for (uint32_t e = n->first[from]; e != NO_EDGE; e = n->edges[e].next) {
            const uint32_t to = n->edges[e].to;
            if (n->edges[e].room > 0 && n->level[to] == 0) {
                n->level[to] = n->level[from] + 1;
                n->queue[tail++] = to;
            }
        }
    }
    return n->level[SINK] > 0;
}

/* One path from the source to the sink along the levels, with what it can carry more; 0: none. The
 * path's edges stand in the queue, which nobody else needs now: networks are too deep for recursion. */
static int64_t send_one(tg_cut_net *n)
{
    size_t length = 0;
    uint32_t from = SOURCE;
    while (from != SINK) {
        const uint32_t e = n->at[from];
        if (e == NO_EDGE) {
            if (length == 0)
                return 0;
            /* A dead end: back one edge, which is not tried again. */
            n->level[from] = 0;
            from = n->edges[n->queue[--length] ^ 1u].to;
            n->at[from] = n->edges[n->at[from]].next;
        } else if (n->edges[e].room > 0 && n->level[n->edges[e].to] == n->level[from] + 1) {
            n->queue[length++] = e;
            from = n->edges[e].to;
        } else {
            n->at[from] = n->edges[e].next;
        }
    }
    int64_t most = INT64_MAX;
    for (size_t i = 0; i < length; i++)
        most = n->edges[n->queue[i]].room < most ? n->edges[n->queue[i]].room : most;
    for (size_t i = 0; i < length; i++) {
        edge *forth = &n->edges[n->queue[i]], *back = &n->edges[n->queue[i] ^ 1u];
        if (forth->room != INT64_MAX)
            forth->room -= most;
        if (back->room != INT64_MAX)
            back->room += most;
    }
    return most;
}

/* Marks in LEVEL what reaches the sink by edges with room left. */
static void find_behind(tg_cut_net *n)
{
    size_t head = 0, tail = 0;
    memset(n->level, 0, n->vertices * sizeof *n->level);
    n->level[SINK] = 1;
    n->queue[tail++] = SINK;
    while (head < tail) {
        const uint32_t to = n->queue[head++];
        for (uint32_t e = n->first[to]; e != NO_EDGE; e = n->edges[e].next) {
            const uint32_t from = n->edges[e].to;
            if (n->edges[e ^ 1u].room > 0 && n->level[from] == 0) {
                n->level[from] = 1;
                n->queue[tail++] = from;
            }
        }
    }
}

void tg_cut_run(tg_cut_net *n)
{
    while (find_levels(n)) {
        memcpy(n->at, n->first, n->vertices * sizeof *n->at);
        while (send_one(n) > 0)
            continue;
    }
    find_behind(n);
}

bool tg_cut_keeps(const tg_cut_net *n, uint32_t value)
{
    return n->level[enters(value)] == 0 && n->level[leaves(value)] != 0;
}
