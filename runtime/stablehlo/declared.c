/*
 * declared.c - what a StableHLO module in MLIR's text form, pretty or generic, declares: the types
 * of @main, how and where their values lie, which are constants, which are donated, and for how
 * many devices it is. No op is known here but those that name devices.
 *
 *   func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}, ...) -> ...
 *   "func.func"() <{function_type = (tensor<2x3xf32>) -> ..., sym_name = "main"}> ({ ... })
 */
#define _GNU_SOURCE
#include "runtime/stablehlo/stablehlo_priv.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEPTH 32 /* of angle brackets within each other */

typedef struct reader {
    const char *end; /* of the whole text */
    shlo_declared *to;
    size_t argument_room, result_room;
    int main_depth; /* of brackets around the @main that was read; INT_MAX: none was */
    int depth;      /* around the token in hand */
    bn_status *st;
} reader;

static bn_code fail_at(const reader *r, const shlo_token *at, bn_code code, const char *what)
{
    return bn_fail(r->st, code, "line %u of the program: %s", at->line, what);
}

/* ---- tokens ---------------------------------------------------------------------------- */

/* The token behind S, which stays where it is; the end of the text where there is none. */
static shlo_token peek(const shlo_scanner *s)
{
    shlo_scanner ahead = *s;
    shlo_token t;
    if (shlo_scan(&ahead, &t, NULL) != BN_OK)
        t = (shlo_token){.at = s->at, .line = s->line};
    return t;
}

/* Moves behind WORD if that comes next. A WORD of one character is a mark. */
static bool accept(shlo_scanner *s, const char *word)
{
    shlo_scanner ahead = *s;
    shlo_token t;
    if (shlo_scan(&ahead, &t, NULL) != BN_OK ||
        !(word[1] ? shlo_is_word(&t, word) : shlo_is_mark(&t, word[0])))
        return false;
    *s = ahead;
    return true;
}

static bool accept_arrow(shlo_scanner *s)
{
    shlo_scanner ahead = *s;
    shlo_token t;
    if (shlo_scan(&ahead, &t, NULL) != BN_OK || t.kind != SHLO_TOKEN_ARROW)
        return false;
    *s = ahead;
    return true;
}

static shlo_scanner inside_of(const shlo_token *angle)
{
    return (shlo_scanner){angle->at + 1, angle->at + angle->length - 1, angle->line, false};
}

/* The contents of TOKEN, a string, in the store. */
static const char *string_of(const reader *r, const shlo_token *token)
{
    char *text = bn_arena_alloc(r->to->store, token->length), *to = text;
    const char *end = token->at + token->length - 1;
    for (const char *at = token->at + 1; at < end; at++) {
        const bool escaped = *at == '\\' && end - at > 1;
        const int high = escaped ? shlo_hex_digit(at[1]) : -1;
        const int low = high >= 0 && end - at > 2 ? shlo_hex_digit(at[2]) : -1;
        at += escaped + (low >= 0);
        *to++ = low >= 0 ? (char)(high << 4 | low) : *at;
    }
    *to = '\0';
    return text;
}

/* Whether TOKEN is the string TEXT. */
static bool is_string(const shlo_token *token, const char *text)
{
    return token->kind == SHLO_TOKEN_STRING && token->length == strlen(text) + 2 &&
           memcmp(token->at + 1, text, token->length - 2) == 0;
}

/* Whether TOKEN is the name TEXT of an attribute, which may stand in quotes. */
static bool is_key(const shlo_token *token, const char *text)
{
    return shlo_is_word(token, text) || is_string(token, text);
}

/* Moves behind what is left of an attribute's value, up to the comma or bracket that ends it; the
 * first and last token of it are *FIRST and *LAST. */
