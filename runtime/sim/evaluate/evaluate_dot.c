/*
 * evaluate_dot.c - dot_general and convolution. Both bring their operands into one
 * plain order and the type of the sums, and then add up products of rows: a row of
 * numbers times a matrix with as many rows.
 *
 * Half-width floats are summed in f32 and rounded at the end.
 */
#include "runtime/sim/evaluate/evaluate_kernels.h"
#include "runtime/sim/evaluate/evaluate_rules.h"
#include "runtime/sim/evaluate/evaluate_walk.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

/* ---- products of rows ------------------------------------------------------------------- */

/* OUT[j] += sum over i < K of LEFT[i] RIGHT[i STRIDE + j], for j < N. */
typedef void product(void *out, const void *left, const void *right, int64_t k, int64_t n,
                     int64_t stride);
/* OUT[j] += LEFT[j] RIGHT[j]. */
typedef void pairwise(void *out, const void *left, const void *right, int64_t n);

/* Columns whose sums stay in registers. */
#define TILE 16

#define PRODUCT(name, T)                                                                           \
    static void product_##name(void *out, const void *left, const void *right, int64_t k,          \
                               int64_t n, int64_t stride)                                          \
    {                                                                                              \
        T *o = out;                                                                                \
        const T *a = left, *b = right;                                                             \
        int64_t j = 0;                                                                             \
        for (; j + TILE <= n; j += TILE) {                                                         \
            T sums[TILE];                                                                          \
            for (int t = 0; t < TILE; t++)                                                         \
                sums[t] = o[j + t];                                                                \
            for (int64_t i = 0; i < k; i++)                                                        \
                for (int t = 0; t < TILE; t++)                                                     \
                    sums[t] = (T)(sums[t] + a[i] * b[i * stride + j + t]);                         \
            for (int t = 0; t < TILE; t++)                                                         \
                o[j + t] = sums[t];                                                                \
        }                                                                                          \
        for (; j < n; j++) {                                                                       \
            T sum = o[j];                                                                          \
            for (int64_t i = 0; i < k; i++)                                                        \
                sum = (T)(sum + a[i] * b[i * stride + j]);                                         \
            o[j] = sum;                                                                            \
        }                                                                                          \
    }                                                                                              \
    static void pairwise_##name(void *out, const void *left, const void *right, int64_t n)         \
    {                                                                                              \
        T *o = out;                                                                                \
        const T *a = left, *b = right;                                                             \
        for (int64_t j = 0; j < n; j++)                                                            \
            o[j] = (T)(o[j] + a[j] * b[j]);                                                        \
    }

/* Integers of either sign multiply alike as unsigned ones, and those wrap. Where int is wider
 * than they are, a product of two and a sum still fits it. */
PRODUCT(8, uint8_t)
PRODUCT(32, uint32_t)
PRODUCT(64, uint64_t)
PRODUCT(f32, float)
PRODUCT(f64, double)
PRODUCT(c64, complex float)
PRODUCT(c128, complex double)

typedef struct arithmetic {
    product *product;
    pairwise *pairwise;
} arithmetic;

static arithmetic arithmetic_of(bn_dtype dtype)
{
    static const arithmetic rows[BN_DTYPES_SIMULATED] = {
        [BN_S8] = {product_8, pairwise_8},      [BN_U8] = {product_8, pairwise_8},
        [BN_S32] = {product_32, pairwise_32},   [BN_U32] = {product_32, pairwise_32},
        [BN_S64] = {product_64, pairwise_64},   [BN_U64] = {product_64, pairwise_64},
        [BN_F32] = {product_f32, pairwise_f32}, [BN_F64] = {product_f64, pairwise_f64},
        [BN_C64] = {product_c64, pairwise_c64}, [BN_C128] = {product_c128, pairwise_c128},
    };
    return rows[dtype];
}

/* The type of the sums for results of DTYPE. */
static bn_dtype sum_type(bn_dtype dtype)
{
    return dtype == BN_S16 ? BN_S32 : dtype == BN_U16 ? BN_U32 : sim_wide(dtype);
}

/* ---- operands --------------------------------------------------------------------------- */

