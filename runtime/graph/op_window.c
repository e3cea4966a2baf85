/*
 * op_window.c - sliding windows: maximum and sum over each window, and the
 * scatter that is the maximum's gradient.
 *
 * Padding takes part as the neutral element, so it never wins a maximum and
 * adds nothing to a sum.
 */
#include "runtime/graph/op_priv.h"

static const tg_window *node_window(const tg_node *node)
{
    return &((const tg_window_attributes *)node->attributes)->window;
}

/* ---- type rules (StableHLO specification, reduce_window) ------------------------ */

/* (C5, C7, C15): what a window over X gives. Negative padding, which would crop,
 * is left to tg_pad. */
static bn_code window_type(const tg_type *x, const tg_window *w, tg_type *out, bn_status *st)
{
    if (x->rank == 0 || x->dtype == TG_BOOL)
        return tg_type_fail(st, "wants numbers of rank 1 or more, got", x);
    *out = *x;
    for (int32_t i = 0; i < x->rank; i++) {
        if (w->size[i] < 1 || w->stride[i] < 1)
            return bn_fail(st, BN_INVALID, "window of size %d and stride %d in dimension %d",
                           w->size[i], w->stride[i], i);
        if (w->pad_low[i] < 0 || w->pad_high[i] < 0)
            return bn_fail(st, BN_INVALID, "padding %d and %d of dimension %d", w->pad_low[i],
                           w->pad_high[i], i);
        out->dims[i] =
            tg_op_places(x->dims[i] + w->pad_low[i] + w->pad_high[i], w->size[i], w->stride[i]);
    }
    return BN_OK;
}

static bn_code infer_window(const tg_node *node, bn_status *st)
{
    return window_type(tg_operand_type(node, 0), node_window(node), &node->results[0].type, st);
}

/* select_and_scatter (C1, C2, C11): the source has one element a window. */
static bn_code infer_scatter(const tg_node *node, bn_status *st)
{
    const tg_type *x = tg_operand_type(node, 0), *source = tg_operand_type(node, 1);
    tg_type windows;
    bn_code code = window_type(x, node_window(node), &windows, st);
    if (code != BN_OK)
        return code;
    if (!tg_type_equal(&windows, source))
        return tg_type_fail_pair(st, "windows and source differ", &windows, source);
    node->results[0].type = *x;
    return BN_OK;
}

/* ---- lowering ---------------------------------------------------------------- */

static void write_array(tg_lowering *l, const char *name, const int32_t *list, int32_t rank)
{
    bn_text *out = tg_lowering_text(l);
    bn_text_puts(out, name);
    bn_text_puts(out, " = array<i64: ");
    for (int32_t i = 0; i < rank; i++) {
        if (i)
            bn_text_puts(out, ", ");
        bn_text_int(out, list[i]);
    }
    bn_text_puts(out, ">, ");
}

/* " {window_dimensions = ..., window_strides = ..., padding = ...}" */
static void write_window(tg_lowering *l, const tg_window *w, int32_t rank)
{
    bn_text *out = tg_lowering_text(l);
    bn_text_puts(out, " {");
    write_array(l, "window_dimensions", w->size, rank);
    write_array(l, "window_strides", w->stride, rank);
    bn_text_puts(out, "padding = dense<[");
    for (int32_t i = 0; i < rank; i++)
        tg_lowering_printf(l, "%s[%d, %d]", i ? ", " : "", w->pad_low[i], w->pad_high[i]);
    tg_lowering_printf(l, "]> : tensor<%dx2xi64>}", rank);
}

/* A region of two scalars: BODY, "stablehlo.add %a, %b", then its result's type. */
static void write_region(tg_lowering *l, tg_dtype dtype, const char *body, bool compare)
{
    const char *d = bn_dtype_text(dtype);
    tg_lowering_printf(l, "{\n    ^bb0(%%a: tensor<%s>, %%b: tensor<%s>):\n      %%c = %s : ", d, d,
                       body);
    if (compare)
        tg_lowering_printf(l, "(tensor<%s>, tensor<%s>) -> tensor<i1>\n", d, d);
    else
        tg_lowering_printf(l, "tensor<%s>\n", d);
    tg_lowering_printf(l, "      stablehlo.return %%c : tensor<%s>\n    }", compare ? "i1" : d);
}

