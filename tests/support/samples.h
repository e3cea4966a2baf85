/*
 * samples.h - applications of ops to small operands, for every row of the op
 * table: what test_ops.c traces, evaluates, runs and differentiates.
 */
#ifndef BENCH_TESTS_SAMPLES_H
#define BENCH_TESTS_SAMPLES_H

#include "runtime/graph/graph.h"

#define SAMPLE_OPERANDS 5

/*
 * Contents are spread evenly over LOW..HIGH in a scrambled order, all distinct
 * and off the whole numbers, so away from kinks and ties; WHOLE asks for whole
 * numbers, so for ties. LOW = HIGH = 0 means a range fit for the dtype.
 */
typedef struct sample_operand {
    tg_type type;
    double low, high;
    bool whole;
} sample_operand;

/* One application. BUILD gives the first result of a node of row OP; it takes
 * what it needs from the fields after it. */
typedef struct sample {
    const char *op;
    size_t count;
    sample_operand in[SAMPLE_OPERANDS];
    double flops;
    /* Where the specification leaves the values to the implementation: the test
     * program that judges them. Such a row has no rule in the evaluator. */
    const char *judged_by;
    tg_tensor *(*build)(tg_trace *t, tg_tensor *const *x, const struct sample *s);
    tg_tensor *(*unary)(tg_trace *t, tg_tensor *x);
    tg_tensor *(*binary)(tg_trace *t, tg_tensor *a, tg_tensor *b);
    tg_tensor *(*reduction)(tg_trace *t, tg_tensor *x, unsigned axes);
    tg_tensor *(*windowed)(tg_trace *t, tg_tensor *x, const tg_window *window);
    tg_type type; /* of the result, where the call wants it */
    double value; /* of a constant; epsilon */
    int64_t list[3][TG_MAX_RANK];
    int number; /* dimension, direction or dtype */
    unsigned axes;
    tg_precision precision;
    tg_window window;
    tg_conv_dims conv;
    tg_dot_dims dot;
} sample;

/* Lists by family, each ended by a NULL op. */
extern const sample samples_elementwise[]; /* samples_elementwise.c */
extern const sample samples_shape[];       /* samples_shape.c */
extern const sample samples_contract[];    /* samples_contract.c */
extern const sample samples_index[];       /* samples_index.c */
extern const sample samples_loop[];        /* samples_loop.c */

/* Sample INDEX over all lists; NULL past the last. */
const sample *sample_at(size_t index);
/* Contents of operand K, as its dtype has them, for all its elements. */
void sample_fill(const sample *s, size_t k, double *contents);

/* TYPE(TG_F32, 2, 3, 4): rank, then dimensions (0 for a scalar). */
#define TYPE(dtype_, rank_, ...)                                                                   \
    {                                                                                              \
        .dims = {__VA_ARGS__}, .rank = (rank_), .dtype = (dtype_)                                  \
    }

#endif
