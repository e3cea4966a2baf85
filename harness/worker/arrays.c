/*
 * arrays.c - elements of any type: as numbers, made up, and two arrays compared.
 */
#include "harness/worker/arrays_priv.h"
#include "models/model.h"

#include <math.h>
#include <string.h>

/* ---- floats of 8 bits --------------------------------------------------------------------- */

/* Their formats: the Open Compute Project's "OFP8" (E5M2, E4M3FN) and "MX" (E8M0), and those that
 * LLVM's APFloat adds. IEEE: the highest exponent is of infinity and NaN. FINITE: without infinity,
 * NaN has all bits of exponent and mantissa. FNUZ: the same without negative zero, whose bits are
 * NaN. SCALE: powers of two, without a sign. */
typedef enum f8_kind { F8_IEEE, F8_FINITE, F8_FNUZ, F8_SCALE } f8_kind;
static const struct {
    rt_dtype dtype;
    int mantissa, bias;
    f8_kind kind;
} f8_formats[] = {
    {BN_F8E3M4, 4, 3, F8_IEEE},         {BN_F8E4M3, 3, 7, F8_IEEE},
    {BN_F8E4M3FN, 3, 7, F8_FINITE},     {BN_F8E4M3FNUZ, 3, 8, F8_FNUZ},
    {BN_F8E4M3B11FNUZ, 3, 11, F8_FNUZ}, {BN_F8E5M2, 2, 15, F8_IEEE},
    {BN_F8E5M2FNUZ, 2, 16, F8_FNUZ},    {BN_F8E8M0FNU, 0, 127, F8_SCALE},
};

static double f8_value(rt_dtype dtype, unsigned bits)
{
    size_t f = 0;
    while (f8_formats[f].dtype != dtype)
        f++;
    const int mantissa = f8_formats[f].mantissa, bias = f8_formats[f].bias;
    const f8_kind kind = f8_formats[f].kind;
    if (kind == F8_SCALE)
        return bits == 255 ? (double)NAN : ldexp(1, (int)bits - bias);
    const unsigned size = bits & 127, whole = 1u << mantissa, part = size & (whole - 1);
    const int exponent = (int)(size >> mantissa), highest = 127 >> mantissa;
    const double sign = bits & 128 ? -1 : 1;
    if ((kind == F8_FNUZ && bits == 128) || (kind == F8_FINITE && size == 127))
        return (double)NAN;
    if (kind == F8_IEEE && exponent == highest)
        return part ? (double)NAN : sign * (double)INFINITY;
    return exponent ? sign * ldexp(whole + part, exponent - bias - mantissa)
                    : sign * ldexp(part, 1 - bias - mantissa);
}

/* Bits of the value nearest to VALUE, of VALUES by their bits. */
static unsigned f8_nearest(const double values[256], double value)
{
    unsigned nearest = 0;
    for (unsigned bits = 1; bits < 256; bits++)
        if (fabs(values[bits] - value) < fabs(values[nearest] - value)) /* never so for NaN */
            nearest = bits;
    return nearest;
}

/* ---- elements -------------------------------------------------------------------------------- */

static double value_at(rt_dtype dtype, const char *at)
{
    if (bn_dtype_is_f8(dtype))
        return f8_value(dtype, (unsigned char)*at);
    uint64_t bits = 0;
    uint32_t word;
    float single;
    double real;
    switch (dtype) {
    case BN_F64:
    case BN_C128:
        memcpy(&real, at, sizeof real);
        return real;
    case BN_F32:
    case BN_C64:
        memcpy(&single, at, sizeof single);
        return (double)single;
    case BN_BF16:
        memcpy(&bits, at, 2);
        word = (uint32_t)bits << 16;
        memcpy(&single, &word, sizeof single);
        return (double)single;
    case BN_F16:
        memcpy(&bits, at, 2);
        return bn_half_to_double((uint16_t)bits);
    default:
        break;
    }
    const size_t bytes = bn_dtype_bytes(dtype);
    memcpy(&bits, at, bytes);
    const bool is_signed = bn_dtype_text(dtype)[0] == 'i' && dtype != BN_PRED;
    if (is_signed && bytes < 8 && bits >> (8 * bytes - 1))
        return (double)((int64_t)bits - ((int64_t)1 << (8 * bytes)));
    return is_signed ? (double)(int64_t)bits : (double)bits;
}

/* Whether GOT is close enough to WANT. NaN and infinity have no distance: they must be the same. */
static bool is_close(double got, double want, double rtol, double atol)
{
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    if (isinf(got) || isinf(want))
        return got == want;
    return fabs(got - want) <= atol + rtol * fabs(want);
}

worker_array_difference worker_arrays_compare(rt_dtype dtype, const void *got, const void *want,
                                              size_t bytes, double rtol, double atol)
{
    const bool complex = dtype == BN_C64 || dtype == BN_C128;
    const bool real = complex || dtype == BN_F64 || dtype == BN_F32 || dtype == BN_F16 ||
                      dtype == BN_BF16 || bn_dtype_is_f8(dtype);
    const size_t size = bn_dtype_bytes(dtype) / (complex ? 2 : 1), parts = complex ? 2 : 1;
    worker_array_difference d = {.of = bytes / size / parts};
    double most = -1;
    for (size_t i = 0; i < d.of * parts; i++) {
        const char *a = (const char *)got + i * size, *b = (const char *)want + i * size;
        const double x = value_at(dtype, a), y = value_at(dtype, b);
        if (real ? is_close(x, y, rtol, atol) : memcmp(a, b, size) == 0)
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

void worker_made_up(rt_dtype dtype, int64_t bytes, const char *name, uint64_t seed, void *host)
{
    const bool complex = dtype == BN_C64 || dtype == BN_C128;
    const size_t size = bn_dtype_bytes(dtype) / (complex ? 2 : 1);
    const size_t count = (size_t)bytes / size;
    double values[256];
    unsigned char nearest[512]; /* of the middles of 512 parts from -1 to 1: finer than any f8 */
    for (unsigned b = 0; b < 256 && bn_dtype_is_f8(dtype); b++)
        values[b] = f8_value(dtype, b);
    for (int k = 0; k < 512 && bn_dtype_is_f8(dtype); k++)
        nearest[k] = (unsigned char)f8_nearest(values, (k + 0.5) / 256 - 1);
    for (size_t i = 0; i < count; i++) {
        const double u = model_unit(name, seed, i), v = 2 * u - 1;
        const float f = (float)v;
        uint64_t bits = dtype == BN_PRED ? u >= 0.5 : (uint64_t)(8 * u);
        uint32_t narrow;
        memcpy(&narrow, &f, sizeof narrow);
        if (dtype == BN_F64 || dtype == BN_C128)
            memcpy(&bits, &v, sizeof bits);
        else if (dtype == BN_F32 || dtype == BN_C64)
            bits = narrow;
        else if (dtype == BN_BF16)
            bits = narrow >> 16;
        else if (dtype == BN_F16)
            bits = bn_half_from_double(v);
        else if (bn_dtype_is_f8(dtype))
            bits = nearest[(int)(u * 512)];
        /* The host is little-endian, as the files are. */
        memcpy((char *)host + i * size, &bits, size);
    }
}
