/*
 * match.c - which statement of one graph stands for which of another.
 *
 * Passes, the strictest first: each works in the gaps that those before it have left, so that all
 * matches keep the order of the text. In a pass, statements that occur once come before those that
 * occur often: of many equal constants a pass of the others alone might take the wrong ones.
 *
 * A statement that both graphs compute is held: only an equal one may stand for it, in order or
 * elsewhere, as long as one is left. Else a pass that looks at no operands would take another of
 * the same op, where the text has another order. What is not held is matched before what is held
 * and occurs often, for the reason above. Passes for statements that have changed come last.
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

static uint64_t key_place(const shlo_node *node)
{
    return node->place_hash;
}

/* All that it is computed of. */
static uint64_t key_deep(const shlo_node *node)
{
    return node->deep;
}

/* Its own words, and where it stands. */
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

/* Its operands and results: another op in the same place. */
static uint64_t key_types(const shlo_node *node)
{
    const uint64_t what = node->kind == SHLO_OP && node->result_count > 0 ? 0 : node->op_hash;
    return shlo_mix(shlo_mix(shlo_mix(what, nesting(node)), node->type_hash),
                    ((uint64_t)node->result_count << 32) + node->operand_count);
}

typedef struct pass {
    pass_key
        *key; /* of the value: in addition to the key that it is found by; NULL: that one alone */
    bool once;     /* of statements that occur once in each gap only */
} pass;

/* In the order in which they run. */
static const pass first[] = {{key_name, true}, {key_name, true}, {key_deep, true}};
static const pass held_once[] = {{NULL, true}};
static const pass held[] = {{key_place, true}, {key_place, false}, {NULL, true}, {NULL, false}};
static const pass alike[] = {
    {key_placed, true}, {key_placed, false}, {key_local, true}, {key_local, false}};
static const pass changed[] = {
    {key_op_placed, true}, {key_op_placed, false}, {key_op, false}, {key_types, false}};

/* The statements that a pass may match. */
typedef enum whose { ALL, HELD, NOT_HELD } whose;

/* ---- one gap --------------------------------------------------------------------------------- */

/* How often a key occurs in a gap. */
typedef struct tally {
    uint64_t key;
    uint32_t gap; /* that the counts are of; of another one they are void */
    uint32_t a, b;
} tally;

