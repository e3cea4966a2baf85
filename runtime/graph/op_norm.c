/*
 * op_norm.c - batch normalisation as StableHLO's own ops, which accelerator
 * compilers recognise: training, inference, and training's gradient.
 *
 * Ioffe and Szegedy, Batch Normalization, 2015 (arXiv:1502.03167). Statistics
 * are over all dimensions but the feature's; the variance is the biased one.
 */
#include "runtime/graph/op_priv.h"

#include <string.h>

static double norm_epsilon(const tg_node *node)
{
    const tg_norm_attributes *a = node->attributes;
    double epsilon;
    memcpy(&epsilon, &a->epsilon, sizeof epsilon);
    return epsilon;
}

static int32_t norm_feature(const tg_node *node)
{
    return (int32_t)((const tg_norm_attributes *)node->attributes)->feature;
}

/* ---- type rules (StableHLO specification, batch_norm_*, C1-C6) ------------------ */

/* The operand, and that operands FIRST to END-1 have one element a feature. */
static bn_code check_norm(const tg_node *node, size_t first, size_t end, bn_status *st)
{
    const tg_type *x = tg_operand_type(node, 0);
    int64_t feature = ((const tg_norm_attributes *)node->attributes)->feature;
    if (!bn_dtype_is_float(x->dtype))
        return tg_type_fail(st, "wants a floating-point operand, got", x);
    if (feature < 0 || feature >= x->rank)
        return bn_fail(st, BN_INVALID, "feature dimension %lld of a tensor of rank %d",
                       (long long)feature, x->rank);
    for (size_t i = first; i < end; i++) {
        const tg_type *p = tg_operand_type(node, i);
        if (p->rank != 1 || p->dtype != x->dtype || p->dims[0] != x->dims[feature])
            return tg_type_fail_pair(st, "wants one element a feature", p, x);
    }
    return BN_OK;
}

static tg_type feature_type(const tg_node *node)
{
    const tg_type *x = tg_operand_type(node, 0);
    return tg_type_make(x->dtype, 1, &x->dims[norm_feature(node)]);
}

static bn_code infer_training(const tg_node *node, bn_status *st)
{
    bn_code code = check_norm(node, 1, 3, st);
    if (code != BN_OK)
        return code;
    node->results[0].type = *tg_operand_type(node, 0);
    node->results[1].type = node->results[2].type = feature_type(node);
    return BN_OK;
}

static bn_code infer_inference(const tg_node *node, bn_status *st)
{
    node->results[0].type = *tg_operand_type(node, 0);
    return check_norm(node, 1, 5, st);
}

static bn_code infer_grad(const tg_node *node, bn_status *st)
{
    const tg_type *x = tg_operand_type(node, 0), *g = tg_operand_type(node, 4);
    bn_code code = check_norm(node, 1, 4, st);
    if (code != BN_OK)
        return code;
    if (!tg_type_equal(x, g))
        return tg_type_fail_pair(st, "operand and output gradient differ", x, g);
    node->results[0].type = *x;
    node->results[1].type = node->results[2].type = feature_type(node);
    return BN_OK;
}

/* ---- lowering ---------------------------------------------------------------- */

/* Epsilon is an f32 attribute whatever the operand's dtype. */
static void lower_norm(tg_lowering *l, const tg_node *node)
{
    tg_lowering_generic_head(l, node);
    bn_text_puts(tg_lowering_text(l), " {epsilon = ");
    tg_lowering_literal(l, TG_F32, norm_epsilon(node));
    tg_lowering_printf(l, " : f32, feature_index = %d : i64}", norm_feature(node));
    tg_lowering_signature(l, node);
}

/* ---- gradients ----------------------------------------------------------------- */

/* The statistics that training also gives are for running averages: their
 * gradient would be another op, so asking for it is an error. */
GRADIENT(grad_training)
{
    (void)need;
    if (gout[1] || gout[2]) {
        tg_trace_fail(t, BN_NOT_SUPPORTED,
                      "backward: %s is not differentiable through its mean and variance",
                      node->op->name);
        return;
    }
    gin[0] = tg_batch_norm_grad(t, node->operands[0], node->operands[1], node->results + 1,
                                node->results + 2, gout[0], norm_epsilon(node), norm_feature(node),
                                &gin[1], &gin[2]);
}

/* A value of one element a feature, repeated to X's shape. */
static tg_tensor *per_feature(tg_trace *t, const tg_node *node, tg_tensor *value)
{
    const tg_type *x = tg_operand_type(node, 0);
    int map = norm_feature(node);
    return tg_broadcast(t, value, x->rank, x->dims, &map);
}

