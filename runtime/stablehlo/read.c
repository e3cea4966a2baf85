/*
 * read.c - StableHLO text becomes a graph: statements, and the regions within them.
 *
 * A statement ends with its line, unless a bracket is open. The regions of some ops begin on a line
 * of their own, with a word that begins no statement: cond, do, reducer.
 */
#include "runtime/stablehlo/stablehlo_priv.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TOKENS 4000000u /* of the statements that are open at a time */

static bn_code read_block(shlo_reader *r, shlo_frame *around);

/* ---- tokens --------------------------------------------------------------------------------- */

static bn_code advance(shlo_reader *r)
{
    return shlo_scan(&r->scanner, &r->next, r->st);
}

static bn_code push(shlo_reader *r, const shlo_token *token)
{
    if (r->token_count >= MOST_TOKENS)
        return shlo_fail_at(r, token->line, "a statement of more than 4,000,000 words");
    bn_grow(&r->tokens, r->token_count + 1, &r->token_room, sizeof *r->tokens);
    r->tokens[r->token_count++] = *token;
    return BN_OK;
}

static bn_code fail_cut(const shlo_reader *r, const char *within)
{
    return bn_fail(r->st, BN_FORMAT, "line %u: the text ends within %s: it was cut", r->next.line,
                   within);
}

/* Pushes the next token of a statement, and keeps count of *DEPTH, its open brackets. */
static bn_code take(shlo_reader *r, int64_t *depth)
{
    if (r->next.kind == SHLO_TOKEN_END)
        return fail_cut(r, "brackets");
    *depth += shlo_bracket(&r->next);
    if (*depth < 0)
        return shlo_fail_at(r, r->next.line, "a bracket is closed that was not opened");
    bn_code code = push(r, &r->next);
    return code == BN_OK ? advance(r) : code;
}

/* Whether a statement that has no open brackets ends before the next token. */
static bool ends_here(const shlo_reader *r)
{
    static const char *const further[] = {"cond", "do", "reducer"};
    const shlo_token *t = &r->next;
    if (t->kind == SHLO_TOKEN_END || shlo_is_mark(t, '}'))
        return true;
    if (!t->first || t->kind == SHLO_TOKEN_ANGLE || t->kind == SHLO_TOKEN_ARROW)
        return false;
    for (size_t i = 0; i < sizeof further / sizeof *further; i++)
        if (shlo_is_word(t, further[i]))
            return false;
    return t->kind != SHLO_TOKEN_MARK || t->mark == '^';
}

/* ---- regions -------------------------------------------------------------------------------- */

/* Whether the next token, '{', begins a region: its statements stand on lines of their own, or the
 * first one is seen to be one. What is in the braces of attributes is not. */
static bool opens_region(const shlo_reader *r)
{
    shlo_scanner ahead = r->scanner;
    shlo_token token, behind;
    if (shlo_scan(&ahead, &token, NULL) != BN_OK)
        return false;
    if (token.first || token.kind == SHLO_TOKEN_VALUE || shlo_is_mark(&token, '^'))
        return true;
    return shlo_scan(&ahead, &behind, NULL) == BN_OK &&
           (behind.kind == SHLO_TOKEN_VALUE ||
            (token.kind == SHLO_TOKEN_STRING && shlo_is_mark(&behind, '(')));
}

/* A region of F. In its place F gets one token. */
static bn_code read_region(shlo_reader *r, shlo_frame *f)
{
    shlo_token region = r->next;
    region.kind = SHLO_TOKEN_REGION;
    region.mark = 0;
    if (r->depth == SHLO_MOST_DEPTH)
        return shlo_fail_at(r, region.line, "more than 64 regions within each other");
    bn_code code = shlo_node_blocks(r, f);
    const size_t undo = r->undo_count;
    /* Arguments are numbered in each region: which one that is, their users say. */
    if (r->graph->nodes[f->node].kind != SHLO_FUNCTION)
        f->block_arguments = 0;
    r->depth++;
    if (code == BN_OK)
        code = advance(r);
    if (code == BN_OK)
        code = read_block(r, f);
    if (code == BN_OK)
        code = advance(r);
    if (code == BN_OK)
        code = push(r, &region);
    f->regions++;
    r->depth--;
    shlo_undo_names(r, undo);
    return code;
}

/* "^bb0(%arg0: tensor<f32>, ...):", the arguments of a block in AROUND's region. */
static bn_code read_label(shlo_reader *r, shlo_frame *around)
{
    const size_t first = r->token_count;
    int64_t depth = 0;
    uint64_t hash = 0;
    bool more = true;
    if (!around)
        return shlo_fail_at(r, r->next.line, "a block outside of a region");
    while (more) {
        more = depth > 0 || !shlo_is_mark(&r->next, ':');
        bn_code code = take(r, &depth);
        if (code != BN_OK)
            return code;
    }
    /* A function in generic form names its arguments here. */
    if (around->generic && around->block_arguments == 0 &&
        r->graph->nodes[around->node].kind == SHLO_FUNCTION) {
        bn_code code = shlo_node_arguments(r, around, first);
        r->token_count = first;
        return code;
    }
    const shlo_token *t = &r->tokens[first];
    const size_t count = r->token_count - first;
    r->token_count = first;
    for (size_t i = 0; i < count; i++) {
        const size_t behind = shlo_behind_place(t, i, count);
        if (behind > i) {
            i = behind - 1;
        } else if (t[i].kind == SHLO_TOKEN_VALUE) {
            const shlo_operand value = {around->node, SHLO_BLOCK | around->block_arguments++};
            bn_code code = shlo_define(r, t[i].hash, value);
            if (code != BN_OK)
                return code;
            i++; /* its colon */
        } else if (i > 1 && !shlo_is_mark(&t[i], '(') && !shlo_is_mark(&t[i], ')') &&
                   !shlo_is_mark(&t[i], ',') && !shlo_is_mark(&t[i], ':')) {
            hash = shlo_mix(hash, t[i].hash);
        }
    }
    around->labels = shlo_mix(around->labels, hash);
    return BN_OK;
}

