/*
 * op_convolution.c - two-dimensional convolution in any layout, and its
 * gradients, which are convolutions again.
 *
 * The gradient rules are the transposition rules of JAX's conv_general_dilated
 * (jax/_src/lax/convolution.py). The gradient to the input reverses the filter
 * by an op of its own: XLA for CPU runs a convolution with the reversal in its
 * window many times slower. The gradient to the filter moves no data: batch and
 * feature change roles in the dimension numbers.
 */
#include "runtime/graph/op_priv.h"

/* Places in the lists of dimension numbers; [2] and [3] are spatial. */
enum { BATCH = 0, FEATURE = 1, IN_FEATURE = 0, OUT_FEATURE = 1, SPATIAL = 2 };

static const tg_conv_dims *conv_dims(const tg_node *node)
{
    return &((const tg_conv_attributes *)node->attributes)->dims;
}

/* ---- type rules (StableHLO specification, convolution) -------------------------- */

/* (C13, C18, C20): each dimension is named once. */
static bool is_permutation(const int32_t list[4])
{
    unsigned seen = 0;
    for (int i = 0; i < 4; i++)
        if (list[i] >= 0 && list[i] < 4)
            seen |= 1u << list[i];
    return seen == 0xf;
}

/* (C3, C6, C8, C21-C23): everything that says nothing of sizes. */
static bn_code check_attributes(const tg_conv_dims *c, bn_status *st)
{
    if (!is_permutation(c->lhs) || !is_permutation(c->rhs) || !is_permutation(c->out))
        return bn_fail(st, BN_INVALID, "dimension numbers do not name each dimension once");
    for (int s = 0; s < 2; s++)
        if (c->stride[s] < 1 || c->lhs_dilation[s] < 1 || c->rhs_dilation[s] < 1)
            return bn_fail(st, BN_INVALID, "stride %d, dilations %d and %d: below 1", c->stride[s],
                           c->lhs_dilation[s], c->rhs_dilation[s]);
    if (c->groups < 1 || c->batch_groups < 1 || (c->groups > 1 && c->batch_groups > 1))
        return bn_fail(st, BN_INVALID, "%d groups and %d batch groups", c->groups, c->batch_groups);
    return BN_OK;
}

/* (C10, C11, C14-C16). */
static bn_code check_sizes(const tg_conv_dims *c, const tg_type *x, const tg_type *w, bn_status *st)
{
    int64_t batch = x->dims[c->lhs[BATCH]], feature = x->dims[c->lhs[FEATURE]];
    int64_t in = w->dims[c->rhs[IN_FEATURE]], out = w->dims[c->rhs[OUT_FEATURE]];
    if (feature != in * c->groups)
        return bn_fail(st, BN_INVALID,
                       "input features %lld of the operand, but %lld of the kernel in %d groups",
                       (long long)feature, (long long)in, c->groups);
    if (out % c->groups || out % c->batch_groups)
        return bn_fail(st, BN_INVALID, "output features %lld do not divide into %d groups",
                       (long long)out, c->groups > 1 ? c->groups : c->batch_groups);
    if (batch % c->batch_groups)
        return bn_fail(st, BN_INVALID, "batch %lld does not divide into %d groups",
                       (long long)batch, c->batch_groups);
    return BN_OK;
}

/* (C25, C26): the result. */
static bn_code infer_convolution(const tg_node *node, bn_status *st)
{
    const tg_conv_dims *c = conv_dims(node);
    const tg_type *x = tg_operand_type(node, 0), *w = tg_operand_type(node, 1);
    tg_type *out = &node->results[0].type;
    if (x->rank != 4 || w->rank != 4 || x->dtype != w->dtype || x->dtype == TG_BOOL)
        return tg_type_fail_pair(st, "wants rank 4 and numbers of one element type", x, w);
    if (check_attributes(c, st) != BN_OK || check_sizes(c, x, w, st) != BN_OK)
        return BN_INVALID;
    out->dtype = x->dtype;
    out->rank = 4;
    out->dims[c->out[BATCH]] = x->dims[c->lhs[BATCH]] / c->batch_groups;
    out->dims[c->out[FEATURE]] = w->dims[c->rhs[OUT_FEATURE]];
    for (int s = 0; s < 2; s++) {
        int64_t padded = tg_op_dilated(x->dims[c->lhs[SPATIAL + s]], c->lhs_dilation[s]) +
                         c->pad_low[s] + c->pad_high[s];
        int64_t size = tg_op_dilated(w->dims[c->rhs[SPATIAL + s]], c->rhs_dilation[s]);
        out->dims[c->out[SPATIAL + s]] = tg_op_places(padded, size, c->stride[s]);
    }
    return BN_OK;
}

/* ---- lowering ---------------------------------------------------------------- */

