/*
 * npy_priv.h - arrays in NumPy's .npy files (NEP 1: magic, version, a header that is a Python
 * literal, then the elements), and their comparison. bf16, which NumPy lacks, is written as
 * uint16 bits; two-byte void, as ml_dtypes writes it, is read too.
 */
#ifndef BENCH_HARNESS_NPY_H
#define BENCH_HARNESS_NPY_H

#include "runtime/pjrt/pjrt.h"

typedef struct worker_npy {
    rt_dtype dtype; /* of the file; RT_U16 may stand for bf16 */
    bool void_bits; /* two-byte void: bf16 */
    size_t rank;
    int64_t dims[RT_MAX_RANK];
    const char *data; /* dense row-major, in the bytes that were parsed */
    size_t size;      /* bytes of it */
} worker_npy;

/*
 * Reads the SIZE bytes at BYTES, the contents of the file NAME, and nothing beyond them. ARRAY
 * points into BYTES. BN_FORMAT says what is damaged; BN_NOT_SUPPORTED names a dtype or an order
 * (Fortran, big-endian) that is not read.
 */
BN_MUST_USE bn_code worker_npy_parse(const char *name, const char *bytes, size_t size,
                                     worker_npy *array, bn_status *st);
/* Writes a version 1.0 file at PATH, which appears whole or not at all. */
BN_MUST_USE bn_code worker_npy_write(const char *path, rt_dtype dtype, size_t rank,
                                     const int64_t *dims, const void *data, bn_status *st);

/* ---- elements (arrays.c) ------------------------------------------------------- */

/* Fills the BYTES at HOST with numbers by the counter rule under NAME: reals from -1 to 1, whole
 * numbers below 8. */
void worker_made_up(rt_dtype dtype, int64_t bytes, const char *name, uint64_t seed, void *host);

/* How two arrays differ: elements beyond |got - want| <= atol + rtol |want|. NaN
 * equals NaN; integers and bool must be the same. */
typedef struct worker_array_difference {
    size_t count, of; /* elements that differ, elements */
    size_t worst;     /* index of the one that differs most */
    double got, want; /* its values; of a complex number the worse part's */
    size_t last;      /* index of the last that differs */
} worker_array_difference;
worker_array_difference worker_arrays_compare(rt_dtype dtype, const void *got, const void *want,
                                              size_t bytes, double rtol, double atol);

#endif
