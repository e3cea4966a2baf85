/*
 * parse_reader.h - the reader of StableHLO text: what it holds, and the parts of the text
 * that are smaller than an op. Ops are in parse_op.h, checks in parse_check.h.
 *
 *   lex.c             cuts the text into tokens
 *   parse_reader.c    errors, values and their names
 *   parse_type.c, parse_dense.c, parse_attribute.c
 *                     types, constants, attributes
 *   parse_operand.c   operands, arguments and the types behind an op
 *   parse_table.c     what is known of each op, and its attributes in their normal form
 *   parse_op.c, parse_form.c
 *                     ops, blocks and regions: the recursive part of the grammar
 *   parse_emit.c      puts an op into the program, once its check has passed
 *   parse_expand.c    ops that are written as several
 *   parse_check*.c    checks of ops; parse_calls.c checks calls
 *   parse.c           functions and the module
 *
 * Errors stick: the first one is kept. From then on the lexer gives only the end of the
 * text, so all loops over tokens end, and what was read is thrown away at last. A function
 * of the reader may therefore go on after an error without asking.
 */
#ifndef BENCH_RUNTIME_SIM_PARSE_READER_H
#define BENCH_RUNTIME_SIM_PARSE_READER_H

#include "runtime/base/base.h"
#include "runtime/sim/program/lex.h"
#include "runtime/sim/program/program.h"

#include <string.h>

/* Regions in regions, and calls in calls. */
#define SIM_MAX_DEPTH 64
/* Integers of one attribute: two for each dimension. */
#define SIM_MAX_INTS  (2 * SIM_MAX_RANK)

/* An array that grows; all zero at first. */
#define SIM_LIST(type)                                                                             \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, room;                                                                        \
    }
#define sim_room(list, more)                                                                       \
    bn_grow(&(list)->items, (list)->count + (more), &(list)->room, sizeof *(list)->items)
#define sim_push(list, ...)                                                                        \
    (sim_room(list, 1), (void)((list)->items[(list)->count++] = (__VA_ARGS__)))

/* An attribute as the text has it. */
typedef struct sim_raw {
    const char *name, *word; /* not ended by zero */
    size_t name_length, word_length;
    bool plain; /* integers */
    double real; /* of a number */
    size_t count;
    int64_t ints[SIM_MAX_INTS];
} sim_raw;

/* A dense<...> whose elements are read when its type is known. */
typedef struct sim_literal {
    sim_lexer lex; /* its first token is current */
    sim_type type;
} sim_literal;

/* Values that a name stands for. */
typedef struct sim_name {
    const char *text;
    size_t length;
    uint64_t hash;
    int first, count;
    int next; /* in the chain */
} sim_name;

/* A name at the left of "=", or of an argument. */
typedef struct sim_label {
    const char *text, *at;
    size_t length;
    int count; /* values that it stands for */
} sim_label;

typedef struct sim_reader {
    sim_lexer lex;
    sim_status *st;
    sim_code code;            /* SIM_OK until the first error */
    bn_arena *arena;          /* the program's */
    SIM_LIST(sim_type) types; /* of each value */
    SIM_LIST(sim_name) names; /* a stack, the innermost last */
    int *buckets;             /* heads of chains through names, -1: none */
    size_t bucket_count;
    SIM_LIST(sim_op) ops;         /* of the blocks being read, outermost first */
    SIM_LIST(int) ints;           /* operands being collected */
    SIM_LIST(sim_raw) raws;       /* attributes */
    SIM_LIST(sim_type) signature; /* results' types being collected */
    SIM_LIST(sim_block) blocks;   /* regions being collected */
    SIM_LIST(sim_label) labels;   /* names being collected */
    SIM_LIST(sim_function) functions;
    SIM_LIST(sim_op *) calls; /* whose callee is not known yet */
    sim_literal literal;
    const char *place; /* of the op in hand: sim_op.place */
    int depth;
    int public_count, public_function; /* how many, and the first */
    void *locale;                      /* locale_t "C" */
    uint8_t op_slots[512];             /* hash of names to rows of ops, 0: none, else row + 1 */
} sim_reader;