/* "(%1, %x0)", "(%1, %2, %x0)": operands, then the initial value. */
static void write_operands(tg_lowering *l, const tg_node *node, unsigned init)
{
    bn_text *out = tg_lowering_text(l);
    bn_text_putc(out, '(');
    for (size_t i = 0; i < node->operand_count; i++) {
        tg_lowering_value(l, node->operands[i]);
        bn_text_puts(out, ", ");
    }
    tg_lowering_extra(l, init);
    bn_text_putc(out, ')');
}

static void write_types(tg_lowering *l, const tg_node *node)
{
    bn_text *out = tg_lowering_text(l);
    tg_type scalar = {.dtype = node->results[0].type.dtype};
    bn_text_puts(out, " : (");
    for (size_t i = 0; i < node->operand_count; i++) {
        tg_type_write(tg_operand_type(node, i), out);
        bn_text_puts(out, ", ");
    }
    tg_type_write(&scalar, out);
    bn_text_puts(out, ") -> ");
    tg_type_write(&node->results[0].type, out);
}

static void lower_window(tg_lowering *l, const tg_node *node, tg_reducer reducer, const char *body)
{
    const tg_type *x = tg_operand_type(node, 0);
    unsigned init = tg_op_write_neutral(l, node, reducer, x->dtype);
    tg_lowering_define(l, node);
    bn_text_puts(tg_lowering_text(l), "\"stablehlo.reduce_window\"");
    write_operands(l, node, init);
    bn_text_puts(tg_lowering_text(l), " (");
    write_region(l, x->dtype, body, false);
    bn_text_puts(tg_lowering_text(l), ")");
    write_window(l, node_window(node), x->rank);
    write_types(l, node);
}

static void lower_window_max(tg_lowering *l, const tg_node *node)
{
    lower_window(l, node, TG_REDUCER_MAX, "stablehlo.maximum %a, %b");
}

static void lower_window_sum(tg_lowering *l, const tg_node *node)
{
    lower_window(l, node, TG_REDUCER_SUM, "stablehlo.add %a, %b");
}

/* GE keeps the earlier of two equal elements. */
static void lower_scatter(tg_lowering *l, const tg_node *node)
{
    const tg_type *x = tg_operand_type(node, 0);
    unsigned init = tg_op_write_neutral(l, node, TG_REDUCER_SUM, x->dtype);
    tg_lowering_define(l, node);
    bn_text_puts(tg_lowering_text(l), "\"stablehlo.select_and_scatter\"");
    write_operands(l, node, init);
    bn_text_puts(tg_lowering_text(l), " (");
    write_region(l, x->dtype, "stablehlo.compare GE, %a, %b", true);
    bn_text_puts(tg_lowering_text(l), ", ");
    write_region(l, x->dtype, "stablehlo.add %a, %b", false);
    bn_text_puts(tg_lowering_text(l), ")");
    write_window(l, node_window(node), x->rank);
    write_types(l, node);
}

/* ---- gradients ----------------------------------------------------------------- */

GRADIENT(grad_window_max)
{
    (void)need;
    gin[0] = tg_select_and_scatter(t, node->operands[0], gout[0], node_window(node));
}

/*
 * Each element gets the sum over the windows that hold it: the windows' gradients
 * at the distance of the stride, summed by the same window at every place. The
 * padding, negative where windows start or end outside, makes the operand's size.
 * The window pads by itself where it can: of a running sum compilers know the
 * pattern, and take time in proportion to its length rather than to the square.
 */
GRADIENT(grad_window_sum)
{
    (void)need;
    const tg_window *w = node_window(node);
    const tg_type *x = tg_operand_type(node, 0), *y = &node->results[0].type;
    int64_t low[TG_MAX_RANK] = {0}, high[TG_MAX_RANK] = {0}, interior[TG_MAX_RANK] = {0};
    tg_window each = *w;
    bool plain = true; /* whether the window can pad */
    for (int32_t i = 0; i < x->rank; i++) {
        interior[i] = w->stride[i] - 1;
        low[i] = w->size[i] - 1 - w->pad_low[i];
        high[i] = x->dims[i] + w->size[i] - 1 - low[i] - tg_op_dilated(y->dims[i], w->stride[i]);
        each.stride[i] = 1;
        each.pad_low[i] = (int32_t)low[i];
        each.pad_high[i] = (int32_t)high[i];
        plain &= interior[i] == 0 && low[i] >= 0 && high[i] >= 0;
    }
    if (plain) {
        gin[0] = tg_window_sum(t, gout[0], &each);
        return;
    }
    for (int32_t i = 0; i < x->rank; i++)
        each.pad_low[i] = each.pad_high[i] = 0;
    tg_tensor *apart = tg_pad(t, gout[0], tg_scalar(t, x->dtype, 0.0), low, high, interior);
    gin[0] = tg_window_sum(t, apart, &each);
}