/* ---- statements ------------------------------------------------------------------------------ */

/* "#loc1 = loc(...)": names of other things were replaced before. */
static bn_code read_alias(shlo_reader *r)
{
    const size_t first = r->token_count;
    int64_t depth = 0;
    bn_code code = BN_OK;
    do
        code = take(r, &depth);
    while (code == BN_OK && (depth > 0 || !ends_here(r)));
    const shlo_token *t = &r->tokens[first];
    const size_t count = r->token_count - first;
    r->token_count = first;
    if (code == BN_OK && count > 3 && shlo_is_mark(&t[1], '=') &&
        shlo_behind_place(t, 2, count) > 2)
        code = shlo_alias(r, t[0].hash, shlo_place_of(&t[2], count - 2));
    return code;
}

static bn_code read_statement(shlo_reader *r, shlo_frame *around)
{
    shlo_frame f = {.first = r->token_count,
                    .scanned = r->token_count,
                    .undo = r->undo_count,
                    .parent = around ? around->node : SHLO_NONE};
    int64_t depth = 0;
    bn_code code = shlo_node_add(r, f.parent, r->next.line, &f.node);
    if (code == BN_OK && around)
        r->graph->nodes[f.node].region = around->regions;
    for (bool more = true; more && code == BN_OK; more = depth > 0 || !ends_here(r))
        code =
            shlo_is_mark(&r->next, '{') && opens_region(r) ? read_region(r, &f) : take(r, &depth);
    if (code == BN_OK)
        code = shlo_node_finish(r, &f);
    if (code == BN_OK && around)
        around->inside += r->graph->nodes[f.node].deep;
    r->token_count = f.first;
    return code;
}

/* The statements in AROUND's region, up to the bracket that closes it; outermost, AROUND is NULL,
 * up to the end of the text. */
static bn_code read_block(shlo_reader *r, shlo_frame *around)
{
    bn_code code = BN_OK;
    while (code == BN_OK) {
        const shlo_token *t = &r->next;
        if (t->kind == SHLO_TOKEN_END)
            return around ? fail_cut(r, "a region") : BN_OK;
        if (shlo_is_mark(t, '}') && around)
            return BN_OK;
        if (shlo_is_mark(t, '^'))
            code = read_label(r, around);
        else if (t->kind == SHLO_TOKEN_WORD && (t->at[0] == '#' || t->at[0] == '!'))
            code = read_alias(r);
        else if (!around && !shlo_is_mark(t, '}') && r->graph->of_kind[SHLO_MODULE] > 0)
            code = shlo_fail_at(r, t->line, "something follows the module: one program is wanted");
        else
            code = read_statement(r, around);
    }
    return code;
}

/* ---- the graph ------------------------------------------------------------------------------- */

/* Refuses bytes that are no text. */
static bn_code check_text(const char *text, size_t length, bn_status *st)
{
    if (length > SHLO_MOST_BYTES)
        return bn_fail(st, BN_FORMAT, "%zu bytes: texts of graphs may have %zu", length,
                       SHLO_MOST_BYTES);
    if (length >= 4 && memcmp(text, "ML\xEFR", 4) == 0)
        return bn_fail(st, BN_FORMAT, "MLIR byte code: graphs are read as StableHLO text");
    if (length > 0 && memchr(text, 0, length))
        return bn_fail(st, BN_FORMAT, "it has zero bytes: no StableHLO text");
    return BN_OK;
}

static bn_code read_all(shlo_reader *r, const char *text, size_t length)
{
    shlo_graph *g = r->graph = bn_zalloc(1, sizeof *g);
    bn_grow(&r->tokens, 64, &r->token_room, sizeof *r->tokens);
    g->text = bn_strndup(text, length);
    g->length = length;
    r->scanner = (shlo_scanner){g->text, g->text + length, 1, true};
    bn_code code = advance(r);
    if (code == BN_OK)
        code = read_block(r, NULL);
    if (code == BN_OK && g->of_kind[SHLO_FUNCTION] == 0)
        code =
            bn_fail(r->st, BN_FORMAT, "no func.func: not a StableHLO module in MLIR's text form");
    if (code == BN_OK)
        shlo_resolve_places(r);
    return code;
}

bn_code shlo_graph_read(const char *text, size_t length, shlo_graph **graph, bn_status *st)
{
    shlo_reader r = {.st = st};
    bn_text plain = {0};
    *graph = NULL;
    bn_code code = check_text(text, length, st);
    if (code == BN_OK)
        code = shlo_replace_aliases(text, length, &plain, st);
    if (code == BN_OK)
        code = plain.length ? read_all(&r, plain.data, plain.length) : read_all(&r, text, length);
    bn_text_free(&plain);
    shlo_map_free(&r.names);
    shlo_map_free(&r.ops);
    shlo_map_free(&r.aliases);
    free(r.tokens);
    free(r.values);
    free(r.undo);
    free(r.places);
    bn_text_free(&r.scratch);
    if (code == BN_OK)
        *graph = r.graph;
    else
        shlo_graph_free(r.graph);
    return code;
}

void shlo_graph_free(shlo_graph *graph)
{
    if (!graph)
        return;
    free(graph->text);
    free(graph->nodes);
    free(graph->operands);
    free(graph->ops);
    free(graph->op_forms);
    free(graph);
}