/* ---- errors and memory (parse_reader.c) ------------------------------------------------- */

/* Keeps the first error, as "LINE:COLUMN: message" of the place AT in the text. */
void sim_reader_fail(sim_reader *r, const char *at, sim_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The error that the current token is not WHAT; the message quotes the token. */
void sim_reader_expected(sim_reader *r, const char *what);
/* BYTES of the program's arena, zeroed. */
static inline void *sim_take(sim_reader *r, size_t bytes)
{
    return bn_arena_zalloc(r->arena, bytes);
}
/* COUNT ITEMS of SIZE bytes, copied into the program's arena. */
static inline void *sim_keep(sim_reader *r, const void *items, size_t count, size_t size)
{
    void *copy = bn_arena_alloc(r->arena, count * size);
    return count ? memcpy(copy, items, count * size) : copy;
}
/* TEXT with a zero byte behind it, in the program's arena. */
static inline const char *sim_keep_text(sim_reader *r, const char *text, size_t length)
{
    char *copy = sim_take(r, length + 1);
    return length ? memcpy(copy, text, length) : copy;
}

/* ---- tokens ------------------------------------------------------------------------------ */

static inline int sim_kind(const sim_reader *r)
{
    return r->lex.kind;
}
static inline void sim_next(sim_reader *r)
{
    sim_lex_next(&r->lex);
}
/* Whether the current token was KIND, which is then passed. */
bool sim_accept(sim_reader *r, int kind);
/* The same for the word TEXT. */
bool sim_accept_word(sim_reader *r, const char *text);
/* Passes a token of KIND; without it an error that says WHAT was expected. */
bool sim_expect(sim_reader *r, int kind, const char *what);

/* ---- values and names ---------------------------------------------------------------------- */

static inline const sim_type *sim_reader_type(const sim_reader *r, int value)
{
    return &r->types.items[value];
}
/* COUNT new values of TYPES; the first of them. */
int sim_reader_values(sim_reader *r, const sim_type *types, int count);

/* LABEL names values from FIRST on. */
void sim_names_define(sim_reader *r, const sim_label *label, int first);
/* The value that the current token names; -1 and an error when there is none. */
int sim_names_value(sim_reader *r);
/* Forgets names until MARK remain. */
void sim_names_forget(sim_reader *r, size_t mark);

/* ---- types (parse_type.c) and constants (parse_dense.c) ------------------------------------ */

/* "tensor<2x3xf32>" */
bool sim_read_type(sim_reader *r, sim_type *type);
/* "tensor<2x3xf32>" for messages, cut at SIZE; returns TEXT. */
const char *sim_type_write(const sim_type *type, char *text, size_t size);

/* "dense<...> : type" into r->literal, whose elements are passed over. */
bool sim_read_literal(sim_reader *r);
/* The elements of r->literal: *DATA has BYTES. These are the bytes of one element where
 * the text has one for all. */
bool sim_read_elements(sim_reader *r, const void **data, size_t *bytes);
/* V as an element of DTYPE, a float, rounded to nearest even. */
void sim_store_float(bn_dtype dtype, double v, void *out);

/* ---- attributes (parse_attribute.c) --------------------------------------------------------- */

/* "{name = value, ...}" onto r->raws; the current token is "{". */
void sim_read_dictionary(sim_reader *r);
/* One value, called NAME, onto r->raws. */
void sim_read_value(sim_reader *r, const char *name, size_t length);
/* "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]" onto r->raws. */
void sim_read_layouts(sim_reader *r);
/* An empty attribute called NAME onto r->raws. */
sim_raw *sim_raw_add(sim_reader *r, const char *name, size_t length);
/* Passes "{...}" where there is one. */
void sim_skip_dictionary(sim_reader *r);
/* Passes all from an opening bracket to behind the closing one. */
void sim_skip_brackets(sim_reader *r);
/* Passes "loc(...)" where there is one. */
void sim_skip_location(sim_reader *r);
/* The same; r->place becomes the name that it says, in the program's pool. */
void sim_read_location(sim_reader *r);

#endif
