/*
 * parse_check.h - whether an op fits its operands, results and attributes, so that cost
 * and evaluation can index by them. parse_emit.c has the table that says which check
 * belongs to which op.
 *
 * The rules are the constraints of the StableHLO specification for the op of the same
 * name, without promotion of element types.
 */
#ifndef BENCH_RUNTIME_SIM_PARSE_CHECK_H
#define BENCH_RUNTIME_SIM_PARSE_CHECK_H

#include "runtime/sim/program/parse_reader.h"

/*
 * Checks OP, which stands at AT. It has its operands, attributes and regions, the number
 * of operands and regions that the tables want, and results whose types the text states.
 * False and an error where they do not fit.
 */
typedef bool sim_check(sim_reader *r, const char *at, const sim_op *op);

/* ---- what checks share (parse_check.c) ------------------------------------------------------ */

/* The error "NAME: message" for OP; returns false. */
bool sim_check_fail(sim_reader *r, const char *at, const sim_op *op, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const sim_type *sim_check_operand(const sim_reader *r, const sim_op *op, int index);
const sim_type *sim_check_result(const sim_reader *r, const sim_op *op, int index);
/* Whether LIST names dimensions below RANK, each at most once. */
bool sim_check_dims(const sim_attribute *list, int rank);
/* HAVE must be the type WANT. */
bool sim_check_types(sim_reader *r, const char *at, const sim_op *op, const sim_type *have,
                     const sim_type *want);
/* Whether VALUE is a scalar of DTYPE. */
bool sim_check_scalar(const sim_reader *r, int value, bn_dtype dtype);
/* REGION must take two scalars of each of the first COUNT operands' element types, and
 * give one of each. */
bool sim_check_reducer(sim_reader *r, const char *at, const sim_op *op, int region, int count);
/* How many windows of SIZE fit; -1: overflow, or something is below 1. */
int64_t sim_window_places(int64_t n, int64_t base_dilation, int64_t low, int64_t high, int64_t size,
                          int64_t dilation, int64_t stride);

/* ---- checks of ops --------------------------------------------------------------------------- */

/* parse_check_plain.c: ops without regions and dimension numbers. */
sim_check sim_check_elementwise, sim_check_converting, sim_check_complex, sim_check_compare,
    sim_check_select, sim_check_clamp, sim_check_reduce_precision, sim_check_broadcast,
    sim_check_reshape, sim_check_bitcast, sim_check_iota, sim_check_transpose, sim_check_reverse,
    sim_check_slice, sim_check_dynamic_slice, sim_check_dynamic_update, sim_check_pad,
    sim_check_concatenate, sim_check_fft, sim_check_random, sim_check_barrier, sim_check_tuple,
    sim_check_nothing;
/* parse_check_dims.c: dimension numbers. */
sim_check sim_check_dot, sim_check_convolution, sim_check_gather, sim_check_scatter;
/* parse_check_region.c: regions. */
sim_check sim_check_reduce, sim_check_window, sim_check_select_scatter, sim_check_sort,
    sim_check_while, sim_check_branches;

#endif