/* The statements of one graph; those in a gap that may have a match. */
typedef struct side {
    uint64_t *held;  /* [node] the key that it is held by; 0: it is not held */
    uint64_t *sum;   /* [node] what it stands for in the keys of what is computed of it */
    bool *equal;     /* [node] the other graph has the same, as often */
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

static bool is_matched(const matching *m, int which, size_t i)
{
    return (which ? m->back : m->pair)[i] != SHLO_NONE;
}

static uint64_t key_in_pass(const matching *m, const pass *p, whose of, int which, size_t i)
{
    const shlo_node *node = &m->graph[which]->nodes[i];
    const uint64_t own = m->side[which].held[i];
    if (is_matched(m, which, i) || (of == HELD && own == 0) || (of == NOT_HELD && own != 0))
        return 0;
    if (of != HELD)
        return p->key(node);
    return p->key ? shlo_mix(own, p->key(node)) : own;
}

static void run_pass(matching *m, const pass *p, whose of)
{
    const size_t counts[2] = {m->graph[0]->node_count, m->graph[1]->node_count};
    for (int which = 0; which < 2; which++)
        for (size_t i = 0; i < counts[which]; i++)
            m->side[which].keys[i] = key_in_pass(m, p, of, which, i);
    size_t a = 0, b = 0;
    while (a < counts[0]) {
        size_t end = a;
        while (end < counts[0] && (m->pair[end] == SHLO_NONE || m->moved[end]))
            end++;
        const size_t b_end = end < counts[0] ? m->pair[end] : counts[1];
        match_gap(m, a, end, b, b_end, p->once);
        /* The last match lies before END. */
        a = end + 1;
        b = b_end + 1;
    }
}

static void run_passes(matching *m, const pass *passes, size_t count, whose of)
{
    for (size_t i = 0; i < count; i++)
        run_pass(m, &passes[i], of);
}

#define RUN(m, passes, of) run_passes((m), (passes), sizeof(passes) / sizeof *(passes), (of))

/* ---- what is held ---------------------------------------------------------------------------- */

/* Of the statements that have a key those are held by it, from now on, whose key both graphs have.
 * Where one has it more often, which of them has changed is not known: they are not EQUAL. */
static void hold_common(matching *m)
{
    m->gap++;
    for (int hold = 0; hold < 2; hold++)
        for (int which = 0; which < 2; which++) {
            side *s = &m->side[which];
            for (size_t i = 0; i < m->graph[which]->node_count; i++) {
                if (s->keys[i] == 0)
                    continue;
                tally *t = tally_of(m, s->keys[i]);
                t->a += !hold && !which;
                t->b += !hold && which;
                if (hold && t->a > 0 && t->b > 0)
                    s->held[i] = s->keys[i];
                if (hold && t->a == t->b)
                    s->equal[i] = true;
            }
        }
}

/* Holds what both graphs compute, and says what is equal in them. */
static void find_equal(matching *m)
{
    for (int which = 0; which < 2; which++)
        for (size_t i = 0; i < m->graph[which]->node_count; i++) {
            const shlo_node *node = &m->graph[which]->nodes[i];
            m->side[which].keys[i] =
                node->kind == SHLO_OP && !is_matched(m, which, i) ? node->deep : 0;
        }
    hold_common(m);
    for (int which = 0; which < 2; which++)
        for (size_t i = 0; i < m->graph[which]->node_count; i++) {
            const shlo_node *node = &m->graph[which]->nodes[i];
            const uint32_t match = (which ? m->back : m->pair)[i];
            side *s = &m->side[which];
            if (match != SHLO_NONE)
                s->equal[i] = m->graph[!which]->nodes[match].deep == node->deep;
            s->sum[i] = s->equal[i] ? node->deep : 0;
        }
}

/* Hash of what NODE is computed of, whatever has changed above it. 0: it has changed itself, while
 * all that it takes is equal in both graphs. */
static uint64_t sum_of(const shlo_graph *g, const side *s, const shlo_node *node)
{
    uint64_t sum = node->local;
    bool below = false;
    for (uint32_t i = 0; i < node->operand_count; i++) {
        const shlo_operand *o = &g->operands[node->first_operand + i];
        const bool block = o->number & SHLO_BLOCK;
        sum = shlo_mix(sum, block ? g->nodes[o->node].depth : s->sum[o->node]);
        sum = shlo_mix(sum, o->number);
        below = below || (!block && !s->equal[o->node]);
    }
    return below ? sum : 0;
}

/* Holds what is computed of a change, too: it is computed in the same way in both graphs, whatever
 * the changed statement says. */
static void hold_below_changes(matching *m)
{
    for (int which = 0; which < 2; which++) {
        const shlo_graph *g = m->graph[which];
        side *s = &m->side[which];
        for (size_t i = 0; i < g->node_count; i++) {
            s->keys[i] = 0;
            if (s->equal[i] || g->nodes[i].kind != SHLO_OP)
                continue;
            s->sum[i] = sum_of(g, s, &g->nodes[i]);
            s->keys[i] = is_matched(m, which, i) || s->held[i] ? 0 : s->sum[i];
        }
    }
    hold_common(m);
}

/* ---- outside the passes -----------------------------------------------------------------------
 */

static uint32_t match_of(const uint32_t *matches, uint32_t node)
{
    return node == SHLO_NONE ? SHLO_NONE : matches[node];
}

/* Statements match only where those do that they stand in, which come first in the text. Unless all
 * passes are over (LAST), both of these may still have none. Returns how many matches it undid. */
static size_t check_parents(matching *m, bool last)
{
    size_t undone = 0;
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
        undone++;
    }
    return undone;
}

/* The key that holds a statement, and which of B's it stands in, or would stand in. SHLO_NONE: that
 * one has no match yet. */
static uint64_t elsewhere(uint64_t key, uint32_t parent)
{
    return shlo_mix(key, parent);
}

/* Makes lists of B's held statements that have no match: by HEADS and NEXT, each in order. */
static void list_unmatched(const matching *m, shlo_map *heads, uint32_t *next)
{
    const shlo_graph *b = m->graph[1];
    for (uint32_t j = (uint32_t)b->node_count; j-- > 0;) {
        const uint32_t parent = b->nodes[j].parent;
        /* Arguments and functions are never held: their order counts. */
        if (m->back[j] != SHLO_NONE || m->side[1].held[j] == 0)
            continue;
        const bool open = match_of(m->back, parent) == SHLO_NONE;
        uint32_t *head =
            shlo_map_at(heads, elsewhere(m->side[1].held[j], open ? SHLO_NONE : parent));
        next[j] = *head;
        *head = j;
    }
}

