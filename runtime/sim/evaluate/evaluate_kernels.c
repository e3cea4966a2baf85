/*
 * evaluate_kernels.c - a kernel for each op and each type in which ops are computed, the
 * tables by which kernels are found, and how they are applied to half-width floats.
 *
 * Integers are widened to 64 bits, computed there and cut again, which wraps as the
 * narrow type would. Where C does not define a result (division by zero, wide shifts),
 * it is that of XLA.
 */
#include "runtime/sim/evaluate/evaluate_kernels.h"

#include <string.h>
#include <tgmath.h>

/* ---- shapes of kernels ------------------------------------------------------------------ */

/* EXPR of x, and y; T is the elements' type. */
#define UNARY(name, T, expr)                                                                       \
    static void name(void *out, const void *const *in, int64_t n)                                  \
    {                                                                                              \
        T *o = out;                                                                                \
        const T *a = in[0];                                                                        \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = a[i];                                                                      \
            o[i] = (T)(expr);                                                                      \
        }                                                                                          \
    }

#define BINARY_TO(name, R, T, expr)                                                                \
    static void name(void *out, const void *const *in, int64_t n)                                  \
    {                                                                                              \
        R *o = out;                                                                                \
        const T *a = in[0], *b = in[1];                                                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = a[i], y = b[i];                                                            \
            o[i] = (R)(expr);                                                                      \
        }                                                                                          \
    }
#define BINARY(name, T, expr)  BINARY_TO(name, T, T, expr)
#define COMPARE(name, T, expr) BINARY_TO(name, uint8_t, T, expr)

