/*
 * diff.c - what differs between two graphs whose statements are matched.
 */
#define _GNU_SOURCE
#include "runtime/stablehlo/generic_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- types ----------------------------------------------------------------------------------- */

/* The next tensor of TYPES from *AT on, which moves behind it. */
static bool next_tensor(shlo_piece types, size_t *at, shlo_piece *shape, shlo_piece *dtype)
{
    static const char mark[] = "tensor<";
    if (*at >= types.length)
        return false;
    const char *end = types.at + types.length;
    const char *from = memmem(types.at + *at, types.length - *at, mark, sizeof mark - 1);
    if (!from)
        return false;
    from += sizeof mark - 1;
    const char *behind = from, *element = from;
    for (int64_t depth = 1; behind < end; behind++) {
        depth += (*behind == '<') - (*behind == '>');
        if (depth == 0)
            break;
    }
    /* "2x?x3x" before the element's type. */
    for (const char *c = from; c < behind && (*c == '?' || *c == 'x' || (*c >= '0' && *c <= '9'));)
        if (*c++ == 'x')
            element = c;
    *shape = (shlo_piece){from, (size_t)(element - from)};
    *dtype = (shlo_piece){element, (size_t)(behind - element)};
    *at = (size_t)(behind - types.at);
    return true;
}

