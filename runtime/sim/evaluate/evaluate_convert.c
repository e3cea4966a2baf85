/*
 * evaluate_convert.c - elements from one type to another: convert, bitcast_convert,
 * reduce_precision.
 *
 * A number goes through the widest type of its class (int64, uint64, double, complex
 * double), which holds it exactly, so that it is rounded once. Floats that an integer
 * cannot hold become its nearest, NaN becomes 0, as in XLA.
 */
#include "runtime/sim/evaluate/evaluate_kernels.h"
#include "runtime/sim/evaluate/evaluate_rules.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* ---- all types -------------------------------------------------------------------------- */

/* Elements in the widest type of their class. */
typedef union wide_chunk {
    int64_t s[SIM_CHUNK];
    uint64_t u[SIM_CHUNK];
    double f[SIM_CHUNK];
    complex double c[SIM_CHUNK];
} wide_chunk;

/* The class through which elements of DTYPE go: a boolean is an unsigned 0 or 1. */
static bn_class wide_class(bn_dtype dtype)
{
    const bn_class class = bn_dtype_class(dtype);
    return class == BN_BOOLEAN ? BN_UNSIGNED : class;
}

#define LOAD(dtype, T, member, expr)                                                               \
    case dtype:                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = ((const T *)in)[i];                                                        \
            w->member[i] = expr;                                                                   \
        }                                                                                          \
        break;

static void load(bn_dtype from, const void *in, wide_chunk *w, int64_t n)
{
    switch (from) {
        LOAD(BN_PRED, uint8_t, u, x != 0)
        LOAD(BN_S8, int8_t, s, x)
        LOAD(BN_S16, int16_t, s, x)
        LOAD(BN_S32, int32_t, s, x)
        LOAD(BN_S64, int64_t, s, x)
        LOAD(BN_U8, uint8_t, u, x)
        LOAD(BN_U16, uint16_t, u, x)
        LOAD(BN_U32, uint32_t, u, x)
        LOAD(BN_U64, uint64_t, u, x)
        LOAD(BN_F32, float, f, (double)x)
        LOAD(BN_F64, double, f, x)
        LOAD(BN_C64, complex float, c, (complex double)x)
        LOAD(BN_C128, complex double, c, x)
    case BN_F16:
    case BN_BF16:
        sim_half_to_double(from, in, w->f, n);
        break;
    default:
        break;
    }
}

/* Into another class of numbers, in place. */
static void turn(bn_class from, bn_class to, wide_chunk *w, int64_t n)
{
    for (int64_t i = n - 1; i >= 0 && to == BN_COMPLEX; i--) /* backwards: they grow */
        w->c[i] = from == BN_SIGNED     ? (double)w->s[i]
                  : from == BN_UNSIGNED ? (double)w->u[i]
                                        : w->f[i];
    for (int64_t i = 0; i < n && from == BN_COMPLEX; i++)
        w->f[i] = creal(w->c[i]);
    if (to == BN_FLOAT && (from == BN_SIGNED || from == BN_UNSIGNED))
        for (int64_t i = 0; i < n; i++)
            w->f[i] = from == BN_SIGNED ? (double)w->s[i] : (double)w->u[i];
}

static int64_t hold_signed(double x, int64_t low, int64_t high)
{
    return x != x ? 0 : x <= (double)low ? low : x >= (double)high ? high : (int64_t)x;
}

static uint64_t hold_unsigned(double x, uint64_t high)
{
    return !(x > 0) ? 0 : x >= (double)high ? high : (uint64_t)x;
}

/* Integers are cut to their bits, floats (FLOATS) held to the range. */
#define STORE_SIGNED(dtype, T, low, high)                                                          \
    case dtype:                                                                                    \
        for (int64_t i = 0; i < n; i++)                                                            \
            ((T *)out)[i] = (T)(floats ? hold_signed(w->f[i], low, high) : w->s[i]);               \
        break;