#define SIGNED(KERNEL, name, expr)                                                                 \
    KERNEL(name##_s8, int8_t, expr)                                                                \
    KERNEL(name##_s16, int16_t, expr)                                                              \
    KERNEL(name##_s32, int32_t, expr)                                                              \
    KERNEL(name##_s64, int64_t, expr)
#define UNSIGNED(KERNEL, name, expr)                                                               \
    KERNEL(name##_u8, uint8_t, expr)                                                               \
    KERNEL(name##_u16, uint16_t, expr)                                                             \
    KERNEL(name##_u32, uint32_t, expr)                                                             \
    KERNEL(name##_u64, uint64_t, expr)
#define INTEGERS(KERNEL, name, expr)                                                               \
    SIGNED(KERNEL, name, expr)                                                                     \
    UNSIGNED(KERNEL, name, expr)
#define FLOATS(KERNEL, name, expr)                                                                 \
    KERNEL(name##_f32, float, expr)                                                                \
    KERNEL(name##_f64, double, expr)
#define COMPLEXES(KERNEL, name, expr)                                                              \
    KERNEL(name##_c64, complex float, expr)                                                        \
    KERNEL(name##_c128, complex double, expr)

/* ---- integers --------------------------------------------------------------------------- */

#define WIDE(v)  ((uint64_t)(v))
#define WIDTH(v) (sizeof(v) * 8)
/* The bits of v alone, where a sign would fill the rest. */
#define BITS(v)  (WIDE(v) & (~UINT64_C(0) >> (64 - WIDTH(v))))

static int64_t signed_divide(int64_t x, int64_t y)
{
    if (y == 0)
        return -1;
    return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

static int64_t signed_remainder(int64_t x, int64_t y)
{
    if (y == 0)
        return x;
    return y == -1 ? 0 : x % y;
}

static uint64_t unsigned_power(uint64_t x, uint64_t y)
{
    uint64_t power = 1;
    for (; y > 0; y >>= 1) {
        power *= y & 1 ? x : 1;
        x *= x;
    }
    return power;
}

/* Powers below 1 of all but 1 and -1 are 0. */
static int64_t signed_power(int64_t x, int64_t y)
{
    if (y >= 0)
        return (int64_t)unsigned_power((uint64_t)x, (uint64_t)y);
    if (x == -1)
        return y % 2 == 0 ? 1 : -1;
    return x == 1;
}

static int leading_zeros(uint64_t bits, size_t width)
{
    return bits == 0 ? (int)width : __builtin_clzll(bits) - (64 - (int)width);
}

INTEGERS(BINARY, add, WIDE(x) + WIDE(y))
INTEGERS(BINARY, subtract, WIDE(x) - WIDE(y))
INTEGERS(BINARY, multiply, WIDE(x) * WIDE(y))
SIGNED(BINARY, divide, signed_divide(x, y))
UNSIGNED(BINARY, divide, y == 0 ? ~WIDE(0) : WIDE(x) / WIDE(y))
SIGNED(BINARY, remainder, signed_remainder(x, y))
UNSIGNED(BINARY, remainder, y == 0 ? WIDE(x) : WIDE(x) % WIDE(y))
SIGNED(BINARY, power, signed_power(x, y))
UNSIGNED(BINARY, power, unsigned_power(x, y))
INTEGERS(BINARY, maximum, x > y ? x : y)
INTEGERS(BINARY, minimum, x < y ? x : y)
INTEGERS(BINARY, and, x &y)
INTEGERS(BINARY, or, x | y)
INTEGERS(BINARY, xor, x ^ y)
INTEGERS(BINARY, shift_left, BITS(y) < WIDTH(x) ? WIDE(x) << BITS(y) : 0)
INTEGERS(BINARY, shift_right_logical, BITS(y) < WIDTH(x) ? BITS(x) >> BITS(y) : 0)
/* The first bit of unsigned integers is taken for a sign, too. */
INTEGERS(BINARY, shift_right_arithmetic,
         (int64_t)(WIDE(x) << (64 - WIDTH(x))) >>
             (64 - WIDTH(x) + (BITS(y) < WIDTH(x) ? BITS(y) : WIDTH(x) - 1)))
INTEGERS(UNARY, negate, 0 - WIDE(x))
SIGNED(UNARY, abs, x < 0 ? 0 - WIDE(x) : WIDE(x))
UNSIGNED(UNARY, abs, x)
SIGNED(UNARY, sign, (x > 0) - (x < 0))
UNSIGNED(UNARY, sign, x > 0)
INTEGERS(UNARY, not, ~WIDE(x))
INTEGERS(UNARY, popcnt, __builtin_popcountll(BITS(x)))
INTEGERS(UNARY, count_leading_zeros, leading_zeros(BITS(x), WIDTH(x)))
UNARY(not_pred, uint8_t, x ^ 1)

/* ---- floats ----------------------------------------------------------------------------- */

#define NAN_OF(x, y) ((x) != (x) || (y) != (y))

FLOATS(BINARY, add, x + y)
FLOATS(BINARY, subtract, x - y)
FLOATS(BINARY, multiply, x *y)
FLOATS(BINARY, divide, x / y)
FLOATS(BINARY, remainder, fmod(x, y))
FLOATS(BINARY, power, pow(x, y))
FLOATS(BINARY, atan2, atan2(x, y))
FLOATS(BINARY, maximum, NAN_OF(x, y) ? x + y : x > y ? x : y)
FLOATS(BINARY, minimum, NAN_OF(x, y) ? x + y : x < y ? x : y)
FLOATS(UNARY, negate, -x)
FLOATS(UNARY, abs, fabs(x))
FLOATS(UNARY, sign, x > 0 ? 1 : x < 0 ? -1 : x)
FLOATS(UNARY, cbrt, cbrt(x))
FLOATS(UNARY, ceil, ceil(x))
FLOATS(UNARY, floor, floor(x))
FLOATS(UNARY, round_nearest_afz, round(x))
FLOATS(UNARY, round_nearest_even, rint(x))
FLOATS(UNARY, cosine, cos(x))
FLOATS(UNARY, sine, sin(x))
FLOATS(UNARY, tan, tan(x))
FLOATS(UNARY, tanh, tanh(x))
FLOATS(UNARY, erf, erf(x))
FLOATS(UNARY, exponential, exp(x))
FLOATS(UNARY, exponential_minus_one, expm1(x))
FLOATS(UNARY, log, log(x))
FLOATS(UNARY, log_plus_one, log1p(x))
FLOATS(UNARY, logistic, 1 / (1 + exp(-x)))
FLOATS(UNARY, sqrt, sqrt(x))
FLOATS(UNARY, rsqrt, 1 / sqrt(x))

COMPLEXES(BINARY, add, x + y)
COMPLEXES(BINARY, subtract, x - y)
COMPLEXES(BINARY, multiply, x *y)
COMPLEXES(BINARY, divide, x / y)
COMPLEXES(BINARY, power, x == 0 && y == 0 ? 1 : pow(x, y))
COMPLEXES(UNARY, negate, -x)
COMPLEXES(UNARY, sign, x == 0 ? x : x / fabs(x))
COMPLEXES(UNARY, cosine, cos(x))
COMPLEXES(UNARY, sine, sin(x))
COMPLEXES(UNARY, tan, tan(x))
COMPLEXES(UNARY, tanh, tanh(x))
COMPLEXES(UNARY, exponential, exp(x))
COMPLEXES(UNARY, exponential_minus_one, exp(x) - 1)
COMPLEXES(UNARY, log, log(x))
COMPLEXES(UNARY, log_plus_one, log(x + 1))
COMPLEXES(UNARY, logistic, 1 / (1 + exp(-x)))
COMPLEXES(UNARY, sqrt, sqrt(x))
COMPLEXES(UNARY, rsqrt, 1 / sqrt(x))

/* ---- the table -------------------------------------------------------------------------- */

#define ON_INTEGERS(name)                                                                          \
    [BN_S8] = name##_s8, [BN_S16] = name##_s16, [BN_S32] = name##_s32, [BN_S64] = name##_s64,      \
    [BN_U8] = name##_u8, [BN_U16] = name##_u16, [BN_U32] = name##_u32, [BN_U64] = name##_u64
#define ON_FLOATS(name)    [BN_F32] = name##_f32, [BN_F64] = name##_f64
#define ON_COMPLEXES(name) [BN_C64] = name##_c64, [BN_C128] = name##_c128

/* On booleans, addition is or, and multiplication is and. */
static sim_kernel *const kernels[SIM_OP_COUNT][BN_DTYPES_SIMULATED] = {
    [SIM_OP_ADD] = {[BN_PRED] = or_u8, ON_INTEGERS(add), ON_FLOATS(add), ON_COMPLEXES(add)},
    [SIM_OP_SUBTRACT] = {ON_INTEGERS(subtract), ON_FLOATS(subtract), ON_COMPLEXES(subtract)},
    [SIM_OP_MULTIPLY] = {[BN_PRED] = and_u8,
                         ON_INTEGERS(multiply),
                         ON_FLOATS(multiply),
                         ON_COMPLEXES(multiply)},
    [SIM_OP_DIVIDE] = {ON_INTEGERS(divide), ON_FLOATS(divide), ON_COMPLEXES(divide)},
    [SIM_OP_REMAINDER] = {ON_INTEGERS(remainder), ON_FLOATS(remainder)},
    [SIM_OP_POWER] = {ON_INTEGERS(power), ON_FLOATS(power), ON_COMPLEXES(power)},
    [SIM_OP_ATAN2] = {ON_FLOATS(atan2)},
    [SIM_OP_MAXIMUM] = {[BN_PRED] = or_u8, ON_INTEGERS(maximum), ON_FLOATS(maximum)},
    [SIM_OP_MINIMUM] = {[BN_PRED] = and_u8, ON_INTEGERS(minimum), ON_FLOATS(minimum)},
    [SIM_OP_AND] = {[BN_PRED] = and_u8, ON_INTEGERS(and)},
    [SIM_OP_OR] = {[BN_PRED] = or_u8, ON_INTEGERS(or)},
    [SIM_OP_XOR] = {[BN_PRED] = xor_u8, ON_INTEGERS(xor)},
    [SIM_OP_SHIFT_LEFT] = {ON_INTEGERS(shift_left)},
    [SIM_OP_SHIFT_RIGHT_LOGICAL] = {ON_INTEGERS(shift_right_logical)},
    [SIM_OP_SHIFT_RIGHT_ARITHMETIC] = {ON_INTEGERS(shift_right_arithmetic)},
    [SIM_OP_NEGATE] = {ON_INTEGERS(negate), ON_FLOATS(negate), ON_COMPLEXES(negate)},
    [SIM_OP_ABS] = {ON_INTEGERS(abs), ON_FLOATS(abs)},
    [SIM_OP_SIGN] = {ON_INTEGERS(sign), ON_FLOATS(sign), ON_COMPLEXES(sign)},
    [SIM_OP_NOT] = {[BN_PRED] = not_pred, ON_INTEGERS(not )},
    [SIM_OP_POPCNT] = {ON_INTEGERS(popcnt)},
    [SIM_OP_COUNT_LEADING_ZEROS] = {ON_INTEGERS(count_leading_zeros)},
    [SIM_OP_CBRT] = {ON_FLOATS(cbrt)},
    [SIM_OP_CEIL] = {ON_FLOATS(ceil)},
    [SIM_OP_FLOOR] = {ON_FLOATS(floor)},
    [SIM_OP_ROUND_NEAREST_AFZ] = {ON_FLOATS(round_nearest_afz)},
    [SIM_OP_ROUND_NEAREST_EVEN] = {ON_FLOATS(round_nearest_even)},
    [SIM_OP_COSINE] = {ON_FLOATS(cosine), ON_COMPLEXES(cosine)},
    [SIM_OP_SINE] = {ON_FLOATS(sine), ON_COMPLEXES(sine)},
    [SIM_OP_TAN] = {ON_FLOATS(tan), ON_COMPLEXES(tan)},
    [SIM_OP_TANH] = {ON_FLOATS(tanh), ON_COMPLEXES(tanh)},
    [SIM_OP_ERF] = {ON_FLOATS(erf)},
    [SIM_OP_EXPONENTIAL] = {ON_FLOATS(exponential), ON_COMPLEXES(exponential)},
    [SIM_OP_EXPONENTIAL_MINUS_ONE] = {ON_FLOATS(exponential_minus_one),
                                      ON_COMPLEXES(exponential_minus_one)},
    [SIM_OP_LOG] = {ON_FLOATS(log), ON_COMPLEXES(log)},
    [SIM_OP_LOG_PLUS_ONE] = {ON_FLOATS(log_plus_one), ON_COMPLEXES(log_plus_one)},
    [SIM_OP_LOGISTIC] = {ON_FLOATS(logistic), ON_COMPLEXES(logistic)},
    [SIM_OP_SQRT] = {ON_FLOATS(sqrt), ON_COMPLEXES(sqrt)},
    [SIM_OP_RSQRT] = {ON_FLOATS(rsqrt), ON_COMPLEXES(rsqrt)},
};

sim_kernel *sim_kernel_find(sim_opcode opcode, bn_dtype dtype)
{
    return kernels[opcode][dtype];
}

/* ---- comparisons ------------------------------------------------------------------------ */

/* Numbers in the total order of IEEE 754: -NaN, -inf, ..., -0, 0, ..., inf, NaN. */
static int32_t total_f32(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? bits ^ INT32_MAX : bits;
}

static int64_t total_f64(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

#define DIRECTION(name, is)                                                                        \
    INTEGERS(COMPARE, name, x is y)                                                                \
    FLOATS(COMPARE, name, x is y)                                                                  \
    COMPARE(name##_total_f32, float, total_f32(x) is total_f32(y))                                 \
    COMPARE(name##_total_f64, double, total_f64(x) is total_f64(y))
DIRECTION(eq, ==)
DIRECTION(ne, !=)
DIRECTION(ge, >=)
DIRECTION(gt, >)
DIRECTION(le, <=)
DIRECTION(lt, <)
COMPLEXES(COMPARE, eq, x == y)
COMPLEXES(COMPARE, ne, x != y)

typedef struct direction_row {
    const char *word;
    sim_kernel *kernels[BN_DTYPES_SIMULATED], *total_f32, *total_f64;
} direction_row;

#define ROW(word_, name, ...)                                                                      \
    {                                                                                              \
        word_, {[BN_PRED] = name##_u8, ON_INTEGERS(name), ON_FLOATS(name), __VA_ARGS__},           \
            name##_total_f32, name##_total_f64                                                     \
    }
static const direction_row directions[] = {
    ROW("EQ", eq, ON_COMPLEXES(eq)),
    ROW("NE", ne, ON_COMPLEXES(ne)),
    ROW("GE", ge, ),
    ROW("GT", gt, ),
    ROW("LE", le, ),
    ROW("LT", lt, ),
};

sim_kernel *sim_kernel_compare(const sim_op *op, bn_dtype dtype)
{
    const sim_attribute *direction = sim_attribute_find(op, "comparison_direction");
    const sim_attribute *type = sim_attribute_find(op, "compare_type");
    const bool total = type && type->word && strcmp(type->word, "TOTALORDER") == 0;
    for (size_t i = 0; direction && direction->word && i < sizeof directions / sizeof *directions;
         i++) {
        const direction_row *row = &directions[i];
        if (strcmp(row->word, direction->word) == 0)
            return total && dtype == BN_F32   ? row->total_f32
                   : total && dtype == BN_F64 ? row->total_f64
                                              : row->kernels[dtype];
    }
    return NULL;
}

/* ---- half-width floats ------------------------------------------------------------------- */

bn_dtype sim_wide(bn_dtype dtype)
{
    return dtype == BN_F16 || dtype == BN_BF16 ? BN_F32 : dtype;
}

/* Chunk by chunk, the operands are widened, the kernel runs, and the result is narrowed. */
static void apply_wide(sim_kernel *kernel, bn_dtype from, bn_dtype to, char *out,
                       const void *const *in, int count, int64_t n)
{
    _Alignas(SIM_ELEMENT) char wide[4][SIM_CHUNK * SIM_ELEMENT];
    const bn_dtype dtype = sim_wide(from);
    const void *operands[3];
    for (int64_t at = 0; at < n; at += SIM_CHUNK) {
        const int64_t chunk = n - at < SIM_CHUNK ? n - at : SIM_CHUNK;
        for (int i = 0; i < count; i++) {
            operands[i] = wide[i];
            sim_convert(dtype, wide[i], from,
                        (const char *)in[i] + (size_t)at * bn_dtype_bytes(from), chunk);
        }
        kernel(wide[3], operands, chunk);
        sim_convert(to, out + (size_t)at * bn_dtype_bytes(to), sim_wide(to), wide[3], chunk);
    }
}

void sim_apply(sim_kernel *kernel, bn_dtype from, bn_dtype to, void *out, const void *const *in,
               int count, int64_t n)
{
    if (sim_wide(from) != from || sim_wide(to) != to)
        apply_wide(kernel, from, to, out, in, count, n);
    else
        kernel(out, in, n);
}