static bool same_piece(shlo_piece a, shlo_piece b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

#define BIT(reason) (1u << (reason))

/* Why types that are not the same differ. */
static unsigned compare_types(shlo_piece a, shlo_piece b)
{
    size_t at[2] = {0, 0};
    shlo_piece shape[2], dtype[2];
    unsigned reasons = 0;
    for (;;) {
        const bool more_a = next_tensor(a, &at[0], &shape[0], &dtype[0]);
        const bool more_b = next_tensor(b, &at[1], &shape[1], &dtype[1]);
        if (more_a != more_b)
            return reasons | BIT(SHLO_WHY_RESULTS);
        if (!more_a)
            return reasons ? reasons : BIT(SHLO_WHY_TYPE);
        if (!same_piece(shape[0], shape[1]))
            reasons |= BIT(SHLO_WHY_SHAPE);
        if (!same_piece(dtype[0], dtype[1]))
            reasons |= BIT(SHLO_WHY_DTYPE);
    }
}

/* ---- two statements -------------------------------------------------------------------------- */

static bool is_op(const shlo_graph *g, const shlo_node *node, const char *end)
{
    const shlo_piece op = g->ops[node->op];
    const size_t length = strlen(end);
    return op.length >= length && memcmp(op.at + op.length - length, end, length) == 0;
}

/* Whether two values are the same: what gives them is matched, or computes the same. Arguments are
 * themselves only. */
static bool same_value(const shlo_diff *d, shlo_operand a, shlo_operand b)
{
    const shlo_node *from_a = &d->a->nodes[a.node], *from_b = &d->b->nodes[b.node];
    if (a.number != b.number)
        return false;
    if (d->pair[a.node] == b.node)
        return true;
    if (a.number & SHLO_BLOCK)
        return from_a->depth == from_b->depth;
    return from_a->kind == SHLO_OP && from_a->deep == from_b->deep;
}

/* Fills what differs between the matched A and B of DIFFERENCE; false where nothing does. */
static bool compare(const shlo_diff *d, shlo_difference *difference)
{
    const shlo_node *a = &d->a->nodes[difference->a], *b = &d->b->nodes[difference->b];
    const bool returns = is_op(d->a, a, "return");
    unsigned reasons = 0;
    if (a->op_hash != b->op_hash)
        reasons |= BIT(SHLO_WHY_OP);
    if (a->result_count != b->result_count)
        reasons |= BIT(SHLO_WHY_RESULTS);
    if (a->type_hash != b->type_hash)
        reasons |= compare_types(a->types, b->types);
    if (a->attribute_hash != b->attribute_hash)
        reasons |= is_op(d->a, a, "constant") ? BIT(SHLO_WHY_CONSTANT) : BIT(SHLO_WHY_ATTRIBUTE);
    /* Where both spell it, the op in the region differs. */
    if (a->applies != b->applies && !(a->spelled && b->spelled))
        reasons |= BIT(SHLO_WHY_ATTRIBUTE);
    const uint32_t common =
        a->operand_count < b->operand_count ? a->operand_count : b->operand_count;
    uint32_t i = 0;
    while (i < common && same_value(d, d->a->operands[a->first_operand + i],
                                    d->b->operands[b->first_operand + i]))
        i++;
    if (i < common)
        reasons |= BIT(SHLO_WHY_OPERAND);
    if (a->operand_count != b->operand_count)
        reasons |= returns ? BIT(SHLO_WHY_RESULTS) : BIT(SHLO_WHY_OPERAND);
    difference->reasons = reasons;
    difference->operand = i < common || a->operand_count != b->operand_count ? i : SHLO_NONE;
    return reasons != 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void add(shlo_diff *d, shlo_difference difference)
{
    bn_grow(&d->list, d->count + 1, &d->room, sizeof *d->list);
    d->list[d->count++] = difference;
    d->changed += difference.change == SHLO_CHANGED;
    d->added += difference.change == SHLO_ADDED;
    d->removed += difference.change == SHLO_REMOVED;
    for (int i = 0; i < SHLO_REASON_COUNT; i++)
        d->because[i] += difference.reasons >> i & 1;
}

static void add_pair(shlo_diff *d, uint32_t a)
{
    shlo_difference own = {SHLO_CHANGED, a, d->pair[a], 0, SHLO_NONE};
    if (compare(d, &own))
        add(d, own);
}

/* Whether statement NODE of G only spells what the match of the reduction around it says by one
 * word, in OTHER. MATCHES are G's. */
static bool only_spells(const shlo_graph *g, const shlo_graph *other, const uint32_t *matches,
                        uint32_t node)
{
    const uint32_t parent = g->nodes[node].parent;
    if (parent == SHLO_NONE || !g->nodes[parent].spelled || matches[parent] == SHLO_NONE)
        return false;
    const shlo_node *match = &other->nodes[matches[parent]];
    return match->applies && !match->spelled;
}

/* Walks both texts side by side. MOVED marks the statements of A whose matches stand elsewhere. */
static void list_differences(shlo_diff *d, const uint32_t *moved)
{
    uint32_t a = 0, b = 0;
    while (a < d->a->node_count || b < d->b->node_count) {
        if (a < d->a->node_count && d->pair[a] == SHLO_NONE &&
            only_spells(d->a, d->b, d->pair, a)) {
            a++;
        } else if (b < d->b->node_count && d->back[b] == SHLO_NONE &&
                   only_spells(d->b, d->a, d->back, b)) {
            b++;
        } else if (a < d->a->node_count && d->pair[a] == SHLO_NONE) {
            add(d, (shlo_difference){SHLO_REMOVED, a++, SHLO_NONE, 0, SHLO_NONE});
        } else if (a < d->a->node_count && moved[a]) {
            const size_t before = d->count;
            add_pair(d, a++);
            d->moved += d->count == before;
        } else if (b < d->b->node_count && d->back[b] == SHLO_NONE) {
            add(d, (shlo_difference){SHLO_ADDED, SHLO_NONE, b++, 0, SHLO_NONE});
        } else if (b < d->b->node_count && moved[d->back[b]]) {
            b++;
        } else {
            /* All others are in the same order. */
            add_pair(d, a++);
            b++;
        }
    }
}

/* ---- counts by op ---------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const shlo_op_count *x = a, *y = b;
    const size_t length = x->op.length < y->op.length ? x->op.length : y->op.length;
    const int order = length ? memcmp(x->op.at, y->op.at, length) : 0;
    return order ? order : (x->op.length > y->op.length) - (x->op.length < y->op.length);
}

/* Where each op of G is counted, into AT[op]. */
static void op_rows(shlo_diff *d, const shlo_graph *g, shlo_map *map, uint32_t *at)
{
    for (size_t i = 0; i < g->op_count; i++) {
        uint32_t *row = shlo_map_at(map, shlo_op_hash(g->ops[i]));
        if (*row == SHLO_NONE) {
            d->ops[d->op_count].op = g->ops[i];
            *row = (uint32_t)d->op_count++;
        }
        at[i] = *row;
    }
}

/* Counts into rows AT_A[op] and AT_B[op]. */
static void count_nodes(shlo_diff *d, const uint32_t *at_a, const uint32_t *at_b)
{
    for (size_t i = 0; i < d->a->node_count; i++)
        d->ops[at_a[d->a->nodes[i].op]].a++;
    for (size_t i = 0; i < d->b->node_count; i++)
        d->ops[at_b[d->b->nodes[i].op]].b++;
    for (size_t i = 0; i < d->count; i++) {
        const shlo_difference *one = &d->list[i];
        if (one->change == SHLO_ADDED)
            d->ops[at_b[d->b->nodes[one->b].op]].added++;
        else if (one->change == SHLO_REMOVED)
            d->ops[at_a[d->a->nodes[one->a].op]].removed++;
        else
            d->ops[at_b[d->b->nodes[one->b].op]].changed++;
    }
}

static void count_ops(shlo_diff *d)
{
    const size_t a = d->a->op_count, b = d->b->op_count;
    shlo_map map = {0};
    uint32_t *at = bn_alloc((a + b) * sizeof *at);
    d->ops = bn_zalloc(a + b, sizeof *d->ops);
    op_rows(d, d->a, &map, at);
    op_rows(d, d->b, &map, at + a);
    count_nodes(d, at, at + a);
    qsort(d->ops, d->op_count, sizeof *d->ops, by_name);
    shlo_map_free(&map);
    free(at);
}

/* ---- forms ------------------------------------------------------------------------------------
 */

/* An op that is in generic form in one graph alone, and in the other in a form that is not known;
 * an empty piece: there is none. */
static shlo_piece mixed_op(const shlo_graph *a, const shlo_graph *b)
{
    for (size_t i = 0; i < a->op_count; i++) {
        const unsigned forms = a->op_forms[i];
        for (size_t k = 0; forms && k < b->op_count; k++)
            if (a->ops[i].length == b->ops[k].length &&
                memcmp(a->ops[i].at, b->ops[k].at, a->ops[i].length) == 0 && b->op_forms[k] &&
                !(b->op_forms[k] & forms))
                return a->ops[i];
    }
    return (shlo_piece){"", 0};
}

/* ---- the difference -------------------------------------------------------------------------- */

bn_code shlo_diff_make(const shlo_graph *a, const shlo_graph *b, shlo_diff **diff, bn_status *st)
{
    const shlo_piece mixed = mixed_op(a, b);
    *diff = NULL;
    if (mixed.length)
        return bn_fail(
            st, BN_NOT_SUPPORTED,
            "%.*s is in MLIR's generic form in one of both texts only, and its own form is "
            "not known: print both in the same form",
            mixed.length < 60 ? (int)mixed.length : 60, mixed.at);
    shlo_diff *d = *diff = bn_zalloc(1, sizeof *d);
    uint32_t *moved = bn_zalloc(a->node_count, sizeof *moved);
    d->a = a;
    d->b = b;
    d->pair = bn_alloc(a->node_count * sizeof *d->pair);
    d->back = bn_alloc(b->node_count * sizeof *d->back);
    shlo_match(a, b, d->pair, d->back, moved);
    list_differences(d, moved);
    count_ops(d);
    free(moved);
    return BN_OK;
}

void shlo_diff_free(shlo_diff *diff)
{
    if (!diff)
        return;
    free(diff->pair);
    free(diff->back);
    free(diff->list);
    free(diff->ops);
    free(diff);
}

shlo_reason shlo_difference_reason(const shlo_difference *difference)
{
    int reason = 0;
    while (reason < SHLO_REASON_COUNT - 1 && !(difference->reasons & BIT(reason)))
        reason++;
    return (shlo_reason)reason;
}

const char *shlo_reason_name(shlo_reason reason)
{
    static const char *const names[] = {
#define X(reason, name) name,
        SHLO_REASONS(X)
#undef X
    };
    return names[reason];
}
