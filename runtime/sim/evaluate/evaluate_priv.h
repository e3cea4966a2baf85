/*
 * evaluate_priv.h - what the files of the evaluator share: a run and its values,
 * kernels of elements, walks over strided elements, regions.
 *
 * Each op has a rule that computes its results from its operands, and a check that
 * runs once before the program and refuses what the rule could not do, or could do
 * only by touching memory that is not its own. Rules rely on their checks. Values
 * are dense and row-major. Prefix sim_, room sim only.
 */
#ifndef BENCH_RUNTIME_SIM_EVALUATE_PRIV_H
#define BENCH_RUNTIME_SIM_EVALUATE_PRIV_H

#include "runtime/sim/program/program.h"

/* Elements that are computed at once where they pass through buffers on the stack. */
#define SIM_CHUNK   256
/* Bytes of the largest element. */
#define SIM_ELEMENT 16

/* ---- runs ------------------------------------------------------------------------------ */

typedef struct sim_run {
    const sim_program *program;
    void **values; /* contents of each value of the blocks being run */
    bool *active;  /* functions being called */
    double work, limit;
    int depth; /* of blocks */
    sim_status *st;
} sim_run;

typedef sim_code sim_rule(sim_run *run, const sim_op *op);
typedef sim_code sim_rule_check(const sim_program *p, const sim_op *op, sim_status *st);

static inline const sim_type *sim_operand_type(const sim_program *p, const sim_op *op, int i)
{
    return &p->types[op->operands[i]];
}

static inline const sim_type *sim_result_type(const sim_program *p, const sim_op *op, int i)
{
    return &p->types[op->results[i]];
}

static inline const void *sim_operand(const sim_run *run, const sim_op *op, int i)
{
    return run->values[op->operands[i]];
}

static inline void *sim_result(const sim_run *run, const sim_op *op, int i)
{
    return run->values[op->results[i]];
}

