/*
 * evaluate_check.h - what the checks of ops share: refusals, and attributes that are
 * looked at before a rule relies on them.
 */
#ifndef BENCH_RUNTIME_SIM_EVALUATE_CHECK_H
#define BENCH_RUNTIME_SIM_EVALUATE_CHECK_H

#include "runtime/sim/program/program.h"

/* Fails with CODE, "line N: NAME: " and the message; returns CODE. */
sim_code sim_refuse(const sim_op *op, sim_status *st, sim_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* An attribute of COUNT integers of LOW..HIGH; never NULL then, even of none. Else NULL and a
 * refusal. */
const int64_t *sim_checked_ints(const sim_op *op, const char *name, size_t count, int64_t low,
                                int64_t high, sim_status *st);
bool sim_in_list(const int64_t *list, size_t count, int64_t value);

#endif
