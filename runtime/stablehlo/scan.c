/*
 * scan.c - StableHLO text as tokens. What stands in angle brackets is one token: no statement's
 * shape depends on it, and a constant may be long.
 */
#include "runtime/stablehlo/stablehlo_priv.h"

#include <string.h>

const char *shlo_behind_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\' && at + 1 < end;
    return at < end ? at + 1 : end;
}

/* Moves past blanks and comments. */
static void skip_blank(shlo_scanner *s)
{
    const uint32_t line = s->line;
    s->at = shlo_behind_blanks(s->at, s->end, &s->line);
    s->fresh = s->fresh || s->line != line;
}

/* The scanner stands at '<'. Ends of lines within do not make what follows the first of a line. */
static bn_code scan_angle(shlo_scanner *s, shlo_token *token, bn_status *st)
{
    int64_t depth = 0;
    uint64_t hash = SHLO_TOKEN_ANGLE;
    do {
        const char *at = s->at, *stop = at + 1;
        if (*at == '"')
            stop = shlo_string_end(at, s->end);
        else if (shlo_is_name(*at))
            stop = shlo_behind_name(at, s->end);
        else if (*at == '<')
            depth++;
        else if (*at == '>' && at[-1] != '-')
            depth--;
        if (!stop)
            return bn_fail(st, BN_FORMAT, "line %u: a string does not end", s->line);
        hash = shlo_mix(hash, shlo_hash(at, (size_t)(stop - at)));
        s->at = stop;
        if (depth > 0)
            skip_blank(s);
    } while (depth > 0 && s->at < s->end);
    if (depth > 0)
        return bn_fail(st, BN_FORMAT, "line %u: a bracket '<' does not end: the text was cut",
                       token->line);
    s->fresh = false;
    token->kind = SHLO_TOKEN_ANGLE;
    token->hash = hash;
    return BN_OK;
}

/* Behind '%': a name, and "#2" where it is a part of several results. */
static void scan_value(shlo_scanner *s, shlo_token *token)
{
    const char *name = ++s->at;
    s->at = shlo_behind_value(s->at, s->end);
    token->kind = SHLO_TOKEN_VALUE;
    token->hash = shlo_hash(name, (size_t)(s->at - name));
    if (s->end - s->at > 1 && *s->at == '#' && shlo_is_digit(s->at[1]))
        for (s->at++; s->at < s->end && shlo_is_digit(*s->at); s->at++)
            if (token->number < SHLO_BLOCK / 16)
                token->number = token->number * 10 + (uint32_t)(*s->at - '0');
}

/* A character that is a token by itself. */
static bn_code scan_mark(shlo_scanner *s, shlo_token *token, bn_status *st)
{
    const char c = *s->at++;
    if (c < ' ' || (unsigned char)c >= 0x7F)
        return bn_fail(st, BN_FORMAT, "line %u: a byte that StableHLO text does not have",
                       token->line);
    if (c == '-' && s->at < s->end && *s->at == '>') {
        s->at++;
        token->kind = SHLO_TOKEN_ARROW;
        token->hash = SHLO_TOKEN_ARROW;
        return BN_OK;
    }
    token->kind = SHLO_TOKEN_MARK;
    token->mark = c;
    token->hash = UINT64_C(0x100) + (uint64_t)c;
    return BN_OK;
}

bn_code shlo_scan(shlo_scanner *s, shlo_token *token, bn_status *st)
{
    bn_code code = BN_OK;
    skip_blank(s);
    *token = (shlo_token){.at = s->at, .line = s->line, .first = s->fresh};
    s->fresh = false;
    if (s->at >= s->end)
        return BN_OK; /* SHLO_TOKEN_END is 0 */
    const char c = *s->at;
    if (c == '"') {
        const char *behind = shlo_string_end(s->at, s->end);
        if (!behind)
            return bn_fail(st, BN_FORMAT, "line %u: a string does not end", token->line);
        s->at = behind;
        token->kind = SHLO_TOKEN_STRING;
    } else if (c == '%') {
        scan_value(s, token);
    } else if (c == '<') {
        code = scan_angle(s, token, st);
    } else if (shlo_is_name(c) || ((c == '@' || c == '#' || c == '!') && s->end - s->at > 1 &&
                                   (shlo_is_name(s->at[1]) || s->at[1] == '"'))) {
        const char *behind = c == '@' && s->at[1] == '"' ? shlo_string_end(s->at + 1, s->end)
                                                         : shlo_behind_name(s->at + 1, s->end);
        if (!behind)
            return bn_fail(st, BN_FORMAT, "line %u: a name does not end", token->line);
        s->at = behind;
        token->kind = SHLO_TOKEN_WORD;
    } else {
        code = scan_mark(s, token, st);
    }
    if (code != BN_OK)
        return code;
    token->length = (uint32_t)(s->at - token->at);
    if (token->kind == SHLO_TOKEN_STRING || token->kind == SHLO_TOKEN_WORD)
        token->hash = shlo_hash(token->at, token->length);
    return BN_OK;
}