/* The dimensions of VALUE in a new order, as DTYPE; *OUT is malloced. */
static sim_code reordered(sim_run *run, int value, const int *order, bn_dtype dtype, void **out)
{
    const sim_type *type = &run->program->types[value];
    const int64_t n = sim_type_elements(type);
    const size_t bytes = bn_dtype_bytes(dtype);
    sim_type other = *type;
    sim_walk walk = {.rank = type->rank};
    int64_t strides[SIM_MAX_RANK];
    void *converted;
    sim_strides(type, strides);
    for (int i = 0; i < type->rank; i++) {
        other.dims[i] = walk.dims[i] = type->dims[order[i]];
        walk.from[i] = strides[order[i]];
    }
    sim_strides(&other, walk.to);
    if (sim_run_memory(run, n * (int64_t)bytes, out) != SIM_OK)
        return run->st->code;
    if (dtype == type->dtype) {
        sim_copy(*out, run->values[value], &walk, bytes);
        return SIM_OK;
    }
    if (sim_run_memory(run, n * (int64_t)bytes, &converted) != SIM_OK) {
        free(*out);
        return run->st->code;
    }
    sim_convert(dtype, converted, type->dtype, run->values[value], n);
    sim_copy(*out, converted, &walk, bytes);
    free(converted);
    return SIM_OK;
}

/* Operands in order, and zeros for the sums. */
typedef struct operands {
    bn_dtype dtype;
    size_t bytes; /* of an element */
    void *left, *right, *sums;
} operands;

static void operands_free(operands *o)
{
    free(o->left);
    free(o->right);
    free(o->sums);
}

static sim_code operands_make(sim_run *run, const sim_op *op, const int *left, const int *right,
                              operands *o)
{
    const sim_type *out = sim_result_type(run->program, op, 0);
    const int64_t n = sim_type_elements(out);
    *o = (operands){.dtype = sum_type(out->dtype)};
    o->bytes = bn_dtype_bytes(o->dtype);
    sim_code code = reordered(run, op->operands[0], left, o->dtype, &o->left);
    if (code != SIM_OK)
        o->left = NULL;
    else if ((code = reordered(run, op->operands[1], right, o->dtype, &o->right)) != SIM_OK)
        o->right = NULL;
    else
        code = sim_run_memory(run, n * (int64_t)o->bytes, &o->sums);
    if (code == SIM_OK)
        memset(o->sums, 0, (size_t)n * o->bytes);
    else
        operands_free(o);
    return code;
}

static sim_code check_types(const sim_program *p, const sim_op *op, sim_status *st)
{
    const bn_dtype to = sim_result_type(p, op, 0)->dtype;
    for (int i = 0; i < 2; i++) {
        const bn_dtype from = sim_operand_type(p, op, i)->dtype;
        if (!arithmetic_of(sum_type(to)).product || from == BN_PRED ||
            (bn_dtype_class(from) == BN_COMPLEX && bn_dtype_class(to) != BN_COMPLEX))
            return sim_refuse(op, st, SIM_UNIMPLEMENTED,
                              "the simulator cannot evaluate it on %s to %s", bn_dtype_text(from),
                              bn_dtype_text(to));
    }
    return SIM_OK;
}

/* ---- dot_general ------------------------------------------------------------------------ */

/* Puts the dimensions that are in neither list into ORDER; returns how many. */
static int rest_of(int rank, const sim_attribute *batch, const sim_attribute *contract, int *order)
{
    int count = 0;
    for (int d = 0; d < rank; d++)
        if (!sim_in_list(batch->ints, batch->count, d) &&
            !sim_in_list(contract->ints, contract->count, d))
            order[count++] = d;
    return count;
}

typedef struct dot_dims {
    const sim_attribute *batch[2], *contract[2];
} dot_dims;

static dot_dims dot_dims_of(const sim_op *op)
{
    return (dot_dims){{sim_attribute_find(op, "lhs_batching_dimensions"),
                       sim_attribute_find(op, "rhs_batching_dimensions")},
                      {sim_attribute_find(op, "lhs_contracting_dimensions"),
                       sim_attribute_find(op, "rhs_contracting_dimensions")}};
}

sim_code sim_can_dot_general(const sim_program *p, const sim_op *op, sim_status *st)
{
    return check_types(p, op, st);
}

