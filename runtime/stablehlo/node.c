/*
 * node.c - the tokens of a statement become a node.
 *
 *   %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64}> ({...}) : (T, T) -> (T, T) loc("s")
 *   names   op              what it says, operands among it      types behind the last colon
 */
#define _GNU_SOURCE
#include "runtime/stablehlo/stablehlo_priv.h"

#include <string.h>

#define MOST_RESULTS (SHLO_BLOCK / 16)

static const char no_statement[] = "no statement of StableHLO begins so";

/* ---- a new node ----------------------------------------------------------------------------- */

bn_code shlo_node_add(shlo_reader *r, uint32_t parent, uint32_t line, uint32_t *index)
{
    shlo_graph *g = r->graph;
    if (g->node_count >= SHLO_MOST_NODES)
        return bn_fail(r->st, BN_FORMAT, "more than %u statements", SHLO_MOST_NODES);
    if (!bn_reserve(&g->nodes, g->node_count + 1, &g->node_room, sizeof *g->nodes))
        return shlo_no_memory(r);
    g->nodes[g->node_count] = (shlo_node){.line = line, .parent = parent, .depth = r->depth};
    *index = (uint32_t)g->node_count++;
    return BN_OK;
}

/* ---- the op ---------------------------------------------------------------------------------- */

/* The number that a digits' token is, from 1; 0: it is none. */
static uint32_t count_of(const shlo_token *token)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < token->length; i++) {
        const char c = token->at[i];
        if (c < '0' || c > '9' || count > MOST_RESULTS / 16)
            return 0;
        count = count * 10 + (uint32_t)(c - '0');
    }
    return count;
}

/* Reads the names before the op: how many *RESULTS they stand for. Returns the op's token, COUNT
 * where there is none. */
static size_t read_results(const shlo_token *t, size_t count, uint32_t *results)
{
    size_t i = 0;
    *results = 0;
    if (t[0].kind != SHLO_TOKEN_VALUE)
        return 0;
    while (i < count && t[i].kind == SHLO_TOKEN_VALUE && *results < MOST_RESULTS) {
        uint32_t own = 1;
        i++;
        if (i + 1 < count && shlo_is_mark(&t[i], ':')) {
            own = count_of(&t[i + 1]);
            i += 2;
        }
        if (own == 0)
            return count;
        *results += own;
        if (i < count && shlo_is_mark(&t[i], '='))
            return i + 1;
        if (i >= count || !shlo_is_mark(&t[i], ','))
            return count;
        i++;
    }
    return count;
}

/* The op's name, without quotes; empty where TOKEN is none. */
static shlo_piece op_name(const shlo_token *token)
{
    static const char *const plain[] = {"module", "return", "call"};
    if (token->kind == SHLO_TOKEN_STRING && token->length > 2 &&
        memchr(token->at, '.', token->length))
        return (shlo_piece){token->at + 1, token->length - 2};
    if (token->kind != SHLO_TOKEN_WORD || strchr("@#!.0123456789", token->at[0]))
        return (shlo_piece){token->at, 0};
    if (memchr(token->at, '.', token->length))
        return (shlo_piece){token->at, token->length};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (shlo_is_word(token, plain[i]))
            return (shlo_piece){token->at, token->length};
    return (shlo_piece){token->at, 0};
}

static bool is_called(shlo_piece name, const char *word)
{
    return name.length == strlen(word) && memcmp(name.at, word, name.length) == 0;
}