static bn_code skip_value(const reader *r, shlo_scanner *s, shlo_token *first, shlo_token *last)
{
    int depth = 0;
    *first = *last = peek(s);
    if (shlo_is_mark(first, ',') || shlo_bracket(first) < 0)
        return fail_at(r, first, BN_FORMAT, "an attribute without a value");
    for (;;) {
        const shlo_token t = peek(s);
        if (t.kind == SHLO_TOKEN_END)
            return depth == 0 && s->end != r->end
                       ? BN_OK
                       : fail_at(r, &t, BN_FORMAT, "attributes do not end: the text was cut");
        if (depth == 0 && (shlo_is_mark(&t, ',') || shlo_bracket(&t) < 0))
            return BN_OK;
        depth += shlo_bracket(&t);
        *last = t;
        bn_code code = shlo_scan(s, last, r->st);
        if (code != BN_OK)
            return code;
    }
}

/* ---- types ------------------------------------------------------------------------------- */

static void name_type(shlo_value *v, const char *at, size_t length)
{
    const size_t fits = length < sizeof v->dtype - 1 ? length : sizeof v->dtype - 1;
    memcpy(v->dtype, at, fits);
    v->dtype[fits] = '\0';
}

/* The brackets of "tensor<2x3xf32>", ANGLE. */
static bn_code read_tensor(const reader *r, const shlo_token *angle, shlo_value *v)
{
    const char *at = angle->at + 1, *end = angle->at + angle->length - 1;
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t'))
        at++;
    switch (shlo_read_sizes(&at, end, v->dims, &v->rank)) {
    case SHLO_SIZE_TOO_LARGE:
        return fail_at(r, angle, BN_FORMAT, "a dimension is too large");
    case SHLO_SIZE_WITHOUT_X:
        return fail_at(r, angle, BN_FORMAT, "a dimension does not end in x");
    case SHLO_SIZES_TOO_MANY:
        return fail_at(r, angle, BN_NOT_SUPPORTED,
                       "a type has more than 32 dimensions, which cannot be passed");
    case SHLO_SIZES_READ:
        break;
    }
    const char *start = at;
    for (int depth = 0; at < end && (depth > 0 || *at != ','); at++)
        depth += (*at == '<') - (*at == '>');
    v->tensor = true;
    name_type(v, start, (size_t)(at - start));
    if (at >= end)
        return BN_OK;
    char *encoding = bn_arena_zalloc(r->to->store, (size_t)(end - at) + 1);
    for (at++; at < end && *at == ' '; at++)
        continue;
    memcpy(encoding, at, (size_t)(end - at));
    v->encoding = encoding;
    return BN_OK;
}

/* Whether ANGLE is that of an unranked type, "tensor<*xf32>". */
static bool is_unranked(const shlo_token *angle)
{
    shlo_scanner s = inside_of(angle);
    return accept(&s, "*");
}

/* A type of any kind; if it is not a ranked tensor, its text is its dtype. */
static bn_code read_type(const reader *r, shlo_scanner *s, shlo_value *v)
{
    shlo_token t;
    bn_code code = shlo_scan(s, &t, r->st);
    if (code != BN_OK)
        return code;
    const shlo_token behind = peek(s);
    const bool angle = behind.kind == SHLO_TOKEN_ANGLE;
    if (t.kind != SHLO_TOKEN_WORD)
        return fail_at(r, &t, BN_FORMAT, "a value without a type");
    if (shlo_is_word(&t, "tensor") && angle && !is_unranked(&behind)) {
        code = shlo_scan(s, &(shlo_token){0}, r->st);
        return code == BN_OK ? read_tensor(r, &behind, v) : code;
    }
    const char *end = angle ? behind.at + behind.length : t.at + t.length;
    name_type(v, t.at, (size_t)(end - t.at));
    return angle ? shlo_scan(s, &t, r->st) : BN_OK;
}

/* ---- what is said of a value ------------------------------------------------------------- */

/* The text from FIRST to the end of LAST in the store. */
static const char *text_of(const reader *r, const shlo_token *first, const shlo_token *last)
{
    const size_t length = (size_t)(last->at + last->length - first->at);
    return memcpy(bn_arena_zalloc(r->to->store, length + 1), first->at, length);
}

