/*
 * half.c - f16 to and from double, where speed does not count.
 */
#include "runtime/base/base.h"

double bn_half_to_double(uint16_t half)
{
    return (double)bn_from_f16(half);
}

uint16_t bn_half_from_double(double value)
{
    return bn_to_f16(bn_to_odd(value));
}
