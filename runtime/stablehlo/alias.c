/*
 * alias.c - names that stand for attributes and types. They are replaced before a text is read, so
 * that no other file knows them.
 *
 *   #sizes = array<i64: 2, 3>
 *   !pair = tensor<2x!element>
 *
 * Places ("#loc1 = loc(...)") stay: they may stand behind their use, and do not count.
 */
#include "runtime/stablehlo/stablehlo_priv.h"

#include <stdlib.h>

/* Bounds the text that replaces aliases: those of aliases of aliases can grow exponentially. */
#define MORE_BYTES ((size_t)16 << 20)

typedef struct aliases {
    shlo_map names; /* of "#sizes": where in VALUES */
    bn_text *values;
    size_t count, room;
    size_t bytes, most; /* of all values and of what is replaced */
} aliases;

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

static const char *behind_name(const char *at, const char *end)
{
    for (at++; at < end && shlo_is_name(*at);)
        at++;
    return at;
}

static bool is_comment(const char *at, const char *end)
{
    return end - at > 1 && at[0] == '/' && at[1] == '/';
}

static const char *line_end(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return stop ? stop : end;
}

/* The text that the line at AT defines *NAME as; NULL where it defines nothing, or a place. */
static const char *definition(const char *at, const char *end, shlo_piece *name)
{
    at = skip_blanks(at, end);
    if (at == end || (*at != '#' && *at != '!'))
        return NULL;
    *name = (shlo_piece){at, (size_t)(behind_name(at, end) - at)};
    at = skip_blanks(at + name->length, end);
    if (name->length < 2 || at == end || *at != '=')
        return NULL;
    at = skip_blanks(at + 1, end);
    const bool place = end - at > 3 && memcmp(at, "loc", 3) == 0 && !shlo_is_name(at[3]);
    return place ? NULL : at;
}

/* Where the definition at AT ends: with its line, unless brackets are open there. */
static const char *definition_end(const char *at, const char *end)
{
    int64_t depth = 0;
    while (at < end && (depth > 0 || (*at != '\n' && !is_comment(at, end)))) {
        if (*at == '"' || is_comment(at, end)) {
            at = *at == '"' ? shlo_behind_string(at, end) : line_end(at, end);
            continue;
        }
        depth += *at == '(' || *at == '[' || *at == '{' || *at == '<';
        depth -= *at == ')' || *at == ']' || *at == '}' || (*at == '>' && at[-1] != '-');
        at++;
    }
    return at;
}

/* Appends what stands from AT to END, with what names of A stand for. LINES: ends of lines stay. */
static void put_replaced(const aliases *a, const char *at, const char *end, bool lines,
                         bn_text *out)
{
    while (at < end && a->bytes + out->length <= a->most) {
        const char *next = at + 1;
        const uint32_t *alias = NULL;
        if (*at == '"') {
            next = shlo_behind_string(at, end);
        } else if (is_comment(at, end)) {
            next = line_end(at, end);
            if (!lines) { /* what follows would be of it */
                at = next;
                continue;
            }
        } else if (*at == '#' || *at == '!') {
            next = behind_name(at, end);
            alias = shlo_map_find(&a->names, shlo_hash(at, (size_t)(next - at)));
        } else if (*at != '\n') {
            while (next < end && *next != '"' && *next != '/' && *next != '#' && *next != '!' &&
                   *next != '\n')
                next++;
        }
        if (alias)
            bn_text_append(out, a->values[*alias].data ? a->values[*alias].data : "",
                           a->values[*alias].length);
        else if (!lines && *at == '\n')
            bn_text_putc(out, ' ');
        else
            bn_text_append(out, at, (size_t)(next - at));
        at = next;
    }
}

/* NAME stands for what is from AT to END. */
static void define(aliases *a, shlo_piece name, const char *at, const char *end)
{
    bn_grow(&a->values, a->count + 1, &a->room, sizeof *a->values);
    bn_text *value = &a->values[a->count];
    *value = (bn_text){0};
    put_replaced(a, at, end, false, value);
    a->bytes += value->length;
    *shlo_map_at(&a->names, shlo_hash(name.at, name.length)) = (uint32_t)a->count++;
}

static bool has_aliases(const char *text, const char *end)
{
    shlo_piece name;
    for (const char *at = text; at < end; at = line_end(at, end) + 1)
        if (definition(at, end, &name))
            return true;
    return false;
}

bn_code shlo_replace_aliases(const char *text, size_t length, bn_text *out, bn_status *st)
{
    const char *end = text + length;
    aliases a = {.most = 2 * length + MORE_BYTES};
    if (!length || !has_aliases(text, end))
        return BN_OK;
    for (const char *at = text, *next; at < end && a.bytes + out->length <= a.most; at = next) {
        shlo_piece name;
        const char *value = definition(at, end, &name);
        next = value ? definition_end(value, end) : line_end(at, end);
        next += next < end && *next == '\n';
        if (value)
            define(&a, name, value, definition_end(value, end));
        else
            put_replaced(&a, at, next, true, out);
        for (; value && at < next; at++) /* lines keep their numbers */
            if (*at == '\n')
                bn_text_putc(out, '\n');
    }
    const bool fits = a.bytes + out->length <= a.most;
    for (size_t i = 0; i < a.count; i++)
        bn_text_free(&a.values[i]);
    free(a.values);
    shlo_map_free(&a.names);
    return fits ? BN_OK
                : bn_fail(st, BN_FORMAT, "what names like #a stand for is longer than %zu bytes",
                          2 * length + MORE_BYTES);
}
