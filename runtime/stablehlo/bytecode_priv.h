/*
 * bytecode_priv.h - MLIR's byte code, for the files that read it.
 *
 *   bytecode.c   sections, tables, ops      encoding.c   attributes and types, dialect by dialect
 *   bytes.c      numbers                places.c     lines of sources
 *
 * Sources: MLIR's page "MLIR Bytecode Format"; the encodings of the dialects as jaxlib 0.10.2
 * writes them, for which the declarations in MLIR, StableHLO and Shardy are the names.
 */
#ifndef BENCH_RUNTIME_BYTECODE_PRIV_H
#define BENCH_RUNTIME_BYTECODE_PRIV_H

#include "runtime/stablehlo/stablehlo_priv.h"

/* ---- bytes.c ----------------------------------------------------------------------------------
 */

/* Bytes that are being read. Reading past the end gives zeroes and sets CUT. */
typedef struct shlo_bytes {
    const uint8_t *at, *end;
    bool cut;
} shlo_bytes;

static inline size_t shlo_left(const shlo_bytes *b)
{
    return (size_t)(b->end - b->at);
}
uint8_t shlo_byte(shlo_bytes *b);
/* The number of leading zeroes of the first byte, from its lowest bit on, is how many follow. */
uint64_t shlo_varint(shlo_bytes *b);
/* The same of a signed number, whose sign is the lowest bit. */
int64_t shlo_signed(shlo_bytes *b);
/* The next LENGTH bytes, which are passed; none where there are not as many. */
shlo_bytes shlo_part(shlo_bytes *b, uint64_t length);

/* An attribute or a type in its table. */
typedef struct shlo_item {
    shlo_bytes bytes;
    shlo_piece dialect;
    bool text; /* its BYTES are what MLIR's text says, up to a zero byte */
} shlo_item;

typedef struct shlo_op_name {
    shlo_piece dialect, name;
    bool registered; /* with the writer: its properties are encoded as its dialect says */
} shlo_op_name;

/* A byte code's tables; all of them are in its STORE, but for what is within the byte code. */
typedef struct shlo_code {
    const uint8_t *begin;
    size_t length;
    uint64_t version;
    shlo_piece *strings, *dialects;
    shlo_op_name *ops;
    shlo_item *attributes, *types;
    shlo_bytes *properties, ir;
    size_t string_count, dialect_count, op_count, attribute_count, type_count, property_count;
    size_t steps; /* that may still be made: what shares parts is read as often as it is used */
    int main_depth; /* regions around the @main that was read; INT_MAX: none was */
    bool counts_places;
    uint32_t *places; /* [attribute]: ops that come from there; NULL: they are not counted */
    bn_status unread; /* the first reason that something is not known; BN_OK: all is */
    shlo_declared *to;
    bn_arena *store;
    bn_status *st;
} shlo_code;

/* BN_FORMAT. (bytes.c) */
bn_code shlo_damaged(const shlo_code *c, const char *what);

/* ---- places.c -------------------------------------------------------------------------------- */

typedef struct shlo_line {
    shlo_piece file;
    uint64_t line;
    uint32_t ops; /* that come from there */
} shlo_line;

enum { SHLO_MOST_LINES = 1024 }; /* that are told apart */
typedef struct shlo_tally {
    shlo_line lines[SHLO_MOST_LINES];
    size_t count;
} shlo_tally;

/* Whether FILE is of an installed library, or no file. */
bool shlo_is_library(shlo_piece file);
void shlo_count_line(shlo_tally *t, shlo_piece file, uint64_t line, uint32_t ops);
/* The line with the most ops of the file with the most; SOURCE stays where there is none. */
void shlo_take_most(const shlo_tally *t, shlo_source *source);
/* The line that most ops of C come from, whose places are counted. BN_NOT_FOUND: none. */
BN_MUST_USE bn_code shlo_source_of_code(shlo_code *c, shlo_source *source);

/* ---- encoding.c ------------------------------------------------------------------------------ */

#define SHLO_NO_ITEM UINT64_MAX

/* Kinds of attributes, whichever dialect has them. */
typedef enum shlo_attribute_kind {
    SHLO_ATTRIBUTE_UNKNOWN,
    SHLO_ATTRIBUTE_ARRAY,    /* attributes */
    SHLO_ATTRIBUTE_AXIS,     /* of a mesh */
    SHLO_ATTRIBUTE_AXIS_REF, /* an axis of a mesh, or a part of it */
    SHLO_ATTRIBUTE_BOOLEAN,
    SHLO_ATTRIBUTE_BOUNDS,     /* of dynamic dimensions */
    SHLO_ATTRIBUTE_DICTIONARY, /* pairs of attributes */
    SHLO_ATTRIBUTE_DIMENSION,  /* of a sharding */
    SHLO_ATTRIBUTE_INTEGER,
    SHLO_ATTRIBUTE_MESH,
    SHLO_ATTRIBUTE_MESH_AXES, /* groups of devices, by the axes of a mesh */
    SHLO_ATTRIBUTE_PART,      /* of an axis */
    SHLO_ATTRIBUTE_SHARDING,
    SHLO_ATTRIBUTE_STRING,
    SHLO_ATTRIBUTE_SYMBOL, /* an attribute, its name */
    SHLO_ATTRIBUTE_TENSOR,
    SHLO_ATTRIBUTE_TEXT, /* MLIR's text; the bytes */
    SHLO_ATTRIBUTE_TYPE,
    SHLO_ATTRIBUTE_UNIT
} shlo_attribute_kind;

/* The bytes of attribute INDEX behind its *KIND. */
BN_MUST_USE bn_code shlo_open_attribute(const shlo_code *c, uint64_t index,
                                        shlo_attribute_kind *kind, shlo_bytes *bytes);
/* BN_NOT_SUPPORTED: WHAT is encoded in a way that is not known, as attribute INDEX is. */
bn_code shlo_unknown_attribute(const shlo_code *c, uint64_t index, const char *what);
/* The string that attribute INDEX is, which WHAT is for messages. */
BN_MUST_USE bn_code shlo_string_of(const shlo_code *c, uint64_t index, const char *what,
                                   shlo_piece *string);
/* A number; a truth is 0 or 1. */
BN_MUST_USE bn_code shlo_integer_of(const shlo_code *c, uint64_t index, const char *what,
                                    int64_t *number);
/* As MLIR's text says it: of a string its characters, of a sharding all of it. *TEXT is in
 * DECLARED's store. */
BN_MUST_USE bn_code shlo_text_of(const shlo_code *c, uint64_t index, const char *what,
                                 const char **text);
/* Makes V, which is empty, of type INDEX. */
BN_MUST_USE bn_code shlo_type_of(const shlo_code *c, uint64_t index, shlo_value *v);
/* The types of the arguments and results of function type INDEX: how many, and the bytes from the
 * first one on. */
BN_MUST_USE bn_code shlo_function_type(const shlo_code *c, uint64_t index, uint64_t *arguments,
                                       shlo_bytes *argument_types, uint64_t *results,
                                       shlo_bytes *result_types);
/* The highest of the numbers of a tensor, groups of devices; -1 for none. Of groups by the axes of
 * a mesh the last device of the mesh, if they say it. */
BN_MUST_USE bn_code shlo_highest_of(const shlo_code *c, uint64_t index, const char *what,
                                    int64_t *highest);
/* The devices of a mesh, and the highest that it names, or -1. */
BN_MUST_USE bn_code shlo_mesh_of(const shlo_code *c, uint64_t index, int64_t *devices,
                                 int64_t *highest);

#endif