/* "[b, f, 0, 1]" of where each of NAMES ("b", "f") and the spatial dimensions lie. */
static void write_layout(bn_text *out, const int32_t list[4], const char names[2])
{
    char at[4] = {'?', '?', '?', '?'};
    at[list[0]] = names[0];
    at[list[1]] = names[1];
    at[list[2]] = '0';
    at[list[3]] = '1';
    for (int i = 0; i < 4; i++) {
        bn_text_puts(out, i ? ", " : "[");
        bn_text_putc(out, at[i]);
    }
    bn_text_putc(out, ']');
}

static void lower_convolution(tg_lowering *l, const tg_node *node)
{
    const tg_conv_attributes *a = node->attributes;
    const tg_conv_dims *c = &a->dims;
    const char *precision = tg_op_precision_text(a->precision);
    bn_text *out = tg_lowering_text(l);
    tg_lowering_define(l, node);
    bn_text_puts(out, "stablehlo.convolution(");
    tg_lowering_value(l, node->operands[0]);
    bn_text_puts(out, ", ");
    tg_lowering_value(l, node->operands[1]);
    bn_text_puts(out, ") dim_numbers = ");
    write_layout(out, c->lhs, "bf");
    bn_text_putc(out, 'x');
    write_layout(out, c->rhs, "io");
    bn_text_puts(out, "->");
    write_layout(out, c->out, "bf");
    tg_lowering_printf(l, ", window = {stride = [%d, %d], pad = [[%d, %d], [%d, %d]], ",
                       c->stride[0], c->stride[1], c->pad_low[0], c->pad_high[0], c->pad_low[1],
                       c->pad_high[1]);
    tg_lowering_printf(l, "lhs_dilate = [%d, %d], rhs_dilate = [%d, %d]} ", c->lhs_dilation[0],
                       c->lhs_dilation[1], c->rhs_dilation[0], c->rhs_dilation[1]);
    tg_lowering_printf(l,
                       "{batch_group_count = %d : i64, feature_group_count = %d : i64, "
                       "precision_config = [#stablehlo<precision %s>, #stablehlo<precision %s>]}",
                       c->batch_groups, c->groups, precision, precision);
    tg_lowering_signature(l, node);
}

/* ---- gradients ----------------------------------------------------------------- */

/* Dimension FROM of X, whose size COUNT divides, consists of COUNT groups. The group's number
 * moves from the outer part of FROM to the outer part of dimension TO. For filters and for the
 * input's gradient alike. */
static tg_tensor *move_groups(tg_trace *t, tg_tensor *x, int32_t from, int32_t to, int32_t count)
{
    tg_type type = x->type;
    int64_t split[5], merged[4];
    int permutation[5], at = 0;
    if (type.rank != 4 || type.dims[from] % count != 0)
        return x; /* poison: an error is on the trace */
    for (int32_t i = 0; i < 4; i++) {
        if (i == from)
            split[at++] = count;
        split[at++] = i == from ? type.dims[i] / count : type.dims[i];
        merged[i] = i == from ? type.dims[i] / count
                    : i == to ? type.dims[i] * count
                              : type.dims[i];
    }
    at = 0;
    for (int32_t i = 0; i < 4; i++) {
        if (i == to)
            permutation[at++] = from;
        permutation[at++] = i < from ? i : i + 1;
    }
    tg_tensor *parts = tg_reshape(t, x, 5, split);
    return tg_reshape(t, tg_transpose(t, parts, permutation), 4, merged);
}

/* The result's gradient, dilated by the stride, is convolved with the reversed
 * filter, whose features change roles; the padding makes the input's size. */
static tg_tensor *grad_input(tg_trace *t, const tg_node *node, tg_tensor *g)
{
    const tg_conv_dims *c = conv_dims(node);
    const tg_type *x = tg_operand_type(node, 0), *w = tg_operand_type(node, 1);
    const tg_type *y = &node->results[0].type;
    int32_t groups = c->groups * c->batch_groups; /* one of them is 1 */
    tg_conv_dims d = {.groups = groups, .batch_groups = 1};
    for (int i = 0; i < 4; i++) {
        d.lhs[i] = c->out[i];
        d.rhs[i] = c->rhs[i < SPATIAL ? 1 - i : i];
        d.out[i] = c->lhs[i];
    }
    for (int s = 0; s < 2; s++) {
        int64_t size = tg_op_dilated(w->dims[c->rhs[SPATIAL + s]], c->rhs_dilation[s]);
        int64_t in = tg_op_dilated(x->dims[c->lhs[SPATIAL + s]], c->lhs_dilation[s]);
        int64_t out = tg_op_dilated(y->dims[c->out[SPATIAL + s]], c->stride[s]);
        d.stride[s] = c->lhs_dilation[s];
        d.lhs_dilation[s] = c->stride[s];
        d.rhs_dilation[s] = c->rhs_dilation[s];
        d.pad_low[s] = (int32_t)(size - 1 - c->pad_low[s]);
        d.pad_high[s] = (int32_t)(in + size - 1 - out - d.pad_low[s]);
    }
    tg_tensor *filter = node->operands[1];
    if (groups > 1)
        filter = move_groups(t, filter, c->rhs[OUT_FEATURE], c->rhs[IN_FEATURE], groups);
    filter = tg_reverse(t, filter, 1u << c->rhs[SPATIAL] | 1u << c->rhs[SPATIAL + 1]);
    tg_tensor *gx = tg_convolution(t, g, filter, &d);
    if (c->batch_groups > 1)
        gx = move_groups(t, gx, c->lhs[FEATURE], c->lhs[BATCH], c->batch_groups);
    return gx;
}

