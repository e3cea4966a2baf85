/*
 * evaluate_rules.h - the rule of each op, and the check of some: sim_rule_NAME and sim_can_NAME, in
 * the file of their family. Only evaluate_rules.c, which has the table, calls them. That types,
 * attributes and regions fit each other the reader has checked (parse_check.h).
 */
#ifndef BENCH_RUNTIME_SIM_EVALUATE_RULES_H
#define BENCH_RUNTIME_SIM_EVALUATE_RULES_H

#include "runtime/sim/evaluate/evaluate_check.h"
#include "runtime/sim/evaluate/evaluate_run.h"

/* By the table, for any op. */
sim_rule sim_rule_any;
sim_rule_check sim_can_any;

/* Op, and the name of its rule. */
#define SIM_RULES(X)                                                                               \
    X(BITCAST_CONVERT, bitcast_convert)                                                            \
    X(BROADCAST_IN_DIM, broadcast_in_dim)                                                          \
    X(CALL, call)                                                                                  \
    X(CASE, case)                                                                                  \
    X(CLAMP, clamp)                                                                                \
    X(COMPARE, compare)                                                                            \
    X(COMPLEX, complex)                                                                            \
    X(CONCATENATE, concatenate)                                                                    \
    X(CONSTANT, constant)                                                                          \
    X(CONVERT, convert)                                                                            \
    X(CONVOLUTION, convolution)                                                                    \
    X(CUSTOM_CALL, custom_call)                                                                    \
    X(DOT_GENERAL, dot_general)                                                                    \
    X(DYNAMIC_SLICE, dynamic_slice)                                                                \
    X(DYNAMIC_UPDATE_SLICE, dynamic_update_slice)                                                  \
    X(GATHER, gather)                                                                              \
    X(IF, if)                                                                                      \
    X(IMAG, part)                                                                                  \
    X(IOTA, iota)                                                                                  \
    X(IS_FINITE, is_finite)                                                                        \
    X(OPTIMIZATION_BARRIER, optimization_barrier)                                                  \
    X(PAD, pad)                                                                                    \
    X(REAL, part)                                                                                  \
    X(REDUCE, reduce)                                                                              \
    X(REDUCE_PRECISION, reduce_precision)                                                          \
    X(REDUCE_WINDOW, reduce_window)                                                                \
    X(RESHAPE, reshape)                                                                            \
    X(REVERSE, reverse)                                                                            \
    X(RNG_BIT_GENERATOR, rng_bit_generator)                                                        \
    X(SCATTER, scatter)                                                                            \
    X(SELECT, select)                                                                              \
    X(SELECT_AND_SCATTER, select_and_scatter)                                                      \
    X(SLICE, slice)                                                                                \
    X(SORT, sort)                                                                                  \
    X(TRANSPOSE, transpose)                                                                        \
    X(WHILE, while)

/* Those that the evaluator cannot run on all that the reader lets pass: not on each element type,
 * or not as large. */
#define SIM_RULE_CHECKS(X)                                                                         \
    X(CLAMP, clamp)                                                                                \
    X(COMPARE, compare)                                                                            \
    X(CONVOLUTION, convolution)                                                                    \
    X(CUSTOM_CALL, custom_call)                                                                    \
    X(DOT_GENERAL, dot_general)                                                                    \
    X(PAD, pad)                                                                                    \
    X(REDUCE, reduce)                                                                              \
    X(REDUCE_PRECISION, reduce_precision)                                                          \
    X(REDUCE_WINDOW, reduce_window)                                                                \
    X(RNG_BIT_GENERATOR, rng_bit_generator)                                                        \
    X(SCATTER, scatter)                                                                            \
    X(SELECT_AND_SCATTER, select_and_scatter)                                                      \
    X(SORT, sort)

#define X(op, name) sim_rule sim_rule_##name;
SIM_RULES(X)
#undef X
#define X(op, name) sim_rule_check sim_can_##name;
SIM_RULE_CHECKS(X)
#undef X
/* Ops of sim_kernel_find, and abs of complex numbers. */
sim_rule sim_rule_elementwise;
sim_rule_check sim_can_elementwise;

#endif
