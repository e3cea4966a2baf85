/*
 * op_unary.c - functions of one operand that work on each element alone: signs,
 * exponentials and logarithms, roots, trigonometry, complement.
 */
#include "runtime/graph/op_priv.h"

#include <math.h>

/* ---- type rules -------------------------------------------------------------- */

static bn_code infer_float(const tg_node *node, bn_status *st)
{
    const tg_type *x = tg_operand_type(node, 0);
    if (!bn_dtype_is_float(x->dtype))
        return tg_type_fail(st, "wants a floating-point operand, got", x);
    node->results[0].type = *x;
    return BN_OK;
}

static bn_code infer_signed(const tg_node *node, bn_status *st)
{
    const tg_type *x = tg_operand_type(node, 0);
    if (x->dtype == TG_BOOL || bn_dtype_is_unsigned(x->dtype))
        return tg_type_fail(st, "wants a signed operand, got", x);
    node->results[0].type = *x;
    return BN_OK;
}

static bn_code infer_bits(const tg_node *node, bn_status *st)
{
    const tg_type *x = tg_operand_type(node, 0);
    if (bn_dtype_is_float(x->dtype))
        return tg_type_fail(st, "wants bool or integers, got", x);
    node->results[0].type = *x;
    return BN_OK;
}

/* ---- lowering ---------------------------------------------------------------- */

/* StableHLO itself has no error function; its companion dialect CHLO, which JAX
 * emits too, is parsed wherever StableHLO is. */
static void lower_erf(tg_lowering *l, const tg_node *node)
{
    bn_text *out = tg_lowering_text(l);
    tg_lowering_define(l, node);
    bn_text_puts(out, node->op->stablehlo);
    bn_text_putc(out, ' ');
    tg_lowering_value(l, node->operands[0]);
    bn_text_puts(out, " : ");
    tg_type_write(tg_operand_type(node, 0), out);
    bn_text_puts(out, " -> ");
    tg_type_write(&node->results[0].type, out);
}

/* ---- gradients ----------------------------------------------------------------- */

GRADIENT(grad_neg)
{
    (void)node, (void)need;
    gin[0] = tg_neg(t, gout[0]);
}

GRADIENT(grad_abs)
{
    (void)need;
    gin[0] = tg_mul(t, gout[0], tg_sign(t, node->operands[0]));
}

/* Piecewise constant: the derivative is zero where it exists. */
GRADIENT(grad_zero)
{
    (void)need, (void)gout;
    gin[0] = tg_full(t, tg_operand_type(node, 0), 0.0);
}

GRADIENT(grad_exp)
{
    (void)need;
    gin[0] = tg_mul(t, gout[0], node->results);
}

/* e^x, from the result: (e^x - 1) + 1. */
GRADIENT(grad_expm1)
{
    (void)need;
    gin[0] = tg_mul(t, gout[0], tg_add(t, node->results, tg_op_number_like(t, node, 1.0)));
}

GRADIENT(grad_log)
{
    (void)need;
    gin[0] = tg_div(t, gout[0], node->operands[0]);
}

GRADIENT(grad_log1p)
{
    (void)need;
    gin[0] = tg_div(t, gout[0], tg_add(t, node->operands[0], tg_op_number_like(t, node, 1.0)));
}

GRADIENT(grad_sqrt)
{
    (void)need;
    gin[0] = tg_div(t, tg_mul(t, gout[0], tg_op_number_like(t, node, 0.5)), node->results);
}

/* d x^(-1/2) = -1/2 x^(-3/2) = -1/2 r / x */
GRADIENT(grad_rsqrt)
{
    (void)need;
    tg_tensor *r = tg_div(t, node->results, node->operands[0]);
    gin[0] = tg_mul(t, gout[0], tg_mul(t, r, tg_op_number_like(t, node, -0.5)));
}

GRADIENT(grad_tanh)
{
    (void)need;
    tg_tensor *square = tg_mul(t, node->results, node->results);
    gin[0] = tg_mul(t, gout[0], tg_sub(t, tg_op_number_like(t, node, 1.0), square));
}

GRADIENT(grad_logistic)
{
    (void)need;
    tg_tensor *rest = tg_sub(t, tg_op_number_like(t, node, 1.0), node->results);
    gin[0] = tg_mul(t, gout[0], tg_mul(t, node->results, rest));
}

/* d erf(x) = 2 / sqrt(pi) exp(-x^2) */
GRADIENT(grad_erf)
{
    (void)need;
    tg_tensor *x = node->operands[0];
    tg_tensor *bell = tg_exp(t, tg_neg(t, tg_mul(t, x, x)));
    gin[0] = tg_mul(t, gout[0], tg_mul(t, bell, tg_op_number_like(t, node, M_2_SQRTPI)));
}

GRADIENT(grad_sin)
{
    (void)need;
    gin[0] = tg_mul(t, gout[0], tg_cos(t, node->operands[0]));
}

GRADIENT(grad_cos)
{
    (void)need;
    gin[0] = tg_neg(t, tg_mul(t, gout[0], tg_sin(t, node->operands[0])));
}

