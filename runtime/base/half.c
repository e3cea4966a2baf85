/*
 * half.c - IEEE 754 binary16 ("f16") to and from double, without help of the processor.
 */
#include "runtime/base/base.h"

#include <math.h>

double bn_half_to_double(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    double value = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                   : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                  : ldexp(fraction, -24);
    return half & 0x8000 ? -value : value;
}

uint16_t bn_half_from_double(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double size = fabs(value);
    int exponent;
    if (isnan(value))
        return sign | 0x7E00;
    if (size < 0x1p-14) /* below the normal numbers */
        return (uint16_t)(sign | (uint16_t)nearbyint(size * 0x1p24));
    if (size >= 0x1p16)
        return sign | 0x7C00;
    frexp(size, &exponent);
    const double fraction = nearbyint(ldexp(size, 11 - exponent)); /* 1024 to 2048 */
    /* A carry out of the fraction goes into the exponent, up to infinity, as it should. */
    return (uint16_t)(sign | ((exponent + 14) * 1024 + (int)fraction - 1024));
}
