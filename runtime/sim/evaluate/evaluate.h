/*
 * evaluate.h - the values of a program, computed on the host one op after the other. It
 * is meant for small programs. Prefix sim_.
 */
#ifndef BENCH_RUNTIME_SIM_EVALUATE_H
#define BENCH_RUNTIME_SIM_EVALUATE_H

#include "runtime/sim/program/program.h"

/* SIM_OK when the evaluator can run every op of PROGRAM. Else the message names the first
 * op that it cannot run, with its line. Computes nothing; any thread. */
sim_code sim_program_can_evaluate(const sim_program *program, sim_status *st);

/*
 * Runs @main on ARGUMENTS into RESULTS. Each argument is its dense row-major bytes; for
 * each result the caller gives room for its bytes. Elements of f16 and bf16 are computed
 * in f32 and rounded to nearest even after each op.
 *
 * Errors: those of sim_program_can_evaluate; SIM_DEADLINE_EXCEEDED after LIMIT element
 * operations, so that an endless loop ends; SIM_RESOURCE_EXHAUSTED without memory. What
 * stands in RESULTS is then undefined. Threads may run one program at the same time.
 */
sim_code sim_program_evaluate(const sim_program *program, const void *const *arguments,
                              void *const *results, double limit, sim_status *st);

#endif