static bn_code read_number(const reader *r, const shlo_token *t, int64_t most, int64_t *number)
{
    *number = 0;
    if (t->kind != SHLO_TOKEN_WORD || t->length > 10)
        return fail_at(r, t, BN_FORMAT, "a number is expected here");
    for (uint32_t i = 0; i < t->length; i++) {
        if (!shlo_is_digit(t->at[i]))
            return fail_at(r, t, BN_FORMAT, "a number is expected here");
        *number = *number * 10 + (t->at[i] - '0');
    }
    return *number <= most ? BN_OK : fail_at(r, t, BN_FORMAT, "a number is too large");
}

/* Notes V's attribute KEY, whose value is FIRST to LAST. */
static bn_code take_attribute(const reader *r, const shlo_token *key, const shlo_token *first,
                              const shlo_token *last, shlo_value *v)
{
    const struct {
        const char *key;
        const char **to;
    } texts[] = {{"mhlo.layout_mode", &v->layout},      {"mhlo.memory_kind", &v->memory},
                 {"jax.global_constant", &v->constant}, {"mhlo.sharding", &v->sharding},
                 {"sdy.sharding", &v->sharding},        {"jax.memory_kind", &v->memory}};
    int64_t number = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!is_key(key, texts[i].key))
            continue;
        *texts[i].to =
            first->kind == SHLO_TOKEN_STRING ? string_of(r, first) : text_of(r, first, last);
        return BN_OK;
    }
    if (is_key(key, "tf.aliasing_output")) {
        bn_code code = read_number(r, first, INT32_MAX, &number);
        v->result = (int32_t)number;
        return code;
    }
    if (!is_key(key, "jax.buffer_donor"))
        return BN_OK;
    v->donated = shlo_is_word(first, "true");
    return v->donated || shlo_is_word(first, "false")
               ? BN_OK
               : fail_at(r, first, BN_FORMAT, "true or false is expected here");
}

/* "{key = value, unit, ...}" of V, behind its first bracket. */
static bn_code read_attributes(const reader *r, shlo_scanner *s, shlo_value *v)
{
    while (!accept(s, "}")) {
        shlo_token key, first, last;
        bn_code code = shlo_scan(s, &key, r->st);
        if (code == BN_OK && key.kind == SHLO_TOKEN_END)
            code = fail_at(r, &key, BN_FORMAT, "attributes do not end: the text was cut");
        if (code == BN_OK && accept(s, "=")) {
            code = skip_value(r, s, &first, &last);
            if (code == BN_OK)
                code = take_attribute(r, &key, &first, &last, v);
        }
        if (code != BN_OK)
            return code;
        (void)accept(s, ",");
    }
    return BN_OK;
}

static bn_code skip_place(const reader *r, shlo_scanner *s)
{
    shlo_token first, last = {0};
    if (!accept(s, "loc"))
        return BN_OK;
    return skip_value(r, s, &first, &last);
}

static shlo_value *add_value(shlo_value **list, size_t *count, size_t *room, const reader *r)
{
    if (*count == *room) {
        const size_t more = *room ? 2 * *room : 16;
        shlo_value *moved = bn_arena_zalloc(r->to->store, more * sizeof *moved);
        if (*count)
            memcpy(moved, *list, *count * sizeof *moved);
        *list = moved;
        *room = more;
    }
    shlo_value *value = &(*list)[(*count)++];
    *value = (shlo_value){.result = -1};
    return value;
}

static shlo_value *add_argument(reader *r)
{
    return add_value(&r->to->arguments, &r->to->argument_count, &r->argument_room, r);
}

static shlo_value *add_result(reader *r)
{
    return add_value(&r->to->results, &r->to->result_count, &r->result_room, r);
}

/* Whether the @main in hand is the program's, that of the outermost module. If so, values of a
 * @main that was read before, of an inner module, are dropped. */
static bool begin_main(reader *r)
{
    if (r->depth >= r->main_depth)
        return false;
    r->main_depth = r->depth;
    r->to->argument_count = r->to->result_count = 0;
    return true;
}

/* ---- @main, pretty ----------------------------------------------------------------------- */

