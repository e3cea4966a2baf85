/*
 * loss.c - softmax and cross-entropy over integer classes.
 */
#include "models/nn/nn.h"

/* Maps all dimensions but the last to themselves, for broadcasts along the last. */
static const int leading[TG_MAX_RANK] = {0, 1, 2, 3, 4, 5};

/* The last one of RANK dimensions, as a set; none of a scalar, which each value is where the trace
 * has failed. */
static unsigned last_of(int rank)
{
    return rank > 0 ? 1u << (rank - 1) : 0;
}

/* X less each row's maximum, f32; *TYPE is the result's. The maximum keeps exp in
 * range. It changes no softmax, so no gradient flows through it. */
static tg_tensor *below_highest(tg_trace *t, tg_tensor *x, tg_type *type)
{
    x = nn_convert(t, x, TG_F32);
    *type = *tg_tensor_type(x); /* (..., K) */
    tg_tensor *highest = tg_stop_gradient(t, tg_reduce_max(t, x, last_of(type->rank)));
    return tg_sub(t, x, tg_broadcast(t, highest, type->rank, type->dims, leading));
}

tg_tensor *nn_softmax(tg_trace *t, tg_tensor *x)
{
    tg_type type;
    x = tg_exp(t, below_highest(t, x, &type));                /* (..., K) */
    tg_tensor *sum = tg_reduce_sum(t, x, last_of(type.rank)); /* (...) */
    return tg_div(t, x, tg_broadcast(t, sum, type.rank, type.dims, leading));
}

tg_tensor *nn_log_softmax(tg_trace *t, tg_tensor *x)
{
    tg_type type;
    x = below_highest(t, x, &type);
    tg_tensor *sum = tg_reduce_sum(t, tg_exp(t, x), last_of(type.rank)); /* (...) */
    return tg_sub(t, x, tg_broadcast(t, tg_log(t, sum), type.rank, type.dims, leading));
}

tg_tensor *nn_cross_entropy(tg_trace *t, tg_tensor *logits, tg_tensor *targets)
{
    const int64_t batch = tg_tensor_type(logits)->dims[0];
    tg_tensor *chosen = tg_mul(t, targets, nn_log_softmax(t, logits)); /* (B, K) */
    tg_tensor *total = tg_reduce_sum(t, chosen, 1u << 0 | 1u << 1);    /* () */
    return tg_mul(t, total, tg_scalar(t, TG_F32, -1.0 / (double)batch));
}

/* bool (..., CLASSES): true where the index along the last dimension is the label. */
static tg_tensor *is_label(tg_trace *t, tg_tensor *labels, int64_t classes)
{
    tg_type wide = *tg_tensor_type(labels); /* (...) */
    wide.dims[wide.rank++] = classes;
    tg_tensor *class = tg_iota(t, &wide, wide.rank - 1);                       /* (..., K) */
    tg_tensor *label = tg_broadcast(t, labels, wide.rank, wide.dims, leading); /* (..., K) */
    return tg_compare(t, label, class, TG_EQ);
}

tg_tensor *nn_one_hot(tg_trace *t, tg_tensor *labels, int64_t classes)
{
    return tg_convert(t, is_label(t, labels, classes), TG_F32);
}

tg_tensor *nn_token_loss(tg_trace *t, tg_tensor *logp, tg_tensor *labels, int ignored,
                         double smoothing)
{
    const tg_type type = *tg_tensor_type(logp), *rows = tg_tensor_type(labels);
    const int64_t classes = type.rank > 0 ? type.dims[type.rank - 1] : 1;
    const unsigned last = last_of(type.rank), all_rows = last ? last - 1u : 0;
    tg_tensor *zero = tg_scalar(t, TG_F32, 0.0);
    tg_tensor *counted = /* (...) */
        tg_compare(t, labels, tg_scalar(t, rows->dtype, ignored), TG_NE);
    tg_tensor *at_label = tg_select(t, is_label(t, labels, classes), logp, zero);
    tg_tensor *row = tg_reduce_sum(t, at_label, last); /* (...): logp[label] */
    if (smoothing > 0) {
        tg_tensor *mean = tg_mul(t, tg_reduce_sum(t, logp, last),
                                 tg_scalar(t, TG_F32, smoothing / (double)classes));
        row = tg_add(t, tg_mul(t, row, tg_scalar(t, TG_F32, 1.0 - smoothing)), mean);
    }
    tg_tensor *total = tg_reduce_sum(t, tg_select(t, counted, row, zero), all_rows);
    tg_tensor *count = tg_reduce_sum(t, tg_convert(t, counted, TG_F32), all_rows);
    return tg_neg(t, tg_div(t, total, count)); /* () */
}
