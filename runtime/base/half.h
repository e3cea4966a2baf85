/*
 * half.h - the half-width floats f16 (IEEE 754 binary16) and bf16, one element at a time, by
 * their bits. To them a float is rounded to nearest, ties to even; NaN stays NaN.
 *
 * Inline, so that loops over arrays cost no calls, and so that a plugin that links nothing of
 * ours can have them.
 */
#ifndef BENCH_RUNTIME_BASE_HALF_H
#define BENCH_RUNTIME_BASE_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bn_bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float bn_float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float bn_from_bf16(uint16_t half)
{
    return bn_float_of((uint32_t)half << 16);
}

static inline uint16_t bn_to_bf16(float value)
{
    const uint32_t bits = bn_bits_of(value);
    if (value != value)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float bn_from_f16(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t exponent = half >> 10 & 31, mantissa = half & 0x3ff;
    if (exponent == 31)
        return bn_float_of(sign | 0x7f800000 | mantissa << 13);
    if (exponent == 0) /* mantissa units of 2^-24 */
        return bn_float_of(sign | bn_bits_of((float)mantissa * 0x1p-24f));
    return bn_float_of(sign | (exponent + 112) << 23 | mantissa << 13);
}

static inline uint16_t bn_to_f16(float value)
{
    const uint32_t bits = bn_bits_of(value), sign = bits >> 16 & 0x8000;
    uint32_t size = bits & 0x7fffffff;
    if (value != value)
        return (uint16_t)(sign | 0x7e00 | (size >> 13 & 0x3ff));
    if (size >= bn_bits_of(0x1p16f))
        return (uint16_t)(sign | 0x7c00);
    if (size < bn_bits_of(0x1p-14f)) /* the units of f16 there are those of a float at 0.5 */
        return (uint16_t)(sign | (bn_bits_of(bn_float_of(size) + 0.5f) - bn_bits_of(0.5f)));
    size += 0xfff + (size >> 13 & 1);
    return (uint16_t)(sign | ((size >> 13) - (112 << 10)));
}

/* To a float whose last bit says that something was cut. The next rounding, to fewer bits, is
 * then right as if it were the only one (S. Boldo and G. Melquiond, "When double rounding is
 * odd", 2005). */
static inline float bn_to_odd(double value)
{
    const float rounded = (float)value;
    uint32_t bits = bn_bits_of(rounded);
    if (value != value || (double)rounded == value)
        return rounded;
    if (fabs((double)rounded) > fabs(value))
        bits--;
    return bn_float_of(bits | 1);
}

#endif