#define STORE_UNSIGNED(dtype, T, high)                                                             \
    case dtype:                                                                                    \
        for (int64_t i = 0; i < n; i++)                                                            \
            ((T *)out)[i] = (T)(floats ? hold_unsigned(w->f[i], high) : w->u[i]);                  \
        break;
#define STORE(dtype, T, expr)                                                                      \
    case dtype:                                                                                    \
        for (int64_t i = 0; i < n; i++)                                                            \
            ((T *)out)[i] = (T)(expr);                                                             \
        break;

static void store(bn_dtype to, void *out, const wide_chunk *w, bool floats, int64_t n)
{
    switch (to) {
        STORE(BN_PRED, uint8_t, floats ? w->f[i] != 0 : w->u[i] != 0)
        STORE_SIGNED(BN_S8, int8_t, INT8_MIN, INT8_MAX)
        STORE_SIGNED(BN_S16, int16_t, INT16_MIN, INT16_MAX)
        STORE_SIGNED(BN_S32, int32_t, INT32_MIN, INT32_MAX)
        STORE_SIGNED(BN_S64, int64_t, INT64_MIN, INT64_MAX)
        STORE_UNSIGNED(BN_U8, uint8_t, UINT8_MAX)
        STORE_UNSIGNED(BN_U16, uint16_t, UINT16_MAX)
        STORE_UNSIGNED(BN_U32, uint32_t, UINT32_MAX)
        STORE_UNSIGNED(BN_U64, uint64_t, UINT64_MAX)
        STORE(BN_F32, float, w->f[i])
        STORE(BN_F64, double, w->f[i])
        STORE(BN_C64, complex float, w->c[i])
        STORE(BN_C128, complex double, w->c[i])
    case BN_F16:
    case BN_BF16:
        sim_half_from_double(to, w->f, out, n);
        break;
    default:
        break;
    }
}

static bool is_integer_class(bn_class class)
{
    return class == BN_SIGNED || class == BN_UNSIGNED;
}

/* Most conversions are between f32 and the half-width floats. Integers of 64 bits must not
 * go to f32 through double, which would round them twice. False for other types. */
static bool convert_straight(bn_dtype to, void *out, bn_dtype from, const void *in, int64_t n)
{
    if (from == BN_F32 && (to == BN_F16 || to == BN_BF16))
        sim_half_from_float(to, in, out, n);
    else if (to == BN_F32 && (from == BN_F16 || from == BN_BF16))
        sim_half_to_float(from, in, out, n);
    else if (from == BN_S64 && to == BN_F32)
        for (int64_t i = 0; i < n; i++)
            ((float *)out)[i] = (float)((const int64_t *)in)[i];
    else if (from == BN_U64 && to == BN_F32)
        for (int64_t i = 0; i < n; i++)
            ((float *)out)[i] = (float)((const uint64_t *)in)[i];
    else
        return false;
    return true;
}

void sim_convert(bn_dtype to, void *out, bn_dtype from, const void *in, int64_t n)
{
    const size_t from_bytes = bn_dtype_bytes(from), to_bytes = bn_dtype_bytes(to);
    if (to == from) {
        memcpy(out, in, (size_t)n * to_bytes);
        return;
    }
    if (convert_straight(to, out, from, in, n))
        return;
    /* Between integers bits count, not values; of an i1 only whether any is set. */
    const bn_class here = wide_class(from), there = wide_class(to);
    const bool floats = here == BN_FLOAT || here == BN_COMPLEX;
    wide_chunk w;
    for (int64_t at = 0; at < n; at += SIM_CHUNK) {
        const int64_t chunk = n - at < SIM_CHUNK ? n - at : SIM_CHUNK;
        load(from, (const char *)in + (size_t)at * from_bytes, &w, chunk);
        if (here != there && !(is_integer_class(here) && is_integer_class(there)))
            turn(here, there, &w, chunk);
        store(to, (char *)out + (size_t)at * to_bytes, &w, floats, chunk);
    }
}

