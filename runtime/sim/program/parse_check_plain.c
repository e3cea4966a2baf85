/* parse_check_plain.c - checks of element-wise ops, ops on shapes, ops that move data, and a few
 * others: all that have neither regions nor dimension numbers. See parse_check.h. */
#include "runtime/sim/program/parse_check.h"

#include <string.h>

/* ---- element-wise ---------------------------------------------------------------------- */

enum { B = 1 << BN_BOOLEAN, S = 1 << BN_SIGNED, U = 1 << BN_UNSIGNED };
enum { F = 1 << BN_FLOAT, C = 1 << BN_COMPLEX, INTS = S | U, NUMBERS = S | U | F | C };

/* Classes of element types that an op takes; 0: all. */
static const unsigned char classes[SIM_OP_COUNT] = {
    [SIM_OP_ABS] = S | F | C,
    [SIM_OP_AND] = B | INTS,
    [SIM_OP_ATAN2] = F | C,
    [SIM_OP_CBRT] = F | C,
    [SIM_OP_CEIL] = F,
    [SIM_OP_COSINE] = F | C,
    [SIM_OP_COUNT_LEADING_ZEROS] = INTS,
    [SIM_OP_DIVIDE] = NUMBERS,
    [SIM_OP_ERF] = F,
    [SIM_OP_EXPONENTIAL] = F | C,
    [SIM_OP_EXPONENTIAL_MINUS_ONE] = F | C,
    [SIM_OP_FLOOR] = F,
    [SIM_OP_IS_FINITE] = F,
    [SIM_OP_LOG] = F | C,
    [SIM_OP_LOG_PLUS_ONE] = F | C,
    [SIM_OP_LOGISTIC] = F | C,
    [SIM_OP_NEGATE] = NUMBERS,
    [SIM_OP_NOT] = B | INTS,
    [SIM_OP_OR] = B | INTS,
    [SIM_OP_POPCNT] = INTS,
    [SIM_OP_POWER] = NUMBERS,
    [SIM_OP_REDUCE_PRECISION] = F,
    [SIM_OP_REMAINDER] = NUMBERS,
    [SIM_OP_ROUND_NEAREST_AFZ] = F,
    [SIM_OP_ROUND_NEAREST_EVEN] = F,
    [SIM_OP_RSQRT] = F | C,
    [SIM_OP_SHIFT_LEFT] = INTS,
    [SIM_OP_SHIFT_RIGHT_ARITHMETIC] = INTS,
    [SIM_OP_SHIFT_RIGHT_LOGICAL] = INTS,
    [SIM_OP_SIGN] = S | F | C,
    [SIM_OP_SINE] = F | C,
    [SIM_OP_SQRT] = F | C,
    [SIM_OP_SUBTRACT] = NUMBERS,
    [SIM_OP_TAN] = F | C,
    [SIM_OP_TANH] = F | C,
    [SIM_OP_XOR] = B | INTS,
};

static bool check_class(sim_reader *r, const char *at, const sim_op *op, const sim_type *type)
{
    char text[96];
    return !classes[op->opcode] || classes[op->opcode] >> bn_dtype_class(type->dtype) & 1 ||
           sim_check_fail(r, at, op, "does not take %s", sim_type_write(type, text, sizeof text));
}

/* Element type of the parts of a complex number. */
static bn_dtype part_of(bn_dtype dtype)
{
    return dtype == BN_C64 ? BN_F32 : dtype == BN_C128 ? BN_F64 : dtype;
}

bool sim_check_elementwise(sim_reader *r, const char *at, const sim_op *op)
{
    sim_type want = *sim_check_result(r, op, 0);
    if (op->opcode == SIM_OP_ABS)
        want.dtype = part_of(sim_check_operand(r, op, 0)->dtype) == want.dtype
                         ? sim_check_operand(r, op, 0)->dtype
                         : want.dtype;
    for (int i = 0; i < op->operand_count; i++)
        if (!sim_check_types(r, at, op, sim_check_operand(r, op, i), &want))
            return false;
    return check_class(r, at, op, &want);
}

