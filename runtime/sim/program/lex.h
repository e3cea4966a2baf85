/*
 * lex.h - tokens of MLIR's text. The lexer only points into the text, which its user
 * keeps. It cannot fail: what is no token comes out as the character it is.
 */
#ifndef BENCH_RUNTIME_SIM_LEX_H
#define BENCH_RUNTIME_SIM_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of tokens; a single character stands for itself. */
enum {
    SIM_T_END = 256,
    SIM_T_WORD,   /* stablehlo.add, attributes, x */
    SIM_T_VALUE,  /* %name, and what stands behind # in INDEX, else -1 */
    SIM_T_SYMBOL, /* @name */
    SIM_T_HASH,   /* #name */
    SIM_T_CARET,  /* ^name */
    SIM_T_BANG,   /* !name */
    SIM_T_STRING, /* without its quotes, escapes as they stand */
    SIM_T_NUMBER, /* with its sign */
    SIM_T_ARROW
};

/* The current token, and where the next begins. */
typedef struct sim_lexer {
    const char *text, *end, *at;
    uint32_t line; /* of AT */
    int kind;
    const char *token; /* its text, without what marks its kind */
    size_t length;
    const char *start; /* where it stands */
    uint32_t start_line;
    int64_t index;
} sim_lexer;

/* The first token of LENGTH bytes of TEXT becomes the current one. */
void sim_lex_begin(sim_lexer *lex, const char *text, size_t length);
/* To the next token; behind the last one it is SIM_T_END again and again. */
void sim_lex_next(sim_lexer *lex);
/* Whether the current token, a word, string, ..., reads TEXT. */
bool sim_lex_reads(const sim_lexer *lex, const char *text);

#endif
