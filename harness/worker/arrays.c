/*
 * arrays.c - elements of any type: as numbers, made up, and two arrays against each other.
 */
#include "harness/worker/arrays_priv.h"
#include "models/model.h"

#include <math.h>
#include <string.h>

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
        return bn_half_to_double((uint16_t)bits);
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

/* Whether GOT passes for WANT. NaN and infinity have no distance: they must be the same. */
static bool near(double got, double want, double rtol, double atol)
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
    const bool complex = dtype == RT_C64 || dtype == RT_C128;
    const bool real =
        complex || dtype == RT_F64 || dtype == RT_F32 || dtype == RT_F16 || dtype == RT_BF16;
    const size_t size = rt_dtype_bytes(dtype) / (complex ? 2 : 1), parts = complex ? 2 : 1;
    worker_array_difference d = {.of = bytes / size / parts};
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

void worker_made_up(rt_dtype dtype, int64_t bytes, const char *name, uint64_t seed, void *host)
{
    const bool complex = dtype == RT_C64 || dtype == RT_C128;
    const size_t size = rt_dtype_bytes(dtype) / (complex ? 2 : 1);
    const size_t count = (size_t)bytes / size;
    for (size_t i = 0; i < count; i++) {
        const double u = model_unit(name, seed, i), v = 2 * u - 1;
        const float f = (float)v;
        uint64_t bits = dtype == RT_BOOL ? u >= 0.5 : (uint64_t)(8 * u);
        uint32_t narrow;
        memcpy(&narrow, &f, sizeof narrow);
        if (dtype == RT_F64 || dtype == RT_C128)
            memcpy(&bits, &v, sizeof bits);
        else if (dtype == RT_F32 || dtype == RT_C64)
            bits = narrow;
        else if (dtype == RT_BF16)
            bits = narrow >> 16;
        else if (dtype == RT_F16)
            bits = bn_half_from_double(v);
        /* The host is little-endian, as the files are. */
        memcpy((char *)host + i * size, &bits, size);
    }
}
