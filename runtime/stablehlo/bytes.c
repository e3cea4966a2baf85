/*
 * bytes.c - the numbers of MLIR's byte code, which are as long as they are large.
 */
#include "runtime/stablehlo/bytecode_priv.h"

bn_code shlo_damaged(const shlo_code *c, const char *what)
{
    return bn_fail(c->st, BN_FORMAT, "this MLIR byte code is damaged: %s", what);
}

shlo_bytes shlo_part(shlo_bytes *b, uint64_t length)
{
    if (length > shlo_left(b)) {
        b->cut = true;
        b->at = b->end;
        return (shlo_bytes){b->end, b->end, true};
    }
    b->at += length;
    return (shlo_bytes){b->at - length, b->at, false};
}

uint8_t shlo_byte(shlo_bytes *b)
{
    const shlo_bytes one = shlo_part(b, 1);
    return one.cut ? 0 : *one.at;
}

uint64_t shlo_varint(shlo_bytes *b)
{
    const uint8_t first = shlo_byte(b);
    const unsigned behind = first ? (unsigned)__builtin_ctz(first) : 8;
    const shlo_bytes more = b->cut ? *b : shlo_part(b, behind);
    uint64_t number = behind == 8 ? 0 : first;
    if (b->cut)
        return 0;
    if (behind == 8) {
        for (unsigned i = 0; i < 8; i++)
            number |= (uint64_t)more.at[i] << 8 * i;
        return number;
    }
    for (unsigned i = 0; i < behind; i++)
        number |= (uint64_t)more.at[i] << 8 * (i + 1);
    return number >> (behind + 1);
}

int64_t shlo_signed(shlo_bytes *b)
{
    const uint64_t number = shlo_varint(b);
    return (int64_t)(number >> 1 ^ (0 - (number & 1)));
}
