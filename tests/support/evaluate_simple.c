/*
 * evaluate_simple.c - the evaluator's rules for ops without sums of products:
 * element-wise, constants, movement of data, reductions.
 */
#include "runtime/graph/op_attributes.h"
#include "tests/support/evaluator.h"

#include <math.h>
#include <string.h>

static const tg_type *result_type(const tg_node *node)
{
    return &node->results[0].type;
}

/* Operand K at result element I; a scalar is everywhere the same. */
static double operand_at(const tg_node *node, const double *const *in, size_t k, int64_t i)
{
    return in[k][tg_operand_type(node, k)->rank == 0 ? 0 : i];
}

/* ---- one operand --------------------------------------------------------------- */

static double negative(double x)
{
    return -x;
}

static double sign_of(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : x; /* zero keeps its sign */
}

static double reciprocal_root(double x)
{
    return 1 / sqrt(x);
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static double same(double x)
{
    return x;
}

static const struct {
    const char *op;
    double (*function)(double);
} unary_functions[] = {
    {"neg", negative},      {"abs", fabs},
    {"sign", sign_of},      {"floor", floor},
    {"exp", exp},           {"expm1", expm1},
    {"erf", erf},           {"log", log},
    {"log1p", log1p},       {"sqrt", sqrt},
    {"tanh", tanh},         {"sin", sin},
    {"cos", cos},           {"rsqrt", reciprocal_root},
    {"logistic", logistic}, {"reshape", same},
};

static void unary(const tg_node *node, const double *const *in, double *const *out)
{
    double (*function)(double) = NULL;
    for (size_t i = 0; i < sizeof unary_functions / sizeof *unary_functions; i++)
        if (strcmp(unary_functions[i].op, node->op->name) == 0)
            function = unary_functions[i].function;
    for (int64_t i = tg_type_elements(result_type(node)); i-- > 0;)
        out[0][i] = function(in[0][i]);
}

static void complement(const tg_node *node, const double *const *in, double *const *out)
{
    bool is_bool = result_type(node)->dtype == TG_BOOL;
    for (int64_t i = tg_type_elements(result_type(node)); i-- > 0;)
        out[0][i] = is_bool ? in[0][i] == 0 : (double)~(int64_t)in[0][i];
}

/* Towards zero; what does not fit is not asked for here. */
static void convert(const tg_node *node, const double *const *in, double *const *out)
{
    tg_dtype dtype = result_type(node)->dtype;
    bool whole = !bn_dtype_is_float(dtype) && dtype != TG_BOOL;
    for (int64_t i = tg_type_elements(result_type(node)); i-- > 0;)
        out[0][i] = whole ? trunc(in[0][i]) : in[0][i];
}

/* ---- two and three operands ------------------------------------------------------- */

static double quotient(const tg_node *node, double a, double b)
{
    return bn_dtype_is_float(result_type(node)->dtype) ? a / b : trunc(a / b);
}

static double combine(const tg_node *node, double a, double b)
{
    const char *op = node->op->name;
    if (strcmp(op, "add") == 0)
        return a + b;
    if (strcmp(op, "sub") == 0)
        return a - b;
    if (strcmp(op, "mul") == 0)
        return a * b;
    if (strcmp(op, "div") == 0)
        return quotient(node, a, b);
    if (strcmp(op, "max") == 0)
        return a > b ? a : b;
    if (strcmp(op, "min") == 0)
        return a < b ? a : b;
    if (strcmp(op, "pow") == 0)
        return pow(a, b);
    if (strcmp(op, "and") == 0)
        return (double)((int64_t)a & (int64_t)b);
    if (strcmp(op, "or") == 0)
        return (double)((int64_t)a | (int64_t)b);
    return (double)((int64_t)a ^ (int64_t)b);
}

static void binary(const tg_node *node, const double *const *in, double *const *out)
{
    for (int64_t i = tg_type_elements(result_type(node)); i-- > 0;)
        out[0][i] = combine(node, operand_at(node, in, 0, i), operand_at(node, in, 1, i));
}

static void compare(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_compare_attributes *c = node->attributes;
    for (int64_t i = tg_type_elements(result_type(node)); i-- > 0;) {
        double a = operand_at(node, in, 0, i), b = operand_at(node, in, 1, i);
        const bool holds[] = {[TG_EQ] = a == b,
                              [TG_NE] = a != b,
                              [TG_LT] = a<b, [TG_LE] = a <= b, [TG_GT] = a> b,
                              [TG_GE] = a >= b};
        out[0][i] = holds[c->direction];
    }
}

static void select_rule(const tg_node *node, const double *const *in, double *const *out)
{
    for (int64_t i = tg_type_elements(result_type(node)); i-- > 0;)
        out[0][i] = operand_at(node, in, in[0][i] != 0 ? 1 : 2, i);
}

/* ---- constants -------------------------------------------------------------------- */

static void constant(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_constant_attributes *c = node->attributes;
    double value;
    memcpy(&value, &c->bits, sizeof value);
    for (int64_t i = tg_type_elements(result_type(node)); i-- > 0;)
        out[0][i] = value;
}

static void iota(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_iota_attributes *a = node->attributes;
    const tg_type *y = result_type(node);
    int64_t at[TG_MAX_RANK] = {0};
    for (int64_t i = 0; i < tg_type_elements(y); i++, evaluator_next(at, y->dims, y->rank))
        out[0][i] = (double)at[a->dim];
}

/* ---- movement of data --------------------------------------------------------------- */

/* Fills the result from the operand element that FROM gives for each index. */
static void gather(const tg_node *node, const double *const *in, double *const *out,
                   void (*from)(const tg_node *node, const int64_t *at, int64_t *source))
{
    const tg_type *x = tg_operand_type(node, 0), *y = result_type(node);
    int64_t at[TG_MAX_RANK] = {0}, source[TG_MAX_RANK] = {0};
    for (int64_t i = 0; i < tg_type_elements(y); i++, evaluator_next(at, y->dims, y->rank)) {
        from(node, at, source);
        out[0][i] = in[0][evaluator_place(x, source)];
    }
}

static void from_transposed(const tg_node *node, const int64_t *at, int64_t *source)
{
    const tg_list_attributes *a = node->attributes;
    for (int32_t i = 0; i < a->rank; i++)
        source[a->at[i]] = at[i];
}

static void from_broadcast(const tg_node *node, const int64_t *at, int64_t *source)
{
    const tg_broadcast_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0);
    for (int32_t i = 0; i < x->rank; i++)
        source[i] = x->dims[i] == 1 ? 0 : at[a->map[i]];
}