/* The input is convolved with the result's gradient, dilated by the stride, over
 * the batch: batch stands as feature, and feature as batch. */
static tg_tensor *grad_filter(tg_trace *t, const tg_node *node, tg_tensor *g)
{
    const tg_conv_dims *c = conv_dims(node);
    const tg_type *x = tg_operand_type(node, 0), *w = tg_operand_type(node, 1);
    const tg_type *y = &node->results[0].type;
    tg_conv_dims d = {.groups = c->batch_groups, .batch_groups = c->groups};
    for (int i = 0; i < 4; i++) {
        d.lhs[i] = c->lhs[i < SPATIAL ? 1 - i : i];
        d.rhs[i] = c->out[i];
        d.out[i] = c->rhs[i];
    }
    for (int s = 0; s < 2; s++) {
        int64_t size = tg_op_dilated(w->dims[c->rhs[SPATIAL + s]], c->rhs_dilation[s]);
        int64_t in = tg_op_dilated(x->dims[c->lhs[SPATIAL + s]], c->lhs_dilation[s]);
        int64_t out = tg_op_dilated(y->dims[c->out[SPATIAL + s]], c->stride[s]);
        d.stride[s] = c->rhs_dilation[s];
        d.lhs_dilation[s] = c->lhs_dilation[s];
        d.rhs_dilation[s] = c->stride[s];
        d.pad_low[s] = c->pad_low[s];
        d.pad_high[s] = (int32_t)(out - in + size - 1 - c->pad_low[s]);
    }
    return tg_convolution(t, node->operands[0], g, &d);
}

/* Without a result element there is nothing to convolve with: zeros. */
GRADIENT(grad_convolution)
{
    bool empty = tg_type_elements(&node->results[0].type) == 0;
    for (size_t i = 0; i < 2; i++) {
        if (!need[i])
            continue;
        if (empty)
            gin[i] = tg_full(t, tg_operand_type(node, i), 0.0);
        else
            gin[i] = i == 0 ? grad_input(t, node, gout[0]) : grad_filter(t, node, gout[0]);
    }
}

/*
 * Two for each pair of a result element and a kernel element of its group,
 * padding counted as any element, as PyTorch's counter does
 * (torch/utils/flop_counter.py). Zeros put between elements are no work: along a
 * dilated dimension each operand element meets each kernel element once, so that
 * the gradients of a strided convolution count what the convolution does.
 */
static double flops_convolution(const tg_node *node)
{
    const tg_conv_dims *c = conv_dims(node);
    const tg_type *x = tg_operand_type(node, 0), *w = tg_operand_type(node, 1);
    const tg_type *y = &node->results[0].type;
    double flops = 2.0 * (double)y->dims[c->out[BATCH]] * (double)y->dims[c->out[FEATURE]] *
                   (double)w->dims[c->rhs[IN_FEATURE]];
    for (int s = 0; s < 2; s++) {
        int64_t places =
            c->lhs_dilation[s] > 1 ? x->dims[c->lhs[SPATIAL + s]] : y->dims[c->out[SPATIAL + s]];
        flops *= (double)places * (double)w->dims[c->rhs[SPATIAL + s]];
    }
    return flops;
}

/* ---- rows ---------------------------------------------------------------------- */

static const tg_op op_convolution = {"convolution",
                                     "convolution",
                                     "convolution",
                                     "two-dimensional convolution in any layout",
                                     2,
                                     2,
                                     1,
                                     sizeof(tg_conv_attributes),
                                     infer_convolution,
                                     lower_convolution,
                                     grad_convolution,
                                     flops_convolution};

const tg_op *const tg_ops_convolution[] = {&op_convolution, NULL};

/* ---- public calls ------------------------------------------------------------------ */

tg_tensor *tg_convolution(tg_trace *t, tg_tensor *lhs, tg_tensor *rhs, const tg_conv_dims *dims)
{
    tg_tensor *operands[] = {lhs, rhs};
    tg_conv_attributes attributes = {*dims, (int32_t)tg_trace_precision(t)};
    return tg_emit(t, &op_convolution, &attributes, operands, 2);
}