static bn_code read_argument(reader *r, shlo_scanner *s)
{
    shlo_token name;
    bn_code code = shlo_scan(s, &name, r->st);
    if (code == BN_OK && name.kind != SHLO_TOKEN_VALUE)
        code = fail_at(r, &name, BN_FORMAT, "an argument without a name");
    if (code == BN_OK && !accept(s, ":"))
        code = fail_at(r, &name, BN_FORMAT, "an argument without a type");
    if (code != BN_OK)
        return code;
    shlo_value *v = add_argument(r);
    code = read_type(r, s, v);
    if (code == BN_OK && accept(s, "{"))
        code = read_attributes(r, s, v);
    return code == BN_OK ? skip_place(r, s) : code;
}

static bn_code read_result_type(reader *r, shlo_scanner *s)
{
    return read_type(r, s, add_result(r));
}

static bn_code read_result(reader *r, shlo_scanner *s)
{
    bn_code code = read_result_type(r, s);
    return code == BN_OK && accept(s, "{")
               ? read_attributes(r, s, &r->to->results[r->to->result_count - 1])
               : code;
}

/* A list in round brackets, behind the first one, of what READ_ITEM reads. */
static bn_code read_list(reader *r, shlo_scanner *s, bn_code (*read_item)(reader *, shlo_scanner *))
{
    bn_code code = BN_OK;
    if (accept(s, ")"))
        return BN_OK;
    do
        code = read_item(r, s);
    while (code == BN_OK && accept(s, ","));
    if (code == BN_OK && !accept(s, ")"))
        code = fail_at(r, &(shlo_token){.line = s->line}, BN_FORMAT,
                       "the list of @main's values does not end");
    return code;
}

/* Behind "@main(". */
static bn_code read_signature(reader *r, shlo_scanner *s)
{
    bn_code code = read_list(r, s, read_argument);
    if (code != BN_OK || !accept_arrow(s))
        return code;
    /* A lone type has no attributes: the body begins behind it. */
    return accept(s, "(") ? read_list(r, s, read_result) : read_result_type(r, s);
}

/* ---- @main, generic ---------------------------------------------------------------------- */

static bn_code read_argument_type(reader *r, shlo_scanner *s)
{
    return read_type(r, s, add_argument(r));
}

/* An attribute's value: its first token, and a scanner that stands before it. */
typedef struct part {
    shlo_token first;
    shlo_scanner scanner;
} part;

/* "[{...}, {...}]", a dictionary for each of the COUNT values of LIST. */
static bn_code read_dictionaries(const reader *r, const part *from, shlo_value *list, size_t count)
{
    shlo_scanner s = from->scanner;
    bn_code code = BN_OK;
    size_t i = 0;
    bool more = accept(&s, "[");
    for (; more && code == BN_OK && i < count && accept(&s, "{"); i++) {
        code = read_attributes(r, &s, &list[i]);
        more = code == BN_OK && accept(&s, ",");
    }
    if (code == BN_OK && (i != count || !accept(&s, "]")))
        code = fail_at(r, &from->first, BN_FORMAT,
                       "@main's values and their attributes are not as many");
    return code;
}

