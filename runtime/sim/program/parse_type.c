/* parse_type.c - "tensor<2x3xf32>": the only types that programs' values have. */
#include "runtime/sim/program/parse_reader.h"

#include <stdio.h>
#include <string.h>

/* Bytes of a type stay below this, so that sums of a few do not overflow. */
#define MAX_BYTES ((int64_t)1 << 62)

const char *sim_type_write(const sim_type *type, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "tensor<");
    for (int i = 0; i < type->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%lldx", (long long)type->dims[i]);
    if (used < size)
        snprintf(text + used, size - used, "%s>", bn_dtype_text(type->dtype));
    return text;
}

/* The element type at *AT, up to the bracket or comma behind it. */
static bool read_element(sim_reader *r, const char **at, sim_type *type)
{
    const char *start = *at, *end = r->lex.end;
    int depth = 0;
    while (*at < end && (depth || (**at != '>' && **at != ',' && **at != ' ')) && **at != '\n') {
        depth += (**at == '<') - (**at == '>');
        ++*at;
    }
    size_t length = (size_t)(*at - start);
    type->dtype = bn_dtype_named(start, length, false, BN_DTYPES_SIMULATED);
    if (type->dtype != BN_DTYPES_SIMULATED)
        return true;
    sim_reader_fail(r, start, SIM_UNIMPLEMENTED, "element type '%.*s' is not simulated",
                    (int)(length < 40 ? length : 40), start);
    return false;
}

static bool check_bytes(sim_reader *r, const char *start, const sim_type *type)
{
    int64_t bytes = (int64_t)bn_dtype_bytes(type->dtype);
    for (int i = 0; i < type->rank; i++)
        if (__builtin_mul_overflow(bytes, type->dims[i] ? type->dims[i] : 1, &bytes) ||
            bytes > MAX_BYTES) {
            sim_reader_fail(r, start, SIM_INVALID_ARGUMENT, "a tensor of more than 2^62 bytes");
            return false;
        }
    return true;
}

/* "2x3xf32>" from the lexer's place on. */
static bool read_inside(sim_reader *r, sim_type *type)
{
    const char *start = r->lex.start, *inside = r->lex.at, *at = inside, *end = r->lex.end;
    size_t rank;
    const shlo_sizes sizes = shlo_read_sizes(&at, end, type->dims, &rank);
    type->rank = (int)rank;
    const char *dynamic = memchr(inside, '?', (size_t)(at - inside));
    if (!dynamic && at < end && *at == '*')
        dynamic = at;
    if (dynamic)
        sim_reader_fail(r, dynamic, SIM_UNIMPLEMENTED,
                        "sizes that only running tells ('%c') are not simulated", *dynamic);
    if (sizes == SHLO_SIZES_TOO_MANY)
        sim_reader_fail(r, at, SIM_UNIMPLEMENTED, "a rank above %d is not simulated", SIM_MAX_RANK);
    else if (sizes == SHLO_SIZE_TOO_LARGE)
        sim_reader_fail(r, at, SIM_INVALID_ARGUMENT, "a size that does not fit 63 bits");
    else if (sizes == SHLO_SIZE_WITHOUT_X)
        sim_reader_fail(r, at, SIM_INVALID_ARGUMENT, "expected 'x' behind a size");
    if (r->code != SIM_OK)
        return false;
    if (!read_element(r, &at, type) || !check_bytes(r, start, type))
        return false;
    r->lex.at = at;
    sim_next(r);
    if (sim_kind(r) == ',') {
        sim_reader_fail(r, at, SIM_UNIMPLEMENTED,
                        "tensors with bounds or encodings are not "
                        "simulated");
        return false;
    }
    return sim_expect(r, '>', "'>' behind the element type");
}

bool sim_read_type(sim_reader *r, sim_type *type)
{
    int shown = (int)(r->lex.length < 40 ? r->lex.length : 40);
    if (sim_kind(r) == SIM_T_BANG ||
        (sim_kind(r) == SIM_T_WORD && sim_lex_reads(&r->lex, "tuple"))) {
        sim_reader_fail(r, r->lex.start, SIM_UNIMPLEMENTED, "type '%.*s' is not simulated", shown,
                        r->lex.token);
        return false;
    }
    if (!sim_accept_word(r, "tensor")) {
        sim_reader_expected(r, "a type tensor<...>");
        return false;
    }
    if (sim_kind(r) != '<') {
        sim_reader_expected(r, "'<' behind tensor");
        return false;
    }
    return read_inside(r, type);
}
