/*
 * evaluator.h - runs a trace on the host, naively and in double: the judge of
 * the ops' type rules, lowerings and gradients. Tests only.
 *
 * Each op is evaluated from its definition (StableHLO specification), one
 * element after the other, without regard to speed. Contents of every dtype are
 * doubles; i64 and ui64 are exact up to 2^53.
 */
#ifndef BENCH_TESTS_EVALUATOR_H
#define BENCH_TESTS_EVALUATOR_H

#include "runtime/graph/graph_priv.h"

typedef struct evaluation evaluation;

/*
 * Contents for the trace's values. With ROUNDED the result of each node is
 * brought to its dtype, as a device does; without, floats stay doubles, so that
 * differences of nearby points mean something. Integers and bool are always
 * brought to their dtype. NULL without memory.
 */
evaluation *evaluation_new(const tg_trace *trace, bool rounded);
void evaluation_free(evaluation *e);
/* Contents of a variable that the trace uses; CONTENTS is not copied. */
void evaluation_set(evaluation *e, const tg_tensor *variable, const double *contents);
/* Evaluates all nodes. On failure the op that has no rule here, else NULL. */
const char *evaluation_run(evaluation *e);
/* Whether the evaluator has a rule for the row OP. */
bool evaluator_knows(const char *op);
const double *evaluation_value(const evaluation *e, const tg_tensor *value);

/* VALUE as DTYPE has it. */
double evaluator_round(tg_dtype dtype, double value);
/* COUNT elements to and from the bytes that a device keeps. */
void evaluator_pack(tg_dtype dtype, const double *from, void *to, int64_t count);
void evaluator_unpack(tg_dtype dtype, const void *from, double *to, int64_t count);

/* ---- rules, for the evaluator's own files --------------------------------- */

/* Computes OUT[result] of NODE from IN[operand]. Loops have no such rule: evaluator.c runs them. */
typedef void evaluator_rule(const tg_node *node, const double *const *in, double *const *out);

typedef struct evaluator_row {
    const char *op;
    evaluator_rule *rule;
} evaluator_row;

/* Ended by a NULL op. */
extern const evaluator_row evaluator_simple_rows[];   /* evaluate_simple.c */
extern const evaluator_row evaluator_contract_rows[]; /* evaluate_contract.c */
extern const evaluator_row evaluator_index_rows[];    /* evaluate_index.c */

/* Steps INDEX through DIMS in row-major order; false after the last. */
bool evaluator_next(int64_t *index, const int64_t *dims, int32_t rank);
/* Where the element at INDEX lies in a dense tensor of TYPE. */
int64_t evaluator_place(const tg_type *type, const int64_t *index);

#endif
