/*
 * match.c - which statement of one graph stands for which of another.
 *
 * Passes, the strictest first: each works in the gaps that those before it have left, so that all
 * matches keep the order of the text. In a pass, statements that occur once come before those that
 * occur often: of many equal constants a pass of the others alone might take the wrong ones. Last,
 * statements that are the same but stand elsewhere.
 */
#include "runtime/stablehlo/stablehlo_priv.h"

#include <stdlib.h>

/* ---- what a pass goes by ----------------------------------------------------------------------- */

typedef uint64_t key_function(const shlo_node *node);

/* All that it is computed of. */
static uint64_t key_deep(const shlo_node *node)
{
    return node->deep;
}

/* What it says, and where. */
static uint64_t key_placed(const shlo_node *node)
{
    return shlo_mix(node->local, node->place_hash);
}

static uint64_t key_local(const shlo_node *node)
{
    return node->local;
}

/* Its op, and where. */
static uint64_t key_op_placed(const shlo_node *node)
{
    return shlo_mix(shlo_mix(node->op_hash, node->depth), node->place_hash);
}

static uint64_t key_op(const shlo_node *node)
{
    return shlo_mix(node->op_hash, node->depth);
}

/* What it takes and gives: another op in the same place. */
static uint64_t key_types(const shlo_node *node)
{
    const uint64_t what = node->kind == SHLO_OP && node->result_count > 0 ? 0 : node->op_hash;
    return shlo_mix(shlo_mix(shlo_mix(what, node->depth), node->type_hash),
                    ((uint64_t)node->result_count << 32) + node->operand_count);
}

static const struct {
    key_function *key;
    bool once; /* of statements that occur once in each gap only */
} passes[] = {
    {key_deep, true},   {key_placed, true},    {key_placed, false},    {key_local, true},
    {key_local, false}, {key_op_placed, true}, {key_op_placed, false}, {key_op, false},
    {key_types, false},
};

/* ---- one gap ------------------------------------------------------------------------------------ */

/* How often a key occurs in a gap. */
typedef struct tally {
    uint64_t key;
    uint32_t gap; /* that the counts are of; of another one they are void */
    uint32_t a, b;
} tally;

/* The statements of one graph in a gap that may have a match. */
typedef struct side {
    uint64_t *keys;  /* [node], of the pass */
    uint64_t *left;  /* keys of those that are left */
    uint32_t *nodes; /* which they are */
    size_t count;
} side;

typedef struct matching {
    const shlo_graph *graph[2];
    uint32_t *pair, *back;
    side side[2];
    tally *tallies;
    size_t tally_count; /* a power of two, above twice the statements of both graphs */
    uint32_t gap;
    shlo_trace *trace;
} matching;

/* KEY's count in this gap, all zero at first. */
static tally *tally_of(const matching *m, uint64_t key)
{
    size_t at = (size_t)(key ^ key >> 32) & (m->tally_count - 1);
    while (m->tallies[at].gap == m->gap && m->tallies[at].key != key)
        at = (at + 1) & (m->tally_count - 1);
    if (m->tallies[at].gap != m->gap)
        m->tallies[at] = (tally){.key = key, .gap = m->gap};
    return &m->tallies[at];
}

static void keep_likely(matching *m, int which, size_t from, size_t to, bool once)
{
    side *s = &m->side[which];
    s->count = 0;
    for (size_t i = from; i < to; i++) {
        const tally *t = tally_of(m, s->keys[i]);
        if (once ? t->a == 1 && t->b == 1 : t->a > 0 && t->b > 0) {
            s->left[s->count] = s->keys[i];
            s->nodes[s->count++] = (uint32_t)i;
        }
    }
}

static void set_pair(void *context, size_t x, size_t y)
{
    matching *m = context;
    m->pair[m->side[0].nodes[x]] = m->side[1].nodes[y];
    m->back[m->side[1].nodes[y]] = m->side[0].nodes[x];
}

/* Statements A to before A_END and B to before B_END have no match yet. */
static void match_gap(matching *m, size_t a, size_t a_end, size_t b, size_t b_end, bool once)
{
    if (a == a_end || b == b_end)
        return;
    m->gap++;
    for (size_t i = a; i < a_end; i++)
        tally_of(m, m->side[0].keys[i])->a++;
    for (size_t i = b; i < b_end; i++)
        tally_of(m, m->side[1].keys[i])->b++;
    keep_likely(m, 0, a, a_end, once);
    keep_likely(m, 1, b, b_end, once);
    shlo_align(m->side[0].left, m->side[0].count, m->side[1].left, m->side[1].count, m->trace,
               set_pair, m);
}

