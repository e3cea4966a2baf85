/*
 * lex.c - tokens of MLIR's text. Comments and white space are passed over; what is no
 * token of MLIR comes out as the character it is.
 */
#include "runtime/sim/program/lex.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '.' || c == '$';
}

/* A zero byte behind the end, which no token has. */
static char peek(const sim_lexer *lex, size_t ahead)
{
    return (size_t)(lex->end - lex->at) > ahead ? lex->at[ahead] : '\0';
}

static void skip_space(sim_lexer *lex)
{
    while (lex->at < lex->end) {
        char c = *lex->at;
        if (c == '\n') {
            lex->line++;
        } else if (c == '/' && peek(lex, 1) == '/') {
            const char *newline = memchr(lex->at, '\n', (size_t)(lex->end - lex->at));
            lex->at = newline ? newline : lex->end;
            continue;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
        lex->at++;
    }
}

static void take_name(sim_lexer *lex, int kind)
{
    lex->kind = kind;
    lex->token = lex->at;
    while (is_name(peek(lex, 0)))
        lex->at++;
    lex->length = (size_t)(lex->at - lex->token);
}

/* A name without its quotes. Where the text ends first, it is a character '"', which no part
 * of the grammar takes. */
static void take_string(sim_lexer *lex, int kind)
{
    lex->at++;
    lex->token = lex->at;
    while (lex->at < lex->end && *lex->at != '"') {
        if (*lex->at == '\\' && lex->end - lex->at > 1)
            lex->at++;
        lex->line += *lex->at == '\n';
        lex->at++;
    }
    lex->length = (size_t)(lex->at - lex->token);
    lex->kind = lex->at < lex->end ? kind : '"';
    lex->at += lex->at < lex->end;
}

static void take_number(sim_lexer *lex)
{
    lex->kind = SIM_T_NUMBER;
    lex->at += peek(lex, 0) == '-';
    if (peek(lex, 0) == '0' && peek(lex, 1) == 'x' && is_hex(peek(lex, 2))) {
        lex->at += 2;
        while (is_hex(peek(lex, 0)))
            lex->at++;
    } else {
        while (is_digit(peek(lex, 0)))
            lex->at++;
        if (peek(lex, 0) == '.' && is_digit(peek(lex, 1)))
            lex->at++;
        while (is_digit(peek(lex, 0)))
            lex->at++;
        char e = peek(lex, 0);
        size_t sign = peek(lex, 1) == '-' || peek(lex, 1) == '+';
        if ((e == 'e' || e == 'E') && is_digit(peek(lex, 1 + sign))) {
            lex->at += 1 + sign;
            while (is_digit(peek(lex, 0)))
                lex->at++;
        }
    }
    lex->length = (size_t)(lex->at - lex->token);
}

/* "%name" or "%name#2" */
static void take_value(sim_lexer *lex)
{
    lex->at++;
    lex->token = lex->at;
    while (is_name(peek(lex, 0)) || (peek(lex, 0) == '-' && peek(lex, 1) != '>'))
        lex->at++;
    lex->length = (size_t)(lex->at - lex->token);
    lex->kind = lex->length ? SIM_T_VALUE : '%';
    if (lex->length && peek(lex, 0) == '#' && is_digit(peek(lex, 1))) {
        lex->at++;
        for (lex->index = 0; is_digit(peek(lex, 0)); lex->at++)
            if (lex->index < INT32_MAX)
                lex->index = 10 * lex->index + (*lex->at - '0');
    }
}

static void take_prefixed(sim_lexer *lex, int kind)
{
    char prefix = *lex->at++;
    if (kind == SIM_T_SYMBOL && peek(lex, 0) == '"') {
        take_string(lex, kind);
        return;
    }
    take_name(lex, kind);
    if (lex->length == 0)
        lex->kind = prefix;
}

void sim_lex_next(sim_lexer *lex)
{
    skip_space(lex);
    lex->token = lex->start = lex->at;
    lex->start_line = lex->line;
    lex->length = 1;
    lex->index = -1;
    if (lex->at == lex->end) {
        lex->kind = SIM_T_END;
        lex->length = 0;
        return;
    }
    char c = *lex->at;
    if (is_letter(c)) {
        take_name(lex, SIM_T_WORD);
    } else if (is_digit(c) || (c == '-' && is_digit(peek(lex, 1)))) {
        take_number(lex);
    } else if (c == '%') {
        take_value(lex);
    } else if (c == '"') {
        take_string(lex, SIM_T_STRING);
    } else if (c == '@' || c == '#' || c == '^' || c == '!') {
        take_prefixed(lex, c == '@'   ? SIM_T_SYMBOL
                           : c == '#' ? SIM_T_HASH
                           : c == '^' ? SIM_T_CARET
                                      : SIM_T_BANG);
    } else if (c == '-' && peek(lex, 1) == '>') {
        lex->kind = SIM_T_ARROW;
        lex->length = 2;
        lex->at += 2;
    } else {
        lex->kind = (unsigned char)c;
        lex->at++;
    }
}

void sim_lex_begin(sim_lexer *lex, const char *text, size_t length)
{
    *lex = (sim_lexer){.text = text, .end = text + length, .at = text, .line = 1};
    sim_lex_next(lex);
}

bool sim_lex_reads(const sim_lexer *lex, const char *text)
{
    return lex->length == strlen(text) && memcmp(lex->token, text, lex->length) == 0;
}
