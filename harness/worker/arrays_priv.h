/*
 * arrays_priv.h - elements of arrays: made up, and compared.
 */
#ifndef BENCH_HARNESS_ARRAYS_H
#define BENCH_HARNESS_ARRAYS_H

#include "runtime/pjrt/pjrt.h"

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