/* Matches what is held and stands in another order. */
static void match_moved(matching *m)
{
    const shlo_graph *a = m->graph[0];
    uint32_t *next = m->side[1].nodes;
    shlo_map heads = {0};
    list_unmatched(m, &heads, next);
    for (uint32_t i = 0; i < a->node_count; i++) {
        if (m->pair[i] != SHLO_NONE || m->side[0].held[i] == 0)
            continue;
        const uint32_t parent = match_of(m->pair, a->nodes[i].parent);
        uint32_t *head = shlo_map_find(&heads, elsewhere(m->side[0].held[i], parent));
        if (!head || *head == SHLO_NONE)
            continue;
        m->pair[i] = *head;
        m->back[*head] = i;
        m->moved[i] = 1;
        *head = next[*head];
    }
    shlo_map_free(&heads);
}

/* Does so until all that stands in regions has followed what it stands in, one level of regions
 * each time. */
static void settle(matching *m)
{
    check_parents(m, false);
    do
        match_moved(m);
    while (check_parents(m, false) > 0);
}

/* Whether A may have become B: it has the same op still, or the same types. */
static bool may_become(const matching *m, uint32_t a, uint32_t b)
{
    const shlo_node *x = &m->graph[0]->nodes[a], *y = &m->graph[1]->nodes[b];
    return x->kind == SHLO_OP && y->kind == SHLO_OP && match_of(m->pair, x->parent) == y->parent &&
           (key_op(x) == key_op(y) || key_types(x) == key_types(y));
}

/* Matches statements that have changed and stand elsewhere, too: where what takes them is matched,
 * and takes them as the same operand. It goes from the end, for what takes a value comes behind. */
static void match_by_users(matching *m)
{
    for (uint32_t i = (uint32_t)m->graph[0]->node_count; i-- > 0;) {
        if (m->pair[i] == SHLO_NONE)
            continue;
        const shlo_node *a = &m->graph[0]->nodes[i], *b = &m->graph[1]->nodes[m->pair[i]];
        for (uint32_t k = 0; k < a->operand_count && k < b->operand_count; k++) {
            const shlo_operand *x = &m->graph[0]->operands[a->first_operand + k];
            const shlo_operand *y = &m->graph[1]->operands[b->first_operand + k];
            if (x->number != y->number || m->pair[x->node] != SHLO_NONE ||
                m->back[y->node] != SHLO_NONE || !may_become(m, x->node, y->node))
                continue;
            m->pair[x->node] = y->node;
            m->back[y->node] = x->node;
            m->moved[x->node] = 1;
        }
    }
}

/* ---- all of it -------------------------------------------------------------------------------- */

static void make_room(matching *m)
{
    const size_t sum = m->graph[0]->node_count + m->graph[1]->node_count;
    m->tally_count = 64;
    while (m->tally_count < 2 * sum + 2)
        m->tally_count *= 2;
    m->tallies = bn_zalloc(m->tally_count, sizeof *m->tallies);
    m->trace = bn_alloc(sizeof *m->trace);
    for (int i = 0; i < 2; i++) {
        const size_t count = m->graph[i]->node_count + 1;
        m->side[i].held = bn_zalloc(count, sizeof *m->side[i].held);
        m->side[i].sum = bn_zalloc(count, sizeof *m->side[i].sum);
        m->side[i].equal = bn_zalloc(count, sizeof *m->side[i].equal);
        m->side[i].keys = bn_zalloc(count, sizeof *m->side[i].keys);
        m->side[i].left = bn_zalloc(count, sizeof *m->side[i].left);
        m->side[i].nodes = bn_zalloc(count, sizeof *m->side[i].nodes);
    }
}

static void match_all(matching *m)
{
    RUN(m, first, ALL);
    find_equal(m);
    hold_below_changes(m);
    RUN(m, held_once, HELD);
    RUN(m, alike, NOT_HELD);
    RUN(m, held, HELD);
    settle(m);
    /* Of what is held, one graph may have more than the other. */
    RUN(m, alike, ALL);
    RUN(m, changed, ALL);
    settle(m);
    match_by_users(m);
    settle(m);
    check_parents(m, true);
}

void shlo_match(const shlo_graph *a, const shlo_graph *b, uint32_t *pair, uint32_t *back,
                uint32_t *moved)
{
    matching m = {.graph = {a, b}, .pair = pair, .back = back, .moved = moved};
    for (size_t i = 0; i < a->node_count; i++)
        pair[i] = SHLO_NONE;
    for (size_t i = 0; i < b->node_count; i++)
        back[i] = SHLO_NONE;
    make_room(&m);
    match_all(&m);
    free(m.tallies);
    free(m.trace);
    for (int i = 0; i < 2; i++) {
        free(m.side[i].held);
        free(m.side[i].sum);
        free(m.side[i].equal);
        free(m.side[i].keys);
        free(m.side[i].left);
        free(m.side[i].nodes);
    }
}
