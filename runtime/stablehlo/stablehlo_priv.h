/*
 * stablehlo_priv.h - what the files of the room share.
 *
 *   map.c     hashes -> numbers            align.c   a common sequence of two lists of keys
 *   tokens.c  what the simulator cuts alike (tokens.h)
 *   scan.c    text -> tokens               match.c   which statements stand for each other
 *   alias.c   names of types, attributes
 *   names.c   values, ops, places          diff.c    differences, counts
 *   node.c    tokens -> a node             words.c   differences for people
 *   read.c    statements, regions          declared.c  what a module declares
 *   generic.c what statements say in either form of MLIR's text (generic_priv.h)
 *   bytecode.c, bytes.c, encoding.c  what byte code declares (bytecode_priv.h)
 *   devices.c  devices that collectives, shardings and meshes name
 */
#ifndef BENCH_RUNTIME_STABLEHLO_PRIV_H
#define BENCH_RUNTIME_STABLEHLO_PRIV_H

#include "runtime/stablehlo/stablehlo.h"

#include <string.h>

static inline bool shlo_is_piece(shlo_piece piece, const char *text)
{
    return piece.length == strlen(text) && memcmp(piece.at, text, piece.length) == 0;
}

/* Behind the string that begins at AT, with its quotes, however many lines it has; END where it
 * does not end. (scan.c) */
const char *shlo_behind_string(const char *at, const char *end);

/* A * B; INT64_MAX where a factor is negative, as a dynamic dimension is, or the product overflows.
 */