/* ---- rows ------------------------------------------------------------------------ */

#define FAMILY "element-wise"

static const tg_op op_neg = {"neg",        "negate",          FAMILY,   "-x", 1, 1, 1, 0,
                             infer_signed, tg_lowering_plain, grad_neg, NULL};
static const tg_op op_abs = {
    "abs", "abs", FAMILY, "|x|", 1, 1, 1, 0, infer_signed, tg_lowering_plain, grad_abs, NULL};
static const tg_op op_sign = {"sign", "sign", FAMILY,       "-1, 0 or 1",      1,         1,
                              1,      0,      infer_signed, tg_lowering_plain, grad_zero, NULL};
static const tg_op op_floor = {"floor",     "floor",
                               FAMILY,      "largest whole number not above x",
                               1,           1,
                               1,           0,
                               infer_float, tg_lowering_plain,
                               grad_zero,   NULL};
static const tg_op op_exp = {"exp",       "exponential",     FAMILY,   "e^x", 1, 1, 1, 0,
                             infer_float, tg_lowering_plain, grad_exp, NULL};
static const tg_op op_expm1 = {
    "expm1",     "exponential_minus_one", FAMILY,     "e^x - 1", 1, 1, 1, 0,
    infer_float, tg_lowering_plain,       grad_expm1, NULL};
static const tg_op op_log = {"log", "log", FAMILY,      "natural logarithm", 1,        1,
                             1,     0,     infer_float, tg_lowering_plain,   grad_log, NULL};
static const tg_op op_log1p = {"log1p",     "log_plus_one",    FAMILY,     "ln(1 + x)", 1, 1, 1, 0,
                               infer_float, tg_lowering_plain, grad_log1p, NULL};
static const tg_op op_sqrt = {"sqrt", "sqrt", FAMILY,      "square root",     1,         1,
                              1,      0,      infer_float, tg_lowering_plain, grad_sqrt, NULL};
static const tg_op op_rsqrt = {"rsqrt", "rsqrt", FAMILY,      "1 / square root", 1,          1,
                               1,       0,       infer_float, tg_lowering_plain, grad_rsqrt, NULL};
static const tg_op op_tanh = {"tanh", "tanh", FAMILY,      "hyperbolic tangent", 1,         1,
                              1,      0,      infer_float, tg_lowering_plain,    grad_tanh, NULL};
static const tg_op op_logistic = {
    "logistic",        "logistic",    FAMILY, "1 / (1 + e^-x)", 1, 1, 1, 0, infer_float,
    tg_lowering_plain, grad_logistic, NULL};
static const tg_op op_erf = {"erf", "chlo.erf", FAMILY,      "error function", 1,        1,
                             1,     0,          infer_float, lower_erf,        grad_erf, NULL};
static const tg_op op_sin = {
    "sin", "sine", FAMILY, "sine", 1, 1, 1, 0, infer_float, tg_lowering_plain, grad_sin, NULL};
static const tg_op op_cos = {"cos", "cosine", FAMILY,      "cosine",          1,        1,
                             1,     0,        infer_float, tg_lowering_plain, grad_cos, NULL};
static const tg_op op_not = {"not",      "not",
                             FAMILY,     "logical or bitwise complement",
                             1,          1,
                             1,          0,
                             infer_bits, tg_lowering_plain,
                             NULL,       NULL};

const tg_op *const tg_ops_unary[] = {
    &op_neg,   &op_abs,  &op_sign,     &op_floor, &op_exp, &op_expm1, &op_log, &op_log1p, &op_sqrt,
    &op_rsqrt, &op_tanh, &op_logistic, &op_erf,   &op_sin, &op_cos,   &op_not, NULL};

/* ---- public calls ------------------------------------------------------------------ */

static tg_tensor *unary(tg_trace *t, const tg_op *op, tg_tensor *x)
{
    return tg_emit(t, op, NULL, &x, 1);
}

tg_tensor *tg_neg(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_neg, x);
}

tg_tensor *tg_abs(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_abs, x);
}

tg_tensor *tg_sign(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_sign, x);
}

tg_tensor *tg_floor(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_floor, x);
}

tg_tensor *tg_exp(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_exp, x);
}

tg_tensor *tg_expm1(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_expm1, x);
}

tg_tensor *tg_log(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_log, x);
}

tg_tensor *tg_log1p(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_log1p, x);
}

tg_tensor *tg_sqrt(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_sqrt, x);
}

tg_tensor *tg_rsqrt(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_rsqrt, x);
}

tg_tensor *tg_tanh(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_tanh, x);
}

tg_tensor *tg_logistic(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_logistic, x);
}

tg_tensor *tg_erf(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_erf, x);
}

tg_tensor *tg_sin(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_sin, x);
}

tg_tensor *tg_cos(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_cos, x);
}

tg_tensor *tg_not(tg_trace *t, tg_tensor *x)
{
    return unary(t, &op_not, x);
}
