/*
 * evaluate_kernels.h - arithmetic on elements that lie side by side, and their conversion.
 */
#ifndef BENCH_RUNTIME_SIM_EVALUATE_KERNELS_H
#define BENCH_RUNTIME_SIM_EVALUATE_KERNELS_H

#include "runtime/sim/program/program.h"

/* Elements that are computed at once where they pass through buffers on the stack. */
#define SIM_CHUNK   256
/* Bytes of the largest element. */
#define SIM_ELEMENT 16

/* Computes N elements of OUT from those at the same places of each of IN, one after the
 * other. OUT may be one of IN. Cannot fail; any thread. */
typedef void sim_kernel(void *out, const void *const *in, int64_t n);

/* The type in which DTYPE is computed: f32 for f16 and bf16. */
bn_dtype sim_wide(bn_dtype dtype);
/* Kernel of a unary or binary op whose operands and result are of one type, or NULL. DTYPE is
 * one that sim_wide gives. */
sim_kernel *sim_kernel_find(sim_opcode opcode, bn_dtype dtype);
/* Kernel of a compare op, giving one byte an element, or NULL. */
sim_kernel *sim_kernel_compare(const sim_op *op, bn_dtype dtype);
/* Applies KERNEL to N elements of COUNT (at most 3) operands of FROM. FROM and the result's type
 * TO may be f16 or bf16; KERNEL is that of their wide type. */
void sim_apply(sim_kernel *kernel, bn_dtype from, bn_dtype to, void *out, const void *const *in,
               int count, int64_t n);

/* ---- conversions, in evaluate_convert.c ------------------------------------------------- */

/* N elements of FROM at IN become elements of TO at OUT, as the op convert has it. */
void sim_convert(bn_dtype to, void *out, bn_dtype from, const void *in, int64_t n);
/* Element I of integers, held to the range of int64. */
int64_t sim_integer_at(bn_dtype dtype, const void *bytes, int64_t i);

#endif