static int64_t sizes(const sim_type *type, const int *order, int count)
{
    int64_t elements = 1;
    for (int i = 0; i < count; i++)
        elements *= type->dims[order[i]];
    return elements;
}

/* Rows and columns of the right side that stay in the cache while all rows of the left pass. */
#define BLOCK_ROWS    64
#define BLOCK_COLUMNS 512

/* OUT (m, n) += LEFT (m, k) RIGHT (k, n) */
static void multiply(const operands *o, char *out, const char *left, const char *right, int64_t m,
                     int64_t k, int64_t n)
{
    product *add = arithmetic_of(o->dtype).product;
    const int64_t bytes = (int64_t)o->bytes;
    for (int64_t j = 0; j < n; j += BLOCK_COLUMNS)
        for (int64_t i = 0; i < k; i += BLOCK_ROWS)
            for (int64_t row = 0; row < m; row++)
                add(out + (row * n + j) * bytes, left + (row * k + i) * bytes,
                    right + (i * n + j) * bytes, k - i < BLOCK_ROWS ? k - i : BLOCK_ROWS,
                    n - j < BLOCK_COLUMNS ? n - j : BLOCK_COLUMNS, n);
}

sim_code sim_rule_dot_general(sim_run *run, const sim_op *op)
{
    const sim_type *left = sim_operand_type(run->program, op, 0);
    const sim_type *right = sim_operand_type(run->program, op, 1);
    const sim_type *out = sim_result_type(run->program, op, 0);
    const dot_dims d = dot_dims_of(op);
    const int batches = (int)d.batch[0]->count, contracted = (int)d.contract[0]->count;
    int order[2][SIM_MAX_RANK];
    operands o;
    for (int i = 0; i < batches; i++) {
        order[0][i] = (int)d.batch[0]->ints[i];
        order[1][i] = (int)d.batch[1]->ints[i];
    }
    const int rows = rest_of(left->rank, d.batch[0], d.contract[0], order[0] + batches);
    for (int i = 0; i < contracted; i++) {
        order[0][batches + rows + i] = (int)d.contract[0]->ints[i];
        order[1][batches + i] = (int)d.contract[1]->ints[i];
    }
    rest_of(right->rank, d.batch[1], d.contract[1], order[1] + batches + contracted);
    if (sim_type_elements(out) == 0)
        return SIM_OK;
    const int64_t b = sizes(left, order[0], batches), m = sizes(left, order[0] + batches, rows);
    const int64_t k = sizes(left, order[0] + batches + rows, contracted);
    const int64_t n = sim_type_elements(out) / (b * m);
    if (sim_run_work(run, (double)b * (double)m * (double)k * (double)n) != SIM_OK ||
        operands_make(run, op, order[0], order[1], &o) != SIM_OK)
        return run->st->code;
    const size_t bytes = o.bytes;
    for (int64_t i = 0; i < b; i++)
        multiply(&o, (char *)o.sums + (size_t)(i * m * n) * bytes,
                 (char *)o.left + (size_t)(i * m * k) * bytes,
                 (char *)o.right + (size_t)(i * k * n) * bytes, m, k, n);
    sim_convert(out->dtype, sim_result(run, op, 0), o.dtype, o.sums, sim_type_elements(out));
    operands_free(&o);
    return SIM_OK;
}

/* ---- convolution ------------------------------------------------------------------------ */

/* Orders: input (batch, places, features), kernel (places, input features, output
 * features), output as the input. */
typedef struct convolution {
    int places;                                     /* spatial dimensions */
    int order[3][SIM_MAX_RANK];                     /* of input, kernel, output */
    int64_t in[SIM_MAX_RANK], window[SIM_MAX_RANK]; /* sizes */
    int64_t out[SIM_MAX_RANK];                      /* sizes of the output */
    int64_t in_batch, in_features, kernel_features; /* features: of the input, of a group */
    int64_t out_batch, out_features;                /* of the result */
    int64_t feature_groups, batch_groups;           /* one of them is 1 */
    const int64_t *stride, *padding, *in_dilation, *window_dilation, *reversal;
} convolution;

/* ORDER of a side from the dimensions A and B, before and behind the places, or both behind them.
 */
