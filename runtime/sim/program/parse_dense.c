/*
 * parse_dense.c - elements of dense<...>: one for all, nested lists, or the bytes in
 * hexadecimal digits.
 *
 * Text gives its type behind the elements, so the literal is passed over first
 * (sim_read_literal) and read when its type is known (sim_read_elements).
 */
#define _GNU_SOURCE
#include "runtime/sim/program/parse_reader.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* Passes all up to behind the ">" that closes the literal. Tokens are not needed for it,
 * because only a string in the literal can hold another ">". */
static bool pass_literal(sim_reader *r)
{
    sim_lexer *lex = &r->lex;
    const char *at = lex->start, *end = lex->end;
    bool quoted = false;
    for (; at < end && (quoted || *at != '>'); at++) {
        quoted ^= *at == '"';
        lex->line += *at == '\n';
    }
    if (at == end) {
        sim_reader_fail(r, lex->start, SIM_INVALID_ARGUMENT, "dense<...> does not end");
        return false;
    }
    lex->at = at + 1;
    sim_next(r);
    return true;
}

bool sim_read_literal(sim_reader *r)
{
    if (!sim_accept_word(r, "dense")) {
        bool known = sim_kind(r) == SIM_T_WORD && sim_lex_reads(&r->lex, "dense_resource");
        if (known)
            sim_reader_fail(r, r->lex.start, SIM_UNIMPLEMENTED,
                            "constants kept outside the text (dense_resource) are not read");
        else
            sim_reader_expected(r, "dense<...>");
        return false;
    }
    if (!sim_expect(r, '<', "'<' behind dense"))
        return false;
    r->literal.lex = r->lex;
    r->lex.line = r->lex.start_line;
    return pass_literal(r) && sim_expect(r, ':', "':' and a type behind dense<...>") &&
           sim_read_type(r, &r->literal.type);
}

/* ---- numbers ------------------------------------------------------------------------- */

void sim_store_float(bn_dtype dtype, double v, void *out)
{
    float single = (float)v;
    if (dtype == BN_F64)
        memcpy(out, &v, sizeof v);
    else if (dtype == BN_F32)
        memcpy(out, &single, sizeof single);
    else
        sim_half_from_double(dtype, &v, out, 1);
}

/* The current token as a zero-ended text in TEXT[64]. */
static bool token_text(sim_reader *r, char text[64])
{
    if (sim_kind(r) != SIM_T_NUMBER || r->lex.length >= 64) {
        sim_reader_expected(r, "a number");
        return false;
    }
    memcpy(text, r->lex.token, r->lex.length);
    text[r->lex.length] = '\0';
    return true;
}

static bool read_float(sim_reader *r, bn_dtype dtype, void *out)
{
    char text[64];
    if (!token_text(r, text))
        return false;
    if (text[0] == '0' && text[1] == 'x') { /* the bits themselves */
        size_t bytes = bn_dtype_bytes(dtype);
        uint64_t bits = strtoull(text, NULL, 16);
        if (r->lex.length - 2 > 2 * bytes) {
            sim_reader_expected(r, "no more digits than the type has");
            return false;
        }
        memcpy(out, &bits, bytes); /* the host is little-endian, as the device is */
    } else {
        sim_store_float(dtype, strtod_l(text, NULL, (locale_t)r->locale), out);
    }
    sim_next(r);
    return true;
}

/* Magnitude and sign of the current number, "0x" allowed. */
static bool read_magnitude(sim_reader *r, bool *negative, uint64_t *magnitude)
{
    const char *c = r->lex.token, *end = c + r->lex.length;
    *negative = sim_kind(r) == SIM_T_NUMBER && *c == '-';
    c += *negative;
    uint64_t base = end - c > 2 && c[1] == 'x' ? 16 : 10;
    bool fits = sim_kind(r) == SIM_T_NUMBER;
    *magnitude = 0;
    for (c += base == 16 ? 2 : 0; fits && c < end; c++) {
        uint64_t digit = *c <= '9' ? (uint64_t)(*c - '0') : (uint64_t)((*c | 32) - 'a' + 10);
        fits = *c != '.' && digit < base && !__builtin_mul_overflow(*magnitude, base, magnitude) &&
               !__builtin_add_overflow(*magnitude, digit, magnitude);
    }
    if (!fits)
        sim_reader_expected(r, "an integer that fits 64 bits");
    return fits;
}

static bool read_integer(sim_reader *r, bn_dtype dtype, void *out)
{
    bool negative;
    uint64_t value;
    size_t bytes = bn_dtype_bytes(dtype);
    if (!read_magnitude(r, &negative, &value))
        return false;
    uint64_t most = bytes == 8 ? UINT64_MAX : (1ull << 8 * bytes) - 1;
    bool is_signed = bn_dtype_class(dtype) == BN_SIGNED;
    bool hex = r->lex.length > 2 && r->lex.token[1] == 'x';
    if (negative ? !is_signed || value > most / 2 + 1
                 : value > (is_signed && !hex ? most / 2 : most)) {
        sim_reader_expected(r, "an integer that fits the type");
        return false;
    }
    value = negative ? 0 - value : value;
    memcpy(out, &value, bytes);
    sim_next(r);
    return true;
}

static bool read_boolean(sim_reader *r, void *out)
{
    bool set = sim_lex_reads(&r->lex, "true") || sim_lex_reads(&r->lex, "1");
    if (!set && !sim_lex_reads(&r->lex, "false") && !sim_lex_reads(&r->lex, "0")) {
        sim_reader_expected(r, "true or false");
        return false;
    }
    memset(out, set, 1);
    sim_next(r);
    return true;
}

