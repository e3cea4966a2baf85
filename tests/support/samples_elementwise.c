/* samples_elementwise.c - samples of element-wise ops and of constants. */
#include "tests/support/samples.h"

#include <math.h>

/* ---- one operand ------------------------------------------------------------------ */

static tg_tensor *unary(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return s->unary(t, x[0]);
}

#define UNARY(op_, dtype_, low_, high_)                                                            \
    {                                                                                              \
        .op = #op_, .count = 1, .in = {{TYPE(dtype_, 2, 3, 4), low_, high_, false}}, .flops = 12,  \
        .build = unary, .unary = tg_##op_                                                          \
    }
/* Whole numbers: halves and zero, where sign and floor turn. */
#define UNARY_WHOLE(op_, dtype_)                                                                   \
    {                                                                                              \
        .op = #op_, .count = 1, .in = {{TYPE(dtype_, 2, 3, 4), -2, 2, true}}, .flops = 12,         \
        .build = unary, .unary = tg_##op_                                                          \
    }

/* ---- two operands ------------------------------------------------------------------ */

static tg_tensor *binary(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return s->binary(t, x[0], x[1]);
}

/* B's range is its own, for divisors and exponents. */
#define BINARY(op_, dtype_, low_a, high_a, low_b, high_b)                                          \
    {                                                                                              \
        .op = #op_, .count = 2,                                                                    \
        .in = {{TYPE(dtype_, 2, 3, 4), low_a, high_a, false},                                      \
               {TYPE(dtype_, 2, 3, 4), low_b, high_b, false}},                                     \
        .flops = 12, .build = binary, .binary = tg_##op_                                           \
    }
#define SCALAR_A(op_, dtype_, low_, high_)                                                         \
    {                                                                                              \
        .op = #op_, .count = 2,                                                                    \
        .in = {{TYPE(dtype_, 0, 0), low_, high_, false},                                           \
               {TYPE(dtype_, 3, 2, 3, 2), low_, high_, false}},                                    \
        .flops = 12, .build = binary, .binary = tg_##op_                                           \
    }
#define SCALAR_B(op_, dtype_, low_, high_)                                                         \
    {                                                                                              \
        .op = #op_, .count = 2,                                                                    \
        .in = {{TYPE(dtype_, 3, 2, 3, 2), low_, high_, false},                                     \
               {TYPE(dtype_, 0, 0), low_, high_, false}},                                          \
        .flops = 12, .build = binary, .binary = tg_##op_                                           \
    }
#define SCALARS(op_, dtype_, low_, high_)                                                          \
    {                                                                                              \
        .op = #op_, .count = 2,                                                                    \
        .in = {{TYPE(dtype_, 0, 0), low_, high_, false},                                           \
               {TYPE(dtype_, 0, 0), low_, high_, false}},                                          \
        .flops = 1, .build = binary, .binary = tg_##op_                                            \
    }

/* ---- comparison, selection, conversion -------------------------------------------- */

static tg_tensor *compare(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_compare(t, x[0], x[1], (tg_direction)s->number);
}

#define COMPARE(direction_, dtype_, rank_a, rank_b)                                                \
    {                                                                                              \
        .op = "compare", .count = 2,                                                               \
        .in = {{{{5, 3}, rank_a, dtype_}, -1, 2, true}, {{{5, 3}, rank_b, dtype_}, -1, 2, true}},  \
        .flops = 15, .build = compare, .number = direction_                                        \
    }

static tg_tensor *choose(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_select(t, x[0], x[1], x[2]);
}

#define SELECT(dtype_, rank_p, rank_a, rank_b, flops_)                                             \
    {                                                                                              \
        .op = "select", .count = 3,                                                                \
        .in = {{{{3, 4}, rank_p, TG_BOOL}, 0, 0, false},                                           \
               {{{3, 4}, rank_a, dtype_}, 0, 0, false},                                            \
               {{{3, 4}, rank_b, dtype_}, 0, 0, false}},                                           \
        .flops = flops_, .build = choose                                                           \
    }

static tg_tensor *convert(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_convert(t, x[0], (tg_dtype)s->number);
}

#define CONVERT(from, to, low_, high_)                                                             \
    {                                                                                              \
        .op = "convert", .count = 1, .in = {{TYPE(from, 1, 13), low_, high_, false}}, .flops = 0,  \
        .build = convert, .number = to                                                             \
    }

/* ---- constants --------------------------------------------------------------------- */

static tg_tensor *full(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_full(t, &s->type, s->value);
}

static tg_tensor *iota(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_iota(t, &s->type, s->number);
}

#define SCALAR(dtype_, value_)                                                                     \
    {                                                                                              \
        .op = "constant", .build = full, .type = TYPE(dtype_, 0, 0), .value = value_               \
    }
#define FULL(dtype_, value_)                                                                       \
    {                                                                                              \
        .op = "constant", .build = full, .type = TYPE(dtype_, 2, 2, 3), .value = value_            \
    }
#define IOTA(dtype_, dim_)                                                                         \
    {                                                                                              \
        .op = "iota", .build = iota, .type = TYPE(dtype_, 3, 2, 3, 4), .number = dim_              \
    }