/* The properties or attributes of a function, behind the bracket: of @main, its signature. */
static bn_code read_function(reader *r, shlo_scanner *s)
{
    part type = {.scanner = *s}, arguments = type, results = type;
    bool is_main = false;
    bn_code code = BN_OK;
    while (code == BN_OK && !accept(s, "}")) {
        shlo_token key, first, last;
        code = shlo_scan(s, &key, r->st);
        if (code == BN_OK && key.kind == SHLO_TOKEN_END)
            code = fail_at(r, &key, BN_FORMAT, "attributes do not end: the text was cut");
        if (code == BN_OK && accept(s, "=")) {
            const shlo_scanner value = *s;
            code = skip_value(r, s, &first, &last);
            if (is_key(&key, "sym_name"))
                is_main = is_string(&first, "main");
            else if (is_key(&key, "function_type"))
                type = (part){first, value};
            else if (is_key(&key, "arg_attrs"))
                arguments = (part){first, value};
            else if (is_key(&key, "res_attrs"))
                results = (part){first, value};
        }
        (void)accept(s, ",");
    }
    if (code != BN_OK || !is_main || !begin_main(r))
        return code;
    if (!accept(&type.scanner, "("))
        return fail_at(r, &type.first, BN_FORMAT, "@main has no type");
    code = read_list(r, &type.scanner, read_argument_type);
    if (code == BN_OK && !accept_arrow(&type.scanner))
        code = fail_at(r, &type.first, BN_FORMAT, "the type of @main does not end");
    if (code == BN_OK)
        code = accept(&type.scanner, "(") ? read_list(r, &type.scanner, read_result_type)
                                          : read_result_type(r, &type.scanner);
    if (code == BN_OK && arguments.first.at)
        code = read_dictionaries(r, &arguments, r->to->arguments, r->to->argument_count);
    if (code == BN_OK && results.first.at)
        code = read_dictionaries(r, &results, r->to->results, r->to->result_count);
    return code;
}

/* Behind the string "func.func": what is said of the function stands before its region, as
 * properties, or in older texts behind it. */
static bn_code read_generic_function(reader *r, shlo_scanner s)
{
    if (!accept(&s, "(") || !accept(&s, ")"))
        return BN_OK;
    const shlo_token properties = peek(&s);
    if (properties.kind == SHLO_TOKEN_ANGLE) {
        shlo_scanner inner = inside_of(&properties);
        return accept(&inner, "{") ? read_function(r, &inner) : BN_OK;
    }
    int depth = 0;
    do {
        shlo_token t;
        bn_code code = shlo_scan(&s, &t, r->st);
        if (code == BN_OK && t.kind == SHLO_TOKEN_END)
            code = fail_at(r, &t, BN_FORMAT, "a function does not end: the text was cut");
        if (code != BN_OK)
            return code;
        depth += shlo_bracket(&t);
    } while (depth > 0);
    return accept(&s, "{") ? read_function(r, &s) : BN_OK;
}

/* ---- devices ------------------------------------------------------------------------------ */

/* The sizes of the axes of "<["x"=2, "y"=2]>" and the devices of "<[], device_ids=[3]>". */
static void note_mesh(reader *r, const shlo_token *angle)
{
    shlo_scanner s = inside_of(angle);
    shlo_token t = {0}, before = {0};
    int64_t devices = 1, number;
    bool ids = false;
    do {
        if (shlo_scan(&s, &t, NULL) != BN_OK)
            return;
        ids = ids || shlo_is_word(&t, "device_ids");
        if (t.kind == SHLO_TOKEN_WORD && shlo_is_digit(t.at[0]) &&
            read_number(&(reader){0}, &t, INT32_MAX, &number) == BN_OK) {
            if (ids)
                shlo_note_device(r->to, number, "sdy.mesh", 8);
            else if (shlo_is_mark(&before, '=') &&
                     __builtin_mul_overflow(devices, number, &devices))
                devices = INT64_MAX;
        }
        before = t;
    } while (t.kind != SHLO_TOKEN_END);
    shlo_note_mesh(r->to, devices, -1);
}

/* The largest of the numbers of "dense<...>", ANGLE: plain, or as bytes in a string of hex digits;
 * -1 for none. */
static int64_t largest_of(const shlo_token *angle)
{
    shlo_scanner s = inside_of(angle);
    shlo_token t = {0};
    int64_t most = -1, number;
    bool minus = false;
    do {
        if (shlo_scan(&s, &t, NULL) != BN_OK)
            return INT64_MAX;
        if (t.kind == SHLO_TOKEN_STRING) {
            /* "0x", then eight bytes of each number, the lowest first. */
            for (uint32_t i = 3; i + 16 < t.length; i += 16) {
                char digits[17] = {0};
                for (int b = 0; b < 8; b++)
                    memcpy(digits + 2 * b, t.at + i + 14 - 2 * b, 2);
                number = (int64_t)strtoull(digits, NULL, 16);
                most = number > most ? number : most;
            }
        } else if (t.kind == SHLO_TOKEN_WORD && !minus) { /* -1 fills groups up */
            if (read_number(&(reader){0}, &t, INT32_MAX, &number) != BN_OK)
                return INT64_MAX;
            most = number > most ? number : most;
        }
        minus = shlo_is_mark(&t, '-');
    } while (t.kind != SHLO_TOKEN_END);
    return most;
}