/* Whether each window along dimension I is the one before and an element more, or
 * the other way round: a running sum, of which a step takes one operation. */
static bool runs(const tg_type *windows, const tg_window *w, int32_t i)
{
    int32_t rest = w->size[i] - 1;
    bool one_side = (w->pad_low[i] == rest && w->pad_high[i] == 0) ||
                    (w->pad_low[i] == 0 && w->pad_high[i] == rest);
    return w->stride[i] == 1 && one_side && windows->dims[i] == w->size[i];
}

/* One for each element of each window; WINDOWS has an element a window. */
static double flops_windows(const tg_type *windows, const tg_window *w)
{
    double flops = (double)tg_type_elements(windows);
    for (int32_t i = 0; i < windows->rank; i++)
        flops *= runs(windows, w, i) ? 1 : w->size[i];
    return flops;
}

static double flops_window(const tg_node *node)
{
    return flops_windows(&node->results[0].type, node_window(node));
}

/* The comparisons; the additions are few compared to them. */
static double flops_scatter(const tg_node *node)
{
    return flops_windows(tg_operand_type(node, 1), node_window(node));
}

/* ---- rows ---------------------------------------------------------------------- */

#define FAMILY "window"

static const tg_op op_window_max = {"window_max",
                                    "reduce_window",
                                    FAMILY,
                                    "maximum of each window",
                                    1,
                                    1,
                                    1,
                                    sizeof(tg_window_attributes),
                                    infer_window,
                                    lower_window_max,
                                    grad_window_max,
                                    flops_window};
static const tg_op op_window_sum = {"window_sum",
                                    "reduce_window",
                                    FAMILY,
                                    "sum of each window",
                                    1,
                                    1,
                                    1,
                                    sizeof(tg_window_attributes),
                                    infer_window,
                                    lower_window_sum,
                                    grad_window_sum,
                                    flops_window};
static const tg_op op_scatter = {"select_and_scatter",
                                 "select_and_scatter",
                                 FAMILY,
                                 "adds to the first maximum of each window",
                                 2,
                                 2,
                                 1,
                                 sizeof(tg_window_attributes),
                                 infer_scatter,
                                 lower_scatter,
                                 NULL,
                                 flops_scatter};

const tg_op *const tg_ops_window[] = {&op_window_max, &op_window_sum, &op_scatter, NULL};

/* ---- public calls ------------------------------------------------------------------ */

static tg_tensor *emit_window(tg_trace *t, const tg_op *op, tg_tensor *const *operands,
                              size_t count, const tg_window *w)
{
    tg_window_attributes attributes = {{{0}, {0}, {0}, {0}}};
    for (int32_t i = 0; i < operands[0]->type.rank; i++) {
        attributes.window.size[i] = w->size[i];
        attributes.window.stride[i] = w->stride[i];
        attributes.window.pad_low[i] = w->pad_low[i];
        attributes.window.pad_high[i] = w->pad_high[i];
    }
    return tg_emit(t, op, &attributes, operands, count);
}

tg_tensor *tg_window_max(tg_trace *t, tg_tensor *x, const tg_window *window)
{
    return emit_window(t, &op_window_max, &x, 1, window);
}

tg_tensor *tg_window_sum(tg_trace *t, tg_tensor *x, const tg_window *window)
{
    return emit_window(t, &op_window_sum, &x, 1, window);
}

tg_tensor *tg_cumsum(tg_trace *t, tg_tensor *x, int axis)
{
    tg_window window = {{0}, {0}, {0}, {0}};
    if (x->kind != TG_KIND_POISON && (axis < 0 || axis >= x->type.rank)) {
        tg_trace_fail(t, BN_INVALID, "cumsum: axis %d of a tensor of rank %d", axis, x->type.rank);
        return &t->poison;
    }
    for (int32_t i = 0; i < x->type.rank; i++)
        window.size[i] = window.stride[i] = 1;
    if (x->type.rank > 0 && x->type.dims[axis] > 0) {
        window.size[axis] = (int32_t)x->type.dims[axis];
        window.pad_low[axis] = window.size[axis] - 1;
    }
    return tg_window_sum(t, x, &window);
}

tg_tensor *tg_select_and_scatter(tg_trace *t, tg_tensor *x, tg_tensor *source,
                                 const tg_window *window)
{
    tg_tensor *operands[] = {x, source};
    return emit_window(t, &op_scatter, operands, 2, window);
}
