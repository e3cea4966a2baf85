/*
 * match.c - which statement of one graph stands for which of another.
 *
 * Passes, the strictest first: each works in the gaps that those before it have left, so that all
 * matches keep the order of the text. In a pass, statements that occur once come before those that
 * occur often: of many equal constants a pass of the others alone might take the wrong ones. When
 * all that are the same have been matched in order, those are that are the same and stand
 * elsewhere; only then come passes for statements that have changed.
 */
#include "runtime/stablehlo/stablehlo_priv.h"

#include <stdlib.h>

/* ---- what a pass goes by --------------------------------------------------------------------- */

/* 0: the statement is not in the pass. */
typedef uint64_t pass_key(const shlo_node *node);

/* Modules, and functions by their names: what is in one of them stands for nothing in another. In a
 * function then arguments, by their places, if both have as many. */
static uint64_t key_name(const shlo_node *node)
{
    return node->kind == SHLO_MODULE ? UINT64_C(1) + node->depth : node->name_hash;
}

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

/* Its nesting: regions of one statement hold different things. */
static uint64_t nesting(const shlo_node *node)
{
    return ((uint64_t)node->depth << 32) + node->region;
}

/* Its op, and where. */
static uint64_t key_op_placed(const shlo_node *node)
{
    return shlo_mix(shlo_mix(node->op_hash, nesting(node)), node->place_hash);
}

static uint64_t key_op(const shlo_node *node)
{
    return shlo_mix(node->op_hash, nesting(node));
}

/* What it takes and gives: another op in the same place. */
static uint64_t key_types(const shlo_node *node)
{
    const uint64_t what = node->kind == SHLO_OP && node->result_count > 0 ? 0 : node->op_hash;
    return shlo_mix(shlo_mix(shlo_mix(what, nesting(node)), node->type_hash),
                    ((uint64_t)node->result_count << 32) + node->operand_count);
}

typedef struct pass {
    pass_key *key;
    bool once; /* of statements that occur once in each gap only */
} pass;

static const pass same[] = {{key_name, true},   {key_name, true},    {key_deep, true},
                            {key_placed, true}, {key_placed, false}, {key_local, true},
                            {key_local, false}};
static const pass changed[] = {
    {key_op_placed, true}, {key_op_placed, false}, {key_op, false}, {key_types, false}};

/* ---- one gap --------------------------------------------------------------------------------- */

/* How often a key occurs in a gap. */
typedef struct tally {
    uint64_t key;
    uint32_t gap; /* that the counts are of; of another one they are void */
    uint32_t a, b;
} tally;

/* The statements of one graph in a gap that may have a match. */
typedef struct side {
    uint64_t *keys;  /* [node], of the pass; 0 where it is matched already */
    uint64_t *left;  /* keys of those that are left */
    uint32_t *nodes; /* which they are */
    size_t count;
} side;