/* Whether NAME, with its dialect as in "stablehlo.all_reduce", is a collective. */
static bool is_collective(shlo_piece name)
{
    const char *dot = memchr(name.at, '.', name.length);
    return dot &&
           shlo_is_collective((shlo_piece){dot + 1, name.length - (size_t)(dot + 1 - name.at)});
}

/* ---- the whole text ------------------------------------------------------------------------ */

/* Notes the devices in VALUE, the string or list of strings of the attribute KEY. An alias may name
 * any device. */
static bn_code note_sharding(const reader *r, shlo_piece key, shlo_token value, shlo_scanner s)
{
    bn_code code = BN_OK;
    const bool list = shlo_is_mark(&value, '[');
    if (value.kind == SHLO_TOKEN_WORD && *value.at == '#' && peek(&s).kind != SHLO_TOKEN_ANGLE)
        shlo_note_device(r->to, INT64_MAX, key.at, key.length);
    do {
        if (list)
            code = shlo_scan(&s, &value, r->st);
        const char *text = value.kind == SHLO_TOKEN_STRING ? string_of(r, &value) : "";
        if (code == BN_OK && *text)
            shlo_note_sharding(r->to, key, (shlo_piece){text, strlen(text)});
    } while (code == BN_OK && list && value.kind != SHLO_TOKEN_END && !shlo_is_mark(&value, ']'));
    return code;
}

/* Notes the devices of an attribute called KEY with the value behind S. OP: the op that has it. */
static bn_code note_attribute(reader *r, const shlo_token *key, shlo_scanner s, shlo_piece op)
{
    const bool quoted = key->kind == SHLO_TOKEN_STRING;
    const shlo_piece name = {key->at + quoted, key->length - 2u * quoted};
    const bool partitions = shlo_is_piece(name, "mhlo.num_partitions");
    int64_t *count = partitions                                 ? &r->to->partitions
                     : shlo_is_piece(name, "mhlo.num_replicas") ? &r->to->replicas
                                                                : NULL;
    const bool groups =
        shlo_is_piece(name, "replica_groups") || shlo_is_piece(name, "source_target_pairs");
    const bool spread = shlo_is_sharding(name);
    if ((!count && !groups && !spread) || !accept(&s, "="))
        return BN_OK;
    shlo_token value;
    bn_code code = shlo_scan(&s, &value, r->st);
    if (code == BN_OK && count) {
        int64_t number = 0;
        code = read_number(r, &value, INT32_MAX, &number);
        *count = number > *count ? number : *count;
    } else if (code == BN_OK && spread) {
        code = note_sharding(r, name, value, s);
    } else if (code == BN_OK) {
        const shlo_token angle = peek(&s);
        const bool dense = shlo_is_word(&value, "dense") && angle.kind == SHLO_TOKEN_ANGLE;
        /* Groups by the axes of a mesh, or behind an alias: more than any device. */
        shlo_note_device(r->to, dense ? largest_of(&angle) : INT64_MAX, op.at, op.length);
    }
    return code;
}

/* Reads the tokens of S, which are within DEPTH angle brackets: notes devices, and reads @main
 * where it begins. OP is the op that the tokens belong to. */
