/*
 * half.c - the half-width floats f16 (IEEE 754 binary16) and bf16, by their bits.
 *
 * Room base converts f16 as well, one element at a time through double. Here whole arrays
 * pass between float and half in every op that is evaluated, so these loops are written
 * for speed; and the plugin links nothing of base.
 */
#include "runtime/sim/program/program.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- one element ------------------------------------------------------------------------ */

static float from_bf16(uint16_t half)
{
    return float_of((uint32_t)half << 16);
}

static uint16_t to_bf16(float value)
{
    const uint32_t bits = bits_of(value);
    if (value != value)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float from_f16(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t exponent = half >> 10 & 31, mantissa = half & 0x3ff;
    if (exponent == 31)
        return float_of(sign | 0x7f800000 | mantissa << 13);
    if (exponent == 0) /* mantissa units of 2^-24 */
        return float_of(sign | bits_of((float)mantissa * 0x1p-24f));
    return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
}

static uint16_t to_f16(float value)
{
    const uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000;
    uint32_t size = bits & 0x7fffffff;
    if (value != value)
        return (uint16_t)(sign | 0x7e00 | (size >> 13 & 0x3ff));
    if (size >= bits_of(0x1p16f))
        return (uint16_t)(sign | 0x7c00);
    if (size < bits_of(0x1p-14f)) /* the units of f16 there are those of a float at 0.5 */
        return (uint16_t)(sign | (bits_of(float_of(size) + 0.5f) - bits_of(0.5f)));
    size += 0xfff + (size >> 13 & 1);
    return (uint16_t)(sign | ((size >> 13) - (112 << 10)));
}

/* To a float whose last bit tells that something was cut. The next rounding, to fewer
 * bits, is then right as if it were the only one. */
static float to_odd(double value)
{
    const float rounded = (float)value;
    uint32_t bits = bits_of(rounded);
    if (value != value || (double)rounded == value)
        return rounded;
    if (fabs((double)rounded) > fabs(value))
        bits--;
    return float_of(bits | 1);
}

/* ---- arrays ----------------------------------------------------------------------------- */

void sim_half_to_float(sim_dtype half, const uint16_t *in, float *out, int64_t n)
{
    if (half == SIM_F16)
        for (int64_t i = 0; i < n; i++)
            out[i] = from_f16(in[i]);
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = from_bf16(in[i]);
}

void sim_half_to_double(sim_dtype half, const uint16_t *in, double *out, int64_t n)
{
    if (half == SIM_F16)
        for (int64_t i = 0; i < n; i++)
            out[i] = (double)from_f16(in[i]);
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = (double)from_bf16(in[i]);
}

void sim_half_from_float(sim_dtype half, const float *in, uint16_t *out, int64_t n)
{
    if (half == SIM_F16)
        for (int64_t i = 0; i < n; i++)
            out[i] = to_f16(in[i]);
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = to_bf16(in[i]);
}

void sim_half_from_double(sim_dtype half, const double *in, uint16_t *out, int64_t n)
{
    if (half == SIM_F16)
        for (int64_t i = 0; i < n; i++)
            out[i] = to_f16(to_odd(in[i]));
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = to_bf16(to_odd(in[i]));
}
