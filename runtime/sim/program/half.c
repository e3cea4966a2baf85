/*
 * half.c - arrays of the half-width floats f16 and bf16.
 *
 * Whole arrays pass between float and half in every op that is evaluated.
 */
#include "runtime/sim/program/program.h"

#include "runtime/base/base.h"

void sim_half_to_float(bn_dtype half, const uint16_t *in, float *out, int64_t n)
{
    if (half == BN_F16)
        for (int64_t i = 0; i < n; i++)
            out[i] = bn_from_f16(in[i]);
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = bn_from_bf16(in[i]);
}

void sim_half_to_double(bn_dtype half, const uint16_t *in, double *out, int64_t n)
{
    if (half == BN_F16)
        for (int64_t i = 0; i < n; i++)
            out[i] = (double)bn_from_f16(in[i]);
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = (double)bn_from_bf16(in[i]);
}

void sim_half_from_float(bn_dtype half, const float *in, uint16_t *out, int64_t n)
{
    if (half == BN_F16)
        for (int64_t i = 0; i < n; i++)
            out[i] = bn_to_f16(in[i]);
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = bn_to_bf16(in[i]);
}

void sim_half_from_double(bn_dtype half, const double *in, uint16_t *out, int64_t n)
{
    if (half == BN_F16)
        for (int64_t i = 0; i < n; i++)
            out[i] = bn_to_f16(bn_to_odd(in[i]));
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = bn_to_bf16(bn_to_odd(in[i]));
}