/* y = (x - mean) r scale + offset with r = (variance + epsilon)^(-1/2). */
GRADIENT(grad_inference)
{
    tg_tensor *const *in = node->operands;
    tg_tensor *g = gout[0];
    const tg_type *x = tg_operand_type(node, 0);
    unsigned others = ((1u << x->rank) - 1u) & ~(1u << norm_feature(node));
    tg_tensor *r = tg_rsqrt(t, tg_add(t, in[4], tg_scalar(t, x->dtype, norm_epsilon(node))));
    tg_tensor *slope = tg_mul(t, in[1], r);
    tg_tensor *sum = NULL, *correlation = NULL; /* of g; of g and the normalised x */
    if (need[2] || need[3])
        sum = tg_reduce_sum(t, g, others);
    if (need[1] || need[4]) {
        tg_tensor *centred = tg_sub(t, in[0], per_feature(t, node, in[3]));
        correlation = tg_mul(t, tg_reduce_sum(t, tg_mul(t, g, centred), others), r);
    }
    gin[0] = need[0] ? tg_mul(t, g, per_feature(t, node, slope)) : NULL;
    gin[1] = need[1] ? correlation : NULL;
    gin[2] = need[2] ? sum : NULL;
    gin[3] = need[3] ? tg_neg(t, tg_mul(t, sum, slope)) : NULL;
    if (need[4]) {
        tg_tensor *half = tg_mul(t, tg_mul(t, slope, r), tg_scalar(t, x->dtype, -0.5));
        gin[4] = tg_mul(t, correlation, half);
    }
}

/*
 * Operations an element, those a feature neglected. Inference: subtract, times
 * scale r, add offset. Training: one for the mean, three for the variance
 * (subtract, square, add), then inference's three. Gradient: one for the sum of
 * g, three for that of g (x - mean), four to put them together (two products,
 * two differences; x - mean is there).
 */
static double flops_inference(const tg_node *node)
{
    return 3.0 * (double)tg_type_elements(tg_operand_type(node, 0));
}

static double flops_training(const tg_node *node)
{
    return 7.0 * (double)tg_type_elements(tg_operand_type(node, 0));
}

static double flops_grad(const tg_node *node)
{
    return 8.0 * (double)tg_type_elements(tg_operand_type(node, 0));
}

/* ---- rows ---------------------------------------------------------------------- */

#define FAMILY "normalisation"

static const tg_op op_training = {"batch_norm_training",
                                  "batch_norm_training",
                                  FAMILY,
                                  "by the batch's mean and variance, which it also gives",
                                  3,
                                  3,
                                  3,
                                  sizeof(tg_norm_attributes),
                                  infer_training,
                                  lower_norm,
                                  grad_training,
                                  flops_training};
static const tg_op op_inference = {"batch_norm_inference",
                                   "batch_norm_inference",
                                   FAMILY,
                                   "by a given mean and variance",
                                   5,
                                   5,
                                   1,
                                   sizeof(tg_norm_attributes),
                                   infer_inference,
                                   lower_norm,
                                   grad_inference,
                                   flops_inference};
static const tg_op op_grad = {"batch_norm_grad",
                              "batch_norm_grad",
                              FAMILY,
                              "gradients of batch_norm_training",
                              5,
                              5,
                              3,
                              sizeof(tg_norm_attributes),
                              infer_grad,
                              lower_norm,
                              NULL,
                              flops_grad};

const tg_op *const tg_ops_norm[] = {&op_training, &op_inference, &op_grad, NULL};

/* ---- public calls ------------------------------------------------------------------ */

static tg_norm_attributes attributes_of(double epsilon, int feature)
{
    tg_norm_attributes a = {.feature = feature};
    memcpy(&a.epsilon, &epsilon, sizeof epsilon);
    return a;
}

tg_tensor *tg_batch_norm_training(tg_trace *t, tg_tensor *x, tg_tensor *scale, tg_tensor *offset,
                                  double epsilon, int feature, tg_tensor **mean,
                                  tg_tensor **variance)
{
    tg_tensor *operands[] = {x, scale, offset};
    tg_norm_attributes attributes = attributes_of(epsilon, feature);
    tg_tensor *y = tg_emit(t, &op_training, &attributes, operands, 3);
    *mean = tg_emit_result(y, 1);
    *variance = tg_emit_result(y, 2);
    return y;
}

tg_tensor *tg_batch_norm_inference(tg_trace *t, tg_tensor *x, tg_tensor *scale, tg_tensor *offset,
                                   tg_tensor *mean, tg_tensor *variance, double epsilon,
                                   int feature)
{
    tg_tensor *operands[] = {x, scale, offset, mean, variance};
    tg_norm_attributes attributes = attributes_of(epsilon, feature);
    return tg_emit(t, &op_inference, &attributes, operands, 5);
}

tg_tensor *tg_batch_norm_grad(tg_trace *t, tg_tensor *x, tg_tensor *scale, tg_tensor *mean,
                              tg_tensor *variance, tg_tensor *grad_output, double epsilon,
                              int feature, tg_tensor **grad_scale, tg_tensor **grad_offset)
{
    tg_tensor *operands[] = {x, scale, mean, variance, grad_output};
    tg_norm_attributes attributes = attributes_of(epsilon, feature);
    tg_tensor *grad = tg_emit(t, &op_grad, &attributes, operands, 5);
    *grad_scale = tg_emit_result(grad, 1);
    *grad_offset = tg_emit_result(grad, 2);
    return grad;
}
