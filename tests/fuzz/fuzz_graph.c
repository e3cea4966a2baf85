/* fuzz_graph.c - StableHLO text as a graph, and two of them compared: what stands before and behind
 * the first zero byte, which no such text has. */
#include "tests/fuzz/fuzz.h"

#include "runtime/stablehlo/stablehlo.h"

static void check_piece(const shlo_graph *g, shlo_piece piece)
{
    if (piece.length == 0)
        return;
    const bool own = piece.at >= g->text && piece.at + piece.length <= g->text + g->length;
    fuzz_require(own || strncmp(piece.at, "argument", piece.length) == 0,
                 "a piece that is not of the text");
    fuzz_touch(piece.at, piece.length);
}

static void check_source(const shlo_node *node)
{
    bn_text text = {0};
    shlo_source_put(node, &text);
    fuzz_require(!text.data || bn_is_plain(text.data), "a source that is not plain");
    bn_text_free(&text);
}

static void check_graph(const shlo_graph *g)
{
    for (size_t i = 0; i < g->node_count; i++) {
        const shlo_node *node = &g->nodes[i];
        fuzz_require(node->parent == SHLO_NONE || node->parent < i, "a parent that comes later");
        fuzz_require(node->op < g->op_count, "an op that there is not");
        fuzz_require((size_t)node->first_operand + node->operand_count <= g->operand_count,
                     "operands that there are not");
        for (uint32_t k = 0; k < node->operand_count; k++)
            fuzz_require(g->operands[node->first_operand + k].node < g->node_count,
                         "an operand that nothing gives");
        check_piece(g, g->ops[node->op]);
        check_piece(g, node->text);
        check_piece(g, node->attributes);
        check_piece(g, node->types);
        check_piece(g, node->place.name);
        check_piece(g, node->place.source);
        check_source(node);
    }
}

static bool spells(const shlo_graph *g)
{
    for (size_t i = 0; i < g->node_count; i++)
        if (g->nodes[i].spelled)
            return true;
    return false;
}

/* Each statement has one match at most, or is reported as added or removed. */
static void check_diff(const shlo_diff *d)
{
    bn_text text = {0};
    size_t pairs = 0, back = 0;
    for (uint32_t i = 0; i < d->a->node_count; i++) {
        if (d->pair[i] == SHLO_NONE)
            continue;
        pairs++;
        fuzz_require(d->pair[i] < d->b->node_count && d->back[d->pair[i]] == i,
                     "a match that is not one of both");
    }
    for (uint32_t i = 0; i < d->b->node_count; i++)
        back += d->back[i] != SHLO_NONE;
    /* A reducer that one graph spells and the other names by one word is no difference. */
    const bool spelled = spells(d->a) || spells(d->b);
    const size_t lone_a = d->a->node_count - pairs, lone_b = d->b->node_count - pairs;
    fuzz_require(pairs == back && d->changed <= pairs &&
                     (spelled ? d->removed <= lone_a && d->added <= lone_b
                              : d->removed == lone_a && d->added == lone_b),
                 "counts that do not fit the statements");
    for (size_t i = 0; i < d->count && i < 100; i++) {
        bn_text_clear(&text);
        shlo_difference_put(d, &d->list[i], &text);
        fuzz_require(text.data && text.length > 0 && bn_is_plain(text.data),
                     "a difference without words, or with words that are not plain");
    }
    bn_text_free(&text);
}

static shlo_graph *read_part(const uint8_t *data, size_t size)
{
    bn_status st = {0};
    shlo_graph *g = NULL;
    bn_code code = shlo_graph_read((const char *)data, size, &g, &st);
    fuzz_status(code, &st);
    fuzz_require((code == BN_OK) == (g != NULL), "a graph of bytes that are refused");
    if (g)
        check_graph(g);
    return g;
}

static void compare(const shlo_graph *a, const shlo_graph *b)
{
    bn_status st = {0};
    shlo_diff *d = NULL;
    bn_code code = shlo_diff_make(a, b, &d, &st);
    fuzz_status(code, &st);
    if (code != BN_OK)
        return;
    check_diff(d);
    fuzz_require(a != b || (d->count == 0 && d->moved == 0), "a graph differs from itself");
    shlo_diff_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    const size_t first = zero ? (size_t)(zero - data) : size;
    shlo_graph *a = read_part(data, first);
    shlo_graph *b = zero ? read_part(zero + 1, size - first - 1) : NULL;
    if (a)
        compare(a, a);
    if (a && b) {
        compare(a, b);
        compare(b, a);
    }
    shlo_graph_free(a);
    shlo_graph_free(b);
    return 0;
}
