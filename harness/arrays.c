/*
 * arrays.c - elements of any type as numbers, and two arrays against each other.
 */
#include "harness/npy.h"

#include <math.h>
#include <string.h>

/* IEEE 754 binary16 as a double. */
static double half_value(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    double value = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                   : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                  : ldexp(fraction, -24);
    return h & 0x8000 ? -value : value;
}

uint16_t hn_half_of(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double size = fabs(value);
    int exponent;
    if (!(size >= 0x1p-14)) /* below the normal numbers; NaN does not come here */
        return (uint16_t)(sign | (uint16_t)nearbyint(size * 0x1p24));
    frexp(size, &exponent);
    const double fraction = nearbyint(ldexp(size, 11 - exponent)); /* 1024 to 2048 */
    const int bits = (exponent + 14) * 1024 + (int)fraction - 1024;
    return (uint16_t)(sign | (bits < 0x7C00 ? bits : 0x7C00));
}

static double value_at(rt_dtype dtype, const char *at)
{
    uint64_t bits = 0;
    uint32_t word;
    float single;
    double real;
    switch (dtype) {
    case RT_F64:
    case RT_C128:
        memcpy(&real, at, sizeof real);
        return real;
    case RT_F32:
    case RT_C64:
        memcpy(&single, at, sizeof single);
        return (double)single;
    case RT_BF16:
        memcpy(&bits, at, 2);
        word = (uint32_t)bits << 16;
        memcpy(&single, &word, sizeof single);
        return (double)single;
    case RT_F16:
        memcpy(&bits, at, 2);
        return half_value((uint16_t)bits);
    default:
        break;
    }
    const size_t bytes = rt_dtype_bytes(dtype);
    memcpy(&bits, at, bytes);
    const bool is_signed = rt_dtype_text(dtype)[0] == 'i' && dtype != RT_BOOL;
    if (is_signed && bytes < 8 && bits >> (8 * bytes - 1))
        return (double)((int64_t)bits - ((int64_t)1 << (8 * bytes)));
    return is_signed ? (double)(int64_t)bits : (double)bits;
}

/* Whether GOT may stand for WANT; numbers without a distance must be the same. */
static bool near(double got, double want, double rtol, double atol)
{
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    if (isinf(got) || isinf(want))
        return got == want;
    return fabs(got - want) <= atol + rtol * fabs(want);
}

hn_array_difference hn_compare_arrays(rt_dtype dtype, const void *got, const void *want,
                                      size_t bytes, double rtol, double atol)
{
    const bool complex = dtype == RT_C64 || dtype == RT_C128;
    const bool real =
        complex || dtype == RT_F64 || dtype == RT_F32 || dtype == RT_F16 || dtype == RT_BF16;
    const size_t size = rt_dtype_bytes(dtype) / (complex ? 2 : 1), parts = complex ? 2 : 1;
    hn_array_difference d = {.of = bytes / size / parts};
    double most = -1;
    for (size_t i = 0; i < d.of * parts; i++) {
        const char *a = (const char *)got + i * size, *b = (const char *)want + i * size;
        const double x = value_at(dtype, a), y = value_at(dtype, b);
        if (real ? near(x, y, rtol, atol) : memcmp(a, b, size) == 0)
            continue;
        /* Both parts of a complex number may differ; it counts once. */
        d.count += !(complex && (i & 1) && d.count && d.last == i / parts);
        d.last = i / parts;
        const double apart = isfinite(x) && isfinite(y) ? fabs(x - y) : (double)INFINITY;
        if (apart > most) {
            most = apart;
            d.worst = i / parts;
            d.got = x;
            d.want = y;
        }
    }
    return d;
}