static void from_reversed(const tg_node *node, const int64_t *at, int64_t *source)
{
    const tg_axes_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0);
    for (int32_t i = 0; i < x->rank; i++)
        source[i] = a->axes >> i & 1 ? x->dims[i] - 1 - at[i] : at[i];
}

static void from_sliced(const tg_node *node, const int64_t *at, int64_t *source)
{
    const tg_slice_attributes *a = node->attributes;
    for (int32_t i = 0; i < tg_operand_type(node, 0)->rank; i++)
        source[i] = a->start[i] + at[i] * a->stride[i];
}

static void transpose(const tg_node *node, const double *const *in, double *const *out)
{
    gather(node, in, out, from_transposed);
}

static void broadcast(const tg_node *node, const double *const *in, double *const *out)
{
    gather(node, in, out, from_broadcast);
}

static void reverse(const tg_node *node, const double *const *in, double *const *out)
{
    gather(node, in, out, from_reversed);
}

static void slice(const tg_node *node, const double *const *in, double *const *out)
{
    gather(node, in, out, from_sliced);
}

static void pad(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_pad_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0), *y = result_type(node);
    int64_t at[TG_MAX_RANK] = {0}, to[TG_MAX_RANK] = {0};
    for (int64_t i = 0; i < tg_type_elements(y); i++)
        out[0][i] = in[1][0];
    for (int64_t i = 0; i < tg_type_elements(x); i++, evaluator_next(at, x->dims, x->rank)) {
        bool inside = true;
        for (int32_t d = 0; d < x->rank; d++) {
            to[d] = a->low[d] + at[d] * (a->interior[d] + 1);
            inside = inside && to[d] >= 0 && to[d] < y->dims[d];
        }
        if (inside)
            out[0][evaluator_place(y, to)] = in[0][i];
    }
}

