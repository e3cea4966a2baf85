/*
 * npy.h - NumPy's .npy files (NEP 1: magic, version, a header that is a Python literal, then the
 * elements). Prefix rt_npy_.
 *
 * bf16, which NumPy lacks, is written as uint16 bits; two-byte void, as ml_dtypes writes it, is
 * read too.
 */
#ifndef BENCH_RUNTIME_PJRT_NPY_H
#define BENCH_RUNTIME_PJRT_NPY_H

#include "runtime/pjrt/pjrt.h"

typedef struct rt_npy {
    rt_dtype dtype; /* of the file; BN_U16 may stand for bf16 */
    bool void_bits; /* two-byte void: bf16 */
    size_t rank;
    int64_t dims[RT_MAX_RANK];
    const char *data; /* dense row-major, in the bytes that were parsed */
    size_t size;      /* bytes of it */
} rt_npy;

/*
 * Reads the SIZE bytes at BYTES, the contents of the file NAME, and nothing beyond them. ARRAY
 * points into BYTES. BN_FORMAT says what is damaged; BN_NOT_SUPPORTED names a dtype or an order
 * (Fortran, big-endian) that is not read.
 */
BN_MUST_USE bn_code rt_npy_parse(const char *name, const char *bytes, size_t size, rt_npy *array,
                                 bn_status *st);
/* Writes a version 1.0 file at PATH, which appears whole or not at all. */
BN_MUST_USE bn_code rt_npy_write(const char *path, rt_dtype dtype, size_t rank, const int64_t *dims,
                                 const void *data, bn_status *st);

#endif