/* Finds F's op, and gives it to its node. */
static bn_code name_op(shlo_reader *r, shlo_frame *f)
{
    const shlo_token *t = &r->tokens[f->first];
    const size_t count = r->token_count - f->first;
    shlo_node *node = &r->graph->nodes[f->node];
    if (f->named)
        return BN_OK;
    f->op = count > 0 ? read_results(t, count, &node->result_count) : 0;
    if (f->op >= count)
        return shlo_fail_at(r, node->line, no_statement);
    const shlo_piece name = op_name(&t[f->op]);
    if (name.length == 0)
        return shlo_fail_at(r, node->line, no_statement);
    node->kind = is_called(name, "module") || is_called(name, "builtin.module") ? SHLO_MODULE
                 : is_called(name, "func.func")                                 ? SHLO_FUNCTION
                                                                                : SHLO_OP;
    node->op_hash = shlo_hash(name.at, name.length);
    f->named = true;
    return shlo_op_number(r, name, &node->op);
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Whether token AT, a value in brackets, is the name of a block's argument and no operand. */
static bool names_argument(const shlo_token *t, size_t at, size_t count)
{
    return t[at].kind == SHLO_TOKEN_VALUE && at + 1 < count &&
           (shlo_is_mark(&t[at + 1], '=') || shlo_is_mark(&t[at + 1], ':'));
}

/* Hashes the tokens from FROM to before TO that stand in braces, and the others. */
static void hash_parts(const shlo_token *t, size_t from, size_t to, uint64_t *inside,
                       uint64_t *outside)
{
    int64_t depth = 0;
    for (size_t i = from; i < to; i++) {
        const size_t behind = shlo_behind_place(t, i, to);
        if (behind > i) {
            i = behind - 1;
            continue;
        }
        depth += shlo_is_mark(&t[i], '{');
        uint64_t *hash = depth > 0 ? inside : outside;
        *hash = shlo_mix(*hash, t[i].hash);
        depth -= shlo_is_mark(&t[i], '}');
    }
}

/* The token from FROM on that ends a type: what opens braces or a place, or TO. */
static size_t type_end(const shlo_token *t, size_t from, size_t to)
{
    while (from < to && !shlo_is_mark(&t[from], '{') && shlo_behind_place(t, from, to) == from)
        from++;
    return from;
}

/* "%arg0: tensor<2xf32> {...} loc(...)", the tokens from FROM to before TO, becomes a node. */
static bn_code argument_node(shlo_reader *r, shlo_frame *f, size_t from, size_t to)
{
    const shlo_token *t = &r->tokens[f->first];
    const size_t end = type_end(t, from + 2, to);
    uint32_t index = 0;
    bn_code code = shlo_node_add(r, f->node, t[from].line, &index);
    if (code == BN_OK)
        code = shlo_op_number(r, (shlo_piece){"argument", 8}, &r->graph->nodes[index].op);
    if (code != BN_OK)
        return code;
    shlo_node *node = &r->graph->nodes[index];
    node->kind = SHLO_ARGUMENT;
    node->depth++;
    node->result_count = 1;
    node->types = shlo_piece_of(t, from + 2, end);
    node->attributes = shlo_piece_of(t, end, to);
    node->text = shlo_piece_of(t, from, to);
    for (size_t i = end; i < to; i++) {
        const size_t behind = shlo_behind_place(t, i, to);
        if (behind > i) {
            node->attributes = shlo_piece_of(t, end, i);
            node->text = shlo_piece_of(t, from, i);
            node->place = shlo_place_of(&t[i], behind - i);
            break;
        }
    }
    hash_parts(t, from + 2, to, &node->attribute_hash, &node->type_hash);
    node->op_hash = shlo_hash("argument", 8);
    node->local = shlo_mix(shlo_mix(node->op_hash, node->attribute_hash), node->type_hash);
    node->deep = shlo_mix(node->local, f->block_arguments++);
    f->inside += node->deep;
    r->graph->of_kind[SHLO_ARGUMENT]++;
    return shlo_define(r, t[from].hash, (shlo_operand){index, 0});
}

/* The end of the item at FROM: a comma, or the bracket that closes the list; or COUNT. */
static size_t item_end(const shlo_token *t, size_t from, size_t count)
{
    int64_t depth = 0;
    for (; from < count; from++) {
        if (depth == 0 && (shlo_is_mark(&t[from], ',') || shlo_bracket(&t[from]) < 0))
            return from;
        depth += shlo_bracket(&t[from]);
    }
    return count;
}

/* The bracket that opens the list of a function's arguments; COUNT: there is none. */
static size_t arguments_begin(const shlo_token *t, size_t op, size_t count)
{
    while (op < count && !shlo_is_mark(&t[op], '('))
        op++;
    return op;
}

static bn_code function_arguments(shlo_reader *r, shlo_frame *f)
{
    const size_t count = r->token_count - f->first;
    size_t from = arguments_begin(&r->tokens[f->first], f->op, count) + 1;
    while (from < count) {
        const shlo_token *t = &r->tokens[f->first];
        const size_t end = item_end(t, from, count);
        if (end > from + 2 && names_argument(t, from, end)) {
            bn_code code = argument_node(r, f, from, end);
            if (code != BN_OK)
                return code;
        }
        if (end < count && !shlo_is_mark(&t[end], ','))
            break;
        from = end + 1;
    }
    /* With as many arguments, each stands for the one in the same place. */
    for (uint32_t i = 0; i < f->block_arguments; i++)
        r->graph->nodes[f->node + 1 + i].name_hash =
            shlo_mix((uint64_t)f->block_arguments << 32, i + 1);
    return BN_OK;
}

bn_code shlo_node_blocks(shlo_reader *r, shlo_frame *f)
{
    const bool known = f->named;
    bn_code code = name_op(r, f);
    const shlo_token *t = &r->tokens[f->first];
    const size_t count = r->token_count - f->first;
    if (code != BN_OK)
        return code;
    if (r->graph->nodes[f->node].kind == SHLO_FUNCTION && t[f->op].kind == SHLO_TOKEN_WORD)
        return known ? BN_OK : function_arguments(r, f);
    for (size_t i = f->scanned - f->first; i < count && code == BN_OK; i++) {
        f->depth += shlo_bracket(&t[i]);
        if (f->depth > 0 && names_argument(t, i, count))
            code = shlo_define(r, t[i].hash,
                               (shlo_operand){f->node, SHLO_BLOCK | f->block_arguments++});
    }
    f->scanned = r->token_count;
    return code;
}

/* ---- what it says ---------------------------------------------------------------------------- */

static bn_code add_operand(shlo_reader *r, uint32_t node, const shlo_token *token)
{
    shlo_graph *g = r->graph;
    shlo_operand value;
    if (g->operand_count >= SHLO_MOST_VALUES)
        return bn_fail(r->st, BN_FORMAT, "more than %u operands", SHLO_MOST_VALUES);
    if (!bn_reserve(&g->operands, g->operand_count + 1, &g->operand_room, sizeof *g->operands))
        return shlo_no_memory(r);
    bn_code code = shlo_look_up(r, token, &value);
    if (code != BN_OK)
        return code;
    g->operands[g->operand_count++] = value;
    g->nodes[node].operand_count++;
    return BN_OK;
}

/* Hashes the tokens from FROM to before TO, but values, which become operands, and places. */
static bn_code read_words(shlo_reader *r, const shlo_frame *f, size_t from, size_t to)
{
    const shlo_token *t = &r->tokens[f->first];
    const bool module = r->graph->nodes[f->node].kind == SHLO_MODULE;
    uint64_t hash = r->graph->nodes[f->node].attribute_hash;
    int64_t depth = 0;
    for (size_t i = from; i < to; i++) {
        const size_t behind = shlo_behind_place(t, i, to);
        if (behind > i) {
            i = behind - 1;
            continue;
        }
        depth += shlo_bracket(&t[i]);
        if (depth > 0 && names_argument(t, i, to)) {
            i++;
        } else if (t[i].kind == SHLO_TOKEN_VALUE) {
            bn_code code = add_operand(r, f->node, &t[i]);
            if (code != BN_OK)
                return code;
            /* What stands between operands would say how many there are. */
            i += i + 1 < to && shlo_is_mark(&t[i + 1], ',');
        } else if (t[i].kind != SHLO_TOKEN_REGION && !(module && t[i].at[0] == '@')) {
            hash = shlo_mix(hash, t[i].hash);
        }
    }
    r->graph->nodes[f->node].attribute_hash = hash;
    return BN_OK;
}

/* Whether token AT, outside of brackets, ends the types of a statement. */
static bool ends_types(const shlo_token *t, size_t at, size_t count)
{
    static const char *const words[] = {"attributes", "cond", "do", "reducer"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (shlo_is_word(&t[at], words[i]))
            return true;
    return t[at].kind == SHLO_TOKEN_REGION || shlo_is_mark(&t[at], '{') ||
           shlo_behind_place(t, at, count) > at;
}

/* Cuts the types of operands off, which what gives them says: *FROM to before TO become the types of
 * RESULTS results. */
static void result_types(const shlo_token *t, size_t *from, size_t *to, uint32_t results)
{
    int64_t depth = 0;
    size_t commas = 0, first = *from;
    for (size_t i = *from; i < *to; i++) {
        depth += shlo_bracket(&t[i]);
        if (depth == 0 && t[i].kind == SHLO_TOKEN_ARROW) {
            first = i + 1;
            /* "-> (T, T)" says the same as "-> T" of one. */
            if (first < *to && shlo_is_mark(&t[first], '(') && shlo_is_mark(&t[*to - 1], ')')) {
                first++;
                --*to;
            }
            *from = first;
            return;
        }
        commas += depth == 0 && shlo_is_mark(&t[i], ',');
    }
    /* "T, T" of operands and results alike: the last are the results'. */
    for (size_t i = *from; i < *to && commas + 1 > results; i++) {
        depth += shlo_bracket(&t[i]);
        if (depth == 0 && shlo_is_mark(&t[i], ',')) {
            commas--;
            first = i + 1;
        }
    }
    *from = first;
}

/* The types of a statement, from FROM on, behind its colon; *END is where they end. */
static void read_types(const shlo_token *t, size_t from, size_t count, shlo_node *node, size_t *end)
{
    int64_t depth = 0;
    size_t to = from;
    while (to < count && (depth > 0 || !ends_types(t, to, count)))
        depth += shlo_bracket(&t[to++]);
    *end = to;
    if (node->result_count == 0)
        return;
    result_types(t, &from, &to, node->result_count);
    for (size_t i = from; i < to; i++)
        node->type_hash = shlo_mix(node->type_hash, t[i].hash);
    node->types = shlo_piece_of(t, from, to);
}

/* The last colon outside of brackets from FROM on; COUNT: there is none. */
static size_t last_colon(const shlo_token *t, size_t from, size_t count)
{
    int64_t depth = 0;
    size_t found = count;
    for (size_t i = from; i < count; i++) {
        const size_t behind = shlo_behind_place(t, i, count);
        if (behind > i) {
            i = behind - 1;
            continue;
        }
        depth += shlo_bracket(&t[i]);
        if (depth == 0 && shlo_is_mark(&t[i], ':'))
            found = i;
    }
    return found;
}

static bn_code read_op(shlo_reader *r, const shlo_frame *f)
{
    const shlo_token *t = &r->tokens[f->first];
    const size_t count = r->token_count - f->first, from = f->op + 1;
    const size_t colon = last_colon(t, from, count);
    size_t end = count, said = from;
    bn_code code = read_words(r, f, from, colon);
    if (code != BN_OK)
        return code;
    shlo_node *node = &r->graph->nodes[f->node];
    while (said < colon && t[said].kind != SHLO_TOKEN_REGION &&
           shlo_behind_place(t, said, count) == said)
        said++;
    node->attributes = shlo_piece_of(t, from, said);
    if (colon < count)
        read_types(t, colon + 1, count, node, &end);
    return read_words(r, f, end, count);
}

/* "func.func public @main(...) -> (T {...}, T) attributes {...}": its arguments are nodes of their
 * own. */
static void read_function(shlo_reader *r, const shlo_frame *f)
{
    const shlo_token *t = &r->tokens[f->first];
    const size_t count = r->token_count - f->first;
    shlo_node *node = &r->graph->nodes[f->node];
    size_t from = arguments_begin(t, f->op, count);
    for (size_t i = f->op; i < from; i++)
        if (t[i].kind == SHLO_TOKEN_WORD && t[i].at[0] == '@')
            node->name_hash = t[i].hash;
    hash_parts(t, f->op, from, &node->attribute_hash, &node->attribute_hash);
    if (from + 1 < count && t[from + 1].kind == SHLO_TOKEN_VALUE) {
        int64_t depth = 0;
        do {
            depth += shlo_bracket(&t[from++]);
        } while (depth > 0 && from < count);
    }
    size_t to = from;
    while (to < count && !shlo_is_word(&t[to], "attributes") && t[to].kind != SHLO_TOKEN_REGION &&
           shlo_behind_place(t, to, count) == to)
        to++;
    hash_parts(t, from, to, &node->attribute_hash, &node->type_hash);
    hash_parts(t, to, count, &node->attribute_hash, &node->attribute_hash);
    if (from < to && t[from].kind == SHLO_TOKEN_ARROW)
        from++;
    node->types = shlo_piece_of(t, from, to);
}

/* The same in generic form: the name stands among the properties. */
static uint64_t generic_name(shlo_piece text)
{
    static const char mark[] = "sym_name = \"";
    const char *at = memmem(text.at, text.length, mark, sizeof mark - 1);
    if (!at)
        return 0;
    at += sizeof mark - 1;
    const char *end = memchr(at, '"', (size_t)(text.at + text.length - at));
    return end ? shlo_hash(at, (size_t)(end - at)) : 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Its text, up to its first region or its place, and its place. */
static void read_text(const shlo_token *t, size_t count, shlo_node *node)
{
    size_t end = count;
    int64_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t behind = shlo_behind_place(t, i, count);
        if (behind > i) {
            if (depth == 0) {
                node->place = shlo_place_of(&t[i], behind - i);
                end = end < i ? end : i;
            }
            i = behind - 1;
            continue;
        }
        depth += shlo_bracket(&t[i]);
        if (t[i].kind == SHLO_TOKEN_REGION && end > i)
            end = i;
    }
    node->text = shlo_piece_of(t, 0, end);
}

/* What all that NODE is computed of says. */
static uint64_t deep_of(const shlo_graph *g, const shlo_node *node, uint64_t inside)
{
    uint64_t deep = shlo_mix(node->local, inside);
    for (uint32_t i = 0; i < node->operand_count; i++) {
        const shlo_operand *o = &g->operands[node->first_operand + i];
        const shlo_node *from = &g->nodes[o->node];
        deep = shlo_mix(deep, o->number & SHLO_BLOCK ? from->depth : from->deep);
        deep = shlo_mix(deep, o->number);
    }
    return deep;
}

/* Gives the names of F's results to them. */
static bn_code define_results(shlo_reader *r, const shlo_frame *f)
{
    const shlo_token *t = &r->tokens[f->first];
    uint32_t before = 0;
    bn_code code = BN_OK;
    for (size_t i = 0; i < f->op && code == BN_OK; i++) {
        if (t[i].kind == SHLO_TOKEN_VALUE) {
            code = shlo_define(r, t[i].hash, (shlo_operand){f->node, before});
            before += shlo_is_mark(&t[i + 1], ':') ? count_of(&t[i + 2]) : 1;
        }
    }
    return code;
}

bn_code shlo_node_finish(shlo_reader *r, shlo_frame *f)
{
    bn_code code = name_op(r, f);
    if (code != BN_OK)
        return code;
    const shlo_token *t = &r->tokens[f->first];
    const size_t count = r->token_count - f->first;
    r->graph->nodes[f->node].first_operand = (uint32_t)r->graph->operand_count;
    read_text(t, count, &r->graph->nodes[f->node]);
    shlo_forget(r, f->undo);
    if (r->graph->nodes[f->node].kind == SHLO_FUNCTION && t[f->op].kind == SHLO_TOKEN_WORD)
        read_function(r, f);
    else
        code = read_op(r, f);
    if (code != BN_OK)
        return code;
    shlo_node *node = &r->graph->nodes[f->node];
    if (node->kind == SHLO_FUNCTION && t[f->op].kind == SHLO_TOKEN_STRING)
        node->name_hash = generic_name(node->text);
    if (f->labels)
        node->attribute_hash = shlo_mix(node->attribute_hash, f->labels);
    const uint64_t around =
        node->parent == SHLO_NONE ? 0 : r->graph->nodes[node->parent].op_hash;
    node->local = shlo_mix(shlo_mix(node->op_hash, node->attribute_hash), node->type_hash);
    node->local = shlo_mix(shlo_mix(node->local, around + node->region),
                           ((uint64_t)node->result_count << 32) + node->operand_count);
    node->deep = deep_of(r->graph, node, f->inside);
    r->graph->of_kind[node->kind]++;
    return define_results(r, f);
}
