/*
 * evaluate_walk.h - elements that are moved without a look at them: boxes of elements with
 * a stride for each dimension on both sides.
 */
#ifndef BENCH_RUNTIME_SIM_EVALUATE_WALK_H
#define BENCH_RUNTIME_SIM_EVALUATE_WALK_H

#include "runtime/sim/program/program.h"

/* Elements from one to the next of each dimension of a dense TYPE. */
void sim_strides(const sim_type *type, int64_t *strides);
/* Steps INDEX through DIMS in row-major order; false after the last. */
bool sim_next_index(int64_t *index, const int64_t *dims, int rank);

/* Elements of a box, and where they lie on both sides. Strides are in elements. */
typedef struct sim_walk {
    int rank;
    int64_t dims[SIM_MAX_RANK], to[SIM_MAX_RANK], from[SIM_MAX_RANK];
} sim_walk;

/* Copies elements of BYTES; TO and FROM are those of the box's first. WALK is changed. */
void sim_copy(void *to, const void *from, sim_walk *walk, size_t bytes);
/* COUNT copies of one element of BYTES. */
void sim_fill(void *to, const void *element, int64_t count, size_t bytes);

#endif
