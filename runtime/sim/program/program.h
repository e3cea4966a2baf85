/*
 * program.h - a StableHLO program as the simulator holds it. This room reads it from
 * text; room cost weighs it, room evaluate computes it, room device runs it.
 *
 * A program owns all its parts. Nothing in it changes after it was read, so threads may share it.
 * Values (results of ops, arguments of functions and regions) are numbers: places in the program's
 * table of types.
 *
 * Also here, because all rooms of the simulator use them: status codes and half-width floats.
 * Source of names and meanings: the StableHLO specification of openxla/stablehlo. Prefix sim_.
 */
#ifndef BENCH_RUNTIME_SIM_PROGRAM_H
#define BENCH_RUNTIME_SIM_PROGRAM_H

#include "runtime/base/dtypes.h"
#include "runtime/stablehlo/tokens.h"

#define SIM_MAX_RANK SHLO_MOST_RANK

/* ---- errors ------------------------------------------------------------------------ */

/* Codes are those of PJRT_Error_Code; the header of PJRT is not needed here. */
typedef enum sim_code {
    SIM_OK = 0,
    SIM_CANCELLED = 1,
    SIM_UNKNOWN = 2,
    SIM_INVALID_ARGUMENT = 3,
    SIM_DEADLINE_EXCEEDED = 4,
    SIM_NOT_FOUND = 5,
    SIM_RESOURCE_EXHAUSTED = 8,
    SIM_FAILED_PRECONDITION = 9,
    SIM_ABORTED = 10,
    SIM_UNIMPLEMENTED = 12,
    SIM_INTERNAL = 13,
    SIM_UNAVAILABLE = 14
} sim_code;

/* The longest message lists the names of all settings. */
#define SIM_MESSAGE_BYTES 768

typedef struct sim_status {
    sim_code code;
    char message[SIM_MESSAGE_BYTES];
} sim_status;

