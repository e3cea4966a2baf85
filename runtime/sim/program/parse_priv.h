/*
 * parse_priv.h - how the reader of StableHLO text is divided: lex.c cuts the text
 * into tokens, parse_memory.c keeps what is read, parse_type.c and parse_dense.c read
 * types and constants, parse_attribute.c attributes, parse_table.c knows the ops'
 * attributes, parse_op.c reads ops, parse_form.c those with a form of their own,
 * parse_expand.c writes some ops as several, parse_check*.c judge, parse.c reads
 * functions and the module.
 *
 * Errors stick: the first one is kept, and from then on the lexer only gives the end
 * of the text, so loops over tokens end and what was read is thrown away at last.
 */
#ifndef BENCH_RUNTIME_SIM_PARSE_PRIV_H
#define BENCH_RUNTIME_SIM_PARSE_PRIV_H

#include "runtime/sim/program/program.h"

/* Regions in regions, and calls in calls. */
#define SIM_MAX_DEPTH 64
/* Integers of one attribute: two for each dimension. */
#define SIM_MAX_INTS  (2 * SIM_MAX_RANK)

/* ---- tokens (lex.c) ------------------------------------------------------------------ */

/* A single character stands for itself. */
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
    int line; /* of AT */
    int kind;
    const char *token; /* its text, without what marks its kind */
    size_t length;
    const char *start; /* where it stands */
    int start_line;
    int64_t index;
} sim_lexer;

void sim_lex_begin(sim_lexer *lex, const char *text, size_t length);
void sim_lex_next(sim_lexer *lex);
/* Whether the current token is a word, string, ... that reads TEXT. */
bool sim_lex_reads(const sim_lexer *lex, const char *text);

/* ---- memory (parse_memory.c) ----------------------------------------------------------- */

/* Blocks that are freed together. */
typedef struct sim_pool {
    struct sim_pool_block *blocks;
    size_t used, size; /* of the first block */
} sim_pool;

void *sim_pool_take(sim_pool *pool, size_t bytes); /* zeroed; NULL without memory */
void sim_pool_free(sim_pool *pool);

/* An array that grows. */
typedef struct sim_list {
    void *data;
    size_t count, capacity, size; /* SIZE: bytes of an element */
} sim_list;

/* COUNT more elements at the end, not set; NULL without memory. */
void *sim_list_add(sim_list *list, size_t count);

/* ---- the reader ------------------------------------------------------------------------- */

/* An attribute as the text has it. */
typedef struct sim_raw {
    const char *name, *word; /* not ended by zero */
    size_t name_length, word_length;
    bool plain; /* integers */
    size_t count;
    int64_t ints[SIM_MAX_INTS];
    double real; /* of a number */
} sim_raw;

/* A dense<...> whose elements are read when its type is known. */
typedef struct sim_literal {
    sim_lexer lex; /* its first token is current */
    sim_type type;
} sim_literal;

typedef struct sim_reader {
    sim_lexer lex;
    sim_status *st;
    sim_code code; /* SIM_OK until the first error */
    sim_pool pool;
    sim_list types; /* sim_type [value] */
    sim_list names; /* sim_name: a stack, the innermost last */
    int *buckets;   /* heads of chains through names, -1: none */
    size_t bucket_count;
    sim_list ops;       /* sim_op: of the blocks being read, outermost first */
    sim_list ints;      /* int: operands being collected */
    sim_list raws;      /* sim_raw */
    sim_list signature; /* sim_type: results' types being collected */
    sim_list blocks;    /* sim_block: regions being collected */
    sim_list labels;    /* sim_label: names being collected */
    sim_list functions; /* sim_function */
    sim_list calls;     /* sim_op *: whose callee is not known yet */
    sim_literal literal;
    int depth;
    int public_count, public_function; /* how many, and the first */
    void *locale;                      /* locale_t "C" */
    uint8_t op_slots[512];             /* hash of names to rows of ops, 0: none, else row + 1 */
} sim_reader;

