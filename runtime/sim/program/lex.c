/*
 * lex.c - tokens of MLIR's text. Comments and white space are passed over; what is no
 * token of MLIR comes out as the character it is.
 */
#include "runtime/sim/program/lex.h"

#include "runtime/stablehlo/tokens.h"

#include <string.h>

static bool is_letter(char c)
{
    return shlo_is_name(c) && !shlo_is_digit(c) && c != '.' && c != '$';
}

/* A zero byte behind the end, which no token has. */
static char peek(const sim_lexer *lex, size_t ahead)
{
    return (size_t)(lex->end - lex->at) > ahead ? lex->at[ahead] : '\0';
}

static void take_name(sim_lexer *lex, int kind)
{
    lex->kind = kind;
    lex->token = lex->at;
    lex->at = shlo_behind_name(lex->at, lex->end);
    lex->length = (size_t)(lex->at - lex->token);
}

/* A name without its quotes. Where its line ends first, it is a character '"', which no part
 * of the grammar takes. */
static void take_string(sim_lexer *lex, int kind)
{
    const char *behind = shlo_string_end(lex->at, lex->end);
    lex->token = lex->at + 1;
    lex->kind = behind ? kind : '"';
    lex->at = behind ? behind : lex->end;
    lex->length = (size_t)(lex->at - lex->token) - (behind != NULL);
}

static void take_number(sim_lexer *lex)
{
    lex->kind = SIM_T_NUMBER;
    lex->at += peek(lex, 0) == '-';
    if (peek(lex, 0) == '0' && peek(lex, 1) == 'x' && shlo_hex_digit(peek(lex, 2)) >= 0) {
        lex->at += 2;
        while (shlo_hex_digit(peek(lex, 0)) >= 0)
            lex->at++;
    } else {
        while (shlo_is_digit(peek(lex, 0)))
            lex->at++;
        if (peek(lex, 0) == '.' && shlo_is_digit(peek(lex, 1)))
            lex->at++;
        while (shlo_is_digit(peek(lex, 0)))
            lex->at++;
        char e = peek(lex, 0);
        size_t sign = peek(lex, 1) == '-' || peek(lex, 1) == '+';
        if ((e == 'e' || e == 'E') && shlo_is_digit(peek(lex, 1 + sign))) {
            lex->at += 1 + sign;
            while (shlo_is_digit(peek(lex, 0)))
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
    lex->at = shlo_behind_value(lex->at, lex->end);
    lex->length = (size_t)(lex->at - lex->token);
    lex->kind = lex->length ? SIM_T_VALUE : '%';
    if (lex->length && peek(lex, 0) == '#' && shlo_is_digit(peek(lex, 1))) {
        lex->at++;
        for (lex->index = 0; shlo_is_digit(peek(lex, 0)); lex->at++)
            if (lex->index < INT32_MAX)
                lex->index = 10 * lex->index + (*lex->at - '0');
    }
}

void sim_lex_next(sim_lexer *lex)
{
    lex->at = shlo_behind_blanks(lex->at, lex->end, &lex->line);
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
    } else if (shlo_is_digit(c) || (c == '-' && shlo_is_digit(peek(lex, 1)))) {
        take_number(lex);
    } else if (c == '%') {
        take_value(lex);
    } else if (c == '"') {
        take_string(lex, SIM_T_STRING);
    } else if (c == '@' || c == '#' || c == '^' || c == '!') {
        const int kind = c == '@'   ? SIM_T_SYMBOL
                         : c == '#' ? SIM_T_HASH
                         : c == '^' ? SIM_T_CARET
                                    : SIM_T_BANG;
        lex->at++;
        if (c == '@' && peek(lex, 0) == '"')
            take_string(lex, kind);
        else
            take_name(lex, kind);
        if (lex->at == lex->start + 1)
            lex->kind = c;
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