/* Accounts for OPERATIONS element operations; SIM_DEADLINE_EXCEEDED beyond the limit. */
sim_code sim_work(sim_run *run, double operations);
/* SIZE bytes (malloc) or SIM_RESOURCE_EXHAUSTED. */
sim_code sim_memory(sim_run *run, int64_t size, void **memory);
/* Fails with "line N: NAME: " and the message. */
sim_code sim_refuse(const sim_op *op, sim_status *st, sim_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- blocks, in evaluate.c --------------------------------------------------------------- */

/* Memory for the results of all ops of BLOCK; constants are filled. */
sim_code sim_block_begin(sim_run *run, const sim_block *block, void **memory);
/* Runs the ops once; the caller has set the arguments. Results are in run->values. */
sim_code sim_block_run(sim_run *run, const sim_block *block);
/* Gives the memory back, which may be NULL. Each begin that succeeded has its end. */
void sim_block_end(sim_run *run, void *memory);

/* ---- types, in evaluate.c --------------------------------------------------------------- */

/* Elements from one to the next of each dimension. */
void sim_strides(const sim_type *type, int64_t *strides);
/* Steps INDEX through DIMS in row-major order; false after the last. */
bool sim_next_index(int64_t *index, const int64_t *dims, int rank);
/* An attribute of COUNT integers of LOW..HIGH, else a refusal; NULL then. */
const int64_t *sim_checked_ints(const sim_op *op, const char *name, size_t count, int64_t low,
                                int64_t high, sim_status *st);
/* A list of dimensions below RANK, each at most once; its length goes to *COUNT. */
const int64_t *sim_checked_dims(const sim_op *op, const char *name, int rank, size_t *count,
                                sim_status *st);
bool sim_in_list(const int64_t *list, size_t count, int64_t value);

/* ---- kernels, in evaluate_elementwise.c ------------------------------------------------- */

/* Computes N elements of OUT, which may be an operand. */
typedef void sim_kernel(void *out, const void *const *in, int64_t n);

/* The type in which DTYPE is computed: f32 for f16 and bf16. */
sim_dtype sim_wide(sim_dtype dtype);
/* Kernel of a unary or binary op whose operands and result are of one type, or NULL. DTYPE is
 * a type in which is computed. */
sim_kernel *sim_kernel_find(sim_opcode opcode, sim_dtype dtype);
/* Kernel of a compare op, giving one byte an element, or NULL. */
sim_kernel *sim_kernel_compare(const sim_op *op, sim_dtype dtype);
/* As the kernel, for COUNT (at most 3) operands of FROM and a result of TO, which may be f16 or
 * bf16. */
void sim_apply(sim_kernel *kernel, sim_dtype from, sim_dtype to, void *out, const void *const *in,
               int count, int64_t n);

/* ---- conversions, in evaluate_convert.c ------------------------------------------------- */

void sim_convert(sim_dtype to, void *out, sim_dtype from, const void *in, int64_t n);
/* Element I of integers, held to the range of int64. */
int64_t sim_integer_at(sim_dtype dtype, const void *bytes, int64_t i);

/* ---- walks, in evaluate_shape.c --------------------------------------------------------- */

/* Elements of a box, and where they lie on both sides. Strides are in elements. */
typedef struct sim_walk {
    int rank;
    int64_t dims[SIM_MAX_RANK], to[SIM_MAX_RANK], from[SIM_MAX_RANK];
} sim_walk;

/* Copies elements of BYTES; TO and FROM are those of the box's first. WALK is changed. */
void sim_copy(void *to, const void *from, sim_walk *walk, size_t bytes);
/* COUNT copies of one element. */
void sim_fill(void *to, const void *element, int64_t count, size_t bytes);

/* ---- regions, in evaluate_region.c ------------------------------------------------------ */

/*
 * A region that is run once an element. Where it is one op with a kernel, on two of
 * its arguments, the kernel does it; where it gives one of its arguments, nothing is
 * to be done.
 */
typedef struct sim_region {
    sim_run *run;
    const sim_block *block;
    void *memory;
    sim_kernel *kernel;
    sim_opcode opcode; /* with a kernel */
    sim_dtype from, to;
    int left, right; /* arguments of the kernel */
    int argument;    /* that is the one result, or -1 */
    _Alignas(SIM_ELEMENT) char scratch[SIM_ELEMENT];
} sim_region;

sim_code sim_region_begin(sim_run *run, const sim_block *block, sim_region *region);
void sim_region_end(sim_region *region);
/* Runs it on elements. */
sim_code sim_region_call(sim_region *region, void *const *arguments);
const void *sim_region_result(const sim_region *region, int i);
/* Runs it, and brings its results to TARGETS (which may be arguments). */
sim_code sim_region_store(sim_region *region, void *const *arguments, void *const *targets);
/* ACC = region(ACC, X) for N elements, of a region of two arguments and one result. */
sim_code sim_region_combine(sim_region *region, void *acc, void *x, int64_t n);
/* The kernel of a region that may be applied in any order, in its wide type, or NULL. */
sim_kernel *sim_region_fold(const sim_region *region);

/* That REGION's arguments are elements of the types of COUNT VALUES, twice each: all of them
 * and again (PAIRED false), or each beside its double. Results: the same once, or one i1
 * (PREDICATE). */
sim_code sim_can_region(const sim_program *p, const sim_op *op, int region, const int *values,
                        int count, bool paired, bool predicate, sim_status *st);

/* ---- rules ------------------------------------------------------------------------------ */

/* Rules that need no more than a check of their own; named sim_rule_OP, sim_can_OP. */
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

#define X(op, name)                                                                                \
    sim_rule sim_rule_##name;                                                                      \
    sim_rule_check sim_can_##name;
SIM_RULES(X)
#undef X
/* Ops of sim_kernel_find, and abs of complex numbers. */
sim_rule sim_rule_elementwise;
sim_rule_check sim_can_elementwise;

#endif