static bn_code read_tokens(reader *r, shlo_scanner *s, int depth, shlo_piece op)
{
    shlo_token t = {0}, before[3] = {{0}};
    bn_code code = BN_OK;
    do {
        before[2] = before[1];
        before[1] = before[0];
        before[0] = t;
        code = shlo_scan(s, &t, r->st);
        if (code != BN_OK)
            return code;
        if (t.kind == SHLO_TOKEN_ANGLE) {
            const bool values = shlo_is_word(before, "dense") || shlo_is_word(before, "tensor") ||
                                shlo_is_word(before, "array") || shlo_is_word(before, "complex") ||
                                shlo_is_word(before, "dense_resource");
            if (shlo_is_word(before, "mesh") || shlo_is_word(before, "#sdy.mesh") ||
                (shlo_is_mark(before, '=') && shlo_is_word(&before[2], "sdy.mesh")))
                note_mesh(r, &t);
            shlo_scanner inner = inside_of(&t);
            if (!values && depth == MOST_DEPTH)
                return fail_at(r, &t, BN_FORMAT, "more than 32 brackets '<' within each other");
            if (!values)
                code = read_tokens(r, &inner, depth + 1, op);
        } else if (t.kind == SHLO_TOKEN_WORD || t.kind == SHLO_TOKEN_STRING) {
            const bool quoted = t.kind == SHLO_TOKEN_STRING;
            const shlo_piece name = {t.at + quoted, t.length - 2u * quoted};
            /* An op's name stands first, or behind "=", and a quoted one before its operands. An
             * attribute's begins with #, a type's with !. */
            if (quoted ? peek(s).mark == '('
                       : isalpha((unsigned char)*name.at) && memchr(name.at, '.', name.length) &&
                             (t.first || shlo_is_mark(before, '=')))
                op = name;
            if (op.at == name.at && is_collective(name))
                shlo_note_device(r->to, -1, name.at, name.length);
            code = note_attribute(r, &t, *s, op);
            if (code == BN_OK && is_string(&t, "func.func"))
                code = read_generic_function(r, *s);
            if (code == BN_OK && !quoted && shlo_is_word(&t, "func.func")) {
                shlo_scanner ahead = *s;
                while (accept(&ahead, "public") || accept(&ahead, "private") ||
                       accept(&ahead, "nested"))
                    continue;
                if ((accept(&ahead, "@main") || accept(&ahead, "@\"main\"")) &&
                    accept(&ahead, "(") && begin_main(r))
                    code = read_signature(r, &ahead);
            }
        }
        if (depth == 0)
            r->depth += shlo_bracket(&t);
    } while (code == BN_OK && t.kind != SHLO_TOKEN_END);
    return code;
}

void shlo_declared_open(shlo_declared *declared)
{
    *declared = (shlo_declared){.highest_device = -1, .store = bn_arena_new(4096)};
}

bn_code shlo_declared_read(const char *text, size_t length, shlo_declared *declared, bn_status *st)
{
    bn_text plain = {0};
    bn_code code = BN_OK;
    shlo_declared_open(declared);
    if (length > SHLO_MOST_BYTES)
        code = bn_fail(st, BN_FORMAT, "%zu bytes: texts of programs may have %zu", length,
                       SHLO_MOST_BYTES);
    if (code == BN_OK)
        code = shlo_replace_aliases(text, length, &plain, st);
    const char *begin = plain.length ? plain.data : text, *end = begin;
    end += plain.length ? plain.length : length;
    reader r = {.end = end, .to = declared, .main_depth = INT_MAX, .st = st};
    shlo_scanner s = {begin, end, 1, true};
    if (code == BN_OK)
        code = read_tokens(&r, &s, 0, (shlo_piece){"", 0});
    bn_text_free(&plain);
    /* A text without @main is no StableHLO: report that, and not its first odd byte. */
    if ((code == BN_OK || code == BN_FORMAT) && r.main_depth == INT_MAX &&
        (code == BN_OK || !memmem(text, length, "@main", 5)))
        code = bn_fail(st, BN_FORMAT,
                       "no function @main: not a StableHLO module in MLIR's text form "
                       "(jax.jit(f).lower(...).as_text() is one)");
    return code;
}

void shlo_declared_free(shlo_declared *declared)
{
    bn_arena_free(declared->store);
    *declared = (shlo_declared){.highest_device = -1};
}
