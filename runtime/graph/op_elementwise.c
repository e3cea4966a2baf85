/*
 * op_elementwise.c - ops that work on each element alone and have two or three
 * operands, and conversion; functions of one operand are in op_unary.c. A scalar
 * operand stands for a tensor of the result's shape; lowering broadcasts it.
 */
#include "runtime/graph/op_priv.h"

/* ---- type rules -------------------------------------------------------------- */

/* The common shape of two operands, either of which may be a scalar. */
static bn_code common_type(const tg_type *a, const tg_type *b, tg_type *out, bn_status *st)
{
    if (a->dtype == b->dtype) {
        if (b->rank == 0 || tg_type_equal(a, b)) {
            *out = *a;
            return BN_OK;
        }
        if (a->rank == 0) {
            *out = *b;
            return BN_OK;
        }
    }
    return tg_type_fail_pair(st, "operand types differ", a, b);
}

static bn_code infer_binary(const tg_node *node, bn_status *st)
{
    const tg_type *a = tg_operand_type(node, 0);
    if (a->dtype == TG_BOOL)
        return tg_type_fail(st, "wants numbers, got", a);
    return common_type(a, tg_operand_type(node, 1), &node->results[0].type, st);
}

static bn_code infer_logical(const tg_node *node, bn_status *st)
{
    const tg_type *a = tg_operand_type(node, 0);
    if (bn_dtype_is_float(a->dtype))
        return tg_type_fail(st, "wants bool or integers, got", a);
    return common_type(a, tg_operand_type(node, 1), &node->results[0].type, st);
}

static bn_code infer_compare(const tg_node *node, bn_status *st)
{
    bn_code code =
        common_type(tg_operand_type(node, 0), tg_operand_type(node, 1), &node->results[0].type, st);
    node->results[0].type.dtype = TG_BOOL;
    return code;
}

static bn_code infer_select(const tg_node *node, bn_status *st)
{
    const tg_type *p = tg_operand_type(node, 0);
    tg_type *out = &node->results[0].type;
    if (p->dtype != TG_BOOL)
        return tg_type_fail(st, "wants a bool predicate, got", p);
    bn_code code = common_type(tg_operand_type(node, 1), tg_operand_type(node, 2), out, st);
    if (code != BN_OK)
        return code;
    if (out->rank == 0)
        *out = tg_type_make(out->dtype, p->rank, p->dims);
    tg_type shape = *out;
    shape.dtype = TG_BOOL;
    return tg_type_equal(&shape, p)
               ? BN_OK
               : tg_type_fail_pair(st, "predicate and result shapes differ", p, out);
}

static bn_code infer_convert(const tg_node *node, bn_status *st)
{
    const tg_convert_attributes *c = node->attributes;
    (void)st;
    node->results[0].type = *tg_operand_type(node, 0);
    node->results[0].type.dtype = (tg_dtype)c->dtype;
    return BN_OK;
}

/* ---- lowering ---------------------------------------------------------------- */

/* Names of operands as the result's shape: a scalar is broadcast first. */
typedef struct shaped {
    bool extra;
    unsigned name;
} shaped;

static shaped shape_operand(tg_lowering *l, const tg_node *node, size_t index)
{
    const tg_type *x = tg_operand_type(node, index);
    tg_type want = node->results[0].type;
    want.dtype = x->dtype;
    if (x->rank == want.rank)
        return (shaped){false, 0};
    shaped s = {true, tg_lowering_fresh(l)};
    bn_text *out = tg_lowering_text(l);
    bn_text_puts(out, "    ");
    tg_lowering_extra(l, s.name);
    bn_text_puts(out, " = stablehlo.broadcast_in_dim ");
    tg_lowering_value(l, node->operands[index]);
    bn_text_puts(out, ", dims = [] : (");
    tg_type_write(x, out);
    bn_text_puts(out, ") -> ");
    tg_type_write(&want, out);
    tg_lowering_end(l, node);
    return s;
}