static void order_of(const sim_op *op, const char *a, const char *places, const char *b,
                     bool places_first, int *order)
{
    const sim_attribute *list = sim_attribute_find(op, places);
    if (!places_first)
        *order++ = (int)sim_attribute_int(op, a);
    for (size_t i = 0; i < list->count; i++)
        *order++ = (int)list->ints[i];
    if (places_first)
        *order++ = (int)sim_attribute_int(op, a);
    *order = (int)sim_attribute_int(op, b);
}

static void convolution_orders(const sim_program *p, const sim_op *op, convolution *c)
{
    const sim_type *in = sim_operand_type(p, op, 0), *kernel = sim_operand_type(p, op, 1);
    const sim_type *out = sim_result_type(p, op, 0);
    order_of(op, "input_batch_dimension", "input_spatial_dimensions", "input_feature_dimension",
             false, c->order[0]);
    order_of(op, "kernel_input_feature_dimension", "kernel_spatial_dimensions",
             "kernel_output_feature_dimension", true, c->order[1]);
    order_of(op, "output_batch_dimension", "output_spatial_dimensions", "output_feature_dimension",
             false, c->order[2]);
    const int n = c->places = in->rank - 2;
    for (int i = 0; i < n; i++) {
        c->in[i] = in->dims[c->order[0][i + 1]];
        c->window[i] = kernel->dims[c->order[1][i]];
        c->out[i] = out->dims[c->order[2][i + 1]];
    }
    c->in_batch = in->dims[c->order[0][0]];
    c->in_features = in->dims[c->order[0][n + 1]];
    c->kernel_features = kernel->dims[c->order[1][n]];
    c->out_batch = out->dims[c->order[2][0]];
    c->out_features = kernel->dims[c->order[1][n + 1]];
}

/* Bounds of padding and dilation, so that no place overflows. */
#define FAR (INT64_C(1) << 30)

static sim_code convolution_read(const sim_program *p, const sim_op *op, convolution *c,
                                 sim_status *st)
{
    convolution_orders(p, op, c);
    const size_t n = (size_t)c->places;
    c->stride = sim_checked_ints(op, "window_strides", n, 1, FAR, st);
    c->padding = sim_checked_ints(op, "padding", 2 * n, -FAR, FAR, st);
    c->in_dilation = sim_checked_ints(op, "lhs_dilation", n, 1, FAR, st);
    c->window_dilation = sim_checked_ints(op, "rhs_dilation", n, 1, FAR, st);
    c->reversal = sim_checked_ints(op, "window_reversal", n, 0, 1, st);
    if (!c->stride || !c->padding || !c->in_dilation || !c->window_dilation || !c->reversal)
        return st->code;
    c->feature_groups = sim_attribute_int(op, "feature_group_count");
    c->batch_groups = sim_attribute_int(op, "batch_group_count");
    return SIM_OK;
}

sim_code sim_can_convolution(const sim_program *p, const sim_op *op, sim_status *st)
{
    convolution c;
    if (check_types(p, op, st) != SIM_OK || convolution_read(p, op, &c, st) != SIM_OK)
        return st->code;
    for (int i = 0; i < c.places; i++)
        if (c.in[i] > FAR || c.window[i] > FAR || c.out[i] > FAR)
            return sim_refuse(op, st, SIM_INVALID_ARGUMENT, "a spatial dimension is too large");
    return SIM_OK;
}

/* Number of the input's place under window place W at output place O, or -1. */
static int64_t input_place(const convolution *c, const int64_t *o, const int64_t *w)
{
    int64_t place = 0;
    for (int i = 0; i < c->places; i++) {
        const int64_t at = o[i] * c->stride[i] + w[i] * c->window_dilation[i] - c->padding[2 * i];
        const int64_t index = at / c->in_dilation[i];
        if (at < 0 || index >= c->in[i] || index * c->in_dilation[i] != at)
            return -1;
        place = place * c->in[i] + index;
    }
    return place;
}

static int64_t count_of(const int64_t *dims, int rank)
{
    int64_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= dims[i];
    return count;
}