static void concatenate(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_concatenate_attributes *a = node->attributes;
    int64_t start = 0;
    for (size_t k = 0; k < node->operand_count; k++) {
        const tg_type *x = tg_operand_type(node, k);
        int64_t at[TG_MAX_RANK] = {0}, to[TG_MAX_RANK];
        for (int64_t i = 0; i < tg_type_elements(x); i++, evaluator_next(at, x->dims, x->rank)) {
            memcpy(to, at, sizeof to);
            to[a->dim] += start;
            out[0][evaluator_place(result_type(node), to)] = in[k][i];
        }
        start += x->dims[a->dim];
    }
}

/* ---- reductions ---------------------------------------------------------------------- */

static double lowest_of(tg_dtype dtype)
{
    static const double lowest[TG_DTYPE_COUNT] = {
        [TG_I8] = INT8_MIN, [TG_I32] = INT32_MIN, [TG_I64] = -0x1p63};
    return bn_dtype_is_float(dtype) ? -INFINITY : lowest[dtype];
}

static double highest_of(tg_dtype dtype)
{
    static const double highest[TG_DTYPE_COUNT] = {
        [TG_I8] = INT8_MAX,  [TG_I32] = INT32_MAX,  [TG_I64] = 0x1p63,
        [TG_U8] = UINT8_MAX, [TG_U32] = UINT32_MAX, [TG_U64] = 0x1p64};
    return bn_dtype_is_float(dtype) ? INFINITY : highest[dtype];
}

static void reduce(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_axes_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0), *y = result_type(node);
    bool sum = strcmp(node->op->name, "reduce_sum") == 0;
    bool max = strcmp(node->op->name, "reduce_max") == 0;
    for (int64_t i = 0; i < tg_type_elements(y); i++)
        out[0][i] = sum ? 0 : max ? lowest_of(x->dtype) : highest_of(x->dtype);
    int64_t at[TG_MAX_RANK] = {0};
    for (int64_t i = 0; i < tg_type_elements(x); i++, evaluator_next(at, x->dims, x->rank)) {
        int64_t kept[TG_MAX_RANK];
        int32_t rank = 0;
        for (int32_t d = 0; d < x->rank; d++)
            if (!(a->axes >> d & 1))
                kept[rank++] = at[d];
        double *to = &out[0][evaluator_place(y, kept)];
        *to = sum ? *to + in[0][i] : max ? fmax(*to, in[0][i]) : fmin(*to, in[0][i]);
    }
}

const evaluator_row evaluator_simple_rows[] = {
    {"neg", unary},
    {"abs", unary},
    {"sign", unary},
    {"floor", unary},
    {"exp", unary},
    {"expm1", unary},
    {"log", unary},
    {"log1p", unary},
    {"sqrt", unary},
    {"rsqrt", unary},
    {"tanh", unary},
    {"logistic", unary},
    {"erf", unary},
    {"sin", unary},
    {"cos", unary},
    {"not", complement},
    {"add", binary},
    {"sub", binary},
    {"mul", binary},
    {"div", binary},
    {"max", binary},
    {"min", binary},
    {"pow", binary},
    {"and", binary},
    {"or", binary},
    {"xor", binary},
    {"compare", compare},
    {"select", select_rule},
    {"convert", convert},
    {"constant", constant},
    {"iota", iota},
    {"reshape", unary},
    {"transpose", transpose},
    {"broadcast", broadcast},
    {"reverse", reverse},
    {"slice", slice},
    {"pad", pad},
    {"concatenate", concatenate},
    {"reduce_sum", reduce},
    {"reduce_max", reduce},
    {"reduce_min", reduce},
    {NULL, NULL},
};