static void write_shaped(tg_lowering *l, const tg_node *node, size_t index, shaped s)
{
    if (s.extra)
        tg_lowering_extra(l, s.name);
    else
        tg_lowering_value(l, node->operands[index]);
}

static void lower_binary(tg_lowering *l, const tg_node *node)
{
    shaped a = shape_operand(l, node, 0), b = shape_operand(l, node, 1);
    bn_text *out = tg_lowering_text(l);
    tg_lowering_define(l, node);
    bn_text_puts(out, "stablehlo.");
    bn_text_puts(out, node->op->stablehlo);
    bn_text_putc(out, ' ');
    write_shaped(l, node, 0, a);
    bn_text_puts(out, ", ");
    write_shaped(l, node, 1, b);
    bn_text_puts(out, " : ");
    tg_type_write(&node->results[0].type, out);
}

static void lower_compare(tg_lowering *l, const tg_node *node)
{
    static const char *const directions[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
    const tg_compare_attributes *c = node->attributes;
    shaped a = shape_operand(l, node, 0), b = shape_operand(l, node, 1);
    bn_text *out = tg_lowering_text(l);
    tg_type operand = node->results[0].type;
    operand.dtype = tg_operand_type(node, 0)->dtype;
    tg_lowering_define(l, node);
    bn_text_puts(out, "stablehlo.compare ");
    bn_text_puts(out, directions[c->direction]);
    bn_text_puts(out, ", ");
    write_shaped(l, node, 0, a);
    bn_text_puts(out, ", ");
    write_shaped(l, node, 1, b);
    bn_text_puts(out, " : (");
    tg_type_write(&operand, out);
    bn_text_puts(out, ", ");
    tg_type_write(&operand, out);
    bn_text_puts(out, ") -> ");
    tg_type_write(&node->results[0].type, out);
}

static void lower_select(tg_lowering *l, const tg_node *node)
{
    shaped a = shape_operand(l, node, 1), b = shape_operand(l, node, 2);
    bn_text *out = tg_lowering_text(l);
    tg_lowering_define(l, node);
    bn_text_puts(out, "stablehlo.select ");
    tg_lowering_value(l, node->operands[0]);
    bn_text_puts(out, ", ");
    write_shaped(l, node, 1, a);
    bn_text_puts(out, ", ");
    write_shaped(l, node, 2, b);
    bn_text_puts(out, " : ");
    tg_type_write(tg_operand_type(node, 0), out);
    bn_text_puts(out, ", ");
    tg_type_write(&node->results[0].type, out);
}

/* ---- gradients ----------------------------------------------------------------- */

/* A gradient of the result's shape as one of operand INDEX's: summed when the
 * operand is a scalar that was broadcast. */
static tg_tensor *fit(tg_trace *t, const tg_node *node, size_t index, tg_tensor *g)
{
    int32_t rank = node->results[0].type.rank;
    if (tg_operand_type(node, index)->rank == rank)
        return g;
    return tg_reduce_sum(t, g, (1u << rank) - 1u);
}

GRADIENT(grad_add)
{
    gin[0] = need[0] ? fit(t, node, 0, gout[0]) : NULL;
    gin[1] = need[1] ? fit(t, node, 1, gout[0]) : NULL;
}

GRADIENT(grad_sub)
{
    gin[0] = need[0] ? fit(t, node, 0, gout[0]) : NULL;
    gin[1] = need[1] ? fit(t, node, 1, tg_neg(t, gout[0])) : NULL;
}

GRADIENT(grad_mul)
{
    gin[0] = need[0] ? fit(t, node, 0, tg_mul(t, gout[0], node->operands[1])) : NULL;
    gin[1] = need[1] ? fit(t, node, 1, tg_mul(t, gout[0], node->operands[0])) : NULL;
}

GRADIENT(grad_div)
{
    tg_tensor *over = tg_div(t, gout[0], node->operands[1]);
    gin[0] = need[0] ? fit(t, node, 0, over) : NULL;
    gin[1] = need[1] ? fit(t, node, 1, tg_neg(t, tg_mul(t, over, node->results))) : NULL;
}

/* The operand that won takes the gradient; B at a tie (see graph.h). */
static void grad_extremum(tg_trace *t, const tg_node *node, tg_tensor *g, const bool *need,
                          tg_tensor **gin, tg_direction a_wins)
{
    tg_tensor *won = tg_compare(t, node->operands[0], node->operands[1], a_wins);
    tg_tensor *zero = tg_op_number_like(t, node, 0.0);
    gin[0] = need[0] ? fit(t, node, 0, tg_select(t, won, g, zero)) : NULL;
    gin[1] = need[1] ? fit(t, node, 1, tg_select(t, won, zero, g)) : NULL;
}

GRADIENT(grad_max)
{
    grad_extremum(t, node, gout[0], need, gin, TG_GT);
}

GRADIENT(grad_min)
{
    grad_extremum(t, node, gout[0], need, gin, TG_LT);
}

/* a^b: b a^(b-1) for a, a^b ln a for b. */
GRADIENT(grad_pow)
{
    tg_tensor *a = node->operands[0], *b = node->operands[1];
    if (need[0]) {
        tg_tensor *power = tg_pow(t, a, tg_sub(t, b, tg_op_number_like(t, node, 1.0)));
        gin[0] = fit(t, node, 0, tg_mul(t, gout[0], tg_mul(t, power, b)));
    }
    if (need[1])
        gin[1] = fit(t, node, 1, tg_mul(t, gout[0], tg_mul(t, node->results, tg_log(t, a))));
}

GRADIENT(grad_select)
{
    tg_tensor *zero = tg_op_number_like(t, node, 0.0);
    tg_tensor *p = node->operands[0];
    gin[1] = need[1] ? fit(t, node, 1, tg_select(t, p, gout[0], zero)) : NULL;
    gin[2] = need[2] ? fit(t, node, 2, tg_select(t, p, zero, gout[0])) : NULL;
}

GRADIENT(grad_convert)
{
    (void)need;
    gin[0] = tg_convert(t, gout[0], tg_operand_type(node, 0)->dtype);
}

/* ---- rows ------------------------------------------------------------------------ */

#define FAMILY "element-wise"

static const tg_op op_add = {"add", "add", FAMILY,       "a + b",      2,        2,
                             1,     0,     infer_binary, lower_binary, grad_add, NULL};
static const tg_op op_sub = {"sub", "subtract", FAMILY,       "a - b",      2,        2,
                             1,     0,          infer_binary, lower_binary, grad_sub, NULL};
static const tg_op op_mul = {"mul", "multiply", FAMILY,       "a * b",      2,        2,
                             1,     0,          infer_binary, lower_binary, grad_mul, NULL};
static const tg_op op_div = {"div", "divide", FAMILY,       "a / b",      2,        2,
                             1,     0,        infer_binary, lower_binary, grad_div, NULL};
static const tg_op op_max = {
    "max",        "maximum", FAMILY, "the larger of a and b", 2, 2, 1, 0, infer_binary,
    lower_binary, grad_max,  NULL};
static const tg_op op_min = {
    "min",        "minimum", FAMILY, "the smaller of a and b", 2, 2, 1, 0, infer_binary,
    lower_binary, grad_min,  NULL};
static const tg_op op_pow = {"pow", "power", FAMILY,       "a to the power b", 2,        2,
                             1,     0,       infer_binary, lower_binary,       grad_pow, NULL};
static const tg_op op_and = {
    "and",        "and", FAMILY, "logical or bitwise and", 2, 2, 1, 0, infer_logical,
    lower_binary, NULL,  NULL};
static const tg_op op_or = {"or", "or", FAMILY, "logical or bitwise or", 2,
                            2,    1,    0,      infer_logical,           lower_binary,
                            NULL, NULL};
static const tg_op op_xor = {
    "xor",        "xor", FAMILY, "logical or bitwise exclusive or", 2, 2, 1, 0, infer_logical,
    lower_binary, NULL,  NULL};
static const tg_op op_compare = {"compare",
                                 "compare",
                                 FAMILY,
                                 "eq, ne, lt, le, gt or ge",
                                 2,
                                 2,
                                 1,
                                 sizeof(tg_compare_attributes),
                                 infer_compare,
                                 lower_compare,
                                 NULL,
                                 NULL};
static const tg_op op_select = {"select",
                                "select",
                                FAMILY,
                                "a where the predicate holds, else b",
                                3,
                                3,
                                1,
                                0,
                                infer_select,
                                lower_select,
                                grad_select,
                                NULL};

static const tg_op op_convert = {"convert",
                                 "convert",
                                 FAMILY,
                                 "to another element type",
                                 1,
                                 1,
                                 1,
                                 sizeof(tg_convert_attributes),
                                 infer_convert,
                                 tg_lowering_plain,
                                 grad_convert,
                                 tg_op_no_flops};

const tg_op *const tg_ops_elementwise[] = {&op_add,     &op_sub,    &op_mul,     &op_div, &op_max,
                                           &op_min,     &op_pow,    &op_and,     &op_or,  &op_xor,
                                           &op_compare, &op_select, &op_convert, NULL};

/* ---- public calls ------------------------------------------------------------------ */

static tg_tensor *binary(tg_trace *t, const tg_op *op, tg_tensor *a, tg_tensor *b)
{
    tg_tensor *operands[] = {a, b};
    return tg_emit(t, op, NULL, operands, 2);
}

tg_tensor *tg_add(tg_trace *t, tg_tensor *a, tg_tensor *b)
{
    return binary(t, &op_add, a, b);
}

tg_tensor *tg_sub(tg_trace *t, tg_tensor *a, tg_tensor *b)
{
    return binary(t, &op_sub, a, b);
}

tg_tensor *tg_mul(tg_trace *t, tg_tensor *a, tg_tensor *b)
{
    return binary(t, &op_mul, a, b);
}

tg_tensor *tg_div(tg_trace *t, tg_tensor *a, tg_tensor *b)
{
    return binary(t, &op_div, a, b);
}

tg_tensor *tg_max(tg_trace *t, tg_tensor *a, tg_tensor *b)
{
    return binary(t, &op_max, a, b);
}

tg_tensor *tg_min(tg_trace *t, tg_tensor *a, tg_tensor *b)
{
    return binary(t, &op_min, a, b);
}

tg_tensor *tg_pow(tg_trace *t, tg_tensor *a, tg_tensor *b)
{
    return binary(t, &op_pow, a, b);
}

tg_tensor *tg_and(tg_trace *t, tg_tensor *a, tg_tensor *b)
{
    return binary(t, &op_and, a, b);
}

tg_tensor *tg_or(tg_trace *t, tg_tensor *a, tg_tensor *b)
{
    return binary(t, &op_or, a, b);
}

tg_tensor *tg_xor(tg_trace *t, tg_tensor *a, tg_tensor *b)
{
    return binary(t, &op_xor, a, b);
}

tg_tensor *tg_compare(tg_trace *t, tg_tensor *a, tg_tensor *b, tg_direction direction)
{
    tg_tensor *operands[] = {a, b};
    tg_compare_attributes attributes = {(int32_t)direction};
    return tg_emit(t, &op_compare, &attributes, operands, 2);
}

tg_tensor *tg_select(tg_trace *t, tg_tensor *predicate, tg_tensor *a, tg_tensor *b)
{
    tg_tensor *operands[] = {predicate, a, b};
    return tg_emit(t, &op_select, NULL, operands, 3);
}

tg_tensor *tg_convert(tg_trace *t, tg_tensor *x, tg_dtype dtype)
{
    tg_convert_attributes attributes = {(int32_t)dtype};
    if (x->type.dtype == dtype)
        return tg_value_or_poison(t, x);
    return tg_emit(t, &op_convert, &attributes, &x, 1);
}