/* Keeps the first error, as "LINE:COLUMN: message" of the place AT in the text. */
void sim_reader_fail(sim_reader *r, const char *at, sim_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* What the current token is, for messages: "'%3'" or "the end of the text". */
void sim_reader_expected(sim_reader *r, const char *what);
void *sim_reader_take(sim_reader *r, size_t bytes);
void *sim_reader_add(sim_reader *r, sim_list *list, size_t count);
const char *sim_reader_copy(sim_reader *r, const char *text, size_t length);

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
/* KIND must come; WHAT says what, in the message. */
bool sim_expect(sim_reader *r, int kind, const char *what);

/* Values and their names. */
static inline const sim_type *sim_reader_type(const sim_reader *r, int value)
{
    return (const sim_type *)r->types.data + value;
}
/* COUNT values of TYPES; the first, or -1. */
int sim_reader_values(sim_reader *r, const sim_type *types, int count);

typedef struct sim_name {
    const char *text;
    size_t length;
    uint64_t hash;
    int first, count; /* values */
    int next;         /* in the chain */
} sim_name;

/* A name at the left of "=", or of an argument. */
typedef struct sim_label {
    const char *text, *at;
    size_t length;
    int count; /* values that it stands for */
} sim_label;

void sim_names_define(sim_reader *r, const sim_label *label, int first);
/* The value that the current token names; -1 and an error when there is none. */
int sim_names_value(sim_reader *r);
/* Forgets names until MARK remain. */
void sim_names_forget(sim_reader *r, size_t mark);

/* ---- types and constants ---------------------------------------------------------------- */

bool sim_read_type(sim_reader *r, sim_type *type);
/* Whether they are the same. */
bool sim_type_equals(const sim_type *a, const sim_type *b);
bool sim_same_shape(const sim_type *a, const sim_type *b);
/* "tensor<2x3xf32>" for messages, cut at SIZE. */
const char *sim_type_write(const sim_type *type, char *text, size_t size);

/* The current token is "dense": its place and its type, which must follow. */
bool sim_read_literal(sim_reader *r);
/* V as an element of DTYPE, rounded to nearest even. */
void sim_store_float(sim_dtype dtype, double v, void *out);
/* The elements of r->literal: *DATA has BYTES, which are those of one element when all
 * are equal in the text. */
bool sim_read_elements(sim_reader *r, const void **data, size_t *bytes);

/* ---- attributes ------------------------------------------------------------------------- */

/* "{name = value, ...}" onto r->raws; the current token is "{". */
void sim_read_dictionary(sim_reader *r);
/* One value, called NAME. */
void sim_read_value(sim_reader *r, const char *name, size_t length);
void sim_skip_dictionary(sim_reader *r);
/* From an opening bracket to behind the closing one. */
void sim_skip_brackets(sim_reader *r);
/* "loc(...)" where there is one. */
void sim_skip_location(sim_reader *r);
/* "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]" */
void sim_read_layouts(sim_reader *r);
sim_raw *sim_raw_add(sim_reader *r, const char *name, size_t length);

/* ---- ops -------------------------------------------------------------------------------- */

/* Ops that become several, numbered after those of the program. */
enum {
    SIM_OP_SQUARE = SIM_OP_COUNT,
    SIM_OP_ERFC,
    SIM_OP_ERF_INV,
    SIM_OP_TOP_K,
    SIM_OP_NORM_TRAINING,
    SIM_OP_NORM_INFERENCE,
    SIM_OP_NORM_GRAD,
    SIM_OP_ALL
};

/* An op being read. Its operands, attributes, regions and types are what lies above
 * the marks on the reader's stacks. */
typedef struct sim_reading {
    const char *at;
    int line;
    int code; /* sim_opcode, or one of the above */
    size_t ints, raws, signature, blocks;
    int result_count; /* names at the left */
    const char *callee;
} sim_reading;

static inline int *sim_reading_operands(const sim_reader *r, const sim_reading *o)
{
    return (int *)r->ints.data + o->ints;
}
static inline int sim_reading_operand_count(const sim_reader *r, const sim_reading *o)
{
    return (int)(r->ints.count - o->ints);
}

/* Statements up to "}", which is passed; the last one returns. ARGUMENTS: already
 * defined values, names already known. */
void sim_read_block(sim_reader *r, sim_block *block);
/* "{ ... }", with or without "^bb0(...):", pushed onto r->blocks. LABELS with TYPES
 * are arguments that the op itself names (COUNT 0: none). */
void sim_read_region(sim_reader *r, const sim_label *labels, const sim_type *types, int count);
/* "%a: type" {attributes} loc, appended to r->labels and r->signature. */
void sim_read_argument(sim_reader *r, sim_argument *argument);
/* LABELS of TYPES become the arguments of BLOCK. */
void sim_read_arguments(sim_reader *r, const sim_label *labels, const sim_type *types, int count,
                        sim_block *block);
/* One operand onto r->ints. */
void sim_read_operand(sim_reader *r);
/* "(%1, %2)" */
void sim_read_operands(sim_reader *r);
/* ": types", checked against the operands, results onto r->signature. */
void sim_read_signature(sim_reader *r, sim_reading *o);
/* The forms of ops that have one of their own; the name has been passed. */
typedef void sim_form(sim_reader *r, sim_reading *o);
sim_form sim_form_constant, sim_form_reduce, sim_form_while, sim_form_convolution,
    sim_form_custom_call, sim_form_call, sim_form_items;

/* What is read becomes an op (parse_table.c): attributes in their normal form. */
void sim_finish_op(sim_reader *r, sim_reading *o, sim_op *op);
/* Row of the op called NAME ("stablehlo.add", "chlo.erf", "call"); -1: unknown. */
int sim_op_find(const sim_reader *r, const char *name, size_t length);
void sim_op_slots(sim_reader *r);
sim_form *sim_op_form(int code);
int sim_op_regions(int code); /* -1: any number */
int sim_op_arity(int code);
const char *sim_op_text(int code);

/* BLOCK that applies op CODE to two scalars of DTYPE. */
bool sim_make_region(sim_reader *r, int code, sim_dtype dtype, const char *at, int line,
                     sim_block *block);

/* Gives OP its results, checks it and puts it at the end of the block being read.
 * First result, or -1. */
int sim_emit(sim_reader *r, const char *at, sim_op *op, const sim_type *types, int count);
/* The same, with a result that is there already. */
bool sim_emit_to(sim_reader *r, const char *at, sim_op *op, int result);
/* Several ops for one (OP: its operands and attributes); the first of its results,
 * which are neighbours, or -1. */
int sim_expand(sim_reader *r, const sim_reading *o, const sim_op *op);

/* Judge OP, whose results' types are known. */
bool sim_check_op(sim_reader *r, const char *at, const sim_op *op);
/* Finds callees, and refuses calls that do not fit or never end. */
bool sim_check_calls(sim_reader *r, sim_function *functions, size_t count);
bool sim_check_fail(sim_reader *r, const char *at, const sim_op *op, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const sim_type *sim_check_operand(const sim_reader *r, const sim_op *op, int index);
const sim_type *sim_check_result(const sim_reader *r, const sim_op *op, int index);
/* LIST names dimensions below RANK, each at most once. */
bool sim_check_dims(const sim_attribute *list, int rank);
bool sim_check_types(sim_reader *r, const char *at, const sim_op *op, const sim_type *have,
                     const sim_type *want);
/* REGION takes two and gives one scalar of each of the first COUNT operands' types. */
bool sim_check_reducer(sim_reader *r, const char *at, const sim_op *op, int region, int count);
/* How many windows of SIZE fit; -1: overflow, or something is below 1. */
int64_t sim_window_places(int64_t n, int64_t base_dilation, int64_t low, int64_t high, int64_t size,
                          int64_t dilation, int64_t stride);
typedef bool sim_check(sim_reader *r, const char *at, const sim_op *op);
sim_check sim_check_convolution, sim_check_reduce, sim_check_window, sim_check_select_scatter,
    sim_check_sort, sim_check_gather, sim_check_scatter, sim_check_while, sim_check_branches,
    sim_check_dot;

#endif