typedef struct matching {
    const shlo_graph *graph[2];
    uint32_t *pair, *back;
    uint32_t *moved; /* [node of A] its match stands elsewhere */
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
        if (s->keys[i] == 0)
            continue;
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

/* Statements A to before A_END and B to before B_END have no match in order yet. */
static void match_gap(matching *m, size_t a, size_t a_end, size_t b, size_t b_end, bool once)
{
    if (a == a_end || b == b_end)
        return;
    m->gap++;
    for (size_t i = a; i < a_end; i++)
        if (m->side[0].keys[i])
            tally_of(m, m->side[0].keys[i])->a++;
    for (size_t i = b; i < b_end; i++)
        if (m->side[1].keys[i])
            tally_of(m, m->side[1].keys[i])->b++;
    keep_likely(m, 0, a, a_end, once);
    keep_likely(m, 1, b, b_end, once);
    shlo_align(m->side[0].left, m->side[0].count, m->side[1].left, m->side[1].count, m->trace,
               set_pair, m);
}

static void run_pass(matching *m, const pass *p)
{
    const size_t counts[2] = {m->graph[0]->node_count, m->graph[1]->node_count};
    for (int which = 0; which < 2; which++) {
        const uint32_t *matched = which ? m->back : m->pair;
        for (size_t i = 0; i < counts[which]; i++)
            m->side[which].keys[i] =
                matched[i] == SHLO_NONE ? p->key(&m->graph[which]->nodes[i]) : 0;
    }
    size_t a = 0, b = 0;
    while (a < counts[0]) {
        size_t end = a;
        while (end < counts[0] && (m->pair[end] == SHLO_NONE || m->moved[end]))
            end++;
        const size_t b_end = end < counts[0] ? m->pair[end] : counts[1];
        match_gap(m, a, end, b, b_end, p->once);
        /* What was matched just now lies before END. */
        a = end + 1;
        b = b_end + 1;
    }
}

/* ---- beside the passes ------------------------------------------------------------------------ */

static uint32_t match_of(const uint32_t *matches, uint32_t node)
{
    return node == SHLO_NONE ? SHLO_NONE : matches[node];
}

/* Statements match only where those do that they stand in, which come first in the text. Unless all
 * passes are over (LAST), both of these may still have none. */
static void check_parents(matching *m, bool last)
{
    for (uint32_t i = 0; i < m->graph[0]->node_count; i++) {
        if (m->pair[i] == SHLO_NONE)
            continue;
        const uint32_t a = m->graph[0]->nodes[i].parent;
        const uint32_t b = m->graph[1]->nodes[m->pair[i]].parent;
        const bool open = match_of(m->pair, a) == SHLO_NONE && match_of(m->back, b) == SHLO_NONE;
        if (match_of(m->pair, a) == b && match_of(m->back, b) == a)
            continue;
        if (open && (!last || (a == SHLO_NONE) != (b == SHLO_NONE)))
            continue;
        m->back[m->pair[i]] = SHLO_NONE;
        m->pair[i] = SHLO_NONE;
        m->moved[i] = 0;
    }
}

/* What a statement is computed of, and which of B's it stands in, or would stand in. */
static uint64_t elsewhere(const shlo_node *node, uint32_t parent)
{
    return shlo_mix(node->deep, parent);
}

/* Makes lists of B's statements that have no match: by FIRST and NEXT, each in order. */
static bool list_unmatched(const matching *m, shlo_map *first, uint32_t *next)
{
    const shlo_graph *b = m->graph[1];
    for (uint32_t j = (uint32_t)b->node_count; j-- > 0;) {
        const shlo_node *node = &b->nodes[j];
        /* The order of arguments and functions counts. */
        if (m->back[j] != SHLO_NONE || node->kind != SHLO_OP)
            continue;
        uint32_t *head = shlo_map_at(first, elsewhere(node, node->parent));
        if (!head)
            return false;
        next[j] = *head;
        *head = j;
    }
    return true;
}

/* Matches statements that are the same and stand in another order. */
static bool match_moved(matching *m)
{
    const shlo_graph *a = m->graph[0];
    uint32_t *next = m->side[1].nodes;
    shlo_map first = {0};
    const bool fits = list_unmatched(m, &first, next);
    for (uint32_t i = 0; fits && i < a->node_count; i++) {
        const shlo_node *node = &a->nodes[i];
        const uint32_t parent = match_of(m->pair, node->parent);
        if (m->pair[i] != SHLO_NONE || node->kind != SHLO_OP ||
            (node->parent != SHLO_NONE && parent == SHLO_NONE))
            continue;
        uint32_t *head = shlo_map_find(&first, elsewhere(node, parent));
        if (!head || *head == SHLO_NONE)
            continue;
        m->pair[i] = *head;
        m->back[*head] = i;
        m->moved[i] = 1;
        *head = next[*head];
    }
    shlo_map_free(&first);
    return fits;
}

/* ---- all of it -------------------------------------------------------------------------------- */

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

static bool match_all(matching *m)
{
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        run_pass(m, &same[i]);
    check_parents(m, false);
    if (!match_moved(m))
        return false;
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        run_pass(m, &changed[i]);
    check_parents(m, true);
    return true;
}

bool shlo_match(const shlo_graph *a, const shlo_graph *b, uint32_t *pair, uint32_t *back,
                uint32_t *moved)
{
    matching m = {.graph = {a, b}, .pair = pair, .back = back, .moved = moved};
    for (size_t i = 0; i < a->node_count; i++)
        pair[i] = SHLO_NONE;
    for (size_t i = 0; i < b->node_count; i++)
        back[i] = SHLO_NONE;
    const bool fits = make_room(&m) && match_all(&m);
    free(m.tallies);
    free(m.trace);
    for (int i = 0; i < 2; i++) {
        free(m.side[i].keys);
        free(m.side[i].left);
        free(m.side[i].nodes);
    }
    return fits;
}
