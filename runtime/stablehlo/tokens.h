/*
 * tokens.h - what all readers of StableHLO text cut alike: characters, blanks and comments,
 * strings, names of values, sizes of tensors. The simulator's plugin has this file and no other of
 * the room. Source: MLIR's language reference.
 */
#ifndef BENCH_RUNTIME_STABLEHLO_TOKENS_H
#define BENCH_RUNTIME_STABLEHLO_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHLO_MOST_RANK 32

/* Classes of each byte, as bits of a digit. */
enum { SHLO_BLANK = 1, SHLO_DIGIT = 2, SHLO_NAME = 4 /* of names and numbers alike */ };
extern const char shlo_kinds[256];

static inline bool shlo_is_blank(char c)
{
    return shlo_kinds[(unsigned char)c] & SHLO_BLANK;
}

static inline bool shlo_is_digit(char c)
{
    return shlo_kinds[(unsigned char)c] & SHLO_DIGIT;
}

static inline bool shlo_is_name(char c)
{
    return shlo_kinds[(unsigned char)c] & SHLO_NAME;
}

/* The value of a hexadecimal digit; -1: it is none. */
int shlo_hex_digit(char c);

/* Behind the blanks and comments at AT; *LINE counts their ends of lines. */
const char *shlo_behind_blanks(const char *at, const char *end, uint32_t *line);
/* Behind the string that begins at AT, with its quotes; NULL where it does not end in its line. */
const char *shlo_string_end(const char *at, const char *end);
/* Behind the name at AT; behind that of a value, whose '%' stands before AT. */
const char *shlo_behind_name(const char *at, const char *end);
const char *shlo_behind_value(const char *at, const char *end);

typedef enum shlo_sizes {
    SHLO_SIZES_READ,
    SHLO_SIZES_TOO_MANY,
    SHLO_SIZE_TOO_LARGE, /* for 63 bits */
    SHLO_SIZE_WITHOUT_X
} shlo_sizes;
/* Reads "2x?x3x", which may be nothing, at *AT into DIMS and *RANK; "?" is -1. *AT moves behind
 * them, or to what is wrong. */
shlo_sizes shlo_read_sizes(const char **at, const char *end, int64_t dims[SHLO_MOST_RANK],
                           size_t *rank);

#endif