static inline int64_t shlo_product(int64_t a, int64_t b)
{
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* ---- hashes and maps (map.c) ------------------------------------------------------------ */

uint64_t shlo_hash(const char *bytes, size_t length);

/* The order counts. */
static inline uint64_t shlo_mix(uint64_t hash, uint64_t next)
{
    hash = (hash ^ next) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

typedef struct shlo_entry {
    uint64_t key; /* 0: free */
    uint32_t value;
} shlo_entry;

/* From hashes to numbers, open addressing; all zero at first. */
typedef struct shlo_map {
    shlo_entry *entries;
    size_t count, size; /* SIZE is a power of two, or 0 */
} shlo_map;
/* Where KEY's number is; NULL: there is none. Holds until the next shlo_map_at. */
uint32_t *shlo_map_find(const shlo_map *map, uint64_t key);
/* The same; a new one is SHLO_NONE. */
uint32_t *shlo_map_at(shlo_map *map, uint64_t key);
void shlo_map_free(shlo_map *map);

/* ---- tokens (scan.c) ---------------------------------------------------------------------- */

typedef enum shlo_token_kind {
    SHLO_TOKEN_END,
    SHLO_TOKEN_VALUE,  /* %name or %name#2 */
    SHLO_TOKEN_STRING, /* with its quotes */
    SHLO_TOKEN_WORD,   /* a name or number, also @name, #name, !name */
    SHLO_TOKEN_ANGLE,  /* <...> with all that is in it */
    SHLO_TOKEN_ARROW,  /* -> */
    SHLO_TOKEN_MARK,   /* any other character */
    SHLO_TOKEN_REGION  /* a region that was read; the reader puts it there */
} shlo_token_kind;

typedef struct shlo_token {
    const char *at;
    uint32_t length, line;
    uint64_t hash;   /* of what it says, without blanks; of a value its name's */
    uint32_t number; /* behind the # of a value */
    uint8_t kind;    /* shlo_token_kind */
    char mark;       /* of SHLO_TOKEN_MARK, else 0 */
    bool first;      /* of its line */
} shlo_token;

typedef struct shlo_scanner {
    const char *at, *end;
    uint32_t line;
    bool fresh; /* nothing but blanks since the line began */
} shlo_scanner;

/* The next token of TEXT. BN_FORMAT for a byte that no such text has, and where a string or <...>
 * does not end. */
BN_MUST_USE bn_code shlo_scan(shlo_scanner *scanner, shlo_token *token, bn_status *st);

static inline bool shlo_is_mark(const shlo_token *token, char mark)
{
    return token->kind == SHLO_TOKEN_MARK && token->mark == mark;
}
static inline bool shlo_is_word(const shlo_token *token, const char *word)
{
    return token->kind == SHLO_TOKEN_WORD && token->length == strlen(word) &&
           memcmp(token->at, word, token->length) == 0;
}
/* 1 for an opening bracket, -1 for a closing one, else 0. */
static inline int shlo_bracket(const shlo_token *token)
{
    const char mark = token->mark; /* 0 of others than marks */
    return (mark == '(' || mark == '[' || mark == '{') - (mark == ')' || mark == ']' || mark == '}');
}

/* ---- names of attributes and types (alias.c) ------------------------------------------------- */

/* Appends TEXT to OUT with each "#name" and "!name" replaced by what it stands for; nothing where
 * TEXT has none. Lines keep their numbers. BN_FORMAT where that is longer than
 * twice the TEXT and 16 MiB. */
BN_MUST_USE bn_code shlo_replace_aliases(const char *text, size_t length, bn_text *out,
                                         bn_status *st);

/* ---- statements (names.c, node.c, read.c) --------------------------------------------------- */

#define SHLO_MOST_VALUES (4u * SHLO_MOST_NODES) /* names and operands, of each */

/* A statement that is being read. Its tokens are those from FIRST on. */
typedef struct shlo_frame {
    size_t first, scanned; /* tokens; those before SCANNED were searched for block arguments */
    size_t op;             /* the op's token, counted from FIRST; behind it comes what it says */
    int depth;             /* of brackets, at SCANNED */
    size_t undo;           /* names of before */
    uint32_t node, parent; /* PARENT: SHLO_NONE: none */
    uint32_t block_arguments; /* so far */
    uint32_t regions;         /* that were read */
    uint64_t inside;          /* of the statements in its regions, in any order */
    uint64_t labels;          /* of its regions' blocks */
    bool named;               /* its node has its op, and OP is known */
    bool generic;             /* "stablehlo.add"(...): the op is quoted */
} shlo_frame;

/* Former meaning of a name. */
typedef struct shlo_undo {
    uint64_t name;
    uint32_t value;
} shlo_undo;

typedef struct shlo_reader {
    shlo_scanner scanner;
    shlo_token next;
    shlo_graph *graph;
    shlo_token *tokens;
    size_t token_count, token_room;
    shlo_map names; /* of values: where in VALUES */
    shlo_operand *values;
    size_t value_count, value_room;
    shlo_undo *undo;
    size_t undo_count, undo_room;
    shlo_map ops;     /* names of ops: where in GRAPH->ops */
    shlo_map aliases; /* #loc1: where in PLACES */
    shlo_place *places;
    size_t place_count, place_room;
    bn_text scratch; /* of one statement at a time */
    uint32_t depth;
    bn_status *st;
} shlo_reader;

/* ---- (names.c) */
bn_code shlo_fail_at(const shlo_reader *r, uint32_t line, const char *what);
/* From here on the name of hash NAME is VALUE. */
BN_MUST_USE bn_code shlo_define(shlo_reader *r, uint64_t name, shlo_operand value);
/* The value that TOKEN names. BN_FORMAT: it has not been defined. */
BN_MUST_USE bn_code shlo_look_up(const shlo_reader *r, const shlo_token *token,
                                 shlo_operand *value);
/* Undoes the definitions of names down to the first UNDO. */
void shlo_undo_names(shlo_reader *r, size_t undo);
/* The number of the op called NAME. */
uint32_t shlo_op_number(shlo_reader *r, shlo_piece name);
/* Behind "loc(...)", if that is what stands at AT; else AT. */
size_t shlo_behind_place(const shlo_token *tokens, size_t at, size_t count);
/* The text of the tokens from FIRST to before BEHIND; empty where there are none. */
shlo_piece shlo_piece_of(const shlo_token *tokens, size_t first, size_t behind);
/* The place of the COUNT tokens of "loc(...)": names and sources may be aliases, "#loc1". */
shlo_place shlo_place_of(const shlo_token *tokens, size_t count);
/* The alias of hash NAME stands for PLACE. */
BN_MUST_USE bn_code shlo_alias(shlo_reader *r, uint64_t name, shlo_place place);
/* Replaces the aliases in nodes by what they stand for, and hashes all places. */
void shlo_resolve_places(shlo_reader *r);

/* ---- (node.c) */
/* A new node at LINE, a statement in PARENT's region; *INDEX is its number. */
BN_MUST_USE bn_code shlo_node_add(shlo_reader *r, uint32_t parent, uint32_t line, uint32_t *index);
/* Before a region of F is read: names its op, and defines the arguments of the blocks in its
 * regions that its tokens so far name. Of a function each is a node. */
BN_MUST_USE bn_code shlo_node_blocks(shlo_reader *r, shlo_frame *f);
/* The arguments of the label that begins with token LABEL become those of F's function. */
BN_MUST_USE bn_code shlo_node_arguments(shlo_reader *r, shlo_frame *f, size_t label);
/* Makes F's node of all its tokens, and defines its results. */
BN_MUST_USE bn_code shlo_node_finish(shlo_reader *r, shlo_frame *f);

/* ---- devices (devices.c) -------------------------------------------------------------------- */

/* Whether OP, named without its dialect, is a collective. */
bool shlo_is_collective(shlo_piece op);
/* Notes in TO a mesh of DEVICES, which names HIGHEST, or -1. */
void shlo_note_mesh(shlo_declared *to, int64_t devices, int64_t highest);
/* The devices of the meshes in TEXT, each behind "mesh<", and the highest that they name, or -1.
 * There may be none: *DEVICES is 0. */
void shlo_meshes_in(shlo_piece text, int64_t *devices, int64_t *highest);
/* Whether the attribute KEY has strings that are shardings or meshes. */
bool shlo_is_sharding(shlo_piece key);

/* ---- alignment (align.c) -------------------------------------------------------------------- */

#define SHLO_MOST_EDITS 256

/* Room for shlo_align: furthest points for each number of edits. */
typedef struct shlo_trace {
    int64_t furthest[(SHLO_MOST_EDITS + 1) * (SHLO_MOST_EDITS + 1)];
} shlo_trace;

/* Matches equal keys of X and Y in the same order, as many as it can. Calls MATCHED for each pair.
 */
void shlo_align(const uint64_t *x, size_t x_count, const uint64_t *y, size_t y_count,
                shlo_trace *trace, void (*matched)(void *context, size_t x, size_t y),
                void *context);

/* ---- matches (match.c) ----------------------------------------------------------------------- */

/* Fills PAIR and BACK as shlo_diff has them. MOVED, all zero, one for each node of A, gets 1 where
 * the match stands in another order than the others. */
void shlo_match(const shlo_graph *a, const shlo_graph *b, uint32_t *pair, uint32_t *back,
                uint32_t *moved);

#endif