const sample samples_elementwise[] = {
    UNARY(neg, TG_F32, -2, 2),
    UNARY(neg, TG_I32, -9, 9),
    UNARY(neg, TG_BF16, -2, 2),
    UNARY(neg, TG_I8, -9, 9),
    UNARY(abs, TG_F32, -2, 2),
    UNARY(abs, TG_I32, -9, 9),
    UNARY(abs, TG_F16, -2, 2),
    UNARY(sign, TG_F32, -2, 2),
    UNARY_WHOLE(sign, TG_F32),
    UNARY_WHOLE(sign, TG_I32),
    UNARY(floor, TG_F32, -4, 4),
    UNARY_WHOLE(floor, TG_F32),
    UNARY(floor, TG_BF16, -3.9, 4),
    UNARY(exp, TG_F32, -4, 4),
    UNARY(exp, TG_BF16, -2, 2),
    UNARY(exp, TG_F16, -2, 2),
    UNARY(expm1, TG_F32, -4, 3),
    UNARY(expm1, TG_F32, -0.001, 0.001),
    UNARY(expm1, TG_BF16, -2, 1),
    UNARY(expm1, TG_F16, -2, 1),
    UNARY(erf, TG_F32, -3, 3),
    UNARY(erf, TG_F32, -0.01, 0.01),
    UNARY(erf, TG_BF16, -2, 2),
    UNARY(erf, TG_F16, -2, 2),
    UNARY(log, TG_F32, 0.05, 6),
    UNARY(log, TG_BF16, 0.05, 6),
    UNARY(log1p, TG_F32, -0.8, 4),
    UNARY(log1p, TG_F32, -0.001, 0.001),
    UNARY(sqrt, TG_F32, 0.1, 9),
    UNARY(sqrt, TG_F16, 0.1, 9),
    UNARY(rsqrt, TG_F32, 0.1, 9),
    UNARY(rsqrt, TG_BF16, 0.1, 9),
    UNARY(tanh, TG_F32, -3, 3),
    UNARY(tanh, TG_BF16, -3, 3),
    UNARY(logistic, TG_F32, -5, 5),
    UNARY(logistic, TG_F16, -5, 5),
    UNARY(sin, TG_F32, -6, 6),
    UNARY(cos, TG_F32, -6, 6),
    UNARY(not, TG_BOOL, 0, 1),
    UNARY(not, TG_I32, -9, 9),
    UNARY(not, TG_U8, 0, 200),

    BINARY(add, TG_F32, -2, 2, -2, 2),
    BINARY(add, TG_I64, -9, 9, -9, 9),
    BINARY(add, TG_U32, 0, 9, 0, 9),
    BINARY(add, TG_U64, 0, 9e9, 0, 9e9),
    BINARY(add, TG_I8, -9, 9, -9, 9),
    BINARY(add, TG_BF16, -2, 2, -2, 2),
    SCALAR_A(add, TG_F32, -2, 2),
    SCALAR_B(add, TG_F32, -2, 2),
    SCALARS(add, TG_F32, -2, 2),
    BINARY(sub, TG_F32, -2, 2, -2, 2),
    BINARY(sub, TG_F16, -2, 2, -2, 2),
    SCALAR_A(sub, TG_F32, -2, 2),
    SCALAR_B(sub, TG_I32, -9, 9),
    BINARY(mul, TG_F32, -2, 2, -2, 2),
    BINARY(mul, TG_I32, -9, 9, -9, 9),
    BINARY(mul, TG_BF16, -2, 2, -2, 2),
    SCALAR_A(mul, TG_F32, -2, 2),
    SCALAR_B(mul, TG_F32, -2, 2),
    BINARY(div, TG_F32, -2, 2, 0.5, 3),
    BINARY(div, TG_I32, -99, 99, 1, 5),
    BINARY(div, TG_U8, 0, 200, 1, 5),
    BINARY(div, TG_F16, -2, 2, 0.5, 3),
    SCALAR_A(div, TG_F32, 0.5, 3),
    SCALAR_B(div, TG_F32, 0.5, 3),
    BINARY(max, TG_F32, -2, 2, -2, 2),
    BINARY(max, TG_I32, -9, 9, -9, 9),
    BINARY(max, TG_BF16, -2, 2, -2, 2),
    SCALAR_B(max, TG_F32, -2, 2),
    SCALAR_A(max, TG_F32, -2, 2),
    BINARY(min, TG_F32, -2, 2, -2, 2),
    BINARY(min, TG_U32, 0, 9, 0, 9),
    SCALAR_A(min, TG_F16, -2, 2),
    SCALAR_B(min, TG_F32, -2, 2),
    BINARY(pow, TG_F32, 0.3, 3, -2, 2),
    SCALAR_A(pow, TG_F32, 0.3, 3),
    SCALAR_B(pow, TG_F32, 0.3, 3),
    BINARY(and, TG_BOOL, 0, 1, 0, 1),
    BINARY(and, TG_I32, -9, 9, -9, 9),
    SCALAR_B(and, TG_U8, 0, 200),
    BINARY(or, TG_BOOL, 0, 1, 0, 1),
    BINARY(or, TG_I64, -9, 9, -9, 9),
    SCALAR_A(or, TG_BOOL, 0, 1),
    BINARY(xor, TG_BOOL, 0, 1, 0, 1),
    BINARY(xor, TG_U32, 0, 99, 0, 99),
    SCALAR_B(xor, TG_I32, -9, 9),

    COMPARE(TG_EQ, TG_F32, 2, 2),
    COMPARE(TG_NE, TG_F32, 2, 2),
    COMPARE(TG_LT, TG_F32, 2, 2),
    COMPARE(TG_LE, TG_F32, 2, 2),
    COMPARE(TG_GT, TG_F32, 2, 2),
    COMPARE(TG_GE, TG_F32, 2, 2),
    COMPARE(TG_EQ, TG_BOOL, 2, 2),
    COMPARE(TG_LT, TG_BOOL, 2, 2),
    COMPARE(TG_GE, TG_I32, 2, 0),
    COMPARE(TG_LT, TG_BF16, 0, 2),
    COMPARE(TG_EQ, TG_I64, 2, 2),
    {.op = "compare",
     .count = 2, /* above the signed range */
     .in = {{TYPE(TG_U8, 1, 7), 100, 250, false}, {TYPE(TG_U8, 1, 7), 100, 250, false}},
     .flops = 7,
     .build = compare,
     .number = TG_LT},
    SELECT(TG_F32, 2, 2, 2, 12),
    {.op = "select", /* attention's mask: scores or a large negative scalar */
     .count = 3,
     .in = {{TYPE(TG_BOOL, 4, 2, 3, 4, 5), 0, 0, false},
            {TYPE(TG_F32, 4, 2, 3, 4, 5), 0, 0, false},
            {TYPE(TG_F32, 0, 0), -9, -9, false}},
     .flops = 120,
     .build = choose},
    SELECT(TG_F32, 2, 0, 2, 12),
    SELECT(TG_F32, 2, 2, 0, 12),
    SELECT(TG_F32, 2, 0, 0, 12),
    SELECT(TG_F32, 0, 0, 0, 1),
    SELECT(TG_I32, 2, 2, 0, 12),
    SELECT(TG_BF16, 2, 2, 2, 12),
    SELECT(TG_BOOL, 2, 2, 0, 12),
    CONVERT(TG_F32, TG_BF16, -2, 2),
    CONVERT(TG_BF16, TG_F32, -2, 2),
    CONVERT(TG_F32, TG_F16, -2, 2),
    CONVERT(TG_F16, TG_BF16, -2, 2),
    CONVERT(TG_F32, TG_I32, -9, 9),
    CONVERT(TG_F32, TG_U8, 0, 9),
    CONVERT(TG_F32, TG_BOOL, -1, 1),
    CONVERT(TG_I32, TG_BOOL, -2, 2),
    CONVERT(TG_BOOL, TG_F32, 0, 1),
    CONVERT(TG_BOOL, TG_I32, 0, 1),
    CONVERT(TG_U8, TG_F32, 0, 250),
    CONVERT(TG_I64, TG_I32, -9, 9),
    CONVERT(TG_I32, TG_F16, -99, 99),
    CONVERT(TG_I8, TG_I64, -99, 99),
    CONVERT(TG_U32, TG_U64, 0, 4e9),
    CONVERT(TG_U64, TG_F32, 0, 16e6),

    SCALAR(TG_F32, 0.1),
    SCALAR(TG_F32, -0.0),
    SCALAR(TG_F32, INFINITY),
    SCALAR(TG_F32, -INFINITY),
    SCALAR(TG_F32, NAN),
    SCALAR(TG_F32, 1e300),
    SCALAR(TG_F32, 1e-42),
    SCALAR(TG_BF16, 0.1),
    SCALAR(TG_BF16, -INFINITY),
    SCALAR(TG_BF16, NAN),
    SCALAR(TG_F16, 0.1),
    SCALAR(TG_F16, INFINITY),
    SCALAR(TG_F16, NAN),
    SCALAR(TG_BOOL, 1),
    SCALAR(TG_BOOL, 0),
    SCALAR(TG_I8, -128),
    SCALAR(TG_I32, -2147483648.0),
    SCALAR(TG_I64, 4503599627370496.0),
    SCALAR(TG_U8, 255),
    SCALAR(TG_U32, 4294967295.0),
    SCALAR(TG_U64, 0x1.8p63),
    SCALAR(TG_I32, 2.6),
    SCALAR(TG_U32, -0.0),
    FULL(TG_F32, 1.5),
    FULL(TG_F16, 65504),
    FULL(TG_BF16, -3),
    FULL(TG_I32, 7),
    FULL(TG_BOOL, 1),
    IOTA(TG_F32, 2),
    IOTA(TG_I32, 0),
    IOTA(TG_BF16, 1),
    IOTA(TG_U8, 2),
    IOTA(TG_U64, 1),
    {.op = NULL},
};