/* Results of another element type than the operands. */
bool sim_check_converting(sim_reader *r, const char *at, const sim_op *op)
{
    sim_type want = *sim_check_operand(r, op, 0);
    if (!check_class(r, at, op, &want))
        return false;
    if (op->opcode == SIM_OP_REAL || op->opcode == SIM_OP_IMAG) {
        want.dtype = part_of(want.dtype);
        if (bn_dtype_class(want.dtype) != BN_FLOAT)
            return sim_check_fail(r, at, op, "does not take integers");
    } else if (op->opcode == SIM_OP_CONVERT) {
        want.dtype = sim_check_result(r, op, 0)->dtype;
    } else {
        want.dtype = BN_PRED;
    }
    return sim_check_types(r, at, op, sim_check_result(r, op, 0), &want);
}

bool sim_check_complex(sim_reader *r, const char *at, const sim_op *op)
{
    sim_type want = *sim_check_result(r, op, 0);
    if (bn_dtype_class(want.dtype) != BN_COMPLEX)
        return sim_check_fail(r, at, op, "the result is not complex");
    want.dtype = part_of(want.dtype);
    return sim_check_types(r, at, op, sim_check_operand(r, op, 0), &want) &&
           sim_check_types(r, at, op, sim_check_operand(r, op, 1), &want);
}

/* Whether WORD is one of those in LIST, which end with NULL. */
static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