static void run_pass(matching *m, key_function *key, bool once)
{
    const size_t counts[2] = {m->graph[0]->node_count, m->graph[1]->node_count};
    for (int which = 0; which < 2; which++)
        for (size_t i = 0; i < counts[which]; i++)
            m->side[which].keys[i] = key(&m->graph[which]->nodes[i]);
    size_t a = 0, b = 0;
    while (a < counts[0]) {
        size_t end = a;
        while (end < counts[0] && m->pair[end] == SHLO_NONE)
            end++;
        const size_t b_end = end < counts[0] ? m->pair[end] : counts[1];
        match_gap(m, a, end, b, b_end, once);
        /* What was matched just now lies before END. */
        a = end + 1;
        b = b_end + 1;
    }
}

/* ---- after the passes ------------------------------------------------------------------------------ */

static void unmatch(matching *m, uint32_t a)
{
    m->back[m->pair[a]] = SHLO_NONE;
    m->pair[a] = SHLO_NONE;
}

/* Statements match only where those do that they stand in. These come first in the text. */
static void check_parents(matching *m)
{
    for (uint32_t i = 0; i < m->graph[0]->node_count; i++) {
        if (m->pair[i] == SHLO_NONE)
            continue;
        const uint32_t a = m->graph[0]->nodes[i].parent;
        const uint32_t b = m->graph[1]->nodes[m->pair[i]].parent;
        if ((a == SHLO_NONE ? SHLO_NONE : m->pair[a]) != b)
            unmatch(m, i);
    }
}

/* What a statement is computed of, and which of B's it stands in, or would stand in. */
static uint64_t elsewhere(const shlo_node *node, uint32_t parent)
{
    return shlo_mix(node->deep, parent);
}

/* Whether the order of such statements does not count. */
static bool is_movable(const shlo_node *node)
{
    return node->kind == SHLO_OP;
}

/* Matches statements that are the same and stand in another order. NEXT is a list through B's
 * statements. */
static bool match_moved(matching *m, shlo_map *first, uint32_t *next, uint32_t *moved)
{
    const shlo_graph *a = m->graph[0], *b = m->graph[1];
    for (uint32_t j = (uint32_t)b->node_count; j-- > 0;) {
        const shlo_node *node = &b->nodes[j];
        if (m->back[j] != SHLO_NONE || !is_movable(node))
            continue;
        uint32_t *head = shlo_map_at(first, elsewhere(node, node->parent));
        if (!head)
            return false;
        next[j] = *head;
        *head = j;
    }
    for (uint32_t i = 0; i < a->node_count; i++) {
        const shlo_node *node = &a->nodes[i];
        const uint32_t parent = node->parent == SHLO_NONE ? SHLO_NONE : m->pair[node->parent];
        if (m->pair[i] != SHLO_NONE || !is_movable(node) ||
            (node->parent != SHLO_NONE && parent == SHLO_NONE))
            continue;
        uint32_t *head = shlo_map_find(first, elsewhere(node, parent));
        if (!head || *head == SHLO_NONE)
            continue;
        m->pair[i] = *head;
        m->back[*head] = i;
        moved[i] = 1;
        *head = next[*head];
    }
    return true;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static bool make_room(matching *m)
{
    const size_t sum = m->graph[0]->node_count + m->graph[1]->node_count;
    m->tally_count = 64;
    while (m->tally_count < 2 * sum + 2)
        m->tally_count *= 2;
    m->tallies = calloc(m->tally_count, sizeof *m->tallies);
    m->trace = malloc(sizeof *m->trace);
    bool fits = m->tallies && m->trace;
    for (int i = 0; i < 2; i++) {
        const size_t count = m->graph[i]->node_count + 1;
        m->side[i].keys = calloc(count, sizeof *m->side[i].keys);
        m->side[i].left = calloc(count, sizeof *m->side[i].left);
        m->side[i].nodes = calloc(count, sizeof *m->side[i].nodes);
        fits = fits && m->side[i].keys && m->side[i].left && m->side[i].nodes;
    }
    return fits;
}

bool shlo_match(const shlo_graph *a, const shlo_graph *b, uint32_t *pair, uint32_t *back,
                uint32_t *moved)
{
    matching m = {.graph = {a, b}, .pair = pair, .back = back};
    shlo_map first = {0};
    for (size_t i = 0; i < a->node_count; i++)
        pair[i] = SHLO_NONE;
    for (size_t i = 0; i < b->node_count; i++)
        back[i] = SHLO_NONE;
    bool fits = make_room(&m);
    for (size_t i = 0; fits && i < sizeof passes / sizeof *passes; i++)
        run_pass(&m, passes[i].key, passes[i].once);
    if (fits) {
        check_parents(&m);
        fits = match_moved(&m, &first, m.side[1].nodes, moved);
    }
    shlo_map_free(&first);
    free(m.tallies);
    free(m.trace);
    for (int i = 0; i < 2; i++) {
        free(m.side[i].keys);
        free(m.side[i].left);
        free(m.side[i].nodes);
    }
    return fits;
}
