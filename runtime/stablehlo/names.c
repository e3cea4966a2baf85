/*
 * names.c - what names in a text stand for: values, ops, places.
 *
 * Regions of one statement may use the same names for other values, so what a region defines is
 * taken back at its end.
 */
#include "runtime/stablehlo/stablehlo_priv.h"

#include <string.h>

/* An alias may stand for another one. */
#define MOST_ALIASES 8

bn_code shlo_fail_at(const shlo_reader *r, uint32_t line, const char *what)
{
    return bn_fail(r->st, BN_FORMAT, "line %u: %s", line, what);
}

/* ---- values ------------------------------------------------------------------------------- */

bn_code shlo_define(shlo_reader *r, uint64_t name, shlo_operand value)
{
    if (r->value_count >= SHLO_MOST_VALUES)
        return bn_fail(r->st, BN_FORMAT, "more than %u values", SHLO_MOST_VALUES);
    uint32_t *slot = shlo_map_at(&r->names, name);
    bn_grow(&r->undo, r->undo_count + 1, &r->undo_room, sizeof *r->undo);
    bn_grow(&r->values, r->value_count + 1, &r->value_room, sizeof *r->values);
    r->undo[r->undo_count++] = (shlo_undo){name, *slot};
    r->values[r->value_count] = value;
    *slot = (uint32_t)r->value_count++;
    return BN_OK;
}

bn_code shlo_look_up(const shlo_reader *r, const shlo_token *token, shlo_operand *value)
{
    const uint32_t *slot = shlo_map_find(&r->names, token->hash);
    if (!slot || *slot == SHLO_NONE)
        return bn_fail(r->st, BN_FORMAT, "line %u: %.*s is used before it is defined", token->line,
                       token->length < 60 ? (int)token->length : 60, token->at);
    *value = r->values[*slot];
    value->number += token->number;
    return BN_OK;
}

void shlo_undo_names(shlo_reader *r, size_t undo)
{
    while (r->undo_count > undo) {
        const shlo_undo *last = &r->undo[--r->undo_count];
        uint32_t *slot = shlo_map_find(&r->names, last->name);
        if (slot)
            *slot = last->value;
    }
}

/* ---- ops ---------------------------------------------------------------------------------- */

uint32_t shlo_op_number(shlo_reader *r, shlo_piece name)
{
    shlo_graph *g = r->graph;
    uint32_t *slot = shlo_map_at(&r->ops, shlo_hash(name.at, name.length));
    if (*slot == SHLO_NONE) {
        bn_grow(&g->ops, g->op_count + 1, &g->op_room, sizeof *g->ops);
        bn_grow(&g->op_forms, g->op_count + 1, &g->form_room, sizeof *g->op_forms);
        g->op_forms[g->op_count] = 0;
        g->ops[g->op_count] = name;
        *slot = (uint32_t)g->op_count++;
    }
    return *slot;
}

/* ---- places ------------------------------------------------------------------------------- */

size_t shlo_behind_place(const shlo_token *tokens, size_t at, size_t count)
{
    int64_t depth = 0;
    if (at + 1 >= count || !shlo_is_word(&tokens[at], "loc") || !shlo_is_mark(&tokens[at + 1], '('))
        return at;
    for (size_t i = at + 1; i < count; i++) {
        depth += shlo_bracket(&tokens[i]);
        if (depth == 0)
            return i + 1;
    }
    return count;
}

shlo_piece shlo_piece_of(const shlo_token *tokens, size_t first, size_t behind)
{
    if (first >= behind)
        return (shlo_piece){tokens[0].at, 0};
    const shlo_token *last = &tokens[behind - 1];
    return (shlo_piece){tokens[first].at, (size_t)(last->at + last->length - tokens[first].at)};
}

/* "f.py":5:22 to :30, which begins with the token AT of COUNT. */
static shlo_piece file_place(const shlo_token *tokens, size_t at, size_t count)
{
    size_t end = at + 1;
    while (end < count && !shlo_is_mark(&tokens[end], ')') && !shlo_is_mark(&tokens[end], ']') &&
           !shlo_is_mark(&tokens[end], ',') && !shlo_is_word(&tokens[end], "at"))
        end++;
    return shlo_piece_of(tokens, at, end);
}

shlo_place shlo_place_of(const shlo_token *tokens, size_t count)
{
    shlo_place place = {0};
    /* Behind "loc(", before ")". Of calls within each other the innermost one comes first. */
    for (size_t i = 2; i + 1 < count && place.source.length == 0; i++) {
        const shlo_token *t = &tokens[i];
        if (t->kind == SHLO_TOKEN_STRING && shlo_is_mark(&tokens[i + 1], ':'))
            place.source = file_place(tokens, i, count - 1);
        else if (t->kind == SHLO_TOKEN_WORD && t->at[0] == '#')
            place.source = shlo_piece_of(tokens, i, i + 1);
        else if (t->kind == SHLO_TOKEN_STRING && t->length > 2 && place.name.length == 0)
            place.name = (shlo_piece){t->at + 1, t->length - 2};
    }
    if (place.name.length == 0)
        place.name = place.source;
    return place;
}

bn_code shlo_alias(shlo_reader *r, uint64_t name, shlo_place place)
{
    if (r->place_count >= SHLO_MOST_NODES)
        return bn_fail(r->st, BN_FORMAT, "more than %u places", SHLO_MOST_NODES);
    uint32_t *slot = shlo_map_at(&r->aliases, name);
    bn_grow(&r->places, r->place_count + 1, &r->place_room, sizeof *r->places);
    r->places[r->place_count] = place;
    *slot = (uint32_t)r->place_count++;
    return BN_OK;
}

/* PIECE, the name of a place or its SOURCE, with an alias replaced. */
static shlo_piece resolve(const shlo_reader *r, shlo_piece piece, bool source)
{
    for (int i = 0; i < MOST_ALIASES && piece.length > 0 && piece.at[0] == '#'; i++) {
        const uint32_t *slot = shlo_map_find(&r->aliases, shlo_hash(piece.at, piece.length));
        const shlo_place place = slot ? r->places[*slot] : (shlo_place){0};
        piece = source ? place.source : place.name;
    }
    return piece.length > 0 && piece.at[0] == '#' ? (shlo_piece){NULL, 0} : piece;
}

void shlo_resolve_places(shlo_reader *r)
{
    for (size_t i = 0; i < r->graph->node_count; i++) {
        shlo_node *node = &r->graph->nodes[i];
        const shlo_piece name = resolve(r, node->place.name, false);
        node->place = (shlo_place){name, resolve(r, node->place.source, true)};
        node->place_hash = name.length ? shlo_hash(name.at, name.length) : 0;
    }
}
