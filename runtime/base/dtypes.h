/*
 * dtypes.h - element types, for all rooms: what StableHLO and HLO call them, their size, and the
 * numbers that PJRT and XLA give them.
 */
#ifndef BENCH_RUNTIME_BASE_DTYPES_H
#define BENCH_RUNTIME_BASE_DTYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum bn_class { BN_BOOLEAN, BN_SIGNED, BN_UNSIGNED, BN_FLOAT, BN_COMPLEX } bn_class;

/*
 * The name that PJRT_Buffer_Type has; StableHLO's and HLO's; bits and class; the numbers of
 * PJRT_Buffer_Type and of PrimitiveType in xla/xla_data.proto. Those that traces have stand first,
 * then those that the simulator computes with, then all others of whole bytes, which buffers have.
 */
#define BN_DTYPES(X)                                                                               \
    X(PRED, "i1", "pred", 8, BOOLEAN, 1, 1)                                                        \
    X(S8, "i8", "s8", 8, SIGNED, 2, 2)                                                             \
    X(S32, "i32", "s32", 32, SIGNED, 4, 4)                                                         \
    X(S64, "i64", "s64", 64, SIGNED, 5, 5)                                                         \
    X(U8, "ui8", "u8", 8, UNSIGNED, 6, 6)                                                          \
    X(U32, "ui32", "u32", 32, UNSIGNED, 8, 8)                                                      \
    X(U64, "ui64", "u64", 64, UNSIGNED, 9, 9)                                                      \
    X(F16, "f16", "f16", 16, FLOAT, 10, 10)                                                        \
    X(BF16, "bf16", "bf16", 16, FLOAT, 13, 16)                                                     \
    X(F32, "f32", "f32", 32, FLOAT, 11, 11)                                                        \
    X(S16, "i16", "s16", 16, SIGNED, 3, 3)                                                         \
    X(U16, "ui16", "u16", 16, UNSIGNED, 7, 7)                                                      \
    X(F64, "f64", "f64", 64, FLOAT, 12, 12)                                                        \
    X(C64, "complex<f32>", "c64", 64, COMPLEX, 14, 15)                                             \
    X(C128, "complex<f64>", "c128", 128, COMPLEX, 15, 18)                                          \
    X(F8E3M4, "f8E3M4", "f8e3m4", 8, FLOAT, 27, 29)                                                \
    X(F8E4M3, "f8E4M3", "f8e4m3", 8, FLOAT, 26, 28)                                                \
    X(F8E4M3FN, "f8E4M3FN", "f8e4m3fn", 8, FLOAT, 17, 20)                                          \
    X(F8E4M3FNUZ, "f8E4M3FNUZ", "f8e4m3fnuz", 8, FLOAT, 20, 25)                                    \
    X(F8E4M3B11FNUZ, "f8E4M3B11FNUZ", "f8e4m3b11fnuz", 8, FLOAT, 18, 23)                           \
    X(F8E5M2, "f8E5M2", "f8e5m2", 8, FLOAT, 16, 19)                                                \
    X(F8E5M2FNUZ, "f8E5M2FNUZ", "f8e5m2fnuz", 8, FLOAT, 19, 24)                                    \
    X(F8E8M0FNU, "f8E8M0FNU", "f8e8m0fnu", 8, FLOAT, 28, 33)                                       \
    X(S4, "i4", "s4", 4, SIGNED, 21, 21)                                                           \
    X(U4, "ui4", "u4", 4, UNSIGNED, 22, 22)                                                        \
    X(S2, "i2", "s2", 2, SIGNED, 24, 26)                                                           \
    X(U2, "ui2", "u2", 2, UNSIGNED, 25, 27)                                                        \
    X(F4E2M1FN, "f4E2M1FN", "f4e2m1fn", 4, FLOAT, 29, 32)

typedef enum bn_dtype {
#define X(name, text, hlo, bits, class, pjrt, xla) BN_##name,
    BN_DTYPES(X)
#undef X
        BN_DTYPE_COUNT,
    BN_DTYPES_OF_TRACES = BN_F32 + 1,
    BN_DTYPES_SIMULATED = BN_C128 + 1,
    BN_DTYPES_OF_BUFFERS = BN_F8E8M0FNU + 1
} bn_dtype;

typedef struct bn_dtype_row {
    const char *text, *hlo; /* as StableHLO and HLO write it */
    uint8_t bits, class, pjrt, xla;
} bn_dtype_row;
extern const bn_dtype_row bn_dtypes[BN_DTYPE_COUNT];

static inline size_t bn_dtype_bytes(bn_dtype dtype)
{
    return bn_dtypes[dtype].bits / 8u;
}
static inline bn_class bn_dtype_class(bn_dtype dtype)
{
    return (bn_class)bn_dtypes[dtype].class;
}
static inline bool bn_dtype_is_float(bn_dtype dtype)
{
    return bn_dtypes[dtype].class == BN_FLOAT;
}
static inline bool bn_dtype_is_f8(bn_dtype dtype)
{
    return bn_dtypes[dtype].class == BN_FLOAT && bn_dtypes[dtype].bits == 8;
}
static inline bool bn_dtype_is_unsigned(bn_dtype dtype)
{
    return bn_dtypes[dtype].class == BN_UNSIGNED;
}
const char *bn_dtype_text(bn_dtype dtype); /* StableHLO's; "?" of what is none */

/* The type among the first COUNT that StableHLO, or HLO, calls by the LENGTH bytes at NAME, or that
 * PJRT_Buffer_Type, or PrimitiveType, gives NUMBER; COUNT where there is none. */
bn_dtype bn_dtype_named(const char *name, size_t length, bool hlo, bn_dtype count);
bn_dtype bn_dtype_numbered(int64_t number, bool xla, bn_dtype count);

#endif