/* Adds what one place of the kernel, at KERNEL, gives at output place NUMBER from PLACE. */
static void add_place(const convolution *c, const operands *o, const char *kernel, int64_t number,
                      int64_t place)
{
    const arithmetic a = arithmetic_of(o->dtype);
    const int64_t bytes = (int64_t)o->bytes, groups = c->feature_groups * c->batch_groups;
    const int64_t in_places = count_of(c->in, c->places), outs = count_of(c->out, c->places);
    const int64_t width = c->out_features / groups;
    const bool single = c->kernel_features == 1 && width == 1 && c->batch_groups == 1;
    for (int64_t n = 0; n < c->out_batch; n++) {
        char *out = (char *)o->sums + (n * outs + number) * c->out_features * bytes;
        if (single) {
            const char *in = (char *)o->left + (n * in_places + place) * c->in_features * bytes;
            a.pairwise(out, in, kernel, c->out_features);
            continue;
        }
        for (int64_t g = 0; g < groups; g++) {
            const int64_t batch = c->batch_groups > 1 ? g * c->out_batch + n : n;
            const int64_t first = c->batch_groups > 1 ? 0 : g * c->kernel_features;
            const char *in =
                (char *)o->left + ((batch * in_places + place) * c->in_features + first) * bytes;
            a.product(out + g * width * bytes, in, kernel + g * width * bytes, c->kernel_features,
                      width, c->out_features);
        }
    }
}

/* One place of the kernel after the other: its matrix stays in the cache. */
static void convolve(const convolution *c, const operands *o)
{
    int64_t w[SIM_MAX_RANK] = {0}, index[SIM_MAX_RANK], window = 0;
    const size_t matrix = (size_t)(c->kernel_features * c->out_features) * o->bytes;
    do {
        int64_t number = 0;
        const char *kernel = (char *)o->right;
        for (int i = 0; i < c->places; i++)
            window = (i == 0 ? 0 : window * c->window[i]) +
                     (c->reversal[i] ? c->window[i] - 1 - w[i] : w[i]);
        kernel += (size_t)window * matrix;
        memset(index, 0, sizeof index);
        do {
            const int64_t place = input_place(c, index, w);
            if (place >= 0)
                add_place(c, o, kernel, number, place);
            number++;
        } while (sim_next_index(index, c->out, c->places));
    } while (sim_next_index(w, c->window, c->places));
}

/* The sums as the result has them. */
static sim_code deliver(sim_run *run, const sim_op *op, const convolution *c, const operands *o)
{
    const sim_type *out = sim_result_type(run->program, op, 0);
    const int64_t n = sim_type_elements(out);
    const size_t bytes = bn_dtype_bytes(out->dtype);
    sim_type sums = *out;
    sim_walk walk = {.rank = out->rank};
    int64_t strides[SIM_MAX_RANK];
    void *converted;
    if (sim_run_memory(run, n * (int64_t)bytes, &converted) != SIM_OK)
        return run->st->code;
    sim_convert(out->dtype, converted, o->dtype, o->sums, n);
    sim_strides(out, strides);
    for (int i = 0; i < out->rank; i++) {
        sums.dims[i] = walk.dims[i] = out->dims[c->order[2][i]];
        walk.to[i] = strides[c->order[2][i]];
    }
    sim_strides(&sums, walk.from);
    sim_copy(sim_result(run, op, 0), converted, &walk, bytes);
    free(converted);
    return SIM_OK;
}

sim_code sim_rule_convolution(sim_run *run, const sim_op *op)
{
    const sim_type *out = sim_result_type(run->program, op, 0);
    const sim_type *kernel = sim_operand_type(run->program, op, 1);
    convolution c;
    operands o;
    if (convolution_read(run->program, op, &c, run->st) != SIM_OK)
        return run->st->code;
    const double products = (double)sim_type_elements(out) * (double)count_of(c.window, c.places) *
                            (double)c.kernel_features;
    if (sim_run_work(run, products) != SIM_OK ||
        operands_make(run, op, c.order[0], c.order[1], &o) != SIM_OK)
        return run->st->code;
    if (sim_type_elements(out) > 0 && sim_type_elements(kernel) > 0 &&
        sim_type_elements(sim_operand_type(run->program, op, 0)) > 0)
        convolve(&c, &o);
    sim_code code = deliver(run, op, &c, &o);
    operands_free(&o);
    return code;
}
