/*
 * node.c - the tokens of a statement become a node.
 *
 *   %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64}> ({...}) : (T, T) -> (T, T) loc("s")
 *   names   op              what it says, operands among it      types behind the last colon
 */
#include "runtime/stablehlo/generic_priv.h"

#include <stdlib.h>
#include <string.h>

#define MOST_RESULTS (SHLO_BLOCK / 16)

static const char no_statement[] = "no statement of StableHLO begins so";

/* ---- a new node ----------------------------------------------------------------------------- */

bn_code shlo_node_add(shlo_reader *r, uint32_t parent, uint32_t line, uint32_t *index)
{
    shlo_graph *g = r->graph;
    if (g->node_count >= SHLO_MOST_NODES)
        return bn_fail(r->st, BN_FORMAT, "more than %u statements", SHLO_MOST_NODES);
    bn_grow(&g->nodes, g->node_count + 1, &g->node_room, sizeof *g->nodes);
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
    node->kind = shlo_is_called(name, "module") || shlo_is_called(name, "builtin.module")
                     ? SHLO_MODULE
                 : shlo_is_called(name, "func.func") ? SHLO_FUNCTION
                                                     : SHLO_OP;
    node->op_hash = shlo_op_hash(name);
    f->named = true;
    f->generic = t[f->op].kind == SHLO_TOKEN_STRING;
    node->op = shlo_op_number(r, name);
    return BN_OK;
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Whether token AT, a value in brackets, is the name of a block's argument and no operand. */
static bool names_argument(const shlo_token *t, size_t at, size_t count)
{
    return t[at].kind == SHLO_TOKEN_VALUE && at + 1 < count &&
           (shlo_is_mark(&t[at + 1], '=') || shlo_is_mark(&t[at + 1], ':'));
}

/* Hashes the tokens of types from FROM to before TO: what stands in braces, places and commas
 * between types are not of them. */
static uint64_t hash_types(const shlo_token *t, size_t from, size_t to)
{
    uint64_t hash = 0;
    int64_t depth = 0;
    for (size_t i = from; i < to; i++) {
        const size_t behind = shlo_behind_place(t, i, to);
        if (behind > i) {
            i = behind - 1;
            continue;
        }
        depth += shlo_is_mark(&t[i], '{');
        if (depth == 0 && !shlo_is_mark(&t[i], ','))
            hash = shlo_mix(hash, t[i].hash);
        depth -= shlo_is_mark(&t[i], '}');
    }
    return hash;
}

/* The words of the dictionary that token AT opens, if it does. */
static uint64_t hash_dictionary(const shlo_token *t, size_t at, size_t to)
{
    if (at >= to || !shlo_is_mark(&t[at], '{'))
        return 0;
    shlo_scanner s = shlo_inside(&t[at], t[to - 1].at + t[to - 1].length);
    return shlo_dictionary(&s);
}

/* The token from FROM on that ends a type: what opens braces or a place, or TO. */
static size_t type_end(const shlo_token *t, size_t from, size_t to)
{
    while (from < to && !shlo_is_mark(&t[from], '{') && shlo_behind_place(t, from, to) == from)
        from++;
    return from;
}

/* The next of the dictionaries in a list, "[{...}, {...}]", that S stands in: its words. */
static uint64_t next_dictionary(shlo_scanner *s, shlo_piece *text)
{
    shlo_token t;
    do
        if (shlo_scan(s, &t, NULL) != BN_OK || t.kind == SHLO_TOKEN_END || shlo_is_mark(&t, ']'))
            return 0;
    while (!shlo_is_mark(&t, '{'));
    const char *from = t.at;
    const uint64_t hash = shlo_dictionary(s);
    if (shlo_scan(s, &t, NULL) != BN_OK) /* its last bracket */
        return 0;
    *text = (shlo_piece){from, hash ? (size_t)(t.at + t.length - from) : 0};
    return hash;
}

/* "%arg0: tensor<2xf32> {...} loc(...)", the tokens from FROM to before TO, becomes a node. WORDS:
 * of a function in generic form, the list of what is said of each. */
static bn_code argument_node(shlo_reader *r, shlo_frame *f, size_t from, size_t to,
                             shlo_scanner *words)
{
    const shlo_token *t = &r->tokens[f->first];
    const size_t end = type_end(t, from + 2, to);
    uint32_t index = 0;
    bn_code code = shlo_node_add(r, f->node, t[from].line, &index);
    if (code != BN_OK)
        return code;
    shlo_node *node = &r->graph->nodes[index];
    node->op = shlo_op_number(r, (shlo_piece){"argument", 8});
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
    node->attribute_hash =
        words->at ? next_dictionary(words, &node->attributes) : hash_dictionary(t, end, to);
    node->type_hash = hash_types(t, from + 2, end);
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

/* Where KEY's value stands in the dictionary that S stands in, behind its bracket; at NULL: it has
 * none. */
static shlo_scanner value_in(shlo_scanner s, const char *key)
{
    shlo_entry_text entry;
    while (shlo_next_entry(&s, &entry))
        if (shlo_is_word(&entry.key, key))
            return entry.value;
    return (shlo_scanner){0};
}

/* Where KEY's value stands in what a generic function says; at NULL: it does not. */
static shlo_scanner property(const shlo_reader *r, const shlo_frame *f, const char *key)
{
    const shlo_token *t = &r->tokens[f->first];
    const size_t count = r->token_count - f->first;
    shlo_scanner found = {0};
    for (size_t i = f->op; i < count && !found.at && !shlo_is_mark(&t[i], ':'); i++) {
        if (t[i].kind == SHLO_TOKEN_ANGLE || shlo_is_mark(&t[i], '{'))
            found = value_in(shlo_inside(&t[i], t[count - 1].at + t[count - 1].length), key);
        if (shlo_is_mark(&t[i], '{'))
            i = shlo_behind_bracket(t, i, count) - 1;
    }
    return found;
}

/* The same of what older texts say of a function behind its region, whose label has just been read.
 */
static shlo_scanner later_property(const shlo_reader *r, const char *key)
{
    shlo_scanner s = r->scanner;
    shlo_token t = r->next;
    for (int64_t depth = 2; depth > 0;) { /* of "({" */
        depth += shlo_bracket(&t);
        if (t.kind == SHLO_TOKEN_END || shlo_scan(&s, &t, NULL) != BN_OK)
            return (shlo_scanner){0};
    }
    return shlo_is_mark(&t, '{') ? value_in(s, key) : (shlo_scanner){0};
}

/* The arguments in the list that begins at token AT of F become nodes. */
static bn_code function_arguments(shlo_reader *r, shlo_frame *f, size_t at)
{
    const size_t count = r->token_count - f->first;
    size_t from = at + 1;
    shlo_scanner words = {0};
    if (f->generic)
        words = property(r, f, "arg_attrs");
    if (f->generic && !words.at)
        words = later_property(r, "arg_attrs");
    while (from < count) {
        const shlo_token *t = &r->tokens[f->first];
        const size_t end = item_end(t, from, count);
        if (end > from + 2 && names_argument(t, from, end)) {
            bn_code code = argument_node(r, f, from, end, &words);
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

bn_code shlo_node_arguments(shlo_reader *r, shlo_frame *f, size_t label)
{
    const shlo_token *t = &r->tokens[f->first];
    const size_t count = r->token_count - f->first;
    return function_arguments(r, f, arguments_begin(t, label - f->first, count));
}

/* Numbers the arguments of a reducer, (%a: T, %b: T) (%c: U, %d: U), as its block has them: a c b
 * d. */
static bn_code reducer_arguments(shlo_reader *r, shlo_frame *f)
{
    const shlo_token *t = &r->tokens[f->first];
    const size_t count = r->token_count - f->first;
    bn_code code = BN_OK;
    int64_t depth = 0;
    uint32_t found = 0;
    for (size_t i = f->op; i < count && code == BN_OK; i++) {
        depth += shlo_bracket(&t[i]);
        if (depth > 0 && names_argument(t, i, count)) {
            const uint32_t number = found / 2 + (found % 2) * (f->block_arguments / 2);
            code = shlo_define(r, t[i].hash, (shlo_operand){f->node, SHLO_BLOCK | number});
            found++;
        }
    }
    return code;
}

bn_code shlo_node_blocks(shlo_reader *r, shlo_frame *f)
{
    const bool known = f->named;
    bn_code code = name_op(r, f);
    const shlo_token *t = &r->tokens[f->first];
    const size_t count = r->token_count - f->first;
    if (code != BN_OK)
        return code;
    if (r->graph->nodes[f->node].kind == SHLO_FUNCTION)
        return known || f->generic ? BN_OK
                                   : function_arguments(r, f, arguments_begin(t, f->op, count));
    for (size_t i = f->scanned - f->first; i < count && code == BN_OK; i++) {
        f->depth += shlo_bracket(&t[i]);
        if (f->depth > 0 && names_argument(t, i, count))
            code = shlo_define(r, t[i].hash,
                               (shlo_operand){f->node, SHLO_BLOCK | f->block_arguments++});
    }
    f->scanned = r->token_count;
    if (code == BN_OK && f->block_arguments > 2 && f->block_arguments % 2 == 0 && !f->generic &&
        shlo_is_called(r->graph->ops[r->graph->nodes[f->node].op], "stablehlo.reduce"))
        code = reducer_arguments(r, f);
    return code;
}

/* ---- what it says ---------------------------------------------------------------------------- */

static bn_code add_operand(shlo_reader *r, uint32_t node, const shlo_token *token)
{
    shlo_graph *g = r->graph;
    shlo_operand value;
    if (g->operand_count >= SHLO_MOST_VALUES)
        return bn_fail(r->st, BN_FORMAT, "more than %u operands", SHLO_MOST_VALUES);
    bn_grow(&g->operands, g->operand_count + 1, &g->operand_room, sizeof *g->operands);
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
            /* Marks between operands would count them. */
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

/* Cuts the types of operands off, which what gives them says: *FROM to before TO become the types
 * of RESULTS results. */
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

/* The operands of a reduction, "(%a init: %b), (%c init: %d)", as the generic form has them: a c b
 * d. */
static void order_operands(shlo_reader *r, const shlo_node *node)
{
    shlo_operand *list = &r->graph->operands[node->first_operand];
    const uint32_t count = node->operand_count;
    shlo_operand *copy = bn_alloc(count * sizeof *copy);
    memcpy(copy, list, count * sizeof *copy);
    for (uint32_t i = 0; i < count; i++)
        list[i / 2 + (i % 2) * (count / 2)] = copy[i];
    free(copy);
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
    code = read_words(r, f, end, count);
    if (code != BN_OK)
        return code;
    const shlo_statement statement = {t, f->op, colon, end, count, r->graph->ops[node->op]};
    uint64_t says, applies;
    uint8_t *forms = &r->graph->op_forms[node->op];
    if (f->generic)
        *forms |= SHLO_FORM_GENERIC;
    if (!shlo_says(&statement, &r->scratch, &says, &applies)) {
        *forms |= SHLO_FORM_OWN;
        return BN_OK;
    }
    node->attribute_hash = says;
    node->applies = applies;
    if (!f->generic && node->operand_count > 2 && node->operand_count % 2 == 0 &&
        shlo_is_called(statement.name, "stablehlo.reduce"))
        order_operands(r, node);
    return BN_OK;
}

/* The results that "-> T", or "-> (T {...}, U)", from the arrow AT of T on, gives NODE: types, and
 *what is said of each. */
static void read_results_of(const shlo_token *t, size_t at, size_t to, shlo_node *node)
{
    size_t from = at + 1, end = to;
    if (from < to && shlo_is_mark(&t[from], '(') && shlo_is_mark(&t[to - 1], ')')) {
        from++;
        end--;
    }
    uint64_t place = 1;
    int64_t depth = 0;
    node->types = shlo_piece_of(t, at + 1, to);
    node->type_hash = hash_types(t, from, end);
    for (size_t i = from; i < end; i++) {
        if (depth == 0 && shlo_is_mark(&t[i], '{')) {
            const uint64_t words = hash_dictionary(t, i, end);
            node->attribute_hash += words ? shlo_mix(place, words) : 0;
        }
        depth += shlo_bracket(&t[i]);
        place += depth == 0 && shlo_is_mark(&t[i], ',');
    }
}

/* Hash of a function's name and visibility, "public". */
static uint64_t name_words(uint64_t name, const char *visible, size_t length)
{
    const uint64_t seen = length ? shlo_mix(2, shlo_hash(visible, length)) : 0;
    return shlo_mix(1, name) + seen;
}

/* "@main" or "@\"main\"" without its marks. */
static uint64_t symbol_hash(const shlo_token *token)
{
    const bool quoted = token->length > 3 && token->at[1] == '"';
    return shlo_hash(token->at + 1 + quoted, token->length - 1 - 2u * quoted);
}

/* "func.func public @main(...) -> (T {...}, T) attributes {...}": its arguments are nodes of their
 * own. */
static void read_function(const shlo_reader *r, const shlo_frame *f)
{
    const shlo_token *t = &r->tokens[f->first];
    const size_t count = r->token_count - f->first;
    shlo_node *node = &r->graph->nodes[f->node];
    size_t from = arguments_begin(t, f->op, count);
    shlo_piece visible = {"", 0};
    for (size_t i = f->op + 1; i < from; i++) {
        if (t[i].kind == SHLO_TOKEN_WORD && t[i].at[0] == '@')
            node->name_hash = symbol_hash(&t[i]);
        else if (t[i].kind == SHLO_TOKEN_WORD)
            visible = (shlo_piece){t[i].at, t[i].length};
    }
    node->attribute_hash = name_words(node->name_hash, visible.at, visible.length);
    int64_t depth = 0;
    do {
        depth += from < count ? shlo_bracket(&t[from]) : 0;
        from++;
    } while (depth > 0 && from < count);
    size_t to = from;
    while (to < count && !shlo_is_word(&t[to], "attributes") && t[to].kind != SHLO_TOKEN_REGION &&
           shlo_behind_place(t, to, count) == to)
        to++;
    if (from < to && t[from].kind == SHLO_TOKEN_ARROW)
        read_results_of(t, from, to, node);
    if (to + 1 < count && shlo_is_word(&t[to], "attributes"))
        node->attribute_hash += hash_dictionary(t, to + 1, count);
}

/* The same in generic form: what it says stands among the properties, or behind its region. */
static void read_generic_function(shlo_reader *r, const shlo_frame *f)
{
    const shlo_token *t = &r->tokens[f->first];
    const size_t count = r->token_count - f->first;
    shlo_node *node = &r->graph->nodes[f->node];
    shlo_piece visible = {"", 0};
    uint64_t sum = 0;
    for (size_t i = f->op; i < count && !shlo_is_mark(&t[i], ':'); i++) {
        shlo_entry_text entry;
        if (t[i].kind != SHLO_TOKEN_ANGLE && !shlo_is_mark(&t[i], '{'))
            continue;
        shlo_scanner s = shlo_inside(&t[i], t[count - 1].at + t[count - 1].length);
        while (shlo_next_entry(&s, &entry)) {
            shlo_scanner value = entry.value;
            shlo_token first = {.at = ""};
            const bool text = value.at && shlo_scan(&value, &first, NULL) == BN_OK &&
                              first.kind == SHLO_TOKEN_STRING;
            if (shlo_is_word(&entry.key, "sym_name") && text)
                node->name_hash = shlo_hash(first.at + 1, first.length - 2);
            else if (shlo_is_word(&entry.key, "sym_visibility") && text)
                visible = (shlo_piece){first.at + 1, first.length - 2};
            else if (!shlo_is_word(&entry.key, "function_type") &&
                     !shlo_is_word(&entry.key, "arg_attrs") &&
                     !shlo_is_word(&entry.key, "res_attrs"))
                sum += shlo_mix(shlo_mix(1, entry.name), entry.hash);
        }
        if (shlo_is_mark(&t[i], '{'))
            i = shlo_behind_bracket(t, i, count) - 1;
    }
    node->attribute_hash = name_words(node->name_hash, visible.at, visible.length) + sum;
    shlo_scanner results = property(r, f, "res_attrs");
    shlo_piece said;
    for (uint64_t place = 1; results.at && place <= SHLO_MOST_NODES; place++) {
        const char *before = results.at;
        const uint64_t words = next_dictionary(&results, &said);
        node->attribute_hash += words ? shlo_mix(place, words) : 0;
        if (results.at == before || results.at >= results.end || results.at[-1] == ']')
            break;
    }
    /* "(T, U) -> V": the results are what stands behind the arrow. */
    shlo_scanner type = property(r, f, "function_type");
    shlo_token own[1];
    const char *from = NULL, *end = NULL;
    uint64_t hash = 0;
    int64_t depth = 0;
    while (type.at && shlo_scan(&type, own, NULL) == BN_OK && own->kind != SHLO_TOKEN_END) {
        if (depth == 0 && (shlo_is_mark(own, ',') || shlo_bracket(own) < 0))
            break;
        depth += shlo_bracket(own);
        if (depth == 0 && own->kind == SHLO_TOKEN_ARROW && !from) {
            from = type.at;
            continue;
        }
        const bool around =
            (shlo_is_mark(own, '(') && depth == 1) || (shlo_is_mark(own, ')') && depth == 0);
        if (from && !around && !shlo_is_mark(own, ','))
            hash = shlo_mix(hash, own->hash);
        end = own->at + own->length;
    }
    node->type_hash = hash;
    while (from && end && from < end && *from == ' ')
        from++;
    node->types = from && end > from ? (shlo_piece){from, (size_t)(end - from)} : node->types;
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

/* Hash of NODE and all that it is computed of. */
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

/* Hash of the block labels that an op in its own form would have: the types of a loop's values,
 * for both regions, and of a reducer's. */
static uint64_t block_types(const shlo_token *t, size_t count, const shlo_node *node,
                            shlo_piece name)
{
    uint64_t hash = 0;
    if (shlo_is_called(name, "stablehlo.while")) {
        if (node->types.length == 0)
            return 0;
        shlo_scanner s = {node->types.at, node->types.at + node->types.length, 1, false};
        shlo_token type;
        while (shlo_scan(&s, &type, NULL) == BN_OK && type.kind != SHLO_TOKEN_END)
            if (!shlo_is_mark(&type, ','))
                hash = shlo_mix(hash, type.hash);
        return hash ? shlo_mix(shlo_mix(0, hash), hash) : 0;
    }
    size_t at = 0;
    while (at < count && !shlo_is_word(&t[at], "reducer"))
        at++;
    /* (%a: T, %b: T) (%c: U, %d: U): its block has a c b d. */
    for (size_t side = 0; side < 2; side++) {
        size_t named = 0;
        for (size_t i = at + 1; i < count && t[i].kind != SHLO_TOKEN_REGION; i++) {
            const size_t behind = shlo_behind_place(t, i, count);
            if (behind > i) {
                i = behind - 1;
            } else if (names_argument(t, i, count)) {
                named++;
                i++;
            } else if (named % 2 != side && !shlo_is_mark(&t[i], '(') &&
                       !shlo_is_mark(&t[i], ')') && !shlo_is_mark(&t[i], ',')) {
                hash = shlo_mix(hash, t[i].hash);
            }
        }
    }
    return hash ? shlo_mix(0, hash) : 0;
}

/* Whether the region of a reduction of one value is one op of both of its block's arguments, which
 * it returns: it then says that it applies that op. */
static bool find_applied(const shlo_reader *r, const shlo_frame *f, shlo_node *node)
{
    const shlo_graph *g = r->graph;
    if (!shlo_is_called(g->ops[node->op], "stablehlo.reduce") || f->regions != 1 ||
        node->operand_count != 2 || g->node_count != f->node + 3u)
        return false;
    const shlo_node *op = &g->nodes[f->node + 1], *back = &g->nodes[f->node + 2];
    if (op->parent != f->node || back->parent != f->node || op->operand_count != 2 ||
        op->result_count != 1 || op->attribute_hash != 0 || back->operand_count != 1 ||
        !shlo_is_called(g->ops[back->op], "stablehlo.return"))
        return false;
    const shlo_operand *of = &g->operands[op->first_operand];
    const shlo_operand *given = &g->operands[back->first_operand];
    if (of[0].node != f->node || of[0].number != SHLO_BLOCK || of[1].node != f->node ||
        of[1].number != (SHLO_BLOCK | 1) || given->node != f->node + 1)
        return false;
    node->applies = op->op_hash;
    node->spelled = true;
    return true;
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
    shlo_undo_names(r, f->undo);
    if (r->graph->nodes[f->node].kind == SHLO_FUNCTION && f->generic)
        read_generic_function(r, f);
    else if (r->graph->nodes[f->node].kind == SHLO_FUNCTION)
        read_function(r, f);
    else
        code = read_op(r, f);
    if (code != BN_OK)
        return code;
    shlo_node *node = &r->graph->nodes[f->node];
    if (!f->generic)
        f->labels = block_types(t, count, node, r->graph->ops[node->op]);
    if (find_applied(r, f, node))
        f->labels = f->inside = 0; /* it says the same as "applies" */
    if (f->labels && node->kind == SHLO_OP)
        node->attribute_hash = shlo_mix(node->attribute_hash, f->labels);
    const uint64_t around = node->parent == SHLO_NONE ? 0 : r->graph->nodes[node->parent].op_hash;
    node->local = shlo_mix(shlo_mix(node->op_hash, node->attribute_hash), node->type_hash);
    node->local = shlo_mix(shlo_mix(node->local, around + node->region),
                           ((uint64_t)node->result_count << 32) + node->operand_count);
    node->local = shlo_mix(node->local, node->applies);
    node->deep = deep_of(r->graph, node, f->inside);
    r->graph->of_kind[node->kind]++;
    return define_results(r, f);
}