/* Fills *ST, which must not be NULL, and returns CODE. A longer message is cut. */
sim_code sim_fail(sim_status *st, sim_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- types ------------------------------------------------------------------------- */

typedef struct sim_type {
    bn_dtype dtype;
    int rank;
    int64_t dims[SIM_MAX_RANK];
} sim_type;

/* The reader refuses types whose bytes do not fit 2^62, so these cannot overflow. */
int64_t sim_type_elements(const sim_type *type);
int64_t sim_type_bytes(const sim_type *type);
/* Whether rank and dimensions are the same; with _equals also the element type. */
bool sim_type_same_shape(const sim_type *a, const sim_type *b);
bool sim_type_equals(const sim_type *a, const sim_type *b);

/* ---- half-width floats (half.c) ----------------------------------------------------------- */

/*
 * N elements between a half-width type HALF, BN_F16 or BN_BF16, and float or double.
 * Values are rounded once, to nearest even, and overflow to infinity. A NaN
 * stays a NaN of the same sign. IN and OUT must not overlap.
 */
void sim_half_to_float(bn_dtype half, const uint16_t *in, float *out, int64_t n);
void sim_half_to_double(bn_dtype half, const uint16_t *in, double *out, int64_t n);
void sim_half_from_float(bn_dtype half, const float *in, uint16_t *out, int64_t n);
void sim_half_from_double(bn_dtype half, const double *in, uint16_t *out, int64_t n);

/* ---- ops --------------------------------------------------------------------------- */

/* Cost of an op, as room cost counts it. */
typedef enum sim_cost_class {
    SIM_FREE,           /* constants, tuples of values: nothing */
    SIM_ELEMENTWISE,    /* one operation a result element, fused into its users */
    SIM_TRANSCENDENTAL, /* the same, with its own count (exp, log, tanh, ...) */
    SIM_SHAPE,          /* moves nothing when fused: broadcast, reshape, iota, convert */
    SIM_DATA,           /* moves data: transpose, slice, pad, concatenate, gather, ... */
    SIM_REDUCTION,      /* one operation an operand element and reducer op */
    SIM_WINDOW,         /* one operation a result element and window position */
    SIM_DOT,
    SIM_CONVOLUTION,
    SIM_SORT,    /* n log2 n comparisons */
    SIM_SCATTER, /* one operation an update element */
    SIM_RANDOM,  /* a stated count of operations an element */
    SIM_FFT,     /* 5 n log2 n */
    SIM_CONTROL  /* while, if, case, call: by their regions */
} sim_cost_class;

/*
 * The ops that the reader knows: enum, name behind "stablehlo." (call is
 * "func.call"), operands (-1: any number), cost class. An op that is not here
 * is refused by name.
 */
#define SIM_OPS(X)                                                                                 \
    X(ABS, "abs", 1, SIM_ELEMENTWISE)                                                              \
    X(ADD, "add", 2, SIM_ELEMENTWISE)                                                              \
    X(AND, "and", 2, SIM_ELEMENTWISE)                                                              \
    X(ATAN2, "atan2", 2, SIM_TRANSCENDENTAL)                                                       \
    X(BITCAST_CONVERT, "bitcast_convert", 1, SIM_SHAPE)                                            \
    X(BROADCAST_IN_DIM, "broadcast_in_dim", 1, SIM_SHAPE)                                          \
    X(CALL, "call", -1, SIM_CONTROL)                                                               \
    X(CASE, "case", 1, SIM_CONTROL)                                                                \
    X(CBRT, "cbrt", 1, SIM_TRANSCENDENTAL)                                                         \
    X(CEIL, "ceil", 1, SIM_ELEMENTWISE)                                                            \
    X(CLAMP, "clamp", 3, SIM_ELEMENTWISE)                                                          \
    X(COMPARE, "compare", 2, SIM_ELEMENTWISE)                                                      \
    X(COMPLEX, "complex", 2, SIM_ELEMENTWISE)                                                      \
    X(CONCATENATE, "concatenate", -1, SIM_DATA)                                                    \
    X(CONSTANT, "constant", 0, SIM_FREE)                                                           \
    X(CONVERT, "convert", 1, SIM_SHAPE)                                                            \
    X(CONVOLUTION, "convolution", 2, SIM_CONVOLUTION)                                              \
    X(COSINE, "cosine", 1, SIM_TRANSCENDENTAL)                                                     \
    X(COUNT_LEADING_ZEROS, "count_leading_zeros", 1, SIM_ELEMENTWISE)                              \
    X(CUSTOM_CALL, "custom_call", -1, SIM_DATA)                                                    \
    X(DIVIDE, "divide", 2, SIM_ELEMENTWISE)                                                        \
    X(DOT_GENERAL, "dot_general", 2, SIM_DOT)                                                      \
    X(DYNAMIC_SLICE, "dynamic_slice", -1, SIM_DATA)                                                \
    X(DYNAMIC_UPDATE_SLICE, "dynamic_update_slice", -1, SIM_DATA)                                  \
    X(ERF, "erf", 1, SIM_TRANSCENDENTAL) /* chlo.erf */                                            \
    X(EXPONENTIAL, "exponential", 1, SIM_TRANSCENDENTAL)                                           \
    X(EXPONENTIAL_MINUS_ONE, "exponential_minus_one", 1, SIM_TRANSCENDENTAL)                       \
    X(FFT, "fft", 1, SIM_FFT)                                                                      \
    X(FLOOR, "floor", 1, SIM_ELEMENTWISE)                                                          \
    X(GATHER, "gather", 2, SIM_DATA)                                                               \
    X(GET_TUPLE_ELEMENT, "get_tuple_element", 1, SIM_FREE)                                         \
    X(IF, "if", 1, SIM_CONTROL)                                                                    \
    X(IMAG, "imag", 1, SIM_ELEMENTWISE)                                                            \
    X(IOTA, "iota", 0, SIM_SHAPE)                                                                  \
    X(IS_FINITE, "is_finite", 1, SIM_ELEMENTWISE)                                                  \
    X(LOG, "log", 1, SIM_TRANSCENDENTAL)                                                           \
    X(LOG_PLUS_ONE, "log_plus_one", 1, SIM_TRANSCENDENTAL)                                         \
    X(LOGISTIC, "logistic", 1, SIM_TRANSCENDENTAL)                                                 \
    X(MAXIMUM, "maximum", 2, SIM_ELEMENTWISE)                                                      \
    X(MINIMUM, "minimum", 2, SIM_ELEMENTWISE)                                                      \
    X(MULTIPLY, "multiply", 2, SIM_ELEMENTWISE)                                                    \
    X(NEGATE, "negate", 1, SIM_ELEMENTWISE)                                                        \
    X(NOT, "not", 1, SIM_ELEMENTWISE)                                                              \
    X(OPTIMIZATION_BARRIER, "optimization_barrier", -1, SIM_FREE)                                  \
    X(OR, "or", 2, SIM_ELEMENTWISE)                                                                \
    X(PAD, "pad", 2, SIM_DATA)                                                                     \
    X(POPCNT, "popcnt", 1, SIM_ELEMENTWISE)                                                        \
    X(POWER, "power", 2, SIM_TRANSCENDENTAL)                                                       \
    X(REAL, "real", 1, SIM_ELEMENTWISE)                                                            \
    X(REDUCE, "reduce", -1, SIM_REDUCTION)                                                         \
    X(REDUCE_PRECISION, "reduce_precision", 1, SIM_ELEMENTWISE)                                    \
    X(REDUCE_WINDOW, "reduce_window", -1, SIM_WINDOW)                                              \
    X(REMAINDER, "remainder", 2, SIM_ELEMENTWISE)                                                  \
    X(RESHAPE, "reshape", 1, SIM_SHAPE)                                                            \
    X(REVERSE, "reverse", 1, SIM_DATA)                                                             \
    X(RNG_BIT_GENERATOR, "rng_bit_generator", 1, SIM_RANDOM)                                       \
    X(ROUND_NEAREST_AFZ, "round_nearest_afz", 1, SIM_ELEMENTWISE)                                  \
    X(ROUND_NEAREST_EVEN, "round_nearest_even", 1, SIM_ELEMENTWISE)                                \
    X(RSQRT, "rsqrt", 1, SIM_TRANSCENDENTAL)                                                       \
    X(SCATTER, "scatter", -1, SIM_SCATTER)                                                         \
    X(SELECT, "select", 3, SIM_ELEMENTWISE)                                                        \
    X(SELECT_AND_SCATTER, "select_and_scatter", 3, SIM_WINDOW)                                     \
    X(SHIFT_LEFT, "shift_left", 2, SIM_ELEMENTWISE)                                                \
    X(SHIFT_RIGHT_ARITHMETIC, "shift_right_arithmetic", 2, SIM_ELEMENTWISE)                        \
    X(SHIFT_RIGHT_LOGICAL, "shift_right_logical", 2, SIM_ELEMENTWISE)                              \
    X(SIGN, "sign", 1, SIM_ELEMENTWISE)                                                            \
    X(SINE, "sine", 1, SIM_TRANSCENDENTAL)                                                         \
    X(SLICE, "slice", 1, SIM_DATA)                                                                 \
    X(SORT, "sort", -1, SIM_SORT)                                                                  \
    X(SQRT, "sqrt", 1, SIM_TRANSCENDENTAL)                                                         \
    X(SUBTRACT, "subtract", 2, SIM_ELEMENTWISE)                                                    \
    X(TAN, "tan", 1, SIM_TRANSCENDENTAL)                                                           \
    X(TANH, "tanh", 1, SIM_TRANSCENDENTAL)                                                         \
    X(TRANSPOSE, "transpose", 1, SIM_DATA)                                                         \
    X(TUPLE, "tuple", -1, SIM_FREE)                                                                \
    X(WHILE, "while", -1, SIM_CONTROL)                                                             \
    X(XOR, "xor", 2, SIM_ELEMENTWISE)

typedef enum sim_opcode {
#define X(op, name, operands, cost) SIM_OP_##op,
    SIM_OPS(X)
#undef X
        SIM_OP_COUNT
} sim_opcode;

const char *sim_op_name(sim_opcode opcode);
int sim_op_operands(sim_opcode opcode); /* -1: any number */
sim_cost_class sim_op_cost_class(sim_opcode opcode);

/*
 * Attributes have one name and one form whichever way the text wrote them (pretty
 * or generic, "array<i64: 1, 2>" or "dense<[1, 2]> : tensor<2xi64>" or "dims = [1]"):
 * lists of integers, or a word. Defaults that the specification gives are filled in,
 * so the evaluator and the costs need not know them. Booleans are 0 and 1.
 *
 *   broadcast_in_dim   broadcast_dimensions
 *   compare            comparison_direction (word: EQ NE GE GT LE LT)
 *                      compare_type (word: FLOAT TOTALORDER SIGNED UNSIGNED, or "")
 *   concatenate iota   dimension / iota_dimension
 *   convolution        input_batch_dimension input_feature_dimension
 *                      input_spatial_dimensions kernel_input_feature_dimension
 *                      kernel_output_feature_dimension kernel_spatial_dimensions
 *                      output_batch_dimension output_feature_dimension
 *                      output_spatial_dimensions window_strides padding (low, high a
 *                      dimension) lhs_dilation rhs_dilation window_reversal
 *                      feature_group_count batch_group_count
 *   custom_call        call_target_name (word)
 *   dot_general        lhs_batching_dimensions rhs_batching_dimensions
 *                      lhs_contracting_dimensions rhs_contracting_dimensions
 *   dynamic_slice      slice_sizes
 *   fft                fft_type (word) fft_length
 *   gather             offset_dims collapsed_slice_dims operand_batching_dims
 *                      start_indices_batching_dims start_index_map index_vector_dim
 *                      slice_sizes
 *   get_tuple_element  index
 *   pad                edge_padding_low edge_padding_high interior_padding
 *   reduce             dimensions
 *   reduce_precision   exponent_bits mantissa_bits
 *   reduce_window      window_dimensions window_strides base_dilations
 *                      window_dilations padding
 *   reverse            dimensions
 *   rng_bit_generator  rng_algorithm (word)
 *   scatter            update_window_dims inserted_window_dims input_batching_dims
 *                      scatter_indices_batching_dims scatter_dims_to_operand_dims
 *                      index_vector_dim
 *   select_and_scatter window_dimensions window_strides padding
 *   slice              start_indices limit_indices strides
 *   sort               dimension is_stable
 *   transpose          permutation
 *
 * Others (precision, sharding, indices_are_sorted, ...) are skipped.
 */
typedef struct sim_attribute {
    const char *name;
    const char *word;    /* NULL: integers */
    const int64_t *ints; /* NULL: a word */
    size_t count;
} sim_attribute;

struct sim_block;
struct sim_function;

typedef struct sim_op {
    sim_opcode opcode;
    int line;          /* in the text, from 1 */
    const char *place; /* "backward/layer1.conv/add" of loc("..."); "": another loc, or none */
    int operand_count, result_count;
    const int *operands, *results; /* values; those of a result are neighbours */
    const sim_attribute *attributes;
    size_t attribute_count;
    /* while: condition, body. if: true, false. case: branches. reduce, reduce_window,
     * scatter, sort: one. select_and_scatter: select, scatter. The "applies" form of
     * reduce is given its region. */
    const struct sim_block *regions;
    int region_count;
    /* constant: its elements as the device holds them, dense in row-major order, or one
     * element that stands for all (CONSTANT_BYTES is then the bytes of one). */
    const void *constant;
    size_t constant_bytes;
    const struct sim_function *callee; /* call */
} sim_op;

/* A region, or the body of a function: its one block. */
typedef struct sim_block {
    int argument_count, result_count;
    const int *arguments;
    const int *results; /* what its return names */
    const sim_op *ops;
    int op_count;
} sim_block;

/* The order of a value's dimensions in memory, the most minor first. Values are computed without
 * it: the program asks it of its caller, and a buffer reports it. */
typedef struct sim_layout {
    int rank; /* 0: by rows */
    unsigned char order[SIM_MAX_RANK];
} sim_layout;
/* "{0,1}"; by rows for what is none ("default", "auto"). */
sim_layout sim_layout_read(const char *text, size_t length);
/* The same of RANK numbers; false where they are no order. */
bool sim_layout_take(const int64_t *order, size_t rank, sim_layout *layout);
bool sim_layout_equals(const sim_layout *a, const sim_layout *b);

typedef struct sim_argument {
    int alias;         /* result whose memory it gives (tf.aliasing_output), or -1 */
    bool donor;        /* jax.buffer_donor */
    sim_layout layout; /* mhlo.layout_mode */
} sim_argument;

typedef struct sim_function {
    const char *name;
    sim_block body;
    const sim_argument *arguments; /* body.argument_count of them */
    const sim_layout *results;     /* how each result is to lie: body.result_count of them */
} sim_function;

typedef struct sim_program {
    const char *name;      /* of the module, "" without */
    const sim_type *types; /* of each value */
    int value_count;
    const sim_function *functions;
    int function_count;
    const sim_function *main; /* @main, the only one or the public one */
    struct bn_arena *memory;  /* of all but the types */
} sim_program;

/*
 * Reads LENGTH bytes of TEXT into a new program, which sim_program_free frees. Any bytes
 * are safe, and a zero byte at the end is not needed. TEXT may go away afterwards.
 *
 * Errors: SIM_INVALID_ARGUMENT for text that is not StableHLO, SIM_UNIMPLEMENTED for ops
 * and types that the simulator does not know, SIM_RESOURCE_EXHAUSTED for too long a text. The
 * message begins "LINE:COLUMN: " and says what was found; *PROGRAM is then NULL.
 *
 * The program has the types that the text states. The reader checks that ops fit their
 * operands wherever cost and evaluation rely on it: ranks, counts and bounds of
 * attributes, dimension numbers, arguments of regions.
 */
sim_code sim_program_read(const char *text, size_t length, sim_program **program, sim_status *st);
void sim_program_free(sim_program *program); /* NULL allowed */

/* The attribute of OP called NAME. Never NULL for the names listed above for its opcode. */
const sim_attribute *sim_attribute_find(const sim_op *op, const char *name);
/* First integer of the attribute, 0 where it has none. */
int64_t sim_attribute_int(const sim_op *op, const char *name);

#endif