int64_t sim_integer_at(bn_dtype dtype, const void *bytes, int64_t i)
{
    wide_chunk w;
    load(dtype, (const char *)bytes + (size_t)i * bn_dtype_bytes(dtype), &w, 1);
    if (wide_class(dtype) == BN_UNSIGNED && w.u[0] > INT64_MAX)
        return INT64_MAX;
    return w.s[0];
}

/* ---- rules ------------------------------------------------------------------------------ */

sim_code sim_rule_convert(sim_run *run, const sim_op *op)
{
    const sim_type *from = sim_operand_type(run->program, op, 0);
    sim_convert(sim_result_type(run->program, op, 0)->dtype, sim_result(run, op, 0), from->dtype,
                sim_operand(run, op, 0), sim_type_elements(from));
    return SIM_OK;
}

/* Parts of an element are adjacent, the lowest first, as on this machine. */
sim_code sim_rule_bitcast_convert(sim_run *run, const sim_op *op)
{
    memcpy(sim_result(run, op, 0), sim_operand(run, op, 0),
           (size_t)sim_type_bytes(sim_result_type(run->program, op, 0)));
    return SIM_OK;
}

/* ---- fewer bits ------------------------------------------------------------------------- */

/* The parts of a float, in bits. */
typedef struct float_format {
    int mantissa, exponent;
} float_format;

static float_format format_of(bn_dtype dtype)
{
    static const float_format formats[BN_DTYPES_SIMULATED] = {
        [BN_F16] = {10, 5}, [BN_BF16] = {7, 8}, [BN_F32] = {23, 8}, [BN_F64] = {52, 11}};
    return formats[dtype];
}

/* BITS of a float of FROM with no more mantissa and exponent than TO: rounded to nearest
 * even, what is too large to infinity, what is too small to zero. NaN stays. */
static uint64_t reduced(uint64_t bits, float_format from, float_format to)
{
    const uint64_t sign = UINT64_C(1) << (from.mantissa + from.exponent);
    const uint64_t infinity = sign - (UINT64_C(1) << from.mantissa);
    uint64_t size = bits & (sign - 1);
    if (size > infinity)
        return bits;
    if (to.mantissa < from.mantissa) {
        const int cut = from.mantissa - to.mantissa;
        const uint64_t unit = UINT64_C(1) << cut;
        size = (size + (unit >> 1) - 1 + (size >> cut & 1)) & ~(unit - 1);
    }
    if (to.exponent < from.exponent) {
        const int64_t bias = (INT64_C(1) << (from.exponent - 1)) - 1;
        const int64_t half = (INT64_C(1) << (to.exponent - 1)) - 1;
        const int64_t exponent = (int64_t)(size >> from.mantissa);
        size = exponent > bias + half ? infinity : exponent <= bias - half ? 0 : size;
    }
    return (bits & sign) | size;
}

sim_code sim_can_reduce_precision(const sim_program *p, const sim_op *op, sim_status *st)
{
    (void)p;
    return sim_checked_ints(op, "exponent_bits", 1, 1, 11, st) ? SIM_OK : st->code;
}

sim_code sim_rule_reduce_precision(sim_run *run, const sim_op *op)
{
    const sim_type *type = sim_result_type(run->program, op, 0);
    const size_t bytes = bn_dtype_bytes(type->dtype);
    const float_format to = {(int)sim_attribute_int(op, "mantissa_bits"),
                             (int)sim_attribute_int(op, "exponent_bits")};
    const char *in = sim_operand(run, op, 0);
    char *out = sim_result(run, op, 0);
    for (size_t i = 0; i < (size_t)sim_type_elements(type); i++) {
        uint64_t bits = 0;
        memcpy(&bits, in + i * bytes, bytes);
        bits = reduced(bits, format_of(type->dtype), to);
        memcpy(out + i * bytes, &bits, bytes);
    }
    return SIM_OK;
}