bool sim_check_compare(sim_reader *r, const char *at, const sim_op *op)
{
    static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT", NULL};
    static const char *const types[] = {"", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED", NULL};
    const char *direction = sim_attribute_find(op, "comparison_direction")->word;
    const char *type = sim_attribute_find(op, "compare_type")->word;
    sim_type want = *sim_check_operand(r, op, 0);
    if (!is_one_of(direction, directions) || !is_one_of(type, types))
        return sim_check_fail(r, at, op, "by %.20s %.20s", direction, type);
    if (!sim_check_types(r, at, op, sim_check_operand(r, op, 1), &want))
        return false;
    want.dtype = BN_PRED;
    return sim_check_types(r, at, op, sim_check_result(r, op, 0), &want);
}

/* Operand INDEX is of DTYPE, with the result's dimensions or as a scalar for all elements. */
static bool check_spread(sim_reader *r, const char *at, const sim_op *op, int index, bn_dtype dtype)
{
    const sim_type *have = sim_check_operand(r, op, index);
    sim_type want = *sim_check_result(r, op, 0);
    want.dtype = dtype;
    want.rank = have->rank ? want.rank : 0;
    return sim_check_types(r, at, op, have, &want);
}

bool sim_check_select(sim_reader *r, const char *at, const sim_op *op)
{
    const sim_type *want = sim_check_result(r, op, 0);
    return check_spread(r, at, op, 0, BN_PRED) &&
           sim_check_types(r, at, op, sim_check_operand(r, op, 1), want) &&
           sim_check_types(r, at, op, sim_check_operand(r, op, 2), want);
}

bool sim_check_clamp(sim_reader *r, const char *at, const sim_op *op)
{
    const sim_type *want = sim_check_result(r, op, 0);
    return check_spread(r, at, op, 0, want->dtype) && check_spread(r, at, op, 2, want->dtype) &&
           sim_check_types(r, at, op, sim_check_operand(r, op, 1), want);
}

bool sim_check_reduce_precision(sim_reader *r, const char *at, const sim_op *op)
{
    int64_t exponent = sim_attribute_int(op, "exponent_bits");
    int64_t mantissa = sim_attribute_int(op, "mantissa_bits");
    if (exponent < 1 || mantissa < 0 || exponent > 64 || mantissa > 64)
        return sim_check_fail(r, at, op, "to %lld exponent and %lld mantissa bits",
                              (long long)exponent, (long long)mantissa);
    return sim_check_elementwise(r, at, op);
}

/* ---- shapes ----------------------------------------------------------------------------- */

bool sim_check_broadcast(sim_reader *r, const char *at, const sim_op *op)
{
    const sim_type *x = sim_check_operand(r, op, 0), *y = sim_check_result(r, op, 0);
    const sim_attribute *dims = sim_attribute_find(op, "broadcast_dimensions");
    bool fits = x->dtype == y->dtype && sim_check_dims(dims, y->rank);
    for (int i = 0; fits && i < x->rank; i++)
        fits = x->dims[i] == 1 || x->dims[i] == y->dims[dims->ints[i]];
    return fits || sim_check_fail(r, at, op, "dimensions do not fit the result");
}

bool sim_check_reshape(sim_reader *r, const char *at, const sim_op *op)
{
    const sim_type *x = sim_check_operand(r, op, 0), *y = sim_check_result(r, op, 0);
    return (x->dtype == y->dtype && sim_type_elements(x) == sim_type_elements(y)) ||
           sim_check_fail(r, at, op, "numbers of elements or element types differ");
}

/* Where elements differ in width, the side of the narrower ones has one more dimension, the
 * last. */
bool sim_check_bitcast(sim_reader *r, const char *at, const sim_op *op)
{
    sim_type x = *sim_check_operand(r, op, 0), y = *sim_check_result(r, op, 0);
    size_t from = bn_dtype_bytes(x.dtype), to = bn_dtype_bytes(y.dtype);
    bool fits = (x.dtype == BN_PRED) == (y.dtype == BN_PRED);
    sim_type *longer = from > to ? &y : &x;
    if (from != to) {
        int64_t ratio = (int64_t)(from > to ? from / to : to / from);
        fits = fits && longer->rank > 0 && longer->dims[longer->rank - 1] == ratio;
        longer->rank -= longer->rank > 0;
    }
    return (fits && sim_type_same_shape(&x, &y)) || sim_check_fail(r, at, op, "shapes do not fit");
}

bool sim_check_iota(sim_reader *r, const char *at, const sim_op *op)
{
    const sim_type *y = sim_check_result(r, op, 0);
    return (y->dtype != BN_PRED && sim_check_dims(&op->attributes[0], y->rank)) ||
           sim_check_fail(r, at, op, "dimension %lld of rank %d, or of booleans",
                          (long long)op->attributes[0].ints[0], y->rank);
}

bool sim_check_transpose(sim_reader *r, const char *at, const sim_op *op)
{
    const sim_type *x = sim_check_operand(r, op, 0);
    const sim_attribute *order = sim_attribute_find(op, "permutation");
    if (!sim_check_dims(order, x->rank))
        return sim_check_fail(r, at, op, "not a permutation");
    sim_type want = *x;
    for (int i = 0; i < x->rank; i++)
        want.dims[i] = x->dims[order->ints[i]];
    return sim_check_types(r, at, op, sim_check_result(r, op, 0), &want);
}

bool sim_check_reverse(sim_reader *r, const char *at, const sim_op *op)
{
    const sim_type *x = sim_check_operand(r, op, 0);
    if (!sim_check_dims(sim_attribute_find(op, "dimensions"), x->rank))
        return sim_check_fail(r, at, op, "dimensions are not those of rank %d", x->rank);
    return sim_check_types(r, at, op, sim_check_result(r, op, 0), x);
}

/* ---- parts ------------------------------------------------------------------------------ */

bool sim_check_slice(sim_reader *r, const char *at, const sim_op *op)
{
    sim_type want = *sim_check_operand(r, op, 0);
    const int64_t *start = sim_attribute_find(op, "start_indices")->ints;
    const int64_t *limit = sim_attribute_find(op, "limit_indices")->ints;
    const int64_t *stride = sim_attribute_find(op, "strides")->ints;
    for (int i = 0; i < want.rank; i++) {
        if (start[i] < 0 || start[i] > limit[i] || limit[i] > want.dims[i] || stride[i] < 1)
            return sim_check_fail(r, at, op, "range %lld:%lld:%lld of size %lld",
                                  (long long)start[i], (long long)limit[i], (long long)stride[i],
                                  (long long)want.dims[i]);
        int64_t length = limit[i] - start[i];
        want.dims[i] = length / stride[i] + (length % stride[i] != 0);
    }
    return sim_check_types(r, at, op, sim_check_result(r, op, 0), &want);
}

/* The operands from FIRST on are an integer scalar for each dimension of the first operand. */
static bool check_starts(sim_reader *r, const char *at, const sim_op *op, int first)
{
    if (op->operand_count < first || op->operand_count != first + sim_check_operand(r, op, 0)->rank)
        return sim_check_fail(r, at, op, "%d operands do not fit the rank", op->operand_count);
    for (int i = first; i < op->operand_count; i++) {
        const sim_type *start = sim_check_operand(r, op, i);
        bn_class class = bn_dtype_class(start->dtype);
        if (start->rank != 0 || (class != BN_SIGNED && class != BN_UNSIGNED))
            return sim_check_fail(r, at, op, "start %d is not an integer scalar", i - first);
    }
    return true;
}

bool sim_check_dynamic_slice(sim_reader *r, const char *at, const sim_op *op)
{
    if (op->operand_count < 1 || !check_starts(r, at, op, 1))
        return r->code == SIM_OK && sim_check_fail(r, at, op, "no operand");
    sim_type want = *sim_check_operand(r, op, 0);
    const int64_t *sizes = sim_attribute_find(op, "slice_sizes")->ints;
    for (int i = 0; i < want.rank; i++) {
        if (sizes[i] < 0 || sizes[i] > want.dims[i])
            return sim_check_fail(r, at, op, "%lld elements of %lld", (long long)sizes[i],
                                  (long long)want.dims[i]);
        want.dims[i] = sizes[i];
    }
    return sim_check_types(r, at, op, sim_check_result(r, op, 0), &want);
}

bool sim_check_dynamic_update(sim_reader *r, const char *at, const sim_op *op)
{
    if (op->operand_count < 2)
        return sim_check_fail(r, at, op, "no update");
    const sim_type *x = sim_check_operand(r, op, 0), *update = sim_check_operand(r, op, 1);
    bool fits = x->dtype == update->dtype && x->rank == update->rank;
    for (int i = 0; fits && i < x->rank; i++)
        fits = update->dims[i] <= x->dims[i];
    if (!fits)
        return sim_check_fail(r, at, op, "the update is no part of the operand");
    return check_starts(r, at, op, 2) && sim_check_types(r, at, op, sim_check_result(r, op, 0), x);
}

/* N elements with INTERIOR between them, and LOW and HIGH around; -1: does not fit. */
static int64_t padded(int64_t n, int64_t low, int64_t high, int64_t interior)
{
    int64_t size;
    if (interior < 0 || __builtin_mul_overflow(n ? n - 1 : 0, interior, &size) ||
        __builtin_add_overflow(size, n, &size) || __builtin_add_overflow(size, low, &size) ||
        __builtin_add_overflow(size, high, &size))
        return -1;
    return size;
}

bool sim_check_pad(sim_reader *r, const char *at, const sim_op *op)
{
    sim_type want = *sim_check_operand(r, op, 0);
    const sim_type scalar = {.dtype = want.dtype};
    const int64_t *low = sim_attribute_find(op, "edge_padding_low")->ints;
    const int64_t *high = sim_attribute_find(op, "edge_padding_high")->ints;
    const int64_t *interior = sim_attribute_find(op, "interior_padding")->ints;
    for (int i = 0; i < want.rank; i++)
        if ((want.dims[i] = padded(want.dims[i], low[i], high[i], interior[i])) < 0)
            return sim_check_fail(r, at, op, "dimension %d gets no size", i);
    return sim_check_types(r, at, op, sim_check_operand(r, op, 1), &scalar) &&
           sim_check_types(r, at, op, sim_check_result(r, op, 0), &want);
}

bool sim_check_concatenate(sim_reader *r, const char *at, const sim_op *op)
{
    if (op->operand_count < 1)
        return sim_check_fail(r, at, op, "no operand");
    sim_type want = *sim_check_operand(r, op, 0);
    int64_t dim = sim_attribute_int(op, "dimension");
    if (dim < 0 || dim >= want.rank)
        return sim_check_fail(r, at, op, "dimension %lld of rank %d", (long long)dim, want.rank);
    for (int i = 1; i < op->operand_count; i++) {
        sim_type part = *sim_check_operand(r, op, i);
        int64_t size = part.rank == want.rank ? part.dims[dim] : 0;
        part.dims[dim] = want.dims[dim];
        if (!sim_check_types(r, at, op, &part, &want))
            return false;
        if (__builtin_add_overflow(want.dims[dim], size, &want.dims[dim]))
            return sim_check_fail(r, at, op, "too large");
    }
    return sim_check_types(r, at, op, sim_check_result(r, op, 0), &want);
}

/* ---- others ----------------------------------------------------------------------------- */

/* A transform is of the last dimensions. Of real numbers only half of the frequencies, and
 * one more, are kept. */
bool sim_check_fft(sim_reader *r, const char *at, const sim_op *op)
{
    const sim_attribute *length = sim_attribute_find(op, "fft_length");
    const char *type = sim_attribute_find(op, "fft_type")->word;
    const sim_type *x = sim_check_operand(r, op, 0), *y = sim_check_result(r, op, 0);
    bool forward = strcmp(type, "RFFT") == 0, back = strcmp(type, "IRFFT") == 0;
    if (!forward && !back && strcmp(type, "FFT") != 0 && strcmp(type, "IFFT") != 0)
        return sim_check_fail(r, at, op, "of type %.20s", type);
    const sim_type *real = back ? y : x, *other = back ? x : y; /* REAL has the stated lengths */
    int count = (int)length->count;
    sim_type want = *real;
    bool fits = count >= 1 && count <= 3 && count <= real->rank;
    for (int i = 0; fits && i < count; i++)
        fits = real->dims[real->rank - count + i] == length->ints[i];
    if (forward || back) {
        fits = fits && bn_dtype_class(real->dtype) == BN_FLOAT &&
               (real->dtype == BN_F32 || real->dtype == BN_F64);
        want.dtype = real->dtype == BN_F32 ? BN_C64 : BN_C128;
        if (fits)
            want.dims[want.rank - 1] =
                want.dims[want.rank - 1] / 2 + (want.dims[want.rank - 1] > 0);
    }
    fits = fits && bn_dtype_class(want.dtype) == BN_COMPLEX;
    if (!fits)
        return sim_check_fail(r, at, op, "length or element type does not fit");
    return sim_check_types(r, at, op, other, &want);
}

bool sim_check_random(sim_reader *r, const char *at, const sim_op *op)
{
    static const char *const known[] = {"DEFAULT", "THREE_FRY", "PHILOX", NULL};
    const sim_type *state = sim_check_operand(r, op, 0), *bits = sim_check_result(r, op, 1);
    const char *algorithm = sim_attribute_find(op, "rng_algorithm")->word;
    if (!is_one_of(algorithm, known))
        return sim_check_fail(r, at, op, "algorithm %.20s", algorithm);
    if (state->dtype != BN_U64 || state->rank != 1 || state->dims[0] < 2 || state->dims[0] > 3)
        return sim_check_fail(r, at, op, "the state is not of two or three ui64");
    if (bn_dtype_class(bits->dtype) == BN_BOOLEAN || bn_dtype_class(bits->dtype) == BN_COMPLEX)
        return sim_check_fail(r, at, op, "bits are integers or floats");
    return sim_check_types(r, at, op, sim_check_result(r, op, 0), state);
}

bool sim_check_barrier(sim_reader *r, const char *at, const sim_op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (!sim_check_types(r, at, op, sim_check_result(r, op, i), sim_check_operand(r, op, i)))
            return false;
    return true;
}

bool sim_check_tuple(sim_reader *r, const char *at, const sim_op *op)
{
    (void)op;
    sim_reader_fail(r, at, SIM_UNIMPLEMENTED, "tuples are not simulated");
    return false;
}

bool sim_check_nothing(sim_reader *r, const char *at, const sim_op *op)
{
    (void)r;
    (void)at;
    (void)op;
    return true;
}