static bool read_element(sim_reader *r, bn_dtype dtype, char *out)
{
    switch (bn_dtype_class(dtype)) {
    case BN_BOOLEAN:
        return read_boolean(r, out);
    case BN_SIGNED:
    case BN_UNSIGNED:
        return read_integer(r, dtype, out);
    case BN_FLOAT:
        return read_float(r, dtype, out);
    case BN_COMPLEX:
        break;
    }
    bn_dtype part = dtype == BN_C64 ? BN_F32 : BN_F64;
    return sim_expect(r, '(', "'(' of a complex number") && read_float(r, part, out) &&
           sim_expect(r, ',', "',' in a complex number") &&
           read_float(r, part, out + bn_dtype_bytes(part)) &&
           sim_expect(r, ')', "')' of a complex number");
}

/* ---- literals ------------------------------------------------------------------------ */

/* Reads nested lists to OUT. SEEN[d] counts the elements of the list that is open in
 * dimension d. */
static bool read_lists(sim_reader *r, const sim_type *type, char *out)
{
    int64_t seen[SIM_MAX_RANK] = {0};
    size_t bytes = bn_dtype_bytes(type->dtype);
    int depth = 0;
    do {
        if (depth && seen[depth - 1] && sim_kind(r) != ']' &&
            !sim_expect(r, ',', "',' or ']' in dense<...>"))
            return false;
        if (sim_kind(r) == ']') {
            if (seen[depth - 1] != type->dims[depth - 1])
                break;
            depth--;
            sim_next(r);
        } else if (depth && seen[depth - 1] == type->dims[depth - 1]) {
            break;
        } else {
            if (depth)
                seen[depth - 1]++;
            if (depth < type->rank) {
                if (!sim_expect(r, '[', "'[' of a list in dense<...>"))
                    return false;
                seen[depth++] = 0;
            } else {
                if (!read_element(r, type->dtype, out))
                    return false;
                out += bytes;
            }
        }
    } while (depth > 0 && r->code == SIM_OK);
    if (depth > 0)
        sim_reader_expected(r, "lists as long as the type's dimensions");
    return r->code == SIM_OK;
}

/* "0x..." of BYTES bytes to OUT. */
static bool read_hex(sim_reader *r, size_t bytes, char *out)
{
    const char *digits = r->lex.token + 2;
    for (size_t i = 0; i < bytes; i++) {
        int high = shlo_hex_digit(digits[2 * i]), low = shlo_hex_digit(digits[2 * i + 1]);
        if (high < 0 || low < 0) {
            sim_reader_expected(r, "hexadecimal digits");
            return false;
        }
        out[i] = (char)(high << 4 | low);
    }
    return true;
}

/* Booleans are written eight to a byte, the first in the lowest bit. */
static bool read_bits(sim_reader *r, size_t count, char *out)
{
    char *packed = bn_alloc(count / 8 + 1);
    bool read = read_hex(r, (count + 7) / 8, packed);
    for (size_t i = 0; read && i < count; i++)
        out[i] = packed[i / 8] >> i % 8 & 1;
    free(packed);
    return read;
}

/* Reads the bytes, or those of one element where the text has no more. */
static bool read_bytes(sim_reader *r, const sim_type *type, const void **data, size_t *bytes)
{
    size_t given = r->lex.length >= 2 ? (r->lex.length - 2) / 2 : 0;
    size_t all = (size_t)sim_type_bytes(type), one = bn_dtype_bytes(type->dtype);
    bool prefixed = r->lex.length >= 2 && r->lex.token[0] == '0' && r->lex.token[1] == 'x';
    bool packed = type->dtype == BN_PRED && given != all && given == all / 8 + (all % 8 != 0);
    if (!prefixed || r->lex.length % 2 || (given != all && given != one && !packed)) {
        sim_reader_fail(r, r->lex.start, SIM_INVALID_ARGUMENT,
                        "expected a string \"0x...\" of %zu bytes, found %zu", all, given);
        return false;
    }
    *bytes = packed ? all : given;
    char *out = bn_arena_alloc(r->arena, *bytes);
    *data = out;
    return packed ? read_bits(r, all, out) : read_hex(r, given, out);
}

static bool read_from(sim_reader *r, const void **data, size_t *bytes)
{
    const sim_type *type = &r->literal.type;
    int64_t elements = sim_type_elements(type);
    bool listed = sim_kind(r) == '[' && type->rank > 0;
    if (sim_kind(r) == SIM_T_STRING)
        return read_bytes(r, type, data, bytes);
    *bytes = listed ? (size_t)sim_type_bytes(type) : bn_dtype_bytes(type->dtype);
    /* An element takes two characters at least, so text bounds memory. */
    if (listed && elements > (r->lex.end - r->lex.start) / 2 + 1) {
        sim_reader_fail(r, r->lex.start, SIM_INVALID_ARGUMENT,
                        "a list of fewer than the type's %lld elements", (long long)elements);
        return false;
    }
    char *out = bn_arena_alloc(r->arena, *bytes);
    *data = out;
    if (sim_kind(r) == '>') { /* dense<>, of a tensor without elements */
        *bytes = 0;
        if (elements != 0)
            sim_reader_expected(r, "elements");
        return elements == 0;
    }
    return listed ? read_lists(r, type, out) : read_element(r, type->dtype, out);
}

bool sim_read_elements(sim_reader *r, const void **data, size_t *bytes)
{
    if (r->code != SIM_OK)
        return false;
    sim_lexer behind = r->lex;
    r->lex = r->literal.lex;
    bool read = read_from(r, data, bytes);
    if (read && sim_kind(r) == SIM_T_STRING)
        sim_next(r);
    read = read && sim_expect(r, '>', "'>' behind the elements");
    if (read)
        r->lex = behind;
    return read;
}
